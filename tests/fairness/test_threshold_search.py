"""Deterministic thresholds, compared with all combinations of thresholds in exact arithmetic."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from baserate import Costs, Curve, Policy, Tally, curve, measure, tally
from baserate.fairness import Goal, _threshold_search, deterministic_thresholds
from baserate.fairness._group_counts import as_tallies, group_tables, rate_gaps
from baserate.fairness._threshold_search import ThresholdChoices, search_thresholds
from baserate.shift import reweigh

BOUNDS = [Fraction(each) for each in ("0", "1/20", "1/10", "1/5", "1/4", "1/3", "1/2", "1")]
GOALS: list[tuple[str, ...]] = [
    ("demographic-parity",),
    ("equal-opportunity",),
    ("predictive-equality",),
    ("equalized-odds",),
    ("demographic-parity", "equal-opportunity"),
    ("demographic-parity", "equalized-odds"),
]
masses = st.integers(0, 4)
bounds = st.sampled_from(BOUNDS)
parities = st.sampled_from(GOALS)
costs = st.builds(Costs, fp=st.integers(0, 5), fn=st.integers(0, 5))


@st.composite
def tallies(draw: st.DrawFn) -> Tally:
    """Tallies of few scores with both classes."""
    several = draw(st.integers(1, 4))
    rows = np.array([draw(st.lists(masses, min_size=several, max_size=several)) for _ in range(2)])
    rows[:, draw(st.integers(0, several - 1))] += 1
    return Tally.from_counts(np.linspace(0.9, 0.1, several), rows)


groups_of_few = st.lists(tallies(), min_size=2, max_size=4)
Optima = tuple[Fraction, set[tuple[int, ...]]]


def optima_by_enumeration(several: Sequence[Tally], goal: Goal, allowed: Sequence[Fraction]) -> Optima:
    """Return the least cost of a case, and all combinations of thresholds that have it, in fractions."""
    mass = [[[Fraction(float(each)) for each in row] for row in one.mass] for one in several]
    whole = sum(sum(map(sum, one), Fraction(0)) for one in mass)
    points = [[_table(one, at) for at in range(len(one[0]) + 1)] for one in mass]
    result: dict[Fraction, set[tuple[int, ...]]] = {}
    for places in product(*(range(len(one)) for one in points)):
        chosen = [one[at] for one, at in zip(points, places, strict=True)]
        apart = [max(each[rate] for each in chosen) - min(each[rate] for each in chosen) for rate in goal.rates]
        if all(one <= most for one, most in zip(apart, allowed, strict=True)):
            price = {"fp": Fraction(goal.costs.fp), "fn": Fraction(goal.costs.fn)}
            cost = sum((each[cell] * price[cell] for each in chosen for cell in price), Fraction(0)) / whole
            result.setdefault(cost, set()).add(places)
    return min(result), result[min(result)]


def _table(mass: list[list[Fraction]], at: int) -> dict[str, Fraction]:
    (tp, fp), (fn, tn) = ([sum(row[part], Fraction(0)) for row in mass] for part in (slice(at), slice(at, None)))
    rates = {"sensitivity": tp / (tp + fn), "fpr": fp / (fp + tn), "flag_rate": (tp + fp) / (tp + fp + fn + tn)}
    return rates | {"fp": fp, "fn": fn}


def curves(several: Sequence[Tally]) -> dict[str, Curve]:
    return {f"group {at}": curve(each) for at, each in enumerate(several)}


def places(policy: Policy, several: Sequence[Tally]) -> tuple[int, ...]:
    chosen = (each.threshold for each in policy.by_group.values())  # type: ignore[union-attr]  # deterministic
    return tuple([inf, *one.score.tolist()].index(at) for one, at in zip(several, chosen, strict=True))


@given(groups_of_few, parities, costs, st.data())
def test_no_combination_of_thresholds_is_cheaper(
    several: list[Tally], parity: tuple[str, ...], costs: Costs, data: st.DataObject
) -> None:
    rates = Goal(parity).rates
    allowed = [data.draw(bounds) for _ in rates]
    goal = Goal(parity, dict(zip(rates, map(float, allowed), strict=True)), costs)
    policy = deterministic_thresholds(curves(several), goal)
    least, equal = optima_by_enumeration(several, goal, allowed)
    assert policy.settings["cost"] == pytest.approx(float(least), abs=1e-12)
    assert policy.settings["exact"]
    assert policy.settings["bound"] <= policy.settings["cost"]
    chosen = places(policy, several)
    assert chosen in equal
    # Among equals it is a strictest: none has no laxer threshold and a stricter one.
    assert not any(other != chosen and all(a <= b for a, b in zip(other, chosen, strict=True)) for other in equal)


@settings(max_examples=settings().max_examples // 2)
@given(groups_of_few, parities, st.floats(0.1, 3.0), bounds)
def test_weights_and_stated_prevalences_count(
    several: list[Tally], parity: tuple[str, ...], weight: float, within: Fraction
) -> None:
    heavy = Tally(several[0].score, several[0].mass * weight, several[0].mass * weight**2, several[0].rows)
    groups = [heavy, *several[1:]]
    stated = {name: (at + 1) / 5 for at, name in enumerate(curves(groups))}
    adjusted = [reweigh(each, prevalence=to) for each, to in zip(groups, stated.values(), strict=True)]
    for prevalence, weighted in ((None, groups), (stated, adjusted)):
        goal = Goal(parity, float(within), Costs(fp=2, fn=3), prevalence)
        policy = deterministic_thresholds(curves(groups), goal)
        # Masses that were multiplied are rounded, and so are their rates.
        least, _ = optima_by_enumeration(weighted, goal, [within + Fraction(1, 10**12)] * len(goal.rates))
        assert policy.settings["cost"] == pytest.approx(float(least), abs=1e-12)


@given(groups_of_few, parities, costs, bounds, st.randoms(use_true_random=False))
def test_names_and_order_of_groups_do_not_matter(
    several: list[Tally], parity: tuple[str, ...], costs: Costs, within: Fraction, random: object
) -> None:
    goal = Goal(parity, float(within), costs)
    named = curves(several)
    shuffled = list(named)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    policy, other = (
        deterministic_thresholds({name: named[name] for name in names}, goal) for names in (named, shuffled)
    )
    assert dict(policy.by_group) == dict(other.by_group)
    assert policy.settings["cost"] == pytest.approx(other.settings["cost"], abs=1e-14)


@pytest.mark.slow
@settings(max_examples=settings().max_examples // 2)
@given(groups_of_few, parities, costs)
def test_cost_never_rises_with_the_tolerance(several: list[Tally], parity: tuple[str, ...], costs: Costs) -> None:
    groups = curves(several)
    paid = []
    for within in (*map(float, BOUNDS), inf):
        policy = deterministic_thresholds(groups, Goal(parity, within, costs))
        paid.append(policy.settings["cost"])
        apart = rate_gaps(group_tables(as_tallies(groups), policy, "score"), Goal(parity).rates)
        assert all(gap <= within + 1e-12 for gap in apart.values())
    assert all(lax <= strict + 1e-12 for strict, lax in pairwise(paid))
    alone = [deterministic_thresholds({name: each}, Goal(parity, 0.0, costs)) for name, each in groups.items()]
    whole = sum(each.total for each in several)
    each = [one.settings["cost"] * group.total / whole for one, group in zip(alone, several, strict=True)]
    assert paid[-1] == pytest.approx(sum(each), abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("rates", [1, 2, 3])
def test_search_is_exhaustive_on_larger_problems(seed: int, rates: int) -> None:
    random = np.random.default_rng(seed)
    groups, bounds = [], random.uniform(0, 0.2, rates)
    for _ in range(3):
        rising = np.sort(random.integers(0, 40, (rates, 40)) / 40, axis=1)
        rising[:, 0] = 0.0
        groups.append(ThresholdChoices(random.normal(size=40).cumsum(), rising))
    result, exact = search_thresholds(groups, bounds.tolist(), effort=inf)
    assert exact
    every = [np.meshgrid(*(each.rates[at] for each in groups), indexing="ij") for at in range(rates)]
    fine = np.all([np.ptp(each, axis=0) <= most for each, most in zip(every, bounds, strict=True)], axis=0)
    paid = np.where(fine, sum(np.meshgrid(*(each.cost for each in groups), indexing="ij")), np.inf)
    if np.isfinite(paid).any():
        assert paid[tuple(result)] == pytest.approx(paid.min(), abs=1e-12)


def simulate_curve(random: np.random.Generator, size: int, apart: float) -> Curve:
    truth = random.random(size) < 0.4
    return curve(tally(truth, random.normal(size=size) + apart * truth))


def test_many_scores_are_proven_optimal() -> None:
    random = np.random.default_rng(11)
    groups = {name: simulate_curve(random, 2500, apart) for name, apart in (("f", 1.0), ("m", 1.5))}
    policy = deterministic_thresholds(groups, Goal("equalized-odds", 0.05))
    assert policy.settings["exact"]
    assert policy.notes == ()
    tables = [each.counts for each in groups.values()]
    apart = [np.subtract.outer(*(rate(each) for each in tables)) for rate in (measure.sensitivity, measure.fpr)]
    wrong = np.add.outer(*(each.fp + each.fn for each in tables))
    fine = np.all(np.abs(apart) <= 0.05, axis=0)
    assert policy.settings["cost"] == pytest.approx(wrong[fine].min() / 5000, abs=1e-12)


def test_early_end_of_the_search_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(12)
    groups = {name: simulate_curve(random, 300, apart) for name, apart in (("f", 1.0), ("m", 1.5))}
    goal = Goal("equalized-odds", 0.05)
    best = deterministic_thresholds(groups, goal)
    monkeypatch.setattr(_threshold_search, "_MAX_EXACT", 100)
    monkeypatch.setattr(_threshold_search, "_MAX_BOXES", 20)
    result = deterministic_thresholds(groups, goal)
    assert best.settings["exact"]
    assert not result.settings["exact"]
    assert result.settings["cost"] >= best.settings["cost"]
    assert result.settings["bound"] == best.settings["bound"]
    assert f"that of any policy at least {best.settings['bound']:.6g}" in result.notes[-1]
    apart = rate_gaps(group_tables(as_tallies(groups), result, "score"), goal.rates)
    assert max(apart.values()) <= 0.05


def test_a_difference_of_just_the_bound_is_within_it() -> None:
    # 0.25 − 0.05 is a little above 0.2 in binary.
    few = Tally.from_counts([0.9, 0.1], [[1, 19], [0, 20]])
    more = Tally.from_counts([0.9, 0.1], [[5, 15], [0, 20]])
    policy = deterministic_thresholds(curves([few, more]), Goal("equal-opportunity", 0.2))
    assert places(policy, [few, more]) == (1, 1)


def test_a_trivial_solution_is_noted_with_a_remedy() -> None:
    few = Tally.from_counts([0.9, 0.1], [[30, 30], [2, 60]])
    more = Tally.from_counts([0.9, 0.1], [[50, 30], [3, 60]])
    for costs, who in ((Costs(fp=2, fn=1), "nobody"), (Costs(fp=1, fn=1), "everybody")):
        policy = deterministic_thresholds(curves([few, more]), Goal("equalized-odds", costs=costs))
        assert policy.notes[-1].startswith(f"{who} is flagged")
        assert policy.notes[-1].endswith("allow a greater difference, or randomization.")
    # Where flagging nobody is the best there is, there is nothing to remedy.
    policy = deterministic_thresholds(curves([few, more]), Goal("equalized-odds", costs=Costs(fp=1000, fn=1)))
    assert places(policy, [few, more]) == (0, 0)
    assert policy.notes == ()


def test_a_group_without_a_class_takes_part_where_the_parity_needs_none() -> None:
    none = Tally.from_counts([0.9, 0.1], [[0, 0], [30, 70]])
    some = Tally.from_counts([0.9, 0.1], [[50, 10], [10, 30]])
    policy = deterministic_thresholds(curves([none, some]), Goal("demographic-parity", 0.3))
    assert places(policy, [none, some]) == (1, 1)
    assert policy.settings["cost"] == pytest.approx((30 + 10 + 10) / 200, abs=1e-12)
