"""Registry of findings: the entry that each one has, how evidence is worded, and steps that several of them suggest.

A finding is a function from a report to `Evidence` or None, below its entry: `@Check(code="BR020", title=…)`. The
modules `_findings_data`, `_findings_performance` and `_findings_use` contain them; `_run` lists them by code and runs
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import isnan
from typing import Any, NamedTuple

from baserate._formatting import (
    UNDEFINED,
    count_of,
    format_alike,
    format_level,
    format_percent,
    round_fixed,
    round_significant,
)
from baserate._results import Estimate
from baserate.report._commands import OPEN_THRESHOLD, Step, has_both_classes, has_unsaved_policy, spell_step
from baserate.report._report import Finding, Report, Severity, View


class Evidence(NamedTuple):
    """Evidence for a finding: sentences with confidence intervals, and the numbers in them at full precision."""

    sentence: str
    numbers: Mapping[str, Any]
    headline: str = ""
    """The finding in a few words, with its number; by default the title of its entry."""


Find = Callable[[Report], Evidence | None]
"""Return the evidence for a finding in the report of one model, or of all models; None where there is none."""
Suggest = Callable[[Report, Mapping[str, Any]], Step | None]
"""Return a next step from the same report and the numbers of the evidence; None where no command can be typed."""


def _find_nothing(_report: Report) -> None:
    """Find nothing: the placeholder of an entry until it decorates its function."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Registry entry of a finding; as a decorator it adds the function below it to the registry."""

    code: str
    title: str
    severity: Severity
    panel: str
    """Panel of the HTML page that shows what the finding is about."""
    why: str
    remedy: str
    suggest: Suggest | None = None
    whole: bool = False
    """Whether the function gets the report of all models, once, instead of the report of each model."""
    find: Find = _find_nothing

    def __call__(self, find: Find) -> Find:
        """Register a function under the code of this entry, and return the function."""
        # A second entry with the same code would replace the first one silently, and codes are permanent.
        if self.code in REGISTRY:
            raise ValueError(f"the code {self.code} is in use; take the next one.")
        REGISTRY[self.code] = replace(self, find=find)
        return find

    def run(self, report: Report, model: str | None = None) -> Finding | None:
        """Return the finding in a report, with the command that it suggests; None where there is none."""
        evidence = self.find(report)
        if evidence is None:
            return None
        step = None if self.suggest is None else self.suggest(report, evidence.numbers)
        command = None if step is None else spell_step(report, step, model)
        entry = {name: getattr(self, name) for name in ("code", "title", "severity", "why", "remedy")}
        return Finding(**entry, **evidence._asdict(), command=command, model=model)


REGISTRY: dict[str, Check] = {}
"""Code -> entry, in the order of the definitions; `baserate.report.CHECKS` has them in the order of the codes."""
_WHOLE_FROM = 1000
"""Numbers from here on are shown without decimals."""


def format_short(value: float) -> str:
    """Format a number with three significant digits, or as a whole number; only an exact 1 is "1", others are "1.00".

    >>> print(*(format_short(value) for value in (0.5, 0.06341, 12.346, 0.9999, 1, -0.25, float("inf"))), sep=", ")
    0.5, 0.0634, 12.3, 1.00, 1, −0.25, ∞
    >>> print(format_short(1234.5), format_short(20000), sep=", ")
    1,234, 20,000
    """
    text = f"{value:,.0f}" if abs(value) >= _WHOLE_FROM else f"{value:.3g}"
    return ("1.00" if text == "1" and value != 1 else text).replace("inf", "∞").replace("-", "−", value < 0)


def format_things(many: float, things: str) -> str:
    """Format a number of things, with their name in the plural or singular as needed.

    >>> format_things(1, "flagged rows"), format_things(20000, "positives")
    ('1 flagged row', '20,000 positives')
    """
    return count_of(many, things.removesuffix("s"), things, shown=format_short(many))


def format_estimate(estimate: Estimate) -> str:
    """Format a number with its confidence interval, if it has one.

    >>> format_estimate(Estimate(0.84, 0.0812, 0.8705, level=0.95)), format_estimate(Estimate(0.5))
    ('0.840 (95% CI 0.081 to 0.871)', '0.500')
    """
    if isnan(estimate.low):
        return format_alike([estimate.value], _ESTIMATE_DIGITS)[0]
    return _join_interval(format_alike([estimate.value, estimate.low, estimate.high], _ESTIMATE_DIGITS), estimate.level)


def format_rate(estimate: Estimate) -> str:
    """Format a share as a percentage with its confidence interval, if it has one.

    >>> format_rate(Estimate(0.5779, 0.5511, 0.6044, level=0.95)), format_rate(Estimate(0.02))
    ('57.8% (95% CI 55.1% to 60.4%)', '2.0%')
    """
    if isnan(estimate.low):
        return format_percent(estimate.value)
    return _join_interval(map(format_percent, (estimate.value, estimate.low, estimate.high)), estimate.level)


_ESTIMATE_DIGITS = 3


def _join_interval(texts: Iterable[str], level: float | None) -> str:
    """Join a number and the bounds of its interval."""
    value, low, high = texts
    return f"{value} ({'' if level is None else f'{format_level(level)}% CI '}{low} to {high})"


def brief_area(area: float) -> str:
    """Format an area below a curve with two decimals; above 0.995 with three.

    >>> [brief_area(area) for area in (0.8505, 0.5, 0.996, 0.99999, 1.0, 0.0)]
    ['0.85', '0.50', '0.996', '> 0.999', '1', '0']
    """
    if isnan(area) or area in (0, 1):
        return UNDEFINED if isnan(area) else str(int(area))
    text = round_fixed(area, 2)
    if text != "1.00":
        return text
    return "> 0.999" if round_fixed(area, 3) == "1.000" else round_fixed(area, 3)


def format_threshold(threshold: float) -> str:
    """Format a threshold as in the verdict.

    >>> format_threshold(0.1171875), format_threshold(float("inf"))
    ('0.117188', '∞')
    """
    return round_significant(threshold, _THRESHOLD_DIGITS)


_THRESHOLD_DIGITS, _PREVALENCE_DIGITS = 6, 4


def evidence_numbers(**estimates: Estimate | None) -> dict[str, float]:
    """Return values and bounds of estimates by name, without those that are undefined.

    >>> evidence_numbers(auc=Estimate(0.8, 0.7, 0.9), precision=None, floor=Estimate(0.1))
    {'auc': 0.8, 'auc_low': 0.7, 'auc_high': 0.9, 'floor': 0.1}
    """
    numbers: dict[str, float] = {}
    for name, each in estimates.items():
        if each is not None:
            ends = {name: each.value, f"{name}_low": each.low, f"{name}_high": each.high}
            numbers |= {end: value for end, value in ends.items() if not isnan(value)}
    return numbers


def format_group(group: Mapping[str, object]) -> str:
    """Format the attributes of a group.

    >>> format_group({"sex": "f", "site": "north"})
    'sex = f, site = north'
    """
    return ", ".join(f"{name} = {value}" for name, value in group.items())


def defined_estimate(view: View, name: str) -> Estimate | None:
    """Return a number of a report; None where the report lacks it or it is undefined."""
    estimate: Estimate | None = getattr(view, name, None)
    return None if estimate is None or isnan(estimate.value) else estimate


def deployment_prevalence(report: Report) -> Estimate | None:
    """Return the stated prevalence of deployment; that of the sample, if none was stated."""
    stated = report.prevalence
    return defined_estimate(report.here, "prevalence") if stated is None else Estimate(stated)


def describe_place(report: Report) -> str:
    """Describe the prevalence at which headline numbers hold."""
    stated = report.prevalence
    return "in the sample" if stated is None else f"at {format_prevalence(stated)} prevalence"


def format_prevalence(share: float) -> str:
    """Format a stated prevalence, with as many digits as were typed.

    >>> format_prevalence(0.02), format_prevalence(0.00125)
    ('2%', '0.125%')
    """
    return f"{round_significant(100 * share, _PREVALENCE_DIGITS)}%"


def single_threshold(report: Report) -> float | None:
    """Return the threshold of a model; None where it has none, or several."""
    rows = report.select(part="cut", measure="threshold", group=None)
    return rows[0]["value"] if rows else None


def describe_threshold(report: Report) -> str:
    """Describe what decides: a threshold, a policy with several thresholds, or predicted labels."""
    threshold = single_threshold(report)
    if threshold is not None:
        return f"the threshold {format_threshold(threshold)}"
    return (
        "the column of predicted labels" if defined_estimate(report.here, "distinct_scores") is None else "the policy"
    )


Numbers = Mapping[str, Any]


def suggest_choice(report: Report, _numbers: Numbers) -> Step | None:
    """Suggest the choice of a threshold: by the stated costs, or else beside all common rules."""
    if not has_scores(report):
        return suggest_rates(report, _numbers)
    return Step(verb="decide", changes=OPEN_THRESHOLD) if has_both_classes(report) else None


def suggest_rates(report: Report, _numbers: Numbers) -> Step | None:
    """Suggest measures of the current decisions."""
    changes = current_threshold(report)
    return None if changes is None else Step(verb="measure", changes=changes)


def suggest_groups(report: Report, _numbers: Numbers) -> Step | None:
    """Suggest measures of all groups under the current decisions."""
    changes = current_decision(report)
    return None if changes is None else Step(verb="groups", changes=changes)


def suggest_other_class(report: Report, _numbers: Numbers) -> Step | None:
    """Suggest a report with the other class as the positive one."""
    if not has_both_classes(report):
        return None
    positive, negative = (_plain(report.data[name]) for name in ("positive", "negative"))
    other = None if report.plan.negative is None else positive
    # A policy was chosen for one positive class: it does not transfer to the other.
    policy = {"policy": None, "policy_file": None}
    return Step(verb="report", changes={**policy, "positive": negative, "negative": other})


def has_scores(report: Report) -> bool:
    """Return whether a report evaluates scores, not only predicted labels."""
    return bool(report.select(part="data", measure="distinct_scores"))


def current_decision(report: Report) -> Mapping[str, Any] | None:
    """Return changes to a plan that keep the current decisions; None where no command can state them."""
    plan = report.plan
    if plan.policy is not None and has_scores(report) and not (plan.files and has_unsaved_policy(plan)):
        return {"predicted": None}  # predicted labels are decisions of their own, without the policy
    return current_threshold(report)


def current_threshold(report: Report) -> Mapping[str, Any] | None:
    """Return changes to a plan that fix the current threshold, that of the first of several models.

    None where a policy has several thresholds. Predicted labels need no threshold.
    """
    if not has_scores(report):
        return OPEN_THRESHOLD
    first = report.models[0]
    at = single_threshold(report.of(first))
    single = {"score": first, "predicted": None} if len(report.models) > 1 else {}
    return None if at is None else {**OPEN_THRESHOLD, "threshold": at, **single}


def _plain(label: Any) -> Any:  # noqa: ANN401  (any label)
    """Return a label as a plan can hold it."""
    return label if isinstance(label, (str, int, float)) else str(label)
