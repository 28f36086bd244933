"""Arrays and lists of several classes -> Confusion or ClassRows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Reals, make_read_only, refuse_differing_indexes
from baserate._confusion import Confusion, distinct_labels
from baserate._errors import ShapeError, UnknownLabelError
from baserate._formatting import count_of, there_are
from baserate._read_summary import ReadSummary
from baserate._rows import MulticlassRows
from baserate.read import _classes
from baserate.read._eager import Rule, Table
from baserate.read._labels import listed, ordered
from baserate.read._memory import loaded
from baserate.read._named import Columns

_RULE = Rule(remedy="leave those rows out first")


def confusion(
    truth: npt.ArrayLike,
    predicted: npt.ArrayLike,
    *,
    weight: npt.ArrayLike | None = None,
    count: npt.ArrayLike | None = None,
    labels: Iterable[object] | None = None,
) -> Confusion:
    """Count how often each pair of true and predicted label occurs.

    Parameters
    ----------
    truth, predicted
        Label of each row: text, whole numbers, booleans, any number of classes.
    weight, count
        As in :func:`baserate.tally`.
    labels
        All classes in order; otherwise those that occur in either column, by size or text.

    Examples
    --------
    >>> confusion(["cat", "dog", "dog"], ["cat", "cat", "dog"]).mass.tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    columns = Columns("truth", predicted="predicted")
    table, columns = _loaded({"truth": truth, "predicted": predicted}, columns, weight, count)
    rule = _RULE if labels is None else replace(_RULE, labels=tuple(labels))
    return _classes.confusions(table, columns, rule).pooled


def scored(
    truth: npt.ArrayLike,
    score: npt.ArrayLike,
    *,
    weight: npt.ArrayLike | None = None,
    count: npt.ArrayLike | None = None,
    labels: Iterable[object] | None = None,
) -> MulticlassRows:
    """Check rows that have a score for each class.

    Parameters
    ----------
    truth
        Label of each row.
    score
        A row for each row and a column for each class, the higher the likelier; probabilities where used as such.
    weight, count
        As in :func:`baserate.tally`.
    labels
        Class of each column; otherwise what the columns of a frame are called, or the labels of truth in order, if
        there are as many, or 0, 1, 2, ….

    Examples
    --------
    >>> scored(["cat", "dog", "dog"], [[0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    ClassRows(3 rows; scores for cat, dog)
    """
    refuse_differing_indexes({"truth": truth, "score": score, "weight": weight, "count": count})
    scores = _two_dimensional(score)
    names = tuple(f"score of column {at}" for at in range(scores.shape[1]))
    given = {"truth": truth} | {name: scores[:, at] for at, name in enumerate(names)}
    table, columns = _loaded(given, Columns("truth", score=names), weight, count)
    known = _classes_of(table, len(names), _titles(score)) if labels is None else distinct_labels(labels)
    if len(known) != len(names):
        raise ShapeError(f"{there_are(len(known), 'label')} for {len(names)} columns of scores; give one for each.")
    whole = _one_array(scores, score)
    found = _classes.class_rows(table, columns, replace(_RULE, bound=known), score=whole)
    return replace(found, intake=ReadSummary(found.intake.read, classes=found.labels))


def _loaded(
    given: Mapping[str, Any], columns: Columns, weight: npt.ArrayLike | None, count: npt.ArrayLike | None
) -> tuple[Table, Columns]:
    refuse_differing_indexes({**given, "weight": weight, "count": count})
    given = {name: _in_order(column) for name, column in given.items()}
    amounts = {name: column for name, column in (("weight", weight), ("count", count)) if column is not None}
    columns = replace(columns, weight=None if weight is None else "weight", count=None if count is None else "count")
    return loaded({**given, **amounts}, columns), columns


def _in_order(column: Any) -> Any:  # noqa: ANN401  (array, list or column of a frame)
    """Columns of frames as they are, since their categories may have an order."""
    if isinstance(column, (np.ndarray, list, tuple)) or not hasattr(column, "dtype"):
        return column
    import narwhals.stable.v2 as nw

    return nw.from_native(column, series_only=True, pass_through=True)


def _two_dimensional(score: npt.ArrayLike) -> npt.NDArray[Any]:
    bare = np.ma.filled(score.astype(np.float64), np.nan) if isinstance(score, np.ma.MaskedArray) else score
    scores = np.asfortranarray(bare)  # one class after the other is what is sorted
    if scores.ndim != 2 or scores.shape[1] < 2:
        raise ShapeError(f"score has shape {scores.shape}; give a row for each row and a column for each class.")
    return scores


def _one_array(scores: npt.NDArray[Any], given: npt.ArrayLike) -> Reals | None:
    """The scores as they are, if they are floats in an array of our own, so that they need not be copied again."""
    ours = scores.dtype == np.float64 and not np.may_share_memory(scores, np.asarray(given))
    return make_read_only(scores) if ours else None


def _titles(score: object) -> list[str]:
    """Names of the columns of a frame, unless they are mere numbers of places."""
    titles = list(getattr(score, "columns", ()))
    return [] if titles == list(range(len(titles))) else list(map(str, titles))


def _classes_of(table: Table, many: int, titles: Sequence[str]) -> tuple[object, ...]:
    """Classes of so many columns, where nobody named them: as they are called, or as many as there are in truth."""
    found = ordered(table.labels["truth"].labels)
    if titles:
        return tuple(_classes.named_classes(titles, found))
    if len(found) == many:
        return tuple(found)
    if 0 in found and all(type(label) is int and 0 <= label < many for label in found):
        return tuple(range(many))
    raise UnknownLabelError(
        f"truth holds {count_of(len(found), 'class', 'classes')} ({listed(found)}), but there are {many} "
        "columns of scores; name the class of each with labels=."
    )
