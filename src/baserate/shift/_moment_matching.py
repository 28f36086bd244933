"""Prevalence by matching means: ACC, PACC and their likelihood, Bayesian and regularized variants.

The mean of any function of the scores over the target is a mixture of its class means in validation. With hard
decisions the methods are known as ACC, CM and BBSE-hard, with probabilities as PACC, SCM, BBSE-soft and SMM
[@forman2008] [@lipton2018] [@sipka2022].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import inf, log, sqrt
from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats, Reals
from baserate._calibrator import MulticlassCalibrator
from baserate._domains import LEVEL, check_domain, wrong_option
from baserate._errors import FitError, OptionError
from baserate._numeric.distinct import Codes
from baserate._numeric.mixture import maximize_share
from baserate._numeric.simplex import contrasts, fit_least_squares, fit_likelihood, fit_regularized
from baserate._results import Estimate
from baserate._rows import MulticlassRows, MulticlassTarget
from baserate.calibration import format_labels
from baserate.infer import normal_quantile, proportion_from_variance, wilson_or_exact
from baserate.shift._data import (
    DELTA_METHOD,
    BinaryData,
    MulticlassData,
    MulticlassPrevalence,
    Prevalence,
    Sample,
    class_means,
    share_intervals,
)

_FIELLER = "Fieller, with validation"
_WILSON = "Wilson, with validation and labels"
_RLLS_DELTA = 0.05
"""δ of RLLS: probability that its bound fails."""


class BinaryMoments(NamedTuple):
    """Means of a score function in the target and in both classes of validation, with the variances of these means."""

    target: float
    noise: float
    first: float
    first_noise: float
    second: float
    second_noise: float

    @property
    def gap(self) -> float:
        """Difference of the class means."""
        return self.first - self.second

    @property
    def share(self) -> float:
        """Place of the target between the classes; outside [0, 1] if its mean is not between theirs."""
        return (self.target - self.second) / self.gap

    def fieller(self, reach: float) -> tuple[float, float]:
        """Compute Fieller's interval, :math:`(g-m_0-qd)^2≤z^2(v+q^2v_1+(1-q)^2v_0)` [@fieller1954]."""
        square = reach**2
        a = self.gap**2 - square * (self.first_noise + self.second_noise)
        # The set is then the whole line or the outside of an interval: nothing can be excluded.
        if a <= 0:
            return -inf, inf
        # The roots of aq² − 2ahq + ar = 0, h ± √(h² − r).
        above = self.target - self.second
        half = (self.gap * above - square * self.second_noise) / a
        rest = (above**2 - square * (self.noise + self.second_noise)) / a
        root = sqrt(max(half**2 - rest, 0.0))
        return half - root, half + root


def binary_acc(data: BinaryData, *, threshold: float | None = None) -> Prevalence:
    r"""Solve the flagged share for the prevalence, :math:`q=\frac{g-\mathrm{FPR}}{\mathrm{TPR}-\mathrm{FPR}}`.

    The share g of the target is flagged: scores at or above the threshold, by default ½.
    """
    return estimate_share(data, flag_at(data, threshold), "acc")


def binary_pacc(data: BinaryData) -> Prevalence:
    r"""Solve the mean score for the prevalence, :math:`q=\frac{\bar p-\bar p_0}{\bar p_1-\bar p_0}`.

    No calibration is needed, and scores need not be probabilities.
    """
    return estimate_share(data, raw_scores, "pacc")


def binary_cm_l(data: BinaryData, *, threshold: float | None = None) -> Prevalence:
    """Maximize the likelihood of the flagged share; for two classes that is `acc`, clipped to [0, 1]."""
    return estimate_share(data, flag_at(data, threshold), "cm-l")


def binary_scm_l(data: BinaryData) -> Prevalence:
    """Maximize the likelihood of the mean probability, treated as a count; for two classes that is `pacc`, clipped."""
    data.check_probabilities("scm-l")
    return estimate_share(data, raw_scores, "scm-l")


def binary_cm_map(data: BinaryData, *, alpha: float = 3.0, threshold: float | None = None) -> Prevalence:
    r"""Maximize the posterior of the flagged share with a Dirichlet prior, :math:`\ln L+(α-1)\sum\ln q_k`."""
    return _estimate_with_prior(data, flag_at(data, threshold), "cm-map", alpha)


def binary_scm_map(data: BinaryData, *, alpha: float = 3.0) -> Prevalence:
    """Maximize the posterior of the mean probability with a Dirichlet prior."""
    data.check_probabilities("scm-map")
    return _estimate_with_prior(data, raw_scores, "scm-map", alpha)


def binary_rlls(data: BinaryData, *, alpha: float = 0.01) -> Prevalence:
    r"""Estimate regularized class weights by the mean probability [@azizzadenesheli2019].

    :math:`θ=\arg\min‖Jθ-(o-o_v)‖+αρ‖θ‖`, where J contains the joint means of validation and ρ shrinks with its rows.
    The prevalence is 1 + θ times the shares of validation, normalized.
    """
    data.check_probabilities("rlls")
    return _estimate_regularized(data, raw_scores, "rlls", alpha)


def binary_rlls_hard(data: BinaryData, *, alpha: float = 0.01, threshold: float | None = None) -> Prevalence:
    """Estimate regularized class weights by the flagged share [@azizzadenesheli2019]."""
    return _estimate_regularized(data, flag_at(data, threshold), "rlls-hard", alpha)


ScoreFunction = Callable[[Reals], Floats]
"""Function of scores whose means are matched."""


def flag_at(data: BinaryData, threshold: float | None) -> ScoreFunction:
    """Return the function that flags scores at or above a threshold, ½ by default."""
    if threshold is None:
        data.check_probabilities("a threshold of ½")
    cut = 0.5 if threshold is None else float(threshold)
    return lambda score: np.asarray(score >= cut, dtype=np.float64)


def raw_scores(score: Reals) -> Floats:
    """Return scores unchanged."""
    return np.asarray(score, dtype=np.float64)


def binary_moments(data: BinaryData, value: ScoreFunction) -> BinaryMoments:
    """Compute means of a score function in the target and in the classes."""
    first, second = class_means(data.validation, value(data.validation.score))
    return BinaryMoments(*data.mean(value(data.score)), *first, *second)


def moment_influence(data: BinaryData, value: ScoreFunction, moments: BinaryMoments, share: float) -> Floats:
    """Compute the influence on the prevalence of one more row of each class at each validation score."""
    tally = data.validation
    z = value(tally.score)
    own = np.stack(
        [share * (moments.first - z) / tally.positives, (1 - share) * (moments.second - z) / tally.negatives]
    )
    return np.asarray(own / moments.gap)


def check_moments(data: BinaryData, value: ScoreFunction, level: float) -> BinaryMoments:
    """Compute means; raise unless they separate the classes."""
    moments = binary_moments(data, value)
    if moments.gap**2 <= normal_quantile(level) ** 2 * (moments.first_noise + moments.second_noise):
        raise FitError(
            f"the means of the two classes of validation do not differ enough ({moments.first:.4g} and "
            f"{moments.second:.4g}), so no prevalence can be ruled out (Fieller's set is unbounded)",
            remedy="use another threshold or method.",
        )
    return moments


def estimate_share(data: BinaryData, value: ScoreFunction, method: str) -> Prevalence:
    """Solve the mean of a score function for the prevalence."""
    moments = check_moments(data, value, data.level)
    # Unclipped until the end: a clipped estimate has no influence function at its bounds.
    share = moments.share
    influence, spread = moment_influence(data, value, moments, share), moments.noise / moments.gap**2
    _, reach = data.reach(influence, spread)
    low, high = moments.fieller(reach)
    estimate = Prevalence(
        Estimate(min(max(share, 0.0), 1.0), *_clip_bounds(data, share, low, high), data.level, _FIELLER),
        method,
        share,
        data.validation,
        influence,
        spread,
        notes=_outside_notes(share, low, high),
    )
    return combine_with_labels(data, estimate)


def _estimate_with_prior(data: BinaryData, value: ScoreFunction, method: str, alpha: float) -> Prevalence:
    if not alpha >= 1:
        raise wrong_option("alpha", alpha, "1 or more, for a prior that pulls towards the middle")
    moments = check_moments(data, value, data.level)
    # Per row of the target, as the moments are means.
    prior = (alpha - 1) / data.effective

    def slope_at(q: float) -> tuple[float, float]:
        # With a prior, its logarithm falls infinitely steeply towards both ends.
        if q in (0.0, 1.0):
            return (inf if q == 0 else -inf) if prior else _unpenalized_slope(moments, q), inf
        c = moments.second + q * moments.gap
        slope = moments.gap * (moments.target / c - (1 - moments.target) / (1 - c)) + prior * (1 / q - 1 / (1 - q))
        curve = moments.gap**2 * (moments.target / c**2 + (1 - moments.target) / (1 - c) ** 2)
        return slope, curve + prior * (1 / q**2 + 1 / (1 - q) ** 2)

    plain = estimate_share(data, value, method)
    return _replace_value(plain, maximize_share(slope_at, plain.value))


def _unpenalized_slope(moments: BinaryMoments, q: float) -> float:
    c = moments.second + q * moments.gap
    return moments.gap * (moments.target - c)


def _estimate_regularized(data: BinaryData, value: ScoreFunction, method: str, alpha: float) -> Prevalence:
    if not alpha >= 0:
        raise wrong_option("alpha", alpha, "a penalty of 0 or more")
    moments, tally = check_moments(data, value, data.level), data.validation
    shares = np.array([tally.prevalence, 1 - tally.prevalence])
    joint = np.array([[moments.first, moments.second], [1 - moments.first, 1 - moments.second]]) * shares
    target_means = np.array([moments.target, 1 - moments.target])
    penalty = _rlls_penalty(alpha, 2, sum(data.rows), _RLLS_DELTA)
    theta = fit_regularized(joint, target_means, joint.sum(axis=1), penalty=penalty)
    weights = shares * (1 + theta)
    return _replace_value(estimate_share(data, value, method), float(weights[0] / weights.sum()))


def _rlls_penalty(alpha: float, classes: int, rows: float, delta: float) -> float:
    """Return αρ; ρ bounds the error of the joint means with probability 1 − δ."""
    part = 2 * log(2 * classes / delta) / rows
    return alpha * 3 * (part / 3 + sqrt(part))


def _replace_value(plain: Prevalence, value: float) -> Prevalence:
    """Replace the value of an estimate, and extend its interval to contain it."""
    estimate = plain.estimate
    other = replace(estimate, value=value, low=min(estimate.low, value), high=max(estimate.high, value))
    return replace(plain, estimate=other)


def _clip_bounds(data: BinaryData, share: float, low: float, high: float) -> tuple[float, float]:
    """Clip bounds to [0, 1]; at 0 or 1 the interval is at least as wide as if all rows had labels of one class."""
    z = normal_quantile(data.level)
    # Wilson's bound for 0 of n rows.
    least = z**2 / (data.effective + z**2)
    value = min(max(share, 0.0), 1.0)
    low, high = min(max(low, 0.0), value), max(min(high, 1.0), value)
    return (min(low, 1 - least), high) if value == 1 else (low, max(high, least) if value == 0 else high)


def _outside_notes(share: float, low: float, high: float) -> tuple[str, ...]:
    if 0 <= share <= 1:
        return ()
    text = f"the estimate was {share:.4g} before it was clipped to [0, 1]"
    return (f"{text}, so far outside that label shift is in doubt." if high < 0 or low > 1 else f"{text}.",)


def combine_with_labels(data: BinaryData, estimate: Prevalence) -> Prevalence:
    """Combine an estimate with the share among labelled rows of the target, weighted by precision."""
    positives, negatives = data.label_counts
    labelled = positives + negatives
    if not labelled:
        return estimate
    # Half a row of each class more, so that rows of one class alone are not taken to be certain.
    smoothed = (positives + 0.5) / (labelled + 1)
    noise = smoothed * (1 - smoothed) / labelled
    weight = noise / (noise + estimate.variance)
    share = weight * estimate.unclipped + (1 - weight) * positives / labelled
    value = min(max(share, 0.0), 1.0)
    influence, spread = weight * estimate.influence, weight**2 * estimate.target_variance + (1 - weight) ** 2 * noise
    variance, reach = data.reach(influence, spread)
    wide = variance * (reach / normal_quantile(data.level)) ** 2
    as_count = proportion_from_variance(value, wide, labelled)
    low, high = wilson_or_exact(as_count.hits, as_count.misses, data.level)
    interval = Estimate(value, min(low, value), max(high, value), data.level, _WILSON)
    return replace(estimate, estimate=interval, unclipped=share, influence=influence, target_variance=spread)


_ROUNDING = 1e-9
"""Singular value that is rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class MulticlassMoments:
    """Means of features in each class of validation and in the target, :math:`Cq=o`, with their covariances."""

    c: Floats
    """A column for each class."""
    spread: Floats
    """Covariance of each of those columns, of shape (K, K, K)."""
    o: Floats
    o_spread: Floats
    old: Floats
    """Features of each validation row with weight."""

    def influence(self, data: MulticlassData) -> Floats:
        """Compute the influence of each validation row with weight on the unclipped shares."""
        free = np.linalg.solve(self.c, self.o)
        deviation = (self.c.T[data.truth] - self.old) * (free / (data.shares * data.validation.total))[data.truth, None]
        return np.asarray(np.linalg.solve(self.c, deviation.T).T)

    def solve(self) -> tuple[Floats, Floats]:
        r"""Solve for the shares, wherever they lie; return also their covariance.

        :math:`q=C^{-1}o`, :math:`\mathrm{Cov}=C^{-1}[S_o/n+\sum_kq_k^2S_k/n_k]C^{-⊤}`: validation is a sample, too.
        """
        q = np.linalg.solve(self.c, self.o)
        half = np.linalg.solve(self.c, self.o_spread + np.tensordot(q * q, self.spread, axes=1))
        return q / q.sum(), np.linalg.solve(self.c, half.T)


def multiclass_means(truth: Codes, side: Sample, z: Floats, *, classes: int | None = None) -> tuple[Floats, Floats]:
    """Compute the mean of z in each class, as columns, and their covariances; by default z has a column per class."""
    width, many = z.shape[1], z.shape[1] if classes is None else classes
    c, spread = np.empty((width, many)), np.empty((many, width, width))
    for k in range(many):
        members = np.flatnonzero(truth == k)
        part = side.subset(members)
        c[:, k], varied = part.mean(z[members])
        spread[k] = varied * part.bessel
    return c, spread


def check_rank(c: Floats, spread: Floats, labels: tuple[object, ...], *, level: float) -> None:
    r"""Raise unless scores separate all classes; otherwise their shares could be anything.

    Let u and v be the directions of the smallest singular value σ of C among differences of classes. If C does not have
    full rank, :math:`σ^2/u^⊤(\sum_kv_k^2S_k/n_k)u` is about χ² with one degree of freedom [@kleibergen2006]. A rank
    that is not significant at the confidence level raises. For two classes the statistic is
    :math:`(m_1-m_0)^2/(s_1^2/n_1+s_0^2/n_0)`, and Fieller's interval of the share is then the whole line.
    """
    check_domain("level", level, LEVEL)
    z = contrasts(len(c))
    # Contrasts: only differences of classes matter, since shares add up to 1.
    left_vectors, size, right_vectors = np.linalg.svd(z.T @ c @ z)
    u, v = z @ left_vectors[:, -1], z @ right_vectors[-1]
    noise = float(u @ np.tensordot(v * v, spread, axes=1) @ u)
    if size[-1] > _ROUNDING and size[-1] ** 2 > normal_quantile(level) ** 2 * noise:
        return
    # The classes with the largest weights in the direction that the scores do not separate.
    names = [str(labels[at]) for at in np.argsort(-np.abs(v), kind="stable") if abs(v[at]) > np.abs(v).max() / 3]
    raise FitError(
        f"the scores carry no information about the shares of {format_labels(names)}: in validation those classes "
        f"look alike (a difference of {size[-1]:.3g} with a standard error of {sqrt(max(noise, 0.0)):.3g}), so that "
        "any shares would explain the unlabelled data",
        remedy="give more rows of validation, merge those classes, or use a better classifier.",
    )


def _decision_indicators(data: MulticlassData) -> tuple[Floats, Floats]:
    """Return decisions of target and validation, as rows with a single 1."""
    one = np.eye(len(data.labels))
    return one[data.target.as_rows().decision()], one[data.validation.as_rows().decision()]


def class_probabilities(data: MulticlassData) -> tuple[Floats, Floats]:
    """Return normalized probabilities of target and validation."""
    data.check_probabilities()
    return normalize_rows(data.target), normalize_rows(data.validation)


def normalize_rows(side: Sample) -> Floats:
    """Normalize probabilities to add up to 1."""
    p = np.asarray(side.score, dtype=np.float64)
    rows: Floats = p / (p @ np.ones(p.shape[1]))[:, None]
    return rows


FeatureFunction = Callable[[MulticlassData], tuple[Floats, Floats]]


def multiclass_moments(data: MulticlassData, features: FeatureFunction, *, level: float) -> MulticlassMoments:
    """Compute means of both samples; raise unless they separate the classes."""
    new, old = features(data)
    c, spread = multiclass_means(data.truth, data.validation, old)
    check_rank(c, spread, data.labels, level=level)
    o, varied = data.target.mean(new)
    return MulticlassMoments(c, spread, o, varied * data.target.bessel, old)


class UnclippedShares(NamedTuple):
    """Shares wherever they lie, their covariance, and the influence of each validation row with weight."""

    shares: Floats
    covariance: Floats
    influence: Floats

    @staticmethod
    def of(data: MulticlassData, fit: MulticlassMoments) -> UnclippedShares:
        """Solve for the shares, combined with labelled rows of the target."""
        return combine_with_labelled(data, UnclippedShares(*fit.solve(), fit.influence(data)))


def combine_with_labelled(data: MulticlassData, free: UnclippedShares) -> UnclippedShares:
    """Combine shares with those of labelled rows of the target, weighted by precision.

    The variance of the labelled shares adds half a row to each class, so that a count of 0 is not certain.
    """
    if not data.labelled_mass.any():
        return free
    q, covariance, influence = free
    share, weight = data.labelled_mass / data.labelled_mass.sum(), precision_weight(data, covariance)
    return UnclippedShares(share + weight @ (q - share), weight @ covariance, influence @ weight.T)


def precision_weight(data: MulticlassData, covariance: Floats) -> Floats:
    """Compute the weight matrix of shares with this covariance, relative to those of labelled rows."""
    z = contrasts(len(covariance))
    if not data.labelled_mass.any():
        return np.asarray(z @ z.T)
    share = data.labelled_mass / data.labelled_mass.sum()
    smooth = (share * data.effective_labelled + 0.5) / (data.effective_labelled + len(share) / 2)
    own = z.T @ ((np.diag(smooth) - np.outer(smooth, smooth)) / data.effective_labelled) @ z
    return np.asarray(z @ np.linalg.solve(own + z.T @ covariance @ z, own).T @ z.T)


class Details(NamedTuple):
    """Details of an estimate that only some methods have."""

    wide: Floats | float = 1.0
    """Factor of standard errors beyond normal quantiles."""
    calibrator: MulticlassCalibrator | None = None
    notes: tuple[str, ...] = ()
    how: str = DELTA_METHOD


def build_shares(
    data: MulticlassData,
    method: str,
    value: Floats,
    free: UnclippedShares,
    *,
    level: float,
    extra: Details = Details(),  # noqa: B008  (a tuple)
) -> MulticlassPrevalence:
    """Build the result: shares with their intervals and notes."""
    unclipped, covariance, influence = free
    rows = data.target.effective + data.effective_labelled
    notes = [*data.notes, *extra.notes]
    outside = [f"{label} {q:.4g}" for label, q in zip(data.labels, unclipped, strict=True) if not 0 <= q <= 1]
    if outside:
        notes.append(
            f"unclipped, the shares are outside [0, 1] ({format_labels(outside)}); the estimate is "
            f"{_PROJECTIONS[method]}."
        )
    return MulticlassPrevalence(
        data.labels,
        tuple(
            share_intervals(
                value, unclipped, np.diag(covariance) * extra.wide**2, rows=rows, level=level, how=extra.how
            )
        ),
        method=method,
        unclipped=unclipped,
        covariance=covariance,
        sample_prevalence=data.shares,
        rows=data.target.rows,
        labelled=data.n_labelled,
        calibrator=extra.calibrator,
        notes=tuple(notes),
        validation=data.rows,
        influence=data.expand(influence),
    )


_LEAST_SQUARES = "the point of the simplex with the least squared distance |Cq − o|"
_PROJECTIONS = {
    "acc": _LEAST_SQUARES,
    "pacc": _LEAST_SQUARES,
    "gmm": "the point of the simplex with the least weighted squared distance of o from Cq",
    "cm-l": "the likeliest point of the simplex",
    "scm-l": "the likeliest point of the simplex",
    "cm-map": "the most probable point of the simplex",
    "scm-map": "the most probable point of the simplex",
    "kdey-ml": "the likeliest point of the simplex",
    "kdey-hd": "the point of the simplex with the least Hellinger distance",
    "kdey-cs": "the point of the simplex with the least Cauchy–Schwarz divergence",
    "rlls": "π·w of the regularized weights w ≥ 0, divided by its sum",
    "rlls-hard": "π·w of the regularized weights w ≥ 0, divided by its sum",
}


def _estimate_by_inversion(
    method: str, features: FeatureFunction, target: MulticlassTarget, validation: MulticlassRows, *, level: float = 0.95
) -> MulticlassPrevalence:
    """Solve the mean features for the class shares, :math:`q=C^{-1}o`.

    Features are decisions for the highest score (`acc`: adjusted classify and count, CM, BBSE-hard, GACC
    [@lipton2018]), or probabilities, which need not be calibrated (`pacc`: SCM, BBSE-soft, GPACC; for two classes, SMM
    [@bella2010]). :math:`C_{kj}` is the mean of feature k in class j of the validation data, and o are the means in the
    unlabelled data. If q leaves the simplex, the estimate is the point there with the least ‖Cq−o‖. Labelled rows are
    combined by precision.

    >>> from baserate import class_scores
    >>> score = [[0.9, 0.1], [0.4, 0.6]]
    >>> validation = class_scores(list("aabb"), score * 2, count=[75, 25, 20, 80])
    >>> target = MulticlassTarget(np.array(score), ("a", "b"), count=np.array([250, 750]))
    >>> [estimate(target, validation).value.round(4).tolist() for estimate in (multiclass_acc, multiclass_pacc)]
    [[0.0909, 0.9091], [0.0909, 0.9091]]
    """
    data = MulticlassData.of(target, validation)
    fit = multiclass_moments(data, features, level=level)
    free = UnclippedShares.of(data, fit)
    # C applied to combined shares stands for o: without labels both are the same.
    value = free.shares if free.shares.min() >= 0 else fit_least_squares(fit.c, fit.c @ free.shares)
    return build_shares(data, method, value, free, level=level)


multiclass_acc = partial(_estimate_by_inversion, "acc", _decision_indicators)
multiclass_pacc = partial(_estimate_by_inversion, "pacc", class_probabilities)


def _estimate_by_likelihood(
    method: str, features: FeatureFunction, target: MulticlassTarget, validation: MulticlassRows, *, level: float = 0.95
) -> MulticlassPrevalence:
    r"""Maximize the likelihood of the decisions, :math:`\max\sum_ko_k\ln(Cq)_k` (CM-L) [@sipka2022].

    With mean probabilities (SCM-L) the function has the form of a likelihood but is none. Inside the simplex the
    estimate equals `acc` or `pacc`: both are C⁻¹o. Labelled rows add their likelihood.

    >>> from baserate import class_scores
    >>> score = [[0.9, 0.1], [0.4, 0.6]]
    >>> validation = class_scores(list("aabb"), score * 2, count=[75, 25, 20, 80])
    >>> shares = multiclass_cm_l(MulticlassTarget(np.array(score), ("a", "b"), count=np.array([190, 810])), validation)
    >>> shares.value.tolist(), shares.unclipped.round(4).tolist()
    ([0.0, 1.0], [-0.0182, 1.0182])
    """
    return _estimate_with_dirichlet(method, features, target, validation, level=level, alpha=1.0)


def _estimate_with_dirichlet(
    method: str,
    features: FeatureFunction,
    target: MulticlassTarget,
    validation: MulticlassRows,
    *,
    level: float = 0.95,
    alpha: float = 3.0,
) -> MulticlassPrevalence:
    r"""Maximize the posterior, :math:`\max\sum_ko_k\ln(Cq)_k+\frac{α-1}n\sum_k\ln q_k` (CM-M, SCM-M) [@sipka2022].

    The prior of the shares is Dirichlet with α for every class; n is the number of unlabelled rows. With many classes
    and few rows the prior shrinks shares towards each other. The interval is that of `acc` or `pacc`, extended to
    contain the estimate.
    """
    if not 1 <= alpha < np.inf:
        raise wrong_option("alpha", alpha, "1 or more: below 1 the density of Dirichlet's prior has no maximum")
    data = MulticlassData.of(target, validation)
    fit = multiclass_moments(data, features, level=level)
    # Like o, a share of the unlabelled rows: Dirichlet's α−1 rows of each class, and the labelled rows.
    prior = (alpha - 1) / data.target.effective + data.labelled_mass / data.target.total
    value = fit_likelihood(fit.c, fit.o, prior=prior).q
    return build_shares(data, method, value, UnclippedShares.of(data, fit), level=level)


multiclass_cm_l = partial(_estimate_by_likelihood, "cm-l", _decision_indicators)
multiclass_scm_l = partial(_estimate_by_likelihood, "scm-l", class_probabilities)
multiclass_cm_map = partial(_estimate_with_dirichlet, "cm-map", _decision_indicators)
multiclass_scm_map = partial(_estimate_with_dirichlet, "scm-map", class_probabilities)


def _estimate_by_weights(  # noqa: PLR0913  (the first two are bound in the registry)
    method: str,
    features: FeatureFunction,
    target: MulticlassTarget,
    validation: MulticlassRows,
    *,
    level: float = 0.95,
    alpha: float = 0.01,
    delta: float = _RLLS_DELTA,
) -> MulticlassPrevalence:
    r"""Estimate shares π·w with weights near 1, :math:`w=1+\arg\min_{θ≥-1}‖Jθ-(o-o_{val})‖+αρ‖θ‖`.

    Regularized learning under label shift [@azizzadenesheli2019], by probabilities or by decisions. J = C·diag(π)
    contains mean features by label, and :math:`ρ=3\left(\frac{2\ln(2K/δ)}{3n}+\sqrt{\frac{2\ln(2K/δ)}n}\right)` grows
    as validation has fewer rows n; δ is how often its bound may fail. π·w is normalized. With a small penalty the
    estimate is often exactly that of `pacc`, since neither norm is squared. The interval is that of `pacc`, extended to
    contain the estimate.

    >>> from baserate import class_scores
    >>> score = [[0.9, 0.1], [0.4, 0.6]]
    >>> validation = class_scores(list("aabb"), score * 2, count=[75, 25, 20, 80])
    >>> new = MulticlassTarget(np.array(score), ("a", "b"), count=np.array([250, 750]))
    >>> [multiclass_rlls(new, validation, alpha=alpha).value.round(4).tolist() for alpha in (0.01, 10.0)]
    [[0.0909, 0.9091], [0.5, 0.5]]
    """
    if not (alpha >= 0 and 0 < delta < 1):
        what = f"alpha is {alpha} and delta {delta}; expected alpha ≥ 0 and 0 < delta < 1."
        raise OptionError(what, option="alpha", value=alpha)
    data = MulticlassData.of(target, validation)
    fit, shares = multiclass_moments(data, features, level=level), data.shares
    free = UnclippedShares.of(data, fit)
    penalty = _rlls_penalty(alpha, len(shares), data.validation.effective, delta)
    weight = 1 + fit_regularized(fit.c * shares, fit.c @ free.shares, fit.c @ shares, penalty=penalty)
    value = shares * np.maximum(weight, 0.0)
    return build_shares(data, method, value / value.sum(), free, level=level)


multiclass_rlls = partial(_estimate_by_weights, "rlls", class_probabilities)
multiclass_rlls_hard = partial(_estimate_by_weights, "rlls-hard", _decision_indicators)
