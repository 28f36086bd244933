"""Scores of several classes: Hand–Till AUC, Brier score, log loss, top-k accuracy; and exact match of label sets."""

from collections.abc import Iterator
from math import fsum, inf
from typing import Unpack

import numpy as np

from baserate._arrays import Floats, Reals, mean_defined, ratio
from baserate._domains import wrong_option
from baserate._errors import NotAProbabilityError
from baserate._numeric.cumulative import pairwise_wins, parallel_map
from baserate._rows import LabelSets, MulticlassRows
from baserate.measure._measure import Values, measure
from baserate.read import PredictionOptions, accepts_predictions

__all__ = ["brier", "exact_match", "hand_till", "log_loss", "pairwise_auc", "top_k_accuracy"]

_BLOCK = 1 << 14
"""Rows that fit the cache together with intermediate results."""
NEAR = 0.01
"""Tolerance of the sum of one row's probabilities, which may be rounded."""


@accepts_predictions("class rows")
def pairwise_auc(rows: MulticlassRows, **predictions: Unpack[PredictionOptions]) -> Floats:
    r"""Return the AUC of each pair of classes, :math:`\hat A(i|j)`.

    It is the probability that a member of class i has a higher score for i than a member of class j; ties count half.
    Hand and Till's table is the mean of this one and its transpose [@hand2001].

    Parameters
    ----------
    rows
        Rows with a score for each class.

    Returns
    -------
    array
        A row for each i and a column for each j; NaN on the diagonal, and where a class does not occur.

    Examples
    --------
    >>> from baserate import class_scores
    >>> rows = class_scores(["a", "b", "c"], [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.5, 0.3, 0.2]])
    >>> pairwise_auc(rows).tolist()
    [[nan, 1.0, 1.0], [1.0, nan, 1.0], [1.0, 1.0, nan]]
    """
    width = len(rows.labels)

    def row(of: int) -> Floats:
        # Sorting needs contiguous memory; a view of one column is that only in Fortran order.
        return pairwise_wins(np.ascontiguousarray(rows.score[:, of]), rows.truth, rows.amount, of=of, width=width)

    won = np.array(parallel_map(row, range(width), size=rows.score.size))
    support = rows.support
    pairs = np.outer(support, support)
    np.fill_diagonal(won, 0)
    np.fill_diagonal(pairs, 0)
    return ratio(won, pairs)


@measure(
    "Hand–Till M: mean AUC over all pairs of classes.",
    formula=r"\frac{2}{K(K-1)}\sum_{i<j}\hat A(i,j)",
    aliases=("Hand–Till M", "multi-class AUC", "AUC one-vs-one", "MAUC"),
    references=("hand2001",),
    values=Values("high", (0, 1), needs=("truth_spread",)),
)
def hand_till(r: MulticlassRows) -> float:
    """Classes that do not occur have no pairs. With two classes whose scores add up to 1 it is the AUC.

    >>> from baserate import class_scores
    >>> rows = class_scores(["a", "b", "c", "c"], [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.5, 0.3, 0.2], [0.1, 0.7, 0.2]])
    >>> round(hand_till(rows), 10)
    0.9166666667
    """
    return mean_defined(pairwise_auc(r).ravel())


@measure(
    "Brier score of several classes: mean over rows of the squared errors summed over classes.",
    formula=r"\frac1n\sum(p_{ik}-y_{ik})^2",
    aliases=("Brier score", "quadratic score"),
    references=("brier1950",),
    values=Values("low", (0, 2), needs=("total",)),
)
def brier(r: MulticlassRows) -> float:
    """Errors are summed over classes, as in Brier's paper: two classes give twice `baserate.measure.brier`.

    >>> from baserate import class_scores
    >>> round(brier(class_scores(["a", "b", "c"], [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.5, 0.3, 0.2]])), 10)
    0.4333333333
    """
    parts = []
    for score, truth, amount in _iterate_blocks(r):
        gap = score.copy()
        gap[np.arange(len(truth)), truth] -= 1
        parts.append(np.sum(amount * np.square(gap).sum(axis=1)))
    return ratio(fsum(parts), r.total)


@measure(
    "Mean negative log-likelihood of the true classes under the predicted probabilities.",
    formula=r"-\frac1n\sum_i\ln p_i(y_i)",
    aliases=("cross-entropy loss", "logarithmic score", "multinomial log-loss"),
    references=("good1952",),
    values=Values("low", (0, inf), needs=("total",)),
)
def log_loss(r: MulticlassRows) -> float:
    """Infinite if a class that occurs had probability 0; probabilities are neither clipped nor normalized.

    >>> from baserate import class_scores
    >>> round(log_loss(class_scores(["a", "b", "c"], [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.5, 0.3, 0.2]])), 10)
    0.7811356958
    """
    with np.errstate(divide="ignore"):  # the logarithm of 0
        parts = [
            -np.sum(amount * np.log(score[np.arange(len(truth)), truth])) for score, truth, amount in _iterate_blocks(r)
        ]
    return ratio(fsum(parts) + 0.0, r.total)  # −0.0 is 0.0


@measure(
    "Share of rows whose true class is among the k highest scores (by default, k = 2).",
    formula=r"\frac1n\sum_i[r_i≤k]",
    aliases=("top-k accuracy", "recall at k"),
    references=("russakovsky2015",),
    values=Values("high", (0, 1), needs=("total",)),
)
def top_k_accuracy(r: MulticlassRows, *, k: int = 2) -> float:
    """Of equal scores the class that is named first goes first, as in `MulticlassRows.confusion`.

    >>> from baserate import class_scores
    >>> rows = class_scores(["a", "b", "c"], [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.5, 0.3, 0.2]])
    >>> top_k_accuracy(rows, k=3), round(top_k_accuracy(rows), 4)
    (1.0, 0.6667)
    """
    if k != int(k) or not 1 <= k <= len(r.labels):
        raise wrong_option("k", k, f"a whole number from 1 to the number of classes, {len(r.labels)}")
    hit = r.rank() < k
    return ratio(float(hit.sum() if r.amount is None else r.amount[hit].sum()), r.total)


@measure(
    "Share of rows whose predicted label set equals the true one (subset accuracy).",
    formula=r"\frac1n\sum_i[Y_i=\hat Y_i]",
    aliases=("subset accuracy", "exact match ratio"),
    references=("tsoumakas2007",),
    values=Values("high", (0, 1), needs=("total",)),
)
def exact_match(s: LabelSets) -> float:
    """
    >>> from baserate import label_sets
    >>> exact_match(label_sets([{"sea", "sky"}, {"sky"}], predicted=[{"sea"}, {"sky"}]))
    0.5
    """
    counts = s.per_row()
    correct = np.asarray((counts.fp + counts.fn) == 0, dtype=np.float64)
    return mean_defined(correct, 1.0 if s.weight is None else s.weight)


def _iterate_blocks(r: MulticlassRows) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Yield probabilities, class and amount in blocks of rows that stay in the cache."""
    amount = r.amount
    for start in range(0, len(r), _BLOCK):
        place = slice(start, start + _BLOCK)
        score = np.asarray(r.score[place], dtype=np.float64)
        if not _are_probabilities(score):
            check_class_probabilities(r, "use rank measures, which take any score.")
        yield score, r.truth[place], np.ones(len(score)) if amount is None else amount[place]


def check_class_probabilities(r: MulticlassRows, otherwise: str) -> None:
    """Refuse rows whose scores are not probabilities."""
    if _are_probabilities(r.score):
        return
    sums = r.score.sum(axis=1)
    bad = (np.abs(sums - 1) > NEAR) | (r.score < 0).any(axis=1) | (r.score > 1).any(axis=1)
    raise NotAProbabilityError(
        f"in {int(bad.sum())} of {len(r)} rows the scores are outside [0, 1] or do not add up to 1 (they go from "
        f"{r.score.min():.8g} to {r.score.max():.8g}, sums from {sums.min():.6g} to {sums.max():.6g}), so they are "
        f"not probabilities.",
        remedy=f"Make them probabilities first, or {otherwise}",
    )


def _are_probabilities(score: Reals) -> bool:
    return bool((np.abs(score.sum(axis=1) - 1) <= NEAR).all() and score.min() >= 0 and score.max() <= 1)
