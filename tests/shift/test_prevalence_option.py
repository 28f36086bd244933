"""`prevalence=` of measures and of their tables: by hand, as `shift.reweigh` does, and as text."""

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, brier_score_loss

import baserate
from baserate import Counts, fairness, infer, measure, shift
from baserate._errors import OptionError, UnknownNameError

RNG = np.random.default_rng(7)
TRUTH = (RNG.random(300) < 0.4).astype(int)
SCORE = np.clip(RNG.normal(0.35 + 0.3 * TRUTH, 0.2), 0.01, 0.99).round(2)
GROUP = np.where(RNG.random(300) < 0.5, "a", "b")
WEIGHT = np.where(TRUTH == 1, 0.05 / TRUTH.mean(), 0.95 / (1 - TRUTH.mean()))
FLAGGED = SCORE >= 0.5
SENSITIVITY, SPECIFICITY = FLAGGED[TRUTH == 1].mean(), 1 - FLAGGED[TRUTH == 0].mean()
PPV = 0.05 * SENSITIVITY / (0.05 * SENSITIVITY + 0.95 * (1 - SPECIFICITY))


def test_measures_at_a_prevalence_are_those_of_the_formulas() -> None:
    at: Any = {"threshold": 0.5, "prevalence": "5%"}
    assert measure.ppv(TRUTH, SCORE, **at) == pytest.approx(PPV)
    npv = 0.95 * SPECIFICITY / (0.95 * SPECIFICITY + 0.05 * (1 - SENSITIVITY))
    assert measure.npv(TRUTH, SCORE, **at) == pytest.approx(npv)
    assert measure.sensitivity(TRUTH, SCORE, **at) == pytest.approx(SENSITIVITY)
    cost = 0.05 * (1 - SENSITIVITY) * 20 + 0.95 * (1 - SPECIFICITY)
    assert measure.expected_cost(TRUTH, SCORE, fp=1, fn=20, **at) == pytest.approx(cost)
    counts: Any = Counts(tp=90, fp=10, fn=10, tn=90)
    assert measure.precision(counts, prevalence=0.01) == pytest.approx(0.0009 / 0.0108)


def test_measures_of_scores_at_a_prevalence_are_those_of_weighted_rows() -> None:
    precision = average_precision_score(TRUTH, SCORE, sample_weight=WEIGHT)
    assert measure.average_precision(TRUTH, SCORE, prevalence=0.05) == pytest.approx(precision)
    brier = brier_score_loss(TRUTH, SCORE, sample_weight=WEIGHT)
    assert measure.brier(TRUTH, SCORE, prevalence=0.05) == pytest.approx(brier)
    assert measure.auc(TRUTH, SCORE, prevalence=0.05) == pytest.approx(measure.auc(TRUTH, SCORE))


def test_tables_at_a_prevalence_are_those_of_reweighted_tallies() -> None:
    reweighed = shift.reweigh(baserate.tally(TRUTH, SCORE), prevalence=0.05)
    expected = infer.summary(reweighed, threshold=0.5)
    table = infer.summary(TRUTH, SCORE, threshold=0.5, prevalence="5%")
    assert table.rows() == expected.rows()
    assert table.ppv.value == pytest.approx(PPV)
    assert (table.data["prevalence"], table.data["deployment"]) == (TRUTH.mean(), {"prevalence": 0.05})
    assert f"at 5% prevalence (sample: {100 * TRUTH.mean():.4g}%)" in str(table)
    assert measure.summary(TRUTH, SCORE, prevalence=0.05).ppv.value == pytest.approx(PPV)
    estimate = infer.estimate("ppv", TRUTH, SCORE, threshold=0.5, prevalence=0.05, level=0.9)
    assert estimate == infer.estimate("ppv", reweighed, threshold=0.5, level=0.9)


def test_groups_have_one_prevalence_or_each_their_own() -> None:
    options: Any = {"group": GROUP, "policy": 0.5, "measures": ["ppv"]}
    everybody = fairness.group_table(TRUTH, SCORE, prevalence="5%", **options).rows()[0]
    assert everybody["value"] == pytest.approx(PPV)
    rows = fairness.group_table(TRUTH, SCORE, prevalence={"a": "5%", "b": 0.2}, **options).rows()
    assert [row["prevalence"] for row in rows[1:]] == pytest.approx([0.05, 0.2])
    for function in (fairness.group_differences, fairness.compare_groups, fairness.group_gaps):
        assert function(TRUTH, SCORE, prevalence=0.05, **options).data["deployment"] == {"prevalence": 0.05}


def test_prevalences_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(OptionError, match=r"For 5 percent give 0\.05"):
        measure.ppv(TRUTH, SCORE, threshold=0.5, prevalence=5)
    with pytest.raises(OptionError, match="prevalence is 'rare'; expected a prevalence"):
        infer.summary(TRUTH, SCORE, prevalence="rare")
    with pytest.raises(OptionError, match="need independent rows"):
        infer.summary(TRUTH, SCORE, prevalence=0.05, cluster=np.arange(300) // 3)
    with pytest.raises(UnknownNameError, match="no option 'prevalence'"):
        measure.multiclass.accuracy([0, 1, 2], [0, 1, 1], prevalence=0.05)
