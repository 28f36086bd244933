"""A cross-table in a file, as people write and publish them -> Confusion."""

from __future__ import annotations

import csv
import sys
from io import StringIO
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._confusion import Confusion
from baserate._costs import CostMatrix
from baserate._errors import EmptyDataError, FileFormatError, NoSuchFileError, OptionError
from baserate._formatting import count_of
from baserate.read._csv_records import first_record, without_quoted
from baserate.read._labels import listed, parsed_alike


class _Crossed(NamedTuple):
    rows: list[object]
    columns: list[object]
    cells: Floats


def cross_table(path: str | PathLike[str], *, truth: Literal["rows", "columns"]) -> Confusion:
    """Read a table of counts whose first line and first column hold labels; say whether truth is in rows or columns.

    CSV, or separated by tabs, semicolons or bars; `-` is standard input. A label that has a row but no column, or the
    other way round, was never predicted, or never true.
    """
    _check_orientation(truth)
    rows, columns, cells = _crossed(path)
    labels = list(dict.fromkeys([*rows, *columns]))
    square = np.zeros((len(labels), len(labels)))
    square[np.ix_([labels.index(label) for label in rows], [labels.index(label) for label in columns])] = cells
    return Confusion.of_matrix(square, labels, truth=truth)


def costs(path: str | PathLike[str], *, truth: Literal["rows", "columns"]) -> CostMatrix:
    """Read what each decision costs for each true class, from a table of the same form."""
    _check_orientation(truth)
    rows, columns, cells = _crossed(path)
    if set(rows) != set(columns):
        odd = next(label for label in [*rows, *columns] if label not in rows or label not in columns)
        raise FileFormatError(
            f"{path} has no row or no column for {odd!r}; say what every decision costs for every class."
        )
    square = cells[:, [columns.index(label) for label in rows]]
    return CostMatrix(square if truth == "rows" else square.T, tuple(rows))


def _check_orientation(truth: str) -> None:
    """Say what is wrong before anything is read."""
    if truth not in ("rows", "columns"):
        raise OptionError(f"truth is {truth!r}; it is in the 'rows' or in the 'columns' of the table.")


def _crossed(path: str | PathLike[str]) -> _Crossed:
    name, text = _text(path)
    bare = without_quoted("".join(first_record(text)[1]))
    reader = csv.reader(StringIO(text, newline=""), delimiter=max("\t,;|", key=bare.count))
    numbered = [(reader.line_num, line) for line in reader if any(cell.strip() for cell in line)]
    if len(numbered) < 2:
        raise EmptyDataError(f"{name} holds no cross-table; give a line of labels, and a line for each class.")
    (_, header), *rest = numbered
    for at, line in rest:
        if len(line) != len(header):
            raise FileFormatError(
                f"line {at} of {name} has {count_of(len(line), 'cell')} where the first has {len(header)}; "
                "mend that line."
            )
    body = [line for _, line in rest]
    rows, columns = [line[0].strip() for line in body], [label.strip() for label in header[1:]]
    for what, labels in (("row", rows), ("column", columns)):
        twice = [label for label in labels if labels.count(label) > 1]
        if twice:
            raise FileFormatError(f"{name} has two {what}s {twice[0]!r}; give each class one.")
    of_rows, of_columns = parsed_alike([rows, columns])
    if not set(of_rows) & set(of_columns):
        raise FileFormatError(
            f"{name} has the rows {listed(rows)} and the columns {listed(columns)}: no label is in both."
        )
    cells = [
        [_number(cell, name, row, column) for column, cell in zip(columns, line[1:], strict=True)]
        for row, line in zip(rows, body, strict=True)
    ]
    found = np.array(cells, dtype=float)
    _refuse_totals(name, rows, columns, found)
    return _Crossed(of_rows, of_columns, found)


def _refuse_totals(name: str, rows: list[str], columns: list[str], cells: Floats) -> None:
    """A last row and column that add up the others are no class."""
    if rows[-1] == columns[-1] and len(rows) > 2 and len(columns) > 2:
        down, across = cells[:-1].sum(axis=0), cells[:, :-1].sum(axis=1)
        if np.array_equal(down, cells[-1]) and np.array_equal(across, cells[:, -1]):
            raise FileFormatError(f"the row and column {rows[-1]!r} of {name} add up the others; leave them out.")


def _number(cell: str, name: str, row: str, column: str) -> float:
    try:
        return float(cell)
    except ValueError as error:
        raise FileFormatError(
            f"the cell of {name} in row {row!r} and column {column!r} is {cell!r}, not a number; write 0 for none."
        ) from error


def _text(path: str | PathLike[str]) -> tuple[str, str]:
    if str(path) == "-":
        if sys.stdin is None:
            raise EmptyDataError("standard input is closed; name a file, or pipe one in.")
        return "standard input", sys.stdin.read()
    try:
        return str(path), Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise NoSuchFileError(f"{path} cannot be opened: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{path} is not UTF-8 text; convert it first, for example: iconv -f latin1 -t utf-8."
        ) from error
