"""Scenarios of the coverage audit: prevalences of several classes, measures at them, and performance without labels.

Features are normal, skewed or heavy-tailed around a center for each class; one class may have twice the standard
deviation. Scores are the posteriors of a model that assumes normal classes of equal variance and equal prevalence, so
that calibrators do not fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from baserate import BaserateError, MulticlassRows, Results, shift
from baserate._confusion import Confusion
from baserate._rows import MulticlassTarget
from baserate.measure import multiclass, precision, sensitivity
from bench._audit import Bounds, Floats, Outcome, Refusal, Rejection, Scenario

_CENTERS = {
    3: np.array([[0.0, 0.0], [1.8, 0.0], [0.6, 1.7]]),
    4: np.array([[0.0, 0.0, 0.0], [1.8, 0.0, 0.0], [0.6, 1.7, 0.0], [0.6, 0.5, 1.6]]),
    10: 2.2 * np.eye(10),
}
_SHARES = {3: (0.1, 0.3, 0.6), 4: (0.1, 0.2, 0.3, 0.4), 10: tuple(np.arange(1, 11) / 55)}
_LARGE = 400_000
"""Rows of the samples that true values come from."""


class FeatureModel(NamedTuple):
    """Distribution of the features, and the model that turns them into scores."""

    classes: int
    kind: str = "normal"
    """Distribution of the noise: normal, tails (t with three degrees of freedom) or skewed (exponential)."""
    wide: int | None = None
    """Class whose features have twice the standard deviation."""
    confident: float = 1.0
    """Factor of the model's log-odds: above 1 it is overconfident, as after long training."""

    @property
    def centers(self) -> Floats:
        """Centers of the features of the classes."""
        return _CENTERS[self.classes]

    @property
    def spread(self) -> Floats:
        """Standard deviation of the features of each class."""
        return np.where(np.arange(self.classes) == self.wide, 2.0, 1.0)

    def draw(self, rng: np.random.Generator, rows: int, shares: Floats) -> tuple[np.ndarray[Any, Any], Floats]:
        """Draw classes and features."""
        truth = rng.choice(self.classes, size=rows, p=shares)
        size = rows, self.centers.shape[1]
        noise = {
            "normal": lambda: rng.normal(size=size),
            "tails": lambda: rng.standard_t(3, size=size),
            "skewed": lambda: rng.exponential(size=size) - 1,
        }[self.kind]()
        return truth.astype(np.uint8), self.centers[truth] + noise * self.spread[truth, None]

    def scores(self, x: Floats) -> Floats:
        """Compute the probabilities of the model."""
        z = x @ self.centers.T - np.square(self.centers).sum(axis=1) / 2
        z *= self.confident / np.mean(self.spread**2)
        p = np.exp(z - z.max(axis=1, keepdims=True))
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def posteriors(self, x: Floats) -> Floats:
        """Compute the true probabilities for equally frequent classes, without skewed noise."""
        distance = (x[:, None] - self.centers) / self.spread[:, None]
        logs = -np.square(distance) / 2 if self.kind == "normal" else -2 * np.log1p(np.square(distance) / 3)
        z = logs.sum(axis=2) - x.shape[1] * np.log(self.spread)
        p = np.exp(z - z.max(axis=1, keepdims=True))
        return np.asarray(p / p.sum(axis=1, keepdims=True))


Sizes = tuple[int, int]
"""Rows of validation and of the target."""


@cache
def _label_shift_truth(features: FeatureModel, shares: tuple[float, ...]) -> Confusion:
    """Compute the confusion matrix at these prevalences, from a large sample of each class."""
    rng = np.random.default_rng(1)
    truth, x = features.draw(rng, _LARGE, np.full(features.classes, 1 / features.classes))
    table = MulticlassRows(truth, features.scores(x), tuple(range(features.classes))).confusion()
    positive = np.maximum(shares, 1e-9)  # `reweigh` requires shares above 0
    return shift.reweigh(table, prevalence=list(positive / positive.sum()))


@cache
def _covariate_shift_truth(features: FeatureModel, shares: tuple[float, ...]) -> Confusion:
    """Compute the confusion matrix of features at these prevalences, with classes that depend on them as before."""
    _, x = features.draw(np.random.default_rng(2), _LARGE, np.array(shares))
    p, predicted = features.posteriors(x), features.scores(x).argmax(axis=1)
    cells = np.stack([np.bincount(predicted, weights=each, minlength=features.classes) for each in p.T])
    return Confusion(np.asarray(cells, dtype=np.float64), tuple(range(features.classes)))


def _true_measures(table: Confusion) -> dict[tuple[str, int | None], float]:
    last = len(table.labels) - 1
    values: dict[tuple[str, int | None], float] = {
        ("accuracy", None): float(multiclass.accuracy(table)),
        ("mcc", None): float(multiclass.mcc(table)),
    }
    for name, measure in (("precision", precision), ("sensitivity", sensitivity)):
        for at in (0, last):
            values[name, at] = float(measure(table.one_vs_rest())[at])
    return values


def _outcomes(
    results: Results, truths: Mapping[tuple[str, int | None], float], label: str
) -> Iterator[tuple[str, Outcome]]:
    for row in results.rows():
        key = row["measure"], row["class"]
        if row["average"] is None and key in truths:
            suffix = "" if row["class"] is None else f" of {row['class']}"
            name = f"{row['measure']}{suffix}, {label}"
            if row["low"] is None:
                yield name, Refusal(row["why"] or "no interval")
            else:
                yield name, Bounds(row["low"], row["high"], truths[key])


_MEASURES = ["accuracy", "mcc", "precision", "sensitivity"]


def audit_label_shift(
    rng: np.random.Generator,
    *,
    features: FeatureModel,
    sizes: Sizes,
    shares: tuple[float, ...] | None = None,
    likelihood: bool = False,
) -> Mapping[str, Outcome]:
    """Estimate prevalences, measures at them and measures without labels, under label shift, and test for it.

    Widths are compared with maximum likelihood only where its calibration fits: elsewhere it covers by accident.
    """
    shares = _SHARES[features.classes] if shares is None else shares
    labels = tuple(range(features.classes))
    truth, x = features.draw(rng, sizes[0], np.full(features.classes, 1 / features.classes))
    rows = MulticlassRows(truth, features.scores(x), labels)
    target = MulticlassTarget(features.scores(features.draw(rng, sizes[1], np.array(shares))[1]), labels)
    outcomes: dict[str, Outcome] = {}
    reported = {0, 1, features.classes - 1}
    estimates = {"": None, ": PACC": "pacc"} | ({": MLLS": "mlls"} if likelihood else {})
    for name, method in estimates.items():
        prevalence = shift.estimate_prevalence(target, rows, method=method)
        for at in sorted(reported):
            each = prevalence.estimates[at]
            outcomes[f"share of {at}{name}"] = Bounds(each.low, each.high, shares[at])
        if method is None:
            truths = _true_measures(_label_shift_truth(features, shares))
            outcomes |= _outcomes(shift.adjusted_summary(prevalence, measures=_MEASURES), truths, "at the shares")
    results = shift.estimate_performance(target, rows, assume="label shift", measures=_MEASURES)
    outcomes |= _outcomes(results, truths, "without labels")
    outcomes["label-shift warning"] = Rejection(shift.label_shift_test(target, rows).rejected)
    return outcomes


def audit_covariate_shift(rng: np.random.Generator, *, features: FeatureModel, sizes: Sizes) -> Mapping[str, Outcome]:
    """Estimate performance without labels where the features shift, and classes depend on them as before."""
    shares, labels = _SHARES[features.classes], tuple(range(features.classes))
    truth, x = features.draw(rng, sizes[0], np.full(features.classes, 1 / features.classes))
    rows = MulticlassRows(truth, features.scores(x), labels)
    target = MulticlassTarget(features.scores(features.draw(rng, sizes[1], np.array(shares))[1]), labels)
    truths = _true_measures(_covariate_shift_truth(features, shares))
    try:
        results = shift.estimate_performance(target, rows, assume="covariate shift", measures=_MEASURES)
    except BaserateError as error:
        return {"accuracy, covariate shift": Refusal(str(error))}
    return dict(_outcomes(results, truths, "covariate shift"))


def _scenarios() -> Iterator[Scenario]:
    large, small = (2000, 5000), (300, 1000)
    feature_models = {
        "3 classes, one twice as wide": FeatureModel(3, wide=2),
        "4 classes, one twice as wide": FeatureModel(4, wide=3),
        "3 classes, heavy tails": FeatureModel(3, "tails"),
        "3 classes, skewed": FeatureModel(3, "skewed"),
        "3 classes, softmax-linear": FeatureModel(3, confident=2.0),
    }
    for name, features in feature_models.items():
        for sizes in (large, small):
            scenario = f"{name}, {sizes[0]}/{sizes[1]} rows"
            yield Scenario(
                scenario, partial(audit_label_shift, features=features, sizes=sizes, likelihood="linear" in name), 0.3
            )
            if features.kind != "skewed":
                yield Scenario(
                    f"{scenario}, covariate shift", partial(audit_covariate_shift, features=features, sizes=sizes), 0.3
                )
    easy = FeatureModel(3, confident=2.0)
    yield Scenario(
        "3 classes, one absent", partial(audit_label_shift, features=easy, sizes=small, shares=(0.6, 0.4, 0.0)), 0.3
    )
    rare = partial(audit_label_shift, features=FeatureModel(3, wide=2), sizes=small, shares=(0.9, 0.09, 0.01))
    yield Scenario("3 classes, one rare and twice as wide", rare, 0.3)
    yield Scenario(
        "10 classes, softmax-linear", partial(audit_label_shift, features=FeatureModel(10), sizes=large), 0.15
    )


SCENARIOS = tuple(_scenarios())
