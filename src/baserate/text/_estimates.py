"""Cells of estimates with intervals, and footnotes: methods of intervals, and reasons of undefined numbers."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from baserate._formatting import UNDEFINED, footnote_mark, format_level, format_number
from baserate.text._tables import Cell, IntervalCell, shorten_label

_MOST = 5
"""Measures that a footnote names."""
_STEPS = 4
"""Units of the last digit by which shortened bounds must differ."""
_SHARES = {"Wilson", "Clopper–Pearson", "Jeffreys", "Agresti–Coull"}
_ASIDES = (
    r"^proportion with the variance of ",
    r"^\d+ (samples of a )?",
    r", \d+ samples$",
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
"""Details of a method that JSON and CSV contain and a footnote omits."""


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
        Tidy row with `value`, `low`, `high`, `level` and `why`; None for an empty cell.
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
    if row["level"] is None:
        return value
    if row["low"] is None:
        return IntervalCell(value, reasons.mark_undefined(row["why"]))
    return IntervalCell(value, *format_bounds(row["low"], row["high"], digits, digits - several))


def format_bounds(low: float, high: float, digits: int, places: int) -> tuple[str, str]:
    """Format both bounds, with at most so many decimals if that still shows the width of the interval.

    >>> format_bounds(0.0404, 0.9157, 4, 3), format_bounds(0.84153, 0.84204, 4, 3)
    (('0.040', '0.916'), ('0.8415', '0.8420'))
    >>> format_bounds(12.3456, float("inf"), 4, 3)
    ('12.35', '∞')
    """
    first, last = format_number(low, digits), format_number(high, digits)
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
    '90 % interval'
    """
    return f"{format_level(data['interval']['level'])} % interval" if "interval" in data else ""


def interval_footnotes(rows: Iterable[Mapping[str, Any]], data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return one sentence on the methods of intervals; nothing if there are none."""
    made: dict[str, dict[str, None]] = {}
    for row in rows:
        if row["low"] is not None:
            how = _short_method(row["how"])
            what = "shares" if how in _SHARES else "averages" if row.get("average") else row["measure"]
            made.setdefault(what.replace("_", " "), {})[how] = None
    if not made:
        return ()
    by: dict[tuple[str, ...], list[str]] = {}
    for what, hows in made.items():
        by.setdefault(tuple(sorted(hows)), []).append(what)
    methods = [" or ".join(hows) + (f" for {_join_names(what)}" if len(by) > 1 else "") for hows, what in by.items()]
    return (f"{interval_heading(data)}s{_of_clusters(data)}: {'; '.join(methods)}.",)


def _of_clusters(data: Mapping[str, Any]) -> str:
    """Describe the column of clusters, if there is one."""
    return f" of clusters ({shorten_label(data['columns']['cluster'])})" if data["interval"]["clusters"] else ""


def _short_method(how: str) -> str:
    """Return the name of a method without its details."""
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
    told = how if row["level"] is None else how.rpartition("; ")[0]
    _, out, which = told.partition("without ")
    if out:
        yield f"{out}{which}"
