"""Quantiles of continuous distributions that have none in closed form, by Newton's method within brackets."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from baserate._arrays import Floats

_STEPS = 200
_NEAR = 4e-16
"""Relative width of a bracket that is as narrow as rounding allows."""


class _HasBreaks(Protocol):
    """A distribution with points that enclose its mass."""

    @property
    def breaks(self) -> Floats: ...
    def pdf(self, x: Floats, /) -> Floats: ...
    def cdf(self, x: Floats, /) -> Floats: ...
    def sf(self, x: Floats, /) -> Floats: ...


def find_quantiles(distribution: _HasBreaks, q: Floats, *, upper: bool, bounded: bool = False) -> Floats:
    """Return the values that are reached (or, if `upper`, exceeded) with these probabilities.

    The breaks of the distribution bracket each value. Newton's method follows, with bisection where it would leave the
    bracket. Probabilities beyond those of the outer breaks give the outer breaks. Those of 0 and 1 give the ends of the
    support, which are infinite unless the distribution is bounded; others outside [0, 1] give NaN.
    """
    breaks, tail = distribution.breaks, distribution.sf if upper else distribution.cdf
    at = tail(breaks)
    # As rising values, whichever tail it is.
    sign = -1.0 if upper else 1.0
    place = np.clip(np.searchsorted(sign * at, sign * q, side="left"), 1, len(breaks) - 1)
    low, high = breaks[place - 1], breaks[place]
    x = (low + high) / 2
    for step in range(_STEPS):
        gap = sign * (tail(x) - q)
        low, high = np.where(gap < 0, x, low), np.where(gap < 0, high, x)
        open_ = (gap != 0) & (high - low > _NEAR * np.maximum(np.abs(low), np.abs(high)))
        if not open_.any():
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = x - gap / distribution.pdf(x)
        # Every third step halves the bracket, so that the search ends wherever Newton's method is slow.
        inside = (newton > low) & (newton < high) & (step % 3 != 2)
        x = np.where(open_, np.where(inside, newton, (low + high) / 2), x)
    x = np.where((q >= 0) & (q <= 1), x, np.nan)
    first, last = (breaks[0], breaks[-1]) if bounded else (-np.inf, np.inf)
    least, greatest = (last, first) if upper else (first, last)
    return np.where(q == 0, least, np.where(q == 1, greatest, x))
