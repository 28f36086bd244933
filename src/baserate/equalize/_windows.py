"""One threshold for each group, so that rates lie within bounds of each other and the least is paid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats
from baserate.decide import EQUAL, strictest
from baserate.equalize._goal import SLACK

_BATCH = 1 << 13
"""Boxes that are halved together."""

Ints = npt.NDArray[np.int32]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """What a group can choose, strictest first: what each threshold costs, and its bounded rates, which never fall."""

    cost: Floats
    rates: Floats
    """A row for each rate."""


def cheapest(groups: Sequence[Choices], bounds: Sequence[float], *, effort: float) -> tuple[list[int], bool]:
    """Find the threshold of each group at which the least is paid and no rate differs by more than its bound.

    Thresholds whose rates lie between a lowest one and the bound above it are a run, of which each group takes the
    cheapest; so what is sought are the lowest rates, each of which is that of some threshold. They are found by branch
    and bound [@land1960]: a box of lowest rates allows at most the runs from its least to the bound above its greatest,
    and is halved as long as these are cheaper than the best that is known. Of equally cheap choices it is that of the
    lowest rates, and then of the strictest thresholds. Once as many boxes were seen as `effort` says, it is the best
    that is known. Returned are places, and whether nothing can be cheaper.
    """
    search = _Search(groups, bounds)
    boxes, known, seen = search.everything, search.nobody, 0
    while len(boxes.paid) and seen < effort:
        boxes = boxes.taken(np.lexsort((*boxes.low[::-1], boxes.paid)))
        halves = search.bounded(boxes.taken(slice(_BATCH)).halved())
        seen += len(halves.paid)
        known = search.best(halves, known)
        boxes = boxes.taken(slice(_BATCH, None)).joined(halves)
        boxes = boxes.taken(search.worth(boxes, known))
    return search.places(known), not len(boxes.paid)


@dataclass(frozen=True, slots=True, eq=False)
class _Boxes:
    """Sets of lowest rates, a column each; by rate, places of the least and the greatest among all that are seen."""

    low: Ints
    high: Ints
    paid: Floats
    """What no choice with such lowest rates is cheaper than."""

    def taken(self, places: Places | Bools | slice) -> _Boxes:
        return _Boxes(self.low[:, places], self.high[:, places], self.paid[places])

    def joined(self, other: _Boxes) -> _Boxes:
        low, high = (np.concatenate(pair, axis=1) for pair in ((self.low, other.low), (self.high, other.high)))
        return _Boxes(low, high, np.concatenate([self.paid, other.paid]))

    def halved(self) -> _Boxes:
        """Cut each where it is longest."""
        each = np.arange(len(self.paid))
        longest = np.argmax(self.high - self.low, axis=0)
        middle = (self.low[longest, each] + self.high[longest, each]) // 2
        low, high = self.low.copy(), self.high.copy()
        high[longest, each], low[longest, each] = middle, middle + 1
        return _Boxes(self.low, high, self.paid).joined(_Boxes(low, self.high, self.paid))


class _Search:
    """What is looked up again and again: the runs of the groups at every rate that is seen, and their cheapest."""

    def __init__(self, groups: Sequence[Choices], bounds: Sequence[float]) -> None:
        self.groups = groups
        self.least = [_Least(each.cost) for each in groups]
        self.equal = EQUAL * float(sum(np.abs(each.cost).max() for each in groups))
        self.first: list[Ints] = []
        self.last: list[Ints] = []
        for at, bound in enumerate(bounds):
            rates = [each.rates[at] for each in groups]
            seen = np.unique(np.concatenate(rates))
            above = seen + (bound + SLACK)
            self.first.append(np.array([np.searchsorted(each, seen) for each in rates], dtype=np.int32))
            ends = [np.searchsorted(each, above, side="right") - 1 for each in rates]
            self.last.append(np.array(ends, dtype=np.int32))
        lowest = np.zeros((len(bounds), 1), dtype=np.int32)
        highest = np.array([[table.shape[1] - 1] for table in self.first], dtype=np.int32)
        self.everything, self.nobody = (self.bounded(_Boxes(lowest, to, np.zeros(1))) for to in (highest, lowest))

    def runs(self, boxes: _Boxes) -> tuple[Ints, Ints]:
        """From where to where each group, a row of its own, can choose."""
        first = reduce(np.maximum, (table[:, at] for table, at in zip(self.first, boxes.low, strict=True)))
        last = reduce(np.minimum, (table[:, at] for table, at in zip(self.last, boxes.high, strict=True)))
        return first, last

    def bounded(self, boxes: _Boxes) -> _Boxes:
        """Boxes in which every group has a choice, and what the cheapest of their runs cost together."""
        first, last = self.runs(boxes)
        there = np.flatnonzero((first <= last).all(axis=0))
        each = [least(*run) for least, *run in zip(self.least, first[:, there], last[:, there], strict=True)]
        return _Boxes(boxes.low[:, there], boxes.high[:, there], np.sum(each, axis=0))

    def worth(self, boxes: _Boxes, known: _Boxes) -> Bools:
        """Whether a box may hold something cheaper than what is known, or as cheap with lower rates."""
        before, same = np.zeros(len(boxes.paid), dtype=bool), np.ones(len(boxes.paid), dtype=bool)
        for own, other in zip(boxes.low, known.low, strict=True):
            before |= same & (own < other)
            same &= own == other
        saved = known.paid - boxes.paid
        found: Bools = (saved > self.equal) | ((saved >= -self.equal) & before)
        return found

    def best(self, boxes: _Boxes, known: _Boxes) -> _Boxes:
        """Return the best of what is known and of what the lowest rates of each box give."""
        tried = self.bounded(_Boxes(boxes.low, boxes.low, boxes.paid))
        if not len(tried.paid):
            return known
        tied = np.flatnonzero(tried.paid <= tried.paid.min() + self.equal)
        found = tried.taken(tied[np.lexsort(tried.low[::-1, tied])[:1]])
        return found if self.worth(found, known)[0] else known

    def places(self, known: _Boxes) -> list[int]:
        """Return the strictest of the cheapest thresholds of each group."""
        runs = (each[:, 0].tolist() for each in self.runs(known))
        return [
            start + (strictest(-each.cost[start : stop + 1]) or 0)
            for each, start, stop in zip(self.groups, *runs, strict=True)
        ]


class _Least:
    """The least of any run of numbers, from the least of all runs as long as a power of two."""

    def __init__(self, values: Floats) -> None:
        table = [values]
        for power in range(len(values).bit_length() - 1):
            step = 1 << power
            table.append(np.minimum(table[-1][:-step], table[-1][step:]))
        self.flat = np.concatenate(table)
        self.start = np.cumsum([0, *map(len, table)])[:-1]

    def __call__(self, first: Ints, last: Ints) -> Floats:
        power = np.frexp(last - first + 1)[1] - 1
        start = self.start[power]
        found: Floats = np.minimum(self.flat[start + first], self.flat[start + last + 1 - (1 << power)])
        return found
