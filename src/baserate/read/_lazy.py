"""Lazy frames -> Tallies: the engine that holds the data groups and adds; only sums leave it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Cells, Reals
from baserate._confusion import Confusions
from baserate._errors import EmptyDataError, FileFormatError, NotNumericError
from baserate._numeric.distinct import narrowest
from baserate._read_summary import ReadSummary
from baserate._tally import Group, Tallies, Tally
from baserate._target import Target
from baserate.read._classes import by_group, check_classes, numbered, present, refuse_many_cells
from baserate.read._columns import LARGEST_WEIGHT, SMALLEST_WEIGHT, refuse_many, refuse_weights
from baserate.read._eager import Coded, Problems, Rule, Table, check_labels, check_numbers, grouped, is_label, notes
from baserate.read._memory import array_of, loaded
from baserate.read._named import Columns
from baserate.read._unlabelled import check_truth, refuse_all_known, unblanked

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

_STATES = ("fine", "zero", "missing", "NaN", "infinite", "negative", "extreme", "fractional")
"""What can be said of a number. The engine groups by it, so that one pass both adds up and counts what is wrong."""


class Lazy(NamedTuple):
    """A lazy frame, what columns are called there, and which are bare text whose labels are read by how they look."""

    frame: nw.LazyFrame[Any]
    names: Mapping[str, str]
    text: frozenset[str] = frozenset()
    alike: frozenset[str] = frozenset()
    """Those of the text columns that hold the same labels, so that all of them are read alike."""

    def column(self, name: str) -> nw.Expr:
        """Return the column as it is."""
        import narwhals.stable.v2 as nw

        return nw.col(self.names[name])

    def number(self, name: str) -> nw.Expr:
        """Return the column as a float64."""
        import narwhals.stable.v2 as nw

        return self.column(name).cast(nw.Float64)


def aggregated(lazy: Lazy, columns: Columns, rule: Rule) -> Tallies:
    """Tally a lazy frame, with one query for each model."""
    parts = {model: _part(lazy, columns, model, rule) for model in columns.models}
    first = next(iter(parts.values()))
    if any((part.intake.read, part.groups) != (first.intake.read, first.groups) for part in parts.values()):
        raise FileFormatError("the data changed while they were read; read them again.")
    models = {model: {group: part.tally(at) for at, group in enumerate(part.groups)} for model, part in parts.items()}
    decisions = {model: parts[model].decisions() for model in columns.score} if columns.predicted else {}
    return Tallies(models, columns.group, first.intake, decisions)


def targeted(lazy: Lazy, columns: Columns, rule: Rule) -> Target:
    """Add up how much sits at each score of a lazy frame, with or without its truth, with one query."""
    own = replace(columns, weight=None, count=None)
    found = _queried(lazy, columns, own)
    found = found._replace(table=unblanked(found.table))
    labels, scores = found.table.labels, found.table.numbers[columns.score[0]]
    problems = Problems(len(found.sums["times"]), found.sums["times"])
    two = check_truth(labels, own, rule, problems)
    check_numbers(columns.score[0], scores, problems)
    read, dropped, keep = _settled(found, columns, rule, problems)
    score, sums, times = scores.values[keep], found.kept(keep, columns), found.sums["times"][keep]
    intake = ReadSummary(read, dropped, problems.reasons, *two, columns.told, notes(labels), labelled=0)
    if two.positive is None:
        return _target(score, sums, None, intake)
    truth = Coded(labels[columns.truth].codes[keep], labels[columns.truth].labels)
    known = truth.codes >= 0
    refuse_all_known(known, int(times.sum()), columns)
    first, rest = ([column[there] for column in sums] for there in (known, ~known))
    labelled = _tally(score[known].astype(np.float64), is_label(truth, two.positive)[known], first)
    intake = replace(intake, labelled=int(times[known].sum()))
    return _target(score[~known], rest, labelled if known.any() else None, intake)


def _target(score: Reals, sums: Sequence[Cells], labelled: Tally | None, intake: ReadSummary) -> Target:
    """Target of sums; if every score is one row and no more, that goes without saying."""
    *weighted, rows = sums
    rows = narrowest(rows.astype(np.int64))
    if not weighted and rows.max(initial=1) == 1:
        return Target(score, labelled=labelled, intake=intake)
    mass, squares = weighted or (rows, rows)
    return Target(score, mass, squares, rows, labelled, intake)


@dataclass(frozen=True, slots=True)
class _Part:
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
        """Tally of one group."""
        here = slice(None) if self.groups == ((),) else self.group == at
        return _tally(self.score[here], self.truth[here], [column[here] for column in self.sums])

    def decisions(self) -> Tally:
        """Tally of everybody by score and predicted label."""
        assert self.predicted is not None  # noqa: S101  (for the type checker)
        return _tally(self.score, self.predicted, self.sums)


class _Found(NamedTuple):
    """What a query brought: columns, the states of others, and the sums."""

    table: Table
    states: Mapping[str, npt.NDArray[Any]]
    sums: Mapping[str, npt.NDArray[Any]]

    def kept(self, keep: Bools, columns: Columns) -> list[Cells]:
        """Sums of entries that are there: rows, before them mass and squares if there are weights."""
        wanted = ("rows",) if columns.weight is None else ("mass", "squares", "rows")
        return [self.sums[name][keep] for name in wanted]


def confused(lazy: Lazy, columns: Columns, rule: Rule) -> Confusions:
    """Count pairs of true and predicted labels in a lazy frame, with one query."""
    pair = (columns.truth, str(columns.predicted))
    own = replace(columns, score=(), weight=None, count=None, cluster=None, id=None)
    found = _queried(lazy._replace(alike=lazy.text & set(pair)), columns, own)
    problems = Problems(len(found.sums["times"]), found.sums["times"])
    known = check_classes(found.table.labels, own, rule, problems)
    read, dropped, keep = _settled(found, columns, rule, problems)
    there = {name: Coded(column.codes[keep], column.labels) for name, column in found.table.labels.items()}
    group, groups = grouped([there[name] for name in columns.group])
    schema = lazy.frame.collect_schema()
    orders = {name: tuple(getattr(schema[lazy.names[name]], "categories", ())) for name in pair}
    labels = known or present([there[name] for name in pair], columns, orders)
    refuse_many_cells(labels, len(groups))
    truth, decided = (numbered(there[name], labels) for name in pair)
    told = notes(found.table.labels)
    intake = ReadSummary(read, dropped, problems.reasons, None, None, columns.told, told, labels)
    tables = by_group(truth, decided, labels, found.kept(keep, columns), group, groups)
    return Confusions(tables, columns.group, intake)


def _settled(found: _Found, columns: Columns, rule: Rule, problems: Problems) -> tuple[int, int, Bools]:
    """Note what is wrong with numbers; rows read, rows dropped, and which entries are kept."""
    for name, state in found.states.items():
        for what in ("missing", "NaN", "infinite"):
            problems.add(name, what, state == _STATES.index(what))
    read, dropped = problems.settle(rule)
    return read, dropped, _kept(found, columns, problems.bad)


def _part(lazy: Lazy, columns: Columns, model: str, rule: Rule) -> _Part:
    own = replace(
        columns, score=(model,) if model in columns.score else (), weight=None, count=None, cluster=None, id=None
    )
    found = _queried(lazy, columns, own)
    labels, numbers = found.table.labels, found.table.numbers
    problems = Problems(len(found.sums["times"]), found.sums["times"])
    two = check_labels(labels, own, rule, problems)
    for name in own.score:
        check_numbers(name, numbers[name], problems)
    read, dropped, keep = _settled(found, columns, rule, problems)

    def there(name: str) -> Coded:
        return Coded(labels[name].codes[keep], labels[name].labels)

    def flagged(name: str) -> Bools:
        return is_label(there(name), two.positive)

    predicted = None if own.predicted is None else flagged(own.predicted)
    score = numbers[model].values[keep] if own.score else predicted
    group, groups = grouped([there(name) for name in columns.group])
    intake = ReadSummary(read, dropped, problems.reasons, *two, columns.told, notes(labels))
    sums = found.kept(keep, columns)
    return _Part(np.asarray(score, np.float64), flagged(columns.truth), predicted, group, groups, sums, intake)


def _queried(lazy: Lazy, columns: Columns, own: Columns) -> _Found:
    """Group by labels, score and the states of all other numbers, and add up the rest."""
    import narwhals.stable.v2 as nw

    _check_types(lazy, columns)
    states = [name for name in columns.numbers if name not in own.score or name in columns.amounts]
    keys = [lazy.column(name) for name in own.used] + [_state(lazy, name, columns) for name in states]
    # Names of our own, so that none can clash or need quoting.
    key_names = [f"key{at}" for at in range(len(keys))]
    amounts = _amounts(lazy, columns)
    picked = lazy.frame.select(
        *(key.alias(name) for key, name in zip(keys, key_names, strict=True)),
        *(amount.alias(name) for name, amount in amounts.items()),
    )
    summed = picked.group_by(*key_names).agg(nw.len().alias("times"), *(nw.col(name).sum() for name in amounts))
    found = collected(summed)
    times = array_of("times", found["times"]).astype(np.int64)
    sums = {"times": times, "rows": times} | {name: array_of(name, found[name]) for name in amounts}
    column = dict(zip([*own.used, *(f"state of {name}" for name in states)], key_names, strict=True))
    return _Found(
        loaded({name: found[column[name]] for name in own.used}, own, text=lazy.text, alike=lazy.alike),
        {name: array_of(name, found[column[f"state of {name}"]]) for name in states},
        sums,
    )


def _check_types(lazy: Lazy, columns: Columns) -> None:
    """Refuse what an engine would convert in silence."""
    import narwhals.stable.v2 as nw

    schema = lazy.frame.collect_schema()
    for name in columns.numbers:
        kind = schema[lazy.names[name]]
        if not (kind.is_numeric() or kind == nw.Boolean):
            raise NotNumericError(f"{name} holds {kind}, not numbers; convert it first.")


def _amounts(lazy: Lazy, columns: Columns) -> dict[str, nw.Expr]:
    """What to add up, besides the number of rows."""
    count = None if columns.count is None else lazy.number(columns.count)
    weight = None if columns.weight is None else lazy.number(columns.weight)
    amounts = {} if count is None else {"rows": count}
    if weight is not None:
        mass = weight if count is None else weight * count
        amounts |= {"mass": mass, "squares": mass * weight}
    return amounts


def collected(frame: nw.LazyFrame[Any]) -> Mapping[str, Any]:
    """Run the query; DuckDB gives arrays by itself, other engines a frame."""
    if frame.implementation.is_duckdb():
        arrays: Mapping[str, Any] = frame.to_native().fetchnumpy()
        return arrays
    return {series.name: series for series in frame.collect().iter_columns()}


def _state(lazy: Lazy, name: str, columns: Columns) -> nw.Expr:
    """Number of what can be said of a score, weight or count; what comes first goes first."""
    import narwhals.stable.v2 as nw

    value = lazy.number(name)
    tests = {"missing": lazy.column(name).is_null(), "NaN": value.is_nan(), "infinite": value.abs() == float("inf")}
    if name in (columns.weight, columns.count):
        tests |= {"negative": value < 0, "zero": value == 0}
        tests |= {"extreme": (value < SMALLEST_WEIGHT) | (value > LARGEST_WEIGHT)}
    if name == columns.count:
        tests["fractional"] = value % 1 != 0
    state: nw.Expr = nw.lit(0)
    for what, test in reversed(tests.items()):
        state = nw.when(test).then(nw.lit(_STATES.index(what))).otherwise(state)
    return state


def _kept(found: _Found, columns: Columns, bad: Bools | None) -> Bools:
    """Which entries are there: neither dropped nor of weight zero. Refuse weights that are no weights."""
    times = found.sums["times"]
    keep = np.ones(len(times), dtype=np.bool_) if bad is None else ~bad
    for name in columns.amounts:
        state = found.states[name][keep]
        for what in ("negative", "extreme", "fractional"):
            wrong = int(times[keep][state == _STATES.index(what)].sum())
            refuse_weights(name, what, wrong, int(times[keep].sum()))
    for name in columns.amounts:
        keep &= found.states[name] != _STATES.index("zero")
        if not keep.any():
            raise EmptyDataError(f"every {name} is zero, so there are no rows; give at least one a number above zero.")
    if columns.count is not None:
        refuse_many(columns.count, found.sums["rows"][keep])
    return keep


def _tally(score: npt.NDArray[Any], truth: Bools, sums: Sequence[Cells]) -> Tally:
    tables = [np.stack([np.where(truth, column, 0), np.where(truth, 0, column)]) for column in sums]
    tables[-1] = narrowest(tables[-1].astype(np.int64))
    return Tally.of_sums(score, tables)
