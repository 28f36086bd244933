"""Frozen arrays, and `ratio`: the only place where 0/0 is decided."""

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Reals = npt.NDArray[np.floating[Any]]
Bools = npt.NDArray[np.bool_]
Cells = npt.NDArray[Any]
"""Mass: float64 when weighted, whole numbers when counted."""

Value = float | Floats
"""One number, or one for each threshold, group, class or resample."""

Array = TypeVar("Array", bound=npt.NDArray[Any])


def ratio(part: Value, whole: Value) -> Value:
    """Divide; 0/0 is NaN and a/0 is infinite, without a warning.

    >>> ratio(0.0, 0.0), ratio(3.0, 0.0), ratio(1.0, 4.0)
    (nan, inf, 0.25)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.divide(part, whole)
    return float(value) if value.ndim == 0 else value


def frozen(array: Array) -> Array:
    """Return the array read-only; one that somebody may still write to is copied first."""
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array


def sealed(array: Array) -> Array:
    """Make an array of our own read-only, in place."""
    array.flags.writeable = False
    return array
