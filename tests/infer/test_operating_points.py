"""Sensitivity at a fixed specificity and its kin: definitions, intervals with the error of the threshold, tests."""

from functools import partial
from math import isnan

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import norm

from baserate import Curve, OptionError, Rows, Tally, curve, infer, tally
from baserate.infer import Question
from baserate.infer._operating_points import find_operating_point
from baserate.measure import (
    precision_at_sensitivity,
    sensitivity_at_precision,
    sensitivity_at_specificity,
    specificity_at_sensitivity,
)
from tests.strategies import Rows as Sample, few, rows

AT = partial(sensitivity_at_specificity, specificity=0.9)
rate = st.floats(0, 1) | st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0])


def normal_tally(rng: np.random.Generator, positives: int, negatives: int, shift: float = 1.2) -> Tally:
    truth = np.r_[np.ones(positives, bool), np.zeros(negatives, bool)]
    return tally(truth, rng.normal(size=len(truth)) + shift * truth)


@given(rows(score=few), rate)
def test_values_at_thresholds_are_those_of_a_search(sample: Sample, at: float) -> None:
    c = curve(tally(*sample))
    if not (c.positives and c.negatives):
        return
    points = c.counts
    sensitivity, specificity = points.tp / c.positives, points.tn / c.negatives
    flagged = points.tp + points.fp
    precision = np.divide(points.tp, flagged, out=np.full(len(flagged), -1.0), where=flagged > 0)
    stepwise = {"interpolated": False}
    at, stated = at - 1e-12, at  # closer rates differ by rounding
    assert sensitivity_at_specificity(c, specificity=stated, **stepwise) == max(sensitivity[specificity >= at])
    assert specificity_at_sensitivity(c, sensitivity=stated, **stepwise) == max(specificity[sensitivity >= at])
    assert precision_at_sensitivity(c, sensitivity=stated) == max(precision[(sensitivity >= at) & (flagged > 0)])
    assert sensitivity_at_precision(c, precision=stated) == max(sensitivity[precision >= at], default=0.0)


@given(rows(score=few), rate)
def test_lines_between_thresholds_are_at_least_as_high(sample: Sample, at: float) -> None:
    c = curve(tally(*sample))
    joined = sensitivity_at_specificity(c, specificity=at)
    if isnan(joined):
        return
    assert joined >= sensitivity_at_specificity(c, specificity=at, interpolated=False)
    # The point is on the curve: the other rate at this one is no smaller than the stated one.
    assert specificity_at_sensitivity(c, sensitivity=joined) >= at - 1e-9


@given(rows(score=few), st.floats(0.01, 0.99))
def test_the_rate_falls_with_the_stated_rate(sample: Sample, at: float) -> None:
    c = curve(tally(*sample))
    for function, option in ((sensitivity_at_specificity, "specificity"), (sensitivity_at_precision, "precision")):
        values = [partial(function, **{option: each})(c) for each in (0.0, at, 1.0)]
        assert isnan(sum(values)) or values == sorted(values, reverse=True)


def test_the_ends_of_the_curve() -> None:
    c = curve(tally([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1]))
    assert sensitivity_at_specificity(c, specificity=1) == 0.5  # positives above all negatives
    assert sensitivity_at_specificity(c, specificity=0) == 1
    assert specificity_at_sensitivity(c, sensitivity=1) == 0.5
    assert sensitivity_at_precision(curve(tally([1, 0], [0.1, 0.9])), precision=0.6) == 0


@pytest.mark.parametrize(
    ("function", "option"),
    [
        (sensitivity_at_specificity, "specificity"),
        (specificity_at_sensitivity, "sensitivity"),
        (precision_at_sensitivity, "sensitivity"),
        (sensitivity_at_precision, "precision"),
    ],
)
def test_wrong_rates_are_refused(function: object, option: str) -> None:
    one = tally([1, 0, 1], [0.9, 0.4, 0.6])
    for wrong in (-0.1, 1.5, float("nan"), "high"):
        with pytest.raises(OptionError, match=option):
            function(one, **{option: wrong})  # type: ignore[operator]
    with pytest.raises(OptionError, match=f"needs a {option}. Give {option}=0.9"):
        function([1, 0], [0.8, 0.1])  # type: ignore[operator]


@given(rows(score=few, min_size=3), st.floats(0.05, 0.95), st.sampled_from([0.8, 0.95, 0.99]))
def test_intervals_contain_the_value_and_are_those_of_the_dual(sample: Sample, at: float, level: float) -> None:
    one, other = tally(*sample), tally(~sample.truth, -sample.score)
    first = infer.estimate(partial(sensitivity_at_specificity, specificity=at), one, level=level)
    second = infer.estimate(partial(specificity_at_sensitivity, sensitivity=at), other, level=level)
    if isnan(first.value):
        return
    assert 0 <= first.low <= first.value <= first.high <= 1
    assert first.low < first.high
    assert [first.low, first.high] == pytest.approx([second.low, second.high])
    wider = infer.estimate(partial(sensitivity_at_specificity, specificity=at), one, level=0.999)
    assert wider.low <= first.low + 1e-12
    assert wider.high >= first.high - 1e-12


def test_the_interval_at_a_known_threshold_is_narrower() -> None:
    one = normal_tally(np.random.default_rng(1), 100, 100)
    estimated = infer.estimate(AT, one)
    threshold = float(np.quantile(np.repeat(one.score[::-1], one.negative[::-1].astype(int)), 0.9))
    known = infer.estimate("sensitivity", one, threshold=threshold)
    assert estimated.high - estimated.low > 1.15 * (known.high - known.low)


def test_weights_and_counts() -> None:
    one = normal_tally(np.random.default_rng(2), 60, 60)
    bounds = infer.estimate(AT, one)
    doubled = infer.estimate(AT, Tally.from_counts(one.score, 2 * one.rows))
    assert doubled.value == bounds.value
    assert doubled.high - doubled.low < 0.9 * (bounds.high - bounds.low)
    rng = np.random.default_rng(3)
    truth, score = rng.random(300) < 0.5, rng.normal(size=300)
    weight = rng.gamma(1.0, size=300)
    weighted, scaled = (infer.estimate(AT, tally(truth, score, weight=weight * scale)) for scale in (1.0, 7.0))
    plain = infer.estimate(AT, tally(truth, score))
    assert [scaled.low, scaled.high] == pytest.approx([weighted.low, weighted.high])
    assert weighted.high - weighted.low > plain.high - plain.low


def test_a_stated_prevalence_changes_nothing() -> None:
    one = normal_tally(np.random.default_rng(4), 50, 80)
    plain, reweighed = infer.estimate(AT, one), infer.estimate(AT, one, prevalence=0.02)
    assert [reweighed.value, reweighed.low, reweighed.high] == pytest.approx([plain.value, plain.low, plain.high])


@pytest.mark.parametrize("at", [0, 1])
def test_at_the_ends_there_is_no_interval(at: float) -> None:
    one = normal_tally(np.random.default_rng(5), 30, 30)
    bounds = infer.estimate(partial(sensitivity_at_specificity, specificity=at), one)
    assert isnan(bounds.low)
    assert bounds.why == f"at a rate of {at} the threshold is that of a single row"


@pytest.mark.parametrize(("positives", "negatives", "specificity"), [(30, 100, 0.9), (100, 30, 0.7), (100, 100, 0.95)])
def test_intervals_cover(positives: int, negatives: int, specificity: float) -> None:
    rng = np.random.default_rng(6)
    true = norm.cdf(1.2 + norm.ppf(1 - specificity))
    measure = partial(sensitivity_at_specificity, specificity=specificity)
    bounds = [infer.estimate(measure, normal_tally(rng, positives, negatives)) for _ in range(400)]
    covered = np.mean([each.low <= true <= each.high for each in bounds])
    assert 0.925 <= covered <= 0.995  # 95.5 to 97.5% in 1500 samples of each


def test_the_slope_of_the_curve_is_that_of_the_population() -> None:
    # ROC(f) = Φ(a + Φ⁻¹(f)) has slope exp(−a²/2 − aΦ⁻¹(f)).
    point = find_operating_point(AT, normal_tally(np.random.default_rng(7), 20_000, 20_000))
    assert point.slope == pytest.approx(np.exp(-(1.2**2) / 2 - 1.2 * norm.ppf(0.1)), rel=0.2)
    assert point.own.hits + point.own.misses == pytest.approx(20_000)
    assert point.other == pytest.approx(20_000)


@given(rows(score=few, min_size=4))
def test_the_share_of_negatives_beyond_the_threshold_is_the_stated_one(sample: Sample) -> None:
    one = tally(*sample)
    if one.positives and one.negatives:
        point = find_operating_point(AT, one)
        beyond = point.shares_beyond(one.score)
        assert float(np.sum(beyond * one.negative)) == pytest.approx(0.1 * one.negatives)
        assert float(np.sum(beyond * one.positive)) == pytest.approx(AT(Curve(one)) * one.positives)


def correlated_rows(rng: np.random.Generator, n: int, **columns: object) -> Rows:
    truth = np.arange(n) % 2 == 0
    common = rng.normal(size=n) * 0.8
    scores = {name: common + 0.6 * rng.normal(size=n) + 1.2 * truth for name in ("a", "b")}
    return Rows(truth, scores, **columns)  # type: ignore[arg-type]


def test_the_paired_test_keeps_its_level() -> None:
    rng = np.random.default_rng(8)
    p = np.array([infer.compare(correlated_rows(rng, 200), measure=AT)[0].p for _ in range(300)])
    assert 0.01 <= np.mean(p < 0.05) <= 0.08  # 4.2% in 1000 samples


def test_comparisons_are_antisymmetric_and_agree_with_weights_of_one() -> None:
    rng = np.random.default_rng(9)
    plain = correlated_rows(rng, 120)
    one, other = (infer.compare(plain, measure=AT, models=[pair])[0] for pair in (("a", "b"), ("b", "a")))
    assert one.statistic == pytest.approx(-other.statistic)
    assert one.p == pytest.approx(other.p)
    weighted = Rows(plain.truth, plain.score, weight=np.full(120, 3.0))
    again = infer.compare(weighted, measure=AT, models=[("a", "b")])[0]
    assert [again.p, again.difference.low] == pytest.approx([one.p, one.difference.low])
    alone = Rows(plain.truth, plain.score, cluster=np.arange(120))
    assert infer.compare(alone, measure=AT)[0].p == pytest.approx(one.p, abs=0.05)


def test_identical_models_do_not_differ() -> None:
    one = correlated_rows(np.random.default_rng(10), 80)
    (result,) = infer.compare(Rows(one.truth, {"a": one.score["a"], "b": one.score["a"]}), measure=AT)
    assert (result.difference.value, result.p) == (0, 1)


def test_clusters_widen_the_interval() -> None:
    rng = np.random.default_rng(11)
    cluster = np.repeat(np.arange(40), 5)
    truth = np.repeat(np.arange(40) % 2 == 0, 5)
    score = np.repeat(rng.normal(size=40), 5) + 0.3 * rng.normal(size=200) + truth
    clustered = infer.estimate(AT, Rows(truth, {"s": score}, cluster=cluster))
    plain = infer.estimate(AT, tally(truth, score))
    assert clustered.high - clustered.low > plain.high - plain.low
    assert str(clustered.how).startswith("resampled clusters")


def test_unpaired_methods() -> None:
    rng = np.random.default_rng(12)
    first, second = normal_tally(rng, 80, 80, 2.0), normal_tally(rng, 60, 90, 0.5)
    closed = infer.compare_unpaired(first, second, measure=AT)
    assert closed.difference.how == "Newcombe's hybrid of both intervals"
    sampled = infer.compare_unpaired(first, second, measure=AT, question=Question(method="resample"))
    assert closed.p < 0.01
    assert sampled.p < 0.01
    assert closed.difference.value == sampled.difference.value
