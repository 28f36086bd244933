"""Maps in pieces: isotonic regression, histogram bins, Venn–Abers. They take any score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._calibrator import Calibrator
from baserate._calibrator_forms import Between, Knots, Steps
from baserate._errors import OptionError
from baserate._numeric.pav import decreasing_blocks
from baserate._numeric.venn_abers import with_one_hit
from baserate._tally import Tally
from baserate.calibrate._data import are_probabilities, fitting, refuse_other_scores
from baserate.measure import By, binned, edges


@fitting
def isotonic(tally: Tally, *, strict: bool = False, probabilities: bool | None = None) -> Calibrator:
    """Shares of positives, pooled until they rise with the score; straight between what is pooled.

    With `strict`, no two scores get the same probability, so that the ranking and its AUC stay what they are: the curve
    then goes straight through the middle of each pool (centred isotonic regression [@oron2017]), and the outermost
    pools, where they are pure, count half a row of the other class, so that nothing is called impossible.

    >>> from baserate import tally
    >>> sample = tally([0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.6, 0.9])
    >>> isotonic(sample)([0.1, 0.3, 0.4, 0.5, 0.9]).tolist()
    [0.0, 0.5, 0.5, 0.75, 1.0]
    >>> isotonic(sample, strict=True)([0.1, 0.3, 0.4, 0.5, 0.9]).round(3).tolist()
    [0.25, 0.45, 0.542, 0.625, 0.917]
    """
    pools = _pooled(tally)
    x, y = _centred(pools, tally) if strict else _flat(pools)
    return Calibrator(Knots(x, y, are_probabilities(tally, probabilities)), "strict-isotonic" if strict else "isotonic")


class _Pools(NamedTuple):
    """Neighbouring scores that have one share, lowest first."""

    starts: npt.NDArray[np.intp]
    """Where each begins among the scores of the tally, which fall."""
    low: Floats
    high: Floats
    share: Floats


def _pooled(tally: Tally) -> _Pools:
    starts, first, second = decreasing_blocks(*tally.mass)
    high, low = tally.score[starts], tally.score[np.append(starts[1:], len(tally.score)) - 1]
    return _Pools(starts, low[::-1], high[::-1], (first / (first + second))[::-1])


Points = tuple[Floats, Floats]
"""Places of knots, and the shares there."""


def _flat(pools: _Pools) -> Points:
    """Constant in each pool."""
    x = np.stack([pools.low, pools.high], axis=1).ravel()
    keep = np.append(True, x[1:] > x[:-1])
    return x[keep], np.repeat(pools.share, 2)[keep]


def _centred(pools: _Pools, tally: Tally) -> Points:
    """Straight from middle to middle, and further out half the way to 0 and to 1."""
    share = pools.share.copy()
    if len(share) == 1:
        return _tilted(pools)
    mass = tally.positive + tally.negative
    weighed, weight = (np.add.reduceat(each, pools.starts)[::-1] for each in (mass * tally.score, mass))
    middle = np.clip(weighed / weight, pools.low, pools.high)
    if share[0] == 0:
        share[0] = min(0.5 / (weight[0] + 1), share[1] / 2)
    if share[-1] == 1:
        share[-1] = 1 - min(0.5 / (weight[-1] + 1), (1 - share[-2]) / 2)
    x, y = [middle], [share]
    if pools.low[0] < middle[0]:
        x, y = [pools.low[:1], *x], [share[:1] / 2, *y]
    if pools.high[-1] > middle[-1]:
        x, y = [*x, pools.high[-1:]], [*y, (1 + share[-1:]) / 2]
    return np.concatenate(x), np.concatenate(y)


def _tilted(pools: _Pools) -> Points:
    """One pool: all scores are as good as none, so they are only just kept apart."""
    if pools.low[0] == pools.high[0]:
        return pools.low, pools.share
    least = 1e-6 * min(pools.share[0], 1 - pools.share[0])
    return np.array([pools.low[0], pools.high[0]]), pools.share[0] + np.array([-least, least])


@fitting
def histogram(
    tally: Tally, *, bins: int | Sequence[float] = 10, by: By = "mass", probabilities: bool | None = None
) -> Calibrator:
    """Share of positives in bins of equal mass or equal width [@zadrozny2001]; an empty bin goes with the one below it.

    Bins of equal width, and edges, are for probabilities. A share may be lower than that of the bin below.

    >>> from baserate import tally
    >>> histogram(tally([0, 1, 0, 1, 1, 0], [0.1, 0.3, 0.4, 0.6, 0.9, 0.2]), bins=2)([0.1, 0.4, 0.6]).round(4).tolist()
    [0.3333, 0.6667, 0.6667]
    """
    if by != "mass" or not isinstance(bins, int | np.integer):
        refuse_other_scores(tally, "a histogram of equal width", probabilities=probabilities)
    found = binned(tally, bins=bins, by=by)
    lower, _ = edges(tally, bins=bins, by=by)
    # Bins are (lo, hi], and a step begins at its threshold: it is the number just above.
    thresholds = np.nextafter(lower[1:], np.inf)
    return Calibrator(Steps(thresholds, found.rate, are_probabilities(tally, probabilities)), "histogram")


@fitting
def venn_abers(tally: Tally, *, probabilities: bool | None = None) -> Calibrator:
    """Isotonic regression with the row itself as negative (p₀) and as positive (p₁): one of both is right [@vovk2015].

    The map merges them into p₁/(1 − p₀ + p₁), which is never 0 or 1; `Map.bounds` gives both.

    >>> from baserate import tally
    >>> found = venn_abers(tally([0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.6, 0.9]))
    >>> found([0.1, 0.5, 0.9]).round(4).tolist()
    [0.3333, 0.6, 0.75]
    >>> [each.round(4).tolist() for each in found.bounds([0.1, 0.5, 0.9])]
    [[0.0, 0.3333, 0.6667], [0.5, 1.0, 1.0]]
    """
    if tally.weighted:
        raise OptionError("venn-abers puts in one more row, which has no weight; leave weight= out, or fit isotonic.")
    score, positive, negative = tally.score[::-1], tally.positive[::-1], tally.negative[::-1]
    total = positive + negative
    high = with_one_hit(positive, total)
    # One more miss is one more hit with everything turned round.
    low = 1 - with_one_hit(negative[::-1], total[::-1])[::-1]
    # p₁ of a score between two is that of the upper one: it changes just above a score.
    bounds = (
        Steps(*_steps(x, y), are_probabilities(tally, probabilities))
        for x, y in (
            (score, np.concatenate([[0.0], low])),
            (np.nextafter(score, np.inf), np.concatenate([high, [1.0]])),
        )
    )
    return Calibrator(Between(*bounds), "venn-abers")


def _steps(x: Floats, y: Floats) -> Points:
    """Steps without those that change nothing; rounding may not make a share fall."""
    y = np.maximum.accumulate(np.clip(y, 0.0, 1.0))
    changes = y[1:] > y[:-1]
    return x[changes], np.concatenate([y[:1], y[1:][changes]])
