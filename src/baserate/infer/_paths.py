"""How far the path of a curve may lie from the one that was seen.

At a given x, a point of a curve is unsure in several ways that have nothing to do with each other: at the threshold
taken, what y really is; and which threshold really gives that x. Each is an interval of its own, and moves y by so
much; independent moves add up in quadrature, low ones and high ones apart [@zou2008].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log, nextafter, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats, ratio
from baserate._curve import Curve
from baserate._numeric.scan import cumulated
from baserate.infer._binomial import Share, effective, usual, wilson

Bounds = tuple[Floats, Floats]
Places = npt.NDArray[np.intp]
_LARGE = 1000
"""Rows from which the limit law of Kolmogorov's distance is taken."""
_ROUNDING = 1e-9
"""What is missing of a whole number only because weights are added up in another unit."""
_SUREST = nextafter(1.0, 0.0)
_FEWEST = 10
"""Rows below which local levels do not go on growing."""


class Steps(NamedTuple):
    """A path along which neither x nor y falls, as a function of x.

    Where it runs straight up, y has a lowest and a highest value.
    """

    x: Floats
    y: Floats

    def first(self, x: Floats) -> Places:
        """Places at which the path reaches x, one of its own."""
        return np.searchsorted(self.x, x, side="left")

    def last(self, x: Floats) -> Places:
        """Places at which the path leaves x, one of its own."""
        return np.searchsorted(self.x, x, side="right") - 1

    def below(self, x: Floats) -> Floats:
        """Lowest y at any x; between two of its own, as low as a straight path from one to the next would be."""
        last, following = self._around(x)
        return self._between(x, self.first(self.x[last]), following)

    def above(self, x: Floats) -> Floats:
        """Highest y at any x."""
        last, following = self._around(x)
        return self._between(x, last, self.last(self.x[following]))

    def _around(self, x: Floats) -> tuple[Places, Places]:
        last = self.last(np.maximum(x, self.x[0]))
        return last, np.minimum(last + 1, len(self.x) - 1)

    def _between(self, x: Floats, start: Places, stop: Places) -> Floats:
        width = self.x[stop] - self.x[start]
        part = np.where(width > 0, np.clip(ratio(x - self.x[start], width), 0.0, 1.0), 0.0)
        return self.y[start] + part * (self.y[stop] - self.y[start])


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """The masses of both classes that are flagged at each threshold, and their sums of squared weights."""

    mass: Floats
    squares: Floats
    """The very array `mass` where rows are counted."""
    reweighed: bool = False
    """Whether the prevalence is known."""

    @staticmethod
    def of(curve: Curve) -> Path:
        """Read it off a curve."""
        mass = curve.flagged_mass
        squares = cumulated(curve.tally.squares) if curve.tally.weighted else mass
        return Path(mass, squares, curve.tally.reweighed)

    @property
    def rates(self) -> Floats:
        """Sensitivities in row 0, false positive rates in row 1."""
        return ratio(self.mass, self.mass[:, -1:])

    @property
    def prevalence(self) -> float:
        """Share of positives."""
        return ratio(float(self.mass[0, -1]), float(self.mass[:, -1].sum()))

    def flagged(self, row: int, at: Places) -> tuple[Floats, Floats]:
        """Effective hits and misses of a class at some thresholds."""
        hits, total = self.mass[row, at], self.mass[row, -1]
        if self.squares is self.mass:
            return hits, total - hits
        squares, all_squares = self.squares[row, at], self.squares[row, -1]
        found = effective(hits, total - hits, squares, np.maximum(all_squares - squares, 0.0))
        return np.asarray(found.hits), np.asarray(found.misses)

    def prevalences(self, bounding: Callable[[Any, Any, float], tuple[Any, Any]], level: float) -> tuple[float, float]:
        """Bounds of the prevalence; where that is known, itself."""
        if self.reweighed:
            return self.prevalence, self.prevalence
        both = Share(float(self.mass[0, -1]), float(self.mass[1, -1]))
        if self.squares is not self.mass:
            both = effective(*both, float(self.squares[0, -1]), float(self.squares[1, -1]))
        low, high = bounding(*both, level)
        return low, high

    def rows(self, row: int) -> float:
        """Effective number of rows of a class [@kish1965]."""
        if self.squares is self.mass:
            return float(self.mass[row, -1])
        return ratio(float(self.mass[row, -1]) ** 2, float(self.squares[row, -1]))


def roc(path: Path, kept: Places, level: float) -> Bounds:
    """Sensitivity at the false positive rate of each kept point, each with that confidence."""
    true, false = path.rates
    steps = Steps(false, true)
    first, last = steps.first(false[kept]), steps.last(false[kept])
    stricter, laxer = wilson(*path.flagged(1, kept), level)
    low, high = usual(*path.flagged(0, first), level)[0], usual(*path.flagged(0, last), level)[1]
    return _lower(true[first], low, steps.below(stricter)), _higher(true[last], high, steps.above(laxer))


def pr(path: Path, kept: Places, level: float) -> Bounds:
    r"""Precision at the recall r of each kept point: :math:`πr/(πr+(1-π)F)`, where F is the FPR that such recall takes.

    Unsure are the prevalence π, F at the threshold, and the threshold that gives r.
    """
    true, false = path.rates
    steps, recall, share = Steps(true, false), true[kept], path.prevalence
    first, last = steps.first(recall), steps.last(recall)
    rarer, commoner = path.prevalences(wilson, level)
    stricter, laxer = wilson(*path.flagged(0, kept), level)
    fewer, more = usual(*path.flagged(1, first), level)[0], usual(*path.flagged(1, last), level)[1]

    def at(false: Floats, prevalence: float = share) -> Floats:
        flagged: Floats = prevalence * recall + (1 - prevalence) * false
        return ratio(prevalence * recall, flagged)

    worst, best = false[last], false[first]
    low = _lower(at(worst), at(worst, rarer), at(more), at(steps.above(laxer)))
    high = _higher(at(best), at(best, commoner), at(fewer), at(steps.below(stricter)))
    # Of recall 0 nothing is known but that negatives may come first.
    return np.where(recall > 0, low, 0.0), np.where(recall > 0, high, 1.0)


def gain(path: Path, kept: Places, level: float) -> Bounds:
    """Sensitivity at the flag rate of each kept point.

    Unsure are the prevalence, and at the threshold both rates; to keep the flag rate, the threshold moves with each.
    """
    true, false = path.rates
    share, value = path.prevalence, true[kept]
    steps = _flagged(true, false, share)
    rate = steps.x[kept]
    rarer, commoner = path.prevalences(usual, level)
    elsewhere = [_flagged(true, false, prevalence).above(rate) for prevalence in (rarer, commoner)]

    def moved(*, true: Floats | float = 0.0, false: Floats | float = 0.0) -> Floats:
        """Sensitivity where a rate is that much higher at every threshold."""
        return steps.above(rate - share * true - (1 - share) * false) + true

    few, many = (bound - value for bound in usual(*path.flagged(0, kept), level))
    seldom, often = (bound - false[kept] for bound in usual(*path.flagged(1, kept), level))
    low = _lower(value, moved(true=few), moved(false=often), np.minimum(*elsewhere))
    high = _higher(value, moved(true=many), moved(false=seldom), np.maximum(*elsewhere))
    # Of so few flagged no more can be positives, and of so few passed no more can have been missed.
    return np.maximum(low, 1 - (1 - rate) / rarer), np.minimum(high, rate / rarer)


def roc_everywhere(path: Path, kept: Places, level: float) -> Bounds:
    r"""Sensitivity at the false positive rate of each kept point, all of them together with that confidence.

    Each point holds with confidence 1 − η, the same everywhere, :math:`η=-\log(level)/(2\log(n)\log\log(n))`: the local
    level at which the distribution of many rows n keeps inside its own intervals everywhere [@gontscharuk2017]. Here n
    are the rows of both classes. Their correction for few rows is left out: adding in quadrature is cautious there.
    """
    rows = log(max(path.rows(0) + path.rows(1), _FEWEST))
    doubt = -log(level) / (2 * rows * log(rows))
    return roc(path, kept, min(1 - min(doubt, 1 - level), _SUREST))


def roc_kolmogorov(path: Path, kept: Places, level: float) -> Bounds:
    """Do the same with bounds that no distribution can break.

    Each class's distribution lies within Kolmogorov's distance of what was seen, at level √level; where both do, the
    whole ROC curve lies between the one that was seen moved right and down, and moved left and up [@campbell1994].
    """
    true, false = path.rates
    steps, rate = Steps(false, true), false[kept]
    down, aside = (farthest(path.rows(row), sqrt(level)) for row in (0, 1))
    low = np.where(rate >= aside, steps.below(rate - aside) - down, 0.0)
    high = np.where(rate + aside <= 1, steps.above(rate + aside) + down, 1.0)
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def farthest(rows: float, level: float) -> float:
    """Distance that the distribution of so many rows keeps from the true one, everywhere, with that confidence.

    Half of the doubt to each side (Smirnov's exact law), which in published tables of Kolmogorov's distance makes no
    difference [@miller1956]; the limit law for more than a thousand rows, which is never below it. Fractions of rows
    do not count.

    >>> round(farthest(10, 0.95), 5), round(farthest(20, 0.95), 5)
    (0.40925, 0.29408)
    """
    from scipy.special import kolmogi, smirnovi

    whole = int(rows * (1 + _ROUNDING))
    if whole < 1:
        return 1.0
    return float(kolmogi(1 - level) / sqrt(whole) if whole > _LARGE else smirnovi(whole, (1 - level) / 2))


def _flagged(true: Floats, false: Floats, prevalence: float) -> Steps:
    """Sensitivity against the flag rate, at any prevalence."""
    return Steps(prevalence * true + (1 - prevalence) * false, true)


def _lower(value: Floats, *each: Floats) -> Floats:
    return np.maximum(value - _together([np.maximum(value - other, 0.0) for other in each]), 0.0)


def _higher(value: Floats, *each: Floats) -> Floats:
    return np.minimum(value + _together([np.maximum(other - value, 0.0) for other in each]), 1.0)


def _together(moves: list[Floats]) -> Floats:
    found: Floats = np.sqrt(sum(move * move for move in moves))
    return found
