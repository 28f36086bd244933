"""{group: Curve} -> Policy: how groups differ, and what to do so that they do not.

May import the nouns and every room below, `decide` among them. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import resolver

if TYPE_CHECKING:
    from baserate.equalize._account import account
    from baserate.equalize._blind import blind
    from baserate.equalize._crossing import Crossing, Scale, crossing, crossings
    from baserate.equalize._deterministic import deterministic
    from baserate.equalize._differences import differences
    from baserate.equalize._frontier import frontier
    from baserate.equalize._gaps import gaps
    from baserate.equalize._goal import Goal
    from baserate.equalize._groups import groups
    from baserate.equalize._held_out import Deal, HeldOut, held_out
    from baserate.equalize._optimum import optimum
    from baserate.equalize._parity import PARITIES, Parity, parity
    from baserate.equalize._reject import reject_option
    from baserate.equalize._table import group_table

_HOMES: dict[str, tuple[str, ...]] = {
    "_account": ("account",),
    "_blind": ("blind",),
    "_crossing": (
        "Crossing",
        "Scale",
        "crossing",
        "crossings",
    ),
    "_deterministic": ("deterministic",),
    "_differences": ("differences",),
    "_frontier": ("frontier",),
    "_gaps": ("gaps",),
    "_goal": ("Goal",),
    "_groups": ("groups",),
    "_held_out": (
        "Deal",
        "HeldOut",
        "held_out",
    ),
    "_optimum": ("optimum",),
    "_parity": (
        "PARITIES",
        "Parity",
        "parity",
    ),
    "_reject": ("reject_option",),
    "_table": ("group_table",),
}

__all__ = [
    "PARITIES",
    "Crossing",
    "Deal",
    "Goal",
    "HeldOut",
    "Parity",
    "Scale",
    "account",
    "blind",
    "crossing",
    "crossings",
    "deterministic",
    "differences",
    "frontier",
    "gaps",
    "group_table",
    "groups",
    "held_out",
    "optimum",
    "parity",
    "reject_option",
]

__getattr__ = resolver(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
