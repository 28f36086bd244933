"""`slopes`: likelihood ratios as slopes of the hull."""

from __future__ import annotations

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._curve import Curve
from baserate._domains import LEVEL, check_domain, check_prevalence
from baserate._errors import NotBinaryError
from baserate._tally import Tally
from baserate.infer import two_sided


def slopes(curve: Curve, *, prevalence: float | None = None, level: float = 0.95) -> dict[str, Floats]:
    r"""Likelihood ratio of each pool of scores, which is the slope of an edge of the ROC hull, highest scores first.

    Scores from `lower` to `upper` are :math:`\frac{a/P}{b/N}` times as frequent among positives as among negatives, of
    which there are a and b [@green1966]; a threshold at `lower` is the best for iso-cost slopes between this pool's and
    the next's. No prevalence changes that; `posterior` is what it makes of a `prevalence`, by default that of the
    curve. `low` and `high` are bounds of a ratio of shares on a logarithmic scale [@simel1991]: those of a pool that
    was fixed beforehand. These were chosen to fall, so the first ratios tend to be too high and the last too low.

    >>> from baserate import curve, tally
    >>> found = slopes(curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.2, 0.1])), prevalence=0.1)
    >>> {name: column.round(3).tolist() for name, column in found.items() if name not in ("low", "high")}
    {'upper': [0.9, 0.7, 0.2], 'lower': [0.8, 0.6, 0.1], 'positives': [2.0, 1.0, 0.0], 'negatives': [0.0, 1.0, 2.0],
     'ratio': [inf, 1.0, 0.0], 'posterior': [1.0, 0.1, 0.0]}
    """
    if not (curve.positives and curve.negatives):
        raise NotBinaryError("a likelihood ratio needs both classes; this curve has only one.")
    share = curve.tally.prevalence if prevalence is None else prevalence
    if prevalence is not None:
        check_prevalence("prevalence", prevalence, ends=True)
    check_domain("level", level, LEVEL)
    pools = curve.hull().tally
    low, high = _bounds(pools, level)
    one, other = pools.positive / pools.positives, pools.negative / pools.negatives
    return {
        "upper": _upper(curve.tally, pools),
        "lower": pools.score,
        "positives": pools.positive,
        "negatives": pools.negative,
        "ratio": ratio(one, other),
        "low": low,
        "high": high,
        "posterior": ratio(share * one, share * one + (1 - share) * other),
    }


def _upper(tally: Tally, pools: Tally) -> Floats:
    """Highest score of each pool: the first below the pool before it."""
    score = tally.score[tally.mass.any(axis=0)]
    starts = np.searchsorted(-score, -pools.score[:-1]) + 1
    found: Floats = score[np.concatenate([[0], starts])]
    return found


def _bounds(pools: Tally, level: float) -> tuple[Floats, Floats]:
    """Bounds of ratios of shares; where a class is missing, those with half a row more of each."""
    mass, squares = np.asarray(pools.mass, dtype=np.float64), np.asarray(pools.squares, dtype=np.float64)
    total, spread = mass.sum(axis=1, keepdims=True), squares.sum(axis=1, keepdims=True)
    half = 0.5 * (mass == 0).any(axis=0)
    weight = spread / total
    hits = mass + weight * half
    noise = ((squares + weight**2 * half) / hits**2).sum(axis=0) - (spread / total**2).sum()
    with np.errstate(over="ignore"):  # of next to nothing, nothing is known
        reach = np.exp(two_sided(level) * np.sqrt(np.maximum(noise, 0.0)))
    one, other = hits / total
    centre = one / other
    return np.where(mass[0] > 0, centre / reach, 0.0), np.where(mass[1] > 0, centre * reach, np.inf)
