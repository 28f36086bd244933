"""Anything -> Tally.

May import the nouns. Here data are checked, once, with errors that say what to do; everything behind this door trusts
what it is given.
"""

from baserate.read._arrays import tally

__all__ = ["tally"]
