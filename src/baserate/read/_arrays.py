"""Arrays and lists -> Tally."""

from typing import Any

import numpy.typing as npt

from baserate._arrays import refuse_differing_indexes
from baserate._errors import EmptyDataError, ShapeError
from baserate._tally import Tally
from baserate.read._columns import checked_counts, checked_scores, checked_truth, checked_weights


def tally(
    truth: npt.ArrayLike,
    score: npt.ArrayLike,
    *,
    weight: npt.ArrayLike | None = None,
    count: npt.ArrayLike | None = None,
    positive: object = None,
) -> Tally:
    """Tally how much of each class sits at each score.

    Parameters
    ----------
    truth
        Class of each row: booleans, 0 and 1, or any two labels if `positive` names one of them.
    score
        Number for each row, higher meaning more positive; a probability where it is used as one.
    weight
        Sampling or importance weight of each row, ≥ 0.
    count
        How many identical rows each row stands for, whole and ≥ 0.
    positive
        Label of the positive class; may be left out for booleans and for 0 and 1.

    Examples
    --------
    >>> tally(["sick", "well", "well"], [0.9, 0.4, 0.4], positive="sick")
    Tally(3 rows, 2 distinct scores from 0.4 to 0.9, prevalence 0.333333)
    """
    refuse_differing_indexes({"truth": truth, "score": score, "weight": weight, "count": count})
    columns: dict[str, npt.NDArray[Any]] = {"truth": checked_truth(truth, positive), "score": checked_scores(score)}
    if weight is not None:
        columns["weight"] = checked_weights(weight)
    if count is not None:
        columns["count"] = checked_counts(count)
    _check_lengths(columns)
    columns = _present(columns)
    return Tally.of_rows(**columns)


def _check_lengths(columns: dict[str, npt.NDArray[Any]]) -> None:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ShapeError(f"the columns have different lengths ({told}); give one value of each for every row.")
    if not lengths["truth"]:
        raise EmptyDataError("there are no rows; give at least one.")


def _present(columns: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Leave out rows of weight or count zero: they are not there."""
    for name in ("weight", "count"):
        if name in columns and not columns[name].all():
            there = columns[name] != 0
            if not there.any():
                raise EmptyDataError(
                    f"every {name} is zero, so there are no rows; give at least one a {name} above zero."
                )
            columns = {other: column[there] for other, column in columns.items()}
    return columns
