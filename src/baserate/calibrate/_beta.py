"""Beta calibration: a logistic regression on ln p and −ln(1 − p), neither of which may count against."""

from __future__ import annotations

from dataclasses import replace
from math import log
from typing import Literal, NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._calibrator import Calibrator, Parameter
from baserate._calibrator_forms import LogOdds
from baserate._errors import FitError, OptionError
from baserate._numeric.logistic import NEAREST, plane
from baserate._tally import Tally
from baserate.calibrate._closed import FALLS, curved, stretched
from baserate.calibrate._data import (
    clipped_note,
    fitting,
    logarithms,
    refuse_other_scores,
    refuse_parted,
    refuse_parted_at_half,
)
from baserate.calibrate._parameters import parameter
from baserate.measure import squares

Shape = Literal["abm", "ab", "am", "a"]


class _Fit(NamedTuple):
    """a, b, c, and variances of what is free."""

    a: float
    b: float
    c: float
    variances: dict[str, float]


@fitting
def beta(tally: Tally, *, shape: Shape = "abm", probabilities: bool | None = None) -> Calibrator:
    r"""A curve of log-odds with two slopes, :math:`σ(c+a\ln p-b\ln(1-p))`, both ≥ 0 [@kull2017].

    It can turn a sigmoid into its inverse, and leaves right probabilities alone. m is where it crosses ½; the shape
    "ab" holds it at ½, "am" has a = b (a logistic curve), "a" both (a temperature).

    >>> from baserate import tally
    >>> found = beta(tally([0, 1, 0, 1, 1, 0, 0, 1], [0.2, 0.1, 0.4, 0.6, 0.9, 0.5, 0.3, 0.8]))
    >>> [(each.name, round(each.value, 3)) for each in found.parameters]
    [('a', 0.0), ('b', 2.447), ('c', -1.803), ('m', 0.521)]
    """
    if shape not in ("abm", "ab", "am", "a"):
        raise OptionError(f"shape is {shape!r}; it is one of 'abm', 'ab', 'am' and 'a'.")
    refuse_other_scores(tally, "beta", probabilities=probabilities)
    if shape in ("am", "a"):
        found = curved(tally) if shape == "am" else stretched(tally)
        return replace(found, method=f"beta-{shape}")
    fit = _free(tally) if shape == "abm" else _through_half(tally)
    notes = [FALLS] if fit.a == fit.b == 0 else []
    form = LogOdds(fit.a, fit.b, fit.c, NEAREST)
    named = [parameter(name, getattr(fit, name), fit.variances.get(name, np.nan)) for name in ("a", "b", "c")]
    parameters = [*named, Parameter("m", _crossing(fit))] if fit.a + fit.b > 0 else named
    method = "beta" if shape == "abm" else f"beta-{shape}"
    return Calibrator(form, method, parameters=tuple(parameters), notes=(*notes, *clipped_note(tally)))


def _free(tally: Tally) -> _Fit:
    first, second = logarithms(tally.score)
    if len(first) < 3 or np.count_nonzero(np.diff(first)) < 2:
        raise FitError("three numbers need three different scores at least; fit logistic.")
    refuse_parted(tally)
    return _fitted(tally, {"a": first, "b": second, "c": np.ones(len(first))})


def _through_half(tally: Tally) -> _Fit:
    """The same with ½ at ½: c = (a − b) ln 2."""
    first, second = (each + sign * log(2) for each, sign in zip(logarithms(tally.score), (1, -1), strict=True))
    if np.count_nonzero(np.diff(first[first != 0])) < 1:
        raise FitError("two numbers need two different scores besides ½ at least; fit temperature.")
    refuse_parted_at_half(tally)
    found = _fitted(tally, {"a": first, "b": second})
    return found._replace(c=(found.a - found.b) * log(2))


def _fitted(tally: Tally, columns: dict[str, Floats]) -> _Fit:
    """Logistic regression on these, of which a and b never count against."""
    found = plane(np.stack(list(columns.values())), tally.positive, tally.negative, squares=squares(tally), bounded=2)
    if not found.settled:
        raise FitError("some scores hold one class alone, so that no slope is too steep; fit logistic or isotonic.")
    weights = dict(zip(columns, found.weights.tolist(), strict=True))
    spread = np.where(found.held, np.nan, np.diagonal(found.covariance))
    return _Fit(weights["a"], weights["b"], weights.get("c", 0.0), dict(zip(columns, spread.tolist(), strict=True)))


def _crossing(fit: _Fit) -> float:
    """Where the curve crosses ½: b ln(1 − m) − a ln m = c."""
    from scipy.optimize import brentq
    from scipy.special import log_expit

    def above(x: float) -> float:
        return float(fit.a * log_expit(x) - fit.b * log_expit(-x) + fit.c)

    # In log-odds, where it is nearly straight; beyond these m is 0 or 1 to every digit.
    low, high = -745.0, 745.0
    if above(low) >= 0 or above(high) <= 0:
        return 0.0 if above(low) >= 0 else 1.0
    return float(1 / (1 + np.exp(-brentq(above, low, high, xtol=1e-12))))
