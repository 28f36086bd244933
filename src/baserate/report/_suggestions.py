"""Steps that several findings suggest, fitted to the report of one model or of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baserate.report._commands import FREE, Step, has_both_classes, is_unnamed
from baserate.report._report import Report
from baserate.report._words import threshold

Numbers = Mapping[str, Any]


def suggest_choice(report: Report, _numbers: Numbers) -> Step | None:
    """Suggest to choose the threshold anew: by the costs that were stated, otherwise beside all common rules."""
    if not has_scores(report):
        return suggest_rates(report, _numbers)
    return Step(verb="decide", changes=FREE) if has_both_classes(report) else None


def suggest_rates(report: Report, _numbers: Numbers) -> Step | None:
    """Suggest to measure what is decided now."""
    changes = current_threshold(report)
    return None if changes is None else Step(verb="measure", changes=changes)


def suggest_groups(report: Report, _numbers: Numbers) -> Step | None:
    """Suggest to see all groups, as they are decided now."""
    changes = current_decision(report)
    return None if changes is None else Step(verb="groups", changes=changes)


def suggest_other_class(report: Report, _numbers: Numbers) -> Step | None:
    """Suggest the same report of the other class."""
    if not has_both_classes(report):
        return None
    positive, negative = (_plain(report.data[name]) for name in ("positive", "negative"))
    other = None if report.plan.negative is None else positive
    # A policy is of the class that it was chosen for.
    policy = {"policy": None, "policy_file": None}
    return Step(verb="report", changes={**policy, "positive": negative, "negative": other})


def has_scores(report: Report) -> bool:
    """Whether there are scores, and not labels alone."""
    return bool(report.pick(part="data", measure="distinct_scores"))


def current_decision(report: Report) -> Mapping[str, Any] | None:
    """Return changes to a plan after which it decides as now, in words that can be typed; None if there are none."""
    plan = report.plan
    if plan.policy is not None and has_scores(report) and not (plan.files and is_unnamed(plan)):
        return {"predicted": None}  # labels are decided already
    return current_threshold(report)


def current_threshold(report: Report) -> Mapping[str, Any] | None:
    """Return changes to a plan after which it has the threshold of now, that of the first of several models.

    None where a policy has several thresholds. Labels have none, and need none.
    """
    if not has_scores(report):
        return FREE
    first = report.models[0]
    at = threshold(report.of(first))
    alone = {"score": first, "predicted": None} if len(report.models) > 1 else {}
    return None if at is None else {**FREE, "threshold": at, **alone}


def _plain(label: Any) -> Any:  # noqa: ANN401  (any label)
    """Return a label as a plan can hold it."""
    return label if isinstance(label, (str, int, float)) else str(label)
