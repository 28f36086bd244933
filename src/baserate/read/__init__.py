"""Anything -> Tallies, or Rows.

May import the nouns. Here data are checked, once, with errors that say what to do; everything behind this door trusts
what it is given.
"""

from baserate.read._arrays import tally
from baserate.read._labels import Spelled
from baserate.read._tables import rows, tallies

__all__ = ["Spelled", "rows", "tallies", "tally"]
