"""Theory and sample: densities and curves of a population in closed form, with what rows of it look like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._errors import OptionError
from baserate._formatting import count_of
from baserate._numeric.tails import density, discrete, mass
from baserate._population import Population
from baserate._results import Results
from baserate._tally import Tally
from baserate.draw._data import as_tallies, series
from baserate.draw._drawing import Drawing, Parts, drawn
from baserate.draw._ranks import POINTS
from baserate.draw._strokes import TALL, heights, stroke, told
from baserate.draw._style import FAINT, NEGATIVE, POSITIVE, SIZE, explained, name_axes, percent, shares
from baserate.measure import curves
from baserate.population import header, table, thresholds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

What = Literal["densities", "roc", "pr"]
_WHAT = ("densities", "roc", "pr")
_CLASSES = {"negatives": NEGATIVE, "positives": POSITIVE}
_FEWEST, _MOST = 8, 60
"""Bars of a histogram."""


def population(
    population: Population, *, sample: Tally | None = None, what: What = "densities", ax: Axes | None = None
) -> Drawing:
    """Draw a population in closed form, and a sample of it if there is one.

    `what` is "densities", the scores of each class, with the sample as bars; or a curve, "roc" or "pr", with that of
    the sample. Each class has an area of 1, however frequent it is.

    >>> from baserate import draw, population
    >>> made = draw.population(population.linear(), what="roc")
    >>> made
    Drawing(population: 1000 rows of theory)
    """
    if what not in _WHAT:
        raise OptionError(f"what is {what!r}; it is one of: {', '.join(_WHAT)}.")
    if sample is not None and not sample.total:
        raise OptionError("the sample has no rows; give a Tally of one or more, or leave it out.")
    densities = what == "densities"
    parts = {"theory": _densities(population) if densities else table(population, what, points=POINTS)}
    if sample is not None:
        own = as_tallies(sample)
        parts["sample"] = _histogram(population, sample) if densities else curves(own, what, points=POINTS)
    return drawn("population", parts, _density if densities else _curve, ax=ax, size=TALL if densities else SIZE)


def _densities(population: Population) -> Results:
    """Density of each class at every score; of scores that are discrete, their masses."""
    score = thresholds(population, points=POINTS)[::-1]
    score = score[np.isfinite(score)]
    columns: dict[str, Any] = {name: [] for name in ("class", "score", "density", "mass")}
    for name, each in zip(_CLASSES, (population.negative, population.positive), strict=True):
        columns["class"] += [name] * len(score)
        columns["score"] += score.tolist()
        high = density(each, score)
        columns["density"] += np.where(np.isfinite(high) & (not discrete(each)), high, np.nan).tolist()
        columns["mass"] += np.where(discrete(each), mass(each, score), np.nan).tolist()
    return Results(columns, header(population))


def _histogram(population: Population, sample: Tally) -> Results:
    """Share of each class in bars of equal width, over their width; of scores that are discrete, at each of them."""
    if discrete(population.negative) and discrete(population.positive):
        return _atoms(sample)
    score = thresholds(population)
    score = np.concatenate([score[np.isfinite(score)], sample.score])
    rows = float(sample.rows.sum())
    edges = np.linspace(score.min(), score.max(), int(np.clip(2 * rows ** (1 / 3), _FEWEST, _MOST)) + 1)
    columns: dict[str, Any] = {name: [] for name in ("class", "lower", "upper", "density")}
    for name, masses in zip(_CLASSES, (sample.negative, sample.positive), strict=True):
        seen: Floats = np.histogram(sample.score, edges, weights=masses)[0]
        columns["class"] += [name] * len(seen)
        columns["lower"] += edges[:-1].tolist()
        columns["upper"] += edges[1:].tolist()
        columns["density"] += np.atleast_1d(ratio(seen, seen.sum() * np.diff(edges))).tolist()
    return Results(columns, {"rows": int(rows), "prevalence": sample.prevalence})


def _atoms(sample: Tally) -> Results:
    score = sample.score.tolist()
    shares = [np.atleast_1d(ratio(each, each.sum())) for each in (sample.negative, sample.positive)]
    columns = {
        "class": [name for name in _CLASSES for _ in score],
        "score": score * len(shares),
        "mass": np.concatenate(shares).tolist(),
    }
    return Results(columns, {"rows": int(sample.rows.sum()), "prevalence": sample.prevalence})


def _density(ax: Axes, parts: Parts) -> None:
    from matplotlib.ticker import MaxNLocator

    if "sample" in parts:
        for name, rows in _by_class(parts["sample"]):
            look: Any = {"color": _CLASSES[name], "label": f"{name} of the sample"}
            if "mass" in rows:
                share = heights(rows["mass"])
                ax.plot(heights(rows["score"])[share > 0], share[share > 0], "o", fillstyle="none", **look)
                continue
            low, high, tall = (heights(rows[key]) for key in ("lower", "upper", "density"))
            ax.bar(low, tall, high - low, align="edge", alpha=0.3, **look)
    for (name, rows), dash in zip(_by_class(parts["theory"]), ("-", "--"), strict=True):
        score, tall, atoms = (heights(rows[key]) for key in ("score", "density", "mass"))
        ax.plot(score, tall, color=_CLASSES[name], linestyle=dash, label=f"{name} in theory")
        there = atoms > 0
        ax.vlines(score[there], 0, atoms[there], color=_CLASSES[name], linestyle=dash, linewidth=2)
    ax.set_ylim(0, None)
    ax.yaxis.set_major_locator(MaxNLocator(5))
    name_axes(ax, "score", "density" if np.isfinite(heights(parts["theory"].columns["density"])).any() else "mass")
    told(ax, len(_CLASSES))


def _by_class(found: Results) -> list[tuple[str, dict[str, list[Any]]]]:
    columns = found.flat()
    apart = []
    for name in _CLASSES:
        there = [at for at, each in enumerate(columns["class"]) if each == name]
        apart.append((name, {key: [column[at] for at in there] for key, column in columns.items()}))
    return apart


def _curve(ax: Axes, parts: Parts) -> None:
    theory = parts["theory"]
    axes = tuple(name for name in theory.columns if name not in {"model", "group", "threshold"})
    x, y = axes[:2]
    if x == "fpr":
        ax.plot([0, 1], [0, 1], color=FAINT, linewidth=1, label="by chance")
    else:
        ax.axhline(theory.data["prevalence"], color=FAINT, linewidth=1, label="by chance")
    for each in series(theory):
        stroke(ax, each, 0, (x, y), label="theory")
    if "sample" in parts:
        _sampled(ax, parts["sample"], (x, y))
    shares(ax)
    ax.set_box_aspect(1)
    name_axes(ax, x, y)
    explained(ax, "lower right" if x == "fpr" else "best")


def _sampled(ax: Axes, sample: Results, axes: tuple[str, str]) -> None:
    told_of = sample.data
    label = f"sample of {count_of(told_of['rows'], 'row')}, {percent(told_of['prevalence'])} positive"
    # Precision holds from one threshold to the next, which makes a staircase.
    steps = "default" if axes[0] == "fpr" else "steps-pre"
    for each in series(sample):
        stroke(ax, each, 1, axes, linestyle="-", linewidth=1.1, drawstyle=steps, label=label)
