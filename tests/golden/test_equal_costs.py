"""Costs of parities on COMPAS beside published exact optima."""

from collections.abc import Callable
from typing import Any

import pytest

from baserate import Costs, fairness
from tests.golden.compas import POPULATIONS, SIX, tallies
from tests.golden.conftest import Columns

COSTS = {"accuracy_FP1_FN1": Costs(), "FP2_FN1": Costs(fp=2, fn=1), "FP1_FN2": Costs(fp=1, fn=2)}
PARITIES = {
    "equalized_odds": "equalized-odds",
    "tpr": "equal-opportunity",
    "fpr": "predictive-equality",
    "dp": "demographic-parity",
}


@pytest.mark.parametrize("population", POPULATIONS)
def test_costs_and_prices_are_the_exact_ones(
    population: str, columns: Columns, load_published: Callable[[str], Any]
) -> None:
    wanted = load_published("compas_reference.json")[population]["exact"]
    data = tallies(columns, population)
    for name, costs in COSTS.items():
        for rule, parity in PARITIES.items():
            result = fairness.impact(data, fairness.Goal(parity, costs=costs), interval=None).data
            assert result["rows"] == POPULATIONS[population]
            assert result["cost"] == pytest.approx(wanted[name][rule]["expected_cost"], abs=1e-9)
            assert result["cost_without"] == pytest.approx(wanted[name]["none"]["expected_cost"], abs=1e-9)


@pytest.mark.parametrize("population", POPULATIONS)
def test_one_of_six_races_is_the_binding_constraint(
    population: str, columns: Columns, load_published: Callable[[str], Any]
) -> None:
    wanted = load_published("compas_reference.json")[population]["deterministic_and_relaxed"]["six_races_eo"]
    data = tallies(columns, population, SIX)
    result = fairness.impact(data, fairness.Goal("equalized-odds"), interval=None).data
    assert 1 - result["cost"] == pytest.approx(wanted["accuracy"], abs=1e-9)
    assert result["binds"] == [{"race": "Hispanic"}]
