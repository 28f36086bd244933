"""Several classes: averages of areas, losses, measures of the confusion matrix, and paired comparisons.

Scores come from a normal model: a row of class k has the scores x_k ~ N(signal, 1) and x_j ~ N(0, 1), and
probabilities are softmax(power · (signal · x + log share)). A power of 1 is calibrated, above 1 confident, below 1
underconfident. True values come from one sample of 400,000 rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from math import nan, sqrt
from typing import NamedTuple

import numpy as np

from baserate import Confusion, MulticlassRows, infer
from baserate.infer import _confusion_intervals, _multiclass
from baserate.infer._binomial import normal_quantile
from baserate.measure import Measure, describe, multiclass
from baserate.measure.multiclass import average_over_classes
from bench._audit import Bounds, Floats, Outcome, Refusal, Rejection, Scenario

_LARGE = 400_000
_LABELS = ("a", "b", "c", "d", "e", "f")


class Population(NamedTuple):
    """How rows are drawn."""

    rows: int
    shares: tuple[float, ...]
    signal: float
    power: float = 1.0
    misplaced: float = 0.0
    """Share of rows whose scores are those of a class at random."""


EASY = Population(300, (0.5, 0.3, 0.2), 1.2)
NEAR_PERFECT = Population(200, (0.4, 0.3, 0.3), 3.0)
NEAR_PERFECT_FIVE = Population(200, (0.3, 0.25, 0.2, 0.15, 0.1), 3.0)
RARE_FOUR = Population(150, (0.4, 0.32, 0.2, 0.08), 1.5)
RARE_SIX = Population(150, (0.25, 0.22, 0.2, 0.15, 0.1, 0.08), 1.5)
RARE_NEAR_PERFECT = Population(150, (0.5, 0.42, 0.08), 2.5)
CONFIDENT = Population(150, (0.4, 0.3, 0.2, 0.1), 1.5, power=2.5)
UNDERCONFIDENT = Population(200, (0.4, 0.3, 0.2, 0.1), 2.5, power=0.3)
MISPLACED = Population(200, (0.4, 0.3, 0.2, 0.1), 3.5, misplaced=0.04)

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


def sample(rng: np.random.Generator, of: Population, rows: int | None = None) -> MulticlassRows:
    """Draw rows of one model."""
    return _models(rng, of, rows or of.rows, shared=0.0, models=1)[0]


def _models(
    rng: np.random.Generator, of: Population, rows: int, *, shared: float, models: int
) -> tuple[MulticlassRows, ...]:
    """Draw rows of models whose noise has a shared part."""
    classes = len(of.shares)
    truth = rng.choice(classes, rows, p=of.shares)
    shown = np.where(rng.random(rows) < of.misplaced, rng.integers(0, classes, rows), truth)
    common = rng.normal(size=(rows, classes))
    found = []
    for _ in range(models):
        noise = sqrt(shared) * common + sqrt(1 - shared) * rng.normal(size=(rows, classes))
        evidence = of.power * (of.signal * (of.signal * np.eye(classes)[shown] + noise) + np.log(of.shares))
        odds = np.exp(evidence - evidence.max(axis=1, keepdims=True))
        found.append(MulticlassRows(truth, odds / odds.sum(axis=1, keepdims=True), _LABELS[:classes]))
    return tuple(found)


@cache
def _large(of: Population) -> tuple[MulticlassRows, Confusion]:
    rows = sample(np.random.default_rng(20_261_118), of, _LARGE)
    return rows, rows.confusion()


@cache
def true_value(name: str, of: Population) -> float:
    """Value of a measure in one very large sample."""
    measure = (AREAS | LOSSES | TABLES)[name]
    rows, table = _large(of)
    return float(measure(table if describe(measure).of is Confusion else rows))


def of_scores(rng: np.random.Generator, of: Population, names: tuple[str, ...]) -> Mapping[str, Outcome]:
    """Intervals of measures of scores, beside plain normal ones with the influence function."""
    rows = sample(rng, of)
    found: dict[str, Outcome] = {}
    for name in names:
        measure = (AREAS | LOSSES)[name]
        found[name] = _outcome(name, measure, rows, of)
        found[f"{name}: normal"] = _normal(name, measure, rows, of)
    return found


def of_tables(rng: np.random.Generator, of: Population, names: tuple[str, ...]) -> Mapping[str, Outcome]:
    """Intervals of measures of the confusion matrix, beside a thousand Dirichlet draws of the cells."""
    table = sample(rng, of).confusion()
    # The first draws of the tables that `method="draws"` uses: all of them would take long.
    drawn = Confusion(_confusion_intervals.simulate_tables(table, way="draws", seed=0)[:1000], table.labels)
    found: dict[str, Outcome] = {}
    for name in names:
        found[name] = _outcome(name, TABLES[name], table, of)
        if name != "accuracy":
            values = np.asarray(TABLES[name](drawn))
            low, high = np.nanquantile(values, [0.025, 0.975])
            found[f"{name}: Dirichlet draws"] = Bounds(float(low), float(high), true_value(name, of))
    return found


def paired(rng: np.random.Generator, of: Population, measures: Mapping[str, Measure]) -> Mapping[str, Outcome]:
    """Two models of the same skill, with half of their noise in common."""
    first, second = _models(rng, of, of.rows, shared=0.5, models=2)
    return {
        name: Rejection(infer.compare_classes(first, second, measure=measure).p < 0.05)
        for name, measure in measures.items()
    }


def _outcome(name: str, measure: Measure, noun: MulticlassRows | Confusion, of: Population) -> Outcome:
    found = infer.estimate(measure, noun)
    return Refusal(found.why) if found.why else Bounds(found.low, found.high, true_value(name, of))


def _normal(name: str, measure: Measure, rows: MulticlassRows, of: Population) -> Outcome:
    """Normal interval with the standard error that the influence function gives."""
    value = float(measure(rows))
    half = normal_quantile(0.95) * sqrt(float(np.sum(_slopes(measure, rows, value) ** 2)))
    return Bounds(value - half, value + half, true_value(name, of))


def _slopes(measure: Measure, rows: MulticlassRows, value: float) -> Floats:
    if measure in LOSSES.values():
        return (_multiclass.row_losses(measure, rows) - value) / len(rows)
    found = _multiclass.row_influence(measure, rows, value)
    return np.array([nan]) if found is None else found.slopes


_SCORES = (*AREAS, *LOSSES)
_OF_SCORES = {
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
_OF_TABLES = {name: of for name, of in _OF_SCORES.items() if of not in (NEAR_PERFECT_FIVE, CONFIDENT, UNDERCONFIDENT)}
_PAIRED = {
    "60 rows, 3 classes": Population(60, (0.4, 0.35, 0.25), 1.2),
    "60 rows, 3 classes, confident": Population(60, (0.4, 0.35, 0.25), 1.5, power=3.0),
    "100 rows, 3 classes, confident": Population(100, (0.4, 0.3, 0.3), 2.0, power=3.0),
    "rare class of 12 in 150": RARE_FOUR,
    "200 rows, near-perfect, confident": Population(200, (0.4, 0.3, 0.3), 2.5, power=1.5),
}
_CLOSED = {name: (AREAS | LOSSES)[name] for name in ("Hand–Till", "macro AUC", "macro AP", "Brier", "log loss")}
_DRAWN = {name: TABLES[name] for name in ("accuracy", "kappa", "macro F1")}

SCENARIOS = (
    *(Scenario(f"scores of {name}", partial(of_scores, of=of, names=_SCORES)) for name, of in _OF_SCORES.items()),
    *(
        Scenario(f"decisions of {name}", partial(of_tables, of=of, names=tuple(TABLES)))
        for name, of in _OF_TABLES.items()
    ),
    *(Scenario(f"paired scores, {name}", partial(paired, of=of, measures=_CLOSED)) for name, of in _PAIRED.items()),
    *(
        Scenario(f"paired decisions, {name}", partial(paired, of=of, measures=_DRAWN), share=0.4)
        for name, of in _PAIRED.items()
    ),
)
