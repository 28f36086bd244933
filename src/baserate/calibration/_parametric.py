"""Parametric calibrators: offset, temperature, logistic (Platt) and beta.

Each is a logistic regression whose curve never falls.
"""

from __future__ import annotations

from dataclasses import replace
from math import log
from typing import Literal, NamedTuple, Unpack

import numpy as np

from baserate._arrays import Floats
from baserate._calibrator import Calibrator, Parameter, shift_log_odds
from baserate._calibrator_forms import Line, LogOdds
from baserate._domains import ShareLike, parse_share, wrong_option
from baserate._errors import FitError
from baserate._numeric.logistic import PROBABILITY_CLIP, fit_logistic, fit_logistic_basis, log_odds
from baserate._tally import Tally
from baserate.calibration._fit_data import (
    add_temperature,
    are_probabilities,
    binary_calibrator,
    clipping_note,
    log_probabilities,
    refuse_separation,
    refuse_separation_at_half,
    require_probabilities,
    wald_parameter,
)
from baserate.measure import calibration_offset as best_offset, squared_weights
from baserate.read import PredictionOptions, accepts_words

Scale = Literal["log-odds", "score"]
Shape = Literal["abm", "ab", "am", "a"]
_ZERO_TEMPERATURE_SLOPE = (
    "no slope above 0 fits better than 0, so all probabilities are ½: a calibrator never reverses scores; fit logistic."
)
_NEGATIVE_SLOPE = (
    "the higher the score, the rarer the positive class: a calibrator never reverses scores, so it is constant."
)


@binary_calibrator
def identity(
    tally: Tally, *, probabilities: bool | None = None, **predictions: Unpack[PredictionOptions]
) -> Calibrator:
    """Leave probabilities unchanged.

    Parameters
    ----------
    tally
        Data to fit.
    probabilities
        Whether the scores are probabilities; by default they are if all lie in [0, 1].

    Returns
    -------
    Calibrator
        The calibrator.

    Examples
    --------
    >>> from baserate import tally
    >>> identity(tally([0, 1], [0.2, 0.6]))([0.3]).tolist()
    [0.3]
    """
    require_probabilities(tally, "identity", probabilities=probabilities)
    return Calibrator(LogOdds(1.0, 1.0, 0.0), "identity")


@accepts_words
def prevalence(*, sample_prevalence: ShareLike, prevalence: ShareLike) -> Calibrator:
    r"""Adjust probabilities from one prevalence to another, :math:`σ(\mathrm{logit}\,p+\ln γ)`.

    γ is the ratio of the two prevalence odds. Nothing is fitted, and probabilities of 0 and 1 do not change.

    Parameters
    ----------
    sample_prevalence
        Prevalence at which the probabilities are calibrated.
    prevalence
        Deployment prevalence, to which they are adjusted.

    Returns
    -------
    Calibrator
        The calibrator.

    Examples
    --------
    >>> prevalence(sample_prevalence=0.5, prevalence=0.2)([0.0, 0.5, 0.8]).round(9).tolist()
    [0.0, 0.2, 0.5]
    """
    before, after = parse_share(sample_prevalence), parse_share(prevalence)
    for name, value in (("sample_prevalence", before), ("prevalence", after)):
        if not 0 < value < 1:
            raise wrong_option(name, value, "a prevalence between 0 and 1, both excluded")
    # Four logarithms instead of one: the ratio of odds itself may overflow.
    return shift_log_odds(log(after) - log(1 - after) - log(before) + log(1 - before))


@binary_calibrator
def offset(tally: Tally, *, probabilities: bool | None = None, **predictions: Unpack[PredictionOptions]) -> Calibrator:
    r"""Add a constant to all log-odds, so that the mean probability is the prevalence: :math:`σ(c+\mathrm{logit}\,p)`.

    This is the adjustment to another prevalence: probabilities that were calibrated at the derivation prevalence η
    become calibrated at the prevalence of the rows. The standard error of η takes the prevalence of the rows as fixed.

    Parameters
    ----------
    tally
        Data to fit.
    probabilities
        Whether the scores are probabilities; by default they are if all lie in [0, 1].

    Returns
    -------
    Calibrator
        The fitted calibrator.

    Examples
    --------
    >>> from baserate import tally
    >>> calibrator = offset(tally([0, 1, 0, 0], [0.4, 0.8, 0.5, 0.3]))
    >>> [(each.name, round(each.value, 4)) for each in calibrator.parameters]
    [('offset', -1.2908), ('derivation_prevalence', 0.5479)]
    >>> float(calibrator([0.4, 0.8, 0.5, 0.3]).mean().round(12))
    0.25
    """
    require_probabilities(tally, "offset", probabilities=probabilities)
    fit = best_offset(tally)
    if not np.isfinite(fit.value):
        raise FitError("all probabilities are 0 or 1, which no offset can change", remedy="fit isotonic.")
    constant = wald_parameter("offset", float(fit.value), float(fit.variance))
    parameters = (constant, _derivation_prevalence(tally, constant))
    # Not clipped, unlike slopes: log-odds of ±∞ plus a constant are well defined, so 0 and 1 stay.
    return Calibrator(LogOdds(1.0, 1.0, constant.value), "offset", parameters=parameters, notes=clipping_note(tally))


def _derivation_prevalence(tally: Tally, constant: Parameter) -> Parameter:
    """Return the prevalence at which the probabilities were calibrated, σ(logit ȳ − c), by the delta method."""
    from scipy.special import expit

    mean = log(tally.positives / tally.negatives)
    # A higher offset means a lower derivation prevalence, so that the bounds change places.
    value, low, high = (float(expit(mean - (at or 0.0))) for at in (constant.value, constant.high, constant.low))
    error = value * (1 - value) * (constant.standard_error or 0.0)
    return Parameter("derivation_prevalence", value, error, low, high, constant.level)


@binary_calibrator
def temperature(
    tally: Tally, *, probabilities: bool | None = None, **predictions: Unpack[PredictionOptions]
) -> Calibrator:
    r"""Multiply all log-odds by a slope, :math:`σ(b\,\mathrm{logit}\,p)`; T = 1/b is the temperature [@guo2017].

    A probability of ½ does not change, so that temperature scaling cannot correct for another prevalence.

    Parameters
    ----------
    tally
        Data to fit.
    probabilities
        Whether the scores are probabilities; by default they are if all lie in [0, 1].

    Returns
    -------
    Calibrator
        The fitted calibrator.

    Examples
    --------
    >>> from baserate import tally
    >>> calibrator = temperature(tally([0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.4, 0.6, 0.9, 0.7]))
    >>> [(each.name, round(each.value, 4)) for each in calibrator.parameters]
    [('slope', 0.7177), ('temperature', 1.3933)]
    """
    require_probabilities(tally, "temperature", probabilities=probabilities)
    return _fit_temperature(tally)


def _fit_temperature(tally: Tally) -> Calibrator:
    x = log_odds(tally.score)
    if not np.any(x):
        raise FitError("all probabilities are ½, which no temperature changes", remedy="fit offset.")
    refuse_separation_at_half(tally)
    # Bounded: a slope below 0 would reverse the ranking.
    fit = fit_logistic_basis(x[None], tally.positive, tally.negative, squares=squared_weights(tally), bounded=1)
    slope, variance = float(fit.weights[0]), float(fit.covariance[0, 0])
    if slope == 0:
        notes = (_ZERO_TEMPERATURE_SLOPE, *clipping_note(tally))
        return Calibrator(LogOdds(0.0, 0.0, 0.0, PROBABILITY_CLIP), "temperature", notes=notes)
    parameters = add_temperature(wald_parameter("slope", slope, variance))
    form = LogOdds(slope, slope, 0.0, PROBABILITY_CLIP)
    return Calibrator(form, "temperature", parameters=parameters, notes=clipping_note(tally))


@binary_calibrator
def logistic(
    tally: Tally,
    *,
    smoothed: bool = False,
    scale: Scale | None = None,
    probabilities: bool | None = None,
    **predictions: Unpack[PredictionOptions],
) -> Calibrator:
    r"""Fit a logistic curve (Platt scaling): :math:`σ(a+b\,\mathrm{logit}\,p)`, or of other scores [@platt1999].

    The fit has no penalty.

    Parameters
    ----------
    tally
        Data to fit.
    smoothed
        Whether to use Platt's targets :math:`(N_++1)/(N_++2)` and :math:`1/(N_-+2)` in place of 1 and 0, which give a
        finite fit even where a threshold separates the classes.
    scale
        "log-odds" or "score"; by default log-odds of probabilities, and other scores unchanged.
    probabilities
        Whether the scores are probabilities; by default they are if all lie in [0, 1].

    Returns
    -------
    Calibrator
        The fitted calibrator.

    Examples
    --------
    >>> from baserate import tally
    >>> calibrator = logistic(tally([0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.4, 0.6, 0.9, 0.7]))
    >>> [(each.name, round(each.value, 4)) for each in calibrator.parameters]
    [('intercept', -0.077), ('slope', 0.7207)]
    """
    if scale not in (None, "log-odds", "score"):
        raise wrong_option("scale", scale, "'log-odds' or 'score'")
    if scale == "log-odds":
        require_probabilities(tally, "the scale of log-odds", probabilities=probabilities)
    stated = probabilities if scale is None else scale == "log-odds"
    return _fit_logistic(tally, smoothed=smoothed, probabilities=are_probabilities(tally, stated))


def _fit_logistic(tally: Tally, *, smoothed: bool = False, probabilities: bool = True) -> Calibrator:
    x = log_odds(tally.score) if probabilities else tally.score
    if x[0] == x[-1]:
        raise FitError("all scores are equal, so no slope is better than another", remedy="fit offset or isotonic.")
    if not smoothed:
        refuse_separation(tally)
    fit = _fit_line(x, *_targets(tally, smoothed=smoothed), squared_weights(tally))
    notes = clipping_note(tally) if probabilities else ("scores were used in place of log-odds.",)
    # A falling curve would reverse the ranking; the best curve that does not fall is constant.
    if fit is None or fit[0][1] <= 0:
        level = log(tally.positives / tally.negatives)
        constant = LogOdds(0.0, 0.0, level, PROBABILITY_CLIP) if probabilities else Line(level, 0.0)
        return Calibrator(constant, "logistic", notes=(_NEGATIVE_SLOPE, *notes))
    (intercept, slope), covariance = fit
    form = LogOdds(slope, slope, intercept, PROBABILITY_CLIP) if probabilities else Line(intercept, slope)
    estimates = zip(("intercept", "slope"), (intercept, slope), np.diagonal(covariance), strict=True)
    return Calibrator(form, "logistic", parameters=tuple(wald_parameter(*each) for each in estimates), notes=notes)


def _targets(tally: Tally, *, smoothed: bool) -> tuple[Floats, Floats]:
    """Return the mass that counts as positive and as negative at each score."""
    positive, negative = tally.positive, tally.negative
    if not smoothed:
        return positive, negative
    # Each row also counts a little for the other class, so that the likelihood has a maximum even if a threshold
    # separates the classes.
    high, low = (tally.positives + 1) / (tally.positives + 2), 1 / (tally.negatives + 2)
    return positive * high + negative * low, positive * (1 - high) + negative * (1 - low)


def _fit_line(
    x: Floats, positive: Floats, negative: Floats, squared: Floats | None
) -> tuple[tuple[float, float], Floats] | None:
    """Return intercept, slope and covariance; None where a threshold separates the classes in the wrong direction."""
    # The likelihood then grows as the slope falls, and the iteration would not end.
    if x[(positive > 0).argmax()] <= x[::-1][(negative[::-1] > 0).argmax()]:
        return None
    fit = fit_logistic(x, positive, negative, squares=squared)
    return (float(fit.intercept), float(fit.slope)), fit.covariance


class _BetaFit(NamedTuple):
    """Parameters a, b and c of beta calibration, and the variances of the free ones."""

    a: float
    b: float
    c: float
    variances: dict[str, float]


@binary_calibrator
def beta(
    tally: Tally, *, shape: Shape = "abm", probabilities: bool | None = None, **predictions: Unpack[PredictionOptions]
) -> Calibrator:
    r"""Fit beta calibration, :math:`σ(c+a\ln p-b\ln(1-p))` with two slopes ≥ 0 [@kull2017].

    The family includes sigmoids, inverse sigmoids and the identity, so that calibrated probabilities can stay.

    Parameters
    ----------
    tally
        Data to fit.
    shape
        Free parameters; m is where the curve crosses ½. "ab" fixes m at ½, "am" has a = b (a logistic curve), "a" both
        (a temperature).
    probabilities
        Whether the scores are probabilities; by default they are if all lie in [0, 1].

    Returns
    -------
    Calibrator
        The fitted calibrator.

    Examples
    --------
    >>> from baserate import tally
    >>> calibrator = beta(tally([0, 1, 0, 1, 1, 0, 0, 1], [0.2, 0.1, 0.4, 0.6, 0.9, 0.5, 0.3, 0.8]))
    >>> [(each.name, round(each.value, 3)) for each in calibrator.parameters]
    [('a', 0.0), ('b', 2.447), ('c', -1.803), ('m', 0.521)]
    """
    if shape not in ("abm", "ab", "am", "a"):
        raise wrong_option("shape", shape, "'abm', 'ab', 'am' or 'a'")
    require_probabilities(tally, "beta", probabilities=probabilities)
    # These shapes are the logistic and the temperature fit under other names.
    if shape in ("am", "a"):
        calibrator = _fit_logistic(tally) if shape == "am" else _fit_temperature(tally)
        return replace(calibrator, method=f"beta-{shape}")
    fit = _fit_beta(tally) if shape == "abm" else _fit_beta_through_half(tally)
    parameters = [wald_parameter(name, getattr(fit, name), fit.variances.get(name, np.nan)) for name in ("a", "b", "c")]
    if fit.a + fit.b > 0:
        parameters.append(Parameter("m", _crossing(fit)))
    return Calibrator(
        LogOdds(fit.a, fit.b, fit.c, PROBABILITY_CLIP),
        "beta" if shape == "abm" else f"beta-{shape}",
        parameters=tuple(parameters),
        notes=(*([_NEGATIVE_SLOPE] if fit.a == fit.b == 0 else []), *clipping_note(tally)),
    )


def _fit_beta(tally: Tally) -> _BetaFit:
    first, second = log_probabilities(tally.score)
    if len(first) < 3 or np.count_nonzero(np.diff(first)) < 2:
        raise FitError("three parameters need at least three different scores", remedy="fit logistic.")
    refuse_separation(tally)
    return _fit_slopes(tally, {"a": first, "b": second, "c": np.ones(len(first))})


def _fit_beta_through_half(tally: Tally) -> _BetaFit:
    """Fit beta calibration that leaves ½ unchanged: c = (a − b) ln 2."""
    # Shifted so that both columns are 0 at p = ½: without an intercept the curve passes through (½, ½).
    first, second = (each + sign * log(2) for each, sign in zip(log_probabilities(tally.score), (1, -1), strict=True))
    if np.count_nonzero(np.diff(first[first != 0])) < 1:
        raise FitError("two parameters need at least two different scores besides ½", remedy="fit temperature.")
    refuse_separation_at_half(tally)
    fit = _fit_slopes(tally, {"a": first, "b": second})
    return fit._replace(c=(fit.a - fit.b) * log(2))


def _fit_slopes(tally: Tally, columns: dict[str, Floats]) -> _BetaFit:
    """Fit a logistic regression on these columns, with slopes a and b not below 0."""
    fit = fit_logistic_basis(
        np.stack(list(columns.values())), tally.positive, tally.negative, squares=squared_weights(tally), bounded=2
    )
    if not fit.converged:
        raise FitError(
            "at some scores there is one class only, so that no finite slope fits", remedy="fit logistic or isotonic."
        )
    weights = dict(zip(columns, fit.weights.tolist(), strict=True))
    # A slope that is fixed at its bound has no Wald interval.
    variances = np.where(fit.at_bound, np.nan, np.diagonal(fit.covariance))
    by_name = dict(zip(columns, variances.tolist(), strict=True))
    return _BetaFit(weights["a"], weights["b"], weights.get("c", 0.0), by_name)


def _crossing(fit: _BetaFit) -> float:
    """Return the probability m at which the curve crosses ½: b ln(1 − m) − a ln m = c."""
    from scipy.optimize import brentq
    from scipy.special import log_expit

    def value(x: float) -> float:
        return float(fit.a * log_expit(x) - fit.b * log_expit(-x) + fit.c)

    # In log-odds, where the curve is nearly straight; e⁻⁷⁴⁵ is the smallest positive float, so that beyond m is 0 or 1.
    low, high = -745.0, 745.0
    if value(low) >= 0 or value(high) <= 0:
        return 0.0 if value(low) >= 0 else 1.0
    return float(1 / (1 + np.exp(-brentq(value, low, high, xtol=1e-12))))
