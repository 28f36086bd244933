"""Audit of AUC, average precision and KS: mixtures with rows that a sample may miss, unequal spreads, ties."""

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
"""Rows of the sample that true values come from where there is no closed form."""
_LEVELS = np.array([-1.0, 0.0, 1.0, 2.0])
_LEVEL = 0.95

Draw = Callable[[np.random.Generator, int, int], tuple[Floats, Floats]]
"""Scores of so many positives and negatives."""


def binormal(area: float, sd: float, rng: np.random.Generator, positives: int, negatives: int) -> tuple[Floats, Floats]:
    """Normal classes with this AUC; positives have another standard deviation."""
    return rng.normal(sqrt(1 + sd**2) * ndtri(area), sd, positives), rng.normal(size=negatives)


def ordinal(area: float, rng: np.random.Generator, positives: int, negatives: int) -> tuple[Floats, Floats]:
    """Five levels of a normal score."""
    first, second = (np.digitize(each, _LEVELS) for each in binormal(area, 1.0, rng, positives, negatives))
    return first.astype(np.float64), second.astype(np.float64)


def student(freedom: float, shift: float, rng: np.random.Generator, positives: int, n: int) -> tuple[Floats, Floats]:
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
    found = {}
    for name, which in _MEASURES.items():
        estimate = infer.estimate(which, sample)
        found[name] = Bounds(estimate.low, estimate.high, truth[name])
    found["AUC: Wilson of the smaller class"] = Bounds(*_wilson(sample), truth["AUC"])
    found["AUC: DeLong on log-odds"] = Bounds(*_delong(sample), truth["AUC"])
    found["average precision: log-odds"] = Bounds(*_log_odds(sample), truth["average precision"])
    return found


@cache
def true_values(draw: Draw, prevalence: float) -> dict[str, float]:
    """Values of one very large sample; the AUC of normal classes is in closed form."""
    rng = np.random.default_rng(20_281)
    sample = _tally(*draw(rng, round(_LARGE * prevalence), round(_LARGE * (1 - prevalence))))
    curve = Curve(sample)
    found = {name: float(measure.MEASURES[which](curve)) for name, which in _MEASURES.items()}
    if isinstance(draw, partial) and draw.func is binormal:
        found["AUC"] = float(draw.args[0])
    if isinstance(draw, partial) and draw.func is low_positives:
        share, place = draw.args
        found["AUC"] = float((1 - share) * ndtr(5 / sqrt(2)) + share * ndtr(place / sqrt(2)))
    return found


def _tally(positives: Floats, negatives: Floats) -> Tally:
    truth = np.arange(len(positives) + len(negatives)) < len(positives)
    return tally(truth, np.concatenate([positives, negatives]))


def _wilson(sample: Tally) -> tuple[float, float]:
    """Bounds of a share of as many rows as the smaller class has: valid for any distribution [Birnbaum and Klose]."""
    area = _auc_intervals.estimate_auc(sample)
    rows = min(area.positives, area.negatives)
    return wilson(area.value * rows, (1 - area.value) * rows, _LEVEL)


def _delong(sample: Tally) -> tuple[float, float]:
    area = _auc_intervals.estimate_auc(sample)
    low, high = _auc_intervals.logit_delong_interval(
        area._replace(variance=area.variance * t_widening(area.freedom, _LEVEL) ** 2), _LEVEL
    )
    return (area.value, area.value) if np.isnan(low) else (low, high)


def _log_odds(sample: Tally) -> tuple[float, float]:
    """Bounds of average precision by its influence function on log-odds with t quantiles."""
    found = _variances.influence_variance(measure.average_precision, sample)
    if not 0 < found.value < 1:
        return found.value, found.value
    error = sqrt(found.variance) * t_widening(found.freedom, _LEVEL) / (found.value * (1 - found.value))
    middle, half = logit(found.value), normal_quantile(_LEVEL) * error
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
    _scenario("five levels, AUC 0.8 before rounding", partial(ordinal, 0.8), 50, 150),
    _scenario("five levels, AUC 0.99 before rounding", partial(ordinal, 0.99), 20, 180),
    _scenario("t with 2 degrees of freedom", partial(student, 2.0, 1.5), 50, 450),
    _scenario("2% of positives score like negatives", partial(low_positives, 0.02, 0.0), 100, 900),
    _scenario("10% of positives score like negatives", partial(low_positives, 0.1, 0.0), 20, 180),
    _scenario("2% of positives score below most negatives", partial(low_positives, 0.02, -1.0), 100, 900),
    _scenario("10% of positives score below most negatives", partial(low_positives, 0.1, -1.0), 20, 180),
    _scenario("5% of positives score below all negatives", partial(low_positives, 0.05, -6.0), 50, 50),
    _scenario("1% of negatives score like positives", partial(high_negatives, 0.01, 4.0), 100, 900),
    _scenario("0.2% of negatives score above most positives", partial(high_negatives, 0.002, 6.0), 100, 900),
)
