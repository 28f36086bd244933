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

AT = 0.3
OF_DECISIONS = ("sensitivity", "precision", "npv", "f1", "mcc", "diagnostic_odds_ratio", "positive_likelihood_ratio")
OF_SCORES = (
    *("auc", "average_precision", "ks", "brier", "log_loss"),
    *("observed_expected", "calibration_slope", "calibration_in_the_large"),
)
NAMES = (*OF_DECISIONS, *OF_SCORES)
Bools = np.typing.NDArray[np.bool_]

_LARGE = 30_000


def drawn(
    rng: np.random.Generator, clusters: int, *, unequal: float, informative: bool
) -> tuple[Bools, Floats, np.typing.NDArray[np.intp]]:
    """Outcomes, probabilities and clusters; sizes are lognormal, and may go with the outcomes of a cluster."""
    size = rng.standard_normal(clusters)
    sizes = np.maximum(2, np.round(np.exp(log(15) + unequal * size))).astype(int)
    own, shared = rng.standard_normal((2, clusters))
    if informative:
        own = 0.6 * size + 0.8 * own
    cluster = np.repeat(np.arange(clusters), sizes)
    x = -1 + 0.6 * shared[cluster] + rng.standard_normal(len(cluster))
    return rng.random(len(cluster)) < expit(x + 0.7 * own[cluster]), expit(x), cluster


def _measured(measure: Measure, t: Tally) -> float:
    if describe(measure).of is Tally:
        return float(measure(t))
    return float(measure(Curve(t).at(AT) if describe(measure).share or measure in _TABLES else Curve(t)))


_TABLES = tuple(MEASURES[name] for name in OF_DECISIONS)


@cache
def truths(unequal: float, *, informative: bool) -> Mapping[str, float]:
    """Values in a sample of very many clusters."""
    truth, p, _ = drawn(np.random.default_rng(31), _LARGE, unequal=unequal, informative=informative)
    t = Tally.of_rows(truth, p)
    return {name: _measured(MEASURES[name], t) for name in NAMES}


def replicate(clusters: int, unequal: float, rng: np.random.Generator, *, informative: bool) -> Mapping[str, Outcome]:
    """Draw clusters, and estimate each measure."""
    wanted = truths(unequal, informative=informative)
    truth, p, cluster = drawn(rng, clusters, unequal=unequal, informative=informative)
    rows = Rows(truth, {"p": p}, cluster=cluster)
    found: dict[str, Outcome] = {}
    for name in NAMES:
        threshold = AT if name in OF_DECISIONS else None
        number = infer.estimate(name, rows, threshold=threshold)
        bounds = Bounds(number.low, number.high, wanted[name])
        found[name.replace("_", " ")] = Refusal(number.why or "") if isnan(number.low) else bounds
    return found


SCENARIOS = (
    Scenario("15 clusters, very unequal", partial(replicate, 15, 0.8, informative=False)),
    Scenario("40 clusters, very unequal", partial(replicate, 40, 0.8, informative=False), 0.5),
    Scenario("15 clusters, informative sizes", partial(replicate, 15, 0.8, informative=True)),
    Scenario("40 clusters, informative sizes", partial(replicate, 40, 0.8, informative=True), 0.5),
    Scenario("30 clusters, nearly equal", partial(replicate, 30, 0.2, informative=False), 0.5),
)
