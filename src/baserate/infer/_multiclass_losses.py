"""Intervals of mean losses of several classes: Brier score, log loss, RPS, soft cost; and of skills, ratios of two."""

from collections.abc import Callable, Mapping
from functools import partial
from math import isinf, nan, sqrt

import numpy as np

from baserate._arrays import Cells, Floats, ratio
from baserate._rows import MulticlassRows
from baserate._tally import Tally
from baserate.infer import _binomial, _variances
from baserate.infer._binomial import t_widening
from baserate.infer._variances import Bounds, VarianceComponent, explain_heavy_tail
from baserate.measure import Measure, describe, unwrap_options
from baserate.measure.multiclass import (
    brier,
    brier_skill,
    classification_cost,
    constant_brier,
    constant_log_loss,
    cost_table,
    log_loss,
    log_loss_skill,
    ranked_losses,
    ranked_probability_score,
)

_METHOD = "influence function, t quantiles"
_SINGLE_ROW = "there is a single row"
_FEW_FREEDOM = 25
"""Degrees of freedom of an observed variance below which a few rows dominate it."""


def _squared_losses(score: Floats) -> Floats:
    return np.asarray(np.square(score).sum(axis=1, keepdims=True) + 1 - 2 * score)


def _log_losses(score: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(score))


LOSSES: Mapping[Measure, Callable[[Floats], Floats]] = {
    brier: _squared_losses,
    log_loss: _log_losses,
    ranked_probability_score: ranked_losses,
}
"""Measures that are mean losses, and the loss for each possible true class."""

SKILLS: Mapping[Measure, tuple[Measure, Callable[[Floats], float], Callable[[Floats], Floats]]] = {
    brier_skill: (brier, constant_brier, lambda shares: -2 * (shares - np.sum(shares * shares))),
    log_loss_skill: (log_loss, constant_log_loss, lambda shares: -np.log(shares) - constant_log_loss(shares)),
}
"""Skills: their loss, that of the class frequencies, and its derivative with respect to the share of each class."""


def row_losses(measure: Measure, rows: MulticlassRows) -> Floats:
    """Return the loss of each row: its contribution to a mean loss."""
    losses = LOSSES[measure](np.asarray(rows.score, dtype=np.float64))
    return np.asarray(losses[np.arange(len(rows)), rows.truth])


def row_amounts(rows: MulticlassRows) -> tuple[Cells, Floats]:
    """Return the count and the weight of each row."""
    ones = np.ones(len(rows))
    return ones if rows.count is None else np.asarray(rows.count, dtype=np.float64), (
        ones if rows.weight is None else rows.weight
    )


def has_loss_interval(measure: Measure) -> bool:
    """Return whether a measure is a mean loss, or a skill."""
    plain = unwrap_options(measure)
    return plain in LOSSES or plain in SKILLS or plain is classification_cost


def loss_interval(measure: Measure, rows: MulticlassRows, value: float, level: float) -> Bounds:
    """Bound a mean loss or a skill of several classes."""
    plain = unwrap_options(measure)
    if plain in SKILLS:
        return _skill_interval(plain, rows, value, level)
    if plain is not classification_cost:
        losses = LOSSES[plain](np.asarray(rows.score, dtype=np.float64))
        return _mean_loss_interval(losses, describe(plain).span, rows, value, level)
    options = measure.keywords if isinstance(measure, partial) else {}
    table = cost_table(options.get("costs"), rows.labels)
    span = float(table.min()), float(table.max())
    if span[0] == span[1]:
        return Bounds(value, value, "all costs are equal")
    return _mean_loss_interval(np.asarray(rows.score @ table.T, dtype=np.float64), span, rows, value, level)


def _mean_loss_interval(
    losses: Floats, span: tuple[float, float], rows: MulticlassRows, value: float, level: float
) -> Bounds:
    """Bound a mean loss with its observed variance, t quantiles, and degrees of freedom by fourth moments.

    Where a few rows make most of that variance, large losses may be missing from the sample. The variance that the
    probabilities imply is then used if it is larger, unless losses are clearly smaller than the probabilities imply.
    """
    times, weight = row_amounts(rows)
    if times.sum() < 2:
        return Bounds(nan, nan, _METHOD, _SINGLE_ROW)
    score = np.asarray(rows.score, dtype=np.float64)
    slopes = weight * (losses[np.arange(len(rows)), rows.truth] - value) / rows.total
    part = VarianceComponent.of_rows(slopes, times)
    freedom = _variances.degrees_of_freedom([part])
    variance = part.variance * t_widening(freedom, level) ** 2
    if not variance > 0 or freedom < _FEW_FREEDOM:
        variance = max(variance, _model_variance(score, losses, times * weight, weight, value, always=not variance > 0))
    least, most = span
    if isinf(most):
        heavy = explain_heavy_tail(_own_probabilities(score, rows))
        if heavy:
            return Bounds(nan, nan, _METHOD, heavy)
        return Bounds(*_variances.bound_positive_mean(value, variance, level), _METHOD)
    # A mean of bounded losses varies at most as much as a proportion of as many rows.
    width = most - least
    share = _binomial.proportion_from_variance((value - least) / width, variance / width**2, float(np.sum(times)))
    low, high = _binomial.wilson(share.hits, share.misses, level)
    return Bounds(least + width * low, least + width * high, _METHOD)


def _skill_interval(measure: Measure, rows: MulticlassRows, value: float, level: float) -> Bounds:
    """Bound a skill through the remaining share of the loss: a ratio of two means, which is positive."""
    loss, constant, derive = SKILLS[measure]
    times, weight = row_amounts(rows)
    if times.sum() < 2:
        return Bounds(nan, nan, _METHOD, _SINGLE_ROW)
    heavy = (
        explain_heavy_tail(_own_probabilities(np.asarray(rows.score, dtype=np.float64), rows))
        if loss is log_loss
        else None
    )
    if heavy:
        return Bounds(nan, nan, _METHOD, heavy)
    left, whole = 1 - value, constant(rows.support)
    shares = ratio(rows.support, rows.total)
    with np.errstate(divide="ignore"):  # a class without rows, whose derivative no row takes
        change = derive(shares)[rows.truth]
    slopes = weight * (row_losses(loss, rows) - left * whole - left * change) / whole / rows.total
    part = VarianceComponent.of_rows(slopes, times)
    variance = part.variance * t_widening(_variances.degrees_of_freedom([part]), level) ** 2
    low, high = _variances.bound_positive_mean(left, variance, level)
    return Bounds(1 - high, 1 - low, _METHOD)


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
