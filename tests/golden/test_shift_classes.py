"""Shares of classes beside those of others, on rows of three classes and of the ten digits.

What others call converged is only compared where it is: where a reference stopped early, ours is shown to be better by
the very function that both maximise.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from baserate import FitError, MulticlassRows
from baserate._numeric.simplex import fit_least_squares, fit_likelihood, fit_mixture
from baserate._rows import MulticlassTarget
from baserate.calibration.multiclass import bias_corrected
from baserate.shift import MulticlassPrevalence
from baserate.shift._estimators import MULTICLASS_METHODS as METHODS

Floats = npt.NDArray[np.float64]
TARGETS = [*(("gauss3", at) for at in range(5)), *(("digits", at) for at in range(3))]
OPTIMA = {
    "acc": "own.CM_LS_simplex",
    "pacc": "own.SCM_LS_simplex",
    "cm-l": "own.CM-L_converged",
    "scm-l": "own.SCM-L_converged",
    "cm-map": "own.CM-M_alpha3",
    "scm-map": "own.SCM-M_alpha3",
}
OF_TWO = {
    "MLLS_recalibrated": ("mlls", {}),
    "MLLS_raw": ("mlls", {"recalibrate": None}),
    "ACC": ("acc", {}),
    "PACC": ("pacc", {}),
}


Sides = Callable[[str, int], tuple[MulticlassTarget, MulticlassRows]]


@pytest.fixture(scope="session")
def sides(reference: Path) -> Sides:
    def read(name: str, at: int) -> tuple[MulticlassTarget, MulticlassRows]:
        with np.load(reference / f"shift_{name}.npz") as file:
            labels = tuple(range(file["val_p"].shape[1]))
            rows = MulticlassRows(file["val_y"].astype(np.uint8), file["val_p"], labels)
            return MulticlassTarget(file[f"target_{at}_p"], labels), rows

    return read


def steepest_slope(a: Floats, q: Floats) -> float:
    """Most that the likelihood of a mixture rises towards any class, a row: 0 at its maximum."""
    return float((a / (a @ q)[:, None]).mean(axis=0).max() - 1)


def test_the_worked_examples(shifts: dict[str, Any]) -> None:
    for name, wanted in (("cm_interior", None), ("cm_outside", [0, 0.875, 0.125])):
        output = shifts["unit_vectors"][name]
        c, o = np.array(output["C"]), np.array(output["o"])
        np.testing.assert_allclose(
            fit_least_squares(c, o), output["ls_simplex"] if wanted is None else wanted, atol=3e-11
        )
        np.testing.assert_allclose(fit_likelihood(c, o).q, output["CM_L"], atol=1e-12)
        np.testing.assert_allclose(fit_likelihood(c, o, prior=2 / 1000).q, output["CM_M_alpha3_N1000"], atol=1e-12)


def test_a_class_that_is_absent_has_share_0_not_nearly(shifts: dict[str, Any]) -> None:
    """Expectation and maximisation have come down to 3·10⁻⁸³ after so many steps, and never arrive."""
    output = shifts["unit_vectors"]["em3_tiny"]
    a = np.array(output["P"]) / output["pi"]
    result = fit_mixture(a)
    assert result.q[1] == 0
    assert result.slope[1] < -0.3
    np.testing.assert_allclose(result.q, output["q"], atol=1e-12)


@pytest.mark.parametrize(("name", "at"), TARGETS)
@pytest.mark.parametrize("method", OPTIMA)
def test_estimates_equal_the_exact_optima(
    method: str, name: str, at: int, shifts: dict[str, Any], sides: Sides
) -> None:
    output = shifts["estimates"][name][str(at)]
    result = METHODS[method](*sides(name, at))
    np.testing.assert_allclose(result.value, output[OPTIMA[method]], atol=6e-9)  # all digits that are given
    free = output["own.SCM_inverse_unclipped" if method.startswith(("s", "p")) else "own.CM_inverse_unclipped"]
    np.testing.assert_allclose(result.unclipped, free, atol=6e-9)


@pytest.mark.parametrize(("name", "at"), TARGETS)
def test_likelihood_without_recalibration(name: str, at: int, shifts: dict[str, Any], sides: Sides) -> None:
    """The reference has converged; QuaPy and sipka stop when q moves little, which on flat ground is early."""
    t, v = sides(name, at)
    output = shifts["estimates"][name][str(at)]
    result = METHODS["mlls"](t, v, recalibrate=None)
    np.testing.assert_allclose(result.value, output["own.EM_converged"], atol=6e-9)
    a = t.score / (v.support / v.total)
    assert steepest_slope(a, result.value) <= 1e-12
    for other in ("quapy.EMQ", "sipka.EM_correct_call"):
        theirs = np.maximum(output[other], 0.0)
        assert steepest_slope(a, theirs / theirs.sum()) > 1e-6


@pytest.mark.parametrize(("name", "at"), TARGETS)
def test_likelihood_after_a_temperature(name: str, at: int, shifts: dict[str, Any], sides: Sides) -> None:
    """Without biases the mean probability is not the share of a class; π is the mean, there as here."""
    result = METHODS["mlls"](*sides(name, at), recalibrate="temperature")
    output = shifts["estimates"][name][str(at)]["own.EM_converged(pre-calibrated ts)"]
    np.testing.assert_allclose(result.value, output, atol=3e-8)


@pytest.mark.parametrize(("name", "at"), TARGETS)
def test_likelihood_after_a_bias_corrected_temperature(
    name: str, at: int, shifts: dict[str, Any], sides: Sides
) -> None:
    """The reference converged, but the calibrator before it (of abstention) stopped at a few digits: 5·10⁻⁵ in q.

    Ours is exact on both: mean probabilities are the shares, the slope's equation holds, and q cannot rise.
    """
    t, v = sides(name, at)
    result = METHODS["mlls"](t, v)
    output = shifts["estimates"][name][str(at)]["own.EM_converged(pre-calibrated bcts)"]
    np.testing.assert_allclose(result.value, output, atol=6e-5)
    right, logs, width = bias_corrected(v)(v.score), np.log(v.score), len(v.labels)
    np.testing.assert_allclose(right.mean(axis=0), v.support / v.total, atol=1e-12)
    assert np.mean((np.eye(width)[v.truth] - right) * logs) == pytest.approx(0, abs=1e-12)
    assert result.calibrator is not None
    assert steepest_slope(result.calibrator(t.score) / result.sample_prevalence, result.value) <= 1e-12


def test_likelihood_after_a_slope_for_each_class(shifts: dict[str, Any], sides: Sides) -> None:
    """Slopes of each class depend on what is added to all logarithms of a row: ours adds nothing, theirs the mean."""
    for at in range(5):
        result = METHODS["mlls"](*sides("gauss3", at), recalibrate="vector")
        output = shifts["estimates"]["gauss3"][str(at)]["own.EM_converged(pre-calibrated vs)"]
        np.testing.assert_allclose(result.value, output, atol=5e-3)
    with pytest.raises(FitError, match="separate some of 10 classes"):
        METHODS["mlls"](*sides("digits", 0), recalibrate="vector")


@pytest.mark.parametrize(("name", "at"), TARGETS)
def test_regularised_weights(name: str, at: int, shifts: dict[str, Any], sides: Sides) -> None:
    """Two others disagree by 10⁻⁵, as their minimisers stop early; ours is not above either in what is minimised."""
    t, v = sides(name, at)
    output, shares = shifts["estimates"][name][str(at)], v.support / v.total
    one = np.eye(len(shares))[v.truth]
    joint, mean = v.score.T @ one / len(v), t.score.mean(axis=0)
    log_term = 2 * np.log(2 * len(shares) / 0.05) / len(v)
    penalty = 0.01 * 3 * (log_term / 3 + np.sqrt(log_term))

    def loss(q: Floats) -> float:
        theta = q / shares - 1
        gap = joint @ theta - (mean - v.score.mean(axis=0))
        return float(np.linalg.norm(gap) + penalty * np.linalg.norm(theta))

    result = METHODS["rlls"](t, v).value
    for other in ("quapy.RLLS_soft", "abstention.RLLS(soft=True)"):
        np.testing.assert_allclose(result, output[other], atol=2e-5)
        assert loss(result) <= loss(np.array(output[other])) + 1e-8  # theirs are rounded to as many digits


def test_other_implementations_stop_at_the_start(shifts: dict[str, Any], sides: Sides) -> None:
    """Sipka's steps halve until nothing moves: far from the maximum of the function that is maximised."""
    t, v = sides("gauss3", 0)
    c = np.eye(3)[v.decision()].T @ np.eye(3)[v.truth] / v.support
    o = np.bincount(t.score.argmax(axis=1)) / len(t)
    theirs = np.array(shifts["estimates"]["gauss3"]["0"]["sipka.CM-L"])
    likelihood = [float(o @ np.log(c @ q)) for q in (METHODS["cm-l"](t, v).value, theirs)]
    assert likelihood[0] > likelihood[1] + 0.05


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", ["gauss", "gauss_miscal", "breast_cancer", "adult_lr", "adult_nb"])
def test_two_classes_have_the_closed_forms(name: str, shifts: dict[str, Any], reference: Path) -> None:
    """Standard errors with the uncertainty of validation, which for two classes have been written down."""
    with np.load(reference / f"shift_{name}.npz") as file:
        data = {key: file[key] for key in file.files}
    rows = MulticlassRows(data["val_y"].astype(np.uint8), np.column_stack([1 - data["val_p"], data["val_p"]]), (0, 1))
    observed = 0
    for key, output in shifts["own_closed_forms"][name].items():
        if f"target_{key}_p" not in data:
            continue
        p = data[f"target_{key}_p"]
        for other, (method, options) in OF_TWO.items():
            result: MulticlassPrevalence = METHODS[method](
                MulticlassTarget(np.column_stack([1 - p, p]), (0, 1)), rows, **options
            )
            wanted = output[other]
            error = wanted.get("se_full", wanted.get("fisher_se"))
            q = wanted.get("q", wanted.get("q_unclipped"))
            assert result.value[1] == pytest.approx(min(max(q, 0), 1), abs=1e-7)
            if error is not None:
                assert result.covariance[1, 1] ** 0.5 == pytest.approx(error, abs=1e-7)
                observed += 1
    assert observed >= 20


# QuaPy maximizes by SLSQP, and integrates over 10,000 random points.
KERNELS = {"kdey-ml": ("quapy.KDEyML", 3e-4), "kdey-hd": ("quapy.KDEyHD", 4e-3), "kdey-cs": ("quapy.KDEyCS", 1e-3)}


@pytest.mark.parametrize(("name", "at"), TARGETS)
@pytest.mark.parametrize("method", KERNELS)
def test_kernel_densities(shifts: dict[str, Any], sides: Sides, name: str, at: int, method: str) -> None:
    peer, within = KERNELS[method]
    theirs = shifts["estimates"][name][str(at)][peer]
    assert METHODS[method](*sides(name, at)).value == pytest.approx(theirs, abs=within)
