"""Intervals for measures of a K×K confusion matrix: delta method, with derivatives by differences, and t quantiles.

For a table of cell masses the variance of a smooth measure is, to first order, Σ s·(∂θ/∂c)², where s is the sum of
squared weights in cell c. Random tables are not needed: each cell is changed a little, and the measure of all changed
tables is computed at once.
"""

from __future__ import annotations

from math import exp, isfinite, isinf, log, sqrt
from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._confusion import Confusion
from baserate.infer._binomial import two_sided, wilson
from baserate.infer._found import Found
from baserate.infer._influence import Part, freedom
from baserate.infer._moments import widening
from baserate.measure import Measure, about, bare
from baserate.measure.multiclass import (
    chi_squared,
    confusion_entropy,
    cramers_v,
    cross_entropy,
    decision_entropy,
    decision_entropy_given_truth,
    decision_theil_u,
    joint_entropy,
    kl_divergence,
    mutual_information,
    phi_squared,
    symmetric_theil_u,
    truth_entropy,
    truth_entropy_given_decision,
    truth_theil_u,
)

MOST_CLASSES = 32
"""Classes up to which every cell is changed in turn; the cost grows with the fourth power of their number."""
HOW = "delta method over the cells, t quantiles"
_PRIOR = 0.5
"""Rows that are added to each true class before differentiating: so many right, so many wrong [@jeffreys1946]."""
_STEP = 1e-3
"""Share of a cell's mass by which it is changed."""
_BLOCK = 1 << 18
"""Numbers in the tables that are measured at once."""
_LARGEST = 700.0
"""Logarithm up to which floats can hold the number."""
_BIASED = frozenset(
    {
        chi_squared,
        confusion_entropy,
        cramers_v,
        cross_entropy,
        decision_entropy,
        decision_entropy_given_truth,
        decision_theil_u,
        joint_entropy,
        kl_divergence,
        mutual_information,
        phi_squared,
        symmetric_theil_u,
        truth_entropy,
        truth_entropy_given_decision,
        truth_theil_u,
    }
)
"""Smooth measures whose bias in small samples is not small beside their standard error [@miller1955]."""


class Cells(NamedTuple):
    """Masses, sums of squared weights and numbers of rows, each of shape (K, K)."""

    mass: Floats
    squares: Floats
    rows: Floats


class Expansion(NamedTuple):
    """A measure near a table: its value, and its first and second derivatives with respect to each cell."""

    value: float
    first: Floats
    second: Floats


class Moments(NamedTuple):
    """What an interval needs: a value corrected for bias, the value of the smoothed table, and its variance."""

    value: float
    smoothed: float
    variance: float
    freedom: float


def interval(measure: Measure, noun: Confusion, value: float, level: float) -> Found | None:
    r"""Bounds of a measure with this value; None where the derivatives do not exist or cost too much.

    Derivatives and variance are those of a smoothed table, in which each true class has half a row more on the diagonal
    and half a row more spread over the other classes: a class without errors is not taken to be free of them. Each true
    class loses a degree of freedom, and degrees of freedom follow from the fourth moments of what rows add
    [@satterthwaite1946]. A measure with two limits has Wilson's interval of a share with θ(1 − θ)/v trials, one with a
    lower limit alone a t interval of its logarithm.
    Entropies and measures of association are corrected for bias by :math:`\frac12\sum s\,∂^2θ/∂c^2`, of which Miller's
    (K − 1)²/2n is a case [@miller1955], and have t intervals unless they are bounded.
    """
    if len(noun.labels) > MOST_CLASSES or isinf(value) or noun.rows.total < 2:
        return None
    cells = _smoothed(noun)
    near = _expansion(measure, cells.mass, noun.labels)
    if not (isfinite(near.value) and np.isfinite(near.first).all()):
        return None
    biased = bare(measure) in _BIASED
    bias = float(np.sum(cells.squares * near.second)) / 2 if biased else 0.0
    span = about(measure).span
    parts = _parts(cells, near, noun.rows.truth)
    variance = sum(part.variance for part in parts)
    moments = Moments(_corrected(value, bias, span), near.value, variance, freedom(parts))
    bounds = _bounds(moments, span, level, logarithm=not biased)
    return bounds and Found(*bounds, HOW)


def _smoothed(noun: Confusion) -> Cells:
    """Add half a row to each true class, in units of its usual weight; classes that never occur stay away."""
    mass, squares, rows = noun.mass, noun.squares.mass, noun.rows.mass
    there = (noun.truth > 0) | (noun.decided > 0)
    others = max(int(there.sum()) - 1, 1)
    share = np.where(np.eye(len(there), dtype=np.bool_), _PRIOR, _PRIOR / others) * there * (noun.truth > 0)[:, None]
    usual = np.nan_to_num(ratio(squares.sum(axis=1, keepdims=True), mass.sum(axis=1, keepdims=True)))
    return Cells(mass + share * usual, squares + share * usual**2, rows + share)


def _expansion(measure: Measure, mass: Floats, labels: tuple[object, ...]) -> Expansion:
    """Differentiate by central differences; tables keep their total, as the number of rows is no part of a sample."""
    flat, total = mass.ravel(), float(mass.sum())
    steps = _STEP * flat
    there = np.flatnonzero(steps)
    first, second = np.zeros(flat.size), np.zeros(flat.size)
    value = float(measure(Confusion(mass, labels)))
    each = max(_BLOCK // (2 * flat.size), 1)
    for start in range(0, len(there), each):
        cells = there[start : start + each]
        changed = np.repeat(flat[None], 2 * len(cells), axis=0)
        changed[np.arange(len(cells)), cells] += steps[cells]
        changed[np.arange(len(cells)) + len(cells), cells] -= steps[cells]
        changed *= total / changed.sum(axis=1, keepdims=True)
        up, down = np.asarray(measure(Confusion(changed.reshape(-1, *mass.shape), labels))).reshape(2, -1)
        first[cells] = (up - down) / (2 * steps[cells])
        second[cells] = (up - 2 * value + down) / steps[cells] ** 2
    return Expansion(value, first.reshape(mass.shape), second.reshape(mass.shape))


def _parts(cells: Cells, near: Expansion, rows: Floats) -> list[Part]:
    """Sum what rows of each true class add to the variance; a cell of less than a row counts as one, a class as two."""
    added = cells.squares * near.first**2
    second = added.sum(axis=1)
    fourth = np.sum(added**2 / np.maximum(cells.rows, 1.0), axis=1)
    return [Part.of(float(second[at]), float(fourth[at]), max(float(rows[at]), 2.0)) for at in np.flatnonzero(rows)]


def _corrected(value: float, bias: float, span: tuple[float, float]) -> float:
    """Subtract the bias, at most half the way to a limit."""
    return min(max(value - bias, (value + span[0]) / 2), (value + span[1]) / 2)


def _bounds(found: Moments, span: tuple[float, float], level: float, *, logarithm: bool) -> tuple[float, float] | None:
    """Bounds on the scale that fits the limits of the measure; None where it has no variance there."""
    if not found.variance > 0:
        return None
    least, most = span
    wider = widening(found.freedom, level)
    if isfinite(most - least):
        width = most - least
        part, smoothed = ((each - least) / width for each in (found.value, found.smoothed))
        trials = smoothed * (1 - smoothed) * width**2 / (found.variance * wider**2)
        if not trials > 0:
            return None
        part = min(max(part, 0.0), 1.0)
        low, high = wilson(part * trials, (1 - part) * trials, level)
        return least + width * low, least + width * high
    half = two_sided(level) * wider * sqrt(found.variance)
    if logarithm and isfinite(least):
        above = found.value - least
        if not above > 0:
            return None
        middle, reach = log(above), half / above
        return least + exp(middle - reach), least + exp(min(middle + reach, _LARGEST))
    return found.value - half, found.value + half
