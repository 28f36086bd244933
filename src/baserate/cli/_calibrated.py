"""What was fitted, and what it does -> a page."""

import re
from collections.abc import Iterator
from typing import Any

from baserate._formatting import format_number
from baserate._results import Results
from baserate.cli import _calibration
from baserate.cli._options import Reading
from baserate.text import Cell, IntervalCell, Page, Row, Section, Table, format_bounds

_WORDS = {
    "offset": "Added to all log-odds.",
    "derivation_prevalence": "Prevalence that the scores were right for.",
    "slope": "1 leaves log-odds as they are; below 1 they were too extreme.",
    "temperature": "1/slope.",
    "intercept": "Log-odds where those given are 0.",
    "a": "Slope of ln p.",
    "b": "Slope of −ln(1 − p).",
    "c": "Added to log-odds.",
    "m": "Where the map crosses ½.",
}


def page(found: Results, asked: Reading, digits: int) -> Page:
    """Lay out the map, the choice, and the numbers before and after."""
    made = _calibration.page(found, asked, digits)
    fitted = [*_choice(found.data.get("choice"), digits), *_map(found.data["map"], digits)]
    return Page(made.headline, (*fitted, *made.panels), made.footnotes)


def _choice(choice: Any, digits: int) -> Iterator[Table]:  # noqa: ANN401  (what Results hold)
    """Methods by what they lose."""
    if choice is None:
        return
    rows = []
    for row in sorted(choice["methods"], key=lambda row: (row["log_loss"] is None, row["log_loss"])):
        if row["log_loss"] is None:
            rows.append(Row(row["method"], ("", ""), row["why"]))
            continue
        why = "" if row["why"] is None else f"{row['why'][:1].upper()}{row['why'][1:]}"
        told = "Chosen." if row["chosen"] else why or ("" if row["matters"] else "Chance may explain it.")
        rows.append(Row(row["method"], (format_number(row["log_loss"], digits), _above(row, digits)), told))
    columns = ("log-loss", "above the lowest (95 %)")
    yield Table("method, on rows left out", columns, (Section("", tuple(rows)),))
    verdict = re.sub(r"(?<!e)-(?=\d)", "−", choice["verdict"])
    yield Table("", ("",), (Section("choice", (Row("verdict", ("",), f"{verdict[:1].upper()}{verdict[1:]}"),)),))


def _above(row: Any, digits: int) -> Cell:  # noqa: ANN401  (a row of the choice)
    if row["difference"] is None:
        return ""
    if row["low"] is None:
        return format_number(row["difference"], digits)
    return IntervalCell(format_number(row["difference"], 2), *format_bounds(row["low"], row["high"], 2, 2))


def _map(fitted: Any, digits: int) -> Iterator[Table]:  # noqa: ANN401  (what Results hold)
    """Numbers of the map, with their intervals."""
    if not fitted["parameters"]:
        return
    rows = []
    for each in fitted["parameters"]:
        value = format_number(each["value"], digits)
        there = each["low"] is not None and each["high"] is not None
        shown = IntervalCell(value, *format_bounds(each["low"], each["high"], digits, digits)) if there else value
        rows.append(Row(each["name"].replace("_", " "), (shown,), _WORDS.get(each["name"], "")))
    yield Table(f"map: {fitted['method']}", ("value (95 %)",), (Section("", tuple(rows)),))
