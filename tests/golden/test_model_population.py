"""A population in closed form: scores of class 0 have density 2 − 2x, those of class 1 density 2x, on [0, 1].

Flagged are scores above t. A density has no mass at t, so > and ≥ are the same here.
"""

from functools import partial
from math import isnan, log, sqrt
from typing import Any

import numpy as np
import pytest

from baserate import Costs, Counts, Curve, Population, curve, measure, population, tally

same = partial(np.testing.assert_allclose, rtol=0, atol=1e-12)

T = np.linspace(0, 1, 1001)[1:-1]
"""Thresholds, without the ends, where some margin is empty."""


def make_population(odds: float) -> Population:
    """That many of class 1 for each of class 0."""
    return population.linear(prevalence=odds / (1 + odds))


def at(t: Any, *, odds: float = 1) -> Counts[Any]:  # noqa: ANN401  (a threshold, or many)
    return make_population(odds).at(t)


def dense_tally(cells: int, *, odds: float = 1) -> Curve:
    """The population cut into intervals of equal width."""
    edges = np.linspace(0, 1, cells + 1)
    positive, negative = odds * np.diff(edges**2), np.diff(1 - (1 - edges) ** 2)
    truth = np.repeat([True, False], cells)
    return curve(tally(truth, np.tile(edges[:-1], 2), weight=np.concatenate([positive, negative])))


BALANCED = {
    "sensitivity": 1 - T**2,
    "fpr": (1 - T) ** 2,
    "precision": (1 + T) / 2,
    "f1": (1 - T**2) / (1.5 - T),
    "mcc": np.sqrt(T * (1 - T)),
    "accuracy": (1 + 2 * T - 2 * T**2) / 2,
    "balanced_accuracy": (1 + 2 * T - 2 * T**2) / 2,
    "kappa": 2 * T * (1 - T),
    "youden": 2 * T * (1 - T),
    "prevalence": np.full_like(T, 1 / 2),
    "flag_rate": 1 - T,
}

TWICE_AS_FREQUENT = {
    "sensitivity": 1 - T**2,
    "fpr": (1 - T) ** 2,
    "precision": 2 * (1 + T) / (3 + T),
    "f1": 4 * (1 - T**2) / (5 - 2 * T - T**2),
    "mcc": np.sqrt(8 * T * (1 - T) / ((2 + T) * (3 + T))),
    "accuracy": (2 + 2 * T - 3 * T**2) / 3,
    "balanced_accuracy": (1 + 2 * T - 2 * T**2) / 2,
    "kappa": 8 * T * (1 - T) / (3 + 2 * T + T**2),
    "youden": 2 * T * (1 - T),
    "prevalence": np.full_like(T, 2 / 3),
    "flag_rate": (1 - T) * (3 + T) / 3,
}


@pytest.mark.parametrize("name", BALANCED)
def test_formulas_where_classes_are_equally_frequent(name: str) -> None:
    same(measure.find_measure(name)(at(T)), BALANCED[name])


@pytest.mark.parametrize("name", TWICE_AS_FREQUENT)
def test_formulas_where_class_1_is_twice_as_frequent(name: str) -> None:
    same(measure.find_measure(name)(at(T, odds=2)), TWICE_AS_FREQUENT[name])


BEST = [
    ("f1", 1, (3 - sqrt(5)) / 2, 3 - sqrt(5)),
    ("mcc", 1, 1 / 2, 1 / 2),
    ("balanced_accuracy", 1, 1 / 2, 3 / 4),
    ("accuracy", 1, 1 / 2, 3 / 4),
    ("kappa", 1, 1 / 2, 1 / 2),
    ("youden", 1, 1 / 2, 1 / 2),
    ("f1", 2, 2 - sqrt(3), 2 - 2 / sqrt(3)),
    ("mcc", 2, sqrt(2) - 1, 6 * sqrt(2) - 8),
    ("kappa", 2, sqrt(2) - 1, 6 * sqrt(2) - 8),
    ("accuracy", 2, 1 / 3, 7 / 9),
    ("balanced_accuracy", 2, 1 / 2, 3 / 4),
]


@pytest.mark.parametrize(("name", "odds", "t", "value"), BEST)
def test_largest_values_of_measures(name: str, odds: float, t: float, value: float) -> None:
    result = population.best_threshold(make_population(odds), name)
    assert result.threshold == pytest.approx(t, rel=0, abs=1e-14)
    assert result.value == pytest.approx(value, rel=0, abs=2e-15)
    assert (result.attained, result.at_end) == (True, False)
    function = measure.find_measure(name)
    assert function(result.counts) == result.value
    assert np.max(function(at(T, odds=odds))) <= value + 1e-15


def test_largest_values_as_printed() -> None:
    assert population.best_threshold(make_population(2), "f1").value == pytest.approx(0.8452995, rel=0, abs=5e-8)
    assert population.best_threshold(make_population(2), "mcc").value == pytest.approx(0.4852814, rel=0, abs=5e-8)


def test_only_balanced_accuracy_keeps_its_shape() -> None:
    for name in ("precision", "f1", "mcc", "accuracy", "kappa"):
        function = measure.find_measure(name)
        assert np.max(np.abs(function(at(T, odds=2)) - function(at(T)))) > 0.01
    same(measure.balanced_accuracy(at(T, odds=2)), measure.balanced_accuracy(at(T)))


CUT_OFFS = {
    "closest to (0, 1)": lambda c: (1 - measure.sensitivity(c)) ** 2 + measure.fpr(c) ** 2,
    "closest, by another way to write it": lambda c: np.hypot(1 - measure.sensitivity(c), measure.fpr(c)),
    "sensitivity nearest to specificity": lambda c: np.abs(measure.sensitivity(c) - measure.specificity(c)),
}


@pytest.mark.slow
@pytest.mark.parametrize("rule", CUT_OFFS)
def test_measures_at_the_middle_threshold(rule: str) -> None:
    for odds in (1, 2):  # none of them depends on it
        result = population.best_threshold(make_population(odds), CUT_OFFS[rule], toward="low")
        assert result.threshold == pytest.approx(1 / 2, rel=0, abs=1e-12)


def test_precision_equals_recall_at_the_middle() -> None:
    assert population.find_thresholds(make_population(1), "precision", "recall") == (0.5,)
    c = at(1 / 2)
    assert measure.precision(c) == measure.sensitivity(c) == 3 / 4


def test_where_specificity_is_nine_tenths() -> None:
    (result,) = population.find_thresholds(make_population(1), "specificity", 0.9)
    assert result == pytest.approx(1 - sqrt(0.1), rel=0, abs=1e-14)
    assert measure.sensitivity(at(result)) == pytest.approx(0.5324555, rel=0, abs=5e-8)


def test_precision_has_no_value_where_nothing_is_flagged() -> None:
    # It tends to 1 as t does, but does not reach it.
    assert isnan(measure.precision(at(1.0)))
    result = population.best_threshold(make_population(1), "precision")
    assert (result.threshold, result.attained, result.at_end) == (1, False, True)
    assert result.value == pytest.approx(1, rel=0, abs=1e-15)


def test_recall_is_best_where_everything_is_flagged() -> None:
    result = population.best_threshold(make_population(1), "recall")
    assert (result.threshold, result.value, result.attained, result.at_end) == (0, 1, True, True)


@pytest.mark.parametrize(("odds", "pr_auc"), [(1, 5 / 6), (2, 24 * log(4 / 3) - 6)])
def test_exact_areas(odds: float, pr_auc: float) -> None:
    result = make_population(odds)
    assert result.auc == pytest.approx(5 / 6, rel=0, abs=1e-15)
    assert result.average_precision == pytest.approx(pr_auc, rel=0, abs=1e-14)
    assert population.exact_value(result, "pr_auc") == result.average_precision
    assert population.exact_value(result, "ks") == pytest.approx(1 / 2, rel=0, abs=1e-15)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.7, 0.95])
def test_average_precision_at_any_prevalence(share: float) -> None:
    # ∫ 2πt(1 + t)/(1 + kt) dt from 0 to 1, with k = 2π − 1.
    k = 2 * share - 1
    exact = 2 * share * (1 / (2 * k) + (k - 1) / k**2 * (1 - log(1 + k) / k))
    assert population.linear(prevalence=share).average_precision == pytest.approx(exact, rel=0, abs=1e-13)


def test_balanced_scores_are_calibrated() -> None:
    same(make_population(1).posterior(T), T)
    same(make_population(2).posterior(T), 2 * T / (1 + T))


@pytest.mark.parametrize("odds", [1 / 9, 1, 4])
def test_a_random_classifier_flags_both_classes_equally(odds: float) -> None:
    # One that flags with odds k stands at (k/(k + 1), k/(k + 1)).
    chance = population.retrieval("random")
    (result,) = population.find_thresholds(chance, "flag_rate", odds / (odds + 1))
    assert chance.fpr(result) == chance.tpr(result) == pytest.approx(odds / (odds + 1), rel=0, abs=1e-15)
    assert chance.auc == 0.5


@pytest.mark.parametrize(("odds", "pr_auc"), [(1, 5 / 6), (2, 24 * log(4 / 3) - 6)])
def test_areas_of_a_dense_tally(odds: float, pr_auc: float) -> None:
    cells = 4000
    c = dense_tally(cells, odds=odds)
    # Chords of this curve lose exactly a third of the squared width.
    assert measure.auc(c) + 1 / (3 * cells**2) == pytest.approx(5 / 6, rel=0, abs=1e-12)
    # The hyperbolas of the PR curve lose less than twice that square.
    assert 0 < pr_auc - measure.pr_auc(c) < 2 / cells**2
    assert c.tally.prevalence == pytest.approx(odds / (1 + odds), rel=0, abs=1e-12)


def test_pr_area_where_class_1_is_twice_as_frequent_as_printed() -> None:
    assert measure.pr_auc(dense_tally(8000, odds=2)) == pytest.approx(0.9043697, rel=0, abs=5e-8)


def test_a_dense_tally_has_the_same_tables() -> None:
    c = dense_tally(1000)
    same(measure.table(c, "fpr")["fpr"][1:-1], (1 - T[::-1]) ** 2)
    same(measure.table(c, "tpr")["sensitivity"][1:-1], 1 - T[::-1] ** 2)
    assert measure.ks(c) == pytest.approx(1 / 2, rel=0, abs=1e-12)


@pytest.mark.parametrize("slope", [1 / 9, 1 / 3, 1, 3, 9])
def test_slope_of_the_curve_is_the_likelihood_ratio(slope: float) -> None:
    # 2t / (2 − 2t) = slope.
    t = slope / (1 + slope)
    assert make_population(1).likelihood_ratio(t) == pytest.approx(slope, rel=1e-14)
    nearby = at(np.array([t - 1e-5, t + 1e-5]))
    rise = np.diff(measure.sensitivity(nearby)) / np.diff(measure.fpr(nearby))
    # The chord of a parabola about its middle has the slope of the tangent, up to rounding of small differences.
    assert rise[0] == pytest.approx(slope, rel=1e-9)
    # So the line of that slope touches there, within one interval.
    assert dense_tally(1000).tangent(slope) == pytest.approx(t, abs=1.001e-3)


@pytest.mark.parametrize("odds", [1 / 4, 1, 2])
@pytest.mark.parametrize("costs", [Costs(), Costs(fn=5), Costs(fp=3, tp=-1)])
def test_the_cost_slope_points_at_the_cheapest_threshold(costs: Costs, odds: float) -> None:
    slope = float(costs.slope(odds / (1 + odds)))
    cheapest = population.least_cost_threshold(make_population(odds), costs)
    assert cheapest.threshold == pytest.approx(slope / (1 + slope), rel=0, abs=1e-14)
    searched = population.best_threshold(make_population(odds), "expected_cost", costs=costs)
    assert searched.threshold == pytest.approx(slope / (1 + slope), rel=0, abs=1e-14)
    assert searched.value == pytest.approx(cheapest.value, rel=1e-14)
    assert cheapest.value <= np.min(measure.expected_cost(at(T, odds=odds), costs=costs)) + 1e-15
