"""Benchmarks of choosing thresholds and of decision curves, beside scikit-learn and dcurves."""

from __future__ import annotations

import warnings
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn import metrics
from sklearn.model_selection import TunedThresholdClassifierCV

import baserate as br
from baserate import Costs, decide, read
from bench._benchmark import Outcome, Pair, median_seconds
from bench._scores import PassthroughClassifier, max_difference, positive_scores, real_scores

if TYPE_CHECKING:
    from collections.abc import Callable

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # dcurves warns on import in some environments
    from dcurves import dca

_COSTS = Costs(fp=1, fn=5)
_GRID = np.arange(1, 101) / 101
"""A hundred threshold probabilities, without 0 and 1: net benefit is undefined at 1."""
_N_BOOTSTRAP = 1000
_TIMED_SAMPLES = 20
"""Bootstrap samples of the peer that are timed; the rest is extrapolated."""

Table = npt.NDArray[np.float64]


def _negative_cost(truth: npt.NDArray[Any], flagged: npt.NDArray[Any]) -> float:
    """Return minus the expected cost per case: scikit-learn maximizes its scores."""
    tn, fp, fn, tp = metrics.confusion_matrix(truth, flagged).ravel()
    return -float((_COSTS.fp * fp + _COSTS.fn * fn) / (tn + fp + fn + tp))


def best_threshold(name: str, n: int) -> Pair:
    """Find the best threshold by F1 or by cost, from rows: ours among all scores, the peer's among a hundred.

    They agree if our threshold is at least as good as the peer's.
    """
    columns = positive_scores(n)
    truth, score = columns["truth"], columns["score"]
    scoring: Any = "f1" if name == "f1" else metrics.make_scorer(_negative_cost)
    choose: Callable[[br.Curve], br.Policy]
    choose = partial(decide.best, measure="f1") if name == "f1" else partial(decide.cost, costs=_COSTS)

    def ours() -> float:
        curve = br.curve(br.tally(truth, score))
        counts = choose(curve).cut.counts(curve)
        return br.measure.f1(counts) if name == "f1" else -br.measure.expected_cost(counts, costs=_COSTS)

    def peer() -> float:
        tuned = TunedThresholdClassifierCV(PassthroughClassifier(), scoring=scoring, cv="prefit", refit=False)
        return float(tuned.fit(score[:, None], truth).best_score_)

    return Pair(ours, peer, lambda value, peer_value: max(peer_value - value, 0.0))


def bootstrap_threshold(n: int, repeats: int) -> Outcome:
    """Bootstrap the Youden threshold a thousand times, with its interval and its optimism."""
    columns = real_scores(n)
    truth, score = columns["truth"], columns["score"]
    curve = br.curve(br.tally(truth, score))
    rng = np.random.default_rng(0)

    def ours() -> object:
        return decide.bootstrap_threshold(curve, decide.youden, measures=["youden"], n_bootstrap=_N_BOOTSTRAP)

    def peer() -> float:
        start = perf_counter()
        for _ in range(_TIMED_SAMPLES):
            rows = rng.integers(0, n, n)
            fpr, tpr, thresholds = metrics.roc_curve(truth[rows], score[rows])
            _ = thresholds[np.argmax(tpr - fpr)]
        return (perf_counter() - start) / _TIMED_SAMPLES * _N_BOOTSTRAP

    ours()  # warm-up: the first call imports what it needs
    peer_times = [peer() for _ in range(repeats)]
    (seconds,) = median_seconds([ours], repeats)
    note = f"{_N_BOOTSTRAP} bootstrap samples; {_TIMED_SAMPLES} of the peer are timed and extrapolated"
    return Outcome(seconds, float(np.median(peer_times)), note=note)


def decision_curve(n: int) -> Pair:
    """Compute the net benefit at a hundred probabilities, from rows: ours with intervals, which dcurves lacks."""
    columns = positive_scores(n)
    rows = pd.DataFrame({"sick": columns["truth"], "risk": columns["score"]})

    def ours() -> Table:
        tallies = read.tallies({"sick": columns["truth"], "risk": columns["score"]}, truth="sick", score="risk")
        results = decide.net_benefit_curve(tallies, thresholds=_GRID)
        return np.asarray(results.columns["net_benefit"])[:100]  # the model's; "treat all" and "treat none" follow

    def peer() -> Table:
        table = dca(data=rows, outcome="sick", modelnames=["risk"], thresholds=_GRID)
        return np.asarray(table.loc[table["model"] == "risk", "net_benefit"])

    return Pair(ours, peer, max_difference)
