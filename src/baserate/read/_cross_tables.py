"""Cross-tables in files: confusion matrices as people publish them, and matrices of costs."""

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
from baserate.read._labels import format_labels, parse_jointly
from baserate.read._paths import first_record, remove_quoted_cells


class _CrossTable(NamedTuple):
    rows: list[object]
    columns: list[object]
    cells: Floats


def cross_table(path: str | PathLike[str], *, truth: Literal["rows", "columns"]) -> Confusion:
    """Read a confusion matrix from a text file whose first line and first column hold labels.

    Cells are separated by commas, tabs, semicolons or bars. A label with a row but no column, or the other way round,
    was never predicted, or never true.

    Parameters
    ----------
    path
        Path of the file, or `-` for standard input.
    truth
        Whether the true classes are in the ``"rows"`` or in the ``"columns"``.

    Returns
    -------
    Confusion
        The counts, with true classes in rows.
    """
    _check_orientation(truth)
    rows, columns, cells = _parse_cross_table(path)
    labels = list(dict.fromkeys([*rows, *columns]))
    square = np.zeros((len(labels), len(labels)))
    square[np.ix_([labels.index(label) for label in rows], [labels.index(label) for label in columns])] = cells
    return Confusion.of_matrix(square, labels, truth=truth)


def cost_matrix(path: str | PathLike[str], *, truth: Literal["rows", "columns"]) -> CostMatrix:
    """Read the cost of each decision for each true class, from a text file of the same form as a cross-table.

    Parameters
    ----------
    path
        Path of the file, or `-` for standard input.
    truth
        Whether the true classes are in the ``"rows"`` or in the ``"columns"``.

    Returns
    -------
    CostMatrix
        The costs, with true classes in rows.
    """
    _check_orientation(truth)
    rows, columns, cells = _parse_cross_table(path)
    if set(rows) != set(columns):
        odd = next(label for label in [*rows, *columns] if label not in rows or label not in columns)
        raise FileFormatError(
            f"{path} has no row or no column for {odd!r}", remedy="say what every decision costs for every class."
        )
    square = cells[:, [columns.index(label) for label in rows]]
    return CostMatrix(square if truth == "rows" else square.T, tuple(rows))


def _check_orientation(truth: str) -> None:
    """Refuse an unknown orientation before anything is read."""
    if truth not in ("rows", "columns"):
        raise OptionError(
            f"truth is {truth!r}; it is in the 'rows' or in the 'columns' of the table.", option="truth", value=truth
        )


def _parse_cross_table(path: str | PathLike[str]) -> _CrossTable:
    name, text = _read_text(path)
    # Counted in the header only: decimal commas in cells must not decide the delimiter.
    bare = remove_quoted_cells("".join(first_record(text)[1]))
    reader = csv.reader(StringIO(text, newline=""), delimiter=max("\t,;|", key=bare.count))
    lines = [(reader.line_num, line) for line in reader if any(cell.strip() for cell in line)]
    if len(lines) < 2:
        raise EmptyDataError(f"{name} holds no cross-table", remedy="give a line of labels, and a line for each class.")
    (_, header), *rest = lines
    for at, line in rest:
        if len(line) != len(header):
            raise FileFormatError(
                f"line {at} of {name} has {count_of(len(line), 'cell')} where the first has {len(header)}",
                remedy="mend that line.",
            )
    body = [line for _, line in rest]
    rows, columns = [line[0].strip() for line in body], [label.strip() for label in header[1:]]
    for what, labels in (("row", rows), ("column", columns)):
        twice = [label for label in labels if labels.count(label) > 1]
        if twice:
            raise FileFormatError(f"{name} has two {what}s {twice[0]!r}", remedy="give each class one.")
    of_rows, of_columns = parse_jointly([rows, columns])
    if not set(of_rows) & set(of_columns):
        raise FileFormatError(
            f"{name} has the rows {format_labels(rows)} and the columns {format_labels(columns)}: no label is in both."
        )
    cells = [
        [_number(cell, name, row, column) for column, cell in zip(columns, line[1:], strict=True)]
        for row, line in zip(rows, body, strict=True)
    ]
    matrix = np.array(cells, dtype=float)
    _refuse_totals(name, rows, columns, matrix)
    return _CrossTable(of_rows, of_columns, matrix)


def _refuse_totals(name: str, rows: list[str], columns: list[str], cells: Floats) -> None:
    """Refuse a last row and column that are the sums of the others, not a class."""
    if rows[-1] == columns[-1] and len(rows) > 2 and len(columns) > 2:
        down, across = cells[:-1].sum(axis=0), cells[:, :-1].sum(axis=1)
        if np.array_equal(down, cells[-1]) and np.array_equal(across, cells[:, -1]):
            raise FileFormatError(
                f"the row and column {rows[-1]!r} of {name} add up the others", remedy="leave them out."
            )


def _number(cell: str, name: str, row: str, column: str) -> float:
    try:
        return float(cell)
    except ValueError as error:
        raise FileFormatError(
            f"the cell of {name} in row {row!r} and column {column!r} is {cell!r}, not a number",
            remedy="write 0 for none.",
        ) from error


def _read_text(path: str | PathLike[str]) -> tuple[str, str]:
    if str(path) == "-":
        if sys.stdin is None:
            raise EmptyDataError("standard input is closed", remedy="name a file, or pipe one in.")
        return "standard input", sys.stdin.read()
    try:
        return str(path), Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise NoSuchFileError(f"{path} cannot be opened: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{path} is not UTF-8 text", remedy="convert it first, for example: iconv -f latin1 -t utf-8."
        ) from error
