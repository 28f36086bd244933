"""Pool adjacent violators: the one primitive behind ROC hulls and isotonic regression."""

from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Cells, Floats

Blocks = tuple[npt.NDArray[np.intp], Floats, Floats]
"""Where blocks start, and the sums of both rows in each."""


def decreasing_blocks(first: Cells, second: Cells) -> Blocks:
    """Blocks in which the share first/(first+second) is pooled so that it strictly decreases.

    The blocks are the edges of the upper convex hull of the path of running sums (second, first), which starts at the
    origin: pooling neighbours whose shares increase is cutting the corners below the hull [@fawcett2007].

    Both rows ≥ 0, with a positive sum in every place.
    """
    from scipy.optimize import isotonic_regression

    # A run that never falls is pooled in any case; on real data two sweeps leave a tenth for the regression.
    starts = _runs(first, second)
    first, second = (np.add.reduceat(each, starts, dtype=_wide(each)) for each in (first, second))
    starts, first, second = _swept(starts, first, second)
    weight = first + second
    blocks: npt.NDArray[Any] = isotonic_regression(first / weight, weights=weight, increasing=False).blocks[:-1]
    starts, first, second = _kept(blocks, starts, first, second)
    # The regression compares rounded shares; blocks that are equal when cross-multiplied are pooled here.
    while True:
        swept = _swept(starts, first, second)
        if len(swept[0]) == len(starts):
            return swept
        starts, first, second = swept


def _swept(starts: npt.NDArray[np.intp], first: Floats, second: Floats) -> Blocks:
    """Pool every run of neighbours in which the share does not fall."""
    return _kept(_runs(first, second), starts, first, second)


def _runs(first: Cells, second: Cells) -> npt.NDArray[np.intp]:
    """Where runs begin in which the share first/(first+second) does not fall."""
    kind = np.uint16 if first.dtype == second.dtype == np.uint8 else np.float64  # wide enough for a product
    falls = np.multiply(first[:-1], second[1:], dtype=kind) > np.multiply(first[1:], second[:-1], dtype=kind)
    return np.concatenate([[0], np.flatnonzero(falls) + 1])


def _wide(cells: Cells) -> type[np.float64] | None:
    """A type for sums; none where it is that of the cells, which NumPy adds faster if it is not told."""
    return None if cells.dtype == np.float64 else np.float64


def _kept(blocks: npt.NDArray[Any], starts: npt.NDArray[np.intp], first: Floats, second: Floats) -> Blocks:
    return starts[blocks], np.add.reduceat(first, blocks), np.add.reduceat(second, blocks)
