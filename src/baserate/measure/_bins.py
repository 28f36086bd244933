"""Bins of probabilities: of equal width, or of equal mass. Every row is in exactly one."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from sys import float_info
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats, ratio
from baserate._domains import BINS, check_domain
from baserate._errors import OptionError
from baserate._tally import Forecasts, Stack, Tally

By = Literal["width", "mass"]
Places = npt.NDArray[np.intp]

CLOSE = 1e-9
"""Share of a bin of equal mass that is rounding: a middle so near to where bins part lies there, in any unit."""

_DIGITS = 10
"""Of an edge, beyond those of the width of a bin."""
_MOST_DIGITS = 200


class Bins(NamedTuple):
    """What is in each bin that is not empty, lowest first; of a stack, a row for each tally, and empty ones too."""

    mass: Floats
    positive: Floats
    expected: Floats
    """Sum of probabilities."""
    squares: Floats
    """Sum of squared weights; of counted rows, their number."""

    @property
    def rows(self) -> Floats:
        """Rows, or as many of equal weight as would be as sure as those there are."""
        return ratio(self.mass**2, self.squares)

    @property
    def rate(self) -> Floats:
        """Share of positives; NaN in an empty bin."""
        return ratio(self.positive, self.mass)

    @property
    def chance(self) -> Floats:
        """Variance of the share of positives, without bias; NaN where there are not two rows."""
        return ratio(self.rate * (1 - self.rate), np.maximum(self.rows - 1, 0.0))

    @property
    def gap(self) -> Floats:
        """Share of positives less mean probability; 0 in an empty bin."""
        found: Floats = np.nan_to_num(ratio(self.positive - self.expected, self.mass))
        return found


def binned(t: Forecasts, *, bins: int | Sequence[float] = 10, by: By = "width") -> Bins:
    """Sum up what falls into each bin."""
    score, positive = t.score[::-1], t.positive[..., ::-1]
    mass = positive + t.negative[..., ::-1]
    if isinstance(t, Stack) and t.shared:
        mass = mass[0]
    first = firsts(score, mass, bins=bins, by=by)
    total, hits, expected = (_summed(each, first) for each in (mass, positive, mass * score))
    if isinstance(t, Stack):
        return Bins(total, hits, expected, squares=total * t.weight)
    if not t.weighted:
        return Bins(total, hits, expected, squares=total)
    return Bins(total, hits, expected, squares=_summed(t.squares.sum(axis=0, dtype=np.float64)[::-1], first))


def firsts(score: Floats, mass: Floats, *, bins: int | Sequence[float] = 10, by: By = "width") -> Places:
    """Where each bin begins in rising scores, or would if something were in it; of many masses, a row for each.

    Bins of equal width are (lo, hi], the lowest with 0 itself, as in scikit-learn. Those of equal mass part the scores
    where the middle of a score's mass passes a multiple of the total over the number of bins: equal scores stay
    together, in whatever order they came. A sequence in place of a number holds the edges, from 0 to 1.
    """
    if not isinstance(bins, int | np.integer) or by == "width":
        return np.concatenate([[0], np.searchsorted(score, _ends(bins)[1:-1], side="right")])
    if by != "mass":
        raise OptionError(f"by is {by!r}; bins are of equal 'width' or equal 'mass'.")
    # A middle next to where bins part lies there, whatever rounding makes of it in other units.
    wanted = np.concatenate([[0.0], np.arange(1, _checked(bins)) - CLOSE]) / int(bins)
    if not mass.shape[-1]:
        return np.zeros(len(wanted), dtype=np.intp)
    middle = np.cumsum(mass, axis=-1)
    total = middle[..., -1:].copy()
    middle -= mass / 2
    middle /= total
    if mass.ndim == 1:
        return np.searchsorted(middle, wanted, side="left")
    # One search in all rows: each lies above the one before.
    rows = np.arange(len(mass))[:, None]
    middle += rows
    found = np.searchsorted(middle.ravel(), (wanted + rows).ravel(), side="left").reshape(len(mass), -1)
    starts: Places = found - rows * mass.shape[-1]
    return starts


def edges(t: Tally, *, bins: int | Sequence[float] = 10, by: By = "width") -> tuple[Floats, Floats]:
    """Lower and upper ends of the bins that are not empty, lowest first; of equal mass, halfway between neighbours."""
    score = t.score[::-1]
    first = firsts(score, (t.positive + t.negative)[::-1], bins=bins, by=by)
    there = np.diff(first, append=len(score)) > 0
    if isinstance(bins, int | np.integer) and by == "mass" and len(score):
        begin = first[there][1:]
        inner = (score[begin - 1] + score[begin]) / 2
        return np.concatenate([[0.0], inner]), np.concatenate([inner, [1.0]])
    ends = _ends(bins)
    return ends[:-1][there], ends[1:][there]


def widened(low: float, high: float) -> tuple[float, float]:
    """Ends between which there is room for bins, also where all scores are one.

    >>> widened(0.0, 1.0), widened(3.0, 3.0)
    ((0.0, 1.0), (1.5, 4.5))
    """
    room = max(0.5, abs(low) / 2)  # more than rounding of a large score
    return (low, high) if low < high else (max(low - room, -float_info.max), min(high + room, float_info.max))


def inner_edges(low: float, high: float, bins: int) -> Floats:
    """Edges between two, as the short numbers that they are meant to be: a score of 0.3 is not below an edge of 0.3.

    >>> inner_edges(0.0, 1.0, 10).tolist()
    [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    """
    share = np.arange(1, bins) / bins
    found = low * (1 - share) + high * share  # which overflows for no two ends
    width = high / bins - low / bins
    digits = _DIGITS - floor(log10(width)) if width > 0 else np.inf
    return np.round(found, int(digits)) if abs(digits) <= _MOST_DIGITS else found


def _ends(bins: int | Sequence[float]) -> Floats:
    """Edges of bins as an array, rising from 0 to 1."""
    if isinstance(bins, int | np.integer):
        return np.linspace(0, 1, _checked(bins) + 1)
    try:
        found = np.asarray(bins, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise OptionError(f"bins is {bins!r}; give a whole number, or edges from 0 to 1.") from error
    if found.ndim != 1 or len(found) < 2 or found[0] != 0 or found[-1] != 1 or not (np.diff(found) > 0).all():
        raise OptionError(f"bins is {bins!r}; give a whole number, or edges that rise from 0 to 1.")
    return found


def _checked(bins: int) -> int:
    check_domain("bins", bins, BINS)
    return int(bins)


def _summed(values: Floats, first: Places) -> Floats:
    """Sums within bins, of those that are not empty; of many masses with bins of their own, 0 in those that are."""
    size = values.shape[-1]
    there = np.diff(first, append=size) > 0
    if first.ndim == 1:
        found: Floats = np.add.reduceat(values, first[there], axis=-1) if size else values
        return found
    sums = np.zeros(first.shape)
    flat = (first + np.arange(len(first))[:, None] * size)[there]
    sums[there] = np.add.reduceat(np.ascontiguousarray(values).ravel(), flat)
    return sums
