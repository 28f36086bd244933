"""Measures by group: a dot and its confidence interval for each group and measure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from baserate._domains import ShareLike, parse_share
from baserate._errors import OptionError, keyword
from baserate._policy import Policy
from baserate._tally import Tallies
from baserate.draw._figure import (
    LIGHT_GRAY,
    Drawing,
    Parts,
    add_legend_below,
    color_at,
    format_percent,
    legend_label,
    make_drawing,
    marker_at,
)
from baserate.fairness import group_table
from baserate.infer import IntervalOptions
from baserate.measure import Measure
from baserate.read import PredictionOptions, accepts_predictions
from baserate.text import EVERYBODY, measure_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = Mapping[str, Any]
_LONGEST_NAME = 40
"""Characters of a group's name in the figure; longer ones are shortened."""
_PANEL_WIDTH, _LEAST_WIDTH = 1.5, 3.2
"""Width of a panel, and least width of all panels, in inches."""
_NAME_MARGIN, _CHARACTER_WIDTH = 0.6, 0.075
"""Width of the margin of the names, and of each character, in inches."""
_LINE_HEIGHT, _MARGINS = 0.2, 1.15
"""Height of a line, and of the margins, in inches."""
_GAP = 0.16
"""Gap between panels as a share of their width."""


@accepts_predictions("figure")
def groups(
    data: Tallies,
    *,
    threshold: float | None = None,
    policy: Policy | Mapping[str, Policy] | None = None,
    measures: Iterable[str | Measure] | None = None,
    level: ShareLike = 0.95,
    ax: Axes | None = None,
    **predictions: Unpack[PredictionOptions],
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
    return make_drawing(
        "groups", {"groups": table}, _paint_groups, ax=ax, size=_figure_size(table.rows(), len(data.models))
    )


def _figure_size(rows: Sequence[Row], models: int) -> tuple[float, float]:
    """Return inches: wide enough for measures and names, tall enough for groups."""
    names = _group_names(rows)
    panels = max(_PANEL_WIDTH * len({row["measure"] for row in rows}), _LEAST_WIDTH)
    longest = max(map(len, names.values()))
    width = _NAME_MARGIN + _CHARACTER_WIDTH * longest + panels
    return width, _MARGINS + _LINE_HEIGHT * len(names) * max(1.0, 0.6 * models)


def _paint_groups(ax: Axes, parts: Parts) -> None:
    table = parts["groups"]
    rows = table.rows()
    names = _group_names(rows)
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    models = list(dict.fromkeys(row["model"] for row in rows))
    width = 1 / len(measures)
    ax.set_axis_off()  # panels are insets, so that the figure fits any given axes
    for at, measure in enumerate(measures):
        panel = ax.inset_axes((at * width, 0, width * (1 - _GAP), 1))
        own = [row for row in rows if row["measure"] == measure]
        for place, model in enumerate(models):
            offset = (place - (len(models) - 1) / 2) * 0.7 / len(models)
            _paint_dots(panel, [row for row in own if row["model"] == model], list(names), place, offset)
        _frame_panel(panel, measure, list(names.values()) if at == 0 else None, len(names))
        if at == 0:
            panel.set_ylabel(", ".join(table.data["by"]))
    _add_legend(ax, rows, models, table.data["interval"]["level"])


def _group_names(rows: Sequence[Row]) -> dict[str, str]:
    """Return the label of each group: its values and its number of rows."""
    names = {}
    for row in rows:
        text = EVERYBODY if row["group"] is None else ", ".join(map(str, row["group"].values()))
        names[str(row["group"])] = f"{_shorten(text)} ({row['rows']})".replace("$", r"\$")
    return names


def _shorten(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _paint_dots(panel: Axes, rows: Sequence[Row], order: Sequence[str], place: int, offset: float) -> None:
    """Paint dots with their intervals, all rows first; hollow where they have few rows."""
    for row in rows:
        if row["value"] is None:
            continue
        y = order.index(str(row["group"])) + offset
        if row["low"] is not None:
            panel.hlines(y, row["low"], row["high"], color=color_at(place), linewidth=1.2)
        face = "white" if row["small"] else color_at(place)
        panel.plot(row["value"], y, marker_at(place), color=color_at(place), markerfacecolor=face)
        if row["group"] is None:
            panel.axvline(row["value"], color=color_at(place), linewidth=0.8, linestyle=":", zorder=1)


def _frame_panel(panel: Axes, measure: str, names: Sequence[str] | None, lines: int) -> None:
    from matplotlib.ticker import MaxNLocator

    panel.set_yticks(range(lines), names or [""] * lines)
    panel.set_ylim(lines - 0.4, -0.6)  # reversed: the first line is at the top
    panel.axhline(0.5, color=LIGHT_GRAY, linewidth=0.6)
    panel.margins(x=0.08)
    panel.xaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 2.5, 5, 10]))
    panel.tick_params(axis="y", length=0)
    panel.set_xlabel(measure_label(measure))


def _add_legend(ax: Axes, rows: Sequence[Row], models: Sequence[str | None], level: float) -> None:
    """Explain models, intervals and hollow dots below the panels."""
    from matplotlib.lines import Line2D

    signs = [
        Line2D([], [], color=color_at(at), marker=marker_at(at), linestyle="", label=legend_label(name))
        for at, name in enumerate(models)
        if name is not None
    ]
    signs.append(Line2D([], [], color=color_at(0), linewidth=1.2, label=f"{format_percent(level)} CI"))
    if any(row["small"] for row in rows):
        signs.append(
            Line2D([], [], color=color_at(0), marker="o", linestyle="", markerfacecolor="white", label="few rows")
        )
    add_legend_below(ax, signs, columns=max(2, len(ax.child_axes)))
