"""Intervals of sums of cells, each so many times, in closed form, for one table or many: net benefit, and costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from baserate._arrays import Value, as_python, ratio
from baserate._counts import Counts
from baserate.infer import _known
from baserate.infer._binomial import Bounds, effective, usual
from baserate.measure import Measure, bare, net_benefit, net_reduction, odds, standardized_net_benefit

LINEAR_METHOD = "Wilson or Clopper–Pearson of both shares, added in quadrature with their correlation"
LINEAR_FIXED_METHOD = _known.SUMMED
_DEFAULT = 0.5
_CELLS: dict[Measure, tuple[str, str]] = {
    net_benefit: ("tp", "fp"),
    standardized_net_benefit: ("tp", "fp"),
    net_reduction: ("tn", "fn"),
}
"""The cell that counts for, and the one that counts against."""
_SIDES = {"tp": "positives", "fn": "positives", "fp": "negatives", "tn": "negatives"}


class LinearCell(NamedTuple):
    """A cell of a sample: its mass, its squared weights, and how much its share counts. Numbers, or arrays of many."""

    mass: Any
    squares: Any
    factor: Any


class CellSample(NamedTuple):
    """Mass and squared weights of all that was drawn together, and those of its cells that count."""

    mass: Any
    squares: Any
    cells: Sequence[LinearCell]


def closed(measure: Measure, *, reweighed: bool) -> bool:
    """Whether a measure has an interval here; the standardised one has, where the prevalence is known."""
    return bare(measure) in _CELLS and (reweighed or bare(measure) is not standardized_net_benefit)


def interval(counts: Counts[Value], measure: Measure, level: float) -> Bounds[Value]:
    """Bounds of a measure that `closed` knows, with the options that `functools.partial` chose."""
    function, at = bare(measure), _chosen(measure)
    weight = 1 / odds(at) if function is net_reduction else odds(at)
    low, high = bound_linear_cells(counts, _CELLS[function], weight, level)
    if function is not standardized_net_benefit:
        return low, high
    prevalence = ratio(counts.positives, counts.total)
    return ratio(low, prevalence), ratio(high, prevalence)


def bound_linear_cells(
    counts: Counts[Value], cells: tuple[str, str], weight: Value | float, level: float
) -> Bounds[Value]:
    r"""Bounds of :math:`p_1-wp_2`, where both are cells' shares of everybody.

    The distances of each share from its own bounds are added as standard errors are [@zou2008], with the correlation
    :math:`-\sqrt{\frac{p_1p_2}{(1-p_1)(1-p_2)}}` of two shares of one sample, or what the weights make of it. Where the
    shares of the classes are known, each cell is a share of its class, and they are independent. In 960 cases with 50
    to 2000 rows, prevalences from 0.05 to 0.5, and thresholds from 0.02 to 0.8, that covers at least 93.7 % of the
    promised 95, and at least 93.4 % where the prevalence is known; 95.2 and 95.6 % in the middle.

    >>> table = Counts(tp=72, fp=72, fn=33, tn=573)
    >>> [round(bound, 4) for bound in bound_linear_cells(table, ("tp", "fp"), 1 / 3, 0.95)]
    [0.0427, 0.0887]
    """
    gain, loss = cells
    return bound_weighted_cells(counts, {gain: 1.0, loss: -weight}, level)


def bound_weighted_cells(
    counts: Counts[Value], factors: Mapping[str, Any], level: float, *, everybody: Counts[Value] | None = None
) -> Bounds[Value]:
    """Bounds of a sum of cells' shares of everybody, each so many times; there may be more than the cells hold."""
    all_of_them = counts if everybody is None else everybody
    if not counts.reweighed:
        cells = [_cell(counts, name, factor) for name, factor in factors.items()]
        return combine_cell_bounds([CellSample(all_of_them.total, all_of_them.squares.total, cells)], level)
    shares = {side: ratio(getattr(all_of_them, side), all_of_them.total) for side in set(_SIDES.values())}
    return bound_weighted_rates(
        counts, {name: shares[_SIDES[name]] * each for name, each in factors.items()}, level, everybody
    )


def bound_weighted_rates(
    counts: Counts[Value], factors: Mapping[str, Any], level: float, everybody: Counts[Value] | None = None
) -> Bounds[Value]:
    """Bounds of a sum of cells' shares of their classes, each so many times."""
    all_of_them = counts if everybody is None else everybody
    samples = []
    for side in dict.fromkeys(_SIDES[name] for name in factors):
        cells = [_cell(counts, name, each) for name, each in factors.items() if _SIDES[name] == side]
        samples.append(CellSample(getattr(all_of_them, side), getattr(all_of_them.squares, side), cells))
    return combine_cell_bounds(samples, level)


def combine_cell_bounds(samples: Sequence[CellSample], level: float) -> Bounds[Any]:
    """Bounds of a sum of shares, each so many times: independent between samples, correlated within one."""
    value: Any = 0.0
    down: Any = 0.0
    up: Any = 0.0
    for sample in samples:
        shares = [np.nan_to_num(ratio(np.asarray(cell.mass, dtype=np.float64), sample.mass)) for cell in sample.cells]
        limits = [_limits(sample, cell, level) for cell in sample.cells]
        lower, upper = [], []
        for cell, share, (low, high) in zip(sample.cells, shares, limits, strict=True):
            value = value + cell.factor * share
            ends = cell.factor * (low - share), cell.factor * (high - share)
            lower.append(np.minimum(*ends))
            upper.append(np.maximum(*ends))
        down, up = down + _together(sample, shares, lower), up + _together(sample, shares, upper)
    return as_python(value - np.sqrt(down)), as_python(value + np.sqrt(up))


def _chosen(measure: Measure) -> Any:  # noqa: ANN401  (a number, or many)
    """The threshold probability that a measure was told, or the usual one."""
    while isinstance(measure, partial):
        if "at" in measure.keywords:
            return measure.keywords["at"]
        measure = measure.func
    return _DEFAULT


def _cell(counts: Counts[Any], name: str, factor: Any) -> LinearCell:  # noqa: ANN401  (a number, or many)
    return LinearCell(getattr(counts, name), getattr(counts.squares, name), factor)


def _limits(sample: CellSample, cell: LinearCell, level: float) -> tuple[Any, Any]:
    """Bounds of a cell's share of its sample."""
    found = effective(cell.mass, sample.mass - cell.mass, cell.squares, sample.squares - cell.squares)
    hits, misses = map(np.nan_to_num, found)  # of a class that is not there, nothing
    return usual(hits, misses, level)


def _together(sample: CellSample, shares: Sequence[Any], reach: Sequence[Any]) -> Any:  # noqa: ANN401  (one, or many)
    """Square of how far all reach together to one side."""
    total: Any = sum(each * each for each in reach)
    for (i, first), (j, second) in combinations(enumerate(sample.cells), 2):
        # Shares that count to opposite sides move the sum to one side when they themselves move apart.
        sides = np.sign(first.factor) * np.sign(second.factor)
        correlation = sides * _correlation(sample, (first, shares[i]), (second, shares[j]))
        total = total + 2 * correlation * reach[i] * reach[j]
    return np.maximum(total, 0.0)


def _correlation(sample: CellSample, first: tuple[LinearCell, Any], second: tuple[LinearCell, Any]) -> Any:  # noqa: ANN401
    """Correlation of two cells' shares of a sample, linearised as their variances are; 0 where one has none."""
    (one, p), (other, q) = first, second
    s, t, squares = one.squares, other.squares, sample.squares
    covariance = p * q * (squares - s - t) - s * (1 - p) * q - t * p * (1 - q)
    variances = ((1 - p) ** 2 * s + p * p * (squares - s)) * ((1 - q) ** 2 * t + q * q * (squares - t))
    return np.clip(np.nan_to_num(ratio(np.asarray(covariance), np.sqrt(variances))), -1.0, 1.0)
