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
from baserate import Costs, Counts, Curve, Policy, Population, Results, decide, measure, population, read
from bench._audit import Bounds, Correction, Floats, Outcome, Rejection, Scenario

Bools = npt.NDArray[np.bool_]
_N_BOOTSTRAP = 100
_FALSE_PASS_LIMIT = 0.035
"""Greatest share of samples in which an unmet requirement is reported as met; nominally 2.5%."""
_OPTIMISM_LIMIT = 0.1
"""Greatest share of the optimism that may remain."""
_ROWS_OF_ALL_RULES = 200
"""Number of rows for which all rules are studied; others are studied for one rule."""

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
    """Negatives N(0, 1) and positives N(distance, spread), whose scores may be exponentials, or rounded down."""

    prevalence: float
    distance: float
    spread: float = 1.0
    exponential: bool = False
    step: float = 0.0

    @property
    def population(self) -> Population:
        """The population before rounding."""
        return population.binormal(means=(0, self.distance), sds=(1, self.spread), prevalence=self.prevalence)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Bools, Floats]:
        """Draw labels and scores, with at least two rows of each class."""
        while True:
            truth, score = self.population.draw(n, rng)
            if min(truth.sum(), n - truth.sum()) > 1:
                break
        if self.step:
            score = np.floor(score / self.step) * self.step
        return truth, np.exp(score) if self.exponential else score

    def counts_at(self, threshold: float) -> Counts[float]:
        """Compute the counts of the population at a threshold."""
        return self.population.at(log(threshold) if self.exponential else threshold)


def audit_choice(rng: np.random.Generator, case: Case, n: int, quantity: str) -> Mapping[str, Outcome]:
    """Choose a threshold, correct the measure there, and compare it with the population."""
    truth, score = case.draw(n, rng)
    rule, function = RULES[quantity]
    bootstrap = decide.bootstrap_threshold(
        br.curve(br.tally(truth, score)), rule, measures=[function], n_bootstrap=_N_BOOTSTRAP
    )
    (estimate,) = bootstrap.performance.values()
    actual = float(function(case.counts_at(bootstrap.policy.threshold)))
    sign = -1 if quantity == "cost" else 1  # the optimism of a cost is negative
    low, high = estimate.corrected.low, estimate.corrected.high
    return {
        f"optimism of {quantity}": Correction(
            sign * estimate.optimism, sign * (estimate.apparent.value - actual), _OPTIMISM_LIMIT
        ),
        f"{quantity}, corrected": Bounds(low, high, actual),
        f"{quantity}, corrected: as it looks": Bounds(estimate.apparent.low, estimate.apparent.high, actual),
    }


def audit_cross_validation(rng: np.random.Generator, case: Case, n: int, quantity: str) -> Mapping[str, Outcome]:
    """Cross-validate a rule, with several measures at the threshold that it chooses."""
    truth, score = case.draw(n, rng)
    seed = int(rng.integers(1 << 30))
    validation = decide.cross_validate_rule(
        br.tally(truth, score), RULES[quantity][0], measures=MEASURES.values(), seed=seed
    )
    counts = case.counts_at(validation.policy.threshold)
    return {
        f"cross-validated {name}": Bounds(each.low, each.high, float(MEASURES[name](counts)))
        for name, each in zip(MEASURES, validation.performance.values(), strict=True)
    }


def audit_auc_requirement(
    rng: np.random.Generator, n: int, share: float, prevalence: float, place: float = 0.0
) -> Mapping[str, Outcome]:
    """Require slightly more than the AUC of a mixture: a share of positives scores far above, the rest around `place`.

    Negatives score around 0. A sample without any of the rest looks perfect.
    """
    truth = np.arange(n) < round(prevalence * n)
    score = rng.normal(size=n)
    score[truth] += np.where(rng.random(int(truth.sum())) < share, 20.0, place)
    bound = share + (1 - share) * float(ndtr(place / sqrt(2))) + 1e-9
    return {
        "false pass of AUC": Rejection(
            bool(check_requirements(truth, score, f"auc >= {bound:.12f}")), _FALSE_PASS_LIMIT
        )
    }


def audit_requirements(rng: np.random.Generator, case: Case, n: int) -> Mapping[str, Outcome]:
    """Require slightly more of several measures than their values in the population."""
    truth, score = case.draw(n, rng)
    names = ("sensitivity", "specificity", "precision", "npv", "accuracy", "f1", "mcc")
    bounds = {name: float(measure.find_measure(name)(case.counts_at(1.0))) + 1e-9 for name in names}
    bounds["auc"] = case.population.auc + 1e-9
    results = check_requirements(truth, score, ", ".join(f"{name} >= {bound:.12f}" for name, bound in bounds.items()))
    return {
        f"false pass of {row['measure']}": Rejection(bool(row["holds"]), _FALSE_PASS_LIMIT) for row in results.rows()
    }


def check_requirements(truth: Bools, score: Floats, require: str) -> Results:
    """Check requirements of decisions at a threshold of 1."""
    rows = read.tallies({"y": truth, "score": score}, truth="y", score="score")
    return decide.check(rows, require, threshold=1.0)


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
"""Shares of the replicates, for rules that take long."""

SCENARIOS = (
    *(
        Scenario(
            f"{name}, n = {n}, rule: {rule}",
            partial(audit_choice, case=case, n=n, quantity=rule),
            _SHARES.get(rule, 1.0),
        )
        for name, case in CHOICES.items()
        for n in (100, 200, 1000)
        for rule in (RULES if n == _ROWS_OF_ALL_RULES else [_YOUDEN])
    ),
    *(
        Scenario(
            f"cross-validation, {name}, n = {n}, rule: {rule}",
            partial(audit_cross_validation, case=case, n=n, quantity=rule),
        )
        for name, case in FOLDS.items()
        for n, rule in ((200, _MCC), (1000, _MCC), (1000, _YOUDEN))
    ),
    Scenario("check, 90% mixture, n = 200", partial(audit_auc_requirement, n=200, share=0.9, prevalence=0.5)),
    Scenario("check, 98% mixture, n = 1000", partial(audit_auc_requirement, n=1000, share=0.98, prevalence=0.1)),
    Scenario(
        "check, 90% mixture, the rest below most negatives, 20/180 rows",
        partial(audit_auc_requirement, n=200, share=0.9, prevalence=0.1, place=-1.0),
    ),
    Scenario(
        "check, 98% mixture, the rest below most negatives, 100/900 rows",
        partial(audit_auc_requirement, n=1000, share=0.98, prevalence=0.1, place=-1.0),
    ),
    Scenario("check, two normals, n = 200", partial(audit_requirements, case=Case(0.3, 1.5), n=200)),
    Scenario("check, two normals, n = 1000, 10% positives", partial(audit_requirements, case=Case(0.1, 1.5), n=1000)),
    Scenario("check, near-perfect scores, n = 200", partial(audit_requirements, case=Case(0.3, 3.5), n=200)),
)
