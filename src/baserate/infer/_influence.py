"""Variances of measures in closed form: how much a little more of each row would change the value.

A smooth function of the masses at each score has, to first order, the variance Σ w²·(∂value/∂w)², summed over rows. The
derivatives below are exact; each takes one pass over the scores.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._curve import Curve
from baserate._numeric.scan import cumulated
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


Slopes = tuple[Floats, Floats]
"""Change of the value with the mass of positives, and of negatives, at each score."""


def satterthwaite(variances: tuple[float, float], rows: tuple[float, float]) -> float:
    """Degrees of freedom of a sum of two variances, each of so many rows [@satterthwaite1946]."""
    doubt = sum(part**2 / (row - 1) for part, row in zip(variances, rows, strict=True) if part > 0 and row > 1)
    return sum(variances) ** 2 / doubt if doubt > 0 else inf


def spread(measure: Measure, tally: Tally) -> Spread:
    """Value and variance of a measure that has a closed form; rows lose a degree of freedom."""
    value, (true, false) = slopes(measure, tally)
    rows = [float(row) for row in tally.rows.sum(axis=1, dtype=np.int64)]
    parts = [
        _summed(squares, slope) * ratio(row, row - 1)
        for squares, slope, row in zip(tally.squares, (true, false), rows, strict=True)
    ]
    expected = 0.0
    if measure not in _OF_CURVES:
        squares = tally.squares.sum(axis=0, dtype=np.float64)
        expected = _summed(squares * tally.score, true) + _summed(squares * (1 - tally.score), false)
    return Spread(value, parts[0], parts[1], expected, rows[0], rows[1])


def known(measure: Measure) -> bool:
    """Whether a measure has a closed form."""
    return measure in _SLOPES


def slopes(measure: Measure, tally: Tally) -> tuple[float, Slopes]:
    """Value of a measure that has a closed form, and its slopes."""
    value = float(measure(Curve(tally) if measure in _OF_CURVES else tally))
    return value, _SLOPES[measure](tally, value)


def _summed(squares: Floats, slope: Floats) -> float:
    """Sum of what there is; an infinite slope does not matter where there is nothing."""
    with np.errstate(invalid="ignore"):
        return float(np.sum(np.where(squares > 0, squares * slope**2, 0.0)))


def _brier(t: Tally, value: float) -> Slopes:
    return ((1 - t.score) ** 2 - value) / t.total, (t.score**2 - value) / t.total


def _log_loss(t: Tally, value: float) -> Slopes:
    with np.errstate(divide="ignore"):  # the logarithm of 0
        return (-np.log(t.score) - value) / t.total, (-np.log1p(-t.score) - value) / t.total


def _skill(slopes: Slopes, t: Tally, value: float, change: float, constant: float) -> Slopes:
    """Slopes of 1 − loss/constant, from those of the loss and the change of the constant with the prevalence."""
    share = t.prevalence
    part = (1 - value) * change / constant / t.total
    return -slopes[0] / constant + part * (1 - share), -slopes[1] / constant - part * share


def _brier_skill(t: Tally, value: float) -> Slopes:
    share = t.prevalence
    return _skill(_brier(t, brier(t)), t, value, 1 - 2 * share, share * (1 - share))


def _log_loss_skill(t: Tally, value: float) -> Slopes:
    from scipy.special import entr, logit

    share = t.prevalence
    return _skill(_log_loss(t, log_loss(t)), t, value, -float(logit(share)), float(entr(share) + entr(1 - share)))


def _average_precision(t: Tally, value: float) -> Slopes:
    r"""Change of :math:`\frac1P\sum_k p_kT_k/F_k`: T and F are the true positives and all that are flagged at k.

    A row moves the precision at its own threshold and at all laxer ones: a positive by (1 − T/F)/F, a negative by
    −T/F².
    """
    true, false = cumulated(t.mass)[:, 1:]
    flagged = np.maximum(true + false, np.finfo(float).tiny)
    precision = true / flagged
    gained = t.positive / flagged
    later = [np.cumsum(part[::-1])[::-1] for part in (gained * (1 - precision), gained * precision)]
    return (precision - value + later[0]) / t.positives, -later[1] / t.positives


def _auc(t: Tally, value: float) -> Slopes:
    r"""Placements less the area: those of positives, :math:`(V_{10}-A)/P`, and of negatives [@delong1988]."""
    true, false = cumulated(t.mass)
    below = 1 - (false[1:] + false[:-1]) / (2 * t.negatives)
    above = (true[1:] + true[:-1]) / (2 * t.positives)
    return (below - value) / t.positives, (above - value) / t.negatives


def _cap_area(t: Tally, value: float) -> Slopes:
    r"""Change of :math:`π/2+(1-π)AUC`."""
    if not t.negatives:
        return np.zeros(len(t.score)), np.zeros(len(t.score))
    share = t.prevalence
    area = (value - share / 2) / (1 - share)
    moved = (0.5 - area) / t.total
    true, false = _auc(t, area)
    return (1 - share) * (moved + true), (1 - share) * false - share * moved


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
