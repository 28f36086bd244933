"""Penalized regression splines against their definition."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.interpolate import CubicSpline

from baserate._arrays import Floats
from baserate._numeric.smoothers import choose_span, lowess
from baserate._numeric.splines import fit_regression_spline


def simulate(size: int, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    x = np.unique(rng.random(size))
    return x, np.sin(6 * x) + rng.normal(0, 0.3, len(x))


def test_spline_is_the_penalized_minimum() -> None:
    """With the penalty that gives its degrees of freedom, no other values at the knots have a smaller criterion."""
    x, y = simulate(80)
    fit = fit_regression_spline(x, y, knots=8)
    knots = np.quantile(x, np.linspace(0, 1, 8))
    basis = [CubicSpline(knots, row, bc_type="natural") for row in np.eye(8)]
    design = np.array([each(x) for each in basis]).T
    fine = np.linspace(0, 1, 20001) * (knots[-1] - knots[0]) + knots[0]
    bends = np.array([each(fine, 2) for each in basis])
    penalty = np.trapezoid(bends[:, None] * bends[None], fine, axis=2)

    def smoother(log_penalty: float) -> Floats:
        matrix: Floats = design @ np.linalg.solve(design.T @ design + np.exp(log_penalty) * penalty, design.T)
        return matrix

    grid = np.linspace(-25, 5, 301)
    matrices = [smoother(each) for each in grid]
    criterion = [np.sum((y - each @ y) ** 2) / (len(x) - np.trace(each)) ** 2 for each in matrices]
    best = matrices[int(np.argmin(criterion))]
    np.testing.assert_allclose(fit.fitted, best @ y, atol=2e-3)
    assert fit.freedom == pytest.approx(float(np.trace(best)), abs=0.1)


@given(st.integers(4, 40), st.floats(-5, 5), st.floats(-5, 5))
def test_spline_reproduces_lines(size: int, start: float, slope: float) -> None:
    x = np.sort(np.random.default_rng(size).random(size))
    fit = fit_regression_spline(x, start + slope * x)
    np.testing.assert_allclose(fit.fitted, start + slope * x, atol=1e-8)
    assert 2 <= fit.freedom <= 10


@given(st.integers(6, 60), st.integers(0, 99), st.floats(-10, 10), st.floats(0.1, 10))
def test_spline_is_linear_in_the_response(size: int, seed: int, shift: float, scale: float) -> None:
    x, y = simulate(size, seed)
    first, second = fit_regression_spline(x, y), fit_regression_spline(x, shift + scale * y)
    assert second.freedom == pytest.approx(first.freedom, abs=0.2)
    if second.freedom == pytest.approx(first.freedom, abs=1e-9):
        np.testing.assert_allclose(second.fitted, shift + scale * first.fitted, atol=1e-6)


def test_spline_of_mgcv() -> None:
    """Computed by mgcv 1.8 with R 4.2: gam(y ~ s(x, bs = "cr", k = 5)), whose fit is a line."""
    x = np.array([0, 0.1, 0.15, 0.3, 0.5, 0.6, 0.8, 1])
    y = np.array([1, 0.7, 0.9, 0.4, 0.5, 0.2, 0.3, 0])
    fit = fit_regression_spline(x, y, knots=5)
    wanted = [0.8850936065, 0.7957965383, 0.7511480042, 0.6172024019]
    np.testing.assert_allclose(fit.fitted[:4], wanted, rtol=1e-7)
    assert fit.freedom == pytest.approx(2, abs=1e-6)


def test_span_minimizes_the_criterion() -> None:
    x, y = simulate(120, 3)
    spans = np.arange(1, 20) / 20

    def criterion(span: float) -> float:
        matrix = np.array([lowess(x, np.ones(len(x)), row, frac=span) for row in np.eye(len(x))]).T
        trace = np.trace(matrix)
        free = len(x) - trace - 2
        return np.log(np.mean((y - matrix @ y) ** 2)) + 2 * (trace + 1) / free if free > 0 else np.inf

    assert choose_span(x, y) == spans[np.argmin([criterion(each) for each in spans])]
    assert choose_span(x[:3], y[:3]) == 0.95
