"""Measures against the threshold: what is won and lost by moving it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from baserate._results import Results
from baserate._tally import Tallies
from baserate.draw._data import Data, only, together
from baserate.draw._drawing import Drawing, Parts, drawn
from baserate.draw._marks import Policies, Thresholds, marks, one_place
from baserate.draw._paint import SHADE, band_told, gaps
from baserate.draw._ranks import measured, tabled
from baserate.draw._style import AXES, GREY, colour, dashes, explained, named, shares, spoken
from baserate.measure import Measure, about, joined, known
from baserate.shift import reweigh

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_USUAL = ("sensitivity", "specificity", "precision", "f1", "flag_rate")
_POINTS = 300
"""Of each of several lines, which go in steps."""


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
    """Draw any measures of decisions against the threshold from which on a score is flagged.

    By default sensitivity, specificity, precision, F1 and the flag rate, which says how much work there will be. Of
    several models name one with `model`; groups are put together. `band` shows how far each may lie at a given
    threshold, `prevalence` carries all of them to where it will be used. Marks are lines.

    >>> from baserate import draw, tally
    >>> made = draw.thresholds(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]), "precision")
    >>> [(row["threshold"], row["value"]) for row in made.rows()][:4]
    [(inf, None), (0.9, 1.0), (0.8, 1.0), (0.7, 0.6666666666666666)]
    """
    chosen = [known(each) for each in measures or _USUAL]
    tallies = only(data, model)
    if prevalence is not None:
        tallies = reweigh(tallies, to=prevalence)
    parts = {"curve": _tabulated(together(tallies), chosen, band=band, level=level)}
    found = one_place(marks(tallies, threshold, policy))
    if len(found):
        parts["marks"] = measured(found, *(about(each).name for each in chosen))
    whole = all(0 <= end <= 1 for each in chosen for end in about(each).span)
    return drawn("thresholds", parts, partial(_paint, whole=whole), ax=ax)


def _tabulated(tallies: Tallies, chosen: Sequence[Measure], *, band: bool, level: float) -> Results:
    """Put all measures below each other."""
    parts = []
    for each in chosen:
        name = about(each).name
        found = tabled(tallies, each, band=band, level=level, points=_POINTS)
        value = {("value" if key == name else key): column for key, column in found.columns.items()}
        parts.append({"measure": [name] * len(found), **value})
    columns = {name: joined([part[name] for part in parts]) for name in parts[0]}
    return Results(columns, found.data)


def _paint(ax: Axes, parts: Parts, *, whole: bool) -> None:
    columns = parts["curve"].flat()
    finite = [at for at in columns["threshold"] if isfinite(at)]
    ends = (0.0, 1.0) if min(finite) >= 0 and max(finite) <= 1 else (min(finite), max(finite))
    names = list(dict.fromkeys(columns["measure"]))
    for at, name in enumerate(names):
        there = [place for place, each in enumerate(columns["measure"]) if each == name]
        rows = {key: [column[place] for place in there] for key, column in columns.items()}
        _line(ax, rows, ends, at, band_told(parts["curve"]) if "low" in rows and at == 0 else "")
    for at, row in enumerate(parts["marks"].rows() if "marks" in parts else ()):
        if isfinite(row["threshold"]):
            ax.axvline(row["threshold"], color=GREY, linewidth=1, linestyle=dashes(at + 1), label=named(row["name"]))
    if whole:
        shares(ax, "y")
    ax.set_xlabel("threshold: scores at or above it are flagged")
    ax.set_ylabel(AXES.get(names[0], spoken(names[0])) if len(names) == 1 else "value")
    explained(ax, None)


def _line(ax: Axes, rows: Mapping[str, list[Any]], ends: tuple[float, float], at: int, told: str) -> None:
    """Paint a measure, which stays the same from each score down to the next, and beyond the last ones."""
    x = [*np.clip(rows["threshold"], *ends), ends[0]]
    y, low, high = (gaps([*rows[key], rows[key][-1]]) if key in rows else [] for key in ("value", "low", "high"))
    ax.plot(x, y, color=colour(at), linestyle=dashes(at), drawstyle="steps-post", label=spoken(rows["measure"][0]))
    if low:
        ax.fill_between(x, low, high, step="post", color=colour(at), alpha=SHADE, linewidth=0, label=told)
