"""{group: Curve} -> Policy: how groups differ, and what to do so that they do not.

May import the nouns and every room below, `decide` among them. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import resolver

if TYPE_CHECKING:
    from baserate.equalize._differences import differences
    from baserate.equalize._gaps import gaps
    from baserate.equalize._goal import Goal
    from baserate.equalize._groups import groups
    from baserate.equalize._optimum import optimum
    from baserate.equalize._parity import PARITIES, Parity, parity
    from baserate.equalize._table import group_table

_HOMES: dict[str, tuple[str, ...]] = {
    "_differences": ("differences",),
    "_gaps": ("gaps",),
    "_goal": ("Goal",),
    "_groups": ("groups",),
    "_optimum": ("optimum",),
    "_parity": ("PARITIES", "Parity", "parity"),
    "_table": ("group_table",),
}

__all__ = ["PARITIES", "Goal", "Parity", "differences", "gaps", "group_table", "groups", "optimum", "parity"]

__getattr__ = resolver(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
