"""Resampling of rows, or of clusters of them: every model is sorted once, and reweighed in every draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats, make_read_only
from baserate._curve import Curve
from baserate._tally import Tally
from baserate.infer._alike import Alike
from baserate.infer._delong import ranked
from baserate.infer._draws import Seed, in_blocks
from baserate.measure import Measure, about

MOST, LEAST = 1_999, 199
"""Draws of whole columns: so many, but fewer where there are many rows, down to the least."""
WORK = 100_000_000
"""Scores that all draws together may hold."""
_MANY = 1 << 15
"""Kinds of rows from which scores are pooled to draw them."""
BUCKETS = 1 << 14
"""So many remain."""
_CHEAPER = 4
"""How much less a draw of pooled scores costs."""


def draws_of(size: int) -> int:
    """How many draws of so many numbers each."""
    return max(min(WORK // max(size, 1), MOST), LEAST)


def of_columns(measure: Measure, cells: Alike, models: Sequence[str], seed: Seed) -> tuple[Floats, str]:
    """Values of a measure of curves or tallies with random weights for rows, or clusters: a column for each model.

    Every model is sorted once, and gets the same weights in every draw. Of very many rows, neighbouring scores are
    pooled: draws then tell how values vary, and are moved to where the values of all scores are.
    """
    pooled = len(cells) > _MANY
    ready = [(_Pooled if pooled else Sorted).of(cells, model) for model in models]

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


class Sorted(NamedTuple):
    """Scores of one model, sorted, ready for any masses."""

    score: Floats
    order: Any
    positive: Bools
    first: Any
    """Where each distinct score begins; None if all are distinct."""
    rows: Any

    @staticmethod
    def of(cells: Alike, model: str) -> Sorted:
        score = cells.score[model]
        order, ends, runs = ranked(score)
        first = np.concatenate([[0], ends[:-1] + 1])
        positive = cells.truth[order]
        rows = np.zeros((2, len(ends)), dtype=np.uint8)
        rows[0, runs[positive]] = rows[1, runs[~positive]] = 1
        alone = None if len(first) == len(order) else first
        return Sorted(make_read_only(score[order][first]), order, positive, alone, make_read_only(rows))

    def tallies(self, mass: Floats) -> Iterator[Tally]:
        """Tallies of random masses; of rows they know only that there are some, which no measure asks."""
        taken = mass[:, self.order]
        cells = np.empty((len(taken), 2, taken.shape[1]))
        np.multiply(taken, self.positive, out=cells[:, 0])
        np.subtract(taken, cells[:, 0], out=cells[:, 1])
        if self.first is not None:
            cells = np.add.reduceat(cells, self.first, axis=2)
        yield from (Tally(self.score, each, self.rows, self.rows) for each in make_read_only(cells))


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
        return _Pooled(score, place, make_read_only(rows.astype(np.uint8)))

    def tallies(self, mass: Floats) -> Iterator[Tally]:
        """Tallies of random masses."""
        for each in mass:
            cells = np.bincount(self.place, each, minlength=2 * len(self.score)).reshape(2, -1)
            yield Tally(self.score, make_read_only(cells), self.rows, self.rows)


def pooled_scores(score: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
    """Bucket of each of many falling scores, equally many in each, and the mean score of each bucket."""
    bucket = np.arange(len(score)) * min(BUCKETS, len(score)) // max(len(score), 1)
    first = np.flatnonzero(np.diff(bucket, prepend=-1))
    last = np.append(first[1:], len(score)) - 1
    mean = np.add.reduceat(score, first) / (last - first + 1)
    # Rounding must not carry a mean into the next bucket.
    return bucket, make_read_only(np.clip(mean, score[last], score[first]))
