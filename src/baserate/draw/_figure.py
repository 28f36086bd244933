"""`Drawing`, a figure with its numbers and files; and the style of all figures: colors, fonts, axes and legends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from baserate._arrays import FrozenMapping
from baserate._errors import NotInstalledError, OptionError
from baserate._files import draft_file, write_text
from baserate._formatting import count_of
from baserate._results import Results, Values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""Colors of Okabe and Ito, which color-blind readers can distinguish, without the yellow."""
LINE_STYLES = ("-", "--", "-.", ":")
"""Line styles, which differ where colors repeat."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GRAY, LIGHT_GRAY = "#555555", "#B0B0B0"
POSITIVE, NEGATIVE = COLORS[1], COLORS[0]
"""Colors of the two classes in every figure."""
SIZE = (4.8, 4.2)
"""Inches of a figure; it stays legible at two thirds, in a column of a journal."""
FEW = 5
"""Largest number of labels of a legend inside the axes."""
SHORT = 44
"""Largest number of characters of a label of a legend inside the axes."""
WIDEST = 64
"""Characters in a line of a legend."""
STYLE: Any = {
    "axes.edgecolor": GRAY,
    "axes.grid": True,
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "legend.title_fontsize": 8,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "xtick.color": GRAY,
    "xtick.labelcolor": "black",
    "xtick.labelsize": 8,
    "ytick.color": GRAY,
    "ytick.labelcolor": "black",
    "ytick.labelsize": 8,
}
SAVE_STYLE: Any = {"pdf.fonttype": 42, "svg.fonttype": "path", "svg.hashsalt": "baserate"}
"""Settings of files: glyphs as paths or embedded fonts, and reproducible identifiers."""
SMALL = 3.0
"""Inches of an axis below which its label needs two lines."""
AXIS_LABELS = {
    "act_from": "probability from which on one would act (threshold)",
    "cost": "least cost, as a share of the greatest",
    "cost_proportion": "what a false alarm costs, of both errors (cost proportion)",
    "density": "share of a class per unit of the score (density)",
    "flag_rate": "share of everybody who is flagged (flag rate)",
    "fpr": "share of negatives who are flagged (false positive rate)",
    "lift": "times as many positives as by chance (lift)",
    "loss": "cost per person (Brier loss)",
    "mass": "share of a class at a score (mass)",
    "net_benefit": "positives found, less false alarms (net benefit)",
    "precision": "share of the flagged who are positive (precision)",
    "prevalence": "share of everybody who is positive (prevalence)",
    "probability": "predicted probability",
    "probability_cost": "share of possible costs due to positives (probability cost)",
    "ratio": "times as frequent among positives (likelihood ratio)",
    "recall": "share of positives who are flagged (recall)",
    "sensitivity": "share of positives who are flagged (sensitivity)",
    "share": "share that is positive (observed)",
}
"""Labels of axes: a plain description, with the technical term."""


def color_at(at: int) -> str:
    """Return the color of the series at an index."""
    return COLORS[at % len(COLORS)]


def line_style_at(at: int) -> str:
    """Return the line style of the series at an index: with 7 colors and 4 styles, 28 series differ."""
    return LINE_STYLES[at % len(LINE_STYLES)]


def marker_at(at: int) -> str:
    """Return the marker of the series at an index."""
    return MARKERS[at % len(MARKERS)]


def label_axes(ax: Axes, x: str, y: str) -> None:
    """Label both axes, in two lines where the axes are small."""
    box, dpi = ax.get_window_extent(), ax.get_figure(root=True).dpi  # type: ignore[union-attr]  # it has one
    for put, name, length in ((ax.set_xlabel, x, box.width), (ax.set_ylabel, y, box.height)):
        label = AXIS_LABELS.get(name, measure_label(name))
        put(label if length / dpi >= SMALL else label.replace(" (", "\n("))


def measure_label(name: str) -> str:
    """Return the name of a measure with spaces."""
    return name.replace("_", " ")


def set_unit_limits(ax: Axes, axes: Sequence[str] = ("x", "y")) -> None:
    """Limit axes to 0 to 1, with a margin so that a line on the edge is visible."""
    for each in axes:
        (ax.set_xlim if each == "x" else ax.set_ylim)(-0.02, 1.02)


def place_legend(ax: Axes, where: Any, *, away: float = 1.02, short: int = SHORT) -> None:  # noqa: ANN401  (a place, as matplotlib calls it)
    """Add a legend if there are labels: inside the axes if it fits a free corner, otherwise on their right."""
    labels = ax.get_legend_handles_labels()[1]
    if labels and (where is None or len(labels) > FEW or max(map(len, labels)) > short):
        ax.legend(loc="upper left", bbox_to_anchor=(away, 1.0), borderaxespad=0.0)
    elif labels:
        ax.legend(loc=where)


def legend_label(*parts: str) -> str:
    """Join the name of a series and its details to a wrapped label.

    >>> legend_label("risk", "AUC 0.8"), legend_label("", "AUC 0.8")
    ('risk: AUC 0.8', 'AUC 0.8')
    """
    text = fill(": ".join(filter(None, parts)), WIDEST, subsequent_indent="  ").replace("$", r"\$")
    # Matplotlib leaves labels that begin with an underscore out of legends; a hair space before it prevents that.
    return f"\u200a{text}" if text.startswith("_") else text


def format_percent(share: float) -> str:
    """Format a share as a percentage.

    >>> format_percent(0.95), format_percent(0.0123)
    ('95 %', '1.23 %')
    """
    return f"{100 * share:.3g} %"


@contextmanager
def apply_style(*, ours: bool) -> Iterator[None]:
    """Apply the style of baserate, or keep that of the given axes."""
    from matplotlib import rc_context

    with rc_context(STYLE if ours else {}):
        yield


Parts = Mapping[str, Results]
"""Numbers of each part of a figure, such as a curve, its hull and points on it."""
Painter = Callable[["Axes", Parts], None]
"""Paints numbers on axes without computing anything."""

PICTURES = ("svg", "png", "pdf")
_METADATA: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""Metadata to leave out, so that equal numbers give equal files."""
_LEGEND_MARGIN = 0.2
"""Inches on the right of a legend, since text widths depend on the resolution."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Drawing:
    """A figure with the numbers that it shows.

    `parts` holds the numbers by what they are: a curve, its hull, points on it; `frame` and `rows` return all of them.
    `plot` paints the same numbers on other axes without computing them again. A drawing that is copied or pickled is
    painted again on axes of its own.
    """

    name: str
    parts: Parts
    painter: Painter
    ax: Axes
    """Matplotlib axes of the figure."""
    size: tuple[float, float] = SIZE
    """Size of a new figure, in inches."""

    def __repr__(self) -> str:
        parts = (f"{count_of(len(part), 'row')} of {name}" for name, part in self.parts.items())
        return f"Drawing({self.name}: {', '.join(parts)})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Axes do not pickle reliably; numbers and a painter do.
        return partial(make_drawing, size=self.size), (self.name, self.parts, self.painter)

    @property
    def figure(self) -> Figure:
        """The matplotlib figure that holds the axes."""
        root = self.ax.get_figure(root=True)
        assert root is not None  # noqa: S101  (for the type checker: axes that are painted on have one)
        return root

    @property
    def numbers(self) -> Results:
        """All numbers as one table; the column `part` names what they are of."""
        names = dict.fromkeys(name for part in self.parts.values() for name in part.columns)
        columns: dict[str, list[Any]] = {"part": [], **{name: [] for name in names}}
        for what, part in self.parts.items():
            columns["part"] += [what] * len(part)
            for name in names:
                columns[name] += _as_list(part.columns[name]) if name in part.columns else [None] * len(part)
        return Results(columns, next(iter(self.parts.values())).data)

    def rows(self) -> list[dict[str, Any]]:
        """Return the numbers as one mapping per row."""
        return self.numbers.rows()

    def frame(self, backend: str | None = None) -> Any:  # noqa: ANN401  (a frame of the chosen library)
        """Return the numbers as a data frame.

        Parameters
        ----------
        backend
            "pandas", "polars" or "pyarrow"; by default the first that is installed.
        """
        return self.numbers.frame(backend)

    def plot(self, ax: Axes | None = None) -> Drawing:
        """Paint the same numbers on other axes.

        Parameters
        ----------
        ax
            Matplotlib axes; new ones by default.
        """
        return make_drawing(self.name, self.parts, self.painter, ax=ax, size=self.size)

    def save(self, path: str | os.PathLike[str], *, dpi: float = 200) -> None:
        """Write a picture (.svg, .png, .pdf) or its numbers (.csv, .json); equal numbers give equal files.

        Parameters
        ----------
        path
            File to write; its ending selects the format.
        dpi
            Resolution of a PNG, in dots per inch.
        """
        ending = Path(path).suffix.lstrip(".").lower()
        if ending in {"csv", "json"}:
            write_text(path, self.numbers.to_csv() if ending == "csv" else self.numbers.to_json())
        elif ending in PICTURES:
            with draft_file(path) as draft:
                draft.write_bytes(self._render(ending, dpi))
        else:
            raise OptionError(
                f"{Path(path).name} is no kind of picture that we write",
                remedy="end the name in .svg, .png or .pdf, or in .csv or .json for the numbers.",
            )

    def _repr_png_(self) -> bytes:
        return self._render("png", 144)

    def _render(self, form: str, dpi: float) -> bytes:
        from matplotlib import rc_context

        held = BytesIO()
        with rc_context(SAVE_STYLE):  # the salt makes identifiers in SVG files reproducible
            self.figure.savefig(held, format=form, dpi=dpi, metadata=_METADATA[form])
        return held.getvalue()


def make_drawing(
    name: str, parts: Parts, painter: Painter, *, ax: Axes | None = None, size: tuple[float, float] = SIZE
) -> Drawing:
    """Paint numbers on the given axes in their own style, or on new ones in the style of baserate."""
    figure = import_matplotlib()
    with apply_style(ours=ax is None):
        # Not by pyplot, which would keep the figure in memory and select a graphical backend.
        axes = figure(figsize=size, layout="constrained").add_subplot() if ax is None else ax
        painter(axes, parts)
        _fit_legend(axes, ours=ax is None)
    return Drawing(name, FrozenMapping(parts), painter, axes, size)


def _as_list(column: Values) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _fit_legend(ax: Axes, *, ours: bool) -> None:
    """Widen a new figure by a legend beside the axes, which keep their size; in other figures, put it inside."""
    legend, figure = ax.get_legend(), ax.get_figure(root=True)
    if legend is None or figure is None:
        return
    anchor = legend.get_bbox_to_anchor()
    if ours and not anchor.width:
        width, height = figure.get_size_inches()
        figure.set_size_inches(width + legend.get_window_extent().width / figure.dpi + _LEGEND_MARGIN, height)
    elif not ours and not (anchor.width and anchor.height) and ax.axison:
        # Small, and ignored by the layout: the axes may be one of many panels.
        ax.legend(loc="best", fontsize="x-small").set_in_layout(False)


def import_matplotlib() -> type[Figure]:
    """Import matplotlib's Figure, or raise an error that names the extra to install."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise NotInstalledError(
            "figures need matplotlib, which is not installed", remedy="run: pip install 'baserate[plot]'."
        ) from error
    return Figure
