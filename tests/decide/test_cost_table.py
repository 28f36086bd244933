"""Costs per case at a stated prevalence: published examples, laws and errors."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from baserate import (
    Confusion,
    CostMatrix,
    Costs,
    Counts,
    NotBinaryError,
    OptionError,
    ShapeError,
    curve,
    decide,
    infer,
    measure,
    shift,
    tally,
)
from tests.schemas import read_results
from tests.strategies import same

near = partial(pytest.approx, rel=1e-12, abs=1e-12)

M1 = Counts(tp=150, fn=40, fp=60, tn=250)
M2 = Counts(tp=250, fn=45, fp=5, tn=200)
MODELS = {"M1": M1, "M2": M2}
MISSES_COUNT = Costs(tp=-1, fn=100, fp=1, tn=0)
INFECTION = Costs(tp=27_000, fp=2_000, fn=37_000, tn=0)
INFECTED = {"A": Counts(tp=150, fn=170, fp=50, tn=630), "B": Counts(tp=150, fn=20, fp=200, tn=630)}

positive_cost = st.floats(0.1, 100)
share = st.floats(0.01, 0.99)


def test_models_at_different_prevalences_raise() -> None:
    with pytest.raises(
        OptionError, match=r"different prevalences \(M1: 0.38; M2: 0.59\).*state the deployment prevalence.*prevalence="
    ):
        decide.cost_table(MODELS, MISSES_COUNT)


def test_ranking_reverses_at_a_common_prevalence() -> None:
    result = decide.cost_table(MODELS, MISSES_COUNT, prevalence=0.38)
    first, second = result.rows()
    assert (first["total"], second["total"]) == (3910, 4255)
    assert (first["measured"], second["measured"]) == near((0.38, 0.59))
    assert (first["prevalence"], second["prevalence"]) == near((0.38, 0.38))
    assert first["value"] == near(7.82)
    assert second["value"] == pytest.approx(5.49, abs=0.005)
    assert (first["cheapest"], second["cheapest"]) == (False, True)
    assert result.data["notes"] == ["M1 has the lowest total in the samples, but per case M2 is the cheapest."]
    for row in (first, second):
        assert row["low"] < row["value"] < row["high"]
    read_results(result.to_json())


def test_published_example_of_an_infection() -> None:
    with pytest.raises(OptionError, match=r"A: 0.32; B: 0.17"):
        decide.cost_table(INFECTED, INFECTION)
    result = decide.cost_table(INFECTED, INFECTION, prevalence=0.32).rows()
    assert [row["total"] for row in result] == [10_440_000, 5_190_000]
    assert result[0]["value"] == near(10_440)
    # Half the total, but nine tenths per case.
    assert 0.89 < result[1]["value"] / result[0]["value"] < 0.96


def test_published_example_of_five_subjects() -> None:
    counts = curve(tally([0, 0, 0, 1, 1], [0, 1, 0, 1, 0])).at(1.0)
    (row,) = decide.cost_table({"five": counts}, Costs(fn=100, fp=10)).rows()
    assert (row["total"], row["value"], row["prevalence"], row["cheapest"]) == (110, 22, 0.4, True)


def test_equal_prevalences_need_no_stated_one() -> None:
    phi_psi = {"Φ": Counts(tp=40, fn=10, fp=10, tn=40), "Ψ": Counts(tp=30, fn=20, fp=5, tn=45)}
    result = decide.cost_table(phi_psi, Costs(fn=1, fp=10))
    assert [row["value"] for row in result.rows()] == near([1.1, 0.7])
    assert result.columns["cheapest"] == [False, True]
    assert result.data["notes"] == []
    equal = decide.cost_table({"one": phi_psi["Φ"], "other": phi_psi["Φ"]}, Costs())
    assert equal.columns["cheapest"] == [True, True]


def test_costs_equal_the_measure_times_the_cases() -> None:
    query = partial(measure.expected_cost, costs=MISSES_COUNT)
    judged = infer.estimate(query, shift.reweigh(M2, prevalence=0.1), level=0.9)
    (row,) = decide.cost_table({"M2": M2}, MISSES_COUNT, prevalence=0.1, per=1000, level=0.9).rows()
    assert (row["value"], row["low"], row["high"]) == near((1000 * judged.value, 1000 * judged.low, 1000 * judged.high))
    assert (row["how"], row["level"]) == (judged.how, 0.9)


PETS = Confusion.of_matrix([[8, 2, 0], [1, 6, 3], [0, 5, 15]], ["cat", "dog", "fish"], truth="rows")
OTHERS = Confusion.of_matrix([[18, 2, 0], [1, 9, 0], [0, 5, 5]], ["cat", "dog", "fish"], truth="rows")
MATRIX = CostMatrix([[0, 1, 4], [2, 0, 1], [9, 3, 0]], ["cat", "dog", "fish"])


def test_several_classes() -> None:
    with pytest.raises(OptionError, match=r"first: cat 0.25, dog 0.25, fish 0.5; second: cat 0.5, dog 0.25, fish 0.25"):
        decide.cost_table({"first": PETS, "second": OTHERS}, MATRIX)
    shares = {"cat": 0.2, "dog": 0.5, "fish": 0.3}
    result = decide.cost_table({"first": PETS, "second": OTHERS}, MATRIX, prevalence=shares)
    by_row = [np.array([0.2, 0.5, 1 / 4 * 3]), np.array([0.1, 0.2, 1.5])]
    assert [row["total"] for row in result.rows()] == [2 + 2 + 3 + 15, 2 + 2 + 15]
    assert [row["value"] for row in result.rows()] == near([float(each @ [0.2, 0.5, 0.3]) for each in by_row])
    assert result.data["prevalence"] == shares
    in_order = decide.cost_table({"first": PETS, "second": OTHERS}, MATRIX, prevalence=np.array([0.2, 0.5, 0.3]))
    assert in_order.columns["value"] == result.columns["value"]
    assert in_order.data["prevalence"] == [0.2, 0.5, 0.3]
    assert [row["prevalence"] for row in result.rows()] == [None, None]
    read_results(result.to_json())


@pytest.mark.parametrize(
    ("tables", "costs", "options", "error", "message"),
    [
        ({}, Costs(), {}, OptionError, "there is no confusion matrix"),
        ({"a": PETS}, Costs(), {}, OptionError, "Costs are for Counts, but a is Confusion"),
        ({"a": M1}, MATRIX, {}, OptionError, "CostMatrix are for Confusion, but a is Counts"),
        ({"a": curve(tally([1, 0], [1, 0])).counts}, Costs(), {}, ShapeError, r"a has \(3,\) tables"),
        ({"a": M1}, Costs(), {"per": 0}, OptionError, "per is 0; expected a number of cases"),
        (
            {"a": M1},
            Costs(),
            {"prevalence": 1.0},
            OptionError,
            "prevalence is 1.0; expected a prevalence from 1e-12 to 1 - 1e-12",
        ),
        ({"a": PETS}, MATRIX, {"prevalence": 0.5}, OptionError, "prevalence=0.5 is one share for 3 classes"),
        (
            {"a": PETS},
            MATRIX,
            {"prevalence": [0.5, 0.5, 0.5]},
            OptionError,
            "prevalence is .* shares above 0 that add up to 1",
        ),
        (
            {"a": Counts(tp=0, fn=0, fp=1, tn=3)},
            Costs(),
            {"prevalence": 0.3},
            NotBinaryError,
            "a has no positives that could be given a share; give a sample of all classes, or leave out prevalence=",
        ),
        ({"a": M1}, Costs(), {"level": 1.0}, OptionError, "level is 1.0; expected a confidence level"),
    ],
)
def test_errors(tables: Any, costs: Any, options: Any, error: type[Exception], message: str) -> None:  # noqa: ANN401
    with pytest.raises(error, match=message):
        decide.cost_table(tables, costs, **options)


def test_empty_table_has_an_undefined_cost() -> None:
    empty, full = Counts(tp=0, fp=0, fn=0, tn=0), Counts(tp=1, fp=1, fn=1, tn=1)
    both = decide.cost_table({"empty": empty, "full": full}, Costs())
    assert both.data["notes"] == []
    result = both.rows()
    assert (result[0]["value"], result[0]["why"], result[0]["cheapest"]) == (None, "there are no rows", False)
    assert result[1]["cheapest"]
    assert decide.cost_table({"empty": empty}, Costs()).columns["cheapest"] == [False]


def counts_at_rates(fpr: Any, tpr: Any, prevalence: float) -> Counts[Any]:  # noqa: ANN401
    hits, alarms = prevalence * tpr, (1 - prevalence) * fpr
    return Counts(tp=hits, fp=alarms, fn=prevalence - hits, tn=1 - prevalence - alarms)


@given(positive_cost, positive_cost, share, st.floats(0, 1), st.floats(0, 1))
def test_every_point_of_an_iso_cost_line_has_that_cost(
    missed: float, alarm: float, prevalence: float, fpr: float, tpr: float
) -> None:
    costs = Costs(tp=-0.5, fn=missed, fp=alarm + 0.25, tn=0.25)
    line = decide.iso_cost(costs, prevalence, through=(fpr, tpr))
    assert same(line.tpr(fpr), tpr, within=1e-9)
    along = np.linspace(0, 1, 11)
    heights = line.tpr(along)
    inside = (heights >= 0) & (heights <= 1)
    paid = measure.expected_cost(counts_at_rates(along[inside], heights[inside], prevalence), costs=costs)
    assert same(paid, np.full(inside.sum(), line.cost), within=1e-9)
    assert same(measure.expected_cost(counts_at_rates(fpr, tpr, prevalence), costs=costs), line.cost, within=1e-9)
    again = decide.iso_cost(costs, prevalence, cost=line.cost)
    assert same([again.slope, again.intercept], [line.slope, line.intercept], within=1e-6)


def test_iso_cost_lines_have_the_slope_of_the_costs() -> None:
    assert decide.iso_cost(INFECTION, 0.32, through=(0.1, 0.5)).slope == near(0.425)


@pytest.mark.parametrize(
    ("costs", "prevalence", "options", "message"),
    [
        (Costs(), 0.5, {}, "give either through="),
        (Costs(), 0.5, {"through": (0.1, 0.2), "cost": 1}, "give either through="),
        (Costs(), 0, {"cost": 1}, "prevalence is 0"),
        (Costs(tp=1, fn=1), 0.5, {"cost": 1}, "expected an error on a positive to cost something"),
        (Costs(), 0.5, {"through": (0.1, 1.2)}, r"through is \(0.1, 1.2\)"),
        (Costs(), 0.5, {"cost": np.inf}, "cost is inf; expected a finite number"),
    ],
)
def test_invalid_iso_cost_lines_raise(costs: Costs, prevalence: float, options: Any, message: str) -> None:  # noqa: ANN401
    with pytest.raises(OptionError, match=message):
        decide.iso_cost(costs, prevalence, **options)


def test_no_level_means_no_intervals() -> None:
    tables = {"A": Counts(tp=40, fn=10, fp=10, tn=40), "B": Counts(tp=0, fn=0, fp=0, tn=0)}
    [first, second] = decide.cost_table(tables, Costs(fp=10, fn=1), level=None).rows()
    assert (first["value"], first["low"], first["high"], first["level"]) == (pytest.approx(1.1), None, None, None)
    assert (second["value"], second["why"]) == (None, "there are no rows")
