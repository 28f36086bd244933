"""Calibration: null references, tests, intrinsic calibration, curves, and invalid options."""

from collections.abc import Callable
from functools import partial
from math import inf, isnan, nan, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import baserate
from baserate import Tally, infer, measure, read, tally
from baserate._errors import NotAProbabilityError, OptionError, UnknownNameError
from baserate.infer._binomial import normal_quantile
from baserate.infer._bootstrap import pool_neighbors
from baserate.infer._calibration_intervals import _bound_noncentrality, _normal_limit_noncentrality
from baserate.infer._calibration_summary import BandKind
from baserate.measure import _calibration_curve
from tests.prevalence import adjust_to_sample
from tests.tiers import slow, take_in_tiers

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

NOBODY = Tally.sum([])
CURVES = ("binned", "isotonic", "lowess", "likelihood_ratio")


def make_calibrated_tally(seed: int, size: int = 200) -> Tally:
    """Probabilities that are right."""
    rng = np.random.default_rng(seed)
    p = rng.random(size)
    return tally(rng.random(size) < p, p)


@pytest.mark.slow
@pytest.mark.parametrize("size", take_in_tiers([2, 1, 3, 5]))
def test_smooth_error_of_residuals_of_one_sign(size: int) -> None:
    # Their integral is the mean gap at any width, but for rounding, which must not hide the root.
    rng = np.random.default_rng(size)
    for _ in range(500):
        p = rng.random(size) * 10.0 ** -rng.uniform(1.5, 3)
        assert measure.smooth_ece(tally(np.zeros(size, dtype=bool), p)) == pytest.approx(p.mean(), rel=1e-8)


@pytest.mark.parametrize("width", [10.0, 1e6, 1e300, inf])
def test_smooth_error_of_a_very_wide_kernel_is_the_mean_gap(width: float) -> None:
    t = make_calibrated_tally(0)
    gap = abs(measure.mean_probability(t) - t.prevalence)
    assert measure.smooth_ece(t, width=width) == pytest.approx(gap, rel=1e-9)


@pytest.mark.parametrize("n_simulations", [0, -1, 2.5, True])
def test_invalid_numbers_of_simulations_raise(n_simulations: Any) -> None:  # noqa: ANN401
    t = make_calibrated_tally(0)
    for refused in (partial(infer.null_reference, "ece", t), partial(infer.intrinsic_calibration, t)):
        with pytest.raises(OptionError, match="n_simulations is"):
            refused(n_simulations=n_simulations)
    if n_simulations:
        with pytest.raises(OptionError, match="n_simulations is"):
            infer.CalibrationOptions(n_simulations=n_simulations)


@pytest.mark.parametrize("what", CURVES)
@pytest.mark.parametrize("by", ["width", "mass"])
def test_calibration_curves_without_rows_are_empty(what: str, by: Any) -> None:  # noqa: ANN401
    table = infer.calibration_curve(NOBODY, what, options=infer.CurveOptions(by=by))
    assert {name: len(column) for name, column in table.items()} == dict.fromkeys(table, 0)


@pytest.mark.parametrize("name", ["calibration_slope", "calibration_in_the_large", "brier_discrimination", "ece"])
def test_a_partial_without_options_equals_the_measure(name: str) -> None:
    t, plain = make_calibrated_tally(0), measure.find_measure(name)
    assert repr(infer.estimate(partial(plain), t)) == repr(infer.estimate(plain, t))
    assert repr(infer.estimate(partial(measure.brier_uncertainty), t)) == repr(infer.estimate("brier_uncertainty", t))


OUTSIDE = tally([0, 1, 1, 0, 1], [-0.1, 0.5, 1.5, 1.5, 1.0])


@pytest.mark.parametrize(
    "refused",
    [
        *(
            measure.ece,
            measure.ici,
            measure.smooth_ece,
            measure.ecce,
            measure.calibration_slope,
            measure.rmsce_debiased,
        ),
        *(measure.brier_miscalibration, measure.log_discrimination, measure.observed_expected, measure.ece_sweep),
        *(
            infer.calibration_tests,
            infer.spiegelhalter,
            infer.hosmer_lemeshow,
            infer.ecce_test,
            infer.slope_test,
            infer.intrinsic_calibration,
        ),
        *(partial(infer.calibration_curve, what=what) for what in CURVES),
        infer.derived_prevalence,
        partial(infer.null_reference, "ece"),
    ],
)
def test_scores_outside_the_unit_interval_raise_with_counts(refused: Callable[[Tally], object]) -> None:
    with pytest.raises(NotAProbabilityError, match=r"3 rows have scores outside \[0, 1\] \(from -0.1 to 1.5\)"):
        refused(OUTSIDE)


@pytest.mark.quick(2)
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


@pytest.mark.parametrize(
    ("prevalence", "message"), [("other", "'other'"), (0.0, "0.0"), (1, "1"), (nan, "nan"), (-1, "-1")]
)
def test_invalid_prevalences_raise(prevalence: Any, message: str) -> None:  # noqa: ANN401
    table = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}
    with pytest.raises(OptionError, match=f"prevalence is {message}; expected a prevalence"):
        infer.calibration_summary(read.tallies(table, truth="sick", score="risk"), sample_prevalence=prevalence)


REASONS = [
    (tally([0, 1, 1, 0], [0.3, 0.3, 0.3, 0.3]), "all probabilities are equal"),
    (tally([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4]), "a threshold separates the classes, so no finite slope fits"),
    (tally([False, False], [0.1, 0.2]), "there are no positives"),
]


@pytest.mark.parametrize(("t", "reason"), REASONS)
def test_undefined_recalibration_lines_have_a_reason(t: Tally, reason: str) -> None:
    for result in (infer.cox_test(t), infer.slope_test(t), infer.estimate("calibration_slope", t)):
        assert result.why is not None
        assert reason in result.why
    assert isnan(infer.cox_test(t).p)
    assert reason in infer.intrinsic_calibration(t, n_simulations=10).verdict


def test_calibration_tests_without_rows_have_a_reason() -> None:
    assert [(check.name, isnan(check.p), check.why is not None) for check in infer.calibration_tests(NOBODY)] == [
        (name, True, True) for name in ("cox", "spiegelhalter_z", "hosmer_lemeshow", "ecce")
    ]
    assert infer.hosmer_lemeshow(NOBODY).why == "there are no rows"
    assert infer.null_reference("ece", NOBODY).why == "there are no rows"
    assert isnan(infer.derived_prevalence(NOBODY).value)
    assert infer.intrinsic_calibration(NOBODY).calibrated is None


def test_hosmer_lemeshow_with_nearly_impossible_outcomes() -> None:
    result = infer.hosmer_lemeshow(tally([0, 1], [0.0, 2e-309]))
    assert result.statistic == inf
    assert 0 < result.p < 1e-300


# Null references.


def test_typical_null_reference_of_a_hundred_rows() -> None:
    # Ten bins of a hundred rows: a perfect model scores about 0.087.
    result = []
    for seed in range(9):
        rng = np.random.default_rng(seed)
        p = rng.beta(0.5, 0.5, 100)
        result.append(infer.null_reference("ece", tally(rng.random(100) < p, p), n_simulations=300).typical)
    assert 0.08 < np.median(result) < 0.095


def share_within(measures: list[measure.Measure], *, samples: int, n_simulations: int) -> Floats:
    """Share of calibrated samples that stay within their null reference."""
    result = [
        [
            each.within
            for each in infer.null_references(
                measures, make_calibrated_tally(seed), seed=seed, n_simulations=n_simulations
            )
        ]
        for seed in range(samples)
    ]
    shares: Floats = np.mean(result, axis=0)
    return shares


@pytest.mark.slow
def test_a_calibrated_model_stays_within_its_null_reference() -> None:
    shares = share_within([measure.ece, measure.rmsce, measure.brier_miscalibration], samples=300, n_simulations=200)
    assert (shares >= 0.93).all()
    # A reference that no sample exceeds would be too high.
    assert (shares <= 0.985).all()


@pytest.mark.slow
def test_a_calibrated_model_stays_within_its_smooth_null_reference() -> None:
    # Few simulations, since each takes long; 39 of 40 lie below the upper quantile.
    (share,) = share_within([measure.smooth_ece], samples=150, n_simulations=40)
    assert 0.91 <= share <= 0.99


@pytest.mark.parametrize(
    "name", ["ece", "mce", "rmsce", "smooth_ece", "ici", "ecce", "cox_ici", "brier_miscalibration"]
)
def test_a_miscalibrated_model_exceeds_its_null_reference(name: str) -> None:
    rng = np.random.default_rng(0)
    p = rng.random(600)
    t = tally(rng.random(600) < p**2, p)
    result = infer.null_reference(name, t, n_simulations=60)
    assert not result.within
    assert result.value > result.high
    assert result.p == pytest.approx(1 / 61)


def test_a_null_reference_depends_on_the_seed_alone() -> None:
    t = make_calibrated_tally(3)
    first, again, other = (infer.null_reference("ece", t, seed=seed, n_simulations=50) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert first == infer.null_reference("ece", t, seed=np.random.default_rng(1), n_simulations=50)


def test_a_null_reference_does_not_depend_on_the_order_of_rows() -> None:
    rng = np.random.default_rng(0)
    p = np.round(rng.random(80), 1)
    y = rng.random(80) < p
    order = rng.permutation(80)
    names: list[measure.Measure] = [measure.ece, measure.ici, measure.ecce]
    assert infer.null_references(names, tally(y, p), n_simulations=50) == infer.null_references(
        names, tally(y[order], p[order]), n_simulations=50
    )


def test_several_null_references_equal_single_ones() -> None:
    t = make_calibrated_tally(1)
    names = ["ece", "ici", "emax", "smooth_ece", "log_miscalibration"]
    together = infer.null_references([measure.find_measure(name) for name in names], t, n_simulations=40)
    assert together == [infer.null_reference(name, t, n_simulations=40) for name in names]


def test_a_null_reference_uses_the_options_of_its_measure() -> None:
    t = make_calibrated_tally(2)
    few, many = (infer.null_reference(partial(measure.ece, bins=bins), t, n_simulations=200) for bins in (2, 50))
    assert few.typical < many.typical
    assert few.value == measure.ece(t, bins=2)


def test_only_distances_have_a_null_reference() -> None:
    for name in ("rmsce_debiased", "calibration_slope", "brier"):
        with pytest.raises(OptionError, match="is not a distance from calibration"):
            infer.null_reference(name, make_calibrated_tally(0))


# Tests keep their size.


def share_of_rejections(
    seeds: int, made: Callable[[int], Tally], of: Callable[[Tally], infer.CalibrationTest]
) -> float:
    return float(np.mean([of(made(seed)).p < 0.05 for seed in range(seeds)]))


def make_held_out_tally(seed: int) -> Tally:
    return make_calibrated_tally(seed, 500)


def refit_sample(seed: int) -> Tally:
    """A logistic model, fitted to the rows that it is judged by."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=500)
    y = rng.random(500) < 1 / (1 + np.exp(0.5 - x))
    start = tally(y, 1 / (1 + np.exp(-x)))
    a, b = measure.calibration_intercept(start), measure.calibration_slope(start)
    return tally(y, 1 / (1 + np.exp(-a - b * x)))


@pytest.mark.parametrize(
    "of",
    [
        infer.spiegelhalter,
        infer.hosmer_lemeshow,
        infer.cox_test,
        infer.ecce_test,
        pytest.param(infer.slope_test, marks=pytest.mark.slow),
    ],
)
def test_calibration_tests_keep_their_significance_level(of: Callable[[Tally], infer.CalibrationTest]) -> None:
    assert 0.02 <= share_of_rejections(300, make_held_out_tally, of) <= 0.09


@pytest.mark.slow
def test_a_fitted_model_has_two_degrees_of_freedom_less() -> None:
    assert 0.02 <= share_of_rejections(300, refit_sample, partial(infer.hosmer_lemeshow, fitted=True)) <= 0.09
    # With those of rows that were not fitted to it would hardly ever be rejected.
    assert share_of_rejections(100, refit_sample, infer.hosmer_lemeshow) < 0.03


def test_calibration_tests_detect_miscalibration() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(2000)
    odds = (p / (1 - p)) ** 0.4
    for check in infer.calibration_tests(tally(rng.random(2000) < odds / (1 + odds), p)):
        assert check.p < 1e-3, check.name


def test_spiegelhalter_does_not_detect_symmetric_errors() -> None:
    p = np.repeat([0.3, 0.7], 200)
    y = np.concatenate([np.arange(200) < 80, np.arange(200) < 160])
    t = tally(y, p)
    assert abs(infer.spiegelhalter(t).statistic) < 1e-9
    assert infer.cox_test(t).p < 0.001


# The debiased interval covers.


def test_the_debiased_interval_covers() -> None:
    # Two probabilities, each with an error of 0.1 and 0.05: the root of the mean square is known.
    truth = sqrt((0.1**2 + 0.05**2) / 2)
    p = np.repeat([0.3, 0.6], 200)
    covered, values = 0, []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        result = infer.estimate("rmsce_debiased", tally(rng.random(400) < np.repeat([0.4, 0.55], 200), p))
        covered += result.low <= truth <= result.high
        values.append(result.value**2)
    assert 0.93 <= covered / 300 <= 0.99
    assert np.mean(values) == pytest.approx(truth**2, rel=0.1)


def test_the_debiased_interval_of_a_calibrated_model_begins_at_0() -> None:
    lows = [infer.estimate("rmsce_debiased", make_calibrated_tally(seed)).low for seed in range(100)]
    assert np.mean(np.array(lows) == 0) >= 0.93


# Curves.


def test_bounds_of_bins_are_wilsons() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(120)
    t = tally(rng.random(120) < p, p)
    table = infer.calibration_curve(t, options=infer.CurveOptions(bins=4, level=0.9))
    for at, (lower, upper) in enumerate(zip(table["lower"], table["upper"], strict=True)):
        held = (t.score > lower) & (t.score <= upper)
        hits, misses = t.rows[:, held].sum(axis=1)
        share = baserate.Counts(tp=hits, fp=0, fn=misses, tn=0)
        wanted = infer.estimate("sensitivity", share, level=0.9, method="wilson")
        assert [table["share"][at], table["low"][at], table["high"][at]] == pytest.approx(
            [wanted.value, wanted.low, wanted.high], rel=1e-12
        )


@pytest.mark.quick(1)
@pytest.mark.parametrize("what", ["isotonic", "lowess"])
def test_a_calibrated_curve_lies_in_the_consistency_band(what: str) -> None:
    inside = []
    for seed in range(10):
        table = infer.calibration_curve(make_calibrated_tally(seed), what)
        inside.append(np.mean((table["low"] <= table["share"] + 1e-12) & (table["share"] <= table["high"] + 1e-12)))
    assert np.mean(inside) > 0.85
    rng = np.random.default_rng(0)
    p = rng.random(500)
    wrong = infer.calibration_curve(tally(rng.random(500) < p**3, p), what)
    assert np.mean((wrong["low"] <= wrong["share"]) & (wrong["share"] <= wrong["high"])) < 0.5


@pytest.mark.parametrize("what", ["isotonic", "lowess"])
def test_the_confidence_band_contains_the_curve(what: str) -> None:
    rng = np.random.default_rng(0)
    p = rng.random(300)
    table = infer.calibration_curve(
        tally(rng.random(300) < p**3, p), what, options=infer.CurveOptions(band="confidence")
    )
    assert (table["low"] <= table["share"]).all()
    assert (table["share"] <= table["high"]).all()
    # Where an isotonic curve is 0 or 1, draws of it are, too, so it is bounded by itself: look between.
    between = (table["share"] > 0) & (table["share"] < 1)
    right = np.sort(p) ** 3
    assert ((table["low"] < right) & (right < table["high"]))[between].mean() > 0.7
    assert table["probability"].tolist() == np.sort(p).tolist()


@pytest.mark.parametrize("band", ["consistency", "confidence"])
def test_a_local_fit_and_its_band_are_probabilities(band: BandKind) -> None:
    rng = np.random.default_rng(3)
    p = np.concatenate([rng.random(200), 0.001 + 0.01 * rng.random(100), 0.99 + 0.009 * rng.random(100)])
    t = tally(rng.random(400) < np.where(p < 0.5, 2 * p**2, 1 - 2 * (1 - p) ** 2), p)
    table = infer.calibration_curve(t, "lowess", options=infer.CurveOptions(band=band))
    raw = _calibration_curve.fit_calibration_curve(t, "lowess")[::-1]
    assert raw.min() < 0
    assert raw.max() > 1
    for name in ("share", "low", "high"):
        assert table[name].min() >= 0
        assert table[name].max() <= 1
    within = (raw >= 0) & (raw <= 1)
    assert np.array_equal(table["share"][within], raw[within])
    assert set(table["share"][~within]) == {0.0, 1.0}


def test_likelihood_ratios_by_hand() -> None:
    # Below a half 2 of 5 positives and 6 of 10 negatives, above 3 and 4.
    truth, p = [1] * 2 + [0] * 6 + [1] * 3 + [0] * 4, [0.2] * 8 + [0.8] * 7
    table = infer.calibration_curve(tally(truth, p), "likelihood_ratio", options=infer.CurveOptions(bins=2))
    assert table["ratio"].tolist() == pytest.approx([(2 / 5) / (6 / 10), (3 / 5) / (4 / 10)])
    noise = np.sqrt([1 / 2 - 1 / 5 + 1 / 6 - 1 / 10, 1 / 3 - 1 / 5 + 1 / 4 - 1 / 10])
    assert table["high"] / table["ratio"] == pytest.approx(np.exp(1.959963984540054 * noise))
    assert table["ratio"] / table["low"] == pytest.approx(np.exp(1.959963984540054 * noise))
    prior = infer.derived_prevalence(tally(truth, p)).value
    assert table["implied"] == pytest.approx(np.array([0.25, 4]) * (1 - prior) / prior)
    assert (table["lower"].tolist(), table["upper"].tolist(), table["mass"].tolist()) == ([0, 0.5], [0.5, 1], [8, 7])


def test_likelihood_ratio_of_a_bin_of_one_class_is_infinite() -> None:
    table = infer.calibration_curve(tally([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9]), "likelihood_ratio")
    assert table["ratio"].tolist() == [0, 0, inf, inf]
    assert table["low"][0] == 0
    assert table["high"][-1] == inf


def test_observed_and_implied_ratios_agree_for_any_prevalence() -> None:
    rng = np.random.default_rng(1)
    p = rng.random(20_000)
    y = rng.random(20_000) < p
    kept = ~y | (rng.random(20_000) < 0.3)
    table = infer.calibration_curve(tally(y[kept], p[kept]), "likelihood_ratio")
    inside = (table["low"] < table["implied"]) & (table["implied"] < table["high"])
    assert inside[1:-1].mean() >= 0.75
    assert table["implied"][1:-1] == pytest.approx(table["ratio"][1:-1], rel=0.25)


# Another prevalence.


def test_lost_positives_are_corrected_by_another_prevalence() -> None:
    rng = np.random.default_rng(0)
    p = rng.beta(0.6, 0.6, 4000)
    y = rng.random(4000) < p
    kept = ~y | (rng.random(4000) < 0.4)
    result = infer.intrinsic_calibration(tally(y[kept], p[kept]), n_simulations=100)
    assert result.calibrated
    assert result.prevalence.low < y.mean() < result.prevalence.high
    assert "calibration for a prevalence of" in result.verdict
    assert not result.offset.low <= 0 <= result.offset.high
    assert (
        "at the prevalence of the sample"
        in infer.intrinsic_calibration(make_calibrated_tally(0, 2000), n_simulations=100).verdict
    )


def test_no_prevalence_corrects_a_wrong_slope() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(2000)
    odds = (p / (1 - p)) ** 0.5
    result = infer.intrinsic_calibration(tally(rng.random(2000) < odds / (1 + odds), p), n_simulations=100)
    assert result.calibrated is False
    assert result.against_slope.p < 1e-6
    assert "miscalibrated at every prevalence" in result.verdict


def test_no_prevalence_corrects_a_wrong_shape() -> None:
    # Right at both ends and on average, with a slope of 1; wrong in between.
    rng = np.random.default_rng(4)
    p = rng.random(4000)
    share = np.where(p < 0.5, np.where(p < 0.25, p + 0.1, p - 0.1), np.where(p < 0.75, p + 0.1, p - 0.1))
    result = infer.intrinsic_calibration(tally(rng.random(4000) < share, p), n_simulations=100)
    assert result.against_free.p < 0.02
    assert result.calibrated is False


@pytest.mark.slow
def test_the_monotone_alternative_keeps_its_significance_level() -> None:
    ps = [
        infer.intrinsic_calibration(make_calibrated_tally(seed), seed=seed, n_simulations=60).against_free.p
        for seed in range(150)
    ]
    assert np.mean(np.array(ps) < 0.1) <= 0.17
    assert 0.38 < np.mean(ps) < 0.62


# Everything together.

TABLE: dict[str, list[Any]] = {
    "sick": [1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1],
    "risk": [0.9, 0.6, 0.4, 0.1, 0.7, 0.2, 0.8, 0.6, 0.95, 0.3, 0.15, 0.35],
    "other": [0.8, 0.5, 0.6, 0.3, 0.6, 0.1, 0.7, 0.9, 0.85, 0.2, 0.1, 0.5],
    "town": ["a", "a", "a", "a", "a", "a", "b", "b", "b", "b", "b", "b"],
}
QUICK = infer.CalibrationOptions(n_simulations=10)


def test_rows_of_a_calibration_summary() -> None:
    result = infer.calibration_summary(read.tallies(TABLE, truth="sick", score="risk"), options=QUICK)
    rows = result.rows()
    of_all = [row["measure"] for row in rows if not row["top"]]
    assert of_all[:4] == ["prevalence", "mean_probability", "observed_expected", "calibration_in_the_large"]
    assert len(of_all) == len(set(of_all))
    assert {"ece", "smooth_ece", "brier_miscalibration", "cox_test", "offset_or_free_test", "derived_prevalence"} <= {
        *of_all
    }
    top = [row["measure"] for row in rows if row["top"]]
    assert top == ["ece", "mce", "rmsce", "rmsce_debiased", "ece_sweep", "smooth_ece"]
    t = tally(TABLE["sick"], TABLE["risk"])
    by_name = {row["measure"]: row for row in rows if not row["top"]}
    for name in ("ece", "rmsce", "ici", "calibration_slope", "brier", "log_discrimination"):
        assert by_name[name]["value"] == pytest.approx(measure.find_measure(name)(t)), name
    floor = infer.null_reference("ece", t, n_simulations=10)
    assert by_name["ece"]["floor"] == floor.typical
    assert (by_name["ece"]["floor_low"], by_name["ece"]["floor_high"], by_name["ece"]["p"]) == (
        *(floor.low, floor.high, floor.p),
    )
    assert by_name["ece"]["low"] is None
    assert by_name["calibration_slope"]["floor"] is None
    check = infer.hosmer_lemeshow(t)
    row = by_name["hosmer_lemeshow_test"]
    assert (row["value"], row["p"], row["freedom"]) == (pytest.approx(check.statistic), check.p, check.freedom)
    assert any("12 rows, too few" in note for note in result.data["notes"])


def test_options_of_a_calibration_summary() -> None:
    query = infer.CalibrationOptions(bins=3, by="mass", fitted=True, level=0.8, n_simulations=0)
    rows = infer.calibration_summary(read.tallies(TABLE, truth="sick", score="risk"), options=query).rows()
    t = tally(TABLE["sick"], TABLE["risk"])
    by_name = {row["measure"]: row for row in rows if not row["top"]}
    assert by_name["ece"]["value"] == measure.ece(t, bins=3, by="mass")
    assert by_name["hosmer_lemeshow_test"]["freedom"] == 1
    assert {row["floor"] for row in rows} == {None}
    assert {row["level"] for row in rows if row["low"] is not None} == {0.8}


def test_calibration_summary_of_models_and_groups() -> None:
    tallies = read.tallies(TABLE, truth="sick", score=["risk", "other"], group="town")
    rows = infer.calibration_summary(tallies, options=infer.CalibrationOptions(n_simulations=0)).rows()
    observed = list(
        dict.fromkeys((row["model"], None if row["group"] is None else row["group"]["town"]) for row in rows)
    )
    assert sorted(observed, key=str) == sorted(
        [(model, town) for model in ("risk", "other") for town in (None, "a", "b")], key=str
    )
    (value,) = (
        row["value"]
        for row in rows
        if (row["measure"], row["model"], row["group"], row["top"]) == ("ece", "other", {"town": "b"}, False)
    )
    assert value == measure.ece(tally(TABLE["sick"][6:], TABLE["other"][6:]))
    table = infer.calibration_curves(tallies, options=infer.CurveOptions(bins=2))
    assert len(set(zip(table.columns["model"], map(str, table.columns["group"]), strict=True))) == 6
    assert sum(table.columns["mass"]) == 2 * 2 * 12


def test_calibration_summary_before_and_after_calibration() -> None:
    tallies = read.tallies(TABLE, truth="sick", score="risk")
    t = tally(TABLE["sick"], TABLE["risk"])
    for prevalence in (0.3, "derived"):
        result = infer.calibration_summary(
            tallies, options=infer.CalibrationOptions(n_simulations=0), sample_prevalence=prevalence
        )
        at = infer.derived_prevalence(t).value if prevalence == "derived" else 0.3
        after = {row["measure"]: row for row in result.rows() if row["adjusted"] is not None and not row["top"]}
        assert {row["adjusted"] for row in after.values()} == {at}
        assert after["ece"]["value"] == pytest.approx(measure.ece(adjust_to_sample(t, at)))
        assert "derived_prevalence" not in after
        before = {row["measure"]: row["value"] for row in result.rows() if row["adjusted"] is None and not row["top"]}
        assert after["brier_discrimination"]["value"] == pytest.approx(before["brier_discrimination"])
        fitted = [note for note in result.data["notes"] if "fitted to the same rows" in note]
        assert len(fitted) == (prevalence == "derived")


def test_calibration_summary_of_many_classes() -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], 90)
    y = np.array([rng.choice(3, p=each) for each in p])
    table = {"is": np.array(["x", "y", "z"])[y], "x": p[:, 0], "y": p[:, 1], "z": p[:, 2]}
    classes = read.class_rows(table, truth="is", score=["x", "y", "z"])
    result = infer.calibration_summary(classes, options=infer.CalibrationOptions(n_simulations=0)).rows()
    assert list(dict.fromkeys((row["class"], row["top"]) for row in result)) == [
        *(("x", False), ("y", False), ("z", False), (None, True)),
    ]
    (value,) = (row["value"] for row in result if (row["class"], row["measure"]) == ("y", "ece"))
    assert value == pytest.approx(measure.ece(tally(y == 1, p[:, 1])))
    (value,) = (row["value"] for row in result if row["top"] and row["measure"] == "ece")
    assert value == pytest.approx(measure.ece(tally(p.argmax(axis=1) == y, p.max(axis=1))))
    with pytest.raises(OptionError, match="sample_prevalence requires two classes"):
        infer.calibration_summary(classes, sample_prevalence=0.5)
    curves = infer.calibration_curves(classes)
    assert sum(curves.columns["mass"]) == 4 * 90


# Odd input.


@pytest.mark.parametrize("number", [0, -1])
@pytest.mark.parametrize("of", [measure.ece, measure.mce, measure.rmsce, measure.rmsce_debiased, infer.hosmer_lemeshow])
def test_invalid_numbers_of_bins_raise(of: Callable[..., object], number: int) -> None:
    for by in ("width", "mass"):
        with pytest.raises(OptionError, match=f"bins is {number}; expected a whole number from 1 to 10,000"):
            of(make_calibrated_tally(0), bins=number, by=by)


@pytest.mark.parametrize(
    "edges", [[], [0], [0, 0.5], [0.1, 1], [0, 0.5, 0.5, 1], [0, 0.6, 0.5, 1], [0, nan, 1], "x", 2.5, None]
)
def test_invalid_edges_of_bins_raise(edges: Any) -> None:  # noqa: ANN401
    with pytest.raises(OptionError, match="edges"):
        measure.ece(make_calibrated_tally(0), bins=edges)


def test_other_invalid_options_raise() -> None:
    t: Any = make_calibrated_tally(0)
    other: Any = "other"
    for refused, message in (
        (partial(measure.ece, t, by=other), "by is 'other'"),
        (partial(infer.hosmer_lemeshow, t, by=other), "by is 'other'"),
        (partial(measure.ici, t, smoother=other), "smoother is 'other'"),
        (partial(measure.ici, t, span=0), "span is 0"),
        (partial(measure.e90, t, step=-1), "step -1"),
        (partial(measure.smooth_ece, t, width=0), "width is 0"),
        (partial(measure.smooth_ece, t, width=nan), "width is nan"),
        (partial(infer.null_reference, "ece", t, level=2), "level is 2"),
        (partial(infer.intrinsic_calibration, t, level=2), "level is 2"),
        (partial(infer.CalibrationOptions, level=2), "level is 2"),
        (partial(infer.CalibrationOptions, n_simulations=-1), "n_simulations is -1"),
        (partial(infer.calibration_curve, t, options=infer.CurveOptions(level=2)), "level is 2"),
        (partial(infer.calibration_curve, t, "isotonic", options=infer.CurveOptions(band=other)), "band is 'other'"),
        (partial(infer.calibration_summary, t.rows), "calibration_summary needs labels and scores"),
    ):
        with pytest.raises(OptionError, match=message):
            refused()
    with pytest.raises(UnknownNameError, match="no calibration curve 'other'"):
        infer.calibration_curve(t, other)


def test_measures_with_probabilities_of_0_and_1() -> None:
    rng = np.random.default_rng(0)
    p = np.concatenate([[0.0, 0.0, 1.0], rng.random(60)])
    y = np.concatenate([[True, False, True], rng.random(60) < p[3:]])
    t = tally(y, p)
    assert infer.calibration_curve(t)["mass"].sum() == 63
    assert measure.log_miscalibration(t) == inf
    for name in ("ece", "ici", "smooth_ece", "calibration_slope", "cox_ici", "ecce", "brier_miscalibration"):
        assert np.isfinite(measure.find_measure(name)(t)), name
    for check in infer.calibration_tests(t):
        assert not isnan(check.p), check.name
    assert set(adjust_to_sample(t).score) >= {0.0, 1.0}
    result = infer.calibration_summary(read.tallies({"y": y, "p": p}, truth="y", score="p"), options=QUICK)
    assert any(note.startswith("3 rows of p have a probability at or next to 0 or 1") for note in result.data["notes"])
    (row,) = (row for row in result.rows() if row["measure"] == "log_miscalibration")
    assert (row["value"], row["floor_high"] < inf) == (inf, True)


def test_contradicted_probabilities_of_0_and_1_make_the_statistic_infinite() -> None:
    t = tally([1, 0, 1, 0, 1], [0.0, 0.3, 0.6, 0.2, 0.8])
    result = infer.hosmer_lemeshow(t, bins=[0, 0.1, 0.5, 1])
    assert result.statistic == inf
    assert 0 < result.p < 1e-300
    right = tally([0, 0, 1, 0, 1], [0.0, 0.3, 0.6, 0.2, 0.8])
    assert infer.hosmer_lemeshow(right, bins=[0, 0.1, 0.5, 1]).freedom == 2


def test_calibration_of_a_constant_probability() -> None:
    t = tally([1, 0, 0, 1, 0, 0, 0, 0], [0.3] * 8)
    assert isnan(measure.calibration_slope(t))
    assert measure.ece(t) == measure.ece(t, by="mass") == pytest.approx(0.05)
    assert measure.calibration_in_the_large(t) == pytest.approx(np.log(2 / 6) - np.log(3 / 7))
    assert infer.derived_prevalence(t).value == pytest.approx(0.3)
    assert measure.ici(t) == pytest.approx(0.05)
    assert measure.smooth_ece(t) == pytest.approx(0.05)
    assert infer.hosmer_lemeshow(t).freedom == 1
    result = infer.calibration_summary(
        read.tallies({"y": [1, 0, 0, 1], "p": [0.3] * 4}, truth="y", score="p"), options=QUICK
    )
    (why,) = (row["why"] for row in result.rows() if row["measure"] == "calibration_slope")
    assert why == "all probabilities are equal"


def test_calibration_of_a_single_class() -> None:
    t = tally([False] * 5, [0.1, 0.2, 0.3, 0.4, 0.5])
    assert measure.ece(t, bins=1) == pytest.approx(0.3)
    assert measure.observed_expected(t) == 0
    assert isnan(measure.calibration_in_the_large(t))
    assert infer.intrinsic_calibration(t).calibrated is None
    result = infer.calibration_summary(
        read.tallies({"y": [0] * 5, "p": t.score}, truth="y", score="p", positive=1),
        options=QUICK,
        sample_prevalence="derived",
    )
    assert {row["adjusted"] for row in result.rows()} == {None}


def test_bins_of_fewer_scores_than_bins() -> None:
    t = tally([0, 1, 1, 0, 1, 1], [0.2, 0.2, 0.2, 0.7, 0.7, 0.7])
    for by in ("width", "mass"):
        table = infer.calibration_curve(t, options=infer.CurveOptions(bins=10, by=by))
        assert table["mass"].tolist() == [3, 3]
        assert table["probability"].tolist() == pytest.approx([0.2, 0.7])


def test_calibration_measures_without_rows() -> None:
    for name in ("ece", "smooth_ece", "ici", "calibration_slope", "ecce", "log_miscalibration", "rmsce_debiased"):
        result = infer.estimate(name, NOBODY)
        assert isnan(result.value)
        assert result.why
    assert infer.null_references([measure.ece, measure.ici], NOBODY)[1].why == "there are no rows"


def test_with_scores_replaces_scores_and_keeps_masses() -> None:
    t = tally([1, 0, 1, 0], [0.1, 0.4, 0.4, 0.9], weight=[1.0, 2.0, 0.5, 1.0])
    turned = t.with_scores(1 - t.score)
    assert turned.score.tolist() == pytest.approx([0.9, 0.6, 0.1])
    assert turned.mass.tolist() == t.mass[:, ::-1].tolist()
    assert turned.squares.tolist() == t.squares[:, ::-1].tolist()
    assert t.with_scores([0.5, 0.5, 0.5]).mass.tolist() == t.mass.sum(axis=1, keepdims=True).tolist()
    with pytest.raises(baserate.ShapeError, match="one for each of 3"):
        t.with_scores([0.5])
    with pytest.raises(baserate.MissingValuesError):
        t.with_scores([0.5, nan, 0.1])


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "near"), [(25, 0.2), slow(100, 0.1)])
def test_pooled_scores_do_not_bias_null_references(runs: int, near: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # An isotonic regression gains less of pooled scores, so data and draws must both be pooled.
    monkeypatch.setattr("baserate.infer._bootstrap.N_BUCKETS", 60)
    measures = [measure.brier_miscalibration, measure.log_miscalibration, measure.ece]
    ps = []
    for seed in range(runs):
        t = make_calibrated_tally(seed, 1500)
        result = infer.null_references(measures, t, seed=seed, n_simulations=40)
        assert [each.value for each in result] == [of(t) for of in measures]
        assert [each.within for each in result] == [each.p > 0.05 for each in result]
        ps.append(
            [*(each.p for each in result), infer.intrinsic_calibration(t, seed=seed, n_simulations=40).against_free.p]
        )
    assert np.mean(ps, axis=0) == pytest.approx(0.5, abs=near)


def test_null_reference_of_an_infinite_distance_with_pooled_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("baserate.infer._bootstrap.N_BUCKETS", 3)
    result = infer.null_reference(
        "log_miscalibration", tally([1, 0, 1, 0, 1, 0], [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]), n_simulations=20
    )
    assert result.value == inf
    assert result.high < inf


@pytest.mark.parametrize("options", [{}, {"by": "mass"}, {"bins": 7}, {"bins": [0, 0.001, 0.01, 0.5, 1]}])
@pytest.mark.parametrize("weighted", [False, True])
def test_pooling_keeps_the_sums_of_bins(options: dict[str, Any], *, weighted: bool) -> None:
    rng = np.random.default_rng(3)
    p = rng.beta(0.2, 9, 20_000)  # most rows in the first bin
    t = tally(rng.random(20_000) < p, p, weight=rng.uniform(0.5, 2, 20_000) if weighted else None)
    measures = [partial(each, **options) for each in (measure.ece, measure.mce, measure.rmsce_debiased)]
    result = pool_neighbors(t, measures)
    assert 256 < len(result.score) < 600
    assert [each(result) for each in measures] == pytest.approx([each(t) for each in measures], rel=1e-9)


def test_null_references_of_bins_equal_those_of_single_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    t = make_calibrated_tally(1, 10_000)
    pooled = infer.null_reference("ece", t, n_simulations=2000)
    monkeypatch.setattr("baserate.infer._bootstrap.N_BUCKETS", 10**6)
    single = infer.null_reference("ece", t, n_simulations=2000, seed=1)
    assert pooled.typical == pytest.approx(single.typical, rel=0.03)  # 4 standard errors
    assert pooled.high == pytest.approx(single.high, rel=0.05)


def test_adjacent_scores_are_pooled() -> None:
    score = 0.5 + np.arange(10_000) * np.spacing(0.5)
    result = pool_neighbors(tally(np.arange(10_000) % 2, score, weight=np.linspace(0.1, 7, 10_000)))
    assert len(result.score) <= 4096
    assert (np.diff(result.score) < 0).all()
    assert result.total == pytest.approx(np.linspace(0.1, 7, 10_000).sum())


def test_the_unit_of_weights_changes_no_resampled_number() -> None:
    rng = np.random.default_rng(0)
    p, weight, noise = rng.random(200), rng.random(200) + 0.5, rng.normal(0, 0.2, 200)
    plain, scaled = (tally(p + noise > 0.5, p, weight=weight * unit) for unit in (1.0, 2.0**10))
    names = ["rmsce_debiased", "ece", "calibration_in_the_large"]
    for one, other in zip(infer.bootstrap(names, plain), infer.bootstrap(names, scaled), strict=True):
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), rel=1e-9)
    with pytest.raises(OptionError, match="n_bootstrap is 0"):
        infer.bootstrap(names, plain, n_bootstrap=0)


@pytest.mark.parametrize(("value", "freedom"), [(1e5, 5.0), (9e5, 300.0), (1e6, 9.0)])
def test_noncentral_bounds_approach_the_normal_limit(value: float, freedom: float) -> None:
    exact = _bound_noncentrality(value, freedom, 0.95)
    z = normal_quantile(0.95)
    near = tuple(_normal_limit_noncentrality(value, freedom, side) for side in (z, -z))
    assert near == pytest.approx(exact, rel=3e-5)
    assert exact[0] < value < exact[1]


def test_the_debiased_error_of_very_many_rows_has_an_interval() -> None:
    many = tally([1, 1, 0], [0.9, 0.4, 0.1], count=[10**6, 1, 7])
    result = infer.estimate("rmsce_debiased", many.top_class())
    assert 0 <= result.low <= result.value <= result.high <= 1
