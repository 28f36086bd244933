"""Decision curves of net benefit, cost curves and Brier curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from baserate._costs import CostsLike, as_costs
from baserate._domains import ShareLike, parse_share, wrong_option
from baserate._errors import OptionError, keyword
from baserate._results import Results
from baserate._tally import Tallies
from baserate.decide import (
    CalibrationPrevalence,
    CostCurveKind,
    Harm,
    cost_curves,
    net_benefit_curve,
    probability_cost,
)
from baserate.draw._data import Data, Series, as_tallies, split_series
from baserate.draw._figure import Drawing, Parts, make_drawing, takes_look
from baserate.draw._layout import FigureOptions, add_legend
from baserate.draw._lines import SINGLE, check_both_classes, legend_label, paint_band, paint_line, plot_values
from baserate.draw._style import (
    GRAY,
    LIGHT_GRAY,
    THIN,
    color_at,
    format_percent,
    label_axes,
    marker_at,
    place_on_axes,
    set_unit_limits,
    show_per_100,
    show_percentages,
)
from baserate.infer import Seed
from baserate.read import accepts_predictions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BELOW = 0.2
"""Extent of the axis below 0, relative to that above: the line of flagging all is unbounded below."""
DecisionCurveKind = Literal["net_benefit", "standardized", "net_reduction"]
BandKind = Literal["pointwise", "simultaneous"]


class _CurveLook(NamedTuple):
    """How a kind of decision curves is drawn: columns of bounds, and the strategies to compare with."""

    low: str
    high: str
    zero: str
    """Strategy whose value is 0."""
    other: str
    """Strategy that the other line is of."""
    axis: str


_KINDS: dict[str, _CurveLook] = {
    "net_benefit": _CurveLook("low", "high", "none", "all", "net_benefit"),
    "standardized": _CurveLook("standardized_low", "standardized_high", "none", "all", "standardized"),
    "net_reduction": _CurveLook("net_reduction_low", "net_reduction_high", "all", "none", "net_reduction"),
}


@takes_look
@accepts_predictions("figure")
def decision_curve(  # noqa: PLR0913  (options by name)
    data: Data,
    *,
    thresholds: npt.ArrayLike | None = None,
    prevalence: ShareLike | None = None,
    sample_prevalence: CalibrationPrevalence = None,
    harm: Harm = None,
    kind: DecisionCurveKind = "net_benefit",
    band: BandKind = "pointwise",
    level: ShareLike | None = 0.95,
    seed: Seed = 0,
    ax: Axes | None = None,
    **predictions: Unpack[FigureOptions],
) -> Drawing:
    """Draw the decision curve: net benefit against the threshold probability, beside flagging all and none.

    Thick lines at the bottom show where a model is better than both. A single model has a confidence band; with
    simultaneous bands, every model has one.

    Parameters
    ----------
    data
        One model, several by name, or tallies with groups; the scores must be probabilities.
    thresholds
        Threshold probabilities; 0.01 to 0.99 by default.
    prevalence
        Deployment prevalence, where it is not that of the data. The legend states the adjustment.
    sample_prevalence
        Prevalence at which the scores are calibrated, as in `decide.net_benefit_curve`.
    harm
        Harm of applying the test, of all models or of each by name, as in `decide.net_benefit_curve`.
    kind
        "net_benefit"; "standardized" for its share of the maximum, the prevalence; "net_reduction" for the
        interventions avoided per 100, compared with flagging all.
    band
        "pointwise" for a band of each threshold by itself, "simultaneous" for bands of all thresholds and all models
        together.
    level
        Confidence level of the band; None for no band.
    seed
        Seed or NumPy generator of simultaneous bands.
    ax
        Matplotlib axes to paint on; new ones by default.

    Returns
    -------
    Drawing
        The figure with its numbers.

    Examples
    --------
    >>> from baserate import draw, tally
    >>> drawing = draw.decision_curve(tally([1, 0, 1, 0, 0], [0.9, 0.6, 0.4, 0.2, 0.1]), thresholds=[0.1, 0.3, 0.5])
    >>> drawing.parts["useful"].rows()
    [{'model': None, 'group': None, 'low': 0.3, 'high': 0.3}]
    """
    _check_choice("kind", kind, tuple(_KINDS))
    _check_choice("band", band, ("pointwise", "simultaneous"))
    options: Any = {"thresholds": thresholds, "prevalence": prevalence, "sample_prevalence": sample_prevalence}
    options |= {"harm": harm, "level": level, "simultaneous": band == "simultaneous", "seed": seed}
    table = net_benefit_curve(as_tallies(data), **options)
    table = replace(table, data={**table.data, "kind": kind})
    parts = {name: _select_strategy(table, name) for name in ("model", "all", "none")}
    useful = [
        {"model": each["model"], "group": each["group"], "low": low, "high": high}
        for each in table.data["useful"]
        for low, high in each["ranges"]
    ]
    columns = {name: [row[name] for row in useful] for name in ("model", "group", "low", "high")}
    return make_drawing("decision_curve", {**parts, "useful": Results(columns)}, _paint_decision_curve, ax=ax)


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise wrong_option(name, value, f"one of {', '.join(map(repr, choices))}")


def _select_strategy(table: Results, name: str) -> Results:
    rows = [at for at, strategy in enumerate(table.columns["strategy"]) if strategy == name]
    return Results({key: [column[at] for at in rows] for key, column in table.columns.items()}, table.data)


def _paint_decision_curve(ax: Axes, parts: Parts) -> None:
    data = parts["model"].data
    look, models = _KINDS[data["kind"]], list(split_series(parts["model"]))
    axes = ("threshold", data["kind"])
    ax.axhline(0, color=LIGHT_GRAY, linewidth=THIN, label=f"Flag {look.zero}")
    _paint_other_strategy(ax, list(split_series(parts[look.other])), axes, look.other)
    with_band = data["level"] is not None and (len(models) == 1 or data["simultaneous"])
    for at, each in enumerate(models if with_band else ()):
        rows = {**each.rows, "low": each.rows[look.low], "high": each.rows[look.high]}
        paint_band(ax, rows, at, "threshold", label="" if at else _band_label(data))
    for at, each in enumerate(models):
        paint_line(ax, each, at, axes, label=legend_label(each.name) or SINGLE, many=len(models))
    low, high = _benefit_limits(parts, look, axes[1], with_band=with_band)
    before = ax.get_ylim() if place_on_axes(0) else (low, high)
    ax.set_ylim(min(low, before[0]), max(high, before[1]))
    _paint_useful_ranges(ax, parts["useful"], models)
    label_axes(ax, "act_from", look.axis)
    show_percentages(ax, "x")
    if axes[1] == "net_reduction":
        show_per_100(ax)
    add_legend(ax, title=_caption(data))


def _band_label(data: Mapping[str, Any]) -> str:
    return f"{format_percent(data['level'])} {'simultaneous band' if data['simultaneous'] else 'CI'}"


def _caption(data: Mapping[str, Any]) -> str | None:
    """State the prevalence, and whether scores were adjusted, above the legend."""
    scores = data["scores"]
    if scores["prevalence"] is None:
        return None
    places = set(scores["prevalence"].values()) if isinstance(scores["prevalence"], Mapping) else {scores["prevalence"]}
    where = f"At {format_percent(places.pop())} prevalence, s" if len(places) == 1 else "S"
    return f"{where}cores {'' if scores['adjusted'] else 'not '}adjusted"


def _benefit_limits(parts: Parts, look: _CurveLook, column: str, *, with_band: bool) -> tuple[float, float]:
    """Return limits from a little below 0 to the highest value."""
    columns = [parts["model"].columns[column], parts[look.other].columns[column]]
    columns += [parts["model"].columns[look.high]] if with_band else []
    # 1 where no net benefit is above 0, so that the axis has a length.
    top = float(np.nanmax(np.concatenate([plot_values(each) for each in columns]), initial=0.0)) or 1.0
    return -_BELOW * top, 1.05 * top


def _paint_other_strategy(ax: Axes, every: Sequence[Series], axes: tuple[str, str], name: str) -> None:
    """Paint one line if it is the same for all models, as on the same rows; otherwise a thin one for each."""
    same = all(each.rows[axes[1]] == every[0].rows[axes[1]] for each in every)
    for at, each in enumerate(every[:1] if same else every):
        look: Any = {"color": GRAY if same else color_at(at), "linestyle": ":", "linewidth": 1.0 if same else THIN}
        paint_line(ax, each, at, axes, label=f"_flag {name}" if at else f"Flag {name}", **look)


def _paint_useful_ranges(ax: Axes, useful: Results, models: Sequence[Series]) -> None:
    """Paint thick lines at the bottom, one above the other."""
    positions = {each.key: at for at, each in enumerate(models)}
    low, high = ax.get_ylim()
    step = (high - low) * min(0.02, 0.12 / place_on_axes(len(models)))
    look: Any = {"linewidth": 2.5, "solid_capstyle": "round"}
    # An empty line gives the ranges of all models one entry in the legend.
    ax.plot([], [], color=color_at(0) if len(models) == 1 else GRAY, label="Better than both", **look)
    for row in useful.rows():
        at = positions[row["model"], str(row["group"])]
        ax.plot([row["low"], row["high"]], [low + step * (place_on_axes(at) + 1)] * 2, color=color_at(at), **look)


_COST_POINTS = 501
"""Evenly spaced points, since bands are curved between the corners."""
_COST_AXES = {"cost": ("probability_cost", "cost"), "brier": ("cost_proportion", "loss")}


@takes_look
@accepts_predictions("figure")
def cost_curve(
    data: Data,
    *,
    costs: CostsLike | None = None,
    prevalence: ShareLike | None = None,
    kind: CostCurveKind = "cost",
    level: ShareLike | None = 0.95,
    ax: Axes | None = None,
    **predictions: Unpack[FigureOptions],
) -> Drawing:
    """Draw the cost curve: least cost of any threshold against the probability cost.

    A single model has a confidence band.

    Parameters
    ----------
    data
        One model, several by name, or tallies with groups.
    costs
        Costs of decisions; with the prevalence, a line marks their place on the curve.
    prevalence
        Deployment prevalence, of the costs or of a Brier curve.
    kind
        "cost", or "brier" for the Brier curve: the loss of flagging at or above the cost proportion, beside that of
        the best threshold. The area under it is the Brier score.
    level
        Confidence level of the band; None for no band.
    ax
        Matplotlib axes to paint on; new ones by default.

    Returns
    -------
    Drawing
        The figure with its numbers.

    Examples
    --------
    >>> from baserate import Costs, draw, tally
    >>> drawing = draw.cost_curve(tally([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]), costs=Costs(fp=1, fn=9), prevalence=0.1)
    >>> drawing.parts["mark"].rows()
    [{'model': None, 'group': None, 'probability_cost': 0.5, 'cost': 0.25}]
    """
    costs, prevalence = as_costs(costs), parse_share(prevalence)
    if costs is not None and kind != "cost":
        raise OptionError(
            "costs apply to cost curves only.", remedy=f"Leave out the costs or {keyword('kind', 'brier')}."
        )
    if costs is not None and prevalence is None:
        raise OptionError(
            "costs need a prevalence to be marked on a cost curve.",
            remedy=f"Add one, such as {keyword('prevalence', 0.02)}.",
        )
    tallies = as_tallies(data)
    if kind == "cost":
        check_both_classes(tallies, "a cost curve")
    reweigh_to = None if costs is not None else prevalence
    parts = {"curve": cost_curves(tallies, kind=kind, prevalence=reweigh_to, points=_COST_POINTS, level=level)}
    if costs is not None and prevalence is not None:
        parts["mark"] = _costs_at_setting(tallies, probability_cost(costs, prevalence), prevalence)
    return make_drawing("cost_curve", parts, _paint_cost_curve, ax=ax)


def _costs_at_setting(tallies: Tallies, place: float, prevalence: float) -> Results:
    """Interpolate the cost of each model at the setting; between its corners the curve is straight."""
    columns: dict[str, list[Any]] = {name: [] for name in ("model", "group", *_COST_AXES["cost"])}
    for each in split_series(cost_curves(tallies, level=None)):
        corners, costs = (plot_values(each.rows[name]) for name in _COST_AXES["cost"])
        row = (each.rows["model"][0], each.rows["group"][0], place, float(np.interp(place, corners, costs)))
        for column, value in zip(columns.values(), row, strict=True):
            column.append(value)
    return Results(columns, {"at": prevalence})


def _paint_cost_curve(ax: Axes, parts: Parts) -> None:
    curve = parts["curve"]
    axes = _COST_AXES[curve.data["kind"]]
    every = list(split_series(curve))
    _paint_cost_references(ax, every, axes)
    level = curve.data["level"]
    if len(every) == 1 and level is not None:
        paint_band(ax, every[0].rows, 0, axes[0], label=f"{format_percent(level)} CI")
    for at, each in enumerate(every):
        single_label = "Best threshold" if axes[1] == "cost" else "Threshold at the cost proportion"
        paint_line(ax, each, at, axes, label=legend_label(each.name) or single_label, many=len(every))
    if "mark" in parts:
        _paint_setting(ax, parts["mark"])
    set_unit_limits(ax, "x", percent=False)
    ax.set_ylim(bottom=0)
    label_axes(ax, *axes)
    add_legend(ax)


def _paint_cost_references(ax: Axes, every: list[Series], axes: tuple[str, str]) -> None:
    """Paint the cost of flagging all or none; of a Brier curve, the loss of the best threshold."""
    if axes[1] == "cost":
        paint_line(
            ax,
            every[0],
            0,
            (axes[0], "trivial"),
            color=LIGHT_GRAY,
            linestyle="-",
            linewidth=THIN,
            label="Flag all or none",
        )
        return
    for at, each in enumerate(every):
        label = "" if at else "Best threshold"
        paint_line(ax, each, at, (axes[0], "least"), linestyle=":", linewidth=THIN, label=label)


def _paint_setting(ax: Axes, mark: Results) -> None:
    """Mark the given costs and prevalence, with a point on each curve."""
    rows = mark.rows()
    label = f"Given costs at {format_percent(mark.data['at'])} prevalence"
    ax.axvline(rows[0]["probability_cost"], color=GRAY, linewidth=THIN, linestyle="--", label=label)
    for at, row in enumerate(rows):
        ax.plot(row["probability_cost"], row["cost"], marker_at(at), color=color_at(at))
