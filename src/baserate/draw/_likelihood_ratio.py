"""Likelihood ratios of probabilities: what a probability tells, whatever the prevalence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from baserate._results import Results
from baserate.draw import _drawing
from baserate.draw._data import Data, Series, series
from baserate.draw._drawing import Drawing, Parts
from baserate.draw._strokes import check_both_classes, heights, probabilities, roomy, stroke, told
from baserate.draw._style import FAINT, colour, dashes, marker, name_axes, named, percent, shares
from baserate.infer import Drawn, reliability_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROOM = 1.6
"""Times that the axis goes on beyond what is seen."""


def likelihood_ratio(
    data: Data,
    *,
    drawn: Drawn = Drawn(),  # noqa: B008  (it is immutable)
    ax: Axes | None = None,
) -> Drawing:
    """Draw how many times as frequent a probability is among positives as among negatives, with what it implies.

    No prevalence changes these ratios. Where they follow the implied ones, the probabilities are right but for the
    prevalence that they were made for. Bins without one of the classes stand at an edge: their ratio is 0 or infinite.

    >>> from baserate import draw, infer, tally
    >>> made = draw.likelihood_ratio(tally([0, 1, 0, 1], [0.2, 0.2, 0.2, 0.8]), drawn=infer.Drawn(bins=2))
    >>> [(row["probability"], row["ratio"]) for row in made.rows()]
    [(0.20000000000000004, 0.5), (0.8, inf)]
    """
    tallies = probabilities(data)
    check_both_classes(tallies, "a likelihood ratio")
    parts = {"curve": reliability_curves(tallies, "likelihood_ratio", drawn=drawn)}
    return _drawing.drawn("likelihood_ratio", parts, _likelihood_ratio, ax=ax, size=roomy(parts["curve"]))


def _likelihood_ratio(ax: Axes, parts: Parts) -> None:
    curve = parts["curve"]
    every = list(series(curve))
    ax.set_yscale("log")
    ax.set_ylim(*_ends(curve))
    ax.axhline(1, color=FAINT, linewidth=1, label="tells nothing")
    for at, each in enumerate(every):
        look: Any = {"label": "" if at else "implied by the probabilities", "linewidth": 1, "linestyle": ":"}
        stroke(ax, each, at, ("probability", "implied"), **look)
        if len(every) == 1:
            _doubt(ax, each, f"{percent(curve.data['level'])} interval")
        _seen(ax, each, at)
    shares(ax, "x")
    name_axes(ax, "probability", "ratio")
    told(ax, len(every))


def _ends(curve: Results) -> tuple[float, float]:
    """From the least to the greatest number that has a logarithm, and a little beyond."""
    seen = np.concatenate([heights(curve.columns[name]) for name in ("ratio", "implied", "low", "high")])
    known = np.append(seen[np.isfinite(seen) & (seen > 0)], 1.0)
    return float(known.min() / _ROOM), float(known.max() * _ROOM)


def _doubt(ax: Axes, each: Series, label: str) -> None:
    x, low, high = (heights(each.rows[name]) for name in ("probability", "low", "high"))
    ends = ax.get_ylim()
    ax.vlines(x, np.clip(low, *ends), np.clip(high, *ends), color=colour(0), linewidth=1, alpha=0.7, label=label)


def _seen(ax: Axes, each: Series, at: int) -> None:
    """Ratios as a line; those of 0 and infinite ones, which have no logarithm, as arrows at the edges."""
    x, ratio = (heights(each.rows[name]) for name in ("probability", "ratio"))
    none, endless = ratio == 0, np.isinf(ratio)
    inner = np.where(none | endless, np.nan, ratio)
    look: Any = {"color": colour(at), "linestyle": dashes(at), "marker": marker(at)}
    ax.plot(x, inner, label=named(each.name) or "seen", **look)
    for end, sign, there in zip(ax.get_ylim(), "v^", (none, endless), strict=True):
        if there.any():  # a layout would make room for none of them, too
            ax.plot(x[there], np.full(there.sum(), end), sign, color=colour(at), clip_on=False)
