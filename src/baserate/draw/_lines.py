"""Painting of series on axes: lines, bands, points, marks, reference lines and legends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from baserate._arrays import Floats
from baserate._curve import Curve
from baserate._errors import OptionError
from baserate._results import Results
from baserate._tally import Tallies
from baserate.decide import require_both_classes
from baserate.draw._data import Mixed, Series, SeriesKey, split_labels, split_series
from baserate.draw._figure import (
    LIGHT_GRAY,
    SIZE,
    Parts,
    color_at,
    format_percent,
    legend_label,
    line_style_at,
    marker_at,
    place_legend,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

AxisNames = tuple[str, str]
"""Columns of the x-axis and of the y-axis."""
SHADE = 0.16
"""Opacity of a band."""
_REFERENCES = ("-", ":", "--")


def paint_curves(
    ax: Axes,
    parts: Parts,
    along: AxisNames,
    *,
    told: Mapping[SeriesKey, str] | None = None,
    step: Literal["pre"] | None = None,
) -> None:
    """Paint the curve of every series, with its band if it has one, and details in the legend."""
    if "curve" not in parts:
        return
    drawstyle: Any = "default" if step is None else f"steps-{step}"
    for at, each in enumerate(split_series(parts["curve"])):
        x, y = (as_gaps(each.rows[name]) for name in along)
        label = legend_label(each.name, (told or {}).get(each.key, ""))
        # A line through a single point is invisible; draw a marker.
        sign = "o" if step is None and sum(map(isfinite, y)) == 1 else None
        ax.plot(
            x,
            y,
            color=color_at(at),
            linestyle=line_style_at(at),
            drawstyle=drawstyle,
            marker=sign,
            label=label,
            zorder=3,
        )
        if "low" in each.rows:
            # A step begins at the previous point, where the band may be undefined.
            low, high = (_start_steps(each.rows[end], step) for end in ("low", "high"))
            label = band_label(parts["curve"]) if at == 0 else ""
            ax.fill_between(x, low, high, step=step, color=color_at(at), alpha=SHADE, linewidth=0, label=label)


def paint_points(ax: Axes, parts: Parts, along: AxisNames) -> None:
    """Paint classifiers that only give labels, in colors and markers of their own."""
    before = len(series_positions(parts))
    for at, row in enumerate(parts["points"].rows() if "points" in parts else ()):
        x, y = (as_gaps([row[name]]) for name in along)
        ax.plot(x, y, marker_at(at), color=color_at(before + at), label=legend_label(row["name"]), zorder=4)


def paint_marks(ax: Axes, parts: Parts, along: AxisNames) -> None:
    """Paint marked decisions: hollow markers in the color of the series."""
    if "marks" not in parts:
        return
    of = series_positions(parts)
    signs = {name: marker_at(at) for at, name in enumerate(dict.fromkeys(parts["marks"].columns["name"]))}
    left = dict(signs)
    for row in parts["marks"].rows():
        x, y = (as_gaps([row[name]]) for name in along)
        label = legend_label(row["name"]) if left.pop(row["name"], None) else ""
        look: Any = {"color": color_at(of[row["model"], str(row["group"])]), "linestyle": "none", "zorder": 5}
        ax.plot(x, y, marker=signs[row["name"]], markerfacecolor="white", markeredgewidth=1.4, label=label, **look)


def paint_references(ax: Axes, parts: Parts, along: AxisNames) -> None:
    """Paint reference lines."""
    rows = parts["reference"].rows()
    for at, name in enumerate(dict.fromkeys(row["name"] for row in rows)):
        x, y = ([row[axis] for row in rows if row["name"] == name] for axis in along)
        ax.plot(
            x, y, color=LIGHT_GRAY, linestyle=_REFERENCES[at % len(_REFERENCES)], linewidth=1, label=name, zorder=1.5
        )


def estimate_labels(parts: Parts, measure: str, short: str) -> dict[SeriesKey, str]:
    """Return the legend text of each series: a number with its interval, or that it is undefined."""
    estimates = parts[measure].rows() if measure in parts else ()
    return {(row["model"], str(row["group"])): f"{short} {_format_estimate(row)}" for row in estimates}


def series_positions(parts: Parts) -> dict[SeriesKey, int]:
    """Return the index of each series among those of the curve."""
    return {each.key: at for at, each in enumerate(split_series(parts["curve"]))} if "curve" in parts else {}


def as_gaps(values: Iterable[float | None]) -> list[float]:
    """Replace None by NaN, which matplotlib draws as a gap."""
    return [float("nan") if value is None else value for value in values]


def free_corner(parts: Parts, corner: str) -> str | None:
    """Return the corner for the legend; None where a band may cover it."""
    return None if "low" in getattr(parts.get("curve"), "columns", ()) else corner


def band_label(table: Results) -> str:
    """Describe a band for the legend."""
    where = "the whole curve" if table.data["simultaneous"] else "each point by itself"
    return f"{format_percent(table.data['level'])} band, {where}"


def _start_steps(bounds: list[float | None], step: str | None) -> list[float]:
    return as_gaps(bounds if step is None else bounds[1:2] + bounds[1:])


def _format_estimate(row: Mapping[str, Any]) -> str:
    if row["value"] is None:
        return "undefined"
    if row["low"] is None:
        return f"{row['value']:.3f}"
    bounds = f"{format_percent(row['level'])}: {row['low']:.3f}–{row['high']:.3f}"
    return f"{row['value']:.3f} ({bounds})".replace(" ", "\u00a0")  # no-break spaces keep the numbers on one line


MANY_SERIES = 5
"""Number of series from which on the legend goes to the right."""
TALL = (SIZE[0], SIZE[1] + 0.6)
"""Inches of a figure with a legend below."""
_LONG = 30
"""Characters of a name from which on the legend has one column."""
_WIDEST_BELOW = 46
"""Characters in a line of a legend below the axes."""
_DOWN = 30
"""Distance of a legend below the axes in points, for tick labels and axis label."""
_ENTRY = 0.17
"""Height of a line of a legend, in inches."""


def probability_tallies(data: Mixed) -> Tallies:
    """Return models with scores, which may be probabilities; raise an error for labels."""
    scored, labels = split_labels(data)
    if scored is None or labels is not None:
        names = ", ".join(labels.models) if labels is not None else "nothing"
        raise OptionError(f"{names} holds labels, which are no probabilities", remedy="give models with scores alone.")
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


def paint_line(ax: Axes, each: Series, at: int, along: tuple[str, str], **look: Any) -> None:  # noqa: ANN401  (matplotlib's)
    """Paint the line of a series, in the style of its index unless another is given."""
    x, y = (plot_values(each.rows[name]) for name in along)
    usual = {"color": color_at(at), "linestyle": line_style_at(at), "label": legend_label(each.name)}
    ax.plot(x, y, **(usual | look))


def paint_band(ax: Axes, rows: Mapping[str, list[Any]], at: int, x: str, *, label: str = "") -> None:
    """Shade the band between `low` and `high`."""
    low, high = plot_values(rows["low"]), plot_values(rows["high"])
    ax.fill_between(plot_values(rows[x]), low, high, color=color_at(at), alpha=SHADE, linewidth=0, label=label)


def add_legend(ax: Axes, many: int, *, bottom: float = 0.0) -> None:
    """Add a legend where it hides nothing: below, or on the right if there are many series.

    `bottom` is where the axes end, with what hangs below them, as a fraction of their height.
    """
    signs, names = ax.get_legend_handles_labels()
    if many < MANY_SERIES:
        add_legend_below(ax, signs, columns=1 if max(map(len, names)) > _LONG else 2, bottom=bottom)
    else:
        place_legend(ax, None)


def add_legend_below(ax: Axes, signs: Sequence[Artist], *, columns: int, bottom: float = 0.0) -> None:
    """Add a legend below the axes, under their tick labels and title."""
    from matplotlib.transforms import ScaledTranslation

    names = [_wrap_name(str(sign.get_label())) for sign in signs]
    place = ax.transAxes + ScaledTranslation(0, -_DOWN / 72, ax.figure.dpi_scale_trans)
    where: Any = {"bbox_to_anchor": (0, bottom, 1, 0), "bbox_transform": place}
    ax.legend(signs, names, loc="upper left", ncols=columns, **where)


def _wrap_name(name: str) -> str:
    """Wrap a name to the width of the axes."""
    return fill(name.replace("\n  ", " "), _WIDEST_BELOW, subsequent_indent="  ")


def fit_size(table: Results, size: tuple[float, float] = TALL) -> tuple[float, float]:
    """Return the size in inches of a figure that is tall enough for the names of all series."""
    width, height = size
    names = [_wrap_name(each.name) for each in split_series(table)]
    if len(names) < MANY_SERIES:
        return width, height + _ENTRY * sum(1 + name.count("\n") for name in names if len(name) > _LONG)
    return width, max(height, 1 + _ENTRY * len(names))
