"""Files -> a relation of DuckDB with all of their columns, for those who write them again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from baserate._errors import FileFormatError
from baserate.read._duckdb import number, quoted, translated
from baserate.read._files import (
    arrow_tables,
    check_alike,
    check_schemas,
    csv_text,
    json_columns,
    json_names,
    no_numbers,
    parquet_columns,
    unless_missing,
)
from baserate.read._found import Met, met
from baserate.read._named import check_there

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation


class Whole(NamedTuple):
    """A relation of all columns, called c0, c1, …, and what there is to know of them."""

    met: Met
    relation: DuckDBPyRelation
    names: list[str]
    """What they are called in the files."""
    numbers: dict[str, str]
    """Of those that must hold numbers: how to get them, in SQL."""
    diagnose: Callable[[], None] | None = None
    """Called when something cannot be converted; raises an error that says what."""

    def place(self, name: str) -> tuple[str, str]:
        """Where a column is, in SQL, and its type."""
        at = self.names.index(name)
        return f"c{at}", str(self.relation.types[at])

    @property
    def rows(self) -> int | None:
        """How many rows there are, if that is known without reading them."""
        if self.met.kind not in ("parquet", "arrow"):
            return None
        [(rows,)] = self.relation.aggregate("count(*)").fetchall()
        return int(rows)


@contextmanager
def whole(
    sources: Sequence[str | os.PathLike[str]], numbers: Sequence[str], labels: Sequence[str] = ()
) -> Iterator[Whole]:
    """Open files, patterns, folders, or standard input as `-`; the columns `numbers` must hold numbers.

    The columns `labels` must be there, too, but may hold anything.

    Columns of CSV files are text, those of JSON files are JSON, all others have the types that they have.
    """
    with met(sources) as found:
        with translated(found.name):
            opened = _READERS[found.kind](found, numbers, labels)
        yield opened


def _csv(found: Met, numbers: Sequence[str], labels: Sequence[str]) -> Whole:
    read, names = csv_text(found.connection, found.files)
    _check_there([*numbers, *labels], names)
    return _of_text(found, read, names, {name: f"c{names.index(name)}" for name in numbers})


def _json(found: Met, numbers: Sequence[str], labels: Sequence[str]) -> Whole:
    several = [json_names(found.connection, file, of_all=True) for file in found.files]
    for names in several:
        _check_there([*numbers, *labels], names)
    names = list(dict.fromkeys(name for names in several for name in names))
    read = _numbered(json_columns(found.connection, found.files, dict.fromkeys(names, "JSON")), names)
    return _of_text(found, read, names, {name: f"(c{names.index(name)} ->> '$')" for name in numbers})


def _of_text(found: Met, read: DuckDBPyRelation, names: list[str], text: dict[str, str]) -> Whole:
    spelled = {name: unless_missing(place) for name, place in text.items()}
    cast = {name: f"({each})::DOUBLE" for name, each in spelled.items()}
    return Whole(found, read, names, cast, partial(no_numbers, read, spelled))


def _parquet(found: Met, numbers: Sequence[str], labels: Sequence[str]) -> Whole:
    read = parquet_columns(found.connection, found.files, [*numbers, *labels])
    names = read.columns
    _check_there([*numbers, *labels], names)
    more = check_schemas(found.connection, found.files, names) - set(names)
    if more:
        raise FileFormatError(f"not all of the files have the column {min(more)!r}; give files of one form.")
    return _of_types(found, read, numbers)


def _arrow(found: Met, numbers: Sequence[str], labels: Sequence[str]) -> Whole:
    tables = arrow_tables(found.files)
    import pyarrow as pa  # there, since the tables are

    for file, table in zip(found.files, tables, strict=True):
        _check_there([*numbers, *labels], table.column_names)
        check_alike(file, table, found.files[0], tables[0])
    return _of_types(found, found.connection.from_arrow(pa.concat_tables(tables)), numbers)


def _of_types(found: Met, read: DuckDBPyRelation, numbers: Sequence[str]) -> Whole:
    names = read.columns
    kinds = dict(zip(names, map(str, read.types), strict=True))
    cast = {name: number(name, kinds[name], f"c{names.index(name)}") for name in numbers}
    return Whole(found, _numbered(read, names), names, cast)


def _numbered(read: DuckDBPyRelation, names: Sequence[str]) -> DuckDBPyRelation:
    return read.project(", ".join(f"{quoted(name)} AS c{at}" for at, name in enumerate(names)))


def _check_there(used: Sequence[str], names: Sequence[str]) -> None:
    for name in used:
        check_there(name, names)


_READERS = {"csv": _csv, "json": _json, "parquet": _parquet, "arrow": _arrow}
