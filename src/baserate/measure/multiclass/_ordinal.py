"""AUC of ordered classes: whether members of later classes score higher, averaged over pairs of classes."""

from typing import Unpack

import numpy as np

from baserate._arrays import Floats, mean_defined, ratio
from baserate._rows import MulticlassRows
from baserate.measure._measure import Values, measure
from baserate.read import PredictionOptions, accepts_predictions

__all__ = ["ordinal_auc", "pairwise_ordinal_auc"]


def ordinal_score(rows: MulticlassRows) -> Floats:
    """Return one score that rises with the class: the expected number of the class, up to its unit.

    If all classes have the same score, it is that score times a positive number.
    """
    return np.asarray(rows.score, dtype=np.float64) @ np.arange(1.0, len(rows.labels) + 1)


def placements(rows: MulticlassRows) -> Floats:
    """Return the share of each class that a row scores above, ties counting half; NaN for a class without rows."""
    return ratio(_masses_below(rows), rows.support)


def _masses_below(rows: MulticlassRows) -> Floats:
    """Return the mass of each class that a row scores above, ties counting half."""
    score = ordinal_score(rows)
    mass = _masses(rows)
    shares = np.zeros((len(rows), len(rows.labels)))
    for at in np.unique(rows.truth):
        own = rows.truth == at
        order = np.argsort(score[own], kind="stable")
        below = np.concatenate([[0.0], np.cumsum(mass[own][order])])
        least, most = (np.searchsorted(score[own][order], score, side=side) for side in ("left", "right"))
        shares[:, at] = (below[least] + below[most]) / 2
    return shares


def _masses(rows: MulticlassRows) -> Floats:
    return np.ones(len(rows)) if rows.amount is None else np.asarray(rows.amount, dtype=np.float64)


@accepts_predictions("class rows")
def pairwise_ordinal_auc(rows: MulticlassRows, **predictions: Unpack[PredictionOptions]) -> Floats:
    """Return the probability that a member of one class scores above a member of another; ties count half.

    The score is that of all classes, or the expected number of the class where each class has its own. This is the
    table behind pROC's `multiclass.roc` of one predictor.

    Parameters
    ----------
    rows
        Rows of ordered classes.

    Returns
    -------
    array
        Row i, column j: that a member of class j scores above a member of class i. NaN on the diagonal, and where a
        class does not occur. Entries across the diagonal add up to 1.

    Examples
    --------
    >>> labels = ["low", "mid", "high"]
    >>> pairwise_ordinal_auc(["low", "mid", "high", "high"], [1.0, 3.0, 2.0, 5.0], labels=labels).tolist()
    [[nan, 1.0, 1.0], [0.0, nan, 0.5], [0.0, 0.5, nan]]
    """
    width = len(rows.labels)
    mass, below = _masses(rows), _masses_below(rows)
    # Sums of whole masses are exact, and are divided once.
    won = np.zeros((width, width))
    for at in np.unique(rows.truth):
        own = rows.truth == at
        won[:, at] = mass[own] @ below[own]
    areas = ratio(won, np.outer(rows.support, rows.support))
    np.fill_diagonal(areas, np.nan)
    return areas


@measure(
    "Mean AUC over pairs of ordered classes, of one score that rises with the class.",
    formula=r"\frac{2}{K(K-1)}\sum_{i<j}P(S_j>S_i)",
    aliases=("ordinal c-index", "multi-class AUC of one score", "generalized c-index"),
    references=("hand2001",),
    values=Values("high", (0, 1), needs=("truth_spread",)),
)
def ordinal_auc(r: MulticlassRows) -> float:
    """The order is that of the labels, and a higher score means a later class: it is never flipped. With a score for
    each class, the expected number of the class is ranked. Two classes give the AUC of the second.

    >>> labels = ["low", "mid", "high"]
    >>> round(ordinal_auc(["low", "mid", "high", "high"], [1.0, 3.0, 2.0, 5.0], labels=labels), 4)
    0.8333
    """
    return mean_defined(pairwise_ordinal_auc(r)[np.triu_indices(len(r.labels), 1)])
