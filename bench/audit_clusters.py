"""Scenarios of the coverage audit: rows in clusters of unequal size."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from math import isnan, log

import numpy as np
from scipy.special import expit

from baserate import Curve, Rows, Tally, infer
from baserate.measure import MEASURES, Measure, describe
from bench._audit import Bounds, Floats, Outcome, Refusal, Scenario

_THRESHOLD = 0.3
THRESHOLD_MEASURES = (
    "sensitivity",
    "precision",
    "npv",
    "f1",
    "mcc",
    "diagnostic_odds_ratio",
    "positive_likelihood_ratio",
)
SCORE_MEASURES = (
    *("auc", "average_precision", "ks", "brier", "log_loss"),
    *("observed_expected", "calibration_slope", "calibration_in_the_large"),
)
NAMES = (*THRESHOLD_MEASURES, *SCORE_MEASURES)
Bools = np.typing.NDArray[np.bool_]

_LARGE = 30_000
"""Clusters of the sample that true values come from."""


def draw_clusters(
    rng: np.random.Generator, clusters: int, *, log_size_sd: float, informative: bool
) -> tuple[Bools, Floats, np.typing.NDArray[np.intp]]:
    """Draw outcomes, probabilities and clusters of lognormal sizes; `informative` sizes depend on the outcomes."""
    log_size = rng.standard_normal(clusters)
    sizes = np.maximum(2, np.round(np.exp(log(15) + log_size_sd * log_size))).astype(int)
    outcome_effect, score_effect = rng.standard_normal((2, clusters))
    if informative:
        outcome_effect = 0.6 * log_size + 0.8 * outcome_effect  # correlation 0.6, variance still 1
    cluster = np.repeat(np.arange(clusters), sizes)
    x = -1 + 0.6 * score_effect[cluster] + rng.standard_normal(len(cluster))
    return rng.random(len(cluster)) < expit(x + 0.7 * outcome_effect[cluster]), expit(x), cluster


def _compute_measure(measure: Measure, t: Tally) -> float:
    if describe(measure).of is Tally:
        return float(measure(t))
    return float(measure(Curve(t).at(_THRESHOLD) if measure in _DECISION_FUNCTIONS else Curve(t)))


_DECISION_FUNCTIONS = tuple(MEASURES[name] for name in THRESHOLD_MEASURES)


@cache
def true_values(log_size_sd: float, *, informative: bool) -> Mapping[str, float]:
    """Compute the values in a sample of very many clusters."""
    truth, p, _ = draw_clusters(np.random.default_rng(31), _LARGE, log_size_sd=log_size_sd, informative=informative)
    t = Tally.of_rows(truth, p)
    return {name: _compute_measure(MEASURES[name], t) for name in NAMES}


def replicate(
    clusters: int, log_size_sd: float, rng: np.random.Generator, *, informative: bool
) -> Mapping[str, Outcome]:
    """Draw clusters, and estimate each measure."""
    truths = true_values(log_size_sd, informative=informative)
    truth, p, cluster = draw_clusters(rng, clusters, log_size_sd=log_size_sd, informative=informative)
    rows = Rows(truth, {"p": p}, cluster=cluster)
    outcomes: dict[str, Outcome] = {}
    for name in NAMES:
        threshold = _THRESHOLD if name in THRESHOLD_MEASURES else None
        number = infer.estimate(name, rows, threshold=threshold)
        bounds = Bounds(number.low, number.high, truths[name])
        outcomes[name.replace("_", " ")] = Refusal(number.why or "") if isnan(number.low) else bounds
    return outcomes


SCENARIOS = (
    Scenario("15 clusters, very unequal", partial(replicate, 15, 0.8, informative=False)),
    Scenario("40 clusters, very unequal", partial(replicate, 40, 0.8, informative=False), 0.5),
    Scenario("15 clusters, informative sizes", partial(replicate, 15, 0.8, informative=True)),
    Scenario("40 clusters, informative sizes", partial(replicate, 40, 0.8, informative=True), 0.5),
    Scenario("30 clusters, nearly equal", partial(replicate, 30, 0.2, informative=False), 0.5),
)
