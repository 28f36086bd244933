"""Rows about intervals and comparisons. Loops that would take hours are timed for a few turns and extrapolated."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from time import perf_counter

import confidenceinterval
import numpy as np
import numpy.typing as npt
from MLstatkit import Delong_test
from sklearn import metrics

import baserate as br
from baserate import infer
from bench._row import Duel, Outcome, medians
from bench._scores import positive_scores

_TURNS = 20
"""Turns of a loop that are timed."""
_RESAMPLES = 1000
_DRAWS = 2000
_MIDDLE = 0.5

Rows = npt.NDArray[np.int64]
"""Which rows were drawn."""

_SKLEARN: dict[str, Callable[..., float]] = {
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "precision": metrics.precision_score,
    "sensitivity": metrics.recall_score,
    "specificity": lambda truth, flagged: metrics.recall_score(truth, flagged, pos_label=0),
    "npv": lambda truth, flagged: metrics.precision_score(truth, flagged, pos_label=0),
    "f1": metrics.f1_score,
    "jaccard": metrics.jaccard_score,
    "mcc": metrics.matthews_corrcoef,
    "kappa": metrics.cohen_kappa_score,
    "error_rate": metrics.zero_one_loss,
    "fowlkes_mallows": lambda truth, flagged: (
        (metrics.precision_score(truth, flagged) * metrics.recall_score(truth, flagged)) ** 0.5
    ),
}


def cells(n: int, repeats: int) -> Outcome:
    """Intervals of twelve measures at a threshold, beside a bootstrap loop over scikit-learn's functions."""
    columns = positive_scores(n)
    truth, flagged = columns["truth"], (columns["score"] >= _MIDDLE).astype(np.int64)

    def ours() -> list[br.Estimate]:
        counts = br.curve(br.tally(truth, columns["score"])).at(_MIDDLE)
        return [infer.estimate(name, counts, method="draws") for name in _SKLEARN]

    def turn(chosen: Rows) -> list[float]:
        return [function(truth[chosen], flagged[chosen]) for function in _SKLEARN.values()]

    for found, value in zip(ours(), turn(np.arange(n)), strict=True):
        _check(found.value, value)
    (seconds,) = medians([ours], repeats)
    return Outcome(seconds, _looped(turn, n, _DRAWS), note=f"the loop's first {_TURNS} of {_DRAWS} turns")


def areas(n: int, repeats: int) -> Outcome:
    """A bootstrap of the AUC, beside a loop over scikit-learn's."""
    columns = positive_scores(n)
    truth, score = columns["truth"], columns["score"]

    def ours() -> br.Estimate:
        return infer.estimate("auc", br.tally(truth, score), method="bootstrap")

    def turn(chosen: Rows) -> float:
        return float(metrics.roc_auc_score(truth[chosen], score[chosen]))

    _check(ours().value, turn(np.arange(n)))
    (seconds,) = medians([ours], repeats)
    return Outcome(seconds, _looped(turn, n, _RESAMPLES), note=f"the loop's first {_TURNS} of {_RESAMPLES} turns")


def delong(n: int) -> Duel:
    """DeLong's interval from columns."""
    columns = positive_scores(n)
    truth, score = columns["truth"], columns["score"]

    def ours() -> tuple[float, float]:
        found = infer.estimate("auc", br.tally(truth, score), method="delong")
        return found.low, found.high

    def rival() -> tuple[float, float]:
        _, (low, high) = confidenceinterval.roc_auc_score(truth, score)
        return low, high

    # Its ranks are of single precision.
    return Duel(ours, rival, lambda a, b: max(float(np.abs(np.subtract(a, b)).max()) - 1e-5, 0.0))


def paired(n: int) -> Duel:
    """All pairs of five models by DeLong's test."""
    rng = np.random.default_rng(0)
    truth = rng.random(n) < 0.3
    common = rng.normal(size=n) + truth
    scores = {f"m{at}": common + rng.normal(size=n) * (0.5 + 0.1 * at) for at in range(5)}
    rows = br.Rows(truth=truth, score=scores)
    labels = truth.astype(np.int64)

    def ours() -> list[float]:
        return [abs(each.statistic) for each in infer.compare(rows)]

    def rival() -> list[float]:
        pairs = combinations(scores.values(), 2)
        return [abs(float(Delong_test(labels, first, second)[0])) for first, second in pairs]

    return Duel(ours, rival, lambda a, b: max(float(np.abs(np.subtract(a, b)).max()) - 1e-6, 0.0))


def _looped(turn: Callable[[Rows], object], n: int, turns: int) -> float:
    """Seconds that so many turns of a bootstrap loop would take: rows drawn, then measured."""
    rng = np.random.default_rng(0)
    start = perf_counter()
    for _ in range(_TURNS):
        turn(rng.integers(0, n, n))
    return (perf_counter() - start) / _TURNS * turns


def _check(ours: float, rival: float) -> None:
    if not abs(ours - rival) <= 1e-9:
        raise ArithmeticError(f"ours is {ours} and the rival's {rival}; they must agree to be compared.")
