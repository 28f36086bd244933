"""Thresholds of probabilities as thresholds of the scores that a map makes them of.

A threshold most often is the probability of a score that somebody saw, and engines differ in the last bit of logarithms
and exponentials: where they computed the probability, that bit would decide. So closed forms, which never fall, are
turned round once, here, and engines compare the scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from sys import float_info

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._cut import Treatment
from baserate._forms import Line, LogOdds
from baserate._map import Map
from baserate.apply._stretches import Stretches, stretches

Places = npt.NDArray[np.int64]
"""Of floats in their order: neighbours are 1 apart."""

_LOWEST = np.iinfo(np.int64).min
_NEAR = 1 << 12
"""So many floats below a threshold may have its probability too, as rounding makes probabilities flicker."""


def is_closed(map_: Map | None) -> bool:
    """Whether a map is one of the closed forms, which take logarithms or exponentials."""
    return map_ is not None and isinstance(map_.form, (LogOdds, Line))


def stretches_before(treatment: Treatment, map_: Map | None) -> Stretches:
    """Divide scores where what is done with them changes; those before the map, if that is a closed form.

    >>> from baserate import Cut
    >>> from baserate._map import shifted
    >>> stretches_before(Cut((0.5,)), shifted(np.log(4))).at
    (0.2,)
    """
    found = stretches(treatment)
    if map_ is None or not isinstance(map_.form, (LogOdds, Line)):
        return found
    at = [each for each in before(map_.form, found.at) if each < np.inf]
    return replace(found, at=tuple(at), drawn=found.drawn[: len(at) + 1])


def before(form: LogOdds | Line, probabilities: Sequence[float]) -> list[float]:
    """Lowest score whose probability is not below each of these, which ascend; infinity where there is none."""
    wanted: Floats = np.asarray(probabilities, dtype=np.float64)
    ends = (0.0, 1.0) if form.of_probabilities else (-float_info.max, float_info.max)
    low, high = (np.full(wanted.shape, _place(np.array([end]))[0]) for end in ends)
    never = form(_float(high)) < wanted
    for _ in range(64):
        middle = (low >> 1) + (high >> 1) + (low & high & 1)  # the sum itself would be too large
        reached = form(_float(middle)) >= wanted
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    near = np.maximum(high[:, None] - np.arange(_NEAR), _place(np.array(ends[:1])))
    first = np.where(form(_float(near)) >= wanted[:, None], near, high[:, None]).min(axis=1)
    found: list[float] = np.where(never, np.inf, np.maximum.accumulate(_float(first))).tolist()
    return found


def _place(x: Floats) -> Places:
    bits = x.view(np.int64)
    return np.where(bits < 0, _LOWEST - bits, bits)


def _float(place: Places) -> Floats:
    return np.where(place < 0, _LOWEST - place, place).view(np.float64)
