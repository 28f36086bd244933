"""`ranked`: the classifiers of a front in their order, as one score."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats, refuse_differing_indexes
from baserate._errors import MissingValuesError, OptionError, ShapeError, UnknownNameError
from baserate.decide._vertices import ALL, NONE, Front, Vertex


def ranked(front: Front, decisions: Mapping[str, npt.ArrayLike]) -> Floats:
    """Score rows by the strictest classifier of a front that flags them; 0 if none does.

    Of m classifiers the strictest gives m and the laxest 1. `decisions` holds what each of them says of the rows: flags
    of those that only label, scores of those that score. Where each flags all that the stricter ones flag, as the
    thresholds of one score do, the ROC curve of the result passes through all vertices: it is the front, and for one
    score its pools [@fawcett2007]. Otherwise what is flagged from a classifier on is what it *or a stricter one*
    flags: no true positive of it is lost, but there may be more false ones, and the curve may leave the front to either
    side.

    >>> from baserate import Counts, decide
    >>> strict, lax = Counts(tp=2, fn=1, fp=0, tn=3), Counts(tp=3, fn=0, fp=1, tn=2)
    >>> front = decide.front({"strict": strict, "lax": lax})
    >>> ranked(front, {"strict": [1, 1, 0, 0, 0, 0], "lax": [1, 1, 1, 1, 0, 0]}).tolist()
    [2.0, 2.0, 1.0, 1.0, 0.0, 0.0]
    """
    refuse_differing_indexes(decisions)
    vertices = [each for each in front.vertices if each.classifier not in (NONE, ALL)]
    columns = {each.classifier: _column(each, decisions) for each in vertices}
    if len({column.shape for column in columns.values()}) > 1:
        told = ", ".join(f"{name} {column.shape}" for name, column in columns.items())
        raise ShapeError(f"the columns have different lengths ({told}); give one value of each for every row.")
    if not vertices:
        return np.zeros(_length(decisions))
    score = np.zeros(len(next(iter(columns.values()))))
    for rank, vertex in enumerate(reversed(vertices), start=1):
        score[_flags(vertex, columns[vertex.classifier])] = rank
    return score


def _column(vertex: Vertex, decisions: Mapping[str, npt.ArrayLike]) -> Floats:
    name = vertex.classifier
    if name not in decisions:
        raise UnknownNameError(
            f"{name} is on the front, but has no decisions; there are those of {', '.join(decisions)}."
        )
    column: Floats = np.asarray(decisions[name], dtype=np.float64)
    if column.ndim != 1:
        raise ShapeError(f"{name} has shape {column.shape}; give one value for each row.")
    if np.isnan(column).any():
        raise MissingValuesError(
            f"{np.isnan(column).sum()} of {len(column)} values of {name} are NaN; leave those rows out."
        )
    if vertex.threshold is None and not np.isin(column, (0.0, 1.0)).all():
        wrong = np.count_nonzero(~np.isin(column, (0.0, 1.0)))
        raise OptionError(
            f"{wrong} of {len(column)} values of {name} are no flags; it only labels: give true or false."
        )
    return column


def _flags(vertex: Vertex, column: Floats) -> Bools:
    flagged: Bools = column >= (1.0 if vertex.threshold is None else vertex.threshold)
    return ~flagged if vertex.reversed else flagged


def _length(decisions: Mapping[str, npt.ArrayLike]) -> int:
    """How many rows there are, where no classifier is better than the constant decisions."""
    return max((len(np.atleast_1d(each)) for each in decisions.values()), default=0)
