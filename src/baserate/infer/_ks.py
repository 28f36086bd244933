"""Interval of the Kolmogorov–Smirnov statistic: the greatest difference of two shares over all thresholds."""

from math import exp, hypot, inf, log, pi, sqrt

import numpy as np

from baserate._arrays import Value, as_python, ratio
from baserate._curve import Curve
from baserate._numeric.scan import running_blocks
from baserate._tally import Tally
from baserate.infer._binomial import NormalLevel, Share, outside, two_sided, wilson
from baserate.infer._paths import Path, Places

_EDGE = 0.1
"""Share at either end that the choice is thought to leave out, as usual for thresholds that were selected."""
_EPSILON = 1e-13
HOW = "Newcombe's difference of shares at all thresholds"


def interval(tally: Tally, level: float) -> tuple[float, float]:
    r"""Newcombe's intervals [@newcombe1998] for TPR − FPR at all thresholds where they may differ most.

    The true difference is greatest at an unknown threshold, so that the highest of all upper bounds holds as one of
    them does. The greatest difference that was observed is too large by having been selected: below, the normal
    quantile is replaced by that of the maximum over all thresholds between the edges,
    :math:`(b-1/b)φ(b)\ln\frac{(1-ε)^2}{ε^2}+4φ(b)/b=α` [@miller1982], or by Bonferroni's where there are few.
    """
    path = Path.of(Curve(tally))
    at = _candidates(path, level)
    true, false = (Share(*path.flagged(row, at)) for row in (0, 1))
    bounds = _difference(true, false, two_sided(level))
    best = int(np.argmax(np.abs(np.subtract(*path.rates)[at])))
    high, rest = (Share(float(each.hits[best]), float(each.misses[best])) for each in (true, false))
    low, _ = of_shares(high, rest, level, thresholds=path.mass.shape[1] - 2)
    return low, min(float(np.max([bounds[1], -bounds[0]])), 1.0)


def _candidates(path: Path, level: float) -> Places:
    """Thresholds at which an upper bound may exceed the greatest difference that was observed."""
    true, false = path.rates
    gap = np.abs(true - false)[1:-1]
    if not len(gap):  # all scores are equal
        return np.zeros(1, dtype=np.intp)
    if path.squares is not path.mass:  # of weighted rows some thresholds may be far less sure than others
        return np.arange(1, len(gap) + 1)
    z = two_sided(level)
    # No bound of a share of r rows lies farther from it than z/(2√r) + z²/r.
    reach = [z / (2 * sqrt(rows)) + z * z / rows for rows in (path.rows(0), path.rows(1))]
    return 1 + np.flatnonzero(gap >= gap.max() - hypot(*reach))


def of_shares(high: Share[float], low: Share[float], level: float, *, thresholds: float = inf) -> tuple[float, float]:
    """Bounds from both rates at the threshold where they differ most, selected among so many, alone."""
    if high.hits * low.trials < low.hits * high.trials:
        high, low = low, high
    least, _ = _difference(high, low, selected(level, thresholds=thresholds))
    _, most = _difference(high, low, two_sided(level))
    return max(least, 0.0), min(most, 1.0)


def selected(level: float, *, thresholds: float = inf) -> float:
    """How many standard errors the most significant of all thresholds, or of so many, reaches by chance.

    >>> round(selected(0.95), 2), round(selected(0.95, thresholds=4), 2)
    (3.05, 2.5)
    """
    near, far = 1.0, 40.0
    for _ in range(60):
        middle = (near + far) / 2
        normal = exp(-(middle**2) / 2) / sqrt(2 * pi)
        chance = (middle - 1 / middle) * normal * 2 * log((1 - _EDGE) / _EDGE) + 4 * normal / middle
        near, far = (middle, far) if chance > outside(level) else (near, middle)
    each = outside(level) / max(thresholds, 1.0)
    if each > _EPSILON:  # beyond, 1 − each would be 1
        near = min(near, two_sided(1 - each))
    return max(near, two_sided(level))


def where(tally: Tally) -> float:
    """Threshold at which the two rates differ most, the strictest of equal ones."""
    best, at, start = -1.0, 0, 0
    for true, false in running_blocks(tally.mass):
        gap = np.abs(true / tally.positives - false / tally.negatives)
        place = int(np.argmax(gap))
        if gap[place] > best:
            best, at = float(gap[place]), start + place
        start += len(gap) - 1
    return float("inf") if at == 0 else float(tally.score[at - 1])


def _difference(first: Share[Value], second: Share[Value], z: float) -> tuple[Value, Value]:
    """Bounds of the difference of two shares, from Wilson's bounds of each."""
    p, q = ratio(first.hits, first.trials), ratio(second.hits, second.trials)
    (p_low, p_high), (q_low, q_high) = (wilson(each.hits, each.misses, NormalLevel(z)) for each in (first, second))
    low, high = p - q - np.hypot(p - p_low, q_high - q), p - q + np.hypot(p_high - p, q - q_low)
    return as_python(low), as_python(high)
