"""The ROC convex hull of several classifiers, likelihood ratios as its slopes, and a score from its vertices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import inf, isnan, nan
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats, ratio, refuse_differing_indexes
from baserate._costs import Costs, CostsLike, as_costs
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import LEVEL, ShareLike, check_domain, check_prevalence, parse_share
from baserate._errors import MissingValuesError, NotBinaryError, OptionError, ShapeError, keyword, unknown_name
from baserate._numeric.cumulative import pool_adjacent_violators
from baserate._rendering import short_repr
from baserate._results import Results
from baserate._tally import Tally
from baserate.infer import normal_quantile
from baserate.measure import auc, fpr, sensitivity
from baserate.read import PredictionOptions, accepts_predictions

FLAG_NONE, FLAG_ALL = "none", "all"
"""Names of the trivial classifiers: flag none, and flag all."""


@dataclass(frozen=True, slots=True)
class Vertex:
    """A classifier, at a threshold if it has scores, that is optimal for a range of slopes of iso-cost lines."""

    classifier: str
    """Name of the classifier, or "none" or "all"."""
    threshold: float | None
    """Scores at or above it are flagged; None if the classifier only labels."""
    fpr: float
    tpr: float
    slope_from: float
    """Optimal for slopes below this one; at it, the stricter neighbor wins."""
    slope_to: float
    """Optimal for slopes from this one on."""
    reversed: bool = False
    """Whether the opposite of its decisions is used."""
    others: tuple[str, ...] = ()
    """Other classifiers at the same point."""

    __repr__ = short_repr

    def cost(self, costs: CostsLike, prevalence: ShareLike) -> float:
        r"""Compute the expected cost per case.

        It is :math:`π(TPR·C_{TP}+(1-TPR)C_{FN})+(1-π)(FPR·C_{FP}+(1-FPR)C_{TN})`.

        Parameters
        ----------
        costs
            Costs of decisions.
        prevalence
            Prevalence, from 0 to 1.
        """
        return _case_cost(self.fpr, self.tpr, costs, prevalence)


Vertices = tuple[Vertex, ...]


@dataclass(frozen=True, slots=True)
class ClassifierMixture:
    """A random mixture of two neighboring vertices: a point on the edge between them."""

    strict: Vertex
    lax: Vertex
    chance: float
    """Probability of using `lax`."""

    __repr__ = short_repr

    @property
    def fpr(self) -> float:
        """False positive rate of the mixture."""
        return (1 - self.chance) * self.strict.fpr + self.chance * self.lax.fpr

    @property
    def tpr(self) -> float:
        """True positive rate of the mixture."""
        return (1 - self.chance) * self.strict.tpr + self.chance * self.lax.tpr

    def cost(self, costs: CostsLike, prevalence: ShareLike) -> float:
        """Compute the expected cost per case as `Vertex.cost` does; it is never below that of the cheaper vertex."""
        return _case_cost(self.fpr, self.tpr, costs, prevalence)


@dataclass(frozen=True, slots=True)
class DominatedClassifier:
    """A classifier that is no vertex of the hull, and its distance from the hull.

    Scores are compared at the threshold that comes nearest. `gap` and `factor` are NaN for constant scores, which can
    only flag all or none.
    """

    classifier: str
    gap: float
    """Difference in sensitivity to the hull at the same false positive rate; 0 on an edge."""
    factor: float
    """Least ratio of its cost to that of the hull at any slope, if only errors cost."""
    area: float
    """Difference of the areas under the hull and under its own hull."""


@dataclass(frozen=True, slots=True)
class ReversibleClassifier:
    """A classifier below the diagonal of ROC space: the opposite decisions would be better."""

    classifier: str
    auc: float
    """AUC; (1 + TPR − FPR)/2 if it only labels."""
    fpr: float | None
    tpr: float | None
    """Rates after reversal, if it only labels."""

    @property
    def reversed_auc(self) -> float:
        """Area under its curve after reversal."""
        return 1 - self.auc


@dataclass(frozen=True, slots=True)
class ROCConvexHull:
    """The upper convex hull of classifiers in ROC space, as computed by `roc_convex_hull`."""

    vertices: tuple[Vertex, ...]
    """Strictest first, from "none" to "all"."""
    dominated: tuple[DominatedClassifier, ...]
    reversible: tuple[ReversibleClassifier, ...]
    """Classifiers below the diagonal; reversed, they take part only with `reverse=True`."""

    __repr__ = short_repr

    @property
    def never_optimal(self) -> tuple[str, ...]:
        """Names of the classifiers that are optimal at no costs and no prevalence."""
        return tuple(each.classifier for each in self.dominated)

    @property
    def auc(self) -> float:
        """Area under the hull."""
        return area_under(self.vertices)

    def best(self, slope: float) -> Vertex:
        """Return the cheapest vertex for a slope of iso-cost lines, as from `Costs.slope`; the strictest of two."""
        if isnan(slope):
            raise MissingValuesError("the slope is NaN", remedy="give costs that differ, and a prevalence in (0, 1).")
        return next((each for each in self.vertices if slope >= each.slope_to), self.vertices[-1])

    def at(self, costs: CostsLike, prevalence: ShareLike) -> Vertex:
        """Return the cheapest vertex at a prevalence and costs; an error must not cost less than a correct decision."""
        costs = as_costs(costs)
        _check_errors_cost(costs)
        return self.best(costs.slope(prevalence))

    def ranges(self, prevalence: ShareLike) -> Results:
        r"""Tabulate the cost ratios :math:`\frac{C_{FN}-C_{TP}}{C_{FP}-C_{TN}}` for which each vertex is optimal.

        Parameters
        ----------
        prevalence
            Prevalence, between 0 and 1.

        Returns
        -------
        Results
            One row per vertex, which is optimal above `ratio_from` and up to `ratio_to`.
        """
        prevalence = parse_share(prevalence)
        check_prevalence("prevalence", prevalence)
        odds = (1 - prevalence) / prevalence
        ends = [(ratio(odds, each.slope_from), ratio(odds, each.slope_to)) for each in self.vertices]
        return self._table(ends, "ratio", {"prevalence": prevalence})

    def prevalences(self, costs: CostsLike) -> Results:
        """Tabulate the prevalences for which each vertex is optimal.

        Parameters
        ----------
        costs
            Costs of decisions, with a cost for both kinds of errors.

        Returns
        -------
        Results
            One row per vertex, which is optimal above `prevalence_from` and up to `prevalence_to`.
        """
        costs = as_costs(costs)
        _check_errors_cost(costs)
        even = costs.slope(0.5)
        if not 0 < even < inf:
            raise OptionError(f"with {costs} one kind of error costs nothing at any prevalence", remedy="see `at`.")
        ends = [(even / (even + each.slope_from), even / (even + each.slope_to)) for each in self.vertices]
        return self._table(ends, "prevalence", {"costs": repr(costs)})

    def mixture(self, *, fpr: float | None = None, tpr: float | None = None) -> ClassifierMixture:
        """Find the mixture of two neighboring vertices that attains a false or true positive rate [@provost2001].

        Parameters
        ----------
        fpr
            False positive rate; the mixture has the highest true positive rate there.
        tpr
            True positive rate instead; the mixture has the lowest false positive rate there.

        Returns
        -------
        ClassifierMixture
            Both vertices, and the probability of the laxer one.
        """
        target = fpr if tpr is None else tpr
        if target is None or (fpr is not None and tpr is not None):
            raise OptionError(f"give either {keyword('fpr')} or {keyword('tpr')}.")
        if not 0 <= target <= 1:
            raise OptionError(f"a rate is {target}; expected a number from 0 to 1.")
        rate = [each.fpr if tpr is None else each.tpr for each in self.vertices]
        # Vertices may share a rate: the last one at an FPR has the highest TPR, the first one at a TPR the lowest FPR.
        place = int(np.searchsorted(rate, target, side="right" if tpr is None else "left"))
        lax = min(max(place, 1), len(rate) - 1)
        chance = ratio(target - rate[lax - 1], rate[lax] - rate[lax - 1])
        return ClassifierMixture(self.vertices[lax - 1], self.vertices[lax], chance)

    def results(self) -> Results:
        """Tabulate the vertices, strictest first, then the dominated classifiers."""
        on = self._table([(each.slope_from, each.slope_to) for each in self.vertices], "slope", {"auc": self.auc})
        below = len(self.dominated)
        columns: dict[str, Any] = {name: [*column, *[None] * below] for name, column in on.columns.items()}
        columns["classifier"] = [*on.columns["classifier"], *self.never_optimal]
        columns["others"] = [*(", ".join(each.others) or None for each in self.vertices), *[None] * below]
        for name, on_hull in (("gap", 0.0), ("factor", 1.0), ("area", 0.0)):
            columns[name] = [*[on_hull] * len(self.vertices), *(getattr(each, name) for each in self.dominated)]
        return Results(columns, on.data)

    def _table(self, ends: list[tuple[float, float]], name: str, data: dict[str, Any]) -> Results:
        columns: dict[str, list[Any]] = {
            field: [getattr(each, field) for each in self.vertices]
            for field in ("classifier", "threshold", "reversed", "fpr", "tpr")
        }
        columns[f"{name}_from"], columns[f"{name}_to"] = ([end[at] for end in ends] for at in (0, 1))
        return Results(columns, data)


def area_under(vertices: Vertices) -> float:
    """Compute the area under the line through all vertices."""
    return sum((b.fpr - a.fpr) * (a.tpr + b.tpr) for a, b in pairwise(vertices)) / 2


def front_tpr(vertices: Vertices, fpr: Floats) -> Floats:
    """Interpolate the true positive rate of the hull at false positive rates."""
    # Several vertices can share an FPR of 0 or 1; the last, which is the highest, stays in the dict.
    top = {each.fpr: each.tpr for each in vertices}
    tpr: Floats = np.interp(fpr, list(top), list(top.values()))
    return tpr


def cost_factor(vertices: Vertices, fpr: Floats, tpr: Floats) -> Floats:
    """Compute the ratio of the cost of points to the least cost, at the most favorable slope; only errors cost.

    The least cost is linear in the slope between those of the edges. So the ratio is least at one of these, or where
    one kind of error costs next to nothing.
    """
    misses = 1 - tpr
    # At both ends of the slopes only one kind of error costs: only points without it have a finite ratio.
    flags_none = min(1 - each.tpr for each in vertices if each.fpr == 0)
    misses_none = min(each.fpr for each in vertices if each.tpr == 1)
    factor = np.where(fpr == 0, ratio(misses, flags_none), inf)
    factor = np.fmin(factor, np.where(misses == 0, ratio(fpr, misses_none), inf))
    for each in vertices:
        if 0 < each.slope_to < inf:
            best = each.slope_to * each.fpr + 1 - each.tpr
            factor = np.fmin(factor, ratio(each.slope_to * fpr + misses, best))
    return np.maximum(factor, 1.0)


def _case_cost(fpr: float, tpr: float, costs: CostsLike, prevalence: ShareLike) -> float:
    costs, prevalence = as_costs(costs), parse_share(prevalence)
    check_prevalence("prevalence", prevalence, ends=True)
    positive = tpr * costs.tp + (1 - tpr) * costs.fn
    negative = fpr * costs.fp + (1 - fpr) * costs.tn
    return prevalence * positive + (1 - prevalence) * negative


def _check_errors_cost(costs: Costs) -> None:
    """Raise an error if an error costs less than a correct decision, since the optimum is then not on the hull."""
    if costs.fn < costs.tp or costs.fp < costs.tn:
        what = f"with {costs} an error costs less than a correct decision"
        raise OptionError(what, remedy="swap the classes, or correct the costs.")


Classifier = Counts[float] | Curve
_COLLINEAR = Fraction(1, 10**12)
"""Relative size of a cross product below which points are collinear: rates of weighted rows are rounded."""


class _Point(NamedTuple):
    """A classifier in ROC space. Rates are fractions, so that those of whole counts are exact."""

    fpr: Fraction
    tpr: Fraction
    classifier: str
    threshold: float | None = None
    reversed: bool = False


_START = _Point(Fraction(0), Fraction(0), FLAG_NONE, inf)
_END = _Point(Fraction(1), Fraction(1), FLAG_ALL, -inf)


@accepts_predictions("curves")
def roc_convex_hull(
    classifiers: Mapping[str, Classifier], *, reverse: bool = False, **predictions: Unpack[PredictionOptions]
) -> ROCConvexHull:
    """Compute the ROC convex hull of classifiers: which are ever optimal, and for which iso-cost slopes [@provost2001].

    To flag none and to flag all always take part. Points on a line between others are not vertices.

    Parameters
    ----------
    classifiers
        Classifiers by name: `Counts` of one that only labels, a single point; a `Curve` of one with scores, with all
        of its thresholds.
    reverse
        Whether classifiers below the diagonal take part with the opposite decisions, too.

    Returns
    -------
    ROCConvexHull
        Vertices, dominated classifiers, and classifiers below the diagonal.

    Examples
    --------
    >>> a, b = Counts(tp=63, fn=37, fp=28, tn=72), Counts(tp=77, fn=23, fp=77, tn=23)
    >>> results = roc_convex_hull({"A": a, "B": b, "C": Counts(tp=24, fn=76, fp=88, tn=12)})
    >>> [(each.classifier, round(each.slope_from, 4), round(each.slope_to, 4)) for each in results.vertices]
    [('none', inf, 2.25), ('A', 2.25, 0.5139), ('all', 0.5139, 0.0)]
    >>> results.never_optimal, [each.classifier for each in results.reversible], results.mixture(fpr=0.14).tpr
    (('B', 'C'), ['C'], 0.315)
    """
    _check_classifiers(classifiers)
    points = {name: list(_candidate_points(name, each)) for name, each in classifiers.items()}
    reversible = tuple(_find_reversible(classifiers))
    also_reversed = {each.classifier for each in reversible} if reverse else set()
    for name in also_reversed:
        points[name] += _reversed_points(name, classifiers[name])
    vertices = _build_vertices(points)
    # A classifier at the same point as a vertex is not dominated.
    present = {name for each in vertices for name in (each.classifier, *each.others)}
    dominated = []
    for name, each in classifiers.items():
        if name not in present:
            gap, factor = _least_distance(each, vertices, also_reversed=name in also_reversed)
            dominated.append(DominatedClassifier(name, gap, factor, _lost_area(points[name], vertices)))
    return ROCConvexHull(vertices, tuple(dominated), reversible)


def _check_classifiers(classifiers: Mapping[str, Classifier]) -> None:
    if not classifiers:
        raise OptionError("there are no classifiers", remedy="give a mapping from names to Counts or Curves.")
    for name, each in classifiers.items():
        _check_classifier(name, each)


def _check_classifier(name: str, classifier: object) -> None:
    if name in (FLAG_NONE, FLAG_ALL):
        raise OptionError(f"a classifier is called {name!r}, which is reserved", remedy="give it another name.")
    if not isinstance(classifier, (Counts, Curve)):
        raise OptionError(f"{name} is {type(classifier).__name__}; expected Counts or a Curve.", option=name)
    if isinstance(classifier, Counts) and classifier.shape:
        raise ShapeError(f"{name} has {classifier.shape} tables", remedy="give one, for example counts[0], or a curve.")
    for side in ("positives", "negatives"):
        if not getattr(classifier, side):
            raise NotBinaryError(f"{name} has no {side}, so no point in ROC space", remedy="give both classes.")


def _candidate_points(name: str, classifier: Classifier) -> Iterator[_Point]:
    """Yield the points that may be vertices; of a curve without its ends, which flag none or all."""
    if isinstance(classifier, Counts):
        yield _Point(_exact_share(classifier.fp, classifier.tn), _exact_share(classifier.tp, classifier.fn), name)
        return
    # Only vertices of its own hull can be vertices of the common one.
    hull = classifier.hull()
    true, false = hull.flagged_mass.tolist()
    for threshold, some, others in zip(hull.threshold.tolist()[1:-1], true[1:-1], false[1:-1], strict=True):
        yield _Point(Fraction(others) / Fraction(false[-1]), Fraction(some) / Fraction(true[-1]), name, threshold)


def _reversed_points(name: str, classifier: Classifier) -> Iterator[_Point]:
    """Yield the points of the opposite decisions: at a threshold, scores below it are flagged."""
    for point in _candidate_points(name, _reverse(classifier)):
        threshold = point.threshold
        if isinstance(classifier, Curve):
            assert threshold is not None  # noqa: S101  (for the type checker)
            # Scores are negated here: "at or above the threshold" becomes "below the next higher score".
            score = classifier.tally.score
            threshold = float(score[np.searchsorted(-score, threshold) - 1])
        yield point._replace(threshold=threshold, reversed=True)


def _exact_share(part: float, rest: float) -> Fraction:
    return Fraction(part) / (Fraction(part) + Fraction(rest))


def _upper_hull(points: Iterable[_Point]) -> list[_Point]:
    """Compute the upper convex hull from (0, 0) to (1, 1) by a monotone chain; of equal points, keep the first."""
    hull: list[_Point] = []
    # Sorting is stable, so of equal points the first classifier in the mapping comes first.
    for point in sorted(points, key=lambda each: (each.fpr, each.tpr)):
        if hull and point[:2] == hull[-1][:2]:
            continue
        while len(hull) > 1 and not _is_right_turn(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull


def _is_right_turn(first: _Point, middle: _Point, last: _Point) -> bool:
    rise = (middle.tpr - first.tpr) * (last.fpr - middle.fpr)
    other = (last.tpr - middle.tpr) * (middle.fpr - first.fpr)
    return rise - other > _COLLINEAR * (abs(rise) + abs(other))


def _build_vertices(points: Mapping[str, list[_Point]]) -> Vertices:
    hull = _upper_hull([_START, _END, *(point for some in points.values() for point in some)])
    edges = [_edge_slope(*pair) for pair in pairwise(hull)]
    same: dict[tuple[Fraction, Fraction], dict[str, None]] = {}
    for point in (each for some in points.values() for each in some):
        same.setdefault(point[:2], {})[point.classifier] = None
    vertices = []
    for point, before, after in zip(hull, [inf, *edges], [*edges, 0.0], strict=True):
        rates = float(point.fpr), float(point.tpr)
        others = tuple(name for name in same.get(point[:2], {}) if name != point.classifier)
        vertices.append(Vertex(point.classifier, point.threshold, *rates, before, after, point.reversed, others))
    return tuple(vertices)


def _edge_slope(left: _Point, right: _Point) -> float:
    run = right.fpr - left.fpr
    return float((right.tpr - left.tpr) / run) if run else inf


def _least_distance(classifier: Classifier, vertices: Vertices, *, also_reversed: bool) -> tuple[float, float]:
    """Return the least gap to the hull, and the least cost factor, over all thresholds of a classifier."""
    ways = [classifier, _reverse(classifier)] if also_reversed else [classifier]
    false, true = np.concatenate([_inner_rates(each) for each in ways], axis=1)
    gap = np.maximum(front_tpr(vertices, false) - true, 0.0)
    factor = cost_factor(vertices, false, true)
    return (float(gap.min()), float(factor.min())) if len(gap) else (nan, nan)


def _lost_area(points: list[_Point], vertices: Vertices) -> float:
    """Return how much smaller the area under the hull of the classifier by itself is."""
    return max(area_under(vertices) - area_under(_build_vertices({FLAG_NONE: points})), 0.0)


def _reverse(classifier: Classifier) -> Classifier:
    if isinstance(classifier, Counts):
        return classifier.reverse_decisions()
    return Curve(classifier.tally.with_scores(-classifier.tally.score))


def _inner_rates(classifier: Classifier) -> Floats:
    """Return the rates at thresholds that flag some but not all, and that may come nearest to a hull.

    These lie on the hull of all such points: the gap from a line to a concave front is least at an end of the line.
    """
    if isinstance(classifier, Counts):
        return np.array([[fpr(classifier)], [sensitivity(classifier)]])
    mass = classifier.tally.mass[:, classifier.tally.mass.any(axis=0)].astype(np.float64)
    if mass.shape[1] < 2:
        return np.zeros((2, 0))
    between = mass[:, 1:-1]
    starts = pool_adjacent_violators(*between)[0] if between.size else np.zeros(0, dtype=np.intp)
    running = np.cumsum(mass, axis=1)
    # Reversed rows: positives come first in a mass, the false positive rate in the result.
    rates: Floats = running[::-1, [0, *starts[1:], mass.shape[1] - 2]] / running[::-1, -1:]
    return rates


def _find_reversible(classifiers: Mapping[str, Classifier]) -> Iterator[ReversibleClassifier]:
    for name, each in classifiers.items():
        if isinstance(each, Counts):
            (point,) = _candidate_points(name, each)
            if point.tpr < point.fpr:
                under = float((1 + point.tpr - point.fpr) / 2)
                yield ReversibleClassifier(name, under, float(1 - point.fpr), float(1 - point.tpr))
        elif auc(each) < 0.5:
            yield ReversibleClassifier(name, auc(each), None, None)


@accepts_predictions("curve")
def hull_likelihood_ratios(
    curve: Curve,
    *,
    prevalence: ShareLike | None = None,
    level: ShareLike = 0.95,
    **predictions: Unpack[PredictionOptions],
) -> dict[str, Floats]:
    r"""Tabulate the likelihood ratio of each pool of scores: the slopes of the edges of the ROC convex hull.

    Scores from `lower` to `upper` are :math:`\frac{a/P}{b/N}` times as frequent among positives as among negatives
    [@green1966]. A threshold at `lower` is optimal for iso-cost slopes between this ratio and the next. The intervals
    are of a ratio of shares on a logarithmic scale [@simel1991], for pools that were fixed beforehand. These pools
    were chosen so that the ratios decrease, so the first ratios tend to be too high and the last too low.

    Parameters
    ----------
    curve
        Curve of the data, with both classes.
    prevalence
        Prevalence for the column `posterior`; that of the curve by default. The ratios do not depend on it.
    level
        Confidence level of the intervals.

    Returns
    -------
    dict of str to numpy.ndarray
        Columns of equal length, highest scores first: `upper`, `lower`, `positives`, `negatives`, `ratio`, `low`,
        `high` and `posterior`, the probability of a positive.

    Examples
    --------
    >>> from baserate import curve, tally
    >>> roc = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.2, 0.1]))
    >>> results = hull_likelihood_ratios(roc, prevalence=0.1)
    >>> {name: column.round(3).tolist() for name, column in results.items() if name not in ("low", "high")}
    {'upper': [0.9, 0.7, 0.2], 'lower': [0.8, 0.6, 0.1], 'positives': [2.0, 1.0, 0.0], 'negatives': [0.0, 1.0, 2.0],
     'ratio': [inf, 1.0, 0.0], 'posterior': [1.0, 0.1, 0.0]}
    """
    level = parse_share(level)
    if not (curve.positives and curve.negatives):
        raise NotBinaryError("a likelihood ratio needs both classes; this curve has only one.")
    prevalence = parse_share(prevalence)
    share = curve.tally.prevalence if prevalence is None else prevalence
    if prevalence is not None:
        check_prevalence("prevalence", prevalence, ends=True)
    check_domain("level", level, LEVEL)
    pools = curve.hull().tally
    low, high = _ratio_bounds(pools, level)
    one, other = pools.positive / pools.positives, pools.negative / pools.negatives
    return {
        "upper": _pool_upper_scores(curve.tally, pools),
        "lower": pools.score,
        "positives": pools.positive,
        "negatives": pools.negative,
        "ratio": ratio(one, other),
        "low": low,
        "high": high,
        "posterior": ratio(share * one, share * one + (1 - share) * other),
    }


def _pool_upper_scores(tally: Tally, pools: Tally) -> Floats:
    """Return the highest score of each pool: the first below the pool before it."""
    score = tally.score[tally.mass.any(axis=0)]
    starts = np.searchsorted(-score, -pools.score[:-1]) + 1
    upper: Floats = score[np.concatenate([[0], starts])]
    return upper


def _ratio_bounds(pools: Tally, level: float) -> tuple[Floats, Floats]:
    """Return the bounds of ratios of shares, with half a row added to both classes where one is missing."""
    mass, squares = np.asarray(pools.mass, dtype=np.float64), np.asarray(pools.squares, dtype=np.float64)
    total, total_squares = mass.sum(axis=1, keepdims=True), squares.sum(axis=1, keepdims=True)
    half = 0.5 * (mass == 0).any(axis=0)
    weight = total_squares / total
    hits = mass + weight * half
    variance = ((squares + weight**2 * half) / hits**2).sum(axis=0) - (total_squares / total**2).sum()
    with np.errstate(over="ignore"):  # almost no mass: the interval is infinite
        # The variance of a pool that has all rows is 0, and may round to below it.
        spread_factor = np.exp(normal_quantile(level) * np.sqrt(np.maximum(variance, 0.0)))
    one, other = hits / total
    center = one / other
    # Where a class is missing, the ratio is 0 or infinite, and so is this end of its interval.
    return np.where(mass[0] > 0, center / spread_factor, 0.0), np.where(mass[1] > 0, center * spread_factor, np.inf)


def rank_by_hull(front: ROCConvexHull, decisions: Mapping[str, npt.ArrayLike]) -> Floats:
    """Score rows by the strictest classifier of a hull that flags them; 0 if none does.

    Of m classifiers the strictest gives m and the laxest 1. If each flags all that the stricter ones flag, as the
    thresholds of one score do, the ROC curve of the result passes through all vertices [@fawcett2007]. Otherwise a
    rank flags what its classifier *or a stricter one* flags. No true positive is lost then, but false positives may be
    added, and the curve may leave the hull to either side.

    Parameters
    ----------
    front
        Convex hull from `roc_convex_hull`.
    decisions
        Flags of classifiers that only label, or scores of those with scores, by name.

    Returns
    -------
    numpy.ndarray
        Rank of each row, from 0 to m.

    Examples
    --------
    >>> from baserate import Counts, decide
    >>> strict, lax = Counts(tp=2, fn=1, fp=0, tn=3), Counts(tp=3, fn=0, fp=1, tn=2)
    >>> hull = decide.roc_convex_hull({"strict": strict, "lax": lax})
    >>> rank_by_hull(hull, {"strict": [1, 1, 0, 0, 0, 0], "lax": [1, 1, 1, 1, 0, 0]}).tolist()
    [2.0, 2.0, 1.0, 1.0, 0.0, 0.0]
    """
    refuse_differing_indexes(decisions)
    vertices = [each for each in front.vertices if each.classifier not in (FLAG_NONE, FLAG_ALL)]
    columns = {each.classifier: _decision_column(each, decisions) for each in vertices}
    if len({column.shape for column in columns.values()}) > 1:
        shapes = ", ".join(f"{name} {column.shape}" for name, column in columns.items())
        raise ShapeError(f"the columns have different lengths ({shapes})", remedy="give a value of each for every row.")
    if not vertices:  # no classifier is better than flagging all or none
        return np.zeros(max((len(np.atleast_1d(each)) for each in decisions.values()), default=0))
    score = np.zeros(len(next(iter(columns.values()))))
    for rank, vertex in enumerate(reversed(vertices), start=1):
        score[_vertex_flags(vertex, columns[vertex.classifier])] = rank
    return score


def _decision_column(vertex: Vertex, decisions: Mapping[str, npt.ArrayLike]) -> Floats:
    name = vertex.classifier
    if name not in decisions:
        raise unknown_name("classifier", name, decisions)
    column: Floats = np.asarray(decisions[name], dtype=np.float64)
    if column.ndim != 1:
        raise ShapeError(f"{name} has shape {column.shape}", remedy="give one value for each row.")
    if np.isnan(column).any():
        what = f"{np.isnan(column).sum()} of {len(column)} values of {name} are NaN"
        raise MissingValuesError(what, remedy="leave those rows out.")
    invalid = 0 if vertex.threshold is not None else np.count_nonzero(~np.isin(column, (0.0, 1.0)))
    if invalid:
        raise OptionError(f"{invalid} of {len(column)} values of {name}, which only labels, are neither 0 nor 1.")
    return column


def _vertex_flags(vertex: Vertex, column: Floats) -> Bools:
    flagged: Bools = column >= (1.0 if vertex.threshold is None else vertex.threshold)
    return ~flagged if vertex.reversed else flagged
