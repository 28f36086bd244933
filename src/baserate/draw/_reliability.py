"""Reliability diagrams: what happens, against the probability that was given to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from baserate._errors import OptionError
from baserate._results import Results
from baserate.draw import _drawing
from baserate.draw._data import Data, Series, series
from baserate.draw._drawing import Drawing, Parts
from baserate.draw._ranks import POINTS
from baserate.draw._strokes import MANY, heights, probabilities, roomy, shade, stroke, told
from baserate.draw._style import AXES, FAINT, colour, dashes, marker, name_axes, named, percent, shares
from baserate.infer import Drawn, reliability_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

What = Literal["binned", "isotonic", "lowess"]
_WHAT = ("binned", "isotonic", "lowess")
_SIZE, _BESIDE = (4.8, 6.5), (4.8, 5.4)
"""Inches with the legend below, and beside; the square is as wide as it can be."""
_STRIP = (0.0, -0.25, 1.0, 0.19)
"""Where the counts stand below the square: left, bottom, width and height, in its own sides."""
_FINE = 20
"""Bins of the counts below a curve that has none itself."""
_UNEVEN = 50
"""Times that the fullest bin may hold what the emptiest does, before small ones are no longer seen."""
_CURVES = {"binned": "bins", "isotonic": "isotonic fit", "lowess": "LOWESS fit"}
"""What the line of a single model is called; several lines carry the names of their models."""
_BANDS = {
    "Wilson": "{} interval (Wilson)",
    "consistency": "{} if right (consistency)",
    "confidence": "{} confidence band",
}


def reliability(
    data: Data,
    *,
    what: What = "isotonic",
    drawn: Drawn = Drawn(),  # noqa: B008  (it is immutable)
    ax: Axes | None = None,
) -> Drawing:
    """Draw the share that is positive against the predicted probability, with counts below.

    `what` is a curve, "isotonic" or "lowess", with a band: by default where it would lie if all probabilities were
    right (consistency); or "binned", with intervals of each bin. `drawn` says which band, and how many bins. Of several
    models or groups there are lines alone. A LOWESS fit and its band are clipped to [0, 1].

    >>> from baserate import draw, infer, tally
    >>> made = draw.reliability(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3]), what="binned", drawn=infer.Drawn(bins=2))
    >>> [(row["probability"], row["share"], row["mass"]) for row in made.rows()]
    [(0.2, 0.0, 2.0), (0.8500000000000001, 1.0, 2.0)]
    """
    if what not in _WHAT:
        raise OptionError(f"what is {what!r}; it is one of: {', '.join(_WHAT)}.")
    tallies = probabilities(data)
    parts = {"curve": reliability_curves(tallies, what, drawn=drawn, points=POINTS)}
    if what != "binned":
        counted = reliability_curves(tallies, "binned", drawn=Drawn(bins=_FINE))
        kept = ("model", "group", "lower", "upper", "mass")
        parts["counts"] = Results({name: counted.columns[name] for name in kept}, counted.data)
    few = len(list(series(parts["curve"]))) < MANY
    size = roomy(parts["curve"], _SIZE if few else _BESIDE)
    return _drawing.drawn("reliability", parts, _reliability, ax=ax, size=size)


def _reliability(ax: Axes, parts: Parts) -> None:
    curve = parts["curve"]
    every = list(series(curve))
    ax.plot([0, 1], [0, 1], color=FAINT, linewidth=1, label="as predicted")
    if len(every) == 1:
        _doubt(ax, every[0], curve)
    for at, each in enumerate(every):
        look = {"label": named(each.name) or _CURVES[curve.data["curve"]]}
        stroke(ax, each, at, ("probability", "share"), marker=marker(at) if _pointed(each, curve) else "", **look)
    name_axes(ax, "probability", "share")
    shares(ax)
    ax.set_box_aspect(1)
    ax.set_anchor("NW")  # what is left of the room is below and to the right, where counts and names stand
    told(ax, len(every), bottom=_STRIP[1])
    _counts(ax, parts.get("counts", curve))


def _pointed(each: Series, curve: Results) -> bool:
    """Whether it is of points rather than a line: a single one makes none."""
    return curve.data["curve"] == "binned" or len(each.rows["share"]) == 1


def _doubt(ax: Axes, each: Series, curve: Results) -> None:
    label = _BANDS[curve.data["band"]].format(percent(curve.data["level"]))
    if not _pointed(each, curve):
        shade(ax, each.rows, 0, "probability", label=label)
        return
    x, low, high = (heights(each.rows[name]) for name in ("probability", "low", "high"))
    ax.vlines(x, low, high, color=colour(0), linewidth=1, alpha=0.7, label=label)


def _counts(ax: Axes, counted: Results) -> None:
    """Bars below the square, or a dash for each bin of several series; logarithmic if they are very uneven."""
    from matplotlib.ticker import MaxNLocator

    strip = ax.inset_axes(_STRIP, sharex=ax)
    strip.set_axisbelow(True)
    every = list(series(counted))
    for at, each in enumerate(every):
        low, high, mass = (heights(each.rows[name]) for name in ("lower", "upper", "mass"))
        if len(every) == 1:
            strip.bar(low, mass, high - low, align="edge", color=colour(at), alpha=0.5, edgecolor=colour(at))
        else:
            strip.hlines(mass, low, high, color=colour(at), linestyle=dashes(at))
    masses = heights(counted.columns["mass"])
    unit = "weight" if counted.data["weighted"] else "rows"
    if masses.max(initial=0) > _UNEVEN * masses.min(initial=np.inf):
        strip.set_yscale("log")
        strip.set_ylim(bottom=masses.min() / 2)
    else:
        strip.set_ylim(bottom=0)
        strip.yaxis.set_major_locator(MaxNLocator(3))
    strip.set_ylabel(unit)
    strip.set_xlabel(AXES["probability"])
    ax.set_xlabel("")
    ax.tick_params(labelbottom=False)
