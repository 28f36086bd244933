"""Scales without ends: log-odds of what lies between two ends, the logarithm of what has one, the number itself."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, hypot, inf, isfinite, isinf, isnan, log, sqrt
from typing import NamedTuple

from baserate.infer import as_share, two_sided, usual

Bounds = tuple[float, float]


class Sure(NamedTuple):
    """How sure a number is: its variance, how many standard errors an interval reaches, rows that it rests on."""

    variance: float
    reach: float
    rows: float
    level: float


@dataclass(frozen=True, slots=True)
class Scale:
    """A scale for numbers within a span.

    >>> shares = Scale(0, 1)
    >>> shares.there(0.5), shares.back(0.0), shares.there(1.0)
    (0.0, 0.5, inf)
    """

    least: float
    most: float

    def there(self, value: float) -> float:
        """Place of a number on the scale."""
        low, high = value - self.least, self.most - value
        if isfinite(self.least) and isfinite(self.most):
            return -inf if low <= 0 else inf if high <= 0 else log(low / high)
        if isfinite(self.least):
            return log(low) if low > 0 else -inf
        if isfinite(self.most):
            return -log(high) if high > 0 else inf
        return value

    def back(self, place: float) -> float:
        """Return the number at a place of the scale."""
        if isfinite(self.least) and isfinite(self.most):
            share = 1 / (1 + exp(-place)) if place > 0 else exp(max(place, -745.0)) / (1 + exp(max(place, -745.0)))
            return self.least + (self.most - self.least) * share
        if isfinite(self.least):
            return self.least + exp(min(place, 709.0))
        return self.most - exp(min(-place, 709.0)) if isfinite(self.most) else place


def combined(value: float, parts: tuple[Bounds, Bounds], correlation: float, scale: Scale) -> Bounds:
    r"""Bounds of a number that two things move, from its bounds when either alone is unknown [@zou2008].

    Their distances d and e from the value, on the scale, make :math:`\sqrt{d^2+e^2+2ρde}`. At an end of the span, where
    the scale is infinite, they are added up as they are.

    >>> [round(bound, 3) for bound in combined(0.5, ((0.4, 0.6), (0.3, 0.7)), 0.0, Scale(0, 1))]
    [0.281, 0.719]
    """
    middle = scale.there(value)
    if isinf(middle):
        lows, highs = zip(*parts, strict=True)
        return value - sum(value - low for low in lows), value + sum(high - value for high in highs)
    found = []
    for side in (0, 1):
        one, other = (abs(scale.there(part[side]) - middle) for part in parts)
        far = inf if isinf(one) or isinf(other) else hypot(one + correlation * other, other * _rest(correlation))
        found.append(scale.back(middle + (far if side else -far)) if isfinite(far) else _end(scale, side))
    return found[0], found[1]


def around(value: float, sure: Sure, span: Bounds) -> Bounds:
    """Bounds of a number with a variance: those of a share that would be as sure, where the span has two ends."""
    least, most = span
    z = two_sided(sure.level)
    half = sure.reach * sqrt(sure.variance)
    if isfinite(least) and isfinite(most):
        width = most - least
        share = as_share((value - least) / width, (half / z / width) ** 2, sure.rows)
        low, high = usual(share.hits, share.misses, sure.level)
        return least + width * low, least + width * high
    if not isfinite(least):
        return value - half, value + half
    scale = Scale(least, most)
    step = half / (value - least) if value > least else inf
    place = scale.there(value)
    return scale.back(place - step), scale.back(place + step)


def _rest(correlation: float) -> float:
    return sqrt(max(1 - correlation**2, 0.0))


def _end(scale: Scale, side: int) -> float:
    return scale.most if side else scale.least


def correlation_of(covariance: float, first: float, second: float) -> float:
    """Correlation from a covariance and two variances; 0 where either is nothing."""
    found = covariance / sqrt(first * second) if first > 0 and second > 0 else 0.0
    return 1.0 if isnan(found) else min(max(found, -1.0), 1.0)
