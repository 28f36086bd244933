"""Scenarios of the coverage audit: calibration slope and intercepts, losses, and tests of calibration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from math import isnan, log, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_expit, logit, stdtrit

from baserate import Tally, infer
from baserate.measure import MEASURES
from bench._audit import Bounds, Floats, Outcome, Refusal, Rejection, Scenario

LINE_MEASURES = ("calibration_slope", "calibration_intercept", "calibration_in_the_large")
LOSS_MEASURES = ("brier", "log_loss", "brier_skill", "log_loss_skill")
Bools = np.typing.NDArray[np.bool_]
Draw = Callable[[np.random.Generator, int], tuple[Floats, Bools]]
"""Function that draws the log-odds of a model, and outcomes."""

_LARGE = 2_000_000
"""Rows of the sample that true values come from."""


def normal(
    rng: np.random.Generator, n: int, *, prevalence: float = 0.3, separation: float = 1.5, times: float = 1.0
) -> tuple[Floats, Bools]:
    """Two normal classes; the log-odds are calibrated, times a factor."""
    truth = rng.random(n) < prevalence
    score = rng.standard_normal(n) + separation * truth
    return times * (logit(prevalence) + separation * (score - separation / 2)), truth


def heavy_tails(rng: np.random.Generator, n: int, *, freedom: float = 3.0) -> tuple[Floats, Bools]:
    """Two classes with t distributions, and the log-odds of normal ones."""
    truth = rng.random(n) < 0.3
    score = rng.standard_t(freedom, n) + 1.5 * truth
    # Log-odds below about −745 or above about 36.7 give probabilities of exactly 0 or 1, and infinite losses.
    return np.clip(logit(0.3) + 1.5 * (score - 0.75), -700, 36), truth


def saturating(rng: np.random.Generator, n: int) -> tuple[Floats, Bools]:
    """Event probabilities that stay between 0.1 and 0.7."""
    x = rng.normal(-1, 2, n)
    return x, rng.random(n) < 0.1 + 0.6 * expit(2 * x)


def inverted_scores(rng: np.random.Generator, n: int) -> tuple[Floats, Bools]:
    """Scores of the wrong sign."""
    x, truth = normal(rng, n, separation=1.0)
    return -1.5 * x, truth


def unequal_variances(rng: np.random.Generator, n: int) -> tuple[Floats, Bools]:
    """Positives with twice the standard deviation."""
    truth = rng.random(n) < 0.3
    score = rng.standard_normal(n) * (1 + truth) + 1.5 * truth
    return logit(0.3) + 1.5 * (score - 0.75), truth


def quadratic(rng: np.random.Generator, n: int) -> tuple[Floats, Bools]:
    """A calibration curve that falls before it rises."""
    x = rng.normal(0, 1.5, n)
    return x, rng.random(n) < expit(-1 + 0.5 * x * x - 0.3 * x)


@cache
def true_values(draw: Draw, names: tuple[str, ...]) -> Mapping[str, float]:
    """Compute the values in a very large sample, without the code under audit."""
    # Functions hash by identity: scenarios of the same distribution share one, and this sample.
    x, y = draw(np.random.default_rng(20), _LARGE)
    return {name: _fit_line(x, y)[name] if name in LINE_MEASURES else _mean_loss(x, y, name) for name in names}


def _fit_line(x: Floats, y: Bools) -> Mapping[str, float]:
    """Fit the calibration line, and the intercept for a slope of 1, by Newton's method with bounded steps."""
    beta = np.zeros(2)
    design = np.stack([np.ones_like(x), x])
    for _ in range(50):
        p = expit(beta @ design)
        step = np.linalg.solve((design * (p * (1 - p))) @ design.T, design @ (y - p))
        # Full Newton steps may overshoot into the flat part of the likelihood, and diverge.
        beta = beta + step * min(1.0, 2 / np.abs(step).max())
        if np.abs(step).max() < 1e-10:
            break
    intercept = 0.0
    for _ in range(50):
        p = expit(x + intercept)
        intercept += float(np.clip((y - p).sum() / (p * (1 - p)).sum(), -2, 2))
    return dict(zip(LINE_MEASURES, (beta[1], beta[0], intercept), strict=True))


def _mean_loss(x: Floats, y: Bools, name: str) -> float:
    share = y.mean()
    if name.startswith("brier"):
        loss, constant = float(np.mean((expit(x) - y) ** 2)), share * (1 - share)
    else:
        loss = float(np.mean(np.where(y, -log_expit(x), -log_expit(-x))))
        constant = -share * log(share) - (1 - share) * log(1 - share)
    return 1 - loss / constant if name.endswith("skill") else loss


class MeasureAudit(NamedTuple):
    """Intervals of measures of samples of one size."""

    draw: Draw
    rows: int
    names: tuple[str, ...]

    def replicate(self, rng: np.random.Generator) -> Mapping[str, Outcome]:
        """Draw a sample, and estimate each measure."""
        truths = true_values(self.draw, self.names)
        x, y = self.draw(rng, self.rows)
        t = Tally.of_rows(y, expit(x))
        outcomes: dict[str, Outcome] = {}
        for name in self.names:
            label = name.replace("_", " ")
            number = infer.estimate(name, t)
            if isnan(number.low):
                outcomes[label] = Refusal(number.why or "")
                continue
            outcomes[label] = Bounds(number.low, number.high, truths[name])
            for method, (low, high) in _textbook_intervals(name, x, y).items():
                outcomes[f"{label}: {method}"] = Bounds(low, high, truths[name])
        return outcomes


def _textbook_intervals(name: str, x: Floats, y: Bools) -> Mapping[str, tuple[float, float]]:
    """Compute textbook intervals of the same measure."""
    n = len(x)
    if name in LINE_MEASURES:
        value, variances = _line_variances(name, x, y)
        return {kind: _t_interval(value, sqrt(variance), n - 2) for kind, variance in variances.items()}
    if name in ("brier", "log_loss"):
        loss = (expit(x) - y) ** 2 if name == "brier" else np.where(y, -log_expit(x), -log_expit(-x))
        return {"mean, t": _t_interval(float(loss.mean()), float(loss.std(ddof=1)) / sqrt(n), n - 1)}
    return {}


def _line_variances(name: str, x: Floats, y: Bools) -> tuple[float, Mapping[str, float]]:
    """Return a measure of the line, and its variance by the model and by the sandwich estimator HC0."""
    fit = _fit_line(x, y)
    design = np.ones((1, len(x))) if name == LINE_MEASURES[2] else np.stack([np.ones_like(x), x])
    line = x + fit[LINE_MEASURES[2]] if name == LINE_MEASURES[2] else fit[LINE_MEASURES[1]] + fit[LINE_MEASURES[0]] * x
    p, at = expit(line), 1 if name == LINE_MEASURES[0] else 0
    inverse = np.linalg.inv((design * (p * (1 - p))) @ design.T)
    score = (inverse @ design)[at] * (y - p)
    return fit[name], {"model variance": float(inverse[at, at]), "HC0": float(np.sum(score**2))}


def _t_interval(value: float, error: float, freedom: float) -> tuple[float, float]:
    half = float(stdtrit(freedom, 0.975)) * error
    return value - half, value + half


def audit_infinite_loss(draw: Draw, rows: int, rng: np.random.Generator, *, infinite: bool) -> Mapping[str, Outcome]:
    """Check that the log loss has an interval exactly where its expectation is finite."""
    x, y = draw(rng, rows)
    number = infer.estimate("log_loss", Tally.of_rows(y, expit(x)))
    refused = isnan(number.low)
    if infinite:
        return {"interval of an infinite log loss": Rejection(not refused)}
    return {"false refusal": Rejection(refused, 0.01)}


def ordinal(rng: np.random.Generator, n: int) -> tuple[Floats, Bools]:
    """Calibrated probabilities with five values."""
    p = rng.choice([0.05, 0.15, 0.3, 0.5, 0.8], n)
    return logit(p), rng.random(n) < p


def rare_ordinal(rng: np.random.Generator, n: int) -> tuple[Floats, Bools]:
    """Calibrated probabilities with five small values."""
    p = rng.choice([0.005, 0.01, 0.02, 0.05, 0.1], n)
    return logit(p), rng.random(n) < p


def audit_tests(draw: Draw, rows: int, rng: np.random.Generator, *, weighted: bool = False) -> Mapping[str, Outcome]:
    """Compute all tests of calibration for calibrated probabilities, and after refitting the line."""
    x, y = draw(rng, rows)
    weight = np.exp(0.7 * rng.standard_normal(rows)) if weighted else None
    t = Tally.of_rows(y, expit(x), weight=weight)
    checks = {check.name: check for check in infer.calibration_tests(t)} | {"slope": infer.slope_test(t)}
    outcomes: dict[str, Outcome] = {
        f"{name} test": Rejection(check.p < 0.05) for name, check in checks.items() if not isnan(check.p)
    }
    if weighted:
        return outcomes
    outcomes["hosmer_lemeshow test, said to be fitted"] = Rejection(infer.hosmer_lemeshow(t, fitted=True).p < 0.05)
    slope, intercept = MEASURES["calibration_slope"](t), MEASURES["calibration_intercept"](t)
    if not isnan(slope):
        refitted = infer.hosmer_lemeshow(Tally.of_rows(y, expit(intercept + slope * x)), fitted=True)
        outcomes["hosmer_lemeshow test, refitted"] = Rejection(refitted.p < 0.05)
    return outcomes


def calibrated(rng: np.random.Generator, n: int) -> tuple[Floats, Bools]:
    """Calibrated log-odds of one normal distribution."""
    x = -1 + 1.2 * rng.standard_normal(n)
    return x, rng.random(n) < expit(x)


def _scenario(name: str, draw: Draw, rows: int, names: tuple[str, ...]) -> Scenario:
    return Scenario(f"{name}, {rows} rows", MeasureAudit(draw, rows, names).replicate)


underconfident = partial(normal, separation=3.0, times=0.2)
underconfident_rare = partial(normal, prevalence=0.05, separation=4.0, times=0.3)
overconfident = partial(normal, times=3.0)
confident = partial(normal, prevalence=0.1, separation=3.3)

SCENARIOS = (
    *(_scenario("two normals", normal, rows, LINE_MEASURES) for rows in (150, 1000)),
    *(_scenario("heavy tails (t3)", heavy_tails, rows, LINE_MEASURES) for rows in (150, 1000)),
    *(_scenario("saturating", saturating, rows, LINE_MEASURES) for rows in (150, 1000)),
    *(_scenario("inverted", inverted_scores, rows, LINE_MEASURES) for rows in (150, 1000)),
    _scenario("unequal variances", unequal_variances, 1000, LINE_MEASURES),
    _scenario("quadratic", quadratic, 300, LINE_MEASURES),
    _scenario("losses of two normals", normal, 1000, LOSS_MEASURES),
    *(_scenario("underconfident", underconfident, rows, LOSS_MEASURES) for rows in (100, 1000)),
    _scenario("underconfident, 5% positive", underconfident_rare, 1000, LOSS_MEASURES),
    _scenario("overconfident", overconfident, 200, LOSS_MEASURES),
    *(_scenario("confident, 10% positive", confident, rows, LOSS_MEASURES) for rows in (100, 1000)),
    *(
        Scenario(
            f"Cauchy scores, {rows} rows",
            partial(audit_infinite_loss, partial(heavy_tails, freedom=1.0), rows, infinite=True),
        )
        for rows in (300, 1000)
    ),
    *(
        Scenario(
            f"log loss of normal scores, {rows} rows",
            partial(audit_infinite_loss, normal, rows, infinite=False),
        )
        for rows in (200, 1000)
    ),
    Scenario("five-point score, 300 rows", partial(audit_tests, ordinal, 300), 0.6),
    Scenario("five small probabilities, 300 rows", partial(audit_tests, rare_ordinal, 300), 0.4),
    Scenario("calibrated, 300 rows", partial(audit_tests, calibrated, 300), 0.4),
    Scenario("calibrated, weighted, 300 rows", partial(audit_tests, calibrated, 300, weighted=True), 0.4),
)
