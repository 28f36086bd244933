"""A map applied to files of any size, out of core: read, mapped and written in one pass of the engine."""

from __future__ import annotations

import csv
import io
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple, Unpack

import duckdb

from baserate._class_map import ClassMap
from baserate._errors import BadFile, BadOption
from baserate._files import drafted
from baserate._map import Map
from baserate.apply._engine import REFUSED, Source
from baserate.apply._task import Asked, Task
from baserate.read._duckdb import Watch, literal, quoted, translated
from baserate.read._files import steady
from baserate.read._whole import Whole, whole

_ENDINGS = {
    "csv": "csv",
    **dict.fromkeys(("tsv", "tab"), "tsv"),
    **dict.fromkeys(("parquet", "pq", "parq"), "parquet"),
    **dict.fromkeys(("json", "jsonl", "ndjson"), "json"),
}
"""How names of files end -> what is written."""

_MEMORY = "700MB"
"""What the engine may hold: rows that wait for their turn to be written would otherwise grow with the file."""

Path_ = str | os.PathLike[str]


class _Form(NamedTuple):
    kind: str
    packed: bool


def file(
    map_: Map | ClassMap,
    source: Path_ | Sequence[Path_],
    target: Path_,
    /,
    *,
    watch: Watch | None = None,
    **asked: Unpack[Asked],
) -> int:
    """Apply a map to files of any size, and return how many rows were written.

    Every row and column stays in its place; columns of CSV files are text and stay as they are written, but for the
    scores, which are numbers in Parquet. The target is
    written whole or not at all. Memory does not grow with the number of rows.

    Parameters
    ----------
    map_
        A map of two classes or of several.
    source
        Path of a CSV, TSV, Parquet, JSON lines or Arrow file, a pattern, a folder, several of these in a list, or ``-``
        for standard input.
    target
        Path of a file whose ending says what it will be: .parquet, .csv, .tsv or .jsonl, or one of the last three and
        .gz; or ``-`` for CSV on standard output.
    watch
        Called with a function that tells how many per cent are done; returns a context to work in.
    score, to, bounds, missing
        As in :func:`frame`.
    """
    task, form = Task.of(map_, **asked), _form(target)
    sources = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    with whole(sources, task.scores) as opened:
        task.check(opened.names)
        _check_apart(opened, target)
        with _place(opened, target) as draft:
            return _written(task, opened, draft, form, watch)


def _form(target: Path_) -> _Form:
    """What to write, by the name of the target."""
    if str(target) == "-":
        return _Form("csv", packed=False)
    name = Path(target).name.lower()
    packed = name.endswith(".gz")
    kind = _ENDINGS.get(Path(name.removesuffix(".gz")).suffix.lstrip("."))
    if kind is None or (packed and kind == "parquet"):
        raise BadOption(f"the name {target} does not say what to write; end it in .parquet, .csv, .tsv or .jsonl.")
    return _Form(kind, packed)


def _check_apart(opened: Whole, target: Path_) -> None:
    """Nobody wants to lose what was read."""
    there = Path(target)
    if str(target) != "-" and there.exists() and any(read.path.samefile(there) for read in opened.met.files):
        raise BadOption(f"{target} is one of the files that are read; name another to write.")


@contextmanager
def _place(opened: Whole, target: Path_) -> Iterator[Path]:
    """Where to write until all is well."""
    if str(target) == "-":
        draft = opened.met.folder / "written"
        yield draft
        with draft.open("rb") as written:
            shutil.copyfileobj(written, sys.stdout.buffer)
        return
    if Path(target).is_dir():
        raise BadOption(f"{target} is a folder; name a file in it.")
    try:
        with drafted(target) as draft:
            yield draft
    except OSError as error:
        raise BadOption(f"cannot write {target} ({error.strerror}); name another file.") from error


def _written(task: Task, opened: Whole, draft: Path, form: _Form, watch: Watch | None) -> int:
    names = [*opened.names, *task.made]
    connection = opened.met.connection
    columns = [(_as_written(opened, at, form), f"n{at}") for at in range(len(opened.names))]
    made = [f"n{at}" for at in range(len(columns), len(names))]
    source = Source(opened.relation, columns, made, [opened.numbers[name] for name in task.scores])
    with translated(opened.met.name):
        source.applied(task).create_view("applied")
    picked, options = _shape(names, form)
    watched = nullcontext() if watch is None else watch(steady(connection.query_progress, passes=1))
    with watched, _diagnosed(task, opened, source, draft):
        return _copied(connection, f"COPY (SELECT {picked} FROM applied) TO {literal(str(draft))} ({options})")


def _copied(connection: duckdb.DuckDBPyConnection, statement: str) -> int:
    """Run it in little memory; where rows are so wide that this will not do, in as much as the engine takes."""
    [(usual,)] = connection.execute("SELECT current_setting('memory_limit')").fetchall()
    for limit in (_MEMORY, usual):
        connection.execute(f"SET memory_limit = {literal(limit)}")
        try:
            [(rows,)] = connection.execute(statement).fetchall()
            return int(rows)
        except duckdb.OutOfMemoryException:
            if limit == usual:
                raise
    raise AssertionError


def _as_written(opened: Whole, at: int, form: _Form) -> str:
    # Text that was read as numbers is numbers where there are types, so that it can be read as such again.
    if form.kind == "parquet" and opened.met.kind in ("csv", "json") and opened.names[at] in opened.numbers:
        return opened.numbers[opened.names[at]]
    # What was JSON stays so in JSON, and becomes text elsewhere.
    return f"(c{at} ->> '$')" if opened.met.kind == "json" and form.kind != "json" else f"c{at}"


def _shape(names: Sequence[str], form: _Form) -> tuple[str, str]:
    """What to select, under which names, and how to write it."""
    packing = ", COMPRESSION gzip" if form.packed else ""
    kind = "csv" if form.kind == "tsv" else form.kind
    options = f"FORMAT {kind}{packing}"
    if kind == "csv":
        options += f", DELIMITER {literal(_delimiter(form))}"
    plain = ", ".join(f"n{at} AS {quoted(name)}" for at, name in enumerate(names))
    if "" not in names and len({name.casefold() for name in names}) == len(names):
        return plain, f"{options}, HEADER true" if kind == "csv" else options
    if kind != "csv":
        raise BadFile("some columns have no name, or the same but for capitals; rename them, or write CSV.")
    # The engine knows no such names, so the header is ours.
    header = io.StringIO()
    csv.writer(header, delimiter=_delimiter(form), lineterminator="\n").writerow(names)
    own = f"HEADER false, PREFIX {literal(header.getvalue())}, SUFFIX {literal(chr(10))}"
    return ", ".join(f"n{at}" for at in range(len(names))), f"{options}, {own}"


def _delimiter(form: _Form) -> str:
    return "\t" if form.kind == "tsv" else ","


@contextmanager
def _diagnosed(task: Task, opened: Whole, source: Source, draft: Path) -> Iterator[None]:
    """Find out which rows a failure is about."""
    with translated(opened.met.name):
        try:
            yield
        except (duckdb.ConversionException, duckdb.InvalidInputException) as error:
            if opened.diagnose:
                opened.diagnose()
            if REFUSED in str(error):
                source.refuse(task)
            raise
        except duckdb.IOException as error:
            if str(draft) in str(error):
                raise BadOption(f"cannot write: {str(error).splitlines()[0]}; name another file.") from error
            raise
