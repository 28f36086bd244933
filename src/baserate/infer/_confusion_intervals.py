"""Confusion-matrix intervals: linear combinations of cells, the delta method for K×K tables, and simulated tables.

Net benefit, expected cost and other linear combinations of cells have a closed form. For a table of cell masses the
variance of a smooth measure is, to first order, Σ s·(∂θ/∂c)², where s is the sum of squared weights in cell c. Each
cell is changed a little, and the measure of all changed tables is computed at once. Simulated tables serve any other
measure, and cost the same for a billion rows as for ten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import combinations
from math import exp, inf, isfinite, isinf, log, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from baserate._arrays import Floats, Value, as_python, make_read_only, ratio
from baserate._confusion import Confusion
from baserate._counts import Counts
from baserate.infer import _binomial
from baserate.infer._binomial import (
    EXACT_BELOW,
    Limits,
    effective_counts,
    normal_quantile,
    t_widening,
    wilson,
    wilson_or_exact,
)
from baserate.infer._bootstrap import Seed, make_generator, sample_in_blocks, sample_masses
from baserate.infer._variances import Bounds, VarianceComponent, degrees_of_freedom
from baserate.measure import (
    Measure,
    describe,
    multiclass,
    net_benefit,
    net_reduction,
    standardized_net_benefit,
    threshold_odds,
    unwrap_options,
)

LINEAR_METHOD = "Wilson or Clopper–Pearson of both shares, added in quadrature with their correlation"
LINEAR_FIXED_METHOD = _binomial.SUM_METHOD
_DEFAULT_THRESHOLD = 0.5
_CELLS: dict[Measure, tuple[str, str]] = {
    net_benefit: ("tp", "fp"),
    standardized_net_benefit: ("tp", "fp"),
    net_reduction: ("tn", "fn"),
}
"""The beneficial cell and the harmful one."""
_SIDES = {"tp": "positives", "fn": "positives", "fp": "negatives", "tn": "negatives"}


class LinearCell(NamedTuple):
    """A cell of a sample: its mass, squared weights and factor. Numbers, or arrays of many."""

    mass: Any
    squares: Any
    factor: Any


class CellSample(NamedTuple):
    """Mass and squared weights of a sample, and those of its cells that have a factor."""

    mass: Any
    squares: Any
    cells: Sequence[LinearCell]


def has_linear_interval(measure: Measure, *, reweighed: bool) -> bool:
    """Return whether a measure has a closed-form interval; standardized net benefit only at a fixed prevalence."""
    return unwrap_options(measure) in _CELLS and (reweighed or unwrap_options(measure) is not standardized_net_benefit)


def linear_interval(counts: Counts[Value], measure: Measure, level: float) -> Limits[Value]:
    """Bound a measure that is linear in the cells, with the options that `functools.partial` set."""
    function, at = unwrap_options(measure), _find_threshold_probability(measure)
    weight = 1 / threshold_odds(at) if function is net_reduction else threshold_odds(at)
    low, high = bound_linear_cells(counts, _CELLS[function], weight, level)
    if function is not standardized_net_benefit:
        return low, high
    prevalence = ratio(counts.positives, counts.total)
    return ratio(low, prevalence), ratio(high, prevalence)


def bound_linear_cells(
    counts: Counts[Value], cells: tuple[str, str], weight: Value | float, level: float
) -> Limits[Value]:
    r"""Bound :math:`p_1-wp_2`, where both are cells' shares of all rows.

    The distances of each share from its own bounds are added as standard errors are [@zou2008], with the correlation
    :math:`-\sqrt{\frac{p_1p_2}{(1-p_1)(1-p_2)}}` of two shares of one sample, or its weighted form. At a fixed
    prevalence each cell is a share of its class, and both are independent. In 960 cases with 50 to 2000 rows,
    prevalences from 0.05 to 0.5, and thresholds from 0.02 to 0.8, that covers at least 93.7% at level 95%, and at least
    93.4% at a fixed prevalence; the medians are 95.2 and 95.6%.

    >>> table = Counts(tp=72, fp=72, fn=33, tn=573)
    >>> [round(bound, 4) for bound in bound_linear_cells(table, ("tp", "fp"), 1 / 3, 0.95)]
    [0.0427, 0.0887]
    """
    gain, loss = cells
    return bound_weighted_cells(counts, {gain: 1.0, loss: -weight}, level)


def bound_weighted_cells(
    counts: Counts[Value], factors: Mapping[str, Any], level: float, *, everybody: Counts[Value] | None = None
) -> Limits[Value]:
    """Bound a linear combination of cells' shares of all rows; `everybody` may hold more rows than the cells."""
    population = counts if everybody is None else everybody
    if not counts.reweighed:
        cells = [_make_cell(counts, name, factor) for name, factor in factors.items()]
        return combine_cell_bounds([CellSample(population.total, population.squares.total, cells)], level)
    shares = {side: ratio(getattr(population, side), population.total) for side in set(_SIDES.values())}
    return bound_weighted_rates(
        counts, {name: shares[_SIDES[name]] * each for name, each in factors.items()}, level, everybody
    )


def bound_weighted_rates(
    counts: Counts[Value], factors: Mapping[str, Any], level: float, everybody: Counts[Value] | None = None
) -> Limits[Value]:
    """Bound a linear combination of cells' shares of their classes."""
    population = counts if everybody is None else everybody
    samples = []
    for side in dict.fromkeys(_SIDES[name] for name in factors):
        cells = [_make_cell(counts, name, each) for name, each in factors.items() if _SIDES[name] == side]
        samples.append(CellSample(getattr(population, side), getattr(population.squares, side), cells))
    return combine_cell_bounds(samples, level)


def combine_cell_bounds(samples: Sequence[CellSample], level: float) -> Limits[Any]:
    """Bound a linear combination of shares: independent between samples, correlated within one."""
    value: Any = 0.0
    down: Any = 0.0
    up: Any = 0.0
    for sample in samples:
        shares = [np.nan_to_num(ratio(np.asarray(cell.mass, dtype=np.float64), sample.mass)) for cell in sample.cells]
        limits = [_cell_limits(sample, cell, level) for cell in sample.cells]
        lower, upper = [], []
        for cell, share, (low, high) in zip(sample.cells, shares, limits, strict=True):
            value = value + cell.factor * share
            ends = cell.factor * (low - share), cell.factor * (high - share)
            lower.append(np.minimum(*ends))
            upper.append(np.maximum(*ends))
        down, up = down + _squared_reach(sample, shares, lower), up + _squared_reach(sample, shares, upper)
    return as_python(value - np.sqrt(down)), as_python(value + np.sqrt(up))


def _find_threshold_probability(measure: Measure) -> Any:  # noqa: ANN401  (a number, or many)
    """Return the threshold probability set by `functools.partial`, or the default."""
    while isinstance(measure, partial):
        if "at" in measure.keywords:
            return measure.keywords["at"]
        measure = measure.func
    return _DEFAULT_THRESHOLD


def _make_cell(counts: Counts[Any], name: str, factor: Any) -> LinearCell:  # noqa: ANN401  (a number, or many)
    return LinearCell(getattr(counts, name), getattr(counts.squares, name), factor)


def _cell_limits(sample: CellSample, cell: LinearCell, level: float) -> tuple[Any, Any]:
    """Bound a cell's share of its sample."""
    counts = effective_counts(cell.mass, sample.mass - cell.mass, cell.squares, sample.squares - cell.squares)
    hits, misses = map(np.nan_to_num, counts)  # an empty class has no rows
    return wilson_or_exact(hits, misses, level)


def _squared_reach(sample: CellSample, shares: Sequence[Any], reach: Sequence[Any]) -> Any:  # noqa: ANN401  (one, or many)
    """Return the squared distance to one side of the combination."""
    total: Any = sum(each * each for each in reach)
    for (i, first), (j, second) in combinations(enumerate(sample.cells), 2):
        # With factors of opposite sign, shares that move in opposite directions shift the sum to one side.
        sides = np.sign(first.factor) * np.sign(second.factor)
        correlation = sides * _correlation(sample, (first, shares[i]), (second, shares[j]))
        total = total + 2 * correlation * reach[i] * reach[j]
    return np.maximum(total, 0.0)


def _correlation(sample: CellSample, first: tuple[LinearCell, Any], second: tuple[LinearCell, Any]) -> Any:  # noqa: ANN401
    """Return the linearized correlation of two cells' shares of a sample; 0 where one has no variance."""
    (one, p), (other, q) = first, second
    s, t, squares = one.squares, other.squares, sample.squares
    covariance = p * q * (squares - s - t) - s * (1 - p) * q - t * p * (1 - q)
    variances = ((1 - p) ** 2 * s + p * p * (squares - s)) * ((1 - q) ** 2 * t + q * q * (squares - t))
    return np.clip(np.nan_to_num(ratio(np.asarray(covariance), np.sqrt(variances))), -1.0, 1.0)


_CELL_STEP = 1e-5
"""Step of numerical derivatives, as a share of the total."""


def stabilize_weights(counts: Counts[float]) -> Counts[float]:
    """Return the table with squared weights of sparse cells raised to the usual weight of their class.

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
    stabilized = _table_arrays(stabilize_weights(counts))[1]
    # Where the class average replaces a cell's own squares, its uncertainty is that of all rows of the class.
    pooled = [np.where(stabilized > squares, each.sum(axis=1, keepdims=True), each) for each in (mass, squares, rows)]
    spread = np.maximum(np.nan_to_num(ratio(pooled[2] * pooled[1], pooled[0] ** 2), nan=1.0) - 1, 0.0)
    n_rows = np.maximum(pooled[2], 1.0)
    uncertainty = np.minimum((4 * spread + 6 * spread**2) / (1 + spread) / n_rows, 1 - 1 / n_rows) * stabilized**2
    slope = _cell_gradient(measure, mass)
    variance, noise = float(np.sum(slope**2 * stabilized)), float(np.sum(slope**4 * uncertainty))
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
    # Downward no farther than to an empty cell: measures are undefined at negative masses.
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
N_LIMIT_SAMPLES = 2000
"""Simulated tables at each threshold of a curve."""
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
            return TableKey(_flatten_cells(table.mass), _flatten_cells(table.squares.mass), len(table.labels))
        mass, squares = (_flatten_cells([[c.tp, c.fn], [c.fp, c.tn]]) for c in (table, table.squares))
        return TableKey(mass, squares, 2)


def simulate_values(
    measure: Measure, table: Counts[float] | Confusion, *, way: TableScheme, seed: Seed, filled: bool = True
) -> Floats:
    """Evaluate a measure at simulated tables; unless `filled`, empty cells stay empty."""
    values: Floats = measure(_as_tables(table, simulate_tables(table, way=way, seed=seed, filled=filled)))
    return values


def simulate_tables(table: Counts[float] | Confusion, *, way: TableScheme, seed: Seed, filled: bool = True) -> Floats:
    """Simulate tables of shape (n_samples, K, K), with the true class in rows."""
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
        "draws": "Dirichlet samples of the cells",
        "stratified": "Dirichlet samples of the cells within each class",
        "bootstrap": "bootstrap samples of the cells",
    }[way]


def _flatten_cells(cells: Any) -> tuple[float, ...]:  # noqa: ANN401  (whatever an array takes)
    return tuple(np.ravel(cells).tolist())


def _sample_tables(cells: TableKey, way: TableScheme, seed: Seed, filled: bool) -> Floats:  # noqa: FBT001  (the cache takes positions)
    """Sample tables of shape (n_samples, K, K), with the true class in rows and the total mass of the sample."""
    rng = make_generator(seed)
    size = (cells.classes, cells.classes)
    mass, squares = (np.reshape(each, size) for each in (cells.mass, cells.squares))
    n_samples = max(min(N_TABLES, _MAX_NUMBERS // mass.size), _MIN_TABLES)
    if way == "bootstrap":
        return make_read_only(_bootstrap_tables(rng, n_samples, mass, squares))
    if way == "stratified":
        # In units of each class's usual weight: half a row of a heavy class could outweigh a light class.
        mass, squares = in_class_units(mass, squares)
    tables = sample_masses(rng, n_samples, mass, squares, prior=_PRIOR_ROWS / mass.size)
    if not filled:
        tables *= mass > 0
    # A trace of mass counts as none: ratios to it would be arbitrarily large.
    tables[tables < 1e-12 * mass.sum()] = 0.0
    axes = -1 if way == "stratified" else (-2, -1)
    # An empty class stays empty.
    whole = np.reshape(cells.mass, size).sum(axis=axes, keepdims=True)
    tables *= np.nan_to_num(ratio(whole, tables.sum(axis=axes, keepdims=True)))
    # Read-only, since the cache returns the same array to every caller.
    return make_read_only(tables)


def in_class_units(mass: Floats, squares: Floats, *, axis: int = -1) -> tuple[Floats, Floats]:
    """Return masses and squared weights in units of the usual weight of each class, whose cells lie along an axis."""
    whole = mass.sum(axis=axis, keepdims=True)
    usual = np.where(whole > 0, ratio(squares.sum(axis=axis, keepdims=True), whole), 1.0)
    return mass / usual, squares / usual**2


_cached_tables: Callable[[TableKey, TableScheme, int, bool], Floats] = lru_cache(maxsize=4)(_sample_tables)


def _bootstrap_tables(rng: np.random.Generator, n_samples: int, mass: Floats, squares: Floats) -> Floats:
    """Draw rows with replacement; for weighted rows, sample masses of that mean and variance."""
    # Whole masses that equal their squared weights are plain counts.
    if (mass == squares).all() and (mass == np.trunc(mass)).all():
        tables = rng.multinomial(int(mass.sum()), mass.ravel() / mass.sum(), size=n_samples)
        return tables.reshape(n_samples, *mass.shape).astype(np.float64)
    return sample_masses(rng, n_samples, mass, squares)


def _as_tables(table: Counts[float] | Confusion, tables: Floats) -> Counts[Floats] | Confusion:
    if isinstance(table, Confusion):
        return Confusion(tables, table.labels)
    return Counts(*(make_read_only(tables[:, at, to].copy()) for at, to in ((0, 0), (1, 0), (0, 1), (1, 1))))


def simulate_limits(counts: Counts[Floats], measure: Measure, level: float, rng: np.random.Generator) -> Floats:
    """Return percentiles of a measure of simulated tables: low in row 0, high in row 1."""
    mass, squares = (np.stack([each.tp, each.fp, each.fn, each.tn]) for each in (counts, counts.squares))
    if counts.reweighed:
        measure = _fix_class_masses(measure, mass[:, :1])  # class masses are equal at all thresholds
        mass, squares = (
            _join_classes(each) for each in in_class_units(_split_classes(mass), _split_classes(squares), axis=0)
        )
    own, others = rng.spawn(2)
    low, high = _sample_limits(mass, squares, measure, level, own)
    sparse = np.flatnonzero((mass == 0).any(axis=0))
    if len(sparse):
        # With a prior of half a row an empty cell can occur; without it, the cell is impossible. Cover both.
        unfilled = _sample_limits(mass[:, sparse], squares[:, sparse], measure, level, others, filled=False)
        low[sparse], high[sparse] = np.fmin(low[sparse], unfilled[0]), np.fmax(high[sparse], unfilled[1])
    return np.stack([low, high])


def _fix_class_masses(measure: Measure, mass: Floats) -> Measure:
    """Return a measure of tables whose classes are first rescaled to their own masses."""
    whole = _split_classes(mass).sum(axis=0, keepdims=True)

    def evaluate(counts: Counts[Floats]) -> Floats:
        masses = _split_classes(np.stack([counts.tp, counts.fp, counts.fn, counts.tn], axis=-2))
        masses *= np.nan_to_num(ratio(whole, masses.sum(axis=-3, keepdims=True)))
        values: Floats = measure(Counts(*np.moveaxis(_join_classes(masses), -2, 0)))
        return values

    return evaluate


def _split_classes(cells: Floats) -> Floats:
    """Reshape cells tp, fp, fn, tn to two decisions of two classes, with the classes along the second axis."""
    return cells.reshape(*cells.shape[:-2], 2, 2, cells.shape[-1])


def _join_classes(pairs: Floats) -> Floats:
    """Reshape two decisions of two classes to cells tp, fp, fn, tn."""
    return pairs.reshape(*pairs.shape[:-3], 4, pairs.shape[-1])


def _sample_limits(
    mass: Floats, squares: Floats, measure: Measure, level: float, rng: np.random.Generator, *, filled: bool = True
) -> tuple[Floats, Floats]:
    def sample(rng: np.random.Generator, n_samples: int) -> Floats:
        masses = sample_masses(rng, n_samples, mass, squares, prior=_PRIOR_ROWS / len(mass))
        if not filled:
            masses *= mass > 0
        block: Floats = measure(Counts(*np.moveaxis(masses, 1, 0)))
        return block

    values = sample_in_blocks(sample, n_samples=N_LIMIT_SAMPLES, seed=rng, size=mass.size)
    tail = (1 - level) / 2
    # Samples themselves, without interpolation, which would be NaN between infinite ones.
    low = np.quantile(values, tail, axis=0, method="lower")
    return low, np.quantile(values, 1 - tail, axis=0, method="higher")


MOST_CLASSES = 32
"""Classes up to which every cell is changed in turn; the cost grows with the fourth power of their number."""
DELTA_METHOD = "delta method over the cells, t quantiles"
_PRIOR_PER_CLASS = 0.5
"""Rows added to each true class before differentiating: that many correct, that many errors [@jeffreys1946]."""
_STEP = 1e-3
"""Step of numerical derivatives, as a share of the cell's mass: a smaller one would cost second derivatives digits."""
_BLOCK = 1 << 18
"""Numbers in the tables measured at once."""
_MAX_LOG = 700.0
"""Largest logarithm of a float."""
_BIASED = frozenset(
    map(
        multiclass.find_measure,
        (
            *("joint_entropy", "truth_entropy", "decision_entropy", "cross_entropy", "confusion_entropy"),
            *("truth_entropy_given_decision", "decision_entropy_given_truth", "kl_divergence", "mutual_information"),
            *("truth_theil_u", "decision_theil_u", "symmetric_theil_u", "chi_squared", "phi_squared", "cramers_v"),
        ),
    )
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
    cells = _smooth_table(confusion)
    expansion = _expand_measure(measure, cells.mass, confusion.labels)
    if not (isfinite(expansion.value) and np.isfinite(expansion.first).all()):
        return None
    biased = unwrap_options(measure) in _BIASED
    bias = float(np.sum(cells.squares * expansion.second)) / 2 if biased else 0.0
    span = describe(measure).span
    parts = _variance_components(cells, expansion, confusion.rows.truth)
    variance = sum(part.variance for part in parts)
    moments = DeltaMoments(_correct_bias(value, bias, span), expansion.value, variance, degrees_of_freedom(parts))
    bounds = _find_limits(moments, span, level, logarithm=not biased)
    return bounds and Bounds(*bounds, DELTA_METHOD)


def _smooth_table(confusion: Confusion) -> Cells:
    """Add half a row to each true class, in units of its usual weight; classes that never occur stay empty."""
    mass, squares, rows = confusion.mass, confusion.squares.mass, confusion.rows.mass
    present = (confusion.truth > 0) | (confusion.predicted > 0)
    others = max(int(present.sum()) - 1, 1)
    share = (
        np.where(np.eye(len(present), dtype=np.bool_), _PRIOR_PER_CLASS, _PRIOR_PER_CLASS / others)
        * present
        * (confusion.truth > 0)[:, None]
    )
    usual = np.nan_to_num(ratio(squares.sum(axis=1, keepdims=True), mass.sum(axis=1, keepdims=True)))
    return Cells(mass + share * usual, squares + share * usual**2, rows + share)


def _expand_measure(measure: Measure, mass: Floats, labels: tuple[object, ...]) -> Expansion:
    """Differentiate by central differences; tables keep their total, since the number of rows is not random."""
    flat, total = mass.ravel(), float(mass.sum())
    steps = _STEP * flat
    occupied = np.flatnonzero(steps)
    first, second = np.zeros(flat.size), np.zeros(flat.size)
    value = float(measure(Confusion(mass, labels)))
    each = max(_BLOCK // (2 * flat.size), 1)
    for start in range(0, len(occupied), each):
        cells = occupied[start : start + each]
        changed = np.repeat(flat[None], 2 * len(cells), axis=0)
        changed[np.arange(len(cells)), cells] += steps[cells]
        changed[np.arange(len(cells)) + len(cells), cells] -= steps[cells]
        changed *= total / changed.sum(axis=1, keepdims=True)
        up, down = np.asarray(measure(Confusion(changed.reshape(-1, *mass.shape), labels))).reshape(2, -1)
        first[cells] = (up - down) / (2 * steps[cells])
        second[cells] = (up - 2 * value + down) / steps[cells] ** 2
    return Expansion(value, first.reshape(mass.shape), second.reshape(mass.shape))


def _variance_components(cells: Cells, expansion: Expansion, rows: Floats) -> list[VarianceComponent]:
    """Sum variance contributions of each true class; a cell of less than a row counts as one, a class as two."""
    added = cells.squares * expansion.first**2
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
