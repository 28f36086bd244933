"""Smoothing on [0, 1] by a Gaussian that is reflected at both ends."""

from math import ceil, log, pi, sqrt

import numpy as np

from baserate._arrays import Floats

_CELLS = 1 << 13
"""Steps of the grid."""
_TINY = 1e-16
_FLAT = 10.0
"""Width beyond which every Gaussian is as flat."""
_FINE = 8
"""Steps to half a turn of the fastest wave that is left."""


class Reflected:
    """Point masses on [0, 1], smoothed by a Gaussian of any width that is reflected at 0 and 1.

    A reflected Gaussian multiplies the k-th cosine by :math:`e^{-(πkσ)^2/2}`. The cosine sums of the masses are those
    of a grid over which every mass is spread by a cubic B-spline, divided by the spline's own.
    """

    def __init__(self, place: Floats, mass: Floats) -> None:
        from scipy.fft import dct

        # Twice the sums of cosines; the highest quarter is never used: its waves are not told apart from faster ones.
        waves = dct(_spread(place, mass), type=1)[: _CELLS // 4]
        turn = np.arange(len(waves)) / (2 * _CELLS)
        self._cosines: Floats = waves / 2 / np.sinc(turn) ** 4

    def absolute(self, width: float) -> float:
        """Integral of the absolute value of the smoothed masses, for a Gaussian of this standard deviation."""
        from scipy.fft import dct

        width = min(width, _FLAT)
        kept = min(len(self._cosines), ceil(sqrt(-2 * log(_TINY)) / (pi * width)) + 1)
        # As many steps as the fastest wave needs to be seen bending where the sign changes; a power of 2 is quick.
        waves = np.zeros(min(_CELLS, 1 << (_FINE * kept).bit_length()) + 1)
        waves[:kept] = self._cosines[:kept] * np.exp(-((pi * width * np.arange(kept)) ** 2) / 2)
        return _integral(dct(waves, type=1))


def _spread(place: Floats, mass: Floats) -> Floats:
    """Masses on the grid, those beyond its ends folded back; doubled at the ends, which the transform counts half."""
    at = place * _CELLS
    first = np.floor(at)
    over = at - first
    left = 1 - over
    pieces = (left**3, 4 - 6 * over**2 + 3 * over**3, 4 - 6 * left**2 + 3 * left**3, over**3)
    grid = np.zeros(_CELLS + 1)
    for step, piece in enumerate(pieces, start=-1):
        index = np.abs(first.astype(np.intp) + step)
        index = np.where(index > _CELLS, 2 * _CELLS - index, index)
        grid += np.bincount(index, mass * piece / 6, minlength=_CELLS + 1)
    grid[[0, -1]] *= 2
    return grid


def _integral(density: Floats) -> float:
    """Of the absolute value: trapezoids, exact for waves, but triangles at changes of sign, with Euler's term there."""
    size = np.abs(density)
    whole = size.sum() - (size[0] + size[-1]) / 2
    cross = density[:-1] * density[1:] < 0
    a, b = size[:-1][cross], size[1:][cross]
    return float(whole + np.sum((a + b) / 6 - a * b / (a + b))) / (len(density) - 1)
