"""Reports on several classes for tests: datasets of scikit-learn, many classes, labels alone, and odd data."""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn import datasets
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

import baserate
from baserate import MulticlassReport
from tests.report.page.pages import HOSTILE


class ClassData(NamedTuple):
    """True labels, and probabilities of all classes."""

    truth: npt.NDArray[Any]
    matrix: npt.NDArray[np.float64]

    @property
    def predicted(self) -> npt.NDArray[Any]:
        """The most probable class."""
        labels: npt.NDArray[Any] = np.unique(self.truth)
        return np.asarray(labels[self.matrix.argmax(axis=1)])


@cache
def sklearn_data(name: str) -> ClassData:
    """Return cross-validated predictions of a logistic regression for a dataset of scikit-learn."""
    bunch = getattr(datasets, f"load_{name}")()
    scaled = bunch.data / np.abs(bunch.data).max(axis=0).clip(1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matrix = cross_val_predict(LogisticRegression(max_iter=300), scaled, bunch.target, method="predict_proba", cv=4)
    return ClassData(np.array([str(each) for each in bunch.target_names])[bunch.target], matrix)


def random_data(classes: int, rows: int, *, labels: tuple[str, ...] = (), seed: int = 0) -> ClassData:
    """Return random labels with probabilities that are related to them."""
    rng = np.random.default_rng(seed)
    truth = np.concatenate([np.arange(classes), rng.integers(classes, size=rows - classes)])
    logits = rng.normal(size=(rows, classes))
    logits[np.arange(rows), truth] += 2
    odds = np.exp(logits)
    names = np.array(labels or [f"species {at:02d} of a long list" for at in range(classes)])
    return ClassData(names[truth], odds / odds.sum(axis=1, keepdims=True))


@cache
def class_report(name: str) -> MulticlassReport:
    """Return the report on a dataset of scikit-learn."""
    return baserate.evaluate(baserate.class_scores(*sklearn_data(name)))


def labels_report() -> MulticlassReport:
    """Return a report on predicted labels alone."""
    data = sklearn_data("wine")
    return baserate.evaluate(baserate.confusion(data.truth, data.predicted))


def hostile_report() -> MulticlassReport:
    """Return a report on classes with the names of `HOSTILE`, which also are its title and outcome."""
    data = random_data(len(HOSTILE), 300, labels=HOSTILE)
    rows = baserate.class_scores(*data, labels=HOSTILE)
    return baserate.evaluate(rows, title=HOSTILE[1], outcome_name=HOSTILE[0])


def forty_report() -> MulticlassReport:
    """Return a report on forty classes."""
    return baserate.evaluate(baserate.class_scores(*random_data(40, 2000)))


ODD_CLASS_REPORTS: dict[str, Callable[[], MulticlassReport]] = {
    "labels": labels_report,
    "one row": lambda: baserate.evaluate(baserate.class_scores(["a"], [[0.5, 0.3, 0.2]], labels=["a", "b", "c"])),
    "one row, wrong": lambda: baserate.evaluate(
        baserate.class_scores(["b"], [[0.5, 0.3, 0.2]], labels=["a", "b", "c"])
    ),
    "never predicted": lambda: baserate.evaluate(baserate.confusion(["a", "b", "c"] * 40, ["a", "b", "b"] * 40)),
    "one class": lambda: baserate.evaluate(baserate.confusion(["a"] * 5, ["a"] * 5)),
    "two classes": lambda: baserate.evaluate(
        baserate.class_scores(["a", "b", "b"], [[0.8, 0.2], [0.4, 0.6], [1.0, 0.0]])
    ),
    "no probabilities": lambda: baserate.evaluate(
        baserate.class_scores(sklearn_data("iris").truth, 9 * sklearn_data("iris").matrix - 2)
    ),
    "certain and wrong": lambda: baserate.evaluate(
        baserate.class_scores(["a", "b", "c"], [[0, 1, 0], [0, 1, 0], [0, 0, 1]])
    ),
    "weights": lambda: baserate.evaluate(baserate.class_scores(*sklearn_data("wine"), weight=np.linspace(0.5, 2, 178))),
    "counts": lambda: baserate.evaluate(baserate.class_scores(*sklearn_data("iris"), count=np.arange(150) % 3)),
    "numbers": lambda: baserate.evaluate(baserate.confusion([1, 2, 3, 1], [1, 2, 2, 1])),
    "hostile names": hostile_report,
    "forty classes": forty_report,
}
"""Name -> function that makes an unusual report on several classes."""
