"""Softmax fitted to rows: the reference is a minimiser that knows only the likelihood."""

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax

from baserate._numeric.logistic import (
    SoftmaxData,
    SoftmaxModel,
    fit_softmax,
    is_identified,
    softmax_gradient,
    softmax_information,
)

Floats = npt.NDArray[np.float64]
WIDTH = 4


def drawn(seed: int = 0, rows: int = 300, sharp: float = 2.0) -> SoftmaxData:
    """Rows whose scores are too sure, and of the wrong frequencies."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(rows, WIDTH)) + np.linspace(-0.5, 0.5, WIDTH)
    shares = np.exp(log_softmax(z, axis=1))
    truth = (rng.random((rows, 1)) > shares.cumsum(axis=1)).sum(axis=1).clip(0, WIDTH - 1)
    x: Floats = log_softmax(sharp * z + 0.3 * rng.normal(size=z.shape) - np.linspace(-1, 1, WIDTH), axis=1)
    return SoftmaxData(x, truth)


def free() -> SoftmaxModel:
    """A slope for each class, and biases of which the first is 0."""
    space = np.zeros((2 * WIDTH, 2 * WIDTH - 1))
    space[:WIDTH, :WIDTH], space[WIDTH + 1 :, WIDTH:] = np.eye(WIDTH), np.eye(WIDTH - 1)
    return SoftmaxModel(np.zeros(2 * WIDTH), space, np.zeros(2 * WIDTH - 1), bounded=WIDTH)


def loss(theta: Floats, rows: SoftmaxData, model: SoftmaxModel) -> float:
    both = model.base + model.space @ theta
    told = log_softmax(rows.x * both[:WIDTH] + both[WIDTH:], axis=1)[np.arange(len(rows.x)), rows.truth]
    return -float(told.sum() if rows.amount is None else told @ rows.amount)


def test_slope_and_information_are_those_of_the_likelihood() -> None:
    rows, model = drawn(), free()
    rows = rows._replace(amount=np.random.default_rng(1).random(len(rows.x)))
    at, step = np.linspace(0.2, 0.9, 2 * WIDTH - 1), 1e-4
    around = np.eye(len(at)) * step
    slope = [(loss(at - d, rows, model) - loss(at + d, rows, model)) / (2 * step) for d in around]
    np.testing.assert_allclose(softmax_gradient(rows, model, at), slope, rtol=1e-6, atol=1e-6)
    bend = [
        (softmax_gradient(rows, model, at - d) - softmax_gradient(rows, model, at + d)) / (2 * step) for d in around
    ]
    np.testing.assert_allclose(softmax_information(rows, model, at), bend, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_no_minimiser_finds_better(seed: int) -> None:
    rows, model = drawn(seed), free()
    rows = rows._replace(amount=np.random.default_rng(seed).random(len(rows.x)) + 0.1)
    found = fit_softmax(rows, model)
    assert found.converged
    bounds = [(0, None)] * WIDTH + [(None, None)] * (WIDTH - 1)
    reference = minimize(loss, model.start, (rows, model), bounds=bounds, options={"ftol": 1e-15, "gtol": 1e-9})
    assert loss(found.theta, rows, model) <= reference.fun + 1e-9
    np.testing.assert_allclose(found.theta, reference.x, atol=2e-3)
    assert np.abs(softmax_gradient(rows, model, found.theta)[~found.at_bound]).max() < 1e-9


def test_a_slope_that_would_fall_below_zero_is_held_there_and_the_others_are_still_the_best() -> None:
    rows, model = drawn(), free()
    x = rows.x.copy()
    x[:, 1] *= -1
    rows = rows._replace(x=x)
    found = fit_softmax(rows, model)
    assert found.converged
    assert found.at_bound.tolist() == [False, True] + [False] * (2 * WIDTH - 3)
    assert found.theta[1] == 0
    assert softmax_gradient(rows, model, found.theta)[1] < 0
    assert np.abs(softmax_gradient(rows, model, found.theta)[~found.at_bound]).max() < 1e-9
    bounds = [(0, None)] * WIDTH + [(None, None)] * (WIDTH - 1)
    reference = minimize(loss, model.start, (rows, model), bounds=bounds, options={"ftol": 1e-15, "gtol": 1e-9})
    assert loss(found.theta, rows, model) <= reference.fun + 1e-9
    assert (found.covariance[1] == 0).all()


def test_covariance_is_the_inverse_information_and_of_weights_the_sandwich() -> None:
    rows, model = drawn(), free()
    plain = fit_softmax(rows, model)
    inverse = np.linalg.inv(softmax_information(rows, model, plain.theta))
    np.testing.assert_allclose(plain.covariance, model.space @ inverse @ model.space.T, rtol=1e-8, atol=1e-14)
    amount = np.random.default_rng(0).random(len(rows.x))
    weighted = rows._replace(amount=amount, squares=amount**2)
    found, scaled = (
        fit_softmax(each, model) for each in (weighted, SoftmaxData(rows.x, rows.truth, 7 * amount, 49 * amount**2))
    )
    np.testing.assert_allclose(found.covariance, scaled.covariance, rtol=1e-8, atol=1e-14)
    inner = softmax_information(rows._replace(amount=amount**2), model, found.theta)
    outer = model.space @ np.linalg.inv(softmax_information(weighted, model, found.theta))
    np.testing.assert_allclose(found.covariance, outer @ inner @ outer.T, rtol=1e-8, atol=1e-14)


def test_separable_data_do_not_converge() -> None:
    rows, model = drawn(), free()
    parted = rows._replace(truth=rows.x.argmax(axis=1))
    assert not fit_softmax(parted, model).converged
    # One class alone is told from the others without a mistake.
    x, truth = rows.x.copy(), np.where(rows.truth == 0, 1, rows.truth)
    x[:, 0], truth[:30] = -5.0, 0
    x[:30, 0] = -0.1
    assert not fit_softmax(SoftmaxData(x, truth), model).converged


def test_almost_separable_data_converge() -> None:
    rows, model = drawn(), free()
    truth = rows.x.argmax(axis=1)
    truth[:WIDTH] = np.argsort(rows.x[:WIDTH], axis=1)[:, -2]
    one = SoftmaxModel(np.zeros(2 * WIDTH), np.repeat([1.0, 0.0], WIDTH)[:, None], np.zeros(1), bounded=1)
    found = fit_softmax(rows._replace(truth=truth), one)
    assert found.converged
    assert abs(softmax_gradient(rows._replace(truth=truth), one, found.theta)[0]) < 1e-9
    # Exactly what the diagonal loses in the usual form, where one class is almost certain.
    sure = SoftmaxData(np.array([[0.0, -40.0, -41.0, -42.0]]), np.array([0]))
    share = np.exp(-40.0) + np.exp(-41.0) + np.exp(-42.0)
    assert softmax_information(sure, model, np.repeat([1.0, 0.0], [4, 3])).shape == (7, 7)
    bias = SoftmaxModel(np.repeat([1.0, 0.0], 4), np.eye(8)[:, 4:5], np.zeros(1))
    assert softmax_information(sure, bias, np.zeros(1))[0, 0] == pytest.approx(share, rel=1e-12)


def test_rank_does_not_depend_on_units() -> None:
    assert is_identified(np.diag([1e-30, 1.0, 1e30]))
    assert not is_identified(np.array([[1.0, 1.0], [1.0, 1.0]]))
    assert not is_identified(np.diag([0.0, 1.0]))
