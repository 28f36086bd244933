"""Groups side by side: a dot and its interval for each, measure by measure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from baserate._errors import OptionError
from baserate._policy import Policy
from baserate._tally import Tallies
from baserate.draw._data import EVERYBODY
from baserate.draw._drawing import Drawing, Parts, drawn
from baserate.draw._strokes import told_below
from baserate.draw._style import FAINT, colour, marker, named, percent, spoken
from baserate.equalize import group_table
from baserate.infer import Interval
from baserate.measure import Measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = Mapping[str, Any]
_NAME = 40
"""Letters of a group's name; longer ones are cut, in the picture alone."""
_WIDE, _LEAST = 1.5, 3.2
"""Inches of a measure, and of all of them at least."""
_NAMES, _LETTER = 0.6, 0.075
"""Inches beside the measures: around the names, and of each of their letters."""
_LINE, _AROUND = 0.2, 1.15
"""Inches of a dot, and of what stands above and below."""
_GAP = 0.16
"""Share of a measure's room that parts it from the next."""


def groups(
    data: Tallies,
    *,
    threshold: float | None = None,
    policy: Policy | Mapping[str, Policy] | None = None,
    measures: Iterable[str | Measure] | None = None,
    level: float = 0.95,
    ax: Axes | None = None,
) -> Drawing:
    """Draw measures of everybody and of each group, with intervals: a panel for each measure, a line for each group.

    A `threshold` or a `policy` decides; otherwise 0.5 if the scores are probabilities. `measures` are those of
    `equalize.group_table`. A dotted line goes through everybody's value. Hollow dots rest on few rows: fewer than 30,
    or too few to show a difference of 0.2. It says how groups differ, not whether that is right.

    >>> from baserate import draw, read
    >>> people = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1], "sex": ["f", "f", "m", "m"]}
    >>> t = read.tallies(people, truth="sick", score="risk", group="sex")
    >>> [(row["group"], row["value"]) for row in draw.groups(t, measures=["flag_rate"]).rows()]
    [(None, 0.5), ({'sex': 'f'}, 1.0), ({'sex': 'm'}, 0.0)]
    """
    if threshold is not None and policy is not None:
        raise OptionError("threshold and policy both decide; leave out one of them.")
    if not isinstance(data, Tallies):
        raise OptionError(f"{type(data).__name__} has no groups; read Tallies with group=, the column that tells them.")
    decided = threshold if policy is None else policy
    found = group_table(data, decided=decided, measures=measures, interval=Interval(level=level))
    return drawn("groups", {"groups": found}, _groups, ax=ax, size=_size(found.rows(), len(data.models)))


def _size(rows: Sequence[Row], models: int) -> tuple[float, float]:
    """Inches: as wide as there are measures, and names are long; as high as there are groups."""
    names = _names(rows)
    wide = max(_WIDE * len({row["measure"] for row in rows}), _LEAST)
    longest = max(map(len, names.values()))
    return _NAMES + _LETTER * longest + wide, _AROUND + _LINE * len(names) * max(1.0, 0.6 * models)


def _groups(ax: Axes, parts: Parts) -> None:
    found = parts["groups"]
    rows = found.rows()
    names = _names(rows)
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    models = list(dict.fromkeys(row["model"] for row in rows))
    width = 1 / len(measures)
    ax.set_axis_off()
    for at, measure in enumerate(measures):
        panel = ax.inset_axes((at * width, 0, width * (1 - _GAP), 1))
        own = [row for row in rows if row["measure"] == measure]
        for place, model in enumerate(models):
            apart = (place - (len(models) - 1) / 2) * 0.7 / len(models)
            _dots(panel, [row for row in own if row["model"] == model], list(names), place, apart)
        _framed(panel, measure, list(names.values()) if at == 0 else None, len(names))
        if at == 0:
            panel.set_ylabel(", ".join(found.data["by"]))
    _explained(ax, rows, models, found.data["interval"]["level"])


def _names(rows: Sequence[Row]) -> dict[str, str]:
    """What stands beside the dots of each group: its values, and how many rows it has."""
    names = {}
    for row in rows:
        text = EVERYBODY if row["group"] is None else ", ".join(map(str, row["group"].values()))
        names[str(row["group"])] = f"{_short(text)} ({row['rows']})".replace("$", r"\$")
    return names


def _short(name: str) -> str:
    return name if len(name) <= _NAME else name[: _NAME - 1] + "…"


def _dots(panel: Axes, rows: Sequence[Row], order: Sequence[str], place: int, apart: float) -> None:
    """Dots with their intervals, from everybody down; hollow where they rest on few rows."""
    for row in rows:
        if row["value"] is None:
            continue
        y = order.index(str(row["group"])) + apart
        if row["low"] is not None:
            panel.hlines(y, row["low"], row["high"], color=colour(place), linewidth=1.2)
        face = "white" if row["small"] else colour(place)
        panel.plot(row["value"], y, marker(place), color=colour(place), markerfacecolor=face)
        if row["group"] is None:
            panel.axvline(row["value"], color=colour(place), linewidth=0.8, linestyle=":", zorder=1)


def _framed(panel: Axes, measure: str, names: Sequence[str] | None, lines: int) -> None:
    from matplotlib.ticker import MaxNLocator

    panel.set_yticks(range(lines), names or [""] * lines)
    panel.set_ylim(lines - 0.4, -0.6)
    panel.axhline(0.5, color=FAINT, linewidth=0.6)
    panel.margins(x=0.08)
    panel.xaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 2.5, 5, 10]))
    panel.tick_params(axis="y", length=0)
    panel.set_xlabel(spoken(measure))


def _explained(ax: Axes, rows: Sequence[Row], models: Sequence[str | None], level: float) -> None:
    """Tell models, intervals and hollow dots apart, below the panels."""
    from matplotlib.lines import Line2D

    signs = [
        Line2D([], [], color=colour(at), marker=marker(at), linestyle="", label=named(name))
        for at, name in enumerate(models)
        if name is not None
    ]
    signs.append(Line2D([], [], color=colour(0), linewidth=1.2, label=f"{percent(level)} interval"))
    if any(row["small"] for row in rows):
        signs.append(
            Line2D([], [], color=colour(0), marker="o", linestyle="", markerfacecolor="white", label="few rows")
        )
    told_below(ax, signs, columns=max(2, len(ax.child_axes)))
