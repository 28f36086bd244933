"""Cumulative sums, concordance of pairs and sliding minima, block by block so that the work stays in the cache."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Cells, Floats, Reals
from baserate._numeric.distinct import Codes, argsort_descending

_BLOCK = 1 << 16
"""Columns in a block."""


def cumulative_blocks(cells: Cells) -> Iterator[Floats]:
    """Yield cumulative sums of each row in blocks; each begins with the last column of the one before, at first 0."""
    reached = np.zeros((len(cells), 1))
    for start in range(0, cells.shape[1], _BLOCK):
        part = cells[:, start : start + _BLOCK]
        running = np.empty((len(cells), part.shape[1] + 1))
        running[:, :1] = reached
        np.add(reached, _cumsum(part), out=running[:, 1:])
        yield running
        reached = running[:, -1:]
    if cells.shape[1] == 0:
        yield reached


def cumulative_sums(cells: Cells) -> Floats:
    """Return the cumulative sum of each row, starting at 0, so one longer than the row."""
    total = np.zeros((len(cells), cells.shape[1] + 1))
    start = 0
    for running in cumulative_blocks(cells):
        total[:, start : start + running.shape[1]] = running
        start += running.shape[1] - 1
    return total


def row_totals(cells: Cells) -> Floats:
    """Return the last cumulative sum of each row, to the last bit, so that the remainder is exactly 0."""
    if cells.dtype.kind != "f":
        return np.asarray(cells.sum(axis=1), dtype=np.float64)
    *_, last = cumulative_blocks(cells)
    return last[:, -1]


def concordance(cells: Cells) -> tuple[float, float, float]:
    """Return twice the mass of pairs (row 0, row 1) with row 0 earlier, ties counting half; and both row sums.

    Whole numbers give an exact result up to 2⁵³.
    """
    twice, above, other = 0.0, 0.0, 0.0
    for start in range(0, cells.shape[1], _BLOCK):
        part = cells[:, start : start + _BLOCK]
        within, first, second = (_ones_concordance if _has_single_rows(part) else _block_concordance)(part)
        twice += 2 * above * second + within
        above += first
        other += second
    return twice, above, other


def _has_single_rows(part: Cells) -> bool:
    """Whether every column is (1, 0) or (0, 1)."""
    return part.dtype == np.uint8 and part.max() <= 1 and bool((part[0] != part[1]).all())


def _ones_concordance(part: Cells) -> tuple[float, float, float]:
    """Compute the concordance from the positions of ones: each follows as many ones of row 1 as position less rank."""
    places = np.flatnonzero(part[0].view(np.bool_))
    first, second = len(places), part.shape[1] - len(places)
    after = int(places.sum()) - first * (first - 1) // 2
    return float(2 * (first * second - after)), float(first), float(second)


def _block_concordance(part: Cells) -> tuple[float, float, float]:
    # Bytes of a block cannot overflow 64 bits, and whole numbers are twice as quick; larger ones might.
    first, second = part if part.dtype == np.uint8 else part.astype(np.float64)
    middle = 2 * np.cumsum(first, dtype=np.int64 if part.dtype == np.uint8 else np.float64)
    middle -= first
    middle *= second
    # Not by BLAS, whose threads stall when the cores are busy.
    return float(middle.sum()), float(first.sum()), float(second.sum())


def _cumsum(part: Cells) -> Cells:
    # A running sum of whole numbers is exact, and four times as fast as one of floats.
    wide = part if part.dtype.kind == "f" else part.astype(np.int64)
    return np.cumsum(wide, axis=1, out=None if wide is part else wide)


_RANK_BLOCK = 1 << 15
"""Entries of a block; larger ones would leave the cache."""


def pairwise_wins(score: Reals, code: Codes, amount: Cells | None, *, of: int, width: int) -> Floats:
    """Return the mass of pairs in which class `of` has the higher score, against each class; ties count half.

    The entry for the class itself has no meaning. Whole numbers give an exact result up to 2⁵².
    """
    order = argsort_descending(score)
    code = code[order]
    amount = None if amount is None else amount[order]
    ordered = score[order]
    tied = ordered[1:] == ordered[:-1]
    del order, ordered
    twice = np.zeros(width)
    above = 0.0
    for start, stop in pairwise([0, *_block_ends(tied)]):
        codes = code[start:stop]
        amounts = None if amount is None else amount[start:stop]
        own = (codes == of) if amounts is None else np.where(codes == of, amounts, 0)
        # Above an entry is what came before its run of equal scores, and half of what is in the run.
        reached = np.cumsum(own, dtype=np.float64)
        middle = _double_midranks(reached, tied[start : stop - 1]) + 2 * above
        twice += np.bincount(codes, weights=middle if amounts is None else middle * amounts, minlength=width)
        above += float(reached[-1])
    return twice / 2


def _double_midranks(reached: Floats, tied: Bools) -> Floats:
    """Return the sum of the cumulative mass before and after each run of equal entries, for every entry."""
    if not tied.any():
        return np.asarray(reached + np.concatenate([[0.0], reached[:-1]]))
    ends = np.flatnonzero(np.append(~tied, True))
    after = reached[ends]
    middle: Floats = np.repeat(after + np.concatenate([[0.0], after[:-1]]), np.diff(ends, prepend=-1))
    return middle


def _block_ends(tied: Bools) -> list[int]:
    """Return the ends of blocks, none within a run of equal entries."""
    size = len(tied) + 1
    stops = np.arange(_RANK_BLOCK, size, _RANK_BLOCK)
    if tied.any():
        ends = np.append(np.flatnonzero(~tied) + 1, size)
        stops = np.unique(ends[np.searchsorted(ends, stops)])
    return [*stops[stops < size].tolist(), size]


Places = npt.NDArray[np.intp]


def sliding_argmin(value: Floats, first: Places) -> Places:
    """Return the index of the minimum of value[first[j]], …, value[j], the last of equals, for every j; first[j] ≤ j.

    Every window is the union of two overlapping windows whose length is a power of two. Powers are processed one after
    the other, so only one array is needed: n log n steps.
    """
    last = np.arange(len(value))
    power = np.frexp(last - first + 1)[1] - 1  # floor of the logarithm
    minima = np.empty(len(value), dtype=np.intp)
    least = last.copy()  # of the 2^k values from each place on
    for k in range(int(power.max(initial=0)) + 1):
        if k:
            least = _argmin_of_two(value, least[: len(least) - (1 << (k - 1))], least[1 << (k - 1) :])
        places = np.flatnonzero(power == k)
        minima[places] = _argmin_of_two(value, least[first[places]], least[places - (1 << k) + 1])
    return minima


def _argmin_of_two(value: Floats, one: Places, other: Places) -> Places:
    return np.where(value[other] <= value[one], other, one)
