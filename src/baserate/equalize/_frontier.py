"""Price of fairness: the least cost at each parity tolerance, from exact parity to none."""

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
from baserate.calibrate import ProgressCallback
from baserate.equalize._common_threshold import common_threshold
from baserate.equalize._optimum import ROC_TOLERANCE, RocRegion, roc_regions, solve_points, total_cost, vertex_costs
from baserate.equalize._parities import Goal
from baserate.equalize._participants import Groups, Participants, group_label, randomized_mass, select_participants
from baserate.equalize._threshold_search import deterministic_thresholds
from baserate.measure import results_data

_RESTRICTIONS = {"deterministic_cost": deterministic_thresholds, "blind_cost": common_threshold}
"""Column -> function that finds the best policy of a restricted kind."""
_MAX_TOLERANCES = 25
"""Greatest number of default tolerances."""
_ROUND_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def frontier(
    groups: Groups,
    goal: Goal,
    *,
    within: Iterable[float] | None = None,
    model: str | None = None,
    otherwise: str = REFUSE,
    watch: ProgressCallback | None = None,
) -> Results:
    """Compute the least cost of a parity at each tolerance.

    Parameters
    ----------
    groups
        Tallies that were read with groups, or a mapping from groups to curves.
    goal
        Parities, costs and prevalence; its own tolerances are ignored.
    within
        Tolerances, the same for all rates. The default runs from 0 to where the price is 0.
    model
        Model to use, if the tallies have several.
    otherwise
        Action for groups that lack a class that the parity requires; by default they are an error.
    watch
        Callback that receives the number of finished tolerances and their total.

    Returns
    -------
    Results
        One row for each tolerance: `cost`; `price`, the cost above that without a parity; `gap`, the greatest
        difference of a rate; `lottery`, the share decided at random; `binds`, the groups that limit the others; and
        the least cost without randomization, and with one threshold for all groups. `data["free_from"]` is the
        tolerance from which on the price is 0.

    Examples
    --------
    >>> from baserate import curve, equalize, tally
    >>> f = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> m = curve(tally([1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.6, 0.5, 0.3, 0.1]))
    >>> prices = equalize.frontier({"f": f, "m": m}, equalize.Goal("equalized-odds"), within=[0, 0.1, 1])
    >>> [(row["within"], round(row["cost"], 3), round(row["price"], 3)) for row in prices.rows()]
    [(0.0, 0.333, 0.083), (0.1, 0.283, 0.033), (1.0, 0.25, 0.0)]
    >>> round(prices.data["free_from"], 3)
    0.167
    """
    goal = replace(goal, within=0.0)
    participants = select_participants(groups, goal, model=model, otherwise=otherwise)
    regions = list(roc_regions(participants, reversal=participants.has_labels).values())
    free = solve_points(regions, dict.fromkeys(goal.rates, np.inf), goal.costs)
    gap, least = _greatest_gap(regions, free, goal.rates), total_cost(regions, free, goal.costs)
    nearest = _least_free_gap(regions, goal)
    rows = []
    tolerances = _default_tolerances(nearest) if within is None else _check_tolerances(within)
    for aim in [replace(goal, within=each) for each in tolerances]:
        most = min(aim.tolerances.values())
        # Below the tolerance of its own gap the unconstrained solution is optimal; skip the solver and its rounding.
        points = free if gap <= most else solve_points(regions, aim.tolerances, goal.costs)
        cost = total_cost(regions, points, goal.costs)
        numbers = {"within": most, "cost": cost, "price": max(cost - least, 0.0)}
        rows.append(numbers | _describe_points(participants, regions, points) | _restricted_costs(participants, aim))
        if watch is not None:
            watch(len(rows), len(tolerances))
    return Results({name: [row[name] for row in rows] for name in rows[0]}, _head(participants, free, least, nearest))


def _check_tolerances(within: Iterable[float]) -> list[float]:
    """Sort the stated tolerances, the strictest first."""
    several = sorted({*within})
    if not several:
        raise OptionError("within names no tolerance", remedy="give some, such as [0, 0.02, 0.05], or leave it out.")
    return several


def _default_tolerances(gap: float) -> list[float]:
    """Return round numbers from 0 up to the gap, and the gap itself."""
    if gap <= ROC_TOLERANCE:
        return [0.0]
    scale = 10.0 ** floor(log10(gap / _MAX_TOLERANCES))
    step = scale * next(each for each in _ROUND_STEPS if each * scale >= gap / _MAX_TOLERANCES)
    below = [round(at * step, 15) for at in range(_MAX_TOLERANCES + 1)]
    return [*(each for each in below if each < gap - ROC_TOLERANCE), gap]


def _greatest_gap(regions: Sequence[RocRegion], points: Floats, rates: Iterable[str]) -> float:
    """Compute the greatest difference of any rate between two groups."""
    return max(
        float(np.ptp([np.dot(region.weights(rate), point) for region, point in zip(regions, points, strict=True)]))
        for rate in rates
    )


def _least_free_gap(regions: Sequence[RocRegion], goal: Goal) -> float:
    """Compute the least gap among all solutions of least cost without a parity; there may be several."""
    ends = [_cheapest_vertices(region, goal.costs) for region in regions]
    if all(first == last for first, last in ends):
        return _greatest_gap(regions, np.array([first for first, _ in ends]), goal.rates)
    from scipy.optimize import linprog

    # Unknowns: position of each group between its first and last cheapest point, the least value of each rate, the gap.
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


def _cheapest_vertices(region: RocRegion, costs: Costs) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the strictest and the laxest of the cheapest vertices."""
    cost = vertex_costs(region, costs)
    minima = np.flatnonzero(cost <= cost.min() + ROC_TOLERANCE)
    first, last = ((float(region.fpr[at]), float(region.tpr[at])) for at in (minima[0], minima[-1]))
    return first, last


def _describe_points(participants: Participants, regions: Sequence[RocRegion], points: Floats) -> dict[str, Any]:
    """Return the gap, the share decided at random, and the binding groups."""
    points_by_group = list(zip(participants.curves, regions, points.tolist(), strict=True))
    randomized = sum(
        randomized_mass(region.curve.tally, region.treatment(*point)) for _, region, point in points_by_group
    )
    binding = [
        group_label(participants.tallies, group)
        for group, region, point in points_by_group
        if region.is_binding(*point)
    ]
    return {
        "gap": _greatest_gap(regions, points, participants.goal.rates),
        "lottery": randomized / sum(region.curve.total for region in regions),
        "binds": "; ".join(binding),
    }


def _restricted_costs(participants: Participants, aim: Goal) -> dict[str, float]:
    """Compute the cost of the same tolerance without randomization, and with one threshold for all groups."""
    unshifted = replace(aim, prevalence=None)  # the participants are adjusted already; adjusting twice would be wrong
    return {
        column: float(choose(participants.subset, unshifted).settings["cost"])
        for column, choose in _RESTRICTIONS.items()
    }


def _head(participants: Participants, free: Floats, least: float, nearest: float) -> dict[str, Any]:
    """Return metadata; warn if the scores are not used without a parity."""
    notes = participants.notes()
    for everybody, who in ((0.0, "nobody"), (1.0, "everybody")):
        if (free == everybody).all():
            notes.append(
                f"at these costs it is cheapest to flag {who}, whatever the score: the parity costs nothing since the "
                "scores are not used."
            )
    return results_data(participants.tallies, notes) | {
        "digest": participants.digest,
        "parity": [each.name for each in participants.goal.parities],
        "rates": list(participants.goal.rates),
        "costs": asdict(participants.goal.costs),
        "cost_without": least,
        "free_from": nearest,
    }
