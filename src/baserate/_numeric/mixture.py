"""The share of one of two known distributions in a mixture of both, by maximum likelihood.

Of a draw with densities f₁ and f₀, only its lean λ = (f₁ − f₀)/(f₁ + f₀) matters: the density of a mixture with share q
is, but for a factor, ½ + λ(q − ½). Nothing is infinite, even where one density is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from baserate._arrays import Cells, Floats

_BLOCK = 1 << 14
"""Draws that fit the cache, and that need not be pooled."""
_STEPS = 100
_PER_UNIT = 64
_FARTHEST = 40.0
"""Log-ratios beyond which draws count as so far, when they are pooled."""


class Moments(NamedTuple):
    """What draws say about a share q: slope of the log-likelihood, its curvature, and the noise of the slope."""

    slope: float
    curvature: float
    """Less the second derivative."""
    noise: float
    """Sum of squares: of weighted draws, with squared weights."""


class Draws(NamedTuple):
    """Draws by how much they lean, with their masses and squared weights; each counts once without."""

    lean: Floats
    mass: Cells | None = None
    squares: Cells | None = None

    @classmethod
    def of(cls, log_ratio: Floats, mass: Cells | None, squares: Cells | None) -> Draws:
        """Take draws by the logarithms of f₁/f₀, which may be infinite; what has no mass leans nowhere."""
        lean = np.tanh(log_ratio / 2)
        return cls(lean if mass is None else np.where(mass > 0, lean, 0.0), mass, squares)

    def moments(self, q: float) -> Moments:
        """Sums over all draws at a share q; infinite where a draw is impossible there."""
        sums = np.zeros(3)
        room = np.empty(min(_BLOCK, len(self.lean)))
        with np.errstate(divide="ignore"):
            for start in range(0, len(self.lean), _BLOCK):
                place = slice(start, start + _BLOCK)
                part = self.lean[place]
                u = np.multiply(part, q - 0.5, out=room[: len(part)])
                u += 0.5
                np.divide(part, u, out=u)
                sums += self._summed(u, place)
        return Moments(*map(float, sums))

    def _summed(self, u: Floats, place: slice) -> tuple[float, float, float]:
        if self.mass is None or self.squares is None:
            second = float(np.einsum("i,i", u, u))  # BLAS would start threads for every block
            return float(u.sum()), second, second
        square = u * u
        parts = (self.mass[place], u), (self.mass[place], square), (self.squares[place], square)
        slope, curvature, noise = (float(np.einsum("i,i", *part)) for part in parts)
        return slope, curvature, noise

    def surprise(self, q: float) -> float:
        """Less the log-likelihood of a share, but for a constant; infinite where a draw is impossible."""
        with np.errstate(divide="ignore"):
            heights = np.log(0.5 + self.lean * (q - 0.5))
        return -float(heights.sum() if self.mass is None else self.mass @ heights)

    def sensitivity(self, q: float) -> Floats:
        """How much the slope at q grows with each draw's log-ratio."""
        found = (1 - self.lean * self.lean) / (4 * (0.5 + self.lean * (q - 0.5)) ** 2)
        return found if self.mass is None else found * self.mass


def pooled(log_ratio: Floats, draws: Draws) -> tuple[Floats, Draws]:
    """Pool draws whose log-ratios differ by less than a 64th: enough for the shape of a likelihood.

    Returned are the mean log-ratios, too. Few draws stay as they are.
    """
    if len(log_ratio) <= _BLOCK:
        return log_ratio, draws
    near = np.clip(log_ratio, -_FARTHEST, _FARTHEST)
    bucket = ((near + _FARTHEST) * _PER_UNIT).astype(np.int32)
    mass = np.bincount(bucket, weights=draws.mass).astype(np.float64)
    squares = mass if draws.squares is None else np.bincount(bucket, weights=draws.squares)
    there = mass > 0
    middle = np.bincount(bucket, weights=near if draws.mass is None else near * draws.mass)[there] / mass[there]
    return middle, Draws.of(middle, mass[there], squares[there])


def likeliest(slope_at: Callable[[float], tuple[float, float]], start: float) -> float:
    """Share in [0, 1] where a falling slope is 0, by Newton's method between bounds; an end where it never is.

    `slope_at` gives the slope and the curvature at a share.
    """
    low, high, here = 0.0, 1.0, min(max(start, 1e-6), 1 - 1e-6)
    for _ in range(_STEPS):
        slope, curvature = slope_at(here)
        if slope > 0:
            low = here
        else:
            high = here
        step = here + slope / curvature if curvature > 0 else (low + high) / 2
        if not low < step < high:
            step = _towards_end(slope_at, low, high, upwards=slope > 0)
            if step in (0.0, 1.0):
                return step
        if abs(step - here) <= 1e-15 + 1e-13 * min(here, 1 - here):
            return step
        here = step
    return here


def _towards_end(slope_at: Callable[[float], tuple[float, float]], low: float, high: float, *, upwards: bool) -> float:
    """The end that lies that way, if the likelihood rises up to it; otherwise halfway."""
    if upwards and high == 1.0 and slope_at(1.0)[0] >= 0:
        return 1.0
    if not upwards and low == 0.0 and slope_at(0.0)[0] <= 0:
        return 0.0
    return (low + high) / 2
