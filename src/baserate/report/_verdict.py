"""Verdict: the first lines of a report, the same in the terminal, in Markdown, in notebooks and on the page.

A verdict has six parts, each a text. The page computes the first four from its own numbers while controls move, and
takes the warnings and the banner, which hold at the settings of the plan, from the payload. At these settings both are
equal.

1. `decision`: "Flag scores ≥ 0.2712."
   - The threshold has at most six significant digits (`round_significant`, in JavaScript
     `String(Number(threshold.toPrecision(6)))`), and "−" as its minus sign.
   - "Flag nobody." at a threshold of ∞, "Flag everybody." at −∞.
   - A policy with an action below or between thresholds lists its ranges: "Flag scores ≥ 0.6, refer scores ≥ 0.3.",
     "Flag scores < 0.4."
   - "Flag by group-specific thresholds.", "Flag at random between two thresholds.", or "Flag by group-specific
     thresholds, partly at random." for policies without a single threshold.
   - "Flag by predicted labels." for a model that is a column of predicted labels.
2. `people`: "Per 1,000 people at 2% prevalence: 105 flagged, 12 of them sick; 8 sick but not flagged (missed)."
   - Whole people as in `natural_frequencies`: 1,000 is apportioned to both classes by largest remainders, and then the
     people of each class to its cells (flagged, referred, not flagged). "fewer than 1" stands for a number that is not
     zero but rounds to zero; commas separate thousands; the flagged are the sum of their two cells.
   - At a stated prevalence "at 2% prevalence", with at most four significant digits (`round_significant` of the
     percentage); otherwise "at the sample prevalence (6.6%)", as a whole percentage of part 4 is written.
   - "sick" is `outcome_name`, or else "positive"; "flagged" is `flag_name`, or else "flagged". Both words stand where
     an adjective or a verb in the past fits: "105 detained, 12 of them re-offended; 8 re-offended but not detained".
   - If nobody is flagged: "nobody flagged; 20 sick but not flagged (missed)." If no positive is missed: "1,000 flagged,
     20 of them sick; nobody missed."
   - If some are referred: "105 flagged, 12 of them sick; 30 referred, 5 of them sick; 3 sick but neither flagged nor
     referred (missed)."
3. `costs`: "Cost 262 (flag nobody 400, flag everybody 980)." per 1,000 people, only if costs are stated and all three
   are finite; otherwise "".
   - All three have the same number of decimals: as few as give the largest of them three significant digits, at least
     0 and at most 4. If two of them differ by more than 1e-9 of the larger one, but have one text, there are more
     decimals, up to 6. Commas separate thousands; halves are rounded away from zero (`toFixed`).
4. `measures`: ("Sensitivity", "58%"), ("Specificity", "90%"), ("PPV", "11%"), ("NPV", "99%"), ("AUC", "0.85"); joined
   by two spaces. AUC is absent for predicted labels. "–" stands for an undefined number.
   - A percentage is whole from 10% to 99%, after rounding; otherwise it has one decimal. "0%" and "100%" are exact;
     "< 0.1%" and "> 99.9%" are what would round to them.
   - AUC has two decimals, and three above 0.995; "1" and "0" are exact, "> 0.999" would round to 1.
5. `warnings`: at most three, in this order.
   - The decision costs more than to flag nobody, or everybody: "Flagging nobody costs less (400)".
   - Serious findings: BR002, BR006, BR018.
   - BR011: "Sensitivity by site: hill 36%, north 69%", the largest difference in sensitivity or false positive rate
     with a Holm-adjusted p below one less the level; the group first, the reference second.
   - BR007: "Predicted risks too high at 2% prevalence: O/E 0.21", if O/E is below 0.9 or above 1/0.9 and its interval
     excludes 1; otherwise "Predicted risks too extreme: calibration slope 0.67", if the slope is below 0.8 or above
     1.25 and its interval excludes 1.
   Findings that the plan ignores give no warning.
6. `banner`: a warning about all numbers, above the decision, if the smaller class has fewer than 100 rows and the plan
   does not ignore BR003: "240 rows (43 positive): intervals are wide; decide by their bounds, not by the estimates".
   With fewer than ten it is serious: "15 rows (4 positive): intervals are wide; use these numbers only to plan a larger
   sample".

The numbers are those at the deployment prevalence if one is stated, otherwise those of the sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import isfinite, isinf, isnan
from typing import NamedTuple

from baserate._cut import FLAG, PASS, REFER, Cut
from baserate._formatting import format_number, format_percent, round_fixed
from baserate._policy import Policy
from baserate._rendering import short_repr
from baserate._results import Estimate
from baserate.report._findings import brief_area, defined_estimate, format_prevalence, format_threshold
from baserate.report._natural_frequencies import (
    NEGATIVES,
    POPULATION,
    POSITIVES,
    NaturalFrequencies,
    natural_frequencies,
)
from baserate.report._report import Report, Severity, View
from baserate.text import shorten_label

GAP = "  "
"""Between two measures."""
_MAX_WARNINGS = 3
_MAX_COST_DECIMALS, _USUAL_COST_DECIMALS = 6, 4
_EQUAL_COSTS = 1e-9
_FEW_CODE, _FEW_ROWS, _VERY_FEW_ROWS = "BR003", 100, 10
"""Code of the finding about few rows; rows of the smaller class below which there is a banner, and a serious one."""
_RELEVANT_RATIO, _RELEVANT_SLOPE = 0.9, 0.8
_LABEL = 24
"""Characters of a label of a group."""


class VerdictWarning(NamedTuple):
    """A reason for doubt, in a few words; `code` is that of the finding with the evidence, "" without one."""

    code: str
    severity: Severity
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """Answer of a report for one model: what to do, with which consequences, and what speaks against it.

    >>> import baserate
    >>> report = baserate.evaluate([1, 0, 1, 0] * 60, [0.9, 0.6, 0.4, 0.1] * 60, prevalence="10%", fp=1, fn=5)
    >>> print(verdict(report))
    Flag scores ≥ 0.9. Per 1,000 people at 10% prevalence: 50 flagged, 50 of them positive; 50 positive but not flagged
    (missed). Cost 250 (flag nobody 500, flag everybody 900).
    Sensitivity 50%  Specificity 100%  PPV 100%  NPV 95%  AUC 0.75
    Predicted risks too high at 10% prevalence: O/E 0.26
    """

    decision: str
    people: str
    costs: str
    """Empty where no costs are stated."""
    measures: tuple[tuple[str, str], ...]
    """Name and value of each measure."""
    warnings: tuple[VerdictWarning, ...] = ()
    banner: VerdictWarning | None = None
    """Warning about all numbers, because there are few rows."""

    __repr__ = short_repr

    @property
    def sentence(self) -> str:
        """The decision, its consequences and its cost."""
        return " ".join(filter(None, (self.decision, self.people, self.costs)))

    @property
    def measure_line(self) -> str:
        """The measures in one line."""
        return GAP.join(f"{name} {value}" for name, value in self.measures)

    def __str__(self) -> str:
        banner = [self.banner.text] if self.banner else []
        return "\n".join([*banner, self.sentence, self.measure_line, *(warning.text for warning in self.warnings)])


def verdict(report: Report, model: str | None = None) -> Verdict:
    """Return the verdict on a model, by default on the only one."""
    own = report.of(report.model if model is None else model)
    costs = tuple(_number(own.there, name) for name in _COSTS) if own.plan.costs is not None else ()
    return Verdict(
        describe_decision(own.policy, labels_only=own.model == own.plan.predicted),
        describe_people(
            natural_frequencies(own.there), describe_setting(own), own.plan.outcome_name, own.plan.flag_name
        ),
        describe_cost(*costs) if costs else "",
        tuple(_measures(own.there)),
        tuple(_warnings(own, costs))[:_MAX_WARNINGS],
        _banner(own),
    )


def describe_decision(policy: Policy, *, labels_only: bool = False) -> str:
    """Describe what a policy flags, in a sentence.

    >>> describe_decision(Policy(by_group={(): Cut((0.3, 0.6), ("pass", "refer", "flag"))}, otherwise="refuse"))
    'Flag scores ≥ 0.6, refer scores ≥ 0.3.'
    """
    if labels_only:
        return "Flag by predicted labels."
    cut = policy.by_group.get(())
    if policy.needs_group:
        return f"Flag by group-specific thresholds{', partly at random' * policy.needs_id}."
    if not isinstance(cut, Cut):
        return "Flag at random between two thresholds."
    return f"{_describe_cut(cut)}."


def _describe_cut(cut: Cut) -> str:
    """Describe the scores that are flagged and referred."""
    if not cut.thresholds or any(map(isinf, cut.thresholds)):
        # An infinite threshold leaves one range of scores, which has one action.
        action = cut.actions[0] if not cut.thresholds else cut.action(0.0)
        return {FLAG: "Flag everybody", REFER: "Refer everybody"}.get(action, "Flag nobody")
    ends = [format_threshold(at) for at in cut.thresholds]
    if cut.actions in ((PASS, FLAG), (PASS, REFER, FLAG)):
        parts = [f"{action} scores ≥ {end}" for action, end in zip(cut.actions[1:], ends, strict=True)]
    else:
        ranges = [f"< {ends[0]}", *(f"from {low} to {high}" for low, high in pairwise(ends)), f"≥ {ends[-1]}"]
        parts = [f"{action} scores {each}" for action, each in zip(cut.actions, ranges, strict=True) if action != PASS]
    sentence = ", ".join(reversed(parts))
    return sentence[0].upper() + sentence[1:]


def describe_setting(report: Report) -> str:
    """Describe the prevalence of the numbers of a report."""
    if report.prevalence is not None:
        return f"at {format_prevalence(report.prevalence)} prevalence"
    return f"at the sample prevalence ({brief_percent(_number(report.here, 'prevalence'))})"


def describe_people(
    people: NaturalFrequencies, setting: str, outcome: str | None = None, flag: str | None = None
) -> str:
    """Describe the consequences for 1,000 people, in a sentence.

    >>> cells = {"tp": 12, "fn": 8, "fp": 93, "tn": 887}
    >>> print(describe_people(NaturalFrequencies(cells, cells), "at 2% prevalence", "re-offended", "detained"))
    Per 1,000 people at 2% prevalence: 105 detained, 12 of them re-offended; 8 re-offended but not detained (missed).
    """
    outcome, flag = outcome or "positive", flag or "flagged"

    def count(*cells: str) -> str:
        text = people.format_cells(*cells)
        return "fewer than 1" if text == "<1" else f"{int(text):,}"

    parts = [f"{count('tp', 'fp')} {flag}, {count('tp')} of them {outcome}"]
    if not people.has_people("tp", "fp"):
        parts = [f"nobody {flag}"]
    missed = f"not {flag}"
    if people.has_people(POSITIVES[1], NEGATIVES[1]):
        parts += [f"{count(POSITIVES[1], NEGATIVES[1])} referred, {count(POSITIVES[1])} of them {outcome}"]
        missed = f"neither {flag} nor referred"
    parts += [f"{count('fn')} {outcome} but {missed} (missed)" if people.has_people("fn") else "nobody missed"]
    return f"Per {POPULATION:,} people {setting}: {'; '.join(parts)}."


_COSTS = ("expected_cost", "cost_of_flagging_nobody", "cost_of_flagging_everybody")


def describe_cost(*costs: float) -> str:
    """Describe the cost per person of the decision, of flagging nobody and of flagging everybody, per 1,000 people.

    >>> describe_cost(0.2621, 0.4, 0.98), describe_cost(0.0004, 0.0004001, 12.5)
    ('Cost 262 (flag nobody 400, flag everybody 980).', 'Cost 0.4000 (flag nobody 0.4001, flag everybody 12,500.0000).')
    """
    if not all(map(isfinite, costs)):
        return ""
    decision, nobody, everybody = _format_costs([POPULATION * each for each in costs])
    return f"Cost {decision} (flag nobody {nobody}, flag everybody {everybody})."


def _format_costs(costs: list[float]) -> list[str]:
    """Format costs with one number of decimals, which tells those apart that differ."""
    largest = max(map(abs, costs))
    fewest = next((each for each in range(_USUAL_COST_DECIMALS) if largest * 10**each >= 100), _USUAL_COST_DECIMALS)
    for decimals in range(fewest if largest else 0, _MAX_COST_DECIMALS + 1):
        texts = [round_fixed(each, decimals) for each in costs]
        pairs = combinations(zip(costs, texts, strict=True), 2)
        if not any(a[1] == b[1] and abs(a[0] - b[0]) > _EQUAL_COSTS * largest for a, b in pairs):
            break
    return texts


_RATES = {"Sensitivity": "sensitivity", "Specificity": "specificity", "PPV": "precision", "NPV": "npv"}


def _measures(view: View) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of each measure."""
    yield from ((label, brief_percent(_number(view, name))) for label, name in _RATES.items())
    if "auc" in view:
        yield "AUC", brief_area(_number(view, "auc"))


def brief_percent(share: float) -> str:
    """Format a share as a whole percentage; below 10% and above 99% with one decimal.

    >>> [brief_percent(share) for share in (0.5779, 0.0854, 0.9949, 0.9951, 1, 0.0002, 0.9999, float("nan"))]
    ['58%', '8.5%', '99%', '99.5%', '100%', '< 0.1%', '> 99.9%', '–']
    """
    if isnan(share) or share in (0, 1):
        return format_percent(share)
    whole = round_fixed(100 * share, 0)
    if 10 <= float(whole) <= 99:
        return f"{whole}%"
    text = round_fixed(100 * share, 1)
    return {"0.0": "< 0.1%", "100.0": "> 99.9%"}.get(text, f"{text}%")


def _number(view: View, name: str) -> float:
    """Return a number of a view; NaN where the view lacks it."""
    return float(view[name].value) if name in view else float("nan")


def _warnings(report: Report, costs: tuple[float, ...]) -> Iterator[VerdictWarning]:
    """Yield all warnings, the most important first."""
    yield from _cost_warning(costs)
    found = {finding.code for finding in report.findings}
    yield from (VerdictWarning(code, "serious", text) for code, text in _SERIOUS.items() if code in found)
    others = {"BR011": _group_gap, "BR007": _miscalibration}
    for code, describe in others.items():
        text = "" if code in report.plan.ignore else describe(report)
        if text:
            yield VerdictWarning(code, "caution", text)


_SERIOUS = {
    "BR002": "AUC is below 0.5: scores may be reversed",
    "BR006": "Samples differ in prevalence: PPV, NPV and cost are not comparable",
    "BR018": "Scores were probably fitted to these rows: performance is optimistic",
}
"""Code of a serious finding -> its warning."""


def _cost_warning(costs: tuple[float, ...]) -> Iterator[VerdictWarning]:
    """Yield a warning if a decision without a classifier costs less."""
    if not costs or not all(map(isfinite, costs)):
        return
    decision, *others = costs
    at = min((0, 1), key=others.__getitem__)
    if decision - others[at] > _EQUAL_COSTS * max(map(abs, costs)):
        text = _format_costs([POPULATION * each for each in costs])[at + 1]
        yield VerdictWarning("", "serious", f"Flagging {('nobody', 'everybody')[at]} costs less ({text})")


def _banner(report: Report) -> VerdictWarning | None:
    """Warn of a class with few rows."""
    rows = {name: int(_number(report.here, f"{name}s")) for name in ("positive", "negative")}
    least = min(rows, key=rows.__getitem__)
    if rows[least] >= _FEW_ROWS or _FEW_CODE in report.plan.ignore:
        return None
    total = round_fixed(sum(rows.values()), 0)
    start = f"{total} {'row' if total == '1' else 'rows'} ({rows[least]} {least}): intervals are wide;"
    if rows[least] < _VERY_FEW_ROWS:
        return VerdictWarning(_FEW_CODE, "serious", f"{start} use these numbers only to plan a larger sample")
    return VerdictWarning(_FEW_CODE, "caution", f"{start} decide by their bounds, not by the estimates")


_GAPS = {"sensitivity": "Sensitivity", "fpr": "False positive rate"}
"""Measures whose differences between groups are warned of: they do not depend on the prevalence."""


def _group_gap(report: Report) -> str:
    """Warn of the largest significant difference between groups."""
    rows = [
        row
        for row in report.group_differences.rows()
        if row["measure"] in _GAPS and row["p_adjusted"] is not None and row["p_adjusted"] < 1 - report.plan.level
    ]
    if not rows:
        return ""
    most = max(rows, key=lambda row: abs(row["value"]))
    by = ", ".join(map(shorten_label, report.plan.group))
    groups = ", ".join(_group_rate(report, most[name], most["measure"]) for name in ("group", "other_group"))
    return f"{_GAPS[most['measure']]} by {by}: {groups}"


def _group_rate(report: Report, group: Mapping[str, object], measure: str) -> str:
    """Return the name of a group with its sensitivity or false positive rate."""
    view = report.within(**group).here
    rate = 1 - _number(view, "specificity") if measure == "fpr" else _number(view, measure)
    return f"{'/'.join(shorten_label(label, _LABEL) for label in group.values())} {brief_percent(rate)}"


def _miscalibration(report: Report) -> str:
    """Warn of predicted risks that are too high or too low on average, or else too extreme or too similar."""
    ratio, slope = (defined_estimate(report.there, name) for name in ("observed_expected", "calibration_slope"))
    if ratio and _excludes(ratio, 1, _RELEVANT_RATIO):
        side = "high" if ratio.value < 1 else "low"
        where = describe_setting(report) if report.prevalence is not None else "in the sample"
        return f"Predicted risks too {side} {where}: O/E {format_number(ratio.value, 2)}"
    if slope and _excludes(slope, 1, _RELEVANT_SLOPE):
        side = "extreme" if slope.value < 1 else "similar"
        return f"Predicted risks too {side}: calibration slope {format_number(slope.value, 2)}"
    return ""


def _excludes(estimate: Estimate, perfect: float, factor: float) -> bool:
    """Return whether a number differs from the perfect one by more than a factor, and by more than chance."""
    relevant = not perfect * factor <= estimate.value <= perfect / factor
    return relevant and (estimate.high < perfect or estimate.low > perfect)
