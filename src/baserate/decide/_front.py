"""`front`: which classifiers of a set are ever the best, and for which costs and prevalences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from math import inf, nan
from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._errors import NotBinaryError, OptionError, ShapeError
from baserate._numeric.pav import decreasing_blocks
from baserate.decide._vertices import ALL, NONE, Dominated, Front, Reversible, Vertex, area, cost_factor, height
from baserate.measure import auc, fpr, sensitivity

Classifier = Counts[float] | Curve
Vertices = tuple[Vertex, ...]
_NEAR = Fraction(1, 10**12)
"""Of the two terms of a cross product: what is nearer to 0 is rounding of weights, and the points lie on a line."""


class _Point(NamedTuple):
    """A decision in ROC space. Rates of whole counts are exact."""

    fpr: Fraction
    tpr: Fraction
    classifier: str
    threshold: float | None = None
    reversed: bool = False


_START = _Point(Fraction(0), Fraction(0), NONE, inf)
_END = _Point(Fraction(1), Fraction(1), ALL, -inf)


def front(classifiers: Mapping[str, Classifier], *, reverse: bool = False) -> Front:
    """Find which classifiers are ever the best, and for which slopes of iso-cost lines: the ROC convex hull.

    `Counts` are a classifier that only labels, one point; a `Curve` one that scores, at all of its thresholds. To flag
    nothing, "none", and to flag everything, "all", always take part. Several models' curves give the hybrid of them
    that is nowhere worse than any [@provost2001]. Points on a line between others are no vertices. What lies below the
    diagonal is told in `reversible`; with `reverse` it takes part also with what it passes flagged.

    >>> a, b = Counts(tp=63, fn=37, fp=28, tn=72), Counts(tp=77, fn=23, fp=77, tn=23)
    >>> found = front({"A": a, "B": b, "C": Counts(tp=24, fn=76, fp=88, tn=12)})
    >>> [(each.classifier, round(each.slope_from, 4), round(each.slope_to, 4)) for each in found.vertices]
    [('none', inf, 2.25), ('A', 2.25, 0.5139), ('all', 0.5139, 0.0)]
    >>> found.never, [each.classifier for each in found.reversible], found.mixture(fpr=0.14).tpr
    (('B', 'C'), ['C'], 0.315)
    """
    points = _points(classifiers)
    reversible = tuple(_reversible(classifiers))
    turned = {each.classifier for each in reversible} if reverse else set()
    for name in turned:
        points[name] += _turned(name, classifiers[name])
    vertices = _vertices(points)
    present = {name for each in vertices for name in (each.classifier, *each.others)}
    dominated = [
        Dominated(name, *_nearest(each, vertices, turned=name in turned), _lost(points[name], vertices))
        for name, each in classifiers.items()
        if name not in present
    ]
    return Front(vertices, tuple(dominated), reversible)


def _points(classifiers: Mapping[str, Classifier]) -> dict[str, list[_Point]]:
    if not classifiers:
        raise OptionError("there are no classifiers; give a mapping from names to Counts or Curves.")
    for name, each in classifiers.items():
        _check(name, each)
    return {name: list(_ours(name, each)) for name, each in classifiers.items()}


def _check(name: str, given: object) -> None:
    if name in (NONE, ALL):
        raise OptionError(f"a classifier is called {name!r}, as is a constant decision; give it another name.")
    if not isinstance(given, (Counts, Curve)):
        raise OptionError(f"{name} is {type(given).__name__}; give Counts of a classifier that labels, or a Curve.")
    if isinstance(given, Counts) and given.shape:
        raise ShapeError(f"{name} has {given.shape} tables; give one, for example counts[0], or a curve.")
    for side in ("positives", "negatives"):
        if not getattr(given, side):
            raise NotBinaryError(
                f"{name} has no {side}, so that it has no place in ROC space; give rows of both classes."
            )


def _ours(name: str, given: Classifier) -> Iterator[_Point]:
    """Points that may be vertices; of a curve, without its ends, which are the constant decisions."""
    if isinstance(given, Counts):
        yield _Point(_share(given.fp, given.tn), _share(given.tp, given.fn), name)
        return
    hull = given.hull()
    true, false = hull.flagged_mass.tolist()
    for threshold, some, others in zip(hull.threshold.tolist()[1:-1], true[1:-1], false[1:-1], strict=True):
        yield _Point(Fraction(others) / Fraction(false[-1]), Fraction(some) / Fraction(true[-1]), name, threshold)


def _turned(name: str, given: Classifier) -> Iterator[_Point]:
    """Points of the reversed classifier: at a threshold, what is below it is flagged."""
    for point in _ours(name, _back(given)):
        threshold = point.threshold
        if isinstance(given, Curve):
            assert threshold is not None  # noqa: S101  (for the type checker)
            # Flagged is what is at most −threshold, so what is below the next higher score.
            score = given.tally.score
            threshold = float(score[np.searchsorted(-score, threshold) - 1])
        yield point._replace(threshold=threshold, reversed=True)


def _share(part: float, rest: float) -> Fraction:
    return Fraction(part) / (Fraction(part) + Fraction(rest))


def _hull(points: Iterable[_Point]) -> list[_Point]:
    """Upper convex hull from (0, 0) to (1, 1) by a monotone chain; of equal points, the first given."""
    kept: list[_Point] = []
    for point in sorted(points, key=lambda each: (each.fpr, each.tpr)):
        if kept and point[:2] == kept[-1][:2]:
            continue
        while len(kept) > 1 and not _turns_right(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return kept


def _turns_right(first: _Point, middle: _Point, last: _Point) -> bool:
    rise = (middle.tpr - first.tpr) * (last.fpr - middle.fpr)
    other = (last.tpr - middle.tpr) * (middle.fpr - first.fpr)
    return rise - other > _NEAR * (abs(rise) + abs(other))


def _vertices(points: Mapping[str, list[_Point]]) -> Vertices:
    hull = _hull([_START, _END, *(point for some in points.values() for point in some)])
    edges = [_slope(*pair) for pair in pairwise(hull)]
    same: dict[tuple[Fraction, Fraction], dict[str, None]] = {}
    for point in (each for some in points.values() for each in some):
        same.setdefault(point[:2], {})[point.classifier] = None
    return tuple(
        Vertex(
            point.classifier,
            point.threshold,
            float(point.fpr),
            float(point.tpr),
            before,
            after,
            point.reversed,
            tuple(name for name in same.get(point[:2], {}) if name != point.classifier),
        )
        for point, before, after in zip(hull, [inf, *edges], [*edges, 0.0], strict=True)
    )


def _slope(left: _Point, right: _Point) -> float:
    run = right.fpr - left.fpr
    return float((right.tpr - left.tpr) / run) if run else inf


def _nearest(given: Classifier, vertices: Vertices, *, turned: bool) -> tuple[float, float]:
    """Least gap to a front, and least factor in cost, over what a classifier can do."""
    ways = [given, _back(given)] if turned else [given]
    false, true = np.concatenate([_inner(each) for each in ways], axis=1)
    gap = np.maximum(height(vertices, false) - true, 0.0)
    factor = cost_factor(vertices, false, true)
    return (float(gap.min()), float(factor.min())) if len(gap) else (nan, nan)


def _lost(points: list[_Point], vertices: Vertices) -> float:
    """How much smaller the area under the front of a classifier alone is."""
    return max(area(vertices) - area(_vertices({NONE: points})), 0.0)


def _back(given: Classifier) -> Classifier:
    return given.reversed() if isinstance(given, Counts) else Curve(given.tally.rescored(-given.tally.score))


def _inner(given: Classifier) -> Floats:
    """False and true positive rates at thresholds that flag something, but not all, and may come nearest to a front.

    These are on the hull of all such: from a line up to a concave front, the gap is least at an end of the line.
    """
    if isinstance(given, Counts):
        return np.array([[fpr(given)], [sensitivity(given)]])
    mass = given.tally.mass[:, given.tally.mass.any(axis=0)].astype(np.float64)
    if mass.shape[1] < 2:
        return np.zeros((2, 0))
    between = mass[:, 1:-1]
    starts = decreasing_blocks(*between)[0] if between.size else np.zeros(0, dtype=np.intp)
    running = np.cumsum(mass, axis=1)
    found: Floats = running[::-1, [0, *starts[1:], mass.shape[1] - 2]] / running[::-1, -1:]
    return found


def _reversible(classifiers: Mapping[str, Classifier]) -> Iterator[Reversible]:
    for name, each in classifiers.items():
        if isinstance(each, Counts):
            (point,) = _ours(name, each)
            if point.tpr < point.fpr:
                under = float((1 + point.tpr - point.fpr) / 2)
                yield Reversible(name, under, float(1 - point.fpr), float(1 - point.tpr))
        elif auc(each) < 0.5:
            yield Reversible(name, auc(each), None, None)
