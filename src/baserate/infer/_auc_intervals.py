"""AUC intervals (DeLong, logit, Hanley–McNeil, score), influence of rows on an AUC, and pairs of AUCs for planning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, hypot, inf, log, nan, sqrt
from typing import Literal, NamedTuple, Unpack

import numpy as np

from baserate._arrays import Bools, Floats, ratio, round_if_close
from baserate._domains import SHARE, SPREAD_RATIO, Domain, check_domain
from baserate._errors import EmptyDataError, OptionError, keyword
from baserate._formatting import count_of, there_are
from baserate._rendering import short_repr
from baserate._rows import Rows
from baserate._tally import Tally
from baserate.infer import _binomial
from baserate.infer._binomial import normal_quantile, t_widening
from baserate.infer._model_bootstrap import UniqueRows, rank_descending, sum_to_midpoints
from baserate.infer._partial_areas import (
    WHOLE,
    BinormalArea,
    Rates,
    binormal_area,
    binormal_parameters,
    place_rows,
    placement_variances,
)
from baserate.infer._variances import influence_variance, unseen_loss
from baserate.measure import auc
from baserate.read import PredictionOptions, accepts_predictions, accepts_two

Limits = tuple[float, float]

SCORE_BELOW = 3
"""Rows of the smaller class, times A or 1 − A, below which log-odds intervals undercover (`bench.coverage`)."""
_CHANCE = 0.5


class AucEstimate(NamedTuple):
    """An AUC with the variance and the numbers of rows that its intervals require."""

    value: float
    variance: float
    """DeLong's; NaN where a class has a single row."""
    positives: float
    """Effective number of rows, Kish's where they are weighted."""
    negatives: float
    freedom: float = inf
    """Degrees of freedom of the variance."""
    clusters: float | None = None
    """Effective number of clusters, in place of rows, where rows are clustered."""


def estimate_auc(tally: Tally, value: float | None = None) -> AucEstimate:
    r"""Compute the AUC of a tally with DeLong's variance, :math:`S_{10}/P+S_{01}/N` [@delong1988].

    The placement of a positive is the share of negatives below it, with ties counted half; S₁₀ is the variance of these
    placements among positives, and S₀₁ that of the placements of negatives. With weights, the variance of a weighted
    mean is :math:`\sum w^2(V-A)^2/(\sum w)^2`, and r rows lose a degree of freedom: r/(r − 1). Pass `value` to save its
    computation.

    >>> from baserate import tally
    >>> estimate_auc(tally([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]))
    AucEstimate(value=0.75, variance=0.125, positives=2.0, negatives=2.0, freedom=2.0, clusters=None)
    """
    effective = _effective_rows(tally, 0), _effective_rows(tally, 1)
    if not tally.positives or not tally.negatives:
        return AucEstimate(nan, nan, *effective)
    spread = influence_variance(auc, tally, value)
    if spread.smaller_class == 1:
        return AucEstimate(spread.value, nan, *effective)
    return AucEstimate(spread.value, spread.variance, *effective, spread.freedom)


def delong_interval(estimate: AucEstimate, level: float) -> Limits:
    """Return the normal interval with DeLong's variance, clipped to [0, 1], as in pROC [@delong1988]."""
    half = normal_quantile(level) * sqrt(estimate.variance)
    return max(estimate.value - half, 0.0), min(estimate.value + half, 1.0)


def logit_delong_interval(estimate: AucEstimate, level: float) -> Limits:
    """Return the normal interval of the log-odds of the AUC, with DeLong's variance [@pepe2003]; NaN at 0 and 1."""
    odds = estimate.value * (1 - estimate.value)
    if odds == 0:
        return nan, nan
    half = normal_quantile(level) * sqrt(estimate.variance) / odds
    middle = log(estimate.value / (1 - estimate.value))
    return _expit(middle - half), _expit(middle + half)


def hanley_mcneil_interval(estimate: AucEstimate, level: float) -> Limits:
    """Return the normal interval with the variance of exponential scores, clipped to [0, 1] [@hanley1982]."""
    half = normal_quantile(level) * sqrt(exponential_variance(estimate.value, estimate.positives, estimate.negatives))
    return max(estimate.value - half, 0.0), min(estimate.value + half, 1.0)


def score_interval(estimate: AucEstimate, level: float) -> Limits:
    r"""Return the AUCs θ within z of their own standard errors of the estimate, :math:`(A-θ)^2\le z^2\,r\,V(θ)`.

    V is Hanley and McNeil's variance with both numbers of rows replaced by their mean where they multiply
    [@newcombe2006]. The factor r, never below 1, is the ratio of DeLong's variance to V where it exists: scores that
    are not exponential may vary more. That variance is estimated, so it counts with a t quantile in place of z. The
    interval has positive width even where A is 0 or 1.
    """
    expected = newcombe_variance(estimate.value, estimate.positives, estimate.negatives)
    excess = estimate.variance / expected * t_widening(estimate.freedom, level) ** 2 if expected > 0 else 1.0
    reach = normal_quantile(level) ** 2 * (excess if excess > 1 else 1.0)  # false also for NaN, of a single row

    def beyond(theta: float) -> bool:
        return (estimate.value - theta) ** 2 > reach * newcombe_variance(theta, estimate.positives, estimate.negatives)

    return _find_edge(beyond, estimate.value, 0.0), _find_edge(beyond, estimate.value, 1.0)


def auc_interval(estimate: AucEstimate, level: float) -> tuple[float, float, str]:
    """Return the default interval, and its method: DeLong's on log-odds, or the score interval where rows are few.

    Rows are few if the smaller class times A, or times 1 − A, is less than three. Both variances are too small where
    misranked rows exist but none was sampled, and very uncertain where one or two were. So the bound towards ½ allows
    for unseen rows, and neither bound exceeds Wilson's for a proportion of as many rows as the smaller class has: no
    distribution has a greater variance than A(1 − A)/r [@birnbaum1957].
    """
    # Rounded, so that weights in another unit do not switch the method.
    if (
        round_if_close(min(estimate.positives, estimate.negatives) * min(estimate.value, 1 - estimate.value))
        < SCORE_BELOW
    ):
        (low, high), how = score_interval(estimate, level), METHODS["score"][1]
    else:
        # The variance is estimated, so it counts with a t quantile in place of z.
        wider = estimate._replace(variance=estimate.variance * t_widening(estimate.freedom, level) ** 2)
        (low, high), how = logit_delong_interval(wider, level), f"{METHODS['logit-delong'][1]}, t quantiles"
    lowest, highest = unseen_limits(estimate, level)
    least, most = wilson_limits(estimate, level)
    bounds = max(min(low, lowest), least), min(max(high, highest), most)
    if bounds[0] < low or bounds[1] > high:
        how = f"{how}; rule of three for unseen rows"
    elif bounds != (low, high):
        how = "Wilson for the smaller class"
    return *bounds, how


def unseen_limits(estimate: AucEstimate, level: float) -> Limits:
    """Return the AUC closer to ½ if the sample contains no row of some subgroup of the smaller class."""
    left = 1 - unseen_loss(min(estimate.positives, estimate.negatives), level)
    if estimate.value > _CHANCE:
        return estimate.value * left, estimate.value
    if estimate.value < _CHANCE:
        return estimate.value, 1 - (1 - estimate.value) * left
    return estimate.value, estimate.value


def wilson_limits(estimate: AucEstimate, level: float) -> Limits:
    """Return Wilson's bounds of a proportion equal to the AUC, with the rows (or clusters) of the smaller class."""
    rows = min(estimate.positives, estimate.negatives) if estimate.clusters is None else estimate.clusters
    return _binomial.wilson(estimate.value * rows, (1 - estimate.value) * rows, level)


def cap_area_interval(tally: Tally, level: float) -> Limits:
    """Bound the area under the gain curve, π/2 + (1 − π)·AUC, from the bounds of the AUC and of the prevalence."""
    estimate = estimate_auc(tally)
    low, high, _ = auc_interval(estimate, level)
    share = tally.prevalence
    if tally.reweighed:  # and the prevalence is exact
        return share / 2 + (1 - share) * low, share / 2 + (1 - share) * high
    squares = tally.squares.sum(axis=1, dtype=np.float64)
    few, many = _binomial.wilson_or_exact(
        *_binomial.effective_counts(tally.positives, tally.negatives, *squares.tolist()), level
    )
    # Both are independent, so their distances add in quadrature [@zou2008].
    # The area falls with the prevalence if the AUC exceeds ½: then the higher prevalence gives the lower bound.
    tilt = estimate.value - 0.5
    down, up = ((share - few), (many - share)) if tilt < 0 else ((many - share), (share - few))
    value = share / 2 + (1 - share) * estimate.value
    return (
        value - hypot((1 - share) * (estimate.value - low), tilt * down),
        value + hypot((1 - share) * (high - estimate.value), tilt * up),
    )


def exponential_variance(value: float, positives: float, negatives: float) -> float:
    """Return the variance of an AUC if the scores of both classes are exponential [@hanley1982].

    >>> round(sqrt(exponential_variance(0.893, 51, 58)), 4)
    0.0325
    """
    return _exponential_spread(value, positives, negatives) / (positives * negatives)


def newcombe_variance(value: float, positives: float, negatives: float) -> float:
    """Return that variance with the mean of both numbers of rows where they multiply [@newcombe2006]."""
    mean = (positives + negatives) / 2
    return _exponential_spread(value, mean, mean) / (positives * negatives)


METHODS: dict[str, tuple[Callable[[AucEstimate, float], Limits], str]] = {
    "score": (score_interval, "Newcombe's score set, widened to DeLong's variance"),
    "logit-delong": (logit_delong_interval, "DeLong on log-odds"),
    "delong": (delong_interval, "DeLong"),
    "hanley-mcneil": (hanley_mcneil_interval, "Hanley–McNeil"),
}


def _exponential_spread(value: float, positives: float, negatives: float) -> float:
    # Q₁, the probability that two positives score above one negative, and Q₂, one positive above two negatives.
    above, below = value / (2 - value), 2 * value * value / (1 + value)
    square = value * value
    return value * (1 - value) + (positives - 1) * (above - square) + (negatives - 1) * (below - square)


def _find_edge(beyond: Callable[[float], bool], inside: float, end: float) -> float:
    """Find the end of a set between a member and a possible non-member, by bisection to the last bit."""
    if not beyond(end):
        return end
    near, far = inside, end
    for _ in range(64):
        middle = (near + far) / 2
        near, far = (near, middle) if beyond(middle) else (middle, far)
    return near


def _expit(x: float) -> float:
    # Two forms, since exp overflows for large arguments.
    return 1 / (1 + exp(-x)) if x > 0 else exp(x) / (1 + exp(x))


def _effective_rows(tally: Tally, row: int) -> float:
    """Return the effective number of rows of a class."""
    if not tally.weighted:
        return float(tally.rows[row].sum(dtype=np.int64))
    return float(round_if_close(ratio(float(tally.mass[row].sum()) ** 2, float(tally.squares[row].sum()))))


class AucInfluence(NamedTuple):
    """Influence of one row of each kind on several AUCs: a row for each model.

    `classes` holds a mask for each class; the variance of a sum is that of its parts, class by class.
    """

    slopes: Floats
    classes: Sequence[Bools]
    cells: UniqueRows

    def covariance(self, a: int, b: int) -> float:
        """Return the covariance of the AUCs of two models, by their places."""
        return _covariance(self, self.slopes[a], self.slopes[b])

    def variance_of_difference(self, a: int, b: int) -> float:
        """Return the variance of the difference, from that of every row: similar models would cancel."""
        difference = self.slopes[a] - self.slopes[b]
        return _covariance(self, difference, difference)


def auc_influence(cells: UniqueRows, models: Sequence[str]) -> AucInfluence:
    r"""Compute the influence of rows on AUCs, :math:`w_i(V_i-A)/\sum w` within a row's class [@delong1988].

    The placement V of a positive is the mass of negatives below it, ties half, over that of all negatives; for a
    negative, that of positives above it. The covariance is DeLong's; for clustered rows, Obuchowski's
    [@obuchowski1997clusters].

    >>> from baserate import Rows
    >>> from baserate.infer._model_bootstrap import unique_rows
    >>> rows = Rows(np.array([True, False, True, False]), {"p": np.array([0.9, 0.8, 0.7, 0.1])})
    >>> auc_influence(unique_rows(rows, ["p"]), ["p"]).covariance(0, 0)
    0.125
    """
    truth, mass = cells.truth, cells.mass
    slopes = np.stack([_placement_slopes(truth, cells.score[model], mass) for model in models])
    weight = 1.0 if cells.weight is None else cells.weight
    return AucInfluence(slopes * weight, (truth, ~truth), cells)


def _placement_slopes(truth: Bools, score: Floats, mass: Floats) -> Floats:
    true, false = np.where(truth, mass, 0.0), np.where(truth, 0.0, mass)
    order, ends, runs = rank_descending(score)
    positives, negatives = float(true.sum()), float(false.sum())
    above, below = (sum_to_midpoints(each[order], ends)[runs] for each in (true, false))
    placed = np.empty(len(score))
    placed[order] = np.where(truth[order], ratio(negatives - below, negatives), ratio(above, positives))
    area = ratio(float((true * placed).sum()), positives)
    return ratio(placed - area, np.where(truth, positives, negatives))


def _covariance(influence: AucInfluence, first: Floats, second: Floats) -> float:
    times = influence.cells.times
    if influence.cells.cluster is not None:
        return _cluster_covariance(influence, first * times, second * times)
    total = 0.0
    for members in influence.classes:
        rows = int(times[members].sum())
        total += (
            _bessel_factor(rows) * float(np.sum(times[members] * first[members] * second[members])) if rows else 0.0
        )
    return total


def _cluster_covariance(influence: AucInfluence, first: Floats, second: Floats) -> float:
    """Sum influence within clusters: Obuchowski's S₁₀, S₀₁ and S₁₁, each with its own factor I/(I − 1)."""
    cells, classes = influence.cells, influence.classes
    sums = [[cells.sum_by_cluster(np.where(members, each, 0.0)) for each in (first, second)] for members in classes]
    present = [cells.sum_by_cluster(members) > 0 for members in classes]
    total = 0.0
    for i, (one, _) in enumerate(sums):
        for j, (_, other) in enumerate(sums):
            clusters = np.count_nonzero(present[i]) if i == j else cells.clusters
            total += _bessel_factor(int(clusters)) * float(np.sum(one * other))
    return total


def _bessel_factor(rows: int) -> float:
    """Return n/(n − 1), the correction for one lost degree of freedom; NaN for a single row."""
    return rows / (rows - 1) if rows > 1 else nan


Standard = Literal["first", "second"] | None
CLOSED_SHARE = Domain(0.0, 1.0, "a number from 0 to 1", "0.8")


class ClassVariance(NamedTuple):
    """A variance or covariance of AUCs: the contributions of one positive and of one negative."""

    positive: float
    negative: float

    def at(self, positives: float, negatives: float) -> float:
        """Return the variance with that many rows of each class."""
        return self.positive / positives + self.negative / negatives

    def per_row(self, prevalence: float) -> float:
        """Return the variance times the number of rows."""
        return self.at(prevalence, 1 - prevalence)


@dataclass(frozen=True, slots=True)
class AucPair:
    """Two AUCs with the variances and covariance of their estimates.

    `delong_pair` computes it from pilot rows, `independent_pair` from tallies of separate rows, `binormal_pair` from
    two binormal curves, `reported_pair` from published variances, and `hypothetical_pair` from two AUCs alone.
    """

    first: float
    second: float
    variance: tuple[ClassVariance, ClassVariance]
    covariance: ClassVariance
    paired: bool = True
    """Whether both models are evaluated on the same rows."""

    __repr__ = short_repr

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            check_domain(name, getattr(self, name), CLOSED_SHARE)
        for one, other, both in zip(*self.variance, self.covariance, strict=True):
            # Tolerance, since all three numbers are rounded.
            if not (0 <= one < np.inf and 0 <= other < np.inf and both**2 <= one * other * (1 + 1e-9)):
                raise OptionError(
                    f"variances {one} and {other} and covariance {both} are impossible", remedy="check the numbers."
                )

    @property
    def difference(self) -> float:
        """Return the first AUC less the second."""
        return self.first - self.second

    def varying(self, standard: Standard = None) -> tuple[ClassVariance, ClassVariance]:
        """Return the variance of the difference under the null hypothesis, and under the alternative.

        Without a `standard` both are equal, and nothing changes when the models swap places: this is the variance that
        DeLong's test itself would use. With one, the other model is assumed to vary equally if it is as good, and their
        covariance to stay: pROC up to 1.19 takes its first curve as the standard. Where the covariance exceeds the
        variance of the standard there is no such variance, which raises an error.
        """
        if standard not in (None, "first", "second"):
            raise OptionError(
                f"standard is {standard!r}; expected 'first', 'second' or None.", option="standard", value=standard
            )
        one, other = (np.array(each) for each in self.variance)
        shared = 2 * np.array(self.covariance)
        real = np.maximum(one + other - shared, 0.0)
        zero = {"first": 2 * one - shared, "second": 2 * other - shared}.get(standard or "", real)
        if min(*zero, *real) < 0 and standard is not None:
            raise OptionError(
                f"the {standard} AUC varies less than it varies with the other, so it cannot be the standard",
                remedy=f"leave {keyword('standard')} out.",
            )
        return ClassVariance(*zero.tolist()), ClassVariance(*real.tolist())


def binormal_spread(auc: float) -> ClassVariance:
    """Return the AUC variance of normal scores, :math:`0.0099e^{-a^2/2}[(5a^2+8)/P+(a^2+8)/N]`, a = 1.414 Φ⁻¹(AUC).

    This is formula 3 of [@obuchowski2004], with the constants as printed in the paper, which pROC uses, too: 0.0099
    for 1/(32π) and 1.414 for √2. It omits the covariance of the two curve parameters, which would make the variance
    smaller, so sizes are conservative.

    Parameters
    ----------
    auc
        The AUC.

    Returns
    -------
    ClassVariance
        Contributions of one positive and of one negative.

    Examples
    --------
    >>> round(sqrt(binormal_spread(0.7).at(50, 50)), 4)
    0.0539
    """
    from scipy.special import ndtri

    square = (1.414 * float(ndtri(auc))) ** 2
    scale = 0.0099 * exp(-square / 2)
    return ClassVariance(scale * (5 * square + 8), scale * (square + 8))


@accepts_predictions("rows")
def delong_pair(rows: Rows, *, fpr: Rates = WHOLE, **predictions: Unpack[PredictionOptions]) -> AucPair:
    """Compute a pair from two models scored on the same pilot rows, with DeLong's variances [@delong1988].

    Parameters
    ----------
    rows
        Pilot rows with the scores of two models and no weights.
    fpr
        Interval of false positive rates, for partial areas: placements are then limited to it.

    Returns
    -------
    AucPair
        Areas, variances and covariance.

    Examples
    --------
    >>> truth = np.array([True, False, True, False])
    >>> pair = delong_pair(Rows(truth, {"old": np.array([2.0, 3, 4, 1]), "new": np.array([4.0, 1, 3, 2])}))
    >>> pair.first, pair.second, pair.variance[0]
    (0.75, 1.0, ClassVariance(positive=0.125, negative=0.125))
    """
    if len(rows.score) != 2:
        raise OptionError(
            f"the rows have scores of {count_of(len(rows.score), 'model')}; expected those of two models."
        )
    _check_unweighted(weighted=rows.weight is not None)
    many = np.ones(len(rows), dtype=np.int64) if rows.count is None else np.asarray(rows.count, dtype=np.int64)
    truth = np.repeat(rows.truth, many)
    scores = [np.repeat(np.asarray(score, dtype=np.float64), many) for score in rows.score.values()]
    _check_pilot_size(float(truth.sum()), float((~truth).sum()))
    placed = [place_rows(score[truth], score[~truth], fpr) for score in scores]
    above, below = np.cov([each.positive for each in placed]), np.cov([each.negative for each in placed])
    areas = [each.area for each in placed]
    parts = [ClassVariance(float(above[place]), float(below[place])) for place in ((0, 0), (1, 1), (0, 1))]
    return AucPair(areas[0], areas[1], (parts[0], parts[1]), parts[2])


@accepts_two("tally")
def independent_pair(first: Tally, second: Tally) -> AucPair:
    """Compute a pair from two models scored on separate pilot rows, with DeLong's variances [@delong1988].

    Parameters
    ----------
    first, second
        Tallies of both models.

    Returns
    -------
    AucPair
        AUCs and variances; the covariance is 0.

    Examples
    --------
    >>> from baserate import tally
    >>> pair = independent_pair(tally([1, 0, 1, 0], [2, 3, 4, 1]), tally([1, 0, 1, 0], [4, 1, 3, 2]))
    >>> pair.first, pair.second, pair.variance[0], pair.paired
    (0.75, 1.0, ClassVariance(positive=0.125, negative=0.125), False)
    """
    (one, varies), (other, too) = _auc_and_variance(first), _auc_and_variance(second)
    return AucPair(one, other, (varies, too), ClassVariance(0.0, 0.0), paired=False)


def binormal_pair(
    first: tuple[float, float],
    second: tuple[float, float],
    *,
    correlation: tuple[float, float],
    fpr: Rates = WHOLE,
) -> AucPair:
    r"""Compute a pair from two binormal ROC curves with parameters (a, b) and correlated scores.

    a is the distance of the means and b the standard deviation of the negatives, both over that of the positives; the
    AUC is :math:`Φ(a/\sqrt{1+b^2})`. Variances are formula 4 and covariances formula 5 of [@obuchowski1997], as in pROC
    (`power.roc.test` with `parslist`). Formula 4 omits the covariance of a and b, which is part of formula 5: sizes are
    up to twice too large where areas are high. With a = 2.6 and 1.9, b = 1 and correlations of 0.6, 151 rows of each
    class are planned for a power of 80% and reach 99%; 72 are enough (2000 simulated studies). `delong_pair` of pilot
    rows, or of rows that are simulated from such a population, gives sizes that reach the planned power.

    Parameters
    ----------
    first, second
        Parameters a and b of each curve.
    correlation
        Correlation of the scores among positives, and among negatives.
    fpr
        Interval of false positive rates, for partial areas.

    Returns
    -------
    AucPair
        Areas, variances and covariance.

    Examples
    --------
    >>> pair = binormal_pair((2.6, 1.0), (1.9, 1.0), correlation=(0.6, 0.6), fpr=(0, 0.2))
    >>> round(pair.first, 4), round(pair.second, 4)
    (0.1724, 0.136)
    """
    for name, each in (("correlation among positives", correlation[0]), ("among negatives", correlation[1])):
        _check_correlation(name, each)
    parts = [binormal_area(*curve, fpr) for curve in (first, second)]
    (a1, b1, f1, g1, area1), (a2, b2, f2, g2, area2) = parts
    sick, well = correlation
    covariance = ClassVariance(
        f1 * f2 * (sick + sick**2 * a1 * a2 / 2)
        + g1 * g2 * b1 * b2 * sick**2 / 2
        + sick**2 * (f1 * g2 * a1 * b2 + f2 * g1 * a2 * b1) / 2,
        b1 * b2 * (f1 * f2 * well + g1 * g2 * well**2 / 2),
    )
    one, other = (_binormal_variance(part) for part in parts)
    return AucPair(area1, area2, (one, other), covariance)


def _binormal_variance(part: BinormalArea) -> ClassVariance:
    """Return the variance of the area of a binormal curve: formula 4 of [@obuchowski1997]."""
    a, b, f, g, _ = part
    return ClassVariance(f * f * (1 + a * a / 2) + g * g * b * b / 2, b * b * (f * f + g * g / 2))


def reported_pair(
    first: float,
    second: float,
    *,
    variances: tuple[float, float],
    covariance: float,
    positives: float,
    negatives: float,
) -> AucPair:
    """Make a pair from two AUCs with the variances and the covariance that a study reports.

    The report does not say how much of them each class contributes; half is assumed. At the same prevalence this does
    not matter.

    Parameters
    ----------
    first, second
        Both AUCs.
    variances
        Variances of both.
    covariance
        Their covariance.
    positives, negatives
        Rows of the study.

    Returns
    -------
    AucPair
        AUCs, variances and covariance per row.
    """
    check_classes(positives, negatives)
    if not all(0 < each < np.inf for each in variances) or not abs(covariance) <= sqrt(variances[0] * variances[1]):
        raise OptionError(
            f"variances {variances} and covariance {covariance} are impossible", remedy="check the numbers."
        )
    one, other, both = (ClassVariance(each * positives / 2, each * negatives / 2) for each in (*variances, covariance))
    return AucPair(first, second, (one, other), both)


def hypothetical_pair(
    first: float,
    second: float,
    *,
    correlation: float | None = None,
    fpr: Rates | None = None,
    spread_ratio: float = 1.0,
) -> AucPair:
    """Make a pair from two AUCs of normal scores whose estimates have this correlation in each class [@hanley1983].

    Parameters
    ----------
    first, second
        Both AUCs; with `fpr`, both partial areas.
    correlation
        Correlation of the estimates; None if each model has rows of its own.
    fpr
        Interval of false positive rates, for partial areas. Their variances are those of DeLong's test for normal
        scores.
    spread_ratio
        Standard deviation of positives over that of negatives, for partial areas.

    Returns
    -------
    AucPair
        Areas, variances and covariance.

    Examples
    --------
    >>> pair = hypothetical_pair(0.12, 0.10, correlation=0.5, fpr=(0, 0.2))
    >>> round(sqrt(pair.variance[0].at(100, 100)), 4)
    0.0133
    """
    r = 0.0 if correlation is None else correlation
    _check_correlation("correlation", r)
    check_domain("spread_ratio", spread_ratio, SPREAD_RATIO)
    if fpr is not None:
        curves = [binormal_parameters(each, fpr, spread_ratio) for each in (first, second)]
        one, other = (ClassVariance(*placement_variances(*each, fpr)) for each in curves)
    else:
        for name, each in (("first", first), ("second", second)):
            check_domain(name, each, SHARE._replace(example="0.8"))
        if spread_ratio != 1:
            raise OptionError(
                "variances of whole areas assume equal spread in both classes",
                remedy=f"leave {keyword('spread_ratio')} out, or give {keyword('fpr', (0, 1))}.",
            )
        one, other = binormal_spread(first), binormal_spread(second)
    both = ClassVariance(*(r * sqrt(a * b) for a, b in zip(one, other, strict=True)))
    return AucPair(first, second, (one, other), both, paired=correlation is not None)


def check_classes(positives: float, negatives: float) -> None:
    """Raise if numbers of rows are not positive."""
    if not (0 < positives < np.inf and 0 < negatives < np.inf):
        raise OptionError(
            f"{there_are(positives, 'positive')} and {count_of(negatives, 'negative')}", remedy="give numbers above 0."
        )


def _auc_and_variance(tally: Tally) -> tuple[float, ClassVariance]:
    _check_unweighted(weighted=tally.weighted)
    positive, negative = (np.asarray(each, dtype=np.float64) for each in tally.mass)
    _check_pilot_size(positive.sum(), negative.sum())
    # Scores fall, so cumulative sums count the rows above each score.
    below = 1 - (np.cumsum(negative) - negative / 2) / negative.sum()
    above = (np.cumsum(positive) - positive / 2) / positive.sum()
    auc = float(np.sum(positive * below) / positive.sum())
    parts = [
        float(np.sum(mass * (place - auc) ** 2) / (mass.sum() - 1))
        for mass, place in ((positive, below), (negative, above))
    ]
    return auc, ClassVariance(*parts)


def _check_unweighted(*, weighted: bool) -> None:
    if weighted:
        raise OptionError("the rows have weights, which a pilot study cannot use", remedy="leave them out.")


def _check_pilot_size(positives: float, negatives: float) -> None:
    if min(positives, negatives) < 2:
        raise EmptyDataError("the pilot has fewer than two rows of a class", remedy="give at least two of each.")


def _check_correlation(name: str, value: float) -> None:
    if not -1 <= value <= 1:
        raise OptionError(f"{name} is {value!r}; expected a number from -1 to 1.", option=name, value=value)
