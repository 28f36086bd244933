"""Simulation study of the type I errors of calibration tests, and of the coverage of calibration intervals.

    python -m bench.coverage_calibration                  two tables in Markdown
    python -m bench.coverage_calibration --runs 4000
    python -m bench.coverage_calibration --docs           also write them into docs/reliability.md

Probabilities have beta distributions. Outcomes follow the probabilities (type I errors), or a line of their log-odds
(coverage), whose intercept and slope are the true values.
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
"""Parameters of the beta distributions: extreme, moderate and small probabilities."""
SIZES = (100, 500, 5000)
LINES = ((0.0, 1.0), (-0.5, 0.8), (0.3, 1.3))
"""Intercepts and slopes of the log-odds of the outcomes."""
N_SIMULATIONS = 200
"""Simulations of each null reference."""
_PAGE = Path(__file__).parent.parent / "docs" / "reliability.md"
_FITTED = "hosmer_lemeshow, fitted"


class Setting(NamedTuple):
    """A population and a number of rows."""

    shape: tuple[float, float]
    rows: int
    line: tuple[float, float] = (0.0, 1.0)


def main(argv: Sequence[str] | None = None) -> int:
    """Study type I errors and coverage, and print both tables."""
    options = _parse_arguments(argv)
    test_settings = [Setting(*each) for each in product(SHAPES, SIZES)]
    interval_settings = [Setting(*each) for each in product(SHAPES, SIZES, LINES)]
    with ProcessPoolExecutor() as pool:
        rejections = dict(
            zip(test_settings, pool.map(partial(rejection_rates, runs=options.runs), test_settings), strict=True)
        )
        coverages = dict(
            zip(interval_settings, pool.map(partial(coverage_rates, runs=options.runs), interval_settings), strict=True)
        )
    tables = {"sizes": "\n".join(_format_rejections(rejections)), "covers": "\n".join(_format_coverages(coverages))}
    print("\n\n".join(tables.values()))
    for name, table in tables.items() if options.docs else ():
        before, mark, rest = _PAGE.read_text(encoding="utf-8").partition(f"<!-- {name} -->")
        write_text(_PAGE, f"{before}{mark}\n{table}\n{rest[rest.index(f'<!-- /{name} -->') :]}")
    return 0


def _parse_arguments(argv: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser(
        prog="python -m bench.coverage_calibration", description="Type I errors of tests, coverage of intervals."
    )
    parser.add_argument("--runs", type=int, default=1000, help="samples in each setting [default: 1000]")
    parser.add_argument("--docs", action="store_true", help="write the tables into docs/reliability.md")
    return parser.parse_args(argv)


def rejection_rates(setting: Setting, *, runs: int) -> dict[str, float]:
    """Compute how often each test, and each null reference, rejects a calibrated model at 5%."""
    # The first number of the seed separates the random numbers of the two studies.
    rng = np.random.default_rng([1, setting.rows, int(100 * setting.shape[0])])
    rejections: dict[str, list[bool]] = {}
    for run in range(runs):
        sample, _ = _draw_sample(setting, rng)
        rejected = {check.name: check.p < 0.05 for check in infer.calibration_tests(sample)}
        rejected["hosmer_lemeshow, df g − 2"] = _reduced_freedom_p(infer.hosmer_lemeshow(sample)) < 0.05
        rejected[_FITTED] = infer.hosmer_lemeshow(_refit_line(sample), fitted=True).p < 0.05
        if run % _reference_interval(setting) == 0:
            references = infer.null_references(
                [find_measure(name) for name in _REFERENCE_MEASURES], sample, seed=run, n_simulations=N_SIMULATIONS
            )
            rejected |= {
                f"null reference of {name}": not reference.within
                for name, reference in zip(_REFERENCE_MEASURES, references, strict=True)
            }
        for name, each in rejected.items():
            rejections.setdefault(name, []).append(each)
    return {name: float(np.mean(each)) for name, each in rejections.items()}


_REFERENCE_MEASURES = ("ece", "rmsce", "smooth_ece", "ici", "brier_miscalibration")


def _reference_interval(setting: Setting) -> int:
    """Return the number of samples per simulated null reference, which takes longer than the tests."""
    return 5 if setting.rows > 1000 else 2


def coverage_rates(setting: Setting, *, runs: int) -> dict[str, float]:
    """Compute how often the default intervals contain the true values."""
    rng = np.random.default_rng([2, setting.rows, int(100 * setting.shape[0]), int(100 * setting.line[1])])
    truths = _true_values(setting)
    hits: dict[str, list[bool]] = {}
    for _ in range(runs):
        sample, probability = _draw_sample(setting, rng)
        sample_truths = truths | {"rmsce_debiased": _true_binned_error(sample, probability)}
        for name, value in sample_truths.items():
            estimate = infer.estimate(name, sample)
            if not np.isnan(estimate.low):
                # The tolerance keeps rounding errors of the true value from counting as misses.
                hits.setdefault(name, []).append(estimate.low - 1e-9 <= value <= estimate.high + 1e-9)
    return {name: float(np.mean(each)) for name, each in hits.items()}


def _draw_sample(setting: Setting, rng: np.random.Generator) -> tuple[Tally, Floats]:
    """Draw rows with both classes; return their tally, and the true probability at each of its scores (descending)."""
    while True:
        p = rng.beta(*setting.shape, setting.rows)
        truth = rng.random(setting.rows) < expit(setting.line[0] + setting.line[1] * logit(p))
        if 0 < truth.sum() < setting.rows:
            sample = tally(truth, p)
            return sample, expit(setting.line[0] + setting.line[1] * logit(sample.score))


def _reduced_freedom_p(test: infer.CalibrationTest) -> float:
    """Compute the p-value with two degrees of freedom less, the convention for models fitted to the same rows."""
    return float(chdtrc(max((test.freedom or 0) - 2, 1), test.statistic))


def _refit_line(sample: Tally) -> Tally:
    """Recalibrate by a logistic regression on the same rows."""
    line = [infer.estimate(name, sample).value for name in ("calibration_intercept", "calibration_slope")]
    return sample if np.isnan(line).any() else sample.with_scores(expit(line[0] + line[1] * logit(sample.score)))


def _true_binned_error(sample: Tally, probability: Floats) -> float:
    """Compute the true value of `rmsce_debiased`, which depends on the bins of the sample."""
    mass = sample.rows.sum(axis=0).astype(np.float64)[::-1]
    # Without empty bins: for those, `reduceat` returns an element in place of 0.
    first = np.unique(bin_starts(sample.score[::-1], mass, by="mass"))
    gap = mass * (probability - sample.score)[::-1]
    sums, gaps = np.add.reduceat(mass, first), np.add.reduceat(gap, first)
    return float(np.sqrt(np.sum(gaps**2 / sums) / mass.sum()))


def _true_values(setting: Setting) -> dict[str, float]:
    distribution = beta(*setting.shape)
    a, b = setting.line

    def mean(function: Callable[[float], float]) -> float:
        # Integrated over quantiles: the density may be infinite at 0 and 1, which have no log-odds either.
        return float(quad(lambda u: function(min(max(distribution.ppf(u), 1e-15), 1 - 1e-15)), 0, 1, limit=500)[0])

    def event_probability(p: float) -> float:
        return float(expit(a + b * logit(p)))

    share = mean(event_probability)
    # Calibration in the large: the intercept, with a slope of 1, that gives the prevalence.
    large = brentq(lambda c: mean(lambda p: float(expit(c + logit(p)))) - share, -5, 5)
    return {
        "observed_expected": share / float(distribution.mean()),
        "calibration_in_the_large": float(large),
        "calibration_intercept": a,
        "calibration_slope": b,
        "mean_probability": float(distribution.mean()),
        "brier_uncertainty": share * (1 - share),
    }


def _format_rejections(rejections: dict[Setting, dict[str, float]]) -> Iterator[str]:
    """Yield a line per test, a column per setting."""
    headings = [f"{setting.rows}, β({setting.shape[0]:g}, {setting.shape[1]:g})" for setting in rejections]
    yield f"| % rejected | {' | '.join(headings)} |"
    yield "|---" * (len(headings) + 1) + "|"
    for name in next(iter(rejections.values())):
        yield f"| {name.replace('_', ' ')} | {' | '.join(f'{100 * each[name]:.1f}' for each in rejections.values())} |"


def _format_coverages(coverages: dict[Setting, dict[str, float]]) -> Iterator[str]:
    """Yield a line per measure, a column per number of rows: lowest and mean coverage."""
    yield f"| % covered, lowest / mean | {' | '.join(f'{rows} rows' for rows in SIZES)} |"
    yield "|---" * (len(SIZES) + 1) + "|"
    for name in next(iter(coverages.values())):
        shares = [[each[name] for setting, each in coverages.items() if setting.rows == rows] for rows in SIZES]
        cells = " | ".join(f"{100 * min(each):.1f} / {100 * float(np.mean(each)):.1f}" for each in shares)
        yield f"| {name.replace('_', ' ')} | {cells} |"


if __name__ == "__main__":
    sys.exit(main())
