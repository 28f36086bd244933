"""Generated scores, and benchmarks of tallies, curves and rank measures beside NumPy and scikit-learn."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin

import baserate as br
from bench._benchmark import Pair

Data = dict[str, npt.NDArray[Any]]
"""Arguments of `baserate.tally`."""
Floats = npt.NDArray[np.float64]
_TIMED_ROWS = 20_000
"""Rows of one timing: a call on a few rows is too short to be timed alone."""


class PassthroughClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose probabilities are its only feature, so that a benchmark times what uses them."""

    def __init__(self) -> None:
        # For scikit-learn, attributes with a trailing underscore mark a fitted estimator.
        self.classes_ = np.array([0, 1])
        self.n_features_in_ = 1

    def fit(self, X: Floats, y: object) -> "PassthroughClassifier":  # noqa: ARG002, N803  (scikit-learn's names)
        """Return the classifier; there is nothing to learn."""
        return self

    def predict_proba(self, X: Floats) -> Floats:  # noqa: N803
        """Return the feature as the probability of the second class."""
        return np.column_stack([1 - X[:, 0], X[:, 0]])


def real_scores(n: int) -> Data:
    """Draw int64 labels ~ Bernoulli(0.3) and scores ~ N(label, 1), which have hardly any ties."""
    rng = np.random.default_rng(20_240_229)
    truth = (rng.random(n) < 0.3).astype(np.int64)
    return {"truth": truth, "score": truth + rng.standard_normal(n)}


def positive_scores(n: int) -> Data:
    """Draw `real_scores`, mapped to (0, 1) by the logistic function."""
    # A tally sorts scores ≥ 0 at once, but negative scores separately, so both kinds have a benchmark.
    data = real_scores(n)
    return data | {"score": 1 / (1 + np.exp(-data["score"]))}


def weighted_scores(n: int) -> Data:
    """Draw `positive_scores` with weights from 0.5 to 2."""
    return positive_scores(n) | {"weight": np.random.default_rng(1729).uniform(0.5, 2, n)}


def exact_auc(draw_rows: Callable[[int], Data], n: int) -> Pair:
    """Compute the exact area under the ROC curve, from rows."""
    columns = draw_rows(n)
    truth, score, weight = columns["truth"], columns["score"], columns.get("weight")
    return Pair(
        lambda: br.measure.auc(br.curve(br.tally(**columns))),
        lambda: metrics.roc_auc_score(truth, score, sample_weight=weight),
        max_difference,
    )


def auc_of_arrays(n: int) -> Pair:
    """Compute the exact area under the ROC curve in one call on arrays; of few rows, many times."""
    rows = max(n, 20)  # of both classes, also in a quick run
    truth, score = positive_scores(rows).values()
    times = range(max(_TIMED_ROWS // rows, 1))
    return Pair(
        lambda: [br.measure.auc(truth, score) for _ in times],
        lambda: [metrics.roc_auc_score(truth, score) for _ in times],
        lambda ours, peer: max_difference(ours[0], peer[0]),
    )


def all_curves(n: int) -> Pair:
    """Compute ROC and PR curves and their areas; ours adds three measures at every threshold."""
    truth, score = positive_scores(n).values()

    def ours() -> tuple[dict[str, Any], float, float]:
        curve = br.curve(br.tally(truth, score))
        columns = br.measure.table(curve, "roc", "pr", "f1", "mcc", "youden")
        return columns, br.measure.auc(curve), br.measure.average_precision(curve)

    def peer() -> tuple[Any, ...]:
        # By default scikit-learn drops points, which takes longer and leaves tables that cannot be compared.
        roc = metrics.roc_curve(truth, score, drop_intermediate=False)
        pr = metrics.precision_recall_curve(truth, score)
        return roc, pr, metrics.roc_auc_score(truth, score), metrics.average_precision_score(truth, score)

    return Pair(ours, peer, _compare_tables)


def tally_rows(draw_rows: Callable[[int], Data], n: int) -> Pair:
    """Tally rows, beside one sort of their scores, which every exact algorithm needs."""
    columns = draw_rows(n)

    def gap(tally: br.Tally, ordered: npt.NDArray[Any]) -> float:
        weight = columns.get("weight", np.ones(n))
        mass = max_difference([tally.positives / n, tally.total / n], [weight @ columns["truth"] / n, weight.sum() / n])
        return max(mass, max_difference(np.repeat(tally.score, tally.rows.sum(axis=0, dtype=np.int64)), ordered[::-1]))

    return Pair(lambda: br.tally(**columns), lambda: np.sort(columns["score"]), gap)


def convex_hull(n: int) -> Pair:
    """Compute the convex hull of a ROC curve of about n points."""
    curve = br.curve(br.tally(**real_scores(n)))
    # Counts in place of rates: the hull has the same vertices, and whole numbers compare exactly.
    true_positives, false_positives = curve.flagged_mass.tolist()
    peer = partial(monotone_chain, false_positives, true_positives)
    return Pair(curve.hull, peer, lambda ours, peer: max_difference(ours.flagged_mass[::-1].T, peer))


def monotone_chain(x: list[float], y: list[float]) -> list[tuple[float, float]]:
    """Return the upper hull of points in ascending order by Andrew's algorithm, without points on an edge."""
    hull: list[tuple[float, float]] = []
    for right, top in zip(x, y, strict=True):
        while len(hull) > 1:
            (left, foot), (middle, high) = hull[-2:]
            # A strict inequality drops points on an edge, as `Curve.hull` does.
            if (high - foot) * (right - left) > (top - foot) * (middle - left):
                break
            hull.pop()
        hull.append((right, top))
    return hull


def f1_curve(n: int) -> Pair:
    """Compute F1 at every threshold."""
    truth, score = positive_scores(n).values()
    return Pair(
        lambda: br.measure.table(br.curve(br.tally(truth, score)), "f1"),
        lambda: metrics.metric_at_thresholds(truth, score, metrics.f1_score),
        # scikit-learn has no threshold +inf, at which nothing is flagged.
        lambda ours, peer: max(max_difference(ours["f1"][1:], peer[0]), max_difference(ours["threshold"][1:], peer[1])),
    )


def _compare_tables(ours: tuple[dict[str, Any], float, float], peer: tuple[Any, ...]) -> float:
    columns, *areas = ours
    (fpr, tpr, _), (precision, recall, _), *peer_areas = peer
    # scikit-learn's precision and recall run from the lowest threshold, and end with an arbitrary precision of 1.
    return max(
        max_difference(areas, peer_areas),
        max_difference(columns["fpr"], fpr),
        max_difference(columns["sensitivity"], tpr),
        max_difference(columns["sensitivity"], recall[::-1]),
        max_difference(columns["precision"][1:], precision[-2::-1]),
    )


def max_difference(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Return the greatest absolute difference; infinity for arrays of different shapes."""
    a, b = np.asarray(first), np.asarray(second)
    return float(np.abs(a - b).max()) if a.shape == b.shape else float("inf")
