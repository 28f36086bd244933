"""Engines that hold a table: columns in memory and lazy frames; DuckDB is in `_duckdb`.

`open_table` opens any source as an `OpenTable`, which has one path to each of the six results (tallies, rows,
confusions, rows of classes, and the two kinds of target). An engine that groups and adds up by itself runs one query,
and only sums leave it. Every other engine loads its rows, and `_builders` makes the result.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Cells, Reals, refuse_differing_indexes
from baserate._confusion import Confusions
from baserate._errors import BaserateError, FileFormatError, NotNumericError, OptionError
from baserate._numeric.distinct import narrow_integers
from baserate._rows import MulticlassRows, MulticlassTarget, Rows, Target
from baserate._tally import Group, ReadSummary, Tallies, Tally
from baserate.read._builders import (
    blank_to_missing,
    build_class_rows,
    build_class_target,
    build_confusions,
    build_rows,
    build_tallies,
    build_target,
    check_binary_labels,
    check_classes,
    find_target_classes,
    occurring_labels,
    refuse_all_labelled,
    refuse_large_tables,
    renumber,
    tabulate_groups,
)
from baserate.read._columns import (
    LARGEST_WEIGHT,
    SMALLEST_WEIGHT,
    Columns,
    refuse_all_zero,
    refuse_inexact_total,
    refuse_weights,
)
from baserate.read._table import (
    LabelCodes,
    Problems,
    Rule,
    Table,
    as_array,
    check_numbers,
    is_label,
    load_table,
    note_labels,
    number_groups,
)

if TYPE_CHECKING:  # DuckDB and Narwhals are slow to import, and not needed for columns in memory
    import narwhals.stable.v2 as nw

    from baserate.read._duckdb import Relation, Watch

Source = str | PathLike[str] | Mapping[str, Any] | Any
T = TypeVar("T")

_STATES = ("fine", "zero", "missing", "NaN", "infinite", "negative", "extreme", "fractional")
"""States of a number. The engine groups by them, so that one pass both adds up and counts invalid values."""


class LazyColumns(NamedTuple):
    """A lazy frame, the names of its columns there, and which of them hold text to be parsed as labels."""

    frame: nw.LazyFrame[Any]
    names: Mapping[str, str]
    text: frozenset[str] = frozenset()
    same_labels: frozenset[str] = frozenset()
    """Text columns with one set of labels, which are parsed jointly."""

    def column(self, name: str) -> nw.Expr:
        """Return the column with the type that it has."""
        import narwhals.stable.v2 as nw

        return nw.col(self.names[name])

    def number(self, name: str) -> nw.Expr:
        """Return the column as a float64."""
        import narwhals.stable.v2 as nw

        return self.column(name).cast(nw.Float64)


class OpenTable(ABC):
    """A table that is open, in whatever engine: one path from it to each result."""

    columns: Columns
    copies: ClassVar[bool] = True
    """Whether results copy the loaded arrays, since somebody else may change those."""

    @abstractmethod
    def load(self) -> Table:
        """Load the columns in use into memory."""

    def compute(
        self,
        query: Callable[[LazyColumns, Columns, Rule], T],  # noqa: ARG002  (for engines that run it)
        build: Callable[[Table, Columns, Rule], T],
        rule: Rule,
        *,
        always: bool = False,  # noqa: ARG002
    ) -> T:
        """Run `query` in the engine if fewer data leave it that way, or `always`; else `build` from loaded rows."""
        return build(self.load(), self.columns, rule)

    def tallies(self, rule: Rule) -> Tallies:
        """Tally the scores of each class, model and group."""
        return self.compute(aggregate_tallies, build_tallies, rule)

    def rows(self, rule: Rule) -> Rows:
        """Return the rows."""
        return build_rows(self.load(), self.columns, rule, copy=self.copies)

    def confusions(self, rule: Rule) -> Confusions:
        """Count the pairs of true and predicted labels."""
        return self.compute(aggregate_confusions, build_confusions, rule, always=True)

    def class_rows(self, rule: Rule) -> MulticlassRows:
        """Return the rows with a score for each class."""
        return build_class_rows(self.load(), self.columns, rule, copy=self.copies)

    def target(self, rule: Rule) -> Target:
        """Return the scores of rows without labels, and a tally of the labelled rows."""
        return self.compute(aggregate_target, partial(build_target, copy=self.copies), rule)

    def class_target(self, rule: Rule) -> MulticlassTarget:
        """Return the scores for each class of rows without labels, and the labelled rows."""
        return build_class_target(self.load(), self.columns, rule, copy=self.copies)


class MemoryTable(OpenTable):
    """Arrays, lists, or columns of an eager frame."""

    def __init__(self, arrays: Mapping[str, Any], columns: Columns) -> None:
        self.arrays, self.columns = arrays, columns

    def load(self) -> Table:
        """Convert the columns in use to numbers and codes."""
        return load_table(self.arrays, self.columns)


class LazyTable(OpenTable):
    """A lazy frame of any engine but DuckDB."""

    def __init__(self, frame: Any, columns: Columns) -> None:  # noqa: ANN401  (a lazy frame of Narwhals)
        self.frame, self.columns = frame, columns

    def load(self) -> Table:
        """Collect the columns in use."""
        with _translate_engine_errors():
            frame = self.frame.select(*self.columns.used).collect()
        return load_table({name: frame[name] for name in self.columns.used}, self.columns)

    def compute(
        self,
        query: Callable[[LazyColumns, Columns, Rule], T],
        build: Callable[[Table, Columns, Rule], T],  # noqa: ARG002
        rule: Rule,
        *,
        always: bool = False,  # noqa: ARG002
    ) -> T:
        """Run the query in the engine."""
        # Own names, since Polars takes a name such as ^p.*$ for a regular expression.
        names = {name: f"baserate {at}" for at, name in enumerate(self.columns.used)}
        with _translate_engine_errors():
            return query(LazyColumns(self.frame.rename(names), names), self.columns, rule)


@contextmanager
def open_table(source: Source, columns: Columns, watch: Watch | None) -> Iterator[OpenTable]:
    """Open any source of a table, with the columns in use."""
    if paths := as_paths(source):
        from baserate.read import _files

        with _files.open_relation(paths, columns, watch) as relation:
            yield relation
    elif isinstance(source, Mapping):
        columns = columns.match(list(source))
        # Series of pandas in one mapping may have different indexes; those of a frame are aligned already.
        refuse_differing_indexes({name: source[name] for name in columns.used})
        yield MemoryTable(source, columns)
    else:
        with _open_frame(source, columns) as table:
            yield table


def as_paths(source: Source) -> list[str | PathLike[str]]:
    """Return the source as a list of paths, empty if it is something else."""
    paths: list[Any] = list(source) if isinstance(source, (list, tuple)) else [source]
    return paths if all(isinstance(each, (str, PathLike)) for each in paths) else []


@contextmanager
def _open_frame(source: Any, columns: Columns) -> Iterator[OpenTable]:  # noqa: ANN401  (a frame or a stream)
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame = nw.from_native(source, pass_through=True)
    except DuplicateError as error:
        raise FileFormatError("two columns of the frame have the same name", remedy="rename one of them.") from error
    if isinstance(frame, nw.DataFrame):
        columns = columns.match(frame.columns)
        yield MemoryTable({name: frame[name] for name in columns.used}, columns)
    elif isinstance(frame, nw.LazyFrame):
        with _translate_engine_errors():
            names = frame.collect_schema().names()
        columns = columns.match(names)
        yield _relation(frame.to_native(), columns) if frame.implementation.is_duckdb() else LazyTable(frame, columns)
    elif hasattr(source, "__arrow_c_stream__"):
        with _open_stream(source, columns) as relation:
            yield relation
    else:
        raise OptionError(
            f"{type(source).__name__} is not a table", remedy="give a frame, a mapping of columns, or a path."
        )


@contextmanager
def _translate_engine_errors() -> Iterator[None]:
    """Turn any error of an engine into ours; each engine has error types of its own, without a common base."""
    try:
        yield
    except (BaserateError, KeyboardInterrupt):
        raise
    except Exception as error:
        first_line = str(error).strip().splitlines()[:1] or [type(error).__name__]
        raise FileFormatError(f"the frame cannot be read: {first_line[0].rstrip('.')}.") from error


@contextmanager
def _open_stream(source: object, columns: Columns) -> Iterator[Relation]:
    """Read an Arrow stream into DuckDB; a stream can be read only once, but results need several passes."""
    from baserate.read._duckdb import engine

    with engine() as connection:
        with _translate_engine_errors():
            connection.from_arrow(source).create("stream")
        stream = connection.table("stream")
        yield _relation(stream, columns.match(stream.columns))


def _relation(native: Any, columns: Columns) -> Relation:  # noqa: ANN401  (a relation of DuckDB)
    from baserate.read._duckdb import Relation

    return Relation(native, columns)


def aggregate_tallies(lazy: LazyColumns, columns: Columns, rule: Rule) -> Tallies:
    """Tally a lazy frame, with one query for each model."""
    sums = {model: _sum_model(lazy, columns, model, rule) for model in columns.models}
    first = next(iter(sums.values()))
    # Each model is a query of its own, and nothing locks the data between them.
    if any((each.intake.read, each.groups) != (first.intake.read, first.groups) for each in sums.values()):
        raise FileFormatError("the data changed while they were read", remedy="read them again.")
    models = {model: {group: each.tally(at) for at, group in enumerate(each.groups)} for model, each in sums.items()}
    decisions = {model: sums[model].decisions() for model in columns.score} if columns.predicted else {}
    return Tallies(models, columns.group, first.intake, decisions)


def aggregate_confusions(lazy: LazyColumns, columns: Columns, rule: Rule) -> Confusions:
    """Count pairs of true and predicted labels in a lazy frame, with one query."""
    pair = (columns.truth, str(columns.predicted))
    own = replace(columns, score=(), weight=None, count=None, cluster=None, id=None)
    sums = _query(lazy._replace(same_labels=lazy.text & set(pair)), columns, own)
    problems = sums.problems
    stated = check_classes(sums.table.labels, own, rule, problems)
    read, dropped, valid = _select_entries(sums, columns, rule, problems)
    codes = {name: LabelCodes(column.codes[valid], column.labels) for name, column in sums.table.labels.items()}
    group, groups = number_groups([codes[name] for name in columns.group])
    schema = lazy.frame.collect_schema()
    orders = {name: tuple(getattr(schema[lazy.names[name]], "categories", ())) for name in pair}
    labels = stated or occurring_labels([codes[name] for name in pair], columns, orders)
    refuse_large_tables(labels, len(groups))
    truth, predicted = (renumber(codes[name], labels) for name in pair)
    notes = note_labels(sums.table.labels)
    intake = ReadSummary(read, dropped, problems.reasons, None, None, columns.names, notes, labels)
    tables = tabulate_groups(truth, predicted, labels, sums.select(valid, columns), group, groups)
    return Confusions(tables, columns.group, intake)


def aggregate_target(lazy: LazyColumns, columns: Columns, rule: Rule) -> Target:
    """Add up the mass at each score of a lazy frame, with and without label, with one query."""
    own = replace(columns, weight=None, count=None)
    sums = _query(lazy, columns, own)
    sums = sums._replace(table=blank_to_missing(sums.table))
    labels, scores, problems = sums.table.labels, sums.table.numbers[columns.score[0]], sums.problems
    two = find_target_classes(labels, own, rule, problems)
    check_numbers(columns.score[0], scores, problems)
    read, dropped, valid = _select_entries(sums, columns, rule, problems)
    score, amounts, times = scores.values[valid], sums.select(valid, columns), sums.amounts["times"][valid]
    intake = ReadSummary(read, dropped, problems.reasons, *two, columns.names, note_labels(labels), labelled=0)
    if two.positive is None:
        return _target_of_sums(score, amounts, None, intake)
    truth = LabelCodes(labels[columns.truth].codes[valid], labels[columns.truth].labels)
    labelled = truth.codes >= 0
    refuse_all_labelled(labelled, int(times.sum()), columns)
    first, rest = ([column[where] for column in amounts] for where in (labelled, ~labelled))
    tally = _tally_of_sums(score[labelled].astype(np.float64), is_label(truth, two.positive)[labelled], first)
    intake = replace(intake, labelled=int(times[labelled].sum()))
    return _target_of_sums(score[~labelled], rest, tally if labelled.any() else None, intake)


def _target_of_sums(score: Reals, sums: Sequence[Cells], labelled: Tally | None, intake: ReadSummary) -> Target:
    """Make a target of sums; without weights or repeated scores it needs no masses."""
    *weighted, rows = sums
    # Engines add counts as float64, which is exact: totals beyond 2⁵³ were refused.
    rows = narrow_integers(rows.astype(np.int64))
    if not weighted and rows.max(initial=1) == 1:
        return Target(score, labelled=labelled, intake=intake)
    mass, squares = weighted or (rows, rows)
    return Target(score, mass, squares, rows, labelled, intake)


@dataclass(frozen=True, slots=True)
class _ModelSums:
    """Sums for one model: an entry for each combination of score, class, decision and group."""

    score: npt.NDArray[Any]
    truth: Bools
    predicted: Bools | None
    group: npt.NDArray[Any]
    groups: tuple[Group, ...]
    sums: Sequence[Cells]
    """Rows; before them mass and squares, if there are weights."""
    intake: ReadSummary

    def tally(self, at: int) -> Tally:
        """Tally one group."""
        where = slice(None) if self.groups == ((),) else self.group == at
        return _tally_of_sums(self.score[where], self.truth[where], [column[where] for column in self.sums])

    def decisions(self) -> Tally:
        """Tally all rows by score and predicted label."""
        assert self.predicted is not None  # noqa: S101  (for the type checker)
        return _tally_of_sums(self.score, self.predicted, self.sums)


def _sum_model(lazy: LazyColumns, columns: Columns, model: str, rule: Rule) -> _ModelSums:
    # The keys of the query: weights and counts are summed, not grouped by.
    own = replace(
        columns, score=(model,) if model in columns.score else (), weight=None, count=None, cluster=None, id=None
    )
    sums = _query(lazy, columns, own)
    labels, numbers, problems = sums.table.labels, sums.table.numbers, sums.problems
    two = check_binary_labels(labels, own, rule, problems)
    for name in own.score:
        check_numbers(name, numbers[name], problems)
    read, dropped, valid = _select_entries(sums, columns, rule, problems)

    def select(name: str) -> LabelCodes:
        return LabelCodes(labels[name].codes[valid], labels[name].labels)

    def is_positive(name: str) -> Bools:
        return is_label(select(name), two.positive)

    predicted = None if own.predicted is None else is_positive(own.predicted)
    score = numbers[model].values[valid] if own.score else predicted
    group, groups = number_groups([select(name) for name in columns.group])
    intake = ReadSummary(read, dropped, problems.reasons, *two, columns.names, note_labels(labels))
    amounts = sums.select(valid, columns)
    return _ModelSums(
        np.asarray(score, np.float64), is_positive(columns.truth), predicted, group, groups, amounts, intake
    )


class _Sums(NamedTuple):
    """The result of a query: an entry for each combination of keys, with the sums of its rows."""

    table: Table
    states: Mapping[str, npt.NDArray[Any]]
    amounts: Mapping[str, npt.NDArray[Any]]
    """Sums: `times` counts the rows of the table, `rows` also applies the column of counts."""

    @property
    def problems(self) -> Problems:
        """Problems to be counted, in which each entry stands for all of its rows."""
        return Problems(len(self.amounts["times"]), self.amounts["times"])

    def select(self, valid: Bools, columns: Columns) -> list[Cells]:
        """Sums of valid entries: rows, before them mass and squares if there are weights."""
        names = ("rows",) if columns.weight is None else ("mass", "squares", "rows")
        return [self.amounts[name][valid] for name in names]


def _query(lazy: LazyColumns, columns: Columns, own: Columns) -> _Sums:
    """Group by labels, score and the states of all other numbers, and add up the amounts."""
    import narwhals.stable.v2 as nw

    _check_types(lazy, columns)
    states = [name for name in columns.numbers if name not in own.score or name in columns.amounts]
    keys = [lazy.column(name) for name in own.used] + [_state_expression(lazy, name, columns) for name in states]
    # Own names, so that none can clash with a sum or need quoting.
    key_names = [f"key{at}" for at in range(len(keys))]
    expressions = _amount_expressions(lazy, columns)
    picked = lazy.frame.select(
        *(key.alias(name) for key, name in zip(keys, key_names, strict=True)),
        *(amount.alias(name) for name, amount in expressions.items()),
    )
    grouped = picked.group_by(*key_names).agg(nw.len().alias("times"), *(nw.col(name).sum() for name in expressions))
    result = _collect(grouped)
    # Engines count in different integer types: Polars in uint32, DuckDB in int64.
    times = as_array("times", result["times"]).astype(np.int64)
    amounts = {"times": times, "rows": times} | {name: as_array(name, result[name]) for name in expressions}
    key_of = dict(zip([*own.used, *(f"state of {name}" for name in states)], key_names, strict=True))
    return _Sums(
        load_table(
            {name: result[key_of[name]] for name in own.used}, own, text=lazy.text, same_labels=lazy.same_labels
        ),
        {name: as_array(name, result[key_of[f"state of {name}"]]) for name in states},
        amounts,
    )


def _check_types(lazy: LazyColumns, columns: Columns) -> None:
    """Refuse columns that an engine would cast to numbers in silence, such as text in Polars."""
    import narwhals.stable.v2 as nw

    schema = lazy.frame.collect_schema()
    for name in columns.numbers:
        kind = schema[lazy.names[name]]
        if not (kind.is_numeric() or kind == nw.Boolean):
            raise NotNumericError(f"{name} holds {kind}, not numbers", remedy="convert it first.")


def _amount_expressions(lazy: LazyColumns, columns: Columns) -> dict[str, nw.Expr]:
    """Return the sums to compute, besides the number of rows."""
    count = None if columns.count is None else lazy.number(columns.count)
    weight = None if columns.weight is None else lazy.number(columns.weight)
    amounts = {} if count is None else {"rows": count}
    if weight is not None:
        mass = weight if count is None else weight * count
        # A row that stands for several contributes w² for each of them, not (n·w)².
        amounts |= {"mass": mass, "squares": mass * weight}
    return amounts


def _collect(frame: nw.LazyFrame[Any]) -> Mapping[str, Any]:
    """Run the query; DuckDB returns arrays without PyArrow, other engines a frame."""
    if frame.implementation.is_duckdb():
        arrays: Mapping[str, Any] = frame.to_native().fetchnumpy()
        return arrays
    return {series.name: series for series in frame.collect().iter_columns()}


def _state_expression(lazy: LazyColumns, name: str, columns: Columns) -> nw.Expr:
    """Return the index of the state of a score, weight or count; the first test that holds decides."""
    import narwhals.stable.v2 as nw

    value = lazy.number(name)
    tests = {"missing": lazy.column(name).is_null(), "NaN": value.is_nan(), "infinite": value.abs() == float("inf")}
    if name in (columns.weight, columns.count):
        tests |= {"negative": value < 0, "zero": value == 0}
        tests |= {"extreme": (value < SMALLEST_WEIGHT) | (value > LARGEST_WEIGHT)}
    if name == columns.count:
        tests["fractional"] = value % 1 != 0
    state: nw.Expr = nw.lit(0)
    # Nested from the last test to the first, so that "missing" is evaluated first: every other test of a null is null.
    for what, test in reversed(tests.items()):
        state = nw.when(test).then(nw.lit(_STATES.index(what))).otherwise(state)
    return state


def _select_entries(sums: _Sums, columns: Columns, rule: Rule, problems: Problems) -> tuple[int, int, Bools]:
    """Count invalid numbers; return the rows read, the rows dropped, and which entries are valid."""
    for name, state in sums.states.items():
        for what in ("missing", "NaN", "infinite"):
            problems.add(name, what, state == _STATES.index(what))
    read, dropped = problems.resolve(rule)
    return read, dropped, _find_valid(sums, columns, problems.bad)


def _find_valid(sums: _Sums, columns: Columns, bad: Bools | None) -> Bools:
    """Mark entries that are neither dropped nor of weight zero; refuse invalid weights."""
    times = sums.amounts["times"]
    valid = np.ones(len(times), dtype=np.bool_) if bad is None else ~bad
    for name in columns.amounts:
        state = sums.states[name][valid]
        for what in ("negative", "extreme", "fractional"):
            invalid = int(times[valid][state == _STATES.index(what)].sum())
            refuse_weights(name, what, invalid, int(times[valid].sum()))
    for name in columns.amounts:
        valid &= sums.states[name] != _STATES.index("zero")
        refuse_all_zero(name, valid)
    if columns.count is not None:
        refuse_inexact_total(columns.count, sums.amounts["rows"][valid])
    return valid


def _tally_of_sums(score: npt.NDArray[Any], truth: Bools, sums: Sequence[Cells]) -> Tally:
    tables = [np.stack([np.where(truth, column, 0), np.where(truth, 0, column)]) for column in sums]
    tables[-1] = narrow_integers(tables[-1].astype(np.int64))
    return Tally.of_sums(score, tables)
