"""Tidy rows to tables: cells with intervals, footnotes, and the arrangement in lines and columns.

A tidy row is a mapping such as a row of `Results`: `measure`, `value`, `low`, `high`, `level`, `how` and `why`, and
the subject of the number, such as `model`, `group` and `threshold`. `CellFormatter` writes its cell, and collects the
reasons why numbers are undefined. `Pivot` arranges cells by keys of their rows: one number of a row is a cell.
`list_table` gives each row a line: several numbers of a row are the cells. Numbers that are derived from others, such
as a total, are rows as well: add them before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from baserate._formatting import (
    UNDEFINED,
    footnote_mark,
    format_count,
    format_exact,
    format_level,
    format_name,
    format_number,
    format_p,
    format_percent,
)
from baserate.text._tables import (
    EVERYBODY,
    Cell,
    Explanation,
    IntervalCell,
    Row,
    Section,
    Table,
    align_decimals,
    shorten_label,
)

_MOST = 5
"""Measures that a footnote names."""
_LONGEST = 8
"""Letters of a number that is shown in full."""
_STEPS = 4
"""Units of the last digit by which shortened bounds must differ."""
_SHARES = {"Wilson", "Clopper–Pearson", "Jeffreys", "Agresti–Coull"}
_ASIDES = (
    r"^proportion with the variance of ",
    r"^\d+ ((draws|simulations|permutations|bootstrap samples|samples) of a )?",
    r", \d+ (draws|simulations|permutations|bootstrap samples|samples)$",
    r", of which \d+ undefined$",
    r",? with the (jackknife )?variance of (\d+ )?clusters$",
    r" over \d+ clusters, t quantiles$",
    r", with the variance of the (probabilities|ratio)$",
    r", t quantiles$",
    r" on \d+ buckets of equal mass$",
    r" at all thresholds$",
    r"; rule of three for unseen rows$",
    r", widened to DeLong's variance$",
)
"""Details of a method that JSON and CSV contain and a footnote omits; `infer` and `measure` write these texts."""


class Footnotes:
    """Reasons why numbers are undefined, numbered in the order of their first use."""

    def __init__(self) -> None:
        self.reasons: list[str] = []

    def mark(self, reason: str) -> str:
        """Return the mark of the footnote with this reason."""
        if reason not in self.reasons:
            self.reasons.append(reason)
        return footnote_mark(self.reasons.index(reason) + 1)

    def mark_undefined(self, why: str | None) -> str:
        """Return the text of an undefined number, with its mark."""
        return UNDEFINED + self.mark(why or "undefined")

    def footnotes(self) -> tuple[str, ...]:
        """Return all footnotes."""
        return tuple(f"{footnote_mark(at)} {why}" for at, why in enumerate(self.reasons, start=1))


def estimate_cell(row: Mapping[str, Any] | None, reasons: Footnotes, *, digits: int, several: bool) -> Cell:
    """Return the cell of a number with its interval, if it has one; beside `several` others its bounds are shorter.

    Parameters
    ----------
    row
        Tidy row with `value`, and with `low`, `high`, `level` and `why` if it has an interval; None for an empty cell.
    reasons
        Footnotes, which collect the reason of an undefined number.
    digits
        Significant digits.
    several
        Whether the cell has others beside it.
    """
    if row is None:
        return ""
    if row["value"] is None:
        return reasons.mark_undefined(row["why"])
    value = format_number(row["value"], digits)
    if row.get("level") is None:  # derived numbers, such as a prevalence, have no interval
        return value
    if row["low"] is None:
        return IntervalCell(value, reasons.mark_undefined(row["why"]))
    return IntervalCell(value, *format_bounds(row["low"], row["high"], digits, digits - several))


def format_bounds(low: float, high: float, digits: int, places: int) -> tuple[str, str]:
    """Format both bounds, with at most `places` decimals if that still shows the width of the interval.

    >>> format_bounds(0.0404, 0.9157, 4, 3), format_bounds(0.84153, 0.84204, 4, 3)
    (('0.040', '0.916'), ('0.8415', '0.8420'))
    >>> format_bounds(12.3456, float("inf"), 4, 3)
    ('12.35', '∞')
    """
    first, last = format_number(low, digits), format_number(high, digits)
    # Shortened bounds of a narrow interval would be equal, or show a width that is far off.
    if high - low < _STEPS * 0.1**places:
        return first, last
    return _shorten_bound(first, low, places), _shorten_bound(last, high, places)


def _shorten_bound(text: str, value: float, places: int) -> str:
    """Return a bound with fewer decimals."""
    if len(text.partition(".")[2]) <= places or "e+" in text:
        return text
    # Adding 0.0 turns −0.0 into 0.0, so that a bound that rounds to zero has no sign.
    return f"{round(value, places) + 0.0:.{places}f}".replace("-", "−")


def interval_heading(data: Mapping[str, Any]) -> str:
    """Return the heading of intervals; nothing if there are none.

    >>> interval_heading({"interval": {"level": 0.9}})
    '90% interval'
    """
    return f"{format_level(data['interval']['level'])}% interval" if "interval" in data else ""


def interval_footnotes(rows: Iterable[Mapping[str, Any]], data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return one sentence on the methods of intervals; nothing if there are none."""
    methods: dict[str, set[str]] = {}
    for row in rows:
        if row["low"] is not None:
            method = _short_method(row["how"])
            what = "shares" if method in _SHARES else "averages" if row.get("average") else row["measure"]
            methods.setdefault(measure_label(what, data), set()).add(method)
    if not methods:
        return ()
    measures: dict[tuple[str, ...], list[str]] = {}
    for what, names in methods.items():
        measures.setdefault(tuple(sorted(names)), []).append(what)
    several = len(measures) > 1
    parts = [" or ".join(names) + f" for {_join_names(what)}" * several for names, what in measures.items()]
    sentence = f"{interval_heading(data)}s{_of_clusters(data)}: {'; '.join(parts)}."
    return (Explanation(sentence, brief=f"Intervals: {format_level(data['interval']['level'])}% confidence."),)


def _of_clusters(data: Mapping[str, Any]) -> str:
    """Describe the column of clusters, if there is one."""
    return f" of clusters ({shorten_label(data['columns']['cluster'])})" if data["interval"]["clusters"] else ""


def _short_method(how: str) -> str:
    """Return the name of a method without its details."""
    # The method of the interval is the last part; parts before it describe the measure.
    method = how.removesuffix("; prevalence known").rpartition("; ")[2]
    for aside in _ASIDES:
        method = re.sub(aside, "", method)
    return method


def _join_names(names: Sequence[str]) -> str:
    """Join names of measures; of many, the first ones."""
    if len(names) <= _MOST:
        return ", ".join(names)
    return f"{', '.join(names[: _MOST - 1])} and {len(names) - _MOST + 1} more"


def describe_omitted_classes(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the classes that an average leaves out, if any."""
    how = row["how"] or ""
    method = how if row["level"] is None else how.rpartition("; ")[0]
    _, without, classes = method.partition("without ")
    if without:
        yield f"{without}{classes}"


TidyRow = Mapping[str, Any]
CellWriter = Callable[[TidyRow], Cell]
"""Function from a row to a cell."""
GroupKey = tuple[tuple[str, object], ...] | None

CONFUSION_CELLS = {"positive": ("tp", "referred_positives", "fn"), "negative": ("fp", "referred_negatives", "tn")}
"""Class -> cells of its line of a confusion matrix, from left to right; only some policies refer people."""
_DECISIONS = ("flagged", "referred", "not flagged")


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

    def rate(self, row: TidyRow | None) -> Cell:
        """Return the cell of a share as a percentage with its interval; "" for no row."""
        if row is None or row["value"] is None or row["low"] is None:
            return self._undefined_rate(row)
        self.rows.append(row)
        return IntervalCell(*(format_percent(row[end], self._percent_decimals) for end in ("value", "low", "high")))

    def _undefined_rate(self, row: TidyRow | None) -> Cell:
        """Return the cell of a share that, or whose interval, is missing or undefined."""
        if row is None or row["value"] is None:
            return self.estimate(row)
        value = format_percent(row["value"], self._percent_decimals)
        return value if row.get("level") is None else IntervalCell(value, self.mark_undefined(row["why"]))

    @property
    def _percent_decimals(self) -> int:
        """Decimals of a percentage: 57.8%, with the four digits that are the default."""
        return max(self.digits - 3, 0)

    def value(self, row: TidyRow | None) -> Cell:
        """Return the cell of a number without its interval."""
        return "" if row is None else self.estimate({**row, "level": None})

    def number(self, value: float | None) -> str:
        """Return a number that needs no reason where it is undefined."""
        return UNDEFINED if value is None else format_number(value, self.digits)

    def short(self, value: float) -> str:
        """Return a number in full, such as a threshold; a long one is rounded."""
        exact = format_exact(value)
        return exact if len(exact) <= _LONGEST else format_number(value, self.digits)

    def field(self, name: str, *, why: str | None = None) -> CellWriter:
        """Return the function from a row to a field of it; one without a number is empty, or `why` says the reason."""

        def cell(row: TidyRow) -> str:
            if row[name] is None:
                return "" if why is None else self.mark_undefined(why)
            return format_number(row[name], self.digits)

        return cell

    def count_field(self, name: str) -> CellWriter:
        """Return the function from a row to a count in a field of it."""
        return lambda row: format_count(row[name], self.digits)

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
    """Return the title of the only section: none."""
    return ""


def _no_meaning(_line: object) -> str:
    """Return the meaning of a line: none."""
    return ""


def measure_label(measure: str, data: Mapping[str, Any] = MappingProxyType({})) -> str:
    """Return the name of a measure as the user typed it, if `data` of results has it; otherwise its own, in words.

    >>> measure_label("pr_auc"), measure_label("precision", {"names": {"precision": "ppv"}})
    ('PR AUC', 'ppv')
    """
    typed: str | None = data.get("names", {}).get(measure)
    return format_name(measure) if typed is None else typed


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
    cell: CellWriter
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


def list_table(  # noqa: PLR0913  (texts of a line)
    rows: Iterable[TidyRow],
    columns: Mapping[str, CellWriter],
    *,
    label: Callable[[TidyRow], str],
    section: Callable[[TidyRow], str] = _no_section,
    meaning: Callable[[TidyRow], str] = _no_meaning,
    corner: str = "",
    aligned: bool = False,
) -> Table:
    """Return a table with a line for each row, and its numbers in columns.

    Parameters
    ----------
    rows
        Rows, in the order of their lines.
    columns
        Heading -> cell of a row.
    label, section, meaning
        Texts of a row: the name of its line, the title of its section, and a sentence on it.
    corner
        Text above the names of lines.
    aligned
        Whether the names are numbers, whose decimal points are aligned in each section.

    Examples
    --------
    >>> columns = {"TP": lambda row: str(row["tp"]), "FP": lambda row: str(row["fp"])}
    >>> list_table([{"model": "a", "tp": 3, "fp": 1}], columns, label=lambda row: row["model"]).sections[0].rows[0]
    Row(name='a', cells=('3', '1'), meaning='')
    """
    sections: dict[str, list[Row]] = {}
    for row in rows:
        line = Row(label(row), tuple(cell(row) for cell in columns.values()), meaning(row))
        sections.setdefault(section(row), []).append(line)
    for lines in sections.values() if aligned else ():
        names = align_decimals([line.name for line in lines])
        lines[:] = (replace(line, name=name) for line, name in zip(lines, names, strict=True))
    return Table(corner, tuple(columns), tuple(Section(title, tuple(lines)) for title, lines in sections.items()))


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
    decisions = [name for name in _DECISIONS if name != "referred" or "referred_positives" in cells]
    # Never transposed: a reader expects truth in rows.
    table = Table(corner, (*decisions, "total"), (Section("", (*rows, Row("total", totals))),), upright=True)
    return replace(table, narrow=replace(table, columns=(*decisions[:-1], "others", "total")))


def group_key(row: TidyRow) -> GroupKey:
    """Return the group of a row as a key; None for everybody.

    >>> group_key({"group": {"site": "north"}}), group_key({"group": None})
    ((('site', 'north'),), None)
    """
    return None if row["group"] is None else tuple(row["group"].items())


def group_heading(group: GroupKey | Mapping[str, object]) -> str:
    """Return the values of a group in words; a group that is called "everybody" gets quotes.

    >>> group_heading((("site", "north"), ("sex", "f"))), group_heading(None), group_heading({"site": "everybody"})
    ('north, f', 'everybody', "'everybody'")
    """
    if group is None:
        return EVERYBODY
    name = ", ".join(map(shorten_label, dict(group).values()))
    return repr(name) if name == EVERYBODY else name


def describe_group(group: GroupKey | Mapping[str, object]) -> str:
    """Return the attributes and values of a group in words.

    >>> describe_group((("site", "north"), ("sex", "f"))), describe_group(None)
    ('site = north, sex = f', 'everybody')
    """
    pairs = (f"{shorten_label(name)} = {shorten_label(value)}" for name, value in dict(group or {}).items())
    return ", ".join(pairs) or EVERYBODY
