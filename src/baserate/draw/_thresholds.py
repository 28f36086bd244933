"""Score distributions of both classes, and measures against the threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain, pairwise
from math import ceil, isfinite, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._domains import BINS, check_domain
from baserate._formatting import count_of
from baserate._results import Results
from baserate._tally import Tallies, Tally
from baserate.draw._data import (
    Data,
    Policies,
    Thresholds,
    add_measures,
    pool_groups,
    select_model,
    single_threshold_marks,
    tabulate_curve,
    tabulate_marks,
)
from baserate.draw._figure import (
    AXIS_LABELS,
    GRAY,
    NEGATIVE,
    POSITIVE,
    Drawing,
    Parts,
    color_at,
    format_percent,
    legend_label,
    line_style_at,
    make_drawing,
    measure_label,
    place_legend,
    set_unit_limits,
)
from baserate.draw._lines import SHADE, as_gaps, band_label
from baserate.measure import Measure, as_measure, concatenate, describe, inner_edges, results_data, widen_range
from baserate.shift import reweigh

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 40
_LEAST = 10
_LOOK: dict[str, Any] = {
    "positives": {"color": POSITIVE, "linestyle": "-", "hatch": "////"},
    "negatives": {"color": NEGATIVE, "linestyle": "--", "hatch": None},
}
"""Styles of the classes, which differ by hatching and line style, too."""


def scores(
    data: Data,
    *,
    model: str | None = None,
    bins: int | None = None,
    threshold: Thresholds | None = None,
    policy: Policies | None = None,
    ax: Axes | None = None,
) -> Drawing:
    """Draw the score distributions of both classes: the share of each class in bins.

    There is an edge of a bin at every threshold, so the bins beyond it hold what it flags. The legend gives these
    shares.

    Parameters
    ----------
    data
        One model, several by name, or tallies; groups are pooled.
    model
        Name of the model; needed where there are several.
    bins
        Approximate number of bins; by default the square root of the number of rows, from 10 to 40.
    threshold
        Threshold to mark, or several.
    policy
        Policy to mark; it must have a single threshold.
    ax
        Matplotlib axes to paint on; new ones by default.

    Returns
    -------
    Drawing
        The figure with its numbers.

    Examples
    --------
    >>> from baserate import draw, tally
    >>> drawing = draw.scores(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]), threshold=0.65, bins=2)
    >>> [(row["class"], row["from"], row["to"], round(row["share"], 2)) for row in drawing.parts["bins"].rows()][:2]
    [('positives', 0.0, 0.65, 0.33), ('positives', 0.65, 1.0, 0.67)]
    """
    tallies = select_model(data, model)
    marks = single_threshold_marks(tabulate_marks(tallies, threshold, policy))
    tally = pool_groups(tallies).tally
    cuts = sorted({at for at in marks.columns["threshold"] if isfinite(at)})
    columns = _tabulate_bins(tally, _bin_edges(tally, cuts, _bin_count(tally, bins)))
    head = results_data(tallies, [])
    parts = {"bins": Results(columns, head)}
    if len(marks):
        parts["marks"] = add_measures(marks, "sensitivity", "fpr")
    return make_drawing("scores", parts, _paint_scores, ax=ax)


def _bin_count(tally: Tally, bins: int | None) -> int:
    if bins is None:
        return min(_MOST, max(_LEAST, ceil(sqrt(tally.rows.sum(dtype=np.int64)))))
    check_domain("bins", bins, BINS)
    return bins


def _bin_edges(tally: Tally, cuts: list[float], bins: int) -> Floats:
    """Return edges of bins of nearly the same width, with one at every threshold."""
    score = tally.score
    low, high = (0.0, 1.0) if tally.probable else (float(score[-1]), float(score[0]))
    low, high = widen_range(min([low, *cuts]), max([high, *cuts]))
    width = (high - low) / bins
    # `fromkeys` removes duplicates in order: a threshold may be an end of the range.
    stretches = list(pairwise(dict.fromkeys([low, *cuts, high])))
    inner = [[a, *inner_edges(a, b, max(1, round((b - a) / width)))] for a, b in stretches]
    return np.array([*chain.from_iterable(inner), high])


def _tabulate_bins(tally: Tally, edges: Floats) -> dict[str, Any]:
    """Tabulate the share of each class in each bin; a score at an edge belongs to the upper bin, as with thresholds."""
    columns: dict[str, list[Any]] = {name: [] for name in ("class", "from", "to", "mass", "share", "rows")}
    for order, name in enumerate(("positives", "negatives")):
        mass, _ = np.histogram(tally.score, edges, weights=np.asarray(tally.mass[order], dtype=np.float64))
        share = ratio(mass, float(mass.sum()))
        rows, _ = np.histogram(tally.score, edges, weights=np.asarray(tally.rows[order], dtype=np.float64))
        columns["class"] += [name] * len(mass)
        for key, values in (("from", edges[:-1]), ("to", edges[1:]), ("mass", mass), ("share", share)):
            columns[key] += values.tolist()
        columns["rows"] += rows.tolist()
    return columns


def _paint_scores(ax: Axes, parts: Parts) -> None:
    rows = parts["bins"].rows()
    for name, look in _LOOK.items():
        own = [row for row in rows if row["class"] == name]
        edges, heights = [own[0]["from"], *(row["to"] for row in own)], [row["share"] for row in own]
        if heights[0] is None:  # the class is missing
            continue
        shade, hatch = look["color"], look["hatch"]
        many = sum(row["rows"] for row in own)
        label = f"{name} ({count_of(many, 'row', shown=format(many, '.0f'))})"
        fill: Any = {"facecolor": (shade, 0.25), "edgecolor": (shade, 0.6), "hatch": hatch, "linewidth": 0}
        ax.stairs(heights, edges, fill=True, label=label, **fill)
        ax.stairs(heights, edges, color=shade, linestyle=look["linestyle"], linewidth=1.4)
    for row in parts["marks"].rows() if "marks" in parts else ():
        if isfinite(row["threshold"]):
            ax.axvline(row["threshold"], color="black", linewidth=1, label=_mark_label(row))
    ax.set_ylim(bottom=0)
    ax.set_xlabel("score")
    ax.set_ylabel("share of its class in each bin")
    place_legend(ax, None)


def _mark_label(row: dict[str, Any]) -> str:
    caught = [
        f"{format_percent(row[name])} of {who}"
        for name, who in (("sensitivity", "positives"), ("fpr", "negatives"))
        if row[name] is not None
    ]
    return legend_label(f"{row['name']} flags {', '.join(caught)}")


_DEFAULT_MEASURES = ("sensitivity", "specificity", "precision", "f1", "flag_rate")
_POINTS = 300
"""Points of each line, which is a staircase."""


def thresholds(  # noqa: PLR0913  (each is something that is drawn, or not)
    data: Data,
    *measures: str | Measure,
    model: str | None = None,
    band: bool = False,
    level: float = 0.95,
    prevalence: float | None = None,
    threshold: Thresholds | None = None,
    policy: Policies | None = None,
    ax: Axes | None = None,
) -> Drawing:
    """Draw measures of the confusion matrix against the threshold.

    Parameters
    ----------
    data
        One model, several by name, or tallies; groups are pooled.
    *measures
        Measures or their names; by default sensitivity, specificity, precision, F1 and the flag rate.
    model
        Name of the model; needed where there are several.
    band
        Whether to draw confidence bands, each threshold by itself.
    level
        Confidence level of the bands.
    prevalence
        Deployment prevalence to reweight to; that of the data by default.
    threshold
        Threshold to mark with a line, or several.
    policy
        Policy to mark with a line; it must have a single threshold.
    ax
        Matplotlib axes to paint on; new ones by default.

    Returns
    -------
    Drawing
        The figure with its numbers.

    Examples
    --------
    >>> from baserate import draw, tally
    >>> drawing = draw.thresholds(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]), "precision")
    >>> [(row["threshold"], row["value"]) for row in drawing.rows()][:4]
    [(inf, None), (0.9, 1.0), (0.8, 1.0), (0.7, 0.6666666666666666)]
    """
    selected = [as_measure(each) for each in measures or _DEFAULT_MEASURES]
    tallies = select_model(data, model)
    if prevalence is not None:
        tallies = reweigh(tallies, to=prevalence)
    parts = {"curve": _tabulate_measures(pool_groups(tallies), selected, band=band, level=level)}
    marks = single_threshold_marks(tabulate_marks(tallies, threshold, policy))
    if len(marks):
        parts["marks"] = add_measures(marks, *(describe(each).name for each in selected))
    whole = all(0 <= end <= 1 for each in selected for end in describe(each).span)
    return make_drawing("thresholds", parts, partial(_paint_thresholds, whole=whole), ax=ax)


def _tabulate_measures(tallies: Tallies, selected: Sequence[Measure], *, band: bool, level: float) -> Results:
    """Tabulate all measures, one below the other."""
    parts = []
    for each in selected:
        name = describe(each).name
        table = tabulate_curve(tallies, each, band=band, level=level, points=_POINTS)
        value = {("value" if key == name else key): column for key, column in table.columns.items()}
        parts.append({"measure": [name] * len(table), **value})
    columns = {name: concatenate([part[name] for part in parts]) for name in parts[0]}
    return Results(columns, table.data)


def _paint_thresholds(ax: Axes, parts: Parts, *, whole: bool) -> None:
    columns = parts["curve"].flat()
    finite = [at for at in columns["threshold"] if isfinite(at)]
    ends = (0.0, 1.0) if min(finite) >= 0 and max(finite) <= 1 else (min(finite), max(finite))
    names = list(dict.fromkeys(columns["measure"]))
    for at, name in enumerate(names):
        there = [place for place, each in enumerate(columns["measure"]) if each == name]
        rows = {key: [column[place] for place in there] for key, column in columns.items()}
        _paint_measure(ax, rows, ends, at, band_label(parts["curve"]) if "low" in rows and at == 0 else "")
    for at, row in enumerate(parts["marks"].rows() if "marks" in parts else ()):
        if isfinite(row["threshold"]):
            ax.axvline(
                row["threshold"],
                color=GRAY,
                linewidth=1,
                linestyle=line_style_at(at + 1),
                label=legend_label(row["name"]),
            )
    if whole:
        set_unit_limits(ax, "y")
    ax.set_xlabel("threshold: scores at or above it are flagged")
    ax.set_ylabel(AXIS_LABELS.get(names[0], measure_label(names[0])) if len(names) == 1 else "value")
    place_legend(ax, None)


def _paint_measure(ax: Axes, rows: Mapping[str, list[Any]], ends: tuple[float, float], at: int, told: str) -> None:
    """Paint a measure, which is constant from each score down to the next, and beyond the last ones."""
    x = [*np.clip(rows["threshold"], *ends), ends[0]]
    y, low, high = (as_gaps([*rows[key], rows[key][-1]]) if key in rows else [] for key in ("value", "low", "high"))
    ax.plot(
        x,
        y,
        color=color_at(at),
        linestyle=line_style_at(at),
        drawstyle="steps-post",
        label=measure_label(rows["measure"][0]),
    )
    if low:
        ax.fill_between(x, low, high, step="post", color=color_at(at), alpha=SHADE, linewidth=0, label=told)
