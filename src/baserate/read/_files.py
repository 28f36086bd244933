"""Files -> a relation of DuckDB: CSV, TSV, Parquet, JSON lines, Arrow; globs, folders, gzip and standard input.

Text is never guessed at: of CSV and JSON files every column is read as text, numbers are converted where numbers are
needed, and labels are read by how all of them look.
"""

from __future__ import annotations

import csv
import glob
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from baserate._errors import FileFormatError, NotInstalledError, NotNumericError
from baserate.read._csv_records import first_record, without_quoted
from baserate.read._duckdb import Relation, Watch, literal, quoted, translated
from baserate.read._found import File, met
from baserate.read._named import Columns

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_MISSING = ("NA", "N/A", "na", "n/a", "null", "NULL", "None", "")
"""How missing numbers are written in text files."""
_ESCAPES = {"\r\n": "\\r\\n", "\n": "\\n", "\r": "\\r"}
"""Line ends as the engine spells them."""


class _Table(NamedTuple):
    relation: DuckDBPyRelation
    columns: Columns
    """Those in use, by their names in the file."""
    diagnose: Callable[[], None] | None = None
    """Called when something cannot be converted; raises an error that says what."""


@contextmanager
def opened(
    sources: Sequence[str | os.PathLike[str]], columns: Columns, watch: Watch | None = None
) -> Iterator[Relation]:
    """Open files, patterns, folders, or standard input as `-`, with the columns in use."""
    with met(sources) as found:
        with translated(found.name):
            table = _READERS[found.kind](found.connection, found.files, columns)
        columns = table.columns
        text = set(columns.labels) - set(columns.numbers) if found.kind in ("csv", "json") else ()
        watched = None if watch is None else partial(watch, steady(found.connection.query_progress))
        yield Relation(table.relation, columns, frozenset(text), found.name, table.diagnose, watched)


def steady(progress: Callable[[], float], *, passes: int = 2) -> Callable[[], float | None]:
    """Tell of several passes as of one that never goes back."""
    told = [0.0, 0.0, 0.0]  # passes done, per cent of this one, per cent of all

    def percent() -> float | None:
        now = max(progress(), 0.0)
        if now < told[1]:
            told[0] += 1
        told[1] = now
        told[2] = max(told[2], min((100 * told[0] + now) / passes, 99.0))
        return told[2] or None

    return percent


def _csv(connection: DuckDBPyConnection, files: Sequence[File], columns: Columns) -> _Table:
    """All columns as text, of files that have one header."""
    read, header = csv_text(connection, files)
    columns = columns.found(header)
    return _typed(read, {used: f"c{header.index(used)}" for used in columns.used}, columns)


def csv_text(connection: DuckDBPyConnection, files: Sequence[File]) -> tuple[DuckDBPyRelation, list[str]]:
    """All columns as text, called c0, c1, …; and the names that they have in the header."""
    head = _header(files[0])
    for file in files[1:]:
        other = _header(file)
        if other[:3] != head[:3]:
            raise FileFormatError(
                f"{file.path} has another header than {files[0].path}; give files with the same columns."
            )
        if other.line_end != head.line_end:
            raise FileFormatError(f"{file.path} has other line ends than {files[0].path}; convert both with dos2unix.")
    numbered = {f"c{at}": "VARCHAR" for at in range(len(head.names))}
    options = f"delim = {literal(head.delimiter)}, quote = '\"', escape = '\"', header = true, auto_detect = false"
    options += f", skip = {head.blank}, hive_partitioning = false"
    if head.line_end:
        options += f", new_line = '{_ESCAPES[head.line_end]}'"
    read = connection.sql(f"SELECT * FROM read_csv({listed(files)}, {options}, columns = {numbered}{unpacking(files)})")
    return read, head.names


class _Header(NamedTuple):
    delimiter: str
    names: list[str]
    blank: int
    """Blank lines before the header."""
    line_end: str | None
    """End of the header's line, where the engine cannot detect it: it would use a line break within a quoted name."""


def _header(file: File) -> _Header:
    """Parse the first line that is not blank; a quoted name may continue it over several lines of the file."""
    try:
        text = file.head.decode("utf-8-sig", errors="strict" if file.ends else "ignore")
    except UnicodeDecodeError as error:
        if b"\n" in file.head[: error.start]:
            text = file.head[: error.start].decode("utf-8-sig")  # the engine will tell in which line
        else:
            raise FileFormatError(
                f"the header of {file.name} is not UTF-8 text; convert it first, for example: iconv -f latin1 -t utf-8."
            ) from error
    blank, record = first_record(text)
    bare = without_quoted("".join(record))
    delimiter = "\t" if "\t" in bare else max(",;|", key=bare.count)  # names hold commas, hardly ever tabs
    names = next(csv.reader(record, delimiter=delimiter))
    line_end = next((end for end in _ESCAPES if record[-1].endswith(end)), None)
    return _Header(delimiter, names, blank, line_end if len(record) > 1 else None)


def _json(connection: DuckDBPyConnection, files: Sequence[File], columns: Columns) -> _Table:
    """Every column in use as text; each file must have them."""
    found = []
    # The names are looked for among the first rows, and if need be in all.
    for file in files:
        first = json_names(connection, file)
        if not set(columns.used) <= set(first):
            first = json_names(connection, file, of_all=True)
        found.append(columns.found(first))
    if found[1:] != found[:-1]:
        raise FileFormatError(
            f"the files differ in the columns that are called {columns.score[0]}; give files of one form."
        )
    columns = found[0]
    read = json_columns(connection, files, dict.fromkeys(columns.used, "VARCHAR"))
    return _typed(read, {used: quoted(used) for used in columns.used}, columns)


def json_names(connection: DuckDBPyConnection, file: File, *, of_all: bool = False) -> list[str]:
    """Names in the first rows, or in all of them; a wide object is no map."""
    look = "maximum_depth = 1, map_inference_threshold = -1, field_appearance_threshold = 0, hive_partitioning = false"
    sample = ", sample_size = -1" if of_all else ""
    return connection.sql(f"SELECT * FROM read_json({listed([file])}, {look}{sample}{unpacking([file])})").columns


def json_columns(connection: DuckDBPyConnection, files: Sequence[File], kinds: dict[str, str]) -> DuckDBPyRelation:
    """Columns of these names and types."""
    wanted = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in kinds.items())
    how = f"hive_partitioning = false{unpacking(files)}"
    return connection.sql(f"SELECT * FROM read_json({listed(files)}, columns = {{{wanted}}}, {how})")


def _typed(read: DuckDBPyRelation, place: dict[str, str], columns: Columns) -> _Table:
    """Convert what must be numbers; if that fails, find out where."""
    text = {used: unless_missing(place[used]) for used in columns.numbers}
    cast = {used: f"({text[used]})::DOUBLE" if used in text else place[used] for used in columns.used}
    converted = read.project(", ".join(f"{cast[used]} AS {quoted(used)}" for used in columns.used))
    return _Table(converted, columns, partial(no_numbers, read, text))


def no_numbers(read: DuckDBPyRelation, text: dict[str, str]) -> None:
    """Say what is no number in columns of text, each with how it is spelled in SQL, if anything is not."""
    for used, spelled in text.items():
        wrong = f"TRY_CAST({spelled} AS DOUBLE) IS NULL AND {spelled} IS NOT NULL"
        [(total, bad, first)] = read.aggregate(
            f"count(*), count(*) FILTER ({wrong}), first({spelled}) FILTER ({wrong})"
        ).fetchall()
        if bad:
            raise NotNumericError(
                f"{bad} of {total} values of {used} are not numbers (the first is {first[:60]!r}); {_remedy(first)}"
            )


def unless_missing(place: str) -> str:
    """Text in SQL, NULL where it says that a number is missing."""
    # Not `NOT IN (…)`: with five words or more DuckDB looks them up in a table, and rows lose their order.
    return f"CASE WHEN {' AND '.join(f'{place} <> {literal(word)}' for word in _MISSING)} THEN {place} END"


def _remedy(text: str) -> str:
    if re.fullmatch(r"[-+]?\d+,\d+", text):
        return "write decimal points in place of commas."
    return "convert them, or leave the cells empty; labels of decisions are predicted=, not scores."


def _parquet(connection: DuckDBPyConnection, files: Sequence[File], columns: Columns) -> _Table:
    """Columns with the types that they have; all files must agree on them."""
    read = parquet_columns(connection, files, columns.used)
    columns = columns.found(read.columns)
    check_schemas(connection, files, columns.used)
    return _Table(read.project(", ".join(map(quoted, columns.used))), columns)


def parquet_columns(connection: DuckDBPyConnection, files: Sequence[File], used: Sequence[str]) -> DuckDBPyRelation:
    """All columns of the files, and those that folders name if that is where the ones in use are."""
    read = connection.sql(f"SELECT * FROM read_parquet({listed(files)}, hive_partitioning = false)")
    if not set(used) <= set(read.columns):
        # Folders may name a column and its value (sex=f/part.parquet); a column in the files goes first.
        read = connection.sql(f"SELECT * FROM read_parquet({listed(files)}, hive_partitioning = true)")
    return read


def check_schemas(connection: DuckDBPyConnection, files: Sequence[File], names: Sequence[str]) -> set[str]:
    """See that all files have each column once, and of one type; and name all that they have."""
    wanted = "file_name, name, concat_ws(' ', type, converted_type), num_children"
    rows = connection.sql(f"SELECT {wanted} FROM parquet_schema({listed(files)})").fetchall()
    kinds: dict[str, Counter[str]] = {name: Counter() for name in names}
    there = set()
    for name, kind in _outermost(rows):
        there.add(name)
        # DuckDB takes names that differ in capitals only for the same, and renames the second.
        for used in names:
            if name.casefold() == used.casefold():
                kinds[used][kind if name == used else f"{kind} called {name!r}"] += 1
    for used, found in kinds.items():
        # A column of the folders' names (sex=f/part.parquet) is in none of the files.
        if found and found.total() > len(files):
            raise FileFormatError(f"there are several columns {used!r} ({_told(found, files)}); rename all but one.")
        if found and (len(found) > 1 or found.total() < len(files)):
            raise FileFormatError(
                f"the files do not agree on the column {used!r}: it is {_told(found, files)}; give files of one form."
            )
    return there


def _outermost(rows: Sequence[tuple[str, str, str, int | None]]) -> Iterator[tuple[str, str]]:
    """Name and type of every column, without what is nested in it; each file begins with its root."""
    last, skip = None, 0
    for file, name, kind, children in rows:
        if file != last:
            last, skip = file, 0
        elif skip:
            skip += (children or 0) - 1
        else:
            skip = children or 0
            yield name, kind


def _told(kinds: Counter[str], files: Sequence[File]) -> str:
    return ", ".join(f"{kind} in {many} of {len(files)} files" for kind, many in sorted(kinds.items()))


def _arrow(connection: DuckDBPyConnection, files: Sequence[File], columns: Columns) -> _Table:
    """The columns in use, which must be the same in all files."""
    tables = arrow_tables(files)
    import pyarrow as pa  # there, since the tables are

    for file, table in zip(files, tables, strict=True):
        columns = columns.found(table.column_names)
        check_alike(file, table.select(columns.used), files[0], tables[0].select(columns.used))
    table = pa.concat_tables(each.select(columns.used) for each in tables)
    return _Table(connection.from_arrow(table), columns)


def arrow_tables(files: Sequence[File]) -> list[Any]:
    """Memory-mapped, through PyArrow, since DuckDB does not read these files."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise NotInstalledError("Arrow files need PyArrow; run: pip install 'baserate[arrow]'.") from error
    tables = []
    for file in files:
        try:
            with pa.memory_map(str(file.path)) as source:
                reader = pa.ipc.open_file if file.head.startswith(b"ARROW1") else pa.ipc.open_stream
                tables.append(reader(source).read_all())
        except (pa.ArrowException, OSError) as error:
            raise FileFormatError(f"{file.path} is not a whole Arrow file ({error}); write it again.") from error
    return tables


def check_alike(file: File, table: Any, first: File, other: Any) -> None:  # noqa: ANN401  (tables of PyArrow)
    """See that two tables have columns of the same types."""
    if table.schema != other.schema:
        raise FileFormatError(f"{file.path} has other types than {first.path}; give files of one form.")


def listed(files: Sequence[File]) -> str:
    """Paths in SQL."""
    return "[" + ", ".join(literal(glob.escape(str((file.copy or file.path).absolute()))) for file in files) + "]"


def unpacking(files: Sequence[File]) -> str:
    """What DuckDB must be told, since names need not end in .gz."""
    packed = {file.packed for file in files}
    if len(packed) > 1:
        raise FileFormatError("some of the files are packed and some are not; give files of one form.")
    return f", compression = '{'gzip' if packed == {True} else 'uncompressed'}'"


_READERS = {"csv": _csv, "json": _json, "parquet": _parquet, "arrow": _arrow}
