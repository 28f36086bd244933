"""Which files are meant, and of what kind each is: globs, folders, gzip and standard input."""

from __future__ import annotations

import glob
import gzip
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Literal, NamedTuple, cast
from zlib import error as zlib_error

from baserate._errors import EmptyDataError, FileFormatError, NoSuchFileError
from baserate.read._duckdb import engine

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

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
_HEAD = 1 << 20
_MARK = b"\xef\xbb\xbf"
"""Byte order mark of UTF-8."""


class File(NamedTuple):
    """A file that was looked at."""

    path: Path
    name: str
    kind: str
    packed: bool
    head: bytes
    """The first bytes, unpacked."""
    ends: bool
    """Whether they are all."""
    copy: Path | None = None
    """What the engine reads in place of the file."""


class Met(NamedTuple):
    """Files that are meant, and the engine that will read them."""

    connection: DuckDBPyConnection
    files: Sequence[File]
    kind: str
    name: str
    """What they are called together."""
    folder: Path
    """Ours, until they are closed."""


@contextmanager
def met(sources: Sequence[str | os.PathLike[str]]) -> Iterator[Met]:
    """Find out which files are meant, and open an engine for them."""
    told = ["standard input" if str(source) == "-" else str(source) for source in sources]
    name = told[0] if len(told) == 1 else f"{told[0]} and {len(told) - 1} more"
    with TemporaryDirectory(prefix="baserate-", ignore_cleanup_errors=True) as folder, engine(folder) as connection:
        files = [file for source in sources for file in _found(source, Path(folder))]
        kinds = sorted({file.kind for file in files})
        if len(kinds) > 1:
            raise FileFormatError(
                f"the files of {name} are of several kinds ({', '.join(kinds)}); name files of one kind."
            )
        yield Met(connection, files, kinds[0], name, Path(folder))


def _found(source: str | os.PathLike[str], folder: Path) -> list[File]:
    if str(source) == "-":
        if sys.stdin is None:
            raise EmptyDataError("standard input is closed; name a file, or pipe one in.")
        return [_replace_mark(_looked_at(_spooled(sys.stdin.buffer, folder), "standard input"), folder)]
    found = []
    for path in _expanded(source):
        if path.is_file():
            found.append(_looked_at(path, str(path)))
        else:
            with path.open("rb") as pipe:
                found.append(_looked_at(_spooled(pipe, folder), str(path)))
    return [_replace_mark(file, folder) for file in found]


def _replace_mark(file: File, folder: Path) -> File:
    """Copy a CSV file without its byte order mark where the first name is quoted and holds a line break.

    The engine overlooks a quote that follows the mark, and would take the rest of the name for a row.
    """
    if file.kind != "csv" or not re.match(rb'\xef\xbb\xbf\s*"(?:[^"\r\n]|"")*[\r\n]', file.head):
        return file
    copy = folder / f"unmarked-{len(list(folder.iterdir()))}"
    with _open_bytes(file.path, "rb", packed=file.packed) as old, _open_bytes(copy, "wb", packed=file.packed) as new:
        old.read(len(_MARK))
        shutil.copyfileobj(old, new)
    return file._replace(copy=copy)


def _open_bytes(path: Path, mode: Literal["rb", "wb"], *, packed: bool) -> IO[bytes]:
    """Open a file, through gzip if it is packed; a copy is read once, so that speed matters more than its size."""
    return cast("IO[bytes]", gzip.open(path, mode, compresslevel=1)) if packed else path.open(mode)


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
            raise NoSuchFileError(
                f"there are no tables in the folder {source}; it should hold one of: {', '.join(_KINDS)}."
            )
        return found
    if path.exists():
        return [path]
    if glob.has_magic(str(source)):
        found = [Path(match) for match in sorted(glob.glob(str(source), recursive=True)) if Path(match).is_file()]  # noqa: PTH207  (absolute patterns too)
        if not found:
            raise NoSuchFileError(f"no file matches {source}; look for what there is with: ls.")
        return found
    near = _near(path)
    raise NoSuchFileError(f"there is no file {source}.{f' Did you mean {near}?' if near else ' Check the path.'}")


def _near(path: Path) -> Path | None:
    from difflib import get_close_matches

    if not path.parent.is_dir():
        return None
    names = [other.name for other in path.parent.iterdir()]
    return next((path.with_name(match) for match in get_close_matches(path.name, names, n=1)), None)


def _looked_at(path: Path, name: str) -> File:
    """Tell a file's kind by its first bytes; only text needs its name as well."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise NoSuchFileError(f"{name} cannot be opened: {error.strerror}.") from error
    packed = head.startswith(_GZIP)
    if packed:
        head = _unpacked(path, name)
    if head.startswith(b"PK") and b"xl/" in head:
        raise FileFormatError(f"{name} is an Excel workbook; save the sheet as CSV.")
    for magic, packing in _PACKED.items():
        if head.startswith(magic):
            raise FileFormatError(f"{name} is packed with {packing}; unpack it first, or pack it with gzip.")
    named = _kind_by_name(path)
    kind = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)
    if kind is None and named in ("parquet", "arrow"):
        raise FileFormatError(
            f"{name} is not a {named.title()} file: its first bytes are {head[:4]!r}; write it again."
        )
    if kind is None:
        _check_text(head, name)
        kind = named or ("json" if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") else "csv")
    return File(path, name, kind, packed, head, len(head) < _HEAD)


def _unpacked(path: Path, name: str) -> bytes:
    try:
        with gzip.open(path) as file:
            return file.read(_HEAD)
    except (OSError, EOFError, zlib_error) as error:
        raise FileFormatError(f"{name} cannot be unpacked: {error}; pack it again.") from error


def _check_text(head: bytes, name: str) -> None:
    if not head.strip(b"\xef\xbb\xbf \t\r\n"):
        raise EmptyDataError(f"{name} is empty; give a table with a header and at least one row.")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FileFormatError(f"{name} is UTF-16 text; convert it first, for example: iconv -f utf-16 -t utf-8.")
    if b"\0" in head:
        raise FileFormatError(f"{name} is no table that we know: neither CSV, JSON lines, Parquet nor Arrow.")


def _kind_by_name(path: Path) -> str | None:
    suffixes = [suffix.lower().lstrip(".") for suffix in path.suffixes]
    if suffixes and suffixes[-1] == "gz":
        suffixes.pop()
    return _KINDS.get(suffixes[-1]) if suffixes else None
