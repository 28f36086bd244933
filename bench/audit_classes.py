"""Scenarios of the coverage audit: averages over classes, losses, confusion matrices and paired comparisons.

Features are normal: a row of class k has x_k ~ N(signal, 1) and x_j ~ N(0, 1). Its probabilities are
softmax(power · (signal · x + log share)). A power of 1 is calibrated, above 1 overconfident, below 1 underconfident.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from math import nan, sqrt
from typing import NamedTuple

import numpy as np

from baserate import Confusion, MulticlassRows, infer
from baserate.infer import _confusion_intervals, _multiclass, _multiclass_losses
from baserate.infer._binomial import normal_quantile
from baserate.measure import Measure, describe, multiclass
from baserate.measure.multiclass import average_over_classes
from bench._audit import Bounds, Floats, Outcome, Refusal, Rejection, Scenario

_LARGE = 400_000
"""Rows of the sample that true values come from."""
_LABELS = ("a", "b", "c", "d", "e", "f")


class ClassModel(NamedTuple):
    """Number of rows, and distribution of their classes and scores."""

    rows: int
    shares: tuple[float, ...]
    signal: float
    power: float = 1.0
    misplaced: float = 0.0
    """Share of rows whose scores belong to a random class."""


EASY = ClassModel(300, (0.5, 0.3, 0.2), 1.2)
NEAR_PERFECT = ClassModel(200, (0.4, 0.3, 0.3), 3.0)
NEAR_PERFECT_FIVE = ClassModel(200, (0.3, 0.25, 0.2, 0.15, 0.1), 3.0)
RARE_FOUR = ClassModel(150, (0.4, 0.32, 0.2, 0.08), 1.5)
RARE_SIX = ClassModel(150, (0.25, 0.22, 0.2, 0.15, 0.1, 0.08), 1.5)
RARE_NEAR_PERFECT = ClassModel(150, (0.5, 0.42, 0.08), 2.5)
CONFIDENT = ClassModel(150, (0.4, 0.3, 0.2, 0.1), 1.5, power=2.5)
UNDERCONFIDENT = ClassModel(200, (0.4, 0.3, 0.2, 0.1), 2.5, power=0.3)
MISPLACED = ClassModel(200, (0.4, 0.3, 0.2, 0.1), 3.5, misplaced=0.04)

AREAS: dict[str, Measure] = {
    "Hand–Till": multiclass.hand_till,
    "macro AUC": average_over_classes("auc", "macro"),
    "weighted AUC": average_over_classes("auc", "weighted"),
    "macro AP": average_over_classes("average_precision", "macro"),
}
LOSSES: dict[str, Measure] = {"Brier": multiclass.brier, "log loss": multiclass.log_loss}
TABLES: dict[str, Measure] = {
    "accuracy": multiclass.accuracy,
    "kappa": multiclass.kappa,
    "MCC": multiclass.mcc,
    "macro F1": average_over_classes("f1", "macro"),
    "balanced accuracy": multiclass.balanced_accuracy,
    "macro precision": average_over_classes("precision", "macro"),
    "weighted F1": average_over_classes("f1", "weighted"),
    "Cramér's V": multiclass.cramers_v,
}


def draw_rows(rng: np.random.Generator, of: ClassModel, rows: int | None = None) -> MulticlassRows:
    """Draw rows of one model."""
    return _draw_models(rng, of, rows or of.rows, shared=0.0, models=1)[0]


def _draw_models(
    rng: np.random.Generator, of: ClassModel, rows: int, *, shared: float, models: int
) -> tuple[MulticlassRows, ...]:
    """Draw rows of models whose noise is shared to some extent."""
    classes = len(of.shares)
    truth = rng.choice(classes, rows, p=of.shares)
    apparent = np.where(rng.random(rows) < of.misplaced, rng.integers(0, classes, rows), truth)
    common = rng.normal(size=(rows, classes))
    samples = []
    for _ in range(models):
        noise = sqrt(shared) * common + sqrt(1 - shared) * rng.normal(size=(rows, classes))
        evidence = of.power * (of.signal * (of.signal * np.eye(classes)[apparent] + noise) + np.log(of.shares))
        odds = np.exp(evidence - evidence.max(axis=1, keepdims=True))
        samples.append(MulticlassRows(truth, odds / odds.sum(axis=1, keepdims=True), _LABELS[:classes]))
    return tuple(samples)


@cache
def _large_sample(of: ClassModel) -> tuple[MulticlassRows, Confusion]:
    rows = draw_rows(np.random.default_rng(20_261_118), of, _LARGE)
    return rows, rows.confusion()


@cache
def true_value(name: str, of: ClassModel) -> float:
    """Compute a measure in one very large sample."""
    measure = (AREAS | LOSSES | TABLES)[name]
    rows, table = _large_sample(of)
    return float(measure(table if describe(measure).of is Confusion else rows))


def audit_scores(rng: np.random.Generator, of: ClassModel, names: tuple[str, ...]) -> Mapping[str, Outcome]:
    """Estimate measures of scores, beside normal intervals from the influence function."""
    rows = draw_rows(rng, of)
    outcomes: dict[str, Outcome] = {}
    for name in names:
        measure = (AREAS | LOSSES)[name]
        outcomes[name] = _interval_outcome(name, measure, rows, of)
        outcomes[f"{name}: normal"] = _normal_interval(name, measure, rows, of)
    return outcomes


def audit_tables(rng: np.random.Generator, of: ClassModel, names: tuple[str, ...]) -> Mapping[str, Outcome]:
    """Estimate measures of the confusion matrix, beside a thousand simulated tables (Dirichlet)."""
    table = draw_rows(rng, of).confusion()
    # Only the first of the tables that `method="draws"` simulates: all of them would take long.
    simulated = Confusion(_confusion_intervals.simulate_tables(table, way="draws", seed=0)[:1000], table.labels)
    outcomes: dict[str, Outcome] = {}
    for name in names:
        outcomes[name] = _interval_outcome(name, TABLES[name], table, of)
        if name != "accuracy":
            values = np.asarray(TABLES[name](simulated))
            low, high = np.nanquantile(values, [0.025, 0.975])
            outcomes[f"{name}: Dirichlet draws"] = Bounds(float(low), float(high), true_value(name, of))
    return outcomes


def audit_paired(rng: np.random.Generator, of: ClassModel, measures: Mapping[str, Measure]) -> Mapping[str, Outcome]:
    """Compare two models of the same performance, with half of their noise in common."""
    first, second = _draw_models(rng, of, of.rows, shared=0.5, models=2)
    return {
        name: Rejection(infer.compare_classes(first, second, measure=measure).p < 0.05)
        for name, measure in measures.items()
    }


def _interval_outcome(name: str, measure: Measure, data: MulticlassRows | Confusion, of: ClassModel) -> Outcome:
    estimate = infer.estimate(measure, data)
    return Refusal(estimate.why) if estimate.why else Bounds(estimate.low, estimate.high, true_value(name, of))


def _normal_interval(name: str, measure: Measure, rows: MulticlassRows, of: ClassModel) -> Outcome:
    """Compute the normal interval with the standard error of the influence function."""
    value = float(measure(rows))
    half = normal_quantile(0.95) * sqrt(float(np.sum(_row_influence(measure, rows, value) ** 2)))
    return Bounds(value - half, value + half, true_value(name, of))


def _row_influence(measure: Measure, rows: MulticlassRows, value: float) -> Floats:
    if measure in LOSSES.values():
        return (_multiclass_losses.row_losses(measure, rows) - value) / len(rows)
    influence = _multiclass.row_influence(measure, rows, value)
    return np.array([nan]) if influence is None else influence.slopes


_SCORE_MEASURES = (*AREAS, *LOSSES)
_SCORE_MODELS = {
    "3 classes, 300 rows, easy": EASY,
    "3 classes, 200 rows, near-perfect": NEAR_PERFECT,
    "5 classes, 200 rows, near-perfect": NEAR_PERFECT_FIVE,
    "4 classes, rare class of 12 in 150": RARE_FOUR,
    "6 classes, rare class of 12 in 150": RARE_SIX,
    "3 classes, near-perfect, rare class of 12 in 150": RARE_NEAR_PERFECT,
    "4 classes, 150 rows, confident": CONFIDENT,
    "4 classes, 200 rows, underconfident": UNDERCONFIDENT,
    "4 classes, 200 rows, 4% misplaced": MISPLACED,
}
_TABLE_MODELS = {
    name: of for name, of in _SCORE_MODELS.items() if of not in (NEAR_PERFECT_FIVE, CONFIDENT, UNDERCONFIDENT)
}
_PAIRED_MODELS = {
    "60 rows, 3 classes": ClassModel(60, (0.4, 0.35, 0.25), 1.2),
    "60 rows, 3 classes, confident": ClassModel(60, (0.4, 0.35, 0.25), 1.5, power=3.0),
    "100 rows, 3 classes, confident": ClassModel(100, (0.4, 0.3, 0.3), 2.0, power=3.0),
    "rare class of 12 in 150": RARE_FOUR,
    "200 rows, near-perfect, confident": ClassModel(200, (0.4, 0.3, 0.3), 2.5, power=1.5),
}
_CLOSED_FORM = {name: (AREAS | LOSSES)[name] for name in ("Hand–Till", "macro AUC", "macro AP", "Brier", "log loss")}
_SIMULATED = {name: TABLES[name] for name in ("accuracy", "kappa", "macro F1")}

SCENARIOS = (
    *(
        Scenario(f"scores of {name}", partial(audit_scores, of=of, names=_SCORE_MEASURES))
        for name, of in _SCORE_MODELS.items()
    ),
    *(
        Scenario(f"decisions of {name}", partial(audit_tables, of=of, names=tuple(TABLES)))
        for name, of in _TABLE_MODELS.items()
    ),
    *(
        Scenario(f"paired scores, {name}", partial(audit_paired, of=of, measures=_CLOSED_FORM))
        for name, of in _PAIRED_MODELS.items()
    ),
    *(
        Scenario(f"paired decisions, {name}", partial(audit_paired, of=of, measures=_SIMULATED), share=0.4)
        for name, of in _PAIRED_MODELS.items()
    ),
)
