"""Rows about fitting maps, from columns, beside scikit-learn and betacal."""

import warnings

import numpy as np
import numpy.typing as npt
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

import baserate as br
from baserate import calibrate
from bench._row import Duel

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its own imports
    from betacal import BetaCalibration

Floats = npt.NDArray[np.float64]
_NEAR = 1e-3
"""The rivals stop before the maximum."""


def _columns(n: int) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Probabilities that are too extreme, and for another prevalence."""
    rng = np.random.default_rng(0)
    p = rng.beta(0.7, 0.9, n)
    return rng.random(n) < 1 / (1 + ((1 - p) / p) ** 0.8 * 1.5), p


def isotonic(n: int) -> Duel:
    """Isotonic regression."""
    truth, p = _columns(n)
    labels = truth.astype(np.float64)

    def ours() -> Floats:
        return calibrate.isotonic(br.tally(truth, p))(p[:1000])

    def rival() -> Floats:
        found: Floats = IsotonicRegression(out_of_bounds="clip").fit(p, labels).predict(p[:1000])
        return found

    return Duel(ours, rival, _furthest)


def logistic(n: int) -> Duel:
    """Logistic regression on log-odds, without penalty."""
    truth, p = _columns(n)

    def ours() -> Floats:
        return calibrate.logistic(br.tally(truth, p))(p[:1000])

    def rival() -> Floats:
        x = np.log(p / (1 - p))[:, None]
        found: Floats = LogisticRegression(C=np.inf).fit(x, truth).predict_proba(x[:1000])[:, 1]
        return found

    return Duel(ours, rival, lambda a, b: max(_furthest(a, b) - _NEAR, 0.0))


def beta(n: int) -> Duel:
    """Beta calibration."""
    truth, p = _columns(n)

    def ours() -> Floats:
        return calibrate.beta(br.tally(truth, p))(p[:1000])

    def rival() -> Floats:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an option that scikit-learn renamed
            found: Floats = BetaCalibration(parameters="abm").fit(p[:, None], truth).predict(p[:1000])
        return found

    return Duel(ours, rival, lambda a, b: max(_furthest(a, b) - _NEAR, 0.0))


def _furthest(a: Floats, b: Floats) -> float:
    return float(np.abs(a - b).max())
