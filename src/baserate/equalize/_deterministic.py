"""The cheapest thresholds that keep a parity within a tolerance, without lots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf

import numpy as np

from baserate._policy import REFUSE, Policy
from baserate.equalize._goal import Goal
from baserate.equalize._optimum import regions_of
from baserate.equalize._people import Groups, people_of
from baserate.equalize._region import CLOSE, Region, roc
from baserate.equalize._solve import least_cost
from baserate.equalize._windows import Choices, cheapest

RULE = "deterministic"
_EXACT = 2000
"""Distinct scores of a group up to which the search goes on until nothing can be cheaper."""
_EFFORT = 5_000_000
"""Steps after which it may stop, if there are more."""


def deterministic(groups: Groups, goal: Goal, *, model: str | None = None, otherwise: str = REFUSE) -> Policy:
    """Choose one threshold for each group, without lots: the least expected cost of a case within the tolerances.

    Thresholds reach only some rates, so that parity to the last digit often leaves nothing but to flag nobody; give a
    tolerance. `settings` hold what a case is expected to cost (`cost`), what no policy with these tolerances can be
    cheaper than, lots or not (`bound`), and whether no other thresholds are cheaper (`exact`). With 2000 distinct
    scores or fewer in each group that is so; with more it nearly always is, and otherwise a note says so. Groups are as
    in `optimum`.

    >>> from baserate import curve, equalize, tally
    >>> f = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> m = curve(tally([1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.6, 0.5, 0.3, 0.1]))
    >>> policy = equalize.deterministic({"f": f, "m": m}, equalize.Goal("equalized-odds", within=0.34))
    >>> policy.by_group["f",].threshold, policy.by_group["m",].threshold, round(policy.settings["cost"], 4)
    (0.8, 0.9, 0.25)
    """
    people = people_of(groups, goal, model=model, otherwise=otherwise)
    regions = regions_of(people)
    wholes = [_whole(each) for each in regions.values()]
    # A bound that no two rates can break would only make more of them to look at.
    bounds = goal.bounds or goal.tolerances
    choices = [_choices(each, goal, [*bounds]) for each in wholes]
    few = max(len(each.cost) for each in choices) <= _EXACT + 1
    places, exact = cheapest(choices, [*bounds.values()], effort=inf if few else _EFFORT)
    cost = float(sum(each.cost[at] for each, at in zip(choices, places, strict=True)))
    least = least_cost([*regions.values()], goal.tolerances, goal.costs)
    cuts = {group: each.cut(at) for group, each, at in zip(regions, wholes, places, strict=True)}
    settings = {"cost": cost, "bound": min(least, cost), "exact": exact}
    policy = people.policy(cuts, rule=RULE, settings=settings)
    alike = _alike(wholes, places)
    return replace(policy, notes=(*policy.notes, *_notes(policy, alike)))


def _whole(region: Region) -> Region:
    """All thresholds of a group in place of its hull."""
    curve = region.curve
    false, true = roc(curve)
    threshold = curve.threshold
    return replace(region, threshold=threshold, turned=np.zeros(len(threshold), dtype=bool), fpr=false, tpr=true)


def _choices(region: Region, goal: Goal, rates: list[str]) -> Choices:
    cost = region.cost(goal.costs, region.fpr, region.tpr)
    return Choices(cost, np.array([region.rate(rate) for rate in rates]))


def _alike(regions: list[Region], places: list[int]) -> str:
    """Who is flagged, if that is nobody in all groups or everybody; otherwise nothing."""
    flagged = {float(region.flag_rate[at]) for region, at in zip(regions, places, strict=True)}
    if flagged == {0.0}:
        return "nobody"
    return "everybody" if flagged == {1.0} else ""


def _notes(policy: Policy, alike: str) -> Iterator[str]:
    cost, bound, exact = (policy.settings[name] for name in ("cost", "bound", "exact"))
    if alike and cost - bound > CLOSE:
        yield (
            f"{alike} is flagged: no thresholds that keep the parity so closely are cheaper. A case costs {cost:.6g}, "
            f"with lots {bound:.6g}; allow more with within=, or draw lots with equalize.optimum."
        )
    if not exact:
        yield (
            f"the search was ended before all thresholds were ruled out: a case costs {cost:.6g}, and no policy can be "
            f"below {bound:.6g}; take a coarser score, with Tally.rounded, to be sure."
        )
