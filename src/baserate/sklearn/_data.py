"""Rows that a classifier is fitted to: checked, divided into folds, and hashed by what they hold."""

from __future__ import annotations

import warnings
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, has_fit_parameter

from baserate._arrays import Floats, refuse_differing_indexes
from baserate._errors import EmptyDataError, FitError, OptionError, ShapeError, WeightError
from baserate._numeric.hashing import Words, each_hashed, of_floats

Split = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]
"""Places of rows to fit to, and of those to score."""


class Data(NamedTuple):
    """Rows that count."""

    X: Any
    y: npt.NDArray[Any]
    weight: Floats | None

    @staticmethod
    def of(X: Any, y: Any, weight: npt.ArrayLike | None) -> Data:  # noqa: ANN401, N803
        """Check classes and weights; what X must be, the classifier knows."""
        if y is None:
            raise OptionError("requires y to be passed, but the target y is None; give the class of each row.")
        refuse_differing_indexes({"X": X, "y": y, "sample_weight": weight})
        if not hasattr(X, "shape") and hasattr(X, "__array__"):
            X = np.asarray(X)  # noqa: N806
        truth = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"), warn=True)
        check_classification_targets(truth)
        check_consistent_length(X, truth)
        if weight is None:
            return Data(X, truth, None)
        amount = check_array(weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
        if amount.shape != truth.shape:
            raise ShapeError(f"sample_weight has shape {amount.shape}; give a number for each of {len(truth)} rows.")
        if (amount < 0).any():
            raise WeightError(
                f"{(amount < 0).sum()} of {len(amount)} weights are negative; a row counts for 0 or more."
            )
        if not amount.any():
            raise EmptyDataError(
                f"all {len(amount)} sample weights are zero, so there are no rows; give some a weight."
            )
        return Data(X, truth, amount)

    def with_weight(self) -> Data:
        """Without rows that count for nothing."""
        return self if self.weight is None or self.weight.all() else self.only(np.flatnonzero(self.weight))

    def splits(self, cv: Any) -> list[Split]:  # noqa: ANN401
        """What a splitter makes of the rows, as places among those that count."""
        found = list(check_cv(cv, self.y, classifier=True).split(self.X, self.y))
        keep = np.ones(len(self.y), dtype=bool) if self.weight is None else self.weight > 0
        place = np.cumsum(keep) - 1
        return [(place[train[keep[train]]], place[test[keep[test]]]) for train, test in found]

    def only(self, at: npt.NDArray[np.intp]) -> Data:
        """Some of the rows."""
        return Data(rows(self.X, at), self.y[at], None if self.weight is None else self.weight[at])

    def coded(self, classes: npt.NDArray[Any]) -> Data:
        """Classes as their numbers."""
        unknown = np.setdiff1d(self.y, classes)
        if len(unknown):
            raise FitError(f"y holds {unknown[0]}, which the classifier does not know; leave those rows out.")
        return self._replace(y=np.searchsorted(classes, self.y))

    def fitted(self, estimator: Any, classes: npt.NDArray[Any] | None = None) -> Any:  # noqa: ANN401
        """A new classifier of this kind, fitted to these rows."""
        y = self.y if classes is None else classes[self.y]
        if self.weight is None:
            return clone(estimator).fit(self.X, y)
        if has_fit_parameter(estimator, "sample_weight"):
            return clone(estimator).fit(self.X, y, sample_weight=self.weight)
        if classes is None:  # once is enough
            told = (
                f"{type(estimator).__name__} takes no sample_weight: only what is made of its scores knows the weights."
            )
            warnings.warn(told, UserWarning, stacklevel=4)
        return clone(estimator).fit(self.X, y)


def dealt(data: Data, folds: int) -> list[Split]:
    """Folds of distinct rows, which are dealt out class by class, in an order that only they decide."""
    if folds < 2:
        raise OptionError(f"cv is {folds}; give 2 folds or more.")
    _, first, place = np.unique(each_hashed([data.y, *_words(data.X)]), return_index=True, return_inverse=True)
    order = np.argsort(data.y[first], kind="stable")
    dealt = np.empty(len(first), dtype=np.intp)
    dealt[order] = np.arange(len(first)) % folds
    fold = dealt[place]
    return [(np.flatnonzero(fold != at), np.flatnonzero(fold == at)) for at in range(int(fold.max()) + 1)]


def rows(X: Any, at: npt.NDArray[np.intp]) -> Any:  # noqa: ANN401, N803
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
