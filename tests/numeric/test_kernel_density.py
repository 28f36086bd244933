"""Bandwidths against their definitions, and kernel densities against sums."""

from math import pi, sqrt

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from baserate import OptionError
from baserate._arrays import Floats
from baserate._numeric.kernel_density import (
    NormalMixture,
    WeightedSample,
    normal_reference_bandwidth,
    sheather_jones_bandwidth,
)


def repeat(x: Floats, times: Floats) -> Floats:
    return np.repeat(x, times.astype(int))


def make_sample(rows: Floats) -> WeightedSample:
    x, counts = np.unique(rows, return_counts=True)
    return WeightedSample(x, counts.astype(float), float(len(rows)))


@pytest.mark.parametrize("seed", range(5))
def test_moments_and_quantiles_are_those_of_the_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = np.round(rng.normal(size=37), 1)
    sample = make_sample(rows)
    assert sample.sd == pytest.approx(float(np.std(rows, ddof=1)), rel=1e-12)
    for share in (0.0, 0.1, 0.25, 0.5, 0.75, 1.0):
        assert sample.quantile(share) == pytest.approx(float(np.quantile(rows, share)), abs=1e-12)
    doubled = sample._replace(weight=2 * sample.weight)
    assert normal_reference_bandwidth(doubled) == pytest.approx(normal_reference_bandwidth(sample), rel=1e-12)


def test_the_quartiles_of_many_ties_do_not_count() -> None:
    rows = np.concatenate([np.zeros(90), [1.0, 2.0, 3.0]])
    assert normal_reference_bandwidth(make_sample(rows)) == pytest.approx(
        0.9 * float(np.std(rows, ddof=1)) * 93**-0.2, rel=1e-12
    )


def test_normal_reference_bandwidths_of_r() -> None:
    """Computed by bw.nrd0 of R 4.2.2."""
    x = np.array([1.0, 2.0, 4.0, 7.0])
    assert normal_reference_bandwidth(WeightedSample(x, np.ones(4), 4)) == pytest.approx(1.527028, rel=1e-6)
    counts = np.array([5.0, 2.0, 2.0, 1.0])
    assert normal_reference_bandwidth(WeightedSample(x, counts, 10)) == pytest.approx(1.059443302, rel=1e-9)
    # Equal quartiles: the standard deviation alone.
    two = WeightedSample(np.array([1.0, 5.0]), np.array([9.0, 1.0]), 10)
    assert normal_reference_bandwidth(two) == pytest.approx(0.7182944334, rel=1e-9)
    # So are the quartiles of five rows with a weight of 1/10 each.
    three, spread = WeightedSample(np.array([0.0, 1.0, 9.0]), np.array([0.1, 0.1 + 0.1 + 0.1, 0.1]), 5), sqrt(13.8)
    assert normal_reference_bandwidth(three) == pytest.approx(0.9 * spread * 5**-0.2, rel=1e-9)
    for times in (1.0, 9.0):
        assert normal_reference_bandwidth(WeightedSample(np.array([1.0]), np.array([times]), times)) == 0


@given(st.lists(st.floats(-100, 100), min_size=3, max_size=30, unique=True), st.floats(0.01, 100))
def test_bandwidth_has_the_unit_of_the_scores(values: list[float], unit: float) -> None:
    x = np.sort(np.array(values))
    sample = WeightedSample(x, np.ones(len(x)), len(x))
    one = normal_reference_bandwidth(sample)
    scaled, weighted = sample._replace(x=unit * x), sample._replace(weight=np.full(len(x), 3.0))
    assert normal_reference_bandwidth(scaled) == pytest.approx(unit * one, rel=1e-6, abs=1e-12)
    assert normal_reference_bandwidth(weighted) == pytest.approx(one, rel=1e-6, abs=1e-12)


def estimate_roughness(rows: Floats, bandwidth: float) -> float:
    """Sheather and Jones's estimate of the integrated square of the second derivative, from all pairs of rows."""
    z = (rows[:, None] - rows[None, :]) / bandwidth
    n = len(rows)
    kernel = (z**4 - 6 * z**2 + 3) * np.exp(-(z**2) / 2) / sqrt(2 * pi)
    return float(kernel.sum() / (n * (n - 1) * bandwidth**5))


@pytest.mark.parametrize("seed", range(3))
def test_sheather_and_jones_solve_their_equation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = np.round(rng.gamma(2.0, size=60), 2)
    h = sheather_jones_bandwidth(make_sample(rows))
    n = len(rows)
    scale = min(float(np.std(rows, ddof=1)), float(np.subtract(*np.quantile(rows, [0.75, 0.25]))) / 1.349)
    first, second = 1.24 * scale * n ** (-1 / 7), 1.23 * scale * n ** (-1 / 9)
    z = (rows[:, None] - rows[None, :]) / second
    sixth = (z**6 - 15 * z**4 + 45 * z**2 - 15) * np.exp(-(z**2) / 2) / sqrt(2 * pi)
    third = -float(sixth.sum() / (n * (n - 1) * second**7))
    pilot = 1.357 * (estimate_roughness(rows, first) / third) ** (1 / 7) * h ** (5 / 7)
    assert h == pytest.approx((1 / (2 * sqrt(pi) * n * estimate_roughness(rows, pilot))) ** 0.2, rel=1e-9)


def test_bins_of_many_values_change_little() -> None:
    rows = np.random.default_rng(1).normal(size=2600)
    sample = make_sample(rows)
    fewer = make_sample(np.round(rows, 2))
    assert sheather_jones_bandwidth(sample) == pytest.approx(sheather_jones_bandwidth(fewer), rel=0.01)


@pytest.mark.parametrize(
    ("rows", "expected"), [(np.repeat([0.0, 1], 500), 0.002993331), (np.repeat([0.0, 1, 2], 50), 0.02522105)]
)
def test_ties_narrow_the_bandwidth_as_in_r(rows: Floats, expected: float) -> None:
    # R 4.2.2: bw.SJ(x, nb = 1e5, tol = 1e-10).
    assert sheather_jones_bandwidth(make_sample(rows)) == pytest.approx(expected, rel=1e-5)


def test_an_equation_without_solution_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("baserate._numeric.kernel_density._WIDENINGS", 1)
    with pytest.raises(OptionError, match="Sheather–Jones bandwidth does not exist"):
        sheather_jones_bandwidth(make_sample(np.repeat([0.0, 1.0], 500)))


def test_the_distribution_is_the_mean_of_normal_ones() -> None:
    centers, weight = np.array([-1.0, 0.0, 4.0]), np.array([0.2, 0.3, 0.5])
    mixture = NormalMixture(centers, weight, 0.7)
    x = np.array([-8.0, -1.0, 0.4, 3.0, 9.0])
    each = stats.norm(centers, 0.7)
    for name in ("pdf", "cdf", "sf"):
        expected = getattr(each, name)(x[:, None]) @ weight
        np.testing.assert_allclose(getattr(mixture, name)(x), expected, rtol=1e-12, atol=1e-300)
    q = np.array([0.0, 1e-10, 0.2, 0.5, 1 - 1e-9, 1.0])
    np.testing.assert_allclose(mixture.cdf(mixture.ppf(q)), q, rtol=1e-9)
    np.testing.assert_allclose(mixture.sf(mixture.isf(q)), q, rtol=1e-9)
    rows = mixture.rvs(50_000, np.random.default_rng(0))
    assert float(rows.mean()) == pytest.approx(float(centers @ weight), abs=0.05)
