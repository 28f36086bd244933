"""Calibrators beside published numbers, scikit-learn and statsmodels."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit
from sklearn.datasets import load_breast_cancer
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from baserate import Calibrator, Tally, calibration, measure, tally

Floats = npt.NDArray[np.float64]
Columns = Callable[[str], dict[str, list[str]]]
EXACT = 0.4986383612484696


@pytest.fixture(scope="session")
def page(columns: Columns) -> tuple[npt.NDArray[np.bool_], Floats]:
    """The rows of the page on prevalence adjustment."""
    result = columns("calzone_prevalence.csv")
    return np.array(result["y"], dtype=float) > 0, np.array(result["p"], dtype=float)


@pytest.fixture(scope="session")
def peers(load_published: Callable[[str], Any]) -> dict[str, Any]:
    result: dict[str, Any] = load_published("calib_peers_reference.json")["before"]
    return result


def values(result: Calibrator) -> dict[str, float]:
    return {each.name: each.value for each in result.parameters}


def test_the_offset_of_the_page(page: tuple[Any, Floats]) -> None:
    t = tally(*page)
    result = calibration.offset(t)
    added, derivation = result.parameters
    assert added.value == pytest.approx(-0.7024979226775016, rel=1e-13)
    assert added.standard_error == pytest.approx(0.0484060, abs=5e-8)
    assert derivation.value == pytest.approx(EXACT, rel=1e-12)
    assert (derivation.low, derivation.high) == pytest.approx((0.47494, 0.52234), abs=5e-6)
    assert derivation.standard_error == pytest.approx(0.0121014186, abs=1e-9)
    after = t.with_scores(result(t.score))
    assert measure.mean_probability(after) == pytest.approx(t.prevalence, rel=1e-13)
    assert measure.brier(after) == pytest.approx(0.1185552747, abs=1e-7)
    assert measure.log_loss(after) == pytest.approx(0.3693996231, abs=1e-7)


def test_temperature_beside_scikit_learn(page: tuple[Any, Floats], peers: dict[str, Any]) -> None:
    result = values(calibration.temperature(tally(*page)))
    # Theirs stops near the maximum; ours is where the slope of the likelihood is 0.
    assert result["slope"] == pytest.approx(peers["sk_temperature_beta(inv T)"], rel=1e-8)
    truth, p = page
    x = logit(p)
    assert (x * (truth - expit(result["slope"] * x))).sum() == pytest.approx(0, abs=1e-8)


def test_platt_beside_scikit_learn(page: tuple[Any, Floats], peers: dict[str, Any]) -> None:
    t = tally(*page)
    for scale, name in (("log-odds", "sk_sigmoid_on_logit a,b"), ("score", "sk_sigmoid_on_prob a,b")):
        result = values(calibration.logistic(t, smoothed=True, scale=scale))  # type: ignore[call-overload]
        a, b = peers[name]  # of 1/(1 + exp(a·x + b))
        assert (result["slope"], result["intercept"]) == pytest.approx((-a, -b), rel=2e-8)


def test_a_logistic_fit_equals_that_of_the_page(page: tuple[Any, Floats]) -> None:
    result = calibration.logistic(tally(*page))
    slope = result.parameters[1]
    assert values(result) == pytest.approx({"intercept": -0.6897839569176842, "slope": 0.9400481147756811}, rel=1e-9)
    assert (slope.low, slope.high) == pytest.approx((0.8754203499, 1.0046758796), abs=1e-9)


@pytest.mark.parametrize("shape", ["abm", "ab", "am"])
def test_beta_is_at_least_as_likely_as_betacal(shape: str, page: tuple[Any, Floats], peers: dict[str, Any]) -> None:
    truth, p = page
    result = calibration.fit(tally(truth, p), "beta", shape=shape)
    a, b, m = peers["betacal_abm map a,b,m" if shape == "abm" else f"betacal_{shape}"]
    form: Any = result.form
    assert (form.a, form.b) == pytest.approx((a, b), rel=2e-3)
    theirs = a * np.log(p) - b * np.log1p(-p) + b * np.log(1 - m) - a * np.log(m)
    ours = logit(result(p))
    likelihood = [log_expit(np.where(truth, x, -x)).sum() for x in (ours, theirs)]
    # They minimise to a few digits; ours is the maximum.
    assert likelihood[0] >= likelihood[1]
    assert likelihood[0] == pytest.approx(likelihood[1], abs=1e-3)


def test_venn_abers_of_new_rows(page: tuple[Any, Floats], peers: dict[str, Any]) -> None:
    truth, p = page
    result = calibration.venn_abers(tally(truth[:2000], p[:2000]))
    low, high = result.bounds(p[2000:2010])
    wanted = np.array(peers["vennabers_fit_first2000_predict_next10_p0p1"])
    assert low == pytest.approx(wanted[:, 0], rel=1e-14, abs=1e-16)
    assert high == pytest.approx(wanted[:, 1], rel=1e-14)
    assert result(p[2000:2010]) == pytest.approx(np.array(peers["vennabers_p"]), rel=1e-14)


def test_isotonic_steps_and_ici_equal_published_values(page: tuple[Any, Floats], peers: dict[str, Any]) -> None:
    truth, p = page
    result = calibration.isotonic(tally(truth, p))(p)
    assert len(np.unique(result)) == peers["iso_n_steps"]
    assert np.abs(result - p).mean() == pytest.approx(peers["iso_ICI(mean|iso-p|)"], rel=1e-12)


def naive() -> tuple[npt.NDArray[np.bool_], Floats]:
    """Overconfident probabilities of real tumours, from every other row."""
    x, y = load_breast_cancer(return_X_y=True)
    model = GaussianNB().fit(x[::2, :4], y[::2])
    return y[1::2] > 0, model.predict_proba(x[1::2, :4])[:, 1]


@pytest.mark.parametrize("weighted", [False, True])
def test_isotonic_beside_scikit_learn(*, weighted: bool) -> None:
    truth, p = naive()
    weight = np.random.default_rng(0).random(len(p)) + 0.1 if weighted else None
    theirs = IsotonicRegression(out_of_bounds="clip").fit(p, truth, sample_weight=weight)
    new = np.linspace(0, 1, 1001)
    result = calibration.isotonic(tally(truth, p, weight=weight))
    assert result(new) == pytest.approx(theirs.predict(new), rel=1e-10, abs=1e-12)


def test_logistic_and_beta_beside_scikit_learn() -> None:
    truth, p = naive()
    p = np.clip(p, 1e-12, 1 - 1e-12)
    t = tally(truth, p)
    result = values(calibration.logistic(t))
    theirs = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(logit(p)[:, None], truth)
    assert result["slope"] == pytest.approx(theirs.coef_[0, 0], rel=1e-5)
    assert result["intercept"] == pytest.approx(theirs.intercept_[0], rel=1e-5)
    both = np.stack([np.log(p), -np.log1p(-p)], axis=1)

    def lost(at: Floats) -> float:
        x = at[0] + both @ at[1:]
        return float(-log_expit(np.where(truth, x, -x)).sum())

    best = minimize(lost, [0, 1, 1], bounds=[(None, None), (0, None), (0, None)], tol=1e-14)
    form: Any = calibration.beta(t).form
    assert lost(np.array([form.c, form.a, form.b])) <= best.fun + 1e-9
    assert (form.c, form.a, form.b) == pytest.approx(tuple(best.x), abs=2e-3)


def test_errors_beside_statsmodels() -> None:
    truth, p = naive()
    p = np.clip(p, 1e-12, 1 - 1e-12)
    t = tally(truth, p)
    first, second = np.log(p), -np.log1p(-p)
    fit = sm.Logit(truth, np.stack([first, second, np.ones(len(p))], axis=1)).fit(disp=0, tol=1e-12)
    result = calibration.beta(t)
    if (fit.params[:2] > 0).all():
        assert [each.standard_error for each in result.parameters[:3]] == pytest.approx(list(fit.bse), rel=1e-6)
    line = sm.Logit(truth, sm.add_constant(logit(p))).fit(disp=0, tol=1e-12)
    assert [each.standard_error for each in calibration.logistic(t).parameters] == pytest.approx(
        list(line.bse), rel=1e-6
    )
    slope = sm.Logit(truth, logit(p)[:, None]).fit(disp=0, tol=1e-12)
    assert calibration.temperature(t).parameters[0].standard_error == pytest.approx(slope.bse[0], rel=1e-6)


def test_an_offset_is_a_logistic_regression_whose_slope_is_held_at_one() -> None:
    truth, p = naive()
    p = np.clip(p, 1e-12, 1 - 1e-12)
    fit = sm.GLM(truth, np.ones((len(p), 1)), family=sm.families.Binomial(), offset=logit(p)).fit(tol=1e-12)
    added = calibration.offset(tally(truth, p)).parameters[0]
    assert added.value == pytest.approx(fit.params[0], rel=1e-9)
    assert added.standard_error == pytest.approx(fit.bse[0], rel=1e-6)


def test_weights_have_the_errors_of_a_sandwich() -> None:
    truth, p = naive()
    p = np.clip(p, 1e-6, 1 - 1e-6)
    weight = np.random.default_rng(1).random(len(p)) + 0.5
    result = calibration.temperature(Tally.of_rows(truth, p, weight=weight))
    x, slope = logit(p), result.parameters[0].value
    q = expit(slope * x)
    bread, meat = (weight * x**2 * q * (1 - q)).sum(), (weight**2 * x**2 * q * (1 - q)).sum()
    assert result.parameters[0].standard_error == pytest.approx(np.sqrt(meat) / bread, rel=1e-6)
