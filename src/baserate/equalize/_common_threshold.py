"""Common threshold: counts and rates of groups at shared thresholds, and the best single threshold under a parity."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._cut import Cut
from baserate._policy import REFUSE, Policy
from baserate._tally import Tally
from baserate.decide import strictest_maximum, threshold_at
from baserate.equalize._optimum import least_cost, roc_regions
from baserate.equalize._parities import SLACK, Goal
from baserate.equalize._participants import Groups, select_participants
from baserate.measure import MEASURES, expected_cost


class CommonCounts(NamedTuple):
    """Counts of groups that share a threshold, at each of several thresholds."""

    cells: Floats
    """Total mass over groups: tp, fp, fn and tn."""
    least: Mapping[str, Floats]
    """Lowest value of each rate over groups."""
    most: Mapping[str, Floats]

    def at(self, places: Any) -> CommonCounts:  # noqa: ANN401  (whatever an array is indexed by)
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
    return CommonCounts(
        cells,
        {rate: np.min(each, axis=0) for rate, each in values.items()},
        {rate: np.max(each, axis=0) for rate, each in values.items()},
    )


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


RULE = "group-blind"


def common_threshold(groups: Groups, goal: Goal, *, model: str | None = None, otherwise: str = REFUSE) -> Policy:
    """Find the best single threshold for everybody under a parity constraint; the policy does not use the group.

    All observed thresholds are tried, and flagging nobody, which satisfies any parity.

    Parameters
    ----------
    groups
        Tallies that were read with groups, or a mapping from groups to curves.
    goal
        Parities, tolerances, costs and prevalence.
    model
        Model to use, if the tallies have several.
    otherwise
        Any action excludes groups that lack a required class from the choice; by default they are an error.

    Returns
    -------
    Policy
        One cut for everybody. `settings` contain its `cost`, its `price` (the cost above that of the best single
        threshold without a parity), and `bound`, the cost of the best policy by group.

    Examples
    --------
    >>> from baserate import curve, equalize, tally
    >>> f = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> m = curve(tally([1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.6, 0.5, 0.3, 0.1]))
    >>> policy = equalize.common_threshold({"f": f, "m": m}, equalize.Goal("equal-opportunity", within=0.1))
    >>> policy
    Policy(group-blind)
    >>> policy.threshold, round(policy.settings["cost"], 6), round(policy.settings["price"], 6)
    (0.9, 0.333333, 0.083333)
    """
    participants = select_participants(groups, goal, model=model, otherwise=otherwise)
    curves = participants.curves.values()
    pooled = pool_curves(curves)
    counts_by_threshold = count_at_thresholds(curves, pooled.threshold, goal.bounds)
    feasible, counts = (
        excess_over_bounds([counts_by_threshold], goal.bounds) <= SLACK,
        Counts(*counts_by_threshold.cells),
    )
    cost = expected_cost(counts, costs=goal.costs)
    at = strictest_maximum(np.where(feasible, -cost, -np.inf))
    least = float(cost[at])
    regions = [*roc_regions(participants, reversal=participants.has_labels).values()]
    bound = least_cost(regions, goal.tolerances, goal.costs)
    settings = {"cost": least, "price": max(least - float(cost.min()), 0.0), "bound": bound}
    policy = participants.policy({(): Cut((threshold_at(pooled, at),))}, rule=RULE, settings=settings)
    return replace(policy, notes=(*policy.notes, *_notes(goal, counts[feasible])))


def _notes(goal: Goal, feasible: Counts[Floats]) -> list[str]:
    """Warn if only flagging nobody or everybody satisfies the parity."""
    if np.any((feasible.flagged > 0) & (feasible.passed > 0)):
        return []
    names = " and ".join(each.name for each in goal.parities)
    only = f"no single threshold keeps {names} within {goal.settings['within']} but to flag nobody, or everybody"
    return [f"{only}; allow more, or treat groups apart."]
