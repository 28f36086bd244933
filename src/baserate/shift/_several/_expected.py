"""A table of what is expected in a target without labels, and how its cells vary with the rows of both sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._numeric.codes import Codes


class Expected(NamedTuple):
    """Expected cells: rows are the true classes, columns the decisions."""

    cells: Floats
    variances: Callable[[Floats], tuple[float, float]]
    """Variance of a number with these slopes in the cells: from the target's rows, and from those of validation."""
    notes: tuple[str, ...] = ()
    absent: tuple[int, ...] = ()
    """Classes that may not be there at all, as far as the interval of their share says."""


def tabulated(columns: Floats, decided: Codes, mass: Floats, width: int) -> Floats:
    """Sum columns, such as probabilities of the classes, by decision.

    >>> tabulated(np.array([[0.75, 0.25], [0.5, 0.5]]), np.array([0, 1]), np.ones(2), 2).tolist()
    [[0.75, 0.5], [0.25, 0.5]]
    """
    return np.stack([np.bincount(decided, weights=each * mass, minlength=width) for each in columns.T])


def products(rows: Floats, decided: Codes, squares: Floats, width: int) -> Floats:
    """Sum products of the columns of rows by decision, of shape (K, D, D)."""
    parts = (np.flatnonzero(decided == at) for at in range(width))
    return np.stack([(rows[part] * squares[part, None]).T @ rows[part] for part in parts])


def quadratic(slopes: Floats, sums: Floats) -> float:
    """Variance of a sum whose rows, where d is decided, are their features times the column d of the slopes."""
    return float(np.einsum("ld,dlk,kd->", slopes, sums, slopes))
