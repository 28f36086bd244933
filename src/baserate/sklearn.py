"""Calibration of a classifier of scikit-learn, as a classifier of scikit-learn.

Needs scikit-learn, which nothing else here does: ``pip install 'baserate[sklearn]'``.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._class_map import ClassMap
from baserate._class_rows import ClassRows
from baserate._errors import BadOption, BadShape, BadWeights, CannotFit, EmptyData, NotInstalled
from baserate._map import Map
from baserate._numeric.hashing import Words, each_hashed, of_floats
from baserate._tally import Tally

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
    from sklearn.exceptions import NotFittedError
    from sklearn.model_selection import check_cv
    from sklearn.utils import check_array, column_or_1d, get_tags
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_consistent_length, check_is_fitted, has_fit_parameter
except ImportError as error:
    raise NotInstalled("baserate.sklearn needs scikit-learn; run: pip install 'baserate[sklearn]'.") from error

__all__ = ["CalibratedBy"]

Split = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]
"""Places of rows to fit to, and of those to score."""

_PASSED_ON = ("sparse", "allow_nan", "categorical", "string", "positive_only")
"""Kinds of input that are taken if the classifier within takes them."""


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
        A `Map` from the score of the second class, or a `ClassMap` if there are more than two.
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
        data = _Data.of(X, y, sample_weight)
        fitted = _is_fitted(self.estimator)
        splits = [] if fitted or isinstance(self.cv, (int, np.integer)) else data.splits(self.cv)
        data = data.with_weight()
        # All rows first: the classifier checks them, and says what it does not take.
        self.estimator_ = self.estimator if fitted else data.fitted(self.estimator)
        if not hasattr(self.estimator_, "classes_"):
            raise BadOption(f"{type(self.estimator_).__name__} has no classes_; give a classifier.")
        self.classes_ = np.unique(self.estimator_.classes_)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        if len(self.classes_) < 2:
            raise CannotFit("there is only one class, so there are no probabilities to tell; give rows of two or more.")
        data = data.coded(self.classes_)
        ask = _Asked(self.classes_, probabilities=hasattr(self.estimator_, "predict_proba"))
        self.out_of_fold_ = not fitted
        if fitted:
            scores = ask.scores(self.estimator_, data.X)
        else:
            scores = _out_of_fold(self.estimator, data, ask, splits or _dealt(data, self.cv))
        self.map_ = _mapped(scores, data, ask, self.method)
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: ANN401, N803
        """Probability of each class, in the order of `classes_`."""
        check_is_fitted(self, "map_")
        ask = _Asked(self.classes_, probabilities=hasattr(self.estimator_, "predict_proba"))
        found: Floats = self.map_(ask.scores(self.estimator_, X))
        return found if found.ndim > 1 else np.column_stack([1 - found, found])

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: ANN401, N803
        """Class with the highest probability; of equal ones, the first."""
        found = self.predict_proba(X).argmax(axis=1)
        return self.classes_[found]  # type: ignore[no-any-return]  # an array of what y holds

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401
        tags = super().__sklearn_tags__()
        own = get_tags(self.estimator)
        for name in _PASSED_ON:
            setattr(tags.input_tags, name, getattr(own.input_tags, name))
        if own.classifier_tags is not None:
            tags.classifier_tags.multi_class = own.classifier_tags.multi_class
            tags.classifier_tags.poor_score = own.classifier_tags.poor_score
        return tags


class _Data(NamedTuple):
    """Rows that count."""

    X: Any
    y: npt.NDArray[Any]
    weight: Floats | None

    @staticmethod
    def of(X: Any, y: Any, weight: npt.ArrayLike | None) -> _Data:  # noqa: ANN401, N803
        """Check classes and weights; what X must be, the classifier knows."""
        if y is None:
            raise BadOption("requires y to be passed, but the target y is None; give the class of each row.")
        if not hasattr(X, "shape") and hasattr(X, "__array__"):
            X = np.asarray(X)  # noqa: N806
        truth = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"), warn=True)
        check_classification_targets(truth)
        check_consistent_length(X, truth)
        if weight is None:
            return _Data(X, truth, None)
        amount = check_array(weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
        if amount.shape != truth.shape:
            raise BadShape(f"sample_weight has shape {amount.shape}; give a number for each of {len(truth)} rows.")
        if (amount < 0).any():
            raise BadWeights(f"{(amount < 0).sum()} of {len(amount)} weights are negative; a row counts for 0 or more.")
        if not amount.any():
            raise EmptyData(f"all {len(amount)} sample weights are zero, so there are no rows; give some a weight.")
        return _Data(X, truth, amount)

    def with_weight(self) -> _Data:
        """Without rows that count for nothing."""
        return self if self.weight is None or self.weight.all() else self.only(np.flatnonzero(self.weight))

    def splits(self, cv: Any) -> list[Split]:  # noqa: ANN401
        """What a splitter makes of the rows, as places among those that count."""
        found = list(check_cv(cv, self.y, classifier=True).split(self.X, self.y))
        keep = np.ones(len(self.y), dtype=bool) if self.weight is None else self.weight > 0
        place = np.cumsum(keep) - 1
        return [(place[train[keep[train]]], place[test[keep[test]]]) for train, test in found]

    def only(self, at: npt.NDArray[np.intp]) -> _Data:
        """Some of the rows."""
        return _Data(_rows(self.X, at), self.y[at], None if self.weight is None else self.weight[at])

    def coded(self, classes: npt.NDArray[Any]) -> _Data:
        """Classes as their numbers."""
        unknown = np.setdiff1d(self.y, classes)
        if len(unknown):
            raise CannotFit(f"y holds {unknown[0]}, which the classifier does not know; leave those rows out.")
        return self._replace(y=np.searchsorted(classes, self.y))

    def fitted(self, estimator: Any, classes: npt.NDArray[Any] | None = None) -> Any:  # noqa: ANN401
        """A new classifier of this kind, fitted to these rows."""
        y = self.y if classes is None else classes[self.y]
        if self.weight is None:
            return clone(estimator).fit(self.X, y)
        if has_fit_parameter(estimator, "sample_weight"):
            return clone(estimator).fit(self.X, y, sample_weight=self.weight)
        if classes is None:  # once is enough
            told = f"{type(estimator).__name__} takes no sample_weight: only the map knows the weights."
            warnings.warn(told, UserWarning, stacklevel=3)
        return clone(estimator).fit(self.X, y)


class _Asked(NamedTuple):
    """What scores are asked for."""

    classes: npt.NDArray[Any]
    probabilities: bool

    def scores(self, estimator: Any, X: Any) -> Floats:  # noqa: ANN401, N803
        """Score of the second of two classes for each row, or a column for each class; 0 for what is not known."""
        if not self.probabilities:
            return self._decisions(estimator, X)
        # Sums of rounded numbers may be just above 1.
        told = np.clip(np.asarray(estimator.predict_proba(X), dtype=np.float64), 0.0, 1.0)
        found = np.zeros((len(told), len(self.classes)))
        found[:, np.searchsorted(self.classes, estimator.classes_)] = told
        return found if len(self.classes) > 2 else np.ascontiguousarray(found[:, 1])

    def _decisions(self, estimator: Any, X: Any) -> Floats:  # noqa: ANN401, N803
        if not hasattr(estimator, "decision_function"):
            raise BadOption(
                f"{type(estimator).__name__} has neither predict_proba nor decision_function; it needs one."
            )
        found = np.asarray(estimator.decision_function(X), dtype=np.float64)
        many, known = len(self.classes), estimator.classes_
        if not np.array_equal(known, self.classes) or found.shape[1:] != ((many,) if many > 2 else ()):
            raise BadShape(
                f"decisions have shape {found.shape}, by a classifier of {len(known)} of {many} classes; give one with "
                "a decision for each class in order, or with predict_proba, and rows enough of every class."
            )
        return found


def _is_fitted(estimator: Any) -> bool:  # noqa: ANN401
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def _out_of_fold(estimator: Any, data: _Data, ask: _Asked, splits: list[Split]) -> Floats:  # noqa: ANN401
    """Scores of every row by a classifier that has not seen it."""
    if not np.array_equal(np.sort(np.concatenate([out for _, out in splits])), np.arange(len(data.y))):
        raise BadOption("cv does not score every row once; give folds that share out all rows.")
    many = len(ask.classes)
    found = np.empty(len(data.y) if many == 2 else (len(data.y), many))
    for at, (rest, out) in enumerate(splits):
        seen = data.only(rest)
        if len(np.unique(seen.y)) < 2:
            raise CannotFit(
                f"without fold {at + 1} of {len(splits)} there are rows of one class only; give more rows of each "
                "class, or a classifier that is already fitted."
            )
        if len(out):
            found[out] = ask.scores(seen.fitted(estimator, ask.classes), _rows(data.X, out))
    return found


def _dealt(data: _Data, folds: int) -> list[Split]:
    """Folds of distinct rows, which are dealt out class by class, in an order that only they decide."""
    if folds < 2:
        raise BadOption(f"cv is {folds}; give 2 folds or more.")
    _, first, place = np.unique(each_hashed([data.y, *_words(data.X)]), return_index=True, return_inverse=True)
    order = np.argsort(data.y[first], kind="stable")
    dealt = np.empty(len(first), dtype=np.intp)
    dealt[order] = np.arange(len(first)) % folds
    fold = dealt[place]
    return [(np.flatnonzero(fold != at), np.flatnonzero(fold == at)) for at in range(int(fold.max()) + 1)]


def _mapped(scores: Floats, data: _Data, ask: _Asked, method: str) -> Map | ClassMap:
    """Map of the method, or the plainest where the rows do not determine it."""
    try:
        return _fitted(scores, data, ask, method)
    except CannotFit as error:
        plain, told = ("identity", "as they are") if ask.probabilities else ("isotonic", "those of isotonic regression")
        note = f"{method} cannot be fitted: {error} The probabilities are {told}."
        warnings.warn(note, UserWarning, stacklevel=3)
        found = _fitted(scores, data, ask, plain)
        return replace(found, notes=(*found.notes, note))


def _fitted(scores: Floats, data: _Data, ask: _Asked, method: str) -> Map | ClassMap:
    from baserate.calibrate import fit, multiclass

    # Decisions that all happen to lie between 0 and 1 are still none but decisions.
    as_they_are = not ask.probabilities and method.removeprefix("one-vs-rest-") == "logistic"
    options = {"scale": "score"} if as_they_are else {}
    if scores.ndim == 1:
        tally = Tally.of_rows(data.y == 1, scores, weight=data.weight)
        return replace(fit(tally, method, **options), positive=str(ask.classes[1]))
    rows = ClassRows(data.y, scores, tuple(ask.classes.tolist()), weight=data.weight)
    if as_they_are:
        return multiclass.one_vs_rest(rows, partial(fit, method="logistic", **options))
    return fit(rows, method)


def _rows(X: Any, at: npt.NDArray[np.intp]) -> Any:  # noqa: ANN401, N803
    """Some rows of an array, a sparse matrix, a frame or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[at]
    if hasattr(X, "tocsr"):
        return X.tocsr()[at]
    return X[at] if hasattr(X, "shape") else [X[place] for place in at]


def _words(X: Any) -> list[Words]:  # noqa: ANN401, N803
    """What rows hold, as words to be hashed."""
    if hasattr(X, "tocsr"):
        return [_of_sparse(X)]
    try:
        table = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        cells = np.asarray(X, dtype=object).reshape(len(X), -1)
        return [np.array([_of_text(repr(row.tolist())) for row in cells], dtype=np.uint64)]
    table = np.where(np.isnan(table), np.nan, table).reshape(len(table), -1)
    return [of_floats(np.ascontiguousarray(column)) for column in table.T]


def _of_sparse(X: Any) -> Words:  # noqa: ANN401, N803
    """Sum of hashes of what is not 0, of each row."""
    table = X.tocsr().copy()
    table.sum_duplicates()
    table.eliminate_zeros()
    found = np.zeros(table.shape[0], dtype=np.uint64)
    row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    np.add.at(found, row, each_hashed([table.indices, of_floats(table.data)]))
    return found


def _of_text(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:8], "little")
