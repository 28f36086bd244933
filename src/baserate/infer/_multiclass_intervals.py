"""Intervals of multi-class measures: class averages, Hand and Till's M, mean losses, and the bootstrap for all others.

Losses and hits are means over rows; averages over classes of areas and losses are sums of row contributions in every
class. These have closed forms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import inf, isinf, nan, sqrt
from typing import Any, NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._errors import OptionError
from baserate._rows import LabelSets, MulticlassRows
from baserate._tally import Tally
from baserate.infer import _auc_intervals, _binomial, _bounds, _influence_functions
from baserate.infer._auc_intervals import hand_till_slopes
from baserate.infer._binomial import clopper_pearson, wilson
from baserate.infer._bootstrap import Seed, percentiles, sample_in_blocks
from baserate.infer._bounds import Bounds, explain_heavy_tail, t_widening
from baserate.measure import Measure, auc, average_precision, brier as brier_of_two, describe, unwrap_options
from baserate.measure.multiclass import brier, exact_match, hand_till, log_loss, top_k_accuracy

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
    if measure is hand_till:
        return RowInfluence(auc, hand_till_slopes(rows))
    inner, how, options = vars(measure).get("parts", (None, None, None))
    if (
        options
        or not _influence_functions.has_influence(inner)
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
        own, true, false = _influence_functions.influence_slopes(inner, tally)
        here = rows.truth == at
        place = np.searchsorted(-tally.score, -np.asarray(rows.score[:, at], dtype=np.float64))
        slopes = np.where(here, true[place], false[place])
        total += share * slopes
        bias += share * _precision_bias(tally, own) if inner is average_precision else 0.0
        if weighted:  # a row also increases the weight of its class
            total += np.where(here, own - value, 0.0) / rows.total
            bias += float(np.sum(squares * (here - share) * slopes)) / rows.total
    return RowInfluence(inner, total * _row_weights(rows), bias)


def average_interval(influence: RowInfluence, rows: MulticlassRows, value: float, level: float) -> Bounds:
    """Bound an average over classes, or Hand and Till's M."""
    times, weight = _row_counts(rows), _row_weights(rows)
    there = [rows.truth == at for at in np.unique(rows.truth)]
    parts = [_variance_component(influence.slopes[of], times[of]) for of in there]
    if min(part.rows for part in parts) < 2:
        return Bounds(nan, nan, SHARE_METHOD, "a class has a single row")
    kish = [float(np.sum((times * weight)[of])) ** 2 / float(np.sum((times * weight**2)[of])) for of in there]
    variance = sum(part.variance for part in parts)
    sample = AverageSample(value, variance, _influence_functions.degrees_of_freedom(parts), np.sort(kish))
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
        still = _auc_intervals.AucEstimate(value, nan, float(rows[0]), float(rows[1]))
        return Bounds(*_auc_intervals.score_interval(still, level), NO_VARIANCE_METHOD)
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


def _variance_component(slopes: Floats, times: Floats) -> _influence_functions.VarianceComponent:
    """Sum row contributions to a variance, each with its count."""
    second, fourth = (float(np.sum(times * slopes**power)) for power in (2, 4))
    return _influence_functions.VarianceComponent.of(second, fourth, float(times.sum()))


def _row_counts(rows: MulticlassRows) -> Floats:
    return np.ones(len(rows)) if rows.count is None else np.asarray(rows.count, dtype=np.float64)


def _row_weights(rows: MulticlassRows) -> Floats:
    return np.ones(len(rows)) if rows.weight is None else rows.weight


N_BOOTSTRAP = 500
FEW_FREEDOM = 25
"""Degrees of freedom of an observed variance below which a few rows dominate it."""

RowData = MulticlassRows | LabelSets


def multiclass_interval(measure: Measure, data: RowData, *, level: float, seed: Seed) -> Bounds:
    """Bound any measure of `MulticlassRows` or `LabelSets`."""
    value = float(measure(data))
    if isinf(value):
        return Bounds(nan, nan, "influence function", "the value is infinite")
    plain = unwrap_options(measure)
    if plain in _HITS:
        return _hit_interval(_HITS[plain](measure, data), data, level)
    if isinstance(data, MulticlassRows):
        if plain in LOSSES:
            return _loss_interval(plain, data, value, level)
        if vars(measure).get("parts", ())[:2] == (brier_of_two, "macro"):  # the Brier score over the number of classes
            low, high, how, why = _loss_interval(brier, data, value * len(data.labels), level)
            return Bounds(low / len(data.labels), high / len(data.labels), how, why)
        influence = row_influence(measure, data, value)
        if influence is not None:
            return average_interval(influence, data, value, level)
    return _bootstrap_interval(measure, data, value, level, seed)


def _hit_interval(hit: Floats, data: RowData, level: float) -> Bounds:
    """Bound a proportion of rows."""
    times, weight = _times(data), _weight(data)
    sums = [float(np.sum(times * weight**power * right)) for power in (1, 2) for right in (hit, 1 - hit)]
    if data.weight is None:
        return Bounds(*_binomial.proportion_interval(_binomial.Proportion(sums[0], sums[1]), level))
    return Bounds(*_binomial.proportion_interval(_binomial.effective_counts(*sums), level))


def _loss_interval(measure: Measure, rows: MulticlassRows, value: float, level: float) -> Bounds:
    """Bound a mean loss with its observed variance, t quantiles, and degrees of freedom by fourth moments.

    Where a few rows make most of that variance, large losses may be missing from the sample. The variance that the
    probabilities imply is then used if it is larger, unless losses are clearly smaller than the probabilities imply.
    """
    times, weight = _times(rows), _weight(rows)
    how = "influence function, t quantiles"
    if times.sum() < 2:
        return Bounds(nan, nan, how, "there is a single row")
    score = np.asarray(rows.score, dtype=np.float64)
    losses = LOSSES[measure](score)
    slopes = weight * (losses[np.arange(len(rows)), rows.truth] - value) / rows.total
    second, fourth = (float(np.sum(times * slopes**power)) for power in (2, 4))
    part = _influence_functions.VarianceComponent.of(second, fourth, float(times.sum()))
    freedom = _influence_functions.degrees_of_freedom([part])
    variance = part.variance * _bounds.t_widening(freedom, level) ** 2
    if not variance > 0 or freedom < FEW_FREEDOM:
        variance = max(variance, _model_variance(score, losses, times * weight, weight, value, always=not variance > 0))
    if measure is log_loss:
        heavy = explain_heavy_tail(_own_probabilities(score, rows))
        return (
            Bounds(nan, nan, how, heavy) if heavy else Bounds(*_bounds.bound_positive_mean(value, variance, level), how)
        )
    share = _binomial.proportion_from_variance(value / 2, variance / 4, float(np.sum(times)))
    low, high = _binomial.wilson(share.hits, share.misses, level)
    return Bounds(2 * low, 2 * high, how)


def _own_probabilities(score: Floats, rows: MulticlassRows) -> Tally:
    """Return the tally of the probability that each row gives to its own class, all as positives."""
    own = score[np.arange(len(rows)), rows.truth]
    return Tally.of_rows(np.ones(len(rows), dtype=np.bool_), own, count=rows.count)


def _model_variance(
    score: Floats, losses: Floats, mass: Floats, weight: Floats, value: float, *, always: bool
) -> float:
    """Return the variance of a mean loss that the probabilities imply; 0 where losses are far smaller."""
    with np.errstate(invalid="ignore"):
        chances = np.where(score > 0, score * losses, 0.0).sum(axis=1)
        around, spread = (
            np.where(score > 0, score * (losses - middle) ** 2, 0.0).sum(axis=1) for middle in (value, chances[:, None])
        )
    total = float(mass.sum())
    mean, error = float(np.sum(mass * chances)) / total, sqrt(float(np.sum(mass * weight * spread))) / total
    if not always and value < mean - 2 * error:
        return 0.0
    return float(np.sum(mass * weight * around)) / total**2


def _bootstrap_interval(measure: Measure, data: RowData, value: float, level: float, seed: Seed) -> Bounds:
    """Bound a measure by percentiles with random weights of rows, sorted by content first."""
    data_ = _sort_rows(data)
    times, weight = _times(data_), _weight(data_)
    changes: dict[str, Any] = {"count": None} if isinstance(data_, MulticlassRows) else {}

    def sample(rng: np.random.Generator, draws: int) -> Floats:
        values = np.empty(draws)
        for at in range(draws):
            values[at] = measure(replace(data_, weight=rng.standard_gamma(times) * weight, **changes))
        return values

    draws = sample_in_blocks(sample, draws=N_BOOTSTRAP, seed=seed, size=data_.truth.size * len(data_.labels))
    defined = draws[~np.isnan(draws)]
    if not len(defined):
        return Bounds(nan, nan, "Bayesian bootstrap", "no draw is defined")
    low, high = percentiles(defined, level)
    return Bounds(min(low, value), max(high, value), f"Bayesian bootstrap, {N_BOOTSTRAP} draws")


def _sort_rows(data: RowData) -> RowData:
    """Sort rows by content."""
    names = ["truth", "score", "weight", "count" if isinstance(data, MulticlassRows) else "decided"]
    columns = {name: getattr(data, name) for name in names if getattr(data, name) is not None}
    keys = [column for each in columns.values() for column in np.atleast_2d(each.T)]
    order = np.lexsort(keys[::-1])
    changes: dict[str, Any] = {name: each[order] for name, each in columns.items()}
    if isinstance(data, MulticlassRows):
        changes |= {"group": data.group[:0], "groups": ((),), "attributes": ()}
    return replace(data, **changes)


def _times(data: RowData) -> Floats:
    """Return the count of each row."""
    count = data.count if isinstance(data, MulticlassRows) else None
    return np.ones(len(data)) if count is None else np.asarray(count, dtype=np.float64)


def _weight(data: RowData) -> Floats:
    return np.ones(len(data)) if data.weight is None else data.weight


def _top_k_hits(measure: Measure, rows: RowData) -> Floats:
    k = int(measure.keywords.get("k", 2)) if isinstance(measure, partial) else 2
    if not isinstance(rows, MulticlassRows):
        raise OptionError("top-k accuracy is of rows with one class each.")
    return np.asarray(rows.rank() < k, dtype=np.float64)


def _exact_matches(_measure: Measure, sets: RowData) -> Floats:
    if not isinstance(sets, LabelSets):
        raise OptionError("exact match is of sets of labels.")
    errors = sets.per_row()
    return np.asarray((errors.fp + errors.fn) == 0, dtype=np.float64)


def row_losses(measure: Measure, rows: MulticlassRows) -> Floats:
    """Return the loss of each row: its contribution to a Brier score or log loss."""
    losses = LOSSES[measure](np.asarray(rows.score, dtype=np.float64))
    return np.asarray(losses[np.arange(len(rows)), rows.truth])


def _squared_losses(score: Floats) -> Floats:
    return np.asarray(np.square(score).sum(axis=1, keepdims=True) + 1 - 2 * score)


def _log_losses(score: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(score))


_HITS: Mapping[Measure, Callable[[Measure, RowData], Floats]] = {
    top_k_accuracy: _top_k_hits,
    exact_match: _exact_matches,
}
LOSSES: Mapping[Measure, Callable[[Floats], Floats]] = {brier: _squared_losses, log_loss: _log_losses}
"""Measures that are mean losses, and the loss for each possible true class."""
