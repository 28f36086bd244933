"""Rows about cut-offs and what they are worth."""

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
from bench._row import Duel, Outcome, medians
from bench._scores import AsScored, positive_scores, real_scores

if TYPE_CHECKING:
    from collections.abc import Callable

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its own imports
    from dcurves import dca

_COSTS = Costs(fp=1, fn=5)
_GRID = np.arange(1, 101) / 101
"""A hundred probabilities."""
_RESAMPLES = 1000
_TURNS = 20
"""Turns of a loop that are timed; the rest is extrapolated."""

Table = npt.NDArray[np.float64]


def _saved(truth: npt.NDArray[Any], flagged: npt.NDArray[Any]) -> float:
    """Cost of a case, with the sign changed."""
    tn, fp, fn, tp = metrics.confusion_matrix(truth, flagged).ravel()
    return -float((_COSTS.fp * fp + _COSTS.fn * fn) / (tn + fp + fn + tp))


def threshold(name: str, n: int) -> Duel:
    """Find the best threshold by F1 or by cost, from rows: ours over all of them, the rival's over a hundred.

    They agree if ours is as good as the rival's, or better.
    """
    columns = positive_scores(n)
    truth, score = columns["truth"], columns["score"]
    scoring: Any = "f1" if name == "f1" else metrics.make_scorer(_saved)
    choose: Callable[[br.Curve], br.Policy]
    choose = partial(decide.best, measure="f1") if name == "f1" else partial(decide.cost, costs=_COSTS)

    def ours() -> float:
        curve = br.curve(br.tally(truth, score))
        counts = choose(curve).cut.counts(curve)
        return br.measure.f1(counts) if name == "f1" else -br.measure.expected_cost(counts, costs=_COSTS)

    def rival() -> float:
        tuned = TunedThresholdClassifierCV(AsScored(), scoring=scoring, cv="prefit", refit=False)
        return float(tuned.fit(score[:, None], truth).best_score_)

    return Duel(ours, rival, lambda found, other: max(other - found, 0.0))


def cutoffs(n: int, repeats: int) -> Outcome:
    """A thousand resampled Youden cut-offs, with their interval and the optimism of the choice."""
    columns = real_scores(n)
    truth, score = columns["truth"], columns["score"]
    curve = br.curve(br.tally(truth, score))
    rng = np.random.default_rng(0)

    def ours() -> object:
        return decide.bootstrap_threshold(curve, decide.youden, measures=["youden"], n_bootstrap=_RESAMPLES)

    def rival() -> float:
        start = perf_counter()
        for _ in range(_TURNS):
            drawn = rng.integers(0, n, n)
            fpr, tpr, at = metrics.roc_curve(truth[drawn], score[drawn])
            _ = at[np.argmax(tpr - fpr)]
        return (perf_counter() - start) / _TURNS * _RESAMPLES

    ours()
    turns = [rival() for _ in range(repeats)]
    (seconds,) = medians([ours], repeats)
    note = f"{_RESAMPLES} draws; {_TURNS} turns of the rival are timed and extrapolated"
    return Outcome(seconds, float(np.median(turns)), note=note)


def decision_curve(n: int) -> Duel:
    """Net benefit at a hundred probabilities, from rows: ours with intervals, which the rival does not have."""
    columns = positive_scores(n)
    rows = pd.DataFrame({"sick": columns["truth"], "risk": columns["score"]})

    def ours() -> Table:
        read_rows = read.tallies({"sick": columns["truth"], "risk": columns["score"]}, truth="sick", score="risk")
        found = decide.net_benefit_curve(read_rows, thresholds=_GRID)
        return np.asarray(found.columns["net_benefit"])[:100]

    def rival() -> Table:
        found = dca(data=rows, outcome="sick", modelnames=["risk"], thresholds=_GRID)
        return np.asarray(found.loc[found["model"] == "risk", "net_benefit"])

    return Duel(ours, rival, lambda one, other: float(np.abs(one - other).max()))
