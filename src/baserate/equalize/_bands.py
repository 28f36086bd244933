"""Bands of scores within which groups are treated apart: all that there are, and the best of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._counts import Counts
from baserate._curve import Curve
from baserate.decide import EQUAL
from baserate.equalize._goal import SLACK
from baserate.equalize._sides import Side, everybody, excess, side, spreads

MOST = 3000
"""Distinct scores up to which all pairs of thresholds are tried."""
_CELLS = 2**18
"""Bands that are looked at together, so that the tables fit the cache."""

Places = npt.NDArray[np.intp]


class Band(NamedTuple):
    """Scores from `low` on, and below `high`."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"[{self.low:g}, {self.high:g})"


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """Lower and upper ends of bands, and what groups have there: `lax` is flagged from the lower end on."""

    low: Floats
    high: Floats
    lax: Side
    strict: Side
    bounds: Mapping[str, float]
    """How far each rate may differ between groups."""
    around: bool
    """Whether each lower end goes with one upper end, and not with every one above it."""
    exact: bool
    """Whether no threshold was left out."""

    def best(self, worth: Callable[[Counts[Floats]], Any]) -> Band | None:
        """Return the band of greatest worth that keeps the bounds, of equals the narrowest, then the strictest.

        Infinities never win.
        """
        found = [_narrowest(each) for places in self._blocks() if (each := self._kept(*places, worth)).size]
        if not found:
            return None
        _, low, high = map(float, _narrowest(np.concatenate(found, axis=1))[:, 0])
        return Band(low, high)

    def infinitely_good(self, worth: Callable[[Counts[Floats]], Any]) -> int:
        """Count the bands that keep the bounds and are infinitely good, which `best` skips."""
        return sum(int(np.count_nonzero(self._worth(*places, worth)[0] == np.inf)) for places in self._blocks())

    def nearest(self) -> tuple[Band, dict[str, float]]:
        """Return the band around a threshold that is least beyond the bounds, and rates that are beyond them there.

        Each is told with the greatest difference between two groups.
        """
        sides = [self.lax, self.strict]
        at = int(np.argmin(excess(sides, self.bounds)))
        apart = {rate: float(each[at]) for rate, each in spreads(sides, self.bounds).items()}
        beyond = {rate: each for rate, each in apart.items() if each > self.bounds[rate] + SLACK}
        return Band(float(self.low[at]), float(self.high[at])), beyond

    def _blocks(self) -> Iterator[tuple[Places, Places]]:
        """Places of lower and of upper ends, to be combined as arrays are."""
        size = len(self.low)
        if self.around:
            yield np.arange(size), np.arange(size)
            return
        rows = max(_CELLS // size, 1)
        for start in range(0, size, rows):
            stop = min(start + rows, size)
            # Thresholds fall, so an upper end is at no later place.
            yield np.arange(start, stop)[:, None], np.arange(stop)[None]

    def _kept(self, low: Places, high: Places, worth: Callable[[Counts[Floats]], Any]) -> Floats:
        """Worth, lower and upper end of those bands that keep the bounds and have a finite worth."""
        found, below, above = self._worth(low, high, worth)
        there = np.isfinite(found)
        return np.array([found[there], self.low[below[there]], self.high[above[there]]])

    def _worth(
        self, low: Places, high: Places, worth: Callable[[Counts[Floats]], Any]
    ) -> tuple[Floats, Places, Places]:
        """Worth of those bands that keep the bounds, and the places of their ends."""
        beyond = excess([self.lax.at(low), self.strict.at(high)], self.bounds)
        fit = np.nonzero((beyond <= SLACK) & (high <= low))
        below, above = (np.broadcast_to(each, beyond.shape)[fit] for each in (low, high))
        found: Floats = worth(Counts(*(self.lax.cells[:, below] + self.strict.cells[:, above])))
        return found, below, above


def bands(
    lax: Collection[Curve], strict: Collection[Curve], bounds: Mapping[str, float], *, around: float | None
) -> Bands:
    """Find all bands between thresholds that were seen, or all that are symmetric around one."""
    pooled = everybody([*lax, *strict])
    exact = around is not None or len(pooled.tally.score) <= MOST
    if around is not None:
        margin = _margins(pooled.tally.score, around)
        low, high = around - margin, around + margin
    else:
        low = high = pooled.threshold if exact else _thinned(pooled)
    return Bands(
        low, high, side(lax, low, bounds), side(strict, high, bounds), bounds, around=around is not None, exact=exact
    )


def _margins(score: Floats, around: float) -> Floats:
    """Half widths of bands, one for each set of scores that a band around a threshold can hold.

    A band holds a score below the threshold from its distance on, and one above only beyond that.
    """
    distance = np.unique(np.append(np.abs(score - around), 0.0))
    between = distance[1:] / 2 + distance[:-1] / 2
    return np.unique(np.concatenate([distance, between, [np.inf]]))


def _thinned(pooled: Curve) -> Floats:
    """As many thresholds as can be tried in pairs, evenly by the share of everybody that they flag."""
    flagged = pooled.flagged_mass.sum(axis=0)
    places = np.searchsorted(flagged, np.linspace(0.0, flagged[-1], MOST))
    found: Floats = pooled.threshold[np.unique(places)]
    return found


def _narrowest(found: Floats) -> Floats:
    """Of bands (worth, low, high) the best, of equals the narrowest, of these the strictest: one column."""
    worth = found[0]
    size = np.abs(worth[np.isfinite(worth)]).max(initial=0.0)
    near = found[:, worth >= worth.max() - EQUAL * size]
    with np.errstate(invalid="ignore", over="ignore"):  # inf − inf, which is no band at all
        width = np.where(near[1] < near[2], near[2] - near[1], 0.0)
        narrow = near[:, width <= width.min() * (1 + EQUAL)]
    at = int(np.argmax(narrow[1]))
    return narrow[:, at : at + 1]
