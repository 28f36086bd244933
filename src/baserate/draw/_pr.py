"""Precision–recall curves: how many of the flagged are positive, against what is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from baserate._results import Results
from baserate.draw._data import Mixed
from baserate.draw._drawing import Drawing, Parts, drawn
from baserate.draw._marks import Policies, Thresholds
from baserate.draw._paint import estimates_told, lines, marked, places, points
from baserate.draw._ranks import Asked, Given, estimated, given, parts_of
from baserate.draw._style import FAINT, GREY, colour, explained, name_axes, percent, shares
from baserate.measure import TABLES, named_group

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ALONG = TABLES["pr"]
_F1 = (0.2, 0.4, 0.6, 0.8)
_BESIDE = 1.12
"""Where a legend begins that leaves room for the names of lines of equal F1."""


def pr(  # noqa: PLR0913  (each is something that is drawn, or not)
    data: Mixed,
    *,
    iso_f1: bool = True,
    band: bool = False,
    level: float = 0.95,
    prevalence: float | None = None,
    threshold: Thresholds | None = None,
    policy: Policies | None = None,
    ax: Axes | None = None,
) -> Drawing:
    """Draw the share of the flagged who are positive (precision) against the share of positives who are (recall).

    The curve goes in steps, which are what average precision adds up; that stands in the legend, with its interval.
    Behind it are lines of equal F1, and the prevalence, which chance would give. Precision depends on how frequent
    positives are: `prevalence` carries everything to where it will be used. `band`, labels as points and marks are as
    in `roc`.

    >>> from baserate import draw, tally
    >>> risk = tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2])
    >>> round(draw.pr(risk, prevalence=0.1).parts["prevalence"].rows()[0]["precision"], 6)
    0.1
    """
    found = given(data, "a precision–recall curve", prevalence=prevalence)
    parts = parts_of(found, Asked("pr", band, level, threshold, policy)) | estimated(found, "average_precision", level)
    parts["prevalence"] = _prevalences(found)
    if iso_f1:
        parts["iso_f1"] = _equal_f1()
    return drawn("pr", parts, _paint, ax=ax)


def _prevalences(found: Given) -> Results:
    """Share of positives in each series, each once: what flagging at random would give."""
    tallies = next(each for each in found if each is not None)
    several = len(tallies.models) > 1
    rows = [
        (model if several else None, named_group(tallies, group), tally.prevalence)
        for model, group, tally in tallies.walk()
    ]
    model, group, share = (list(column) for column in zip(*rows, strict=True))
    return Results({"model": model, "group": group, "precision": share})


def _equal_f1() -> Results:
    """Precisions at which F1 is the same, :math:`F·R/(2R-F)`, from where that is 1 on."""
    recall = np.concatenate([np.linspace(f1 / (2 - f1), 1.0, 60) for f1 in _F1])
    f1 = np.repeat(_F1, 60)
    return Results({"f1": f1, "sensitivity": recall, "precision": f1 * recall / (2 * recall - f1)})


def _paint(ax: Axes, parts: Parts) -> None:
    if "iso_f1" in parts:
        _paint_f1(ax, parts)
    lines(ax, parts, _ALONG, told=estimates_told(parts, "average_precision", "AP"), step="pre")
    points(ax, parts, _ALONG)
    marked(ax, parts, _ALONG)
    _paint_prevalences(ax, parts)
    shares(ax)
    name_axes(ax, "recall", _ALONG[1])
    explained(ax, None, away=_BESIDE if "iso_f1" in parts else 1.02)


def _paint_f1(ax: Axes, parts: Parts) -> None:
    rows = parts["iso_f1"].rows()
    for f1 in dict.fromkeys(row["f1"] for row in rows):
        x, y = ([row[name] for row in rows if row["f1"] == f1] for name in _ALONG)
        ax.plot(x, y, color=FAINT, linewidth=0.7, alpha=0.7, zorder=1)
        ax.annotate(
            f"F1 {f1:g}", (1.02, y[-1]), (3, 0), textcoords="offset points", va="center", fontsize=7, color=GREY
        )


def _paint_prevalences(ax: Axes, parts: Parts) -> None:
    """Paint one line if all are the same, otherwise one of each series in its colour."""
    rows, of = parts["prevalence"].rows(), places(parts)
    shares_ = {row["precision"] for row in rows}
    if max(shares_) - min(shares_) < 1e-12:
        ax.axhline(
            rows[0]["precision"],
            color=GREY,
            linewidth=1,
            linestyle=":",
            zorder=2,
            label=f"by chance: the prevalence, {percent(rows[0]['precision'])}",
        )
        return
    for at, row in enumerate(rows):
        shade = colour(of.get((row["model"], str(row["group"])), at))
        label = "" if at else "by chance: the prevalence of each"
        ax.axhline(row["precision"], color=shade, linewidth=0.9, linestyle=":", zorder=2, label=label)
