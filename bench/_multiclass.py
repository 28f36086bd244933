"""Benchmarks of several classes, beside scikit-learn and pycm."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pycm
from sklearn import metrics

import baserate as br
from baserate import measure
from baserate.measure import describe, multiclass
from bench._benchmark import Pair
from bench._scores import max_difference

CLASSES = 10
NAMES = np.array(["cat", "dog", "horse", "elephant", "fish", "bird", "mouse", "cow", "goat", "sheep"])

_TABLE_MEASURES = [function for function in multiclass.MEASURES.values() if describe(function).of is br.Confusion]
_CLASS_MEASURES = [function for function in measure.MEASURES.values() if describe(function).of is br.Counts]
_PEER_MEASURES = {
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "mcc": metrics.matthews_corrcoef,
    "kappa": metrics.cohen_kappa_score,
}
"""Our name of a measure of confusion matrices, and scikit-learn's function."""

MakeLabels = Callable[[npt.NDArray[Any]], npt.NDArray[Any]]


def integer_labels(codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels 0 to 9, as int64."""
    return codes


def text_labels(codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return names, as NumPy strings of fixed width."""
    return np.asarray(NAMES[codes])


def object_labels(codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return names, as Python strings."""
    return np.asarray(NAMES.astype(object)[codes])


def confusion_matrix(make_labels: MakeLabels, n: int) -> Pair:
    """Count the confusion matrix of n rows, and compute all measures of it that either side has."""
    rng = np.random.default_rng(20_240_301)
    truth = rng.integers(0, CLASSES, n)
    guess = np.where(rng.random(n) < 0.7, truth, rng.integers(0, CLASSES, n))
    labels, predicted = make_labels(truth), make_labels(guess)

    def ours() -> tuple[br.Confusion, dict[str, float]]:
        matrix = br.confusion(labels, predicted)
        return matrix, {describe(function).name: function(matrix) for function in _TABLE_MEASURES}

    def peer() -> tuple[npt.NDArray[Any], dict[str, float]]:
        matrix = metrics.confusion_matrix(labels, predicted)
        return matrix, {name: score(labels, predicted) for name, score in _PEER_MEASURES.items()}

    return Pair(ours, peer, _compare_matrices)


def hand_till(n: int) -> Pair:
    """Compute Hand and Till's measure, and the macro average of the one-vs-rest AUCs."""
    rng = np.random.default_rng(20_240_302)
    truth = rng.integers(0, CLASSES, n)
    score = rng.standard_normal((n, CLASSES))
    score[np.arange(n), truth] += 1
    score = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    macro = multiclass.average_over_classes(measure.auc, "macro")

    def ours() -> tuple[float, float]:
        rows = br.class_scores(truth, score)
        return multiclass.hand_till(rows), macro(rows)

    def peer() -> list[float]:
        return [metrics.roc_auc_score(truth, score, multi_class=way) for way in ("ovo", "ovr")]

    return Pair(ours, peer, max_difference)


def all_statistics(n: int) -> Pair:
    """Compute every statistic of n matrices: of each class, averaged in three ways, and of all classes together."""
    rng = np.random.default_rng(20_240_303)
    share = rng.integers(1, 100, CLASSES**2) + 500 * np.eye(CLASSES).ravel()
    cells = rng.multinomial(10_000, share / share.sum(), size=n).reshape(n, CLASSES, CLASSES)
    matrices = [
        {str(truth): {str(at): int(count) for at, count in enumerate(line)} for truth, line in enumerate(table)}
        for table in cells
    ]

    def ours() -> dict[str, Any]:
        matrix = br.Confusion.of_matrix(cells if n > 1 else cells[0], truth="rows")
        values: dict[str, Any] = {describe(function).name: function(matrix) for function in _TABLE_MEASURES}
        one_vs_rest = multiclass.Split.of(matrix)
        for function in _CLASS_MEASURES:
            name = describe(function).name
            values[f"{name} of each"] = multiclass.per_class(function, one_vs_rest)
            for how in ("macro", "weighted", "micro"):
                values[f"{how} {name}"] = multiclass.average_over_classes(function, how)(one_vs_rest)
        return values

    def gap(ours: dict[str, Any], peers: list[Any]) -> float:
        # A spot check: few of the statistics of both sides have the same definition and the same name.
        names = {
            "accuracy": "Overall_ACC",
            "kappa": "Kappa",
            "mcc": "Overall_MCC",
            "scott_pi": "PI",
            "gwet_ac1": "AC1",
            "macro f1": "F1_Macro",
            "micro precision": "PPV_Micro",
        }
        class_f1 = np.array([list(each.F1.values()) for each in peers])
        values = {name: np.squeeze([getattr(each, attribute) for each in peers]) for name, attribute in names.items()}
        differences = (max_difference(ours[name], value) for name, value in values.items())
        return max(max_difference(ours["f1 of each"], np.squeeze(class_f1)), *differences)

    return Pair(ours, lambda: [pycm.ConfusionMatrix(matrix=matrix) for matrix in matrices], gap)


def _compare_matrices(
    ours: tuple[br.Confusion, dict[str, float]], peer: tuple[npt.NDArray[Any], dict[str, float]]
) -> float:
    (matrix, values), (peer_matrix, peer_values) = ours, peer
    differences = (max_difference(values[name], value) for name, value in peer_values.items())
    return max(max_difference(matrix.mass, peer_matrix), *differences)
