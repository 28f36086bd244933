"""A theoretical population: its densities and curves in closed form, beside a sample of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._errors import OptionError
from baserate._formatting import count_of
from baserate._numeric.distributions import density, is_discrete, point_mass
from baserate._population import Population
from baserate._results import Results
from baserate._tally import Tally
from baserate.draw._data import POINTS, as_tallies, split_series
from baserate.draw._figure import RATIO, Drawing, Parts, make_drawing, takes_look
from baserate.draw._layout import StyleOptions, add_legend
from baserate.draw._lines import paint_line, plot_values
from baserate.draw._style import (
    LIGHT_GRAY,
    NEGATIVE,
    POSITIVE,
    THIN,
    capitalize_first,
    format_percent,
    label_axes,
    set_unit_limits,
)
from baserate.measure import curves
from baserate.population import default_thresholds, describe_population, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PopulationCurve = Literal["densities", "roc", "pr"]
_WHAT = ("densities", "roc", "pr")
_CLASSES = {"negatives": NEGATIVE, "positives": POSITIVE}
_FEWEST, _MOST = 8, 60
"""Least and greatest number of bins of the histogram."""


@takes_look
def population(
    population: Population,
    *,
    sample: Tally | None = None,
    what: PopulationCurve = "densities",
    ax: Axes | None = None,
    **style: Unpack[StyleOptions],
) -> Drawing:
    """Draw a population in closed form, and a sample of it if given.

    Parameters
    ----------
    population
        Theoretical population from `baserate.population`.
    sample
        Tally of a sample.
    what
        "densities" of the scores of each class, each with area 1 and the sample as bars; or a curve, "roc" or "pr".
    ax
        Matplotlib axes to paint on; new ones by default.

    Returns
    -------
    Drawing
        The figure with its numbers.

    Examples
    --------
    >>> from baserate import draw, population
    >>> drawing = draw.population(population.linear(), what="roc")
    >>> drawing
    Drawing(population: 1000 rows of theory)
    """
    if what not in _WHAT:
        raise OptionError(f"what is {what!r}; expected one of {', '.join(_WHAT)}.", option="what", value=what)
    if sample is not None and not sample.total:
        raise OptionError("the sample has no rows.", remedy="Pass a Tally with rows, or leave it out.")
    densities = what == "densities"
    parts = {"theory": _tabulate_densities(population) if densities else table(population, what, points=POINTS)}
    if sample is not None:
        own = as_tallies(sample)
        parts["sample"] = _tabulate_histogram(population, sample) if densities else curves(own, what, points=POINTS)
    return make_drawing(
        "population",
        parts,
        _paint_densities if densities else _paint_curve,
        ax=ax,
        ratio=RATIO if densities else 1,
    )


def _tabulate_densities(population: Population) -> Results:
    """Tabulate the density of each class; of discrete scores, the probability mass."""
    score = default_thresholds(population, points=POINTS)[::-1]
    score = score[np.isfinite(score)]
    columns: dict[str, Any] = {name: [] for name in ("class", "score", "density", "mass")}
    for name, each in zip(_CLASSES, (population.negative, population.positive), strict=True):
        columns["class"] += [name] * len(score)
        columns["score"] += score.tolist()
        high = density(each, score)
        columns["density"] += np.where(np.isfinite(high) & (not is_discrete(each)), high, np.nan).tolist()
        columns["mass"] += np.where(is_discrete(each), point_mass(each, score), np.nan).tolist()
    return Results(columns, describe_population(population))


def _tabulate_histogram(population: Population, sample: Tally) -> Results:
    """Tabulate the density of each class of the sample in bins of equal width; of discrete scores, the mass at each."""
    if is_discrete(population.negative) and is_discrete(population.positive):
        return _tabulate_atoms(sample)
    score = default_thresholds(population)
    score = np.concatenate([score[np.isfinite(score)], sample.score])
    rows = float(sample.rows.sum())
    bins = int(np.clip(2 * rows ** (1 / 3), _FEWEST, _MOST))  # Rice rule
    edges = np.linspace(score.min(), score.max(), bins + 1)
    columns: dict[str, Any] = {name: [] for name in ("class", "lower", "upper", "density")}
    for name, masses in zip(_CLASSES, (sample.negative, sample.positive), strict=True):
        mass_in_bin: Floats = np.histogram(sample.score, edges, weights=masses)[0]
        columns["class"] += [name] * len(mass_in_bin)
        columns["lower"] += edges[:-1].tolist()
        columns["upper"] += edges[1:].tolist()
        columns["density"] += np.atleast_1d(ratio(mass_in_bin, mass_in_bin.sum() * np.diff(edges))).tolist()
    return Results(columns, {"rows": int(rows), "prevalence": sample.prevalence})


def _tabulate_atoms(sample: Tally) -> Results:
    score = sample.score.tolist()
    shares = [np.atleast_1d(ratio(each, each.sum())) for each in (sample.negative, sample.positive)]
    columns = {
        "class": [name for name in _CLASSES for _ in score],
        "score": score * len(shares),
        "mass": np.concatenate(shares).tolist(),
    }
    return Results(columns, {"rows": int(sample.rows.sum()), "prevalence": sample.prevalence})


def _paint_densities(ax: Axes, parts: Parts) -> None:
    from matplotlib.ticker import MaxNLocator

    if "sample" in parts:
        for name, rows in _split_classes(parts["sample"]):
            look: Any = {"color": _CLASSES[name], "label": f"{capitalize_first(name)}, sample"}
            if "mass" in rows:
                share = plot_values(rows["mass"])
                ax.plot(plot_values(rows["score"])[share > 0], share[share > 0], "o", fillstyle="none", **look)
                continue
            low, high, tall = (plot_values(rows[key]) for key in ("lower", "upper", "density"))
            ax.bar(low, tall, high - low, align="edge", alpha=0.3, **look)
    for (name, rows), dash in zip(_split_classes(parts["theory"]), ("-", "--"), strict=True):
        score, tall, atoms = (plot_values(rows[key]) for key in ("score", "density", "mass"))
        ax.plot(score, tall, color=_CLASSES[name], linestyle=dash, label=f"{capitalize_first(name)}, population")
        occurs = atoms > 0
        ax.vlines(score[occurs], 0, atoms[occurs], color=_CLASSES[name], linestyle=dash, linewidth=2)
    ax.set_ylim(0, None)
    ax.yaxis.set_major_locator(MaxNLocator(5))
    label_axes(ax, "Score", "density" if np.isfinite(plot_values(parts["theory"].columns["density"])).any() else "mass")
    add_legend(ax)


def _split_classes(table: Results) -> list[tuple[str, dict[str, list[Any]]]]:
    columns = table.flat()
    by_class = []
    for name in _CLASSES:
        rows = [at for at, each in enumerate(columns["class"]) if each == name]
        by_class.append((name, {key: [column[at] for at in rows] for key, column in columns.items()}))
    return by_class


def _paint_curve(ax: Axes, parts: Parts) -> None:
    theory = parts["theory"]
    axes = tuple(name for name in theory.columns if name not in {"model", "group", "threshold"})
    x, y = axes[:2]
    if x == "fpr":
        ax.plot([0, 1], [0, 1], color=LIGHT_GRAY, linewidth=THIN, label="Chance")
    else:
        ax.axhline(theory.data["prevalence"], color=LIGHT_GRAY, linewidth=THIN, label="Chance")
    for each in split_series(theory):
        paint_line(ax, each, 0, (x, y), label="Population")
    if "sample" in parts:
        _paint_sample(ax, parts["sample"], (x, y))
    set_unit_limits(ax)
    ax.set_box_aspect(1)
    label_axes(ax, *(("one_minus_specificity", "sensitivity") if x == "fpr" else ("recall", y)))
    add_legend(ax)


def _paint_sample(ax: Axes, sample: Results, axes: tuple[str, str]) -> None:
    rows, share = count_of(sample.data["rows"], "row"), format_percent(sample.data["prevalence"])
    label = f"Sample of {rows}, prevalence {share}"
    # Precision is constant between thresholds, so the curve is a staircase.
    steps = "default" if axes[0] == "fpr" else "steps-pre"
    for each in split_series(sample):
        paint_line(ax, each, 1, axes, linestyle="-", linewidth=1.0, drawstyle=steps, label=label)
