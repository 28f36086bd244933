"""`Drawing`, a figure with its numbers and files; the style of all figures; and lines, bands, points and legends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from math import isfinite
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from baserate._arrays import Floats, FrozenMapping
from baserate._curve import Curve
from baserate._errors import NotInstalledError, OptionError
from baserate._files import draft_file, write_text
from baserate._formatting import count_of
from baserate._lazy import unknown_member
from baserate._results import Results, Values
from baserate._tally import Tallies
from baserate.decide import require_both_classes
from baserate.draw._data import Mixed, Series, SeriesKey, split_labels, split_series
from baserate.text import measure_label

if TYPE_CHECKING:
    from matplotlib.artist import Artist
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
MOST_LABELS_INSIDE = 5
"""Largest number of labels of a legend inside the axes."""
LONGEST_LABEL_INSIDE = 44
"""Largest number of characters of a label of a legend inside the axes."""
LEGEND_LINE = 64
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
SHORT_AXIS = 3.0
"""Inches of an axis below which its label needs two lines."""
AXIS_LABELS = {
    "act_from": "threshold probability",
    "cost": "normalized expected cost",
    "cost_proportion": "cost proportion (FP cost over FP cost + FN cost)",
    "density": "density",
    "flag_rate": "flag rate (share of all flagged)",
    "fnr": "false negative rate (1 − sensitivity)",
    "fpr": "false positive rate (1 − specificity)",
    "lift": "lift (precision over prevalence)",
    "loss": "Brier loss (cost per person)",
    "mass": "probability mass",
    "net_benefit": "net benefit",
    "precision": "precision (PPV)",
    "prevalence": "prevalence",
    "probability": "predicted probability",
    "probability_cost": "probability cost (share of costs due to positives)",
    "ratio": "likelihood ratio",
    "recall": "recall (sensitivity)",
    "sensitivity": "sensitivity (recall)",
    "share": "observed share of positives",
}
"""Labels of axes: the standard term, with a synonym or explanation in parentheses."""


_series_before: ContextVar[int] = ContextVar("series_before", default=0)
"""Number of series that are on the axes already, while a figure is painted."""


def place_on_axes(at: int) -> int:
    """Return the index of a series among all on the axes, to which an earlier figure may have added some."""
    return at + _series_before.get()


def color_at(at: int) -> str:
    """Return the color of the series at an index."""
    return COLORS[place_on_axes(at) % len(COLORS)]


def line_style_at(at: int) -> str:
    """Return the line style of the series at an index: with 7 colors and 4 styles, 28 series differ."""
    return LINE_STYLES[place_on_axes(at) % len(LINE_STYLES)]


def marker_at(at: int) -> str:
    """Return the marker of the series at an index."""
    return MARKERS[place_on_axes(at) % len(MARKERS)]


def label_axes(ax: Axes, x: str, y: str) -> None:
    """Label both axes, in two lines where the axes are small."""
    box, dpi = ax.get_window_extent(), ax.get_figure(root=True).dpi  # type: ignore[union-attr]  # it has one
    for put, name, length in ((ax.set_xlabel, x, box.width), (ax.set_ylabel, y, box.height)):
        label = AXIS_LABELS.get(name, measure_label(name))
        put(label if length / dpi >= SHORT_AXIS else label.replace(" (", "\n("))


def set_unit_limits(ax: Axes, axes: Sequence[str] = ("x", "y")) -> None:
    """Limit axes to 0 to 1, with a margin so that a line on the edge is visible."""
    for each in axes:
        (ax.set_xlim if each == "x" else ax.set_ylim)(-0.02, 1.02)


def place_legend(ax: Axes, where: Any, *, away: float = 1.02, longest: int = LONGEST_LABEL_INSIDE) -> None:  # noqa: ANN401  (a place, as matplotlib calls it)
    """Add a legend if there are labels: inside the axes if it fits a free corner, otherwise on their right."""
    signs, labels = legend_entries(ax)
    if labels and (where is None or len(labels) > MOST_LABELS_INSIDE or max(map(len, labels)) > longest):
        ax.legend(signs, labels, loc="upper left", bbox_to_anchor=(away, 1.0), borderaxespad=0.0)
    elif labels:
        ax.legend(signs, labels, loc=where)


def legend_entries(ax: Axes) -> tuple[list[Artist], list[str]]:
    """Return the artists in the legend, and their labels; what several figures on the axes share counts once."""
    entries: dict[str, Artist] = {}
    for sign, label in zip(*ax.get_legend_handles_labels(), strict=True):
        entries.setdefault(str(label), sign)
    return list(entries.values()), list(entries)


def legend_label(*parts: str) -> str:
    """Join the name of a series and its details to a wrapped label.

    >>> legend_label("risk", "AUC 0.8"), legend_label("", "AUC 0.8")
    ('risk: AUC 0.8', 'AUC 0.8')
    """
    # Matplotlib typesets text between dollar signs as formulas.
    text = fill(": ".join(filter(None, parts)), LEGEND_LINE, subsequent_indent="  ").replace("$", r"\$")
    # Matplotlib leaves labels that begin with an underscore out of legends; a hair space before it prevents that.
    return f"\u200a{text}" if text.startswith("_") else text


def format_percent(share: float) -> str:
    """Format a share as a percentage.

    >>> format_percent(0.95), format_percent(0.0123)
    ('95%', '1.23%')
    """
    return f"{100 * share:.3g}%"


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

    `parts` maps names such as "curve", "hull" and "points" to numbers; `frame` and `rows` return all of them.
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

    if not TYPE_CHECKING:  # or type checkers would accept every name

        def __getattr__(self, name):  # noqa: ANN001, ANN204
            raise unknown_member(self, name)

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
        """All numbers as one table; the column `part` names their part of the figure."""
        names = dict.fromkeys(name for part in self.parts.values() for name in part.columns)
        columns: dict[str, list[Any]] = {"part": [], **{name: [] for name in names}}
        for part_name, part in self.parts.items():
            columns["part"] += [part_name] * len(part)
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
                f"{Path(path).name} has an unknown file type; expected .svg, .png, .pdf, .csv or .json.",
                remedy="Use .csv or .json for the numbers.",
            )

    def _repr_png_(self) -> bytes:
        return self._render("png", 144)

    def _render(self, form: str, dpi: float) -> bytes:
        from matplotlib import rc_context

        buffer = BytesIO()
        with rc_context(SAVE_STYLE):  # the salt makes identifiers in SVG files reproducible
            self.figure.savefig(buffer, format=form, dpi=dpi, metadata=_METADATA[form])
        return buffer.getvalue()


class Canvas(NamedTuple):
    """Axes of a display of scikit-learn's kind, which names a single model in the legend."""

    ax: Axes | None
    name: str
    """Name of the model; empty for none."""
    has_chance: bool
    """Whether to paint the line of chance."""

    def prepare(self, parts: Parts) -> Parts:
        """Name the model in all parts, and leave out chance."""
        return {
            name: self._prepare_part(part) for name, part in parts.items() if self.has_chance or name != "prevalence"
        }

    def _prepare_part(self, part: Results) -> Results:
        columns = dict(part.columns)
        labels = [label for name in ("model", "group") for label in columns.get(name, ())]
        if self.name and "model" in columns and all(each is None for each in labels):
            columns["model"] = [self.name] * len(part)
        if not self.has_chance and "chance" in columns.get("name", ()):
            rest = [at for at, name in enumerate(columns["name"]) if name != "chance"]
            columns = {name: [column[at] for at in rest] for name, column in columns.items()}
        return Results(columns, part.data)


def make_drawing(
    name: str, parts: Parts, painter: Painter, *, ax: Axes | Canvas | None = None, size: tuple[float, float] = SIZE
) -> Drawing:
    """Paint numbers on the given axes in their own style, or on new ones in the style of baserate."""
    figure = import_matplotlib()
    if isinstance(ax, Canvas):
        parts, ax = ax.prepare(parts), ax.ax
    with apply_style(ours=ax is None):
        # Not by pyplot, which would keep the figure in memory and select a graphical backend.
        axes = figure(figsize=size, layout="constrained").add_subplot() if ax is None else ax
        before = _series_before.set(_count_series(axes))
        try:
            painter(axes, parts)
            _fit_legend(axes, ours=ax is None)
        finally:
            _series_before.reset(before)
    return Drawing(name, FrozenMapping(parts), painter, axes, size)


def _count_series(ax: Axes) -> int:
    """Return how many of our colors lines on the axes have, so that a second figure there continues with the next."""
    return len({str(line.get_color()) for line in ax.get_lines()} & {*COLORS})


def _as_list(column: Values) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _fit_legend(ax: Axes, *, ours: bool) -> None:
    """Widen a new figure by a legend beside the axes, which keep their size; in other figures, put it inside."""
    legend, figure = ax.get_legend(), ax.get_figure(root=True)
    if legend is None or figure is None:
        return
    # Beside the axes a legend is anchored at a point, inside them at the box of the axes; below, at a line.
    anchor = legend.get_bbox_to_anchor()
    if ours and not anchor.width:
        width, height = figure.get_size_inches()
        figure.set_size_inches(width + legend.get_window_extent().width / figure.dpi + _LEGEND_MARGIN, height)
    elif not ours and not (anchor.width and anchor.height) and ax.axison:
        # Small, and ignored by the layout: the axes may be one of many panels.
        ax.legend(*legend_entries(ax), loc="best", fontsize="x-small").set_in_layout(False)


def import_matplotlib() -> type[Figure]:
    """Import matplotlib's Figure, or raise an error that names the extra to install."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise NotInstalledError(
            "figures need matplotlib, which is not installed", remedy="run: pip install 'baserate[plot]'."
        ) from error
    return Figure


AxisNames = tuple[str, str]
"""Columns of the x-axis and of the y-axis."""
SHADE = 0.16
"""Opacity of a band."""
_REFERENCES = ("-", ":", "--")


def paint_curves(
    ax: Axes,
    parts: Parts,
    axes: AxisNames,
    *,
    details: Mapping[SeriesKey, str] | None = None,
    step: Literal["pre"] | None = None,
) -> None:
    """Paint the curve of every series, with its band if it has one, and details in the legend."""
    if "curve" not in parts:
        return
    drawstyle: Any = "default" if step is None else f"steps-{step}"
    for at, each in enumerate(split_series(parts["curve"])):
        x, y = (as_gaps(each.rows[name]) for name in axes)
        label = legend_label(each.name, (details or {}).get(each.key, ""))
        # A line through a single point is invisible; draw a marker.
        sign = "o" if step is None and sum(map(isfinite, y)) == 1 else None
        ax.plot(
            x,
            y,
            color=color_at(at),
            linestyle=line_style_at(at),
            drawstyle=drawstyle,
            marker=sign,
            label=label,
            zorder=3,
        )
        if "low" in each.rows:
            # A step begins at the previous point, where the band may be undefined.
            low, high = (_start_steps(each.rows[end], step) for end in ("low", "high"))
            label = band_label(parts["curve"]) if at == 0 else ""
            ax.fill_between(x, low, high, step=step, color=color_at(at), alpha=SHADE, linewidth=0, label=label)


def paint_points(ax: Axes, parts: Parts, axes: AxisNames) -> None:
    """Paint classifiers that only give labels, in colors and markers of their own."""
    before = len(series_positions(parts))
    for at, row in enumerate(parts["points"].rows() if "points" in parts else ()):
        x, y = (as_gaps([row[name]]) for name in axes)
        ax.plot(x, y, marker_at(at), color=color_at(before + at), label=legend_label(row["name"]), zorder=4)


def paint_marks(ax: Axes, parts: Parts, axes: AxisNames) -> None:
    """Paint marked decisions: hollow markers in the color of the series."""
    if "marks" not in parts:
        return
    positions = series_positions(parts)
    signs = {name: marker_at(at) for at, name in enumerate(dict.fromkeys(parts["marks"].columns["name"]))}
    unlabeled = dict(signs)  # each name has one entry in the legend
    for row in parts["marks"].rows():
        x, y = (as_gaps([row[name]]) for name in axes)
        label = legend_label(row["name"]) if unlabeled.pop(row["name"], None) else ""
        look: Any = {"color": color_at(positions[row["model"], str(row["group"])]), "linestyle": "none", "zorder": 5}
        ax.plot(x, y, marker=signs[row["name"]], markerfacecolor="white", markeredgewidth=1.4, label=label, **look)


def paint_references(ax: Axes, parts: Parts, axes: AxisNames) -> None:
    """Paint reference lines."""
    rows = parts["reference"].rows()
    for at, name in enumerate(dict.fromkeys(row["name"] for row in rows)):
        x, y = ([row[axis] for row in rows if row["name"] == name] for axis in axes)
        ax.plot(
            x, y, color=LIGHT_GRAY, linestyle=_REFERENCES[at % len(_REFERENCES)], linewidth=1, label=name, zorder=1.5
        )


def estimate_labels(parts: Parts, measure: str, short: str) -> dict[SeriesKey, str]:
    """Return the legend text of each series: a number with its interval, or that it is undefined."""
    estimates = parts[measure].rows() if measure in parts else ()
    return {(row["model"], str(row["group"])): f"{short} {_format_estimate(row)}" for row in estimates}


def series_positions(parts: Parts) -> dict[SeriesKey, int]:
    """Return the index of each series among those of the curve."""
    return {each.key: at for at, each in enumerate(split_series(parts["curve"]))} if "curve" in parts else {}


def as_gaps(values: Iterable[float | None]) -> list[float]:
    """Replace None by NaN, which matplotlib draws as a gap."""
    return [float("nan") if value is None else value for value in values]


def free_corner(parts: Parts, corner: str) -> str | None:
    """Return the corner for the legend; None where a band may cover it."""
    return None if "low" in getattr(parts.get("curve"), "columns", ()) else corner


def band_label(table: Results) -> str:
    """Describe a band for the legend."""
    kind = "simultaneous" if table.data["simultaneous"] else "pointwise"
    return f"{format_percent(table.data['level'])} confidence band, {kind}"


def _start_steps(bounds: list[float | None], step: str | None) -> list[float]:
    return as_gaps(bounds if step is None else bounds[1:2] + bounds[1:])


def _format_estimate(row: Mapping[str, Any]) -> str:
    if row["value"] is None:
        return "undefined"
    if row["low"] is None:
        return f"{row['value']:.3f}"
    bounds = f"{format_percent(row['level'])} CI {row['low']:.3f} to {row['high']:.3f}"
    return f"{row['value']:.3f} ({bounds})".replace(" ", "\u00a0")  # no-break spaces keep the numbers on one line


MANY_SERIES = 5
"""Number of series from which on the legend goes to the right."""
SIZE_WITH_LEGEND = (SIZE[0], SIZE[1] + 0.6)
"""Inches of a figure with a legend below."""
_LONG = 30
"""Characters of a name from which on the legend has one column."""
_WIDEST_BELOW = 46
"""Characters in a line of a legend below the axes."""
_LEGEND_GAP = 30
"""Distance of a legend below the axes in points, for tick labels and axis label."""
_LINE_HEIGHT = 0.17
"""Height of a line of a legend, in inches."""


def probability_tallies(data: Mixed) -> Tallies:
    """Return models with scores, which may be probabilities; raise an error for labels."""
    scored, labels = split_labels(data)
    if scored is None or labels is not None:
        names = ", ".join(labels.models) if labels is not None else "nothing"
        raise OptionError(f"{names} contains labels; expected probabilities.", remedy="Pass only models with scores.")
    return scored


def check_both_classes(tallies: Tallies, what: str) -> None:
    """Raise an error unless every model has both classes."""
    for model in tallies.models:
        require_both_classes(Curve(tallies.pooled(model)), what)


def plot_values(column: Iterable[float | None]) -> Floats:
    """Return numbers to plot; undefined ones are gaps.

    >>> plot_values([0.5, None]).tolist()
    [0.5, nan]
    """
    return np.array(as_gaps(column), dtype=np.float64)


def paint_line(ax: Axes, each: Series, at: int, axes: AxisNames, **look: Any) -> None:  # noqa: ANN401  (matplotlib's)
    """Paint the line of a series, in the style of its index unless another is given."""
    x, y = (plot_values(each.rows[name]) for name in axes)
    default = {"color": color_at(at), "linestyle": line_style_at(at), "label": legend_label(each.name)}
    ax.plot(x, y, **(default | look))


def paint_band(ax: Axes, rows: Mapping[str, list[Any]], at: int, x: str, *, label: str = "") -> None:
    """Shade the band between `low` and `high`."""
    low, high = plot_values(rows["low"]), plot_values(rows["high"])
    ax.fill_between(plot_values(rows[x]), low, high, color=color_at(at), alpha=SHADE, linewidth=0, label=label)


def add_legend(ax: Axes, many: int, *, bottom: float = 0.0) -> None:
    """Add a legend where it hides nothing: below, or on the right if there are many series.

    `bottom` is the lower end of the axes with their insets, as a fraction of their height.
    """
    signs, names = legend_entries(ax)
    if place_on_axes(many) < MANY_SERIES:
        add_legend_below(ax, signs, columns=1 if max(map(len, names)) > _LONG else 2, bottom=bottom)
    else:
        place_legend(ax, None)


def add_legend_below(ax: Axes, signs: Sequence[Artist], *, columns: int, bottom: float = 0.0) -> None:
    """Add a legend below the axes, under their tick labels and title."""
    from matplotlib.transforms import ScaledTranslation

    names = [_wrap_name(str(sign.get_label())) for sign in signs]
    # In points, not as a fraction of the axes: tick labels and axis label have the same height in figures of any size.
    place = ax.transAxes + ScaledTranslation(0, -_LEGEND_GAP / 72, ax.figure.dpi_scale_trans)
    where: Any = {"bbox_to_anchor": (0, bottom, 1, 0), "bbox_transform": place}
    ax.legend(signs, names, loc="upper left", ncols=columns, **where)


def _wrap_name(name: str) -> str:
    """Wrap a name to the width of the axes."""
    return fill(name.replace("\n  ", " "), _WIDEST_BELOW, subsequent_indent="  ")


def fit_size(table: Results, size: tuple[float, float] = SIZE_WITH_LEGEND) -> tuple[float, float]:
    """Return the size in inches of a figure that is tall enough for the names of all series."""
    width, height = size
    names = [_wrap_name(each.name) for each in split_series(table)]
    if len(names) < MANY_SERIES:
        return width, height + _LINE_HEIGHT * sum(1 + name.count("\n") for name in names if len(name) > _LONG)
    return width, max(height, 1 + _LINE_HEIGHT * len(names))
