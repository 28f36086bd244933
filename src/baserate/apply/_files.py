"""Files: apply a calibrator or a policy to files of any size, in one pass of DuckDB and with little memory."""

from __future__ import annotations

import csv
import errno
import io
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, Unpack, overload

import duckdb

from baserate._errors import FileFormatError, OptionError
from baserate._files import draft_file
from baserate._policy import Policy
from baserate.apply._duckdb import ENGINE_MESSAGES, IdColumn, RelationTask, find_id_column, label_sql
from baserate.apply._task import AnyCalibrator, CalibratorOptions, PolicyOptions, Task, make_task
from baserate.read import (
    AllColumns,
    monotone_progress,
    open_all_columns,
    quote_identifier,
    quote_literal,
    translate_errors,
)

_FILE_KINDS = {
    "csv": "csv",
    **dict.fromkeys(("tsv", "tab"), "tsv"),
    **dict.fromkeys(("parquet", "pq", "parq"), "parquet"),
    **dict.fromkeys(("json", "jsonl", "ndjson"), "json"),
}
"""Suffix of a file -> its format."""

_MEMORY_LIMIT = "700MB"
"""Memory of the engine: rows that wait to be written in order would otherwise grow with the file."""

_DISK_FULL = tuple(map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)))
"""Messages of the system where a disk or a quota is full."""

PathLike = str | os.PathLike[str]


ProgressContext = Callable[[Callable[[], float | None], int | None], AbstractContextManager[object]]
"""From a function that returns the percentage so far, and the number of rows if known, to a context."""


class WriteSummary(NamedTuple):
    """Summary of a written file: number of rows, notes on them, and duration in seconds."""

    rows: int
    notes: tuple[str, ...]
    seconds: float


class _TargetFormat(NamedTuple):
    kind: str
    gzipped: bool


@overload
def file(
    calibrator: AnyCalibrator,
    source: PathLike | Sequence[PathLike],
    target: PathLike,
    /,
    *,
    watch: ProgressContext | None = None,
    **options: Unpack[CalibratorOptions],
) -> WriteSummary: ...


@overload
def file(
    policy: Policy,
    source: PathLike | Sequence[PathLike],
    target: PathLike,
    /,
    *,
    watch: ProgressContext | None = None,
    **options: Unpack[PolicyOptions],
) -> WriteSummary: ...


def file(
    artifact: AnyCalibrator | Policy,
    source: PathLike | Sequence[PathLike],
    target: PathLike,
    /,
    *,
    watch: ProgressContext | None = None,
    **options: Any,
) -> WriteSummary:
    """Apply a calibrator or a policy to files of any size, and write the result to a file.

    Every row and column stays in its place; columns of CSV files are text and stay unchanged, except for the scores,
    which are numbers in Parquet. The target is written whole or not at all. Memory does not grow with the number of
    rows. For a randomized policy, a note counts rows that share an id.

    Parameters
    ----------
    artifact
        A binary or multiclass calibrator, or a policy.
    source
        Path of a CSV, TSV, Parquet, JSON lines or Arrow file, a pattern, a folder, several of these in a list, or ``-``
        for standard input.
    target
        Path of a file whose suffix determines its format: .parquet, .csv, .tsv or .jsonl, or one of the last three and
        .gz; or ``-`` for CSV on standard output.
    watch
        Called with a function that returns the percentage so far, and with the number of rows or None; returns a
        context manager to work in.
    score, name, missing
        As in :func:`frame`.
    bounds
        For a Venn–Abers calibrator, as in :func:`frame`.
    group, id, chances
        For a policy, as in :func:`frame`.

    Returns
    -------
    WriteSummary
        The number of rows, notes on them, and the duration.

    Raises
    ------
    DataError
        If rows cannot be calibrated or decided; the target is then not written.
    OptionError
        If a column or option does not exist, or the target cannot be written.
    """
    began = monotonic()
    task = make_task(artifact, **options)
    format_ = _target_format(target)
    sources = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    with open_all_columns(sources, task.scores, task.columns if task.is_policy else ()) as files:
        task.check_columns(files.names)
        _check_target(files, target)
        with _draft_target(files, target) as draft:
            rows, notes = _write_rows(_relation_task(task, files, format_), files, draft, format_, watch)
    return WriteSummary(rows, notes, monotonic() - began)


def _target_format(target: PathLike) -> _TargetFormat:
    """Return the format of the target, by its suffix."""
    if str(target) == "-":
        return _TargetFormat("csv", gzipped=False)
    name = Path(target).name.lower()
    gzipped = name.endswith(".gz")
    kind = _FILE_KINDS.get(Path(name.removesuffix(".gz")).suffix.lstrip("."))
    if kind is None or (gzipped and kind == "parquet"):
        raise OptionError(
            f"the name {target} does not say what to write", remedy="end it in .parquet, .csv, .tsv or .jsonl."
        )
    return _TargetFormat(kind, gzipped)


def _check_target(files: AllColumns, target: PathLike) -> None:
    """Refuse to overwrite a file that is read."""
    path = Path(target)
    if str(target) != "-" and path.exists() and any(source.path.samefile(path) for source in files.source.files):
        raise OptionError(f"{target} is one of the files that are read", remedy="name another to write.")


@contextmanager
def _draft_target(files: AllColumns, target: PathLike) -> Iterator[Path]:
    """Return the draft to write, which becomes the target only when it is complete."""
    if str(target) == "-":
        # Standard output, too, gets the rows only when all are computed.
        draft = files.source.folder / "written"
        yield draft
        with draft.open("rb") as content:
            shutil.copyfileobj(content, sys.stdout.buffer)
        return
    if Path(target).is_dir():
        raise OptionError(f"{target} is a folder", remedy="name a file in it.")
    try:
        with draft_file(target) as draft:
            yield draft
    except OSError as error:
        remedy = "make room there, or " if error.strerror in _DISK_FULL else ""
        raise OptionError(f"cannot write {target} ({error.strerror}); {remedy}name another file.") from error


def _relation_task(task: Task, files: AllColumns, target: _TargetFormat) -> RelationTask:
    """Return the task for files that are open; the engine calls their columns n0, n1, …."""
    count = len(files.names)
    return RelationTask(
        task,
        files.relation,
        [(_column_sql(files, at, target), f"n{at}") for at in range(count)],
        [f"n{at}" for at in range(count, count + len(task.new_columns))],
        scores=[files.numbers[name] for name in task.scores],
        groups=[label_sql(*files.place(name)) for name in task.groups],
        ids=_id_column(task, files),
    )


def _id_column(task: Task, files: AllColumns) -> IdColumn | None:
    if task.id is None:
        return None
    place, kind = files.place(task.id)
    if kind == "JSON":  # types of JSON values are known only after all rows are read: see `_notes`
        return IdColumn(label_sql(place, kind), label_sql(place, kind))
    return find_id_column(task.id, place, kind)


def _notes(work: RelationTask, files: AllColumns) -> tuple[str, ...]:
    """Return notes on the rows after they are written; check ids whose types only the rows determine."""
    if work.task.id is not None and files.source.kind == "json":
        work.check_json_ids(files.place(work.task.id)[0])
    return work.notes()


def _write_rows(
    work: RelationTask, files: AllColumns, draft: Path, target: _TargetFormat, watch: ProgressContext | None
) -> tuple[int, tuple[str, ...]]:
    """Write the rows to a draft; return their number, and notes on them."""
    connection = files.source.connection
    with translate_errors(files.source.name):
        work.apply().create_view("applied")
    selection, options = _copy_clauses([*files.names, *work.task.new_columns], target)
    progress = monotone_progress(connection.query_progress, passes=1)
    with _explain_failures(work, files, draft), nullcontext() if watch is None else watch(progress, files.rows):
        rows = _run_copy(
            connection, f"COPY (SELECT {selection} FROM applied) TO {quote_literal(str(draft))} ({options})"
        )
        return rows, _notes(work, files)


def _run_copy(connection: duckdb.DuckDBPyConnection, statement: str) -> int:
    """Run a statement in little memory; in as much as the engine takes, where rows are too wide for that."""
    _disable_write_threads(connection)
    [(default,)] = connection.execute("SELECT current_setting('memory_limit')").fetchall()
    for limit in (_MEMORY_LIMIT, default):
        connection.execute(f"SET memory_limit = {quote_literal(limit)}")
        try:
            [(rows,)] = connection.execute(statement).fetchall()
            return int(rows)
        except duckdb.OutOfMemoryException:
            if limit == default:
                raise
    raise AssertionError  # for the type checker: the second limit returns or raises


def _disable_write_threads(connection: duckdb.DuckDBPyConnection) -> None:
    """Let the threads that compute rows also write them, which takes no longer."""
    # DuckDB 2 leaves writing to other threads, and these may wait for each other forever when a disk is full.
    setting = "SELECT 1 FROM duckdb_settings() WHERE name = 'async_threads'"
    if connection.execute(setting).fetchone():  # earlier releases have no such threads
        connection.execute("SET async_threads = 0")


def _column_sql(files: AllColumns, at: int, target: _TargetFormat) -> str:
    """Return the expression of a column that stays, in the types of the target."""
    # Text that was read as numbers becomes numbers in Parquet, which has types, so that it can be read as such again.
    if target.kind == "parquet" and files.source.kind in ("csv", "json") and files.names[at] in files.numbers:
        return files.numbers[files.names[at]]
    # JSON values stay JSON in JSON, and become text elsewhere.
    return f"(c{at} ->> '$')" if files.source.kind == "json" and target.kind != "json" else f"c{at}"


def _copy_clauses(names: Sequence[str], target: _TargetFormat) -> tuple[str, str]:
    """Return the selection with its names, and the options of COPY."""
    compression = ", COMPRESSION gzip" if target.gzipped else ""
    kind = "csv" if target.kind == "tsv" else target.kind
    options = f"FORMAT {kind}{compression}, USE_TMP_FILE false"  # a draft is a temporary file already
    if kind == "csv":
        options += f", DELIMITER {quote_literal(_delimiter(target))}"
    columns = ", ".join(f"n{at} AS {quote_identifier(name)}" for at, name in enumerate(names))
    if "" not in names and len({name.casefold() for name in names}) == len(names):
        return columns, f"{options}, HEADER true" if kind == "csv" else options
    if kind != "csv":
        raise FileFormatError(
            "some columns have no name, or the same but for capitals", remedy="rename them, or write CSV."
        )
    # The engine allows no such names, so that the header is written here.
    header = io.StringIO()
    csv.writer(header, delimiter=_delimiter(target), lineterminator="\n").writerow(names)
    prefix = f"HEADER false, PREFIX {quote_literal(header.getvalue())}, SUFFIX {quote_literal(chr(10))}"
    return ", ".join(f"n{at}" for at in range(len(names))), f"{options}, {prefix}"


def _delimiter(target: _TargetFormat) -> str:
    return "\t" if target.kind == "tsv" else ","


@contextmanager
def _explain_failures(work: RelationTask, files: AllColumns, draft: Path) -> Iterator[None]:
    """Raise an error that lists the rows which the engine failed at, or says why nothing can be written."""
    with translate_errors(files.source.name):
        try:
            yield
        except (duckdb.ConversionException, duckdb.InvalidInputException) as error:
            # The engine stops at one row without its number: another pass counts and lists all of them.
            if files.diagnose:
                files.diagnose()
            if any(message in str(error) for message in ENGINE_MESSAGES):
                work.raise_row_errors()
            raise
        except duckdb.IOException as error:
            # The engine sets no errno: the reason follows the name of the draft.
            reason = re.search(re.escape(str(draft)) + r'\\*": ([\w ]+)', str(error))
            if reason:
                raise OSError(errno.EIO, reason[1]) from error
            raise
