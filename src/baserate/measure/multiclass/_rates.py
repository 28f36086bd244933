"""Accuracy of several classes, balanced or not; expected cost; agreement beyond chance. Each takes a `Confusion`."""

from math import inf
from typing import Literal

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats, as_python, exact_sum, mean_defined, ratio, root, sums_of_others
from baserate._confusion import Confusion
from baserate._costs import CostMatrix
from baserate._domains import wrong_option
from baserate._errors import OptionError, ShapeError
from baserate.measure import _rates as binary
from baserate.measure._measure import Values, measure

__all__ = [
    "accuracy",
    "adjusted_balanced_accuracy",
    "balanced_accuracy",
    "bennett_s",
    "chance_accuracy",
    "class_balanced_accuracy",
    "expected_cost",
    "gwet_ac1",
    "hamming_loss",
    "jaccard",
    "kappa",
    "krippendorff_alpha",
    "mcc",
    "mcc_least",
    "mean_balanced_accuracy",
    "no_information_rate",
    "scott_pi",
]


@measure(
    "Share of all rows that are classified correctly.",
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
    values=Values("high", (0, 1), needs=("total",), share=(("agreement",), ("disagreement",))),
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
    "Share of all rows that are misclassified.",
    formula=r"1-\sum_k C_{kk}/n",
    aliases=("error rate", "misclassification rate", "zero-one loss", "ERR", "observed disagreement"),
    references=("sokolova2009",),
    values=Values("low", (0, 1), needs=("total",), share=(("disagreement",), ("agreement",))),
)
def hamming_loss(c: Confusion) -> float:
    """
    >>> from baserate import Confusion
    >>> hamming_loss(Confusion.of_matrix([[20, 5], [10, 15]], truth="rows"))
    0.3
    """
    return ratio(c.disagreement, c.total)


@measure(
    "Micro-averaged Jaccard index: pooled intersection over union of true and predicted classes.",
    formula=r"\sum_k C_{kk}/(2n-\sum_k C_{kk})",
    aliases=("micro Jaccard", "pooled intersection over union"),
    references=("jaccard1901",),
    values=Values("high", (0, 1), needs=("total",)),
)
def jaccard(c: Confusion) -> float:
    """
    >>> from baserate import Confusion
    >>> jaccard(Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows"))
    0.5
    """
    return ratio(exact_sum(c.correct), c.total + c.disagreement)


@measure(
    "Mean recall over the classes that occur (macro-averaged recall).",
    formula=r"\frac1m\sum_{t_k>0} C_{kk}/t_k",
    aliases=(
        "macro recall",
        "mean per-class accuracy",
        "average accuracy of classes",
        "unweighted average recall",
        "UAR",
    ),
    references=("brodersen2010",),
    values=Values("high", (0, 1), needs=("total",)),
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
    "Balanced accuracy rescaled so that constant predictions score 0 and perfect ones 1.",
    formula="(BA-1/m)/(1-1/m)",
    aliases=("multi-class informedness", "multi-class Youden index"),
    references=("brodersen2010",),
    values=Values("high", (-1, 1), needs=("truth_spread",)),
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
    "Mean over classes of the smaller of precision and recall.",
    formula=r"\frac1K\sum_k C_{kk}/\max(t_k,p_k)",
    aliases=("CBA", "Mosley's class balance accuracy"),
    references=("mosley2013",),
    values=Values("high", (0, 1), needs=("total",)),
)
def class_balanced_accuracy(c: Confusion) -> float:
    """A class that neither occurs nor is predicted does not count.

    >>> from baserate import Confusion
    >>> round(class_balanced_accuracy(Confusion.of_matrix([[5, 0, 0], [0, 10, 0], [0, 300, 0]], truth="rows")), 10)
    0.3440860215
    """
    return mean_defined(ratio(c.correct, np.maximum(c.truth, c.predicted)))


@measure(
    "Mean balanced accuracy of each class against the rest.",
    formula=r"\frac1m\sum_{t_k>0}(TPR_k+TNR_k)/2",
    aliases=("Urbanowicz's balanced accuracy", "macro balanced accuracy"),
    references=("urbanowicz2015",),
    values=Values("high", (0, 1), needs=("truth_spread",)),
)
def mean_balanced_accuracy(c: Confusion) -> float:
    """
    >>> from baserate import Confusion
    >>> round(mean_balanced_accuracy(Confusion.of_matrix([[2, 2, 0], [0, 4, 0], [0, 0, 8]], truth="rows")), 10)
    0.8888888889
    """
    return mean_defined(binary.balanced_accuracy(c.one_vs_rest()))


@measure(
    "Accuracy of always predicting the most frequent class.",
    formula=r"\max_k t_k/n",
    aliases=("NIR", "majority class rate", "zero rule accuracy"),
    references=("kuhn2008",),
    values=Values(None, (0, 1), needs=("total",)),
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
    "Mean cost per row (by default, each error costs 1).",
    formula=r"\sum_{ij} w_{ij}C_{ij}/n",
    aliases=("expected loss", "average cost"),
    references=("elkan2001",),
    values=Values("low", (-inf, inf), needs=("total",)),
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


Weights = Literal["none", "linear", "quadratic"] | npt.ArrayLike


@measure(
    "Expected accuracy if the predictions were randomly permuted across rows.",
    formula=r"\sum_k t_kp_k/n^2",
    aliases=("expected agreement", "chance agreement", "random accuracy", "RACC"),
    references=("cohen1960",),
    values=Values(None, (0, 1), needs=("total",)),
)
def chance_accuracy(c: Confusion) -> float:
    """This is exactly the mean accuracy over all permutations of the predictions.

    >>> from baserate import Confusion
    >>> chance_accuracy(Confusion.of_matrix([[20, 5], [10, 15]], truth="rows"))
    0.5
    """
    return ratio(ratio(exact_sum(c.truth * c.predicted), c.total), c.total)


@measure(
    "Matthews correlation coefficient of several classes: correlation of true and predicted class.",
    formula=r"(n\sum_k C_{kk}-t·p)/\sqrt{(n^2-t·t)(n^2-p·p)}",
    aliases=("R_K", "Matthews correlation coefficient", "Gorodkin's correlation", "phi coefficient"),
    references=("gorodkin2004",),
    values=Values("high", (-1, 1), needs=("truth_spread", "predicted_spread")),
)
def mcc(c: Confusion) -> float:
    """The maximum is 1; with more than two classes the minimum is `mcc_least`, which is above −1.

    >>> from baserate import Confusion
    >>> round(mcc(Confusion.of_matrix([[5, 0, 0], [0, 10, 0], [0, 300, 0]], truth="rows")), 10)
    0.3012440235
    """
    each = c.one_vs_rest()
    # A class against the rest: n·C − t·p = TP·TN − FP·FN, which loses no digits. Two roots, since a product of
    # four margins may overflow.
    beyond = exact_sum(each.tp * each.tn - each.fp * each.fn)
    return ratio(beyond, root(c.truth_spread) * root(c.predicted_spread))


@measure(
    "Smallest Matthews correlation coefficient possible with the given class frequencies.",
    formula=r"-\max_{i≠j}(1-t_i+t_j)\sqrt{t_i/(2(1-t_i)(1-t·t))}",
    aliases=("lower bound of R_K", "least Matthews correlation"),
    references=("gorodkin2004",),
    values=Values(None, (-1, 0), needs=("truth_spread",)),
)
def mcc_least(c: Confusion) -> float:
    r"""Here t are shares. The minimum is attained by predicting i for every row that is not of class i, and j for the
    rows that are: −mcc is linear in the predicted shares divided by the root of a concave function, hence quasi-convex
    and greatest at such a corner. It is −1 for two classes and :math:`-\sqrt{K/2}/(K-1)` for K balanced ones.

    >>> from baserate import Confusion
    >>> round(mcc_least(Confusion.of_matrix([[0, 9, 0], [8, 0, 1], [9, 0, 0]], truth="rows")), 10)
    -0.6123724357
    """
    truth, rest = c.truth, sums_of_others(c.truth)
    first, second = np.max(truth, axis=-1, keepdims=True), _second_largest(truth)
    # The best j for each i is the most frequent class but i.
    worst = ratio((rest + np.where(truth == first, second, first)) * root(truth / 2), root(rest))
    most: float = as_python(worst.max(axis=-1))
    return -ratio(most, root(c.truth_spread))


@measure(
    "Cohen's kappa: agreement beyond chance, divided by the maximum possible beyond chance.",
    formula=r"1-n\sum wC/\sum w_{ij}t_ip_j",
    aliases=("Cohen's kappa", "Heidke skill score", "weighted kappa"),
    references=("cohen1960", "cohen1968"),
    values=Values("high", (-1, 1), needs=("chance_disagreement",)),
)
def kappa(c: Confusion, *, weights: Weights = "none") -> float:
    """Every disagreement has weight 1, or the distance of the classes in the order of their labels ("linear"), or that
    distance squared ("quadratic"), or its entry in a K×K table with 0 on the diagonal. With further zeros in the
    table, κ is also undefined if chance never disagrees where the weight is positive.

    >>> from baserate import Confusion
    >>> kappa(Confusion.of_matrix([[20, 5], [10, 15]], truth="rows"))
    0.4
    >>> smokers = Confusion.of_matrix([[16, 6, 2], [4, 10, 1], [3, 0, 8]], ["often", "seldom", "never"], truth="rows")
    >>> round(kappa(smokers, weights="linear"), 10)
    0.5009505703
    """
    weight = _disagreement_weights(weights, len(c.labels))
    chance = c.truth[..., :, None] * c.predicted[..., None, :]
    return 1 - ratio(c.total * exact_sum(weight * c.mass, axes=2), exact_sum(weight * chance, axes=2))


@measure(
    "Scott's pi: agreement beyond chance, with one distribution for true and predicted classes.",
    formula="(p_o-p_e)/(1-p_e)",
    aliases=("Scott's pi", "unbiased kappa", "Siegel–Castellan kappa", "Fleiss' kappa of two raters"),
    references=("scott1955",),
    values=Values("high", (-1, 1), needs=("chance_disagreement",)),
)
def scott_pi(c: Confusion) -> float:
    r"""The chance agreement is :math:`p_e=\sum_k q_k^2`, where :math:`q_k=(t_k+p_k)/2n`.

    >>> from baserate import Confusion
    >>> round(scott_pi(Confusion.of_matrix([[13, 0, 0], [0, 20, 7], [0, 4, 56]], truth="rows")), 10)
    0.7962396962
    """
    return 1 - ratio(4 * c.total * c.disagreement, _joint_spread(c))


@measure(
    "Krippendorff's alpha of two raters and nominal classes: Scott's pi, corrected for few rows.",
    formula="1-(1-π)(2n-1)/2n",
    aliases=("Krippendorff's alpha",),
    references=("hayes2007",),
    values=Values("high", (-1, 1), needs=("chance_disagreement",)),
)
def krippendorff_alpha(c: Confusion) -> float:
    """The correction takes the mass as the number of rows: scaled weights change it, so let weights add up to the
    number of rows. (Below half a row it would leave its span.)

    >>> from baserate import Confusion
    >>> round(krippendorff_alpha(Confusion.of_matrix([[13, 0, 0], [0, 20, 7], [0, 4, 56]], truth="rows")), 10)
    0.7972584977
    """
    return 1 - ratio((4 * c.total - 2) * c.disagreement, _joint_spread(c))


@measure(
    "Gwet's AC1: agreement beyond chance, where only hard cases are classified at random.",
    formula="(p_o-p_e)/(1-p_e)",
    aliases=("Gwet's AC1", "first-order agreement coefficient"),
    references=("gwet2008",),
    values=Values("high", (-1, 1), needs=("total", "alternatives")),
)
def gwet_ac1(c: Confusion) -> float:
    r"""The chance agreement is :math:`p_e=\sum_k q_k(1-q_k)/(K-1)`, where :math:`q_k=(t_k+p_k)/2n`. It depends on K,
    the number of labels, whether or not all of them occur.

    >>> from baserate import Confusion
    >>> round(gwet_ac1(Confusion.of_matrix([[13, 0, 0], [0, 20, 7], [0, 4, 56]], truth="rows")), 10)
    0.8493305482
    """
    chance = ratio(ratio(ratio(_joint_spread(c), 2 * c.total), 2 * c.total), c.alternatives)
    return 1 - ratio(ratio(c.disagreement, c.total), 1 - chance)


@measure(
    "Bennett's S: agreement beyond choosing one of the K labels uniformly at random.",
    formula="(p_o-1/K)/(1-1/K)",
    aliases=(
        "Bennett's S",
        "Brennan–Prediger kappa",
        "PABAK",
        "prevalence-adjusted bias-adjusted kappa",
        "random error coefficient",
    ),
    references=("bennett1954",),
    values=Values("high", (-1, 1), needs=("total", "alternatives")),
)
def bennett_s(c: Confusion) -> float:
    """K is the number of labels, whether or not all of them occur.

    >>> from baserate import Confusion
    >>> bennett_s(Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows"))
    0.5
    """
    return ratio(len(c.labels) * accuracy(c) - 1, c.alternatives)


def _disagreement_weights(weights: Weights, classes: int) -> Floats:
    """Return the weight of each disagreement as a K×K table."""
    place = np.arange(classes, dtype=np.float64)
    distance = np.abs(place[:, None] - place)
    if isinstance(weights, str):
        schemes = {"none": np.sign(distance), "linear": distance, "quadratic": distance**2}
        if weights not in schemes:
            raise wrong_option("weights", weights, "'none', 'linear', 'quadratic' or a table")
        return schemes[weights]
    table = np.asarray(weights, dtype=np.float64)
    if table.shape != (classes, classes):
        raise ShapeError(
            f"the weights have shape {table.shape} for {classes} classes", remedy="give one for each pair."
        )
    if not (np.isfinite(table).all() and (table >= 0).all()) or table.diagonal().any():
        raise OptionError(
            "weights of disagreements are invalid", remedy="give finite numbers ≥ 0, with 0 on the diagonal."
        )
    return table


def _joint_spread(c: Confusion) -> float:
    """Return twice the mass of pairs that differ, in the pooled true and predicted classes."""
    pooled = c.truth + c.predicted
    return exact_sum(pooled * sums_of_others(pooled))


def _second_largest(values: Floats) -> Floats:
    """Return the second largest value along the last axis; 0 if there is only one."""
    padded = np.concatenate([np.zeros((*values.shape[:-1], 1)), values], axis=-1)
    return np.sort(padded, axis=-1)[..., -2:-1]
