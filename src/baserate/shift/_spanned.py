"""From a value and its variance to bounds within the span of a measure."""

from __future__ import annotations

from math import exp, inf, isfinite, sqrt

Bounds = tuple[float, float]


def spanned(value: float, variance: float, reach: float, span: Bounds) -> Bounds | None:
    """Bounds so many standard errors away, on a scale without ends: log-odds, logarithm, or the number itself.

    None at an end of the span, where no such scale holds.

    >>> [round(bound, 4) for bound in spanned(0.9, 0.01, 1.96, (0, 1))]
    [0.5051, 0.9876]
    >>> spanned(1.0, 0.01, 1.96, (0, 1)) is None
    True
    """
    least, most = span
    half = reach * sqrt(variance)
    if not isfinite(half) or not least < value < most:
        return None
    if isfinite(least) and isfinite(most):
        width = most - least
        odds = (value - least) / (most - value)
        step = half * width / ((value - least) * (most - value))
        return _of_odds(odds * exp(-min(step, 700.0)), span), _of_odds(odds * exp(min(step, 700.0)), span)
    if isfinite(least):
        factor = exp(min(half / (value - least), 700.0))
        return least + (value - least) / factor, least + (value - least) * factor
    if isfinite(most):
        factor = exp(min(half / (most - value), 700.0))
        return most - (most - value) * factor, most - (most - value) / factor
    return value - half, value + half


def _of_odds(odds: float, span: Bounds) -> float:
    least, most = span
    share = odds / (1 + odds) if odds < inf else 1.0
    return least + (most - least) * share
