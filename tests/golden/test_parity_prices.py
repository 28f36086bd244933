"""Costs of equalized odds of COMPAS scores at some tolerances, beside published accuracies."""

from functools import partial

import pytest

from baserate import Costs, fairness
from baserate.fairness import Goal
from tests.golden.compas import POPULATIONS, tallies
from tests.golden.conftest import Columns

near = partial(pytest.approx, rel=0, abs=1e-6)
RELAXED = ([0.643184, 0.645967, 0.648350, 0.652322], [0.649069, 0.652325, 0.654566, 0.658301])
DETERMINISTIC = (0.645528, 0.650625)
FREE = (0.656098, 0.662941)


@pytest.mark.parametrize("place", [0, 1], ids=POPULATIONS)
def test_the_value_of_a_tolerance_agrees_with_published_values(columns: Columns, place: int) -> None:
    people = tallies(columns, [*POPULATIONS][place])
    result = fairness.frontier(people, Goal("equalized-odds"), within=[0, 0.02, 0.05, 0.1])
    assert [1 - cost for cost in result.columns["cost"]] == near(RELAXED[place])
    assert 1 - result.columns["deterministic_cost"][1] == near(DETERMINISTIC[place])
    assert 1 - result.data["cost_without"] == near(FREE[place])


@pytest.mark.parametrize("place", [0, 1], ids=POPULATIONS)
def test_false_alarms_that_cost_ten_times_as_much_make_scores_useless(columns: Columns, place: int) -> None:
    people = tallies(columns, [*POPULATIONS][place])
    result = fairness.frontier(people, Goal("equalized-odds", costs=Costs(fp=10, fn=1)), within=[0, 0.05, 1])
    assert result.columns["price"] == [0, 0, 0]
    for name in ("cost", "deterministic_cost", "blind_cost"):
        assert result.columns[name] == near([(0.466179, 0.470443)[place]] * 3)
    assert "flagging nobody" in result.data["notes"][-1]
