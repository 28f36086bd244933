"""Nonparametric calibrators: isotonic regression, histogram binning and Venn–Abers. They take any score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._calibrator import Calibrator
from baserate._calibrator_forms import Between, Knots, Steps
from baserate._errors import OptionError, keyword
from baserate._numeric.cumulative import isotonic_with_extra_hit, pool_adjacent_violators
from baserate._tally import Tally
from baserate.calibration._fit_data import are_probabilities, binary_calibrator, require_probabilities
from baserate.measure import By, bin_edges, fill_bins
from baserate.read import PredictionOptions


@binary_calibrator
def isotonic(
    tally: Tally, *, strict: bool = False, probabilities: bool | None = None, **predictions: Unpack[PredictionOptions]
) -> Calibrator:
    """Fit isotonic regression: pool shares of positives until they rise with the score; linear between pools.

    Parameters
    ----------
    tally
        Data to fit.
    strict
        Whether no two scores get the same probability, so that the ranking and its AUC do not change. The curve is then
        linear between the means of pools (centered isotonic regression [@oron2017]), and outermost pools of one class
        count half a row of the other, so that no probability is 0 or 1.
    probabilities
        Whether the scores are probabilities; by default they are if all lie in [0, 1].

    Returns
    -------
    Calibrator
        The fitted calibrator.

    Examples
    --------
    >>> from baserate import tally
    >>> sample = tally([0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.6, 0.9])
    >>> isotonic(sample)([0.1, 0.3, 0.4, 0.5, 0.9]).tolist()
    [0.0, 0.5, 0.5, 0.75, 1.0]
    >>> isotonic(sample, strict=True)([0.1, 0.3, 0.4, 0.5, 0.9]).round(3).tolist()
    [0.25, 0.45, 0.542, 0.625, 0.917]
    """
    pools = _pool_scores(tally)
    x, y = _sloping_points(pools, tally) if strict else _flat_points(pools)
    return Calibrator(Knots(x, y, are_probabilities(tally, probabilities)), "strict-isotonic" if strict else "isotonic")


class _Pools(NamedTuple):
    """Neighboring scores that share a proportion of positives, lowest first."""

    starts: npt.NDArray[np.intp]
    """Where each pool begins among the scores of the tally, which descend."""
    low: Floats
    high: Floats
    share: Floats


def _pool_scores(tally: Tally) -> _Pools:
    # Tallies begin with the highest score, calibrators with the lowest.
    starts, first, second = pool_adjacent_violators(*tally.mass)
    high, low = tally.score[starts], tally.score[np.append(starts[1:], len(tally.score)) - 1]
    return _Pools(starts, low[::-1], high[::-1], (first / (first + second))[::-1])


Points = tuple[Floats, Floats]
"""Positions of knots, and the shares there."""


def _flat_points(pools: _Pools) -> Points:
    """Return knots of a curve that is constant in each pool."""
    x = np.stack([pools.low, pools.high], axis=1).ravel()
    # A pool of a single score has one knot, not two at the same position.
    keep = np.append(True, x[1:] > x[:-1])
    return x[keep], np.repeat(pools.share, 2)[keep]


def _sloping_points(pools: _Pools, tally: Tally) -> Points:
    """Return knots at the mean score of each pool, and half the way to 0 and to 1 at the outermost scores."""
    share = pools.share.copy()
    if len(share) == 1:
        return _tilted_points(pools)
    mass = tally.positive + tally.negative
    # `starts` follow the scores of the tally, which fall; all else about pools rises.
    weighted_sum, weight = (np.add.reduceat(each, pools.starts)[::-1] for each in (mass * tally.score, mass))
    # Rounding may move the mean out of its pool.
    middle = np.clip(weighted_sum / weight, pools.low, pools.high)
    # Half a row of the other class, but at most half the way to the neighboring pool.
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


def _tilted_points(pools: _Pools) -> Points:
    """Return knots for a single pool: scores carry no information, and probabilities rise by a millionth part only."""
    if pools.low[0] == pools.high[0]:
        return pools.low, pools.share
    least = 1e-6 * min(pools.share[0], 1 - pools.share[0])
    return np.array([pools.low[0], pools.high[0]]), pools.share[0] + np.array([-least, least])


@binary_calibrator
def histogram(
    tally: Tally,
    *,
    bins: int | Sequence[float] = 10,
    by: By = "mass",
    probabilities: bool | None = None,
    **predictions: Unpack[PredictionOptions],
) -> Calibrator:
    """Fit histogram binning: the share of positives in each bin [@zadrozny2001].

    An empty bin joins the one below it. A share may be lower than that of the bin below.

    Parameters
    ----------
    tally
        Data to fit.
    bins
        Number of bins; or their edges, for probabilities.
    by
        "mass" for bins with equally many rows, or "width" for bins of equal width, for probabilities.
    probabilities
        Whether the scores are probabilities; by default they are if all lie in [0, 1].

    Returns
    -------
    Calibrator
        The fitted calibrator.

    Examples
    --------
    >>> from baserate import tally
    >>> histogram(tally([0, 1, 0, 1, 1, 0], [0.1, 0.3, 0.4, 0.6, 0.9, 0.2]), bins=2)([0.1, 0.4, 0.6]).round(4).tolist()
    [0.3333, 0.6667, 0.6667]
    """
    if by != "mass" or not isinstance(bins, int | np.integer):
        require_probabilities(tally, "a histogram of equal width", probabilities=probabilities)
    reliability = fill_bins(tally, bins=bins, by=by)
    lower, _ = bin_edges(tally, bins=bins, by=by)
    # Bins are (lo, hi], but a step includes its threshold, so it begins at the next float above.
    thresholds = np.nextafter(lower[1:], np.inf)
    return Calibrator(Steps(thresholds, reliability.rate, are_probabilities(tally, probabilities)), "histogram")


@binary_calibrator
def venn_abers(
    tally: Tally, *, probabilities: bool | None = None, **predictions: Unpack[PredictionOptions]
) -> Calibrator:
    """Fit Venn–Abers: isotonic regression with the new row as negative (p₀) and as positive (p₁) [@vovk2015].

    One of the two probabilities is calibrated. The calibrator merges them into p₁/(1 − p₀ + p₁), which is never 0 or 1;
    `Calibrator.bounds` returns both.

    Parameters
    ----------
    tally
        Data to fit, without weights.
    probabilities
        Whether the scores are probabilities; by default they are if all lie in [0, 1].

    Returns
    -------
    Calibrator
        The fitted calibrator.

    Examples
    --------
    >>> from baserate import tally
    >>> calibrator = venn_abers(tally([0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.6, 0.9]))
    >>> calibrator([0.1, 0.5, 0.9]).round(4).tolist()
    [0.3333, 0.6, 0.75]
    >>> [each.round(4).tolist() for each in calibrator.bounds([0.1, 0.5, 0.9])]
    [[0.0, 0.3333, 0.6667], [0.5, 1.0, 1.0]]
    """
    if tally.weighted:
        raise OptionError(
            "venn-abers adds one more row, which has no weight",
            remedy=f"leave {keyword('weight')} out, or fit isotonic.",
        )
    score, positive, negative = tally.score[::-1], tally.positive[::-1], tally.negative[::-1]
    total = positive + negative
    high = isotonic_with_extra_hit(positive, total)
    # One more negative is one more positive with classes and order exchanged.
    low = 1 - isotonic_with_extra_hit(negative[::-1], total[::-1])[::-1]
    # Between two scores p₁ is that of the upper one: it changes just above a score.
    bounds = (
        Steps(*_to_steps(x, y), are_probabilities(tally, probabilities))
        for x, y in (
            (score, np.concatenate([[0.0], low])),
            (np.nextafter(score, np.inf), np.concatenate([high, [1.0]])),
        )
    )
    return Calibrator(Between(*bounds), "venn-abers")


def _to_steps(x: Floats, y: Floats) -> Points:
    """Return steps without those that change nothing."""
    # Each share is rounded by itself; neighbors that are equal in theory must not fall.
    y = np.maximum.accumulate(np.clip(y, 0.0, 1.0))
    changes = y[1:] > y[:-1]
    return x[changes], np.concatenate([y[:1], y[1:][changes]])
