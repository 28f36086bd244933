"""Benchmarks of adjusting to another prevalence and of estimating it, beside QuaPy and mlquantify."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

import baserate as br
from baserate import Target, shift
from baserate._counts import Counts
from baserate.measure import MEASURES, describe
from bench._benchmark import Outcome, Pair, median_seconds
from bench._scores import positive_scores

with warnings.catch_warnings():
    warnings.simplefilter(
        "ignore"
    )  # QuaPy contains invalid escape sequences, which Python reports when it compiles them
    from mlquantify import likelihood
    from quapy.data import LabelledCollection
    from quapy.evaluation import evaluate
    from quapy.method import aggregative
    from quapy.protocol import APP

_PREVALENCES = 1000
_INACCURACY = 2e-3
"""The peers stop when a step is small, which is before the maximum."""
_FOUR_ERRORS = 0.02
"""Four standard errors of the difference of two estimates of a tenth."""
_PREVALENCE = 0.3
"""Prevalence for which the posteriors are calibrated; that of the target is 0.1."""
_MEASURES = ("accuracy", "precision", "sensitivity", "specificity", "f1", "auc")


def tabulate_prevalences(n: int, repeats: int) -> Outcome:
    """Compute all measures of decisions at a thousand prevalences, beside the tally that the decisions come from."""
    columns = positive_scores(n)
    names = [name for name, measure in MEASURES.items() if describe(measure).of is Counts]
    prevalences = np.linspace(0.001, 0.999, _PREVALENCES)
    counts = br.curve(br.tally(columns["truth"], columns["score"])).at(0.5)

    def ours() -> object:
        return shift.prevalence_table(counts, *names, prevalences=prevalences)

    def peer() -> object:
        return br.tally(columns["truth"], columns["score"])

    ours()  # warm-up
    seconds, peer_seconds = median_seconds([ours, peer], repeats)
    return Outcome(seconds, peer_seconds, note=f"{len(names)} measures at {_PREVALENCES} prevalences")


def _draw_posteriors(n: int) -> npt.NDArray[np.float64]:
    """Draw posteriors that are calibrated at a prevalence of 0.3, of rows with a prevalence of 0.1."""
    rng = np.random.default_rng(0)
    return _posterior(rng.normal(1.5 * (rng.random(n) < 0.1), 1.0))


def _posterior(score: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the posterior of a score that is N(0, 1) in negatives and N(1.5, 1) in positives."""
    return np.asarray(1 / (1 + np.exp(1.125 - 1.5 * score - np.log(_PREVALENCE / (1 - _PREVALENCE)))))


def estimate_by_likelihood(n: int, *, peer: str) -> Pair:
    """Estimate the prevalence by maximum likelihood from posteriors; ours includes the interval."""
    p = _draw_posteriors(n)
    posteriors, prior = np.column_stack([1 - p, p]), np.array([1 - _PREVALENCE, _PREVALENCE])
    rng = np.random.default_rng(1)
    truth = rng.random(2000) < _PREVALENCE
    validation = br.tally(truth, 1 / (1 + np.exp(-rng.normal(1.5 * truth, 1.0))))
    # mlquantify takes the prior from labels: 3 of 10 are positive.
    labels = np.repeat([0, 1], [7, 3])

    def ours() -> float:
        return shift.estimate_prevalence(
            Target(p), validation, method="mlls", recalibrate=False, sample_prevalence=_PREVALENCE
        ).value

    def quapy() -> float:
        return float(aggregative.EMQ.EM(prior, posteriors)[0][1])

    def mlquantify() -> float:
        shares: dict[Any, float] = likelihood.EMQ().aggregate(posteriors, np.tile(prior, (10, 1)), labels)
        return float(shares[1])

    return Pair(ours, quapy if peer == "quapy" else mlquantify, lambda a, b: max(abs(a - b) - _INACCURACY, 0.0))


def estimate_by_histogram(n: int) -> Pair:
    """Estimate the prevalence by the default method, with interval and tests of label shift, beside QuaPy's EMQ."""
    p = _draw_posteriors(n)
    posteriors, prior = np.column_stack([1 - p, p]), np.array([1 - _PREVALENCE, _PREVALENCE])
    rng = np.random.default_rng(1)
    truth = rng.random(20_000) < _PREVALENCE
    validation = br.tally(truth, _posterior(rng.normal(1.5 * truth, 1.0)))

    def ours() -> float:
        return shift.estimate_prevalence(Target(p), validation).value

    def quapy() -> float:
        return float(aggregative.EMQ.EM(prior, posteriors)[0][1])

    # Two different estimators of the same prevalence: ours also has the sampling error of the validation set.
    return Pair(ours, quapy, lambda a, b: max(abs(a - b) - _FOUR_ERRORS, 0.0))


class _GivenPosteriors(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier whose features are posteriors already, for QuaPy."""

    classes_ = np.array([0, 1])

    def __init__(self) -> None:
        # QuaPy looks for a fitted attribute.
        self.fitted_ = True

    def fit(self, x: object, y: object) -> _GivenPosteriors:  # noqa: ARG002  (the interface of a classifier)
        return self

    def predict_proba(self, x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return x

    def decision_function(self, x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return x[:, 1]

    def predict(self, x: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
        return (x[:, 1] >= 0.5).astype(np.intp)


_STUDIED = {"acc": "ACC", "pacc": "PACC", "ms": "MS"}
_STUDY_ERROR = 0.01
"""Four standard errors of the difference of two mean absolute errors of 210 samples."""


def study_estimators(n: int) -> Pair:
    """Evaluate three estimators by the artificial prevalence protocol, beside QuaPy; ours includes intervals."""
    rng = np.random.default_rng(0)
    samples = [rng.random(rows) < _PREVALENCE for rows in (2000, n)]
    labelled = [(truth.astype(int), _posterior(rng.normal(1.5 * truth, 1.0))) for truth in samples]
    (_, collection) = collections = [LabelledCollection(np.column_stack([1 - p, p]), y) for y, p in labelled]

    def ours() -> npt.NDArray[np.float64]:
        rows = shift.quantification_study(*labelled, methods=list(_STUDIED), size=500, repeats=10).rows()
        errors = [row["value"] for row in rows if row["measure"] == "mae" and row["prevalence"] is None]
        return np.array(errors)

    def quapy() -> npt.NDArray[np.float64]:
        errors = []
        for name in _STUDIED.values():
            quantifier = getattr(aggregative, name)(_GivenPosteriors(), fit_classifier=False, val_split=None).fit(
                *collections[0].Xy
            )
            protocol = APP(collection, sample_size=500, repeats=10)
            errors.append(evaluate(quantifier, protocol, error_metric="mae", verbose=False))
        return np.array(errors)

    return Pair(ours, quapy, lambda a, b: max(float(np.abs(a - b).max()) - _STUDY_ERROR, 0.0))


def estimate_with_validation(n: int, repeats: int) -> Outcome:
    """Estimate six measures of unlabelled rows, recalibrated on 2000 rows, beside a tally of labelled rows."""
    columns = positive_scores(n)
    target, rng = Target(columns["score"]), np.random.default_rng(2)
    rows = rng.integers(0, n, 2000)
    validation = br.tally(columns["truth"][rows], columns["score"][rows])

    def ours() -> object:
        return shift.estimate_performance(target, validation, assume="covariate shift", measures=_MEASURES)

    def peer() -> object:
        return br.tally(columns["truth"], columns["score"])

    ours()  # warm-up
    seconds, peer_seconds = median_seconds([ours, peer], repeats)
    return Outcome(seconds, peer_seconds, note=f"{len(_MEASURES)} measures")


def estimate_without_labels(n: int, repeats: int) -> Outcome:
    """Estimate six measures of unlabelled rows, with intervals, beside a tally of labelled rows."""
    columns = positive_scores(n)
    target = Target(columns["score"])

    def ours() -> object:
        return shift.estimate_performance(target, assume="covariate shift", measures=_MEASURES)

    def peer() -> object:
        return br.tally(columns["truth"], columns["score"])

    ours()  # warm-up
    seconds, peer_seconds = median_seconds([ours, peer], repeats)
    return Outcome(seconds, peer_seconds, note=f"{len(_MEASURES)} measures")
