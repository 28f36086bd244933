"""Rules that smooth a measure by threshold before they take its best threshold, or average the best of many samples.

The best threshold of a sample jumps from row to row. A local line, a spline or an average jumps less.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from math import fsum
from typing import Any, Literal, NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._curve import Curve
from baserate._cut import Cut
from baserate._domains import KNOTS, SAMPLES, SPAN, check_domain, wrong_option
from baserate._errors import BaserateError, FitError
from baserate._formatting import count_of
from baserate._numeric.smoothers import choose_span, lowess_at
from baserate._numeric.splines import fit_regression_spline
from baserate.decide._rule import (
    Toward,
    can_be_infinite,
    count_infinite,
    no_best_error,
    note_skipped,
    objective_along,
    rule,
    rule_info,
    strictest_maximum,
)
from baserate.decide._smooth_class_rules import DEFAULT_MEASURE, note_ends, score_scale
from baserate.decide._threshold_rules import best, resolve_objective, youden
from baserate.infer import make_generator, make_resampler
from baserate.measure import Measure, describe


class _MeasureCurve(NamedTuple):
    """A measure at observed thresholds where it is finite, by ascending threshold on [0, 1]; greater is better."""

    threshold: Floats
    place: Floats
    value: Floats


_LEAST_THRESHOLDS = 4
Span = float | Literal["aicc"]


def _measure_curve(curve: Curve, measure: Measure, toward: Toward, options: dict[str, Any]) -> _MeasureCurve:
    """Return a measure along the thresholds that rows have."""
    worth = objective_along(curve, partial(measure, **options), toward=toward)
    usable = np.isfinite(worth[1:]) & curve.tally.mass.any(axis=0)
    if not usable.any():
        raise no_best_error(measure, curve, worth)
    threshold, value = curve.tally.score[usable][::-1], worth[1:][usable][::-1]
    places = score_scale(threshold[::-1]).places(threshold) if len(threshold) > 1 else np.zeros(1)
    # Scores of very different sizes may coincide on this scale: the first of them stays.
    place, first = np.unique(places, return_index=True)
    if len(place) < _LEAST_THRESHOLDS:
        raise FitError(
            f"{describe(measure).name} is finite at {count_of(len(place), 'threshold')}; expected at least "
            f"{_LEAST_THRESHOLDS} to smooth",
            remedy="use the rule best, which does not smooth.",
        )
    return _MeasureCurve(threshold[first], place, value[first])


def _last_maximum(smooth: Floats) -> int:
    """Return the index of the greatest value, the last of equals: thresholds ascend, and the strictest wins."""
    at = strictest_maximum(smooth[::-1])
    assert at is not None  # noqa: S101  (smoothed finite values are finite)
    return len(smooth) - 1 - at


def _note_infinite(curve: Curve, measure: Measure, toward: Toward, options: dict[str, Any]) -> Iterator[str]:
    if can_be_infinite(measure, toward):
        worth = objective_along(curve, partial(measure, **options), toward=toward)
        yield from note_skipped(measure, count_infinite(worth))


def _note_loess(
    curve: Curve,
    cut: Cut,
    measure: str | Measure = DEFAULT_MEASURE,
    toward: Toward | None = None,
    span: Span = 0.5,
    **options: Any,  # noqa: ANN401
) -> Iterator[str]:
    function, end = resolve_objective(measure, toward)
    yield from note_ends(curve, cut, function, end, **options)
    yield from _note_infinite(curve, function, end, options)
    if span == "aicc":
        points = _measure_curve(curve, function, end, options)
        yield f"the span of loess is {choose_span(points.place, points.value):.2f}, by the corrected Akaike criterion."


@rule(notes=_note_loess)
def loess(
    curve: Curve,
    /,
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    toward: Toward | None = None,
    span: Span = 0.5,
    **options: Any,  # noqa: ANN401
) -> Cut:
    """Smooth a measure by threshold with local lines, and take the observed threshold where the fit is best.

    At each threshold a line is fitted to the nearest thresholds with tricube weights [@cleveland1979], without
    iterations for robustness. Each distinct score counts once; thresholds with an infinite or undefined measure are
    left out. Of more than 400 thresholds, 400 of equally spaced ranks are searched first, then all near the best.

    The corrected Akaike criterion [@hurvich1998], `span="aicc"`, assumes independent errors, but neighboring thresholds
    share almost all rows. So it smooths little: in simulations of two normal classes (500 rows) the error of the
    threshold was 0.21 as for Youden's rule without smoothing, and 0.11 with a span of 0.5. cutpointr uses the criterion
    by default, as `loess.as` of fANCOVA, which doubles the penalty for degrees of freedom, and iterates for robustness.

    Parameters
    ----------
    curve
        Curve of the data.
    measure
        Measure of the confusion matrix, or its name; Youden's index by default.
    toward
        "high" or "low": which end of the measure is better. Needed for measures without a better end.
    span
        Share of thresholds in each neighborhood, above 0 and at most 1; or "aicc" to choose it by the corrected Akaike
        criterion, on up to 200 thresholds.
    **options
        Options of the measure, such as `costs`.

    Returns
    -------
    Policy
        Policy that flags from the strictest best threshold on.

    Examples
    --------
    >>> from baserate import curve, decide, population, tally
    >>> c = curve(tally(*population.binormal(means=(0, 1)).draw(200, 1)))
    >>> [round(choose(c).threshold, 2) for choose in (decide.youden, decide.loess)]  # 0.5 in the population
    [0.34, 0.49]
    """
    function, toward = resolve_objective(measure, toward)
    if span != "aicc":
        check_domain("span", span, SPAN._replace(words=f"{SPAN.words}, or 'aicc'"))
    points = _measure_curve(curve, function, toward, options)
    share = choose_span(points.place, points.value) if span == "aicc" else float(span)
    return Cut((_loess_peak(points, share),))


_ANCHORS = 400
"""Thresholds of the first search."""
_REFINED = 20
"""Best of these, beside which all thresholds are searched: several peaks may be nearly equal."""
_LEAST_NEIGHBORS = 20
"""Anchors in a neighborhood, so that no peak of the fit is between two of them."""


def _loess_peak(points: _MeasureCurve, span: float) -> float:
    """Find the threshold where the fit is highest: of many thresholds some first, then all near the best of these."""
    n = len(points.place)
    fit = partial(lowess_at, points.place, np.ones(n), points.value[None], frac=span)
    near = np.arange(n)
    if n > _ANCHORS and span * _ANCHORS >= _LEAST_NEIGHBORS:
        anchors = np.linspace(0, n - 1, _ANCHORS).round().astype(np.intp)
        best = np.argsort(fit(anchors)[0])[-_REFINED:]
        ends = anchors[np.clip(best + np.array([[-1], [1]]), 0, _ANCHORS - 1)]
        near = np.unique(np.concatenate([np.arange(low, high + 1) for low, high in ends.T]))
    return float(points.threshold[near[_last_maximum(fit(near)[0])]])


def _note_spline(
    curve: Curve,
    cut: Cut,
    measure: str | Measure = DEFAULT_MEASURE,
    toward: Toward | None = None,
    knots: int = 10,
    **options: Any,  # noqa: ANN401
) -> Iterator[str]:
    function, end = resolve_objective(measure, toward)
    yield from note_ends(curve, cut, function, end, **options)
    yield from _note_infinite(curve, function, end, options)
    points = _measure_curve(curve, function, end, options)
    freedom = fit_regression_spline(points.place, points.value, knots=knots).freedom
    yield f"the spline has {freedom:.1f} effective degrees of freedom, by generalized cross-validation."


@rule(notes=_note_spline)
def spline(
    curve: Curve,
    /,
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    toward: Toward | None = None,
    knots: int = 10,
    **options: Any,  # noqa: ANN401
) -> Cut:
    """Smooth a measure by threshold with a penalized spline, and take the observed threshold where the fit is best.

    It is a natural cubic spline with knots at quantiles of the thresholds; generalized cross-validation chooses the
    penalty [@wood2017]. Each distinct score counts once; thresholds with an infinite or undefined measure are left out.
    The fit is that of `gam(m ~ s(x, bs = "cr"))` in mgcv; cutpointr's `maximize_gam_metric` uses thin plate splines of
    the same rank.

    Parameters
    ----------
    curve
        Curve of the data.
    measure
        Measure of the confusion matrix, or its name; Youden's index by default.
    toward
        "high" or "low": which end of the measure is better. Needed for measures without a better end.
    knots
        Number of knots, at least 4; more follow the data more closely.
    **options
        Options of the measure, such as `costs`.

    Returns
    -------
    Policy
        Policy that flags from the strictest best threshold on.

    Examples
    --------
    >>> from baserate import curve, decide, population, tally
    >>> c = curve(tally(*population.binormal(means=(0, 1)).draw(200, 1)))
    >>> [round(choose(c).threshold, 2) for choose in (decide.youden, decide.spline)]  # 0.5 in the population
    [0.34, 0.35]
    """
    function, toward = resolve_objective(measure, toward)
    check_domain("knots", knots, KNOTS)
    points = _measure_curve(curve, function, toward, options)
    try:
        # Warnings are errors here: they would leave a fit without meaning.
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            fitted = fit_regression_spline(points.place, points.value, knots=int(knots)).fitted
    except (FloatingPointError, np.linalg.LinAlgError):
        raise FitError(
            "scores differ by too many orders of magnitude for a spline", remedy="take logarithms or ranks of them."
        ) from None
    return Cut((float(points.threshold[_last_maximum(fitted)]),))


def _note_bootstrap_average(
    curve: Curve,
    cut: Cut,
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    samples: int = 50,
    average: str = "mean",
    **options: Any,  # noqa: ANN401
) -> Iterator[str]:
    rest = {name: value for name, value in options.items() if name != "seed"}
    yield from note_ends(curve, cut, measure, **rest)
    thresholds = _sample_thresholds(curve, measure, samples=samples, **options)
    left_out = samples - int(np.isfinite(thresholds).sum())
    if left_out:
        yield f"{left_out} of {samples} bootstrap samples gave no finite threshold, and the {average} leaves them out."


def _sample_thresholds(
    curve: Curve,
    measure: str | Measure,
    *,
    toward: Toward | None = None,
    samples: int,
    seed: int = 0,
    **options: Any,  # noqa: ANN401
) -> Floats:
    """Return the best threshold of each bootstrap sample; NaN without one."""
    plain = describe(resolve_objective(measure, toward)[0]).name == DEFAULT_MEASURE and toward in (None, "high")
    # Youden's index has a faster search.
    info = rule_info(youden if plain else partial(best, measure=measure, toward=toward, **options))
    assert info is not None  # noqa: S101  (both are rules)
    resample = make_resampler(curve.tally, "stratified" if curve.tally.reweighed else "bootstrap")
    rng = make_generator(seed)
    thresholds = np.full(samples, np.nan)
    for at in range(samples):
        sample = Curve(resample(rng))
        with suppress(BaserateError):  # a class may be missing
            thresholds[at] = info.cut(sample).threshold
    return thresholds


def _bounded_mean(thresholds: Floats) -> float:
    """Average thresholds, without rounding beyond their range: a mean above equal scores would not flag them.

    >>> _bounded_mean(np.array([0.1, 0.1, 0.1]))
    0.1
    """
    return float(np.clip(fsum(thresholds / len(thresholds)), thresholds.min(), thresholds.max()))


@rule(notes=_note_bootstrap_average)
def bootstrap_average(
    curve: Curve,
    /,
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    toward: Toward | None = None,
    samples: int = 50,
    average: Literal["mean", "median"] = "mean",
    seed: int = 0,
    **options: Any,  # noqa: ANN401
) -> Cut:
    """Average the best thresholds of bootstrap samples.

    A measure is optimized on each sample of rows with replacement; with weights, or at a known prevalence, the weights
    are random instead. Infinite thresholds, and samples without a choice, are left out of the average and counted in a
    note.

    Parameters
    ----------
    curve
        Curve of the data.
    measure
        Measure of the confusion matrix, or its name; Youden's index by default.
    toward
        "high" or "low": which end of the measure is better. Needed for measures without a better end.
    samples
        Number of bootstrap samples.
    average
        "mean" or "median" of their thresholds.
    seed
        Random seed of the samples.
    **options
        Options of the measure, such as `costs`.

    Returns
    -------
    Policy
        Policy that flags from the average threshold on; it need not be an observed score.

    Examples
    --------
    >>> from baserate import curve, decide, population, tally
    >>> c = curve(tally(*population.binormal(means=(0, 1)).draw(200, 1)))
    >>> [round(choose(c).threshold, 2) for choose in (decide.youden, decide.bootstrap_average)]  # 0.5 in the population
    [0.34, 0.36]
    """
    if average not in ("mean", "median"):
        raise wrong_option("average", average, "'mean' or 'median'")
    check_domain("samples", samples, SAMPLES)
    resolve_objective(measure, toward)  # a wrong measure is an error, not a sample without a choice
    thresholds = _sample_thresholds(curve, measure, toward=toward, samples=samples, seed=seed, **options)
    finite = thresholds[np.isfinite(thresholds)]
    if not len(finite):
        return best(curve, measure=measure, toward=toward, **options).cut
    return Cut((_bounded_mean(finite) if average == "mean" else float(np.median(finite)),))
