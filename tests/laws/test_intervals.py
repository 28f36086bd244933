"""Laws of intervals, for every registered measure."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from baserate import Counts, Curve, Estimate, Tally, infer, measure, tally
from baserate.infer._calibration_intervals import DISTANCES
from baserate.measure import MEASURES, Measure, describe
from tests.strategies import Rows, like, probability, rows
from tests.tiers import take_in_tiers

CHEAP = [name for name in MEASURES if name not in ("pr_auc", "partial_auc")]
"""Without those that are resampled, which have tests of their own."""
SLOW = settings(max_examples=settings().max_examples // 5)

near = partial(pytest.approx, rel=1e-9, abs=1e-9, nan_ok=True)


def estimate_measure(name: str | Measure, data: Tally, **options: Any) -> Estimate:  # noqa: ANN401
    of = describe(MEASURES[name] if isinstance(name, str) else name).of
    return infer.estimate(name, data, threshold=0.5 if of is Counts else None, **options)


def bounds(result: Estimate) -> tuple[float, float, float]:
    return result.value, result.low, result.high


people = rows(score=probability, max_size=25)


# Each law is tried with all measures on the same example: draws of the same table are made once.


@SLOW
@given(people)
def test_the_value_lies_inside_and_all_within_the_span(data: Rows) -> None:
    sample = tally(*data, positive=True)
    for name in CHEAP:
        result = estimate_measure(name, sample)
        if np.isnan(result.low):
            assert result.why, name
            continue
        least, most = describe(MEASURES[name]).span
        assert least <= result.low <= result.value <= result.high <= most, name
        assert result.how
        assert result.level == 0.95


@SLOW
@given(people)
def test_nested_levels_nest(data: Rows) -> None:
    sample = tally(*data, positive=True)
    for name in CHEAP:
        last = estimate_measure(name, sample, level=0.5)
        for level in (0.8, 0.95, 0.99):
            result = estimate_measure(name, sample, level=level)
            if not np.isnan(result.low):
                assert result.low <= last.low + 1e-12, name
                assert result.high >= last.high - 1e-12, name
            last = result


@SLOW
@given(people, st.data())
def test_count_is_repetition(data: Rows, more: st.DataObject) -> None:
    times = more.draw(like(data, st.integers(1, 3)))
    counted = tally(*data, positive=True, count=times)
    repeated = tally(np.repeat(data.truth, times), np.repeat(data.score, times), positive=True)
    for name in CHEAP:
        assert bounds(estimate_measure(name, counted)) == near(bounds(estimate_measure(name, repeated))), name


@SLOW
@given(people, st.sampled_from([1e-3, 0.5, 2.0, 1e4]), st.data())
def test_scaling_weights_changes_nothing(data: Rows, factor: float, more: st.DataObject) -> None:
    weight = more.draw(like(data, st.sampled_from([0.5, 1.0, 2.0, 3.0])))
    once, scaled = (tally(*data, positive=True, weight=weight * each) for each in (1.0, factor))
    for name in CHEAP:
        assert bounds(estimate_measure(name, scaled)) == near(bounds(estimate_measure(name, once))), name


@SLOW
@given(people, st.integers(0, 5))
def test_the_order_of_rows_does_not_matter(data: Rows, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(data.truth))
    sample, shuffled = tally(*data, positive=True), tally(data.truth[order], data.score[order], positive=True)
    for name in CHEAP:
        assert bounds(estimate_measure(name, sample, seed=seed)) == near(
            bounds(estimate_measure(name, shuffled, seed=seed))
        ), name


@SLOW
@given(data=people)
def test_weights_of_one_are_counts(data: Rows) -> None:
    plain, weighted = tally(*data, positive=True), tally(*data, positive=True, weight=np.ones(len(data.truth)))
    for name in CHEAP:
        assert bounds(estimate_measure(name, weighted)) == near(bounds(estimate_measure(name, plain)))


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "name",
    take_in_tiers(
        ["f1", "mcc", "diagnostic_odds_ratio", "auc", "ks", "average_precision", "brier"],
        {"f1", "auc", "brier"}.__contains__,
    ),
)
def test_intervals_depend_on_the_seed(name: str) -> None:
    sample = tally([1, 0, 1, 0, 1, 1, 0, 0] * 5, np.linspace(0, 1, 40))
    for method in ("bootstrap", "stratified"):
        result = estimate_measure(name, sample, method=method, seed=3)
        assert bounds(result) == bounds(estimate_measure(name, sample, method=method, seed=3))
        assert bounds(result) != bounds(estimate_measure(name, sample, method=method, seed=4))
        generator = estimate_measure(name, sample, method=method, seed=np.random.default_rng(3))
        assert bounds(result) == bounds(generator)


@SLOW
@given(people)
def test_swapping_the_classes_gives_the_dual_intervals(data: Rows) -> None:
    counts = Curve(tally(*data, positive=True)).at(0.5)
    for name in CHEAP:
        output = describe(MEASURES[name])
        if output.of is Counts and output.dual:
            result, other = infer.estimate(name, counts), infer.estimate(output.dual, counts.swap_classes())
            # Draws come in another order.
            wanted = (
                near(bounds(result)) if output.share else pytest.approx(bounds(result), abs=0.05, rel=0.3, nan_ok=True)
            )
            assert bounds(other) == wanted, name


def test_intervals_narrow_with_more_rows() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(2000) < 0.4
    score = np.clip(rng.normal(0.4 + 0.2 * truth, 0.2), 0.01, 0.99)
    few, many = tally(truth[:200], score[:200]), tally(truth, score)
    for name in MEASURES:
        narrow, wide = estimate_measure(name, many), estimate_measure(name, few)
        if MEASURES[name] in DISTANCES or name.endswith("discrimination") or name == "unreliability_index":
            assert narrow.why is not None, name
            continue
        assert narrow.high - narrow.low < wide.high - wide.low, name


@pytest.mark.parametrize("bad", [-0.1, 0, 1, 2, float("nan")])
def test_invalid_levels_raise(bad: float) -> None:
    with pytest.raises(measure_error(), match="level"):
        estimate_measure("auc", tally([1, 0], [1, 0]), level=bad)


def measure_error() -> type[Exception]:
    from baserate import OptionError

    return OptionError


@pytest.mark.parametrize(
    ("measure_", "data", "options", "message"),
    [
        ("sensitivity", tally([1, 0], [1, 0]), {}, "give threshold="),
        ("auc", tally([1, 0], [1, 0]), {"threshold": 0.5}, "threshold=0.5 has no effect on auc"),
        ("auc", Counts(1, 2, 3, 4), {}, "auc takes Curve, not Counts"),
        (
            "auc",
            tally([1, 0], [1, 0]),
            {"method": "wilson"},
            "method='wilson' makes no interval of auc; known are: score",
        ),
        ("f1", Counts(1, 2, 3, 4), {"method": "delong"}, "known are: mover, draws, stratified, bootstrap"),
        ("f1", Counts(1, 2, 3, 4), {"seed": -1}, "seed is -1"),
        ("f1", Counts(1, 2, 3, 4), {"seed": "a"}, "seed is 'a'"),
        (max, Counts(1, 2, 3, 4), {}, "is not a measure"),
    ],
)
def test_invalid_requests_raise(measure_: Any, data: Any, options: dict[str, Any], message: str) -> None:  # noqa: ANN401
    with pytest.raises(measure_error(), match=message):
        infer.estimate(measure_, data, **options)


def test_several_tables_at_once_are_refused() -> None:
    from baserate import ShapeError

    with pytest.raises(ShapeError, match="take an interval of one"):
        infer.estimate("f1", Curve(tally([1, 0], [1, 0])).counts)  # type: ignore[arg-type]


def test_options_are_chosen_with_partial() -> None:
    counts = Counts(tp=30, fp=10, fn=20, tn=40)
    result = infer.estimate(partial(measure.f_beta, beta=2), counts)
    assert result.value == measure.f_beta(counts, beta=2)
    assert result.low < result.value < result.high
    assert result.value != infer.estimate(measure.f_beta, counts).value
