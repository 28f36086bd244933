"""Sample sizes: laws of all answers, numbers by hand, reference implementations, and invalid options."""

from collections.abc import Callable
from itertools import product
from math import ceil, log, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy.special import ndtr, ndtri
from scipy.stats import binom, binomtest

from baserate import BaserateError, OptionError, Population, Rows, Tally, measure, population, tally
from baserate.infer import (
    AucPair,
    ClassVariance,
    SampleSize,
    _auc_intervals,
    alpha_of_auc_test,
    binormal_pair,
    binormal_spread,
    delong_pair,
    detectable_auc,
    estimate,
    hypothetical_pair,
    independent_pair,
    power_of_auc_difference,
    power_of_auc_test,
    power_of_proportion_difference,
    power_of_proportion_test,
    reported_pair,
    sample_size_by_simulation,
    sample_size_for_auc,
    sample_size_for_auc_difference,
    sample_size_for_auc_test,
    sample_size_for_observed_expected,
    sample_size_for_proportion,
    sample_size_for_proportion_difference,
    sample_size_for_proportion_test,
)
from baserate.infer._auc_intervals import AucEstimate, newcombe_variance
from baserate.infer._binomial import METHODS, Proportion, proportion_interval
from baserate.infer._sample_size import Sides
from baserate.infer._sample_size_auc import expect_auc
from tests.tiers import slow, take_in_tiers, tiered_rows

shares = st.floats(0.01, 0.99)
widths = st.floats(0.005, 0.3)
prevalences = st.sampled_from([0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
Z = float(ndtri(0.975))


def half(expect: float, trials: int, method: str | None = None, level: float = 0.95) -> float:
    low, high, _ = proportion_interval(Proportion(expect * trials, (1 - expect) * trials), level, method)
    return (high - low) / 2


@given(expect=st.floats(0, 1), wanted=widths, method=st.sampled_from([None, *METHODS]))
def test_half_width_of_a_proportion_is_reached_by_the_smallest_size(
    expect: float, wanted: float, method: str | None
) -> None:
    result = sample_size_for_proportion("accuracy", expect, wanted, method=method)
    assert result.rows == result.trials
    assert result.half_width == half(expect, result.rows, method) <= wanted
    assert result.rows == 1 or half(expect, result.rows - 1, method) > wanted


@given(expect=st.floats(0, 1), trials=st.integers(1, 5000), method=st.sampled_from([None, *METHODS]))
def test_half_widths_decrease_with_every_row(expect: float, trials: int, method: str | None) -> None:
    assert half(expect, trials + 1, method) <= half(expect, trials, method) * (1 + 1e-12)


@given(expect=shares, wanted=widths)
def test_wilsons_half_width_solved_by_hand(expect: float, wanted: float) -> None:
    # h² (n + z²)² = z² (n p q + z²/4), a quadratic in n
    spread = expect * (1 - expect)
    a, b, c = wanted**2, 2 * wanted**2 * Z**2 - Z**2 * spread, wanted**2 * Z**4 - Z**4 / 4
    exact = (-b + sqrt(b * b - 4 * a * c)) / (2 * a)
    assume(abs(exact - round(exact)) > 1e-6)
    assert sample_size_for_proportion("accuracy", expect, wanted, method="wilson").rows == max(ceil(exact), 1)


def test_size_for_a_proportion_of_one_by_hand() -> None:
    # Clopper and Pearson: low is (0.025)^(1/n), so n = log 0.025 / log(1 − 2h)
    result = sample_size_for_proportion("sensitivity", 1, 0.05, prevalence=0.1)
    assert result.trials == ceil(log(0.025) / log(0.9)) == 36
    assert (result.rows, result.positives, result.negatives, result.how) == (360, 36, 324, "Clopper–Pearson")


@pytest.mark.parametrize(
    ("name", "portion", "among"),
    [
        ("sensitivity", 0.2, "positives"),
        ("fnr", 0.2, "positives"),
        ("specificity", 0.8, "negatives"),
        ("fpr", 0.8, "negatives"),
        ("precision", 0.05, "flagged"),
        ("fdr", 0.05, "flagged"),
        ("npv", 0.95, "passed"),
        ("false_omission_rate", 0.95, "passed"),
        ("accuracy", 1, "rows"),
        ("flag_rate", 1, "rows"),
    ],
)
def test_trials_of_each_measure(name: str, portion: float, among: str) -> None:
    result = sample_size_for_proportion(name, 0.8, 0.04, prevalence=0.2, flag_rate=0.05)
    trials = sample_size_for_proportion("accuracy", 0.8, 0.04).rows
    assert (result.trials, result.among) == (trials, among)
    assert result.rows == ceil(round(trials / portion, 6))
    assert (result.positives, result.negatives) == (round(0.2 * result.rows), result.rows - round(0.2 * result.rows))
    assert result == sample_size_for_proportion(vars(measure)[name], 0.8, 0.04, prevalence=0.2, flag_rate=0.05)


def test_rows_are_exactly_trials_over_the_prevalence() -> None:
    for trials, tenths in product((139, 683, 1064), range(1, 10)):
        expect = sample_size_for_proportion("accuracy", 0.5, sqrt(Z * Z / 4 / (trials + Z * Z)) + 1e-12)
        assert expect.rows == trials
        result = sample_size_for_proportion("sensitivity", 0.5, expect.half_width or 0, prevalence=tenths / 10)
        assert result.rows == -(-trials * 10 // tenths)


def test_unknown_prevalence_leaves_classes_open() -> None:
    result = sample_size_for_proportion("accuracy", 0.8, 0.05)
    assert (result.positives, result.negatives) == (None, None)


@given(expect=shares, wanted=widths, prevalence=prevalences)
def test_sensitivity_and_specificity_mirror_each_other(expect: float, wanted: float, prevalence: float) -> None:
    one = sample_size_for_proportion("sensitivity", expect, wanted, prevalence=prevalence)
    other = sample_size_for_proportion("specificity", expect, wanted, prevalence=round(1 - prevalence, 10))
    assert (one.rows, one.trials) == (other.rows, other.trials)


def auc_half_width(expect: float, rows: int, prevalence: float, method: str) -> float:
    classes = prevalence * rows, (1 - prevalence) * rows
    variance = _auc_intervals.exponential_variance if method == "hanley-mcneil" else newcombe_variance
    low, high = _auc_intervals.METHODS[method][0](AucEstimate(expect, variance(expect, *classes), *classes), 0.95)
    return (high - low) / 2


@given(
    expect=st.floats(0.05, 0.95),
    wanted=widths,
    prevalence=prevalences,
    method=st.sampled_from(list(_auc_intervals.METHODS)),
)
def test_half_width_of_an_auc_is_reached_by_the_smallest_size(
    expect: float, wanted: float, prevalence: float, method: str
) -> None:
    result = sample_size_for_auc(expect, wanted, prevalence=prevalence, method=method)
    assert result.half_width == auc_half_width(expect, result.rows, prevalence, method) <= wanted
    least = ceil(round(2 / min(prevalence, 1 - prevalence), 6))
    assert result.rows >= least
    assert result.rows == least or auc_half_width(expect, result.rows - 1, prevalence, method) > wanted


@given(expect=st.floats(0.05, 0.95), wanted=widths, prevalence=prevalences)
def test_an_auc_needs_as_many_rows_when_classes_swap(expect: float, wanted: float, prevalence: float) -> None:
    one, other = (
        sample_size_for_auc(expect, wanted, prevalence=each) for each in (prevalence, round(1 - prevalence, 10))
    )
    assert abs(one.rows - other.rows) <= 1  # 0.3 and 1 − 0.7 are not the same float


def test_hanley_and_mcneil_by_hand() -> None:
    # A 0.8: Q₁ 2/3, Q₂ 32/45; with p·n positives the variance is (0.16 + (P−1)·0.026667 + (N−1)·0.071111)/PN.
    result = sample_size_for_auc(0.8, 0.03, prevalence=0.5, method="hanley-mcneil")
    for rows, enough in ((result.rows, True), (result.rows - 1, False)):
        each = rows / 2
        variance = (0.16 + (each - 1) * (2 / 3 + 32 / 45 - 1.28)) / each**2
        assert (Z * sqrt(variance) <= 0.03) == enough


def test_binormal_variance_agrees_with_unrounded_constants() -> None:
    # Formula 4 of 1997 with b = 1 is formula 3 of 2004, but for 1/(32π) and √2.
    for auc in (0.55, 0.7, 0.9):
        pair = binormal_pair((sqrt(2) * ndtri(auc), 1), (1, 1), correlation=(0, 0))
        assert pair.first == pytest.approx(auc)
        assert pair.variance[0] == pytest.approx(binormal_spread(auc), rel=0.006)
        assert pair.covariance == (0, 0)


def test_power_of_an_auc_test_grows_with_rows_and_the_expected_auc() -> None:
    sizes = [power_of_auc_test(0.7, positives=n, negatives=3 * n) for n in (5, 10, 20, 40, 80)]
    assert sizes == sorted(set(sizes))
    expected = [power_of_auc_test(auc, positives=20, negatives=20) for auc in (0.55, 0.6, 0.7, 0.8, 0.9)]
    assert expected == sorted(set(expected))


@given(auc=st.floats(0.55, 0.95), prevalence=prevalences, power=st.floats(0.5, 0.99), sides=st.sampled_from([1, 2]))
def test_power_of_an_auc_test_is_reached_by_the_smallest_size(
    auc: float, prevalence: float, power: float, sides: Sides
) -> None:
    test: dict[str, Any] = {"sides": sides, "method": "obuchowski"}
    result = sample_size_for_auc_test(auc, power=power, prevalence=prevalence, **test)

    def at(rows: int) -> float:
        return power_of_auc_test(auc, positives=prevalence * rows, negatives=(1 - prevalence) * rows, **test)

    assert result.power == pytest.approx(at(result.rows))
    assert at(result.rows) >= power - 1e-12
    assert result.rows == ceil(round(2 / min(prevalence, 1 - prevalence), 6)) or at(result.rows - 1) < power


@pytest.mark.parametrize("method", ["interval", "obuchowski"])
def test_auc_tests_against_another_null_on_both_sides(method: str) -> None:
    classes: dict[str, Any] = {"positives": 100, "negatives": 300, "method": method}
    assert power_of_auc_test(0.8, null=0.7, **classes) < power_of_auc_test(0.8, **classes)
    assert power_of_auc_test(0.3, **classes) == pytest.approx(power_of_auc_test(0.7, **classes))
    result = detectable_auc(power=0.9, null=0.7, **classes)
    assert power_of_auc_test(result, null=0.7, **classes) == pytest.approx(0.9)
    alpha = alpha_of_auc_test(0.8, power=0.9, null=0.7, **classes)
    assert power_of_auc_test(0.8, null=0.7, alpha=alpha, **classes) == pytest.approx(0.9)


def test_power_of_an_auc_test_agrees_with_simulation() -> None:
    """Normal scores of AUC 0.7: how often DeLong's interval leaves out a half; Obuchowski is on the safe side."""
    rng = np.random.default_rng(1)
    scores = population.binormal(means=(0, sqrt(2) * ndtri(0.7)))
    shown = 0
    for _ in range(400):
        truth, score = scores.draw(80, rng, positives=40)
        pair = delong_pair(Rows(truth, {"a": score, "b": score}))
        shown += pair.first - Z * sqrt(pair.variance[0].at(40, 40)) > 0.5
    assert power_of_auc_test(0.7, positives=40, negatives=40, method="obuchowski") - 0.05 < shown / 400 < 1


def exact_area(auc: float, positives: float, negatives: float, ratio: float) -> float:
    """Variance of the AUC of two normal classes, with both placements integrated on a grid."""
    grid = ndtri((np.arange(20_000) + 0.5) / 20_000)
    mean = ndtri(auc) * sqrt(1 + ratio**2)
    above, below = ndtr(mean + ratio * grid), ndtr((mean - grid) / ratio)
    pairs = positives * negatives
    return float(auc * (1 - auc) + (negatives - 1) * above.var() + (positives - 1) * below.var()) / pairs


@pytest.mark.parametrize(("auc", "ratio"), [(0.6, 1.0), (0.8, 2.0), (0.9, 0.5), (0.3, 1.5)])
def test_variance_of_normal_scores_equals_that_of_their_placements(auc: float, ratio: float) -> None:
    result = expect_auc(auc, 40, 160, ratio)
    assert result.variance == pytest.approx(exact_area(auc, 40, 160, ratio), rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("auc", "null", "prevalence"), tiered_rows([(0.8, 0.5, 0.1), (0.8, 0.7, 0.3), (0.2, 0.5, 0.3)])
)
def test_the_size_to_show_an_auc_gives_its_interval_the_power(auc: float, null: float, prevalence: float) -> None:
    """The interval that `estimate` gives lies beyond the null as often as planned."""
    rows = sample_size_for_auc_test(auc, power=0.9, null=null, prevalence=prevalence).rows
    rng = np.random.default_rng(1)
    whole = population.binormal(means=(0, sqrt(2) * ndtri(auc)), prevalence=prevalence)
    shown = 0
    for _ in range(300):
        result = estimate("auc", tally(*whole.draw(rows, rng)))
        shown += result.low > null or result.high < null
    assert 0.87 < shown / 300 < 0.95


def test_an_auc_of_positives_that_are_spread_wider_is_as_precise_as_planned() -> None:
    rng = np.random.default_rng(1)
    result = sample_size_for_auc(0.8, 0.05, prevalence=0.1, spread_ratio=2)
    assert result.rows > 1.5 * sample_size_for_auc(0.8, 0.05, prevalence=0.1).rows
    assert "spread ratio of 2" in result.how
    whole = population.binormal(means=(0, sqrt(5) * ndtri(0.8)), sds=(1, 2), prevalence=0.1)
    observed = [estimate("auc", tally(*whole.draw(result.rows, rng))) for _ in range(100)]
    assert np.mean([(each.high - each.low) / 2 for each in observed]) == pytest.approx(0.05, rel=0.05)


def test_half_width_of_the_default_interval_is_reached_by_the_smallest_size() -> None:
    result = sample_size_for_auc(0.8, 0.03, prevalence=0.1, spread_ratio=1.5)

    def half(rows: int) -> float:
        low, high, _ = _auc_intervals.auc_interval(expect_auc(0.8, 0.1 * rows, 0.9 * rows, 1.5), 0.95)
        return (high - low) / 2

    assert result.half_width == half(result.rows) <= 0.03 < half(result.rows - 1)


@given(
    first=st.floats(0.55, 0.95),
    second=st.floats(0.55, 0.95),
    r=st.floats(0, 0.9),
    prevalence=prevalences,
    power=st.floats(0.5, 0.99),
)
def test_sizes_for_two_aucs_are_symmetric_and_reach_the_power(
    first: float, second: float, r: float, prevalence: float, power: float
) -> None:
    assume(abs(first - second) > 0.01)
    pair, swapped = hypothetical_pair(first, second, correlation=r), hypothetical_pair(second, first, correlation=r)
    result = sample_size_for_auc_difference(pair, power=power, prevalence=prevalence)
    assert result.rows == sample_size_for_auc_difference(swapped, power=power, prevalence=prevalence).rows
    classes: dict[str, Any] = {"positives": prevalence * result.rows, "negatives": (1 - prevalence) * result.rows}
    assert power_of_auc_difference(pair, **classes) == pytest.approx(result.power)
    assert (result.power or 0) >= power - 1e-12
    assume(all(both < min(each) for both, *each in zip(pair.covariance, *pair.variance, strict=True)))
    same = [
        power_of_auc_difference(pair, **classes, standard="first"),
        power_of_auc_difference(swapped, **classes, standard="second"),
    ]
    assert same[0] == pytest.approx(same[1], rel=1e-12)


@given(curves=st.lists(st.tuples(st.floats(0.2, 3), st.floats(0.4, 2)), min_size=2, max_size=2), r=st.floats(0, 0.9))
def test_two_binormal_curves_are_symmetric(curves: list[tuple[float, float]], r: float) -> None:
    one, other = curves
    pair, swapped = binormal_pair(one, other, correlation=(r, r / 2)), binormal_pair(other, one, correlation=(r, r / 2))
    assert pair.covariance == pytest.approx(swapped.covariance, rel=1e-12, abs=1e-15)
    assume(abs(pair.difference) > 0.01)
    sizes = [sample_size_for_auc_difference(each, power=0.8, prevalence=0.3).rows for each in (pair, swapped)]
    assert abs(sizes[0] - sizes[1]) <= 1


def test_correlated_models_need_fewer_rows_and_models_on_their_own_rows_two_samples() -> None:
    alone = sample_size_for_auc_difference(hypothetical_pair(0.8, 0.7), power=0.9, prevalence=0.1)
    same = [
        sample_size_for_auc_difference(hypothetical_pair(0.8, 0.7, correlation=r), power=0.9, prevalence=0.1)
        for r in (0.0, 0.3, 0.6)
    ]
    assert (alone.samples, {each.samples for each in same}) == (2, {1})
    assert alone.rows == same[0].rows > same[1].rows > same[2].rows


def test_pilots_do_not_depend_on_row_order_or_counts() -> None:
    rng = np.random.default_rng(3)
    truth = rng.random(40) < 0.4
    scores = {name: np.round(rng.normal(truth * 1.0), 1) for name in "ab"}
    count = rng.integers(1, 4, 40)
    counted = delong_pair(Rows(truth, scores, count=count))
    repeated = delong_pair(Rows(np.repeat(truth, count), {n: np.repeat(s, count) for n, s in scores.items()}))
    assert counted == repeated
    order = rng.permutation(40)
    shuffled = delong_pair(Rows(truth[order], {n: s[order] for n, s in scores.items()}, count=count[order]))
    assert shuffled.first == counted.first
    assert shuffled.covariance == pytest.approx(counted.covariance)


def test_independent_pairs_equal_those_of_their_rows() -> None:
    rng = np.random.default_rng(4)
    truth = rng.random(60) < 0.4
    scores = {name: np.round(rng.normal(truth * 1.0), 1) for name in "ab"}
    rows, apart = (
        delong_pair(Rows(truth, scores)),
        independent_pair(*(tally(truth, score) for score in scores.values())),
    )
    assert (apart.first, apart.second) == pytest.approx((rows.first, rows.second), rel=1e-14)
    assert np.array(apart.variance) == pytest.approx(np.array(rows.variance), rel=1e-12)
    assert (apart.covariance, apart.paired) == ((0, 0), False)
    assert sample_size_for_auc_difference(apart, power=0.8, prevalence=0.4).samples == 2


@given(expect=shares, goal=st.floats(0.05, 0.95), trials=st.integers(1, 200), sides=st.sampled_from([1, 2]))
def test_exact_power_agrees_with_scipys_test(expect: float, goal: float, trials: int, sides: Sides) -> None:
    assume(expect != goal)
    side = "greater" if expect > goal else "less"
    rejected = [k for k in range(trials + 1) if binomtest(k, trials, goal, side).pvalue <= 0.05 / sides]
    exact = sum(binom.pmf(k, trials, expect) for k in rejected)
    assert power_of_proportion_test(expect, goal=goal, trials=trials, sides=sides) == pytest.approx(
        exact, rel=1e-7, abs=1e-12
    )


@pytest.mark.parametrize(("expect", "goal"), [(0.9, 0.8), (0.99, 0.9), (0.6, 0.5)])
def test_power_of_a_proportion_test_is_averaged_over_the_trials(expect: float, goal: float) -> None:
    result = sample_size_for_proportion_test("sensitivity", expect, goal=goal, power=0.8, prevalence=0.5)
    assert result.rows == 2 * (result.trials or 0)
    near = np.arange(1, result.rows + 1)
    chances = binom.pmf(near, result.rows, 0.5)
    mean = sum(
        chance * power_of_proportion_test(expect, goal=goal, trials=int(n))
        for n, chance in zip(near, chances, strict=True)
    )
    assert result.power == pytest.approx(mean, abs=1e-4)
    assert (result.power or 0) >= 0.8
    assert (result.trials or 0) >= (
        sample_size_for_proportion_test("accuracy", expect, goal=goal, power=0.8).trials or 0
    )


@pytest.mark.parametrize(("expect", "goal"), [(0.9, 0.8), (0.8, 0.9), (0.6, 0.5), (1, 0.9), (0, 0.02), (0.04, 0.02)])
def test_this_and_every_larger_size_has_the_power(expect: float, goal: float) -> None:
    result = sample_size_for_proportion_test("accuracy", expect, goal=goal, power=0.8)
    assert result.rows == result.trials
    assert power_of_proportion_test(expect, goal=goal, trials=(result.trials or 0) - 1) < 0.8
    assert result.power == power_of_proportion_test(expect, goal=goal, trials=result.trials or 0)
    for more in range(300):
        assert power_of_proportion_test(expect, goal=goal, trials=(result.trials or 0) + more) >= 0.8


@given(first=shares, second=shares, paired=st.booleans(), power=st.floats(0.5, 0.99))
def test_sizes_for_two_proportions_are_symmetric(first: float, second: float, power: float, *, paired: bool) -> None:
    assume(abs(first - second) > 0.005)

    def size(one: float, other: float, name: str = "sensitivity", prevalence: float = 0.1) -> SampleSize:
        return sample_size_for_proportion_difference(
            name, one, other, power=power, prevalence=prevalence, paired=paired
        )

    result = size(first, second)
    assert size(second, first).rows == result.rows
    assert size(first, second, "specificity", 0.9).rows == result.rows
    assert abs((size(1 - first, 1 - second, "fnr").trials or 0) - (result.trials or 0)) <= 1
    trials = result.trials or 0
    assert power_of_proportion_difference(first, second, trials=trials, paired=paired) >= power - 1e-12
    assert trials == 1 or power_of_proportion_difference(first, second, trials=trials - 1, paired=paired) < power
    assert result.samples == (1 if paired else 2)


def test_connors_formula_by_hand() -> None:
    # sqrt(200)·0.1 − 1.959964·sqrt(0.2), over sqrt(0.2 − 0.01)
    result = power_of_proportion_difference(0.9, 0.8, trials=200, discordance=0.2)
    assert result == pytest.approx(float(ndtr((1.41421356 - 1.95996398 * 0.44721360) / 0.43588989)), rel=1e-6)


def test_significance_levels_do_not_exceed_one() -> None:
    assert alpha_of_auc_test(0.5001, power=0.99, positives=5, negatives=5) == 1


def test_the_more_models_disagree_the_more_rows_are_needed() -> None:
    sizes = [
        sample_size_for_proportion_difference("sensitivity", 0.9, 0.8, power=0.8, prevalence=0.1, discordance=each).rows
        for each in (0.1, 0.15, 0.2, 0.3)
    ]
    assert sizes == sorted(set(sizes))
    chance = sample_size_for_proportion_difference("sensitivity", 0.9, 0.8, power=0.8, prevalence=0.1)
    given_so = sample_size_for_proportion_difference(
        "sensitivity", 0.9, 0.8, power=0.8, prevalence=0.1, discordance=0.26
    )
    assert chance.rows == given_so.rows


NORMAL = population.binormal(means=(0, sqrt(2) * ndtri(0.8)), prevalence=0.1)


def test_simulation_agrees_with_the_formula_of_a_proportion() -> None:
    counts = NORMAL.at(1.0)
    shown = measure.sensitivity(counts)
    result = sample_size_by_simulation(NORMAL, "sensitivity", 0.05, threshold=1.0)
    normal = Z * Z * shown * (1 - shown) / 0.05**2 / 0.1
    assert result.rows == pytest.approx(normal, rel=0.06)
    assert result.half_width == pytest.approx(0.05, abs=3 * (result.error or 0))
    assert result.positives == pytest.approx(result.rows / 10, abs=1)


def test_simulation_agrees_with_the_formula_of_an_auc() -> None:
    result = sample_size_by_simulation(NORMAL, "auc", 0.05, n_simulations=1000)
    assert result.rows == pytest.approx(sample_size_for_auc(0.8, 0.05, prevalence=0.1).rows, rel=0.15)
    assert result.how.startswith("1000 simulated samples")


def test_simulation_depends_on_the_seed_alone() -> None:
    first, again, other = (sample_size_by_simulation(NORMAL, "f1", 0.1, threshold=1.0, seed=seed) for seed in (5, 5, 6))
    assert first == again
    assert first != other
    assert other.rows == pytest.approx(first.rows, rel=0.1)


@pytest.mark.slow
def test_simulation_scales_large_samples() -> None:
    result = sample_size_by_simulation(NORMAL.at_prevalence(0.5), "auc", 0.005, n_simulations=400)
    assert result.rows > 20_000
    assert "of 20000 rows, scaled" in result.how
    assert result.rows == pytest.approx(sample_size_for_auc(0.8, 0.005, prevalence=0.5).rows, rel=0.25)


def test_simulation_with_infinite_or_undefined_measures() -> None:
    odds = sample_size_by_simulation(NORMAL, "diagnostic_odds_ratio", 5, threshold=1.0)
    assert odds.half_width == pytest.approx(5, abs=4 * (odds.error or 0))
    rare = sample_size_by_simulation(NORMAL, "precision", 0.4, threshold=3.0)
    assert rare.rows >= 100
    few = sample_size_by_simulation(NORMAL, "accuracy", 0.49, threshold=1.0)
    assert (few.rows, few.how) == (100, "20000 simulated samples, no fewer than ten rows of the rarer class")


def test_simulation_with_measures_of_probabilities() -> None:
    result = sample_size_by_simulation(population.linear(), "brier", 0.03, n_simulations=400)
    assert 20 <= result.rows < 1000


@pytest.mark.slow
@pytest.mark.parametrize(
    "actual",
    [
        slow(population.linear(prevalence=0.1)),
        slow(population.binormal(prevalence=0.04)),
        slow(population.logit_normal(prevalence=0.2)),
        population.beta(negative=(0.05, 0.2), positive=(0.3, 0.1), prevalence=0.3),
    ],
    ids=["linear", "binormal", "logit-normal", "beta"],
)
def test_the_ratio_observed_to_expected_is_simulated_for_a_calibrated_model(actual: Population) -> None:
    # Independent of the code under test: the variance of O/E of a calibrated model, by integration over its scores.
    share = actual.prevalence
    rng = np.random.default_rng(5)
    probability = actual.posterior(actual.draw(400_000, rng).score)
    probability = probability[~np.isnan(probability)]  # scores that floats round to 0 or 1, where p(1 − p) is 0
    noise = float(np.sum(probability * (1 - probability))) / 400_000
    needed = noise / share**2 * (Z / 0.2) ** 2
    fixed = (1 - share) / share * (Z / 0.2) ** 2  # with E known [@riley2021]
    result = sample_size_by_simulation(actual, "observed_expected", 0.2)
    assert result.rows == pytest.approx(needed, rel=0.15)
    assert result.rows < fixed
    assert "of a calibrated model" in result.how


@pytest.mark.slow
def test_the_calibration_slope_is_simulated_for_a_calibrated_model() -> None:
    # The information of a logistic regression of the outcome on the log-odds, weighted by p(1 − p).
    actual = population.binormal(means=(0, 2), prevalence=0.2)
    score = np.linspace(-8, 10, 20_001)
    p = actual.posterior(score)
    weight = actual.density(score) * p * (1 - p)
    x = np.log(p / (1 - p))
    mean = np.sum(weight * x) / weight.sum()
    information = np.sum(weight * (x - mean) ** 2) * (score[1] - score[0])
    result = sample_size_by_simulation(actual, "calibration_slope", 0.15, n_simulations=1000)
    assert result.rows == pytest.approx((Z / 0.15) ** 2 / information, rel=0.15)


OF_PROBABILITIES = [name for name, each in measure.MEASURES.items() if measure.describe(each).of is Tally]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", take_in_tiers(OF_PROBABILITIES, {"brier", "ece", "calibration_in_the_large", "log_loss"}.__contains__)
)
def test_simulation_converts_scores_to_probabilities(name: str) -> None:
    wide = {"calibration_intercept": 0.8, "calibration_slope": 0.5, "calibration_in_the_large": 0.3}
    result = sample_size_by_simulation(
        population.binormal(prevalence=0.3), name, wide.get(name, 0.2), n_simulations=400
    )
    assert result.rows >= 34
    assert "of a calibrated model" in result.how


def test_shifted_scores_need_as_many_rows() -> None:
    # The same model on two scales: one of them looks like probabilities, and is not calibrated.
    on_logits = population.binormal(means=(-1, 1), prevalence=0.1)
    on_shares = population.logit_normal(means=(-1, 1), prevalence=0.1)
    first, second = (
        sample_size_by_simulation(each, "brier", 0.02, n_simulations=400) for each in (on_logits, on_shares)
    )
    assert first == second


PAIR = hypothetical_pair(0.8, 0.7)
WEIGHTED = tally([1, 0, 1, 0], [1, 2, 3, 4], weight=[1, 2, 1, 0.5])
PILOT = Rows(np.array([True, False, True, False]), {"a": np.arange(4.0), "b": np.arange(4.0) ** 2})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: sample_size_for_proportion("accuracy", 0.5, 0.0),
            "half_width is 0.0; expected a number from 1e-9 to below 0.5",
        ),
        (lambda: sample_size_for_proportion("accuracy", 0.5, 0.5), "half_width is 0.5"),
        (lambda: sample_size_for_proportion("accuracy", 1.5, 0.1), "expect is 1.5; expected a number from 0 to 1"),
        (lambda: sample_size_for_proportion("accuracy", 0.5, 0.1, level=1.0), "level is 1.0"),
        (
            lambda: sample_size_for_proportion("accuracy", 0.5, 0.1, method="wald"),
            "there is no method 'wald'. Known are: wilson",
        ),
        (lambda: sample_size_for_proportion("accuracy", 0.5, 1e-9), "more than 1e.12 rows would be needed"),
        (
            lambda: sample_size_for_proportion("sensitivity", 0.5, 0.1),
            "sensitivity is a proportion of positives; give prevalence=",
        ),
        (
            lambda: sample_size_for_proportion("sensitivity", 0.5, 0.1, prevalence=0),
            "prevalence is 0; expected a number from 1e-12 to 1 - 1e-12",
        ),
        (lambda: sample_size_for_proportion("sensitivity", 0.5, 0.1, prevalence=1.0), "prevalence is 1.0"),
        (
            lambda: sample_size_for_proportion("npv", 0.5, 0.1, prevalence=0.1),
            "npv is a proportion of rows not flagged; give flag_rate=",
        ),
        (
            lambda: sample_size_for_proportion("f1", 0.5, 0.1),
            "f1 is not a proportion of rows; use sample_size_by_simulation",
        ),
        (lambda: sample_size_for_proportion("f11", 0.5, 0.1), "there is no measure 'f11'"),
        (
            lambda: sample_size_for_auc(1.0, 0.1, prevalence=0.1),
            "expect is 1.0; expected a number from 1e-12 to 1 - 1e-12",
        ),
        (lambda: sample_size_for_auc(0.8, 0.1, prevalence=0.0), "prevalence is 0.0"),
        (lambda: sample_size_for_auc(0.8, 0.1, prevalence=0.1, method="wald"), "there is no method 'wald'"),
        (
            lambda: sample_size_for_auc(0.8, 0.1, prevalence=0.1, spread_ratio=0.0),
            "spread_ratio is 0.0; expected",
        ),
        (
            lambda: sample_size_for_auc(0.8, 0.1, prevalence=0.1, method="hanley-mcneil", spread_ratio=2),
            "formula assumes exponential scores; leave spread_ratio= out",
        ),
        (
            lambda: power_of_auc_test(0.8, positives=9, negatives=9, method="obuchowski", spread_ratio=2),
            "assumes equal spread in both classes; leave spread_ratio= out",
        ),
        (lambda: power_of_auc_test(0.8, positives=9, negatives=9, method="t"), "there is no method 't'"),  # type: ignore[arg-type]
        (
            lambda: power_of_auc_test(0.8, positives=9, negatives=9, alpha=0.6, sides=1),
            "alpha is 0.6; expected less than 0.5 for one side",
        ),
        (
            lambda: power_of_auc_test(0.5, positives=10, negatives=10),
            "expect and null are both 0.5; expected different values",
        ),
        (lambda: power_of_auc_test(0.8, positives=0, negatives=10), "0 positives and 10 negatives"),
        (lambda: power_of_auc_test(0.8, positives=9, negatives=9, sides=3), "sides is 3; expected 1 or 2"),  # type: ignore[arg-type]
        (lambda: power_of_auc_test(0.8, positives=9, negatives=9, alpha=0.0), "alpha is 0.0"),
        (
            lambda: sample_size_for_auc_test(0.8, power=0.05, prevalence=0.1),
            "power is 0.05, which every test reaches by chance at alpha=0.05",
        ),
        (
            lambda: sample_size_for_auc_test(0.5 + 1e-7, power=0.9, prevalence=0.1),
            "more than 1e.12 rows would be needed",
        ),
        (lambda: detectable_auc(power=0.99, positives=2, negatives=2), "no AUC up to 1 could be shown"),
        (lambda: hypothetical_pair(0.8, 0.7, correlation=2), "correlation is 2"),
        (lambda: binormal_pair((1, 0), (1, 1), correlation=(0, 0)), "a is 1 and b 0"),
        (
            lambda: reported_pair(0.8, 0.7, variances=(1e-3, 1e-3), covariance=2e-3, positives=9, negatives=9),
            "are impossible; check the numbers",
        ),
        (
            lambda: reported_pair(0.8, 0.7, variances=(np.nan, 1e-3), covariance=0, positives=9, negatives=9),
            "are impossible; check the numbers",
        ),
        (
            lambda: AucPair(0.8, 0.7, (ClassVariance(1, 1), ClassVariance(1, 1)), ClassVariance(1, 2)),
            "covariance 2 are impossible; check the numbers",
        ),
        (
            lambda: sample_size_for_auc_difference(hypothetical_pair(0.8, 0.8), power=0.9, prevalence=0.1),
            "first and second are both 0.8",
        ),
        (
            lambda: sample_size_for_auc_difference(
                AucPair(0.8, 0.7, (ClassVariance(1, 1), ClassVariance(1, 1)), ClassVariance(1, 1)),
                power=0.9,
                prevalence=0.1,
            ),
            "does not vary",
        ),
        (
            lambda: power_of_auc_difference(PAIR, positives=9, negatives=9, standard="a"),  # type: ignore[arg-type]
            "standard is 'a'; expected 'first', 'second' or None",
        ),
        (
            lambda: power_of_auc_difference(
                hypothetical_pair(0.75, 0.9, correlation=0.9), positives=9, negatives=9, standard="second"
            ),
            "the second AUC varies less than it varies with the other",
        ),
        (lambda: delong_pair(Rows(PILOT.truth, {"a": PILOT.score["a"]})), "scores of 1 model"),
        (lambda: delong_pair(Rows(PILOT.truth, PILOT.score, weight=np.ones(4))), "the rows have weights"),
        (lambda: delong_pair(Rows(np.arange(4) < 1, PILOT.score)), "fewer than two rows of a class"),
        (lambda: independent_pair(WEIGHTED, WEIGHTED), "the rows have weights"),
        (lambda: independent_pair(tally([1, 0], [1, 2]), WEIGHTED), "fewer than two rows of a class"),
        (lambda: power_of_proportion_test(0.9, goal=1.0, trials=10), "goal is 1.0; expected a number between 0 and 1"),
        (lambda: power_of_proportion_test(0.9, goal=0.8, trials=0), "trials is 0"),
        (lambda: power_of_proportion_test(0.9, goal=0.8, trials=float("nan")), "trials is nan"),  # type: ignore[arg-type]
        (
            lambda: power_of_proportion_test(0.9, goal=0.8, trials=10**30),
            "trials is 10+; expected a whole number from 1 to",
        ),
        (
            lambda: sample_size_for_proportion("sensitivity", 0.9, 0.05, prevalence=1e-12),
            "more than 1e.12 rows would be needed",
        ),
        (
            lambda: sample_size_for_proportion_difference("accuracy", 0.5, 0.5 + 1e-7, power=0.9),
            "more than 1e.12 rows would be needed",
        ),
        (lambda: power_of_proportion_test(0.8, goal=0.8, trials=9), "expect and goal are both 0.8"),
        (
            lambda: sample_size_for_proportion_test("accuracy", 0.501, goal=0.5, power=0.9),
            "trials would be needed; choose a lower power",
        ),
        (
            lambda: sample_size_for_proportion_difference("precision", 0.9, 0.8, power=0.9),
            "two models do not flag the same rows",
        ),
        (
            lambda: sample_size_for_proportion_difference("accuracy", 0.9, 0.8, power=0.9, discordance=0.4),
            "differ on 0.1 to 0.3 of the trials",
        ),
        (
            lambda: sample_size_for_proportion_difference(
                "accuracy", 0.9, 0.8, power=0.9, discordance=0.2, paired=False
            ),
            "discordance requires two models on the same rows",
        ),
        (lambda: power_of_proportion_difference(0.9, 0.8, trials=0), "trials is 0"),
        (lambda: sample_size_by_simulation(NORMAL, "f1", 0.1), "f1 requires a threshold"),
        (lambda: sample_size_by_simulation(NORMAL, "auc", 0.1, threshold=1), "auc is a measure over all thresholds"),
        (lambda: sample_size_by_simulation(NORMAL, "auc", 0), "half_width is 0"),
        (
            lambda: sample_size_by_simulation(NORMAL, "auc", 0.1, n_simulations=3),
            "n_simulations is 3; expected a whole number from 400 to",
        ),
        (lambda: sample_size_by_simulation(NORMAL, "auc", 0.1, seed=-1), "seed is -1"),
        (lambda: sample_size_by_simulation(NORMAL.at_prevalence(0), "auc", 0.1), "prevalence is 0"),
        (lambda: sample_size_by_simulation(NORMAL, measure.multiclass.mcc, 0.1), "several classes"),
        (
            lambda: sample_size_by_simulation(NORMAL, "accuracy", 1e-8, threshold=1),
            "more than 1e.12 rows would be needed",
        ),
    ],
)
def test_invalid_options_raise(call: Callable[[], object], message: str) -> None:
    with pytest.raises(BaserateError, match=message):
        call()


def test_pairs_tolerate_rounding_of_equal_variances() -> None:
    for second in np.nextafter(0.8, 1) + np.arange(50) * 1e-10:
        power = power_of_auc_difference(hypothetical_pair(0.8, float(second), correlation=1), positives=9, negatives=9)
        assert 0 <= power <= 1


def test_invalid_options_raise_usage_errors() -> None:
    with pytest.raises(OptionError):
        sample_size_for_proportion("accuracy", 0.5, -1)


def test_rows_for_a_ratio_to_a_known_expected_number() -> None:
    size = sample_size_for_observed_expected(0.2, prevalence=0.1)
    assert (size.rows, size.positives, size.half_width) == (865, 86, 0.2)
    assert sample_size_for_observed_expected(0.1, prevalence=0.1).rows == pytest.approx(4 * 865, abs=4)
    with pytest.raises(OptionError, match="half_width"):
        sample_size_for_observed_expected(-1, prevalence=0.1)
