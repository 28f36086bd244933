"""A map or a policy applied to a frame: the same kind comes back, with new columns."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any, Unpack, overload

import numpy as np

from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._errors import FileFormatError, OptionError
from baserate._policy import Policy
from baserate.apply._computed import computed
from baserate.apply._decided import Actions, Given, decided
from baserate.apply._decision import AskedOfPolicy, Decision
from baserate.apply._task import Asked, Task
from baserate.read import numbers_in


@overload
def frame(what: Calibrator | MulticlassCalibrator, table: Any, /, **asked: Unpack[Asked]) -> Any: ...  # noqa: ANN401
@overload
def frame(what: Policy, table: Any, /, **asked: Unpack[AskedOfPolicy]) -> Any: ...  # noqa: ANN401
def frame(
    what: Policy | Calibrator | MulticlassCalibrator, table: Any, /, **asked: Any
) -> Any:  # (a frame of any library)
    """Apply a map or a policy to a table: the same kind of table comes back, with what is made of the scores.

    Every row and column stays in its place. Lazy frames of Polars and relations of DuckDB stay lazy, and refuse what
    cannot be mapped or decided when they are collected.

    Parameters
    ----------
    what
        A map of two classes or of several; or a policy.
    table
        A frame of pandas, Polars, PyArrow or another library that Narwhals knows, a lazy frame of Polars, a relation of
        DuckDB, or a mapping from names to arrays or lists.
    score
        Name of the column of scores; of several classes, one for each, in their order or by their names. Without it,
        those that the map was fitted on, or the policy chosen on.
    group
        Of a policy: names of the columns of groups, one for each of its attributes. Without it, those are their names.
    id
        Of a policy that draws lots: name of the column of ids, which are whole numbers or text. Rows that share one
        draw the same lot, and are warned of.
    to
        Name of the new column; of several classes, one for each. Without it, the name of the score and ``_calibrated``;
        of a policy ``action``, categorical where the library knows that.
    bounds
        Whether to add the two probabilities of a Venn–Abers map too, in columns that end in ``_low`` and ``_high``.
    chances
        Of a policy: whether to add the chance of each action too, in columns such as ``action_chance_flag``.
    missing
        ``"refuse"`` rows whose score is missing, NaN or infinite; or ``"keep"`` them, with nothing in the new columns.

    Examples
    --------
    >>> from baserate import Cut
    >>> from baserate._calibrator import shift_log_odds
    >>> table = {"who": ["a", "b"], "risk": [0.2, 0.5]}
    >>> found = frame(shift_log_odds(np.log(4)), table, score="risk")
    >>> found["who"], found["risk_calibrated"].round(9).tolist()
    (['a', 'b'], [0.5, 0.8])
    >>> frame(Policy(by_group={(): Cut((0.3,))}, otherwise="refuse"), table, score="risk")["action"].tolist()
    ['pass', 'flag']
    """
    task = Decision.of(what, **asked) if isinstance(what, Policy) else Task.of(what, **asked)
    if isinstance(table, Mapping):
        return _mapping(task, table)
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    try:
        found = nw.from_native(table, pass_through=True)
    except DuplicateError as slip:
        raise FileFormatError("two columns of the frame have the same name; rename one of them.") from slip
    if isinstance(found, nw.DataFrame):
        return _eager(task, found)
    if isinstance(found, nw.LazyFrame):
        return _lazy(task, found)
    raise OptionError(f"{type(table).__name__} is no frame that we know; give a frame or a mapping of columns.")


def _made(task: Task | Decision, columns: Any, library: Any) -> dict[str, Any]:  # noqa: ANN401  (of any library)
    """New columns by name, as a library keeps them; or as arrays if it is None."""
    if isinstance(task, Task):
        return dict(
            zip(task.made, computed(task, [numbers_in(at, columns[at]).values for at in task.scores]), strict=True)
        )
    ids = None if task.id is None else columns[task.id]
    found = decided(task, Given(columns[task.score], [columns[name] for name in task.groups], ids))
    for note in found.notes:
        warnings.warn(note, UserWarning, stacklevel=4)  # whoever called `frame`
    chances = () if found.chances is None else found.chances.values()
    return dict(zip(task.made, [_kept(found, library), *chances], strict=True))


def _kept(found: Actions, library: Any) -> Any:  # noqa: ANN401  (of any library)
    """Actions as a categorical column, where a library has those."""
    if library is None:
        return found.text
    space: Any = library.to_native_namespace()
    codes, names = found.codes, list(found.names)
    nothing = codes < 0 if codes.min(initial=0) < 0 else None
    if library.is_pandas():
        return space.Categorical.from_codes(codes, names)
    if library.is_polars():
        places = space.Series(codes) if nothing is None else space.Series(codes).set(space.Series(nothing), None)
        return space.Series(names, dtype=space.Enum(names)).gather(places)
    if library.is_pyarrow():
        return space.DictionaryArray.from_arrays(space.array(codes, mask=nothing), space.array(names), safe=False)
    return found.text.tolist()


def _mapping(task: Task | Decision, table: Mapping[str, Any]) -> dict[str, Any]:
    task.check(list(table))
    return {**table, **_made(task, table, None)}


def _eager(task: Task | Decision, found: Any) -> Any:  # noqa: ANN401  (frames)
    import narwhals.stable.v2 as nw

    task.check(found.columns)
    backend = found.implementation
    made = _made(task, found, backend)
    whole = found.with_columns(*(nw.new_series(name, each, backend=backend) for name, each in made.items()))
    numbers = task.made if isinstance(task, Task) else task.made[1:]
    if task.keep and any(np.isnan(made[name]).any() for name in numbers):
        # Null, not NaN, where a library knows the difference.
        whole = whole.with_columns(*(nw.when(~nw.col(name).is_nan()).then(nw.col(name)) for name in numbers))
    return whole.to_native()


def _lazy(task: Task | Decision, found: Any) -> Any:  # noqa: ANN401  (lazy frames)
    if found.implementation.is_duckdb():
        return _of_relation(task, found.to_native())
    if not found.implementation.is_polars():
        what = "map" if isinstance(task, Task) else "policy"
        raise OptionError(
            f"a lazy frame of {found.implementation.name.title()} cannot take a {what}; collect it first, or give "
            "its engine the expression that as_sql writes."
        )
    task.check(found.collect_schema().names())
    pl: Any = found.implementation.to_native_namespace()
    # One struct of all new columns, so that the work is done once however many they are.
    kinds = dict.fromkeys(task.made, pl.Float64)
    if isinstance(task, Decision):
        kinds[task.made[0]] = pl.Enum(task.policy.actions)
    made = pl.struct(pl.col(list(task.used))).map_batches(partial(_struct, task), return_dtype=pl.Struct(kinds))
    return found.to_native().with_columns(made.struct.unnest())


def _of_relation(task: Task | Decision, relation: Any) -> Any:  # noqa: ANN401  (relations of DuckDB)
    if isinstance(task, Decision):
        from baserate.apply._policy_engine import of_relation as decided_in

        return decided_in(task, relation)
    from baserate.apply._engine import of_relation

    return of_relation(task, relation)


def _struct(task: Task | Decision, part: Any) -> Any:  # noqa: ANN401  (structs of Polars)
    """New columns of those that are read."""
    import narwhals.stable.v2 as nw

    whole = _eager(task, nw.from_native(part.struct.unnest(), eager_only=True))
    return whole.select(task.made).to_struct()
