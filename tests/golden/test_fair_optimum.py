"""Exact optima on COMPAS, from the reference that was computed by linear programs and checked against four packages."""

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import pytest

from baserate import Costs, Curve, RandomizedCut, fairness, measure
from baserate.fairness import Goal
from baserate.fairness._group_counts import group_tables
from tests.golden.compas import FILTERED, POPULATIONS, SIX, UNFILTERED, tallies
from tests.golden.conftest import Columns
from tests.tiers import take_in_tiers

Published = Callable[[str], Any]
EXACT = 1e-9
PARITIES = {
    "equalized_odds": "equalized-odds",
    "tpr": "equal-opportunity",
    "fpr": "predictive-equality",
    "dp": "demographic-parity",
    "none": "equalized-odds",
}
COSTS = {
    "accuracy_FP1_FN1": Costs(),
    "FP10_FN1": Costs(fp=10),
    "FP1_FN10": Costs(fn=10),
    "FP2_FN1": Costs(fp=2),
    "FP1_FN2": Costs(fn=2),
}


@pytest.mark.quick(4)
@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("paid", take_in_tiers(COSTS))
@pytest.mark.parametrize("parity", PARITIES)
def test_least_cost_under_each_parity(
    columns: Columns, load_published: Published, population: str, paid: str, parity: str
) -> None:
    output = load_published("compas_reference.json")[population]["exact"][paid][parity]
    t = tallies(columns, population)
    goal = Goal(PARITIES[parity], within=inf if parity == "none" else 0.0, costs=COSTS[paid])
    policy = fairness.optimal_policy(t, goal)
    assert policy.settings["cost"] == pytest.approx(output["expected_cost"], abs=EXACT)
    for group, result in group_tables(t, policy, "decile").items():
        (race,) = group
        assert measure.fpr(result) == pytest.approx(output["groups"][race]["fpr"], abs=EXACT)
        assert measure.sensitivity(result) == pytest.approx(output["groups"][race]["tpr"], abs=EXACT)


@pytest.mark.quick(8)
@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("bound", [0.01, 0.02, 0.05, 0.1])
@pytest.mark.parametrize("parity", ["equalized_odds", "tpr", "dp"])
def test_accuracy_within_a_tolerance(
    columns: Columns, load_published: Published, population: str, bound: float, parity: str
) -> None:
    output = load_published("compas_reference.json")[population]["deterministic_and_relaxed"]
    policy = fairness.optimal_policy(tallies(columns, population), Goal(PARITIES[parity], within=bound))
    assert 1 - policy.settings["cost"] == pytest.approx(output[f"relaxed_lp_{parity}_tol{bound:g}"], abs=EXACT)


def test_the_published_accuracies_and_costs(columns: Columns) -> None:
    result = {
        population: [
            round(1 - fairness.optimal_policy(t, Goal("equalized-odds")).settings["cost"], 6),
            round(1 - fairness.optimal_policy(t, Goal("equal-opportunity")).settings["cost"], 6),
            round(fairness.optimal_policy(t, Goal("equalized-odds", costs=Costs(fp=2, fn=1))).settings["cost"], 6),
        ]
        for population in POPULATIONS
        for t in [tallies(columns, population)]
    }
    assert result == {UNFILTERED: [0.643184, 0.646078, 0.445604], FILTERED: [0.649069, 0.650832, 0.43848]}


def test_the_mixture_where_it_is_unique(columns: Columns) -> None:
    policy = fairness.optimal_policy(tallies(columns, FILTERED), Goal("equalized-odds"))
    wanted = {"African-American": {0.7: 0.8010, 0.6: 0.1990}, "Caucasian": {0.5: 0.7796, 0.4: 0.2204}}
    for (race,), result in policy.by_group.items():
        assert isinstance(result, RandomizedCut)
        chances = dict(zip((cut.threshold for cut in result.cuts), result.chances, strict=True))
        assert {at: round(chance, 4) for at, chance in chances.items()} == wanted[str(race)]


@pytest.mark.parametrize("base", [5, 6])
@pytest.mark.parametrize("population", POPULATIONS)
def test_labels_are_a_score_of_two_values(
    columns: Columns, load_published: Published, population: str, base: int
) -> None:
    output = load_published("compas_reference.json")[population]["deterministic_and_relaxed"]
    t = tallies(columns, population)
    labels = {
        group: Curve(tally.with_scores((tally.score >= base / 10 - 0.05).astype(np.float64)))
        for group, tally in t.models["decile"].items()
    }
    policy = fairness.optimal_policy(labels, Goal("equalized-odds"), reversal=True)
    assert 1 - policy.settings["cost"] == pytest.approx(
        output[f"binary_derived_base_decile>={base}"]["accuracy"], abs=EXACT
    )


@pytest.mark.parametrize(("population", "wanted"), [*zip(POPULATIONS, (0.631414, 0.629545), strict=True)])
def test_six_groups_are_held_to_the_weakest_scores(columns: Columns, population: str, wanted: float) -> None:
    t = tallies(columns, population, SIX)
    policy = fairness.optimal_policy(t, Goal("equalized-odds"))
    assert 1 - policy.settings["cost"] == pytest.approx(wanted, abs=5e-7)
    small = [note for note in policy.notes if "has only" in note]
    assert {race for race in SIX if any(race in note for note in small)} == {"Asian", "Native American"}
