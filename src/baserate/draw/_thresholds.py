"""Score distributions of both classes, and measures against the threshold and against the prevalence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise
from math import ceil, isfinite, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._domains import BINS, ShareLike, check_domain, parse_share
from baserate._errors import OptionError, keyword
from baserate._results import Results
from baserate._tally import Tallies, Tally
from baserate.draw._data import (
    Data,
    Mixed,
    Policies,
    Series,
    Thresholds,
    add_measures,
    pool_groups,
    select_model,
    single_threshold_marks,
    split_labels,
    split_series,
    tabulate_curve,
    tabulate_marks,
)
from baserate.draw._figure import Drawing, Parts, make_drawing, takes_look
from baserate.draw._layout import FigureOptions, add_legend
from baserate.draw._lines import (
    as_gaps,
    band_label,
    check_both_classes,
    legend_label,
    paint_band,
    paint_line,
    plot_values,
)
from baserate.draw._style import (
    GRAY,
    LIGHT_GRAY,
    NEGATIVE,
    POSITIVE,
    SHADE,
    THIN,
    capitalize_first,
    color_at,
    format_percent,
    format_rate,
    label_axes,
    line_style_at,
    marker_at,
    measure_title,
    separate_thousands,
    set_log_axis,
    set_unit_limits,
    show_percentages,
    sparse_markers,
)
from baserate.measure import Measure, as_measure, concatenate, describe, inner_edges, results_data, widen_range
from baserate.read import accepts_predictions
from baserate.shift import check_prevalence, prevalence_curve, prevalence_grid, reweigh

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEAST_BINS, _MOST_BINS = 10, 40
_LOOK: dict[str, Any] = {
    "positives": {"color": POSITIVE, "linestyle": "-", "hatch": "////"},
    "negatives": {"color": NEGATIVE, "linestyle": "--", "hatch": None},
}
"""Styles of the classes, which differ by hatching and line style, too."""


@takes_look
@accepts_predictions("figure")
def scores(
    data: Data,
    *,
    model: str | None = None,
    bins: int | None = None,
    threshold: Thresholds | None = None,
    policy: Policies | None = None,
    ax: Axes | None = None,
    **predictions: Unpack[FigureOptions],
) -> Drawing:
    """Draw the score distributions of both classes: the share of each class in bins.

    There is an edge of a bin at every threshold, so the bins above it contain the flagged rows. The legend gives their
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
        return min(_MOST_BINS, max(_LEAST_BINS, ceil(sqrt(tally.rows.sum(dtype=np.int64)))))
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
    # NumPy's bins contain their lower edge; only the last one contains its upper edge as well.
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
        label = f"{capitalize_first(name)} (n = {many:,.0f})"
        fill: Any = {"facecolor": (shade, 0.25), "edgecolor": (shade, 0.6), "hatch": hatch, "linewidth": 0}
        ax.stairs(heights, edges, fill=True, label=label, **fill)
        ax.stairs(heights, edges, color=shade, linestyle=look["linestyle"], linewidth=1.2)
    for at, row in enumerate(parts["marks"].rows() if "marks" in parts else ()):
        if isfinite(row["threshold"]):
            dash = line_style_at(at)
            ax.axvline(row["threshold"], color="black", linestyle=dash, linewidth=THIN, label=_mark_label(row))
    ax.set_ylim(bottom=0)
    show_percentages(ax, "y")
    separate_thousands(ax)
    label_axes(ax, "Score", "Share of the class per bin")
    add_legend(ax)


def _mark_label(row: dict[str, Any]) -> str:
    rates = [
        f"{term} {format_rate(row[name])}"
        for name, term in (("sensitivity", "sensitivity"), ("fpr", "FPR"))
        if row[name] is not None
    ]
    return legend_label(f"{capitalize_first(row['name'])}: {', '.join(rates)}")


_DEFAULT_MEASURES = ("sensitivity", "specificity", "precision", "f1", "flag_rate")
_POINTS = 300
"""Points of each line, which is a staircase."""


@takes_look
@accepts_predictions("figure")
def thresholds(  # noqa: PLR0913  (each is something that is drawn, or not)
    data: Data,
    *measures: str | Measure,
    model: str | None = None,
    band: bool = False,
    level: ShareLike = 0.95,
    prevalence: ShareLike | None = None,
    threshold: Thresholds | None = None,
    policy: Policies | None = None,
    ax: Axes | None = None,
    **predictions: Unpack[FigureOptions],
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
    level, prevalence = parse_share(level), parse_share(prevalence)
    selected = [as_measure(each) for each in measures or _DEFAULT_MEASURES]
    tallies = select_model(data, model)
    if prevalence is not None:
        tallies = reweigh(tallies, prevalence=prevalence)
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
        places = [place for place, each in enumerate(columns["measure"]) if each == name]
        rows = {key: [column[place] for place in places] for key, column in columns.items()}
        _paint_measure(ax, rows, ends, at, sparse_markers(at, len(names), as_gaps(rows["value"])))
    if "low" in columns:
        ax.collections[-len(names)].set_label(band_label(parts["curve"]))  # one entry for the bands of all measures
    for at, row in enumerate(parts["marks"].rows() if "marks" in parts else ()):
        if isfinite(row["threshold"]):
            ax.axvline(
                row["threshold"],
                color=GRAY,
                linewidth=THIN,
                linestyle=line_style_at(at + 1),
                label=legend_label(capitalize_first(row["name"])),
            )
    if whole:
        set_unit_limits(ax, "y")
    separate_thousands(ax)
    label_axes(ax, "Threshold", names[0] if len(names) == 1 else "Value")
    add_legend(ax)


def _paint_measure(
    ax: Axes, rows: Mapping[str, list[Any]], ends: tuple[float, float], at: int, signs: Mapping[str, Any]
) -> None:
    """Paint a measure, which is constant from each score down to the next, and beyond the last ones."""
    x = [*np.clip(rows["threshold"], *ends), ends[0]]  # the threshold +inf becomes the right end
    y, low, high = (as_gaps([*rows[key], rows[key][-1]]) if key in rows else [] for key in ("value", "low", "high"))
    ax.plot(
        x,
        y,
        color=color_at(at),
        linestyle=line_style_at(at),
        drawstyle="steps-post",
        label=measure_title(rows["measure"][0]),
        **signs,
    )
    if low:
        ax.fill_between(x, low, high, step="post", color=color_at(at), alpha=SHADE, linewidth=0)


_PREDICTIVE_VALUES = {"npv", "precision"}
_BEYOND = 50
"""Points between the usual prevalences and a mark beyond them."""


@takes_look
@accepts_predictions("figure")
def prevalence(  # noqa: PLR0913  (each is something that is drawn, or not)
    data: Mixed,
    *,
    threshold: float | Mapping[str, float] | None = None,
    measures: Iterable[str | Measure] = ("precision", "npv"),
    prevalence: ShareLike | None = None,
    log: bool = True,
    level: ShareLike = 0.95,
    ax: Axes | None = None,
    **predictions: Unpack[FigureOptions],
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
    prevalence
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
    >>> drawing = draw.prevalence(Counts(tp=99, fn=1, fp=1, tn=99), prevalence=0.02)
    >>> [(row["prevalence"], row["measure"], round(row["value"], 3)) for row in drawing.parts["marks"].rows()]
    [(0.5, 'precision', 0.99), (0.02, 'precision', 0.669), (0.5, 'npv', 0.99), (0.02, 'npv', 1.0)]
    """
    level, prevalence = parse_share(level), parse_share(prevalence)
    if prevalence is not None:
        check_prevalence("prevalence", prevalence)
    models = _models_and_thresholds(data, threshold)
    first, (first_tallies, _) = next(iter(models.items()))
    options = {"measures": list(measures), "level": level}
    marked = {"sample": first_tallies.pooled(first).prevalence} | (
        {} if prevalence is None else {"deployment": prevalence}
    )
    places = list(marked.values())
    parts = {
        "curve": _tabulate_models(models, prevalences=_prevalence_grid(places), **options),
        "marks": _name_marks(marked, _tabulate_models(models, prevalences=places, **options)),
    }
    return make_drawing("prevalence", parts, partial(_paint_prevalence, log=log), ax=ax)


def _models_and_thresholds(
    data: Mixed, threshold: float | Mapping[str, float] | None
) -> dict[str, tuple[Tallies, float | None]]:
    """Return each model by itself with its threshold; None for labels, which are decisions."""
    scored, labels = split_labels(data)
    if scored is None and threshold is not None:
        raise OptionError(
            f"{keyword('threshold', threshold)} does not apply to labels, which are decisions.",
            remedy="Leave it out.",
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
        raise OptionError(
            f"the model {model} has no threshold.", remedy="Give one for each model, or one number for all."
        )
    return threshold[model]


def _tabulate_models(models: Mapping[str, tuple[Tallies, float | None]], **options: Any) -> Results:  # noqa: ANN401
    """Tabulate every model at its own threshold."""
    parts = []
    for model, (single, cut) in models.items():
        table = prevalence_curve(single, threshold=cut, **options)
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
            label = "" if at else f"{format_percent(curve.data['level'])} CI"
            paint_band(ax, line.each.rows, hue, "prevalence", label=label)
        look: Any = {"linestyle": line_style_at(line.measure), "many": 0 if is_single else len(lines)}
        paint_line(ax, line.each, hue, ("prevalence", "value"), **look)
        paint_line(ax, dots.each, hue, ("prevalence", "value"), linestyle="", marker=marker_at(hue), label="")
    if log:
        set_log_axis(ax, "x", format_percent)
    else:
        show_percentages(ax, "x")
    names = list(dict.fromkeys(curve.columns["measure"]))
    both = "Predictive value" if set(names) <= _PREDICTIVE_VALUES else "Value"
    label_axes(ax, "prevalence", names[0] if len(names) == 1 else both)
    _limit_values(ax, curve)
    add_legend(ax)


class _Line(NamedTuple):
    """One measure of one series: its rows, the index of the series, and that of the measure."""

    each: Series
    place: int
    measure: int


def _split_lines(table: Results) -> Iterator[_Line]:
    for place, each in enumerate(split_series(table)):
        measures = each.rows["measure"]
        for at, name in enumerate(dict.fromkeys(measures)):
            places = [row for row, measure in enumerate(measures) if measure == name]
            rows = {key: [column[row] for row in places] for key, column in each.rows.items()}
            yield _Line(Series(_line_name(each.name, name, alone=len(places) == len(measures)), rows), place, at)


def _line_name(series: str, measure: str, *, alone: bool) -> str:
    """Name a line by what differs from the others."""
    if not series:
        return measure_title(measure)
    return series if alone else f"{series}, {measure_title(measure)}"


def _paint_verticals(ax: Axes, marks: Results) -> None:
    """Mark the prevalence of the data, and that of deployment."""
    looks = {"sample": (LIGHT_GRAY, ":"), "deployment": (GRAY, "--")}
    for name, share in dict(zip(marks.columns["mark"], marks.columns["prevalence"], strict=True)).items():
        color, dash = looks[name]
        label = f"{capitalize_first(name)}: {format_percent(share)}"
        ax.axvline(share, color=color, linestyle=dash, linewidth=THIN, label=label)


def _limit_values(ax: Axes, curve: Results) -> None:
    """Limit shares to 0 to 1; keep the limits of other measures."""
    values = plot_values(curve.columns["value"])
    if np.nanmin(values) >= 0 and np.nanmax(values) <= 1:
        set_unit_limits(ax, "y")
