"""Log-concave densities: maximum likelihood by an active set, as a distribution, and smoothed by a normal one.

The maximum likelihood estimate of a log-concave density is unique, and the logarithm of the density is linear between
knots, which are observations [@dumbgen2009]. It needs no bandwidth.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats, keep_read_only
from baserate._numeric.distributions import Real
from baserate._numeric.quantile_search import find_quantiles

_TOLERANCE = 1e-11
"""Directional derivative up to which no further knot increases the likelihood; scores have range 1, weights sum 1."""
_MAX_ROUNDS = 500
_NEWTON_STEPS = 100
_NEWTON_TOLERANCE = 1e-9
_SMALLEST = 1e-12
"""Share of a step below which nothing is gained."""
_SHORT = 1e-4
"""Difference of log densities below which moments of a segment are sums of four terms, since their formulas cancel."""
_CLOSE = 1e-9
"""Share of the range of the observations below which two of them are equal."""
_RATIO = 2.0
"""Change of the log density between two breaks."""
_DEEPEST = 800.0
"""Drop of a log density from 1 to 0 as a double."""
_REACH = 9.0
"""Standard deviations beyond which a normal tail is below rounding."""
_FAR = 40.0
"""Standard deviations beyond which a normal tail is 0 as a double."""
_MAX_BREAKS = 2000
_FLAT = 1e-5
"""Difference of log densities up to which a piece counts as level: dividing by its slope would cancel."""
_LEAST = 1e-300
Places = npt.NDArray[np.intp]


class _Segments(NamedTuple):
    """Integrals over each segment between knots, of the density times powers of the distance from its higher end.

    Measured from the higher end, no exponential is above 1, and no difference cancels.
    """

    width: Floats
    top: Floats
    """Greatest density of each segment."""
    falls: Bools
    """Whether the left end is the higher one."""
    moments: tuple[Floats, Floats, Floats]
    """Integrals of 1, u and u² as shares of `width * top`, where u is the distance from the higher end, from 0 to 1."""

    @staticmethod
    def of(width: Floats, left: Floats, right: Floats) -> _Segments:
        """Make segments from their widths and the log densities at both ends."""
        return _Segments(width, np.exp(np.maximum(left, right)), left >= right, _moments(np.abs(right - left)))

    @property
    def mass(self) -> Floats:
        """Return the integral of the density over each segment."""
        return self.width * self.top * self.moments[0]

    def hats(self) -> tuple[Floats, Floats]:
        """Return the integrals of the density times a line that falls from 1 to 0, and that rises from 0 to 1."""
        zero, one, _ = self.moments
        near, far = (self.width * self.top * each for each in (zero - one, one))
        return np.where(self.falls, near, far), np.where(self.falls, far, near)

    def products(self) -> tuple[Floats, Floats, Floats]:
        """Return the integrals with the squares of both lines, and with their product."""
        zero, one, two = self.moments
        scale = self.width * self.top
        near, far, cross = scale * (zero - 2 * one + two), scale * two, scale * (one - two)
        return np.where(self.falls, near, far), np.where(self.falls, far, near), cross


def _moments(drop: Floats) -> tuple[Floats, Floats, Floats]:
    r"""Return :math:`\int_0^1 u^k e^{-du}\,du` for k = 0, 1 and 2."""
    from scipy.special import gammainc

    small = drop < _SHORT
    d = np.where(small, 1.0, drop)
    # Incomplete gamma functions do not cancel where d is small; their factor (k − 1)! is 1, 1 and 2.
    exact = -np.expm1(-d) / d, gammainc(2, d) / d**2, 2 * gammainc(3, d) / d**3
    if not np.any(small):
        return exact
    near = np.where(small, drop, 0.0)
    zero, one, two = (
        np.where(small, 1 / k - near * (1 / (k + 1) - near * (1 / (2 * (k + 2)) - near / (6 * (k + 3)))), each)
        for k, each in enumerate(exact, start=1)
    )
    return zero, one, two


class _Sample(NamedTuple):
    """Sorted observations from 0 to 1 with weights that add up to 1, and their cumulative sums."""

    x: Floats
    weight: Floats
    before: Floats
    """Sum of the weights before each observation, and of all."""
    moments: Floats
    """Sum of weight times value before each observation, and of all."""

    @staticmethod
    def of(x: Floats, weight: Floats) -> _Sample:
        before = np.concatenate([[0.0], np.cumsum(weight)])
        moments = np.concatenate([[0.0], np.cumsum(weight * x)])
        return _Sample(x, weight, before, moments)

    def collapse(self, places: Places) -> Floats:
        """Share every weight between the two knots around it, so that the mean stays."""
        at = self.x[places]
        width = np.diff(at)
        mass = np.diff(self.before[places])
        moment = np.diff(self.moments[places])
        right = (moment - at[:-1] * mass) / width
        shares = np.zeros(len(places))
        shares[:-1] += mass - right
        shares[1:] += right
        shares[-1] += self.weight[-1]
        return shares


def fit_log_concave(x: Floats, weight: Floats, *, start: LogConcave | None = None) -> LogConcave:
    """Fit the log-concave density with the greatest likelihood.

    Knots are added where the likelihood grows fastest, and dropped where the density would not be log-concave; between
    the two, Newton's method finds the best values at the knots [@dumbgen2011].

    Parameters
    ----------
    x
        Observations, strictly increasing, two or more.
    weight
        Positive weight of each.
    start
        Fit of similar weights to the same observations, from which the search starts.

    Returns
    -------
    LogConcave
        The distribution.

    Examples
    --------
    >>> fit = fit_log_concave(np.array([1.0, 2.0, 3.0, 7.0]), np.ones(4))
    >>> fit.knots.tolist(), fit.log_density.round(4).tolist()
    ([1.0, 7.0], [-1.1113, -2.6711])
    """
    x, weight = _merge_close(x, weight)
    width = float(x[-1] - x[0])
    sample = _Sample.of((x - x[0]) / width, weight / weight.sum())
    places = np.array([0, len(x) - 1]) if start is None else np.searchsorted(x, start.knots)
    first = np.zeros(len(places)) if start is None else start.log_density
    places, values = _restore_concavity(sample, places, first)
    for _ in range(_MAX_ROUNDS):
        added = _select_knots(*_knot_gains(sample, places, values), places) if len(places) < len(x) else places[:0]
        if not len(added):
            break
        before, grown = places, np.union1d(places, added)
        grown_values = np.interp(sample.x[grown], sample.x[places], values)
        places, values = _restore_concavity(sample, grown, grown_values)
        if np.array_equal(places, before):
            break
    return LogConcave(x[places], values - log(_total(sample.x[places], values)) - log(width))


def _total(knots: Floats, values: Floats) -> float:
    with np.errstate(over="ignore"):
        return float(_Segments.of(np.diff(knots), values[:-1], values[1:]).mass.sum())


def _merge_close(x: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Add up the weights of observations so close that slopes between them would be rounding errors."""
    cells = np.floor((x - x[0]) / ((x[-1] - x[0]) * _CLOSE))
    starts = np.flatnonzero(np.diff(cells, prepend=-1.0))
    if len(starts) == len(x):
        return x, weight
    # The last observation is the end of the support.
    starts = starts if starts[-1] == len(x) - 1 else np.append(starts, len(x) - 1)
    return x[starts], np.add.reduceat(weight, starts)


def _maximize(sample: _Sample, places: Places, values: Floats) -> Floats:
    """Maximize the likelihood over log densities at the knots by Newton's method, concave or not."""
    shares, knots = sample.collapse(places), sample.x[places]
    values = values - log(_total(knots, values))
    parts = _Segments.of(np.diff(knots), values[:-1], values[1:])
    goal = _objective(shares, values, parts)
    for _ in range(_NEWTON_STEPS):
        step, gain = _newton_step(shares, parts)
        size = 1.0
        while True:
            trial = values + size * step
            with np.errstate(over="ignore"):
                parts = _Segments.of(np.diff(knots), trial[:-1], trial[1:])
            reached = _objective(shares, trial, parts)
            if reached >= goal + size * gain / 4 or gain < _NEWTON_TOLERANCE or size < _SMALLEST:
                break
            size /= 2
        values, goal = trial, reached
        # Once the gain is that small, a whole step leaves an error of the order of its square.
        if gain < _NEWTON_TOLERANCE:
            break
    return values


def _newton_step(shares: Floats, parts: _Segments) -> tuple[Floats, float]:
    """Return the step, and twice the gain that it predicts."""
    from scipy.linalg import solveh_banded

    falling, rising = parts.hats()
    slope = shares.copy()
    slope[:-1] -= falling
    slope[1:] -= rising
    left, right, cross = parts.products()
    bands = np.zeros((2, len(shares)))
    bands[0, 1:] = cross
    bands[1, :-1] += left
    bands[1, 1:] += right
    step: Floats = solveh_banded(bands, slope, check_finite=False)
    return step, float(slope @ step)


def _objective(shares: Floats, values: Floats, parts: _Segments) -> float:
    return float(shares @ values) - float(parts.mass.sum())


def _knot_gains(sample: _Sample, places: Places, values: Floats) -> tuple[Places, Floats]:
    """Return the observations between knots, and how fast the likelihood grows with a bend at each.

    The bend is a triangle with its top at the observation and its feet at the knots around it: the gain is its mean
    over the observations, less that under the density.
    """
    free = np.ones(len(sample.x), dtype=bool)
    free[places] = False
    others = np.flatnonzero(free)
    of = np.searchsorted(places, others) - 1
    start, end, x = places[of], places[of + 1], sample.x
    at = x[others]
    left, right = at - x[start], x[end] - at
    part = left / (x[end] - x[start])
    height = (1 - part) * values[of] + part * values[of + 1]
    mass, moment = sample.before, sample.moments
    rise = (moment[others + 1] - moment[start + 1] - x[start] * (mass[others + 1] - mass[start + 1])) / left
    fall = (x[end] * (mass[end] - mass[others + 1]) - (moment[end] - moment[others + 1])) / right
    fitted = _Segments.of(left, values[of], height).hats()[1] + _Segments.of(right, height, values[of + 1]).hats()[0]
    return others, rise + fall - fitted


def _select_knots(others: Places, gain: Floats, places: Places) -> Places:
    """Return the observation with the greatest gain between each pair of knots, if it is positive."""
    starts = np.flatnonzero(np.diff(np.searchsorted(places, others), prepend=-1))
    best = [start + int(np.argmax(part)) for start, part in zip(starts, np.split(gain, starts[1:]), strict=True)]
    return others[[each for each in best if gain[each] > _TOLERANCE]]


def _restore_concavity(sample: _Sample, places: Places, start: Floats) -> tuple[Places, Floats]:
    """Move from a concave start toward the best values; where the path stops being concave, drop that knot."""
    while True:
        best = _maximize(sample, places, start)
        before, after = (_bends(sample.x[places], each) for each in (start, best))
        convex = np.flatnonzero(after > 0)
        if not len(convex):
            return places, best
        steps = np.minimum(before[convex], 0.0) / (np.minimum(before[convex], 0.0) - after[convex])
        size = float(steps.min())
        dropped = convex[steps <= size] + 1
        start = np.delete((1 - size) * start + size * best, dropped)
        places = np.delete(places, dropped)


def _bends(knots: Floats, values: Floats) -> Floats:
    """Return the change of slope at each inner knot, negative where the line is concave."""
    return np.diff(np.diff(values) / np.diff(knots))


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False)
class LogConcave:
    """Distribution whose log density is linear between knots, concave, and −∞ outside."""

    knots: Floats
    log_density: Floats
    """Logarithm of the density at each knot."""

    def logpdf(self, x: Real) -> Floats:
        x = np.asarray(x, dtype=np.float64)
        inside = (x >= self.knots[0]) & (x <= self.knots[-1])
        return np.where(inside, np.interp(x, self.knots, self.log_density), -np.inf)

    def pdf(self, x: Real) -> Floats:
        return np.exp(self.logpdf(x))

    def cdf(self, x: Real) -> Floats:
        parts = self._parts
        place, x = self._locate(x)
        below = np.concatenate([[0.0], np.cumsum(parts.mass)])[place]
        left = _Segments.of(x - self.knots[place], self.log_density[place], np.interp(x, self.knots, self.log_density))
        return np.minimum(below + left.mass, 1.0)

    def sf(self, x: Real) -> Floats:
        place, x = self._locate(x)
        above = np.concatenate([np.cumsum(self._parts.mass[::-1])[::-1], [0.0]])[place + 1]
        right = _Segments.of(
            self.knots[place + 1] - x, np.interp(x, self.knots, self.log_density), self.log_density[place + 1]
        )
        return np.minimum(above + right.mass, 1.0)

    def ppf(self, q: Real) -> Floats:
        return find_quantiles(self, np.asarray(q, dtype=np.float64), upper=False, bounded=True)

    def isf(self, q: Real) -> Floats:
        return find_quantiles(self, np.asarray(q, dtype=np.float64), upper=True, bounded=True)

    def rvs(self, size: int, random_state: np.random.Generator) -> Floats:
        return self.ppf(random_state.random(size))

    @property
    def variance(self) -> float:
        """Variance of the distribution."""
        parts, start = self._parts, self.knots[:-1]
        rising, square = parts.hats()[1] * parts.width, parts.products()[1] * parts.width**2
        middle = float(np.sum(start * parts.mass + rising))
        return float(np.sum((start - middle) ** 2 * parts.mass + 2 * (start - middle) * rising + square))

    @property
    def breaks(self) -> Floats:
        """Points between which the density changes little in ratio, and is analytic."""
        pieces = [self.knots]
        ends = zip(self.knots[:-1], self.knots[1:], np.diff(self.log_density), strict=True)
        for left, right, rise in ends:
            drop = min(abs(rise), _DEEPEST)
            # Below that, the density is 0 beside that of the higher end.
            parts = np.linspace(0.0, drop / max(abs(rise), drop, _SHORT), int(drop / _RATIO) + 2)
            pieces.append(left + parts * (right - left) if rise <= 0 else right - parts * (right - left))
        return np.unique(np.concatenate(pieces))

    @property
    def _parts(self) -> _Segments:
        return _Segments.of(np.diff(self.knots), self.log_density[:-1], self.log_density[1:])

    def _locate(self, x: Real) -> tuple[Places, Floats]:
        """Return the segment of each value, and the value moved into the support."""
        x = np.clip(np.asarray(x, dtype=np.float64), self.knots[0], self.knots[-1])
        return np.clip(np.searchsorted(self.knots, x, side="right") - 1, 0, len(self.knots) - 2), x


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False)
class SmoothedLogConcave:
    """Sum of a log-concave variable and a normal one with mean 0, which is log-concave, too."""

    base: LogConcave
    sd: float
    """Standard deviation of the normal variable."""

    def pdf(self, x: Real) -> Floats:
        density: Floats = np.sum(self._integrate_pieces(self._move_inside(x)), axis=-1)
        return density

    def cdf(self, x: Real) -> Floats:
        from scipy.special import ndtr

        x = self._move_inside(x)
        knots, log_density, slope, level = self._lines()
        tails = ndtr((x - knots) / self.sd)
        steps = np.diff(np.exp(log_density) * tails, axis=-1) / slope
        # The integral by parts, exact but where a line is level: there, that of ndtr.
        by_parts = steps + self._integrate_pieces(x) / slope
        z = (x - knots) / self.sd
        integral = self.sd * (z * tails + np.exp(-z * z / 2) / sqrt(2 * pi))
        flat = -np.diff(integral, axis=-1) * np.exp((log_density[1:] + log_density[:-1]) / 2)
        total: Floats = np.sum(np.where(level, flat, by_parts), axis=-1)
        return np.clip(total, 0.0, 1.0)

    def sf(self, x: Real) -> Floats:
        mirrored = LogConcave(-self.base.knots[::-1], self.base.log_density[::-1])
        return SmoothedLogConcave(mirrored, self.sd).cdf(-np.asarray(x, dtype=np.float64))

    def ppf(self, q: Real) -> Floats:
        return find_quantiles(self, np.asarray(q, dtype=np.float64), upper=False)

    def isf(self, q: Real) -> Floats:
        return find_quantiles(self, np.asarray(q, dtype=np.float64), upper=True)

    def rvs(self, size: int, random_state: np.random.Generator) -> Floats:
        return self.base.rvs(size, random_state) + random_state.normal(0.0, self.sd, size)

    @property
    def breaks(self) -> Floats:
        """Points between which the density is nearly a polynomial."""
        low, high = self.base.knots[0] - _REACH * self.sd, self.base.knots[-1] + _REACH * self.sd
        count = min(int(np.ceil((high - low) / self.sd)), _MAX_BREAKS) + 1
        return np.union1d(np.linspace(low, high, count), self.base.breaks)

    def _move_inside(self, x: Real) -> Floats:
        """Return values as a column, none of them so far out that differences of tails are those of infinities."""
        reach = _FAR * self.sd
        return np.clip(x, self.base.knots[0] - reach, self.base.knots[-1] + reach)[..., np.newaxis]

    def _lines(self) -> tuple[Floats, Floats, Floats, Bools]:
        """Return knots, log densities and slopes, and which lines count as level."""
        knots, log_density = self.base.knots, self.base.log_density
        rise, width = np.diff(log_density), np.diff(knots)
        level = np.abs(rise) < _FLAT
        return knots, log_density, np.where(level, 1.0, rise / width), level

    def _integrate_pieces(self, x: Floats) -> Floats:
        """Integrate every piece against the normal density; an exponential times it is another one, with a factor."""
        from scipy.special import log_ndtr

        knots, log_density = self.base.knots, self.base.log_density
        slope = np.diff(log_density) / np.diff(knots)
        shift = (knots[:-1] - x) / self.sd - slope * self.sd, (knots[1:] - x) / self.sd - slope * self.sd
        # Of two upper tails the difference is that of lower ones with the signs reversed, which does not cancel.
        upper = shift[0] > 0
        far, near = np.where(upper, -shift[1], shift[0]), np.where(upper, -shift[0], shift[1])
        log_near = log_ndtr(near)
        log_mass = log_near + np.log(-np.expm1(np.minimum(log_ndtr(far) - log_near, -_LEAST)))
        densities: Floats = np.exp(log_density[:-1] + slope * (x - knots[:-1]) + (slope * self.sd) ** 2 / 2 + log_mass)
        return densities
