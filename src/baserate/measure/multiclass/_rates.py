"""Accuracy of several classes, balanced or not, and expected cost. Each takes a `Confusion`."""

from math import inf

import numpy as np
import numpy.typing as npt

from baserate._arrays import as_python, exact_sum, mean_defined, ratio
from baserate._confusion import Confusion
from baserate._costs import CostMatrix
from baserate.measure import _agreement as binary
from baserate.measure._measure import measure

__all__ = [
    "accuracy",
    "adjusted_balanced_accuracy",
    "balanced_accuracy",
    "class_balanced_accuracy",
    "expected_cost",
    "hamming_loss",
    "jaccard",
    "mean_balanced_accuracy",
    "no_information_rate",
]


@measure(
    summary="Share of all rows that are classified correctly.",
    formula=r"\sum_k C_{kk}/n",
    aliases=(
        "fraction correct",
        "overall accuracy",
        "ACC",
        "observed agreement",
        "micro recall",
        "micro precision",
        "micro F1",
    ),
    references=("sokolova2009",),
    best="high",
    span=(0, 1),
    needs=("total",),
    share=(("agreement",), ("disagreement",)),
)
def accuracy(c: Confusion) -> float:
    """
    >>> from baserate import Confusion
    >>> rows = [[100, 80, 10, 10], [0, 9, 0, 1], [0, 1, 8, 1], [0, 1, 0, 9]]
    >>> round(accuracy(Confusion.of_matrix(rows, "ABCD", truth="rows")), 10)
    0.547826087
    """
    return ratio(exact_sum(c.correct), c.total)


@measure(
    summary="Share of all rows that are misclassified.",
    formula=r"1-\sum_k C_{kk}/n",
    aliases=("error rate", "misclassification rate", "zero-one loss", "ERR", "observed disagreement"),
    references=("sokolova2009",),
    best="low",
    span=(0, 1),
    needs=("total",),
    share=(("disagreement",), ("agreement",)),
)
def hamming_loss(c: Confusion) -> float:
    """
    >>> from baserate import Confusion
    >>> hamming_loss(Confusion.of_matrix([[20, 5], [10, 15]], truth="rows"))
    0.3
    """
    return ratio(c.disagreement, c.total)


@measure(
    summary="Micro-averaged Jaccard index: pooled intersection over union of true and predicted classes.",
    formula=r"\sum_k C_{kk}/(2n-\sum_k C_{kk})",
    aliases=("micro Jaccard", "pooled intersection over union"),
    references=("jaccard1901",),
    best="high",
    span=(0, 1),
    needs=("total",),
)
def jaccard(c: Confusion) -> float:
    """
    >>> from baserate import Confusion
    >>> jaccard(Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows"))
    0.5
    """
    return ratio(exact_sum(c.correct), c.total + c.disagreement)


@measure(
    summary="Mean recall over the classes that occur (macro-averaged recall).",
    formula=r"\frac1m\sum_{t_k>0} C_{kk}/t_k",
    aliases=(
        "macro recall",
        "mean per-class accuracy",
        "average accuracy of classes",
        "unweighted average recall",
        "UAR",
    ),
    references=("brodersen2010",),
    best="high",
    span=(0, 1),
    needs=("total",),
)
def balanced_accuracy(c: Confusion) -> float:
    """
    >>> from baserate import Confusion
    >>> rows = [[100, 80, 10, 10], [0, 9, 0, 1], [0, 1, 8, 1], [0, 1, 0, 9]]
    >>> round(balanced_accuracy(Confusion.of_matrix(rows, "ABCD", truth="rows")), 10)
    0.775
    """
    return mean_defined(ratio(c.correct, c.truth))


@measure(
    summary="Balanced accuracy rescaled so that constant predictions score 0 and perfect ones 1.",
    formula="(BA-1/m)/(1-1/m)",
    aliases=("multi-class informedness", "multi-class Youden index"),
    references=("brodersen2010",),
    best="high",
    span=(-1, 1),
    needs=("truth_spread",),
)
def adjusted_balanced_accuracy(c: Confusion) -> float:
    """m is the number of classes that occur, and BA their mean recall.

    >>> from baserate import Confusion
    >>> rows = [[100, 80, 10, 10], [0, 9, 0, 1], [0, 1, 8, 1], [0, 1, 0, 9]]
    >>> round(adjusted_balanced_accuracy(Confusion.of_matrix(rows, "ABCD", truth="rows")), 10)
    0.7
    """
    chance = ratio(1.0, as_python(np.count_nonzero(c.truth, axis=-1)))
    scope = 1 - chance
    # Both are multiplied by the scope, so that a single class gives 0/0, not rounding divided by 0.
    return ratio((balanced_accuracy(c) - chance) * scope, scope * scope)


@measure(
    summary="Mean over classes of the smaller of precision and recall.",
    formula=r"\frac1K\sum_k C_{kk}/\max(t_k,p_k)",
    aliases=("CBA", "Mosley's class balance accuracy"),
    references=("mosley2013",),
    best="high",
    span=(0, 1),
    needs=("total",),
)
def class_balanced_accuracy(c: Confusion) -> float:
    """A class that neither occurs nor is predicted does not count.

    >>> from baserate import Confusion
    >>> round(class_balanced_accuracy(Confusion.of_matrix([[5, 0, 0], [0, 10, 0], [0, 300, 0]], truth="rows")), 10)
    0.3440860215
    """
    return mean_defined(ratio(c.correct, np.maximum(c.truth, c.predicted)))


@measure(
    summary="Mean balanced accuracy of each class against the rest.",
    formula=r"\frac1m\sum_{t_k>0}(TPR_k+TNR_k)/2",
    aliases=("Urbanowicz's balanced accuracy", "macro balanced accuracy"),
    references=("urbanowicz2015",),
    best="high",
    span=(0, 1),
    needs=("truth_spread",),
)
def mean_balanced_accuracy(c: Confusion) -> float:
    """
    >>> from baserate import Confusion
    >>> round(mean_balanced_accuracy(Confusion.of_matrix([[2, 2, 0], [0, 4, 0], [0, 0, 8]], truth="rows")), 10)
    0.8888888889
    """
    return mean_defined(binary.balanced_accuracy(c.one_vs_rest()))


@measure(
    summary="Accuracy of always predicting the most frequent class.",
    formula=r"\max_k t_k/n",
    aliases=("NIR", "majority class rate", "zero rule accuracy"),
    references=("kuhn2008",),
    best=None,
    span=(0, 1),
    needs=("total",),
)
def no_information_rate(c: Confusion) -> float:
    """
    >>> from baserate import Confusion
    >>> no_information_rate(Confusion.of_matrix([[183, 13], [141, 663]], truth="rows"))
    0.804
    """
    most: float = as_python(c.truth.max(axis=-1))
    return ratio(most, c.total)


@measure(
    summary="Mean cost per row (by default, each error costs 1).",
    formula=r"\sum_{ij} w_{ij}C_{ij}/n",
    aliases=("expected loss", "average cost", "classification cost"),
    references=("elkan2001",),
    best="low",
    span=(-inf, inf),
    needs=("total",),
)
def expected_cost(c: Confusion, *, costs: CostMatrix | npt.ArrayLike | None = None) -> float:
    """Costs are a `CostMatrix` with labels, or a plain K×K table in the order of the labels of `c`, with true classes
    in rows.

    >>> from baserate import Confusion
    >>> officers = Confusion.of_matrix([[20, 5], [10, 15]], ["yes", "no"], truth="rows")
    >>> expected_cost(officers, costs=CostMatrix([[0, 4], [1, 0]], ["no", "yes"]))
    0.9
    """
    if costs is None:
        return hamming_loss(c)
    matrix = costs if isinstance(costs, CostMatrix) else CostMatrix(costs, c.labels)
    return ratio(matrix.total(c), c.total)
