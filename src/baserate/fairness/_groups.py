"""Group comparison: measures of each group with confidence intervals, beside differences, ratios and gaps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Unpack

from baserate._domains import MIN_GROUP
from baserate._results import Results
from baserate._tally import Tallies
from baserate.decide import GroupEvaluation
from baserate.fairness import _differences, _gaps
from baserate.fairness._differences import Baseline, RelativeTo
from baserate.fairness._group_counts import (
    Decisions,
    GroupCounts,
    Reference,
    Row,
    check_min_group,
    count_groups,
    exclusion_notes,
    group_support,
)
from baserate.fairness._inequality import decompose_entropy
from baserate.fairness._intersections import intersection_excess
from baserate.fairness._strata import stratified_differences
from baserate.infer import IntervalOptions, check_n_samples
from baserate.measure import Measure, as_measure, collect_settings, describe, prevalence, theil_index, tidy_columns
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


COLUMNS = tuple(dict.fromkeys(("table", *TABLE_COLUMNS, *_differences.DIFFERENCE_COLUMNS, *_gaps.GAP_COLUMNS)))


@accepts_predictions("tallies", adjusts=True)
def compare_groups(  # noqa: PLR0913  (all but the first are seldom given)
    tallies: Tallies,
    *,
    policy: Decisions = None,
    measures: Iterable[str | Measure] | None = None,
    by: str | Sequence[str] | None = None,
    interval: IntervalOptions = IntervalOptions(),  # noqa: B008  (it is immutable)
    n_permutations: int = _gaps.N_PERMUTATIONS,
    relative_to: RelativeTo = "reference",
    reference: Reference = None,
    ratios: bool = False,
    min_group: int = MIN_GROUP,
    **predictions: Unpack[AdjustedIntervalOptions],
) -> Results:
    """Compare groups: measures of each, differences from a reference group, the rest or everybody, and gaps.

    The comparison describes how groups differ, not whether that is justified.

    Parameters
    ----------
    tallies, policy, measures, by, interval
        As in `group_table`.
    n_permutations
        Number of permutations or simulations of the null distribution of gaps.
    relative_to, reference
        What each group is compared with, as in `group_differences`.
    ratios
        Whether to add ratios of the same values, as in `group_ratios`.
    min_group
        Least number of rows on which a value must rest to be tested.

    Returns
    -------
    Results
        Rows of several tables, distinguished by the column `table`: "group" (see `group_table`), "difference" (see
        `group_differences`), "ratio" (see `group_ratios`) and "gap" (see `group_gaps`).

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
    size, baseline = check_min_group(min_group), Baseline.of(counts, relative_to, reference)
    spreads = _gaps.spread_groups(counts, interval, n_permutations, size)
    contrasts = _differences.compare_with_baseline(counts, interval, baseline, size)
    tables: dict[str, Iterable[Row]] = {
        "group": table_rows(counts, interval, size),
        "difference": _differences.difference_rows(contrasts),
        "ratio": _differences.ratio_rows(contrasts, interval) if ratios else (),
        "gap": _gaps.gap_rows(counts, spreads),
    }
    rows = [{"table": name, **row} for name, each in tables.items() for row in each]
    notes = [*exclusion_notes(counts, size), *_gaps.gap_notes(counts, spreads)]
    results = counts.results(COLUMNS, rows, notes, interval)
    about = _differences.describe_baseline(counts, baseline)
    data = {**results.data, "draws": n_permutations, **about, "min_group": size}
    return Results(results.columns, data)


@accepts_predictions("tallies")
def compare_attributes(
    tallies: Tallies,
    /,
    attributes: Sequence[str],
    *,
    reference: Mapping[str, object] | None = None,
    control: str | Sequence[str] = (),
    intersections: bool = False,
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
    control
        Attributes that define strata, such as age classes: adds the rows of `stratified_differences` as the table
        "stratum".
    intersections
        Whether to add the rows of `intersection_excess` as the table "intersection".
    **options
        Other options of `compare_groups`.

    Returns
    -------
    Results
        Rows of `compare_groups` below each other, with the attributes of each in the column `by`. If generalized
        entropy or Theil's index is among the measures, the table "inequality" has the rows of `decompose_entropy`.

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
    rows = [{"by": by, **row} for by, part in parts.items() for row in part.rows()]
    more: list[Results] = []
    own = {name: value for name, value in options.items() if name not in ("ratios", "n_permutations")}
    if control:
        strata = {", ".join(by): _compare_within(tallies, by, control, labels, own) for by in sets}
        rows += [{"by": by, "table": "stratum", **row} for by, part in strata.items() for row in part.rows()]
        more += strata.values()
    if intersections:
        own.pop("relative_to", None)
        excess = intersection_excess(tallies, by=attributes, **own)
        rows += [{"by": ", ".join(attributes), "table": "intersection", **row} for row in excess.rows()]
        more.append(excess)
    for alpha in _entropy_exponents(options.get("measures")):
        shared = {name: options[name] for name in ("policy", "interval", "n_permutations") if name in options}
        for by in sets:
            entropy = decompose_entropy(tallies, by=by, alpha=alpha, **shared)
            rows += [{"by": ", ".join(by), "table": "inequality", **row} for row in entropy.rows()]
            more.append(entropy)
    notes = dict.fromkeys(note for part in (*parts.values(), *more) for note in part.data["notes"])
    controls = {"control": more[0].data["control"]} if control else {}
    data = {**last.data, "by": list(parts), "notes": list(notes), "reference": reference or None, **controls}
    names = dict.fromkeys(["by", *last.columns, *(name for part in more for name in part.columns)])
    return Results({name: [row.get(name) for row in rows] for name in names}, data)


def _entropy_exponents(measures: Iterable[str | Measure] | None) -> list[float]:
    """Return α of the generalized entropies among measures, which decompose into parts within and between groups."""
    named = [as_measure(each) for each in ([measures] if isinstance(measures, str) else measures or ())]
    settings = collect_settings(named)
    exponents = [settings["generalized_entropy"]["alpha"]] if "generalized_entropy" in settings else []
    return exponents + [1.0] * (theil_index in named and 1 not in exponents)


def _compare_within(
    tallies: Tallies, by: tuple[str, ...], control: str | Sequence[str], labels: Mapping[str, object], options: Row
) -> Results:
    """Compare groups by some attributes within strata."""
    reference = {name: labels[name] for name in by} if {*by} <= {*labels} else None
    return stratified_differences(tallies, by=by, control=control, reference=reference, **options)
