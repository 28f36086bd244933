"""Rows about another prevalence, known or unknown."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

import baserate as br
from baserate import Target, shift
from baserate._counts import Counts
from baserate.measure import MEASURES, describe
from bench._row import Duel, Outcome, medians
from bench._scores import positive_scores

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its own imports
    from mlquantify import likelihood
    from quapy.method import aggregative

_PREVALENCES = 1000
_NEAR = 2e-3
"""The rivals stop when they move slowly, before the maximum."""
_APART = 0.02
"""Two estimates of a tenth differ by less: four standard errors."""
_AT = 0.3
_MEASURES = ("accuracy", "precision", "sensitivity", "specificity", "f1", "auc")


def against_prevalence(n: int, repeats: int) -> Outcome:
    """Every measure of a 2×2 table at a thousand prevalences, beside making the tally that it is cut from."""
    columns = positive_scores(n)
    names = [name for name, measure in MEASURES.items() if describe(measure).of is Counts]
    at = np.linspace(0.001, 0.999, _PREVALENCES)
    counts = br.curve(br.tally(columns["truth"], columns["score"])).at(0.5)

    def ours() -> object:
        return shift.prevalence_table(counts, *names, prevalences=at)

    def rival() -> object:
        return br.tally(columns["truth"], columns["score"])

    ours()
    seconds, whole = medians([ours, rival], repeats)
    return Outcome(seconds, whole, note=f"{len(names)} measures at {_PREVALENCES} prevalences")


def _posteriors(n: int) -> npt.NDArray[np.float64]:
    """Right at a prevalence of 0.3, of rows of which a tenth is positive."""
    rng = np.random.default_rng(0)
    score = rng.normal(1.5 * (rng.random(n) < 0.1), 1.0)
    return np.asarray(1 / (1 + np.exp(1.125 - 1.5 * score - np.log(_AT / (1 - _AT)))))


def mlls(n: int, *, rival: str) -> Duel:
    """Share of a class by maximum likelihood, ours with its interval, from posteriors in memory."""
    p = _posteriors(n)
    both, prior = np.column_stack([1 - p, p]), np.array([1 - _AT, _AT])
    rng = np.random.default_rng(1)
    truth = rng.random(2000) < _AT
    validation = br.tally(truth, 1 / (1 + np.exp(-rng.normal(1.5 * truth, 1.0))))
    labels = np.repeat([0, 1], [7, 3])

    def ours() -> float:
        return shift.estimate_prevalence(Target(p), validation, method="mlls", recalibrate=False, at=_AT).value

    def quapy() -> float:
        return float(aggregative.EMQ.EM(prior, both)[0][1])

    def mlquantify() -> float:
        found: dict[Any, float] = likelihood.EMQ().aggregate(both, np.tile(prior, (10, 1)), labels)
        return float(found[1])

    return Duel(ours, quapy if rival == "quapy" else mlquantify, lambda a, b: max(abs(a - b) - _NEAR, 0.0))


def histograms(n: int) -> Duel:
    """Share of a class by the default method, with its interval and tests of label shift, beside QuaPy's EMQ."""
    p = _posteriors(n)
    both, prior = np.column_stack([1 - p, p]), np.array([1 - _AT, _AT])
    rng = np.random.default_rng(1)
    truth = rng.random(20_000) < _AT
    validation = br.tally(truth, 1 / (1 + np.exp(1.125 - 1.5 * rng.normal(1.5 * truth, 1.0) - np.log(_AT / (1 - _AT)))))

    def ours() -> float:
        return shift.estimate_prevalence(Target(p), validation).value

    def quapy() -> float:
        return float(aggregative.EMQ.EM(prior, both)[0][1])

    # Both are estimates of a tenth, by other means: ours also has the error of the validation set.
    return Duel(ours, quapy, lambda a, b: max(abs(a - b) - _APART, 0.0))


def recalibrated(n: int, repeats: int) -> Outcome:
    """Six measures of a target, recalibrated on 2000 validation rows, beside making a tally of rows with truth."""
    columns = positive_scores(n)
    target, rng = Target(columns["score"]), np.random.default_rng(2)
    chosen = rng.integers(0, n, 2000)
    validation = br.tally(columns["truth"][chosen], columns["score"][chosen])

    def ours() -> object:
        return shift.estimate_performance(target, validation, assume="covariate shift", measures=_MEASURES)

    def rival() -> object:
        return br.tally(columns["truth"], columns["score"])

    ours()
    seconds, whole = medians([ours, rival], repeats)
    return Outcome(seconds, whole, note=f"{len(_MEASURES)} measures")


def without_labels(n: int, repeats: int) -> Outcome:
    """Six measures of a target without truth, with intervals, beside making a tally of rows with truth."""
    columns = positive_scores(n)
    target = Target(columns["score"])

    def ours() -> object:
        return shift.estimate_performance(target, assume="covariate shift", measures=_MEASURES)

    def rival() -> object:
        return br.tally(columns["truth"], columns["score"])

    ours()
    seconds, whole = medians([ours, rival], repeats)
    return Outcome(seconds, whole, note=f"{len(_MEASURES)} measures")
