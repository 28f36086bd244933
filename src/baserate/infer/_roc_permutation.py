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


Ranks = npt.NDArray[np.signedinteger[Any]]


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
    ranks = [_rank_at_random(score, rng) for score in (first, second)]
    observed = float(distance_of_errors(*(truth[np.argsort(each)][None] for each in ranks))[0])

    def sample(rng: np.random.Generator, many: int) -> Floats:
        size = (many, len(truth))
        keep = np.frombuffer(rng.bytes(many * len(truth)), dtype=np.int8).reshape(size) < 0
        exchanged = (np.where(keep, *ranks), np.where(keep, *ranks[::-1]))
        return distance_of_errors(*(sort_labels(truth, each, rng) for each in exchanged))

    return _conclude(observed, sample, len(truth), rng, tied=_has_ties(first) or _has_ties(second))


def _rank_at_random(score: Floats, rng: np.random.Generator) -> Ranks:
    """Return the rank of each row, from the lowest score, with ties broken at random."""
    # Short numbers, since time goes into moving them.
    ranks = np.empty(len(score), dtype=np.int32 if len(score) < _MANY_ROWS else np.int64)
    ranks[np.lexsort([rng.random(len(score)), score])] = np.arange(len(score))
    return ranks


_TIE_BITS = 8
"""Random bits that order equal ranks."""
_MANY_ROWS = 1 << (30 - _TIE_BITS)
"""Rows from which a rank with random bits and a label needs more than 32 bits."""


def sort_labels(truth: Bools, ranks: Ranks, rng: np.random.Generator) -> Bools:
    """Return the labels in the order of exchanged ranks, a row for each permutation; chance orders equal ranks.

    A rank, random bits and the label are one number: sorting numbers is much faster than sorting places.
    """
    keys = ranks << _TIE_BITS
    keys |= np.frombuffer(rng.bytes(keys.size), dtype=np.uint8).reshape(keys.shape)
    keys <<= 1
    keys |= truth
    keys.sort(axis=1)
    return (keys & 1).astype(np.bool_)


def distance_of_errors(first: Bools, second: Bools) -> Floats:
    """Return the summed distance of the errors of two orders of the labels, for each permutation.

    Errors differ by twice the number of positives among the k lowest rows, since their number is the same.
    """
    steps = np.subtract(first, second, dtype=np.int8)
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
    labels = [each.truth[np.argsort(_rank_at_random(each.score, rng))] for each in samples]
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
        orders = [np.lexsort([rng.random(len(part)), part]) for part in parts]
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
