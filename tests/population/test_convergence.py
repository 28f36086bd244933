"""Curves of samples lie within the bands that theory draws about the exact ones, and the bands close.

The Dvoretzky–Kiefer–Wolfowitz inequality in Massart's form: with a chance of 1 − α the sample's rate is within
√(log(2/α) / 2n) of the exact one at all thresholds at once. All seeds are fixed; α is one in a million.
"""

from math import log, sqrt

import numpy as np
import numpy.typing as npt
import pytest

from baserate import Counts, Curve, Population, curve, measure, population, tally

Floats = npt.NDArray[np.float64]

SIZES = (300, 3000, 300_000)
POPULATIONS = {
    "linear": population.linear(prevalence=0.5),
    "linear, twice as many": population.linear(prevalence=2 / 3),
    "ER+": population.retrieval("ER+", prevalence=1 / 11),
    "binormal": population.binormal(means=(0, 1), sds=(1, 2), prevalence=0.3),
}


def band(rows: int) -> float:
    return sqrt(log(2 / 1e-6) / (2 * rows))


def sample(made: Population, size: int) -> Curve:
    truth, score = made.draw(size, 2026, positives=round(size * made.prevalence))
    return curve(tally(truth, score))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", POPULATIONS)
def test_roc_curves_lie_within_the_band(name: str, size: int) -> None:
    made = POPULATIONS[name]
    c = sample(made, size)
    found = measure.table(c, "roc")
    assert np.max(np.abs(found["sensitivity"] - made.tpr(found["threshold"]))) < band(round(c.positives))
    assert np.max(np.abs(found["fpr"] - made.fpr(found["threshold"]))) < band(round(c.negatives))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("curve_", ["precision", "f1", "mcc"])
@pytest.mark.parametrize("name", POPULATIONS)
def test_other_curves_lie_within_what_the_rates_allow(name: str, curve_: str, size: int) -> None:
    # Each rises with the true positive rate and falls with the false one, so corners of the band bound it.
    made, function = POPULATIONS[name], measure.find_measure(curve_)
    c = sample(made, size)
    t = np.quantile(c.tally.score, np.linspace(0.02, 0.98, 97))
    value = function(c.at(t))
    wide, narrow = band(round(c.positives)), band(round(c.negatives))
    low = function(shifted(made, t, -wide, narrow))
    high = function(shifted(made, t, wide, -narrow))
    assert (value >= np.nan_to_num(low, nan=-1) - 1e-12).all()
    assert (value <= np.nan_to_num(high, nan=1) + 1e-12).all()
    if size == SIZES[-1]:
        assert np.max(np.abs(value - function(made.at(t)))) < 0.02


def shifted(made: Population, t: Floats, true: float, false: float) -> Counts[Floats]:
    tpr, fpr = np.clip(made.tpr(t) + true, 0, 1), np.clip(made.fpr(t) + false, 0, 1)
    share = made.prevalence
    return Counts(share * tpr, (1 - share) * fpr, share * (1 - tpr), (1 - share) * (1 - fpr))


@pytest.mark.parametrize("name", POPULATIONS)
def test_the_best_threshold_of_a_sample_is_nearly_as_good_as_the_best(name: str) -> None:
    made = POPULATIONS[name]
    c = sample(made, SIZES[-1])
    chosen = float(c.threshold[np.argmax(measure.table(c, "youden")["youden"])])
    best = population.best_threshold(made, "youden").value
    assert 0 <= best - measure.youden(made.at(chosen)) < 0.005


@pytest.mark.parametrize("name", POPULATIONS)
def test_areas_converge(name: str) -> None:
    made = POPULATIONS[name]
    small, large = sample(made, SIZES[0]), sample(made, SIZES[-1])
    for function, exact in ((measure.auc, made.auc), (measure.average_precision, made.average_precision)):
        # |AUC − exact| is at most the sum of both bands; precision is steeper, by at most 1/π.
        allowed = (band(round(large.positives)) + band(round(large.negatives))) / made.prevalence
        assert abs(function(large) - exact) < allowed
        assert abs(function(large) - exact) < 0.016
        assert abs(function(small) - exact) < 0.2
