"""Lines, bands, points, marks and reference lines of figures, and their texts in the legend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from baserate._arrays import Floats
from baserate._curve import Curve
from baserate._errors import OptionError
from baserate._results import Results
from baserate._tally import Tallies
from baserate.decide import require_both_classes
from baserate.draw._data import Mixed, Series, SeriesKey, split_labels, split_series
from baserate.draw._figure import Parts
from baserate.draw._style import (
    LIGHT_GRAY,
    SHADE,
    THIN,
    capitalize_first,
    color_at,
    format_percent,
    line_style_at,
    marker_at,
    sparse_markers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def legend_label(*parts: str) -> str:
    """Join the name of a series and its details to a label.

    >>> legend_label("risk", "AUC 0.8"), legend_label("", "AUC 0.8")
    ('risk: AUC 0.8', 'AUC 0.8')
    """
    # Matplotlib typesets text between dollar signs as formulas.
    text = ": ".join(filter(None, parts)).replace("$", r"\$")
    # Matplotlib leaves labels that begin with an underscore out of legends; a hair space before it prevents that.
    return f"\u200a{text}" if text.startswith("_") else text


SINGLE = "Model"
"""Legend of the curve of a single model without a name."""
AxisNames = tuple[str, str]
"""Columns of the x-axis and of the y-axis."""
_REFERENCES = ("-", ":", "--")


def paint_curves(
    ax: Axes,
    parts: Parts,
    axes: AxisNames,
    *,
    details: Mapping[SeriesKey, str] | None = None,
    step: Literal["pre"] | None = None,
) -> None:
    """Paint the curve of every series, with its band if it has one, and details in the legend."""
    if "curve" not in parts:
        return
    drawstyle: Any = "default" if step is None else f"steps-{step}"
    every = list(split_series(parts["curve"]))
    for at, each in enumerate(every):
        x, y = (as_gaps(each.rows[name]) for name in axes)
        label = legend_label(each.name, (details or {}).get(each.key, "")) or SINGLE
        # A line through a single point is invisible; draw a marker.
        is_point = step is None and sum(map(isfinite, y)) == 1
        signs = {"marker": "o"} if is_point else sparse_markers(at, len(every), x, y)
        ax.plot(
            x,
            y,
            color=color_at(at),
            linestyle=line_style_at(at),
            drawstyle=drawstyle,
            label=label,
            zorder=3,
            **signs,
        )
        if "low" in each.rows:
            # A step begins at the previous point, where the band may be undefined.
            low, high = (_start_steps(each.rows[end], step) for end in ("low", "high"))
            label = band_label(parts["curve"]) if at == 0 else ""
            ax.fill_between(x, low, high, step=step, color=color_at(at), alpha=SHADE, linewidth=0, label=label)


def paint_points(ax: Axes, parts: Parts, axes: AxisNames) -> None:
    """Paint classifiers that only give labels, in colors and markers of their own."""
    before = len(series_positions(parts))
    for at, row in enumerate(parts["points"].rows() if "points" in parts else ()):
        x, y = (as_gaps([row[name]]) for name in axes)
        ax.plot(x, y, marker_at(at), color=color_at(before + at), label=legend_label(row["name"]), zorder=4)


def paint_marks(ax: Axes, parts: Parts, axes: AxisNames) -> None:
    """Paint marked decisions: hollow markers in the color of the series."""
    if "marks" not in parts:
        return
    positions = series_positions(parts)
    signs = {name: marker_at(at) for at, name in enumerate(dict.fromkeys(parts["marks"].columns["name"]))}
    unlabeled = dict(signs)  # each name has one entry in the legend
    for row in parts["marks"].rows():
        x, y = (as_gaps([row[name]]) for name in axes)
        label = legend_label(capitalize_first(row["name"])) if unlabeled.pop(row["name"], None) else ""
        look: Any = {"color": color_at(positions[row["model"], str(row["group"])]), "linestyle": "none", "zorder": 5}
        ax.plot(
            x,
            y,
            marker=signs[row["name"]],
            markerfacecolor="white",
            markeredgewidth=1.2,
            markersize=5.5,
            label=label,
            **look,
        )


def paint_references(ax: Axes, parts: Parts, axes: AxisNames) -> None:
    """Paint reference lines."""
    rows = parts["reference"].rows()
    for at, name in enumerate(dict.fromkeys(row["name"] for row in rows)):
        x, y = ([row[axis] for row in rows if row["name"] == name] for axis in axes)
        ax.plot(
            x,
            y,
            color=LIGHT_GRAY,
            linestyle=_REFERENCES[at % len(_REFERENCES)],
            linewidth=THIN,
            label=capitalize_first(name),
            zorder=1.5,
        )


def estimate_labels(parts: Parts, measure: str, short: str) -> dict[SeriesKey, str]:
    """Return the legend text of each series: a number with its interval, or that it is undefined."""
    estimates = parts[measure].rows() if measure in parts else ()
    return {(row["model"], str(row["group"])): estimate_label(row, short) for row in estimates}


def estimate_label(row: Mapping[str, Any], short: str) -> str:
    """Return the legend text of a number: with its interval, or that it is undefined."""
    return f"{short}\u00a0{_format_estimate(row)}"


def series_positions(parts: Parts) -> dict[SeriesKey, int]:
    """Return the index of each series among those of the curve."""
    return {each.key: at for at, each in enumerate(split_series(parts["curve"]))} if "curve" in parts else {}


def as_gaps(values: Iterable[float | None]) -> list[float]:
    """Replace None by NaN, which matplotlib draws as a gap."""
    return [float("nan") if value is None else value for value in values]


def band_label(table: Results) -> str:
    """Describe a band for the legend."""
    kind = "simultaneous" if table.data["simultaneous"] else "pointwise"
    return f"{format_percent(table.data['level'])} confidence band, {kind}"


def _start_steps(bounds: list[float | None], step: str | None) -> list[float]:
    return as_gaps(bounds if step is None else bounds[1:2] + bounds[1:])


def _format_estimate(row: Mapping[str, Any]) -> str:
    if row["value"] is None:
        return "undefined"
    if row["low"] is None:
        return f"{row['value']:.3f}"
    bounds = f"{format_percent(row['level'])} CI {row['low']:.3f} to {row['high']:.3f}"
    return f"{row['value']:.3f} ({bounds})".replace(" ", "\u00a0")  # no-break spaces keep the numbers on one line


def probability_tallies(data: Mixed) -> Tallies:
    """Return models with scores, which may be probabilities; raise an error for labels."""
    scored, labels = split_labels(data)
    if scored is None or labels is not None:
        names = ", ".join(labels.models) if labels is not None else "nothing"
        raise OptionError(f"{names} contains labels; expected probabilities.", remedy="Pass only models with scores.")
    return scored


def check_both_classes(tallies: Tallies, what: str) -> None:
    """Raise an error unless every model has both classes."""
    for model in tallies.models:
        require_both_classes(Curve(tallies.pooled(model)), what)


def plot_values(column: Iterable[float | None]) -> Floats:
    """Return numbers to plot; undefined ones are gaps.

    >>> plot_values([0.5, None]).tolist()
    [0.5, nan]
    """
    return np.array(as_gaps(column), dtype=np.float64)


def paint_line(
    ax: Axes,
    each: Series,
    at: int,
    axes: AxisNames,
    *,
    many: int = 0,
    **look: Any,  # noqa: ANN401  (matplotlib's)
) -> None:
    """Paint the line of a series, in the style of its index unless another is given.

    `many` is the number of curves that sparse markers distinguish; other lines have none.
    """
    x, y = (plot_values(each.rows[name]) for name in axes)
    default = {"color": color_at(at), "linestyle": line_style_at(at), "label": legend_label(each.name)}
    signs = sparse_markers(at, many, x, y) if many else {}
    ax.plot(x, y, **(default | signs | look))


def paint_band(ax: Axes, rows: Mapping[str, list[Any]], at: int, x: str, *, label: str = "") -> None:
    """Shade the band between `low` and `high`."""
    low, high = plot_values(rows["low"]), plot_values(rows["high"])
    ax.fill_between(plot_values(rows[x]), low, high, color=color_at(at), alpha=SHADE, linewidth=0, label=label)
