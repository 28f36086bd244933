"""Proportions on the simplex: Karush–Kuhn–Tucker conditions, and general minimizers as a reference."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize

from baserate._numeric.simplex import (
    contrasts,
    fit_least_squares,
    fit_likelihood,
    fit_mixture,
    fit_regularized,
    mixture_moments,
    project_to_simplex,
    shares_covariance,
)

Floats = npt.NDArray[np.float64]
C = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.2], [0.1, 0.1, 0.7]])
INSIDE, OUTSIDE = np.array([0.3, 0.45, 0.25]), np.array([0.05, 0.75, 0.2])
SEEDS = st.integers(0, 10_000)


def simulate_likelihoods(seed: int, *, many: int = 60, width: int = 4, sharp: float = 1.5) -> Floats:
    """Likelihoods of rows in each class, some of them 0."""
    rng = np.random.default_rng(seed)
    a = np.exp(sharp * rng.normal(size=(many, width)))
    a[rng.random(a.shape) < 0.2] = 0
    a[np.arange(many), rng.integers(width, size=many)] += 0.1
    return a


def kkt_violation(a: Floats, q: Floats, amount: Floats, fixed: Floats) -> float:
    """Violation of the Karush–Kuhn–Tucker conditions at q, per row."""
    total = amount.sum() + fixed.sum()
    slope = (a * (amount / (a @ q))[:, None]).sum(axis=0) - total
    positive = fixed > 0
    slope[positive] += fixed[positive] / q[positive]
    return float(np.where(q > 0, abs(slope), slope).max() / total)


def test_the_worked_example_has_five_answers() -> None:
    np.testing.assert_allclose(np.linalg.solve(C, OUTSIDE), [-1 / 14, 19 / 21, 1 / 6], atol=1e-15)
    np.testing.assert_allclose(project_to_simplex(np.linalg.solve(C, OUTSIDE)), [0, 73 / 84, 11 / 84], atol=1e-15)
    np.testing.assert_allclose(fit_least_squares(C, OUTSIDE), [0, 0.875, 0.125], atol=1e-14)
    np.testing.assert_allclose(fit_likelihood(C, OUTSIDE).q, [0, 0.850877192982456, 0.149122807017544], atol=1e-13)
    np.testing.assert_allclose(
        fit_likelihood(C, OUTSIDE, prior=0.002).q, [0.004897528, 0.842933550, 0.152168921], atol=1e-9
    )


def test_estimators_equal_the_inverse_inside_the_simplex() -> None:
    wanted = np.linalg.solve(C, INSIDE)
    for result in (fit_least_squares(C, INSIDE), fit_likelihood(C, INSIDE).q, project_to_simplex(wanted)):
        np.testing.assert_allclose(result, wanted, atol=1e-13)


@given(SEEDS, st.integers(2, 8))
def test_the_projection_is_nearer_than_any_other_point(seed: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.normal(size=width)
    result = project_to_simplex(y)
    assert result.sum() == pytest.approx(1, abs=1e-14)
    assert (result >= 0).all()
    # The angle to every corner is at least a right one.
    assert ((np.eye(width) - result) @ (y - result)).max() <= 1e-13


@given(SEEDS, st.integers(2, 8))
def test_least_squares_meet_the_conditions(seed: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    c, o = rng.dirichlet(np.ones(width), size=width).T, rng.dirichlet(np.full(width, 0.3))
    q = fit_least_squares(c, o)
    slope = c.T @ (o - c @ q)
    assert q.sum() == pytest.approx(1, abs=1e-13)
    assert (slope - slope @ q).max() <= 1e-12
    assert abs((slope - slope @ q)[q > 0]).max() <= 1e-12


@pytest.mark.slow
@given(SEEDS, st.integers(2, 8), st.floats(1e-3, 2))
def test_no_minimizer_finds_a_better_regularized_point(seed: int, width: int, penalty: float) -> None:
    rng = np.random.default_rng(seed)
    j = rng.dirichlet(np.ones(width), size=width).T * rng.dirichlet(np.full(width, 3.0))
    o, before = rng.dirichlet(np.full(width, 0.5)), j.sum(axis=1)

    def loss(theta: Floats) -> float:
        return float(np.linalg.norm(j @ theta - o + before) + penalty * np.linalg.norm(theta))

    theta = fit_regularized(j, o, before, penalty=penalty)
    assert theta.min() >= -1 - 1e-12
    for start in (theta, np.zeros(width), theta + 0.1):
        reference = minimize(loss, np.maximum(start, -1), bounds=[(-1, None)] * width)
        assert loss(theta) <= reference.fun + 1e-10


def test_a_large_penalty_gives_0_and_a_small_one_an_exact_fit() -> None:
    j, before = C * [0.5, 0.3, 0.2], C @ [0.5, 0.3, 0.2]
    assert not fit_regularized(j, INSIDE, before, penalty=10).any()
    np.testing.assert_allclose(j @ fit_regularized(j, INSIDE, before, penalty=1e-4), INSIDE - before, atol=1e-14)
    assert not fit_regularized(j, before, before, penalty=0.1).any()


@given(SEEDS, st.integers(2, 8), st.booleans())
def test_the_likeliest_mixture_meets_the_conditions(seed: int, width: int, with_prior: bool) -> None:  # noqa: FBT001
    a, rng = simulate_likelihoods(seed, width=width), np.random.default_rng(seed)
    amount = rng.integers(4, size=len(a)).astype(float)
    fixed = rng.integers(3, size=width).astype(float) * with_prior
    result = fit_mixture(a, amount=amount, fixed=fixed)
    assert result.converged
    assert result.q.sum() == pytest.approx(1, abs=1e-13)
    assert kkt_violation(a[amount > 0], result.q, amount[amount > 0], fixed) <= 1e-11
    assert (result.q[fixed > 0] > 0).all()


@given(SEEDS)
def test_counts_are_repetitions_and_scales_of_rows_do_not_matter(seed: int) -> None:
    a, rng = simulate_likelihoods(seed), np.random.default_rng(seed)
    times = rng.integers(1, 5, size=len(a))
    repeated = fit_mixture(np.repeat(a, times, axis=0))
    counted = fit_mixture(a * rng.uniform(0.1, 10, size=(len(a), 1)), amount=times)
    np.testing.assert_allclose(counted.q, repeated.q, atol=1e-9)


def test_uninformative_rows_do_not_stop_the_search_early() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000) + 0.1 * (rng.random(20_000) < 0.1)
    a = np.column_stack([np.exp(0.1 * x - 0.005), np.ones(len(x))])
    result = fit_mixture(a)
    assert result.converged
    assert kkt_violation(a, result.q, np.ones(len(a)), np.zeros(2)) < 1e-12
    # From a share of ½, a thousand steps of expectation–maximization do not converge.
    q = np.array([0.5, 0.5])
    for _ in range(1000):
        q *= (a / (a @ q)[:, None]).mean(axis=0)
    assert kkt_violation(a, q, np.ones(len(a)), np.zeros(2)) > 1e-6


@pytest.mark.parametrize("sharp", [0.01, 0.1, 1.0])
def test_tiny_shares_are_exact_too(sharp: float) -> None:
    """A prior of a row or two of each class, beside a billion rows that make some shares tiny."""
    a, observed = simulate_likelihoods(4, width=9, sharp=sharp), np.array([2.0, 1, 0, 2, 0, 1, 1, 0, 1])
    amount: Floats = np.random.default_rng(2).integers(1, 1000, size=len(a)).astype(float) * 1e5
    result = fit_mixture(a, amount=amount, fixed=observed)
    assert result.converged
    assert kkt_violation(a, result.q, amount, observed) <= 1e-11
    assert result.q[observed > 0].min() < 1e-3


def test_large_data_start_from_a_subsample() -> None:
    a = simulate_likelihoods(3, many=100_000)
    result = fit_mixture(a)
    assert result.converged
    assert kkt_violation(a, result.q, np.ones(len(a)), np.zeros(4)) < 1e-12


def test_duplicated_classes_divide_their_share() -> None:
    a = simulate_likelihoods(5, width=3)
    result, twice = fit_mixture(a), fit_mixture(a[:, [0, 0, 1, 2]])
    assert twice.converged
    np.testing.assert_allclose([twice.q[:2].sum(), *twice.q[2:]], result.q, atol=1e-9)
    assert np.isfinite(shares_covariance(twice.information)).all()


def test_rows_of_a_single_possible_class() -> None:
    result = fit_mixture(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 3.0]]))
    np.testing.assert_allclose(result.q, [2 / 3, 1 / 3], atol=1e-14)
    np.testing.assert_allclose(shares_covariance(result.information), np.array([[2, -2], [-2, 2]]) / 27, atol=1e-14)
    one = fit_mixture(np.array([[1.0, 0.0, 0.5]] * 4))
    np.testing.assert_array_equal(one.q, [1, 0, 0])


def test_information_is_the_curvature_of_the_likelihood() -> None:
    a: Floats = simulate_likelihoods(7).T.copy()
    q: Floats = np.array([0.1, 0.2, 0.3, 0.4])
    amount: Floats = np.random.default_rng(0).uniform(size=len(a.T))
    slope, curve = mixture_moments(a, q, amount)
    curvature = [
        (mixture_moments(a, q - d, amount)[0] - mixture_moments(a, q + d, amount)[0]) / 2e-6 for d in np.eye(4) * 1e-6
    ]
    np.testing.assert_allclose(curve, curvature, rtol=1e-5)
    assert slope @ q == pytest.approx(amount.sum())
    z = contrasts(4)
    np.testing.assert_allclose(z.T @ z, np.eye(3), atol=1e-15)
