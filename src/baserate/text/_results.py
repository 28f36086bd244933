"""Pages of results of any kind: a grid of the rows, without the columns that say nothing about a row.

Numbers stand with their bounds in one column. Columns without values are omitted, and labels that all rows share move
to the headline. Reasons of undefined numbers are footnotes. Details of methods are in rows, frames and files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from baserate._formatting import (
    count_of,
    format_count,
    format_exact,
    format_interval,
    format_level,
    format_number,
    format_p,
)
from baserate._results import Results, as_plain
from baserate.text._comparisons import comparison_page
from baserate.text._grid import Column, Grid, label_column, number_column
from baserate.text._pivot import Footnotes, interval_footnotes
from baserate.text._sentences import describe_positive, describe_prevalence, describe_rows
from baserate.text._tables import EVERYBODY, Page, shorten_label

MAX_ROWS = 40
"""Rows that a page of results shows unless another number is asked for."""
_DETAILS = {"how", "why", "test", "p_is_bound", "digest"}
"""Columns that are shown as footnotes or marks, or only in rows and files."""
_SETTINGS = ("threshold", "prevalence")
"""Numbers that are settings of a row, not results."""
_TITLES = {"floor": "null reference", "top": "likeliest class"}
"""Columns whose titles are other words than their names in files."""
_DIGITS = 4
_LONGEST = 8
"""Characters of a number that is shown in full."""
_SUMMARY = {"read", "refused", "reasons", "rows", "columns", "positive"}
"""Entries of data that describe the rows that were read."""


def results_page(results: Results, max_rows: int | None = MAX_ROWS) -> Page:
    """Return the page of results; of many rows, the first ones.

    Parameters
    ----------
    results
        Results of any kind.
    max_rows
        Rows to show; None for all.
    """
    if {"other_value", "difference"} <= results.columns.keys():
        notes = tuple(f"note: {shorten_label(note, 500)}" for note in results.data.get("notes", ()))
        page = comparison_page(results, " · ".join(_describe_data(results.data)))
        return replace(page, footnotes=(*page.footnotes, *notes))
    layout = _ResultsPage(results, max_rows)
    grid = layout.grid()
    return Page(layout.headline(), (grid,) if grid.columns else (), tuple(layout.footnotes()))


class _ResultsPage:
    """Columns of a page of results in their order, and the footnotes of their cells."""

    def __init__(self, results: Results, max_rows: int | None) -> None:
        self.results, self.reasons = results, Footnotes()
        columns = {name: [as_plain(each) for each in column] for name, column in results.flat().items()}
        self.columns = {name: column for name, column in columns.items() if _has_values(column)}
        self.many = len(results) if max_rows is None else min(max_rows, len(results))
        self.bounds = dict(_find_bounds(list(columns), self.columns))
        levels = {each for each in columns.get("level", ()) if each is not None}
        self.level = levels.pop() if len(levels) == 1 and self.bounds else None
        """Level of all intervals; None if there are none, or of several levels."""
        self.labels = [name for name, column in self.columns.items() if _has_labels(column) and name not in _DETAILS]
        self.shared = [name for name in self.columns if len(results) > 1 and self._is_shared(name)]
        if self.shared and set(self.labels) <= {*self.shared} and self.labels:
            self.shared.remove(self.labels[0])  # a row needs a label

    def headline(self) -> str:
        """Return the data, and the labels that all rows share."""
        first = {name: next(each for each in self.columns[name] if each is not None) for name in self.shared}
        shared = (f"{_TITLES.get(name, name)} {self._format_label(name, each)}" for name, each in first.items())
        rows = count_of(len(self.results), "row of results", "rows of results")
        return " · ".join([*_describe_data(self.results.data), *shared, rows])

    def grid(self) -> Grid:
        """Return the rows, with labels at the left."""
        hidden = {*self.shared, *_DETAILS, *(end for ends in self.bounds.values() for end in ends)}
        hidden |= {"level"} if self.level is not None else set()
        names = [name for name in self.columns if name not in hidden]
        columns = [label_column(name, self._label_cells(name)) for name in names if name in self.labels]
        columns += [self._number_column(name) for name in names if name not in self.labels]
        omitted = len(self.results) - self.many
        rest = f"{count_of(omitted, 'more row')}: text(max_rows=None) shows all; rows() and frame() contain them."
        return Grid(tuple(columns), rest if omitted else "")

    def footnotes(self) -> Iterator[str]:
        """Yield reasons of undefined numbers, methods of intervals, and notes on the data."""
        yield from self.reasons.footnotes()
        data = self.results.data
        if "interval" in data and {"measure", "level", "how"} <= self.results.columns.keys():
            yield from interval_footnotes(self.results.rows()[: self.many], data)
        yield from (f"note: {shorten_label(note, 500)}" for note in data.get("notes", ()))

    def _is_shared(self, name: str) -> bool:
        """Return whether a column is a label or a setting with one value in all rows."""
        column = self.columns[name]
        if name in _SETTINGS:  # numbers that need no threshold have none
            return len({each for each in column if each is not None}) == 1
        return name in self.labels and all(each == column[0] for each in column)

    def _label_cells(self, name: str) -> list[str]:
        return [self._format_label(name, each) for each in self.columns[name][: self.many]]

    def _format_label(self, name: str, value: Any) -> str:  # noqa: ANN401  (any value of a column)
        """Return a label as text; a measure by the name that the user typed."""
        typed = self.results.data.get("names", {}) if name == "measure" else {}
        return _format_label(name, typed.get(value, value))

    def _number_column(self, name: str) -> Column:
        """Return a column of numbers, with their bounds if they have some."""
        ends, title = self.bounds.get(name), _TITLES.get(name, name)
        heading = title if ends is None or self.level is None else f"{title} ({format_level(self.level)}% CI)"
        return number_column(heading, (self._number_cell(name, at, ends) for at in range(self.many)))

    def _number_cell(self, name: str, at: int, ends: tuple[str, str] | None) -> str:
        value = self.columns[name][at]
        if value is None:
            why = self._why(at)
            return self.reasons.mark_undefined(why) if why and (name == "value" or ends == ("low", "high")) else ""
        if name in {"p", "p_adjusted"}:
            return format_p(value, is_bound=self._cell("p_is_bound", at))
        low, high = (None, None) if ends is None else (self._cell(end, at) for end in ends)
        return format_plain(value) if low is None or high is None else format_interval(value, low, high)

    def _why(self, at: int) -> str | None:
        reason: str | None = self._cell("why", at)
        return reason

    def _cell(self, name: str, at: int) -> Any:  # noqa: ANN401  (any value of a row)
        return self.columns[name][at] if name in self.columns else None


def _find_bounds(names: Sequence[str], columns: Mapping[str, Sequence[Any]]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the columns of numbers that have bounds, with the names of both."""
    for at, name in enumerate(names):
        pairs = [(f"{name}_low", f"{name}_high")]
        # The columns low and high bound the number before them, such as a value or a difference.
        pairs += [("low", "high")] if names[at + 1 : at + 2] == ["low"] else []
        for low, high in pairs:
            if {name, low, high} <= columns.keys():
                yield name, (low, high)


def _describe_data(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the rows, the positive class and its share, where the results store them."""
    if not data.keys() >= _SUMMARY:
        return
    yield describe_rows(data)
    truth = data["columns"].get("truth")
    if data["positive"] is not None and isinstance(truth, str):
        yield describe_positive(truth, data)
    if isinstance(data.get("prevalence"), float):
        yield describe_prevalence(data)


def _has_labels(column: Sequence[Any]) -> bool:
    """Return whether a column names its rows: it has texts or groups, or says yes or no."""
    return any(each is not None and (isinstance(each, bool) or not isinstance(each, (int, float))) for each in column)


def _has_values(column: Sequence[Any]) -> bool:
    """Return whether a column says something: not only missing values, or no in every row."""
    return any(each is not None and each is not False for each in column)


def _format_label(name: str, value: Any) -> str:  # noqa: ANN401  (any value of a column)
    if value is None:
        return EVERYBODY if name.partition(".")[0] in {"group", "other_group"} else ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_plain(value)


def format_plain(value: Any) -> str:  # noqa: ANN401  (a number, or a text)
    """Format a number without an interval: whole or short ones in full.

    >>> format_plain(1200.0), format_plain(0.25), format_plain(2 / 3), format_plain("a")
    ('1,200', '0.25', '0.6667', 'a')
    """
    value = as_plain(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return shorten_label(value)
    if float(value).is_integer():
        return format_count(value, _DIGITS)
    exact = format_exact(value)
    return exact if len(exact) <= _LONGEST else format_number(value, _DIGITS)
