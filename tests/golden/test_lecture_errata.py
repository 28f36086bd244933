"""Errors of the lecture slides, and the correct values."""

from functools import partial
from math import isnan

import numpy as np
import pytest

from baserate import Costs, Counts, Curve, curve, measure, tally

near = partial(pytest.approx, rel=0, abs=1e-12)

SIX = curve(tally([0, 1, 0, 0, 1, 1], [0.14, 0.23, 0.39, 0.52, 0.73, 0.90]))
TWENTY = curve(tally([sign == "+" for sign in "+++-+--+---+--------"], np.arange(20, 0, -1) / 20))
LIVER_SCANS = Counts(tp=231, fp=32, fn=27, tn=54)


def at_prevalence(c: Counts[float], prevalence: float) -> Counts[float]:
    """The same rates among one case, of which that share is positive."""
    return Counts(
        tp=prevalence * c.tp / c.positives,
        fn=prevalence * c.fn / c.positives,
        fp=(1 - prevalence) * c.fp / c.negatives,
        tn=(1 - prevalence) * c.tn / c.negatives,
    )


def test_the_area_under_the_cap_curve_is_not_the_auc() -> None:
    # Slip: the area under the gain curve is said to be the AUC. They meet only as positives become rare.
    assert measure.auc(TWENTY) == near(74 / 84)
    assert measure.cap_area(TWENTY) == near(23 / 30)
    assert measure.cap_area(TWENTY) == near(0.3 / 2 + 0.7 * 74 / 84)
    classes = TWENTY.tally.positive > 0
    rare = curve(tally(classes, TWENTY.tally.score, count=np.where(classes, 1, 10**6)))
    assert measure.cap_area(rare) == pytest.approx(74 / 84, abs=1e-6)


def test_equal_youden_is_equal_error_only_where_classes_are_balanced() -> None:
    # Slip: tests of equal J are said to misclassify equally many.
    cautious, eager = Counts(tp=60, fn=40, fp=10, tn=90), Counts(tp=90, fn=10, fp=40, tn=60)
    assert measure.youden(cautious) == near(0.5)
    assert measure.youden(eager) == near(0.5)
    assert measure.error_rate(cautious) == measure.error_rate(eager) == near(0.25)
    cautious, eager = at_prevalence(cautious, 0.1), at_prevalence(eager, 0.1)
    assert measure.youden(cautious) == near(0.5)
    assert measure.youden(eager) == near(0.5)
    assert measure.error_rate(cautious) == near(0.13)
    assert measure.error_rate(eager) == near(0.37)


def test_spam_mails_of_the_third_table() -> None:
    # Slip: all rows are introduced as thresholds on data with a hundred spam mails, and no threshold changes the truth.
    first, third = Counts(tp=90, fp=1910, fn=10, tn=997_990), Counts(tp=90, fp=10, fn=1910, tn=997_990)
    assert first.positives == 100
    assert third.positives == 2000
    assert measure.prevalence(third) == near(0.002)
    # It is the first table with the errors exchanged, which MCC cannot tell apart.
    assert measure.mcc(third) == near(measure.mcc(first))


def test_rows_of_equal_score_move_together_not_rows_of_equal_label() -> None:
    # Slip: the rule for ties speaks of equal labels.
    equal_scores = curve(tally([1, 0, 0, 1, 1], [0.5] * 5))
    assert measure.auc(equal_scores) == 0.5
    equal_labels = curve(tally([1, 1, 1, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5]))
    assert isnan(measure.auc(equal_labels))
    assert measure.undefined_reason(measure.auc, equal_labels) == "there are no negatives"


def test_the_precision_of_a_classifier_that_flags_nothing_is_undefined() -> None:
    # Slip: called 0 on one slide and undefined on the next.
    healthy = Counts(tp=0, fn=25, fp=0, tn=1050)
    assert isnan(measure.precision(healthy))
    assert measure.undefined_reason(measure.precision, healthy) == "nothing is flagged"
    # Defined, and 0, is what flags only negatives.
    assert measure.precision(Counts(tp=0, fn=25, fp=1, tn=1049)) == 0


def test_the_trapezoid_area_is_not_average_precision() -> None:
    # Slip: the two are offered as one thing computed in two ways.
    pr = measure.table(SIX, "pr")
    trapezoid = np.trapezoid(np.append(1, pr["precision"][1:]), pr["sensitivity"])
    assert trapezoid == near(0.85)
    assert measure.average_precision(SIX) == near(13 / 15)


def test_constant_scores_show_how_wrong_the_trapezoid_can_be() -> None:
    c = curve(tally([1] + [0] * 99, [0.5] * 100))
    pr = measure.table(c, "pr")
    assert np.trapezoid(np.append(1, pr["precision"][1:]), pr["sensitivity"]) == near(0.505)
    assert measure.average_precision(c) == near(0.01)
    assert measure.pr_auc(c) == near(0.01)


def test_no_precision_is_reached_at_the_end_of_the_model_population() -> None:
    # Slip: the greatest precision is listed as 1 at t = 1, where it is 0/0.
    t = np.array([0.9, 0.99, 1.0])
    c = Counts(tp=1 - t**2, fn=t**2, fp=(1 - t) ** 2, tn=1 - (1 - t) ** 2)
    np.testing.assert_allclose(measure.precision(c), [0.95, 0.995, np.nan], rtol=0, atol=1e-12)


def test_no_row_is_flagged_above_the_highest_score() -> None:
    # Slip: the slide for t = .90, which flags scores > t, shows one true positive.
    c = SIX.at(np.nextafter(0.90, 1))
    assert (c.tp, c.fp, c.fn, c.tn) == (0, 0, 3, 3)
    # The next slide then reads 0/0 as 0, from which the PR curve is made to start at (0, 0).
    assert isnan(measure.precision(c))
    # With ≥, which is ours, there is one.
    assert SIX.at(0.90).tp == 1


@pytest.mark.parametrize("c", [Counts(tp=1, fp=2, fn=3, tn=6), Counts(tp=10, fp=40, fn=20, tn=80)])
def test_mcc_equals_kappa_for_uninformative_classifiers(c: Counts[float]) -> None:
    # Slip: they are said to coincide only if FP = FN.
    assert c.fp != c.fn
    assert measure.mcc(c) == measure.kappa(c) == 0


def test_an_mcc_that_cannot_be_computed_is_not_chance() -> None:
    # Slip: a zero under the root is replaced by 1, so that a missing class looks like random guessing.
    perfect = Counts(tp=0, fp=0, fn=0, tn=1000)
    assert isnan(measure.mcc(perfect))
    assert measure.undefined_reason(measure.mcc, perfect) == "there are no positives and nothing is flagged"
    assert measure.accuracy(perfect) == 1


def test_at_equal_prevalence_the_moral_of_two_models_reverses() -> None:
    # Slip: the more accurate model is called dearer, from samples with prevalences .38 and .59.
    m1, m2 = Counts(tp=150, fn=40, fp=60, tn=250), Counts(tp=250, fn=45, fp=5, tn=200)
    costs = Costs(tp=-1, fn=100, fp=1, tn=0)
    assert (costs.total(m1), costs.total(m2)) == (3910, 4255)
    assert measure.expected_cost(at_prevalence(m1, 0.38), costs=costs) == near(7.82)
    assert measure.expected_cost(at_prevalence(m2, 0.38), costs=costs) == pytest.approx(5.49, abs=0.005)
    # The second flags more of the positives and fewer of the negatives, so no prevalence brings the moral back.
    assert measure.sensitivity(m2) > measure.sensitivity(m1)
    assert measure.fpr(m2) < measure.fpr(m1)
    for prevalence in np.linspace(0.01, 0.99, 99):
        one, two = (measure.expected_cost(at_prevalence(m, prevalence), costs=costs) for m in (m1, m2))
        assert two < one


def test_at_equal_prevalence_two_infection_models_are_much_closer() -> None:
    # Slip: totals over samples with prevalences .32 and .17 are compared.
    a, b = Counts(tp=150, fn=170, fp=50, tn=630), Counts(tp=150, fn=20, fp=200, tn=630)
    costs = Costs(tp=27_000, fn=37_000, fp=2_000, tn=0)
    assert costs.total(b) / costs.total(a) == pytest.approx(0.497, abs=0.0005)
    for prevalence in (0.17, 0.32):
        one, two = (measure.expected_cost(at_prevalence(m, prevalence), costs=costs) for m in (a, b))
        assert 0.89 < two / one < 0.96


def test_testing_everybody_also_costs_true_negatives() -> None:
    # Slip: the test comes first for everyone, yet a true negative costs nothing.
    a = Counts(tp=150, fn=170, fp=50, tn=630)
    as_given, consistent = (Costs(tp=27_000, fn=37_000, fp=2_000, tn=tn) for tn in (0, 2_000))
    assert consistent.total(a) - as_given.total(a) == 630 * 2_000
    # Then a false alarm costs nothing extra: every iso-cost line is flat, and flagging everybody is cheapest.
    assert consistent.slope(0.32) == 0
    assert as_given.slope(0.32) == near(0.425)
    assert consistent.total(Counts(tp=320, fn=0, fp=680, tn=0)) < consistent.total(a)


def test_the_false_positive_rate_is_not_the_true_positive_rate() -> None:
    # Slip: the line that defines FPR is headed TPR.
    assert measure.fpr(LIVER_SCANS) == near(32 / 86)
    assert measure.sensitivity(LIVER_SCANS) == near(231 / 258)


def test_the_true_negative_rate_is_not_the_negative_predictive_value() -> None:
    # Slip: TNR is described as a share of those predicted negative. It is one of those that are negative.
    assert measure.specificity(LIVER_SCANS) == near(54 / 86)
    assert measure.npv(LIVER_SCANS) == near(54 / 81)


def nearest_corner(c: Curve) -> float:
    roc = measure.table(c, "roc")
    return float(roc["threshold"][np.argmin(np.hypot(roc["fpr"], 1 - roc["sensitivity"]))])


def test_equal_costs_mean_a_45_degree_tangent_only_at_equal_prevalence() -> None:
    # Slip: equal costs are said to put the best point where a 45° line touches, nearest to (0, 1).
    errors = measure.table(TWENTY, "error_rate")["error_rate"]
    fewest = TWENTY.threshold[np.argmin(errors)]
    assert Costs().slope(0.3) == near(7 / 3)
    assert fewest == 0.9
    assert TWENTY.tangent(Costs().slope(0.3)) == fewest
    assert TWENTY.tangent(1) == 0.65
    assert measure.error_rate(TWENTY.at(0.65)) > measure.error_rate(TWENTY.at(0.9))
    # At equal prevalence it is true.
    balanced = curve(tally(TWENTY.tally.positive > 0, TWENTY.tally.score, weight=np.where(TWENTY.tally.positive, 7, 3)))
    errors = measure.table(balanced, "error_rate")["error_rate"]
    assert balanced.threshold[np.argmin(errors)] == TWENTY.tangent(1)


def test_the_45_degree_tangent_need_not_be_nearest_to_the_corner() -> None:
    # ROC points (0, .6) and (.25, .8): J is .6 and .55, the distances .4 and .32.
    truth = [1] * 60 + [1] * 20 + [0] * 25 + [1] * 20 + [0] * 75
    c = curve(tally(truth, [0.9] * 60 + [0.5] * 45 + [0.1] * 95))
    assert c.tangent(1) == 0.9
    assert measure.youden(c.at(0.9)) == near(0.6)
    assert measure.youden(c.at(0.5)) == near(0.55)
    assert nearest_corner(c) == 0.5


def test_flag_rate_lies_below_the_rate_of_the_favored_class() -> None:
    # Slip: P(S=1 | −) < P(S=1 | +) = P(S=1). A mean of two different numbers equals neither.
    selected = Counts(tp=90, fn=10, fp=200, tn=800)
    among_positives, among_negatives = measure.sensitivity(selected), measure.fpr(selected)
    assert among_negatives < measure.flag_rate(selected) < among_positives
    assert measure.flag_rate(selected) == near(float(100 * among_positives + 1000 * among_negatives) / 1100)


def test_precision_under_shift_rounds_up() -> None:
    # Slip: .9/(.9 + .5) is printed as .642.
    assert measure.precision(Counts(tp=0.9, fp=0.5, fn=0, tn=0)) == pytest.approx(0.643, abs=0.0005)


def test_a_transposed_matrix_exchanges_precision_and_recall() -> None:
    # The slides put truth now in rows, now in columns. Ours stands in rows.
    transposed = Counts(tp=231, fp=27, fn=32, tn=54)
    assert measure.precision(transposed) == near(231 / 258)
    assert measure.sensitivity(transposed) == near(231 / 263)
    for function in (measure.accuracy, measure.f1, measure.mcc, measure.kappa):
        assert function(transposed) == near(float(function(LIVER_SCANS)))


def test_negative_predictive_value_of_the_liver_scans() -> None:
    # Not a slip of the slides but of Altman and Bland (1994), who print .59 for 54/81.
    assert measure.npv(LIVER_SCANS) == pytest.approx(0.667, abs=0.0005)
