"""Maximum likelihood of label shift, MLLS: what EM looks for, found exactly [@saerens2002]."""

from __future__ import annotations

from math import log, log1p, sqrt
from typing import Literal, NamedTuple

import numpy as np

from baserate._arrays import Cells, Floats, Reals, ratio
from baserate._calibrator import Calibrator
from baserate._calibrator_forms import Line, LogOdds
from baserate._errors import FitError, OptionError
from baserate._estimate import Estimate
from baserate._numeric.logistic import log_odds
from baserate._numeric.mixture import Draws, likeliest, pooled
from baserate._tally import Tally
from baserate.calibrate import logistic
from baserate.shift._two._given import Given
from baserate.shift._two._result import Prevalence

HOW = "scaled profile likelihood and Wald, with validation"
_TARGET_ONLY = "profile likelihood, posteriors taken as exact"

Recalibrate = bool | Calibrator | Literal["logistic"]
"""Whether posteriors are made right on validation, or by what; True is a logistic curve here."""


class Posterior(NamedTuple):
    """Probabilities that are right at a prevalence, and how validation rows move them."""

    map: Calibrator | None
    """None where they are taken as they are."""
    at: float
    moved: Floats | None = None
    """Influence of validation rows, of shape (2, 2, scores): on the level of log-odds less those of `at` and on their
    slope, by class and score; None where nothing was estimated."""

    def variable(self, scores: Reals) -> Floats:
        """What the slope multiplies."""
        values = np.asarray(scores, dtype=np.float64)
        return values if self.map is not None and isinstance(self.map.form, Line) else log_odds(values)

    def log_ratio(self, scores: Reals) -> Floats:
        """Logarithms of how many times as likely each score is among positives as among negatives."""
        values = np.asarray(scores, dtype=np.float64)
        level = log(self.at) - log1p(-self.at)
        if self.map is not None and (line := _line(self.map)) is not None:
            x = self.variable(values)
            x = x * line[1]
            x += line[0] - level
            return x
        p = values if self.map is None else self.map(values)
        with np.errstate(divide="ignore"):
            found: Floats = np.log(p) - np.log1p(-p)
        found -= level
        return found

    def moved_by(self, change: Floats, ratios: Floats, validation: Tally, *, carried: bool) -> Floats:
        """How much validation rows move something that changes so much with log-ratios of the target.

        Unless they are `carried` to another prevalence, it is log-odds at their own that matter.
        """
        if self.moved is None:
            return np.zeros(validation.mass.shape)
        own = self.moved.copy()
        if not carried:
            own[0] += _of_prevalence(validation)
        line = _line(self.map) if self.map is not None else None
        x = np.zeros(1) if line is None else (ratios + log(self.at) - log1p(-self.at) - line[0]) / line[1]
        with np.errstate(invalid="ignore"):
            sums = np.array([float(change.sum()), float(np.nan_to_num(change * x).sum())])
        found: Floats = np.tensordot(sums, own, axes=1)
        return found


def _line(found: Calibrator) -> tuple[float, float] | None:
    """Intercept and slope of a logistic curve; None of other maps."""
    form = found.form
    if isinstance(form, Line):
        return form.intercept, form.slope
    return (form.c, form.a) if isinstance(form, LogOdds) and form.a == form.b and form.nearest else None


def mlls(given: Given, *, recalibrate: Recalibrate = True, at: float | None = None) -> Prevalence:
    r"""Share q that maximises :math:`\sum_j\ln(q\,p_j/π+(1-q)(1-p_j)/(1-π))`, by Newton's method between bounds.

    Posteriors must be right at the prevalence π. They are made so first, by a logistic curve with a free intercept
    (of two classes, that is bias-corrected temperature scaling [@alexandari2020]), fitted to the validation set; its
    error is part of the interval. With ``recalibrate=False`` they are taken as they are, right `at` a prevalence,
    that of validation unless it is named; with a `Calibrator`, as that makes them. Labelled rows of the target add
    their
    likelihood.
    """
    made = made_right(given, recalibrate=recalibrate, at=at)
    ratios = made.log_ratio(given.score)
    if not np.any(ratios):
        raise FitError(
            "every posterior of the target equals the prevalence it is right at, so none tells; give others."
        )
    draws = Draws.of(ratios, given.target.mass, given.target.squares)
    labels = Labels(*given.known)
    few = pooled(ratios, draws)
    value = _maximum(draws, labels, _maximum(few[1], labels, made.at))
    moved, spread = _moved(given, made, few, value)
    variance, reach = given.reach(moved, spread)
    low, high = _bounds(_Shape(few[1], labels, value), variance, spread, reach)
    how = HOW if made.moved is not None else _TARGET_ONLY
    notes = () if made.map is None else made.map.notes
    estimate = Estimate(value, low, high, given.level, how)
    return Prevalence(estimate, "mlls", value, given.validation, moved, spread, made.map, made.at, notes=notes)


def moved_by(ratios: Floats, found: Prevalence, mass: Cells | None, given: Given) -> Floats:
    """How much a unit of mass of draws with these log-ratios and masses moves an estimate of this kind."""
    draws = Draws.of(ratios, mass, mass)
    u = draws.lean / (0.5 + draws.lean * (found.value - 0.5))
    return np.asarray(u / (draws.moments(found.value).curvature + Labels(*given.known).curvature(found.value)))


def made_right(given: Given, *, recalibrate: Recalibrate = True, at: float | None = None) -> Posterior:
    """Make probabilities that are right at a prevalence, as `mlls` does."""
    tally = given.validation
    if at is not None and not 0 < at < 1:
        raise OptionError(f"at is {at}; a prevalence lies between 0 and 1, both excluded.")
    if isinstance(recalibrate, str) and recalibrate != "logistic":
        raise OptionError(f"recalibrate is {recalibrate!r}; expected 'logistic', True, False or a Map.")
    if recalibrate is True or recalibrate == "logistic":
        if at is not None:
            raise OptionError(f"at={at} has no use: recalibrated posteriors are right at the prevalence of validation.")
        return _recalibrated(tally)
    if isinstance(recalibrate, Calibrator):
        fitted = recalibrate.fitted.prevalence if recalibrate.fitted else tally.prevalence
        return Posterior(recalibrate, at or (fitted if isinstance(fitted, float) else tally.prevalence))
    given.probabilities("mlls without recalibration")
    if at is not None:
        return Posterior(None, at)
    return Posterior(None, tally.prevalence, np.stack([-_of_prevalence(tally), np.zeros(tally.mass.shape)]))


def _recalibrated(tally: Tally) -> Posterior:
    """A logistic curve with its influence function: H⁻¹x(y − m), less that of the log-odds of the prevalence."""
    try:
        made = Posterior(logistic(tally), tally.prevalence)
    except FitError as error:
        raise FitError(
            f"scores cannot be recalibrated on validation: {error} Or estimate by 'pacc' or 'acc', or take "
            "probabilities as they are with recalibrate=False."
        ) from error
    line = _line(made.map) if made.map is not None else None
    if line is None or made.map is None or line[1] <= 0:
        raise FitError("the higher the score the rarer the positive class; turn scores round, or estimate by 'pacc'.")
    x, chance = made.variable(tally.score), made.map(tally.score)
    weight = (tally.positive + tally.negative) * chance * (1 - chance)
    cross = float(weight @ x)
    inverse = np.linalg.inv(np.array([[float(weight.sum()), cross], [cross, float(weight @ (x * x))]]))
    rows = inverse @ np.stack([np.ones_like(x), x])
    moved = np.stack([rows * (1 - chance), rows * -chance], axis=1)
    moved[0] -= _of_prevalence(tally)
    return made._replace(moved=moved)


def _of_prevalence(tally: Tally) -> Floats:
    """How much one more row of each class moves the log-odds of the prevalence."""
    return np.repeat([[1 / tally.positives], [-1 / tally.negatives]], len(tally.score), axis=1)


class Labels(NamedTuple):
    """Rows of the target whose truth is known."""

    positives: float
    negatives: float

    def slope(self, q: float) -> float:
        """Of their log-likelihood."""
        return _over(self.positives, q) - _over(self.negatives, 1 - q)

    def curvature(self, q: float) -> float:
        """Less its second derivative."""
        return _over(self.positives, q * q) + _over(self.negatives, (1 - q) ** 2)

    def surprise(self, q: float) -> float:
        """Less the log-likelihood."""
        from scipy.special import xlogy

        return -float(xlogy(self.positives, q) + xlogy(self.negatives, 1 - q))


def _over(part: float, whole: float) -> float:
    """Ratio of which nothing is nothing."""
    return ratio(part, whole) if part else 0.0


def _maximum(draws: Draws, labels: Labels, start: float) -> float:
    def slope_at(q: float) -> tuple[float, float]:
        found = draws.moments(q)
        return found.slope + labels.slope(q), found.curvature + labels.curvature(q)

    return likeliest(slope_at, start)


def _moved(given: Given, made: Posterior, few: tuple[Floats, Draws], q: float) -> tuple[Floats, float]:
    """How much validation rows move the share, and the variance that comes from the target."""
    ratios, draws = few
    found, labels = draws.moments(q), Labels(*given.known).curvature(q)
    curvature = found.curvature + labels
    spread = (found.noise + labels) / curvature**2
    moved = made.moved_by(draws.sensitivity(q), ratios, given.validation, carried=True) / curvature
    return moved, spread


class _Shape(NamedTuple):
    """The likelihood of a share, and where it is highest."""

    draws: Draws
    labels: Labels
    peak: float

    def fall(self, q: float) -> float:
        """How far the log-likelihood lies below its maximum."""
        there = self.draws.surprise(q) + self.labels.surprise(q)
        return there - self.draws.surprise(self.peak) - self.labels.surprise(self.peak)


def _bounds(shape: _Shape, variance: float, spread: float, reach: float) -> tuple[float, float]:
    """Shares that are neither too far by the standard error, nor much less likely than the peak.

    The log-likelihood is of the target alone, and counts as many times less as the variance is greater for validation.
    """
    allowed = reach**2 / 2 * variance / spread
    low, high = (_end(shape, end, allowed) for end in (0.0, 1.0))
    half = reach * sqrt(variance)
    return min(low, max(shape.peak - half, 0.0)), max(high, min(shape.peak + half, 1.0))


def _end(shape: _Shape, end: float, allowed: float) -> float:
    """Where the likelihood has fallen so far, on the way to an end; the end itself if it never does."""
    inside, outside = shape.peak, end
    if inside == end or shape.fall(end) <= allowed:
        return end
    for _ in range(60):
        middle = (inside + outside) / 2
        if shape.fall(middle) <= allowed:
            inside = middle
        else:
            outside = middle
        if abs(outside - inside) < 1e-9:
            break
    return inside
