"""Impact of a policy on groups: costs, changes, randomization, forgone sensitivity, binding groups and notes."""

import math
from collections.abc import Mapping
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from baserate import (
    Costs,
    Counts,
    Curve,
    Cut,
    OptionError,
    Policy,
    RandomizedCut,
    Results,
    Tallies,
    curve,
    fairness,
    read,
    tally,
)
from baserate.fairness import Goal, _impact, find_parity
from baserate.infer import IntervalOptions
from baserate.measure import MEASURES, expected_cost
from tests.fairness.brute_force import least_cost
from tests.schemas import read_results

PARITIES = [each.name for each in fairness.PARITIES.values() if each.enforceable]
F = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
M = curve(tally([1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.6, 0.5, 0.3, 0.1]))
EVEN = Costs(fp=1, fn=1)

Problem = tuple[dict[str, Curve], Goal]


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Two to four groups with both classes, a parity, a tolerance and costs."""
    groups = {}
    for name in "abcd"[: draw(st.integers(2, 4))]:
        rows = draw(st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=1, max_size=12))
        truth, score = zip(*rows, (True, 3), (False, 3), strict=True)
        groups[name] = curve(tally(truth, [each / 6 for each in score]))
    within = draw(st.sampled_from([0.0, 0.05, 0.3, math.inf]))
    costs = Costs(fp=draw(st.sampled_from([1.0, 2.0, 5.0])), fn=draw(st.sampled_from([1.0, 3.0])))
    return groups, Goal(draw(st.sampled_from(PARITIES)), within=within, costs=costs)


def rows_by_subject(result: Results) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return rows by set, group, measure and rate, without thresholds."""
    return {
        (row["set"], None if row["group"] is None else tuple(row["group"].values()), row["measure"], row["rate"]): row
        for row in result.rows()
        if row["measure"] != "threshold"
    }


def values(result: Results, measure: str, which: str = "with parity") -> dict[str, float]:
    """Return the values of a measure by group."""
    return {
        row["group"]["group"]: row["value"]
        for row in result.rows()
        if row["measure"] == measure and row["set"] == which and row["group"]
    }


@given(problems())
def test_costs_are_those_of_brute_force(problem: Problem) -> None:
    groups, goal = problem
    result = fairness.impact(groups, goal, interval=None).data
    curves = list(groups.values())
    assert result["cost"] == pytest.approx(least_cost(curves, goal.tolerances, goal.costs), abs=1e-9)
    assert result["cost_without"] == pytest.approx(least_cost(curves, {}, goal.costs), abs=1e-9)
    assert result["price"] == result["cost"] - result["cost_without"] >= -1e-12
    assert result["least"] == pytest.approx(result["cost"], abs=1e-9)
    simple = fairness.impact(groups, goal, fairness.deterministic_thresholds(groups, goal), interval=None).data
    assert simple["least"] == result["least"] <= simple["cost"] + 1e-9


@given(problems())
def test_laws_of_the_rows(problem: Problem) -> None:
    groups, goal = problem
    result = fairness.impact(groups, goal, interval=None)
    rows = rows_by_subject(result)
    for which in ("without parity", "with parity"):
        for cell in ("tp", "fp", "fn", "tn"):
            parts = [rows[which, (name,), cell, None]["value"] for name in groups]
            assert rows[which, None, cell, None]["value"] == pytest.approx(math.fsum(parts))
    for (which, *rest), row in rows.items():
        if which == "without parity":
            assert row["change"] is None
        elif row["measure"] not in ("lottery", "forgone") and row["value"] is not None:
            before = rows["without parity", *rest]["value"]
            assert row["change"] == (None if before is None else row["value"] - before)
    for rate, bound in goal.tolerances.items():
        each = values(result, rate).values()
        gap = rows["with parity", None, "gap", rate]
        assert gap["value"] == max(each) - min(each) <= bound + 1e-9
        assert gap["kind"] == "max_difference"


@given(problems())
def test_randomization_and_forgone_sensitivity_equal_brute_force(problem: Problem) -> None:
    groups, goal = problem
    policy = fairness.optimal_policy(groups, goal)
    result = fairness.impact(groups, goal, interval=None)
    forgone, rates = values(result, "forgone"), {name: values(result, name) for name in ("fpr", "sensitivity")}
    for name, each in groups.items():
        scores, mass = each.tally.score, each.tally.mass.sum(axis=0)
        treatment = policy.by_group[name,]
        drawn = [isinstance(treatment, RandomizedCut) and max(treatment.chances_at(at).values()) < 1 for at in scores]
        assert values(result, "lottery")[name] == pytest.approx(mass[drawn].sum() / mass.sum())
        best = highest_sensitivity(each, rates["fpr"][name])
        assert forgone[name] == pytest.approx(best - rates["sensitivity"][name], abs=2e-9)


def highest_sensitivity(each: Curve, at: float) -> float:
    """Compute the greatest sensitivity of any mixture of two thresholds at a false positive rate."""
    points = [
        (float(MEASURES["fpr"](counts)), float(MEASURES["sensitivity"](counts)))
        for counts in counts_at_thresholds(each)
    ]
    result = 0.0
    for (x0, y0), (x1, y1) in combinations_with_replacement(sorted(points), 2):
        if x0 - 1e-12 <= at <= x1 + 1e-12:
            result = max(
                result, max(y0, y1) if x1 - x0 < 1e-12 else y0 + (y1 - y0) * min(max((at - x0) / (x1 - x0), 0), 1)
            )
    return result


def counts_at_thresholds(each: Curve) -> list[Counts[float]]:
    return [each.at(float(threshold)) for threshold in each.threshold]


@pytest.mark.slow
@given(problems())
def test_order_of_groups_does_not_matter(problem: Problem) -> None:
    groups, goal = problem
    one = fairness.impact(groups, goal, interval=None)
    other = fairness.impact(dict(reversed(groups.items())), goal, interval=None)
    other_rows = rows_by_subject(other)
    for key, row in rows_by_subject(one).items():
        assert other_rows[key]["value"] == pytest.approx(row["value"], abs=1e-9)
    assert one.data["price"] == pytest.approx(other.data["price"], abs=1e-12)


@given(problems())
def test_better_scores_help_only_binding_groups(problem: Problem) -> None:
    groups, goal = problem
    goal = Goal("equalized-odds", costs=goal.costs)
    result = fairness.impact(groups, goal, interval=None).data
    binding = {group["group"] for group in result["binds"]}
    for name, each in groups.items():
        better = fairness.optimal_policy(groups | {name: perfect_scores(each)}, goal).settings["cost"]
        assert better <= result["cost"] + 1e-12
        if name not in binding and binding:
            assert better == pytest.approx(result["cost"], abs=1e-9)
        if binding == {name}:
            assert better < result["cost"]


def perfect_scores(each: Curve) -> Curve:
    """Return the curve of the same people with scores that separate the classes."""
    positives, negatives = int(each.positives), int(each.negatives)
    return curve(tally([1] * positives + [0] * negatives, [1.0] * positives + [0.0] * negatives))


def test_impact_by_hand() -> None:
    # Alone, f passes two thirds of its positives without a mistake or finds all with one, both at 1 of 6; m costs 2 of
    # 6. Together they can have what is on both hulls: of least cost is (0, 1/3), where f throws a third away.
    result = fairness.impact({"f": F, "m": M}, Goal("equalized-odds", costs=EVEN), interval=None)
    rows = rows_by_subject(result)
    assert values(result, "sensitivity", "without parity") == {"f": 2 / 3, "m": 1 / 3}
    assert values(result, "sensitivity") == pytest.approx({"f": 1 / 3, "m": 1 / 3})
    assert values(result, "forgone") == pytest.approx({"f": 1 / 3, "m": 0})
    assert (result.data["cost"], result.data["cost_without"]) == (pytest.approx(4 / 12), pytest.approx(3 / 12))
    assert rows["with parity", None, "gap", "sensitivity"]["value"] == pytest.approx(0)
    assert rows["without parity", None, "gap", "sensitivity"]["value"] == pytest.approx(1 / 3)
    assert rows["with parity", ("f",), "tp", None]["change"] == pytest.approx(-1)
    assert result.data["binds"] == [{"group": "m"}]
    levelled = "leveling down: sensitivity gets better in no group, and worse in group = f (0.6667 to 0.3333)."
    given_up = "at the same false positive rate, sensitivity could be greater in group = f by 0.3333; the policy gives "
    assert result.data["levelling_down"][0] == levelled
    assert result.data["levelling_down"][1].startswith(given_up)
    assert {*result.data["levelling_down"]} <= {*result.data["notes"]}


def test_numbers_have_the_intervals_of_the_library() -> None:
    interval = IntervalOptions(level=0.9)
    goal = Goal("equal-opportunity", within=0.1, costs=Costs(fp=2, fn=1))
    rows = rows_by_subject(fairness.impact({"f": F, "m": M}, goal, interval=interval))
    of = [rows["with parity", ("f",), cell, None]["value"] for cell in ("tp", "fp", "fn", "tn")]
    for name in ("flag_rate", "sensitivity", "fpr"):
        wanted = interval.of(MEASURES[name], Counts(*of))
        row = rows["with parity", ("f",), name, None]
        assert (row["value"], row["low"], row["high"], row["how"]) == (
            wanted.value,
            wanted.low,
            wanted.high,
            wanted.how,
        )
    assert rows["with parity", None, "expected_cost", None]["level"] == 0.9
    assert rows["with parity", ("m",), "base_rate", None]["value"] == 0.5


def test_json_fits_the_schema_and_gives_no_verdict() -> None:
    result = fairness.impact({"f": F, "m": M}, Goal("equalized-odds"))
    assert read_results(result.to_json())["rows"][0]["table"] == "account"
    assert "fair" not in result.to_json().lower()


def people(**more: Any) -> Tallies:  # noqa: ANN401  (columns)
    columns: dict[str, Any] = {
        "sick": [1, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1],
        "risk": [0.9, 0.8, 0.7, 0.6, 0.4, 0.2, 0.9, 0.8, 0.6, 0.5, 0.3, 0.1],
        "sex": ["f"] * 6 + ["m"] * 6,
    }
    columns |= more
    return read.tallies(columns, truth="sick", score="risk", group="sex")


def test_impact_takes_any_policy_that_passes_or_flags() -> None:
    goal = Goal("equalized-odds", costs=EVEN)
    blind = Policy(by_group={(): Cut((0.6,))}, otherwise="refuse")
    result = fairness.impact(people(), goal, blind)
    rows = rows_by_subject(result)
    assert (result.data["needs_group"], result.data["legal"], result.data["same"]) == (False, None, [])
    assert result.data["binds"] == []  # better scores say nothing of a policy that is given
    assert rows["with parity", ("f",), "sensitivity", None]["value"] == 1
    assert rows["with parity", ("m",), "sensitivity", None]["value"] == pytest.approx(2 / 3)
    table = Counts(*(rows["with parity", None, cell, None]["value"] for cell in ("tp", "fp", "fn", "tn")))
    assert result.data["cost"] == expected_cost(table, costs=EVEN) == pytest.approx(3 / 12)
    everybody = [row for row in result.rows() if row["measure"] == "threshold" and row["group"] is None]
    assert [(row["set"], row["value"]) for row in everybody] == [("with parity", 0.6)]
    for actions in (("low", "high"), ("pass", "refer")):
        with pytest.raises(OptionError, match="which no rate of a group counts"):
            fairness.impact(people(), goal, Policy(by_group={(): Cut((0.6,), actions)}, otherwise="refuse"))


def test_evaluation_on_the_same_rows_is_noted_at_any_prevalence() -> None:
    goal = Goal("equalized-odds", prevalence=0.1)
    result = fairness.impact(people(), goal)
    assert result.data["same"] == ["risk"]
    assert _impact.SAME_DATA_NOTE in result.data["notes"]
    assert result.data["digest"] == people().digest
    others = people(risk=[0.8, 0.8, 0.7, 0.6, 0.4, 0.2, 0.9, 0.8, 0.6, 0.5, 0.3, 0.1])
    assert fairness.impact(others, goal, fairness.optimal_policy(people(), goal)).data["same"] == []


def test_prevalences_of_groups_are_their_base_rates() -> None:
    goal = Goal("equalized-odds", prevalence={"f": 0.2, "m": 0.4})
    rows = rows_by_subject(fairness.impact(people(), goal))
    each = {group: rows["with parity", group, "base_rate", None]["value"] for group in [("f",), ("m",), None]}
    assert each == pytest.approx({("f",): 0.2, ("m",): 0.4, None: 0.3})


def test_saved_policy_has_the_same_impact() -> None:
    within = {"sensitivity": 0.1, "fpr": 0.2}
    for prevalence in (None, 0.1, {"f": 0.2, "m": 0.4}, {("f",): 0.2}):
        policy = fairness.optimal_policy(people(), Goal("equalized-odds", within=within, prevalence=prevalence))
        assert Policy.from_json(policy.to_json()) == policy


def test_groups_without_a_required_class_are_excluded() -> None:
    sex = ["f"] * 5 + ["x"] + ["m"] * 6
    result = fairness.impact(people(sex=sex), Goal("equalized-odds"), otherwise="refer", interval=None)
    assert result.data["left"] == [{"sex": "x"}]
    assert {row["group"]["sex"] for row in result.rows() if row["group"]} == {"f", "m"}
    everybody = [rows_by_subject(result)["with parity", None, cell, None]["value"] for cell in ("tp", "fp", "fn", "tn")]
    assert math.fsum(everybody) == pytest.approx(11)
    assert not {row["measure"] for row in result.rows()} & {"coverage", "referred_positives"}
    assert any(note.startswith("sex = x has no positives") for note in result.data["notes"])


def test_a_group_without_positives_is_noted() -> None:
    sex = ["f"] * 5 + ["x"] + ["m"] * 6
    result = fairness.impact(people(sex=sex), Goal("demographic-parity", costs=Costs(fp=1, fn=5)), interval=None)
    rate = rows_by_subject(result)["with parity", ("x",), "flag_rate", None]["value"]
    assert rate > 0
    assert _impact.no_positives_notes({"sex = x": rate})[0] in result.data["notes"]
    lost = rows_by_subject(result)["with parity", ("x",), "forgone", None]
    assert (lost["value"], lost["why"]) == (None, "a class is missing")
    assert {"sex": "x"} not in result.data["binds"]
    undefined = rows_by_subject(result)["with parity", ("x",), "sensitivity", None]
    assert (undefined["value"], undefined["why"]) == (None, "there are no positives")


def test_a_rate_of_a_single_group_has_no_gap() -> None:
    nobody = Policy(by_group={("f",): Cut((0.5,)), ("m",): Cut((math.inf,))}, otherwise="refuse", attributes=("sex",))
    row = rows_by_subject(fairness.impact(people(), Goal("equalized-odds"), nobody))[
        "with parity", None, "gap", "precision"
    ]
    assert (row["value"], row["why"]) == (None, "precision is defined in fewer than two groups")


def test_labels_are_reversed_where_that_is_cheaper() -> None:
    columns = {"sick": [1, 1, 0, 0, 1, 1, 0, 0], "says": [1, 1, 0, 1, 0, 0, 0, 1], "sex": ["f"] * 4 + ["m"] * 4}
    t = read.tallies(columns, truth="sick", predicted="says", group="sex")
    result = fairness.impact(t, Goal("equalized-odds", within=math.inf), interval=None)
    assert values_by(result, "sex", "sensitivity") == {"f": 1, "m": 1}
    assert result.data["price"] == 0


def values_by(result: Results, attribute: str, measure: str) -> Mapping[str, float]:
    return {
        row["group"][attribute]: row["value"]
        for row in result.rows()
        if row["measure"] == measure and row["set"] == "with parity" and row["group"]
    }


def test_notes_describe_parities_and_legal_risk() -> None:
    (output,) = _impact.describe_parities([find_parity("equalized-odds")])
    assert output.startswith("equalized-odds means: the same share of the positives, and of the negatives")
    assert "It does not constrain the precision" in output
    law = _impact.legal_note(["race", "sex"])
    assert law.startswith("The policy uses race and sex:")
    assert law.endswith("This is not legal advice.")


def test_notes_warn_of_unreachable_parity() -> None:
    (output,) = _impact.base_rate_notes({"f": 0.1, "m": 0.3, "x": 0.2}, 0.1)
    assert output.startswith("the base rates differ (10% in f, 30% in m)")
    assert output.endswith("a perfect predictor would violate demographic parity.")
    assert _impact.base_rate_notes({"f": 0.1, "m": 0.1 + 1e-12}, 0.0) == []
    assert _impact.base_rate_notes({"f": 0.1, "m": 0.3}, 0.2) == []
    result = fairness.impact(people(sick=[1, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0]), Goal("demographic-parity"))
    assert any("33.33% in sex = m, 50% in sex = f" in note for note in result.data["notes"])
    odds = fairness.impact(people(sick=[1, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0]), Goal("equalized-odds"))
    assert not any("perfect predictor" in note for note in odds.data["notes"])


def test_notes_warn_of_trivial_policies() -> None:
    assert _impact.trivial_notes({"f": 1.0, "m": 1.0}) == [
        "everybody is flagged, in any group: the scores are not used."
    ]
    assert _impact.trivial_notes({"f": 1.0, "m": 0.0}) == []
    dear = fairness.impact(people(sick=[0, 1, 1, 1, 0, 0] * 2), Goal("equalized-odds", costs=Costs(fp=100, fn=1)))
    assert "nobody is flagged, in any group: the scores are not used." in dear.data["notes"]
    assert dear.data["binds"] == []


def test_notes_list_randomized_groups() -> None:
    (output,) = _impact.randomization_notes({"f": 0.125, "m": 0.0, "x": 0.5})
    assert output.startswith("decided at random: 50% of x and 12.5% of f;")
    (several,) = _impact.randomization_notes({"abcdefg"[at]: 0.1 * at for at in range(7)})
    assert several.startswith("decided at random: 60% of g, 50% of f, 40% of e, 30% of d and 2 more groups;")
    assert _impact.randomization_notes({"f": 0.0}) == []
    assert _impact.no_positives_notes({"x": 0.25})[0].endswith(
        "all of its flags, 25% of the group, are false positives."
    )


def test_notes_warn_of_leveling_down() -> None:
    assert _impact.leveling_down_notes("sensitivity", {"f": 0.5, "m": 0.5}, {"f": 0.4, "m": 0.6}) == []
    assert _impact.leveling_down_notes("sensitivity", {"f": 0.5, "m": 0.5}, {"f": 0.5, "m": 0.5}) == []
    assert _impact.leveling_down_notes("sensitivity", {"f": 0.5, "m": np.nan}, {"f": 0.4, "m": 0.6}) == [
        "leveling down: sensitivity gets better in no group, and worse in f (0.5 to 0.4)."
    ]
    assert _impact.leveling_down_notes("fpr", {"f": 0.5, "m": 0.5}, {"f": 0.4, "m": 0.5}) == []
    assert _impact.leveling_down_notes("flag_rate", {"f": 0.5, "m": 0.5}, {"f": 0.4, "m": 0.5}) == []
    assert _impact.forgone_notes({"f": 0.0, "m": math.nan}) == []
