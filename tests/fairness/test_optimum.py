"""The optimal policy under a parity, compared with brute force, and its laws."""

from dataclasses import replace
from functools import partial
from itertools import combinations, pairwise, permutations
from math import inf
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import linprog

import baserate
from baserate import (
    Costs,
    Curve,
    Cut,
    FitError,
    MissingValuesError,
    OptionError,
    Policy,
    RandomizedCut,
    Tallies,
    Tally,
    UnknownLabelError,
    UnknownNameError,
    apply,
    decide,
    fairness,
    read,
    shift,
)
from baserate.fairness import Goal
from baserate.fairness._group_counts import as_tallies, group_tables, rate_gaps, select_participants
from baserate.fairness._optimum import roc_region
from baserate.measure import MEASURES
from tests.fairness.brute_force import Floats, least_cost
from tests.fairness.random_problems import Problem, curves, problems

EXACT = 1e-9
CLEARLY = 1e-6


def cost_and_gaps(groups: dict[Any, Curve], policy: Policy, goal: Goal) -> tuple[float, dict[str, float]]:
    """Compute the cost per person and the gaps of a policy from its confusion matrices."""
    tables = group_tables(as_tallies(groups), policy, "score")
    cost = sum(goal.costs.total(each) for each in tables.values()) / sum(each.total for each in tables.values())
    return cost, rate_gaps(tables, goal.rates)


@pytest.mark.parametrize("reversal", [False, True])
@given(problem=problems())
def test_optimum_is_the_cheapest_and_satisfies_the_parity(*, problem: Problem, reversal: bool) -> None:
    groups, goal = problem
    policy = fairness.optimal_policy(groups, goal, reversal=reversal)
    least = least_cost(list(groups.values()), goal.tolerances, goal.costs, reversal=reversal)
    cost, apart = cost_and_gaps(groups, policy, goal)
    assert policy.settings["cost"] == pytest.approx(least, abs=EXACT)
    assert cost == pytest.approx(least, abs=EXACT)
    assert all(apart[rate] <= bound + EXACT for rate, bound in goal.tolerances.items())


@given(groups=curves(), fp=st.sampled_from([0.3, 1.0, 4.0]))
def test_without_a_bound_each_group_has_its_own_best_cut(groups: dict[Any, Curve], fp: float) -> None:
    goal = Goal(within=inf, costs=Costs(fp=fp))
    policy = fairness.optimal_policy(groups, goal)
    for group, curve in groups.items():
        alone = decide.cost(curve, goal.costs).cut
        assert goal.costs.total(policy.by_group[group].counts(curve)) == pytest.approx(
            goal.costs.total(alone.counts(curve)), abs=EXACT
        )
    assert not policy.needs_id


@given(groups=curves(), parity=st.sampled_from(sorted(fairness.PARITIES)), bounds=st.lists(st.floats(0, 1), min_size=2))
def test_cost_never_rises_with_the_tolerance(groups: dict[Any, Curve], parity: str, bounds: list[float]) -> None:
    if not fairness.PARITIES[parity].enforceable:
        with pytest.raises(OptionError, match="but not enforced"):
            Goal(parity)
        return
    paid = [fairness.optimal_policy(groups, Goal(parity, within=bound)).settings["cost"] for bound in sorted(bounds)]
    assert all(later <= earlier + EXACT for earlier, later in pairwise(paid))


@given(problem=problems(most=4), seed=st.randoms())
def test_names_of_groups_do_not_matter(problem: Problem, seed: Random) -> None:
    groups, goal = problem
    names = list(groups)
    seed.shuffle(names)
    renamed = dict(sorted(zip(names, groups.values(), strict=True)))
    one, other = (fairness.optimal_policy(each, goal).settings["cost"] for each in (groups, renamed))
    assert one == pytest.approx(other, abs=EXACT)


@given(problem=problems(most=3))
def test_equal_groups_are_treated_as_one(problem: Problem) -> None:
    groups, goal = problem
    (name, first), *rest = groups.items()
    doubled = {**dict(rest), name: Curve(first.tally + first.tally)}
    twice = {**groups, ("again",): first}
    one, other = (fairness.optimal_policy(each, goal).settings["cost"] for each in (doubled, twice))
    assert one == pytest.approx(other, abs=EXACT)


@given(groups=curves(most=2), fn=st.sampled_from([0.5, 1.0, 3.0]))
def test_labels_are_scores_of_two_values_which_may_be_reversed(groups: dict[Any, Curve], fn: float) -> None:
    # Hardt's program: the chance to be flagged of each label in each group, four unknowns in all.
    labels = {
        name: baserate.curve(each.tally.with_scores((each.tally.score >= 0.25).astype(float)))
        for name, each in groups.items()
    }
    result = fairness.optimal_policy(labels, Goal(costs=Costs(fn=fn)), reversal=True)
    everybody = sum(each.total for each in labels.values())
    objective, rates = [], []
    for each in labels.values():
        flagged, passed = each.at(0.5), each.at(0.5).reverse_decisions()
        objective += [(table.fp - fn * table.tp) / everybody for table in (flagged, passed)]
        rates.append([(t.fp / t.negatives, t.tp / t.positives) for t in (flagged, passed)])
    equal = np.hstack([np.array(rates[0]).T, -np.array(rates[1]).T])
    least = linprog(objective, A_eq=equal, b_eq=[0, 0], bounds=(0, 1)).fun
    least += sum(fn * each.positives for each in labels.values()) / everybody
    assert result.settings["cost"] == pytest.approx(least, abs=1e-7)  # the tolerance of that solver


def test_predicted_labels_are_reversed_where_cheaper() -> None:
    people = {
        "sick": ["yes", "no"] * 6,
        "said": ["yes", "no"] * 3 + ["no", "yes", "no", "yes", "yes", "no"],
        "sex": ["f"] * 6 + ["m"] * 6,
    }
    t = read.tallies(people, truth="sick", predicted="said", group="sex", positive="yes")
    policy = fairness.optimal_policy(t, Goal("equalized-odds", within=0.4))
    assert policy.by_group["f",] == Cut((1.0,))
    assert isinstance(policy.by_group["m",], Cut | RandomizedCut)
    assert "flag" in {cut.actions[0] for cut in getattr(policy.by_group["m",], "cuts", [policy.by_group["m",]])}
    assert "labels: apply the policy to 1" in policy.notes[0]
    assert policy.settings["reversal"] is True


@given(groups=curves(most=3), data=st.data())
def test_any_point_below_the_hull_is_reached_with_least_randomization(
    groups: dict[Any, Curve], data: st.DataObject
) -> None:
    curve = next(iter(groups.values()))
    result = roc_region(curve, positive=curve.positives / curve.total, negative=curve.negatives / curve.total)
    false = data.draw(st.floats(0, 1))
    true = false + data.draw(st.floats(0, 1)) * (float(result.max_tpr(false)) - false)
    treatment = result.treatment(false, true)
    counts = treatment.counts(curve)
    assert counts.fp / counts.negatives == pytest.approx(false, abs=EXACT)
    assert counts.tp / counts.positives == pytest.approx(true, abs=EXACT)
    if float(result.max_tpr(false)) - true > CLEARLY and false > CLEARLY:
        # By brute force: all that three vertices reach, and how many people are between the outer two.
        narrowest = min(
            result.flag_rate[last] - result.flag_rate[first]
            for first, middle, last in combinations(range(len(result.fpr)), 3)
            if _is_in_triangle(result.fpr[[first, middle, last]], result.tpr[[first, middle, last]], false, true)
        )
        assert _randomized_share(treatment, curve) == pytest.approx(narrowest, abs=EXACT)


def _is_in_triangle(x: Floats, y: Floats, false: float, true: float) -> bool:
    matrix = np.array([x, y, np.ones(3)])
    return bool(abs(np.linalg.det(matrix)) > 1e-12 and (np.linalg.solve(matrix, [false, true, 1.0]) >= -1e-9).all())


def _randomized_share(treatment: Cut | RandomizedCut, curve: Curve) -> float:
    if isinstance(treatment, Cut):
        return 0.0
    flagged: list[float] = [cut.counts(curve).flagged for cut in treatment.cuts]
    return (max(flagged) - min(flagged)) / curve.total


@pytest.mark.parametrize("within", [0.0, 0.1, inf])
@pytest.mark.parametrize("parity", ["equalized-odds", "equal-opportunity", "demographic-parity"])
def test_of_equally_cheap_choices_the_strictest_wins(parity: str, within: float) -> None:
    # To flag from 0.9 on misses two positives, from 0.5 on it flags two negatives; what lies between costs as much.
    tied = Curve(Tally.from_counts([0.9, 0.5, 0.1], [[2, 2, 0], [0, 2, 2]]))
    policy = fairness.optimal_policy({"a": tied, "b": tied, "c": tied}, Goal(parity, within=within))
    assert {*policy.by_group.values()} == {Cut((0.9,))}


def test_thresholds_on_an_edge_randomize_fewer_people() -> None:
    # No positives, so that the hull is one edge, and every threshold lies on it.
    nobody = Curve(Tally.from_counts([0.9, 0.7, 0.5, 0.3], [[0, 0, 0, 0], [1, 1, 1, 1]]))
    some = baserate.curve(baserate.tally([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]))
    policy = fairness.optimal_policy({"none": nobody, "some": some}, Goal("demographic-parity", costs=Costs(fn=5)))
    assert policy.by_group["some",] == Cut((0.4,))
    flagged = policy.by_group["none",].counts(nobody)
    assert flagged.flagged == pytest.approx(3)
    assert _randomized_share(policy.by_group["none",], nobody) == 0


@given(groups=curves(most=3), within=st.floats(0, 0.5))
def test_group_of_one_class_satisfies_its_defined_rates(groups: dict[Any, Curve], within: float) -> None:
    healthy = Curve(Tally.from_counts([0.9, 0.7, 0.5, 0.3], [[0, 0, 0, 0], [1, 0, 3, 2]]))
    goal = Goal(["demographic-parity", "predictive-equality"], within=within, costs=Costs(fn=3))
    policy = fairness.optimal_policy({**groups, ("healthy",): healthy}, goal)
    least = least_cost([*groups.values(), healthy], goal.tolerances, goal.costs)
    assert policy.settings["cost"] == pytest.approx(least, abs=EXACT)


def test_rates_are_those_at_the_deployment_prevalence() -> None:
    groups = {
        "f": baserate.curve(baserate.tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2])),
        "m": baserate.curve(baserate.tally([1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.6, 0.5, 0.3, 0.1])),
    }
    goal = Goal("demographic-parity", costs=Costs(fp=1, fn=3), prevalence={"f": 0.1, "m": 0.4})
    policy = fairness.optimal_policy(groups, goal)
    reweighted = {name: shift.reweigh(groups[name], prevalence=share) for name, share in (("f", 0.1), ("m", 0.4))}
    assert policy.settings["cost"] == pytest.approx(least_cost(list(reweighted.values()), goal.tolerances, goal.costs))
    assert policy.settings["prevalences"] == (
        {"group": ("f",), "prevalence": 0.1},
        {"group": ("m",), "prevalence": 0.4},
    )
    assert policy.prevalence == pytest.approx(0.25)
    tables = group_tables(as_tallies(reweighted), policy, "score")
    assert rate_gaps(tables, ["flag_rate"])["flag_rate"] == pytest.approx(0, abs=EXACT)
    everybody = fairness.optimal_policy(groups, replace(goal, prevalence=0.1))
    assert everybody.prevalence == pytest.approx(0.1)
    with pytest.raises(UnknownLabelError, match="which is not in the data"):
        fairness.optimal_policy(groups, replace(goal, prevalence={"x": 0.1}))


def people(rows: int = 4000, seed: int = 3) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    sex, sick = rng.choice(["f", "m"], rows), rng.random(rows) < 0.4
    risk = np.round(1 / (1 + np.exp(-rng.normal(size=rows) - sick * np.where(sex == "f", 1.5, 0.8))), 3)
    return {"sick": sick, "risk": risk, "sex": sex, "id": np.arange(rows)}


def test_saved_policy_has_the_promised_cost_and_rates() -> None:
    rows = people()
    t = read.tallies(rows, truth="sick", score="risk", group="sex")
    goal = Goal("equalized-odds", costs=Costs(fp=2, fn=1))
    policy = fairness.optimal_policy(t, goal)
    assert policy.needs_group
    assert policy.needs_id
    assert policy.attributes == ("sex",)
    assert dict(policy.columns) == {"truth": "sick", "score": "risk"}
    assert policy.settings["parity"] == ("equalized-odds",)
    assert Policy.from_json(policy.to_json()) == policy
    assert decide.evaluate_policy(t, policy, interval=None).data["same"] == ["risk"]
    flagged = apply.actions(policy, rows["risk"], group=rows["sex"], id=rows["id"]).is_flagged
    for sex in "fm":
        for sick, rate in ((True, "sensitivity"), (False, "fpr")):
            in_class = (rows["sex"] == sex) & (rows["sick"] == sick)
            wanted = float(group_rate(t, policy, sex, rate))
            assert flagged[in_class].mean() == pytest.approx(wanted, abs=4 * 0.5 / np.sqrt(in_class.sum()))


@pytest.mark.parametrize(
    "choose",
    [
        fairness.optimal_policy,
        fairness.deterministic_thresholds,
        fairness.common_threshold,
        partial(fairness.reject_option, favor=[(1, "x")], favorable="pass"),
    ],
)
@pytest.mark.parametrize(
    "goal",
    [
        Goal(within=inf),
        Goal(within={"sensitivity": 0.1, "fpr": inf}),
        Goal("demographic-parity", within=0.3, prevalence={(0, "x"): 0.1}),
        Goal(["equal-opportunity", "tnr-parity"], within=0.2, prevalence=0.2),
    ],
)
def test_policies_of_all_methods_survive_saving(choose: Any, goal: Goal) -> None:  # noqa: ANN401
    rng = np.random.default_rng(0)
    rows = people(600) | {"old": rng.integers(0, 2, 600), "site": rng.choice(["x", "y"], 600)}
    policy = choose(read.tallies(rows, truth="sick", score="risk", group=["old", "site"]), goal)
    assert Policy.from_json(policy.to_json()) == policy


def group_rate(t: Tallies, policy: Policy, sex: str, rate: str) -> float:
    result: float = MEASURES[rate](group_tables(t, policy, "risk")[sex,])
    return result


def test_group_without_a_class_needs_an_action() -> None:
    mixed = baserate.curve(baserate.tally([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]))
    healthy = Curve(Tally.from_counts([0.9, 0.3], [[0, 0], [5, 2]]))
    groups = {("f", 1): mixed, ("m", 1): healthy}
    with pytest.raises(FitError, match="group_1 = m, group_2 = 1 has no positives, which equalized-odds requires"):
        fairness.optimal_policy(groups, Goal())
    policy = fairness.optimal_policy(groups, Goal(), otherwise="refer")
    assert list(policy.by_group) == [("f", 1)]
    assert policy.otherwise == "refer"
    assert "has no positives, so the parity does not apply; its action is: refer" in policy.notes[0]
    # Rates that it does have can be made equal.
    assert list(fairness.optimal_policy(groups, Goal("predictive-equality")).by_group) == list(groups)
    with pytest.raises(FitError, match="no group has rows of each class"):
        fairness.optimal_policy({"m": healthy}, Goal(), otherwise="pass")
    sick = Curve(Tally.from_counts([0.9, 0.3], [[5, 2], [0, 0]]))
    with pytest.raises(FitError, match="group = h has no positives and group = s has no negatives, which"):
        fairness.optimal_policy({"f": mixed, "h": healthy, "s": sick}, Goal())
    # Where a prevalence is stated for some, others keep theirs, be it 0.
    target = Goal("demographic-parity", prevalence={"f": 0.2}, costs=Costs(fn=9))
    policy = fairness.optimal_policy({"f": mixed, "h": healthy}, target)
    least = least_cost([shift.reweigh(mixed, prevalence=0.2), healthy], target.tolerances, target.costs)
    assert policy.settings["cost"] == pytest.approx(least, abs=EXACT)


def test_unknown_groups_raise_when_a_policy_is_applied() -> None:
    t = read.tallies(people(), truth="sick", score="risk", group="sex")
    policy = fairness.optimal_policy(t, Goal("demographic-parity", within=1))
    with pytest.raises(UnknownLabelError, match="sex = 'x'"):
        policy.action(0.5, ["x"], id=1)
    with pytest.raises(UnknownLabelError):
        policy.action(0.5, [None], id=1)
    assert fairness.optimal_policy(t, Goal(), otherwise="pass").action(0.5, ["x"], id=1) == "pass"


def test_missing_scores_and_groups_raise() -> None:
    rows = people(20)
    with pytest.raises(MissingValuesError, match="NaN"):
        read.tallies({**rows, "risk": np.full(20, np.nan)}, truth="sick", score="risk", group="sex")
    with pytest.raises(MissingValuesError, match="sex"):
        read.tallies({**rows, "sex": [None] * 20}, truth="sick", score="risk", group="sex")


def test_invalid_goals_raise_with_a_remedy() -> None:
    groups = {"f": baserate.curve(baserate.tally([1, 0], [0.9, 0.1]))}
    with pytest.raises(UnknownNameError, match="Did you mean 'equalized-odds'"):
        Goal("equalised-odds")
    with pytest.raises(OptionError, match="expected a number from 0 to inf"):
        Goal(within=-0.1)
    with pytest.raises(OptionError, match="give each of sensitivity, fpr"):
        Goal(within={"sensitivity": 0.1})
    with pytest.raises(OptionError, match="there is no parity"):
        Goal([])
    with pytest.raises(OptionError, match="costs less than a correct decision"):
        Goal(costs=Costs(fp=-1))
    with pytest.raises(OptionError, match="expected baserate"):
        Goal(costs=2)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="read without groups"):
        fairness.optimal_policy(Tallies({"risk": {(): groups["f"].tally}}), Goal())
    with pytest.raises(OptionError, match="has no groups"):
        fairness.optimal_policy({}, Goal())
    with pytest.raises(OptionError, match="the group 'f' is int; expected a Curve"):
        fairness.optimal_policy({"f": 3}, Goal())


def test_one_group_needs_no_parity_and_few_rows_are_noted() -> None:
    alone = {"f": baserate.curve(baserate.tally([1, 1, 0, 0], [0.9, 0.8, 0.3, 0.1]))}
    policy = fairness.optimal_policy(alone, Goal())
    assert policy.by_group["f",] == Cut((0.8,))
    assert "has only 2 rows of a class" in policy.notes[0]


@pytest.mark.parametrize("names", [*permutations(["fnr-parity", "tnr-parity"])])
def test_fnr_and_tnr_parity_equal_tpr_and_fpr_parity(names: tuple[str, str]) -> None:
    t = read.tallies(people(), truth="sick", score="risk", group="sex")
    one, other = (fairness.optimal_policy(t, Goal(parity)) for parity in (names, "equalized-odds"))
    assert one.by_group == other.by_group
    assert select_participants(t, Goal(names)).goal.tolerances.keys() == {"sensitivity", "fpr"}
