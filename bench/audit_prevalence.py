"""Scenarios of prevalence estimates, measures at them, measures without labels, and the label-shift warning."""

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

_CUT = 0.5
_GRID = 400_001
"""Points of the quadrature that true values come from."""


class Classes(NamedTuple):
    """Log-odds of scores in both classes, as frozen distributions of SciPy; the score is their logistic function."""

    positive: Any
    negative: Any
    digits: int | None = None
    """To which scores are rounded, so that there are ties."""

    def draw(self, rng: np.random.Generator, n: int, share: float) -> tuple[npt.NDArray[np.bool_], Floats]:
        """Truth and scores."""
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
def at_share(classes: Classes, share: float) -> dict[str, float]:
    """True measures of decisions at ½ and of the score, where so many are positive; by sums over a grid."""
    x = np.linspace(-40, 40, _GRID)
    step = x[1] - x[0]
    score = expit(x)
    if classes.digits is not None:
        score = score.round(classes.digits)
    first, second = (each.pdf(x) * step for each in (classes.positive, classes.negative))
    first, second = share * first / first.sum(), (1 - share) * second / second.sum()
    return measures_of(score, first, second)


def measures_of(score: Floats, first: Floats, second: Floats) -> dict[str, float]:
    """Measures of masses of both classes at rising scores; without ties, but for the AUC, which is not taken then."""
    flagged = score >= _CUT
    tp, fp, fn, tn = first[flagged].sum(), second[flagged].sum(), first[~flagged].sum(), second[~flagged].sum()
    below = np.cumsum(second) - second / 2
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


def _outcomes(rows: Sequence[Mapping[str, Any]], truth: Mapping[str, float], what: str) -> dict[str, Outcome]:
    """Bounds of all measures whose true value is known, of scores as they are."""
    return {
        f"{row['measure']} {what}": Bounds(row["low"], row["high"], truth[row["measure"]])
        for row in rows
        if row["measure"] in truth and row.get("scores") in (None, "as given") and row["low"] is not None
    }


def estimated(
    rng: np.random.Generator, *, classes: Classes, sizes: Sizes, others: tuple[str, ...] = ()
) -> dict[str, Outcome]:
    """The prevalence, measures at it, and measures without labels under label shift."""
    validation = tally(*classes.draw(rng, sizes.validation, sizes.at))
    target = Target(classes.draw(rng, sizes.target, sizes.share)[1])
    made = shift.estimate_prevalence(target, validation)
    found: dict[str, Outcome] = {"prevalence": Bounds(made.estimate.low, made.estimate.high, sizes.share)}
    for method in others:
        other = shift.estimate_prevalence(target, validation, method=method).estimate
        found[f"prevalence: {method}"] = Bounds(other.low, other.high, sizes.share)
    truth = at_share(classes, sizes.share)
    names = ("precision", "npv", "f1")
    found |= _outcomes(shift.adjusted_summary(made, measures=names, threshold=_CUT).rows(), truth, "at the estimate")
    free = shift.estimate_performance(
        target, validation, assume="label shift", measures=("precision", "accuracy", "brier")
    )
    return found | _outcomes(free.rows(), truth, "without labels")


def weighted(rng: np.random.Generator) -> dict[str, Outcome]:
    """The prevalence where rows of both sets have weights that vary threefold, and do not depend on anything."""
    truth, score = UNEQUAL.draw(rng, 1000, 0.4)
    validation = tally(truth, score, weight=rng.uniform(0.5, 1.5, 1000))
    target = Target.of_rows(UNEQUAL.draw(rng, 2000, 0.15)[1], weight=rng.uniform(0.5, 1.5, 2000))
    found = shift.estimate_prevalence(target, validation).estimate
    return {"prevalence": Bounds(found.low, found.high, 0.15)}


def partly_labelled(rng: np.random.Generator) -> dict[str, Outcome]:
    """The prevalence where the truth is known of 200 of 2000 rows of the target."""
    validation = tally(*UNEQUAL.draw(rng, 500, 0.4))
    known = tally(*UNEQUAL.draw(rng, 200, 0.1))
    target = Target(UNEQUAL.draw(rng, 1800, 0.1)[1], labelled=known)
    found = shift.estimate_prevalence(target, validation).estimate
    return {"prevalence": Bounds(found.low, found.high, 0.1)}


def warned(rng: np.random.Generator, *, classes: Classes, sizes: Sizes) -> dict[str, Outcome]:
    """Whether label shift is called doubtful, although it is label shift."""
    validation = tally(*classes.draw(rng, sizes.validation, sizes.at))
    target = Target(classes.draw(rng, sizes.target, sizes.share)[1])
    return {"label-shift warning": Rejection(shift.label_shift_test(target, validation).rejected)}


Curve = Literal["calibrated", "quadratic", "convex", "threshold", "wave", "rare", "steep"]


def chance(curve: Curve, score: Floats) -> Floats:
    """Chance of the positive class at each score."""
    found: dict[str, Callable[[], Floats]] = {
        "calibrated": lambda: score,
        "quadratic": lambda: 0.05 + 2.5 * (score - 0.4) ** 2,
        "convex": lambda: score**2,
        "threshold": lambda: np.where(score < 0.6, 0.1, 0.8),
        "wave": lambda: 0.5 + 0.4 * np.sin(7 * score),
        "rare": lambda: 0.15 * score**1.5,
        "steep": lambda: np.asarray(expit(12 * (score - 0.55))),
    }
    return np.asarray(found[curve](), dtype=np.float64)


class Scores(NamedTuple):
    """Rows and beta distributions of scores in validation and target."""

    validation: int
    before: tuple[float, float]
    target: int
    after: tuple[float, float]


@cache
def at_scores(curve: Curve, after: tuple[float, float]) -> dict[str, float]:
    """True measures where scores have a beta distribution; by sums over its quantiles."""
    score = stats.beta(*after).ppf((np.arange(_GRID) + 0.5) / _GRID)
    p = chance(curve, score)
    return measures_of(score, p / _GRID, (1 - p) / _GRID)


def covariate(rng: np.random.Generator, *, curve: Curve, scores: Scores, logistic: bool = False) -> dict[str, Outcome]:
    """Measures without labels under covariate shift."""
    before, target = rng.beta(*scores.before, scores.validation), Target(rng.beta(*scores.after, scores.target))
    validation = tally(rng.random(scores.validation) < chance(curve, before), before)
    names = ("sensitivity", "accuracy", "auc", "brier")
    truth = {name: at_scores(curve, scores.after)[name] for name in names}
    made = partial(shift.estimate_performance, target, validation, assume="covariate shift", measures=names)
    try:
        found = _outcomes(made().rows(), truth, "without labels")
    except FitError:
        return {f"{name} without labels": Refusal("the target leaves the scores of validation") for name in names}
    if logistic:
        found |= _outcomes(made(recalibrate="logistic").rows(), truth, "without labels: logistic")
    return found


def _estimate(name: str, classes: Classes, sizes: Sizes, others: tuple[str, ...] = ()) -> Scenario:
    return Scenario(name, partial(estimated, classes=classes, sizes=sizes, others=others), share=0.5)


def _covariate(name: str, curve: Curve, scores: Scores, *, logistic: bool = False) -> Scenario:
    return Scenario(name, partial(covariate, curve=curve, scores=scores, logistic=logistic))


SCENARIOS = (
    _estimate("unequal variances, 2000/5000 rows", UNEQUAL, Sizes(2000, 0.4, 5000, 0.1), ("pacc", "mlls")),
    _estimate("unequal variances, 300/1000 rows", UNEQUAL, Sizes(300, 0.4, 1000, 0.1), ("pacc", "mlls")),
    _estimate("two normal classes, 1000/1000 rows", NORMAL, Sizes(1000, 0.3, 1000, 0.3), ("pacc", "mlls")),
    _estimate("two normal classes, 300/1000 rows", NORMAL, Sizes(300, 0.4, 1000, 0.1), ("pacc", "mlls")),
    _estimate("positives vary little, 1000/2000 rows", NARROW, Sizes(1000, 0.4, 2000, 0.1)),
    _estimate("scores of one digit, 500/1000 rows", TIES, Sizes(500, 0.4, 1000, 0.15)),
    _estimate("heavy tails, 500/1000 rows", HEAVY, Sizes(500, 0.4, 1000, 0.2)),
    _estimate("skewed classes, from 5 to 20 %", SKEWED, Sizes(2000, 0.05, 3000, 0.2)),
    _estimate("strong scores, from 50 to 2 %", STRONG, Sizes(500, 0.5, 2000, 0.02)),
    _estimate("unequal variances, from 30 to 90 %", UNEQUAL, Sizes(500, 0.3, 1000, 0.9)),
    Scenario("unequal variances, weighted rows", weighted),
    Scenario("unequal variances, 200 target rows with labels", partly_labelled),
    Scenario("label shift, unequal variances", partial(warned, classes=UNEQUAL, sizes=Sizes(1000, 0.4, 2000, 0.1))),
    Scenario("label shift, two normal classes", partial(warned, classes=NORMAL, sizes=Sizes(300, 0.4, 1000, 0.15))),
    _covariate(
        "covariate shift, quadratic curve, 2000/5000 rows",
        "quadratic",
        Scores(2000, (1, 1), 5000, (2, 4)),
        logistic=True,
    ),
    _covariate(
        "covariate shift, threshold curve, 2000/5000 rows",
        "threshold",
        Scores(2000, (1, 1), 5000, (2, 4)),
        logistic=True,
    ),
    _covariate("covariate shift, convex curve, 2000/5000 rows", "convex", Scores(2000, (1, 1), 5000, (2, 4))),
    _covariate("covariate shift, wave, 2000/5000 rows", "wave", Scores(2000, (1, 1), 5000, (2, 4))),
    _covariate("covariate shift, quadratic curve, 300/1000 rows", "quadratic", Scores(300, (1, 1), 1000, (2, 4))),
    _covariate("covariate shift, threshold curve, 300/1000 rows", "threshold", Scores(300, (1, 1), 1000, (2, 4))),
    _covariate("covariate shift, calibrated", "calibrated", Scores(1000, (1.2, 1.6), 1000, (1.6, 1.2)), logistic=True),
    _covariate("covariate shift, rare positives", "rare", Scores(3000, (0.6, 2), 3000, (1, 2))),
    _covariate("covariate shift, steep curve", "steep", Scores(500, (1, 1), 1000, (0.6, 0.6))),
    _covariate("covariate shift beyond validation", "quadratic", Scores(300, (2, 8), 1000, (8, 2))),
)
