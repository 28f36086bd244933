"""Curve (+ costs) -> Policy: what to do with a score, what that costs, and how sure the choice is.

May import the nouns and every room below: `measure`, `infer`, `calibrate`, `population`, `shift`. One file for each
family of rules. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import resolver

if TYPE_CHECKING:
    from baserate.decide._benefit import benefit, net_benefits
    from baserate.decide._benefit_pair import benefit_difference
    from baserate.decide._cost_curve import brier_curve, cost_curve, cost_curves, probability_cost
    from baserate.decide._cost_table import IsoCost, cost_table, iso_cost

_HOMES: dict[str, tuple[str, ...]] = {
    "_benefit": ("benefit", "net_benefits"),
    "_benefit_pair": ("benefit_difference",),
    "_cost_curve": ("brier_curve", "cost_curve", "cost_curves", "probability_cost"),
    "_cost_table": ("IsoCost", "cost_table", "iso_cost"),
}

__all__ = [
    "IsoCost",
    "benefit",
    "benefit_difference",
    "brier_curve",
    "cost_curve",
    "cost_curves",
    "cost_table",
    "iso_cost",
    "net_benefits",
    "probability_cost",
]

__getattr__ = resolver(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
