"""Variances in closed form by influence functions, and bounds from a value and its variance.

A smooth function of the masses at each score has, to first order, the variance Σ w²·(∂value/∂w)², summed over rows. The
derivatives below are exact; each takes one pass over the scores. Variances are estimated, so bounds use t quantiles
with degrees of freedom from fourth moments. Log losses with a heavy tail have no valid interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import exp, expm1, inf, isfinite, isinf, log, log1p, sqrt
from typing import Any, NamedTuple

import numpy as np

from baserate._arrays import Cells, Floats, distances, ratio
from baserate._curve import Curve
from baserate._numeric.cumulative import cumulative_blocks
from baserate._tally import Tally
from baserate.infer._binomial import (
    LARGE_FREEDOM,
    normal_quantile,
    proportion_from_variance,
    t_widening,
    tail_probability,
    wilson,
    wilson_or_exact,
)
from baserate.measure import (
    Measure,
    auc,
    average_precision,
    brier,
    brier_skill,
    cap_area,
    discrimination_index,
    discrimination_slope,
    generalized_fnr,
    generalized_fpr,
    log_auc,
    log_loss,
    log_loss_skill,
    log_uncertainty,
    nagelkerke_r2,
    partial_auc,
    pr_auc,
    quality_index,
    recalibrated_probabilities,
    unwrap_options,
)

_PLAUSIBLE_MISSES = 3.0
"""Expected number of outcomes where the probability that none occurs is 5%."""


class VarianceComponent(NamedTuple):
    """Contribution of the rows of a class to a variance."""

    variance: float
    fourth: float
    """Sum of the fourth powers of row contributions, which shows whether few rows dominate."""
    rows: float

    @staticmethod
    def of_rows(contributions: Floats, times: Cells) -> VarianceComponent:
        """Sum the contributions of rows, each as often as it occurs."""
        second, fourth = (float(np.sum(times * contributions**power)) for power in (2, 4))
        return VarianceComponent.of(second, fourth, float(times.sum()))

    @staticmethod
    def of(second: float, fourth: float, rows: float) -> VarianceComponent:
        """Correct sums of second and fourth powers of row contributions for one lost degree of freedom."""
        if rows == 1:
            return VarianceComponent(inf, inf, rows)
        bessel = ratio(rows, rows - 1)
        return VarianceComponent(bessel * second, bessel**2 * fourth, rows)

    @property
    def uncertainty(self) -> float:
        """Return half the variance of the variance."""
        return max(self.fourth - self.variance**2 / self.rows, 0.0) / 2 if self.rows > 1 else 0.0


class InfluenceVariance(NamedTuple):
    """A value and its variance, by class."""

    value: float
    positive_part: VarianceComponent
    negative_part: VarianceComponent
    unseen_variance: float = 0.0
    """Variance of plausible outcomes with more influence than any in the sample; 0 for measures of ranks."""

    @property
    def variance(self) -> float:
        """Return the observed variance of both classes."""
        return self.positive_part.variance + self.negative_part.variance

    @property
    def freedom(self) -> float:
        """Return the degrees of freedom of the observed variance."""
        return degrees_of_freedom([self.positive_part, self.negative_part])

    @property
    def positives(self) -> float:
        """Return the rows of the positive class."""
        return self.positive_part.rows

    @property
    def negatives(self) -> float:
        """Return the rows of the negative class."""
        return self.negative_part.rows

    @property
    def smaller_class(self) -> float:
        """Return the rows of the smaller class."""
        return min(self.positives, self.negatives)


class Block(NamedTuple):
    """Some scores of a tally that fit the cache, with cumulative masses before and after each of them."""

    score: Floats
    true: Floats
    """Cumulative mass of positives: one entry more than there are scores."""
    false: Floats
    squares: Cells
    rows: Cells


Slopes = Iterator[tuple[Block, Floats, Floats]]
"""Derivatives with respect to the mass of positives and of negatives at each score, block by block."""


def degrees_of_freedom(parts: Sequence[VarianceComponent]) -> float:
    """Return the degrees of freedom of a variance with these components, by Welch and Satterthwaite.

    The result is smaller where a few rows contribute most of the variance, as fourth moments show [@satterthwaite1946].
    """
    usual = sum(part.variance**2 / (part.rows - 1) for part in parts if part.variance > 0 and part.rows > 1)
    uncertainty = max(usual, sum(part.uncertainty for part in parts))
    return float(sum(part.variance for part in parts) ** 2 / uncertainty) if uncertainty > 0 else inf


def influence_variance(measure: Measure, tally: Tally, value: float | None = None) -> InfluenceVariance:
    """Compute the value and variance of a measure that has a closed form.

    Pass `value` to save its computation. Where the class shares are fixed, only differences within a class are random,
    and the variance of unsampled outcomes, which the probabilities imply, is omitted.
    """
    value = _evaluate(measure, tally) if value is None else value
    rows = [float(row) for row in tally.rows.sum(axis=1, dtype=np.int64)]
    sums, largest = np.zeros((2, 2)), 0.0
    for block, *slopes in (
        _slopes_within_classes(measure, tally, value) if tally.reweighed else _SLOPES[measure](tally, value)
    ):
        for at, slope in enumerate(slopes):
            second, fourth, most = _power_sums(block.squares[at], block.rows[at], slope)
            sums[at] += second, fourth
            largest = max(largest, most)
    parts = [
        VarianceComponent.of(float(second), float(fourth), row)
        for (second, fourth), row in zip(sums, rows, strict=True)
    ]
    probable = measure not in (*_CURVE_MEASURES, *_CLASS_MEANS) and not tally.reweighed
    return InfluenceVariance(
        value, parts[0], parts[1], _unseen_variance(measure, tally, value, largest) if probable else 0.0
    )


def _unseen_variance(measure: Measure, tally: Tally, value: float, largest: float) -> float:
    """Return the variance of outcomes whose squared slope exceeds the largest of those sampled.

    By the probabilities, E of them are expected, and none was sampled. Up to :math:`E=3` that is plausible, with a
    probability of 5% or more, and they count in full: a few rows of a confident model may lack the large losses that
    make most of its variance. Beyond, they count :math:`e^{3-E}` times: then the probabilities are too moderate.
    """
    variance = expected = 0.0
    for block, *slopes in _SLOPES[measure](tally, value):
        squares, rows = (cells.sum(axis=0, dtype=np.float64) for cells in (block.squares, block.rows))
        for slope, chance in zip(slopes, (block.score, 1 - block.score), strict=True):
            larger = np.flatnonzero(np.square(slope) > largest)
            probable = larger[chance[larger] > 0]
            expected += float(np.sum(rows[probable] * chance[probable]))
            variance += float(np.sum(squares[probable] * chance[probable] * np.square(slope[probable])))
    return variance * min(1.0, exp(_PLAUSIBLE_MISSES - expected))


def has_influence(measure: Measure) -> bool:
    """Return whether a measure has a closed-form variance."""
    return measure in _SLOPES


def influence_slopes(measure: Measure, tally: Tally) -> tuple[float, Floats, Floats]:
    """Return the value of a measure that has a closed form, and its slopes for both classes at every score."""
    value = _evaluate(measure, tally)
    parts = list(_SLOPES[measure](tally, value))
    return value, np.concatenate([true for _, true, _ in parts]), np.concatenate([false for *_, false in parts])


def _evaluate(measure: Measure, tally: Tally) -> float:
    return float(measure(Curve(tally) if measure in _CURVE_MEASURES else tally))


def _iterate_blocks(t: Tally) -> Iterator[Block]:
    start = 0
    for true, false in cumulative_blocks(t.mass):
        place = slice(start, start + len(true) - 1)
        yield Block(t.score[place], true, false, t.squares[:, place], t.rows[:, place])
        start = place.stop


def _slopes_within_classes(measure: Measure, t: Tally, value: float) -> Slopes:
    """Iterate over slopes less their mean in each class: the contribution of a row at fixed class masses."""
    sums = np.zeros(2)
    for block, *slopes in _SLOPES[measure](t, value):
        masses = np.diff(block.true), np.diff(block.false)
        sums += [_weighted_sum(mass, slope) for mass, slope in zip(masses, slopes, strict=True)]
    true_mean, false_mean = np.nan_to_num(ratio(sums, np.array([t.positives, t.negatives])))
    for block, true, false in _SLOPES[measure](t, value):
        yield block, distances(true, true_mean), distances(false, false_mean)


def _weighted_sum(mass: Floats, slope: Floats) -> float:
    """Sum slopes times masses; an infinite slope does not matter where the mass is 0."""
    with np.errstate(invalid="ignore"):
        total = float(np.dot(mass, slope))
    return total if isfinite(total) else float(np.dot(mass[mass > 0], slope[mass > 0]))


def _power_sums(squares: Cells, rows: Cells, slope: Floats) -> tuple[float, float, float]:
    """Return sums of the second and fourth powers of row contributions, and the largest squared slope.

    Rows at one score count as identical.
    """
    occupied = np.flatnonzero(rows != 0)  # of Booleans, which takes a third of the time
    power = np.square(slope[occupied])
    second = squares[occupied] * power
    return float(np.sum(second)), float(np.sum(np.square(second) / rows[occupied])), float(power.max(initial=0.0))


def _brier_slopes(t: Tally, value: float) -> Slopes:
    total = t.total  # a sum over all scores, computed once for all blocks
    for block in _iterate_blocks(t):
        yield block, (np.square(1 - block.score) - value) / total, (np.square(block.score) - value) / total


def _generalized_fpr_slopes(t: Tally, value: float) -> Slopes:
    negatives = t.negatives
    for block in _iterate_blocks(t):
        yield block, np.zeros(len(block.score)), (block.score - value) / negatives


def _generalized_fnr_slopes(t: Tally, value: float) -> Slopes:
    positives = t.positives
    for block in _iterate_blocks(t):
        yield block, (1 - block.score - value) / positives, np.zeros(len(block.score))


def _log_loss_slopes(t: Tally, value: float) -> Slopes:
    total = t.total
    for block in _iterate_blocks(t):
        with np.errstate(divide="ignore"):  # the logarithm of 0
            true, false = -np.log(block.score), -np.log1p(-block.score)
        yield block, (true - value) / total, (false - value) / total


def _skill_slopes(loss: Slopes, t: Tally, value: float, change: float, constant: float) -> Slopes:
    """Return the slopes of 1 − loss/constant, from those of the loss and the derivative of the constant."""
    share = t.prevalence
    part = (1 - value) * change / constant / t.total
    for block, true, false in loss:
        yield block, part * (1 - share) - true / constant, -part * share - false / constant


def _brier_skill_slopes(t: Tally, value: float) -> Slopes:
    share = t.prevalence
    constant = share * (1 - share)
    return _skill_slopes(_brier_slopes(t, (1 - value) * constant), t, value, 1 - 2 * share, constant)


def _log_loss_skill_slopes(t: Tally, value: float) -> Slopes:
    share, rest = t.prevalence, 1 - t.prevalence
    entropy = -share * log(share) - rest * log(rest)
    return _skill_slopes(_log_loss_slopes(t, (1 - value) * entropy), t, value, log(rest / share), entropy)


def _entropy_slopes(t: Tally) -> tuple[float, float]:
    """Return the slopes of the entropy of the outcome for both classes."""
    share, rest = t.prevalence, 1 - t.prevalence
    change = log(rest / share) / t.total
    return change * rest, -change * share


def _discrimination_slopes(t: Tally, _value: float) -> Slopes:
    """Return the slopes of twice the difference of entropy and log loss."""
    of_true, of_false = _entropy_slopes(t)
    for block, true, false in _log_loss_slopes(t, float(log_loss(t))):
        yield block, 2 * (of_true - true), 2 * (of_false - false)


def _mean_difference_slopes(t: Tally, _value: float) -> Slopes:
    """Return the slopes of the mean probability of positives less that of negatives."""
    true_mean, false_mean = (float(np.sum(mass * t.score)) / float(mass.sum()) for mass in t.mass)
    for block in _iterate_blocks(t):
        yield block, (block.score - true_mean) / t.positives, (false_mean - block.score) / t.negatives


def _nagelkerke_slopes(t: Tally, value: float) -> Slopes:
    r"""Return the slopes of :math:`(1-e^{-a})/m`, where a is twice the gain, and :math:`m=1-e^{-2H}` its maximum."""
    entropy = float(log_uncertainty(t))
    most = -expm1(-2 * entropy)
    of_true, of_false = (2 * (1 - most) * value / most * each for each in _entropy_slopes(t))
    for block, true, false in _discrimination_slopes(t, value):
        factor = 1 / most - value  # e^{-a}/m
        yield block, factor * true - of_true, factor * false - of_false


def _quality_slopes(t: Tally, _value: float) -> Slopes:
    """Return the slopes of 2H − 4LL + 2LL of the recalibration line, whose coefficients are at their optimum."""
    p = recalibrated_probabilities(t)
    with np.errstate(divide="ignore"):
        losses = -np.log(p), -np.log1p(-p)
    mean = (
        sum(_weighted_sum(np.asarray(mass, dtype=np.float64), loss) for mass, loss in zip(t.mass, losses, strict=True))
        / t.total
    )
    of_true, of_false = _entropy_slopes(t)
    start = 0
    for block, true, false in _log_loss_slopes(t, float(log_loss(t))):
        place = slice(start, start + len(block.score))
        start = place.stop
        on_line = [(loss[place] - mean) / t.total for loss in losses]
        yield block, 2 * (of_true - 2 * true + on_line[0]), 2 * (of_false - 2 * false + on_line[1])


def _average_precision_slopes(t: Tally, value: float) -> Slopes:
    r"""Return slopes of :math:`\frac1P\sum_k p_kT_k/F_k`: T and F are the true positives and all flagged rows at k.

    A row changes the precision at its own threshold and at all laxer ones: a positive by (1 − T/F)/F, a negative by
    −T/F².
    """
    positives = t.positives
    less, more = (sum(float(part.sum()) for part in parts) for parts in zip(*_precision_gains(t), strict=True))
    for block, (loss, gain) in zip(_iterate_blocks(t), _precision_gains(t), strict=True):
        flagged = np.maximum(block.true[1:] + block.false[1:], np.finfo(float).tiny)
        # The sum over laxer thresholds is the total less the sum over stricter ones.
        true, false = less - (np.cumsum(loss) - loss), more - (np.cumsum(gain) - gain)
        less, more = less - float(loss.sum()), more - float(gain.sum())
        yield block, (block.true[1:] / flagged - value + true) / positives, -false / positives


def _precision_gains(t: Tally) -> Iterator[tuple[Floats, Floats]]:
    """Yield the gain of positives at each threshold from one more positive, and their loss from one more negative."""
    for block in _iterate_blocks(t):
        # Masses of 0 at the strictest scores would make 0/0; nothing over the smallest float is 0, as it should be.
        flagged = np.maximum(block.true[1:] + block.false[1:], np.finfo(float).tiny)
        precision = block.true[1:] / flagged
        gained = np.diff(block.true) / flagged
        yield gained * (1 - precision), gained * precision


def _auc_slopes(t: Tally, value: float) -> Slopes:
    """Return placements less the area: those of positives, :math:`(V_{10}-A)/P`, and of negatives [@delong1988]."""
    positives, negatives = t.positives, t.negatives
    for block in _iterate_blocks(t):
        below = 1 - (block.false[1:] + block.false[:-1]) / (2 * negatives)
        above = (block.true[1:] + block.true[:-1]) / (2 * positives)
        yield block, (below - value) / positives, (above - value) / negatives


def _cap_area_slopes(t: Tally, value: float) -> Slopes:
    """Return the slopes of :math:`π/2+(1-π)AUC`."""
    share = t.prevalence
    area = (value - share / 2) / (1 - share)
    shift = (0.5 - area) / t.total
    for block, true, false in _auc_slopes(t, area):
        yield block, (1 - share) * (shift + true), (1 - share) * false - share * shift


_CURVE_MEASURES = (auc, average_precision, cap_area)
_CLASS_MEANS = (generalized_fpr, generalized_fnr)
"""Means of scores within a class, which do not depend on the outcomes of other rows."""
_SLOPES: dict[Measure, Callable[[Tally, float], Slopes]] = {
    auc: _auc_slopes,
    brier: _brier_slopes,
    brier_skill: _brier_skill_slopes,
    generalized_fnr: _generalized_fnr_slopes,
    generalized_fpr: _generalized_fpr_slopes,
    log_loss: _log_loss_slopes,
    log_loss_skill: _log_loss_skill_slopes,
    discrimination_index: _discrimination_slopes,
    discrimination_slope: _mean_difference_slopes,
    nagelkerke_r2: _nagelkerke_slopes,
    quality_index: _quality_slopes,
    average_precision: _average_precision_slopes,
    cap_area: _cap_area_slopes,
}


class Bounds(NamedTuple):
    """Bounds of a number, the method that made them, and the reason where they are undefined."""

    low: float
    high: float
    how: str
    why: str | None = None


SMALL_CLASS = 100
"""Rows of the smaller class below which a number in [0, 1] never counts with more trials than rows."""

UNSEEN_DEPTH = 0.75
"""Share of the other class beyond which rows of an unseen subgroup are assumed to rank; see `unseen_loss`."""


_SMALL_SKILL_CLASS = 10
"""Rows of the smaller class up to which a skill never counts with more trials than rows."""

Limits = tuple[float, float]


class Moments(NamedTuple):
    """A number in [0, 1], its variance, and the rows it rests on."""

    value: float
    variance: float
    freedom: float
    """Degrees of freedom of the variance."""
    rows: float
    """Rows of the smaller class, on which the number rests."""


def unseen_loss(rows: float, level: float) -> float:
    """Return the share of a ranking's value that a subgroup of a class may cost that the sample lacks.

    A share :math:`e=1-(α/2)^{1/r}` of a class is absent from r of its rows with probability α/2, where α = 1 − level
    (the rule of three [@hanley1983rule]). If such rows score like the other class, an AUC of A falls to A(1 − e/2); if
    they rank beyond all of it, to A(1 − e). `UNSEEN_DEPTH` lies between. For a subgroup that ranks beyond up to three
    quarters of the other class, the bound fails no more often than stated; for the worst one, at 95%, in 6.3% of
    samples instead of 2.5%.

    >>> round(unseen_loss(100, 0.95), 4)
    0.0272
    """
    # 1 − (α/2)^(1/r) by expm1: with many rows the power is near 1, and the difference would lose digits.
    return -UNSEEN_DEPTH * expm1(log(tail_probability(level) / 2) / rows) if rows > 0 else UNSEEN_DEPTH


_IDENTITY: tuple[Callable[[Any], Any], Callable[[Any], Any]] = (lambda value: value, lambda value: value)
_SCALES: Mapping[Limits, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    (0, inf): (np.log, np.exp),
    (-1, 1): (np.arctanh, np.tanh),
    (-inf, 1): (lambda value: np.log1p(-value), lambda value: -np.expm1(value)),
}


def find_scale(span: Limits) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return a function to an unbounded scale for numbers of a span, and its inverse; else the identity."""
    return _SCALES.get(span, _IDENTITY)


def scale_interval(bounds: Limits, value: float, span: Limits, factor: float) -> Limits:
    """Move bounds that many times as far from a value, on the scale of its span; unchanged where one is at an end."""
    transform, inverse = find_scale(span)
    with np.errstate(divide="ignore", invalid="ignore"):
        low, middle, high = (float(transform(each)) for each in (bounds[0], value, bounds[1]))
    if factor == 1 or not (isfinite(low) and isfinite(middle) and isfinite(high)):
        return bounds
    # Sorted, since the scale of skills, log(1 − value), falls.
    ends = sorted(float(inverse(middle + factor * (end - middle))) for end in (low, high))
    return ends[0], ends[1]


class Units(NamedTuple):
    """Independent rows or clusters that get random weights, and those added as a prior."""

    observed: float = inf
    prior: float = 0.0

    @property
    def is_few(self) -> bool:
        """Return whether there are so few units that intervals need a correction."""
        return self.observed < LARGE_FREEDOM


def stretch_percentiles(bounds: Limits, value: float, units: Units, level: float) -> Limits:
    r"""Widen percentiles of samples with random weights to the width of t intervals [@hesterberg2015].

    Samples with weights for n units vary :math:`\frac{n-1}{n+1}` times as much as means of n do, and that variance is
    estimated from n units. A prior compensates for the first, and counts for the second.

    >>> [round(bound, 4) for bound in stretch_percentiles((-1.0, 2.0), 0.0, Units(10), 0.95)]
    [-1.276, 2.552]
    """
    if not units.is_few or isinf(value):
        return bounds
    observed, prior = max(units.observed, 2.0), units.prior
    factor = t_widening(observed + prior - 1, level) * (1.0 if prior else sqrt((observed + 1) / (observed - 1)))
    return value - factor * (value - bounds[0]), value + factor * (bounds[1] - value)


def bound_fraction(moments: Moments, level: float) -> Limits:
    """Return Wilson's interval of a proportion with this variance; with few rows, of no more trials than rows."""
    trials = proportion_from_variance(moments.value, moments.variance, min(moments.rows, moments.freedom + 1)).trials
    trials /= t_widening(moments.freedom, level) ** 2
    if moments.rows < SMALL_CLASS:
        trials = min(trials, moments.rows)
        return wilson(moments.value * trials, (1 - moments.value) * trials, level)
    return wilson_or_exact(moments.value * trials, (1 - moments.value) * trials, level)


def bound_positive_mean(value: float, variance: float, level: float) -> Limits:
    r"""Return the score interval of a mean θ > 0, :math:`(\hat θ-θ)^2\le z^2 V θ/\hat θ`.

    The variance of a mean of losses grows with it, as that of a count does: a few large losses make most of it.

    >>> [round(bound, 3) for bound in bound_positive_mean(10.0, 10.0, 0.95)]  # the score interval of a Poisson mean
    [5.432, 18.409]
    """
    if value == 0:
        return 0.0, 0.0
    grown = normal_quantile(level) ** 2 * variance / value
    high = value + grown / 2 + sqrt(grown * value + grown**2 / 4)
    # The product of both roots is the square of the value; their difference would cancel where the lower one is small.
    return value**2 / high, high


def influence_interval(measure: Measure, tally: Tally, value: float, level: float) -> Limits:
    """Bound a measure that has a closed-form variance."""
    spread = influence_variance(measure, tally, value)
    low, high = _BOUNDS[measure](spread, level)
    if measure is average_precision and tally.negatives:
        loss = unseen_loss(spread.positives, level)
        # Unseen positives may rank below all others, or high up. Half the distance was enough in simulations; without
        # it, intervals of ten positives among a thousand rows covered 92%.
        low, high = min(low, value * (1 - loss)), max(high, value + (1 - value) * loss / 2)
        if low > value - _max_unseen_loss(tally, level):  # with many rows it cannot matter, and is not computed
            low = min(low, unseen_area(measure, tally, value, level))
    return low, high


def unseen_area(measure: Measure, tally: Tally, value: float, level: float) -> float:
    """Return the area under the precision–recall curve if unsampled negatives exist above all scores.

    The precision at the strictest thresholds rests on few or no negatives: few rows cannot show a false positive rate
    as small as matters. Without this, intervals covered 85% in place of 95% where 0.2% of 900 negatives scored above
    all positives, and 42 to 90% where each of 100 to 500 negatives weighed eight positives and more.
    """
    rows = ratio(tally.negatives**2, float(tally.squares[1].sum(dtype=np.float64)))
    above = tally.negatives * unseen_loss(rows, level)
    part = tally.negatives / (tally.negatives + above)
    mass = np.asarray(tally.mass, dtype=np.float64)
    cells = np.column_stack([[0.0, above * part], mass * [[1.0], [part]]])
    score = np.arange(len(tally.score), -1.0, -1.0)  # arbitrary numbers: only their order counts
    return min(value, float(measure(Curve(Tally(score, cells, cells, np.column_stack([[0, 1], tally.rows]))))))


def _max_unseen_loss(tally: Tally, level: float) -> float:
    r"""Return the largest effect of `unseen_area`, :math:`\frac cP(1+\ln(1+\frac Pc))` for c more negatives."""
    rows = ratio(tally.negatives**2, float(tally.squares[1].sum(dtype=np.float64)))
    part = tally.negatives * unseen_loss(rows, level) / tally.positives
    return part * (1 + log1p(1 / part))


def _bound_average_precision(spread: InfluenceVariance, level: float) -> Limits:
    # Half the degrees of freedom: a sample of a sharp model may lack the rows that make most of the variance. A low
    # value rests on all rows flagged before most positives, so on more rows than there are positives.
    rows = spread.positives * max(1.0, ratio(1 - spread.value, spread.value))
    return bound_fraction(Moments(spread.value, spread.variance, spread.freedom / 2, rows), level)


def _total_variance(spread: InfluenceVariance, level: float) -> float:
    """Return the observed variance, with a t quantile since it is estimated, plus that of unsampled large losses."""
    return spread.variance * t_widening(spread.freedom, level) ** 2 + spread.unseen_variance


def _bound_brier(spread: InfluenceVariance, level: float) -> Limits:
    share = proportion_from_variance(spread.value, _total_variance(spread, level), spread.positives + spread.negatives)
    return wilson_or_exact(share.hits, share.misses, level)


def _bound_negatives_mean(spread: InfluenceVariance, level: float) -> Limits:
    """Bound a mean of numbers between 0 and 1 over the negatives."""
    share = proportion_from_variance(spread.value, _total_variance(spread, level), spread.negatives)
    return wilson_or_exact(share.hits, share.misses, level)


def _bound_positives_mean(spread: InfluenceVariance, level: float) -> Limits:
    """Bound a mean of numbers between 0 and 1 over the positives."""
    share = proportion_from_variance(spread.value, _total_variance(spread, level), spread.positives)
    return wilson_or_exact(share.hits, share.misses, level)


def _bound_log_loss(spread: InfluenceVariance, level: float) -> Limits:
    return bound_positive_mean(spread.value, _total_variance(spread, level), level)


def _bound_skill(spread: InfluenceVariance, level: float) -> Limits:
    """Bound a skill through the remaining share of the loss, which is positive."""
    left = 1 - spread.value
    variance = _total_variance(spread, level)
    if 0 < left < 1:
        # Ten rows of a class rarely include the few with extreme scores; more rows do.
        variance = max(
            variance, left * (1 - left) / spread.smaller_class * min(_SMALL_SKILL_CLASS / spread.smaller_class, 1.0)
        )
    low, high = bound_positive_mean(left, variance, level)
    return 1 - high, 1 - low


def _bound_symmetrically(spread: InfluenceVariance, level: float) -> Limits:
    reach = normal_quantile(level) * sqrt(_total_variance(spread, level))
    return spread.value - reach, spread.value + reach


_BOUNDS: dict[Measure, Callable[[InfluenceVariance, float], Limits]] = {
    average_precision: _bound_average_precision,
    brier: _bound_brier,
    brier_skill: _bound_skill,
    generalized_fnr: _bound_positives_mean,
    generalized_fpr: _bound_negatives_mean,
    log_loss: _bound_log_loss,
    log_loss_skill: _bound_skill,
    nagelkerke_r2: _bound_skill,
    discrimination_index: _bound_symmetrically,
    discrimination_slope: _bound_symmetrically,
    quality_index: _bound_symmetrically,
}
CLOSED_FORM = tuple(_BOUNDS)
"""Measures with an interval from their influence function."""
UNBOUNDED = (log_loss, log_loss_skill, nagelkerke_r2, discrimination_index, quality_index)
"""Measures whose expectation may be infinite."""


def moments_of_samples(value: float, samples: Floats, span: Limits, rows: float, freedom: float) -> Moments:
    """Return moments of a number within its span from bootstrap samples, corrected for their bias.

    With n weights they vary (n − 1)/(n + 1) times as much as the number does.
    """
    least, most = span
    width, freedom = most - least, max(freedom, 1.0)
    bias = float(np.mean(samples)) - value
    middle = min(max(value - bias, least), most)
    variance = float(np.var(samples)) * (1 + 2 / freedom)
    return Moments((middle - least) / width, variance / width**2, freedom, rows)


def bootstrap_freedom(measure: Measure, tally: Tally) -> float:
    """Return the degrees of freedom of a bootstrap variance: those of the smaller class, or fewer.

    Those of an area under the precision–recall curve are as few as for average precision; part of a ROC curve rests on
    the rows that lie in it.
    """
    rows = [float(row) for row in tally.rows.sum(axis=1, dtype=np.int64)]
    if measure is pr_auc:
        return min(influence_variance(average_precision, tally).freedom, min(rows) - 1)
    options = measure.keywords if isinstance(measure, partial) else {}
    if unwrap_options(measure) is log_auc:
        rows[1] *= options.get("fpr", (0.001, 0.1))[1]
    if unwrap_options(measure) is partial_auc:
        for which, name in enumerate(("tpr", "fpr")):
            low, high = options.get(name) or (0.0, 1.0)
            rows[which] *= high - low
    return min(rows) - 1


HEAVY = (
    "the largest losses have a heavy tail (Pareto shape {shape:.2f}): the expected loss or its variance may be "
    "infinite, so that no interval is valid"
)

_MIN_LOSSES, _MAX_LOSSES = 20, 1000
"""Fewest and most losses to which a tail is fitted."""
_TAIL_ROWS = 2 * _MAX_LOSSES + 2
_SIGNIFICANT = 3.3
"""Standard errors above 0, the shape of exponential tails, at which a tail is significantly heavier."""
_ONE_SIDED = 1.645
"""Standard errors of a one-sided 95% bound."""
_INFINITE_VARIANCE = 0.5
"""Shape above which the variance is infinite; above 1 the mean is, too."""


def explain_heavy_tail(tally: Tally) -> str | None:
    r"""Return the reason why the log loss has no interval, or None.

    A generalized Pareto distribution is fitted to the log-odds of rows on the wrong side of ½, to all of them and to
    the larger half, where the loss is about as large as they are. The tail is too heavy if its shape ξ significantly
    exceeds 0, that of exponential tails, and the upper bound :math:`ξ+1.645(1+ξ)/\sqrt k` reaches ½, from which the
    variance is infinite [@vehtari2024]. Fewer than 1% of models with normal or exponential tails are rejected.
    """
    beyond = _error_log_odds(tally)
    for number in (len(beyond), len(beyond) // 2):
        tail = _find_excesses(beyond, number)
        if len(tail) < _MIN_LOSSES or tail.max() < (1 + log(len(tail))) * tail.mean():
            continue  # no heavier than exponential: the maximum is below that of as many exponential variables
        shape, error = pareto_shape(tail), 1 / sqrt(len(tail))
        if shape > _SIGNIFICANT * error and shape + _ONE_SIDED * (1 + shape) * error >= _INFINITE_VARIANCE:
            return HEAVY.format(shape=shape)
    return None


def pareto_shape(excess: Floats) -> float:
    """Estimate the shape ξ of a generalized Pareto distribution of positive numbers.

    This is the posterior mean of Zhang and Stephens: the likelihood, profiled over the shape, averaged over a grid of
    :math:`θ=-ξ/σ` [@zhang2009].
    """
    x = np.sort(excess)
    points = 30 + int(sqrt(len(x)))
    quartile = x[max(int(len(x) / 4 + 0.5) - 1, 0)]
    theta = 1 / x[-1] + (1 - np.sqrt(points / (np.arange(1, points + 1) - 0.5))) / (3 * quartile)
    shape = np.log1p(-theta[:, None] * x).mean(axis=1)
    likelihood = len(x) * (np.log(-theta / shape) - shape - 1)
    weight = np.exp(likelihood - likelihood.max())
    return float(np.log1p(-(theta @ weight / weight.sum()) * x).mean())


def _find_excesses(beyond: Floats, number: int) -> Floats:
    """Return how far the largest of descending positive numbers exceed the next one, or 0."""
    number = min(number, _MAX_LOSSES)
    excess = beyond[:number] - (beyond[number] if number < len(beyond) else 0.0)
    return excess[excess > 0]


def _error_log_odds(tally: Tally) -> Floats:
    """Return the largest log-odds of rows on the wrong side of ½, in descending order."""
    parts = []
    for rows, score, side in ((tally.rows[1], tally.score, 1), (tally.rows[0, ::-1], tally.score[::-1], -1)):
        end = np.searchsorted(-side * score, -side * 0.5)
        occupied = np.flatnonzero(rows[:end] != 0)[:_TAIL_ROWS]
        p, times = score[occupied], np.minimum(rows[occupied].astype(np.int64), _TAIL_ROWS)
        # Not clipped, unlike log-odds of a recalibration line: the tail itself is of interest.
        with np.errstate(divide="ignore"):
            parts.append(np.repeat(side * (np.log(p) - np.log1p(-p)), times))
    log_odds: Floats = np.sort(np.concatenate(parts))[::-1][:_TAIL_ROWS]
    return log_odds[np.isfinite(log_odds)]
