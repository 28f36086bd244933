"""Scores of both classes side by side: what a threshold has to tell apart."""

from __future__ import annotations

from itertools import chain, pairwise
from math import ceil, isfinite, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._domains import BINS, check_domain
from baserate._formatting import count_of
from baserate._results import Results
from baserate._tally import Tally
from baserate.draw._data import Data, only, together
from baserate.draw._drawing import Drawing, Parts, drawn
from baserate.draw._marks import Policies, Thresholds, marks, one_place
from baserate.draw._ranks import measured
from baserate.draw._style import NEGATIVE, POSITIVE, explained, named, percent
from baserate.measure import header, inner_edges, widened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 40
_LEAST = 10
_LOOK: dict[str, Any] = {
    "positives": {"color": POSITIVE, "linestyle": "-", "hatch": "////"},
    "negatives": {"color": NEGATIVE, "linestyle": "--", "hatch": None},
}
"""Told apart without colour: by hatching and by the kind of line."""


def scores(
    data: Data,
    *,
    model: str | None = None,
    bins: int | None = None,
    threshold: Thresholds | None = None,
    policy: Policies | None = None,
    ax: Axes | None = None,
) -> Drawing:
    """Draw how the scores of positives and of negatives are spread: the share of its class in each of many bins.

    Of several models name one with `model`; groups are put together. There is an edge of a bin at every threshold, so
    that what lies beyond it is what it flags; the legend says how much of each class that is. `bins` is about how many
    there are, by default the square root of the number of rows, from 10 to 40.

    >>> from baserate import draw, tally
    >>> made = draw.scores(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]), threshold=0.65, bins=2)
    >>> [(row["class"], row["from"], row["to"], round(row["share"], 2)) for row in made.parts["bins"].rows()][:2]
    [('positives', 0.0, 0.65, 0.33), ('positives', 0.65, 1.0, 0.67)]
    """
    tallies = only(data, model)
    found = one_place(marks(tallies, threshold, policy))
    tally = together(tallies).tally
    cuts = sorted({at for at in found.columns["threshold"] if isfinite(at)})
    columns = _binned(tally, _edges(tally, cuts, _checked(tally, bins)))
    head = header(tallies, [])
    parts = {"bins": Results(columns, head)}
    if len(found):
        parts["marks"] = measured(found, "sensitivity", "fpr")
    return drawn("scores", parts, _paint, ax=ax)


def _checked(tally: Tally, bins: int | None) -> int:
    if bins is None:
        return min(_MOST, max(_LEAST, ceil(sqrt(tally.rows.sum(dtype=np.int64)))))
    check_domain("bins", bins, BINS)
    return bins


def _edges(tally: Tally, cuts: list[float], bins: int) -> Floats:
    """Edges of about so many bins, of nearly the same width, with one at every cut-off."""
    score = tally.score
    low, high = (0.0, 1.0) if tally.probable else (float(score[-1]), float(score[0]))
    low, high = widened(min([low, *cuts]), max([high, *cuts]))
    width = (high - low) / bins
    stretches = list(pairwise(dict.fromkeys([low, *cuts, high])))
    inner = [[a, *inner_edges(a, b, max(1, round((b - a) / width)))] for a, b in stretches]
    return np.array([*chain.from_iterable(inner), high])


def _binned(tally: Tally, edges: Floats) -> dict[str, Any]:
    """Share of each class in each bin; a score at an edge belongs to the bin above it, as with thresholds."""
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


def _paint(ax: Axes, parts: Parts) -> None:
    rows = parts["bins"].rows()
    for name, look in _LOOK.items():
        own = [row for row in rows if row["class"] == name]
        edges, heights = [own[0]["from"], *(row["to"] for row in own)], [row["share"] for row in own]
        if heights[0] is None:
            continue
        shade, hatch = look["color"], look["hatch"]
        many = sum(row["rows"] for row in own)
        label = f"{name} ({count_of(many, 'row', shown=format(many, '.0f'))})"
        fill: Any = {"facecolor": (shade, 0.25), "edgecolor": (shade, 0.6), "hatch": hatch, "linewidth": 0}
        ax.stairs(heights, edges, fill=True, label=label, **fill)
        ax.stairs(heights, edges, color=shade, linestyle=look["linestyle"], linewidth=1.4)
    for row in parts["marks"].rows() if "marks" in parts else ():
        if isfinite(row["threshold"]):
            ax.axvline(row["threshold"], color="black", linewidth=1, label=_beyond(row))
    ax.set_ylim(bottom=0)
    ax.set_xlabel("score")
    ax.set_ylabel("share of its class in each bin")
    explained(ax, None)


def _beyond(row: dict[str, Any]) -> str:
    caught = [
        f"{percent(row[name])} of {who}"
        for name, who in (("sensitivity", "positives"), ("fpr", "negatives"))
        if row[name] is not None
    ]
    return named(f"{row['name']} flags {', '.join(caught)}")
