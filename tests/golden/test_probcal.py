"""The outputs that probcal 0.4.0 documents: before and after beta calibration, an offset, and grades.

Its quick start prints rounded numbers; those with more digits were computed with probcal 0.4.0. The portfolios follow
the formula of its documentation: normal log-odds of scores, and true probabilities of the beta family, 3% on average.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import brentq
from scipy.special import expit

from baserate import Tally, calibration, infer, measure, tally

Floats = npt.NDArray[np.float64]
near = partial(pytest.approx, rel=1e-8)


class Portfolio(NamedTuple):
    """Outcomes, and the scores of a model that is too sure of itself."""

    truth: npt.NDArray[np.bool_]
    score: Floats

    @property
    def tally(self) -> Tally:
        return tally(self.truth, self.score)


def make_portfolio(seed: int) -> Portfolio:
    rng = np.random.default_rng(seed)
    score = expit(rng.normal(-3.2, 1.1, 8000))
    log_odds = 0.7 * 1.4 * np.log(score) - 0.7 * np.log1p(-score)
    anchor = brentq(lambda c: expit(log_odds + c).mean() - 0.03, -60, 60, xtol=1e-14)
    return Portfolio(rng.random(8000) < expit(log_odds + anchor), score)


@pytest.fixture(scope="module")
def train() -> Portfolio:
    return make_portfolio(42)


@pytest.fixture(scope="module")
def test() -> Portfolio:
    return make_portfolio(1)


@pytest.fixture(scope="module")
def calibrated(train: Portfolio, test: Portfolio) -> Portfolio:
    return Portfolio(test.truth, calibration.beta(train.tally)(test.score))


@pytest.fixture(scope="module")
def final(calibrated: Portfolio) -> Portfolio:
    """Moved to a policy of 3.5%: every row counts 3.5% as positive, so that the offset meets that mean."""
    policy = tally(np.repeat([True, False], 8000), np.tile(calibrated.score, 2), weight=np.repeat([0.035, 0.965], 8000))
    return Portfolio(calibrated.truth, calibration.offset(policy)(calibrated.score))


def test_the_portfolio_is_theirs(train: Portfolio, test: Portfolio) -> None:
    assert (train.truth.sum(), test.truth.sum()) == (251, 255)
    assert test.score[:3] == pytest.approx([0.05626051, 0.0914365, 0.05538235], abs=5e-9)


def test_guardrails_before_calibration(test: Portfolio) -> None:
    # Printed: slope=0.901  intercept=-0.743.
    assert measure.calibration_slope(test.tally) == near(0.9011927563945861)
    assert measure.calibration_in_the_large(test.tally) == near(-0.7425718215811117)
    z = infer.spiegelhalter(test.tally)
    assert (z.statistic, z.p) == near((-10.493506689723146, 9.252918957979163e-26), rel=1e-6)


def test_metrics_before_calibration(test: Portfolio) -> None:
    assert measure.brier(test.tally) == near(0.031920266286607775)
    assert measure.log_loss(test.tally) == near(0.13699412204190617)
    assert measure.ece(test.tally, bins=10, by="mass") == near(0.02984859207056873)
    assert measure.ecce_mad(test.tally) == near(0.029879228722491432)
    fit = infer.hosmer_lemeshow(test.tally)
    assert (fit.statistic, fit.freedom) == near((137.31039713809008, 10))


def test_guardrails_after_beta_calibration(calibrated: Portfolio) -> None:
    # Printed: slope=0.922  intercept=+0.021  ok=True.
    assert measure.calibration_slope(calibrated.tally) == near(0.9220159837677941, rel=1e-6)
    assert measure.calibration_in_the_large(calibrated.tally) == pytest.approx(0.021232443710038035, abs=1e-7)
    assert infer.spiegelhalter(calibrated.tally).p == near(0.4599907568297819, rel=1e-6)


def test_offset_to_a_policy(calibrated: Portfolio, final: Portfolio) -> None:
    # Printed: delta=+0.1238, odds factor 1.1317; mean 0.03126 -> 0.03500; intercept -0.103, spiegelhalter p 0.271.
    change = np.log(final.score / (1 - final.score)) - np.log(calibrated.score / (1 - calibrated.score))
    assert change == pytest.approx(0.12376202608790354, abs=1e-6)
    assert calibrated.score.mean() == pytest.approx(0.03126, abs=5e-6)
    assert final.score.mean() == pytest.approx(0.035, abs=1e-9)
    assert measure.calibration_slope(final.tally) == near(0.9220159837677941, rel=1e-6)
    assert measure.calibration_in_the_large(final.tally) == pytest.approx(-0.103, abs=5e-4)
    assert infer.spiegelhalter(final.tally).p == pytest.approx(0.271, abs=5e-4)


def test_grades(final: Portfolio) -> None:
    # Printed, for grades A to E.
    curve = infer.calibration_curve(
        final.tally, "binned", options=infer.CurveOptions(bins=[0.0, 0.01, 0.02, 0.05, 0.1, 1.0])
    )
    assert curve["mass"].tolist() == [1696, 2043, 2684, 1114, 463]
    assert (curve["share"] * curve["mass"]).round().tolist() == [7, 22, 97, 70, 59]
    assert curve["probability"] == pytest.approx([0.0063, 0.0146, 0.0319, 0.0681, 0.1685], abs=5e-5)
