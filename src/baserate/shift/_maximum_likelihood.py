"""Prevalence of two classes by maximum likelihood: of posteriors (`mlls`) and of histograms (`binned`); and `hdy`.

The maximum that EM approaches [@saerens2002] is a scalar problem, which Newton's method solves exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import log, log1p, sqrt
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Cells, Floats, Reals, ratio
from baserate._calibrator import Calibrator
from baserate._calibrator_forms import Line, LogOdds
from baserate._domains import unused_option, wrong_option
from baserate._errors import FitError, keyword
from baserate._numeric.logistic import log_odds
from baserate._numeric.mixture import (
    BinCounts,
    MixtureSample,
    ProfileLikelihood,
    TwoSampleFit,
    find_root,
    maximize_share,
    pool_neighbors,
)
from baserate._results import Estimate
from baserate._tally import Tally
from baserate.calibration import logistic
from baserate.infer import normal_quantile, t_widening
from baserate.measure import bin_starts
from baserate.shift._data import BinaryData, Prevalence, effective_counts
from baserate.shift._moment_matching import combine_with_labels

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

    def regressor(self, scores: Reals) -> Floats:
        """Return the regressor that the slope multiplies: scores or their log-odds."""
        values = np.asarray(scores, dtype=np.float64)
        return values if self.calibrator is not None and isinstance(self.calibrator.form, Line) else log_odds(values)

    def log_ratio(self, scores: Reals) -> Floats:
        """Return log-likelihood ratios of positives to negatives at each score."""
        values = np.asarray(scores, dtype=np.float64)
        level = log(self.at) - log1p(-self.at)
        if self.calibrator is not None and (line := _logistic_line(self.calibrator)) is not None:
            x = self.regressor(values)
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
        # Log-odds of the target, recovered from the ratios: scores are not passed on.
        x = np.zeros(1) if line is None else (ratios + log(self.at) - log1p(-self.at) - line[0]) / line[1]
        # Certain rows have infinite log-odds and a derivative of 0, whose product is NaN and counts as 0.
        with np.errstate(invalid="ignore"):
            sums = np.array([float(change.sum()), float(np.nan_to_num(change * x).sum())])
        total: Floats = np.tensordot(sums, own, axes=1)
        return total


def _logistic_line(calibrator: Calibrator) -> tuple[float, float] | None:
    """Return intercept and slope of a logistic calibrator; None for other calibrators."""
    # An offset has the same form, but does not clip; its slope was not fitted.
    form = calibrator.form
    if isinstance(form, Line):
        return form.intercept, form.slope
    return (form.c, form.a) if isinstance(form, LogOdds) and form.a == form.b and form.nearest else None


def binary_mlls(
    data: BinaryData, *, recalibrate: RecalibrateOption = True, sample_prevalence: float | None = None
) -> Prevalence:
    r"""Maximize :math:`\sum_j\ln(q\,p_j/π+(1-q)(1-p_j)/(1-π))` over the prevalence q by Newton's method.

    Posteriors must be calibrated at the prevalence π. By default a logistic curve with a free intercept is fitted to
    the validation data; for two classes, that is bias-corrected temperature scaling [@alexandari2020]. Its error is
    part of the interval. With ``recalibrate=False`` posteriors are taken as calibrated at `sample_prevalence`, by
    default that of validation; with a `Calibrator`, after applying it. Labelled rows of the target add their
    likelihood.
    """
    posterior = recalibrate_scores(data, recalibrate=recalibrate, sample_prevalence=sample_prevalence)
    ratios = posterior.log_ratio(data.score)
    if not np.any(ratios):
        raise FitError(
            "every posterior of the unlabelled data equals the prevalence at which it is calibrated, so that they "
            "carry no information",
            remedy="give scores that vary.",
        )
    sample = MixtureSample.of(ratios, data.target.mass, data.target.squares)
    labels = LabelLikelihood(*data.label_counts)
    few = pool_neighbors(ratios, sample)
    # Pooled scores give a start next to the maximum, so that the full pass needs few steps.
    value = _maximize_likelihood(sample, labels, _maximize_likelihood(few[1], labels, posterior.at))
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
    """Compute the influence on the estimate of a unit of mass of the target at these log-ratios."""
    sample = MixtureSample.of(ratios, mass, mass)
    u = sample.lean / (0.5 + sample.lean * (estimate.value - 0.5))
    return np.asarray(
        u / (sample.moments(estimate.value).curvature + LabelLikelihood(*data.label_counts).curvature(estimate.value))
    )


def recalibrate_scores(
    data: BinaryData, *, recalibrate: RecalibrateOption = True, sample_prevalence: float | None = None
) -> Posterior:
    """Compute probabilities that are calibrated at a prevalence, as `mlls` does."""
    tally = data.validation
    at = sample_prevalence
    if at is not None and not 0 < at < 1:
        raise wrong_option("sample_prevalence", at, "a prevalence between 0 and 1, both excluded")
    if isinstance(recalibrate, str) and recalibrate != "logistic":
        raise wrong_option("recalibrate", recalibrate, "'logistic', True, False or a Calibrator")
    if recalibrate is True or recalibrate == "logistic":
        if at is not None:
            raise unused_option(
                "sample_prevalence", at, "recalibrated posteriors are right at the prevalence of validation"
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
            f"scores cannot be recalibrated on the validation data: {error}",
            remedy=f"Or estimate by 'pacc' or 'acc', or use scores without recalibration with "
            f"{keyword('recalibrate', value=False)}.",
        ) from error
    line = _logistic_line(posterior.calibrator) if posterior.calibrator is not None else None
    if line is None or posterior.calibrator is None or line[1] <= 0:
        raise FitError(
            "the higher the score, the rarer the positive class", remedy="reverse the scores, or estimate by 'pacc'."
        )
    x, chance = posterior.regressor(tally.score), posterior.calibrator(tally.score)
    weight = (tally.positive + tally.negative) * chance * (1 - chance)
    cross = float(weight @ x)
    inverse = np.linalg.inv(np.array([[float(weight.sum()), cross], [cross, float(weight @ (x * x))]]))
    rows = inverse @ np.stack([np.ones_like(x), x])
    influence = np.stack([rows * (1 - chance), rows * -chance], axis=1)
    influence[0] -= _prevalence_influence(tally)
    return posterior._replace(influence=influence)


def _prevalence_influence(tally: Tally) -> Floats:
    """Compute the influence of one more row of each class on the log-odds of the prevalence."""
    return np.repeat([[1 / tally.positives], [-1 / tally.negatives]], len(tally.score), axis=1)


class LabelLikelihood(NamedTuple):
    """Log-likelihood of the labelled rows of the target."""

    positives: float
    negatives: float

    def slope(self, q: float) -> float:
        """Compute the first derivative."""
        return _ratio_or_zero(self.positives, q) - _ratio_or_zero(self.negatives, 1 - q)

    def curvature(self, q: float) -> float:
        """Compute the negative second derivative."""
        return _ratio_or_zero(self.positives, q * q) + _ratio_or_zero(self.negatives, (1 - q) ** 2)

    def negative_log_likelihood(self, q: float) -> float:
        """Compute the negative log-likelihood."""
        from scipy.special import xlogy  # 0·ln 0 is 0

        return -float(xlogy(self.positives, q) + xlogy(self.negatives, 1 - q))


def _ratio_or_zero(part: float, whole: float) -> float:
    """Divide; 0/0 is 0, since labels that do not exist add nothing."""
    return ratio(part, whole) if part else 0.0


def _maximize_likelihood(sample: MixtureSample, labels: LabelLikelihood, start: float) -> float:
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

    def distance_from_peak(self, q: float) -> float:
        """Compute how far the log-likelihood lies below its maximum."""
        parts = self.sample.negative_log_likelihood, self.labels.negative_log_likelihood
        return sum(part(q) for part in parts) - parts[0](self.peak) - parts[1](self.peak)


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
    if inside == end or shape.distance_from_peak(end) <= allowed:
        return end
    # Bisection: the likelihood is monotone on each side, but may be infinite at the end itself.
    for _ in range(60):
        middle = (inside + outside) / 2
        if shape.distance_from_peak(middle) <= allowed:
            inside = middle
        else:
            outside = middle
        if abs(outside - inside) < 1e-9:
            break
    return inside


_MAX_BINS, _MIN_BINS = 10, 3
_ROWS_PER_BIN = 16
"""Rows of the rarer class of validation per bin by default; with fewer, intervals are too short."""
_HDY_BINS = range(10, 111, 10)
"""Numbers of bins over which HDy takes the median."""

BinIndices = npt.NDArray[np.intp]
BinFunction = Callable[[Reals], BinIndices]
"""Function from scores to their bins."""


class Histograms(NamedTuple):
    """Effective counts of both samples in bins, and the bin of each validation score."""

    counts: BinCounts
    places: BinIndices
    edges: Floats | None = None
    """Highest scores of all bins but the last; None for bins of equal width."""


class JointFit(NamedTuple):
    """Class histograms and prevalence that are jointly most likely, and the weight of each bin in the prevalence."""

    histograms: Histograms
    fit: TwoSampleFit
    weight: Floats

    @classmethod
    def of(cls, histograms: Histograms, fit: TwoSampleFit) -> JointFit:
        """Compute the weights of a fit."""
        return cls(histograms, fit, bin_weights(histograms.counts, fit, joint=True))

    def target_influence(self, data: BinaryData) -> Floats:
        """Compute the influence on the prevalence of a unit of mass at each score of the target."""
        assert self.histograms.edges is not None  # noqa: S101  (for the type checker)
        mixture = self.fit.share * self.fit.first + (1 - self.fit.share) * self.fit.second
        own = (self.weight - float(self.weight @ mixture)) / data.target.total
        return np.asarray(own[np.searchsorted(self.histograms.edges, data.score, side="left")])


def binned(data: BinaryData, *, bins: int | Sequence[float] | None = None) -> Prevalence:
    r"""Estimate the prevalence and both class histograms jointly by maximum likelihood.

    In bins with counts :math:`n_1,n_0` of validation and t of the target, the likelihood is :math:`\sum n_1\ln
    f_1+n_0\ln f_0+t\ln(qf_1+(1-q)f_0)`. Any monotone transformation of the scores gives the same estimate, without
    calibration. The interval is that of the profile likelihood, in which both samples are random. `bins` is their
    number or the edges between them. By default there are ten, fewer if validation is small, which contain equal parts
    of validation with equal weight of both classes.
    """
    return fit_binned(data, bins)[0]


def fit_binned(data: BinaryData, bins: int | Sequence[float] | None = None) -> tuple[Prevalence, JointFit]:
    """Estimate by `binned`; return also the joint fit."""
    histograms = count_in_bins(data, bins)
    profile = ProfileLikelihood(histograms.counts)
    fit = profile.maximum
    # The profile likelihood is χ² in large samples only; t quantiles make up for few rows of the rarer class.
    wide = normal_quantile(data.level) * t_widening(min(data.rows) - 1, data.level)
    low, high = profile.bounds(fit, wide**2 / 2)
    joint = JointFit.of(histograms, fit)
    influence, spread = _influence_and_variance(data, histograms, fit, joint.weight)
    estimate = Estimate(fit.share, low, high, data.level, "profile likelihood, with validation")
    estimate_with_labels = combine_with_labels(
        data, Prevalence(estimate, "binned", fit.share, data.validation, influence, spread)
    )
    # Labels are part of the likelihood already; only the variance still lacks them.
    return replace(estimate_with_labels, estimate=estimate, unclipped=fit.share), joint


def hdy(data: BinaryData) -> Prevalence:
    r"""Estimate the prevalence by the least Hellinger distance of histograms.

    The distance is :math:`\sum(\sqrt{qf_1+(1-q)f_0}-\sqrt h)^2`. The estimate is the median of those with 10, 20, …,
    110 bins of equal width, each minimized exactly [@gonzalez2013]. With few validation rows in each bin its bias is
    unknown. Its interval is therefore that of `binned`, extended to contain the estimate.
    """
    data.check_probabilities("hdy")
    several = [
        (_minimize_hellinger(histograms.counts), histograms)
        for histograms in (count_in_equal_bins(data, many) for many in _HDY_BINS)
    ]
    # The median of 11 estimates is one of them, so its histograms exist for the influence.
    share, histograms = sorted(several, key=lambda each: each[0])[len(several) // 2]
    fit = TwoSampleFit(
        share,
        histograms.counts.first / histograms.counts.first.sum(),
        histograms.counts.second / histograms.counts.second.sum(),
        0.0,
    )
    influence, spread = _influence_and_variance(data, histograms, fit, bin_weights(histograms.counts, fit, joint=False))
    interval = binned(data).estimate  # includes labelled rows
    combined = combine_with_labels(data, Prevalence(interval, "hdy", share, data.validation, influence, spread))
    value = combined.unclipped
    return replace(
        combined, estimate=replace(interval, value=value, low=min(interval.low, value), high=max(interval.high, value))
    )


def count_in_bins(data: BinaryData, bins: int | Sequence[float] | None) -> Histograms:
    """Count validation and target in bins of equal parts of validation, or between edges.

    Labelled rows of the target score like those of validation, and count with them.
    """
    if bins is None:
        bins = default_bins(data.rows)
    edges = balanced_edges(data.validation, bins) if isinstance(bins, int | np.integer) else _check_edges(bins)
    # A bin without validation rows has no class histogram: it is joined to the one below.
    occupied = np.searchsorted(edges, data.validation.score, side="left")
    edges = edges[np.isin(np.arange(1, len(edges) + 1), occupied) & (np.arange(len(edges)) >= occupied.min())]

    def place(score: Reals) -> BinIndices:
        return np.searchsorted(edges, score, side="left")

    labelled = data.target.labelled
    more = 0.0 if labelled is None else _class_counts(labelled, place, len(edges) + 1)
    first, second = _class_counts(data.validation, place, len(edges) + 1) + more
    return Histograms(
        BinCounts(first, second, _target_counts(data, edges), data.label_counts), place(data.validation.score), edges
    )


def default_bins(rows: tuple[float, float]) -> int:
    """Return the number of bins for these numbers of rows of both classes."""
    return min(max(int(min(rows)) // _ROWS_PER_BIN, _MIN_BINS), _MAX_BINS)


def balanced_edges(tally: Tally, bins: int) -> Floats:
    """Return the highest scores of bins that contain equal parts of a tally with equal weight of both classes.

    So a rare class is divided as finely as the other. In 14 scenarios intervals were between 30% shorter and 1% longer
    than with bins of equal mass of both samples.
    """
    score = tally.score[::-1]
    mass = (tally.positive / tally.positives + tally.negative / tally.negatives)[::-1]
    begins = np.unique(bin_starts(score, mass, bins=bins, by="mass"))
    begins = begins[(begins > 0) & (begins < len(score))]
    edges: Floats = np.asarray(score[begins - 1], dtype=np.float64)
    return edges


def _target_counts(data: BinaryData, edges: Floats) -> Floats:
    """Count the target in bins, as effective numbers of rows."""
    target = data.target
    if target.mass is None or target.squares is None:
        # Counting per edge is faster than searchsorted for very many unsorted scores and ten edges.
        below = [0, *(int(np.count_nonzero(target.score <= edge)) for edge in edges), len(target.score)]
        return np.diff(np.array(below, dtype=np.float64))
    places = np.searchsorted(edges, target.score, side="left")
    return effective_counts(np.bincount(places, weights=target.mass, minlength=len(edges) + 1), target.squares)


def count_in_equal_bins(data: BinaryData, many: int) -> Histograms:
    """Count both samples in bins of equal width from 0 to 1."""

    def place(score: Reals) -> BinIndices:
        # As in np.histogram: only the last bin includes its upper end.
        return np.minimum((np.asarray(score, dtype=np.float64) * many).astype(np.intp), many - 1)

    return _occupied_counts(data, place, many)


def _occupied_counts(data: BinaryData, place: BinFunction, many: int) -> Histograms:
    """Count both samples in those bins that are not empty."""
    target, places = data.target, place(data.validation.score)
    first, second = _class_counts(data.validation, place, many)
    mass = np.bincount(place(target.score), weights=target.mass, minlength=many).astype(np.float64)
    mixed = mass if target.squares is None else effective_counts(mass, target.squares)
    nonempty = first + second + mixed > 0
    bin_of = np.cumsum(nonempty) - 1
    counts = BinCounts(first[nonempty], second[nonempty], mixed[nonempty], data.label_counts)
    return Histograms(counts, bin_of[places])


def _class_counts(tally: Tally, place: BinFunction, many: int) -> Floats:
    """Count both classes in bins, as effective numbers of rows."""
    places = place(tally.score)
    counts = [
        effective_counts(np.bincount(places, weights=mass, minlength=many), squares)
        for mass, squares in zip(tally.mass, tally.squares, strict=True)
    ]
    return np.stack(counts)


def _check_edges(edges: Sequence[float]) -> Floats:
    checked = np.asarray(edges, dtype=np.float64)
    if checked.ndim != 1 or not len(checked) or not np.isfinite(checked).all() or (np.diff(checked) <= 0).any():
        raise wrong_option("bins", list(edges), "a whole number, or the scores at which bins end, rising")
    return checked


def _minimize_hellinger(counts: BinCounts) -> float:
    """Find the prevalence of least Hellinger distance: where the slope of Σ√(mixture·h) is 0."""
    f, g, h = (each / each.sum() for each in (counts.first, counts.second, counts.mixture))
    nonempty = h > 0
    rise, height = (f - g)[nonempty], np.sqrt(h[nonempty])

    def slope(q: float) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            part = height * rise / np.sqrt(q * f[nonempty] + (1 - q) * g[nonempty])
        # A bin that neither class can fill has an infinite slope; the sign alone matters to the root finder.
        return float(np.nan_to_num(part, nan=0.0, posinf=1e300, neginf=-1e300).sum())

    return find_root(slope, 0.0, 1.0)


def bin_weights(counts: BinCounts, fit: TwoSampleFit, *, joint: bool) -> Floats:
    r"""Compute the weight of each bin: the influence of a target row on the prevalence, times the number of rows.

    Both methods solve :math:`\sum_bw_b(h_b-qf_b-(1-q)g_b)=0` with weights :math:`w=(f-g)/m`. If the histograms are
    estimated jointly, m is the variance of the difference rather than that of the mixture alone.
    """
    q = fit.share
    # At least 1: a sample of no weight would divide by 0.
    rows = [max(float(each.sum()), 1.0) for each in (counts.first, counts.second, counts.mixture)]
    noise = (q * fit.first + (1 - q) * fit.second) / rows[2]
    if joint:
        noise = noise + q**2 * fit.first / rows[0] + (1 - q) ** 2 * fit.second / rows[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.nan_to_num((fit.first - fit.second) / noise)
    slope = float(weight @ (fit.first - fit.second))
    if slope <= 0:
        raise FitError(
            "the histograms of the two classes are the same, so no prevalence can be estimated",
            remedy="give scores that separate the classes.",
        )
    return weight / slope


def _influence_and_variance(
    data: BinaryData, histograms: Histograms, fit: TwoSampleFit, weight: Floats
) -> tuple[Floats, float]:
    """Compute the influence of validation rows on the prevalence, and the variance from the target."""
    tally, q = data.validation, fit.share
    own = weight[histograms.places]
    first, second = float(weight @ fit.first), float(weight @ fit.second)
    influence = np.stack([q * (first - own) / tally.positives, (1 - q) * (second - own) / tally.negatives])
    mixture = q * fit.first + (1 - q) * fit.second
    mean = float(weight @ mixture)
    return influence, float(mixture @ (weight - mean) ** 2) / max(float(histograms.counts.mixture.sum()), 1.0)
