"""Smooth ROC curves of the aSAH data, as pROC 1.18.0 and logcondens 2.1.7 compute them in R, and where they err."""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import ndtr

from baserate import Tally, infer, tally
from baserate._numeric.binormal import fit_binormal
from baserate._numeric.kernel_density import WeightedSample, normal_reference_bandwidth, sheather_jones_bandwidth
from baserate._numeric.log_concave import SmoothedLogConcave, fit_log_concave

Floats = npt.NDArray[np.float64]
Columns = Callable[[str], dict[str, list[str]]]
MARKERS = ("wfns", "ndka", "s100b")


@pytest.fixture(scope="module")
def markers(columns: Columns) -> dict[str, Tally]:
    rows = columns("aSAH.csv")
    return {name: tally(rows["outcome"], np.array(rows[name], dtype=float), positive="Poor") for name in MARKERS}


def sample_of(data: Tally, which: str) -> WeightedSample:
    rows = {"all": data.mass.sum(axis=0), "Poor": data.mass[0], "Good": data.mass[1]}[which][::-1].astype(float)
    return WeightedSample(data.score[::-1][rows > 0], rows[rows > 0], float(rows.sum()))


def smooth(data: Tally, method: str, bandwidth: str | None = None) -> infer.SmoothRoc:
    return infer.smooth_roc(data, method=method, n_bootstrap=0, bandwidth=bandwidth)


@pytest.mark.parametrize(
    ("marker", "expected"),
    [("wfns", 0.845365979318225), ("ndka", 0.600569923699544), ("s100b", 0.740012862077311)],
)
def test_binormal_auc(markers: dict[str, Tally], marker: str, expected: float) -> None:
    # pROC's trapezoids of 512 points agree to 1e-12, since its points follow the curve itself.
    assert float(smooth(markers[marker], "binormal").auc) == pytest.approx(expected, rel=0, abs=1e-12)


def test_published_smooth_areas(markers: dict[str, Tally], load_published: Callable[[str], Any]) -> None:
    published = load_published("pROC_aSAH_reference.json")["smooth_auc"]
    for marker in ("ndka", "s100b"):
        assert round(float(smooth(markers[marker], "binormal").auc), 4) == published[f"{marker}_binormal"]
    density = float(smooth(markers["s100b"], "density", bandwidth="nrd0-pooled").auc)
    assert round(density, 4) == published["s100b_density_nrd0"]


def test_binormal_coefficients(markers: dict[str, Tally]) -> None:
    # coef(smooth(roc)$model), the regression of probit specificity on probit sensitivity.
    intercept, slope = 1.011830373144, -1.2137879199176
    assert smooth(markers["s100b"], "binormal").binormal == pytest.approx((-intercept / slope, -1 / slope), rel=1e-12)


def test_partial_areas_of_a_binormal_curve(markers: dict[str, Tally]) -> None:
    # auc(smooth(roc, n = 8192), partial.auc = c(1, .9)), by specificity, by sensitivity, and corrected.
    curve = smooth(markers["s100b"], "binormal")
    assert curve.partial_auc(fpr=(0, 0.1)) == pytest.approx(0.0282211943779, abs=1e-8)
    assert curve.partial_auc(tpr=(0.9, 1)) == pytest.approx(0.0157034765602, abs=1e-8)
    assert curve.partial_auc(fpr=(0, 0.1), standardized=True) == pytest.approx(0.622216812515, abs=1e-7)


@pytest.mark.parametrize(
    ("marker", "rule", "expected", "at_half"),
    [
        ("ndka", "nrd0", 0.604894519502, 0.653990495276),
        ("s100b", "nrd0", 0.724394204155, 0.760426489609),
    ],
)
def test_kernel_densities(markers: dict[str, Tally], marker: str, rule: str, expected: float, at_half: float) -> None:
    # With n = 4096 in place of pROC's 512 points, which are joined by straight lines.
    curve = smooth(markers[marker], "density", bandwidth=f"{rule}-pooled")
    assert float(curve.auc) == pytest.approx(expected, abs=1e-4)
    assert curve.tpr(0.5) == pytest.approx(at_half, abs=2e-4)


def test_the_error_of_straight_lines_shrinks_with_their_number(markers: dict[str, Tally]) -> None:
    # smooth(roc, method = "density", n = 512), the default, and n = 4096.
    exact = float(smooth(markers["ndka"], "density", bandwidth="nrd0-pooled").auc)
    assert exact - 0.604461786525 > 4e-4
    assert 0 < exact - 0.604894519502 < (exact - 0.604461786525) / 8


@pytest.mark.parametrize(
    ("marker", "which", "nrd0", "nrd", "sj"),
    [
        ("wfns", "all", 0.542750243720145, 0.639239175937059, 0.0733141732869),
        ("wfns", "Poor", 0.608935193663549, 0.717190339203735, 0.114117495409),
        ("ndka", "all", 2.16309977892421, 2.54765085073295, 1.84581801739),
        ("ndka", "Poor", 3.74548921964834, 4.41135396980805, 2.80058456821),
        ("ndka", "Good", 1.82533234035456, 2.1498358675287, 1.89995443341),
        ("s100b", "all", 0.0626229127794704, 0.0737558750513762, 0.0256348555614),
        ("s100b", "Poor", 0.140615636232532, 0.165613971562759, 0.0871396184914),
        ("s100b", "Good", 0.0256988518782809, 0.0302675366566419, 0.0208630816651),
    ],
)
def test_bandwidths(markers: dict[str, Tally], *, marker: str, which: str, nrd0: float, nrd: float, sj: float) -> None:
    sample = sample_of(markers[marker], which)
    assert normal_reference_bandwidth(sample) == pytest.approx(nrd0, rel=1e-13)
    assert normal_reference_bandwidth(sample, 1.06) == pytest.approx(nrd, rel=1e-13)
    # bw.SJ(x, nb = 1e5, tol = 1e-12); with its defaults R is 1.4% off.
    assert sheather_jones_bandwidth(sample) == pytest.approx(sj, rel=2e-4)


@pytest.mark.parametrize(
    ("marker", "low", "high", "auc"),
    [
        ("ndka", (14.8584722222, 12.7153367216), (28.0892682927, 63.4247301307), 0.851017521367),
        ("s100b", (0.161527777778, 0.129942933225), (0.397073170732, 0.370591115832), 0.831051375176),
    ],
)
def test_normal_fits(
    markers: dict[str, Tally], *, marker: str, low: tuple[float, float], high: tuple[float, float], auc: float
) -> None:
    fit = smooth(markers[marker], "fitdistr")
    assert list(fit.parameters.values()) == pytest.approx([*low, *high], rel=1e-10)
    # pROC cuts both normal densities off at the least and greatest score, and so has a far greater AUC.
    assert float(fit.auc) == pytest.approx(float(ndtr((high[0] - low[0]) / np.hypot(low[1], high[1]))), rel=1e-10)
    assert auc - float(fit.auc) > 0.1


LOG_CONCAVE = [
    # marker, class, knots, mean log-likelihood, points and the distribution function there
    (
        ("ndka", "Good"),
        (3.01, 6.30, 9.63, 80.30),
        -3.34920558340577,
        {6.42: 0.101894461845, 12.22: 0.501819064732, 32.402: 0.944878514475},
    ),
    (
        ("ndka", "Poor"),
        (3.87, 8.38, 419.19),
        -4.18668712127277,
        {6.42: 0.0920484742954, 12.22: 0.2856400015704, 32.402: 0.6925590244831},
    ),
    (
        ("s100b", "Good"),
        (0.04, 0.08, 0.50),
        1.13620836264876,
        {0.07: 0.200731986702, 0.14: 0.532432648578, 0.274: 0.845445750907},
    ),
    (
        ("s100b", "Poor"),
        (0.03, 0.07, 0.74, 2.07),
        0.0223877813860459,
        {0.07: 0.0605112007248, 0.14: 0.2254689102239, 0.516: 0.7304570850246},
    ),
]


@pytest.mark.parametrize(("which", "knots", "likelihood", "points"), LOG_CONCAVE)
def test_log_concave_densities(
    markers: dict[str, Tally],
    *,
    which: tuple[str, str],
    knots: tuple[float, ...],
    likelihood: float,
    points: dict[float, float],
) -> None:
    sample = sample_of(markers[which[0]], which[1])
    fit = fit_log_concave(sample.x, sample.weight)
    assert fit.knots.tolist() == list(knots)
    mean = float(np.average(fit.logpdf(sample.x), weights=sample.weight))
    # logConDens stops a little below the greatest likelihood, and its distribution function is that much off.
    assert 0 <= mean - likelihood < 1e-8
    at, cdf = (np.array(list(each)) for each in (points, points.values()))
    np.testing.assert_allclose(fit.cdf(at), cdf, rtol=0, atol=2e-5)


@pytest.mark.parametrize(
    ("which", "spread", "points"),
    [
        (("ndka", "Good"), 12.8058384809434, {6.42: 0.257264582479, 12.22: 0.448731505656, 32.402: 0.912415143718}),
        (("ndka", "Poor"), 64.2126451873089, {6.42: 0.371692393893, 12.22: 0.406903096044, 32.402: 0.532902503032}),
        (("s100b", "Good"), 0.132418259135831, {0.07: 0.256507412285, 0.14: 0.480321930125, 0.516: 0.989984325698}),
        (("s100b", "Poor"), 0.376164227293719, {0.07: 0.172665007668, 0.14: 0.253064935916, 0.516: 0.695712543854}),
    ],
)
def test_smoothed_log_concave_densities(
    markers: dict[str, Tally], which: tuple[str, str], spread: float, points: dict[float, float]
) -> None:
    sample = sample_of(markers[which[0]], which[1])
    base = fit_log_concave(sample.x, sample.weight)
    fit = SmoothedLogConcave(base, sqrt(spread**2 - base.variance))
    np.testing.assert_allclose(fit.cdf(np.array(list(points))), list(points.values()), rtol=0, atol=3e-5)
    # logConDens divides by one less than the number of distinct values, as if equal scores were one row.
    distinct = len(sample.x)
    ratio = distinct / (distinct - 1) * (sample.rows - 1) / sample.rows
    assert spread == pytest.approx(sample.sd * sqrt(ratio), rel=1e-12)


def test_quantiles_of_logcondens_are_wrong_between_observations(markers: dict[str, Tally]) -> None:
    # quantilesLogConDens(c(.5, .9, .95, .99), fit) of ndka, class Good: there the distribution function of logcondens
    # itself is not .5, .9, .95 and .99. The rise of the log density is multiplied by the gap, once too often.
    sample = sample_of(markers["ndka"], "Good")
    fit = fit_log_concave(sample.x, sample.weight)
    theirs = np.array([12.1883125079, 26.8936245381, 29.0396458334, 47.6445127061])
    np.testing.assert_allclose(
        fit.cdf(theirs), [0.500096927037, 0.899362393123, 0.920387747740, 0.989752733157], rtol=0, atol=2e-5
    )
    share = np.array([0.5, 0.9, 0.95, 0.99])
    np.testing.assert_allclose(fit.cdf(fit.ppf(share)), share, rtol=0, atol=1e-14)
    # The curves of logConROC, and so of pROC, are made of these quantiles: AUC .6825 in place of .6788.
    assert float(smooth(markers["ndka"], "logcondens").auc) == pytest.approx(0.6787549756818994, abs=1e-9)
    assert float(smooth(markers["s100b"], "logcondens").auc) == pytest.approx(0.754486795, abs=1e-3)


def test_smooth_curves_of_logcondens_mix_two_fits(markers: dict[str, Tally]) -> None:
    # logConROC(…)$fROC.smooth at .1, .3 and .5: smoothed positives at quantiles of negatives that are not smoothed.
    curve = smooth(markers["ndka"], "logcondens.smooth")
    assert isinstance(curve.negative, SmoothedLogConcave)
    rates = np.array([0.1, 0.3, 0.5])
    mixed = curve.positive.sf(curve.negative.base.isf(rates))
    np.testing.assert_allclose(mixed, [0.501594809675, 0.564321505192, 0.593291425131], rtol=0, atol=5e-4)
    assert np.abs(curve.tpr(rates) - mixed).max() > 0.01


def test_maximum_likelihood_of_published_ratings() -> None:
    # Hanley and McNeil's ratings of CT images; Stata's manual of `rocfit` prints these estimates and standard errors.
    negative, positive = np.array([33.0, 6, 6, 11, 2]), np.array([3.0, 2, 2, 11, 33])
    fit = fit_binormal(positive, negative)
    assert fit
    assert fit.covariance is not None
    assert (fit.a, fit.b) == pytest.approx((1.656782, 0.713002), abs=2e-6)
    # Stata's errors are those of the observed information, which is not quite the expected one.
    assert np.sqrt(np.diag(fit.covariance)) == pytest.approx((0.310456, 0.215882), rel=6e-3)
    assert float(ndtr(fit.distance)) == pytest.approx(0.911331, abs=1e-6)
    density = np.exp(-(fit.distance**2) / 2) / sqrt(2 * np.pi)
    assert fit.distance_error * density == pytest.approx(0.029506, rel=6e-3)
