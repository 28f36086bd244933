"""Are probabilities right: floors, tests, the intrinsic check, curves, and what is refused."""

from collections.abc import Callable
from functools import partial
from math import inf, isnan, nan, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import baserate
from baserate import Tally, infer, measure, read, tally
from baserate._errors import BadOption, NotAProbability

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

NOBODY = Tally.sum([])
CURVES = ("binned", "isotonic", "lowess", "likelihood_ratio")


def calibrated(seed: int, size: int = 200) -> Tally:
    """Probabilities that are right."""
    rng = np.random.default_rng(seed)
    p = rng.random(size)
    return tally(rng.random(size) < p, p)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_residuals_of_one_sign_have_a_smooth_error(size: int) -> None:
    # Their integral is the mean gap at any width, but for rounding, which must not hide the root.
    rng = np.random.default_rng(size)
    for _ in range(500):
        p = rng.random(size) * 10.0 ** -rng.uniform(1.5, 3)
        assert measure.smooth_ece(tally(np.zeros(size, dtype=bool), p)) == pytest.approx(p.mean(), rel=1e-8)


@pytest.mark.parametrize("width", [10.0, 1e6, 1e300, inf])
def test_a_kernel_as_wide_as_can_be_leaves_the_mean_gap(width: float) -> None:
    t = calibrated(0)
    gap = abs(measure.mean_probability(t) - t.prevalence)
    assert measure.smooth_ece(t, width=width) == pytest.approx(gap, rel=1e-9)


@pytest.mark.parametrize("draws", [0, -1, 2.5, True])
def test_draws_are_a_whole_number(draws: Any) -> None:  # noqa: ANN401
    t = calibrated(0)
    for refused in (partial(infer.floor, "ece", t), partial(infer.intrinsic, t)):
        with pytest.raises(BadOption, match="draws is"):
            refused(draws=draws)
    if draws:
        with pytest.raises(BadOption, match="draws is"):
            infer.Reliability(draws=draws)


@pytest.mark.parametrize("what", CURVES)
@pytest.mark.parametrize("by", ["width", "mass"])
def test_without_rows_a_curve_has_none(what: str, by: Any) -> None:  # noqa: ANN401
    table = infer.reliability_curve(NOBODY, what, drawn=infer.Drawn(by=by))
    assert {name: len(column) for name, column in table.items()} == dict.fromkeys(table, 0)


@pytest.mark.parametrize("name", ["calibration_slope", "calibration_in_the_large", "brier_discrimination", "ece"])
def test_a_measure_bound_to_no_options_is_itself(name: str) -> None:
    t, plain = calibrated(0), measure.named(name)
    assert repr(infer.estimate(partial(plain), t)) == repr(infer.estimate(plain, t))
    assert repr(infer.estimate(partial(measure.brier_uncertainty), t)) == repr(infer.estimate("brier_uncertainty", t))


OUTSIDE = tally([0, 1, 1, 0, 1], [-0.1, 0.5, 1.5, 1.5, 1.0])


@pytest.mark.parametrize(
    "refused",
    [
        *(measure.ece, measure.ici, measure.smooth_ece, measure.ecce, measure.calibration_slope, measure.rmsce_debiased),
        *(measure.brier_miscalibration, measure.log_discrimination, measure.observed_expected, measure.ece_sweep),
        *(infer.checks, infer.spiegelhalter, infer.hosmer_lemeshow, infer.ecce_test, infer.slope_test, infer.intrinsic),
        *(partial(infer.reliability_curve, what=what) for what in CURVES),
        *(infer.adjusted, partial(infer.adjusted, prevalence=0.5), infer.derived_prevalence),
        partial(infer.floor, "ece"),
    ],
)
def test_what_is_no_probability_is_refused_with_counts(refused: Callable[[Tally], object]) -> None:
    with pytest.raises(NotAProbability, match=r"3 rows have scores outside \[0, 1\] \(from -0.1 to 1.5\)"):
        refused(OUTSIDE)


@pytest.mark.parametrize("unit", [0.1, 0.3, 1 / 3, 0.7, 1.1, 1e-3, 1e6])
def test_bins_of_equal_mass_do_not_depend_on_the_unit_of_weights(unit: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        size, bins = int(rng.integers(2, 40)), int(rng.integers(2, 12))
        y, p = rng.random(size) < 0.5, rng.random(size)
        rows, weighed = tally(y, p), tally(y, p, weight=np.full(size, unit))
        for of in (partial(measure.ece, bins=bins, by="mass"), partial(measure.mce, bins=bins, by="mass")):
            assert of(weighed) == pytest.approx(of(rows), rel=1e-9)
        assert measure.ece_sweep(weighed) == pytest.approx(measure.ece_sweep(rows), rel=1e-9)


@pytest.mark.parametrize(("prevalence", "message"), [("other", "'other'"), (0.0, "0.0"), (1, "1"), (nan, "nan"), (-1, "-1")])
def test_a_prevalence_lies_between_0_and_1(prevalence: Any, message: str) -> None:  # noqa: ANN401
    table = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}
    with pytest.raises(BadOption, match=f"prevalence is {message}; give one between 0 and 1"):
        infer.reliability(read.tallies(table, truth="sick", score="risk"), prevalence=prevalence)


REASONS = [
    (tally([0, 1, 1, 0], [0.3, 0.3, 0.3, 0.3]), "all probabilities are equal"),
    (tally([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4]), "a threshold separates the classes, so no finite slope fits"),
    (tally([False, False], [0.1, 0.2]), "there are no positives"),
]


@pytest.mark.parametrize(("t", "reason"), REASONS)
def test_no_line_of_log_odds_says_why(t: Tally, reason: str) -> None:
    for found in (infer.cox_test(t), infer.slope_test(t), infer.estimate("calibration_slope", t)):
        assert found.why is not None
        assert reason in found.why
    assert isnan(infer.cox_test(t).p)
    assert reason in infer.intrinsic(t, draws=10).verdict


def test_without_rows_every_test_says_so() -> None:
    assert [(check.name, isnan(check.p), check.why is not None) for check in infer.checks(NOBODY)] == [
        (name, True, True) for name in ("cox", "spiegelhalter_z", "hosmer_lemeshow", "ecce")
    ]
    assert infer.hosmer_lemeshow(NOBODY).why == "there are no rows"
    assert infer.floor("ece", NOBODY).why == "there are no rows"
    assert isnan(infer.derived_prevalence(NOBODY).value)
    assert infer.intrinsic(NOBODY).calibrated is None


def test_what_is_next_to_impossible_and_happens() -> None:
    found = infer.hosmer_lemeshow(tally([0, 1], [0.0, 2e-309]))
    assert (found.statistic, found.p) == (inf, 0)
