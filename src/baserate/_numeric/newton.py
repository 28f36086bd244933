"""Newton's method for the maximum of a concave function, some of whose parameters may not fall below 0."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from baserate._arrays import Bools, Floats

_STEPS = 200
_CLOSE = 1e-7
"""Relative size of a step after which only rounding is left: the error squares from step to step."""
_FAR = 64.0
"""How far one step may lead: on flat ground Newton's method knows only the direction."""
_LEAST = 1e-200
"""Information that can still be divided by."""
_BARELY = 1e-15
"""Least share of information that rounding leaves."""
_FLAT = 1e-12
"""Share of the information at the start below which nothing holds a direction: there is no finite maximum."""

Moments = Callable[[Floats], tuple[Floats, Floats]]
"""From parameters to the slope of the function there, and its curvature, which is positive."""


class Peak(NamedTuple):
    """Where the function is greatest."""

    theta: Floats
    held: Bools
    """Which parameters stand at their bound of 0."""
    covariance: Floats
    """Inverse of the curvature; parameters at their bound do not vary."""
    settled: bool
    """Whether there is such a place; otherwise this is how far Newton's method went."""


def climbed(moments: Moments, start: Floats, *, bounded: int = 0, level: float | None = None) -> Peak:
    """Climb from a start; the first parameters, as many as are `bounded`, never fall below 0.

    With `level` a maximum is known to exist, and slopes up to this one are rounding.
    """
    here = start.copy()
    slope, curve = moments(here)
    first, settled = curve, False
    for _ in range(_STEPS):
        if level is None and not _holds(curve, first, ~_held(here, slope, bounded)):
            break
        step = _step(here, slope, curve, bounded)
        settled = _small(step, _CLOSE * max(np.abs(here).max(initial=0.0), 1.0))
        if settled:
            here = _kept(here + step, bounded)
        # Where a maximum is known to be, all that rounding leaves of a slope may still be long steps on flat ground.
        if settled := settled or (level is not None and _small(slope, level)):
            break
        here, slope, curve = _moved(moments, here, step, slope, bounded)
    slope, curve = moments(here)
    held = _held(here, slope, bounded)
    free = np.ix_(~held, ~held)
    covariance = np.zeros_like(curve)
    covariance[free] = _inverse(curve[free])
    return Peak(here, held, covariance, settled)


def _moved(moments: Moments, here: Floats, step: Floats, slope: Floats, bounded: int) -> tuple[Floats, Floats, Floats]:
    """Go a step, less far where it would leave the bounds, or where the way falls more steeply than it rose."""
    size = _reach(here[:bounded], step[:bounded])
    new = here
    for _ in range(_STEPS):
        new = _kept(here + size * step, bounded)
        next_slope, curve = moments(new)
        if next_slope @ step >= -0.5 * (slope @ step):
            break
        size /= 2
    return new, next_slope, curve


def _reach(here: Floats, step: Floats) -> float:
    """How much of a step can be gone before the first parameter reaches its bound."""
    falling = step < 0
    return float(min(1.0, (here[falling] / -step[falling]).min(initial=1.0)))


def _kept(theta: Floats, bounded: int) -> Floats:
    """Rounding does not leave the bounds."""
    theta[:bounded] = np.where(theta[:bounded] < _CLOSE**2, 0.0, theta[:bounded])
    return theta


def _held(here: Floats, slope: Floats, bounded: int) -> Bools:
    """Parameters at their bound that would fall below it."""
    held: Bools = (here <= 0) & (slope <= 0)
    held[bounded:] = False
    return held


def _holds(curve: Floats, first: Floats, free: Bools) -> bool:
    """Whether enough information is left in every direction."""
    if not free.any():
        return True
    now, before = curve[np.ix_(free, free)], first[np.ix_(free, free)]
    try:
        root = np.linalg.inv(np.linalg.cholesky(before))
    except np.linalg.LinAlgError:
        return False
    return bool(np.linalg.eigvalsh(root @ now @ root.T)[0] > _FLAT)


def _step(here: Floats, slope: Floats, curve: Floats, bounded: int) -> Floats:
    """Newton's step of what is free, which leaves alone what it would push out of its bounds."""
    held = _held(here, slope, bounded)
    while True:
        step, free = np.zeros(len(slope)), ~held
        step[free] = _inverse(curve[np.ix_(free, free)]) @ slope[free]
        pushed = (here <= 0) & (step < 0) & (np.arange(len(here)) < bounded)
        if not pushed.any():
            return step * min(1.0, _FAR / max(float(np.abs(step).max(initial=0.0)), _FAR))
        held |= pushed


def _small(values: Floats, most: float) -> bool:
    return bool(np.abs(values).max(initial=0.0) <= most)


def _inverse(matrix: Floats) -> Floats:
    """Inverse of a symmetric matrix; what rounding left flat or bent the wrong way counts as barely bent."""
    scale = np.sqrt(np.maximum(np.diag(matrix), _LEAST))
    bend, axes = np.linalg.eigh(matrix / np.outer(scale, scale))
    inverse = (axes / np.maximum(bend, _BARELY)) @ axes.T
    found: Floats = inverse / np.outer(scale, scale)
    return found
