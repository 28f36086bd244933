"""Shares of several classes by kernel densities: brute force, two classes, influence, random points, errors."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

from baserate import MulticlassRows, MulticlassTarget, OptionError, Target, shift, tally
from baserate._numeric.simplex import fit_hellinger, fit_nonnegative

Floats = npt.NDArray[np.float64]
LABELS = ("a", "b", "c")
METHODS = ("kdey-ml", "kdey-hd", "kdey-cs")
CENTERS = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])


def simulate(n: int, shares: list[float], seed: int) -> tuple[Any, Floats]:
    """Simulate classes and their posteriors at shares of .4, .3 and .3."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, n, p=shares).astype(np.uint8)
    x = CENTERS[truth] + rng.normal(size=(n, 2))
    logs = -((x[:, None] - CENTERS) ** 2).sum(axis=2) / 2 + np.log([0.4, 0.3, 0.3])
    return truth, softmax(logs, axis=1)


VALIDATION = MulticlassRows(*simulate(240, [0.4, 0.3, 0.3], 1), LABELS)
TARGET = MulticlassTarget(simulate(200, [0.2, 0.5, 0.3], 2)[1], LABELS)


def estimate(method: str, validation: MulticlassRows = VALIDATION, **options: Any) -> Any:  # noqa: ANN401
    return shift.estimate_prevalence(TARGET, validation, method=method, **options)


def kernels(places: Floats, centers: Floats, bandwidth: float) -> Floats:
    distances = ((places[:, None] - centers) ** 2).sum(axis=2)
    each: Floats = np.exp(-distances / 2 / bandwidth**2)
    return each


def class_means(places: Floats, bandwidth: float) -> Floats:
    each = kernels(places, np.asarray(VALIDATION.score), bandwidth)
    return np.stack([each[:, VALIDATION.truth == k].mean(axis=1) for k in range(3)], axis=1)


def minimize_on_simplex(loss: Any) -> Floats:  # noqa: ANN401
    options: Any = {"ftol": 1e-14, "maxiter": 500}
    sums_to_one: Any = {"type": "eq", "fun": lambda q: q.sum() - 1}
    start, bounds = np.full(3, 1 / 3), [(0, 1)] * 3
    found: Floats = minimize(loss, start, bounds=bounds, constraints=sums_to_one, options=options).x
    return found


def test_likelihood_and_cauchy_schwarz_equal_brute_force() -> None:
    score = np.asarray(TARGET.score, dtype=np.float64)
    densities = class_means(score, 0.1)
    expected = minimize_on_simplex(lambda q: -np.log(densities @ q).mean())
    assert estimate("kdey-ml").value == pytest.approx(expected, abs=1e-5)
    wide = 0.1 * np.sqrt(2)
    a = class_means(score, wide).mean(axis=0)
    old = class_means(np.asarray(VALIDATION.score, dtype=np.float64), wide)
    b = np.stack([old[VALIDATION.truth == k].mean(axis=0) for k in range(3)])
    expected = minimize_on_simplex(lambda q: 0.5 * np.log(q @ b @ q) - np.log(a @ q))
    assert estimate("kdey-cs").value == pytest.approx(expected, abs=1e-5)


def test_hellinger_distance_of_random_points_approaches_that_of_a_grid() -> None:
    step = 0.02
    plane = np.stack(np.meshgrid(*[np.arange(-0.5, 1.5, step)] * 2), axis=-1).reshape(-1, 2)
    places = np.column_stack([plane, 1 - plane.sum(axis=1)])
    densities, mixed = class_means(places, 0.1), kernels(places, np.asarray(TARGET.score), 0.1).mean(axis=1)
    expected = minimize_on_simplex(lambda q: 1e3 * ((np.sqrt(densities @ q) - np.sqrt(mixed)) ** 2).mean())
    assert estimate("kdey-hd", points=40_000).value == pytest.approx(expected, abs=0.002)
    one, two, other = (estimate("kdey-hd", seed=seed).value for seed in (1, 1, 2))
    assert one.tolist() == two.tolist()
    assert one == pytest.approx(other, abs=0.01)
    assert one.tolist() != other.tolist()


@pytest.mark.parametrize("method", METHODS)
def test_two_classes_are_as_by_the_estimators_of_two_classes(method: str) -> None:
    rng = np.random.default_rng(3)
    truth = rng.random(300) < 0.4
    old, new = (1 / (1 + np.exp(-x)) for x in (1.5 * truth - 1 + rng.normal(size=300), rng.normal(size=250) - 0.3))
    rows = MulticlassRows(truth.astype(np.uint8), np.column_stack([1 - old, old]), (0, 1))
    several = shift.estimate_prevalence(
        MulticlassTarget(np.column_stack([1 - new, new]), (0, 1)), rows, method=method, bandwidth=0.2
    )
    two = shift.estimate_prevalence(Target(new), tally(truth, old), method=method, bandwidth=0.2)
    within = 0.004 if method == "kdey-hd" else 1e-5
    assert several.value[1] == pytest.approx(two.value, abs=within)
    assert np.sqrt(several.covariance[1, 1]) == pytest.approx(two.standard_error, rel=0.03)


@pytest.mark.parametrize("method", METHODS)
def test_influence_is_the_derivative_by_one_more_row(method: str) -> None:
    amounts = np.full(len(VALIDATION), 100_000)

    def with_counts(counts: Any) -> Any:  # noqa: ANN401
        return estimate(method, MulticlassRows(VALIDATION.truth, VALIDATION.score, LABELS, count=counts))

    result = with_counts(amounts)
    for place in (3, 77, 150):
        more = amounts.copy()
        more[place] += 100
        changed = (with_counts(more).unclipped - result.unclipped) / 100
        # Other counts draw other points of kdey-hd.
        if method != "kdey-hd":
            assert changed == pytest.approx(result.influence[place], rel=0.02, abs=1e-10)
    assert result.influence.sum(axis=1) == pytest.approx(np.zeros(len(VALIDATION)), abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_standard_errors_are_those_of_the_bootstrap(method: str) -> None:
    rng = np.random.default_rng(1)
    values = []
    for _ in range(120):
        new, old = rng.integers(0, 200, 200), rng.integers(0, 240, 240)
        rows = MulticlassRows(VALIDATION.truth[old], VALIDATION.score[old], LABELS)
        target = MulticlassTarget(np.asarray(TARGET.score)[new], LABELS)
        options: dict[str, Any] = {"points": 2000} if method == "kdey-hd" else {}
        values.append(shift.estimate_prevalence(target, rows, method=method, **options).value)
    result = estimate(method)
    assert np.sqrt(np.diag(result.covariance)) == pytest.approx(np.std(values, axis=0), rel=0.25)


@pytest.mark.parametrize("method", METHODS)
def test_classes_that_the_target_lacks_have_a_share_near_0(method: str) -> None:
    target = MulticlassTarget(simulate(400, [0.6, 0.4, 0.0], 5)[1], LABELS)
    result = shift.estimate_prevalence(target, VALIDATION, method=method)
    assert result.value.sum() == pytest.approx(1)
    assert (result.value >= 0).all()
    assert result.value[2] < 0.05
    assert result.estimates[2].low == 0 < result.estimates[2].high


def test_solvers_at_a_bound() -> None:
    rng = np.random.default_rng(2)
    a = rng.random((50, 3)) + 0.1
    y, _, slope = fit_hellinger(a, a @ [0.6, 0.4, 0.0], np.ones(50))
    assert y == pytest.approx([0.6, 0.4, 0.0], abs=1e-6)
    assert np.abs(slope[:2]).max() < 1e-6
    b = a.T @ a
    y = fit_nonnegative(b, np.array([3.0, -1.0, 2.0]))
    gradient = np.array([3.0, -1.0, 2.0]) - b @ y
    assert (y >= 0).all()
    assert gradient[y > 0] == pytest.approx(0, abs=1e-9)
    assert (gradient[y == 0] <= 1e-9).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "kdey-ml", "bandwidth": 0}, "bandwidth is 0; expected a bandwidth from 0.01 to 10"),
        ({"method": "kdey-hd", "points": 0}, "points is 0; expected a whole number from 1"),
        ({"method": "kdey-hd", "seed": -1}, "seed is -1"),
        ({"method": "dys"}, "dys uses a single score, so it is for two classes"),
    ],
)
def test_wrong_options_raise(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        estimate(**options)
