"""Drawing: what was drawn, the numbers behind it, and files of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from baserate._errors import NotInstalledError, OptionError
from baserate._files import draft_file, write_text
from baserate._formatting import count_of
from baserate._immutable import FrozenMapping
from baserate._results import Results, Values
from baserate.draw._style import SAVED, SIZE, looking

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Parts = Mapping[str, Results]
"""What is drawn -> its numbers: a curve, its hull, points on it."""
Painter = Callable[["Axes", Parts], None]
"""Puts the numbers on axes; it computes nothing."""

PICTURES = ("svg", "png", "pdf")
_METADATA: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""Left out, so that the same numbers make the same file."""
_ROOM = 0.2
"""Inches beside a legend, since letters are not equally wide at every number of dots per inch."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Drawing:
    """A figure with the numbers that it shows.

    `parts` holds them by what they are: a curve, its hull, points on it; `frame` and `rows` give all of them. `plot`
    paints the same numbers once more, on other axes; nothing is computed again. A drawing that is copied, or sent to
    another process, is painted once more on axes of its own.
    """

    name: str
    parts: Parts
    painter: Painter
    ax: Axes
    """The axes that were painted on; `ax.figure` is theirs."""
    size: tuple[float, float] = SIZE
    """Inches of a figure of its own."""

    def __repr__(self) -> str:
        parts = (f"{count_of(len(part), 'row')} of {name}" for name, part in self.parts.items())
        return f"Drawing({self.name}: {', '.join(parts)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(drawn, size=self.size), (self.name, self.parts, self.painter)

    @property
    def figure(self) -> Figure:
        """The whole figure."""
        found = self.ax.get_figure(root=True)
        assert found is not None  # noqa: S101  (for the type checker: axes that are painted on have one)
        return found

    @property
    def numbers(self) -> Results:
        """All numbers as one table; the column `part` says what they are of."""
        named = dict.fromkeys(name for part in self.parts.values() for name in part.columns)
        columns: dict[str, list[Any]] = {"part": [], **{name: [] for name in named}}
        for what, part in self.parts.items():
            columns["part"] += [what] * len(part)
            for name in named:
                columns[name] += _listed(part.columns[name]) if name in part.columns else [None] * len(part)
        return Results(columns, next(iter(self.parts.values())).data)

    def rows(self) -> list[dict[str, Any]]:
        """One mapping for each row of the numbers."""
        return self.numbers.rows()

    def frame(self, backend: str | None = None) -> Any:  # noqa: ANN401  (a frame of the chosen library)
        """Return the numbers as a frame of pandas, Polars or PyArrow."""
        return self.numbers.frame(backend)

    def plot(self, ax: Axes | None = None) -> Drawing:
        """Paint the same numbers on other axes, or on new ones."""
        return drawn(self.name, self.parts, self.painter, ax=ax, size=self.size)

    def save(self, path: str | os.PathLike[str], *, dpi: float = 200) -> None:
        """Write a picture (.svg, .png, .pdf) or its numbers (.csv, .json), the same each time."""
        ending = Path(path).suffix.lstrip(".").lower()
        if ending in {"csv", "json"}:
            write_text(path, self.numbers.to_csv() if ending == "csv" else self.numbers.to_json())
        elif ending in PICTURES:
            with draft_file(path) as draft:
                draft.write_bytes(self._written(ending, dpi))
        else:
            raise OptionError(
                f"{Path(path).name} is no kind of picture that we write; end the name in .svg, .png or .pdf, or in "
                ".csv or .json for the numbers."
            )

    def _repr_png_(self) -> bytes:
        return self._written("png", 144)

    def _written(self, form: str, dpi: float) -> bytes:
        from matplotlib import rc_context

        held = BytesIO()
        with rc_context(SAVED):
            self.figure.savefig(held, format=form, dpi=dpi, metadata=_METADATA[form])
        return held.getvalue()


def drawn(
    name: str, parts: Parts, painter: Painter, *, ax: Axes | None = None, size: tuple[float, float] = SIZE
) -> Drawing:
    """Paint numbers on the axes that were given, in their style, or on new ones in ours."""
    figure = importing()
    with looking(ours=ax is None):
        # Not by pyplot, which would hold the figure for ever, and choose a screen.
        axes = figure(figsize=size, layout="constrained").add_subplot() if ax is None else ax
        painter(axes, parts)
        _make_room(axes, ours=ax is None)
    return Drawing(name, FrozenMapping(parts), painter, axes, size)


def _listed(column: Values) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _make_room(ax: Axes, *, ours: bool) -> None:
    """Make our figure wider by a legend beside the axes, so that these keep their size; in others', put it inside."""
    legend, figure = ax.get_legend(), ax.get_figure(root=True)
    if legend is None or figure is None:
        return
    anchor = legend.get_bbox_to_anchor()
    if ours and not anchor.width:
        width, height = figure.get_size_inches()
        figure.set_size_inches(width + legend.get_window_extent().width / figure.dpi + _ROOM, height)
    elif not ours and not (anchor.width and anchor.height) and ax.axison:
        # Small, and without a say in the layout: the axes may be one of many panels.
        ax.legend(loc="best", fontsize="x-small").set_in_layout(False)


def importing() -> type[Figure]:
    """Find matplotlib, or say how to get it."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise NotInstalledError(
            "figures need matplotlib, which is not installed; run: pip install 'baserate[plot]'."
        ) from error
    return Figure
