"""Saito and Rehmsmeier's five levels of early retrieval, balanced (1 : 1) and imbalanced (1 : 10)."""

from math import atan, erf, log, sqrt

import numpy as np
import pytest

from baserate import measure, population
from baserate.population import LEVELS

AUC = {"random": 0.5, "ER-": 0.8, "ER+": 0.8, "excellent": (1 + erf(3 / 2)) / 2, "perfect": 1.0}
"""Φ(3/√2) = (1 + erf(3/2)) / 2."""


@pytest.mark.parametrize("level", LEVELS)
def test_aucs(level: str) -> None:
    assert population.retrieval(level).auc == pytest.approx(AUC[level], rel=0, abs=1e-15)


@pytest.mark.parametrize("level", LEVELS)
def test_the_roc_curve_does_not_depend_on_the_balance(level: str) -> None:
    balanced = population.retrieval(level)
    imbalanced = balanced.at_prevalence(1 / 11)
    at = population.default_thresholds(balanced, points=201)
    curves = [population.table(each, "roc", thresholds=at).columns for each in (balanced, imbalanced)]
    for name in ("fpr", "sensitivity"):
        np.testing.assert_allclose(curves[0][name], curves[1][name], rtol=1e-15, atol=0)
    assert balanced.auc == imbalanced.auc


@pytest.mark.parametrize("level", ["random", "ER-", "ER+", "excellent"])
def test_the_precision_recall_curve_depends_on_the_balance(level: str) -> None:
    balanced = population.retrieval(level)
    imbalanced = balanced.at_prevalence(1 / 11)
    at = population.default_thresholds(balanced, points=201)[10:-1]
    high, low = (measure.precision(each.at(at)) for each in (balanced, imbalanced))
    # Precision at prevalence 1/11 follows from that at 1/2 through the likelihood ratio of a flag.
    np.testing.assert_allclose(low, high / (high + 10 * (1 - high)), rtol=1e-12)
    assert np.max(high - low) > 0.3
    assert balanced.average_precision > imbalanced.average_precision + 0.04


@pytest.mark.parametrize("share", [1 / 2, 1 / 11, 1e-4])
def test_average_precision_of_good_early_retrieval(share: float) -> None:
    # TPR u, FPR u⁴: ∫ du / (1 + (cu)³) from 0 to 1, with c³ = (1 − π)/π.
    c = ((1 - share) / share) ** (1 / 3)
    parts = log(1 + c) / 3 - log(c**2 - c + 1) / 6 + (atan((2 * c - 1) / sqrt(3)) + atan(1 / sqrt(3))) / sqrt(3)
    assert population.retrieval("ER+", prevalence=share).average_precision == pytest.approx(parts / c, rel=1e-13)


def test_only_a_perfect_ranking_keeps_its_precision() -> None:
    for share in (1 / 2, 1 / 11, 1e-4):
        assert population.retrieval("perfect", prevalence=share).average_precision == 1


@pytest.mark.parametrize("share", [1 / 2, 1 / 11, 1e-4])
def test_a_random_ranking_has_the_precision_of_chance(share: float) -> None:
    assert population.retrieval("random", prevalence=share).average_precision == pytest.approx(share, rel=1e-13)


def test_equal_aucs_differ_in_early_retrieval() -> None:
    poor, good = (population.retrieval(level, prevalence=1 / 11) for level in ("ER-", "ER+"))
    assert poor.auc == pytest.approx(good.auc, rel=0, abs=1e-15)
    assert good.average_precision > poor.average_precision + 0.2
    # Where 1% of the negatives are flagged, one finds eight times as many positives as the other.
    result = [actual.tpr(population.find_thresholds(actual, "fpr", 0.01)[0]) for actual in (poor, good)]
    assert result == pytest.approx([1 - 0.99**4, 0.01 ** (1 / 4)], rel=1e-12)


@pytest.mark.parametrize(
    ("spelling", "level"),
    {
        "er+": "ER+",
        " ER- ": "ER-",
        "ER−": "ER-",
        "Poor early retrieval": "ER-",
        "good_early_retrieval": "ER+",
        "EXCELLENT": "excellent",
    }.items(),
)
def test_spellings_of_the_levels(spelling: str, level: str) -> None:
    assert population.retrieval(spelling) == population.retrieval(level)
