"""Isotonic regression by pooling adjacent violators, which also gives convex hulls, and with an extra observation."""

from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Cells, Floats

Blocks = tuple[npt.NDArray[np.intp], Floats, Floats]
"""Where blocks start, and the sums of both rows in each."""


def pool_adjacent_violators(first: Cells, second: Cells) -> Blocks:
    """Blocks in which the share first/(first+second) is pooled so that it strictly decreases.

    The blocks are the edges of the upper convex hull of the path of running sums (second, first), which starts at the
    origin: pooling neighbours whose shares increase is cutting the corners below the hull [@fawcett2007].

    Both rows ≥ 0, with a positive sum in every place.
    """
    from scipy.optimize import isotonic_regression

    # A run that never falls is pooled in any case; on real data two sweeps leave a tenth for the regression.
    starts = _run_starts(first, second)
    first, second = (np.add.reduceat(each, starts, dtype=_sum_type(each)) for each in (first, second))
    starts, first, second = _pool_runs(starts, first, second)
    weight = first + second
    blocks: npt.NDArray[Any] = isotonic_regression(first / weight, weights=weight, increasing=False).blocks[:-1]
    starts, first, second = _merge_blocks(blocks, starts, first, second)
    # The regression compares rounded shares; blocks that are equal when cross-multiplied are pooled here.
    while True:
        swept = _pool_runs(starts, first, second)
        if len(swept[0]) == len(starts):
            return swept
        starts, first, second = swept


def _pool_runs(starts: npt.NDArray[np.intp], first: Floats, second: Floats) -> Blocks:
    """Pool every run of neighbours in which the share does not fall."""
    return _merge_blocks(_run_starts(first, second), starts, first, second)


def _run_starts(first: Cells, second: Cells) -> npt.NDArray[np.intp]:
    """Where runs begin in which the share first/(first+second) does not fall."""
    kind = np.uint16 if first.dtype == second.dtype == np.uint8 else np.float64  # wide enough for a product
    falls = np.multiply(first[:-1], second[1:], dtype=kind) > np.multiply(first[1:], second[:-1], dtype=kind)
    return np.concatenate([[0], np.flatnonzero(falls) + 1])


def _sum_type(cells: Cells) -> type[np.float64] | None:
    """Return the type of sums; None for float64, which NumPy adds faster without an explicit type."""
    return None if cells.dtype == np.float64 else np.float64


def _merge_blocks(blocks: npt.NDArray[Any], starts: npt.NDArray[np.intp], first: Floats, second: Floats) -> Blocks:
    return starts[blocks], np.add.reduceat(first, blocks), np.add.reduceat(second, blocks)


def isotonic_with_extra_hit(hits: Floats, total: Floats) -> Floats:
    r"""Share of hits at each place after the isotonic regression of all places and one more hit at that place.

    The path of running sums (total, hits) has a greatest convex minorant, whose slopes are the regression. One more hit
    at place i moves all points before i by (−1, −1); the slope at i is that of the edge of the minorant that joins what
    is before i with what is not. That slope grows with i, so the two ends of the edge never go back: all of it takes
    one walk from left to right [@vovk2015].
    """
    x, y = np.concatenate([[0.0], np.cumsum(total)]).tolist(), np.concatenate([[0.0], np.cumsum(hits)]).tolist()
    after = _next_corner(x, y)
    before = [0]
    """Corners of the minorant of the points before i."""
    shares = np.empty(len(hits))
    left, right = 0, 1
    for place in range(1, len(x)):
        right = max(right, place)
        while True:
            at = before[left]
            run, rise = x[right] - x[at] + 1, y[right] - y[at] + 1
            if left + 1 < len(before):
                # Is the next corner below the line from the end on the right?
                other = before[left + 1]
                if (y[right] - y[other] + 1) * run > rise * (x[right] - x[other] + 1):
                    left += 1
                    continue
            other = after[right]
            if other and (y[other] - y[at] + 1) * run <= rise * (x[other] - x[at] + 1):
                right = other
                continue
            break
        shares[place - 1] = rise / run
        _add_corner(before, place, x, y)
        left = min(left, len(before) - 1)
    return shares


def _next_corner(x: list[float], y: list[float]) -> list[int]:
    """Of the minorant of each point and those after it, the corner that follows the point; 0 where none does."""
    after = [0] * len(x)
    for at in range(len(x) - 2, -1, -1):
        other = at + 1
        while after[other]:
            beyond = after[other]
            if (y[other] - y[at]) * (x[beyond] - x[at]) < (y[beyond] - y[at]) * (x[other] - x[at]):
                break
            other = beyond
        after[at] = other
    return after


def _add_corner(corners: list[int], at: int, x: list[float], y: list[float]) -> None:
    """Add a point on the right to a minorant."""
    while len(corners) > 1:
        last, one = corners[-1], corners[-2]
        if (y[last] - y[one]) * (x[at] - x[one]) < (y[at] - y[one]) * (x[last] - x[one]):
            break
        corners.pop()
    corners.append(at)
