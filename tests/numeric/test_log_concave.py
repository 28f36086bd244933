"""Log-concave densities: the maximum against its characterization, and distributions against quadrature."""

from itertools import pairwise
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import ndtr

from baserate._arrays import Floats
from baserate._numeric.log_concave import LogConcave, SmoothedLogConcave, fit_log_concave
from baserate._numeric.quantile_search import find_quantiles

values = st.lists(st.integers(-50, 50) | st.floats(-100, 100), min_size=2, max_size=40, unique=True).map(
    lambda each: np.array(sorted(each), dtype=float)
)


@st.composite
def samples(draw: st.DrawFn) -> tuple[Floats, Floats]:
    x = draw(values.filter(lambda each: bool((np.diff(each) > 1e-6 * np.ptp(each)).all())))
    weight = draw(st.lists(st.integers(1, 9), min_size=len(x), max_size=len(x)))
    return x, np.array(weight, dtype=float)


def integral(x: Floats, density: LogConcave, upto: float) -> float:
    """Integral of the distribution function by quadrature, knot to knot."""
    inner = density.knots[(density.knots > x[0]) & (density.knots < upto)]
    ends = [x[0], *inner, upto]
    return sum(float(quad(density.cdf, low, high, epsabs=1e-13)[0]) for low, high in pairwise(ends))


@settings(max_examples=60, deadline=None)
@given(samples())
def test_the_fit_has_the_properties_of_the_maximum(sample: tuple[Floats, Floats]) -> None:
    x, weight = sample
    fit = fit_log_concave(x, weight)
    share = weight / weight.sum()
    assert set(fit.knots) <= set(x)
    assert float(fit.cdf(x[-1])) == pytest.approx(1, abs=1e-12)
    slopes = np.diff(fit.log_density) / np.diff(fit.knots)
    assert (np.diff(slopes) <= 1e-7 * np.abs(slopes).max()).all()
    # Dümbgen and Rufibach: the integral of the fitted distribution function is nowhere above that of the sample's, and
    # equals it at the knots; the mean is that of the sample.
    for at in x[1:]:
        empirical = float(share @ np.maximum(at - x, 0))
        gap = (empirical - integral(x, fit, float(at))) / (x[-1] - x[0])
        assert gap > -1e-8
        if at in fit.knots:
            assert abs(gap) < 1e-8


def test_the_fit_is_better_than_a_search_over_all_log_concave_densities() -> None:
    rng = np.random.default_rng(3)
    x = np.sort(rng.normal(size=12))
    weight = np.full(12, 1 / 12)
    fit = fit_log_concave(x, weight)
    # Slopes that fall by non-negative steps, from a first slope and a level.
    hinges = np.maximum(x[:, None] - x[None, 1:-1], 0)

    def loss(parameters: Floats) -> float:
        phi = parameters[0] + parameters[1] * x - hinges @ np.exp(parameters[2:])
        return float(np.mean(-phi) + LogConcave(x, phi)._parts.mass.sum())  # noqa: SLF001

    start = np.concatenate([[-1.0, 0.5], np.full(10, -3.0)])
    found = minimize(loss, start, method="BFGS", options={"maxiter": 5000, "gtol": 1e-9})
    best = float(np.mean(-fit.logpdf(x)) + 1)
    assert best <= found.fun + 1e-9
    assert best == pytest.approx(found.fun, abs=1e-4)


@settings(max_examples=40, deadline=None)
@given(samples(), st.floats(0.1, 10), st.floats(-100, 100))
def test_the_fit_moves_with_scale_and_place(sample: tuple[Floats, Floats], scale: float, shift: float) -> None:
    x, weight = sample
    fit, moved = fit_log_concave(x, weight), fit_log_concave(x * scale + shift, weight * 3)
    at = np.linspace(x[0], x[-1], 7)
    np.testing.assert_allclose(moved.cdf(at * scale + shift), fit.cdf(at), rtol=0, atol=1e-7)
    mirrored = fit_log_concave(-x[::-1], weight[::-1])
    np.testing.assert_allclose(mirrored.sf(-at), fit.cdf(at), rtol=0, atol=1e-7)


@settings(max_examples=30, deadline=None)
@given(samples())
def test_a_start_changes_nothing(sample: tuple[Floats, Floats]) -> None:
    x, weight = sample
    other = fit_log_concave(x, weight[::-1])
    fit, again = fit_log_concave(x, weight), fit_log_concave(x, weight, start=other)
    np.testing.assert_allclose(again.cdf(x), fit.cdf(x), rtol=0, atol=1e-7)


def test_two_observations_of_equal_weight_are_uniform() -> None:
    fit = fit_log_concave(np.array([2.0, 6.0]), np.ones(2))
    assert fit.log_density.tolist() == pytest.approx([-np.log(4)] * 2, abs=1e-12)
    assert fit.variance == pytest.approx(16 / 12, rel=1e-12)


def test_an_exponential_sample_has_its_slope_from_the_mean() -> None:
    # Weights that fall geometrically: a single line, whose slope solves the equation of the mean.
    x = np.arange(60.0)
    fit = fit_log_concave(x, 0.7**x)
    assert len(fit.knots) <= 3
    assert np.average(x, weights=0.7**x) == pytest.approx(
        quad(lambda t: t * float(fit.pdf(t)), 0, 59, points=fit.knots[1:-1] if len(fit.knots) > 2 else None)[0],
        rel=1e-8,
    )


def test_close_observations_are_one() -> None:
    x = np.array([0.0, 5e-324, 0.3, 1.0])
    fit = fit_log_concave(x, np.ones(4))
    same = fit_log_concave(np.array([0.0, 0.3, 1.0]), np.array([2.0, 1, 1]))
    assert fit.log_density.tolist() == same.log_density.tolist()


DENSITIES = {
    "bent": LogConcave(np.array([0.0, 1.0, 3.0]), np.array([-2.0, -0.5, -3.0])),
    "level": LogConcave(np.array([-1.0, 1.0]), np.array([-np.log(2)] * 2)),
    "steep": LogConcave(np.array([0.0, 1e-3, 5.0]), np.array([-20.0, 1.0, -300.0])),
}


def normalize(density: LogConcave) -> LogConcave:
    mass = float(density._parts.mass.sum())  # noqa: SLF001
    return LogConcave(density.knots, density.log_density - np.log(mass))


@pytest.mark.parametrize("name", DENSITIES)
def test_distributions_equal_quadrature(name: str) -> None:
    density = normalize(DENSITIES[name])
    low, high = float(density.knots[0]), float(density.knots[-1])
    breaks = density.breaks
    for share in (0.01, 0.2, 0.5, 0.9):
        at = low + share * (high - low)
        ends = [low, *breaks[(breaks > low) & (breaks < at)], at]
        below = sum(quad(density.pdf, *pair, epsabs=1e-14)[0] for pair in pairwise(ends))
        assert float(density.cdf(at)) == pytest.approx(below, abs=1e-10)
        assert float(density.cdf(at) + density.sf(at)) == pytest.approx(1, abs=1e-12)
    q = np.array([0.0, 1e-12, 0.3, 0.999, 1.0])
    np.testing.assert_allclose(density.cdf(density.ppf(q)), q, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(density.sf(density.isf(q)), q, rtol=1e-9, atol=1e-15)
    assert np.isnan(density.ppf(np.array([-0.1, 1.1]))).all()


@pytest.mark.parametrize("name", DENSITIES)
@pytest.mark.parametrize("spread", [0.05, 0.5, 20.0])
def test_smoothed_distributions_equal_quadrature(name: str, spread: float) -> None:
    base = normalize(DENSITIES[name])
    fit = SmoothedLogConcave(base, spread)
    knots = base.breaks
    for at in (-1.0, 0.3, 1.0, 2.5, 6.0):

        def weigh(y: float, at: float = at) -> float:
            return float(base.pdf(y) * ndtr((at - y) / spread))

        ends = np.union1d(knots, np.clip([at - 3 * spread, at, at + 3 * spread], knots[0], knots[-1]))
        below = sum(quad(weigh, *pair, epsabs=1e-14)[0] for pair in pairwise(ends))
        assert float(fit.cdf(at)) == pytest.approx(below, abs=1e-9)
        slope = (fit.cdf(at + 1e-4 * spread) - fit.cdf(at - 1e-4 * spread)) / (2e-4 * spread)
        assert float(fit.pdf(at)) == pytest.approx(float(slope), rel=1e-5, abs=1e-9)
    assert float(fit.cdf(np.inf)) == 1
    assert float(fit.sf(np.inf)) == pytest.approx(0, abs=1e-12)
    assert fit.ppf(np.array([0.0, 1.0])).tolist() == [-np.inf, np.inf]


def test_simulated_values_follow_the_distribution() -> None:
    base = normalize(DENSITIES["bent"])
    rng = np.random.default_rng(1)
    for each, variance in ((base, base.variance), (SmoothedLogConcave(base, 0.5), base.variance + 0.25)):
        x = each.rvs(20_000, rng)
        assert float(np.var(x)) == pytest.approx(variance, rel=0.05)
        assert float(np.mean(x <= each.ppf(np.array(0.3)))) == pytest.approx(0.3, abs=4 * sqrt(0.21 / 20_000))


def test_quantiles_beyond_the_breaks_are_the_outer_ones() -> None:
    base = normalize(DENSITIES["level"])
    assert find_quantiles(base, np.array([0.0, 1.0]), upper=False, bounded=True).tolist() == [-1.0, 1.0]
