"""Group comparison: measures of each group with confidence intervals, and differences from a reference group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any, Unpack

from baserate._domains import MIN_GROUP
from baserate._results import Results
from baserate._tally import Group, Tallies
from baserate.decide import GroupEvaluation
from baserate.fairness import _gaps
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
    group_support,
)
from baserate.infer import (
    Comparison,
    ComparisonRequest,
    IntervalOptions,
    Question,
    check_n_samples,
    compare_samples,
    holm,
)
from baserate.measure import Measure, describe, prevalence, tidy_columns
from baserate.read import AdjustedIntervalOptions, accepts_predictions

TABLE_COLUMNS = (
    *("measure", "model", "group", "value", "low", "high", "level", "how", "why"),
    *("prevalence", "rows", "positives", "negatives", "trials", "detects", "small"),
)


@accepts_predictions("tallies", adjusts=True)
def group_table(
    tallies: Tallies,
    *,
    policy: Decisions = None,
    measures: Iterable[str | Measure] | None = None,
    by: str | Sequence[str] | None = None,
    interval: IntervalOptions = IntervalOptions(),  # noqa: B008  (it is immutable)
    min_group: int = MIN_GROUP,
    **predictions: Unpack[AdjustedIntervalOptions],
) -> Results:
    """Measure each group, and all rows together, with confidence intervals and base rates.

    Parameters
    ----------
    tallies
        Rows that were read with groups.
    policy
        Threshold or policy; the default is 0.5 if the scores are probabilities.
    measures
        Names of measures, also of ranks and probabilities; the default is flag rate, sensitivity, FPR, precision and
        accuracy.
    by
        Attributes that define the groups; the default is all of them.
    interval
        Method, confidence level and random seed of the intervals.
    min_group
        Number of rows below which a group is marked as `small`.

    Returns
    -------
    Results
        One row for each model, measure and group; group None is all rows. `trials` are the rows on which a value rests,
        for the sensitivity the positives. `detects` is the smallest difference from all other groups that this size
        detects with 80% power. `small` marks values that rest on fewer than `min_group` rows or would not detect a
        difference of 0.2. Undefined values are NaN, and `why` gives the reason.

    Examples
    --------
    >>> from baserate import fairness, read
    >>> people = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1], "sex": ["f", "f", "m", "m"]}
    >>> t = read.tallies(people, truth="sick", score="risk", group="sex")
    >>> table = fairness.group_table(t, measures=["sensitivity"])
    >>> [(row["group"], row["value"], row["trials"], row["small"]) for row in table.rows()]
    [(None, 0.5, 2, False), ({'sex': 'f'}, 1.0, 1, True), ({'sex': 'm'}, 0.0, 1, True)]
    """
    counts = count_groups(tallies, policy, measures, by)
    return counts.results(TABLE_COLUMNS, table_rows(counts, interval, check_min_group(min_group)), (), interval)


def table_rows(counts: GroupCounts, interval: IntervalOptions, min_group: int = MIN_GROUP) -> Iterator[Row]:
    """Yield one row for each model, measure and group, all rows first."""
    for model in counts.models:
        base = {group: _class_counts(part) for group, part in model.parts.items()}
        rows = {group: each["rows"] for group, each in base.items()}
        inputs = {of: model.measure_inputs(of) for of in {describe(measure).of for measure in model.measures}}
        for measure in model.measures:
            info = describe(measure)
            support = group_support(measure, inputs[info.of], rows, min_group)
            for group, table in inputs[info.of].items():
                place = {"model": model.model, "group": counts.attributes_of(group), "measure": info.name}
                yield {**place, **tidy_columns(interval.of(measure, table)), **base[group], **support[group]}


def _class_counts(part: GroupEvaluation) -> Row:
    """Count the rows of each class, and compute the prevalence."""
    # Where nobody is flagged, every positive is a false negative, and every negative a true negative.
    positives, negatives = int(part.nobody.rows.fn), int(part.nobody.rows.tn)
    share = float(prevalence(part.nobody))
    return {"prevalence": share, "rows": positives + negatives, "positives": positives, "negatives": negatives}


DIFFERENCE_COLUMNS = (
    *("measure", "model", "group", "other", "value", "low", "high", "level"),
    *("p", "p_adjusted", "p_is_bound", "trials", "how", "why"),
)


@accepts_predictions("tallies", adjusts=True)
def group_differences(  # noqa: PLR0913  (all but the first are seldom given)
    tallies: Tallies,
    *,
    policy: Decisions = None,
    measures: Iterable[str | Measure] | None = None,
    by: str | Sequence[str] | None = None,
    reference: Reference = None,
    min_group: int = MIN_GROUP,
    interval: IntervalOptions = IntervalOptions(),  # noqa: B008  (it is immutable)
    **predictions: Unpack[AdjustedIntervalOptions],
) -> Results:
    """Compare each group with a reference group: the difference of each measure, its interval and a p-value.

    The difference is that of `group` less `other`, which is the reference. Groups are independent samples: shares have
    Newcombe's interval, and other measures are compared as by `infer.compare_unpaired`. `p` is of one comparison alone.
    `p_adjusted` is Holm-adjusted over all groups and measures that are tested for the same model; intervals are not
    adjusted. `p_is_bound` marks p-values that are upper bounds.

    Parameters
    ----------
    tallies, policy, measures, by
        As in `group_table`.
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
        One row for each model, measure and group other than the reference.

    Examples
    --------
    >>> from baserate import fairness, read
    >>> people = {"sick": [1] * 150, "says": [1] * 56 + [0] * 14 + [1] * 48 + [0] * 32, "sex": ["m"] * 70 + ["f"] * 80}
    >>> t = read.tallies(people, truth="sick", predicted="says", group="sex", positive=1)
    >>> row = fairness.group_differences(t, measures=["sensitivity"]).rows()[0]  # the larger group is the reference
    >>> row["group"], row["other"], round(row["value"], 4), round(row["low"], 4), round(row["high"], 4)
    ({'sex': 'm'}, {'sex': 'f'}, 0.2, 0.0524, 0.3339)
    >>> row = fairness.group_differences(t, measures=["sensitivity"], reference="m").rows()[0]
    >>> row["group"], round(row["value"], 4), round(row["p"], 4)
    ({'sex': 'f'}, -0.2, 0.0081)
    """
    counts = count_groups(tallies, policy, measures, by)
    group, size = find_reference(counts, reference), check_min_group(min_group)
    rows = difference_rows(counts, interval, group, size)
    results = counts.results(DIFFERENCE_COLUMNS, rows, exclusion_notes(counts, size), interval)
    return Results(results.columns, {**results.data, "reference": counts.attributes_of(group), "min_group": size})


def difference_rows(
    counts: GroupCounts, interval: IntervalOptions, reference: Group | None, min_group: int
) -> Iterator[Row]:
    """Yield one row for each model, measure and group other than the reference."""
    for model in counts.models:
        rows = [*_model_differences(counts, model, interval, reference=reference, min_group=min_group)]
        # Comparisons without a test have NaN, which Holm's method does not count.
        adjusted = holm([row["p"] for row in rows])
        yield from ({**row, "p_adjusted": p} for row, p in zip(rows, adjusted, strict=True))


def _model_differences(
    counts: GroupCounts, model: ModelCounts, interval: IntervalOptions, *, reference: Group | None, min_group: int
) -> Iterator[Row]:
    """Yield the differences of one model from the reference group, without adjusted p-values."""
    inputs = {of: model.measure_inputs(of) for of in {describe(measure).of for measure in model.measures}}
    for measure in model.measures:
        eligibility = check_eligibility(model, measure, min_group)
        other = eligibility.largest if reference is None else reference
        of = inputs[describe(measure).of]
        for group, each in _compare_with_reference(model, eligibility, other, of, interval).items():
            row = {"model": model.model, "trials": eligibility.trials[group]}
            why = _explain_untested(counts, eligibility, each, group, other)
            yield row | _difference_row(counts, each, group, other) | {"why": why}


def _compare_with_reference(
    model: ModelCounts,
    eligibility: Eligibility,
    other: Group,
    inputs: dict[Group | None, Any],
    interval: IntervalOptions,
) -> dict[Group, Comparison]:
    """Compare all groups with the reference; groups with too few trials get no p-value."""
    request = ComparisonRequest(eligibility.measure, Question(level=interval.level))
    comparisons = {}
    for group in model.groups:
        if group != other:
            one = compare_samples(request, [inputs[group], inputs[other]], seed=interval.seed)
            is_tested = {group, other} <= {*eligibility.groups}
            comparisons[group] = one if is_tested else replace(one, p=nan, p_is_bound=False)
    return comparisons


def _difference_row(counts: GroupCounts, comparison: Comparison, group: Group, other: Group) -> Row:
    """Tabulate one comparison."""
    return {
        "measure": comparison.measure,
        "group": counts.attributes_of(group),
        "other": counts.attributes_of(other),
        **tidy_columns(comparison.difference),
        "p": comparison.p,
        "p_is_bound": comparison.p_is_bound if comparison.p > 0 else None,
    }


def _explain_untested(
    counts: GroupCounts, eligibility: Eligibility, comparison: Comparison, group: Group, other: Group
) -> str | None:
    """Explain why a difference is undefined or not tested; None if it is tested."""
    undefined = comparison.difference.why
    if undefined is not None:
        # `compare_samples` calls the groups first and second.
        labels = {"first: ": f"{counts.label(group)}: ", "second: ": f"{counts.label(other)}: "}
        for name, label in labels.items():
            undefined = undefined.replace(name, label)
        return undefined
    few = [each for each in (group, other) if each in eligibility.too_small]
    if not few:
        return None
    label = " and ".join(f"{counts.label(each)} has {eligibility.describe(each)}" for each in few)
    return f"not tested: {label}, fewer than the minimum of {eligibility.min_group}"


COLUMNS = tuple(dict.fromkeys(("table", *TABLE_COLUMNS, *DIFFERENCE_COLUMNS, *_gaps.GAP_COLUMNS)))


@accepts_predictions("tallies", adjusts=True)
def compare_groups(  # noqa: PLR0913  (all but the first are seldom given)
    tallies: Tallies,
    *,
    policy: Decisions = None,
    measures: Iterable[str | Measure] | None = None,
    by: str | Sequence[str] | None = None,
    interval: IntervalOptions = IntervalOptions(),  # noqa: B008  (it is immutable)
    n_permutations: int = _gaps.N_PERMUTATIONS,
    reference: Reference = None,
    min_group: int = MIN_GROUP,
    **predictions: Unpack[AdjustedIntervalOptions],
) -> Results:
    """Compare groups: measures of each, differences from a reference group, and gaps over all groups.

    The comparison describes how groups differ, not whether that is justified.

    Parameters
    ----------
    tallies, policy, measures, by, interval
        As in `group_table`.
    n_permutations
        Number of permutations or simulations of the null distribution of gaps.
    reference
        Reference group of the differences, as in `group_differences`.
    min_group
        Least number of rows on which a value must rest to be tested.

    Returns
    -------
    Results
        Rows of three tables, distinguished by the column `table`: "group" (see `group_table`), "difference" (see
        `group_differences`) and "gap" (see `group_gaps`).

    Examples
    --------
    >>> from baserate import fairness, read
    >>> people = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1], "sex": ["f", "f", "m", "m"]}
    >>> t = read.tallies(people, truth="sick", score="risk", group="sex")
    >>> rows = fairness.compare_groups(t, measures=["fpr"], n_permutations=100, min_group=1).rows()
    >>> [(row["table"], row["group"], row["value"]) for row in rows if row["kind"] in (None, "max_difference")]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('group', None, 0.5), ('group', {'sex': 'f'}, 1.0), ('group', {'sex': 'm'}, 0.0),
     ('difference', {'sex': 'm'}, -1.0), ('gap', {'sex': 'f'}, 1.0)]
    """
    check_n_samples(n_permutations, "n_permutations")
    counts = count_groups(tallies, policy, measures, by)
    size, other = check_min_group(min_group), find_reference(counts, reference)
    spreads = _gaps.spread_groups(counts, interval, n_permutations, size)
    tables: dict[str, Iterable[Row]] = {
        "group": table_rows(counts, interval, size),
        "difference": difference_rows(counts, interval, other, size),
        "gap": _gaps.gap_rows(counts, spreads),
    }
    rows = [{"table": name, **row} for name, each in tables.items() for row in each]
    notes = [*exclusion_notes(counts, size), *_gaps.gap_notes(counts, spreads)]
    results = counts.results(COLUMNS, rows, notes, interval)
    data = {**results.data, "draws": n_permutations, "reference": counts.attributes_of(other), "min_group": size}
    return Results(results.columns, data)


@accepts_predictions("tallies")
def compare_attributes(
    tallies: Tallies,
    /,
    attributes: Sequence[str],
    *,
    reference: Mapping[str, object] | None = None,
    **options: Any,  # noqa: ANN401  (those of compare_groups)
) -> Results:
    """Compare groups by each attribute alone, and then by all of them together.

    Parameters
    ----------
    tallies
        Rows that were read with groups.
    attributes
        Names of the attributes.
    reference
        Attribute -> label of the reference group; a comparison by attributes that it lacks uses the largest group.
    **options
        Other options of `compare_groups`.

    Returns
    -------
    Results
        Rows of `compare_groups` below each other, with the attributes of each in the column `by`.

    Examples
    --------
    >>> from baserate import fairness, read
    >>> people = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1], "sex": [*"ffmm"], "site": [*"abab"]}
    >>> t = read.tallies(people, truth="sick", score="risk", group=["sex", "site"])
    >>> results = fairness.compare_attributes(t, ["sex", "site"], measures=["fpr"], n_permutations=100, min_group=1)
    >>> results.data["by"]
    ['sex', 'site', 'sex, site']
    """
    labels = reference or {}
    sets = [(name,) for name in attributes] + ([tuple(attributes)] if len(attributes) > 1 else [])
    parts = {
        ", ".join(by): compare_groups(
            tallies, by=by, reference={name: labels[name] for name in by} if {*by} <= {*labels} else None, **options
        )
        for by in sets
    }
    *_, last = parts.values()
    columns = {name: [value for part in parts.values() for value in part.columns[name]] for name in last.columns}
    notes = dict.fromkeys(note for part in parts.values() for note in part.data["notes"])
    data = {**last.data, "by": list(parts), "notes": list(notes), "reference": reference or None}
    return Results({"by": [by for by, part in parts.items() for _ in range(len(part))], **columns}, data)
