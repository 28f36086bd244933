"""A map applied to a frame: the same kind comes back, with new columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Unpack

import numpy as np

from baserate._arrays import Bools, Floats
from baserate._class_map import ClassMap
from baserate._errors import BadFile, BadOption, BadShape, DataError
from baserate._map import Map
from baserate.apply._task import Asked, Task
from baserate.apply._wrong import SHOWN, Kind, Wrong, error, kinds
from baserate.read._memory import numbers_of, numbers_of_series


def frame(map_: Map | ClassMap, table: Any, /, **asked: Unpack[Asked]) -> Any:  # noqa: ANN401  (a frame of any library)
    """Apply a map to a table: the same kind of table comes back, with what the map makes of the scores.

    Every row and column stays in its place. Lazy frames of Polars and relations of DuckDB stay lazy, and refuse what
    cannot be mapped when they are collected.

    Parameters
    ----------
    map_
        A map of two classes or of several.
    table
        A frame of pandas, Polars, PyArrow or another library that Narwhals knows, a lazy frame of Polars, a relation of
        DuckDB, or a mapping from names to arrays or lists.
    score
        Name of the column of scores; of several classes, one for each, in their order or by their names. Without it,
        those that the map was fitted on.
    to
        Name of the new column; of several classes, one for each. Without it, the name of the score and ``_calibrated``.
    bounds
        Whether to add the two probabilities of a Venn–Abers map too, in columns that end in ``_low`` and ``_high``.
    missing
        ``"refuse"`` rows whose score is missing, NaN or infinite; or ``"keep"`` them, with nothing in the new column.

    Examples
    --------
    >>> from baserate._map import shifted
    >>> found = frame(shifted(np.log(4)), {"who": ["a", "b"], "risk": [0.2, 0.5]}, score="risk")
    >>> found["who"], found["risk_calibrated"].round(9).tolist()
    (['a', 'b'], [0.5, 0.8])
    """
    task = Task.of(map_, **asked)
    if isinstance(table, Mapping):
        task.check(list(table))
        given = [numbers_of(name, table[name]).values for name in task.scores]
        return {**table, **dict(zip(task.made, computed(task, given), strict=True))}
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    try:
        found = nw.from_native(table, pass_through=True)
    except DuplicateError as slip:
        raise BadFile("two columns of the frame have the same name; rename one of them.") from slip
    if isinstance(found, nw.DataFrame):
        return _eager(task, found)
    if isinstance(found, nw.LazyFrame):
        return _lazy(task, found)
    raise BadOption(f"{type(table).__name__} is no frame that we know; give a frame or a mapping of columns.")


def computed(task: Task, columns: Sequence[Any]) -> list[Floats]:
    """What the map makes of columns of numbers, NaN where it keeps what is missing."""
    given: list[Floats] = [np.asarray(column, dtype=np.float64) for column in columns]
    if len({len(column) for column in given}) > 1:
        raise BadShape("the columns have different lengths; give one value of each for every row.")
    apply = _of_classes(task.map) if isinstance(task.map, ClassMap) else _of_two(task.map, bounds=task.bounds)
    there = np.logical_and.reduce([np.isfinite(column) for column in given]) if task.keep else None
    if there is None or there.all():
        return _refusing(task, given, apply, None)
    found = _refusing(task, [column[there] for column in given], apply, there)
    return [_scattered(each, there) for each in found]


def _of_two(map_: Map, *, bounds: bool) -> Callable[[Sequence[Floats]], list[Floats]]:
    def apply(given: Sequence[Floats]) -> list[Floats]:
        return [map_(given[0]), *(map_.bounds(given[0]) if bounds else ())]

    return apply


def _of_classes(map_: ClassMap) -> Callable[[Sequence[Floats]], list[Floats]]:
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


def _eager(task: Task, found: Any) -> Any:  # noqa: ANN401  (frames)
    import narwhals.stable.v2 as nw

    task.check(found.columns)
    given = [numbers_of_series(name, found[name]).values for name in task.scores]
    made = computed(task, given)
    backend = found.implementation
    new = [nw.new_series(name, each, backend=backend) for name, each in zip(task.made, made, strict=True)]
    whole = found.with_columns(*new)
    if task.keep and any(np.isnan(each).any() for each in made):
        # Null, not NaN, where a library knows the difference.
        whole = whole.with_columns(*(nw.when(~nw.col(name).is_nan()).then(nw.col(name)) for name in task.made))
    return whole.to_native()


def _lazy(task: Task, found: Any) -> Any:  # noqa: ANN401  (lazy frames)
    if found.implementation.is_duckdb():
        from baserate.apply._engine import of_relation

        return of_relation(task, found.to_native())
    if not found.implementation.is_polars():
        raise BadOption(
            f"a lazy frame of {found.implementation.name.title()} cannot take a map; collect it first, or give its "
            "engine the expression that as_sql writes."
        )
    task.check(found.collect_schema().names())
    pl: Any = found.implementation.to_native_namespace()
    # One struct of all new columns, so that the map is applied once however many they are.
    kind = pl.Struct(dict.fromkeys(task.made, pl.Float64))
    made = pl.struct(pl.col(list(task.scores))).map_batches(partial(_struct, task), return_dtype=kind)
    return found.to_native().with_columns(made.struct.unnest())


def _struct(task: Task, part: Any) -> Any:  # noqa: ANN401  (structs of Polars)
    """New columns of those that hold the scores."""
    import narwhals.stable.v2 as nw

    whole = _eager(task, nw.from_native(part.struct.unnest(), eager_only=True))
    return whole.select(task.made).to_struct()
