"""Functions of any distribution, continuous or discrete: tails with atoms, densities, quantiles and expectations."""

from collections.abc import Callable
from math import pi
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from baserate._arrays import Floats
from baserate._errors import OptionError
from baserate._numeric.distributions import Distribution, Point, Real

_TAIL = 1e-15
"""Mass at either end of a lattice that is left out: with less SciPy knows no end."""
_MASS_TOLERANCE = 1e-9
_MAX_ATOMS = 10**6
"""Values that a discrete distribution may have."""
_QUANTILE_TOLERANCE = 1e-6
_STEP = 1 / 8
_REACH = 3.6
_HALVINGS = 6


def is_discrete(distribution: Distribution) -> bool:
    """Whether a distribution has point masses in place of a density."""
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
        # Asked first, since SciPy looks for a far quantile step by step.
        if distribution.sf(low + _MAX_ATOMS) > _TAIL:
            raise OptionError(
                f"scores take more than {_MAX_ATOMS} values from {low:g} on, too many to add up; cut them off."
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
    target = np.asarray(expit(-np.abs(log_odds)))
    exact: Floats = places[np.abs(tail - target) <= _QUANTILE_TOLERANCE * target]
    return exact


def _find_quantiles(distribution: Distribution, exceeded: Floats, reached: Floats) -> Floats:
    """Return quantiles by the smaller of two complementary probabilities; NaN if a far tail is unknown."""
    with catch_warnings():
        simplefilter("ignore")  # SciPy says there what NaN says already
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
    # Of two nearly equal chances the smaller tail knows the difference.
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
    distribution: Distribution,
    function: Callable[[Floats], Floats],
    pieces: tuple[Floats, Floats, Floats],
    step: float,
) -> float:
    over, under, width = (each[:, np.newaxis] for each in pieces)
    x = np.arange(-_REACH, _REACH + step / 2, step)
    part, rest = 1 / (1 + np.exp(-pi * np.sinh(x))), 1 / (1 + np.exp(pi * np.sinh(x)))
    weight = width * (step * pi * np.cosh(x) * part * rest)
    exceeded, reached = over + width * part, under + width * rest
    places = _find_quantiles(distribution, exceeded, reached)
    # Tails too far to be known weigh nothing.
    return float(np.nansum(weight * function(places)))
