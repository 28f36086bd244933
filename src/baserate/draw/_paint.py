"""Lines, bands and legends that several figures share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from baserate._arrays import Floats
from baserate._counts import Counts
from baserate._errors import NotBinary
from baserate._tallies import Tallies
from baserate._tally import Tally
from baserate.draw._data import Series
from baserate.draw._style import colour, dashes, explained

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 1000
"""Points of a line: more than a page can show."""
SHADE = 0.18
"""How dark a band is: what lies behind it is still seen."""
_MANY = 5
"""Entries of a legend for which there is no room among the lines."""


def heights(column: Iterable[float | None]) -> Floats:
    """Numbers to draw; what is undefined is a gap.

    >>> heights([0.5, None]).tolist()
    [0.5, nan]
    """
    return np.array([nan if value is None else value for value in column], dtype=np.float64)


def stroke(ax: Axes, each: Series, at: int, axes: tuple[str, str], **look: Any) -> None:  # noqa: ANN401  (matplotlib's)
    """Draw the line of a series; another look than that of its place can be given."""
    x, y = (heights(each.rows[name]) for name in axes)
    usual = {"color": colour(at), "linestyle": dashes(at), "label": each.name}
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


def told(ax: Axes, where: str = "best") -> None:
    """Add a legend: among the lines, or to the right of them if it is long."""
    if len(ax.get_legend_handles_labels()[0]) > _MANY:
        ax.legend(loc="upper left", bbox_to_anchor=(1.02, 1), borderaxespad=0)
    else:
        explained(ax, where)


def check_both_classes(what: str, *nouns: Tally | Counts[float]) -> None:
    """Refuse rows of one class where a figure is about both."""
    missing = [name for noun in nouns for name in ("positives", "negatives") if not getattr(noun, name)]
    if missing:
        raise NotBinary(f"{what} needs both classes, but there are no {missing[0]}; give rows of both.")


def pooled(tallies: Tallies) -> list[Tally]:
    """Everybody, for each model."""
    return [tallies.pooled(model) for model in tallies.models]
