"""Sample size and power for an AUC: for an interval, against a null value, or for the difference of two models.

With :math:`h=Φ^{-1}(A)` and r the standard deviation of positives over that of negatives, the placements of positives
have variance :math:`Φ_2(h,h;r^2/(1+r^2))-A^2` and those of negatives :math:`Φ_2(h,h;1/(1+r^2))-A^2`, where Φ₂ is the
bivariate normal distribution function; both are Owen's T [@owen1956] of one argument.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil, exp, log, sqrt
from typing import Any, Literal, get_args

import numpy as np

from baserate._domains import SPREAD_RATIO, check_domain
from baserate._errors import OptionError, keyword
from baserate._formatting import count_of
from baserate.infer import _auc_intervals
from baserate.infer._auc_intervals import (
    AucEstimate,
    AucPair,
    ClassVariance,
    Standard,
    binormal_spread,
    check_classes,
    exponential_variance,
    newcombe_variance,
)
from baserate.infer._sample_size import (
    SampleSize,
    Sides,
    check_half_width,
    check_open_share,
    check_power,
    describe_sides,
    find_smallest,
    find_smallest_near,
    make_size,
    min_rows,
    normal_power,
    normal_sample_size,
    quantile_of_test,
)

_MAX_LOG_ODDS = 9.0
"""Log-odds beyond the null up to which a critical AUC is searched."""
_VARIANCE_QUANTILES = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Quantiles of the estimated variance over which power is averaged."""
_GAUSS_POINTS = ((-sqrt(3.0), 1 / 6), (0.0, 2 / 3), (sqrt(3.0), 1 / 6))
"""Gauss–Hermite nodes and weights for the number of positives, as a normal variable."""
_MIN_ROWS = 2.0


def placement_variance(auc: float, spread_ratio: float = 1.0) -> ClassVariance:
    """Return the variance of the placements of positives and of negatives, for normal scores in both classes.

    >>> [round(each, 4) for each in placement_variance(0.8, 2.0)]
    [0.089, 0.0168]
    """
    from scipy.special import ndtri, owens_t

    h, square = float(ndtri(auc)), spread_ratio * spread_ratio

    def variance(correlation: float) -> float:
        both = auc - 2 * float(owens_t(h, sqrt((1 - correlation) / (1 + correlation))))
        return max(both - auc * auc, 0.0)

    return ClassVariance(variance(square / (1 + square)), variance(1 / (1 + square)))


def expect_auc(auc: float, positives: float, negatives: float, spread_ratio: float = 1.0) -> AucEstimate:
    """Return an AUC with its expected variance for two normal classes, and Welch's degrees of freedom.

    >>> area = expect_auc(0.8, 50, 150)
    >>> round(sqrt(area.variance), 4), round(area.freedom, 1)
    (0.0356, 84.0)
    """
    above, below = placement_variance(auc, spread_ratio)
    pairs = positives * negatives
    variance = (auc * (1 - auc) + (negatives - 1) * above + (positives - 1) * below) / pairs
    parts = above / positives, below / negatives
    doubt = sum(part**2 / max(many - 1, 0.5) for part, many in zip(parts, (positives, negatives), strict=True))
    return AucEstimate(auc, variance, positives, negatives, sum(parts) ** 2 / doubt if doubt > 0 else float("inf"))


def check_ratio(spread_ratio: float) -> None:
    """Raise unless the argument is a ratio of standard deviations."""
    check_domain("spread_ratio", spread_ratio, SPREAD_RATIO)


def level_from_alpha(alpha: float, sides: Sides) -> float:
    """Return the level of the interval that is equivalent to a test at that significance."""
    describe_sides(sides)
    level = 1 - 2 * alpha / sides
    if level <= 0:
        raise OptionError(
            f"alpha is {alpha}; expected less than 0.5 for one side.",
            remedy="Give, for example, 0.05.",
            option="alpha",
            value=alpha,
        )
    return level


def interval_power(
    expect: float, positives: float, negatives: float, *, null: float, level: float, spread_ratio: float
) -> float:
    """Return the probability that the default interval of an AUC excludes `null`, on the expected side.

    The interval excludes it where the estimated AUC passes a critical value; its log-odds are assumed to be normal.
    That value depends on the estimated variance, which is assumed to vary like a χ² with the degrees of freedom of the
    interval: the power is averaged over five quantiles of it.
    """
    from scipy.special import chdtri, ndtr

    there = expect_auc(expect, positives, negatives, spread_ratio)
    scale = expect * (1 - expect) / sqrt(there.variance)
    side = 1 if expect > null else -1
    power = 0.0
    for chance in _VARIANCE_QUANTILES:
        times = float(chdtri(there.freedom, 1 - chance)) / there.freedom
        critical = _critical_log_odds(
            positives, negatives, null, side, _bound_with_variance(level, spread_ratio, times)
        )
        power += float(ndtr(side * (_logit(expect) - critical) * scale)) / len(_VARIANCE_QUANTILES)
    return power


def average_power(expect: float, rows: int, prevalence: float, **test: float) -> float:
    """Average the power over the random number of positives in a sample."""
    spread = sqrt(rows * prevalence * (1 - prevalence))
    power = 0.0
    for step, weight in _GAUSS_POINTS:
        positives = min(max(rows * prevalence + step * spread, _MIN_ROWS), rows - _MIN_ROWS)
        power += weight * interval_power(
            expect,
            positives,
            rows - positives,
            null=test["null"],
            level=test["level"],
            spread_ratio=test["spread_ratio"],
        )
    return power


AucBound = Callable[[float, float, float, int], float]
"""Function of an estimated AUC, both numbers of rows and a side that returns the bound toward the null."""


def _bound_with_variance(level: float, spread_ratio: float, times: float) -> AucBound:
    """Return the bound of the interval where the estimated variance is that many times the true one."""

    def bound(auc: float, positives: float, negatives: float, side: int) -> float:
        area = expect_auc(auc, positives, negatives, spread_ratio)
        low, high, _ = _auc_intervals.auc_interval(area._replace(variance=area.variance * times), level)
        return low if side > 0 else high

    return bound


def _critical_log_odds(positives: float, negatives: float, null: float, side: int, bound: AucBound) -> float:
    """Return the log-odds of the AUC from which on the interval excludes the null; infinite if it never does."""
    from scipy.optimize import brentq

    start = _logit(null)

    def excess(distance: float) -> float:
        return side * (bound(_expit(start + side * distance), positives, negatives, side) - null)

    if excess(_MAX_LOG_ODDS) <= 0:
        return side * float("inf")
    return start + side * float(brentq(excess, 0.0, _MAX_LOG_ODDS, xtol=1e-6))


def _logit(share: float) -> float:
    return log(share / (1 - share))


def _expit(x: float) -> float:
    return 1 / (1 + exp(-x))


def sample_size_for_auc(
    expect: float,
    half_width: float,
    *,
    prevalence: float,
    level: float = 0.95,
    method: str | None = None,
    spread_ratio: float = 1.0,
) -> SampleSize:
    """Find the rows needed to estimate an AUC to within a half-width.

    The default is the interval of `infer.estimate`, with the variance of normal scores in both classes. Exponential
    scores vary as much as normal ones with a `spread_ratio` of 1.1, 1.3, 1.5 and 1.8 where the AUC is 0.6, 0.7, 0.8 and
    0.9. There are never fewer than two rows of each class.

    Parameters
    ----------
    expect
        Expected AUC.
    half_width
        Half-width of the interval.
    prevalence
        Share of positives.
    level
        Confidence level.
    method
        Another interval. With a `spread_ratio` of 1 its variance is that of exponential scores by Newcombe
        [@newcombe2006], or with "hanley-mcneil" by Hanley and McNeil [@hanley1982].
    spread_ratio
        Standard deviation of positives over that of negatives; it matters most where one class is rare.

    Returns
    -------
    Size
        Rows of each class and the half-width reached.

    Examples
    --------
    >>> found = sample_size_for_auc(0.8, half_width=0.03, prevalence=0.1)
    >>> found.rows, found.positives, found.negatives, found.how
    (2259, 226, 2033, 'interval of the AUC, normal scores with a spread ratio of 1')
    >>> sample_size_for_auc(0.8, half_width=0.03, prevalence=0.1, spread_ratio=2).rows
    3906
    """
    check_open_share("expect", expect, "0.8")
    check_half_width(half_width)
    check_open_share("prevalence", prevalence, "0.1")
    check_open_share("level", level, "0.95")
    check_ratio(spread_ratio)
    limits, how = _choose_limits(expect, method, spread_ratio)

    def half_width_at(rows: int) -> float:
        low, high = limits(prevalence * rows, (1 - prevalence) * rows, level)
        return (high - low) / 2

    rows = find_smallest(lambda many: half_width_at(many) <= half_width, min_rows(prevalence))
    return make_size(rows, prevalence, half_width=half_width_at(rows), how=how)


AucLimits = Callable[[float, float, float], tuple[float, float]]
"""Function of positives, negatives and a level that returns the interval of the expected AUC."""


def _choose_limits(expect: float, method: str | None, spread_ratio: float) -> tuple[AucLimits, str]:
    """Return the interval of a method, and a description of its assumptions."""

    def normal(positives: float, negatives: float) -> AucEstimate:
        return expect_auc(expect, positives, negatives, spread_ratio)

    assumed = f"normal scores with a spread ratio of {spread_ratio:g}"
    if method is None:
        return lambda some, others, level: _auc_intervals.auc_interval(normal(some, others), level)[
            :2
        ], f"interval of the AUC, {assumed}"
    if method not in _auc_intervals.METHODS:
        raise OptionError(
            f"method is {method!r}; there are {', '.join(map(repr, _auc_intervals.METHODS))}.",
            option="method",
            value=method,
        )
    bounds, how = _auc_intervals.METHODS[method]
    how = "Newcombe's score set" if method == "score" else how
    if spread_ratio == 1:
        variance = exponential_variance if method == "hanley-mcneil" else newcombe_variance
        return lambda some, others, level: bounds(
            AucEstimate(expect, variance(expect, some, others), some, others), level
        ), how
    if method == "hanley-mcneil":
        raise OptionError(
            "Hanley and McNeil's formula is of exponential scores", remedy=f"leave {keyword('spread_ratio')} out."
        )
    return lambda some, others, level: bounds(normal(some, others), level), f"{how}, {assumed}"


Method = Literal["interval", "obuchowski"]
"""By the interval of `infer.estimate`, or by Obuchowski's normal test, as in pROC."""
_MIN_PER_CLASS = 10


def power_of_auc_test(  # noqa: PLR0913  (each is something that one knows or wants)
    expect: float,
    *,
    positives: float,
    negatives: float,
    null: float = 0.5,
    alpha: float = 0.05,
    sides: Sides = 2,
    spread_ratio: float = 1.0,
    method: Method = "interval",
) -> float:
    """Return the power to show that an AUC differs from `null`.

    Parameters
    ----------
    expect
        Expected AUC.
    positives, negatives
        Rows of each class.
    null
        AUC under the null hypothesis.
    alpha
        Significance level.
    sides
        1 or 2.
    spread_ratio
        Standard deviation of positives over that of negatives, for normal scores.
    method
        "interval": the interval of `infer.estimate` at level 1 − α excludes `null`. "obuchowski": normal test with the
        variance of equally spread classes [@obuchowski2004], which has more power where rows are few.

    Returns
    -------
    float
        Probability to reject.

    Examples
    --------
    >>> round(power_of_auc_test(0.73, positives=41, negatives=72), 3)
    0.984
    >>> round(power_of_auc_test(0.73, positives=41, negatives=72, method="obuchowski"), 7)  # pROC: power.roc.test
    0.9897453
    """
    _check_alternative(expect, null)
    check_classes(positives, negatives)
    if _uses_formula(method, spread_ratio):
        varying = [binormal_spread(each).at(positives, negatives) for each in (null, expect)]
        return normal_power(expect - null, *varying, z=quantile_of_test(alpha, sides))
    quantile_of_test(alpha, sides)
    level = level_from_alpha(alpha, sides)
    return interval_power(expect, positives, negatives, null=null, level=level, spread_ratio=spread_ratio)


def sample_size_for_auc_test(  # noqa: PLR0913  (each is something that one knows or wants)
    expect: float,
    *,
    power: float,
    prevalence: float,
    null: float = 0.5,
    alpha: float = 0.05,
    sides: Sides = 2,
    spread_ratio: float = 1.0,
    method: Method = "interval",
) -> SampleSize:
    """Find the rows needed to show that an AUC differs from `null`.

    The power is that of `power_of_auc_test`, averaged over the random number of positives, and at least ten rows of
    each
    class are expected; with `method="obuchowski"` it is that of the expected number [@obuchowski2004].

    Parameters
    ----------
    expect
        Expected AUC.
    power
        Power of the test.
    prevalence
        Share of positives.
    null
        AUC under the null hypothesis.
    alpha
        Significance level.
    sides
        1 or 2.
    spread_ratio
        Standard deviation of positives over that of negatives, for normal scores.
    method
        "interval" or "obuchowski", as in `power_of_auc_test`.

    Returns
    -------
    Size
        Rows of each class and the power reached.

    Examples
    --------
    >>> sample_size_for_auc_test(0.8, power=0.9, prevalence=0.5).rows
    40
    >>> sample_size_for_auc_test(0.8, power=0.9, prevalence=0.5, method="obuchowski").rows
    34
    """
    _check_alternative(expect, null)
    check_open_share("prevalence", prevalence, "0.1")
    check_power(power, alpha)
    z = quantile_of_test(alpha, sides)
    varying = [binormal_spread(each).per_row(prevalence) for each in (null, expect)]
    about_so_many = normal_sample_size(expect - null, *varying, z=z, power=power)
    if _uses_formula(method, spread_ratio):
        how = f"Obuchowski's normal test of one AUC, {describe_sides(sides)}"
        return _make_answer(about_so_many, expect - null, varying, prevalence, z=z, how=how)
    level = level_from_alpha(alpha, sides)

    def power_at(rows: int) -> float:
        return average_power(expect, rows, prevalence, null=null, level=level, spread_ratio=spread_ratio)

    least = min_rows(prevalence, _MIN_PER_CLASS)  # with fewer rows the approximations behind the plan fail
    rows = find_smallest_near(lambda many: power_at(many) >= power, ceil(about_so_many), least)
    return make_size(
        rows, prevalence, power=power_at(rows), how=f"interval of the AUC, {_describe_assumption(spread_ratio, sides)}"
    )


def alpha_of_auc_test(  # noqa: PLR0913  (each is something that one knows or wants)
    expect: float,
    *,
    power: float,
    positives: float,
    negatives: float,
    null: float = 0.5,
    sides: Sides = 2,
    spread_ratio: float = 1.0,
    method: Method = "interval",
) -> float:
    """Return the significance level at which a test of an AUC would have that power.

    Parameters
    ----------
    expect
        Expected AUC.
    power
        Power of the test.
    positives, negatives
        Rows of each class.
    null
        AUC under the null hypothesis.
    sides
        1 or 2.
    spread_ratio
        Standard deviation of positives over that of negatives, for normal scores.
    method
        "interval" or "obuchowski", as in `power_of_auc_test`.

    Returns
    -------
    float
        Significance level.

    Examples
    --------
    >>> options = {"power": 0.95, "positives": 41, "negatives": 72}
    >>> round(alpha_of_auc_test(0.73, **options, method="obuchowski"), 9)  # pROC: power.roc.test
    0.009238584
    """
    from scipy.optimize import brentq
    from scipy.special import ndtr, ndtri

    _check_alternative(expect, null)
    check_classes(positives, negatives)
    check_open_share("power", power, "0.9")
    describe_sides(sides)
    if _uses_formula(method, spread_ratio):
        zero, real = (binormal_spread(each).at(positives, negatives) for each in (null, expect))
        z = (abs(expect - null) - float(ndtri(power)) * sqrt(real)) / sqrt(zero)
        return min(sides * float(ndtr(-z)), 1.0)

    def power_deficit(logarithm: float) -> float:
        level = 1 - 2 * exp(logarithm) / sides
        reached = interval_power(expect, positives, negatives, null=null, level=level, spread_ratio=spread_ratio)
        return power - reached

    ends = log(1e-12), log(0.999 * sides / 2)
    if power_deficit(ends[1]) > 0:
        return 1.0
    return exp(float(brentq(power_deficit, *ends, xtol=1e-9))) if power_deficit(ends[0]) > 0 else exp(ends[0])


def detectable_auc(  # noqa: PLR0913  (each is something that one knows or wants)
    *,
    power: float,
    positives: float,
    negatives: float,
    null: float = 0.5,
    alpha: float = 0.05,
    sides: Sides = 2,
    spread_ratio: float = 1.0,
    method: Method = "interval",
) -> float:
    """Return the smallest AUC above `null` that this many rows would show with that power.

    Parameters
    ----------
    power
        Power of the test.
    positives, negatives
        Rows of each class.
    null
        AUC under the null hypothesis.
    alpha
        Significance level.
    sides
        1 or 2.
    spread_ratio
        Standard deviation of positives over that of negatives, for normal scores.
    method
        "interval" or "obuchowski", as in `power_of_auc_test`.

    Returns
    -------
    float
        The AUC.

    Raises
    ------
    OptionError
        No AUC below 1 could be shown.

    Examples
    --------
    >>> options = {"power": 0.95, "positives": 41, "negatives": 72}
    >>> round(detectable_auc(**options, method="obuchowski"), 4)  # pROC: power.roc.test
    0.6961
    """
    from scipy.optimize import brentq

    check_open_share("null", null, "0.5")
    check_power(power, alpha)
    test: dict[str, Any] = {"null": null, "alpha": alpha, "sides": sides, "spread_ratio": spread_ratio}

    def power_deficit(auc: float) -> float:
        return power - power_of_auc_test(auc, positives=positives, negatives=negatives, method=method, **test)

    tried = np.linspace(null, 1, 1001 if method == "obuchowski" else 41)[1:-1].tolist()
    enough = next((place for place, auc in enumerate(tried) if power_deficit(auc) <= 0), None)
    if enough is None:
        raise OptionError(
            f"no AUC up to 1 could be shown with {count_of(positives, 'positive')} "
            f"and {count_of(negatives, 'negative')}."
        )
    below = tried[enough - 1] if enough else null + (tried[0] - null) * 1e-6
    return float(brentq(power_deficit, below, tried[enough], xtol=1e-14))


def power_of_auc_difference(
    pair: AucPair,
    *,
    positives: float,
    negatives: float,
    alpha: float = 0.05,
    sides: Sides = 2,
    standard: Standard = None,
) -> float:
    """Return the power to show that two AUCs differ [@obuchowski1997].

    Parameters
    ----------
    pair
        AUCs with their variances and covariance.
    positives, negatives
        Rows of each class.
    alpha
        Significance level.
    sides
        1 or 2.
    standard
        Model whose variance holds under the null hypothesis; by default the variance of the alternative.

    Returns
    -------
    float
        Probability to reject.

    Examples
    --------
    >>> from baserate.infer._auc_intervals import reported_pair
    >>> pair = reported_pair(
    ...     0.6119580, 0.8236789, variances=(0.00319081, 0.00146991), covariance=-0.00053297, positives=41, negatives=72
    ... )
    >>> round(power_of_auc_difference(pair, positives=41, negatives=72), 4)
    0.7989
    >>> round(power_of_auc_difference(pair, positives=41, negatives=72, standard="first"), 4)  # pROC: power.roc.test
    0.7132
    """
    check_classes(positives, negatives)
    varying = [each.at(positives, negatives) for each in pair.varying(standard)]
    return normal_power(pair.difference, *varying, z=quantile_of_test(alpha, sides))


def sample_size_for_auc_difference(
    pair: AucPair, *, power: float, prevalence: float, alpha: float = 0.05, sides: Sides = 2, standard: Standard = None
) -> SampleSize:
    """Find the rows needed to show that two AUCs differ [@obuchowski1997].

    Parameters
    ----------
    pair
        AUCs with their variances and covariance. If it is unpaired, the answer holds for each model.
    power
        Power of the test.
    prevalence
        Share of positives.
    alpha
        Significance level.
    sides
        1 or 2.
    standard
        Model whose variance holds under the null hypothesis; by default the variance of the alternative.

    Returns
    -------
    Size
        Rows of each class and the power reached.

    Examples
    --------
    >>> from baserate.infer._auc_intervals import hypothetical_pair
    >>> sample_size_for_auc_difference(hypothetical_pair(0.8, 0.7, correlation=0.5), power=0.9, prevalence=0.5).rows
    280
    """
    check_open_share("prevalence", prevalence, "0.1")
    if pair.difference == 0:
        raise OptionError(f"both AUCs are {pair.first}; no number of rows would show a difference.")
    varying = [each.per_row(prevalence) for each in pair.varying(standard)]
    if min(varying) <= 0:
        raise OptionError(
            "the difference of these two AUCs does not vary, so no size can be told", remedy="take a larger pilot."
        )
    rows = normal_sample_size(
        pair.difference, *varying, z=quantile_of_test(alpha, sides), power=check_power(power, alpha)
    )
    how = f"normal test of the difference of two AUCs, {describe_sides(sides)}"
    size = _make_answer(rows, pair.difference, varying, prevalence, z=quantile_of_test(alpha, sides), how=how)
    return size if pair.paired else replace(size, samples=2)


def _make_answer(
    rows: float, difference: float, varying: list[float], prevalence: float, *, z: float, how: str
) -> SampleSize:
    many = max(ceil(rows), min_rows(prevalence))
    reached = normal_power(difference, *(each / many for each in varying), z=z)
    return make_size(many, prevalence, power=reached, how=how)


def _uses_formula(method: Method, spread_ratio: float) -> bool:
    """Return whether Obuchowski's formula is requested, which assumes equal spread in both classes."""
    check_ratio(spread_ratio)
    if method not in get_args(Method):
        raise OptionError(f"method is {method!r}; there are 'interval', 'obuchowski'.", option="method", value=method)
    if method == "obuchowski" and spread_ratio != 1:
        raise OptionError(
            "Obuchowski's formula takes both classes to be equally spread",
            remedy=f"leave {keyword('spread_ratio')} out.",
        )
    return method == "obuchowski"


def _describe_assumption(spread_ratio: float, sides: Sides) -> str:
    return f"{describe_sides(sides)}, normal scores with a spread ratio of {spread_ratio:g}"


def _check_alternative(expect: float, null: float) -> None:
    check_open_share("expect", expect, "0.8")
    check_open_share("null", null, "0.5")
    if expect == null:
        raise OptionError(f"expect and null are both {null}; no number of rows would show a difference.")
