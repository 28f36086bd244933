"""What a parity costs: the least cost at each tolerance, from parity to the last digit up to none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from math import floor, log10
from typing import Any

import numpy as np

from baserate._arrays import Floats
from baserate._costs import Costs
from baserate._errors import OptionError
from baserate._policy import REFUSE
from baserate._results import Results
from baserate.calibrate import Watch
from baserate.equalize._blind import blind
from baserate.equalize._deterministic import deterministic
from baserate.equalize._goal import Goal
from baserate.equalize._optimum import regions_of
from baserate.equalize._people import Groups, People, named, people_of
from baserate.equalize._rates import by_lot
from baserate.equalize._region import CLOSE, Region
from baserate.equalize._solve import solved, total, vertex_costs
from baserate.measure import header

WAYS = {"deterministic_cost": deterministic, "blind_cost": blind}
"""Column -> what keeps the same tolerance with less freedom."""
_MANY = 25
"""Tolerances that are looked at, at most, if none are given."""
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def frontier(
    groups: Groups,
    goal: Goal,
    *,
    within: Iterable[float] | None = None,
    model: str | None = None,
    otherwise: str = REFUSE,
    watch: Watch | None = None,
) -> Results:
    """Tell what a parity costs at each tolerance, `within`, which is the same for all rates that shall agree.

    If none are given, they go from 0 to where the `price` is 0, `data["free_from"]`: to the least gap of what is
    cheapest without any parity. A `gap` is the greatest difference between two groups in a rate that the parity asks
    for. `lottery` is the share of everybody whose scores are decided by lot; `binds` names the groups whose scores
    could not do better, so that they hold the others back. The last two columns tell the least cost without lots, and
    with one threshold for all groups. What the goal itself says of tolerances does not matter. `watch` is told how many
    tolerances of how many are done.

    >>> from baserate import curve, equalize, tally
    >>> f = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> m = curve(tally([1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.6, 0.5, 0.3, 0.1]))
    >>> found = equalize.frontier({"f": f, "m": m}, equalize.Goal("equalized-odds"), within=[0, 0.1, 1])
    >>> [(row["within"], round(row["cost"], 3), round(row["price"], 3)) for row in found.rows()]
    [(0.0, 0.333, 0.083), (0.1, 0.283, 0.033), (1.0, 0.25, 0.0)]
    >>> round(found.data["free_from"], 3)
    0.167
    """
    goal = replace(goal, within=0.0)
    people = people_of(groups, goal, model=model, otherwise=otherwise)
    regions = list(regions_of(people, reversal=people.labels).values())
    free = solved(regions, dict.fromkeys(goal.rates, np.inf), goal.costs)
    gap, least = _gap(regions, free, goal.rates), total(regions, free, goal.costs)
    nearest = _nearest(regions, goal)
    rows = []
    asked = _spread(nearest) if within is None else _given(within)
    for aim in [replace(goal, within=each) for each in asked]:
        most = min(aim.tolerances.values())
        points = free if gap <= most else solved(regions, aim.tolerances, goal.costs)
        cost = total(regions, points, goal.costs)
        told = {"within": most, "cost": cost, "price": max(cost - least, 0.0)}
        rows.append(told | _described(people, regions, points) | _other_ways(people, aim))
        if watch is not None:
            watch(len(rows), len(asked))
    return Results({name: [row[name] for row in rows] for name in rows[0]}, _head(people, free, least, nearest))


def _given(within: Iterable[float]) -> list[float]:
    """Tolerances that were asked for, the strictest first."""
    several = sorted({*within})
    if not several:
        raise OptionError("within names no tolerance; give some, such as [0, 0.02, 0.05], or leave it out.")
    return several


def _spread(gap: float) -> list[float]:
    """Round numbers from 0 up to the gap, and the gap itself."""
    if gap <= CLOSE:
        return [0.0]
    scale = 10.0 ** floor(log10(gap / _MANY))
    step = scale * next(each for each in _STEPS if each * scale >= gap / _MANY)
    below = [round(at * step, 15) for at in range(_MANY + 1)]
    return [*(each for each in below if each < gap - CLOSE), gap]


def _gap(regions: Sequence[Region], points: Floats, rates: Iterable[str]) -> float:
    """Greatest difference between two groups in any of the rates."""
    return max(
        float(np.ptp([np.dot(region.weights(rate), point) for region, point in zip(regions, points, strict=True)]))
        for rate in rates
    )


def _nearest(regions: Sequence[Region], goal: Goal) -> float:
    """The least gap of all that is cheapest without a parity: where several cuts are, groups may come nearer."""
    ends = [_cheapest(region, goal.costs) for region in regions]
    if all(first == last for first, last in ends):
        return _gap(regions, np.array([first for first, _ in ends]), goal.rates)
    from scipy.optimize import linprog

    # Unknown are how far each group goes from its first cheapest point to its last, the least of a rate, and the gap.
    rows, most = [], []
    for place, rate in enumerate(goal.rates):
        for at, (region, pair) in enumerate(zip(regions, ends, strict=True)):
            first, last = (float(np.dot(region.weights(rate), end)) for end in pair)
            row = np.zeros(len(regions) + len(goal.rates) + 1)
            row[at], row[len(regions) + place] = last - first, -1.0
            wide = row.copy()
            wide[-1] = -1.0
            rows += [wide, -row]
            most += [-first, first]
    return float(linprog(np.eye(len(rows[0]))[-1], A_ub=np.array(rows), b_ub=most, bounds=(0.0, 1.0)).x[-1])


def _cheapest(region: Region, costs: Costs) -> tuple[tuple[float, float], tuple[float, float]]:
    """The strictest and the laxest of the cheapest vertices."""
    cost = vertex_costs(region, costs)
    there = np.flatnonzero(cost <= cost.min() + CLOSE)
    first, last = ((float(region.fpr[at]), float(region.tpr[at])) for at in (there[0], there[-1]))
    return first, last


def _described(people: People, regions: Sequence[Region], points: Floats) -> dict[str, Any]:
    """How far groups are apart, who draws lots, and who holds the others back."""
    placed = list(zip(people.curves, regions, points.tolist(), strict=True))
    drawn = sum(by_lot(region.curve.tally, region.treatment(*point)) for _, region, point in placed)
    binding = [named(people.tallies, group) for group, region, point in placed if region.binds(*point)]
    return {
        "gap": _gap(regions, points, people.goal.rates),
        "lottery": drawn / sum(region.curve.total for region in regions),
        "binds": "; ".join(binding),
    }


def _other_ways(people: People, aim: Goal) -> dict[str, float]:
    """What the same tolerance costs those who want no lots, or no groups; with the groups that take part."""
    here = replace(aim, prevalence=None)  # they were carried there before
    return {column: float(choose(people.part, here).settings["cost"]) for column, choose in WAYS.items()}


def _head(people: People, free: Floats, least: float, nearest: float) -> dict[str, Any]:
    notes = people.notes()
    for everybody, done in ((0.0, "nobody"), (1.0, "everybody")):
        if (free == everybody).all():
            notes.append(
                f"at these costs it is cheapest to flag {done}, whatever the score: the parity costs nothing since the "
                "scores are not used."
            )
    return header(people.tallies, notes) | {
        "digest": people.digest,
        "parity": [each.name for each in people.goal.parities],
        "rates": list(people.goal.rates),
        "costs": asdict(people.goal.costs),
        "cost_without": least,
        "free_from": nearest,
    }
