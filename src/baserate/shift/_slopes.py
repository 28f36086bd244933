"""How much a measure changes with the mass of either class at each score."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._tally import Tally
from baserate.infer import has_influence, influence_slopes
from baserate.measure import Measure, about

_STEP = 1e-6
"""Of the total mass."""
_PART = 1e-3
"""Of a cell, so that small ones stay positive."""


class Slopes(NamedTuple):
    """Changes with one more unit of mass of a positive, and of a negative, at each score."""

    positive: Floats
    negative: Floats

    @property
    def both(self) -> Floats:
        """A row for each class."""
        return np.stack(self)


def slopes(measure: Measure, tally: Tally, threshold: float | None) -> Slopes | None:
    """Slopes of a measure at a tally; None where there is no closed form, or it has a corner there."""
    if about(measure).of is Counts:
        cut = 0.5 if threshold is None else threshold
        cells = of_cells(measure, Curve(tally).at(float(cut)))
        if cells is None:
            return None
        flagged = tally.score >= cut
        return Slopes(np.where(flagged, cells.tp, cells.fn), np.where(flagged, cells.fp, cells.tn))
    if not has_influence(measure):
        return None
    _, positive, negative = influence_slopes(measure, tally)
    return Slopes(positive, negative) if np.isfinite(positive).all() and np.isfinite(negative).all() else None


class Cells(NamedTuple):
    """Changes with each cell of a 2×2 table."""

    tp: float
    fp: float
    fn: float
    tn: float


def of_cells(measure: Measure, counts: Counts[float]) -> Cells | None:
    """Slopes of a measure of a 2×2 table; None where they are not finite."""

    def measured(tables: Floats) -> Floats:
        return np.asarray(measure(Counts(*tables.T.copy())), dtype=np.float64)

    found = differences(measured, np.array([counts.tp, counts.fp, counts.fn, counts.tn]))
    return None if found is None else Cells(*map(float, found))


def differences(measured: Callable[[Floats], Floats], cells: Floats) -> Floats | None:
    """Change of something with each cell of a table, by small steps to both sides; None where that is not finite.

    `measured` takes many tables, a row of cells for each.
    """
    step = np.where(cells > 0, np.minimum(_STEP * cells.sum(), _PART * cells), _STEP * cells.sum())
    low, high = np.maximum(cells - step, 0.0), cells + step
    one = np.eye(len(cells), dtype=np.bool_)
    ends = [measured(np.where(one, other, cells)) for other in (low, high)]
    with np.errstate(invalid="ignore"):
        found: Floats = (ends[1] - ends[0]) / (high - low)
    return found if np.isfinite(found).all() else None
