"""McNemar's tests: whether one of two decisions is right more often than the other, by the rows where they differ.

Every test has an interval of the difference that is made from the same p-values, so that the two agree.
"""

from __future__ import annotations

from collections.abc import Callable
from math import copysign, nan, sqrt
from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate.infer._binomial import outside
from baserate.infer._comparing._question import LEAST, Bounds, Side, of_normal


class Tested(NamedTuple):
    """A statistic and its p-value."""

    statistic: float
    p: float


def exact(first: int, second: int, side: Side) -> Tested:
    r"""Sign test of the rows that only one model got right, :math:`X\sim Bin(b+c,½)` [@mcnemar1947].

    `first` rows were hit by the first model alone, `second` by the other alone. Two-sided, twice the lesser tail.

    >>> round(exact(2, 8, "two-sided").p, 10) == 2 * (1 + 10 + 45) / 2**10
    True
    """
    return Tested(float(first), _tailed(_at_most, first, second, side))


def mid_p(first: int, second: int, side: Side) -> Tested:
    """Do the same with half the chance of what was seen: nearer to its level than the exact one [@fagerland2013].

    >>> round(mid_p(2, 8, "two-sided").p, 12) == 2 * (1 + 10 + 45 / 2) / 2**10
    True
    """

    def half(most: int, rows: int) -> float:
        return (_at_most(most, rows) + (_at_most(most - 1, rows) if most else 0.0)) / 2

    return Tested(float(first), _tailed(half, first, second, side))


def asymptotic(first: int, second: int, side: Side) -> Tested:
    r"""Normal statistic :math:`z=(b-c)/\sqrt{b+c}`; its square is McNemar's χ² [@mcnemar1947].

    >>> round(asymptotic(10, 30, "two-sided").statistic ** 2, 10)
    10.0
    """
    if first + second == 0:
        return Tested(nan, 1.0)
    z = (first - second) / sqrt(first + second)
    return Tested(z, of_normal(z, side))


def corrected(first: int, second: int, side: Side) -> Tested:
    r"""Do the same with a correction for continuity, :math:`(|b-c|-1)^2/(b+c)`, no less than 0 [@edwards1948].

    >>> round(corrected(10, 30, "two-sided").statistic ** 2, 10)
    9.025
    """
    if first + second == 0:
        return Tested(nan, 1.0)
    apart = float(first - second)
    if side == "two-sided":
        nearer = copysign(max(abs(apart) - 1, 0.0), apart)
    else:
        nearer = apart - 1 if side == "greater" else apart + 1
    z = nearer / sqrt(first + second)
    return Tested(z, of_normal(z, side))


class Discordant(NamedTuple):
    """Rows that only the first model hits, those that only the second hits, and all rows that a share is of."""

    first: int
    second: int
    rows: int

    @property
    def turned(self) -> Discordant:
        """The same with the models in the other order."""
        return Discordant(self.second, self.first, self.rows)


Tail = Callable[[Discordant, Floats], Floats]
"""P-values of so many hits of the first model or more, if its share of discordant rows is each of these in (0, 1)."""


class McNemar(NamedTuple):
    """One of McNemar's tests, and the p-values from which it comes."""

    tested: Callable[[int, int, Side], Tested]
    tail: Tail
    name: str


def interval(test: McNemar, seen: Discordant, level: float) -> Bounds:
    r"""Interval of a difference of paired shares that excludes 0 exactly where the two-sided test rejects.

    The difference is :math:`Δ=δ(2θ-1)`, where δ is the share of discordant rows and θ that of the first model's hits
    among them. A p-value of :math:`Δ\le x` is the mean of the test's p-values of :math:`θ\le(1+x/δ)/2` over the
    confidence distribution of δ, :math:`Beta(b+c+1,n-b-c)`, whose quantiles are upper limits of Clopper and Pearson
    [@xie2013] [@clopper1934]. At x = 0 it is that of the test whatever δ is, so interval and test agree. Where no row
    is discordant the mid-p interval is about ±3/n.

    >>> [round(bound, 3) for bound in interval(TESTS["mcnemar-mid-p"], Discordant(8, 2, 50), 0.95)]
    [-0.008, 0.25]
    >>> round(mid_p(8, 2, "two-sided").p, 3)
    0.065
    """
    low = _limit(test.tail, seen, outside(level) / 2)
    high = 0.0 - _limit(test.tail, seen.turned, outside(level) / 2)
    return low, high


def p_at(test: McNemar, seen: Discordant, bound: float, side: Side) -> float:
    """P-value of a difference beyond a bound, on one side of it."""
    turned, at = (seen, bound) if side == "greater" else (seen.turned, -bound)
    return max(_at_most_difference(test.tail, turned, _shares(turned), at), LEAST)


def _limit(tail: Tail, seen: Discordant, alpha: float) -> float:
    """Least difference that is not rejected; bisection meets 0 first, so its sign is that of the test."""
    shares, low, high = _shares(seen), -1.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        rejected = _at_most_difference(tail, seen, shares, middle) <= alpha
        low, high = (middle, high) if rejected else (low, middle)
    return low if low == -1 else (low + high) / 2


def _shares(seen: Discordant) -> Floats:
    """Equally likely shares of discordant rows."""
    from scipy.special import betaincinv

    discordant, nodes = seen.first + seen.second, (np.arange(_NODES) + 0.5) / _NODES
    if discordant == seen.rows:
        return np.ones(1)
    return np.asarray(betaincinv(discordant + 1, seen.rows - discordant, nodes))


def _at_most_difference(tail: Tail, seen: Discordant, shares: Floats, difference: float) -> float:
    """P-value of a difference of at most so much."""
    theta = (1 + difference / shares) / 2
    # What no θ can explain is rejected, and what every θ does is not.
    p = np.where(theta >= 1, 1.0, 0.0)
    inside = (theta > 0) & (theta < 1)
    p[inside] = tail(seen, theta[inside])
    return float(p.mean())


def _exact_tail(seen: Discordant, theta: Floats) -> Floats:
    from scipy.special import betainc

    return np.asarray(betainc(seen.first, seen.second + 1, theta)) if seen.first else np.ones_like(theta)


def _mid_tail(seen: Discordant, theta: Floats) -> Floats:
    from scipy.special import betainc

    more = betainc(seen.first + 1, seen.second, theta) if seen.second else np.zeros_like(theta)
    return np.asarray((_exact_tail(seen, theta) + more) / 2)


def _normal_tail(seen: Discordant, theta: Floats, correction: float = 0.0) -> Floats:
    from scipy.special import ndtr

    rows = seen.first + seen.second
    if rows == 0:
        return np.ones_like(theta)
    return np.asarray(ndtr((rows * theta - seen.first + correction) / np.sqrt(rows * theta * (1 - theta))))


def _corrected_tail(seen: Discordant, theta: Floats) -> Floats:
    return _normal_tail(seen, theta, 0.5)


_NODES = 128
"""Shares of discordant rows over which p-values are averaged."""
TESTS: dict[str, McNemar] = {
    "mcnemar-exact": McNemar(exact, _exact_tail, "McNemar, exact"),
    "mcnemar-mid-p": McNemar(mid_p, _mid_tail, "McNemar, mid-p"),
    "mcnemar": McNemar(asymptotic, _normal_tail, "McNemar, asymptotic"),
    "mcnemar-corrected": McNemar(corrected, _corrected_tail, "McNemar, asymptotic, corrected for continuity"),
}


def _tailed(tail: Callable[[int, int], float], first: int, second: int, side: Side) -> float:
    rows = first + second
    if rows == 0:
        return 1.0  # they never differ: there is no evidence for anything
    if side == "two-sided":
        return max(min(2 * tail(min(first, second), rows), 1.0), LEAST)
    # So many hits or more are, the other way round, so few misses or fewer.
    return max(tail(second if side == "greater" else first, rows), LEAST)


def _at_most(most: int, rows: int) -> float:
    """Chance of at most so many heads of a fair coin."""
    from scipy.special import bdtr

    return float(bdtr(most, rows, 0.5))
