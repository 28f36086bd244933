"""Intervals for the area under the ROC curve, from a tally in one pass over its scores."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, hypot, inf, log, nan, sqrt
from typing import NamedTuple

import numpy as np

from baserate._arrays import ratio, round_if_close
from baserate._tally import Tally
from baserate.infer import _binomial
from baserate.infer._binomial import two_sided
from baserate.infer._influence import spread
from baserate.infer._moments import unseen_loss, widening
from baserate.measure import auc

Bounds = tuple[float, float]

FEW = 3
"""Rows of the smaller class, times A or 1 − A, below which log-odds do not do: `python -m bench.coverage` shows why."""
_CHANCE = 0.5


class Area(NamedTuple):
    """An AUC, and what its intervals need."""

    value: float
    variance: float
    """DeLong's; NaN where a class has a single row."""
    positives: float
    """Effective number of rows, Kish's where they are weighted."""
    negatives: float
    freedom: float = inf
    """Degrees of freedom of the variance."""
    clusters: float | None = None
    """Effective number of clusters, in place of rows, where rows are clustered."""


def area(tally: Tally, value: float | None = None) -> Area:
    r"""AUC of a tally with DeLong's variance, :math:`S_{10}/P+S_{01}/N` [@delong1988].

    The placement of a positive is the share of negatives below it, ties half; S₁₀ is their variance among positives,
    and S₀₁ that of the placements of negatives. With weights, the variance of a weighted mean is
    :math:`\sum w^2(V-A)^2/(\sum w)^2`, and r rows lose a degree of freedom: r/(r − 1).

    The value is computed unless it is known.

    >>> from baserate import tally
    >>> area(tally([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]))
    Area(value=0.75, variance=0.125, positives=2.0, negatives=2.0, freedom=2.0, clusters=None)
    """
    effective = _kish(tally, 0), _kish(tally, 1)
    if not tally.positives or not tally.negatives:
        return Area(nan, nan, *effective)
    found = spread(auc, tally, value)
    if found.rare == 1:
        return Area(found.value, nan, *effective)
    return Area(found.value, found.seen, *effective, found.freedom)


def delong(found: Area, level: float) -> Bounds:
    """Normal interval with DeLong's variance, cut at 0 and 1, as pROC gives it [@delong1988]."""
    half = two_sided(level) * sqrt(found.variance)
    return max(found.value - half, 0.0), min(found.value + half, 1.0)


def logit_delong(found: Area, level: float) -> Bounds:
    """Normal interval of the log-odds of the AUC, with DeLong's variance [@pepe2003]; undefined at 0 and 1."""
    odds = found.value * (1 - found.value)
    if odds == 0:
        return nan, nan
    half = two_sided(level) * sqrt(found.variance) / odds
    middle = log(found.value / (1 - found.value))
    return _expit(middle - half), _expit(middle + half)


def hanley_mcneil(found: Area, level: float) -> Bounds:
    """Normal interval with the variance that exponential scores would have, cut at 0 and 1 [@hanley1982]."""
    half = two_sided(level) * sqrt(exponential_variance(found.value, found.positives, found.negatives))
    return max(found.value - half, 0.0), min(found.value + half, 1.0)


def score(found: Area, level: float) -> Bounds:
    r"""AUCs θ whose own standard error would explain what was seen, :math:`(A-θ)^2\le z^2\,r\,V(θ)`.

    V is the variance of Hanley and McNeil with both numbers of rows replaced by their mean where they multiply
    [@newcombe2006], and r, never below 1, how many times as large DeLong's variance is where it can be had: scores that
    are not exponential may vary more. That variance was estimated, so it counts with a t quantile in place of z. The
    set is an interval of positive width even where A is 0 or 1.
    """
    expected = newcombe_variance(found.value, found.positives, found.negatives)
    excess = found.variance / expected * widening(found.freedom, level) ** 2 if expected > 0 else 1.0
    reach = two_sided(level) ** 2 * (excess if excess > 1 else 1.0)  # NaN, of a single row, is not

    def beyond(theta: float) -> bool:
        return (found.value - theta) ** 2 > reach * newcombe_variance(theta, found.positives, found.negatives)

    return _edge(beyond, found.value, 0.0), _edge(beyond, found.value, 1.0)


def usual(found: Area, level: float) -> tuple[float, float, str]:
    """Bounds that keep their promise, and what made them: DeLong's on log-odds, but the score set where rows are few.

    Few are fewer than three rows of the smaller class on the wrong side, so to speak: times A, or times 1 − A. Both
    variances are too small where rows on the wrong side exist but none was sampled, and very unsure where one or two
    were. So the bound towards ½ allows for unseen rows, and neither bound goes beyond Wilson's for a share of as many
    rows as the smaller class has: no distribution has a greater variance than A(1 − A)/r [@birnbaum1957].
    """
    if round_if_close(min(found.positives, found.negatives) * min(found.value, 1 - found.value)) < FEW:
        (low, high), how = score(found, level), METHODS["score"][1]
    else:
        wider = found._replace(variance=found.variance * widening(found.freedom, level) ** 2)
        (low, high), how = logit_delong(wider, level), f"{METHODS['logit-delong'][1]}, t quantiles"
    lowest, highest = unseen_bounds(found, level)
    least, most = share_bounds(found, level)
    bounds = max(min(low, lowest), least), min(max(high, highest), most)
    if bounds[0] < low or bounds[1] > high:
        how = f"{how}; rule of three for unseen rows"
    elif bounds != (low, high):
        how = "Wilson for the smaller class"
    return *bounds, how


def unseen_bounds(found: Area, level: float) -> Bounds:
    """AUC closer to ½ if a subgroup of the smaller class exists of which the sample contains no row."""
    left = 1 - unseen_loss(min(found.positives, found.negatives), level)
    if found.value > _CHANCE:
        return found.value * left, found.value
    if found.value < _CHANCE:
        return found.value, 1 - (1 - found.value) * left
    return found.value, found.value


def share_bounds(found: Area, level: float) -> Bounds:
    """Wilson's bounds of a share with the value of the AUC, of as many rows as the smaller class has, or clusters."""
    rows = min(found.positives, found.negatives) if found.clusters is None else found.clusters
    return _binomial.wilson(found.value * rows, (1 - found.value) * rows, level)


def captured(tally: Tally, level: float) -> Bounds:
    """Bounds of the area under the gain curve, π/2 + (1 − π)·AUC, from those of the AUC and of the prevalence."""
    found = area(tally)
    low, high, _ = usual(found, level)
    share = tally.prevalence
    if tally.reweighed:  # and the prevalence is exact
        return share / 2 + (1 - share) * low, share / 2 + (1 - share) * high
    squares = tally.squares.sum(axis=1, dtype=np.float64)
    few, many = _binomial.usual(*_binomial.effective(tally.positives, tally.negatives, *squares.tolist()), level)
    # The two are independent, so their reaches add like the sides of a right angle [@zou2008].
    tilt = found.value - 0.5
    down, up = ((share - few), (many - share)) if tilt < 0 else ((many - share), (share - few))
    value = share / 2 + (1 - share) * found.value
    return (
        value - hypot((1 - share) * (found.value - low), tilt * down),
        value + hypot((1 - share) * (high - found.value), tilt * up),
    )


def exponential_variance(value: float, positives: float, negatives: float) -> float:
    """Variance of an AUC when scores of both classes are exponential [@hanley1982].

    >>> round(sqrt(exponential_variance(0.893, 51, 58)), 4)
    0.0325
    """
    return _spread(value, positives, negatives) / (positives * negatives)


def newcombe_variance(value: float, positives: float, negatives: float) -> float:
    """Do the same with the mean of both numbers of rows in place of each where they multiply [@newcombe2006]."""
    mean = (positives + negatives) / 2
    return _spread(value, mean, mean) / (positives * negatives)


METHODS: dict[str, tuple[Callable[[Area, float], Bounds], str]] = {
    "score": (score, "Newcombe's score set, widened to DeLong's variance"),
    "logit-delong": (logit_delong, "DeLong on log-odds"),
    "delong": (delong, "DeLong"),
    "hanley-mcneil": (hanley_mcneil, "Hanley–McNeil"),
}


def _spread(value: float, positives: float, negatives: float) -> float:
    above, below = value / (2 - value), 2 * value * value / (1 + value)
    square = value * value
    return value * (1 - value) + (positives - 1) * (above - square) + (negatives - 1) * (below - square)


def _edge(beyond: Callable[[float], bool], inside: float, end: float) -> float:
    """Where the set ends, between a value that belongs to it and one that may not; by halving, to the last bit."""
    if not beyond(end):
        return end
    near, far = inside, end
    for _ in range(64):
        middle = (near + far) / 2
        near, far = (near, middle) if beyond(middle) else (middle, far)
    return near


def _expit(x: float) -> float:
    return 1 / (1 + exp(-x)) if x > 0 else exp(x) / (1 + exp(x))


def _kish(tally: Tally, row: int) -> float:
    """Effective number of rows of a class."""
    if not tally.weighted:
        return float(tally.rows[row].sum(dtype=np.int64))
    return float(round_if_close(ratio(float(tally.mass[row].sum()) ** 2, float(tally.squares[row].sum()))))
