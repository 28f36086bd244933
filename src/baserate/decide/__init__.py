"""Curve (+ costs) -> Policy: what to do with a score, what that costs, and how sure the choice is.

May import the nouns and every room below: `measure`, `infer`, `calibrate`, `population`, `shift`. One file for each
family of rules. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import resolver

if TYPE_CHECKING:
    from baserate.decide._abstain import abstain
    from baserate.decide._benefit import benefit, net_benefits
    from baserate.decide._capacity import bands, capacity
    from baserate.decide._cost import actions, cost
    from baserate.decide._cost_curve import brier_curve, cost_curve, cost_curves, probability_cost
    from baserate.decide._cost_table import IsoCost, cost_table, iso_cost
    from baserate.decide._points import balanced, best, break_even, closest, fixed, youden
    from baserate.decide._require import require
    from baserate.decide._requirements import Requirement, requirements
    from baserate.decide._rules import RULES, named
    from baserate.decide._summary import judge, summary
    from baserate.decide._sure import Corrected, CrossValidated, Sureness, crossvalidated, resampled

_HOMES: dict[str, tuple[str, ...]] = {
    "_abstain": ("abstain",),
    "_benefit": (
        "benefit",
        "net_benefits",
    ),
    "_capacity": (
        "bands",
        "capacity",
    ),
    "_cost": (
        "actions",
        "cost",
    ),
    "_cost_curve": (
        "brier_curve",
        "cost_curve",
        "cost_curves",
        "probability_cost",
    ),
    "_cost_table": (
        "IsoCost",
        "cost_table",
        "iso_cost",
    ),
    "_points": (
        "balanced",
        "best",
        "break_even",
        "closest",
        "fixed",
        "youden",
    ),
    "_require": ("require",),
    "_requirements": (
        "Requirement",
        "requirements",
    ),
    "_rules": (
        "RULES",
        "named",
    ),
    "_summary": (
        "judge",
        "summary",
    ),
    "_sure": (
        "Corrected",
        "CrossValidated",
        "Sureness",
        "crossvalidated",
        "resampled",
    ),
}

__all__ = [
    "RULES",
    "Corrected",
    "CrossValidated",
    "IsoCost",
    "Requirement",
    "Sureness",
    "abstain",
    "actions",
    "balanced",
    "bands",
    "benefit",
    "best",
    "break_even",
    "brier_curve",
    "capacity",
    "closest",
    "cost",
    "cost_curve",
    "cost_curves",
    "cost_table",
    "crossvalidated",
    "fixed",
    "iso_cost",
    "judge",
    "named",
    "net_benefits",
    "probability_cost",
    "require",
    "requirements",
    "resampled",
    "summary",
    "youden",
]

__getattr__ = resolver(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
