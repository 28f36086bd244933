"""Bins of probabilities: of equal width, or of equal mass. Every row is in exactly one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats, ratio
from baserate._errors import BadOption
from baserate._stack import Forecasts, Stack
from baserate._tally import Tally

By = Literal["width", "mass"]

CLOSE = 1e-9
"""Share of a bin of equal mass that is rounding: a middle so near to where bins part lies there, in any unit."""


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
    score, positive = t.score, t.positive
    mass = positive + t.negative
    if isinstance(t, Stack) and t.shared:
        mass = mass[0]
    place = places(score, mass, bins=bins, by=by)
    total, hits, expected = (_summed(place, each) for each in (mass, positive, mass * score))
    if isinstance(t, Stack) or not t.weighted:
        return Bins(total, hits, expected, squares=total)
    return Bins(total, hits, expected, squares=_summed(place, np.asarray(t.squares.sum(axis=0))))


def places(score: Floats, mass: Floats, *, bins: int | Sequence[float] = 10, by: By = "width") -> npt.NDArray[np.intp]:
    """Number of the bin that each score falls into; scores fall, so bins do.

    Bins of equal width are (lo, hi], the lowest with 0 itself, as in scikit-learn. Those of equal mass part the scores
    where the middle of a score's mass passes a multiple of the total over the number of bins: equal scores stay
    together, in whatever order they came. A sequence in place of a number holds the edges, from 0 to 1.
    """
    if not isinstance(bins, int | np.integer):
        return np.searchsorted(checked_edges(bins)[1:-1], score, side="left")
    if bins < 1:
        raise BadOption(f"bins is {bins!r}; give a whole number of 1 or more, or edges from 0 to 1.")
    if by == "width":
        return np.searchsorted(np.linspace(0, 1, int(bins) + 1)[1:-1], score, side="left")
    if by != "mass":
        raise BadOption(f"by is {by!r}; bins are of equal 'width' or equal 'mass'.")
    below = np.cumsum(mass[..., ::-1], axis=-1)[..., ::-1]
    middle = ratio(below - mass / 2, below[..., :1])
    return np.minimum((middle * int(bins) + CLOSE).astype(np.intp), int(bins) - 1)


def edges(t: Tally, *, bins: int | Sequence[float] = 10, by: By = "width") -> tuple[Floats, Floats]:
    """Lower and upper ends of the bins that are not empty, lowest first; of equal mass, halfway between neighbours."""
    place = places(t.score, t.positive + t.negative, bins=bins, by=by)[::-1]
    if isinstance(bins, int | np.integer) and by == "mass" and len(place):
        p = t.score[::-1]
        last = np.flatnonzero(np.diff(place))
        inner = (p[last] + p[last + 1]) / 2
        return np.concatenate([[0.0], inner]), np.concatenate([inner, [1.0]])
    ends = np.linspace(0, 1, int(bins) + 1) if isinstance(bins, int | np.integer) else checked_edges(bins)
    there = np.unique(place)
    return ends[there], ends[there + 1]


def checked_edges(edges: Any) -> Floats:  # noqa: ANN401  (whatever was given)
    """Edges of bins as an array, rising from 0 to 1."""
    try:
        found = np.asarray(edges, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadOption(f"bins is {edges!r}; give a whole number, or edges from 0 to 1.") from error
    if found.ndim != 1 or len(found) < 2 or found[0] != 0 or found[-1] != 1 or not (np.diff(found) > 0).all():
        raise BadOption(f"bins is {edges!r}; give a whole number, or edges that rise from 0 to 1.")
    return found


def _summed(place: npt.NDArray[np.intp], values: Floats) -> Floats:
    """Sums within bins, lowest first."""
    if not place.shape[-1]:
        return values
    if place.ndim == 1:
        starts = np.flatnonzero(np.diff(place, prepend=place[0] + 1))
        found: Floats = np.add.reduceat(values, starts, axis=-1)[..., ::-1]
        return found
    many, bins = len(place), int(place.max()) + 1
    cell = place + np.arange(many)[:, None] * bins
    sums = np.bincount(cell.ravel(), values.ravel(), minlength=many * bins)
    return sums.astype(np.float64).reshape(many, bins)
