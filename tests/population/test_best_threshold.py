"""Best thresholds: inside, at ends, on plateaus, at limits; and thresholds at which a measure has a value."""

from math import inf, log, nextafter, sqrt
from typing import Any

import numpy as np
import pytest
from scipy import stats

from baserate import Costs, Counts, OptionError, Population, UnknownNameError, curve, measure, population, tally
from baserate.measure import MEASURES, describe
from baserate.population._best_threshold import scan_thresholds, slope
from tests.tiers import some, take_in_tiers

TABLE_MEASURES = [name for name, each in MEASURES.items() if describe(each).of is Counts and describe(each).best]

POPULATIONS = {
    "linear": population.linear(prevalence=0.3),
    "equal": population.binormal(means=(0, 1.5), prevalence=0.1),
    "wide": population.binormal(means=(0, 1), sds=(1, 2), prevalence=0.4),
    "narrow": population.binormal(means=(0, 1), sds=(2, 1), prevalence=0.4),
    "reversed": population.binormal(means=(1, 0), prevalence=0.4),
    "beta": population.beta(negative=(1.3, 2.7), positive=(2.5, 1.2), prevalence=0.05),
    "er": population.retrieval("ER+", prevalence=0.1),
    "random": population.retrieval("random", prevalence=0.2),
    "perfect": population.retrieval("perfect"),
    "overlap": Population(stats.uniform(0, 1), stats.uniform(0.5, 1), 0.4),
    "gap": Population(stats.uniform(0, 1), stats.uniform(2, 1), 0.4),
    "lattice": Population(stats.binom(5, 0.3), stats.binom(5, 0.6), 0.4),
    "mixed": Population(stats.norm(0, 1), stats.binom(3, 0.5), 0.4),
}


SLOW_LIMITS = {("sedi", which) for which in ("linear", "equal", "beta")}
"""Measures that approach their highest value as a logarithm does, at an end that no float is close to."""


@pytest.mark.quick(30)
@pytest.mark.parametrize("which", take_in_tiers(POPULATIONS, some(POPULATIONS, 4)))
@pytest.mark.parametrize("name", TABLE_MEASURES)
def test_no_scanned_threshold_is_better_than_the_best(name: str, which: str) -> None:
    actual, function = POPULATIONS[which], MEASURES[name]
    sign = 1 if describe(function).best == "high" else -1
    finite = (edges := scan_thresholds(actual))[np.isfinite(edges)]
    scanned = np.concatenate([edges, (finite[1:] + finite[:-1]) / 2, np.linspace(-5, 5, 2001)])
    values = sign * np.asarray(function(actual.at(scanned)))
    highest = np.max(values[np.isfinite(values)], initial=-inf)  # infinities never win a search
    if highest == -inf or highest > 1e6:
        with pytest.raises(OptionError, match=r"grows without bound|undefined or infinite at every threshold"):
            population.best_threshold(actual, name)
        return
    if (name, which) in SLOW_LIMITS:
        with pytest.raises(
            OptionError, match=r"sedi grows ever more slowly towards a threshold of (0|inf), so no thresh"
        ):
            population.best_threshold(actual, name)
        return
    result = population.best_threshold(actual, name)
    top = sign * result.value
    assert highest <= top or highest == pytest.approx(top, rel=1e-13, abs=1e-13)
    assert result.has_infinities == bool((values == inf).any())
    if result.attained:
        assert function(actual.at(result.threshold)) == pytest.approx(result.value, rel=1e-14)
    else:
        assert np.isnan(function(result.counts))
        assert result.at_end
    assert result.measure == name


@pytest.mark.quick(8)
@pytest.mark.parametrize("name", ["f1", "mcc", "kappa", "accuracy", "g_mean", "fowlkes_mallows", "jaccard", "borko"])
@pytest.mark.parametrize("which", ["equal", "wide", "beta", "er"])
def test_the_slope_vanishes_at_the_best(name: str, which: str) -> None:
    actual = POPULATIONS[which]
    result = population.best_threshold(actual, name)
    change, size, _ = slope(actual, MEASURES[name], np.array([result.threshold]))
    assert result.at_end or abs(change[0]) < 1e-11 * size[0]


@pytest.mark.parametrize("which", take_in_tiers(["linear", "equal", "wide", "beta"], 2))
@pytest.mark.parametrize("name", TABLE_MEASURES)
def test_slopes_are_those_of_finite_differences(name: str, which: str) -> None:
    actual, function = POPULATIONS[which], MEASURES[name]
    t = np.linspace(0.2, 0.8, 7)
    rise = (np.asarray(function(actual.at(t + 1e-6))) - np.asarray(function(actual.at(t - 1e-6)))) / 2e-6
    result, size, _ = slope(actual, function, t)
    np.testing.assert_allclose(result, rise, rtol=1e-5, atol=1e-6 * float(np.max(size)))
    # A function without complex numbers gets the same slope by finite differences.
    real, _, _ = slope(actual, lambda counts: np.asarray(function(counts)).real * 1.0, t)
    np.testing.assert_allclose(real, result, rtol=1e-10, atol=1e-10 * float(np.max(size)))


def test_binormal_thresholds_in_closed_form() -> None:
    # Equal spread: log LR = d·(t − d/2), so t = d/2 + log(slope)/d.
    for d, share, costs in [(1.0, 0.5, Costs()), (2.0, 0.1, Costs()), (1.5, 0.02, Costs(fp=1, fn=20, tp=2))]:
        result = population.binormal(means=(0, d), prevalence=share)
        t = d / 2 + log(costs.slope(share)) / d
        assert population.least_cost_threshold(result, costs).threshold == pytest.approx(t, rel=1e-14)
        assert population.best_threshold(result, "expected_cost", costs=costs).threshold == pytest.approx(t, rel=1e-13)
    accurate = population.best_threshold(population.binormal(means=(0, 2), prevalence=0.1), "accuracy")
    assert accurate.threshold == pytest.approx(1 + log(9) / 2, rel=1e-14)
    wanted = 0.9 * stats.norm.cdf(1 + log(9) / 2) + 0.1 * stats.norm.sf(log(9) / 2 - 1)
    assert accurate.value == pytest.approx(wanted, rel=0, abs=1e-15)


@pytest.mark.quick(6)
@pytest.mark.parametrize("sds", [(1.0, 2.0), (2.0, 1.0), (1.0, 1.05)])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("costs", [Costs(), Costs(fp=3, fn=1)])
def test_unequal_spread_takes_the_cheaper_root(sds: tuple[float, float], share: float, costs: Costs) -> None:
    for result in (
        population.binormal(means=(0, 1), sds=sds, prevalence=share),
        population.logit_normal(means=(0, 1), sds=sds, prevalence=share),
    ):
        closed, searched = (
            population.least_cost_threshold(result, costs),
            population.best_threshold(result, "expected_cost", costs=costs),
        )
        assert closed.value == pytest.approx(searched.value, rel=1e-14)
        if not closed.at_end:
            assert closed.threshold == pytest.approx(searched.threshold, rel=1e-13)
            assert result.likelihood_ratio(closed.threshold) == pytest.approx(costs.slope(share), rel=1e-11)


def test_an_optimum_below_rounding_of_the_value_is_found() -> None:
    # The optimum is better by 1e-98, below rounding of the accuracy; the slope shows it.
    result = population.binormal(prevalence=1e-9)
    t = 0.5 + log(1 / 1e-9 - 1)
    assert population.best_threshold(result, "accuracy").threshold == pytest.approx(t, rel=1e-14)
    assert population.least_cost_threshold(result).threshold == pytest.approx(t, rel=1e-14)


def test_costs_that_favor_an_end() -> None:
    result = population.binormal(means=(0, 0.1), sds=(2, 1), prevalence=0.01)
    assert population.least_cost_threshold(result).threshold == inf
    free = population.least_cost_threshold(population.linear(), Costs(fp=0, fn=1))
    assert (free.threshold, free.value, free.at_end) == (0, 0, True)
    paid = population.least_cost_threshold(population.binormal(), Costs(fp=-1, fn=1))  # false alarms are a gain
    assert (paid.threshold, paid.value, paid.at_end) == (-inf, -0.5, True)
    assert population.least_cost_threshold(population.beta()).threshold == pytest.approx(0.5, rel=1e-14)
    perverse = Costs(fp=-1, fn=-1)
    worst = population.least_cost_threshold(population.binormal(), perverse)
    assert worst.at_end
    assert worst.value == -0.5


def test_ends_plateaus_and_limits() -> None:
    def search(which: str, name: str) -> tuple[float, float, bool, bool]:
        best = population.best_threshold(POPULATIONS[which], name)
        return best.threshold, round(best.value, 12), best.attained, best.at_end

    assert search("linear", "sensitivity") == (0, 1, True, True)
    assert search("equal", "sensitivity") == (-inf, 1, True, True)
    assert search("linear", "specificity") == (inf, 1, True, True)
    assert search("linear", "npv") == (0, 1, False, True)
    assert search("er", "npv") == (0, round(3.6 / 3.7, 12), False, True)  # of the densities at 0
    with pytest.raises(OptionError, match="positive_likelihood_ratio grows without bound towards a threshold of 1, so"):
        population.best_threshold(POPULATIONS["linear"], "positive_likelihood_ratio")
    assert search("linear", "fdr") == (1, 0, False, True)
    assert search("random", "accuracy") == (inf, 0.8, True, True)
    assert search("random", "kappa") == (inf, 0, True, True)
    assert search("reversed", "youden") == (inf, 0, True, True)
    assert search("perfect", "f1") == (1, 1, True, False)
    assert search("gap", "accuracy") == (2, 1, True, False)  # all of [1, 2] are equally good; the strictest wins
    assert search("overlap", "precision") == (nextafter(1.5, 0), 1, True, False)  # the last threshold that flags some
    assert search("lattice", "accuracy")[0] == 3


@pytest.mark.slow
def test_constant_measures_are_best_at_the_strictest_threshold() -> None:
    result = POPULATIONS["random"]
    for name in ("precision", "mcc", "lift"):
        best = population.best_threshold(result, name)
        assert best.attained
        assert best.threshold > 30
    # Precision plus negative predictive value is constant for this population.
    flat = population.best_threshold(population.linear(), "markedness")
    assert flat.value == pytest.approx(0.5, rel=0, abs=1e-14)
    assert flat.threshold > 0.999


class _TwoHills:
    """Mixture of two normal distributions, with quantiles by bisection of whole arrays."""

    weights, parts = (0.4, 0.6), (stats.norm(-2, 0.5), stats.norm(2, 0.5))

    def _mix(self, name: str, x: Any) -> Any:  # noqa: ANN401
        return sum(w * getattr(part, name)(x) for w, part in zip(self.weights, self.parts, strict=True))

    def pdf(self, x: Any) -> Any:  # noqa: ANN401
        return self._mix("pdf", x)

    def cdf(self, x: Any) -> Any:  # noqa: ANN401
        return self._mix("cdf", x)

    def sf(self, x: Any) -> Any:  # noqa: ANN401
        return self._mix("sf", x)

    def ppf(self, q: Any) -> Any:  # noqa: ANN401
        return self._bisect(lambda x: self.cdf(x) < q, q)

    def isf(self, q: Any) -> Any:  # noqa: ANN401
        return self._bisect(lambda x: self.sf(x) > q, q)

    def _bisect(self, below: Any, q: Any) -> Any:  # noqa: ANN401
        low, high = np.full(np.shape(q), -60.0), np.full(np.shape(q), 60.0)
        for _ in range(100):
            middle = (low + high) / 2
            low, high = np.where(below(middle), middle, low), np.where(below(middle), high, middle)
        return np.where(np.equal(q, 0) | np.equal(q, 1), np.where(below(0.0), np.inf, -np.inf), high)

    def rvs(self, *, size: int, random_state: np.random.Generator) -> Any:  # noqa: ANN401
        return self.ppf(random_state.random(size))


@pytest.mark.slow
def test_a_measure_with_two_peaks() -> None:
    result = Population(stats.norm(0, 0.5), _TwoHills(), 0.5)
    assert population.best_threshold(result, "accuracy").threshold == pytest.approx(1, abs=0.1)
    assert population.best_threshold(result.at_prevalence(0.97), "accuracy").threshold < -2


@pytest.mark.slow
def test_a_measure_with_two_peaks_of_a_new_scipy_distribution() -> None:
    hills = stats.Mixture([stats.Normal(mu=-2, sigma=0.5), stats.Normal(mu=2, sigma=0.5)], weights=[0.4, 0.6])
    result = Population(stats.norm(0, 0.5), _FrozenAdapter(hills), 0.5)
    best = population.best_threshold(result, "accuracy")
    assert best.threshold == pytest.approx(1, abs=0.1)
    lower = population.best_threshold(result.at_prevalence(0.97), "accuracy")
    assert lower.threshold < -2


class _FrozenAdapter:
    """A distribution of SciPy's new infrastructure with the methods of the old one."""

    def __init__(self, mixture: Any) -> None:  # noqa: ANN401
        self.pdf, self.cdf, self.sf = mixture.pdf, mixture.cdf, mixture.ccdf
        self.ppf, self.isf = (np.vectorize(lambda q, f=f: f(q)) for f in (mixture.icdf, mixture.iccdf))

    def rvs(self, *, size: int, random_state: np.random.Generator) -> Any:  # noqa: ANN401
        return self.ppf(random_state.random(size))


def test_custom_functions() -> None:
    result = population.linear(prevalence=2 / 3)
    cornered = population.best_threshold(
        result, lambda c: np.minimum(measure.sensitivity(c), measure.precision(c)), toward="high"
    )
    (crossing,) = population.find_thresholds(result, "sensitivity", "precision")
    assert cornered.threshold == pytest.approx(crossing, rel=0, abs=1e-12)
    assert cornered.threshold == pytest.approx(sqrt(2) - 1, rel=0, abs=1e-12)
    assert cornered.measure == "<lambda>"
    assert population.best_threshold(result, "f_beta", beta=2).value == pytest.approx(
        1 - population.best_threshold(result, "e_measure", beta=2).value, rel=1e-14
    )
    assert population.best_threshold(result, "flag_rate", toward="low").threshold == inf


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: population.best_threshold(population.linear(), "f11"),
            UnknownNameError,
            "no measure 'f11'. Did you mean 'f1'",
        ),
        (
            lambda: population.best_threshold(population.linear(), "flag_rate"),
            OptionError,
            "neither end of flag_rate is the better",
        ),
        (
            lambda: population.best_threshold(population.linear(), lambda c: c.tp),
            OptionError,
            "toward='high' or toward='low'",
        ),
        (
            lambda: population.best_threshold(population.linear(), "auc"),
            OptionError,
            "auc has one value for a whole curve",
        ),
        (
            lambda: population.best_threshold(population.linear(prevalence=0), "mcc"),
            OptionError,
            "undefined at every threshold",
        ),
        (
            lambda: population.best_threshold(tally([0, 1], [1, 2]), "f1"),  # type: ignore[arg-type]
            OptionError,
            "Tally is not a Population; make one",
        ),
        (
            lambda: population.least_cost_threshold(curve(tally([0, 1], [1, 2]))),  # type: ignore[arg-type]
            OptionError,
            "Curve is not a Population",
        ),
    ],
)
def test_measures_without_a_best_threshold_raise(call: Any, error: type[Exception], message: str) -> None:  # noqa: ANN401
    with pytest.raises(error, match=message):
        call()


@pytest.mark.slow
def test_thresholds_of_given_values() -> None:
    linear = population.linear()
    up, down = population.find_thresholds(linear, "f1", 0.7)
    # 1 − t² = 0.7·(1.5 − t).
    assert [up, down] == pytest.approx([(0.7 + sqrt(0.29)) / 2, (0.7 - sqrt(0.29)) / 2], rel=0, abs=1e-14)
    assert population.find_thresholds(linear, "f1", 0.9) == ()
    assert population.find_thresholds(linear, "mcc", 0.5) == (0.5,)  # touched at its peak
    assert population.find_thresholds(linear, "sensitivity", 1) == (0,)  # not where rounding makes it 1
    assert population.find_thresholds(linear, "specificity", 1.0) == (inf,)
    assert population.find_thresholds(population.binormal(), "sensitivity", 1) == (-inf,)
    assert population.find_thresholds(population.retrieval("perfect"), "sensitivity", 1) == (1,)
    assert population.find_thresholds(population.retrieval("random"), "youden", 0) == (inf,)
    assert population.find_thresholds(linear, "f_beta", 0.7, beta=1) == (up, down)
    assert population.find_thresholds(linear, "precision", 1.0) == ()  # approached, but not attained
    assert population.find_thresholds(linear, "npv", 1.0) == ()


def test_values_between_atoms_have_no_threshold() -> None:
    lattice = POPULATIONS["lattice"]
    assert population.find_thresholds(lattice, "sensitivity", 0.5) == ()
    exact = float(measure.sensitivity(lattice.at(3.0)))
    assert population.find_thresholds(lattice, "sensitivity", exact) == (3,)


SCIPY_DISTRIBUTIONS: dict[str, tuple[Any, Any]] = {
    "infinite density": (stats.weibull_min(0.5), stats.weibull_min(1.5)),
    "heavy tails": (stats.cauchy(), stats.cauchy(2)),
    "long lattice": (stats.poisson(1000), stats.poisson(1100)),
    "shifted lattice": (stats.binom(5, 0.3, loc=0.25), stats.binom(5, 0.6, loc=0.25)),
    "far apart": (stats.norm(0, 1), stats.norm(60, 1)),
    "very narrow": (stats.norm(0, 1), stats.norm(1, 1e-6)),
    "far out": (stats.norm(1e6, 1), stats.norm(1e6 + 1, 1)),
    "tiny": (stats.norm(0, 1e-12), stats.norm(1e-12, 1e-12)),
}


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", SCIPY_DISTRIBUTIONS)
def test_distributions_of_scipy_are_accepted(name: str) -> None:
    result = Population(*SCIPY_DISTRIBUTIONS[name], prevalence=0.3)
    c = curve(tally(*result.draw(50_000, 3)))
    assert result.auc == pytest.approx(measure.auc(c), abs=0.01)
    assert result.average_precision == pytest.approx(measure.average_precision(c), abs=0.01)
    for each in ("f1", "mcc", "accuracy"):
        assert population.best_threshold(result, each).value == pytest.approx(
            np.nanmax(measure.table(c, each)[each]), abs=0.02
        )


@pytest.mark.slow
def test_tails_of_rounding_errors_are_ignored() -> None:
    # SciPy's triangles lose their digits near 1, where the likelihood ratio is 4 throughout.
    result = Population(stats.triang(0.2), stats.triang(0.8), 0.3)
    assert population.best_threshold(result, "precision").value == pytest.approx(0.3 * 4 / (0.3 * 4 + 0.7), rel=1e-5)


def test_infinities_never_win() -> None:
    steps = Population(stats.randint(0, 3), stats.randint(1, 5), 0.4)  # 0, 1, 2 against 1, 2, 3, 4
    result = population.best_threshold(steps, "diagnostic_odds_ratio")
    # At 3 and 4 no negative is flagged, and at 1 no positive is missed. The ratio at 2 is (3/4·2/3)/(1/4·1/3).
    assert (result.threshold, round(result.value, 12), result.has_infinities) == (2, 6, True)
    note = "thresholds with an infinite diagnostic odds ratio were skipped: infinities are never best."
    assert population.summary(steps, "diagnostic_odds_ratio").data["notes"] == [note]
    assert population.summary(steps, "f1").data["notes"] == []
    with np.errstate(divide="ignore"):
        low = population.best_threshold(steps, lambda counts: -1 / np.abs(counts.fp), toward="low")
    assert low.value == pytest.approx(-5)  # where a third of the negatives are flagged
    assert low.has_infinities


def test_unbounded_measures_have_no_best_threshold() -> None:
    uniform = Population(stats.uniform(0, 1), stats.uniform(0.5, 1), 0.3)
    with pytest.raises(OptionError, match="diagnostic_odds_ratio grows without bound towards a threshold of"):
        population.best_threshold(uniform, "diagnostic_odds_ratio")
    row = population.summary(population.binormal(), "diagnostic_odds_ratio").rows()[0]
    assert row["value"] is None
    assert row["why"].startswith("diagnostic_odds_ratio grows without bound towards a threshold of inf")
    with pytest.raises(OptionError, match="diagnostic_odds_ratio is undefined or infinite at every threshold"):
        population.best_threshold(population.retrieval("perfect"), "diagnostic_odds_ratio")
