"""Frames: apply a calibrator or a policy to a table, and return a table of the same kind with new columns."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any, Unpack, overload

import numpy as np

from baserate._errors import FileFormatError, OptionError
from baserate._policy import Policy
from baserate.apply._arrays import Actions, PolicyColumns, calibrate_columns, decide_columns
from baserate.apply._task import AnyCalibrator, CalibratorOptions, PolicyOptions, Task, make_task
from baserate.read import to_numbers


@overload
def frame(calibrator: AnyCalibrator, table: Any, /, **options: Unpack[CalibratorOptions]) -> Any: ...  # noqa: ANN401
@overload
def frame(policy: Policy, table: Any, /, **options: Unpack[PolicyOptions]) -> Any: ...  # noqa: ANN401
def frame(artifact: Policy | AnyCalibrator, table: Any, /, **options: Any) -> Any:  # (a frame of any library)
    """Apply a calibrator or a policy to a table, and return the same kind of table with new columns.

    Every row and column stays in its place. Lazy frames of Polars and relations of DuckDB stay lazy, and raise errors
    about their rows when they are collected.

    Parameters
    ----------
    artifact
        A binary or multiclass calibrator; or a policy.
    table
        A frame of pandas, Polars, PyArrow or another library that Narwhals supports, a lazy frame of Polars, a relation
        of DuckDB, or a mapping from names to arrays or lists.
    score
        Name of the score column; for several classes, one for each, in their order or by their names. By default, those
        that the calibrator was fitted on, or the policy was chosen on.
    group
        For a policy: names of the group columns, one for each of its attributes, after which they are called by
        default.
    id
        For a randomized policy: name of the id column, which contains whole numbers or text. Rows that share an id get
        the same random number, and a warning counts them.
    to
        Name of the new column; for several classes, one for each. By default, the name of the score and
        ``_calibrated``; for a policy ``action``, categorical where the library supports that.
    bounds
        Whether to add both probabilities of a Venn–Abers calibrator too, in columns that end in ``_low`` and ``_high``.
    chances
        For a policy: whether to add the probability of each action too, in columns such as ``action_chance_flag``.
    missing
        ``"refuse"`` rows whose score is missing, NaN or infinite; or ``"keep"`` them, with nothing in the new columns.

    Returns
    -------
    A table of the same kind, with the new columns at its end.

    Raises
    ------
    DataError
        If rows have a score that is missing or outside [0, 1], or are of a group that the policy refuses.
    OptionError
        If a column does not exist, or a new one already does.

    Examples
    --------
    >>> from baserate import Cut
    >>> from baserate._calibrator import shift_log_odds
    >>> table = {"who": ["a", "b"], "risk": [0.2, 0.5]}
    >>> calibrated = frame(shift_log_odds(np.log(4)), table, score="risk")
    >>> calibrated["who"], calibrated["risk_calibrated"].round(9).tolist()
    (['a', 'b'], [0.5, 0.8])
    >>> frame(Policy(by_group={(): Cut((0.3,))}, otherwise="refuse"), table, score="risk")["action"].tolist()
    ['pass', 'flag']
    """
    task = make_task(artifact, **options)
    if isinstance(table, Mapping):
        return _apply_to_mapping(task, table)
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    try:
        data = nw.from_native(table, pass_through=True)
    except DuplicateError as error:
        raise FileFormatError("two columns of the frame have the same name", remedy="rename one of them.") from error
    if isinstance(data, nw.DataFrame):
        return _apply_to_frame(task, data)
    if isinstance(data, nw.LazyFrame):
        return _apply_to_lazy(task, data)
    raise OptionError(
        f"{type(table).__name__} is no frame that we know", remedy="give a frame or a mapping of columns."
    )


def _new_columns(task: Task, columns: Any, library: Any) -> dict[str, Any]:  # noqa: ANN401  (of any library)
    """Return the new columns by name, in the types of a library; as arrays if it is None."""
    if not task.is_policy:
        scores = [to_numbers(name, columns[name]).values for name in task.scores]
        return dict(zip(task.new_columns, calibrate_columns(task, scores), strict=True))
    ids = None if task.id is None else columns[task.id]
    groups = [columns[name] for name in task.groups]
    actions = decide_columns(task, PolicyColumns(columns[task.scores[0]], groups, ids))
    for note in actions.notes:
        warnings.warn(note, UserWarning, stacklevel=4)  # points at the caller of `frame`
    chances = () if actions.chances is None else actions.chances.values()
    return dict(zip(task.new_columns, [_action_column(actions, library), *chances], strict=True))


def _action_column(actions: Actions, library: Any) -> Any:  # noqa: ANN401  (of any library)
    """Return the actions as a categorical column, where a library has those."""
    if library is None:
        return actions.text
    space: Any = library.to_native_namespace()
    codes, names = actions.codes, list(actions.names)
    absent = codes < 0 if codes.min(initial=0) < 0 else None
    if library.is_pandas():
        return space.Categorical.from_codes(codes, names)
    if library.is_polars():
        series = space.Series(codes) if absent is None else space.Series(codes).set(space.Series(absent), None)
        return space.Series(names, dtype=space.Enum(names)).gather(series)
    if library.is_pyarrow():
        # Codes are in range by construction, and a check would cost a pass over the rows.
        return space.DictionaryArray.from_arrays(space.array(codes, mask=absent), space.array(names), safe=False)
    return actions.text.tolist()


def _apply_to_mapping(task: Task, table: Mapping[str, Any]) -> dict[str, Any]:
    task.check_columns(list(table))
    return {**table, **_new_columns(task, table, None)}


def _apply_to_frame(task: Task, data: Any) -> Any:  # noqa: ANN401  (frames)
    import narwhals.stable.v2 as nw

    task.check_columns(data.columns)
    backend = data.implementation
    columns = _new_columns(task, data, backend)
    result = data.with_columns(*(nw.new_series(name, each, backend=backend) for name, each in columns.items()))
    names = task.number_columns
    if task.keep_missing and any(np.isnan(columns[name]).any() for name in names):
        # Null, not NaN, where a library distinguishes them.
        result = result.with_columns(*(nw.when(~nw.col(name).is_nan()).then(nw.col(name)) for name in names))
    return result.to_native()


def _apply_to_lazy(task: Task, data: Any) -> Any:  # noqa: ANN401  (lazy frames)
    if data.implementation.is_duckdb():
        from baserate.apply._duckdb import apply_to_relation

        return apply_to_relation(task, data.to_native())
    if not data.implementation.is_polars():
        kind = "policy" if task.is_policy else "map"
        raise OptionError(
            f"a lazy frame of {data.implementation.name.title()} cannot take a {kind}; collect it first, or give "
            "its engine the expression that as_sql writes."
        )
    task.check_columns(data.collect_schema().names())
    pl: Any = data.implementation.to_native_namespace()
    # One struct of all new columns: separate columns would repeat the work for each of them.
    types = dict.fromkeys(task.new_columns, pl.Float64)
    if task.is_policy:
        types[task.new_columns[0]] = pl.Enum(task.policy.actions)
    struct = pl.struct(pl.col(list(task.columns)))
    new = struct.map_batches(partial(_apply_to_struct, task), return_dtype=pl.Struct(types))
    return data.to_native().with_columns(new.struct.unnest())


def _apply_to_struct(task: Task, struct: Any) -> Any:  # noqa: ANN401  (structs of Polars)
    """Return a struct of the new columns, from one of the columns that are read."""
    import narwhals.stable.v2 as nw

    result = _apply_to_frame(task, nw.from_native(struct.struct.unnest(), eager_only=True))
    return result.select(task.new_columns).to_struct()
