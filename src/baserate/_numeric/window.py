"""Least values within windows that move to the right."""

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats

Places = npt.NDArray[np.intp]


def window_minima(value: Floats, first: Places) -> Places:
    """Place of the least value among value[first[j]], …, value[j], the last of equals, for every j; first[j] ≤ j.

    Any window is two of a power of two that overlap. The powers are gone through one after the other, so that only one
    array is kept: n log n steps.
    """
    last = np.arange(len(value))
    power = np.frexp(last - first + 1)[1] - 1  # floor of the logarithm
    found = np.empty(len(value), dtype=np.intp)
    least = last.copy()  # of the 2^k values from each place on
    for k in range(int(power.max(initial=0)) + 1):
        if k:
            least = _lesser(value, least[: len(least) - (1 << (k - 1))], least[1 << (k - 1) :])
        here = np.flatnonzero(power == k)
        found[here] = _lesser(value, least[first[here]], least[here - (1 << k) + 1])
    return found


def _lesser(value: Floats, one: Places, other: Places) -> Places:
    return np.where(value[other] <= value[one], other, one)
