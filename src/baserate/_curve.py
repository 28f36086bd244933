"""Curve: counts at every threshold of a tally, from the strictest threshold down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic

import numpy as np
import numpy.typing as npt

from baserate._arrays import Cells, Floats, Value, as_python, keep_read_only, make_read_only, ratio
from baserate._counts import Counts
from baserate._errors import MissingValuesError, OptionError
from baserate._formatting import count_of
from baserate._numeric.cumulative import cumulative_blocks, cumulative_sums, pool_adjacent_violators, row_totals
from baserate._numeric.distinct import run_sums
from baserate._rendering import Renderable, short_repr
from baserate._tally import Tally

_SCORES_PER_THRESHOLD = 1000
"""Scores per requested threshold above which sums between thresholds are faster than one cumulative sum."""

Index = int | np.intp | npt.NDArray[np.intp]


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False)
class Mixture(Generic[Value]):
    """Two thresholds and the probability of the laxer one: a point on an edge of the ROC hull.

    Scalars for one point, arrays for many.
    """

    strict: Value
    lax: Value
    chance: Value
    """Probability of using `lax`."""

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, eq=False)
class Curve(Renderable):
    """Counts at each threshold, strictest first; a row is flagged if score ≥ threshold.

    The first threshold is +inf, where nothing is flagged; then comes every distinct score. A curve stores only its
    tally: `threshold`, `flagged_mass` and `counts` are computed on each access, so store what you use twice.

    >>> c = Curve(Tally.from_counts(score=[0.9, 0.4], rows=[[2, 1], [0, 3]]))
    >>> c.threshold.tolist(), c.counts.tp.tolist(), c.counts.fp.tolist()
    ([inf, 0.9, 0.4], [0.0, 2.0, 3.0], [0.0, 0.0, 3.0])
    """

    tally: Tally

    def __post_init__(self) -> None:
        if not isinstance(self.tally, Tally):
            raise OptionError(
                f"{type(self.tally).__name__} is not a tally", remedy="make one first, with baserate.tally(…)."
            )

    def __repr__(self) -> str:
        return f"Curve({count_of(len(self.tally.score) + 1, 'threshold')} of {self.tally!r})"

    @property
    def positives(self) -> float:
        """Mass of the positive class."""
        return self.tally.positives

    @property
    def negatives(self) -> float:
        """Mass of the negative class."""
        return self.tally.negatives

    @property
    def total(self) -> float:
        """Mass of everything."""
        return self.tally.total

    @property
    def threshold(self) -> Floats:
        """All thresholds: +inf, then the scores, decreasing."""
        return np.concatenate([[np.inf], self.tally.score])

    @property
    def flagged_mass(self) -> Floats:
        """Mass flagged at each threshold: true positives in row 0, false positives in row 1."""
        return cumulative_sums(self.tally.mass)

    @property
    def counts(self) -> Counts[Floats]:
        """The 2×2 tables at all thresholds."""
        return self._tables(slice(None))

    def blocks(self) -> Iterator[tuple[slice, Counts[Floats]]]:
        """Iterate over `counts` in blocks that fit the CPU cache, each with its slice of the thresholds.

        For work at every threshold that would otherwise allocate many arrays of the curve's length. Mass only.
        """
        true_total, false_total = row_totals(self.tally.mass)
        start = 0
        for running in cumulative_blocks(self.tally.mass):
            # A block begins with the last column of the one before; only the first needs it, for threshold +inf.
            true, false = make_read_only(running) if start == 0 else make_read_only(running)[:, 1:]
            place = slice(start, start + len(true))
            not_flagged = make_read_only(true_total - true), make_read_only(false_total - false)
            yield place, Counts(true, false, *not_flagged, reweighed=self.tally.reweighed)
            start = place.stop

    def at(self, threshold: Value) -> Counts[Value]:
        """Return the 2×2 table at any threshold, or the tables at an array of them.

        >>> c = Curve(Tally.from_counts(score=[0.9, 0.4], rows=[[2, 1], [0, 3]]))
        >>> c.at(0.5)
        Counts(tp=2.0, fp=0.0, fn=1.0, tn=3.0)
        """
        if np.isnan(threshold).any():
            raise MissingValuesError("a threshold is NaN", remedy="give a number, or inf to flag nothing.")
        ascending = self.tally.score[::-1]  # searchsorted requires ascending numbers; scores are descending
        return self._tables(len(ascending) - np.searchsorted(ascending, threshold, side="left"))

    def hull(self) -> Curve:
        """Return the upper convex hull: a curve through the thresholds that are optimal for some costs.

        The hull is the curve of a tally whose scores are pooled until the share of positives falls strictly from each
        pool to the next [@fawcett2007].

        >>> c = Curve(Tally.from_counts(score=[0.8, 0.6, 0.4, 0.2], rows=[[1, 0, 1, 0], [0, 1, 0, 1]]))
        >>> c.hull().threshold.tolist()
        [inf, 0.8, 0.4, 0.2]
        """
        tally = self.tally
        populated = tally.mass.any(axis=0)
        if not populated.any():
            return self
        # Weights may be 0: such scores are on no edge of the hull, and would divide 0 by 0.
        used = slice(None) if populated.all() else populated
        first, *_ = pool_adjacent_violators(*tally.mass[:, used])
        score = tally.score[used]
        ends = np.append(first[1:], len(score)) - 1

        def pooled(cells: Cells) -> Cells:
            return make_read_only(run_sums(cells[:, used], first))

        rows = pooled(tally.rows)
        mass, squares = (pooled(tally.mass), pooled(tally.squares)) if tally.weighted else (rows, rows)
        return Curve(
            Tally(make_read_only(score[ends]), mass, squares, rows, tally.resolution, reweighed=tally.reweighed)
        )

    def mixture(self, *, fpr: Value | None = None, tpr: Value | None = None) -> Mixture[Value]:
        """Find the mixture of two thresholds with a given false or true positive rate on the hull.

        At a given `fpr` it is the mixture of highest TPR; at a given `tpr`, the one of lowest FPR.

        >>> c = Curve(Tally.from_counts(score=[0.9, 0.4], rows=[[2, 1], [0, 3]]))
        >>> c.mixture(fpr=0.5)
        Mixture(strict=0.9, lax=0.4, chance=0.5)
        """
        wanted = fpr if tpr is None else tpr
        if wanted is None or (fpr is not None and tpr is not None):
            raise OptionError("give either fpr or tpr.")
        if not (np.greater_equal(wanted, 0) & np.less_equal(wanted, 1)).all():
            raise OptionError(f"a rate of {wanted} cannot be reached", remedy="give a number from 0 to 1.")
        hull = self.hull()
        flagged = hull.flagged_mass[1 if tpr is None else 0]
        rate = ratio(flagged, flagged[-1])
        if np.isnan(rate).any():
            raise OptionError("the class of that rate has no mass", remedy="give the other rate.")
        # On a vertical edge a given FPR has many TPRs, of which "right" takes the highest; on a horizontal edge "left"
        # takes the lowest FPR.
        reached = np.searchsorted(rate, wanted, side="right" if tpr is None else "left")
        lax = np.clip(reached, 1, len(rate) - 1)
        chance = ratio(wanted - rate[lax - 1], rate[lax] - rate[lax - 1])
        return Mixture(as_python(hull.threshold[lax - 1]), as_python(hull.threshold[lax]), chance)

    def tangent(self, slope: Value) -> Value:
        """Return the threshold where an iso-cost line of that slope touches the hull; on an edge, the strictest.

        >>> c = Curve(Tally.from_counts(score=[0.9, 0.4], rows=[[2, 1], [0, 3]]))
        >>> c.tangent(1.0), c.tangent(0.1)
        (0.9, 0.4)
        """
        if np.isnan(slope).any():
            raise MissingValuesError(
                "a slope is NaN, as with equal costs, or a prevalence of 0 or 1",
                remedy="give other costs or prevalences.",
            )
        hull = self.hull()
        tally = hull.tally
        edges = ratio(tally.positive * hull.negatives, tally.negative * hull.positives)
        if np.isnan(edges).any():
            raise OptionError("a ROC slope needs both classes, but this curve has one", remedy="add rows of the other.")
        # Edges of a hull get flatter. "right" counts the steeper ones alone: of an edge of this slope, its strict end.
        steeper = len(edges) - np.searchsorted(edges[::-1], slope, side="right")
        touched: Value = as_python(hull.threshold[steeper])
        return touched

    def _tables(self, index: slice | Index) -> Counts[Any]:
        tally = self.tally
        mass = _split(tally.mass, index)
        if not tally.weighted:
            return Counts(*mass, reweighed=tally.reweighed)
        moments = Counts(*_split(tally.squares, index)), Counts(*_split(tally.rows, index))
        return Counts(*mass, moments=moments, reweighed=tally.reweighed)


def _split(cells: Cells, index: slice | Index) -> list[Any]:
    """Return tp, fp, fn, tn when the first `index` scores are flagged."""
    if not isinstance(index, slice) and np.ndim(index) == 0:
        flagged, not_flagged = cells[:, :index].sum(axis=1), cells[:, index:].sum(axis=1)
        return [*flagged, *not_flagged]
    if isinstance(index, slice) or np.size(index) * _SCORES_PER_THRESHOLD > cells.shape[1]:
        running = cumulative_sums(cells)
        flagged, total = running[:, index], running[:, -1:]
    else:
        flagged, total = _cumulative_at(cells, np.asarray(index))
    # The total is the last running sum itself, so that differences are never negative and end at exactly 0.
    return [make_read_only(row) for row in (*flagged, *(total - flagged))]


def _cumulative_at(cells: Cells, index: npt.NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Sum the first `index` columns, and all, without a cumulative sum over every column."""
    places, back = np.unique(index, return_inverse=True)
    edges = [0, *places.tolist(), cells.shape[1]]
    running = np.cumsum([cells[:, start:stop].sum(axis=1) for start, stop in pairwise(edges)], axis=0, dtype=np.float64)
    return running.T[:, back], running.T[:, -1:]
