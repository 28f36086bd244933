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

    weight = first + second
    fit = isotonic_regression(first / weight, weights=weight, increasing=False)
    starts: npt.NDArray[Any] = fit.blocks[:-1]
    # The fit compares rounded shares; blocks equal in exact arithmetic are pooled here, by cross-multiplication.
    while len(starts) > 1:
        high, low = np.add.reduceat(first, starts), np.add.reduceat(second, starts)
        falls = high[:-1] * low[1:] > high[1:] * low[:-1]
        if falls.all():
            break
        starts = starts[np.concatenate([[True], falls])]
    return starts.astype(np.intp, copy=False)
