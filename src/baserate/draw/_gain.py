"""Gain and lift: what is found by looking at the highest scores first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baserate.draw._data import Data, as_tallies, series
from baserate.draw._drawing import Drawing, Parts, drawn
from baserate.draw._style import FAINT, colour, dashes, explained, name_axes, shares
from baserate.measure import curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 1000
"""Points of a line: more than a page can show."""


def gain(data: Data, *, ax: Axes | None = None) -> Drawing:
    """Draw the share of positives that is found against the share of everybody who is flagged.

    >>> from baserate import draw, tally
    >>> made = draw.gain(tally([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]))
    >>> made
    Drawing(gain: 5 rows of curve)
    >>> made.rows()[1]["sensitivity"]
    0.5
    """
    return drawn("gain", {"curve": curves(as_tallies(data), "gain", points=POINTS)}, _gain, ax=ax)


def lift(data: Data, *, ax: Axes | None = None) -> Drawing:
    """Draw how many times as many positives are found as by chance, against the share of everybody who is flagged."""
    return drawn("lift", {"curve": curves(as_tallies(data), "lift", points=POINTS)}, _lift, ax=ax)


def _gain(ax: Axes, parts: Parts) -> None:
    ax.plot([0, 1], [0, 1], color=FAINT, linewidth=1, label="by chance")
    _lines(ax, parts, "sensitivity")
    shares(ax)
    explained(ax, "lower right")


def _lift(ax: Axes, parts: Parts) -> None:
    ax.axhline(1, color=FAINT, linewidth=1, label="by chance")
    _lines(ax, parts, "lift")
    shares(ax, "x")
    ax.set_ylim(bottom=0)
    explained(ax, "upper right")


def _lines(ax: Axes, parts: Parts, y: str) -> None:
    for at, each in enumerate(series(parts["curve"])):
        heights = [float("nan") if value is None else value for value in each.rows[y]]
        ax.plot(each.rows["flag_rate"], heights, color=colour(at), linestyle=dashes(at), label=each.name)
    name_axes(ax, "flag_rate", y)
