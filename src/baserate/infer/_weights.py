"""Weights of a 2×2 table: how sure its variances are, and what cells of few rows cannot show."""

from __future__ import annotations

from math import inf

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._counts import Counts
from baserate.infer._binomial import FEW
from baserate.measure import Measure

_STEP = 1e-5
"""Share of the total by which a cell is changed to see how a measure moves."""


def steadied(counts: Counts[float]) -> Counts[float]:
    """The same table, where cells of few rows have squared weights that are usual for their class, or more.

    The few rows of a cell may weigh little by chance; their squared weights then say that more is known than is.
    """
    if counts.moments is None:
        return counts
    mass, squares, rows = _arrays(counts)
    usual = ratio(squares.sum(axis=1, keepdims=True), mass.sum(axis=1, keepdims=True))
    few = (rows > 0) & (rows < FEW)
    (tp, fn), (fp, tn) = np.where(few, np.maximum(squares, mass * np.nan_to_num(usual)), squares).tolist()
    moments = Counts(tp, fp, fn, tn), counts.rows
    return Counts(counts.tp, counts.fp, counts.fn, counts.tn, moments=moments, reweighed=counts.reweighed)


def freedom(measure: Measure, counts: Counts[float]) -> float:
    r"""Degrees of freedom of the variance :math:`V=\sum_cg_c^2S_c` of a measure of weighted rows, at least 1.

    g is how much the measure changes with the mass of a cell, S the sum of its squared weights, whose own variance is
    :math:`\frac{S^2}n\frac{4v+6v^2}{1+v}` for n weights with the fourth moment of a gamma distribution and squared
    coefficient of variation v. Equal weights leave nothing to estimate: then they are infinite [@satterthwaite1946].
    """
    if counts.moments is None:
        return inf
    mass, squares, rows = _arrays(counts)
    steady = _arrays(steadied(counts))[1]
    # What is usual for a class was seen of all its rows.
    pooled = [np.where(steady > squares, each.sum(axis=1, keepdims=True), each) for each in (mass, squares, rows)]
    spread = np.maximum(np.nan_to_num(ratio(pooled[2] * pooled[1], pooled[0] ** 2), nan=1.0) - 1, 0.0)
    there = np.maximum(pooled[2], 1.0)
    doubt = np.minimum((4 * spread + 6 * spread**2) / (1 + spread) / there, 1 - 1 / there) * steady**2
    slope = _gradient(measure, mass)
    variance, noise = float(np.sum(slope**2 * steady)), float(np.sum(slope**4 * doubt))
    return max(2 * variance**2 / noise, 1.0) if noise > 0 and np.isfinite(variance) else inf


def _arrays(counts: Counts[float]) -> tuple[Floats, Floats, Floats]:
    """Masses, squared weights and rows, a row for each class."""
    mass, squares, rows = (
        np.array([[each.tp, each.fn], [each.fp, each.tn]], dtype=np.float64)
        for each in (counts, counts.squares, counts.rows)
    )
    return mass, squares, rows


def _gradient(measure: Measure, mass: Floats) -> Floats:
    """Change of a measure with the mass of each cell, by differences; 0 where it is not finite."""
    step = _STEP * mass.sum()
    below = np.minimum(mass, step)
    ends = []
    for change in (np.full((2, 2), step), -below):
        tp, fn, fp, tn = mass.ravel()[:, None] + np.diag(change.ravel())
        with np.errstate(divide="ignore", invalid="ignore"):
            ends.append(np.asarray(measure(Counts(tp, fp, fn, tn))).reshape(2, 2))
    with np.errstate(invalid="ignore"):
        found: Floats = np.nan_to_num((ends[0] - ends[1]) / (step + below), nan=0.0, posinf=0.0, neginf=0.0)
    return found
