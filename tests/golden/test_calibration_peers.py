"""Calibration measures beside scikit-learn, statsmodels and SciPy, on the same rows."""

import math
from functools import partial

import numpy as np
import numpy.typing as npt
import pytest
import statsmodels.api as sm
from scipy import stats
from scipy.special import expit, logit
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss
from statsmodels.nonparametric.smoothers_lowess import lowess

from baserate import Tally, infer, measure, tally
from baserate.infer._calibration_tests import brownian_range_tail
from baserate.measure._calibration_slope import fit_recalibration

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Rows = tuple[Bools, Floats]

near = partial(pytest.approx, rel=1e-10, abs=1e-13)


def rows(kind: str, size: int = 400) -> Rows:
    """Probabilities of many kinds, none of them quite right."""
    rng = np.random.default_rng(size)
    p: Floats = rng.beta(0.5, 0.7, size)
    if kind == "tied":
        p = np.round(p, 1)
    if kind == "edges":
        p = rng.choice(np.linspace(0, 1, 11), size)
    if kind == "few":
        p = rng.choice([0.2, 0.35, 0.9], size)
    return rng.random(size) < expit(0.8 * logit(np.clip(p, 0.01, 0.99)) + 0.3), p


KINDS = ["distinct", "tied", "edges", "few"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bins", [1, 2, 5, 10, 15, 33])
def test_bins_of_equal_width_equal_those_of_scikit_learn(kind: str, bins: int) -> None:
    truth, p = rows(kind)
    share, mean = calibration_curve(truth, p, n_bins=bins)
    ours = infer.calibration_curve(tally(truth, p), options=infer.CurveOptions(bins=bins))
    assert ours["share"] == near(share)
    assert ours["probability"] == near(mean)
    assert ours["mass"].sum() == len(p)
    assert measure.ece(tally(truth, p), bins=bins) == near(np.sum(ours["mass"] * np.abs(share - mean)) / len(p))
    assert measure.mce(tally(truth, p), bins=bins) == near(np.abs(share - mean).max())


@pytest.mark.parametrize("bins", [2, 5, 10])
def test_bins_of_equal_mass_equal_those_of_scikit_learn_where_rows_divide(bins: int) -> None:
    truth, p = rows("distinct")
    share, mean = calibration_curve(truth, p, n_bins=bins, strategy="quantile")
    ours = infer.calibration_curve(tally(truth, p), options=infer.CurveOptions(bins=bins, by="mass"))
    assert ours["share"] == near(share)
    assert ours["probability"] == near(mean)
    assert set(ours["mass"]) == {400 / bins}


@pytest.mark.quick(2)
@pytest.mark.parametrize("kind", KINDS)
def test_isotonic_regression(kind: str) -> None:
    truth, p = rows(kind)
    fit = IsotonicRegression(y_min=0, y_max=1).fit_transform(p, truth.astype(float))
    table = infer.calibration_curve(tally(truth, p), "isotonic")
    assert table["share"] == near(fit[np.unique(p, return_index=True)[1]])
    assert measure.ici(tally(truth, p), smoother="isotonic") == near(np.abs(fit - p).mean())
    t = tally(truth, p)
    for score, loss, name in (
        (measure.brier, brier_score_loss, "brier"),
        (measure.log_loss, partial(log_loss, labels=[0, 1]), "log"),
    ):
        parts = {
            part: measure.find_measure(f"{name}_{part}")(t)
            for part in ("miscalibration", "discrimination", "uncertainty")
        }
        base = loss(truth, np.full(len(p), truth.mean()))
        best = loss(truth, np.clip(fit, 1e-300, 1))
        assert parts["uncertainty"] == near(base)
        assert parts["discrimination"] == pytest.approx(base - best, rel=1e-9)
        if np.isfinite(score(t)):
            assert score(t) == near(loss(truth, p))
            assert parts["miscalibration"] == pytest.approx(score(t) - best, rel=1e-9)


def fit_line(truth: Bools, x: Floats) -> tuple[Floats, Floats]:
    result = sm.Logit(truth.astype(float), sm.add_constant(x)).fit(disp=0, tol=1e-14)
    return result.params, result.cov_params()


def statsmodels_sandwich(truth: Bools, design: Floats, line: Floats, at: int) -> tuple[float, float]:
    """Standard error of a coefficient by HC2, row by row, and degrees of freedom by fourth powers."""
    p = expit(line)
    inverse = np.linalg.inv(sum(q * (1 - q) * np.outer(x, x) for x, q in zip(design, p, strict=True)))
    terms = np.array(
        [
            (inverse @ x)[at] * (y - q) / math.sqrt(1 - q * (1 - q) * (x @ inverse @ x))
            for x, y, q in zip(design, truth.astype(float), p, strict=True)
        ]
    )
    variance, n = float(np.sum(terms**2)), len(terms)
    doubt = max((float(np.sum(terms**4)) - variance**2 / n) / 2, variance**2 / (n - 1))
    return math.sqrt(variance), variance**2 / doubt


@pytest.mark.parametrize("kind", ["distinct", "few"])
def test_the_recalibration_line_equals_statsmodels(kind: str) -> None:
    truth, p = rows(kind)
    t = tally(truth, p)
    params, covariance = fit_line(truth, logit(p))
    assert fit_recalibration(t).covariance == pytest.approx(np.asarray(covariance), rel=1e-8)
    for at, name in enumerate(("calibration_intercept", "calibration_slope")):
        result = infer.estimate(name, t, level=0.9)
        error, freedom = statsmodels_sandwich(truth, sm.add_constant(logit(p)), params[0] + params[1] * logit(p), at)
        reach = stats.t.ppf(0.95, freedom) * error
        assert [result.value, result.low, result.high] == pytest.approx(
            [params[at], params[at] - reach, params[at] + reach], rel=1e-8
        )
    assert measure.cox_ici(t) == pytest.approx(np.abs(expit(params[0] + params[1] * logit(p)) - p).mean(), rel=1e-8)
    fit = sm.GLM(truth.astype(float), np.ones(len(p)), family=sm.families.Binomial(), offset=logit(p)).fit(tol=1e-14)
    result = infer.estimate("calibration_in_the_large", t)
    error, freedom = statsmodels_sandwich(truth, np.ones((len(p), 1)), fit.params[0] + logit(p), 0)
    reach = stats.t.ppf(0.975, freedom) * error
    assert [result.value, result.low, result.high] == pytest.approx(
        [fit.params[0], fit.params[0] - reach, fit.params[0] + reach], rel=1e-8
    )
    design = sm.add_constant(logit(p))
    gain = sm.Logit(truth.astype(float), design).loglike(params) - np.sum(np.where(truth, np.log(p), np.log1p(-p)))
    check = infer.cox_test(t)
    assert [check.statistic, check.p] == pytest.approx([2 * gain, stats.chi2.sf(2 * gain, 2)], rel=1e-8)
    slope = sm.Logit(truth.astype(float), design).loglike(params) - fit.llf
    check = infer.slope_test(t)
    assert [check.statistic, check.p] == pytest.approx([2 * slope, stats.chi2.sf(2 * slope, 1)], rel=1e-6)


def test_a_count_is_a_frequency_weight() -> None:
    truth, p = rows("distinct", 150)
    count = np.random.default_rng(0).integers(1, 6, 150)
    design, family = sm.add_constant(logit(p)), sm.families.Binomial()
    fit = sm.GLM(truth.astype(float), design, family=family, freq_weights=count).fit(tol=1e-14)
    t = tally(truth, p, count=count)
    design = np.repeat(design, count, axis=0)
    for at, name in enumerate(("calibration_intercept", "calibration_slope")):
        result = infer.estimate(name, t)
        error, freedom = statsmodels_sandwich(np.repeat(truth, count), design, design @ fit.params, at)
        reach = stats.t.ppf(0.975, freedom) * error
        assert [result.value, result.low, result.high] == pytest.approx(
            [fit.params[at], fit.params[at] - reach, fit.params[at] + reach], rel=1e-7
        )


@pytest.mark.quick(4)
@pytest.mark.parametrize("size", [40, 41, 399, 1500, 1501])
@pytest.mark.parametrize("span", [0.5, 0.3, 1.0])
def test_lowess_equals_statsmodels(size: int, span: float) -> None:
    # Ours takes at least that share of the mass; the peer would take one row less of an odd number.
    truth, p = rows("distinct", size)
    enough = math.ceil(span * size - 1e-7) / size
    fit = lowess(truth.astype(float), p, frac=enough, it=0, delta=0.001, return_sorted=False)
    t = tally(truth, p)
    away = np.sort(np.abs(fit - p))
    assert measure.ici(t, span=span) == pytest.approx(away.mean(), rel=1e-8)
    assert measure.emax(t, span=span) == pytest.approx(away[-1], rel=1e-8)
    assert measure.e50(t, span=span) == pytest.approx(away[math.ceil(size / 2) - 1], rel=1e-7)
    assert measure.e90(t, span=span) == pytest.approx(away[math.ceil(size * 0.9 - 1e-9) - 1], rel=1e-7)
    if span == 0.5:
        shown = np.clip(fit, 0, 1)[np.argsort(p)]
        assert infer.calibration_curve(t, "lowess")["share"] == pytest.approx(shown, rel=1e-7, abs=1e-9)


def test_curves_are_clipped_and_distances_are_not() -> None:
    rng = np.random.default_rng(3)
    p = np.sort(rng.random(400))
    truth = rng.random(400) < p**3
    fit = lowess(truth.astype(float), p, frac=0.5, it=0, delta=0.001, return_sorted=False)
    assert fit.min() < -0.01
    t = tally(truth, p)
    assert measure.ici(t) == pytest.approx(np.abs(fit - p).mean(), rel=1e-8)
    assert infer.calibration_curve(t, "lowess")["share"] == pytest.approx(np.clip(fit, 0, 1), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_p_values(kind: str) -> None:
    truth, p = rows(kind)
    t = tally(truth, p)
    z = infer.spiegelhalter(t)
    noise = np.sum((1 - 2 * p) ** 2 * p * (1 - p))
    assert z.statistic == near(np.sum((truth - p) * (1 - 2 * p)) / math.sqrt(noise))
    assert z.p == near(2 * stats.norm.sf(abs(z.statistic)))
    for bins in (5, 10):
        for fitted_to in (False, True):
            result = infer.hosmer_lemeshow(t, bins=bins, by="width", fitted=fitted_to)
            if result.why is not None:
                assert fitted_to
                continue
            curve = infer.calibration_curve(t, options=infer.CurveOptions(bins=bins))
            n, mean = curve["mass"], curve["probability"]
            chance = (mean > 0) & (mean < 1)
            wanted = np.sum((n * (curve["share"] - mean) ** 2)[chance] / (mean * (1 - mean))[chance])
            assert result.freedom == chance.sum()  # in either case: these rows are not what it was fitted to
            assert result.statistic in (near(wanted), math.inf)
            close = partial(pytest.approx, abs=0.05) if "simulated" in result.how else near
            assert result.p == close(stats.chi2.sf(result.statistic, result.freedom))


@pytest.mark.parametrize("size", [50, 400, 5000])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_debiased_interval_inverts_a_noncentral_distribution(size: int, level: float) -> None:
    t = tally(*rows("distinct", size))
    result = infer.estimate("rmsce_debiased", t, level=level)
    curve = infer.calibration_curve(t, options=infer.CurveOptions(by="mass"))
    n, share = curve["mass"], curve["mass"] / size
    rate = (curve["share"] * n + 0.5) / (n + 1)
    noise = rate * (1 - rate) / n
    squared = (curve["share"] - curve["probability"]) ** 2
    # A quadratic form of normal variables has the mean Σwv + Σwδ² and the variance 2Σw²v² + 4Σw²vδ².
    more = squared * max(1 - np.sum(share * noise) / np.sum(share * squared), 0.0)
    variance = 2 * np.sum((share * noise) ** 2) + 4 * np.sum(share**2 * noise * more)
    scale = variance / (2 * np.sum(share * noise) + 4 * np.sum(share * more))
    scale = max(scale, np.sum((share * noise) ** 2) / np.sum(share * noise))
    freedom = np.sum(share * noise) / scale
    observed = np.sum(share * squared) / scale
    for bound, tail in ((result.low, (1 + level) / 2), (result.high, (1 - level) / 2)):
        if bound == 0:
            assert stats.chi2.cdf(observed, freedom) <= tail
        elif bound != result.value:
            assert stats.ncx2.cdf(observed, freedom, bound**2 / scale) == pytest.approx(tail, rel=1e-6)


def test_the_range_of_a_brownian_motion_has_its_moments() -> None:
    # Feller: the mean is √(8/π), the mean square 4 ln 2.
    x = np.linspace(0, 12, 24_001)
    tail = np.array([brownian_range_tail(float(each)) for each in x])
    assert (np.diff(tail) <= 1e-12).all()
    assert np.trapezoid(tail, x) == pytest.approx(math.sqrt(8 / math.pi), rel=1e-7)
    assert np.trapezoid(2 * x * tail, x) == pytest.approx(4 * math.log(2), rel=1e-6)


def test_the_likelier_class_of_ties_and_halves() -> None:
    truth, p = rows("edges")
    likelier = np.maximum(p, 1 - p)
    right = np.where(p >= 0.5, truth, ~truth)
    result = Tally.top_class(tally(truth, p))
    assert measure.brier(result) == near(brier_score_loss(right, likelier)) == near(brier_score_loss(truth, p))
    share, mean = calibration_curve(right, likelier, n_bins=10)
    ours = infer.calibration_curve(result)
    assert (ours["share"], ours["probability"]) == (near(share), near(mean))
