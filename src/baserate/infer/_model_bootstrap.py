"""Bootstrap of models on the same rows: rows of equal content are merged, and get random masses.

Rows of several models are sorted by content, and identical ones merged, so that no result depends on the order of rows.
The bootstrap over such rows, or over clusters of them, sorts each model once and reweights it in every sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats, make_read_only
from baserate._numeric.distinct import Codes, argsort_descending
from baserate._rows import Rows
from baserate._tally import Tally
from baserate.infer._bootstrap import Seed, evaluate_tally, sample_in_blocks
from baserate.measure import Measure

Place = slice | npt.NDArray[np.intp]
Column = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class UniqueRows:
    """Distinct kinds of rows: label, score of each model, weight of a row, and how many rows there are of each kind."""

    truth: Bools
    score: Mapping[str, Floats]
    times: npt.NDArray[np.int64]
    weight: Floats | None = None
    cluster: Codes | None = None
    """Cluster of each kind, numbered by content; clusters of equal content are in any order."""
    prevalence: float | None = None
    """Known share of positives, to which the weights of both classes were rescaled; None if it is the sample's."""

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def classes(self) -> tuple[Bools, Bools]:
        """Return which kinds are positive, and which are negative."""
        return self.truth, ~self.truth

    def reweigh(self, prevalence: float) -> UniqueRows:
        """Rescale the weights of both classes to a known prevalence; the total weight stays the same.

        >>> rows = Rows(np.array([True, False]), {"p": np.array([0.5, 0.2])}, count=np.array([1, 3]))
        >>> unique_rows(rows, ["p"]).reweigh(0.5).mass.tolist()  # sorted by score
        [2.0, 2.0]
        """
        mass = self.mass
        totals = [float(mass[members].sum()) for members in self.classes]
        factors = [sum(totals) * share / own for share, own in zip((prevalence, 1 - prevalence), totals, strict=True)]
        weight = np.where(self.truth, *factors)
        return replace(
            self, weight=weight if self.weight is None else weight * self.weight, prevalence=float(prevalence)
        )

    @property
    def mass(self) -> Floats:
        """Return the sum of weights of each kind."""
        return self.times.astype(np.float64) if self.weight is None else self.times * self.weight

    @property
    def squares(self) -> Floats:
        """Return the sum of squared weights of each kind."""
        return self.times.astype(np.float64) if self.weight is None else self.times * self.weight**2

    @property
    def clusters(self) -> int:
        """Return the number of clusters."""
        return 0 if self.cluster is None else int(self.cluster.max()) + 1

    def sum_by_cluster(self, amount: Floats | Bools) -> Floats:
        """Sum an amount of each kind within clusters."""
        assert self.cluster is not None  # noqa: S101  (for the type checker)
        return np.bincount(self.cluster, amount, minlength=self.clusters).astype(np.float64)

    def tally(self, model: str) -> Tally:
        """Return the tally of one model."""
        count = self.times if self.times.max(initial=1) > 1 else None
        return Tally.of_rows(self.truth, self.score[model], weight=self.weight, count=count)

    def sample_masses(self, rng: np.random.Generator, n_samples: int) -> Floats:
        """Sample the mass of each kind: an exponential variable for each row, or for each cluster [@rubin1981].

        At a known prevalence every sample has the same mass of each class.
        """
        if self.cluster is not None:
            masses = np.asarray(rng.standard_exponential((n_samples, self.clusters))[:, self.cluster] * self.mass)
        else:
            once = bool(self.times.max(initial=1) == 1)
            size = (n_samples, len(self))
            masses = rng.standard_exponential(size) if once else rng.standard_gamma(self.times, size)
            masses = masses if self.weight is None else masses * self.weight
        if self.prevalence is not None:
            total = float(self.mass.sum())
            for members, share in zip(self.classes, (self.prevalence, 1 - self.prevalence), strict=True):
                masses[:, members] *= share * total / masses[:, members].sum(axis=1, keepdims=True)
        return masses


def unique_rows(rows: Rows, models: Sequence[str], place: Place = slice(None)) -> UniqueRows:
    """Sort rows by content and merge identical ones.

    >>> rows = Rows(np.array([True, False, True]), {"p": np.array([0.5, 0.2, 0.5])}, count=np.array([1, 1, 3]))
    >>> unique_rows(rows, ["p"]).times.tolist()
    [1, 4]
    """
    for column in (rows.weight, rows.count):
        if column is not None and not column[place].all():  # zero means absent
            place = np.arange(len(rows))[place][column[place] > 0]
    truth = rows.truth[place]
    # Adding 0.0 turns −0.0 into 0.0, which would otherwise sort and print differently.
    scores = {model: np.asarray(rows.score[model][place], dtype=np.float64) + 0.0 for model in models}
    weight, count, cluster = (
        None if column is None else column[place] for column in (rows.weight, rows.count, rows.cluster)
    )
    # By name, so that the order of the models does not change the result.
    by_name = [scores[model] for model in sorted(scores)]
    columns: list[Column] = [*by_name, truth] if weight is None else [*by_name, truth, weight]
    times = np.ones(len(truth), dtype=np.int64) if count is None else np.asarray(count, dtype=np.int64)
    order, first = _sort_rows(columns)
    if cluster is not None:
        columns.append(_number_clusters(cluster, _number_kinds(order, first), times))
        order, first = _sort_rows(columns)
    representatives = order[first]
    return UniqueRows(
        truth[representatives],
        {model: score[representatives] for model, score in scores.items()},
        np.add.reduceat(times[order], first) if len(first) < len(order) or count is not None else times,
        None if weight is None else weight[representatives],
        None if cluster is None else columns[-1][representatives],
    )


def _sort_rows(columns: Sequence[Column]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the order of the rows, and where in it each kind begins."""
    # The sort need not be stable: without ties the order is unique, and ties are sorted again below.
    order = np.argsort(columns[0])
    new = np.diff(columns[0][order]) != 0
    if not new.all():  # sort by the other columns only where the first has ties
        # np.lexsort takes the most significant column last.
        order = np.lexsort(columns[::-1])
        new = np.zeros(max(len(order) - 1, 0), dtype=np.bool_)
        for column in columns:
            ordered = column[order]
            new |= ordered[1:] != ordered[:-1]
    return order, np.concatenate([np.zeros(min(len(order), 1), dtype=np.intp), np.flatnonzero(new) + 1])


def _number_kinds(order: npt.NDArray[np.intp], first: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
    """Return the number of each row's kind."""
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.repeat(np.arange(len(first)), np.diff(first, append=len(order)))
    return number


def _number_clusters(cluster: Column, kind: npt.NDArray[np.int64], times: npt.NDArray[np.int64]) -> Codes:
    """Number clusters by content, since their own numbers may depend on the order of rows."""
    _, code = np.unique(cluster, return_inverse=True)
    # By cluster first: np.lexsort takes the most significant column last.
    order = np.lexsort([kind, code])
    new = (np.diff(code[order]) != 0) | (np.diff(kind[order]) != 0)
    first = np.concatenate([[0], np.flatnonzero(new) + 1])
    kinds_with_counts = np.column_stack([kind[order][first], np.add.reduceat(times[order], first)])
    contents = np.split(kinds_with_counts, np.flatnonzero(np.diff(code[order][first])) + 1)
    # Any order that depends on the contents alone is good enough; that of their bytes is one.
    ranked = sorted(range(len(contents)), key=lambda at: contents[at].tobytes())
    number = np.empty(len(contents), dtype=np.int64)
    number[ranked] = np.arange(len(contents))
    return number[code]


Places = npt.NDArray[np.intp]


def rank_descending(score: Floats) -> tuple[Places, Places, Places]:
    """Return the order of descending scores, where runs of equal ones end in it, and the run of each place."""
    order = argsort_descending(score)
    ordered = score[order]
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)) if len(order) else order
    return order, ends, np.repeat(np.arange(len(ends)), np.diff(ends, prepend=-1))


def sum_to_midpoints(mass: Floats, ends: Places) -> Floats:
    """Return the mass before each run plus half of the mass in it."""
    after = np.cumsum(mass)[ends]
    before = np.concatenate([[0.0], after[:-1]]) if len(after) else after
    return (before + after) / 2


WITHIN_CLASSES = " within each class, prevalence known"
"""Addition to the name of a method that keeps the shares of the classes."""
MAX_SAMPLES, MIN_SAMPLES = 1_999, 199
"""Largest and smallest number of bootstrap samples of rows; fewer with many rows."""
MAX_WORK = 100_000_000
"""Scores in all bootstrap samples."""
_POOL_ABOVE = 1 << 15
"""Kinds of rows above which scores are pooled."""
POOLED_RANKS = 1 << 14
"""Number of pooled scores."""
_POOLED_SPEEDUP = 4
"""Speed-up of samples by pooled scores."""


def choose_n_samples(size: int) -> int:
    """Choose the number of bootstrap samples of that many numbers each."""
    return max(min(MAX_WORK // max(size, 1), MAX_SAMPLES), MIN_SAMPLES)


def bootstrap_models(measure: Measure, cells: UniqueRows, models: Sequence[str], seed: Seed) -> tuple[Floats, str]:
    """Sample values of a measure of curves or tallies with random weights of rows or clusters: a column for each model.

    Every model is sorted once, and gets the same weights in every sample. With very many rows, neighboring scores are
    pooled; the samples then show the variation and are shifted to the values of all scores.
    """
    pooled = len(cells) > _POOL_ABOVE
    ready = [(PooledScores if pooled else SortedScores).of(cells, model) for model in models]

    evaluate = partial(evaluate_tally, measure)

    def sample(rng: np.random.Generator, n_samples: int) -> Floats:
        mass = cells.sample_masses(rng, n_samples)
        return np.array([[evaluate(tally) for tally in each.tallies(mass)] for each in ready]).T

    size = len(cells) * len(models)
    how = "Bayesian bootstrap" if cells.cluster is None else "resampled clusters"
    how += "" if cells.prevalence is None else WITHIN_CLASSES
    if not pooled:
        return sample_in_blocks(sample, n_samples=choose_n_samples(size), seed=seed, size=size), how
    values = sample_in_blocks(sample, n_samples=choose_n_samples(size // _POOLED_SPEEDUP), seed=seed, size=size)
    exact = [evaluate(cells.tally(model)) for model in models]
    rough = [evaluate(next(each.tallies(cells.mass[None]))) for each in ready]
    with np.errstate(invalid="ignore"):  # infinite values differ by NaN
        values += np.nan_to_num(np.subtract(exact, rough), posinf=np.inf, neginf=-np.inf)
    return values, f"{how} of scores pooled into {POOLED_RANKS} ranks"


class SortedScores(NamedTuple):
    """Sorted scores of one model, ready for any masses."""

    score: Floats
    order: Any
    positive: Bools
    first: Any
    """Where each distinct score begins; None if all are distinct."""
    rows: Any
    weight: Any = None
    """Weight of a row at each place; None without weights."""

    @staticmethod
    def of(cells: UniqueRows, model: str) -> SortedScores:
        score = cells.score[model]
        order, ends, runs = rank_descending(score)
        first = np.concatenate([[0], ends[:-1] + 1])
        positive = cells.truth[order]
        rows = np.zeros((2, len(ends)), dtype=np.uint8)
        rows[0, runs[positive]] = rows[1, runs[~positive]] = 1
        starts = None if len(first) == len(order) else first
        weight = None if cells.weight is None else cells.weight[order]
        return SortedScores(make_read_only(score[order][first]), order, positive, starts, make_read_only(rows), weight)

    def tallies(self, mass: Floats) -> Iterator[Tally]:
        """Iterate over tallies of random masses; their row counts only say which cells are occupied."""
        masses = mass[:, self.order]
        cells = self._sum_by_score(masses)
        # Debiased calibration errors divide by the effective number of rows, which is mass² over squares.
        squares = cells if self.weight is None else self._sum_by_score(masses * self.weight)
        yield from (Tally(self.score, *each, self.rows) for each in zip(cells, squares, strict=True))

    def _sum_by_score(self, amount: Floats) -> Floats:
        """Sum amounts of rows by class and distinct score."""
        cells = np.empty((len(amount), 2, amount.shape[1]))
        np.multiply(amount, self.positive, out=cells[:, 0])
        np.subtract(amount, cells[:, 0], out=cells[:, 1])
        return make_read_only(cells if self.first is None else np.add.reduceat(cells, self.first, axis=2))


class PooledScores(NamedTuple):
    """Scores of one model in buckets of neighbors, ready for any masses."""

    score: Floats
    place: Any
    """Bucket of each kind; those of negatives come after those of positives."""
    rows: Any
    weight: Any
    """Weight of a row of each kind; None without weights."""

    @staticmethod
    def of(cells: UniqueRows, model: str) -> PooledScores:
        order, ends, runs = rank_descending(cells.score[model])
        bucket, score = pool_ranks(cells.score[model][order][ends])
        place = np.empty(len(order), dtype=np.intp)
        place[order] = bucket[runs]
        place[~cells.truth] += len(score)
        rows = np.bincount(place, minlength=2 * len(score)).reshape(2, -1) > 0
        return PooledScores(score, place, make_read_only(rows.astype(np.uint8)), cells.weight)

    def tallies(self, mass: Floats) -> Iterator[Tally]:
        """Iterate over tallies of random masses."""
        for each in mass:
            cells = self._sum_by_score(each)
            squares = cells if self.weight is None else self._sum_by_score(each * self.weight)
            yield Tally(self.score, cells, squares, self.rows)

    def _sum_by_score(self, amount: Floats) -> Floats:
        """Sum amounts of rows by class and bucket."""
        sums = np.bincount(self.place, amount, minlength=2 * len(self.score)).astype(np.float64, copy=False)
        return make_read_only(sums.reshape(2, -1))


def pool_ranks(score: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
    """Return the bucket of each of many descending scores, equally many in each, and the mean score of each bucket."""
    bucket = np.arange(len(score)) * min(POOLED_RANKS, len(score)) // max(len(score), 1)
    first = np.flatnonzero(np.diff(bucket, prepend=-1))
    last = np.append(first[1:], len(score)) - 1
    mean = np.add.reduceat(score, first) / (last - first + 1)
    # Rounding must not move a mean into the next bucket.
    return bucket, make_read_only(np.clip(mean, score[last], score[first]))
