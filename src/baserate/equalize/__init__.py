"""{group: Curve} -> Policy: how groups differ, and what to do so that they do not.

May import the nouns and every room below, `decide` among them. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import resolver

if TYPE_CHECKING:
    from baserate.equalize._account import account
    from baserate.equalize._blind import blind
    from baserate.equalize._goal import Goal
    from baserate.equalize._optimum import optimum
    from baserate.equalize._parity import PARITIES, Parity, parity
    from baserate.equalize._reject import reject_option

_HOMES: dict[str, tuple[str, ...]] = {
    "_account": ("account",),
    "_blind": ("blind",),
    "_goal": ("Goal",),
    "_optimum": ("optimum",),
    "_parity": ("PARITIES", "Parity", "parity"),
    "_reject": ("reject_option",),
}

__all__ = ["PARITIES", "Goal", "Parity", "account", "blind", "optimum", "parity", "reject_option"]

__getattr__ = resolver(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
