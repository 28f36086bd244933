"""Simulation study of the coverage of all default intervals, as a table in Markdown.

    python -m bench.coverage                 all measures in all settings
    python -m bench.coverage auc f1 --runs 4000
    python -m bench.coverage --docs          also write the table into docs/intervals.md

Samples come from two normal classes with known AUC, at several prevalences and sizes, with equal and with unequal
variances. A setting with a low coverage is studied again with other random numbers and four times as many samples, and
once more with sixteen times as many; the last coverage counts. The lowest of hundreds of coverages is low by chance.
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
MIN_COVERAGE = 0.93
"""Coverage that every default must reach where both classes have ten rows or more."""
_ROUNDS = ((1, 1.0), (4, 0.945), (16, MIN_COVERAGE))
"""Multiple of the samples, and the coverage below which a setting of the previous round is studied again."""
PREVALENCES = (0.01, 0.1, 0.5)
SIZES = (100, 1000, 10_000)
AREAS = (0.6, 0.8, 0.95, 0.99)
SPREADS = (1.0, 2.0, 0.5)
"""Standard deviations of positives; that of negatives is 1."""
THRESHOLD_MEASURES = (
    *("sensitivity", "specificity", "precision", "npv", "accuracy", "flag_rate"),
    *("balanced_accuracy", "f1", "mcc", "kappa", "youden", "markedness", "diagnostic_odds_ratio", "lift"),
    *("positive_likelihood_ratio", "expected_cost"),
)
SCORE_MEASURES = ("auc", "cap_area", "average_precision", "ks", "brier", "brier_skill", "log_loss", "log_loss_skill")
SLOW_MEASURES = ("pr_auc", "partial_auc")
"""Measures with bootstrap intervals, studied with a tenth of the samples and in small samples only."""
_SMALL = 1000
"""Greatest number of rows for slow measures."""
NAMES = (*THRESHOLD_MEASURES, *SCORE_MEASURES, *SLOW_MEASURES)

Floats = npt.NDArray[np.float64]

_PAGE = Path(__file__).parents[1] / "docs" / "intervals.md"
_MARK, _END = "<!-- coverage -->", "<!-- /coverage -->"


class Setting(NamedTuple):
    """Population and sample size of one setting of the study."""

    prevalence: float
    rows: int
    area: float
    spread: float

    @property
    def minority_rows(self) -> float:
        """Expected rows of the smaller class."""
        return self.rows * min(self.prevalence, 1 - self.prevalence)

    @property
    def shift(self) -> float:
        """Difference of the means of the classes."""
        return float(sqrt(1 + self.spread**2) * ndtri(self.area))

    @property
    def theory(self) -> Population:
        """The population, with measures in closed form."""
        return population.binormal(means=(0, self.shift), sds=(1, self.spread), prevalence=self.prevalence)

    def log_odds(self, score: Floats) -> Floats:
        """Compute log-odds that are calibrated where the variances are equal, and miscalibrated otherwise."""
        return np.asarray(logit(self.prevalence) + self.shift * (score - self.shift / 2) / self.spread)


class Coverage(NamedTuple):
    """Share of intervals with the true value, share above the true value, median width, and number of intervals."""

    share: float
    too_high: float
    width: float
    runs: int


class Task(NamedTuple):
    """Measures that are studied in one setting with the same samples."""

    setting: Setting
    names: tuple[str, ...]


Coverages = dict[tuple[str, Setting], Coverage]


def main(argv: Sequence[str] | None = None) -> int:
    """Study the measures, and print a table; return 1 if a coverage is too low."""
    options = _parse_arguments(argv)
    settings = [Setting(*each) for each in product(PREVALENCES, SIZES, AREAS, SPREADS)]
    kinds = [
        tuple(name for name in options.names if name in kind)
        for kind in (THRESHOLD_MEASURES, SCORE_MEASURES, SLOW_MEASURES)
    ]
    coverages: Coverages = {}
    with ProcessPoolExecutor() as pool:
        tasks = [Task(setting, names) for setting in settings for names in kinds if names]
        tasks = [task for task in tasks if task.setting.rows <= _SMALL or not set(task.names) & set(SLOW_MEASURES)]
        for seed, (times, below) in enumerate(_ROUNDS, start=1):
            low = {key for key, coverage in coverages.items() if coverage.share < below and key[1].minority_rows >= 10}
            if coverages:
                print(f"{len(low)} of {len(coverages)} coverages are below {below} and studied again", file=sys.stderr)
                tasks = [
                    Task(setting, tuple(name for name in names if (name, setting) in low)) for setting, names in tasks
                ]
            remaining = [task for task in tasks if task.names]
            study = partial(_study_setting, runs=times * options.runs, seed=seed)
            for done, part in enumerate(pool.map(study, remaining), start=1):
                coverages |= part
                _print_progress(done, len(remaining))
    table = "\n".join(_format_table(coverages))
    print(table)
    if options.docs:
        before, mark, rest = _PAGE.read_text(encoding="utf-8").partition(_MARK)
        write_text(_PAGE, f"{before}{mark}\n{table}\n{rest[rest.index(_END) :]}")
    failures = {
        key: coverage
        for key, coverage in coverages.items()
        if coverage.share < MIN_COVERAGE and key[1].minority_rows >= 10
    }
    for (name, setting), coverage in failures.items():
        print(f"{name} in {setting}: coverage {coverage.share:.3f}, {coverage.too_high:.3f} too high", file=sys.stderr)
    return int(bool(failures))


def _print_progress(done: int, tasks: int) -> None:
    """Print the number of finished tasks on a terminal."""
    if sys.stderr.isatty():
        print(f"{done} of {tasks}", end="\r", file=sys.stderr, flush=True)


def _parse_arguments(argv: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(prog="python -m bench.coverage", description="Coverage of the default intervals.")
    parser.add_argument("names", nargs="*", metavar="MEASURE", help="measures to study [default: all]")
    parser.add_argument("--runs", type=int, default=1000, help="samples in each setting [default: 1000]")
    parser.add_argument("--docs", action="store_true", help="write the table into the documentation")
    options = parser.parse_args(argv)
    options.names = options.names or list(NAMES)
    unknown = [name for name in options.names if name not in NAMES]
    if unknown:
        parser.error(f"the study has no measure {unknown[0]!r}. Known are: {', '.join(NAMES)}.")
    return options


def _study_setting(task: Task, *, runs: int, seed: int) -> Coverages:
    """Draw samples, and compute the coverage of the default intervals."""
    setting, names = task
    # The seed depends on the task alone, not on the order in which processes take the tasks.
    rng = np.random.default_rng([seed, NAMES.index(names[0]), *(int(1000 * part) for part in setting)])
    runs = max(runs // 10, 20) if set(names) & set(SLOW_MEASURES) else runs
    measures = {name: _find_measure(name) for name in names}
    samples = (_draw_counts if names[0] in THRESHOLD_MEASURES else _draw_tallies)(setting, rng, runs)
    bounds: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for sample in samples:
        for name, measure in measures.items():
            estimate = infer.estimate(measure, sample, level=LEVEL)
            if not np.isnan(estimate.low):  # no interval: not counted, neither as a hit nor as a miss
                bounds[name].append((estimate.low, estimate.high))
    return {(name, setting): _compute_coverage(bounds[name], _true_value(setting, name)) for name in names}


def _compute_coverage(bounds: list[tuple[float, float]], truth: float) -> Coverage:
    low, high = np.array(bounds).T if bounds else np.full((2, 1), np.nan)
    hits = (low <= truth) & (truth <= high)
    return Coverage(float(hits.mean()), float((truth < low).mean()), float(np.median(high - low)), len(bounds))


def _find_measure(name: str) -> Measure:
    return partial(partial_auc, fpr=(0, 0.2)) if name == "partial_auc" else MEASURES[name]


def _population_counts(setting: Setting) -> Counts[float]:
    """Compute the counts of the population where the FPR is the prevalence; at 50%, midway between the classes."""
    return setting.theory.at(float(ndtri(1 - setting.prevalence)) if setting.prevalence < 0.5 else setting.shift / 2)


def _draw_counts(setting: Setting, rng: np.random.Generator, runs: int) -> Iterator[Counts[float]]:
    """Draw the counts of samples."""
    cells = _population_counts(setting)
    for each in rng.multinomial(setting.rows, [cells.tp, cells.fp, cells.fn, cells.tn], size=runs):
        yield Counts(*map(float, each))


def _draw_tallies(setting: Setting, rng: np.random.Generator, runs: int) -> Iterator[Tally]:
    """Draw tallies of probabilities, with rows of both classes."""
    for _ in range(runs):
        truth = np.zeros(setting.rows, dtype=np.bool_)
        while not 0 < truth.sum() < setting.rows:
            truth = rng.random(setting.rows) < setting.prevalence
        score = rng.standard_normal(setting.rows)
        score[truth] = setting.shift + setting.spread * score[truth]
        yield Tally.of_rows(truth, np.asarray(expit(setting.log_odds(score))))


def _true_value(setting: Setting, name: str) -> float:
    """Compute the measure in the population."""
    theory, share = setting.theory, setting.prevalence
    if name in THRESHOLD_MEASURES:
        return float(MEASURES[name](_population_counts(setting)))
    if name in ("auc", "average_precision", "pr_auc"):
        return float(theory.auc if name == "auc" else theory.average_precision)
    if name == "cap_area":
        return share / 2 + (1 - share) * theory.auc
    if name not in ("ks", "partial_auc"):
        return _mean_loss(setting, name)
    # Descending thresholds, since `np.interp` requires ascending FPRs.
    thresholds = np.linspace(12 + setting.shift, -8 - 6 * setting.spread, 200_001)
    tpr, fpr = theory.tpr(thresholds), theory.fpr(thresholds)
    if name == "ks":
        return float(np.max(np.abs(tpr - fpr)))
    rate = np.linspace(0, 0.2, 20_001)
    return float(np.trapezoid(np.interp(rate, fpr, tpr), rate))


def _mean_loss(setting: Setting, name: str) -> float:
    """Compute the Brier score, the log loss or their skill scores by Gauss–Hermite quadrature."""
    share = setting.prevalence
    node, weight = np.polynomial.hermite_e.hermegauss(180)
    weight = weight / weight.sum()  # weights for the normal density
    true, false = setting.log_odds(setting.shift + setting.spread * node), setting.log_odds(node)
    if name.startswith("brier"):
        loss = share * np.sum(weight * expit(-true) ** 2) + (1 - share) * np.sum(weight * expit(false) ** 2)
        constant = share * (1 - share)
    else:
        loss = -share * np.sum(weight * log_expit(true)) - (1 - share) * np.sum(weight * log_expit(-false))
        constant = -share * log(share) - (1 - share) * log(1 - share)
    return float(1 - loss / constant if name.endswith("skill") else loss)


def _format_table(coverages: Coverages) -> Iterator[str]:
    """Yield a line per measure, a column per size of the smaller class: lowest and mean coverage, in per cent."""
    sizes = sorted({setting.minority_rows for _, setting in coverages})
    yield "| rows of the smaller class | " + " | ".join(f"{size:g}" for size in sizes) + " |"
    yield "|---|" + "---|" * len(sizes)
    for name in dict.fromkeys(name for name, _ in coverages):
        cells = []
        for size in sizes:
            shares = [
                each.share
                for (measure, setting), each in coverages.items()
                if (measure, setting.minority_rows) == (name, size)
            ]
            cells.append(f"{100 * min(shares):.1f} / {100 * float(np.mean(shares)):.1f}" if shares else "–")
        yield f"| {name.replace('_', ' ')} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sys.exit(main())
