"""Benchmarks of fitting calibrators, from columns, beside scikit-learn and betacal."""

import warnings

import numpy as np
import numpy.typing as npt
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

import baserate as br
from baserate import calibration
from bench._benchmark import Pair
from bench._scores import max_difference

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # betacal warns on import in some environments
    from betacal import BetaCalibration

Floats = npt.NDArray[np.float64]
_INACCURACY = 1e-3
"""The optimizers of the peers stop before the maximum of the likelihood."""


def _draw_columns(n: int) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Draw labels, and probabilities that are too extreme and for another prevalence."""
    rng = np.random.default_rng(0)
    p = rng.beta(0.7, 0.9, n)
    return rng.random(n) < 1 / (1 + ((1 - p) / p) ** 0.8 * 1.5), p


def isotonic(n: int) -> Pair:
    """Fit isotonic regression."""
    truth, p = _draw_columns(n)
    labels = truth.astype(np.float64)

    def ours() -> Floats:
        return calibration.isotonic(br.tally(truth, p))(p[:1000])

    def peer() -> Floats:
        fitted: Floats = IsotonicRegression(out_of_bounds="clip").fit(p, labels).predict(p[:1000])
        return fitted

    return Pair(ours, peer, max_difference)


def logistic(n: int) -> Pair:
    """Fit logistic regression on log-odds, without penalty."""
    truth, p = _draw_columns(n)

    def ours() -> Floats:
        return calibration.logistic(br.tally(truth, p))(p[:1000])

    def peer() -> Floats:
        x = np.log(p / (1 - p))[:, None]
        # Without a penalty (C is its inverse): the default shrinks the slope, and ours has none.
        fitted: Floats = LogisticRegression(C=np.inf).fit(x, truth).predict_proba(x[:1000])[:, 1]
        return fitted

    return Pair(ours, peer, lambda a, b: max(max_difference(a, b) - _INACCURACY, 0.0))


def beta(n: int) -> Pair:
    """Fit beta calibration."""
    truth, p = _draw_columns(n)

    def ours() -> Floats:
        return calibration.beta(br.tally(truth, p))(p[:1000])

    def peer() -> Floats:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # betacal uses an option that scikit-learn renamed
            fitted: Floats = BetaCalibration(parameters="abm").fit(p[:, None], truth).predict(p[:1000])
        return fitted

    return Pair(ours, peer, lambda a, b: max(max_difference(a, b) - _INACCURACY, 0.0))
