"""Tallies to draw, and helpers that read the parts of a figure."""

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from baserate import Tallies, read
from baserate.draw import Drawing


def make_tallies(rows: int = 400, *, group: bool = False, models: int = 1) -> Tallies:
    """Return tallies of one or several models, perhaps in two groups, the same each time."""
    rng = np.random.default_rng(12)
    sick = rng.random(rows) < 0.3
    table = {"sick": sick, "site": rng.choice(["north", "south"], rows)}
    for at in range(models):
        table[f"risk{at}"] = np.round(1 / (1 + np.exp(1.2 - (2 - at / 2) * sick - rng.normal(size=rows))), 3)
    scores = [f"risk{at}" for at in range(models)]
    columns: Any = {"score": scores} | ({"group": "site"} if group else {})
    return read.tallies(table, truth="sick", **columns)


def lines_of(ax: Axes) -> list[npt.NDArray[np.float64]]:
    """Return the points of each painted line."""
    return [np.asarray(line.get_xydata(), dtype=np.float64) for line in ax.get_lines()]


def panels_of(ax: Axes) -> list[Axes]:
    """Return the inset axes of axes."""
    return [each for each in ax.child_axes if isinstance(each, Axes)]


def spans_of(ax: Axes, axis: int) -> list[list[float]]:
    """Return the ends of each painted interval, along x (0) or y (1)."""
    paths = [path for lines in ax.collections for path in lines.get_paths()]
    return [np.asarray(path.vertices, dtype=np.float64)[:, axis].tolist() for path in paths]


def check_repainting(made: Drawing) -> None:
    """Check that a drawing paints the same numbers again, on new axes and on given ones."""
    again = made.plot()
    assert again.parts == made.parts
    assert again.figure is not made.figure
    own = Figure().add_subplot()
    assert made.plot(own).ax is own
    assert len(lines_of(own)) == len(lines_of(made.ax))
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(lines_of(own), lines_of(made.ax), strict=True))
    assert len(made.frame()) == len(made.numbers) == sum(map(len, made.parts.values()))


def legend_of(ax: Axes) -> list[str]:
    """Return the labels of the legend in one line each, with plain spaces."""
    legend = ax.get_legend()
    assert legend is not None
    return [text.get_text().replace("\u00a0", " ").replace("\n", " ") for text in legend.get_texts()]
