"""Rules that smooth the score distribution of each class, and take the best threshold of the smooth distributions.

The best threshold of a sample jumps from row to row; that of two normal distributions, or of two kernel estimates, does
not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import isfinite, log, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from baserate._arrays import Floats, distances
from baserate._costs import as_costs
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._cut import Cut
from baserate._domains import BANDWIDTH, check_domain
from baserate._errors import FitError
from baserate._numeric.kernel_density import WeightedSample, normal_reference_bandwidth
from baserate.decide._rule import Gains, Toward, cost_gains, require_both_classes, rule, strictest_maximum
from baserate.decide._threshold_rules import equal_gains, resolve_objective
from baserate.measure import (
    Measure,
    balanced_accuracy,
    collect_settings,
    describe,
    expected_cost,
    note_settings,
    youden,
)

DEFAULT_MEASURE = "youden"


class Scale(NamedTuple):
    """The range of scores, mapped to [0, 1]: squares of very large or small scores would overflow or vanish."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """Length of the range, perhaps infinite."""
        return self.high - self.low

    def places(self, score: Floats) -> Floats:
        """Return scores as numbers from 0 to 1."""
        half = 1.0 if isfinite(self.width) else 0.5
        places: Floats = (score * half - self.low * half) / (self.high * half - self.low * half)
        return places

    def threshold(self, place: float) -> float:
        """Return the score at a place."""
        return min(max(self.low * (1 - place) + self.high * place, self.low), self.high) if isfinite(place) else place


def score_scale(score: Floats) -> Scale:
    """Return the range of descending scores; raise an error if there is none."""
    if not score[0] > score[-1]:
        raise FitError("all scores are equal, so no threshold separates them", remedy="give scores that vary.")
    return Scale(float(score[-1]), float(score[0]))


class _ClassScores(NamedTuple):
    """Scores of one class as numbers from 0 to 1, with their mass, and the number of rows."""

    name: str
    score: Floats
    mass: Floats
    size: float

    @property
    def mean(self) -> float:
        return float(np.dot(self.mass, self.score) / self.mass.sum())

    @property
    def squares(self) -> float:
        """Mean squared distance from the mean, exactly 0 without variation."""
        return float(np.dot(self.mass, distances(self.score, self.mean) ** 2) / self.mass.sum())

    @property
    def variance(self) -> float:
        """Unbiased variance."""
        return self.squares * self.size / (self.size - 1) if self.size > 1 else 0.0


def _class_scores(curve: Curve) -> tuple[_ClassScores, _ClassScores]:
    """Return the scores of positives and of negatives."""
    tally = curve.tally
    score = score_scale(tally.score).places(tally.score)
    classes = []
    for name, mass, rows in zip(("positives", "negatives"), tally.mass, tally.rows, strict=True):
        used = mass > 0
        classes.append(_ClassScores(name, score[used], mass[used].astype(np.float64), float(rows[used].sum())))
    return classes[0], classes[1]


class _Smooth(NamedTuple):
    """Smoothed share of positives and of negatives at or above a threshold."""

    tpr: Callable[[Floats], Floats]
    fpr: Callable[[Floats], Floats]


def _objective_on(
    curve: Curve, smooth: _Smooth, measure: Callable[..., Any], toward: Toward
) -> Callable[[Floats], Floats]:
    """Return the measure of smoothed confusion matrices as a function of thresholds; greater is better."""
    sign = 1.0 if toward == "high" else -1.0

    def objective(threshold: Floats) -> Floats:
        tpr, fpr = (np.clip(rate(threshold), 0.0, 1.0) for rate in smooth)
        cells = (curve.positives * tpr, curve.negatives * fpr, curve.positives * (1 - tpr), curve.negatives * (1 - fpr))
        value: Floats = sign * np.asarray(measure(Counts(*cells, reweighed=curve.tally.reweighed)))
        return value

    return objective


def _linear_gains(curve: Curve, measure: Measure, options: dict[str, Any]) -> Gains | None:
    """Return the weights of a measure that is a weighted sum of true and false positives; None for others."""
    name = describe(measure).name
    bound = {**getattr(measure, "keywords", {}), **options}
    if name in {describe(youden).name, describe(balanced_accuracy).name}:
        return equal_gains(curve.positives, curve.negatives)
    if name == describe(expected_cost).name and "costs" in bound:
        return cost_gains(curve.positives, curve.negatives, as_costs(bound["costs"]))
    return None


def note_ends(
    curve: Curve,
    cut: Cut,
    measure: str | Measure = DEFAULT_MEASURE,
    toward: Toward | None = None,
    **options: Any,  # noqa: ANN401
) -> Iterator[str]:
    counts = cut.counts(curve)
    if not counts.flagged or not counts.not_flagged:
        yield f"flagging {'nobody' if not counts.flagged else 'everybody'} is best, so the scores are not used."
    yield from note_settings(collect_settings([partial(resolve_objective(measure, toward)[0], **options)]))


def _note_normal(
    curve: Curve,
    cut: Cut,
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    equal_variances: bool = False,
    **options: Any,  # noqa: ANN401
) -> Iterator[str]:
    yield from note_ends(curve, cut, measure, **options)
    scale = score_scale(curve.tally.score)
    means, spreads = zip(*_normal_classes(curve, equal_variances=equal_variances), strict=True)
    of_positives, of_negatives = (f"{scale.threshold(each):.4g}" for each in means)
    yield (
        f"the normal distributions have means {of_positives} (positives) and {of_negatives} (negatives) and standard "
        f"deviations {spreads[0] * scale.width:.4g} and {spreads[1] * scale.width:.4g}."
    )


class _NormalClass(NamedTuple):
    """A normal distribution of scores from 0 to 1."""

    mean: float
    sd: float


def _normal_classes(curve: Curve, *, equal_variances: bool) -> tuple[_NormalClass, _NormalClass]:
    """Fit a normal distribution to each class, with a pooled variance if wanted."""
    require_both_classes(curve, "a fit of normal distributions")
    classes = _class_scores(curve)
    variances = [each.variance for each in classes]
    if equal_variances:
        freedom = [max(each.size - 1, 0.0) for each in classes]
        total = sum(freedom)
        pooled = sum(f * v for f, v in zip(freedom, variances, strict=True)) / total if total > 0 else 0.0
        variances = [pooled, pooled]
    for each, variance in zip(classes, variances, strict=True):
        if not variance > 0:
            what = f"the scores of the {each.name} do not vary, so they have no normal distribution"
            raise FitError(what, remedy="use the rule youden, which assumes none.")
    return _NormalClass(classes[0].mean, sqrt(variances[0])), _NormalClass(classes[1].mean, sqrt(variances[1]))


@rule(notes=_note_normal)
def normal(
    curve: Curve,
    /,
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    toward: Toward | None = None,
    equal_variances: bool = False,
    **options: Any,  # noqa: ANN401
) -> Cut:
    r"""Fit a normal distribution to the scores of each class, and take the best threshold of the two [@fluss2005].

    Of Youden's index and of expected cost the threshold is in closed form: where
    :math:`w_1φ_1(c)=w_0φ_0(c)`, the weighted densities of positives and negatives cross. With equal variances and
    Youden's index that is the mean of both means. Other measures are searched on a grid that is refined. The threshold
    is between the lowest and the highest score, or infinite if flagging nobody is best. Skewed scores bias it;
    transform them first, or use `kernel`.

    Parameters
    ----------
    curve
        Curve of the data, with both classes.
    measure
        Measure of the confusion matrix, or its name; Youden's index by default.
    toward
        "high" or "low": which end of the measure is better. Needed for measures without a better end.
    equal_variances
        Whether both classes have the same variance, which is then estimated from both.
    **options
        Options of the measure, such as `costs`.

    Returns
    -------
    Policy
        Policy that flags from the best threshold of the fit on; it need not be an observed score.

    Raises
    ------
    FitError
        If a class is missing, or its scores do not vary.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> c = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> round(decide.normal(c).threshold, 4), round(decide.normal(c, equal_variances=True).threshold, 4)
    (0.5876, 0.6)
    """
    function, toward = resolve_objective(measure, toward)
    positive, negative = _normal_classes(curve, equal_variances=equal_variances)
    smooth = _Smooth(partial(_normal_tail, positive), partial(_normal_tail, negative))
    objective = _objective_on(curve, smooth, partial(function, **options), toward)
    gains = _linear_gains(curve, function, options)
    if gains is not None and min(gains) > 0 and toward == describe(function).best:
        weights = gains.positive * curve.positives, gains.negative * curve.negatives
        inner = [at for at in _crossings(positive, negative, weights) if 0 <= at <= 1]
        place = _best_place(objective, np.array(sorted({np.inf, 0.0, 1.0, *inner}, reverse=True)), function)
    else:
        place = _search_grid(objective, function)
    return Cut((score_scale(curve.tally.score).threshold(place),))


def _normal_tail(each: _NormalClass, threshold: Floats) -> Floats:
    from scipy.special import ndtr

    tail: Floats = ndtr((each.mean - threshold) / each.sd)
    return tail


def _crossings(positive: _NormalClass, negative: _NormalClass, weights: tuple[float, float]) -> list[float]:
    """Return where the weighted densities of both classes are equal: the roots of a quadratic."""
    # Standardized by the negatives, so that the coefficients do not depend on the unit of scores.
    shift, scale = (positive.mean - negative.mean) / negative.sd, positive.sd / negative.sd
    square = (1 - scale**-2) / 2
    linear = shift / scale**2
    constant = log(weights[0] / weights[1]) - log(scale) - (shift / scale) ** 2 / 2
    inside = linear**2 - 4 * square * constant
    if inside < 0 or (square == 0 and linear == 0):
        return []
    # The stable form of the roots: one of them stays finite where variances become equal.
    half = -(linear + np.copysign(sqrt(inside), linear)) / 2
    roots = ([half / square] if square else []) + ([constant / half] if half else [])
    return [negative.mean + negative.sd * float(root) for root in roots if isfinite(root)]


def _best_place(objective: Callable[[Floats], Floats], places: Floats, measure: Measure) -> float:
    """Return the place of the greatest value, the first of equals."""
    return float(places[_best_of(objective(places), measure)])


def _best_of(value: Floats, measure: Measure) -> int:
    at = strictest_maximum(value)
    if at is None:
        what = f"{describe(measure).name} has no finite value on the smoothed curve"
        raise FitError(what, remedy="use another measure, or the rule best.")
    return at


_CELLS = 1 << 10
"""Steps of the first grid."""
_ZOOMS = 7


def _search_grid(objective: Callable[[Floats], Floats], measure: Measure) -> float:
    """Find the place of the greatest value of a smooth function on a grid, and refine the grid around it."""
    low, high = 0.0, 1.0
    for zoom in range(_ZOOMS):
        inner = np.linspace(high, low, _CELLS + 1 if zoom == 0 else 33)
        # Above all scores nobody is flagged, which may be best.
        chosen = _best_place(objective, np.concatenate([[np.inf], inner]) if zoom == 0 else inner, measure)
        if not isfinite(chosen):
            break
        step = (high - low) / (len(inner) - 1)
        low, high = max(chosen - step, 0.0), min(chosen + step, 1.0)
    return chosen


Bandwidth = float | Literal["nrd0"]


def _note_kernel(
    curve: Curve,
    cut: Cut,
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    bandwidth: Bandwidth = "nrd0",
    **options: Any,  # noqa: ANN401
) -> Iterator[str]:
    yield from note_ends(curve, cut, measure, **options)
    of_positives, of_negatives = _bandwidths(curve, bandwidth)
    width = score_scale(curve.tally.score).width
    of_positives, of_negatives = of_positives * width, of_negatives * width
    yield f"kernel bandwidths are {of_positives:.4g} (positives) and {of_negatives:.4g} (negatives)."


@rule(notes=_note_kernel)
def kernel(
    curve: Curve,
    /,
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    toward: Toward | None = None,
    bandwidth: Bandwidth = "nrd0",
    **options: Any,  # noqa: ANN401
) -> Cut:
    r"""Smooth the score distribution of each class with a Gaussian kernel, and take the best threshold [@fluss2005].

    The smoothed rates are :math:`\hat P(S\ge c)=\frac1n\sum_iΦ((x_i-c)/h)`, for each class with its own bandwidth. The
    default is Silverman's rule, :math:`h=0.9\min(s, IQR/1.34)\,n^{-1/5}`. The search covers a grid of at least 4096
    steps, and four per bandwidth, from the lowest to the highest score, and interpolates. cutpointr takes plug-in
    bandwidths, and a local search that can end at a lesser peak.

    Parameters
    ----------
    curve
        Curve of the data, with both classes.
    measure
        Measure of the confusion matrix, or its name; Youden's index by default.
    toward
        "high" or "low": which end of the measure is better. Needed for measures without a better end.
    bandwidth
        Standard deviation of the kernel, in units of the score; or "nrd0" for Silverman's rule in each class.
    **options
        Options of the measure, such as `costs`.

    Returns
    -------
    Policy
        Policy that flags from the best threshold of the fit on; it need not be an observed score.

    Raises
    ------
    FitError
        If a class is missing, or its scores do not vary and there is no bandwidth.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> c = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> round(decide.kernel(c).threshold, 4), round(decide.kernel(c, bandwidth=0.2).threshold, 4)
    (0.5283, 0.5605)
    """
    require_both_classes(curve, "a kernel estimate")
    function, toward = resolve_objective(measure, toward)
    classes, widths = _class_scores(curve), _bandwidths(curve, bandwidth)
    steps = int(np.clip(_STEPS_PER_WIDTH / min(widths), _LEAST_STEPS, _MOST_STEPS))
    grid = np.linspace(1, 0, steps + 1)
    rates = [_smooth_shares(each, width, steps) for each, width in zip(classes, widths, strict=True)]
    tpr, fpr = (np.concatenate([[0.0], each]) for each in rates)
    value = _objective_on(curve, _Smooth(lambda _: tpr, lambda _: fpr), partial(function, **options), toward)(grid)
    at = _best_of(value, function)
    place = _interpolate_peak(grid, value[1:], at - 1) if at else float("inf")
    return Cut((score_scale(curve.tally.score).threshold(place),))


_STEPS_PER_WIDTH = 4
_LEAST_STEPS, _MOST_STEPS = 1 << 12, 1 << 17
_NARROWEST = 1e-12
"""Bandwidth, where scores are from 0 to 1, below which the kernel is a step."""


def _bandwidths(curve: Curve, bandwidth: Bandwidth) -> tuple[float, float]:
    """Return the bandwidth of positives and of negatives, where scores are from 0 to 1."""
    if bandwidth != "nrd0":
        words = f"{BANDWIDTH.words}, or 'nrd0'"
        check_domain("bandwidth", bandwidth, BANDWIDTH._replace(words=words))
        width = max(bandwidth / score_scale(curve.tally.score).width, _NARROWEST)
        return width, width
    classes = _class_scores(curve)
    widths = [
        normal_reference_bandwidth(WeightedSample(each.score[::-1], each.mass[::-1], each.size)) for each in classes
    ]
    for each, width in zip(classes, widths, strict=True):
        if not width > 0:
            what = f"the scores of the {each.name} do not vary, so there is no bandwidth"
            raise FitError(what, remedy="give one, such as bandwidth=0.05; or use the rule youden.")
    return widths[0], widths[1]


def _smooth_shares(each: _ClassScores, width: float, steps: int) -> Floats:
    """Return the smoothed share of a class at or above each point of an even grid from 1 to 0."""
    from scipy.fft import irfft, next_fast_len, rfft
    from scipy.special import ndtr

    # A mass between two points is divided between them, so that its mean stays.
    place = (1 - each.score) * steps
    first = np.minimum(place.astype(np.intp), steps - 1)
    over, share = place - first, each.mass / each.mass.sum()
    binned = np.bincount(first, share * (1 - over), steps + 1) + np.bincount(first + 1, share * over, steps + 1)
    # A mass at j steps from the top counts Φ((i − j)·step/width) at i steps from the top.
    tails = ndtr(np.arange(-steps, steps + 1) / (steps * width))
    size = next_fast_len(3 * steps + 1, real=True)
    smooth: Floats = irfft(rfft(binned, size) * rfft(tails, size), size)[steps : 2 * steps + 1]
    return smooth


def _interpolate_peak(grid: Floats, value: Floats, at: int) -> float:
    """Return the vertex of the parabola through a peak of the grid and its neighbors."""
    if 0 < at < len(grid) - 1:
        before, peak, after = value[at - 1 : at + 2].tolist()
        bend = before - 2 * peak + after
        if isfinite(bend) and bend < 0:
            shift = float(np.clip((before - after) / bend / 2, -0.5, 0.5))
            return float(grid[at] + shift * (grid[1] - grid[0]))
    return float(grid[at])
