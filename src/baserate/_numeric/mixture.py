"""Mixture proportion of two distributions by maximum likelihood; they are known, or estimated from samples in bins.

With densities f₁ and f₀ an observation matters only through λ = (f₁ − f₀)/(f₁ + f₀): up to a factor, the density of a
mixture with proportion q is ½ + λ(q − ½). It is finite even where one density is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from baserate._arrays import Cells, Floats, block_slices

_BLOCK = 1 << 14
"""Observations that fit the cache; smaller samples are not pooled."""
_MAX_STEPS = 100
_PER_UNIT = 64
"""Bins of log-ratios per unit when pooling."""
_MAX_LOG_RATIO = 40.0
"""Greatest absolute log-ratio when pooling; larger ones are clipped."""


class LikelihoodMoments(NamedTuple):
    """Derivatives of the log-likelihood of a proportion: gradient, curvature, and variance of the gradient."""

    slope: float
    curvature: float
    """Less the second derivative."""
    noise: float
    """Sum of squares: of weighted observations, with squared weights."""


class MixtureSample(NamedTuple):
    """Observations of a mixture by λ, with masses and squared weights; without them each counts once."""

    lean: Floats
    mass: Cells | None = None
    squares: Cells | None = None

    @classmethod
    def of(cls, log_ratio: Floats, mass: Cells | None, squares: Cells | None) -> MixtureSample:
        """Make a sample from log-ratios ln(f₁/f₀), which may be infinite; observations without mass get λ = 0."""
        # tanh(x/2) is (eˣ − 1)/(eˣ + 1), without overflow.
        lean = np.tanh(log_ratio / 2)
        return cls(lean if mass is None else np.where(mass > 0, lean, 0.0), mass, squares)

    def moments(self, q: float) -> LikelihoodMoments:
        """Sum derivatives at a proportion; infinite if an observation is impossible there."""
        sums = np.zeros(3)
        buffer = np.empty(min(_BLOCK, len(self.lean)))
        with np.errstate(divide="ignore"):
            for place in block_slices(len(self.lean), _BLOCK):
                part = self.lean[place]
                u = np.multiply(part, q - 0.5, out=buffer[: len(part)])
                u += 0.5
                np.divide(part, u, out=u)
                sums += self._sum_block(u, place)
        return LikelihoodMoments(*map(float, sums))

    def _sum_block(self, u: Floats, place: slice) -> tuple[float, float, float]:
        if self.mass is None or self.squares is None:
            second = float(np.einsum("i,i", u, u))  # BLAS would start threads for every block
            return float(u.sum()), second, second
        square = u * u
        parts = (self.mass[place], u), (self.mass[place], square), (self.squares[place], square)
        slope, curvature, noise = (float(np.einsum("i,i", *part)) for part in parts)
        return slope, curvature, noise

    def negative_log_likelihood(self, q: float) -> float:
        """Return the negative log-likelihood up to a constant; infinite if an observation is impossible."""
        with np.errstate(divide="ignore"):
            heights = np.log(0.5 + self.lean * (q - 0.5))
        return -float(heights.sum() if self.mass is None else self.mass @ heights)

    def sensitivity(self, q: float) -> Floats:
        """Return the derivative of the gradient at q by each observation's log-ratio."""
        change = (1 - self.lean * self.lean) / (4 * (0.5 + self.lean * (q - 0.5)) ** 2)
        return change if self.mass is None else change * self.mass


def pool_neighbors(log_ratio: Floats, sample: MixtureSample) -> tuple[Floats, MixtureSample]:
    """Pool observations whose log-ratios differ by less than 1/64: accurate enough for the shape of a likelihood.

    Also return the mean log-ratios. Small samples are returned unchanged.
    """
    if len(log_ratio) <= _BLOCK:
        return log_ratio, sample
    near = np.clip(log_ratio, -_MAX_LOG_RATIO, _MAX_LOG_RATIO)
    bucket = ((near + _MAX_LOG_RATIO) * _PER_UNIT).astype(np.int32)
    mass = np.bincount(bucket, weights=sample.mass).astype(np.float64)
    squares = mass if sample.squares is None else np.bincount(bucket, weights=sample.squares)
    nonempty = mass > 0
    middle = np.bincount(bucket, weights=near if sample.mass is None else near * sample.mass)[nonempty] / mass[nonempty]
    return middle, MixtureSample.of(middle, mass[nonempty], squares[nonempty])


def maximize_share(slope_at: Callable[[float], tuple[float, float]], start: float) -> float:
    """Find the proportion in [0, 1] where a falling gradient is 0, by safeguarded Newton steps; or else an end.

    `slope_at` returns the gradient and the curvature at a proportion.
    """
    # Off the ends, where the gradient may be infinite.
    low, high, share = 0.0, 1.0, min(max(start, 1e-6), 1 - 1e-6)
    for _ in range(_MAX_STEPS):
        slope, curvature = slope_at(share)
        if slope > 0:
            low = share
        else:
            high = share
        step = share + slope / curvature if curvature > 0 else (low + high) / 2
        if not low < step < high:
            step = _step_to_end(slope_at, low, high, upwards=slope > 0)
            if step in (0.0, 1.0):
                return step
        # Relative to the nearer end, so that small proportions have all their digits.
        if abs(step - share) <= 1e-15 + 1e-13 * min(share, 1 - share):
            return step
        share = step
    return share


def _step_to_end(slope_at: Callable[[float], tuple[float, float]], low: float, high: float, *, upwards: bool) -> float:
    """Return the end in that direction if the likelihood rises up to it; otherwise bisect."""
    if upwards and high == 1.0 and slope_at(1.0)[0] >= 0:
        return 1.0
    if not upwards and low == 0.0 and slope_at(0.0)[0] <= 0:
        return 0.0
    return (low + high) / 2


_GRID = [0.0, *(10.0**power for power in range(-4, -1)), *(step / 20 for step in range(1, 20))]
_GRID += [*(1 - 10.0**power for power in range(-2, -5, -1)), 1.0]
"""Shares from which the search for a maximum starts, denser at both ends."""
_PARTS, _PASSES = 32, 4
"""Parts of an interval and passes of `find_crossing`, which narrow it to a millionth."""
_ROOT_STEPS, _ROOT_TOLERANCE = 60, 1e-13
"""Greatest number of steps, and the size of the last one as a share of all observations."""


class BinCounts(NamedTuple):
    """Counts in bins of two samples and of a sample of their mixture, which may be partly labelled. No bin is empty."""

    first: Floats
    second: Floats
    mixture: Floats
    labelled: tuple[float, float] = (0.0, 0.0)
    """Labelled observations of the mixture from the first and from the second distribution; they count there, too."""


class TwoSampleFit(NamedTuple):
    """Proportion of the first distribution in the mixture, both distributions, and the log-likelihood."""

    share: float
    first: Floats
    second: Floats
    log_likelihood: float


class ProfileLikelihood:
    """Profile log-likelihood of the proportion."""

    def __init__(self, counts: BinCounts) -> None:
        self.counts = counts
        self.log_likelihoods = profile_log_likelihood(counts, np.array(_GRID)).tolist()

    @property
    def maximum(self) -> TwoSampleFit:
        """Return the global maximum, searched from a grid since there may be several local ones."""
        best = int(np.argmax(self.log_likelihoods))
        near = _GRID[max(best - 1, 0)], _GRID[min(best + 1, len(_GRID) - 1)]
        return fit_at_share(self.counts, find_crossing(lambda q: _slopes(self.counts, q), *near))

    def bounds(self, peak: TwoSampleFit, allowed: float) -> tuple[float, float]:
        """Return the least and greatest proportion whose log-likelihood is within `allowed` of the maximum."""

        def excess(q: Floats) -> Floats:
            return peak.log_likelihood - profile_log_likelihood(self.counts, q) - allowed

        # There may be several maxima: the interval spans all shares that are likely enough.
        inside = [
            q for q, height in zip(_GRID, self.log_likelihoods, strict=True) if peak.log_likelihood - height <= allowed
        ]
        low, high = min([*inside, peak.share]), max([*inside, peak.share])
        below = max((q for q in _GRID if q < low), default=low)
        above = min((q for q in _GRID if q > high), default=high)
        return find_crossing(excess, below, low), find_crossing(lambda q: -excess(q), high, above)


def fit_at_share(counts: BinCounts, share: float) -> TwoSampleFit:
    r"""Find the distributions of highest likelihood at a proportion.

    With :math:`n_b,m_b,t_b` in bin b, :math:`f_b=(n_b+t_br_b)/A` and :math:`g_b=(m_b+t_b(1-r_b))/B`, where r is the
    probability that an observation of the mixture is of the first. A + B is the number of observations, r the root of a
    quadratic equation in each bin, and A the root of Σf = 1, which falls as A grows: Newton's method between bounds
    finds it.
    """
    first, second = _fit_distributions(counts, np.array([share]))
    return TwoSampleFit(
        share, first[0], second[0], float(_log_likelihoods(counts, np.array([share]), first, second)[0])
    )


def profile_log_likelihood(counts: BinCounts, shares: Floats) -> Floats:
    """Return the profile log-likelihood at each of several proportions."""
    return _log_likelihoods(counts, shares, *_fit_distributions(counts, shares))


def _fit_distributions(counts: BinCounts, shares: Floats) -> tuple[Floats, Floats]:
    """Fit both distributions at each proportion, one row each."""
    first_total, mixed = float(counts.first.sum()), float(counts.mixture.sum())
    total = first_total + float(counts.second.sum()) + mixed
    low, high = np.full(len(shares), first_total), np.full(len(shares), first_total + mixed)
    a = first_total + shares * mixed
    for _ in range(_ROOT_STEPS):
        surplus, slope = _surplus(counts, shares, a, total - a)
        low, high = np.where(surplus > 0, a, low), np.where(surplus > 0, high, a)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(slope < 0, a - surplus / slope, np.nan)
        then = np.where((step >= low) & (step <= high), step, (low + high) / 2)
        step_size = np.abs(then - a)
        a = then
        if (step_size <= _ROOT_TOLERANCE * total).all():
            break
    first, second, _ = _shapes(counts, shares, a, total - a)
    return first, second


def _surplus(counts: BinCounts, q: Floats, a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return Σf − 1 at each proportion, and its derivative with respect to A."""
    n, m, t = counts.first, counts.second, counts.mixture
    first, _, r = _shapes(counts, q, a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = ((part / whole)[:, None] for part, whole in ((q, a), (1 - q, b)))
        by_x, by_y = (r - 1) * (t * r + n), r * (m + t * (1 - r))
        by_r = 2 * t * (x - y) * r + x * n + y * (m + t) - x * t
        change = np.nan_to_num((by_x * x / a[:, None] - by_y * y / b[:, None]) / by_r, posinf=0.0, neginf=0.0)
        slope = ((t * change - first) / a[:, None]).sum(axis=1)
    return first.sum(axis=1) - 1, slope


def find_root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of a falling function; an end if there is none."""
    from scipy.optimize import brentq

    if falling(low) <= 0:
        return low
    if falling(high) >= 0:
        return high
    return float(brentq(falling, low, high, xtol=1e-14 * max(high, 1.0), rtol=1e-14))


def find_crossing(falling: Callable[[Floats], Floats], low: float, high: float) -> float:
    """Return the root of a falling, vectorized function; an end if there is none.

    Many values cost as much as one: each pass evaluates a grid and keeps one of 32 parts.
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


def unconstrained_log_likelihood(counts: BinCounts) -> float:
    """Return the log-likelihood when the third sample may have any distribution."""
    parts = (counts.first, counts.second, counts.mixture)
    return float(
        sum(_multinomial_log_likelihood(each, each / max(float(each.sum()), 1.0)) for each in parts)
    ) + _labelled_log_likelihood(counts, None)


def _slopes(counts: BinCounts, q: Floats) -> Floats:
    """Return the derivative of the profile log-likelihood, by the envelope theorem: both distributions stay fixed."""
    first, second = _fit_distributions(counts, q)
    mixture = q[:, None] * first + (1 - q[:, None]) * second
    nonempty = counts.mixture > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.nan_to_num((first - second)[:, nonempty] / mixture[:, nonempty], nan=0.0) @ counts.mixture[nonempty]
        # A class without labels adds 0, also where its share is 0.
        labelled = [
            count / part if count else np.zeros(len(q)) for count, part in zip(counts.labelled, (q, 1 - q), strict=True)
        ]
    return np.asarray(own + labelled[0] - labelled[1])


def _shapes(counts: BinCounts, q: Floats, a: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
    """Return both distributions and the probabilities r, a row for each proportion."""
    n, m, t = counts.first, counts.second, counts.mixture
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


def _log_likelihoods(counts: BinCounts, q: Floats, first: Floats, second: Floats) -> Floats:
    mixture = q[:, None] * first + (1 - q[:, None]) * second
    parts = ((counts.first, first), (counts.second, second), (counts.mixture, mixture))
    labelled = np.array([_labelled_log_likelihood(counts, float(each)) for each in q])
    return np.asarray(sum((_multinomial_log_likelihood(counts, chances) for counts, chances in parts), labelled))


def _labelled_log_likelihood(counts: BinCounts, q: float | None) -> float:
    first, second = counts.labelled
    if not first + second:
        return 0.0
    share = first / (first + second) if q is None else q
    return float(_multinomial_log_likelihood(np.array([first, second]), np.array([share, 1 - share])))


def _multinomial_log_likelihood(counts: Floats, chances: Floats) -> Floats:
    """Return the log-likelihood of counts, for each row of probabilities."""
    nonempty = counts > 0  # 0·ln 0 is 0, but NaN in floats
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(chances[..., nonempty]) @ counts[nonempty])
