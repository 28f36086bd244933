"""Simulation study of the coverage of intervals of chosen thresholds, and of measures at them.

The two classes are normal. The true threshold is the best one in the population; the true value of a measure is its
value in the population at the threshold that the sample chose. Run it with: python -m bench.coverage_thresholds
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product

import numpy as np

import baserate as br
from baserate import Costs, Curve, Policy, Population, decide, measure, population

PREVALENCES = (0.5, 0.1)
DISTANCES = (0.5, 1.5)
ROWS = (200, 1000)
_N_BOOTSTRAP = 200
_F1 = partial(decide.best, measure="f1")
_SPECIFICITY = partial(decide.require, require="specificity >= 0.9", maximize="sensitivity")
COLUMNS = (
    *("threshold of Youden", "of least cost", "of F1", "at specificity 0.9"),
    # Spaces distinguish the columns: each corrected value belongs to the column before.
    *("Youden apparent", "corrected", "sensitivity apparent", "corrected ", "F1 apparent", "corrected  "),
)

Rule = Callable[[Curve], Policy]


def rules_with_truths(distribution: Population, costs: Costs) -> list[tuple[Rule, float, list[str]]]:
    """Return the rules, the thresholds that they choose in the population, and the measures at them."""
    return [
        (decide.youden, population.best_threshold(distribution, "youden").threshold, ["youden", "sensitivity"]),
        (partial(decide.cost, costs=costs), population.least_cost_threshold(distribution, costs).threshold, []),
        (_F1, population.best_threshold(distribution, "f1").threshold, ["f1"]),
        (_SPECIFICITY, population.find_thresholds(distribution, "specificity", 0.9)[0], []),
    ]


def find_hits(distribution: Population, rows: int, seed: int) -> list[bool]:
    """Return which intervals of one sample contain the true value, in the order of the columns."""
    curve = br.curve(br.tally(*distribution.draw(rows, seed)))
    costs = Costs(fp=1, fn=2 * (1 - distribution.prevalence) / distribution.prevalence)
    thresholds, values = [], []
    for rule, truth, names in rules_with_truths(distribution, costs):
        bootstrap = decide.bootstrap_threshold(curve, rule, measures=names, n_bootstrap=_N_BOOTSTRAP)
        [threshold] = bootstrap.intervals
        thresholds.append(threshold.low <= truth <= threshold.high)
        for name in names:
            actual = measure.find_measure(name)(distribution.at(bootstrap.policy.threshold))
            estimate = bootstrap.performance[name]
            values += [each.low <= actual <= each.high for each in (estimate.apparent, estimate.corrected)]
    return thresholds + values


def study_coverage(runs: int) -> Iterator[tuple[float, float, int, list[float]]]:
    """Yield the share of samples whose interval contains the true value, for each setting."""
    for prevalence, distance, rows in product(PREVALENCES, DISTANCES, ROWS):
        distribution = population.binormal(means=(0, distance), prevalence=prevalence)
        hits = np.array([find_hits(distribution, rows, seed) for seed in range(runs)])
        yield prevalence, distance, rows, hits.mean(axis=0).tolist()


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table in Markdown, in per cent of the samples."""
    parser = ArgumentParser(prog="python -m bench.coverage_thresholds", description=__doc__)
    parser.add_argument("--runs", type=int, default=500, help="samples in each setting [default: 500]")
    options = parser.parse_args(argv)
    print(f"| prevalence | distance | rows | {' | '.join(COLUMNS)} |\n|{'---|' * (len(COLUMNS) + 3)}")
    for prevalence, distance, rows, shares in study_coverage(options.runs):
        cells = " | ".join(f"{100 * share:.0f}" for share in shares)
        print(f"| {prevalence} | {distance} | {rows} | {cells} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
