"""Conventions that differ from those of scikit-learn: both results, and the reasons."""

import warnings
from math import inf, isnan

import numpy as np
import pytest
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

from baserate import Counts, NotBinaryError, WeightError, curve, measure, tally


def make_counts(truth: list[int], predicted: list[int]) -> Counts[float]:
    return curve(tally(truth, predicted)).at(1)


SOME, ALL, NONE = [1, 0, 0, 1, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("name", "truth", "predicted", "reason"),
    [
        ("precision", SOME, NONE, "nothing is flagged"),
        ("recall", NONE, SOME, "there are no positives"),
        ("f1", NONE, NONE, "there are no positives and nothing is flagged"),
        ("jaccard", NONE, NONE, "there are no positives and nothing is flagged"),
    ],
)
def test_zero_over_zero_is_not_zero(name: str, truth: list[int], predicted: list[int], reason: str) -> None:
    # Theirs warns and answers 0, the worst value there is, for a question that has no answer.
    with pytest.warns(UndefinedMetricWarning):
        theirs = getattr(metrics, f"{name}_score")(truth, predicted)
    assert theirs == 0
    c = make_counts(truth, predicted)
    assert isnan(measure.find_measure(name)(c))
    assert measure.undefined_reason(measure.find_measure(name), c) == reason


@pytest.mark.parametrize(
    ("truth", "predicted", "reason"),
    [
        (SOME, NONE, "nothing is flagged"),
        (SOME, ALL, "everything is flagged"),
        (NONE, SOME, "there are no positives"),
        (ALL, SOME, "there are no negatives"),
    ],
)
def test_there_is_no_correlation_with_a_constant(truth: list[int], predicted: list[int], reason: str) -> None:
    # Theirs answers 0 without a word, so that "undefined" looks like "no better than chance".
    assert metrics.matthews_corrcoef(truth, predicted) == 0
    c = make_counts(truth, predicted)
    assert isnan(measure.mcc(c))
    assert measure.undefined_reason(measure.mcc, c) == reason


def test_kappa_of_two_equal_constants_is_undefined_for_both() -> None:
    with pytest.warns(UndefinedMetricWarning):
        assert isnan(metrics.cohen_kappa_score(NONE, NONE, labels=[0, 1]))
    c = make_counts(NONE, NONE)
    assert isnan(measure.kappa(c))
    assert measure.undefined_reason(measure.kappa, c) is not None
    # One constant is enough for kappa to be defined, and then it is 0.
    assert measure.kappa(make_counts(SOME, NONE)) == metrics.cohen_kappa_score(SOME, NONE) == 0


def test_balanced_accuracy_needs_both_classes() -> None:
    # Theirs leaves the absent class out, so that one flag more or less turns 1 into something else altogether.
    with pytest.warns(UserWarning, match="not in y_true"):
        theirs = metrics.balanced_accuracy_score(NONE, SOME)
    assert theirs == pytest.approx(0.6)
    c = make_counts(NONE, SOME)
    assert isnan(measure.balanced_accuracy(c))
    assert measure.undefined_reason(measure.balanced_accuracy, c) == "there are no positives"


def test_a_likelihood_ratio_without_false_alarms_is_infinite() -> None:
    # Theirs is NaN. A test that never flags a negative proves the positive: its ratio has a limit, and it is +∞.
    truth, predicted = [1, 1, 0, 0], [1, 0, 0, 0]
    with pytest.warns(UndefinedMetricWarning):
        theirs, _ = metrics.class_likelihood_ratios(truth, predicted)
    assert isnan(theirs)
    assert measure.positive_likelihood_ratio(make_counts(truth, predicted)) == inf


def test_average_precision_without_positives() -> None:
    # Theirs warns and answers 0.
    score = [0.1, 0.4, 0.3, 0.2, 0.5]
    with pytest.warns(UserWarning, match="No positive class"):
        theirs = metrics.average_precision_score(NONE, score)
    assert theirs == 0
    ours = curve(tally(NONE, score))
    assert isnan(measure.average_precision(ours))
    assert measure.undefined_reason(measure.average_precision, ours) == "there are no positives"
    # Without negatives both are 1: whatever is flagged is right.
    assert measure.average_precision(curve(tally(ALL, score))) == metrics.average_precision_score(ALL, score) == 1


def test_recall_without_positives_is_not_one() -> None:
    # Theirs warns and sets recall to 1 at every threshold.
    score = [0.1, 0.4, 0.3, 0.2, 0.5]
    with pytest.warns(UserWarning, match="No positive class"):
        _, recall, _ = metrics.precision_recall_curve(NONE, score)
    assert (recall[:-1] == 1).all()
    assert np.isnan(measure.table(curve(tally(NONE, score)), "recall")["sensitivity"]).all()


def test_a_pr_curve_has_no_artificial_first_point() -> None:
    # Precision never comes near the 1 that theirs starts from.
    truth, score = [0, 1, 0, 0], [0.9, 0.9, 0.7, 0.6]
    precision, recall, _ = metrics.precision_recall_curve(truth, score)
    assert (recall[-1], precision[-1]) == (0, 1)
    c = curve(tally(truth, score))
    pr = measure.table(c, "pr")
    assert isnan(pr["precision"][0])
    assert pr["precision"][1:].max() == 0.5
    # So the line to that point encloses an area that no mixture of thresholds reaches.
    assert metrics.auc(recall, precision) == 0.75
    assert measure.pr_auc(c) == pytest.approx(0.5, rel=0, abs=1e-12)


@pytest.mark.parametrize(("truth", "reason"), [(NONE, "there are no positives"), (ALL, "there are no negatives")])
def test_auc_of_one_class_is_undefined_for_both(truth: list[int], reason: str) -> None:
    score = [0.1, 0.4, 0.3, 0.2, 0.5]
    with pytest.warns(UndefinedMetricWarning):
        assert isnan(metrics.roc_auc_score(truth, score))
    ours = curve(tally(truth, score))
    assert isnan(measure.auc(ours))
    assert measure.undefined_reason(measure.auc, ours) == reason


def test_log_loss_of_a_contradicted_certainty_is_infinite() -> None:
    # Theirs clips probabilities at the spacing of floats, so that its answer depends on their width.
    truth = [1, 0]
    assert metrics.log_loss(truth, np.array([0.0, 0.5])) == pytest.approx((36.04365 + np.log(2)) / 2, abs=1e-5)
    assert metrics.log_loss(truth, np.array([0.0, 0.5], dtype=np.float32)) == pytest.approx(
        (15.94239 + np.log(2)) / 2, abs=1e-5
    )
    assert measure.log_loss(tally(truth, [0.0, 0.5])) == inf
    # Certainty that is right costs nothing, with both.
    assert measure.log_loss(tally(truth, [1.0, 0.0])) == 0
    assert metrics.log_loss(truth, np.array([1.0, 0.0])) == pytest.approx(0, abs=1e-15)


def test_skill_of_a_single_class_is_undefined() -> None:
    # With one class the constant forecast is perfect: theirs divides by zero, ours says that there is nothing to save.
    probability = np.array([0.1, 0.4, 0.3, 0.2, 0.5])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        theirs = metrics.d2_brier_score(NONE, probability, labels=[0, 1])
    assert theirs == -inf
    t = tally(NONE, probability)
    assert isnan(measure.brier_skill(t))
    assert measure.undefined_reason(measure.brier_skill, t) == "there are no positives"


def test_negative_weights_are_refused() -> None:
    # Theirs computes with them.
    truth, score, weight = [1, 0, 1, 0], [1, 1, 0, 0], [1, 1, -1, 1]
    assert metrics.accuracy_score(truth, score, sample_weight=weight) == 1
    with pytest.raises(WeightError, match="negative"):
        tally(truth, score, weight=weight)


def test_the_positive_class_must_be_named() -> None:
    # Theirs takes the last label, so that "sick" against "well" measures the wrong class without a word.
    truth, score = ["sick", "well", "sick", "well"], [0.9, 0.2, 0.8, 0.3]
    assert metrics.roc_auc_score(truth, score) == 0
    with pytest.raises(NotBinaryError, match="positive="):
        tally(truth, score)
    assert measure.auc(curve(tally(truth, score, positive="sick"))) == 1
