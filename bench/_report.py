"""Benchmark of reports: all measures with intervals, beside four results of scikit-learn without."""

from __future__ import annotations

from typing import Any

from sklearn.calibration import calibration_curve
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

import baserate
from baserate import Report
from bench._benchmark import Pair
from bench._scores import positive_scores


def evaluate_arrays(n: int) -> Pair:
    """Evaluate arrays, beside AUC, average precision, Brier score and a calibration curve."""
    columns = positive_scores(n)
    truth, score = columns["truth"], columns["score"]

    def peer() -> tuple[float, float, float, Any]:
        return (
            roc_auc_score(truth, score),
            average_precision_score(truth, score),
            brier_score_loss(truth, score),
            calibration_curve(truth, score, n_bins=10),
        )

    def gap(report: Report, values: tuple[float, float, float, Any]) -> float:
        sample = report.here
        pairs = zip((sample.auc, sample.average_precision, sample.brier), values[:3], strict=True)
        return max(abs(estimate.value - value) for estimate, value in pairs)

    return Pair(lambda: baserate.evaluate(truth, score), peer, gap)
