"""The binormal curve: least squares against NumPy, maximum likelihood against a general search."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import ndtr, ndtri

from baserate._arrays import Floats
from baserate._numeric.binormal import fit_binormal, fit_line


def simulate(rows: int, seed: int, *, digits: int = 15) -> tuple[Floats, Floats]:
    """Counts of positives and of negatives at each score, in increasing order."""
    rng = np.random.default_rng(seed)
    positive = np.round(rng.normal(1.0, 1.4, rows), digits)
    negative = np.round(rng.normal(size=2 * rows), digits)
    both = np.unique(np.concatenate([positive, negative]))
    counts = [np.array([np.sum(rows == each) for each in both], dtype=float) for rows in (positive, negative)]
    return counts[0], counts[1]


def likelihood(a: float, b: float, thresholds: Floats, positive: Floats, negative: Floats) -> float:
    total = 0.0
    for rows, at in ((positive, b * thresholds - a), (negative, thresholds)):
        shares = np.diff(np.concatenate([[0.0], ndtr(at), [1.0]]))
        if (shares[rows > 0] <= 0).any():
            return -np.inf
        total += float(np.sum(rows[rows > 0] * np.log(shares[rows > 0])))
    return total


@pytest.mark.parametrize("seed", range(4))
def test_no_other_parameters_are_more_likely(seed: int) -> None:
    positive, negative = simulate(25, seed, digits=0)
    fit = fit_binormal(positive, negative)
    assert fit

    def loss(parameters: Floats) -> float:
        a, log_b, first, *gaps = parameters
        thresholds = first + np.concatenate([[0.0], np.cumsum(np.exp(gaps))])
        return -likelihood(float(a), float(np.exp(log_b)), thresholds, positive, negative)

    start = np.concatenate([[fit.a, np.log(fit.b), -2.0], np.zeros(len(positive) - 2)])
    search = minimize(
        loss, start, method="Nelder-Mead", options={"maxfev": 40_000, "maxiter": 40_000, "adaptive": True}
    )
    assert (search.x[0], np.exp(search.x[1])) == pytest.approx((fit.a, fit.b), abs=0.02)


def test_neighbors_of_one_class_are_one_category() -> None:
    positive, negative = np.array([0.0, 1, 2, 0, 3]), np.array([2.0, 1, 0, 3, 0])
    split = np.array([0.0, 0, 1, 1, 1, 0, 1, 2]), np.array([1.0, 1, 1, 0, 0, 3, 0, 0])
    fits = [fit_binormal(*each) for each in ((positive, negative), split)]
    assert fits[0]
    assert fits[1]
    assert fits[0][:2] == pytest.approx(fits[1][:2], rel=1e-6)
    assert fits[0].distance_error == pytest.approx(fits[1].distance_error, rel=1e-6)


def test_saturated_ratings_are_fitted_exactly() -> None:
    # Three categories have four free shares, as many as parameters and thresholds.
    positive, negative = np.array([5.0, 10, 25]), np.array([20.0, 15, 5])
    fit = fit_binormal(positive, negative)
    assert fit
    rates = [np.cumsum(each[::-1])[:-1] / each.sum() for each in (positive, negative)]
    np.testing.assert_allclose(ndtr(fit.a + fit.b * ndtri(rates[1])), rates[0], rtol=1e-7)


def test_errors_shrink_with_the_root_of_the_rows() -> None:
    positive, negative = simulate(40, 1)
    fit, tenfold = fit_binormal(positive, negative), fit_binormal(10 * positive, 10 * negative)
    assert fit
    assert tenfold
    assert tenfold.distance == pytest.approx(fit.distance, abs=1e-6)
    assert fit.distance_error / tenfold.distance_error == pytest.approx(np.sqrt(10), rel=1e-4)


def test_swapped_classes_mirror_the_curve() -> None:
    positive, negative = simulate(40, 2)
    fit, mirrored = fit_binormal(positive, negative), fit_binormal(negative[::-1], positive[::-1])
    assert fit
    assert mirrored
    # y = Φ(a + b Φ⁻¹(x)) becomes 1 − x as a function of 1 − y.
    assert (mirrored.a, mirrored.b) == pytest.approx((fit.a / fit.b, 1 / fit.b), rel=1e-4)
    assert mirrored.distance == pytest.approx(fit.distance, abs=1e-5)


@pytest.mark.parametrize(
    ("positive", "negative"),
    [
        ([0.0, 0, 3, 3], [3.0, 3, 0, 0]),  # separated
        ([5.0], [5.0]),  # one score
        ([2.0, 3], [3.0, 2]),  # one threshold
        ([0.0, 5, 0], [5.0, 0, 5]),  # positives in the middle of all negatives
        ([0.0, 1, 5], [9.0, 1, 0]),  # all inner points on the axes but one
    ],
)
def test_curves_without_a_maximum_have_no_fit(positive: list[float], negative: list[float]) -> None:
    assert fit_binormal(np.array(positive), np.array(negative)) is None


def test_large_samples_find_the_truth() -> None:
    positive, negative = simulate(2000, 5)
    fit = fit_binormal(positive, negative)
    assert fit
    assert fit.covariance is not None
    z = (np.array([fit.a, fit.b]) - [1 / 1.4, 1 / 1.4]) / np.sqrt(np.diag(fit.covariance))
    assert (np.abs(z) < 3.5).all()


def test_the_line_is_that_of_numpy() -> None:
    tpr, fpr = np.array([0.0, 0.4, 0.7, 0.9, 1.0, 1.0]), np.array([0.0, 0.0, 0.2, 0.5, 0.8, 1.0])
    inner = slice(2, 4)
    slope, intercept = np.polyfit(ndtri(tpr[inner]), ndtri(1 - fpr[inner]), 1)
    line = fit_line(tpr, fpr)
    assert line
    assert (line.a, line.b) == pytest.approx((-intercept / slope, -1 / slope), rel=1e-10)
    assert fit_line(tpr[:3], fpr[:3]) is None
    falling = [(low, 1 - low) for low, _ in pairwise([0.2, 0.4, 0.6, 0.8])]
    assert fit_line(*np.array(falling).T) is None
