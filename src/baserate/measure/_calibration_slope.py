"""Logistic recalibration: calibration slope and intercepts, and the observed-to-expected ratio.

A probability of 0 or 1 has no finite log-odds, and is moved `PROBABILITY_CLIP` away from it. `count_clipped` counts
these rows.
"""

from collections.abc import Callable, Mapping
from math import inf
from typing import NamedTuple

import numpy as np

from baserate._arrays import Bools, Floats, as_float, ratio
from baserate._numeric.logistic import (
    PROBABILITY_CLIP,
    LogisticFit,
    fit_intercept,
    fit_logistic,
    log_odds,
    logistic_probability,
)
from baserate._tally import Forecasts, Stack, Tally, once_per_tally
from baserate.measure._measure import Measure, Values, measure
from baserate.measure._proper_scores import check_probabilities

__all__ = [
    "calibration_in_the_large",
    "calibration_intercept",
    "calibration_slope",
    "cox_ici",
    "mean_probability",
    "observed_expected",
]


@measure(
    "Mean predicted probability (expected prevalence).",
    formula=r"\frac1n\sum p_i",
    aliases=("expected prevalence", "mean prediction"),
    references=("vancalster2019",),
    values=Values(None, (0, 1), needs=("total",), percent=True),
    page="Mean predicted probability",
)
def mean_probability(t: Forecasts) -> float:
    """
    >>> from baserate import tally
    >>> mean_probability(tally([0, 1, 0, 1], [0.25, 0.5, 0.75, 1.0]))
    0.625
    """
    check_probabilities(t)
    return as_float(ratio(np.asarray(expected_positives(t)), np.asarray(t.total)))


@measure(
    "Observed-to-expected ratio: positives divided by the sum of predicted probabilities.",
    formula=r"O/E=\sum y_i/\sum p_i",
    aliases=("O/E", "O:E ratio", "observed to expected ratio", "calibration ratio"),
    references=("vancalster2019",),
    values=Values(None, (0, inf), needs=("events",)),
    page="Observed-to-expected ratio",
)
def observed_expected(t: Forecasts) -> float:
    """1 if calibrated on average; below 1 the probabilities are too high on average.

    >>> from baserate import tally
    >>> observed_expected(tally([0, 1, 0, 1], [0.25, 0.5, 0.75, 1.0]))
    0.8
    """
    check_probabilities(t)
    return as_float(ratio(np.asarray(t.positives), np.asarray(expected_positives(t))))


@measure(
    "Calibration-in-the-large: intercept of the logistic recalibration model with slope fixed at 1.",
    formula=r"\frac1n\sumσ(c+\mathrm{logit}\,p_i)=ȳ",
    aliases=("CITL", "calibration intercept with slope 1", "prevalence offset"),
    references=("steyerberg2010",),
    values=Values(None, (-inf, inf), needs=("positives", "negatives", "uncertain_mass")),
    page="Calibration in the large",
)
def calibration_in_the_large(t: Forecasts) -> float:
    """A change of prevalence adds this number to all log-odds. 0 if calibrated on average; below 0 the probabilities
    are too high on average.

    >>> from baserate import tally
    >>> round(calibration_in_the_large(tally([0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.4, 0.6, 0.9, 0.7])), 6)
    -0.087062
    """
    return as_float(calibration_offset(t).value)


@measure(
    "Calibration intercept: intercept a of the logistic recalibration model logit P(y=1) = a + b·logit(p).",
    formula=r"\mathrm{logit}\,P(y=1)=a+b\,\mathrm{logit}\,p",
    aliases=("Cox intercept", "logistic intercept", "weak calibration intercept"),
    references=("cox1958", "vancalster2019"),
    values=Values(None, (-inf, inf), needs=("positives", "negatives", "score_spread", "overlap")),
)
def calibration_intercept(t: Forecasts) -> float:
    """0 if calibrated. With the slope fixed at 1 the intercept is `calibration_in_the_large`; both are often called
    calibration intercept.

    >>> from baserate import tally
    >>> round(calibration_intercept(tally([0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.4, 0.6, 0.9, 0.7])), 6)
    -0.077006
    """
    return _intercept(fit_recalibration(t), t)


@measure(
    "Calibration slope: slope b of the logistic recalibration model logit P(y=1) = a + b·logit(p).",
    formula=r"\mathrm{logit}\,P(y=1)=a+b\,\mathrm{logit}\,p",
    aliases=("Cox slope", "COX coef", "logistic slope", "weak calibration slope"),
    references=("cox1958", "vancalster2019"),
    values=Values(None, (-inf, inf), needs=("positives", "negatives", "score_spread", "overlap")),
    page="Calibration slope",
)
def calibration_slope(t: Forecasts) -> float:
    """1 if calibrated; below 1 the probabilities are too extreme, above 1 too moderate.

    >>> from baserate import tally
    >>> round(calibration_slope(tally([0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.4, 0.6, 0.9, 0.7])), 6)
    0.720677
    """
    return _slope(fit_recalibration(t), t)


@measure(
    "Mean absolute difference between predicted and logistically recalibrated probabilities.",
    formula=r"\frac1n\sum|σ(a+b\,\mathrm{logit}\,p_i)-p_i|",
    aliases=("COX ICI", "integrated calibration index of a logistic fit"),
    references=("austin2019",),
    values=Values("low", (0, 1), needs=("positives", "negatives", "score_spread", "overlap")),
)
def cox_ici(t: Forecasts) -> float:
    """
    >>> from baserate import tally
    >>> round(cox_ici(tally([0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.4, 0.6, 0.9, 0.7])), 6)
    0.04918
    """
    return _mean_change(fit_recalibration(t), t)


def _slope(fit: LogisticFit, _t: Forecasts) -> float:
    return as_float(fit.slope)


def _intercept(fit: LogisticFit, _t: Forecasts) -> float:
    return as_float(fit.intercept)


def _mean_change(fit: LogisticFit, t: Forecasts) -> float:
    change = np.abs(logistic_probability(fit.intercept, fit.slope, log_odds(t.score)) - t.score)
    return as_float(ratio(((t.positive + t.negative) * change).sum(axis=-1), t.total))


LINE_MEASURES: Mapping[Measure, Callable[[LogisticFit, Forecasts], float]] = {
    calibration_slope: _slope,
    calibration_intercept: _intercept,
    cox_ici: _mean_change,
}
"""Measures of one fitted line, so that several measures need only one fit."""


class Offset(NamedTuple):
    """Intercept with slope 1, and its variance."""

    value: Floats
    variance: Floats


@once_per_tally
def fit_recalibration(t: Forecasts) -> LogisticFit:
    """Fit the logistic regression of the outcomes on the log-odds; NaN where a margin is 0."""
    check_probabilities(t)
    x = log_odds(t.score)
    fits = _has_overlap(x, t.positive, t.negative)
    if not fits.any():
        nothing = np.full(fits.shape, np.nan)
        return LogisticFit(nothing, nothing, np.full((*fits.shape, 2, 2), np.nan))
    hits, misses = t.positive, t.negative
    if not fits.all():
        # Tallies without a finite fit get other masses, so that the fit of the stack converges; masked below.
        hits, misses = (np.where(fits[..., None], mass, 1.0) for mass in (hits, misses))
    fit = fit_logistic(x, hits, misses, squares=squared_weights(t), start=_starting_point(t))
    # Masses changed to a prevalence are fixed: only variation within the classes counts.
    if isinstance(t, Tally) and t.reweighed:
        fit = fit._replace(
            covariance=_within_class_covariance(t, np.stack([np.ones_like(x), x]), fit.intercept + fit.slope * x)
        )
    return LogisticFit(np.where(fits, fit.intercept, np.nan), np.where(fits, fit.slope, np.nan), fit.covariance)


def _starting_point(t: Forecasts) -> tuple[float, float] | None:
    """Return intercept and slope of the pooled tallies of a stack, as the start of each fit."""
    if isinstance(t, Tally) or t.positive.ndim == 1:
        return None
    # The pooled masses are one table, for which this function returns None: the recursion ends.
    pooled = fit_recalibration(Stack(t.score, t.positive.sum(axis=0), t.negative.sum(axis=0)))
    return float(pooled.intercept), float(pooled.slope)


@once_per_tally
def calibration_offset(t: Forecasts) -> Offset:
    """Fit the logistic regression with slope 1; NaN with a single class, or if all probabilities are 0 or 1."""
    check_probabilities(t)
    x = log_odds(t.score)
    value, variance = fit_intercept(x, t.positive, t.negative, squares=squared_weights(t))
    # Masses changed to a prevalence are fixed: only variation within the classes counts.
    if isinstance(t, Tally) and t.reweighed:
        variance = _within_class_covariance(t, np.ones((1, len(x))), x + value)[0, 0]
    fits = np.isfinite(value) & (np.asarray(_uncertain_mass(t)) > 0)
    return Offset(np.where(fits, value, np.nan), np.where(fits, variance, np.nan))


def _within_class_covariance(t: Tally, columns: Floats, line: Floats) -> Floats:
    r"""Return the covariance of logistic coefficients for fixed class masses, :math:`H^{-1}QH^{-1}`.

    Q is the variance of the score contributions within each class; H is the information.
    """
    from scipy.special import expit

    p = expit(line)
    information = (columns * ((t.positive + t.negative) * p * (1 - p))) @ columns.T
    noise = np.zeros_like(information)
    for mass, row_squares, residual in zip((t.positive, t.negative), t.squares, (1 - p, -p), strict=True):
        score = columns * residual
        centered = score - np.nan_to_num(ratio(score @ mass, np.asarray(mass.sum())))[:, None]
        noise += (centered * row_squares) @ centered.T
    # Pseudoinverse: nearly equal log-odds make the information singular to rounding.
    inverse = np.linalg.pinv(information)
    covariance: Floats = inverse @ noise @ inverse
    return covariance


def count_clipped(t: Tally) -> int:
    """Count the rows whose probability is so near to 0 or 1 that it is moved before taking log-odds."""
    outside = (t.score < PROBABILITY_CLIP) | (t.score > 1 - PROBABILITY_CLIP)
    return int(t.rows[:, outside].sum(dtype=np.int64))


@once_per_tally
def expected_positives(t: Forecasts) -> float:
    """Return the sum of probabilities: the expected number of positives."""
    return as_float(((t.positive + t.negative) * t.score).sum(axis=-1))


def _uncertain_mass(t: Forecasts) -> float:
    """Return the mass of probabilities with finite log-odds."""
    inside = (t.score >= PROBABILITY_CLIP) & (t.score <= 1 - PROBABILITY_CLIP)
    return as_float((t.positive + t.negative)[..., inside].sum(axis=-1))


def _events(t: Forecasts) -> float:
    """Return the sum of observed and expected positives."""
    return as_float(t.positives + expected_positives(t))


def _score_spread(t: Forecasts) -> float:
    """Return the distance between the highest and the lowest log-odds."""
    x = log_odds(t.score)
    # Scores fall, so the ends are the extremes.
    return float(x[0] - x[-1]) if len(x) else 0.0


def _overlap(t: Forecasts) -> float:
    """Return 0 if a threshold separates the classes, otherwise 1."""
    separable = _score_spread(t) > 0 and t.positives and t.negatives
    return 0.0 if separable and not _has_overlap(log_odds(t.score), t.positive, t.negative) else 1.0


MARGINS: Mapping[str, Callable[[Forecasts], float]] = {
    "events": _events,
    "overlap": _overlap,
    "score_spread": _score_spread,
    "uncertain_mass": _uncertain_mass,
}
"""Margins of probabilities that measures need."""


def _has_overlap(x: Floats, positive: Floats, negative: Floats) -> Bools:
    """Return whether each class reaches above the lowest score of the other; otherwise the best slope is infinite."""
    if not len(x):
        return np.zeros(positive.shape[:-1], dtype=np.bool_)
    ends = []
    for mass in (positive, negative):
        occupied = mass > 0
        # Scores fall, and so do log-odds: the first occupied one is the highest.
        ends.append((x[occupied.argmax(axis=-1)], x[len(x) - 1 - occupied[..., ::-1].argmax(axis=-1)]))
    (top, bottom), (other_top, other_bottom) = ends
    both = (positive.sum(axis=-1) > 0) & (negative.sum(axis=-1) > 0)
    overlaps: Bools = np.asarray((top > other_bottom) & (other_top > bottom) & both)
    return overlaps


def squared_weights(t: Forecasts) -> Floats | None:
    """Return the sums of squared weights at each score; None without weights."""
    if isinstance(t, Stack) or not t.weighted:
        return None
    return np.asarray(t.squares.sum(axis=0), dtype=np.float64)
