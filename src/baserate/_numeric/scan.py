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
    # Products of bytes, summed over a block, fit an int64, in which running sums are fast. One room serves all blocks:
    # memory that is new to the process would cost more than the arithmetic.
    room = np.empty((3, min(_BLOCK, cells.shape[1])), dtype=np.int64 if cells.dtype == np.uint8 else np.float64)
    for start in range(0, cells.shape[1], _BLOCK):
        part = cells[:, start : start + _BLOCK]
        first, second, middle = room[:, : part.shape[1]]
        first[:], second[:] = part
        reached = float(np.cumsum(first, out=middle)[-1])
        here = float(second.sum())
        middle += middle
        middle -= first
        middle *= second  # not by BLAS, whose threads stall when the cores are busy
        twice += 2 * above * here + float(middle.sum())
        above += reached
        other += here
    return twice, above, other


def _running(part: Cells) -> Cells:
    # A running sum of whole numbers is exact, and four times as fast as one of floats.
    wide = part if part.dtype.kind == "f" else part.astype(np.int64)
    return np.cumsum(wide, axis=1, out=None if wide is part else wide)
