"""Laws of all populations."""

import numpy as np
import pytest
from hypothesis import given, reject, settings, strategies as st
from scipy import stats
from scipy.integrate import quad
from scipy.special import expit

from baserate import Costs, Population, measure, population
from baserate._numeric.distributions import Beta, Linear, LogitNormal, Normal

real = st.floats(-3, 3)
spread = st.floats(0.2, 4)
shape = st.floats(0.6, 8)
share = st.floats(0.01, 0.99)


@st.composite
def binormals(draw: st.DrawFn) -> Population:
    return population.binormal(means=(draw(real), draw(real)), sds=(draw(spread), draw(spread)), prevalence=draw(share))


@st.composite
def betas(draw: st.DrawFn) -> Population:
    return population.beta(
        negative=(draw(shape), draw(shape)), positive=(draw(shape), draw(shape)), prevalence=draw(share)
    )


lines = share.map(lambda each: population.linear(prevalence=each))
populations = binormals() | betas() | lines


def from_scipy(made: Population) -> Population:
    """The same, of distributions whose formulas we do not know."""

    def theirs(each: object) -> object:
        match each:
            case Normal(mean, sd):
                return stats.norm(mean, sd)
            case Beta(a, b):
                return stats.beta(a, b)
            case Linear(rising):
                return stats.beta(2, 1) if rising else stats.beta(1, 2)
        raise AssertionError(each)

    return Population(theirs(made.negative), theirs(made.positive), made.prevalence)  # type: ignore[arg-type]


def score_at_quantile(made: Population, chance: float) -> float:
    """A score that everybody may have."""
    return float(made.positive.ppf(chance) / 2 + made.negative.ppf(chance) / 2)


@given(populations, st.lists(st.floats(-5, 5), min_size=2, max_size=20))
def test_cells_add_up_to_one(made: Population, thresholds: list[float]) -> None:
    counts = made.at(np.sort(thresholds)[::-1])
    np.testing.assert_allclose(counts.total, 1, rtol=1e-14)
    np.testing.assert_allclose(counts.positives, made.prevalence, rtol=1e-14)
    assert (np.diff(counts.tp) >= 0).all()
    assert (np.diff(counts.fp) >= 0).all()
    one = made.at(thresholds[0])
    assert (one.swap_classes().tn, one.swap_classes().fn) == (one.tp, one.fp)


@given(populations)
def test_formulas_agree_with_integrals(made: Population) -> None:
    theirs = from_scipy(made)
    # Where much crowds below 1, floats cannot hold their scores; ours are worked out as log-odds.
    crowded = any(isinstance(each, Beta) and min(each.a, each.b) < 1 for each in (made.negative, made.positive))
    near = 1e-8 if crowded else 1e-12
    assert made.auc == pytest.approx(theirs.auc, rel=0, abs=near)
    assert made.average_precision == pytest.approx(theirs.average_precision, rel=0, abs=near)
    assert made.d_prime == pytest.approx(theirs.d_prime, rel=1e-6, abs=1e-9) or made.auc > 1 - 1e-9


@given(populations, st.floats(0.02, 0.98))
def test_the_auc_is_the_probability_of_the_right_order(made: Population, chance: float) -> None:
    # P(s₊ > s₋) as an integral over scores, and the area under the curve of exact points.
    low, high = made.negative.ppf(1e-13), made.negative.isf(1e-13)
    marks = [float(made.positive.ppf(q)) for q in (0.001, 0.25, 0.5, 0.75, 0.999)]
    inside = [mark for mark in marks if low < mark < high]
    result, _ = quad(lambda x: float(made.negative.pdf(x) * made.positive.sf(x)), low, high, points=inside, limit=400)  # type: ignore[attr-defined]
    assert result == pytest.approx(made.auc, rel=0, abs=1e-6)
    assert Population(made.positive, made.negative, chance).auc == pytest.approx(1 - made.auc, rel=0, abs=1e-12)


@given(populations, st.floats(0.02, 0.98))
def test_the_slope_of_the_roc_curve_is_the_likelihood_ratio(made: Population, chance: float) -> None:
    t = score_at_quantile(made, chance)
    step = 1e-6 * min(float(each.ppf(0.75) - each.ppf(0.25)) for each in (made.negative, made.positive))
    rise = made.tpr(t - step) - made.tpr(t + step)
    run = made.fpr(t - step) - made.fpr(t + step)
    slope = made.likelihood_ratio(t)
    # Both differences lose what they share.
    if min(rise, run) > 1e-8:
        assert rise / run == pytest.approx(slope, rel=1e-4)
    odds = made.prevalence / (1 - made.prevalence) * slope
    assert made.posterior(t) == pytest.approx(odds / (1 + odds), rel=1e-10)


@given(populations, st.floats(0.05, 0.95))
def test_the_posterior_is_calibrated(made: Population, chance: float) -> None:
    # The mean posterior of the flagged is their precision; of all, the prevalence.
    t = score_at_quantile(made, chance)
    high = max(float(each.isf(1e-12)) for each in (made.negative, made.positive))
    bend = [float(each.ppf(q)) for each in (made.negative, made.positive) for q in (0.01, 0.25, 0.5, 0.75, 0.99)]
    inside = sorted(mark for mark in bend if t < mark < high)
    true, _ = quad(lambda x: made.posterior(x) * made.density(x), t, high, points=inside, limit=400)
    assert true == pytest.approx(made.at(t).tp, rel=1e-5, abs=1e-7)


@pytest.mark.slow
@given(binormals(), st.floats(-4, 4))
def test_a_monotone_change_of_scores_changes_no_curve(made: Population, t: float) -> None:
    low, high = made.negative, made.positive
    assert isinstance(low, Normal)
    assert isinstance(high, Normal)
    squeezed = Population(LogitNormal(low.mean, low.sd), LogitNormal(high.mean, high.sd), made.prevalence)
    for cell in ("tp", "fp", "fn", "tn"):
        assert getattr(squeezed.at(float(expit(t))), cell) == pytest.approx(getattr(made.at(t), cell), rel=1e-9)
    assert squeezed.auc == made.auc
    assert squeezed.average_precision == pytest.approx(made.average_precision, rel=0, abs=1e-10)
    one, two = population.best_threshold(made, "mcc"), population.best_threshold(squeezed, "mcc")
    assert one.value == pytest.approx(two.value, rel=1e-10)


@given(binormals(), st.floats(0.1, 10), real)
def test_best_thresholds_move_with_the_scores(made: Population, scale: float, shift: float) -> None:
    low, high = made.negative, made.positive
    assert isinstance(low, Normal)
    assert isinstance(high, Normal)
    moved = population.binormal(
        means=(shift + scale * low.mean, shift + scale * high.mean),
        sds=(scale * low.sd, scale * high.sd),
        prevalence=made.prevalence,
    )
    one, two = population.best_threshold(made, "f1"), population.best_threshold(moved, "f1")
    assert two.value == pytest.approx(one.value, rel=1e-12)
    if not one.at_end and made.likelihood_ratio(one.threshold) > 1e-6:
        assert two.threshold == pytest.approx(shift + scale * one.threshold, rel=1e-9, abs=1e-9)


@given(binormals(), st.floats(0.1, 10))
def test_the_cheapest_threshold_equals_the_formula(made: Population, cost: float) -> None:
    costs = Costs(fp=cost, fn=1)
    closed, searched = (
        population.least_cost_threshold(made, costs),
        population.best_threshold(made, "expected_cost", costs=costs),
    )
    assert closed.value == pytest.approx(searched.value, rel=1e-12)


@pytest.mark.slow
@given(populations)
def test_the_roc_curve_does_not_depend_on_the_prevalence(made: Population) -> None:
    other = made.at_prevalence(0.5)
    at = population.default_thresholds(made, points=11)
    np.testing.assert_array_equal(made.tpr(at), other.tpr(at))
    assert made.auc == other.auc
    assert population.best_threshold(made, "youden").value == pytest.approx(
        population.best_threshold(other, "youden").value, rel=1e-13
    )


@pytest.mark.slow
@settings(max_examples=settings().max_examples // 2)
@given(populations, st.floats(0, 1))
def test_own_and_scipy_distributions_agree(made: Population, chance: float) -> None:
    theirs, t = from_scipy(made), score_at_quantile(made, chance)
    for cell in ("tp", "fp", "fn", "tn"):
        assert getattr(theirs.at(t), cell) == pytest.approx(getattr(made.at(t), cell), rel=1e-10, abs=1e-300)
    for name in ("f1", "accuracy"):
        one = population.best_threshold(made, name)
        try:
            two = population.best_threshold(theirs, name)
        except OverflowError:  # of SciPy, whose densities of some beta distributions cannot be had beside 0
            reject()
        assert two.value == pytest.approx(one.value, rel=1e-12)
        assert measure.find_measure(name)(one.counts) == pytest.approx(one.value, rel=1e-14)
