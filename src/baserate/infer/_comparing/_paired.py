"""Draws of differences between models on the same rows."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, isinf, nan, sqrt
from typing import Any, NamedTuple

import numpy as np

from baserate._arrays import Bools, Floats
from baserate._counts import Counts
from baserate._formatting import count_of
from baserate.infer._alike import Alike
from baserate.infer._binomial import two_sided, wilson
from baserate.infer._columns import LEAST, WORK
from baserate.infer._comparing._comparison import STILL
from baserate.infer._comparing._mcnemar import Discordant
from baserate.infer._comparing._question import Bounds, Side, hybrid, of_draws, of_intervals, of_normal
from baserate.infer._draws import Seed, in_blocks, masses, percentiles
from baserate.infer._moments import Units, stretched
from baserate.measure import Measure, about

TABLES = 9_999
"""Draws of a table of eight cells: they cost next to nothing."""
_ENOUGH = 999
"""Draws from which their percentiles are steady; of fewer the standard deviation is used, which is sooner so."""
_PRIOR = 0.5
_ROUNDING = 1e-12
AS_SHARES = f"Wilson's limits of both as if independent shares: {STILL}"
"""How `as_shares` makes an interval."""
_CELLS = ("tn", "fn", "fp", "tp")
"""Of a row that is flagged (2) or not (0), positive (1) or not (0)."""


class Drawn(NamedTuple):
    """Draws of a difference, and how they were made."""

    draws: Floats
    how: str
    units: Units = Units()
    """What got random weights; as many as you like where it does not matter."""

    def interval(self, value: float, level: float) -> tuple[float, float]:
        """Middle of the draws; of few, so many of their standard deviations about the value."""
        if len(self.draws) >= _ENOUGH:
            return stretched(percentiles(self.draws, level), value, self.units, level)
        half = two_sided(level) * self._spread
        return stretched((value - half, value + half), value, self.units, level)

    def test(self, value: float, side: Side, bound: float) -> dict[str, Any]:
        """Test whether the difference is on that side of the bound: `p`, and whether it is only a bound.

        A p-value that counts bootstrap samples cannot fall below one in their number. There it is an upper bound.
        """
        counted = len(self.draws) >= _ENOUGH or not self._spread > 0
        if self.units.few and isfinite(value):
            ordered = self._replace(draws=np.sort(self.draws))
            p = of_intervals(lambda level: ordered.interval(value, level), value, side, bound)
            # Draws tell nothing of what lies beyond them all.
            p, counted = max(p, self.smallest_p(side)), True
        elif counted:
            p = of_draws(self.draws, side, bound)
        else:
            p = of_normal((value - bound) / self._spread, side)
        return {"p": p, "p_is_bound": counted and p <= self.smallest_p(side)}

    def smallest_p(self, side: Side) -> float:
        """Return the smallest p-value that so many draws can show."""
        return (2 if side == "two-sided" else 1) / (len(self.draws) + 1)

    def still(self, value: float) -> bool:
        """Whether the draws of something of that size do not vary, but for rounding: then they tell nothing."""
        with np.errstate(invalid="ignore"):  # infinite draws
            return bool(np.ptp(self.draws) <= _ROUNDING * abs(value))

    @property
    def told(self) -> str:
        """How the interval was made."""
        normal = "" if len(self.draws) >= _ENOUGH else ", normal with their standard deviation"
        return f"{self.how}, {count_of(len(self.draws), 'draw')}{normal}"

    @property
    def _spread(self) -> float:
        with np.errstate(invalid="ignore"):  # infinite draws
            return sqrt(float(np.var(self.draws, ddof=1)))


def as_share(measure: Measure, value: float, units: Units, level: float) -> Bounds:
    """Bounds of a number that draws do not vary: of a share of as many rows, or none where it has no span."""
    least, most = about(measure).span
    if isinf(most - least):
        return nan, nan
    part = (value - least) / (most - least)
    low, high = wilson(part * units.seen, (1 - part) * units.seen, level)
    return least + low * (most - least), least + high * (most - least)


def as_shares(measure: Measure, values: Bounds, units: Units) -> Callable[[float], Bounds]:
    """Intervals of a difference that draws do not vary: of two such shares as if they were independent."""
    return lambda level: hybrid(values, *(as_share(measure, value, units, level) for value in values))


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

    def discordant(self, measure: Measure) -> Discordant:
        """Rows that only the first model hits, those that only the second hits, and all that a share is of."""
        share = about(measure).share
        assert share is not None  # noqa: S101  (for the type checker)
        hits = [[_cell(at, which) in share[0] for at in range(8)] for which in (0, 1)]
        within = [_cell(at, 0) in share[0] + share[1] for at in range(8)]
        first, second = (
            sum(int(self.rows[at]) for at in range(8) if within[at] and mine[at] and not other[at])
            for mine, other in (hits, hits[::-1])
        )
        return Discordant(first, second, sum(int(self.rows[at]) for at in range(8) if within[at]))

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
    return Drawn(in_blocks(make, draws=draws, seed=seed, size=size), "resampled clusters", Units(size, 8 * _PRIOR))


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
