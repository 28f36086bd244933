"""How much each row moves an area, and from it the covariance of areas of several models on the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats, ratio
from baserate._numeric.distinct import descending
from baserate.infer._alike import Alike

Places = npt.NDArray[np.intp]


class Influence(NamedTuple):
    """How much one row of each kind moves areas: a row for each model.

    `classes` holds the class of each kind, as a number; the variance of a sum is that of its parts, class by class.
    """

    moved: Floats
    classes: Sequence[Bools]
    cells: Alike

    def covariance(self, a: int, b: int) -> float:
        """Covariance of the areas of two models, by their places."""
        return _covariance(self, self.moved[a], self.moved[b])

    def variance_of_difference(self, a: int, b: int) -> float:
        """Variance of the difference, from that of every row, so that nothing is lost where they hardly differ."""
        apart = self.moved[a] - self.moved[b]
        return _covariance(self, apart, apart)


def influence(cells: Alike, models: Sequence[str]) -> Influence:
    r"""Influence of rows on the AUC of models, :math:`w_i(V_i-A)/\sum w` within a row's class [@delong1988].

    The placement V of a positive is the mass of negatives below it, ties half, over that of all negatives; of a
    negative, that of positives above it. The covariance is DeLong's; of clustered rows, Obuchowski's
    [@obuchowski1997clusters].

    >>> from baserate import Rows
    >>> from baserate.infer._alike import alike
    >>> rows = Rows(np.array([True, False, True, False]), {"p": np.array([0.9, 0.8, 0.7, 0.1])})
    >>> influence(alike(rows, ["p"]), ["p"]).covariance(0, 0)
    0.125
    """
    truth, mass = cells.truth, cells.mass
    moved = np.stack([_moved(truth, cells.score[model], mass) for model in models])
    weight = 1.0 if cells.weight is None else cells.weight
    return Influence(moved * weight, (truth, ~truth), cells)


def _moved(truth: Bools, score: Floats, mass: Floats) -> Floats:
    true, false = np.where(truth, mass, 0.0), np.where(truth, 0.0, mass)
    order, ends, runs = ranked(score)
    positives, negatives = float(true.sum()), float(false.sum())
    above, below = (middle(each[order], ends)[runs] for each in (true, false))
    placed = np.empty(len(score))
    placed[order] = np.where(truth[order], ratio(negatives - below, negatives), ratio(above, positives))
    area = ratio(float((true * placed).sum()), positives)
    return ratio(placed - area, np.where(truth, positives, negatives))


def ranked(score: Floats) -> tuple[Places, Places, Places]:
    """Order of falling scores, where runs of equal ones end in it, and the run of each place."""
    order = descending(score)
    ordered = score[order]
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)) if len(order) else order
    return order, ends, np.repeat(np.arange(len(ends)), np.diff(ends, prepend=-1))


def middle(mass: Floats, ends: Places) -> Floats:
    """Mass before each run and half of that in it."""
    after = np.cumsum(mass)[ends]
    before = np.concatenate([[0.0], after[:-1]]) if len(after) else after
    return (before + after) / 2


def same_ranks(first: Floats, second: Floats) -> bool:
    """Whether two models rank all rows alike, ties too."""
    order = descending(first)
    one, other = np.diff(first[order]), np.diff(second[order])
    return bool((np.sign(one) == np.sign(other)).all())


def _covariance(found: Influence, first: Floats, second: Floats) -> float:
    times = found.cells.times
    if found.cells.cluster is not None:
        return _clustered(found, first * times, second * times)
    total = 0.0
    for there in found.classes:
        rows = int(times[there].sum())
        total += _freed(rows) * float(np.sum(times[there] * first[there] * second[there])) if rows else 0.0
    return total


def _clustered(found: Influence, first: Floats, second: Floats) -> float:
    """Sum influence within clusters first: Obuchowski's S₁₀, S₀₁ and S₁₁, each with a factor I/(I − 1) of its own."""
    cluster, size = found.cells.cluster, found.cells.clusters
    assert cluster is not None  # noqa: S101  (for the type checker)
    sums = [
        [np.bincount(cluster[there], each[there], minlength=size) for each in (first, second)]
        for there in found.classes
    ]
    present = [np.bincount(cluster[there], minlength=size) > 0 for there in found.classes]
    total = 0.0
    for i, (one, _) in enumerate(sums):
        for j, (_, other) in enumerate(sums):
            clusters = np.count_nonzero(present[i]) if i == j else size
            total += _freed(int(clusters)) * float(np.sum(one * other))
    return total


def _freed(rows: int) -> float:
    """One degree of freedom is lost; of a single row nothing is known."""
    return rows / (rows - 1) if rows > 1 else nan
