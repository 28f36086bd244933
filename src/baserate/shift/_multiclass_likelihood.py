"""Prevalences of several classes by likelihood ratios: maximum likelihood (`mlls`), and generalized moments (`gmm`).

The likelihood is concave on the simplex. The moments are right whatever the calibration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from baserate._arrays import Floats, Reals, block_slices
from baserate._calibrator import MulticlassCalibrator
from baserate._calibrator_forms import Softmax
from baserate._domains import wrong_option
from baserate._errors import FitError, OptionError, keyword
from baserate._formatting import format_p_phrase
from baserate._numeric.logistic import PROBABILITY_CLIP, SoftmaxData, SoftmaxModel, softmax_information
from baserate._numeric.simplex import (
    MixtureFit,
    contrasts,
    fit_least_squares,
    fit_mixture,
    mixture_moments,
    project_to_simplex,
    shares_covariance,
)
from baserate._rows import MulticlassRows, MulticlassTarget
from baserate.calibration import format_labels
from baserate.calibration.multiclass import bias_corrected, check_shares, temperature, vector
from baserate.infer import chi_squared_p, t_widening
from baserate.shift._data import (
    SIGNIFICANCE_LEVEL,
    MulticlassData,
    MulticlassPrevalence,
    Sample,
    share_intervals,
)
from baserate.shift._moment_matching import (
    Details,
    UnclippedShares,
    build_shares,
    check_rank,
    class_probabilities,
    combine_with_labelled,
    multiclass_means,
    normalize_rows,
)

Recalibration = Literal["bias-corrected", "vector", "temperature"]
SharesLike = Mapping[Any, float] | Sequence[float] | Floats

_CALIBRATORS: dict[str, Callable[[MulticlassRows], MulticlassCalibrator]] = {
    "bias-corrected": bias_corrected,
    "vector": vector,
    "temperature": temperature,
}
_BLOCK = 1 << 15
"""Numbers of a block that fits the cache with its intermediate results."""
_AS_GIVEN_NOTE = "probabilities were not recalibrated: if they are not calibrated, shares and intervals are wrong."


def multiclass_mlls(
    target: MulticlassTarget,
    validation: MulticlassRows,
    *,
    level: float = 0.95,
    recalibrate: Recalibration | bool | None = "bias-corrected",
    sample_prevalence: SharesLike | None = None,
) -> MulticlassPrevalence:
    r"""Maximize :math:`\sum_j\ln\sum_kq_kp_{jk}/π_k` over the shares q; probabilities p are calibrated at shares π.

    Probabilities are first recalibrated on the validation rows, whose shares are then π; a bias for each class is
    essential [@alexandari2020]. With `recalibrate=None` probabilities are taken as calibrated at `sample_prevalence`,
    by default the shares of validation. The maximum is exact, where EM may stop early. Labelled rows of the target add
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
    fit = fit_likelihood_ratios(data, recalibrate=recalibrate, sample_prevalence=sample_prevalence)
    # Scores that do not separate some classes leave the likelihood flat, and its maximum to rounding.
    check_rank(*multiclass_means(data.truth, data.validation, fit.calibrated), data.labels, level=level)
    mixture = fit_mixture(fit.across.T, amount=data.target.amount, fixed=data.labelled_mass)
    if not mixture.converged:
        raise FitError("the likelihood of the shares has no single maximum", remedy="estimate by pacc.")
    return _build_likely_shares(data, fit, mixture, level=level)


def fit_likelihood_ratios(
    data: MulticlassData,
    *,
    recalibrate: Recalibration | bool | None = "bias-corrected",
    sample_prevalence: SharesLike | None = None,
) -> LikelihoodRatios:
    """Recalibrate probabilities on the validation rows, or take them as calibrated."""
    data.check_probabilities()
    if recalibrate is True:  # accepted as for two classes
        recalibrate = "bias-corrected"
    if not recalibrate:
        # False and None both mean: take probabilities as calibrated.
        shares = data.shares if sample_prevalence is None else _check_prior(sample_prevalence, data.labels)
        across = np.ascontiguousarray(data.target.score.T, dtype=np.float64) / shares[:, None]
        return LikelihoodRatios(across, shares, np.asarray(data.validation.score, dtype=np.float64))
    if sample_prevalence is not None:
        raise OptionError(
            f"{keyword('sample_prevalence')} is for probabilities that are not recalibrated",
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
        # A row for each class, contiguous: all later sums run over the rows of the target.
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
    for place in block_slices(across.shape[1], max(_BLOCK // width, 1)):
        share = across[:, place] / (q @ across[:, place])
        times = share if side.amount is None else share * side.amount[place]
        part = x[:, place]
        single += (times * part).sum(axis=1), times.sum(axis=1)
        double += times @ (share * part).T, times @ share.T
    derivative: Floats = np.concatenate([np.diag(s) - d * q for s, d in zip(single, double, strict=True)], axis=1)
    return derivative


def calibration_influence(data: MulticlassData, fit: LikelihoodRatios) -> Floats:
    """Compute the influence of each validation row on weights and shifts."""
    assert fit.line is not None  # noqa: S101  (for the type checker)
    line, width = fit.line, len(data.labels)
    gap = np.eye(width)[data.truth] - fit.calibrated
    both = np.concatenate([line.logarithms(data.validation.score) * gap, gap], axis=1)
    influence: Floats = both @ line.lead.T
    influence[:, width:] -= (fit.calibrated - line.at) / (line.at * data.validation.total)
    return influence


def _multiclass_influence(data: MulticlassData, fit: LikelihoodRatios, mixture: MixtureFit) -> Floats:
    """Compute the influence of each validation row on the shares."""
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
        labelled = data.labelled_squares > 0
        middle[labelled, labelled] += data.labelled_squares[labelled] / np.square(mixture.q[labelled])
    if fit.line is not None and fit.x is not None:
        pull = score_derivative(data.target, mixture.q, fit.across, fit.x)
        middle = middle + pull @ fit.line.covariance @ pull.T
    return inner @ middle @ inner


def _build_likely_shares(
    data: MulticlassData, fit: LikelihoodRatios, mixture: MixtureFit, *, level: float
) -> MulticlassPrevalence:
    covariance = _multiclass_covariance(data, fit, mixture)
    # One step of Newton's method without bounds, for shares at a bound; the others are at their maximum already.
    unclipped = mixture.q + shares_covariance(mixture.information) @ mixture.slope
    middle = np.where(mixture.q > 0, mixture.q, unclipped)
    rows = data.target.effective + data.effective_labelled
    return MulticlassPrevalence(
        data.labels,
        tuple(share_intervals(mixture.q, middle, np.diag(covariance), rows=rows, level=level)),
        method="mlls",
        unclipped=unclipped,
        covariance=covariance,
        sample_prevalence=fit.at,
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
        yield f"{zeros} of {score.size} probabilities of the unlabelled data are exactly 0, which no data can justify."
    absent = [str(label) for label, q in zip(data.labels, mixture.q, strict=True) if q == 0]
    if absent:
        yield f"the likeliest share of {format_labels(absent)} is 0: the likelihood would rise below it."


def _fit_softmax(name: str, data: MulticlassData) -> MulticlassCalibrator:
    if name not in _CALIBRATORS:
        raise wrong_option("recalibrate", name, f"{', '.join(map(repr, _CALIBRATORS))} or None")
    try:
        return _CALIBRATORS[name](data.rows)
    except FitError as error:
        raise FitError(
            f"the probabilities cannot be recalibrated on the validation data: {error}",
            remedy=f"Or estimate by acc or pacc, or use probabilities without recalibration with "
            f"{keyword('recalibrate', None)}.",
        ) from error


def _check_prior(prior: SharesLike, labels: tuple[object, ...]) -> Floats:
    """Return the shares at which probabilities are calibrated, in the order of the classes."""
    # A wrong number of shares is an error of the option here, not of the shape of data.
    if not isinstance(prior, Mapping) and np.shape(prior) != (len(labels),):
        raise wrong_option(
            "sample_prevalence", np.asarray(prior).tolist(), f"{len(labels)} shares above 0 that add up to 1"
        )
    return check_shares("sample_prevalence", prior, labels)


def likelihood_influences(data: MulticlassData, fit: LikelihoodRatios, q: Floats) -> tuple[Floats, Floats]:
    """Compute the influence of each unlabelled row, and of each validation row, on the most likely shares."""
    inner = shares_covariance(mixture_moments(fit.across, q, data.target.amount)[1])
    of_target = np.asarray((fit.across / (q @ fit.across)).T @ inner)
    if fit.line is None or fit.x is None:
        return of_target, np.zeros((len(data.truth), len(q)))
    pull = score_derivative(data.target, q, fit.across, fit.x)
    return of_target, np.asarray(calibration_influence(data, fit) @ pull.T @ inner)


_MIN_EIGENVALUE = 1e-6
"""Eigenvalue of a correlation matrix, relative to the largest, below which a direction is redundant."""
_SHRINKAGE = 0.15
"""Shrinkage of shares towards those of validation before likelihood ratios are weighted, so that none is 0."""
_MAX_NOISE = 0.5
"""Largest share of the information that may be subtracted as noise of the means."""
_MAX_INFLATION = 1.5
"""Largest factor of the variance by the calibration over the observed one."""
_METHOD = "influence functions of both sets, t quantiles, cut at 0 and 1"
_ROUNDING_VARIANCE = 1e-12
"""Variance, relative to that of other directions, that is rounding."""
_MIN_DIFFERENCE = 1e-2
"""Variance of a difference, relative to that of one estimate, below which two estimates are the same function."""


class Features(NamedTuple):
    """Features of both samples whose means are compared."""

    new: Floats
    old: Floats
    gain: Floats
    """Factors that turn the first columns into the weight of validation at a score, between 0 and 1."""


class GmmFit(NamedTuple):
    """Means of features, and the shares that explain the target's means as mixtures of those of the classes."""

    features: Features
    o: Floats
    c: Floats
    """Class means; a column for each class."""
    lead: Floats
    """Derivative of the shares by the target's means: the influence of a row is this times its features."""
    shares: Floats
    """Unclipped shares."""
    covariance: Floats
    of_target: Floats
    """Part of each variance from the target."""
    freedom: Floats
    """Satterthwaite's degrees of freedom of each variance."""
    statistic: float
    """Hansen's statistic, about χ² if the target is a mixture of the classes."""
    over: int
    """Degrees of freedom of the statistic: overidentifying moments."""
    root: Floats
    """Square root of the weights of the moments."""

    @property
    def p(self) -> float:
        """P-value of Hansen's test that the target is a mixture of the classes."""
        return chi_squared_p(self.statistic, self.over) if self.over else 1.0

    def influence(self, data: MulticlassData) -> Floats:
        """Compute the influence of each validation row with weight on the shares."""
        deviation = self.c.T[data.truth] - self.features.old
        deviation *= (self.shares / (data.shares * data.validation.total))[data.truth, None]
        return np.asarray(deviation @ self.lead.T)


def multiclass_gmm(
    target: MulticlassTarget,
    validation: MulticlassRows,
    *,
    level: float = 0.95,
    recalibrate: Recalibration | bool | None = "bias-corrected",
    sample_prevalence: SharesLike | None = None,
) -> MulticlassPrevalence:
    r"""Estimate shares with which means of features would be as observed, :math:`\min_q(o-Cq)^⊤W(o-Cq)`.

    Under label shift the mean o of any function of the scores is a mixture of its class means: no model is needed. The
    functions are the probabilities p, as in `pacc`, and :math:`φ_k=a_k/(\sum_jq_ja_j+q_j^2a_jn/n_j)`. Here a are
    likelihood ratios by recalibrated probabilities, n and :math:`n_j` the rows of the target and of class j in
    validation. If the calibration is right, φ makes the estimate efficient [@tian2023]; if not, it is less precise, but
    not biased.

    W is the inverse of the covariance :math:`S_o+\sum_kq_k^2S_k` of o − Cq [@hansen1982]. C is estimated from few rows;
    what its noise adds to :math:`C^⊤WC`, :math:`\mathrm{tr}(WS_k)` of each class, is subtracted. Intervals use t
    quantiles with Satterthwaite's degrees of freedom. Labelled rows of the target are combined by precision. If
    probabilities cannot be recalibrated, p alone is used, and the notes say so. They also say if the estimate by
    likelihood differs.

    Also: generalized method of moments, efficient label shift adaptation, ELSA.
    Reference: [@tian2023].

    >>> from baserate import class_scores
    >>> score = [[0.8, 0.2], [0.5, 0.5], [0.2, 0.8]]
    >>> rows = class_scores(list("aaabbb"), score * 2, count=[40, 20, 10, 10, 20, 40])
    >>> target = MulticlassTarget(np.array(score), ("a", "b"), count=np.array([40, 30, 40]))
    >>> multiclass_gmm(target, rows).value.round(3).tolist()
    [0.5, 0.5]
    """
    return estimate_gmm(
        MulticlassData.of(target, validation), level=level, recalibrate=recalibrate, sample_prevalence=sample_prevalence
    )[0]


def estimate_gmm(
    data: MulticlassData,
    *,
    level: float,
    recalibrate: Recalibration | bool | None = "bias-corrected",
    sample_prevalence: SharesLike | None = None,
) -> tuple[MulticlassPrevalence, GmmFit]:
    """Estimate by `gmm`; return also the fit."""
    ratios, why = fit_calibration(data, recalibrate=recalibrate, sample_prevalence=sample_prevalence)
    fit = solve_moments(data, ratios, level=level)
    free = combine_with_labelled(data, UnclippedShares(fit.shares, fit.covariance, fit.influence(data)))
    value = free.shares
    if value.min() < 0:
        value = fit_least_squares(fit.root @ fit.c, fit.root @ fit.c @ value)
    wide = np.array([t_widening(each, level) for each in fit.freedom]) * _widen_for_rare_rows(data, ratios, fit)
    extra = Details(
        wide, None if ratios is None else ratios.calibrator, (*why, *_disagreement_notes(data, ratios, fit)), _METHOD
    )
    return build_shares(data, "gmm", value, free, level=level, extra=extra), fit


def fit_calibration(
    data: MulticlassData,
    *,
    recalibrate: Recalibration | bool | None = "bias-corrected",
    sample_prevalence: SharesLike | None = None,
) -> tuple[LikelihoodRatios | None, tuple[str, ...]]:
    """Recalibrate and compute likelihood ratios; None, with the reason, where that fails."""
    try:
        return fit_likelihood_ratios(data, recalibrate=recalibrate, sample_prevalence=sample_prevalence), ()
    except FitError as error:
        return None, (f"only mean probabilities are compared, without likelihood ratios: {error}",)


def solve_moments(data: MulticlassData, ratios: LikelihoodRatios | None, *, level: float) -> GmmFit:
    """Compute the features and their means, and solve for the shares."""
    new, old = (
        class_probabilities(data) if ratios is None else (normalize_rows(data.target), normalize_rows(data.validation))
    )
    check_rank(
        *multiclass_means(data.truth, data.validation, old if ratios is None else ratios.calibrated),
        data.labels,
        level=level,
    )
    places = [np.flatnonzero(data.truth == k) for k in range(len(data.labels))]
    c = np.stack([data.validation.subset(own).average(old[own]) for own in places], axis=1)
    # Weights need shares on the simplex; the estimate itself stays unclipped.
    near = project_to_simplex(np.asarray(np.linalg.lstsq(c, data.target.average(new))[0], dtype=np.float64))
    return _fit_two_step(data, _build_features(data, ratios, near, (new, old)), near)


def _build_features(
    data: MulticlassData, likelihood: LikelihoodRatios | None, near: Floats, p: tuple[Floats, Floats]
) -> Features:
    """Join likelihood ratios, weighted by their variance in both samples, and probabilities."""
    width = len(near)
    if likelihood is None:
        return Features(*p, np.zeros(width))
    q = (1 - _SHRINKAGE) * near + _SHRINKAGE * data.shares
    gain = q * q * data.target.effective / data.class_rows
    ratios = likelihood.across.T, likelihood.calibrated / likelihood.at
    new, old = (
        np.concatenate([each / (each @ (q + gain))[:, None], own], axis=1) for each, own in zip(ratios, p, strict=True)
    )
    return Features(new, old, gain)


def _fit_two_step(data: MulticlassData, features: Features, near: Floats) -> GmmFit:
    """Fit in two steps: the weights of the moments follow from preliminary shares."""
    c, spread = multiclass_means(data.truth, data.validation, features.old, classes=len(near))
    o, varied = data.target.mean(features.new)
    varied = varied * data.target.bessel
    z = contrasts(len(near))
    # The first pass weights by preliminary shares, the second by those of the first.
    for _ in range(2):
        root = _whiten(varied + np.tensordot(near * near, spread, axes=1))
        steep = root @ c @ z
        # C is estimated: its noise makes CᵀWC too large on average, and the shares too equal, unless subtracted.
        noise = _noise_information(steep, np.einsum("id,kde,ie->k", root, spread, root), z)
        inner = np.linalg.pinv(steep.T @ steep - z.T @ (noise[:, None] * z), hermitian=True)
        middle = np.full(len(near), 1 / len(near))  # any point whose sum is 1, since z are contrasts
        q = middle + z @ inner @ (steep.T @ (root @ (o - c @ middle)) + z.T @ (noise * middle))
        near = project_to_simplex(q)
    lead = z @ inner @ steep.T @ root
    parts = np.stack([varied, *(q[:, None, None] ** 2 * spread)])
    of = np.einsum("kd,pde,ke->pk", lead, parts, lead)
    # A sandwich: `inner` includes the noise correction, so it is not the covariance itself.
    covariance = z @ inner @ (steep.T @ steep) @ inner @ z.T
    gap = root @ (o - c @ q)
    over = len(root) - (len(near) - 1)
    freedom = _satterthwaite(data, of)
    return GmmFit(features, o, c, lead, q, covariance, of[0], freedom, float(gap @ gap), max(over, 0), root)


def _whiten(covariance: Floats) -> Floats:
    """Compute a square root R of the inverse covariance, RᵀR, in directions with any variance; a row for each."""
    # As a correlation matrix: features of very different size have comparable eigenvalues.
    scale = np.sqrt(np.maximum(np.diag(covariance), np.finfo(np.float64).tiny))
    size, axes = np.linalg.eigh(covariance / np.outer(scale, scale))
    distinct = size > _MIN_EIGENVALUE * size[-1]
    root: Floats = (axes[:, distinct] / np.sqrt(size[distinct])).T / scale
    return root


def _noise_information(steep: Floats, trace: Floats, z: Floats) -> Floats:
    """Compute what the noise of class means adds to the information, limited to a part of it."""
    from scipy.linalg import eigh

    try:
        most = float(eigh(z.T @ (trace[:, None] * z), steep.T @ steep, eigvals_only=True)[-1])
    except np.linalg.LinAlgError:  # the information is singular: nothing can be subtracted
        return np.zeros(len(trace))
    return trace * min(1.0, _MAX_NOISE / most) if most > 0 else trace


def _satterthwaite(data: MulticlassData, parts: Floats) -> Floats:
    """Compute degrees of freedom of a sum of variances: of the target, and of each class in validation."""
    freedom = np.maximum(np.array([data.target.effective, *data.class_rows]) - 1, 1.0)
    total = parts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedoms: Floats = np.nan_to_num(total**2 / (parts**2 / freedom[:, None]).sum(axis=0), nan=np.inf)
    return freedoms


def _widen_for_rare_rows(data: MulticlassData, ratios: LikelihoodRatios | None, fit: GmmFit) -> Floats:
    """Compute how much greater standard errors are if classes vary as probabilities predict, between 1 and a limit.

    Rows that look like another class are rare, and few rows of a class may contain none of them. Their observed
    variance is then too small. All validation rows, weighted by the probability of the class, contain some.
    """
    if ratios is None:
        return np.ones(len(data.labels))
    along = fit.features.old @ fit.lead.T
    amount = np.ones(len(along)) if data.validation.amount is None else data.validation.amount
    weight = ratios.calibrated * amount[:, None]
    weight /= weight.sum(axis=0)
    spread = weight.T @ along**2 - (weight.T @ along) ** 2
    model = np.square(fit.shares) / data.class_rows @ spread + fit.of_target
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nan_to_num(model / np.diag(fit.covariance), nan=1.0, posinf=1.0)
    return np.sqrt(np.clip(ratio, 1.0, _MAX_INFLATION))


def _disagreement_notes(data: MulticlassData, ratios: LikelihoodRatios | None, fit: GmmFit) -> Iterator[str]:
    """Note if moments disagree with each other or with maximum likelihood, by Holm's procedure at 5% for both."""
    likely = None if ratios is None or ratios.line is None else _compare_with_likelihood(data, ratios, fit)
    p = {"moments": fit.p if fit.over else np.nan, "likelihood": np.nan if likely is None else likely[1]}
    tests = sorted((each, name) for name, each in p.items() if not np.isnan(each))
    for place, (each, name) in enumerate(tests):
        if each * (len(tests) - place) > SIGNIFICANCE_LEVEL:
            return
        if name == "moments":
            yield (
                f"no shares explain all mean features of the unlabelled data ({format_p_phrase(each, digits=3)}): it "
                "is not label shift alone, and the estimate is in doubt."
            )
        elif likely is not None:
            shares = [f"{label} {q:.3g}" for label, q in zip(data.labels, likely[0], strict=True)]
            yield (
                f"maximum likelihood (mlls) disagrees, with {format_labels(shares)} "
                f"({format_p_phrase(each, digits=3)}): either its calibration curve does not fit, on which this "
                "estimate does not depend, or it is not label shift alone."
            )


def _compare_with_likelihood(
    data: MulticlassData, ratios: LikelihoodRatios, fit: GmmFit
) -> tuple[Floats, float] | None:
    """Estimate by maximum likelihood, with the p-value of its difference; None where the two cannot be compared."""
    # Without labelled rows, which both estimates would share.
    likely = fit_mixture(ratios.across.T, amount=data.target.amount)
    if not likely.converged or likely.q.min() == 0:
        return None
    target, validation = likelihood_influences(data, ratios, likely.q)
    target -= (fit.features.new - fit.o) @ fit.lead.T / data.target.total
    validation -= fit.influence(data)
    covariance = data.target.covariance_of(target) + data.validation.covariance_of(validation)
    p = _hausman_p(likely.q - fit.shares, covariance, fit.covariance)
    return None if p is None else (likely.q, p)


def _hausman_p(difference: Floats, covariance: Floats, spread: Floats) -> float | None:
    """Test whether two estimates of the same shares differ by more than chance [@hausman1978].

    `covariance` is that of the difference, and `spread` that of one of the estimates. None if the two estimates are
    almost the same function of the rows, so that they cannot disagree.
    """
    z = contrasts(len(difference))
    bend, basis = np.linalg.eigh(z.T @ spread @ z)
    varies = bend > _ROUNDING_VARIANCE * bend.max()
    root = (basis[:, varies] / np.sqrt(bend[varies])).T @ z.T
    size, axes = np.linalg.eigh(root @ covariance @ root.T)
    # Directions without a difference would be rounding divided by rounding, and are left out.
    visible = size > _MIN_DIFFERENCE
    if not visible.any():
        return None
    along = (axes.T @ root @ difference)[visible]
    statistic = float(np.sum(along * along / size[visible]))
    return chi_squared_p(statistic, int(visible.sum()))
