"""Scenarios of the coverage audit: survey weights that leave few effective rows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from math import isnan, sqrt

import numpy as np
from scipy.special import expit, logit

from baserate import Costs, Curve, Tally, infer
from baserate.measure import MEASURES, Measure, expected_cost
from bench._audit import Bounds, Floats, Outcome, Refusal, Scenario

_THRESHOLD = 0.75
"""Threshold on the scores, the middle of the two classes."""
THRESHOLD_MEASURES: Mapping[str, Measure] = {
    **{
        name: MEASURES[name]
        for name in ("sensitivity", "specificity", "precision", "npv", "accuracy", "f1", "mcc", "kappa", "youden")
    },
    **{name: MEASURES[name] for name in ("diagnostic_odds_ratio", "positive_likelihood_ratio", "lift", "net_benefit")},
    "expected_cost": partial(expected_cost, costs=Costs(fp=1, fn=5)),
}
SCORE_MEASURES = ("auc", "brier", "log_loss", "calibration_slope", "calibration_in_the_large", "observed_expected")
Bools = np.typing.NDArray[np.bool_]

_LARGE = 3_000_000
"""Rows of the sample that true values come from."""


def draw_rows(
    rng: np.random.Generator, rows: int, *, prevalence: float, spread: float, correlated: float
) -> tuple[Bools, Floats, Floats]:
    """Draw outcomes, scores, and lognormal weights that may be correlated with the scores of a class."""
    truth = rng.random(rows) < prevalence
    noise, own = rng.standard_normal((2, rows))
    weight = np.exp(spread * (correlated * noise + sqrt(1 - correlated**2) * own))
    return truth, noise + 1.5 * truth, weight


def _tally_probabilities(truth: Bools, score: Floats, weight: Floats, prevalence: float) -> Tally:
    """Tally probabilities that are calibrated without weights."""
    return Tally.of_rows(truth, expit(logit(prevalence) + 1.5 * (score - 0.75)), weight=weight)


@cache
def true_values(prevalence: float, spread: float, correlated: float) -> Mapping[str, float]:
    """Compute the values in a very large sample."""
    rng = np.random.default_rng(41)
    t = _tally_probabilities(
        *draw_rows(rng, _LARGE, prevalence=prevalence, spread=spread, correlated=correlated), prevalence
    )
    counts, curve = Curve(t).at(_probability_threshold(prevalence)), Curve(t)
    values = {name: float(measure(counts)) for name, measure in THRESHOLD_MEASURES.items()}
    return values | {name: float(MEASURES[name](curve if name == "auc" else t)) for name in SCORE_MEASURES}


def _probability_threshold(prevalence: float) -> float:
    return float(expit(logit(prevalence) + 1.5 * (_THRESHOLD - 0.75)))


def replicate(
    rows: int, prevalence: float, spread: float, rng: np.random.Generator, *, correlated: float = 0.0
) -> Mapping[str, Outcome]:
    """Draw a weighted sample, and estimate each measure."""
    truths = true_values(prevalence, spread, correlated)
    t = _tally_probabilities(
        *draw_rows(rng, rows, prevalence=prevalence, spread=spread, correlated=correlated), prevalence
    )
    counts = Curve(t).at(_probability_threshold(prevalence))
    outcomes: dict[str, Outcome] = {}
    for name in truths:
        number = infer.estimate(THRESHOLD_MEASURES.get(name, name), counts if name in THRESHOLD_MEASURES else t)
        bounds = Bounds(number.low, number.high, truths[name])
        outcomes[name.replace("_", " ")] = Refusal(number.why or "") if isnan(number.low) else bounds
    return outcomes


SCENARIOS = (
    Scenario("19 effective positives of 90", partial(replicate, 300, 0.3, 1.25)),
    Scenario(
        "19 effective positives of 90, weights go with scores", partial(replicate, 300, 0.3, 1.25, correlated=0.5)
    ),
    Scenario("19 effective positives of 90, 10% positive", partial(replicate, 900, 0.1, 1.25)),
    Scenario("mild weights", partial(replicate, 300, 0.3, 0.5)),
)
