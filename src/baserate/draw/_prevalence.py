"""Measures of decisions against the prevalence: what a positive, or a negative, result means elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._errors import OptionError
from baserate._results import Results
from baserate._tally import Tallies
from baserate.draw._data import Mixed, Series, apart, series
from baserate.draw._drawing import Drawing, Parts, drawn
from baserate.draw._strokes import check_both_classes, heights, roomy, shade, stroke, told
from baserate.draw._style import FAINT, GREY, dashes, marker, name_axes, percent, shares, spoken
from baserate.measure import Measure, joined
from baserate.shift import against, checked_prevalence, grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHORT = {"npv": "of the passed, negatives (NPV)", "precision": "of the flagged, positives (precision)"}
"""Names for a legend."""
_BEYOND = 50
"""Points towards a prevalence that lies beyond the usual ones."""


def prevalence(  # noqa: PLR0913  (all but two are seldom given)
    data: Mixed,
    *,
    threshold: float | Mapping[str, float] | None = None,
    measures: Iterable[str | Measure] = ("precision", "npv"),
    at: float | None = None,
    log: bool = True,
    level: float = 0.95,
    ax: Axes | None = None,
) -> Drawing:
    """Draw precision and NPV, or other measures of decisions, against the prevalence, each with its band.

    Scores are cut at a `threshold`, or each model at its own; at 0.5 if they are probabilities and nothing is said. A
    2×2 table (`Counts`) will do as well. Lines mark the prevalence of the rows and, if given, that of deployment, `at`.
    The axis of prevalence is logarithmic unless `log` is False.

    >>> from baserate import Counts, draw
    >>> made = draw.prevalence(Counts(tp=99, fn=1, fp=1, tn=99), at=0.02)
    >>> [(row["prevalence"], row["measure"], round(row["value"], 3)) for row in made.parts["marks"].rows()]
    [(0.5, 'precision', 0.99), (0.02, 'precision', 0.669), (0.5, 'npv', 0.99), (0.02, 'npv', 1.0)]
    """
    if at is not None:
        checked_prevalence("at", at)
    given = _given(data, threshold)
    first, (here, _) = next(iter(given.items()))
    asked = {"measures": list(measures), "level": level}
    marked = {"these rows": here.pooled(first).prevalence} | ({} if at is None else {"deployment": at})
    places = list(marked.values())
    parts = {
        "curve": _tabulated(given, prevalences=_places(places), **asked),
        "marks": _marked(marked, _tabulated(given, prevalences=places, **asked)),
    }
    return drawn("prevalence", parts, partial(_prevalence, log=log), ax=ax, size=roomy(parts["marks"]))


def _given(data: Mixed, threshold: float | Mapping[str, float] | None) -> dict[str, tuple[Tallies, float | None]]:
    """Each model alone, and where it is cut; labels are decided already."""
    scored, labels = apart(data)
    if scored is None and threshold is not None:
        raise OptionError(f"threshold={threshold} has no use: these are decisions already; leave it out.")
    found = {}
    for tallies in filter(None, (scored, labels)):
        check_both_classes(tallies, "a curve against the prevalence")
        for model, groups in tallies.models.items():
            alone = replace(tallies, models={model: groups}, decisions={})
            found[model] = alone, None if tallies is labels else _cut(model, threshold)
    return found


def _cut(model: str, threshold: float | Mapping[str, float] | None) -> float | None:
    if not isinstance(threshold, Mapping):
        return threshold
    if model not in threshold:
        raise OptionError(f"there is no threshold of {model}; give one for each model, or one number for all.")
    return threshold[model]


def _tabulated(given: Mapping[str, tuple[Tallies, float | None]], **asked: Any) -> Results:  # noqa: ANN401
    """Tabulate every model at its own threshold."""
    parts = []
    for model, (alone, cut) in given.items():
        found = against(alone, threshold=cut, **asked)
        parts.append({**found.columns, "model": [model if len(given) > 1 else None] * len(found)})
    columns = {name: joined([part[name] for part in parts]) for name in parts[0]}
    # Of several models, each was carried alone: a digest would be that of the last.
    return Results(columns, {name: value for name, value in found.data.items() if name != "digest" or len(given) == 1})


def _places(marked: Sequence[float]) -> Floats:
    """The usual prevalences, those that are marked, and a way to those that lie beyond."""
    usual = grid()
    least, most = min(*marked, usual[0]), max(*marked, usual[-1])
    below, above = np.geomspace(least, usual[0], _BEYOND), 1 - np.geomspace(1 - most, 1 - usual[-1], _BEYOND)
    return np.unique(np.concatenate([usual, marked, below, above]))


def _marked(marked: Mapping[str, float], found: Results) -> Results:
    names = {share: name for name, share in marked.items()}
    return Results({"mark": [names[float(at)] for at in found.columns["prevalence"]], **found.columns}, found.data)


def _prevalence(ax: Axes, parts: Parts, *, log: bool) -> None:
    curve = parts["curve"]
    lines, points = list(_lines(curve)), list(_lines(parts["marks"]))
    alone = len({line.place for line in lines}) == 1
    _verticals(ax, parts["marks"])
    for at, (line, dots) in enumerate(zip(lines, points, strict=True)):
        hue = line.measure if alone else line.place
        if alone:
            label = "" if at else f"{percent(curve.data['level'])} interval"
            shade(ax, line.each.rows, hue, "prevalence", label=label)
        stroke(ax, line.each, hue, ("prevalence", "value"), linestyle=dashes(line.measure))
        stroke(ax, dots.each, hue, ("prevalence", "value"), linestyle="", marker=marker(hue), label="")
    if log:
        ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda share, _place: percent(share))
    names = list(dict.fromkeys(curve.columns["measure"]))
    both = "share of those with that result" if set(names) <= set(SHORT) else "value"
    name_axes(ax, "prevalence", names[0] if len(names) == 1 else both)
    _limited(ax, curve)
    told(ax, len({line.place for line in lines}))


class _Line(NamedTuple):
    """One measure of one series: its rows, the place of the series, and that of the measure."""

    each: Series
    place: int
    measure: int


def _lines(found: Results) -> Iterator[_Line]:
    for place, each in enumerate(series(found)):
        measured = each.rows["measure"]
        for at, name in enumerate(dict.fromkeys(measured)):
            there = [row for row, measure in enumerate(measured) if measure == name]
            rows = {key: [column[row] for row in there] for key, column in each.rows.items()}
            yield _Line(Series(_called(each.name, name, alone=len(there) == len(measured)), rows), place, at)


def _called(series: str, measure: str, *, alone: bool) -> str:
    """Name of a line: what differs from the others."""
    if not series:
        return SHORT.get(measure, spoken(measure))
    return series if alone else f"{series}, {spoken(measure)}"


def _verticals(ax: Axes, marks: Results) -> None:
    """Where the rows are from, and where it will be used."""
    looks = {"these rows": (FAINT, ":"), "deployment": (GREY, "--")}
    for name, share in dict(zip(marks.columns["mark"], marks.columns["prevalence"], strict=True)).items():
        hue, dash = looks[name]
        ax.axvline(share, color=hue, linestyle=dash, linewidth=1, label=f"{name}: {percent(share)}")


def _limited(ax: Axes, curve: Results) -> None:
    """Shares run from 0 to 1; other measures as they come."""
    seen = heights(curve.columns["value"])
    if np.nanmin(seen) >= 0 and np.nanmax(seen) <= 1:
        shares(ax, "y")
