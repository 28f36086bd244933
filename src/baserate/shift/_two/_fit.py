"""Whether a calibration curve fits the validation set: a score test of what bins would add to it."""

from __future__ import annotations

from math import nan

import numpy as np

from baserate._arrays import Floats
from baserate._tally import Tally
from baserate.infer import Check
from baserate.measure import firsts

NAME = "calibration_curve"
SIZE = 0.05
"""Level of the test."""
_HOW = "score test, χ²"
_MOST = 10
_EACH = 5.0
"""Rows that a bin holds at least, counted as 4p(1 − p) of each, so that a normal variable is near enough."""
_LEAST = 5e-324


def curve_fit(tally: Tally, chance: Floats, columns: Floats | None = None) -> Check:
    r"""Test whether chances of the positive class at each score are right, against any other level in each bin.

    Rao's score test for indicators of bins [@rao1948]: residuals :math:`y-p` are summed up in bins that hold equal
    parts of :math:`\sum p(1-p)`, and compared with their variance. `columns` are those that a logistic regression was
    fitted to, one row for each; what the fit has made of the residuals is taken into account.
    """
    mass = tally.positive + tally.negative
    weight = mass * chance * (1 - chance)
    noise = tally.squares.sum(axis=0) * chance * (1 - chance)
    bins = min(_MOST, int(4 * weight.sum() ** 2 / max(noise.sum(), _LEAST) / _EACH))
    if bins < 2:
        return Check(NAME, nan, nan, _HOW, why="there are too few rows for two bins")
    begins = np.unique(firsts(tally.score[::-1], weight[::-1], bins=bins, by="mass"))
    place = np.searchsorted(begins, np.arange(len(weight)), side="right")[::-1] - 1
    member = (place == np.arange(len(begins))[:, None]).astype(np.float64)
    if columns is not None:
        member = member - (member * weight) @ columns.T @ np.linalg.pinv((columns * weight) @ columns.T) @ columns
    surplus = member @ (tally.positive - mass * chance)
    spread = (member * noise) @ member.T
    return _chi_squared(surplus, spread)


def _chi_squared(surplus: Floats, spread: Floats) -> Check:
    from scipy.special import gammaincc

    scale = np.sqrt(np.maximum(np.diagonal(spread), _LEAST))
    values, vectors = np.linalg.eigh(spread / np.outer(scale, scale))
    there = values > 1e-8 * max(float(values.max()), _LEAST)
    if not there.any():
        return Check(NAME, nan, nan, _HOW, why="the curve passes through every bin")
    parts = (vectors.T @ (surplus / scale))[there] ** 2 / values[there]
    statistic, freedom = float(parts.sum()), int(there.sum())
    return Check(NAME, statistic, max(float(gammaincc(freedom / 2, statistic / 2)), _LEAST), _HOW, freedom)
