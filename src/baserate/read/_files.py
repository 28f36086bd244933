"""Files as relations of DuckDB: CSV, TSV, Parquet, JSON lines and Arrow, with the columns in use or with all of them.

Types of text are never guessed by the engine: every column of CSV and JSON files is read as text, numbers are converted
where numbers are needed, and labels are parsed by the spelling of all of them.
"""

from __future__ import annotations

import csv
import glob
import gzip
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, cast
from zlib import error as zlib_error

from baserate._errors import (
    EmptyDataError,
    FileFormatError,
    NoSuchFileError,
    NotInstalledError,
    NotNumericError,
    keyword,
    suggest,
)
from baserate.read._columns import Columns, check_column, first_record, remove_quoted_cells
from baserate.read._duckdb import (
    Relation,
    Watch,
    cast_to_double,
    engine,
    quote_identifier,
    quote_literal,
    translate_errors,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_FORMATS = {
    **dict.fromkeys(("csv", "tsv", "tab", "txt"), "csv"),
    **dict.fromkeys(("json", "jsonl", "ndjson"), "json"),
    **dict.fromkeys(("parquet", "pq", "parq"), "parquet"),
    **dict.fromkeys(("arrow", "feather", "ipc", "arrows"), "arrow"),
}
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
_GZIP = b"\x1f\x8b"
_UNSUPPORTED = {b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip"}
"""Compression formats that are detected, but not supported."""
_HEAD_SIZE = 1 << 20
"""Bytes in which the format is detected and the header is read."""
_MARK = b"\xef\xbb\xbf"
"""Byte order mark of UTF-8."""


class File(NamedTuple):
    """A file, its format, and its first bytes."""

    path: Path
    name: str
    kind: str
    packed: bool
    head: bytes
    """The first bytes, uncompressed."""
    ends: bool
    """Whether the file has no more bytes."""
    copy: Path | None = None
    """A corrected copy that the engine reads in place of the file."""


def locate_files(source: str | os.PathLike[str], folder: Path) -> list[File]:
    """Return the files that a path, pattern, folder or `-` means; copies go into the folder."""
    if str(source) == "-":
        if sys.stdin is None:
            raise EmptyDataError("standard input is closed", remedy="name a file, or pipe one in.")
        return [_replace_mark(_inspect(_spool(sys.stdin.buffer, folder), "standard input"), folder)]
    files = []
    for path in _expand(source):
        if path.is_file():
            files.append(_inspect(path, str(path)))
        else:
            with path.open("rb") as pipe:
                files.append(_inspect(_spool(pipe, folder), str(path)))
    return [_replace_mark(file, folder) for file in files]


def _replace_mark(file: File, folder: Path) -> File:
    """Copy a CSV file without its byte order mark where the first name is quoted and holds a line break.

    DuckDB does not recognize a quote that follows the mark, and would read the rest of the name as a row.
    """
    if file.kind != "csv" or not re.match(rb'\xef\xbb\xbf\s*"(?:[^"\r\n]|"")*[\r\n]', file.head):
        return file
    copy = folder / f"unmarked-{len(list(folder.iterdir()))}"
    with _open_bytes(file.path, "rb", packed=file.packed) as old, _open_bytes(copy, "wb", packed=file.packed) as new:
        old.read(len(_MARK))
        shutil.copyfileobj(old, new)
    return file._replace(copy=copy)


def _open_bytes(path: Path, mode: Literal["rb", "wb"], *, packed: bool) -> IO[bytes]:
    """Open a file, through gzip if it is packed."""
    # Level 1: a copy is read once, so that speed matters more than size.
    return cast("IO[bytes]", gzip.open(path, mode, compresslevel=1)) if packed else path.open(mode)


def _spool(pipe: IO[bytes], folder: Path) -> Path:
    """Copy a pipe into a file: readers need several passes, and a pipe can be read only once."""
    path = folder / f"spooled-{len(list(folder.iterdir()))}"
    with path.open("wb") as file:
        shutil.copyfileobj(pipe, file)
    return path


def _expand(source: str | os.PathLike[str]) -> list[Path]:
    """Return all files of a path, folder or pattern, sorted by name."""
    path = Path(source)
    if path.is_dir():
        tables = (file for file in sorted(path.rglob("*")) if file.is_file() and _format_by_name(file))
        # Spark and others write markers such as _SUCCESS and .crc files beside the data.
        files = [file for file in tables if not any(part[0] in "._" for part in file.relative_to(path).parts)]
        if not files:
            raise NoSuchFileError(
                f"there are no tables in the folder {source}", remedy=f"add one of: {', '.join(_FORMATS)}."
            )
        return files
    if path.exists():
        return [path]
    if glob.has_magic(str(source)):
        files = [Path(match) for match in sorted(glob.glob(str(source), recursive=True)) if Path(match).is_file()]  # noqa: PTH207  (absolute patterns too)
        if not files:
            raise NoSuchFileError(f"no file matches {source}", remedy="list the files with: ls.")
        return files
    names = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
    question = suggest(path.name, names, spell=lambda match: str(path.with_name(match)))
    raise NoSuchFileError(f"there is no file {source}.", remedy=question or "Check the path.", where=str(source))


def _inspect(path: Path, name: str) -> File:
    """Detect a file's format by its first bytes; only text formats need the name as well."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_SIZE)
    except OSError as error:
        raise NoSuchFileError(f"{name} cannot be opened: {error.strerror}.") from error
    packed = head.startswith(_GZIP)
    if packed:
        head = _unpack_head(path, name)
    if head.startswith(b"PK") and b"xl/" in head:
        raise FileFormatError(f"{name} is an Excel workbook", remedy="save the sheet as CSV.")
    for magic, packing in _UNSUPPORTED.items():
        if head.startswith(magic):
            raise FileFormatError(f"{name} is packed with {packing}", remedy="unpack it first, or pack it with gzip.")
    by_name = _format_by_name(path)
    kind = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)
    if kind is None and by_name in ("parquet", "arrow"):  # text formats have no magic bytes, these always do
        raise FileFormatError(
            f"{name} is not a {by_name.title()} file: its first bytes are {head[:4]!r}", remedy="write it again."
        )
    if kind is None:
        _check_text(head, name)
        kind = by_name or ("json" if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") else "csv")
    return File(path, name, kind, packed, head, len(head) < _HEAD_SIZE)


def _unpack_head(path: Path, name: str) -> bytes:
    try:
        with gzip.open(path) as file:
            return file.read(_HEAD_SIZE)
    except (OSError, EOFError, zlib_error) as error:
        raise FileFormatError(f"{name} cannot be unpacked: {error}", remedy="pack it again.") from error


def _check_text(head: bytes, name: str) -> None:
    if not head.strip(b"\xef\xbb\xbf \t\r\n"):
        raise EmptyDataError(f"{name} is empty", remedy="give a table with a header and at least one row.")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FileFormatError(
            f"{name} is UTF-16 text", remedy="convert it first, for example: iconv -f utf-16 -t utf-8."
        )
    if b"\0" in head:
        raise FileFormatError(f"{name} is not a table: neither CSV, JSON lines, Parquet nor Arrow.")


def _format_by_name(path: Path) -> str | None:
    suffixes = [suffix.lower().lstrip(".") for suffix in path.suffixes]
    if suffixes and suffixes[-1] == "gz":
        suffixes.pop()
    return _FORMATS.get(suffixes[-1]) if suffixes else None


_MISSING = ("NA", "N/A", "na", "n/a", "null", "NULL", "None", "")
"""Spellings of a missing number in text files."""
_ESCAPES = {"\r\n": "\\r\\n", "\n": "\\n", "\r": "\\r"}
"""Line ends as options of the engine."""


class OpenFiles(NamedTuple):
    """Located files, and the engine that will read them."""

    connection: DuckDBPyConnection
    files: Sequence[File]
    kind: str
    name: str
    """Name of all files, for messages."""
    folder: Path
    """A temporary folder that exists until the files are closed."""


@contextmanager
def open_files(sources: Sequence[str | os.PathLike[str]]) -> Iterator[OpenFiles]:
    """Locate the files of some paths, and open an engine for them."""
    names = ["standard input" if str(source) == "-" else str(source) for source in sources]
    name = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    with TemporaryDirectory(prefix="baserate-", ignore_cleanup_errors=True) as folder, engine(folder) as connection:
        files = [file for source in sources for file in locate_files(source, Path(folder))]
        kinds = sorted({file.kind for file in files})
        if len(kinds) > 1:
            raise FileFormatError(
                f"the files of {name} are of several kinds ({', '.join(kinds)})", remedy="name files of one kind."
            )
        yield OpenFiles(connection, files, kinds[0], name, Path(folder))


class _FileColumns(NamedTuple):
    relation: DuckDBPyRelation
    columns: Columns
    """Those in use, by role."""
    diagnose: Callable[[], None] | None = None
    """Called if a conversion fails; raises an error that names the values."""


@contextmanager
def open_relation(
    sources: Sequence[str | os.PathLike[str]], columns: Columns, watch: Watch | None = None
) -> Iterator[Relation]:
    """Open files, patterns, folders, or standard input as `-`, with the columns in use."""
    with open_files(sources) as files:
        with translate_errors(files.name):
            table = _READERS[files.kind](files.connection, files.files, columns)
        columns = table.columns
        text = set(columns.labels) - set(columns.numbers) if files.kind in ("csv", "json") else ()
        watched = None if watch is None else partial(watch, monotone_progress(files.connection.query_progress))
        yield Relation(table.relation, columns, frozenset(text), files.name, table.diagnose, watched)


def monotone_progress(progress: Callable[[], float], *, passes: int = 2) -> Callable[[], float | None]:
    """Combine the progress of several passes into one percentage that never falls."""
    state = [0.0, 0.0, 0.0]  # completed passes, percentage of this one, percentage of all
    # DuckDB reports each query by itself, and −1 before it starts; `passes` is a guess, so the total stays below 100.

    def percent() -> float | None:
        now = max(progress(), 0.0)
        if now < state[1]:
            state[0] += 1
        state[1] = now
        state[2] = max(state[2], min((100 * state[0] + now) / passes, 99.0))
        return state[2] or None

    return percent


def _read_csv(connection: DuckDBPyConnection, files: Sequence[File], columns: Columns) -> _FileColumns:
    """Read all columns as text; the files have the same header."""
    read, header = csv_text(connection, files)
    columns = columns.match(header)
    return _convert_numbers(read, {used: f"c{header.index(used)}" for used in columns.used}, columns)


def csv_text(connection: DuckDBPyConnection, files: Sequence[File]) -> tuple[DuckDBPyRelation, list[str]]:
    """Read all columns as text, named c0, c1, …; and return their names in the header."""
    head = _parse_header(files[0])
    for file in files[1:]:
        other = _parse_header(file)
        if other[:3] != head[:3]:
            raise FileFormatError(
                f"{file.path} has another header than {files[0].path}", remedy="give files with the same columns."
            )
        if other.line_end != head.line_end:
            raise FileFormatError(
                f"{file.path} has other line ends than {files[0].path}", remedy="convert both with dos2unix."
            )
    types = {f"c{at}": "VARCHAR" for at in range(len(head.names))}
    # Without auto_detect, which guesses types and dialect from a sample; without hive_partitioning, which adds a column
    # for every folder called like sex=f.
    options = (
        f"delim = {quote_literal(head.delimiter)}, quote = '\"', escape = '\"', header = true, auto_detect = false"
    )
    options += f", skip = {head.blank}, hive_partitioning = false"
    if head.line_end:
        options += f", new_line = '{_ESCAPES[head.line_end]}'"
    read = connection.sql(
        f"SELECT * FROM read_csv({list_paths(files)}, {options}, columns = {types}{compression_option(files)})"
    )
    return read, head.names


class _Header(NamedTuple):
    delimiter: str
    names: list[str]
    blank: int
    """Blank lines before the header."""
    line_end: str | None
    """End of the header's line, if a quoted name contains a line break, which DuckDB would detect in its place."""


def _parse_header(file: File) -> _Header:
    """Parse the first line that is not blank; a quoted name may continue it over several lines of the file."""
    try:
        # The head of a longer file may end within a character.
        text = file.head.decode("utf-8-sig", errors="strict" if file.ends else "ignore")
    except UnicodeDecodeError as error:
        if b"\n" in file.head[: error.start]:
            text = file.head[: error.start].decode("utf-8-sig")  # the engine reports the line later
        else:
            raise FileFormatError(
                f"the header of {file.name} is not UTF-8 text",
                remedy="convert it first, for example: iconv -f latin1 -t utf-8.",
            ) from error
    blank, record = first_record(text)
    bare = remove_quoted_cells("".join(record))
    delimiter = "\t" if "\t" in bare else max(",;|", key=bare.count)  # names may contain commas, hardly ever tabs
    names = next(csv.reader(record, delimiter=delimiter))
    line_end = next((end for end in _ESCAPES if record[-1].endswith(end)), None)
    return _Header(delimiter, names, blank, line_end if len(record) > 1 else None)


def _read_json(connection: DuckDBPyConnection, files: Sequence[File], columns: Columns) -> _FileColumns:
    """Read every column in use as text; each file must have them."""
    matches = []
    # Objects may lack keys: look for names in the first rows, and only if some are missing in all rows.
    for file in files:
        first = json_names(connection, file)
        if not set(columns.used) <= set(first):
            first = json_names(connection, file, of_all=True)
        matches.append(columns.match(first))
    if matches[1:] != matches[:-1]:
        raise FileFormatError(
            f"the files differ in the columns that are called {columns.score[0]}", remedy="give files of one form."
        )
    columns = matches[0]
    read = json_columns(connection, files, dict.fromkeys(columns.used, "VARCHAR"))
    return _convert_numbers(read, {used: quote_identifier(used) for used in columns.used}, columns)


def json_names(connection: DuckDBPyConnection, file: File, *, of_all: bool = False) -> list[str]:
    """Return the names in the first rows, or in all; without map inference, which merges many similar columns."""
    detection = (
        "maximum_depth = 1, map_inference_threshold = -1, field_appearance_threshold = 0, hive_partitioning = false"
    )
    sample = ", sample_size = -1" if of_all else ""
    return connection.sql(
        f"SELECT * FROM read_json({list_paths([file])}, {detection}{sample}{compression_option([file])})"
    ).columns


def json_columns(connection: DuckDBPyConnection, files: Sequence[File], kinds: dict[str, str]) -> DuckDBPyRelation:
    """Read the columns with these names and types."""
    wanted = ", ".join(f"{quote_literal(name)}: {quote_literal(kind)}" for name, kind in kinds.items())
    how = f"hive_partitioning = false{compression_option(files)}"
    return connection.sql(f"SELECT * FROM read_json({list_paths(files)}, columns = {{{wanted}}}, {how})")


def _convert_numbers(read: DuckDBPyRelation, place: dict[str, str], columns: Columns) -> _FileColumns:
    """Convert the columns that must be numbers, and prepare the diagnosis of a failure."""
    text = {used: null_if_missing(place[used]) for used in columns.numbers}
    cast = {used: f"({text[used]})::DOUBLE" if used in text else place[used] for used in columns.used}
    converted = read.project(", ".join(f"{cast[used]} AS {quote_identifier(used)}" for used in columns.used))
    return _FileColumns(converted, columns, partial(refuse_text, read, text))


def refuse_text(read: DuckDBPyRelation, text: dict[str, str]) -> None:
    """Refuse text that is not a number, if there is any, in columns given as SQL expressions."""
    for used, expression in text.items():
        invalid = f"TRY_CAST({expression} AS DOUBLE) IS NULL AND {expression} IS NOT NULL"
        [(total, bad, first)] = read.aggregate(
            f"count(*), count(*) FILTER ({invalid}), first({expression}) FILTER ({invalid})"
        ).fetchall()
        if bad:
            what = f"{bad} of {total} values of {used} are not numbers (the first is {first[:60]!r})"
            raise NotNumericError(what, remedy=_advise_text(first))


def null_if_missing(place: str) -> str:
    """Return SQL for a text that is NULL if it spells a missing number."""
    # Not `NOT IN (…)`: from five words on DuckDB joins with a table of them, and rows lose their order.
    return f"CASE WHEN {' AND '.join(f'{place} <> {quote_literal(word)}' for word in _MISSING)} THEN {place} END"


def _advise_text(text: str) -> str:
    if re.fullmatch(r"[-+]?\d+,\d+", text):
        return "write decimal points in place of commas."
    return f"convert them, or leave the cells empty; labels of decisions are {keyword('predicted')}, not scores."


def _read_parquet(connection: DuckDBPyConnection, files: Sequence[File], columns: Columns) -> _FileColumns:
    """Read columns with their own types, on which all files must agree."""
    read = parquet_columns(connection, files, columns.used)
    columns = columns.match(read.columns)
    check_schemas(connection, files, columns.used)
    return _FileColumns(read.project(", ".join(map(quote_identifier, columns.used))), columns)


def parquet_columns(connection: DuckDBPyConnection, files: Sequence[File], used: Sequence[str]) -> DuckDBPyRelation:
    """Read all columns of the files; also those in names of folders, if columns in use are only there."""
    read = connection.sql(f"SELECT * FROM read_parquet({list_paths(files)}, hive_partitioning = false)")
    if not set(used) <= set(read.columns):
        # Folders may name a column and its value (sex=f/part.parquet); a column in the files goes first.
        read = connection.sql(f"SELECT * FROM read_parquet({list_paths(files)}, hive_partitioning = true)")
    return read


def check_schemas(connection: DuckDBPyConnection, files: Sequence[File], names: Sequence[str]) -> set[str]:
    """Check that all files have each column once and with one type; return the names of all columns."""
    wanted = "file_name, name, concat_ws(' ', type, converted_type), num_children"
    rows = connection.sql(f"SELECT {wanted} FROM parquet_schema({list_paths(files)})").fetchall()
    kinds: dict[str, Counter[str]] = {name: Counter() for name in names}
    existing = set()
    for name, kind in _top_level_columns(rows):
        existing.add(name)
        # DuckDB treats names that differ only in case as equal, and renames the second.
        for used in names:
            if name.casefold() == used.casefold():
                kinds[used][kind if name == used else f"{kind} called {name!r}"] += 1
    for used, types in kinds.items():
        # A column in names of folders (sex=f/part.parquet) is in none of the files.
        if types and types.total() > len(files):
            raise FileFormatError(
                f"there are several columns {used!r} ({_count_types(types, files)})", remedy="rename all but one."
            )
        if types and (len(types) > 1 or types.total() < len(files)):
            raise FileFormatError(
                f"the files do not agree on the column {used!r}: it is {_count_types(types, files)}",
                remedy="give files of one form.",
            )
    return existing


def _top_level_columns(rows: Sequence[tuple[str, str, str, int | None]]) -> Iterator[tuple[str, str]]:
    """Yield name and type of every column, without nested fields; the rows of each file begin with its root."""
    last, skip = None, 0
    for file, name, kind, children in rows:
        if file != last:
            last, skip = file, 0
        elif skip:
            skip += (children or 0) - 1
        else:
            skip = children or 0
            yield name, kind


def _count_types(kinds: Counter[str], files: Sequence[File]) -> str:
    return ", ".join(f"{kind} in {many} of {len(files)} files" for kind, many in sorted(kinds.items()))


def _read_arrow(connection: DuckDBPyConnection, files: Sequence[File], columns: Columns) -> _FileColumns:
    """Read the columns in use, which must have the same types in all files."""
    tables = arrow_tables(files)
    import pyarrow as pa  # installed, or there would be no tables

    for file, table in zip(files, tables, strict=True):
        columns = columns.match(table.column_names)
        check_same_types(file, table.select(columns.used), files[0], tables[0].select(columns.used))
    table = pa.concat_tables(each.select(columns.used) for each in tables)
    return _FileColumns(connection.from_arrow(table), columns)


def arrow_tables(files: Sequence[File]) -> list[Any]:
    """Map the files into memory with PyArrow, since DuckDB does not read Arrow files."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise NotInstalledError("Arrow files need PyArrow", remedy="run: pip install 'baserate[arrow]'.") from error
    tables = []
    for file in files:
        try:
            with pa.memory_map(str(file.path)) as source:
                reader = pa.ipc.open_file if file.head.startswith(b"ARROW1") else pa.ipc.open_stream
                tables.append(reader(source).read_all())
        except (pa.ArrowException, OSError) as error:
            raise FileFormatError(
                f"{file.path} is not a whole Arrow file ({error})", remedy="write it again."
            ) from error
    return tables


def check_same_types(file: File, table: Any, first: File, other: Any) -> None:  # noqa: ANN401  (tables of PyArrow)
    """Check that two tables have columns of the same types."""
    if table.schema != other.schema:
        raise FileFormatError(f"{file.path} has other types than {first.path}", remedy="give files of one form.")


def list_paths(files: Sequence[File]) -> str:
    """Return a list of paths in SQL, escaped, since DuckDB would expand patterns in them."""
    return "[" + ", ".join(quote_literal(glob.escape(str((file.copy or file.path).absolute()))) for file in files) + "]"


def compression_option(files: Sequence[File]) -> str:
    """Return the option for compression, which DuckDB would infer from names, but these need not end in .gz."""
    packed = {file.packed for file in files}
    if len(packed) > 1:
        raise FileFormatError("some of the files are packed and some are not", remedy="give files of one form.")
    return f", compression = '{'gzip' if packed == {True} else 'uncompressed'}'"


_READERS = {"csv": _read_csv, "json": _read_json, "parquet": _read_parquet, "arrow": _read_arrow}


class AllColumns(NamedTuple):
    """A relation with all columns of some files, named c0, c1, …."""

    source: OpenFiles
    relation: DuckDBPyRelation
    names: list[str]
    """Their names in the files."""
    numbers: dict[str, str]
    """For the columns that must hold numbers, SQL that converts them."""
    diagnose: Callable[[], None] | None = None
    """Called if a conversion fails; raises an error that names the values."""

    def place(self, name: str) -> tuple[str, str]:
        """Return the SQL name of a column, and its type."""
        at = self.names.index(name)
        return f"c{at}", str(self.relation.types[at])

    @property
    def rows(self) -> int | None:
        """Number of rows, if the format stores it; otherwise None."""
        if self.source.kind not in ("parquet", "arrow"):
            return None
        [(rows,)] = self.relation.aggregate("count(*)").fetchall()
        return int(rows)


@contextmanager
def open_all_columns(
    sources: Sequence[str | os.PathLike[str]], numbers: Sequence[str], labels: Sequence[str] = ()
) -> Iterator[AllColumns]:
    """Open files, patterns, folders, or standard input as `-`, with all columns.

    The columns `numbers` must hold numbers; the columns `labels` must exist, but may hold anything. Columns of CSV
    files are text, those of JSON files are JSON, all others have their own types.
    """
    with open_files(sources) as files:
        with translate_errors(files.name):
            columns = _ALL_READERS[files.kind](files, numbers, labels)
        yield columns


def _read_all_csv(files: OpenFiles, numbers: Sequence[str], labels: Sequence[str]) -> AllColumns:
    read, names = csv_text(files.connection, files.files)
    _check_columns([*numbers, *labels], names)
    return _text_columns(files, read, names, {name: f"c{names.index(name)}" for name in numbers})


def _read_all_json(files: OpenFiles, numbers: Sequence[str], labels: Sequence[str]) -> AllColumns:
    several = [json_names(files.connection, file, of_all=True) for file in files.files]
    for names in several:
        _check_columns([*numbers, *labels], names)
    names = list(dict.fromkeys(name for names in several for name in names))
    read = _rename_to_numbers(json_columns(files.connection, files.files, dict.fromkeys(names, "JSON")), names)
    return _text_columns(files, read, names, {name: f"(c{names.index(name)} ->> '$')" for name in numbers})


def _text_columns(files: OpenFiles, read: DuckDBPyRelation, names: list[str], text: dict[str, str]) -> AllColumns:
    expressions = {name: null_if_missing(place) for name, place in text.items()}
    cast = {name: f"({each})::DOUBLE" for name, each in expressions.items()}
    return AllColumns(files, read, names, cast, partial(refuse_text, read, expressions))


def _read_all_parquet(files: OpenFiles, numbers: Sequence[str], labels: Sequence[str]) -> AllColumns:
    read = parquet_columns(files.connection, files.files, [*numbers, *labels])
    names = read.columns
    _check_columns([*numbers, *labels], names)
    more = check_schemas(files.connection, files.files, names) - set(names)
    if more:
        raise FileFormatError(f"not all of the files have the column {min(more)!r}", remedy="give files of one form.")
    return _typed_columns(files, read, numbers)


def _read_all_arrow(files: OpenFiles, numbers: Sequence[str], labels: Sequence[str]) -> AllColumns:
    tables = arrow_tables(files.files)
    import pyarrow as pa  # installed, or there would be no tables

    for file, table in zip(files.files, tables, strict=True):
        _check_columns([*numbers, *labels], table.column_names)
        check_same_types(file, table, files.files[0], tables[0])
    return _typed_columns(files, files.connection.from_arrow(pa.concat_tables(tables)), numbers)


def _typed_columns(files: OpenFiles, read: DuckDBPyRelation, numbers: Sequence[str]) -> AllColumns:
    names = read.columns
    kinds = dict(zip(names, map(str, read.types), strict=True))
    cast = {name: cast_to_double(name, kinds[name], f"c{names.index(name)}") for name in numbers}
    return AllColumns(files, _rename_to_numbers(read, names), names, cast)


def _rename_to_numbers(read: DuckDBPyRelation, names: Sequence[str]) -> DuckDBPyRelation:
    return read.project(", ".join(f"{quote_identifier(name)} AS c{at}" for at, name in enumerate(names)))


def _check_columns(used: Sequence[str], names: Sequence[str]) -> None:
    for name in used:
        check_column(name, names)


_ALL_READERS = {"csv": _read_all_csv, "json": _read_all_json, "parquet": _read_all_parquet, "arrow": _read_all_arrow}
