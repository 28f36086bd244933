"""Calibration errors in bins. Each takes a `Tally` of probabilities, counts every row, and is 0 at its best.

All but the debiased one are plug-in numbers: chance alone puts them above 0, the more so the fewer rows there are.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from baserate._arrays import Floats, as_float, ratio, root
from baserate._tally import Forecasts, Stack
from baserate.measure._about import Measure, measure
from baserate.measure._bins import CLOSE, Bins, By, binned
from baserate.measure._proper import check_probabilities

__all__ = [
    "ece",
    "ece_sweep",
    "mce",
    "rmsce",
    "rmsce_debiased",
]

_MOST = 1000
"""Bins up to which a sweep goes on: scores that part the classes would be monotone in any number of them."""
_ROUNDED = 1e-12
"""Difference of shares that is rounding."""


@measure(
    summary="Expected calibration error: mean gap between observed rate and mean probability over bins.",
    formula=r"\sum_b\frac{n_b}n|ȳ_b-p̄_b|",
    also=("expected calibration error", "ECE-H", "calibration error L1"),
    references=("naeini2015",),
    best="low",
    span=(0, 1),
    needs=("total",),
)
def ece(t: Forecasts, *, bins: int | Sequence[float] = 10, by: By = "width") -> float:
    """Bins have equal `width` or equal `mass`, or the given edges; see `docs/conventions.md`.

    >>> from baserate import tally
    >>> round(ece(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])), 10)
    0.175
    """
    check_probabilities(t)
    return _mean_gap(binned(t, bins=bins, by=by))


@measure(
    summary="Maximum calibration error: largest gap between observed rate and mean probability in a bin.",
    formula=r"\max_b|ȳ_b-p̄_b|",
    also=("maximum calibration error", "MCE-H"),
    references=("naeini2015",),
    best="low",
    span=(0, 1),
    needs=("total",),
)
def mce(t: Forecasts, *, bins: int | Sequence[float] = 10, by: By = "width") -> float:
    """
    >>> from baserate import tally
    >>> round(mce(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])), 10)
    0.3
    """
    check_probabilities(t)
    return _largest_gap(binned(t, bins=bins, by=by))


@measure(
    summary="Root mean squared calibration error over bins (by default, of equal mass).",
    formula=r"\sqrt{\sum_b\frac{n_b}n(ȳ_b-p̄_b)^2}",
    also=("root mean squared calibration error", "calibration error L2"),
    references=("hendrycks2019",),
    best="low",
    span=(0, 1),
    needs=("total",),
)
def rmsce(t: Forecasts, *, bins: int | Sequence[float] = 10, by: By = "mass") -> float:
    """
    >>> from baserate import tally
    >>> round(rmsce(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])), 10)
    0.1936491673
    """
    check_probabilities(t)
    return _root_mean_squared_gap(binned(t, bins=bins, by=by))


@measure(
    summary="Root mean squared calibration error over bins, corrected for sampling bias.",
    formula=r"\sqrt{\sum_b\frac{n_b}n[(ȳ_b-p̄_b)^2-\frac{ȳ_b(1-ȳ_b)}{n_b-1}]}",
    also=("debiased calibration error", "debiased calibration error L2", "debiased L2"),
    references=("kumar2019",),
    best="low",
    span=(0, 1),
    needs=("total",),
    sampled=True,
)
def rmsce_debiased(t: Forecasts, *, bins: int | Sequence[float] = 10, by: By = "mass") -> float:
    """0 where sampling noise explains more than the whole error. Weighted rows count by their effective number; a bin
    with one row has no variance estimate and adds nothing.

    >>> from baserate import tally
    >>> truth, score = [0] * 9 + [1] * 31, [0.2] * 20 + [0.8] * 20
    >>> round(rmsce(tally(truth, score)), 6), round(rmsce_debiased(tally(truth, score)), 6)
    (0.285044, 0.27338)
    """
    check_probabilities(t)
    return _more_than_chance(binned(t, bins=bins, by=by))


@measure(
    summary="Expected calibration error with as many equal-mass bins as keep observed rates monotone.",
    formula=r"\sum_{b=1}^B\frac{n_b}n|ȳ_b-p̄_b|,\;ȳ_1≤ȳ_2≤…≤ȳ_B",
    also=("monotone sweep calibration error", "ECE sweep"),
    references=("roelofs2022",),
    best="low",
    span=(0, 1),
    needs=("total",),
)
def ece_sweep(t: Forecasts) -> float:
    """The number of bins grows from 1 while the observed rates are monotone, up to a thousand.

    >>> from baserate import tally
    >>> round(ece_sweep(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])), 10)
    0.175
    """
    check_probabilities(t)
    if isinstance(t, Stack):
        return as_float(np.array([_swept(t.score, *each) for each in zip(t.positive, t.negative, strict=True)]))
    return _swept(t.score, t.positive, t.negative)


def _swept(score: Floats, positive: Floats, negative: Floats) -> float:
    """Sweep through numbers of bins, from running sums: a bin is the difference of two of them."""
    mass = (positive + negative)[::-1]
    there = mass > 0
    mass, hits, p = mass[there], positive[::-1][there], score[::-1][there]
    if not len(mass):
        return float("nan")
    sums = np.zeros((3, len(mass) + 1))
    np.cumsum([mass, hits, mass * p], axis=1, out=sums[:, 1:])
    middle = (sums[0, :-1] + mass / 2) / sums[0, -1]
    kept = _parted(sums, middle, 1)
    for bins in range(2, min(_MOST, len(mass)) + 1):
        found = _parted(sums, middle, bins)
        # Cross-multiplied, so that equal shares are equal, but for the rounding of weights.
        rise = found.positive[1:] * found.mass[:-1] - found.positive[:-1] * found.mass[1:]
        if (rise < -_ROUNDED * found.mass[1:] * found.mass[:-1]).any():
            break
        kept = found
    return float(_l1(kept)) / float(sums[0, -1])


def _parted(sums: Floats, middle: Floats, bins: int) -> Bins:
    cuts = np.searchsorted(middle, (np.arange(bins + 1) - CLOSE) / bins, side="left")
    cuts[-1] = len(middle)
    mass, positive, expected = np.diff(sums[:, cuts], axis=1)
    if not mass.all():  # a score with much mass may leave no row to the next bin
        mass, positive, expected = (each[mass > 0] for each in (mass, positive, expected))
    return Bins(mass, positive, expected, mass)


def _l1(found: Bins) -> Floats:
    total: Floats = np.abs(found.positive - found.expected).sum(axis=-1)
    return total


def _mean_gap(found: Bins) -> float:
    return as_float(ratio(_l1(found), found.mass.sum(axis=-1)))


def _largest_gap(found: Bins) -> float:
    return as_float(np.abs(found.gap).max(axis=-1)) if found.mass.shape[-1] else float("nan")


def _root_mean_squared_gap(found: Bins) -> float:
    return as_float(root(ratio((found.mass * found.gap**2).sum(axis=-1), found.mass.sum(axis=-1))))


def _more_than_chance(found: Bins) -> float:
    # A bin without two rows has no chance that could be taken off, and no gap that is more than chance.
    excess = np.where(np.isnan(found.chance), 0.0, found.mass * (found.gap**2 - found.chance))
    return as_float(root(np.maximum(ratio(excess.sum(axis=-1), found.mass.sum(axis=-1)), 0.0)))


OF_BINS: Mapping[Measure, Callable[[Bins], float]] = {
    ece: _mean_gap,
    mce: _largest_gap,
    rmsce: _root_mean_squared_gap,
    rmsce_debiased: _more_than_chance,
}
"""What is made of the same bins: who wants several need not fill them anew for each."""
