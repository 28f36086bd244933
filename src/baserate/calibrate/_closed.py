"""Closed forms: an offset, a temperature, a logistic curve. Each is a logistic regression that keeps order."""

from __future__ import annotations

from math import log
from typing import Literal

import numpy as np

from baserate._arrays import Floats
from baserate._calibrator import Calibrator, Parameter, shift_log_odds
from baserate._calibrator_forms import Line, LogOdds
from baserate._errors import FitError, OptionError
from baserate._numeric.logistic import NEAREST, line, log_odds, plane
from baserate._tally import Tally
from baserate.calibrate._data import (
    are_probabilities,
    clipped_note,
    fitting,
    refuse_other_scores,
    refuse_parted,
    refuse_parted_at_half,
)
from baserate.calibrate._parameters import parameter, with_temperature
from baserate.measure import offset as best_offset, squares

Scale = Literal["log-odds", "score"]
_HALF = "no slope above 0 fits better than none, so everybody gets ½: a map never turns scores round; fit logistic."
FALLS = "the higher the score the rarer the positive class: a map never turns scores round, so it is constant."


@fitting
def identity(tally: Tally, *, probabilities: bool | None = None) -> Calibrator:
    """Leave probabilities as they are.

    `probabilities` says whether the scores are such; by default they are if all lie in [0, 1]. So with every method.

    >>> from baserate import tally
    >>> identity(tally([0, 1], [0.2, 0.6]))([0.3]).tolist()
    [0.3]
    """
    refuse_other_scores(tally, "identity", probabilities=probabilities)
    return Calibrator(LogOdds(1.0, 1.0, 0.0), "identity")


def prevalence(*, at: float, to: float) -> Calibrator:
    r"""Carry probabilities that are right at one prevalence to another, :math:`σ(\mathrm{logit}\,p+\ln γ)`.

    γ is the ratio of the two odds; nothing is fitted, and certainties stay what they are.

    >>> prevalence(at=0.5, to=0.2)([0.0, 0.5, 0.8]).round(9).tolist()
    [0.0, 0.2, 0.5]
    """
    for name, given in (("at", at), ("to", to)):
        if not 0 < given < 1:
            raise OptionError(f"{name} is {given}; a prevalence lies between 0 and 1, both excluded.")
    return shift_log_odds(log(to) - log(1 - to) - log(at) + log(1 - at))


@fitting
def offset(tally: Tally, *, probabilities: bool | None = None) -> Calibrator:
    r"""Add the same to all log-odds, so that the mean is right, :math:`σ(c+\mathrm{logit}\,p)`.

    This is the adjustment to another prevalence: probabilities that were right at the derivation prevalence η become
    right at that of the rows. c and η are exact, with standard errors; that of η takes the prevalence of the rows as
    known.

    >>> from baserate import tally
    >>> found = offset(tally([0, 1, 0, 0], [0.4, 0.8, 0.5, 0.3]))
    >>> [(each.name, round(each.value, 4)) for each in found.parameters]
    [('offset', -1.2908), ('derivation_prevalence', 0.5479)]
    >>> float(found([0.4, 0.8, 0.5, 0.3]).mean().round(12))
    0.25
    """
    refuse_other_scores(tally, "offset", probabilities=probabilities)
    found = best_offset(tally)
    if not np.isfinite(found.value):
        raise FitError("all probabilities are 0 or 1, which no offset can change; fit isotonic.")
    added = parameter("offset", float(found.value), float(found.variance))
    form = LogOdds(1.0, 1.0, added.value)
    return Calibrator(form, "offset", parameters=(added, _derivation(tally, added)), notes=clipped_note(tally))


def _derivation(tally: Tally, added: Parameter) -> Parameter:
    """The prevalence that probabilities were right for, σ(logit ȳ − c), with its error by the delta method."""
    from scipy.special import expit

    mean = log(tally.positives / tally.negatives)
    value, low, high = (float(expit(mean - (at or 0.0))) for at in (added.value, added.high, added.low))
    error = value * (1 - value) * (added.standard_error or 0.0)
    return Parameter("derivation_prevalence", value, error, low, high, added.level)


@fitting
def temperature(tally: Tally, *, probabilities: bool | None = None) -> Calibrator:
    r"""Stretch all log-odds, :math:`σ(b\,\mathrm{logit}\,p)`; T = 1/b is called the temperature [@guo2017].

    It cannot change what was given ½, so it cannot make up for another prevalence.

    >>> from baserate import tally
    >>> found = temperature(tally([0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.4, 0.6, 0.9, 0.7]))
    >>> [(each.name, round(each.value, 4)) for each in found.parameters]
    [('slope', 0.7177), ('temperature', 1.3933)]
    """
    refuse_other_scores(tally, "temperature", probabilities=probabilities)
    return stretched(tally)


def stretched(tally: Tally) -> Calibrator:
    """The map of `temperature`."""
    x = log_odds(tally.score)
    if not np.any(x):
        raise FitError("all probabilities are ½, which no temperature changes; fit offset.")
    refuse_parted_at_half(tally)
    fit = plane(x[None], tally.positive, tally.negative, squares=squares(tally), bounded=1)
    slope, variance = float(fit.weights[0]), float(fit.covariance[0, 0])
    if slope == 0:
        return Calibrator(LogOdds(0.0, 0.0, 0.0, NEAREST), "temperature", notes=(_HALF, *clipped_note(tally)))
    parameters = with_temperature(parameter("slope", slope, variance))
    form = LogOdds(slope, slope, 0.0, NEAREST)
    return Calibrator(form, "temperature", parameters=parameters, notes=clipped_note(tally))


@fitting
def logistic(
    tally: Tally, *, smoothed: bool = False, scale: Scale | None = None, probabilities: bool | None = None
) -> Calibrator:
    r"""A logistic curve of log-odds, :math:`σ(a+b\,\mathrm{logit}\,p)`, or of other scores as they are [@platt1999].

    It is fitted without penalty. `smoothed` takes Platt's targets :math:`(N_++1)/(N_++2)` and :math:`1/(N_-+2)` in
    place of 1 and 0, which is finite even where a threshold parts the classes. `scale` is "log-odds" or "score"; if not
    named, log-odds of probabilities, and other scores as they are.

    >>> from baserate import tally
    >>> found = logistic(tally([0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.4, 0.6, 0.9, 0.7]))
    >>> [(each.name, round(each.value, 4)) for each in found.parameters]
    [('intercept', -0.077), ('slope', 0.7207)]
    """
    if scale not in (None, "log-odds", "score"):
        raise OptionError(f"scale is {scale!r}; it is 'log-odds' or 'score'.")
    if scale == "log-odds":
        refuse_other_scores(tally, "the scale of log-odds", probabilities=probabilities)
    stated = probabilities if scale is None else scale == "log-odds"
    return curved(tally, smoothed=smoothed, probabilities=are_probabilities(tally, stated))


def curved(tally: Tally, *, smoothed: bool = False, probabilities: bool = True) -> Calibrator:
    """The map of `logistic`."""
    x = log_odds(tally.score) if probabilities else tally.score
    if x[0] == x[-1]:
        raise FitError("all scores are equal, so no slope is better than another; fit offset or isotonic.")
    if not smoothed:
        refuse_parted(tally)
    fit = _line(x, *_targets(tally, smoothed=smoothed), squares(tally))
    notes = clipped_note(tally) if probabilities else ("scores stand for log-odds as they are.",)
    if fit is None or fit[0][1] <= 0:
        level = log(tally.positives / tally.negatives)
        constant = LogOdds(0.0, 0.0, level, NEAREST) if probabilities else Line(level, 0.0)
        return Calibrator(constant, "logistic", notes=(FALLS, *notes))
    (intercept, slope), covariance = fit
    form = LogOdds(slope, slope, intercept, NEAREST) if probabilities else Line(intercept, slope)
    named = zip(("intercept", "slope"), (intercept, slope), np.diagonal(covariance), strict=True)
    return Calibrator(form, "logistic", parameters=tuple(parameter(*each) for each in named), notes=notes)


def _targets(tally: Tally, *, smoothed: bool) -> tuple[Floats, Floats]:
    """Mass of what counts as hit and as miss at each score."""
    positive, negative = tally.positive, tally.negative
    if not smoothed:
        return positive, negative
    high, low = (tally.positives + 1) / (tally.positives + 2), 1 / (tally.negatives + 2)
    return positive * high + negative * low, positive * (1 - high) + negative * (1 - low)


def _line(x: Floats, hits: Floats, misses: Floats, q: Floats | None) -> tuple[tuple[float, float], Floats] | None:
    """Intercept and slope with their covariance; None where the classes are parted the wrong way round."""
    if x[(hits > 0).argmax()] <= x[::-1][(misses[::-1] > 0).argmax()]:
        return None
    found = line(x, hits, misses, squares=q)
    return (float(found.intercept), float(found.slope)), found.covariance
