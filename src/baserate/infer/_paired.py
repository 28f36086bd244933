"""Draws of differences between models on the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats, sealed
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._tally import Tally
from baserate.infer._binomial import two_sided
from baserate.infer._cells import Alike
from baserate.infer._delong import ranked
from baserate.infer._draws import Seed, in_blocks, masses, percentiles
from baserate.infer._question import Side, of_draws, of_normal
from baserate.measure import Measure, about

TABLES = 9_999
"""Draws of a table of eight cells: they cost next to nothing."""
MOST, LEAST = 1_999, 199
"""Draws of whole columns: so many, but fewer where there are many rows, down to the least."""
WORK = 100_000_000
"""Scores that all draws together may hold."""
_ENOUGH = 999
"""Draws from which their percentiles are steady; of fewer the standard deviation is used, which is sooner so."""
_MANY = 1 << 15
"""Kinds of rows from which scores are pooled to draw them."""
BUCKETS = 1 << 14
"""So many remain."""
_CHEAPER = 4
"""How much less a draw of pooled scores costs."""
_PRIOR = 0.5
_CELLS = ("tn", "fn", "fp", "tp")
"""Of a row that is flagged (2) or not (0), positive (1) or not (0)."""


def draws_of(size: int) -> int:
    """How many draws of so many numbers each."""
    return max(min(WORK // max(size, 1), MOST), LEAST)


class Drawn(NamedTuple):
    """Draws of a difference, and how they were made."""

    draws: Floats
    how: str

    def interval(self, value: float, level: float) -> tuple[float, float]:
        """Middle of the draws; of few, so many of their standard deviations about the value."""
        if len(self.draws) >= _ENOUGH:
            return percentiles(self.draws, level)
        half = two_sided(level) * self._spread
        return value - half, value + half

    def p(self, value: float, side: Side, bound: float) -> float:
        """P-value of the difference being on that side of the bound."""
        if len(self.draws) >= _ENOUGH or not self._spread > 0:
            return of_draws(self.draws, side, bound)
        return of_normal((value - bound) / self._spread, side)

    @property
    def told(self) -> str:
        """How the interval was made."""
        normal = "" if len(self.draws) >= _ENOUGH else ", normal with their standard deviation"
        return f"{self.how}, {len(self.draws)} draws{normal}"

    @property
    def _spread(self) -> float:
        with np.errstate(invalid="ignore"):  # infinite draws
            return sqrt(float(np.var(self.draws, ddof=1)))


class Joint(NamedTuple):
    """Rows by truth, by the decision of the first model, and by that of the second: eight cells."""

    mass: Floats
    squares: Floats
    rows: Floats
    by_cluster: Floats | None = None
    """Mass with a row for each cluster."""

    def values(self, measure: Measure) -> tuple[float, float]:
        """Value of both models."""
        first, second = (float(measure(self.counts(which))) for which in (0, 1))
        return first, second

    def counts(self, which: int) -> Counts[float]:
        """Table of one model."""
        return _counts(self.mass, which)

    def alone(self, measure: Measure) -> tuple[int, int]:
        """Rows that only the first model hits, and those that only the second does, of a measure that is a share."""
        share = about(measure).share
        assert share is not None  # noqa: S101  (for the type checker)
        hits = [[_cell(at, which) in share[0] for at in range(8)] for which in (0, 1)]
        within = [_cell(at, 0) in share[0] + share[1] for at in range(8)]
        first, second = (
            sum(int(self.rows[at]) for at in range(8) if within[at] and mine[at] and not other[at])
            for mine, other in (hits, hits[::-1])
        )
        return first, second

    @property
    def turned(self) -> Joint:
        """The same with the models in the other order."""
        other = [at & 1 | at >> 1 & 2 | at << 1 & 4 for at in range(8)]
        by_cluster = None if self.by_cluster is None else self.by_cluster[:, other]
        return Joint(self.mass[other], self.squares[other], self.rows[other], by_cluster)

    @property
    def agree(self) -> bool:
        """Whether both models decide every row alike."""
        return not any(self.rows[at] for at in range(8) if _cell(at, 0) != _cell(at, 1))


def joint(cells: Alike, first: Bools, second: Bools) -> Joint:
    """Count rows by truth and both decisions."""
    place = cells.truth + 2 * first.astype(np.intp) + 4 * second
    mass, squares, rows = (
        np.bincount(place, each, minlength=8).astype(np.float64) for each in (cells.mass, cells.squares, cells.times)
    )
    if cells.cluster is None:
        return Joint(mass, squares, rows)
    each = np.bincount(cells.cluster * 8 + place, cells.mass, minlength=8 * cells.clusters)
    return Joint(mass, squares, rows, each.reshape(-1, 8).astype(np.float64))


def of_tables(measure: Measure, table: Joint, seed: Seed, *, turned: bool = False) -> Drawn:
    """Draws of the difference of a measure of 2×2 tables.

    Masses of the eight cells are drawn, each after adding half a row (Jeffreys' prior), so that cells in which nothing
    was seen are not taken for impossible; of clustered rows, a random weight for each cluster, and in each cell half of
    what a cluster usually adds to one. Where `turned`, the second model is drawn as if it were the first, so that it
    does not matter which comes first.
    """
    if turned:
        drawn = of_tables(measure, table.turned, seed)
        return drawn._replace(draws=-drawn.draws)

    def make(rng: np.random.Generator, draws: int) -> Floats:
        if table.by_cluster is None:
            drawn = masses(rng, draws, table.mass, table.squares, prior=_PRIOR)
        else:
            # Not by BLAS, so that the result does not depend on threads.
            drawn = np.einsum("ij,jk->ik", rng.standard_exponential((draws, len(table.by_cluster))), table.by_cluster)
            drawn += rng.standard_gamma(_PRIOR, (draws, 8)) * usual
        with np.errstate(invalid="ignore"):  # infinite ones
            return np.asarray(measure(_counts(drawn, 0)) - measure(_counts(drawn, 1)))

    usual = 1.0 if table.by_cluster is None else float((table.by_cluster**2).sum() / table.by_cluster.sum())
    if table.by_cluster is None:
        return Drawn(in_blocks(make, draws=TABLES, seed=seed, size=8), "Dirichlet draws of the joint table")
    size = len(table.by_cluster)
    draws = max(min(WORK // size, TABLES), LEAST)
    return Drawn(in_blocks(make, draws=draws, seed=seed, size=size), "resampled clusters")


def of_columns(measure: Measure, cells: Alike, models: Sequence[str], seed: Seed) -> tuple[Floats, str]:
    """Values of a measure of curves or tallies with random weights for rows, or clusters: a column for each model.

    Every model is sorted once, and gets the same weights in every draw. Of very many rows, neighbouring scores are
    pooled: draws then tell how values vary, and are moved to where the values of all scores are.
    """
    pooled = len(cells) > _MANY
    ready = [(_Pooled if pooled else _Sorted).of(cells, model) for model in models]

    def valued(tally: Tally) -> float:
        return float(measure(Curve(tally) if about(measure).of is Curve else tally))

    def make(rng: np.random.Generator, draws: int) -> Floats:
        mass = cells.drawn(rng, draws)
        return np.array([[valued(tally) for tally in each.tallies(mass)] for each in ready]).T

    size = len(cells) * len(models)
    how = "Bayesian bootstrap" if cells.cluster is None else "resampled clusters"
    if not pooled:
        return in_blocks(make, draws=draws_of(size), seed=seed, size=size), how
    found = in_blocks(make, draws=draws_of(size // _CHEAPER), seed=seed, size=size)
    exact = [valued(cells.tally(model)) for model in models]
    rough = [valued(next(each.tallies(cells.mass[None]))) for each in ready]
    with np.errstate(invalid="ignore"):  # both may be infinite
        found += np.nan_to_num(np.subtract(exact, rough), posinf=np.inf, neginf=-np.inf)
    return found, f"{how} of scores pooled into {BUCKETS} ranks"


class _Sorted(NamedTuple):
    """Scores of one model, sorted, ready for any masses."""

    score: Floats
    order: Any
    positive: Bools
    first: Any
    """Where each distinct score begins; None if all are distinct."""
    rows: Any

    @staticmethod
    def of(cells: Alike, model: str) -> _Sorted:
        score = cells.score[model]
        order, ends, runs = ranked(score)
        first = np.concatenate([[0], ends[:-1] + 1])
        positive = cells.truth[order]
        rows = np.zeros((2, len(ends)), dtype=np.uint8)
        rows[0, runs[positive]] = rows[1, runs[~positive]] = 1
        alone = None if len(first) == len(order) else first
        return _Sorted(sealed(score[order][first]), order, positive, alone, sealed(rows))

    def tallies(self, mass: Floats) -> Iterator[Tally]:
        """Tallies of random masses; of rows they know only that there are some, which no measure asks."""
        taken = mass[:, self.order]
        cells = np.empty((len(taken), 2, taken.shape[1]))
        np.multiply(taken, self.positive, out=cells[:, 0])
        np.subtract(taken, cells[:, 0], out=cells[:, 1])
        if self.first is not None:
            cells = np.add.reduceat(cells, self.first, axis=2)
        yield from (Tally(self.score, each, self.rows, self.rows) for each in sealed(cells))


class _Pooled(NamedTuple):
    """Scores of one model in buckets of neighbours, ready for any masses."""

    score: Floats
    place: Any
    """Of each kind: its bucket, after those of positives if it is negative."""
    rows: Any

    @staticmethod
    def of(cells: Alike, model: str) -> _Pooled:
        order, ends, runs = ranked(cells.score[model])
        bucket, score = pooled_scores(cells.score[model][order][ends])
        place = np.empty(len(order), dtype=np.intp)
        place[order] = bucket[runs]
        place[~cells.truth] += len(score)
        rows = np.bincount(place, minlength=2 * len(score)).reshape(2, -1) > 0
        return _Pooled(score, place, sealed(rows.astype(np.uint8)))

    def tallies(self, mass: Floats) -> Iterator[Tally]:
        """Tallies of random masses."""
        for each in mass:
            cells = np.bincount(self.place, each, minlength=2 * len(self.score)).reshape(2, -1)
            yield Tally(self.score, sealed(cells), self.rows, self.rows)


def pooled_scores(score: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
    """Bucket of each of many falling scores, equally many in each, and the mean score of each bucket."""
    bucket = np.arange(len(score)) * min(BUCKETS, len(score)) // max(len(score), 1)
    first = np.flatnonzero(np.diff(bucket, prepend=-1))
    last = np.append(first[1:], len(score)) - 1
    mean = np.add.reduceat(score, first) / (last - first + 1)
    # Rounding must not carry a mean into the next bucket.
    return bucket, sealed(np.clip(mean, score[last], score[first]))


def _cell(at: int, which: int) -> str:
    """What one of the eight cells is to a model."""
    truth, flagged = at & 1, at >> (1 + which) & 1
    return _CELLS[truth + 2 * flagged]


def _counts(cells: Floats, which: int) -> Counts[Any]:
    """Table of one model from eight cells, or tables from many such."""

    def summed(name: str) -> Any:  # noqa: ANN401  (a number, or an array of them)
        there = [at for at in range(8) if _cell(at, which) == name]
        return cells[..., there[0]] + cells[..., there[1]]

    return Counts(tp=summed("tp"), fp=summed("fp"), fn=summed("fn"), tn=summed("tn"))
