"""Resampling of a tally, for measures of ranks and probabilities that have no closed form."""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from baserate._arrays import Cells, Floats, make_read_only, ratio
from baserate._curve import Curve
from baserate._numeric.distinct import narrowest, run_sums
from baserate._tally import Stack, Tally
from baserate.infer._draws import Seed, in_blocks, rows_worth
from baserate.infer._reliability._null import coarser, measured, neighbours_pooled
from baserate.measure import Measure, about, check_probabilities

Way = Literal["resample", "stratified", "bootstrap"]
"""Each row's weight times an exponential variable; the same, with the mass of each class kept; rows drawn again."""

DRAWS = 1000
EXACT = 100_000
"""Rows up to which every score is kept apart."""
BUCKETS = 4096
_REPEATED = 10
"""Rows for each score and class from which on they are drawn together."""
FEW = 500
"""Draws that are enough for a mean and a variance."""


def drawn(measure: Measure, tally: Tally, *, way: Way, seed: Seed, draws: int = DRAWS) -> Floats:
    """Values of a measure at random masses; of very many rows, those of buckets, moved to where they belong."""
    if about(measure).stacks:
        return drawn_together([measure], tally, way=way, seed=seed, draws=draws)[:, 0]
    pooled = bucketed(tally)
    value_of = _value_of(measure)
    refill = refilled(pooled, way)

    def some(rng: np.random.Generator, many: int) -> Floats:
        return np.array([value_of(refill(rng)) for _ in range(many)])

    values = in_blocks(some, draws=draws, seed=seed, size=pooled.mass.size)
    return values if pooled is tally else values + (value_of(tally) - value_of(pooled))


def drawn_together(measures: Sequence[Measure], tally: Tally, *, way: Way, seed: Seed, draws: int = DRAWS) -> Floats:
    """Do the same for several measures that take stacks, from the same draws: a column for each."""
    check_probabilities(tally)
    pooled = neighbours_pooled(tally) if tally.rows.sum(dtype=np.int64) > EXACT else tally
    refill = _refill_many(pooled, way)
    quick = [coarser(measure) for measure in measures]
    usual = float(tally.squares.sum()) / tally.total if tally.weighted else 1.0

    def some(rng: np.random.Generator, many: int) -> Floats:
        return measured(quick, Stack(pooled.score, *refill(rng, many), weight=usual))

    values = in_blocks(some, draws=draws, seed=seed, size=pooled.mass.size)
    there = [float(measure(tally)) - float(other(pooled)) for measure, other in zip(measures, quick, strict=True)]
    return values + there


def how(tally: Tally, way: Way, *, exact: int = EXACT) -> str:
    """What was drawn."""
    told = {
        "resample": "Bayesian bootstrap",
        "stratified": "Bayesian bootstrap within each class",
        "bootstrap": "bootstrap" if not tally.weighted else "Bayesian bootstrap",
    }
    where = f" on {BUCKETS} buckets of equal mass" if bucketed(tally, exact=exact) is not tally else ""
    return f"draws of a {told[way]}{where}"


def bucketed(tally: Tally, *, exact: int = EXACT) -> Tally:
    """Pool neighbouring scores of a large tally until few are left, each with about the same mass."""
    if len(tally.score) <= BUCKETS or tally.rows.sum(dtype=np.int64) <= exact:
        return tally
    before = np.cumsum(tally.mass.sum(axis=0, dtype=np.float64))
    bucket = np.minimum((before / before[-1] * BUCKETS).astype(np.intp), BUCKETS - 1)
    starts = np.flatnonzero(np.diff(bucket, prepend=-1))
    # Named by its lowest score, a bucket is flagged as soon as all of it is.
    ends = np.append(starts[1:], len(bucket)) - 1
    tables = [make_read_only(run_sums(cells, starts)) for cells in (tally.mass, tally.squares, tally.rows)]
    mass, squares, rows = tables if tally.weighted else [tables[2]] * 3
    return Tally(make_read_only(tally.score[ends]), mass, squares, rows, tally.resolution, reweighed=tally.reweighed)


def _value_of(measure: Measure) -> Callable[[Tally], float]:
    if about(measure).of is Curve:
        return lambda tally: float(measure(Curve(tally)))
    return lambda tally: float(measure(tally))


def refilled(tally: Tally, way: Way) -> Callable[[np.random.Generator], Tally]:
    """Make a tally with the same scores and random masses."""
    there = np.flatnonzero(tally.mass)
    if way == "bootstrap" and not tally.weighted:
        return _drawn_again(tally, there)
    mass = tally.mass.ravel()[there].astype(np.float64)
    weight = tally.squares.ravel()[there] / mass
    shape = rows_worth(mass, weight)
    single = bool((shape == 1).all())
    totals = np.array([tally.positives, tally.negatives])[:, None]

    def refill(rng: np.random.Generator) -> Tally:
        made = np.zeros(tally.mass.size)
        made[there] = (rng.standard_exponential(len(shape)) if single else rng.standard_gamma(shape)) * weight
        cells = made.reshape(2, -1)
        if way == "stratified":
            cells *= np.nan_to_num(ratio(totals, cells.sum(axis=1, keepdims=True)))  # a class may not be there
        # Measures read the mass alone.
        return Tally(tally.score, make_read_only(cells), tally.rows, tally.rows)

    return refill


def _refill_many(tally: Tally, way: Way) -> Callable[[np.random.Generator, int], tuple[Floats, Floats]]:
    """Make random masses of both classes, a row for each draw."""
    rows = len(tally.score)
    if way != "bootstrap" or tally.weighted or tally.rows.sum(dtype=np.int64) != rows:
        refill = refilled(tally, way)

        def some(rng: np.random.Generator, many: int) -> tuple[Floats, Floats]:
            masses = [refill(rng).mass for _ in range(many)]
            positive, negative = (np.stack([mass[row] for mass in masses]).astype(np.float64) for row in (0, 1))
            return positive, negative

        return some
    true = tally.positive

    def single(rng: np.random.Generator, many: int) -> tuple[Floats, Floats]:
        """Every row has a score of its own: a row is a place, and need not be looked up."""
        chosen = rng.integers(0, rows, (many, rows))
        chosen += np.arange(many)[:, None] * rows
        times = np.bincount(chosen.ravel(), minlength=many * rows).reshape(many, rows).astype(np.float64)
        positive = times * true
        return positive, np.subtract(times, positive, out=times)

    return single


def _drawn_again(tally: Tally, there: npt.NDArray[np.intp]) -> Callable[[np.random.Generator], Tally]:
    """Draw rows with replacement."""
    rows = int(tally.rows.sum(dtype=np.int64))
    if rows == len(tally.score):
        return _single_rows(tally)
    if rows > _REPEATED * len(there):
        return _many_of_a_kind(tally, there, rows)
    cell = np.repeat(there, tally.rows.ravel()[there])

    def refill(rng: np.random.Generator) -> Tally:
        chosen = cell[rng.integers(0, rows, rows)]
        counts: Cells = np.bincount(chosen, minlength=tally.mass.size).reshape(2, -1)
        return Tally.counted(tally.score, make_read_only(narrowest(counts)))

    return refill


def _many_of_a_kind(tally: Tally, there: npt.NDArray[np.intp], rows: int) -> Callable[[np.random.Generator], Tally]:
    """Do the same where rows are many for each score: how many of them are drawn, and not which."""
    share = tally.rows.ravel()[there] / rows

    def refill(rng: np.random.Generator) -> Tally:
        counts = np.zeros(tally.mass.size, dtype=np.int64)
        counts[there] = rng.multinomial(rows, share)
        return Tally.counted(tally.score, make_read_only(narrowest(counts.reshape(2, -1))))

    return refill


def _single_rows(tally: Tally) -> Callable[[np.random.Generator], Tally]:
    """Do the same where every row has a score of its own: a row is a place, and need not be looked up."""
    positive = tally.rows[0]
    rows = len(positive)

    def refill(rng: np.random.Generator) -> Tally:
        times = narrowest(np.bincount(rng.integers(0, rows, rows), minlength=rows))
        counts = np.empty((2, rows), dtype=times.dtype)
        np.multiply(times, positive, out=counts[0])
        np.subtract(times, counts[0], out=counts[1])
        return Tally.counted(tally.score, make_read_only(counts))

    return refill
