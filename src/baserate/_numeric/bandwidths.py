"""Bandwidths of kernel density estimates."""

import numpy as np

from baserate._arrays import Floats

_IQR_OF_NORMAL = 1.34
"""Interquartile range of a normal distribution in standard deviations."""


def normal_reference_bandwidth(x: Floats, weight: Floats, size: float | None = None) -> float:
    r"""Compute Silverman's bandwidth [@silverman1986], :math:`0.9\min(s, IQR/1.34)\,n^{-1/5}`, R's `bw.nrd0`.

    `x` is sorted in either direction, and `weight` is how often each x occurs. `size` is the number of rows if weights
    are not such counts. If the quartiles are equal, the standard deviation alone counts. Without variation it is 0.

    >>> round(normal_reference_bandwidth(np.array([1.0, 2.0, 4.0, 7.0]), np.ones(4)), 6)  # bw.nrd0(c(1, 2, 4, 7))
    1.527028
    """
    if x[0] > x[-1]:
        x, weight = x[::-1], weight[::-1]
    total = float(weight.sum())
    n = total if size is None else size
    if n <= 1 or x[0] == x[-1]:
        return 0.0
    center = float(np.dot(weight, x)) / total
    deviation = float(np.sqrt(np.dot(weight, (x - center) ** 2) / total * n / (n - 1)))
    spread = _interquartile_range(x, weight * (n / total)) / _IQR_OF_NORMAL
    return float(0.9 * min(deviation, spread or deviation) * n**-0.2)


def _interquartile_range(x: Floats, counts: Floats) -> float:
    """Return the difference of the quartiles of type 7, which interpolate between rows."""
    below = np.cumsum(counts)
    place = np.array([0.25, 0.75]) * (below[-1] - 1)
    # A row at place k is the first x with more than k rows up to it; rounding must not skip one.
    lower, upper = (np.searchsorted(below * (1 - 1e-12), np.floor(place) + step, side="right") for step in (0, 1))
    last = len(x) - 1
    quartile = x[np.minimum(lower, last)] + (place % 1) * (x[np.minimum(upper, last)] - x[np.minimum(lower, last)])
    return float(quartile[1] - quartile[0])
