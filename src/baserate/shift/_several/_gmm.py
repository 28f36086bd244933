"""Shares by the generalized method of moments: right whatever the probabilities are, and sharp where they are right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._errors import FitError
from baserate._formatting import format_p_phrase
from baserate._numeric.simplex import contrasts, mixed, nearest, projected
from baserate._rows import MulticlassRows
from baserate._target import MulticlassTarget
from baserate.calibrate.multiclass import listed
from baserate.infer import widening
from baserate.shift._several._linear import Extra, Free, check_told_apart, means, normalized, shares_of, soft, with_seen
from baserate.shift._several._mlls import Fit, Given, Recalibration, prepared
from baserate.shift._several._pair import Pair
from baserate.shift._several._result import Shares

_FLAT = 1e-6
"""Eigenvalue of a correlation matrix, beside the largest, below which a direction says nothing new."""
_SHRUNK = 0.15
"""How far shares are drawn to those of validation before likelihood ratios are weighed: none is 0."""
_MOST = 0.5
"""Share of the information that may be taken for noise of the means."""
_WIDER = 1.5
"""Times the variance that one by the calibration may be, if it is greater than the observed one."""
_HOW = "influence functions of both sets, t quantiles, cut at 0 and 1"
SIZE = 0.05
"""Chance of a note if there is no reason for it."""
_LEAST = 5e-324
"""No p-value is 0: less than this, a float cannot hold."""


class Features(NamedTuple):
    """What is averaged, of the rows of both sets, and which columns weigh likelihood ratios."""

    new: Floats
    old: Floats
    gain: Floats
    """What the first columns are multiplied with to be the weight of validation at a score, between 0 and 1."""


class Gmm(NamedTuple):
    """Means of features, and the shares that explain the target's as mixtures of those of the classes."""

    features: Features
    o: Floats
    c: Floats
    """A column for each class."""
    lead: Floats
    """How shares follow the target's means: the influence of a row is this times its features."""
    shares: Floats
    """Wherever they lie."""
    covariance: Floats
    of_target: Floats
    """What the target's rows add to each variance."""
    freedom: Floats
    """Satterthwaite's degrees of freedom of each variance."""
    statistic: float
    """Hansen's, about χ² where the target is a mixture of the classes."""
    over: int
    """Its degrees of freedom: moments beyond those that it takes."""
    root: Floats
    """Of the weights of the moments."""

    @property
    def p(self) -> float:
        """Chance of a statistic as great, if the target is a mixture of the classes."""
        from scipy.special import chdtrc

        return max(float(chdtrc(self.over, self.statistic)), _LEAST) if self.over else 1.0

    def moved(self, pair: Pair) -> Floats:
        """What each validation row that counts does to the shares."""
        apart = self.c.T[pair.truth] - self.features.old
        apart *= (self.shares / (pair.shares * pair.validation.total))[pair.truth, None]
        return np.asarray(apart @ self.lead.T)


def gmm(
    target: MulticlassTarget,
    validation: MulticlassRows,
    *,
    level: float = 0.95,
    recalibrate: Recalibration | bool | None = "bias-corrected",
    at: Given | None = None,
) -> Shares:
    r"""Shares with which means of features would be what they are, :math:`\min_q(o-Cq)^⊤W(o-Cq)`.

    Under label shift the mean o of any function of the scores is that of the classes, mixed: no model is needed. The
    functions are the probabilities p, as in `pacc`, and :math:`φ_k=a_k/(\sum_jq_ja_j+q_j^2a_jn/n_j)`, a being
    likelihood ratios by recalibrated probabilities, n and :math:`n_j` the rows of the target and of class j in
    validation. If the calibration is right, φ makes the estimate as sharp as any can be [@tian2023]; if not, it is less
    sharp, but not biased as that by likelihood is. W is the inverse of the covariance :math:`S_o+\sum_kq_k^2S_k` of
    o − Cq [@hansen1982]. As C is estimated from few rows, what its noise adds to :math:`C^⊤WC`, which is
    :math:`\mathrm{tr}(WS_k)` of each class, is taken away. Intervals have t quantiles with Satterthwaite's degrees of
    freedom. Labelled rows of the target are joined by precision. If probabilities cannot be recalibrated, p alone is
    used, and the notes say so; they also say if the estimate by likelihood differs.

    Also: generalized method of moments, efficient label shift adaptation, ELSA.
    Reference: [@tian2023].

    >>> from baserate import scored
    >>> score = [[0.8, 0.2], [0.5, 0.5], [0.2, 0.8]]
    >>> rows = scored(list("aaabbb"), score * 2, count=[40, 20, 10, 10, 20, 40])
    >>> gmm(MulticlassTarget(np.array(score), ("a", "b"), count=np.array([40, 30, 40])), rows).value.round(3).tolist()
    [0.5, 0.5]
    """
    return estimate(Pair.of(target, validation), level=level, recalibrate=recalibrate, at=at)[0]


def estimate(
    pair: Pair,
    *,
    level: float,
    recalibrate: Recalibration | bool | None = "bias-corrected",
    at: Given | None = None,
) -> tuple[Shares, Gmm]:
    """Estimate as `gmm`; return also what the estimate is made of."""
    fit, why = calibration(pair, recalibrate=recalibrate, at=at)
    found = solved(pair, fit, level=level)
    free = with_seen(pair, Free(found.shares, found.covariance, found.moved(pair)))
    value = free.shares
    if value.min() < 0:
        value = nearest(found.root @ found.c, found.root @ found.c @ value)
    wide = np.array([widening(each, level) for each in found.freedom]) * _tails(pair, fit, found)
    extra = Extra(wide, None if fit is None else fit.map, (*why, *_doubts(pair, fit, found)), _HOW)
    return shares_of(pair, "gmm", value, free, level=level, extra=extra), found


def calibration(
    pair: Pair, *, recalibrate: Recalibration | bool | None = "bias-corrected", at: Given | None = None
) -> tuple[Fit | None, tuple[str, ...]]:
    """Recalibrate, from which likelihood ratios follow; None, with the reason, where that cannot be done."""
    try:
        return prepared(pair, recalibrate=recalibrate, at=at), ()
    except FitError as error:
        return None, (f"only mean probabilities are compared, without likelihood ratios: {error}",)


def solved(pair: Pair, fit: Fit | None, *, level: float) -> Gmm:
    """Compute the features and their means, and solve for the shares."""
    new, old = soft(pair) if fit is None else (normalized(pair.target), normalized(pair.validation))
    check_told_apart(*means(pair.truth, pair.validation, old if fit is None else fit.right), pair.labels, level=level)
    places = [np.flatnonzero(pair.truth == k) for k in range(len(pair.labels))]
    c = np.stack([pair.validation.part(there).middle(old[there]) for there in places], axis=1)
    near = projected(np.asarray(np.linalg.lstsq(c, pair.target.middle(new))[0], dtype=np.float64))
    return _fitted(pair, _features(pair, fit, near, (new, old)), near)


def _features(pair: Pair, fit: Fit | None, near: Floats, p: tuple[Floats, Floats]) -> Features:
    """Likelihood ratios weighed by how they vary in both sets, and probabilities."""
    width = len(near)
    if fit is None:
        return Features(*p, np.zeros(width))
    q = (1 - _SHRUNK) * near + _SHRUNK * pair.shares
    gain = q * q * pair.target.effective / pair.class_rows
    ratios = fit.across.T, fit.right / fit.at
    new, old = (
        np.concatenate([each / (each @ (q + gain))[:, None], own], axis=1) for each, own in zip(ratios, p, strict=True)
    )
    return Features(new, old, gain)


def _fitted(pair: Pair, features: Features, near: Floats) -> Gmm:
    """Two steps: the weights follow from shares that are almost right."""
    c, spread = means(pair.truth, pair.validation, features.old, classes=len(near))
    o, varied = pair.target.mean(features.new)
    varied = varied * pair.target.unbiased
    z = contrasts(len(near))
    for _ in range(2):
        root = _root(varied + np.tensordot(near * near, spread, axes=1))
        steep = root @ c @ z
        noise = _noise(steep, np.einsum("id,kde,ie->k", root, spread, root), z)
        inner = np.linalg.pinv(steep.T @ steep - z.T @ (noise[:, None] * z), hermitian=True)
        middle = np.full(len(near), 1 / len(near))
        q = middle + z @ inner @ (steep.T @ (root @ (o - c @ middle)) + z.T @ (noise * middle))
        near = projected(q)
    lead = z @ inner @ steep.T @ root
    parts = np.stack([varied, *(q[:, None, None] ** 2 * spread)])
    of = np.einsum("kd,pde,ke->pk", lead, parts, lead)
    covariance = z @ inner @ (steep.T @ steep) @ inner @ z.T
    gap = root @ (o - c @ q)
    over = len(root) - (len(near) - 1)
    freedom = _satterthwaite(pair, of)
    return Gmm(features, o, c, lead, q, covariance, of[0], freedom, float(gap @ gap), max(over, 0), root)


def _root(covariance: Floats) -> Floats:
    """Square root R of the inverse, RᵀR, in the directions in which there is any variance; a row for each."""
    scale = np.sqrt(np.maximum(np.diag(covariance), np.finfo(np.float64).tiny))
    size, axes = np.linalg.eigh(covariance / np.outer(scale, scale))
    there = size > _FLAT * size[-1]
    found: Floats = (axes[:, there] / np.sqrt(size[there])).T / scale
    return found


def _noise(steep: Floats, trace: Floats, z: Floats) -> Floats:
    """What the noise of each class's means adds to the information; never more than a part of that."""
    from scipy.linalg import eigh

    try:
        most = float(eigh(z.T @ (trace[:, None] * z), steep.T @ steep, eigvals_only=True)[-1])
    except np.linalg.LinAlgError:  # the information is singular: nothing can be taken away
        return np.zeros(len(trace))
    return trace * min(1.0, _MOST / most) if most > 0 else trace


def _satterthwaite(pair: Pair, parts: Floats) -> Floats:
    """Degrees of freedom of a sum of variances: of the target, and of each class in validation."""
    freedom = np.maximum(np.array([pair.target.effective, *pair.class_rows]) - 1, 1.0)
    total = parts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.nan_to_num(total**2 / (parts**2 / freedom[:, None]).sum(axis=0), nan=np.inf)
    return found


def _tails(pair: Pair, fit: Fit | None, found: Gmm) -> Floats:
    r"""How many times as great standard errors are if classes vary as probabilities say, between 1 and a limit.

    Rows that look like another class are rare, and few rows of a class may hold none of them: their variance is then
    too small, and the share of that other class too great. All validation rows, weighted by the probability of the
    class, hold some.
    """
    if fit is None:
        return np.ones(len(pair.labels))
    along = found.features.old @ found.lead.T
    amount = np.ones(len(along)) if pair.validation.amount is None else pair.validation.amount
    weight = fit.right * amount[:, None]
    weight /= weight.sum(axis=0)
    spread = weight.T @ along**2 - (weight.T @ along) ** 2
    model = np.square(found.shares) / pair.class_rows @ spread + found.of_target
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nan_to_num(model / np.diag(found.covariance), nan=1.0, posinf=1.0)
    return np.sqrt(np.clip(ratio, 1.0, _WIDER))


def _doubts(pair: Pair, fit: Fit | None, found: Gmm) -> Iterator[str]:
    """Say where moments disagree with each other, or with maximum likelihood; Holm's procedure at 5% for both."""
    likely = None if fit is None or fit.line is None else _likelihood(pair, fit, found)
    p = {"moments": found.p if found.over else np.nan, "likelihood": np.nan if likely is None else likely[1]}
    tests = sorted((each, name) for name, each in p.items() if not np.isnan(each))
    for place, (each, name) in enumerate(tests):
        if each * (len(tests) - place) > SIZE:
            return
        if name == "moments":
            yield (
                f"no shares explain all mean features of the target ({format_p_phrase(each, digits=3)}): it is not "
                "label shift alone, and the estimate is in doubt."
            )
        elif likely is not None:
            shares = [f"{label} {q:.3g}" for label, q in zip(pair.labels, likely[0], strict=True)]
            yield (
                f"maximum likelihood (mlls) disagrees, with {listed(shares)} ({format_p_phrase(each, digits=3)}): "
                "either its calibration curve does not fit, on which this estimate does not depend, or it is not label "
                "shift alone."
            )


def _likelihood(pair: Pair, fit: Fit, found: Gmm) -> tuple[Floats, float] | None:
    """Estimate by maximum likelihood, and the p-value of its difference; None where they cannot be compared."""
    from baserate.shift._several._goodness import compared, influences

    likely = mixed(fit.across.T, amount=pair.target.amount)
    if not likely.settled or likely.q.min() == 0:
        return None
    alone = pair.unlabelled()
    target, validation = influences(alone, fit, likely.q)
    target -= (found.features.new - found.o) @ found.lead.T / pair.target.total
    validation -= found.moved(pair)
    covariance = pair.target.squared(target) + pair.validation.squared(validation)
    agreement = compared(likely.q - found.shares, covariance, found.covariance)
    return None if agreement.why else (likely.q, agreement.p)
