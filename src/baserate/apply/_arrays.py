"""Arrays and frames: apply a calibrator or a policy to columns in memory.

`decide_columns` looks every row up in small tables (see `_policy_lookup`) and randomizes only rows whose cuts disagree.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, Unpack, overload

import numpy as np
import numpy.typing as npt

from baserate._arrays import (
    Bools,
    Floats,
    FrozenMapping,
    Reals,
    keep_read_only,
    make_read_only,
    refuse_differing_indexes,
)
from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._cut import FLAG, random_numbers
from baserate._errors import DataError, FileFormatError, OptionError, ShapeError, keyword
from baserate._formatting import count_of
from baserate._policy import Policy
from baserate.apply._policy_lookup import NO_SCORE, RANDOM, REFUSED_GROUP, Codes, PolicyLookup, encode_groups
from baserate.apply._task import (
    MAX_EXAMPLES,
    AnyCalibrator,
    CalibratorOptions,
    ErrorKind,
    PolicyOptions,
    RowErrors,
    Task,
    duplicate_ids_note,
    error_kinds,
    invalid_ids,
    make_task,
    missing_ids,
    row_error,
    unknown_groups_error,
)
from baserate.read import (
    LabelCodes,
    Numbers,
    Table,
    as_column,
    as_series,
    count_rows,
    is_series,
    missing_objects,
    to_numbers,
)

_SCORES, _ID = "scores", "id"

IdValues = Any
"""A column of an array or a frame whose ids were checked."""


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Actions:
    """Actions of a policy: a code for each row, and the names of the codes."""

    codes: Codes
    """Position of each row's action among the names; −1 where a score is missing, so that nothing is decided."""
    names: tuple[str, ...]
    """Names of all actions."""
    notes: tuple[str, ...] = ()
    """Notes on the rows, such as ids that several rows share."""
    chances: Mapping[str, Floats] | None = None
    """Probability of each action in each row, if requested; NaN where nothing is decided."""

    def __repr__(self) -> str:
        counts = (f"{name} {np.count_nonzero(self.codes == at)}" for at, name in enumerate(self.names))
        return f"Actions({count_of(len(self), 'row')}: {', '.join(counts)})"

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def text(self) -> npt.NDArray[Any]:
        """Name of each row's action; None where nothing is decided."""
        # Code −1 is the last entry: None.
        if self.codes.min(initial=0) < 0:
            return np.array([*self.names, None], dtype=object)[self.codes]
        return np.array(self.names)[self.codes]

    @property
    def is_flagged(self) -> Bools:
        """Whether each row is flagged."""
        code = self.names.index(FLAG) if FLAG in self.names else len(self.names)
        return np.asarray(self.codes == code)


def actions(
    policy: Policy,
    scores: Any,  # noqa: ANN401  (a column of any kind)
    /,
    *,
    group: Any = None,  # noqa: ANN401  (a column of any kind, or several)
    id: Any = None,  # noqa: A002, ANN401  (a column of any kind)
    missing: Literal["refuse", "keep"] = "refuse",
    chances: bool = False,
) -> Actions:
    """Apply a policy to arrays, and return the action of each row.

    The action of a row depends neither on the order of rows nor on the other rows.

    Parameters
    ----------
    policy
        The policy to apply.
    scores
        An array, a list or a column of a frame.
    group
        A column of labels; for several attributes a mapping from their names to columns, or a list or tuple of one for
        each. Categorical columns and dictionaries of Arrow are read without decoding them.
    id
        A column of whole numbers or text, for a randomized policy.
    missing
        ``"refuse"`` rows whose score is missing, NaN or infinite; or ``"keep"`` them, with nothing decided.
    chances
        Whether to return the probability of each action, too.

    Returns
    -------
    Actions
        The actions, with notes on the rows.

    Raises
    ------
    DataError
        If a score or an id is missing, or the policy refuses a group.
    OptionError
        If the policy needs groups or ids, and they were not passed.

    Examples
    --------
    >>> from baserate import Cut
    >>> policy = Policy(by_group={("f",): Cut((0.4,)), ("m",): Cut((0.6,))}, otherwise="refer", attributes=("sex",))
    >>> result = actions(policy, [0.5, 0.5, 0.9], group=["f", "m", None])
    >>> result
    Actions(3 rows: pass 1, refer 1, flag 1)
    >>> result.text.tolist(), result.is_flagged.tolist()
    (['flag', 'pass', 'refer'], [True, False, False])
    """
    if not isinstance(policy, Policy):
        raise OptionError(
            f"{type(policy).__name__} is not a policy", remedy="read one with load_policy, or choose one."
        )
    if policy.needs_id and id is None:
        raise OptionError(
            "this policy is randomized by the ids of rows, but there are none", remedy=f"give them as {keyword('id')}."
        )
    task = make_task(policy, score=_SCORES, id=_ID, missing=missing, chances=chances)
    columns = _group_columns(policy.attributes, group)
    groups = dict(zip(policy.attributes, columns, strict=True))
    refuse_differing_indexes({_SCORES: scores, **groups, _ID: id})
    return decide_columns(task, PolicyColumns(scores, columns, id))


def _group_columns(attributes: Sequence[str], group: Any) -> Sequence[Any]:  # noqa: ANN401  (columns of any kind)
    """Return one column for each attribute, in their order."""
    needs = f"this policy requires {', '.join(attributes) or 'no group'}"
    if (group is None) is bool(attributes):
        option = keyword("group")
        raise OptionError(
            needs, remedy=f"give a column for each as {option}." if attributes else f"leave {option} out."
        )
    if isinstance(group, Mapping):
        if {*group} != {*attributes}:
            raise OptionError(
                f"group names {', '.join(map(str, group)) or 'nothing'}, but {needs}", remedy="name exactly those."
            )
        return [group[name] for name in attributes]
    if len(attributes) < 2:
        return [group] * len(attributes)
    if not isinstance(group, (list, tuple)) or len(group) != len(attributes):
        remedy = f"give {keyword('group')} as a mapping from those names to columns, or as a list of one for each."
        raise OptionError(needs, remedy=remedy)
    return group


class PolicyColumns(NamedTuple):
    """Columns that a policy reads, of any library."""

    scores: Any
    groups: Sequence[Any] = ()
    """One for each attribute."""
    ids: Any = None


def decide_columns(task: Task, columns: PolicyColumns) -> Actions:
    """Decide every row, or raise an error that lists the rows which cannot be decided."""
    scores, groups, ids = _read_columns(task, columns)
    lookup = PolicyLookup.of(task.policy, scores, groups)
    codes = lookup.actions()
    notes: tuple[str, ...] = ()
    if codes.min(initial=0) < 0:
        # One minimum is quicker than a search for each negative code, and most tables have none.
        _raise_row_errors(task, lookup, codes)
        notes = _randomize(task, lookup, codes, ids)
    names = task.policy.actions
    if len(task.new_columns) == 1:
        return Actions(make_read_only(codes), names, notes)
    chances = dict(zip(names, map(make_read_only, lookup.chances()), strict=True))
    return Actions(make_read_only(codes), names, notes, FrozenMapping(chances))


def _read_columns(task: Task, columns: PolicyColumns) -> tuple[Reals, list[LabelCodes], IdValues]:
    """Read scores as numbers, groups as codes, and check ids; all must have one length."""
    [name] = task.scores
    scores = to_numbers(name, columns.scores).values
    groups = [encode_groups(group, column) for group, column in zip(task.groups, columns.groups, strict=True)]
    ids = None if task.id is None else check_ids(task.id, columns.ids)
    count_rows(Table(dict(zip(task.groups, groups, strict=True)), {name: Numbers(scores)}, ids))
    return scores, groups, ids


def _raise_row_errors(task: Task, lookup: PolicyLookup, codes: Codes) -> None:
    """Refuse rows without a score, unless they are kept, and rows of groups that the policy refuses."""
    missing = np.flatnonzero(codes == NO_SCORE)
    if len(missing) and not task.keep_missing:
        first = (missing[:MAX_EXAMPLES] + 1).tolist()
        raise row_error(RowErrors("missing", len(missing), len(codes), first), task)
    refused = np.flatnonzero(codes == REFUSED_GROUP)
    if len(refused):
        raise unknown_groups_error(task.groups, lookup.keys.texts(refused), len(codes))


def _randomize(task: Task, lookup: PolicyLookup, codes: Codes, ids: IdValues) -> tuple[str, ...]:
    """Decide the rows whose cuts disagree, by the keyed hash of their ids; return notes on them."""
    rows = np.flatnonzero(codes == RANDOM)
    if not len(rows):
        return ()
    texts = id_texts(ids, rows)
    treatment, score_range = lookup.places(rows)
    numbers, cut = random_numbers(task.policy.key, texts), np.zeros(len(rows), dtype=np.intp)
    for edges in lookup.tables.edges:
        cut += numbers >= edges[treatment]
    codes[rows] = lookup.tables.cut_actions[treatment, score_range, cut]
    duplicates = len(texts) - len({*texts})
    return (duplicate_ids_note(str(task.id), duplicates, len(texts)),) if duplicates else ()


def check_ids(name: str, ids: Any) -> IdValues:  # noqa: ANN401  (any column)
    """Check that ids are whole numbers or text, all of one kind, and none missing; return the stored column."""
    column = as_series(name, ids)
    return _check_series(name, column) if is_series(column) else _check_array(name, column)


def id_texts(ids: IdValues, rows: npt.NDArray[np.intp]) -> list[str]:
    """Return the ids of some rows in the form in which they are hashed."""
    return list(map(str, ids[rows].to_list() if is_series(ids) else ids[rows].tolist()))


def _check_series(name: str, series: Any) -> IdValues:  # noqa: ANN401  (a column of a frame)
    import narwhals.stable.v2 as nw

    kind = series.dtype
    if not (kind.is_numeric() or kind in (nw.String, nw.Boolean)):
        return _check_objects(name, series.to_list())
    if series.null_count():
        _raise_missing_ids(name, series.is_null().to_numpy())
    if not (kind.is_integer() or kind == nw.String):
        raise invalid_ids(name, str(kind))
    return series


def _check_array(name: str, ids: Any) -> IdValues:  # noqa: ANN401  (an array or a list)
    if isinstance(ids, (list, tuple)):
        # NumPy would make floats of whole numbers beyond 2⁶³, and text of numbers beside text.
        return _check_objects(name, ids)
    column = as_column(name, ids)
    if isinstance(ids, np.ma.MaskedArray):
        _raise_missing_ids(name, np.ma.getmaskarray(ids))
    if column.dtype.kind in ("O", "T"):
        return _check_objects(name, column)
    if column.dtype.kind == "f":  # floats are refused below, but a missing id is the more helpful message
        _raise_missing_ids(name, np.isnan(column))
    # Floats have several spellings: 1e3, 1000.0 and 1000 would get different random numbers.
    if column.dtype.kind not in "iuU":
        raise invalid_ids(name, str(column.dtype))
    return column


def _check_objects(name: str, values: Any) -> IdValues:  # noqa: ANN401  (anything that holds one for each row)
    """Check Python objects, which must be all whole numbers, or all text."""
    # `np.array` would make values that are sequences another dimension.
    ids = np.fromiter(values, dtype=object, count=len(values))
    _raise_missing_ids(name, missing_objects(ids))
    types = {*map(type, ids)}
    # Booleans are integers in Python, but files write them as words.
    whole = all(issubclass(each, (int, np.integer)) and each is not bool for each in types)
    if not whole and not all(issubclass(each, str) for each in types):
        raise invalid_ids(name, " and ".join(sorted(each.__name__ for each in types)))
    return ids


def _raise_missing_ids(name: str, missing: Bools) -> None:
    if missing.any():
        first = np.flatnonzero(missing)[:MAX_EXAMPLES] + 1
        raise missing_ids(name, RowErrors("missing", int(missing.sum()), len(missing), first.tolist()))


_Calibration = Callable[[Sequence[Floats]], list[Floats]]
"""From score columns to probability columns."""


def calibrate_columns(task: Task, columns: Sequence[Any]) -> list[Floats]:
    """Compute the probabilities of score columns; NaN where a missing score is kept."""
    scores: list[Floats] = [np.asarray(column, dtype=np.float64) for column in columns]
    if len({len(column) for column in scores}) > 1:
        raise ShapeError("the columns have different lengths", remedy="give one value of each for every row.")
    calibrator = task.calibrator
    if isinstance(calibrator, MulticlassCalibrator):
        calibrate = _multiclass_function(calibrator)
    else:
        calibrate = _binary_function(calibrator, bounds=task.bounds)
    complete = np.logical_and.reduce([np.isfinite(column) for column in scores]) if task.keep_missing else None
    if complete is None or complete.all():
        return _calibrate_or_raise(task, scores, calibrate, None)
    probabilities = _calibrate_or_raise(task, [column[complete] for column in scores], calibrate, complete)
    return [_scatter(each, complete) for each in probabilities]


def _binary_function(calibrator: Calibrator, *, bounds: bool) -> _Calibration:
    def calibrate(scores: Sequence[Floats]) -> list[Floats]:
        return [calibrator(scores[0]), *(calibrator.bounds(scores[0]) if bounds else ())]

    return calibrate


def _multiclass_function(calibrator: MulticlassCalibrator) -> _Calibration:
    def calibrate(scores: Sequence[Floats]) -> list[Floats]:
        return list(calibrator(np.column_stack(scores)).T)

    return calibrate


def _calibrate_or_raise(
    task: Task, scores: Sequence[Floats], calibrate: _Calibration, complete: Bools | None
) -> list[Floats]:
    """Calibrate complete rows; where that fails, raise an error with the numbers of the rows in the whole table."""
    try:
        return calibrate(scores)
    except DataError:
        rows = np.arange(len(scores[0])) if complete is None else np.flatnonzero(complete)
        total = len(rows) if complete is None else len(complete)
        for kind in error_kinds(task):
            errors = rows[_error_mask(kind, np.column_stack(scores))]
            if len(errors):
                first = (errors[:MAX_EXAMPLES] + 1).tolist()
                raise row_error(RowErrors(kind, len(errors), total, first), task) from None
        raise


def _error_mask(kind: ErrorKind, scores: Floats) -> Bools:
    """Return which rows have an error of this kind and no earlier kind."""
    finite: Bools = np.asarray(np.isfinite(scores).all(axis=1))
    if kind == "missing":
        mask: Bools = ~finite
    elif kind == "outside":
        mask = finite & ((scores < 0) | (scores > 1)).any(axis=1)
    else:
        mask = finite & (scores == 0).all(axis=1)
    return mask


def _scatter(probabilities: Floats, complete: Bools) -> Floats:
    column = np.full(complete.shape, np.nan)
    column[complete] = probabilities
    return column


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
    name
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
    frame
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
    raise OptionError(f"the table is {type(table).__name__}; expected a frame, or a mapping from names to columns.")


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
    if library.is_pandas():  # in which code −1 is missing
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
        kind = "policy" if task.is_policy else "calibrator"
        raise OptionError(
            f"a lazy frame of {data.implementation.name.title()} cannot take a {kind}",
            remedy="collect it first, or run the expression of as_sql in its engine.",
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
