"""Bayes' rule and prior shift, as arithmetic on counts: lecture slides, and the liver scans of Altman and Bland.

A class-dependent selection multiplies the mass of one class. So every "correction under shift" is a rescaled table,
and needs no formula of its own.
"""

from functools import partial
from math import inf

import numpy as np
import numpy.typing as npt
import pytest

from baserate import Confusion, Counts, calibration, measure, shift

Floats = npt.NDArray[np.float64]

near = partial(pytest.approx, rel=0, abs=1e-12)


def make_screening_table(sensitivity: float, specificity: float, prevalence: float) -> Counts[float]:
    """Outcomes of a test with those rates, as shares of everybody."""
    sick, well = prevalence, 1 - prevalence
    return Counts(
        tp=sensitivity * sick, fn=(1 - sensitivity) * sick, fp=(1 - specificity) * well, tn=specificity * well
    )


def repeat_negatives(c: Counts[float], gamma: float) -> Counts[float]:
    """The same decisions where each negative stands for γ."""
    return Counts(tp=c.tp, fn=c.fn, fp=gamma * c.fp, tn=gamma * c.tn)


@pytest.mark.parametrize(
    ("prevalence", "exact", "printed"),
    [(0.02, 0.668918918918919, 0.67), (0.06, 0.8633720930232557, 0.86), (0.10, 0.9166666666666666, 0.92)],
)
def test_precision_of_a_covid_test_depends_on_the_prevalence(prevalence: float, exact: float, printed: float) -> None:
    c = make_screening_table(0.99, 0.99, prevalence)
    assert measure.prevalence(c) == near(prevalence)
    assert measure.sensitivity(c) == near(0.99)
    assert measure.specificity(c) == near(0.99)
    assert measure.precision(c) == near(exact)
    assert measure.precision(c) == pytest.approx(printed, abs=0.005)
    assert shift.ppv(0.99, 0.99, prevalence) == near(exact)
    assert measure.precision(shift.reweigh(make_screening_table(0.99, 0.99, 0.5), prevalence=prevalence)) == near(exact)


def test_precision_under_shift() -> None:
    c = Counts(tp=90, fp=10, fn=30, tn=70)
    assert measure.precision(c) == near(0.9)
    assert measure.precision(repeat_negatives(c, 5)) == near(0.6428571428571429)
    assert measure.precision(repeat_negatives(c, 5)) == near(0.9 / (0.9 + 5 * (1 - 0.9)))
    assert measure.precision(shift.reweigh(c, gamma=5)) == near(0.6428571428571429)


def test_accuracy_under_shift() -> None:
    c = Counts(tp=950, fn=50, fp=200, tn=800)
    assert measure.accuracy(c) == near(0.875)
    assert measure.accuracy(repeat_negatives(c, 10)) == near(0.8136363636363636)
    assert measure.accuracy(shift.reweigh(c, gamma=10)) == near(0.8136363636363636)


@pytest.mark.parametrize(
    ("original", "kept"),
    [
        pytest.param((100, 9900), (100, 100), id="negatives under-sampled"),
        pytest.param((100, 9900), (9900, 9900), id="positives over-sampled"),
        pytest.param((100, 9900), (400, 600), id="both"),
        pytest.param((300, 700), (300, 700), id="neither"),
    ],
)
def test_gamma_restores_the_original_population(original: tuple[int, int], kept: tuple[int, int]) -> None:
    (positives_there, negatives_there), (positives, negatives) = original, kept
    alpha, beta = positives_there / positives, negatives_there / negatives
    gamma = (negatives_there / positives_there) / (negatives / positives)
    assert gamma == near(beta / alpha)
    assert shift.gamma_of_counts(sample=kept, original=original) == near(gamma)
    assert shift.gamma_of_sampling(under=beta, over=alpha) == near(gamma)
    here, there_ = positives / (positives + negatives), positives_there / (positives_there + negatives_there)
    assert shift.gamma(sample_prevalence=here, prevalence=there_) == near(gamma)
    assert shift.prevalence_of_gamma(gamma, sample_prevalence=here) == near(there_)

    def count_decisions(positives: int, negatives: int) -> Counts[float]:
        return Counts(tp=0.8 * positives, fn=0.2 * positives, fp=0.1 * negatives, tn=0.9 * negatives)

    there, restored = count_decisions(positives_there, negatives_there), repeat_negatives(count_decisions(*kept), gamma)
    assert measure.prevalence(restored) == near(positives_there / (positives_there + negatives_there))
    assert measure.prevalence(restored) == near(positives / (positives + gamma * negatives))
    for function in (measure.precision, measure.npv, measure.accuracy, measure.f1, measure.mcc, measure.kappa):
        assert function(restored) == near(function(there))
        assert function(shift.reweigh(count_decisions(*kept), gamma=gamma)) == near(function(there))


@pytest.mark.parametrize("gamma", [0.01, 0.5, 1, 5, 300])
def test_posterior_correction_is_the_correction_of_precision_row_by_row(gamma: float) -> None:
    p = np.linspace(0.001, 0.999, 999)
    none = np.zeros_like(p)

    def correct_prior(p: Floats, gamma: float) -> Floats:
        return np.asarray(measure.precision(Counts(tp=p, fp=gamma * (1 - p), fn=none, tn=none)))

    there = correct_prior(p, gamma)
    np.testing.assert_allclose(there, p / (p + gamma * (1 - p)), rtol=0, atol=1e-12)
    assert (np.diff(there) > 0).all()
    np.testing.assert_allclose(correct_prior(there, 1 / gamma), p, rtol=0, atol=1e-12)
    np.testing.assert_allclose(correct_prior(p, 1), p, rtol=0, atol=1e-12)
    here, after = 0.5, shift.prevalence_of_gamma(gamma, sample_prevalence=0.5)
    np.testing.assert_allclose(shift.reprior(p, sample_prevalence=here, prevalence=after), there, rtol=0, atol=1e-12)
    # Dal Pozzolo et al. (2015) write it with the share of negatives that were kept: their β is 1/γ here.
    beta = 1 / gamma
    np.testing.assert_allclose(there, beta * p / (beta * p - p + 1), rtol=0, atol=1e-12)


def test_precision_of_many_classes_at_other_priors() -> None:
    counts = np.array([[60.0, 30.0, 10.0], [5.0, 40.0, 5.0], [2.0, 3.0, 15.0]])
    priors = np.array([0.1, 0.2, 0.7])
    table = shift.reweigh(Confusion(counts, ("a", "b", "c")), prevalence=dict(zip("abc", priors, strict=True)))
    likelihood = counts / counts.sum(axis=1, keepdims=True)
    wanted = np.diag(likelihood) * priors / (likelihood * priors[:, None]).sum(axis=0)
    np.testing.assert_allclose(measure.multiclass.per_class("precision", table), wanted, rtol=0, atol=1e-12)
    assert measure.multiclass.accuracy(table) == near(float((np.diag(likelihood) * priors).sum()))
    np.testing.assert_allclose(table.truth / table.total, priors, rtol=0, atol=1e-12)


def test_posteriors_of_the_field_notes() -> None:
    np.testing.assert_allclose(
        shift.reprior([0.1, 0.5, 0.9], sample_prevalence=0.4, prevalence=0.1),
        [0.1 / 5.5, 1 / 7, 0.6],
        rtol=0,
        atol=1e-12,
    )


LIVER_SCANS = Counts(tp=231, fp=32, fn=27, tn=54)
"""Altman & Bland (1994): pathology against liver scan."""


@pytest.mark.parametrize(
    ("name", "printed"), [("sensitivity", 0.90), ("specificity", 0.63), ("precision", 0.88), ("prevalence", 0.75)]
)
def test_liver_scans_as_printed(name: str, printed: float) -> None:
    assert measure.find_measure(name)(LIVER_SCANS) == pytest.approx(printed, abs=0.005)


def test_liver_scans_where_abnormality_is_rare() -> None:
    c = make_screening_table(231 / 258, 54 / 86, 0.25)
    assert measure.precision(c) == pytest.approx(0.45, abs=0.005)
    assert measure.npv(c) == pytest.approx(0.95, abs=0.005)
    for name in ("precision", "npv"):
        there = measure.find_measure(name)(shift.reweigh(LIVER_SCANS, prevalence=0.25))
        assert there == near(measure.find_measure(name)(c))


def test_likelihood_ratio_times_prior_odds_gives_posterior_odds() -> None:
    for prevalence in (0.02, 0.06, 0.10):
        c = make_screening_table(0.99, 0.99, prevalence)
        # Relative, since the ratio is 99, and 1 − 0.99 has lost two digits.
        assert measure.positive_likelihood_ratio(c) == pytest.approx(99, rel=1e-12)
        odds = measure.precision(c) / measure.fdr(c)
        assert odds == pytest.approx(prevalence / (1 - prevalence) * 99, rel=1e-12)


def test_a_perfect_specificity_gives_full_precision_at_any_prevalence() -> None:
    c = make_screening_table(0.5, 1.0, 1e-6)
    assert measure.precision(c) == 1
    assert measure.positive_likelihood_ratio(c) == inf


@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.99, 0.99), (0.9, 0.95), (231 / 258, 54 / 86), (0.6, 0.7)])
def test_prevalence_threshold(sensitivity: float, specificity: float) -> None:
    c = make_screening_table(sensitivity, specificity, 0.2)
    # Balayla (2020) writes it so; ours is the same without the 0/0 at chance.
    written = (np.sqrt(sensitivity * (1 - specificity)) + specificity - 1) / (sensitivity + specificity - 1)
    assert measure.prevalence_threshold(c) == near(written)
    # There precision and the threshold sum to 1: the posterior odds are the root of the likelihood ratio.
    there = make_screening_table(sensitivity, specificity, measure.prevalence_threshold(c))
    assert measure.precision(there) == near(1 - written)


@pytest.mark.parametrize(("gamma", "p", "wanted"), [(5, 0.9, 0.6428571428571429), (1, 0.3, 0.3), (10, 0.5, 1 / 11)])
def test_the_correction_of_posteriors_is_a_calibrator(gamma: float, p: float, wanted: float) -> None:
    positives, negatives = 1000.0, 1000.0
    here = positives / (positives + negatives)
    there = positives / (positives + gamma * negatives)
    out, back = (
        calibration.prevalence(sample_prevalence=here, prevalence=there),
        calibration.prevalence(sample_prevalence=there, prevalence=here),
    )
    assert out([p])[0] == pytest.approx(wanted, rel=1e-14)
    assert out([p])[0] == pytest.approx(p / (p + gamma * (1 - p)), rel=1e-14)
    assert back(out([p]))[0] == pytest.approx(p, rel=1e-14)
