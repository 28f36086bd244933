"""Sample size and power for an AUC: for an interval, against a null value, or for the difference of two models.

With :math:`h=Φ^{-1}(A)` and r the standard deviation of positives over that of negatives, the placements of positives
have variance :math:`Φ_2(h,h;r^2/(1+r^2))-A^2` and those of negatives :math:`Φ_2(h,h;1/(1+r^2))-A^2`, where Φ₂ is the
bivariate normal distribution function; both are Owen's T [@owen1956] of one argument.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil, exp, log, sqrt
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from baserate._domains import LEVEL, SPREAD_RATIO, ShareLike, check_domain, parse_share
from baserate._errors import OptionError, keyword, unknown_name
from baserate._formatting import count_of
from baserate.infer._auc_intervals import (
    METHODS as AUC_METHODS,
    AucEstimate,
    AucPair,
    ClassVariance,
    Standard,
    auc_interval,
    binormal_spread,
    check_classes,
    exponential_variance,
    newcombe_variance,
)
from baserate.infer._sample_size import (
    SampleSize,
    Sides,
    check_differ,
    check_half_width,
    check_power,
    check_shares,
    describe_sides,
    find_smallest,
    find_smallest_near,
    make_size,
    min_rows,
    normal_power,
    normal_sample_size,
    quantile_of_test,
)
from baserate.read import accepts_words

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
        # Φ₂(h, h; ρ) = Φ(h) − 2T(h, √((1 − ρ)/(1 + ρ))), and Φ(h) is the AUC.
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
    # Planned numbers of rows may be fractions near 1, which would leave no degrees of freedom.
    uncertainty = sum(part**2 / max(many - 1, 0.5) for part, many in zip(parts, (positives, negatives), strict=True))
    return AucEstimate(
        auc, variance, positives, negatives, sum(parts) ** 2 / uncertainty if uncertainty > 0 else float("inf")
    )


class AucTest(NamedTuple):
    """Test that an AUC differs from a null value: the default interval at this level excludes it."""

    expect: float
    null: float
    level: float
    spread_ratio: float

    def power(self, positives: float, negatives: float) -> float:
        """Return the probability that the interval excludes the null value, on the expected side.

        The interval excludes it where the estimated AUC passes a critical value; its log-odds are assumed to be normal.
        That value depends on the estimated variance, which is assumed to vary like a χ² with the degrees of freedom of
        the interval: the power is averaged over five quantiles of it.
        """
        from scipy.special import chdtri, ndtr

        expected = expect_auc(self.expect, positives, negatives, self.spread_ratio)
        scale = self.expect * (1 - self.expect) / sqrt(expected.variance)
        side = 1 if self.expect > self.null else -1
        power = 0.0
        for chance in _VARIANCE_QUANTILES:
            # chdtri takes the probability of the upper tail.
            times = float(chdtri(expected.freedom, 1 - chance)) / expected.freedom
            bound = _bound_with_variance(self.level, self.spread_ratio, times)
            critical = _critical_log_odds(positives, negatives, self.null, side, bound)
            power += float(ndtr(side * (_logit(self.expect) - critical) * scale)) / len(_VARIANCE_QUANTILES)
        return power

    def average_power(self, rows: int, prevalence: float) -> float:
        """Average the power over the random number of positives in a sample."""
        spread = sqrt(rows * prevalence * (1 - prevalence))
        power = 0.0
        for step, weight in _GAUSS_POINTS:
            # With fewer than two rows of a class an AUC has no variance.
            positives = min(max(rows * prevalence + step * spread, _MIN_ROWS), rows - _MIN_ROWS)
            power += weight * self.power(positives, rows - positives)
        return power


def level_from_alpha(alpha: float, sides: Sides) -> float:
    """Return the level of the interval that is equivalent to a test at that significance."""
    quantile_of_test(alpha, sides)  # raises for other numbers
    # A one-sided test uses one end of a two-sided interval, whose level is then 1 − 2α.
    level = 1 - 2 * alpha / sides
    if level <= 0:
        raise OptionError(
            f"alpha is {alpha}; expected less than 0.5 for one side.",
            remedy="Give, for example, 0.05.",
            option="alpha",
            value=alpha,
        )
    return level


AucBound = Callable[[float, float, float, int], float]
"""Function of an estimated AUC, both numbers of rows and a side that returns the bound toward the null."""


def _bound_with_variance(level: float, spread_ratio: float, times: float) -> AucBound:
    """Return the bound of the interval where the estimated variance is that many times the true one."""

    def bound(auc: float, positives: float, negatives: float, side: int) -> float:
        area = expect_auc(auc, positives, negatives, spread_ratio)
        low, high, _ = auc_interval(area._replace(variance=area.variance * times), level)
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


@accepts_words
def sample_size_for_auc(
    expect: float,
    half_width: float,
    *,
    prevalence: ShareLike,
    level: ShareLike = 0.95,
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
    SampleSize
        Rows of each class and the half-width reached.

    Examples
    --------
    >>> size = sample_size_for_auc(0.8, half_width=0.03, prevalence=0.1)
    >>> size.rows, size.positives, size.negatives, size.how
    (2259, 226, 2033, 'interval of the AUC, normal scores with a spread ratio of 1')
    >>> sample_size_for_auc(0.8, half_width=0.03, prevalence=0.1, spread_ratio=2).rows
    3906
    """
    prevalence, level = parse_share(prevalence), parse_share(level)
    check_shares(expect=expect, prevalence=prevalence)
    check_half_width(half_width)
    check_domain("level", level, LEVEL)
    check_domain("spread_ratio", spread_ratio, SPREAD_RATIO)
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

    def exponential(positives: float, negatives: float) -> AucEstimate:
        variance = exponential_variance if method == "hanley-mcneil" else newcombe_variance
        return AucEstimate(expect, variance(expect, positives, negatives), positives, negatives)

    assumption = f"normal scores with a spread ratio of {spread_ratio:g}"
    if method is None:
        return lambda one, other, level: auc_interval(normal(one, other), level)[:2], f"{_BY_INTERVAL}, {assumption}"
    if method not in AUC_METHODS:
        raise unknown_name("method", method, AUC_METHODS)
    bounds, how = AUC_METHODS[method]
    how = "Newcombe's score set" if method == "score" else how
    if spread_ratio == 1:
        return lambda one, other, level: bounds(exponential(one, other), level), how
    if method == "hanley-mcneil":
        raise OptionError(
            "Hanley and McNeil's formula assumes exponential scores", remedy=f"leave {keyword('spread_ratio')} out."
        )
    return lambda one, other, level: bounds(normal(one, other), level), f"{how}, {assumption}"


Method = Literal["interval", "obuchowski"]
"""By the interval of `infer.estimate`, or by Obuchowski's normal test, as in pROC."""
_MIN_PER_CLASS = 10
_BY_INTERVAL = "interval of the AUC"


def power_of_auc_test(  # noqa: PLR0913  (each is an assumption or a goal of the study)
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
        variances = [binormal_spread(each).at(positives, negatives) for each in (null, expect)]
        return normal_power(expect - null, *variances, z=quantile_of_test(alpha, sides))
    return AucTest(expect, null, level_from_alpha(alpha, sides), spread_ratio).power(positives, negatives)


@accepts_words
def sample_size_for_auc_test(  # noqa: PLR0913  (each is an assumption or a goal of the study)
    expect: float,
    *,
    power: float,
    prevalence: ShareLike,
    null: float = 0.5,
    alpha: float = 0.05,
    sides: Sides = 2,
    spread_ratio: float = 1.0,
    method: Method = "interval",
) -> SampleSize:
    """Find the rows needed to show that an AUC differs from `null`.

    The power is that of `power_of_auc_test`, averaged over the random number of positives, and at least ten rows of
    each class are expected; with `method="obuchowski"` it is that of the expected number [@obuchowski2004].

    Parameters
    ----------
    expect
        Expected AUC.
    power
        Power of the test.
    prevalence
        Share of positives.
    null, alpha, sides, spread_ratio, method
        Options of the test, as in `power_of_auc_test`.

    Returns
    -------
    SampleSize
        Rows of each class and the power reached.

    Examples
    --------
    >>> sample_size_for_auc_test(0.8, power=0.9, prevalence=0.5).rows
    40
    >>> sample_size_for_auc_test(0.8, power=0.9, prevalence=0.5, method="obuchowski").rows
    34
    """
    prevalence = parse_share(prevalence)
    _check_alternative(expect, null)
    check_shares(prevalence=prevalence)
    check_power(power, alpha)
    z = quantile_of_test(alpha, sides)
    variances = [binormal_spread(each).per_row(prevalence) for each in (null, expect)]
    approximate = normal_sample_size(expect - null, *variances, z=z, power=power)
    if _uses_formula(method, spread_ratio):
        how = f"Obuchowski's normal test of one AUC, {describe_sides(sides)}"
        return _make_normal_size(approximate, expect - null, variances, prevalence, z=z, how=how)
    test = AucTest(expect, null, level_from_alpha(alpha, sides), spread_ratio)
    least = min_rows(prevalence, _MIN_PER_CLASS)  # with fewer rows the approximations behind the plan fail
    rows = find_smallest_near(lambda many: test.average_power(many, prevalence) >= power, ceil(approximate), least)
    how = f"{_BY_INTERVAL}, {describe_sides(sides)}, normal scores with a spread ratio of {spread_ratio:g}"
    return make_size(rows, prevalence, power=test.average_power(rows, prevalence), how=how)


def alpha_of_auc_test(  # noqa: PLR0913  (each is an assumption or a goal of the study)
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
    null, sides, spread_ratio, method
        Options of the test, as in `power_of_auc_test`.

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
    check_shares(power=power)
    describe_sides(sides)
    if _uses_formula(method, spread_ratio):
        zero, real = (binormal_spread(each).at(positives, negatives) for each in (null, expect))
        z = (abs(expect - null) - float(ndtri(power)) * sqrt(real)) / sqrt(zero)
        return min(sides * float(ndtr(-z)), 1.0)

    def power_deficit(logarithm: float) -> float:
        level = 1 - 2 * exp(logarithm) / sides
        return power - AucTest(expect, null, level, spread_ratio).power(positives, negatives)

    # At α = sides/2 the level of the interval would be 0.
    ends = log(1e-12), log(0.999 * sides / 2)
    if power_deficit(ends[1]) > 0:
        return 1.0
    return exp(float(brentq(power_deficit, *ends, xtol=1e-9))) if power_deficit(ends[0]) > 0 else exp(ends[0])


def detectable_auc(  # noqa: PLR0913  (each is an assumption or a goal of the study)
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
    null, alpha, sides, spread_ratio, method
        Options of the test, as in `power_of_auc_test`.

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

    check_shares(null=null)
    check_power(power, alpha)
    test: dict[str, Any] = {"null": null, "alpha": alpha, "sides": sides, "spread_ratio": spread_ratio}

    def power_deficit(auc: float) -> float:
        return power - power_of_auc_test(auc, positives=positives, negatives=negatives, method=method, **test)

    # A grid brackets the smallest such AUC, whether or not the power is monotone.
    grid = np.linspace(null, 1, 1001 if method == "obuchowski" else 41)[1:-1].tolist()
    first = next((at for at, auc in enumerate(grid) if power_deficit(auc) <= 0), None)
    if first is None:
        rows = f"{count_of(positives, 'positive')} and {count_of(negatives, 'negative')}"
        raise OptionError(f"no AUC up to 1 could be shown with {rows}", remedy="give more rows, or a lower power.")
    # Not the null itself, which is no alternative and raises an error.
    below = grid[first - 1] if first else null + (grid[0] - null) * 1e-6
    return float(brentq(power_deficit, below, grid[first], xtol=1e-14))


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
    variances = [each.at(positives, negatives) for each in pair.varying(standard)]
    return normal_power(pair.difference, *variances, z=quantile_of_test(alpha, sides))


@accepts_words
def sample_size_for_auc_difference(
    pair: AucPair,
    *,
    power: float,
    prevalence: ShareLike,
    alpha: float = 0.05,
    sides: Sides = 2,
    standard: Standard = None,
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
    alpha, sides, standard
        Options of the test, as in `power_of_auc_difference`.

    Returns
    -------
    SampleSize
        Rows of each class and the power reached.

    Examples
    --------
    >>> from baserate.infer._auc_intervals import hypothetical_pair
    >>> sample_size_for_auc_difference(hypothetical_pair(0.8, 0.7, correlation=0.5), power=0.9, prevalence=0.5).rows
    280
    """
    prevalence = parse_share(prevalence)
    check_shares(prevalence=prevalence)
    check_differ(first=pair.first, second=pair.second)
    variances = [each.per_row(prevalence) for each in pair.varying(standard)]
    if min(variances) <= 0:
        raise OptionError(
            "the difference of these two AUCs does not vary, so no sample size follows", remedy="take a larger pilot."
        )
    z = quantile_of_test(alpha, sides)
    rows = normal_sample_size(pair.difference, *variances, z=z, power=check_power(power, alpha))
    how = f"normal test of the difference of two AUCs, {describe_sides(sides)}"
    size = _make_normal_size(rows, pair.difference, variances, prevalence, z=z, how=how)
    return size if pair.paired else replace(size, samples=2)


def _make_normal_size(
    rows: float, difference: float, variances: list[float], prevalence: float, *, z: float, how: str
) -> SampleSize:
    size = max(ceil(rows), min_rows(prevalence))
    power = normal_power(difference, *(each / size for each in variances), z=z)
    return make_size(size, prevalence, power=power, how=how)


def _uses_formula(method: Method, spread_ratio: float) -> bool:
    """Return whether Obuchowski's formula is requested, which assumes equal spread in both classes."""
    check_domain("spread_ratio", spread_ratio, SPREAD_RATIO)
    if method not in get_args(Method):
        raise unknown_name("method", method, get_args(Method))
    if method == "obuchowski" and spread_ratio != 1:
        raise OptionError(
            "Obuchowski's formula assumes equal spread in both classes",
            remedy=f"leave {keyword('spread_ratio')} out.",
        )
    return method == "obuchowski"


def _check_alternative(expect: float, null: float) -> None:
    check_shares(expect=expect, null=null)
    check_differ(expect=expect, null=null)
