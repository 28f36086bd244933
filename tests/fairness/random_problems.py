"""Random groups and goals: few or many rows, with or without ties and weights."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

import baserate
from baserate import Costs, Curve
from baserate.fairness import Goal

PARITY_OF = {
    "sensitivity": "equal-opportunity",
    "fpr": "predictive-equality",
    "flag_rate": "demographic-parity",
}
tolerance = st.sampled_from([0.0, 0.01, 0.05, 0.2, float("inf")]) | st.floats(0, 1)
price = st.sampled_from([0.0, 0.3, 1.0, 2.0, 10.0])


class Problem(NamedTuple):
    """Groups and a goal."""

    curves: dict[tuple[str], Curve]
    goal: Goal


@st.composite
def curves(draw: st.DrawFn, *, most: int = 5, weighted: bool = False) -> dict[tuple[str], Curve]:
    """Two or more groups, each with rows of both classes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    levels = draw(st.sampled_from([2, 3, 6, 30]))
    result = {}
    for at in range(draw(st.integers(2, most))):
        size = draw(st.sampled_from([2, 5, 20, 100]))
        truth = rng.random(size) < rng.uniform(0.05, 0.95)
        truth[:2] = True, False
        score = np.round((rng.normal(size=size) + truth * rng.uniform(-0.5, 2)) * levels / 4) / levels
        weight = rng.choice([0.0, 0.5, 1.0, 3.0], size, p=[0.1, 0.3, 0.3, 0.3]) if weighted else None
        if weight is not None:
            weight[:2] = 1.0  # so that both classes are there
        result[f"g{at}",] = baserate.curve(baserate.tally(truth, score, weight=weight))
    return result


@st.composite
def problems(draw: st.DrawFn, *, most: int = 5) -> Problem:
    """Any groups with any bounds on any rates, at any costs."""
    rates = draw(st.lists(st.sampled_from(sorted(PARITY_OF)), min_size=1, max_size=3, unique=True))
    within = {rate: draw(tolerance) for rate in rates}
    goal = Goal([PARITY_OF[rate] for rate in rates], within=within, costs=Costs(fp=draw(price), fn=draw(price)))
    return Problem(draw(curves(most=most, weighted=draw(st.booleans()))), goal)
