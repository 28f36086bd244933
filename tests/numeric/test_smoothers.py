"""Lowess against its definition, and Gaussian smoothing against sums."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from statsmodels.nonparametric.smoothers_lowess import lowess as reference

from baserate._arrays import Floats
from baserate._numeric.smoothers import GaussianSmoother, lowess
from tests.tiers import take_in_tiers


def simulate(kind: str, size: int) -> tuple[Floats, Floats]:
    """Distinct x, increasing, and a response of 0 and 1."""
    rng = np.random.default_rng(size)
    x: Floats = {
        "uniform": rng.random(size),
        "ends": rng.beta(0.5, 0.5, size),
        "near 0": 1 / (1 + np.exp(rng.normal(7, 2, size))),
        "near 1": 1 / (1 + np.exp(rng.normal(-7, 2, size))),
        "gap": np.where(rng.random(size) < 0.9, 1e-3 * rng.random(size), 0.8 + 0.2 * rng.random(size)),
    }[kind]
    x = np.unique(x)
    return x, (rng.random(len(x)) < np.sqrt(x)).astype(float)


def make_masses(x: Floats) -> Floats:
    """One to five at each x, and one at the last, where the reference makes an anchor of the last row but one."""
    return np.append(np.random.default_rng(len(x)).integers(1, 6, len(x) - 1), 1).astype(float)


def reference_fit(x: Floats, mass: Floats, y: Floats, *, frac: float, delta: float = 0.0) -> Floats:
    """Fit of statsmodels to whole rows, with the number of neighbors that contain enough mass."""
    times = mass.astype(int)
    rows = times.sum()
    enough = math.ceil(frac * rows - 1e-7) / rows
    repeated = np.repeat(y, times), np.repeat(x, times)
    with np.errstate(invalid="ignore"):  # it divides by a radius of 0, and then gives y itself
        fit: Floats = reference(*repeated, frac=enough, it=0, delta=delta, is_sorted=True, return_sorted=False)
    at_last: Floats = fit[np.cumsum(times) - 1]
    return at_last


KINDS = ["uniform", "ends", "near 0", "near 1", "gap"]
SIZES = [(60, 0.0), (60, 0.05), (1500, 0.0), pytest.param(20_000, 0.001, marks=pytest.mark.slow), (20_000, 0.01)]


@pytest.mark.quick(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("frac", take_in_tiers([0.05, 1 / 3, 0.5, 1.0], 2))
@pytest.mark.parametrize(("size", "delta"), SIZES)
def test_fit_equals_the_reference_implementation(kind: str, frac: float, size: int, delta: float) -> None:
    x, y = simulate(kind, size)
    for mass in (np.ones(len(x)), make_masses(x)):
        wanted = reference_fit(x, mass, y, frac=frac, delta=delta)
        assert np.allclose(lowess(x, mass, y, frac=frac, delta=delta), wanted, rtol=0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["uniform", "near 0"])
def test_fit_equals_the_reference_implementation_on_many_points(kind: str) -> None:
    x, y = simulate(kind, 200_000)
    wanted = reference_fit(x, np.ones(len(x)), y, frac=0.5, delta=0.01)
    assert np.allclose(lowess(x, np.ones(len(x)), y, delta=0.01), wanted, rtol=0, atol=1e-10)


@pytest.mark.parametrize("size", [100, 3000])
def test_lines_are_flat_within_a_millionth_as_in_the_reference_implementation(size: int) -> None:
    x, y = simulate("uniform", size)
    mass = make_masses(x)
    wanted = reference_fit(1e-6 * x, mass, y, frac=0.3)
    assert np.allclose(lowess(1e-6 * x, mass, y, frac=0.3), wanted, rtol=0, atol=1e-11)
    assert not np.allclose(wanted, lowess(x, mass, y, frac=0.3), rtol=0, atol=1e-3)


@pytest.mark.parametrize("delta", [0.0, 0.001])
def test_lowess_is_symmetric(delta: float) -> None:
    """Near 1 statsmodels loses digits, so the fit near 0 is the reference."""
    x, y = (1 + np.arange(3000)) / 2**20, np.random.default_rng(0).random(3000)
    mass = make_masses(x)
    turned = lowess((1 - x)[::-1], mass[::-1], y[::-1], frac=0.1)[::-1]
    assert np.allclose(turned, lowess(x, mass, y, frac=0.1), rtol=0, atol=1e-12)
    assert np.allclose(lowess(x + 1, mass, y, delta=delta), lowess(x, mass, y, delta=delta), rtol=0, atol=1e-12)


steps = st.lists(st.integers(1, 40), min_size=1, max_size=12)


@given(steps, st.data(), st.sampled_from([0.05, 0.3, 0.5, 0.75, 1.0]), st.sampled_from([0.0, 0.02, 0.3]))
def test_few_points_equal_the_reference_implementation(
    gaps: list[int], data: st.DataObject, frac: float, delta: float
) -> None:
    x = np.cumsum(gaps) / 256
    of_each = st.lists(st.integers(1, 4), min_size=len(x), max_size=len(x))
    mass = np.array(data.draw(of_each), dtype=float)
    mass[-1] = 1
    y = np.array(data.draw(of_each), dtype=float)
    assert np.allclose(
        lowess(x, mass, y, frac=frac, delta=delta), reference_fit(x, mass, y, frac=frac, delta=delta), rtol=0, atol=1e-9
    )


@given(steps, st.sampled_from([0.01, 0.2, 0.5, 1.0]), st.sampled_from([0.0, 0.05, 9.0]))
def test_straight_lines_are_kept(gaps: list[int], frac: float, delta: float) -> None:
    x = np.cumsum(gaps) / 256
    mass = np.arange(1.0, len(x) + 1)
    assert np.allclose(lowess(x, mass, 3 - 2 * x, frac=frac, delta=delta), 3 - 2 * x, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_straight_lines_are_kept_by_blocks(kind: str) -> None:
    x, _ = simulate(kind, 20_000)
    assert np.allclose(lowess(x, make_masses(x), 3 - 2 * x, frac=0.2, delta=0.001), 3 - 2 * x, rtol=0, atol=1e-11)


@pytest.mark.parametrize("size", [50, 5000])
@pytest.mark.parametrize("factor", [2.0**40, 2.0**-40, 3.0, 0.1])
def test_lowess_does_not_depend_on_the_unit_of_mass(size: int, factor: float) -> None:
    x, y = simulate("ends", size)
    mass = make_masses(x)
    for frac in (0.1, 0.5, 1.0):
        fit = lowess(x, mass, y, frac=frac, delta=0.001)
        assert np.allclose(lowess(x, factor * mass, y, frac=frac, delta=0.001), fit, rtol=0, atol=1e-12)


def test_a_neighborhood_without_another_point_gives_y_itself() -> None:
    x, y = np.array([0.0, 5e-324, 0.25, 1.0]), np.array([1.0, 0.0, 0.5, 2.0])
    assert np.array_equal(lowess(x, np.ones(4), y, frac=0.25), y)
    assert np.array_equal(lowess(x, np.array([1.0, 1.0, 1.0, 9.0]), y, frac=0.5)[-1:], y[-1:])
    assert np.array_equal(lowess(x[:1], np.ones(1), y[:1], frac=1.0, delta=0.1), y[:1])


def test_two_points_are_joined() -> None:
    x, y = np.array([0.25, 0.5]), np.array([3.0, 7.0])
    assert np.array_equal(lowess(x, np.array([2.0, 1.0]), y, frac=1.0, delta=0.5), y)


def test_the_last_two_points_are_always_fitted() -> None:
    x, y = np.array([0.0, 0.2, 0.3, 0.7, 1.0]), np.array([0.0, 3.0, 1.0, 5.0, 2.0])
    mass = np.array([1.0, 1.0, 1.0, 1.0, 2.0])
    exact, between = lowess(x, mass, y, frac=0.8), lowess(x, mass, y, frac=0.8, delta=5.0)
    assert np.allclose(between[[0, 3, 4]], exact[[0, 3, 4]], rtol=0, atol=1e-15)
    assert np.allclose(between[:4], np.interp(x[:4], x[[0, 3]], exact[[0, 3]]), rtol=0, atol=1e-15)


@pytest.mark.quick(1)
@pytest.mark.parametrize(("size", "draws"), [(40, 3), (3000, 2), (3000, 40), (20_000, 2)])
def test_stacked_y_are_fitted_as_one_by_one(size: int, draws: int) -> None:
    x, _ = simulate("ends", size)
    mass, ys = make_masses(x), np.random.default_rng(1).random((draws, 2, len(x)))
    fits = lowess(x, mass, ys, frac=0.3, delta=0.002)
    assert fits.shape == ys.shape
    for place in np.ndindex(draws, 2):
        assert np.allclose(fits[place], lowess(x, mass, ys[place], frac=0.3, delta=0.002), rtol=0, atol=1e-12)


PLACE = np.array([0, 1e-9, 0.2, 0.2005, 0.37, 0.9, 1.0])
MASS = np.array([0.1, -0.3, 0.2, -0.2, 0.5, -0.1, 0.2])


def density(at: Floats, place: Floats, mass: Floats, width: float) -> Floats:
    """Density of the masses and of their reflections at 0 and 1."""
    turns = 2 * np.arange(-int(5 * width) - 1, int(5 * width) + 2)
    images = np.concatenate([turns[:, None] + place, turns[:, None] - place], axis=1)
    result = np.zeros(len(at))
    for image in images:
        kernel = np.exp(-((at[:, None] - image) ** 2) / (2 * width**2)) / (width * np.sqrt(2 * np.pi))
        result += kernel @ np.concatenate([mass, mass])
    return result


def integral(place: Floats, mass: Floats, width: float) -> float:
    """Integral of the absolute value by trapezoids, exact except at changes of sign."""
    at = np.linspace(0, 1, 20_001 if width > 0.01 else 400_001)
    return float(np.trapezoid(np.abs(density(at, place, mass, width)), at))


@pytest.mark.quick(3)
@pytest.mark.parametrize("width", [1e-3, 2e-3, 5e-3, 0.02, 0.05, 0.1, 0.3, 1.0, 3.0])
def test_absolute_integral_equals_a_fine_sum(width: float) -> None:
    # Both differ at changes of sign only.
    assert GaussianSmoother(PLACE, MASS).absolute(width) == pytest.approx(integral(PLACE, MASS, width), rel=1e-6)


@pytest.mark.parametrize("place", [0.0, 1e-12, 0.3, 0.5, 1 / 3, 1 - 2**-53, 1.0])
@pytest.mark.parametrize("width", [1e-3, 0.01, 0.1, 1.0, 100.0])
def test_no_mass_is_lost_at_the_ends(place: float, width: float) -> None:
    assert GaussianSmoother(np.array([place]), np.array([0.7])).absolute(width) == pytest.approx(0.7, rel=1e-8)


def test_opposite_masses_at_one_place_cancel() -> None:
    assert GaussianSmoother(np.array([0.3, 0.3]), np.array([1.0, -1.0])).absolute(0.01) == pytest.approx(0, abs=1e-12)


def test_narrow_kernels_do_not_join_far_masses() -> None:
    assert GaussianSmoother(np.array([0.2, 0.8]), np.array([1.0, -1.0])).absolute(1e-3) == pytest.approx(2, rel=1e-6)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(-1, 1)), min_size=1, max_size=8))
def test_absolute_integral_decreases_with_the_width_to_the_sum(pairs: list[tuple[float, float]]) -> None:
    place, mass = map(np.array, zip(*pairs, strict=True))
    result = [GaussianSmoother(place, mass).absolute(width) for width in (1e-3, 0.01, 0.05, 0.2, 1.0, 10.0)]
    tolerance = 1e-6 * np.abs(mass).sum() + 1e-300
    assert all(wide <= narrow + tolerance for narrow, wide in pairwise(result))
    assert result[0] <= np.abs(mass).sum() * (1 + 1e-6)
    assert result[-1] == pytest.approx(abs(mass.sum()), abs=tolerance)
