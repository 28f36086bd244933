"""Whether losses have so heavy a tail that their mean, or its variance, may be infinite."""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from baserate._arrays import Floats
from baserate._tally import Tally

HEAVY = (
    "the largest losses have a heavy tail (Pareto shape {shape:.2f}): the expected loss or its variance may be "
    "infinite, so that no interval is valid"
)

_FEWEST, _MOST = 20, 1000
"""Losses that a tail is fitted to."""
_KEPT = 2 * _MOST + 2
_SIGNIFICANT = 3.3
"""Standard errors above 0, the shape of exponential tails, from which a tail is heavier than these."""
_BOUND = 1.645
"""Standard errors of a one-sided 95% bound."""
_INFINITE = 0.5
"""Shape from which the variance is infinite; from 1 on the mean is, too."""


def heavy_tail(tally: Tally) -> str | None:
    r"""Reason why the log loss has no interval; None where nothing speaks against one.

    A generalized Pareto distribution is fitted to the log-odds of rows on the wrong side of ½, to all of them and to
    the larger half: there the loss is about as large as they are. It is too heavy where its shape ξ exceeds 0, that of
    exponential tails, significantly, and the upper bound :math:`ξ+1.645(1+ξ)/\sqrt k` reaches ½, from which the
    variance is infinite [@vehtari2024]. Of models with normal or exponential tails fewer than 1% are refused.
    """
    beyond = _wrong_side(tally)
    for number in (len(beyond), len(beyond) // 2):
        tail = _excess(beyond, number)
        if len(tail) < _FEWEST or tail.max() < (1 + log(len(tail))) * tail.mean():
            continue  # the maximum of as many exponential variables would not be smaller, so there is nothing to fit
        shape, error = pareto_shape(tail), 1 / sqrt(len(tail))
        if shape > _SIGNIFICANT * error and shape + _BOUND * (1 + shape) * error >= _INFINITE:
            return HEAVY.format(shape=shape)
    return None


def pareto_shape(excess: Floats) -> float:
    r"""Shape ξ of a generalized Pareto distribution of positive numbers.

    The posterior mean of Zhang and Stephens: the likelihood, profiled over the shape, averaged over a grid of
    :math:`θ=-ξ/σ` [@zhang2009].
    """
    x = np.sort(excess)
    points = 30 + int(sqrt(len(x)))
    quartile = x[max(int(len(x) / 4 + 0.5) - 1, 0)]
    theta = 1 / x[-1] + (1 - np.sqrt(points / (np.arange(1, points + 1) - 0.5))) / (3 * quartile)
    shape = np.log1p(-theta[:, None] * x).mean(axis=1)
    likelihood = len(x) * (np.log(-theta / shape) - shape - 1)
    weight = np.exp(likelihood - likelihood.max())
    return float(np.log1p(-(theta @ weight / weight.sum()) * x).mean())


def _excess(beyond: Floats, number: int) -> Floats:
    """How far the largest of falling positive numbers exceed the next one, or 0."""
    number = min(number, _MOST)
    found = beyond[:number] - (beyond[number] if number < len(beyond) else 0.0)
    return found[found > 0]


def _wrong_side(tally: Tally) -> Floats:
    """Largest log-odds of rows on the wrong side of ½, falling; no more than are needed."""
    parts = []
    for rows, score, side in ((tally.rows[1], tally.score, 1), (tally.rows[0, ::-1], tally.score[::-1], -1)):
        end = np.searchsorted(-side * score, -side * 0.5)
        there = np.flatnonzero(rows[:end])[:_KEPT]
        p, times = score[there], np.minimum(rows[there].astype(np.int64), _KEPT)
        # Not clipped, as log-odds of a line are: how far they reach is the question.
        with np.errstate(divide="ignore"):
            parts.append(np.repeat(side * (np.log(p) - np.log1p(-p)), times))
    found: Floats = np.sort(np.concatenate(parts))[::-1][:_KEPT]
    return found[np.isfinite(found)]
