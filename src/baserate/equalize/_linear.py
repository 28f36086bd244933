"""A small linear program over the edges of the groups' hulls, of which only those are taken that matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from baserate._arrays import Floats
from baserate._costs import Costs
from baserate._errors import FitError
from baserate.equalize._region import Region

_TOLERANCES = (1e-10, 1e-8)
"""The finest that the solver takes, and a coarser one for when it gives up."""
_ABOVE = 1e-11
"""So far may a point be above a hull, for rounding."""
_ACTIVE = 1e-8
"""Constraints that are so near to their bound are met exactly in the end."""
_FIRST = 16
"""Edges of each hull that are taken before anything is known."""


def by_cutting_planes(regions: Sequence[Region], bounds: Mapping[str, float], costs: Costs) -> Floats:
    """Points (FPR, TPR) of least cost whose rates differ by no more than their bounds.

    Unknown are both rates of each group, and the lowest of each bounded rate. A point is below its hull exactly if it
    is below the line of every edge; a few edges are taken first, and those are added that the solution violates
    [@kelley1960]. As there are few unknowns, it takes few rounds. Then, of equally cheap points, those are taken that
    flag the fewest.
    """
    shape = _Shape(regions, bounds)
    objective, (rows, limits) = shape.objective(costs), shape.parity()
    cheapest = _settled(shape, objective, rows, limits)
    least = float(objective @ cheapest)
    return _inside(regions, shape.points(_settled(shape, shape.flagged(), [*rows, objective], [*limits, least])))


def _settled(shape: _Shape, objective: Floats, rows: list[Floats], limits: list[float]) -> Floats:
    """Take a few edges, and add those that the solution violates, until it violates none."""
    edges = [_spread(len(region.fpr)) for region in shape.regions]
    while True:
        lines = [shape.edge(at, place) for at, several in enumerate(edges) for place in sorted(several)]
        matrix = np.array([*rows, *(line for line, _ in lines)])
        most = np.array([*limits, *(limit for _, limit in lines)])
        found = _polished(matrix, most, _least(objective, matrix, most))
        points = shape.points(found)
        new = {at: _violated(region, *points[at]) - edges[at] for at, region in enumerate(shape.regions)}
        # What is then still above an edge that was taken is the solver's tolerance.
        if not any(new.values()):
            return found
        for at, several in new.items():
            edges[at] |= several


def _violated(region: Region, false: float, true: float) -> set[int]:
    """Edges about a point that is above the hull."""
    if true <= float(region.height(false)) + _ABOVE:
        return set()
    near, last = int(np.searchsorted(region.fpr, false)), len(region.fpr) - 2
    return {min(max(place, 0), last) for place in (near - 2, near - 1, near, near + 1)}


def _spread(vertices: int) -> set[int]:
    return {int(place) for place in np.linspace(0, vertices - 2, min(_FIRST, vertices - 1))}


class _Shape:
    """Where the unknowns of the program stand: FPR and TPR of each group, then the lowest of each rate."""

    def __init__(self, regions: Sequence[Region], bounds: Mapping[str, float]) -> None:
        self.regions, self.bounds = regions, bounds
        self.size = 2 * len(regions) + len(bounds)

    def objective(self, costs: Costs) -> Floats:
        """What each unknown costs, on a scale of 1."""
        gains = [region.gains(costs) for region in self.regions]
        found = np.array([each for dear, saved in gains for each in (dear, -saved)] + [0.0] * len(self.bounds))
        largest = float(np.abs(found).max())
        return found / largest if largest else found

    def flagged(self) -> Floats:
        """How much each unknown flags, of everybody."""
        shares = [share for region in self.regions for share in (region.negative, region.positive)]
        return np.array(shares + [0.0] * len(self.bounds))

    def points(self, found: Floats) -> Floats:
        """FPR and TPR of each group, a row each."""
        return found[: 2 * len(self.regions)].reshape(-1, 2)

    def parity(self) -> tuple[list[Floats], list[float]]:
        """Rows that keep every rate between the lowest and the bound above it, and every point above the diagonal."""
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
        """Row that keeps a group below an edge of its hull."""
        region = self.regions[at]
        run, rise = (each[place + 1] - each[place] for each in (region.fpr, region.tpr))
        length = np.hypot(run, rise)
        row = np.zeros(self.size)
        row[2 * at : 2 * at + 2] = -rise / length, run / length
        return row, float((run * region.tpr[place] - rise * region.fpr[place]) / length)


def _least(objective: Floats, matrix: Floats, most: Floats) -> Floats:
    from scipy.optimize import linprog

    for tolerance in _TOLERANCES:
        options = {"primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance}
        found = linprog(objective, A_ub=matrix, b_ub=most, bounds=(0.0, 1.0), method="highs-ds", options=options)
        if found.success:
            solution: Floats = found.x
            return solution
    raise FitError(
        f"the linear program of the parity was not solved ({found.message}); pool scores that lie close together, with "
        "Tally.rounded."
    )


def _polished(matrix: Floats, most: Floats, found: Floats) -> Floats:
    """Meet the constraints exactly that the solver met within its tolerance."""
    size = len(found)
    rows = np.concatenate([matrix, np.eye(size), -np.eye(size)])
    limits = np.concatenate([most, np.ones(size), np.zeros(size)])
    active = np.abs(rows @ found - limits) < _ACTIVE
    step = np.linalg.lstsq(rows[active], limits[active] - rows[active] @ found, rcond=None)[0]
    moved: Floats = found + step
    return moved if (rows @ moved - limits).max() <= max((rows @ found - limits).max(), 0.0) else found


def _inside(regions: Sequence[Region], points: Floats) -> Floats:
    """Points within the square, no higher than their hulls and no lower than the diagonal, to the last digit."""
    inside = np.clip(points, 0.0, 1.0)
    top = np.array([float(region.height(false)) for region, false in zip(regions, inside[:, 0], strict=True)])
    inside[:, 1] = np.maximum(np.minimum(inside[:, 1], top), inside[:, 0])
    return inside
