"""Hand and Till's area of several classes: how much each row moves it."""

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._rows import MulticlassRows
from baserate.infer._delong import middle, ranked


def moved(rows: MulticlassRows) -> Floats:
    r"""How much each row moves Hand and Till's M, which is the mean of :math:`\hat A(i|j)` over pairs of classes.

    A row of class i moves Â(i|j) by its placement among class j by the score for i, and Â(j|i) by its placement among
    class j by the score for j, each less the area itself, times its share of the weight of its class.
    """
    amount = rows.amount
    mass = np.ones(len(rows)) if amount is None else np.asarray(amount, dtype=np.float64)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    support = rows.support
    there = np.flatnonzero(support > 0)
    total = np.zeros(len(rows))
    for i in there:
        order, ends, runs = ranked(np.ascontiguousarray(rows.score[:, i], dtype=np.float64))
        code, of_order = rows.truth[order], mass[order]
        own = middle(np.where(code == i, of_order, 0.0), ends)[runs] / support[i]
        for j in there[there != i]:
            below = 1 - middle(np.where(code == j, of_order, 0.0), ends)[runs] / support[j]
            placed = np.where(code == i, below, own)
            area = float(np.sum((of_order * below)[code == i])) / support[i]
            total[order] += np.where((code == i) | (code == j), placed - area, 0.0)
    pairs = len(there) * (len(there) - 1)
    return ratio(total * weight, pairs * support[rows.truth])
