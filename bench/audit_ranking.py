"""Scenarios of the coverage audit: AUC, average precision and KS of mixtures, unequal variances and ties.

A sample may contain no row of the small part of a mixture: its interval must still contain the true value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from math import sqrt

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from baserate import Curve, Tally, infer, measure, tally
from baserate.infer import _auc_intervals, _variances
from baserate.infer._binomial import normal_quantile, t_widening, wilson
from bench._audit import Bounds, Floats, Outcome, Scenario

_MEASURES = {"AUC": "auc", "average precision": "average_precision", "KS": "ks"}
_LARGE = 2_000_000
"""Rows of the sample that true values without a closed form come from."""
_BIN_EDGES = np.array([-1.0, 0.0, 1.0, 2.0])
_LEVEL = 0.95

Draw = Callable[[np.random.Generator, int, int], tuple[Floats, Floats]]
"""Function that draws scores of positives and negatives, from their numbers."""


def binormal(area: float, sd: float, rng: np.random.Generator, positives: int, negatives: int) -> tuple[Floats, Floats]:
    """Normal classes with this AUC, and a standard deviation of the positives."""
    return rng.normal(sqrt(1 + sd**2) * ndtri(area), sd, positives), rng.normal(size=negatives)


def five_levels(area: float, rng: np.random.Generator, positives: int, negatives: int) -> tuple[Floats, Floats]:
    """Five levels of a normal score."""
    positive_scores, negative_scores = (
        np.digitize(each, _BIN_EDGES) for each in binormal(area, 1.0, rng, positives, negatives)
    )
    return positive_scores.astype(np.float64), negative_scores.astype(np.float64)


def student_t(freedom: float, shift: float, rng: np.random.Generator, positives: int, n: int) -> tuple[Floats, Floats]:
    """Heavy tails in both classes."""
    return shift + rng.standard_t(freedom, positives), rng.standard_t(freedom, n)


def low_positives(
    share: float, place: float, rng: np.random.Generator, positives: int, negatives: int
) -> tuple[Floats, Floats]:
    """Positives far above the negatives but for a small share around `place`, among or below the negatives."""
    low = rng.random(positives) < share
    return np.where(low, place, 5.0) + rng.normal(size=positives), rng.normal(size=negatives)


def high_negatives(
    share: float, place: float, rng: np.random.Generator, positives: int, negatives: int
) -> tuple[Floats, Floats]:
    """Negatives far below the positives but for a small share around `place`, among or above the positives."""
    high = rng.random(negatives) < share
    return 4 + rng.normal(size=positives), np.where(high, place, 0.0) + rng.normal(size=negatives)


def compute_bounds(draw: Draw, positives: int, negatives: int, rng: np.random.Generator) -> Mapping[str, Outcome]:
    """Draw a sample; return intervals of all measures, and those of other methods."""
    sample = _tally(*draw(rng, positives, negatives))
    truth = true_values(draw, positives / (positives + negatives))
    bounds = {}
    for name, measure_name in _MEASURES.items():
        estimate = infer.estimate(measure_name, sample)
        bounds[name] = Bounds(estimate.low, estimate.high, truth[name])
    bounds["AUC: Wilson of the smaller class"] = Bounds(*_wilson_interval(sample), truth["AUC"])
    bounds["AUC: DeLong on log-odds"] = Bounds(*_logit_delong_interval(sample), truth["AUC"])
    bounds["average precision: log-odds"] = Bounds(*_log_odds_interval(sample), truth["average precision"])
    return bounds


@cache
def true_values(draw: Draw, prevalence: float) -> dict[str, float]:
    """Compute the values in one very large sample; AUCs of normal classes and mixtures have a closed form."""
    rng = np.random.default_rng(20_281)
    sample = _tally(*draw(rng, round(_LARGE * prevalence), round(_LARGE * (1 - prevalence))))
    curve = Curve(sample)
    values = {name: float(measure.MEASURES[measure_name](curve)) for name, measure_name in _MEASURES.items()}
    # Where there is a closed form, the sampling error of the large sample is avoided.
    if isinstance(draw, partial) and draw.func is binormal:
        values["AUC"] = float(draw.args[0])
    if isinstance(draw, partial) and draw.func is low_positives:
        share, place = draw.args
        values["AUC"] = float((1 - share) * ndtr(5 / sqrt(2)) + share * ndtr(place / sqrt(2)))
    return values


def _tally(positives: Floats, negatives: Floats) -> Tally:
    truth = np.arange(len(positives) + len(negatives)) < len(positives)
    return tally(truth, np.concatenate([positives, negatives]))


def _wilson_interval(sample: Tally) -> tuple[float, float]:
    """Compute Wilson's interval for the size of the smaller class, a bound of the variance [Birnbaum and Klose]."""
    area = _auc_intervals.estimate_auc(sample)
    rows = min(area.positives, area.negatives)
    return wilson(area.value * rows, (1 - area.value) * rows, _LEVEL)


def _logit_delong_interval(sample: Tally) -> tuple[float, float]:
    area = _auc_intervals.estimate_auc(sample)
    low, high = _auc_intervals.logit_delong_interval(
        area._replace(variance=area.variance * t_widening(area.freedom, _LEVEL) ** 2), _LEVEL
    )
    return (area.value, area.value) if np.isnan(low) else (low, high)


def _log_odds_interval(sample: Tally) -> tuple[float, float]:
    """Compute the interval of average precision from its influence function on log-odds, with t quantiles."""
    estimate = _variances.influence_variance(measure.average_precision, sample)
    if not 0 < estimate.value < 1:
        return estimate.value, estimate.value
    # `t_widening` is the ratio of the quantiles of t and normal distributions.
    error = sqrt(estimate.variance) * t_widening(estimate.freedom, _LEVEL) / (estimate.value * (1 - estimate.value))
    middle, half = logit(estimate.value), normal_quantile(_LEVEL) * error
    return float(expit(middle - half)), float(expit(middle + half))


def _scenario(name: str, draw: Draw, positives: int, negatives: int) -> Scenario:
    return Scenario(f"{name}; {positives}/{negatives} rows", partial(compute_bounds, draw, positives, negatives))


SCENARIOS = (
    _scenario("two normal classes, AUC 0.6", partial(binormal, 0.6, 1.0), 300, 700),
    _scenario("two normal classes, AUC 0.8", partial(binormal, 0.8, 1.0), 300, 700),
    _scenario("two normal classes, AUC 0.8", partial(binormal, 0.8, 1.0), 20, 180),
    _scenario("two normal classes, AUC 0.95", partial(binormal, 0.95, 1.0), 300, 700),
    _scenario("positives twice as spread, AUC 0.8", partial(binormal, 0.8, 2.0), 20, 180),
    _scenario("positives half as spread, AUC 0.8", partial(binormal, 0.8, 0.5), 100, 900),
    _scenario("near-perfect, AUC 0.998", partial(binormal, 0.998, 1.0), 50, 450),
    _scenario("inverted, AUC 0.3", partial(binormal, 0.3, 1.0), 100, 300),
    _scenario("chance", partial(binormal, 0.5, 1.0), 100, 300),
    _scenario("five levels, AUC 0.8 before rounding", partial(five_levels, 0.8), 50, 150),
    _scenario("five levels, AUC 0.99 before rounding", partial(five_levels, 0.99), 20, 180),
    _scenario("t with 2 degrees of freedom", partial(student_t, 2.0, 1.5), 50, 450),
    _scenario("2% of positives score like negatives", partial(low_positives, 0.02, 0.0), 100, 900),
    _scenario("10% of positives score like negatives", partial(low_positives, 0.1, 0.0), 20, 180),
    _scenario("2% of positives score below most negatives", partial(low_positives, 0.02, -1.0), 100, 900),
    _scenario("10% of positives score below most negatives", partial(low_positives, 0.1, -1.0), 20, 180),
    _scenario("5% of positives score below all negatives", partial(low_positives, 0.05, -6.0), 50, 50),
    _scenario("1% of negatives score like positives", partial(high_negatives, 0.01, 4.0), 100, 900),
    _scenario("0.2% of negatives score above most positives", partial(high_negatives, 0.002, 6.0), 100, 900),
)
