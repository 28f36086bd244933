"""ROC points, the ROC curve of twenty cases, its hull and its Gini coefficients, from lecture slides."""

from functools import partial
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from baserate import Costs, Counts, Curve, curve, measure, tally

Floats = npt.NDArray[np.float64]

near = partial(pytest.approx, rel=0, abs=1e-12)
same = partial(np.testing.assert_allclose, rtol=0, atol=1e-12)


A, B, C, C_REVERSED = (63, 37, 28, 72), (77, 23, 77, 23), (24, 76, 88, 12), (76, 24, 12, 88)
"""Label-only classifiers: TP, FN, FP, TN."""


def labels(tp: int, fn: int, fp: int, tn: int) -> tuple[list[int], list[int]]:
    """Truth and predicted label of each row of a table."""
    return [1] * (tp + fn) + [0] * (fp + tn), [1] * tp + [0] * fn + [1] * fp + [0] * tn


@pytest.mark.parametrize(
    ("cells", "fpr", "tpr", "accuracy"),
    [
        pytest.param(A, 0.28, 0.63, 0.675, id="A"),
        pytest.param(B, 0.77, 0.77, 0.50, id="B"),
        pytest.param(C, 0.88, 0.24, 0.18, id="C"),
        pytest.param(C_REVERSED, 0.12, 0.76, 0.82, id="C reversed"),
    ],
)
def test_points_of_label_only_classifiers(
    cells: tuple[int, int, int, int], fpr: float, tpr: float, accuracy: float
) -> None:
    # A label is a score with two values, so its classifier is a curve with one point between the corners.
    c = curve(tally(*labels(*cells)))
    same(measure.table(c, "fpr")["fpr"], [0, fpr, 1])
    same(measure.table(c, "tpr")["sensitivity"], [0, tpr, 1])
    point = c.at(1)
    assert (point.tp, point.fn, point.fp, point.tn) == cells
    assert measure.accuracy(point) == near(accuracy)
    assert measure.auc(c) == near((tpr + 1 - fpr) / 2)
    assert measure.auc(c) == near(measure.balanced_accuracy(point))


def test_accuracy_of_a_as_printed() -> None:
    tp, fn, fp, tn = A
    # .675 exactly, of which the slide shows two digits.
    assert measure.accuracy(Counts(tp=tp, fn=fn, fp=fp, tn=tn)) == pytest.approx(0.68, abs=0.005 + 1e-12)


def test_below_the_diagonal_reversing_the_labels_helps() -> None:
    truth, predicted = labels(*C)
    reversed_point = curve(tally(truth, 1 - np.asarray(predicted))).at(1)
    assert (reversed_point.tp, reversed_point.fn, reversed_point.fp, reversed_point.tn) == C_REVERSED
    auc = measure.auc(curve(tally(truth, predicted)))
    assert auc == near(0.18)
    # Scores are never turned round silently: turning them is the caller's, and gives the complement.
    assert measure.auc(curve(tally(truth, -np.asarray(predicted)))) == near(1 - auc)


@pytest.mark.parametrize("k", [0.25, 1, 3, 99])
def test_random_flags_with_odds_k_lie_on_the_diagonal(k: float) -> None:
    sick, well = 30, 970
    flagged = k / (k + 1)
    c = Counts(tp=sick * flagged, fn=sick * (1 - flagged), fp=well * flagged, tn=well * (1 - flagged))
    assert measure.sensitivity(c) == near(k / (k + 1))
    assert measure.fpr(c) == near(k / (k + 1))
    assert measure.precision(c) == near(0.03)
    assert measure.positive_likelihood_ratio(c) == near(1)
    for function in (measure.youden, measure.markedness, measure.mcc, measure.kappa):
        assert function(c) == near(0)


SCORES = np.arange(20, 0, -1) / 20
CLASSES = np.array([sign == "+" for sign in "+++-+--+---+--------"])
"""Twenty cases, best score first."""

FPR_PRINTED = "0 .000 .000 .000 .071 .071 .143 .214 .214 .286 .357 .429 .429 .500 .571 .643 .714 .786 .857 .929 1.000"
TPR_PRINTED = (
    ".000 .167 .333 .500 .500 .667 .667 .667 .833 .833 .833 .833 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000 1.000"
)


@pytest.fixture(scope="module")
def twenty() -> Curve:
    return curve(tally(CLASSES, SCORES))


def test_twenty_cases_have_the_printed_column(twenty: Curve) -> None:
    roc = measure.table(twenty, "roc")
    same(roc["threshold"], [np.inf, *SCORES])
    for name, printed in (("fpr", FPR_PRINTED), ("sensitivity", TPR_PRINTED)):
        # Three digits are printed.
        np.testing.assert_allclose(roc[name], np.array(printed.split(), dtype=float), rtol=0, atol=0.0005)
    same(roc["fpr"], np.append(0, np.cumsum(~CLASSES)) / 14)
    same(roc["sensitivity"], np.append(0, np.cumsum(CLASSES)) / 6)


@pytest.mark.parametrize(
    ("threshold", "cells"),
    [(1, (1, 5, 0, 14)), (0.95, (2, 4, 0, 14)), (0.9, (3, 3, 0, 14)), (0.85, (3, 3, 1, 13)), (0, (6, 0, 14, 0))],
)
def test_twenty_cases_have_the_printed_tables(
    twenty: Curve, threshold: float, cells: tuple[int, int, int, int]
) -> None:
    c = twenty.at(threshold)
    assert (c.tp, c.fn, c.fp, c.tn) == cells


def test_area_of_twenty_cases_in_three_ways(twenty: Curve) -> None:
    from scipy.stats import mannwhitneyu

    roc = measure.table(twenty, "roc")
    above = SCORES[CLASSES][:, None] > SCORES[~CLASSES][None, :]
    assert measure.auc(twenty) == near(74 / 84)
    assert measure.auc(twenty) == near(0.8809523809523809)
    assert measure.auc(twenty) == near(float(np.trapezoid(roc["sensitivity"], roc["fpr"])))
    assert measure.auc(twenty) == near(float(above.mean()))
    assert measure.auc(twenty) == near(float(mannwhitneyu(SCORES[CLASSES], SCORES[~CLASSES]).statistic) / 84)
    assert measure.partial_auc(twenty) == near(74 / 84)


def test_hull_of_twenty_cases(twenty: Curve) -> None:
    hull = twenty.hull()
    roc = measure.table(hull, "roc")
    same(roc["threshold"], [np.inf, 0.9, 0.8, 0.65, 0.45, 0.05])
    same(roc["fpr"], np.array([0, 0, 1, 3, 6, 14]) / 14)
    same(roc["sensitivity"], np.array([0, 3, 4, 5, 6, 6]) / 6)
    # The hull lies on or above every point, and its thresholds are again a ranking.
    points = measure.table(twenty, "roc")
    reached = np.interp(points["fpr"], roc["fpr"], roc["sensitivity"])
    assert (points["sensitivity"] <= reached + 1e-12).all()
    assert measure.auc(hull) == near(77 / 84)


def mix_counts(twenty: Curve, fpr: float) -> Counts[float]:
    """What the mixture that reaches this false positive rate gives on average."""
    mixture = twenty.mixture(fpr=fpr)
    strict, lax = twenty.at(mixture.strict), twenty.at(mixture.lax)
    cells = [
        (1 - mixture.chance) * getattr(strict, cell) + mixture.chance * getattr(lax, cell)
        for cell in ("tp", "fp", "fn", "tn")
    ]
    return Counts(*cells)


@pytest.mark.parametrize("share", [0, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("edge", [1, 2, 3, 4])
def test_mixtures_reach_every_point_of_a_hull_edge(twenty: Curve, edge: int, share: float) -> None:
    roc = measure.table(twenty.hull(), "roc")
    fpr, tpr = ((1 - share) * roc[axis][edge] + share * roc[axis][edge + 1] for axis in ("fpr", "sensitivity"))
    c = mix_counts(twenty, fpr)
    assert measure.fpr(c) == near(fpr)
    assert measure.sensitivity(c) == near(tpr)


@pytest.mark.parametrize("costs", [Costs(), Costs(fn=1, fp=10), Costs(fn=10, fp=1), Costs(tp=-1, fn=100, fp=1)])
def test_a_mixture_is_never_cheaper_than_its_better_end(twenty: Curve, costs: Costs) -> None:
    cheapest = np.min(costs.total(twenty.counts))
    assert np.min(costs.total(twenty.hull().counts)) == near(cheapest)
    for fpr in np.linspace(0, 1, 29):
        assert costs.total(mix_counts(twenty, fpr)) >= cheapest - 1e-12


@pytest.mark.parametrize(("edge", "ratio"), [(2, 14 / 6), (3, 14 / 12), (4, 14 / 18)])
def test_slope_of_a_hull_edge_is_its_likelihood_ratio(twenty: Curve, edge: int, ratio: float) -> None:
    hull = twenty.hull()
    roc = measure.table(hull, "roc")
    rise = (roc["sensitivity"][edge] - roc["sensitivity"][edge - 1]) / (roc["fpr"][edge] - roc["fpr"][edge - 1])
    assert rise == near(ratio)
    pool = hull.tally
    likelihood = (pool.positive / pool.positives) / np.where(pool.negative > 0, pool.negative / pool.negatives, np.nan)
    assert likelihood[edge - 1] == near(ratio)
    # A steeper line touches before the edge, a flatter one behind it; of equally good thresholds the strictest wins.
    assert twenty.tangent(1.01 * ratio) == hull.threshold[edge - 1]
    assert twenty.tangent(0.99 * ratio) == hull.threshold[edge]


def test_three_gini_coefficients_of_twenty_cases(twenty: Curve) -> None:
    assert measure.gini(twenty) == near(64 / 84)
    assert measure.gini(twenty) == pytest.approx(0.7619, abs=0.00005)
    assert measure.accuracy_ratio(twenty) == near(64 / 84)
    assert measure.lorenz_gini(twenty) == near(8 / 15)
    assert measure.lorenz_gini(twenty) == pytest.approx(0.5333, abs=0.00005)
    assert measure.lorenz_gini(twenty) == near(0.7 * 64 / 84)
    assert measure.cap_area(twenty) == near(23 / 30)
    assert measure.cap_area(twenty) == pytest.approx(0.7667, abs=0.00005)


def test_gini_coefficients_by_their_formulas(twenty: Curve) -> None:
    lorenz, gain = measure.table(twenty, "lorenz"), measure.table(twenty, "gain")
    # The Lorenz curve starts with the lowest score, so the strictest threshold comes last.
    x, y = lorenz["pass_rate"][::-1], lorenz["fnr"][::-1]
    brown = 1 - np.sum((x[1:] - x[:-1]) * (y[1:] + y[:-1]))
    assert measure.lorenz_gini(twenty) == near(brown)
    cap = np.trapezoid(gain["sensitivity"], gain["flag_rate"])
    assert measure.cap_area(twenty) == near(cap)
    perfect = measure.cap_area(curve(tally(CLASSES, CLASSES)))
    assert measure.accuracy_ratio(twenty) == near((cap - 0.5) / (perfect - 0.5))


def test_none_of_them_is_gini_impurity(twenty: Curve) -> None:
    impurity = 2 * 0.3 * 0.7
    for function in (measure.gini, measure.lorenz_gini, measure.accuracy_ratio):
        assert abs(function(twenty) - impurity) > 0.1
        # Impurity does not look at scores.
        assert function(curve(tally(CLASSES, -SCORES))) == near(-function(twenty))


@pytest.mark.parametrize("gamma", [2, 10, 1000])
def test_more_negatives_move_precision_but_not_roc(twenty: Curve, gamma: int) -> None:
    rarer = curve(tally(CLASSES, SCORES, count=np.where(CLASSES, 1, gamma)))
    there, here = measure.table(rarer, "roc"), measure.table(twenty, "roc")
    for axis, column in here.items():
        same(there[axis], column)
    for function in (measure.auc, measure.gini, measure.accuracy_ratio, measure.ks):
        assert function(rarer) == near(function(twenty))
    for function in (measure.average_precision, measure.pr_auc):
        assert function(rarer) < function(twenty) - 0.05
    assert measure.lorenz_gini(rarer) > measure.lorenz_gini(twenty) + 0.05


def test_dominance_in_roc_space_is_dominance_in_pr_space() -> None:
    # Davis & Goadrich (2006), over all rankings of three positives and three negatives.
    rankings = [positive for positive in product([False, True], repeat=6) if sum(positive) == 3]
    curves = [curve(tally(positive, range(6, 0, -1))) for positive in rankings]

    def highest(c: Curve, axes: str) -> Floats:
        """Greatest TPR up to each false positive rate, or greatest precision at each recall."""
        x, y = (measure.table(c, axes)[axis][1:] for axis in measure.TABLES[axes])
        if axes == "roc":
            x, y = np.append(0, x), np.append(0, y)
            return np.array([y[x <= third / 3 + 1e-9].max() for third in range(4)])
        return np.array([y[np.abs(x - third / 3) < 1e-9].max() for third in range(1, 4)])

    roc, pr = ([highest(c, axes) for c in curves] for axes in ("roc", "pr"))
    verdicts = [
        ((roc[one] >= roc[two] - 1e-12).all(), (pr[one] >= pr[two] - 1e-12).all())
        for one, two in product(range(len(curves)), repeat=2)
    ]
    assert all(in_roc == in_pr for in_roc, in_pr in verdicts)
    assert 20 < sum(in_roc for in_roc, _ in verdicts) < 400
