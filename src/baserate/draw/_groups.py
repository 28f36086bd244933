"""Measures by group: a dot and its confidence interval for each group and measure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from baserate._domains import ShareLike, parse_share
from baserate._errors import OptionError, keyword
from baserate._policy import Policy
from baserate._tally import Tallies
from baserate.draw._figure import Drawing, Parts, make_drawing, takes_look
from baserate.draw._layout import FigureOptions, add_legend
from baserate.draw._lines import legend_label
from baserate.draw._style import (
    LIGHT_GRAY,
    SMALL_TEXT_SIZE,
    THIN,
    capitalize_first,
    color_at,
    format_percent,
    marker_at,
    measure_title,
    show_percentages,
)
from baserate.draw._text_width import fit_lines, text_width
from baserate.fairness import group_table
from baserate.infer import IntervalOptions
from baserate.measure import Measure, describe, find_measure
from baserate.read import accepts_predictions
from baserate.text import EVERYBODY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = Mapping[str, Any]
_NAME_LINES = 2
"""Most lines of a group's name in the figure; longer ones are shortened."""
_WIDEST_NAMES = 0.36
"""Largest share of the width for the names of the groups."""
_PANEL = 0.72
"""Least width of a panel, in inches."""
_GAP = 0.3
"""Inches between panels, for the ends of their tick labels."""
_LINE, _DOT = 0.135, 0.1
"""Inches for a line of text, and for the dot of a further model."""
_ABOVE, _BELOW = 0.34, 0.24
"""Inches for the name of a measure above its panel, in two lines, and for tick labels below."""
_NEAR_PAD = 0.04
"""Part of the scale beyond its ends, on each side."""
_TICK = 0.36
"""Least distance of ticks, in inches."""
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
"""Distances of ticks of rates."""


@takes_look
@accepts_predictions("figure")
def groups(
    data: Tallies,
    *,
    threshold: float | None = None,
    policy: Policy | Mapping[str, Policy] | None = None,
    measures: Iterable[str | Measure] | None = None,
    level: ShareLike = 0.95,
    ax: Axes | None = None,
    **predictions: Unpack[FigureOptions],
) -> Drawing:
    """Draw measures of all rows and of each group, with intervals: a panel per measure, a line per group.

    A dotted line shows the value of all rows. Hollow dots have few rows: fewer than 50, or too few to detect a
    difference of 0.2. The figure shows differences between groups, not whether they are justified.

    Parameters
    ----------
    data
        Tallies that were read with groups.
    threshold
        Threshold of all models; 0.5 by default if the scores are probabilities.
    policy
        Policy instead of a threshold, or one for each model by name.
    measures
        Measures or their names, as in `fairness.group_table`.
    level
        Confidence level of the intervals.
    ax
        Matplotlib axes to paint on; new ones by default.

    Returns
    -------
    Drawing
        The figure with its numbers.

    Examples
    --------
    >>> from baserate import draw, read
    >>> people = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1], "sex": ["f", "f", "m", "m"]}
    >>> t = read.tallies(people, truth="sick", score="risk", group="sex")
    >>> [(row["group"], row["value"]) for row in draw.groups(t, measures=["flag_rate"]).rows()]
    [(None, 0.5), ({'sex': 'f'}, 1.0), ({'sex': 'm'}, 0.0)]
    """
    level = parse_share(level)
    if threshold is not None and policy is not None:
        raise OptionError("threshold and policy are both given; expected one of them.", remedy="Leave out one.")
    if not isinstance(data, Tallies):
        raise OptionError(
            f"{type(data).__name__} has no groups.",
            remedy=f"Read Tallies with {keyword('group')}, the column of the groups.",
        )
    threshold_or_policy = threshold if policy is None else policy
    table = group_table(data, policy=threshold_or_policy, measures=measures, interval=IntervalOptions(level=level))
    return make_drawing("groups", {"groups": table}, _paint_groups, ax=ax)


class _Grid(NamedTuple):
    """Places of the panels on the axes, in inches."""

    width: float
    """Width of the axes."""
    names: float
    """Width of the names on the left."""
    panel: tuple[float, float]
    """Width and height of a panel."""
    columns: int
    rows: int

    @property
    def height(self) -> float:
        """Height of all panels with what is above and below them."""
        return self.rows * (_ABOVE + self.panel[1] + _BELOW)

    def box(self, at: int) -> tuple[float, float, float, float]:
        """Return left, bottom, width and height of a panel, as fractions of the axes."""
        row, column = divmod(at, self.columns)
        left = self.names + column * (self.panel[0] + _GAP)
        bottom = (self.rows - 1 - row) * (_ABOVE + self.panel[1] + _BELOW) + _BELOW
        return left / self.width, bottom / self.height, self.panel[0] / self.width, self.panel[1] / self.height


def _arrange_panels(width: float, names: Sequence[str], measures: int, models: int) -> _Grid:
    """Arrange panels in as many columns as fit the width, and in rows."""
    left = max(max(text_width(line) for line in name.split("\n")) for name in names) / 72 + 0.12
    space = width - left - _GAP / 2
    most = max(1, int((space + _GAP) / (_PANEL + _GAP)))
    rows = -(-measures // most)
    columns = -(-measures // rows)  # rows of nearly the same length
    lines = sum(max(_LINE * (1 + name.count("\n")), _LINE + _DOT * (models - 1)) + 0.05 for name in names)
    return _Grid(width, left, ((space + _GAP) / columns - _GAP, lines + 0.1), columns, rows)


def _paint_groups(ax: Axes, parts: Parts) -> float:
    table = parts["groups"]
    rows = table.rows()
    width = ax.get_window_extent().width / ax.figure.dpi
    names = _group_names(rows, 72 * width * _WIDEST_NAMES)
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    models = list(dict.fromkeys(row["model"] for row in rows))
    grid = _arrange_panels(width, list(names.values()), len(measures), len(models))
    ticks = _common_scale(rows, grid.panel[0])
    _hide_frame(ax)
    for at, measure in enumerate(measures):
        panel = ax.inset_axes(grid.box(at))  # so that the figure fits any given axes
        own = [row for row in rows if row["measure"] == measure]
        for place, model in enumerate(models):
            offset = (place - (len(models) - 1) / 2) * 0.6 / len(models)
            _paint_dots(panel, [row for row in own if row["model"] == model], list(names), place, offset)
        _frame_panel(panel, measure, list(names.values()) if at % grid.columns == 0 else None, len(names))
        if _is_rate(measure):
            margin = _NEAR_PAD * (ticks[-1] - ticks[0])
            panel.set_xlim(ticks[0] - margin, ticks[-1] + margin)
            panel.set_xticks(ticks)
            show_percentages(panel, "x")
    header = capitalize_first(", ".join(table.data["by"]))
    top = 1 - (_ABOVE - 0.06) / grid.height
    ax.text(0, top, header, transform=ax.transAxes, fontsize=SMALL_TEXT_SIZE, parse_math=False)
    _add_legend(ax, rows, models, table.data["interval"]["level"])
    return grid.height


def _hide_frame(ax: Axes) -> None:
    """Hide the axes but for their titles; panels are on them."""
    ax.patch.set_visible(False)
    ax.spines[:].set_visible(False)
    ax.grid(visible=False)
    ax.set(xticks=[], yticks=[])


def _is_rate(measure: str) -> bool:
    """Return whether a measure is a share, which all have one scale."""
    return tuple(describe(find_measure(measure)).span) == (0, 1)


def _common_scale(rows: Sequence[Row], panel: float) -> list[float]:
    """Return the ticks of all rates, from the multiple below their intervals to that above, so many as fit a panel."""
    ends = [row[end] for row in rows for end in ("low", "value", "high") if _is_rate(row["measure"])]
    finite = [end for end in ends if end is not None]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    most = max(2, int(panel / _TICK))
    for step in _STEPS:
        first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
        if last - first <= most:
            break
    return [step * at for at in range(first, max(last, first + 1) + 1)]


def _group_names(rows: Sequence[Row], width: float) -> dict[str, str]:
    """Return the label of each group: its values and its number of rows, in lines of a width in points."""
    names = {}
    for row in rows:
        text = EVERYBODY if row["group"] is None else ", ".join(map(str, row["group"].values()))
        rows_text = f"(n\u00a0=\u00a0{row['rows']:,})"
        name = fit_lines(text, width, _NAME_LINES)
        fits = "\n" not in name and text_width(f"{name} {rows_text}") <= width
        names[str(row["group"])] = f"{name}{' ' if fits else chr(10)}{rows_text}".replace("$", r"\$")
    return names


def _paint_dots(panel: Axes, rows: Sequence[Row], order: Sequence[str], place: int, offset: float) -> None:
    """Paint dots with their intervals, all rows first; hollow where they have few rows."""
    for row in rows:
        if row["value"] is None:
            continue
        y = order.index(str(row["group"])) + offset
        if row["low"] is not None:
            panel.hlines(y, row["low"], row["high"], color=color_at(place), linewidth=1.0)
        face = "white" if row["small"] else color_at(place)
        panel.plot(row["value"], y, marker_at(place), color=color_at(place), markerfacecolor=face)
        if row["group"] is None:
            panel.axvline(row["value"], color=color_at(place), linewidth=THIN, linestyle=":", zorder=1)


def _frame_panel(panel: Axes, measure: str, names: Sequence[str] | None, lines: int) -> None:
    from matplotlib.ticker import MaxNLocator

    panel.set_yticks(range(lines), names or [""] * lines)
    panel.set_ylim(lines - 0.4, -0.6)  # reversed: the first line is at the top
    panel.axhline(0.5, color=LIGHT_GRAY, linewidth=0.6)
    panel.margins(x=0.08)
    panel.xaxis.set_major_locator(MaxNLocator(2, steps=[1, 2, 2.5, 5, 10]))
    panel.tick_params(axis="y", length=0)
    panel.set_title(measure_title(measure), loc="center", fontweight="normal")


def _add_legend(ax: Axes, rows: Sequence[Row], models: Sequence[str | None], level: float) -> None:
    """Explain models, intervals and hollow dots below the panels."""
    from matplotlib.lines import Line2D

    signs = [
        Line2D([], [], color=color_at(at), marker=marker_at(at), linestyle="", label=legend_label(name))
        for at, name in enumerate(models)
        if name is not None
    ]
    signs.append(Line2D([], [], color=color_at(0), linewidth=1.0, label=f"{format_percent(level)} CI"))
    if any(row["small"] for row in rows):
        signs.append(
            Line2D([], [], color=color_at(0), marker="o", linestyle="", markerfacecolor="white", label="Few rows")
        )
    signs.append(Line2D([], [], color=color_at(0), linewidth=THIN, linestyle=":", label=capitalize_first(EVERYBODY)))
    add_legend(ax, signs)
