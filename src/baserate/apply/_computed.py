"""What a map makes of columns of numbers; or which of their rows it cannot take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from baserate._arrays import Bools, Floats
from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._errors import DataError, ShapeError
from baserate.apply._task import Task
from baserate.apply._wrong import SHOWN, Kind, Wrong, error, kinds


def computed(task: Task, columns: Sequence[Any]) -> list[Floats]:
    """What the map makes of columns of numbers, NaN where it keeps what is missing."""
    given: list[Floats] = [np.asarray(column, dtype=np.float64) for column in columns]
    if len({len(column) for column in given}) > 1:
        raise ShapeError("the columns have different lengths; give one value of each for every row.")
    apply = (
        _of_classes(task.map) if isinstance(task.map, MulticlassCalibrator) else _of_two(task.map, bounds=task.bounds)
    )
    there = np.logical_and.reduce([np.isfinite(column) for column in given]) if task.keep else None
    if there is None or there.all():
        return _refusing(task, given, apply, None)
    found = _refusing(task, [column[there] for column in given], apply, there)
    return [_scattered(each, there) for each in found]


def _of_two(map_: Calibrator, *, bounds: bool) -> Callable[[Sequence[Floats]], list[Floats]]:
    def apply(given: Sequence[Floats]) -> list[Floats]:
        return [map_(given[0]), *(map_.bounds(given[0]) if bounds else ())]

    return apply


def _of_classes(map_: MulticlassCalibrator) -> Callable[[Sequence[Floats]], list[Floats]]:
    def apply(given: Sequence[Floats]) -> list[Floats]:
        return list(map_(np.column_stack(given)).T)

    return apply


def _refusing(
    task: Task, given: Sequence[Floats], apply: Callable[[Sequence[Floats]], list[Floats]], there: Bools | None
) -> list[Floats]:
    """Apply; where that fails, say which rows of all it is about."""
    try:
        return apply(given)
    except DataError:
        at = np.arange(len(given[0])) if there is None else np.flatnonzero(there)
        total = len(at) if there is None else len(there)
        for kind in kinds(task):
            wrong = at[_wrong(kind, np.column_stack(given))]
            if len(wrong):
                raise error(Wrong(kind, len(wrong), total, (wrong[:SHOWN] + 1).tolist()), task) from None
        raise


def _wrong(kind: Kind, given: Floats) -> Bools:
    """Rows that are wrong in this way alone."""
    there: Bools = np.asarray(np.isfinite(given).all(axis=1))
    if kind == "missing":
        wrong: Bools = ~there
    elif kind == "outside":
        wrong = there & ((given < 0) | (given > 1)).any(axis=1)
    else:
        wrong = there & (given == 0).all(axis=1)
    return wrong


def _scattered(found: Floats, there: Bools) -> Floats:
    everywhere = np.full(there.shape, np.nan)
    everywhere[there] = found
    return everywhere
