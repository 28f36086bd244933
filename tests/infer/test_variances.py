"""Influence functions, bounds from variances, and heavy tails."""

from functools import partial
from itertools import product
from math import inf, isnan, sqrt

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import expit, logit, stdtr, stdtrit
from scipy.stats import ttest_rel

from baserate import Curve, MulticlassRows, NotAProbabilityError, Rows, Tally, infer, measure, tally
from baserate.infer import Comparison, Question, _binomial, _bootstrap, _variances, compare
from baserate.infer._variances import explain_heavy_tail, pareto_shape
from baserate.measure import MEASURES, describe

CLOSED = ["auc", "average_precision", "cap_area", "brier", "brier_skill", "log_loss", "log_loss_skill"]


def sample(seed: int, rows: int = 60, *, weighted: bool = True) -> Tally:
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < 0.4
    score = np.clip(np.round(rng.normal(0.4 + 0.2 * truth, 0.2), 1), 0.05, 0.95)
    return tally(truth, score, weight=rng.random(rows) + 0.5 if weighted else None)


def value(name: str, t: Tally) -> float:
    each = MEASURES[name]
    return float(each(Curve(t) if describe(each).of is Curve else t))


@pytest.mark.parametrize(("name", "seed"), list(product(CLOSED, range(3))))
def test_slopes_are_derivatives(name: str, seed: int) -> None:
    t = sample(seed)
    _, *slopes = _variances.influence_slopes(MEASURES[name], t)
    step = 1e-5
    for row, at in zip(*np.nonzero(t.mass), strict=True):
        values = []
        for sign in (1, -1):
            mass = t.mass.copy()
            mass[row, at] += sign * step
            values.append(value(name, Tally(t.score, mass, t.squares, t.rows)))
        assert slopes[row][at] == pytest.approx((values[0] - values[1]) / (2 * step), abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", CLOSED)
def test_variances_agree_with_the_bootstrap(name: str) -> None:
    t = sample(1, rows=800, weighted=False)
    draws = _bootstrap.bootstrap_values(MEASURES[name], t, way="bootstrap", seed=0, n_samples=4000)
    assert _variances.influence_variance(MEASURES[name], t).variance == pytest.approx(draws.var(), rel=0.1)


def test_losses_larger_than_all_observed_add_to_the_variance_where_they_are_plausible() -> None:
    # A hundred rows at 0.02: two positives were to be expected, none was seen.
    few = _variances.influence_variance(measure.brier, tally([0] * 100 + [1] * 100, [0.02] * 100 + [0.9] * 100))
    value = 0.5 * (0.02**2 + 0.1**2)
    observed = max((0.02**2 - value) ** 2, (0.1**2 - value) ** 2)
    outcomes = [(100 * 0.02, 0.98**2), (100 * 0.1, 0.9**2)]
    assert all(((loss - value) ** 2 > observed) for _, loss in outcomes)
    expected = sum(number for number, _ in outcomes)
    variance = sum(number * ((loss - value) / 200) ** 2 for number, loss in outcomes)
    assert few.unseen_variance == pytest.approx(variance * np.exp(3 - expected))
    # One that was seen is as large as any could be.
    assert _variances.influence_variance(measure.brier, tally([0, 1, 1, 0], [0.1, 0.1, 0.9, 0.9])).unseen_variance == 0


def test_an_underconfident_model_has_the_observed_variance() -> None:
    rng = np.random.default_rng(3)
    truth = rng.random(1000) < 0.3
    score = expit(0.2 * (logit(0.3) + 3 * (rng.standard_normal(1000) + 3 * truth - 1.5)))
    loss = np.where(truth, -np.log(score), -np.log1p(-score))
    result = infer.estimate("log_loss", tally(truth, score))
    assert (result.high - result.low) / 2 == pytest.approx(1.96 * loss.std() / np.sqrt(1000), rel=0.05)


@pytest.mark.parametrize("name", ["brier", "brier_skill", "log_loss", "log_loss_skill"])
def test_a_class_of_one_row_has_infinite_variance(name: str) -> None:
    for truth, score in (([1, 0], [0.8, 0.2]), ([1, 0, 0, 0], [0.8, 0.2, 0.3, 0.1])):
        result = infer.estimate(name, tally(truth, score))
        assert result.why is None
        assert (result.low, result.high) == {
            "brier": (0, 1),
            "log_loss": (0, np.inf),
        }.get(name, (-np.inf, 1))


def test_small_losses_by_luck_have_a_wide_interval() -> None:
    # A hundred events given probability 0.99, and all happened: one in a hundred would have cost much.
    lucky = tally(np.ones(100, dtype=bool), np.full(100, 0.99), positive=True)
    result = infer.estimate("brier", lucky)
    assert result.value == pytest.approx(1e-4)
    assert result.high > 0.01
    assert infer.estimate("log_loss", lucky).high > 0.05


def test_intervals_of_perfect_forecasts() -> None:
    perfect = tally([1, 1, 0, 0] * 10, [1.0, 1.0, 0.0, 0.0] * 10)
    brier = infer.estimate("brier", perfect)
    assert (brier.value, brier.low) == (0, 0)
    assert brier.high == pytest.approx(1 - 0.025 ** (1 / 40))
    precision = infer.estimate("average_precision", perfect)
    assert precision.value == precision.high == 1
    assert precision.low < 0.95


def test_infinite_losses_have_no_interval() -> None:
    result = infer.estimate("log_loss", tally([1, 0], [0.0, 0.5]))
    assert result.value == float("inf")
    assert np.isnan(result.low)
    assert result.why == "the value is infinite"


def test_correct_probabilities_of_0_and_1_have_an_interval() -> None:
    result = infer.estimate("log_loss", tally([1, 0, 1, 0], [1.0, 0.0, 0.6, 0.3]))
    assert 0 < result.low < result.value < result.high < float("inf")


def test_scores_that_are_no_probabilities_raise() -> None:
    with pytest.raises(NotAProbabilityError):
        infer.estimate("brier", tally([1, 0], [2.0, 0.5]))


def test_interval_of_a_positive_mean_equals_that_of_a_count() -> None:
    # Garwood's problem with the normal approximation: (x − θ)² = z²θ.
    z = 1.959963984540054
    for count in (4.0, 10.0, 50.0):
        low, high = _variances.bound_positive_mean(count, count, 0.95)
        assert (low - count) ** 2 == pytest.approx(z**2 * low)
        assert (high - count) ** 2 == pytest.approx(z**2 * high)


def test_t_widening_is_the_ratio_of_t_and_normal_quantiles() -> None:
    from scipy import stats

    for freedom, level in product((1, 4, 30.5), (0.8, 0.95)):
        wanted = stats.t.ppf((1 + level) / 2, freedom) / stats.norm.ppf((1 + level) / 2)
        assert _binomial.t_widening(freedom, level) == pytest.approx(wanted)
    assert _binomial.t_widening(float("inf"), 0.9) == 1


@pytest.mark.slow
def test_scores_of_many_rows_are_pooled() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(120_000) < 0.3
    large = tally(truth, rng.normal(size=len(truth)) + truth)
    assert len(_bootstrap.pool_scores(large).score) == _bootstrap.N_BUCKETS
    assert _bootstrap.pool_scores(large).rows.sum() == 120_000
    assert _bootstrap.pool_scores(sample(0)).score is not None
    small = tally(truth[:1000], large.score[:1000])
    assert _bootstrap.pool_scores(small) is small
    result = infer.estimate("pr_auc", large)
    assert "4096 buckets" in str(result.how)
    assert result.value == measure.pr_auc(Curve(large))
    # As sure as average precision, which has a closed form and hardly differs here.
    other = infer.estimate("average_precision", large)
    assert result.high - result.low == pytest.approx(other.high - other.low, rel=0.15)


def test_buckets_hold_equal_mass() -> None:
    rng = np.random.default_rng(1)
    weight = rng.exponential(size=150_000)
    t = tally(rng.random(len(weight)) < 0.5, rng.random(len(weight)), weight=weight)
    mass = _bootstrap.pool_scores(t).mass.sum(axis=0)
    assert mass.sum() == pytest.approx(weight.sum())
    assert mass.max() < 1.5 * mass.mean()
    assert _bootstrap.pool_scores(t).squares.sum() == pytest.approx((weight**2).sum())


def test_bounds_of_partial_areas_do_not_exceed_perfection() -> None:
    from functools import partial

    t = tally([1] * 20 + [0] * 20, range(40, 0, -1))
    result = infer.estimate(partial(measure.partial_auc, fpr=(0, 0.1)), t)
    assert result.value == result.high == pytest.approx(0.1)
    assert 0 < result.low < 0.1
    scaled = infer.estimate(partial(measure.partial_auc, fpr=(0, 0.1), standardized=True), t)
    assert scaled.high == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["partial_auc", "pr_auc"])
def test_the_unit_of_weights_does_not_change_samples(name: str) -> None:
    truth, score, weight = np.arange(60) % 3 == 0, np.arange(60) * 7 % 60 / 60, np.linspace(0.1, 3, 60)
    for method in (None, "resample"):
        result, *scaled = (
            infer.estimate(name, Tally.of_rows(truth, score, weight=weight * unit), method=method)
            for unit in (1, 7, 0.3)
        )
        for each in scaled:
            assert (each.low, each.high) == pytest.approx((result.low, result.high))


def test_influential_rows_reduce_degrees_of_freedom() -> None:
    rng = np.random.default_rng(9)
    truth = np.arange(100) < 50
    t = tally(truth, rng.normal(size=100) + truth)
    assert _variances.bootstrap_freedom(measure.partial_auc, t) == 49
    assert _variances.bootstrap_freedom(partial(measure.partial_auc, fpr=(0, 0.2)), t) == pytest.approx(9)
    assert _variances.bootstrap_freedom(partial(measure.partial_auc, tpr=(0.9, 1)), t) == pytest.approx(4)
    assert _variances.bootstrap_freedom(measure.pr_auc, t) == min(
        _variances.influence_variance(measure.average_precision, t).freedom, 49
    )


Array = npt.NDArray[np.float64]


def paired_sample(size: int, seed: int, *, sharp: float = 2.5, separation: float = 2.0) -> Rows:
    """Two equally good models that are too confident."""
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < 0.3
    shared = rng.normal(size=size)

    def score() -> Array:
        observed = separation * truth + sqrt(0.7) * shared + sqrt(0.3) * rng.normal(size=size)
        return np.asarray(1 / (1 + np.exp(-sharp * (np.log(3 / 7) - separation**2 / 2 + separation * observed))))

    return Rows(truth, {"new": score(), "old": score()})


def losses(rows: Rows, model: str) -> Array:
    return np.asarray((rows.truth - np.asarray(rows.score[model], dtype=np.float64)) ** 2)


def freedom(added: Array) -> float:
    """Twice the squared variance over the variance of the variance, no more than of normal rows."""
    n = len(added)
    second, fourth = np.sum(added**2) * n / (n - 1), np.sum(added**4) * (n / (n - 1)) ** 2
    return float(min(n - 1, 2 * second**2 / (fourth - second**2 / n)))


def assert_comparison(result: Comparison, value: float, error: float, degrees: float) -> None:
    half = stdtrit(degrees, 0.975) * error
    assert result.difference.value == pytest.approx(value)
    assert result.statistic == pytest.approx(value / error)
    assert (result.difference.low, result.difference.high) == pytest.approx((value - half, value + half))
    assert result.p == pytest.approx(2 * stdtr(degrees, -abs(value) / error))


def test_brier_is_the_paired_t_test_with_fewer_degrees_of_freedom() -> None:
    rows = paired_sample(80, 1)
    apart = losses(rows, "new") - losses(rows, "old")
    (result,) = compare(rows, measure="brier")
    assert result.statistic == pytest.approx(ttest_rel(losses(rows, "new"), losses(rows, "old")).statistic)
    assert_comparison(result, apart.mean(), apart.std(ddof=1) / sqrt(80), freedom(apart - apart.mean()))
    assert freedom(apart - apart.mean()) < 40  # a few rows make most of the variance


def test_weights_and_clusters_by_hand() -> None:
    rows = paired_sample(60, 2)
    weight = np.random.default_rng(3).random(60) + 0.2
    cluster = np.arange(60) // 4
    apart = losses(rows, "new") - losses(rows, "old")
    mean = np.average(apart, weights=weight)
    added = weight * (apart - mean) / weight.sum()
    (result,) = compare(Rows(rows.truth, rows.score, weight=weight), measure="brier")
    assert_comparison(result, mean, sqrt(np.sum(added**2) * 60 / 59), freedom(added))
    sums = added.reshape(15, 4).sum(axis=1)
    (result,) = compare(Rows(rows.truth, rows.score, weight=weight, cluster=cluster), measure="brier")
    assert_comparison(result, mean, sqrt(np.sum(sums**2) * 15 / 14), freedom(sums))


@pytest.mark.parametrize("name", ["brier_skill", "log_loss_skill", "average_precision"])
def test_row_contributions_are_derivatives(name: str) -> None:
    rows = paired_sample(50, 4, sharp=1.0)
    measure, step = MEASURES[name], 1e-6

    def value(weight: Array) -> float:
        result = [tally(rows.truth, rows.score[model], weight=weight) for model in ("new", "old")]
        first, second = (float(measure(Curve(each) if describe(measure).of is Curve else each)) for each in result)
        return first - second

    added = np.array([(value(1 + step * row) - value(1 - step * row)) / (2 * step) for row in np.eye(50)])
    parts = [added[rows.truth], added[~rows.truth]] if name == "average_precision" else [added]
    variance = sum(np.sum(part**2) * len(part) / (len(part) - 1) for part in parts)
    (result,) = compare(rows, measure=name)
    assert result.statistic == pytest.approx(value(np.ones(50)) / sqrt(variance), rel=1e-4)


def test_ks_by_hand() -> None:
    truth = np.repeat([True, False], [8, 12])
    # At 0.5: of positives 6 and 7 are flagged, of negatives 2 and 3; nowhere else is it more.
    new = np.array([0.9] * 6 + [0.1] * 2 + [0.9] * 2 + [0.1] * 10)
    old = np.array([0.1] * 1 + [0.9] * 7 + [0.1] * 2 + [0.9] * 3 + [0.1] * 7)
    (result,) = compare(Rows(truth, {"new": new, "old": old}), measure="ks")
    variance = 0.0
    for there in (truth, ~truth):
        values = np.concatenate([(new > 0.5)[there] * 1.0 - (old > 0.5)[there], [1, -1, 0, 0]])
        times = np.append(np.ones(there.sum()), np.full(4, 0.5))
        n = times.sum()
        mean = np.average(values, weights=times)
        variance += np.sum(times * (values - mean) ** 2) / n / (n - 1)
    value = (6 / 8 - 2 / 12) - (7 / 8 - 3 / 12)
    assert result.difference.value == pytest.approx(value)
    assert result.statistic == pytest.approx(value / sqrt(variance))
    assert result.difference.low < -0.4


@pytest.mark.slow
@pytest.mark.parametrize("size", [60, 200])
def test_confident_models_keep_the_significance_level(size: int) -> None:
    # Percentiles of a Bayesian bootstrap rejected 9% of the losses at 60 rows.
    names = ("brier", "log_loss", "brier_skill", "average_precision", "ks")
    alarms = dict.fromkeys(names, 0)
    for seed in range(200):
        for result in compare(paired_sample(size, seed), measure=list(names)):
            alarms[result.measure] += result.p < 0.05
            assert (result.p < 0.05) is not (result.difference.low <= 0 <= result.difference.high)
    assert max(alarms.values()) <= 14, alarms


def test_infinite_losses_are_reported() -> None:
    truth = np.array([True, True, False, False, True])
    sure = np.array([0.9, 0.0, 0.2, 0.1, 0.8])
    rows = Rows(truth, {"new": np.array([0.9, 0.4, 0.2, 0.1, 0.8]), "sure": sure, "other": sure / 2})
    one, both = compare(rows, measure="log_loss", models=[("new", "sure"), ("sure", "other")])
    assert one.difference.value == -inf
    assert isnan(one.difference.low)
    assert isnan(one.p)
    assert one.why == "log_loss of sure is infinite: a row has probability 0 of its own class"
    assert isnan(both.difference.value)
    assert both.why == "both values are infinite"


def test_one_sided_tests_use_the_two_sided_statistic() -> None:
    rows = paired_sample(80, 5)
    (two,) = compare(rows, measure="brier")
    (less,) = compare(rows, measure="brier", question=Question("less"))
    (better,) = compare(rows, measure="brier", question=Question("better"))
    assert less.p == better.p
    assert min(less.p, 1 - less.p) == pytest.approx(two.p / 2)


def make_scored_rows(rng: np.random.Generator, rows: int, freedom: float) -> Tally:
    """Log-odds that are a line of scores with Student's t distribution in both classes."""
    truth = rng.random(rows) < 0.3
    score = rng.standard_t(freedom, rows) + 1.5 * truth
    return Tally.of_rows(truth, expit(np.clip(logit(0.3) + 1.5 * (score - 0.75), -700, 36)))


@pytest.mark.parametrize("shape", [-0.3, 0.0, 0.5, 1.0])
def test_shape_of_a_generalized_pareto_distribution(shape: float) -> None:
    uniform = (np.arange(2000) + 0.5) / 2000
    excess = -np.log(uniform) if shape == 0 else (uniform**-shape - 1) / shape
    assert pareto_shape(3 * excess) == pytest.approx(shape, abs=0.05)


def test_cauchy_scores_have_no_interval_of_log_loss() -> None:
    rng = np.random.default_rng(0)
    reasons = [infer.estimate("log_loss", make_scored_rows(rng, 1000, 1.0)).why for _ in range(20)]
    assert all(reason is not None and "infinite" in reason for reason in reasons)
    t = make_scored_rows(rng, 1000, 1.0)
    assert infer.estimate("log_loss_skill", t).why == infer.estimate("log_loss", t).why
    assert infer.estimate("brier", t).why is None  # which is bounded


@pytest.mark.parametrize("rows", [60, 300, 2000])
def test_normal_scores_are_not_rejected(rows: int) -> None:
    rng = np.random.default_rng(rows)
    refused = [explain_heavy_tail(make_scored_rows(rng, rows, 1e6)) is not None for _ in range(150)]
    assert sum(refused) <= 1


def test_heavy_tails_of_clustered_rows_have_no_interval() -> None:
    rng = np.random.default_rng(4)
    truth = rng.random(1200) < 0.3
    score = expit(np.clip(1.5 * (rng.standard_cauchy(1200) + truth), -700, 36))
    rows = Rows(truth, {"risk": score}, cluster=np.arange(1200) // 30)
    reason = infer.estimate("log_loss", rows).why
    assert reason is not None
    assert "infinite" in reason


def test_heavy_tails_of_several_classes_have_no_interval() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 1500)
    for noise, refused in ((rng.standard_cauchy((1500, 3)), True), (rng.normal(size=(1500, 3)), False)):
        odds = np.clip(1.5 * (noise + np.eye(3)[truth]), -200, 200)
        odds -= odds.max(axis=1, keepdims=True)
        score = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
        reason = infer.estimate("log_loss", MulticlassRows(truth, score, ("a", "b", "c"))).why
        assert (reason is not None and "infinite" in reason) == refused
