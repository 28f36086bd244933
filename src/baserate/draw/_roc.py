"""ROC curves: what is found against what is flagged in vain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from baserate._costs import Costs
from baserate._curve import Curve
from baserate._errors import OptionError
from baserate._results import Results
from baserate._tally import Tallies, Tally
from baserate.decide import ALL, NONE, front, iso_cost
from baserate.draw._data import Mixed, series
from baserate.draw._drawing import Drawing, Parts, drawn
from baserate.draw._marks import Policies, Thresholds
from baserate.draw._paint import compared, estimates_told, free, gaps, lines, marked, places, points
from baserate.draw._ranks import Asked, Banded, Given, estimated, given, parts_of, references
from baserate.draw._style import GREY, colour, explained, name_axes, named, shares
from baserate.measure import TABLES, auc, table, tabulated

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ALONG = TABLES["roc"]
_NEAR = 1e-12
"""Areas that differ by less are those of one curve."""


def roc(  # noqa: PLR0913  (each is something that is drawn, or not)
    data: Mixed,
    *,
    hull: bool = True,
    band: Banded = False,
    level: float = 0.95,
    costs: Costs | None = None,
    prevalence: float | None = None,
    threshold: Thresholds | None = None,
    policy: Policies | None = None,
    ax: Axes | None = None,
) -> Drawing:
    """Draw the share of positives who are flagged against that of negatives, at all thresholds.

    The area (AUC) stands in the legend, with its interval. `hull` adds what mixtures of thresholds can reach; `band`
    how far the true curve may lie, at each point by itself or "simultaneous" for the whole curve. With `costs` a line
    of equal cost touches the best point of all, at a `prevalence` or at that of the data. Classifiers that give labels
    alone are points: columns of labels, or `Counts`. Marks are given by `threshold` or `policy`: for all models, or
    by their names.

    >>> from baserate import Costs, Counts, draw, tally
    >>> risk = tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2])
    >>> made = draw.roc({"risk": risk, "rule": Counts(tp=2, fp=1, fn=1, tn=2)}, costs=Costs(fp=1, fn=5))
    >>> list(made.parts)
    ['curve', 'points', 'auc', 'hull', 'iso_cost', 'reference']
    >>> made.parts["iso_cost"].rows()[1]["threshold"]
    0.6
    """
    found = given(data, "a ROC curve")
    parts = parts_of(found, Asked("roc", band, level, threshold, policy)) | estimated(found, "auc", level)
    if hull and found.scored is not None and len(hulls := _hulls(found.scored)):
        parts["hull"] = hulls
    if costs is not None:
        parts["iso_cost"] = _iso_cost(found, costs, prevalence)
    elif prevalence is not None:
        raise OptionError("no prevalence changes a ROC curve; give costs= as well, or leave prevalence= out.")
    parts["reference"] = references(
        by_chance={"fpr": [0.0, 1.0], "sensitivity": [0.0, 1.0]},
        perfect={"fpr": [0.0, 0.0, 1.0], "sensitivity": [0.0, 1.0, 1.0]},
    )
    return drawn("roc", parts, _paint, ax=ax)


def _hulls(tallies: Tallies) -> Results:
    """Hulls of those curves that lie below theirs somewhere."""

    def columns(tally: Tally) -> Mapping[str, Any]:
        curve = Curve(tally)
        top = curve.hull()
        found = table(top, "roc")
        differs = auc(top) - auc(curve) > _NEAR  # not where it is undefined
        return found if differs else {name: column[:0] for name, column in found.items()}

    return Results(tabulated(tallies, columns))


def _iso_cost(found: Given, costs: Costs, prevalence: float | None) -> Results:
    """Line of equal cost through the cheapest point of all: where it enters the square, that point, where it leaves."""
    at = found.prevalence if prevalence is None else prevalence
    if at is None:
        raise OptionError(
            "models were measured at different prevalences, so costs are not those of one place; say where they will "
            "be used, for example prevalence=0.1."
        )
    best = front(found.curves).at(costs, at)
    line = iso_cost(costs, at, through=(best.fpr, best.tpr))
    left = 0.0 if line.slope == 0 else max(0.0, -line.intercept / line.slope)
    right = 1.0 if line.slope == 0 else min(1.0, (1 - line.intercept) / line.slope)
    x = np.array([left, best.fpr, right])
    labels = found.labels is not None and best.classifier in found.labels.models
    told = {
        "classifier": best.classifier,
        "threshold": None if labels else best.threshold,
        "cost": line.cost,
        "slope": line.slope,
        "prevalence": at,
    }
    return Results({"fpr": x, "sensitivity": line.tpr(x), **{name: [value] * 3 for name, value in told.items()}})


def _paint(ax: Axes, parts: Parts) -> None:
    lines(ax, parts, _ALONG, told=estimates_told(parts, "auc", "AUC"))
    if "hull" in parts:
        _paint_hulls(ax, parts)
    points(ax, parts, _ALONG)
    if "iso_cost" in parts:
        found = parts["iso_cost"].rows()
        x, y = ([row[name] for row in found] for name in _ALONG)
        ax.plot(
            x,
            y,
            color=GREY,
            linestyle="--",
            linewidth=1,
            marker="*",
            markersize=9,
            markevery=[1],
            label=_cost_told(found[0]),
        )
    marked(ax, parts, _ALONG)
    compared(ax, parts, _ALONG)
    shares(ax)
    ax.set_aspect("equal", anchor="W")  # towards the words on its left
    name_axes(ax, *_ALONG)
    explained(ax, free(parts, "lower right"))


def _paint_hulls(ax: Axes, parts: Parts) -> None:
    """Paint what lies between curves and their hulls."""
    of, below = places(parts), {each.key: each.rows for each in series(parts["curve"])}
    for order, each in enumerate(series(parts["hull"])):
        (x, y), under = (gaps(each.rows[name]) for name in _ALONG), below[each.key]
        shade = colour(of[each.key])
        ax.fill([*x, *under["fpr"][::-1]], [*y, *under["sensitivity"][::-1]], color=shade, alpha=0.1, linewidth=0)
        ax.plot(x, y, ":", color=shade, linewidth=1, label="" if order else "convex hull: mixtures reach it", zorder=2)


def _cost_told(row: Mapping[str, Any]) -> str:
    who = {NONE: "flag nobody", ALL: "flag everybody"}.get(row["classifier"], row["classifier"])
    where = "" if row["threshold"] is None or who != row["classifier"] else f" at {row['threshold']:.4g}"
    return named(f"equal cost, {row['cost']:.4g} a case: {who}{where}")
