"""Calibrated equalized odds: withheld shares, mixed scores, the price, and what cannot be equalized."""

import json
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import baserate
from baserate import (
    Costs,
    InfeasibleError,
    NotAProbabilityError,
    OptionError,
    Policy,
    ShapeError,
    Tally,
    UnknownLabelError,
    apply,
    fairness,
    read,
    shift,
)
from tests.schemas import check_schema

F = [(0.75, 3, 1), (0.25, 1, 3)]
M = [(0.625, 3, 1), (0.375, 1, 3)]


def tally(cells: list[tuple[float, int, int]]) -> Tally:
    """Make a tally of scores with their numbers of positives and negatives."""
    ordered = sorted(cells, reverse=True)
    return Tally.from_counts([each[0] for each in ordered], np.array([each[1:] for each in ordered]).T)


PAIR = {"f": tally(F), "m": tally(M)}


@st.composite
def calibrated_groups(draw: st.DrawFn) -> dict[str, Tally]:
    """Groups whose scores are the shares of positives among rows with that score."""
    result = {}
    for name in "abc"[: draw(st.integers(2, 3))]:
        shares = draw(st.lists(st.integers(1, 19), min_size=1, max_size=6, unique=True))
        result[name] = tally([(each / 20, each * (at + 1), (20 - each) * (at + 1)) for at, each in enumerate(shares)])
    return result


def rate(group: Tally, equalize: str, costs: Costs, score: Any = None) -> float:  # noqa: ANN401  (scores, or one)
    """Return a generalized rate from its definition."""
    score = group.score if score is None else score
    fnr = float((group.positive * (1 - score)).sum() / group.positives)
    fpr = float((group.negative * score).sum() / group.negatives)
    cost = costs.fp * fpr * (1 - group.prevalence) + costs.fn * fnr * group.prevalence
    return {"fnr": fnr, "fpr": fpr, "weighted": cost}[equalize]


@given(calibrated_groups(), st.sampled_from(["fnr", "fpr", "weighted"]), st.integers(1, 5), st.integers(1, 5))
def test_rates_are_equal_or_cannot_be(groups: dict[str, Tally], equalize: str, fp: int, fn: int) -> None:
    costs = Costs(fp=fp, fn=fn)
    now = {name: rate(each, equalize, costs) for name, each in groups.items()}
    most = {name: rate(each, equalize, costs, each.prevalence) for name, each in groups.items()}
    worst = max(now.values())
    if worst > min(most.values()) + 1e-9:
        with pytest.raises(InfeasibleError, match="cannot be equalized"):
            fairness.calibrated_equalized_odds(groups, equalize, costs=costs)
        return
    policy = fairness.calibrated_equalized_odds(groups, equalize, costs=costs)
    for each in policy.settings["mixing"]:
        (name,), share = each["group"], each["share"]
        assert 0 <= share <= 1
        assert (1 - share) * now[name] + share * most[name] == pytest.approx(worst, abs=1e-12)
    assert min(each["share"] for each in policy.settings["mixing"]) == 0
    assert not any("not calibrated" in note for note in policy.notes)


def test_a_table_by_hand() -> None:
    policy = fairness.calibrated_equalized_odds(PAIR, "fnr", threshold=0.6)
    # Means of 1 − p over positives: (3·0.25 + 0.75)/4 = 0.375 and (3·0.375 + 0.625)/4 = 0.4375; with base rates 0.5.
    assert policy.settings["mixing"][0] == {"group": ("f",), "share": 0.5, "base_rate": 0.5}
    treatment = policy.by_group["f",]
    assert isinstance(treatment, baserate.RandomizedCut)
    assert [cut.threshold for cut in treatment.cuts] == [0.6, inf]
    assert treatment.chances == (0.5, 0.5)
    assert policy.by_group["m",] == baserate.Cut((0.6,))
    lower = fairness.calibrated_equalized_odds(PAIR, "fnr", threshold=0.5).by_group["f",]
    assert isinstance(lower, baserate.RandomizedCut)
    assert lower.cuts[1].threshold == -inf


def test_costs_set_the_threshold_and_the_weights() -> None:
    policy = fairness.calibrated_equalized_odds(PAIR, fp=1, fn=3)
    assert policy.settings["threshold"] == 0.25
    assert policy.settings["costs"] == Costs(fp=1, fn=3)


def test_weights_count_as_rows() -> None:
    doubled = {name: Tally(each.score, each.mass * 2.0, each.mass * 4.0, each.rows) for name, each in PAIR.items()}
    both = [fairness.calibrated_equalized_odds(each, "fnr").settings["mixing"] for each in (PAIR, doubled)]
    assert both[0] == both[1]


def columns(n_rows: int = 4000) -> dict[str, Any]:
    """Make rows with calibrated scores, of which those of one group vary more."""
    rng = np.random.default_rng(7)
    sex = rng.choice(["f", "m"], n_rows)
    risk = np.where(sex == "f", rng.beta(1, 1, n_rows), rng.beta(3, 3, n_rows)).round(3)
    return {"sick": rng.random(n_rows) < risk, "risk": risk, "sex": sex, "who": np.arange(n_rows)}


def choose(equalize: str = "fnr", **options: Any) -> Policy:  # noqa: ANN401  (any options)
    policy: Policy = fairness.calibrated_equalized_odds(
        columns(), equalize, truth="sick", score="risk", group="sex", **options
    )
    return policy


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7])
def test_decisions_are_those_of_mixed_scores(threshold: float) -> None:
    policy, rows = choose(threshold=threshold), columns()
    mixed = fairness.mix_scores(policy, rows["risk"], group=rows["sex"], id=rows["who"])
    result = apply.actions(policy, rows["risk"], group=rows["sex"], id=rows["who"])
    assert (result.is_flagged == (mixed >= threshold)).all()
    assert 0.2 < (mixed != rows["risk"]).mean() < 0.8


def test_the_policy_file_fits_its_schema_and_exports() -> None:
    policy = choose()
    check_schema(json.loads(policy.to_json()), "policy")
    names: dict[str, Any] = {}
    exec(apply.as_python(policy), names)  # noqa: S102  (code that we wrote)
    rows = columns(200)
    decided = apply.actions(policy, rows["risk"], group=rows["sex"], id=rows["who"]).text.tolist()
    for at, action in enumerate(decided):
        assert names["decide"](rows["risk"][at], group=rows["sex"][at], id=rows["who"][at]) == action


def test_mixed_scores_have_equal_rates_and_stay_calibrated() -> None:
    policy, rows = choose(), columns()
    mixed = fairness.mix_scores(policy, rows["risk"], group=rows["sex"], id=rows["who"])
    women = rows["sex"] == "f"
    means = [(1 - mixed)[rows["sick"] & each].mean() for each in (women, ~women)]
    before = [(1 - rows["risk"])[rows["sick"] & each].mean() for each in (women, ~women)]
    assert abs(means[0] - means[1]) < 0.02
    assert abs(before[0] - before[1]) > 0.05
    for each in (women, ~women):
        assert baserate.infer.cox_test(rows["sick"][each], mixed[each]).p > 0.01


def test_mixed_scores_depend_on_ids_alone() -> None:
    policy, rows = choose(), columns()
    mixed = fairness.mix_scores(policy, rows["risk"], group=rows["sex"], id=rows["who"])
    order = np.random.default_rng(1).permutation(len(mixed))[:100]
    again = fairness.mix_scores(
        Policy.from_json(policy.to_json()), rows["risk"][order], group=rows["sex"][order], id=rows["who"][order]
    )
    assert (again == mixed[order]).all()


def number(results: baserate.Results, measure: str, set_name: str | None, group: str | None) -> dict[str, Any]:
    (row,) = [
        row
        for row in results.rows()
        if (row["measure"], row["set"]) == (measure, set_name) and row["group"] == (group and {"sex": group})
    ]
    return row


def test_price_by_hand() -> None:
    policy, rows = choose(), columns()
    tallies = read.tallies(rows, truth="sick", score="risk", group="sex")
    results = fairness.mixing_impact(tallies, policy)
    share = number(results, "withheld", None, "f")["value"]
    women = rows["sex"] == "f"
    sick, risk = rows["sick"][women], rows["risk"][women]
    before, base = ((sick - risk) ** 2).mean(), sick.mean()
    assert number(results, "brier", "scores", "f")["value"] == pytest.approx(before, abs=1e-12)
    expected = share * (base * (1 - base) - before)
    row = number(results, "brier", "change", "f")
    assert row["value"] == pytest.approx(expected, abs=1e-12)
    assert row["low"] < row["value"] < row["high"]
    assert number(results, "brier", "change", None)["value"] == pytest.approx(expected * women.mean(), abs=1e-12)
    gaps = {(row["set"], row["rate"]): row["value"] for row in results.rows() if row["measure"] == "gap"}
    assert gaps["mixed scores", "generalized_fnr"] == pytest.approx(0, abs=1e-12)
    assert gaps["scores", "generalized_fnr"] > 0.05
    assert results.data["price"] == number(results, "generalized_cost", "change", None)["value"] > 0


def test_other_rows_get_the_shares_and_base_rates_of_the_policy() -> None:
    policy = fairness.calibrated_equalized_odds(PAIR, "fnr")
    new = {"f": tally([(0.9, 9, 1), (0.1, 2, 8)]), "m": tally([(0.6, 5, 5)])}
    results = fairness.mixing_impact(new, policy).rows()
    share, base = policy.settings["mixing"][0]["share"], policy.settings["mixing"][0]["base_rate"]
    by_measure = {
        (row["measure"], row["set"]): row
        for row in results
        if row["group"] == {"group": "f"} and row["measure"] != "gap"
    }
    assert by_measure["withheld", None]["value"] == share
    assert by_measure["withheld", None]["low"] is None
    now = (9 * 0.1 + 2 * 0.9) / 11
    mixed = by_measure["generalized_fnr", "mixed scores"]["value"]
    assert mixed == pytest.approx((1 - share) * now + share * (1 - base), abs=1e-12)
    assert by_measure["brier", "mixed scores"]["value"] == pytest.approx(
        (1 - share) * by_measure["brier", "scores"]["value"] + share * (11 * (1 - base) ** 2 + 9 * base**2) / 20,
        abs=1e-12,
    )


def test_an_infinite_log_loss_has_no_change() -> None:
    groups = {"f": tally([(1.0, 3, 1), (0.25, 1, 3)]), "m": tally(M)}
    policy = fairness.calibrated_equalized_odds(groups, "fnr")
    rows = fairness.mixing_impact(groups, policy).rows()
    whys = {
        row["set"]: (row["value"], row["why"])
        for row in rows
        if row["measure"] == "log_loss" and row["group"] == {"group": "f"}
    }
    assert whys["scores"] == (inf, None)
    assert whys["change"][0] is None
    assert "infinite" in str(whys["change"][1])


def test_notes_warn_of_uncalibrated_scores_and_wider_gaps() -> None:
    rows = columns()
    rows["risk"] = rows["risk"] ** 2
    policy = fairness.calibrated_equalized_odds(rows, truth="sick", score="risk", group="sex")
    assert len(policy.notes) == 2
    assert all("not calibrated (Cox's test, Holm-adjusted p < 0.0001)" in note for note in policy.notes)
    assert choose().notes == ()
    tallies = read.tallies(columns(), truth="sick", score="risk", group="sex")
    notes = fairness.mixing_impact(tallies, choose(threshold=0.6)).data["notes"]
    gaps = {
        (row["rate"], row["set"]): row["value"]
        for row in fairness.mixing_impact(tallies, choose(threshold=0.6)).rows()
        if row["measure"] == "gap"
    }
    wider = {name for name in ("sensitivity", "fpr") if gaps[name, "mixed scores"] > gaps[name, "scores"]}
    assert wider
    assert {name for name in ("sensitivity", "fpr") if any(f"of {name} grows" in note for note in notes)} == wider


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"equalize": "tpr"}, "equalize is 'tpr'; expected one of weighted, fnr, fpr"),
        ({"threshold": 1.5}, "threshold is 1.5; expected a probability from 0 to 1"),
        ({"costs": Costs(fp=0, fn=0)}, "both errors cost nothing"),
        ({"costs": Costs(fp=0, fn=1)}, "the costs imply no threshold"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        fairness.calibrated_equalized_odds(PAIR, **options)


def test_data_without_calibrated_probabilities_are_refused() -> None:
    with pytest.raises(NotAProbabilityError):
        fairness.calibrated_equalized_odds({"f": tally([(2.0, 3, 1), (0.25, 1, 3)]), "m": tally(M)})
    with pytest.raises(OptionError, match=r"reweighted to another prevalence.*shift\.reprior"):
        fairness.calibrated_equalized_odds({name: shift.reweigh(each, prevalence=0.1) for name, each in PAIR.items()})
    rows = {"sick": [1, 0, 1, 0], "says": [1, 0, 0, 1], "sex": ["f", "f", "m", "m"]}
    labels = read.tallies(rows, truth="sick", predicted="says", group="sex", positive=1)
    with pytest.raises(OptionError, match="says contains labels; expected calibrated probabilities"):
        fairness.calibrated_equalized_odds(labels)


def test_only_policies_that_withhold_scores_mix_them() -> None:
    other = fairness.optimal_policy(PAIR, fairness.Goal("equal-opportunity"))
    with pytest.raises(OptionError, match="the policy withholds no scores"):
        fairness.mix_scores(other, [0.5], group=["f"], id=[1])
    with pytest.raises(OptionError, match="the policy withholds no scores"):
        fairness.mixing_impact(PAIR, other)
    policy = fairness.calibrated_equalized_odds(PAIR, "fnr")
    with pytest.raises(UnknownLabelError):
        fairness.mix_scores(policy, [0.5], group=["x"], id=[1])
    with pytest.raises(ShapeError, match="2 ids for 1 score"):
        fairness.mix_scores(policy, [0.5], group=["f"], id=[1, 2])
    with pytest.raises(OptionError, match="the policy has no group"):
        fairness.mixing_impact({"x": tally(F)}, policy)
