"""Optima by brute force: a linear program over the probability of every threshold of every group."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from baserate import Costs, Curve

Floats = npt.NDArray[np.float64]


def least_cost(
    curves: Sequence[Curve], tolerances: Mapping[str, float], costs: Costs, *, reversal: bool = False
) -> float:
    """Compute the least expected cost per person under bounds on differences of rates, from masses alone."""
    everybody = sum(curve.total for curve in curves)
    objective: list[Floats] = []
    rates: dict[str, list[Floats]] = {rate: [] for rate in tolerances}
    fixed = 0.0
    for curve in curves:
        true, false = (np.concatenate([each, each[-1] - each]) if reversal else each for each in curve.flagged_mass)
        objective.append((true * (costs.tp - costs.fn) + false * (costs.fp - costs.tn)) / everybody)
        fixed += (curve.positives * costs.fn + curve.negatives * costs.tn) / everybody
        each = {
            "sensitivity": true / max(curve.positives, 1e-300),
            "fpr": false / max(curve.negatives, 1e-300),
            "flag_rate": (true + false) / curve.total,
        }
        for rate in tolerances:
            rates[rate].append(each[rate])
    return fixed + _solve_program(objective, rates, tolerances)


def _solve_program(
    objective: list[Floats], rates: Mapping[str, list[Floats]], tolerances: Mapping[str, float]
) -> float:
    sizes = [len(each) for each in objective]
    starts = np.cumsum([0, *sizes])
    width = starts[-1] + len(tolerances)
    whole = np.zeros((len(sizes), width))
    rows, most = [], []
    for at, size in enumerate(sizes):
        whole[at, starts[at] : starts[at] + size] = 1.0
        for place, (rate, bound) in enumerate(tolerances.items()):
            row = np.zeros(width)
            row[starts[at] : starts[at] + size] = rates[rate][at]
            row[starts[-1] + place] = -1.0
            if bound < 1:
                rows += [row, -row]
                most += [bound, 0.0]
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    result = linprog(
        np.concatenate([*objective, np.zeros(len(tolerances))]),
        A_ub=np.array(rows) if rows else None,
        b_ub=most or None,
        A_eq=whole,
        b_eq=np.ones(len(sizes)),
        method="highs-ds",
        options=options,
    )
    assert result.success, result.message
    return float(result.fun)
