"""The best single threshold that keeps a parity: what can be had without asking who is who."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from baserate._arrays import Floats
from baserate._counts import Counts
from baserate._cut import Cut
from baserate._policy import REFUSE, Policy
from baserate.decide import strictest, threshold_at
from baserate.equalize._goal import SLACK, Goal
from baserate.equalize._optimum import regions_of
from baserate.equalize._people import Groups, people_of
from baserate.equalize._sides import everybody, excess, side
from baserate.equalize._solve import least_cost
from baserate.measure import expected_cost

RULE = "group-blind"


def blind(groups: Groups, goal: Goal, *, model: str | None = None, otherwise: str = REFUSE) -> Policy:
    """Choose one threshold for everybody: the least expected cost of a case at which the parity holds.

    The policy asks for no group. All thresholds that were seen are tried, and to flag nobody, which keeps any parity.
    `settings` tell its `cost`; its `price`, which is what that is more than the best single threshold without a parity
    costs; and its `bound`, the cost of the best policy that may ask for groups and draw lots. With an action in
    `otherwise` a group without rows of a class that the parity asks for plays no part in the choice.

    >>> from baserate import curve, equalize, tally
    >>> f = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> m = curve(tally([1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.6, 0.5, 0.3, 0.1]))
    >>> policy = equalize.blind({"f": f, "m": m}, equalize.Goal("equal-opportunity", within=0.1))
    >>> policy
    Policy(group-blind)
    >>> policy.threshold, round(policy.settings["cost"], 6), round(policy.settings["price"], 6)
    (0.9, 0.333333, 0.083333)
    """
    people = people_of(groups, goal, model=model, otherwise=otherwise)
    curves = people.curves.values()
    pooled = everybody(curves)
    found = side(curves, pooled.threshold, goal.bounds)
    kept, counts = excess([found], goal.bounds) <= SLACK, Counts(*found.cells)
    cost = expected_cost(counts, costs=goal.costs)
    at = strictest(np.where(kept, -cost, -np.inf))
    least = float(cost[at])
    regions = [*regions_of(people, reversal=people.labels).values()]
    bound = least_cost(regions, goal.tolerances, goal.costs)
    settings = {"cost": least, "price": max(least - float(cost.min()), 0.0), "bound": bound}
    policy = people.policy({(): Cut((threshold_at(pooled, at),))}, rule=RULE, settings=settings)
    return replace(policy, notes=(*policy.notes, *_notes(goal, counts[kept])))


def _notes(goal: Goal, kept: Counts[Floats]) -> list[str]:
    """Say it where no threshold keeps the parity but those for which no score is needed."""
    if np.any((kept.flagged > 0) & (kept.passed > 0)):
        return []
    names = " and ".join(each.name for each in goal.parities)
    only = f"no single threshold keeps {names} within {goal.told['within']} but to flag nobody, or everybody"
    return [f"{only}; allow more, or treat groups apart."]
