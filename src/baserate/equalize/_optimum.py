"""The cheapest policy that keeps a parity between groups, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baserate._policy import REFUSE, Policy
from baserate._tally import Group
from baserate.equalize._goal import Goal
from baserate.equalize._people import Groups, People, people_of
from baserate.equalize._region import Region, region
from baserate.equalize._solve import solved, total

RULE = "equalized"


def optimum(
    groups: Groups, goal: Goal, *, model: str | None = None, otherwise: str = REFUSE, reversal: bool = False
) -> Policy:
    """Choose a cut or a lottery for each group: the least expected cost of a case at which the parity holds.

    `groups` are tallies that were read in groups, or a mapping from groups to curves; of several models one is named.
    With equalized odds to the last digit all groups are at the cheapest point that each of them can have, which lies on
    the lower envelope of their ROC hulls [@hardt2016]; a group that could do better is held back by lots. Bounds on one
    rate are a problem of one dimension, all else is a small linear program. No other policy of the scores and the
    groups is cheaper. With `reversal` what is below a threshold may be flagged: so labels, which are scores of two
    values, are post-processed as Hardt and others do. A group without rows of a class that the parity asks for is an
    error unless there is an action for all others, `otherwise`.

    >>> from baserate import Costs, curve, equalize, tally
    >>> f = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> m = curve(tally([1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.6, 0.5, 0.3, 0.1]))
    >>> policy = equalize.optimum({("f",): f, ("m",): m}, equalize.Goal("equal-opportunity", costs=Costs(fp=1, fn=1)))
    >>> policy.by_group["f",], policy.by_group["m",]
    (Cut(thresholds=(0.8,), actions=('pass', 'flag')), Cut(thresholds=(0.6,), actions=('pass', 'flag')))
    """
    people = people_of(groups, goal, model=model, otherwise=otherwise)
    return cheapest(people, goal.tolerances, reversal=reversal or people.labels)


def cheapest(people: People, tolerances: Mapping[str, float], *, reversal: bool) -> Policy:
    """Choose for people that are known, with rates that lie no further apart than these tolerances."""
    regions = regions_of(people, reversal=reversal)
    points = solved(list(regions.values()), tolerances, people.goal.costs)
    by_group = {
        group: region.treatment(*map(float, point))
        for (group, region), point in zip(regions.items(), points, strict=True)
    }
    settings: dict[str, Any] = {"reversal": True} if reversal else {}
    settings["cost"] = total(list(regions.values()), points, people.goal.costs)
    return people.policy(by_group, rule=RULE, settings=settings)


def regions_of(people: People, *, reversal: bool = False) -> dict[Group, Region]:
    """What each group that takes part can have."""
    return {
        group: region(curve, positive=float(positive), negative=float(negative), reversal=reversal)
        for (group, curve), (positive, negative) in zip(people.curves.items(), people.shares.T, strict=True)
    }
