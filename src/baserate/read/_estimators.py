"""Scores of fitted classifiers of scikit-learn, which is not imported, or of objects with the same methods."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats, refuse_differing_indexes
from baserate._errors import FitError, NotBinaryError, OptionError, ShapeError, UnknownLabelError
from baserate.read._columns import as_column, missing_objects
from baserate.read._labels import find_classes, format_labels, sort_labels

_METHODS = ("predict_proba", "decision_function")


class FittedClassifier(Protocol):
    """A fitted classifier of scikit-learn, or an object with the same methods."""

    classes_: Any

    def predict(self, X: Any, /) -> Any:  # noqa: ANN401, N803
        """Predict the class of each row."""


class Responses(NamedTuple):
    """Scores that a classifier gives rows."""

    score: Floats
    """Score of the positive class for each row: a probability, or else a decision."""
    positive: Any
    """Label of the positive class."""


def is_estimator(value: object) -> bool:
    """Return whether a value predicts rows: it has a method `predict_proba`, `decision_function` or `predict`.

    >>> is_estimator([0.5, 0.2])
    False
    """
    methods = (getattr(value, name, None) for name in (*_METHODS, "predict"))
    return not isinstance(value, type) and any(map(callable, methods))


def responses(estimator: Any, X: Any, y: Any = None, *, positive: Any = None) -> Responses:  # noqa: ANN401, N803
    """Score rows by a fitted classifier of two classes.

    Parameters
    ----------
    estimator
        A fitted classifier of scikit-learn, a pipeline that ends with one, or any object with `classes_` and
        `predict_proba` or `decision_function`. Probabilities are used if there are any, otherwise decisions.
    X
        Features of the rows.
    y
        Class of each row, to be compared with the classes of the estimator; it does not change the scores.
    positive
        Label of the positive class; may be left out for booleans and for 0 and 1.

    Returns
    -------
    Responses
        The scores, and the label of the positive class.

    Raises
    ------
    OptionError
        If the estimator is not a classifier with one of these methods.
    FitError
        If it is not fitted yet.
    NotBinaryError
        If it has more or fewer classes than two, or which one is positive is unknown.
    UnknownLabelError
        If `y` holds a label that is not a class of the estimator.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["well", "well", "sick", "sick"]
    >>> score, positive = responses(LogisticRegression().fit(X, y), X, positive="sick")
    >>> score.round(2).tolist(), positive
    ([0.19, 0.38, 0.62, 0.81], 'sick')
    """
    name = type(estimator).__name__
    method = _find_method(estimator, name)
    classes = _two_classes(estimator, name)
    if y is not None:
        _check_labels(y, X, classes, name)
    label = find_classes(classes, positive, None).positive
    place = classes.index(label)
    output = np.asarray(getattr(estimator, method)(X), dtype=np.float64)
    if output.ndim == 2 and output.shape[1] == 1:
        output = output[:, 0]
    if output.ndim == 2 and output.shape[1] == 2:
        return Responses(np.ascontiguousarray(output[:, place]), label)
    if output.ndim != 1:
        raise ShapeError(
            f"{method} of {name} returns an array of shape {output.shape}; expected one or two columns.",
            remedy="Give the scores of the positive class as an array.",
        )
    if place == 0:  # the only column is about the second class
        output = 1 - output if method == "predict_proba" else -output
    return Responses(output, label)


def _find_method(estimator: Any, name: str) -> str:  # noqa: ANN401
    """Return the first method of an estimator that scores rows."""
    if isinstance(estimator, type):
        raise OptionError(
            f"{estimator.__name__} is a class; expected a fitted classifier.", remedy="Create and fit it."
        )
    method = next((each for each in _METHODS if callable(getattr(estimator, each, None))), None)
    if method is None:
        raise OptionError(
            f"{name} has neither predict_proba nor decision_function; expected a classifier with one of them.",
            remedy="Give the scores as an array, for example of estimator.predict(X).",
        )
    return method


def _two_classes(estimator: Any, name: str) -> list[Any]:  # noqa: ANN401
    """Return both classes of a fitted estimator, in the order of its columns."""
    classes = getattr(estimator, "classes_", None)
    if classes is None or not len(classes):
        raise FitError(f"{name} is not fitted yet: it has no classes_.", remedy="Call its method fit(X, y) first.")
    if isinstance(classes, (list, tuple)) and np.ndim(classes[0]):
        raise NotBinaryError(
            f"{name} predicts {len(classes)} outputs; expected one.",
            remedy="Give the labels and the scores of one output as arrays.",
        )
    labels: list[Any] = np.asarray(classes).tolist() if hasattr(classes, "dtype") else list(classes)
    if len(labels) != 2:
        several = "Use baserate.measure.multiclass.summary(y, estimator.predict_proba(X)), or give one class against "
        raise NotBinaryError(
            f"{name} has {len(labels)} class{'es' if len(labels) > 1 else ''} ({format_labels(labels)}); expected two.",
            remedy=f"{several}the rest, y == label, with its column of predict_proba."
            if len(labels) > 2
            else "Fit it to rows of both classes.",
        )
    return labels


def _check_labels(y: Any, X: Any, classes: list[Any], name: str) -> None:  # noqa: ANN401, N803
    """Refuse labels that are not classes of the estimator; later readers refuse missing ones."""
    refuse_differing_indexes({"X": X, "y": y})
    column: npt.NDArray[Any] = as_column("y", y)
    # Sorting fails for objects of several types, and a dictionary is slow for many numbers.
    distinct = list(dict.fromkeys(column)) if column.dtype.kind == "O" else np.unique(column).tolist()
    labels = [label for label, missing in zip(distinct, missing_objects(distinct), strict=True) if not missing]
    strange = [label for label in sort_labels(labels) if label not in classes]
    if strange:
        raise UnknownLabelError(
            f"y holds {format_labels(strange)}, but the classes of {name} are {format_labels(classes)}.",
            remedy="Give labels as the estimator was fitted to, or leave those rows out.",
        )
