"""How often intervals cover the truth: a seeded study of all defaults, in minutes, as a table in Markdown.

    python -m bench.coverage                 every measure, everywhere
    python -m bench.coverage auc f1 --runs 4000
    python -m bench.coverage --docs          the table in docs/intervals.md, too

Samples come from two normal classes whose AUC is known, at several prevalences and sizes, with equal and with unequal
spreads. A place whose coverage looks low is run again, four times as long and with other random numbers, if need be
sixteen times, and the last number counts: the lowest of hundreds of honest coverages is low by chance.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from math import log, sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_expit, logit, ndtri

from baserate import Counts, Population, Tally, infer, population
from baserate._files import write_text
from baserate.measure import MEASURES, Measure, partial_auc

LEVEL = 0.95
KEPT = 0.93
"""Coverage that every default must keep where both classes have ten rows or more."""
_PASSES = ((1, 1.0), (4, 0.945), (16, KEPT))
"""Times as many runs, for what the last such study found below."""
PREVALENCES = (0.01, 0.1, 0.5)
SIZES = (100, 1000, 10_000)
AREAS = (0.6, 0.8, 0.95, 0.99)
SPREADS = (1.0, 2.0, 0.5)
"""Standard deviation of positives, when that of negatives is 1."""
OF_TABLES = (
    *("sensitivity", "specificity", "precision", "npv", "accuracy", "flag_rate"),
    *("balanced_accuracy", "f1", "mcc", "kappa", "youden", "markedness", "diagnostic_odds_ratio", "lift"),
    *("positive_likelihood_ratio", "expected_cost"),
)
OF_SCORES = ("auc", "cap_area", "average_precision", "ks", "brier", "brier_skill", "log_loss", "log_loss_skill")
SLOW = ("pr_auc", "partial_auc")
"""Resampled, so a tenth of the runs must do, and small samples."""
_SMALL = 1000
NAMES = (*OF_TABLES, *OF_SCORES, *SLOW)

Floats = npt.NDArray[np.float64]

_PAGE = Path(__file__).parents[1] / "docs" / "intervals.md"
_MARK, _END = "<!-- coverage -->", "<!-- /coverage -->"


class Place(NamedTuple):
    """Where measures are studied."""

    prevalence: float
    rows: int
    area: float
    spread: float

    @property
    def rare(self) -> float:
        """Rows of the smaller class, on average."""
        return self.rows * min(self.prevalence, 1 - self.prevalence)

    @property
    def shift(self) -> float:
        """Distance of the means of the classes."""
        return float(sqrt(1 + self.spread**2) * ndtri(self.area))

    @property
    def theory(self) -> Population:
        """The same in closed form."""
        return population.binormal(means=(0, self.shift), sds=(1, self.spread), prevalence=self.prevalence)

    def probability(self, score: Floats) -> Floats:
        """Log-odds that are right where spreads are equal, and otherwise as wrong as models are."""
        return np.asarray(logit(self.prevalence) + self.shift * (score - self.shift / 2) / self.spread)


class Covered(NamedTuple):
    """How often the interval covered, how often the truth was below it, its mean width, and of how many runs."""

    share: float
    below: float
    width: float
    runs: int


class Task(NamedTuple):
    """Measures that are studied at one place with the same samples."""

    place: Place
    names: tuple[str, ...]


Studied = dict[tuple[str, Place], Covered]


def main(argv: Sequence[str] | None = None) -> int:
    """Study what is asked for, and print a table; 1 if a promise was broken."""
    asked = _asked(argv)
    places = [Place(*each) for each in product(PREVALENCES, SIZES, AREAS, SPREADS)]
    kinds = [tuple(name for name in asked.names if name in kind) for kind in (OF_TABLES, OF_SCORES, SLOW)]
    found: Studied = {}
    with ProcessPoolExecutor() as pool:
        tasks = [Task(place, names) for place in places for names in kinds if names]
        tasks = [task for task in tasks if task.place.rows <= _SMALL or not set(task.names) & set(SLOW)]
        for seed, (times, below) in enumerate(_PASSES, start=1):
            low = {key for key, covered in found.items() if covered.share < below and key[1].rare >= 10}
            if found:
                print(f"{len(low)} of {len(found)} numbers are below {below}, and studied again", file=sys.stderr)
                tasks = [Task(place, tuple(name for name in names if (name, place) in low)) for place, names in tasks]
            todo = [task for task in tasks if task.names]
            for done, part in enumerate(pool.map(partial(_studied, runs=times * asked.runs, seed=seed), todo), start=1):
                found |= part
                _show(done, len(todo))
    table = "\n".join(_table(found))
    print(table)
    if asked.docs:
        before, mark, rest = _PAGE.read_text(encoding="utf-8").partition(_MARK)
        write_text(_PAGE, f"{before}{mark}\n{table}\n{rest[rest.index(_END) :]}")
    broken = {key: covered for key, covered in found.items() if covered.share < KEPT and key[1].rare >= 10}
    for (name, place), covered in broken.items():
        print(f"{covered.share:.3f} of {name} at {place}, {covered.below:.3f} below", file=sys.stderr)
    return int(bool(broken))


def _show(done: int, tasks: int) -> None:
    """Tell those who wait how far it is."""
    if sys.stderr.isatty():
        print(f"{done} of {tasks}", end="\r", file=sys.stderr, flush=True)


def _asked(argv: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(prog="python -m bench.coverage", description="How often intervals cover the truth.")
    parser.add_argument("names", nargs="*", metavar="MEASURE", help="measures to study; all if none is named")
    parser.add_argument("--runs", type=int, default=1000, help="samples at each place (1000)")
    parser.add_argument("--docs", action="store_true", help="write the table into the documentation")
    asked = parser.parse_args(argv)
    asked.names = asked.names or list(NAMES)
    unknown = [name for name in asked.names if name not in NAMES]
    if unknown:
        parser.error(f"{unknown[0]!r} is not studied. Known are: {', '.join(NAMES)}.")
    return asked


def _studied(task: Task, *, runs: int, seed: int) -> Studied:
    """Draw samples, and count how often the default intervals cover the truth."""
    place, names = task
    rng = np.random.default_rng([seed, NAMES.index(names[0]), *(int(1000 * part) for part in place)])
    runs = max(runs // 10, 20) if set(names) & set(SLOW) else runs
    measures = {name: _measure(name) for name in names}
    samples = (_tables if names[0] in OF_TABLES else _tallies)(place, rng, runs)
    bounds: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for sample in samples:
        for name, measure in measures.items():
            found = infer.estimate(measure, sample, level=LEVEL)
            if not np.isnan(found.low):  # an undefined number makes no claim
                bounds[name].append((found.low, found.high))
    return {(name, place): _covered(bounds[name], _truth(place, name)) for name in names}


def _covered(bounds: list[tuple[float, float]], truth: float) -> Covered:
    low, high = np.array(bounds).T if bounds else np.full((2, 1), np.nan)
    covered = (low <= truth) & (truth <= high)
    return Covered(float(covered.mean()), float((truth < low).mean()), float(np.median(high - low)), len(bounds))


def _measure(name: str) -> Measure:
    return partial(partial_auc, fpr=(0, 0.2)) if name == "partial_auc" else MEASURES[name]


def _cut(place: Place) -> Counts[float]:
    """Table of everybody where about as many negatives are flagged as there are positives."""
    return place.theory.at(float(ndtri(1 - place.prevalence)) if place.prevalence < 0.5 else place.shift / 2)


def _tables(place: Place, rng: np.random.Generator, runs: int) -> Iterator[Counts[float]]:
    """2×2 tables of samples."""
    cells = _cut(place)
    for each in rng.multinomial(place.rows, [cells.tp, cells.fp, cells.fn, cells.tn], size=runs):
        yield Counts(*map(float, each))


def _tallies(place: Place, rng: np.random.Generator, runs: int) -> Iterator[Tally]:
    """Tallies of probabilities of samples in which there are both classes."""
    for _ in range(runs):
        truth = np.zeros(place.rows, dtype=np.bool_)
        while not 0 < truth.sum() < place.rows:
            truth = rng.random(place.rows) < place.prevalence
        score = rng.standard_normal(place.rows)
        score[truth] = place.shift + place.spread * score[truth]
        yield Tally.of_rows(truth, np.asarray(expit(place.probability(score))))


def _truth(place: Place, name: str) -> float:
    """What the measure would be for everybody."""
    theory, share = place.theory, place.prevalence
    if name in OF_TABLES:
        return float(MEASURES[name](_cut(place)))
    if name in ("auc", "average_precision", "pr_auc"):
        return float(theory.auc if name == "auc" else theory.average_precision)
    if name == "cap_area":
        return share / 2 + (1 - share) * theory.auc
    if name not in ("ks", "partial_auc"):
        return _mean_loss(place, name)
    at = np.linspace(12 + place.shift, -8 - 6 * place.spread, 200_001)
    tpr, fpr = theory.tpr(at), theory.fpr(at)
    if name == "ks":
        return float(np.max(np.abs(tpr - fpr)))
    rate = np.linspace(0, 0.2, 20_001)
    return float(np.trapezoid(np.interp(rate, fpr, tpr), rate))


def _mean_loss(place: Place, name: str) -> float:
    """Brier score or log-loss, or the skill of it, by quadrature."""
    share = place.prevalence
    node, weight = np.polynomial.hermite_e.hermegauss(180)
    weight = weight / weight.sum()
    true, false = place.probability(place.shift + place.spread * node), place.probability(node)
    if name.startswith("brier"):
        loss = share * np.sum(weight * expit(-true) ** 2) + (1 - share) * np.sum(weight * expit(false) ** 2)
        constant = share * (1 - share)
    else:
        loss = -share * np.sum(weight * log_expit(true)) - (1 - share) * np.sum(weight * log_expit(-false))
        constant = -share * log(share) - (1 - share) * log(1 - share)
    return float(1 - loss / constant if name.endswith("skill") else loss)


def _table(found: Studied) -> Iterator[str]:
    """A row for each measure, a column for each size of the smaller class: lowest and mean coverage, in per cent."""
    sizes = sorted({place.rare for _, place in found})
    yield "| rows of the smaller class | " + " | ".join(f"{size:g}" for size in sizes) + " |"
    yield "|---|" + "---|" * len(sizes)
    for name in dict.fromkeys(name for name, _ in found):
        cells = []
        for size in sizes:
            shares = [each.share for (which, place), each in found.items() if (which, place.rare) == (name, size)]
            cells.append(f"{100 * min(shares):.1f} / {100 * float(np.mean(shares)):.1f}" if shares else "–")
        yield f"| {name.replace('_', ' ')} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sys.exit(main())
