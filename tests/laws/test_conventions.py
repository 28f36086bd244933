"""Each convention of docs/conventions.md, in its order, on data small enough to check by eye."""

import math
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baserate
from baserate import (
    Confusion,
    Costs,
    Counts,
    Cut,
    FitError,
    InfeasibleError,
    MissingValuesError,
    OptionError,
    Policy,
    RandomizedCut,
    Tally,
    Target,
    calibration,
    curve,
    decide,
    fairness,
    infer,
    measure,
    population,
    read,
    shift,
    tally,
)
from baserate.read._labels import parse_labels

PAGE = Path(__file__).parents[2] / "docs" / "conventions.md"


def convention_1_flagged_at_or_above() -> None:
    assert curve(tally([1, 0], [0.5, 0.4])).at(0.5).tp == 1
    assert curve(tally([1, 0], [0.5, 0.4])).at(np.nextafter(0.5, 1)).tp == 0
    assert curve(tally([1, 0], np.array([0.7, 0.4], dtype=np.float32))).at(0.7).tp == 0
    # What is chosen on float32 scores separates them and their decimal digits alike.
    for at in (0.1, 0.7):
        result = curve(tally([1, 0], np.array([at, 0.05], dtype=np.float32)))
        policy = decide.youden(result)
        assert policy.action(float(np.float32(at))) == policy.action(at) == "flag"
        assert policy.action(float(np.float32(0.05))) == policy.action(0.05) == "pass"
        assert (policy.cut.counts(result).tp, policy.cut.counts(result).fp) == (1, 0)


def convention_2_curves_run_from_the_strictest_threshold() -> None:
    c = curve(tally([1, 0, 1], [0.2, 0.9, 0.5]))
    assert c.threshold.tolist() == [math.inf, 0.9, 0.5, 0.2]
    assert c.counts.shape == measure.table(c, "f1")["f1"].shape == (4,)


def convention_3_higher_is_more_positive() -> None:
    assert measure.auc(curve(tally([1, 0], [0.1, 0.9]))) == 0


def convention_4_the_positive_class_is_named() -> None:
    assert tally([True, False], [2, 1]).digest == tally([1, 0], [2, 1]).digest
    assert tally(["b", "a"], [2, 1], positive="a").mass.tolist() == [[0, 1], [1, 0]]
    assert (parse_labels(["1", "0"]), parse_labels(["01", "1"])) == ([1, 0], ["01", "1"])
    with pytest.raises(baserate.NotBinaryError):
        tally(["b", "a"], [2, 1])


def convention_5_undefined_is_nan_with_a_reason() -> None:
    c = curve(tally([1, 0], [0.5, 0.5]))
    assert (measure.auc(c), measure.average_precision(c), measure.ks(c)) == (0.5, 0.5, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isnan(measure.precision(c.at(math.inf)))
        assert measure.positive_likelihood_ratio(curve(tally([1, 0], [2, 1])).at(2)) == math.inf
    assert measure.undefined_reason(measure.precision, c.at(math.inf)) == "nothing is flagged"
    assert measure.undefined_reason(measure.auc, curve(tally([1], [1]))) == "there are no negatives"


def convention_6_two_kinds_of_weight() -> None:
    counted, weighted = tally([1, 0], [2, 1], count=[3, 1]), tally([1, 0], [2, 1], weight=[3, 1])
    assert counted.mass.tolist() == weighted.mass.tolist() == [[3, 0], [0, 1]]
    assert counted.squares.tolist() == counted.rows.tolist() == [[3, 0], [0, 1]]
    assert weighted.squares.tolist() == [[9, 0], [0, 1]]
    assert weighted.rows.tolist() == [[1, 0], [0, 1]]
    assert tally([1, 0, 1], [2, 1, 5], weight=[3, 1, 0]).digest == weighted.digest
    with pytest.raises(baserate.WeightError):
        tally([1, 0], [2, 1], weight=[-1, 1])


def convention_7_missing_values_are_refused() -> None:
    with pytest.raises(MissingValuesError, match=r"1 of 2 values of score .* row 1"):
        tally([1, 0], [2, math.nan])
    table = {"y": [1, 0, 1], "p": [2, math.nan, 1], "q": [1, 2, None], "w": [1, 1, -1]}
    with pytest.raises(MissingValuesError, match=r"2 of 3 rows cannot be used \(p: 1 NaN; q: 1 missing\)"):
        read.tallies(table, truth="y", score=["p", "q"])
    dropped = read.tallies(table, truth="y", score=["p", "q"], missing="drop")
    assert (dropped.intake.read, dropped.intake.dropped) == (3, 2)
    assert {model: dropped.pooled(model).total for model in ("p", "q")} == {"p": 1, "q": 1}
    with pytest.raises(baserate.WeightError):
        read.tallies(table, truth="y", score="p", weight="w", missing="drop")


def convention_8_row_order_never_matters() -> None:
    assert tally([1, 0, 0], [2, 1, 3]).digest == tally([0, 0, 1], [3, 1, 2]).digest


def convention_9_the_strictest_of_equals_wins() -> None:
    # At slope 1 the edge from (0, ½) to (½, 1) is touched along its whole length.
    assert curve(tally([1, 0, 1, 0], [4, 3, 2, 1])).tangent(1.0) == 4


def convention_10_weights_are_merged_first_and_cumulated_last() -> None:
    t = tally([1, 0, 1], [0.39, 0.31, 0.12])
    assert (t + t).mass.tolist() == [[2, 0, 2], [0, 2, 0]]
    rounded = t.round_scores(0.1)
    assert rounded.score.tolist() == [0.3, 0.1]
    assert rounded.resolution == 0.1
    assert t.resolution is None


def convention_11_probabilities_lie_in_the_unit_interval() -> None:
    logits = tally([1, 0], [3.2, -1.5])
    assert measure.auc(curve(logits)) == 1
    with pytest.raises(baserate.NotAProbabilityError):
        measure.brier(logits)
    assert measure.log_loss(tally([1], [0.0])) == math.inf


def convention_12_rates_are_shares() -> None:
    assert measure.sensitivity(baserate.Counts(tp=1, fp=0, fn=1, tn=0)) == 0.5
    assert Tally.from_counts([1.0], [[1], [3]]).prevalence == 0.25


def convention_13_a_classifier_without_scores_is_one_roc_point() -> None:
    result = read.tallies({"y": [1, 0, 1], "hat": [1, 1, 0]}, truth="y", predicted="hat")
    c = curve(result.tally)
    assert (measure.fpr(c.at(1.0)), measure.sensitivity(c.at(1.0))) == (1, 0.5)
    rows = measure.summary(result).rows()
    assert {row["threshold"] for row in rows} == {None}
    beside = read.tallies({"y": [1, 0], "p": [0.9, 0.1], "hat": [1, 1]}, truth="y", score="p", predicted="hat")
    assert "hat disagrees with p >= 0.5 in 1 of 2 rows" in measure.summary(beside).data["notes"][0]


def convention_14_the_total_is_the_sum_of_the_groups() -> None:
    table = {"y": [1, 0, 1, 0], "p": [0.9, 0.8, 0.2, 0.1], "g": ["a", "b", "b", "a"]}
    result = measure.summary(read.tallies(table, truth="y", score="p", group="g"), measures=["auc", "accuracy"])
    flagged = [(row["group"], row["value"]) for row in result.rows() if row["measure"] == "fp"]
    assert flagged == [(None, 1), ({"g": "a"}, 0), ({"g": "b"}, 1)]


def convention_15_a_class_without_rows_adds_nothing() -> None:
    c = Confusion.of_matrix([[3, 1], [0, 4]], "ab", truth="rows")
    wider = c.over("abc")
    assert measure.multiclass.balanced_accuracy(wider) == measure.multiclass.balanced_accuracy(c) == (0.75 + 1) / 2
    assert measure.multiclass.class_balanced_accuracy(wider) == measure.multiclass.class_balanced_accuracy(c)
    assert measure.multiclass.bennett_s(wider) > measure.multiclass.bennett_s(c)


def convention_16_the_class_with_the_highest_score_is_predicted() -> None:
    rows = baserate.class_scores(["a", "b", "c"], [[0.2, 0.5, 0.3], [0.4, 0.4, 0.2], [0.3, 0.3, 0.4]])
    assert rows.confusion().mass.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    by_rows, by_columns = (Confusion.of_matrix([[5, 1], [2, 3]], truth=truth) for truth in ("rows", "columns"))
    assert by_rows.truth.tolist() == [6, 5]
    assert by_columns.truth.tolist() == [7, 4]


def convention_17_an_interval_contains_its_value_and_is_never_of_width_0() -> None:
    perfect = tally([1, 1, 1, 0, 0], [5, 4, 3, 2, 1])
    narrow, wide = (infer.estimate("auc", perfect, level=level) for level in (0.8, 0.95))
    assert 0 <= wide.low < narrow.low < narrow.value == narrow.high == wide.high == 1
    sure = infer.estimate("f1", baserate.Counts(tp=5, fp=0, fn=0, tn=5))
    assert sure.low < sure.value == sure.high == 1
    lonely = infer.estimate("auc", tally([1, 0], [1, 0]), method="delong")
    assert math.isnan(lonely.low)
    assert lonely.why == "a class has a single row"


def convention_18_a_difference_is_the_first_model_minus_the_second() -> None:
    truth = np.array([True, True, False, False, True, False])
    good, bad = np.array([0.9, 0.8, 0.3, 0.2, 0.4, 0.5]), np.array([0.1, 0.8, 0.3, 0.9, 0.4, 0.5])
    rows = baserate.Rows(truth, {"good": good, "bad": bad})
    (area,) = infer.compare(rows, question=infer.Question(alternative="better"))
    (loss,) = infer.compare(rows, measure="brier", question=infer.Question(alternative="better"))
    assert area.difference.value > 0 > loss.difference.value
    assert (area.alternative, loss.alternative) == ("greater", "less")
    (same,) = infer.compare(baserate.Rows(truth, {"one": good, "other": good.copy()}))
    assert (same.difference.value, same.p) == (0, 1)
    assert area.p > 0


def convention_19_bins_contain_every_row() -> None:
    edges = tally([0, 1, 0, 1, 1], [0.0, 0.1, 0.1, 0.2, 1.0])
    by_width = infer.calibration_curve(edges, "binned")
    assert by_width["mass"].tolist() == [3, 1, 1]  # (0, 0.1] with 0, (0.1, 0.2], (0.9, 1]
    assert by_width["upper"].tolist() == pytest.approx([0.1, 0.2, 1])
    tied = tally([0, 1] * 5, [0.3] * 6 + [0.5, 0.6, 0.7, 0.8])
    by_mass = infer.calibration_curve(tied, "binned", options=infer.CurveOptions(bins=2, by="mass"))
    assert by_mass["mass"].tolist() == [6, 4]


def convention_20_a_calibration_error_has_a_null_reference() -> None:
    sample = tally([0, 1, 0, 1, 1, 0, 0, 1] * 5, [0.1, 0.6, 0.4, 0.8, 0.7, 0.2, 0.3, 0.9] * 5)
    result = infer.estimate("ece", sample)
    assert math.isnan(result.low)
    assert result.why == "chance alone puts it above 0; compare it with its null reference"
    assert 0 < infer.null_reference("ece", sample).low <= infer.null_reference("ece", sample).typical
    held_out, fitted = (infer.hosmer_lemeshow(sample, bins=4, fitted=each) for each in (False, True))
    assert (held_out.freedom, fitted.freedom) == (4, 2)
    far = infer.calibration_tests(tally([1] * 500 + [0] * 500, [0.001] * 500 + [0.999] * 500))
    assert all(check.p > 0 for check in far if not math.isnan(check.p))


def convention_21_0_and_1_have_no_log_odds() -> None:
    sure = tally([0, 1, 0, 1, 1, 0], [0.0, 1.0, 0.4, 0.6, 0.3, 0.7])
    near = tally([0, 1, 0, 1, 1, 0], [1e-12, 1 - 1e-12, 0.4, 0.6, 0.3, 0.7])
    slope = baserate.measure.calibration_slope
    assert slope(sure) == slope(near)
    assert baserate.measure.ece(sure) != baserate.measure.ece(near)  # where no log-odds are needed, nothing is moved
    table = {"y": [0, 1, 0, 1, 1, 0], "p": [0.0, 1.0, 0.4, 0.6, 0.3, 0.7]}
    notes = infer.calibration_summary(read.tallies(table, truth="y", score="p")).data["notes"]
    assert any("2 rows of p have a probability at or next to 0 or 1" in note for note in notes)


def convention_22_a_calibrator_never_reverses_the_order_of_scores() -> None:
    upside_down = tally([1, 1, 0, 1, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.7, 0.9])
    for method in ("temperature", "logistic", "beta", "isotonic", "venn-abers"):
        result = calibration.fit(upside_down, method)
        assert result.never_falls
        assert (np.diff(result(np.linspace(0, 1, 11))) >= 0).all()
    assert any("never reverses scores" in note for note in calibration.logistic(upside_down).notes)
    assert calibration.prevalence(sample_prevalence=0.5, prevalence=0.1)([0, 1]).tolist() == [0, 1]


def convention_23_calibrated_scores_are_evaluated_on_other_rows() -> None:
    rng = np.random.default_rng(0)
    data = read.tallies({"y": rng.random(60) < 0.5, "p": rng.random(60)}, truth="y", score="p")
    result = calibration.fit(data, "isotonic")
    assert result.was_fitted_on(data.tally)
    own = data.tally.with_scores(result(data.tally.score))
    assert measure.brier(own) < measure.brier(calibration.cross_fit(data.tally, "isotonic"))
    quick = infer.CalibrationOptions(n_simulations=0)
    assert "fitted to the same rows" in infer.calibration_summary(data, options=quick, after=result).data["notes"][-1]
    other = read.tallies({"y": [1, 0], "p": [0.2, 0.3]}, truth="y", score="p")
    assert not any(
        "fitted to the same rows" in note
        for note in infer.calibration_summary(other, options=quick, after=result).data["notes"]
    )


def convention_24_reweigh_changes_weights_and_reprior_changes_scores() -> None:
    sample = tally([1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.7, 0.1, 0.4, 0.3])
    there = shift.reweigh(sample, prevalence=0.1)
    assert there.score.tolist() == sample.score.tolist()
    assert there.prevalence == pytest.approx(0.1)
    assert there.rows.tolist() == sample.rows.tolist()
    after = there.with_scores(shift.reprior(there.score, sample_prevalence=0.5, prevalence=0.1))
    assert after.mass.tolist() == there.mass.tolist()
    assert (after.score < there.score).all()
    assert after.reweighed
    share = infer.estimate("prevalence", after, threshold=0.5)
    assert (share.low, share.high, share.how) == (share.value, share.value, "known")


def convention_25_an_estimated_prevalence_varies_with_both_samples() -> None:
    rng = np.random.default_rng(0)

    def simulate(n: int, share: float) -> tuple[Any, Any]:
        truth = rng.random(n) < share
        return truth, rng.normal(1.5 * truth, 1.0)

    target = Target(simulate(2000, 0.2)[1])
    few, many = (shift.estimate_prevalence(target, tally(*simulate(n, 0.5))) for n in (100, 10_000))
    assert few.estimate.high - few.estimate.low > 1.5 * (many.estimate.high - many.estimate.low)
    assert many.variance > many.target_variance
    with pytest.raises(FitError, match="carry no information"):
        shift.estimate_prevalence(target, tally(rng.random(200) < 0.5, rng.normal(size=200)))


def convention_26_assumptions_are_stated() -> None:
    with pytest.raises(TypeError, match="assume"):
        shift.estimate_performance(Target(np.array([0.2, 0.7])))  # type: ignore[call-overload]
    result = shift.estimate_performance(Target(np.array([0.2, 0.7])), assume="covariate shift")
    assert result.data["assume"] == "covariate shift"


def convention_27_a_rule_searches_all_thresholds() -> None:
    c = curve(tally([0, 1, 1, 0], [0.9, 0.50001, 0.5, 0.1]))
    assert decide.best(c, "f1").threshold == 0.5
    with pytest.raises(InfeasibleError):
        decide.require(curve(tally([0, 1], [1, 0])), "precision >= 0.9")  # undefined where nothing is flagged
    # At 0.9 and 0.8 no negative is flagged, so that LR+ is infinite; of 2, 3, 3/2 and 1 the greatest is at 0.6.
    c = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    result = decide.best(c, "positive_likelihood_ratio")
    assert result.threshold == 0.6
    assert "2 thresholds with an infinite positive likelihood ratio were skipped" in result.notes[0]
    with pytest.raises(FitError, match="infinite at 1 of 3 thresholds and finite at none"):
        decide.best(curve(tally([1, 0], [0.9, 0.1])), "diagnostic_odds_ratio")
    with pytest.raises(OptionError, match="grows without bound"):
        population.best_threshold(population.linear(), "diagnostic_odds_ratio")


def convention_28_costs_are_compared_at_one_prevalence() -> None:
    tables = {"M1": Counts(tp=150, fn=40, fp=60, tn=250), "M2": Counts(tp=250, fn=45, fp=5, tn=200)}
    costs = Costs(tp=-1, fn=100, fp=1)
    with pytest.raises(OptionError, match="different prevalences"):
        decide.cost_table(tables, costs)
    assert decide.cost_table(tables, costs, prevalence=0.38).columns["cheapest"] == [False, True]


def convention_29_a_policy_stores_the_digest_of_its_rows() -> None:
    observed, fresh = (
        read.tallies({"y": [1, 0, 1, 0], "p": p}, truth="y", score="p") for p in ([4, 3, 2, 1], [4, 2, 3, 1])
    )
    policy = decide.youden(curve(observed.tally))
    assert decide.evaluate_policy(observed, policy).data["same"] == ["p"]
    assert decide.evaluate_policy(fresh, policy).data["same"] == []


def convention_30_a_randomized_decision_depends_on_the_record() -> None:
    draw = RandomizedCut((Cut((0.2,)), Cut((0.8,))), (0.5, 0.5))
    policy = Policy(by_group={(): draw}, otherwise="refuse")
    ids = [*range(200)]
    once = {each: policy.action(0.5, id=each) for each in ids}
    again = Policy.from_json(policy.to_json())
    assert {each: again.action(0.5, id=str(each)) for each in reversed(ids)} == once
    assert {*once.values()} == {"pass", "flag"}
    with pytest.raises(MissingValuesError, match="an ID is missing"):
        policy.action(0.5)


def convention_31_a_policy_is_total() -> None:
    with pytest.raises(TypeError, match="otherwise"):
        Policy(by_group={(): Cut((0.5,))})  # type: ignore[call-arg]
    policy = Policy(by_group={(1,): Cut((0.5,))}, otherwise="refer", attributes=("site",))
    assert [policy.action(0.9, [site]) for site in (1, "1", 1.0, 2, None)] == ["flag"] * 3 + ["refer"] * 2
    assert decide.youden(curve(tally([1, 0], [1, 0]))).otherwise == "refuse"


def convention_32_a_requirement_holds_if_the_bound_meets_it() -> None:
    def verdicts(times: int) -> list[object]:
        table = {"y": [1, 1, 1, 1, 0, 0, 0, 0], "p": [4, 3, 3, 1, 3, 1, 1, 1], "n": [times] * 8}
        result = read.tallies(table, truth="y", score="p", count="n")
        policy = decide.fixed(curve(result.tally), 3)
        required = "sensitivity >= 0.7, specificity >= 0.9, lift >= 1.2"
        return list(decide.check(result, required, policy).columns["verdict"])

    assert verdicts(1) == ["undecided"] * 3
    assert verdicts(1000) == ["holds", "fails", "holds"]


def convention_33_a_group_enters_the_comparisons_of_its_defined_rates() -> None:
    table = {"y": [1, 1, 0, 0, 0, 0], "p": [0.9, 0.4, 0.6, 0.1, 0.7, 0.2], "g": ["f"] * 4 + ["m"] * 2}
    result = read.tallies(table, truth="y", score="p", group="g")
    (row,) = (
        row
        for row in fairness.group_table(result, measures=["sensitivity"]).rows()
        if row["group"] is not None and row["group"]["g"] == "m"
    )
    assert (row["value"], row["why"]) == (None, "there are no positives")
    with pytest.raises(FitError, match="g = m has no positives"):
        fairness.optimal_policy(result, fairness.Goal("equal-opportunity"))
    policy = fairness.optimal_policy(result, fairness.Goal("equal-opportunity"), otherwise="refer")
    assert policy.action(0.9, ["m"]) == "refer"


def convention_34_a_gap_is_the_greatest_difference() -> None:
    table = {
        "y": [1, 0] * 12,
        "p": [0.9, 0.1] * 4 + [0.9, 0.1, 0.2, 0.8] * 2 + [0.2, 0.1] * 4,
        "g": [*"f" * 8, *"m" * 8, *"x" * 8],
    }
    result = fairness.group_gaps(
        read.tallies(table, truth="y", score="p", group="g"), n_permutations=100, min_group=1
    ).rows()
    output = {(row["measure"], row["kind"]): row for row in result}
    assert output["sensitivity", "max_difference"]["value"] == 1.0
    assert output["fpr", "max_difference"]["value"] == 0.5
    odds = output["sensitivity, fpr", "max_difference"]
    assert odds["value"] == 1.0
    assert 0 < odds["floor"] < odds["floor_high"] <= 1
    assert {"low", "high"}.isdisjoint(odds)
    others = {"ratio", "worst_group", "mean_absolute", "min", "max", "mean_difference", "mean_ratio"}
    assert {kind for _, kind in output} == {"max_difference", *others}


def convention_35_a_parity_holds_in_expectation() -> None:
    truth, score = population.linear(prevalence=0.4).draw(2000, 1)
    table = {"y": truth, "p": np.where(np.arange(2000) % 2, score, score**2), "g": ["f", "m"] * 1000}
    result = read.tallies(table, truth="y", score="p", group="g")
    for within in (0.0, 0.03):
        policy = fairness.optimal_policy(result, fairness.Goal("equalized-odds", within=within))
        flagged = [tables["flag"] for group, tables in decide.decision_tables(result, policy).items() if group]
        for rate in (measure.sensitivity, measure.fpr):
            assert abs(rate(flagged[0]) - rate(flagged[1])) <= within + 1e-9
    assert "does not hold exactly on others" in " ".join(
        fairness.impact(result, fairness.Goal("equalized-odds")).data["notes"]
    )


def convention_36_nothing_is_called_fair() -> None:
    table = {"y": [1, 0, 1, 0], "p": [0.9, 0.6, 0.4, 0.1], "g": ["f", "f", "m", "m"]}
    result = fairness.impact(read.tallies(table, truth="y", score="p", group="g"), fairness.Goal("equalized-odds"))
    assert "fair" not in result.to_json().lower()
    assert "does not constrain" in result.data["promises"][0]
    assert result.data["needs_group"]
    assert "not legal advice" in result.data["legal"]


def convention_37_a_number_says_at_which_prevalence_it_holds() -> None:
    truth, score, site = [1, 0, 0, 1, 0, 0] * 20, [0.9, 0.4, 0.2, 0.6, 0.7, 0.1] * 20, ["a", "b", "b", "b"] * 30

    def odds(share: float) -> float:
        return share / (1 - share)

    report = baserate.evaluate(truth, score, group={"site": site}, prevalence=0.1)
    rows = [row for row in report.select(where="there", group=None) if row["prevalence"] is not None]
    assert {round(row["prevalence"], 12) for row in rows} == {0.1}
    assert "rows" in report.here
    assert "rows" not in report.there
    groups = [report.within(site=each) for each in "ab"]
    factors = [odds(each.there.prevalence.value) / odds(each.here.prevalence.value) for each in groups]
    assert factors[0] == pytest.approx(factors[1])
    stated = baserate.evaluate(truth, score, group={"site": site}, prevalence={"a": 0.2})
    assert stated.within(site="a").there.prevalence.value == pytest.approx(0.2)
    assert stated.within(site="b").there.prevalence.value == stated.within(site="b").here.prevalence.value


def convention_38_prevalence_is_that_of_deployment_sample_prevalence_that_of_the_sample() -> None:
    half = tally([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1])
    assert shift.reweigh(half, prevalence=0.1).prevalence == pytest.approx(0.1)
    adjusted = shift.reprior(half.score, sample_prevalence=0.5, prevalence=0.1)
    assert adjusted == pytest.approx(half.score / (half.score + 9 * (1 - half.score)))
    tallies = read.tallies({"y": [1, 0, 1, 0], "p": [0.9, 0.6, 0.4, 0.1]}, truth="y", score="p")
    default, stated = (
        decide.net_benefit_curve(tallies, prevalence=0.1, sample_prevalence=origin).rows() for origin in (None, 0.5)
    )
    assert default == stated


def convention_39_files_have_own_names_of_measures_and_tables_the_typed_ones() -> None:
    results = infer.summary([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], measures=["ppv", "auc"])
    assert results.columns["measure"][-2:] == ["precision", "auc"] == list(results.frame()["measure"])[-2:]
    assert results.data["names"] == {"precision": "ppv"}
    assert re.findall(r"ppv|precision|auc", str(results).partition("intervals")[0]) == ["ppv", "auc"]


CONVENTIONS = {name: check for name, check in list(globals().items()) if name.startswith("convention_")}


@pytest.mark.parametrize("check", CONVENTIONS.values(), ids=CONVENTIONS)
def test_convention(check: object) -> None:
    assert callable(check)
    check()


def test_every_written_convention_is_tested() -> None:
    written = re.findall(r"^(\d+)\. ", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert written == [name.split("_")[1] for name in CONVENTIONS]
