"""The best common threshold, compared with a loop over all rows."""

from math import inf
from random import Random

import numpy as np
import pytest
from hypothesis import given, strategies as st

import baserate
from baserate import Costs, Curve, FitError, Policy, Tally, fairness
from baserate.fairness import Goal
from tests.fairness.brute_force import least_cost
from tests.fairness.random_groups import (
    Decision,
    Sample,
    cost,
    curves,
    goals,
    samples,
    satisfies,
    tables,
    thresholds,
)


def flag_above(threshold: float) -> Decision:
    return lambda _, person: person.score >= threshold


@given(samples(), goals)
def test_the_threshold_is_the_best_and_the_strictest_of_equals(sample: Sample, goal: Goal) -> None:
    result = {at: tables(sample, flag_above(at)) for at in thresholds(sample)}
    paid = {at: cost(each, goal.costs) for at, each in result.items()}
    kept = {at: each for at, each in paid.items() if satisfies(result[at], goal.tolerances)}
    best = min(kept, key=lambda at: (kept[at], -at))
    policy = fairness.common_threshold(curves(sample), goal)
    assert policy.threshold == best
    assert policy.settings["cost"] == pytest.approx(kept[best], abs=1e-12)
    assert policy.settings["price"] == pytest.approx(kept[best] - min(paid.values()), abs=1e-12)


@given(samples(), goals)
def test_the_bound_is_the_cost_of_the_randomized_optimum(sample: Sample, goal: Goal) -> None:
    groups = curves(sample)
    settings = fairness.common_threshold(groups, goal).settings
    assert settings["bound"] == pytest.approx(least_cost([*groups.values()], goal.tolerances, goal.costs), abs=1e-9)
    assert settings["bound"] <= settings["cost"] + 1e-12


@pytest.mark.slow
@given(samples(), goals)
def test_a_larger_tolerance_never_costs_more(sample: Sample, goal: Goal) -> None:
    query = [Goal(goal.parity, within=within, costs=goal.costs) for within in (0.0, 0.1, 0.3, 0.7, inf)]
    result = [fairness.common_threshold(curves(sample), each).settings for each in query]
    paid = [each["cost"] for each in result]
    assert paid == sorted(paid, reverse=True)
    assert result[-1]["price"] == 0


@given(samples(), goals, st.randoms(use_true_random=False))
def test_the_order_of_groups_does_not_matter(sample: Sample, goal: Goal, random: Random) -> None:
    names = [*sample]
    random.shuffle(names)
    one, other = (
        fairness.common_threshold(curves(each), goal) for each in (sample, {name: sample[name] for name in names})
    )
    assert one.threshold == other.threshold
    assert one.settings["cost"] == other.settings["cost"]
    assert one.settings["price"] == other.settings["price"]
    assert one.settings["bound"] == pytest.approx(other.settings["bound"], abs=1e-14)


def test_the_policy_needs_no_group_and_survives_its_file() -> None:
    groups = {"f": _curve_of_counts([3, 1, 0], [0, 1, 4]), "m": _curve_of_counts([2, 0, 1], [1, 1, 3])}
    policy = fairness.common_threshold(groups, Goal("demographic-parity", within=0.2))
    assert policy.rule == "group-blind"
    assert not policy.needs_group
    assert not policy.needs_id
    again = Policy.from_json(policy.to_json())
    assert again.cut == policy.cut
    assert again.key == policy.key


def test_a_note_warns_if_only_trivial_thresholds_satisfy_the_parity() -> None:
    groups = {"f": _curve_of_counts([3, 1, 0], [0, 1, 4]), "m": _curve_of_counts([2, 0, 1], [1, 1, 3])}
    [note] = _parity_notes(groups, within=0.0)
    assert note == (
        "only flagging nobody or everybody keeps equal-opportunity within 0.0 by a single threshold; allow a greater "
        "difference, or group-specific thresholds."
    )
    # Sensitivities at 0.9 are 3/4 and 2/3.
    assert not _parity_notes(groups, within=0.1)


def _parity_notes(groups: dict[str, Curve], within: float) -> list[str]:
    notes = fairness.common_threshold(groups, Goal("equal-opportunity", within=within)).notes
    return [note for note in notes if "has only" not in note]


def test_group_without_a_class_raises_or_is_excluded() -> None:
    both, one = _curve_of_counts([3, 1, 0], [0, 1, 4]), _curve_of_counts([0, 0, 0], [9, 9, 9])
    goal = Goal("equal-opportunity", costs=Costs(fp=1, fn=2))
    with pytest.raises(FitError, match="group = m has no positives"):
        fairness.common_threshold({"f": both, "m": one}, goal)
    policy = fairness.common_threshold({"f": both, "m": one}, goal, otherwise="refer")
    assert policy.threshold == baserate.decide.cost(both, costs=goal.costs).threshold
    assert policy.action(0.1) == "pass"
    assert (
        "group = m has no positives, so the parity does not apply; its action is: that of its score in other groups"
        in str(policy.notes)
    )


def test_costs_are_those_at_the_stated_prevalence() -> None:
    # At 0.5 it misses 0 of 4 and 2 of 5 positives, and alarms at 1 of 6 and 1 of 5 negatives.
    groups = {"f": _curve_of_counts([3, 1, 0], [0, 1, 5]), "m": _curve_of_counts([2, 1, 2], [1, 0, 4])}
    goal = Goal("equal-opportunity", within=0.4, prevalence=0.8)
    policy = fairness.common_threshold(groups, goal)
    assert policy.threshold == 0.1
    assert policy.settings["cost"] == pytest.approx(0.2)
    stricter = fairness.common_threshold(groups, Goal("equal-opportunity", within=0.4, prevalence=0.3))
    assert stricter.threshold == 0.5
    missed, alarmed = 0.3 * 2 / 9, 0.7 * 2 / 11
    assert stricter.settings["cost"] == pytest.approx(missed + alarmed)
    assert stricter.settings["prevalence"] == 0.3


def _curve_of_counts(positives: list[int], negatives: list[int]) -> Curve:
    return Curve(Tally.from_counts([0.9, 0.5, 0.1], np.array([positives, negatives])))


def test_invalid_groups_raise() -> None:
    with pytest.raises(baserate.OptionError, match="common_threshold needs labels and scores"):
        fairness.common_threshold([], Goal())  # type: ignore[call-overload]
