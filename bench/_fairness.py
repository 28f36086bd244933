"""Benchmarks of group tables and of parity constraints, beside fairlearn and AIF360."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from fairlearn.metrics import MetricFrame, false_positive_rate, selection_rate, true_positive_rate
from fairlearn.postprocessing import ThresholdOptimizer
from sklearn.metrics import accuracy_score

from baserate import Policy, Results, decide, fairness, measure, read
from bench._benchmark import Outcome, Pair, median_seconds
from bench._scores import PassthroughClassifier

_GRID_ERROR = 1e-4
"""Accuracy by which the peer's search on a grid of a thousand points may miss the optimum."""
_ROUNDING = 1e-12
_AIF360 = 12.06
"""CPU seconds of AIF360 0.6.1 for the rows of `reject_option`, measured once (COMPAS data: 14.28).

AIF360 is no dependency of the benchmarks, so it does not run here.
"""
_GOAL = fairness.Goal("equal-opportunity", within=0.05)
_GROUPS = 8
_MEASURES = {
    "sensitivity": true_positive_rate,
    "fpr": false_positive_rate,
    "flag_rate": selection_rate,
    "accuracy": accuracy_score,
}
_TIMED_SAMPLES, _N_BOOTSTRAP = 2, 100
"""Bootstrap samples of the peer that are timed, and the least number that percentiles need."""
_TOLERANCE = 1e-9


def two_groups(n: int) -> dict[str, npt.NDArray[Any]]:
    """Draw two groups with different prevalences and different AUCs."""
    rng = np.random.default_rng(11)
    group = rng.integers(0, 2, n)
    truth = (rng.random(n) < np.where(group == 0, 0.3, 0.45)).astype(np.int64)
    score = 1 / (1 + np.exp(-(rng.standard_normal(n) + truth * np.where(group == 0, 1.0, 1.4) - 0.7)))
    return {"truth": truth, "score": score, "group": group}


def equalized_odds(n: int) -> Pair:
    """Choose the policy with equalized odds, from arrays: fairlearn searches a grid, ours is exact and not worse."""
    columns = two_groups(n)
    truth, score, group = columns.values()

    def ours() -> Policy:
        tallies = read.tallies(columns, truth="truth", score="score", group="group")
        return fairness.optimal_policy(tallies, fairness.Goal("equalized-odds"))

    def peer() -> Any:  # noqa: ANN401  (a package without types)
        optimizer = ThresholdOptimizer(
            estimator=PassthroughClassifier(), constraints="equalized_odds", prefit=True, predict_method="predict_proba"
        )
        return optimizer.fit(score[:, None], truth, sensitive_features=group)

    def gap(policy: Policy, optimizer: Any) -> float:  # noqa: ANN401
        tallies = read.tallies(columns, truth="truth", score="score", group="group")
        tables = decide.decision_tables(tallies, policy)
        rates = [[float(f(tables[each,]["flag"])) for f in (measure.fpr, measure.sensitivity)] for each in (0, 1)]
        accuracy = float(measure.accuracy(tables[None]["flag"]))
        # `predict` draws random decisions; the expected accuracy needs their probabilities, which are not public.
        chance = optimizer._pmf_predict(score[:, None], sensitive_features=group)[:, 1]  # noqa: SLF001
        gain = accuracy - float(np.where(truth == 1, chance, 1 - chance).mean())
        disparity = max(abs(first - second) for first, second in zip(*rates, strict=True))
        return disparity if -_ROUNDING <= gain <= _GRID_ERROR else np.inf

    return Pair(ours, peer, gap)


def recidivism(n: int) -> dict[str, npt.NDArray[Any]]:
    """Draw data like COMPAS: two groups, risks of three digits that differ between them, and recidivism."""
    rng = np.random.default_rng(2016)
    first = rng.random(n) < 0.6
    risk = np.round(rng.beta(np.where(first, 2.2, 1.6), 2.2, n), 3)
    return {"recidivism": rng.random(n) < 0.2 + 0.5 * risk, "risk": risk, "race": np.where(first, "one", "other")}


def reject_option(n: int, repeats: int) -> Outcome:
    """Choose the band by balanced accuracy, from rows: ours among all, AIF360's of 100 thresholds × 50 margins."""
    columns = recidivism(n)

    def ours() -> object:
        groups = read.tallies(columns, truth="recidivism", score="risk", group="race")
        return fairness.reject_option(groups, _GOAL, favor="one", favorable="pass", objective="balanced_accuracy")

    ours()  # warm-up
    (seconds,) = median_seconds([ours], repeats)
    return Outcome(seconds, _AIF360, note="the peer was timed once, separately, on these rows")


def group_table(n: int, repeats: int) -> Outcome:
    """Compute four measures of eight groups with intervals; fairlearn computes values and 100 bootstrap samples.

    The peer is timed with two samples and with none: each sample takes half of the difference.
    """
    small, data = _draw_decisions(max(n // 100, 200)), _draw_decisions(n)
    gap = _compare_tables(_group_table(small), _metric_frame(small, 0))
    if not gap <= _TOLERANCE:
        raise ArithmeticError(f"The results of baserate and its peer differ by {gap:g}; expected agreement.")
    runs = (lambda: _group_table(data), lambda: _metric_frame(data, _TIMED_SAMPLES), lambda: _metric_frame(data, 0))
    _group_table(data)  # warm-up
    ours, bootstrap, plain = median_seconds(runs, repeats)
    peer = plain + max(bootstrap - plain, 0.0) / _TIMED_SAMPLES * _N_BOOTSTRAP
    note = f"n_boot={_N_BOOTSTRAP}, from n_boot={_TIMED_SAMPLES} ({bootstrap:.1f} s) and none ({plain:.1f} s)"
    return Outcome(ours, peer, note=note)


def _draw_decisions(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    truth = rng.random(n) < 0.3
    flagged = rng.random(n) < np.where(truth, 0.7, 0.2)
    return {"truth": truth.astype(int), "flagged": flagged.astype(int), "group": rng.integers(0, _GROUPS, n)}


def _group_table(data: dict[str, Any]) -> Results:
    tallies = read.tallies(data, truth="truth", predicted="flagged", group="group", positive=1)
    return fairness.group_table(tallies, measures=_MEASURES)


def _metric_frame(data: dict[str, Any], samples: int) -> Any:  # noqa: ANN401  (a frame of metrics)
    bootstrap = {"n_boot": samples, "ci_quantiles": [0.025, 0.975], "random_state": 0} if samples else {}
    return MetricFrame(
        metrics=_MEASURES, y_true=data["truth"], y_pred=data["flagged"], sensitive_features=data["group"], **bootstrap
    )


def _compare_tables(ours: Results, peer: Any) -> float:  # noqa: ANN401  (a frame of metrics)
    expected: dict[Any, Any] = {group: peer.by_group.loc[group] for group in range(_GROUPS)}
    expected[None] = peer.overall
    groups = ((row, row["group"] and row["group"]["group"]) for row in ours.rows())
    return float(max(abs(row["value"] - expected[group][row["measure"]]) for row, group in groups))
