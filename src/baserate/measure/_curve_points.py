"""Points of a curve that its line needs: without them, the line through the others would be another one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats
from baserate._curve import Curve
from baserate._errors import OptionError, keyword
from baserate._formatting import join_words

Places = npt.NDArray[np.intp]


def find_corners(true: Floats, false: Floats) -> Bools:
    """Return which points are corners of the line through all: a step and the next one differ in direction.

    Axes of roc, gain and lorenz are linear in both masses, so that a line is straight in all of them or in none.
    """
    up, right = np.diff(true), np.diff(false)
    # Cross products of counts are exact up to 2⁵³; beyond, rounding may keep a point too many.
    turns = up[:-1] * right[1:] != up[1:] * right[:-1]
    return np.concatenate([[True], turns, [True]])


def find_recall_changes(true: Floats, _false: Floats) -> Bools:
    """Return which points are the first or the last of those with the same true positives, as in scikit-learn.

    Scikit-learn has no threshold at which nothing is flagged; here it is the first one, and kept, and so is the next.
    """
    steps = np.diff(true) != 0
    inner = np.concatenate([steps[1:], [True]]) | steps
    inner[:1] = True
    return np.concatenate([[True], inner])


_RULES: dict[str, Callable[[Floats, Floats], Bools]] = {
    "roc": find_corners,
    "gain": find_corners,
    "lorenz": find_corners,
    "pr": find_recall_changes,
    "det": find_recall_changes,
}


def find_needed_points(curve: Curve, what: tuple[object, ...]) -> Places:
    """Return the places of the points that at least one of some named curves needs."""
    rules = [_RULES.get(each.lower()) if isinstance(each, str) else None for each in what]
    if None in rules:
        raise OptionError(
            f"{keyword('drop_intermediate')} is for {join_words(list(_RULES))}",
            remedy="leave it out.",
        )
    true, false = np.asarray(curve.flagged_mass, dtype=np.float64)
    kept = np.zeros(len(true), dtype=bool)
    for rule in rules:
        assert rule is not None  # noqa: S101  (for the type checker)
        kept |= rule(true, false)
    return np.flatnonzero(kept)
