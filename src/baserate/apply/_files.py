"""A map or a policy applied to files of any size, out of core: read, computed and written in one pass of the engine."""

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
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack, overload

import duckdb

from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._errors import FileFormatError, OptionError
from baserate._files import draft_file
from baserate._policy import Policy
from baserate.apply._decision import AskedOfPolicy, Decision
from baserate.apply._engine import Source
from baserate.apply._policy_engine import SAID, Deciding, Ids, ids, text_of_label
from baserate.apply._task import Asked, Task
from baserate.read import Whole, literal, quoted, steady, translated, whole

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

_ENDINGS = {
    "csv": "csv",
    **dict.fromkeys(("tsv", "tab"), "tsv"),
    **dict.fromkeys(("parquet", "pq", "parq"), "parquet"),
    **dict.fromkeys(("json", "jsonl", "ndjson"), "json"),
}
"""How names of files end -> what is written."""

_MEMORY = "700MB"
"""What the engine may hold: rows that wait for their turn to be written would otherwise grow with the file."""

_FULL = tuple(map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)))
"""What the system says where there is no room."""

Path_ = str | os.PathLike[str]


Watched = Callable[[Callable[[], float | None], int | None], AbstractContextManager[object]]
"""Given a function that tells how many per cent are done, and how many rows there are if that is known, a context."""


class Written(NamedTuple):
    """What was written: how many rows, what a reader should know of them, and how many seconds it took."""

    rows: int
    notes: tuple[str, ...]
    seconds: float


class _Form(NamedTuple):
    kind: str
    packed: bool


@overload
def file(
    what: Calibrator | MulticlassCalibrator,
    source: Path_ | Sequence[Path_],
    target: Path_,
    /,
    *,
    watch: Watched | None = None,
    **asked: Unpack[Asked],
) -> Written: ...


@overload
def file(
    what: Policy,
    source: Path_ | Sequence[Path_],
    target: Path_,
    /,
    *,
    watch: Watched | None = None,
    **asked: Unpack[AskedOfPolicy],
) -> Written: ...


def file(
    what: Calibrator | MulticlassCalibrator | Policy,
    source: Path_ | Sequence[Path_],
    target: Path_,
    /,
    *,
    watch: Watched | None = None,
    **asked: Any,
) -> Written:
    """Apply a map or a policy to files of any size, and tell how many rows were written.

    Every row and column stays in its place; columns of CSV files are text and stay as they are written, but for the
    scores, which are numbers in Parquet. The target is written whole or not at all. Memory does not grow with the
    number of rows. Of a policy that draws lots, rows that share an id are noted.

    Parameters
    ----------
    what
        A map of two classes or of several, or a policy.
    source
        Path of a CSV, TSV, Parquet, JSON lines or Arrow file, a pattern, a folder, several of these in a list, or ``-``
        for standard input.
    target
        Path of a file whose ending says what it will be: .parquet, .csv, .tsv or .jsonl, or one of the last three and
        .gz; or ``-`` for CSV on standard output.
    watch
        Called with a function that tells how many per cent are done, and with the number of rows or None; returns a
        context to work in.
    score, to, missing
        As in :func:`frame`.
    bounds
        Of a map, as in :func:`frame`.
    group, id, chances
        Of a policy, as in :func:`frame`.
    """
    began = monotonic()
    task = Decision.of(what, **asked) if isinstance(what, Policy) else Task.of(what, **asked)
    form = _form(target)
    sources = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    with whole(sources, task.scores, task.used if isinstance(task, Decision) else ()) as opened:
        task.check(opened.names)
        _check_apart(opened, target)
        with _place(opened, target) as draft:
            rows, notes = _written(_work(task, opened, form), draft, form, watch)
    return Written(rows, notes, monotonic() - began)


def _form(target: Path_) -> _Form:
    """What to write, by the name of the target."""
    if str(target) == "-":
        return _Form("csv", packed=False)
    name = Path(target).name.lower()
    packed = name.endswith(".gz")
    kind = _ENDINGS.get(Path(name.removesuffix(".gz")).suffix.lstrip("."))
    if kind is None or (packed and kind == "parquet"):
        raise OptionError(f"the name {target} does not say what to write; end it in .parquet, .csv, .tsv or .jsonl.")
    return _Form(kind, packed)


def _check_apart(opened: Whole, target: Path_) -> None:
    """Nobody wants to lose what was read."""
    there = Path(target)
    if str(target) != "-" and there.exists() and any(read.path.samefile(there) for read in opened.met.files):
        raise OptionError(f"{target} is one of the files that are read; name another to write.")


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
        raise OptionError(f"{target} is a folder; name a file in it.")
    try:
        with draft_file(target) as draft:
            yield draft
    except OSError as error:
        room = "make room there, or " if error.strerror in _FULL else ""
        raise OptionError(f"cannot write {target} ({error.strerror}); {room}name another file.") from error


class _Work(NamedTuple):
    """What is to be done with files that are open, in the engine."""

    opened: Whole
    names: Sequence[str]
    """Of all columns that are written, in their order; the engine calls them n0, n1, …."""
    applied: Callable[[], DuckDBPyRelation]
    refuse: Callable[[], None]
    notes: Callable[[], tuple[str, ...]]


def _work(task: Task | Decision, opened: Whole, form: _Form) -> _Work:
    names = [*opened.names, *task.made]
    columns = [(_as_written(opened, at, form), f"n{at}") for at in range(len(opened.names))]
    made = [f"n{at}" for at in range(len(columns), len(names))]
    source = Source(opened.relation, columns, made, [opened.numbers[name] for name in task.scores])
    if isinstance(task, Task):
        return _Work(opened, names, partial(source.applied, task), partial(source.refuse, task), tuple)
    groups = [text_of_label(*opened.place(name)) for name in task.groups]
    deciding = Deciding(task, source, groups, _ids(task, opened))
    return _Work(opened, names, deciding.applied, deciding.refuse, partial(_notes, deciding, opened))


def _ids(decision: Decision, opened: Whole) -> Ids | None:
    if decision.id is None:
        return None
    place, kind = opened.place(decision.id)
    if kind == "JSON":  # of which types is seen when all rows are
        return Ids(text_of_label(place, kind), text_of_label(place, kind))
    return ids(decision.id, place, kind)


def _notes(deciding: Deciding, opened: Whole) -> tuple[str, ...]:
    """Notes on rows that are written; and a last look at ids whose types only the rows know."""
    id_ = deciding.decision.id
    if id_ is not None and opened.met.kind == "json":
        deciding.check_json_ids(opened.place(id_)[0])
    return deciding.notes()


def _written(work: _Work, draft: Path, form: _Form, watch: Watched | None) -> tuple[int, tuple[str, ...]]:
    """Rows that were written, and notes on them."""
    met = work.opened.met
    with translated(met.name):
        work.applied().create_view("applied")
    picked, options = _shape(work.names, form)
    progress = steady(met.connection.query_progress, passes=1)
    with _diagnosed(work, draft), nullcontext() if watch is None else watch(progress, work.opened.rows):
        rows = _copied(met.connection, f"COPY (SELECT {picked} FROM applied) TO {literal(str(draft))} ({options})")
        return rows, work.notes()


def _copied(connection: duckdb.DuckDBPyConnection, statement: str) -> int:
    """Run it in little memory; where rows are so wide that this will not do, in as much as the engine takes."""
    _write_by_itself(connection)
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


def _write_by_itself(connection: duckdb.DuckDBPyConnection) -> None:
    """Let who makes rows write them, too, which takes no longer."""
    # DuckDB 2 leaves writing to other threads, and when a disk is full these may wait for each other for ever.
    known = "SELECT 1 FROM duckdb_settings() WHERE name = 'async_threads'"
    if connection.execute(known).fetchone():  # earlier releases know no such threads
        connection.execute("SET async_threads = 0")


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
    options = f"FORMAT {kind}{packing}, USE_TMP_FILE false"  # a draft is one already
    if kind == "csv":
        options += f", DELIMITER {literal(_delimiter(form))}"
    plain = ", ".join(f"n{at} AS {quoted(name)}" for at, name in enumerate(names))
    if "" not in names and len({name.casefold() for name in names}) == len(names):
        return plain, f"{options}, HEADER true" if kind == "csv" else options
    if kind != "csv":
        raise FileFormatError("some columns have no name, or the same but for capitals; rename them, or write CSV.")
    # The engine knows no such names, so the header is ours.
    header = io.StringIO()
    csv.writer(header, delimiter=_delimiter(form), lineterminator="\n").writerow(names)
    own = f"HEADER false, PREFIX {literal(header.getvalue())}, SUFFIX {literal(chr(10))}"
    return ", ".join(f"n{at}" for at in range(len(names))), f"{options}, {own}"


def _delimiter(form: _Form) -> str:
    return "\t" if form.kind == "tsv" else ","


@contextmanager
def _diagnosed(work: _Work, draft: Path) -> Iterator[None]:
    """Find out which rows a failure is about, or why nothing can be written."""
    with translated(work.opened.met.name):
        try:
            yield
        except (duckdb.ConversionException, duckdb.InvalidInputException) as error:
            if work.opened.diagnose:
                work.opened.diagnose()
            if any(said in str(error) for said in SAID):
                work.refuse()
            raise
        except duckdb.IOException as error:
            told = re.search(re.escape(str(draft)) + r'\\*": ([\w ]+)', str(error))
            if told:
                raise OSError(errno.EIO, told[1]) from error
            raise
