"""Further criteria of the literature: predictive values, greatest lesser rate, matched prevalence, stated values.

OptimalCutpoints and cutpointr offer them; costs and requirements usually state better what a decision is for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Unpack

import numpy as np

from baserate._arrays import Floats
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._cut import Cut
from baserate._errors import FitError, OptionError
from baserate.decide._rule import (
    RELATIVE_TOLERANCE,
    Toward,
    best_index,
    middle_of,
    objective_along,
    require_both_classes,
    rule,
    strictest_maximum,
    threshold_at,
    undefined_error,
)
from baserate.decide._threshold_rules import resolve_objective
from baserate.measure import (
    Measure,
    accuracy,
    collect_settings,
    describe,
    flag_rate,
    markedness,
    note_settings,
    npv,
    precision,
    prevalence,
    sensitivity,
    specificity,
    youden,
)
from baserate.read import PredictionOptions


def _predictive_value_gap(counts: Counts[Floats]) -> Floats:
    return np.abs(precision(counts) - npv(counts))


def _squared_predictive_distance(counts: Counts[Floats]) -> Floats:
    return (1 - precision(counts)) ** 2 + (1 - npv(counts)) ** 2


def _lesser_rate(counts: Counts[Floats]) -> Floats:
    return np.minimum(sensitivity(counts), specificity(counts))


def _lesser_predictive_value(counts: Counts[Floats]) -> Floats:
    return np.minimum(precision(counts), npv(counts))


def _more_frequent_error(counts: Counts[Floats]) -> Floats:
    return np.maximum(counts.fp, counts.fn)


def _prevalence_gap(counts: Counts[Floats]) -> Floats:
    return np.abs(flag_rate(counts) - prevalence(counts))


def _best_then(curve: Curve, measure: Callable[..., Floats], toward: Toward, second: Measure) -> int | None:
    """Return the index of the best threshold; among equals a second measure decides, and then the strictest wins.

    Without it the strictest would win although another has, say, as many false positives and fewer misses.
    """
    worth = objective_along(curve, measure, toward=toward)
    at = strictest_maximum(worth)
    if at is None:
        return None
    ties = worth >= worth[at] - RELATIVE_TOLERANCE * max(abs(float(worth[at])), 1.0)
    preferred = strictest_maximum(np.where(ties, objective_along(curve, second), np.nan))
    return at if preferred is None else preferred


def _cut_at(curve: Curve, index: int | None, measure: Measure) -> Cut:
    if index is None:
        raise undefined_error(measure, curve)
    return Cut((threshold_at(curve, index),))


@rule()
def balanced_predictive_values(curve: Curve, **predictions: Unpack[PredictionOptions]) -> Cut:
    r"""Minimize the difference of PPV and NPV, :math:`\min|PPV-NPV|`.

    Thresholds that flag nobody or everybody do not take part: one of both values is undefined there.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> c = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> decide.balanced_predictive_values(c).threshold
    0.7
    """
    return _cut_at(curve, best_index(curve, _predictive_value_gap, toward="low"), npv)


@rule()
def closest_predictive_values(curve: Curve, **predictions: Unpack[PredictionOptions]) -> Cut:
    r"""Minimize the distance of both predictive values to 1, :math:`\min((1-PPV)^2+(1-NPV)^2)`.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> c = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> decide.closest_predictive_values(c).threshold
    0.8
    """
    return _cut_at(curve, best_index(curve, _squared_predictive_distance, toward="low"), npv)


@rule()
def maximin(curve: Curve, **predictions: Unpack[PredictionOptions]) -> Cut:
    r"""Maximize the lesser of sensitivity and specificity, :math:`\max\min(TPR, TNR)`.

    Unlike `balanced` it prefers two high rates to two equal ones. Among equals their sum decides.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> decide.maximin(curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))).threshold
    0.8
    """
    require_both_classes(curve, "the lesser of sensitivity and specificity")
    return _cut_at(curve, _best_then(curve, _lesser_rate, "high", youden), sensitivity)


@rule()
def maximin_predictive_values(curve: Curve, **predictions: Unpack[PredictionOptions]) -> Cut:
    r"""Maximize the lesser of PPV and NPV, :math:`\max\min(PPV, NPV)`.

    Thresholds that flag nobody or everybody do not take part: one of both values is undefined there.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> c = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> decide.maximin_predictive_values(c).threshold
    0.8
    """
    return _cut_at(curve, _best_then(curve, _lesser_predictive_value, "high", markedness), npv)


@rule()
def minimax(curve: Curve, **predictions: Unpack[PredictionOptions]) -> Cut:
    r"""Minimize the more frequent of both errors, :math:`\min\max(FP, FN)`; among equals, all errors.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> decide.minimax(curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))).threshold
    0.8
    """
    return _cut_at(curve, _best_then(curve, _more_frequent_error, "low", accuracy), flag_rate)


@rule()
def prevalence_matching(curve: Curve, **predictions: Unpack[PredictionOptions]) -> Cut:
    r"""Flag as many rows as there are positives: minimize :math:`|P(\text{flagged})-π|`.

    Precision and recall are equal where both shares are; `break_even` minimizes their difference instead.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> decide.prevalence_matching(curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))).threshold
    0.7
    """
    return _cut_at(curve, best_index(curve, _prevalence_gap, toward="low"), flag_rate)


@rule()
def observed_prevalence(curve: Curve, **predictions: Unpack[PredictionOptions]) -> Cut:
    """Flag probabilities from the prevalence on [@liu2005].

    A row is flagged if its risk is at least the average risk. The scores must be probabilities. The threshold is the
    prevalence itself, where OptimalCutpoints takes the nearest score.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> decide.observed_prevalence(curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))).threshold
    0.5
    """
    if not curve.tally.probable:
        raise FitError(
            "the rule observed-prevalence compares probabilities with the prevalence, and a score is outside [0, 1]",
            remedy="calibrate the scores first, or use the rule prevalence-matching.",
        )
    return Cut((curve.positives / curve.total,))


@rule()
def mean_score(curve: Curve, **predictions: Unpack[PredictionOptions]) -> Cut:
    """Flag scores from their mean on; the labels have no influence.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> round(decide.mean_score(curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))).threshold, 6)
    0.6
    """
    mass = curve.tally.mass.sum(axis=0, dtype=np.float64)
    low, high = float(curve.tally.score[-1]), float(curve.tally.score[0])
    # Shares before products: sums of very large scores would overflow.
    return Cut((min(max(float(np.dot(mass / mass.sum(), curve.tally.score)), low), high),))


@rule()
def median_score(curve: Curve, **predictions: Unpack[PredictionOptions]) -> Cut:
    """Flag scores from their median on; the labels have no influence.

    Between two middle scores it is their mean. With weights, half of the weight is below it.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> decide.median_score(curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.75, 0.5, 0.4, 0.2]))).threshold
    0.625
    """
    mass = curve.tally.mass.sum(axis=0, dtype=np.float64)
    used = mass > 0
    score, above = curve.tally.score[used], np.cumsum(mass[used])
    half = above[-1] / 2
    upper = int(np.searchsorted(above, half * (1 - RELATIVE_TOLERANCE)))
    lower = int(np.searchsorted(above, half * (1 + RELATIVE_TOLERANCE), side="right"))
    return Cut((middle_of(float(score[lower]), float(score[upper])),))


def _note_nearest(
    curve: Curve,
    cut: Cut,
    measure: str | Measure,
    value: float,
    **options: Any,  # noqa: ANN401
) -> Iterator[str]:
    function = partial(resolve_objective(measure, "high")[0], **options)
    yield from note_settings(collect_settings([function]))
    reached = float(function(cut.counts(curve)))
    if abs(reached - value) > RELATIVE_TOLERANCE * max(abs(value), 1.0):
        yield f"no threshold has the value {value:g}; the nearest is {reached:.4g}."


@rule(notes=_note_nearest)
def nearest(curve: Curve, /, measure: str | Measure, value: float, **options: Any) -> Cut:  # noqa: ANN401
    """Take the threshold where a measure is nearest to a stated value.

    Among several such thresholds Youden's index decides, and then the strictest wins. Undefined and infinite values do
    not take part. To reach at least a value, use `require`, which optimizes a measure among all thresholds that do.

    Parameters
    ----------
    curve
        Curve of the data.
    measure
        Measure of the confusion matrix, or its name, such as "positive_likelihood_ratio".
    value
        Its wanted value.
    **options
        Options of the measure, such as `beta=2`.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> c = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> decide.nearest(c, "sensitivity", 1.0).threshold, decide.nearest(c, "lr+", 2).threshold
    (0.6, 0.7)
    """
    if not np.isfinite(value):
        raise OptionError(f"value is {value}; expected a finite number.", option="value", value=value)
    function = partial(resolve_objective(measure, "high")[0], **options)
    low, high = describe(function).span
    if not low <= value <= high:
        domain = f"a value of {describe(function).name} from {low:g} to {high:g}".replace("inf", "∞")
        raise OptionError(f"value is {value:g}; expected {domain}.", option="value", value=value)
    return _cut_at(curve, _best_then(curve, lambda counts: np.abs(function(counts) - value), "low", youden), function)
