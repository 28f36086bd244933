"""The weighted sum of two scores with the highest AUC."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import copysign, cos, pi, sin
from typing import Unpack

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Cells, Floats, Reals, mean_defined, refuse_differing_indexes
from baserate._curve import Curve
from baserate._errors import MissingValuesError, NotBinaryError, OptionError, unknown_name
from baserate._numeric.distinct import float_bits, hash_rows
from baserate._rendering import short_repr
from baserate._rows import MulticlassRows, Rows
from baserate._tally import Tally
from baserate.measure import auc
from baserate.read import PredictionOptions, accepts_predictions

Weights = tuple[float, float]
_NARROW = 1e-12
"""Narrowest range of angles to choose; rounding of the scores could miss a narrower one."""
_COARSE, _FINE, _ROUNDS = 36, 6, 4
"""Angles of the first grid, steps to either side of the best so far, and number of refinements."""


@dataclass(frozen=True, slots=True, eq=False)
class ScorePlane:
    """Rows with two scores, each scaled by a power of two near its spread, so that no score is rounded."""

    truth: Bools
    first: Floats
    second: Floats
    weight: Floats | None
    count: Cells | None
    units: tuple[int, int]

    @classmethod
    def of(cls, truth: Bools, scores: tuple[Reals, Reals], weight: Floats | None, count: Cells | None) -> ScorePlane:
        """Scale both scores."""
        first, second = (np.asarray(each, dtype=np.float64) for each in scores)
        units = _binary_exponent(first), _binary_exponent(second)
        return cls(truth, np.ldexp(first, -units[0]), np.ldexp(second, -units[1]), weight, count, units)

    def area(self, weights: Weights) -> float:
        """Compute the AUC of a weighted sum."""
        score = weights[0] * self.first + weights[1] * self.second
        return auc(Curve(Tally.of_rows(self.truth, score, weight=self.weight, count=self.count)))

    def only(self, where: Bools) -> ScorePlane:
        """Select rows by a mask."""
        weight, count = (None if each is None else each[where] for each in (self.weight, self.count))
        return ScorePlane(self.truth[where], self.first[where], self.second[where], weight, count, self.units)

    def in_units_of_scores(self, weights: Weights) -> Weights:
        """Convert weights to those of the unscaled scores, up to a common factor."""
        one, other = weights
        return (one, float(np.ldexp(other, self.units[0] - self.units[1]))) if one else weights


def _binary_exponent(score: Floats) -> int:
    """Return the exponent of the power of two next to the standard deviation of the distinct scores.

    It is 0 for constant scores, and where scaling would round subnormal numbers. Repeated rows do not change it.
    """
    largest = int(np.frexp(np.abs(score).max(initial=0.0))[1])
    # Scaled to below 1 first: the squares in `std` would overflow or underflow.
    spread = float(np.ldexp(np.unique(score), -largest).std()) if len(score) else 0.0
    unit = largest + int(np.frexp(spread)[1]) if spread > 0 else 0
    return unit if np.array_equal(np.ldexp(np.ldexp(score, -unit), unit), score) else 0


def best_weights(plane: ScorePlane, *, positive: bool, limit: int) -> tuple[Weights, bool]:
    """Find the weights of highest AUC, and whether they are exact; of equals, prefer a single score.

    The first weight is 1 or −1, unless the second score by itself is the best.
    """
    sides = [_distinct_points(plane, truth) for truth in (plane.truth, ~plane.truth)]
    exact = len(sides[0]) * len(sides[1]) <= limit
    angle = _sweep_angles(*sides, positive=positive) if exact else _search_angle(plane, positive=positive)
    single = [(1.0, 0.0), (0.0, 1.0)] + ([] if positive else [(-1.0, 0.0), (0.0, -1.0)])
    # `max` returns the first of equals, so a single score wins a tie.
    return max([*single, _weights_at_angle(angle)], key=plane.area), exact


def _weights_at_angle(angle: float) -> Weights:
    """Return the weights of a direction, the first 1 or −1."""
    one, other = cos(angle), sin(angle)
    return copysign(1.0, one), other / abs(one)  # no float is a right angle, so the cosine is not 0


def _distinct_points(plane: ScorePlane, side: Bools) -> Floats:
    """Return the distinct points of a class with their mass: columns first, second, mass."""
    amount = np.ones(len(plane.truth))
    for each in (plane.weight, plane.count):
        amount = amount if each is None else amount * each
    both = np.stack([plane.first[side], plane.second[side]], axis=1)
    points, which = np.unique(both, axis=0, return_inverse=True)
    # NumPy 2.0.0 returns the inverse of `axis=0` as a column, other releases in one dimension.
    mass = np.bincount(which.ravel(), weights=amount[side], minlength=len(points))
    return np.column_stack([points, mass])


def _sweep_angles(positives: Floats, negatives: Floats, *, positive: bool) -> float:
    """Return the angle of the best direction: the middle of the widest range of angles with the highest AUC.

    From one direction to its opposite, each pair of a positive and a negative changes its order once, at the angle
    where both score the same. The pair counts half there, so no AUC exceeds those to either side.
    """
    angle, gain, level = _crossing_angles(positives, negatives)
    # Ties need no order: ranges between equal angles have no width, and never win.
    order = np.argsort(angle)
    edges = np.concatenate([[0.0], angle[order], [pi]])
    del angle  # there may be millions of pairs: free arrays early, to bound the peak of memory
    levels = np.concatenate([[level], level + np.cumsum(gain[order])])
    del order, gain
    width = np.diff(np.minimum(edges, pi / 2) if positive else edges)
    height = np.where(width > _NARROW, levels if positive else np.abs(levels), -np.inf)
    # Levels are cumulative sums: those that differ by rounding tie, and the widest range wins.
    near = 1e-12 * float(positives[:, 2].sum() * negatives[:, 2].sum())
    at = int(np.where(height >= height.max() - near, width, 0.0).argmax())
    # A negative sum of signs is an AUC below 0.5: the opposite direction is as far above it.
    opposite = levels[at] < 0 and not positive
    return float(edges[at] + width[at] / 2) + pi * opposite


def _crossing_angles(positives: Floats, negatives: Floats) -> tuple[Floats, Floats, float]:
    """Return the angle where each pair changes its order, the change of the sum of signs, and that sum at angle 0."""
    size = len(negatives)
    angle, gain = np.empty(len(positives) * size), np.empty(len(positives) * size)
    level = 0.0
    for at, (first, second, mass) in enumerate(positives):
        one, other = first - negatives[:, 0], second - negatives[:, 1]
        side = np.sign(one)
        masses = mass * negatives[:, 2]
        # Just beyond angle 0, the second score breaks the ties of the first.
        level += float((np.where(one == 0, np.sign(other), side) * masses).sum())
        place = slice(at * size, (at + 1) * size)
        # Pairs that the first score ties have a gain of 0, so their angle, 0 or π, does not matter.
        angle[place] = np.arctan2(np.abs(one), -other * side)
        gain[place] = -2 * side * masses
    return angle, gain, level


def _search_angle(plane: ScorePlane, *, positive: bool) -> float:
    """Return the best angle of a coarse grid, refined around the best so far."""

    def height(angle: float) -> float:
        return plane.area(_weights_at_angle(angle))

    last = pi / 2 if positive else pi
    # The end is the second score by itself, or the opposite of the start; both are candidates anyway.
    tried = np.linspace(0.0, last, _COARSE, endpoint=False)
    best = _best_angle(height, tried, positive=positive)
    step = last / _COARSE
    for _ in range(_ROUNDS):
        around = best + step * np.arange(-_FINE + 1, _FINE) / _FINE
        best = _best_angle(height, np.clip(around, 0.0, last) if positive else around, positive=positive)
        step /= _FINE
    return best


def _best_angle(height: Callable[[float], float], angles: Floats, *, positive: bool) -> float:
    """Return the best of these directions, and of their opposites unless weights must be positive."""
    values = np.array([height(float(angle)) for angle in angles])
    if positive or values.max() >= 1 - values.min():
        return float(angles[values.argmax()])
    return float(angles[values.argmin()]) + pi


MAX_PAIRS = 5_000_000
"""Pairs of a positive and a negative up to which all are compared; they need about 250 MB."""
_FOLDS = 5
_SIDES = ("negative", "positive")


@dataclass(frozen=True, slots=True)
class Combination:
    """Weights of two scores, and the AUC of their weighted sum."""

    names: tuple[str, str]
    weights: tuple[float, float]
    """Weights of the scores; the first is 1 or −1, unless it is 0."""
    auc: float
    """AUC on the rows that the weights were chosen on, which is optimistic."""
    single_aucs: tuple[float, float]
    """AUC of each score by itself."""
    held_out: float
    """Mean cross-validated AUC; NaN with too few rows."""
    exact: bool
    """Whether no weights have a higher AUC; otherwise they are the best of a search."""
    chosen_on: str
    """SHA-256 digest of labels and both scores, whatever the order of the rows."""

    __repr__ = short_repr

    def score(self, first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
        """Compute the weighted sum of two scores, in the order of `names`, row by row."""
        refuse_differing_indexes({"first": first, "second": second})
        columns = (np.asarray(each, dtype=np.float64) for each in (first, second))
        # A score of weight 0 is left out: it may hold NaN or infinity.
        parts = [weight * each for weight, each in zip(self.weights, columns, strict=True) if weight != 0]
        weighted_sum: Floats = np.sum(parts, axis=0)
        return weighted_sum


@accepts_predictions("rows")
def combine_scores(
    rows: Rows,
    scores: tuple[str, str] | None = None,
    *,
    positive_weights: bool = False,
    limit: int = MAX_PAIRS,
    seed: int = 0,
    **predictions: Unpack[PredictionOptions],
) -> Combination:
    """Find the weights of two scores whose weighted sum has the highest AUC [@marrocco2008].

    Only the direction of the weights matters. As it turns, each pair of a positive and a negative changes its order at
    a single angle. All these angles, sorted, give the AUC of every direction with ties counted half, and so the
    highest. Weights of rows count in every pair.

    Parameters
    ----------
    rows
        Rows with the scores.
    scores
        Names of the two scores; all by default, if there are two.
    positive_weights
        Whether weights must not be negative.
    limit
        Number of pairs of distinct scores up to which the optimum is exact. With more pairs, directions are searched,
        ever closer to the best.
    seed
        Random seed of the folds.

    Returns
    -------
    Combination
        Weights and AUC. `held_out` is the mean AUC in five folds, each ranked by weights that were chosen without it;
        rows of one cluster stay in one fold.

    Examples
    --------
    >>> from baserate import read
    >>> people = {"sick": [1, 1, 1, 0, 0, 0], "age": [60, 80, 50, 70, 30, 40], "dose": [5, 2, 5, 1, 4, 3]}
    >>> results = combine_scores(read.rows(people, truth="sick", score=["age", "dose"]))
    >>> [round(each, 3) for each in (*results.single_aucs, results.auc)], results.exact
    ([0.778, 0.778, 1.0], True)
    """
    names = _score_names(rows, scores)
    if limit < 0:
        raise OptionError(f"limit is {limit}; expected a number of pairs, 0 or more.", option="limit", value=limit)
    plane = _build_plane(rows, names)
    weights, exact = best_weights(plane, positive=positive_weights, limit=limit)
    in_score_units = plane.in_units_of_scores(weights)
    score = np.stack([rows.score[name] for name in names], axis=1)
    # Two scores have the form of two classes, whose digest does not depend on the order of rows.
    digest = MulticlassRows(rows.truth.astype(np.uint8), score, _SIDES, count=rows.count).digest
    single_aucs = plane.area((1.0, 0.0)), plane.area((0.0, 1.0))
    folds = _assign_folds(rows, plane, seed)
    fold_aucs = np.array([_fold_auc(plane, fold, positive=positive_weights, limit=limit) for fold in folds])
    return Combination(names, in_score_units, plane.area(weights), single_aucs, mean_defined(fold_aucs), exact, digest)


def _score_names(rows: Rows, scores: tuple[str, str] | None) -> tuple[str, str]:
    names = tuple(rows.score) if scores is None else tuple(scores)
    unknown = [name for name in names if name not in rows.score]
    if unknown:
        raise unknown_name("score", unknown[0], rows.score)
    if len(names) != 2 or names[0] == names[1]:
        raise OptionError(
            f"scores are {', '.join(names)}; expected two different names.",
            remedy="Give the scores of two models by name.",
            option="scores",
            value=names,
        )
    return names[0], names[1]


def _build_plane(rows: Rows, names: tuple[str, str]) -> ScorePlane:
    bad = sum(int(np.count_nonzero(~np.isfinite(rows.score[name]))) for name in names)
    if bad:
        raise MissingValuesError(f"{bad} of {2 * len(rows)} scores are NaN or infinite", remedy="leave those rows out.")
    has_mass = np.ones(len(rows), dtype=np.bool_)
    for amount in (rows.weight, rows.count):
        has_mass &= True if amount is None else amount > 0
    for side, name in ((~rows.truth, "negatives"), (rows.truth, "positives")):
        if not (side & has_mass).any():
            raise NotBinaryError(f"there are no {name}, so nothing can be ranked", remedy="give both classes.")
    return ScorePlane.of(rows.truth, (rows.score[names[0]], rows.score[names[1]]), rows.weight, rows.count)


def _fold_auc(plane: ScorePlane, fold: Bools, *, positive: bool, limit: int) -> float:
    """Compute the AUC of a fold by weights that were chosen without it."""
    weights, _ = best_weights(plane.only(~fold), positive=positive, limit=limit)
    return plane.only(fold).area(weights)


def _assign_folds(rows: Rows, plane: ScorePlane, seed: int) -> list[Bools]:
    """Assign clusters, or single rows, to folds by a hash of their content, stratified by whether they have positives.

    An AUC does not depend on class frequencies, so stratifying leaks nothing.
    """
    own = np.arange(len(rows)) if rows.cluster is None else np.unique(rows.cluster, return_inverse=True)[1]
    units = int(own.max()) + 1
    content = np.zeros(units, dtype=np.uint64)
    columns = [plane.first, plane.second, *(each for each in (rows.weight, rows.count) if each is not None)]
    # Sums of hashes do not depend on the order of rows. `+=` would ignore all but one row of a cluster.
    np.add.at(content, own, hash_rows([rows.truth, *map(float_bits, columns)]))
    has_positives = np.bincount(own, weights=rows.truth, minlength=units) > 0
    folds = min(_FOLDS, int(has_positives.sum()), int((~has_positives).sum()))
    if folds < 2:
        return []
    rng = np.random.default_rng(seed)
    fold_of_unit = np.empty(units, dtype=np.intp)
    for stratum in (np.flatnonzero(has_positives), np.flatnonzero(~has_positives)):
        # Sorted by content, so that the order of the rows does not change the folds.
        ordered = stratum[np.argsort(content[stratum], kind="stable")]
        fold_of_unit[ordered] = rng.permutation(np.arange(len(stratum)) % folds)
    return [fold_of_unit[own] == at for at in range(folds)]
