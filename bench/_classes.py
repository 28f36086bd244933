"""Rows about many classes: generated labels and scores, our work on them, and the rival's."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pycm
from sklearn import metrics

import baserate as br
from baserate import measure
from baserate.measure import describe, multiclass
from bench._row import Duel
from bench._scores import apart

CLASSES = 10
NAMES = np.array(["cat", "dog", "horse", "elephant", "fish", "bird", "mouse", "cow", "goat", "sheep"])

_OF_TABLES = [function for function in multiclass.MEASURES.values() if describe(function).of is br.Confusion]
_OF_COUNTS = [function for function in measure.MEASURES.values() if describe(function).of is br.Counts]
_THEIRS = {
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "mcc": metrics.matthews_corrcoef,
    "kappa": metrics.cohen_kappa_score,
}
"""What scikit-learn knows of whole tables, and by what name we do."""

Labels = Callable[[npt.NDArray[Any]], npt.NDArray[Any]]


def whole_numbers(codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Labels 0 to 9, as int64."""
    return codes


def texts(codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Names, as NumPy's text of fixed width."""
    return np.asarray(NAMES[codes])


def objects(codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Names, as Python's strings."""
    return np.asarray(NAMES.astype(object)[codes])


def table(labels: Labels, n: int) -> Duel:
    """K×K table of n rows, with all measures of it that either side has."""
    draw = np.random.default_rng(20_240_301)
    truth = draw.integers(0, CLASSES, n)
    guess = np.where(draw.random(n) < 0.7, truth, draw.integers(0, CLASSES, n))
    is_, called = labels(truth), labels(guess)

    def ours() -> tuple[br.Confusion, dict[str, float]]:
        c = br.confusion(is_, called)
        return c, {describe(function).name: function(c) for function in _OF_TABLES}

    def rival() -> tuple[npt.NDArray[Any], dict[str, float]]:
        matrix = metrics.confusion_matrix(is_, called)
        return matrix, {name: score(is_, called) for name, score in _THEIRS.items()}

    return Duel(ours, rival, _tables_apart)


def areas(n: int) -> Duel:
    """Hand and Till's measure, and the macro average of each class against the rest."""
    draw = np.random.default_rng(20_240_302)
    truth = draw.integers(0, CLASSES, n)
    score = draw.standard_normal((n, CLASSES))
    score[np.arange(n), truth] += 1
    score = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    macro = multiclass.average_over_classes(measure.auc, "macro")

    def ours() -> tuple[float, float]:
        rows = br.class_scores(truth, score)
        return multiclass.hand_till(rows), macro(rows)

    def rival() -> list[float]:
        return [metrics.roc_auc_score(truth, score, multi_class=way) for way in ("ovo", "ovr")]

    return Duel(ours, rival, apart)


def statistics(n: int) -> Duel:
    """Every statistic of n matrices: of each class, averaged in three ways, and of all classes together."""
    draw = np.random.default_rng(20_240_303)
    share = draw.integers(1, 100, CLASSES**2) + 500 * np.eye(CLASSES).ravel()
    cells = draw.multinomial(10_000, share / share.sum(), size=n).reshape(n, CLASSES, CLASSES)
    matrices = [
        {str(truth): {str(at): int(many) for at, many in enumerate(line)} for truth, line in enumerate(table)}
        for table in cells
    ]

    def ours() -> dict[str, Any]:
        c = br.Confusion.of_matrix(cells if n > 1 else cells[0], truth="rows")
        found: dict[str, Any] = {describe(function).name: function(c) for function in _OF_TABLES}
        one_vs_rest = multiclass.Split.of(c)
        for function in _OF_COUNTS:
            name = describe(function).name
            found[f"{name} of each"] = multiclass.per_class(function, one_vs_rest)
            for how in ("macro", "weighted", "micro"):
                found[f"{how} {name}"] = multiclass.average_over_classes(function, how)(one_vs_rest)
        return found

    def gap(mine: dict[str, Any], theirs: list[Any]) -> float:
        names = {
            "accuracy": "Overall_ACC",
            "kappa": "Kappa",
            "mcc": "Overall_MCC",
            "scott_pi": "PI",
            "gwet_ac1": "AC1",
            "macro f1": "F1_Macro",
            "micro precision": "PPV_Micro",
        }
        each = np.array([list(one.F1.values()) for one in theirs])
        found = {name: np.squeeze([getattr(one, theirs_) for one in theirs]) for name, theirs_ in names.items()}
        return max(apart(mine["f1 of each"], np.squeeze(each)), *(apart(mine[name], found[name]) for name in found))

    return Duel(ours, lambda: [pycm.ConfusionMatrix(matrix=matrix) for matrix in matrices], gap)


def _tables_apart(
    ours: tuple[br.Confusion, dict[str, float]], rival: tuple[npt.NDArray[Any], dict[str, float]]
) -> float:
    (c, mine), (matrix, theirs) = ours, rival
    return max(apart(c.mass, matrix), *(apart(mine[name], value) for name, value in theirs.items()))
