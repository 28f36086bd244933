"""Simulated samples of populations: studies of measures, rows, and the data of the demo."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import product
from math import isfinite, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._curve import Curve
from baserate._errors import OptionError
from baserate._population import Population, check_population, describe_population
from baserate._results import Results
from baserate._tally import Tally
from baserate.measure import Measure, as_measure, describe
from baserate.population._families import COLUMNS, exact_value

Watch = Callable[[Callable[[], float | None]], AbstractContextManager[object]]
"""Context manager made from a function that returns the percentage done; shows progress while the study runs."""

SIZES = (30, 100, 300, 1000, 3000)


def simulation_study(  # noqa: PLR0913  (each is a dimension of the study)
    population: Population,
    *,
    sizes: Iterable[int] = SIZES,
    prevalences: Iterable[float] | None = None,
    measures: Iterable[str | Measure] = ("auc", "average_precision"),
    repeats: int = 200,
    seed: int = 0,
    watch: Watch | None = None,
) -> Results:
    """Run a simulation study: mean and standard deviation of measures over random samples, beside the exact value.

    Every sample has its own generator, seeded by seed, size, prevalence and number of the sample. So results do not
    depend on what else is in the study.

    Parameters
    ----------
    population
        Population to sample from.
    sizes
        Sample sizes.
    prevalences
        Prevalences; the default is that of the population.
    measures
        Measures over all thresholds.
    repeats
        Number of samples of each size and prevalence.
    seed
        Random seed.
    watch
        Context manager that shows progress, called with a function that returns the percentage done.

    Returns
    -------
    Results
        One row for each prevalence, size and measure: `value` is the mean, `sd` the standard deviation and `theory` the
        exact value. Samples of a single class are omitted, counted in `undefined`, and noted.

    Examples
    --------
    >>> from baserate import population
    >>> rows = population.simulation_study(population.linear(), sizes=[100], measures=["auc"], repeats=50).rows()
    >>> [(round(row["value"], 2), round(row["sd"], 2), round(row["theory"], 4)) for row in rows]
    [(0.84, 0.04, 0.8333)]
    """
    check_population(population)
    functions = [as_measure(each) for each in ([measures] if isinstance(measures, str) else measures)]
    unfit = [describe(measure).name for measure in functions if describe(measure).of is not Curve]
    if unfit:
        raise OptionError(
            f"{', '.join(unfit)} requires a threshold", remedy="choose measures over all thresholds, such as auc."
        )
    shares = [population.prevalence] if prevalences is None else list(prevalences)
    study = _Study(functions, _check_integer(repeats, "repeats"), _check_integer(seed, "seed", least=0))
    cases = [(population.at_prevalence(share), _check_integer(size, "sizes")) for share, size in product(shares, sizes)]
    if not cases or not functions:
        raise OptionError("there is nothing to study", remedy="give at least one size, prevalence and measure.")
    with nullcontext() if watch is None else watch(lambda: 100 * study.done / (len(cases) * repeats)):
        rows = [row for each, size in cases for row in study.summarize(each, size)]
    columns = (*COLUMNS, "size", "prevalence", "sd", "theory", "repeats", "undefined")
    data = {
        **describe_population(population),
        "prevalences": shares,
        "seed": seed,
        "notes": list(_note_single_classes(rows)),
    }
    return Results({name: [row.get(name) for row in rows] for name in columns}, data)


@dataclass(slots=True)
class _Study:
    """Measures, repeats and seed of a study, and the number of finished samples."""

    measures: list[Measure]
    repeats: int
    seed: int
    done: int = field(default=0, init=False)

    def summarize(self, population: Population, size: int) -> Iterator[dict[str, Any]]:
        """Yield one row for each measure."""
        values = np.array([self._measure_sample(population, size, repeat) for repeat in range(self.repeats)])
        for measure, column in zip(self.measures, values.T, strict=True):
            yield {
                "measure": describe(measure).name,
                "size": size,
                "prevalence": population.prevalence,
                "theory": exact_value(population, measure),
                "repeats": self.repeats,
                **_summarize_values(column),
            }

    def _measure_sample(self, population: Population, size: int, repeat: int) -> list[float]:
        """Draw a sample and compute all measures; NaN if it has a single class."""
        # A seed takes integers only: the bits of the prevalence are one, and distinct for distinct prevalences.
        share = int(np.float64(population.prevalence).view(np.uint64))
        truth, score = population.draw(size, np.random.default_rng([self.seed, size, share, repeat]))
        curve = Curve(Tally.of_rows(truth, score))
        self.done += 1
        both = 0 < np.count_nonzero(truth) < size
        return [float(measure(curve)) if both else nan for measure in self.measures]


def _summarize_values(values: Floats) -> dict[str, Any]:
    defined = values[~np.isnan(values)]
    count = len(defined)
    mean = float(defined.mean()) if count else nan
    spread = sqrt(float(np.sum((defined - mean) ** 2)) / (count - 1)) if count > 1 else nan
    why = None if count else "every sample contains a single class"
    return {"value": mean, "sd": spread, "undefined": len(values) - count, "how": "mean of samples", "why": why}


def _note_single_classes(rows: list[dict[str, Any]]) -> Iterator[str]:
    undefined = {(row["size"], row["prevalence"]): row["undefined"] for row in rows if row["undefined"]}
    for (size, share), count in undefined.items():
        samples = f"{count} of {rows[0]['repeats']} samples of {size} rows at prevalence {share:g}"
        yield f"{samples} have a single class and are omitted."


def _check_integer(value: object, name: str, least: int = 1) -> int:
    number = isinstance(value, (int, float, np.integer, np.floating)) and isfinite(value)
    if not number or value != int(value) or value < least:  # type: ignore[call-overload,operator]  # a number
        raise OptionError(f"{name} is {value!r}; expected whole numbers of {least} or more.", option=name, value=value)
    return int(value)  # type: ignore[call-overload,no-any-return]  # a number


class Screening(NamedTuple):
    """Simulated predictions: label, score and site of each person."""

    sick: npt.NDArray[np.bool_]
    risk: npt.NDArray[np.float64]
    site: npt.NDArray[np.str_]


def simulate_screening(rows: int = 20_000, seed: int = 2026) -> Screening:
    """Simulate people screened at three sites, with a risk score that is miscalibrated in a realistic way.

    Each person belongs to a site: north (60%, prevalence 4%), coast (30%, 8%) or hill (10%, 15%). The sick have a
    marker from N(d, 1), the healthy from N(0, 1); d is 1.8, 1.6 and 1.1 at the three sites. The score is that of an
    overfitted model, trained at a prevalence of 12% with d = 1.7: its log-odds are 1.3 times too far from their middle.
    So it ranks well, is overconfident, and overestimates risk where the disease is rare. Scores have four digits, so
    there are ties.

    Parameters
    ----------
    rows
        Number of people.
    seed
        Random seed.

    Returns
    -------
    Screening
        Label, score and site of each person.

    Examples
    --------
    >>> people = simulate_screening(5)
    >>> people.risk.tolist(), people.site[:2].tolist()
    ([0.0928, 0.061, 0.0178, 0.017, 0.0289], ['north', 'coast'])
    """
    # Do not reorder what uses `rng`: examples, tests and documentation contain numbers of these people.
    rng = np.random.default_rng(seed)
    sites = np.array(["north", "coast", "hill"])
    site = rng.choice(3, size=rows, p=[0.6, 0.3, 0.1])
    sick = rng.random(rows) < np.array([0.04, 0.08, 0.15])[site]
    marker = rng.normal(size=rows) + np.where(sick, np.array([1.8, 1.6, 1.1])[site], 0.0)
    evidence = 1.7 * marker - 1.7**2 / 2
    log_odds = np.log(0.12 / 0.88) + 1.3 * evidence
    return Screening(sick, np.round(1 / (1 + np.exp(-log_odds)), 4), sites[site])


def screening_csv(people: Screening) -> str:
    """Write screened people as a CSV file of predictions.

    >>> screening_csv(simulate_screening(1)).splitlines()[0]
    'sick,risk,site'
    """
    lines = (f"{sick:d},{risk:.4f},{site}\n" for sick, risk, site in zip(*people, strict=True))
    return "sick,risk,site\n" + "".join(lines)


def simulate_rows(population: Population, rows: int, *, seed: int = 0, positives: int | None = None) -> Results:
    """Simulate labels and scores of a population, as tidy rows.

    Parameters
    ----------
    population
        Population to sample from.
    rows
        Number of rows.
    seed
        Random seed.
    positives
        Exact number of positives; the default is a random number.

    Returns
    -------
    Results
        Columns `truth` (0 or 1) and `score`, in random order.

    Examples
    --------
    >>> from baserate import population
    >>> [row["truth"] for row in simulate_rows(population.linear(), 4, seed=7, positives=2).rows()]
    [1, 0, 1, 0]
    """
    truth, score = population.draw(rows, seed, positives=positives)
    header = {"prevalence": population.prevalence, "seed": seed, "notes": []}
    return Results({"truth": truth.astype(int), "score": score}, header)
