"""Differences and ratios: each group against a reference group, against all other rows, or against everybody."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any, Literal, Unpack, get_args

from baserate._domains import MIN_GROUP
from baserate._errors import OptionError, unknown_name
from baserate._results import Estimate, Results
from baserate._tally import Group, Tallies
from baserate.fairness._gaps import note_four_fifths
from baserate.fairness._group_counts import (
    Decisions,
    Eligibility,
    GroupCounts,
    ModelCounts,
    Reference,
    Row,
    check_eligibility,
    check_min_group,
    count_groups,
    exclusion_notes,
    find_reference,
)
from baserate.infer import (
    Comparison,
    ComparisonRequest,
    IntervalOptions,
    Question,
    compare_samples,
    compare_with_whole,
    holm,
    pool_samples,
    ratio_of_samples,
    ratio_to_whole,
)
from baserate.measure import Measure, describe, tidy_columns
from baserate.read import AdjustedIntervalOptions, accepts_predictions

RelativeTo = Literal["reference", "rest", "overall"]
"""What a group is compared with: a reference group, all rows outside of the group, or all rows."""
DIFFERENCE_COLUMNS = (
    *("measure", "model", "group", "other", "value", "low", "high", "level"),
    *("p", "p_adjusted", "p_is_bound", "relative_to", "trials", "how", "why"),
)
RATIO_COLUMNS = tuple(name for name in DIFFERENCE_COLUMNS if name != "p_is_bound")
_NEGATIVE = "the measure can be negative, so a ratio of its values means nothing"
_PAIR = 2
"""Number of groups where each group is the rest of the other."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """What each group is compared with."""

    relative_to: RelativeTo = "reference"
    reference: Group | None = None
    """Reference group; None for the largest one that meets the minimum size."""

    @staticmethod
    def of(counts: GroupCounts, relative_to: str, reference: Reference) -> Baseline:
        """Check the options of a comparison."""
        if relative_to not in get_args(RelativeTo):
            raise unknown_name("relative_to", relative_to, get_args(RelativeTo))
        if relative_to != "reference" and reference is not None:
            raise OptionError(
                f"reference is {reference!r}, and each group is compared with "
                f"{'everybody' if relative_to == 'overall' else 'the rest'}",
                remedy="leave one of both out.",
                option="reference",
                value=reference,
            )
        kind: Any = relative_to
        return Baseline(kind, find_reference(counts, reference))


@accepts_predictions("tallies", adjusts=True)
def group_differences(  # noqa: PLR0913  (all but the first are seldom given)
    tallies: Tallies,
    *,
    policy: Decisions = None,
    measures: Iterable[str | Measure] | None = None,
    by: str | Sequence[str] | None = None,
    relative_to: RelativeTo = "reference",
    reference: Reference = None,
    min_group: int = MIN_GROUP,
    interval: IntervalOptions = IntervalOptions(),  # noqa: B008  (it is immutable)
    **predictions: Unpack[AdjustedIntervalOptions],
) -> Results:
    """Compare each group with a reference group, the rest or everybody: differences, intervals and p-values.

    The difference is that of `group` less `other`. Groups are independent samples: shares have Newcombe's interval, and
    other measures are compared as by `infer.compare_unpaired`. `p` is of one comparison alone. `p_adjusted` is
    Holm-adjusted over all groups and measures that are tested for the same model; intervals are not adjusted.
    `p_is_bound` marks p-values that are upper bounds.

    A comparison with everybody accounts for the group's own part of everybody. Of a share, it is the difference from
    the rest, times the share of the rest, and so are its bounds; it has the same p-value. The larger the group, the
    closer it is to everybody, so that differences of groups of unequal size are easier to compare with the rest.

    Parameters
    ----------
    tallies, policy, measures, by
        As in `group_table`.
    relative_to
        "reference": a reference group; "rest": all rows outside of the group; "overall": all rows.
    reference
        Group to compare with: its label, a tuple of labels, or a mapping from attribute to label. The default is the
        group with the most rows among those that meet the minimum size for the measure.
    min_group
        Least number of rows on which a measure of a group must rest, for example negatives for the FPR. A smaller group
        is listed with its difference and interval but not tested, and `why` says so.
    interval
        Level of the intervals, and the seed.

    Returns
    -------
    Results
        One row for each model, measure and group other than the reference. `other` is None where `relative_to` is
        "rest" or "overall".

    Examples
    --------
    >>> from baserate import fairness, read
    >>> people = {"sick": [1] * 150, "says": [1] * 56 + [0] * 14 + [1] * 48 + [0] * 32, "sex": ["m"] * 70 + ["f"] * 80}
    >>> t = read.tallies(people, truth="sick", predicted="says", group="sex", positive=1)
    >>> row = fairness.group_differences(t, measures=["sensitivity"]).rows()[0]  # the larger group is the reference
    >>> row["group"], row["other"], round(row["value"], 4), round(row["low"], 4), round(row["high"], 4)
    ({'sex': 'm'}, {'sex': 'f'}, 0.2, 0.0524, 0.3339)
    >>> row = fairness.group_differences(t, measures=["sensitivity"], relative_to="overall").rows()[1]
    >>> row["group"], round(row["value"], 4), round(row["p"], 4)  # 0.2 times 80 of 150 rows
    ({'sex': 'm'}, 0.1067, 0.0081)
    """
    counts = count_groups(tallies, policy, measures, by)
    baseline, size = Baseline.of(counts, relative_to, reference), check_min_group(min_group)
    contrasts = compare_with_baseline(counts, interval, baseline, size)
    return _combine(counts, DIFFERENCE_COLUMNS, difference_rows(contrasts), baseline, size, interval)


@accepts_predictions("tallies", adjusts=True)
def group_ratios(  # noqa: PLR0913  (all but the first are seldom given)
    tallies: Tallies,
    *,
    policy: Decisions = None,
    measures: Iterable[str | Measure] | None = None,
    by: str | Sequence[str] | None = None,
    relative_to: RelativeTo = "reference",
    reference: Reference = None,
    min_group: int = MIN_GROUP,
    interval: IntervalOptions = IntervalOptions(),  # noqa: B008  (it is immutable)
    **predictions: Unpack[AdjustedIntervalOptions],
) -> Results:
    r"""Divide the measures of each group by those of a reference group, the rest or everybody, with intervals.

    The ratio of flag rates is also called disparate impact; a note says where the four-fifths rule applies. A ratio is
    that of `group` to `other` and is not inverted where it exceeds 1. Its interval combines the limits of both values
    [@donner2012]. It excludes 1 exactly where the interval of the difference of two shares excludes 0, and p-values are
    those of the differences: both test whether the values are equal. A ratio to everybody is :math:`R/(wR+1-w)`, where
    R is the ratio to the rest and w the share of the group.

    Parameters
    ----------
    tallies, policy, measures, by, relative_to, reference, min_group, interval
        As in `group_differences`.

    Returns
    -------
    Results
        Rows as of `group_differences`, with the ratio as the value. Measures that can be negative have no ratio.

    Examples
    --------
    >>> from baserate import fairness, read
    >>> people = {"sick": [1] * 150, "says": [1] * 56 + [0] * 14 + [1] * 48 + [0] * 32, "sex": ["m"] * 70 + ["f"] * 80}
    >>> t = read.tallies(people, truth="sick", predicted="says", group="sex", positive=1)
    >>> row = fairness.group_ratios(t, measures=["flag_rate"]).rows()[0]
    >>> row["group"], *(round(row[name], 3) for name in ("value", "low", "high", "p"))
    ({'sex': 'm'}, 1.333, 1.078, 1.663, 0.008)
    """
    counts = count_groups(tallies, policy, measures, by)
    baseline, size = Baseline.of(counts, relative_to, reference), check_min_group(min_group)
    contrasts = compare_with_baseline(counts, interval, baseline, size)
    results = _combine(counts, RATIO_COLUMNS, ratio_rows(contrasts, interval), baseline, size, interval)
    notes = [*results.data["notes"], *note_four_fifths(results.columns["measure"])]
    return Results(results.columns, {**results.data, "notes": notes})


def _combine(
    counts: GroupCounts,
    columns: tuple[str, ...],
    rows: Iterable[Row],
    baseline: Baseline,
    min_group: int,
    interval: IntervalOptions,
) -> Results:
    results = counts.results(columns, rows, exclusion_notes(counts, min_group), interval)
    return Results(results.columns, {**results.data, **describe_baseline(counts, baseline), "min_group": min_group})


def describe_baseline(counts: GroupCounts, baseline: Baseline) -> Row:
    """Return what groups are compared with, as metadata of results."""
    return {"relative_to": baseline.relative_to, "reference": counts.attributes_of(baseline.reference)}


@dataclass(frozen=True, slots=True, eq=False)
class GroupContrast:
    """A group and what it is compared with: the data of both, and their comparison."""

    model: str
    measure: Measure
    group: Group
    baseline: Baseline
    comparison: Comparison
    samples: Sequence[Any] = field(repr=False)
    """Data of the group and of the other rows, in the form that the measure takes."""
    place: Row
    """Columns that identify the comparison."""
    untested: str | None
    """Why it is undefined or not tested; None if it is tested."""

    @property
    def p(self) -> float:
        """p-value; NaN if the comparison is not tested."""
        return nan if self.untested else self.comparison.p

    def ratio(self, interval: IntervalOptions) -> Estimate:
        """Return the ratio of the values with its interval."""
        if describe(self.measure).span[0] < 0:
            return Estimate(nan, why=_NEGATIVE)
        if self.comparison.difference.why and isnan(self.comparison.difference.value):
            return Estimate(nan, why=self.untested)
        request = ComparisonRequest(self.measure, Question(level=interval.level))
        estimate = ratio_to_whole if self.baseline.relative_to == "overall" else ratio_of_samples
        return estimate(request, self.samples, seed=interval.seed)


def compare_with_baseline(
    counts: GroupCounts, interval: IntervalOptions, baseline: Baseline, min_group: int
) -> list[list[GroupContrast]]:
    """Compare the groups of each model with the baseline."""
    return [[*_compare_model(counts, model, interval, baseline, min_group)] for model in counts.models]


def difference_rows(contrasts: Iterable[Sequence[GroupContrast]]) -> Iterator[Row]:
    """Yield one row for each model, measure and group that is compared."""
    for several in contrasts:
        for one, adjusted in zip(several, adjust_distinct(several), strict=True):
            columns = tidy_columns(one.comparison.difference) | {"why": one.untested}
            bound = one.comparison.p_is_bound if one.p > 0 else None
            yield {**one.place, **columns, "p": one.p, "p_adjusted": adjusted, "p_is_bound": bound}


def ratio_rows(contrasts: Iterable[Sequence[GroupContrast]], interval: IntervalOptions) -> Iterator[Row]:
    """Yield the ratios of the same comparisons, with the same p-values."""
    for several in contrasts:
        for one, adjusted in zip(several, adjust_distinct(several), strict=True):
            estimate = one.ratio(interval)
            tested = not isnan(estimate.value)
            columns = tidy_columns(estimate) | {"why": estimate.why or one.untested}
            p_values = {"p": one.p if tested else nan, "p_adjusted": adjusted if tested else nan}
            yield {**one.place, **columns, **p_values}


def adjust_distinct(contrasts: Sequence[GroupContrast]) -> list[float]:
    """Adjust p-values by Holm's method, once for each hypothesis: each of two groups is the rest of the other."""
    groups = {one.group for one in contrasts}
    mirrored = len(groups) == _PAIR and any(one.baseline.relative_to != "reference" for one in contrasts)
    # Comparisons without a test have NaN, which Holm's method does not count.
    if not mirrored:
        return holm([one.p for one in contrasts])
    first = contrasts[0].group
    single = [one for one in contrasts if one.group == first]
    adjusted = {one.measure: p for one, p in zip(single, holm([one.p for one in single]), strict=True)}
    return [nan if isnan(one.p) else adjusted[one.measure] for one in contrasts]


def _compare_model(
    counts: GroupCounts, model: ModelCounts, interval: IntervalOptions, baseline: Baseline, min_group: int
) -> Iterator[GroupContrast]:
    """Yield the comparisons of one model."""
    inputs = {of: model.measure_inputs(of) for of in {describe(measure).of for measure in model.measures}}
    for measure in model.measures:
        request = ComparisonRequest(measure, Question(level=interval.level))
        eligibility = check_eligibility(model, measure, min_group)
        of = inputs[describe(measure).of]
        other = eligibility.largest if baseline.reference is None else baseline.reference
        others: dict[Group, tuple[Group, ...]] = {
            group: (other,) if baseline.relative_to == "reference" else _without(model.groups, group)
            for group in model.groups
            if (baseline.relative_to != "reference" or group != other) and len(model.groups) > 1
        }
        for group, rest in others.items():
            samples = [of[group], pool_samples([of[each] for each in rest])]
            comparison = _compare(request, samples, baseline.relative_to, interval)
            label = _label_other(counts, baseline.relative_to, other)
            place = {
                "model": model.model,
                "measure": describe(measure).name,
                "group": counts.attributes_of(group),
                "other": counts.attributes_of(other) if baseline.relative_to == "reference" else None,
                "relative_to": baseline.relative_to,
                "trials": eligibility.trials[group],
            }
            untested = _explain_undefined(comparison, counts.label(group), label) or _explain_small(
                counts, eligibility, group, rest
            )
            yield GroupContrast(model.model, measure, group, baseline, comparison, samples, place, untested)


def _without(groups: Sequence[Group], group: Group) -> tuple[Group, ...]:
    return tuple(each for each in groups if each != group)


def _compare(
    request: ComparisonRequest, samples: list[Any], relative_to: RelativeTo, interval: IntervalOptions
) -> Comparison:
    """Compare a group with other rows, or with these and itself."""
    if relative_to == "overall":
        return compare_with_whole(request, samples, seed=interval.seed)
    return compare_samples(request, samples, seed=interval.seed)


def _label_other(counts: GroupCounts, relative_to: RelativeTo, other: Group) -> str:
    labels: Mapping[str, Callable[[], str]] = {
        "reference": lambda: counts.label(other),
        "rest": lambda: "the rest",
        "overall": lambda: "everybody",
    }
    return labels[relative_to]()


def _explain_undefined(comparison: Comparison, first: str, second: str) -> str | None:
    """Explain why a difference is undefined; None if it is defined."""
    undefined = comparison.difference.why
    if undefined is None:
        return None
    # `compare_samples` calls the groups first and second.
    return undefined.replace("first: ", f"{first}: ").replace("second: ", f"{second}: ")


def _explain_small(counts: GroupCounts, eligibility: Eligibility, group: Group, rest: Sequence[Group]) -> str | None:
    """Explain why a difference is not tested; None if it is."""
    if len(rest) == 1:
        few = [each for each in (group, *rest) if each in eligibility.too_small]
        labels = [f"{counts.label(each)} has {eligibility.describe(each)}" for each in few]
    else:
        sizes = {counts.label(group): eligibility.trials[group]}
        sizes["the rest"] = sum(eligibility.trials[each] for each in rest)
        labels = [
            f"{label} has {eligibility.describe_trials(trials)}"
            for label, trials in sizes.items()
            if trials < eligibility.min_group
        ]
    minimum = f"fewer than the minimum of {eligibility.min_group}"
    return f"not tested: {' and '.join(labels)}, {minimum}" if labels else None
