"""Intervals of measures of a K×K table by the delta method."""

from functools import partial
from math import sqrt

import numpy as np
import pytest

from baserate import Confusion, confusion, infer
from baserate.infer import _binomial, _confusion_intervals
from baserate.measure import Measure, describe, multiclass
from baserate.measure.multiclass import average_over_classes

LABELS = ("a", "b", "c")
CELLS = np.array([[530.0, 60, 10], [70, 300, 30], [20, 40, 140]])
TABLE = Confusion(CELLS, LABELS)


def half_width(measure: Measure | str, table: Confusion) -> float:
    found = infer.estimate(measure, table)
    assert found.how == _confusion_intervals.DELTA_METHOD
    return (found.high - found.low) / 2


def test_kappa_has_the_variance_of_fleiss_cohen_and_everitt() -> None:
    p = CELLS / CELLS.sum()
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    observed, chance = np.trace(p), float(rows @ columns)
    kappa = (observed - chance) / (1 - chance)
    right = sum(p[k, k] * (1 - (rows[k] + columns[k]) * (1 - kappa)) ** 2 for k in range(3))
    wrong = sum(p[j, k] * (columns[j] + rows[k]) ** 2 for j in range(3) for k in range(3) if j != k)
    spread = right + (1 - kappa) ** 2 * wrong - (kappa - chance * (1 - kappa)) ** 2
    error = sqrt(spread / CELLS.sum()) / (1 - chance)
    assert half_width("kappa", TABLE) == pytest.approx(1.96 * error, rel=0.02)


def test_balanced_accuracy_has_the_variance_of_independent_shares() -> None:
    support = CELLS.sum(axis=1)
    shares = np.diag(CELLS) / support
    error = sqrt(float(np.sum(shares * (1 - shares) / support))) / 3
    assert half_width("balanced_accuracy", TABLE) == pytest.approx(1.96 * error, rel=0.02)


def test_a_share_has_about_wilsons_interval() -> None:
    found = infer.estimate(average_over_classes("f1", "micro"), TABLE)  # which is accuracy
    low, high = _binomial.wilson(970.0, 230.0, 0.95)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.002)


@pytest.mark.parametrize("name", ["kappa", "mcc", "balanced_accuracy", "cramers_v"])
def test_tables_without_errors_have_intervals_of_positive_width(name: str) -> None:
    found = infer.estimate(name, Confusion(np.diag([60.0, 70.0, 20.0]), LABELS))
    assert found.value == found.high == 1
    # Of 150 rows none is wrong, so that few of a hundred are; of the smallest class, fewer than a fifth.
    assert 0.85 < found.low < 0.985


def test_a_rare_class_without_errors_adds_to_the_variance() -> None:
    sure = Confusion(np.array([[90.0, 10, 0], [10, 90, 0], [0, 0, 12]]), LABELS)
    shares = np.array([0.9, 0.9])
    others = 1.96 * sqrt(float(np.sum(shares * (1 - shares) / 100))) / 3
    assert half_width("balanced_accuracy", sure) > 1.2 * others


@pytest.mark.parametrize("name", ["kappa", "mutual_information", "mcc"])
def test_laws(name: str) -> None:
    rng = np.random.default_rng(0)
    truth = rng.choice(3, 200, p=[0.5, 0.4, 0.1])
    decided = np.where(rng.random(200) < 0.7, truth, rng.integers(0, 3, 200))
    weight = rng.random(200) + 0.5
    table = confusion(truth, decided, weight=weight)
    found = infer.estimate(name, table)
    assert found.low < found.value < found.high
    scaled = infer.estimate(name, confusion(truth, decided, weight=32 * weight))
    assert (scaled.low, scaled.high) == pytest.approx((found.low, found.high), rel=1e-9)
    inner = infer.estimate(name, table, level=0.6)
    assert found.low < inner.low < inner.high < found.high
    # Rows of unequal weight are less sure than as many of equal weight.
    uneven = infer.estimate(name, confusion(truth, decided, weight=weight**6))
    assert uneven.high - uneven.low > found.high - found.low
    assert infer.estimate(name, table, seed=7).low == found.low


def test_bias_of_information_is_millers() -> None:
    cells = np.random.default_rng(1).integers(20, 60, (4, 4)).astype(np.float64)
    near = _confusion_intervals._expand(multiclass.mutual_information, cells, tuple("abcd"))  # noqa: SLF001
    bias = float(np.sum(cells * near.second)) / 2
    # Miller's (K − 1)²/2n, to which terms of higher order come where truth and decision are not independent.
    assert bias == pytest.approx((4 - 1) ** 2 / (2 * cells.sum()), rel=0.02)


def test_mutual_information_of_a_rare_class_covers() -> None:
    chances = 0.35 * np.eye(6) + 0.65 / 6
    shares = np.array([0.25, 0.22, 0.2, 0.15, 0.1, 0.08])
    joint = shares[:, None] * chances / chances.sum(axis=1, keepdims=True)
    truth = float(multiclass.mutual_information(Confusion(joint, tuple("abcdef"))))
    tables = np.random.default_rng(2).multinomial(150, joint.ravel(), size=200).reshape(-1, 6, 6)
    found = [infer.estimate("mutual_information", Confusion(each.astype(float), tuple("abcdef"))) for each in tables]
    assert np.mean([each.low <= truth <= each.high for each in found]) > 0.88


def test_macro_f1_of_a_rare_class_covers() -> None:
    joint = np.array(
        [[0.34, 0.04, 0.02, 0.0], [0.04, 0.25, 0.03, 0.0], [0.03, 0.03, 0.13, 0.01], [0.01, 0.01, 0.02, 0.04]]
    )
    macro = average_over_classes("f1", "macro")
    truth = float(macro(Confusion(joint, tuple("abcd"))))
    tables = np.random.default_rng(3).multinomial(150, joint.ravel(), size=400).reshape(-1, 4, 4)
    found = [infer.estimate(macro, Confusion(each.astype(float), tuple("abcd"))) for each in tables]
    assert np.mean([each.low <= truth <= each.high for each in found]) > 0.93


def test_measures_with_a_lower_limit_stay_above_it() -> None:
    ratio = average_over_classes("positive_likelihood_ratio", "macro")
    found = infer.estimate(ratio, TABLE)
    assert describe(ratio).span == (0, np.inf)
    assert 0 < found.low < found.value < found.high
    # Symmetric on the scale of logarithms.
    assert found.high / found.value == pytest.approx(found.value / found.low)


def test_costs_have_symmetric_intervals() -> None:
    from baserate import CostMatrix

    costs = CostMatrix(np.array([[0.0, 1, 5], [2, 0, 1], [9, 3, 0]]), LABELS)
    found = infer.estimate(partial(multiclass.expected_cost, costs=costs), TABLE)
    assert found.high - found.value == pytest.approx(found.value - found.low)
    prices = np.repeat([0.0, 1, 5, 2, 0, 1, 9, 3, 0], CELLS.ravel().astype(int))
    assert found.value == pytest.approx(prices.mean())
    assert found.high - found.value == pytest.approx(1.96 * prices.std() / sqrt(1200), rel=0.03)


def test_very_many_classes_and_undefined_derivatives_are_simulated() -> None:
    many = _confusion_intervals.MOST_CLASSES + 1
    wide = Confusion(np.eye(many) * 9 + 1, tuple(range(many)))
    assert "Dirichlet" in str(infer.estimate("kappa", wide).how)
    lonely = Confusion(np.diag([9.0, 0.0, 0.0]), LABELS)
    found = infer.estimate("balanced_accuracy", lonely)
    assert found.low <= found.value <= found.high


def test_influence_is_the_name_of_the_usual_method() -> None:
    assert infer.methods("kappa", TABLE)[0] == "influence"
    usual, named = infer.estimate("kappa", TABLE), infer.estimate("kappa", TABLE, method="influence")
    assert (usual.low, usual.high) == (named.low, named.high)
    drawn = infer.estimate("kappa", TABLE, method="draws")
    assert (drawn.low, drawn.high) == pytest.approx((usual.low, usual.high), abs=0.005)
