"""Logistic regression on one variable, or on a few functions of it, of sums at each value: by Newton's method."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from baserate._arrays import Bools, Floats
from baserate._numeric import newton

NEAREST = 1e-12
"""Shares nearer to 0 or 1 are moved there before their log-odds are taken."""
_STEPS = 200
_BLOCK = 1 << 14
"""Places that fit the cache."""
_FAR = 1e3
"""Weights from which a fit of what is pooled has gone astray."""
_POOLED = 1 << 12
"""Neighbours are pooled to so many places first, so that few steps are left for all of them."""
_CLOSE = 1e-7
"""Relative size of a step of Newton's method after which only rounding is left: the error squares from step to step."""


class Line(NamedTuple):
    """Log-odds a + b·x, and how sure they are; arrays where there were many regressions."""

    intercept: Floats
    slope: Floats
    covariance: Floats
    """Of intercept and slope, of shape (…, 2, 2)."""


def line(
    x: Floats,
    hits: Floats,
    misses: Floats,
    *,
    squares: Floats | None = None,
    start: tuple[float, float] | None = None,
) -> Line:
    r"""Maximum of :math:`\sum h\lnσ(a+bx)+m\ln(1-σ(a+bx))` over a and b.

    Hits h and misses m are sums at each x, of shape (m,), or (…, m) for many regressions at once. The covariance is the
    inverse of Fisher's information H; with sums of squared weights q, that of weighted rows, :math:`H^{-1}QH^{-1}`. Of
    many regressions, whose spread is seen, it is left out.
    Where no finite maximum exists, the result is as far as Newton's method went; the caller must know when. It starts
    from a constant, or from an intercept and slope that are known to be near.
    """
    middle, scale = _standard(x)
    z = (x - middle) / scale
    if start is not None:
        start = start[0] + start[1] * middle, start[1] * scale
    elif hits.ndim == 1 and len(z) > 4 * _POOLED:
        start = _near(z, hits, misses)
    a, b, information = _climbed_line(z, hits, misses, start)
    if hits.ndim > 1:
        return Line(a - b * middle / scale, b / scale, np.full((*a.shape, 2, 2), np.nan))
    # Of many places, what the last step changes is far behind the last digit that matters, and costs a third more.
    inverse = _inverse(information if len(z) > _BLOCK else _information(z, hits + misses, a, b))
    if squares is not None:
        inverse = inverse @ _information(z, squares, a, b) @ inverse
    back = np.array([[1.0, -middle / scale], [0.0, 1 / scale]])
    return Line(a - b * middle / scale, b / scale, back @ inverse @ back.T)


class Plane(NamedTuple):
    """Log-odds Σ bᵢ·fᵢ, and how sure they are."""

    weights: Floats
    covariance: Floats
    held: Bools
    """Which weights are held at 0, below which they would fall."""
    settled: bool
    """Whether there is a maximum; otherwise this is how far Newton's method went."""


def plane(columns: Floats, hits: Floats, misses: Floats, *, squares: Floats | None = None, bounded: int = 0) -> Plane:
    r"""Maximum of the same over weights of functions fᵢ of x, one in each row of `columns`.

    The first weights, as many as are `bounded`, never fall below 0.
    """
    start = np.zeros(len(columns))
    if columns.shape[1] > 4 * _POOLED:
        *means, hit, miss = _pooled([*columns], hits, misses)
        near = plane(np.stack(means), hit, miss, bounded=bounded)
        start = near.weights if near.settled else start
    peak = newton.climbed(partial(_of_plane, columns, hits, hits + misses), start, bounded=bounded)
    covariance = peak.covariance
    if squares is not None:
        _, noise = _of_plane(columns, np.zeros(len(squares)), squares, peak.theta)
        covariance = covariance @ noise @ covariance
    return Plane(peak.theta, covariance, peak.held, peak.settled)


def shift(offset: Floats, hits: Floats, misses: Floats, *, squares: Floats | None = None) -> tuple[Floats, Floats]:
    r"""Maximum over a of the same with log-odds :math:`offset+a`, and its variance; ±∞ where all hit or all miss."""
    from scipy.special import expit, logit

    total = hits + misses
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = logit(hits.sum(axis=-1) / total.sum(axis=-1))
        # Expected hits grow with a, and at these ends they are too few and too many: one further, so that Newton's
        # steps may come from both sides.
        low, high = mean - offset.max(initial=-np.inf) - 1, mean - offset.min(initial=np.inf) + 1
        a = np.where(np.isfinite(mean), (low + high) / 2, mean)
        for _ in range(_STEPS):
            share = expit(offset + a[..., None])
            gap = hits.sum(axis=-1) - (total * share).sum(axis=-1)
            low, high = np.where(gap >= 0, a, low), np.where(gap <= 0, a, high)
            new = a + gap / (total * share * (1 - share)).sum(axis=-1)
            new = np.where((new >= low) & (new <= high), new, (low + high) / 2)
            moved = np.abs(new - a) > _CLOSE * np.maximum(np.abs(a), 1.0)
            a = np.where(np.isfinite(mean), new, a)
            if not moved.any():
                break
        weight = expit(offset + a[..., None])
        weight = weight * (1 - weight)
        information = (total * weight).sum(axis=-1)
        noise = information if squares is None else (squares * weight).sum(axis=-1)
        return a, noise / information**2


def log_odds(share: Floats) -> Floats:
    """Log-odds of shares, those of 0 and 1 as of the `NEAREST` to them."""
    within = np.clip(share, NEAREST, 1 - NEAREST)
    found: Floats = within / (1 - within)  # of odds: half the time of SciPy's logit, as near in absolute terms
    return np.log(found, out=found)


def _standard(x: Floats) -> tuple[float, float]:
    """Middle and half the range of x: in these units it lies in [−1, 1]."""
    if not len(x):
        return 0.0, 1.0
    low, high = float(x.min()), float(x.max())
    return (low + high) / 2, (high - low) / 2 or 1.0


def _climbed_line(
    z: Floats, hits: Floats, misses: Floats, start: tuple[float, float] | None
) -> tuple[Floats, Floats, Floats]:
    """Intercept and slope where the likelihood is highest, and the information there."""
    total = hits + misses
    if start is None:
        odds = np.log(hits.sum(axis=-1) / misses.sum(axis=-1))
        here = np.stack([odds, np.zeros_like(odds)], axis=-1)
    else:
        here = np.broadcast_to(np.array(start), (*hits.shape[:-1], 2))
    found, information = _climbed(partial(_newton_line, z, hits, total), here)
    return found[..., 0], found[..., 1], information


def _near(z: Floats, hits: Floats, misses: Floats) -> tuple[float, float] | None:
    """Where a fit of pooled neighbours ends."""
    mean, hit, miss = _pooled([z], hits, misses)
    a, b, _ = _climbed_line(mean, hit, miss, None)
    return (float(a), float(b)) if _usable(np.array([a, b])) else None


def _usable(start: Floats) -> bool:
    """Whether it is a place to start from: what is pooled may be parted where the rest is not."""
    return bool((np.abs(start) < _FAR).all())


def _pooled(columns: list[Floats], hits: Floats, misses: Floats) -> tuple[Floats, ...]:
    """Columns in the middle of neighbours, which is near their mean, and sums of their hits and misses."""
    size = -(-len(hits) // _POOLED)
    starts = np.arange(0, len(hits), size)
    middle = np.minimum(starts + size // 2, len(hits) - 1)
    hit, miss = (np.add.reduceat(each, starts) for each in (hits, misses))
    there = hit + miss > 0
    return (*(column[middle[there]] for column in columns), hit[there], miss[there])


Newton = Callable[[Floats], tuple[Floats, Floats, Floats]]
"""Newton's step from somewhere, the slope of the likelihood there, and the information."""


def _climbed(moments: Newton, here: Floats) -> tuple[Floats, Floats]:
    """Coefficients where the slope of the likelihood is 0, and the information, one last step before."""
    step, uphill, information = moments(here)
    for _ in range(_STEPS):
        moved = np.abs(step).max(axis=-1) > _CLOSE * np.maximum(np.abs(here).max(axis=-1), 1.0)
        if not moved.any():
            break
        size = np.ones(here.shape[:-1])
        for _ in range(_STEPS):
            new = here + size[..., None] * step
            next_step, slope, information = moments(new)
            # Concave along the step: where it would fall more steeply than it rose, it went too far.
            behind = (slope * step).sum(axis=-1) < -0.5 * (uphill * step).sum(axis=-1)
            if not behind.any():
                break
            size = np.where(behind, size / 2, size)
        here, step, uphill = new, next_step, slope
    return here + step, information


def _of_plane(columns: Floats, hits: Floats, total: Floats, here: Floats) -> tuple[Floats, Floats]:
    """Slope of the likelihood, and information."""

    def sums(place: slice) -> tuple[Floats, Floats]:
        block = columns[:, place]
        share = np.einsum("im,i->m", block, -here)
        with np.errstate(over="ignore"):
            np.exp(share, out=share)
        share += 1
        np.reciprocal(share, out=share)
        expected = total[place] * share
        slope = np.einsum("im,m->i", block, hits[place] - expected)
        np.multiply(expected, np.subtract(1, share, out=share), out=expected)
        return slope, np.einsum("im,jm->ij", block * expected, block)

    parts = [sums(place) for place in _blocks(len(hits))]
    slope, information = (np.sum([part[at] for part in parts], axis=0) for at in range(2))
    return slope, information


def _blocks(size: int) -> list[slice]:
    return [slice(start, start + _BLOCK) for start in range(0, size, _BLOCK)]


def _newton_line(z: Floats, hits: Floats, total: Floats, here: Floats) -> tuple[Floats, Floats, Floats]:
    parts = [_sums(z[place], hits[..., place], total[..., place], here) for place in _blocks(len(z))]
    sums = np.sum(parts, axis=0) if parts else np.zeros((5, *hits.shape[:-1]))
    slope = np.stack([sums[0], sums[1]], axis=-1)
    information = _matrix(sums[2:])
    with np.errstate(invalid="ignore", over="ignore"):
        step = (_inverse(information) @ slope[..., None])[..., 0]
    # Where all is certain there is no curvature to go by.
    return np.where(np.isfinite(step), step, 0.0), slope, information


def _sums(z: Floats, hits: Floats, total: Floats, here: Floats) -> Floats:
    """Moments 0 and 1 of the gaps, and 0 to 2 of the curvature."""
    share = chance(here[..., 0], here[..., 1], z)
    expected = total * share
    gap = hits - expected
    np.multiply(expected, np.subtract(1, share, out=share), out=expected)
    return np.stack([*_moments(z, gap, 1), *_moments(z, expected, 2)])


def _moments(z: Floats, weight: Floats, most: int) -> list[Floats]:
    """Sums of weights times powers of z; not by BLAS, whose threads wait for each other on a busy machine."""
    found = [weight.sum(axis=-1)]
    power = z
    for _ in range(most):
        found.append(np.einsum("...m,m->...", weight, power))
        power = power * z
    return found


def chance(a: Floats, b: Floats, z: Floats) -> Floats:
    """Share with log-odds a + b·z; in place, and not by SciPy, which takes three times as long."""
    found: Floats = -b[..., None] * z
    found -= a[..., None]
    with np.errstate(over="ignore"):
        np.exp(found, out=found)
    found += 1
    return np.reciprocal(found, out=found)


def _information(z: Floats, mass: Floats, a: Floats, b: Floats) -> Floats:
    """Information on intercept and slope of so much mass."""

    def sums(place: slice) -> Floats:
        share = chance(a, b, z[place])
        return np.stack(_moments(z[place], mass[place] * share * (1 - share), 2))

    parts = [sums(place) for place in _blocks(len(z))]
    return _matrix(np.sum(parts, axis=0) if parts else np.zeros(3))


def _matrix(moments: Floats) -> Floats:
    """Moments 0 to 2 as matrices."""
    return np.stack([np.stack([*moments[:2]], axis=-1), np.stack([*moments[1:]], axis=-1)], axis=-2)


def _inverse(matrix: Floats) -> Floats:
    """Inverses of symmetric matrices of two rows; not finite where there is none."""
    p, q, r = matrix[..., 0, 0], matrix[..., 0, 1], matrix[..., 1, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 1 / (p * r - q * q)
        return np.stack([np.stack([r, -q], axis=-1), np.stack([-q, p], axis=-1)], axis=-2) * scale[..., None, None]
