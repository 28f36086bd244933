"""The type Population: errors, tables, tails, discrete scores and samples."""

import dataclasses
from math import inf, isnan, nan

import numpy as np
import pytest
from scipy import stats

from baserate import MissingValuesError, OptionError, Population, curve, measure, population, tally


@pytest.mark.parametrize("share", [-0.1, 1.1, nan, inf])
def test_invalid_prevalences_raise(share: float) -> None:
    with pytest.raises(OptionError, match="expected 0, 1 or a prevalence from 1e-12 to 1 - 1e-12"):
        population.linear(prevalence=share)
    with pytest.raises(OptionError, match="prevalence is"):
        population.linear().at_prevalence(share)


def test_invalid_distributions_raise() -> None:
    with pytest.raises(
        OptionError, match="negative is not a distribution: it lacks cdf, sf, ppf, isf, rvs, pdf; take one"
    ):
        Population(0.3, stats.norm(), 0.5)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="positive is not a distribution: it lacks rvs"):
        Population(stats.norm(), _IncompleteDistribution(), 0.5)  # type: ignore[arg-type]


class _IncompleteDistribution:
    pdf = cdf = sf = ppf = isf = staticmethod(float)


def test_populations_are_frozen_and_compared_by_value() -> None:
    result = population.binormal(means=(0, 2))
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.prevalence = 0.1  # type: ignore[misc]
    assert result == population.binormal(means=(0, 2))
    assert result.at_prevalence(0.1) == population.binormal(means=(0, 2), prevalence=0.1)
    assert repr(population.linear()) == (
        "Population(negative=Linear(rising=False), positive=Linear(rising=True), prevalence=0.5)"
    )


def test_tables_of_one_threshold_and_of_many() -> None:
    result = population.linear(prevalence=0.25)
    one = result.at(0.5)
    assert (one.tp, one.fp, one.fn, one.tn) == (0.1875, 0.1875, 0.0625, 0.5625)
    assert isinstance(one.tp, float)
    many = result.at(np.array([[inf, 1.0], [0.5, -inf]]))
    assert many.shape == (2, 2)
    assert (many.tp[1, 0], many.flagged[0, 0], many.flagged[0, 1], many.not_flagged[1, 1]) == (one.tp, 0, 0, 0)
    assert (result.tpr(0.5), result.fpr(0.5)) == (0.75, 0.25)
    with pytest.raises(MissingValuesError, match="a threshold is NaN"):
        result.at(nan)
    with pytest.raises(MissingValuesError, match="a threshold is NaN"):
        result.tpr(np.array([0.1, nan]))


def test_small_cells_are_as_precise_as_large_ones() -> None:
    result = population.binormal(means=(0, 1), prevalence=0.5)
    far = result.at(30.0)
    assert far.fp == pytest.approx(0.5 * stats.norm.sf(30), rel=1e-13)
    assert far.tp == pytest.approx(0.5 * stats.norm.sf(29), rel=1e-13)
    assert result.at(-30.0).fn == pytest.approx(0.5 * stats.norm.cdf(-31), rel=1e-13)
    assert population.linear().at(1e-12).fn == pytest.approx(0.5e-24, rel=1e-15)


def test_likelihoods_and_posteriors_hold_in_the_tails() -> None:
    result = population.binormal(means=(0, 1), prevalence=0.01)
    x = np.array([-40.0, 0.5, 40.0])
    np.testing.assert_allclose(result.likelihood_ratio(x), np.exp(x - 0.5), rtol=1e-12)
    odds = 0.01 / 0.99 * np.exp(x - 0.5)
    np.testing.assert_allclose(result.posterior(x), odds / (1 + odds), rtol=1e-12)
    wide = population.binormal(means=(0, 100))
    assert (wide.likelihood_ratio(1e4), wide.posterior(1e4), wide.posterior(-1e4)) == (inf, 1, 0)
    np.testing.assert_allclose(result.density(x), 0.01 * stats.norm(1).pdf(x) + 0.99 * stats.norm.pdf(x), rtol=1e-12)


def test_atoms_outweigh_densities() -> None:
    perfect = population.retrieval("perfect")
    assert (perfect.posterior(1.0), perfect.posterior(0.0), perfect.likelihood_ratio(1.0)) == (1, 0, inf)
    assert isnan(perfect.likelihood_ratio(0.5))
    assert perfect.density(1.0) == 0
    mixed = Population(stats.norm(), stats.binom(2, 0.5), 0.5)
    assert mixed.likelihood_ratio(np.array([0.0, 0.5])).tolist() == [inf, 0]
    coins = Population(stats.binom(2, 0.5), stats.binom(2, 0.75), 0.5)
    np.testing.assert_allclose(coins.likelihood_ratio(np.arange(3.0)), [0.25, 0.75, 2.25], rtol=1e-12)


def test_discrete_scores_are_those_of_a_tally() -> None:
    result = Population(stats.binom(4, 0.25), stats.binom(4, 0.5), 0.4)
    score = np.arange(5.0)
    weight = np.concatenate([0.4 * stats.binom(4, 0.5).pmf(score), 0.6 * stats.binom(4, 0.25).pmf(score)])
    c = curve(tally(np.repeat([True, False], 5), np.tile(score, 2), weight=weight))
    assert result.auc == pytest.approx(measure.auc(c), rel=1e-14)
    assert result.average_precision == pytest.approx(measure.average_precision(c), rel=1e-14)
    for t in (4.0, 2.5, 2.0, 0.0):
        assert measure.mcc(result.at(t)) == pytest.approx(measure.mcc(c.at(t)), rel=1e-12, nan_ok=True)
    for name in ("pr_auc", "ks", "gini", "cap_area", "lorenz_gini", "accuracy_ratio", "partial_auc"):
        assert population.exact_value(result, name) == pytest.approx(measure.find_measure(name)(c), rel=1e-12)


def test_one_class_may_be_discrete_and_the_other_not() -> None:
    result = Population(stats.norm(), stats.binom(2, 0.5), 0.5)
    assert result.auc == pytest.approx(0.25 * 0.5 + 0.5 * stats.norm.cdf(1) + 0.25 * stats.norm.cdf(2), rel=1e-12)
    turned = Population(stats.binom(2, 0.5), stats.norm(), 0.5)
    assert turned.auc == pytest.approx(1 - result.auc, rel=1e-12)
    steps = stats.binom(2, 0.5).sf(-1 + np.arange(3))
    parts = [stats.norm.sf(2), stats.norm.sf(1), 0.5, 1.0]

    # Precision of a positive score between two atoms: ∫ u / (u + v) du for a constant v.
    def area(low: float, high: float, v: float) -> float:
        return (high - low) - v * np.log((high + v) / (low + v)) if v else high - low

    wanted = sum(
        area(*pair, v) for pair, v in zip(zip([0, *parts], parts, strict=False), [0, *steps[::-1]], strict=True)
    )
    assert turned.average_precision == pytest.approx(wanted, rel=0, abs=1e-12)


def test_prevalences_of_0_and_1() -> None:
    none, all_ = population.linear(prevalence=0), population.linear(prevalence=1)
    assert isnan(none.average_precision)
    assert all_.average_precision == pytest.approx(1, rel=1e-15)
    assert none.auc == all_.auc == pytest.approx(5 / 6)  # the distributions do not depend on the prevalence
    assert isnan(population.exact_value(none, "auc"))
    assert none.at(0.5).positives == all_.at(0.5).negatives == 0
    assert (none.posterior(0.5), all_.posterior(0.5)) == (0, 1)


def test_d_prime() -> None:
    assert population.binormal(means=(1, 2.5), sds=(0.5, 0.5)).d_prime == pytest.approx(3, rel=1e-15)
    assert population.binormal(means=(0, 40)).d_prime == pytest.approx(40, rel=1e-15)
    assert population.logit_normal(means=(0, 3), sds=(1, 2)).d_prime == pytest.approx(3 * np.sqrt(2 / 5), rel=1e-15)
    by_auc = Population(stats.norm(0, 1), stats.norm(2, 1), 0.5)
    assert by_auc.d_prime == pytest.approx(2, rel=1e-12)
    assert population.retrieval("random").d_prime == 0


def test_samples_are_reproducible() -> None:
    result = population.beta(negative=(1, 4), positive=(1, 1), prevalence=0.3)
    one, two = result.draw(500, 7), result.draw(500, np.random.default_rng(7))
    assert (one.truth == two.truth).all()
    assert (one.score == two.score).all()
    assert one.truth.dtype == bool
    assert (result.draw(500, 8).score != one.score).any()
    assert {int(result.draw(50, seed).truth.sum()) for seed in range(20)} != {15}
    assert {int(result.draw(50, seed, positives=15).truth.sum()) for seed in range(20)} == {15}
    # In random order, not class by class.
    assert 0 < np.count_nonzero(one.truth[:100]) < 100


def test_the_number_of_positives_is_binomial() -> None:
    many = np.array([population.linear(prevalence=0.2).draw(100, seed).truth.sum() for seed in range(400)])
    assert abs(many.mean() - 20) < 5 * 4 / np.sqrt(400)
    assert 4 * 0.8 < many.std() < 4 * 1.2


@pytest.mark.parametrize(("rows", "positives"), [(-1, None), (10, 11), (10, -1)])
def test_invalid_sample_sizes_raise(rows: int, positives: int | None) -> None:
    with pytest.raises(OptionError, match="cannot be drawn; give 0 ≤ positives ≤ rows"):
        population.linear().draw(rows, 0, positives=positives)


def test_an_empty_sample_is_valid() -> None:
    empty = population.linear().draw(0, 0)
    assert (len(empty.truth), len(empty.score)) == (0, 0)
    assert population.linear().draw(3, 0, positives=3).truth.all()
