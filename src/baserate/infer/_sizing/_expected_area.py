r"""AUC of two normal classes: its variance at any ratio of spreads, and the power of its interval.

With :math:`h=Φ^{-1}(A)` and r the standard deviation of positives over that of negatives, the placements of positives
vary by :math:`Φ_2(h,h;r^2/(1+r^2))-A^2` and those of negatives by :math:`Φ_2(h,h;1/(1+r^2))-A^2`, where Φ₂ is the
bivariate normal distribution function; both are Owen's T [@owen1956] of one argument.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log, sqrt

from baserate._domains import SPREAD_RATIO, check_domain
from baserate._errors import OptionError
from baserate.infer import _auc
from baserate.infer._auc import Area
from baserate.infer._sizing._auc_pair import Spread
from baserate.infer._sizing._power import Sides, told_sides

_FARTHEST = 9.0
"""Log-odds beyond the null up to which a critical AUC is looked for."""
_CHANCES = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Quantiles of the estimated variance over which power is averaged."""
_THREE_POINTS = ((-sqrt(3.0), 1 / 6), (0.0, 2 / 3), (sqrt(3.0), 1 / 6))
"""Gauss's rule for a normal variable, which stands for the number of positives."""
_FEWEST = 2.0


def placement_spread(auc: float, spread_ratio: float = 1.0) -> Spread:
    """Variance of the placements of positives and of negatives, when scores of both classes are normal.

    >>> [round(each, 4) for each in placement_spread(0.8, 2.0)]
    [0.089, 0.0168]
    """
    from scipy.special import ndtri, owens_t

    h, square = float(ndtri(auc)), spread_ratio * spread_ratio

    def variance(correlation: float) -> float:
        together = auc - 2 * float(owens_t(h, sqrt((1 - correlation) / (1 + correlation))))
        return max(together - auc * auc, 0.0)

    return Spread(variance(square / (1 + square)), variance(1 / (1 + square)))


def expected_area(auc: float, positives: float, negatives: float, spread_ratio: float = 1.0) -> Area:
    """AUC with the variance that so many rows of two normal classes give it, and Welch's degrees of freedom.

    >>> area = expected_area(0.8, 50, 150)
    >>> round(sqrt(area.variance), 4), round(area.freedom, 1)
    (0.0356, 84.0)
    """
    above, below = placement_spread(auc, spread_ratio)
    pairs = positives * negatives
    variance = (auc * (1 - auc) + (negatives - 1) * above + (positives - 1) * below) / pairs
    parts = above / positives, below / negatives
    doubt = sum(part**2 / max(many - 1, 0.5) for part, many in zip(parts, (positives, negatives), strict=True))
    return Area(auc, variance, positives, negatives, sum(parts) ** 2 / doubt if doubt > 0 else float("inf"))


def check_ratio(spread_ratio: float) -> None:
    """Refuse what is no ratio of standard deviations."""
    check_domain("spread_ratio", spread_ratio, SPREAD_RATIO)


def level_of(alpha: float, sides: Sides) -> float:
    """Level of the interval that shows as much as a test at that significance."""
    told_sides(sides)
    level = 1 - 2 * alpha / sides
    if level <= 0:
        raise OptionError(f"alpha is {alpha}; expected less than 0.5 for one side. Give, for example, 0.05.")
    return level


def interval_power(
    expect: float, positives: float, negatives: float, *, null: float, level: float, spread_ratio: float
) -> float:
    """Chance that the usual interval of an AUC lies beyond `null`, on the side on which it is expected.

    The interval lies beyond where the AUC that is seen passes a critical value; its log-odds are taken to be normal.
    That value depends on the estimated variance, which is taken to vary like a χ² with the degrees of freedom that the
    interval itself uses: five quantiles of it are averaged.
    """
    from scipy.special import chdtri, ndtr

    there = expected_area(expect, positives, negatives, spread_ratio)
    scale = expect * (1 - expect) / sqrt(there.variance)
    side = 1 if expect > null else -1
    found = 0.0
    for chance in _CHANCES:
        times = float(chdtri(there.freedom, 1 - chance)) / there.freedom
        critical = _critical(positives, negatives, null, side, _bound_with_variance(level, spread_ratio, times))
        found += float(ndtr(side * (_logit(expect) - critical) * scale)) / len(_CHANCES)
    return found


def sampled_power(expect: float, rows: int, prevalence: float, **test: float) -> float:
    """Average the power over the number of positives that a sample of so many rows may hold."""
    spread = sqrt(rows * prevalence * (1 - prevalence))
    found = 0.0
    for step, weight in _THREE_POINTS:
        positives = min(max(rows * prevalence + step * spread, _FEWEST), rows - _FEWEST)
        found += weight * interval_power(
            expect,
            positives,
            rows - positives,
            null=test["null"],
            level=test["level"],
            spread_ratio=test["spread_ratio"],
        )
    return found


Bound = Callable[[float, float, float, int], float]
"""With an AUC that is seen, both numbers of rows and a side, gives the bound of the interval toward the null."""


def _bound_with_variance(level: float, spread_ratio: float, times: float) -> Bound:
    """Bound of the interval where the estimated variance is so many times the true one."""

    def bound(auc: float, positives: float, negatives: float, side: int) -> float:
        area = expected_area(auc, positives, negatives, spread_ratio)
        low, high, _ = _auc.usual(area._replace(variance=area.variance * times), level)
        return low if side > 0 else high

    return bound


def _critical(positives: float, negatives: float, null: float, side: int, bound: Bound) -> float:
    """Log-odds of the AUC from which on the interval lies beyond the null; infinite if that never is so."""
    from scipy.optimize import brentq

    start = _logit(null)

    def excess(distance: float) -> float:
        return side * (bound(_expit(start + side * distance), positives, negatives, side) - null)

    if excess(_FARTHEST) <= 0:
        return side * float("inf")
    return start + side * float(brentq(excess, 0.0, _FARTHEST, xtol=1e-6))


def _logit(share: float) -> float:
    return log(share / (1 - share))


def _expit(x: float) -> float:
    return 1 / (1 + exp(-x))
