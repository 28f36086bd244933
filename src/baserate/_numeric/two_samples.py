"""Two discrete distributions, a sample of each, and one of a mixture of both: all of it by maximum likelihood."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats

_GRID = [0.0, *(10.0**power for power in range(-4, -1)), *(step / 20 for step in range(1, 20))]
_GRID += [*(1 - 10.0**power for power in range(-2, -5, -1)), 1.0]
"""Shares from which a maximum is looked for, denser at both ends."""
_PARTS, _PASSES = 32, 4
_STEPS, _CLOSE = 60, 1e-13
"""Steps at most, and the share of all draws by which the last may move."""


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


class Profile:
    """The log-likelihood of a share, with both distributions as likely as can be."""

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self.heights = heights(seen, np.array(_GRID)).tolist()

    @property
    def peak(self) -> Fit:
        """Where it is highest; looked for from many shares, since there may be several maxima."""
        best = int(np.argmax(self.heights))
        near = _GRID[max(best - 1, 0)], _GRID[min(best + 1, len(_GRID) - 1)]
        return at(self.seen, crossing(lambda q: _slopes(self.seen, q), *near))

    def bounds(self, peak: Fit, allowed: float) -> tuple[float, float]:
        """Least and greatest share at which it has not fallen further; it may have in between."""

        def left(q: Floats) -> Floats:
            return peak.height - heights(self.seen, q) - allowed

        inside = [q for q, height in zip(_GRID, self.heights, strict=True) if peak.height - height <= allowed]
        low, high = min([*inside, peak.share]), max([*inside, peak.share])
        below = max((q for q in _GRID if q < low), default=low)
        above = min((q for q in _GRID if q > high), default=high)
        return crossing(left, below, low), crossing(lambda q: -left(q), high, above)


def at(seen: Seen, share: float) -> Fit:
    r"""Distributions that are likeliest at a share.

    With :math:`n_b,m_b,t_b` in bin b, :math:`f_b=(n_b+t_br_b)/A` and :math:`g_b=(m_b+t_b(1-r_b))/B`, where r is the
    chance that a draw of the mixture is of the first. A + B is the number of draws, r the root of a quadratic equation
    in each bin, and A the root of Σf = 1, which falls as A grows: Newton's method between bounds finds it.
    """
    first, second = _likeliest(seen, np.array([share]))
    return Fit(share, first[0], second[0], float(_heights(seen, np.array([share]), first, second)[0]))


def heights(seen: Seen, shares: Floats) -> Floats:
    """Highest log-likelihood at each of several shares."""
    return _heights(seen, shares, *_likeliest(seen, shares))


def _likeliest(seen: Seen, shares: Floats) -> tuple[Floats, Floats]:
    """Both distributions, a row for each share."""
    known, mixed = float(seen.first.sum()), float(seen.mixed.sum())
    total = known + float(seen.second.sum()) + mixed
    low, high = np.full(len(shares), known), np.full(len(shares), known + mixed)
    a = known + shares * mixed
    for _ in range(_STEPS):
        surplus, slope = _surplus(seen, shares, a, total - a)
        low, high = np.where(surplus > 0, a, low), np.where(surplus > 0, high, a)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(slope < 0, a - surplus / slope, np.nan)
        then = np.where((step >= low) & (step <= high), step, (low + high) / 2)
        moved = np.abs(then - a)
        a = then
        if (moved <= _CLOSE * total).all():
            break
    first, second, _ = _shapes(seen, shares, a, total - a)
    return first, second


def _surplus(seen: Seen, q: Floats, a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Σf − 1 at each share, and its derivative with A."""
    n, m, t = seen.first, seen.second, seen.mixed
    first, _, r = _shapes(seen, q, a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = ((part / whole)[:, None] for part, whole in ((q, a), (1 - q, b)))
        by_x, by_y = (r - 1) * (t * r + n), r * (m + t * (1 - r))
        by_r = 2 * t * (x - y) * r + x * n + y * (m + t) - x * t
        change = np.nan_to_num((by_x * x / a[:, None] - by_y * y / b[:, None]) / by_r, posinf=0.0, neginf=0.0)
        slope = ((t * change - first) / a[:, None]).sum(axis=1)
    return first.sum(axis=1) - 1, slope


def root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function passes 0; an end where it never does."""
    from scipy.optimize import brentq

    if falling(low) <= 0:
        return low
    if falling(high) >= 0:
        return high
    return float(brentq(falling, low, high, xtol=1e-14 * max(high, 1.0), rtol=1e-14))


def crossing(falling: Callable[[Floats], Floats], low: float, high: float) -> float:
    """Where a falling function passes 0; an end where it never does.

    It takes many numbers at once, which costs as much as one of them: each pass leaves one of 32 parts.
    """
    for _ in range(_PASSES):
        x = np.linspace(low, high, _PARTS + 1)
        y = falling(x)
        if y[0] <= 0:
            return low
        if y[-1] >= 0:
            return high
        part = int(np.flatnonzero(y > 0)[-1])
        low, high = float(x[part]), float(x[part + 1])
    # The last part is so short that the function is straight in it; infinite ends are halved.
    share = y[part] / (y[part] - y[part + 1])
    return low + (high - low) * (float(share) if 0 <= share <= 1 else 0.5)


def free(seen: Seen) -> float:
    """Log-likelihood when the mixture may be anything."""
    parts = (seen.first, seen.second, seen.mixed)
    return float(sum(_plug(each, each / max(float(each.sum()), 1.0)) for each in parts)) + _told(seen, None)


def _slopes(seen: Seen, q: Floats) -> Floats:
    """Of the highest log-likelihood at each share: only where the share itself enters does it matter."""
    first, second = _likeliest(seen, q)
    mixture = q[:, None] * first + (1 - q[:, None]) * second
    there = seen.mixed > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.nan_to_num((first - second)[:, there] / mixture[:, there], nan=0.0) @ seen.mixed[there]
        known = [count / part if count else np.zeros(len(q)) for count, part in zip(seen.told, (q, 1 - q), strict=True)]
    return np.asarray(own + known[0] - known[1])


def _shapes(seen: Seen, q: Floats, a: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
    """Both distributions and the chances r, a row for each share."""
    n, m, t = seen.first, seen.second, seen.mixed
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = (np.where(whole > 0, part / whole, 0.0)[:, None] for part, whole in ((q, a), (1 - q, b)))
        square, linear, constant = t * (x - y), x * n + y * (m + t) - x * t, -x * n
        root = np.sqrt(np.maximum(linear**2 - 4 * square * constant, 0.0))
        # The root in [0, 1], written so that nothing cancels.
        r = np.where(linear >= 0, -2 * constant / (linear + root), (root - linear) / (2 * square))
        r = np.clip(np.nan_to_num(r), 0.0, 1.0)
        first = np.where(a > 0, 1 / a, 0.0)[:, None] * (n + t * r)
        second = np.where(b > 0, 1 / b, 0.0)[:, None] * (m + t * (1 - r))
    return first, second, r


def _heights(seen: Seen, q: Floats, first: Floats, second: Floats) -> Floats:
    mixture = q[:, None] * first + (1 - q[:, None]) * second
    parts = ((seen.first, first), (seen.second, second), (seen.mixed, mixture))
    known = np.array([_told(seen, float(each)) for each in q])
    return np.asarray(sum((_plug(counts, chances) for counts, chances in parts), known))


def _told(seen: Seen, q: float | None) -> float:
    first, second = seen.told
    if not first + second:
        return 0.0
    share = first / (first + second) if q is None else q
    return float(_plug(np.array([first, second]), np.array([share, 1 - share])))


def _plug(counts: Floats, chances: Floats) -> Floats:
    """Log-likelihood of counts, of each row of chances."""
    there = counts > 0
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(chances[..., there]) @ counts[there])
