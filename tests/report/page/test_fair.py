"""Strategies for groups on the page are the optima that Python finds."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isnan
from typing import Any, NamedTuple

import numpy as np
import pytest

from baserate import Costs, Counts, Curve, Cut, Policy, RandomizedCut, Tallies, Tally, measure
from baserate._errors import FitError
from baserate.equalize import Goal, optimal_policy
from baserate.equalize._optimum import roc_regions, solve_points
from baserate.equalize._parities import find_parity
from baserate.equalize._participants import Participants, group_tables, randomized_mass, select_participants
from tests.report.page.models import both_classes, cells, costs_of, entry, in_groups, states, there
from tests.report.page.node import CORE, Page, unlike
from tests.tiers import tiered

PARITIES = ("demographic-parity", "equal-opportunity", "equalized-odds")
PRICES = (Costs(), Costs(fp=1, fn=5), Costs(fp=0, fn=1), Costs(fp=1, fn=0), Costs(fp=0, fn=0), Costs(fp=4, fn=3, tp=1))


class Asked(NamedTuple):
    """A strategy, and what Python has for it."""

    people: Participants
    policy: Policy
    goal: Goal
    place: int


def goal_of(name: str, costs: Costs, prevalence: float | None) -> Goal:
    """What a strategy aims at; each group alone is bound by no parity."""
    if name == "own":
        return Goal("demographic-parity", within=inf, costs=costs, prevalence=prevalence)
    return Goal(name, costs=costs, prevalence=prevalence)


def asked(page: Page, name: str, tallies: Tallies, prevalence: float | None, costs: Costs) -> Asked | None:
    """Ask the page for a strategy, if Python has one."""
    goal = goal_of(name, costs, prevalence)
    try:
        people = select_participants(tallies, goal, otherwise="pass")
    except FitError:
        return None
    model = page.keep("expand", entry(tallies))
    told = {
        "threshold": model.part("threshold"),
        "groups": model.part("groups"),
        "factors": page.keep("factorsFor", model.part("everybody"), prevalence),
        "costs": costs_of(costs),
        "index": 0,
    }
    place = page.ask("strategy", name, told).call
    return Asked(people, optimal_policy(tallies, goal, otherwise="pass"), goal, place)


def many(prevalences: tuple[float | None, ...] = (None, 1e-6, 0.1, 0.999)) -> Iterator[tuple[Tallies, float | None]]:
    """People in groups."""
    return ((tallies, at) for tallies, at in states(prevalences) if tallies.attributes)


def treatments_of(policy: Policy, group: tuple[object, ...]) -> dict[str, Any]:
    """What Python does with a group, as the page tells it."""
    found = policy.by_group[group]
    if isinstance(found, Cut):
        return {"thresholds": list(found.thresholds)}
    pairs = zip(found.chances, found.cuts, strict=True)
    return {"lottery": [{"chance": chance, "threshold": cut.threshold} for chance, cut in pairs]}


def thresholds_of(treatment: dict[str, Any]) -> list[float]:
    return treatment.get("thresholds") or [each["threshold"] for each in treatment["lottery"]]


@pytest.mark.parametrize("name", tiered(["own", *PARITIES], {"own", "equalized-odds"}.__contains__))
def test_strategies_are_pythons_optima(name: str) -> None:
    page = Page(*CORE, "fair.js")
    wanted = [asked(page, name, *each, costs) for at, each in enumerate(many()) for costs in PRICES[at % 2 :: 2]]
    there = [each for each in wanted if each is not None]
    answers = page.answers()
    alike = [same_as_python(answers[each.place], each) for each in there]
    assert len(alike) > 200
    assert np.mean(alike) > 0.9


def same_as_python(found: dict[str, Any], wanted: Asked) -> bool:
    """See that points, cost and tables are Python's; tell whether the cuts are, too."""
    regions = roc_regions(wanted.people)
    points = iter(solve_points(list(regions.values()), wanted.goal.tolerances, wanted.goal.costs).tolist())
    tables = group_tables(wanted.people.subset, wanted.policy, wanted.people.model)
    groups = wanted.people.tallies.groups
    assert unlike(found["cost"], wanted.policy.settings["cost"]) == []
    alike = True
    for at, group in enumerate(groups):
        if group in wanted.people.excluded:
            assert found["treatments"][at] is found["counts"][at] is found["points"][at] is None
            continue
        fpr, tpr = next(points)
        assert unlike(found["points"][at], {"fpr": fpr, "tpr": tpr}) == []
        counts = {each: cells(tables[group])[each] for each in ("tp", "fp", "fn", "tn")}
        assert unlike(found["counts"][at], counts) == []
        treatment = treatments_of(wanted.policy, group)
        if thresholds_of(treatment) == thresholds_of(found["treatments"][at]):
            assert unlike(found["treatments"][at], treatment) == []
        else:
            # Of rows as they are, Python takes thresholds within an edge of the hull, so that fewer draw lots.
            assert wanted.goal.prevalence is None
            own, wider = thresholds_of(treatment), thresholds_of(found["treatments"][at])
            assert min(wider) <= min(own) <= max(own) <= max(wider)
            alike = False
    assert found["lots"] >= lots_of(wanted) - 1e-12
    if alike:
        assert unlike(found["lots"], lots_of(wanted)) == []
    return alike


def lots_of(wanted: Asked) -> float:
    """Share of those who take part that is decided by lot."""
    part = wanted.people.subset.models[wanted.people.model]
    drawn = sum(randomized_mass(tally, wanted.policy.by_group[group]) for group, tally in part.items())
    return drawn / sum(tally.total for tally in part.values())


def test_a_single_cut_treats_all_groups_alike() -> None:
    page, wanted = Page(*CORE, "fair.js"), []
    for tallies, prevalence in many((None, 0.1)):
        model = page.keep("expand", entry(tallies))
        scores = tallies.pooled("risk").score
        told = {
            "threshold": model.part("threshold"),
            "groups": model.part("groups"),
            "factors": page.keep("factorsFor", model.part("everybody"), prevalence),
            "costs": costs_of(PRICES[1]),
            "index": len(scores) // 2,
        }
        threshold = float(scores[len(scores) // 2 - 1])
        wanted.append((there(tallies, prevalence), threshold))
        page.ask("strategy", "single", told)
    found = [each for each in page.answers() if each is not None]
    for one, (tallies, threshold) in zip(found, wanted, strict=True):
        tables = [Curve(tally).at(threshold) for tally in tallies.models["risk"].values()]
        together = Curve(tallies.pooled("risk")).at(threshold)
        assert unlike(one["counts"], [cells(each) for each in tables]) == []
        assert unlike(one["cost"], measure.expected_cost(together, costs=PRICES[1])) == []
        assert unlike(one["points"], [{"fpr": measure.fpr(c), "tpr": measure.sensitivity(c)} for c in tables]) == []
        assert one["treatments"] == [{"thresholds": [threshold]}] * len(tables)
        assert one["lots"] == 0


def test_parities_hold_in_what_can_be_expected() -> None:
    page = Page(*CORE, "fair.js")
    wanted = [
        (name, each)
        for name in PARITIES
        for tallies, prevalence in many((None, 0.1))
        if (each := asked(page, name, tallies, prevalence, PRICES[1]))
    ]
    answers = page.answers()
    for name, each in wanted:
        tables = [table for table in answers[each.place]["counts"] if table]
        for rate in find_parity(name).rates:
            of = [measure.MEASURES[rate](as_counts(table)) for table in tables]
            assert np.ptp(of) < 1e-12


def as_counts(table: dict[str, float]) -> Counts[float]:
    """A table of the page."""
    return Counts(*(table[name] for name in ("tp", "fp", "fn", "tn")))


def test_nobody_who_could_take_part_costs_nothing_known() -> None:
    page = Page(*CORE, "fair.js")
    tallies = in_groups(Tally.from_counts([0.5], [[0], [3]]), Tally.from_counts([0.4], [[0], [2]]))
    assert not both_classes(tallies)
    model = page.keep("expand", entry(tallies))
    told = {
        "threshold": model.part("threshold"),
        "groups": model.part("groups"),
        "factors": {"positive": 1, "negative": 1, "known": False},
        "costs": costs_of(Costs()),
        "index": 0,
    }
    page.ask("strategy", "equalized-odds", told)
    found = page.answers()[-1]
    assert found["treatments"] == [None, None]
    assert isnan(found["cost"])


def test_a_lottery_draws_between_cuts_of_the_hull() -> None:
    page = Page(*CORE, "fair.js")
    wanted = [
        each
        for tallies, prevalence in many((None, 0.3))
        if (each := asked(page, "equalized-odds", tallies, prevalence, PRICES[1]))
    ]
    answers = page.answers()
    drawn = [
        treatment["lottery"]
        for each in wanted
        for treatment in answers[each.place]["treatments"]
        if treatment and "lottery" in treatment
    ]
    assert {len(each) for each in drawn} == {2, 3}
    for each in drawn:
        cuts = tuple(Cut((one["threshold"],)) for one in each)
        assert sum(one["chance"] for one in each) == pytest.approx(1)
        assert RandomizedCut(cuts, tuple(one["chance"] for one in each)).has_table
