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

LINE = ("calibration_slope", "calibration_intercept", "calibration_in_the_large")
LOSSES = ("brier", "log_loss", "brier_skill", "log_loss_skill")
Bools = np.typing.NDArray[np.bool_]
Draw = Callable[[np.random.Generator, int], tuple[Floats, Bools]]
"""Log-odds that a model states, and outcomes."""

_LARGE = 2_000_000


def normal(
    rng: np.random.Generator, n: int, *, prevalence: float = 0.3, apart: float = 1.5, times: float = 1.0
) -> tuple[Floats, Bools]:
    """Two normal classes; the log-odds are right, times a factor."""
    truth = rng.random(n) < prevalence
    score = rng.standard_normal(n) + apart * truth
    return times * (logit(prevalence) + apart * (score - apart / 2)), truth


def heavy(rng: np.random.Generator, n: int, *, freedom: float = 3.0) -> tuple[Floats, Bools]:
    """Two classes with t distributions, and the line of normal ones; log-odds end where probabilities do."""
    truth = rng.random(n) < 0.3
    score = rng.standard_t(freedom, n) + 1.5 * truth
    return np.clip(logit(0.3) + 1.5 * (score - 0.75), -700, 36), truth


def saturating(rng: np.random.Generator, n: int) -> tuple[Floats, Bools]:
    """Chances that stay between 0.1 and 0.7."""
    x = rng.normal(-1, 2, n)
    return x, rng.random(n) < 0.1 + 0.6 * expit(2 * x)


def inverted(rng: np.random.Generator, n: int) -> tuple[Floats, Bools]:
    """Scores of the wrong sign."""
    x, truth = normal(rng, n, apart=1.0)
    return -1.5 * x, truth


def unequal(rng: np.random.Generator, n: int) -> tuple[Floats, Bools]:
    """Positives that spread twice as far."""
    truth = rng.random(n) < 0.3
    score = rng.standard_normal(n) * (1 + truth) + 1.5 * truth
    return logit(0.3) + 1.5 * (score - 0.75), truth


def quadratic(rng: np.random.Generator, n: int) -> tuple[Floats, Bools]:
    """A calibration curve that falls before it rises."""
    x = rng.normal(0, 1.5, n)
    return x, rng.random(n) < expit(-1 + 0.5 * x * x - 0.3 * x)


@cache
def truths(draw: Draw, names: tuple[str, ...]) -> Mapping[str, float]:
    """Values in one very large sample, by means and Newton's method of this file."""
    x, y = draw(np.random.default_rng(20), _LARGE)
    return {name: _line(x, y)[name] if name in LINE else _loss(x, y, name) for name in names}


def _line(x: Floats, y: Bools) -> Mapping[str, float]:
    beta = np.zeros(2)
    design = np.stack([np.ones_like(x), x])
    for _ in range(50):
        p = expit(beta @ design)
        step = np.linalg.solve((design * (p * (1 - p))) @ design.T, design @ (y - p))
        beta = beta + step * min(1.0, 2 / np.abs(step).max())
        if np.abs(step).max() < 1e-10:
            break
    added = 0.0
    for _ in range(50):
        p = expit(x + added)
        added += float(np.clip((y - p).sum() / (p * (1 - p)).sum(), -2, 2))
    return dict(zip(LINE, (beta[1], beta[0], added), strict=True))


def _loss(x: Floats, y: Bools, name: str) -> float:
    share = y.mean()
    if name.startswith("brier"):
        loss, constant = float(np.mean((expit(x) - y) ** 2)), share * (1 - share)
    else:
        loss = float(np.mean(np.where(y, -log_expit(x), -log_expit(-x))))
        constant = -share * log(share) - (1 - share) * log(1 - share)
    return 1 - loss / constant if name.endswith("skill") else loss


class Sampled(NamedTuple):
    """Replicates of measures of samples of one size."""

    draw: Draw
    rows: int
    names: tuple[str, ...]

    def replicate(self, rng: np.random.Generator) -> Mapping[str, Outcome]:
        """Draw a sample, and estimate each measure."""
        wanted = truths(self.draw, self.names)
        x, y = self.draw(rng, self.rows)
        t = Tally.of_rows(y, expit(x))
        found: dict[str, Outcome] = {}
        for name in self.names:
            label = name.replace("_", " ")
            number = infer.estimate(name, t)
            if isnan(number.low):
                found[label] = Refusal(number.why or "")
                continue
            found[label] = Bounds(number.low, number.high, wanted[name])
            for other, (low, high) in _others(name, x, y).items():
                found[f"{label}: {other}"] = Bounds(low, high, wanted[name])
        return found


def _others(name: str, x: Floats, y: Bools) -> Mapping[str, tuple[float, float]]:
    """Textbook intervals of the same number."""
    n = len(x)
    if name in LINE:
        value, variances = _wald(name, x, y)
        return {kind: _reach(value, sqrt(each), n - 2) for kind, each in variances.items()}
    if name in ("brier", "log_loss"):
        loss = (expit(x) - y) ** 2 if name == "brier" else np.where(y, -log_expit(x), -log_expit(-x))
        return {"mean, t": _reach(float(loss.mean()), float(loss.std(ddof=1)) / sqrt(n), n - 1)}
    return {}


def _wald(name: str, x: Floats, y: Bools) -> tuple[float, Mapping[str, float]]:
    """Value, and its variance by the model and by the plain sandwich."""
    found = _line(x, y)
    design = np.ones((1, len(x))) if name == LINE[2] else np.stack([np.ones_like(x), x])
    line = x + found[LINE[2]] if name == LINE[2] else found[LINE[1]] + found[LINE[0]] * x
    p, at = expit(line), 1 if name == LINE[0] else 0
    inverse = np.linalg.inv((design * (p * (1 - p))) @ design.T)
    score = (inverse @ design)[at] * (y - p)
    return found[name], {"model variance": float(inverse[at, at]), "HC0": float(np.sum(score**2))}


def _reach(value: float, error: float, freedom: float) -> tuple[float, float]:
    half = float(stdtrit(freedom, 0.975)) * error
    return value - half, value + half


def tail_replicate(draw: Draw, rows: int, *, infinite: bool, rng: np.random.Generator) -> Mapping[str, Outcome]:
    """Whether the log loss got an interval although its expectation is infinite, or none although it is finite."""
    x, y = draw(rng, rows)
    number = infer.estimate("log_loss", Tally.of_rows(y, expit(x)))
    refused = isnan(number.low)
    return {
        "interval of an infinite log loss" if infinite else "false refusal": Rejection(
            refused != infinite, 0.01 + 0.055 * infinite
        )
    }


def ordinal(rng: np.random.Generator, n: int) -> tuple[Floats, Bools]:
    """Probabilities of five values, all right."""
    p = rng.choice([0.05, 0.15, 0.3, 0.5, 0.8], n)
    return logit(p), rng.random(n) < p


def rare_ordinal(rng: np.random.Generator, n: int) -> tuple[Floats, Bools]:
    """Five small probabilities, all right."""
    p = rng.choice([0.005, 0.01, 0.02, 0.05, 0.1], n)
    return logit(p), rng.random(n) < p


def check_sizes(draw: Draw, rows: int, *, weighted: bool = False, rng: np.random.Generator) -> Mapping[str, Outcome]:
    """Type-I errors of all tests of calibration, of probabilities that are right and after refitting the line."""
    x, y = draw(rng, rows)
    weight = np.exp(0.7 * rng.standard_normal(rows)) if weighted else None
    t = Tally.of_rows(y, expit(x), weight=weight)
    checks = {check.name: check for check in infer.calibration_tests(t)} | {"slope": infer.slope_test(t)}
    found: dict[str, Outcome] = {
        f"{name} test": Rejection(check.p < 0.05) for name, check in checks.items() if not isnan(check.p)
    }
    if weighted:
        return found
    found["hosmer_lemeshow test, said to be fitted"] = Rejection(infer.hosmer_lemeshow(t, fitted=True).p < 0.05)
    slope, intercept = MEASURES["calibration_slope"](t), MEASURES["calibration_intercept"](t)
    if not isnan(slope):
        again = infer.hosmer_lemeshow(Tally.of_rows(y, expit(intercept + slope * x)), fitted=True)
        found["hosmer_lemeshow test, refitted"] = Rejection(again.p < 0.05)
    return found


def right(rng: np.random.Generator, n: int) -> tuple[Floats, Bools]:
    """Calibrated log-odds of one normal distribution."""
    x = -1 + 1.2 * rng.standard_normal(n)
    return x, rng.random(n) < expit(x)


def _with_rng(
    replicate: Callable[..., Mapping[str, Outcome]], draw: Draw, rows: int, rng: np.random.Generator, **options: bool
) -> Mapping[str, Outcome]:
    return replicate(draw, rows, rng=rng, **options)


def _scenario(name: str, draw: Draw, rows: int, names: tuple[str, ...]) -> Scenario:
    return Scenario(f"{name}, {rows} rows", Sampled(draw, rows, names).replicate)


under = partial(normal, apart=3.0, times=0.2)
under_rare = partial(normal, prevalence=0.05, apart=4.0, times=0.3)
over = partial(normal, times=3.0)
confident = partial(normal, prevalence=0.1, apart=3.3)

SCENARIOS = (
    *(_scenario("two normals", normal, rows, LINE) for rows in (150, 1000)),
    *(_scenario("heavy tails (t3)", heavy, rows, LINE) for rows in (150, 1000)),
    *(_scenario("saturating", saturating, rows, LINE) for rows in (150, 1000)),
    *(_scenario("inverted", inverted, rows, LINE) for rows in (150, 1000)),
    _scenario("unequal variances", unequal, 1000, LINE),
    _scenario("quadratic", quadratic, 300, LINE),
    _scenario("losses of two normals", normal, 1000, LOSSES),
    *(_scenario("underconfident", under, rows, LOSSES) for rows in (100, 1000)),
    _scenario("underconfident, 5% positive", under_rare, 1000, LOSSES),
    _scenario("overconfident", over, 200, LOSSES),
    *(_scenario("confident, 10% positive", confident, rows, LOSSES) for rows in (100, 1000)),
    *(
        Scenario(
            f"Cauchy scores, {rows} rows",
            partial(_with_rng, tail_replicate, partial(heavy, freedom=1.0), rows, infinite=True),
        )
        for rows in (300, 1000)
    ),
    *(
        Scenario(
            f"log loss of normal scores, {rows} rows", partial(_with_rng, tail_replicate, normal, rows, infinite=False)
        )
        for rows in (200, 1000)
    ),
    Scenario("five-point score, 300 rows", partial(_with_rng, check_sizes, ordinal, 300), 0.6),
    Scenario("five small probabilities, 300 rows", partial(_with_rng, check_sizes, rare_ordinal, 300), 0.4),
    Scenario("calibrated, 300 rows", partial(_with_rng, check_sizes, right, 300), 0.4),
    Scenario("calibrated, weighted, 300 rows", partial(_with_rng, check_sizes, right, 300, weighted=True), 0.4),
)
