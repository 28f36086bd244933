"""What the ways without lots, and without groups, cost beside the optimum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baserate import Costs, Curve, Tally, equalize
from baserate.equalize import Goal

WAYS = {"deterministic_cost": "deterministic", "blind_cost": "blind"}
EVENLY = [0.0, 0.05, 0.1, 0.2, 0.4, 1.0]
few = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=5)


def curve(rows: list[tuple[int, int]]) -> Curve:
    cells = np.array(rows).T + np.eye(2, len(rows), dtype=np.int64)
    return Curve(Tally.counted(np.arange(len(rows), 0, -1) / 8, cells))


@settings(max_examples=30)
@given(
    f=few.map(curve),
    m=few.map(curve),
    name=st.sampled_from(["equalized-odds", "equal-opportunity", "demographic-parity"]),
    costs=st.sampled_from([Costs(), Costs(fp=2, fn=1)]),
)
def test_less_freedom_costs_more(f: Curve, m: Curve, name: str, costs: Costs) -> None:
    goal = Goal(name, costs=costs)
    found = equalize.frontier({"f": f, "m": m}, goal, within=EVENLY)
    best, apart, together = (np.array(found.columns[each]) for each in ("cost", *WAYS))
    assert (best <= apart + 1e-9).all()
    assert (apart <= together + 1e-9).all()
    for each in (apart, together):
        assert np.diff(each).max() <= 1e-9
    assert apart[-1] == pytest.approx(best[-1], abs=1e-9)


@pytest.mark.parametrize("name", WAYS)
def test_they_are_those_of_the_policies(name: str) -> None:
    groups = {"f": curve([(4, 0), (3, 2), (1, 3), (0, 5)]), "m": curve([(2, 1), (3, 2), (2, 3), (1, 3)])}
    for prevalence in (None, 0.2, {"f": 0.3, "m": 0.6}):
        goal = Goal("equalized-odds", within=0.1, prevalence=prevalence)
        found = equalize.frontier(groups, goal, within=[0.1])
        policy = getattr(equalize, WAYS[name])(groups, goal)
        assert found.columns[name][0] == pytest.approx(policy.settings["cost"], abs=1e-12)
