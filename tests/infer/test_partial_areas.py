"""Partial areas: derivatives and variances of binormal curves, contributions of rows, sizes and power."""

from math import sqrt

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from baserate import OptionError, Rows, infer, tally
from baserate.infer import AucPair, binormal_pair, delong_pair, hypothetical_pair
from baserate.infer._partial_areas import (
    binormal_area,
    binormal_parameters,
    place_rows,
    placement_variances,
)
from baserate.infer._sample_size_auc import placement_variance
from baserate.measure import partial_auc
from tests.strategies import Rows as Sample, few, rows

rates = st.sampled_from([(0.0, 1.0), (0.0, 0.2), (0.1, 0.3), (0.8, 1.0), (0.25, 0.5)])
curves = st.tuples(st.floats(-1, 3), st.floats(0.3, 3))


@settings(max_examples=30)
@given(curves, rates)
def test_areas_and_derivatives_are_those_of_numerical_integration(
    curve: tuple[float, float], fpr: tuple[float, float]
) -> None:
    a, b = curve
    result = binormal_area(a, b, fpr)
    height = quad(lambda x: norm.cdf(a + b * norm.ppf(x)), *fpr, limit=200)[0]
    assert result.area == pytest.approx(height, abs=1e-6)
    step = 1e-5
    by_a = (binormal_area(a + step, b, fpr).area - binormal_area(a - step, b, fpr).area) / (2 * step)
    by_b = (binormal_area(a, b + step, fpr).area - binormal_area(a, b - step, fpr).area) / (2 * step)
    assert [result.by_a, result.by_b] == pytest.approx([by_a, by_b], abs=1e-8)


@given(st.floats(0.05, 0.95), st.floats(0.5, 2.0), rates)
def test_parameters_are_found_from_the_area(part: float, ratio: float, fpr: tuple[float, float]) -> None:
    area = part * (fpr[1] - fpr[0])
    a, b = binormal_parameters(area, fpr, ratio)
    assert b == 1 / ratio
    assert binormal_area(a, b, fpr).area == pytest.approx(area, abs=1e-10)


@given(st.floats(0.55, 0.98), st.floats(0.5, 2.0))
def test_variances_of_whole_areas_are_those_of_owens_t(auc: float, ratio: float) -> None:
    a, b = binormal_parameters(auc, (0.0, 1.0), ratio)
    assert placement_variances(a, b) == pytest.approx(placement_variance(auc, ratio), abs=1e-7)


@pytest.mark.parametrize("fpr", [(0.0, 0.2), (0.1, 0.4)])
def test_variances_of_partial_areas_are_those_of_simulated_rows(fpr: tuple[float, float]) -> None:
    rng = np.random.default_rng(1)
    a, b = 1.2, 0.8
    placed = place_rows(rng.normal(a, 1, 20_000), rng.normal(0, b, 20_000), fpr)
    expected = placement_variances(a, b, fpr)
    assert [placed.positive.var(), placed.negative.var()] == pytest.approx(expected, rel=0.06)
    areas = [place_rows(rng.normal(a, 1, 60), rng.normal(0, b, 90), fpr).area for _ in range(2000)]
    assert np.var(areas) == pytest.approx(expected[0] / 60 + expected[1] / 90, rel=0.12)


@given(rows(score=few, min_size=4), rates)
def test_contributions_average_to_the_area_also_with_ties(sample: Sample, fpr: tuple[float, float]) -> None:
    positives, negatives = sample.score[sample.truth], sample.score[~sample.truth]
    if len(positives) and len(negatives):
        assert place_rows(positives, negatives, fpr).area == pytest.approx(
            partial_auc(tally(*sample), fpr=fpr), abs=1e-12
        )


def test_contributions_of_negatives_are_derivatives() -> None:
    # The change of the area where a negative is deleted, times the number that is left.
    rng = np.random.default_rng(2)
    positives, negatives = rng.normal(1, 1, 300), rng.normal(0, 1, 300)
    fpr = (0.05, 0.3)
    placed = place_rows(positives, negatives, fpr)
    deleted = [place_rows(positives, np.delete(negatives, at), fpr).area for at in range(300)]
    jackknife = 299 * (np.mean(deleted) - np.array(deleted))
    assert np.corrcoef(jackknife, placed.negative)[0, 1] > 0.98
    assert jackknife.var() == pytest.approx(placed.negative.var(), rel=0.1)


# pROC 1.18.0: power.roc.test(parslist(A1, B1, A2, B2, rn, ra, delta, FPR11, FPR12, FPR21, FPR22), …), positives.
FIRST, SECOND = (2.6, 1.0), (1.9, 1.0)


def positives_by_proc(pair: AucPair, delta: float, *, kappa: float, power: float) -> float:
    """pROC divides by a stated difference; with it, its first curve is the standard."""
    zero, real = (each.at(1, kappa) for each in pair.varying("first"))
    return float((norm.ppf(0.975) * sqrt(zero) + norm.ppf(power) * sqrt(real)) / delta) ** 2


def test_sizes_of_two_curves_are_those_of_proc() -> None:
    whole = binormal_pair(FIRST, SECOND, correlation=(0.6, 0.6))
    assert positives_by_proc(whole, 0.037, kappa=1, power=0.8) == pytest.approx(165.760455172, rel=1e-9)
    turned = binormal_pair(SECOND, FIRST, correlation=(0.6, 0.6))
    assert positives_by_proc(turned, 0.037, kappa=1, power=0.8) == pytest.approx(514.37259663, rel=1e-9)
    part = binormal_pair(FIRST, SECOND, correlation=(0.6, 0.6), fpr=(0, 0.2))
    assert positives_by_proc(part, 0.02, kappa=1, power=0.8) == pytest.approx(366.288784836, rel=1e-9)
    other = binormal_pair((1.5, 0.8), (1.2, 1.3), correlation=(0.5, 0.3), fpr=(0.1, 0.3))
    assert positives_by_proc(other, 0.05, kappa=3, power=0.9) == pytest.approx(64.9702967459, rel=1e-9)
    # var.params.obuchowski and cov.params.obuchowski with kappa = 3
    parts = [each.at(1, 3) for each in (*other.variance, other.covariance)]
    assert parts == pytest.approx([0.00872776229311, 0.0183125195479, 0.00272644349984], rel=1e-9)


def test_without_a_standard_the_order_of_the_models_does_not_matter() -> None:
    # pROC issue 122: with the first curve as the standard, 166 positives become 514 where the curves swap places.
    sizes = [
        infer.sample_size_for_auc_difference(binormal_pair(*pair, correlation=(0.6, 0.6)), power=0.8, prevalence=0.5)
        for pair in ((FIRST, SECOND), (SECOND, FIRST))
    ]
    assert sizes[0] == sizes[1]


def test_variances_of_fitted_curves_do_not_depend_on_the_sign_of_b() -> None:
    # pROC 1.18 fits ndka with a = 0.380 and b = −1.104, since it fits specificity; over false positive rates up to 0.2
    # it takes the section of a curve that falls, and reports a variance of 1.91e-05. Its own bootstrap has 1.79e-04.
    variance = binormal_pair((0.3795076, 1.1036390), (0.3795076, 1.1036390), correlation=(0, 0), fpr=(0, 0.2)).variance
    assert variance[0].at(41, 72) == pytest.approx(1.409e-4, rel=1e-3)
    with pytest.raises(OptionError, match="b"):
        binormal_pair((0.38, -1.1), (0.38, -1.1), correlation=(0, 0), fpr=(0, 0.2))


def test_planned_power_is_reached() -> None:
    first, second, fpr, r = 1.9, 1.2, (0.0, 0.2), 0.6
    rng = np.random.default_rng(3)

    def scores(n: int) -> list[npt.NDArray[np.float64]]:
        common = [sqrt(r) * rng.normal(size=n) for _ in range(2)]
        return [
            common[k] + sqrt(1 - r) * rng.normal(size=n) + (mean if k == 0 else 0)
            for mean in (first, second)
            for k in range(2)
        ]

    many = 20_000
    one, none, other, nothing = scores(many)
    truth = np.repeat([True, False], many)
    pilot = delong_pair(Rows(truth, {"a": np.r_[one, none], "b": np.r_[other, nothing]}), fpr=fpr)
    correlation = pilot.covariance.at(1, 1) / sqrt(pilot.variance[0].at(1, 1) * pilot.variance[1].at(1, 1))
    pair = hypothetical_pair(
        binormal_area(first, 1, fpr).area, binormal_area(second, 1, fpr).area, correlation=correlation, fpr=fpr
    )
    n = infer.sample_size_for_auc_difference(pair, power=0.8, prevalence=0.5).rows // 2
    rejected = 0
    for _ in range(600):
        one, none, other, nothing = scores(n)
        first_rows, second_rows = place_rows(one, none, fpr), place_rows(other, nothing, fpr)
        differences = [x - y for x, y in zip(first_rows, second_rows, strict=True)]
        error = sqrt(sum(each.var(ddof=1) / n for each in differences))
        rejected += abs(first_rows.area - second_rows.area) > 1.96 * error
    assert rejected / 600 == pytest.approx(0.8, abs=0.06)


def test_wrong_options() -> None:
    with pytest.raises(OptionError, match="not one of rates"):
        hypothetical_pair(0.1, 0.05, fpr=(0.3, 0.2))
    with pytest.raises(OptionError, match=r"expected above 0 and below 0\.2"):
        hypothetical_pair(0.3, 0.1, fpr=(0, 0.2))
    with pytest.raises(OptionError, match="assume equal spread"):
        hypothetical_pair(0.8, 0.7, spread_ratio=2)
    with pytest.raises(OptionError, match="not one of rates"):
        delong_pair(Rows(np.arange(4) < 2, {"a": np.ones(4), "b": np.ones(4)}), fpr=(0.5, 0.5))
