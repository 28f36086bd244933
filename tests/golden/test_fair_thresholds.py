"""Deterministic group thresholds and crossings of ROC curves on COMPAS, beside other searches and values by hand."""

from collections.abc import Callable, Mapping
from math import inf
from typing import Any

import pytest

from baserate import Costs, Curve, Tallies, curve
from baserate.fairness import (
    Goal,
    RocCrossing,
    choose_roc_crossing,
    deterministic_thresholds,
    optimal_policy,
    roc_crossings,
)
from baserate.fairness._group_counts import group_tables, rate_gaps
from tests.golden.compas import POPULATIONS, tallies
from tests.golden.conftest import Columns

PARITIES = {"equalized_odds": "equalized-odds", "tpr": "equal-opportunity", "dp": "demographic-parity"}


@pytest.fixture(scope="module", params=POPULATIONS)
def population(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def people(columns: Columns, population: str) -> Tallies:
    return tallies(columns, population)


@pytest.fixture(scope="module")
def reference_values(load_published: Callable[[str], Any], population: str) -> dict[str, Any]:
    result: dict[str, Any] = load_published("compas_reference.json")[population]
    return result


def curves(people: Tallies) -> tuple[Curve, Curve]:
    first, second = (curve(each) for each in people.models["decile"].values())
    return first, second


@pytest.mark.parametrize("within", ["0.01", "0.02", "0.05", "0.1"])
@pytest.mark.parametrize("parity", PARITIES)
def test_deterministic_group_thresholds(
    people: Tallies, reference_values: dict[str, Any], parity: str, within: str
) -> None:
    published = reference_values["deterministic_and_relaxed"]
    policy = deterministic_thresholds(people, Goal(PARITIES[parity], float(within)))
    best = published[f"deterministic_{parity}_tol{within}"]
    assert [cut.threshold for cut in policy.by_group.values()] == [best["t_AA"], best["t_C"]]  # type: ignore[union-attr]
    assert 1 - policy.settings["cost"] == pytest.approx(best["acc"], abs=1e-12)
    assert 1 - policy.settings["bound"] == pytest.approx(published[f"relaxed_lp_{parity}_tol{within}"], abs=1e-9)
    apart = rate_gaps(group_tables(people, policy, "decile"), ["sensitivity", "fpr", "flag_rate"])
    assert [*apart.values()] == pytest.approx([best["dTPR"], best["dFPR"], best["dp"]], abs=1e-12)


def test_without_a_tolerance_thresholds_flag_nobody(people: Tallies) -> None:
    policy = deterministic_thresholds(people, Goal("equalized-odds"))
    assert [cut.threshold for cut in policy.by_group.values()] == [inf, inf]  # type: ignore[union-attr]
    assert policy.notes[-1].startswith("nobody is flagged")


@pytest.mark.parametrize(("kind", "hull"), [("raw", False), ("hull", True)])
def test_crossings_of_group_roc_curves(
    people: Tallies,
    reference_values: dict[str, Any],
    kind: str,
    hull: bool,  # noqa: FBT001
) -> None:
    published = reference_values["roc_crossings"][kind]
    result = roc_crossings(*curves(people), hull=hull)
    assert [(each.fpr, each.tpr) for each in result] == [pytest.approx(each[:2], abs=5e-7) for each in published]
    for each, (_, _, *thresholds) in zip(result, published, strict=True):
        for mixture, (strict, lax, chance) in zip((each.first, each.second), thresholds, strict=True):
            assert (mixture.strict, mixture.lax) == (float(strict), lax)
            assert mixture.chance == pytest.approx(chance, abs=5e-5)


def test_a_crossing_may_be_far_from_the_optimum(people: Tallies, population: str) -> None:
    goal = Goal("equalized-odds", costs=Costs(fp=1, fn=1))
    policy = choose_roc_crossing(people, goal)
    output: Mapping[str, Any] = policy.settings
    best = 1 - optimal_policy(people, goal).settings["cost"]
    assert 1 - output["bound"] == pytest.approx(best, abs=1e-12)
    accuracy = {"two_years_unfiltered_n6150": 0.633309, "propublica_filter_n5278": 0.649069}[population]
    assert 1 - output["cost"] == pytest.approx(accuracy, abs=5e-7)
    above = {"two_years_unfiltered_n6150": 0.643184 - 0.633309, "propublica_filter_n5278": 0.0}[population]
    assert output["above"] == pytest.approx(above, abs=1e-6)
    assert max(rate_gaps(group_tables(people, policy, "decile"), ["sensitivity", "fpr"]).values()) < 1e-12


def test_the_common_scale_of_the_crossing(people: Tallies) -> None:
    result: RocCrossing = roc_crossings(*curves(people), hull=True)[-1]
    here, there = result.thresholds
    assert there < here  # the same rates need a lower score of Caucasian defendants
    assert result.scale([0.1, there, 1.0]).tolist() == pytest.approx([0.1, here, 1.0])
    assert [*result.scale.y] == sorted(result.scale.y)
