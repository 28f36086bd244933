"""Intervals of the AUC, of measures that are linear in it, of KS and of average precision."""

from functools import partial
from math import sqrt

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from scipy.special import ndtr

from baserate import Curve, Tally, curve, infer, measure, tally
from baserate.infer import _auc_intervals, _variances
from baserate.infer._binomial import t_widening, wilson
from tests.strategies import Rows, rows

Floats = npt.NDArray[np.float64]
near = partial(pytest.approx, rel=0, abs=1e-12)


def placements(truth: npt.NDArray[np.bool_], score: Floats) -> tuple[Floats, Floats]:
    """DeLong's, pair by pair."""
    wins = (score[truth][:, None] > score[~truth]) + 0.5 * (score[truth][:, None] == score[~truth])
    return wins.mean(axis=1), wins.mean(axis=0)


@given(rows(min_size=4))
def test_delong_variance_equals_that_of_all_pairs(data: Rows) -> None:
    truth, score = data
    if min(truth.sum(), (~truth).sum()) < 2:
        return
    first, second = placements(truth, score)
    result = _auc_intervals.estimate_auc(tally(truth, score))
    assert result.value == near(first.mean())
    assert result.variance == near(first.var(ddof=1) / len(first) + second.var(ddof=1) / len(second))


def test_weighted_delong_variance_equals_that_of_all_pairs() -> None:
    rng = np.random.default_rng(4)
    truth, score, weight = rng.random(40) < 0.4, rng.integers(0, 9, 40) / 9, rng.exponential(size=40)
    wins = (score[truth][:, None] > score[~truth]) + 0.5 * (score[truth][:, None] == score[~truth])
    w, u = weight[truth], weight[~truth]
    area = w @ wins @ u / w.sum() / u.sum()
    first, second = wins @ u / u.sum() - area, w @ wins / w.sum() - area
    parts = [
        np.sum((each * moved) ** 2) / each.sum() ** 2 * len(each) / (len(each) - 1)
        for each, moved in ((w, first), (u, second))
    ]
    result = _auc_intervals.estimate_auc(tally(truth, score, weight=weight))
    assert (result.value, result.variance) == near((area, sum(parts)))
    assert result.positives == near(w.sum() ** 2 / (w @ w))


def test_delong_variance_of_300000_rows_does_not_overflow() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(300_000) < 0.5
    result = _auc_intervals.estimate_auc(tally(truth, rng.normal(size=300_000) + truth))
    assert result.value == pytest.approx(0.76, abs=0.01)
    # Of equal classes with normal scores: Hanley and McNeil's approximation is within a few per cent.
    expected = _auc_intervals.exponential_variance(result.value, result.positives, result.negatives)
    assert result.variance == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(("positives", "negatives"), [(1, 1), (1, 50), (10, 90), (500, 500)])
def test_perfect_ranking_has_an_interval_of_positive_width(positives: int, negatives: int) -> None:
    perfect = tally([1] * positives + [0] * negatives, range(positives + negatives, 0, -1))
    result = infer.estimate("auc", perfect)
    assert result.value == result.high == 1
    assert 0 <= result.low < 1
    reverse = infer.estimate("auc", tally([0] * positives + [1] * negatives, range(positives + negatives, 0, -1)))
    assert reverse.value == reverse.low == 0
    assert reverse.high == near(1 - result.low)


def test_intervals_of_perfect_rankings_narrow_with_rows() -> None:
    widths = []
    for times in (10, 40, 160):
        result = infer.estimate("auc", tally([1] * times + [0] * times, range(2 * times, 0, -1)))
        widths.append(1 - result.low)
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.1


def test_score_interval_by_hand() -> None:
    # At A = 1 the set ends where (1 − θ)² = z²V(θ), V of Hanley and McNeil with 50 in place of 10 and 90.
    result = infer.estimate("auc", tally([1] * 10 + [0] * 90, range(100, 0, -1)), method="score")
    theta, z = result.low, 1.959963984540054
    variance = theta * (1 - theta) * (1 + 49 * ((1 - theta) / (2 - theta) + theta / (1 + theta))) / 900
    assert (1 - theta) ** 2 == pytest.approx(z**2 * variance, rel=1e-9)


def test_hanley_and_mcneil_by_hand() -> None:
    area, m, n = 0.893, 51, 58
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance = (area * (1 - area) + (m - 1) * (q1 - area**2) + (n - 1) * (q2 - area**2)) / (m * n)
    assert _auc_intervals.exponential_variance(area, m, n) == near(variance)
    low, high = _auc_intervals.hanley_mcneil_interval(_auc_intervals.AucEstimate(area, 0.0, m, n), 0.95)
    assert high - low == pytest.approx(2 * 1.96 * variance**0.5, rel=1e-4)


def test_intervals_of_gini_and_accuracy_ratio_are_scaled_from_the_auc(sample: Tally) -> None:
    area = infer.estimate("auc", sample)
    for name in ("gini", "accuracy_ratio"):
        for method in (None, "delong", "score"):
            area = infer.estimate("auc", sample, method=method)
            result = infer.estimate(name, sample, method=method)
            assert (result.value, result.low, result.high) == near(
                (2 * area.value - 1, 2 * area.low - 1, 2 * area.high - 1)
            )


def test_interval_of_the_cap_area_allows_for_the_prevalence(sample: Tally) -> None:
    # The prevalence is random too, so the interval is at least as wide as that of the AUC makes it.
    share = sample.prevalence
    area, result = infer.estimate("auc", sample), infer.estimate("cap_area", sample)
    assert result.value == near(share / 2 + (1 - share) * area.value)
    assert (1 - share) * (area.high - area.low) < result.high - result.low < 2 * (1 - share) * (area.high - area.low)
    double = infer.estimate("lorenz_gini", sample)
    assert (double.low, double.high) == near((2 * result.low - 1, 2 * result.high - 1))


@pytest.fixture(scope="module")
def sample() -> Tally:
    rng = np.random.default_rng(1)
    truth = rng.random(400) < 0.3
    return tally(truth, rng.normal(size=400) + truth)


def test_methods_of_the_auc(sample: Tally) -> None:
    assert infer.methods("auc", sample) == (
        *("score", "logit-delong", "delong", "hanley-mcneil"),
        *("resample", "stratified", "bootstrap"),
    )
    result = {method: infer.estimate("auc", sample, method=method) for method in infer.methods("auc", sample)}
    # An AUC does not change with the mass of a class, so draws within classes are the same draws.
    assert result.pop("stratified").low == result["resample"].low
    assert len({(each.low, each.high) for each in result.values()}) == len(result)
    widths = [each.high - each.low for each in result.values()]
    assert max(widths) < 1.2 * min(widths)


def test_delong_interval_is_undefined_for_a_single_row_of_a_class() -> None:
    lonely = tally([1, 0, 0, 0], [0.5, 0.4, 0.6, 0.1])
    result = infer.estimate("auc", lonely, method="delong")
    assert result.why == "a class has a single row"
    assert np.isnan([result.low, result.high]).all()
    usual = infer.estimate("auc", lonely)
    assert 0 <= usual.low < usual.value < usual.high <= 1


def test_logit_delong_interval_is_undefined_at_an_auc_of_one() -> None:
    result = infer.estimate("auc", tally([1, 1, 0, 0], [4, 3, 2, 1]), method="logit-delong")
    assert np.isnan(result.low)
    assert result.why == "the AUC is 0 or 1, where log-odds are infinite"


def test_ks_interval_does_not_depend_on_the_direction_of_scores(sample: Tally) -> None:
    result = infer.estimate("ks", sample)
    assert result.value == measure.ks(Curve(sample))
    chance = infer.estimate("ks", tally([1, 0] * 50, [*range(50), *range(50)]))
    assert chance.low == 0
    flipped = Tally.from_counts(-sample.score[::-1], sample.rows[:, ::-1])
    other = infer.estimate("ks", flipped)
    assert (other.value, other.low, other.high) == near((result.value, result.low, result.high))


def test_selected_quantile_matches_miller_and_siegmund() -> None:
    from baserate.infer._confidence_bands import selected_quantile

    # Miller and Siegmund's formula with ε = 0.1 gives 0.05 near 3.05.
    assert selected_quantile(0.95) == pytest.approx(3.05, abs=0.01)
    assert selected_quantile(0.5) < selected_quantile(0.9) < selected_quantile(0.99)


def test_selected_quantile_of_few_thresholds_is_bonferronis() -> None:
    from baserate.infer._binomial import normal_quantile
    from baserate.infer._confidence_bands import selected_quantile

    assert selected_quantile(0.95, thresholds=1) == near(normal_quantile(0.95))
    assert selected_quantile(0.95, thresholds=4) == near(normal_quantile(1 - 0.05 / 4))
    assert selected_quantile(0.95, thresholds=1000) == selected_quantile(0.95)


def test_upper_bound_of_ks_is_the_highest_over_all_thresholds() -> None:
    """At the observed maximum all positives may be flagged: another threshold is less sure, and may be the true one."""
    counts = np.array([[16, 4, 0], [2, 34, 144]], dtype=np.uint8)
    result = infer.estimate("ks", Tally.from_counts(np.array([3.0, 2.0, 1.0]), counts))
    assert result.value == near(0.8)

    def upper(true: int, false: int) -> float:
        from statsmodels.stats.proportion import confint_proportions_2indep

        return float(confint_proportions_2indep(true, 20, false, 180, method="newcomb", compare="diff")[1])

    assert upper(20, 36) < upper(16, 2)
    assert result.high == pytest.approx(upper(16, 2), abs=1e-9)


def test_constant_scores_have_an_interval_of_ks() -> None:
    result = infer.estimate("ks", tally([1] * 9 + [0] * 9, [1] * 18))
    assert (result.value, result.low) == (0, 0)
    assert 0 < result.high < 1


def test_auc_of_a_single_class_is_undefined() -> None:
    result = infer.estimate("auc", tally([1, 1], [0.2, 0.3], positive=1))
    assert np.isnan(result.value)
    assert result.why == "there are no negatives"
    again = infer.estimate("auc", curve(tally([1, 1], [0.2, 0.3], positive=1)))
    assert again.why == result.why


@pytest.mark.parametrize(("positives", "negatives"), [(20, 180), (180, 20), (100, 900)])
def test_intervals_allow_for_unsampled_subgroups(positives: int, negatives: int) -> None:
    perfect = tally([1] * positives + [0] * negatives, range(positives + negatives, 0, -1))
    result = infer.estimate("auc", perfect)
    rows = min(positives, negatives)
    absent = 1 - 0.025 ** (1 / rows)  # the share that is missing from so many rows in 2.5% of samples
    assert (1 - absent) ** rows == near(0.025)
    assert result.low == near(1 - 0.75 * absent)
    assert "rule of three" in (result.how or "")


def test_interval_with_many_misranked_rows_is_logit_delong(sample: Tally) -> None:
    result, area = infer.estimate("auc", sample), _auc_intervals.estimate_auc(sample)
    wider = area._replace(variance=area.variance * t_widening(area.freedom, 0.95) ** 2)
    assert (result.low, result.high) == near(_auc_intervals.logit_delong_interval(wider, 0.95))


def test_positives_that_rank_below_most_negatives_are_covered() -> None:
    """2% of a hundred positives: none of them is drawn in 13% of samples, which intervals missed."""
    rng = np.random.default_rng(1)
    truth = np.arange(1000) < 100
    expected = 0.98 * ndtr(5 / sqrt(2)) + 0.02 * ndtr(-1 / sqrt(2))
    covered = 0
    for _ in range(300):
        score = rng.normal(size=1000)
        score[:100] += np.where(rng.random(100) < 0.02, -1.0, 5.0)
        result = infer.estimate("auc", tally(truth, score))
        covered += result.low <= expected <= result.high
    assert covered >= 0.93 * 300


def test_bounds_do_not_exceed_wilsons_for_the_smaller_class() -> None:
    """A single row on the wrong side makes the variance very unsure, yet it has a bound."""
    perfect = [1] * 50 + [0] * 50
    score = np.arange(100.0, 0, -1)
    score[0] = -1.0  # one positive below all
    result = infer.estimate("auc", tally(perfect, score))
    assert result.value == near(0.98)
    assert result.low == near(wilson(49.0, 1.0, 0.95)[0])
    assert result.how == "Wilson for the smaller class"


def test_bounds_for_unseen_rows_are_symmetric_about_one_half() -> None:
    up = _auc_intervals.auc_interval(_auc_intervals.AucEstimate(0.99, 1e-6, 30.0, 90.0, 5.0), 0.95)
    down = _auc_intervals.auc_interval(_auc_intervals.AucEstimate(0.01, 1e-6, 30.0, 90.0, 5.0), 0.95)
    assert (down[0], down[1]) == near((1 - up[1], 1 - up[0]))
    assert _auc_intervals.unseen_limits(_auc_intervals.AucEstimate(0.5, 0.0, 9.0, 9.0), 0.95) == (0.5, 0.5)


def test_few_negatives_above_all_positives_are_covered() -> None:
    """0.2% of 900 negatives: none of them is drawn in 16% of samples, which intervals of average precision missed."""
    rng = np.random.default_rng(2)
    truth = np.arange(1000) < 100

    def scores(positives: int, negatives: int) -> Floats:
        high = rng.random(negatives) < 0.002
        return np.concatenate([4 + rng.normal(size=positives), np.where(high, 8, 0) + rng.normal(size=negatives)])

    expected = measure.average_precision(curve(tally(np.arange(1_000_000) < 100_000, scores(100_000, 900_000))))
    result = [infer.estimate("average_precision", tally(truth, scores(100, 900))) for _ in range(200)]
    assert sum(each.low <= expected <= each.high for each in result) >= 0.93 * 200


def test_unseen_negatives_cost_at_most_the_closed_form_bound() -> None:
    rng = np.random.default_rng(4)
    for positives in (5, 50, 500):
        truth = np.arange(1000) < positives
        sample = tally(truth, rng.normal(size=1000) + 4 * truth)
        value = float(measure.average_precision(curve(sample)))
        lost = value - _variances.unseen_area(measure.average_precision, sample, value, 0.95)
        assert 0 < lost <= _variances._max_unseen_loss(sample, 0.95)  # noqa: SLF001


def test_low_average_precision_is_more_precise_than_a_share_of_positives() -> None:
    rng = np.random.default_rng(3)
    truth = np.arange(1000) < 50
    widths = []
    for _ in range(21):
        result = infer.estimate("average_precision", tally(truth, rng.normal(size=1000) + 0.2 * truth))
        low, high = wilson(result.value * 50, (1 - result.value) * 50, 0.95)
        widths.append((result.high - result.low) / (high - low))
    assert np.median(widths) < 0.7
