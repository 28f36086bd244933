"""The price of a parity at each tolerance."""

from functools import partial
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from baserate import Costs, Curve, FitError, OptionError, Results, Tally, fairness, read
from baserate.fairness import Goal
from tests.fairness.brute_force import least_cost
from tests.fairness.random_problems import curves

near = partial(pytest.approx, rel=0, abs=1e-9)
NAMES = [each.name for each in fairness.PARITIES.values() if each.enforceable]
COSTS = [Costs(), Costs(fp=2, fn=1), Costs(fp=1, fn=3), Costs(tp=-1, fp=1, fn=2, tn=0.5)]
EVENLY = [at / 8 for at in range(9)]
SOME = [0.0, 0.05, 0.1, 0.2, 0.4, 1.0]
WAYS = {"deterministic_cost": "deterministic_thresholds", "blind_cost": "common_threshold"}


def column(result: Results, name: str) -> list[float]:
    return list(result.columns[name])


@pytest.mark.slow
@settings(max_examples=settings().max_examples * 2 // 5)
@given(groups=curves(most=4), name=st.sampled_from(NAMES), costs=st.sampled_from(COSTS))
def test_price_is_convex_and_gaps_are_within_tolerances(
    groups: dict[tuple[str], Curve], name: str, costs: Costs
) -> None:
    result = fairness.frontier(groups, Goal(name, costs=costs), within=EVENLY)
    cost = np.array(column(result, "cost"))
    assert np.diff(cost).max() <= 1e-9
    assert np.diff(cost, 2).min() >= -1e-9
    assert min(column(result, "price")) >= 0
    assert all(gap <= most + 1e-9 for gap, most in zip(column(result, "gap"), EVENLY, strict=True))
    assert column(result, "price") == near((cost - result.data["cost_without"]).tolist())


@settings(max_examples=settings().max_examples * 3 // 5)
@given(groups=curves(most=4), name=st.sampled_from(NAMES), costs=st.sampled_from(COSTS), most=st.floats(0, 1))
def test_each_cost_is_the_optimum_and_that_of_brute_force(
    groups: dict[tuple[str], Curve], name: str, costs: Costs, most: float
) -> None:
    goal = Goal(name, costs=costs)
    query = sorted({0.0, most, inf})
    result = fairness.frontier(groups, goal, within=query)
    for within, cost in zip(query, column(result, "cost"), strict=True):
        assert cost == near(fairness.optimal_policy(groups, Goal(name, within=within, costs=costs)).settings["cost"])
        assert cost == near(least_cost(list(groups.values()), dict.fromkeys(goal.rates, within), costs))
    assert column(result, "cost")[-1] == result.data["cost_without"]


@pytest.mark.slow
@settings(max_examples=settings().max_examples // 5)
@given(groups=curves(most=4), name=st.sampled_from(NAMES))
def test_default_tolerances_end_where_parity_is_free(groups: dict[tuple[str], Curve], name: str) -> None:
    result = fairness.frontier(groups, Goal(name))
    within, price = column(result, "within"), column(result, "price")
    assert within[0] == 0
    assert within == sorted(set(within))
    assert len(within) <= 27
    assert price[-1] == near(0)
    assert all(each > 1e-9 for each in price[:-1])
    assert column(result, "gap")[-1] == near(result.data["free_from"])
    assert within[-1] == result.data["free_from"]
    if result.data["free_from"] > 0:
        assert len(within) >= 11
        assert all(len(f"{each:.12g}") <= 8 for each in within[:-1])


@pytest.mark.slow
@settings(max_examples=settings().max_examples // 4)
@given(groups=curves(most=4), name=st.sampled_from(NAMES))
def test_the_order_of_groups_does_not_matter(groups: dict[tuple[str], Curve], name: str) -> None:
    one = fairness.frontier(groups, Goal(name), within=EVENLY)
    other = fairness.frontier(dict(reversed(groups.items())), Goal(name), within=EVENLY)
    for each in ("cost", "price", "gap", "lottery"):
        assert column(one, each) == near(column(other, each))


def test_frontier_by_hand() -> None:
    """A predictor that is perfect for one group is randomized down to the performance for the other."""
    perfect = Curve(Tally.from_counts([0.9, 0.1], [[10, 0], [0, 10]]))
    poor = Curve(Tally.from_counts([0.8, 0.2], [[6, 4], [2, 8]]))
    result = fairness.frontier({"f": perfect, "m": poor}, Goal("equalized-odds"), within=[0.2, 0, 0.1, 0.4])
    assert column(result, "within") == [0, 0.1, 0.2, 0.4]
    assert column(result, "cost") == near([0.3, 0.25, 0.2, 0.15])
    assert column(result, "price") == near([0.15, 0.1, 0.05, 0])
    assert column(result, "gap") == near([0, 0.1, 0.2, 0.4])
    assert column(result, "lottery") == near([0.5, 0.5, 0.25, 0])
    assert result.columns["binds"] == ["group = m", "group = m", "group = m", "group = f; group = m"]
    assert result.data["free_from"] == near(0.4)
    assert result.data["cost_without"] == near(0.15)
    assert result.data["costs"] == {"tp": 0, "fp": 1, "fn": 1, "tn": 0}
    assert result.to_csv().splitlines()[0] == "within,cost,price,gap,lottery,binds,deterministic_cost,blind_cost"


@pytest.mark.parametrize(("costs", "who"), [(Costs(fp=100, fn=1), "nobody"), (Costs(fp=1, fn=100), "everybody")])
def test_a_parity_of_scores_that_are_not_used_is_free(costs: Costs, who: str) -> None:
    groups = {name: Curve(Tally.from_counts([0.9, 0.1], [[6, 4 + at], [2, 8]])) for at, name in enumerate("ab")}
    result = fairness.frontier(groups, Goal("equalized-odds", costs=costs))
    assert column(result, "within") == [0]
    assert column(result, "price") == [0]
    assert column(result, "lottery") == [0]
    assert result.columns["binds"] == [""]
    assert [who in note and "not used" in note for note in result.data["notes"]][-1]


def test_groups_without_a_class_are_excluded_if_they_have_an_action() -> None:
    people = {
        "sick": [1, 0, 1, 0, 1, 0, 1, 0, 0, 0],
        "risk": [0.9, 0.3, 0.6, 0.7, 0.8, 0.6, 0.4, 0.5, 0.9, 0.2],
        "sex": [*"ffff", *"mmmm", *"xx"],
    }
    tallies = read.tallies(people, truth="sick", score="risk", group="sex")
    with pytest.raises(FitError, match="sex = x has no positives"):
        fairness.frontier(tallies, Goal("equal-opportunity"))
    result = fairness.frontier(tallies, Goal("equal-opportunity"), within=[0, inf], otherwise="refer")
    best = fairness.optimal_policy(tallies, Goal("equal-opportunity"), otherwise="refer")
    assert column(result, "cost")[0] == near(best.settings["cost"])
    assert column(result, "blind_cost") == near(column(result, "cost"))
    assert any("sex = x has no positives" in note for note in result.data["notes"])
    assert result.data["digest"] == tallies.digest


def test_costs_are_those_at_the_stated_prevalence() -> None:
    people = {
        "sick": [1, 0, 1, 0, 1, 0, 1, 0],
        "risk": [0.9, 0.3, 0.6, 0.7, 0.8, 0.6, 0.4, 0.5],
        "sex": [*"ffff", *"mmmm"],
    }
    tallies = read.tallies(people, truth="sick", score="risk", group="sex")
    for prevalence in (0.2, {"f": 0.1, "m": 0.4}):
        goal = Goal("demographic-parity", prevalence=prevalence, costs=Costs(fp=1, fn=3))
        result = fairness.frontier(tallies, goal, within=[0])
        assert column(result, "cost")[0] == near(fairness.optimal_policy(tallies, goal).settings["cost"])
        assert column(result, "deterministic_cost")[0] == near(
            fairness.deterministic_thresholds(tallies, goal).settings["cost"]
        )


def test_labels_may_be_reversed() -> None:
    people = {"sick": [1, 0, 1, 0, 1, 0, 1, 0], "said": [1, 0, 1, 1, 0, 1, 0, 0], "sex": [*"ffff", *"mmmm"]}
    tallies = read.tallies(people, truth="sick", predicted="said", group="sex")
    result = fairness.frontier(tallies, Goal("equalized-odds"), within=[0, 1])
    assert column(result, "cost")[0] == near(fairness.optimal_policy(tallies, Goal("equalized-odds")).settings["cost"])
    assert max(column(result, "cost")) < min(column(result, "blind_cost"))  # one threshold cannot turn one group round


@pytest.mark.parametrize("within", [[], [-0.1], [float("nan")]])
def test_invalid_tolerances_raise(within: list[float]) -> None:
    groups = {name: Curve(Tally.from_counts([0.9, 0.1], [[6, 4], [2, 8]])) for name in "ab"}
    with pytest.raises(OptionError, match="within"):
        fairness.frontier(groups, Goal("equalized-odds"), within=within)


@settings(max_examples=settings().max_examples * 3 // 10)
@given(
    groups=curves(most=3),
    name=st.sampled_from(["equalized-odds", "equal-opportunity", "demographic-parity"]),
    costs=st.sampled_from([Costs(), Costs(fp=2, fn=1)]),
)
def test_restricted_policies_cost_more(groups: dict[tuple[str], Curve], name: str, costs: Costs) -> None:
    result = fairness.frontier(groups, Goal(name, costs=costs), within=SOME)
    best, apart, together = (np.array(result.columns[each]) for each in ("cost", *WAYS))
    assert (best <= apart + 1e-9).all()
    assert (apart <= together + 1e-9).all()
    for each in (apart, together):
        assert np.diff(each).max() <= 1e-9
    assert apart[-1] == pytest.approx(best[-1], abs=1e-9)


@pytest.mark.parametrize("name", WAYS)
def test_restricted_costs_are_those_of_the_policies(name: str) -> None:
    cells = {"f": [[4, 3, 1, 0], [0, 2, 3, 5]], "m": [[2, 3, 2, 1], [1, 2, 3, 3]]}
    groups = {sex: Curve(Tally.from_counts([0.8, 0.6, 0.4, 0.2], rows)) for sex, rows in cells.items()}
    for prevalence in (None, 0.2, {"f": 0.3, "m": 0.6}):
        goal = Goal("equalized-odds", within=0.1, prevalence=prevalence)
        result = fairness.frontier(groups, goal, within=[0.1])
        policy = getattr(fairness, WAYS[name])(groups, goal)
        assert result.columns[name][0] == pytest.approx(policy.settings["cost"], abs=1e-12)


def test_watch_receives_progress() -> None:
    groups = {name: Curve(Tally.from_counts([0.9, 0.1], [[6, 4], [2, 8]])) for name in "ab"}
    observed: list[tuple[int, int]] = []
    fairness.frontier(groups, Goal(), within=[0, 0.1, 0.2], watch=lambda done, whole: observed.append((done, whole)))
    assert observed == [(1, 3), (2, 3), (3, 3)]
