"""Pivot of tidy rows to a table: lines by one key, columns by another, sections by a third.

A tidy row is a mapping such as a row of `Results`: `measure`, `value`, `low`, `high`, `level`, `how` and `why`, and
the subject of the number, such as `model`, `group` and `threshold`. `CellFormatter` writes its cell, and collects the
reasons why numbers are undefined; `Pivot` arranges cells in a `Table`. Numbers that are derived from others, such as a
total, are rows as well: add them before the pivot.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from baserate._formatting import UNDEFINED, format_count, format_number, format_p
from baserate.text._estimates import Footnotes, describe_omitted_classes, estimate_cell, interval_footnotes
from baserate.text._tables import EVERYBODY, Cell, IntervalCell, Row, Section, Table, shorten_label

TidyRow = Mapping[str, Any]
GroupKey = tuple[tuple[str, object], ...] | None

CONFUSION_CELLS = {"positive": ("tp", "referred_positives", "fn"), "negative": ("fp", "referred_negatives", "tn")}
"""Class -> cells of its line of a confusion matrix, from left to right; only some policies refer people."""
_DECISIONS = ("flagged", "referred", "passed")


class CellFormatter:
    """Formats numbers as cells of a table, and collects the footnotes that these cells need.

    Parameters
    ----------
    digits
        Significant digits of numbers.
    """

    def __init__(self, digits: int) -> None:
        self.digits = digits
        self.reasons = Footnotes()
        self.rows: list[TidyRow] = []
        """Rows whose intervals were formatted, in the order of the cells."""

    def estimate(self, row: TidyRow | None, *, several: bool = True) -> Cell:
        """Return the cell of a number with its interval, shorter beside `several` others; "" for no row."""
        if row is not None:
            self.rows.append(row)
        return estimate_cell(row, self.reasons, digits=self.digits, several=several)

    def average(self, row: TidyRow | None, *, several: bool = True) -> Cell:
        """Return the cell of an average over classes, with a footnote on the classes that it leaves out."""
        cell = self.estimate(row, several=several)
        if row is None or row["value"] is None:
            return cell
        return mark_cell(cell, "".join(map(self.reasons.mark, describe_omitted_classes(row))))

    def value(self, row: TidyRow | None) -> Cell:
        """Return the cell of a number without its interval."""
        return "" if row is None else self.estimate({**row, "level": None})

    def number(self, value: float | None) -> str:
        """Return a number that needs no reason where it is undefined."""
        return UNDEFINED if value is None else format_number(value, self.digits)

    def count(self, row: TidyRow) -> str:
        """Return the value of a row as a count."""
        return format_count(row["value"], self.digits)

    def p_value(self, row: TidyRow, name: str = "p") -> str:
        """Return a p-value of a row; a dash where there is none."""
        return format_p(row[name], is_bound=row["p_is_bound"])

    def mark_undefined(self, why: str | None) -> str:
        """Return the cell of an undefined number, with the mark of the footnote that says why."""
        return self.reasons.mark_undefined(why)

    def footnotes(self, rows: Iterable[TidyRow] | None, data: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the reasons of undefined numbers, and how the intervals of some rows were made.

        Parameters
        ----------
        rows
            Rows with intervals; None for those that were formatted.
        data
            Header of the results, with the level of the intervals.
        """
        return (*self.reasons.footnotes(), *interval_footnotes(self.rows if rows is None else rows, data))


def _no_section(_row: TidyRow) -> str:
    """Put all rows into one section without a title."""
    return ""


def _no_meaning(_line: Hashable) -> str:
    """Explain no line."""
    return ""


def measure_label(measure: str) -> str:
    """Return the name of a measure in words.

    >>> measure_label("average_precision")
    'average precision'
    """
    return measure.replace("_", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pivot:
    """Arrangement of tidy rows in a table; lines, columns and sections stand in the order of their first rows.

    Parameters
    ----------
    line, column, section
        Keys of a row: which line, column and section its cell is in. The last row with some keys wins.
    cell
        Cell of a row, as methods of `CellFormatter` return it.
    label, heading, title
        Texts of the keys of lines, columns and sections.
    meaning
        Sentence on the key of a line, shown beside a single column.
    apart
        Keys of sections whose decimal points are aligned by themselves, such as counts beside rates.

    Examples
    --------
    >>> from operator import itemgetter
    >>> rows = [{"measure": "auc", "model": model, "value": value} for model, value in {"a": 0.75, "b": 0.5}.items()]
    >>> pivot = Pivot(line=itemgetter("measure"), column=itemgetter("model"), cell=lambda row: str(row["value"]))
    >>> pivot.table(rows, corner="models").sections[0].rows[0].cells
    ('0.75', '0.5')
    """

    line: Callable[[TidyRow], Any]
    column: Callable[[TidyRow], Any]
    cell: Callable[[TidyRow], Cell]
    section: Callable[[TidyRow], Any] = _no_section
    label: Callable[[Any], str] = measure_label
    heading: Callable[[Any], str] = str
    title: Callable[[Any], str] = str
    meaning: Callable[[Any], str] = _no_meaning
    apart: Collection[Hashable] = ()

    def table(self, rows: Iterable[TidyRow], *, corner: str = "", columns: Sequence[Any] | None = None) -> Table:
        """Return the table of some rows.

        Parameters
        ----------
        rows
            Tidy rows.
        corner
            Text above the names of lines.
        columns
            Keys of the columns, if not those of the rows in their order.
        """
        rows = list(rows)
        columns = self.columns(rows) if columns is None else columns
        return Table(corner, tuple(map(self.heading, columns)), self.sections(rows, columns))

    def columns(self, rows: Iterable[TidyRow]) -> list[Any]:
        """Return the keys of columns, in the order of their first rows."""
        return list(dict.fromkeys(map(self.column, rows)))

    def sections(self, rows: Iterable[TidyRow], columns: Sequence[Any]) -> tuple[Section, ...]:
        """Return the sections of some rows under some columns; a cell without a row is empty."""
        by_section: dict[Any, dict[Any, dict[Any, TidyRow]]] = {}
        for row in rows:
            lines = by_section.setdefault(self.section(row), {})
            lines.setdefault(self.line(row), {})[self.column(row)] = row
        return tuple(
            Section(
                self.title(key),
                tuple(self._line(line, cells, columns) for line, cells in lines.items()),
                key in self.apart,
            )
            for key, lines in by_section.items()
        )

    def _line(self, line: Hashable, rows: Mapping[Any, TidyRow], columns: Sequence[Any]) -> Row:
        """Return one line of the table."""
        cells = tuple(self.cell(rows[column]) if column in rows else "" for column in columns)
        return Row(self.label(line), cells, self.meaning(line) if len(columns) == 1 else "")


def mark_cell(cell: Cell, mark: str) -> Cell:
    """Return a cell with a mark behind its number.

    >>> mark_cell("0.5", "*"), mark_cell(IntervalCell("0.5", "0.4", "0.6"), "*").value
    ('0.5*', '0.5*')
    """
    return cell._replace(value=cell.value + mark) if isinstance(cell, IntervalCell) else cell + mark


def confusion_table(corner: str, classes: Mapping[str, str], cells: Collection[str], text: Callable[..., str]) -> Table:
    """Return a confusion matrix with truth in rows and totals.

    Parameters
    ----------
    corner
        Text above the names of classes.
    classes
        Names of the positive and the negative class, by "positive" and "negative".
    cells
        Cells that there are, named as in `CONFUSION_CELLS`.
    text
        Function from names of cells to the text of their sum; cells of all classes come column by column.
    """
    lines = [[cell for cell in CONFUSION_CELLS[name] if cell in cells] for name in classes]
    rows = [
        Row(label, (*(text(cell) for cell in line), text(*line)))
        for label, line in zip(classes.values(), lines, strict=True)
    ]
    columns = list(zip(*lines, strict=True))
    totals = (*(text(*column) for column in columns), text(*(cell for column in columns for cell in column)))
    referred = "referred_positives" in cells
    headings = (*(name for name in _DECISIONS if name != "referred" or referred), "total")
    # Never transposed: a reader expects truth in rows.
    return Table(corner, headings, (Section("", (*rows, Row("total", totals))),), upright=True)


def group_key(row: TidyRow) -> GroupKey:
    """Return the group of a row as a key; None for everybody.

    >>> group_key({"group": {"site": "north"}}), group_key({"group": None})
    ((('site', 'north'),), None)
    """
    return None if row["group"] is None else tuple(row["group"].items())


def group_heading(group: GroupKey) -> str:
    """Return the values of a group as the heading of its column; a group that is called "everybody" gets quotes.

    >>> group_heading((("site", "north"), ("sex", "f"))), group_heading(None), group_heading((("site", "everybody"),))
    ('north, f', 'everybody', "'everybody'")
    """
    if group is None:
        return EVERYBODY
    name = ", ".join(shorten_label(value) for _, value in group)
    return repr(name) if name == EVERYBODY else name
