"""Variances of measures in closed form: how much a little more of each row would change the value.

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
from baserate._numeric.scan import running_blocks
from baserate._tally import Tally
from baserate.measure import Measure, auc, average_precision, brier, brier_skill, cap_area, log_loss, log_loss_skill

_PLAUSIBLE = 3.0
"""Expected number of outcomes none of which is seen with a chance of 5%."""


class Part(NamedTuple):
    """What the rows of a class add to a variance."""

    variance: float
    fourth: float
    """Sum of the fourth powers of what each row adds: whether few rows make most of it."""
    rows: float

    @staticmethod
    def of(second: float, fourth: float, rows: float) -> Part:
        """Take a degree of freedom from sums of the second and fourth powers of what rows add; one tells nothing."""
        if rows == 1:
            return Part(inf, inf, rows)
        lost = ratio(rows, rows - 1)
        return Part(lost * second, lost**2 * fourth, rows)

    @property
    def doubt(self) -> float:
        """Variance of the variance, over two."""
        return max(self.fourth - self.variance**2 / self.rows, 0.0) / 2 if self.rows > 1 else 0.0


class Spread(NamedTuple):
    """A value and its variance, by class."""

    value: float
    of_positives: Part
    of_negatives: Part
    unseen: float = 0.0
    """Variance by outcomes that matter more than any that was seen, as far as they are plausible; 0 of ranks."""

    @property
    def seen(self) -> float:
        """Variance by what was seen in both classes."""
        return self.of_positives.variance + self.of_negatives.variance

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the variance that was seen."""
        return freedom([self.of_positives, self.of_negatives])

    @property
    def positives(self) -> float:
        """Rows of the positive class."""
        return self.of_positives.rows

    @property
    def negatives(self) -> float:
        """Rows of the negative class."""
        return self.of_negatives.rows

    @property
    def rare(self) -> float:
        """Rows of the smaller class."""
        return min(self.positives, self.negatives)


class Block(NamedTuple):
    """Some scores of a tally that fit the cache, with what is reached before and after each of them."""

    score: Floats
    true: Floats
    """Positives flagged, one more than there are scores."""
    false: Floats
    squares: Cells
    rows: Cells


Slopes = Iterator[tuple[Block, Floats, Floats]]
"""Change of the value with the mass of positives, and of negatives, at each score, block by block."""


def freedom(parts: Sequence[Part]) -> float:
    """Degrees of freedom of a variance with these parts: as many as a normal sample that is as unsure would have.

    That is Welch and Satterthwaite's number where rows add normal amounts, and less where a few add most
    [@satterthwaite1946].
    """
    usual = sum(part.variance**2 / (part.rows - 1) for part in parts if part.variance > 0 and part.rows > 1)
    doubt = max(usual, sum(part.doubt for part in parts))
    return float(sum(part.variance for part in parts) ** 2 / doubt) if doubt > 0 else inf


def spread(measure: Measure, tally: Tally, value: float | None = None) -> Spread:
    """Value and variance of a measure that has a closed form; rows lose a degree of freedom.

    The value is computed unless it is known. Where the shares of the classes are known, a row of a class tells only how
    it differs from others of that class, and what probabilities promise is not told by this many rows of each.
    """
    value = _value(measure, tally) if value is None else value
    rows = [float(row) for row in tally.rows.sum(axis=1, dtype=np.int64)]
    sums, largest = np.zeros((2, 2)), 0.0
    for block, *slopes in _within(measure, tally, value) if tally.reweighed else _SLOPES[measure](tally, value):
        for at, slope in enumerate(slopes):
            second, fourth, most = _powers(block.squares[at], block.rows[at], slope)
            sums[at] += second, fourth
            largest = max(largest, most)
    parts = [Part.of(float(second), float(fourth), row) for (second, fourth), row in zip(sums, rows, strict=True)]
    probable = measure not in _OF_CURVES and not tally.reweighed
    return Spread(value, parts[0], parts[1], _unseen(measure, tally, value, largest) if probable else 0.0)


def _unseen(measure: Measure, tally: Tally, value: float, largest: float) -> float:
    r"""Variance that outcomes would add whose squared slope is larger than the largest of those that were seen.

    By the probabilities, E of them were to be expected, and none was seen. Up to :math:`E=3` that is plausible, with a
    chance of 5% or more, and they count in full: a few rows of a confident model may lack the great losses that make
    most of its variance. Of more they count :math:`e^{3-E}` times: then the probabilities are too moderate.
    """
    variance = expected = 0.0
    for block, *slopes in _SLOPES[measure](tally, value):
        squares, rows = (cells.sum(axis=0, dtype=np.float64) for cells in (block.squares, block.rows))
        for slope, chance in zip(slopes, (block.score, 1 - block.score), strict=True):
            there = np.flatnonzero(np.square(slope) > largest)
            probable = there[chance[there] > 0]
            expected += float(np.sum(rows[probable] * chance[probable]))
            variance += float(np.sum(squares[probable] * chance[probable] * np.square(slope[probable])))
    return variance * min(1.0, exp(_PLAUSIBLE - expected))


def has_influence(measure: Measure) -> bool:
    """Whether a measure has a closed form."""
    return measure in _SLOPES


def influence_slopes(measure: Measure, tally: Tally) -> tuple[float, Floats, Floats]:
    """Value of a measure that has a closed form, and its slopes for both classes at every score."""
    value = _value(measure, tally)
    parts = list(_SLOPES[measure](tally, value))
    return value, np.concatenate([true for _, true, _ in parts]), np.concatenate([false for *_, false in parts])


def _value(measure: Measure, tally: Tally) -> float:
    return float(measure(Curve(tally) if measure in _OF_CURVES else tally))


def _blocks(t: Tally) -> Iterator[Block]:
    start = 0
    for true, false in running_blocks(t.mass):
        place = slice(start, start + len(true) - 1)
        yield Block(t.score[place], true, false, t.squares[:, place], t.rows[:, place])
        start = place.stop


def _within(measure: Measure, t: Tally, value: float) -> Slopes:
    """Slopes less their mean in each class: what a row adds when the masses of the classes are given."""
    sums = np.zeros(2)
    for block, *slopes in _SLOPES[measure](t, value):
        masses = np.diff(block.true), np.diff(block.false)
        sums += [_weighted_sum(mass, slope) for mass, slope in zip(masses, slopes, strict=True)]
    true_mean, false_mean = np.nan_to_num(ratio(sums, np.array([t.positives, t.negatives])))
    for block, true, false in _SLOPES[measure](t, value):
        yield block, distances(true, true_mean), distances(false, false_mean)


def _weighted_sum(mass: Floats, slope: Floats) -> float:
    """Sum of slopes times masses; an infinite slope does not matter where there is nothing."""
    with np.errstate(invalid="ignore"):
        total = float(np.dot(mass, slope))
    return total if isfinite(total) else float(np.dot(mass[mass > 0], slope[mass > 0]))


def _powers(squares: Cells, rows: Cells, slope: Floats) -> tuple[float, float, float]:
    """Sums of the second and the fourth powers of what rows add, and the largest squared slope.

    Rows at one score are taken to be alike.
    """
    there = np.flatnonzero(rows)
    power = np.square(slope[there])
    second = squares[there] * power
    return float(np.sum(second)), float(np.sum(np.square(second) / rows[there])), float(power.max(initial=0.0))


def _brier(t: Tally, value: float) -> Slopes:
    total = t.total  # a sum over all scores, which no block should make anew
    for block in _blocks(t):
        yield block, (np.square(1 - block.score) - value) / total, (np.square(block.score) - value) / total


def _log_loss(t: Tally, value: float) -> Slopes:
    total = t.total
    for block in _blocks(t):
        with np.errstate(divide="ignore"):  # the logarithm of 0
            true, false = -np.log(block.score), -np.log1p(-block.score)
        yield block, (true - value) / total, (false - value) / total


def _skill(loss: Slopes, t: Tally, value: float, change: float, constant: float) -> Slopes:
    """Slopes of 1 − loss/constant, from those of the loss and the change of the constant with the prevalence."""
    share = t.prevalence
    part = (1 - value) * change / constant / t.total
    for block, true, false in loss:
        yield block, part * (1 - share) - true / constant, -part * share - false / constant


def _brier_skill(t: Tally, value: float) -> Slopes:
    share = t.prevalence
    constant = share * (1 - share)
    return _skill(_brier(t, (1 - value) * constant), t, value, 1 - 2 * share, constant)


def _log_loss_skill(t: Tally, value: float) -> Slopes:
    share, rest = t.prevalence, 1 - t.prevalence
    entropy = -share * log(share) - rest * log(rest)
    return _skill(_log_loss(t, (1 - value) * entropy), t, value, log(rest / share), entropy)


def _average_precision(t: Tally, value: float) -> Slopes:
    r"""Change of :math:`\frac1P\sum_k p_kT_k/F_k`: T and F are the true positives and all that are flagged at k.

    A row moves the precision at its own threshold and at all laxer ones: a positive by (1 − T/F)/F, a negative by
    −T/F².
    """
    positives = t.positives
    less, more = (sum(float(part.sum()) for part in parts) for parts in zip(*_gains(t), strict=True))
    for block, (lost, won) in zip(_blocks(t), _gains(t), strict=True):
        flagged = np.maximum(block.true[1:] + block.false[1:], np.finfo(float).tiny)
        # What comes at laxer thresholds is what has not come yet.
        true, false = less - (np.cumsum(lost) - lost), more - (np.cumsum(won) - won)
        less, more = less - float(lost.sum()), more - float(won.sum())
        yield block, (block.true[1:] / flagged - value + true) / positives, -false / positives


def _gains(t: Tally) -> Iterator[tuple[Floats, Floats]]:
    """What positives found at each threshold would gain from one more of them, and lose by one more negative."""
    for block in _blocks(t):
        flagged = np.maximum(block.true[1:] + block.false[1:], np.finfo(float).tiny)
        precision = block.true[1:] / flagged
        gained = np.diff(block.true) / flagged
        yield gained * (1 - precision), gained * precision


def _auc(t: Tally, value: float) -> Slopes:
    r"""Placements less the area: those of positives, :math:`(V_{10}-A)/P`, and of negatives [@delong1988]."""
    positives, negatives = t.positives, t.negatives
    for block in _blocks(t):
        below = 1 - (block.false[1:] + block.false[:-1]) / (2 * negatives)
        above = (block.true[1:] + block.true[:-1]) / (2 * positives)
        yield block, (below - value) / positives, (above - value) / negatives


def _cap_area(t: Tally, value: float) -> Slopes:
    r"""Change of :math:`π/2+(1-π)AUC`."""
    share = t.prevalence
    area = (value - share / 2) / (1 - share)
    moved = (0.5 - area) / t.total
    for block, true, false in _auc(t, area):
        yield block, (1 - share) * (moved + true), (1 - share) * false - share * moved


_OF_CURVES = (auc, average_precision, cap_area)
_SLOPES: dict[Measure, Callable[[Tally, float], Slopes]] = {
    auc: _auc,
    brier: _brier,
    brier_skill: _brier_skill,
    log_loss: _log_loss,
    log_loss_skill: _log_loss_skill,
    average_precision: _average_precision,
    cap_area: _cap_area,
}
