"""Benchmarks of intervals and model comparisons. Loops of hours are timed for a few samples and extrapolated."""

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
from bench._benchmark import Outcome, Pair, median_seconds
from bench._scores import positive_scores

_TIMED_SAMPLES = 20
"""Bootstrap samples of the peer that are timed."""
_N_BOOTSTRAP = 1000
_PEER_SAMPLES = 2000
"""Bootstrap samples of the peer; ours simulates 10,000 tables."""
_PERMUTATIONS = 9999
_THRESHOLD = 0.5

RowIndices = npt.NDArray[np.int64]
"""Indices of the rows in a bootstrap sample."""

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


def threshold_measures(n: int, repeats: int) -> Outcome:
    """Estimate twelve measures at a threshold, beside a bootstrap loop over scikit-learn's functions."""
    columns = positive_scores(n)
    truth, flagged = columns["truth"], (columns["score"] >= _THRESHOLD).astype(np.int64)

    def ours() -> list[br.Estimate]:
        counts = br.curve(br.tally(truth, columns["score"])).at(_THRESHOLD)
        return [infer.estimate(name, counts, method="draws") for name in _SKLEARN]

    def measure_sample(rows: RowIndices) -> list[float]:
        return [function(truth[rows], flagged[rows]) for function in _SKLEARN.values()]

    for estimate, value in zip(ours(), measure_sample(np.arange(n)), strict=True):
        _check_agreement(estimate.value, value)
    (seconds,) = median_seconds([ours], repeats)
    return Outcome(
        seconds,
        _extrapolate_loop(measure_sample, n, _PEER_SAMPLES),
        note=f"{_TIMED_SAMPLES} of {_PEER_SAMPLES} samples of the peer are timed",
    )


def bootstrap_auc(n: int, repeats: int) -> Outcome:
    """Bootstrap the AUC, beside a loop over scikit-learn's."""
    columns = positive_scores(n)
    truth, score = columns["truth"], columns["score"]

    def ours() -> br.Estimate:
        return infer.estimate("auc", br.tally(truth, score), method="bootstrap")

    def measure_sample(rows: RowIndices) -> float:
        return float(metrics.roc_auc_score(truth[rows], score[rows]))

    _check_agreement(ours().value, measure_sample(np.arange(n)))
    (seconds,) = median_seconds([ours], repeats)
    return Outcome(
        seconds,
        _extrapolate_loop(measure_sample, n, _N_BOOTSTRAP),
        note=f"{_TIMED_SAMPLES} of {_N_BOOTSTRAP} samples of the peer are timed",
    )


def delong_interval(n: int) -> Pair:
    """Compute DeLong's interval from columns."""
    columns = positive_scores(n)
    truth, score = columns["truth"], columns["score"]

    def ours() -> tuple[float, float]:
        estimate = infer.estimate("auc", br.tally(truth, score), method="delong")
        return estimate.low, estimate.high

    def peer() -> tuple[float, float]:
        _, (low, high) = confidenceinterval.roc_auc_score(truth, score)
        return low, high

    # The peer stores ranks in single precision, hence a tolerance of 1e-5.
    return Pair(ours, peer, lambda a, b: max(float(np.abs(np.subtract(a, b)).max()) - 1e-5, 0.0))


def delong_test(n: int) -> Pair:
    """Compare all pairs of five models by DeLong's test."""
    rng = np.random.default_rng(0)
    truth = rng.random(n) < 0.3
    common = rng.normal(size=n) + truth
    scores = {f"m{index}": common + rng.normal(size=n) * (0.5 + 0.1 * index) for index in range(5)}
    rows = br.Rows(truth=truth, score=scores)
    labels = truth.astype(np.int64)

    def ours() -> list[float]:
        return [abs(each.statistic) for each in infer.compare(rows)]

    def peer() -> list[float]:
        pairs = combinations(scores.values(), 2)
        return [abs(float(Delong_test(labels, first, second)[0])) for first, second in pairs]

    # The sign of the statistic depends on the order of the two models, so absolute values are compared.
    return Pair(ours, peer, lambda a, b: max(float(np.abs(np.subtract(a, b)).max()) - 1e-6, 0.0))


def venkatraman_test(n: int, repeats: int) -> Outcome:
    """Compare two ROC curves by Venkatraman's permutation test, beside a loop that sorts every permutation."""
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 3 == 0
    common = rng.normal(size=n) + truth
    first, second = (common + rng.normal(size=n) for _ in range(2))
    rows = br.Rows(truth, {"first": first, "second": second})

    def ours() -> float:
        (result,) = infer.compare(rows, question=infer.Question(method="venkatraman"))
        return result.statistic

    def measure_distance(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float:
        errors = [np.cumsum(np.where(truth, 1, -1)[np.argsort(each)]) for each in (one, other)]
        return float(np.abs(errors[0] - errors[1]).sum())

    ranks = [np.argsort(np.argsort(each)) + 1.0 for each in (first, second)]

    def exchange_ranks(_rows: RowIndices) -> float:
        noisy = [each + rng.random(n) - 0.5 for each in ranks]
        keep = rng.random(n) < 0.5
        return measure_distance(np.where(keep, *noisy), np.where(keep, *noisy[::-1]))

    _check_agreement(ours(), measure_distance(*ranks))
    (seconds,) = median_seconds([ours], repeats)
    note = f"{_TIMED_SAMPLES} of {_PERMUTATIONS} permutations of the loop are timed"
    return Outcome(seconds, _extrapolate_loop(exchange_ranks, n, _PERMUTATIONS), note=note)


def _extrapolate_loop(measure_sample: Callable[[RowIndices], object], n: int, samples: int) -> float:
    """Return the seconds of a bootstrap loop, from those of its first samples."""
    rng = np.random.default_rng(0)
    start = perf_counter()
    for _ in range(_TIMED_SAMPLES):
        measure_sample(rng.integers(0, n, n))
    return (perf_counter() - start) / _TIMED_SAMPLES * samples


def _check_agreement(ours: float, peer: float) -> None:
    if not abs(ours - peer) <= 1e-9:
        raise ArithmeticError(f"The result of baserate is {ours}, and that of the peer {peer}; expected agreement.")
