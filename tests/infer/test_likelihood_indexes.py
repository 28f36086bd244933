"""Nagelkerke's R², and the indexes of discrimination, unreliability and quality."""

from functools import partial
from math import exp, inf, isnan, log

import numpy as np
import pytest
from hypothesis import given, strategies as st

import baserate
from baserate import OptionError, Rows, infer, measure, shift
from baserate.infer._bootstrap import bootstrap_measures, measure_stack
from baserate.infer._calibration_intervals import simulate_outcomes
from tests.strategies import Rows as Sample, probability, rows

NAMES = ("nagelkerke_r2", "discrimination_index", "unreliability_index", "quality_index")


def sample(n: int, seed: int = 0, *, slope: float = 1.0) -> baserate.Tally:
    rng = np.random.default_rng(seed)
    line = rng.normal(size=n) - 0.5
    return baserate.tally(rng.random(n) < 1 / (1 + np.exp(-slope * line)), 1 / (1 + np.exp(-line)))


@given(rows(score=probability))
def test_indexes_are_functions_of_the_log_loss(data: Sample) -> None:
    tally = baserate.tally(*data)
    n, entropy, loss = tally.total, measure.log_uncertainty(tally), measure.log_loss(tally)
    index = measure.discrimination_index(tally)
    if entropy == 0:
        assert isnan(index)
        return
    if loss == inf:
        assert index == measure.nagelkerke_r2(tally) == -inf
        return
    assert index == pytest.approx(2 * (entropy - loss) - 1 / n, abs=1e-12)
    r2 = (1 - exp(2 * (loss - entropy))) / (1 - exp(-2 * entropy))
    assert measure.nagelkerke_r2(tally) == pytest.approx(r2, rel=1e-9, abs=1e-12)
    unreliability = measure.unreliability_index(tally)
    if not isnan(unreliability):
        clear = (tally.score > 1e-9) & (tally.score < 1 - 1e-9)  # Cox's test moves others away from 0 and 1
        assert not clear.all() or n * unreliability + 2 == pytest.approx(infer.cox_test(tally).statistic, abs=1e-6)
        assert measure.quality_index(tally) == pytest.approx(index - unreliability, abs=1e-9)


def test_the_constant_prevalence_has_no_skill() -> None:
    tally = baserate.tally([1, 0, 0, 0] * 5, [0.25] * 20)
    assert measure.nagelkerke_r2(tally) == pytest.approx(0, abs=1e-15)
    assert measure.discrimination_index(tally) == pytest.approx(-1 / 20)
    assert isnan(measure.unreliability_index(tally))


def test_a_perfect_model_has_r2_near_one() -> None:
    tally = baserate.tally([1, 0] * 50, [1 - 1e-12, 1e-12] * 50)
    assert measure.nagelkerke_r2(tally) == pytest.approx(1)
    assert measure.discrimination_index(tally) == pytest.approx(2 * log(2) - 0.01)


@pytest.mark.parametrize("name", NAMES)
def test_stacks_have_the_values_of_their_tallies(name: str) -> None:
    tally = sample(60)
    stack = simulate_outcomes(tally, tally.score, n_simulations=5, seed=0)
    values = measure_stack([measure.MEASURES[name]], stack)[:, 0]
    for value, positive, negative in zip(values, stack.positive, stack.negative, strict=True):
        mass = np.stack([positive, negative])
        alone = baserate.Tally(stack.score, mass, mass, mass.astype(np.int64))
        assert value == pytest.approx(measure.MEASURES[name](alone), abs=1e-9)


@pytest.mark.parametrize("name", ["nagelkerke_r2", "discrimination_index", "quality_index"])
@pytest.mark.parametrize("slope", [1.0, 0.4])
def test_intervals_agree_with_bootstrap_samples(name: str, slope: float) -> None:
    tally = sample(1500, slope=slope)
    result = infer.estimate(name, tally)
    samples = bootstrap_measures([measure.MEASURES[name]], tally, way="bootstrap", seed=1, n_samples=1500)[:, 0]
    assert (result.high - result.low) / 3.92 == pytest.approx(float(samples.std()), rel=0.1)
    weighted = shift.reweigh(tally, prevalence=0.1)
    within = infer.estimate(name, weighted)
    other = infer.estimate(name, weighted, method="stratified")
    assert within.high - within.low == pytest.approx(other.high - other.low, rel=0.15)


def test_intervals_cover() -> None:
    """Of 300 samples, 95% less three standard errors are 274."""
    tally = sample(1_000_000, seed=9, slope=0.6)
    for name in ("nagelkerke_r2", "quality_index"):
        truth = measure.MEASURES[name](tally)
        results = [infer.estimate(name, sample(250, seed, slope=0.6)) for seed in range(300)]
        assert sum(each.low <= truth <= each.high for each in results) >= 274, name


def test_unreliability_has_a_test_in_place_of_an_interval() -> None:
    result = infer.estimate("unreliability_index", sample(200))
    assert result.why == "near calibration it varies as a χ² statistic; Cox's test says whether it exceeds chance"
    clustered = Rows(np.tile([True, False], 50), {"f": np.linspace(0.1, 0.9, 100)}, cluster=np.arange(100) // 2)
    assert infer.estimate("unreliability_index", clustered).why == result.why


def test_models_are_compared() -> None:
    rng = np.random.default_rng(4)
    line = rng.normal(size=800)
    truth = rng.random(800) < 1 / (1 + np.exp(-line))
    scores = {"new": 1 / (1 + np.exp(-line)), "old": 1 / (1 + np.exp(-0.3 * line))}
    (by_loss,) = infer.compare(truth, scores, measure="log_loss")
    (by_index,) = infer.compare(truth, scores, measure="discrimination_index")
    assert by_index.difference.value == pytest.approx(-2 * by_loss.difference.value)
    assert by_index.p == pytest.approx(by_loss.p)
    (by_r2,) = infer.compare(truth, scores, measure="nagelkerke_r2")
    assert by_r2.difference.low > 0


@given(st.lists(st.tuples(st.booleans(), probability), min_size=4, max_size=30), st.sampled_from([0.5, 0.9]))
def test_quantiles_of_distances_are_those_of_numpy(data: list[tuple[bool, float]], share: float) -> None:
    truth, score = (np.array(each) for each in zip(*data, strict=True))
    tally = baserate.tally(truth, score)
    distance, mass = measure.calibration_distances(tally, "isotonic")
    each = np.repeat(distance, mass.astype(int))
    function = measure.e50 if share == 0.5 else measure.e90
    for name in ("inverted_cdf", "linear"):
        wanted = float(np.quantile(each, share, method=name))
        assert function(tally, smoother="isotonic", quantile=name) == pytest.approx(wanted, abs=1e-12), name


def test_quantiles_of_weighted_rows_do_not_depend_on_the_unit() -> None:
    rng = np.random.default_rng(1)
    score, weight = rng.random(50), rng.random(50)
    truth = rng.random(50) < score
    values = [
        measure.e90(truth, score, weight=weight * unit, smoother="isotonic", quantile="linear") for unit in (1, 1000)
    ]
    assert values[0] == pytest.approx(values[1])
    linear = partial(measure.e90, smoother="isotonic", quantile="linear")
    one, many = infer.bootstrap([linear, measure.ici], baserate.tally(truth, score), n_bootstrap=50)
    assert one.value == linear(baserate.tally(truth, score))
    assert many.low < many.value


def test_wrong_quantile() -> None:
    with pytest.raises(OptionError, match="quantile is 'weibull'; expected 'inverted_cdf' or 'linear'"):
        measure.e90([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3], quantile="weibull")  # type: ignore[call-overload]


def test_a_value_far_below_zero_has_no_interval() -> None:
    tally = baserate.tally([1, 0, 1, 0], [1e-250, 1 - 1e-16, 0.5, 0.4])
    result = infer.estimate("nagelkerke_r2", tally)
    assert result.value < -1e60
    assert result.why == "the value is too large for an interval"
