"""Scenarios of the coverage audit: whether studies of the planned size have the planned power and width."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

import baserate as br
from baserate import Counts, infer
from bench._audit import Floats, HalfWidth, Outcome, Power, Scenario

Bools = npt.NDArray[np.bool_]
Scores = Callable[[np.random.Generator, Bools, float], Floats]

_RATIOS = {0.6: 1.1, 0.7: 1.3, 0.8: 1.5, 0.9: 1.8}
"""AUC -> spread ratio of normal scores whose AUC varies as much as that of exponential scores."""


def normal(rng: np.random.Generator, truth: Bools, auc: float, ratio: float = 1.0) -> Floats:
    """Normal scores with this AUC; `ratio` is the standard deviation of positives over that of negatives."""
    # The AUC of two normal classes is Φ(mean / √(1 + ratio²)).
    mean = float(ndtri(auc)) * sqrt(1 + ratio**2)
    return rng.normal(size=len(truth)) * np.where(truth, ratio, 1.0) + mean * truth


def exponential(rng: np.random.Generator, truth: Bools, auc: float) -> Floats:
    """Exponential scores; the ratio of their means is the odds of the AUC."""
    return rng.exponential(size=len(truth)) * np.where(truth, auc / (1 - auc), 1.0)


def draw_labels(rng: np.random.Generator, rows: int, prevalence: float) -> Bools:
    """Draw labels with at least two of each class, without which an AUC has no interval."""
    while True:
        truth = rng.random(rows) < prevalence
        if min(truth.sum(), rows - truth.sum()) > 1:
            return truth


@cache
def size_of_auc_test(auc: float, null: float, prevalence: float, power: float, ratio: float) -> int:
    """Plan the size, once for all replicates."""
    return infer.sample_size_for_auc_test(auc, null=null, prevalence=prevalence, power=power, spread_ratio=ratio).rows


def audit_auc_test(  # noqa: PLR0913, PLR0917  (the numbers of a plan)
    rng: np.random.Generator, scores: Scores, auc: float, prevalence: float, power: float, ratio: float, null: float
) -> Mapping[str, Outcome]:
    """Draw a study of the planned size; check whether the interval of the AUC lies above the null."""
    truth = draw_labels(rng, size_of_auc_test(auc, null, prevalence, power, ratio), prevalence)
    estimate = infer.estimate("auc", br.tally(truth, scores(rng, truth, auc)))
    return {f"AUC {auc} above {null}": Power(estimate.low > null, power)}


@cache
def size_of_auc_interval(auc: float, half: float, prevalence: float, ratio: float) -> int:
    """Plan the size, once for all replicates."""
    return infer.sample_size_for_auc(auc, half, prevalence=prevalence, spread_ratio=ratio).rows


def audit_auc_interval(
    rng: np.random.Generator, scores: Scores, auc: float, half: float, prevalence: float, ratio: float
) -> Mapping[str, Outcome]:
    """Draw a study of the planned size, and measure the interval of its AUC."""
    truth = draw_labels(rng, size_of_auc_interval(auc, half, prevalence, ratio), prevalence)
    estimate = infer.estimate("auc", br.tally(truth, scores(rng, truth, auc)))
    return {f"half-width of AUC {auc}": HalfWidth((estimate.high - estimate.low) / 2, half)}


@cache
def size_of_proportion_test(expect: float, goal: float, prevalence: float, power: float) -> int:
    """Plan the size, once for all replicates."""
    return infer.sample_size_for_proportion_test(
        "sensitivity", expect, goal=goal, power=power, prevalence=prevalence
    ).rows


def audit_proportion_test(
    rng: np.random.Generator, expect: float, goal: float, prevalence: float, power: float
) -> Mapping[str, Outcome]:
    """Draw a study of the planned size; check whether the interval of sensitivity lies beyond the goal."""
    positives = rng.binomial(size_of_proportion_test(expect, goal, prevalence, power), prevalence)
    hits = rng.binomial(positives, expect)
    estimate = infer.estimate("sensitivity", Counts(tp=float(hits), fn=float(positives - hits), fp=1.0, tn=9.0))
    return {f"sensitivity {expect} beyond {goal}": Power(estimate.low > goal or estimate.high < goal, power)}


@cache
def size_of_proportion_interval(expect: float, half: float, prevalence: float) -> int:
    """Plan the size, once for all replicates."""
    return infer.sample_size_for_proportion("sensitivity", expect, half, prevalence=prevalence).rows


def audit_proportion_interval(
    rng: np.random.Generator, expect: float, half: float, prevalence: float
) -> Mapping[str, Outcome]:
    """Draw a study of the planned size, and measure the interval of its sensitivity."""
    positives = rng.binomial(size_of_proportion_interval(expect, half, prevalence), prevalence)
    hits = rng.binomial(positives, expect)
    estimate = infer.estimate("sensitivity", Counts(tp=float(hits), fn=float(positives - hits), fp=1.0, tn=9.0))
    return {f"half-width of sensitivity {expect}": HalfWidth((estimate.high - estimate.low) / 2, half)}


SCENARIOS = (
    *(
        Scenario(
            f"power {power} for AUC {auc} above {null}, normal scores, prevalence {prevalence}",
            partial(audit_auc_test, scores=normal, auc=auc, prevalence=prevalence, power=power, ratio=1.0, null=null),
        )
        for auc, null, prevalence, power in (
            *((0.6, 0.5, 0.5, 0.9), (0.7, 0.5, 0.1, 0.8), (0.7, 0.5, 0.3, 0.9), (0.8, 0.5, 0.1, 0.9)),
            *((0.8, 0.5, 0.5, 0.8), (0.9, 0.5, 0.3, 0.9), (0.9, 0.5, 0.5, 0.8), (0.8, 0.7, 0.2, 0.9)),
        )
    ),
    *(
        Scenario(
            f"power {power} for AUC {auc}, exponential scores, prevalence {prevalence}, spread ratio {_RATIOS[auc]}",
            partial(
                audit_auc_test,
                scores=exponential,
                auc=auc,
                prevalence=prevalence,
                power=power,
                ratio=_RATIOS[auc],
                null=0.5,
            ),
        )
        for auc, prevalence, power in ((0.7, 0.1, 0.8), (0.7, 0.5, 0.9), (0.8, 0.1, 0.9), (0.8, 0.3, 0.8))
    ),
    *(
        Scenario(
            f"power 0.9, spread ratio {ratio}, prevalence 0.1",
            partial(
                audit_auc_test,
                scores=partial(normal, ratio=ratio),
                auc=0.75,
                prevalence=0.1,
                power=0.9,
                ratio=ratio,
                null=0.5,
            ),
        )
        for ratio in (0.5, 2.0)
    ),
    *(
        Scenario(
            f"width for AUC {auc}, spread ratio {ratio}, prevalence {prevalence}, ± {half}",
            partial(
                audit_auc_interval,
                scores=partial(normal, ratio=ratio),
                auc=auc,
                half=half,
                prevalence=prevalence,
                ratio=ratio,
            ),
        )
        for auc, half, prevalence, ratio in (
            *((0.8, 0.03, 0.1, 2.0), (0.8, 0.03, 0.1, 1.0), (0.8, 0.03, 0.5, 0.5)),
            *((0.9, 0.05, 0.2, 2.0), (0.7, 0.05, 0.1, 0.5), (0.95, 0.02, 0.3, 1.0)),
        )
    ),
    *(
        Scenario(
            f"power {power} for sensitivity {expect} beyond {goal}, prevalence {prevalence}",
            partial(audit_proportion_test, expect=expect, goal=goal, prevalence=prevalence, power=power),
        )
        for expect, goal, prevalence, power in (
            *((0.9, 0.8, 0.1, 0.8), (0.95, 0.9, 0.3, 0.9), (0.99, 0.9, 0.5, 0.8), (0.6, 0.5, 0.2, 0.9)),
        )
    ),
    *(
        Scenario(
            f"width for sensitivity {expect}, prevalence {prevalence}, ± {half}",
            partial(audit_proportion_interval, expect=expect, half=half, prevalence=prevalence),
        )
        for expect, half, prevalence in ((0.9, 0.05, 0.1), (0.97, 0.03, 0.3), (0.5, 0.03, 0.5))
    ),
)
