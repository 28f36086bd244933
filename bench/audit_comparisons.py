"""Scenarios of the coverage audit: differences between models on the same rows, and on different rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from math import log, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from baserate import Curve, Rows, Tally
from baserate.infer import Comparison, compare, compare_unpaired
from baserate.measure import MEASURES, describe
from bench._audit import Bounds, Floats, Outcome, Rejection, Scenario

Bools = npt.NDArray[np.bool_]
_PREVALENCE = 0.3
_LOSSES = ("brier", "log_loss", "brier_skill", "log_loss_skill")
_RANKS = ("auc", "average_precision", "ks")
_ALL = (*_LOSSES, *_RANKS)
_SHARES = ("accuracy", "sensitivity", "specificity", "flag_rate")
_POPULATION = 1_000_000


class Model(NamedTuple):
    """Log-odds of two normals that are so far apart, multiplied by a factor: above 1 the model is too confident."""

    separation: float = 2.0
    confidence: float = 1.0


class Setting(NamedTuple):
    """Two models on the same rows; what they see beside the class has a common part."""

    size: int
    models: tuple[Model, Model]
    common: float = 0.7
    clusters: int = 0
    weights: float = 0.0
    """Standard deviation of the logarithm of weights."""
    prevalence: float = _PREVALENCE


def _rows(setting: Setting, rng: np.random.Generator) -> Rows:
    cluster = _clusters(setting, rng)
    effect = rng.normal(size=(2, setting.clusters + 1))
    truth = rng.random(setting.size) < setting.prevalence
    shared = rng.normal(size=setting.size)
    score = {}
    for at, model in enumerate(setting.models):
        own = rng.normal(size=setting.size)
        if cluster is not None:
            own = (own + effect[at, cluster]) / sqrt(2)
        seen = sqrt(setting.common) * shared + sqrt(1 - setting.common) * own
        score[str(at)] = _probability(model, setting.prevalence, truth, seen)
    weight = np.exp(setting.weights * rng.normal(size=setting.size)) if setting.weights else None
    return Rows(truth, score, weight=weight, cluster=cluster)


def _probability(model: Model, prevalence: float, truth: Bools, seen: Floats) -> Floats:
    centered = model.separation * truth + seen - model.separation / 2
    log_odds = log(prevalence / (1 - prevalence)) + model.separation * centered
    return np.asarray(1 / (1 + np.exp(-model.confidence * log_odds)))


def _clusters(setting: Setting, rng: np.random.Generator) -> npt.NDArray[np.int64] | None:
    if not setting.clusters:
        return None
    share = rng.gamma(1.5, size=setting.clusters)
    return rng.choice(setting.clusters, setting.size, p=share / share.sum())


@cache
def _truth(setting: Setting, name: str) -> float:
    """Difference in a very large sample without weights and clusters."""
    if setting.models[0] == setting.models[1]:
        return 0.0
    large = setting._replace(size=_POPULATION, clusters=0, weights=0.0)
    rows = _rows(large, np.random.default_rng(1))
    first, second = (_value(name, Tally.of_rows(rows.truth, score)) for score in rows.score.values())
    return first - second


def _value(name: str, tally: Tally) -> float:
    measure = MEASURES[name]
    of = describe(measure).of
    return float(measure(tally if of is Tally else Curve(tally) if of is Curve else Curve(tally).at(0.5)))


def _paired(setting: Setting, names: Sequence[str], rng: np.random.Generator) -> Mapping[str, Outcome]:
    rows = _rows(setting, rng)
    if not 1 < rows.truth.sum() < len(rows) - 1:
        rows = _rows(setting, rng)
    outcomes: dict[str, Outcome] = {}
    for found in compare(rows, measure=list(names), threshold=0.5):
        outcomes |= _outcomes(found, _truth(setting, found.measure))
        if found.measure in ("brier", "log_loss") and rows.weight is None and rows.cluster is None:
            outcomes[f"difference of {found.measure}: paired t"] = _paired_t(rows, found, setting)
    return outcomes


def _outcomes(found: Comparison, truth: float) -> dict[str, Outcome]:
    name, d = found.measure, found.difference
    outcomes: dict[str, Outcome] = {f"difference of {name}": Bounds(d.low, d.high, truth)}
    if truth == 0:
        outcomes[f"test of {name}"] = Rejection(found.p < 0.05)
    return outcomes


def _paired_t(rows: Rows, found: Comparison, setting: Setting) -> Bounds:
    losses = [_losses(found.measure, rows.truth, np.asarray(each, dtype=np.float64)) for each in rows.score.values()]
    apart = losses[0] - losses[1]
    half = float(stdtrit(len(apart) - 1, 0.975)) * float(apart.std(ddof=1)) / sqrt(len(apart))
    return Bounds(float(apart.mean()) - half, float(apart.mean()) + half, _truth(setting, found.measure))


def _losses(name: str, truth: Bools, score: Floats) -> Floats:
    right = np.where(truth, score, 1 - score)
    return np.asarray((1 - right) ** 2 if name == "brier" else -np.log(right))


def _shares(setting: Setting, rng: np.random.Generator) -> Mapping[str, Outcome]:
    """Paired shares, beside Agresti and Min's interval."""
    rows = _rows(setting, rng)
    outcomes: dict[str, Outcome] = {}
    for found in compare(rows, measure=list(_SHARES), threshold=0.5):
        truth = _truth(setting, found.measure)
        outcomes |= _outcomes(found, truth)
        disagree = (found.p < 0.05) is (found.difference.low <= 0 <= found.difference.high)
        outcomes[f"interval of {found.measure} disagrees with its test"] = Rejection(disagree, 0.0)
        outcomes[f"difference of {found.measure}: Agresti and Min"] = _agresti_min(rows, found.measure, truth)
    return outcomes


def _agresti_min(rows: Rows, name: str, truth: float) -> Bounds:
    flagged = [score >= 0.5 for score in rows.score.values()]
    there = {"sensitivity": rows.truth, "specificity": ~rows.truth}.get(name, np.ones(len(rows), dtype=np.bool_))
    hit = [(each if name == "flag_rate" else each == rows.truth)[there] for each in flagged]
    first, second = (int(np.count_nonzero(one & ~other)) + 0.5 for one, other in (hit, hit[::-1]))
    n = len(hit[0]) + 2
    middle = (first - second) / n
    half = 1.959964 * sqrt(first + second - (first - second) ** 2 / n) / n
    return Bounds(middle - half, middle + half, truth)


def _unpaired(
    sizes: tuple[int, int], model: Model, names: Sequence[str], rng: np.random.Generator
) -> Mapping[str, Outcome]:
    tallies = []
    for size in sizes:
        rows = _rows(Setting(size, (model, model)), rng)
        tallies.append(Tally.of_rows(rows.truth, rows.score["0"]))
    outcomes: dict[str, Outcome] = {}
    for name in names:
        outcomes |= _outcomes(compare_unpaired(tallies[0], tallies[1], measure=name), 0.0)
    return outcomes


_CONFIDENT = Model(2.0, 2.5)
_SAME = (_CONFIDENT, _CONFIDENT)
_PAIRED = {
    "same rows, confident models, 60 rows": Setting(60, _SAME),
    "same rows, confident models, 200 rows": Setting(200, _SAME),
    "same rows, confident models, 200 rows, 10% positive": Setting(200, _SAME, prevalence=0.1),
    "same rows, one confident model, 200 rows": Setting(200, (_CONFIDENT, Model(1.5))),
    "same rows, a good and a poor model, 200 rows": Setting(200, (Model(2.0), Model(0.3))),
    "same rows, two normals, 1000 rows": Setting(1000, (Model(1.5), Model(1.5))),
    "same rows, nearly equal models, 500 rows": Setting(500, (Model(1.0), Model(1.0)), common=0.95),
    "same rows, 15 unequal clusters": Setting(300, (Model(1.5), Model(1.5)), clusters=15),
    "same rows, 40 unequal clusters": Setting(400, (Model(1.5), Model(1.5)), clusters=40),
    "same rows, survey weights, 300 rows": Setting(300, _SAME, weights=1.0),
}
_TABLES = {
    "shares of the same rows, 40 rows": Setting(40, (Model(1.5), Model(1.5))),
    "shares of the same rows, 200 rows": Setting(200, (Model(2.0), Model(1.0))),
    "shares of the same rows, nearly equal models, 500 rows": Setting(500, (Model(2.0), Model(2.0)), common=0.98),
}
SCENARIOS = (
    *(Scenario(name, partial(_paired, each, _ALL)) for name, each in _PAIRED.items()),
    *(Scenario(name, partial(_shares, each)) for name, each in _TABLES.items()),
    Scenario("different rows, confident models, 60 and 60", partial(_unpaired, (60, 60), _CONFIDENT, _ALL), 0.5),
    # Welch's t of AUCs rejects 9% here; see docs/intervals.md.
    Scenario("different rows, confident models, 60 and 400", partial(_unpaired, (60, 400), _CONFIDENT, _LOSSES), 0.5),
    Scenario("different rows, confident models, 200 and 600", partial(_unpaired, (200, 600), _CONFIDENT, _ALL), 0.3),
    Scenario("different rows, underconfident, 200 and 200", partial(_unpaired, (200, 200), Model(2.0, 0.4), _ALL), 0.3),
)
