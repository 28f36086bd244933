"""Decomposition of proper scores into miscalibration, discrimination and uncertainty: S = MCB − DSC + UNC.

The calibrated version of a forecast is its isotonic regression, which pools adjacent violators and needs no bins; the
edges of the ROC convex hull are its blocks [@dimitriadis2021]. Miscalibration is the reduction of the score by this
recalibration. Discrimination is its reduction relative to a constant, which no monotone change of the probabilities
changes.
"""

from collections.abc import Callable
from math import inf

import numpy as np

from baserate._arrays import Floats, as_float, ratio
from baserate._numeric.cumulative import pool_adjacent_violators
from baserate._tally import Forecasts, Stack
from baserate.measure._measure import measure
from baserate.measure._proper_scores import check_probabilities

__all__ = [
    "brier_discrimination",
    "brier_miscalibration",
    "brier_uncertainty",
    "log_discrimination",
    "log_miscalibration",
    "log_uncertainty",
]


@measure(
    summary="Miscalibration part of the Brier score: reduction by isotonic recalibration.",
    formula=r"S(p)-S(\hat p)",
    aliases=("MCB", "Brier MCB", "reliability term"),
    references=("dimitriadis2021",),
    best="low",
    span=(0, 1),
    needs=("total",),
)
def brier_miscalibration(t: Forecasts) -> float:
    """
    >>> from baserate import tally
    >>> round(brier_miscalibration(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])), 10)
    0.0375
    """
    return _reduction(t, _squared_loss, t.score, fit_isotonic(t))


@measure(
    summary="Discrimination part of the Brier score: gain of isotonic regression over the prevalence.",
    formula=r"π(1-π)-S(\hat p)",
    aliases=("DSC", "Brier DSC", "resolution term"),
    references=("dimitriadis2021",),
    best="high",
    span=(0, 0.25),
    needs=("total",),
)
def brier_discrimination(t: Forecasts) -> float:
    """
    >>> from baserate import tally
    >>> brier_discrimination(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3]))
    0.25
    """
    return _reduction(t, _squared_loss, np.asarray(t.prevalence)[..., None], fit_isotonic(t))


@measure(
    summary="Uncertainty part of the Brier score: Brier score of always predicting the prevalence.",
    formula="π(1-π)",
    aliases=("UNC", "Brier UNC", "variance of the outcome"),
    references=("murphy1973",),
    best=None,
    span=(0, 0.25),
    needs=("total",),
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
    summary="Miscalibration part of the log loss: reduction by isotonic recalibration.",
    formula=r"S(p)-S(\hat p)",
    aliases=("log-loss MCB", "log-loss miscalibration"),
    references=("dimitriadis2021",),
    best="low",
    span=(0, inf),
    needs=("total",),
)
def log_miscalibration(t: Forecasts) -> float:
    """Infinite if an outcome had probability 0.

    >>> from baserate import tally
    >>> round(log_miscalibration(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.35])), 10)
    0.2161618747
    """
    return _reduction(t, _logarithmic_loss, t.score, fit_isotonic(t))


@measure(
    summary="Discrimination part of the log loss: gain of isotonic regression over the prevalence.",
    formula=r"H(π)-S(\hat p)",
    aliases=("log-loss DSC", "log-loss discrimination"),
    references=("dimitriadis2021",),
    best="high",
    span=(0, np.log(2)),
    needs=("total",),
)
def log_discrimination(t: Forecasts) -> float:
    """
    >>> from baserate import tally
    >>> round(log_discrimination(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.35])), 10)
    0.6931471806
    """
    return _reduction(t, _logarithmic_loss, np.asarray(t.prevalence)[..., None], fit_isotonic(t))


@measure(
    summary="Uncertainty part of the log loss: log loss of always predicting the prevalence.",
    formula=r"H(π)=-π\lnπ-(1-π)\ln(1-π)",
    aliases=("log-loss UNC", "entropy of the outcome"),
    references=("good1952",),
    best=None,
    span=(0, np.log(2)),
    needs=("total",),
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
