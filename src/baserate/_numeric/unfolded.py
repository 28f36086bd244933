"""Distributions on [0, 1] on the scale of log-odds, where scores that crowd at either end stand apart.

A float below 1 is at least 1e-16 away from it, and much of a distribution may lie nearer. What depends on the order of
scores alone may be worked out on this scale instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from baserate._arrays import Floats
from baserate._numeric.distributions import Beta, Distribution, LogitNormal, Normal, Real

_TINY = 1e-9
"""Part of the scale of a distribution below which the first terms of a series are exact."""


@dataclass(frozen=True, slots=True)
class LogitBeta:
    """Log-odds of what has a beta distribution."""

    a: float
    b: float

    def pdf(self, z: Real) -> Floats:
        """Density."""
        return np.asarray(np.exp(self.logpdf(z)))

    def logpdf(self, z: Real) -> Floats:
        """Logarithm of the density."""
        from scipy.special import betaln, log_expit

        z = np.asarray(z, dtype=np.float64)
        return np.asarray(self.a * log_expit(z) + self.b * log_expit(-z) - betaln(self.a, self.b))

    def cdf(self, z: Real) -> Floats:
        """Chance of at most z."""
        from scipy.special import betainc, expit

        z = np.asarray(z, dtype=np.float64)
        direct = betainc(self.a, self.b, expit(z))
        # A chance above one half is told best by what is left.
        right = np.where(direct < 0.5, direct, 1 - _below(self.b, self.a, -z))
        return np.where(z <= 0, _below(self.a, self.b, z), right)

    def sf(self, z: Real) -> Floats:
        """Chance of more than z."""
        return LogitBeta(self.b, self.a).cdf(-np.asarray(z, dtype=np.float64))

    def ppf(self, q: Real) -> Floats:
        """Where `cdf` is q."""
        q = np.asarray(q, dtype=np.float64)
        middle = float(_below(self.a, self.b, np.array(0.0)))
        return np.where(q <= middle, _place(self.a, self.b, q), -_place(self.b, self.a, 1 - q))

    def isf(self, q: Real) -> Floats:
        """Where `sf` is q."""
        return -LogitBeta(self.b, self.a).ppf(q)

    def rvs(self, size: int, random_state: np.random.Generator) -> Floats:
        """Draw so many: the logarithm of a ratio of two gamma variables."""
        return _log_gamma(self.a, size, random_state) - _log_gamma(self.b, size, random_state)


def unfolded(distribution: Distribution) -> Distribution:
    """Return the distribution of log-odds, where we know it; otherwise the distribution itself."""
    match distribution:
        case LogitNormal():
            return Normal(distribution.mean, distribution.sd)
        case Beta():
            return LogitBeta(distribution.a, distribution.b)
    return distribution


def _log_gamma(shape: float, size: int, rng: np.random.Generator) -> Floats:
    """Draw logarithms of gamma variables; the variable itself would underflow where the shape is small."""
    return np.asarray(np.log(rng.standard_gamma(shape + 1, size)) - rng.standard_exponential(size) / shape)


def _below(a: float, b: float, z: Floats) -> Floats:
    """Chance of log-odds up to z ≤ 0; where z is above 0, anything."""
    from scipy.special import betainc, betaln, expit

    z = np.minimum(z, 0.0)
    x = expit(z)
    with np.errstate(under="ignore", over="ignore"):
        series = np.exp(a * z - log(a) - betaln(a, b)) * (1 - a * (a + b) / (a + 1) * x)
    return np.asarray(np.where(z < _near(a, b), series, betainc(a, b, x)))


def _place(a: float, b: float, q: Floats) -> Floats:
    """Log-odds z ≤ 0 up to which the chance is q; where there are none, anything."""
    from scipy.special import betaln, logit

    with np.errstate(divide="ignore"):
        series = (np.log(q) + log(a) + betaln(a, b)) / a
    near = series < _near(a, b)
    x = Beta(a, b).ppf(np.where(near, 0.5, q))
    # The series of x is that of its odds but for terms of the second order, which are nothing here.
    return np.asarray(np.where(near, series, logit(np.clip(x, 0.0, 1.0))))


def _near(a: float, b: float) -> float:
    """Log-odds below which they are as good as the logarithm, and the series has two terms."""
    return log(_TINY / (1 + a + b))
