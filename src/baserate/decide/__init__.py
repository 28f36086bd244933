"""Curve (+ costs) -> Policy: what to do with a score, what that costs, and how sure the choice is.

May import the nouns and every room below: `measure`, `infer`, `calibrate`, `population`, `shift`. One file for each
family of rules. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import resolver

if TYPE_CHECKING:
    from baserate.decide._combine import Combination, combined
    from baserate.decide._front import front
    from baserate.decide._least_cost import Decisions, least_cost
    from baserate.decide._ranker import ranked
    from baserate.decide._slopes import slopes
    from baserate.decide._vertices import Dominated, Front, Hybrid, Reversible, Vertex

_HOMES: dict[str, tuple[str, ...]] = {
    "_combine": ("Combination", "combined"),
    "_front": ("front",),
    "_least_cost": ("Decisions", "least_cost"),
    "_ranker": ("ranked",),
    "_slopes": ("slopes",),
    "_vertices": ("Dominated", "Front", "Hybrid", "Reversible", "Vertex"),
}

__all__ = [
    "Combination",
    "Decisions",
    "Dominated",
    "Front",
    "Hybrid",
    "Reversible",
    "Vertex",
    "combined",
    "front",
    "least_cost",
    "ranked",
    "slopes",
]

__getattr__ = resolver(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
