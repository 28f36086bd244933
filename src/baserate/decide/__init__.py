"""Curve (+ costs) -> Policy: what to do with a score, what that costs, and how sure the choice is.

May import the nouns and every room below: `measure`, `infer`, `calibrate`, `population`, `shift`. One file for each
family of rules. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import resolver

if TYPE_CHECKING:
    pass

_HOMES: dict[str, tuple[str, ...]] = {}

__all__: list[str] = []

__getattr__ = resolver(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
