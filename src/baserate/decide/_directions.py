"""Directions in the plane of two scores, and the one whose order of the classes is the best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import copysign, cos, pi, sin

import numpy as np

from baserate._arrays import Bools, Cells, Floats, Reals
from baserate._curve import Curve
from baserate._tally import Tally
from baserate.measure import auc

Weights = tuple[float, float]
_NARROW = 1e-12
"""A range of angles that no rounding of scores could keep to."""
_COARSE, _FINE, _ROUNDS = 36, 6, 4
"""Angles that are tried at first, to either side of the best one so far, and how often that is done."""


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """Rows with two scores, each in a unit near its spread: a power of two, so that no score is rounded."""

    truth: Bools
    first: Floats
    second: Floats
    weight: Floats | None
    count: Cells | None
    units: tuple[int, int]

    @classmethod
    def of(cls, truth: Bools, scores: tuple[Reals, Reals], weight: Floats | None, count: Cells | None) -> Plane:
        """Measure both scores in their units."""
        first, second = (np.asarray(each, dtype=np.float64) for each in scores)
        units = _unit(first), _unit(second)
        return cls(truth, np.ldexp(first, -units[0]), np.ldexp(second, -units[1]), weight, count, units)

    def area(self, weights: Weights) -> float:
        """AUC of a weighted sum."""
        score = weights[0] * self.first + weights[1] * self.second
        return auc(Curve(Tally.of_rows(self.truth, score, weight=self.weight, count=self.count)))

    def only(self, where: Bools) -> Plane:
        """Rows where this is true."""
        weight, count = (None if each is None else each[where] for each in (self.weight, self.count))
        return Plane(self.truth[where], self.first[where], self.second[where], weight, count, self.units)

    def in_units_of_scores(self, weights: Weights) -> Weights:
        """Weights of the scores as they were given; that changes the unit of their sum alone."""
        one, other = weights
        return (one, float(np.ldexp(other, self.units[0] - self.units[1]))) if one else weights


def _unit(score: Floats) -> int:
    """Exponent of the power of two next to the standard deviation of distinct scores, which repetition leaves alone.

    It is 0 for a constant, and where numbers are so small that they would be rounded.
    """
    largest = int(np.frexp(np.abs(score).max(initial=0.0))[1])
    spread = float(np.ldexp(np.unique(score), -largest).std()) if len(score) else 0.0
    unit = largest + int(np.frexp(spread)[1]) if spread > 0 else 0
    return unit if np.array_equal(np.ldexp(np.ldexp(score, -unit), unit), score) else 0


def best_weights(plane: Plane, *, positive: bool, limit: int) -> tuple[Weights, bool]:
    """Weights of highest AUC, and whether that is exact; of equally good ones, those of a single score.

    The first is 1 or −1, unless the second score alone is the best.
    """
    sides = [_distinct(plane, truth) for truth in (plane.truth, ~plane.truth)]
    exact = len(sides[0]) * len(sides[1]) <= limit
    angle = _swept(*sides, positive=positive) if exact else _searched(plane, positive=positive)
    single = [(1.0, 0.0), (0.0, 1.0)] + ([] if positive else [(-1.0, 0.0), (0.0, -1.0)])
    return max([*single, _along(angle)], key=plane.area), exact


def _along(angle: float) -> Weights:
    """Weights of that direction, the first 1 or −1."""
    one, other = cos(angle), sin(angle)
    return copysign(1.0, one), other / abs(one)  # no angle is so near to a right one that its cosine is 0


def _distinct(plane: Plane, side: Bools) -> Floats:
    """Distinct points of a class, with the mass at each: columns first, second, mass."""
    amount = np.ones(len(plane.truth))
    for each in (plane.weight, plane.count):
        amount = amount if each is None else amount * each
    both = np.stack([plane.first[side], plane.second[side]], axis=1)
    points, which = np.unique(both, axis=0, return_inverse=True)
    mass = np.bincount(which.ravel(), weights=amount[side], minlength=len(points))
    return np.column_stack([points, mass])


def _swept(positives: Floats, negatives: Floats, *, positive: bool) -> float:
    """Angle of the best direction: the middle of the widest range of angles in which the AUC is highest.

    From one direction to its opposite each pair of a positive and a negative changes its order once, at the angle at
    which both score the same. There the pair counts half, so that no AUC exceeds those to either side.
    """
    angle, gain, level = _turns(positives, negatives)
    order = np.argsort(angle)
    edges = np.concatenate([[0.0], angle[order], [pi]])
    del angle
    levels = np.concatenate([[level], level + np.cumsum(gain[order])])
    del order, gain
    width = np.diff(np.minimum(edges, pi / 2) if positive else edges)
    height = np.where(width > _NARROW, levels if positive else np.abs(levels), -np.inf)
    near = 1e-12 * float(positives[:, 2].sum() * negatives[:, 2].sum())
    at = int(np.where(height >= height.max() - near, width, 0.0).argmax())
    opposite = levels[at] < 0 and not positive
    return float(edges[at] + width[at] / 2) + pi * opposite


def _turns(positives: Floats, negatives: Floats) -> tuple[Floats, Floats, float]:
    """Angle at which each pair changes its order, what the sum of all signs gains by that, and that sum at first."""
    size = len(negatives)
    angle, gain = np.empty(len(positives) * size), np.empty(len(positives) * size)
    level = 0.0
    for at, (first, second, mass) in enumerate(positives):
        one, other = first - negatives[:, 0], second - negatives[:, 1]
        side = np.sign(one)
        masses = mass * negatives[:, 2]
        # Just beyond angle 0 the second score decides between those that the first finds equal.
        level += float((np.where(one == 0, np.sign(other), side) * masses).sum())
        place = slice(at * size, (at + 1) * size)
        angle[place] = np.arctan2(np.abs(one), -other * side)
        gain[place] = -2 * side * masses
    return angle, gain, level


def _searched(plane: Plane, *, positive: bool) -> float:
    """Angle of the best direction that is found by trying some, and then others around the best one so far."""

    def height(angle: float) -> float:
        return plane.area(_along(angle))

    last = pi / 2 if positive else pi
    tried = np.linspace(0.0, last, _COARSE, endpoint=False)
    best = _highest(height, tried, positive=positive)
    step = last / _COARSE
    for _ in range(_ROUNDS):
        around = best + step * np.arange(-_FINE + 1, _FINE) / _FINE
        best = _highest(height, np.clip(around, 0.0, last) if positive else around, positive=positive)
        step /= _FINE
    return best


def _highest(height: Callable[[float], float], angles: Floats, *, positive: bool) -> float:
    """Of these directions, and their opposites unless weights are to be positive, the best."""
    values = np.array([height(float(angle)) for angle in angles])
    if positive or values.max() >= 1 - values.min():
        return float(angles[values.argmax()])
    return float(angles[values.argmin()]) + pi
