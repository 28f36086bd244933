"""Softmax of weighted logarithms and biases, fitted to rows: unpenalised, by Newton's method."""

from functools import partial
from typing import NamedTuple

import numpy as np

from baserate._arrays import Bools, Floats
from baserate._numeric import newton
from baserate._numeric.codes import Codes

_BLOCK = 1 << 17
"""Numbers that fit the cache with what is computed of them."""
_LEVEL = 1e-13
"""Slope of the likelihood of a row, on average, that is rounding."""


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
    level = _LEVEL * _total(rows) if model.coercive else None
    peak = newton.climbed(partial(_moments, rows, model), model.start, bounded=model.bounded, level=level)
    inverse = peak.covariance
    if rows.squares is not None:
        inverse = inverse @ information(rows, model, peak.theta, squared=True) @ inverse
    covariance = model.space @ inverse @ model.space.T
    return Found(model.base + model.space @ peak.theta, covariance, peak.theta, peak.held, peak.settled)


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


def _total(rows: Rows) -> float:
    return float(len(rows.x) if rows.amount is None else rows.amount.sum())


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
