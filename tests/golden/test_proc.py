"""pROC's aSAH data: areas, partial areas and every coordinate of a ROC curve, as its own tests expect them."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from baserate import Counts, Curve, curve, measure, tally

Floats = npt.NDArray[np.float64]
Columns = Callable[[str], dict[str, list[str]]]

near = partial(pytest.approx, rel=0, abs=1e-12)
same = partial(np.testing.assert_allclose, rtol=0, atol=1e-12)

COORDINATES = "pROC_aSAH_s100b_coords_expected.csv"


@pytest.fixture(scope="module")
def curves(columns: Columns) -> dict[str, Curve]:
    """Three markers for a poor outcome; all grow with it (pROC's direction "<")."""
    rows = columns("aSAH.csv")
    markers = {name: np.array(rows[name], dtype=float) for name in ("wfns", "ndka", "s100b")}
    return {name: curve(tally(rows["outcome"], marker, positive="Poor")) for name, marker in markers.items()}


@pytest.fixture(scope="module")
def facts(load_published: Callable[[str], Any]) -> dict[str, Any]:
    entries = load_published("pROC_aSAH_reference.json")
    assert isinstance(entries, dict)
    return entries


def test_numbers_of_patients(curves: dict[str, Curve]) -> None:
    assert {(c.positives, c.negatives) for c in curves.values()} == {(41, 72)}


@pytest.mark.parametrize(
    ("marker", "key", "digits"),
    [
        ("wfns", "wfns", 1e-12),
        ("ndka", "ndka", 1e-12),
        ("s100b", "s100b_recomputed", 1e-12),
        ("s100b", "s100b_printed", 5e-5),
    ],
)
def test_auc(curves: dict[str, Curve], facts: dict[str, Any], marker: str, key: str, digits: float) -> None:
    assert measure.auc(curves[marker]) == pytest.approx(facts["auc"][key], rel=0, abs=digits)


FOCI, SPANS = ("spec", "sens"), ("1-0.9", "0.9-0.8", "0.5-0")
PARTIAL = [
    *product(FOCI, ("wfns", "ndka"), SPANS),
    *product(("spec",), ("wfns", "ndka", "s100b"), ("0.9-0.99",)),
    ("sens", "s100b", "0.9-0.99"),
]
"""Focus, marker and interval of each partial area."""


def area(c: Curve, focus: str, span: str, *, standardized: bool = False) -> float:
    """Partial area over specificities or sensitivities, given as pROC writes them."""
    low, high = sorted(map(float, span.split("-")))
    if focus == "sens":
        return measure.partial_auc(c, tpr=(low, high), standardized=standardized)
    return measure.partial_auc(c, fpr=(1 - high, 1 - low), standardized=standardized)


@pytest.mark.parametrize(("focus", "marker", "span"), PARTIAL)
def test_partial_auc(curves: dict[str, Curve], facts: dict[str, Any], focus: str, marker: str, span: str) -> None:
    # Areas between .9 and .99 are published with five digits.
    digits = 5e-6 if span == "0.9-0.99" else 1e-12
    expected = facts[f"partial_auc_{focus}"][marker][span]
    assert area(curves[marker], focus, span) == pytest.approx(expected, rel=0, abs=digits)


BELOW_CHANCE = ("sens", "ndka", "1-0.9")
STANDARDIZED = [case for case in PARTIAL if case[2] != "0.9-0.99" and case != BELOW_CHANCE]


@pytest.mark.parametrize(("focus", "marker", "span"), STANDARDIZED)
def test_standardized_partial_auc(
    curves: dict[str, Curve], facts: dict[str, Any], focus: str, marker: str, span: str
) -> None:
    expected = facts[f"partial_auc_{focus}_mcclish"][marker][span]
    assert area(curves[marker], focus, span, standardized=True) == near(expected)


def test_a_partial_area_below_chance_is_below_one_half(curves: dict[str, Curve], facts: dict[str, Any]) -> None:
    focus, marker, span = BELOW_CHANCE
    assert str(facts[f"partial_auc_{focus}_mcclish"][marker][span]).startswith("NA")
    # pROC answers NA; McClish's formula has a value there, which says that the curve is worse than chance.
    raw, chance = area(curves[marker], focus, span), 0.1**2 / 2
    assert raw == near(0.0037940379403794)
    assert area(curves[marker], focus, span, standardized=True) == near((1 + (raw - chance) / (0.1 - chance)) / 2)
    assert area(curves[marker], focus, span, standardized=True) < 0.5


def test_every_published_partial_area_is_tested(facts: dict[str, Any]) -> None:
    def cases(ending: str) -> set[tuple[str, str, str]]:
        keys = {focus: facts[f"partial_auc_{focus}{ending}"] for focus in FOCI}
        return {(focus, marker, span) for focus in keys for marker in keys[focus] for span in keys[focus][marker]}

    assert cases("") == set(PARTIAL)
    assert cases("_mcclish") == {*STANDARDIZED, BELOW_CHANCE}


def youden_without_the_one(c: Counts[Floats]) -> Floats:
    """Sensitivity plus specificity: what pROC calls youden when both weigh the same."""
    return measure.youden(c) + 1


def squared_distance(c: Counts[Floats]) -> Floats:
    """Of the ROC point from (0, 1): pROC leaves out the root."""
    return measure.fnr(c) ** 2 + measure.fpr(c) ** 2


COORDINATE: dict[str, Callable[[Counts[Floats]], Any]] = {
    "specificity": measure.specificity,
    "sensitivity": measure.sensitivity,
    "accuracy": measure.accuracy,
    "tn": lambda c: c.tn,
    "tp": lambda c: c.tp,
    "fn": lambda c: c.fn,
    "fp": lambda c: c.fp,
    "npv": measure.npv,
    "ppv": measure.precision,
    "fdr": measure.fdr,
    "fpr": measure.fpr,
    "tpr": measure.find_measure("tpr"),
    "tnr": measure.find_measure("tnr"),
    "fnr": measure.fnr,
    "1-specificity": measure.fpr,
    "1-sensitivity": measure.fnr,
    "1-accuracy": measure.error_rate,
    "1-npv": measure.false_omission_rate,
    "1-ppv": measure.fdr,
    "precision": measure.precision,
    "recall": measure.find_measure("recall"),
    "lr_pos": measure.positive_likelihood_ratio,
    "lr_neg": measure.negative_likelihood_ratio,
    "youden": youden_without_the_one,
    "closest.topleft": squared_distance,
}


@pytest.fixture(scope="module")
def coordinates(columns: Columns) -> dict[str, Floats]:
    """The table of 51 thresholds and 26 columns; what pROC leaves undefined is empty."""
    return {
        title: np.array([cell or "nan" for cell in column], dtype=float)
        for title, column in columns(COORDINATES).items()
    }


def test_thresholds_lie_midway_between_scores(curves: dict[str, Curve], coordinates: dict[str, Floats]) -> None:
    assert coordinates.keys() == {"threshold"} | COORDINATE.keys()
    score = curves["s100b"].tally.score[::-1]
    # No threshold is a score, so that > and ≥ flag the same.
    same(coordinates["threshold"], [-np.inf, *(score[1:] + score[:-1]) / 2, np.inf])
    assert len(coordinates["threshold"]) == 51


@pytest.mark.parametrize("name", COORDINATE)
def test_coordinates(curves: dict[str, Curve], coordinates: dict[str, Floats], name: str) -> None:
    ours = COORDINATE[name](curves["s100b"].at(coordinates["threshold"]))
    assert np.shape(ours) == (51,)
    same(ours, coordinates[name])


def test_the_curve_contains_all_published_coordinates(curves: dict[str, Curve], coordinates: dict[str, Floats]) -> None:
    # Strictest first, at scores instead of midpoints.
    roc = measure.table(curves["s100b"], "fpr", "sensitivity")
    same(roc["fpr"][::-1], coordinates["fpr"])
    same(roc["sensitivity"][::-1], coordinates["sensitivity"])


def test_coordinates_at_the_published_best_threshold(curves: dict[str, Curve], facts: dict[str, Any]) -> None:
    best = facts["coords"]["s100b_best_youden"]
    c = curves["s100b"].at(best["threshold"])
    assert (c.tp, c.fp, c.tn, c.fn) == (best["tp"], best["fp"], best["tn"], best["fn"]) == (26, 14, 58, 15)
    # The same decisions, told by a score that occurs.
    assert curves["s100b"].at(0.22).tp == 26
    assert measure.youden(c) == near(measure.ks(curves["s100b"]))


def test_specificity_at_given_sensitivities(curves: dict[str, Curve], facts: dict[str, Any]) -> None:
    # pROC joins the points of the curve with lines, and where it rises straight up takes the better end.
    roc = measure.table(curves["s100b"], "roc")
    wanted = np.arange(11) / 10
    specificity = 1 + np.interp(-wanted, -roc["sensitivity"][::-1], -roc["fpr"][::-1])
    same(specificity, facts["coords"]["s100b_spec_at_sens_0..1_step.1"])
    sensitivity = np.interp(1 - wanted, roc["fpr"], roc["sensitivity"])
    same(sensitivity, facts["coords"]["s100b_sens_at_spec_0..1_step.1"])


def test_nearly_equal_scores_are_not_ties(facts: dict[str, Any]) -> None:
    # Three scores differ only in their last bit; midpoints between them would collide.
    case = facts["near_tie_case"]
    c = curve(tally(case["response"], np.array(case["predictor"], dtype=float), positive=2))
    assert np.count_nonzero(np.abs(c.tally.score - 0.653549466997938588442) < 1e-15) == 3
    assert measure.auc(c) == near(case["auc"])


@pytest.mark.parametrize(
    ("marker", "expected"),
    # direction "<" and ">" and "auto" of pROC 1.18.0, whose levels are 1, 3, 4 and 5.
    [("s100b", (0.348747317497, 0.651252682503, 0.65399993525)), ("ndka", (0.416324416324, 0.583675583676, None))],
)
def test_one_score_of_several_classes(
    columns: Columns, facts: dict[str, Any], marker: str, expected: tuple[float, float, float | None]
) -> None:
    rows = columns("aSAH.csv")
    truth, score, labels = rows["gos6"], np.array(rows[marker], dtype=float), ["1", "3", "4", "5"]
    rising, falling, auto = expected
    assert measure.multiclass.ordinal_auc(truth, score, labels=labels) == near(rising)
    assert measure.multiclass.ordinal_auc(truth, score, labels=labels[::-1]) == near(falling)
    if auto is not None:
        # pROC flips each pair by its medians, here always to the greater area. Without any association the mean of the
        # greater ones is above one half, so that there is no measure of it here.
        pairs = measure.multiclass.pairwise_ordinal_auc(truth, score, labels=labels)[np.triu_indices(4, 1)]
        assert np.mean(np.maximum(pairs, 1 - pairs)) == near(auto)
        published = facts["multiclass_gos6"][marker]
        assert rising == pytest.approx(published["direction<"], abs=1e-10)
        assert auto == pytest.approx(published["auto"], abs=1e-10)
