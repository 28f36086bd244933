"""Strokes and legends of figures that are about worth: lines, bands, and names below them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from baserate._arrays import Floats
from baserate._curve import Curve
from baserate._errors import OptionError
from baserate._results import Results
from baserate._tally import Tallies
from baserate.decide import both_classes
from baserate.draw._data import Mixed, Series, apart, series
from baserate.draw._paint import SHADE, gaps
from baserate.draw._style import SIZE, colour, dashes, explained, named

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

MANY = 5
"""Series whose names find no room below."""
TALL = (SIZE[0], SIZE[1] + 0.6)
"""Inches of a figure with a legend below."""
_LONG = 30
"""Letters of a name that take the whole width of a figure."""
_WIDEST = 46
"""Letters in a line of a legend below."""
_DOWN = 30
"""Points from the axes down to a legend: numbers and names stand there."""
_ENTRY = 0.17
"""Inches from one line of a legend to the next."""


def probabilities(data: Mixed) -> Tallies:
    """Models whose scores may be probabilities; labels are none."""
    scored, labels = apart(data)
    if scored is None or labels is not None:
        names = ", ".join(labels.models) if labels is not None else "nothing"
        raise OptionError(f"{names} holds labels, which are no probabilities; give models with scores alone.")
    return scored


def check_both_classes(tallies: Tallies, what: str) -> None:
    """Refuse rows of one class where a figure is about both."""
    for model in tallies.models:
        both_classes(Curve(tallies.pooled(model)), what)


def heights(column: Iterable[float | None]) -> Floats:
    """Numbers to draw; what is undefined is a gap.

    >>> heights([0.5, None]).tolist()
    [0.5, nan]
    """
    return np.array(gaps(column), dtype=np.float64)


def stroke(ax: Axes, each: Series, at: int, along: tuple[str, str], **look: Any) -> None:  # noqa: ANN401  (matplotlib's)
    """Draw the line of a series; another look than that of its place can be given."""
    x, y = (heights(each.rows[name]) for name in along)
    usual = {"color": colour(at), "linestyle": dashes(at), "label": named(each.name)}
    ax.plot(x, y, **(usual | look))


def shade(ax: Axes, rows: Mapping[str, list[Any]], at: int, x: str, *, label: str = "") -> None:
    """Shade what lies between `low` and `high`."""
    low, high = heights(rows["low"]), heights(rows["high"])
    ax.fill_between(heights(rows[x]), low, high, color=colour(at), alpha=SHADE, linewidth=0, label=label)


def told(ax: Axes, many: int, *, bottom: float = 0.0) -> None:
    """Add a legend where it hides nothing: below, or to the right if there are many series.

    `bottom` is where the axes end, with what hangs below them, in their own heights.
    """
    signs, names = ax.get_legend_handles_labels()
    if many < MANY:
        told_below(ax, signs, columns=1 if max(map(len, names)) > _LONG else 2, bottom=bottom)
    else:
        explained(ax, None)


def told_below(ax: Axes, signs: Sequence[Artist], *, columns: int, bottom: float = 0.0) -> None:
    """Add a legend below the axes, under their numbers and their name."""
    from matplotlib.transforms import ScaledTranslation

    names = [_lined(str(sign.get_label())) for sign in signs]
    place = ax.transAxes + ScaledTranslation(0, -_DOWN / 72, ax.figure.dpi_scale_trans)
    where: Any = {"bbox_to_anchor": (0, bottom, 1, 0), "bbox_transform": place}
    ax.legend(signs, names, loc="upper left", ncols=columns, **where)


def _lined(name: str) -> str:
    """A name in lines that are no wider than the axes."""
    return fill(name.replace("\n  ", " "), _WIDEST, subsequent_indent="  ")


def roomy(found: Results, size: tuple[float, float] = TALL) -> tuple[float, float]:
    """Inches of a figure that is high enough for the names of all series."""
    width, height = size
    names = [_lined(each.name) for each in series(found)]
    if len(names) < MANY:
        return width, height + _ENTRY * sum(1 + name.count("\n") for name in names if len(name) > _LONG)
    return width, max(height, 1 + _ENTRY * len(names))
