"""Any distribution, continuous or discrete: its tails with their atoms, its logarithmic density, and means over it."""

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
    """Whether it has masses in place of a density."""
    return not hasattr(distribution, "pdf")


def prob_at_least(distribution: Distribution, x: Real) -> Floats:
    """Chance of x or more: an atom at x counts."""
    return _tail(distribution, distribution.sf, x, (1.0, 0.0))


def prob_below(distribution: Distribution, x: Real) -> Floats:
    """Chance of less than x."""
    return _tail(distribution, distribution.cdf, x, (0.0, 1.0))


def _tail(distribution: Distribution, chance: Callable[[Real], Any], x: Real, ends: tuple[float, float]) -> Floats:
    """Chance at x, or just below it where that makes a difference: an atom at x is more than what is below."""
    with np.errstate(all="ignore"):
        if not is_discrete(distribution):
            return np.asarray(chance(x), dtype=np.float64)
        finite = np.isfinite(x)
        found = np.asarray(chance(np.nextafter(np.where(finite, x, 0.0), -np.inf)))
        return np.asarray(np.where(finite, found, np.where(np.less(x, 0), *ends)), dtype=np.float64)


def point_mass(distribution: Distribution, x: Real) -> Floats:
    """Mass of the atom at x; 0 where there is none."""
    if not is_discrete(distribution):
        return np.zeros(np.shape(x))
    finite = np.isfinite(x)
    atom: Floats = np.where(finite, distribution.pmf(np.where(finite, x, 0.0)), 0.0)  # type: ignore[attr-defined]
    return atom


def atoms(distribution: Distribution) -> Floats:
    """Places of the atoms, rising: none of a continuous distribution, otherwise a point or a lattice of step 1."""
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
    found: Floats = np.asarray(places, dtype=np.float64)
    whole = float(np.sum(distribution.pmf(found)))  # type: ignore[attr-defined]
    if abs(whole - 1) > _MASS_TOLERANCE:
        raise OptionError(
            f"only {whole:g} of the mass of a discrete distribution is at steps of 1; give its values as those of "
            "scipy.stats.rv_discrete(values=…)."
        )
    return found


def log_density(distribution: Distribution, x: Real) -> Floats:
    """Logarithm of the density; −∞ for a discrete distribution, whose density is nowhere above 0."""
    if is_discrete(distribution):
        return np.full(np.shape(x), -np.inf)
    with np.errstate(all="ignore"):
        if hasattr(distribution, "logpdf"):
            return np.asarray(distribution.logpdf(x), dtype=np.float64)
        return np.log(np.asarray(distribution.pdf(x), dtype=np.float64))  # type: ignore[attr-defined]


def density(distribution: Distribution, x: Real) -> Floats:
    """Density; 0 for a discrete distribution."""
    if is_discrete(distribution):
        return np.zeros(np.shape(x))
    with np.errstate(all="ignore"):
        return np.asarray(distribution.pdf(x), dtype=np.float64)  # type: ignore[attr-defined]


def support(distribution: Distribution) -> tuple[float, float]:
    """Least and greatest value, which may be infinite."""
    places = atoms(distribution)
    if len(places):
        return float(places[0]), float(places[-1])
    return float(distribution.ppf(0.0)), float(distribution.isf(0.0))


def quantiles(distribution: Distribution, log_odds: Floats) -> Floats:
    """Values that are exceeded with chances of these log-odds, from either tail; those that it knows.

    Many a distribution is exact in the middle and rounds in its tails. A quantile whose own tail does not give its
    chance back is left out, and so are atoms, which have many.
    """
    from scipy.special import expit

    places = _find_quantiles(distribution, expit(log_odds), expit(-log_odds))
    there = np.where(log_odds < 0, prob_at_least(distribution, places), prob_below(distribution, places))
    wanted = np.asarray(expit(-np.abs(log_odds)))
    known: Floats = places[np.abs(there - wanted) <= _QUANTILE_TOLERANCE * wanted]
    return known


def _find_quantiles(distribution: Distribution, exceeded: Floats, reached: Floats) -> Floats:
    """Values from the smaller of two chances that add up to 1; NaN where a distribution does not know its far tail."""
    with catch_warnings():
        simplefilter("ignore")  # SciPy says there what NaN says already
        upper, lower = distribution.isf(np.minimum(exceeded, 0.5)), distribution.ppf(np.minimum(reached, 0.5))
    return np.asarray(np.where(exceeded < 0.5, upper, lower), dtype=np.float64)


def expectation(distribution: Distribution, function: Callable[[Floats], Floats], knots: Floats) -> float:
    """Mean of a bounded function that is smooth between the knots.

    A discrete distribution is summed. A continuous one is integrated over the chance u of exceeding a value, from knot
    to knot, by double-exponential quadrature [@takahasi1974]: it needs no smoothness at the knots themselves, where
    slopes of ROC curves are infinite.
    """
    if is_discrete(distribution):
        places = atoms(distribution)
        weight = point_mass(distribution, places)
        return float(np.sum(weight * function(places)) / np.sum(weight))
    ends = np.unique(np.concatenate([[-np.inf, np.inf], knots]))[::-1]
    over, under = prob_at_least(distribution, ends), prob_below(distribution, ends)
    # Of two nearly equal chances the smaller tail knows the difference.
    width = np.where(over[1:] < 0.5, np.diff(over), -np.diff(under))
    kept = width > 0
    pieces = over[:-1][kept], under[1:][kept], width[kept]
    found, step = np.nan, _STEP
    for _ in range(_HALVINGS):
        before, found, step = found, _integrate_pieces(distribution, function, pieces, step), step / 2
        if abs(found - before) <= 1e-15:
            break
    return found


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
