"""Smoothers: lowess (local linear regression with tricube weights), and Gaussian smoothing on [0, 1].

On either side of its center a tricube is a polynomial. So lowess replaces a block of points by masses at fixed nodes
with the same moments. Blocks of 1, 2, 4, … leaves are built once, and a neighborhood consists of few of them plus the
points in the leaves that its ends or its center cut. Cumulative sums of powers would be simpler, but lose all digits
where a neighborhood is much narrower than the range of x.
"""

from collections.abc import Iterator
from math import ceil, log, pi, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.polynomial.chebyshev import chebvander

from baserate._arrays import Floats, block_slices

Places = npt.NDArray[np.intp]

_SLACK = 1e-12
"""Relative shortfall of mass that counts as rounding."""
_FLAT = 1e-12
"""Least local variance of x: if x varies by less than a millionth, the fit is constant, as in statsmodels."""
_LEAF = 32
"""Points in the smallest block: fewer make more blocks, more make more work at the ends of a neighborhood."""
_CHUNK = 1 << 10
"""Fits made at once: what they need stays in the cache."""
_NODES = np.cos(np.pi * (np.arange(12) + 0.5) / 12)
"""A tricube has degree 9, times x² degree 11: 12 Chebyshev nodes represent it exactly."""
_BASIS = chebvander(_NODES, 11).T * np.array([1 / 12] + 11 * [1 / 6])[:, None]
"""Matrix from Chebyshev polynomials to those that are 1 at one node and 0 at the others."""


def lowess(x: Floats, mass: Floats, y: Floats, *, frac: float = 0.5, delta: float = 0.0) -> Floats:
    """Fit y at each x by a line through the nearest points with tricube weights [@cleveland1979].

    `x` increases strictly, `mass` > 0 is the weight at each x, and `y`, of shape (..., m), the mean there. The
    neighborhood of an x is the smallest that contains the share 0 < `frac` ≤ 1 of all mass, not of whole rows, so that
    the fit does not change when all mass is doubled. A neighborhood without another x gives y itself.

    With `delta`, lines are fitted at the last x within delta of the one before, and at the last two x; in between, the
    fit is interpolated. There are no iterations for robustness.

    >>> x, mass = np.array([0.0, 0.1, 0.3, 0.6, 1.0]), np.array([1.0, 2.0, 1.0, 1.0, 1.0])
    >>> lowess(x, mass, 2 - x, frac=0.8)
    array([2. , 1.9, 1.7, 1.4, 1. ])
    """
    at = _anchors(x, delta)
    return _interpolate(x, at, lowess_at(x, mass, y.reshape(-1, len(x)), at, frac=frac)).reshape(y.shape)


def lowess_at(x: Floats, mass: Floats, rows: Floats, at: Places, *, frac: float) -> Floats:
    """Fit rows of y, as `lowess` does, at some places of x alone.

    >>> x = np.array([0.0, 0.1, 0.3, 0.6, 1.0])
    >>> lowess_at(x, np.ones(5), 2 - x[None], np.array([1, 3]), frac=0.8)
    array([[1.9, 1.4]])
    """
    radius = _radii(x, mass, at, frac)
    # The matrix of all weights serves any number of y, and few points need no blocks; both costs in numbers of weights.
    if len(at) * len(x) <= len(rows) * ((1 << 17) + 16 * len(x) + 256 * len(at)):
        return np.concatenate([rows @ part.T for part in _smoothers(x, mass, at, radius)], axis=1)
    return np.stack([_fit_by_blocks(x, mass, row, at, radius) for row in rows])


def _anchors(x: Floats, delta: float) -> Places:
    """Return the places of the x at which lines are fitted."""
    places = np.arange(len(x))
    if delta <= 0:
        return places
    last = np.searchsorted(x, x + delta, side="right") - 1
    following = np.maximum(np.minimum(last, len(x) - 2), places + 1).tolist()
    anchors = [0]
    while anchors[-1] < len(x) - 1:
        anchors.append(following[anchors[-1]])
    return np.array(anchors)


def _radii(x: Floats, mass: Floats, at: Places, frac: float) -> Floats:
    """Return the radius, above 0, of the smallest neighborhood that holds enough mass.

    Of an interval that begins at a point and holds just enough, the middle moves right with its beginning. So the
    neighborhood of an x ends where the first interval whose middle is not left of x ends, or begins where the one
    before begins.
    """
    below = np.concatenate([[0.0], np.cumsum(mass)])
    # A little less than the share: running sums round at each step, and must not miss an exact share of the mass.
    enough = frac * below[-1] * (1 - _SLACK - len(x) * np.finfo(float).eps)
    ends = np.append(x, np.inf)[np.searchsorted(below, below[:-1] + enough) - 1]
    first = np.searchsorted(x + ends, 2 * x[at])
    radius = np.minimum(ends[first] - x[at], x[at] - np.append(x, -np.inf)[first - 1])
    # Any radius short of the next x gives all weight to this one.
    positive: Floats = np.maximum(radius, np.finfo(float).smallest_subnormal)
    return positive


def _tricube(u: Floats) -> Floats:
    """Return the weights (1 - |u|³)³ of distances in radii, at most 1."""
    weight = np.abs(u)
    weight *= weight * weight
    np.subtract(1.0, weight, out=weight)
    weight *= weight * weight
    return weight


def _smoothers(x: Floats, mass: Floats, at: Places, radius: Floats) -> Iterator[Floats]:
    """Yield the weight of each y in the fits at some anchors, in chunks."""
    for chunk in block_slices(len(at), max(1, (1 << 20) // len(x))):
        h = radius[chunk, None]
        u = np.clip(x - x[at[chunk], None], -h, h) / h
        weight = _tricube(u) * mass
        weight /= weight.sum(axis=1, keepdims=True)
        center = np.vecdot(weight, u)[:, None]
        u -= center
        slope = h**2 / np.maximum(h**2 * np.vecdot(weight, u**2)[:, None], _FLAT)
        yield weight * (1 - center * slope * u)


class _Blocks(NamedTuple):
    """Blocks of neighboring points, each as points at few places that have the same moments 0 to 11."""

    middle: Floats
    half: Floats
    sums: Floats  # blocks × (mass, mass times y) × nodes
    starts: list[int]  # the first block of 1, 2, 4, … leaves


def _fit_by_blocks(x: Floats, mass: Floats, y: Floats, at: Places, radius: Floats) -> Floats:
    """Fit at the anchors, each from the blocks on one side of it within the radius, and single points."""
    count = len(x) // _LEAF + 1
    padding = count * _LEAF - len(x)
    leaves = np.pad(x, (0, padding), mode="edge").reshape(count, _LEAF)
    sums = np.pad([mass, mass * y], ((0, 0), (0, padding))).reshape(2, count, _LEAF).swapaxes(0, 1)
    blocks = _build_blocks(leaves[:-1], sums[:-1])
    fits = np.empty(len(at))
    for chunk in block_slices(len(at), _CHUNK):
        h, center = radius[chunk], x[at[chunk]]
        first = np.searchsorted(x, center - h, side="right") // _LEAF
        own = at[chunk] // _LEAF
        last = np.searchsorted(x, center + h) // _LEAF
        owner, block = _cover_ranges(np.concatenate([first, own]) + 1, np.concatenate([own, last]), blocks.starts)
        owner %= len(h)  # ranges on the left of all centers come first, then those on the right
        far = (blocks.middle[block] - center[owner])[:, None] + blocks.half[block][:, None] * _NODES
        ends, leaf = _cut_leaves(first, own, last)
        near = leaves[leaf] - center[ends][:, None]
        fits[chunk] = _fit_lines([(owner, far, blocks.sums[block]), (ends, near, sums[leaf])], h)
    return fits


def _build_blocks(x: Floats, sums: Floats) -> _Blocks:
    """Build blocks of 1, 2, 4, … leaves; x in leaves × points, sums in leaves × (mass, mass times y) × points."""
    sizes = [len(x) >> level for level in range(len(x).bit_length())]
    starts = [0, *np.cumsum(sizes).tolist()]
    firsts = np.concatenate([x[:: 1 << level, 0][:size] for level, size in enumerate(sizes)])
    lasts = np.concatenate([x[(1 << level) - 1 :: 1 << level, -1] for level in range(len(sizes))])
    middle, half = (firsts + lasts) / 2, (lasts - firsts) / 2
    block_sums = np.empty((starts[-1], 2, len(_NODES)))
    for start in range(0, len(x), _CHUNK):
        # Cut at the last leaf: `block_sums` continues with larger blocks.
        part = slice(start, min(start + _CHUNK, len(x)))
        block_sums[part] = _move_moments(x[part] - middle[part, None], half[part], sums[part])
    for start, following, size in zip(starts, starts[1:], sizes[1:], strict=False):
        child, parent = slice(start, start + 2 * size), slice(following, following + size)
        away = middle[child] - np.repeat(middle[parent], 2)
        places = away[:, None] + half[child, None] * _NODES
        block_sums[parent] = (
            _move_moments(places, np.repeat(half[parent], 2), block_sums[child]).reshape(size, 2, 2, -1).sum(axis=1)
        )
    return _Blocks(middle, half, block_sums, starts)


def _move_moments(places: Floats, half: Floats, sums: Floats) -> Floats:
    """Move sums at places to the nodes of blocks, with equal moments about the middle of the block."""
    node_sums: Floats = sums @ chebvander(places / half[:, None], len(_NODES) - 1) @ _BASIS
    return node_sums


def _cover_ranges(begin: Places, end: Places, starts: list[int]) -> tuple[Places, Places]:
    """Find the largest blocks that make up each range of leaves: return the range and the block."""
    owners, blocks = [], []
    for start in starts[:-1]:
        left = np.flatnonzero((begin < end) & (begin & 1 == 1))
        owners.append(left)
        blocks.append(start + begin[left])
        begin = (begin + 1) >> 1
        right = np.flatnonzero((begin << 1 < end) & (end & 1 == 1))
        owners.append(right)
        blocks.append(start + end[right] - 1)
        end = end >> 1
    return np.concatenate(owners), np.concatenate(blocks)


def _cut_leaves(first: Places, own: Places, last: Places) -> tuple[Places, Places]:
    """Find leaves cut by an end or the center of a neighborhood, each once: return the neighborhood and the leaf."""
    every = np.arange(len(own))
    left, right = np.flatnonzero(first != own), np.flatnonzero(last != own)
    return np.concatenate([every, left, right]), np.concatenate([own, first[left], last[right]])


def _fit_lines(parts: list[tuple[Places, Floats, Floats]], h: Floats) -> Floats:
    """Fit at the center of each neighborhood; a part has owners, distances to their centers, and sums there."""
    weighted_parts = []
    total = np.zeros((3, len(h)))
    for owner, away, sums in parts:
        reach = h[owner, None]
        u = np.clip(away, -reach, reach) / reach
        weighted = _tricube(u)[:, None] * sums
        weighted_parts.append((owner, u, weighted))
        total += _sum_by_owner(owner, [*(weighted @ np.ones(u.shape[1])).T, np.vecdot(weighted[:, 0], u)], len(h))
    weight, level, mean = total[0], total[1] / total[0], total[2] / total[0]
    spread = np.zeros((2, len(h)))
    # Around the mean, in a second pass: a difference of raw moments cancels where the variance is small.
    for owner, u, weighted in weighted_parts:
        v = u - mean[owner, None]
        spread += _sum_by_owner(owner, [np.vecdot(weighted[:, 0], v * v), np.vecdot(weighted[:, 1], v)], len(h))
    variance, covariance = h**2 * spread / weight
    fits: Floats = level - mean * covariance / np.maximum(variance, _FLAT)
    return fits


def _sum_by_owner(owner: Places, values: list[Floats], count: int) -> Floats:
    """Sum each row of values by owner."""
    return np.stack([np.bincount(owner, value, count) for value in values])


def _interpolate(x: Floats, at: Places, fits: Floats) -> Floats:
    """Interpolate fits linearly between the anchors."""
    if len(at) == len(x):
        return fits
    left = np.append(np.repeat(np.arange(len(at) - 1), np.diff(at)), len(at) - 2)
    share = (x - x[at[left]]) / (x[at[left + 1]] - x[at[left]])
    joined: Floats = fits[:, left] * (1 - share) + fits[:, left + 1] * share
    return joined


_CELLS = 1 << 13
"""Steps of the grid."""
_TINY = 1e-16
"""Factor of a wave that is left out."""
_MAX_WIDTH = 10.0
"""Width beyond which a Gaussian is flat on [0, 1] to rounding."""
_FINE = 8
"""Steps to half a turn of the fastest wave that is left."""


class GaussianSmoother:
    """Point masses on [0, 1], smoothed by a Gaussian of any width that is reflected at 0 and 1.

    A reflected Gaussian multiplies the k-th cosine by :math:`e^{-(πkσ)^2/2}`. The cosine sums of the masses are those
    of a grid over which every mass is spread by a cubic B-spline, divided by the spline's own.
    """

    def __init__(self, place: Floats, mass: Floats) -> None:
        from scipy.fft import dct

        # Twice the sums of cosines; the highest quarter is never used: its waves are aliases of faster ones.
        waves = dct(_spread_on_grid(place, mass), type=1)[: _CELLS // 4]
        turn = np.arange(len(waves)) / (2 * _CELLS)
        self._cosines: Floats = waves / 2 / np.sinc(turn) ** 4

    def absolute(self, width: float) -> float:
        """Integrate the absolute value of the smoothed masses, for a Gaussian of this standard deviation."""
        from scipy.fft import dct

        width = min(width, _MAX_WIDTH)
        n_waves = min(len(self._cosines), ceil(sqrt(-2 * log(_TINY)) / (pi * width)) + 1)
        # Steps fine enough to resolve the fastest wave where the sign changes; transforms of a power of 2 are fast.
        waves = np.zeros(min(_CELLS, 1 << (_FINE * n_waves).bit_length()) + 1)
        waves[:n_waves] = self._cosines[:n_waves] * np.exp(-((pi * width * np.arange(n_waves)) ** 2) / 2)
        return _integrate_absolute(dct(waves, type=1))


def _spread_on_grid(place: Floats, mass: Floats) -> Floats:
    """Spread masses on the grid, folded back at its ends; ends are doubled, since the transform counts them half."""
    at = place * _CELLS
    first = np.floor(at)
    over = at - first
    left = 1 - over
    pieces = (left**3, 4 - 6 * over**2 + 3 * over**3, 4 - 6 * left**2 + 3 * left**3, over**3)
    grid = np.zeros(_CELLS + 1)
    for step, piece in enumerate(pieces, start=-1):
        index = np.abs(first.astype(np.intp) + step)
        index = np.where(index > _CELLS, 2 * _CELLS - index, index)
        grid += np.bincount(index, mass * piece / 6, minlength=_CELLS + 1)
    grid[[0, -1]] *= 2
    return grid


def _integrate_absolute(density: Floats) -> float:
    """Integrate the absolute value by trapezoids, and by triangles with Euler's correction where the sign changes."""
    size = np.abs(density)
    whole = size.sum() - (size[0] + size[-1]) / 2
    cross = density[:-1] * density[1:] < 0
    a, b = size[:-1][cross], size[1:][cross]
    return float(whole + np.sum((a + b) / 6 - a * b / (a + b))) / (len(density) - 1)


_SPANS = np.arange(1, 20) / 20
"""Shares of all points that a neighborhood may hold."""
_SPAN_POINTS = 200
"""Points on which a span is chosen; beyond it, points of equally spaced ranks."""


def choose_span(x: Floats, y: Floats) -> float:
    r"""Choose the share of points in a neighborhood by the corrected Akaike criterion [@hurvich1998].

    With the trace h of the smoother, it is :math:`\log(RSS/n) + 2(h+1)/(n-h-2)`. Of spans that leave no degrees of
    freedom, or of equally good ones, the widest is chosen.

    >>> x = np.linspace(0, 1, 60)
    >>> choose_span(x, np.sin(9 * x)) < choose_span(x, np.where(np.arange(60) % 2, 1.0, -1.0))
    True
    """
    if len(x) > _SPAN_POINTS:
        picked = np.linspace(0, len(x) - 1, _SPAN_POINTS).round().astype(np.intp)
        x, y = x[picked], y[picked]
    mass, at = np.ones(len(x)), np.arange(len(x))
    best, chosen = np.inf, float(_SPANS[-1])
    for span in _SPANS[::-1].tolist():
        matrix = np.concatenate([*_smoothers(x, mass, at, _radii(x, mass, at, span))])
        free = len(x) - float(np.trace(matrix)) - 2
        residual = float(np.sum((y - matrix @ y) ** 2))
        if free > 0 and residual > 0:
            criterion = log(residual) + 2 * (len(x) - 1 - free) / free
            if criterion < best:
                best, chosen = criterion, span
    return chosen
