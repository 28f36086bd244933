"""Calibration on validation data: a piecewise linear curve, and score tests of whether a calibration fits."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, nan
from typing import NamedTuple

import numpy as np

from baserate._arrays import Cells, Floats, Reals, ratio
from baserate._errors import FitError, keyword
from baserate._formatting import count_of, format_number, format_p_phrase
from baserate._tally import Tally
from baserate.infer import CalibrationTest
from baserate.measure import bin_starts

CALIBRATION_CHECK = "calibration_curve"
SIGNIFICANCE_LEVEL = 0.05
"""Level of the test."""
_METHOD = "score test, χ²"
_TEST_BINS = 10
_ROWS_PER_TEST_BIN = 5.0
"""Least rows of a bin, counted as 4p(1 − p) each, for a normal approximation."""
_SMALLEST = 5e-324


def calibration_test(tally: Tally, chance: Floats, columns: Floats | None = None) -> CalibrationTest:
    r"""Test whether probabilities at each score are calibrated, against any other level in each bin.

    Rao's score test for indicators of bins [@rao1948]: residuals :math:`y-p` are summed in bins that contain equal
    parts of :math:`\sum p(1-p)`, and compared with their variance. `columns` are the regressors of a logistic fit to
    the same data, one row for each; the test then projects them out.
    """
    mass = tally.positive + tally.negative
    weight = mass * chance * (1 - chance)
    noise = tally.squares.sum(axis=0) * chance * (1 - chance)
    bins = min(_TEST_BINS, int(4 * weight.sum() ** 2 / max(noise.sum(), _SMALLEST) / _ROWS_PER_TEST_BIN))
    if bins < 2:
        return CalibrationTest(CALIBRATION_CHECK, nan, nan, _METHOD, why="there are too few rows for two bins")
    # Tallies fall, but `firsts` expects rising scores.
    begins = np.unique(bin_starts(tally.score[::-1], weight[::-1], bins=bins, by="mass"))
    place = np.searchsorted(begins, np.arange(len(weight)), side="right")[::-1] - 1
    member = (place == np.arange(len(begins))[:, None]).astype(np.float64)
    if columns is not None:
        member = member - (member * weight) @ columns.T @ np.linalg.pinv((columns * weight) @ columns.T) @ columns
    surplus = member @ (tally.positive - mass * chance)
    spread = (member * noise) @ member.T
    return _chi_squared(surplus, spread)


def _chi_squared(surplus: Floats, spread: Floats) -> CalibrationTest:
    from scipy.special import gammaincc

    # Scaled to a correlation matrix, so that the tolerance does not depend on bin sizes.
    scale = np.sqrt(np.maximum(np.diagonal(spread), _SMALLEST))
    values, vectors = np.linalg.eigh(spread / np.outer(scale, scale))
    there = values > 1e-8 * max(float(values.max()), _SMALLEST)
    if not there.any():
        return CalibrationTest(CALIBRATION_CHECK, nan, nan, _METHOD, why="the curve passes through every bin")
    parts = (vectors.T @ (surplus / scale))[there] ** 2 / values[there]
    statistic, freedom = float(parts.sum()), int(there.sum())
    return CalibrationTest(
        CALIBRATION_CHECK, statistic, max(float(gammaincc(freedom / 2, statistic / 2)), _SMALLEST), _METHOD, freedom
    )


_CURVE_BINS = 10
_ROWS_PER_BIN = 20
"""Least validation rows of a bin."""
_ROWS_PER_SLOPE = 10
"""Least rows of a bin with a slope of its own."""
_MAX_FAR, _MAX_OUTSIDE, _MAX_THIN = 0.02, 0.05, 0.2
"""Largest shares of the target far outside the scores of validation, outside, or beyond all but few rows."""
_POOLED_ROWS = 1 << 12
"""Pooled scores of the target before bins are placed."""
_END_ROWS = 5
"""Validation rows at an end, whose range defines what is far."""
_MIN_VARIANCE = 2.0
"""Least variance of the number of positives of a bin in the test."""


class CalibrationCurve(NamedTuple):
    """A calibration curve that is linear in each bin of scores.

    Least squares in each bin leaves residuals without a level or slope. Sums over the target are then biased only by
    the curvature within a bin, times the curvature of the ratio of both densities there.
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
    """Mass of validation in each bin."""
    spread: Floats
    """Sum of squared distances from the middle; infinite if the bin has no slope."""
    lost: Floats
    """Factor that corrects squared residuals for fitted parameters."""

    def places(self, score: Reals) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        """Return the bin of each score."""
        return np.searchsorted(self.edges, score, side="left")

    def straight(self, score: Reals) -> Floats:
        """Evaluate the lines, which may leave [0, 1]."""
        at = self.places(score)
        return np.asarray(self.level[at] + self.slope[at] * (score - self.middle[at]))

    def __call__(self, score: Reals) -> Floats:
        """Return the probability of the positive class at each score."""
        return np.clip(self.straight(score), 0.0, 1.0)

    def of_falling(self, score: Floats) -> Floats:
        """Return the same for scores in falling order, one bin at a time, which is fast for very many."""
        ends = len(score) - np.searchsorted(score[::-1], self.edges, side="right")
        chances = np.empty(len(score))
        for place, (start, end) in enumerate(zip([*ends, 0], [len(score), *ends], strict=True)):
            part = np.subtract(score[start:end], self.middle[place], out=chances[start:end])
            part *= self.slope[place]
            part += self.level[place]
        return np.clip(chances, 0.0, 1.0, out=chances)

    def influence_on(self, score: Reals, change: Floats) -> Floats:
        """Compute the influence of validation rows on a number with these derivatives by the probabilities."""
        at, size = self.places(score), len(self.middle)
        level = np.bincount(at, weights=change, minlength=size) / self.mass
        slope = np.bincount(at, weights=change * (score - self.middle[at]), minlength=size) / self.spread
        own, tally = self.places(self.tally.score), self.tally
        each = np.sqrt(self.lost[own]) * (level[own] + slope[own] * (tally.score - self.middle[own]))
        chance = self.straight(tally.score)
        return np.stack([each * (1 - chance), each * -chance])

    def fit(self) -> CalibrationTest:
        """Test the lines: whether the upper half of each bin lies where its line predicts, by χ²."""
        tally, at = self.tally, self.places(self.tally.score)
        mass, chance = tally.positive + tally.negative, self(tally.score)
        size = len(self.middle)

        def sum_by_bin(values: Floats) -> Floats:
            return np.asarray(np.bincount(at, weights=values, minlength=size), dtype=np.float64)

        upper = (_in_upper_half(at, mass)).astype(np.float64)
        x = tally.score - self.middle[at]
        upper -= (sum_by_bin(mass * upper) / self.mass)[at] + x * (sum_by_bin(mass * upper * x) / self.spread)[at]
        surplus = sum_by_bin(upper * (tally.positive - mass * self.straight(tally.score)))
        noise = sum_by_bin(upper**2 * tally.squares.sum(axis=0) * chance * (1 - chance))
        there = (noise > 0) & (sum_by_bin(mass * chance * (1 - chance)) > _MIN_VARIANCE)
        how = "score test of halves of bins, χ²"
        if not there.any():
            return CalibrationTest(CALIBRATION_CHECK, nan, nan, how, why="there are too few rows")
        from scipy.special import gammaincc

        statistic, freedom = float((surplus[there] ** 2 / noise[there]).sum()), int(there.sum())
        return CalibrationTest(
            CALIBRATION_CHECK, statistic, max(float(gammaincc(freedom / 2, statistic / 2)), 5e-324), how, freedom
        )

    def notes(self, check: CalibrationTest) -> tuple[str, ...]:
        """Say how scores were recalibrated, and whether that fits."""
        bins = count_of(len(self.middle), "bin")
        text = f"Scores were recalibrated on validation by a curve that is straight in each of {bins}"
        if check.why:
            return (f"{text}; whether it fits was not tested: {check.why}.",)
        p = format_p_phrase(check.p, digits=3)
        if check.p >= SIGNIFICANCE_LEVEL:
            return (f"{text}; it fits the validation data ({p}).",)
        return (f"{text}; it does not fit the validation data ({p}), so that numbers may be biased.",)


def _in_upper_half(at: Cells, mass: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Say whether each score, of falling ones, lies in the upper half of its bin by mass."""
    above = np.cumsum(mass) - mass / 2
    begins = np.flatnonzero(np.append(True, at[1:] != at[:-1]))
    before = (np.cumsum(mass) - mass)[begins]
    total = np.add.reduceat(mass, begins)
    which = np.cumsum(np.append(True, at[1:] != at[:-1])) - 1
    return np.asarray(above - before[which] < total[which] / 2)


def fit_curve(tally: Tally, score: Floats, mass: Cells, thresholds: Iterable[float] = ()) -> CalibrationCurve:
    """Fit a curve for a target with these scores, falling, and their masses.

    Bins contain equal parts of both samples, and end at thresholds, so that decisions are not smoothed over.
    """
    _check_support(tally, score, mass)
    edges = _bin_edges(tally, score, mass, thresholds)
    at = np.searchsorted(edges, tally.score, side="left")
    own = tally.positive + tally.negative

    def sum_by_bin(values: Floats | Cells) -> Floats:
        return np.asarray(np.bincount(at, weights=values, minlength=len(edges) + 1), dtype=np.float64)

    total, rows = sum_by_bin(own), sum_by_bin(tally.rows.sum(axis=0))
    middle, level = sum_by_bin(own * tally.score) / total, sum_by_bin(tally.positive) / total
    x = tally.score - middle[at]
    spread = sum_by_bin(own * x**2)
    # An infinite spread makes the slope 0 without a special case.
    spread[(rows < _ROWS_PER_SLOPE) | (spread <= 1e-20 * total * np.maximum(middle**2, 1e-280))] = inf
    lines = np.where(np.isinf(spread), 1, 2)
    lost = ratio(rows, np.maximum(rows - lines, 1.0))
    return CalibrationCurve(tally, edges, middle, level, sum_by_bin(tally.positive * x) / spread, total, spread, lost)


def _bin_edges(tally: Tally, score: Floats, mass: Cells, thresholds: Iterable[float]) -> Floats:
    """Place edges at thresholds first, then between equal parts, as long as each bin has enough rows."""
    own = tally.positive + tally.negative
    if (each := len(score) // _POOLED_ROWS) > 1:
        starts = np.arange(0, len(score), each)
        score, mass = score[starts], np.add.reduceat(mass, starts, dtype=np.float64)
    places = np.concatenate([tally.score, score])
    parts = np.concatenate([own / own.sum(), np.asarray(mass, dtype=np.float64) / float(mass.sum())])
    order = np.argsort(places, kind="stable")
    begins = bin_starts(places[order], parts[order], bins=_CURVE_BINS, by="mass")
    equal = places[order][np.unique(begins[begins > 0]) - 1]
    rows = np.cumsum(tally.rows.sum(axis=0)[::-1].astype(np.int64))
    rising = tally.score[::-1]
    cuts: list[int] = [0, int(rows[-1])]
    edges: list[float] = []
    for edge, least in [
        *((np.nextafter(each, -inf), _ROWS_PER_SLOPE) for each in thresholds),
        *((e, _ROWS_PER_BIN) for e in equal),
    ]:
        place = int(np.searchsorted(rising, edge, side="right"))
        below = int(rows[place - 1]) if place else 0
        if min(abs(below - cut) for cut in cuts) >= least:
            cuts.append(below)
            edges.append(float(edge))
    return np.sort(np.array(edges, dtype=np.float64))


def _check_support(tally: Tally, score: Floats, mass: Cells) -> None:
    """Raise if too much of the target lies where validation has no scores."""
    rows = np.cumsum(tally.rows.sum(axis=0, dtype=np.int64))
    low, high = float(tally.score[-1]), float(tally.score[0])
    below = float(tally.score[np.searchsorted(rows, rows[-1] - min(_END_ROWS, rows[-1]), side="right")]) - low
    above = high - float(tally.score[np.searchsorted(rows, min(_END_ROWS, rows[-1]))])
    total = float(mass.sum())
    far, outside, thin = (
        float(np.dot(mass, (score < low - many * below) | (score > high + many * above))) / total for many in (1, 0, -1)
    )
    if far > _MAX_FAR or outside > _MAX_OUTSIDE or thin > _MAX_THIN:
        raise FitError(
            f"{format_number(100 * outside, 3)} % of the target lies outside the scores of validation "
            f"({format_number(low, 4)} to {format_number(high, 4)}), and {format_number(100 * thin, 3)} % beyond all "
            f"but {_END_ROWS} rows at an end, where little tells what a score means",
            remedy=(
                "give validation rows with such scores, or take scores as probabilities that are right with "
                f"{keyword('recalibrate', value=False)}."
            ),
        )
