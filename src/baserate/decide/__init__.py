"""Curve (+ costs) -> Policy: what to do with a score, what that costs, and how sure the choice is.

May import the nouns and every room below: `measure`, `infer`, `calibrate`, `population`, `apply`, `shift`. One
file for each family of rules. Names are resolved on first use.
"""

from typing import TYPE_CHECKING

from baserate._lazy import resolver

if TYPE_CHECKING:
    from baserate.decide._abstain import abstain
    from baserate.decide._benefit import benefit, net_benefits
    from baserate.decide._benefit_pair import benefit_difference
    from baserate.decide._capacity import bands, capacity
    from baserate.decide._check import check
    from baserate.decide._chosen import chosen
    from baserate.decide._class_summary import class_summary
    from baserate.decide._combine import Combination, combined
    from baserate.decide._cost import actions, cost
    from baserate.decide._cost_curve import brier_curve, cost_curve, cost_curves, probability_cost
    from baserate.decide._cost_table import IsoCost, cost_table, iso_cost
    from baserate.decide._cross_validation import CrossValidated, crossvalidated
    from baserate.decide._evaluate import tables
    from baserate.decide._front import front
    from baserate.decide._judge import judge
    from baserate.decide._least_cost import Decisions, least_cost
    from baserate.decide._points import balanced, best, break_even, closest, fixed, youden
    from baserate.decide._ranker import ranked
    from baserate.decide._require import require
    from baserate.decide._requirements import Requirement, requirements
    from baserate.decide._rules import RULES, named
    from baserate.decide._slopes import slopes
    from baserate.decide._summary import Trial, summary
    from baserate.decide._sure import Corrected, Sureness, resampled
    from baserate.decide._unmapped import unmapped
    from baserate.decide._vertices import Dominated, Front, Hybrid, Reversible, Vertex

_HOMES: dict[str, tuple[str, ...]] = {
    "_abstain": ("abstain",),
    "_benefit": (
        "benefit",
        "net_benefits",
    ),
    "_benefit_pair": ("benefit_difference",),
    "_capacity": (
        "bands",
        "capacity",
    ),
    "_check": ("check",),
    "_chosen": ("chosen",),
    "_class_summary": ("class_summary",),
    "_combine": (
        "Combination",
        "combined",
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
    "_cross_validation": ("CrossValidated", "crossvalidated"),
    "_evaluate": ("tables",),
    "_front": ("front",),
    "_judge": ("judge",),
    "_least_cost": (
        "Decisions",
        "least_cost",
    ),
    "_points": (
        "balanced",
        "best",
        "break_even",
        "closest",
        "fixed",
        "youden",
    ),
    "_ranker": ("ranked",),
    "_require": ("require",),
    "_requirements": (
        "Requirement",
        "requirements",
    ),
    "_rules": (
        "RULES",
        "named",
    ),
    "_slopes": ("slopes",),
    "_summary": ("Trial", "summary"),
    "_sure": (
        "Corrected",
        "Sureness",
        "resampled",
    ),
    "_unmapped": ("unmapped",),
    "_vertices": (
        "Dominated",
        "Front",
        "Hybrid",
        "Reversible",
        "Vertex",
    ),
}

__all__ = [
    "RULES",
    "Combination",
    "Corrected",
    "CrossValidated",
    "Decisions",
    "Dominated",
    "Front",
    "Hybrid",
    "IsoCost",
    "Requirement",
    "Reversible",
    "Sureness",
    "Trial",
    "Vertex",
    "abstain",
    "actions",
    "balanced",
    "bands",
    "benefit",
    "benefit_difference",
    "best",
    "break_even",
    "brier_curve",
    "capacity",
    "check",
    "chosen",
    "class_summary",
    "closest",
    "combined",
    "cost",
    "cost_curve",
    "cost_curves",
    "cost_table",
    "crossvalidated",
    "fixed",
    "front",
    "iso_cost",
    "judge",
    "least_cost",
    "named",
    "net_benefits",
    "probability_cost",
    "ranked",
    "require",
    "requirements",
    "resampled",
    "slopes",
    "summary",
    "tables",
    "unmapped",
    "youden",
]

__getattr__ = resolver(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
