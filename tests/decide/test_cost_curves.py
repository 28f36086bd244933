"""Cost curves and Brier curves: every point, and areas of known value."""

from functools import partial
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from baserate import (
    Costs,
    EmptyDataError,
    NotAProbabilityError,
    NotBinaryError,
    OptionError,
    Tallies,
    Tally,
    curve,
    decide,
    infer,
    measure,
    population,
    read,
    shift,
    tally,
)
from tests.schemas import read_results
from tests.strategies import Rows, like, probability, rows, same

near = partial(pytest.approx, rel=1e-12, abs=1e-12)


def has_both_classes(data: Rows) -> bool:
    return bool(0 < data.truth.sum() < len(data.truth))


mixed = rows(min_size=2).filter(has_both_classes)
forecasts = rows(score=probability, min_size=2)
share = st.floats(0.02, 0.98)


def area(result: dict[str, Any], column: str, along: str = "cost_proportion") -> float:
    return float(np.trapezoid(result[column], result[along]))


@given(mixed, st.integers(2, 30))
def test_cost_curve_is_the_lower_envelope_of_all_thresholds(data: Rows, points: int) -> None:
    actual = curve(tally(*data, positive=True))
    counts = actual.counts
    for result in (decide.cost_curve(actual), decide.cost_curve(actual, points=points)):
        x = result["probability_cost"][:, None]
        paid = measure.fnr(counts) * x + measure.fpr(counts) * (1 - x)
        assert same(result["cost"], paid.min(axis=1), within=1e-12)
        assert (result["cost"] <= result["trivial"] + 1e-12).all()
        for name in ("threshold", "laxest"):
            taken = actual.at(result[name])
            costs_at_threshold = measure.fnr(taken) * x[:, 0] + measure.fpr(taken) * (1 - x[:, 0])
            assert same(costs_at_threshold, result["cost"], within=1e-12)


@given(mixed, st.integers(2, 200))
def test_cost_curve_is_linear_between_rows(data: Rows, points: int) -> None:
    result = curve(tally(*data, positive=True))
    whole, even = decide.cost_curve(result), decide.cost_curve(result, points=points)
    drawn = np.interp(even["probability_cost"], whole["probability_cost"], whole["cost"])
    assert same(drawn, even["cost"], within=1e-12)
    assert (np.diff(whole["probability_cost"]) > 0).all()


@given(mixed, share, st.floats(0.1, 50), st.floats(0.1, 50))
def test_cost_curve_covers_all_costs_and_prevalences(data: Rows, to: float, missed: float, alarm: float) -> None:
    costs = Costs(tp=2, fn=2 + missed, fp=alarm - 1, tn=-1)
    actual = curve(shift.reweigh(tally(*data, positive=True), prevalence=to))
    least = np.min(measure.expected_cost(actual.counts, costs=costs))
    right, wrong = 2 * to - (1 - to), missed * to + alarm * (1 - to)
    x = decide.probability_cost(costs, to)
    result = decide.cost_curve(actual)
    drawn = np.interp(x, result["probability_cost"], result["cost"])
    assert drawn == pytest.approx((least - right) / wrong, rel=1e-9, abs=1e-9)


@given(mixed, share)
def test_cost_curve_does_not_depend_on_prevalence(data: Rows, to: float) -> None:
    result = tally(*data, positive=True)
    original, reweighted = (
        decide.cost_curve(curve(each), points=21) for each in (result, shift.reweigh(result, prevalence=to))
    )
    assert same(original["cost"], reweighted["cost"], within=1e-9)


def test_strictest_and_laxest_of_equally_good_thresholds() -> None:
    result = decide.cost_curve(curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.3])))
    assert result["threshold"].tolist() == [inf, 0.8, 0.6]
    assert result["laxest"].tolist() == [0.8, 0.6, 0.3]


@settings(deadline=None)
@given(forecasts, st.data())
def test_the_area_under_a_brier_curve_is_the_brier_score(data: Rows, more: st.DataObject) -> None:
    weight = more.draw(st.none() | like(data, st.floats(0.1, 10)))
    actual = tally(*data, positive=True, weight=weight)
    result = decide.brier_curve(curve(actual))
    assert area(result, "loss") == near(measure.brier(actual))
    assert (result["regret"] >= 0).all()
    assert same(result["loss"] - result["least"], result["regret"], within=1e-12)


@given(forecasts.filter(has_both_classes), share)
def test_brier_areas_at_any_prevalence(data: Rows, to: float) -> None:
    actual = tally(*data, positive=True)
    for each in (actual, shift.reweigh(actual, prevalence=to)):
        result = decide.brier_curve(curve(each))
        assert area(result, "loss") == near(measure.brier(each))
        assert area(result, "regret") == pytest.approx(measure.brier_miscalibration(each), abs=1e-12)


@given(forecasts, st.integers(2, 40))
def test_brier_curve_equals_the_loss_at_each_threshold(data: Rows, points: int) -> None:
    actual = curve(tally(*data, positive=True))
    for result in (decide.brier_curve(actual), decide.brier_curve(actual, points=points)):
        c = result["cost_proportion"]
        taken = actual.at(result["threshold"])
        assert same(result["loss"], 2 * (c * taken.fp + (1 - c) * taken.fn) / actual.total, within=1e-12)
        counts = actual.counts
        every = 2 * (c[:, None] * counts.fp + (1 - c[:, None]) * counts.fn) / actual.total
        assert same(result["least"], every.min(axis=1), within=1e-12)
    even = decide.brier_curve(actual, points=points)
    at = actual.at(even["cost_proportion"])
    c = even["cost_proportion"]
    assert same(even["loss"], 2 * (c * at.fp + (1 - c) * at.fn) / actual.total, within=1e-12)


def test_tidy_curves_of_models_and_groups() -> None:
    both = read.tallies(
        {"y": [1, 0, 1, 0, 1], "a": [0.9, 0.6, 0.4, 0.1, 0.3], "b": [0.2, 0.6, 0.4, 0.1, 0.2], "g": [*"xxyyz"]},
        truth="y",
        score=["a", "b"],
        group="g",
    )
    result = decide.cost_curves(both)
    assert result.data["kind"] == "cost"
    alone = [row for row in result.rows() if row["group"] == {"g": "z"}]
    assert [row["why"] for row in alone] == ["there are no negatives"] * 2
    assert alone[0]["cost"] is None
    whole = [row["cost"] for row in result.rows() if row["model"] == "a" and row["group"] is None]
    assert whole == decide.cost_curve(curve(both.pooled("a")))["cost"].tolist()
    read_results(result.to_json())
    brier = decide.cost_curves(both, kind="brier", points=5)
    assert len(brier) == 2 * 4 * 5
    assert {row["why"] for row in brier.rows()} == {None}
    read_results(brier.to_json())


def test_brier_curve_at_a_stated_prevalence() -> None:
    one = read.tallies({"y": [1, 0, 1, 0], "p": [0.9, 0.6, 0.4, 0.1]}, truth="y", score="p")
    result = decide.cost_curves(one, kind="brier", prevalence=0.1)
    drawn = {name: np.asarray(result.columns[name]) for name in ("cost_proportion", "loss")}
    assert area(drawn, "loss") == near(measure.brier(shift.reweigh(one.tally, prevalence=0.1)))
    assert result.data["prevalence"] == near(0.1)


def test_errors() -> None:
    one = read.tallies({"y": [1, 0], "p": [0.9, 0.1]}, truth="y", score="p")
    result = curve(one.tally)
    with pytest.raises(OptionError, match="kind is 'roc'; expected 'cost' or 'brier'"):
        decide.cost_curves(one, kind="roc")  # type: ignore[call-overload]
    with pytest.raises(OptionError, match=r"prevalence=0.1 has no effect.*probability_cost"):
        decide.cost_curves(one, prevalence=0.1)
    for draw in (decide.cost_curve, decide.brier_curve):
        with pytest.raises(OptionError, match="points is 1; expected a whole number from 2 to 1,000,000"):
            draw(result, points=1)
    with pytest.raises(NotBinaryError, match="needs both classes"):
        decide.cost_curve(curve(tally([0, 0], [0.1, 0.2])))
    with pytest.raises(NotAProbabilityError):
        decide.brier_curve(curve(tally([0, 1], [1, 2])))
    with pytest.raises(EmptyDataError, match="needs rows"):
        decide.brier_curve(curve(Tally.sum([])))


@pytest.mark.parametrize("costs", [Costs(fp=0, fn=0), Costs(fp=-1), Costs(tp=2)])
def test_errors_must_cost_something(costs: Costs) -> None:
    with pytest.raises(OptionError, match="expected errors to cost more"):
        decide.probability_cost(costs, 0.5)


def test_probability_cost_of_costs_and_prevalence() -> None:
    assert decide.probability_cost(Costs(), 0.3) == near(0.3)
    assert decide.probability_cost(Costs(fp=0, fn=1), 0.3) == 1
    with pytest.raises(OptionError, match="prevalence is 1"):
        decide.probability_cost(Costs(), 1)


@pytest.mark.parametrize("kind", ["cost", "brier"])
def test_empty_group_has_a_row_with_a_reason(kind: Any) -> None:  # noqa: ANN401
    both = Tallies({"risk": {("n",): tally([1, 0], [0.9, 0.1]), ("s",): Tally.sum([])}}, attributes=("site",))
    last = decide.cost_curves(both, kind=kind).rows()[-1]
    assert (last["group"], last["threshold"], last["why"]) == ({"site": "s"}, None, "there are no rows")


def test_intervals_combine_those_of_the_rates() -> None:
    """Bounds are those of two independent rates, combined in quadrature."""
    truth, score = population.binormal(means=(0, 1.5)).draw(500, 1)
    actual = curve(tally(truth, score))
    result = decide.cost_curve(actual, points=5, level=0.9)
    assert result["low"][0] == result["high"][0] == 0  # nobody is flagged, for certain
    for x, low, cost, high, threshold in zip(
        *(result[name][1:] for name in ("probability_cost", "low", "cost", "high", "threshold")), strict=True
    ):
        misses, alarms = (infer.estimate(name, actual.at(threshold), level=0.9) for name in ("fnr", "fpr"))
        down = np.hypot(x * (misses.value - misses.low), (1 - x) * (alarms.value - alarms.low))
        up = np.hypot(x * (misses.high - misses.value), (1 - x) * (alarms.high - alarms.value))
        assert low == pytest.approx(max(cost - down, 0))
        assert high == pytest.approx(cost + up)


def test_intervals_of_a_brier_curve_contain_its_loss() -> None:
    truth, score = population.binormal(means=(0, 1.5)).draw(500, 1)
    t = tally(truth, 1 / (1 + np.exp(-score)))
    for actual in (curve(t), shift.reweigh(curve(t), prevalence=0.1)):
        result = decide.brier_curve(actual, points=11, level=0.95)
        assert (result["low"] <= result["loss"]).all()
        assert (result["loss"] <= result["high"]).all()
        inner = slice(2, -2)
        assert (result["high"][inner] - result["low"][inner] > 0.01).all()
    assert "low" not in decide.brier_curve(curve(t), points=11)


def test_curves_without_intervals() -> None:
    three = read.tallies({"y": [1, 0, 1], "p": [0.9, 0.5, 0.1]}, truth="y", score="p")
    rows = decide.cost_curves(three, level=None).rows()
    assert {(row["low"], row["high"], row["level"], row["how"]) for row in rows} == {(None, None, None, None)}
    with pytest.raises(OptionError, match="level is 2; expected a confidence level"):
        decide.cost_curves(three, level=2)
