"""ROC, DET, precision–recall, gain and lift curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from baserate._costs import Costs, CostsLike, as_costs
from baserate._curve import Curve
from baserate._domains import ShareLike, parse_share
from baserate._errors import FitError, OptionError, advice, keyword
from baserate._results import Results
from baserate._tally import Tallies, Tally
from baserate.decide import FLAG_ALL, FLAG_NONE, iso_cost, roc_convex_hull
from baserate.draw._data import (
    SAME_PREVALENCE,
    Band,
    CurveRequest,
    FigureData,
    Mixed,
    Policies,
    Thresholds,
    estimate_curves,
    figure_data,
    reference_lines,
    split_series,
    tabulate_parts,
)
from baserate.draw._figure import Drawing, Parts, make_drawing, takes_look
from baserate.draw._layout import FigureOptions, add_legend
from baserate.draw._lines import (
    as_gaps,
    estimate_label,
    estimate_labels,
    legend_label,
    paint_band,
    paint_curves,
    paint_marks,
    paint_points,
    paint_references,
    series_positions,
)
from baserate.draw._style import (
    GRAY,
    LIGHT_GRAY,
    SHADE,
    SMALL_TEXT_SIZE,
    THIN,
    color_at,
    format_percent,
    label_axes,
    line_style_at,
    place_on_axes,
    set_unit_limits,
)
from baserate.infer import smooth_roc_curves
from baserate.measure import TABLES, auc, group_attributes, table, tabulate_groups
from baserate.read import accepts_predictions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROC_AXES = TABLES["roc"]
_SMOOTH_POINTS = 501
_BEHIND = 0.45
"""Opacity of the points' own line behind a smooth one."""
_SAME_AREA = 1e-12
"""Difference up to which areas are equal: the curve is its own hull."""


@takes_look
@accepts_predictions("figure")
def roc(  # noqa: PLR0913  (each is something that is drawn, or not)
    data: Mixed,
    *,
    hull: bool = True,
    band: Band = False,
    level: ShareLike = 0.95,
    costs: CostsLike | None = None,
    prevalence: ShareLike | None = None,
    threshold: Thresholds | None = None,
    policy: Policies | None = None,
    smooth: str | None = None,
    ax: Axes | None = None,
    **predictions: Unpack[FigureOptions],
) -> Drawing:
    """Draw the ROC curve: true positive rate against false positive rate at all thresholds.

    The legend gives the AUC with its confidence interval.

    Parameters
    ----------
    data
        One model, several by name, or tallies with groups. Classifiers that only give labels are points: columns of
        labels, or `Counts`.
    hull
        Whether to draw the convex hull, which mixtures of thresholds attain.
    band
        Whether to draw a confidence band: True for each point by itself, "simultaneous" for the whole curve.
    level
        Confidence level of the AUC and of the band.
    costs
        Costs of decisions; they add the iso-cost line through the cheapest point of all.
    prevalence
        Prevalence of the iso-cost line; that of the data by default.
    threshold
        Threshold to mark, several, or one for each model by name.
    policy
        Policy to mark, or one for each model by name.
    smooth
        Method of a smooth curve over the points, such as "binormal-ml", as in `baserate.infer.smooth_roc`; the band is
        then that of the smooth curve.
    ax
        Matplotlib axes to paint on; new ones by default.

    Returns
    -------
    Drawing
        The figure with its numbers.

    Examples
    --------
    >>> from baserate import Costs, Counts, draw, tally
    >>> risk = tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2])
    >>> drawing = draw.roc({"risk": risk, "rule": Counts(tp=2, fp=1, fn=1, tn=2)}, costs=Costs(fp=1, fn=5))
    >>> list(drawing.parts)
    ['curve', 'points', 'auc', 'hull', 'iso_cost', 'reference']
    >>> drawing.parts["iso_cost"].rows()[1]["threshold"]
    0.6
    """
    level = parse_share(level)
    costs = as_costs(costs)
    prevalence = parse_share(prevalence)
    models = figure_data(data, "a ROC curve")
    own_band = band if smooth is None else False
    parts = tabulate_parts(models, CurveRequest("roc", own_band, level, threshold, policy)) | estimate_curves(
        models, "auc", level
    )
    if smooth is not None:
        parts["smooth"] = _tabulate_smooth_curves(models, smooth, band, level)
    if hull and smooth is None and models.scored is not None and len(hulls := _tabulate_hulls(models.scored)):
        parts["hull"] = hulls
    if costs is not None:
        parts["iso_cost"] = _tabulate_iso_cost(models, costs, prevalence)
    elif prevalence is not None:
        raise OptionError(
            "the ROC curve does not depend on the prevalence",
            remedy=advice("costs beside prevalence", "give costs= as well, or leave prevalence= out."),
        )
    parts["reference"] = reference_lines(
        chance={"fpr": [0.0, 1.0], "sensitivity": [0.0, 1.0]},
        perfect={"fpr": [0.0, 0.0, 1.0], "sensitivity": [0.0, 1.0, 1.0]},
    )
    return make_drawing("roc", parts, _paint_roc, ax=ax, ratio=1)


def _tabulate_smooth_curves(data: FigureData, method: str, band: Band, level: float) -> Results:
    """Tabulate smooth curves, with bounds if a band is asked for."""
    if data.scored is None:
        raise OptionError("labels have no smooth ROC curve.", remedy=f"Leave {keyword('smooth')} out, or pass scores.")
    if band == "simultaneous":
        raise OptionError("smooth ROC curves have pointwise bands only", remedy="give band=True.")
    results = smooth_roc_curves(data.scored, method=method, level=level, points=_SMOOTH_POINTS)
    areas = [fit["auc"] for fit in results.data["fits"]]
    if all(each["value"] is None for each in areas):
        raise FitError(areas[0]["why"])
    if band:
        return results
    columns = {name: column for name, column in results.columns.items() if name not in ("low", "high")}
    return replace(results, columns=columns)


def _tabulate_hulls(tallies: Tallies) -> Results:
    """Tabulate the hulls of those curves that lie below theirs somewhere."""

    def columns(tally: Tally) -> Mapping[str, Any]:
        curve = Curve(tally)
        top = curve.hull()
        columns_of_hull = table(top, "roc")
        differs = auc(top) - auc(curve) > _SAME_AREA  # False where the AUC is NaN
        return columns_of_hull if differs else {name: column[:0] for name, column in columns_of_hull.items()}

    return Results(tabulate_groups(tallies, columns))


def _tabulate_iso_cost(data: FigureData, costs: Costs, prevalence: float | None) -> Results:
    """Tabulate the iso-cost line through the cheapest point: its entry into the square, that point and its exit."""
    at = data.prevalence if prevalence is None else prevalence
    if at is None:
        raise OptionError(
            "the models have different prevalences, so costs need the deployment prevalence.",
            remedy=f"Add it, for example {keyword('prevalence', 0.1)}.",
        )
    best = roc_convex_hull(data.curves).at(costs, at)
    line = iso_cost(costs, at, through=(best.fpr, best.tpr))
    # Where the line crosses sensitivities of 0 and 1, or else the sides of the unit square.
    left = 0.0 if line.slope == 0 else max(0.0, -line.intercept / line.slope)
    right = 1.0 if line.slope == 0 else min(1.0, (1 - line.intercept) / line.slope)
    x = np.array([left, best.fpr, right])
    labels = data.labels is not None and best.classifier in data.labels.models
    best_point = {
        "classifier": best.classifier,
        "threshold": None if labels else best.threshold,
        "cost": line.cost,
        "slope": line.slope,
        "prevalence": at,
    }
    return Results({"fpr": x, "sensitivity": line.tpr(x), **{name: [value] * 3 for name, value in best_point.items()}})


def _paint_roc(ax: Axes, parts: Parts) -> None:
    if "smooth" in parts:
        _paint_smooth_curves(ax, parts)
    else:
        paint_curves(ax, parts, _ROC_AXES, details=estimate_labels(parts, "auc", "AUC"))
    if "hull" in parts:
        _paint_hulls(ax, parts)
    paint_points(ax, parts, _ROC_AXES)
    if "iso_cost" in parts:
        rows = parts["iso_cost"].rows()
        x, y = ([row[name] for row in rows] for name in _ROC_AXES)
        ax.plot(
            x,
            y,
            color=GRAY,
            linestyle="--",
            linewidth=THIN,
            marker="*",
            markersize=8,
            markevery=[1],
            label=_iso_cost_label(rows[0]),
        )
    paint_marks(ax, parts, _ROC_AXES)
    paint_references(ax, parts, _ROC_AXES)
    set_unit_limits(ax)
    ax.set_aspect("equal", anchor="NW")  # beside the titles of the axes
    label_axes(ax, "one_minus_specificity", "sensitivity")
    add_legend(ax)


def _paint_smooth_curves(ax: Axes, parts: Parts) -> None:
    """Paint the smooth curve of every series over its points, with the band and its own AUC."""
    table, positions = parts["smooth"], series_positions(parts)
    empirical, details = list(split_series(parts["curve"])), estimate_labels(parts, "auc", "empirical, AUC")
    for at, each in enumerate(empirical):
        # Of several curves, the legend has the smooth ones alone: it would be longer than the figure.
        label = details[each.key] if len(empirical) == 1 else "Empirical curves" if at == 0 else ""
        x, y = (as_gaps(each.rows[name]) for name in _ROC_AXES)
        ax.plot(x, y, color=color_at(at), linewidth=THIN, alpha=_BEHIND, label=label, zorder=3)
    areas = {(fit["model"], str(fit["group"])): fit["auc"] for fit in table.data["fits"]}
    for order, each in enumerate(split_series(table)):
        at = positions[each.key]
        label = legend_label(each.name, f"smooth ({table.data['method']}), {estimate_label(areas[each.key], 'AUC')}")
        rows = each.rows
        if "low" in rows:
            text = f"{format_percent(table.data['level'])} confidence band, pointwise"
            paint_band(ax, rows, at, "fpr", label="" if order else text)
        # All curves begin at the origin, though some leave it straight up.
        x, y = ([0.0, *as_gaps(rows[name])] for name in _ROC_AXES)
        ax.plot(x, y, color=color_at(at), linestyle=line_style_at(at), label=label, zorder=3.5)


def _paint_hulls(ax: Axes, parts: Parts) -> None:
    """Shade the area between curves and their hulls."""
    positions, curves = series_positions(parts), {each.key: each.rows for each in split_series(parts["curve"])}
    for order, each in enumerate(split_series(parts["hull"])):
        (x, y), under = (as_gaps(each.rows[name]) for name in _ROC_AXES), curves[each.key]
        shade = color_at(positions[each.key])
        ax.fill([*x, *under["fpr"][::-1]], [*y, *under["sensitivity"][::-1]], color=shade, alpha=SHADE / 2, linewidth=0)
        ax.plot(x, y, ":", color=shade, linewidth=THIN, label="" if order else "Convex hull", zorder=2)


def _iso_cost_label(row: Mapping[str, Any]) -> str:
    decision = {FLAG_NONE: "flag nobody", FLAG_ALL: "flag everybody"}.get(row["classifier"], row["classifier"])
    where = "" if row["threshold"] is None or decision != row["classifier"] else f" at {row['threshold']:.4g}"
    return legend_label(f"Iso-cost line, {row['cost']:.4g} per person: {decision}{where}")


_DET_AXES = TABLES["det"]
_DET_TICKS = (0.0001, 0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999, 0.9999)
_DET_ENDS = (0.00002, 0.99998)
"""Widest limits of an axis, since rates of 0 and 1 have no normal deviate."""

_DET_GAPS = {"x": 28, "y": 11}
"""Least distances of ticks, in points."""
_DET_LENGTH = 150
"""Points of an axis in the narrowest column, for which the ticks are chosen."""


@takes_look
@accepts_predictions("figure")
def det(
    data: Mixed,
    *,
    band: bool = False,
    level: ShareLike = 0.95,
    threshold: Thresholds | None = None,
    policy: Policies | None = None,
    ax: Axes | None = None,
    **predictions: Unpack[FigureOptions],
) -> Drawing:
    """Draw the detection error tradeoff (DET) curve: false negative rate against false positive rate.

    Both axes have normal deviate (probit) scales, on which normally distributed scores give straight lines.

    Parameters
    ----------
    data
        Models as in `roc`.
    band
        Whether to draw a confidence band.
    level
        Confidence level of the band.
    threshold
        Threshold to mark, several, or one for each model by name.
    policy
        Policy to mark, or one for each model by name.
    ax
        Matplotlib axes to paint on; new ones by default.

    Returns
    -------
    Drawing
        The figure with its numbers.

    Examples
    --------
    >>> from baserate import draw, tally
    >>> drawing = draw.det(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> [(round(row["fpr"], 2), round(row["fnr"], 2)) for row in drawing.parts["curve"].rows()][1:4]
    [(0.0, 0.67), (0.0, 0.33), (0.33, 0.33)]
    """
    level = parse_share(level)
    parts = tabulate_parts(figure_data(data, "a DET curve"), CurveRequest("det", band, level, threshold, policy))
    chance = np.linspace(*_DET_ENDS, 101)
    parts["reference"] = reference_lines(chance={"fpr": chance.tolist(), "fnr": (1 - chance).tolist()})
    return make_drawing("det", parts, _paint_det, ax=ax, ratio=1)


def _paint_det(ax: Axes, parts: Parts) -> None:
    limits = {name: _det_limits(parts, name) for name in _DET_AXES}
    for side, name in zip("xy", _DET_AXES, strict=True):
        if place_on_axes(0):  # the limits of an earlier figure on the axes
            low, high = ax.get_xlim() if side == "x" else ax.get_ylim()
            limits[name] = min(low, limits[name][0]), max(high, limits[name][1])
        _set_probit_scale(ax, side, limits[name])
    for paint in (paint_curves, paint_points, paint_marks, paint_references):
        paint(ax, parts, _DET_AXES)
    ax.set_xlim(limits["fpr"])
    ax.set_ylim(limits["fnr"])
    label_axes(ax, *_DET_AXES)
    add_legend(ax)


def _det_limits(parts: Parts, name: str) -> tuple[float, float]:
    """Return limits that show every rate but 0 and 1, which have no place on the axis."""
    tables = [parts[each].columns[name] for each in ("curve", "points", "marks") if each in parts]
    rates = np.concatenate([np.asarray(column, dtype=np.float64) for column in tables])
    inner = rates[(rates > 0) & (rates < 1)]
    low, high = (inner.min(), inner.max()) if len(inner) else (0.01, 0.99)
    return max(_DET_ENDS[0], min(low / 2, 0.2)), min(_DET_ENDS[1], max(1 - (1 - high) / 2, 0.8))


def _set_probit_scale(ax: Axes, side: str, limits: tuple[float, float]) -> None:
    from scipy.special import ndtr, ndtri

    def probit(rates: Any) -> Any:  # noqa: ANN401  (an array of matplotlib)
        return ndtri(np.clip(rates, *_DET_ENDS))

    (ax.set_xscale if side == "x" else ax.set_yscale)("function", functions=(probit, ndtr))
    low, high = probit(limits)
    ticks: list[float] = []
    for at in (each for each in _DET_TICKS if limits[0] <= each <= limits[1]):
        if not ticks or probit(at) - probit(ticks[-1]) >= _DET_GAPS[side] / _DET_LENGTH * (high - low):
            ticks.append(at)
    (ax.set_xticks if side == "x" else ax.set_yticks)(ticks, [f"{100 * at:g}%" for at in ticks])


_PR_AXES = TABLES["pr"]
_F1 = (0.2, 0.4, 0.6, 0.8)


@takes_look
@accepts_predictions("figure")
def pr(  # noqa: PLR0913  (each is something that is drawn, or not)
    data: Mixed,
    *,
    iso_f1: bool = True,
    band: bool = False,
    level: ShareLike = 0.95,
    prevalence: ShareLike | None = None,
    threshold: Thresholds | None = None,
    policy: Policies | None = None,
    ax: Axes | None = None,
    **predictions: Unpack[FigureOptions],
) -> Drawing:
    """Draw the precision–recall curve.

    The curve is a staircase, whose steps average precision adds up. The legend gives the average precision with its
    confidence interval. Lines of constant F1, and the prevalence as the precision of random flagging, are in the
    background.

    Parameters
    ----------
    data
        Models as in `roc`.
    iso_f1
        Whether to draw lines of constant F1.
    band
        Whether to draw a confidence band.
    level
        Confidence level of the average precision and of the band.
    prevalence
        Deployment prevalence to reweight to, since precision depends on it; that of the data by default.
    threshold
        Threshold to mark, several, or one for each model by name.
    policy
        Policy to mark, or one for each model by name.
    ax
        Matplotlib axes to paint on; new ones by default.

    Returns
    -------
    Drawing
        The figure with its numbers.

    Examples
    --------
    >>> from baserate import draw, tally
    >>> risk = tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2])
    >>> round(draw.pr(risk, prevalence=0.1).parts["prevalence"].rows()[0]["precision"], 6)
    0.1
    """
    level, prevalence = parse_share(level), parse_share(prevalence)
    models = figure_data(data, "a precision–recall curve", prevalence=prevalence)
    parts = tabulate_parts(models, CurveRequest("pr", band, level, threshold, policy)) | estimate_curves(
        models, "average_precision", level
    )
    parts["prevalence"] = _tabulate_prevalences(models)
    if iso_f1:
        parts["iso_f1"] = _tabulate_iso_f1()
    return make_drawing("pr", parts, _paint_pr, ax=ax, ratio=1)


def _tabulate_prevalences(data: FigureData) -> Results:
    """Tabulate the prevalence of each series, which is the precision of flagging at random."""
    tallies = next(each for each in data if each is not None)
    several = len(tallies.models) > 1
    rows = [
        (model if several else None, group_attributes(tallies, group), tally.prevalence)
        for model, group, tally in tallies.walk()
    ]
    model, group, share = (list(column) for column in zip(*rows, strict=True))
    return Results({"model": model, "group": group, "precision": share})


def _tabulate_iso_f1() -> Results:
    """Tabulate precisions of constant F1, :math:`F·R/(2R-F)`, where they are at most 1."""
    recall = np.concatenate([np.linspace(f1 / (2 - f1), 1.0, 60) for f1 in _F1])  # from where the precision is 1
    f1 = np.repeat(_F1, 60)
    return Results({"f1": f1, "sensitivity": recall, "precision": f1 * recall / (2 * recall - f1)})


def _paint_pr(ax: Axes, parts: Parts) -> None:
    if "iso_f1" in parts:
        _paint_iso_f1(ax, parts)
    paint_curves(ax, parts, _PR_AXES, details=estimate_labels(parts, "average_precision", "AP"), step="pre")
    paint_points(ax, parts, _PR_AXES)
    paint_marks(ax, parts, _PR_AXES)
    _paint_prevalences(ax, parts)
    set_unit_limits(ax)
    label_axes(ax, "recall", _PR_AXES[1])
    add_legend(ax)


def _paint_iso_f1(ax: Axes, parts: Parts) -> None:
    rows = parts["iso_f1"].rows()
    for f1 in dict.fromkeys(row["f1"] for row in rows):
        x, y = ([row[name] for row in rows if row["f1"] == f1] for name in _PR_AXES)
        ax.plot(x, y, color=LIGHT_GRAY, linewidth=0.5, alpha=0.7, zorder=1)
        ax.annotate(
            f"F1 {f1:g}",
            (1.02, y[-1]),
            (2, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL_TEXT_SIZE,
            color=GRAY,
        )


def _paint_prevalences(ax: Axes, parts: Parts) -> None:
    """Paint one line if all prevalences are the same, otherwise one per series in its color."""
    if "prevalence" not in parts:
        return
    rows, positions = parts["prevalence"].rows(), series_positions(parts)
    shares = {row["precision"] for row in rows}
    if max(shares) - min(shares) <= SAME_PREVALENCE:
        ax.axhline(
            rows[0]["precision"],
            color=GRAY,
            linewidth=THIN,
            linestyle=":",
            zorder=2,
            label=f"Chance: prevalence {format_percent(rows[0]['precision'])}",
        )
        return
    for at, row in enumerate(rows):
        shade = color_at(positions.get((row["model"], str(row["group"])), at))
        label = "" if at else "Chance: prevalence of each"
        ax.axhline(row["precision"], color=shade, linewidth=THIN, linestyle=":", zorder=2, label=label)


@takes_look
@accepts_predictions("figure")
def gain(
    data: Mixed,
    *,
    band: bool = False,
    level: ShareLike = 0.95,
    threshold: Thresholds | None = None,
    policy: Policies | None = None,
    ax: Axes | None = None,
    **predictions: Unpack[FigureOptions],
) -> Drawing:
    """Draw the cumulative gain curve (CAP): sensitivity against the share of all who are flagged.

    Parameters
    ----------
    data
        Models as in `roc`.
    band
        Whether to draw a confidence band.
    level
        Confidence level of the band.
    threshold
        Threshold to mark, several, or one for each model by name.
    policy
        Policy to mark, or one for each model by name.
    ax
        Matplotlib axes to paint on; new ones by default.

    Returns
    -------
    Drawing
        The figure with its numbers.

    Examples
    --------
    >>> from baserate import draw, tally
    >>> drawing = draw.gain(tally([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]))
    >>> drawing
    Drawing(gain: 5 rows of curve, 5 rows of reference)
    >>> drawing.rows()[1]["sensitivity"]
    0.5
    """
    level = parse_share(level)
    models = figure_data(data, "a gain curve")
    parts = tabulate_parts(models, CurveRequest("gain", band, level, threshold, policy))
    compare = {"chance": {"flag_rate": [0.0, 1.0], "sensitivity": [0.0, 1.0]}}
    if models.prevalence is not None:
        compare["perfect"] = {"flag_rate": [0.0, models.prevalence, 1.0], "sensitivity": [0.0, 1.0, 1.0]}
    parts["reference"] = reference_lines(**compare)
    return make_drawing("gain", parts, _paint_gain, ax=ax)


@takes_look
@accepts_predictions("figure")
def lift(
    data: Mixed,
    *,
    band: bool = False,
    level: ShareLike = 0.95,
    threshold: Thresholds | None = None,
    policy: Policies | None = None,
    ax: Axes | None = None,
    **predictions: Unpack[FigureOptions],
) -> Drawing:
    """Draw the lift curve: precision relative to the prevalence against the share of all who are flagged.

    Parameters
    ----------
    data
        Models as in `roc`.
    band
        Whether to draw a confidence band.
    level
        Confidence level of the band.
    threshold
        Threshold to mark, several, or one for each model by name.
    policy
        Policy to mark, or one for each model by name.
    ax
        Matplotlib axes to paint on; new ones by default.

    Returns
    -------
    Drawing
        The figure with its numbers.

    Examples
    --------
    >>> from baserate import draw, tally
    >>> draw.lift(tally([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1])).rows()[1]["lift"]
    2.0
    """
    level = parse_share(level)
    parts = tabulate_parts(figure_data(data, "a lift curve"), CurveRequest("lift", band, level, threshold, policy))
    parts["reference"] = reference_lines(chance={"flag_rate": [0.0, 1.0], "lift": [1.0, 1.0]})
    return make_drawing("lift", parts, _paint_lift, ax=ax)


def _paint_gain(ax: Axes, parts: Parts) -> None:
    _paint_gain_curves(ax, parts, "gain")
    set_unit_limits(ax)
    add_legend(ax)


def _paint_lift(ax: Axes, parts: Parts) -> None:
    _paint_gain_curves(ax, parts, "lift")
    set_unit_limits(ax, "x")
    ax.set_ylim(bottom=0)
    add_legend(ax)


def _paint_gain_curves(ax: Axes, parts: Parts, what: str) -> None:
    axes = TABLES[what]
    for paint in (paint_curves, paint_points, paint_marks, paint_references):
        paint(ax, parts, axes)
    label_axes(ax, *axes)
