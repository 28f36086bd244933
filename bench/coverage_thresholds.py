"""How often intervals of a chosen cut-off, and of what it gives, hold the truth, where the truth is known.

Two normal classes some distance apart. The truth of a cut-off is the best one in the population; that of a measure, its
value in the population at the cut-off that was chosen. Run it with: python -m bench.coverage_thresholds
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
_DRAWS = 200
_F1 = partial(decide.best, measure="f1")
_STRICT = partial(decide.require, require="specificity >= 0.9", maximize="sensitivity")
COLUMNS = (
    *("cut-off of Youden", "of least cost", "of F1", "at specificity 0.9"),
    *("Youden as seen", "corrected", "sensitivity as seen", "corrected ", "F1 as seen", "corrected  "),
)

Rule = Callable[[Curve], Policy]


def best_of(whole: Population, costs: Costs) -> list[tuple[Rule, float, list[str]]]:
    """Rules, the cut-offs that they would choose if they saw everybody, and what to measure there."""
    return [
        (decide.youden, population.best_threshold(whole, "youden").threshold, ["youden", "sensitivity"]),
        (partial(decide.cost, costs=costs), population.least_cost_threshold(whole, costs).threshold, []),
        (_F1, population.best_threshold(whole, "f1").threshold, ["f1"]),
        (_STRICT, population.find_thresholds(whole, "specificity", 0.9)[0], []),
    ]


def hits(whole: Population, rows: int, seed: int) -> list[bool]:
    """Of one sample, which intervals hold the truth, in the order of the columns."""
    curve = br.curve(br.tally(*whole.draw(rows, seed)))
    costs = Costs(fp=1, fn=2 * (1 - whole.prevalence) / whole.prevalence)
    cutoffs, values = [], []
    for rule, truth, names in best_of(whole, costs):
        found = decide.bootstrap_threshold(curve, rule, measures=names, n_bootstrap=_DRAWS)
        [cutoff] = found.intervals
        cutoffs.append(cutoff.low <= truth <= cutoff.high)
        for name in names:
            there = measure.find_measure(name)(whole.at(found.policy.threshold))
            seen = found.performance[name]
            values += [each.low <= there <= each.high for each in (seen.apparent, seen.corrected)]
    return cutoffs + values


def study(runs: int) -> Iterator[tuple[float, float, int, list[float]]]:
    """Share of samples whose interval holds the truth, at each place."""
    for prevalence, distance, rows in product(PREVALENCES, DISTANCES, ROWS):
        whole = population.binormal(means=(0, distance), prevalence=prevalence)
        found = np.array([hits(whole, rows, seed) for seed in range(runs)])
        yield prevalence, distance, rows, found.mean(axis=0).tolist()


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table in Markdown: per cent of the samples."""
    parser = ArgumentParser(prog="python -m bench.coverage_thresholds", description=__doc__)
    parser.add_argument("--runs", type=int, default=500, help="samples at each place")
    asked = parser.parse_args(argv)
    print(f"| prevalence | distance | rows | {' | '.join(COLUMNS)} |\n|{'---|' * (len(COLUMNS) + 3)}")
    for prevalence, distance, rows, shares in study(asked.runs):
        told = " | ".join(f"{100 * share:.0f}" for share in shares)
        print(f"| {prevalence} | {distance} | {rows} | {told} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
