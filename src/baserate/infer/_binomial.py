"""Binomial intervals of proportions: Wilson, Clopper–Pearson, Jeffreys, Agresti–Coull, also for weighted rows.

Hits and misses need not be whole numbers: weighted rows have effective counts.
"""

from collections.abc import Callable
from math import erf, erfc, exp, log, log1p, nextafter, pi, sqrt
from typing import Any, Generic, NamedTuple, Self

import numpy as np

from baserate._arrays import Floats, Value, as_python, ratio, round_if_close
from baserate._confusion import Confusion
from baserate._counts import Counts
from baserate.measure import Measure, describe

EXACT_BELOW = 13
"""Hits or misses below which only the exact interval covers at its level, as `python -m bench.coverage` shows."""

Limits = tuple[Value, Value]
"""Low and high."""


class Proportion(NamedTuple, Generic[Value]):
    """Effective hits and misses of a proportion: floats, or arrays for many proportions."""

    hits: Value
    misses: Value

    @property
    def trials(self) -> Value:
        """Return the number of hits and misses."""
        return self.hits + self.misses


def effective_proportion(measure: Measure, table: Counts[Value] | Confusion) -> Proportion[Value]:
    r"""Compute the effective hits and misses of a measure that is a proportion.

    For counted rows they are the counts. For weighted rows the linearized variance
    :math:`v=[(1-p)^2\sum_{hits}w^2+p^2\sum_{misses}w^2]/(\sum w)^2` gives the effective number of trials,
    :math:`p(1-p)/v`; where v is 0, since all are hits or all misses, Kish's :math:`(\sum w)^2/\sum w^2` takes its place
    [@kish1965] [@korn1998].
    """
    cells = describe(measure).share
    assert cells is not None  # noqa: S101  (for the type checker)
    hits, misses = (_sum_cells(table, names) for names in cells)
    if table.moments is None:
        return Proportion(hits, misses)
    hit_squares, miss_squares = (_sum_cells(table.squares, names) for names in cells)
    return effective_counts(hits, misses, hit_squares, miss_squares)


def effective_counts(hits: Value, misses: Value, hit_squares: Value, miss_squares: Value) -> Proportion[Value]:
    """Compute effective hits and misses from masses and sums of squared weights."""
    total = hits + misses
    p, q = ratio(hits, total), ratio(misses, total)
    spread = q * q * hit_squares + p * p * miss_squares
    kish = ratio(total * total, hit_squares + miss_squares)
    trials = np.where(np.asarray(spread) > 0, ratio(p * q * total * total, spread), kish)
    # Equal weights must give the counts exactly: rounding below a whole number would switch to the exact interval.
    return Proportion(round_if_close(p * trials), round_if_close(q * trials))


def proportion_from_variance(value: float, variance: float, rows: float) -> Proportion[float]:
    """Compute effective hits and misses of any number in [0, 1] from its variance, or from rows where that is 0.

    A mean of numbers in [0, 1] varies at most as much as a proportion of as many rows, so the same intervals hold.
    """
    trials = value * (1 - value) / variance if variance > 0 and 0 < value < 1 else rows
    return Proportion(value * trials, (1 - value) * trials)


class NormalLevel(float):
    """Confidence level of z standard errors to both sides, which stores z.

    From about 8.2 standard errors on, a float cannot distinguish the level from 1. Tail probabilities below 1e-16 need
    z.

    >>> far = NormalLevel(12.0)
    >>> 0.999 < far < 1, normal_quantile(far), f"{tail_probability(far):.4g}"
    (True, 12.0, '3.553e-33')
    """

    __slots__ = ("z",)
    z: float

    def __new__(cls, z: float) -> Self:
        """Make the level from z."""
        level = super().__new__(cls, min(erf(z / sqrt(2)), nextafter(1.0, 0.0)))
        level.z = z
        return level


def tail_probability(level: float) -> float:
    """Return the probability outside of an interval at this level: both tails."""
    return erfc(level.z / sqrt(2)) if isinstance(level, NormalLevel) else 1 - level


def normal_quantile(level: float) -> float:
    """Return the normal quantile of a two-sided interval: the number of standard errors to each side.

    >>> round(normal_quantile(0.95), 6)
    1.959964
    """
    if isinstance(level, NormalLevel):
        return level.z
    wanted = log1p(-level)
    z = sqrt(-2 * wanted)  # an upper bound, from which Newton's steps never overshoot
    for _ in range(30):  # solves for the log tail probability; importing SciPy would take longer
        beyond = erfc(z / sqrt(2))
        step = (log(beyond) - wanted) * beyond / (sqrt(2 / pi) * exp(-z * z / 2))
        z += step
        if abs(step) < 1e-15 * z:
            break
    return z


def wilson(hits: Value, misses: Value, level: float) -> Limits[Value]:
    r"""Return Wilson's score interval of a proportion, :math:`(\hat p-p)^2\le z^2p(1-p)/n` [@wilson1927].

    >>> [round(bound, 4) for bound in wilson(81, 182, 0.95)]  # Newcombe 1998, table I: 81/263
    [0.2553, 0.3662]
    """
    z = normal_quantile(level)
    trials = hits + misses
    if np.ndim(hits) == 0 and float(trials) > 0:
        one: tuple[Any, Any] = _wilson_scalar(float(hits), float(misses), z)
        return one
    middle = ratio(hits + z * z / 2, trials + z * z)
    half = z * np.sqrt(ratio(hits * misses, trials) + z * z / 4) / (trials + z * z)
    # At the ends, rounding may leave a trace where the bound is exactly 0 or 1.
    low = np.where(np.asarray(hits) > 0, middle - half, 0.0)
    high = np.where(np.asarray(misses) > 0, middle + half, 1.0)
    return as_python(low), as_python(high)


def _wilson_scalar(hits: float, misses: float, z: float) -> Limits[float]:
    """Return Wilson's interval of a single proportion without NumPy: a p-value takes some fifty intervals."""
    trials = hits + misses
    middle = (hits + z * z / 2) / (trials + z * z)
    half = z * sqrt(hits * misses / trials + z * z / 4) / (trials + z * z)
    return middle - half if hits > 0 else 0.0, middle + half if misses > 0 else 1.0


def clopper_pearson(hits: Value, misses: Value, level: float) -> Limits[Value]:
    """Return the proportions that neither binomial tail rejects: coverage never falls below the level [@clopper1934].

    >>> [round(bound, 4) for bound in clopper_pearson(81, 182, 0.95)]
    [0.2527, 0.3676]
    """
    return _beta_quantiles(hits, misses + 1, level)[0], _beta_quantiles(hits + 1, misses, level)[1]


def jeffreys(hits: Value, misses: Value, level: float) -> Limits[Value]:
    """Return the middle of the posterior Beta(hits + ½, misses + ½); 0 or 1 where all are misses or hits [@brown2001].

    >>> [round(bound, 4) for bound in jeffreys(81, 182, 0.95)]
    [0.2545, 0.3656]
    """
    low, high = _beta_quantiles(hits + 0.5, misses + 0.5, level)
    return as_python(np.where(np.asarray(hits) > 0, low, 0.0)), as_python(np.where(np.asarray(misses) > 0, high, 1.0))


def agresti_coull(hits: Value, misses: Value, level: float) -> Limits[Value]:
    """Return the normal interval after adding z²/2 hits and as many misses, clipped to [0, 1] [@agresti1998].

    >>> [round(bound, 4) for bound in agresti_coull(81, 182, 0.95)]
    [0.2552, 0.3663]
    """
    z = normal_quantile(level)
    trials = hits + misses + z * z
    middle = (hits + z * z / 2) / trials
    half = z * np.sqrt(middle * (1 - middle) / trials)
    return as_python(np.maximum(middle - half, 0.0)), as_python(np.minimum(middle + half, 1.0))


def wilson_or_exact(hits: Value, misses: Value, level: float) -> Limits[Value]:
    """Return Wilson's interval, or the exact one of Clopper and Pearson where there are few hits or few misses.

    >>> wilson_or_exact(10, 0, 0.95) == clopper_pearson(10, 0, 0.95)
    True
    >>> wilson_or_exact(50, 50, 0.95) == wilson(50, 50, 0.95)
    True
    """
    few = np.minimum(hits, misses) < EXACT_BELOW
    if np.ndim(few) == 0:
        return (clopper_pearson if few else wilson)(hits, misses, level)
    exact, approximate = clopper_pearson(hits, misses, level), wilson(hits, misses, level)
    return as_python(np.where(few, exact[0], approximate[0])), as_python(np.where(few, exact[1], approximate[1]))


METHODS: dict[str, Callable[[float, float, float], Limits[float]]] = {
    "wilson": wilson,
    "clopper-pearson": clopper_pearson,
    "jeffreys": jeffreys,
    "agresti-coull": agresti_coull,
}
_NAMES = {
    "wilson": "Wilson",
    "clopper-pearson": "Clopper–Pearson",
    "jeffreys": "Jeffreys",
    "agresti-coull": "Agresti–Coull",
}


def proportion_interval(
    proportion: Proportion[float], level: float, method: str | None = None
) -> tuple[float, float, str]:
    """Return low, high and the name of the method, for one proportion."""
    if method is None:
        method = "clopper-pearson" if min(proportion) < EXACT_BELOW else "wilson"
    low, high = METHODS[method](proportion.hits, proportion.misses, level)
    return low, high, _NAMES[method]


def _sum_cells(table: Counts[Value] | Confusion, names: tuple[str, ...]) -> Value:
    total: Value = sum(getattr(table, name) for name in names)
    return total


def _beta_quantiles(first: Value, second: Value, level: float) -> Limits[Value]:
    """Return quantiles of a Beta distribution in both tails; 0 or 1 where a parameter is 0."""
    from scipy.special import betainccinv, betaincinv

    tail = tail_probability(level) / 2
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    proper = (a > 0) & (b > 0)
    inside: Floats = np.where(proper, a, 1.0)
    other: Floats = np.where(proper, b, 1.0)
    end = np.where(a > 0, 1.0, 0.0)
    low = np.where(proper, betaincinv(inside, other, tail), end)
    high = np.where(proper, betainccinv(inside, other, tail), end)
    return as_python(low), as_python(high)
