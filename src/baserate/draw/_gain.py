"""Gain and lift: what is found by looking at the highest scores first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baserate.draw._data import Mixed
from baserate.draw._drawing import Drawing, Parts, drawn
from baserate.draw._marks import Policies, Thresholds
from baserate.draw._paint import compared, free, lines, marked, points
from baserate.draw._ranks import Asked, given, parts_of, references
from baserate.draw._style import explained, name_axes, shares
from baserate.measure import TABLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHORT = 24
"""Letters for which there is room above a curve that falls."""


def gain(
    data: Mixed,
    *,
    band: bool = False,
    level: float = 0.95,
    threshold: Thresholds | None = None,
    policy: Policies | None = None,
    ax: Axes | None = None,
) -> Drawing:
    """Draw the share of positives that is found against the share of everybody who is flagged.

    Also called CAP. `band`, labels as points and marks are as in `roc`.

    >>> from baserate import draw, tally
    >>> made = draw.gain(tally([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]))
    >>> made
    Drawing(gain: 5 rows of curve, 5 rows of reference)
    >>> made.rows()[1]["sensitivity"]
    0.5
    """
    found = given(data, "a gain curve")
    parts = parts_of(found, Asked("gain", band, level, threshold, policy))
    compare = {"by_chance": {"flag_rate": [0.0, 1.0], "sensitivity": [0.0, 1.0]}}
    if found.prevalence is not None:
        compare["perfect"] = {"flag_rate": [0.0, found.prevalence, 1.0], "sensitivity": [0.0, 1.0, 1.0]}
    parts["reference"] = references(**compare)
    return drawn("gain", parts, _gain, ax=ax)


def lift(
    data: Mixed,
    *,
    band: bool = False,
    level: float = 0.95,
    threshold: Thresholds | None = None,
    policy: Policies | None = None,
    ax: Axes | None = None,
) -> Drawing:
    """Draw how many times as many positives are found as by chance, against the share of everybody who is flagged.

    `band`, labels as points and marks are as in `roc`.

    >>> from baserate import draw, tally
    >>> draw.lift(tally([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1])).rows()[1]["lift"]
    2.0
    """
    parts = parts_of(given(data, "a lift curve"), Asked("lift", band, level, threshold, policy))
    parts["reference"] = references(by_chance={"flag_rate": [0.0, 1.0], "lift": [1.0, 1.0]})
    return drawn("lift", parts, _lift, ax=ax)


def _gain(ax: Axes, parts: Parts) -> None:
    _curves(ax, parts, "gain")
    shares(ax)
    explained(ax, free(parts, "lower right"))


def _lift(ax: Axes, parts: Parts) -> None:
    _curves(ax, parts, "lift")
    shares(ax, "x")
    ax.set_ylim(bottom=0)
    explained(ax, free(parts, "upper right"), short=_SHORT)


def _curves(ax: Axes, parts: Parts, what: str) -> None:
    along = TABLES[what]
    lines(ax, parts, along)
    points(ax, parts, along)
    marked(ax, parts, along)
    compared(ax, parts, along)
    name_axes(ax, *along)
