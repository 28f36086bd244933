"""Logistic regression on one variable, of sums at each of its values: unpenalised, by Newton's method."""

from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats

_STEPS = 200
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
    inverse of Fisher's information H; with sums of squared weights q, that of weighted rows, :math:`H^{-1}QH^{-1}`.
    Where no finite maximum exists, the result is as far as Newton's method went; the caller must know when. It starts
    from a constant, or from an intercept and slope that are known to be near.
    """
    middle, scale = _standard(x)
    z = (x - middle) / scale
    a, b = _climbed(z, hits, misses, None if start is None else (start[0] + start[1] * middle, start[1] * scale))
    chance = _chance(a, b, z)
    inverse = _inverse(_information(z, (hits + misses) * chance * (1 - chance)))
    if squares is not None:
        inverse = inverse @ _information(z, squares * chance * (1 - chance)) @ inverse
    back = np.array([[1.0, -middle / scale], [0.0, 1 / scale]])
    return Line(a - b * middle / scale, b / scale, back @ inverse @ back.T)


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
            chance = expit(offset + a[..., None])
            gap = hits.sum(axis=-1) - (total * chance).sum(axis=-1)
            low, high = np.where(gap >= 0, a, low), np.where(gap <= 0, a, high)
            new = a + gap / (total * chance * (1 - chance)).sum(axis=-1)
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


def _standard(x: Floats) -> tuple[float, float]:
    """Middle and half the range of x: in these units it lies in [−1, 1]."""
    if not len(x):
        return 0.0, 1.0
    low, high = float(x.min()), float(x.max())
    return (low + high) / 2, (high - low) / 2 or 1.0


def _climbed(z: Floats, hits: Floats, misses: Floats, start: tuple[float, float] | None) -> tuple[Floats, Floats]:
    """Coefficients where the slope of the likelihood is 0."""
    total = hits + misses
    if start is None:
        odds = np.log(hits.sum(axis=-1) / misses.sum(axis=-1))
        here = np.stack([odds, np.zeros_like(odds)], axis=-1)
    else:
        here = np.broadcast_to(np.array(start), (*hits.shape[:-1], 2))
    step, uphill = _newton(z, hits, total, here)
    for _ in range(_STEPS):
        size = np.ones(hits.shape[:-1])
        for _ in range(_STEPS):
            new = here + size[..., None] * step
            next_step, slope = _newton(z, hits, total, new)
            # Concave along the step: where it would fall more steeply than it rose, it went too far.
            behind = (slope * step).sum(axis=-1) < -0.5 * (uphill * step).sum(axis=-1)
            if not behind.any():
                break
            size = np.where(behind, size / 2, size)
        moved = np.abs(step).max(axis=-1) > _CLOSE * np.maximum(np.abs(here).max(axis=-1), 1.0)
        here, step, uphill = new, next_step, slope
        if not moved.any():
            break
    return here[..., 0], here[..., 1]


def _newton(z: Floats, hits: Floats, total: Floats, here: Floats) -> tuple[Floats, Floats]:
    """Newton's step, and the slope of the likelihood."""
    chance = _chance(here[..., 0], here[..., 1], z)
    expected = total * chance
    gap = hits - expected
    slope = np.stack([gap.sum(axis=-1), gap @ z], axis=-1)
    np.multiply(expected, np.subtract(1, chance, out=chance), out=expected)
    with np.errstate(invalid="ignore", over="ignore"):
        step = (_inverse(_information(z, expected)) @ slope[..., None])[..., 0]
    # Where all is certain there is no curvature to go by.
    return np.where(np.isfinite(step), step, 0.0), slope


def _chance(a: Floats, b: Floats, z: Floats) -> Floats:
    from scipy.special import expit

    found: Floats = expit(a[..., None] + b[..., None] * z)
    return found


def _information(z: Floats, weight: Floats) -> Floats:
    """Moments 0, 1 and 2 of z with these weights, as matrices."""
    moments = [weight.sum(axis=-1), weight @ z, weight @ z**2]
    return np.stack([np.stack(moments[:2], axis=-1), np.stack(moments[1:], axis=-1)], axis=-2)


def _inverse(matrix: Floats) -> Floats:
    """Inverses of symmetric matrices of two rows; not finite where there is none."""
    p, q, r = matrix[..., 0, 0], matrix[..., 0, 1], matrix[..., 1, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 1 / (p * r - q * q)
        return np.stack([np.stack([r, -q], axis=-1), np.stack([-q, p], axis=-1)], axis=-2) * scale[..., None, None]
