"""DuckDB, the embedded engine: a relation -> Tallies or Rows, by whichever way moves less."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import duckdb
import numpy as np

from baserate._confusion import Confusions
from baserate._errors import BaserateError, FileFormatError, NotNumericError
from baserate._formatting import count_of
from baserate._rows import MulticlassRows, Rows
from baserate._tally import Tallies
from baserate._target import MulticlassTarget, Target
from baserate.read._classes import class_rows
from baserate.read._eager import Coded, Rule, Table, gathered
from baserate.read._memory import loaded
from baserate.read._named import Columns
from baserate.read._unlabelled import class_target, target

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

    from baserate.read._lazy import Lazy

Watch = Callable[[Callable[[], float | None]], AbstractContextManager[object]]
"""Given a function that tells how many per cent are read, a context in which to read."""

_FEW_ROWS = 100_000
"""So many rows are fetched without a thought."""
_FEW_LABELS = 64
"""So many labels are numbered by the engine."""
_PLAIN = {"VARCHAR", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
"""Types of labels that are the same in Python and in SQL."""
_NUMBERS = {"BOOLEAN", "FLOAT", "DOUBLE", "HUGEINT", "UHUGEINT", *_PLAIN} - {"VARCHAR"}
"""Types that hold numbers as they are."""
_UNSEEN = -2
"""A label that was not among the first rows."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation, its columns in use, and which of them are bare text whose labels are read by how they look."""

    source: DuckDBPyRelation
    columns: Columns
    text: frozenset[str] = frozenset()
    name: str = "the relation"
    diagnose: Callable[[], None] | None = None
    """Called when something cannot be converted; raises an error that says what."""
    watched: Callable[[], AbstractContextManager[object]] | None = None
    """Makes a context in which to read, for those who want to see how far it is."""

    def tallies(self, rule: Rule) -> Tallies:
        """Let the engine add up where scores repeat; fetch the rows where they do not, as a tally is no smaller."""
        with self._run() as native:
            if repeats(native, self.columns):
                from baserate.read._lazy import aggregated

                return aggregated(self._lazy(native), self.columns, rule)
            table = _fetched(native, self.columns, self.text)
        return gathered(table, self.columns, rule, lasting=False).tallies()

    def rows(self, rule: Rule) -> Rows:
        """Fetch the rows."""
        return gathered(self._table(), self.columns, rule, lasting=False)  # the arrays are ours

    def confusions(self, rule: Rule) -> Confusions:
        """Let the engine count pairs of labels."""
        from baserate.read._lazy import confused

        with self._run() as native:
            return confused(self._lazy(native), self.columns, rule)

    def class_rows(self, rule: Rule) -> MulticlassRows:
        """Fetch the rows with a score for each class."""
        return class_rows(self._table(), self.columns, rule, lasting=False)

    def target(self, rule: Rule) -> Target:
        """Let the engine add up where scores repeat; fetch them where they do not."""
        with self._run() as native:
            if repeats(native, self.columns):
                from baserate.read._lazy import targeted

                return targeted(self._lazy(native), self.columns, rule)
            table = _fetched(native, self.columns, self.text)
        return target(table, self.columns, rule, lasting=False)

    def class_target(self, rule: Rule) -> MulticlassTarget:
        """Fetch the scores for each class."""
        return class_target(self._table(), self.columns, rule, lasting=False)

    def _table(self) -> Table:
        with self._run() as native:
            return _fetched(native, self.columns, self.text)

    def _lazy(self, native: DuckDBPyRelation) -> Lazy:
        import narwhals.stable.v2 as nw

        from baserate.read._lazy import Lazy

        # Numbered names, since not every name survives as an expression.
        names = {name: f"c{at}" for at, name in enumerate(self.columns.used)}
        numbered = native.project(", ".join(f"{quoted(name)} AS {short}" for name, short in names.items()))
        return Lazy(nw.from_native(numbered), names, self.text)

    @contextmanager
    def _run(self) -> Iterator[DuckDBPyRelation]:
        with self.watched() if self.watched else nullcontext(), translated(self.name):
            try:
                yield _simplified(self.source, self.columns)
            except duckdb.ConversionException:
                if self.diagnose:
                    self.diagnose()
                raise


def engine(folder: str | None = None) -> DuckDBPyConnection:
    """Open an engine that keeps to this machine and leaves nothing behind."""
    found = duckdb.connect(config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"})
    found.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
    if folder is not None:
        found.execute(f"SET temp_directory = {literal(folder)}")
    return found


def quoted(name: str) -> str:
    """Name of a column in SQL, whatever it is made of.

    >>> print(quoted('score"; drop table x'))
    "score""; drop table x"
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Text in SQL.

    >>> print(literal("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"


def number(name: str, kind: str, place: str) -> str:
    """A column of this type as numbers, in SQL, or an error that says what it holds."""
    if kind.startswith("DECIMAL"):  # which are divided by a power of ten, and may miss the nearest float
        return f"{place}::VARCHAR::DOUBLE"
    if kind not in _NUMBERS:
        raise NotNumericError(f"{name} holds {kind}, not numbers; convert it first.")
    return f"{place}::DOUBLE"


def _simplified(relation: DuckDBPyRelation, columns: Columns) -> DuckDBPyRelation:
    """Columns in use, in types that arrive as they are.

    Enumerations would come through pandas, and decimals divided by a power of ten, which may miss the nearest float.
    """
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))

    def cast(name: str) -> str:
        if kinds[name].startswith("ENUM"):
            return f"{quoted(name)}::VARCHAR"
        if kinds[name].startswith("DECIMAL") and name in columns.numbers:
            return f"{quoted(name)}::VARCHAR::DOUBLE"
        return quoted(name)

    return relation.project(", ".join(f"{cast(name)} AS {quoted(name)}" for name in columns.used))


def repeats(relation: DuckDBPyRelation, columns: Columns) -> bool:
    """Whether there are many rows and far fewer combinations of score and labels."""
    columns_ = [*columns.score, *columns.labels]
    counts = ", ".join(["count(*)", *(f"approx_count_distinct({quoted(name)})" for name in columns_)])
    [(rows, *distinct)] = relation.aggregate(counts).fetchall()
    scores, labels = distinct[: len(columns.score)], distinct[len(columns.score) :]
    cells = max(scores, default=1) * prod(max(many, 1) for many in labels)
    return bool(rows > _FEW_ROWS and 4 * cells <= rows)


def _fetched(relation: DuckDBPyRelation, columns: Columns, text: frozenset[str]) -> Table:
    """Fetch the columns in use; labels as small numbers, as long as there are few."""
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
    plain = [name for name in columns.labels if kinds[name] in _PLAIN]
    # The labels are nearly always all among the first rows; if not, all rows are asked.
    for rows in (relation.limit(_FEW_ROWS), relation):
        labels = {name: _distinct(rows, name) for name in plain}
        coded = {name: found for name, found in labels.items() if len(found) <= _FEW_LABELS}
        others = [name for name in columns.used if name not in coded or name in (*columns.numbers, columns.id)]
        picked = [*(_code(name, found) for name, found in coded.items()), *map(quoted, others)]
        # Numbered names, since DuckDB takes names that differ in capitals only for the same.
        found = relation.project(", ".join(f"{column} AS c{at}" for at, column in enumerate(picked))).fetchnumpy()
        arrays = [found[f"c{at}"] for at in range(len(picked))]
        if not any((codes == _UNSEEN).any() for codes in arrays[: len(coded)]):
            break
    codes = {name: Coded(np.asarray(array), coded[name]) for name, array in zip(coded, arrays, strict=False)}
    return loaded(dict(zip(others, arrays[len(coded) :], strict=True)), columns, coded=codes, text=text)


def _distinct(rows: DuckDBPyRelation, name: str) -> list[str | int]:
    few = rows.filter(f"{quoted(name)} IS NOT NULL").project(quoted(name)).distinct().limit(_FEW_LABELS + 1)
    return sorted(label for (label,) in few.fetchall())


def _code(name: str, labels: list[str | int]) -> str:
    written = [literal(label) if isinstance(label, str) else str(label) for label in labels]
    cases = " ".join(f"WHEN {label} THEN {at}" for at, label in enumerate(written)) or "WHEN NULL THEN -1"
    return f"(CASE {quoted(name)} {cases} ELSE if({quoted(name)} IS NULL, -1, {_UNSEEN}) END)::TINYINT"


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Say in our words what DuckDB refuses."""
    try:
        yield
    except (BaserateError, duckdb.ParserException, duckdb.BinderException):
        raise  # in our words already, or a slip of ours
    except duckdb.OutOfMemoryException as error:
        raise FileFormatError(f"{name} does not fit into memory ({_first_line(error)}); read a part of it.") from error
    except duckdb.Error as error:
        raise FileFormatError(_told(name, str(error))) from error
    except RuntimeError as error:  # all that DuckDB says of Ctrl-C
        if "interrupted" in str(error).lower():
            raise KeyboardInterrupt from error
        raise


def _told(name: str, message: str) -> str:
    line = re.search(r"CSV Error on Line: (\d+)\nOriginal Line: ?(.*)", message)
    where = f"line {line[1]} of {name}" if line else name
    columns = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if columns and line:
        return (
            f"{where} has {count_of(int(columns[2]), 'column')} where the header has {columns[1]} ({line[2][:60]!r}); "
            "mend that line."
        )
    if "unicode" in message.lower() or "utf-8" in message.lower():
        return f"{where} is not UTF-8 text; convert it first, for example: iconv -f latin1 -t utf-8."
    if "state machine reached an invalid state" in message:
        return f"{where} mixes several kinds of line ends; make them one, for example with dos2unix."
    if "unterminated quote" in message:
        return f"{where} opens a quote that is never closed; mend that line."
    return f"{name} cannot be read: {_first_line(message)}"


def _first_line(error: object) -> str:
    text = re.sub(r"^[\w ]+ Error: ", "", str(error)).strip()
    return text.splitlines()[0].rstrip(".") + "." if text else "no reason is given."
