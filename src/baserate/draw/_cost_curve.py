"""Cost curves and Brier curves: what scores cost at every proportion of costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from baserate._costs import Costs
from baserate._errors import OptionError
from baserate._results import Results
from baserate._tally import Tallies
from baserate.decide import Kind, cost_curves, probability_cost
from baserate.draw._data import Data, Series, as_tallies, series
from baserate.draw._drawing import Drawing, Parts, drawn
from baserate.draw._strokes import check_both_classes, heights, roomy, shade, stroke, told
from baserate.draw._style import FAINT, GREY, colour, marker, name_axes, named, percent, shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 501
"""Evenly spaced, so that bounds are seen between corners, too."""
_AXES = {"cost": ("probability_cost", "cost"), "brier": ("cost_proportion", "loss")}


def cost_curve(
    data: Data,
    *,
    costs: Costs | None = None,
    prevalence: float | None = None,
    kind: Kind = "cost",
    level: float | None = 0.95,
    ax: Axes | None = None,
) -> Drawing:
    """Draw the least cost of any threshold against the share of possible costs that is due to positives.

    With `costs` and the `prevalence` where it will be used, a line marks where these lie. `kind` "brier" draws what
    probabilities cost if each is flagged from the cost proportion on, beside what the best threshold would; the area
    under it is the Brier score, at the `prevalence` if one is stated. A single model has a band of confidence `level`.

    >>> from baserate import Costs, draw, tally
    >>> made = draw.cost_curve(tally([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]), costs=Costs(fp=1, fn=9), prevalence=0.1)
    >>> made.parts["mark"].rows()
    [{'model': None, 'group': None, 'probability_cost': 0.5, 'cost': 0.25}]
    """
    if costs is not None and kind != "cost":
        raise OptionError("costs are for cost curves; leave out either them or kind='brier'.")
    if costs is not None and prevalence is None:
        raise OptionError(
            "where costs lie on the curve depends on the prevalence, too; give it, such as prevalence=0.02."
        )
    tallies = as_tallies(data)
    if kind == "cost":
        check_both_classes(tallies, "a cost curve")
    moved = None if costs is not None else prevalence
    parts = {"curve": cost_curves(tallies, kind=kind, prevalence=moved, points=_POINTS, level=level)}
    if costs is not None and prevalence is not None:
        parts["mark"] = _marked(tallies, probability_cost(costs, prevalence), prevalence)
    return drawn("cost_curve", parts, _cost_curve, ax=ax, size=roomy(parts["curve"]))


def _marked(tallies: Tallies, there: float, prevalence: float) -> Results:
    """What each model costs there: between its corners the curve is straight."""
    columns: dict[str, list[Any]] = {name: [] for name in ("model", "group", *_AXES["cost"])}
    for each in series(cost_curves(tallies, level=None)):
        corners, costs = (heights(each.rows[name]) for name in _AXES["cost"])
        found = (each.rows["model"][0], each.rows["group"][0], there, float(np.interp(there, corners, costs)))
        for column, value in zip(columns.values(), found, strict=True):
            column.append(value)
    return Results(columns, {"at": prevalence})


def _cost_curve(ax: Axes, parts: Parts) -> None:
    curve = parts["curve"]
    axes = _AXES[curve.data["kind"]]
    every = list(series(curve))
    _beside(ax, every, axes)
    level = curve.data["level"]
    if len(every) == 1 and level is not None:
        shade(ax, every[0].rows, 0, axes[0], label=f"{percent(level)} interval")
    for at, each in enumerate(every):
        alone = "the best threshold" if axes[1] == "cost" else "flagged from the cost proportion on"
        stroke(ax, each, at, axes, label=named(each.name) or alone)
    if "mark" in parts:
        _mark(ax, parts["mark"])
    shares(ax, "x")
    ax.set_ylim(bottom=0)
    name_axes(ax, *axes)
    told(ax, len(every))


def _beside(ax: Axes, every: list[Series], axes: tuple[str, str]) -> None:
    """The triangle of those who look at no score; of a Brier curve, what the best threshold would cost."""
    if axes[1] == "cost":
        stroke(ax, every[0], 0, (axes[0], "trivial"), color=FAINT, linestyle="-", linewidth=1, label="flag all or none")
        return
    for at, each in enumerate(every):
        label = "" if at else "the best threshold"
        stroke(ax, each, at, (axes[0], "least"), linestyle=":", linewidth=1.1, label=label)


def _mark(ax: Axes, mark: Results) -> None:
    """Where costs and prevalence lie, with a point on each curve."""
    rows = mark.rows()
    label = f"these costs at {percent(mark.data['at'])} positive"
    ax.axvline(rows[0]["probability_cost"], color=GREY, linewidth=1, linestyle="--", label=label)
    for at, row in enumerate(rows):
        ax.plot(row["probability_cost"], row["cost"], marker(at), color=colour(at))
