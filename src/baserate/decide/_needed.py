"""How many rows would decide whether a requirement is kept, if what is seen stays what it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil, isfinite
from typing import NamedTuple

import numpy as np

from baserate._counts import Counts, combine_counts
from baserate._estimate import Estimate
from baserate._tally import Tally
from baserate.decide._requirements import Requirement
from baserate.infer import Interval

_MOST = 10**15
"""Rows beyond which nobody counts."""
_AT_BOUND = "the value is the bound itself, so no number of rows decides"
_TOO_MANY = "no number of rows that can be counted would decide"


class Needed(NamedTuple):
    """So many rows, or why there is no such number."""

    rows: int | None = None
    why: str | None = None


def needed(each: Requirement, noun: Counts[float] | Tally, found: Estimate, *, rows: int, interval: Interval) -> Needed:
    """Tell how many rows like these would decide, where the interval of what was `found` reaches across the bound.

    Where an interval needs no draws, rows are repeated until it leaves the bound, exactly; others are taken to shrink
    with the square root of the rows.
    """
    gap = abs(found.value - each.bound)
    if gap <= each.slack:
        return Needed(why=_AT_BOUND)
    if not interval.closed(each.measure, noun):
        return _told(max(rows * _times(each, found), rows + 1))

    def left(more: Counts[float] | Tally) -> bool:
        """Whether the interval of so much more leaves the bound."""
        bounds = interval.of(each.measure, more)
        return bool(each.kept(bounds.low) == each.kept(bounds.high))

    if isinstance(noun, Counts):
        return _told(_least(rows, lambda many: left(combine_counts([noun], [many / rows]))))
    # A tally holds whole rows, so all are repeated; from the last time that is too few, the root is near enough.
    times = _least(1, lambda many: left(_repeated(noun, many)), most=_MOST // rows)
    if not isfinite(times):
        return Needed(why=_TOO_MANY)
    before = interval.of(each.measure, _repeated(noun, int(times) - 1))
    return _told(max(rows * min((times - 1) * _times(each, before), times), rows + 1))


def _told(rows: float) -> Needed:
    return Needed(ceil(rows)) if rows <= _MOST else Needed(why=_TOO_MANY)


def _times(each: Requirement, found: Estimate) -> float:
    """How many times as many rows it takes for the bound to be left, if widths shrink with the root of the rows."""
    side = found.value - found.low if found.value > each.bound else found.high - found.value
    return float((side / (found.value - each.bound)) ** 2)


def _least(start: int, enough: Callable[[int], bool], *, most: int = _MOST) -> float:
    """Smallest number that is enough, above one that is not; infinite if none is."""
    low, high = start, 2 * start
    while not enough(high):
        low, high = high, 2 * high
        if high > most:
            return float("inf")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _repeated(tally: Tally, times: int) -> Tally:
    """Return the tally of the same rows, each so many times."""
    rows = tally.rows.astype(np.int64) * times
    if not tally.weighted:
        return replace(tally, mass=rows, squares=rows, rows=rows)
    return replace(tally, mass=tally.mass * times, squares=tally.squares * times, rows=rows)
