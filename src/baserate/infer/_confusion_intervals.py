"""Confusion-matrix intervals: delta method for K×K tables, simulated tables, and weights of 2×2 tables.

For a table of cell masses the variance of a smooth measure is, to first order, Σ s·(∂θ/∂c)², where s is the sum of
squared weights in cell c. Each cell is changed a little, and the measure of all changed tables is computed at once.
Simulated tables serve any other measure, and cost the same for a billion rows as for ten.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import exp, inf, isfinite, isinf, log, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from baserate._arrays import Floats, make_read_only, ratio
from baserate._confusion import Confusion
from baserate._counts import Counts
from baserate.infer._binomial import EXACT_BELOW, normal_quantile, wilson
from baserate.infer._bootstrap import Seed, make_generator, sample_masses
from baserate.infer._bounds import Bounds, t_widening
from baserate.infer._influence_functions import VarianceComponent, degrees_of_freedom
from baserate.measure import Measure, describe, unwrap_options
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

_CELL_STEP = 1e-5
"""Step of numerical derivatives, as a share of the total."""


def stabilize_weights(counts: Counts[float]) -> Counts[float]:
    """Return the table with squared weights of sparse cells raised to what is usual for their class.

    The few rows of a cell may weigh little by chance; their squared weights then understate the variance.
    """
    if counts.moments is None:
        return counts
    mass, squares, rows = _table_arrays(counts)
    usual = ratio(squares.sum(axis=1, keepdims=True), mass.sum(axis=1, keepdims=True))
    few = (rows > 0) & (rows < EXACT_BELOW)
    (tp, fn), (fp, tn) = np.where(few, np.maximum(squares, mass * np.nan_to_num(usual)), squares).tolist()
    moments = Counts(tp, fp, fn, tn), counts.rows
    return Counts(counts.tp, counts.fp, counts.fn, counts.tn, moments=moments, reweighed=counts.reweighed)


def weighted_freedom(measure: Measure, counts: Counts[float]) -> float:
    r"""Return the degrees of freedom of the variance :math:`V=\sum_cg_c^2S_c` of weighted rows, at least 1.

    g is the derivative with respect to the mass of a cell, S the sum of its squared weights, whose own variance is
    :math:`\frac{S^2}n\frac{4v+6v^2}{1+v}` for n weights with the fourth moment of a gamma distribution and squared
    coefficient of variation v. Equal weights leave nothing to estimate, so the result is infinite [@satterthwaite1946].
    """
    if counts.moments is None:
        return inf
    mass, squares, rows = _table_arrays(counts)
    steady = _table_arrays(stabilize_weights(counts))[1]
    # Where the class average replaces a cell's own squares, its uncertainty is that of all rows of the class.
    pooled = [np.where(steady > squares, each.sum(axis=1, keepdims=True), each) for each in (mass, squares, rows)]
    spread = np.maximum(np.nan_to_num(ratio(pooled[2] * pooled[1], pooled[0] ** 2), nan=1.0) - 1, 0.0)
    there = np.maximum(pooled[2], 1.0)
    doubt = np.minimum((4 * spread + 6 * spread**2) / (1 + spread) / there, 1 - 1 / there) * steady**2
    slope = _cell_gradient(measure, mass)
    variance, noise = float(np.sum(slope**2 * steady)), float(np.sum(slope**4 * doubt))
    return max(2 * variance**2 / noise, 1.0) if noise > 0 and np.isfinite(variance) else inf


def _table_arrays(counts: Counts[float]) -> tuple[Floats, Floats, Floats]:
    """Return masses, squared weights and row counts, a row for each class."""
    mass, squares, rows = (
        np.array([[each.tp, each.fn], [each.fp, each.tn]], dtype=np.float64)
        for each in (counts, counts.squares, counts.rows)
    )
    return mass, squares, rows


def _cell_gradient(measure: Measure, mass: Floats) -> Floats:
    """Differentiate a measure with respect to each cell by differences; 0 where the result is not finite."""
    step = _CELL_STEP * mass.sum()
    below = np.minimum(mass, step)
    ends = []
    for change in (np.full((2, 2), step), -below):
        tp, fn, fp, tn = mass.ravel()[:, None] + np.diag(change.ravel())
        with np.errstate(divide="ignore", invalid="ignore"):
            ends.append(np.asarray(measure(Counts(tp, fp, fn, tn))).reshape(2, 2))
    with np.errstate(invalid="ignore"):
        gradient: Floats = np.nan_to_num((ends[0] - ends[1]) / (step + below), nan=0.0, posinf=0.0, neginf=0.0)
    return gradient


TableScheme = Literal["draws", "stratified", "bootstrap"]
"""Dirichlet samples with a prior of half a row in each cell; the same within each class; or the bootstrap."""

N_TABLES = 10_000
_MAX_NUMBERS = 4_000_000
"""Numbers sampled for one table; with many classes, fewer tables are simulated."""
_MIN_TABLES = 1000
_PRIOR_ROWS = 2.0
"""Prior rows, spread over all cells: half a row each for a 2×2 table [@jeffreys1946]."""


class TableKey(NamedTuple):
    """A table as plain tuples, a key for cached simulations."""

    mass: tuple[float, ...]
    squares: tuple[float, ...]
    classes: int

    @staticmethod
    def of(table: Counts[float] | Confusion) -> TableKey:
        if isinstance(table, Confusion):
            return TableKey(_flatten(table.mass), _flatten(table.squares.mass), len(table.labels))
        mass, squares = (_flatten([[c.tp, c.fn], [c.fp, c.tn]]) for c in (table, table.squares))
        return TableKey(mass, squares, 2)


def simulate_values(
    measure: Measure, table: Counts[float] | Confusion, *, way: TableScheme, seed: Seed, filled: bool = True
) -> Floats:
    """Evaluate a measure at simulated tables; unless `filled`, empty cells stay empty."""
    values: Floats = measure(_as_tables(table, simulate_tables(table, way=way, seed=seed, filled=filled)))
    return values


def simulate_tables(table: Counts[float] | Confusion, *, way: TableScheme, seed: Seed, filled: bool = True) -> Floats:
    """Simulate tables of shape (draws, K, K), with the true class in rows."""
    cells = TableKey.of(table)
    # Cached, since many measures of the same table are estimated one after the other.
    return (
        _cached_tables(cells, way, seed, filled) if isinstance(seed, int) else _sample_tables(cells, way, seed, filled)
    )


def has_empty_cells(table: Counts[float] | Confusion) -> bool:
    """Return whether a cell of a 2×2 table is empty: always, or by chance."""
    return isinstance(table, Counts) and not all((table.tp, table.fp, table.fn, table.tn))


def describe_simulation(way: TableScheme) -> str:
    """Describe how tables are simulated."""
    return {
        "draws": "Dirichlet draws of the cells",
        "stratified": "Dirichlet draws of the cells within each class",
        "bootstrap": "bootstrap draws of the cells",
    }[way]


def _flatten(cells: Any) -> tuple[float, ...]:  # noqa: ANN401  (whatever an array takes)
    return tuple(np.ravel(cells).tolist())


def _sample_tables(cells: TableKey, way: TableScheme, seed: Seed, filled: bool) -> Floats:  # noqa: FBT001  (remembered by place)
    """Sample tables of shape (draws, K, K), with the true class in rows and the total mass of the sample."""
    rng = make_generator(seed)
    size = (cells.classes, cells.classes)
    mass, squares = (np.reshape(each, size) for each in (cells.mass, cells.squares))
    draws = max(min(N_TABLES, _MAX_NUMBERS // mass.size), _MIN_TABLES)
    if way == "bootstrap":
        return make_read_only(_bootstrap_tables(rng, draws, mass, squares))
    if way == "stratified":
        # In units of each class's usual weight: half a row of a heavy class could outweigh a light class.
        mass, squares = in_class_units(mass, squares)
    tables = sample_masses(rng, draws, mass, squares, prior=_PRIOR_ROWS / mass.size)
    if not filled:
        tables *= mass > 0
    tables[tables < 1e-12 * mass.sum()] = 0.0
    axes = -1 if way == "stratified" else (-2, -1)
    # An empty class stays empty.
    whole = np.reshape(cells.mass, size).sum(axis=axes, keepdims=True)
    tables *= np.nan_to_num(ratio(whole, tables.sum(axis=axes, keepdims=True)))
    return make_read_only(tables)


def in_class_units(mass: Floats, squares: Floats, *, axis: int = -1) -> tuple[Floats, Floats]:
    """Return masses and squared weights in units of the usual weight of each class, whose cells lie along an axis."""
    whole = mass.sum(axis=axis, keepdims=True)
    usual = np.where(whole > 0, ratio(squares.sum(axis=axis, keepdims=True), whole), 1.0)
    return mass / usual, squares / usual**2


_cached_tables: Callable[[TableKey, TableScheme, int, bool], Floats] = lru_cache(maxsize=4)(_sample_tables)


def _bootstrap_tables(rng: np.random.Generator, draws: int, mass: Floats, squares: Floats) -> Floats:
    """Draw rows with replacement; for weighted rows, sample masses of that mean and variance."""
    if (mass == squares).all() and (mass == np.trunc(mass)).all():
        tables = rng.multinomial(int(mass.sum()), mass.ravel() / mass.sum(), size=draws)
        return tables.reshape(draws, *mass.shape).astype(np.float64)
    return sample_masses(rng, draws, mass, squares)


def _as_tables(table: Counts[float] | Confusion, tables: Floats) -> Counts[Floats] | Confusion:
    if isinstance(table, Confusion):
        return Confusion(tables, table.labels)
    return Counts(*(make_read_only(tables[:, at, to].copy()) for at, to in ((0, 0), (1, 0), (0, 1), (1, 1))))


MOST_CLASSES = 32
"""Classes up to which every cell is changed in turn; the cost grows with the fourth power of their number."""
DELTA_METHOD = "delta method over the cells, t quantiles"
_PRIOR_PER_CLASS = 0.5
"""Rows added to each true class before differentiating: that many correct, that many errors [@jeffreys1946]."""
_STEP = 1e-3
"""Step of numerical derivatives, as a share of the cell's mass."""
_BLOCK = 1 << 18
"""Numbers in the tables measured at once."""
_MAX_LOG = 700.0
"""Largest logarithm of a float."""
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


class DeltaMoments(NamedTuple):
    """A value corrected for bias, the value of the smoothed table, and its variance."""

    value: float
    smoothed: float
    variance: float
    freedom: float


def confusion_interval(measure: Measure, confusion: Confusion, value: float, level: float) -> Bounds | None:
    r"""Bound a measure of a confusion matrix; None where the derivatives do not exist or cost too much.

    Derivatives and variance are those of a smoothed table: each true class has half a row more on the diagonal and half
    a row more spread over the other classes, so that a class without errors is not taken to be free of them. Each true
    class loses a degree of freedom, and degrees of freedom follow from the fourth moments of row contributions
    [@satterthwaite1946]. A measure with two limits has Wilson's interval of a proportion with θ(1 − θ)/v trials, one
    with a lower limit alone a t interval of its logarithm. Entropies and measures of association are corrected for bias
    by :math:`\frac12\sum s\,∂^2θ/∂c^2`, of which Miller's (K − 1)²/2n is a case [@miller1955], and have t intervals
    unless they are bounded.
    """
    if len(confusion.labels) > MOST_CLASSES or isinf(value) or confusion.rows.total < 2:
        return None
    cells = _smooth(confusion)
    near = _expand(measure, cells.mass, confusion.labels)
    if not (isfinite(near.value) and np.isfinite(near.first).all()):
        return None
    biased = unwrap_options(measure) in _BIASED
    bias = float(np.sum(cells.squares * near.second)) / 2 if biased else 0.0
    span = describe(measure).span
    parts = _variance_components(cells, near, confusion.rows.truth)
    variance = sum(part.variance for part in parts)
    moments = DeltaMoments(_correct_bias(value, bias, span), near.value, variance, degrees_of_freedom(parts))
    bounds = _find_limits(moments, span, level, logarithm=not biased)
    return bounds and Bounds(*bounds, DELTA_METHOD)


def _smooth(confusion: Confusion) -> Cells:
    """Add half a row to each true class, in units of its usual weight; classes that never occur stay empty."""
    mass, squares, rows = confusion.mass, confusion.squares.mass, confusion.rows.mass
    there = (confusion.truth > 0) | (confusion.predicted > 0)
    others = max(int(there.sum()) - 1, 1)
    share = (
        np.where(np.eye(len(there), dtype=np.bool_), _PRIOR_PER_CLASS, _PRIOR_PER_CLASS / others)
        * there
        * (confusion.truth > 0)[:, None]
    )
    usual = np.nan_to_num(ratio(squares.sum(axis=1, keepdims=True), mass.sum(axis=1, keepdims=True)))
    return Cells(mass + share * usual, squares + share * usual**2, rows + share)


def _expand(measure: Measure, mass: Floats, labels: tuple[object, ...]) -> Expansion:
    """Differentiate by central differences; tables keep their total, since the number of rows is not random."""
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


def _variance_components(cells: Cells, near: Expansion, rows: Floats) -> list[VarianceComponent]:
    """Sum variance contributions of each true class; a cell of less than a row counts as one, a class as two."""
    added = cells.squares * near.first**2
    second = added.sum(axis=1)
    fourth = np.sum(added**2 / np.maximum(cells.rows, 1.0), axis=1)
    return [
        VarianceComponent.of(float(second[at]), float(fourth[at]), max(float(rows[at]), 2.0))
        for at in np.flatnonzero(rows)
    ]


def _correct_bias(value: float, bias: float, span: tuple[float, float]) -> float:
    """Subtract the bias, at most half the way to a limit."""
    return min(max(value - bias, (value + span[0]) / 2), (value + span[1]) / 2)


def _find_limits(
    moments: DeltaMoments, span: tuple[float, float], level: float, *, logarithm: bool
) -> tuple[float, float] | None:
    """Return bounds on the scale that fits the limits of the measure; None where it has no variance."""
    if not moments.variance > 0:
        return None
    least, most = span
    wider = t_widening(moments.freedom, level)
    if isfinite(most - least):
        width = most - least
        part, smoothed = ((each - least) / width for each in (moments.value, moments.smoothed))
        trials = smoothed * (1 - smoothed) * width**2 / (moments.variance * wider**2)
        if not trials > 0:
            return None
        part = min(max(part, 0.0), 1.0)
        low, high = wilson(part * trials, (1 - part) * trials, level)
        return least + width * low, least + width * high
    half = normal_quantile(level) * wider * sqrt(moments.variance)
    if logarithm and isfinite(least):
        above = moments.value - least
        if not above > 0:
            return None
        middle, reach = log(above), half / above
        return least + exp(middle - reach), least + exp(min(middle + reach, _MAX_LOG))
    return moments.value - half, moments.value + half
