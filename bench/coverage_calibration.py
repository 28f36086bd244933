"""How often tests of calibration reject a perfect model, and how often its intervals cover: a seeded study.

    python -m bench.coverage_calibration                  two tables in Markdown
    python -m bench.coverage_calibration --runs 4000
    python -m bench.coverage_calibration --docs           into docs/reliability.md, too

Probabilities are drawn from beta distributions, and what happens from them (sizes), or from a line of their log-odds
(coverage), whose intercept and slope are then the truth.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import chdtrc, expit, logit
from scipy.stats import beta

from baserate import Tally, infer, tally
from baserate._files import write_text
from baserate.measure import find_measure
from baserate.measure._calibration_bins import bin_starts

Floats = npt.NDArray[np.float64]

SHAPES = ((0.5, 0.5), (2.0, 2.0), (1.0, 9.0))
"""Of the beta distributions: sure, unsure, and rare."""
SIZES = (100, 500, 5000)
LINES = ((0.0, 1.0), (-0.5, 0.8), (0.3, 1.3))
"""Intercepts and slopes of the log-odds of what happens."""
SAMPLES = 200
_PAGE = Path(__file__).parent.parent / "docs" / "reliability.md"
_FITTED = "hosmer_lemeshow, fitted"


class Place(NamedTuple):
    """A population and a number of rows."""

    shape: tuple[float, float]
    rows: int
    line: tuple[float, float] = (0.0, 1.0)


def main(argv: Sequence[str] | None = None) -> int:
    """Study sizes and coverage, and print both tables."""
    asked = _asked(argv)
    sizes = [Place(*each) for each in product(SHAPES, SIZES)]
    covers = [Place(*each) for each in product(SHAPES, SIZES, LINES)]
    with ProcessPoolExecutor() as pool:
        rejected = dict(zip(sizes, pool.map(partial(rejections, runs=asked.runs), sizes), strict=True))
        covered = dict(zip(covers, pool.map(partial(coverage, runs=asked.runs), covers), strict=True))
    tables = {"sizes": "\n".join(_sizes(rejected)), "covers": "\n".join(_covers(covered))}
    print("\n\n".join(tables.values()))
    for name, table in tables.items() if asked.docs else ():
        before, mark, rest = _PAGE.read_text(encoding="utf-8").partition(f"<!-- {name} -->")
        write_text(_PAGE, f"{before}{mark}\n{table}\n{rest[rest.index(f'<!-- /{name} -->') :]}")
    return 0


def _asked(argv: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(prog="python -m bench.coverage_calibration", description="Sizes of tests, coverage of intervals.")
    parser.add_argument("--runs", type=int, default=1000, help="samples at each place (1000)")
    parser.add_argument("--docs", action="store_true", help="write the tables into the documentation")
    return parser.parse_args(argv)


def rejections(place: Place, *, runs: int) -> dict[str, float]:
    """How often each test rejects a perfect model at 5 %, and how often a floor is left."""
    rng = np.random.default_rng([1, place.rows, int(100 * place.shape[0])])
    found: dict[str, list[bool]] = {}
    for at in range(runs):
        sample, _ = _sample(place, rng)
        wrong = {check.name: check.p < 0.05 for check in infer.calibration_tests(sample)}
        wrong["hosmer_lemeshow, df g − 2"] = _two_less(infer.hosmer_lemeshow(sample)) < 0.05
        wrong[_FITTED] = infer.hosmer_lemeshow(_refitted(sample), fitted=True).p < 0.05
        if at % _rarely(place) == 0:
            floors = infer.null_references(
                [find_measure(name) for name in _FLOORED], sample, seed=at, n_simulations=SAMPLES
            )
            wrong |= {f"floor of {name}": not floor.within for name, floor in zip(_FLOORED, floors, strict=True)}
        for name, each in wrong.items():
            found.setdefault(name, []).append(each)
    return {name: float(np.mean(each)) for name, each in found.items()}


_FLOORED = ("ece", "rmsce", "smooth_ece", "ici", "brier_miscalibration")


def _rarely(place: Place) -> int:
    """Floors are drawn for one in so many samples: they take longer."""
    return 5 if place.rows > 1000 else 2


def coverage(place: Place, *, runs: int) -> dict[str, float]:
    """How often the default intervals cover the truth."""
    rng = np.random.default_rng([2, place.rows, int(100 * place.shape[0]), int(100 * place.line[1])])
    truth = _truth(place)
    found: dict[str, list[bool]] = {}
    for _ in range(runs):
        sample, chance = _sample(place, rng)
        here = truth | {"rmsce_debiased": _gap_in_bins(sample, chance)}
        for name, value in here.items():
            number = infer.estimate(name, sample)
            if not np.isnan(number.low):
                # In the middle of what rounding leaves open.
                found.setdefault(name, []).append(number.low - 1e-9 <= value <= number.high + 1e-9)
    return {name: float(np.mean(each)) for name, each in found.items()}


def _sample(place: Place, rng: np.random.Generator) -> tuple[Tally, Floats]:
    """Draw rows with both classes, and the chance of each of their scores, from the highest down."""
    while True:
        p = rng.beta(*place.shape, place.rows)
        truth = rng.random(place.rows) < expit(place.line[0] + place.line[1] * logit(p))
        if 0 < truth.sum() < place.rows:
            found = tally(truth, p)
            return found, expit(place.line[0] + place.line[1] * logit(found.score))


def _two_less(found: infer.CalibrationTest) -> float:
    """P of a χ² statistic with two degrees of freedom less, whatever the rows."""
    return float(chdtrc(max((found.freedom or 0) - 2, 1), found.statistic))


def _refitted(sample: Tally) -> Tally:
    """Probabilities of a logistic regression on these very rows."""
    line = [infer.estimate(name, sample).value for name in ("calibration_intercept", "calibration_slope")]
    return sample if np.isnan(line).any() else sample.with_scores(expit(line[0] + line[1] * logit(sample.score)))


def _gap_in_bins(sample: Tally, chance: Floats) -> float:
    """The truth that the debiased error estimates: gaps in the bins of this sample."""
    mass = sample.rows.sum(axis=0).astype(np.float64)[::-1]
    first = np.unique(bin_starts(sample.score[::-1], mass, by="mass"))
    gap = mass * (chance - sample.score)[::-1]
    sums, gaps = np.add.reduceat(mass, first), np.add.reduceat(gap, first)
    return float(np.sqrt(np.sum(gaps**2 / sums) / mass.sum()))


def _truth(place: Place) -> dict[str, float]:
    law = beta(*place.shape)
    a, b = place.line

    def mean(function: Callable[[float], float]) -> float:
        # Over the quantiles, in which the density has no poles.
        return float(quad(lambda u: function(min(max(law.ppf(u), 1e-15), 1 - 1e-15)), 0, 1, limit=500)[0])

    def chance(p: float) -> float:
        return float(expit(a + b * logit(p)))

    share = mean(chance)
    large = brentq(lambda c: mean(lambda p: float(expit(c + logit(p)))) - share, -5, 5)
    return {
        "observed_expected": share / float(law.mean()),
        "calibration_in_the_large": float(large),
        "calibration_intercept": a,
        "calibration_slope": b,
        "mean_probability": float(law.mean()),
        "brier_uncertainty": share * (1 - share),
    }


def _sizes(rejected: dict[Place, dict[str, float]]) -> Iterator[str]:
    """A row for each test, a column for each place."""
    heads = [f"{place.rows}, β({place.shape[0]:g}, {place.shape[1]:g})" for place in rejected]
    yield f"| % rejected | {' | '.join(heads)} |"
    yield "|---" * (len(heads) + 1) + "|"
    for name in next(iter(rejected.values())):
        yield f"| {name.replace('_', ' ')} | {' | '.join(f'{100 * each[name]:.1f}' for each in rejected.values())} |"


def _covers(covered: dict[Place, dict[str, float]]) -> Iterator[str]:
    """A row for each measure, a column for each number of rows: lowest and mean coverage."""
    yield f"| % covered, lowest / mean | {' | '.join(f'{rows} rows' for rows in SIZES)} |"
    yield "|---" * (len(SIZES) + 1) + "|"
    for name in next(iter(covered.values())):
        shares = [[each[name] for place, each in covered.items() if place.rows == rows] for rows in SIZES]
        cells = " | ".join(f"{100 * min(each):.1f} / {100 * float(np.mean(each)):.1f}" for each in shares)
        yield f"| {name.replace('_', ' ')} | {cells} |"


if __name__ == "__main__":
    sys.exit(main())
