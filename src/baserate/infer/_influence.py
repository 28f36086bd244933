"""Variances of measures in closed form: how much a little more of each row would change the value.

A smooth function of the masses at each score has, to first order, the variance Σ w²·(∂value/∂w)², summed over rows. The
derivatives below are exact; each takes one pass over the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf, isfinite, log
from typing import NamedTuple

import numpy as np

from baserate._arrays import Cells, Floats, ratio
from baserate._curve import Curve
from baserate._numeric.scan import running_blocks
from baserate._tally import Tally
from baserate.measure import Measure, auc, average_precision, brier, brier_skill, cap_area, log_loss, log_loss_skill


class Spread(NamedTuple):
    """A value and its variance, by class."""

    value: float
    of_positives: float
    """What the positives add to the variance."""
    of_negatives: float
    expected: float
    """The variance that there would be if the probabilities were right; 0 for measures of ranks."""
    positives: float
    """Number of rows."""
    negatives: float

    @property
    def seen(self) -> float:
        """Variance by what was seen in both classes."""
        return self.of_positives + self.of_negatives

    @property
    def variance(self) -> float:
        """The larger of what was seen and what was to be expected: few rows may lack the rare great losses."""
        return max(self.seen, self.expected)

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the variance that was seen, by Welch and Satterthwaite."""
        return satterthwaite((self.of_positives, self.of_negatives), (self.positives, self.negatives))

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


Slopes = Iterator[tuple[Block, Floats, Floats]]
"""Change of the value with the mass of positives, and of negatives, at each score, block by block."""


def satterthwaite(variances: Sequence[float], rows: Sequence[float]) -> float:
    """Degrees of freedom of a sum of variances, each of so many rows [@satterthwaite1946]."""
    doubt = sum(part**2 / (row - 1) for part, row in zip(variances, rows, strict=True) if part > 0 and row > 1)
    return float(sum(variances) ** 2 / doubt) if doubt > 0 else inf


def spread(measure: Measure, tally: Tally, value: float | None = None) -> Spread:
    """Value and variance of a measure that has a closed form; rows lose a degree of freedom.

    The value is computed unless it is known.
    """
    value = _value(measure, tally) if value is None else value
    rows = [float(row) for row in tally.rows.sum(axis=1, dtype=np.int64)]
    probable = measure not in _OF_CURVES
    positives = negatives = expected = 0.0
    for block, true, false in _SLOPES[measure](tally, value):
        positives += _summed(block.squares[0], true)
        negatives += _summed(block.squares[1], false)
        if probable:
            both = block.squares.sum(axis=0, dtype=np.float64)
            expected += _summed(both * block.score, true) + _summed(both * (1 - block.score), false)
    freed = [ratio(row, row - 1) for row in rows]
    return Spread(value, positives * freed[0], negatives * freed[1], expected, rows[0], rows[1])


def known(measure: Measure) -> bool:
    """Whether a measure has a closed form."""
    return measure in _SLOPES


def slopes(measure: Measure, tally: Tally) -> tuple[float, Floats, Floats]:
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
        yield Block(t.score[place], true, false, t.squares[:, place])
        start = place.stop


def _summed(squares: Cells, slope: Floats) -> float:
    """Sum of what there is; an infinite slope does not matter where there is nothing."""
    with np.errstate(invalid="ignore"):
        total = float(np.sum(squares * np.square(slope)))
        return total if isfinite(total) else float(np.sum(np.where(squares > 0, squares * np.square(slope), 0.0)))


def _brier(t: Tally, value: float) -> Slopes:
    for block in _blocks(t):
        yield block, (np.square(1 - block.score) - value) / t.total, (np.square(block.score) - value) / t.total


def _log_loss(t: Tally, value: float) -> Slopes:
    for block in _blocks(t):
        with np.errstate(divide="ignore"):  # the logarithm of 0
            true, false = -np.log(block.score), -np.log1p(-block.score)
        yield block, (true - value) / t.total, (false - value) / t.total


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
    less, more = (sum(float(part.sum()) for part in parts) for parts in zip(*_gains(t), strict=True))
    for block, (lost, won) in zip(_blocks(t), _gains(t), strict=True):
        flagged = np.maximum(block.true[1:] + block.false[1:], np.finfo(float).tiny)
        # What comes at laxer thresholds is what has not come yet.
        true, false = less - (np.cumsum(lost) - lost), more - (np.cumsum(won) - won)
        less, more = less - float(lost.sum()), more - float(won.sum())
        yield block, (block.true[1:] / flagged - value + true) / t.positives, -false / t.positives


def _gains(t: Tally) -> Iterator[tuple[Floats, Floats]]:
    """What positives found at each threshold would gain from one more of them, and lose by one more negative."""
    for block in _blocks(t):
        flagged = np.maximum(block.true[1:] + block.false[1:], np.finfo(float).tiny)
        precision = block.true[1:] / flagged
        gained = np.diff(block.true) / flagged
        yield gained * (1 - precision), gained * precision


def _auc(t: Tally, value: float) -> Slopes:
    r"""Placements less the area: those of positives, :math:`(V_{10}-A)/P`, and of negatives [@delong1988]."""
    for block in _blocks(t):
        below = 1 - (block.false[1:] + block.false[:-1]) / (2 * t.negatives)
        above = (block.true[1:] + block.true[:-1]) / (2 * t.positives)
        yield block, (below - value) / t.positives, (above - value) / t.negatives


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
