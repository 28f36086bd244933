"""Two discrete distributions, a sample of each, and one of a mixture of both: all of it by maximum likelihood."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats, ratio

_GRID = [0.0, *(10.0**power for power in range(-4, -1)), *(step / 20 for step in range(1, 20))]
_GRID += [*(1 - 10.0**power for power in range(-2, -5, -1)), 1.0]
"""Shares from which a maximum is looked for, denser at both ends."""


class Seen(NamedTuple):
    """Counts in bins: of the first distribution, of the second, of the mixture; and draws of the mixture that are told.

    Every bin holds something.
    """

    first: Floats
    second: Floats
    mixed: Floats
    told: tuple[float, float] = (0.0, 0.0)
    """Draws of the mixture of which it is known that they are of the first, or of the second; they count there, too."""


class Fit(NamedTuple):
    """Share of the first distribution in the mixture, both distributions, and the log-likelihood."""

    share: float
    first: Floats
    second: Floats
    height: float


def fitted(seen: Seen) -> Fit:
    """Everything that is likeliest together."""
    return Profile(seen).peak


class Profile:
    """The log-likelihood of a share, with both distributions as likely as can be."""

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self.heights = [at(seen, q).height for q in _GRID]

    @property
    def peak(self) -> Fit:
        """Where it is highest; looked for from many shares, since there may be several maxima."""
        best = int(np.argmax(self.heights))
        near = _GRID[max(best - 1, 0)], _GRID[min(best + 1, len(_GRID) - 1)]
        return at(self.seen, root(lambda q: _slope(self.seen, q), *near))

    def bounds(self, peak: Fit, allowed: float) -> tuple[float, float]:
        """Least and greatest share at which it has not fallen further; it may have in between."""

        def left(q: float) -> float:
            return peak.height - at(self.seen, q).height - allowed

        inside = [q for q, height in zip(_GRID, self.heights, strict=True) if peak.height - height <= allowed]
        low, high = min([*inside, peak.share]), max([*inside, peak.share])
        below = max((q for q in _GRID if q < low), default=low)
        above = min((q for q in _GRID if q > high), default=high)
        return root(left, below, low), root(lambda q: -left(q), high, above)


def at(seen: Seen, share: float) -> Fit:
    r"""Distributions that are likeliest at a given share.

    With :math:`n_b,m_b,t_b` in bin b, :math:`f_b=(n_b+t_br_b)/A` and :math:`g_b=(m_b+t_b(1-r_b))/B`, where r is the
    chance that a draw of the mixture is of the first. A + B is the number of draws, r the root of a quadratic equation
    in each bin, and A the root of Σf = 1, which falls as A grows.
    """
    total = float(seen.first.sum() + seen.second.sum() + seen.mixed.sum())
    least, most = float(seen.first.sum()), total - float(seen.second.sum())

    def surplus(a: float) -> float:
        return float(_shapes(seen, share, a, total - a)[0].sum()) - 1

    a = root(surplus, least, most)
    first, second = _shapes(seen, share, a, total - a)
    return Fit(share, first, second, _height(seen, share, first, second))


def root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function passes 0; an end where it never does."""
    from scipy.optimize import brentq

    if falling(low) <= 0:
        return low
    if falling(high) >= 0:
        return high
    return float(brentq(falling, low, high, xtol=1e-14 * max(high, 1.0), rtol=1e-14))


def free(seen: Seen) -> float:
    """Log-likelihood when the mixture may be anything."""
    parts = (seen.first, seen.second, seen.mixed)
    return sum(_plug(each, each / max(float(each.sum()), 1.0)) for each in parts) + _told(seen, None)


def _slope(seen: Seen, q: float) -> float:
    """Of the highest log-likelihood at a share: only where the share itself enters does it matter."""
    found = at(seen, q)
    mixture = q * found.first + (1 - q) * found.second
    there = seen.mixed > 0
    with np.errstate(divide="ignore"):
        own = float(np.sum(seen.mixed[there] * (found.first - found.second)[there] / mixture[there]))
    first, second = seen.told
    return own + (ratio(first, q) if first else 0.0) - (ratio(second, 1 - q) if second else 0.0)


def _shapes(seen: Seen, q: float, a: float, b: float) -> tuple[Floats, Floats]:
    n, m, t = seen.first, seen.second, seen.mixed
    x, y = (q / a if a > 0 else 0.0), ((1 - q) / b if b > 0 else 0.0)
    square, linear, constant = t * (x - y), x * n + y * (m + t) - x * t, -x * n
    root = np.sqrt(np.maximum(linear**2 - 4 * square * constant, 0.0))
    # The root in [0, 1], written so that nothing cancels.
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.where(linear >= 0, -2 * constant / (linear + root), (root - linear) / (2 * square))
    r = np.clip(np.nan_to_num(r), 0.0, 1.0)
    first = (n + t * r) / a if a > 0 else np.zeros_like(n)
    second = (m + t * (1 - r)) / b if b > 0 else np.zeros_like(m)
    return first, second


def _height(seen: Seen, q: float, first: Floats, second: Floats) -> float:
    mixture = q * first + (1 - q) * second
    return _plug(seen.first, first) + _plug(seen.second, second) + _plug(seen.mixed, mixture) + _told(seen, q)


def _told(seen: Seen, q: float | None) -> float:
    first, second = seen.told
    if not first + second:
        return 0.0
    share = first / (first + second) if q is None else q
    return _plug(np.array([first, second]), np.array([share, 1 - share]))


def _plug(counts: Floats, chances: Floats) -> float:
    there = counts > 0
    with np.errstate(divide="ignore"):
        return float(np.dot(counts[there], np.log(chances[there])))
