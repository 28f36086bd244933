"""Predictive values and other measures of decisions against the prevalence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._errors import OptionError, keyword
from baserate._results import Results
from baserate._tally import Tallies
from baserate.draw._data import Mixed, Series, split_labels, split_series
from baserate.draw._figure import (
    GRAY,
    LIGHT_GRAY,
    Drawing,
    Parts,
    format_percent,
    label_axes,
    line_style_at,
    make_drawing,
    marker_at,
    measure_label,
    set_unit_limits,
)
from baserate.draw._lines import add_legend, check_both_classes, fit_size, paint_band, paint_line, plot_values
from baserate.measure import Measure, concatenate
from baserate.shift import check_prevalence, prevalence_curve, prevalence_grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEGEND_NAMES = {"npv": "of the passed, negatives (NPV)", "precision": "of the flagged, positives (precision)"}
"""Labels of measures in the legend."""
_BEYOND = 50
"""Points between the usual prevalences and a mark beyond them."""


def prevalence(  # noqa: PLR0913  (all but two are seldom models)
    data: Mixed,
    *,
    threshold: float | Mapping[str, float] | None = None,
    measures: Iterable[str | Measure] = ("precision", "npv"),
    at: float | None = None,
    log: bool = True,
    level: float = 0.95,
    ax: Axes | None = None,
) -> Drawing:
    """Draw PPV and NPV, or other measures of decisions, against the prevalence, with confidence bands.

    Lines mark the prevalence of the data and, if given, that of deployment.

    Parameters
    ----------
    data
        Models as in `roc`, or a confusion matrix (`Counts`).
    threshold
        Threshold of all models, or one for each by name; 0.5 by default if the scores are probabilities.
    measures
        Measures or their names.
    at
        Deployment prevalence to mark.
    log
        Whether the axis of the prevalence is logarithmic.
    level
        Confidence level of the bands.
    ax
        Matplotlib axes to paint on; new ones by default.

    Returns
    -------
    Drawing
        The figure with its numbers.

    Examples
    --------
    >>> from baserate import Counts, draw
    >>> drawing = draw.prevalence(Counts(tp=99, fn=1, fp=1, tn=99), at=0.02)
    >>> [(row["prevalence"], row["measure"], round(row["value"], 3)) for row in drawing.parts["marks"].rows()]
    [(0.5, 'precision', 0.99), (0.02, 'precision', 0.669), (0.5, 'npv', 0.99), (0.02, 'npv', 1.0)]
    """
    if at is not None:
        check_prevalence("at", at)
    models = _models_and_thresholds(data, threshold)
    first, (first_tallies, _) = next(iter(models.items()))
    options = {"measures": list(measures), "level": level}
    marked = {"these rows": first_tallies.pooled(first).prevalence} | ({} if at is None else {"deployment": at})
    places = list(marked.values())
    parts = {
        "curve": _tabulate_models(models, prevalences=_prevalence_grid(places), **options),
        "marks": _name_marks(marked, _tabulate_models(models, prevalences=places, **options)),
    }
    return make_drawing("prevalence", parts, partial(_paint_prevalence, log=log), ax=ax, size=fit_size(parts["marks"]))


def _models_and_thresholds(
    data: Mixed, threshold: float | Mapping[str, float] | None
) -> dict[str, tuple[Tallies, float | None]]:
    """Return each model by itself with its threshold; None for labels, which are decisions already."""
    scored, labels = split_labels(data)
    if scored is None and threshold is not None:
        raise OptionError(
            f"{keyword('threshold', threshold)} has no use: these are decisions already",
            remedy="leave it out.",
            option="threshold",
            value=threshold,
        )
    models = {}
    for tallies in filter(None, (scored, labels)):
        check_both_classes(tallies, "a curve against the prevalence")
        for model, groups in tallies.models.items():
            single = replace(tallies, models={model: groups}, decisions={})
            models[model] = single, None if tallies is labels else _model_threshold(model, threshold)
    return models


def _model_threshold(model: str, threshold: float | Mapping[str, float] | None) -> float | None:
    if not isinstance(threshold, Mapping):
        return threshold
    if model not in threshold:
        raise OptionError(f"there is no threshold of {model}", remedy="give one for each model, or one number for all.")
    return threshold[model]


def _tabulate_models(models: Mapping[str, tuple[Tallies, float | None]], **asked: Any) -> Results:  # noqa: ANN401
    """Tabulate every model at its own threshold."""
    parts = []
    for model, (single, cut) in models.items():
        table = prevalence_curve(single, threshold=cut, **asked)
        parts.append({**table.columns, "model": [model if len(models) > 1 else None] * len(table)})
    columns = {name: concatenate([part[name] for part in parts]) for name in parts[0]}
    # Several models are reweighted one by one, so the digest would be that of the last model.
    return Results(columns, {name: value for name, value in table.data.items() if name != "digest" or len(models) == 1})


def _prevalence_grid(marked: Sequence[float]) -> Floats:
    """Return the usual prevalences, those that are marked, and points towards marks beyond the usual range."""
    usual = prevalence_grid()
    least, most = min(*marked, usual[0]), max(*marked, usual[-1])
    # Logarithmic toward 0 and, mirrored, toward 1, where predictive values change fast.
    below, above = np.geomspace(least, usual[0], _BEYOND), 1 - np.geomspace(1 - most, 1 - usual[-1], _BEYOND)
    return np.unique(np.concatenate([usual, marked, below, above]))


def _name_marks(marked: Mapping[str, float], table: Results) -> Results:
    names = {share: name for name, share in marked.items()}
    return Results({"mark": [names[float(at)] for at in table.columns["prevalence"]], **table.columns}, table.data)


def _paint_prevalence(ax: Axes, parts: Parts, *, log: bool) -> None:
    curve = parts["curve"]
    lines, points = list(_split_lines(curve)), list(_split_lines(parts["marks"]))
    is_single = len({line.place for line in lines}) == 1
    _paint_verticals(ax, parts["marks"])
    for at, (line, dots) in enumerate(zip(lines, points, strict=True)):
        hue = line.measure if is_single else line.place
        if is_single:
            label = "" if at else f"{format_percent(curve.data['level'])} interval"
            paint_band(ax, line.each.rows, hue, "prevalence", label=label)
        paint_line(ax, line.each, hue, ("prevalence", "value"), linestyle=line_style_at(line.measure))
        paint_line(ax, dots.each, hue, ("prevalence", "value"), linestyle="", marker=marker_at(hue), label="")
    if log:
        ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda share, _place: format_percent(share))
    names = list(dict.fromkeys(curve.columns["measure"]))
    both = "share of those with that result" if set(names) <= set(_LEGEND_NAMES) else "value"
    label_axes(ax, "prevalence", names[0] if len(names) == 1 else both)
    _limit_values(ax, curve)
    add_legend(ax, len({line.place for line in lines}))


class _Line(NamedTuple):
    """One measure of one series: its rows, the index of the series, and that of the measure."""

    each: Series
    place: int
    measure: int


def _split_lines(table: Results) -> Iterator[_Line]:
    for place, each in enumerate(split_series(table)):
        measured = each.rows["measure"]
        for at, name in enumerate(dict.fromkeys(measured)):
            there = [row for row, measure in enumerate(measured) if measure == name]
            rows = {key: [column[row] for row in there] for key, column in each.rows.items()}
            yield _Line(Series(_line_name(each.name, name, alone=len(there) == len(measured)), rows), place, at)


def _line_name(series: str, measure: str, *, alone: bool) -> str:
    """Name a line by what differs from the others."""
    if not series:
        return _LEGEND_NAMES.get(measure, measure_label(measure))
    return series if alone else f"{series}, {measure_label(measure)}"


def _paint_verticals(ax: Axes, marks: Results) -> None:
    """Mark the prevalence of the data, and that of deployment."""
    looks = {"these rows": (LIGHT_GRAY, ":"), "deployment": (GRAY, "--")}
    for name, share in dict(zip(marks.columns["mark"], marks.columns["prevalence"], strict=True)).items():
        hue, dash = looks[name]
        ax.axvline(share, color=hue, linestyle=dash, linewidth=1, label=f"{name}: {format_percent(share)}")


def _limit_values(ax: Axes, curve: Results) -> None:
    """Limit shares to 0 to 1; keep the limits of other measures."""
    values = plot_values(curve.columns["value"])
    if np.nanmin(values) >= 0 and np.nanmax(values) <= 1:
        set_unit_limits(ax, "y")
