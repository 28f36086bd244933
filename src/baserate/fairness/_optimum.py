"""Exact optimum: the cheapest policy under parity constraints, found in ROC space.

Each group can reach every point between its ROC convex hull and the diagonal (`RocRegion`). Equal odds lead to the
lower envelope of the hulls, one bounded rate to a convex problem in one dimension, and everything else to a small
linear program that is solved by cutting planes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan
from typing import Any, Unpack

import numpy as np

from baserate._arrays import Bools, Floats, Value
from baserate._costs import Costs
from baserate._curve import Curve
from baserate._cut import FLAG, PASS, Cut, RandomizedCut, Treatment
from baserate._errors import FitError
from baserate._policy import REFUSE, Policy
from baserate._tally import Group
from baserate.decide import strictest_maximum
from baserate.fairness._group_counts import Groups, Participants, select_participants
from baserate.fairness._objectives import Outcome, maximize, objective_value
from baserate.fairness._parities import Goal
from baserate.read import PredictionOptions, accepts_predictions

ROC_TOLERANCE = 1e-12
"""Distances in ROC space, and probabilities, below this count as rounding."""
HULL_TOLERANCE = 1e-9
"""Distance from a hull that the tolerance of the linear program may leave."""


@dataclass(frozen=True, slots=True, eq=False)
class RocRegion:
    """Reachable points of a group in ROC space: the upper convex hull of its curve, strictest vertex first.

    Every point between the hull and the diagonal is reachable by randomization. If a class is absent, its rates are
    those of the other class and its weight is 0; the region is then the diagonal.
    """

    curve: Curve
    threshold: Floats
    is_reversed: Bools
    """Vertices at which scores below the threshold are flagged."""
    fpr: Floats
    tpr: Floats
    positive: float
    """Positives of this group as a share of all participants."""
    negative: float

    @property
    def flag_rate(self) -> Floats:
        """Share of the group that is flagged, at every vertex."""
        rate: Floats = (self.positive * self.tpr + self.negative * self.fpr) / (self.positive + self.negative)
        return rate

    def rate(self, name: str) -> Floats:
        """Return a rate at every vertex: flag_rate, sensitivity or fpr."""
        return {"flag_rate": self.flag_rate, "sensitivity": self.tpr, "fpr": self.fpr}[name]

    def weights(self, name: str) -> tuple[float, float]:
        """Return the coefficients of FPR and TPR in a rate."""
        both = self.positive + self.negative
        mixed = self.negative / both, self.positive / both
        return {"flag_rate": mixed, "sensitivity": (0.0, 1.0), "fpr": (1.0, 0.0)}[name]

    def cost_weights(self, costs: Costs) -> tuple[float, float]:
        """Return what the FPR costs and what the TPR saves, per person over all groups."""
        return self.negative * (costs.fp - costs.tn), self.positive * (costs.fn - costs.tp)

    def base_cost(self, costs: Costs) -> float:
        """Return the cost of flagging nobody in this group, per person over all groups."""
        return self.positive * costs.fn + self.negative * costs.tn

    def cost(self, costs: Costs, fpr: Value, tpr: Value) -> Value:
        """Return the cost of this group at a point, per person over all groups."""
        dear, saved = self.cost_weights(costs)
        return self.base_cost(costs) + dear * fpr - saved * tpr

    def max_tpr(self, fpr: Floats | float) -> Floats:
        """Return the greatest true positive rate at a false positive rate."""
        # Vertical edges put several vertices at FPR 0 or 1; np.interp needs distinct x, so keep the highest.
        top = np.append(self.fpr[1:] > self.fpr[:-1], [True])
        heights: Floats = np.interp(fpr, self.fpr[top], self.tpr[top])
        return heights

    def forgone(self, fpr: float, tpr: float) -> float:
        """Return the vertical distance of a point below the hull: sensitivity that the policy gives up."""
        lost = float(self.max_tpr(fpr)) - tpr
        return 0.0 if lost <= HULL_TOLERANCE else lost

    def is_binding(self, fpr: float, tpr: float) -> bool:
        """Return whether a point is on the part of the hull where neither rate improves without worsening the other.

        The ends of the hull do not use scores, nor does the part beyond the last positive; they do not bind.
        """
        enough = float(self.fpr[np.argmax(self.tpr)])
        uses_scores = HULL_TOLERANCE < fpr + tpr < 2 - HULL_TOLERANCE and fpr <= enough + HULL_TOLERANCE
        return uses_scores and self.forgone(fpr, tpr) == 0

    def cut(self, at: int) -> Cut:
        """Return the cut of a vertex."""
        actions = (FLAG, PASS) if self.is_reversed[at] else (PASS, FLAG)
        return Cut((float(self.threshold[at]),), actions)

    def treatment(self, fpr: float, tpr: float) -> Treatment:
        """Reach a point: by one cut at a vertex, by a mixture of two on an edge, otherwise by a mixture of three.

        Among all mixtures that reach a point below the hull, this one randomizes the fewest people: those with scores
        between its strictest and its laxest cut.
        """
        # The sum of both rates grows along the hull, also where one of them stays.
        along = self.fpr + self.tpr
        right = int(np.clip(np.searchsorted(along, fpr + tpr), 1, len(along) - 1))
        left = right - 1
        if self._distance_below(left, right, fpr, tpr) <= ROC_TOLERANCE:
            return self._on_edge(left, right, fpr, tpr)
        strict, lax = self._narrowest_chord(fpr, tpr)
        corners = [strict, lax - 1, lax]
        # The chord to `lax` passes below the point, that to `lax - 1` above: the point is in the triangle of the three
        # cuts, and its barycentric coordinates are their chances.
        matrix = np.array([self.fpr[corners], self.tpr[corners], np.ones(3)])
        return self._mix_vertices(corners, np.linalg.solve(matrix, np.array([fpr, tpr, 1.0])))

    def _distance_below(self, left: int, right: int, fpr: float, tpr: float) -> float:
        """Return the distance of a point below the line through two vertices."""
        run, rise = self.fpr[right] - self.fpr[left], self.tpr[right] - self.tpr[left]
        across = rise * (fpr - self.fpr[left]) - run * (tpr - self.tpr[left])
        return float(across / np.hypot(run, rise))

    def _on_edge(self, left: int, right: int, fpr: float, tpr: float) -> Treatment:
        """Mix the two vertices of an edge, or thresholds that lie on the edge between them."""
        run, rise = self.fpr[right] - self.fpr[left], self.tpr[right] - self.tpr[left]
        length = run * run + rise * rise
        if not length:  # both vertices are the same point, as where all scores of a group are equal
            return self._mix_vertices([left], np.ones(1))
        chance = ((fpr - self.fpr[left]) * run + (tpr - self.tpr[left]) * rise) / length
        # Reweighted masses are not exact, so thresholds on the edge cannot be identified by cross-multiplication.
        if self.is_reversed[left] or self.is_reversed[right] or self.curve.tally.reweighed:
            return self._mix_vertices([left, right], np.array([1 - chance, chance]))
        return self._mix_within_edge(left, right, float(chance))

    def _mix_within_edge(self, left: int, right: int, chance: float) -> Treatment:
        """Mix the nearest two thresholds that lie exactly on an edge, so that fewer people are randomized."""
        mass, score = self.curve.tally.mass, self.curve.tally.score
        first, last = (int(np.searchsorted(-score, -self.threshold[at], side="right")) for at in (left, right))
        steps = np.cumsum(mass[:, first:last], axis=1, dtype=np.float64)
        true, false = steps[:, -1]
        # Cross-multiplied counts are exact, unlike slopes: this finds thresholds exactly on the edge.
        on = np.flatnonzero(steps[0] * false == steps[1] * true)
        part = np.concatenate([[0.0], (steps[0, on] + steps[1, on]) / (true + false)])
        threshold = np.concatenate([[self.threshold[left]], score[first:last][on]])
        at = int(np.clip(np.searchsorted(part, chance), 1, len(part) - 1))
        # Scores without mass follow a threshold at no distance.
        gap = part[at] - part[at - 1]
        lax = (chance - part[at - 1]) / gap if gap else 0.0
        return randomize_cuts([Cut((float(threshold[place]),)) for place in (at - 1, at)], np.array([1 - lax, lax]))

    def _mix_vertices(self, vertices: list[int], chances: Floats) -> Treatment:
        return randomize_cuts([self.cut(at) for at in vertices], chances)

    def _narrowest_chord(self, fpr: float, tpr: float) -> tuple[int, int]:
        """Find two vertices whose chord passes below a point, with the fewest people between them."""
        share, lax, below = self.flag_rate, len(self.fpr) - 1, self._distance_below
        best, chord = np.inf, (0, lax)
        for strict in range(int(np.searchsorted(self.fpr, fpr, side="right")) - 1, -1, -1):
            # Two-pointer search: a chord that begins further left may also end further left.
            lax = max(lax, strict + 1)
            while lax - 1 > strict and self.fpr[lax - 1] >= fpr and below(strict, lax - 1, fpr, tpr) <= 0:
                lax -= 1
            if below(strict, lax, fpr, tpr) <= 0 and share[lax] - share[strict] < best:
                best, chord = share[lax] - share[strict], (strict, lax)
        return chord


def roc_region(curve: Curve, *, positive: float, negative: float, reversal: bool = False) -> RocRegion:
    """Compute the reachable region of a group; with `reversal`, also by flagging scores below a threshold."""
    hull = curve.hull()
    threshold, false, true = hull.threshold, *roc_rates(hull)
    is_reversed = np.zeros(len(threshold), dtype=bool)
    if reversal:
        back = Curve(curve.tally.with_scores(-curve.tally.score)).hull()
        # A reversed cut flags scores of at most −threshold, which is all below the next higher observed score.
        above = np.append(np.inf, curve.tally.score)[np.searchsorted(-curve.tally.score, back.threshold[1:])]
        threshold = np.concatenate([threshold, [-np.inf], above])
        false, true = (np.concatenate(pair) for pair in zip((false, true), roc_rates(back), strict=True))
        is_reversed = np.append(is_reversed, np.ones(len(above) + 1, dtype=bool))
        at = _upper_hull(false, true)
        threshold, false, true, is_reversed = threshold[at], false[at], true[at], is_reversed[at]
    return RocRegion(curve, threshold, is_reversed, false, true, positive, negative)


def roc_rates(curve: Curve) -> tuple[Floats, Floats]:
    """Return false and true positive rates; an absent class takes the rates of the other one."""
    true, false = curve.flagged_mass
    # Without positives (or negatives) their rate is 0/0; the rate of the other class puts the group on the diagonal.
    true, false = (each if each[-1] else other for each, other in ((true, false), (false, true)))
    return false / false[-1], true / true[-1]


def _upper_hull(false: Floats, true: Floats) -> list[int]:
    """Return the indices of the vertices of the upper hull, by a monotone chain; of equal points, the first."""
    vertices: list[int] = []
    for at in np.lexsort((np.arange(len(false)), true, false)).tolist():
        if vertices and false[at] == false[vertices[-1]] and true[at] == true[vertices[-1]]:
            continue
        while len(vertices) > 1 and not _turns_right(false, true, (vertices[-2], vertices[-1], at)):
            vertices.pop()
        vertices.append(at)
    return vertices


def _turns_right(false: Floats, true: Floats, places: tuple[int, int, int]) -> bool:
    """Return whether three points make a right turn by more than rounding."""
    (x0, x1, x2), (y0, y1, y2) = false[[*places]], true[[*places]]
    one, other = (y1 - y0) * (x2 - x1), (y2 - y1) * (x1 - x0)
    # Relative to the size of both products: collinear points must not become vertices by rounding.
    return bool(one - other > 1e-14 * (abs(one) + abs(other)))


def randomize_cuts(cuts: list[Cut], chances: Floats) -> Treatment:
    """Make a randomized cut, or a plain cut if the others have no probability beyond rounding."""
    likely = [(cut, float(chance)) for cut, chance in zip(cuts, chances, strict=True) if chance > ROC_TOLERANCE]
    if len(likely) == 1:
        return likely[0][0]
    whole = sum(chance for _, chance in likely)
    return RandomizedCut(tuple(cut for cut, _ in likely), tuple(chance / whole for _, chance in likely))


_TOLERANCES = (1e-10, 1e-8)
"""Feasibility tolerances: the finest that HiGHS accepts, then a coarser one in case it fails."""
_EDGE_TOLERANCE = 1e-11
"""Distance above a hull that counts as rounding."""
_ACTIVE_TOLERANCE = 1e-8
"""Constraints this close to their bound are made exact at the end."""
_N_INITIAL_EDGES = 16
"""Edges of each hull in the first program."""


def solve_linear_program(regions: Sequence[RocRegion], bounds: Mapping[str, float], costs: Costs) -> Floats:
    """Find the points (FPR, TPR) of least cost whose rates differ by no more than their bounds.

    Unknowns are both rates of each group and the lowest value of each bounded rate. A point is below a hull if and only
    if it is below the line of every edge. The program starts with a few edges and adds those that the solution violates
    [@kelley1960]. Among equally cheap solutions it returns the one that flags the fewest.
    """
    program = _LinearProgram(regions, bounds)
    objective, (rows, limits) = program.objective(costs), program.parity_rows()
    cheapest = _add_cutting_planes(program, objective, rows, limits)
    least = float(objective @ cheapest)
    solution = _add_cutting_planes(program, program.flag_weights(), [*rows, objective], [*limits, least])
    return _clip_to_regions(regions, program.points(solution))


def _add_cutting_planes(program: _LinearProgram, objective: Floats, rows: list[Floats], limits: list[float]) -> Floats:
    """Solve with a few edges of each hull, and add the violated ones until there are none."""
    edges = [_initial_edges(len(region.fpr)) for region in program.regions]
    while True:
        lines = [program.edge(at, place) for at, several in enumerate(edges) for place in sorted(several)]
        matrix = np.array([*rows, *(line for line, _ in lines)])
        most = np.array([*limits, *(limit for _, limit in lines)])
        solution = _polish_solution(matrix, most, _minimize(objective, matrix, most))
        points = program.points(solution)
        new = {at: _violated_edges(region, *points[at]) - edges[at] for at, region in enumerate(program.regions)}
        # A point may remain above an edge that is already included: by the solver's tolerance. Adding it would loop.
        if not any(new.values()):
            return solution
        for at, several in new.items():
            edges[at] |= several


def _violated_edges(region: RocRegion, false: float, true: float) -> set[int]:
    """List the edges around a point that lies above the hull."""
    if true <= float(region.max_tpr(false)) + _EDGE_TOLERANCE:
        return set()
    near, last = int(np.searchsorted(region.fpr, false)), len(region.fpr) - 2
    return {min(max(place, 0), last) for place in (near - 2, near - 1, near, near + 1)}


def _initial_edges(vertices: int) -> set[int]:
    """List evenly spaced edges of a hull."""
    return {int(place) for place in np.linspace(0, vertices - 2, min(_N_INITIAL_EDGES, vertices - 1))}


class _LinearProgram:
    """Layout of the linear program: FPR and TPR of each group, then the lowest value of each bounded rate."""

    def __init__(self, regions: Sequence[RocRegion], bounds: Mapping[str, float]) -> None:
        self.regions, self.bounds = regions, bounds
        self.size = 2 * len(regions) + len(bounds)

    def objective(self, costs: Costs) -> Floats:
        """Return the cost of each unknown, scaled to a maximum of 1."""
        gains = [region.cost_weights(costs) for region in self.regions]
        coefficients = np.array([each for dear, saved in gains for each in (dear, -saved)] + [0.0] * len(self.bounds))
        largest = float(np.abs(coefficients).max())
        return coefficients / largest if largest else coefficients

    def flag_weights(self) -> Floats:
        """Return how much each unknown contributes to the share of everybody that is flagged."""
        shares = [share for region in self.regions for share in (region.negative, region.positive)]
        return np.array(shares + [0.0] * len(self.bounds))

    def points(self, solution: Floats) -> Floats:
        """Return FPR and TPR of each group, one row each."""
        return solution[: 2 * len(self.regions)].reshape(-1, 2)

    def parity_rows(self) -> tuple[list[Floats], list[float]]:
        """Return constraints that keep rates within their bounds, and points on or above the diagonal."""
        rows, limits = [], []
        for at, region in enumerate(self.regions):
            for place, (rate, bound) in enumerate(self.bounds.items()):
                row = np.zeros(self.size)
                row[2 * at : 2 * at + 2] = region.weights(rate)
                row[2 * len(self.regions) + place] = -1.0
                rows += [row, -row]
                limits += [bound, 0.0]
            row = np.zeros(self.size)
            row[2 * at : 2 * at + 2] = 1.0, -1.0
            rows.append(row)
            limits.append(0.0)
        return rows, limits

    def edge(self, at: int, place: int) -> tuple[Floats, float]:
        """Return the constraint that keeps a group below an edge of its hull."""
        region = self.regions[at]
        run, rise = (each[place + 1] - each[place] for each in (region.fpr, region.tpr))
        # Of unit length, so that tolerances of the solver are distances in ROC space.
        length = np.hypot(run, rise)
        row = np.zeros(self.size)
        row[2 * at : 2 * at + 2] = -rise / length, run / length
        return row, float((run * region.tpr[place] - rise * region.fpr[place]) / length)


def _minimize(objective: Floats, matrix: Floats, most: Floats) -> Floats:
    """Solve the linear program, with a coarser tolerance if the finest one fails."""
    from scipy.optimize import linprog

    # The dual simplex ends at a vertex, where enough constraints are active for `_polish_solution` to make it exact.
    for tolerance in _TOLERANCES:
        options = {"primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance}
        result = linprog(objective, A_ub=matrix, b_ub=most, bounds=(0.0, 1.0), method="highs-ds", options=options)
        if result.success:
            solution: Floats = result.x
            return solution
    what = f"the linear program of the parity was not solved ({result.message})"
    raise FitError(what, remedy="pool scores that lie close together, with Tally.rounded.")


def _polish_solution(matrix: Floats, most: Floats, solution: Floats) -> Floats:
    """Meet exactly the constraints that the solver met within its tolerance."""
    size = len(solution)
    rows = np.concatenate([matrix, np.eye(size), -np.eye(size)])
    limits = np.concatenate([most, np.ones(size), np.zeros(size)])
    # The solver stops within 1e-10 of a constraint. Project onto the active ones, so that equal rates are equal.
    active = np.abs(rows @ solution - limits) < _ACTIVE_TOLERANCE
    step = np.linalg.lstsq(rows[active], limits[active] - rows[active] @ solution, rcond=None)[0]
    polished: Floats = solution + step
    return polished if (rows @ polished - limits).max() <= max((rows @ solution - limits).max(), 0.0) else solution


def _clip_to_regions(regions: Sequence[RocRegion], points: Floats) -> Floats:
    """Clip points to the unit square, to their hulls and to the diagonal."""
    inside = np.clip(points, 0.0, 1.0)
    top = np.array([float(region.max_tpr(false)) for region, false in zip(regions, inside[:, 0], strict=True)])
    inside[:, 1] = np.maximum(np.minimum(inside[:, 1], top), inside[:, 0])
    return inside


_ODDS = {"sensitivity", "fpr"}


def solve_points(regions: Sequence[RocRegion], tolerances: Mapping[str, float], costs: Costs) -> Floats:
    """Find the points (FPR, TPR) of least cost, one row for each group, whose rates agree within the tolerances.

    Without a bound each group takes its cheapest vertex. One bounded rate is a problem in one dimension, since the cost
    of a group is convex in its rate. Equal odds lie on the lower envelope of the hulls [@hardt2016]. Everything else is
    a linear program.
    """
    # Rates lie in [0, 1], so a tolerance of 1 or more constrains nothing.
    bounds = {rate: bound for rate, bound in tolerances.items() if bound < 1}
    if not bounds or len(regions) == 1:
        return np.array([_cheapest_vertex(region, costs) for region in regions])
    if len(bounds) == 1:
        ((rate, bound),) = bounds.items()
        return _solve_one_rate(regions, rate, bound, costs)
    if {*bounds} == _ODDS and not any(bounds.values()):
        return np.tile(_solve_envelope(regions, costs), (len(regions), 1))
    # The linear program may have several optima; a fixed order of groups makes the choice reproducible.
    order = sorted(range(len(regions)), key=lambda at: _sort_key(regions[at]))
    return solve_linear_program([regions[at] for at in order], bounds, costs)[np.argsort(order)]


def _sort_key(region: RocRegion) -> tuple[float | bytes, ...]:
    """Return a key that sorts groups by content, since the program may return any of several optima."""
    return region.positive, region.negative, region.fpr.tobytes(), region.tpr.tobytes()


def least_cost(regions: Sequence[RocRegion], tolerances: Mapping[str, float], costs: Costs) -> float:
    """Return the least expected cost per person under the tolerances."""
    return total_cost(regions, solve_points(regions, tolerances, costs), costs)


def total_cost(regions: Sequence[RocRegion], points: Floats, costs: Costs) -> float:
    """Return the expected cost per person when each group is at its point."""
    return float(sum(region.cost(costs, *point) for region, point in zip(regions, points, strict=True)))


def find_points(regions: Sequence[RocRegion], tolerances: Mapping[str, float], goal: Goal) -> Floats:
    """Find the best points within the tolerances: those of least cost, or of the greatest value of the objective."""
    if goal.objective is None:
        return solve_points(regions, tolerances, goal.costs)

    def solve(costs: Costs) -> Outcome[Floats]:
        points = solve_points(regions, tolerances, costs)
        return Outcome(*flagged_shares(regions, points), points)

    return maximize(str(goal.objective), class_shares(regions), solve)


def points_value(regions: Sequence[RocRegion], points: Floats, goal: Goal) -> float:
    """Return the objective when each group is at its point; without an objective, the expected cost per person."""
    if goal.objective is None:
        return total_cost(regions, points, goal.costs)
    return objective_value(str(goal.objective), *flagged_shares(regions, points), class_shares(regions))


def best_value(regions: Sequence[RocRegion], tolerances: Mapping[str, float], goal: Goal) -> float:
    """Return the greatest value of the objective within the tolerances; without an objective, the least cost."""
    return points_value(regions, find_points(regions, tolerances, goal), goal)


def value_settings(**values: float) -> dict[str, float]:
    """Return those values of an objective that are defined, in the form that policy files store."""
    return {name: value for name, value in values.items() if not isnan(value)}


def flagged_shares(regions: Sequence[RocRegion], points: Floats) -> tuple[float, float]:
    """Return the false and the true positives as shares of all rows."""
    negative, positive = np.array([[region.negative, region.positive] for region in regions]).T
    return float(negative @ points[:, 0]), float(positive @ points[:, 1])


def class_shares(regions: Sequence[RocRegion]) -> tuple[float, float]:
    """Return the positives and the negatives as shares of all rows."""
    return sum(region.positive for region in regions), sum(region.negative for region in regions)


def _cheapest_vertex(region: RocRegion, costs: Costs) -> tuple[float, float]:
    """Return the point of the cheapest vertex."""
    at = _strictest_argmin(vertex_costs(region, costs))
    return float(region.fpr[at]), float(region.tpr[at])


def vertex_costs(region: RocRegion, costs: Costs) -> Floats:
    """Return the cost of each vertex relative to flagging nobody."""
    dear, saved = region.cost_weights(costs)
    costs_of_vertices: Floats = dear * region.fpr - saved * region.tpr
    return costs_of_vertices


def _strictest_argmin(cost: Floats) -> int:
    """Return the index of the least cost, the strictest among equals."""
    return strictest_maximum(-cost) or 0


def _solve_one_rate(regions: Sequence[RocRegion], rate: str, bound: float, costs: Costs) -> Floats:
    """Minimize the cost with all rates within [u, u + bound].

    The cost of each group is convex in its rate, so the total is convex in u. It is linear between the rates of
    vertices, and between those less the bound, so the best u is one of them.
    """
    lines = [_cost_by_rate(region, rate, costs) for region in regions]
    ends = np.concatenate([line[0] for line in lines])
    places = np.unique(np.clip(np.concatenate([ends, ends - bound]), 0.0, 1.0))
    paid = np.zeros(len(places))
    for rates, cost, best in lines:
        paid += np.interp(np.clip(best, places, places + bound), rates, cost)
    low = places[_strictest_argmin(paid)]
    points = [
        _cheapest_at_rate(region, rate, float(np.clip(best, low, low + bound)), costs)
        for region, (_, _, best) in zip(regions, lines, strict=True)
    ]
    return np.array(points)


def _cost_by_rate(region: RocRegion, rate: str, costs: Costs) -> tuple[Floats, Floats, float]:
    """Return the distinct rates of the vertices, the least cost at each, and the rate of least cost."""
    rates, cost = region.rate(rate), vertex_costs(region, costs)
    best = float(rates[_strictest_argmin(cost)])
    distinct, back = np.unique(rates, return_inverse=True)
    # Vertices may share a rate, on a vertical or horizontal edge: keep the cheapest.
    least = np.full(len(distinct), np.inf)
    np.minimum.at(least, back, cost)
    return distinct, least, best


def _cheapest_at_rate(region: RocRegion, rate: str, target: float, costs: Costs) -> tuple[float, float]:
    """Return the cheapest point of the hull at a rate."""
    rates, cost = region.rate(rate), vertex_costs(region, costs)
    exact = np.flatnonzero(rates == target)
    if len(exact):
        at = int(exact[_strictest_argmin(cost[exact])])
        return float(region.fpr[at]), float(region.tpr[at])
    right = int(np.searchsorted(rates, target))
    part = (target - rates[right - 1]) / (rates[right] - rates[right - 1])
    return tuple(  # type: ignore[return-value]  # two of them
        float((1 - part) * each[right - 1] + part * each[right]) for each in (region.fpr, region.tpr)
    )


def _solve_envelope(regions: Sequence[RocRegion], costs: Costs) -> tuple[float, float]:
    """Return the cheapest point that every group can reach, on the lower envelope of the hulls.

    The envelope is concave. The best point is a vertex of the lowest hull, or a crossing of two hulls next to the best
    of all vertices.
    """
    dear, saved = (sum(pair) for pair in zip(*(region.cost_weights(costs) for region in regions), strict=True))
    places = np.unique(np.concatenate([region.fpr for region in regions]))
    height = np.min([region.max_tpr(places) for region in regions], axis=0)
    best = _strictest_argmin(dear * places - saved * height)
    points = [(float(places[best]), float(height[best]))]
    for left, right in ((best - 1, best), (best, best + 1)):
        if left >= 0 and right < len(places):
            points += _hull_crossings(regions, float(places[left]), float(places[right]))
    # Sorted from the strictest on, since ties go to the first; (0, 0) is reachable by every group.
    points = [(0.0, 0.0), *sorted(points)]
    return points[_strictest_argmin(np.array([dear * false - saved * true for false, true in points]))]


def _hull_crossings(regions: Sequence[RocRegion], left: float, right: float) -> list[tuple[float, float]]:
    """List crossings of hulls between two rates without a vertex in between, on the lowest hull."""
    heights = np.array([region.max_tpr(np.array([left, right])) for region in regions])
    crossings = []
    for one, other in combinations(np.unique(heights, axis=0), 2):
        before, after = one - other
        if before * after < 0:
            part = before / (before - after)
            # A third hull may be lower than the two that cross: the point must be reachable by all.
            lowest = float(np.min((1 - part) * heights[:, 0] + part * heights[:, 1]))
            crossings.append((float((1 - part) * left + part * right), lowest))
    return crossings


OPTIMUM_RULE = "equalized"


@accepts_predictions("groups")
def optimal_policy(
    groups: Groups,
    goal: Goal,
    *,
    model: str | None = None,
    otherwise: str = REFUSE,
    reversal: bool = False,
    **predictions: Unpack[PredictionOptions],
) -> Policy:
    """Find the policy of least expected cost that satisfies a parity constraint, exactly.

    No other policy of the scores and the groups is cheaper, or better by the objective of the goal. Under equalized
    odds without tolerance all groups are at the cheapest point of the lower envelope of their ROC hulls [@hardt2016];
    better groups are randomized.

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
    reversal
        Whether scores below a threshold may be flagged. Predicted labels are always post-processed this way.

    Returns
    -------
    Policy
        A cut or a randomized cut for each group; `settings["cost"]` is the expected cost per person.

    Examples
    --------
    >>> from baserate import Costs, curve, fairness, tally
    >>> f = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> m = curve(tally([1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.6, 0.5, 0.3, 0.1]))
    >>> goal = fairness.Goal("equal-opportunity", costs=Costs(fp=1, fn=1))
    >>> policy = fairness.optimal_policy({("f",): f, ("m",): m}, goal)
    >>> policy.by_group["f",], policy.by_group["m",]
    (Cut(thresholds=(0.8,), actions=('pass', 'flag')), Cut(thresholds=(0.6,), actions=('pass', 'flag')))
    """
    participants = select_participants(groups, goal, model=model, otherwise=otherwise)
    return choose_optimum(participants, goal.tolerances, reversal=reversal or participants.has_labels)


def choose_optimum(participants: Participants, tolerances: Mapping[str, float], *, reversal: bool) -> Policy:
    """Find the best policy for participants whose rates agree within the tolerances."""
    regions = roc_regions(participants, reversal=reversal)
    points = find_points(list(regions.values()), tolerances, participants.goal)
    pairs = zip(regions.items(), points.tolist(), strict=True)
    by_group = {group: region.treatment(*point) for (group, region), point in pairs}
    settings: dict[str, Any] = {"reversal": True} if reversal else {}
    settings["cost"] = total_cost(list(regions.values()), points, participants.goal.costs)
    if participants.goal.objective is not None:
        settings |= value_settings(value=points_value(list(regions.values()), points, participants.goal))
    return participants.policy(by_group, rule=OPTIMUM_RULE, settings=settings)


def roc_regions(participants: Participants, *, reversal: bool = False) -> dict[Group, RocRegion]:
    """Compute the reachable region of each participating group."""
    return {
        group: roc_region(curve, positive=float(positive), negative=float(negative), reversal=reversal)
        for (group, curve), (positive, negative) in zip(participants.curves.items(), participants.shares.T, strict=True)
    }
