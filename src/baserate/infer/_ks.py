"""Interval of the Kolmogorov–Smirnov statistic: a difference of two shares at a threshold chosen to be the best."""

from math import exp, log, pi, sqrt

import numpy as np

from baserate._curve import Curve
from baserate._numeric.scan import running_blocks
from baserate._tally import Tally
from baserate.infer._binomial import NormalLevel, Share, outside, share, two_sided, wilson
from baserate.measure import fpr, sensitivity

_EDGE = 0.1
"""Share at either end that the choice is thought to leave out, as usual for thresholds that were selected."""
HOW = "Newcombe's difference of shares, the lower bound for a selected threshold"


def interval(tally: Tally, level: float) -> tuple[float, float]:
    r"""Newcombe's interval [@newcombe1998] for TPR − FPR where they differ most.

    The greatest difference seen is no less than the one seen where the true one is greatest, so an ordinary upper
    bound holds. It is too large by having been selected; below, the normal quantile is replaced by that of the maximum
    over all thresholds between the edges, :math:`(b-1/b)φ(b)\ln\frac{(1-ε)^2}{ε^2}+4φ(b)/b=α` [@miller1982].
    """
    counts = Curve(tally).at(where(tally))
    return of_shares(share(sensitivity, counts), share(fpr, counts), level)


def of_shares(high: Share[float], low: Share[float], level: float) -> tuple[float, float]:
    """Do the same with both rates at the threshold."""
    if high.hits * low.trials < low.hits * high.trials:
        high, low = low, high
    return max(_difference(high, low, selected(level), upward=False), 0.0), min(
        _difference(high, low, two_sided(level), upward=True), 1.0
    )


def selected(level: float) -> float:
    """How many standard errors the most significant of all thresholds reaches by chance.

    >>> round(selected(0.95), 2)
    3.05
    """
    near, far = 1.0, 40.0
    for _ in range(60):
        middle = (near + far) / 2
        normal = exp(-(middle**2) / 2) / sqrt(2 * pi)
        chance = (middle - 1 / middle) * normal * 2 * log((1 - _EDGE) / _EDGE) + 4 * normal / middle
        near, far = (middle, far) if chance > outside(level) else (near, middle)
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


def _difference(more: Share[float], less: Share[float], z: float, *, upward: bool) -> float:
    """Bound of the difference of two shares, from Wilson's bounds of each."""
    first, second = (wilson(each.hits, each.misses, NormalLevel(z)) for each in (more, less))
    p, q = more.hits / more.trials, less.hits / less.trials
    if upward:
        return p - q + sqrt((first[1] - p) ** 2 + (q - second[0]) ** 2)
    return p - q - sqrt((p - first[0]) ** 2 + (second[1] - q) ** 2)
