"""Arrays and lists of two classes: a Tally. Those of several classes are apart, so that this one loads fast."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from baserate._arrays import refuse_differing_indexes, refuse_differing_lengths
from baserate._errors import EmptyDataError
from baserate._tally import Tally
from baserate.read._columns import check_counts, check_scores, check_truth, check_weights, refuse_all_zero


def tally(
    truth: npt.ArrayLike,
    score: npt.ArrayLike,
    *,
    weight: npt.ArrayLike | None = None,
    count: npt.ArrayLike | None = None,
    positive: object = None,
) -> Tally:
    """Tally how much of each class sits at each score.

    A table or file with names of its columns does, too: ``tally(table, truth="sick", score="risk")``.

    Parameters
    ----------
    truth
        True class of each row: booleans, 0 and 1, or any two labels if `positive` names one of them.
    score
        Score of each row; a higher score means more likely positive. Some measures need probabilities.
    weight
        Sampling or importance weight of each row, ≥ 0.
    count
        Number of identical rows that each row stands for, a whole number ≥ 0.
    positive
        Label of the positive class; optional for booleans and for 0 and 1.

    Returns
    -------
    Tally
        Mass of both classes at each distinct score.

    Examples
    --------
    >>> tally(["sick", "well", "well"], [0.9, 0.4, 0.4], positive="sick")
    Tally(3 rows, 2 distinct scores from 0.4 to 0.9, prevalence 0.333333)
    """
    refuse_differing_indexes({"truth": truth, "score": score, "weight": weight, "count": count})
    columns: dict[str, npt.NDArray[Any]] = {"truth": check_truth(truth, positive), "score": check_scores(score)}
    if weight is not None:
        columns["weight"] = check_weights(weight)
    if count is not None:
        columns["count"] = check_counts(count)
    refuse_differing_lengths(columns)
    if not len(columns["truth"]):
        raise EmptyDataError("there are no rows", remedy="give at least one.")
    return Tally.of_rows(**_drop_zeros(columns))


def _drop_zeros(columns: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Leave out rows of weight or count zero, which count as absent."""
    for name in ("weight", "count"):
        if name in columns and not columns[name].all():
            nonzero = columns[name] != 0
            refuse_all_zero(name, nonzero)
            columns = {other: column[nonzero] for other, column in columns.items()}
    return columns
