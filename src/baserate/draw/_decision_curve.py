"""Decision curves: what a model is worth to those who would act from some probability on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from baserate._results import Results
from baserate.decide import Origin, benefit
from baserate.draw._data import Data, Series, as_tallies, series
from baserate.draw._drawing import Drawing, Parts, drawn
from baserate.draw._strokes import heights, roomy, shade, stroke, told
from baserate.draw._style import FAINT, GREY, colour, name_axes, named, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BELOW = 0.2
"""How far below 0 the axis goes, in heights above it: flagging all falls without end."""


def decision_curve(
    data: Data,
    *,
    thresholds: npt.ArrayLike | None = None,
    prevalence: float | None = None,
    scores_from: Origin = "sample",
    level: float | None = 0.95,
    ax: Axes | None = None,
) -> Drawing:
    """Draw net benefit against the probability from which on one would act, beside flagging all and flagging none.

    Thick lines at the bottom tell where a model is worth more than both. Without `thresholds` they run from 0.01 to
    0.99. State the deployment `prevalence` where it is not that of the rows: scores are then adjusted to it from
    `scores_from`, as in `decide.benefit`, and the legend says so. A single model has a band of confidence `level`.

    >>> from baserate import draw, tally
    >>> made = draw.decision_curve(tally([1, 0, 1, 0, 0], [0.9, 0.6, 0.4, 0.2, 0.1]), thresholds=[0.1, 0.3, 0.5])
    >>> made.parts["useful"].rows()
    [{'model': None, 'group': None, 'low': 0.3, 'high': 0.3}]
    """
    asked: Any = {"thresholds": thresholds, "prevalence": prevalence, "scores_from": scores_from}
    found = benefit(as_tallies(data), **asked, level=level)
    parts = {name: _of_strategy(found, name) for name in ("model", "all", "none")}
    useful = [
        {"model": each["model"], "group": each["group"], "low": low, "high": high}
        for each in found.data["useful"]
        for low, high in each["ranges"]
    ]
    columns = {name: [row[name] for row in useful] for name in ("model", "group", "low", "high")}
    return drawn(
        "decision_curve", {**parts, "useful": Results(columns)}, _decision_curve, ax=ax, size=roomy(parts["model"])
    )


def _of_strategy(found: Results, name: str) -> Results:
    there = [at for at, strategy in enumerate(found.columns["strategy"]) if strategy == name]
    return Results({key: [column[at] for at in there] for key, column in found.columns.items()}, found.data)


def _decision_curve(ax: Axes, parts: Parts) -> None:
    models = list(series(parts["model"]))
    axes = ("threshold", "net_benefit")
    ax.axhline(0, color=FAINT, linewidth=1, label="flag none")
    _flag_all(ax, list(series(parts["all"])), axes)
    level = parts["model"].data["level"]
    if len(models) == 1 and level is not None:
        shade(ax, models[0].rows, 0, "threshold", label=f"{percent(level)} interval")
    for at, each in enumerate(models):
        stroke(ax, each, at, axes, label=named(each.name) or "flag by the model")
    ax.set_ylim(*_ends(parts, doubted=len(models) == 1))
    _useful(ax, parts["useful"], models)
    name_axes(ax, "act_from", "net_benefit")
    told(ax, len(models))
    _caption(ax, parts["model"].data)


def _caption(ax: Axes, data: Mapping[str, Any]) -> None:
    """Say above the legend at which prevalence it is, and whether scores were adjusted."""
    legend, scores = ax.get_legend(), data["scores"]
    if legend is None or scores["to"] is None:
        return
    places = set(scores["to"].values()) if isinstance(scores["to"], Mapping) else {scores["to"]}
    where = f"at {percent(places.pop())} prevalence, " if len(places) == 1 else ""
    legend.set_title(f"{where}scores {'' if scores['adjusted'] else 'not '}adjusted")
    legend.set_alignment("left")


def _ends(parts: Parts, *, doubted: bool) -> tuple[float, float]:
    """From a little below 0 to the highest that is drawn."""
    shown = [parts["model"].columns["net_benefit"], parts["all"].columns["net_benefit"]]
    shown += [parts["model"].columns["high"]] if doubted else []
    top = float(np.nanmax(np.concatenate([heights(column) for column in shown]), initial=0.0)) or 1.0
    return -_BELOW * top, 1.05 * top


def _flag_all(ax: Axes, every: Sequence[Series], axes: tuple[str, str]) -> None:
    """One line if it is the same for all, as it is for models of the same rows; otherwise a thin one for each."""
    same = all(each.rows["net_benefit"] == every[0].rows["net_benefit"] for each in every)
    for at, each in enumerate(every[:1] if same else every):
        look: Any = {"color": GREY if same else colour(at), "linestyle": ":", "linewidth": 1.2 if same else 0.9}
        stroke(ax, each, at, axes, label="" if at else "flag all", **look)


def _useful(ax: Axes, useful: Results, models: Sequence[Series]) -> None:
    """Thick lines at the bottom, one above the other."""
    whose = {each.key: at for at, each in enumerate(models)}
    low, high = ax.get_ylim()
    step = (high - low) * min(0.02, 0.12 / len(models))
    look: Any = {"linewidth": 3, "solid_capstyle": "round"}
    ax.plot([], [], color=colour(0) if len(models) == 1 else GREY, label="worth more than both", **look)
    for row in useful.rows():
        at = whose[row["model"], str(row["group"])]
        ax.plot([row["low"], row["high"]], [low + step * (at + 1)] * 2, color=colour(at), **look)
