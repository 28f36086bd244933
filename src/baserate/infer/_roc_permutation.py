r"""Venkatraman's permutation tests of equal ROC curves, of models on the same rows or on separate ones.

At each cut a model makes errors on a share :math:`κ\,FNR+(1-κ)\,FPR` of all rows, where κ is the share of positives.
Two ROC curves are equal if these errors are equal wherever as many rows lie below the cut. The statistic adds up their
distance, so it also sees curves that cross and have equal areas.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats
from baserate._formatting import count_of
from baserate.infer._bootstrap import Seed, make_generator, sample_in_blocks

MAX_PERMUTATIONS, MIN_PERMUTATIONS = 9_999, 999
"""Largest and smallest number of permutations; fewer with many rows."""
_MAX_WORK = 20_000_000
"""Rows in all permutations."""

Places = npt.NDArray[np.intp]


class CurveTest(NamedTuple):
    """Distance of two ROC curves, its permutation p-value, and how they were computed."""

    distance: float
    p: float
    smallest: float
    """Smallest p-value that this many permutations can show."""
    how: str

    @property
    def as_test(self) -> dict[str, Any]:
        """Return the fields of a comparison."""
        return {"statistic": self.distance, "p": self.p, "p_is_bound": self.p <= self.smallest, "test": self.how}


def paired_curve_test(truth: Bools, first: Floats, second: Floats, seed: Seed) -> CurveTest:
    r"""Test that two models have equal ROC curves on the same rows [@venkatraman1996].

    Scores are replaced by ranks, and the ranks of both models are exchanged in random rows. The statistic is
    :math:`\sum_k|e_1(k)-e_2(k)|` with the errors e(k) of a model that flags all but its k lowest rows. Ties are broken
    at random: those of scores once, and those of exchanged ranks in every permutation.

    >>> truth = np.array([False, True, False, True])
    >>> paired_curve_test(truth, np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 2, 4]), seed=0).distance
    2.0
    """
    rng = make_generator(seed)
    orders = [_rank_at_random(score, rng) for score in (first, second)]
    labels = [truth[order] for order in orders]
    observed = float(distance_of_errors(labels[0][None], labels[1][None])[0])

    def sample(rng: np.random.Generator, many: int) -> Floats:
        keeps = rng.integers(0, 2, (many, len(truth)), dtype=np.int8).astype(np.bool_)
        own, other = keeps[:, orders[0]], ~keeps[:, orders[1]]
        return distance_of_errors(merge_ranks(own, other, labels, rng), merge_ranks(~own, ~other, labels, rng))

    return _conclude(observed, sample, len(truth), rng, tied=_has_ties(first) or _has_ties(second))


def _rank_at_random(score: Floats, rng: np.random.Generator) -> Places:
    """Return the order of ascending scores, with ties broken at random."""
    return np.lexsort([rng.random(len(score)), score])


def merge_ranks(own: Bools, other: Bools, labels: list[Bools], rng: np.random.Generator) -> Bools:
    """Return the labels of each permutation in the order of its exchanged ranks.

    Every rank k occurs at most twice: in the row that has it from its own model, and in the one that has it from the
    other. So no sort is needed; where both occur, chance decides which comes first.
    """
    swap = rng.integers(0, 2, own.shape, dtype=np.int8).astype(np.bool_)
    present = np.stack([np.where(swap, other, own), np.where(swap, own, other)], axis=-1)
    label = np.stack([np.where(swap, labels[1], labels[0]), np.where(swap, labels[0], labels[1])], axis=-1)
    merged: Bools = label[present].reshape(own.shape)
    return merged


def distance_of_errors(first: Bools, second: Bools) -> Floats:
    """Return the summed distance of the errors of two orders of the labels, for each permutation.

    Errors differ by twice the number of positives among the k lowest rows, since their number is the same.
    """
    steps = first.astype(np.int8) - second.astype(np.int8)
    distances: Floats = 2.0 * np.abs(np.cumsum(steps, axis=1, dtype=np.int32)).sum(axis=1)
    return distances


class RocSample(NamedTuple):
    """Labels and scores of one sample."""

    truth: Bools
    score: Floats


def unpaired_curve_test(first: RocSample, second: RocSample, seed: Seed) -> CurveTest:
    r"""Test that two samples have equal ROC curves [@venkatraman2000].

    κ is the share of positives in both samples together. Each row is placed at the share :math:`κF_++(1-κ)F_-` of a
    mixture of both classes of its own sample that score no higher, so that samples of any size and prevalence compare.
    Places are exchanged between the positives of both samples, and between their negatives. The statistic is the area
    between the errors :math:`κ\,FNR+(1-κ)\,FPR` of both samples, as functions of the place.
    """
    rng = make_generator(seed)
    samples = (first, second)
    positives = [int(each.truth.sum()) for each in samples]
    share = sum(positives) / sum(len(each.truth) for each in samples)
    labels = [each.truth[_rank_at_random(each.score, rng)] for each in samples]
    observed = _area_between_errors(labels, share)
    places = [_mixture_places(label, share) for label in labels]
    pools = [
        np.concatenate([place[label == positive] for place, label in zip(places, labels, strict=True)])
        for positive in (True, False)
    ]
    sizes = [(many, len(each.truth) - many) for many, each in zip(positives, samples, strict=True)]
    classes = [np.repeat([True, False], size) for size in sizes]

    def exchange(rng: np.random.Generator) -> float:
        mixed = [rng.permutation(pool) for pool in pools]
        parts = (
            np.concatenate([pool[:size] for pool, size in zip(mixed, sizes[0], strict=True)]),
            np.concatenate([pool[-size:] for pool, size in zip(mixed, sizes[1], strict=True)]),
        )
        orders = [_rank_at_random(part, rng) for part in parts]
        return _area_between_errors([label[order] for label, order in zip(classes, orders, strict=True)], share)

    def sample(rng: np.random.Generator, many: int) -> Floats:
        return np.array([exchange(rng) for _ in range(many)])

    tied = any(_has_ties(each.score) for each in samples)
    return _conclude(observed, sample, sum(map(len, classes)), rng, tied=tied)


def _mixture_places(label: Bools, share: float) -> Floats:
    """Return the share of the mixture of both classes up to each row, for labels in ascending order of their scores."""
    positives = np.cumsum(label)
    negatives = np.arange(1, len(label) + 1) - positives
    places: Floats = share * positives / positives[-1] + (1 - share) * negatives / negatives[-1]
    return places


def _area_between_errors(labels: list[Bools], share: float) -> float:
    """Return the area between the errors of two samples, as functions of the share of their mixture below the cut."""
    curves = []
    for label in labels:
        missed = np.concatenate([[0.0], np.cumsum(label) / label.sum()])
        place = np.concatenate([[0.0], _mixture_places(label, share)])
        # κ·FNR + (1 − κ)·FPR, where the place is κ·FNR + (1 − κ)(1 − FPR).
        curves.append((place, 2 * share * missed - place))
    x = np.sort(np.concatenate([place for place, _ in curves]))
    gaps = np.abs(np.interp(x, *curves[0]) - np.interp(x, *curves[1]))
    return float(np.trapezoid(gaps, x))


def _has_ties(score: Floats) -> bool:
    return len(np.unique(score)) < len(score)


def _conclude(
    observed: float,
    sample: Callable[[np.random.Generator, int], Floats],
    rows: int,
    rng: np.random.Generator,
    *,
    tied: bool,
) -> CurveTest:
    """Return the share of permutations with at least the observed distance, counting the sample itself."""
    many = max(min(_MAX_WORK // max(rows, 1), MAX_PERMUTATIONS), MIN_PERMUTATIONS)
    distances = sample_in_blocks(sample, n_samples=many, seed=rng, size=rows)
    # Areas of equal curves differ by rounding.
    beyond = float(np.count_nonzero(distances >= observed - 1e-12 * max(observed, 1.0)))
    how = f"Venkatraman's test of equal ROC curves, {count_of(many, 'permutation')}"
    return CurveTest(observed, (beyond + 1) / (many + 1), 1 / (many + 1), how + ", ties broken at random" * tied)
