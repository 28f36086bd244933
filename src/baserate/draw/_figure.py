"""`Drawing`, a figure with its numbers and files, and how figures are made of numbers and a painter."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial, wraps
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Unpack, cast

import numpy as np

from baserate._arrays import FrozenMapping
from baserate._domains import unused_option
from baserate._errors import NotInstalledError, OptionError
from baserate._files import draft_file, write_text
from baserate._formatting import count_of
from baserate._lazy import unknown_member
from baserate._results import Results, Values
from baserate.draw._formats import DEFAULT_DPI, PICTURES, render
from baserate.draw._labels import relabel
from baserate.draw._layout import Length, Look, LookOptions, add_axes, arrange, wrap_titles
from baserate.draw._style import apply_style, count_series_on

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Parts = Mapping[str, Results]
"""Numbers of each part of a figure, such as a curve, its hull and points on it."""
Painter = Callable[["Axes", Parts], float | None]
"""Paints numbers on axes without computing anything; returns the height of the axes in inches, if it is a fixed one."""
RATIO = 0.75
"""Height of axes relative to their width."""
_LEGEND_LINE = 64
"""Characters in a line of a legend on axes of the user."""


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
    look: Look = Look()  # noqa: RUF009  (it is immutable)
    """Size and words of the figure."""
    ratio: float = RATIO
    """Height of new axes relative to their width."""

    def __repr__(self) -> str:
        parts = (f"{count_of(len(part), 'row')} of {name}" for name, part in self.parts.items())
        return f"Drawing({self.name}: {', '.join(parts)})"

    if not TYPE_CHECKING:  # or type checkers would accept every name

        def __getattr__(self, name):  # noqa: ANN001, ANN204
            raise unknown_member(self, name)

    def __reduce__(self) -> tuple[Any, ...]:
        # Axes do not pickle reliably; numbers and a painter do.
        return partial(make_drawing, look=self.look, ratio=self.ratio), (self.name, self.parts, self.painter)

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

    def plot(self, ax: Axes | None = None, **look: Unpack[LookOptions]) -> Drawing:
        """Paint the same numbers again: on other axes, at another width, or with other words.

        Parameters
        ----------
        ax
            Matplotlib axes; new ones by default.
        **look
            Size and words of the figure, which all figures take as keywords, too; those of this drawing by default.
            `width` and `height` of new axes are inches or text with a unit ("85mm", "12cm", "3.35in"); by default 120
            mm, and a height that fits the content. Text has 7 to 8 points at every width. `title`, `xlabel` and
            `ylabel` are words. `labels` maps names in the data to names in the figure, of models, groups and classes.

        Returns
        -------
        Drawing
            The drawing on its axes.

        Examples
        --------
        >>> from baserate import draw
        >>> drawing = draw.roc([1, 0, 1, 0], {"risk": [0.9, 0.6, 0.4, 0.1], "old": [0.3, 0.2, 0.4, 0.5]})
        >>> paper = drawing.plot(width="85mm", labels={"risk": "Model A", "old": "Model B"})
        >>> round(float(paper.figure.get_figwidth()) * 25.4, 1)
        85.0
        """
        new = replace(self.look, **look)
        return make_drawing(self.name, self.parts, self.painter, ax=ax, look=new, ratio=self.ratio)

    def save(self, path: str | os.PathLike[str], *, width: Length | None = None, dpi: float = DEFAULT_DPI) -> None:
        """Write a picture (.svg, .pdf, .eps, .png, .tiff) or its numbers (.csv, .json).

        Equal numbers give equal files. Text in SVG files is text, and PDF and EPS files contain their fonts as
        TrueType, so that all of them can be edited.

        Parameters
        ----------
        path
            File to write; its ending selects the format.
        width
            Width of the figure, as in `plot`; by default the figure is written as it is.
        dpi
            Dots per inch of PNG and TIFF.
        """
        ending = Path(path).suffix.lstrip(".").lower()
        if ending in {"csv", "json"}:
            write_text(path, self.numbers.to_csv() if ending == "csv" else self.numbers.to_json())
        elif ending in PICTURES:
            figure = self.figure if width is None else self.plot(width=width).figure
            with draft_file(path) as draft:
                draft.write_bytes(render(figure, ending, dpi))
        else:
            raise OptionError(
                f"{Path(path).name} has an unknown file type; expected .svg, .pdf, .eps, .png, .tiff, .csv or .json.",
                remedy="Use .csv or .json for the numbers.",
            )

    def _repr_png_(self) -> bytes:
        return render(self.figure, "png", 144)


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


_look: ContextVar[Look] = ContextVar("look", default=Look())  # noqa: B039  (it is immutable)
"""Size and words of the figure that is being made."""
_Figure = TypeVar("_Figure", bound=Callable[..., Drawing])


def split_look(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split the keywords of a call into those of size and words, and all others."""
    names = {*LookOptions.__annotations__}
    # Labels by name are those of the figure; a list of labels are the classes of the data.
    if not isinstance(options.get("labels"), Mapping):
        names.discard("labels")
    look = {name: value for name, value in options.items() if name in names}
    return look, {name: value for name, value in options.items() if name not in names}


def takes_look(function: _Figure) -> _Figure:
    """Let the function of a figure take size and words as keywords, which `Look` lists.

    The function declares them as `**predictions: Unpack[FigureOptions]`; it never receives any.
    """

    @wraps(function)
    def call(*args: Any, **options: Any) -> Drawing:  # noqa: ANN401  (those of the function)
        look, rest = split_look(options)
        before = _look.set(Look(**look))
        try:
            return function(*args, **rest)
        finally:
            _look.reset(before)

    call.__doc__ = _describe_look(function.__doc__ or "")
    return cast("_Figure", call)


def _describe_look(written: str) -> str:
    """Add the keywords of all figures to a docstring."""
    before, returns, after = written.partition("\n\n    Returns\n")
    names = ", ".join(LookOptions.__annotations__)
    return f"{before}\n    {names}\n        Size and words of the figure, as in `Drawing.plot`.{returns}{after}"


def make_drawing(
    name: str,
    parts: Parts,
    painter: Painter,
    *,
    ax: Axes | Canvas | None = None,
    look: Look | None = None,
    ratio: float = RATIO,
) -> Drawing:
    """Paint numbers on the given axes in their own style, or on new ones in the style of baserate."""
    figure, look = import_matplotlib(), _look.get() if look is None else look
    if isinstance(ax, Canvas):
        parts, ax = ax.prepare(parts), ax.ax
    ours = ax is None
    for option in ("width", "height"):
        if not ours and (stated := getattr(look, option)) is not None:
            raise unused_option(option, stated, "the axes are part of a figure, which has its size")
    with apply_style(ours=ours):
        # Not by pyplot, which would keep the figure in memory and select a graphical backend.
        new = figure(figsize=(look.inches, look.inches), layout="constrained", dpi=DEFAULT_DPI) if ours else None
        axes: Any = ax if new is None else add_axes(new)
        with count_series_on(axes):
            height = painter(axes, relabel(parts, look.labels))
        _apply_words(axes, look)
        if ours:
            arrange(axes, look, height=height, ratio=ratio)
        else:
            wrap_titles(axes)
            _fit_legend(axes)
    return Drawing(name, FrozenMapping(parts), painter, axes, look, ratio)


def _apply_words(ax: Axes, look: Look) -> None:
    """Put the stated title and titles of axes in place of the usual ones."""
    if look.title is not None:
        ax.set_title(look.title, parse_math=False)  # a $ in a title begins no formula
    for words, side in ((look.xlabel, "x"), (look.ylabel, "y")):
        if words is not None:
            axis_label(ax, side).set(text=words, parse_math=False)


def axis_label(ax: Axes, side: str) -> Any:  # noqa: ANN401  (a text of matplotlib)
    """Return the title of an axis; that of the lowest panel, if panels below share the axis.

    Where panels fill the axes, these have the title of all of them.
    """
    panels = [each for each in ax.child_axes if hasattr(each, "get_xlabel")] if ax.patch.get_visible() else []
    axes: Any = [ax, *panels]
    titled = [each for each in axes if (each.xaxis if side == "x" else each.yaxis).label.get_text()]
    chosen = (titled or axes)[-1 if side == "x" else 0]
    return (chosen.xaxis if side == "x" else chosen.yaxis).label


def _as_list(column: Values) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _fit_legend(ax: Axes) -> None:
    """Put the legend inside axes of the user, who may have reserved no space for it."""
    legend = ax.get_legend()
    if legend is None:
        return
    names = [fill(text.get_text(), _LEGEND_LINE, subsequent_indent="  ") for text in legend.get_texts()]
    # Panels of groups fill the axes.
    place: Any = (
        {"loc": "best"} if ax.patch.get_visible() else {"loc": "upper left", "bbox_to_anchor": (0, -0.02), "ncols": 2}
    )
    title = legend.get_title().get_text() or None
    # Small, and ignored by the layout: the axes may be one of many panels.
    handles = cast("list[Artist]", legend.legend_handles)
    new = ax.legend(handles, names, title=title, fontsize="x-small", title_fontsize="x-small", **place)
    new.set_in_layout(False)


def import_matplotlib() -> type[Figure]:
    """Import matplotlib's Figure, or raise an error that names the extra to install."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise NotInstalledError(
            "figures need matplotlib, which is not installed", remedy="run: pip install 'baserate[plot]'."
        ) from error
    return Figure
