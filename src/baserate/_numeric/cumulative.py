"""Cumulative sums, concordance of pairs, sliding minima, isotonic regression, and parallel work on large arrays.

Large arrays are processed in blocks that fit the cache, and in threads where these pay. Pooling adjacent violators
finds the convex hull of a path of cumulative sums, so it is both isotonic regression and the ROC hull.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Cells, Floats, Reals, block_slices
from baserate._numeric.distinct import Codes, argsort_descending

Item = TypeVar("Item")
Result = TypeVar("Result")


_MIN_PARALLEL = 1_000_000
"""Numbers from which threads pay."""
_CACHE_BLOCK = 1 << 15
"""Numbers of a block; larger ones would leave the cache."""


def cache_blocks(size: int) -> list[slice]:
    """Divide a range into slices that fit the cache.

    >>> cache_blocks(40_000)
    [slice(0, 32768, None), slice(32768, 65536, None)]
    """
    return block_slices(size, _CACHE_BLOCK)


def parallel_map(function: Callable[[Item], Result], items: Iterable[Item], *, size: int) -> list[Result]:
    """Apply a function to every item, in threads if `size` numbers are many; NumPy and hashing release the GIL."""
    if size < _MIN_PARALLEL:
        return [function(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor  # slow to import, and rarely needed

    # One for each core: the default adds four, for work that waits, and these threads compute.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))


@contextmanager
def run_in_background(function: Callable[[], Result], *, size: int) -> Iterator[Callable[[], Result]]:
    """Run a function in a thread while the body runs, if `size` numbers are many; yield a function for its result."""
    if size < _MIN_PARALLEL:
        yield function
        return
    from concurrent.futures import ThreadPoolExecutor  # slow to import, and rarely needed

    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(function).result


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
    # `sum` adds floats pairwise, which rounds differently from a running sum.
    *_, last = cumulative_blocks(cells)
    return last[:, -1]


def concordance(cells: Cells) -> tuple[float, float, float]:
    """Return twice the mass of pairs (row 0, row 1) with row 0 earlier, ties counting half; and both row sums.

    Whole numbers give an exact result up to 2⁵³.
    """
    # Twice, so that ties add whole numbers instead of halves.
    twice, above, other = 0.0, 0.0, 0.0
    for start in range(0, cells.shape[1], _BLOCK):
        part = cells[:, start : start + _BLOCK]
        within, first, second = (_ones_concordance if _has_single_rows(part) else _block_concordance)(part)
        twice += 2 * above * second + within
        above += first
        other += second
    return twice, above, other


def _has_single_rows(part: Cells) -> bool:
    """Return whether every column is (1, 0) or (0, 1)."""
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
    power = np.frexp(last - first + 1)[1] - 1  # the exponent is floor(log2) of an integer, exactly
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


Blocks = tuple[npt.NDArray[np.intp], Floats, Floats]
"""Where blocks start, and the sums of both rows in each."""


def pool_adjacent_violators(first: Cells, second: Cells) -> Blocks:
    """Pool adjacent places into blocks so that the share first/(first+second) strictly decreases.

    The blocks are the edges of the upper convex hull of the path of running sums (second, first), which starts at the
    origin: pooling neighbors whose shares increase is cutting the corners below the hull [@fawcett2007].

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
    """Pool every run of neighbors in which the share does not fall."""
    return _merge_blocks(_run_starts(first, second), starts, first, second)


def _run_starts(first: Cells, second: Cells) -> npt.NDArray[np.intp]:
    """Return where runs begin in which the share first/(first+second) does not fall."""
    kind = np.uint16 if first.dtype == second.dtype == np.uint8 else np.float64  # wide enough for a product
    # Cross-multiplied: products of counts are exact, quotients are rounded.
    falls = np.multiply(first[:-1], second[1:], dtype=kind) > np.multiply(first[1:], second[:-1], dtype=kind)
    return np.concatenate([[0], np.flatnonzero(falls) + 1])


def _sum_type(cells: Cells) -> type[np.float64] | None:
    """Return the type of sums; None for float64, which NumPy adds faster without an explicit type."""
    return None if cells.dtype == np.float64 else np.float64


def _merge_blocks(blocks: npt.NDArray[Any], starts: npt.NDArray[np.intp], first: Floats, second: Floats) -> Blocks:
    return starts[blocks], np.add.reduceat(first, blocks), np.add.reduceat(second, blocks)


def isotonic_with_extra_hit(hits: Floats, total: Floats) -> Floats:
    r"""Return the share of hits at each place by isotonic regression, with one more hit at that place.

    The path of running sums (total, hits) has a greatest convex minorant, whose slopes are the regression. One more hit
    at place i moves all points before i by (−1, −1); the slope at i is that of the edge of the minorant that joins what
    is before i with what is not. That slope grows with i, so the two ends of the edge never go back: all of it takes
    one walk from left to right [@vovk2015].
    """
    # Lists: a loop over single numbers is several times as fast with Python floats as with NumPy's scalars.
    x, y = np.concatenate([[0.0], np.cumsum(total)]).tolist(), np.concatenate([[0.0], np.cumsum(hits)]).tolist()
    after = _next_corner(x, y)
    before = [0]  # corners of the minorant of the points before i
    shares = np.empty(len(hits))
    left, right = 0, 1
    for place in range(1, len(x)):
        right = max(right, place)
        while True:
            at = before[left]
            run, rise = x[right] - x[at] + 1, y[right] - y[at] + 1
            if left + 1 < len(before):
                # The next corner is better if it lies below the line from the right end.
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
    """Return the corner after each point on the minorant of that point and all later ones; 0 where there is none."""
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


CLOSE = 1e-12
"""Difference of two rates that is rounding: sums of weights have errors, those of counts have none."""


def interpolate_falling(at: float, falling: Floats, values: Floats) -> float:
    """Return the value where falling rates reach a number, on lines between them; of equal rates the last.

    >>> interpolate_falling(0.5, np.array([1.0, 0.5, 0.5, 0.0]), np.array([0.0, 0.2, 0.6, 1.0]))
    0.6
    """
    reached = np.flatnonzero(falling >= at - CLOSE)[-1]
    if falling[reached] <= at + CLOSE:
        return float(values[reached])
    return float(np.interp(-at, -falling, values))
