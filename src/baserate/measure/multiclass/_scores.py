"""Scores of several classes: Hand–Till AUC, proper scores, cost, top-k accuracy; and exact match of label sets."""

from collections.abc import Iterator, Sequence
from math import fsum, inf
from typing import Unpack

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats, Reals, mean_defined, ratio, sums_of_others
from baserate._costs import CostMatrix
from baserate._domains import wrong_option
from baserate._errors import NotAProbabilityError
from baserate._numeric.cumulative import pairwise_wins, parallel_map
from baserate._rows import LabelSets, MulticlassRows
from baserate.measure._measure import Values, measure
from baserate.measure._proper_scores import relative_loss
from baserate.read import PredictionOptions, accepts_predictions

__all__ = [
    "brier",
    "brier_skill",
    "classification_cost",
    "exact_match",
    "hand_till",
    "hand_till_weighted",
    "log_loss",
    "log_loss_skill",
    "pairwise_auc",
    "ranked_probability_score",
    "top_k_accuracy",
]

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
    "Mean AUC over all pairs of classes, each weighted by the number of its rows.",
    formula=r"\frac{1}{K-1}\sum_{i<j}(π_i+π_j)\hat A(i,j)",
    aliases=("weighted one-vs-one AUC", "prevalence-weighted Hand–Till M"),
    references=("hand2001", "ferri2009"),
    values=Values("high", (0, 1), needs=("truth_spread",)),
)
def hand_till_weighted(r: MulticlassRows) -> float:
    """Unlike Hand and Till's M it depends on the class frequencies. Rows may have weights, which scikit-learn refuses
    for one-vs-one AUC.

    >>> from baserate import class_scores
    >>> rows = class_scores(["a", "b", "c", "c"], [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.5, 0.3, 0.2], [0.1, 0.7, 0.2]])
    >>> round(hand_till_weighted(rows), 10)
    0.90625
    """
    support = r.support
    return mean_defined(pairwise_auc(r).ravel(), np.add.outer(support, support).ravel())


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
    "Brier skill score of several classes: one minus the Brier score over that of the class frequencies.",
    formula=r"1-BS/(1-\sum_k π_k^2)",
    aliases=("D² Brier", "multi-class Brier skill score"),
    references=("murphy1973",),
    values=Values("high", (-inf, 1), needs=("truth_spread",)),
)
def brier_skill(r: MulticlassRows) -> float:
    """Always predicting the class frequencies scores 0. Two classes have the value of `baserate.measure.brier_skill`.

    >>> from baserate import class_scores
    >>> round(brier_skill(class_scores(["a", "b", "c"], [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.5, 0.3, 0.2]])), 10)
    0.35
    """
    return 1 - relative_loss(brier(r), constant_brier(r.support))


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
    "McFadden's R² of several classes: one minus the log loss over that of the class frequencies.",
    formula="1-LL/H(π)",
    aliases=("McFadden's R²", "D² log-loss", "multi-class log loss skill"),
    references=("mcfadden1974",),
    values=Values("high", (-inf, 1), needs=("truth_spread",)),
)
def log_loss_skill(r: MulticlassRows) -> float:
    """Always predicting the class frequencies scores 0.

    >>> from baserate import class_scores
    >>> round(log_loss_skill(class_scores(["a", "b", "c"], [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.5, 0.3, 0.2]])), 10)
    0.2889796483
    """
    return 1 - relative_loss(log_loss(r), constant_log_loss(r.support))


@measure(
    "Ranked probability score of ordered classes: mean squared error of the cumulative probabilities.",
    formula=r"\frac{1}{n(K-1)}\sum_i\sum_{k<K}(F_{ik}-[y_i≤k])^2",
    aliases=("RPS", "ranked prob score", "ordinal Brier score"),
    references=("epstein1969", "murphy1971"),
    values=Values("low", (0, 1), needs=("total",)),
)
def ranked_probability_score(r: MulticlassRows) -> float:
    """The classes are ordered as their labels: state the order as `labels=`. Probability far from the true class costs
    most. F are cumulative probabilities, and K is the number of labels, whether or not all of them occur.
    Division by K − 1 gives a range from 0 to 1, as in yardstick; Epstein's score is 1 minus this one [@epstein1969]
    [@murphy1971]. Some tools leave the sum undivided. Two classes have the Brier score of `baserate.measure.brier`.

    >>> from baserate import class_scores
    >>> near = class_scores(["low", "high"], [[0.2, 0.8, 0.0], [0.0, 0.8, 0.2]], labels=["low", "mid", "high"])
    >>> far = class_scores(["low", "high"], [[0.2, 0.0, 0.8], [0.8, 0.0, 0.2]], labels=["low", "mid", "high"])
    >>> round(ranked_probability_score(near), 10), round(ranked_probability_score(far), 10)
    (0.32, 0.64)
    """
    parts = [
        np.sum(amount * ranked_losses(score)[np.arange(len(truth)), truth])
        for score, truth, amount in _iterate_blocks(r)
    ]
    return ratio(fsum(parts), r.total)


@measure(
    "Mean cost if each class were predicted as often as its probability (by default, an error costs 1).",
    formula=r"\frac1n\sum_i\sum_k p_{ik}w_{y_ik}",
    aliases=("soft cost", "soft classification cost"),
    references=("elkan2001",),
    values=Values("low", (-inf, inf), needs=("total",)),
    caution=(
        "is not a proper score: it is best for probabilities of 0 and 1, right or wrong. Use expected_cost for "
        "decisions, and brier or log_loss for probabilities."
    ),
)
def classification_cost(r: MulticlassRows, *, costs: CostMatrix | npt.ArrayLike | None = None) -> float:
    """Costs are as in `expected_cost`, which has the cost of the decisions themselves. This one is the cost of choosing
    each class at random, with its probability.

    >>> from baserate import class_scores
    >>> rows = class_scores(["a", "b", "c"], [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.5, 0.3, 0.2]])
    >>> round(classification_cost(rows), 10)
    0.4666666667
    >>> round(classification_cost(rows, costs=[[0, 1, 2], [3, 0, 3], [9, 9, 0]]), 10)
    2.9
    """
    table = cost_table(costs, r.labels)
    parts = [np.sum(amount * np.sum(score * table[truth], axis=1)) for score, truth, amount in _iterate_blocks(r)]
    return ratio(fsum(parts), r.total)


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


def constant_brier(support: Floats) -> float:
    """Return the Brier score of always predicting the class frequencies."""
    shares = ratio(support, support.sum())
    return float(np.sum(shares * ratio(sums_of_others(support), support.sum())))


def constant_log_loss(support: Floats) -> float:
    """Return the log loss of always predicting the class frequencies: their entropy."""
    from scipy.special import entr

    return float(entr(ratio(support, support.sum())).sum())


def ranked_losses(score: Floats) -> Floats:
    """Return the ranked probability score of each row for each possible true class."""
    below = np.cumsum(score, axis=1)[:, :-1]
    steps = below.shape[1]
    # For true class k: Σ F² − 2 Σ_{j ≥ k} F_j + (K − 1 − k), without a loop over classes.
    above = np.cumsum(below[:, ::-1], axis=1)[:, ::-1]
    above = np.concatenate([above, np.zeros((len(score), 1))], axis=1)
    sums = np.square(below).sum(axis=1, keepdims=True) - 2 * above + np.arange(steps, -1, -1)
    return np.asarray(np.maximum(sums, 0.0) / max(steps, 1))


def cost_table(costs: CostMatrix | npt.ArrayLike | None, labels: Sequence[object]) -> Floats:
    """Return costs in the order of labels, true classes in rows; 1 for each error where there are none."""
    if costs is None:
        return 1 - np.eye(len(labels))
    matrix = costs if isinstance(costs, CostMatrix) else CostMatrix(costs, labels)
    return matrix.over(labels)


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
