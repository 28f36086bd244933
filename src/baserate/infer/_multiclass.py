"""Multi-class intervals and comparisons: class averages, Hand and Till's M, mean losses, the bootstrap for the rest.

Losses and hits are means over rows; averages over classes of areas and losses are sums of row contributions in every
class. These have closed forms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import inf, isinf, isnan, nan, sqrt
from typing import Any, NamedTuple

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._confusion import Confusion
from baserate._counts import Counts
from baserate._errors import EmptyDataError, OptionError, ShapeError, keyword
from baserate._rows import LabelSets, MulticlassRows
from baserate._tally import Tally
from baserate.infer import _auc_intervals, _binomial, _variances
from baserate.infer._binomial import clopper_pearson, t_widening, wilson
from baserate.infer._bootstrap import Seed, percentiles, sample_in_blocks
from baserate.infer._comparison import (
    NO_VARIANCE,
    BootstrapDifference,
    Comparison,
    ComparisonRequest,
    Question,
    StudentizedDifference,
)
from baserate.infer._mcnemar import simulate_class_differences
from baserate.infer._model_bootstrap import choose_n_samples, rank_descending, sum_to_midpoints
from baserate.infer._multiclass_losses import LOSSES, has_loss_interval, loss_interval, row_losses
from baserate.infer._variances import Bounds, Units
from baserate.measure import (
    Measure,
    auc,
    average_precision,
    brier as brier_of_two,
    describe,
    multiclass,
    undefined_reason,
    unwrap_options,
)
from baserate.measure.multiclass import (
    ROW_MEASURES,
    brier,
    exact_match,
    hand_till,
    hand_till_weighted,
    ordinal_auc,
    pairwise_ordinal_auc,
    placements,
    row_span,
    row_values,
    top_k_accuracy,
)
from baserate.read import accepts_two

LOGIT_METHOD = "influence function on log-odds, t quantiles"
SHARE_METHOD = "influence function, t quantiles"
SEPARATED_METHOD = "Clopper–Pearson for the smallest class: the classes are perfectly separated"
NO_VARIANCE_METHOD = "Newcombe's score set of the two smallest classes: no row adds to the variance"
_HALF_FREEDOM_ROWS = 18.0
"""Rows of the smallest class at which average precision has half its degrees of freedom."""
_NO_VARIANCE = "no row adds to the variance"


class RowInfluence(NamedTuple):
    """Contribution of each row to an average over classes."""

    inner: Measure
    """Two-class measure that is averaged: AUC for Hand and Till's M, and a mean loss for itself."""
    slopes: Floats
    """Derivative with respect to the mass of a row, times its weight: one entry for each row."""
    bias: float = 0.0
    """Expected value less the true one, to second order; 0 where it is not computed."""


class AverageSample(NamedTuple):
    """A value, its variance, and the smallest classes."""

    value: float
    variance: float
    freedom: float
    """Degrees of freedom of the variance."""
    rows: Floats
    """Effective number of rows of each class that occurs, in ascending order."""


def row_influence(measure: Measure, rows: MulticlassRows, value: float) -> RowInfluence | None:
    """Compute the contribution of each row to a measure in [0, 1]; None where there is no closed form."""
    if measure in (hand_till, hand_till_weighted):
        return RowInfluence(auc, hand_till_slopes(rows, weighted=measure is hand_till_weighted))
    if measure is ordinal_auc:
        return RowInfluence(auc, ordinal_slopes(rows))
    inner, how, options = vars(measure).get("parts", (None, None, None))
    if (
        options
        or not _variances.has_influence(inner)
        or describe(inner).span != (0, 1)
        or how not in ("macro", "weighted")
    ):
        return None
    tallies = rows.one_vs_rest()
    if any(not tally.positives or not tally.negatives for tally in tallies):
        return None
    weighted = how == "weighted"
    shares = rows.support / rows.total if weighted else np.full(len(rows.labels), 1 / len(rows.labels))
    squares = _row_counts(rows) * _row_weights(rows) ** 2
    total, bias = np.zeros(len(rows)), 0.0
    for at, (tally, share) in enumerate(zip(tallies, shares, strict=True)):
        own, true, false = _variances.influence_slopes(inner, tally)
        is_own_class = rows.truth == at
        # Negated, since searchsorted requires rising numbers and scores of a tally fall.
        place = np.searchsorted(-tally.score, -np.asarray(rows.score[:, at], dtype=np.float64))
        slopes = np.where(is_own_class, true[place], false[place])
        total += share * slopes
        bias += share * _precision_bias(tally, own) if inner is average_precision else 0.0
        if weighted:  # a row also increases the weight of its class
            total += np.where(is_own_class, own - value, 0.0) / rows.total
            bias += float(np.sum(squares * (is_own_class - share) * slopes)) / rows.total
    return RowInfluence(inner, total * _row_weights(rows), bias)


def hand_till_slopes(rows: MulticlassRows, *, weighted: bool = False) -> Floats:
    r"""Compute the influence of each row on Hand and Till's M, the mean of :math:`\hat A(i|j)` over pairs of classes.

    A row of class i shifts Â(i|j) by its placement among class j by the score for i, and Â(j|i) by its placement among
    class j by the score for j, each less the area itself, times its share of the weight of its class. If pairs are
    weighted by their rows, a row of class i also makes the pairs of that class weigh more.
    """
    amount = rows.amount
    mass = np.ones(len(rows)) if amount is None else np.asarray(amount, dtype=np.float64)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    support = rows.support
    present = np.flatnonzero(support > 0)
    total, areas = np.zeros(len(rows)), np.zeros(len(support))
    # Pairs weigh 1 each, or their share of the rows as a multiple of what it is for equal classes.
    shares = support / support.sum() * len(present) / 2 if weighted else np.full(len(support), 0.5)
    for i in present:
        # Sorting needs contiguous memory; a column of rows is not.
        order, ends, runs = rank_descending(np.ascontiguousarray(rows.score[:, i], dtype=np.float64))
        code, of_order = rows.truth[order], mass[order]
        own = sum_to_midpoints(np.where(code == i, of_order, 0.0), ends)[runs] / support[i]
        for j in present[present != i]:
            below = 1 - sum_to_midpoints(np.where(code == j, of_order, 0.0), ends)[runs] / support[j]
            placed = np.where(code == i, below, own)
            area = float(np.sum((of_order * below)[code == i])) / support[i]
            total[order] += np.where((code == i) | (code == j), (shares[i] + shares[j]) * (placed - area), 0.0)
            areas[[i, j]] += area
    pairs = len(present) * (len(present) - 1)
    if weighted:
        total += (shares * (areas - np.sum(support * areas) / support.sum()))[rows.truth]
    return ratio(total * weight, pairs * support[rows.truth])


def ordinal_slopes(rows: MulticlassRows) -> Floats:
    """Compute the influence of each row on the mean AUC over pairs of ordered classes, as DeLong's of each pair.

    A row shifts the AUC of its class and another by its placement among the other class, less that AUC, times its
    share of the weight of its class.
    """
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    support, areas, above = rows.support, pairwise_ordinal_auc(rows), placements(rows)
    # Of an earlier class, a member adds to the AUC by scoring below.
    later = rows.truth[:, np.newaxis] > np.arange(len(rows.labels))
    gaps = above - areas[:, rows.truth].T
    total = np.nansum(np.where(later, gaps, -gaps), axis=1)
    present = int(np.count_nonzero(support))
    return ratio(total * weight, present * (present - 1) / 2 * support[rows.truth])


def average_interval(influence: RowInfluence, rows: MulticlassRows, value: float, level: float) -> Bounds:
    """Bound an average over classes, or Hand and Till's M."""
    times, weight = _row_counts(rows), _row_weights(rows)
    class_masks = [rows.truth == at for at in np.unique(rows.truth)]
    parts = [_variances.VarianceComponent.of_rows(influence.slopes[of], times[of]) for of in class_masks]
    if min(part.rows for part in parts) < 2:
        return Bounds(nan, nan, SHARE_METHOD, "a class has a single row")
    kish = [float(np.sum((times * weight)[of])) ** 2 / float(np.sum((times * weight**2)[of])) for of in class_masks]
    variance = sum(part.variance for part in parts)
    sample = AverageSample(value, variance, _variances.degrees_of_freedom(parts), np.sort(kish))
    if influence.inner is auc and len(parts) == 2:  # two classes have one curve, so use its AUC interval
        few, many = sample.rows.tolist()
        low, high, how = _auc_intervals.auc_interval(
            _auc_intervals.AucEstimate(value, variance, few, many, sample.freedom), level
        )
        return Bounds(low, high, how)
    if not 0 < value < 1 or not variance > 0:
        return _interval_without_variance(sample, level, ranks=influence.inner in (auc, average_precision))
    if influence.inner is auc:
        return _log_odds_interval(sample, level)
    if influence.inner is average_precision:
        return _precision_interval(sample, influence.bias, level)
    return Bounds(*_share_interval(sample, level), SHARE_METHOD)


def _log_odds_interval(sample: AverageSample, level: float) -> Bounds:
    """Return the t interval of the log-odds, with degrees of freedom by fourth moments [@satterthwaite1946]."""
    wider = sample.variance * t_widening(sample.freedom, level) ** 2
    return Bounds(
        *_auc_intervals.logit_delong_interval(_auc_intervals.AucEstimate(sample.value, wider, inf, inf), level),
        LOGIT_METHOD,
    )


def _precision_interval(sample: AverageSample, bias: float, level: float) -> Bounds:
    """Bound an average of average precision, with and without the bias of the estimate."""
    reduced = sample._replace(freedom=precision_freedom(sample.freedom, float(sample.rows[0])))
    middle = min(max(sample.value - bias, sample.value / 2), (1 + sample.value) / 2)
    unbiased, plain = (_share_interval(reduced._replace(value=value), level) for value in (middle, sample.value))
    return Bounds(min(unbiased[0], plain[0]), max(unbiased[1], plain[1]), SHARE_METHOD)


def precision_freedom(freedom: float, smallest: float) -> float:
    """Reduce the degrees of freedom of average precision, to 40% with up to a dozen rows in the smallest class.

    The sample of a small class may lack the rows that would make most of the variance.
    """
    return freedom * max(smallest / (smallest + _HALF_FREEDOM_ROWS), 0.4)


def _share_interval(sample: AverageSample, level: float) -> tuple[float, float]:
    """Return Wilson's interval of a proportion with this estimated variance."""
    odds = sample.value * (1 - sample.value)
    trials = odds / (sample.variance * t_widening(sample.freedom, level) ** 2)
    return wilson(sample.value * trials, (1 - sample.value) * trials, level)


def _interval_without_variance(sample: AverageSample, level: float, *, ranks: bool) -> Bounds:
    """Bound an average of ranks where no row is misranked.

    A share f of misplaced rows in one of K classes lowers its own area by f and those of all others together by at most
    as much, so the average by 2f/K at most. Largest is the f of the smallest class, without any observed: its
    Clopper–Pearson bound :math:`1-(α/2)^{1/m}` [@clopper1934].
    """
    value, rows = sample.value, sample.rows
    if ranks and value in (0.0, 1.0):
        reach = 2 / len(rows) * (1 - clopper_pearson(float(rows[0]), 0.0, level)[0])
        low, high = (1 - reach, 1.0) if value else (0.0, reach)
        return Bounds(low, high, SEPARATED_METHOD)
    if ranks:
        estimate = _auc_intervals.AucEstimate(value, nan, float(rows[0]), float(rows[1]))
        return Bounds(*_auc_intervals.score_interval(estimate, level), NO_VARIANCE_METHOD)
    trials = float(rows.sum())
    return Bounds(*wilson(value * trials, (1 - value) * trials, level), f"Wilson: {_NO_VARIANCE}")


def _precision_bias(tally: Tally, value: float) -> float:
    r"""Return the bias of average precision to second order, :math:`\frac12\sum w^2\,∂^2/∂w^2` over rows.

    With T true positives and F flagged at a score, AP = S/P and S = Σ pT/F. More of a positive changes p, T and F
    there, T and F at all laxer scores, and P; more of a negative changes F alone.
    """
    positives, (true, false) = tally.positives, np.cumsum(np.asarray(tally.mass, dtype=np.float64), axis=1)
    flagged = np.maximum(true + false, np.finfo(float).tiny)
    mass, precision, impurity = np.asarray(tally.mass[0], dtype=np.float64), true / flagged, false / flagged
    first = precision + _reverse_cumsum(mass * impurity / flagged)
    second = 2 * impurity / flagged - 2 * _reverse_cumsum(mass * impurity / flagged**2)
    of_positive = (second - 2 * first / positives) / positives + 2 * value / positives**2
    of_negative = 2 * _reverse_cumsum(mass * precision / flagged**2) / positives
    squares = np.asarray(tally.squares, dtype=np.float64)
    return float(np.sum(squares[0] * of_positive) + np.sum(squares[1] * of_negative)) / 2


def _reverse_cumsum(values: Floats) -> Floats:
    """Sum each entry and all after it."""
    return np.asarray(np.cumsum(values[::-1])[::-1])


N_BOOTSTRAP = 500
RowData = MulticlassRows | LabelSets
_SAME_ORDER = "give the same rows in the same order."


def multiclass_interval(measure: Measure, data: RowData, *, level: float, seed: Seed) -> Bounds:
    """Bound any measure of `MulticlassRows` or `LabelSets`."""
    value = float(measure(data))
    if isinf(value):
        return Bounds(nan, nan, "influence function", "the value is infinite")
    plain = unwrap_options(measure)
    if plain in _HITS:
        return _hit_interval(_HITS[plain](measure, data), data, level)
    if isinstance(data, LabelSets):
        closed = _bound_sets(measure, data, level)
    else:
        closed = _bound_rows(measure, data, value, level)
    return closed or _bootstrap_interval(measure, data, value, level, seed)


def _bound_rows(measure: Measure, data: MulticlassRows, value: float, level: float) -> Bounds | None:
    """Bound a mean loss or an average of areas; None for another measure."""
    if has_loss_interval(measure):
        return loss_interval(measure, data, value, level)
    if vars(measure).get("parts", ())[:2] == (brier_of_two, "macro"):  # the Brier score over the number of classes
        low, high, how, why = loss_interval(brier, data, value * len(data.labels), level)
        return Bounds(low / len(data.labels), high / len(data.labels), how, why)
    influence = row_influence(measure, data, value)
    return None if influence is None else average_interval(influence, data, value, level)


def _bound_sets(measure: Measure, sets: LabelSets, level: float) -> Bounds | None:
    """Bound a mean of values of rows; None for another measure."""
    rows = _values_of_rows(measure, sets)
    return None if rows is None else _row_mean_interval(rows, row_span(measure, sets), sets, level)


def _values_of_rows(measure: Measure, sets: LabelSets) -> Floats | None:
    """Return the values of the rows if a measure is their mean; None if it is not, or values are not in [0, 1]."""
    inner, how, options = vars(measure).get("parts", (None, None, None))
    if inner is not None:
        how, some = how if isinstance(how, tuple) else (how, sets.labels)
        if how != "samples" or describe(inner).span != (0, 1):
            return None
        return np.asarray(inner(sets.over(some).per_row(), **options))
    return row_values(measure, sets) if unwrap_options(measure) in ROW_MEASURES else None


def _row_mean_interval(values: Floats, span: tuple[float, float], sets: LabelSets, level: float) -> Bounds:
    """Bound a mean of bounded values of rows as a proportion of the same variance."""
    defined = ~np.isnan(values)
    values, weight = values[defined], _row_weights(sets)[defined]
    if len(values) < 2:
        return Bounds(nan, nan, SHARE_METHOD, "there is a single row with a value")
    value = float(np.average(values, weights=weight))
    part = _variances.VarianceComponent.of_rows(weight * (values - value) / weight.sum(), np.ones(len(values)))
    variance = part.variance * t_widening(_variances.degrees_of_freedom([part]), level) ** 2
    least, width = span[0], span[1] - span[0]
    kish = float(weight.sum()) ** 2 / float(np.sum(weight**2))
    share = _binomial.proportion_from_variance((value - least) / width, variance / width**2, kish)
    low, high = wilson(share.hits, share.misses, level)
    return Bounds(least + width * low, least + width * high, SHARE_METHOD)


def _hit_interval(hit: Floats, data: RowData, level: float) -> Bounds:
    """Bound a proportion of rows."""
    times, weight = _row_counts(data), _row_weights(data)
    sums = [float(np.sum(times * weight**power * right)) for power in (1, 2) for right in (hit, 1 - hit)]
    if data.weight is None:
        return Bounds(*_binomial.proportion_interval(_binomial.Proportion(sums[0], sums[1]), level))
    return Bounds(*_binomial.proportion_interval(_binomial.effective_counts(*sums), level))


def _bootstrap_interval(measure: Measure, data: RowData, value: float, level: float, seed: Seed) -> Bounds:
    """Bound a measure by percentiles with random weights of rows, sorted by content first."""
    # Sorted, since the weights are sampled row by row: the order of rows must not change the result.
    ordered = _sort_rows(data)
    times, weight = _row_counts(ordered), _row_weights(ordered)
    # The random weights include the counts, which must not be applied again.
    changes: dict[str, Any] = {"count": None} if isinstance(ordered, MulticlassRows) else {}

    def sample(rng: np.random.Generator, n_samples: int) -> Floats:
        values = np.empty(n_samples)
        for at in range(n_samples):
            values[at] = measure(replace(ordered, weight=rng.standard_gamma(times) * weight, **changes))
        return values

    samples = sample_in_blocks(sample, n_samples=N_BOOTSTRAP, seed=seed, size=ordered.truth.size * len(ordered.labels))
    defined = samples[~np.isnan(samples)]
    if not len(defined):
        return Bounds(nan, nan, "Bayesian bootstrap", "no sample is defined")
    low, high = percentiles(defined, level)
    if low == high == value and (value in describe(measure).span or _averages_decisions(measure)):
        return _bound_constant(measure, data, value, level)
    return Bounds(min(low, value), max(high, value), f"Bayesian bootstrap, {N_BOOTSTRAP} samples")


def _averages_decisions(measure: Measure) -> bool:
    """Return whether a measure is an average over classes of a measure of decisions."""
    parts = vars(measure).get("parts")
    return parts is not None and describe(parts[0]).of is Counts


def _bound_constant(measure: Measure, data: RowData, value: float, level: float) -> Bounds:
    """Bound a number that no sample varies, since each class has only hits or only errors, by the smallest class."""
    least, most = describe(measure).span
    sizes = np.concatenate([data.support, data.total - data.support])
    reach = (most - least) * (1 - clopper_pearson(float(sizes[sizes > 0].min()), 0.0, level)[0])
    how = "Clopper–Pearson for the smallest class: no sample varies"
    return Bounds(max(least, value - reach), min(most, value + reach), how)


def _sort_rows(data: RowData) -> RowData:
    """Sort rows by content."""
    names = ["truth", "score", "weight", "count" if isinstance(data, MulticlassRows) else "predicted"]
    columns = {name: getattr(data, name) for name in names if getattr(data, name) is not None}
    keys = [column for each in columns.values() for column in np.atleast_2d(each.T)]
    order = np.lexsort(keys[::-1])
    changes: dict[str, Any] = {name: each[order] for name, each in columns.items()}
    if isinstance(data, MulticlassRows):
        changes |= {"group": data.group[:0], "groups": ((),), "attributes": ()}
    return replace(data, **changes)


def _row_counts(data: RowData) -> Floats:
    """Return the count of each row."""
    count = data.count if isinstance(data, MulticlassRows) else None
    return np.ones(len(data)) if count is None else np.asarray(count, dtype=np.float64)


def _row_weights(data: RowData) -> Floats:
    return np.ones(len(data)) if data.weight is None else data.weight


def _top_k_hits(measure: Measure, rows: RowData) -> Floats:
    k = int(measure.keywords.get("k", 2)) if isinstance(measure, partial) else 2
    if not isinstance(rows, MulticlassRows):
        raise OptionError("top-k accuracy requires rows with one class each.")
    return np.asarray(rows.rank() < k, dtype=np.float64)


def _exact_matches(_measure: Measure, sets: RowData) -> Floats:
    if not isinstance(sets, LabelSets):
        raise OptionError("exact match requires sets of labels.")
    errors = sets.per_row()
    return np.asarray((errors.fp + errors.fn) == 0, dtype=np.float64)


_HITS: Mapping[Measure, Callable[[Measure, RowData], Floats]] = {
    top_k_accuracy: _top_k_hits,
    exact_match: _exact_matches,
}
_ROUNDING = 1e-12


@accepts_two("class rows")
def compare_classes(
    a: MulticlassRows,
    b: MulticlassRows,
    *,
    measure: str | Measure = "hand_till",
    question: Question = Question(),  # noqa: B008  (it is immutable)
    seed: Seed = 0,
) -> Comparison:
    """Compare two models that give a score for each of several classes to the same rows.

    Hand and Till's multi-class AUC, averages of AUC, average precision and Brier score over classes, Brier score and
    log loss have a t interval and t test of the mean difference between the contributions of each row for both models,
    as in DeLong's test for two classes. Degrees of freedom follow from fourth moments [@satterthwaite1946]. Other
    measures of scores or decisions use random weights of rows, equal for both models.

    Parameters
    ----------
    a
        Rows with the scores of the first model.
    b
        The same rows, in the same order, with the scores of the second model.
    measure
        Name or function of `baserate.measure.multiclass`.
    question
        Alternative, margin, level and method.
    seed
        Seed or NumPy generator.

    Returns
    -------
    Comparison
        The difference first − second, its interval and p-value.

    Raises
    ------
    OptionError
        The measure is not a multi-class one, or the method does not fit it.
    ShapeError
        The models have different rows or classes.

    Examples
    --------
    >>> from baserate import class_scores
    >>> truth = ["a", "b", "c", "c", "a", "b"]
    >>> new = class_scores(truth, [[8, 1, 1], [3, 6, 1], [5, 3, 2], [1, 7, 2], [7, 2, 1], [2, 4, 4]])
    >>> old = class_scores(truth, [[2, 1, 1], [3, 6, 1], [5, 3, 2], [1, 7, 2], [7, 2, 1], [9, 4, 4]])
    >>> compare_classes(new, old)
    Comparison(hand_till: first 0.833333, second 0.666667; difference 0.166667 (-0.272471 to 0.605804), p 0.244071)
    """
    _check_models(a, b)
    function = multiclass.find_measure(measure) if isinstance(measure, str) else measure
    request = ComparisonRequest(function, question)
    info = describe(function)
    if info.of not in (MulticlassRows, Confusion):
        raise OptionError(
            f"{info.name} is not a multi-class measure", remedy="choose one of `baserate.measure.multiclass`."
        )
    if function in (multiclass.expected_cost, multiclass.classification_cost):
        raise OptionError(
            f"{info.name} requires costs of errors",
            remedy=f"give partial(measure.multiclass.{info.name}, costs=CostMatrix(…)).",
        )
    if question.method not in (None, "delong", "resample") or (
        question.method == "delong" and info.name != "hand_till"
    ):
        raise OptionError(
            f"the method {question.method!r} does not apply to the multi-class measure {info.name}",
            remedy=f"use {keyword('method', 'resample')}.",
        )
    first, second = _merge_rows(a, b)
    values = _evaluate(function, first), _evaluate(function, second)
    if isnan(values[0] - values[1]):
        return request.conclude(
            values,
            (nan, nan),
            "",
            why=undefined_reason(function, first if info.of is MulticlassRows else first.confusion()),
        )
    if np.array_equal(first.score, second.score):
        return request.conclude_identical(values)
    if question.method != "resample":
        closed = _compare_by_influence(request, first, second, values)
        if closed is not None:
            return closed
    return _compare_by_bootstrap(request, first, second, values, seed)


def _compare_by_influence(
    request: ComparisonRequest, a: MulticlassRows, b: MulticlassRows, values: tuple[float, float]
) -> Comparison | None:
    """Compare by row contributions; return None without a closed form or a usable variance."""
    if isinf(values[0]) or isinf(values[1]):
        return None
    influences = [_find_influence(request.measure, rows, value) for rows, value in zip((a, b), values, strict=True)]
    if influences[0] is None or influences[1] is None:
        return None
    difference = influences[0].slopes - influences[1].slopes
    times = _row_counts(a)
    # Losses are means over all rows; areas are built from means within each class.
    of = np.zeros(len(a), dtype=np.intp) if request.measure in LOSSES else a.truth
    parts = [_variances.VarianceComponent.of_rows(difference[of == at], times[of == at]) for at in np.unique(of)]
    error, smallest = sqrt(sum(part.variance for part in parts)), min(part.rows for part in parts)
    is_area = request.measure is hand_till
    name, value = "placements, as DeLong's" if is_area else "influence function", values[0] - values[1]
    if not _ROUNDING * max(map(abs, values)) < error < inf:
        how = f"Newcombe's score limits of both as if independent areas of the smallest class: {NO_VARIANCE}"
        estimates = [_auc_intervals.AucEstimate(each, nan, smallest, smallest) for each in values]
        return request.conclude_by_areas(values, estimates, how) if is_area else None
    if len(parts) == 2 and is_area:  # two classes have one curve, for which DeLong's test is normal
        return request.conclude_by_t(values, StudentizedDifference(value, error, inf, name))
    freedom = _variances.degrees_of_freedom(parts)
    if influences[0].inner is average_precision:
        freedom = precision_freedom(freedom, smallest)
    return request.conclude_by_t(values, StudentizedDifference(value, error, max(freedom, 1.0), f"{name}, t quantiles"))


def _find_influence(measure: Measure, rows: MulticlassRows, value: float) -> RowInfluence | None:
    """Return the contribution of each row to a measure; None where there is no closed form."""
    if describe(measure).of is not MulticlassRows:
        return None
    if measure in LOSSES:
        weight = 1.0 if rows.weight is None else rows.weight
        return RowInfluence(measure, weight * (row_losses(measure, rows) - value) / rows.total)
    return row_influence(measure, rows, value)


def _compare_by_bootstrap(
    request: ComparisonRequest, a: MulticlassRows, b: MulticlassRows, values: tuple[float, float], seed: Seed
) -> Comparison:
    """Compare by random weights of rows, or by simulated joint tables of decisions."""
    info = describe(request.measure)
    make = simulate_class_differences if info.of is Confusion else _bootstrap_differences
    # Order by content, so that swapping the models only changes the sign.
    if (values[0], np.sort(a.score, axis=0).tobytes()) > (values[1], np.sort(b.score, axis=0).tobytes()):
        samples = -make(request.measure, *_merge_rows(b, a), seed)
    else:
        samples = make(request.measure, a, b, seed)
    if info.of is Confusion:
        bootstrap = BootstrapDifference(samples, "Dirichlet samples of the joint table")
    else:
        rows = np.bincount(a.truth, a.count)
        bootstrap = BootstrapDifference(samples, "Bayesian bootstrap", Units(float(rows[rows > 0].min())))
    value = values[0] - values[1]
    if info.of is MulticlassRows and bootstrap.is_constant(max(map(abs, values))) and (value or values[0] in info.span):
        return request.conclude_as_shares(values, bootstrap.units)
    same = info.of is Confusion and np.array_equal(a.decision(), b.decision())
    return request.conclude_by_bootstrap(values, bootstrap, same=same)


def _bootstrap_differences(measure: Measure, a: MulticlassRows, b: MulticlassRows, seed: Seed) -> Floats:
    """Sample differences with a random weight for each row."""

    def sample(rng: np.random.Generator, n_samples: int) -> Floats:
        differences = np.empty(n_samples)
        for at in range(n_samples):
            multiplier = rng.standard_exponential(len(a)) if a.count is None else rng.standard_gamma(a.count)
            weight = multiplier if a.weight is None else multiplier * a.weight
            one, other = (_evaluate(measure, replace(each, weight=weight, count=None)) for each in (a, b))
            differences[at] = one - other
        return differences

    size = 2 * a.score.size
    return sample_in_blocks(sample, n_samples=choose_n_samples(size), seed=seed, size=size)


def _evaluate(measure: Measure, rows: MulticlassRows) -> float:
    return float(measure(rows if describe(measure).of is MulticlassRows else rows.confusion()))


def _check_models(a: Any, b: Any) -> None:  # noqa: ANN401  (checked here)
    for each in (a, b):
        if not isinstance(each, MulticlassRows):
            raise OptionError(
                f"{type(each).__name__} is not MulticlassRows",
                remedy="read them first, with baserate.read.class_rows(…).",
            )
    if a.labels != b.labels:
        raise ShapeError(
            f"the models have different classes, {a.labels} and {b.labels}",
            remedy=f"name the same as {keyword('labels')}.",
        )
    if len(a) != len(b):
        raise ShapeError(f"the models have {len(a)} and {len(b)} rows", remedy=_SAME_ORDER)
    differ = int(np.count_nonzero(a.truth != b.truth))
    if differ:
        raise ShapeError(f"the labels differ in {differ} of {len(a)} rows", remedy=_SAME_ORDER)
    for name in ("weight", "count"):
        one, other = getattr(a, name), getattr(b, name)
        if (one is None) != (other is None) or (one is not None and not np.array_equal(one, other)):
            raise ShapeError(f"the rows of both models differ in {name}", remedy=_SAME_ORDER)


def _merge_rows(a: MulticlassRows, b: MulticlassRows) -> tuple[MulticlassRows, MulticlassRows]:
    """Sort the rows of both models by content and merge identical ones."""
    # Adding 0.0 turns −0.0 into 0.0: equal scores must be equal keys.
    keys = [a.truth, *np.asarray(a.score, np.float64).T + 0.0, *np.asarray(b.score, np.float64).T + 0.0]
    keys += [] if a.weight is None else [a.weight]
    order = np.lexsort(keys[::-1])
    for column in (a.weight, a.count):
        if column is not None:  # zero means absent
            order = order[column[order] > 0]
    if not len(order):
        raise EmptyDataError("there are no rows", remedy="give at least one, with a weight above 0.")
    new = np.zeros(len(order) - 1, dtype=np.bool_)
    for key in keys:
        new |= np.diff(key[order]) != 0
    first = np.concatenate([np.zeros(1, dtype=np.intp), np.flatnonzero(new) + 1])
    representatives = order[first]
    times = np.add.reduceat(np.ones(len(order), dtype=np.int64) if a.count is None else a.count[order], first)
    weight = None if a.weight is None else a.weight[representatives]
    count = None if times.max(initial=1) == 1 else times
    changes: dict[str, Any] = {"truth": a.truth[representatives], "weight": weight, "count": count}
    changes |= {"group": a.group[:0], "groups": ((),), "attributes": ()}
    merged_a, merged_b = (replace(each, score=each.score[representatives], **changes) for each in (a, b))
    return merged_a, merged_b
