"""Simulation study of the coverage of AUC intervals and pointwise bands of smooth ROC curves.

The two classes are normal. Run it with: python -m bench.coverage_smooth_roc
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

import baserate as br
from baserate import FitError, Population, infer, population
from baserate.infer import SMOOTH_METHODS

SIZES = ((20, 40), (100, 100))
"""Positives and negatives."""
CLASSES = ((1.0, 1.0), (2.5, 1.5))
"""Mean and standard deviation of positives; negatives are standard normal."""
RATES = np.array([0.1, 0.3])
"""False positive rates of the band."""
POINTS = 11
"""Points of a curve, among which are these rates."""
COLUMNS = ("bias of the AUC", "AUC", "TPR at 10%", "TPR at 30%")


class Outcome(NamedTuple):
    """Error of the AUC in one sample, and which intervals contain the true value."""

    error: float
    hits: tuple[bool, ...]


def find_hits(method: str, truth: Population, size: tuple[int, int], *, seed: int, samples: int) -> Outcome | None:
    """Return the outcome of one sample; None where it determines no curve."""
    data = br.tally(*truth.draw(sum(size), seed, positives=size[0]))
    try:
        smooth = infer.smooth_roc(data, method=method, n_bootstrap=samples, seed=seed, points=POINTS)
    except FitError:
        return None
    rates = truth.tpr(truth.negative.isf(RATES))
    places = np.searchsorted(smooth.columns["fpr"], RATES - 1e-9)
    low, high = (smooth.columns[name][places] for name in ("low", "high"))
    covers_auc = smooth.auc.low <= truth.auc <= smooth.auc.high
    return Outcome(float(smooth.auc) - truth.auc, (covers_auc, *((low <= rates) & (rates <= high)).tolist()))


def study_coverage(
    methods: Sequence[str], runs: int, samples: int
) -> Iterator[tuple[str, tuple[int, int], float, list[float]]]:
    """Yield the bias and the shares of intervals that contain the true value, for each method and setting."""
    for method in methods:
        for size in SIZES:
            for mean, sd in CLASSES:
                truth = population.binormal(means=(0, mean), sds=(1, sd))
                found = [find_hits(method, truth, size, seed=seed, samples=samples) for seed in range(runs)]
                outcomes = [each for each in found if each is not None]
                shares = np.mean([each.hits for each in outcomes], axis=0).tolist()
                yield method, size, truth.auc, [float(np.mean([each.error for each in outcomes])), *shares]


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table in Markdown, with coverage in per cent of the samples."""
    parser = ArgumentParser(prog="python -m bench.coverage_smooth_roc", description=__doc__)
    parser.add_argument("methods", nargs="*", default=list(SMOOTH_METHODS), help="methods [default: all]")
    parser.add_argument("--runs", type=int, default=400, help="samples in each setting [default: 400]")
    parser.add_argument("--samples", type=int, default=200, help="bootstrap samples [default: 200]")
    options = parser.parse_args(argv)
    print(f"| method | positives, negatives | true AUC | {' | '.join(COLUMNS)} |\n|{'---|' * (len(COLUMNS) + 3)}")
    for method, size, auc, (bias, *shares) in study_coverage(options.methods, options.runs, options.samples):
        cells = " | ".join(f"{100 * share:.1f}" for share in shares)
        print(f"| {method} | {size[0]}, {size[1]} | {auc:.3f} | {bias:+.3f} | {cells} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
