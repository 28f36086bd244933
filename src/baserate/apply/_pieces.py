"""Knots and steps as pieces: what SQL and Python write down, and engines search."""

from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._calibrator_forms import Knots, Steps


class Pieces(NamedTuple):
    """Piece i holds from threshold at[i − 1] on, and there is value[i] + slope[i]·(x − start[i])."""

    at: Floats
    value: Floats
    slope: Floats
    start: Floats

    @property
    def flat(self) -> bool:
        """Whether all of them are constant."""
        return not self.slope.any()


def pieces(form: Knots | Steps) -> Pieces:
    """Pieces of a form, with the slopes that NumPy computes.

    >>> pieces(Knots(np.array([0.25, 0.75]), np.array([0.1, 0.6]))).slope.tolist()
    [0.0, 1.0, 0.0]
    """
    if isinstance(form, Steps):
        nothing = np.zeros(len(form.y))
        return Pieces(form.x, form.y, nothing, nothing)
    with np.errstate(over="ignore"):
        slope = np.concatenate([[0.0], np.diff(form.y) / np.diff(form.x), [0.0]])
    # Knots that nearly touch have no slope that a float can hold: there the map jumps.
    slope[~np.isfinite(slope)] = 0.0
    # A start of 0 keeps a flat piece flat however far it reaches.
    start = np.where(slope == 0, 0.0, np.concatenate([[0.0], form.x]))
    return Pieces(form.x, np.concatenate([form.y[:1], form.y]), slope, start)
