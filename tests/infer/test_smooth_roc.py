"""Smooth ROC curves: laws of all methods, intervals, and refused data."""

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.special import ndtr, ndtri

import baserate
from baserate import FitError, OptionError, Tally, UnknownNameError, infer, measure
from baserate.infer._smooth_roc import DEFAULT_METHOD, _integrate, area_under
from baserate.infer._smooth_roc_fits import METHODS, FitOptions, find_method
from tests.strategies import Array

RANK_METHODS = ("binormal", "binormal-ml")
SCALE_METHODS = tuple(name for name in METHODS if name not in RANK_METHODS)
each_method = pytest.mark.parametrize("method", METHODS)


def simulate(rows: int = 60, seed: int = 0, *, shift: float = 1.2, sd: float = 1.3) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    truth = np.arange(rows) < rows // 3
    return truth, np.where(truth, rng.normal(shift, sd, rows), rng.normal(size=rows))


TRUTH, SCORE = simulate()
DATA = baserate.tally(TRUTH, SCORE)


def fit(method: str, data: Tally = DATA, **options: Any) -> infer.SmoothRoc:  # noqa: ANN401  (those of the function)
    return infer.smooth_roc(data, method=method, **{"n_bootstrap": 0, **options})


@each_method
def test_curves_rise_from_corner_to_corner(method: str) -> None:
    smooth = fit(method)
    rates = np.linspace(0, 1, 201)
    tpr = smooth.tpr(rates)
    assert (np.diff(tpr) >= -1e-12).all()
    assert tpr[-1] == pytest.approx(1, abs=1e-12)
    assert method == "logcondens" or tpr[0] == 0
    np.testing.assert_allclose(smooth.fpr(smooth.tpr(rates[20:180:20])), rates[20:180:20], atol=1e-7)


@each_method
def test_the_auc_is_the_area_under_the_curve(method: str) -> None:
    smooth = fit(method)
    rates = ndtr(np.linspace(-9, 9, 20_001))
    tpr = smooth.tpr(rates)
    area = float(np.sum(np.diff(rates) * (tpr[1:] + tpr[:-1]) / 2))
    assert float(smooth.auc) == pytest.approx(area, abs=1e-6)
    assert smooth.partial_auc() == pytest.approx(float(smooth.auc), abs=1e-10)
    assert smooth.partial_auc(tpr=(0, 1)) == pytest.approx(float(smooth.auc), abs=1e-10)


@each_method
def test_partial_areas_add_up(method: str) -> None:
    smooth = fit(method)
    parts = [smooth.partial_auc(fpr=each) for each in ((0, 0.1), (0.1, 0.5), (0.5, 1))]
    assert sum(parts) == pytest.approx(float(smooth.auc), abs=1e-9)
    rates = np.linspace(0.1, 0.5, 4001)
    assert parts[1] == pytest.approx(float(np.mean(smooth.tpr(rates)) * 0.4), abs=1e-4)
    parts = [smooth.partial_auc(tpr=each) for each in ((0, 0.6), (0.6, 0.9), (0.9, 1))]
    assert sum(parts) == pytest.approx(float(smooth.auc), abs=1e-9)


@pytest.mark.parametrize("options", [{"fpr": (0, 0.2)}, {"tpr": (0.8, 1)}])
def test_standardized_partial_areas_are_those_of_the_measure(options: dict[str, tuple[float, float]]) -> None:
    smooth, curve = fit("normal"), baserate.curve(DATA)
    raw, scaled = (smooth.partial_auc(**options, standardized=each) for each in (False, True))
    others = [measure.partial_auc(curve, **options, standardized=each) for each in (False, True)]
    # One line maps all areas of an interval: chance, .02, to one half, and perfection, .2, to 1.
    assert (scaled - others[1]) / (raw - others[0]) == pytest.approx(0.5 / (0.2 - 0.02), rel=1e-9)


@each_method
def test_shift_and_scale_change_nothing(method: str) -> None:
    other = baserate.tally(TRUTH, 20 * SCORE - 7)
    assert float(fit(method, other).auc) == pytest.approx(float(fit(method).auc), abs=1e-6)


@pytest.mark.parametrize("method", RANK_METHODS)
def test_binormal_curves_use_ranks_alone(method: str) -> None:
    other = baserate.tally(TRUTH, np.exp(SCORE))
    assert fit(method, other).parameters == fit(method).parameters


@each_method
def test_repeated_rows_are_rows_with_counts(method: str) -> None:
    times = np.random.default_rng(2).integers(1, 4, len(TRUTH))
    repeated = baserate.tally(np.repeat(TRUTH, times), np.repeat(SCORE, times))
    counted = baserate.tally(TRUTH, SCORE, count=times)
    assert float(fit(method, counted).auc) == pytest.approx(float(fit(method, repeated).auc), abs=1e-10)


@each_method
def test_the_unit_of_weights_changes_nothing(method: str) -> None:
    weight = np.random.default_rng(2).random(len(TRUTH)) + 0.5
    values = [fit(method, baserate.tally(TRUTH, SCORE, weight=weight * unit)).auc for unit in (1, 1000)]
    assert float(values[0]) == pytest.approx(float(values[1]), abs=1e-9)
    assert float(values[0]) != float(fit(method).auc)


@pytest.mark.parametrize("method", SCALE_METHODS)
def test_mirrored_scores_have_the_complementary_area(method: str) -> None:
    mirrored = baserate.tally(TRUTH, -SCORE)
    assert float(fit(method, mirrored).auc) == pytest.approx(1 - float(fit(method).auc), abs=1e-8)


@each_method
def test_large_samples_find_the_true_curve(method: str) -> None:
    data = baserate.tally(*simulate(3000, 4))
    true = ndtr(1.2 / np.hypot(1, 1.3))
    smooth = fit(method, data)
    assert float(smooth.auc) == pytest.approx(float(true), abs=0.03)
    rates = np.array([0.05, 0.2, 0.5])
    np.testing.assert_allclose(smooth.tpr(rates), ndtr((1.2 + ndtri(rates)) / 1.3), atol=0.05)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(sorted(METHODS)), st.integers(8, 30), st.integers(0, 2))
def test_every_fit_is_a_curve_or_an_error(seed: int, method: str, rows: int, digits: int) -> None:
    truth, score = simulate(rows, seed)
    data = baserate.tally(truth, np.round(score, digits))
    try:
        smooth = fit(method, data, points=11)
    except FitError:
        return
    tpr = smooth.columns["sensitivity"]
    assert 0 <= float(smooth.auc) <= 1
    assert (np.diff(tpr) >= -1e-9).all()
    assert ((tpr >= 0) & (tpr <= 1)).all()


# Intervals


@each_method
def test_intervals_contain_their_values(method: str) -> None:
    smooth = fit(method, n_bootstrap=40, points=11)
    columns = smooth.columns
    assert smooth.auc.low < float(smooth.auc) < smooth.auc.high
    assert (columns["low"] <= columns["sensitivity"]).all()
    assert (columns["high"] >= columns["sensitivity"]).all()
    wider = fit(method, n_bootstrap=40, points=11, level=0.99)
    assert wider.auc.low < smooth.auc.low
    assert wider.auc.high > smooth.auc.high
    assert (columns["low"][-1], columns["high"][-1]) == (columns["sensitivity"][-1],) * 2


@pytest.mark.parametrize("method", ["binormal", "density", "logcondens"])
def test_the_seed_determines_the_interval(method: str) -> None:
    first, second, third = (fit(method, n_bootstrap=30, seed=seed).auc for seed in (1, 1, 2))
    assert first == second
    assert first != third
    order = np.random.default_rng(0).permutation(len(TRUTH))
    assert fit(method, baserate.tally(TRUTH[order], SCORE[order]), n_bootstrap=30, seed=1).auc == first


def test_without_bootstrap_there_are_no_bounds() -> None:
    smooth = fit("density")
    assert np.isnan(smooth.auc.low)
    assert np.isnan(smooth.columns["low"]).all()


@pytest.mark.parametrize("method", ["normal", "density"])
def test_one_bootstrap_sample_has_no_spread(method: str) -> None:
    smooth = fit(method, n_bootstrap=1, points=5)
    assert smooth.auc.why == "a single bootstrap sample has no spread; take more"
    assert np.isnan([smooth.auc.low, smooth.auc.high, *smooth.columns["low"]]).all()


def test_weighted_likelihood_has_a_bootstrap_interval() -> None:
    counted = infer.smooth_roc(DATA)
    assert counted.method == DEFAULT_METHOD
    assert counted.auc.how == "maximum likelihood, delta method on probits"
    weighted = infer.smooth_roc(TRUTH, SCORE, weight=np.full(len(TRUTH), 2.0), n_bootstrap=200)
    assert "bootstrap" in str(weighted.auc.how)
    assert float(weighted.auc) == pytest.approx(float(counted.auc), abs=1e-9)
    assert weighted.auc.low == pytest.approx(counted.auc.low, abs=0.05)
    assert weighted.auc.high == pytest.approx(counted.auc.high, abs=0.05)


def test_bootstrap_and_delta_method_agree() -> None:
    data = baserate.tally(*simulate(600, 3))
    closed, sampled = infer.smooth_roc(data), fit("binormal", data, n_bootstrap=400)
    assert sampled.auc.low == pytest.approx(closed.auc.low, abs=0.02)
    assert sampled.auc.high == pytest.approx(closed.auc.high, abs=0.02)
    at = slice(10, 90)
    np.testing.assert_allclose(sampled.columns["low"][at], closed.columns["low"][at], atol=0.06)


def test_closed_form_bounds_cover() -> None:
    true, covered = float(ndtr(1.2 / np.hypot(1, 1.3))), 0
    rates = np.array([0.0, 0.5, 1.0])
    for seed in range(300):
        smooth = infer.smooth_roc(baserate.tally(*simulate(90, seed)), points=len(rates))
        covered += smooth.auc.low <= true <= smooth.auc.high
    assert 0.91 <= covered / 300 <= 0.985


@pytest.mark.parametrize(("method", "least"), [("binormal", 0.9), ("normal", 0.88), ("density", 0.85)])
def test_bootstrap_bounds_cover(method: str, least: float) -> None:
    true = float(ndtr(1.2 / np.hypot(1, 1.3)))
    fits = [fit(method, baserate.tally(*simulate(90, seed)), n_bootstrap=60, points=3).auc for seed in range(100)]
    assert np.mean([each.low <= true <= each.high for each in fits]) >= least


def test_many_failed_samples_leave_no_interval() -> None:
    # Nearly separated: most samples of the bootstrap keep the single pair in the wrong order, yet are no line.
    truth = np.array([0, 0, 0, 0, 1, 0, 1, 1, 1, 1], dtype=bool)
    with pytest.raises(FitError, match="binormal curve is not estimable"):
        fit("binormal", baserate.tally(truth, np.arange(10.0)))


# The curve as an object


@each_method
def test_the_population_has_the_curve(method: str) -> None:
    smooth = fit(method)
    people = smooth.population(0.2)
    assert people.prevalence == 0.2
    assert smooth.population().prevalence == pytest.approx(1 / 3)
    rates = np.array([0.1, 0.4])
    thresholds = smooth.negative.isf(rates)
    np.testing.assert_allclose(people.fpr(thresholds), rates, atol=1e-9)
    np.testing.assert_allclose(people.tpr(thresholds), smooth.tpr(rates), atol=1e-9)
    truth, score = people.draw(4000, 1)
    assert measure.auc(truth, score) == pytest.approx(float(smooth.auc), abs=0.04)


@each_method
def test_thresholds_are_scores_unless_the_scale_is_latent(method: str) -> None:
    smooth = fit(method, points=5)
    thresholds = smooth.columns["threshold"]
    assert smooth.latent is (method in RANK_METHODS)
    if smooth.latent:
        assert np.isnan(thresholds).all()
    else:
        np.testing.assert_allclose(smooth.negative.sf(thresholds), smooth.columns["fpr"], atol=1e-12)


def test_binormal_parameters() -> None:
    smooth = fit("binormal-ml")
    a, b = smooth.binormal or (0, 0)
    assert smooth.parameters == pytest.approx({"a": a, "b": b})
    assert smooth.tpr(0.2) == pytest.approx(float(ndtr(a + b * ndtri(0.2))), rel=1e-10)
    assert float(smooth.auc) == pytest.approx(float(ndtr(a / np.hypot(1, b))), rel=1e-12)
    assert fit("normal").binormal is not None
    assert fit("density").binormal is None


def test_the_object_is_frozen_and_can_be_copied() -> None:
    smooth = fit("logcondens-smooth", points=5)
    other = copy.deepcopy(smooth)
    assert other.tpr(0.3) == smooth.tpr(0.3)
    assert repr(other) == repr(smooth)
    with pytest.raises(TypeError, match="cannot change"):
        smooth.parameters["a"] = 1.0  # type: ignore[index]
    assert list(smooth.table().columns) == ["threshold", "fpr", "sensitivity", "low", "high"]


@pytest.mark.parametrize("name", ["Binormal", "fitdistr", "kde", "log concave", "logcondens.smooth", "binormal_ml"])
def test_other_names(name: str) -> None:
    assert find_method(name).name in METHODS


def test_bandwidths_by_class_and_together() -> None:
    own, pooled = fit("density"), fit("density", bandwidth="nrd0-pooled")
    assert own.parameters["bandwidth_negative"] != own.parameters["bandwidth_positive"]
    assert pooled.parameters["bandwidth_negative"] == pooled.parameters["bandwidth_positive"]
    assert fit("density", bandwidth=0.5).parameters == {"bandwidth_negative": 0.5, "bandwidth_positive": 0.5}
    assert fit("density", bandwidth=(0.5, 2)).parameters == {"bandwidth_negative": 0.5, "bandwidth_positive": 2}
    # A narrow kernel leaves the empirical curve.
    assert float(fit("density", bandwidth=1e-4).auc) == pytest.approx(measure.auc(baserate.curve(DATA)), abs=1e-3)


def test_sums_over_kernels_equal_the_area() -> None:
    smooth = METHODS["density"].fit(DATA, FitOptions())
    centers: Any = (smooth.negative, smooth.positive)
    low, high = centers
    gaps = (high.centers[:, None] - low.centers) / np.hypot(low.bandwidth, high.bandwidth)
    assert area_under(smooth) == pytest.approx(float(high.weight @ ndtr(gaps) @ low.weight), abs=1e-12)
    nothing = _integrate(high.sf, low, high, np.array([50.0, 60.0]))
    assert nothing == pytest.approx(0, abs=1e-12)


def test_scores_of_large_files_are_pooled() -> None:
    truth, score = simulate(60_000, 1)
    smooth = fit("logcondens", baserate.tally(truth, score))
    assert float(smooth.auc) == pytest.approx(float(ndtr(1.2 / np.hypot(1, 1.3))), abs=0.01)


# Several curves


def test_curves_of_models_and_groups() -> None:
    site = np.where(np.arange(len(TRUTH)) % 2, "north", "south")
    table = {"y": TRUTH, "a": SCORE, "b": SCORE**3, "site": site}
    results = infer.smooth_roc_curves(table, truth="y", score=["a", "b"], group="site", points=5)
    fits = results.data["fits"]
    assert [(each["model"], each["group"]) for each in fits] == [
        (model, group) for model in "ab" for group in (None, {"site": "north"}, {"site": "south"})
    ]
    single = infer.smooth_roc(TRUTH, SCORE, points=5)
    first = [row for row in results.rows() if row["model"] == "a" and row["group"] is None]
    assert [row["sensitivity"] for row in first] == single.columns["sensitivity"].tolist()
    assert fits[0]["auc"]["value"] == float(single.auc)


def test_a_group_without_a_curve_has_its_reason() -> None:
    site = np.where(TRUTH | (np.arange(len(TRUTH)) % 2 == 0), "both", "healthy")
    table = {"y": TRUTH, "a": SCORE, "site": site}
    results = infer.smooth_roc_curves(table, truth="y", score="a", group="site", points=5)
    assert "there are no positives" in results.data["fits"][-1]["auc"]["why"]
    (row,) = [row for row in results.rows() if row["group"] == {"site": "healthy"}]
    assert row["sensitivity"] is None
    assert "there are no positives" in row["why"]


# Refused data and options


@pytest.mark.parametrize(
    ("truth", "score", "method", "message"),
    [
        ([1, 1], [0.2, 0.4], "normal", "there are no negatives"),
        ([0, 0], [0.2, 0.4], "normal", "there are no positives"),
        ([1, 0, 1, 0], [0.5] * 4, "binormal-ml", "binormal curve is not estimable"),
        ([1, 0, 1, 0], [0.5] * 4, "binormal", "binormal curve is not estimable"),
        ([1, 1, 0, 0], [0.9, 0.8, 0.2, 0.1], "binormal", "two thresholds with different rates"),
        ([1, 1, 0, 0], [0.9, 0.8, 0.2, 0.1], "binormal-ml", "its likelihood has no maximum"),
        ([1, 1, 0, 0], [0.9, 0.8, 0.5, 0.5], "density", "the negatives have 1 distinct score; expected at least 2"),
        ([1, 1, 0, 0], [0.9, 0.9, 0.5, 0.1], "logcondens", "the positives have 1 distinct score; expected at least 2"),
        ([1, 1, 0, 0], [1e200, -1e200, 0.5, 0.1], "normal", "beyond the range of a normal distribution"),
    ],
)
def test_data_that_determine_no_curve(truth: list[int], score: list[float], method: str, message: str) -> None:
    with pytest.raises(FitError, match=message):
        infer.smooth_roc(truth, score, method=method, positive=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bandwidth": "nrd0", "method": "normal"}, "bandwidth= is for kernel densities, not for normal"),
        ({"bandwidth": -1, "method": "density"}, "bandwidth is -1; expected"),
        ({"bandwidth": 0, "method": "density"}, "bandwidth is 0; expected"),
        ({"bandwidth": (1, 2, 3), "method": "density"}, "bandwidth is"),
        ({"level": 2}, "level is 2"),
        ({"points": 1}, "points is 1"),
        ({"n_bootstrap": -3}, "n_bootstrap is -3"),
        ({"seed": -1, "method": "normal", "n_bootstrap": 10}, "seed is -1"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        infer.smooth_roc(DATA, **options)


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'binormal'"):
        fit("binormall")
    with pytest.raises(UnknownNameError, match="there is no bandwidth 'silverman'"):
        fit("density", bandwidth="silverman")


def test_rates_and_intervals_are_checked() -> None:
    smooth = fit("normal")
    rates: list[Any] = [-0.1, 1.1, np.nan, np.array([0.5, 2.0])]
    for rate in rates:
        with pytest.raises(OptionError, match="a rate from 0 to 1"):
            smooth.tpr(rate)
    with pytest.raises(OptionError, match="give either fpr or tpr"):
        smooth.partial_auc(fpr=(0, 1), tpr=(0, 1))
    with pytest.raises(OptionError, match="is not one of rates"):
        smooth.partial_auc(fpr=(0.5, 0.1))


@pytest.mark.parametrize(("method", "notes"), [("binormal", 1), ("density", 1), ("logcondens", 1), ("binormal-ml", 0)])
def test_methods_with_a_weakness_have_a_note(method: str, notes: int) -> None:
    results = infer.smooth_roc_curves(DATA, method=method, n_bootstrap=0, points=3)
    assert len(results.data["notes"]) == notes


def test_pooled_scores_change_the_curve_little() -> None:
    data = baserate.tally(*simulate(9000, 2))
    pooled, exact = fit("density", data), METHODS["density"].fit(data, FitOptions())
    assert float(pooled.auc) == pytest.approx(area_under(exact), abs=1e-5)


@pytest.mark.parametrize("method", SCALE_METHODS)
def test_negligible_weights_are_no_obstacle(method: str) -> None:
    data = baserate.tally([1, 1, 1, 0, 0, 0], [1, 2, 3, 0, 1.5, 2.5], weight=[1e-12, 1, 1, 1, 1e-13, 1])
    smooth = fit(method, data, n_bootstrap=5, points=5)
    assert 0.5 < float(smooth.auc) <= 1
    assert (np.diff(smooth.columns["sensitivity"]) >= 0).all()
