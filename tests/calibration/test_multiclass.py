"""Multiclass calibrators: minimizers and scikit-learn as references, laws, and errors."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, strategies as st
from scipy.optimize import linprog, minimize, minimize_scalar
from scipy.special import log_softmax, logit, softmax
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

import baserate
from baserate import (
    Calibrator,
    EmptyDataError,
    FitError,
    MulticlassCalibrator,
    MulticlassRows,
    NotAProbabilityError,
    OptionError,
    ShapeError,
    Tally,
)
from baserate._calibrator_forms import Line
from baserate._numeric.distinct import Codes
from baserate._numeric.logistic import fit_logistic, log_odds
from baserate.calibration import CALIBRATORS, multiclass
from baserate.measure.multiclass import log_loss

Floats = npt.NDArray[np.float64]
METHODS = {entry.name: entry.multiclass for entry in CALIBRATORS if entry.multiclass is not None}
FITS = {name: method for name, method in METHODS.items() if name != "identity"}


def simulate(seed: int = 0, rows: int = 400, width: int = 3) -> MulticlassRows:
    """Rows with overconfident probabilities for other shares."""
    rng = np.random.default_rng(seed)
    z = 1.2 * rng.normal(size=(rows, width)) + np.linspace(0.5, -0.5, width)
    truth = (rng.random((rows, 1)) > softmax(z, axis=1).cumsum(axis=1)).sum(axis=1).clip(0, width - 1)
    score = softmax(2 * z - np.linspace(0, 1, width), axis=1)
    return MulticlassRows(truth, score, tuple("abcdefghij"[:width]))


def predict_held_out(load: Any, model: Any) -> MulticlassRows:  # noqa: ANN401  (of scikit-learn)
    """Probabilities of a model for held-out rows."""
    x, y = load(return_X_y=True)
    observed, new, seen_y, new_y = train_test_split(x, y, test_size=0.5, random_state=0, stratify=y)
    return baserate.class_scores(new_y, model.fit(observed, seen_y).predict_proba(new))


DATA: dict[str, Callable[[], MulticlassRows]] = {
    "digits": lambda: predict_held_out(load_digits, GaussianNB()),
    "digits, few steps": lambda: predict_held_out(load_digits, LogisticRegression(C=1e-4)),
    "wine": lambda: predict_held_out(load_wine, LogisticRegression(C=0.01, max_iter=10_000)),
    "iris": lambda: predict_held_out(load_iris, GaussianNB()),
}


@cache
def load_real_data(name: str) -> MulticlassRows:
    """Probabilities of a model for real rows."""
    return DATA[name]()


SEPARATED = {("digits, few steps", "vector"), ("iris", "vector")}
"""Data and methods for which some class is perfectly separated; linear programming agrees, below."""


def loss(parameters: Floats, rows: MulticlassRows) -> float:
    """Negative log-likelihood of weights and biases."""
    width = len(rows.labels)
    z = parameters[:width] * np.log(np.maximum(rows.score, 1e-12)) + parameters[width:]
    output = log_softmax(z, axis=1)[np.arange(len(rows)), rows.truth]
    return -float(output.sum() if rows.amount is None else output @ rows.amount)


def weights_and_biases(calibrator: MulticlassCalibrator) -> Floats:
    form: Any = calibrator.form
    return np.concatenate([form.weight, form.bias])


def standard_errors(calibrator: MulticlassCalibrator) -> list[float]:
    """Standard errors of the parameters that have one."""
    result = [each.standard_error for each in calibrator.parameters if each.standard_error is not None]
    assert result
    return result


Space = Callable[[int], tuple[Floats, Floats]]
SPACES: dict[str, Space] = {
    "prior": lambda k: (np.repeat([1.0, 0.0], k), np.eye(2 * k)[:, k:]),
    "temperature": lambda k: (np.zeros(2 * k), np.repeat([1.0, 0.0], k)[:, None]),
    "bias-corrected": lambda k: (
        np.zeros(2 * k),
        np.column_stack([np.repeat([1.0, 0.0], k), np.eye(2 * k)[:, k:]]),
    ),
    "vector": lambda k: (np.zeros(2 * k), np.eye(2 * k)),
}
BOUNDED = {"prior": 0, "temperature": 1, "bias-corrected": 1, "vector": 3}


@pytest.mark.parametrize("method", SPACES)
@pytest.mark.parametrize("seed", range(3))
def test_no_minimizer_finds_a_better_fit(method: str, seed: int) -> None:
    rows = simulate(seed)
    base, space = SPACES[method](3)
    bounds = [(0, None) if at < BOUNDED[method] else (None, None) for at in range(space.shape[1])]
    reference = minimize(
        lambda theta: loss(base + space @ theta, rows),
        np.full(space.shape[1], 0.5),
        bounds=bounds,
        options={"ftol": 1e-15, "gtol": 1e-9},
    )
    result = weights_and_biases(METHODS[method](rows))
    assert loss(result, rows) <= reference.fun + 1e-8
    wanted = base + space @ reference.x
    wanted[3:] -= wanted[3:].mean()
    np.testing.assert_allclose(result, wanted, atol=3e-3)


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("method", FITS)
def test_calibration_does_not_increase_the_log_loss_of_real_data(name: str, method: str) -> None:
    rows = load_real_data(name)
    if (name, method) in SEPARATED:
        with pytest.raises(FitError, match="separate some of"):
            METHODS[method](rows)
        return
    result = METHODS[method](rows)
    after = replace(rows, score=result(rows.score))
    assert log_loss(after) <= log_loss(replace(rows, score=np.maximum(rows.score, 1e-12))) + 1e-9
    if method != "temperature":
        shares = rows.support / rows.total
        np.testing.assert_allclose(after.score.mean(axis=0), shares, atol=1e-12)


def is_separated(rows: MulticlassRows, *, same_slope: bool) -> bool:
    """Whether some direction makes no row less likely and some rows more so, by linear programming."""
    width, rest = len(rows.labels), np.arange(len(rows.labels)) != rows.truth[:, None]
    own, other = np.repeat(rows.truth, width - 1), np.nonzero(rest)[1]
    x, at = np.repeat(np.log(np.maximum(rows.score, 1e-12)), width - 1, axis=0), np.arange(len(own))
    margin = np.zeros((len(own), 2 * width))
    margin[at, own], margin[at, other] = x[at, own], -x[at, other]
    margin[at, width + own], margin[at, width + other] = 1, -1
    if same_slope:
        margin = np.column_stack([margin[:, :width].sum(axis=1), margin[:, width:]])
    bounds = [(0, 1)] * (margin.shape[1] - width) + [(-1, 1)] * width
    result = linprog(-margin.sum(axis=0), A_ub=-margin, b_ub=np.zeros(len(margin)), bounds=bounds)
    return bool(-result.fun > 1e-6)


@pytest.mark.parametrize("name", DATA)
def test_separation_of_real_data_agrees_with_linear_programming(name: str) -> None:
    assert is_separated(load_real_data(name), same_slope=False) == ((name, "vector") in SEPARATED)
    assert is_separated(load_real_data(name), same_slope=True) == ((name, "bias-corrected") in SEPARATED)


@pytest.mark.slow
def test_separation_of_small_data_agrees_with_linear_programming() -> None:
    outcomes = set()
    for seed in range(60):
        rows = simulate(seed, 8 + seed // 2)
        if not rows.support.all():
            continue
        for method, same_slope in (("bias-corrected", True), ("vector", False)):
            raised = False
            try:
                METHODS[method](rows)
            except FitError:
                raised = True
            assert raised == is_separated(rows, same_slope=same_slope), (seed, method)
            outcomes.add((method, raised))
    assert len(outcomes) == 4  # both methods have both outcomes


def test_vector_of_two_classes_is_logistic_regression_on_both_logarithms() -> None:
    rows = simulate(2, width=2)
    result = multiclass.vector(rows)
    x = np.log(rows.score) * [1, -1]
    reference = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(x, rows.truth == 0)
    wanted = reference.predict_proba(np.log(rows.score) * [1, -1])[:, 1]
    np.testing.assert_allclose(result(rows.score)[:, 0], wanted, atol=1e-6)


def test_bias_corrected_of_two_classes_is_logistic_regression_on_log_odds() -> None:
    rows = simulate(1, width=2)
    result = multiclass.bias_corrected(rows)
    tally = rows.against_rest(0)
    reference = fit_logistic(log_odds(tally.score), tally.positive, tally.negative)
    by_name = {each.name: each for each in result.parameters}
    assert by_name["slope"].value == pytest.approx(float(reference.slope), rel=1e-9)
    assert by_name["slope"].standard_error == pytest.approx(np.sqrt(reference.covariance[1, 1]), rel=1e-7)
    assert 2 * by_name["bias of a"].value == pytest.approx(float(reference.intercept), rel=1e-8)
    error = by_name["bias of a"].standard_error
    assert error is not None
    assert 2 * error == pytest.approx(np.sqrt(reference.covariance[0, 0]), rel=1e-7)


def test_temperature_of_two_classes_is_that_of_log_odds() -> None:
    rows = simulate(3, width=2)
    result = multiclass.temperature(rows)
    x, y = logit(rows.score[:, 0]), rows.truth == 0
    reference = minimize_scalar(
        lambda slope: np.logaddexp(0, np.where(y, -slope, slope) * x).sum(), bounds=(0, 5), options={"xatol": 1e-10}
    )
    slope, heat = result.parameters
    assert slope.value == pytest.approx(reference.x, abs=1e-7)
    share = 1 / (1 + np.exp(-slope.value * x))
    assert slope.standard_error == pytest.approx((x**2 * share * (1 - share)).sum() ** -0.5, rel=1e-9)
    assert heat.value * slope.value == pytest.approx(1)
    assert heat.low is not None
    assert slope.high is not None
    assert heat.low * slope.high == pytest.approx(1)


@pytest.mark.parametrize("method", FITS)
def test_counts_repeat_rows_and_zeros_drop_them(method: str) -> None:
    rows = simulate(0, 120)
    times = np.random.default_rng(1).integers(0, 4, len(rows))
    repeated = MulticlassRows(np.repeat(rows.truth, times), np.repeat(rows.score, times, axis=0), rows.labels)
    counted, weighted = replace(rows, count=times), replace(rows, weight=times.astype(float))
    wanted, one, other = (METHODS[method](each) for each in (repeated, counted, weighted))
    np.testing.assert_allclose(weights_and_biases(one), weights_and_biases(wanted), atol=1e-9)
    np.testing.assert_allclose(weights_and_biases(other), weights_and_biases(wanted), atol=1e-9)
    np.testing.assert_allclose(standard_errors(one), standard_errors(wanted), rtol=1e-7)
    assert one.fitted is not None
    assert one.fitted.rows == times.sum()


@pytest.mark.parametrize("method", FITS)
def test_standard_errors_do_not_depend_on_the_unit_of_weights(method: str) -> None:
    rows = simulate()
    weight = np.random.default_rng(1).random(len(rows)) + 0.5
    one, other = (METHODS[method](replace(rows, weight=unit * weight)) for unit in (1.0, 1e6))
    np.testing.assert_allclose(standard_errors(one), standard_errors(other), rtol=1e-6)
    equal = METHODS[method](replace(rows, weight=np.full(len(rows), 3.0)))
    np.testing.assert_allclose(standard_errors(equal), standard_errors(METHODS[method](rows)), rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_classes_may_come_in_any_order(method: str) -> None:
    rows, order = simulate(), np.array([2, 0, 1])
    turned = MulticlassRows(np.argsort(order)[rows.truth], rows.score[:, order], tuple(rows.labels[at] for at in order))
    result, wanted = METHODS[method](turned), METHODS[method](rows)
    np.testing.assert_allclose(result(turned.score), wanted(rows.score)[:, order], atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_files_give_identical_probabilities(method: str, tmp_path: Path) -> None:
    rows = simulate()
    result = METHODS[method](rows)
    result.save(tmp_path / "map.json")
    again = baserate.load_calibrator(tmp_path / "map.json")
    np.testing.assert_array_equal(again(rows.score), result(rows.score))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(result))(rows.score), result(rows.score))  # noqa: S301
    assert isinstance(again, MulticlassCalibrator)
    assert again.parameters == result.parameters
    assert again.fitted == result.fitted
    if method != "identity":
        assert result.was_fitted_on(rows)
        assert not result.was_fitted_on(simulate(1))


@pytest.mark.parametrize("method", METHODS)
def test_columns_belong_to_their_classes(method: str) -> None:
    rows = simulate()
    table = {"y": [rows.labels[at] for at in rows.truth]} | {f"p_{k}": rows.score[:, at] for at, k in enumerate("abc")}
    result = METHODS[method](baserate.read.class_rows(table, truth="y", score="p_*", labels=["c", "a", "b"]))
    assert result.labels == ("c", "a", "b")
    assert dict(result.columns) == {"c": "p_c", "a": "p_a", "b": "p_b"}
    output = {"b": "p_b", "c": "p_c", "a": "p_a"}
    result = METHODS[method](baserate.read.class_rows(table, truth="y", score=output, labels="abc"))
    assert dict(result.columns) == {"a": "p_a", "b": "p_b", "c": "p_c"}
    assert METHODS[method](rows).columns == {}


shares = st.lists(st.floats(1e-6, 1), min_size=3, max_size=3).map(lambda given: np.array(given) / sum(given))
rows_of_three = st.lists(st.tuples(st.integers(0, 2), shares), min_size=6, max_size=40)


@given(rows_of_three)
def test_mean_probabilities_after_prior_are_the_class_shares(data: list[tuple[int, Floats]]) -> None:
    truth = np.array([at for at, _ in data])
    assume(len(set(truth)) == 3)
    rows = MulticlassRows(truth, np.array([score for _, score in data]), tuple("abc"))
    result = multiclass.prior(rows)
    np.testing.assert_allclose(result(rows.score).mean(axis=0), rows.support / rows.total, atol=1e-12)
    assert sum(each.value for each in result.parameters[3:]) == pytest.approx(1)


@given(rows_of_three)
def test_fits_are_at_least_as_likely_as_uncalibrated_probabilities(data: list[tuple[int, Floats]]) -> None:
    rows = MulticlassRows(np.array([at for at, _ in data]), np.array([score for _, score in data]), tuple("abc"))
    before = log_loss(rows)
    for fit in FITS.values():
        try:
            result = fit(rows)
        except FitError:
            continue
        assert log_loss(replace(rows, score=result(rows.score))) <= before + 1e-9
        assert (weights_and_biases(result)[:3] >= 0).all()


def test_prior_converges_in_flat_regions_and_with_extreme_weights() -> None:
    for seed in range(0, 300, 2):
        rng = np.random.default_rng(seed)
        score = rng.dirichlet(np.full(4, 10 ** rng.uniform(-3, 1)), size=40)
        if seed % 3:
            score = np.round(score, 1) / np.round(score, 1).sum(axis=1, keepdims=True)
        truth = rng.integers(0, 4, 40)
        if not np.bincount(truth, minlength=4).all():
            continue
        weight = 10.0 ** rng.uniform(-5, 5, 40)
        rows = MulticlassRows(truth, score, tuple("abcd"), weight=weight)
        result = np.average(multiclass.prior(rows)(score), axis=0, weights=weight)
        np.testing.assert_allclose(result, rows.support / rows.total, atol=1e-12)


def test_prior_estimates_the_derivation_shares() -> None:
    rng = np.random.default_rng(0)
    derivation, true = np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.3, 0.5])
    truth = rng.choice(3, size=200_000, p=true)
    x = rng.normal(size=len(truth)) + truth
    density = np.exp(-((x[:, None] - np.arange(3)) ** 2) / 2) * derivation
    actual = multiclass.prior(MulticlassRows(truth, density / density.sum(axis=1, keepdims=True), tuple("abc")))
    result = [each.value for each in actual.parameters if each.name.startswith("prior of")]
    np.testing.assert_allclose(result, derivation, atol=0.01)


def test_prior_converges_for_probabilities_of_0_and_1() -> None:
    certain = np.eye(3)[[0, 0, 1, 2, 2, 1] * 10]
    rows = MulticlassRows(np.array([0, 1, 1, 2, 0, 1] * 10), certain, tuple("abc"))
    result = multiclass.prior(rows)
    np.testing.assert_allclose(result(certain).mean(axis=0), rows.support / rows.total, atol=1e-9)
    right = MulticlassRows(np.array([0, 0, 1, 2, 2, 1] * 10), certain, tuple("abc"))
    np.testing.assert_allclose(multiclass.prior(right)(certain), certain, atol=1e-9)
    assert "120 of 180 probabilities are below 1e-12" in result.notes[0]


@given(shares, shares, shares)
def test_reprior_and_its_inverse_cancel(first: Floats, second: Floats, p: Floats) -> None:
    forward, inverse = (
        multiclass.reprior(sample_prevalence=first, prevalence=second, labels="abc"),
        multiclass.reprior(sample_prevalence=second, prevalence=first, labels="abc"),
    )
    np.testing.assert_allclose(inverse(forward(p[None])), p[None], atol=1e-12)
    wanted = p * second / first
    np.testing.assert_allclose(forward(p[None])[0], wanted / wanted.sum(), rtol=1e-9)


def test_reprior_keeps_zeros_and_stores_no_sample() -> None:
    result = multiclass.reprior(
        sample_prevalence={"a": 0.5, "b": 0.3, "c": 0.2}, prevalence={"c": 0.1, "b": 0.1, "a": 0.8}
    )
    assert result([[0.0, 0.4, 0.6]])[0, 0] == 0
    assert result.fitted is None
    assert result.labels == ("a", "b", "c")
    assert result.parameters[-1].name == "prior of c after"
    for before, after, error in (
        ([0.5, 0.5], {"a": 0.5, "b": 0.5}, OptionError),  # whose shares?
        ({"a": 0.5, "b": 0.5}, {"a": 1.0, "b": 0.0}, OptionError),
        ({"a": 0.5, "b": 0.5}, {"a": 0.5, "c": 0.5}, OptionError),
        ({"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 0.6}, OptionError),
        ({"a": 0.5, "b": 0.5}, [0.2, 0.3, 0.5], ShapeError),
    ):
        with pytest.raises(error):
            multiclass.reprior(sample_prevalence=before, prevalence=after)


def test_reversed_scores_are_not_flipped() -> None:
    rows = simulate()
    upside = softmax(-np.log(rows.score), axis=1)
    rows = replace(rows, score=upside)
    for method in ("temperature", "bias-corrected", "vector"):
        result = METHODS[method](rows)
        assert "bounded at 0" in result.notes[-1]
        assert (weights_and_biases(result)[:3] == 0).all()
        assert all(each.standard_error is None for each in result.parameters if each.value == 0)
    np.testing.assert_allclose(multiclass.temperature(rows)(upside), 1 / 3)
    np.testing.assert_allclose(multiclass.bias_corrected(rows)(upside)[0], rows.support / rows.total, atol=1e-12)


def test_a_single_weight_can_be_fixed_at_zero() -> None:
    rows = simulate(5, 4000)
    score = rows.score.copy()
    score[:, 2] = np.sort(rows.score[:, 2])[np.argsort(np.argsort(-rows.score[:, 2]))]
    score /= score.sum(axis=1, keepdims=True)
    actual = multiclass.vector(replace(rows, score=score))
    result = weights_and_biases(actual)
    base, space = SPACES["vector"](3)
    reference = minimize(
        lambda theta: loss(base + space @ theta, replace(rows, score=score)),
        np.full(6, 0.5),
        bounds=[(0, None)] * 3 + [(None, None)] * 3,
        options={"ftol": 1e-15},
    )
    assert loss(result, replace(rows, score=score)) <= reference.fun + 1e-6
    at_bound = result[:3] == 0
    assert at_bound.any()
    assert ("weight of c is bounded at 0" in " ".join(actual.notes)) == bool(at_bound[2])


THIRD = np.full((30, 3), 1 / 3)
CYCLE = np.arange(30) % 3


@pytest.mark.parametrize(
    ("method", "rows", "error", "message"),
    [
        ("temperature", (CYCLE, THIRD), FitError, "in each of 30 rows all classes are equally probable"),
        ("bias-corrected", (CYCLE, THIRD * [0.5, 1, 1.5]), FitError, "the probabilities are the same in all 30 rows"),
        ("vector", (CYCLE, THIRD * [0.5, 1, 1.5]), FitError, "the probability of a, b, c is the same in all 30 rows"),
        ("temperature", (CYCLE * 0, simulate(0, 30).score), FitError, "all 30 rows are of the class a"),
        ("vector", (CYCLE % 2, simulate(0, 30).score), FitError, "c never occurs in 30 rows"),
        ("prior", (CYCLE % 2, simulate(0, 30).score), FitError, "no finite bias fits; fit temperature"),
        ("temperature", (CYCLE, np.eye(3)[CYCLE]), FitError, "in all 30 rows the true class has the highest"),
        (
            "temperature",
            (CYCLE, THIRD * 2),
            NotAProbabilityError,
            r"in 30 of 30 rows the scores are outside \[0, 1\] or",
        ),
        (
            "prior",
            (CYCLE, THIRD - [1, 0, -1]),
            NotAProbabilityError,
            "fit one-vs-rest with a method that takes any score",
        ),
        ("prior", (CYCLE[:0], THIRD[:0]), EmptyDataError, "there are no rows"),
    ],
)
def test_undetermined_fits_raise(method: str, rows: tuple[Codes, Floats], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        METHODS[method](MulticlassRows(*rows, labels=tuple("abc")))


@pytest.mark.parametrize("method", ["bias-corrected", "vector"])
def test_separated_classes_raise(method: str) -> None:
    rows = simulate()
    with pytest.raises(FitError, match="separate some of 3 classes in 400 rows"):
        METHODS[method](replace(rows, truth=rows.score.argmax(axis=1)))
    if method == "bias-corrected":
        return
    # One class is separated and the others overlap: a single slope for all would be finite.
    score = rows.score.copy()
    score[:, 0] = np.where(rows.truth == 0, 0.9, 0.001)
    score[:, 1:] *= ((1 - score[:, 0]) / score[:, 1:].sum(axis=1))[:, None]
    with pytest.raises(FitError, match="separate some of"):
        METHODS[method](replace(rows, score=score))


def test_a_class_that_never_occurs_has_a_temperature() -> None:
    rows = simulate()
    result = multiclass.temperature(replace(rows, truth=rows.truth % 2))
    assert result.fitted is not None
    assert result.fitted.prevalence[2] == 0  # type: ignore[index]  # of several classes


def test_small_samples_and_clipped_probabilities_are_noted() -> None:
    rows = simulate(4, 12)
    score = rows.score.copy()
    score[0] = [1.0, 0.0, 0.0]
    result = multiclass.temperature(replace(rows, score=score))
    assert result.notes[0].startswith("fitted on 12 rows only")
    assert result.notes[1] == "2 of 36 probabilities are below 1e-12, and are taken as 1e-12."
    assert not multiclass.temperature(simulate()).notes


def test_temperature_never_changes_the_likeliest_class() -> None:
    rows = simulate()
    after = multiclass.temperature(rows)(rows.score)
    np.testing.assert_array_equal(after.argmax(axis=1), rows.score.argmax(axis=1))


def sigmoid(tally: Tally) -> Calibrator:
    """Fit a logistic curve of two classes."""
    result = fit_logistic(tally.score, tally.positive, tally.negative)
    return Calibrator(Line(float(result.intercept), float(result.slope)), method="sigmoid", notes=("a note.",))


def test_one_vs_rest_fits_each_class_and_divides() -> None:
    rows = replace(simulate(), score=np.log(simulate().score))  # any score
    result = multiclass.one_vs_rest(rows, sigmoid)
    alone = np.column_stack([sigmoid(rows.against_rest(at))(rows.score[:, at]) for at in range(3)])
    np.testing.assert_allclose(result(rows.score), alone / alone.sum(axis=1, keepdims=True), rtol=1e-12)
    assert result.method == "one-vs-rest-sigmoid"
    assert result.notes[0] == "a: a note."

    def raise_fit_error(tally: Tally) -> Calibrator:
        raise FitError(f"{tally.total:g} rows are too few; give more.")

    with pytest.raises(FitError, match="a against the rest: 400 rows are too few"):
        multiclass.one_vs_rest(rows, raise_fit_error)


@pytest.mark.parametrize("method", FITS)
def test_cross_fitted_rows_do_not_depend_on_order(method: str) -> None:
    rows = simulate(0, 60)
    rows = replace(rows, score=np.concatenate([rows.score[:50], rows.score[:10]]))
    order = np.random.default_rng(0).permutation(len(rows))
    turned = replace(rows, truth=rows.truth[order], score=rows.score[order])
    fit = METHODS[method]
    one, other = multiclass.cross_fit(rows, fit, folds=3), multiclass.cross_fit(turned, fit, folds=3)
    # Equal rows are interchangeable between folds.
    first, second = (
        np.array(sorted(zip(each.truth.tolist(), *each.score.T.tolist(), strict=True))) for each in (one, other)
    )
    np.testing.assert_allclose(first, second, atol=1e-9)
    assert one.truth.tolist() == rows.truth.tolist()


def test_cross_fitted_rows_use_fits_of_other_folds() -> None:
    rows = simulate()
    fold = multiclass.assign_folds(rows, 4, seed=3)
    result = multiclass.cross_fit(rows, multiclass.temperature, folds=4, seed=3)
    for at in range(4):
        out = fold == at
        actual = multiclass.temperature(replace(rows, truth=rows.truth[~out], score=rows.score[~out]))
        np.testing.assert_array_equal(result.score[out], actual(rows.score[out]))


@given(st.lists(st.integers(0, 2), min_size=1, max_size=60), st.integers(2, 8), st.integers(0, 5))
def test_every_class_is_in_more_than_one_fold(classes: list[int], folds: int, seed: int) -> None:
    score = np.random.default_rng(0).dirichlet(np.ones(3), size=len(classes))
    rows = MulticlassRows(np.array(classes), score, tuple("abc"))
    times = np.bincount(classes)
    if times[times > 0].min() == 1:
        with pytest.raises(FitError, match="has a single row"):
            multiclass.assign_folds(rows, folds, seed=seed)
        return
    result = multiclass.assign_folds(rows, folds, seed=seed)
    many = min(folds, len(classes))
    sizes = np.bincount(result, minlength=many)
    assert sizes.max() - sizes.min() <= 1
    for label in set(classes):
        assert len(set(result[rows.truth == label])) > 1  # it remains whatever fold is left out


def test_folds_depend_on_the_seed_and_too_few_raise() -> None:
    rows = simulate()
    assert (multiclass.assign_folds(rows, 5, seed=1) != multiclass.assign_folds(rows, 5, seed=2)).any()
    np.testing.assert_array_equal(multiclass.assign_folds(rows, 5, seed=1), multiclass.assign_folds(rows, 5, seed=1))
    with pytest.raises(OptionError, match="folds is 1; expected a whole number from 2 to 10,000"):
        multiclass.assign_folds(rows, 1)
    with pytest.raises(EmptyDataError):
        multiclass.assign_folds(simulate(0, 0))
    certain = replace(rows, truth=rows.score.argmax(axis=1))
    with pytest.raises(FitError, match="without fold 1 of 5: in all 320 rows"):
        multiclass.cross_fit(certain, multiclass.temperature)
