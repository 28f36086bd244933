"""Prevalence of several classes by the generalized method of moments: consistent whatever the calibration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._errors import FitError
from baserate._formatting import format_p_phrase
from baserate._numeric.simplex import contrasts, fit_least_squares, fit_mixture, project_to_simplex
from baserate._rows import MulticlassRows, MulticlassTarget
from baserate.calibrate.multiclass import format_labels
from baserate.infer import t_widening
from baserate.shift._data import MulticlassData
from baserate.shift._estimates import MulticlassPrevalence
from baserate.shift._maximum_likelihood import (
    LikelihoodRatios,
    Recalibration,
    SharesLike,
    fit_likelihood_ratios,
    likelihood_influences,
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

_MIN_EIGENVALUE = 1e-6
"""Eigenvalue of a correlation matrix, relative to the largest, below which a direction is redundant."""
_SHRINKAGE = 0.15
"""Shrinkage of shares towards those of validation before likelihood ratios are weighted, so that none is 0."""
_MAX_NOISE = 0.5
"""Largest share of the information that may be subtracted as noise of the means."""
_MAX_INFLATION = 1.5
"""Largest factor of the variance by the calibration over the observed one."""
_METHOD = "influence functions of both sets, t quantiles, cut at 0 and 1"
SIGNIFICANCE = 0.05
"""Significance level of notes, as a family."""
_SMALLEST_P = 5e-324
"""Smallest positive float: no p-value is 0."""

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
        """P-value of Hansen's statistic: whether the target is a mixture of the classes."""
        from scipy.special import chdtrc

        return max(float(chdtrc(self.over, self.statistic)), _SMALLEST_P) if self.over else 1.0

    def influence(self, data: MulticlassData) -> Floats:
        """Influence of each validation row with weight on the shares."""
        deviation = self.c.T[data.truth] - self.features.old
        deviation *= (self.shares / (data.shares * data.validation.total))[data.truth, None]
        return np.asarray(deviation @ self.lead.T)


def multiclass_gmm(
    target: MulticlassTarget,
    validation: MulticlassRows,
    *,
    level: float = 0.95,
    recalibrate: Recalibration | bool | None = "bias-corrected",
    at: SharesLike | None = None,
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
    return estimate_gmm(MulticlassData.of(target, validation), level=level, recalibrate=recalibrate, at=at)[0]


def estimate_gmm(
    data: MulticlassData,
    *,
    level: float,
    recalibrate: Recalibration | bool | None = "bias-corrected",
    at: SharesLike | None = None,
) -> tuple[MulticlassPrevalence, GmmFit]:
    """Estimate by `gmm`; return also the fit."""
    ratios, why = fit_calibration(data, recalibrate=recalibrate, at=at)
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
    data: MulticlassData, *, recalibrate: Recalibration | bool | None = "bias-corrected", at: SharesLike | None = None
) -> tuple[LikelihoodRatios | None, tuple[str, ...]]:
    """Recalibrate and compute likelihood ratios; None, with the reason, where that fails."""
    try:
        return fit_likelihood_ratios(data, recalibrate=recalibrate, at=at), ()
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
    c = np.stack([data.validation.subset(there).average(old[there]) for there in places], axis=1)
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
        noise = _noise_information(steep, np.einsum("id,kde,ie->k", root, spread, root), z)
        inner = np.linalg.pinv(steep.T @ steep - z.T @ (noise[:, None] * z), hermitian=True)
        middle = np.full(len(near), 1 / len(near))
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
    scale = np.sqrt(np.maximum(np.diag(covariance), np.finfo(np.float64).tiny))
    size, axes = np.linalg.eigh(covariance / np.outer(scale, scale))
    there = size > _MIN_EIGENVALUE * size[-1]
    root: Floats = (axes[:, there] / np.sqrt(size[there])).T / scale
    return root


def _noise_information(steep: Floats, trace: Floats, z: Floats) -> Floats:
    """Compute what the noise of class means adds to the information, limited to a part of it."""
    from scipy.linalg import eigh

    try:
        most = float(eigh(z.T @ (trace[:, None] * z), steep.T @ steep, eigvals_only=True)[-1])
    except np.linalg.LinAlgError:  # the information is singular: nothing can be taken away
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
    """Say where moments disagree with each other or with maximum likelihood, by Holm's procedure at 5% for both."""
    likely = None if ratios is None or ratios.line is None else _compare_with_likelihood(data, ratios, fit)
    p = {"moments": fit.p if fit.over else np.nan, "likelihood": np.nan if likely is None else likely[1]}
    tests = sorted((each, name) for name, each in p.items() if not np.isnan(each))
    for place, (each, name) in enumerate(tests):
        if each * (len(tests) - place) > SIGNIFICANCE:
            return
        if name == "moments":
            yield (
                f"no shares explain all mean features of the target ({format_p_phrase(each, digits=3)}): it is not "
                "label shift alone, and the estimate is in doubt."
            )
        elif likely is not None:
            shares = [f"{label} {q:.3g}" for label, q in zip(data.labels, likely[0], strict=True)]
            yield (
                f"maximum likelihood (mlls) disagrees, with {format_labels(shares)} "
                f"({format_p_phrase(each, digits=3)}): "
                "either its calibration curve does not fit, on which this estimate does not depend, or it is not label "
                "shift alone."
            )


def _compare_with_likelihood(
    data: MulticlassData, ratios: LikelihoodRatios, fit: GmmFit
) -> tuple[Floats, float] | None:
    """Estimate by maximum likelihood, with the p-value of its difference; None where the two cannot be compared."""
    likely = fit_mixture(ratios.across.T, amount=data.target.amount)
    if not likely.converged or likely.q.min() == 0:
        return None
    unlabelled = data.unlabelled()
    target, validation = likelihood_influences(unlabelled, ratios, likely.q)
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
    from scipy.special import chdtrc

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
    return max(float(chdtrc(int(visible.sum()), statistic)), _SMALLEST_P)
