"""Edge cases of populations: crowded ends, gaps, stretches, limits, and invalid arguments."""

from math import inf, isnan, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from scipy.integrate import quad
from scipy.special import betainc

from baserate import OptionError, Population, measure, population
from baserate._numeric.distributions import Beta, LogitBeta
from baserate.population import (
    best_threshold,
    default_thresholds,
    exact_value,
    find_thresholds,
    simulation_study,
    summary,
)

ANYTHING: Any = {"nan": float("nan"), "inf": inf, "a": "a", "up": "up", "half": 2.5, "none": None}
"""Values that type checkers reject."""

shape = st.floats(0.05, 20)


@given(shape, shape, st.floats(1e-12, 1 - 1e-12))
def test_beta_quantiles_invert_the_cdf(a: float, b: float, chance: float) -> None:
    for place in (Beta(a, b).ppf(chance), Beta(a, b).isf(chance)):
        assert 0 <= place <= 1
    result = float(Beta(a, b).ppf(chance))
    if 1e-300 < result < 0.999:
        assert float(Beta(a, b).cdf(result)) == pytest.approx(chance, rel=1e-8)


@given(shape, shape, st.floats(-700, 700))
def test_log_odds_of_beta_scores_are_accurate_in_both_tails(a: float, b: float, z: float) -> None:
    result = LogitBeta(a, b)
    assert float(result.cdf(z)) + float(result.sf(z)) == pytest.approx(1, abs=1e-12)
    assert float(result.sf(z)) == float(LogitBeta(b, a).cdf(-z))
    chance = float(result.cdf(z))
    if 1e-200 < chance < 0.5:
        assert float(result.ppf(chance)) == pytest.approx(z, rel=1e-6, abs=1e-6)
    if abs(z) < 20:
        assert chance == pytest.approx(betainc(a, b, 1 / (1 + np.exp(-z))), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(
    ("negative", "positive"), [((0.2, 0.6), (0.7, 0.3)), ((0.2, 0.9), (0.7, 0.5)), ((3, 0.1), (0.1, 0.2))]
)
def test_the_auc_of_a_mirrored_population_is_the_same(negative: Any, positive: Any) -> None:  # noqa: ANN401
    one = population.beta(negative=negative, positive=positive).auc
    other = population.beta(negative=positive[::-1], positive=negative[::-1]).auc
    assert one == pytest.approx(other, abs=1e-11)


def test_average_precision_where_scores_crowd_below_one() -> None:
    result = population.beta(negative=(2, 0.5), positive=(3, 0.3), prevalence=0.1)

    def precise(z: float) -> float:
        """Integrand over the log-odds of 1 − x, on which scale scores are spread out."""
        tp, fp = 0.1 * float(LogitBeta(0.3, 3).cdf(z)), 0.9 * float(LogitBeta(0.5, 2).cdf(z))
        return float(LogitBeta(0.3, 3).pdf(z)) * tp / (tp + fp)

    wanted, _ = quad(precise, -200, 40, limit=400, epsabs=1e-12, points=[-40, -10, -3, 0, 3])
    assert result.average_precision == pytest.approx(wanted, abs=1e-9)
    for means in ((30, 35), (0, 20)):
        pair = [make(means=means, prevalence=0.1) for make in (population.binormal, population.logit_normal)]
        assert pair[0].average_precision == pair[1].average_precision


def test_discrete_scores_that_are_no_integers() -> None:
    low, high = (stats.rv_discrete(values=([0, 0.5, 1], shares))() for shares in ([0.6, 0.3, 0.1], [0.1, 0.3, 0.6]))
    result = Population(low, high, 0.5)
    # Pairs: 0.6·0.9 + 0.3·0.6 above, 0.06 + 0.09 + 0.06 equal.
    assert result.auc == pytest.approx(0.54 + 0.18 + 0.21 / 2)
    assert default_thresholds(result).tolist() == [inf, 1, 0.5, 0]
    assert best_threshold(result, "youden").threshold == 1
    with pytest.raises(OptionError, match="too many to sum"):
        _ = Population(stats.zipf(2.5), stats.zipf(2.2), 0.5).auc


def test_close_solutions_are_both_found() -> None:
    linear = population.linear()
    top = best_threshold(linear, "f1")
    for less in (1e-6, 1e-10):
        strict, lax = find_thresholds(linear, "f1", top.value - less)
        assert lax < top.threshold < strict
        assert measure.f1(linear.at(strict)) == pytest.approx(top.value - less, abs=1e-15)
    assert find_thresholds(linear, "f1", top.value) == pytest.approx((top.threshold,), abs=1e-12)


def test_solutions_on_a_stretch_are_its_strictest_threshold() -> None:
    apart = Population(stats.uniform(0, 1), stats.uniform(2, 1), 0.4)
    assert find_thresholds(apart, "accuracy", 1) == find_thresholds(apart, "sensitivity", 1) == (2.0,)
    overlapping = Population(stats.uniform(0, 1), stats.uniform(0.5, 1), 0.4)
    assert find_thresholds(overlapping, "sensitivity", np.float64(1)) == (0.5,)


@pytest.mark.slow
def test_a_constant_measure_has_one_root_only() -> None:
    assert len(find_thresholds(population.retrieval("random", prevalence=0.2), "precision", 0.2)) == 1
    assert len(find_thresholds(population.linear(), "markedness", 0.5)) == 1


@pytest.mark.parametrize("name", ["f1", "mcc", "accuracy", "youden"])
def test_over_a_gap_the_strictest_threshold_wins(name: str) -> None:
    def steps(heights: list[float]) -> Any:  # noqa: ANN401
        return stats.rv_histogram((np.array(heights), np.arange(5.0)))

    result = Population(steps([5, 3, 0, 0]), steps([0, 2, 0, 6]), 0.4)
    assert best_threshold(result, name).threshold == pytest.approx(3, abs=1e-12)


@pytest.mark.parametrize("prevalence", [0.1, 0.03, 0.01, 0.001])
@pytest.mark.parametrize("name", ["npv", "false_omission_rate"])
def test_limits_are_not_attained_by_rounding(name: str, prevalence: float) -> None:
    result = best_threshold(population.retrieval("ER+", prevalence=prevalence), name)
    assert (result.attained, result.threshold) == (False, 0)


def test_best_threshold_among_crowded_scores_at_an_end() -> None:
    actual = population.beta(negative=(0.01, 0.02), positive=(0.02, 0.01), prevalence=0.3)
    result = best_threshold(actual, "accuracy")
    assert result.value == measure.accuracy(actual.at(np.nextafter(1, 0))) > 0.72


def test_undefined_measures_do_not_affect_the_others() -> None:
    rows = summary(population.linear(prevalence=0), "sensitivity", "specificity").rows()
    output = {row["measure"]: row for row in rows if row["best"]}
    assert output["sensitivity"]["value"] is None
    assert "undefined at every threshold" in output["sensitivity"]["why"]
    assert output["specificity"]["value"] == 1


def test_thresholds_are_as_fine_as_the_scores() -> None:
    fine = default_thresholds(population.binormal(means=(0, 0.001), sds=(1e-3, 1e-3)), 9)
    assert np.ptp(fine[1:-1]) < 0.02
    assert default_thresholds(population.binormal(), 2).tolist() == [inf, -inf]
    assert len(default_thresholds(population.binormal(), 3)) == 3
    assert default_thresholds(population.linear(), 2).tolist() == [1, 0]
    two = Population(stats.binom(3, 0.3), stats.binom(3, 0.7), 0.5)
    assert default_thresholds(two).tolist() == [inf, 3, 2, 1, 0]


def test_standard_deviations_are_those_of_samples() -> None:
    result = population.linear()
    (row,) = simulation_study(result, sizes=[50], measures="auc", repeats=2, seed=3).rows()
    share = int(np.float64(0.5).view(np.uint64))
    draws = [result.draw(50, np.random.default_rng([3, 50, share, at])) for at in range(2)]
    from baserate import curve, tally

    one, other = (measure.auc(curve(tally(truth, score))) for truth, score in draws)
    assert row["value"] == pytest.approx((one + other) / 2)
    assert row["sd"] == pytest.approx(abs(one - other) / 2**0.5)


def test_exact_values_with_a_single_class() -> None:
    assert exact_value(population.linear(prevalence=1), "average_precision") == pytest.approx(1, abs=1e-15)
    assert isnan(exact_value(population.linear(prevalence=0), "average_precision"))
    assert isnan(exact_value(population.linear(prevalence=1), "auc"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda p: p.at_prevalence("half"),
            "prevalence is 'half'; expected 0, 1 or a prevalence from 1e-12 to 1 - 1e-12",
        ),
        (lambda p: p.at_prevalence(None), "prevalence is None; expected 0, 1 or a prevalence from 1e-12 to 1 - 1e-12"),
        (lambda p: p.draw(2.5, 0), "2.5 rows with None positives cannot be drawn"),
        (lambda p: p.draw(3, None), "rng is None; give a generator of NumPy"),
        (lambda p: p.draw(3, -1), "rng is -1; give a generator"),
        (lambda p: simulation_study(p, sizes=[ANYTHING["nan"]]), "sizes is nan; expected whole numbers"),
        (lambda p: simulation_study(p, sizes=[ANYTHING["inf"]]), "sizes is inf; expected whole numbers"),
        (lambda p: simulation_study(p, sizes=[ANYTHING["a"]]), "sizes is 'a'; expected whole numbers"),
        (lambda p: simulation_study(p, seed=-1), "seed is -1; expected whole numbers of 0 or more"),
        (lambda p: simulation_study(p, measures=[len]), "is not a measure"),
        (lambda p: summary(p, len), "is not a measure"),
        (lambda p: best_threshold(p, "f1", toward=ANYTHING["up"]), "toward is 'up'; expected 'high' or 'low'"),
        (
            lambda p: find_thresholds(p, "f1", ANYTHING["nan"]),
            "equals is nan; give a number, or a measure to agree with",
        ),
        (lambda p: find_thresholds(p, "f1", ANYTHING["none"]), "equals is None; give a number"),
        (lambda p: default_thresholds(p, ANYTHING["half"]), "points is 2.5; expected a whole number from 2"),
        (lambda _: population.beta(negative=(1, 1e9)), "negative is 1000000000.0; expected a shape from 0.01 to 1e6"),
        (lambda _: Beta(1, 1e9), r"up to 1e\+06: beyond, its quantiles are inaccurate"),
    ],
)
def test_invalid_arguments_raise(call: Any, message: str) -> None:  # noqa: ANN401
    with pytest.raises(OptionError, match=message):
        call(population.linear())


def test_density_of_the_log_odds_of_a_beta_score() -> None:
    # The logarithm of the odds of a beta score has the density of its score times x(1 − x).
    z = log(3)
    assert float(LogitBeta(2, 3).pdf(z)) == pytest.approx(float(Beta(2, 3).pdf(0.75)) * 0.75 * 0.25)
