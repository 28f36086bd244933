"""McNemar's tests: whether one of two decisions is right more often than the other, by the rows where they differ."""

from __future__ import annotations

from collections.abc import Callable
from math import copysign, nan, sqrt
from typing import NamedTuple

from baserate.infer._comparing._question import LEAST, Side, of_normal


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


TESTS: dict[str, tuple[Callable[[int, int, Side], Tested], str]] = {
    "mcnemar-exact": (exact, "McNemar, exact"),
    "mcnemar-mid-p": (mid_p, "McNemar, mid-p"),
    "mcnemar": (asymptotic, "McNemar, asymptotic"),
    "mcnemar-corrected": (corrected, "McNemar, asymptotic, corrected for continuity"),
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
