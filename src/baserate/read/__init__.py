"""Anything -> Tallies, or Rows.

May import the nouns. Here data are checked, once, with errors that say what to do; everything behind this door trusts
what it is given. What reads tables is loaded on first use: arrays do not need it.
"""

from typing import TYPE_CHECKING

from baserate.read._arrays import tally
from baserate.read._labels import Spelled

if TYPE_CHECKING:
    from baserate.read._tables import rows, tallies

__all__ = ["Spelled", "rows", "tallies", "tally"]


def __getattr__(name: str) -> object:
    if name in ("rows", "tallies"):
        from baserate.read import _tables

        value: object = vars(_tables)[name]
        globals()[name] = value
        return value
    raise AttributeError(f"module 'baserate.read' has no attribute {name!r}")
