"""Intervals of proportions: published tables, exact reference values, weights."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from scipy.special import ndtri

from baserate import Counts, Curve, infer, measure, tally
from baserate.infer import _binomial
from baserate.measure import MEASURES, describe, multiclass
from tests.strategies import tables

LEVELS = (0.8, 0.9, 0.95, 0.99)

# Newcombe 1998, table I: hits, trials, the score interval, the exact one.
NEWCOMBE = [
    (81, 263, (0.2553, 0.3662), (0.2527, 0.3676)),
    (15, 148, (0.0624, 0.1605), (0.0578, 0.1617)),
    (0, 20, (0.0000, 0.1611), (0.0000, 0.1684)),
    (1, 29, (0.0061, 0.1718), (0.0009, 0.1776)),
]


def estimate_interval(
    hits: float, trials: float, *, method: str | None = None, level: float = 0.95
) -> tuple[float, float]:
    result = infer.estimate("sensitivity", Counts(hits, 3, trials - hits, 5), method=method, level=level)
    return result.low, result.high


@pytest.mark.parametrize(("hits", "trials", "score", "exact"), NEWCOMBE)
def test_published_table(hits: int, trials: int, score: tuple[float, float], exact: tuple[float, float]) -> None:
    assert estimate_interval(hits, trials, method="wilson") == pytest.approx(score, abs=5e-5)
    assert estimate_interval(hits, trials, method="clopper-pearson") == pytest.approx(exact, abs=5e-5)


@pytest.mark.parametrize(("hits", "level"), list(product(range(13), LEVELS)))
def test_reference_implementations(hits: int, level: float) -> None:
    result = stats.binomtest(hits, 12)
    assert estimate_interval(hits, 12, method="wilson", level=level) == pytest.approx(
        tuple(result.proportion_ci(level, method="wilson")), abs=1e-12
    )
    assert estimate_interval(hits, 12, method="clopper-pearson", level=level) == pytest.approx(
        tuple(result.proportion_ci(level, method="exact")), abs=1e-12
    )
    low, high = stats.beta.interval(level, hits + 0.5, 12 - hits + 0.5)
    assert estimate_interval(hits, 12, method="jeffreys", level=level) == pytest.approx(
        (low if hits else 0, high if hits < 12 else 1), abs=1e-12
    )


def test_clopper_pearson_by_hand() -> None:
    # Of n hits in n trials the lower bound is the nth root of α/2.
    assert estimate_interval(10, 10, method="clopper-pearson") == pytest.approx((0.025**0.1, 1), abs=1e-14)
    assert estimate_interval(0, 20, method="clopper-pearson") == pytest.approx((0, 1 - 0.025 ** (1 / 20)), abs=1e-14)


def test_agresti_coull_is_clipped_at_the_ends() -> None:
    # With z² near 4: two hits and two misses more, then the normal interval.
    z = stats.norm.ppf(0.975)
    middle = (9 + z**2 / 2) / (10 + z**2)
    half = z * np.sqrt(middle * (1 - middle) / (10 + z**2))
    assert middle + half > 1
    assert estimate_interval(9, 10, method="agresti-coull") == pytest.approx((middle - half, 1.0), abs=1e-14)


@pytest.mark.parametrize("trials", [10, 15, 25, 40, 70, 100, 300, pytest.param(1000, marks=pytest.mark.slow)])
def test_the_default_interval_covers_every_proportion(trials: int) -> None:
    hits = np.arange(trials + 1.0)
    low, high = _binomial.wilson_or_exact(hits, trials - hits, 0.95)
    wilson = _binomial.wilson(hits, trials - hits, 0.95)
    ends = np.concatenate([low, high, *wilson])
    # Coverage jumps at the bounds: look at both sides of each.
    shares = np.concatenate([ends * (1 - 1e-9), ends * (1 + 1e-9), np.linspace(0.001, 0.999, 500)])
    shares = shares[(shares > 0) & (shares < 1)]
    chances = stats.binom.pmf(hits[None], trials, shares[:, None])
    covered = (chances * ((low <= shares[:, None]) & (shares[:, None] <= high))).sum(axis=1)
    assert covered.min() > 0.93
    without = (chances * ((wilson[0] <= shares[:, None]) & (shares[:, None] <= wilson[1]))).sum(axis=1)
    assert without.min() < 0.9  # which is why it is not Wilson's alone


@given(tables())
def test_effective_hits_and_misses_reproduce_the_measure(counts: Counts[float]) -> None:
    for each in MEASURES.values():
        if describe(each).share:
            share = _binomial.effective_proportion(each, counts)
            assert each(counts) == pytest.approx(
                share.hits / share.trials if share.trials else float("nan"), rel=1e-12, nan_ok=True
            )


def test_measures_that_are_proportions() -> None:
    assert {name for name, each in MEASURES.items() if describe(each).share} == {
        *("accuracy", "error_rate", "sensitivity", "specificity", "precision", "npv", "fpr", "fnr", "fdr"),
        *("false_omission_rate", "prevalence", "flag_rate", "pass_rate", "jaccard"),
    }
    assert {name for name, each in multiclass.MEASURES.items() if describe(each).share} == {"accuracy", "hamming_loss"}


def make_weighted_counts(seed: int, rows: int = 60) -> tuple[Counts[float], np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth, score, weight = rng.random(rows) < 0.5, rng.random(rows), rng.exponential(size=rows) + 0.1
    return Curve(tally(truth, score, weight=weight)).at(0.4), truth, score >= 0.4, weight


@pytest.mark.parametrize("seed", range(5))
def test_effective_trials_match_the_variance_of_a_ratio(seed: int) -> None:
    counts, truth, flagged, weight = make_weighted_counts(seed)
    w, y = weight[flagged], truth[flagged]
    p = w @ y / w.sum()
    variance = np.sum((w * (y - p)) ** 2) / w.sum() ** 2
    trials = p * (1 - p) / variance
    share = _binomial.effective_proportion(measure.precision, counts)
    assert share.trials == pytest.approx(trials, rel=1e-12)
    assert trials < flagged.sum()
    result = infer.estimate("precision", counts, method="wilson")
    assert (result.low, result.high) == pytest.approx(_binomial.wilson(p * trials, (1 - p) * trials, 0.95), abs=1e-12)


def test_effective_trials_differ_from_kish_after_reweighing() -> None:
    # A hundred true and a hundred false alarms, these weighing 99 times as much: the log-odds have the variance
    # 1/100 + 1/100, whatever the weights are.
    squares = Counts(tp=100.0, fp=100 * 99.0**2, fn=1.0, tn=1.0)
    counts = Counts(tp=100.0, fp=9900.0, fn=1.0, tn=1.0, moments=(squares, Counts(100, 100, 1, 1)))
    share = _binomial.effective_proportion(measure.precision, counts)
    assert share.trials == pytest.approx(1 / (0.01 * 0.99 * (1 / 100 + 1 / 100)))
    kish = 10_000**2 / (100 + 100 * 99**2)
    assert share.trials > 40 * kish


def test_effective_trials_are_kishs_without_misses() -> None:
    squares = Counts(tp=1.0 + 4 + 9, fp=0.0, fn=0.0, tn=1.0)
    counts = Counts(tp=6.0, fp=0.0, fn=0.0, tn=1.0, moments=(squares, Counts(3, 0, 0, 1)))
    assert _binomial.effective_proportion(measure.sensitivity, counts).trials == pytest.approx(36 / 14)
    result = infer.estimate("sensitivity", counts)
    assert result.high == 1
    assert result.low == pytest.approx(0.025 ** (14 / 36))


@given(st.integers(0, 50), st.integers(0, 50), st.sampled_from(list(_binomial.METHODS)))
def test_intervals_mirror_when_hits_and_misses_swap(hits: int, misses: int, method: str) -> None:
    if hits + misses:
        low, high = _binomial.METHODS[method](hits, misses, 0.9)
        other = _binomial.METHODS[method](misses, hits, 0.9)
        assert (low, high) == pytest.approx((1 - other[1], 1 - other[0]), abs=1e-12)


def test_normal_quantiles_equal_those_of_scipy() -> None:
    for level in (0.001, 0.3, 0.5, 0.9, 0.95, 0.999999, 1 - 1e-12, 1 - 1e-15):
        assert _binomial.normal_quantile(level) == pytest.approx(-ndtri((1 - level) / 2), rel=1e-12)
