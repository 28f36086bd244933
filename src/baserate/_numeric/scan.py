"""Running sums over tables of two rows, block by block, so that the work stays in the cache and needs no memory."""

from collections.abc import Iterator

import numpy as np

from baserate._arrays import Cells, Floats

_BLOCK = 1 << 16
"""Columns in a block."""


def running_blocks(cells: Cells) -> Iterator[Floats]:
    """Running sum of each row in blocks; each begins with the column that the one before ended with, at first 0."""
    reached = np.zeros((len(cells), 1))
    for start in range(0, cells.shape[1], _BLOCK):
        part = cells[:, start : start + _BLOCK]
        running = np.empty((len(cells), part.shape[1] + 1))
        running[:, :1] = reached
        np.add(reached, _running(part), out=running[:, 1:])
        yield running
        reached = running[:, -1:]
    if cells.shape[1] == 0:
        yield reached


def cumulated(cells: Cells) -> Floats:
    """Running sum of each row, starting at 0, so one longer than the row."""
    total = np.zeros((len(cells), cells.shape[1] + 1))
    start = 0
    for running in running_blocks(cells):
        total[:, start : start + running.shape[1]] = running
        start += running.shape[1] - 1
    return total


def row_totals(cells: Cells) -> Floats:
    """Where the running sums end, to the last bit, so that what remains after the last column is exactly 0."""
    if cells.dtype.kind != "f":
        return np.asarray(cells.sum(axis=1), dtype=np.float64)
    *_, last = running_blocks(cells)
    return last[:, -1]


def concordance(cells: Cells) -> tuple[float, float, float]:
    """Mass of pairs (row 0, row 1) in which row 0 stands earlier, equal places counting half, times two; and row sums.

    Whole numbers give an exact result up to 2⁵³.
    """
    twice, above, other = 0.0, 0.0, 0.0
    for start in range(0, cells.shape[1], _BLOCK):
        part = cells[:, start : start + _BLOCK]
        within, first, second = (_ones_concordance if _only_ones(part) else _block_concordance)(part)
        twice += 2 * above * second + within
        above += first
        other += second
    return twice, above, other


def _only_ones(part: Cells) -> bool:
    """Whether every place holds 1 in one row and 0 in the other."""
    return part.dtype == np.uint8 and part.max() <= 1 and bool((part[0] != part[1]).all())


def _ones_concordance(part: Cells) -> tuple[float, float, float]:
    """From the places of the ones: a one of row 0 comes after as many of row 1 as its place exceeds its rank."""
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


def _running(part: Cells) -> Cells:
    # A running sum of whole numbers is exact, and four times as fast as one of floats.
    wide = part if part.dtype.kind == "f" else part.astype(np.int64)
    return np.cumsum(wide, axis=1, out=None if wide is part else wide)
