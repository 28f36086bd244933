"""Fits of inner classifiers: rows, folds by the content of rows, and out-of-fold scores."""

from __future__ import annotations

import warnings
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import check_cv
from sklearn.utils import check_array, column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, has_fit_parameter

from baserate._arrays import Floats, refuse_differing_indexes
from baserate._errors import EmptyDataError, FitError, OptionError, ShapeError, WeightError
from baserate._numeric.distinct import Hashes, float_bits, hash_rows

Split = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]
"""Positions of rows to fit, and of rows to score."""


class FitRows(NamedTuple):
    """Rows that a classifier is fitted to: features, classes and weights."""

    X: Any
    y: npt.NDArray[Any]
    weight: Floats | None

    @staticmethod
    def of(X: Any, y: Any, weight: npt.ArrayLike | None) -> FitRows:  # noqa: ANN401, N803
        """Check classes and weights; the classifier itself checks X."""
        if y is None:
            raise OptionError("requires y to be passed, but the target y is None", remedy="give the class of each row.")
        refuse_differing_indexes({"X": X, "y": y, "sample_weight": weight})
        # Array-likes without a shape cannot be indexed by positions.
        if not hasattr(X, "shape") and hasattr(X, "__array__"):
            X = np.asarray(X)  # noqa: N806
        truth = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"), warn=True)
        check_classification_targets(truth)
        check_consistent_length(X, truth)
        if weight is None:
            return FitRows(X, truth, None)
        amount = check_array(weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
        if amount.shape != truth.shape:
            raise ShapeError(
                f"sample_weight has shape {amount.shape}", remedy=f"give a number for each of {len(truth)} rows."
            )
        if (amount < 0).any():
            raise WeightError(
                f"{(amount < 0).sum()} of {len(amount)} weights are negative; a row counts for 0 or more."
            )
        if not amount.any():
            raise EmptyDataError(
                f"all {len(amount)} sample weights are zero, so there are no rows", remedy="give some a weight."
            )
        return FitRows(X, truth, amount)

    def drop_zero_weights(self) -> FitRows:
        """Drop rows without weight."""
        return self if self.weight is None or self.weight.all() else self.select(np.flatnonzero(self.weight))

    def splits(self, cv: Any) -> list[Split]:  # noqa: ANN401
        """Return the splits of a splitter, as positions among the rows with weight."""
        # The splitter gets all rows, as in scikit-learn; rows without weight are dropped afterwards.
        pairs = list(check_cv(cv, self.y, classifier=True).split(self.X, self.y))
        positive = np.ones(len(self.y), dtype=bool) if self.weight is None else self.weight > 0
        position = np.cumsum(positive) - 1
        return [(position[train[positive[train]]], position[test[positive[test]]]) for train, test in pairs]

    def select(self, at: npt.NDArray[np.intp]) -> FitRows:
        """Return some of the rows."""
        return FitRows(select_rows(self.X, at), self.y[at], None if self.weight is None else self.weight[at])

    def encode_classes(self, classes: npt.NDArray[Any]) -> FitRows:
        """Replace classes by their numbers."""
        unknown = np.setdiff1d(self.y, classes)
        if len(unknown):
            raise FitError(
                f"y contains {unknown[0]}, which is not a class of the classifier", remedy="leave those rows out."
            )
        # Classes are sorted, so that a search gives their numbers.
        return self._replace(y=np.searchsorted(classes, self.y))

    def fit_clone(self, estimator: Any, classes: npt.NDArray[Any] | None = None) -> Any:  # noqa: ANN401
        """Fit a clone of a classifier to these rows; `classes` decodes their numbers."""
        y = self.y if classes is None else classes[self.y]
        if self.weight is None:
            return clone(estimator).fit(self.X, y)
        if _takes_weight(estimator):
            return clone(estimator).fit(self.X, y, sample_weight=self.weight)
        if classes is None:  # the fit on all rows: folds need not repeat the warning
            note = f"{type(estimator).__name__} takes no sample_weight: weights affect only the calibrator or policy."
            warnings.warn(note, UserWarning, stacklevel=4)
        return clone(estimator).fit(self.X, y)


def _takes_weight(estimator: Any) -> bool:  # noqa: ANN401
    """Return whether a classifier takes weights; a pipeline does if metadata are routed and a step requests them."""
    if has_fit_parameter(estimator, "sample_weight"):
        return True
    is_routed = get_config()["enable_metadata_routing"] and hasattr(estimator, "get_metadata_routing")
    return bool(is_routed and estimator.get_metadata_routing().consumes("fit", ["sample_weight"]))


def assign_folds(rows: FitRows, folds: int) -> list[Split]:
    """Assign distinct rows to folds, class by class, in an order that only their content determines."""
    if folds < 2:
        raise OptionError(f"cv is {folds}", remedy="give 2 folds or more.", option="cv", value=folds)
    # Equal rows have equal hashes, and so stay in one fold.
    _, first, place = np.unique(hash_rows([rows.y, *_hash_columns(rows.X)]), return_index=True, return_inverse=True)
    order = np.argsort(rows.y[first], kind="stable")
    fold_of_distinct = np.empty(len(first), dtype=np.intp)
    fold_of_distinct[order] = np.arange(len(first)) % folds
    fold = fold_of_distinct[place]
    return [(np.flatnonzero(fold != at), np.flatnonzero(fold == at)) for at in range(int(fold.max()) + 1)]


def select_rows(X: Any, at: npt.NDArray[np.intp]) -> Any:  # noqa: ANN401, N803
    """Return some rows of an array, a sparse matrix, a frame or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[at]
    if hasattr(X, "tocsr"):
        return X.tocsr()[at]
    return X[at] if hasattr(X, "shape") else [X[place] for place in at]


def _hash_columns(X: Any) -> list[Hashes]:  # noqa: ANN401, N803
    """Return the content of rows as words to be hashed."""
    if hasattr(X, "tocsr"):
        return [_hash_sparse(X)]
    try:
        table = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):  # text, or columns of several types
        cells = np.asarray(X, dtype=object).reshape(len(X), -1)
        return [np.array([_hash_text(repr(row.tolist())) for row in cells], dtype=np.uint64)]
    # All NaN get the same bits, so that they hash alike.
    table = np.where(np.isnan(table), np.nan, table).reshape(len(table), -1)
    return [float_bits(np.ascontiguousarray(column)) for column in table.T]


def _hash_sparse(X: Any) -> Hashes:  # noqa: ANN401, N803
    """Return the sum of hashes of the entries of each row that are not 0."""
    # A copy, since the next two calls change it in place, and `tocsr` may return X itself.
    table = X.tocsr().copy()
    table.sum_duplicates()
    table.eliminate_zeros()
    hashes = np.zeros(table.shape[0], dtype=np.uint64)
    row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    np.add.at(hashes, row, hash_rows([table.indices, float_bits(table.data)]))
    return hashes


def _hash_text(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:8], "little")


_COPIED_ATTRIBUTES = ("n_features_in_", "feature_names_in_")
"""Attributes that are copied from the inner classifier, if it has them."""
_COPIED_TAGS = ("sparse", "allow_nan", "categorical", "string", "positive_only")
"""Kinds of input that are accepted if the inner classifier accepts them."""


class ClassifierFit(NamedTuple):
    """A classifier before and after the fit, the rows, and how it scores them."""

    original: Any
    estimator: Any
    rows: FitRows
    response: Response
    cv: Any
    splits: list[Split]
    """Splits of the rows, if `cv` is a splitter."""

    @staticmethod
    def of(estimator: Any, rows: FitRows, cv: Any) -> ClassifierFit:  # noqa: ANN401
        """Fit a classifier, unless it is fitted already."""
        frozen = is_fitted(estimator)
        splits = [] if frozen or isinstance(cv, (int, np.integer)) else rows.splits(cv)
        rows = rows.drop_zero_weights()
        # All rows first: the classifier checks them, and raises errors about those that it does not accept.
        fit = estimator if frozen else rows.fit_clone(estimator)
        response = Response.of_fitted(fit)
        return ClassifierFit(estimator, fit, rows.encode_classes(response.classes), response, cv, splits)

    @staticmethod
    def of_fitted(estimator: Any) -> ClassifierFit:  # noqa: ANN401
        """Describe a fitted classifier, without rows."""
        rows = FitRows(np.empty((0, 0)), np.empty(0, dtype=np.intp), None)
        return ClassifierFit(estimator, estimator, rows, Response.of_fitted(estimator), None, [])

    @property
    def out_of_fold(self) -> bool:
        """Whether classifiers of other folds score each row; unknown, so False, if the classifier came fitted."""
        return self.estimator is not self.original

    @property
    def attributes(self) -> dict[str, Any]:
        """Attributes for a meta-estimator around this classifier."""
        copied = {name: getattr(self.estimator, name) for name in _COPIED_ATTRIBUTES if hasattr(self.estimator, name)}
        return {"estimator_": self.estimator, "classes_": self.response.classes, **copied}

    def scores(self) -> Floats:
        """Return scores of the rows, out of fold unless the classifier came fitted."""
        if not self.out_of_fold:
            return self.response.scores(self.estimator, self.rows.X)
        splits = self.splits or assign_folds(self.rows, self.cv)
        return _score_out_of_fold(self.original, self.rows, self.response, splits)


class Response(NamedTuple):
    """The response of a classifier that serves as score: probabilities or decisions."""

    classes: npt.NDArray[Any]
    probabilities: bool
    of: int = 1
    """With two classes, the one that is scored."""

    @staticmethod
    def of_fitted(estimator: Any) -> Response:  # noqa: ANN401
        """Use all classes of a fitted classifier."""
        if not hasattr(estimator, "classes_"):
            raise OptionError(f"{type(estimator).__name__} has no classes_", remedy="give a classifier.")
        classes = np.unique(estimator.classes_)
        if len(classes) < 2:
            raise FitError(
                "there is only one class, so there is nothing to classify", remedy="give rows of two or more."
            )
        return Response.of_classifier(estimator, classes)

    @staticmethod
    def of_classifier(estimator: Any, classes: npt.NDArray[Any], of: int = 1) -> Response:  # noqa: ANN401
        """Use probabilities, if the classifier has them, otherwise decisions."""
        return Response(classes, hasattr(estimator, "predict_proba"), of)

    def scores(self, estimator: Any, X: Any) -> Floats:  # noqa: ANN401, N803
        """Return the score of one of two classes for each row, or a column for each class."""
        if not self.probabilities:
            return self._decisions(estimator, X)
        # Sums of rounded numbers may be just above 1. Classes that a fold lacks get probability 0.
        predicted = np.clip(np.asarray(estimator.predict_proba(X), dtype=np.float64), 0.0, 1.0)
        scores = np.zeros((len(predicted), len(self.classes)))
        scores[:, np.searchsorted(self.classes, estimator.classes_)] = predicted
        return scores if len(self.classes) > 2 else np.ascontiguousarray(scores[:, self.of])

    def _decisions(self, estimator: Any, X: Any) -> Floats:  # noqa: ANN401, N803
        if not hasattr(estimator, "decision_function"):
            raise OptionError(
                f"{type(estimator).__name__} has neither predict_proba nor decision_function; it needs one."
            )
        decisions = np.asarray(estimator.decision_function(X), dtype=np.float64)
        count, classes = len(self.classes), estimator.classes_
        if not np.array_equal(classes, self.classes) or decisions.shape[1:] != ((count,) if count > 2 else ()):
            raise ShapeError(
                f"decisions have shape {decisions.shape}, by a classifier of {len(classes)} of {count} classes",
                remedy=(
                    "give one with a decision for each class in order, or with predict_proba, and rows enough of "
                    "every class."
                ),
            )
        # Decisions are for the second of two classes; their negatives are for the first.
        return decisions if self.of else -decisions


def _score_out_of_fold(estimator: Any, rows: FitRows, response: Response, splits: list[Split]) -> Floats:  # noqa: ANN401
    """Score every row by a classifier that was fitted to the other folds."""
    # Other splits would leave scores undefined, or overwrite them.
    if not np.array_equal(np.sort(np.concatenate([out for _, out in splits])), np.arange(len(rows.y))):
        raise OptionError("cv does not score every row once", remedy="give folds that share out all rows.")
    count = len(response.classes)
    scores = np.empty(len(rows.y) if count == 2 else (len(rows.y), count))
    for at, (rest, out) in enumerate(splits):
        train = rows.select(rest)
        if len(np.unique(train.y)) < 2:
            raise FitError(
                f"without fold {at + 1} of {len(splits)} there are rows of one class only",
                remedy="give more rows of each class, or a classifier that is already fitted.",
            )
        if len(out):
            classifier = train.fit_clone(estimator, response.classes)
            scores[out] = response.scores(classifier, select_rows(rows.X, out))
    return scores


def is_fitted(estimator: Any) -> bool:  # noqa: ANN401
    """Return whether a classifier is fitted already."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def copy_tags(estimator: Any, tags: Any) -> Any:  # noqa: ANN401
    """Copy to the tags of a meta-estimator which input the inner classifier accepts, and how well it does."""
    inner = get_tags(estimator)
    for name in _COPIED_TAGS:
        setattr(tags.input_tags, name, getattr(inner.input_tags, name))
    if inner.classifier_tags is not None:
        tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        tags.classifier_tags.poor_score = inner.classifier_tags.poor_score
    return tags
