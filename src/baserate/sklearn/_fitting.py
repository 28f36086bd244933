"""A classifier fitted within another, and what it, or its like, say of rows that they have not seen."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from baserate._arrays import Floats
from baserate._errors import FitError, OptionError, ShapeError
from baserate.sklearn._data import Data, Split, dealt, rows

_KEPT = ("n_features_in_", "feature_names_in_")
"""Attributes that are those of the classifier within, if it has them."""
_PASSED_ON = ("sparse", "allow_nan", "categorical", "string", "positive_only")
"""Kinds of input that are taken if the classifier within takes them."""


class Fitting(NamedTuple):
    """A classifier as it was given, and fitted; the rows, and how they are scored."""

    given: Any
    estimator: Any
    data: Data
    ask: Asked
    cv: Any
    splits: list[Split]
    """What a splitter made of the rows, if `cv` is one."""

    @staticmethod
    def of(estimator: Any, data: Data, cv: Any) -> Fitting:  # noqa: ANN401
        """Fit a classifier, unless it is."""
        fitted = _is_fitted(estimator)
        splits = [] if fitted or isinstance(cv, (int, np.integer)) else data.splits(cv)
        data = data.with_weight()
        # All rows first: the classifier checks them, and says what it does not take.
        found = estimator if fitted else data.fitted(estimator)
        if not hasattr(found, "classes_"):
            raise OptionError(f"{type(found).__name__} has no classes_; give a classifier.")
        classes = np.unique(found.classes_)
        if len(classes) < 2:
            raise FitError("there is only one class, so there are no probabilities to tell; give rows of two or more.")
        return Fitting(estimator, found, data.coded(classes), Asked.of_classifier(found, classes), cv, splits)

    @property
    def out_of_fold(self) -> bool:
        """Whether rows are scored by what has not seen them; unknown, so False, of a classifier that came fitted."""
        return self.estimator is not self.given

    @property
    def attributes(self) -> dict[str, Any]:
        """What a classifier around this one knows of it."""
        kept = {name: getattr(self.estimator, name) for name in _KEPT if hasattr(self.estimator, name)}
        return {"estimator_": self.estimator, "classes_": self.ask.classes, **kept}

    def scores(self) -> Floats:
        """Scores of the rows, by what has not seen them if that can be had."""
        if not self.out_of_fold:
            return self.ask.scores(self.estimator, self.data.X)
        return _out_of_fold(self.given, self.data, self.ask, self.splits or dealt(self.data, self.cv))


class Asked(NamedTuple):
    """What scores are asked for."""

    classes: npt.NDArray[Any]
    probabilities: bool
    of: int = 1
    """Of two classes, the one that is scored."""

    @staticmethod
    def of_classifier(estimator: Any, classes: npt.NDArray[Any], of: int = 1) -> Asked:  # noqa: ANN401
        """Ask for probabilities, if there are any, otherwise for decisions."""
        return Asked(classes, hasattr(estimator, "predict_proba"), of)

    def scores(self, estimator: Any, X: Any) -> Floats:  # noqa: ANN401, N803
        """Score of one of two classes for each row, or a column for each class; 0 for what is not known."""
        if not self.probabilities:
            return self._decisions(estimator, X)
        # Sums of rounded numbers may be just above 1.
        told = np.clip(np.asarray(estimator.predict_proba(X), dtype=np.float64), 0.0, 1.0)
        found = np.zeros((len(told), len(self.classes)))
        found[:, np.searchsorted(self.classes, estimator.classes_)] = told
        return found if len(self.classes) > 2 else np.ascontiguousarray(found[:, self.of])

    def _decisions(self, estimator: Any, X: Any) -> Floats:  # noqa: ANN401, N803
        if not hasattr(estimator, "decision_function"):
            raise OptionError(
                f"{type(estimator).__name__} has neither predict_proba nor decision_function; it needs one."
            )
        found = np.asarray(estimator.decision_function(X), dtype=np.float64)
        many, known = len(self.classes), estimator.classes_
        if not np.array_equal(known, self.classes) or found.shape[1:] != ((many,) if many > 2 else ()):
            raise ShapeError(
                f"decisions have shape {found.shape}, by a classifier of {len(known)} of {many} classes; give one with "
                "a decision for each class in order, or with predict_proba, and rows enough of every class."
            )
        return found if self.of else -found


def _out_of_fold(estimator: Any, data: Data, ask: Asked, splits: list[Split]) -> Floats:  # noqa: ANN401
    """Scores of every row by a classifier that has not seen it."""
    if not np.array_equal(np.sort(np.concatenate([out for _, out in splits])), np.arange(len(data.y))):
        raise OptionError("cv does not score every row once; give folds that share out all rows.")
    many = len(ask.classes)
    found = np.empty(len(data.y) if many == 2 else (len(data.y), many))
    for at, (rest, out) in enumerate(splits):
        seen = data.only(rest)
        if len(np.unique(seen.y)) < 2:
            raise FitError(
                f"without fold {at + 1} of {len(splits)} there are rows of one class only; give more rows of each "
                "class, or a classifier that is already fitted."
            )
        if len(out):
            found[out] = ask.scores(seen.fitted(estimator, ask.classes), rows(data.X, out))
    return found


def _is_fitted(estimator: Any) -> bool:  # noqa: ANN401
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def with_tags_of(estimator: Any, tags: Any) -> Any:  # noqa: ANN401
    """Return the tags of a classifier around another, with what the inner one takes and how well it does."""
    own = get_tags(estimator)
    for name in _PASSED_ON:
        setattr(tags.input_tags, name, getattr(own.input_tags, name))
    if own.classifier_tags is not None:
        tags.classifier_tags.multi_class = own.classifier_tags.multi_class
        tags.classifier_tags.poor_score = own.classifier_tags.poor_score
    return tags
