r"""Objectives other than costs: measures of the pooled confusion matrix that a parity constraint limits.

Let T and F be the true and false positives as shares of all rows. The objectives here grow with T and fall with F, and
are quasi-convex where they are positive. Accuracy, balanced accuracy and Youden's J are linear. F1, the Jaccard index
and kappa are ratios of linear functions. MCC and the Fowlkes–Mallows index are a linear function, divided by a positive
concave one. The maximum over a convex polygon of points (F, T) is then at a vertex of its upper left border, and so it
is over any finite set of points, at a vertex of its convex hull. Each vertex is the cheapest point at some costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from math import isnan
from typing import Generic, TypeVar

import numpy as np

from baserate._costs import Costs
from baserate._counts import Counts
from baserate._errors import FitError, OptionError
from baserate.measure import MEASURES, Measure, as_measure, describe

OBJECTIVES = ("accuracy", "balanced_accuracy", "youden", "f1", "jaccard", "fowlkes_mallows", "kappa", "mcc")
"""Names of the measures that can be maximized exactly under parity constraints."""
_LINEAR: dict[str, Callable[[float, float], Costs]] = {
    "accuracy": lambda _positive, _negative: Costs(),
    "balanced_accuracy": lambda positive, negative: Costs(fp=0.5 / negative, fn=0.5 / positive),
    "youden": lambda positive, negative: Costs(fp=1 / negative, fn=1 / positive),
}
"""Objective -> costs, by the share of each class; their expected cost is a constant less the objective."""
_ROUNDING = 1e-12
"""Differences of costs and of objectives below this count as rounding."""
Solution = TypeVar("Solution")


def find_objective(objective: str | Measure) -> str:
    """Return the name of an objective.

    >>> find_objective("BA"), find_objective(MEASURES["f1"])
    ('balanced_accuracy', 'f1')
    """
    name = describe(as_measure(objective)).name
    if name not in OBJECTIVES:
        raise OptionError(
            f"objective is {name!r}, which cannot be maximized exactly under parity constraints",
            remedy=f"give one of {', '.join(OBJECTIVES)}.",
            option="objective",
            value=objective,
        )
    return name


@dataclass(frozen=True, slots=True, eq=False)
class Outcome(Generic[Solution]):
    """A solution, with its false and true positives as shares of all rows."""

    false: float
    true: float
    solution: Solution


Solver = Callable[[Costs], Outcome[Solution]]
"""Function that returns the cheapest solution at some costs."""


def maximize(objective: str, shares: tuple[float, float], solve: Solver[Solution]) -> Solution:
    """Find the solution of the greatest value of an objective, exactly, from cheapest solutions at several costs.

    A nonlinear objective is searched for on the border of cheapest points between flagging nobody and everybody
    [@aneja1979]. The cheapest point at the slope of a chord is beyond the chord, or there is none beyond. By
    quasi-convexity, no point between two neighbors is better than the best corner of the triangle that their
    iso-cost lines form with the chord. Triangles that cannot contain a better point are skipped.

    Parameters
    ----------
    objective
        One of `OBJECTIVES`.
    shares
        Positives and negatives as shares of all rows.
    solve
        Function that returns the cheapest solution at some costs; ties go to the strictest.
    """
    if not all(shares):
        raise FitError(f"{objective} needs rows of both classes", remedy="choose by costs, or add rows.")
    if objective in _LINEAR:
        return solve(_LINEAR[objective](*shares)).solution
    return _BorderSearch(objective, shares, solve).run().solution


def objective_value(objective: str, false: float, true: float, shares: tuple[float, float]) -> float:
    """Return the value of an objective at true and false positives, given as shares of all rows."""
    positive, negative = shares
    # Shares of points on the border of the unit square may exceed it by rounding.
    true, false = min(max(true, 0.0), positive), min(max(false, 0.0), negative)
    return float(MEASURES[objective](Counts(tp=true, fp=false, fn=positive - true, tn=negative - false)))


@dataclass(frozen=True, slots=True, eq=False)
class _Vertex(Generic[Solution]):
    """A cheapest outcome with the costs, of a false positive and of a false negative, at which it is cheapest."""

    at: Outcome[Solution]
    costs: tuple[float, float]

    @property
    def level(self) -> float:
        """Cost of the outcome above that of flagging nobody."""
        return self.costs[0] * self.at.false - self.costs[1] * self.at.true


@dataclass(frozen=True, slots=True, eq=False)
class _BorderSearch(Generic[Solution]):
    """Search along the upper left border of the points (F, T)."""

    objective: str
    shares: tuple[float, float]
    solve: Solver[Solution]

    def run(self) -> Outcome[Solution]:
        """Return the outcome of the greatest value; of equal ones, the strictest of those that were visited."""
        first, last = (self._vertex(*costs) for costs in ((1.0, 0.0), (0.0, 1.0)))
        best = max(first.at, last.at, key=self._rank)
        order = count()  # ties of bounds must not compare vertices
        queue = [(-self._bound(first, last), next(order), first, last)]
        while queue:
            bound, _, left, right = heappop(queue)
            if -bound <= self._value(best.false, best.true) + _ROUNDING:
                break
            middle = self._beyond_chord(left, right)
            if middle is None:
                continue
            best = max(best, middle.at, key=self._rank)
            for pair in ((left, middle), (middle, right)):
                heappush(queue, (-self._bound(*pair), next(order), *pair))
        return best

    def _vertex(self, alarm: float, miss: float) -> _Vertex[Solution]:
        return _Vertex(self.solve(Costs(fp=alarm, fn=miss)), (alarm, miss))

    def _beyond_chord(self, left: _Vertex[Solution], right: _Vertex[Solution]) -> _Vertex[Solution] | None:
        """Return the point that is farthest beyond the chord of two points; None if there is none."""
        alarm, miss = max(right.at.true - left.at.true, 0.0), max(right.at.false - left.at.false, 0.0)
        size = alarm + miss
        # A chord along an axis has no point beyond it that costs of one error could find.
        if min(alarm, miss) <= _ROUNDING * size or size <= _ROUNDING:
            return None
        middle = self._vertex(alarm / size, miss / size)
        chord = middle.costs[0] * left.at.false - middle.costs[1] * left.at.true
        return middle if middle.level < chord - _ROUNDING else None

    def _bound(self, left: _Vertex[Solution], right: _Vertex[Solution]) -> float:
        """Return the greatest value in the triangle of two points and the crossing of their iso-cost lines."""
        values = [self._value(each.at.false, each.at.true) for each in (left, right)]
        lines = np.array([left.costs, right.costs]) * [1.0, -1.0]
        if abs(np.linalg.det(lines)) > _ROUNDING:
            false, true = np.linalg.solve(lines, [left.level, right.level]).tolist()
            values.append(self._value(false, true))
        return max(values)

    def _value(self, false: float, true: float) -> float:
        """Return the value of a point; undefined ones have the limit 0."""
        value = objective_value(self.objective, false, true, self.shares)
        return 0.0 if isnan(value) else value

    def _rank(self, outcome: Outcome[Solution]) -> tuple[float, float]:
        """Return a key that grows with the value, rounded, and then with strictness."""
        return round(self._value(outcome.false, outcome.true), 13), -(outcome.false + outcome.true)
