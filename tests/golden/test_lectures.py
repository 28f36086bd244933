"""Worked examples of lectures on classification metrics."""

from functools import partial
from itertools import product
from math import isnan

import numpy as np
import numpy.typing as npt
import pytest

from baserate import Counts, Curve, curve, measure, tally

Floats = npt.NDArray[np.float64]

near = partial(pytest.approx, rel=0, abs=1e-12)
printed = partial(pytest.approx, rel=0, abs=5e-11)
"""Ten digits are given."""
same = partial(np.testing.assert_allclose, rtol=0, atol=1e-12)


def test_accuracy_on_imbalanced_data() -> None:
    c = Counts(tp=20, fn=5, fp=50, tn=1000)
    assert measure.accuracy(c) == printed(0.9488372093)
    assert measure.precision(c) == printed(0.2857142857)
    assert measure.sensitivity(c) == near(0.8)


def test_the_constant_classifier_is_more_accurate_and_has_no_precision() -> None:
    healthy = Counts(tp=0, fn=25, fp=0, tn=1050)
    assert measure.accuracy(healthy) == printed(0.9767441860)
    assert measure.sensitivity(healthy) == 0
    assert isnan(measure.precision(healthy))
    assert measure.undefined_reason(measure.precision, healthy) == "nothing is flagged"


def test_retrieval() -> None:
    # How many pages were rightly left out is unknown, and does not matter.
    for left_out in (0, 1_000_000):
        c = Counts(tp=20, fp=10, fn=40, tn=left_out)
        assert measure.precision(c) == near(2 / 3)
        assert measure.sensitivity(c) == near(1 / 3)


def make_counts(precision: float, recall: float) -> Counts[float]:
    """A table with one positive, and true negatives that no mean of precision and recall looks at."""
    return Counts(tp=recall, fn=1 - recall, fp=recall * (1 - precision) / precision, tn=7)


@pytest.mark.parametrize(
    ("precision", "recall", "f1"),
    [
        (0.05, 1, 0.0952380952),
        (0.525, 0.525, 0.525),
        (0.2, 0.8, 0.32),
        (0.2, 0.3, 0.24),
        (0.70, 0.60, 0.6461538462),
        (0.80, 0.50, 0.6153846154),
    ],
)
def test_f1_of_precision_and_recall(precision: float, recall: float, f1: float) -> None:
    c = make_counts(precision, recall)
    assert measure.precision(c) == near(precision)
    assert measure.sensitivity(c) == near(recall)
    assert measure.f1(c) == printed(f1)
    assert measure.f1(c) == near(2 / (1 / precision + 1 / recall))


def test_other_means_rate_the_constant_classifier_as_high_as_a_fair_one() -> None:
    constant, fair = make_counts(0.05, 1), make_counts(0.525, 0.525)
    for c in (constant, fair):
        assert (measure.precision(c) + measure.sensitivity(c)) / 2 == near(0.525)
        assert measure.borko(c) == near(0.05)
    # The minimum can, but then not (.2, .8) from (.2, .3), which F1 can.
    assert min(measure.precision(constant), measure.sensitivity(constant)) == near(0.05)
    assert min(measure.precision(fair), measure.sensitivity(fair)) == near(0.525)
    assert measure.f1(make_counts(0.2, 0.8)) > measure.f1(make_counts(0.2, 0.3))


@pytest.mark.parametrize(("precision", "recall"), list(product([0.05, 0.2, 0.525, 0.6, 1], repeat=2)))
def test_the_harmonic_mean_stays_near_the_minimum(precision: float, recall: float) -> None:
    least = min(precision, recall)
    assert least - 1e-12 <= measure.f1(make_counts(precision, recall)) <= 2 * least + 1e-12


def test_harmonic_mean_of_two_speeds() -> None:
    # 60 and 20 km/h out and back make 30 km/h; here as hundredths.
    assert measure.f1(make_counts(0.60, 0.20)) == near(0.30)


def test_f1_is_below_twice_a_small_precision() -> None:
    recall = np.linspace(0.001, 1, 1000)
    f1 = np.array([measure.f1(make_counts(0.1, r)) for r in recall])
    assert (np.diff(f1) > 0).all()
    assert f1[-1] == printed(0.1818181818)
    assert f1[-1] < 0.2


@pytest.mark.parametrize("beta", [0.5, 1, 2])
def test_f_beta_and_van_rijsbergens_e(beta: float) -> None:
    for precision, recall in product([0.1, 0.3, 0.8, 1], repeat=2):
        c = make_counts(precision, recall)
        alpha = 1 / (beta**2 + 1)
        weighted = 1 / (alpha / precision + (1 - alpha) / recall)
        assert measure.f_beta(c, beta=beta) == near(weighted)
        assert measure.f_beta(c, beta=beta) == near((1 + beta**2) * precision * recall / (beta**2 * precision + recall))
        assert measure.e_measure(c, beta=beta) == near(1 - weighted)
        assert weighted < 1 or precision == recall == 1
    assert measure.f_beta(make_counts(1, 1), beta=beta) == 1


def test_small_beta_follows_precision_and_large_beta_recall() -> None:
    precise, complete = make_counts(0.9, 0.3), make_counts(0.3, 0.9)
    assert measure.f_beta(precise, beta=0.5) > measure.f_beta(complete, beta=0.5)
    assert measure.f_beta(precise, beta=2) < measure.f_beta(complete, beta=2)
    assert measure.f1(precise) == near(measure.f1(complete))


def test_f1_at_its_ends() -> None:
    assert measure.f1(Counts(tp=0, fp=3, fn=4, tn=5)) == 0
    assert measure.f1(Counts(tp=3, fp=0, fn=0, tn=5)) == 1
    nothing = Counts(tp=0, fp=0, fn=0, tn=5)
    assert isnan(measure.f1(nothing))
    assert measure.undefined_reason(measure.f1, nothing) == "there are no positives and nothing is flagged"


@pytest.mark.parametrize(
    ("c", "reason"),
    [
        (Counts(tp=0, fp=0, fn=4, tn=5), "nothing is flagged"),
        (Counts(tp=4, fp=5, fn=0, tn=0), "everything is flagged"),
        (Counts(tp=0, fp=4, fn=0, tn=5), "there are no positives"),
        (Counts(tp=4, fp=0, fn=5, tn=0), "there are no negatives"),
        (Counts(tp=0, fp=0, fn=0, tn=5), "there are no positives and nothing is flagged"),
    ],
)
def test_mcc_with_a_zero_under_the_root_is_undefined(c: Counts[float], reason: str) -> None:
    # The slides set it to 0; then nobody could see that there was nothing to correlate.
    assert isnan(measure.mcc(c))
    assert measure.undefined_reason(measure.mcc, c) == reason


SPAM = {
    "lax": Counts(tp=90, fp=1910, fn=10, tn=997_990),
    "middle": Counts(tp=90, fp=10, fn=10, tn=999_890),
    "strict": Counts(tp=90, fp=10, fn=1910, tn=997_990),
    "not spam": Counts(tp=999_890, fp=10, fn=10, tn=90),
}
"""A million mails at three thresholds, and the middle one with the classes swapped."""


@pytest.mark.parametrize(
    ("which", "mcc", "f1"),
    [
        ("lax", 0.2010100557, 0.0857142857),
        ("middle", 0.8999899990, 0.9),
        ("strict", 0.2010100557, 0.0857142857),
        ("not spam", 0.8999899990, 0.9999899990),
    ],
)
def test_spam(which: str, mcc: float, f1: float) -> None:
    c = SPAM[which]
    assert c.total == 1_000_000
    assert measure.mcc(c) == printed(mcc)
    assert measure.f1(c) == printed(f1)


@pytest.mark.parametrize(
    ("which", "recall", "specificity", "precision"),
    [("lax", 0.90, 1, 0.05), ("middle", 0.90, 1, 0.90), ("strict", 0.05, 1, 0.90), ("not spam", 1, 0.90, 1)],
)
def test_spam_rates_as_printed(which: str, recall: float, specificity: float, precision: float) -> None:
    c = SPAM[which]
    two_digits = partial(pytest.approx, abs=0.005 + 1e-12)
    assert measure.sensitivity(c) == two_digits(recall)
    assert measure.specificity(c) == two_digits(specificity)
    assert measure.precision(c) == two_digits(precision)


def test_mcc_is_symmetric_in_the_classes_and_f1_is_not() -> None:
    swapped = SPAM["middle"].swap_classes()
    assert (swapped.tp, swapped.fp, swapped.fn, swapped.tn) == (999_890, 10, 10, 90)
    for c in SPAM.values():
        assert measure.mcc(c.swap_classes()) == near(measure.mcc(c))
        assert abs(measure.f1(c.swap_classes()) - measure.f1(c)) > 0.05


def test_imbalance_affects_precision_and_not_the_false_positive_rate() -> None:
    lax, middle = SPAM["lax"], SPAM["middle"]
    assert measure.sensitivity(lax) == measure.sensitivity(middle) == near(0.9)
    assert measure.fpr(lax) - measure.fpr(middle) == pytest.approx(0.0019, abs=5e-5)
    assert measure.precision(middle) - measure.precision(lax) == near(0.855)


def test_kappa_of_two_credit_officers() -> None:
    c = Counts(tp=20, fn=5, fp=10, tn=15)
    by_chance = (c.positives * c.flagged + c.negatives * c.not_flagged) / c.total**2
    assert measure.accuracy(c) == near(0.7)
    assert by_chance == near(0.5)
    assert measure.kappa(c) == near(0.4)
    # Cohen's kappa does not ask which of the two is the truth.
    assert measure.kappa(Counts(tp=20, fn=10, fp=5, tn=15)) == near(0.4)


def all_tables() -> Counts[float]:
    """Every table with cells from 0 to 6 in which no margin is empty."""
    tp, fp, fn, tn = np.indices((7, 7, 7, 7)).reshape(4, -1)
    there = (tp + fp) * (tp + fn) * (fp + tn) * (fn + tn) > 0
    return Counts(tp=tp[there], fp=fp[there], fn=fn[there], tn=tn[there])


def test_mcc_and_kappa_agree_exactly_when_errors_balance_or_there_is_no_association() -> None:
    c = all_tables()
    mcc, kappa = np.asarray(measure.mcc(c)), np.asarray(measure.kappa(c))
    agree = np.abs(mcc - kappa) < 1e-12
    np.testing.assert_array_equal(agree, np.equal(c.fp, c.fn) | np.equal(c.tp * c.tn, c.fp * c.fn))
    assert (np.abs(mcc) >= np.abs(kappa) - 1e-12).all()
    assert agree.any()
    assert not agree.all()


def test_mcc_is_the_geometric_and_kappa_the_harmonic_mean_of_two_slopes() -> None:
    c = all_tables()
    excess = c.tp * c.tn - c.fp * c.fn
    one, other = np.asarray(excess / (c.flagged * c.negatives)), np.asarray(excess / (c.positives * c.not_flagged))
    same(measure.mcc(c), np.sign(excess) * np.sqrt(one * other))
    learnt = excess != 0
    same(np.asarray(measure.kappa(c))[learnt], 2 / (1 / one[learnt] + 1 / other[learnt]))


def test_mcc_by_rates() -> None:
    c = all_tables()
    right = measure.precision(c) * measure.sensitivity(c) * measure.specificity(c) * measure.npv(c)
    wrong = measure.fdr(c) * measure.fnr(c) * measure.fpr(c) * measure.false_omission_rate(c)
    same(measure.mcc(c), np.sqrt(right) - np.sqrt(wrong))
    # So it is also the geometric mean of informedness and markedness.
    same(np.square(measure.mcc(c)), measure.youden(c) * measure.markedness(c))


@pytest.mark.parametrize("function", [measure.precision, measure.sensitivity, measure.f1, measure.jaccard])
def test_precision_recall_and_f_ignore_true_negatives(function: measure.Measure) -> None:
    c = Counts(tp=20, fp=10, fn=40, tn=5)
    more = Counts(tp=20, fp=10, fn=40, tn=5_000_000)
    assert function(more) == function(c)
    assert abs(measure.mcc(more) - measure.mcc(c)) > 0.1


def test_balanced_accuracy_is_youden_rescaled() -> None:
    c = all_tables()
    same(measure.balanced_accuracy(c), (np.asarray(measure.youden(c)) + 1) / 2)


SIX_SCORES = [0.14, 0.23, 0.39, 0.52, 0.73, 0.90]
SIX_CLASSES = [0, 1, 0, 0, 1, 1]


@pytest.fixture(scope="module")
def six_cases() -> Curve:
    return curve(tally(SIX_CLASSES, SIX_SCORES))


@pytest.mark.parametrize(
    ("above", "at_least", "recall", "precision"),
    [
        (0.73, 0.90, 1 / 3, 1),
        (0.52, 0.73, 2 / 3, 1),
        (0.39, 0.52, 2 / 3, 2 / 3),
        (0.23, 0.39, 2 / 3, 1 / 2),
        (0.14, 0.23, 1, 3 / 5),
        (0.10, 0.14, 1, 1 / 2),
    ],
)
def test_points_of_a_pr_curve(six_cases: Curve, above: float, at_least: float, recall: float, precision: float) -> None:
    # The source flags scores > t. That is scores ≥ the next number, and the same as ≥ the next score that occurs.
    for threshold in (np.nextafter(above, 1), at_least):
        c = six_cases.at(threshold)
        assert measure.sensitivity(c) == near(recall)
        assert measure.precision(c) == near(precision)


def test_a_pr_curve_starts_undefined_and_ends_at_the_prevalence(six_cases: Curve) -> None:
    pr = measure.table(six_cases, "pr")
    assert pr["threshold"][0] == np.inf
    assert pr["sensitivity"][0] == 0
    assert isnan(pr["precision"][0])
    assert pr["sensitivity"][-1] == 1
    assert pr["precision"][-1] == six_cases.tally.prevalence == 0.5


def trapezoid_from(six_cases: Curve, precision_at_zero: float) -> float:
    """Area under straight lines between the points, after inventing one at recall 0."""
    pr = measure.table(six_cases, "pr")
    recall, precision = pr["sensitivity"].copy(), pr["precision"].copy()
    precision[0] = precision_at_zero
    return float(np.trapezoid(precision, recall))


def test_four_areas_under_one_pr_curve(six_cases: Curve) -> None:
    assert measure.average_precision(six_cases) == printed(0.8666666667)
    assert measure.pr_auc(six_cases) == pytest.approx(0.8512376, abs=5e-8)
    # Neither of these is ours: both need a point that is not in the data, and lines that cannot be reached.
    assert trapezoid_from(six_cases, 1) == near(0.85)
    assert trapezoid_from(six_cases, 0) == near(0.85 - 1 / 6)
    assert trapezoid_from(six_cases, 0) == pytest.approx(0.6833, abs=5e-5)


def test_area_between_two_points_of_a_pr_curve_is_the_area_of_all_mixtures(six_cases: Curve) -> None:
    # Davis & Goadrich (2006): mixing two thresholds moves along a line of true and false positives.
    area = 0.0
    for (tp, fp), (more_tp, more_fp) in [((0, 0), (1, 0)), ((1, 0), (2, 0)), ((2, 2), (3, 2))]:
        # Midpoints, as precision is 0/0 at the origin.
        share = (np.arange(100_000) + 0.5) / 100_000
        hits, alarms = tp + share * (more_tp - tp), fp + share * (more_fp - fp)
        area += float(np.mean(hits / (hits + alarms))) / 3
    # The midpoint rule errs by about 10⁻¹² here.
    assert measure.pr_auc(six_cases) == pytest.approx(area, abs=1e-11)


def test_roc_area_of_the_six_cases(six_cases: Curve) -> None:
    assert measure.auc(six_cases) == near(7 / 9)


TIED_SCORES = np.array([0.5, 0.1, 0.2, 0.6, 0.2, 0.3, 0])
TIED_CLASSES = np.array([0, 0, 0, 1, 1, 1, 0])


def test_a_tie_moves_diagonally() -> None:
    c = curve(tally(TIED_CLASSES, TIED_SCORES))
    assert measure.auc(c) == near(9.5 / 12)
    assert measure.auc(c) == printed(0.7916666667)
    roc = measure.table(c, "roc")
    same(roc["threshold"], [np.inf, 0.6, 0.5, 0.3, 0.2, 0.1, 0])
    same(roc["fpr"], np.array([0, 0, 1, 1, 2, 3, 4]) / 4)
    same(roc["sensitivity"], np.array([0, 1, 1, 2, 3, 3, 3]) / 3)


@pytest.mark.parametrize(("positives_first", "wrong"), [(True, 10 / 12), (False, 9 / 12)])
def test_stepping_through_a_tie_row_by_row_gives_another_area(*, positives_first: bool, wrong: float) -> None:
    sign = -1 if positives_first else 1
    order = np.lexsort((sign * TIED_CLASSES, -TIED_SCORES))
    ranked = TIED_CLASSES[order]
    fpr, tpr = np.append(0, np.cumsum(1 - ranked)) / 4, np.append(0, np.cumsum(ranked)) / 3
    assert np.trapezoid(tpr, fpr) == near(wrong)
    # Ours does not depend on the order of rows.
    assert measure.auc(curve(tally(ranked, TIED_SCORES[order]))) == near(9.5 / 12)


def test_sweeping_a_coarse_grid_gives_another_area() -> None:
    c = curve(tally(TIED_CLASSES, TIED_SCORES))
    # From the least score up in steps of .25 as long as the greatest is not passed: 0, .25, .5.
    swept = c.at(np.arange(TIED_SCORES.max(), step=0.25)[::-1])
    area = np.trapezoid(np.asarray(measure.sensitivity(swept)), np.asarray(measure.fpr(swept)))
    assert area == near(0.625)
    assert measure.auc(c) == near(9.5 / 12)


def test_constant_scores_have_the_diagonal_as_roc_curve() -> None:
    c = curve(tally(TIED_CLASSES, np.full(7, 0.2)))
    same(measure.table(c, "roc")["fpr"], [0, 1])
    same(measure.table(c, "roc")["sensitivity"], [0, 1])
    assert measure.auc(c) == 0.5
    assert measure.ks(c) == 0


def test_youden_of_the_twenty_cases() -> None:
    classes = [sign == "+" for sign in "+++-+--+---+--------"]
    c = curve(tally(classes, np.arange(20, 0, -1) / 20))
    youden = measure.table(c, "youden")["youden"]
    assert youden.max() == printed(0.6190476190)
    assert measure.ks(c) == near(float(youden.max()))
    at = c.at(0.65)
    assert measure.youden(at) == printed(0.6190476190)
    assert measure.balanced_accuracy(at) == near((13 / 21 + 1) / 2)
    assert measure.precision(c.at(0.75)) == near(measure.sensitivity(c.at(0.75)))


def test_a_low_precision_can_be_due_to_the_threshold() -> None:
    # Precision .2 and recall .7 at one threshold say nothing of the others: the same ranking reaches 1 and .5.
    c = curve(tally([1] * 10 + [0] * 28, [0.99] * 5 + [0.92] * 2 + [0.5] * 3 + [0.92] * 28))
    assert measure.precision(c.at(0.9)) == near(0.2)
    assert measure.sensitivity(c.at(0.9)) == near(0.7)
    assert measure.precision(c.at(0.95)) == 1
    assert measure.sensitivity(c.at(0.95)) == 0.5
