"""Where in ROC space each group should be, so that a parity holds and the least is paid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from baserate._arrays import Floats
from baserate._costs import Costs
from baserate.decide import strictest
from baserate.equalize._linear import by_cutting_planes
from baserate.equalize._region import Region

BOTH = {"sensitivity", "fpr"}


def solved(regions: Sequence[Region], tolerances: Mapping[str, float], costs: Costs) -> Floats:
    """Points (FPR, TPR) of least cost, a row for each group, whose rates are as near to each other as they must be.

    Without a bound each group is alone. One rate makes a problem of one dimension: the cost of a group is convex in its
    rate. Two that must be equal make the lower envelope of the hulls [@hardt2016]. All else is a linear program.
    """
    bounds = {rate: bound for rate, bound in tolerances.items() if bound < 1}
    if not bounds or len(regions) == 1:
        return np.array([_alone(region, costs) for region in regions])
    if len(bounds) == 1:
        ((rate, bound),) = bounds.items()
        return _one_rate(regions, rate, bound, costs)
    if {*bounds} == BOTH and not any(bounds.values()):
        return np.tile(_envelope(regions, costs), (len(regions), 1))
    order = sorted(range(len(regions)), key=lambda at: _content(regions[at]))
    return by_cutting_planes([regions[at] for at in order], bounds, costs)[np.argsort(order)]


def _content(region: Region) -> tuple[float | bytes, ...]:
    """What groups are put in order by, since the program may take any of several optima."""
    return region.positive, region.negative, region.fpr.tobytes(), region.tpr.tobytes()


def least_cost(regions: Sequence[Region], tolerances: Mapping[str, float], costs: Costs) -> float:
    """What a case of everybody costs at the best points."""
    return total(regions, solved(regions, tolerances, costs), costs)


def total(regions: Sequence[Region], points: Floats, costs: Costs) -> float:
    """What a case of everybody costs when each group is at its point."""
    return float(sum(region.cost(costs, *point) for region, point in zip(regions, points, strict=True)))


def _alone(region: Region, costs: Costs) -> tuple[float, float]:
    """The cheapest vertex."""
    at = _cheapest(vertex_costs(region, costs))
    return float(region.fpr[at]), float(region.tpr[at])


def vertex_costs(region: Region, costs: Costs) -> Floats:
    """What each vertex costs beyond flagging nobody."""
    dear, saved = region.gains(costs)
    found: Floats = dear * region.fpr - saved * region.tpr
    return found


def _cheapest(cost: Floats) -> int:
    """Place of the least cost, the strictest of equals."""
    return strictest(-cost) or 0


def _one_rate(regions: Sequence[Region], rate: str, bound: float, costs: Costs) -> Floats:
    """All rates within [u, u + bound]: what each group pays is convex in its rate, so their sum is convex in u.

    The sum is straight between the rates of vertices and those less the bound; so the best u is one of them.
    """
    lines = [_line(region, rate, costs) for region in regions]
    ends = np.concatenate([line[0] for line in lines])
    places = np.unique(np.clip(np.concatenate([ends, ends - bound]), 0.0, 1.0))
    paid = np.zeros(len(places))
    for rates, cost, best in lines:
        paid += np.interp(np.clip(best, places, places + bound), rates, cost)
    low = places[_cheapest(paid)]
    found = [
        _at(region, rate, float(np.clip(best, low, low + bound)), costs)
        for region, (_, _, best) in zip(regions, lines, strict=True)
    ]
    return np.array(found)


def _line(region: Region, rate: str, costs: Costs) -> tuple[Floats, Floats, float]:
    """The rate at each vertex, what it costs there, and the rate at which it costs least; each rate once."""
    rates, cost = region.rate(rate), vertex_costs(region, costs)
    best = float(rates[_cheapest(cost)])
    distinct, back = np.unique(rates, return_inverse=True)
    least = np.full(len(distinct), np.inf)
    np.minimum.at(least, back, cost)
    return distinct, least, best


def _at(region: Region, rate: str, wanted: float, costs: Costs) -> tuple[float, float]:
    """The cheapest point of the hull at a rate."""
    rates, cost = region.rate(rate), vertex_costs(region, costs)
    here = np.flatnonzero(rates == wanted)
    if len(here):
        at = int(here[_cheapest(cost[here])])
        return float(region.fpr[at]), float(region.tpr[at])
    right = int(np.searchsorted(rates, wanted))
    part = (wanted - rates[right - 1]) / (rates[right] - rates[right - 1])
    return tuple(  # type: ignore[return-value]  # two of them
        float((1 - part) * each[right - 1] + part * each[right]) for each in (region.fpr, region.tpr)
    )


def _envelope(regions: Sequence[Region], costs: Costs) -> tuple[float, float]:
    """The cheapest point that every group can have: on the lower envelope of the hulls.

    It is concave, so that the best point is a vertex of a hull that lies lowest there, or a crossing of two hulls
    beside the best of all vertices.
    """
    dear, saved = (sum(pair) for pair in zip(*(region.gains(costs) for region in regions), strict=True))
    places = np.unique(np.concatenate([region.fpr for region in regions]))
    height = np.min([region.height(places) for region in regions], axis=0)
    best = _cheapest(dear * places - saved * height)
    points = [(float(places[best]), float(height[best]))]
    for left, right in ((best - 1, best), (best, best + 1)):
        if left >= 0 and right < len(places):
            points += _crossings(regions, float(places[left]), float(places[right]))
    points = [(0.0, 0.0), *sorted(points)]
    return points[_cheapest(np.array([dear * false - saved * true for false, true in points]))]


def _crossings(regions: Sequence[Region], left: float, right: float) -> list[tuple[float, float]]:
    """Where hulls cross between two rates at which no hull has a vertex in between, on the lowest of them."""
    heights = np.array([region.height(np.array([left, right])) for region in regions])
    found = []
    for one, other in combinations(np.unique(heights, axis=0), 2):
        before, after = one - other
        if before * after < 0:
            part = before / (before - after)
            lowest = float(np.min((1 - part) * heights[:, 0] + part * heights[:, 1]))
            found.append((float((1 - part) * left + part * right), lowest))
    return found
