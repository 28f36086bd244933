"""Calibration without bins: distances from a smooth curve (ICI, E50), smooth and cumulative ECE, CORP decomposition.

Each takes a `Tally` of probabilities; 0 is best. All are plug-in estimates: sampling noise alone puts them above 0, the
more so the fewer rows there are.

Proper scores decompose into miscalibration, discrimination and uncertainty, S = MCB − DSC + UNC [@dimitriadis2021]. The
calibrated version of a forecast is its isotonic regression, which needs no bins; the edges of the ROC convex hull are
its blocks. Miscalibration is the reduction of the score by this recalibration. Discrimination is its reduction relative
to a constant, which no monotone change of the probabilities changes.
"""

from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from typing import Literal

import numpy as np

from baserate._arrays import Floats, as_float, ratio
from baserate._domains import wrong_option
from baserate._errors import OptionError
from baserate._numeric.cumulative import pool_adjacent_violators
from baserate._numeric.smoothers import GaussianSmoother, lowess
from baserate._tally import Forecasts, Stack
from baserate.measure._measure import Measure, Values, measure
from baserate.measure._proper_scores import check_probabilities

__all__ = [
    "brier_discrimination",
    "brier_miscalibration",
    "brier_uncertainty",
    "e50",
    "e90",
    "ecce",
    "ecce_mad",
    "emax",
    "ici",
    "log_discrimination",
    "log_miscalibration",
    "log_uncertainty",
    "smooth_ece",
]

Smoother = Literal["lowess", "isotonic"]
Quantile = Literal["inverted_cdf", "linear"]
"""Definition of a quantile, by the names of NumPy: R's types 1 and 7."""

_SPAN = 0.5
"""Share of the mass in the window of a local regression."""
_STEP = 0.001
"""Distance of probabilities between which the local regression is interpolated."""
_GUESS = 0.02
"""Width of the kernel from which the search starts."""
_NARROWEST = 1e-3
"""Width of the kernel below which smoothing stops, as in the reference implementation."""


@measure(
    "Smooth expected calibration error: integral of the absolute kernel-smoothed residuals.",
    formula=r"\int_0^1|\frac1n\sum_iK_σ(u,p_i)(p_i-y_i)|du",
    aliases=("smECE", "smooth expected calibration error"),
    references=("blasiok2024",),
    values=Values("low", (0, 1), needs=("total",)),
)
def smooth_ece(t: Forecasts, *, width: float | None = None) -> float:
    """The kernel K is a Gaussian, reflected at 0 and 1. By default its width σ is the fixed point at which the
    integral, which falls with σ, equals σ. The integral is accurate to six digits; the reference implementation sums
    200 points.

    >>> from baserate import tally
    >>> round(smooth_ece(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])), 6)
    0.159664
    """
    check_probabilities(t)
    if width is not None and not width >= _NARROWEST:
        raise wrong_option("width", width, f"the standard deviation of the kernel, {_NARROWEST} or more")
    if isinstance(t, Stack):
        return as_float(
            np.array([_smooth_error(t.score, *each, width) for each in zip(t.positive, t.negative, strict=True)])
        )
    return _smooth_error(t.score, t.positive, t.negative, width)


@measure(
    "Integrated calibration index: mean distance of probabilities from a smooth calibration curve.",
    formula=r"\frac1n\sum|\hat p(p_i)-p_i|",
    aliases=("integrated calibration index", "Loess ICI", "mean absolute calibration error", "Eavg"),
    references=("austin2019",),
    values=Values("low", (0, inf), needs=("total",)),
)
def ici(t: Forecasts, *, smoother: Smoother = "lowess", span: float = _SPAN, step: float = _STEP) -> float:
    """The curve is a local linear regression over the nearest `span` of all mass, exact at points `step` apart and
    interpolated between them; or the isotonic regression. Lines may leave [0, 1]; distances are measured to the
    unclipped fit, as in the reference implementations, whereas tables and figures of the curve are clipped to [0, 1].

    >>> from baserate import tally
    >>> round(ici(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3]), smoother="isotonic"), 10)
    0.175
    """
    return _mean_distance(*calibration_distances(t, smoother, span, step))


@measure(
    "Median distance of the predicted probabilities from a smooth calibration curve.",
    formula=r"Q_{.5}|\hat p(p_i)-p_i|",
    aliases=("median absolute calibration error",),
    references=("austin2019",),
    values=Values("low", (0, inf), needs=("total",)),
)
def e50(
    t: Forecasts,
    *,
    smoother: Smoother = "lowess",
    span: float = _SPAN,
    step: float = _STEP,
    quantile: Quantile = "inverted_cdf",
) -> float:
    """The `quantile` "inverted_cdf" is the smallest distance that this share of the rows does not exceed; "linear"
    interpolates between two of them, as R (type 7) and NumPy do.

    >>> from baserate import tally
    >>> round(e50(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3]), smoother="isotonic"), 10)
    0.1
    """
    return _distance_quantile(*calibration_distances(t, smoother, span, step), 0.5, quantile)


@measure(
    "Ninetieth percentile of the distances of probabilities from a smooth calibration curve.",
    formula=r"Q_{.9}|\hat p(p_i)-p_i|",
    aliases=("90th percentile of the absolute calibration error",),
    references=("austin2019",),
    values=Values("low", (0, inf), needs=("total",)),
)
def e90(
    t: Forecasts,
    *,
    smoother: Smoother = "lowess",
    span: float = _SPAN,
    step: float = _STEP,
    quantile: Quantile = "inverted_cdf",
) -> float:
    """The `quantile` "inverted_cdf" is the smallest distance that this share of the rows does not exceed; "linear"
    interpolates between two of them, as R (type 7) and NumPy do.

    >>> from baserate import tally
    >>> round(e90(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3]), smoother="isotonic"), 10)
    0.3
    """
    return _distance_quantile(*calibration_distances(t, smoother, span, step), 0.9, quantile)


@measure(
    "Largest distance of the predicted probabilities from a smooth calibration curve.",
    formula=r"\max|\hat p(p_i)-p_i|",
    aliases=("maximum absolute calibration error",),
    references=("harrell2015",),
    values=Values("low", (0, inf), needs=("total",)),
)
def emax(t: Forecasts, *, smoother: Smoother = "lowess", span: float = _SPAN, step: float = _STEP) -> float:
    """
    >>> from baserate import tally
    >>> round(emax(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3]), smoother="isotonic"), 10)
    0.3
    """
    return _distance_quantile(*calibration_distances(t, smoother, span, step), 1.0)


@measure(
    "Cumulative calibration error: range of the cumulative differences of outcomes and probabilities.",
    formula=r"\max_kC_k-\min_kC_k",
    aliases=("ECCE-R", "Kuiper calibration error", "estimated cumulative calibration error"),
    references=("arrieta2022",),
    values=Values("low", (0, 1), needs=("total",)),
)
def ecce(t: Forecasts) -> float:
    r"""Sorted by probability, :math:`C_k=\frac1n\sum_{i≤k}(y_i-p_i)` and :math:`C_0=0`: the largest absolute sum over
    any interval of probabilities. Equal probabilities enter together.

    >>> from baserate import tally
    >>> round(ecce(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])), 10)
    0.1
    """
    path = _cumulative_differences(t)
    return as_float(path.max(axis=-1) - path.min(axis=-1)) if path.shape[-1] > 1 else float("nan")


@measure(
    "Largest absolute cumulative difference of outcomes and probabilities.",
    formula=r"\max_k|C_k|",
    aliases=("ECCE-MAD", "Kolmogorov–Smirnov calibration error", "KS calibration error"),
    references=("arrieta2022",),
    values=Values("low", (0, 1), needs=("total",)),
)
def ecce_mad(t: Forecasts) -> float:
    """
    >>> from baserate import tally
    >>> round(ecce_mad(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])), 10)
    0.1
    """
    path = _cumulative_differences(t)
    return as_float(np.abs(path).max(axis=-1)) if path.shape[-1] > 1 else float("nan")


def _cumulative_differences(t: Forecasts) -> Floats:
    """Return the cumulative differences from the lowest probability on, beginning with 0, over the total mass."""
    check_probabilities(t)
    step = t.positive * (1 - t.score) - t.negative * t.score
    path = np.cumsum(step[..., ::-1], axis=-1)
    path = np.concatenate([np.zeros((*path.shape[:-1], 1)), path], axis=-1)
    return ratio(path, np.asarray(t.total)[..., None])


def fit_calibration_curve(t: Forecasts, smoother: Smoother, span: float = _SPAN, step: float = _STEP) -> Floats:
    """Fit the calibration curve at each score: the local linear or the isotonic regression of the outcomes."""
    check_probabilities(t)
    if smoother == "isotonic":
        return fit_isotonic(t)
    if smoother != "lowess":
        raise wrong_option("smoother", smoother, "'lowess' or 'isotonic'")
    if not 0 < span <= 1 or not 0 <= step < 1:
        what = f"span is {span} and step {step}; expected a span in (0, 1] and a step in [0, 1)."
        raise OptionError(what, option="span", value=span)
    return _fit_lowess(t, span, step)


def _fit_lowess(t: Forecasts, span: float, step: float) -> Floats:
    mass = t.positive + t.negative
    if not mass.shape[-1]:
        return mass
    x = t.score[::-1]
    if mass.ndim == 1 or (isinstance(t, Stack) and t.shared):
        total = mass if mass.ndim == 1 else mass[0]
        return lowess(x, total[::-1], (t.positive / total)[..., ::-1], frac=span, delta=step)[..., ::-1]
    # Samples with masses of their own: a score without mass has no rate, so each is fitted at its occupied scores.
    fits = np.zeros_like(mass)
    for at, (own, positive) in enumerate(zip(mass[:, ::-1], t.positive[:, ::-1], strict=True)):
        occupied = own > 0
        rate = positive[occupied] / own[occupied]
        fits[at, ::-1][occupied] = lowess(x[occupied], own[occupied], rate, frac=span, delta=step)
    return fits


def calibration_distances(
    t: Forecasts, smoother: Smoother = "lowess", span: float = _SPAN, step: float = _STEP
) -> tuple[Floats, Floats]:
    """Return the distance of each probability from the curve, and its mass in rows of the usual weight."""
    distance, mass = np.abs(fit_calibration_curve(t, smoother, span, step) - t.score), t.positive + t.negative
    if isinstance(t, Stack):
        return distance, mass if t.weight == 1 else mass / t.weight
    return distance, mass * ratio(float(t.rows.sum(dtype=np.int64)), t.total) if t.weighted else mass


def _mean_distance(distance: Floats, mass: Floats) -> float:
    """Return the mean distance, weighted by mass."""
    return as_float(ratio((mass * distance).sum(axis=-1), mass.sum(axis=-1)))


def _distance_quantile(distance: Floats, mass: Floats, share: float, quantile: Quantile = "inverted_cdf") -> float:
    """Return a quantile of the distances of rows."""
    if quantile not in ("inverted_cdf", "linear"):
        raise wrong_option("quantile", quantile, "'inverted_cdf' or 'linear'")
    if not mass.shape[-1]:
        return float("nan")
    if share == 1:
        # Not by cumulative sums: their tolerance below would skip a largest distance with very little mass.
        return as_float(np.where(mass > 0, distance, 0.0).max(axis=-1))
    order = np.argsort(distance, axis=-1)
    ordered = np.take_along_axis(distance, order, axis=-1)
    reached = np.cumsum(np.take_along_axis(mass, order, axis=-1), axis=-1)

    def find(rows: Floats) -> Floats:
        """Return the smallest distance that this number of rows does not exceed."""
        # The tolerance absorbs the rounding of a cumulative sum that equals the number.
        at = (reached < rows * (1 - 1e-12)).sum(axis=-1, keepdims=True)
        return np.take_along_axis(ordered, np.minimum(at, ordered.shape[-1] - 1), axis=-1)[..., 0]

    total = reached[..., -1:]
    if quantile == "inverted_cdf":
        return as_float(find(total * share))
    place = 1 + np.maximum(total - 1, 0.0) * share
    whole = np.floor(place * (1 + 1e-12))
    part = np.maximum(place - whole, 0.0)[..., 0]
    return as_float((1 - part) * find(whole) + part * find(np.minimum(whole + 1, total)))


DISTANCE_MEASURES: Mapping[Measure, Callable[[Floats, Floats], float]] = {
    ici: _mean_distance,
    e50: partial(_distance_quantile, share=0.5),
    e90: partial(_distance_quantile, share=0.9),
    emax: partial(_distance_quantile, share=1.0),
}
"""Measures of the same distances, so that several measures need only one curve."""


def _smooth_error(score: Floats, positive: Floats, negative: Floats, width: float | None) -> float:
    """Return the integral at this width, or at the width that it equals."""
    from scipy.optimize import brentq

    total = float(positive.sum() + negative.sum())
    if not total:
        return float("nan")
    residuals = GaussianSmoother(score, (negative * score - positive * (1 - score)) / total)
    if width is not None:
        return residuals.absolute(width)
    narrowest = residuals.absolute(_NARROWEST)
    if narrowest <= _NARROWEST:
        return narrowest
    # The integral falls with the width, so that the fixed point lies between any width and its integral.
    integral = residuals.absolute(_GUESS)
    low, high = sorted([_GUESS, min(max(integral, _NARROWEST), 1.0)])
    at_low, at_high = residuals.absolute(low), residuals.absolute(high)
    # Residuals of one sign have the same integral at any width, except for rounding: then an end is the solution.
    if at_high >= high:
        return at_high
    if at_low <= low:
        return at_low
    return float(brentq(lambda at: residuals.absolute(at) - at, low, high, xtol=1e-12))


@measure(
    "Miscalibration part of the Brier score: reduction by isotonic recalibration.",
    formula=r"S(p)-S(\hat p)",
    aliases=("MCB", "Brier MCB", "reliability term"),
    references=("dimitriadis2021",),
    values=Values("low", (0, 1), needs=("total",)),
)
def brier_miscalibration(t: Forecasts) -> float:
    """
    >>> from baserate import tally
    >>> round(brier_miscalibration(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])), 10)
    0.0375
    """
    return _reduction(t, _squared_loss, t.score, fit_isotonic(t))


@measure(
    "Discrimination part of the Brier score: gain of isotonic regression over the prevalence.",
    formula=r"π(1-π)-S(\hat p)",
    aliases=("DSC", "Brier DSC", "resolution term"),
    references=("dimitriadis2021",),
    values=Values("high", (0, 0.25), needs=("total",)),
)
def brier_discrimination(t: Forecasts) -> float:
    """
    >>> from baserate import tally
    >>> brier_discrimination(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3]))
    0.25
    """
    return _reduction(t, _squared_loss, np.asarray(t.prevalence)[..., None], fit_isotonic(t))


@measure(
    "Uncertainty part of the Brier score: Brier score of always predicting the prevalence.",
    formula="π(1-π)",
    aliases=("UNC", "Brier UNC", "variance of the outcome"),
    references=("murphy1973",),
    values=Values(None, (0, 0.25), needs=("total",)),
)
def brier_uncertainty(t: Forecasts) -> float:
    """
    >>> from baserate import tally
    >>> brier_uncertainty(tally([0, 1, 0, 0], [0.1, 0.9, 0.8, 0.3]))
    0.1875
    """
    check_probabilities(t)
    return as_float(t.prevalence * (1 - t.prevalence))


@measure(
    "Miscalibration part of the log loss: reduction by isotonic recalibration.",
    formula=r"S(p)-S(\hat p)",
    aliases=("log-loss MCB", "log-loss miscalibration"),
    references=("dimitriadis2021",),
    values=Values("low", (0, inf), needs=("total",)),
)
def log_miscalibration(t: Forecasts) -> float:
    """Infinite if an outcome had probability 0.

    >>> from baserate import tally
    >>> round(log_miscalibration(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.35])), 10)
    0.2161618747
    """
    return _reduction(t, _logarithmic_loss, t.score, fit_isotonic(t))


@measure(
    "Discrimination part of the log loss: gain of isotonic regression over the prevalence.",
    formula=r"H(π)-S(\hat p)",
    aliases=("log-loss DSC", "log-loss discrimination"),
    references=("dimitriadis2021",),
    values=Values("high", (0, np.log(2)), needs=("total",)),
)
def log_discrimination(t: Forecasts) -> float:
    """
    >>> from baserate import tally
    >>> round(log_discrimination(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.35])), 10)
    0.6931471806
    """
    return _reduction(t, _logarithmic_loss, np.asarray(t.prevalence)[..., None], fit_isotonic(t))


@measure(
    "Uncertainty part of the log loss: log loss of always predicting the prevalence.",
    formula=r"H(π)=-π\lnπ-(1-π)\ln(1-π)",
    aliases=("log-loss UNC", "entropy of the outcome"),
    references=("good1952",),
    values=Values(None, (0, np.log(2)), needs=("total",)),
)
def log_uncertainty(t: Forecasts) -> float:
    """
    >>> from baserate import tally
    >>> round(log_uncertainty(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.35])), 10)
    0.6931471806
    """
    from scipy.special import entr

    check_probabilities(t)
    return as_float(entr(t.prevalence) + entr(1 - t.prevalence))


def fit_isotonic(t: Forecasts) -> Floats:
    """Fit the isotonic regression of the outcomes on the probabilities, at each score."""
    check_probabilities(t)
    if isinstance(t, Stack):
        return np.stack([_pool_violators(*each) for each in zip(t.positive, t.negative, strict=True)])
    return _pool_violators(t.positive, t.negative)


def _pool_violators(positive: Floats, negative: Floats) -> Floats:
    """Fit falling shares of positives at falling scores; a score without mass gets the share of a neighbor."""
    occupied = np.flatnonzero(positive + negative > 0)
    if not len(occupied):
        return np.full(len(positive), np.nan)
    hits, misses = positive[occupied], negative[occupied]
    starts, hits, misses = pool_adjacent_violators(hits, misses)
    lengths = np.diff(np.append(occupied[starts], len(positive)), prepend=0)
    lengths[1] += lengths[0]  # scores without mass before the first block belong to it
    return np.repeat(hits / (hits + misses), lengths[1:])


Loss = Callable[[Floats, Floats, Floats], Floats]
"""Takes the masses of both classes, and their probabilities."""


def _reduction(t: Forecasts, loss: Loss, worse: Floats, better: Floats) -> float:
    """Return the mean reduction of the loss, which only rounding could make negative."""
    check_probabilities(t)
    reduction = loss(t.positive, t.negative, worse) - loss(t.positive, t.negative, better)
    return as_float(ratio(np.maximum(reduction, 0.0), t.total))


def _squared_loss(positive: Floats, negative: Floats, p: Floats) -> Floats:
    total: Floats = (positive * (1 - p) ** 2 + negative * p**2).sum(axis=-1)
    return total


def _logarithmic_loss(positive: Floats, negative: Floats, p: Floats) -> Floats:
    from scipy.special import xlog1py, xlogy

    # xlogy(0, 0) is 0, so that a class without mass adds nothing.
    total: Floats = -(xlogy(positive, p) + xlog1py(negative, -p)).sum(axis=-1)
    return total
