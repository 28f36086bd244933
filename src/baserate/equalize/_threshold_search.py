"""Threshold search: one deterministic threshold for each group, of least cost under parity tolerances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import inf

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats
from baserate._policy import REFUSE, Policy
from baserate.decide import RELATIVE_TOLERANCE, strictest_maximum
from baserate.equalize._optimum import ROC_TOLERANCE, RocRegion, least_cost, roc_rates, roc_regions
from baserate.equalize._parities import SLACK, Goal
from baserate.equalize._participants import Groups, select_participants

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

    Parameters
    ----------
    groups
        Thresholds of each group.
    bounds
        Greatest allowed difference of each rate.
    effort
        Number of boxes after which the search stops with the incumbent.

    Returns
    -------
    tuple
        Index of the threshold of each group, and whether the solution is proven optimal.
    """
    search = _Search(groups, bounds)
    boxes, incumbent, n_boxes = search.everything, search.nobody, 0
    while len(boxes.cost_bound) and n_boxes < effort:
        # Cheapest boxes first, ties by the lowest rates: the incumbent improves early and prunes the rest.
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
        """Whether a box may contain a cheaper solution than the incumbent, or an equally cheap one with lower rates."""
        before, same = (
            np.zeros(len(boxes.cost_bound), dtype=bool),
            np.ones(len(boxes.cost_bound), dtype=bool),
        )
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
        power = np.frexp(last - first + 1)[1] - 1
        start = self.start[power]
        minimum: Floats = np.minimum(self.flat[start + first], self.flat[start + last + 1 - (1 << power)])
        return minimum


RULE = "deterministic"
_MAX_EXACT = 2000
"""Distinct scores of a group up to which the search runs until it proves optimality."""
_MAX_BOXES = 5_000_000
"""Boxes after which the search may stop, if a group has more scores."""


def deterministic_thresholds(
    groups: Groups, goal: Goal, *, model: str | None = None, otherwise: str = REFUSE
) -> Policy:
    """Find one threshold for each group, without randomization: least expected cost under the parity tolerances.

    Thresholds reach only some rates, so exact parity often leaves only flagging nobody; use a tolerance.

    Parameters
    ----------
    groups
        Tallies that were read with groups, or a mapping from groups to curves.
    goal
        Parities, tolerances, costs and prevalence.
    model
        Model to use, if the tallies have several.
    otherwise
        Action for groups that lack a class that the parity requires; by default they are an error.

    Returns
    -------
    Policy
        One cut for each group. `settings` contain its `cost`, the `bound` below which no policy with these tolerances
        can be, and whether the thresholds are proven optimal (`exact`). With up to 2000 distinct scores in each group
        they are; with more they nearly always are, and otherwise a note says so.

    Examples
    --------
    >>> from baserate import curve, equalize, tally
    >>> f = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> m = curve(tally([1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.6, 0.5, 0.3, 0.1]))
    >>> policy = equalize.deterministic_thresholds({"f": f, "m": m}, equalize.Goal("equalized-odds", within=0.34))
    >>> policy.by_group["f",].threshold, policy.by_group["m",].threshold, round(policy.settings["cost"], 4)
    (0.8, 0.9, 0.25)
    """
    participants = select_participants(groups, goal, model=model, otherwise=otherwise)
    regions = roc_regions(participants)
    wholes = [_all_thresholds(each) for each in regions.values()]
    # A tolerance of 1 or more constrains nothing, but would add a dimension to the search.
    bounds = goal.bounds or goal.tolerances
    choices = [_threshold_choices(each, goal, [*bounds]) for each in wholes]
    few = max(len(each.cost) for each in choices) <= _MAX_EXACT + 1
    places, exact = search_thresholds(choices, [*bounds.values()], effort=inf if few else _MAX_BOXES)
    cost = float(sum(each.cost[at] for each, at in zip(choices, places, strict=True)))
    least = least_cost([*regions.values()], goal.tolerances, goal.costs)
    cuts = {group: each.cut(at) for group, each, at in zip(regions, wholes, places, strict=True)}
    settings = {"cost": cost, "bound": min(least, cost), "exact": exact}
    policy = participants.policy(cuts, rule=RULE, settings=settings)
    trivial = _describe_trivial(wholes, places)
    return replace(policy, notes=(*policy.notes, *_notes(policy, trivial)))


def _all_thresholds(region: RocRegion) -> RocRegion:
    """Replace the hull of a group by all of its thresholds."""
    curve = region.curve
    false, true = roc_rates(curve)
    threshold = curve.threshold
    return replace(region, threshold=threshold, is_reversed=np.zeros(len(threshold), dtype=bool), fpr=false, tpr=true)


def _threshold_choices(region: RocRegion, goal: Goal, rates: list[str]) -> ThresholdChoices:
    """Return costs and rates of all thresholds of a group."""
    cost = region.cost(goal.costs, region.fpr, region.tpr)
    return ThresholdChoices(cost, np.array([region.rate(rate) for rate in rates]))


def _describe_trivial(regions: list[RocRegion], places: list[int]) -> str:
    """Return "nobody" or "everybody" if that is who is flagged in all groups; otherwise an empty text."""
    flagged = {float(region.flag_rate[at]) for region, at in zip(regions, places, strict=True)}
    if flagged == {0.0}:
        return "nobody"
    return "everybody" if flagged == {1.0} else ""


def _notes(policy: Policy, trivial: str) -> Iterator[str]:
    """Warn of a trivial solution, and of a search that ended early."""
    cost, bound, exact = (policy.settings[name] for name in ("cost", "bound", "exact"))
    if trivial and cost - bound > ROC_TOLERANCE:
        yield (
            f"{trivial} is flagged: no thresholds that keep the parity so closely are cheaper. A case costs "
            f"{cost:.6g}, "
            f"with lots {bound:.6g}; allow a greater difference, or a randomized policy."
        )
    if not exact:
        yield (
            f"the search was ended before all thresholds were ruled out: a case costs {cost:.6g}, and no policy can be "
            f"below {bound:.6g}; take a coarser score, with Tally.rounded, to be sure."
        )
