"""Audit of several classes without labels: shares, measures at them, and performance, where calibrations do not fit.

Features are normal, skewed or heavy-tailed around a center for each class; one class may vary twice as much. Scores are
the posteriors of a model that takes all classes for normal with the same variance, made for equal shares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from baserate import BaserateError, MulticlassRows, shift
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


class World(NamedTuple):
    """How features are distributed."""

    classes: int
    kind: str = "normal"
    """Of the noise: normal, tails (t with three degrees of freedom) or skewed (exponential)."""
    wide: int | None = None
    """Class whose features vary twice as much."""
    confident: float = 1.0
    """What the model's log-odds are multiplied with: more is too confident, as after training for too long."""

    @property
    def centers(self) -> Floats:
        """Centers of the features of the classes."""
        return _CENTERS[self.classes]

    @property
    def spread(self) -> Floats:
        """How much the features of each class vary."""
        return np.where(np.arange(self.classes) == self.wide, 2.0, 1.0)

    def features(self, rng: np.random.Generator, rows: int, shares: Floats) -> tuple[np.ndarray[Any, Any], Floats]:
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
        """Probabilities that the model gives."""
        z = x @ self.centers.T - np.square(self.centers).sum(axis=1) / 2
        z *= self.confident / np.mean(self.spread**2)
        p = np.exp(z - z.max(axis=1, keepdims=True))
        found: Floats = p / p.sum(axis=1, keepdims=True)
        return found

    def posteriors(self, x: Floats) -> Floats:
        """True probabilities where all classes are equally frequent."""
        apart = (x[:, None] - self.centers) / self.spread[:, None]
        logs = -np.square(apart) / 2 if self.kind == "normal" else -2 * np.log1p(np.square(apart) / 3)
        z = logs.sum(axis=2) - x.shape[1] * np.log(self.spread)
        p = np.exp(z - z.max(axis=1, keepdims=True))
        found: Floats = p / p.sum(axis=1, keepdims=True)
        return found


Sizes = tuple[int, int]
"""Rows of validation and of the target."""


@cache
def _label_shift_truth(world: World, shares: tuple[float, ...]) -> Confusion:
    """Table of decisions where the classes have these shares, from a large sample of each class."""
    rng = np.random.default_rng(1)
    truth, x = world.features(rng, _LARGE, np.full(world.classes, 1 / world.classes))
    table = MulticlassRows(truth, world.scores(x), tuple(range(world.classes))).confusion()
    return shift.reweigh(table, to=list(np.maximum(shares, 1e-9) / np.maximum(shares, 1e-9).sum()))


@cache
def _covariate_shift_truth(world: World, shares: tuple[float, ...]) -> Confusion:
    """Table of decisions where features are as at these shares, but classes follow features as in validation."""
    _, x = world.features(np.random.default_rng(2), _LARGE, np.array(shares))
    p, decided = world.posteriors(x), world.scores(x).argmax(axis=1)
    cells = np.stack([np.bincount(decided, weights=each, minlength=world.classes) for each in p.T])
    return Confusion(np.asarray(cells, dtype=np.float64), tuple(range(world.classes)))


def _truths(table: Confusion) -> dict[tuple[str, int | None], float]:
    last = len(table.labels) - 1
    found: dict[tuple[str, int | None], float] = {
        ("accuracy", None): float(multiclass.accuracy(table)),
        ("mcc", None): float(multiclass.mcc(table)),
    }
    for name, measure in (("precision", precision), ("sensitivity", sensitivity)):
        for at in (0, last):
            found[name, at] = float(measure(table.one_vs_rest())[at])
    return found


def _measured(results: Any, truths: Mapping[tuple[str, int | None], float], what: str) -> Iterator[tuple[str, Outcome]]:  # noqa: ANN401
    for row in results.rows():
        key = row["measure"], row["class"]
        if row["average"] is None and key in truths:
            of = "" if row["class"] is None else f" of {row['class']}"
            name = f"{row['measure']}{of}, {what}"
            if row["low"] is None:
                yield name, Refusal(row["why"] or "no interval")
            else:
                yield name, Bounds(row["low"], row["high"], truths[key])


_MEASURES = ["accuracy", "mcc", "precision", "sensitivity"]


def label_shift(
    rng: np.random.Generator,
    *,
    world: World,
    sizes: Sizes,
    shares: tuple[float, ...] | None = None,
    likelihood: bool = False,
) -> Mapping[str, Outcome]:
    """Shares, measures at them and without labels, and the test of label shift, where that is what happens.

    Widths are compared with those by maximum likelihood only where its calibration fits: elsewhere it covers some
    shares by accident.
    """
    shares = _SHARES[world.classes] if shares is None else shares
    labels = tuple(range(world.classes))
    truth, x = world.features(rng, sizes[0], np.full(world.classes, 1 / world.classes))
    rows = MulticlassRows(truth, world.scores(x), labels)
    target = MulticlassTarget(world.scores(world.features(rng, sizes[1], np.array(shares))[1]), labels)
    found: dict[str, Outcome] = {}
    shown = {0, 1, world.classes - 1}
    estimates = {"": None, ": PACC": "pacc"} | ({": MLLS": "mlls"} if likelihood else {})
    for name, method in estimates.items():
        made = shift.estimate_prevalence(target, rows, method=method)
        for at in sorted(shown):
            each = made.estimates[at]
            found[f"share of {at}{name}"] = Bounds(each.low, each.high, shares[at])
        if method is None:
            truths = _truths(_label_shift_truth(world, shares))
            found |= _measured(shift.adjusted_summary(made, measures=_MEASURES), truths, "at the shares")
    without = shift.estimate_performance(target, rows, assume="label shift", measures=_MEASURES)
    found |= _measured(without, truths, "without labels")
    found["label-shift warning"] = Rejection(shift.label_shift_test(target, rows).rejected)
    return found


def covariate_shift(rng: np.random.Generator, *, world: World, sizes: Sizes) -> Mapping[str, Outcome]:
    """Performance without labels where features are distributed otherwise, and classes follow them as before."""
    shares, labels = _SHARES[world.classes], tuple(range(world.classes))
    truth, x = world.features(rng, sizes[0], np.full(world.classes, 1 / world.classes))
    rows = MulticlassRows(truth, world.scores(x), labels)
    target = MulticlassTarget(world.scores(world.features(rng, sizes[1], np.array(shares))[1]), labels)
    truths = _truths(_covariate_shift_truth(world, shares))
    try:
        results = shift.estimate_performance(target, rows, assume="covariate shift", measures=_MEASURES)
    except BaserateError as error:
        return {"accuracy, covariate shift": Refusal(str(error))}
    return dict(_measured(results, truths, "covariate shift"))


def _scenarios() -> Iterator[Scenario]:
    large, small = (2000, 5000), (300, 1000)
    worlds = {
        "3 classes, one twice as wide": World(3, wide=2),
        "4 classes, one twice as wide": World(4, wide=3),
        "3 classes, heavy tails": World(3, "tails"),
        "3 classes, skewed": World(3, "skewed"),
        "3 classes, softmax-linear": World(3, confident=2.0),
    }
    for name, world in worlds.items():
        for sizes in (large, small):
            of = f"{name}, {sizes[0]}/{sizes[1]} rows"
            yield Scenario(of, partial(label_shift, world=world, sizes=sizes, likelihood="linear" in name), 0.3)
            if world.kind != "skewed":
                yield Scenario(f"{of}, covariate shift", partial(covariate_shift, world=world, sizes=sizes), 0.3)
    easy = World(3, confident=2.0)
    yield Scenario("3 classes, one absent", partial(label_shift, world=easy, sizes=small, shares=(0.6, 0.4, 0.0)), 0.3)
    rare = partial(label_shift, world=World(3, wide=2), sizes=small, shares=(0.9, 0.09, 0.01))
    yield Scenario("3 classes, one rare and twice as wide", rare, 0.3)
    yield Scenario("10 classes, softmax-linear", partial(label_shift, world=World(10), sizes=large), 0.15)


SCENARIOS = tuple(_scenarios())
