"""The policy that a plan leads to: the stated threshold, the choice of a rule, or a default by the data."""

from __future__ import annotations

from functools import partial
from typing import Any

from baserate._costs import Costs
from baserate._policy import Policy
from baserate._tally import Tallies
from baserate.decide._rule import choose_policy
from baserate.decide._rules import RULES

DEFAULT_THRESHOLD = 0.5
"""Threshold of probabilities, and of predicted labels, whose scores are 0 and 1."""


def choose_planned_policy(
    tallies: Tallies,
    model: str,
    *,
    rule: str | None = None,
    costs: Costs | None = None,
    threshold: float | None = None,
) -> Policy:
    """Return the stated threshold, or the choice of a rule: stated, by costs, 0.5 for probabilities, or Youden's.

    The tallies are those of deployment: reweighted, if a prevalence is stated.
    """
    options: dict[str, Any] = {}
    if rule is None and threshold is None and costs is not None:
        rule = "cost"
    if rule == "cost":
        options = {"costs": costs}
    elif rule is None:
        fixed = threshold is not None or tallies.pooled(model).probable
        rule = "fixed" if fixed else "youden"
        options = {"threshold": DEFAULT_THRESHOLD if threshold is None else threshold} if fixed else {}
    return choose_policy(tallies, partial(RULES[rule], **options), model=model)
