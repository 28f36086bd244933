"""Information and association of true and predicted classes: entropies, Theil's U, chi-squared, lambda.

Each takes a `Confusion`. Shares are of the total: t of true classes, p of predicted ones, c of both. Information is in
nats, or in units of another base.
"""

from math import e, inf, isfinite, log

import numpy as np

from baserate._arrays import Floats, as_python, exact_sum, mean_defined, ratio, root, sums_of_others
from baserate._confusion import Confusion
from baserate._domains import wrong_option
from baserate.measure._measure import Values, measure

__all__ = [
    "chi_squared",
    "confusion_entropy",
    "cramers_v",
    "cross_entropy",
    "decision_entropy",
    "decision_entropy_given_truth",
    "decision_lambda",
    "decision_theil_u",
    "joint_entropy",
    "kl_divergence",
    "mutual_information",
    "phi_squared",
    "symmetric_theil_u",
    "truth_entropy",
    "truth_entropy_given_decision",
    "truth_lambda",
    "truth_theil_u",
]


@measure(
    "Entropy of the true classes.",
    formula=r"H(T)=-\sum_kt_k\log t_k",
    aliases=("reference entropy", "entropy of truth"),
    references=("shannon1948",),
    values=Values(None, (0, inf), needs=("total",)),
)
def truth_entropy(c: Confusion, *, base: float = e) -> float:
    """
    >>> from baserate import Confusion
    >>> round(truth_entropy(Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows"), base=2), 10)
    1.5304930568
    """
    return _compute_entropy(_normalize(c.truth), base)


@measure(
    "Entropy of the predicted classes.",
    formula=r"H(D)=-\sum_kp_k\log p_k",
    aliases=("response entropy", "entropy of decisions"),
    references=("shannon1948",),
    values=Values(None, (0, inf), needs=("total",)),
)
def decision_entropy(c: Confusion, *, base: float = e) -> float:
    """
    >>> from baserate import Confusion
    >>> round(decision_entropy(Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows"), base=2), 10)
    1.4865659532
    """
    return _compute_entropy(_normalize(c.predicted), base)


@measure(
    "Joint entropy of the true and predicted classes.",
    formula=r"H(T,D)=-\sum_{ij}c_{ij}\log c_{ij}",
    references=("shannon1948",),
    values=Values(None, (0, inf), needs=("total",)),
)
def joint_entropy(c: Confusion, *, base: float = e) -> float:
    """
    >>> from baserate import Confusion
    >>> round(joint_entropy(Confusion.of_matrix([[1, 1], [1, 1]], truth="rows"), base=2), 10)
    2.0
    """
    return _compute_entropy(_normalize(_flatten(c.mass)), base)


@measure(
    "Conditional entropy of the true class given the predicted class.",
    formula=r"H(T|D)=-\sum_{ij}c_{ij}\log(c_{ij}/p_j)",
    aliases=("equivocation", "conditional entropy of truth"),
    references=("shannon1948",),
    values=Values("low", (0, inf), needs=("total",)),
)
def truth_entropy_given_decision(c: Confusion, *, base: float = e) -> float:
    """
    >>> from baserate import Confusion
    >>> truth_entropy_given_decision(Confusion.of_matrix([[0, 5], [5, 0]], truth="rows"))
    0.0
    """
    return decision_entropy_given_truth(c.transpose(), base=base)


@measure(
    "Conditional entropy of the predicted class given the true class.",
    formula=r"H(D|T)=-\sum_{ij}c_{ij}\log(c_{ij}/t_i)",
    aliases=("conditional entropy of decisions",),
    references=("shannon1948",),
    values=Values("low", (0, inf), needs=("total",)),
)
def decision_entropy_given_truth(c: Confusion, *, base: float = e) -> float:
    """
    >>> from baserate import Confusion
    >>> table = Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows")
    >>> round(decision_entropy_given_truth(table, base=2), 10)
    1.0892559087
    """
    terms = _multiply_by_log(_normalize(_flatten(c.mass)), _flatten(ratio(c.mass, c.truth[..., :, None])))
    return -exact_sum(terms) / _unit_in_nats(base) + 0.0


@measure(
    "Mutual information of the true and predicted classes.",
    formula=r"I(T;D)=\sum_{ij}c_{ij}\log(c_{ij}/t_ip_j)",
    aliases=("transinformation", "information gain"),
    references=("shannon1948",),
    values=Values("high", (0, inf), needs=("total",)),
)
def mutual_information(c: Confusion, *, base: float = e) -> float:
    """
    >>> from baserate import Confusion
    >>> round(mutual_information(Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows"), base=2), 10)
    0.3973100445
    """
    # Divide by one margin after the other: their product may overflow or underflow.
    within = ratio(c.mass, c.truth[..., :, None])
    lift = ratio(within, _normalize(c.predicted)[..., None, :])
    terms = _multiply_by_log(_normalize(_flatten(c.mass)), _flatten(lift))
    return _sum_divergence(terms) / _unit_in_nats(base)


@measure(
    "Theil's U: share of the entropy of the true class explained by the predicted class.",
    formula="I(T;D)/H(T)",
    aliases=(
        "uncertainty coefficient",
        "Theil's U",
        "entropy coefficient",
        "proficiency",
        "uncertainty coefficient of truth",
    ),
    references=("theil1970",),
    values=Values("high", (0, 1), needs=("truth_spread",)),
)
def truth_theil_u(c: Confusion) -> float:
    """
    >>> from baserate import Confusion
    >>> round(truth_theil_u(Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows")), 10)
    0.2595961104
    """
    return 1 - ratio(truth_entropy_given_decision(c), truth_entropy(c))


@measure(
    "Theil's U of predictions: share of their entropy explained by the true class.",
    formula="I(T;D)/H(D)",
    aliases=("uncertainty coefficient of decisions",),
    references=("theil1970",),
    values=Values("high", (0, 1), needs=("predicted_spread",)),
)
def decision_theil_u(c: Confusion) -> float:
    """
    >>> from baserate import Confusion
    >>> table = Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows")
    >>> round(decision_theil_u(table), 10)
    0.2672670147
    """
    return truth_theil_u(c.transpose())


@measure(
    "Mutual information divided by the mean entropy of true and predicted classes.",
    formula="2I(T;D)/(H(T)+H(D))",
    aliases=(
        "symmetric uncertainty",
        "symmetric uncertainty coefficient",
        "normalized mutual information",
        "NMI",
        "V-measure",
    ),
    references=("theil1970",),
    values=Values("high", (0, 1), needs=("any_spread",)),
)
def symmetric_theil_u(c: Confusion) -> float:
    """
    >>> from baserate import Confusion
    >>> table = Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows")
    >>> round(symmetric_theil_u(table), 10)
    0.26337572
    """
    left = truth_entropy_given_decision(c) + decision_entropy_given_truth(c)
    return 1 - ratio(left, truth_entropy(c) + decision_entropy(c))


@measure(
    "Cross-entropy of the predicted class frequencies relative to the true ones.",
    formula=r"-\sum_kt_k\log p_k",
    aliases=("cross entropy of the margins",),
    references=("shannon1948",),
    values=Values("low", (0, inf), needs=("total",)),
)
def cross_entropy(c: Confusion, *, base: float = e) -> float:
    """Only the margins matter. Infinite if a class that occurs is never predicted.

    >>> from baserate import Confusion
    >>> round(cross_entropy(Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows"), base=2), 10)
    1.5376219392
    """
    return -exact_sum(_multiply_by_log(_normalize(c.truth), _normalize(c.predicted))) / _unit_in_nats(base) + 0.0


@measure(
    "Kullback–Leibler divergence of the true class frequencies from the predicted ones.",
    formula=r"\sum_kt_k\log(t_k/p_k)",
    aliases=("Kullback–Leibler divergence", "KLD", "relative entropy"),
    references=("kullback1951",),
    values=Values("low", (0, inf), needs=("total",)),
)
def kl_divergence(c: Confusion, *, base: float = e) -> float:
    """Only the margins matter. Infinite if a class that occurs is never predicted.

    >>> from baserate import Confusion
    >>> round(kl_divergence(Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows"), base=2), 10)
    0.0071288824
    """
    terms = _multiply_by_log(_normalize(c.truth), ratio(_normalize(c.truth), _normalize(c.predicted)))
    return _sum_divergence(terms) / _unit_in_nats(base)


@measure(
    "Confusion entropy: disorder of the misclassifications, with logarithms to the base 2(K−1).",
    formula=r"-\frac1{2n}\sum_{i≠j}C_{ij}\log_{2(K-1)}(C_{ij}^2/s_is_j)",
    aliases=("CEN",),
    references=("wei2010",),
    values=Values("low", (0, 2 / (e * log(2))), needs=("total",)),
)
def confusion_entropy(c: Confusion) -> float:
    """Here :math:`s_k=t_k+p_k`. The maximum is 1 for three classes and more, and exceeds 1 for two. It depends on K,
    the number of labels, whether or not all of them occur.

    >>> from baserate import Confusion
    >>> round(confusion_entropy(Confusion.of_matrix([[5, 0, 0], [0, 10, 0], [0, 300, 0]], truth="rows")), 10)
    0.0221689058
    """
    errors = c.mass * ~np.eye(len(c.labels), dtype=np.bool_)
    pooled = c.truth + c.predicted
    # Two logarithms in place of that of C²/(s·s), whose square may underflow.
    terms = _multiply_by_log(errors, ratio(errors, pooled[..., :, None]))
    terms += _multiply_by_log(errors, ratio(errors, pooled[..., None, :]))
    # A single class is never confused, so that any base gives 0.
    return ratio(-exact_sum(terms, axes=2) + 0.0, 2 * c.total * log(2 * max(c.alternatives, 1)))


@measure(
    "Pearson's chi-squared statistic for independence of true and predicted classes.",
    formula=r"\sum_{ij}(C_{ij}-t_ip_j/n)^2/(t_ip_j/n)",
    aliases=("Pearson's chi-squared",),
    references=("pearson1900",),
    values=Values("high", (0, inf), needs=("total",)),
)
def chi_squared(c: Confusion) -> float:
    """It grows with the number of rows, as a test statistic does; `phi_squared` does not.

    >>> from baserate import Confusion
    >>> round(chi_squared(Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows")), 10)
    15.5256410256
    """
    return c.total * phi_squared(c)


@measure(
    "Mean square contingency: chi-squared statistic divided by the number of rows.",
    formula="χ^2/n",
    aliases=("mean square contingency", "inertia"),
    references=("pearson1900",),
    values=Values("high", (0, inf), needs=("total",)),
)
def phi_squared(c: Confusion) -> float:
    """With two classes it is the square of the correlation.

    >>> from baserate import Confusion
    >>> round(phi_squared(Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows")), 10)
    0.5750237417
    """
    truth, predicted = c.truth, c.predicted
    total = truth.sum(axis=-1)[..., None, None]
    chance = truth[..., :, None] * predicted[..., None, :]
    excess = ratio(total * c.mass - chance, chance)
    flat = (*c.shape, -1)
    return mean_defined((excess**2).reshape(flat), chance.reshape(flat))


@measure(
    "Cramér's V: association between true and predicted classes, from 0 to 1.",
    formula=r"\sqrt{χ^2/(n(m-1))}",
    aliases=("Cramér's V", "Cramér's phi"),
    references=("cramer1946",),
    values=Values("high", (0, 1), needs=("truth_spread", "predicted_spread")),
)
def cramers_v(c: Confusion) -> float:
    """m is the number of classes that occur or of those that are predicted, whichever is smaller.

    >>> from baserate import Confusion
    >>> round(cramers_v(Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows")), 10)
    0.5362013342
    """
    fewer = np.minimum(np.count_nonzero(c.truth, axis=-1), np.count_nonzero(c.predicted, axis=-1))
    freedom: float = as_python(fewer - 1.0)
    # Both are multiplied by it, so that constant classes give 0/0, not rounding divided by 0.
    return root(ratio(phi_squared(c) * freedom, freedom * freedom))


@measure(
    "Goodman–Kruskal lambda: share of errors in guessing the true class saved by the prediction.",
    formula=r"(\sum_j\max_iC_{ij}-\max t)/(n-\max t)",
    aliases=("Goodman–Kruskal lambda of truth", "lambda A"),
    references=("goodman1954",),
    values=Values("high", (0, 1), needs=("truth_spread",)),
)
def truth_lambda(c: Confusion) -> float:
    """
    >>> from baserate import Confusion
    >>> round(truth_lambda(Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows")), 10)
    0.4
    """
    # The errors themselves are added up, not subtracted from the total, so that no errors are exactly 0.
    errors = exact_sum(sums_of_others(c.transpose().mass).min(axis=-1))
    return 1 - ratio(errors, as_python(sums_of_others(c.truth).min(axis=-1)))


@measure(
    "Goodman–Kruskal lambda: share of errors in guessing the prediction saved by the true class.",
    formula=r"(\sum_i\max_jC_{ij}-\max p)/(n-\max p)",
    aliases=("Goodman–Kruskal lambda of decisions", "lambda B"),
    references=("goodman1954",),
    values=Values("high", (0, 1), needs=("predicted_spread",)),
)
def decision_lambda(c: Confusion) -> float:
    """
    >>> from baserate import Confusion
    >>> round(decision_lambda(Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows")), 10)
    0.3571428571
    """
    return truth_lambda(c.transpose())


def _normalize(mass: Floats) -> Floats:
    """Return shares along the last axis; a part that is the total has share exactly 1."""
    return ratio(mass, mass.sum(axis=-1, keepdims=True))


def _flatten(cells: Floats) -> Floats:
    """Return the cells of each table along one axis."""
    return cells.reshape(*cells.shape[:-2], -1)


def _compute_entropy(shares: Floats, base: float) -> float:
    # Adding 0.0 turns −0.0, of a certain class, into 0.0.
    return -exact_sum(_multiply_by_log(shares, shares)) / _unit_in_nats(base) + 0.0


def _sum_divergence(parts: Floats) -> float:
    """Return the sum of a divergence, which only rounding could make negative."""
    total: float = as_python(np.maximum(exact_sum(parts), 0.0))
    return total


def _multiply_by_log(amount: Floats, argument: Floats) -> Floats:
    """Return amount · log(argument), which is 0 where the amount is 0, even if the logarithm is infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(amount == 0, 0.0, amount * np.log(argument))


def _unit_in_nats(base: float) -> float:
    if not (isfinite(base) and base > 1):
        raise wrong_option("base", base, "a number above 1: 2 for bits, e for nats, 10 for bans")
    return log(base)
