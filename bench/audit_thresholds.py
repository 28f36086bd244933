"""Scenarios of the coverage audit: optimism of chosen thresholds, cross-validation of rules, and `check`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

import baserate as br
from baserate import Costs, Counts, Curve, Cut, Policy, Population, Results, decide, measure, population, read
from bench._audit import Bounds, Correction, Floats, Outcome, Rejection, Scenario

Bools = npt.NDArray[np.bool_]
_DRAWS = 100
_LIMIT = 0.035
"""Share of samples in which a requirement that is not met may hold; nominally 2.5%."""
_CLEAR = 0.1
"""Share of the optimism that may remain."""
_MIDDLE = 200
"""Rows with which all rules are tried."""

Rule = Callable[[Curve], Policy]

COST = partial(measure.expected_cost, costs=Costs(fp=1, fn=4))
RULES: Mapping[str, tuple[Rule, Any]] = {
    "Youden's index": (decide.youden, measure.find_measure("youden")),
    "cost": (partial(decide.cost, costs=Costs(fp=1, fn=4)), COST),
    "F1": (partial(decide.best, measure="f1"), measure.find_measure("f1")),
    "MCC": (partial(decide.best, measure="mcc"), measure.find_measure("mcc")),
    "closest to (0, 1)": (decide.closest, measure.find_measure("youden")),
}
MEASURES: Mapping[str, Any] = {
    "MCC": measure.find_measure("mcc"),
    "F1": measure.find_measure("f1"),
    "κ": measure.find_measure("kappa"),
    "precision": measure.find_measure("precision"),
    "sensitivity": measure.find_measure("sensitivity"),
    "cost": COST,
}


class Case(NamedTuple):
    """Negatives N(0, 1), positives N(distance, spread), on the scale of their exponentials or rounded down."""

    prevalence: float
    distance: float
    spread: float = 1.0
    exponential: bool = False
    step: float = 0.0

    @property
    def whole(self) -> Population:
        """Everybody."""
        return population.binormal(means=(0, self.distance), sds=(1, self.spread), prevalence=self.prevalence)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Bools, Floats]:
        """Draw labels and scores; there are always some rows of each class."""
        while True:
            truth, score = self.whole.draw(n, rng)
            if min(truth.sum(), n - truth.sum()) > 1:
                break
        if self.step:
            score = np.floor(score / self.step) * self.step
        return truth, np.exp(score) if self.exponential else score

    def at(self, threshold: float) -> Counts[float]:
        """Table of everybody at a threshold."""
        return self.whole.at(log(threshold) if self.exponential else threshold)


def choose(rng: np.random.Generator, case: Case, n: int, quantity: str) -> Mapping[str, Outcome]:
    """Choose a threshold, correct the measure there, and compare it with the population."""
    truth, score = case.draw(n, rng)
    rule, function = RULES[quantity]
    found = decide.bootstrap_threshold(br.curve(br.tally(truth, score)), rule, measures=[function], n_bootstrap=_DRAWS)
    (seen,) = found.performance.values()
    there = float(function(case.at(found.policy.threshold)))
    sign = -1 if quantity == "cost" else 1  # a cost seems too small
    low, high = seen.corrected.low, seen.corrected.high
    return {
        f"optimism of {quantity}": Correction(sign * seen.optimism, sign * (seen.apparent.value - there), _CLEAR),
        f"{quantity}, corrected": Bounds(low, high, there),
        f"{quantity}, corrected: as it looks": Bounds(seen.apparent.low, seen.apparent.high, there),
    }


def cross_validate(rng: np.random.Generator, case: Case, n: int, quantity: str) -> Mapping[str, Outcome]:
    """Cross-validate a rule, with several measures at the threshold that it chooses."""
    truth, score = case.draw(n, rng)
    seed = int(rng.integers(1 << 30))
    found = decide.cross_validate_rule(
        br.tally(truth, score), RULES[quantity][0], measures=MEASURES.values(), seed=seed
    )
    there = case.at(found.policy.threshold)
    return {
        f"cross-validated {name}": Bounds(each.low, each.high, float(MEASURES[name](there)))
        for name, each in zip(MEASURES, found.performance.values(), strict=True)
    }


def false_pass_of_auc(
    rng: np.random.Generator, n: int, share: float, prevalence: float, place: float = 0.0
) -> Mapping[str, Outcome]:
    """Require a hair more than the AUC where a share of positives scores far above and the others around `place`.

    Negatives score around 0.
    """
    truth = np.arange(n) < round(prevalence * n)
    score = rng.normal(size=n)
    score[truth] += np.where(rng.random(int(truth.sum())) < share, 20.0, place)
    bound = share + (1 - share) * float(ndtr(place / sqrt(2))) + 1e-9
    return {"false pass of AUC": Rejection(bool(checked(truth, score, f"auc >= {bound:.12f}")), _LIMIT)}


def false_passes(rng: np.random.Generator, case: Case, n: int) -> Mapping[str, Outcome]:
    """Require of several measures a hair more than the population has."""
    truth, score = case.draw(n, rng)
    names = ("sensitivity", "specificity", "precision", "npv", "accuracy", "f1", "mcc")
    bounds = {name: float(measure.find_measure(name)(case.at(1.0))) + 1e-9 for name in names}
    bounds["auc"] = case.whole.auc + 1e-9
    found = checked(truth, score, ", ".join(f"{name} >= {bound:.12f}" for name, bound in bounds.items()))
    return {f"false pass of {row['measure']}": Rejection(bool(row["holds"]), _LIMIT) for row in found.rows()}


def checked(truth: Bools, score: Floats, require: str) -> Results:
    """Check requirements of decisions at a threshold of 1."""
    rows = read.tallies({"y": truth, "score": score}, truth="y", score="score")
    return decide.check(rows, Policy(by_group={(): Cut((1.0,))}, otherwise="refuse"), require)


CHOICES = {
    "log-normal scores, 10% positives": Case(0.1, 0.5, exponential=True),
    "log-normal scores, 50% positives": Case(0.5, 0.5, exponential=True),
    "two normals, 30% positives": Case(0.3, 1.5),
    "heavy ties, 30% positives": Case(0.3, 1.0, step=0.5),
}
FOLDS = {
    "two normals near each other": Case(0.5, 0.5),
    "positives twice as spread, 10%": Case(0.1, 1.0, spread=2.0),
    "heavy ties, 30%": Case(0.3, 1.0, step=0.5),
    "two normals, 30%": Case(0.3, 1.5),
}
_YOUDEN, _MCC = "Youden's index", "MCC"
_SHARES = dict.fromkeys(("F1", _MCC, "closest to (0, 1)"), 0.4)
"""Of rules that take long."""

SCENARIOS = (
    *(
        Scenario(
            f"{name}, n = {n}, rule: {rule}", partial(choose, case=case, n=n, quantity=rule), _SHARES.get(rule, 1.0)
        )
        for name, case in CHOICES.items()
        for n in (100, 200, 1000)
        for rule in (RULES if n == _MIDDLE else [_YOUDEN])
    ),
    *(
        Scenario(
            f"cross-validation, {name}, n = {n}, rule: {rule}", partial(cross_validate, case=case, n=n, quantity=rule)
        )
        for name, case in FOLDS.items()
        for n, rule in ((200, _MCC), (1000, _MCC), (1000, _YOUDEN))
    ),
    Scenario("check, 90% mixture, n = 200", partial(false_pass_of_auc, n=200, share=0.9, prevalence=0.5)),
    Scenario("check, 98% mixture, n = 1000", partial(false_pass_of_auc, n=1000, share=0.98, prevalence=0.1)),
    Scenario(
        "check, 90% mixture, the rest below most negatives, 20/180 rows",
        partial(false_pass_of_auc, n=200, share=0.9, prevalence=0.1, place=-1.0),
    ),
    Scenario(
        "check, 98% mixture, the rest below most negatives, 100/900 rows",
        partial(false_pass_of_auc, n=1000, share=0.98, prevalence=0.1, place=-1.0),
    ),
    Scenario("check, two normals, n = 200", partial(false_passes, case=Case(0.3, 1.5), n=200)),
    Scenario("check, two normals, n = 1000, 10% positives", partial(false_passes, case=Case(0.1, 1.5), n=1000)),
    Scenario("check, near-perfect scores, n = 200", partial(false_passes, case=Case(0.3, 3.5), n=200)),
)
