"""`CalibratedClassifier`: a classifier of scikit-learn whose probabilities are calibrated."""

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
from baserate.calibration import fit as fit_calibrator
from baserate.sklearn._out_of_fold import ClassifierFit, FitRows, Response, copy_tags


class CalibratedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # of no known type
    """A classifier with probabilities that a method of :mod:`baserate.calibration` calibrates.

    If the classifier is already fitted, `fit` only fits the calibrator: give it rows that the classifier was not fitted
    on, since a classifier is overconfident on its own rows. Put it into scikit-learn's `FrozenEstimator` where it will
    be cloned, as in a search over parameters.

    Otherwise `fit` fits the classifier to all rows, and the calibrator to out-of-fold scores. The content of a row
    determines its fold, and equal rows are in one fold: the order of rows changes nothing, and a weight is equivalent
    to repetition, if the classifier treats it so.

    Parameters
    ----------
    estimator
        A classifier with `predict_proba` or `decision_function`. Decisions need methods that take any score: logistic,
        isotonic, venn-abers and, for two classes, histogram.
    method
        Name of a method of `baserate.calibration`, such as "logistic" (also "platt" or "sigmoid"), "isotonic" or
        "beta"; or "choose".
    cv
        For a classifier that is not fitted yet, the number of folds; or a splitter or pairs of positions of rows, as in
        scikit-learn, which then determine the folds.

    Attributes
    ----------
    estimator_
        The fitted classifier.
    map_
        A `Calibrator` from the score of the second class, or a `MulticlassCalibrator` if there are more than two.
    classes_
        The classes, in the order of the columns of `predict_proba`.
    out_of_fold_
        Whether the calibrator was fitted to out-of-fold scores; unknown, so False, if the classifier came fitted.

    Notes
    -----
    Where the rows do not determine the calibrator, a warning and the notes of `map_` say why. Probabilities of the
    classifier then stay unchanged, and decisions are calibrated by isotonic regression.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from baserate.sklearn import CalibratedClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CalibratedClassifier(GaussianNB(), "beta").fit(X[::2], y[::2])
    >>> model.map_.method, model.predict_proba(X[1::2]).shape
    ('beta', (284, 2))
    """

    def __init__(self, estimator: Any, method: str = "logistic", *, cv: Any = 5) -> None:  # noqa: ANN401
        self.estimator = estimator
        self.method = method
        self.cv = cv

    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> CalibratedClassifier:  # noqa: ANN401, N803
        """Fit the classifier, unless it is fitted already, and the calibrator.

        Parameters
        ----------
        X
            Features of the rows.
        y
            Class of each row.
        sample_weight
            Weight of each row.
        """
        fit = ClassifierFit.of(self.estimator, FitRows.of(X, y, sample_weight), self.cv)
        # Names with a trailing underscore mark the estimator as fitted for scikit-learn.
        self.__dict__.update(fit.attributes)
        self.out_of_fold_ = fit.out_of_fold
        self.map_ = _fit_or_fall_back(fit.scores(), fit.rows, fit.response, self.method)
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: ANN401, N803
        """Return the probability of each class, in the order of `classes_`."""
        check_is_fitted(self, "map_")
        response = Response.of_classifier(self.estimator_, self.classes_)
        p: Floats = self.map_(response.scores(self.estimator_, X))
        return p if p.ndim > 1 else np.column_stack([1 - p, p])

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: ANN401, N803
        """Return the class with the highest probability; among equal ones, the first."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]  # type: ignore[no-any-return]  # an array of what y holds

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401
        return copy_tags(self.estimator, super().__sklearn_tags__())


def _fit_or_fall_back(
    scores: Floats, rows: FitRows, response: Response, method: str
) -> Calibrator | MulticlassCalibrator:
    """Fit the method, or the simplest one where the rows do not determine it."""
    try:
        return _fit_calibrator(scores, rows, response, method)
    except FitError as error:
        if response.probabilities:
            simplest, outcome = "identity", "unchanged"
        else:
            simplest, outcome = "isotonic", "those of isotonic regression"
        note = f"{method} cannot be fitted: {error} The probabilities are {outcome}."
        warnings.warn(note, UserWarning, stacklevel=3)
        calibrator = _fit_calibrator(scores, rows, response, simplest)
        return replace(calibrator, notes=(*calibrator.notes, note))


def _fit_calibrator(
    scores: Floats, rows: FitRows, response: Response, method: str
) -> Calibrator | MulticlassCalibrator:
    # Decisions that all happen to lie between 0 and 1 are not probabilities.
    if scores.ndim == 1:
        tally = Tally.of_rows(rows.y == 1, scores, weight=rows.weight)
        calibrator = fit_calibrator(tally, method, probabilities=response.probabilities)
        return replace(calibrator, positive=str(response.classes[1]))
    labels = tuple(response.classes.tolist())
    data = MulticlassRows(rows.y, scores, labels, weight=rows.weight)
    return fit_calibrator(data, method, probabilities=response.probabilities)
