"""Softmax of weighted logarithms and biases, fitted to rows: unpenalised, by Newton's method."""

from typing import NamedTuple

import numpy as np

from baserate._arrays import Bools, Floats
from baserate._numeric.codes import Codes

_STEPS = 200
_BLOCK = 1 << 17
"""Numbers that fit the cache with what is computed of them."""
_CLOSE = 1e-7
"""Relative size of a step of Newton's method after which only rounding is left: the error squares from step to step."""
_LEVEL = 1e-13
"""Slope of the likelihood of a row, on average, that is rounding."""
_FAR = 64.0
"""How far one step may lead: on flat ground Newton's method knows only the direction."""
_LEAST = 1e-200
"""Information that can still be divided by."""
_BARELY = 1e-15
"""Least share of information that rounding leaves."""
_FLAT = 1e-12
"""Share of the information at the start below which nothing holds a direction: there is no finite maximum."""


class Rows(NamedTuple):
    """What is fitted to: x of every class, which class came true, how much each row counts."""

    x: Floats
    truth: Codes
    amount: Floats | None = None
    squares: Floats | None = None
    """Squared weights, if the rows are weighted."""


class Model(NamedTuple):
    """Weights and biases as (w, b) = base + space·θ; the first of θ, as many as `bounded`, never fall below 0."""

    base: Floats
    space: Floats
    start: Floats
    bounded: int = 0
    coercive: bool = False
    """Whether a maximum is known to exist."""


class Found(NamedTuple):
    """Where the likelihood is greatest."""

    parameters: Floats
    """All weights, then all biases."""
    covariance: Floats
    theta: Floats
    held: Bools
    """Which of θ stand at their bound of 0."""
    settled: bool
    """Whether there is such a place; otherwise this is how far Newton's method went."""


def climbed(rows: Rows, model: Model) -> Found:
    r"""Maximum of :math:`\sum_i a_i\ln\mathrm{softmax}(w∘x_i+b)_{y_i}` over θ.

    The covariance is the inverse of Fisher's information H; with squared weights, that of weighted rows,
    :math:`H^{-1}QH^{-1}`. Parameters at their bound, and what was given in `base`, do not vary.
    """
    here = model.start.copy()
    slope, curve = _moments(rows, model, here)
    first, settled = curve, False
    for _ in range(_STEPS):
        if not (model.coercive or _holds(curve, first, ~_held(here, slope, model))):
            break
        step = _step(here, slope, curve, model)
        settled = _small(step, _CLOSE * max(np.abs(here).max(initial=0.0), 1.0))
        if settled:
            here = _bounded(here + step, model)
        # Where a maximum is known to be, all that rounding leaves of a slope may still be long steps on flat ground.
        if settled := settled or (model.coercive and _small(slope, _LEVEL * _total(rows))):
            break
        here, slope, curve = _moved(rows, model, here, step, slope)
    return _found(rows, model, here, settled=settled)


def information(rows: Rows, model: Model, at: Floats, *, squared: bool = False) -> Floats:
    """Fisher's information about θ; or with squared amounts, the variance of the slope."""
    return _moments(rows._replace(amount=rows.squares) if squared else rows, model, at)[1]


def slope_at(rows: Rows, model: Model, at: Floats) -> Floats:
    """How steeply the likelihood rises with each of θ."""
    return _moments(rows, model, at)[0]


def determined(curve: Floats, *, least: float = 1e-11) -> bool:
    """Whether a matrix of information has full rank, whatever the units of its rows."""
    if not (np.diag(curve) > 0).all():
        return False
    scale = np.sqrt(np.diag(curve))
    return bool(np.linalg.eigvalsh(curve / np.outer(scale, scale))[0] > least)


def _moved(rows: Rows, model: Model, here: Floats, step: Floats, slope: Floats) -> tuple[Floats, Floats, Floats]:
    """Go a step, less far where it would leave the bounds, or where the way falls more steeply than it rose."""
    size = _reach(here, step, model)
    new = here
    for _ in range(_STEPS):
        new = _bounded(here + size * step, model)
        next_slope, curve = _moments(rows, model, new)
        if next_slope @ step >= -0.5 * (slope @ step):
            break
        size /= 2
    return new, next_slope, curve


def _reach(here: Floats, step: Floats, model: Model) -> float:
    """How much of a step can be gone before the first parameter reaches its bound."""
    now, change = here[: model.bounded], step[: model.bounded]
    falling = change < 0
    return float(min(1.0, (now[falling] / -change[falling]).min(initial=1.0)))


def _bounded(theta: Floats, model: Model) -> Floats:
    """Rounding does not leave the bounds."""
    theta[: model.bounded] = np.where(theta[: model.bounded] < _CLOSE**2, 0.0, theta[: model.bounded])
    return theta


def _held(here: Floats, slope: Floats, model: Model) -> Bools:
    """Parameters at their bound that would fall below it."""
    held: Bools = (here <= 0) & (slope <= 0)
    held[model.bounded :] = False
    return held


def _holds(curve: Floats, first: Floats, free: Bools) -> bool:
    """Whether enough information is left in every direction."""
    if not free.any():
        return True
    now, before = curve[np.ix_(free, free)], first[np.ix_(free, free)]
    try:
        root = np.linalg.inv(np.linalg.cholesky(before))
    except np.linalg.LinAlgError:
        return False
    return bool(np.linalg.eigvalsh(root @ now @ root.T)[0] > _FLAT)


def _step(here: Floats, slope: Floats, curve: Floats, model: Model) -> Floats:
    """Newton's step of what is free, which leaves alone what it would push out of its bounds."""
    held = _held(here, slope, model)
    while True:
        step, free = np.zeros(len(slope)), ~held
        step[free] = _inverse(curve[np.ix_(free, free)]) @ slope[free]
        pushed = (here <= 0) & (step < 0) & (np.arange(len(here)) < model.bounded)
        if not pushed.any():
            return step * min(1.0, _FAR / max(float(np.abs(step).max(initial=0.0)), _FAR))
        held |= pushed


def _small(values: Floats, most: float) -> bool:
    return bool(np.abs(values).max(initial=0.0) <= most)


def _total(rows: Rows) -> float:
    return float(len(rows.x) if rows.amount is None else rows.amount.sum())


def _inverse(matrix: Floats) -> Floats:
    """Inverse of a symmetric matrix; what rounding left flat or bent the wrong way counts as barely bent."""
    scale = np.sqrt(np.maximum(np.diag(matrix), _LEAST))
    bend, axes = np.linalg.eigh(matrix / np.outer(scale, scale))
    inverse = (axes / np.maximum(bend, _BARELY)) @ axes.T
    found: Floats = inverse / np.outer(scale, scale)
    return found


def _found(rows: Rows, model: Model, here: Floats, *, settled: bool) -> Found:
    slope, curve = _moments(rows, model, here)
    held = _held(here, slope, model)
    free = ~held
    inverse = np.zeros_like(curve)
    inverse[np.ix_(free, free)] = _inverse(curve[np.ix_(free, free)])
    if rows.squares is not None:
        inverse = inverse @ information(rows, model, here, squared=True) @ inverse
    covariance = model.space @ inverse @ model.space.T
    return Found(model.base + model.space @ here, covariance, here, held, settled)


def _moments(rows: Rows, model: Model, theta: Floats) -> tuple[Floats, Floats]:
    """Slope of the likelihood and information, of θ."""
    width = rows.x.shape[1]
    both = model.base + model.space @ theta
    step = max(_BLOCK // width, 1)
    blocks = [slice(start, start + step) for start in range(0, len(rows.x), step)]
    # One after the other: BLAS has threads of its own, and ours would make them wait for each other.
    parts = [_sums(rows, place, both[:width], both[width:]) for place in blocks]
    slope, cross, square = (np.sum([part[at] for part in parts], axis=0) for at in range(3))
    curve = _information(cross, square)
    return model.space.T @ slope, model.space.T @ curve @ model.space


def _sums(rows: Rows, place: slice, weight: Floats, bias: Floats) -> tuple[Floats, Floats, Floats]:
    """Slope of all weights and biases; sums of products of probabilities: times x², x, 1 and times both x."""
    x = rows.x[place]
    share = softmax(x * weight + bias)
    own = share if rows.amount is None else share * rows.amount[place, None]
    times = x * own
    truth, at = rows.truth[place], np.arange(len(x))
    amount = 1.0 if rows.amount is None else rows.amount[place]
    slope = -np.concatenate([times.sum(axis=0), own.sum(axis=0)])
    slope += np.bincount(truth, weights=x[at, truth] * amount, minlength=2 * x.shape[1])
    there = np.broadcast_to(amount, len(x))
    slope[x.shape[1] :] += np.bincount(truth, weights=there, minlength=x.shape[1])
    return slope, np.concatenate([(x * times).T @ share, times.T @ share, own.T @ share]), times.T @ (x * share)


def _information(cross: Floats, square: Floats) -> Floats:
    """Information of all weights and biases.

    Probabilities of a row add up to 1, so what stands on a diagonal is the sum of the other products beside it: no
    digits are lost where one class is almost certain.
    """
    width = len(square)
    alone = np.eye(width, dtype=bool)
    aside = np.where(np.tile(alone, (3, 1)), 0.0, cross).reshape(3, width, width)
    diagonal = aside.sum(axis=2)
    weights = np.where(alone, diagonal[0], -square)
    mixed = np.where(alone, diagonal[1], -aside[1])
    biases = np.where(alone, diagonal[2], -aside[2])
    found: Floats = np.block([[weights, mixed], [mixed.T, biases]])
    return (found + found.T) / 2


def level(rows: Rows, *, sweeps: int) -> Floats:
    r"""Biases that bring the mean share of every class near what it is, a class at a time: :math:`b_k+=\ln(y_k/q_k)`.

    Sinkhorn's way, which leaves flat ground at once but is slow at the end: where Newton's method may start.
    """
    width = rows.x.shape[1]
    amount = np.ones(len(rows.x)) if rows.amount is None else rows.amount
    target = np.bincount(rows.truth, weights=amount, minlength=width)
    bias = np.zeros(width)
    for _ in range(sweeps):
        bias += np.log(target / np.maximum(amount @ softmax(rows.x + bias), np.finfo(np.float64).tiny))
    bias -= bias.mean()
    return bias


def softmax(z: Floats) -> Floats:
    """Shares whose logarithms differ as these numbers do, in place."""
    z -= z.max(axis=1, keepdims=True)
    np.exp(z, out=z)
    z /= z.sum(axis=1, keepdims=True)
    return z
