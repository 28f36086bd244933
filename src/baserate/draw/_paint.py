"""What painters share: lines with their bands, points, marks, and lines to compare with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from baserate._results import Results
from baserate.draw._data import Key, series
from baserate.draw._drawing import Parts
from baserate.draw._style import FAINT, colour, dashes, marker, named, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Along = tuple[str, str]
"""What runs along x, and what along y."""
SHADE = 0.16
"""How dark a band is."""
_REFERENCES = ("-", ":", "--")


def lines(
    ax: Axes, parts: Parts, along: Along, *, told: Mapping[Key, str] | None = None, step: Literal["pre"] | None = None
) -> None:
    """Paint the curve of every series, with its band if it has one, and what is told of it in the legend."""
    if "curve" not in parts:
        return
    drawstyle: Any = "default" if step is None else f"steps-{step}"
    for at, each in enumerate(series(parts["curve"])):
        x, y = (gaps(each.rows[name]) for name in along)
        label = named(each.name, (told or {}).get(each.key, ""))
        # A line through a single point would not be seen.
        sign = "o" if step is None and sum(map(isfinite, y)) == 1 else None
        ax.plot(x, y, color=colour(at), linestyle=dashes(at), drawstyle=drawstyle, marker=sign, label=label, zorder=3)
        if "low" in each.rows:
            # A step begins at the point before it, where the band may be undefined.
            low, high = (_begun(each.rows[end], step) for end in ("low", "high"))
            label = band_told(parts["curve"]) if at == 0 else ""
            ax.fill_between(x, low, high, step=step, color=colour(at), alpha=SHADE, linewidth=0, label=label)


def points(ax: Axes, parts: Parts, along: Along) -> None:
    """Paint classifiers that give labels alone, in colours and signs of their own."""
    before = len(places(parts))
    for at, row in enumerate(parts["points"].rows() if "points" in parts else ()):
        x, y = (gaps([row[name]]) for name in along)
        ax.plot(x, y, marker(at), color=colour(before + at), label=named(row["name"]), zorder=4)


def marked(ax: Axes, parts: Parts, along: Along) -> None:
    """Paint where somebody decides: hollow signs in the colour of the series."""
    if "marks" not in parts:
        return
    of = places(parts)
    signs = {name: marker(at) for at, name in enumerate(dict.fromkeys(parts["marks"].columns["name"]))}
    left = dict(signs)
    for row in parts["marks"].rows():
        x, y = (gaps([row[name]]) for name in along)
        label = named(row["name"]) if left.pop(row["name"], None) else ""
        look: Any = {"color": colour(of[row["model"], str(row["group"])]), "linestyle": "none", "zorder": 5}
        ax.plot(x, y, marker=signs[row["name"]], markerfacecolor="white", markeredgewidth=1.4, label=label, **look)


def compared(ax: Axes, parts: Parts, along: Along) -> None:
    """Paint lines to compare with."""
    rows = parts["reference"].rows()
    for at, name in enumerate(dict.fromkeys(row["name"] for row in rows)):
        x, y = ([row[axis] for row in rows if row["name"] == name] for axis in along)
        ax.plot(x, y, color=FAINT, linestyle=_REFERENCES[at % len(_REFERENCES)], linewidth=1, label=name, zorder=1.5)


def estimates_told(parts: Parts, measure: str, short: str) -> dict[Key, str]:
    """What the legend says of each series: a number with its interval, or that there is none."""
    found = parts[measure].rows() if measure in parts else ()
    return {(row["model"], str(row["group"])): f"{short} {_interval(row)}" for row in found}


def places(parts: Parts) -> dict[Key, int]:
    """Place of each series among those of the curve."""
    return {each.key: at for at, each in enumerate(series(parts["curve"]))} if "curve" in parts else {}


def gaps(values: Iterable[float | None]) -> list[float]:
    """Undefined numbers as gaps of a line."""
    return [float("nan") if value is None else value for value in values]


def free(parts: Parts, corner: str) -> str | None:
    """Corner for the legend, unless a band may be there."""
    return None if "low" in getattr(parts.get("curve"), "columns", ()) else corner


def band_told(found: Results) -> str:
    """What a band is, in words."""
    where = "the whole curve" if found.data["simultaneous"] else "each point by itself"
    return f"{percent(found.data['level'])} band, {where}"


def _begun(bounds: list[float | None], step: str | None) -> list[float]:
    return gaps(bounds if step is None else bounds[1:2] + bounds[1:])


def _interval(row: Mapping[str, Any]) -> str:
    if row["value"] is None:
        return "undefined"
    if row["low"] is None:
        return f"{row['value']:.3f}"
    bounds = f"{percent(row['level'])}: {row['low']:.3f}–{row['high']:.3f}"
    return f"{row['value']:.3f} ({bounds})".replace(" ", "\u00a0")  # which no line breaks
