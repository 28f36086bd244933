"""Differences of net benefit between models on the same rows."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from baserate import (
    EmptyDataError,
    NotAProbabilityError,
    OptionError,
    Rows,
    UnknownNameError,
    curve,
    decide,
    infer,
    measure,
    read,
    tally,
)
from baserate.infer import _confusion_intervals
from tests.schemas import read_results
from tests.strategies import like, probability, rows, same

AT = [0.0, 0.1, 0.25, 0.5, 0.9]
TABLE = {
    "sick": [1, 0, 1, 0, 1, 0],
    "new": [0.9, 0.3, 0.7, 0.1, 0.5, 0.2],
    "old": [0.9, 0.6, 0.4, 0.1, 0.3, 0.1],
    "site": [*"nnnsss"],
}


def read_rows(**options: Any) -> Rows:  # noqa: ANN401
    return read.rows(TABLE, truth="sick", score=["new", "old"], **options)


@settings(deadline=None)
@given(rows(score=probability), st.data())
def test_difference_equals_that_of_two_decision_curves(data: Any, more: st.DataObject) -> None:  # noqa: ANN401
    other, weight = more.draw(like(data, probability)), more.draw(like(data, st.floats(0.5, 3)))
    result = decide.net_benefit_difference(
        Rows(data.truth, {"a": data.score, "b": other}, weight=weight), thresholds=AT
    ).columns
    first, second = (
        decide.net_benefits(curve(tally(data.truth, score, positive=True, weight=weight)), AT)
        for score in (data.score, other)
    )
    assert same(result["difference"], first["net_benefit"] - second["net_benefit"], within=1e-9)
    for name in ("tp_rate", "fp_rate"):
        assert same(result[name], first[name] - second[name], within=1e-9)
    assert (np.asarray(result["low"]) <= np.asarray(result["difference"])).all()
    assert (np.asarray(result["difference"]) <= np.asarray(result["high"])).all()


@settings(deadline=None)
@given(rows(score=probability), st.data())
def test_counts_equal_repetition_and_swapped_models_change_sign(data: Any, more: st.DataObject) -> None:  # noqa: ANN401
    other, times = more.draw(like(data, probability)), more.draw(like(data, st.integers(1, 3)))
    counted = Rows(data.truth, {"a": data.score, "b": other}, count=times)
    repeated = Rows(np.repeat(data.truth, times), {"a": np.repeat(data.score, times), "b": np.repeat(other, times)})
    one, two, turned = (
        decide.net_benefit_difference(each, thresholds=AT, models=models).columns
        for each, models in ((counted, None), (repeated, None), (counted, ["b", "a"]))
    )
    for name in ("difference", "low", "high"):
        assert same(one[name], two[name], within=1e-9)
    assert same(turned["low"], -np.asarray(one["high"]), within=1e-9)


def test_intervals_are_near_the_bootstrap() -> None:
    rng = np.random.default_rng(1)
    truth = rng.random(2000) < 0.3
    old, new = (1 / (1 + np.exp(-rng.normal(gain * truth - 1, 1.2))) for gain in (1.0, 1.8))
    both = Rows(truth, {"new": new, "old": old})
    result = decide.net_benefit_difference(both, thresholds=[0.25]).rows()[0]
    (drawn,) = infer.compare(both, measure=partial(measure.net_benefit, at=0.25), threshold=0.25)
    assert result["difference"] == pytest.approx(drawn.difference.value, abs=1e-12)
    assert (result["low"], result["high"]) == pytest.approx((drawn.difference.low, drawn.difference.high), abs=0.003)


def test_interval_is_nearly_normal_far_from_0_and_1() -> None:
    shares, factors, n = np.array([0.1, 0.05, 0.2, 0.1]), np.array([1, -1, -0.5, 0.5]), 1e6
    cells = [
        _confusion_intervals.LinearCell(share * n, share * n, factor)
        for share, factor in zip(shares, factors, strict=True)
    ]
    low, high = _confusion_intervals.combine_cell_bounds([_confusion_intervals.CellSample(n, n, cells)], 0.95)
    value = float(shares @ factors)
    half = 1.959964 * np.sqrt((shares @ factors**2 - value**2) / n)
    assert (low, high) == pytest.approx((value - half, value + half), abs=3e-6)


def test_groups_follow_all_rows_and_fit_the_schema() -> None:
    result = decide.net_benefit_difference(read_rows(group="site"), thresholds=[0.2, 0.5])
    assert [row["group"] for row in result.rows()] == [None, None, *[{"site": "n"}] * 2, *[{"site": "s"}] * 2]
    assert {(row["model"], row["against"]) for row in result.rows()} == {("new", "old")}
    assert result.rows()[1]["difference"] == pytest.approx((2 + 1) / 6)
    read_results(result.to_json())


@pytest.mark.parametrize(
    ("work", "error", "message"),
    [
        (lambda: decide.net_benefit_difference([1, 2]), OptionError, "needs labels and scores"),  # type: ignore[call-overload]
        (
            lambda: decide.net_benefit_difference(read_rows(), models=["new", "newer"]),
            UnknownNameError,
            "no model 'newer'. Did you mean 'new'",
        ),
        (
            lambda: decide.net_benefit_difference(read_rows(), models=["new"]),
            OptionError,
            "models are new; expected at least two",
        ),
        (lambda: decide.net_benefit_difference(read_rows(cluster="site")), OptionError, "rows are in clusters"),
        (
            lambda: decide.net_benefit_difference(read_rows(), level=0),
            OptionError,
            "level is 0; expected a confidence level",
        ),
        (
            lambda: decide.net_benefit_difference(read_rows(), thresholds=[1]),
            OptionError,
            "are neither 0 nor a number from 1e-12",
        ),
        (
            lambda: decide.net_benefit_difference(Rows(np.array([True]), {"a": np.array([2.0]), "b": np.array([0.5])})),
            NotAProbabilityError,
            "outside",
        ),
        (
            lambda: decide.net_benefit_difference(Rows(np.zeros(0, dtype=bool), {"a": np.zeros(0), "b": np.zeros(0)})),
            EmptyDataError,
            "there are no rows",
        ),
    ],
)
def test_errors(work: Any, error: type[Exception], message: str) -> None:  # noqa: ANN401
    with pytest.raises(error, match=message):
        work()
