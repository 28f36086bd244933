"""Predictions in any form, and how each type of the library is made of them: of arrays, a frame or a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple, Protocol, TypedDict

import numpy as np
import numpy.typing as npt

from baserate._confusion import Confusion, Confusions
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import ShareLike, unused_option
from baserate._errors import NotBinaryError, OptionError, ShapeError, keyword
from baserate._rows import LabelSets, MulticlassRows, MulticlassTarget, Rows, Target
from baserate._tally import Stack, Tallies, Tally
from baserate.read._arrays import tally as tally_arrays
from baserate.read._columns import as_column
from baserate.read._labels import format_labels, sort_labels

Scores = npt.ArrayLike | Mapping[Any, Any]
"""Scores of one model; by name, of several; or the matrix that `predict_proba` returns."""
Missing = Literal["refuse", "drop"]


class _HasColumns(Protocol):
    """A frame of pandas, Polars or DuckDB."""

    @property
    def columns(self) -> Any: ...


class _HasColumnNames(Protocol):
    """A table of PyArrow."""

    @property
    def column_names(self) -> Any: ...


TableSource = str | PathLike[str] | Mapping[str, Any] | _HasColumns | _HasColumnNames
"""A frame, a mapping of columns, or the path of a file."""

OwnData = Tally | Curve | Tallies | Rows
"""Predictions of two classes that were read."""


class PredictionOptions(TypedDict, total=False):
    """Keywords that every function takes beside predictions: arrays, or names of columns of a table; and costs."""

    truth: npt.ArrayLike | str
    score: Scores | str | Sequence[str]
    predicted: npt.ArrayLike | str
    group: Any
    weight: npt.ArrayLike | str | None
    count: npt.ArrayLike | str | None
    id: npt.ArrayLike | str | None
    cluster: npt.ArrayLike | str | None
    positive: object
    negative: object
    missing: Missing
    labels: Iterable[object] | None
    fp: float
    fn: float


class IntervalPredictionOptions(PredictionOptions, total=False):
    """Keywords of functions that also compute confidence intervals."""

    level: ShareLike
    method: str | None
    seed: int


class AdjustedPredictionOptions(PredictionOptions, total=False):
    """Keywords of functions that reweight the classes to a stated prevalence."""

    prevalence: ShareLike | Mapping[Any, ShareLike] | None


class AdjustedIntervalOptions(IntervalPredictionOptions, total=False):
    """Keywords of functions that reweight the classes, and compute confidence intervals."""

    prevalence: ShareLike | Mapping[Any, ShareLike] | None


ROLES = ("truth", "score", "predicted", "group", "weight", "count", "id", "cluster")
"""Options that hold a column."""
CHOICES = ("positive", "negative", "missing", "labels")
"""Options that say how to read the columns."""
OPTIONS = frozenset((*ROLES, *CHOICES))
OWN = (
    *(Tally, Tallies, Curve, Counts, Rows, Stack, Confusion, Confusions),
    *(MulticlassRows, LabelSets, Target, MulticlassTarget),
)
"""Types of the library that hold predictions."""
ROUNDING = 1e-3
"""How far probabilities of all classes may add up to something else than 1."""


class Predictions(NamedTuple):
    """Predictions as a call passes them: a table with names of columns, or arrays by role."""

    table: Any | None
    columns: dict[str, Any]
    """Role -> name of a column, or array."""
    choices: dict[str, Any]

    @property
    def truth(self) -> Any:
        """The labels."""
        return self.columns.get("truth")

    def as_table(self) -> Predictions:
        """Return the predictions as a table, with names of columns for all roles."""
        if self.table is not None:
            return self
        table: dict[str, Any] = {}
        columns: dict[str, Any] = {}
        # In this order, whichever came first in the call: it decides which of two equal names gets an underscore.
        for role, value in ((role, self.columns[role]) for role in ROLES if role in self.columns):
            if role in ("score", "group"):
                arrays = _score_arrays(self) if role == "score" else name_arrays(role, value)
                columns[role] = add_columns(table, arrays)
            else:
                columns[role] = add_columns(table, {role: value})[0]
        return Predictions(table, columns, self.choices)


def read_with(reader: str, predictions: Predictions, **more: Any) -> Any:
    """Read predictions with a reader of this package."""
    from baserate.read import _readers  # it loads engines, which arrays of one model do not need

    table, columns, choices = predictions.as_table()
    return getattr(_readers, reader)(table, **columns, **choices, **more)


def name_arrays(name: str, value: Any) -> dict[str, Any]:
    """Return arrays by name: of a mapping, of a frame, or one array under the name of its argument."""
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return {str(key): each for key, each in value.items()}
    names = find_column_names(value)
    return {name: value} if names is None else {str(key): value[key] for key in names}


def add_columns(table: dict[str, Any], arrays: Mapping[str, Any]) -> tuple[str, ...]:
    """Add columns to a table and return their names; a name in use gets an underscore."""
    names: list[str] = []
    for name, array in arrays.items():
        free = name
        while free in table:
            free += "_"
        table[free] = array
        names.append(free)
    return tuple(names)


def find_column_names(value: Any) -> list[Any] | None:
    """Return the names of the columns of a frame of any library; None for anything else."""
    names = getattr(value, "column_names", None)  # PyArrow
    if names is None:
        names = getattr(value, "columns", None)  # pandas, Polars, DuckDB
    return None if names is None or callable(names) else list(names)


def is_table(value: object) -> bool:
    """Return whether a value holds columns: a mapping, a frame, or the path of a file."""
    if isinstance(value, (str, PathLike, Mapping)):
        return True
    if isinstance(value, (np.ndarray, list, tuple)):
        return False
    return find_column_names(value) is not None or hasattr(value, "collect_schema") or hasattr(value, "read_next_batch")


def _score_arrays(predictions: Predictions) -> dict[str, Any]:
    """Return the scores of each model by name; of two classes, those of the positive one."""
    arrays = name_arrays("score", predictions.columns["score"])
    choices = predictions.choices
    positive, labels = choices.get("positive"), choices.get("labels")
    if len(arrays) == 2 and (column := _find_positive(list(arrays), predictions.truth, positive)) is not None:
        return {"score": arrays[column]}
    return {name: _positive_scores(each, predictions.truth, positive, labels) for name, each in arrays.items()}


def _find_positive(names: Sequence[str], truth: Any, positive: object) -> str | None:
    """Return which of two columns is about the positive class; None unless the labels are their names."""
    if positive is None:
        positive = next((each for each in (1, True) if {*names} == {str(each), str(type(each)(0))}), None)
    if positive is None or str(positive) not in names:
        return None
    labels = {str(label) for label in dict.fromkeys(as_column("truth", truth).tolist())}
    return str(positive) if labels <= {*names} | {"0", "1", "0.0", "1.0"} else None


def _shape(value: Any) -> tuple[int, ...]:
    """Return the shape of an array or a list, without converting a long list of numbers."""
    if isinstance(value, (list, tuple)):
        try:
            return np.shape(value) if len(value) and np.ndim(value[0]) else (len(value),)
        except ValueError:  # lists of different lengths, which `as_column` refuses
            return (len(value),)
    shape = getattr(value, "shape", None)
    return tuple(shape) if isinstance(shape, tuple) else (0,)


def _positive_scores(score: Any, truth: Any, positive: object, labels: Any) -> Any:
    """Return one score for each row: of a matrix with a column for each of two classes, the positive one."""
    shape = _shape(score)
    if len(shape) != 2 or not all(shape) or (hasattr(truth, "__len__") and len(truth) != shape[0]):
        return score  # one column, or several models without names, which `as_column` refuses
    if shape[1] == 1:
        return np.asarray(score)[:, 0]
    if shape[1] != 2:
        raise ShapeError(
            f"score has {shape[1]} columns; expected one, or two for the two classes.",
            remedy="For several classes use baserate.measure.multiclass.summary(truth, score), or evaluate one class "
            "against the rest with truth == label and its column of score. Name several models in a mapping.",
        )
    matrix = np.asarray(score)
    if matrix.dtype.kind == "f" and not (np.abs(matrix.sum(axis=1) - 1) <= ROUNDING).all():
        raise ShapeError(
            "score has two columns whose rows do not add up to 1, so they are not probabilities of two classes.",
            remedy='For two models, give a mapping from names to scores: {"a": score[:, 0], "b": score[:, 1]}.',
        )
    return matrix[:, _positive_place(truth, positive, labels)]


def _positive_place(truth: Any, positive: object, labels: Any) -> int:
    """Return the column of the positive class: classes are in the order of their labels, as scikit-learn sorts them."""
    order: list[object] = list(labels or sort_labels(dict.fromkeys(as_column("truth", truth).tolist())))
    if positive is None:
        return 1  # of 0 and 1; other labels are refused later, unless the positive one is named
    if set(order) <= {0, 1} and labels is None:
        order = [0, 1]
    if positive in order and len(order) == 2:
        return order.index(positive)
    raise NotBinaryError(
        f"truth holds {format_labels(order)}, so the order of the two columns of score is unknown",
        remedy=f"give the column of {positive!r} alone.",
    )


def build_tally(predictions: Predictions) -> Tally:
    """Tally one model without groups."""
    columns, choices = predictions.columns, predictions.choices
    if predictions.table is None and not (choices.keys() - {"positive", "labels"}) and "predicted" not in columns:
        scores = _score_arrays(predictions)
        _refuse_several(list(scores))
        (score,) = scores.values()
        return tally_arrays(
            columns["truth"],
            score,
            weight=columns.get("weight"),
            count=columns.get("count"),
            positive=choices.get("positive"),
        )
    return pool_single(build_tallies(predictions))


def _refuse_several(models: Sequence[str]) -> None:
    if len(models) != 1:
        raise OptionError(
            f"there are scores of {len(models)} models ({', '.join(models)}); expected one.",
            remedy="Give the scores of one model, or use a function of several: measure.summary, compare, evaluate.",
        )


def pool_single(tallies: Tallies) -> Tally:
    """Return the tally of the only model, of all groups."""
    _refuse_several(list(tallies.models))
    return tallies.pooled(next(iter(tallies.models)))


def build_tallies(predictions: Predictions) -> Tallies:
    tallies: Tallies = read_with("tallies", _without(predictions, "labels"))
    return tallies


def _without(predictions: Predictions, *choices: str) -> Predictions:
    kept = {name: each for name, each in predictions.choices.items() if name not in choices}
    return predictions.as_table()._replace(choices=kept)


def build_rows(predictions: Predictions) -> Rows:
    rows: Rows = read_with("rows", _without(predictions, "labels"))
    return rows


def build_tallies_or_rows(predictions: Predictions) -> Tallies | Rows:
    """Read rows where something depends on single rows, tallies otherwise."""
    needs_rows = "id" in predictions.columns or "cluster" in predictions.columns
    return build_rows(predictions) if needs_rows else build_tallies(predictions)


def build_confusion(predictions: Predictions) -> Confusion:
    """Count true and predicted classes; of a matrix of scores, the class with the highest."""
    columns, choices = predictions.columns, predictions.choices
    if predictions.table is None:
        if "predicted" not in columns and len(_shape(columns["score"])) == 1:
            columns["predicted"] = columns.pop("score")
        if "predicted" not in columns:
            return build_class_rows(predictions).confusion()
        from baserate.read._multiclass_arrays import confusion

        _refuse_choices(choices, "labels")
        columns = {role: each for role, each in columns.items() if each is not None}
        return confusion(**columns, labels=choices.get("labels"))
    if "predicted" not in columns:
        return build_class_rows(predictions).confusion()
    confusions: Confusions = read_with("confusions", predictions)
    return confusions.pooled


def build_classes(predictions: Predictions) -> Confusions | MulticlassRows:
    """Read scores of all classes, or true and predicted labels."""
    columns = dict(predictions.columns)
    if predictions.table is None and "predicted" not in columns and len(_shape(columns["score"])) == 1:
        columns["predicted"] = columns.pop("score")
    if "predicted" not in columns:
        return build_class_rows(predictions)
    confusions: Confusions = read_with("confusions", predictions._replace(columns=columns))
    return confusions


def build_class_summary(predictions: Predictions) -> Confusions | MulticlassRows | LabelSets:
    """Read sets of labels where truth is one, otherwise what `build_classes` reads."""
    truth = predictions.truth
    patterned = predictions.table is not None and (not isinstance(truth, str) or truth.endswith("*"))
    if patterned or (predictions.table is None and len(truth) and isinstance(next(iter(truth)), (set, frozenset))):
        return build_label_sets(predictions)
    return build_classes(predictions)


def build_class_data(predictions: Predictions) -> Confusion | MulticlassRows | LabelSets:
    """Read sets of labels, scores of all classes, or true and predicted labels, without groups."""
    classes = build_class_summary(predictions)
    return classes.pooled if isinstance(classes, Confusions) else classes


def build_class_rows(predictions: Predictions) -> MulticlassRows:
    columns, choices = predictions.columns, predictions.choices
    score = columns["score"]
    rows: MulticlassRows
    if predictions.table is not None:
        rows = read_with("class_rows", predictions)
        return rows
    if isinstance(score, Mapping):  # class -> scores
        table = {"truth": columns["truth"], **{f"score of {label}": each for label, each in score.items()}}
        names = {label: f"score of {label}" for label in score}
        others = {role: columns[role] for role in ("weight", "count") if columns.get(role) is not None}
        stated = {"truth": "truth", "score": names, **{role: role for role in others}}
        rows = read_with("class_rows", Predictions({**table, **others}, stated, choices))
        return rows
    from baserate.read._multiclass_arrays import class_scores

    _refuse_choices(choices, "labels")
    if "group" in columns:
        raise unused_option("group", "…", "a matrix of scores has no groups. Name the columns of a table instead")
    return class_scores(
        columns["truth"],
        score,
        weight=columns.get("weight"),
        count=columns.get("count"),
        labels=choices.get("labels"),
    )


def _refuse_choices(choices: Mapping[str, Any], *known: str) -> None:
    for name in choices:
        if name not in known:
            raise unused_option(name, choices[name], "all classes are evaluated")


def build_label_sets(predictions: Predictions) -> LabelSets:
    from baserate.read._multiclass_arrays import label_sets

    if predictions.table is not None:
        from baserate.read._label_columns import label_columns

        table, stated, choices = predictions
        sets: LabelSets = label_columns(table, **stated, **choices)
        return sets
    columns = dict(predictions.columns)
    score = columns.pop("score", None)
    predicted = columns.pop("predicted", None)
    if predicted is None and score is not None and not _is_real(score):
        predicted, score = score, None
    return label_sets(predicted=predicted, score=score, **columns, labels=predictions.choices.get("labels"))


def _is_real(score: Any) -> bool:
    return getattr(np.asarray(score) if hasattr(score, "__array__") else None, "dtype", np.dtype("O")).kind == "f"


def build_curves(predictions: Predictions) -> dict[str, Curve]:
    """Return the curve of each model, of all groups."""
    return pool_curves(build_tallies(predictions))


def pool_curves(tallies: Tallies) -> dict[str, Curve]:
    return {model: Curve(tallies.pooled(model)) for model in tallies.models}


def build_matrix(predictions: Predictions) -> Tallies | Confusion:
    """Count true and predicted labels where there are any; otherwise tally the scores, which a threshold decides on."""
    has_labels = "predicted" in predictions.columns or has_class_scores(predictions)
    if has_labels or (predictions.table is None and (_holds_labels(predictions) or _repeats_labels(predictions))):
        return build_confusion(predictions)
    return build_tallies(predictions)


def _repeats_labels(predictions: Predictions) -> bool:
    """Return whether every score is one of the true labels."""
    score = predictions.columns["score"]
    if isinstance(score, Mapping) or len(_shape(score)) != 1:
        return False
    column = as_column("score", score)
    is_number = column.dtype.kind in "biuf"  # what else there may be is refused by the readers
    return is_number and set(np.unique(column).tolist()) <= set(as_column("truth", predictions.truth).tolist())


def build_data(predictions: Predictions) -> Tallies | Rows | MulticlassRows:
    """Read scores of several classes if there is a matrix of them, otherwise two classes."""
    return build_class_rows(predictions) if has_class_scores(predictions) else build_tallies_or_rows(predictions)


def build_tally_or_classes(predictions: Predictions) -> Tally | Tallies | Rows | MulticlassRows:
    """Like `build_data`, but a single model without groups is a tally."""
    data = build_data(predictions)
    return data.tally if isinstance(data, Tallies) and len(data.models) == 1 and not data.attributes else data


def has_class_scores(predictions: Predictions) -> bool:
    """Return whether there is a matrix of scores of more than two classes, or a pattern of columns of a table."""
    score = predictions.columns.get("score")
    if predictions.table is not None:
        return isinstance(score, str) and score.endswith("*")
    shape = () if isinstance(score, Mapping) or find_column_names(score) else _shape(score)
    return len(shape) == 2 and shape[1] > 2


def find_counts(data: Tally | Curve, threshold: Any = None) -> Counts[Any]:
    """Return the 2×2 table at a threshold, by default 0.5 if the scores are probabilities."""
    curve = data if isinstance(data, Curve) else Curve(data)
    if threshold is None:
        if not curve.tally.probable:
            raise OptionError(
                f"the scores run from {curve.tally.score[-1]:.6g} to {curve.tally.score[0]:.6g}, so they are not "
                "probabilities, and 0.5 is no natural threshold",
                remedy=f"give {keyword('threshold')}.",
                option="threshold",
            )
        return curve.at(0.5)
    return curve.at(np.asarray(threshold, dtype=np.float64) if np.ndim(threshold) else float(threshold))


def build_counts(predictions: Predictions, threshold: Any = None) -> Counts[Any]:
    """Count the outcomes of scores at a threshold, or of predicted labels."""
    columns = dict(predictions.columns)
    if predictions.table is None and "predicted" not in columns and _holds_labels(predictions):
        columns["predicted"] = columns.pop("score")
    if "predicted" not in columns:
        return find_counts(build_tally(predictions), threshold)
    if threshold is not None:
        raise unused_option("threshold", threshold, "predicted labels are decisions already")
    if "score" in columns:
        raise OptionError("both scores and predicted labels are given; expected one of them.")
    return find_counts(pool_single(build_tallies(predictions._replace(columns=columns))))


def _holds_labels(predictions: Predictions) -> bool:
    """Return whether an array holds predicted labels instead of scores."""
    score = predictions.columns.get("score")
    if isinstance(score, Mapping) or len(_shape(score)) != 1 or find_column_names(score):
        return False
    column = as_column("score", score)
    if column.dtype.kind in "bUS" or (column.dtype.kind == "O" and any(isinstance(each, str) for each in column)):
        return True
    if predictions.choices.get("positive") in (None, 0, 1):
        return False
    # Numbers as labels, such as 1 and 2: then no score differs from all labels.
    return set(np.unique(column).tolist()) <= set(as_column("truth", predictions.truth).tolist())
