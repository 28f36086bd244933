"""The reject option, compared with a loop over all bands and rows."""

import tracemalloc
from collections.abc import Iterable
from dataclasses import replace
from math import inf, isnan
from random import Random

import numpy as np
import pytest
from hypothesis import given, strategies as st

import baserate
from baserate import (
    Counts,
    Curve,
    InfeasibleError,
    OptionError,
    Policy,
    Tally,
    UnknownLabelError,
    decide,
    fairness,
    read,
)
from baserate.fairness import Goal
from baserate.fairness._group_counts import as_tallies, group_tables, rate_gaps, select_participants
from baserate.fairness._reject_option import MAX_THRESHOLDS
from tests.fairness.random_groups import (
    GRID,
    Decision,
    Sample,
    cost,
    curves,
    goals,
    pooled_table,
    samples,
    satisfies,
    tables,
    thresholds,
)

Band = tuple[float, float]
actions = st.sampled_from(["pass", "flag"])


def band_decision(band: Band, favoured: Iterable[str], favourable: str) -> Decision:
    """Decide row by row: favored groups get the favorable action inside the band."""
    low, high = band

    def flagged(name: str, person: tuple[bool, float, int]) -> bool:
        if low <= person[1] < high:
            return (name in favoured) == (favourable == "flag")
        return person[1] >= high

    return flagged


def all_bands(sample: Sample) -> list[Band]:
    observed = thresholds(sample)
    return [(low, high) for low in observed for high in observed if low <= high]


def band_width(band: Band) -> float:
    return 0.0 if band[0] == band[1] else band[1] - band[0]


@given(samples(), goals, actions, st.integers(1, 3))
def test_band_is_the_cheapest_of_all(sample: Sample, goal: Goal, favourable: str, many: int) -> None:
    favoured = [*sample][: min(many, len(sample) - 1)]
    result = {band: tables(sample, band_decision(band, favoured, favourable)) for band in all_bands(sample)}
    paid = {band: cost(each, goal.costs) for band, each in result.items() if satisfies(each, goal.tolerances)}
    best = min(paid, key=lambda band: (paid[band], band_width(band), -band[0]))
    policy = fairness.reject_option(curves(sample), goal, favor=favoured, favorable=favourable)  # type: ignore[call-overload]
    assert policy.settings["band"] == best
    assert policy.settings["cost"] == pytest.approx(paid[best], abs=1e-12)
    for name in sample:
        cut = policy.by_group[(name,)]
        assert isinstance(cut, baserate.Cut)
        assert cut.threshold == best[(name in favoured) != (favourable == "flag")]


@given(samples(), goals, actions, st.sampled_from(["balanced_accuracy", "f1", "precision", "fdr"]))
def test_band_optimizes_an_objective(sample: Sample, goal: Goal, favourable: str, name: str) -> None:
    result = [tables(sample, band_decision(band, "a", favourable)) for band in all_bands(sample)]
    values = [_measure_value(name, each) for each in result if satisfies(each, goal.tolerances)]
    defined = [value for value in values if not isnan(value)]
    policy = fairness.reject_option(curves(sample), goal, favor="a", favorable=favourable, objective=name)  # type: ignore[call-overload]
    chosen = tables(sample, band_decision(policy.settings["band"], "a", favourable))
    assert satisfies(chosen, goal.tolerances)
    assert _measure_value(name, chosen) == pytest.approx(min(defined) if name == "fdr" else max(defined), abs=1e-12)
    assert policy.settings["cost"] == pytest.approx(cost(chosen, goal.costs), abs=1e-12)
    assert policy.settings["objective"] == name


def _measure_value(name: str, result: dict[str, dict[str, int]]) -> float:
    return float(baserate.measure.find_measure(name)(Counts(*pooled_table(result).values())))


@given(samples(), goals, actions, st.sampled_from([*GRID, *(at + 1 / 16 for at in GRID)]))
def test_band_around_a_threshold_is_the_best_symmetric_one(
    sample: Sample, goal: Goal, favourable: str, around: float
) -> None:
    # Scores are eighths and the middle is a sixteenth, so that bands in steps of 1/32 hold all sets that there are.
    bands = [(around - step / 32, around + step / 32) for step in range(33)]
    result = [tables(sample, band_decision(band, "a", favourable)) for band in bands]
    paid = [cost(each, goal.costs) if satisfies(each, goal.tolerances) else inf for each in result]
    groups = curves(sample)
    if min(paid) == inf:
        with pytest.raises(InfeasibleError, match=f"no band around {around:g} keeps"):
            fairness.reject_option(groups, goal, favor="a", favorable=favourable, around=around)  # type: ignore[call-overload]
        return
    policy = fairness.reject_option(groups, goal, favor="a", favorable=favourable, around=around)  # type: ignore[call-overload]
    low, high = policy.settings["band"]
    assert policy.settings["cost"] == pytest.approx(min(paid), abs=1e-12)
    # Of equals it is the narrowest, so the first.
    assert tables(sample, band_decision((low, high), "a", favourable)) == result[paid.index(min(paid))]
    assert policy.settings["around"] == around
    assert policy.settings["margin"] == around - low == high - around


@given(samples(least=1, most=1), goals, actions)
def test_equal_groups_need_no_band(sample: Sample, goal: Goal, favourable: str) -> None:
    groups = curves(dict.fromkeys("abc", sample["a"]))
    policy = fairness.reject_option(groups, goal, favor=["b", "c"], favorable=favourable)  # type: ignore[call-overload]
    alike = fairness.common_threshold(groups, goal)
    assert policy.settings["band"] == (alike.threshold, alike.threshold)
    assert policy.settings["cost"] == alike.settings["cost"]
    assert "the band is empty: one threshold serves all groups" in policy.notes[-1]


@given(samples(), goals, actions)
def test_cost_lies_between_optimum_and_common_threshold(sample: Sample, goal: Goal, favourable: str) -> None:
    groups = curves(sample)
    policy = fairness.reject_option(groups, goal, favor="b", favorable=favourable)  # type: ignore[call-overload]
    alike = fairness.common_threshold(groups, goal).settings
    assert alike["bound"] - 1e-12 <= policy.settings["cost"] <= alike["cost"] + 1e-12


@given(samples(), goals, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_groups_does_not_matter(sample: Sample, goal: Goal, random: Random) -> None:
    names = [*sample]
    random.shuffle(names)
    turned = {name: sample[name][::-1] for name in names}
    one, other = (
        fairness.reject_option(curves(each), goal, favor=["a"], favorable="flag") for each in (sample, turned)
    )
    assert one.settings == other.settings
    assert one.by_group == other.by_group


@pytest.mark.parametrize("to", [0.2, {"f": 0.1, "m": 0.6}])
def test_rates_and_costs_are_those_at_the_stated_prevalence(to: object) -> None:
    draw = np.random.default_rng(3)
    groups = {"f": _random_curve(draw, 0.2, digits=2), "m": _random_curve(draw, 0.5, digits=2)}
    goal = Goal("demographic-parity", within=0.05, prevalence=to)  # type: ignore[arg-type]
    policy = fairness.reject_option(groups, goal, favor="f", favorable="flag")
    people = select_participants(groups, goal)
    result = group_tables(people.tallies, policy, people.model)
    assert rate_gaps(result, goal.rates)["flag_rate"] <= 0.05 + 1e-12
    cases = sum(table.total for table in result.values())
    assert policy.settings["cost"] == pytest.approx(sum(table.fp + table.fn for table in result.values()) / cases)
    # Without the parity it would not hold.
    free = fairness.reject_option(groups, replace(goal, within=inf), favor="f", favorable="flag")
    assert rate_gaps(group_tables(people.tallies, free, people.model), goal.rates)["flag_rate"] > 0.05
    assert free.settings["cost"] < policy.settings["cost"]


def _random_curve(draw: np.random.Generator, shift: float, *, digits: int) -> Curve:
    truth = draw.random(4000) < shift
    return baserate.curve(baserate.tally(truth, np.round(draw.normal(truth * 1.0 + shift), digits)))


def test_band_without_upper_end_survives_saving() -> None:
    # All of f are flagged from 0.9 on, and nobody of m, whose rows say that a high score is no sign.
    groups = {"f": _curve_of_counts([3, 1], [0, 4]), "m": _curve_of_counts([0, 3], [4, 0])}
    policy = fairness.reject_option(groups, Goal(within=1.0), favor="f", favorable="flag")
    assert policy.settings["band"] == (0.9, inf)
    assert "around" not in policy.settings
    assert "margin" not in policy.settings
    again = Policy.from_json(policy.to_json())
    assert again.settings["band"] == (0.9, inf)
    assert again.settings["favour"] == (("f",),)
    assert again.by_group == policy.by_group
    assert again.key == policy.key


def test_error_gives_the_nearest_band() -> None:
    # Of f nobody is at 0.4 or above, so nobody is flagged; of m half of the positives are, or from 0.3 on all.
    groups = {
        "f": Curve(Tally.from_counts([0.2, 0.1], [[2, 0], [0, 2]])),
        "m": Curve(Tally.from_counts([0.9, 0.3], [[2, 2], [0, 1]])),
    }
    goal = Goal("equal-opportunity", within=0.1)
    output = (
        "no band around 0.4 keeps equal-opportunity within 0.1; nearest is [0.4, 0.4), where sensitivity differs by "
        "0.5; allow that difference, or leave around= out."
    )
    with pytest.raises(InfeasibleError) as refused:
        fairness.reject_option(groups, goal, favor="m", favorable="flag", around=0.4)
    assert str(refused.value) == output
    allowed = fairness.reject_option(
        groups, Goal("equal-opportunity", within=0.5), favor="m", favorable="flag", around=0.4
    )
    assert allowed.settings["band"] == (0.4, 0.4)


def test_undefined_objective_raises() -> None:
    groups = {"f": _curve_of_counts([3, 1], [0, 4]), "m": _curve_of_counts([2, 1], [1, 4])}
    with pytest.raises(InfeasibleError, match="precision is undefined at every band that keeps equal-opportunity"):
        fairness.reject_option(
            groups, Goal("equal-opportunity"), favor="m", favorable="flag", around=1e9, objective="precision"
        )


def _curve_of_counts(positives: list[int], negatives: list[int]) -> Curve:
    return Curve(Tally.from_counts([0.9, 0.1], np.array([positives, negatives])))


def test_many_distinct_scores_are_thinned_with_a_note() -> None:
    draw = np.random.default_rng(5)
    groups = {"f": _random_curve(draw, 0.3, digits=12), "m": _random_curve(draw, 0.5, digits=12)}
    goal = Goal("demographic-parity", within=0.01)
    tracemalloc.start()
    policy = fairness.reject_option(groups, goal, favor="f", favorable="flag")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6
    assert policy.settings["exact"] is False
    assert (
        f"{MAX_THRESHOLDS - 1} thresholds, evenly spaced by flag rate, were tried of over {MAX_THRESHOLDS}"
        in policy.notes[-1]
    )
    observed = np.concatenate([curve.tally.score for curve in groups.values()])
    assert np.isin(policy.settings["band"], observed).all()
    bound = fairness.common_threshold(groups, goal).settings["bound"]
    assert bound <= policy.settings["cost"] <= bound + 0.002


PEOPLE = {
    "sick": [1, 0, 1, 0, 1, 0, 1, 0],
    "risk": [0.9, 0.6, 0.4, 0.1, 0.8, 0.7, 0.5, 0.2],
    "sex": ["f", "f", "f", "f", "m", "m", "m", "m"],
    "old": [1, 1, 0, 0, 1, 1, 0, 0],
}


@pytest.mark.parametrize("favour", ["f", ("f",), ["f"], [("f",)], {"f"}, (("f",),)])
def test_spellings_of_the_favored_group(favour: object) -> None:
    groups = read.tallies(PEOPLE, truth="sick", score="risk", group="sex")
    policy = fairness.reject_option(groups, Goal(within=inf), favor=favour, favorable="pass")
    assert policy.settings["favour"] == (("f",),)
    assert policy.rule == "reject-option"
    assert policy.needs_group


@pytest.mark.parametrize("favour", [("f", 1), ("f", "1"), [("f", 1.0)], [["f", "1"]]])
def test_favored_group_of_several_attributes(favour: object) -> None:
    groups = read.tallies(PEOPLE, truth="sick", score="risk", group=["sex", "old"])
    policy = fairness.reject_option(groups, Goal(within=inf), favor=favour, favorable="pass")
    assert policy.settings["favour"] == (("f", 1),)


def test_labels_of_numpy_are_stored_as_plain_values() -> None:
    groups = {(np.int64(1),): _curve_of_counts([3, 1], [0, 4]), (np.int64(2),): _curve_of_counts([0, 3], [4, 0])}
    policy = fairness.reject_option(groups, Goal(within=inf), favor=2, favorable="pass")
    assert Policy.from_json(policy.to_json()).settings["favour"] == ((2,),)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"favor": "x"}, UnknownLabelError, "expected one of: group = f; group = m."),
        ({"favor": ("f", "m")}, UnknownLabelError, "expected one of: group = f; group = m."),
        ({"favor": ["f", "m"]}, OptionError, "2 of 2 groups are favored"),
        ({"favor": []}, OptionError, "0 of 2 groups are favored"),
        ({"favorable": "refer"}, OptionError, "favorable is 'refer'"),
        ({"around": inf}, OptionError, "around is inf"),
        ({"objective": "auc"}, OptionError, "auc does not depend on the threshold"),
        ({"objective": "flag_rate"}, OptionError, "neither end of flag_rate is better"),
        ({"objective": len}, OptionError, "is not a measure"),
    ],
)
def test_invalid_options_raise(options: dict[str, object], error: type[Exception], message: str) -> None:
    groups = {"f": _curve_of_counts([3, 1], [0, 4]), "m": _curve_of_counts([0, 3], [4, 0])}
    given: dict[str, object] = {"favor": "f", "favorable": "flag"} | options
    with pytest.raises(error, match=message):
        fairness.reject_option(groups, Goal(), **given)  # type: ignore[call-overload]


def test_excluded_group_gets_its_action() -> None:
    groups = {
        "f": _curve_of_counts([3, 1], [0, 4]),
        "m": _curve_of_counts([1, 3], [2, 2]),
        "x": _curve_of_counts([0, 0], [2, 2]),
    }
    policy = fairness.reject_option(groups, Goal(), favor="m", favorable="flag", otherwise="refer")
    assert {*policy.by_group} == {("f",), ("m",)}
    assert policy.action(0.9, ["x"]) == "refer"
    tallies = as_tallies(groups)
    assert decide.decision_tables(tallies, policy)["x",]["refer"].flagged == 4


def test_infinities_never_win() -> None:
    groups = {"f": _curve_of_counts([3, 1], [0, 4]), "m": _curve_of_counts([2, 1], [1, 4])}
    query = {"favor": "f", "favorable": "flag"}
    goal = Goal("demographic-parity", within=1.0)
    policy = fairness.reject_option(groups, goal, **query, objective="positive_likelihood_ratio")  # type: ignore[call-overload]
    counts = baserate.Counts(tp=0, fp=0, fn=0, tn=0)
    for name, each in groups.items():
        cut = policy.by_group[(name,)]
        assert isinstance(cut, baserate.Cut)
        part = each.at(cut.threshold)
        counts = baserate.Counts(*(getattr(counts, cell) + getattr(part, cell) for cell in ("tp", "fp", "fn", "tn")))
    assert counts.fp > 0  # where f alone is flagged at 0.9, no negative is, and the ratio is infinite
    assert "with an infinite positive likelihood ratio" in policy.notes[-1]
    assert "skipped: an infinity never wins a search." in policy.notes[-1]
