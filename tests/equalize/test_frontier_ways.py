"""What the ways without lots, and without groups, cost beside the optimum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baserate import Costs, Curve, Tally, equalize
from baserate.equalize import Goal
from tests.equalize.fair_groups import curves

WAYS = {"deterministic_cost": "deterministic", "blind_cost": "blind"}
EVENLY = [0.0, 0.05, 0.1, 0.2, 0.4, 1.0]


@settings(max_examples=30)
@given(
    groups=curves(most=3),
    name=st.sampled_from(["equalized-odds", "equal-opportunity", "demographic-parity"]),
    costs=st.sampled_from([Costs(), Costs(fp=2, fn=1)]),
)
def test_less_freedom_costs_more(groups: dict[tuple[str], Curve], name: str, costs: Costs) -> None:
    found = equalize.frontier(groups, Goal(name, costs=costs), within=EVENLY)
    best, apart, together = (np.array(found.columns[each]) for each in ("cost", *WAYS))
    assert (best <= apart + 1e-9).all()
    assert (apart <= together + 1e-9).all()
    for each in (apart, together):
        assert np.diff(each).max() <= 1e-9
    assert apart[-1] == pytest.approx(best[-1], abs=1e-9)


@pytest.mark.parametrize("name", WAYS)
def test_they_are_those_of_the_policies(name: str) -> None:
    cells = {"f": [[4, 3, 1, 0], [0, 2, 3, 5]], "m": [[2, 3, 2, 1], [1, 2, 3, 3]]}
    groups = {sex: Curve(Tally.counted([0.8, 0.6, 0.4, 0.2], rows)) for sex, rows in cells.items()}
    for prevalence in (None, 0.2, {"f": 0.3, "m": 0.6}):
        goal = Goal("equalized-odds", within=0.1, prevalence=prevalence)
        found = equalize.frontier(groups, goal, within=[0.1])
        policy = getattr(equalize, WAYS[name])(groups, goal)
        assert found.columns[name][0] == pytest.approx(policy.settings["cost"], abs=1e-12)
