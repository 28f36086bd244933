"""A calibration curve without a formula: straight within bins of scores, fitted to a validation set."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, nan
from typing import NamedTuple

import numpy as np

from baserate._arrays import Cells, Floats, Reals, ratio
from baserate._errors import FitError
from baserate._formatting import count_of, format_number, format_p_phrase
from baserate._tally import Tally
from baserate.infer import Check
from baserate.measure import firsts
from baserate.shift._two._fit import NAME, SIZE

_MOST = 10
_EACH = 20
"""Validation rows in a bin, at least."""
_TILTED = 10
"""Rows from which a bin has a slope of its own."""
_FAR, _OUTSIDE, _THIN = 0.02, 0.05, 0.2
"""Shares of the target that may lie far outside the scores of validation, outside, or beyond all but few rows."""
_POOLED = 1 << 12
"""Neighbours in the target are pooled to about so many before bins are laid out."""
_LAST = 5
"""Far is as far again as the outermost of so many validation rows lies from the innermost of them."""
_TESTED = 2.0
"""Variance of the number of positives in a bin from which the bin takes part in the test."""


class Curve(NamedTuple):
    """Chances of the positive class, straight in each bin, and what they were fitted to.

    Least squares in each bin leaves residuals that neither a level nor a slope explains, so that sums over the target
    are biased only by what is not straight in a bin, times how far the ratio of both densities is from straight there.
    """

    tally: Tally
    edges: Floats
    """Highest scores of all bins but the last."""
    middle: Floats
    """Mean score of validation in each bin."""
    level: Floats
    """Chance at the middle."""
    slope: Floats
    mass: Floats
    """Of validation in each bin."""
    spread: Floats
    """Sum of squared distances from the middle; infinite where the bin has no slope."""
    lost: Floats
    """How many times as large squared residuals would be if nothing had been fitted to them."""

    def places(self, score: Reals) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        """Bin of each score."""
        return np.searchsorted(self.edges, score, side="left")

    def straight(self, score: Reals) -> Floats:
        """Chances as the lines have them, which may leave [0, 1]."""
        at = self.places(score)
        return np.asarray(self.level[at] + self.slope[at] * (score - self.middle[at]))

    def __call__(self, score: Reals) -> Floats:
        """Chance of the positive class at each score."""
        return np.clip(self.straight(score), 0.0, 1.0)

    def of_falling(self, score: Floats) -> Floats:
        """Do the same for scores in falling order, a bin at a time: very many cost little."""
        ends = len(score) - np.searchsorted(score[::-1], self.edges, side="right")
        found = np.empty(len(score))
        for place, (start, end) in enumerate(zip([*ends, 0], [len(score), *ends], strict=True)):
            part = np.subtract(score[start:end], self.middle[place], out=found[start:end])
            part *= self.slope[place]
            part += self.level[place]
        return np.clip(found, 0.0, 1.0, out=found)

    def moved_by(self, score: Reals, change: Floats) -> Floats:
        """How much one more validation row of each class moves something that changes so much with each chance."""
        at, size = self.places(score), len(self.middle)
        level = np.bincount(at, weights=change, minlength=size) / self.mass
        slope = np.bincount(at, weights=change * (score - self.middle[at]), minlength=size) / self.spread
        own, tally = self.places(self.tally.score), self.tally
        each = np.sqrt(self.lost[own]) * (level[own] + slope[own] * (tally.score - self.middle[own]))
        chance = self.straight(tally.score)
        return np.stack([each * (1 - chance), each * -chance])

    def fit(self) -> Check:
        """Test whether the lines fit: whether the upper half of each bin lies where its line has it, a χ² test."""
        tally, at = self.tally, self.places(self.tally.score)
        mass, chance = tally.positive + tally.negative, self(tally.score)
        size = len(self.middle)

        def summed(values: Floats) -> Floats:
            return np.asarray(np.bincount(at, weights=values, minlength=size), dtype=np.float64)

        upper = (_above_half(at, mass)).astype(np.float64)
        x = tally.score - self.middle[at]
        upper -= (summed(mass * upper) / self.mass)[at] + x * (summed(mass * upper * x) / self.spread)[at]
        surplus = summed(upper * (tally.positive - mass * self.straight(tally.score)))
        noise = summed(upper**2 * tally.squares.sum(axis=0) * chance * (1 - chance))
        there = (noise > 0) & (summed(mass * chance * (1 - chance)) > _TESTED)
        how = "score test of halves of bins, χ²"
        if not there.any():
            return Check(NAME, nan, nan, how, why="there are too few rows")
        from scipy.special import gammaincc

        statistic, freedom = float((surplus[there] ** 2 / noise[there]).sum()), int(there.sum())
        return Check(NAME, statistic, max(float(gammaincc(freedom / 2, statistic / 2)), 5e-324), how, freedom)

    def notes(self, check: Check) -> tuple[str, ...]:
        """Say how scores were recalibrated, and whether that fits."""
        bins = count_of(len(self.middle), "bin")
        made = f"Scores were recalibrated on validation by a curve that is straight in each of {bins}"
        if check.why:
            return (f"{made}; whether it fits was not tested: {check.why}.",)
        p = format_p_phrase(check.p, digits=3)
        if check.p >= SIZE:
            return (f"{made}; it fits the validation data ({p}).",)
        return (f"{made}; it does not fit the validation data ({p}), so that numbers may be biased.",)


def _above_half(at: Cells, mass: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether each score, of falling ones, lies in the upper half of its bin by mass."""
    above = np.cumsum(mass) - mass / 2
    begins = np.flatnonzero(np.append(True, at[1:] != at[:-1]))
    before = (np.cumsum(mass) - mass)[begins]
    total = np.add.reduceat(mass, begins)
    which = np.cumsum(np.append(True, at[1:] != at[:-1])) - 1
    return np.asarray(above - before[which] < total[which] / 2)


def fitted_curve(tally: Tally, score: Floats, mass: Cells, thresholds: Iterable[float] = ()) -> Curve:
    """Fit a curve for a target with these scores, falling, and their masses.

    Bins hold equal parts of both sets, and end at thresholds, so that decisions are not smoothed over.
    """
    _refuse_outside(tally, score, mass)
    edges = _edges(tally, score, mass, thresholds)
    at = np.searchsorted(edges, tally.score, side="left")
    own = tally.positive + tally.negative

    def summed(values: Floats | Cells) -> Floats:
        return np.asarray(np.bincount(at, weights=values, minlength=len(edges) + 1), dtype=np.float64)

    total, rows = summed(own), summed(tally.rows.sum(axis=0))
    middle, level = summed(own * tally.score) / total, summed(tally.positive) / total
    x = tally.score - middle[at]
    spread = summed(own * x**2)
    spread[(rows < _TILTED) | (spread <= 1e-20 * total * np.maximum(middle**2, 1e-280))] = inf
    lines = np.where(np.isinf(spread), 1, 2)
    lost = ratio(rows, np.maximum(rows - lines, 1.0))
    return Curve(tally, edges, middle, level, summed(tally.positive * x) / spread, total, spread, lost)


def _edges(tally: Tally, score: Floats, mass: Cells, thresholds: Iterable[float]) -> Floats:
    """Where bins end: at thresholds first, then between equal parts, as long as each bin has rows enough."""
    own = tally.positive + tally.negative
    if (each := len(score) // _POOLED) > 1:
        starts = np.arange(0, len(score), each)
        score, mass = score[starts], np.add.reduceat(mass, starts, dtype=np.float64)
    places = np.concatenate([tally.score, score])
    parts = np.concatenate([own / own.sum(), np.asarray(mass, dtype=np.float64) / float(mass.sum())])
    order = np.argsort(places, kind="stable")
    begins = firsts(places[order], parts[order], bins=_MOST, by="mass")
    equal = places[order][np.unique(begins[begins > 0]) - 1]
    rows = np.cumsum(tally.rows.sum(axis=0)[::-1].astype(np.int64))
    rising = tally.score[::-1]
    cuts: list[int] = [0, int(rows[-1])]
    edges: list[float] = []
    for edge, least in [*((np.nextafter(each, -inf), _TILTED) for each in thresholds), *((e, _EACH) for e in equal)]:
        found = int(np.searchsorted(rising, edge, side="right"))
        below = int(rows[found - 1]) if found else 0
        if min(abs(below - cut) for cut in cuts) >= least:
            cuts.append(below)
            edges.append(float(edge))
    return np.sort(np.array(edges, dtype=np.float64))


def _refuse_outside(tally: Tally, score: Floats, mass: Cells) -> None:
    """Refuse a target of which too much lies where validation has no scores."""
    rows = np.cumsum(tally.rows.sum(axis=0, dtype=np.int64))
    low, high = float(tally.score[-1]), float(tally.score[0])
    below = float(tally.score[np.searchsorted(rows, rows[-1] - min(_LAST, rows[-1]), side="right")]) - low
    above = high - float(tally.score[np.searchsorted(rows, min(_LAST, rows[-1]))])
    total = float(mass.sum())
    far, outside, thin = (
        float(np.dot(mass, (score < low - many * below) | (score > high + many * above))) / total for many in (1, 0, -1)
    )
    if far > _FAR or outside > _OUTSIDE or thin > _THIN:
        raise FitError(
            f"{format_number(100 * outside, 3)} % of the target lies outside the scores of validation "
            f"({format_number(low, 4)} to "
            f"{format_number(high, 4)}), and {format_number(100 * thin, 3)} % beyond all but {_LAST} rows at an end, "
            f"where little "
            "tells what a score means; give validation rows with such scores, or take scores as probabilities that are "
            "right with recalibrate=False."
        )
