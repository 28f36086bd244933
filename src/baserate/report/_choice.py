"""Plan and tallies -> policies: what is done with the scores of each model."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from baserate._cut import Cut
from baserate._policy import REFUSE, Policy
from baserate._tally import Tallies
from baserate.decide import RULES, chosen
from baserate.report._plan import Plan

_MIDDLE = 0.5
"""Of probabilities, and between the scores of labels, which are 0 and 1."""


def policies(plan: Plan, there: Tallies) -> Mapping[str, Policy]:
    """Return the policy of each model, chosen where it will be used if anything is to be chosen."""
    return {model: _policy(plan, there, model) for model in there.models}


def is_of_labels(tallies: Tallies, model: str) -> bool:
    """Whether a model gives labels alone."""
    return model == tallies.intake.columns.get("predicted")


def _policy(plan: Plan, tallies: Tallies, model: str) -> Policy:
    if is_of_labels(tallies, model):
        return Policy(by_group={(): Cut((_MIDDLE,))}, otherwise=REFUSE)
    if plan.policy is not None:
        return plan.policy
    options: dict[str, Any] = {}
    rule = plan.chooses
    if rule == "cost":
        options = {"costs": plan.costs}
    elif rule is None:
        fixed = plan.threshold is not None or tallies.pooled(model).probable
        rule = "fixed" if fixed else "youden"
        options = {"threshold": _MIDDLE if plan.threshold is None else plan.threshold} if fixed else {}
    return chosen(tallies, partial(RULES[rule], **options), model=model)
