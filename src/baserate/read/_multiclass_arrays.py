"""Arrays and lists of several classes: a Confusion, scores of each class, and sets of labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Reals, make_read_only, refuse_differing_indexes
from baserate._confusion import Confusion, distinct_labels
from baserate._errors import EmptyDataError, NotBinaryError, ShapeError, UnknownLabelError, keyword
from baserate._formatting import count_of, there_are
from baserate._rows import LabelSets, MulticlassRows
from baserate._tally import ReadSummary
from baserate.read import _builders
from baserate.read._columns import Columns, check_scores, check_weights, refuse_all_zero
from baserate.read._labels import classes_from_names, format_labels, refuse_mixed_types, sort_labels
from baserate.read._table import Rule, Table, load_table

_RULE = Rule(remedy="leave those rows out first")  # these functions have no option `missing`


def confusion(
    truth: npt.ArrayLike,
    predicted: npt.ArrayLike,
    *,
    weight: npt.ArrayLike | None = None,
    count: npt.ArrayLike | None = None,
    labels: Iterable[object] | None = None,
) -> Confusion:
    """Count how often each pair of true and predicted label occurs.

    A table or file with names of its columns does, too: ``confusion(table, truth="animal", predicted="guess")``.

    Parameters
    ----------
    truth, predicted
        Label of each row: text, whole numbers or booleans, of any number of classes.
    weight, count
        Weight and number of identical rows of each row, as in :func:`baserate.tally`.
    labels
        All classes in order; by default the labels that occur in either column, sorted.

    Returns
    -------
    Confusion
        Counts with true classes in rows.

    Examples
    --------
    >>> confusion(["cat", "dog", "dog"], ["cat", "cat", "dog"]).mass.tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    columns = Columns("truth", predicted="predicted")
    table, columns = _load_arrays({"truth": truth, "predicted": predicted}, columns, weight, count)
    rule = _RULE if labels is None else replace(_RULE, labels=tuple(labels))
    return _builders.build_confusions(table, columns, rule).pooled


def class_scores(
    truth: npt.ArrayLike,
    score: npt.ArrayLike,
    *,
    weight: npt.ArrayLike | None = None,
    count: npt.ArrayLike | None = None,
    labels: Iterable[object] | None = None,
) -> MulticlassRows:
    """Check true labels and a matrix with a score for each class.

    A table or file with names of its columns does, too: ``class_scores(table, truth="animal", score="p_*")``.

    Parameters
    ----------
    truth
        True label of each row.
    score
        Matrix of scores with a column for each class; a higher score means more likely. Some measures need
        probabilities. One score for each row, with `labels` in order, is that of ordered classes: a higher score means
        a later class, as `baserate.measure.multiclass.ordinal_auc` requires.
    weight, count
        Weight and number of identical rows of each row, as in :func:`baserate.tally`.
    labels
        Class of each column; by default the names of the columns of a frame, or the sorted labels of `truth` if there
        are as many, or 0, 1, 2, ….

    Returns
    -------
    MulticlassRows
        Codes of the true classes, and the scores.

    Examples
    --------
    >>> class_scores(["cat", "dog", "dog"], [[0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    MulticlassRows(3 rows; scores for cat, dog)
    """
    refuse_differing_indexes({"truth": truth, "score": score, "weight": weight, "count": count})
    if labels is not None and np.ndim(score) == 1:
        arrays = {"truth": truth, "score": score}
        table, columns = _load_arrays(arrays, Columns("truth", score=("score",)), weight, count)
        return _builders.build_class_rows(table, columns, replace(_RULE, labels=tuple(labels)))
    scores = _as_score_matrix(score)
    names = tuple(f"score of column {at}" for at in range(scores.shape[1]))
    arrays = {"truth": truth} | {name: scores[:, at] for at, name in enumerate(names)}
    table, columns = _load_arrays(arrays, Columns("truth", score=names), weight, count)
    classes = _infer_classes(table, len(names), _column_titles(score)) if labels is None else distinct_labels(labels)
    if len(classes) != len(names):
        raise ShapeError(
            f"{there_are(len(classes), 'label')} for {len(names)} columns of scores", remedy="give one for each."
        )
    matrix = _reuse_array(scores, score)
    rows = _builders.build_class_rows(table, columns, replace(_RULE, bound=classes), score=matrix)
    return replace(rows, intake=ReadSummary(rows.intake.read, classes=rows.labels))


def _load_arrays(
    arrays: Mapping[str, Any], columns: Columns, weight: npt.ArrayLike | None, count: npt.ArrayLike | None
) -> tuple[Table, Columns]:
    refuse_differing_indexes({**arrays, "weight": weight, "count": count})
    arrays = {name: _keep_categories(column) for name, column in arrays.items()}
    amounts = {name: column for name, column in (("weight", weight), ("count", count)) if column is not None}
    columns = replace(columns, weight=None if weight is None else "weight", count=None if count is None else "count")
    return load_table({**arrays, **amounts}, columns), columns


def _keep_categories(column: Any) -> Any:  # noqa: ANN401  (array, list or column of a frame)
    """Keep a column of a frame as a series, since its categories may have an order."""
    if isinstance(column, (np.ndarray, list, tuple)) or not hasattr(column, "dtype"):
        return column
    import narwhals.stable.v2 as nw

    return nw.from_native(column, series_only=True, pass_through=True)


def _as_score_matrix(score: npt.ArrayLike) -> npt.NDArray[Any]:
    bare = np.ma.filled(score.astype(np.float64), np.nan) if isinstance(score, np.ma.MaskedArray) else score
    scores = np.asfortranarray(bare)  # measures sort one class at a time
    _check_matrix("score", scores, "class", least=2)
    return scores


def _check_matrix(name: str, matrix: npt.NDArray[Any], what: str, *, least: int = 0) -> None:
    """Refuse an array that is no matrix with at least this many columns, one for each class or label."""
    if matrix.ndim != 2 or matrix.shape[1] < least:
        raise ShapeError(
            f"{name} has shape {matrix.shape}", remedy=f"give a row for each row and a column for each {what}."
        )


def _reuse_array(scores: npt.NDArray[Any], original: npt.ArrayLike) -> Reals | None:
    """Return the scores themselves if they are float64 in an array of our own, so that they need no second copy."""
    ours = scores.dtype == np.float64 and not np.may_share_memory(scores, np.asarray(original))
    return make_read_only(scores) if ours else None


def _column_titles(score: object) -> list[str]:
    """Return the names of the columns of a frame, unless they are only 0, 1, 2, …."""
    titles = list(getattr(score, "columns", ()))
    return [] if titles == list(range(len(titles))) else list(map(str, titles))


def _infer_classes(table: Table, many: int, titles: Sequence[str]) -> tuple[object, ...]:
    """Infer the classes of the columns: from their titles, or from the labels of truth if there are as many."""
    occurring = sort_labels(table.labels["truth"].labels)
    if titles:
        return tuple(classes_from_names(titles, occurring))
    if len(occurring) == many:
        return tuple(occurring)
    # With a 0 they are indexes; without one, 1, 2, 3 may as well count from 1.
    if 0 in occurring and all(type(label) is int and 0 <= label < many for label in occurring):
        return tuple(range(many))
    raise UnknownLabelError(
        f"truth holds {count_of(len(occurring), 'class', 'classes')} ({format_labels(occurring)}), but there are "
        f"{many} columns of scores",
        remedy=f"name the class of each with {keyword('labels')}.",
    )


Sets = npt.ArrayLike | Sequence[Iterable[object]]


def label_sets(
    truth: Sets,
    *,
    predicted: Sets | None = None,
    score: npt.ArrayLike | None = None,
    labels: Iterable[object] | None = None,
    weight: npt.ArrayLike | None = None,
) -> LabelSets:
    """Check multilabel data, in which each row may have several labels.

    Parameters
    ----------
    truth, predicted
        True and predicted labels of each row: a matrix of booleans, or of 0 and 1, with a column for each label; or a
        list with a set of labels for each row.
    score
        Matrix of scores with a column for each label; a higher score means more likely.
    labels
        Label of each column; by default 0, 1, 2, … or, for sets, all labels that occur, sorted.
    weight
        Weight of each row, as in :func:`baserate.tally`.

    Returns
    -------
    LabelSets
        Indicator matrices of true and predicted labels, and the scores.

    Examples
    --------
    >>> label_sets([{"sea", "sky"}, {"sky"}, set()], predicted=[{"sea"}, {"sky"}, {"sky"}])
    LabelSets(3 rows; labels sea, sky)
    """
    refuse_differing_indexes({"truth": truth, "predicted": predicted, "score": score, "weight": weight})
    of_sets = _is_list_of_sets(truth)
    columns = _frame_labels(truth) if labels is None else distinct_labels(labels)
    if columns is None and of_sets:
        both: list[Any] = [truth, [] if predicted is None else predicted]
        columns = tuple(_collect_labels([row for rows in both for row in rows]))
    indicators = _indicator_table("truth", truth, columns, of_sets=of_sets)
    if not len(indicators):
        raise EmptyDataError("there are no rows", remedy="give at least one.")
    columns = tuple(range(indicators.shape[1])) if columns is None else columns
    flagged = None if predicted is None else _indicator_table("predicted", predicted, columns, of_sets=of_sets)
    scores = None if score is None else _check_score_table(_order_columns("score", score, columns))
    amounts = None if weight is None else check_weights(weight)
    if amounts is not None and len(amounts) != len(indicators):
        raise ShapeError(
            f"{there_are(len(amounts), 'weight')} for {count_of(len(indicators), 'row')}", remedy="give one for each."
        )
    return _drop_zero_weights(LabelSets(indicators, columns, predicted=flagged, score=scores, weight=amounts))


def _drop_zero_weights(sets: LabelSets) -> LabelSets:
    """Leave out rows of weight zero, which count as absent."""
    if sets.weight is None or sets.weight.all():
        return sets
    nonzero = sets.weight != 0
    refuse_all_zero("weight", nonzero)
    columns = {name: getattr(sets, name) for name in ("truth", "predicted", "score", "weight")}
    present: dict[str, Any] = {name: column if column is None else column[nonzero] for name, column in columns.items()}
    return replace(sets, **present)


def _is_list_of_sets(values: Any) -> bool:  # noqa: ANN401  (anything)
    """Return whether this is a list of sets of labels, not a matrix, which may also be a list of rows."""
    if isinstance(values, np.ndarray) or hasattr(values, "dtype") or hasattr(values, "columns"):
        return False
    rows = [row for row in values if isinstance(row, Iterable)]
    if any(isinstance(row, str) for row in rows):
        raise ShapeError(
            "a row is a text, not a set of labels", remedy="split it first, for example with text.split(',')."
        )
    # Lists of labels look like rows of a matrix, unless their lengths differ or they hold text.
    ragged = len({len(list(row)) for row in rows}) > 1
    return ragged or any(
        isinstance(row, (set, frozenset)) or any(isinstance(each, str) for each in row) for row in rows
    )


def _frame_labels(values: object) -> tuple[object, ...] | None:
    """Return the names of the columns of a frame as labels; None without a frame."""
    columns = getattr(values, "columns", None)
    return None if columns is None else tuple(columns)


def _order_columns(name: str, values: Any, labels: tuple[object, ...] | None) -> Any:  # noqa: ANN401
    """Put the columns of a frame in the order of the labels."""
    titles = _frame_labels(values)
    if titles is None or labels is None or titles == tuple(range(len(titles))):
        return values
    if set(titles) != set(labels):
        raise UnknownLabelError(
            f"{name} has the columns {format_labels(titles)}, but the labels are {format_labels(labels)}",
            remedy="name these.",
        )
    return np.asarray(values)[:, [titles.index(label) for label in labels]]


def _collect_labels(rows: Sequence[Iterable[object]]) -> list[object]:
    labels = sort_labels(dict.fromkeys(label for row in rows for label in row))
    refuse_mixed_types(labels, "truth", UnknownLabelError)
    return labels


def _indicator_table(name: str, values: Any, labels: tuple[object, ...] | None, *, of_sets: bool) -> Bools:  # noqa: ANN401
    if labels is not None and of_sets:
        return _mark_labels(name, [set(row) for row in values], labels)
    table = np.asarray(_order_columns(name, values, labels))
    _check_matrix(name, table, "label")
    if table.dtype.kind not in "biuf" or not ((table == 0) | (table == 1)).all():
        raise NotBinaryError(
            f"{name} holds values other than 0 and 1", remedy="give 1 for each label that a row has, otherwise 0."
        )
    return table.astype(np.bool_)


def _mark_labels(name: str, rows: Sequence[set[object]], labels: tuple[object, ...]) -> Bools:
    place = {label: at for at, label in enumerate(labels)}
    table = np.zeros((len(rows), len(labels)), dtype=np.bool_)
    for at, row in enumerate(rows):
        unknown = [label for label in row if label not in place]
        if unknown:
            raise UnknownLabelError(
                f"row {at} of {name} holds {format_labels(unknown)}, not among the labels {format_labels(labels)}."
            )
        table[at, [place[label] for label in row]] = True
    return table


def _check_score_table(score: npt.ArrayLike) -> Reals:
    table = np.asarray(score)
    _check_matrix("score", table, "label")
    return check_scores(table.ravel()).reshape(table.shape)
