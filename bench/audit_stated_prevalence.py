"""Scenarios of the coverage audit: models compared at a prevalence of 5%, on samples with 40% positives."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np

from baserate import Costs, Curve, Rows, Tally, shift
from baserate.infer import compare
from baserate.measure import MEASURES, Settings, describe
from bench._audit import Bounds, Outcome, Rejection, Scenario

_PREVALENCE = 0.05
_THRESHOLD = 1 / 6
"""Where a false negative costs five false positives."""
_NAMES = (
    *("precision", "npv", "accuracy", "f1", "mcc", "expected_cost"),
    *("brier", "log_loss", "brier_skill", "average_precision"),
)
_MEASURES = tuple(Settings(costs=Costs(fp=1, fn=5)).apply(MEASURES[name]) for name in _NAMES)
_POPULATION = 4_000_000
"""Rows of the sample that true values come from."""


class Sample(NamedTuple):
    """Two models of two normal classes on the same rows; their noise has a common part."""

    positives: int
    negatives: int
    separations: tuple[float, float] = (1.5, 1.5)
    common: float = 0.7
    clusters: int = 0


def _draw_rows(sample: Sample, rng: np.random.Generator) -> Rows:
    truth = np.repeat([True, False], [sample.positives, sample.negatives])
    cluster = rng.integers(0, sample.clusters, len(truth)) if sample.clusters else None
    shared = rng.normal(size=len(truth))
    effects = rng.normal(size=(2, sample.clusters + 1))
    score = {}
    for at, separation in enumerate(sample.separations):
        own = rng.normal(size=len(truth))
        if cluster is not None:
            own = (own + effects[at, cluster]) / sqrt(2)
        observed = separation * truth + sqrt(sample.common) * shared + sqrt(1 - sample.common) * own
        log_odds = log(_PREVALENCE / (1 - _PREVALENCE)) + separation * (observed - separation / 2)
        score[str(at)] = 1 / (1 + np.exp(-log_odds))
    return Rows(truth, score, cluster=cluster)


@cache
def _true_differences(sample: Sample) -> tuple[float, ...]:
    """Compute the differences in a very large sample."""
    if sample.separations[0] == sample.separations[1]:
        return (0.0,) * len(_MEASURES)
    large = sample._replace(positives=_POPULATION // 2, negatives=_POPULATION // 2, clusters=0)
    rows = _draw_rows(large, np.random.default_rng(1))
    tallies = [shift.reweigh(Tally.of_rows(rows.truth, score), prevalence=_PREVALENCE) for score in rows.score.values()]
    return tuple(_evaluate(each, tallies[0]) - _evaluate(each, tallies[1]) for each in _MEASURES)


def _evaluate(function: Any, tally: Tally) -> float:  # noqa: ANN401  (a measure)
    of = describe(function).of
    return float(function(tally if of is Tally else Curve(tally) if of is Curve else Curve(tally).at(_THRESHOLD)))


def _compare(sample: Sample, rng: np.random.Generator) -> Mapping[str, Outcome]:
    rows = _draw_rows(sample, rng)
    comparisons = compare(rows, measure=_MEASURES, threshold=_THRESHOLD, prevalence=_PREVALENCE)
    outcomes: dict[str, Outcome] = {}
    for each, true in zip(comparisons, _true_differences(sample), strict=True):
        outcomes[f"difference of {each.measure}"] = Bounds(each.difference.low, each.difference.high, true)
        if sample.separations[0] == sample.separations[1]:
            outcomes[f"test of {each.measure}"] = Rejection(each.p < 0.05)
    return outcomes


_SAMPLES = {
    "80 and 120 rows, two good models": Sample(80, 120),
    "80 and 120 rows, a good and a poor model": Sample(80, 120, (2.0, 1.2)),
    "400 and 600 rows, two good models": Sample(400, 600),
    "400 and 600 rows, a good and a poor model": Sample(400, 600, (2.0, 1.2)),
    "160 and 240 rows, nearly equal models": Sample(160, 240, common=0.95),
    "400 and 600 rows, 20 clusters": Sample(400, 600, clusters=20),
    "400 and 600 rows, 100 clusters": Sample(400, 600, clusters=100),
}
SCENARIOS = tuple(Scenario(name, partial(_compare, each)) for name, each in _SAMPLES.items())
