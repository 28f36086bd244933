"""DuckDB, the embedded engine that reads files: connections, SQL quoting, relations, and its errors as ours.

A relation is aggregated in the engine where scores repeat; otherwise its rows are fetched, since a tally is no smaller.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, ClassVar

import duckdb
import numpy as np

from baserate._errors import BaserateError, FileFormatError, NotNumericError
from baserate._formatting import count_of
from baserate.read._columns import Columns
from baserate.read._engines import LazyColumns, OpenTable, T
from baserate.read._table import LabelCodes, Rule, Table, load_table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

Watch = Callable[[Callable[[], float | None]], AbstractContextManager[object]]
"""Takes a function that returns the percentage read so far, and returns a context in which to read."""

_FEW_ROWS = 100_000
"""Up to this many rows, fetching is faster than looking for repeated scores."""
_FEW_LABELS = 64
"""Up to this many distinct labels, the engine sends small codes in place of labels."""
_PLAIN = {"VARCHAR", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
"""Types of labels with the same literals in Python and in SQL."""
_NUMBERS = {"BOOLEAN", "FLOAT", "DOUBLE", "HUGEINT", "UHUGEINT", *_PLAIN} - {"VARCHAR"}
"""Types that convert to DOUBLE exactly, or refuse to."""
_UNSEEN = -2
"""Code of a label that did not occur among the first rows."""


@dataclass(frozen=True, slots=True)
class Relation(OpenTable):
    """A relation, its columns in use, and which of them hold text to be parsed as labels."""

    source: DuckDBPyRelation
    columns: Columns
    text: frozenset[str] = frozenset()
    name: str = "the relation"
    diagnose: Callable[[], None] | None = None
    """Called if a conversion fails; raises an error that names the values."""
    watched: Callable[[], AbstractContextManager[object]] | None = None
    """Returns a context that shows the progress of reading."""

    copies: ClassVar[bool] = False  # the arrays that DuckDB returns are ours

    def load(self) -> Table:
        """Fetch the rows."""
        with self._run() as native:
            return _fetch(native, self.columns, self.text)

    def compute(
        self,
        query: Callable[[LazyColumns, Columns, Rule], T],
        build: Callable[[Table, Columns, Rule], T],
        rule: Rule,
        *,
        always: bool = False,
    ) -> T:
        """Run the query in DuckDB where scores repeat, or `always`; otherwise fetch the rows and build."""
        # One context for both ways, so that progress is shown once.
        with self._run() as native:
            if always or has_repeated_scores(native, self.columns):
                return query(self._lazy_columns(native), self.columns, rule)
            table = _fetch(native, self.columns, self.text)
        return build(table, self.columns, rule)

    def _lazy_columns(self, native: DuckDBPyRelation) -> LazyColumns:
        import narwhals.stable.v2 as nw

        # Numbered names, since Narwhals passes names on as SQL expressions, which not every name survives.
        names = {name: f"c{at}" for at, name in enumerate(self.columns.used)}
        renamed = native.project(", ".join(f"{quote_identifier(name)} AS {short}" for name, short in names.items()))
        return LazyColumns(nw.from_native(renamed), names, self.text)

    @contextmanager
    def _run(self) -> Iterator[DuckDBPyRelation]:
        with self.watched() if self.watched else nullcontext(), translate_errors(self.name):
            try:
                yield _simplify_types(self.source, self.columns)
            except duckdb.ConversionException:
                # DuckDB stops at the first value that it cannot convert; the diagnosis counts all of them.
                if self.diagnose:
                    self.diagnose()
                raise


def engine(folder: str | None = None) -> DuckDBPyConnection:
    """Open an engine that downloads no extensions and spills only into the folder."""
    connection = duckdb.connect(config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"})
    # Progress must be enabled to be queried; printing it would spoil the output.
    connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
    if folder is not None:
        connection.execute(f"SET temp_directory = {quote_literal(folder)}")
    return connection


def quote_identifier(name: str) -> str:
    """Quote the name of a column for SQL.

    >>> print(quote_identifier('score"; drop table x'))
    "score""; drop table x"
    """
    return '"' + name.replace('"', '""') + '"'


def quote_literal(text: str) -> str:
    """Quote text for SQL.

    >>> print(quote_literal("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"


def cast_to_double(name: str, kind: str, place: str) -> str:
    """Return SQL that converts a column of this type to numbers, or refuse the type."""
    # DuckDB divides a DECIMAL by a power of ten, which may miss the nearest float; text is parsed exactly.
    if kind.startswith("DECIMAL"):
        return f"{place}::VARCHAR::DOUBLE"
    if kind not in _NUMBERS:
        raise NotNumericError(f"{name} holds {kind}, not numbers", remedy="convert it first.")
    return f"{place}::DOUBLE"


def _simplify_types(relation: DuckDBPyRelation, columns: Columns) -> DuckDBPyRelation:
    """Select the columns in use, in types that NumPy receives exactly.

    `fetchnumpy` would import pandas for an ENUM, and divide a DECIMAL by a power of ten, which may miss the nearest
    float.
    """
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))

    def cast(name: str) -> str:
        if kinds[name].startswith("ENUM"):
            return f"{quote_identifier(name)}::VARCHAR"
        if kinds[name].startswith("DECIMAL") and name in columns.numbers:
            return f"{quote_identifier(name)}::VARCHAR::DOUBLE"
        return quote_identifier(name)

    return relation.project(", ".join(f"{cast(name)} AS {quote_identifier(name)}" for name in columns.used))


def has_repeated_scores(relation: DuckDBPyRelation, columns: Columns) -> bool:
    """Return whether there are many rows and far fewer combinations of score and labels."""
    # Approximate counts suffice: both ways of reading give the same result, and differ in speed alone.
    keys = [*columns.score, *columns.labels]
    counts = ", ".join(["count(*)", *(f"approx_count_distinct({quote_identifier(name)})" for name in keys)])
    [(rows, *distinct)] = relation.aggregate(counts).fetchall()
    scores, labels = distinct[: len(columns.score)], distinct[len(columns.score) :]
    cells = max(scores, default=1) * prod(max(many, 1) for many in labels)
    return bool(rows > _FEW_ROWS and 4 * cells <= rows)


def _fetch(relation: DuckDBPyRelation, columns: Columns, text: frozenset[str]) -> Table:
    """Fetch the columns in use; labels as small codes, if there are few."""
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
    plain = [name for name in columns.labels if kinds[name] in _PLAIN]
    # Nearly always all labels occur among the first rows; if not, the second round looks at all rows.
    for rows in (relation.limit(_FEW_ROWS), relation):
        labels = {name: _distinct_labels(rows, name) for name in plain}
        coded = {name: distinct for name, distinct in labels.items() if len(distinct) <= _FEW_LABELS}
        others = [name for name in columns.used if name not in coded or name in (*columns.numbers, columns.id)]
        picked = [
            *(_code_expression(name, distinct) for name, distinct in coded.items()),
            *map(quote_identifier, others),
        ]
        # Numbered names, since DuckDB treats names that differ only in case as equal.
        fetched = relation.project(", ".join(f"{column} AS c{at}" for at, column in enumerate(picked))).fetchnumpy()
        arrays = [fetched[f"c{at}"] for at in range(len(picked))]
        if not any((codes == _UNSEEN).any() for codes in arrays[: len(coded)]):
            break
    codes = {name: LabelCodes(np.asarray(array), coded[name]) for name, array in zip(coded, arrays, strict=False)}
    return load_table(dict(zip(others, arrays[len(coded) :], strict=True)), columns, coded=codes, text=text)


def _distinct_labels(rows: DuckDBPyRelation, name: str) -> list[str | int]:
    few = (
        rows.filter(f"{quote_identifier(name)} IS NOT NULL")
        .project(quote_identifier(name))
        .distinct()
        .limit(_FEW_LABELS + 1)
    )
    return sorted(label for (label,) in few.fetchall())


def _code_expression(name: str, labels: list[str | int]) -> str:
    literals = [quote_literal(label) if isinstance(label, str) else str(label) for label in labels]
    # CASE needs a branch even where there is no label; "WHEN NULL" never holds.
    cases = " ".join(f"WHEN {label} THEN {at}" for at, label in enumerate(literals)) or "WHEN NULL THEN -1"
    return (
        f"(CASE {quote_identifier(name)} {cases} ELSE if({quote_identifier(name)} IS NULL, -1, {_UNSEEN}) END)::TINYINT"
    )


@contextmanager
def translate_errors(name: str) -> Iterator[None]:
    """Turn errors of DuckDB into ours."""
    try:
        yield
    except (BaserateError, duckdb.ParserException, duckdb.BinderException):
        raise  # ours already, or a defect in our SQL that must stay visible
    except duckdb.OutOfMemoryException as error:
        raise FileFormatError(
            f"{name} does not fit into memory ({_first_line(error)})", remedy="read a part of it."
        ) from error
    except duckdb.Error as error:
        raise FileFormatError(_describe_error(name, str(error))) from error
    except RuntimeError as error:  # DuckDB raises no KeyboardInterrupt on Ctrl-C
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from error
        raise


def _describe_error(name: str, message: str) -> str:
    line = re.search(r"CSV Error on Line: (\d+)\nOriginal Line: ?(.*)", message)
    where = f"line {line[1]} of {name}" if line else name
    columns = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if columns and line:
        return (
            f"{where} has {count_of(int(columns[2]), 'column')} where the header has {columns[1]} ({line[2][:60]!r}); "
            "correct that line."
        )
    if "unicode" in message.lower() or "utf-8" in message.lower():
        return f"{where} is not UTF-8 text; convert it first, for example: iconv -f latin1 -t utf-8."
    if "state machine reached an invalid state" in message:
        return f"{where} mixes several kinds of line ends; make them one, for example with dos2unix."
    if "unterminated quote" in message:
        return f"{where} opens a quote that is never closed; correct that line."
    return f"{name} cannot be read: {_first_line(message)}"


def _first_line(error: object) -> str:
    text = re.sub(r"^[\w ]+ Error: ", "", str(error)).strip()
    return text.splitlines()[0].rstrip(".") + "." if text else "no reason is given."
