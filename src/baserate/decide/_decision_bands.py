"""Simultaneous confidence bands of decision curves: the confidence level of each threshold, by the sup-t statistic.

Net benefit at many thresholds is a vector of correlated means. A band covers all of them together if each interval has
the level of the quantile of the largest studentized deviation. The vector is nearly normal, with a covariance that
follows from the rows that are flagged at both of two thresholds. Normal vectors with that covariance give the quantile
[@montielolea2019]; they have the law of a multiplier bootstrap of the rows, and cost the same for any number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import erf, sqrt
from typing import Any

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._counts import Counts
from baserate._domains import check_memory

N_SIMULATIONS = 10_000
"""Normal vectors; the standard error of the quantile is about 0.01."""
_BLOCK = 500
"""Vectors in memory at a time."""
_TRACE = 1e-9
"""Variance, as a share of the largest, that is rounding."""
_SIDES = (("tp", "fn", "positives"), ("fp", "tn", "negatives"))
BAND_METHOD = "at equal local levels of a simultaneous (sup-t) band"

Contrast = Callable[[Floats], Floats]
"""Function from vectors, along the last axis, to the numbers that a band is of."""


def local_level(
    covariance: Floats, level: float, rng: np.random.Generator, *, contrast: Contrast | None = None
) -> float:
    """Return the level of each of several intervals that cover together at a level.

    Numbers without variance do not count.

    >>> round(local_level(np.eye(1), 0.95, np.random.default_rng(0)), 2)
    0.95
    >>> round(local_level(np.eye(5), 0.95, np.random.default_rng(0)), 2)  # of independent ones: 0.95 ** (1 / 5)
    0.99
    """
    check_memory("the covariance of the thresholds", float(covariance.size), "Give fewer thresholds.")
    values, vectors = np.linalg.eigh(covariance)
    kept = values > _TRACE * max(values[-1], 0.0)
    if not kept.any():
        return level
    factor = vectors[:, kept] * np.sqrt(values[kept])
    # The columns of the factor are a basis of the deviations, so that their squares add up to the variances.
    basis = factor.T if contrast is None else contrast(factor.T)
    error = np.sqrt((basis**2).sum(axis=0))
    counted = error > sqrt(_TRACE) * error.max()
    largest = np.empty(N_SIMULATIONS)
    for start in range(0, N_SIMULATIONS, _BLOCK):
        vectors_drawn = rng.standard_normal((min(_BLOCK, N_SIMULATIONS - start), len(factor.T))) @ factor.T
        deviations = vectors_drawn if contrast is None else contrast(vectors_drawn)
        largest[start : start + _BLOCK] = np.abs(deviations[:, counted] / error[counted]).max(axis=1)
    return max(level, erf(float(np.quantile(largest, level)) / sqrt(2)))


def combination_covariance(counts: Counts[Any], factors: Mapping[str, Any], size: int) -> Floats:
    """Return the covariance of a combination of cells' shares at several thresholds of one curve, times n².

    At a fixed prevalence each class is a sample of its own.
    """
    parts = []
    for inside, outside, side in _SIDES:
        flagged, rest = (np.broadcast_to(np.asarray(factors.get(name, 0.0)), size) for name in (inside, outside))
        squares = np.broadcast_to(getattr(counts.squares, inside), size)
        # Equal at all thresholds.
        whole, mass = (float(np.ravel(getattr(each, side))[0]) for each in (counts.squares, counts))
        share = np.broadcast_to(np.nan_to_num(ratio(getattr(counts, inside), mass)), size)
        slope = flagged - rest
        # Rows that are flagged at both of two thresholds are those at the stricter one.
        both = np.minimum.outer(squares, squares)
        first = rest * whole + slope * squares
        second = (
            np.outer(rest, rest) * whole
            + np.outer(rest, slope * squares)
            + np.outer(slope * squares, rest)
            + np.outer(slope, slope) * both
        )
        parts.append((mass, rest + slope * share, first, second, whole))
    if counts.reweighed:
        both_classes = [_center(second, mean, first, whole) for _, mean, first, second, whole in parts]
        return both_classes[0] + both_classes[1]
    total = sum(mass for mass, *_ in parts)
    mean = sum(mass * mean for mass, mean, *_ in parts) / total
    first, second, whole = (sum(part[at] for part in parts) for at in (2, 3, 4))
    return _center(second, mean, first, whole)


def _center(second: Any, mean: Any, first: Any, whole: Any) -> Floats:  # noqa: ANN401  (arrays, or sums of them)
    """Return second moments about the mean."""
    centered: Floats = second - np.outer(mean, first) - np.outer(first, mean) + np.outer(mean, mean) * whole
    return centered


def paired_covariance(
    truth: Any,  # noqa: ANN401  (one for each row)
    flagged: list[Any],
    odds: Floats,
    moments: tuple[Floats, Floats],
) -> Floats:
    """Return the covariance of the net benefits of several models on the same rows, times n².

    `flagged` has, for each model, the number of thresholds at which it flags each row; vectors have all thresholds of
    the first model first. `moments` are the mass and the squared weights of the rows.
    """
    mass, squares = moments
    size, many = len(odds), len(flagged)
    second = np.zeros((many, size, many, size))
    mean, first = np.zeros((2, many, size))
    for positive in (True, False):
        rows = np.flatnonzero(np.asarray(truth, dtype=np.bool_) == positive)
        gain = np.ones(size) if positive else -odds
        for one in range(many):
            here = flagged[one][rows]
            mean[one] += gain * _flagged_mass(here, mass[rows], size)
            first[one] += gain * _flagged_mass(here, squares[rows], size)
            for other in range(one, many):
                both = _flagged_together(here, flagged[other][rows], squares[rows], size)
                block = np.outer(gain, gain) * both
                second[one, :, other] += block
                if other != one:
                    second[other, :, one] += block.T
    k = many * size
    return _center(second.reshape(k, k), mean.ravel() / mass.sum(), first.ravel(), squares.sum())


def _flagged_mass(flagged: Any, weights: Floats, size: int) -> Floats:  # noqa: ANN401  (whole numbers)
    """Sum the weights of the rows that are flagged at each threshold."""
    sums = np.bincount(flagged, weights=weights, minlength=size + 1)
    return np.asarray(np.cumsum(sums[::-1])[::-1][1:], dtype=np.float64)


def _flagged_together(one: Any, other: Any, weights: Floats, size: int) -> Floats:  # noqa: ANN401  (whole numbers)
    """Sum the weights of the rows that one model flags at a threshold, and the other at another."""
    cells = np.bincount(one * (size + 1) + other, weights=weights, minlength=(size + 1) ** 2)
    table = cells.reshape(size + 1, size + 1)[::-1, ::-1]
    return np.asarray(table.cumsum(axis=0).cumsum(axis=1)[::-1, ::-1][1:, 1:], dtype=np.float64)
