"""How strongly decisions and truth go together, whichever class stands for which. Each takes `Confusion`."""

from math import inf

import numpy as np

from baserate._arrays import as_python, exact_sum, mean_defined, ratio, root, sums_of_others
from baserate._confusion import Confusion
from baserate.measure._about import measure

__all__ = ["chi_squared", "cramers_v", "decision_lambda", "phi_squared", "truth_lambda"]


@measure(
    summary="Pearson's chi-squared statistic for independence of true and predicted classes.",
    formula=r"\sum_{ij}(C_{ij}-t_ip_j/n)^2/(t_ip_j/n)",
    also=("Pearson's chi-squared",),
    references=("pearson1900",),
    best="high",
    span=(0, inf),
    needs=("total",),
)
def chi_squared(c: Confusion) -> float:
    """It grows with the number of rows, as a test statistic does; `phi_squared` does not.

    >>> from baserate import Confusion
    >>> round(chi_squared(Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows")), 10)
    15.5256410256
    """
    return c.total * phi_squared(c)


@measure(
    summary="Mean square contingency: chi-squared statistic divided by the number of rows.",
    formula="χ^2/n",
    also=("mean square contingency", "inertia"),
    references=("pearson1900",),
    best="high",
    span=(0, inf),
    needs=("total",),
)
def phi_squared(c: Confusion) -> float:
    """With two classes it is the square of the correlation.

    >>> from baserate import Confusion
    >>> round(phi_squared(Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows")), 10)
    0.5750237417
    """
    truth, decided = c.truth, c.decided
    total = truth.sum(axis=-1)[..., None, None]
    chance = truth[..., :, None] * decided[..., None, :]
    excess = ratio(total * c.mass - chance, chance)
    flat = (*c.shape, -1)
    return mean_defined((excess**2).reshape(flat), chance.reshape(flat))


@measure(
    summary="Cramér's V: association between true and predicted classes, from 0 to 1.",
    formula=r"\sqrt{χ^2/(n(m-1))}",
    also=("Cramér's V", "Cramér's phi"),
    references=("cramer1946",),
    best="high",
    span=(0, 1),
    needs=("truth_spread", "decided_spread"),
)
def cramers_v(c: Confusion) -> float:
    """m is the number of classes that occur or of those that are predicted, whichever is smaller.

    >>> from baserate import Confusion
    >>> round(cramers_v(Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows")), 10)
    0.5362013342
    """
    fewer = np.minimum(np.count_nonzero(c.truth, axis=-1), np.count_nonzero(c.decided, axis=-1))
    room: float = as_python(fewer - 1.0)
    # Both are multiplied by the room, so that a constant gives 0/0 and not rounding over nothing.
    return root(ratio(phi_squared(c) * room, room * room))


@measure(
    summary="Goodman–Kruskal lambda: share of errors in guessing the true class saved by the prediction.",
    formula=r"(\sum_j\max_iC_{ij}-\max t)/(n-\max t)",
    also=("Goodman–Kruskal lambda of truth", "lambda A"),
    references=("goodman1954",),
    best="high",
    span=(0, 1),
    needs=("truth_spread",),
)
def truth_lambda(c: Confusion) -> float:
    """
    >>> from baserate import Confusion
    >>> round(truth_lambda(Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows")), 10)
    0.4
    """
    # One errs where the class is not the most frequent: those are added up, so that none are exactly 0.
    knowing = exact_sum(sums_of_others(c.transposed().mass).min(axis=-1))
    return 1 - ratio(knowing, as_python(sums_of_others(c.truth).min(axis=-1)))


@measure(
    summary="Goodman–Kruskal lambda: share of errors in guessing the prediction saved by the true class.",
    formula=r"(\sum_i\max_jC_{ij}-\max p)/(n-\max p)",
    also=("Goodman–Kruskal lambda of decisions", "lambda B"),
    references=("goodman1954",),
    best="high",
    span=(0, 1),
    needs=("decided_spread",),
)
def decision_lambda(c: Confusion) -> float:
    """
    >>> from baserate import Confusion
    >>> round(decision_lambda(Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows")), 10)
    0.3571428571
    """
    return truth_lambda(c.transposed())
