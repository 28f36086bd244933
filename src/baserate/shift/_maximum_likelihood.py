"""Prevalence by maximum likelihood of label shift (MLLS): the maximum that EM approaches, found exactly [@saerens2002].

Two classes have a scalar problem with a profile likelihood; several classes a concave problem on the simplex.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log, log1p, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from baserate._arrays import Cells, Floats, Reals, ratio
from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._calibrator_forms import Line, LogOdds, Softmax
from baserate._errors import FitError, OptionError, keyword
from baserate._formatting import count_of
from baserate._numeric.logistic import PROBABILITY_CLIP, SoftmaxData, SoftmaxModel, log_odds, softmax_information
from baserate._numeric.mixture import MixtureSample, maximize_share, pool_neighbors
from baserate._numeric.simplex import MixtureFit, contrasts, fit_mixture, mixture_moments, shares_covariance
from baserate._results import Estimate
from baserate._rows import MulticlassRows, MulticlassTarget
from baserate._tally import Tally
from baserate.calibrate import logistic
from baserate.calibrate.multiclass import bias_corrected, format_labels, temperature, vector
from baserate.shift._data import BinaryData, MulticlassData, Sample
from baserate.shift._estimates import MulticlassPrevalence, Prevalence, share_intervals
from baserate.shift._moment_matching import check_rank, multiclass_means

_PROFILE_METHOD = "scaled profile likelihood and Wald, with validation"
_TARGET_ONLY_METHOD = "profile likelihood, posteriors taken as exact"

RecalibrateOption = bool | Calibrator | Literal["logistic"]
"""Whether to recalibrate posteriors on validation, or the calibrator to apply; True fits a logistic curve."""


class Posterior(NamedTuple):
    """Probabilities that are calibrated at a prevalence, and the influence of validation rows on them."""

    calibrator: Calibrator | None
    """None if scores are taken as calibrated."""
    at: float
    influence: Floats | None = None
    """Influence of validation rows, of shape (2, 2, scores): on the intercept less the log-odds of `at`, and on the
    slope, by class and score; None if nothing was estimated."""

    def variable(self, scores: Reals) -> Floats:
        """Return the regressor that the slope multiplies: scores or their log-odds."""
        values = np.asarray(scores, dtype=np.float64)
        return values if self.calibrator is not None and isinstance(self.calibrator.form, Line) else log_odds(values)

    def log_ratio(self, scores: Reals) -> Floats:
        """Return log-likelihood ratios of positives to negatives at each score."""
        values = np.asarray(scores, dtype=np.float64)
        level = log(self.at) - log1p(-self.at)
        if self.calibrator is not None and (line := _logistic_line(self.calibrator)) is not None:
            x = self.variable(values)
            x = x * line[1]
            x += line[0] - level
            return x
        p = values if self.calibrator is None else self.calibrator(values)
        with np.errstate(divide="ignore"):
            ratios: Floats = np.log(p) - np.log1p(-p)
        ratios -= level
        return ratios

    def influence_on(self, change: Floats, ratios: Floats, validation: Tally, *, adjusted: bool) -> Floats:
        """Compute the influence of validation rows on a number with these derivatives by the target's log-ratios.

        Unless probabilities are `adjusted` to another prevalence, log-odds at their own prevalence matter.
        """
        if self.influence is None:
            return np.zeros(validation.mass.shape)
        own = self.influence.copy()
        if not adjusted:
            own[0] += _prevalence_influence(validation)
        line = _logistic_line(self.calibrator) if self.calibrator is not None else None
        # Log-odds of the target, recovered from the ratios: scores are not stored.
        x = np.zeros(1) if line is None else (ratios + log(self.at) - log1p(-self.at) - line[0]) / line[1]
        with np.errstate(invalid="ignore"):
            sums = np.array([float(change.sum()), float(np.nan_to_num(change * x).sum())])
        total: Floats = np.tensordot(sums, own, axes=1)
        return total


def _logistic_line(calibrator: Calibrator) -> tuple[float, float] | None:
    """Return intercept and slope of a logistic calibrator; None for other calibrators."""
    form = calibrator.form
    if isinstance(form, Line):
        return form.intercept, form.slope
    return (form.c, form.a) if isinstance(form, LogOdds) and form.a == form.b and form.nearest else None


def binary_mlls(data: BinaryData, *, recalibrate: RecalibrateOption = True, at: float | None = None) -> Prevalence:
    r"""Maximize :math:`\sum_j\ln(q\,p_j/π+(1-q)(1-p_j)/(1-π))` over the prevalence q by Newton's method.

    Posteriors must be calibrated at the prevalence π. By default a logistic curve with a free intercept is fitted to
    the validation data; for two classes, that is bias-corrected temperature scaling [@alexandari2020]. Its error is
    part of the interval. With ``recalibrate=False`` posteriors are taken as calibrated `at` a prevalence, by default
    that of validation; with a `Calibrator`, after applying it. Labelled rows of the target add their likelihood.
    """
    posterior = recalibrate_scores(data, recalibrate=recalibrate, at=at)
    ratios = posterior.log_ratio(data.score)
    if not np.any(ratios):
        raise FitError(
            "every posterior of the target equals the prevalence it is right at, so none tells", remedy="give others."
        )
    sample = MixtureSample.of(ratios, data.target.mass, data.target.squares)
    labels = LabelLikelihood(*data.label_counts)
    few = pool_neighbors(ratios, sample)
    # Pooled scores give a start next to the maximum, so that the full pass needs few steps.
    value = _maximize(sample, labels, _maximize(few[1], labels, posterior.at))
    influence, spread = _binary_influence(data, posterior, few, value)
    variance, reach = data.reach(influence, spread)
    low, high = _profile_bounds(_ProfileLikelihood(few[1], labels, value), variance, spread, reach)
    how = _PROFILE_METHOD if posterior.influence is not None else _TARGET_ONLY_METHOD
    notes = () if posterior.calibrator is None else posterior.calibrator.notes
    estimate = Estimate(value, low, high, data.level, how)
    return Prevalence(
        estimate, "mlls", value, data.validation, influence, spread, posterior.calibrator, posterior.at, notes=notes
    )


def target_influence(ratios: Floats, estimate: Prevalence, mass: Cells | None, data: BinaryData) -> Floats:
    """Influence on the estimate of a unit of mass of the target at these log-ratios."""
    sample = MixtureSample.of(ratios, mass, mass)
    u = sample.lean / (0.5 + sample.lean * (estimate.value - 0.5))
    return np.asarray(
        u / (sample.moments(estimate.value).curvature + LabelLikelihood(*data.label_counts).curvature(estimate.value))
    )


def recalibrate_scores(
    data: BinaryData, *, recalibrate: RecalibrateOption = True, at: float | None = None
) -> Posterior:
    """Compute probabilities that are calibrated at a prevalence, as `mlls` does."""
    tally = data.validation
    if at is not None and not 0 < at < 1:
        raise OptionError(f"at is {at}; a prevalence lies between 0 and 1, both excluded.", option="at", value=at)
    if isinstance(recalibrate, str) and recalibrate != "logistic":
        raise OptionError(
            f"recalibrate is {recalibrate!r}; expected 'logistic', True, False or a Calibrator.",
            option="recalibrate",
            value=recalibrate,
        )
    if recalibrate is True or recalibrate == "logistic":
        if at is not None:
            raise OptionError(
                f"{keyword('at', at)} has no use: recalibrated posteriors are right at the prevalence of validation.",
                option="at",
                value=at,
            )
        return _fit_logistic(tally)
    if isinstance(recalibrate, Calibrator):
        fitted = recalibrate.fitted.prevalence if recalibrate.fitted else tally.prevalence
        return Posterior(recalibrate, at or (fitted if isinstance(fitted, float) else tally.prevalence))
    data.check_probabilities("mlls without recalibration")
    if at is not None:
        return Posterior(None, at)
    return Posterior(None, tally.prevalence, np.stack([-_prevalence_influence(tally), np.zeros(tally.mass.shape)]))


def _fit_logistic(tally: Tally) -> Posterior:
    """Fit a logistic curve; its influence function is H⁻¹x(y − m), less that of the prevalence log-odds."""
    try:
        posterior = Posterior(logistic(tally), tally.prevalence)
    except FitError as error:
        raise FitError(
            f"scores cannot be recalibrated on validation: {error} Or estimate by 'pacc' or 'acc', or take "
            f"probabilities as they are with {keyword('recalibrate', value=False)}."
        ) from error
    line = _logistic_line(posterior.calibrator) if posterior.calibrator is not None else None
    if line is None or posterior.calibrator is None or line[1] <= 0:
        raise FitError(
            "the higher the score the rarer the positive class", remedy="turn scores round, or estimate by 'pacc'."
        )
    x, chance = posterior.variable(tally.score), posterior.calibrator(tally.score)
    weight = (tally.positive + tally.negative) * chance * (1 - chance)
    cross = float(weight @ x)
    inverse = np.linalg.inv(np.array([[float(weight.sum()), cross], [cross, float(weight @ (x * x))]]))
    rows = inverse @ np.stack([np.ones_like(x), x])
    influence = np.stack([rows * (1 - chance), rows * -chance], axis=1)
    influence[0] -= _prevalence_influence(tally)
    return posterior._replace(influence=influence)


def _prevalence_influence(tally: Tally) -> Floats:
    """Influence of one more row of each class on the log-odds of the prevalence."""
    return np.repeat([[1 / tally.positives], [-1 / tally.negatives]], len(tally.score), axis=1)


class LabelLikelihood(NamedTuple):
    """Log-likelihood of the labelled rows of the target."""

    positives: float
    negatives: float

    def slope(self, q: float) -> float:
        """First derivative of the log-likelihood."""
        return _ratio_or_zero(self.positives, q) - _ratio_or_zero(self.negatives, 1 - q)

    def curvature(self, q: float) -> float:
        """Negative second derivative of the log-likelihood."""
        return _ratio_or_zero(self.positives, q * q) + _ratio_or_zero(self.negatives, (1 - q) ** 2)

    def surprise(self, q: float) -> float:
        """Negative log-likelihood."""
        from scipy.special import xlogy

        return -float(xlogy(self.positives, q) + xlogy(self.negatives, 1 - q))


def _ratio_or_zero(part: float, whole: float) -> float:
    """Divide; 0/0 is 0, since labels that do not exist add nothing."""
    return ratio(part, whole) if part else 0.0


def _maximize(sample: MixtureSample, labels: LabelLikelihood, start: float) -> float:
    def slope_at(q: float) -> tuple[float, float]:
        moments_at = sample.moments(q)
        return moments_at.slope + labels.slope(q), moments_at.curvature + labels.curvature(q)

    return maximize_share(slope_at, start)


def _binary_influence(
    data: BinaryData, posterior: Posterior, few: tuple[Floats, MixtureSample], q: float
) -> tuple[Floats, float]:
    """Compute the influence of validation rows on the prevalence, and the variance from the target."""
    ratios, sample = few
    moments_at, labels = sample.moments(q), LabelLikelihood(*data.label_counts).curvature(q)
    curvature = moments_at.curvature + labels
    spread = (moments_at.noise + labels) / curvature**2
    influence = posterior.influence_on(sample.sensitivity(q), ratios, data.validation, adjusted=True) / curvature
    return influence, spread


class _ProfileLikelihood(NamedTuple):
    """The log-likelihood of a prevalence, and its maximum."""

    sample: MixtureSample
    labels: LabelLikelihood
    peak: float

    def fall(self, q: float) -> float:
        """Compute how far the log-likelihood lies below its maximum."""
        there = self.sample.surprise(q) + self.labels.surprise(q)
        return there - self.sample.surprise(self.peak) - self.labels.surprise(self.peak)


def _profile_bounds(shape: _ProfileLikelihood, variance: float, spread: float, reach: float) -> tuple[float, float]:
    """Bound the prevalence by the standard error and by the profile likelihood, whichever is wider.

    The log-likelihood is that of the target. Its fall is scaled by the ratio of the variance from both samples to that
    from the target.
    """
    # Wilks' bound, scaled for the variance that the target's likelihood does not contain.
    allowed = reach**2 / 2 * variance / spread
    low, high = (_profile_end(shape, end, allowed) for end in (0.0, 1.0))
    half = reach * sqrt(variance)
    return min(low, max(shape.peak - half, 0.0)), max(high, min(shape.peak + half, 1.0))


def _profile_end(shape: _ProfileLikelihood, end: float, allowed: float) -> float:
    """Bisect for where the log-likelihood has fallen by the allowance; the end of [0, 1] if it never does."""
    inside, outside = shape.peak, end
    if inside == end or shape.fall(end) <= allowed:
        return end
    # Bisection: the likelihood is monotone on each side, but may be infinite at the end itself.
    for _ in range(60):
        middle = (inside + outside) / 2
        if shape.fall(middle) <= allowed:
            inside = middle
        else:
            outside = middle
        if abs(outside - inside) < 1e-9:
            break
    return inside


Recalibration = Literal["bias-corrected", "vector", "temperature"]
SharesLike = Mapping[Any, float] | Sequence[float] | Floats

_CALIBRATORS: dict[str, Callable[[MulticlassRows], MulticlassCalibrator]] = {
    "bias-corrected": bias_corrected,
    "vector": vector,
    "temperature": temperature,
}
_SUM_TOLERANCE = 0.01
"""Largest distance from 1 of a sum of shares, which may be rounded."""
_BLOCK = 1 << 15
"""Numbers of a block that fits the cache with its intermediate results."""
_AS_GIVEN_NOTE = (
    "probabilities are taken as they are: if they are not right, neither are the shares, nor the intervals."
)


def multiclass_mlls(
    target: MulticlassTarget,
    validation: MulticlassRows,
    *,
    level: float = 0.95,
    recalibrate: Recalibration | bool | None = "bias-corrected",
    at: SharesLike | None = None,
) -> MulticlassPrevalence:
    r"""Maximize :math:`\sum_j\ln\sum_kq_kp_{jk}/π_k` over the shares q; probabilities p are calibrated at shares π.

    Probabilities are first recalibrated on the validation rows, whose shares are then π; a bias for each class is
    essential [@alexandari2020]. With `recalibrate=None` probabilities are taken as calibrated `at` given shares, by
    default those of validation. The maximum is exact, where EM may stop early. Labelled rows of the target add
    :math:`\ln q_k` each, and the calibration counts as exact for them. The interval includes the uncertainty of the
    calibration and of π; without recalibration, that of the target only.

    Also: maximum likelihood label shift, EM, EMQ, SLD, Saerens–Latinne–Decaestecker.
    Reference: [@saerens2002].

    >>> from baserate import class_scores
    >>> score = [[0.8, 0.2], [0.5, 0.5], [0.2, 0.8]]
    >>> rows = class_scores(list("aaabbb"), score * 2, count=[40, 20, 10, 10, 20, 40])
    >>> target = MulticlassTarget(np.array(score), ("a", "b"), count=np.array([70, 20, 10]))
    >>> multiclass_mlls(target, rows).value.round(3).tolist()
    [1.0, 0.0]
    """
    data = MulticlassData.of(target, validation)
    fit = fit_likelihood_ratios(data, recalibrate=recalibrate, at=at)
    check_rank(*multiclass_means(data.truth, data.validation, fit.calibrated), data.labels, level=level)
    mixture = fit_mixture(fit.across.T, amount=data.target.amount, fixed=data.labelled_mass)
    if not mixture.converged:
        raise FitError(
            "the likelihood of the shares has no single maximum that could be found", remedy="estimate by pacc."
        )
    return _build_likely_shares(data, fit, mixture, level=level)


def fit_likelihood_ratios(
    data: MulticlassData, *, recalibrate: Recalibration | bool | None = "bias-corrected", at: SharesLike | None = None
) -> LikelihoodRatios:
    """Recalibrate probabilities on the validation rows, or take them as calibrated."""
    data.check_probabilities()
    if recalibrate is True:  # as of two classes
        recalibrate = "bias-corrected"
    if not recalibrate:
        # False and None both mean: take probabilities as calibrated.
        return ratios_as_given(data, data.shares if at is None else _check_prior(at, data.labels))
    if at is not None:
        raise OptionError(
            f"{keyword('at')} is for probabilities taken as they are",
            remedy=f"add {keyword('recalibrate', None)}, or leave it out.",
        )
    return recalibrate_ratios(data, _fit_softmax(recalibrate, data))


class LikelihoodRatios(NamedTuple):
    """Likelihood of each row of the target in each class, and the calibration that it comes from."""

    across: Floats
    """Likelihoods up to a factor of the row; a column for each row."""
    at: Floats
    """Shares at which the probabilities are calibrated."""
    calibrated: Floats
    """Probabilities of the validation rows."""
    calibrator: MulticlassCalibrator | None = None
    line: CalibrationLine | None = None
    x: Floats | None = None
    """Centered logarithms of the probabilities before calibration; a column for each row."""


def ratios_as_given(data: MulticlassData, at: Floats) -> LikelihoodRatios:
    """Compute likelihood ratios of probabilities that are calibrated at given shares."""
    across = np.ascontiguousarray(data.target.score.T, dtype=np.float64)
    return LikelihoodRatios(across / at[:, None], at, np.asarray(data.validation.score, dtype=np.float64))


def recalibrate_ratios(data: MulticlassData, calibrator: MulticlassCalibrator) -> LikelihoodRatios:
    """Compute likelihood ratios with a calibrator that was fitted on the validation rows."""
    calibrated = calibrator(data.validation.score)
    line = CalibrationLine.of(calibrator, data, calibrated)
    across, x = line.of_target(data.target.score)
    return LikelihoodRatios(across, line.at, calibrated, calibrator, line, x)


class CalibrationLine(NamedTuple):
    r"""The calibration as :math:`\ln a_{jk}=w_k(\ln p_{jk}-\bar x_k)+c_k`, c being biases less ln π."""

    weight: Floats
    shift: Floats
    middle: Floats
    at: Floats
    """Mean probability of each class in validation, which is π; with biases, exactly its share."""
    lead: Floats
    """Influence of residuals :math:`(x_i∘(y_i-m_i),y_i-m_i)` on weights and shifts."""
    covariance: Floats
    """Covariance of weights and shifts."""

    @staticmethod
    def of(calibrator: MulticlassCalibrator, data: MulticlassData, calibrated: Floats) -> CalibrationLine:
        """Extract the parameters of a calibrator, and their covariance from its output for the validation rows."""
        form, side = calibrator.form, data.validation
        assert isinstance(form, Softmax)  # noqa: S101  (for the type checker)
        logs = np.log(np.maximum(side.score, PROBABILITY_CLIP, dtype=np.float64))
        # Around the mean of every class, where slopes and biases hardly depend on each other.
        middle = np.average(logs, axis=0, weights=side.amount)
        logs -= middle
        shift = form.bias + form.weight * middle
        at, spread = side.mean(calibrated)
        rows = SoftmaxData(logs, data.truth, side.amount, side.squares)
        both = np.concatenate([form.weight, shift])
        lead, covariance = _parameter_influence(
            rows, both, _free_directions(calibrator.method, form.weight), at * side.total
        )
        covariance[len(at) :, len(at) :] += spread / np.outer(at, at)
        return CalibrationLine(form.weight, shift - np.log(at), middle, at, lead, covariance)

    def logarithms(self, score: Reals) -> Floats:
        """Compute logarithms of probabilities, centered at their means."""
        centered: Floats = np.log(np.maximum(score, PROBABILITY_CLIP, dtype=np.float64)) - self.middle
        return centered

    def of_target(self, new: Reals) -> tuple[Floats, Floats]:
        """Compute the likelihood of each row in each class up to a factor, and logarithms; a column for each row."""
        x = np.log(np.maximum(new.T, PROBABILITY_CLIP, order="C", dtype=np.float64))
        x -= self.middle[:, None]
        a = x * self.weight[:, None]
        a += self.shift[:, None]
        # Only ratios within a row matter; the largest becomes 1 and nothing overflows.
        a -= a.max(axis=0)
        np.exp(a, out=a)
        return a, x


def _free_directions(method: str, weight: Floats) -> Floats:
    """Return the directions in which weights and biases were fitted; weights at their bound 0 are fixed."""
    width = len(weight)
    slopes = np.eye(width)[:, weight > 0] if method == "vector" else np.ones((width, int(weight[0] > 0)))
    biases = contrasts(width) if method != "temperature" else np.zeros((width, 0))
    directions = np.zeros((2 * width, slopes.shape[1] + biases.shape[1]))
    directions[:width, : slopes.shape[1]], directions[width:, slopes.shape[1] :] = slopes, biases
    return directions


def _parameter_influence(rows: SoftmaxData, both: Floats, space: Floats, mass: Floats) -> tuple[Floats, Floats]:
    r"""Compute the influence of residuals on weights and biases less :math:`\ln π`, and their covariance.

    Fitted parameters change by :math:`Vx_i^⊤(y_i-m_i)`, and π, the mean of m, by :math:`H_{b·}/n` times that; H is the
    information and V its inverse. So biases less ln π follow :math:`L=1-\mathrm{diag}(1/nπ)H_{b·}` in place of 1, with
    covariance :math:`LVQVL^⊤`; Q is H, or that of squared weights. The variance of π from the scores is not included.
    `mass` is nπ. With a bias for every class and that variance, the covariance is V less diag(1/nπ): calibration and
    shares are correlated, and their difference is less uncertain than either.
    """
    width = len(mass)
    whole = SoftmaxModel(np.zeros(2 * width), np.eye(2 * width), both)
    bend = softmax_information(rows, whole, both)
    square = bend if rows.squares is None else softmax_information(rows, whole, both, squared=True)
    lead = np.eye(2 * width)
    lead[width:] -= bend[width:] / mass[:, None]
    inverse_information = space @ np.linalg.inv(space.T @ bend @ space) @ space.T
    lead = lead @ inverse_information
    return lead, lead @ square @ lead.T


def score_derivative(side: Sample, q: Floats, across: Floats, x: Floats) -> Floats:
    """Differentiate the slope of the likelihood by weights and shifts, of shape (K, 2K).

    With :math:`b_j=a_j/(a_j·q)`, :math:`∂b_{jk}/∂c_l=b_{jk}(δ_{kl}-q_lb_{jl})`, and x times that for a weight.
    """
    width = len(q)
    single, double = np.zeros((2, width)), np.zeros((2, width, width))
    step = max(_BLOCK // width, 1)
    for start in range(0, across.shape[1], step):
        place = slice(start, start + step)
        share = across[:, place] / (q @ across[:, place])
        times = share if side.amount is None else share * side.amount[place]
        part = x[:, place]
        single += (times * part).sum(axis=1), times.sum(axis=1)
        double += times @ (share * part).T, times @ share.T
    derivative: Floats = np.concatenate([np.diag(s) - d * q for s, d in zip(single, double, strict=True)], axis=1)
    return derivative


def inverse_information(data: MulticlassData, fit: LikelihoodRatios, q: Floats) -> Floats:
    """Invert the information about the shares, of the target's rows and of labelled ones."""
    labelled = data.labelled_mass > 0
    bend = mixture_moments(fit.across, q, data.target.amount)[1]
    bend[labelled, labelled] += data.labelled_mass[labelled] / np.square(q[labelled])
    return shares_covariance(bend)


def calibration_influence(data: MulticlassData, fit: LikelihoodRatios) -> Floats:
    """Influence of each validation row on weights and shifts."""
    assert fit.line is not None  # noqa: S101  (for the type checker)
    line, width = fit.line, len(data.labels)
    gap = np.eye(width)[data.truth] - fit.calibrated
    both = np.concatenate([line.logarithms(data.validation.score) * gap, gap], axis=1)
    influence: Floats = both @ line.lead.T
    influence[:, width:] -= (fit.calibrated - line.at) / (line.at * data.validation.total)
    return influence


def _multiclass_influence(data: MulticlassData, fit: LikelihoodRatios, mixture: MixtureFit) -> Floats:
    """Influence of each validation row on the shares."""
    if fit.line is None or fit.x is None:
        return np.zeros((len(data.rows), len(data.labels)))
    pull = score_derivative(data.target, mixture.q, fit.across, fit.x)
    return data.expand(calibration_influence(data, fit) @ pull.T @ shares_covariance(mixture.information))


def _multiclass_covariance(data: MulticlassData, fit: LikelihoodRatios, mixture: MixtureFit) -> Floats:
    """Compute the covariance :math:`H^{-1}(M+GSG^⊤)H^{-1}` of shares: M of the target's rows, S of the calibration."""
    inner, middle = shares_covariance(mixture.information), mixture.information
    squares = data.target.squares
    if squares is not None or (data.labelled_mass != data.labelled_squares).any():
        middle = mixture_moments(fit.across, mixture.q, data.target.amount if squares is None else squares)[1]
        there = data.labelled_squares > 0
        middle[there, there] += data.labelled_squares[there] / np.square(mixture.q[there])
    if fit.line is not None and fit.x is not None:
        pull = score_derivative(data.target, mixture.q, fit.across, fit.x)
        middle = middle + pull @ fit.line.covariance @ pull.T
    return inner @ middle @ inner


def _build_likely_shares(
    data: MulticlassData, fit: LikelihoodRatios, mixture: MixtureFit, *, level: float
) -> MulticlassPrevalence:
    covariance = _multiclass_covariance(data, fit, mixture)
    # One step of Newton's method from the bounds, if some shares stand there; it says little of those that do not.
    unclipped = mixture.q + shares_covariance(mixture.information) @ mixture.slope
    middle = np.where(mixture.q > 0, mixture.q, unclipped)
    rows = data.target.effective + data.effective_labelled
    return MulticlassPrevalence(
        data.labels,
        tuple(share_intervals(mixture.q, middle, np.diag(covariance), rows=rows, level=level)),
        method="mlls",
        unclipped=unclipped,
        covariance=covariance,
        calibrated_at=fit.at,
        rows=data.target.rows,
        labelled=data.n_labelled,
        calibrator=fit.calibrator,
        notes=(
            *data.notes,
            *_likelihood_notes(data, mixture),
            *((_AS_GIVEN_NOTE,) if fit.calibrator is None else fit.calibrator.notes),
        ),
        validation=data.rows,
        influence=_multiclass_influence(data, fit, mixture),
    )


def _likelihood_notes(data: MulticlassData, mixture: MixtureFit) -> Iterator[str]:
    score = data.target.score
    zeros = int(np.count_nonzero(score == 0))
    if zeros:
        yield f"{zeros} of {score.size} probabilities of the target are exactly 0, which no classifier can know."
    absent = [str(label) for label, q in zip(data.labels, mixture.q, strict=True) if q == 0]
    if absent:
        yield f"the likeliest share of {format_labels(absent)} is 0: the likelihood would rise below it."


def _fit_softmax(name: str, data: MulticlassData) -> MulticlassCalibrator:
    if name not in _CALIBRATORS:
        raise OptionError(
            f"recalibrate is {name!r}; it is {', '.join(map(repr, _CALIBRATORS))} or None.",
            option="recalibrate",
            value=name,
        )
    try:
        return _CALIBRATORS[name](data.rows)
    except FitError as error:
        raise FitError(
            f"the probabilities cannot be made right on validation: {error} Or estimate by acc or pacc, or take "
            f"probabilities as they are with {keyword('recalibrate', None)}."
        ) from error


def _check_prior(prior: SharesLike, labels: tuple[object, ...]) -> Floats:
    """Return the shares at which probabilities are calibrated, in the order of the classes."""
    if isinstance(prior, Mapping):
        if set(prior) != set(labels):
            raise OptionError(
                f"at names {count_of(len(prior), 'class', 'classes')}, not the {len(labels)} of validation",
                remedy="give each its share.",
            )
        prior = [prior[label] for label in labels]
    shares = np.array(prior, dtype=np.float64)
    if shares.shape != (len(labels),) or not ((shares > 0).all() and abs(shares.sum() - 1) <= _SUM_TOLERANCE):
        raise OptionError(
            f"at is {shares.tolist()}",
            remedy=f"give {len(labels)} shares above 0 that add up to 1.",
            option="at",
            value=shares.tolist(),
        )
    shares /= shares.sum()
    return shares


def likelihood_influences(data: MulticlassData, fit: LikelihoodRatios, q: Floats) -> tuple[Floats, Floats]:
    """Influence of each row of the target, and of validation, on the most likely shares."""
    inner = inverse_information(data, fit, q)
    of_target = np.asarray((fit.across / (q @ fit.across)).T @ inner)
    if fit.line is None or fit.x is None:
        return of_target, np.zeros((len(data.truth), len(q)))
    pull = score_derivative(data.target, q, fit.across, fit.x)
    return of_target, np.asarray(calibration_influence(data, fit) @ pull.T @ inner)
