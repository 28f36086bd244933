"""Files -> a relation of DuckDB: CSV, TSV, Parquet, JSON lines, Arrow; globs, folders, gzip and standard input.

Text is never guessed at: of CSV and JSON files every column is read as text, numbers are converted where numbers are
needed, and labels are read by how all of them look.
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
from typing import IO, TYPE_CHECKING, NamedTuple
from zlib import error as zlib_error

from baserate._errors import BadFile, EmptyData, NoSuchFile, NotInstalled, NotNumeric
from baserate.read._duckdb import Relation, Watch, engine, literal, quoted, translated
from baserate.read._named import Columns

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_KINDS = {
    **dict.fromkeys(("csv", "tsv", "tab", "txt"), "csv"),
    **dict.fromkeys(("json", "jsonl", "ndjson"), "json"),
    **dict.fromkeys(("parquet", "pq", "parq"), "parquet"),
    **dict.fromkeys(("arrow", "feather", "ipc", "arrows"), "arrow"),
}
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
_GZIP = b"\x1f\x8b"
_PACKED = {b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip"}
"""Ways of packing that we do not unpack."""
_MISSING = ("NA", "N/A", "na", "n/a", "null", "NULL", "None", "")
"""How missing numbers are written in text files."""
_HEAD = 1 << 20


class _File(NamedTuple):
    path: Path
    name: str
    kind: str
    packed: bool
    head: bytes
    """The first bytes, unpacked."""


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
    told = ["standard input" if str(source) == "-" else str(source) for source in sources]
    name = told[0] if len(told) == 1 else f"{told[0]} and {len(told) - 1} more"
    with TemporaryDirectory(prefix="baserate-", ignore_cleanup_errors=True) as folder, engine(folder) as connection:
        files = [file for source in sources for file in _found(source, Path(folder))]
        kinds = sorted({file.kind for file in files})
        if len(kinds) > 1:
            raise BadFile(f"the files of {name} are of several kinds ({', '.join(kinds)}); name files of one kind.")
        with translated(name):
            table = _READERS[kinds[0]](connection, files, columns)
        columns = table.columns
        text = set(columns.labels) - set(columns.numbers) if kinds[0] in ("csv", "json") else ()
        watched = None if watch is None else partial(watch, steady(connection.query_progress))
        yield Relation(table.relation, columns, frozenset(text), name, table.diagnose, watched)


def steady(progress: Callable[[], float]) -> Callable[[], float | None]:
    """Tell of the two passes as of one that never goes back."""
    told = [0.0, 0.0, 0.0]  # passes done, per cent of this one, per cent of all

    def percent() -> float | None:
        now = max(progress(), 0.0)
        if now < told[1]:
            told[0] += 1
        told[1] = now
        told[2] = max(told[2], min((100 * told[0] + now) / 2, 99.0))
        return told[2] or None

    return percent


def _found(source: str | os.PathLike[str], folder: Path) -> list[_File]:
    if str(source) == "-":
        if sys.stdin is None:
            raise EmptyData("standard input is closed; name a file, or pipe one in.")
        return [_looked_at(_spooled(sys.stdin.buffer, folder), "standard input")]
    found = []
    for path in _expanded(source):
        if path.is_file():
            found.append(_looked_at(path, str(path)))
        else:
            with path.open("rb") as pipe:
                found.append(_looked_at(_spooled(pipe, folder), str(path)))
    return found


def _spooled(pipe: IO[bytes], folder: Path) -> Path:
    """Copy a pipe into a file: readers look at data more than once, and a pipe has only one go."""
    path = folder / f"spooled-{len(list(folder.iterdir()))}"
    with path.open("wb") as file:
        shutil.copyfileobj(pipe, file)
    return path


def _expanded(source: str | os.PathLike[str]) -> list[Path]:
    """All files that are meant, in order of their names."""
    path = Path(source)
    if path.is_dir():
        inside = (file for file in sorted(path.rglob("*")) if file.is_file() and _kind_by_name(file))
        found = [file for file in inside if not any(part[0] in "._" for part in file.relative_to(path).parts)]
        if not found:
            raise NoSuchFile(f"there are no tables in the folder {source}; it should hold one of: {', '.join(_KINDS)}.")
        return found
    if path.exists():
        return [path]
    if glob.has_magic(str(source)):
        found = [Path(match) for match in sorted(glob.glob(str(source), recursive=True)) if Path(match).is_file()]  # noqa: PTH207  (absolute patterns too)
        if not found:
            raise NoSuchFile(f"no file matches {source}; look for what there is with: ls.")
        return found
    near = _near(path)
    raise NoSuchFile(f"there is no file {source}.{f' Did you mean {near}?' if near else ' Check the path.'}")


def _near(path: Path) -> Path | None:
    from difflib import get_close_matches

    if not path.parent.is_dir():
        return None
    names = [other.name for other in path.parent.iterdir()]
    return next((path.with_name(match) for match in get_close_matches(path.name, names, n=1)), None)


def _looked_at(path: Path, name: str) -> _File:
    """Tell a file's kind by its first bytes; only text needs its name as well."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise NoSuchFile(f"{name} cannot be opened: {error.strerror}.") from error
    packed = head.startswith(_GZIP)
    if packed:
        head = _unpacked(path, name)
    if head.startswith(b"PK") and b"xl/" in head:
        raise BadFile(f"{name} is an Excel workbook; save the sheet as CSV.")
    for magic, packing in _PACKED.items():
        if head.startswith(magic):
            raise BadFile(f"{name} is packed with {packing}; unpack it first, or pack it with gzip.")
    named = _kind_by_name(path)
    kind = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)
    if kind is None and named in ("parquet", "arrow"):
        raise BadFile(f"{name} is not a {named.title()} file: its first bytes are {head[:4]!r}; write it again.")
    if kind is None:
        _check_text(head, name)
        kind = named or ("json" if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") else "csv")
    return _File(path, name, kind, packed, head)


def _unpacked(path: Path, name: str) -> bytes:
    try:
        with gzip.open(path) as file:
            return file.read(_HEAD)
    except (OSError, EOFError, zlib_error) as error:
        raise BadFile(f"{name} cannot be unpacked: {error}; pack it again.") from error


def _check_text(head: bytes, name: str) -> None:
    if not head.strip(b"\xef\xbb\xbf \t\r\n"):
        raise EmptyData(f"{name} is empty; give a table with a header and at least one row.")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise BadFile(f"{name} is UTF-16 text; convert it first, for example: iconv -f utf-16 -t utf-8.")
    if b"\0" in head:
        raise BadFile(f"{name} is no table that we know: neither CSV, JSON lines, Parquet nor Arrow.")


def _kind_by_name(path: Path) -> str | None:
    suffixes = [suffix.lower().lstrip(".") for suffix in path.suffixes]
    if suffixes and suffixes[-1] == "gz":
        suffixes.pop()
    return _KINDS.get(suffixes[-1]) if suffixes else None


def _csv(connection: DuckDBPyConnection, files: Sequence[_File], columns: Columns) -> _Table:
    """All columns as text, of files that have one header."""
    delimiter, header, blank = _header(files[0])
    for file in files[1:]:
        if _header(file) != (delimiter, header, blank):
            raise BadFile(f"{file.path} has another header than {files[0].path}; give files with the same columns.")
    columns = columns.found(header)
    numbered = {f"c{at}": "VARCHAR" for at in range(len(header))}
    options = f"delim = {literal(delimiter)}, quote = '\"', escape = '\"', header = true, auto_detect = false"
    options += f", skip = {blank}, hive_partitioning = false"
    read = connection.sql(
        f"SELECT * FROM read_csv({_listed(files)}, {options}, columns = {numbered}{_unpacking(files)})"
    )
    return _typed(read, {used: f"c{header.index(used)}" for used in columns.used}, columns)


def _header(file: _File) -> tuple[str, list[str], int]:
    """Delimiter and names of the first line, and how many blank ones are before it."""
    try:
        text = file.head.decode("utf-8-sig", errors="strict" if len(file.head) < _HEAD else "ignore")
    except UnicodeDecodeError as error:
        if b"\n" in file.head[: error.start]:
            text = file.head[: error.start].decode("utf-8-sig")  # the engine will tell in which line
        else:
            raise BadFile(
                f"the header of {file.name} is not UTF-8 text; convert it first, for example: iconv -f latin1 -t utf-8."
            ) from error
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    blank = next(at for at, line in enumerate(lines) if line.strip())
    bare = re.sub(r'"(?:[^"]|"")*"', "", lines[blank])
    delimiter = "\t" if "\t" in bare else max(",;|", key=bare.count)  # names hold commas, hardly ever tabs
    return delimiter, next(csv.reader(lines[blank:], delimiter=delimiter)), blank


def _json(connection: DuckDBPyConnection, files: Sequence[_File], columns: Columns) -> _Table:
    """Every column in use as text; each file must have them."""
    unpacking = f"{_unpacking(files)}, hive_partitioning = false"
    found = []
    # The names are looked for among the first rows, and if need be in all; a wide object is no map.
    for file in files:
        look = f"maximum_depth = 1, map_inference_threshold = -1, field_appearance_threshold = 0{unpacking}"
        first = connection.sql(f"SELECT * FROM read_json({_listed([file])}, {look})").columns
        if not set(columns.used) <= set(first):
            first = connection.sql(f"SELECT * FROM read_json({_listed([file])}, sample_size = -1, {look})").columns
        found.append(columns.found(first))
    if found[1:] != found[:-1]:
        raise BadFile(f"the files differ in the columns that are called {columns.score[0]}; give files of one form.")
    columns = found[0]
    wanted = ", ".join(f"{literal(used)}: 'VARCHAR'" for used in columns.used)
    read = connection.sql(f"SELECT * FROM read_json({_listed(files)}, columns = {{{wanted}}}{unpacking})")
    return _typed(read, {used: quoted(used) for used in columns.used}, columns)


def _typed(read: DuckDBPyRelation, place: dict[str, str], columns: Columns) -> _Table:
    """Convert what must be numbers; if that fails, find out where."""
    # Not `NOT IN (…)`: with five words or more DuckDB looks them up in a table, and rows lose their order.
    text = {used: _unless_missing(place[used]) for used in columns.numbers}
    cast = {used: f"({text[used]})::DOUBLE" if used in text else place[used] for used in columns.used}

    def diagnose() -> None:
        for used, spelled in text.items():
            wrong = f"TRY_CAST({spelled} AS DOUBLE) IS NULL AND {spelled} IS NOT NULL"
            [(total, bad, first)] = read.aggregate(
                f"count(*), count(*) FILTER ({wrong}), first({spelled}) FILTER ({wrong})"
            ).fetchall()
            if bad:
                raise NotNumeric(
                    f"{bad} of {total} values of {used} are not numbers (the first is {first[:60]!r}); {_remedy(first)}"
                )

    converted = read.project(", ".join(f"{cast[used]} AS {quoted(used)}" for used in columns.used))
    return _Table(converted, columns, diagnose)


def _unless_missing(place: str) -> str:
    return f"CASE WHEN {' AND '.join(f'{place} <> {literal(word)}' for word in _MISSING)} THEN {place} END"


def _remedy(text: str) -> str:
    if re.fullmatch(r"[-+]?\d+,\d+", text):
        return "write decimal points in place of commas."
    return "convert them, or leave the cells empty; labels of decisions are predicted=, not scores."


def _parquet(connection: DuckDBPyConnection, files: Sequence[_File], columns: Columns) -> _Table:
    """Columns with the types that they have; all files must agree on them."""
    read = connection.sql(f"SELECT * FROM read_parquet({_listed(files)}, hive_partitioning = false)")
    if not set(columns.used) <= set(read.columns):
        # Folders may name a column and its value (sex=f/part.parquet); a column in the files goes first.
        read = connection.sql(f"SELECT * FROM read_parquet({_listed(files)}, hive_partitioning = true)")
    columns = columns.found(read.columns)
    _check_schemas(connection, files, columns)
    return _Table(read.project(", ".join(map(quoted, columns.used))), columns)


def _check_schemas(connection: DuckDBPyConnection, files: Sequence[_File], columns: Columns) -> None:
    """See that all files have each column once, and of one type."""
    wanted = "file_name, name, concat_ws(' ', type, converted_type), num_children"
    rows = connection.sql(f"SELECT {wanted} FROM parquet_schema({_listed(files)})").fetchall()
    kinds: dict[str, Counter[str]] = {name: Counter() for name in columns.used}
    for name, kind in _outermost(rows):
        # DuckDB takes names that differ in capitals only for the same, and renames the second.
        for used in columns.used:
            if name.casefold() == used.casefold():
                kinds[used][kind if name == used else f"{kind} called {name!r}"] += 1
    for used, found in kinds.items():
        # A column of the folders' names (sex=f/part.parquet) is in none of the files.
        if found and found.total() > len(files):
            raise BadFile(f"there are several columns {used!r} ({_told(found, files)}); rename all but one.")
        if found and (len(found) > 1 or found.total() < len(files)):
            raise BadFile(
                f"the files do not agree on the column {used!r}: it is {_told(found, files)}; give files of one form."
            )


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


def _told(kinds: Counter[str], files: Sequence[_File]) -> str:
    return ", ".join(f"{kind} in {many} of {len(files)} files" for kind, many in sorted(kinds.items()))


def _arrow(connection: DuckDBPyConnection, files: Sequence[_File], columns: Columns) -> _Table:
    """Memory-mapped, through PyArrow, since DuckDB does not read these files."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise NotInstalled("Arrow files need PyArrow; run: pip install 'baserate[arrow]'.") from error
    tables = []
    for file in files:
        try:
            with pa.memory_map(str(file.path)) as source:
                reader = pa.ipc.open_file if file.head.startswith(b"ARROW1") else pa.ipc.open_stream
                tables.append(reader(source).read_all())
        except (pa.ArrowException, OSError) as error:
            raise BadFile(f"{file.path} is not a whole Arrow file ({error}); write it again.") from error
        columns = columns.found(tables[-1].column_names)
        if tables[-1].select(columns.used).schema != tables[0].select(columns.used).schema:
            raise BadFile(f"{file.path} has other types than {files[0].path}; give files of one form.")
    table = pa.concat_tables(each.select(columns.used) for each in tables)
    return _Table(connection.from_arrow(table), columns)


def _listed(files: Sequence[_File]) -> str:
    return "[" + ", ".join(literal(glob.escape(str(file.path.absolute()))) for file in files) + "]"


def _unpacking(files: Sequence[_File]) -> str:
    """What DuckDB must be told, since names need not end in .gz."""
    packed = {file.packed for file in files}
    if len(packed) > 1:
        raise BadFile("some of the files are packed and some are not; give files of one form.")
    return f", compression = '{'gzip' if packed == {True} else 'uncompressed'}'"


_READERS = {"csv": _csv, "json": _json, "parquet": _parquet, "arrow": _arrow}
