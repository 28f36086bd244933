"""Measures against the prevalence: options -> tidy rows, and a page of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from baserate._formatting import format_exact, format_level
from baserate._results import Results
from baserate.cli._ask import headline
from baserate.cli._options import Reading
from baserate.text import EVERYBODY, Footnotes, Page, Row, Section, Table, align_decimals, estimate_cell, shorten_label

if TYPE_CHECKING:
    from baserate._tally import Tallies
    from baserate.infer import Interval
    from baserate.measure import Measure

Line = Mapping[str, Any]

_ENDS = (0.001, 0.999)
_SHOWN = 3
"""Measures beside each other, for which there is room."""
_COLUMNS = (
    *("measure", "model", "group", "class", "threshold", "prevalence"),
    *("value", "low", "high", "level", "how", "why"),
)


def prevalences(points: int | None, *, few: bool) -> list[float] | None:
    """Those that people name if there are to be few, so many evenly spread in log-odds, or None: what is usual."""
    from baserate.shift import default_prevalences

    if few:
        return [float(each) for each in default_prevalences()]
    if points is None:
        return None
    low, high = _ENDS
    inner = 1 / (1 + np.exp(-np.linspace(np.log(low / (1 - low)), np.log(high / (1 - high)), points)))
    # Without the traces that exponentials leave, so that the middle is 0.5.
    return [low, *(float(f"{each:.12g}") for each in inner[1:-1]), high]


def tabulated(
    read: "Tallies",
    measures: "Sequence[str | Measure]",
    at: Sequence[float] | None,
    *,
    thresholds: Sequence[float],
    interval: "Interval | None",
) -> Results:
    """Tabulate every model, at every threshold; labels have none."""
    from baserate import shift

    level = {} if interval is None else {"level": interval.level, "seed": interval.seed}
    asked: dict[str, Any] = {"prevalences": at, "band": interval is not None, **level}
    asked |= {"measures": measures} if measures else {}
    rows: list[dict[str, Any]] = []
    found: Results | None = None
    for model, groups in read.models.items():
        labels = model == read.intake.columns.get("predicted")
        alone = replace(read, models={model: groups}, decisions={})
        cuts: Sequence[float | None] = [None] if labels or not thresholds else thresholds
        for cut in cuts:
            found = shift.against(alone, threshold=cut, **asked)
            own = {"model": model if len(read.models) > 1 else None, "class": None}
            own |= {"threshold": None} if labels else {}
            sure = found.data["level"]
            rows += [{**row, **own, "level": None if row["low"] is None else sure} for row in found.rows()]
    assert found is not None  # noqa: S101  (there is a model)
    told = {name: value for name, value in found.data.items() if name not in {"level", "seed"}}
    told |= {"digest": read.digest}
    if interval is not None:
        told |= {"interval": {"level": interval.level, "method": None, "seed": interval.seed, "clusters": None}}
    return Results({name: [row[name] for row in rows] for name in _COLUMNS}, told)


def page(found: Results, asked: Reading, digits: int) -> Page:
    """Lay out a panel for each curve, prevalences below each other."""
    reasons = Footnotes()
    curves: dict[tuple[str, ...], dict[str, list[Line]]] = {}
    for row in found.rows():
        which = (str(row["model"]), str(row["group"]), str(row["threshold"]))
        curves.setdefault(which, {}).setdefault(row["measure"], []).append(row)
    panels = [panel for each in curves.values() for panel in _panels(each, asked, found.data, reasons, digits)]
    return Page(headline(asked, found.data), tuple(panels), reasons.footnotes() + _bounds(found.data))


def _panels(
    curves: Mapping[str, Sequence[Line]], asked: Reading, data: Mapping[str, Any], reasons: Footnotes, digits: int
) -> Iterator[Table]:
    """As many measures beside each other as there is room for."""
    measures = list(curves)
    for start in range(0, len(measures), _SHOWN):
        shown = measures[start : start + _SHOWN]
        lines = list(zip(*(curves[name] for name in shown), strict=True))
        names = align_decimals([format_exact(float(f"{line[0]['prevalence']:.4g}")) for line in lines])
        rows = tuple(
            Row(name, tuple(estimate_cell(each, reasons, digits=digits, several=True) for each in line))
            for name, line in zip(names, lines, strict=True)
        )
        heads = tuple(name.replace("_", " ") for name in shown)
        yield Table(f"{_title(lines[0][0], asked, data)}, prevalence", heads, (Section("", rows),))


def _title(row: Line, asked: Reading, data: Mapping[str, Any]) -> str:
    model = shorten_label(row["model"] or next(iter(asked.score), asked.predicted))
    cut = f"= {shorten_label(data['positive'])}" if row["threshold"] is None else f"≥ {format_exact(row['threshold'])}"
    if not asked.group:
        return f"{model} {cut}"
    groups = (f"{shorten_label(name)} = {shorten_label(value)}" for name, value in (row["group"] or {}).items())
    return f"{', '.join(groups) or EVERYBODY}: {model} {cut}"


def _bounds(data: Mapping[str, Any]) -> tuple[str, ...]:
    if "interval" not in data:
        return ()
    sure = format_level(data["interval"]["level"])
    return (f"Intervals: bounds at each prevalence by itself, taken as known, with {sure} % confidence.",)
