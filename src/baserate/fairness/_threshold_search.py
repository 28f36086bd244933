"""Thresholds of least cost under parity tolerances: one for each group, one for all, or where ROC curves cross."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import inf, isnan, nan
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats
from baserate._costs import Costs
from baserate._counts import Counts
from baserate._curve import Curve, Mixture
from baserate._cut import Cut, Treatment
from baserate._errors import InfeasibleError, OptionError
from baserate._policy import REFUSE, Policy
from baserate._rendering import short_repr
from baserate._tally import Tally
from baserate.decide import RELATIVE_TOLERANCE, check_curve, require_both_classes, strictest_maximum, threshold_at
from baserate.fairness._group_counts import Groups, select_participants
from baserate.fairness._objectives import Outcome, maximize
from baserate.fairness._optimum import (
    ROC_TOLERANCE,
    RocRegion,
    best_value,
    class_shares,
    flagged_shares,
    points_value,
    randomize_cuts,
    roc_rates,
    roc_regions,
    total_cost,
    value_settings,
)
from baserate.fairness._parities import SLACK, Goal
from baserate.measure import MEASURES, expected_cost
from baserate.read import PredictionOptions, accepts_predictions, accepts_two

_BATCH = 1 << 13
"""Boxes that are halved at once; more would waste work that a better incumbent saves."""

Ints = npt.NDArray[np.int32]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class ThresholdChoices:
    """Thresholds of a group, strictest first: the cost of each, and its bounded rates, which never fall."""

    cost: Floats
    rates: Floats
    """One row for each rate."""


def search_thresholds(
    groups: Sequence[ThresholdChoices], bounds: Sequence[float], *, effort: float
) -> tuple[list[int], bool]:
    """Find the threshold of each group so that the total cost is least and no rate differs by more than its bound.

    Thresholds whose rates lie between a lowest value and the bound above it are consecutive, and each group takes the
    cheapest of them. So the search is over the lowest value of each rate, by branch and bound [@land1960]. A box of
    lowest values allows at most the thresholds from its least value to the bound above its greatest. It is halved while
    that is cheaper than the incumbent. Among equally cheap solutions the lowest rates win, then the strictest
    thresholds.

    After `effort` boxes the search stops with the incumbent. It returns the index of the threshold of each group, and
    whether the solution is proven optimal.
    """
    search = _Search(groups, bounds)
    boxes, incumbent, n_boxes = search.everything, search.nobody, 0
    while len(boxes.cost_bound) and n_boxes < effort:
        # Cheapest boxes first, ties by the lowest rates: the incumbent improves early and prunes the rest.
        # `lexsort` sorts by its last key first.
        boxes = boxes.select(np.lexsort((*boxes.low[::-1], boxes.cost_bound)))
        halves = search.bound_costs(boxes.select(slice(_BATCH)).halve())
        n_boxes += len(halves.cost_bound)
        incumbent = search.update_incumbent(halves, incumbent)
        boxes = boxes.select(slice(_BATCH, None)).concatenate(halves)
        boxes = boxes.select(search.is_promising(boxes, incumbent))
    return search.threshold_indices(incumbent), not len(boxes.cost_bound)


@dataclass(frozen=True, slots=True, eq=False)
class _Boxes:
    """Boxes of lowest rates, one column each: indices of the least and greatest value among all distinct rates."""

    low: Ints
    high: Ints
    cost_bound: Floats
    """Lower bound of the cost of any solution in the box."""

    def select(self, places: Places | Bools | slice) -> _Boxes:
        """Select some boxes."""
        return _Boxes(self.low[:, places], self.high[:, places], self.cost_bound[places])

    def concatenate(self, other: _Boxes) -> _Boxes:
        """Append other boxes."""
        low, high = (np.concatenate(pair, axis=1) for pair in ((self.low, other.low), (self.high, other.high)))
        return _Boxes(low, high, np.concatenate([self.cost_bound, other.cost_bound]))

    def halve(self) -> _Boxes:
        """Halve each box along its longest side."""
        each = np.arange(len(self.cost_bound))
        longest = np.argmax(self.high - self.low, axis=0)
        middle = (self.low[longest, each] + self.high[longest, each]) // 2
        low, high = self.low.copy(), self.high.copy()
        high[longest, each], low[longest, each] = middle, middle + 1
        return _Boxes(self.low, high, self.cost_bound).concatenate(_Boxes(low, self.high, self.cost_bound))


class _Search:
    """Lookup tables of the branch and bound: admissible thresholds of each group at every distinct rate."""

    def __init__(self, groups: Sequence[ThresholdChoices], bounds: Sequence[float]) -> None:
        self.groups = groups
        self.least = [_RangeMinimum(each.cost) for each in groups]
        # Costs that differ by less are equal: sums over groups round differently.
        self.equal = RELATIVE_TOLERANCE * float(sum(np.abs(each.cost).max() for each in groups))
        # 32 bits halve the memory of millions of boxes.
        self.first: list[Ints] = []
        self.last: list[Ints] = []
        for at, bound in enumerate(bounds):
            rates = [each.rates[at] for each in groups]
            distinct = np.unique(np.concatenate(rates))
            above = distinct + (bound + SLACK)
            self.first.append(np.array([np.searchsorted(each, distinct) for each in rates], dtype=np.int32))
            ends = [np.searchsorted(each, above, side="right") - 1 for each in rates]
            self.last.append(np.array(ends, dtype=np.int32))
        lowest = np.zeros((len(bounds), 1), dtype=np.int32)
        highest = np.array([[table.shape[1] - 1] for table in self.first], dtype=np.int32)
        self.everything, self.nobody = (self.bound_costs(_Boxes(lowest, to, np.zeros(1))) for to in (highest, lowest))

    def runs(self, boxes: _Boxes) -> tuple[Ints, Ints]:
        """Return the first and last admissible threshold of each group, one row for each group."""
        first = reduce(np.maximum, (table[:, at] for table, at in zip(self.first, boxes.low, strict=True)))
        last = reduce(np.minimum, (table[:, at] for table, at in zip(self.last, boxes.high, strict=True)))
        return first, last

    def bound_costs(self, boxes: _Boxes) -> _Boxes:
        """Keep the boxes in which every group has a threshold, and bound their costs from below."""
        first, last = self.runs(boxes)
        nonempty = np.flatnonzero((first <= last).all(axis=0))
        each = [least(*run) for least, *run in zip(self.least, first[:, nonempty], last[:, nonempty], strict=True)]
        return _Boxes(boxes.low[:, nonempty], boxes.high[:, nonempty], np.sum(each, axis=0))

    def is_promising(self, boxes: _Boxes, incumbent: _Boxes) -> Bools:
        """Return whether a box may contain a cheaper solution than the incumbent, or an equal one with lower rates."""
        before, same = (np.full(len(boxes.cost_bound), fill_value=start) for start in (False, True))
        for own, other in zip(boxes.low, incumbent.low, strict=True):
            before |= same & (own < other)
            same &= own == other
        saved = incumbent.cost_bound - boxes.cost_bound
        promising: Bools = (saved > self.equal) | ((saved >= -self.equal) & before)
        return promising

    def update_incumbent(self, boxes: _Boxes, incumbent: _Boxes) -> _Boxes:
        """Return the best of the incumbent and the solutions at the lowest corner of each box."""
        tried = self.bound_costs(_Boxes(boxes.low, boxes.low, boxes.cost_bound))
        if not len(tried.cost_bound):
            return incumbent
        tied = np.flatnonzero(tried.cost_bound <= tried.cost_bound.min() + self.equal)
        candidate = tried.select(tied[np.lexsort(tried.low[::-1, tied])[:1]])
        return candidate if self.is_promising(candidate, incumbent)[0] else incumbent

    def threshold_indices(self, incumbent: _Boxes) -> list[int]:
        """Return the strictest of the cheapest thresholds of each group."""
        runs = (each[:, 0].tolist() for each in self.runs(incumbent))
        return [
            start + (strictest_maximum(-each.cost[start : stop + 1]) or 0)
            for each, start, stop in zip(self.groups, *runs, strict=True)
        ]


class _RangeMinimum:
    """Minimum over any range of an array, from the minima of all ranges whose length is a power of two."""

    def __init__(self, values: Floats) -> None:
        table = [values]
        for power in range(len(values).bit_length() - 1):
            step = 1 << power
            table.append(np.minimum(table[-1][:-step], table[-1][step:]))
        self.flat = np.concatenate(table)
        self.start = np.cumsum([0, *map(len, table)])[:-1]

    def __call__(self, first: Ints, last: Ints) -> Floats:
        # Two ranges of the largest power of two that fits cover any range, and may overlap.
        power = np.frexp(last - first + 1)[1] - 1
        start = self.start[power]
        minimum: Floats = np.minimum(self.flat[start + first], self.flat[start + last + 1 - (1 << power)])
        return minimum


DETERMINISTIC_RULE = "deterministic"
_MAX_EXACT = 2000
"""Distinct scores of a group up to which the search runs until it proves optimality."""
_MAX_BOXES = 5_000_000
"""Boxes after which the search may stop, if a group has more scores."""


@accepts_predictions("groups")
def deterministic_thresholds(
    groups: Groups,
    goal: Goal,
    *,
    model: str | None = None,
    otherwise: str = REFUSE,
    **predictions: Unpack[PredictionOptions],
) -> Policy:
    """Find one threshold for each group, without randomization: least expected cost under the parity tolerances.

    Thresholds reach only some rates, so exact parity often leaves only flagging nobody; use a tolerance.

    Parameters
    ----------
    groups, goal, model, otherwise
        As in `optimal_policy`.

    Returns
    -------
    Policy
        One cut for each group. `settings` contain its `cost`, the `bound` below which no policy with these tolerances
        can be, and whether the thresholds are proven optimal (`exact`). With an objective they contain its `value`,
        which no policy raises above the `bound`. With up to 2000 distinct scores in each group
        they are; with more they nearly always are, and otherwise a note says so.

    Examples
    --------
    >>> from baserate import curve, fairness, tally
    >>> f = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> m = curve(tally([1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.6, 0.5, 0.3, 0.1]))
    >>> policy = fairness.deterministic_thresholds({"f": f, "m": m}, fairness.Goal("equalized-odds", within=0.34))
    >>> policy.by_group["f",].threshold, policy.by_group["m",].threshold, round(policy.settings["cost"], 4)
    (0.8, 0.9, 0.25)
    """
    participants = select_participants(groups, goal, model=model, otherwise=otherwise)
    regions = roc_regions(participants)
    wholes = [_all_thresholds(each) for each in regions.values()]
    # A tolerance of 1 or more constrains nothing, but would add a dimension to the search.
    bounds = goal.bounds or goal.tolerances
    few = max(len(each.threshold) for each in wholes) <= _MAX_EXACT + 1
    effort = inf if few else _MAX_BOXES
    places, exact = _best_thresholds(wholes, bounds, goal, effort=effort)
    points = _threshold_points(wholes, places)
    value, best = points_value(wholes, points, goal), best_value([*regions.values()], goal.tolerances, goal)
    cuts = {group: each.cut(at) for group, each, at in zip(regions, wholes, places, strict=True)}
    settings: dict[str, Any] = {"exact": exact, "cost": total_cost(wholes, points, goal.costs)}
    if goal.objective is None:
        settings["bound"] = min(best, value)
    else:
        settings |= value_settings(value=value, bound=max(best, value))
    policy = participants.policy(cuts, rule=DETERMINISTIC_RULE, settings=settings)
    trivial = _describe_trivial(wholes, places)
    return replace(policy, notes=(*policy.notes, *_deterministic_notes(policy, trivial)))


def _all_thresholds(region: RocRegion) -> RocRegion:
    """Replace the hull of a group by all of its thresholds."""
    curve = region.curve
    false, true = roc_rates(curve)
    is_reversed = np.zeros(len(curve.threshold), dtype=bool)
    return replace(region, threshold=curve.threshold, is_reversed=is_reversed, fpr=false, tpr=true)


def _threshold_points(wholes: Sequence[RocRegion], places: Sequence[int]) -> Floats:
    """Return FPR and TPR of each group at its threshold, one row each."""
    return np.array([[each.fpr[at], each.tpr[at]] for each, at in zip(wholes, places, strict=True)])


def _best_thresholds(
    wholes: Sequence[RocRegion], bounds: Mapping[str, float], goal: Goal, *, effort: float
) -> tuple[list[int], bool]:
    """Return the best threshold of each group within the bounds, and whether it is proven to be the best."""
    rates = [np.array([each.rate(rate) for rate in bounds]) for each in wholes]
    proofs = []

    def solve(costs: Costs) -> Outcome[list[int]]:
        costs_of = [each.cost(costs, each.fpr, each.tpr) for each in wholes]
        choices = [ThresholdChoices(*pair) for pair in zip(costs_of, rates, strict=True)]
        places, exact = search_thresholds(choices, [*bounds.values()], effort=effort)
        proofs.append(exact)
        return Outcome(*flagged_shares(wholes, _threshold_points(wholes, places)), places)

    if goal.objective is None:
        places = solve(goal.costs).solution
    else:
        places = maximize(str(goal.objective), class_shares(wholes), solve)
    return places, all(proofs)


def _describe_trivial(regions: list[RocRegion], places: list[int]) -> str:
    """Return "nobody" or "everybody" if all groups are decided that way; otherwise an empty text."""
    flagged = {float(region.flag_rate[at]) for region, at in zip(regions, places, strict=True)}
    if flagged == {0.0}:
        return "nobody"
    return "everybody" if flagged == {1.0} else ""


def _deterministic_notes(policy: Policy, trivial: str) -> Iterator[str]:
    """Warn of a trivial solution, and of a search that ended early."""
    settings = policy.settings
    by_cost = "objective" not in settings
    name, better = ("cost per person", "cheaper") if by_cost else (settings["objective"], "better")
    value, bound = settings.get("cost" if by_cost else "value", nan), settings.get("bound", nan)
    # An undefined value has no text; that of nobody or everybody may be one.
    shown = "undefined" if isnan(value) else f"{value:.6g}"
    if trivial and not abs(bound - value) <= ROC_TOLERANCE:
        yield (
            f"{trivial} is flagged: no thresholds within the tolerance are {better}. The {name} is {shown}, "
            f"and {bound:.6g} with a randomized policy; allow a greater difference, or randomization."
        )
    if not settings["exact"]:
        yield (
            f"the search stopped before it ruled out all thresholds: the {name} is {shown}, that of any "
            f"policy at {'least' if by_cost else 'most'} {bound:.6g}. Pool scores with Tally.rounded for the proven "
            "optimum."
        )


class CommonCounts(NamedTuple):
    """Counts of groups that share a threshold, at each of several thresholds."""

    cells: Floats
    """Total mass over groups: tp, fp, fn and tn."""
    least: Mapping[str, Floats]
    """Lowest value of each rate over groups."""
    most: Mapping[str, Floats]

    def at(self, places: Any) -> CommonCounts:  # noqa: ANN401  (any index of an array)
        """Return the counts at some of the thresholds."""
        least, most = ({rate: each[places] for rate, each in ends.items()} for ends in (self.least, self.most))
        return CommonCounts(self.cells[:, places], least, most)


def pool_curves(curves: Collection[Curve]) -> Curve:
    """Pool the curves of all groups, with every threshold that occurs in one of them."""
    return Curve(Tally.sum(curve.tally for curve in curves))


def count_at_thresholds(curves: Collection[Curve], thresholds: Floats, rates: Collection[str]) -> CommonCounts:
    """Count the outcomes of groups, and the range of their rates, at each threshold."""
    tables = [curve.at(thresholds) for curve in curves]
    values = {rate: [MEASURES[rate](table) for table in tables] for rate in rates}
    cells = np.array([sum(getattr(table, cell) for table in tables) for cell in ("tp", "fp", "fn", "tn")])
    least, most = ({rate: end(each, axis=0) for rate, each in values.items()} for end in (np.min, np.max))
    return CommonCounts(cells, least, most)


def rate_spreads(sides: Collection[CommonCounts], rates: Collection[str]) -> dict[str, Floats]:
    """Compute the greatest difference of each rate between two groups."""
    spreads = {}
    for rate in rates:
        first, *others = sides
        most, least = first.most[rate], first.least[rate]
        for other in others:
            most, least = np.maximum(most, other.most[rate]), np.minimum(least, other.least[rate])
        spreads[rate] = most - least
    return spreads


def excess_over_bounds(sides: Collection[CommonCounts], bounds: Mapping[str, float]) -> Floats:
    """Compute the greatest excess of a rate difference over its bound; −inf where nothing is bounded."""
    excess = np.full(np.broadcast_shapes(*(side.cells.shape[1:] for side in sides)), -np.inf)
    for rate, spread in rate_spreads(sides, bounds).items():
        np.maximum(excess, spread - bounds[rate], out=excess)
    return excess


COMMON_RULE = "group-blind"


@accepts_predictions("groups")
def common_threshold(
    groups: Groups,
    goal: Goal,
    *,
    model: str | None = None,
    otherwise: str = REFUSE,
    **predictions: Unpack[PredictionOptions],
) -> Policy:
    """Find the best single threshold for everybody under a parity constraint; the policy does not use the group.

    All observed thresholds are tried, and flagging nobody, which satisfies any parity.

    Parameters
    ----------
    groups, goal, model
        As in `optimal_policy`.
    otherwise
        Any action excludes groups that lack a required class from the choice; by default they are an error.

    Returns
    -------
    Policy
        One cut for everybody. `settings` contain its `cost`, its `price` (the cost above that of the best single
        threshold without a parity), and `bound`, the cost of the best policy by group.

    Examples
    --------
    >>> from baserate import curve, fairness, tally
    >>> f = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> m = curve(tally([1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.6, 0.5, 0.3, 0.1]))
    >>> policy = fairness.common_threshold({"f": f, "m": m}, fairness.Goal("equal-opportunity", within=0.1))
    >>> policy
    Policy(group-blind; flag ≥ 0.9)
    >>> policy.threshold, round(policy.settings["cost"], 6), round(policy.settings["price"], 6)
    (0.9, 0.333333, 0.083333)
    """
    participants = select_participants(groups, goal, model=model, otherwise=otherwise)
    curves = participants.curves.values()
    pooled = pool_curves(curves)
    common = count_at_thresholds(curves, pooled.threshold, goal.bounds)
    feasible, counts = excess_over_bounds([common], goal.bounds) <= SLACK, Counts(*common.cells)
    cost = expected_cost(counts, costs=goal.costs)
    worth = -cost if goal.measure is None else np.nan_to_num(np.asarray(goal.measure(counts)))
    # Not None: flagging nobody is always feasible.
    at = strictest_maximum(np.where(feasible, worth, -np.inf)) or 0
    regions = [*roc_regions(participants, reversal=participants.has_labels).values()]
    price = max(float(worth.max() - worth[at]), 0.0)
    settings = {"cost": float(cost[at]), "price": price, "bound": best_value(regions, goal.tolerances, goal)}
    if goal.measure is not None:
        settings = value_settings(**settings, value=float(goal.measure(counts[at])))
    policy = participants.policy({(): Cut((threshold_at(pooled, at),))}, rule=COMMON_RULE, settings=settings)
    return replace(policy, notes=(*policy.notes, *_common_notes(goal, counts[feasible])))


def _common_notes(goal: Goal, feasible: Counts[Floats]) -> list[str]:
    """Warn if only flagging nobody or everybody satisfies the parity."""
    if np.any((feasible.flagged > 0) & (feasible.not_flagged > 0)):
        return []
    names = " and ".join(each.name for each in goal.parities)
    only = f"only flagging nobody or everybody keeps {names} within {goal.settings['within']} by a single threshold"
    return [f"{only}; allow a greater difference, or group-specific thresholds."]


CROSSING_RULE = "crossing"
Ends = tuple[float, float]
"""Least and greatest score."""


@dataclass(frozen=True, slots=True, eq=False)
class RocCrossing:
    """Point of ROC space that two groups share, and the mixture of thresholds with which each reaches it."""

    fpr: float
    tpr: float
    first: Mixture[float]
    second: Mixture[float]
    ends: tuple[Ends, Ends]
    """The least and the greatest score of the first group, and of the second."""

    __repr__ = short_repr

    @property
    def thresholds(self) -> tuple[float, float]:
        """Threshold of each group at the crossing: the strict and the lax one, averaged by their probabilities."""
        (_, top), (_, other) = self.ends
        return _mean_threshold(self.first, top), _mean_threshold(self.second, other)

    @property
    def scale(self) -> ScoreScale:
        """Transformation of the second group's scores to the scale of the first, on which one threshold serves both.

        It maps the threshold of the second group to that of the first, and the ends of the second scale to those of the
        first. If the crossing is at an end of the first scale, scores beyond it keep their distance.
        """
        (low, high), (least, greatest) = self.ends
        first_threshold, second_threshold = self.thresholds
        below = low if low < first_threshold else first_threshold - (second_threshold - least)
        above = high if high > first_threshold else first_threshold + (greatest - second_threshold)
        knots = {least: below, greatest: above, second_threshold: first_threshold}
        return ScoreScale(tuple(sorted(knots)), tuple(knots[at] for at in sorted(knots)))


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """Piecewise linear transformation of scores of one group to the scale of another; beyond the knots it is a shift.

    >>> ScoreScale((0.0, 0.4, 1.0), (0.0, 0.6, 1.0))(np.array([-1.0, 0.2, 0.4, 0.7, 2.0])).round(9).tolist()
    [-1.0, 0.3, 0.6, 0.8, 2.0]
    """

    x: tuple[float, ...]
    """Knots on the original scale, ascending."""
    y: tuple[float, ...]
    """Knots on the other scale."""

    def __call__(self, score: npt.ArrayLike) -> Floats:
        """Transform scores to the other scale."""
        scores = np.asarray(score, dtype=np.float64)
        beyond = np.minimum(scores - self.x[0], 0.0) + np.maximum(scores - self.x[-1], 0.0)
        rescaled: Floats = np.interp(scores, self.x, self.y) + beyond
        return rescaled


@accepts_two("curve")
def roc_crossings(first: Curve, second: Curve, *, hull: bool = False) -> tuple[RocCrossing, ...]:
    """Find all points between (0, 0) and (1, 1) where two ROC curves cross, from left to right.

    To cross is to change sides; curves that only touch do not cross. Curves that coincide for a while and then part to
    other sides cross once, at the strictest point that they share. Both curves are monotone, so each has one point on
    every line FPR + TPR = s, and a crossing is a change of order of these points.

    Parameters
    ----------
    first, second
        Curves of two groups, each with both classes.
    hull
        Whether to use the convex hulls of the curves.

    Returns
    -------
    tuple of RocCrossing
        Crossings, strictest first.

    Examples
    --------
    >>> from baserate import curve, tally
    >>> f = curve(tally([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> m = curve(tally([1, 1, 0, 0, 1, 0], [0.8, 0.7, 0.6, 0.5, 0.3, 0.1]))
    >>> [(round(each.fpr, 4), round(each.tpr, 4), each.thresholds) for each in roc_crossings(f, m)]
    [(0.3333, 0.6667, (0.7, 0.6))]
    """
    for curve in (first, second):
        check_curve(curve)
        require_both_classes(curve, "a ROC curve")
    one, other = (_RocPath(curve.hull() if hull else curve) for curve in (first, second))
    ends = _score_range(first), _score_range(second)
    along = np.unique(np.concatenate([one.along, other.along]))
    places = _sign_changes(along, one.across(along) - other.across(along)).tolist()
    return tuple(RocCrossing(*one.point(at), one.mixture(at), other.mixture(at), ends) for at in places)


@accepts_predictions("groups")
def choose_roc_crossing(
    groups: Groups,
    goal: Goal,
    *,
    model: str | None = None,
    otherwise: str = REFUSE,
    **predictions: Unpack[PredictionOptions],
) -> Policy:
    """Choose the cheapest point where the ROC curves of two groups, or their hulls, cross.

    Both groups have the same true and false positive rate there, so equalized odds hold exactly, whatever the
    tolerances of the goal.

    Parameters
    ----------
    groups, model, otherwise
        As in `optimal_policy`, of two groups.
    goal
        Costs and prevalence; its parity must not include flag rates.

    Returns
    -------
    Policy
        A randomized cut for each group. `settings` contain its `cost`, that of the best common point (`bound`), the
        difference (`above`), the `thresholds` of the crossing, and the knots of the transformation of scores (`scale`).
        With an objective they contain its `value`, and `bound` and `above` are of the objective.

    Raises
    ------
    InfeasibleError
        If neither the curves nor their hulls cross.

    Examples
    --------
    >>> from baserate import curve, fairness, tally
    >>> f = curve(tally([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> m = curve(tally([1, 1, 0, 0, 1, 0], [0.8, 0.7, 0.6, 0.5, 0.3, 0.1]))
    >>> policy = fairness.choose_roc_crossing({"f": f, "m": m}, fairness.Goal("equalized-odds"))
    >>> [round(policy.settings[name], 4) for name in ("cost", "bound", "above")]
    [0.2222, 0.2222, 0.0]
    >>> [round(chance, 4) for chance in policy.by_group["f",].chances]
    [0.3333, 0.6667]
    """
    if "flag_rate" in goal.rates:
        raise OptionError("flag rates are not equal where ROC curves cross", remedy="use fairness.optimal_policy.")
    exact_goal = replace(goal, parity="equalized-odds", within=0.0)
    participants = select_participants(groups, exact_goal, model=model, otherwise=otherwise)
    regions = roc_regions(participants)
    if len(regions) != 2:
        raise OptionError(f"{len(regions)} groups take part; expected two.", remedy="Use fairness.optimal_policy.")
    candidates = _all_crossings(*participants.curves.values())
    several = [*regions.values()]
    places = [np.array([[each.fpr, each.tpr]] * 2) for each in candidates]
    sign = -1.0 if goal.objective is None else 1.0
    worth = [sign * points_value(several, each, goal) for each in places]
    at = strictest_maximum(np.nan_to_num(worth)) or 0
    # Rounding may put the computed optimum below the worth of the crossing.
    best = max(sign * best_value(several, exact_goal.tolerances, goal), worth[at])
    values = {"bound": sign * best, "above": best - worth[at]} | (
        {} if goal.objective is None else {"value": worth[at]}
    )
    settings: dict[str, Any] = {"cost": total_cost(several, places[at], goal.costs), **value_settings(**values)}
    settings["thresholds"] = candidates[at].thresholds
    settings["scale"] = [*zip(candidates[at].scale.x, candidates[at].scale.y, strict=True)]
    treatments = map(_randomized_treatment, (candidates[at].first, candidates[at].second))
    return participants.policy(dict(zip(regions, treatments, strict=True)), rule=CROSSING_RULE, settings=settings)


def _all_crossings(first: Curve, second: Curve) -> list[RocCrossing]:
    """List the crossings of curves and of hulls, strictest first."""
    crossings = [each for hull in (False, True) for each in roc_crossings(first, second, hull=hull)]
    if not crossings:
        what = "neither the ROC curves of the two groups nor their hulls cross"
        raise InfeasibleError(what, remedy="use fairness.optimal_policy.")
    return sorted(crossings, key=lambda each: each.fpr + each.tpr)


class _RocPath:
    """ROC curve parametrized by FPR + TPR, which always grows along it."""

    def __init__(self, curve: Curve) -> None:
        false, true = roc_rates(curve)
        along = false + true
        # Thresholds without mass repeat a point; interpolation needs strictly increasing positions.
        advances = np.append(True, along[1:] > along[:-1])
        self.threshold = curve.threshold[advances]
        self.false, self.true, self.along = false[advances], true[advances], along[advances]

    def across(self, along: Floats) -> Floats:
        """Return the distance from the diagonal, TPR − FPR."""
        distance: Floats = np.interp(along, self.along, self.true - self.false)
        return distance

    def mixture(self, at: float) -> Mixture[float]:
        """Return the mixture of thresholds that reaches a point; at a threshold it is that threshold with certainty."""
        lax, chance = self._part(at)
        return Mixture(float(self.threshold[lax - 1]), float(self.threshold[lax]), chance)

    def point(self, at: float) -> tuple[float, float]:
        """Return FPR and TPR of a point."""
        lax, chance = self._part(at)
        false, true = ((1 - chance) * each[lax - 1] + chance * each[lax] for each in (self.false, self.true))
        return float(false), float(true)

    def _part(self, at: float) -> tuple[int, float]:
        """Return the index of the lax threshold of a point, and its probability."""
        lax = max(int(np.searchsorted(self.along, at - ROC_TOLERANCE)), 1)
        start, stop = self.along[lax - 1 : lax + 1].tolist()
        return lax, 1.0 if stop - at <= ROC_TOLERANCE else (at - start) / (stop - start)


def _sign_changes(along: Floats, difference: Floats) -> Floats:
    """Find where a piecewise linear function changes sign; on a stretch of zeros, at its start."""
    off = np.flatnonzero(np.abs(difference) > ROC_TOLERANCE)
    before, after = off[:-1], off[1:]
    changes_sign = np.signbit(difference[before]) != np.signbit(difference[after])
    before, after = before[changes_sign], after[changes_sign]
    part = difference[before] / (difference[before] - difference[after])
    between = along[before] + part * (along[after] - along[before])
    changes: Floats = np.where(after == before + 1, between, along[before + 1])
    return changes


def _score_range(curve: Curve) -> Ends:
    return float(curve.tally.score[-1]), float(curve.tally.score[0])


def _mean_threshold(mixture: Mixture[float], top: float) -> float:
    # The strictest threshold is inf, which no average can use: the greatest score stands for it.
    strict = min(mixture.strict, top)
    between = (1 - mixture.chance) * strict + mixture.chance * mixture.lax
    # An average may round to outside of both thresholds.
    return min(max(between, mixture.lax), strict)


def _randomized_treatment(mixture: Mixture[float]) -> Treatment:
    cuts = [Cut((mixture.strict,)), Cut((mixture.lax,))]
    return randomize_cuts(cuts, np.array([1 - mixture.chance, mixture.chance]))
