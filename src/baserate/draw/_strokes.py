"""Lines, bands and legends that several figures share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from baserate._arrays import Floats
from baserate._counts import Counts
from baserate._errors import NotBinary
from baserate._results import Results
from baserate._tallies import Tallies
from baserate._tally import Tally
from baserate.draw._data import Series, series
from baserate.draw._style import SIZE, colour, dashes

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

POINTS = 1000
"""Points of a line: more than a page can show."""
SHADE = 0.18
"""How dark a band is: what lies behind it is still seen."""
MANY = 5
"""Series whose names find no room among their lines."""
_NAME = 40
"""Letters of a name; longer ones are cut, in the picture alone."""
_LONG = 30
"""Letters of a name that take the whole width of a figure."""
_DOWN = 30
"""Points from the axes down to a legend: numbers and names stand there."""
TALL = (SIZE[0], SIZE[1] + 0.6)
"""Inches of a figure with a legend below."""
_LETTER, _ENTRY = 0.065, 0.17
"""Inches of a letter of a legend, and from one line of it to the next."""


def heights(column: Iterable[float | None]) -> Floats:
    """Numbers to draw; what is undefined is a gap.

    >>> heights([0.5, None]).tolist()
    [0.5, nan]
    """
    return np.array([nan if value is None else value for value in column], dtype=np.float64)


def stroke(ax: Axes, each: Series, at: int, axes: tuple[str, str], **look: Any) -> None:  # noqa: ANN401  (matplotlib's)
    """Draw the line of a series; another look than that of its place can be given."""
    x, y = (heights(each.rows[name]) for name in axes)
    usual = {"color": colour(at), "linestyle": dashes(at), "label": short(each.name)}
    ax.plot(x, y, **(usual | look))


def shade(ax: Axes, rows: Mapping[str, list[Any]], at: int, x: str, *, label: str = "") -> None:
    """Shade what lies between `low` and `high`."""
    low, high = heights(rows["low"]), heights(rows["high"])
    ax.fill_between(heights(rows[x]), low, high, color=colour(at), alpha=SHADE, linewidth=0, label=label)


def percent(share: float) -> str:
    """A share as people say it.

    >>> percent(0.95), percent(0.001)
    ('95 %', '0.1 %')
    """
    return f"{100 * share:.4g} %"


def short(name: str) -> str:
    """A name that leaves room for others.

    >>> short("x" * 50) == "x" * 39 + "…"
    True
    """
    return name if len(name) <= _NAME else name[: _NAME - 1] + "…"


def told(ax: Axes, many: int, *, bottom: float = 0.0) -> None:
    """Add a legend where it hides nothing: below, or to the right if there are many series.

    `bottom` is where the axes end, with what hangs below them, in their own heights.
    """
    signs, names = ax.get_legend_handles_labels()
    if many < MANY:
        told_below(ax, signs, columns=1 if max(map(len, names)) > _LONG else 2, bottom=bottom)
    else:
        ax.legend(loc="upper left", bbox_to_anchor=(1.02, 1), borderaxespad=0)


def told_below(ax: Axes, signs: Sequence[Artist], *, columns: int, bottom: float = 0.0) -> None:
    """Add a legend below the axes, under their numbers and their name."""
    from matplotlib.transforms import ScaledTranslation

    place = ax.transAxes + ScaledTranslation(0, -_DOWN / 72, ax.figure.dpi_scale_trans)
    ax.legend(handles=signs, loc="upper left", bbox_to_anchor=(0, bottom), bbox_transform=place, ncols=columns)


def roomy(found: Results, size: tuple[float, float] = TALL) -> tuple[float, float]:
    """Inches of a figure that has room for the names of all series, to the right if there are many."""
    names = [short(each.name) for each in series(found)]
    if len(names) < MANY:
        return size
    width, height = size
    return width + 0.8 + _LETTER * max(map(len, names)), max(height, 1 + _ENTRY * len(names))


def check_both_classes(what: str, *nouns: Tally | Counts[float]) -> None:
    """Refuse rows of one class where a figure is about both."""
    missing = [name for noun in nouns for name in ("positives", "negatives") if not getattr(noun, name)]
    if missing:
        raise NotBinary(f"{what} needs both classes, but there are no {missing[0]}; give rows of both.")


def pooled(tallies: Tallies) -> list[Tally]:
    """Everybody, for each model."""
    return [tallies.pooled(model) for model in tallies.models]
