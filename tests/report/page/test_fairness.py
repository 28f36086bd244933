"""Policies for groups on the page equal the optima of Python."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isnan
from typing import Any, NamedTuple

import numpy as np
import pytest

import baserate
from baserate import Costs, Counts, Cut, Policy, RandomizedCut, Tallies, Tally, measure
from baserate._errors import FitError
from baserate.fairness import Goal, Parity, optimal_policy
from baserate.fairness._group_counts import Participants, group_tables, randomized_mass, select_participants
from baserate.fairness._optimum import roc_regions, solve_points
from baserate.fairness._parities import find_parity
from tests.report.page.models import cells_payload, costs_payload, has_both_classes, model_payload, states, with_groups
from tests.report.page.node import CORE_MODULES, Page, find_differences
from tests.tiers import take_in_tiers

PARITIES = tuple(each.name for each in baserate.fairness.PARITIES.values() if each.enforceable)
PAIRS = (("flag_rate", "fpr"), ("flag_rate", "sensitivity"))
"""Pairs of rates that no parity of the registry has; Python solves them by linear programs."""
COSTS_TO_TEST = (
    Costs(),
    Costs(fp=1, fn=5),
    Costs(fp=0, fn=1),
    Costs(fp=1, fn=0),
    Costs(fp=0, fn=0),
    Costs(fp=4, fn=3, tp=1),
)


class Solution(NamedTuple):
    """The index of a solution of the page, and the policy of Python."""

    people: Participants
    policy: Policy
    goal: Goal
    place: int


def goal_of(name: str, costs: Costs, prevalence: float | None) -> Goal:
    """Goal of a policy; group-specific thresholds have no constraint."""
    if name == "own":
        return Goal("demographic-parity", within=inf, costs=costs, prevalence=prevalence)
    return Goal(name, costs=costs, prevalence=prevalence)


def solve(page: Page, goal: Goal, tallies: Tallies) -> Solution | None:
    """Solve a goal on the page, if Python can solve it."""
    try:
        people = select_participants(tallies, goal, otherwise="pass")
    except FitError:
        return None
    model = page.keep("expand", model_payload(tallies))
    problem = {
        "threshold": model.part("threshold"),
        "groups": model.part("groups"),
        "factors": page.keep("factorsFor", model.part("everybody"), goal.prevalence),
        "costs": costs_payload(goal.costs),
    }
    place = page.ask("solveStrategy", {"rates": [*goal.bounds]}, problem).call
    return Solution(people, optimal_policy(tallies, goal, otherwise="pass"), goal, place)


def group_tallies(
    prevalences: tuple[float | None, ...] = (None, 1e-6, 0.1, 0.999),
) -> Iterator[tuple[Tallies, float | None]]:
    """Yield tallies with groups."""
    return ((tallies, at) for tallies, at in states(prevalences) if tallies.attributes)


def treatments_of(policy: Policy, group: tuple[object, ...]) -> dict[str, Any]:
    """Return the cut of a group in the form of the page."""
    result = policy.by_group[group]
    if isinstance(result, Cut):
        return {"thresholds": list(result.thresholds)}
    pairs = zip(result.chances, result.cuts, strict=True)
    return {"lottery": [{"chance": chance, "threshold": cut.threshold} for chance, cut in pairs]}


def thresholds_of(treatment: dict[str, Any]) -> list[float]:
    return treatment.get("thresholds") or [each["threshold"] for each in treatment["lottery"]]


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", take_in_tiers(["own", *PARITIES], {"own", "equalized-odds"}.__contains__))
def test_strategies_equal_the_optima_of_python(name: str) -> None:
    page = Page(*CORE_MODULES, "fairness.js")
    wanted = [
        solve(page, goal_of(name, costs, prevalence), tallies)
        for at, (tallies, prevalence) in enumerate(group_tallies())
        for costs in COSTS_TO_TEST[at % 2 :: 2]
    ]
    solved = [each for each in wanted if each is not None]
    answers = page.answers()
    has_same_cuts = [check_solution(answers[each.place], each) for each in solved]
    assert len(has_same_cuts) > 200
    assert np.mean(has_same_cuts) > 0.9


def check_solution(result: dict[str, Any], wanted: Solution) -> bool:
    """Check points, cost and tables; return whether the cuts are those of Python, too."""
    regions = roc_regions(wanted.people)
    points = iter(solve_points(list(regions.values()), wanted.goal.tolerances, wanted.goal.costs).tolist())
    tables = group_tables(wanted.people.subset, wanted.policy, wanted.people.model)
    groups = wanted.people.tallies.groups
    assert find_differences(result["cost"], wanted.policy.settings["cost"]) == []
    has_same_cuts = True
    for at, group in enumerate(groups):
        if group in wanted.people.excluded:
            assert result["treatments"][at] is result["counts"][at] is result["points"][at] is None
            continue
        fpr, tpr = next(points)
        assert find_differences(result["points"][at], {"fpr": fpr, "tpr": tpr}) == []
        counts = {each: cells_payload(tables[group])[each] for each in ("tp", "fp", "fn", "tn")}
        assert find_differences(result["counts"][at], counts) == []
        treatment = treatments_of(wanted.policy, group)
        if thresholds_of(treatment) == thresholds_of(result["treatments"][at]):
            assert find_differences(result["treatments"][at], treatment) == []
        else:
            # In the sample, Python takes thresholds within an edge of the hull, which randomize fewer people.
            assert wanted.goal.prevalence is None
            own, wider = thresholds_of(treatment), thresholds_of(result["treatments"][at])
            assert min(wider) <= min(own) <= max(own) <= max(wider)
            has_same_cuts = False
    assert result["randomized"] >= randomized_share(wanted) - 1e-12
    if has_same_cuts:
        assert find_differences(result["randomized"], randomized_share(wanted)) == []
    return has_same_cuts


def randomized_share(wanted: Solution) -> float:
    """Share of participants who are decided at random."""
    part = wanted.people.subset.models[wanted.people.model]
    mass = sum(randomized_mass(tally, wanted.policy.by_group[group]) for group, tally in part.items())
    return mass / sum(tally.total for tally in part.values())


@pytest.mark.quick(1)
@pytest.mark.parametrize("pair", PAIRS)
def test_pairs_of_equal_rates_have_the_least_cost_of_python(pair: tuple[str, str]) -> None:
    page = Page(*CORE_MODULES, "fairness.js")
    parity = Parity("pair", pair, "both rates are equal", "anything else")
    goals = [Goal(parity, costs=costs) for costs in (COSTS_TO_TEST[1], COSTS_TO_TEST[5])]
    wanted = [case for tallies, _ in group_tallies((None,)) for goal in goals if (case := solve(page, goal, tallies))]
    assert len(wanted) > 20
    answers = page.answers()
    for each in wanted:
        result = answers[each.place]
        assert result["cost"] == pytest.approx(each.policy.settings["cost"], abs=1e-9)
        tables = [counts_from_payload(table) for table in result["counts"] if table]
        for rate in pair:
            assert np.ptp([measure.MEASURES[rate](table) for table in tables if has_rate(table, rate)]) < 1e-9


def has_rate(table: Counts[float], rate: str) -> bool:
    """Return whether a rate of a table is defined."""
    return not isnan(measure.MEASURES[rate](table))


@pytest.mark.slow
def test_parities_hold_for_expected_tables() -> None:
    page = Page(*CORE_MODULES, "fairness.js")
    wanted = [
        (name, each)
        for name in PARITIES
        for tallies, prevalence in group_tallies((None, 0.1))
        if (each := solve(page, goal_of(name, COSTS_TO_TEST[1], prevalence), tallies))
    ]
    answers = page.answers()
    for name, each in wanted:
        tables = [table for table in answers[each.place]["counts"] if table]
        for rate in find_parity(name).rates:
            of = [measure.MEASURES[rate](counts_from_payload(table)) for table in tables]
            assert np.ptp(of) < 1e-12


def counts_from_payload(table: dict[str, float]) -> Counts[float]:
    """Convert a table of the page."""
    return Counts(*(table[name] for name in ("tp", "fp", "fn", "tn")))


def test_cost_is_nan_without_eligible_groups() -> None:
    page = Page(*CORE_MODULES, "fairness.js")
    tallies = with_groups(Tally.from_counts([0.5], [[0], [3]]), Tally.from_counts([0.4], [[0], [2]]))
    assert not has_both_classes(tallies)
    model = page.keep("expand", model_payload(tallies))
    problem = {
        "threshold": model.part("threshold"),
        "groups": model.part("groups"),
        "factors": {"positive": 1, "negative": 1, "known": False},
        "costs": costs_payload(Costs()),
    }
    page.ask("solveStrategy", {"rates": ["sensitivity", "fpr"]}, problem)
    result = page.answers()[-1]
    assert result["treatments"] == [None, None]
    assert isnan(result["cost"])


def test_randomized_cuts_are_vertices_of_the_hull() -> None:
    page = Page(*CORE_MODULES, "fairness.js")
    wanted = [
        each
        for tallies, prevalence in group_tallies((None, 0.3))
        if (each := solve(page, goal_of("equalized-odds", COSTS_TO_TEST[1], prevalence), tallies))
    ]
    answers = page.answers()
    randomized = [
        treatment["lottery"]
        for each in wanted
        for treatment in answers[each.place]["treatments"]
        if treatment and "lottery" in treatment
    ]
    assert {len(each) for each in randomized} == {2, 3}
    for each in randomized:
        cuts = tuple(Cut((one["threshold"],)) for one in each)
        assert sum(one["chance"] for one in each) == pytest.approx(1)
        assert RandomizedCut(cuts, tuple(one["chance"] for one in each)).has_table
