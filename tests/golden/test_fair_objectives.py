"""Balanced accuracy under parity constraints on COMPAS, beside the grid of fairlearn."""

import pytest

from baserate import fairness
from tests.golden.compas import FILTERED, UNFILTERED, tallies
from tests.golden.conftest import Columns

# fairlearn 0.15.0, `ThresholdOptimizer(objective="balanced_accuracy_score", grid_size=1000)` on deciles / 10: balanced
# accuracy of all rows, from the probabilities of its interpolated thresholds.
OF_FAIRLEARN = {
    (UNFILTERED, "equalized-odds"): 0.6421768175578721,
    (UNFILTERED, "equal-opportunity"): 0.6433314028863188,
    (UNFILTERED, "predictive-equality"): 0.6430491446178497,
    (UNFILTERED, "demographic-parity"): 0.640118205668749,
    (FILTERED, "equalized-odds"): 0.6447599798640827,
    (FILTERED, "equal-opportunity"): 0.6491087536657207,
    (FILTERED, "predictive-equality"): 0.6499906913511355,
    (FILTERED, "demographic-parity"): 0.6461577232742726,
}
STEP = 3e-5
"""How far a grid of a thousand leaves the optimum here."""


@pytest.mark.parametrize(("population", "parity"), OF_FAIRLEARN)
def test_the_exact_optimum_is_just_above_that_of_a_grid(columns: Columns, population: str, parity: str) -> None:
    goal = fairness.Goal(parity, objective="balanced_accuracy")
    value = fairness.optimal_policy(tallies(columns, population), goal).settings["value"]
    assert 0 < value - OF_FAIRLEARN[population, parity] < STEP


@pytest.mark.parametrize(("population", "accuracy"), [(UNFILTERED, 0.643184085), (FILTERED, 0.649068577)])
def test_accuracy_has_its_published_optimum(columns: Columns, population: str, accuracy: float) -> None:
    goal = fairness.Goal("equalized-odds", objective="accuracy")
    assert fairness.optimal_policy(tallies(columns, population), goal).settings["value"] == pytest.approx(
        accuracy, abs=1e-9
    )
