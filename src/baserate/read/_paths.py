"""Paths: expand patterns and folders, detect the format and compression of each file, and find its first record.

Pipes, standard input among them, are copied to a temporary file.
"""

from __future__ import annotations

import glob
import gzip
import os
import re
import shutil
import sys
from pathlib import Path
from typing import IO, Literal, NamedTuple, cast
from zlib import error as zlib_error

from baserate._errors import EmptyDataError, FileFormatError, NoSuchFileError, suggest

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
                f"there are no tables in the folder {source}; it should hold one of: {', '.join(_FORMATS)}."
            )
        return files
    if path.exists():
        return [path]
    if glob.has_magic(str(source)):
        files = [Path(match) for match in sorted(glob.glob(str(source), recursive=True)) if Path(match).is_file()]  # noqa: PTH207  (absolute patterns too)
        if not files:
            raise NoSuchFileError(f"no file matches {source}; look for what there is with: ls.")
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
            raise FileFormatError(f"{name} is packed with {packing}; unpack it first, or pack it with gzip.")
    by_name = _format_by_name(path)
    kind = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)
    if kind is None and by_name in ("parquet", "arrow"):
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
        raise FileFormatError(f"{name} cannot be unpacked: {error}; pack it again.") from error


def _check_text(head: bytes, name: str) -> None:
    if not head.strip(b"\xef\xbb\xbf \t\r\n"):
        raise EmptyDataError(f"{name} is empty", remedy="give a table with a header and at least one row.")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FileFormatError(
            f"{name} is UTF-16 text", remedy="convert it first, for example: iconv -f utf-16 -t utf-8."
        )
    if b"\0" in head:
        raise FileFormatError(f"{name} is no table that we know: neither CSV, JSON lines, Parquet nor Arrow.")


def _format_by_name(path: Path) -> str | None:
    suffixes = [suffix.lower().lstrip(".") for suffix in path.suffixes]
    if suffixes and suffixes[-1] == "gz":
        suffixes.pop()
    return _FORMATS.get(suffixes[-1]) if suffixes else None


def first_record(text: str) -> tuple[int, list[str]]:
    r"""Count the blank lines before the first record, and return its lines with their ends.

    A record ends with the line that closes its last quote; where none does, with its first line.

    >>> first_record('\n"a\nb",c\n1,2\n')
    (1, ['"a\n', 'b",c\n'])
    """
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    blank = next((at for at, line in enumerate(lines) if line.strip()), len(lines))
    quotes = 0
    for end, line in enumerate(lines[blank:], start=blank + 1):
        quotes += line.count('"')
        if quotes % 2 == 0:
            return blank, lines[blank:end]
    return blank, lines[blank : blank + 1]


def remove_quoted_cells(record: str) -> str:
    """Remove quoted cells, so that delimiters can be counted.

    >>> remove_quoted_cells('"a, b",c')
    ',c'
    """
    return re.sub(r'"(?:[^"]|"")*"', "", record)
