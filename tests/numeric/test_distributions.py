"""Our distributions against those of SciPy, in the middle and in both tails."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from baserate import OptionError
from baserate._numeric.distributions import (
    Beta,
    Distribution,
    Linear,
    LogitNormal,
    Normal,
    Point,
    atoms,
    closed_form_concordance,
    density,
    density_crossings,
    expectation,
    log_density,
    point_mass,
    prob_at_least,
    prob_below,
    quantiles,
    support,
)

PAIRS: dict[str, tuple[Any, Any]] = {
    "rising": (Linear(rising=True), stats.beta(2, 1)),
    "falling": (Linear(rising=False), stats.beta(1, 2)),
    "normal": (Normal(-1.5, 2.5), stats.norm(-1.5, 2.5)),
    "beta": (Beta(2.5, 0.75), stats.beta(2.5, 0.75)),
    "flat": (Beta(1, 1), stats.uniform()),
}
CHANCES = np.array([1e-12, 1e-6, 0.01, 0.3, 0.5, 0.7, 0.99])


@pytest.mark.parametrize("name", PAIRS)
def test_distributions_equal_those_of_scipy(name: str) -> None:
    ours, theirs = PAIRS[name]
    x = np.concatenate([theirs.ppf(CHANCES), theirs.isf(CHANCES), [-20.0, 20.0]])
    for method in ("pdf", "cdf", "sf"):
        np.testing.assert_allclose(getattr(ours, method)(x), getattr(theirs, method)(x), rtol=1e-11, atol=1e-300)
    with np.errstate(divide="ignore"):  # SciPy warns
        np.testing.assert_allclose(log_density(ours, x), theirs.logpdf(x), rtol=1e-10, atol=1e-12)
    for method in ("ppf", "isf"):
        np.testing.assert_allclose(getattr(ours, method)(CHANCES), getattr(theirs, method)(CHANCES), rtol=1e-9)


ALL: dict[str, Distribution] = {name: ours for name, (ours, _) in PAIRS.items()}
ALL |= {"logit": LogitNormal(0.5, 1.5), "tight": Beta(300, 200), "u": Beta(0.6, 0.7)}


@pytest.mark.parametrize("name", ALL)
def test_quantiles_invert_tails(name: str) -> None:
    ours = ALL[name]
    small = 10.0 ** -np.arange(1, 100, 7)
    np.testing.assert_allclose(ours.cdf(ours.ppf(small)), small, rtol=1e-9)
    upper = ours.isf(CHANCES)
    inside = upper < 1 - 1e-9 if support(ours)[1] == 1 else np.full(len(upper), fill_value=True)
    np.testing.assert_allclose(ours.sf(upper)[inside], CHANCES[inside], rtol=1e-6)
    np.testing.assert_allclose(ours.sf(upper) + ours.cdf(upper), 1, rtol=1e-15)
    assert ours.cdf(ours.ppf(0.0)) == 0 == ours.sf(ours.isf(0.0))


@pytest.mark.parametrize("name", ALL)
def test_densities_are_derivatives(name: str) -> None:
    ours = ALL[name]
    x = ours.ppf(np.linspace(0.05, 0.95, 19))
    step = 1e-5 * np.min(np.diff(x))
    np.testing.assert_allclose((ours.cdf(x + step) - ours.cdf(x - step)) / (2 * step), density(ours, x), rtol=1e-5)
    np.testing.assert_allclose(np.exp(log_density(ours, x)), density(ours, x), rtol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_samples_follow_the_distribution(name: str) -> None:
    ours, many = ALL[name], 20_000
    sample = np.sort(ours.rvs(size=many, random_state=np.random.default_rng(3)))
    gap = np.max(np.abs(ours.cdf(sample) - (np.arange(many) + 0.5) / many))
    assert gap < np.sqrt(np.log(2 / 1e-6) / (2 * many))  # Massart's bound, at level 1e-6
    again = ours.rvs(size=many, random_state=np.random.default_rng(3))
    np.testing.assert_array_equal(np.sort(again), sample)


def test_densities_are_0_outside_the_support() -> None:
    for ours in (Linear(rising=True), Linear(rising=False), Beta(2, 3), LogitNormal(0, 1)):
        assert support(ours) == (0, 1)
        assert density(ours, np.array([-0.5, 1.5])).tolist() == [0, 0]
        assert [float(each) for each in (ours.sf(-1.0), ours.cdf(-1.0), ours.sf(2.0), ours.cdf(2.0))] == [1, 0, 0, 1]
    assert support(Normal(0, 1)) == (-np.inf, np.inf)
    assert Normal(0, 1).pdf(1e200) == 0


def test_far_quantiles_of_beta_distributions_are_accurate() -> None:
    chances: Any = 10.0 ** -np.arange(1, 290)
    for a, b in [(1.01, 0.74), (3.35, 0.49), (8.97, 1.52), (2.61, 3.1), (0.86, 8.79)]:
        lower, upper = Beta(a, b).ppf(chances), Beta(a, b).isf(chances)
        assert (np.diff(lower) <= 0).all()
        assert (np.diff(upper) >= 0).all()
        inside = lower > 1e-300
        np.testing.assert_allclose(Beta(a, b).cdf(lower[inside]), chances[inside], rtol=1e-11)


def test_a_point_is_an_atom() -> None:
    point = Point(2.0)
    x = np.array([1.0, 2.0, 3.0, np.inf, -np.inf])
    assert prob_at_least(point, x).tolist() == [1, 1, 0, 0, 1]
    assert prob_below(point, x).tolist() == [0, 0, 1, 1, 0]
    assert point_mass(point, x).tolist() == [0, 1, 0, 0, 0]
    assert density(point, x).tolist() == [0] * 5
    assert (log_density(point, x) == -np.inf).all()
    assert (atoms(point).tolist(), support(point)) == ([2], (2, 2))
    assert point.ppf(CHANCES).tolist() == point.isf(CHANCES).tolist() == [2] * len(CHANCES)
    assert point.rvs(size=3, random_state=np.random.default_rng(0)).tolist() == [2] * 3


def test_a_lattice_of_scipy_has_atoms() -> None:
    coins = stats.binom(4, 0.5)
    assert atoms(coins).tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(prob_at_least(coins, np.array([2.0, 2.5, 5.0])), [11 / 16, 5 / 16, 0], rtol=1e-14)
    np.testing.assert_allclose(prob_below(coins, np.array([2.0, 2.5, -np.inf])), [5 / 16, 11 / 16, 0], rtol=1e-14)
    assert expectation(coins, lambda x: x, np.empty(0)) == pytest.approx(2, rel=1e-14)


def test_expectations() -> None:
    steep = np.array([0.25])  # a corner of the function
    assert expectation(Linear(rising=True), lambda x: x**2, np.empty(0)) == pytest.approx(0.5, rel=0, abs=1e-15)
    assert expectation(Beta(1, 1), lambda x: np.abs(x - 0.25), steep) == pytest.approx(0.3125, rel=0, abs=1e-15)
    assert expectation(Normal(1, 2), np.tanh, np.empty(0)) == pytest.approx(
        stats.norm(1, 2).expect(np.tanh, epsabs=1e-12), rel=0, abs=1e-10
    )


def test_far_quantiles_are_exact() -> None:
    far = quantiles(Normal(0, 1), np.array([-600.0, 0.0, 600.0]))
    np.testing.assert_allclose(far, [-far[2], 0, far[2]], rtol=1e-15)
    assert Normal(0, 1).sf(far[0]) == pytest.approx(np.exp(-600), rel=1e-10)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (Beta(1, 4), Beta(1, 1)),
        (Beta(1.5, 3), Beta(2.5, 0.7)),
        (Beta(2, 0.9), Beta(3.3, 1.1)),
        (Beta(0.8, 1.7), Beta(1.2, 3)),
        (Beta(30, 20), Beta(35, 21)),
        (Normal(0, 1), Normal(2, 3)),
        (LogitNormal(0, 1), LogitNormal(-2, 0.5)),
        (Linear(rising=False), Linear(rising=True)),
        (Linear(rising=True), Linear(rising=True)),
    ],
)
def test_formulas_of_concordance(low: Distribution, high: Distribution) -> None:
    known = closed_form_concordance(low, high)
    assert known is not None
    knots = quantiles(high, np.linspace(-20, 20, 11))
    assert expectation(low, lambda x: prob_at_least(high, x), knots) == pytest.approx(known, rel=0, abs=5e-14)
    other = closed_form_concordance(high, low)
    assert other is not None
    assert known + other == pytest.approx(1, rel=0, abs=1e-14)


def test_unknown_concordances_are_none() -> None:
    assert closed_form_concordance(Beta(1.5, 2.5), Beta(2.5, 1.5)) is None
    assert closed_form_concordance(Normal(0, 1), Beta(1, 1)) is None
    assert density_crossings(Beta(1, 2), Beta(2, 1), 1.0) is None


@pytest.mark.parametrize("sds", [(1, 1), (1, 2), (2, 1), (1, 1 + 1e-9)])
@pytest.mark.parametrize("ratio", [0.1, 1.0, 7.0])
def test_densities_cross_at_the_ratio(sds: tuple[float, float], ratio: float) -> None:
    low, high = Normal(0.5, sds[0]), Normal(2.0, sds[1])
    for at in density_crossings(low, high, ratio) or []:
        np.testing.assert_allclose(high.pdf(at), ratio * low.pdf(at), rtol=1e-12)
        assert high.pdf(at + 1e-6) > ratio * low.pdf(at + 1e-6)  # the density of `high` rises through it
    logit = density_crossings(LogitNormal(0.5, sds[0]), LogitNormal(2.0, sds[1]), ratio)
    np.testing.assert_allclose(logit or [], stats.logistic.cdf(density_crossings(low, high, ratio) or []), rtol=1e-14)


def test_normal_densities_may_not_cross() -> None:
    assert density_crossings(Normal(0, 1), Normal(0, 2), 0.4) == []  # never below ½
    assert density_crossings(Normal(0, 2), Normal(0, 1), 2.5) == []  # never above 2
    assert density_crossings(Normal(0, 1), Normal(0, 1), 2.0) == []
    assert len(density_crossings(Normal(3, 1), Normal(0, 2), 0.4) or []) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Normal(0, 0), "standard deviation 0; give finite numbers, the second above 0"),
        (lambda: LogitNormal(np.inf, 1), "a mean of inf"),
        (lambda: Beta(0, 1), r"a beta distribution of \(0, 1\); give two numbers above 0"),
        (lambda: Point(np.nan), "a point at nan; give a finite number"),
    ],
)
def test_invalid_distributions_raise(make: object, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        make()  # type: ignore[operator]
