"""Closed forms: an offset, a temperature, a logistic curve. Each is a logistic regression that keeps order."""

from __future__ import annotations

from math import log
from typing import Literal

import numpy as np

from baserate._arrays import Floats
from baserate._errors import BadOption, CannotFit
from baserate._forms import Line, LogOdds
from baserate._map import Map, Parameter, shifted
from baserate._numeric.logistic import NEAREST, line, log_odds, plane
from baserate._tally import Tally
from baserate.calibrate._data import (
    checked,
    clipped_note,
    made,
    of_probabilities,
    parameter,
    refuse_other_scores,
    refuse_parted,
    refuse_parted_at_half,
    squares,
)
from baserate.measure._cox import offset as best_offset

Scale = Literal["log-odds", "score"]
_POOLED = 4096
"""Neighbours are pooled to so many first, to begin near the end."""
FALLS = "the higher the score the rarer the positive class: a map never turns scores round, so it is constant."


def identity(tally: Tally) -> Map:
    """Leave probabilities as they are.

    >>> from baserate import tally
    >>> identity(tally([0, 1], [0.2, 0.6]))([0.3]).tolist()
    [0.3]
    """
    refuse_other_scores(tally, "leaving them as they are")
    return made(LogOdds(1.0, 1.0, 0.0), tally, "identity")


def prevalence(*, at: float, to: float) -> Map:
    r"""Carry probabilities that are right at one prevalence to another, :math:`σ(\mathrm{logit}\,p+\ln γ)`.

    γ is the ratio of the two odds; nothing is fitted, and certainties stay what they are.

    >>> prevalence(at=0.5, to=0.2)([0.0, 0.5, 0.8]).round(9).tolist()
    [0.0, 0.2, 0.5]
    """
    for name, given in (("at", at), ("to", to)):
        if not 0 < given < 1:
            raise BadOption(f"{name} is {given}; a prevalence lies between 0 and 1, both excluded.")
    return shifted(log(to) - log(1 - to) - log(at) + log(1 - at))


def offset(tally: Tally) -> Map:
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
    t = checked(tally)
    refuse_other_scores(t, "offset")
    found = best_offset(t)
    if not np.isfinite(found.value):
        raise CannotFit("all probabilities are 0 or 1, which no offset can change; fit isotonic.")
    added = parameter("offset", float(found.value), float(found.variance))
    form = LogOdds(1.0, 1.0, added.value)
    return made(form, tally, "offset", parameters=(added, _derivation(t, added)), notes=clipped_note(t))


def _derivation(tally: Tally, added: Parameter) -> Parameter:
    """The prevalence that probabilities were right for, σ(logit ȳ − c), with its error by the delta method."""
    from scipy.special import expit

    mean = log(tally.positives / tally.negatives)
    value, low, high = (float(expit(mean - (at or 0.0))) for at in (added.value, added.high, added.low))
    error = value * (1 - value) * (added.standard_error or 0.0)
    return Parameter("derivation_prevalence", value, error, low, high, added.level)


def temperature(tally: Tally) -> Map:
    r"""Stretch all log-odds, :math:`σ(b\,\mathrm{logit}\,p)`; T = 1/b is called the temperature [@guo2017].

    It cannot change what was given ½, so it cannot make up for another prevalence.

    >>> from baserate import tally
    >>> found = temperature(tally([0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.4, 0.6, 0.9, 0.7]))
    >>> [(each.name, round(each.value, 4)) for each in found.parameters]
    [('slope', 0.7177), ('temperature', 1.3933)]
    """
    t = checked(tally)
    refuse_other_scores(t, "temperature")
    x = log_odds(t.score)
    if not np.any(x):
        raise CannotFit("all probabilities are ½, which no temperature changes; fit offset.")
    refuse_parted_at_half(t)
    fit = plane(x[None], t.positive, t.negative, squares=squares(t))
    slope, variance = float(fit.weights[0]), float(fit.covariance[0, 0])
    if slope <= 0:
        return made(LogOdds(0.0, 0.0, 0.0, NEAREST), tally, "temperature", notes=[FALLS, *clipped_note(t)])
    parameters = (parameter("slope", slope, variance), _temperature(parameter("slope", slope, variance)))
    form = LogOdds(slope, slope, 0.0, NEAREST)
    return made(form, tally, "temperature", parameters=parameters, notes=clipped_note(t))


def _temperature(slope: Parameter) -> Parameter:
    """1/b with its error by the delta method; the bounds are those of b, and there is no upper one where b may be 0."""
    error, low, high = slope.standard_error or 0.0, slope.low or 0.0, slope.high or 0.0
    most = 1 / low if low > 0 else None
    return Parameter("temperature", 1 / slope.value, error / slope.value**2, 1 / high, most, slope.level)


def logistic(tally: Tally, *, smoothed: bool = False, scale: Scale | None = None) -> Map:
    r"""A logistic curve of log-odds, :math:`σ(a+b\,\mathrm{logit}\,p)`, or of other scores as they are [@platt1999].

    It is fitted without penalty. `smoothed` takes Platt's targets :math:`(N_++1)/(N_++2)` and :math:`1/(N_-+2)` in
    place of 1 and 0, which is finite even where a threshold parts the classes. `scale` is "log-odds" or "score"; if not
    named, log-odds wherever all scores lie in [0, 1].

    >>> from baserate import tally
    >>> found = logistic(tally([0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.4, 0.6, 0.9, 0.7]))
    >>> [(each.name, round(each.value, 4)) for each in found.parameters]
    [('intercept', -0.077), ('slope', 0.7207)]
    """
    t = checked(tally)
    probabilities = _taken(t, scale)
    x = log_odds(t.score) if probabilities else t.score
    if x[0] == x[-1]:
        raise CannotFit("all scores are equal, so no slope is better than another; fit offset or isotonic.")
    if not smoothed:
        refuse_parted(t)
    fit = _line(x, *_targets(t, smoothed=smoothed), squares(t))
    notes = clipped_note(t) if probabilities else ["scores stand for log-odds as they are."]
    if fit is None or fit[0][1] <= 0:
        level = log(t.positives / t.negatives)
        constant = LogOdds(0.0, 0.0, level, NEAREST) if probabilities else Line(level, 0.0)
        return made(constant, tally, "logistic", notes=[FALLS, *notes])
    (intercept, slope), covariance = fit
    form = LogOdds(slope, slope, intercept, NEAREST) if probabilities else Line(intercept, slope)
    named = zip(("intercept", "slope"), (intercept, slope), np.diagonal(covariance), strict=True)
    return made(form, tally, "logistic", parameters=[parameter(*each) for each in named], notes=notes)


def _taken(tally: Tally, scale: Scale | None) -> bool:
    """Whether scores are taken as probabilities."""
    if scale not in (None, "log-odds", "score"):
        raise BadOption(f"scale is {scale!r}; it is 'log-odds' or 'score'.")
    if scale == "log-odds":
        refuse_other_scores(tally, "the scale of log-odds")
    return of_probabilities(tally) if scale is None else scale == "log-odds"


def _targets(tally: Tally, *, smoothed: bool) -> tuple[Floats, Floats]:
    """Mass of what counts as hit and as miss at each score."""
    positive, negative = tally.positive, tally.negative
    if not smoothed:
        return positive, negative
    rows = tally.rows.sum(axis=1, dtype=np.float64)
    high, low = (rows[0] + 1) / (rows[0] + 2), 1 / (rows[1] + 2)
    return positive * high + negative * low, positive * (1 - high) + negative * (1 - low)


def _line(x: Floats, hits: Floats, misses: Floats, q: Floats | None) -> tuple[tuple[float, float], Floats] | None:
    """Intercept and slope with their covariance; None where the classes are parted the wrong way round."""
    if x[hits > 0][0] <= x[misses > 0][-1]:
        return None
    start = _near(x, hits, misses)
    found = line(x, hits, misses, squares=q, start=start)
    return (float(found.intercept), float(found.slope)), found.covariance


def _near(x: Floats, hits: Floats, misses: Floats) -> tuple[float, float] | None:
    """Where a fit of pooled neighbours ends, from which few steps are left."""
    if len(x) <= 4 * _POOLED:
        return None
    starts = np.arange(0, len(x), -(-len(x) // _POOLED))
    total = hits + misses
    hit, all_, mean = (np.add.reduceat(each, starts) for each in (hits, total, total * x))
    there = all_ > 0
    found = line((mean[there] / all_[there]), hit[there], (all_ - hit)[there])
    near = float(found.intercept), float(found.slope)
    return near if np.isfinite(near).all() and abs(near[1]) < 100 else None
