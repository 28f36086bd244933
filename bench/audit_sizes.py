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
"""By AUC, the spread ratio of normal scores that vary as much as exponential ones."""


def normal(rng: np.random.Generator, truth: Bools, auc: float, ratio: float = 1.0) -> Floats:
    """Negatives N(0, 1); positives with so many times their standard deviation."""
    mean = float(ndtri(auc)) * sqrt(1 + ratio**2)
    return rng.normal(size=len(truth)) * np.where(truth, ratio, 1.0) + mean * truth


def exponential(rng: np.random.Generator, truth: Bools, auc: float) -> Floats:
    """Exponential scores, whose means have the odds of the AUC as their ratio."""
    return rng.exponential(size=len(truth)) * np.where(truth, auc / (1 - auc), 1.0)


def draw(rng: np.random.Generator, rows: int, prevalence: float) -> Bools:
    """Draw labels, with at least two of each class."""
    while True:
        truth = rng.random(rows) < prevalence
        if min(truth.sum(), rows - truth.sum()) > 1:
            return truth


@cache
def rows_to_show(auc: float, null: float, prevalence: float, power: float, ratio: float) -> int:
    """Planned size, computed once."""
    return infer.sample_size_for_auc_test(auc, null=null, prevalence=prevalence, power=power, spread_ratio=ratio).rows


def show_auc(  # noqa: PLR0913, PLR0917  (a plan has as many numbers)
    rng: np.random.Generator, scores: Scores, auc: float, prevalence: float, power: float, ratio: float, null: float
) -> Mapping[str, Outcome]:
    """Draw a study of the planned size; see whether the interval of the AUC lies above the null."""
    truth = draw(rng, rows_to_show(auc, null, prevalence, power, ratio), prevalence)
    found = infer.estimate("auc", br.tally(truth, scores(rng, truth, auc)))
    return {f"AUC {auc} above {null}": Power(found.low > null, power)}


@cache
def rows_to_know(auc: float, half: float, prevalence: float, ratio: float) -> int:
    """Planned size, computed once."""
    return infer.sample_size_for_auc(auc, half, prevalence=prevalence, spread_ratio=ratio).rows


def know_auc(
    rng: np.random.Generator, scores: Scores, auc: float, half: float, prevalence: float, ratio: float
) -> Mapping[str, Outcome]:
    """Draw a study of the planned size, and measure the interval of its AUC."""
    truth = draw(rng, rows_to_know(auc, half, prevalence, ratio), prevalence)
    found = infer.estimate("auc", br.tally(truth, scores(rng, truth, auc)))
    return {f"half-width of AUC {auc}": HalfWidth((found.high - found.low) / 2, half)}


@cache
def rows_of_share(expect: float, goal: float, prevalence: float, power: float) -> int:
    """Planned size, computed once."""
    return infer.sample_size_for_proportion_test(
        "sensitivity", expect, goal=goal, power=power, prevalence=prevalence
    ).rows


def show_share(
    rng: np.random.Generator, expect: float, goal: float, prevalence: float, power: float
) -> Mapping[str, Outcome]:
    """Draw a study of the planned size; see whether the interval of sensitivity lies beyond the goal."""
    positives = rng.binomial(rows_of_share(expect, goal, prevalence, power), prevalence)
    hits = rng.binomial(positives, expect)
    found = infer.estimate("sensitivity", Counts(tp=float(hits), fn=float(positives - hits), fp=1.0, tn=9.0))
    return {f"sensitivity {expect} beyond {goal}": Power(found.low > goal or found.high < goal, power)}


@cache
def rows_for_share(expect: float, half: float, prevalence: float) -> int:
    """Planned size, computed once."""
    return infer.sample_size_for_proportion("sensitivity", expect, half, prevalence=prevalence).rows


def know_share(rng: np.random.Generator, expect: float, half: float, prevalence: float) -> Mapping[str, Outcome]:
    """Draw a study of the planned size, and measure the interval of its sensitivity."""
    positives = rng.binomial(rows_for_share(expect, half, prevalence), prevalence)
    hits = rng.binomial(positives, expect)
    found = infer.estimate("sensitivity", Counts(tp=float(hits), fn=float(positives - hits), fp=1.0, tn=9.0))
    return {f"half-width of sensitivity {expect}": HalfWidth((found.high - found.low) / 2, half)}


SCENARIOS = (
    *(
        Scenario(
            f"power {power} for AUC {auc} above {null}, normal scores, prevalence {prevalence}",
            partial(show_auc, scores=normal, auc=auc, prevalence=prevalence, power=power, ratio=1.0, null=null),
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
                show_auc, scores=exponential, auc=auc, prevalence=prevalence, power=power, ratio=_RATIOS[auc], null=0.5
            ),
        )
        for auc, prevalence, power in ((0.7, 0.1, 0.8), (0.7, 0.5, 0.9), (0.8, 0.1, 0.9), (0.8, 0.3, 0.8))
    ),
    *(
        Scenario(
            f"power 0.9, spread ratio {ratio}, prevalence 0.1",
            partial(
                show_auc,
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
                know_auc, scores=partial(normal, ratio=ratio), auc=auc, half=half, prevalence=prevalence, ratio=ratio
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
            partial(show_share, expect=expect, goal=goal, prevalence=prevalence, power=power),
        )
        for expect, goal, prevalence, power in (
            *((0.9, 0.8, 0.1, 0.8), (0.95, 0.9, 0.3, 0.9), (0.99, 0.9, 0.5, 0.8), (0.6, 0.5, 0.2, 0.9)),
        )
    ),
    *(
        Scenario(
            f"width for sensitivity {expect}, prevalence {prevalence}, ± {half}",
            partial(know_share, expect=expect, half=half, prevalence=prevalence),
        )
        for expect, half, prevalence in ((0.9, 0.05, 0.1), (0.97, 0.03, 0.3), (0.5, 0.03, 0.5))
    ),
)
