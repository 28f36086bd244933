"""Anything -> Tallies, Rows, or a Target.

May import the nouns. Here data are checked, once, with errors that say what to do; everything behind this door trusts
what it is given. What reads tables is loaded on first use: arrays do not need it.
"""

from typing import TYPE_CHECKING

from baserate._lazy import resolver
from baserate.read._arrays import tally
from baserate.read._labels import Spelled

if TYPE_CHECKING:
    from baserate.read._class_arrays import confusion, scored
    from baserate.read._cross_table import costs, cross_table
    from baserate.read._joined import joined
    from baserate.read._label_sets import label_sets
    from baserate.read._tables import class_rows, confusions, decisions, rows, tallies
    from baserate.read._targets import class_target, target

_HOMES = {
    "_tables": ("class_rows", "confusions", "decisions", "rows", "tallies"),
    "_targets": ("class_target", "target"),
    "_class_arrays": ("confusion", "scored"),
    "_joined": ("joined",),
    "_label_sets": ("label_sets",),
    "_cross_table": ("costs", "cross_table"),
}

__all__ = ["Spelled", "tally"]
__all__ += ["class_rows", "class_target", "confusion", "confusions", "costs", "cross_table", "decisions", "joined"]
__all__ += ["label_sets", "rows", "scored", "tallies", "target"]

__getattr__ = resolver(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
