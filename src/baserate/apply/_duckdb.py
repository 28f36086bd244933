"""DuckDB: add the columns of a calibrator or a policy to a relation, without moving rows out of the engine.

Nested CASE expressions cost one step for each piece or group in every block of rows. Here the pieces of a calibrator
and the thresholds of groups stand in lists instead. A bucket of equal width gives the position at which a binary
search begins, with one projection for each of its steps: a thousand pieces cost hardly more than ten.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._calibrator import MulticlassCalibrator
from baserate._calibrator_forms import Between, Knots, Steps
from baserate._policy import REFUSE, Policy, group_texts
from baserate._tally import Group
from baserate.apply._policy_lookup import ScoreRanges, score_ranges
from baserate.apply._sql import (
    NULL,
    GroupBranch,
    PiecewiseSql,
    RowColumns,
    action_sql,
    binary_formula,
    bounds_formulas,
    chance_sql,
    in_any_group,
    is_finite,
    is_random,
    is_valid,
    multiclass_formulas,
    number_literal,
    to_piecewise,
)
from baserate.apply._sql_dialects import DIALECTS
from baserate.apply._task import (
    MAX_EXAMPLES,
    ErrorKind,
    RowErrors,
    Task,
    duplicate_ids_note,
    error_kinds,
    invalid_ids,
    missing_ids,
    row_error,
    unknown_groups_error,
)
from baserate.read import cast_to_double, quote_identifier, quote_literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

    from baserate._errors import DataError

INVALID_SCORE = "a score is missing, infinite, or not a probability where one is needed"
UNKNOWN_GROUP = "a row is of a group that this policy refuses"
MISSING_ID = "a row has no id, which this randomized policy needs"
ENGINE_MESSAGES = (INVALID_SCORE, UNKNOWN_GROUP, MISSING_ID)
"""Messages that the engine raises at the first row that cannot be calibrated or decided."""

_DUCKDB = DIALECTS["duckdb"]
_MAX_BUCKETS = 1 << 16
_MAX_COMBINATIONS = 1 << 14
"""Combinations of labels that a list may hold: the engine copies the list for every block of rows."""
_INTEGER_TYPES = {
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
}
_JSON_TYPES = {
    "VARCHAR": "text",
    **dict.fromkeys(("BIGINT", "UBIGINT"), "whole numbers"),
    "DOUBLE": "numbers that are not whole, or too large",
    "BOOLEAN": "booleans",
    "OBJECT": "objects",
    "ARRAY": "lists",
}
"""Types of JSON values, in words."""


def apply_to_relation(task: Task, relation: Any) -> Any:  # noqa: ANN401  (relations of DuckDB)
    """Add the new columns to a relation, which stays lazy."""
    # DuckDB does not distinguish capitals in the names of columns.
    task.check_columns(relation.columns, case_sensitive=False)
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    existing = [(quote_identifier(name), quote_identifier(name)) for name in relation.columns]
    return RelationTask(
        task,
        relation,
        existing,
        [*map(quote_identifier, task.new_columns)],
        scores=[cast_to_double(name, types[name], quote_identifier(name)) for name in task.scores],
        groups=[label_sql(quote_identifier(name), types[name]) for name in task.groups],
        ids=None if task.id is None else find_id_column(task.id, quote_identifier(task.id), types[task.id]),
    ).apply(prefix="baserate ")


class IdColumn(NamedTuple):
    """An id column: its name, and its values as text, both in SQL."""

    place: str
    text: str


def label_sql(place: str, kind: str) -> str:
    """Return the text of a label of this type, in SQL, as policy files write it."""
    if kind == "VARCHAR":
        return place
    if kind == "JSON":
        return f"({place} ->> '$')"
    if kind in ("FLOAT", "DOUBLE"):  # as doubles, with all digits; NaN is not a label
        return f"CASE WHEN NOT isnan({place}) THEN CAST({place}::DOUBLE AS VARCHAR) END"
    return f"CAST({place} AS VARCHAR)"


def find_id_column(name: str, place: str, kind: str) -> IdColumn:
    """Return the id column, or refuse a type whose values can be written in more than one way."""
    if kind in ("VARCHAR", "UUID") or kind in _INTEGER_TYPES or kind.startswith("ENUM"):
        return IdColumn(place, label_sql(place, kind))
    raise invalid_ids(name, kind)


@dataclass(frozen=True, slots=True)
class RelationTask:
    """A task, the relation that it applies to, and its columns in SQL."""

    task: Task
    relation: DuckDBPyRelation
    existing: Sequence[tuple[str, str]]
    """Expressions of the columns that stay, with their new names."""
    new_names: Sequence[str]
    """Names of the new columns."""
    scores: Sequence[str]
    """As doubles."""
    groups: Sequence[str] = ()
    """As text."""
    ids: IdColumn | None = None

    def apply(self, *, prefix: str = "") -> DuckDBPyRelation:
        """Add the new columns; the engine fails at the first row that cannot be calibrated or decided."""
        relation, expressions = self._decide(prefix) if self.task.is_policy else self._calibrate(prefix)
        pairs = [*self.existing, *zip(expressions, self.new_names, strict=True)]
        return relation.project(", ".join(f"{expression} AS {name}" for expression, name in pairs))

    def _add_scores(self, prefix: str) -> tuple[DuckDBPyRelation, list[str]]:
        """Add the scores as doubles, under names that no column has."""
        names = [quote_identifier(f"{prefix}score {at}") for at in range(len(self.scores))]
        pairs = zip(self.scores, names, strict=True)
        return self.relation.project(", ".join(["*", *(f"{score} AS {name}" for score, name in pairs)])), names

    def _calibrate(self, prefix: str) -> tuple[DuckDBPyRelation, list[str]]:
        """Return a relation with everything that the probabilities need, and their expressions."""
        relation, names = self._add_scores(prefix)
        search = _PieceSearch(prefix)
        expressions = _calibrator_expressions(self.task, names, search)
        return search.add_positions(relation), [_check_scores(self.task, names, each) for each in expressions]

    def _decide(self, prefix: str) -> tuple[DuckDBPyRelation, list[str]]:
        """Return a relation with everything that the decisions need, and expressions of the action and chances."""
        policy, (relation, row) = self.task.policy, self._add_groups(prefix)
        refusal = f"error({quote_literal(UNKNOWN_GROUP)})"
        # Categories are written in a fraction of the time that text takes.
        dialect = _DUCKDB._replace(enum_type=f"ENUM ({', '.join(map(quote_literal, policy.actions))})")
        expressions = [action_sql(policy, row, dialect, refusal=refusal)]
        if len(self.new_names) > 1:
            expressions += [chance_sql(policy, action, row, _DUCKDB, refusal=refusal) for action in policy.actions]
        if self.task.keep_missing:
            # The valid score is NULL only where a missing one is kept: elsewhere `_check_scores` fails.
            expressions = [f"CASE WHEN {row.score} IS NOT NULL THEN {each} END" for each in expressions]
        if self.ids:  # checked in all rows, so that an error does not depend on which rows are randomized
            no_id = f"error({quote_literal(MISSING_ID)})"
            expressions[0] = f"CASE WHEN {self.ids.place} IS NULL THEN {no_id} ELSE {expressions[0]} END"
        return relation, expressions

    def _add_groups(self, prefix: str = "") -> tuple[DuckDBPyRelation, RowColumns]:
        """Add the valid score, NULL where a missing one is allowed, and the thresholds of the group."""
        relation, names = self._add_scores(prefix)
        score = quote_identifier(f"{prefix}valid score")
        relation = relation.project(f"*, {_check_scores(self.task, names, names[0])} AS {score}")
        lists = list_groups(self.task.policy, self.groups, prefix)
        for projection in lists.projections if lists else ():
            relation = relation.project(projection)
        branches = lists.branches if lists else ()
        return relation, RowColumns(score, self.groups, self.ids and self.ids.text, branches=branches)

    def raise_row_errors(self) -> None:
        """Raise the error that lists the rows which cannot be calibrated or decided, if there are any."""
        names = [quote_identifier(f"score {at}") for at in range(len(self.scores))]
        pairs = zip(self.scores, names, strict=True)
        rows = self.relation.project(", ".join(f"{score} AS {name}" for score, name in pairs))
        for kind in error_kinds(self.task):
            errors = find_row_errors(kind, rows, _error_condition(kind, names))
            if errors is not None:
                raise row_error(errors, self.task)
        if self.groups and self.task.policy.otherwise == REFUSE:
            self._raise_unknown_groups()
        if self.ids:
            errors = find_row_errors("missing", self.relation.project(f"{self.ids.place} AS id"), "id IS NULL")
            if errors is not None:
                raise missing_ids(str(self.task.id), errors)

    def _raise_unknown_groups(self) -> None:
        relation, row = self._add_groups()
        condition = in_any_group(self.task.policy.by_group, row, _DUCKDB)
        unknown = f"{row.score} IS NOT NULL AND ({condition}) IS NOT TRUE"
        names = [f"group{at}" for at in range(len(self.groups))]
        texts = ", ".join(f"{text} AS {name}" for text, name in zip(self.groups, names, strict=True))
        groups = relation.filter(unknown).project(texts).aggregate(f"{', '.join(names)}, count(*) AS many")
        [(count, rows)] = groups.aggregate("count(*), sum(many)").fetchall()
        if count:
            # All columns, so that ties do not depend on the threads of the engine.
            order = ", ".join(["many DESC", *(f"{name} NULLS LAST" for name in names)])
            raise self._unknown_groups(groups.order(order).limit(MAX_EXAMPLES).fetchall(), (count, int(rows)))

    def _unknown_groups(self, largest: list[tuple[Any, ...]], whole: tuple[int, int]) -> DataError:
        rows_by_group = {tuple(texts): rows for *texts, rows in largest}
        [(total,)] = self.relation.aggregate("count(*)").fetchall()
        others = (whole[0] - len(rows_by_group), whole[1] - sum(rows_by_group.values()))
        return unknown_groups_error(self.task.policy.attributes, rows_by_group, total, others=others)

    def check_json_ids(self, place: str) -> None:
        """Check that ids in a JSON column are all text, or all whole numbers; only its values have types."""
        kinds = self.relation.project(f"json_type({place}) AS kind").distinct().order("kind").fetchall()
        types = list(dict.fromkeys(_JSON_TYPES[kind] for (kind,) in kinds if kind in _JSON_TYPES))
        if len(types) > 1 or not {*types} <= {"text", "whole numbers"}:
            raise invalid_ids(str(self.task.id), " and ".join(types))

    def notes(self) -> tuple[str, ...]:
        """Return notes on the rows after they are decided: ids that several randomized rows share."""
        if not self.ids:
            return ()
        relation, row = self._add_groups()
        randomized = f"{row.score} IS NOT NULL AND {is_random(self.task.policy, row, _DUCKDB)}"
        ids = relation.filter(randomized).project(f"{self.ids.place} AS id").aggregate("id, count(*) AS many")
        [(count, rows)] = ids.aggregate("count(*), coalesce(sum(many), 0)").fetchall()
        return (duplicate_ids_note(str(self.task.id), int(rows) - count, int(rows)),) if rows > count else ()


def find_row_errors(kind: ErrorKind, rows: DuckDBPyRelation, condition: str) -> RowErrors | None:
    """Count the rows for which a condition holds, and number the first of them."""
    [(count, total)] = rows.aggregate(f"count(*) FILTER ({condition}), count(*)").fetchall()
    if not count:
        return None
    # The engine preserves the order of rows, so that these are the numbers in the source.
    first = rows.project("row_number() OVER () AS at, *").filter(condition).limit(MAX_EXAMPLES)
    return RowErrors(kind, count, total, [at for (at, *_) in first.fetchall()])


def _error_condition(kind: ErrorKind, names: Sequence[str]) -> str:
    """Return the condition for an error of this kind and no earlier kind, in SQL."""
    if kind == "missing":
        return " OR ".join(f"{name} IS NULL OR NOT isfinite({name})" for name in names)
    complete = f"NOT ({_error_condition('missing', names)})"
    if kind == "outside":
        return f"{complete} AND NOT ({' AND '.join(f'{name} BETWEEN 0e0 AND 1e0' for name in names)})"
    return f"{complete} AND {' AND '.join(f'{name} = 0e0' for name in names)}"


def _check_scores(task: Task, names: Sequence[str], expression: str) -> str:
    """Guard an expression: the engine fails where scores are invalid, and returns NULL where they may be missing."""
    keep = f"WHEN {_error_condition('missing', names)} THEN NULL " if task.keep_missing else ""
    valid = is_finite(names[0]) if task.is_policy else is_valid(task.calibrator.form, names)
    return f"CASE WHEN {valid} THEN {expression} {keep}ELSE error({quote_literal(INVALID_SCORE)}) END"


def _calibrator_expressions(task: Task, names: Sequence[str], piecewise: PiecewiseSql) -> list[str]:
    """Return the expression of each new column, for scores that are valid."""
    calibrator = task.calibrator
    if isinstance(calibrator, MulticlassCalibrator):
        return multiclass_formulas(calibrator.form, names, piecewise)
    expressions = [binary_formula(calibrator.form, names[0], piecewise)]
    if task.bounds and isinstance(calibrator.form, Between):
        expressions += bounds_formulas(calibrator.form, names[0], piecewise)
    return expressions


@dataclass(slots=True)
class _PieceSearch:
    """Lists of thresholds and values, and the binary searches in them, collected while formulas are written."""

    prefix: str
    lists: dict[str, Floats] = field(default_factory=dict)
    searches: dict[str, tuple[str, str, int]] = field(default_factory=dict)
    """Column of a position -> the score, the list, and the width of the first step."""
    starts: dict[str, str] = field(default_factory=dict)
    """Column of a position -> where its search begins."""
    names: dict[object, str] = field(default_factory=dict)
    """Lists and searches that exist already, by their content, so that equal ones are shared."""

    def __call__(self, form: Knots | Steps, score: str) -> str:
        """Add a search for the piece of a score, and return the expression of the probability."""
        pieces = to_piecewise(form)
        if not len(pieces.at):
            return number_literal(pieces.value[0])
        index = f"{self._add_search(pieces.at, score)} + 1"
        value = f"{self._add_list(pieces.value)}[{index}]"
        if pieces.flat:
            return value
        slope, start = (f"{self._add_list(numbers)}[{index}]" for numbers in (pieces.slope, pieces.start))
        return f"{value} + {slope} * ({score} - {start})"

    def _add_search(self, thresholds: Floats, score: str) -> str:
        key = (score, thresholds.tobytes())
        if key not in self.names:
            position = self.names[key] = quote_identifier(f"{self.prefix}place {len(self.searches)}")
            bucket, before, most = _buckets(thresholds, score)
            self.starts[position] = f"{self._add_list(before)}[{bucket} + 1]::INTEGER"
            # The first step is the largest power of two within the fullest bucket.
            self.searches[position] = (score, self._add_list(thresholds), 1 << (most.bit_length() - 1))
        return self.names[key]

    def _add_list(self, numbers: Floats) -> str:
        key = numbers.tobytes()
        if key not in self.names:
            self.names[key] = quote_identifier(f"{self.prefix}list {len(self.lists)}")
            self.lists[self.names[key]] = numbers
        return self.names[key]

    def add_positions(self, relation: DuckDBPyRelation) -> DuckDBPyRelation:
        """Add the lists and the positions in them to a relation."""
        if not self.searches:
            return relation
        lists = [f"{_list_literal(numbers)} AS {name}" for name, numbers in self.lists.items()]
        relation = relation.project(", ".join(["*", *lists]))
        relation = relation.project(", ".join(["*", *(f"{start} AS {name}" for name, start in self.starts.items())]))
        searches = self.searches
        while searches:
            steps = ", ".join(_search_step(position, *search) for position, search in searches.items())
            relation = relation.project(f"* REPLACE ({steps})")
            searches = {at: (score, name, step // 2) for at, (score, name, step) in searches.items() if step > 1}
        return relation


def _buckets(thresholds: Floats, score: str) -> tuple[str, Floats, int]:
    """Return the bucket of a score in SQL, how many thresholds lie before each bucket, and the most in one."""
    # More buckets than thresholds: few thresholds share one, so that few steps of the search remain.
    last = min(4 * len(thresholds), _MAX_BUCKETS)
    with np.errstate(all="ignore"):
        scale = last / (thresholds[-1] - thresholds[0])
    if not 0 < scale < np.inf:  # one threshold, or some that are too near or too far apart
        return "0", np.zeros(1), len(thresholds)
    # NumPy and DuckDB both round half to even, and rounding is monotone: a lower score is never in a higher bucket.
    buckets = np.rint(np.minimum((thresholds - thresholds[0]) * scale, last)).astype(np.int64)
    before = np.searchsorted(buckets, np.arange(last + 1)).astype(np.float64)
    position = f"({score} - {number_literal(thresholds[0])}) * {number_literal(scale)}"
    bucket = f"least(greatest({position}, 0e0), {number_literal(last)})::INTEGER"
    return bucket, before, int(np.bincount(buckets).max())


def _search_step(position: str, score: str, thresholds: str, step: int) -> str:
    # Beyond the end of a list the engine returns NULL, and no score is >= NULL.
    reached = f"{score} >= {thresholds}[{position} + {step}]"
    return f"{position} + CASE WHEN {reached} THEN {step} ELSE 0 END AS {position}"


def _list_literal(numbers: Floats) -> str:
    # A sub-query, which the engine keeps once: a literal list would be copied for every block of rows.
    values = ", ".join(map(number_literal, numbers.tolist()))
    return f"(SELECT l FROM (VALUES ([{values}])) AS t(l))"


_RangeShape = tuple[object, ...]
"""Score ranges without their thresholds."""


class GroupLists(NamedTuple):
    """Projections that look up the thresholds of a row's group, and the branches that use them."""

    projections: Sequence[str]
    branches: list[GroupBranch]


def list_groups(policy: Policy, groups: Sequence[str], prefix: str) -> GroupLists | None:
    """Look groups up in lists of labels; None where there are no groups, or too many combinations of labels.

    A chain of cases would cost one step for each group in every block of rows. Where a column stores each label once,
    as dictionaries in Parquet do, the engine finds the position in a list of labels once for each label.
    """
    group_by_texts = group_texts(policy)
    texts = [list(dict.fromkeys(each[place] for each in group_by_texts)) for place in range(len(groups))]
    if not groups or prod(map(len, texts)) > _MAX_COMBINATIONS:
        return None
    ranges = {group: score_ranges(treatment) for group, treatment in policy.by_group.items()}
    cells = [group_by_texts.get(each) for each in product(*texts)]
    columns, branches = _list_columns([None if cell is None else ranges[cell] for cell in cells], ranges, prefix)
    names = [quote_identifier(f"{prefix}label {place}") for place in range(len(groups))]
    labels = zip(texts, groups, names, strict=True)
    positions = [
        f"list_position({_list_sql(map(quote_literal, each))}, {text}) AS {name}" for each, text, name in labels
    ]
    index = _list_index(names, [*map(len, texts)])
    thresholds = [f"{values}[{index}] AS {name}" for name, values in columns.items()]
    return GroupLists([f"*, {', '.join(positions)}", f"*, {', '.join(thresholds)}"], branches)


def _list_columns(
    cells: Sequence[ScoreRanges | None], ranges: dict[Group, ScoreRanges], prefix: str
) -> tuple[dict[str, str], list[GroupBranch]]:
    """Return lists of the shape and of each threshold of every combination of labels, by column; and branches."""
    shapes = {_range_shape(each): each for each in ranges.values()}
    numbers = {shape: at for at, shape in enumerate(shapes)}
    column = quote_identifier(f"{prefix}shape")
    begins = [
        quote_identifier(f"{prefix}threshold {at}")
        for at in range(max(len(each.thresholds) for each in shapes.values()))
    ]
    columns = {column: _list_sql(NULL if cell is None else str(numbers[_range_shape(cell)]) for cell in cells)}
    for at, name in enumerate(begins):
        columns[name] = _list_sql(
            NULL if cell is None or at >= len(cell.thresholds) else number_literal(cell.thresholds[at])
            for cell in cells
        )
    pairs = enumerate(shapes.values())
    return columns, [GroupBranch((f"{column} = {at}",), each, begins[: len(each.thresholds)]) for at, each in pairs]


def _range_shape(ranges: ScoreRanges) -> _RangeShape:
    return ranges.actions, ranges.edges, ranges.chances


def _list_index(names: Sequence[str], sizes: Sequence[int]) -> str:
    """Return the position of a combination of labels, counted from 1, from the positions of its labels."""
    index = names[0]
    for name, size in zip(names[1:], sizes[1:], strict=True):
        index = f"({index} - 1) * {size} + {name}"
    return index


def _list_sql(values: Iterable[str]) -> str:
    return f"[{', '.join(values)}]"
