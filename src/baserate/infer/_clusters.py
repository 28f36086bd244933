"""Intervals of rows that belong together: several of one patient, one site, one day.

What a cluster holds is added up first; only clusters are independent.
"""

from __future__ import annotations

from math import inf, isnan, nan

import numpy as np

from baserate._arrays import Bools, Floats, ratio
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._plurals import count_of
from baserate._rows import Rows
from baserate.infer import _auc, _binomial, _ks
from baserate.infer._alike import Alike, alike
from baserate.infer._columns import of_columns
from baserate.infer._delong import influence
from baserate.infer._draws import Seed, in_blocks, percentiles
from baserate.infer._moments import Units, bounded, of_draws, stretched, widening
from baserate.measure import Measure, about, accuracy_ratio, auc, fpr, gini, ks, sensitivity

DRAWS = 10_000
_WORK = 20_000_000
"""Random weights of clusters that all draws together may need."""
_LEAST = 1000
_PRIOR = 0.5

Found = tuple[float, float, str, str | None]
"""Low, high, what made them, and why they are undefined if they are."""


def interval(measure: Measure, rows: Rows, *, threshold: float | None, level: float, seed: Seed) -> Found:
    """Bounds of any measure of clustered rows."""
    (model,) = rows.score
    cells = alike(rows, [model])
    if cells.clusters < 2:
        return nan, nan, "clusters", "there is a single cluster"
    if about(measure).of is Counts:
        flagged = cells.score[model] >= float(threshold or 0.0)
        if about(measure).share:
            return _share(measure, cells, flagged, level)
        return _table(measure, cells, flagged, level=level, seed=seed)
    if measure in (auc, gini, accuracy_ratio):
        return _area(measure, cells, model, level)
    return _greatest(cells, model, level) if measure is ks else _drawn(measure, cells, model, level=level, seed=seed)


def _drawn(measure: Measure, cells: Alike, model: str, *, level: float, seed: Seed) -> Found:
    """Interval by random weights for clusters."""
    draws, how = of_columns(measure, cells, [model], seed)
    told = f"{how}, {count_of(len(draws), 'draw')}"
    tally = cells.tally(model)
    value = float(measure(Curve(tally) if about(measure).of is Curve else tally))
    if about(measure).span != (0, 1):
        return *_percentiles(draws[:, 0], value, Units(cells.clusters), level), told, None
    # A mean loss may well be surer than a share of as many clusters; of ranks that was seen to be too sure.
    worth = float(cells.clusters) if about(measure).of is Curve else inf
    moments = of_draws(value, draws[:, 0], (0.0, 1.0), worth, cells.clusters - 1)
    return *bounded(moments, level), f"share as sure as {told}", None


def _greatest(cells: Alike, model: str, level: float) -> Found:
    flagged = cells.score[model] >= _ks.where(cells.tally(model))
    (high, _), (low, _) = (_effective(rate, cells, flagged, level) for rate in (sensitivity, fpr))
    return *_ks.of_shares(high, low, level), f"{_ks.HOW}, with the variance of clusters", None


def _share(measure: Measure, cells: Alike, flagged: Bools, level: float) -> Found:
    share, clusters = _effective(measure, cells, flagged, level)
    low, high, how = _binomial.interval(share, level)
    return low, high, f"{how} with the variance of {count_of(clusters, 'cluster')}", None


def _effective(measure: Measure, cells: Alike, flagged: Bools, level: float) -> tuple[_binomial.Share[float], int]:
    r"""Hits and misses of a share whose variance is that of a ratio of cluster totals [@kish1965].

    With :math:`z_c=\sum_{i∈c}w_i(y_i-p)`, the variance is :math:`\frac{C}{C-1}\sum_c z_c^2/(\sum w)^2`; the effective
    number of trials follows from it, and the number of clusters tells how sure it is [@korn1998].
    """
    hit, miss = (_among(cells, flagged, names) for names in about(measure).share or ())
    mass = cells.mass
    hits, misses = float(mass[hit].sum()), float(mass[miss].sum())
    p = ratio(hits, hits + misses)
    there = hit | miss
    totals = _by_cluster(cells, np.where(there, mass, 0.0))
    sums = _by_cluster(cells, np.where(there, mass * (hit - p), 0.0))
    clusters = int(np.count_nonzero(totals))
    kish = ratio(float(totals.sum()) ** 2, float(np.sum(totals**2)))
    # Where the variance is 0, all are hits or all misses: a cluster is worth one trial.
    variance = float(np.sum(sums**2)) / float(totals.sum()) ** 2 * ratio(clusters, clusters - 1)
    share = _binomial.as_share(p, 0.0 if isnan(variance) else variance, kish)
    shrunk = 1 / widening(max(clusters - 1, 1), level) ** 2 if variance > 0 else 1.0
    return _binomial.Share(share.hits * shrunk, share.misses * shrunk), clusters


def _table(measure: Measure, cells: Alike, flagged: Bools, *, level: float, seed: Seed) -> Found:
    """Middle of the values with a random weight for each cluster."""
    names = ("tp", "fp", "fn", "tn")
    tables = np.stack(
        [_by_cluster(cells, np.where(_among(cells, flagged, (name,)), cells.mass, 0.0)) for name in names]
    )

    # In each cell half of what a cluster usually adds to one, so that what was never seen is not taken for impossible.
    usual = float(np.sum(tables**2)) / float(tables.sum())

    def some(rng: np.random.Generator, draws: int) -> Floats:
        weight = rng.standard_exponential((draws, cells.clusters))
        # Not by BLAS, whose sums depend on how many threads it uses.
        drawn = np.einsum("dc,kc->kd", weight, tables) + rng.standard_gamma(_PRIOR, (len(names), draws)) * usual
        return np.asarray(measure(Counts(*drawn)))

    draws = max(min(_WORK // cells.clusters, DRAWS), _LEAST)
    values = in_blocks(some, draws=draws, seed=seed, size=cells.clusters)
    value = float(measure(Counts(*tables.sum(axis=1).tolist())))
    units = Units(cells.clusters, len(names) * _PRIOR)
    return *_percentiles(values, value, units, level), f"resampled clusters, {count_of(draws, 'draw')}", None


def _area(measure: Measure, cells: Alike, model: str, level: float) -> Found:
    """Interval of an AUC with the variance of clusters [@obuchowski1997clusters]."""
    tally = cells.tally(model)
    variance = influence(cells, [model]).covariance(0, 0)
    effective = [_kish(_by_cluster(cells, np.where(cells.truth == true, cells.mass, 0.0))) for true in (True, False)]
    found = _auc.area(tally)._replace(variance=variance, freedom=cells.clusters - 1, clusters=min(effective))
    if not variance > 0:
        # Nothing is known of how clusters vary: each is worth one row.
        found = _auc.Area(found.value, nan, *effective)
    low, high, how = _auc.usual(found, level)
    if measure is not auc:
        low, high = 2 * low - 1, 2 * high - 1
    return low, high, f"{how}, with the variance of {count_of(cells.clusters, 'cluster')}", None


def _among(cells: Alike, flagged: Bools, names: tuple[str, ...]) -> Bools:
    """Whether each kind of row is in one of these cells of the table."""
    where = {
        "tp": cells.truth & flagged,
        "fp": ~cells.truth & flagged,
        "fn": cells.truth & ~flagged,
        "tn": ~(cells.truth | flagged),
    }
    found: Bools = np.any([where[name] for name in names], axis=0)
    return found


def _by_cluster(cells: Alike, amount: Floats) -> Floats:
    assert cells.cluster is not None  # noqa: S101  (for the type checker)
    return np.bincount(cells.cluster, amount, minlength=cells.clusters).astype(np.float64)


def _kish(mass: Floats) -> float:
    return ratio(float(mass.sum()) ** 2, float(np.sum(mass**2)))


def _percentiles(draws: Floats, value: float, units: Units, level: float) -> tuple[float, float]:
    defined = draws[~np.isnan(draws)]
    if not len(defined):
        return nan, nan
    return stretched(percentiles(defined, level), value, units, level)
