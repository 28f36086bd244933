"""Distributions on the line: some in closed form, and tails, densities, quantiles and expectations of any.

Each class has the methods of a frozen distribution of `scipy.stats`, which is slow to import, under the same names:
`cdf` is the probability of at most x, `sf` that of more, `ppf` and `isf` are their inverses, and `rvs` samples. A
continuous one has the density `pdf` and its logarithm `logpdf`, a discrete one `pmf` instead. Both tails are accurate:
no method computes a small probability as one less a large one, which would lose all its digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, log, pi, sqrt
from typing import Any, Protocol
from warnings import catch_warnings, simplefilter

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._errors import OptionError

Real = float | Floats


class Distribution(Protocol):
    """Interface of a distribution, ours or a frozen one of `scipy.stats`; also `pdf`, or `pmf` if it is discrete."""

    def cdf(self, x: Any, /) -> Any: ...  # noqa: ANN401  (SciPy's)
    def sf(self, x: Any, /) -> Any: ...  # noqa: ANN401
    def ppf(self, q: Any, /) -> Any: ...  # noqa: ANN401
    def isf(self, q: Any, /) -> Any: ...  # noqa: ANN401
    def rvs(self, *, size: int, random_state: np.random.Generator) -> Any: ...  # noqa: ANN401


class _Continuous:
    """Density from its logarithm."""

    __slots__ = ()

    def pdf(self, x: Real, /) -> Floats:
        return np.asarray(np.exp(self.logpdf(x)))

    def logpdf(self, x: Real, /) -> Floats:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Linear:
    """Distribution on [0, 1] with density 2x if rising, otherwise 2 − 2x."""

    rising: bool

    def pdf(self, x: Real) -> Floats:
        x = np.asarray(x, dtype=np.float64)
        return np.where((x >= 0) & (x <= 1), 2 * (x if self.rising else 1 - x), 0.0)

    def logpdf(self, x: Real) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(self.pdf(x))

    def cdf(self, x: Real) -> Floats:
        x = np.clip(x, 0.0, 1.0)
        return x**2 if self.rising else x * (2 - x)

    def sf(self, x: Real) -> Floats:
        x = np.clip(x, 0.0, 1.0)
        # Not 1 − x², which cancels near 1.
        return (1 - x) * (1 + x) if self.rising else (1 - x) ** 2

    def ppf(self, q: Real) -> Floats:
        q = np.asarray(q, dtype=np.float64)
        # The second is 1 − √(1 − q), written so that it does not cancel near 0.
        return np.sqrt(q) if self.rising else q / (1 + np.sqrt(1 - q))

    def isf(self, q: Real) -> Floats:
        q = np.asarray(q, dtype=np.float64)
        return np.sqrt(1 - q) if self.rising else 1 - np.sqrt(q)

    def rvs(self, size: int, random_state: np.random.Generator) -> Floats:
        return self.ppf(random_state.random(size))


@dataclass(frozen=True, slots=True)
class Normal(_Continuous):
    """Normal distribution."""

    mean: float
    sd: float

    def __post_init__(self) -> None:
        _check_normal(self.mean, self.sd)

    def logpdf(self, x: Real) -> Floats:
        with np.errstate(over="ignore"):
            return -(self._z(x) ** 2) / 2 - log(self.sd) - log(2 * pi) / 2

    def cdf(self, x: Real) -> Floats:
        from scipy.special import ndtr

        return np.asarray(ndtr(self._z(x)))

    def sf(self, x: Real) -> Floats:
        from scipy.special import ndtr

        # Not 1 − ndtr(z), which is 0 from 8.3 standard deviations on.
        return np.asarray(ndtr(-self._z(x)))

    def ppf(self, q: Real) -> Floats:
        from scipy.special import ndtri

        return np.asarray(self.mean + self.sd * ndtri(q))

    def isf(self, q: Real) -> Floats:
        from scipy.special import ndtri

        return np.asarray(self.mean - self.sd * ndtri(q))

    def rvs(self, size: int, random_state: np.random.Generator) -> Floats:
        return random_state.normal(self.mean, self.sd, size)

    def _z(self, x: Real) -> Floats:
        return (np.asarray(x, dtype=np.float64) - self.mean) / self.sd


@dataclass(frozen=True, slots=True)
class LogitNormal(_Continuous):
    """Distribution on [0, 1] with normal log-odds."""

    mean: float
    sd: float

    def __post_init__(self) -> None:
        _check_normal(self.mean, self.sd)

    def logpdf(self, x: Real) -> Floats:
        x = np.asarray(x, dtype=np.float64)
        inside = (x > 0) & (x < 1)
        # `where` evaluates both branches, so outside values are replaced before the logarithms.
        safe = np.where(inside, x, 0.5)
        return np.where(inside, self._odds.logpdf(_logit(safe)) - np.log(safe) - np.log1p(-safe), -np.inf)

    def cdf(self, x: Real) -> Floats:
        return self._odds.cdf(_logit(x))

    def sf(self, x: Real) -> Floats:
        return self._odds.sf(_logit(x))

    def ppf(self, q: Real) -> Floats:
        return _expit(self._odds.ppf(q))

    def isf(self, q: Real) -> Floats:
        return _expit(self._odds.isf(q))

    def rvs(self, size: int, random_state: np.random.Generator) -> Floats:
        return _expit(self._odds.rvs(size, random_state))

    @property
    def _odds(self) -> Normal:
        return Normal(self.mean, self.sd)


_MAX_PARAMETER = 1e6


@dataclass(frozen=True, slots=True)
class Beta(_Continuous):
    """Beta distribution on [0, 1]."""

    a: float
    b: float

    def __post_init__(self) -> None:
        if not (0 < self.a <= _MAX_PARAMETER and 0 < self.b <= _MAX_PARAMETER):
            raise OptionError(
                f"a beta distribution of ({self.a}, {self.b})",
                remedy=f"give two numbers above 0, up to {_MAX_PARAMETER:g}: beyond, its quantiles are inaccurate.",
            )

    def logpdf(self, x: Real) -> Floats:
        from scipy.special import betaln, xlog1py, xlogy

        x = np.asarray(x, dtype=np.float64)
        inside = (x >= 0) & (x <= 1)
        safe = np.where(inside, x, 0.5)
        value = xlogy(self.a - 1, safe) + xlog1py(self.b - 1, -safe) - betaln(self.a, self.b)
        return np.where(inside, value, -np.inf)

    def cdf(self, x: Real) -> Floats:
        from scipy.special import betainc

        return np.asarray(betainc(self.a, self.b, np.clip(x, 0.0, 1.0)))

    def sf(self, x: Real) -> Floats:
        from scipy.special import betaincc

        return np.asarray(betaincc(self.a, self.b, np.clip(x, 0.0, 1.0)))

    def ppf(self, q: Real) -> Floats:
        from scipy.special import betaincinv

        near = _small_beta_quantile(self.a, self.b, q)
        return np.where(near < _SMALL_QUANTILE, near, betaincinv(self.a, self.b, q))

    def isf(self, q: Real) -> Floats:
        from scipy.special import betainccinv

        near = _small_beta_quantile(self.b, self.a, q)
        return np.where(near < _SMALL_QUANTILE, 1 - near, betainccinv(self.a, self.b, q))

    def rvs(self, size: int, random_state: np.random.Generator) -> Floats:
        return random_state.beta(self.a, self.b, size)


@dataclass(frozen=True, slots=True)
class Point:
    """Degenerate distribution: all mass at one point."""

    at: float

    def __post_init__(self) -> None:
        if not isfinite(self.at):
            raise OptionError(f"a point at {self.at}", remedy="give a finite number.")

    def pmf(self, x: Real) -> Floats:
        return np.where(np.equal(x, self.at), 1.0, 0.0)

    def cdf(self, x: Real) -> Floats:
        return np.where(np.greater_equal(x, self.at), 1.0, 0.0)

    def sf(self, x: Real) -> Floats:
        return np.where(np.less(x, self.at), 1.0, 0.0)

    def ppf(self, q: Real) -> Floats:
        return np.full(np.shape(q), self.at)

    def isf(self, q: Real) -> Floats:
        return np.full(np.shape(q), self.at)

    def rvs(self, size: int, random_state: np.random.Generator) -> Floats:  # noqa: ARG002  (SciPy's name)
        return np.full(size, self.at)


CLOSED_FORM = (Linear, Normal, LogitNormal, Beta, Point)
"""Distributions whose tails are exact down to the smallest floats."""


def closed_form_concordance(low: Distribution, high: Distribution) -> float | None:
    """Return P(high > low) + ½ P(high = low) if there is a formula; otherwise None."""
    from scipy.special import ndtr

    match low, high:
        case Linear(), Linear():
            return 0.5 + (high.rising - low.rising) / 3
        case (Normal() as first, Normal() as second) | (LogitNormal() as first, LogitNormal() as second):
            return float(ndtr(normal_distance(first, second)))
        case Beta(), Beta():
            return _beta_concordance(low, high)
    return None


def normal_distance(low: Normal | LogitNormal, high: Normal | LogitNormal) -> float:
    """Return the distance of the means over the standard deviation of a difference."""
    return (high.mean - low.mean) / sqrt(low.sd**2 + high.sd**2)


def density_crossings(low: Distribution, high: Distribution, ratio: float) -> list[float] | None:
    """Return where the density of `high` rises through `ratio` > 0 times that of `low`, if there is a formula.

    Two normal distributions of unequal spread have two such crossings or none, since the logarithm of their ratio is a
    parabola; it rises through at one of them only.
    """
    match low, high:
        case Linear(rising=False), Linear(rising=True):
            return [ratio / (1 + ratio)]
        case Normal() as first, Normal() as second:
            return _normal_crossing(first, second, log(ratio))
        case LogitNormal() as first, LogitNormal() as second:
            return [float(_expit(at)) for at in _normal_crossing(first, second, log(ratio))]
    return None


def _normal_crossing(low: Normal | LogitNormal, high: Normal | LogitNormal, log_ratio: float) -> list[float]:
    """Return the rising root of a·y² + b·y + c, where y is the distance from the mean of `low`."""
    gap = high.mean - low.mean
    a = (1 / low.sd**2 - 1 / high.sd**2) / 2
    b = gap / high.sd**2
    c = log(low.sd / high.sd) - log_ratio - gap**2 / high.sd**2 / 2
    if b**2 <= 4 * a * c or (a == 0 and b < 0):
        return []
    spread = sqrt(b**2 - 4 * a * c)
    # Of the two forms of the root, use the one that adds numbers of equal sign: the other cancels.
    return [low.mean + (-2 * c / (b + spread) if b > 0 else (spread - b) / (2 * a))]


_MAX_TERMS = 1000
"""Terms of a sum that is still a formula."""


def _beta_concordance(low: Beta, high: Beta) -> float | None:
    """Compute a finite sum, which requires one whole parameter; by symmetry it may be any of the four."""
    (a, b), (c, d) = (low.a, low.b), (high.a, high.b)
    # Keyed by the whole parameter, which is the number of terms; forms with an equal one are equally good.
    forms = {high.a: (a, b, c, d, 1), low.b: (d, c, b, a, 1), low.a: (c, d, a, b, -1), high.b: (b, a, d, c, -1)}
    whole = [value for value in forms if value == int(value) and value <= _MAX_TERMS]
    if not whole:
        return None
    *parameters, sign = forms[min(whole)]
    exceeds = _beta_exceeds(*parameters)
    return exceeds if sign > 0 else 1 - exceeds


def _beta_exceeds(a: float, b: float, c: float, d: float) -> float:
    """Return the probability that Beta(c, d) exceeds Beta(a, b), for a whole c [@cook2005]."""
    from scipy.special import betaln

    i = np.arange(int(c))
    # Logarithms: beta functions themselves underflow for parameters of some hundreds.
    return float(np.sum(np.exp(betaln(a + i, b + d) - np.log(d + i) - betaln(1 + i, d) - betaln(a, b))))


_SMALL_QUANTILE = 1e-9
"""Quantile of a beta distribution below which two terms of its series are exact to rounding."""


def _small_beta_quantile(a: float, b: float, q: Real) -> Floats:
    """Return a quantile by the first terms of its series, accurate near 0, where SciPy's search may return NaN."""
    from scipy.special import betaln

    with np.errstate(divide="ignore"):
        first = np.exp((np.log(q) + log(a) + betaln(a, b)) / a)
    return np.asarray(np.where(first < 10 * _SMALL_QUANTILE, first * (1 - (1 - b) / (a + 1) * first), 1.0))


def _check_normal(mean: float, sd: float) -> None:
    if not (isfinite(mean) and isfinite(sd) and sd > 0):
        raise OptionError(
            f"a mean of {mean} with standard deviation {sd}", remedy="give finite numbers, the second above 0."
        )


def _logit(x: Real) -> npt.NDArray[np.float64]:
    from scipy.special import logit

    return np.asarray(logit(np.clip(x, 0.0, 1.0)))


def _expit(x: Real) -> npt.NDArray[np.float64]:
    from scipy.special import expit

    return np.asarray(expit(x))


_SERIES_TOLERANCE = 1e-9
"""Share of the scale of a distribution below which the first terms of a series are exact."""


@dataclass(frozen=True, slots=True)
class LogitBeta(_Continuous):
    """Distribution of the log-odds of a beta variable."""

    a: float
    b: float

    def logpdf(self, z: Real) -> Floats:
        from scipy.special import betaln, log_expit

        z = np.asarray(z, dtype=np.float64)
        return np.asarray(self.a * log_expit(z) + self.b * log_expit(-z) - betaln(self.a, self.b))

    def cdf(self, z: Real) -> Floats:
        from scipy.special import betainc, expit

        z = np.asarray(z, dtype=np.float64)
        direct = betainc(self.a, self.b, expit(z))
        # A probability above one half is most accurate as one less its complement.
        right = np.where(direct < 0.5, direct, 1 - _logit_beta_cdf(self.b, self.a, -z))
        return np.where(z <= 0, _logit_beta_cdf(self.a, self.b, z), right)

    def sf(self, z: Real) -> Floats:
        return LogitBeta(self.b, self.a).cdf(-np.asarray(z, dtype=np.float64))

    def ppf(self, q: Real) -> Floats:
        q = np.asarray(q, dtype=np.float64)
        middle = float(_logit_beta_cdf(self.a, self.b, np.array(0.0)))
        return np.where(q <= middle, _logit_beta_ppf(self.a, self.b, q), -_logit_beta_ppf(self.b, self.a, 1 - q))

    def isf(self, q: Real) -> Floats:
        return -LogitBeta(self.b, self.a).ppf(q)

    def rvs(self, size: int, random_state: np.random.Generator) -> Floats:
        """Draw a sample: the logarithm of a ratio of two gamma variables."""
        return _log_gamma(self.a, size, random_state) - _log_gamma(self.b, size, random_state)


def to_log_odds_scale(distribution: Distribution) -> Distribution:
    """Return the distribution of log-odds, where it has a closed form; otherwise the distribution itself."""
    match distribution:
        case LogitNormal():
            return Normal(distribution.mean, distribution.sd)
        case Beta():
            return LogitBeta(distribution.a, distribution.b)
    return distribution


def _log_gamma(shape: float, size: int, rng: np.random.Generator) -> Floats:
    """Draw logarithms of gamma variables; the variable itself would underflow where the shape is small."""
    return np.asarray(np.log(rng.standard_gamma(shape + 1, size)) - rng.standard_exponential(size) / shape)


def _logit_beta_cdf(a: float, b: float, z: Floats) -> Floats:
    """Return the probability of log-odds up to z ≤ 0; where z is above 0 the result is arbitrary."""
    from scipy.special import betainc, betaln, expit

    z = np.minimum(z, 0.0)
    x = expit(z)
    with np.errstate(under="ignore", over="ignore"):
        series = np.exp(a * z - log(a) - betaln(a, b)) * (1 - a * (a + b) / (a + 1) * x)
    return np.asarray(np.where(z < _series_limit(a, b), series, betainc(a, b, x)))


def _logit_beta_ppf(a: float, b: float, q: Floats) -> Floats:
    """Return the quantile z ≤ 0 of log-odds; where it is above 0 the result is arbitrary."""
    from scipy.special import betaln, logit

    with np.errstate(divide="ignore"):
        series = (np.log(q) + log(a) + betaln(a, b)) / a
    near = series < _series_limit(a, b)
    x = Beta(a, b).ppf(np.where(near, 0.5, q))
    # The series of x is that of its odds but for terms of the second order, which are below rounding.
    return np.asarray(np.where(near, series, logit(np.clip(x, 0.0, 1.0))))


def _series_limit(a: float, b: float) -> float:
    """Return the log-odds below which they equal the logarithm to rounding, and two terms of the series suffice."""
    return log(_SERIES_TOLERANCE / (1 + a + b))


_TAIL = 1e-15
"""Mass at either end of a lattice that is omitted: SciPy finds no quantile of less."""
_MASS_TOLERANCE = 1e-9
_MAX_ATOMS = 10**6
"""Values that a discrete distribution may have."""
_QUANTILE_TOLERANCE = 1e-6
"""Relative error of a tail probability up to which its quantile counts as accurate."""
_STEP = 1 / 8
"""First step of the quadrature, which is halved until the result settles."""
_REACH = 3.6
"""End of the quadrature: weights beyond are below 1e-23."""
_HALVINGS = 6


def is_discrete(distribution: Distribution) -> bool:
    """Return whether a distribution has point masses in place of a density."""
    return not hasattr(distribution, "pdf")


def prob_at_least(distribution: Distribution, x: Real) -> Floats:
    """Return the probability of x or more, including an atom at x."""
    return _tail(distribution, distribution.sf, x, (1.0, 0.0))


def prob_below(distribution: Distribution, x: Real) -> Floats:
    """Return the probability of less than x."""
    return _tail(distribution, distribution.cdf, x, (0.0, 1.0))


def _tail(distribution: Distribution, chance: Callable[[Real], Any], x: Real, ends: tuple[float, float]) -> Floats:
    """Evaluate a tail at x, or just below it if the distribution is discrete, so that an atom at x counts as above."""
    with np.errstate(all="ignore"):
        if not is_discrete(distribution):
            return np.asarray(chance(x), dtype=np.float64)
        finite = np.isfinite(x)
        probability = np.asarray(chance(np.nextafter(np.where(finite, x, 0.0), -np.inf)))
        return np.asarray(np.where(finite, probability, np.where(np.less(x, 0), *ends)), dtype=np.float64)


def point_mass(distribution: Distribution, x: Real) -> Floats:
    """Return the mass of the atom at x; 0 if there is none."""
    if not is_discrete(distribution):
        return np.zeros(np.shape(x))
    finite = np.isfinite(x)
    atom: Floats = np.where(finite, distribution.pmf(np.where(finite, x, 0.0)), 0.0)  # type: ignore[attr-defined]
    return atom


def atoms(distribution: Distribution) -> Floats:
    """Return the atoms, ascending: none of a continuous distribution, otherwise a point or a lattice of step 1."""
    if not is_discrete(distribution):
        return np.empty(0)
    if isinstance(distribution, Point):
        return np.array([distribution.at])
    places = getattr(getattr(distribution, "dist", None), "xk", None)  # of SciPy's tables of values
    if places is None:
        low = float(distribution.ppf(_TAIL))
        # Checked first, since SciPy searches for a far quantile step by step.
        if distribution.sf(low + _MAX_ATOMS) > _TAIL:
            raise OptionError(
                f"a discrete distribution has more than {_MAX_ATOMS} values from {low:g} on, too many to sum",
                remedy="truncate it.",
            )
        places = np.arange(low, float(distribution.isf(_TAIL)) + 0.5)
    points: Floats = np.asarray(places, dtype=np.float64)
    whole = float(np.sum(distribution.pmf(points)))  # type: ignore[attr-defined]
    if abs(whole - 1) > _MASS_TOLERANCE:
        raise OptionError(
            f"only {whole:g} of the mass of a discrete distribution is at steps of 1",
            remedy="give its values as those of scipy.stats.rv_discrete(values=…).",
        )
    return points


def log_density(distribution: Distribution, x: Real) -> Floats:
    """Return the logarithm of the density; −∞ for a discrete distribution."""
    if is_discrete(distribution):
        return np.full(np.shape(x), -np.inf)
    with np.errstate(all="ignore"):
        if hasattr(distribution, "logpdf"):
            return np.asarray(distribution.logpdf(x), dtype=np.float64)
        return np.log(np.asarray(distribution.pdf(x), dtype=np.float64))  # type: ignore[attr-defined]


def density(distribution: Distribution, x: Real) -> Floats:
    """Return the density; 0 for a discrete distribution."""
    if is_discrete(distribution):
        return np.zeros(np.shape(x))
    with np.errstate(all="ignore"):
        return np.asarray(distribution.pdf(x), dtype=np.float64)  # type: ignore[attr-defined]


def support(distribution: Distribution) -> tuple[float, float]:
    """Return the least and the greatest value, which may be infinite."""
    places = atoms(distribution)
    # SciPy's quantile of 0 lies one step below the first atom of a lattice.
    if len(places):
        return float(places[0]), float(places[-1])
    return float(distribution.ppf(0.0)), float(distribution.isf(0.0))


def quantiles(distribution: Distribution, log_odds: Floats) -> Floats:
    """Return the values that are exceeded with probabilities of these log-odds, if they are accurate.

    Many distributions lose digits in their tails. A quantile whose own tail probability differs is left out, and so are
    quantiles at atoms, which have many probabilities.
    """
    from scipy.special import expit

    places = _find_quantiles(distribution, expit(log_odds), expit(-log_odds))
    tail = np.where(log_odds < 0, prob_at_least(distribution, places), prob_below(distribution, places))
    # Compared in the smaller tail: the larger one is near 1 whatever the quantile.
    target = np.asarray(expit(-np.abs(log_odds)))
    exact: Floats = places[np.abs(tail - target) <= _QUANTILE_TOLERANCE * target]
    return exact


def _find_quantiles(distribution: Distribution, exceeded: Floats, reached: Floats) -> Floats:
    """Return quantiles by the smaller of two complementary probabilities; NaN if a far tail is unknown."""
    with catch_warnings():
        simplefilter("ignore")  # SciPy warns of the same quantiles that are NaN
        upper, lower = distribution.isf(np.minimum(exceeded, 0.5)), distribution.ppf(np.minimum(reached, 0.5))
    return np.asarray(np.where(exceeded < 0.5, upper, lower), dtype=np.float64)


def expectation(distribution: Distribution, function: Callable[[Floats], Floats], knots: Floats) -> float:
    """Return the mean of a bounded function that is smooth between the knots.

    A discrete distribution is summed. A continuous one is integrated over the probability of exceeding a value, from
    knot to knot, by double-exponential quadrature [@takahasi1974]. It needs no smoothness at the knots, where slopes
    of ROC curves are infinite.
    """
    if is_discrete(distribution):
        places = atoms(distribution)
        weight = point_mass(distribution, places)
        return float(np.sum(weight * function(places)) / np.sum(weight))
    ends = np.unique(np.concatenate([[-np.inf, np.inf], knots]))[::-1]
    over, under = prob_at_least(distribution, ends), prob_below(distribution, ends)
    # A difference of two nearly equal probabilities is accurate only from the smaller tail.
    width = np.where(over[1:] < 0.5, np.diff(over), -np.diff(under))
    nonempty = width > 0
    pieces = over[:-1][nonempty], under[1:][nonempty], width[nonempty]
    mean, step = np.nan, _STEP
    for _ in range(_HALVINGS):
        before, mean, step = mean, _integrate_pieces(distribution, function, pieces, step), step / 2
        if abs(mean - before) <= 1e-15:
            break
    return mean


def _integrate_pieces(
    distribution: Distribution, function: Callable[[Floats], Floats], pieces: tuple[Floats, Floats, Floats], step: float
) -> float:
    over, under, width = (each[:, np.newaxis] for each in pieces)
    x = np.arange(-_REACH, _REACH + step / 2, step)
    # Both shares of a piece by their own formula: 1 − part would cancel at its end.
    part, rest = 1 / (1 + np.exp(-pi * np.sinh(x))), 1 / (1 + np.exp(pi * np.sinh(x)))
    weight = width * (step * pi * np.cosh(x) * part * rest)
    exceeded, reached = over + width * part, under + width * rest
    places = _find_quantiles(distribution, exceeded, reached)
    # Quantiles of far tails may be NaN; their weight is negligible.
    return float(np.nansum(weight * function(places)))
