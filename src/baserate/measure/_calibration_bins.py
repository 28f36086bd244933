"""Calibration errors in bins (ECE, MCE, RMSCE), and the bins themselves, of equal width or of equal mass.

Each measure takes a `Tally` of probabilities, counts every row in exactly one bin, and is 0 at its best. All but the
debiased one are plug-in estimates: sampling noise alone puts them above 0, the more so the fewer rows there are.
"""

from collections.abc import Callable, Mapping, Sequence
from math import floor, log10
from sys import float_info
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats, as_float, ratio, root
from baserate._domains import BINS, check_domain, wrong_option
from baserate._tally import Forecasts, Stack, Tally
from baserate.measure._measure import Measure, Values, measure
from baserate.measure._proper_scores import check_probabilities

__all__ = ["ece", "ece_sweep", "mce", "rmsce", "rmsce_debiased"]

By = Literal["width", "mass"]
Places = npt.NDArray[np.intp]

_EDGE_TOLERANCE = 1e-9
"""Tolerance, as a share of a bin of equal mass, within which a midpoint lies on an edge, in any unit of mass."""

_DIGITS = 10
"""Digits of an edge beyond those of the width of a bin."""
_MAX_DIGITS = 200


class Bins(NamedTuple):
    """Sums in each nonempty bin, lowest first; for a stack, a row for each tally, with empty bins too."""

    mass: Floats
    positive: Floats
    expected: Floats
    """Sum of probabilities."""
    squares: Floats
    """Sum of squared weights; of counted rows, their number."""

    @property
    def rows(self) -> Floats:
        """Return the number of rows; with weights, their effective number."""
        return ratio(self.mass**2, self.squares)

    @property
    def rate(self) -> Floats:
        """Return the share of positives; NaN in an empty bin."""
        return ratio(self.positive, self.mass)

    @property
    def chance(self) -> Floats:
        """Return the unbiased variance of the share of positives; undefined with fewer than two rows."""
        return ratio(self.rate * (1 - self.rate), np.maximum(self.rows - 1, 0.0))

    @property
    def gap(self) -> Floats:
        """Return the share of positives minus the mean probability; 0 in an empty bin."""
        gap: Floats = np.nan_to_num(ratio(self.positive - self.expected, self.mass))
        return gap


def fill_bins(t: Forecasts, *, bins: int | Sequence[float] = 10, by: By = "width") -> Bins:
    """Sum the rows in each bin."""
    # Tallies begin with the highest score; bins, as in the literature, with the lowest.
    score, positive = t.score[::-1], t.positive[..., ::-1]
    mass = positive + t.negative[..., ::-1]
    if isinstance(t, Stack) and t.shared:
        # The masses of all tallies are equal, so one row of them serves all.
        mass = mass[0]
    first = bin_starts(score, mass, bins=bins, by=by)
    total, hits, expected = (_sum_bins(each, first) for each in (mass, positive, mass * score))
    if isinstance(t, Stack):
        return Bins(total, hits, expected, squares=total * t.weight)
    if not t.weighted:
        return Bins(total, hits, expected, squares=total)
    return Bins(total, hits, expected, squares=_sum_bins(t.squares.sum(axis=0, dtype=np.float64)[::-1], first))


def bin_starts(score: Floats, mass: Floats, *, bins: int | Sequence[float] = 10, by: By = "width") -> Places:
    """Return the place in rising scores at which each bin begins, even if it is empty; of many masses, a row for each.

    Bins of equal width are (lo, hi], the lowest one includes 0, as in scikit-learn. Bins of equal mass are separated
    where the midpoint of a score's mass passes a multiple of the total over the number of bins: equal scores are in one
    bin, whatever their order. A sequence in place of a number contains the edges, from 0 to 1.
    """
    if not isinstance(bins, int | np.integer) or by == "width":
        return np.concatenate([[0], np.searchsorted(score, _edge_array(bins)[1:-1], side="right")])
    if by != "mass":
        raise wrong_option("by", by, "'width' or 'mass', equal in all bins")
    # A midpoint next to an edge counts as on it, so that rounding in other units changes no bin.
    wanted = np.concatenate([[0.0], np.arange(1, _check_bins(bins)) - _EDGE_TOLERANCE]) / int(bins)
    if not mass.shape[-1]:
        return np.zeros(len(wanted), dtype=np.intp)
    middle = np.cumsum(mass, axis=-1)
    total = middle[..., -1:].copy()
    middle -= mass / 2
    middle /= total
    if mass.ndim == 1:
        return np.searchsorted(middle, wanted, side="left")
    # One search for all rows: midpoints are shares, so that adding its number puts each row above the one before.
    rows = np.arange(len(mass))[:, None]
    middle += rows
    flat = np.searchsorted(middle.ravel(), (wanted + rows).ravel(), side="left").reshape(len(mass), -1)
    starts: Places = flat - rows * mass.shape[-1]
    return starts


def bin_edges(t: Tally, *, bins: int | Sequence[float] = 10, by: By = "width") -> tuple[Floats, Floats]:
    """Return the lower and upper edges of nonempty bins, lowest first; of equal mass, halfway between neighbors."""
    score = t.score[::-1]
    first = bin_starts(score, (t.positive + t.negative)[::-1], bins=bins, by=by)
    nonempty = np.diff(first, append=len(score)) > 0
    if isinstance(bins, int | np.integer) and by == "mass" and len(score):
        begin = first[nonempty][1:]
        inner = (score[begin - 1] + score[begin]) / 2
        return np.concatenate([[0.0], inner]), np.concatenate([inner, [1.0]])
    ends = _edge_array(bins)
    return ends[:-1][nonempty], ends[1:][nonempty]


def widen_range(low: float, high: float) -> tuple[float, float]:
    """Widen a range to positive length, if all scores are equal.

    >>> widen_range(0.0, 1.0), widen_range(3.0, 3.0)
    ((0.0, 1.0), (1.5, 4.5))
    """
    margin = max(0.5, abs(low) / 2)  # more than the rounding of a large score
    return (low, high) if low < high else (max(low - margin, -float_info.max), min(high + margin, float_info.max))


def inner_edges(low: float, high: float, bins: int) -> Floats:
    """Return the inner edges of a range as short decimals, so that a score of 0.3 is not below an edge of 0.3.

    >>> inner_edges(0.0, 1.0, 10).tolist()
    [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    """
    share = np.arange(1, bins) / bins
    exact = low * (1 - share) + high * share  # overflows for no pair of ends, unlike low + share * (high - low)
    width = high / bins - low / bins
    digits = _DIGITS - floor(log10(width)) if width > 0 else np.inf
    # np.round multiplies by a power of ten, which overflows for extreme widths: leave such edges exact.
    return np.round(exact, int(digits)) if abs(digits) <= _MAX_DIGITS else exact


def _edge_array(bins: int | Sequence[float]) -> Floats:
    """Return the edges of bins as an array, rising from 0 to 1."""
    if isinstance(bins, int | np.integer):
        return np.linspace(0, 1, _check_bins(bins) + 1)
    try:
        edge_array = np.asarray(bins, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise wrong_option("bins", bins, "a whole number, or edges that rise from 0 to 1") from error
    valid = edge_array.ndim == 1 and len(edge_array) >= 2 and edge_array[0] == 0 and edge_array[-1] == 1
    if not valid or not (np.diff(edge_array) > 0).all():
        raise wrong_option("bins", bins, "a whole number, or edges that rise from 0 to 1")
    return edge_array


def _check_bins(bins: int) -> int:
    check_domain("bins", bins, BINS)
    return int(bins)


def _sum_bins(values: Floats, first: Places) -> Floats:
    """Sum values within nonempty bins; of many masses with bins of their own, empty bins are 0."""
    size = values.shape[-1]
    # np.add.reduceat returns the next value, not 0, for an empty slice: only nonempty bins are summed.
    nonempty = np.diff(first, append=size) > 0
    if first.ndim == 1:
        bin_sums: Floats = np.add.reduceat(values, first[nonempty], axis=-1) if size else values
        return bin_sums
    sums = np.zeros(first.shape)
    flat = (first + np.arange(len(first))[:, None] * size)[nonempty]
    sums[nonempty] = np.add.reduceat(np.ascontiguousarray(values).ravel(), flat)
    return sums


_MAX_BINS = 1000
"""Most bins of a sweep: scores that separate the classes are monotone in any number of bins."""
_ROUNDING = 1e-12
"""Difference of shares that counts as rounding."""


@measure(
    "Expected calibration error: mean gap between observed rate and mean probability over bins.",
    formula=r"\sum_b\frac{n_b}n|ȳ_b-p̄_b|",
    aliases=("expected calibration error", "ECE-H", "calibration error L1"),
    references=("naeini2015",),
    values=Values("low", (0, 1), needs=("total",), percent=True),
    page="Calibration error (ECE)",
)
def ece(t: Forecasts, *, bins: int | Sequence[float] = 10, by: By = "width") -> float:
    """Bins have equal `width` or equal `mass`, or the given edges; see `docs/conventions.md`.

    >>> from baserate import tally
    >>> round(ece(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])), 10)
    0.175
    """
    check_probabilities(t)
    return _mean_gap(fill_bins(t, bins=bins, by=by))


@measure(
    "Maximum calibration error: largest gap between observed rate and mean probability in a bin.",
    formula=r"\max_b|ȳ_b-p̄_b|",
    aliases=("maximum calibration error", "MCE-H"),
    references=("naeini2015",),
    values=Values("low", (0, 1), needs=("total",)),
)
def mce(t: Forecasts, *, bins: int | Sequence[float] = 10, by: By = "width") -> float:
    """
    >>> from baserate import tally
    >>> round(mce(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])), 10)
    0.3
    """
    check_probabilities(t)
    return _largest_gap(fill_bins(t, bins=bins, by=by))


@measure(
    "Root mean squared calibration error over bins (by default, of equal mass).",
    formula=r"\sqrt{\sum_b\frac{n_b}n(ȳ_b-p̄_b)^2}",
    aliases=("root mean squared calibration error", "calibration error L2"),
    references=("hendrycks2019",),
    values=Values("low", (0, 1), needs=("total",)),
)
def rmsce(t: Forecasts, *, bins: int | Sequence[float] = 10, by: By = "mass") -> float:
    """
    >>> from baserate import tally
    >>> round(rmsce(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])), 10)
    0.1936491673
    """
    check_probabilities(t)
    return _root_mean_squared_gap(fill_bins(t, bins=bins, by=by))


@measure(
    "Root mean squared calibration error over bins, corrected for sampling bias.",
    formula=r"\sqrt{\sum_b\frac{n_b}n[(ȳ_b-p̄_b)^2-\frac{ȳ_b(1-ȳ_b)}{n_b-1}]}",
    aliases=("debiased calibration error", "debiased calibration error L2", "debiased L2"),
    references=("kumar2019",),
    values=Values("low", (0, 1), needs=("total",), sampled=True),
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
    return _debiased_gap(fill_bins(t, bins=bins, by=by))


@measure(
    "Expected calibration error with as many equal-mass bins as keep observed rates monotone.",
    formula=r"\sum_{b=1}^B\frac{n_b}n|ȳ_b-p̄_b|,\;ȳ_1≤ȳ_2≤…≤ȳ_B",
    aliases=("monotone sweep calibration error", "ECE sweep"),
    references=("roelofs2022",),
    values=Values("low", (0, 1), needs=("total",)),
)
def ece_sweep(t: Forecasts) -> float:
    """The number of bins grows from 1 while the observed rates are monotone, up to a thousand.

    >>> from baserate import tally
    >>> round(ece_sweep(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])), 10)
    0.175
    """
    check_probabilities(t)
    if isinstance(t, Stack):
        return as_float(np.array([_sweep_bins(t.score, *each) for each in zip(t.positive, t.negative, strict=True)]))
    return _sweep_bins(t.score, t.positive, t.negative)


def _sweep_bins(score: Floats, positive: Floats, negative: Floats) -> float:
    """Increase the number of bins while observed rates are monotone; a bin is the difference of two cumulative sums."""
    mass = (positive + negative)[::-1]
    occupied = mass > 0
    # A score without mass, as in bootstrap samples, must not become an empty bin.
    mass, hits, p = mass[occupied], positive[::-1][occupied], score[::-1][occupied]
    if not len(mass):
        return float("nan")
    sums = np.zeros((3, len(mass) + 1))
    np.cumsum([mass, hits, mass * p], axis=1, out=sums[:, 1:])
    middle = (sums[0, :-1] + mass / 2) / sums[0, -1]
    best = _split_bins(sums, middle, 1)
    for bins in range(2, min(_MAX_BINS, len(mass)) + 1):
        finer = _split_bins(sums, middle, bins)
        # Cross-multiplied, so that equal shares compare as equal, except for the rounding of weights.
        rise = finer.positive[1:] * finer.mass[:-1] - finer.positive[:-1] * finer.mass[1:]
        if (rise < -_ROUNDING * finer.mass[1:] * finer.mass[:-1]).any():
            break
        best = finer
    return float(_total_gap(best)) / float(sums[0, -1])


def _split_bins(sums: Floats, middle: Floats, bins: int) -> Bins:
    cuts = np.searchsorted(middle, (np.arange(bins + 1) - _EDGE_TOLERANCE) / bins, side="left")
    # The midpoint of a last score with very little mass may lie beyond the last edge less its tolerance.
    cuts[-1] = len(middle)
    mass, positive, expected = np.diff(sums[:, cuts], axis=1)
    if not mass.all():  # a score with much mass may leave the next bin empty
        mass, positive, expected = (each[mass > 0] for each in (mass, positive, expected))
    return Bins(mass, positive, expected, mass)


def _total_gap(filled: Bins) -> Floats:
    total: Floats = np.abs(filled.positive - filled.expected).sum(axis=-1)
    return total


def _mean_gap(filled: Bins) -> float:
    return as_float(ratio(_total_gap(filled), filled.mass.sum(axis=-1)))


def _largest_gap(filled: Bins) -> float:
    return as_float(np.abs(filled.gap).max(axis=-1)) if filled.mass.shape[-1] else float("nan")


def _root_mean_squared_gap(filled: Bins) -> float:
    return as_float(root(ratio((filled.mass * filled.gap**2).sum(axis=-1), filled.mass.sum(axis=-1))))


def _debiased_gap(filled: Bins) -> float:
    # A bin with fewer than two rows has no variance estimate, and contributes nothing.
    excess = np.where(np.isnan(filled.chance), 0.0, filled.mass * (filled.gap**2 - filled.chance))
    return as_float(root(np.maximum(ratio(excess.sum(axis=-1), filled.mass.sum(axis=-1)), 0.0)))


BIN_MEASURES: Mapping[Measure, Callable[[Bins], float]] = {
    ece: _mean_gap,
    mce: _largest_gap,
    rmsce: _root_mean_squared_gap,
    rmsce_debiased: _debiased_gap,
}
"""Measures of the same bins, so that several measures need to fill them only once."""
