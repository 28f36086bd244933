"""Logistic and softmax regression."""

import numpy as np
import numpy.typing as npt
import pytest
import statsmodels.api as sm
from scipy.optimize import brentq, minimize
from scipy.special import expit, log_softmax, logit

from baserate import measure, tally
from baserate._numeric.logistic import (
    SoftmaxData,
    SoftmaxModel,
    fit_intercept,
    fit_logistic,
    fit_softmax,
    is_identified,
    softmax_gradient,
    softmax_information,
)

Floats = npt.NDArray[np.float64]


def test_an_intercept_at_an_end_of_its_bracket_is_exact() -> None:
    # The other offset has no mass, so that the root lies at an end of the bracket.
    offset = logit(np.array([0.7, 0.1]))
    result, _ = fit_intercept(offset, np.array([[2.0, 0.0], [0.0, 3.0]]), np.array([[1.0, 0.0], [0.0, 4.0]]))
    assert result == pytest.approx([np.log(2) - offset[0], np.log(3 / 4) - offset[1]], rel=1e-13)


def fit_reference(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Coefficients and covariance by statsmodels, in units in which it converges."""
    middle, scale = x.mean(), x.std()
    result = sm.Logit(y, sm.add_constant((x - middle) / scale)).fit(disp=0, tol=1e-14, maxiter=300)
    back = np.array([[1, -middle / scale], [0, 1 / scale]])
    return back @ result.params, back @ result.cov_params() @ back.T


def simulate(kind: str) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(7)
    x: Floats = rng.normal(size=400)
    if kind == "near separable":
        x = np.concatenate([np.linspace(-5, -0.1, 200), [0.05, -0.05], np.linspace(0.1, 5, 200)])
        return x, np.concatenate([np.zeros(201), np.ones(201)])
    if kind == "one against many":
        return x, (np.arange(400) == np.argsort(x)[200]).astype(float)
    y = (rng.random(400) < expit(0.5 - 1.5 * x)).astype(float)
    return {"plain": x, "tiny": 1e-9 * x, "huge": 1e9 * x + 1e10, "wide": x**5}[kind], y


KINDS = ["plain", "tiny", "huge", "wide", "near separable", "one against many"]


@pytest.mark.parametrize("kind", KINDS)
def test_fit_equals_the_reference_implementation(kind: str) -> None:
    x, y = simulate(kind)
    result, (wanted, covariance) = fit_logistic(x, y, 1 - y), fit_reference(x, y)
    assert result.slope == pytest.approx(wanted[1], rel=1e-8)
    assert result.intercept == pytest.approx(wanted[0], rel=1e-8, abs=1e-9)
    assert result.covariance[1, 1] == pytest.approx(covariance[1, 1], rel=1e-7)
    assert result.covariance[0, 0] == pytest.approx(covariance[0, 0], rel=1e-7)
    assert result.covariance[0, 1] == pytest.approx(covariance[0, 1], rel=1e-7, abs=1e-9)


def test_batched_fits_equal_single_fits() -> None:
    x = simulate("plain")[0]
    rng = np.random.default_rng(0)
    hits = np.stack([rng.random(400) < expit(a + b * x) for a, b in [(0, 1), (-3, 0.1), (2, -4), (-5, 3)]]).astype(
        float
    )
    for start in (None, (0.3, 0.3), (-5.0, 8.0)):
        many = fit_logistic(x, hits, 1 - hits, start=start)
        for at, each in enumerate(hits):
            alone = fit_logistic(x, each, 1 - each)
            assert many.slope[at] == pytest.approx(alone.slope, rel=1e-10)
            assert many.intercept[at] == pytest.approx(alone.intercept, rel=1e-10, abs=1e-12)
            assert np.isnan(many.covariance[at]).all()  # their spread shows the variance


def test_sums_at_a_value_equal_repeated_rows() -> None:
    x, rng = np.arange(6.0), np.random.default_rng(1)
    hits, misses = rng.integers(1, 9, (2, 6))
    repeated = np.repeat(np.concatenate([x, x]), np.concatenate([hits, misses]))
    y = np.repeat([1.0, 0.0], [hits.sum(), misses.sum()])
    result, (wanted, covariance) = fit_logistic(x, hits.astype(float), misses.astype(float)), fit_reference(repeated, y)
    assert [result.intercept, result.slope] == pytest.approx(wanted, rel=1e-9)
    assert result.covariance == pytest.approx(covariance, rel=1e-8)


def test_squared_weights_give_a_sandwich_covariance() -> None:
    x, y = simulate("plain")
    weight = np.random.default_rng(3).random(400) + 0.1
    result = fit_logistic(x, weight * y, weight * (1 - y), squares=weight**2)
    design = sm.add_constant(x)
    fit = sm.GLM(y, design, family=sm.families.Binomial(), freq_weights=weight).fit(tol=1e-14)
    assert [result.intercept, result.slope] == pytest.approx(fit.params, rel=1e-9)
    p = fit.fittedvalues * (1 - fit.fittedvalues)
    bread = np.linalg.inv(design.T @ (design * (weight * p)[:, None]))
    meat = design.T @ (design * (weight**2 * p)[:, None])
    assert result.covariance == pytest.approx(bread @ meat @ bread, rel=1e-7)


# 40,000 rows are many: the fit starts from pooled neighbors.
@pytest.mark.parametrize(("rows", "scale"), [(300, 0.0), (300, 1.0), (300, 10.0), (40_000, 0.0), (40_000, 2.0)])
def test_an_intercept_equals_the_reference_implementation(rows: int, scale: float) -> None:
    rng = np.random.default_rng(5)
    offset = np.sort(rng.normal(size=rows) * scale)
    y = (rng.random(rows) < expit(offset - 1)).astype(float)
    result, variance = fit_intercept(offset, y, 1 - y)
    fit = sm.GLM(y, np.ones(rows), family=sm.families.Binomial(), offset=offset).fit(tol=1e-14)
    assert result == pytest.approx(fit.params[0], rel=1e-9)
    assert variance == pytest.approx(fit.cov_params()[0, 0], rel=1e-7)


@pytest.mark.parametrize(
    ("offset", "hits", "misses"),
    [
        ([700.0, -700.0, 3.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]),
        ([700.0, 700.0, 700.0], [2.0, 0.0, 0.0], [0.0, 1.0, 1.0]),
        ([-700.0, -700.0, -700.0], [0.0, 3.0, 1.0], [3.0, 0.0, 1.0]),
        ([700.0, -700.0, 700.0], [0.0, 3.0, 1.0], [3.0, 0.0, 1.0]),
        ([27.6, -27.6, 0.0], [1e6, 0.0, 1.0], [1.0, 5.0, 1e5]),
    ],
)
def test_intercepts_with_extreme_offsets(offset: list[float], hits: list[float], misses: list[float]) -> None:
    x, h, m = map(np.array, (offset, hits, misses))

    def surplus(a: float) -> float:
        return float(h.sum() - ((h + m) * expit(x + a)).sum())

    result, variance = fit_intercept(x, h, m)
    assert result == pytest.approx(brentq(surplus, -1500, 1500, xtol=1e-13), rel=1e-9)
    assert np.isfinite(variance)


def test_intercepts_of_a_single_class_are_infinite() -> None:
    result, _ = fit_intercept(
        np.array([0.0, 1.0]), np.array([[0.0, 0.0], [1.0, 2.0]]), np.array([[1.0, 2.0], [0.0, 0.0]])
    )
    assert result.tolist() == [-np.inf, np.inf]


@pytest.mark.parametrize("weight", [None, [2.0, 2.0, 2.0]])
def test_a_singular_information_raises_no_warning(weight: list[float] | None) -> None:
    """Two scores that differ in the last bit, one of each class: the variance of the slope is unknown."""
    for near in (np.nextafter(0.3, 1), np.nextafter(0.3, 0)):
        fit = measure.calibration_slope(tally([0, 1, 0], [0.0, 0.3, near], weight=weight))
        assert isinstance(fit, float)


WIDTH = 4


def simulate_rows(seed: int = 0, rows: int = 300, sharp: float = 2.0) -> SoftmaxData:
    """Rows with overconfident scores for other class shares."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(rows, WIDTH)) + np.linspace(-0.5, 0.5, WIDTH)
    shares = np.exp(log_softmax(z, axis=1))
    truth = (rng.random((rows, 1)) > shares.cumsum(axis=1)).sum(axis=1).clip(0, WIDTH - 1)
    x: Floats = log_softmax(sharp * z + 0.3 * rng.normal(size=z.shape) - np.linspace(-1, 1, WIDTH), axis=1)
    return SoftmaxData(x, truth)


def make_full_model() -> SoftmaxModel:
    """Model with a slope for each class, and biases with the first fixed at 0."""
    space = np.zeros((2 * WIDTH, 2 * WIDTH - 1))
    space[:WIDTH, :WIDTH], space[WIDTH + 1 :, WIDTH:] = np.eye(WIDTH), np.eye(WIDTH - 1)
    return SoftmaxModel(np.zeros(2 * WIDTH), space, np.zeros(2 * WIDTH - 1), bounded=WIDTH)


def loss(theta: Floats, rows: SoftmaxData, model: SoftmaxModel) -> float:
    both = model.base + model.space @ theta
    output = log_softmax(rows.x * both[:WIDTH] + both[WIDTH:], axis=1)[np.arange(len(rows.x)), rows.truth]
    return -float(output.sum() if rows.amount is None else output @ rows.amount)


def test_gradient_and_information_equal_finite_differences() -> None:
    rows, model = simulate_rows(), make_full_model()
    rows = rows._replace(amount=np.random.default_rng(1).random(len(rows.x)))
    at, step = np.linspace(0.2, 0.9, 2 * WIDTH - 1), 1e-4
    around = np.eye(len(at)) * step
    slope = [(loss(at - d, rows, model) - loss(at + d, rows, model)) / (2 * step) for d in around]
    np.testing.assert_allclose(softmax_gradient(rows, model, at), slope, rtol=1e-6, atol=1e-6)
    curvature = [
        (softmax_gradient(rows, model, at - d) - softmax_gradient(rows, model, at + d)) / (2 * step) for d in around
    ]
    np.testing.assert_allclose(softmax_information(rows, model, at), curvature, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_no_minimizer_finds_a_better_fit(seed: int) -> None:
    rows, model = simulate_rows(seed), make_full_model()
    rows = rows._replace(amount=np.random.default_rng(seed).random(len(rows.x)) + 0.1)
    result = fit_softmax(rows, model)
    assert result.converged
    bounds = [(0, None)] * WIDTH + [(None, None)] * (WIDTH - 1)
    reference = minimize(loss, model.start, (rows, model), bounds=bounds, options={"ftol": 1e-15, "gtol": 1e-9})
    assert loss(result.theta, rows, model) <= reference.fun + 1e-9
    np.testing.assert_allclose(result.theta, reference.x, atol=2e-3)
    assert np.abs(softmax_gradient(rows, model, result.theta)[~result.at_bound]).max() < 1e-9


def test_a_slope_at_its_bound_leaves_the_others_optimal() -> None:
    rows, model = simulate_rows(), make_full_model()
    x = rows.x.copy()
    x[:, 1] *= -1
    rows = rows._replace(x=x)
    result = fit_softmax(rows, model)
    assert result.converged
    assert result.at_bound.tolist() == [False, True] + [False] * (2 * WIDTH - 3)
    assert result.theta[1] == 0
    assert softmax_gradient(rows, model, result.theta)[1] < 0
    assert np.abs(softmax_gradient(rows, model, result.theta)[~result.at_bound]).max() < 1e-9
    bounds = [(0, None)] * WIDTH + [(None, None)] * (WIDTH - 1)
    reference = minimize(loss, model.start, (rows, model), bounds=bounds, options={"ftol": 1e-15, "gtol": 1e-9})
    assert loss(result.theta, rows, model) <= reference.fun + 1e-9
    assert (result.covariance[1] == 0).all()


def test_covariance_is_the_inverse_information_or_a_sandwich() -> None:
    rows, model = simulate_rows(), make_full_model()
    plain = fit_softmax(rows, model)
    inverse = np.linalg.inv(softmax_information(rows, model, plain.theta))
    np.testing.assert_allclose(plain.covariance, model.space @ inverse @ model.space.T, rtol=1e-8, atol=1e-14)
    amount = np.random.default_rng(0).random(len(rows.x))
    weighted = rows._replace(amount=amount, squares=amount**2)
    result, scaled = (
        fit_softmax(each, model) for each in (weighted, SoftmaxData(rows.x, rows.truth, 7 * amount, 49 * amount**2))
    )
    np.testing.assert_allclose(result.covariance, scaled.covariance, rtol=1e-8, atol=1e-14)
    inner = softmax_information(rows._replace(amount=amount**2), model, result.theta)
    outer = model.space @ np.linalg.inv(softmax_information(weighted, model, result.theta))
    np.testing.assert_allclose(result.covariance, outer @ inner @ outer.T, rtol=1e-8, atol=1e-14)


def test_separable_data_do_not_converge() -> None:
    rows, model = simulate_rows(), make_full_model()
    separated = rows._replace(truth=rows.x.argmax(axis=1))
    assert not fit_softmax(separated, model).converged
    # One class is separated from the others.
    x, truth = rows.x.copy(), np.where(rows.truth == 0, 1, rows.truth)
    x[:, 0], truth[:30] = -5.0, 0
    x[:30, 0] = -0.1
    assert not fit_softmax(SoftmaxData(x, truth), model).converged


def test_almost_separable_data_converge() -> None:
    rows, model = simulate_rows(), make_full_model()
    truth = rows.x.argmax(axis=1)
    truth[:WIDTH] = np.argsort(rows.x[:WIDTH], axis=1)[:, -2]
    one = SoftmaxModel(np.zeros(2 * WIDTH), np.repeat([1.0, 0.0], WIDTH)[:, None], np.zeros(1), bounded=1)
    result = fit_softmax(rows._replace(truth=truth), one)
    assert result.converged
    assert abs(softmax_gradient(rows._replace(truth=truth), one, result.theta)[0]) < 1e-9
    # p(1 − p) of an almost certain class, which cancels unless it is a sum over the other classes.
    certain = SoftmaxData(np.array([[0.0, -40.0, -41.0, -42.0]]), np.array([0]))
    share = np.exp(-40.0) + np.exp(-41.0) + np.exp(-42.0)
    assert softmax_information(certain, model, np.repeat([1.0, 0.0], [4, 3])).shape == (7, 7)
    bias = SoftmaxModel(np.repeat([1.0, 0.0], 4), np.eye(8)[:, 4:5], np.zeros(1))
    assert softmax_information(certain, bias, np.zeros(1))[0, 0] == pytest.approx(share, rel=1e-12)


def test_rank_does_not_depend_on_units() -> None:
    assert is_identified(np.diag([1e-30, 1.0, 1e30]))
    assert not is_identified(np.array([[1.0, 1.0], [1.0, 1.0]]))
    assert not is_identified(np.diag([0.0, 1.0]))
