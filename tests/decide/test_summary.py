"""The summary of a rule's choice as tidy rows."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import baserate
from baserate import BaserateError, Costs, Curve, OptionError, Policy, decide, infer, measure, population, read
from baserate._tally import Tallies
from baserate.decide._rule import Rule
from baserate.shift import reweigh

COSTS = Costs(fp=1, fn=4)
OWN_COSTS = Costs(fp=2, fn=3)


@pytest.fixture(scope="module")
def people() -> Tallies:
    truth, score = population.binormal(means=(0, 1.5), prevalence=0.3).draw(400, 5)
    p = 1 / (1 + np.exp(-score))
    sex = np.where(np.arange(400) % 2, "f", "m")
    other = np.random.default_rng(0).random(400)
    columns = {"sick": truth, "risk": p, "guess": other, "sex": sex}
    return read.tallies(columns, truth="sick", score=["risk", "guess"], group="sex")


def test_threshold_cells_measures_and_other_rules(people: Tallies) -> None:
    result = decide.summary(people, partial(decide.cost, costs=COSTS), costs=COSTS, n_bootstrap=50)
    rows = [row for row in result.rows() if row["model"] == "risk" and row["group"] is None]
    curve = Curve(people.pooled("risk"))
    policy = decide.cost(curve, COSTS)
    chosen = {row["measure"]: row for row in rows if row["rule"] == "cost"}
    assert chosen["threshold"]["value"] == policy.threshold
    assert chosen["threshold"]["low"] <= policy.threshold <= chosen["threshold"]["high"]
    assert chosen["tp"]["value"] == policy.cut.counts(curve).tp
    sensitivity = infer.estimate("sensitivity", policy.cut.counts(curve))
    assert (chosen["sensitivity"]["low"], chosen["sensitivity"]["high"]) == (sensitivity.low, sensitivity.high)
    left = chosen["sensitivity"]["value"] - chosen["sensitivity"]["optimism"]
    assert chosen["sensitivity"]["corrected"] == pytest.approx(left)
    assert chosen["expected_cost"]["optimism"] < 0
    others = {row["rule"]: row["value"] for row in rows if row["measure"] == "threshold"}
    assert others["youden"] == decide.youden(curve).threshold
    assert others["best f1"] == decide.best(curve, "f1").threshold
    assert others["fixed 0.5"] == 0.5
    costs = {row["rule"]: row["value"] for row in rows if row["measure"] == "expected_cost"}
    assert costs["cost"] == min(costs.values())
    assert result.data["same"] == ["risk", "guess"]
    assert any("chosen on these rows" in note for note in result.data["notes"])
    assert result.data["policies"]["risk"]["settings"]["costs"] == {"tp": 0, "fp": 1, "fn": 4, "tn": 0}
    json.loads(result.to_json())


def test_groups_are_evaluated_at_the_common_threshold(people: Tallies) -> None:
    result = decide.summary(people, decide.youden, measures=["sensitivity"], n_bootstrap=20)
    for row in result.rows():
        if row["group"] and row["measure"] == "sensitivity":
            tally = people.models[row["model"]][(row["group"]["sex"],)]
            at = decide.youden(Curve(people.pooled(row["model"]))).threshold
            assert row["value"] == measure.sensitivity(Curve(tally).at(at))
            assert row["optimism"] is None


def test_summary_at_another_prevalence(people: Tallies) -> None:
    reweighted = reweigh(people, prevalence=0.02)
    result = decide.summary(reweighted, partial(decide.cost, costs=COSTS), costs=COSTS, n_bootstrap=20)
    stated = decide.cost(Curve(people.pooled("risk")), COSTS, prevalence=0.02)
    [at] = [
        row["value"]
        for row in result.rows()
        if (row["rule"], row["measure"], row["model"], row["group"]) == ("cost", "threshold", "risk", None)
    ]
    assert at == stated.threshold
    assert result.data["policies"]["risk"]["settings"]["prevalence"] == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("rule", "options", "choose"),
    [
        ("cost", {"fp": 1, "fn": 4}, partial(decide.cost, costs=COSTS)),
        (None, {"costs": COSTS}, partial(decide.cost, costs=COSTS)),
        (decide.cost, {"costs": COSTS}, partial(decide.cost, costs=COSTS)),
        ("youden", {"costs": COSTS}, decide.youden),
        ("capacity", {"share": 0.1}, partial(decide.capacity, share=0.1)),
        ("capacity", {"share": "10%"}, partial(decide.capacity, share=0.1)),
        (
            "require",
            {"require": "precision >= 0.4", "maximize": "sensitivity", "costs": COSTS},
            partial(decide.require, require="precision >= 0.4", maximize="sensitivity"),
        ),
        ("best", {"measure": "f1", "costs": COSTS}, partial(decide.best, measure="f1")),
        (
            "best",
            {"measure": "expected_cost", "costs": COSTS},
            partial(decide.best, measure="expected_cost", costs=COSTS),
        ),
        ("abstain", {"refer": 0.3, "costs": COSTS}, partial(decide.abstain, refer=0.3, costs=COSTS)),
        ("bands", {"shares": (0.1, 0.3)}, partial(decide.bands, shares=(0.1, 0.3))),
        (
            partial(decide.cost, costs=Costs(fp=2, fn=3)),
            {"costs": COSTS},
            partial(decide.cost, costs=Costs(fp=2, fn=3)),
        ),
    ],
)
@pytest.mark.parametrize("prevalence", [None, "5%"])
def test_named_rule_with_options_equals_the_bound_rule(
    people: Tallies,
    rule: Callable[..., Policy] | str | None,
    options: dict[str, Any],
    choose: Rule,
    prevalence: str | None,
) -> None:
    result = decide.summary(people, rule, prevalence=prevalence, n_bootstrap=20, **options)
    tallies = people if prevalence is None else reweigh(people, prevalence=0.05)
    costs = COSTS if {"costs", "fp"} & options.keys() else None
    wanted = decide.summary(tallies, choose, costs=costs, n_bootstrap=20)
    assert result.rows() == wanted.rows()
    assert result.data["policies"] == wanted.data["policies"]


@pytest.mark.parametrize("function", [decide.summary, baserate.choose_threshold])
@pytest.mark.parametrize(
    ("rule", "options", "message"),
    [
        ("capacity", {"shre": 0.1}, r"there is no option 'shre'\. Did you mean 'share'.*at_most, share"),
        ("youden", {"share": 0.1}, r"there is no option 'share'\. youden has no options"),
        ("youden", {"prevalance": 0.1}, r"Did you mean 'prevalence'"),
        (lambda curve: decide.capacity(curve, share=0.1), {"share": 0.1}, "there is no option 'share'"),
        ("best", {}, r"the rule best needs measure="),
        ("cost", {}, r"the rule cost needs costs="),
        (None, {"prevalence": 0.1}, "needs the costs of both errors, or the name of a rule"),
    ],
)
def test_wrong_options_of_rules_raise(
    people: Tallies, function: Callable[..., object], rule: object, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(BaserateError, match=message):
        function(people, rule, **options)


def test_referrals_are_counted_with_their_cost(people: Tallies) -> None:
    rule = partial(decide.abstain, costs=COSTS, refer=0.3)
    result = decide.evaluate_policy(people, {m: rule(Curve(people.pooled(m))) for m in people.models}, costs=COSTS)
    rows = {r["measure"]: r for r in result.rows() if (r["model"], r["group"]) == ("risk", None) and not r["action"]}
    referred = {
        r["measure"]: r["value"]
        for r in result.rows()
        if r["model"] == "risk" and not r["group"] and r["action"] == "refer"
    }
    counts = rule(Curve(people.pooled("risk"))).cut.counts(Curve(people.pooled("risk")))
    left = referred["referred_positives"] + referred["referred_negatives"]
    assert counts.total + left == 400
    assert rows["coverage"]["value"] == pytest.approx(counts.total / 400)
    assert rows["cost_with_referrals"]["value"] == pytest.approx((COSTS.total(counts) + 0.3 * left) / 400)


def test_bands_have_shares_and_risks(people: Tallies) -> None:
    result = decide.summary(people, partial(decide.bands, shares=(0.1, 0.3)), n_bootstrap=20)
    rows = [r for r in result.rows() if (r["rule"], r["model"], r["group"]) == ("bands", "risk", None)]
    shares = {r["action"]: r["value"] for r in rows if r["measure"] == "share"}
    assert shares == pytest.approx({"low": 0.6, "medium": 0.3, "high": 0.1})
    risks = [r["value"] for r in rows if r["measure"] == "risk"]
    assert risks == sorted(risks)
    held = people.pooled("risk")
    assert sum(shares[r["action"]] * r["value"] for r in rows if r["measure"] == "risk") == pytest.approx(
        held.prevalence
    )


def test_evaluation_on_other_rows_is_not_marked(people: Tallies) -> None:
    truth, score = population.binormal(means=(0, 1.5), prevalence=0.3).draw(300, 6)
    fresh = read.tallies({"sick": truth, "risk": 1 / (1 + np.exp(-score))}, truth="sick", score="risk")
    policy = decide.youden(Curve(people.pooled("risk")))
    result = decide.evaluate_policy(fresh, policy)
    assert result.data["same"] == []
    assert not any("chosen on these rows" in note for note in result.data["notes"])
    assert decide.evaluate_policy(people, {"risk": policy, "guess": policy}).data["same"] == ["risk"]


def test_rank_measures_raise(people: Tallies) -> None:
    with pytest.raises(OptionError, match="auc does not depend on the threshold"):
        decide.summary(people, decide.youden, measures=["auc"])


def test_fixed_thresholds_have_no_bootstrap(people: Tallies) -> None:
    result = decide.summary(people, partial(decide.fixed, threshold=0.5))
    assert result.data["same"] == []
    assert result.data["notes"] == [
        "guess: another model, or a mixture of two, is as good or better at any costs and any prevalence."
    ]
    assert all(row["corrected"] is None for row in result.rows())
    assert all(row["low"] is None for row in result.rows() if row["measure"] == "threshold")


def test_bootstrap_and_intervals_are_optional(people: Tallies) -> None:
    drawn = decide.summary(people, decide.youden, n_bootstrap=20)
    alone = decide.summary(people, decide.youden, n_bootstrap=0)
    plain = decide.summary(people, decide.youden, interval=None)
    assert [row["value"] for row in alone.rows()] == [row["value"] for row in drawn.rows()]
    assert [row["value"] for row in plain.rows()] == [row["value"] for row in drawn.rows()]
    for result in (alone, plain):
        assert result.data["same"] == ["risk", "guess"]
        assert all(row["corrected"] is None for row in result.rows())
    assert any(row["low"] is not None for row in alone.rows())
    assert all(row["low"] is None for row in plain.rows())
    assert "interval" not in plain.data
    assert drawn.data["interval"]["seed"] == 0


def test_folds_add_cross_validated_columns(people: Tallies) -> None:
    drawn = decide.summary(people, decide.youden, n_bootstrap=20)
    both = decide.summary(people, decide.youden, n_bootstrap=20, folds=4)
    # What there was stays, and folds are added for everybody alone.
    assert [row["corrected"] for row in both.rows()] == [row["corrected"] for row in drawn.rows()]
    assert [row["value"] for row in both.rows()] == [row["value"] for row in drawn.rows()]
    assert all(row["crossvalidated"] is None for row in drawn.rows())
    for model in people.models:
        alone = decide.cross_validate_rule(people.pooled(model), decide.youden, folds=4)
        output = {
            row["measure"]: (row["crossvalidated"], row["crossvalidated_low"], row["crossvalidated_high"])
            for row in both.rows()
            if row["model"] == model and row["crossvalidated"] is not None
        }
        assert output == {name: (each.value, each.low, each.high) for name, each in alone.performance.items()}
        assert both.data["folds"][model] == [list(cut.thresholds) for cut in alone.cuts]
    assert all(row["group"] is None for row in both.rows() if row["crossvalidated"] is not None)
    folded = decide.summary(people, decide.youden, n_bootstrap=0, folds=4)
    assert folded.data["notes"][0].endswith("or read the cross-validated values.")


@pytest.mark.parametrize(
    ("rule", "check", "message"),
    [
        (partial(decide.fixed, threshold=0.5), {"folds": 5}, "folds=5 has no effect: this rule does not use the data"),
        (partial(decide.bands, shares=(0.1,)), {"folds": 5}, "has no confusion matrix"),
        (decide.youden, {"folds": 1}, "folds is 1; expected 0 for none, or a whole number from 2"),
        (decide.youden, {"n_bootstrap": -1}, "n_bootstrap is -1; expected 0 for none, or a whole number from 1"),
    ],
)
def test_invalid_validation_raises(people: Tallies, rule: Rule, check: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        decide.summary(people, rule, **check)


def test_inapplicable_method_raises(people: Tallies) -> None:
    with pytest.raises(OptionError, match="method='delong' makes no interval of f1"):
        decide.summary(people, decide.youden, measures=["f1"], interval=infer.IntervalOptions(method="delong"))


def test_cuts_that_never_flag_are_listed_as_bands(people: Tallies) -> None:
    result = decide.summary(people, partial(decide.abstain, costs=Costs(tp=5, fn=9), refer=1), n_bootstrap=0)
    rows = [row for row in result.rows() if (row["rule"], row["model"], row["group"]) == ("abstain", "risk", None)]
    assert {row["action"] for row in rows if row["measure"] == "share"} == {"pass", "refer"}
    assert not {"tp", "sensitivity"} & {row["measure"] for row in rows}


def test_reversed_scores_are_noted_and_kept(people: Tallies) -> None:
    tally = people.pooled("risk")
    backward = read.tallies({"y": [1, 0] * 50, "p": [0.1, 0.9] * 50}, truth="y", score="p")
    notes = decide.summary(backward, decide.youden, n_bootstrap=0).data["notes"]
    assert "the score ranks worse than chance (AUC 0, or 1 with its sign changed)" in notes[-1]
    forward = decide.summary(replace(people, models={"risk": {(): tally}}, attributes=()), decide.youden, n_bootstrap=0)
    assert len(forward.data["notes"]) == 1


def test_cost_with_referrals_has_an_interval(people: Tallies) -> None:
    """The interval is about as wide as that of the mean cost over rows."""
    for tallies in (people, reweigh(people, prevalence=0.1)):
        curve = Curve(tallies.pooled("risk"))
        policy = decide.abstain(curve, COSTS, refer=0.3)
        result = decide.evaluate_policy(tallies, policy, measures=[])
        [row] = [
            r for r in result.rows() if (r["measure"], r["model"], r["group"]) == ("cost_with_referrals", "risk", None)
        ]
        parts = policy.cut.stretches(curve)
        paid = {"pass": (COSTS.fn, 0.0), "refer": (0.3, 0.3), "flag": (0.0, COSTS.fp)}
        spread = 0.0
        for side, mass in (("tp", curve.positives), ("fp", curve.negatives)):
            held = getattr(parts, side) / mass
            price = np.array([paid[action][side == "fp"] for action in policy.cut.actions])
            rows = getattr(parts.rows, side).sum()
            share = mass / curve.total
            spread += share**2 * ((held * price**2).sum() - (held * price).sum() ** 2) / rows
        assert row["low"] < row["value"] < row["high"]
        assert row["high"] - row["low"] == pytest.approx(2 * 1.96 * np.sqrt(spread), rel=0.25)
