"""Arrays, or lists of sets of labels -> LabelSets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Reals, refuse_differing_indexes
from baserate._confusion import distinct_labels
from baserate._errors import EmptyDataError, NotBinaryError, ShapeError, UnknownLabelError
from baserate._formatting import count_of, there_are
from baserate._rows import LabelSets
from baserate.read._columns import checked_scores, checked_weights
from baserate.read._labels import listed, ordered, refuse_mixed

Sets = npt.ArrayLike | Sequence[Iterable[object]]


def label_sets(
    truth: Sets,
    *,
    decided: Sets | None = None,
    score: npt.ArrayLike | None = None,
    labels: Iterable[object] | None = None,
    weight: npt.ArrayLike | None = None,
) -> LabelSets:
    """Check rows that may have several labels at once.

    Parameters
    ----------
    truth, decided
        Labels of each row: a table of booleans, or of 0 and 1, with a column for each label; or a list with a set of
        labels for each row.
    score
        How much speaks for each label: a table of numbers with a column for each.
    labels
        Label of each column; otherwise 0, 1, 2, … or, of sets, all that occur, in order.
    weight
        As in :func:`baserate.tally`.

    Examples
    --------
    >>> label_sets([{"sea", "sky"}, {"sky"}, set()], decided=[{"sea"}, {"sky"}, {"sky"}])
    LabelSets(3 rows; labels sea, sky)
    """
    refuse_differing_indexes({"truth": truth, "decided": decided, "score": score, "weight": weight})
    of_sets = _of_sets(truth)
    known = _titles(truth) if labels is None else distinct_labels(labels)
    if known is None and of_sets:
        given: list[Any] = [truth, [] if decided is None else decided]
        known = tuple(_found([row for rows in given for row in rows]))
    is_of = _table("truth", truth, known, of_sets=of_sets)
    if not len(is_of):
        raise EmptyDataError("there are no rows; give at least one.")
    known = tuple(range(is_of.shape[1])) if known is None else known
    flagged = None if decided is None else _table("decided", decided, known, of_sets=of_sets)
    scores = None if score is None else _scores(_placed("score", score, known))
    amounts = None if weight is None else checked_weights(weight)
    if amounts is not None and len(amounts) != len(is_of):
        raise ShapeError(f"{there_are(len(amounts), 'weight')} for {count_of(len(is_of), 'row')}; give one for each.")
    return _present(LabelSets(is_of, known, decided=flagged, score=scores, weight=amounts))


def _present(sets: LabelSets) -> LabelSets:
    """Leave out rows of weight zero: they are not there."""
    if sets.weight is None or sets.weight.all():
        return sets
    there = sets.weight != 0
    if not there.any():
        raise EmptyDataError("every weight is zero, so there are no rows; give at least one a weight above zero.")
    decided = None if sets.decided is None else sets.decided[there]
    score = None if sets.score is None else sets.score[there]
    return LabelSets(sets.truth[there], sets.labels, decided=decided, score=score, weight=sets.weight[there])


def _of_sets(given: Any) -> bool:  # noqa: ANN401  (anything that a caller may give)
    """Whether it is a list of sets of labels; a table of numbers is a list of rows too."""
    if isinstance(given, np.ndarray) or hasattr(given, "dtype") or hasattr(given, "columns"):
        return False
    rows = [row for row in given if isinstance(row, Iterable)]
    if any(isinstance(row, str) for row in rows):
        raise ShapeError("a row is a text, not a set of labels; split it first, for example with text.split(',').")
    ragged = len({len(list(row)) for row in rows}) > 1
    return ragged or any(
        isinstance(row, (set, frozenset)) or any(isinstance(each, str) for each in row) for row in rows
    )


def _titles(given: object) -> tuple[object, ...] | None:
    """Labels as the columns of a frame are called."""
    columns = getattr(given, "columns", None)
    return None if columns is None else tuple(columns)


def _placed(name: str, given: Any, labels: tuple[object, ...] | None) -> Any:  # noqa: ANN401
    """Columns of a frame in the order of the labels."""
    titles = _titles(given)
    if titles is None or labels is None or titles == tuple(range(len(titles))):
        return given
    if set(titles) != set(labels):
        raise UnknownLabelError(
            f"{name} has the columns {listed(titles)}, but the labels are {listed(labels)}; name these."
        )
    return np.asarray(given)[:, [titles.index(label) for label in labels]]


def _found(rows: Sequence[Iterable[object]]) -> list[object]:
    labels = ordered(dict.fromkeys(label for row in rows for label in row))
    refuse_mixed(labels, "truth", UnknownLabelError)
    return labels


def _table(name: str, given: Any, labels: tuple[object, ...] | None, *, of_sets: bool) -> Bools:  # noqa: ANN401
    if labels is not None and of_sets:
        return _indicators(name, [set(row) for row in given], labels)
    table = np.asarray(_placed(name, given, labels))
    if table.ndim != 2:
        raise ShapeError(f"{name} has shape {table.shape}; give a row for each row and a column for each label.")
    if table.dtype.kind not in "biuf" or not ((table == 0) | (table == 1)).all():
        raise NotBinaryError(f"{name} holds something else than 0 and 1; say of each label whether the row has it.")
    return table.astype(np.bool_)


def _indicators(name: str, rows: Sequence[set[object]], labels: tuple[object, ...]) -> Bools:
    place = {label: at for at, label in enumerate(labels)}
    table = np.zeros((len(rows), len(labels)), dtype=np.bool_)
    for at, row in enumerate(rows):
        unknown = [label for label in row if label not in place]
        if unknown:
            raise UnknownLabelError(
                f"row {at} of {name} holds {listed(unknown)}, not among the labels {listed(labels)}."
            )
        table[at, [place[label] for label in row]] = True
    return table


def _scores(score: npt.ArrayLike) -> Reals:
    table = np.asarray(score)
    if table.ndim != 2:
        raise ShapeError(f"score has shape {table.shape}; give a row for each row and a column for each label.")
    return checked_scores(table.ravel()).reshape(table.shape)
