"""Sandwich (Huber–White) variances of the logistic recalibration: valid whether or not its line is the true one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._numeric.logistic import log_odds
from baserate._tally import Tally
from baserate.infer._influence import Part, freedom
from baserate.measure import cox, offset

_BLOCK = 1 << 14
"""Scores that fit the cache."""
_MOST = 0.99
"""Leverage at which the correction of a residual ends: a row that is fitted exactly has no residual."""


class Sandwich(NamedTuple):
    """Variance of a coefficient, and its degrees of freedom."""

    variance: float
    freedom: float


class Model(NamedTuple):
    """A logistic regression that was fitted to a tally: on 1 and z, or with `fixed` slope on 1 alone."""

    tally: Tally
    z: Floats
    line: Floats
    """Fitted log-odds at each score."""
    fixed: bool = False


def of_line(t: Tally, at: int) -> Sandwich:
    """Sandwich variance of the intercept (0) or the slope (1) of the recalibration line."""
    fit, x = cox(t), log_odds(t.score)
    # In units of its range, so that log-odds which hardly differ can be told apart.
    middle, scale = (x[0] + x[-1]) / 2, (x[0] - x[-1]) / 2
    contrast = ((1.0, -middle / scale), (0.0, 1 / scale))[at]
    return sandwich(Model(t, (x - middle) / scale, fit.intercept + fit.slope * x), contrast)


def of_offset(t: Tally) -> Sandwich:
    """Sandwich variance of calibration in the large."""
    x = log_odds(t.score)
    return sandwich(Model(t, x, x + offset(t).value, fixed=True), (1.0, 0.0))


def sandwich(model: Model, contrast: tuple[float, float]) -> Sandwich:
    r"""Variance of a contrast c of coefficients, :math:`\sum_i g_i^2/(1-h_i)` with :math:`g_i=w_ic'H^{-1}x_i(y_i-p_i)`.

    H is the information, :math:`h_i=w_ip_i(1-p_i)x_i'H^{-1}x_i` the leverage of a row: the residual of a row that
    attracts the line is too small (HC2) [@huber1967] [@white1980] [@mackinnon1985]. Degrees of freedom follow from the
    fourth powers of :math:`g_i` [@satterthwaite1946]. Where the masses of the classes are given, only differences
    within a class are chance.
    """
    t, p = model.tally, _chance(model.line)
    inverse = _inverse_information(model, p)
    direction = np.asarray(contrast) @ inverse
    means = _means(model, p, direction) if t.reweighed else (0.0, 0.0)
    sums = np.zeros((2, 2))
    for place in _blocks(len(p)):
        z, share = model.z[place], p[place]
        tilt = direction[0] + direction[1] * z
        leverage = share * (1 - share) * (inverse[0, 0] + 2 * inverse[0, 1] * z + inverse[1, 1] * z * z)
        for at, mean in enumerate(means):
            sums[at] += _powers(t, (at, place), tilt * (1 - at - share) - mean, leverage)
    rows = t.rows.sum(axis=1, dtype=np.float64)
    if not t.reweighed:
        sums, rows = sums.sum(axis=0, keepdims=True), rows.sum(keepdims=True)
    parts = [
        Part(second, fourth, number) for (second, fourth), number in zip(sums.tolist(), rows.tolist(), strict=True)
    ]
    return Sandwich(sum(part.variance for part in parts), freedom(parts))


def _inverse_information(model: Model, p: Floats) -> Floats:
    """Inverse of the information on both coefficients; that of the slope is 0 where it is fixed."""
    t = model.tally
    weight = (t.positive + t.negative) * p
    weight *= 1 - p
    first, second = float(weight @ model.z), float(weight @ model.z**2)
    if model.fixed:
        return np.array([[1 / float(weight.sum()), 0.0], [0.0, 0.0]])
    return np.linalg.pinv(np.array([[float(weight.sum()), first], [first, second]]))


def _means(model: Model, p: Floats, direction: Floats) -> tuple[float, float]:
    """Mean of what rows of each class add."""
    tilt = direction[0] + direction[1] * model.z
    t = model.tally
    true, false = (
        ratio(float(t.positive @ (tilt * (1 - p))), t.positives),
        ratio(float(t.negative @ -(tilt * p)), t.negatives),
    )
    return float(np.nan_to_num(true)), float(np.nan_to_num(false))


def _powers(t: Tally, where: tuple[int, slice], slope: Floats, leverage: Floats) -> tuple[float, float]:
    """Sums of the second and fourth powers of what rows of a class add; those at one score are taken to be alike."""
    rows = t.rows[where].astype(np.float64)
    if not t.weighted:
        power = slope**2 / (1 - np.minimum(leverage, _MOST))
        return float(rows @ power), float(rows @ power**2)
    unit = np.nan_to_num(ratio(np.asarray(t.mass[where], dtype=np.float64), rows))
    second = t.squares[where] * slope**2 / (1 - np.minimum(unit * leverage, _MOST))
    return float(second.sum()), float(np.nan_to_num(ratio(second**2, rows)).sum())


def _blocks(size: int) -> list[slice]:
    return [slice(start, start + _BLOCK) for start in range(0, size, _BLOCK)]


def _chance(line: Floats) -> Floats:
    from scipy.special import expit

    found: Floats = expit(line)
    return found
