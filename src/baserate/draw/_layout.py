"""Layout of figures: their width and height, titles in lines that fit, and legends beside the data, never over it.

Text has the same size at every width. The layout engine of matplotlib makes space for tick labels and titles; this
module adds space for the legend, and chooses the height so that the axes keep their proportions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, cast

import numpy as np

from baserate._domains import INCHES
from baserate._errors import OptionError
from baserate.draw._style import SMALL_TEXT_SIZE
from baserate.draw._text_width import text_width, wrap_text
from baserate.read import PredictionOptions

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

Length = float | str
"""A length in inches, or text with a unit, such as "85mm"."""
DEFAULT_WIDTH = 120 / 25.4
"""Inches of a figure without a stated width."""
_UNITS = {"mm": 25.4, "cm": 2.54, "in": 1.0, "pt": 72.0}
"""Units of length: how many are an inch."""
_LENGTH = re.compile(r"([0-9]*\.?[0-9]+)\s*(mm|cm|in|pt)")
_WIDE = 5.0
"""Inches from which on the legend is on the right of the axes rather than below."""
_PAD = 0.06
"""Inches around a legend."""
_BESIDE = 0.4
"""Largest share of the width for a legend on the right."""
TALLEST = 3.5
"""Greatest height of axes in inches, beside which a legend has space in a figure of two columns."""
_MOST_COLUMNS = 3
_SHORTEST_AXES = 0.5
"""Least height of axes, in inches, beside a legend that is too tall."""
_ROUNDS = 4
"""Most corrections of the height; ticks may change with it."""


class StyleOptions(TypedDict, total=False):
    """Keywords that every figure takes: its size, its title and those of its axes."""

    width: Length | None
    height: Length | None
    title: str | None
    xlabel: str | None
    ylabel: str | None


class LookOptions(StyleOptions, total=False):
    """Keywords of all figures: those of `Look`."""

    labels: Mapping[str, str] | None


class FigureOptions(PredictionOptions, StyleOptions, total=False):
    """Keywords that every figure takes beside its own: predictions, size and words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Size and words of a figure.

    Parameters
    ----------
    width, height
        Inches, or text with a unit, such as "85mm"; by default 120 mm, and a height that fits the content.
    title
        Title above the figure.
    xlabel, ylabel
        Titles of the axes in place of the usual ones.
    labels
        Names in the data -> names in the figure: of models, groups and classes.
    """

    width: Length | None = None
    height: Length | None = None
    title: str | None = None
    xlabel: str | None = None
    ylabel: str | None = None
    labels: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        for name in ("width", "height"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else parse_length(name, value))
        if self.labels is not None:
            object.__setattr__(self, "labels", dict(self.labels))

    @property
    def inches(self) -> float:
        """Width in inches."""
        return cast("float", DEFAULT_WIDTH if self.width is None else self.width)


def parse_length(name: str, value: Length) -> float:
    """Return a length in inches.

    >>> round(parse_length("width", "85mm"), 3), parse_length("width", "3.35 in"), parse_length("width", 4)
    (3.346, 3.35, 4.0)
    """
    match = _LENGTH.fullmatch(value.strip().lower()) if isinstance(value, str) else None
    inches = float(match[1]) / _UNITS[match[2]] if match else value
    if isinstance(inches, str) or not INCHES.holds(inches):
        raise OptionError(
            f"{name} is {value!r}; expected a length from 0.5 to 100 inches, with its unit.",
            remedy="Give, for example, '85mm', '12cm' or '3.35in'.",
            option=name,
            value=value,
        )
    return float(inches)


def legend_entries(ax: Axes) -> tuple[list[Artist], list[str]]:
    """Return the artists in the legend, and their labels; what several figures on the axes share counts once."""
    entries: dict[str, Artist] = {}
    for sign, label in zip(*ax.get_legend_handles_labels(), strict=True):
        entries.setdefault(str(label), sign)
    return list(entries.values()), list(entries)


def add_legend(ax: Axes, signs: Sequence[Artist] | None = None, *, title: str | None = None) -> None:
    """Add a legend of the labelled artists, or of other ones; `arrange` places it."""
    if signs is None:
        signs, names = legend_entries(ax)
    else:
        names = [str(sign.get_label()) for sign in signs]
    if names:
        legend = ax.legend(signs, names, title=title)
        legend.set_alignment("left")


def add_axes(figure: Figure) -> Axes:
    """Add the only axes of a new figure, nearly as wide as the figure, so that painters know their space."""
    return figure.add_subplot(figure.add_gridspec(1, 1, left=0.01, right=0.99, bottom=0.01, top=0.99)[0])


def arrange(ax: Axes, look: Look, *, height: float | None, ratio: float) -> None:
    """Arrange a new figure: place its legend, break its titles into lines, and choose its height.

    Parameters
    ----------
    ax
        The only axes of the figure.
    look
        Width of the figure, and its height if that is stated.
    height
        Height of the axes in inches; by default it follows from their width.
    ratio
        Height of the axes relative to their width.
    """
    figure = cast("Figure", ax.figure)
    is_fixed = look.height is not None
    if is_fixed:
        figure.set_size_inches(look.inches, cast("float", look.height))
    titles = _titles(ax)
    place = _place_legend(ax, beside=look.inches >= _WIDE and height is None)
    for _ in range(_ROUNDS):
        place()
        width, tall = _axes_inches(ax)
        goal = min(width * ratio, TALLEST) if height is None else height
        side = min(width, tall if is_fixed else goal) if ax.get_aspect() == 1 or ax.get_box_aspect() else width
        _wrap_titles(ax, titles, side, tall if is_fixed else goal)
        _, tall = _axes_inches(ax)
        if is_fixed or abs(goal - tall) < 0.01:
            break
        figure.set_figheight(max(figure.get_figheight() + goal - tall, _least_height(ax)))
    place()
    _axes_inches(ax)
    place()  # the legend is beside the axes, whose place is known now


def _axes_inches(ax: Axes) -> tuple[float, float]:
    """Lay out the figure, and return width and height of the space that the axes have."""
    figure = cast("Figure", ax.figure)
    engine = figure.get_layout_engine()
    assert engine is not None  # noqa: S101  (our figures have one)
    engine.execute(figure)
    box = ax.get_position(original=True)
    return float(box.width * figure.get_figwidth()), float(box.height * figure.get_figheight())


def _least_height(ax: Axes) -> float:
    """Return the height of a legend on the right, with a margin; shorter figures would cut it off."""
    legend = ax.get_legend()
    return _SHORTEST_AXES if legend is None else _legend_inches(legend)[1] + _SHORTEST_AXES


def _legend_inches(legend: Legend) -> tuple[float, float]:
    box, figure = legend.get_window_extent(), cast("Figure", legend.axes.figure)
    return float(box.width / figure.dpi), float(box.height / figure.dpi)


def _place_legend(ax: Axes, *, beside: bool) -> Callable[[], None]:
    """Put the legend on the right or below; return what reserves its space, to be called whenever the size changes."""
    from matplotlib.transforms import blended_transform_factory

    figure, old = cast("Figure", ax.figure), ax.get_legend()
    engine = cast("Any", figure.get_layout_engine())
    if old is None:
        return lambda: None
    inches = figure.dpi_scale_trans
    width = figure.get_figwidth()
    space = width * (_BESIDE if beside else 1) - 2 * _PAD
    names, columns = _fit_entries(
        [text.get_text() for text in old.get_texts()], 72 * space, most=1 if beside else _MOST_COLUMNS
    )
    # A new legend, since an old one does not break its lines again.
    legend = ax.legend(
        cast("list[Artist]", old.legend_handles),
        names,
        title=old.get_title().get_text() or None,
        ncols=columns,
        loc="upper left",
    )
    legend.set_alignment("left")
    legend.get_title().set_text(wrap_text(legend.get_title().get_text(), 72 * space))
    legend.set_in_layout(False)
    long, tall = _legend_inches(legend)

    def reserve() -> None:
        height = figure.get_figheight()
        if beside:
            # Next to the axes, which may be narrower than their space; what is on their right moves it away.
            right = ax.get_tightbbox().x1 / figure.dpi  # type: ignore[union-attr]  # visible axes have a box
            left = min(right + 2 * _PAD, width - long - _PAD)
            legend.set_bbox_to_anchor((left, 1), blended_transform_factory(inches, ax.transAxes))
            engine.set(rect=(0, 0, 1 - (long + 2 * _PAD) / width, 1))
            return
        left = ax.get_position().x0 * width
        left = left if left + long <= width - _PAD else max(_PAD, min(left, width - _PAD - long))
        legend.set_bbox_to_anchor((left, tall + _PAD), inches)
        engine.set(rect=(0, (tall + 2 * _PAD) / height, 1, max(1 - (tall + 2 * _PAD) / height, 0.01)))

    return reserve


def _fit_entries(names: Sequence[str], space: float, *, most: int) -> tuple[list[str], int]:
    """Return names in lines that fit a space in points, and the number of columns."""
    from matplotlib import rcParams

    em = float(SMALL_TEXT_SIZE)
    sign = em * (rcParams["legend.handlelength"] + rcParams["legend.handletextpad"])
    gap = em * rcParams["legend.columnspacing"]
    plain = [name.replace(r"\$", "$") for name in names]
    widths = [text_width(name) for name in plain]

    def total(columns: int) -> float:
        return sum(float(max(part)) + float(sign + gap) for part in np.array_split(widths, columns)) - float(gap)

    columns = next((many for many in range(min(most, len(names)), 1, -1) if total(many) <= space), 1)
    wrapped = [wrap_text(name, space - sign) if columns == 1 else name for name in plain]
    return [name.replace("$", r"\$") for name in wrapped], columns


class _Title(NamedTuple):
    """A title of axes: its text, its words in one line, and what it must fit."""

    text: Any
    words: str
    axes: Any
    side: Literal["x", "y", "top"]


def _titles(ax: Axes) -> list[_Title]:
    """Return the titles of the axes, of their insets and of the figure."""
    every: Any = [ax, *(each for each in ax.child_axes if hasattr(each, "get_xlabel"))]
    titles = []
    for each in every:
        texts: dict[Literal["x", "y", "top"], Any] = {"x": each.xaxis.label, "y": each.yaxis.label, "top": each.title}
        titles += [_Title(text, text.get_text(), each, side) for side, text in texts.items()]
    return [each for each in titles if each.words]


def wrap_titles(ax: Axes) -> None:
    """Break titles into lines that fit axes of any size."""
    box, dpi = ax.get_window_extent(), cast("Figure", ax.get_figure(root=True)).dpi
    _wrap_titles(ax, _titles(ax), box.width / dpi, box.height / dpi)


def _wrap_titles(ax: Axes, titles: Sequence[_Title], width: float, height: float) -> None:
    """Break titles into lines that fit the axes that they belong to."""
    for text, words, axes, side in titles:
        across, up = width, height
        if axes is not ax:
            box = axes.get_window_extent()
            across, up = (each / axes.get_figure(root=True).dpi for each in (box.width, box.height))
        length = 72 * max(up if side == "y" else across, _SHORTEST_AXES)
        font: Any = {"size": text.get_fontsize(), "bold": text.get_fontweight() == "bold"}
        plain = wrap_text(words, length, **font)
        # An explanation in parentheses begins a line of its own, unless that takes more lines.
        apart = wrap_text(words.replace(" (", "\n("), length, **font)
        text.set_text(plain if "\n" not in plain or plain.count("\n") < apart.count("\n") else apart)
