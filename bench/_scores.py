"""Rows about scores: generated data, our work on it, and the rival's."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin

import baserate as br
from bench._row import Duel

Data = dict[str, npt.NDArray[Any]]
"""Arguments of `baserate.tally`."""
Floats = npt.NDArray[np.float64]


class AsScored(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose probabilities are its one feature, so that only what follows is timed."""

    def __init__(self) -> None:
        self.classes_ = np.array([0, 1])
        self.n_features_in_ = 1

    def fit(self, X: Floats, y: object) -> "AsScored":  # noqa: ARG002, N803  (scikit-learn's names)
        """Learn nothing."""
        return self

    def predict_proba(self, X: Floats) -> Floats:  # noqa: N803
        """Return the feature as it is."""
        return np.column_stack([1 - X[:, 0], X[:, 0]])


def real_scores(n: int) -> Data:
    """Truth of 0 and 1, as whole numbers, ~ Bernoulli(0.3); score = truth + a standard normal number, so few ties."""
    draw = np.random.default_rng(20_240_229)
    truth = (draw.random(n) < 0.3).astype(np.int64)
    return {"truth": truth, "score": truth + draw.standard_normal(n)}


def positive_scores(n: int) -> Data:
    """Return the same, the score put through the logistic function: scores ≥ 0."""
    data = real_scores(n)
    return data | {"score": 1 / (1 + np.exp(-data["score"]))}


def weighted_scores(n: int) -> Data:
    """Return the same as `positive_scores`, with weights from 0.5 to 2."""
    return positive_scores(n) | {"weight": np.random.default_rng(1729).uniform(0.5, 2, n)}


def auc(data: Callable[[int], Data], n: int) -> Duel:
    """Exact area under the ROC curve, from rows."""
    columns = data(n)
    truth, score, weight = columns["truth"], columns["score"], columns.get("weight")
    return Duel(
        lambda: br.measure.auc(br.curve(br.tally(**columns))),
        lambda: metrics.roc_auc_score(truth, score, sample_weight=weight),
        apart,
    )


def everything(n: int) -> Duel:
    """Both curves and both areas; ours adds three measures at every threshold, which the rival does not have."""
    truth, score = positive_scores(n).values()

    def ours() -> tuple[dict[str, Any], float, float]:
        c = br.curve(br.tally(truth, score))
        columns = br.measure.table(c, "roc", "pr", "f1", "mcc", "youden")
        return columns, br.measure.auc(c), br.measure.average_precision(c)

    def rival() -> tuple[Any, ...]:
        # Dropping points would be more work, and the tables could not be compared.
        roc = metrics.roc_curve(truth, score, drop_intermediate=False)
        pr = metrics.precision_recall_curve(truth, score)
        return roc, pr, metrics.roc_auc_score(truth, score), metrics.average_precision_score(truth, score)

    return Duel(ours, rival, _tables_apart)


def tally(data: Callable[[int], Data], n: int) -> Duel:
    """Tally beside one sort of its scores, the least that any exact way must do."""
    columns = data(n)

    def gap(t: br.Tally, ordered: npt.NDArray[Any]) -> float:
        weight = columns.get("weight", np.ones(n))
        mass = apart([t.positives / n, t.total / n], [weight @ columns["truth"] / n, weight.sum() / n])
        return max(mass, apart(np.repeat(t.score, t.rows.sum(axis=0, dtype=np.int64)), ordered[::-1]))

    return Duel(lambda: br.tally(**columns), lambda: np.sort(columns["score"]), gap)


def hull(n: int) -> Duel:
    """Convex hull of a curve of about n points."""
    c = br.curve(br.tally(**real_scores(n)))
    # The rates are these numbers over their totals: the vertices are the same, and whole numbers compare exactly.
    true, false = c.flagged_mass.tolist()
    return Duel(c.hull, lambda: chain(false, true), lambda ours, rival: apart(ours.flagged_mass[::-1].T, rival))


def chain(x: list[float], y: list[float]) -> list[tuple[float, float]]:
    """Upper hull of points in rising order, by Andrew's monotone chain; leaves out points within an edge."""
    kept: list[tuple[float, float]] = []
    for right, top in zip(x, y, strict=True):
        while len(kept) > 1:
            (left, foot), (middle, high) = kept[-2:]
            if (high - foot) * (right - left) > (top - foot) * (middle - left):
                break
            kept.pop()
        kept.append((right, top))
    return kept


def f1(n: int) -> Duel:
    """F1 at every threshold."""
    truth, score = positive_scores(n).values()
    return Duel(
        lambda: br.measure.table(br.curve(br.tally(truth, score)), "f1"),
        lambda: metrics.metric_at_thresholds(truth, score, metrics.f1_score),
        # The rival has no threshold +inf, at which nothing is flagged.
        lambda ours, rival: max(apart(ours["f1"][1:], rival[0]), apart(ours["threshold"][1:], rival[1])),
    )


def _tables_apart(ours: tuple[dict[str, Any], float, float], rival: tuple[Any, ...]) -> float:
    columns, *areas = ours
    (fpr, tpr, _), (precision, recall, _), *rival_areas = rival
    # The rival's precision and recall run from the laxest threshold, and end with an invented precision of 1.
    return max(
        apart(areas, rival_areas),
        apart(columns["fpr"], fpr),
        apart(columns["sensitivity"], tpr),
        apart(columns["sensitivity"], recall[::-1]),
        apart(columns["precision"][1:], precision[-2::-1]),
    )


def apart(mine: npt.ArrayLike, theirs: npt.ArrayLike) -> float:
    """Greatest distance; infinite between arrays of different shapes."""
    one, other = np.asarray(mine), np.asarray(theirs)
    return float(np.abs(one - other).max()) if one.shape == other.shape else float("inf")
