"""Closed forms of variances: slopes by differences, variances by resampling, intervals at the ends."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from scipy.special import expit, logit

from baserate import Curve, NotAProbabilityError, Tally, infer, measure, tally
from baserate.infer import _bootstrap, _variances
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


@pytest.mark.parametrize("name", CLOSED)
def test_variances_are_those_of_resamples(name: str) -> None:
    t = sample(1, rows=800, weighted=False)
    draws = _bootstrap.bootstrap_values(MEASURES[name], t, way="bootstrap", seed=0, draws=4000)
    assert _variances.influence_variance(MEASURES[name], t).variance == pytest.approx(draws.var(), rel=0.1)


def test_losses_larger_than_all_observed_add_to_the_variance_where_they_are_plausible() -> None:
    # A hundred rows at 0.02: two positives were to be expected, none was seen.
    few = _variances.influence_variance(measure.brier, tally([0] * 100 + [1] * 100, [0.02] * 100 + [0.9] * 100))
    value = 0.5 * (0.02**2 + 0.1**2)
    seen = max((0.02**2 - value) ** 2, (0.1**2 - value) ** 2)
    outcomes = [(100 * 0.02, 0.98**2), (100 * 0.1, 0.9**2)]
    assert all(((loss - value) ** 2 > seen) for _, loss in outcomes)
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
    found = infer.estimate("log_loss", tally(truth, score))
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * loss.std() / np.sqrt(1000), rel=0.05)


@pytest.mark.parametrize("name", ["brier", "brier_skill", "log_loss", "log_loss_skill"])
def test_a_class_of_one_row_tells_nothing(name: str) -> None:
    for truth, score in (([1, 0], [0.8, 0.2]), ([1, 0, 0, 0], [0.8, 0.2, 0.3, 0.1])):
        found = infer.estimate(name, tally(truth, score))
        assert found.why is None
        assert (found.low, found.high) == {
            "brier": (0, 1),
            "log_loss": (0, np.inf),
        }.get(name, (-np.inf, 1))


def test_a_lucky_sample_has_a_wide_interval() -> None:
    # A hundred events given probability 0.99, and all happened: one in a hundred would have cost much.
    lucky = tally(np.ones(100, dtype=bool), np.full(100, 0.99), positive=True)
    found = infer.estimate("brier", lucky)
    assert found.value == pytest.approx(1e-4)
    assert found.high > 0.01
    assert infer.estimate("log_loss", lucky).high > 0.05


def test_perfect_forecasts() -> None:
    perfect = tally([1, 1, 0, 0] * 10, [1.0, 1.0, 0.0, 0.0] * 10)
    brier = infer.estimate("brier", perfect)
    assert (brier.value, brier.low) == (0, 0)
    assert brier.high == pytest.approx(1 - 0.025 ** (1 / 40))
    precision = infer.estimate("average_precision", perfect)
    assert precision.value == precision.high == 1
    assert precision.low < 0.95


def test_infinite_loss_has_no_interval() -> None:
    found = infer.estimate("log_loss", tally([1, 0], [0.0, 0.5]))
    assert found.value == float("inf")
    assert np.isnan(found.low)
    assert found.why == "the value is infinite"


def test_probabilities_of_0_and_1_that_come_true_do_no_harm() -> None:
    found = infer.estimate("log_loss", tally([1, 0, 1, 0], [1.0, 0.0, 0.6, 0.3]))
    assert 0 < found.low < found.value < found.high < float("inf")


def test_scores_that_are_no_probabilities_raise() -> None:
    with pytest.raises(NotAProbabilityError):
        infer.estimate("brier", tally([1, 0], [2.0, 0.5]))


def test_interval_of_a_positive_mean_is_that_of_a_count() -> None:
    # Garwood's problem with the normal approximation: (x − θ)² = z²θ.
    z = 1.959963984540054
    for count in (4.0, 10.0, 50.0):
        low, high = _variances.bound_positive_mean(count, count, 0.95)
        assert (low - count) ** 2 == pytest.approx(z**2 * low)
        assert (high - count) ** 2 == pytest.approx(z**2 * high)


def test_widening_is_student() -> None:
    from scipy import stats

    for freedom, level in product((1, 4, 30.5), (0.8, 0.95)):
        wanted = stats.t.ppf((1 + level) / 2, freedom) / stats.norm.ppf((1 + level) / 2)
        assert _variances.t_widening(freedom, level) == pytest.approx(wanted)
    assert _variances.t_widening(float("inf"), 0.9) == 1


def test_many_rows_are_put_into_buckets() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(120_000) < 0.3
    large = tally(truth, rng.normal(size=len(truth)) + truth)
    assert len(_bootstrap.pool_scores(large).score) == _bootstrap.N_BUCKETS
    assert _bootstrap.pool_scores(large).rows.sum() == 120_000
    assert _bootstrap.pool_scores(sample(0)).score is not None
    small = tally(truth[:1000], large.score[:1000])
    assert _bootstrap.pool_scores(small) is small
    found = infer.estimate("pr_auc", large)
    assert "4096 buckets" in str(found.how)
    assert found.value == measure.pr_auc(Curve(large))
    # As sure as average precision, which has a closed form and hardly differs here.
    other = infer.estimate("average_precision", large)
    assert found.high - found.low == pytest.approx(other.high - other.low, rel=0.15)


def test_buckets_hold_equal_mass() -> None:
    rng = np.random.default_rng(1)
    weight = rng.exponential(size=150_000)
    t = tally(rng.random(len(weight)) < 0.5, rng.random(len(weight)), weight=weight)
    mass = _bootstrap.pool_scores(t).mass.sum(axis=0)
    assert mass.sum() == pytest.approx(weight.sum())
    assert mass.max() < 1.5 * mass.mean()
    assert _bootstrap.pool_scores(t).squares.sum() == pytest.approx((weight**2).sum())


def test_partial_areas_stay_below_what_is_perfect() -> None:
    from functools import partial

    t = tally([1] * 20 + [0] * 20, range(40, 0, -1))
    found = infer.estimate(partial(measure.partial_auc, fpr=(0, 0.1)), t)
    assert found.value == found.high == pytest.approx(0.1)
    assert 0 < found.low < 0.1
    scaled = infer.estimate(partial(measure.partial_auc, fpr=(0, 0.1), standardized=True), t)
    assert scaled.high == 1


@pytest.mark.parametrize("name", ["partial_auc", "pr_auc"])
def test_the_unit_of_weights_does_not_change_samples(name: str) -> None:
    truth, score, weight = np.arange(60) % 3 == 0, np.arange(60) * 7 % 60 / 60, np.linspace(0.1, 3, 60)
    for method in (None, "resample"):
        found, *scaled = (
            infer.estimate(name, Tally.of_rows(truth, score, weight=weight * unit), method=method)
            for unit in (1, 7, 0.3)
        )
        for each in scaled:
            assert (each.low, each.high) == pytest.approx((found.low, found.high))


def test_few_rows_that_matter_leave_few_degrees_of_freedom() -> None:
    rng = np.random.default_rng(9)
    truth = np.arange(100) < 50
    t = tally(truth, rng.normal(size=100) + truth)
    assert _variances.bootstrap_freedom(measure.partial_auc, t) == 49
    assert _variances.bootstrap_freedom(partial(measure.partial_auc, fpr=(0, 0.2)), t) == pytest.approx(9)
    assert _variances.bootstrap_freedom(partial(measure.partial_auc, tpr=(0.9, 1)), t) == pytest.approx(4)
    assert _variances.bootstrap_freedom(measure.pr_auc, t) == min(
        _variances.influence_variance(measure.average_precision, t).freedom, 49
    )
