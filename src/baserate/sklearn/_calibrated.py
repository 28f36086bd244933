"""Calibration of a classifier of scikit-learn, as a classifier of scikit-learn."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils.validation import check_is_fitted

from baserate._arrays import Floats
from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._errors import FitError
from baserate._rows import MulticlassRows
from baserate._tally import Tally
from baserate.calibrate import fit
from baserate.sklearn._data import Data
from baserate.sklearn._fitting import Asked, Fitting, with_tags_of


class CalibratedBy(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # of no known type
    """A classifier whose probabilities go through a map of :mod:`baserate.calibrate`.

    A classifier that is already fitted stays as it is, and `fit` makes only the map: give it rows that the classifier
    was not fitted on, for on its own rows a classifier is too sure of itself, and the map would learn that. Put it into
    scikit-learn's `FrozenEstimator` where it will be cloned, as in a search over parameters.

    One that is not fitted yet is fitted by `fit`, to all rows. The map is then made of what such classifiers say of
    rows that they have not seen, fold by fold. What a row holds decides its fold, not its place, and equal rows are in
    one fold: the order of rows changes nothing, and a weight does what repetition does, if so with the classifier.

    Parameters
    ----------
    estimator
        A classifier with `predict_proba` or `decision_function`. Decisions are taken as scores of any size, by methods
        that can: logistic, isotonic, venn-abers and, of two classes, histogram.
    method
        Name of a method of `baserate.calibrate`, or "choose".
    cv
        For a classifier that is not fitted yet, the number of folds; or what scikit-learn takes in its place, a
        splitter or pairs of places of rows, which then decide instead of what rows hold.

    Attributes
    ----------
    estimator_
        The fitted classifier.
    map_
        A `Calibrator` from the score of the second class, or a `MulticlassCalibrator` if there are more than two.
    classes_
        The classes, in the order of the columns of `predict_proba`.
    out_of_fold_
        Whether the map was made of rows that were not seen by what scored them; unknown, so False, of a classifier that
        came fitted.

    Notes
    -----
    Where the rows do not determine the map, a warning and the notes of `map_` say why, and the probabilities of the
    classifier are left as they are; those of decisions are found by isotonic regression.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from baserate.sklearn import CalibratedBy
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CalibratedBy(GaussianNB(), method="beta").fit(X[::2], y[::2])
    >>> model.map_.method, model.predict_proba(X[1::2]).shape
    ('beta', (284, 2))
    """

    def __init__(self, estimator: Any, *, method: str = "logistic", cv: Any = 5) -> None:  # noqa: ANN401
        self.estimator = estimator
        self.method = method
        self.cv = cv

    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> CalibratedBy:  # noqa: ANN401, N803
        """Fit the classifier, unless it is, and the map."""
        found = Fitting.of(self.estimator, Data.of(X, y, sample_weight), self.cv)
        self.__dict__.update(found.attributes)
        self.out_of_fold_ = found.out_of_fold
        self.map_ = _mapped(found.scores(), found.data, found.ask, self.method)
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: ANN401, N803
        """Probability of each class, in the order of `classes_`."""
        check_is_fitted(self, "map_")
        ask = Asked.of_classifier(self.estimator_, self.classes_)
        found: Floats = self.map_(ask.scores(self.estimator_, X))
        return found if found.ndim > 1 else np.column_stack([1 - found, found])

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: ANN401, N803
        """Class with the highest probability; of equal ones, the first."""
        found = self.predict_proba(X).argmax(axis=1)
        return self.classes_[found]  # type: ignore[no-any-return]  # an array of what y holds

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401
        return with_tags_of(self.estimator, super().__sklearn_tags__())


def _mapped(scores: Floats, data: Data, ask: Asked, method: str) -> Calibrator | MulticlassCalibrator:
    """Map of the method, or the plainest where the rows do not determine it."""
    try:
        return _fitted(scores, data, ask, method)
    except FitError as error:
        plain, told = ("identity", "as they are") if ask.probabilities else ("isotonic", "those of isotonic regression")
        note = f"{method} cannot be fitted: {error} The probabilities are {told}."
        warnings.warn(note, UserWarning, stacklevel=3)
        found = _fitted(scores, data, ask, plain)
        return replace(found, notes=(*found.notes, note))


def _fitted(scores: Floats, data: Data, ask: Asked, method: str) -> Calibrator | MulticlassCalibrator:
    # Decisions that all happen to lie between 0 and 1 are no probabilities.
    if scores.ndim == 1:
        tally = Tally.of_rows(data.y == 1, scores, weight=data.weight)
        return replace(fit(tally, method, probabilities=ask.probabilities), positive=str(ask.classes[1]))
    rows = MulticlassRows(data.y, scores, tuple(ask.classes.tolist()), weight=data.weight)
    return fit(rows, method, probabilities=ask.probabilities)
