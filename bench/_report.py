"""Rows about reports: everything with its interval, beside four numbers without."""

from __future__ import annotations

from typing import Any

from sklearn.calibration import calibration_curve
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

import baserate
from baserate import Report
from bench._row import Duel
from bench._scores import positive_scores


def evaluate(n: int) -> Duel:
    """A report of arrays, beside AUC, average precision, Brier score and a calibration curve."""
    columns = positive_scores(n)
    truth, score = columns["truth"], columns["score"]

    def rival() -> tuple[float, float, float, Any]:
        return (
            roc_auc_score(truth, score),
            average_precision_score(truth, score),
            brier_score_loss(truth, score),
            calibration_curve(truth, score, n_bins=10),
        )

    def gap(ours: Report, theirs: tuple[float, float, float, Any]) -> float:
        here = ours.here
        pairs = zip((here.auc, here.average_precision, here.brier), theirs[:3], strict=True)
        return max(abs(own.value - other) for own, other in pairs)

    return Duel(lambda: baserate.evaluate(truth, score), rival, gap)
