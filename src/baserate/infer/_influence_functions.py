"""Influence functions: closed-form variances of AUC, average precision, Brier score and log loss.

A smooth function of the masses at each score has, to first order, the variance Σ w²·(∂value/∂w)², summed over rows. The
derivatives below are exact; each takes one pass over the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import exp, inf, isfinite, log
from typing import NamedTuple

import numpy as np

from baserate._arrays import Cells, Floats, distances, ratio
from baserate._curve import Curve
from baserate._numeric.cumulative import cumulative_blocks
from baserate._tally import Tally
from baserate.measure import Measure, auc, average_precision, brier, brier_skill, cap_area, log_loss, log_loss_skill

_PLAUSIBLE_MISSES = 3.0
"""Expected number of outcomes of which none occurs with a probability of 5%."""


class VarianceComponent(NamedTuple):
    """Contribution of the rows of a class to a variance."""

    variance: float
    fourth: float
    """Sum of the fourth powers of row contributions, which shows whether few rows dominate."""
    rows: float

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
    probable = measure not in _CURVE_MEASURES and not tally.reweighed
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
            there = np.flatnonzero(np.square(slope) > largest)
            probable = there[chance[there] > 0]
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
    there = np.flatnonzero(rows)
    power = np.square(slope[there])
    second = squares[there] * power
    return float(np.sum(second)), float(np.sum(np.square(second) / rows[there])), float(power.max(initial=0.0))


def _brier_slopes(t: Tally, value: float) -> Slopes:
    total = t.total  # a sum over all scores, computed once for all blocks
    for block in _iterate_blocks(t):
        yield block, (np.square(1 - block.score) - value) / total, (np.square(block.score) - value) / total


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


def _average_precision_slopes(t: Tally, value: float) -> Slopes:
    r"""Return slopes of :math:`\frac1P\sum_k p_kT_k/F_k`: T and F are the true positives and all flagged rows at k.

    A row changes the precision at its own threshold and at all laxer ones: a positive by (1 − T/F)/F, a negative by
    −T/F².
    """
    positives = t.positives
    less, more = (sum(float(part.sum()) for part in parts) for parts in zip(*_precision_gains(t), strict=True))
    for block, (loss, gain) in zip(_iterate_blocks(t), _precision_gains(t), strict=True):
        flagged = np.maximum(block.true[1:] + block.false[1:], np.finfo(float).tiny)
        # The sum over laxer thresholds is the total less what came before.
        true, false = less - (np.cumsum(loss) - loss), more - (np.cumsum(gain) - gain)
        less, more = less - float(loss.sum()), more - float(gain.sum())
        yield block, (block.true[1:] / flagged - value + true) / positives, -false / positives


def _precision_gains(t: Tally) -> Iterator[tuple[Floats, Floats]]:
    """Iterate over what positives at each threshold gain from one more positive, and lose by one more negative."""
    for block in _iterate_blocks(t):
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
_SLOPES: dict[Measure, Callable[[Tally, float], Slopes]] = {
    auc: _auc_slopes,
    brier: _brier_slopes,
    brier_skill: _brier_skill_slopes,
    log_loss: _log_loss_slopes,
    log_loss_skill: _log_loss_skill_slopes,
    average_precision: _average_precision_slopes,
    cap_area: _cap_area_slopes,
}
