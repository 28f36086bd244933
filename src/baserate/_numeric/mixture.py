"""The share of one of two known distributions in a mixture of both, by maximum likelihood.

Of a draw with densities f₁ and f₀, only its lean λ = (f₁ − f₀)/(f₁ + f₀) matters: the density of a mixture with share q
is, but for a factor, ½ + λ(q − ½). Nothing is infinite, even where one density is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from baserate._arrays import Cells, Floats

_BLOCK = 1 << 14
"""Draws that fit the cache, and that need not be pooled."""
_MAX_STEPS = 100
_PER_UNIT = 64
_MAX_LOG_RATIO = 40.0
"""Log-ratios beyond which draws count as so far, when they are pooled."""


class LikelihoodMoments(NamedTuple):
    """What draws say about a share q: slope of the log-likelihood, its curvature, and the noise of the slope."""

    slope: float
    curvature: float
    """Less the second derivative."""
    noise: float
    """Sum of squares: of weighted draws, with squared weights."""


class MixtureSample(NamedTuple):
    """Draws by how much they lean, with their masses and squared weights; each counts once without."""

    lean: Floats
    mass: Cells | None = None
    squares: Cells | None = None

    @classmethod
    def of(cls, log_ratio: Floats, mass: Cells | None, squares: Cells | None) -> MixtureSample:
        """Take draws by the logarithms of f₁/f₀, which may be infinite; what has no mass leans nowhere."""
        lean = np.tanh(log_ratio / 2)
        return cls(lean if mass is None else np.where(mass > 0, lean, 0.0), mass, squares)

    def moments(self, q: float) -> LikelihoodMoments:
        """Sums over all draws at a share q; infinite where a draw is impossible there."""
        sums = np.zeros(3)
        room = np.empty(min(_BLOCK, len(self.lean)))
        with np.errstate(divide="ignore"):
            for start in range(0, len(self.lean), _BLOCK):
                place = slice(start, start + _BLOCK)
                part = self.lean[place]
                u = np.multiply(part, q - 0.5, out=room[: len(part)])
                u += 0.5
                np.divide(part, u, out=u)
                sums += self._summed(u, place)
        return LikelihoodMoments(*map(float, sums))

    def _summed(self, u: Floats, place: slice) -> tuple[float, float, float]:
        if self.mass is None or self.squares is None:
            second = float(np.einsum("i,i", u, u))  # BLAS would start threads for every block
            return float(u.sum()), second, second
        square = u * u
        parts = (self.mass[place], u), (self.mass[place], square), (self.squares[place], square)
        slope, curvature, noise = (float(np.einsum("i,i", *part)) for part in parts)
        return slope, curvature, noise

    def surprise(self, q: float) -> float:
        """Less the log-likelihood of a share, but for a constant; infinite where a draw is impossible."""
        with np.errstate(divide="ignore"):
            heights = np.log(0.5 + self.lean * (q - 0.5))
        return -float(heights.sum() if self.mass is None else self.mass @ heights)

    def sensitivity(self, q: float) -> Floats:
        """How much the slope at q grows with each draw's log-ratio."""
        found = (1 - self.lean * self.lean) / (4 * (0.5 + self.lean * (q - 0.5)) ** 2)
        return found if self.mass is None else found * self.mass


def pool_neighbors(log_ratio: Floats, draws: MixtureSample) -> tuple[Floats, MixtureSample]:
    """Pool draws whose log-ratios differ by less than a 64th: enough for the shape of a likelihood.

    Returned are the mean log-ratios, too. Few draws stay as they are.
    """
    if len(log_ratio) <= _BLOCK:
        return log_ratio, draws
    near = np.clip(log_ratio, -_MAX_LOG_RATIO, _MAX_LOG_RATIO)
    bucket = ((near + _MAX_LOG_RATIO) * _PER_UNIT).astype(np.int32)
    mass = np.bincount(bucket, weights=draws.mass).astype(np.float64)
    squares = mass if draws.squares is None else np.bincount(bucket, weights=draws.squares)
    there = mass > 0
    middle = np.bincount(bucket, weights=near if draws.mass is None else near * draws.mass)[there] / mass[there]
    return middle, MixtureSample.of(middle, mass[there], squares[there])


def maximize_share(slope_at: Callable[[float], tuple[float, float]], start: float) -> float:
    """Share in [0, 1] where a falling slope is 0, by Newton's method between bounds; an end where it never is.

    `slope_at` gives the slope and the curvature at a share.
    """
    low, high, here = 0.0, 1.0, min(max(start, 1e-6), 1 - 1e-6)
    for _ in range(_MAX_STEPS):
        slope, curvature = slope_at(here)
        if slope > 0:
            low = here
        else:
            high = here
        step = here + slope / curvature if curvature > 0 else (low + high) / 2
        if not low < step < high:
            step = _step_to_end(slope_at, low, high, upwards=slope > 0)
            if step in (0.0, 1.0):
                return step
        if abs(step - here) <= 1e-15 + 1e-13 * min(here, 1 - here):
            return step
        here = step
    return here


def _step_to_end(slope_at: Callable[[float], tuple[float, float]], low: float, high: float, *, upwards: bool) -> float:
    """The end that lies that way, if the likelihood rises up to it; otherwise halfway."""
    if upwards and high == 1.0 and slope_at(1.0)[0] >= 0:
        return 1.0
    if not upwards and low == 0.0 and slope_at(0.0)[0] <= 0:
        return 0.0
    return (low + high) / 2


_GRID = [0.0, *(10.0**power for power in range(-4, -1)), *(step / 20 for step in range(1, 20))]
_GRID += [*(1 - 10.0**power for power in range(-2, -5, -1)), 1.0]
"""Shares from which a maximum is looked for, denser at both ends."""
_PARTS, _PASSES = 32, 4
_ROOT_STEPS, _CLOSE = 60, 1e-13
"""Steps at most, and the share of all draws by which the last may move."""


class BinCounts(NamedTuple):
    """Counts in bins: of the first distribution, of the second, of the mixture; and draws of the mixture that are told.

    Every bin holds something.
    """

    first: Floats
    second: Floats
    mixed: Floats
    told: tuple[float, float] = (0.0, 0.0)
    """Draws of the mixture of which it is known that they are of the first, or of the second; they count there, too."""


class TwoSampleFit(NamedTuple):
    """Share of the first distribution in the mixture, both distributions, and the log-likelihood."""

    share: float
    first: Floats
    second: Floats
    height: float


class ProfileLikelihood:
    """The log-likelihood of a share, with both distributions as likely as can be."""

    def __init__(self, seen: BinCounts) -> None:
        self.seen = seen
        self.heights = profile_log_likelihood(seen, np.array(_GRID)).tolist()

    @property
    def peak(self) -> TwoSampleFit:
        """Where it is highest; looked for from many shares, since there may be several maxima."""
        best = int(np.argmax(self.heights))
        near = _GRID[max(best - 1, 0)], _GRID[min(best + 1, len(_GRID) - 1)]
        return fit_at_share(self.seen, find_crossing(lambda q: _slopes(self.seen, q), *near))

    def bounds(self, peak: TwoSampleFit, allowed: float) -> tuple[float, float]:
        """Least and greatest share at which it has not fallen further; it may have in between."""

        def left(q: Floats) -> Floats:
            return peak.height - profile_log_likelihood(self.seen, q) - allowed

        inside = [q for q, height in zip(_GRID, self.heights, strict=True) if peak.height - height <= allowed]
        low, high = min([*inside, peak.share]), max([*inside, peak.share])
        below = max((q for q in _GRID if q < low), default=low)
        above = min((q for q in _GRID if q > high), default=high)
        return find_crossing(left, below, low), find_crossing(lambda q: -left(q), high, above)


def fit_at_share(seen: BinCounts, share: float) -> TwoSampleFit:
    r"""Distributions that are likeliest at a share.

    With :math:`n_b,m_b,t_b` in bin b, :math:`f_b=(n_b+t_br_b)/A` and :math:`g_b=(m_b+t_b(1-r_b))/B`, where r is the
    chance that a draw of the mixture is of the first. A + B is the number of draws, r the root of a quadratic equation
    in each bin, and A the root of Σf = 1, which falls as A grows: Newton's method between bounds finds it.
    """
    first, second = _fit_distributions(seen, np.array([share]))
    return TwoSampleFit(share, first[0], second[0], float(_log_likelihoods(seen, np.array([share]), first, second)[0]))


def profile_log_likelihood(seen: BinCounts, shares: Floats) -> Floats:
    """Highest log-likelihood at each of several shares."""
    return _log_likelihoods(seen, shares, *_fit_distributions(seen, shares))


def _fit_distributions(seen: BinCounts, shares: Floats) -> tuple[Floats, Floats]:
    """Both distributions, a row for each share."""
    known, mixed = float(seen.first.sum()), float(seen.mixed.sum())
    total = known + float(seen.second.sum()) + mixed
    low, high = np.full(len(shares), known), np.full(len(shares), known + mixed)
    a = known + shares * mixed
    for _ in range(_ROOT_STEPS):
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


def _surplus(seen: BinCounts, q: Floats, a: Floats, b: Floats) -> tuple[Floats, Floats]:
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


def find_root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function passes 0; an end where it never does."""
    from scipy.optimize import brentq

    if falling(low) <= 0:
        return low
    if falling(high) >= 0:
        return high
    return float(brentq(falling, low, high, xtol=1e-14 * max(high, 1.0), rtol=1e-14))


def find_crossing(falling: Callable[[Floats], Floats], low: float, high: float) -> float:
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


def unconstrained_log_likelihood(seen: BinCounts) -> float:
    """Log-likelihood when the mixture may be anything."""
    parts = (seen.first, seen.second, seen.mixed)
    return float(
        sum(_multinomial_log_likelihood(each, each / max(float(each.sum()), 1.0)) for each in parts)
    ) + _labelled_log_likelihood(seen, None)


def _slopes(seen: BinCounts, q: Floats) -> Floats:
    """Of the highest log-likelihood at each share: only where the share itself enters does it matter."""
    first, second = _fit_distributions(seen, q)
    mixture = q[:, None] * first + (1 - q[:, None]) * second
    there = seen.mixed > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.nan_to_num((first - second)[:, there] / mixture[:, there], nan=0.0) @ seen.mixed[there]
        known = [count / part if count else np.zeros(len(q)) for count, part in zip(seen.told, (q, 1 - q), strict=True)]
    return np.asarray(own + known[0] - known[1])


def _shapes(seen: BinCounts, q: Floats, a: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
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


def _log_likelihoods(seen: BinCounts, q: Floats, first: Floats, second: Floats) -> Floats:
    mixture = q[:, None] * first + (1 - q[:, None]) * second
    parts = ((seen.first, first), (seen.second, second), (seen.mixed, mixture))
    known = np.array([_labelled_log_likelihood(seen, float(each)) for each in q])
    return np.asarray(sum((_multinomial_log_likelihood(counts, chances) for counts, chances in parts), known))


def _labelled_log_likelihood(seen: BinCounts, q: float | None) -> float:
    first, second = seen.told
    if not first + second:
        return 0.0
    share = first / (first + second) if q is None else q
    return float(_multinomial_log_likelihood(np.array([first, second]), np.array([share, 1 - share])))


def _multinomial_log_likelihood(counts: Floats, chances: Floats) -> Floats:
    """Log-likelihood of counts, of each row of chances."""
    there = counts > 0
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(chances[..., there]) @ counts[there])
