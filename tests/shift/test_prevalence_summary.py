"""Summaries of estimated prevalences and curves against the prevalence, through Python."""

import numpy as np
import pytest

from baserate import Target, infer, read, shift

RNG = np.random.default_rng(11)
SICK = RNG.random(400) < 0.4
RISK = np.clip(RNG.normal(0.35 + 0.3 * SICK, 0.18), 0.01, 0.99).round(3)
NEW = np.clip(RNG.normal(0.35 + 0.3 * (RNG.random(600) < 0.2), 0.18), 0.01, 0.99)
VALIDATION = read.tallies({"sick": SICK.astype(int), "risk": RISK}, truth="sick", score="risk")


def test_a_summary_has_the_estimate_its_tests_and_measures_of_both_sets() -> None:
    target = Target(NEW)
    estimate = shift.estimate_prevalence(target, VALIDATION, level=0.9)
    results = shift.prevalence_summary(estimate, target, VALIDATION, measures=["precision", "auc"], threshold=[0.5])
    first, *others = results.rows()
    assert (first["measure"], first["value"], first["low"], first["set"]) == (
        "prevalence",
        estimate.value,
        estimate.estimate.low,
        "target",
    )
    tests = [row["measure"] for row in others if row["set"] is None]
    assert tests == [f"{check.name}_test" for check in shift.label_shift_test(target, VALIDATION).checks]
    in_validation = {row["measure"]: row["value"] for row in others if row["set"] == "validation"}
    assert in_validation["auc"] == pytest.approx(infer.summary(VALIDATION, measures=["auc"]).rows()[-1]["value"])
    adjusted = {row["measure"]: row for row in others if row["set"] == "target"}
    assert adjusted["precision"]["prevalence"] == estimate.value
    assert results.data["interval"]["level"] == 0.9
    assert results.data["doubts"] == []


def test_a_summary_of_classes_has_a_row_for_each_class() -> None:
    labels = np.array(["cat", "dog"])[SICK.astype(int)]
    table = {"is": labels, "cat": 1 - RISK, "dog": RISK}
    rows = read.class_rows(table, truth="is", score={"cat": "cat", "dog": "dog"})
    target = read.class_target({"cat": 1 - NEW, "dog": NEW}, score={"cat": "cat", "dog": "dog"}, labels=rows.labels)
    estimate = shift.estimate_prevalence(target, rows)
    results = shift.prevalence_summary(estimate, target, rows, measures=["accuracy"])
    shares = {row["class"]: row["value"] for row in results.rows()[:2]}
    assert shares == dict(zip(rows.labels, estimate.value.tolist(), strict=True))
    assert results.data["prevalences"] == shares


def test_curves_are_those_of_each_threshold() -> None:
    interval = infer.IntervalOptions(level=0.9)
    results = shift.prevalence_curves(
        VALIDATION, ["npv"], thresholds=[0.3, 0.6], prevalences=[0.01, 0.1], interval=interval
    )
    for threshold in (0.3, 0.6):
        one = shift.prevalence_curve(VALIDATION, "npv", prevalences=[0.01, 0.1], threshold=threshold, level=0.9)
        own = [row for row in results.rows() if row["threshold"] == threshold]
        assert [(row["value"], row["low"], row["high"]) for row in own] == [
            (row["value"], row["low"], row["high"]) for row in one.rows()
        ]
    assert {row["level"] for row in results.rows()} == {0.9}
    assert "interval" not in shift.prevalence_curves(VALIDATION, prevalences=[0.1]).data


def test_spaced_prevalences_are_symmetric_in_log_odds() -> None:
    spaced = np.array(shift.spaced_prevalences(9))
    assert (spaced[0], spaced[4], spaced[-1]) == (0.001, 0.5, 0.999)
    assert spaced + spaced[::-1] == pytest.approx(1)
    assert np.diff(np.log(spaced / (1 - spaced))) == pytest.approx(np.log(999) / 4)
