"""Inequality of benefits, decomposed: within groups, and between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Unpack

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._counts import Counts
from baserate._domains import check_memory
from baserate._results import Results
from baserate._tally import Tallies
from baserate.fairness._gaps import N_PERMUTATIONS, NullGaps, measure_rng
from baserate.fairness._group_counts import Decisions, GroupCounts, ModelCounts, Row, count_groups
from baserate.infer import IntervalOptions, check_n_samples, make_generator
from baserate.measure import describe, generalized_entropy, theil_index, tidy_columns
from baserate.read import AdjustedIntervalOptions, accepts_predictions

ENTROPY_COLUMNS = (
    *("measure", "model", "part", "group", "value", "low", "high", "level", "share", "floor", "floor_high"),
    *("p", "p_is_bound", "how", "why"),
)
_NULL = "permutations of groups among all rows"
_WEIGHTED = "rows have weights, and permutations are of counted rows"
_EXACT_BELOW = 1e-14
"""Share of the index below which its part between groups is rounding."""


@accepts_predictions("tallies", adjusts=True)
def decompose_entropy(
    tallies: Tallies,
    *,
    policy: Decisions = None,
    alpha: float = 2.0,
    by: str | Sequence[str] | None = None,
    interval: IntervalOptions = IntervalOptions(),  # noqa: B008  (it is immutable)
    n_permutations: int = N_PERMUTATIONS,
    **predictions: Unpack[AdjustedIntervalOptions],
) -> Results:
    r"""Decompose the generalized entropy of benefits into inequality within groups and between groups.

    The total is :math:`\sum_g\frac{n_g}n(\frac{\bar b_g}{\bar b})^αGE_α(g)`, the part within groups, plus the index of
    a population in which everybody has the mean benefit of the group [@speicher2018]. Benefits are those of
    `measure.generalized_entropy`. Most of the total is within groups, since any error is inequality: a small part
    between groups is not evidence of fairness. Groups of finite size have unequal means by chance. So the part between
    groups has a null reference and a p-value in place of an interval, as `group_gaps` has.

    Parameters
    ----------
    tallies, policy, by
        As in `group_table`.
    alpha
        Exponent: 2 is half the squared coefficient of variation, 1 Theil's index, 0 the mean logarithmic deviation.
    interval
        Level, method and seed of the intervals.
    n_permutations
        Number of permutations of the null distribution.

    Returns
    -------
    Results
        One row for each model and `part`: "total", "within", "between", and "group", the index of one group. `share` is
        the part's share of the total.

    Examples
    --------
    >>> from baserate import fairness, read
    >>> says = [1, 0, 0, 0] * 25 + [1, 1, 1, 0] * 25
    >>> people = {"y": [1, 1, 0, 0] * 50, "says": says, "sex": ["f"] * 100 + ["m"] * 100}
    >>> t = read.tallies(people, truth="y", predicted="says", group="sex", positive=1)
    >>> rows = fairness.decompose_entropy(t).rows()
    >>> {row["part"]: round(row["value"], 5) for row in rows if row["group"] is None}
    {'total': 0.125, 'within': 0.09375, 'between': 0.03125}
    """
    check_n_samples(n_permutations, "n_permutations")
    measure = partial(generalized_entropy, alpha=alpha)
    counts = count_groups(tallies, policy, [measure], by)
    rows = [row for model in counts.models for row in _model_rows(counts, model, alpha, interval, n_permutations)]
    results = counts.results(ENTROPY_COLUMNS, rows, (), interval)
    return Results(results.columns, {**results.data, "draws": n_permutations})


def _model_rows(
    counts: GroupCounts, model: ModelCounts, alpha: float, interval: IntervalOptions, n_permutations: int
) -> Iterator[Row]:
    """Yield the parts of one model."""
    measure = partial(generalized_entropy, alpha=alpha)
    tables: Mapping[Any, Counts[float]] = model.measure_inputs(Counts)
    groups = [group for group in model.groups if tables[group].total > 0]
    total = interval.of(measure, tables[None])
    place = {"model": model.model, "measure": describe(theil_index if alpha == 1 else measure).name}
    yield {**place, "part": "total", **tidy_columns(total), "share": 1.0}
    benefits = np.array([_benefit_counts(tables[group]) for group in groups])
    between = float(_entropy_between(benefits, alpha))
    null = _simulate_between([tables[group] for group in groups], alpha, interval, n_permutations)
    within = {"value": total.value - between, "share": ratio(total.value - between, total.value)}
    yield {**place, "part": "within", **within, "why": total.why}
    floors = {"floor": null.mean, "floor_high": null.upper, "p": null.p_value(between)}
    bounds = {"p_is_bound": null.is_bound(between), "how": null.how, "why": total.why or null.why}
    yield {**place, "part": "between", "value": between, "share": ratio(between, total.value), **floors, **bounds}
    for group in groups:
        own = tidy_columns(interval.of(measure, tables[group]))
        yield {**place, "part": "group", "group": counts.attributes_of(group), **own}


def _benefit_counts(table: Counts[float]) -> list[float]:
    """Count the rows with a benefit of 0, 1 and 2."""
    return [float(table.fn), float(table.tp + table.tn), float(table.fp)]


def _entropy_between(benefits: Floats, alpha: float) -> Floats:
    """Return the index of the mean benefits of groups, whose rows with benefit 0, 1 and 2 lie along the last axis."""
    rows = benefits.sum(axis=-1)
    total = rows.sum(axis=-1, keepdims=True)
    means = (benefits @ np.array([0.0, 1.0, 2.0])) / rows
    share = rows / total
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = means / np.sum(means * share, axis=-1, keepdims=True)
        if alpha == 1:
            parts = np.where(relative > 0, relative * np.log(relative), 0.0)
        elif alpha == 0:
            parts = -np.log(relative)
        else:
            parts = np.expm1(alpha * np.log(relative)) / (alpha * (alpha - 1))
    values = np.sum(share * parts, axis=-1)
    return np.asarray(np.where(np.abs(values) < _EXACT_BELOW, 0.0, values))


def _simulate_between(
    tables: Sequence[Counts[float]], alpha: float, interval: IntervalOptions, n_permutations: int
) -> NullGaps:
    """Permute groups among all rows: the benefits of each group follow a multivariate hypergeometric distribution."""
    if len(tables) == 1:
        return NullGaps(None, None, "there is a single group")
    if any(table.moments for table in tables):
        return NullGaps(None, None, _WEIGHTED)
    benefits = np.array([_benefit_counts(table) for table in tables])
    if not np.array_equal(benefits, np.trunc(benefits)):
        return NullGaps(None, None, "decisions are random, and permutations are of counted rows")
    what = f"{n_permutations} permutations of {len(tables)} groups"
    check_memory(what, 4.0 * n_permutations * benefits.size, "Reduce the number of permutations")
    rng = measure_rng(make_generator(interval.seed).spawn(1)[0], "generalized_entropy")
    sizes, sums = (benefits.sum(axis=at).astype(np.int64) for at in (1, 0))
    none = rng.multivariate_hypergeometric(sizes, int(sums[0]), size=n_permutations)
    # The groups of the rows with benefit 2 are drawn from the rows that are left.
    double = np.array([rng.multivariate_hypergeometric(left, int(sums[2])) for left in sizes - none])
    permuted = np.stack([none, sizes - none - double, double], axis=-1).astype(np.float64)
    return NullGaps(_entropy_between(permuted, alpha), _NULL)
