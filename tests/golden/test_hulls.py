"""Convex hulls of classifiers, from lecture slides on ROC points, hulls and costs."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from baserate import CostMatrix, Costs, Counts, Rows, curve, decide, measure, tally

near = partial(pytest.approx, rel=0, abs=1e-12)

A = Counts(tp=63, fn=37, fp=28, tn=72)
B = Counts(tp=77, fn=23, fp=77, tn=23)
C = Counts(tp=24, fn=76, fp=88, tn=12)
PHI = Counts(tp=40, fn=10, fp=10, tn=40)
PSI = Counts(tp=30, fn=20, fp=5, tn=45)
TWENTY = curve(tally([c == "+" for c in "+++-+--+---+--------"], np.arange(20, 0, -1) / 20, positive=True))


def test_scores_below_the_diagonal_are_reversed_on_request() -> None:
    back = C.reverse_decisions()
    assert (back.tp, back.fn, back.fp, back.tn) == (76, 24, 12, 88)
    assert (measure.fpr(back), measure.sensitivity(back), measure.accuracy(back)) == near((0.12, 0.76, 0.82))
    (offer,) = decide.roc_convex_hull({"A": A, "B": B, "C": C}).reversible
    assert offer.classifier == "C"
    assert (offer.fpr, offer.tpr) == near((0.12, 0.76))
    assert [offer.auc, offer.reversed_auc] == near([0.18, 0.82])


def test_three_labelling_classifiers() -> None:
    result = decide.roc_convex_hull({"A": A, "B": B, "C": C})
    assert [(each.classifier, each.fpr, each.tpr) for each in result.vertices] == [
        ("none", 0, 0),
        ("A", 0.28, 0.63),
        ("all", 1, 1),
    ]
    assert result.never_optimal == ("B", "C")
    assert result.auc == near(0.675)
    turned = decide.roc_convex_hull({"A": A, "B": B, "C": C}, reverse=True)
    assert [(each.classifier, each.reversed) for each in turned.vertices] == [
        ("none", False),
        ("C", True),
        ("all", False),
    ]
    assert turned.never_optimal == ("A", "B")
    assert [each.slope_to for each in turned.vertices] == near([76 / 12, 24 / 88, 0])


def test_accuracy_and_cost_prefer_other_classifiers_of_two_on_the_hull() -> None:
    result = decide.roc_convex_hull({"phi": PHI, "psi": PSI})
    assert [each.classifier for each in result.vertices] == ["none", "psi", "phi", "all"]
    assert [each.slope_to for each in result.vertices] == near([6, 2, 0.25, 0])
    dear_alarms = Costs(fn=1, fp=10)
    phi, psi = result.vertices[2], result.vertices[1]
    assert phi.cost(dear_alarms, 0.5) == near(1.1)
    assert psi.cost(dear_alarms, 0.5) == near(0.7)
    assert result.at(Costs(), 0.5).classifier == "phi"
    # Of both, the slides prefer Ψ at these costs; to flag nobody is cheaper still.
    assert result.at(dear_alarms, 0.5).classifier == "none"
    assert result.vertices[0].cost(dear_alarms, 0.5) == near(0.5)


def test_twenty_cases() -> None:
    assert measure.auc(TWENTY) == near(74 / 84)
    result = decide.roc_convex_hull({"score": TWENTY})
    assert [each.threshold for each in result.vertices[1:-1]] == near([0.9, 0.8, 0.65, 0.45])
    assert [(each.fpr, each.tpr) for each in result.vertices] == [
        near(point) for point in [(0, 0), (0, 3 / 6), (1 / 14, 4 / 6), (3 / 14, 5 / 6), (6 / 14, 1), (1, 1)]
    ]
    assert [each.slope_to for each in result.vertices] == near([np.inf, 14 / 6, 14 / 12, 14 / 18, 0, 0])
    half = result.mixture(fpr=1 / 7)
    assert (half.strict.threshold, half.lax.threshold, half.chance, half.tpr) == near((0.8, 0.65, 0.5, 0.75))


def test_infection_costs_imply_a_threshold_of_one_sixth() -> None:
    # 2000 of a false alarm against 37 000 − 27 000 of a miss.
    costs = CostMatrix([[27_000, 37_000], [2_000, 0]], ["infected", "well"])
    p = np.array([0.16, 1 / 6, 0.17])
    result = decide.least_cost(np.column_stack([p, 1 - p]), costs)
    assert result.to_labels() == ["well", "infected", "infected"]
    assert result.cost[0] == near(0.16 * 37_000)


# Three markers of patients, and peers.


@pytest.fixture(scope="module")
def patients(columns: Callable[[str], dict[str, list[str]]]) -> Rows:
    table = columns("aSAH.csv")
    score = {name: np.array(table[name], dtype=float) for name in ("wfns", "ndka", "s100b")}
    return Rows(truth=np.array(table["outcome"]) == "Poor", score=score)


def test_the_front_of_three_markers_is_the_hull_of_all_their_points(patients: Rows) -> None:
    from scipy.spatial import ConvexHull

    curves = {name: curve(tally(patients.truth, score, positive=True)) for name, score in patients.score.items()}
    result = decide.roc_convex_hull(curves)
    points = np.concatenate(
        [np.column_stack([measure.fpr(c.counts), measure.sensitivity(c.counts)]) for c in curves.values()]
    )
    # With a corner far below, the hull of everything is the front and that corner.
    corner = np.array([[2.0, -1.0]])
    everything = np.unique(np.concatenate([points, corner]), axis=0)
    corners = everything[ConvexHull(everything).vertices]
    wanted = sorted((x, y) for x, y in corners.tolist() if x <= 1)
    assert [(each.fpr, each.tpr) for each in result.vertices] == [near(point) for point in wanted]
    assert [each.classifier for each in result.vertices] == ["none", "s100b", "wfns", "wfns", "wfns", "ndka", "all"]
    assert result.auc > max(measure.auc(each) for each in curves.values())


@pytest.mark.parametrize("names", [("s100b", "wfns"), ("wfns", "ndka"), ("s100b", "ndka")])
def test_no_other_direction_ranks_better(patients: Rows, names: tuple[str, str]) -> None:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    result = decide.combine_scores(patients, names)
    both = np.column_stack([patients.score[name] for name in names])
    assert result.auc == near(roc_auc_score(patients.truth, result.score(*both.T)))
    for model in (LogisticRegression(C=1e6, max_iter=10_000), LinearDiscriminantAnalysis()):
        fitted = model.fit(both, patients.truth).decision_function(both)
        assert roc_auc_score(patients.truth, fitted) <= result.auc
    unit = both / both.std(axis=0)
    apart = (unit[patients.truth][:, None] - unit[~patients.truth][None, :]).reshape(-1, 2)
    angles = np.linspace(0, 2 * np.pi, 2_000)
    signs = np.sign(apart @ np.array([np.cos(angles), np.sin(angles)]))
    best = (1 + signs.mean(axis=0)).max() / 2
    assert result.auc - 0.01 < best <= result.auc + 1e-12
