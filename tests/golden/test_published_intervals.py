"""Published intervals: pROC's of aSAH, PyCM's verified ones, and errors of peers that must not recur."""

from collections.abc import Callable
from typing import Any

import confidenceinterval
import numpy as np
import pytest
from scipy import stats

from baserate import Confusion, Counts, MissingValuesError, Rows, Tally, infer, measure, tally
from baserate.infer import _auc_intervals
from baserate.measure import MEASURES, describe, multiclass

Columns = Callable[[str], dict[str, list[str]]]

Z196 = 2 * stats.norm.cdf(1.96) - 1
"""PyCM takes 1.96 for the normal quantile."""


@pytest.fixture(scope="module")
def tallies(columns: Columns) -> dict[str, Tally]:
    rows = columns("aSAH.csv")
    markers = {name: np.array(rows[name], dtype=float) for name in ("wfns", "ndka", "s100b")}
    return {name: tally(rows["outcome"], marker, positive="Poor") for name, marker in markers.items()}


@pytest.fixture(scope="module")
def facts(load_published: Callable[[str], Any]) -> dict[str, Any]:
    entries = load_published("pROC_aSAH_reference.json")
    assert isinstance(entries, dict)
    return entries


@pytest.mark.parametrize("marker", ["wfns", "ndka", "s100b"])
def test_variance_of_delong(tallies: dict[str, Tally], facts: dict[str, Any], marker: str) -> None:
    assert _auc_intervals.estimate_auc(tallies[marker]).variance == pytest.approx(
        facts["delong_var"][marker], rel=0, abs=1e-14
    )


def test_interval_of_delong(tallies: dict[str, Tally], facts: dict[str, Any]) -> None:
    result = infer.estimate("auc", tallies["ndka"], method="delong")
    assert (result.low, result.high) == pytest.approx(facts["delong_ci95"]["ndka"], rel=0, abs=1e-12)


def test_interval_of_delong_for_women(columns: Columns, facts: dict[str, Any]) -> None:
    rows = columns("aSAH.csv")
    women = [at for at, gender in enumerate(rows["gender"]) if gender == "Female"]
    outcome, ndka = ([rows[name][at] for at in women] for name in ("outcome", "ndka"))
    result = infer.estimate("auc", tally(outcome, np.array(ndka, dtype=float), positive="Poor"), method="delong")
    printed = facts["delong_ci95"]["ndka_female_subset"]
    assert (result.low, result.value, result.high) == pytest.approx(printed, rel=0, abs=1e-10)


def test_usual_interval_is_near_delongs_where_rows_are_many(tallies: dict[str, Tally]) -> None:
    for marker in tallies.values():
        usual, plain = infer.estimate("auc", marker), infer.estimate("auc", marker, method="delong")
        assert usual.low < plain.low
        assert usual.high < plain.high


@pytest.fixture(scope="module")
def mcgee(load_published: Callable[[str], Any]) -> dict[str, Any]:
    (case,) = (case for case in load_published("pycm_verified_cases.json")["cases"] if "PRE_CI95" in case)
    assert isinstance(case, dict)
    return case


def test_wilson_and_agresti_coull(mcgee: dict[str, Any]) -> None:
    tp, fn, fp, tn = mcgee["matrix_tp_fn_fp_tn"]
    counts = Counts(tp=tp, fp=fp, fn=fn, tn=tn)
    for name, entry in (("prevalence", "PRE_CI95"), ("accuracy", "ACC_CI95")):
        for method in ("wilson", "agresti-coull"):
            result = infer.estimate(name, counts, method=method, level=Z196)
            printed = mcgee[entry][method.replace("-", "_")]
            assert (result.low, result.high) == pytest.approx(printed, rel=0, abs=1e-12)


def test_normal_intervals_differ_from_ours(mcgee: dict[str, Any]) -> None:
    tp, fn, fp, tn = mcgee["matrix_tp_fn_fp_tn"]
    result = infer.estimate("sensitivity", Counts(tp=tp, fp=fp, fn=fn, tn=tn))
    assert mcgee["TPR_CI95_normal"][1] > 1 > result.high


def test_hanley_and_mcneil_of_a_single_point(mcgee: dict[str, Any]) -> None:
    tp, fn, fp, tn = mcgee["matrix_tp_fn_fp_tn"]
    # Of two positives and a negative, θ/(2 − θ) is the chance that both win: it belongs to the number of positives.
    # PyCM gives it to the negatives, so its interval is ours with the classes exchanged.
    exchanged = Tally.from_counts([1.0, 0.0], [[tn, fp], [fn, tp]])
    result = infer.estimate("auc", exchanged, method="hanley-mcneil", level=Z196)
    assert (result.low, result.high) == pytest.approx(mcgee["AUC_2x2_CI95_hanley_mcneil"], rel=0, abs=1e-12)
    labels = Tally.from_counts([1.0, 0.0], [[tp, fn], [fp, tn]])
    assert infer.estimate("auc", labels, method="hanley-mcneil", level=Z196).low < result.low


def test_log_interval_of_the_likelihood_ratio_is_near(mcgee: dict[str, Any]) -> None:
    tp, fn, fp, tn = mcgee["matrix_tp_fn_fp_tn"]
    counts = Counts(tp=tp, fp=fp, fn=fn, tn=tn)
    plus = infer.estimate("positive_likelihood_ratio", counts, method="stratified")
    assert (plus.low, plus.high) == pytest.approx(mcgee["PLR_CI95_log"], rel=0.03)


def test_standard_error_of_the_accuracy(load_published: Callable[[str], Any]) -> None:
    (case,) = (case for case in load_published("pycm_verified_cases.json")["cases"] if "ACC_SE" in case)
    table = Confusion.of_matrix(case["matrix"], truth="rows")
    accuracy = multiclass.accuracy(table)
    assert np.sqrt(accuracy * (1 - accuracy) / table.total) == pytest.approx(case["ACC_SE"], abs=1e-15)
    result = infer.estimate("accuracy", table)
    low, high = case["ACC_CI95_normal"]
    assert result.low < low < high  # few rows: the exact one is wider
    assert result.high == pytest.approx(high, abs=0.03)


# What peers get wrong.


def test_single_precision_of_a_peer(tallies: dict[str, Tally], columns: Columns) -> None:
    rows = columns("aSAH.csv")
    truth = np.array([outcome == "Poor" for outcome in rows["outcome"]], dtype=int)
    _, (low, high) = confidenceinterval.roc_auc_score(truth, np.array(rows["ndka"], dtype=float))
    result = infer.estimate("auc", tallies["ndka"], method="delong")
    gap = max(abs(result.low - low), abs(result.high - high))
    assert 1e-10 < gap < 1e-6


def test_intervals_of_a_peer_leave_the_span() -> None:
    truth = np.array([1] * 10 + [0] * 90)
    score = np.concatenate([[0.5], np.linspace(0.8, 0.99, 9), [0.6], np.linspace(0.01, 0.4, 89)])
    _, (_, high) = confidenceinterval.roc_auc_score(truth, score)
    assert high > 1
    for method in (None, "delong", "hanley-mcneil"):
        assert infer.estimate("auc", tally(truth, score), method=method).high <= 1


def test_nan_scores_raise() -> None:
    # A peer looks for a bound for ever when a score, and so its AUC, is NaN: it is refused here, wherever it comes in.
    truth, score = np.array([True, False, True, False]), np.array([0.9, np.nan, 0.4, 0.1])
    with pytest.raises(MissingValuesError, match="missing or not finite"):
        tally(truth, score)
    with pytest.raises(MissingValuesError, match="NaN or infinite"):
        infer.estimate("auc", Rows(truth, {"risk": score}))
    with pytest.raises(MissingValuesError, match="NaN or infinite"):
        infer.compare(Rows(truth, {"risk": score, "old": np.flip(score)}))
    # And what is undefined has bounds that are, with the reason.
    alone = tally([1, 1], [0.9, 0.4], positive=1)
    undefined = 0
    for name, function in MEASURES.items():
        result = infer.estimate(name, alone, threshold=0.5 if describe(function).of is Counts else None)
        if np.isnan(result.value):
            undefined += 1
            assert np.isnan([result.low, result.high]).all()
            assert result.why
    assert undefined > 10


def test_perfect_scores_have_intervals_of_positive_width() -> None:
    truth, score = np.array([1] * 10 + [0] * 10), np.linspace(1, 0, 20)
    value, (low, high) = confidenceinterval.roc_auc_score(truth, score)
    assert value == pytest.approx(1, abs=1e-6)
    assert low == high == value  # no width at all
    assert infer.estimate("auc", tally(truth, score)).low < 0.85


@pytest.mark.slow
def test_identical_models_do_not_differ() -> None:
    from MLstatkit import Delong_test

    rng = np.random.default_rng(0)
    truth = rng.random(60) < 0.5
    score = rng.random(60) + 0.2 * truth
    (result,) = infer.compare(Rows(truth, {"a": score, "b": score}))
    assert (result.statistic, result.p) == (0, 1)
    assert Delong_test(truth.astype(int), score, score)[1] == 0  # theirs


def test_accuracy_beyond_the_largest_class(load_published: Callable[[str], Any]) -> None:
    # An exact test is a tail of the binomial distribution: Clopper and Pearson's bound turned round.
    (case,) = (case for case in load_published("pycm_verified_cases.json")["cases"] if "P_value_acc_gt_NIR" in case)
    table = Confusion.of_matrix(case["matrix"], truth="rows")
    hits, total, goal = table.agreement, table.total, case["NIR"]
    assert stats.binom.sf(hits - 1, total, goal) == pytest.approx(case["P_value_acc_gt_NIR"], rel=1e-9)
    at = 1 - 2 * case["P_value_acc_gt_NIR"]
    result = infer.estimate("accuracy", table, method="clopper-pearson", level=at)
    assert result.low == pytest.approx(goal, abs=1e-9)
    assert measure.describe(multiclass.accuracy).share is not None
