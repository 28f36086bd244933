"""Sandwich (Huber–White) variances of the logistic recalibration: valid whether or not its line is the true one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._numeric.logistic import log_odds
from baserate._tally import Tally
from baserate.infer._influence import Part, freedom
from baserate.measure._cox import cox, offset

_MOST = 0.99
"""Leverage at which the correction of a residual ends: a row that is fitted exactly has no residual."""


class Sandwich(NamedTuple):
    """Variance of a coefficient, and its degrees of freedom."""

    variance: float
    freedom: float


class Model(NamedTuple):
    """A logistic regression that was fitted to a tally."""

    tally: Tally
    columns: Floats
    """Values of each regressor at each score."""
    line: Floats
    """Fitted log-odds at each score."""


def of_line(t: Tally, at: int) -> Sandwich:
    """Sandwich variance of the intercept (0) or the slope (1) of the recalibration line."""
    fit, x = cox(t), log_odds(t.score)
    # In units of its range, so that log-odds which hardly differ can be told apart.
    middle, scale = (x[0] + x[-1]) / 2, (x[0] - x[-1]) / 2
    columns = np.stack([np.ones_like(x), (x - middle) / scale])
    back = np.array([[1.0, -middle / scale], [0.0, 1 / scale]])
    return sandwich(Model(t, columns, fit.intercept + fit.slope * x), back[at])


def of_offset(t: Tally) -> Sandwich:
    """Sandwich variance of calibration in the large."""
    x = log_odds(t.score)
    return sandwich(Model(t, np.ones((1, len(x))), x + offset(t).value), np.ones(1))


def sandwich(model: Model, contrast: Floats) -> Sandwich:
    r"""Variance of a contrast c of coefficients, :math:`\sum_i g_i^2/(1-h_i)` with :math:`g_i=w_ic'H^{-1}x_i(y_i-p_i)`.

    H is the information, :math:`h_i=w_ip_i(1-p_i)x_i'H^{-1}x_i` the leverage of a row: the residual of a row that
    attracts the line is too small (HC2) [@huber1967] [@white1980] [@mackinnon1985]. Degrees of freedom follow from the
    fourth powers of :math:`g_i` [@satterthwaite1946]. Where the masses of the classes are given, only differences
    within a class are chance.
    """
    t = model.tally
    p = _chance(model.line)
    information = (model.columns * ((t.positive + t.negative) * p * (1 - p))) @ model.columns.T
    inverse = np.linalg.pinv(information)
    direction = (contrast @ inverse) @ model.columns
    leverage = p * (1 - p) * np.einsum("in,in->n", model.columns, inverse @ model.columns)
    rows = t.rows.sum(axis=1, dtype=np.int64)
    sums = [_powers(t, at, direction * (1 - at - p), leverage) for at in (0, 1)]
    if t.reweighed:
        parts = [Part(*each, float(number)) for each, number in zip(sums, rows, strict=True)]
    else:
        parts = [Part(*np.sum(sums, axis=0).tolist(), float(rows.sum()))]
    return Sandwich(sum(part.variance for part in parts), freedom(parts))


def _powers(t: Tally, at: int, slope: Floats, leverage: Floats) -> tuple[float, float]:
    """Sums of the second and fourth powers of what rows of a class add; those at one score are taken to be alike."""
    mass = np.asarray(t.mass[at], dtype=np.float64)
    if t.reweighed:
        slope = slope - np.nan_to_num(ratio(float(mass @ slope), float(mass.sum())))
    there = np.flatnonzero(t.rows[at])
    rows = t.rows[at, there].astype(np.float64)
    pull = np.minimum(mass[there] / rows * leverage[there], _MOST)
    second = t.squares[at, there] * slope[there] ** 2 / (1 - pull)
    return float(second.sum()), float(np.sum(second**2 / rows))


def _chance(line: Floats) -> Floats:
    from scipy.special import expit

    found: Floats = expit(line)
    return found
