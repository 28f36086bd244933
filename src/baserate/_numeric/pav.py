"""Pool adjacent violators: the one primitive behind ROC hulls and isotonic regression."""

from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats


def decreasing_blocks(first: Floats, second: Floats) -> npt.NDArray[np.intp]:
    """Start of each block in which the share first/(first+second) is pooled so that it strictly decreases.

    The blocks are the edges of the upper convex hull of the path of running sums (second, first), which starts at the
    origin: pooling neighbours whose shares increase is cutting the corners below the hull [@fawcett2007].

    Both rows ≥ 0, with a positive sum in every place.
    """
    from scipy.optimize import isotonic_regression

    starts = np.arange(len(first))
    # A run that never falls is pooled in any case; on real data two sweeps leave a tenth for the regression.
    for _ in range(2):
        starts, first, second = _swept(starts, first, second)
    weight = first + second
    blocks: npt.NDArray[Any] = isotonic_regression(first / weight, weights=weight, increasing=False).blocks[:-1]
    starts, first, second = _kept(blocks, starts, first, second)
    # The regression compares rounded shares; blocks that are equal when cross-multiplied are pooled here.
    while True:
        swept = _swept(starts, first, second)
        if len(swept[0]) == len(starts):
            return starts
        starts, first, second = swept


Blocks = tuple[npt.NDArray[np.intp], Floats, Floats]


def _swept(starts: npt.NDArray[np.intp], first: Floats, second: Floats) -> Blocks:
    """Pool every run of neighbours in which the share does not fall."""
    falls = first[:-1] * second[1:] > first[1:] * second[:-1]
    return _kept(np.flatnonzero(np.concatenate([[True], falls])), starts, first, second)


def _kept(blocks: npt.NDArray[Any], starts: npt.NDArray[np.intp], first: Floats, second: Floats) -> Blocks:
    return starts[blocks], np.add.reduceat(first, blocks), np.add.reduceat(second, blocks)
