"""Scenarios of the coverage audit: prevalences, measures at them and without labels, and the label-shift test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.special import expit

from baserate import FitError, Target, shift, tally
from bench._audit import Bounds, Outcome, Refusal, Rejection, Scenario

Floats = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, npt.NDArray[np.bool_]], Floats]

_THRESHOLD = 0.5
_GRID = 400_001
"""Points of the numerical integrals that give the true values."""


class Classes(NamedTuple):
    """Log-odds of scores in both classes, as frozen distributions of SciPy; the score is their logistic function."""

    positive: Any
    negative: Any
    digits: int | None = None
    """Digits of rounded scores, for ties."""

    def draw(self, rng: np.random.Generator, n: int, share: float) -> tuple[npt.NDArray[np.bool_], Floats]:
        """Draw labels and scores."""
        truth = rng.random(n) < share
        x = np.where(truth, self.positive.rvs(n, random_state=rng), self.negative.rvs(n, random_state=rng))
        score = np.asarray(expit(x))
        return truth, score if self.digits is None else score.round(self.digits)


NORMAL = Classes(stats.norm(0.5, 1), stats.norm(-1, 1))
UNEQUAL = Classes(stats.norm(0.5, 2), stats.norm(-1, 1))
"""The class log-likelihood ratio is quadratic in the log-odds: no logistic calibration fits."""
NARROW = Classes(stats.norm(0.3, 0.4), stats.norm(-0.7, 1))
TIES = Classes(stats.norm(0.5, 1.2), stats.norm(-1, 1), digits=1)
HEAVY = Classes(stats.t(2, 1.5), stats.t(3, -0.5))
SKEWED = Classes(stats.gumbel_r(0.8, 1), stats.gumbel_l(-1, 0.8))
STRONG = Classes(stats.norm(1.5, 1), stats.norm(-1.5, 1))


@cache
def true_values_at_share(classes: Classes, share: float) -> dict[str, float]:
    """Compute the true measures of scores and of decisions at ½ for this share of positives, on a grid of log-odds."""
    x = np.linspace(-40, 40, _GRID)
    step = x[1] - x[0]
    score = expit(x)
    if classes.digits is not None:
        score = score.round(classes.digits)
    first, second = (each.pdf(x) * step for each in (classes.positive, classes.negative))
    first, second = share * first / first.sum(), (1 - share) * second / second.sum()
    return integrate_measures(score, first, second)


def integrate_measures(score: Floats, first: Floats, second: Floats) -> dict[str, float]:
    """Compute measures from the masses of both classes at ascending scores."""
    flagged = score >= _THRESHOLD
    tp, fp, fn, tn = first[flagged].sum(), second[flagged].sum(), first[~flagged].sum(), second[~flagged].sum()
    below = np.cumsum(second) - second / 2  # an AUC without ties: of rounded scores it is not used
    return {
        "precision": tp / (tp + fp),
        "npv": tn / (tn + fn),
        "f1": 2 * tp / (2 * tp + fp + fn),
        "sensitivity": tp / (tp + fn),
        "accuracy": tp + tn,
        "auc": float(first @ below / (first.sum() * second.sum())),
        "brier": float(first @ (1 - score) ** 2 + second @ score**2),
    }


class Sizes(NamedTuple):
    """Rows and prevalence of validation and target."""

    validation: int
    at: float
    target: int
    share: float


def _outcomes(rows: Sequence[Mapping[str, Any]], truth: Mapping[str, float], label: str) -> dict[str, Outcome]:
    """Return the intervals of all measures with a true value, of uncalibrated scores."""
    return {
        f"{row['measure']} {label}": Bounds(row["low"], row["high"], truth[row["measure"]])
        for row in rows
        if row["measure"] in truth and row.get("scores") in (None, "as given") and row["low"] is not None
    }


def audit_label_shift(
    rng: np.random.Generator, *, classes: Classes, sizes: Sizes, others: tuple[str, ...] = ()
) -> dict[str, Outcome]:
    """Estimate the prevalence, measures at it, and measures without labels under label shift."""
    validation = tally(*classes.draw(rng, sizes.validation, sizes.at))
    target = Target(classes.draw(rng, sizes.target, sizes.share)[1])
    prevalence = shift.estimate_prevalence(target, validation)
    outcomes: dict[str, Outcome] = {
        "prevalence": Bounds(prevalence.estimate.low, prevalence.estimate.high, sizes.share)
    }
    for method in others:
        estimate = shift.estimate_prevalence(target, validation, method=method).estimate
        outcomes[f"prevalence: {method}"] = Bounds(estimate.low, estimate.high, sizes.share)
    truth = true_values_at_share(classes, sizes.share)
    names = ("precision", "npv", "f1")
    outcomes |= _outcomes(
        shift.adjusted_summary(prevalence, measures=names, threshold=_THRESHOLD).rows(), truth, "at the estimate"
    )
    results = shift.estimate_performance(
        target, validation, assume="label shift", measures=("precision", "accuracy", "brier")
    )
    return outcomes | _outcomes(results.rows(), truth, "without labels")


def audit_weighted_rows(rng: np.random.Generator) -> dict[str, Outcome]:
    """Estimate the prevalence where rows of both sets have random weights between 0.5 and 1.5."""
    truth, score = UNEQUAL.draw(rng, 1000, 0.4)
    validation = tally(truth, score, weight=rng.uniform(0.5, 1.5, 1000))
    target = Target.of_rows(UNEQUAL.draw(rng, 2000, 0.15)[1], weight=rng.uniform(0.5, 1.5, 2000))
    estimate = shift.estimate_prevalence(target, validation).estimate
    return {"prevalence": Bounds(estimate.low, estimate.high, 0.15)}


def audit_partly_labelled(rng: np.random.Generator) -> dict[str, Outcome]:
    """Estimate the prevalence where 200 of 2000 target rows are labelled."""
    validation = tally(*UNEQUAL.draw(rng, 500, 0.4))
    labelled = tally(*UNEQUAL.draw(rng, 200, 0.1))
    target = Target(UNEQUAL.draw(rng, 1800, 0.1)[1], labelled=labelled)
    estimate = shift.estimate_prevalence(target, validation).estimate
    return {"prevalence": Bounds(estimate.low, estimate.high, 0.1)}


def audit_warning(rng: np.random.Generator, *, classes: Classes, sizes: Sizes) -> dict[str, Outcome]:
    """Test for label shift where the assumption holds."""
    validation = tally(*classes.draw(rng, sizes.validation, sizes.at))
    target = Target(classes.draw(rng, sizes.target, sizes.share)[1])
    return {"label-shift warning": Rejection(shift.label_shift_test(target, validation).rejected)}


CurveName = Literal["calibrated", "quadratic", "convex", "threshold", "wave", "rare", "steep"]


def event_probability(curve: CurveName, score: Floats) -> Floats:
    """Compute the probability of the positive class at each score."""
    curves: dict[str, Callable[[], Floats]] = {
        "calibrated": lambda: score,
        "quadratic": lambda: 0.05 + 2.5 * (score - 0.4) ** 2,
        "convex": lambda: score**2,
        "threshold": lambda: np.where(score < 0.6, 0.1, 0.8),
        "wave": lambda: 0.5 + 0.4 * np.sin(7 * score),
        "rare": lambda: 0.15 * score**1.5,
        "steep": lambda: np.asarray(expit(12 * (score - 0.55))),
    }
    return np.asarray(curves[curve](), dtype=np.float64)


class Scores(NamedTuple):
    """Number of rows, and parameters of the beta distribution of scores, in validation and target."""

    validation: int
    before: tuple[float, float]
    target: int
    after: tuple[float, float]


@cache
def true_values_at_scores(curve: CurveName, after: tuple[float, float]) -> dict[str, float]:
    """Compute the true measures for scores with a beta distribution, from sums over its quantiles."""
    score = stats.beta(*after).ppf((np.arange(_GRID) + 0.5) / _GRID)
    p = event_probability(curve, score)
    return integrate_measures(score, p / _GRID, (1 - p) / _GRID)


def audit_covariate_shift(
    rng: np.random.Generator, *, curve: CurveName, scores: Scores, logistic: bool = False
) -> dict[str, Outcome]:
    """Estimate measures without labels under covariate shift."""
    before, target = rng.beta(*scores.before, scores.validation), Target(rng.beta(*scores.after, scores.target))
    validation = tally(rng.random(scores.validation) < event_probability(curve, before), before)
    names = ("sensitivity", "accuracy", "auc", "brier")
    truth = {name: true_values_at_scores(curve, scores.after)[name] for name in names}
    estimate = partial(shift.estimate_performance, target, validation, assume="covariate shift", measures=names)
    try:
        outcomes = _outcomes(estimate().rows(), truth, "without labels")
    except FitError:
        return {f"{name} without labels": Refusal("the target leaves the scores of validation") for name in names}
    if logistic:
        outcomes |= _outcomes(estimate(recalibrate="logistic").rows(), truth, "without labels: logistic")
    return outcomes


def _label_shift_scenario(name: str, classes: Classes, sizes: Sizes, others: tuple[str, ...] = ()) -> Scenario:
    return Scenario(name, partial(audit_label_shift, classes=classes, sizes=sizes, others=others), share=0.5)


def _covariate_scenario(name: str, curve: CurveName, scores: Scores, *, logistic: bool = False) -> Scenario:
    return Scenario(name, partial(audit_covariate_shift, curve=curve, scores=scores, logistic=logistic))


SCENARIOS = (
    _label_shift_scenario("unequal variances, 2000/5000 rows", UNEQUAL, Sizes(2000, 0.4, 5000, 0.1), ("pacc", "mlls")),
    _label_shift_scenario("unequal variances, 300/1000 rows", UNEQUAL, Sizes(300, 0.4, 1000, 0.1), ("pacc", "mlls")),
    _label_shift_scenario("two normal classes, 1000/1000 rows", NORMAL, Sizes(1000, 0.3, 1000, 0.3), ("pacc", "mlls")),
    _label_shift_scenario("two normal classes, 300/1000 rows", NORMAL, Sizes(300, 0.4, 1000, 0.1), ("pacc", "mlls")),
    _label_shift_scenario("positives vary little, 1000/2000 rows", NARROW, Sizes(1000, 0.4, 2000, 0.1)),
    _label_shift_scenario("scores of one digit, 500/1000 rows", TIES, Sizes(500, 0.4, 1000, 0.15)),
    _label_shift_scenario("heavy tails, 500/1000 rows", HEAVY, Sizes(500, 0.4, 1000, 0.2)),
    _label_shift_scenario("skewed classes, from 5 to 20%", SKEWED, Sizes(2000, 0.05, 3000, 0.2)),
    _label_shift_scenario("strong scores, from 50 to 2%", STRONG, Sizes(500, 0.5, 2000, 0.02)),
    _label_shift_scenario("unequal variances, from 30 to 90%", UNEQUAL, Sizes(500, 0.3, 1000, 0.9)),
    Scenario("unequal variances, weighted rows", audit_weighted_rows),
    Scenario("unequal variances, 200 target rows with labels", audit_partly_labelled),
    Scenario(
        "label shift, unequal variances", partial(audit_warning, classes=UNEQUAL, sizes=Sizes(1000, 0.4, 2000, 0.1))
    ),
    Scenario(
        "label shift, two normal classes", partial(audit_warning, classes=NORMAL, sizes=Sizes(300, 0.4, 1000, 0.15))
    ),
    _covariate_scenario(
        "covariate shift, quadratic curve, 2000/5000 rows",
        "quadratic",
        Scores(2000, (1, 1), 5000, (2, 4)),
        logistic=True,
    ),
    _covariate_scenario(
        "covariate shift, threshold curve, 2000/5000 rows",
        "threshold",
        Scores(2000, (1, 1), 5000, (2, 4)),
        logistic=True,
    ),
    _covariate_scenario("covariate shift, convex curve, 2000/5000 rows", "convex", Scores(2000, (1, 1), 5000, (2, 4))),
    _covariate_scenario("covariate shift, wave, 2000/5000 rows", "wave", Scores(2000, (1, 1), 5000, (2, 4))),
    _covariate_scenario(
        "covariate shift, quadratic curve, 300/1000 rows", "quadratic", Scores(300, (1, 1), 1000, (2, 4))
    ),
    _covariate_scenario(
        "covariate shift, threshold curve, 300/1000 rows", "threshold", Scores(300, (1, 1), 1000, (2, 4))
    ),
    _covariate_scenario(
        "covariate shift, calibrated", "calibrated", Scores(1000, (1.2, 1.6), 1000, (1.6, 1.2)), logistic=True
    ),
    _covariate_scenario("covariate shift, rare positives", "rare", Scores(3000, (0.6, 2), 3000, (1, 2))),
    _covariate_scenario("covariate shift, steep curve", "steep", Scores(500, (1, 1), 1000, (0.6, 0.6))),
    _covariate_scenario("covariate shift beyond validation", "quadratic", Scores(300, (2, 8), 1000, (8, 2))),
)
