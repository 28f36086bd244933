"""Kernel density estimates with a normal kernel, and bandwidths by rules that R uses under the same names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi, sqrt
from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats, keep_read_only
from baserate._errors import OptionError
from baserate._numeric.distributions import Real
from baserate._numeric.quantile_search import find_quantiles

_REACH = 9.0
"""Bandwidths beyond which a normal tail is below rounding."""
_MAX_BREAKS = 4000
_BLOCK = 1 << 20
"""Numbers at a time, which fit the cache."""


class WeightedSample(NamedTuple):
    """Values, in increasing order, with their weights and the number of rows that they are worth."""

    x: Floats
    weight: Floats
    rows: float

    @property
    def mean(self) -> float:
        """Weighted mean."""
        return float(np.average(self.x, weights=self.weight))

    @property
    def sd(self) -> float:
        """Standard deviation, with the number of rows less 1 as divisor."""
        variance = float(np.average((self.x - self.mean) ** 2, weights=self.weight))
        return sqrt(variance * self.rows / (self.rows - 1))

    def quantile(self, share: float) -> float:
        """Return a quantile, interpolated between rows as R and NumPy do by default."""
        # Row i of n is the quantile of i/(n − 1); equal values are one stretch of rows.
        unit = self.rows / float(self.weight.sum())
        last = np.cumsum(self.weight) * unit - 1
        first = last + 1 - self.weight * unit
        # Without rounding, a quartile at the end of a stretch could take a part of the next value.
        at = np.column_stack([np.minimum(first, last), last]).ravel().round(9)
        return float(np.interp(share * (self.rows - 1), at, np.repeat(self.x, 2)))


def normal_reference_bandwidth(sample: WeightedSample, factor: float = 0.9) -> float:
    """Return a bandwidth that suits normal data: R's `bw.nrd0`, and with a factor of 1.06 `bw.nrd` [@silverman1986].

    Without variation it is 0.

    >>> round(normal_reference_bandwidth(WeightedSample(np.arange(10.0), np.ones(10), 10)), 7)
    1.7192864
    """
    if sample.rows <= 1 or sample.x[0] == sample.x[-1]:
        return 0.0
    spread = sample.sd
    quartiles = (sample.quantile(0.75) - sample.quantile(0.25)) / 1.34
    # More than half of the rows may share one value, which says nothing about the others.
    least = min(spread, quartiles) or spread
    bandwidth: float = factor * least / sample.rows**0.2
    return bandwidth


def sheather_jones_bandwidth(sample: WeightedSample) -> float:
    """Return the bandwidth that solves the equation of Sheather and Jones: R's `bw.SJ` [@sheather1991].

    R compares values in 1000 bins and stops at a tenth of a percent of the largest bandwidth; this is exact.

    >>> round(sheather_jones_bandwidth(WeightedSample(np.arange(10.0) ** 2, np.ones(10), 10)), 4)
    14.0972
    """
    from scipy.optimize import brentq

    rows = sample.rows
    scale = min(sample.sd, (sample.quantile(0.75) - sample.quantile(0.25)) / 1.349) or sample.sd
    gaps, pairs = _pair_gaps(sample)
    sixth = -_mean_derivative(gaps, pairs, rows, 1.23 * scale * rows ** (-1 / 9), _sixth)
    fourth = _mean_derivative(gaps, pairs, rows, 1.24 * scale * rows ** (-1 / 7), _fourth)
    if not (sixth > 0 and fourth > 0):
        raise _no_bandwidth()
    ratio = 1.357 * (fourth / sixth) ** (1 / 7)

    def excess(bandwidth: float) -> float:
        roughness = _mean_derivative(gaps, pairs, rows, ratio * bandwidth ** (5 / 7), _fourth)
        return float((1 / (2 * sqrt(pi) * rows * roughness)) ** 0.2 - bandwidth) if roughness > 0 else np.inf

    high = 1.144 * scale * rows**-0.2
    low = 0.1 * high
    for _ in range(_WIDENINGS):
        if excess(low) * excess(high) <= 0:
            return float(brentq(excess, low, high, xtol=1e-14 * high, rtol=1e-12))
        low, high = low / 1.2, high * 1.2
    raise _no_bandwidth()


_WIDENINGS = 60
_BINS = 2000
"""Values above which pairs are compared in that many bins."""


def _no_bandwidth() -> OptionError:
    return OptionError(
        "the Sheather–Jones bandwidth does not exist: the scores have too many ties",
        remedy="take the bandwidth 'nrd0', or a number.",
        option="bandwidth",
    )


def _pair_gaps(sample: WeightedSample) -> tuple[Floats, Floats]:
    """Return distances of pairs of values and the number of pairs of rows at each; ties are pairs, too."""
    unit = sample.rows / float(sample.weight.sum())
    x, rows = sample.x, sample.weight * unit
    ties = float(np.sum(rows * np.maximum(rows - 1, 0.0)) / 2)
    if len(x) <= _BINS:
        first, second = np.triu_indices(len(x), 1)
        return np.append(x[second] - x[first], 0.0), np.append(rows[first] * rows[second], ties)
    # Sums over pairs at each distance are a correlation of the bins with themselves.
    width = (x[-1] - x[0]) / (_BINS - 1)
    counts = np.bincount(np.rint((x - x[0]) / width).astype(np.intp), weights=rows, minlength=_BINS)
    together = np.asarray(np.correlate(counts, counts, mode="full")[_BINS - 1 :], dtype=np.float64)
    together[0] = (together[0] - np.sum(rows * np.minimum(rows, 1.0))) / 2
    return np.arange(float(_BINS)) * width, together


def _mean_derivative(
    gaps: Floats, pairs: Floats, rows: float, bandwidth: float, derivative: Callable[[Floats], Floats]
) -> float:
    """Estimate the mean of a derivative of the density, by the kernel's own: its order is 4 or 6."""
    order = 4 if derivative is _fourth else 6
    z = (gaps / bandwidth) ** 2
    total = 2 * float(np.sum(pairs * derivative(z) * np.exp(-z / 2))) + rows * float(derivative(np.zeros(1))[0])
    return total / (rows * (rows - 1) * bandwidth ** (order + 1) * sqrt(2 * pi))


def _fourth(square: Floats) -> Floats:
    """Return the fourth derivative of the normal density over the density, from the square of its argument."""
    return square**2 - 6 * square + 3


def _sixth(square: Floats) -> Floats:
    return square**3 - 15 * square**2 + 45 * square - 15


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False)
class NormalMixture:
    """Mixture of normal distributions of one standard deviation: a kernel density estimate."""

    centers: Floats
    """Increasing."""
    weight: Floats
    """Adds up to 1."""
    bandwidth: float

    def pdf(self, x: Real) -> Floats:
        return self._sum(x, _normal_density) / self.bandwidth

    def cdf(self, x: Real) -> Floats:
        from scipy.special import ndtr

        return np.minimum(self._sum(x, ndtr), 1.0)

    def sf(self, x: Real) -> Floats:
        from scipy.special import ndtr

        return np.minimum(self._sum(x, lambda z: ndtr(-z)), 1.0)

    def ppf(self, q: Real) -> Floats:
        return find_quantiles(self, np.asarray(q, dtype=np.float64), upper=False)

    def isf(self, q: Real) -> Floats:
        return find_quantiles(self, np.asarray(q, dtype=np.float64), upper=True)

    def rvs(self, size: int, random_state: np.random.Generator) -> Floats:
        return random_state.choice(self.centers, size, p=self.weight) + random_state.normal(0.0, self.bandwidth, size)

    @property
    def breaks(self) -> Floats:
        """Points between which the density is nearly a polynomial."""
        reach = _REACH * self.bandwidth
        low, high = float(self.centers[0]) - reach, float(self.centers[-1]) + reach
        return np.linspace(low, high, min(int((high - low) / self.bandwidth) + 1, _MAX_BREAKS) + 1)

    def _sum(self, x: Real, kernel: Callable[[Floats], Floats]) -> Floats:
        """Sum a function of the distance from each center, in blocks."""
        x = np.asarray(x, dtype=np.float64)
        flat = x.ravel()
        step = max(_BLOCK // len(self.centers), 1)
        parts = [
            kernel((flat[start : start + step, np.newaxis] - self.centers) / self.bandwidth) @ self.weight
            for start in range(0, len(flat), step)
        ]
        return np.concatenate(parts).reshape(x.shape) if parts else np.empty(x.shape)


def _normal_density(z: Floats) -> Floats:
    density: Floats = np.exp(-z * z / 2) / sqrt(2 * pi)
    return density
