"""Intervals of a rate at a stated other rate, such as sensitivity at a fixed specificity, with the threshold estimated.

The error of the threshold is that of a quantile of the class whose rate is stated. Its limits are found as Woodruff's
are: the share of that class beyond the true threshold varies like a proportion [@woodruff1952]. So the curve at both
limits of this share bounds the effect of the threshold, without a density or a bootstrap, and adds in quadrature to the
limits of the other rate as a proportion of its own class [@zou2008].
"""

from __future__ import annotations

from functools import partial
from inspect import signature
from math import hypot, nan, sqrt
from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._numeric.cumulative import CLOSE, cumulative_sums, interpolate_falling
from baserate._tally import Tally
from baserate.infer._binomial import Proportion, effective_counts, normal_quantile, wilson
from baserate.infer._variances import Bounds
from baserate.measure import Measure, sensitivity_at_specificity, specificity_at_sensitivity, unwrap_options

MEASURES = (sensitivity_at_specificity, specificity_at_sensitivity)
METHOD = "Wilson and the curve at both limits of the threshold, in quadrature (MOVER)"

_SLOPE_LEVEL = 0.95
"""Level of the limits of the threshold between which the slope of the curve is averaged."""

Limits = tuple[float, float]


class OperatingPoint(NamedTuple):
    """A point of a ROC curve where one class has a stated rate, and the curve around it.

    For a sensitivity at a fixed specificity, `x` and `y` are false and true positive rates; for a specificity at a
    fixed sensitivity, false and true negative rates. So both rise together, and `at` is one minus the stated rate.
    """

    at: float
    x: Floats
    y: Floats
    score: Floats
    """Distinct scores in the order of the curve, one fewer than points."""
    own: Proportion[float]
    """Effective hits and misses of the class whose rate is estimated, at the point."""
    other: float
    """Effective rows of the class whose rate is stated."""

    def height(self, x: float) -> float:
        """Return the curve at a rate; beyond the outermost rows, on a line to the corner.

        A sample does not show how far its extreme rows are from the corner: the most extreme of n rows leaves a share
        of 1/(n + 1) beyond it on average.
        """
        edge = 1 / (self.other + 1)
        inner = float(np.interp(min(max(x, edge), 1 - edge), self.x, self.y))
        if x < edge:
            return inner * max(x, 0.0) / edge
        return 1 - (1 - inner) * max(1 - x, 0.0) / edge if x > 1 - edge else inner

    def threshold_limits(self, level: float) -> Limits:
        """Return limits of the share of its class beyond the true threshold.

        They lie midway between Wald's and Wilson's. Wald's alone reach the corner where few rows of the class are
        beyond the threshold, and Wilson's alone stay so far from it that intervals covered 88% with 30 rows.
        """
        half = normal_quantile(level) * sqrt(self.at * (1 - self.at) / self.other)
        low, high = wilson(self.at * self.other, (1 - self.at) * self.other, level)
        return (max(self.at - half, 0.0) + low) / 2, (min(self.at + half, 1.0) + high) / 2

    @property
    def slope(self) -> float:
        """Return the slope of the curve, as the mean between the limits of the threshold."""
        low, high = self.threshold_limits(_SLOPE_LEVEL)
        return (self.height(high) - self.height(low)) / (high - low)

    def shares_beyond(self, score: Floats) -> Floats:
        """Return the share of rows with each score that is beyond the threshold: 0 or 1, but where it is interpolated.

        Beyond means flagged for a sensitivity, and not flagged for a specificity.
        """
        below, above = self.x[:-1], self.x[1:]
        shares = np.where(above <= self.at + CLOSE, 1.0, np.clip(ratio(self.at - below, above - below), 0.0, 1.0))
        order = np.argsort(self.score)
        return shares[order][np.searchsorted(self.score, score, sorter=order)]


def is_operating_point(measure: Measure) -> bool:
    """Return whether a measure is a rate of one class at a stated rate of the other."""
    return unwrap_options(measure) in MEASURES


def is_of_positives(measure: Measure) -> bool:
    """Return whether the rate is that of positives, a sensitivity."""
    return unwrap_options(measure) is sensitivity_at_specificity


def find_operating_point(measure: Measure, tally: Tally) -> OperatingPoint:
    """Return the point of the ROC curve that a measure names by its option."""
    strictest_first = is_of_positives(measure)
    mass, squares = (
        cumulative_sums(cells if strictest_first else cells[::-1, ::-1]) for cells in (tally.mass, tally.squares)
    )
    rate = stated_rate(measure)
    falling = ratio(mass[1, -1] - mass[1], mass[1, -1])
    own, other = (
        effective_counts(*_split_at(rate, falling, mass[row]), *_split_at(rate, falling, squares[row]))
        for row in (0, 1)
    )
    score = tally.score if strictest_first else tally.score[::-1]
    return OperatingPoint(1 - rate, 1 - falling, ratio(mass[0], mass[0, -1]), score, own, other.trials)


def _split_at(rate: float, falling: Floats, cumulative: Floats) -> tuple[float, float]:
    """Return the sum beyond the point of that rate, and the rest."""
    beyond = interpolate_falling(rate, falling, cumulative)
    return beyond, float(cumulative[-1]) - beyond


def stated_rate(measure: Measure) -> float:
    """Return the stated rate of a measure: its option, or the default."""
    function = unwrap_options(measure)
    (name,) = {"specificity", "sensitivity"} & set(signature(function).parameters)
    stated = measure.keywords if isinstance(measure, partial) else {}
    return float(stated.get(name, signature(function).parameters[name].default))


def operating_point_interval(measure: Measure, tally: Tally, value: float, level: float) -> Bounds:
    """Bound a rate at a stated other rate by Wilson's limits and the curve at the limits of the threshold."""
    rate = stated_rate(measure)
    if rate in (0, 1):
        return Bounds(nan, nan, METHOD, f"at a rate of {rate:g} the threshold is that of a single row")
    point = find_operating_point(measure, tally)
    low, high = wilson(point.own.hits, point.own.misses, level)
    least, most = point.height(0.0), point.height(1.0)
    before, beyond = (point.height(each) for each in point.threshold_limits(level))
    return Bounds(
        max(value - hypot(value - low, value - min(before, value)), least),
        min(value + hypot(high - value, max(beyond, value) - value), most),
        METHOD,
    )
