"""`confusionMatrix` of caret 6.0.93: overall statistics and statistics by class."""

import pytest

from baserate import Confusion, Counts, infer, measure
from baserate.measure import multiclass

TABLE = Counts(tp=231, fp=32, fn=27, tn=54)

OVERALL = {  # of factors with 231, 32, 27 and 54 rows
    "accuracy": 0.8284883720930232842,
    "kappa": 0.5335968379446640597,
    "no_information_rate": 0.75,  # AccuracyNull
}
BY_CLASS = {
    "sensitivity": 0.8953488372093024,
    "specificity": 0.6279069767441861,
    "precision": 0.8783269961977187,  # Pos Pred Value
    "npv": 0.6666666666666667,  # Neg Pred Value
    "f1": 0.8867562380038386,
    "prevalence": 0.75,
    "flag_rate": 0.7645348837209303,  # Detection Prevalence
    "balanced_accuracy": 0.7616279069767442,
}


@pytest.mark.parametrize("name", [*OVERALL, *BY_CLASS])
def test_measures(name: str) -> None:
    assert measure.MEASURES[name](TABLE) == pytest.approx((OVERALL | BY_CLASS)[name], rel=1e-12)


def test_the_detection_rate_is_a_share_of_all_rows() -> None:
    """ "Detection rate" names the sensitivity in baserate; caret means true positives of all rows."""
    rate = measure.sensitivity(TABLE) * measure.prevalence(TABLE)
    assert rate == pytest.approx(0.6715116279069767, rel=1e-12)


def test_the_interval_of_the_accuracy_is_exact() -> None:
    result = infer.estimate("accuracy", TABLE, method="clopper-pearson")
    assert (result.low, result.high) == pytest.approx((0.7844134379854990069, 0.8667985207098289901), rel=1e-9)


@pytest.mark.parametrize(
    ("cells", "rate", "p"),
    [
        ([[231, 27], [32, 54]], 0.75, 0.0003096983340368703),
        ([[183, 13], [141, 663]], 0.804, 3.423862961435678e-04),  # also PyCM: 0.000342386296143693
        ([[50, 8, 1], [3, 30, 4], [2, 6, 40]], 0.4097222222222222, 1.563529103002196e-25),
        ([[10, 8], [12, 20]], 0.64, 0.7710871977139522),
    ],
)
def test_accuracy_against_the_no_information_rate(cells: list[list[int]], rate: float, p: float) -> None:
    table = Confusion.of_matrix(cells, truth="rows")
    assert multiclass.no_information_rate(table) == pytest.approx(rate, rel=1e-12)
    assert infer.no_information_test(table, method="exact").p == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize(
    ("cells", "p"),
    [
        ([[231, 27], [32, 54]], 0.6025370061053141324),
        ([[183, 13], [141, 663]], 1.396999621137875e-24),
        ([[10, 8], [12, 20]], 0.5023349543605021),
    ],
)
def test_mcnemar(cells: list[list[int]], p: float) -> None:
    table = Confusion.of_matrix(cells, truth="rows")
    assert infer.symmetry_test(table, method="mcnemar-corrected").p == pytest.approx(p, rel=1e-9)


def test_bowker() -> None:
    table = Confusion.of_matrix([[50, 8, 1], [3, 30, 4], [2, 6, 40]], truth="rows")
    test = infer.symmetry_test(table)
    assert test.p == pytest.approx(0.3906916935764642, rel=1e-9)
    assert test.freedom == 3
