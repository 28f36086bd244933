"""How far samples stray from the theory: measures over repeated draws, against sample size and class balance."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import product
from math import isfinite, nan, sqrt
from typing import Any

import numpy as np

from baserate._arrays import Floats
from baserate._curve import Curve
from baserate._errors import OptionError
from baserate._population import Population
from baserate._results import Results
from baserate._tally import Tally
from baserate.measure import Measure, about, known
from baserate.population._best import check
from baserate.population._table import COLUMNS, header, theory

Watch = Callable[[Callable[[], float | None]], AbstractContextManager[object]]
"""Takes a function that tells how many per cent are done, and shows it for as long as the work goes on."""

SIZES = (30, 100, 300, 1000, 3000)


def study(  # noqa: PLR0913  (each is a dimension of the study)
    population: Population,
    *,
    sizes: Iterable[int] = SIZES,
    prevalences: Iterable[float] | None = None,
    measures: Iterable[str | Measure] = ("auc", "average_precision"),
    repeats: int = 200,
    seed: int = 0,
    watch: Watch | None = None,
) -> Results:
    """Draw samples again and again, and tell mean and standard deviation of measures beside the exact value.

    One row for each prevalence (that of the population unless others are given), size and measure: `value` is the mean,
    `sd` the standard deviation over the draws, `theory` the exact value. Every draw has a generator of its own, made
    from the seed, size, prevalence and number of the draw, so results do not depend on what else is studied. A draw of
    a single class has no value; such draws are left out, counted in `undefined` and told of in the notes.

    >>> from baserate import population
    >>> found = population.study(population.linear(), sizes=[100], measures=["auc"], repeats=50)
    >>> [(round(row["value"], 2), round(row["sd"], 2), round(row["theory"], 4)) for row in found.rows()]
    [(0.84, 0.04, 0.8333)]
    """
    check(population)
    chosen = [known(each) for each in ([measures] if isinstance(measures, str) else measures)]
    unfit = [about(measure).name for measure in chosen if about(measure).of is not Curve]
    if unfit:
        raise OptionError(
            f"{', '.join(unfit)} needs a threshold; a study takes measures over all thresholds, such as auc."
        )
    shares = [population.prevalence] if prevalences is None else list(prevalences)
    work = _Work(chosen, _checked(repeats, "repeats"), _checked(seed, "seed", least=0))
    cases = [(population.at_prevalence(share), _checked(size, "sizes")) for share, size in product(shares, sizes)]
    if not cases or not chosen:
        raise OptionError("there is nothing to study; give at least one size, prevalence and measure.")
    with nullcontext() if watch is None else watch(lambda: 100 * work.done / (len(cases) * repeats)):
        rows = [row for each, size in cases for row in work.rows(each, size)]
    columns = (*COLUMNS, "size", "prevalence", "sd", "theory", "repeats", "undefined")
    data = {**header(population), "prevalences": shares, "seed": seed, "notes": list(_notes(rows))}
    return Results({name: [row.get(name) for row in rows] for name in columns}, data)


@dataclass(slots=True)
class _Work:
    """The draws, and how many are done."""

    measures: list[Measure]
    repeats: int
    seed: int
    done: int = field(default=0, init=False)

    def rows(self, population: Population, size: int) -> Iterator[dict[str, Any]]:
        """One row for each measure."""
        values = np.array([self._draw(population, size, repeat) for repeat in range(self.repeats)])
        for measure, column in zip(self.measures, values.T, strict=True):
            yield {
                "measure": about(measure).name,
                "size": size,
                "prevalence": population.prevalence,
                "theory": theory(population, measure),
                "repeats": self.repeats,
                **_summed_up(column),
            }

    def _draw(self, population: Population, size: int, repeat: int) -> list[float]:
        share = int(np.float64(population.prevalence).view(np.uint64))
        truth, score = population.draw(size, np.random.default_rng([self.seed, size, share, repeat]))
        curve = Curve(Tally.of_rows(truth, score))
        self.done += 1
        both = 0 < np.count_nonzero(truth) < size
        return [float(measure(curve)) if both else nan for measure in self.measures]


def _summed_up(values: Floats) -> dict[str, Any]:
    there = values[~np.isnan(values)]
    many = len(there)
    mean = float(there.mean()) if many else nan
    spread = sqrt(float(np.sum((there - mean) ** 2)) / (many - 1)) if many > 1 else nan
    why = None if many else "every draw holds a single class"
    return {"value": mean, "sd": spread, "undefined": len(values) - many, "how": "mean of draws", "why": why}


def _notes(rows: list[dict[str, Any]]) -> Iterator[str]:
    told = {(row["size"], row["prevalence"]): row["undefined"] for row in rows if row["undefined"]}
    for (size, share), many in told.items():
        repeats = rows[0]["repeats"]
        yield f"{many} of {repeats} draws of {size} rows at prevalence {share:g} hold a single class and are left out."


def _checked(given: object, name: str, least: int = 1) -> int:
    if not isinstance(given, (int, float, np.integer, np.floating)) or not isfinite(given) or given != int(given):
        raise OptionError(f"{name} is {given!r}; give whole numbers of {least} or more.")
    if given < least:
        raise OptionError(f"{name} is {given!r}; give whole numbers of {least} or more.")
    return int(given)
