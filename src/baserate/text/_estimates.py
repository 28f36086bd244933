"""Tidy rows -> cells with intervals, and footnotes: how intervals were made, and why numbers are undefined."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from baserate._formatting import UNDEFINED, footnote_mark, format_level, format_number
from baserate.text._tables import Cell, IntervalCell, shorten_label

_MOST = 5
"""Measures that a footnote names."""
_STEPS = 4
"""Of the last place, by which shortened bounds must differ."""
_SHARES = {"Wilson", "Clopper–Pearson", "Jeffreys", "Agresti–Coull"}
_ASIDES = (
    r"^share as sure as ",
    r"^\d+ (draws of a )?",
    r", \d+ draws$",
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
"""What json and csv say of a method, and a footnote need not."""


class Footnotes:
    """Why some numbers are undefined, in the order of their mention."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def mark(self, reason: str) -> str:
        """Sign of the footnote with this reason."""
        if reason not in self.told:
            self.told.append(reason)
        return footnote_mark(self.told.index(reason) + 1)

    def undefined(self, why: str | None) -> str:
        """What stands for a number that there is not."""
        return UNDEFINED + self.mark(why or "undefined")

    def footnotes(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(f"{footnote_mark(at)} {why}" for at, why in enumerate(self.told, start=1))


def estimate_cell(row: Mapping[str, Any] | None, reasons: Footnotes, *, digits: int, several: bool) -> Cell:
    """Number with its interval, if it has one; beside `several` others its bounds are shorter."""
    if row is None:
        return ""
    if row["value"] is None:
        return reasons.undefined(row["why"])
    value = format_number(row["value"], digits)
    if row["level"] is None:
        return value
    if row["low"] is None:
        return IntervalCell(value, reasons.undefined(row["why"]))
    return IntervalCell(value, *format_bounds(row["low"], row["high"], digits, digits - several))


def format_bounds(low: float, high: float, digits: int, places: int) -> tuple[str, str]:
    """Show both bounds, with at most so many places after the point if that still tells how far apart they are.

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
    if len(text.partition(".")[2]) <= places or "e+" in text:
        return text
    # Without a minus where nothing is left of a number.
    return f"{round(value, places) + 0.0:.{places}f}".replace("-", "−")


def interval_heading(data: Mapping[str, Any]) -> str:
    """What stands above intervals; nothing if there are none.

    >>> interval_heading({"interval": {"level": 0.9}})
    '90 % interval'
    """
    return f"{format_level(data['interval']['level'])} % interval" if "interval" in data else ""


def interval_footnotes(rows: Iterable[Mapping[str, Any]], data: Mapping[str, Any]) -> tuple[str, ...]:
    """One sentence on how the intervals were made; none if there are none."""
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
    return f" of clusters ({shorten_label(data['columns']['cluster'])})" if data["interval"]["clusters"] else ""


def _short_method(how: str) -> str:
    """Name of a method without its details, and without what its number is the average of."""
    method = how.removesuffix("; prevalence known").rpartition("; ")[2]
    for aside in _ASIDES:
        method = re.sub(aside, "", method)
    return method


def _join_names(names: Sequence[str]) -> str:
    if len(names) <= _MOST:
        return ", ".join(names)
    return f"{', '.join(names[: _MOST - 1])} and {len(names) - _MOST + 1} more"


def describe_omitted_classes(row: Mapping[str, Any]) -> Iterator[str]:
    """Which classes an average leaves out, if it does."""
    how = row["how"] or ""
    told = how if row["level"] is None else how.rpartition("; ")[0]
    _, out, which = told.partition("without ")
    if out:
        yield f"{out}{which}"
