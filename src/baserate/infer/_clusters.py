"""Intervals of rows that belong together: several of one patient, one site, one day.

What a cluster holds is added up first; only clusters are independent.
"""

from __future__ import annotations

from math import inf, isfinite, isinf, nan, sqrt
from typing import NamedTuple

import numpy as np

from baserate._arrays import Bools, Floats, ratio
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._formatting import count_of
from baserate._rows import Rows
from baserate._tally import Tally
from baserate.infer import _auc, _binomial, _ks
from baserate.infer._alike import Alike, alike
from baserate.infer._binomial import NormalLevel, two_sided, wilson
from baserate.infer._columns import Sorted, of_columns
from baserate.infer._delong import influence
from baserate.infer._draws import Seed, checked_seed, in_blocks, percentiles
from baserate.infer._moments import UNBOUNDED, Units, scale_of, stretched, widening
from baserate.infer._tails import heavy_tail
from baserate.measure import Measure, about, accuracy_ratio, auc, gini, ks

DRAWS = 10_000
_WORK = 20_000_000
"""Random weights of clusters that all draws together may need, and rows that all jackknife samples may hold."""
_LEAST = 1000
_PRIOR = 0.5
_GROUPS = 50, 500
"""Jackknife samples of very many clusters: at least and at most so many, each without a group of clusters."""
_LINEAR = 100
"""Clusters from which influences are as good as leaving each out in turn."""
_NEAR_ONE = 1 - 1e-12
"""Where the inverse hyperbolic tangent is finite."""

Found = tuple[float, float, str, str | None]
"""Low, high, what made them, and why they are undefined if they are."""


class Spread(NamedTuple):
    """Variance of a number between clusters, and its degrees of freedom."""

    variance: float
    freedom: float

    @property
    def is_known(self) -> bool:
        """Whether clusters vary, and by a finite amount."""
        return 0 < self.variance < inf


def jackknife(values: Floats) -> Spread:
    r"""Jackknife variance :math:`\frac{C-1}C\sum_c(θ_{-c}-\barθ)^2` of values that each leave one of C clusters out.

    A variance of C independent terms with excess kurtosis γ has :math:`2C/(γ+2)-1` degrees of freedom: C − 1 of normal
    ones, never more, and fewer where a few large clusters make most of it. γ is estimated without bias, since few
    clusters hardly show it [@efron1993] [@satterthwaite1946].
    """
    apart = values - values.mean()
    return spread_of(apart, (len(values) - 1) / len(values) * float(np.sum(apart**2)))


def spread_of(apart: Floats, variance: float) -> Spread:
    """Variance with the degrees of freedom of the sum of squares of these terms."""
    n, second = len(apart), float(np.sum(apart**2))
    if n < 4 or not 0 < second < inf:
        return Spread(variance, n - 1.0)
    excess = n * float(np.sum(apart**4)) / second**2 - 3
    kurtosis = (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * excess + 6)
    return Spread(variance, max(min(n - 1.0, 2 * n / (kurtosis + 2) - 1), 1.0) if kurtosis > -2 else n - 1.0)


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
        return _area(measure, cells, model, level=level, seed=seed)
    heavy = heavy_tail(cells.tally(model)) if measure in UNBOUNDED else None
    if heavy:
        return nan, nan, _method(cells), heavy
    return _scores(measure, cells, model, level=level, seed=seed)


def _scores(measure: Measure, cells: Alike, model: str, *, level: float, seed: Seed) -> Found:
    """Interval of a measure of ranks or probabilities by the jackknife; by random weights where that is undefined."""
    value = _value(measure, cells.tally(model))
    if isinf(value):
        return nan, nan, _method(cells), "the value is infinite"
    if measure is ks:
        found = _greatest(cells, model, value, level)
    else:
        found = _on_scale(about(measure).span, value, _left_out(measure, cells, model, seed), level)
    if found is not None:
        return *found, _method(cells), None
    draws, how = of_columns(measure, cells, [model], seed)
    bounds = _percentiles(draws[:, 0], value, Units(cells.clusters), level)
    return *bounds, f"{how}, {count_of(len(draws), 'draw')}", None


def _method(cells: Alike) -> str:
    return f"jackknife over {count_of(cells.clusters, 'cluster')}, t quantiles"


def _value(measure: Measure, tally: Tally) -> float:
    return float(measure(Curve(tally) if about(measure).of is Curve else tally))


def _left_out(measure: Measure, cells: Alike, model: str, seed: Seed) -> Floats:
    """Values of a measure with each cluster left out in turn; of very many, each of some random groups of them."""
    assert cells.cluster is not None  # noqa: S101  (for the type checker)
    least, most = _GROUPS
    groups = min(cells.clusters, max(min(_WORK // max(len(cells), 1), most), least))
    group = np.arange(cells.clusters)
    if groups < cells.clusters:
        # At random: clusters are numbered by content, so that neighbours are alike.
        group = checked_seed(seed).permutation(cells.clusters) % groups
    code, mass, ready = group[cells.cluster], cells.mass, Sorted.of(cells, model)
    masses = (np.where(code == at, 0.0, mass)[None] for at in range(groups))
    return np.array([_value(measure, next(ready.tallies(each))) for each in masses])


def _greatest(cells: Alike, model: str, value: float, level: float) -> tuple[float, float] | None:
    """Interval of KS by the jackknife of TPR − FPR at the threshold where they differ most.

    The lower bound allows for a threshold that was selected, as that of independent rows does [@miller1982].
    Correcting the bias of the maximum instead, by random weights, covered 36% where the classes score alike.
    """
    tally = cells.tally(model)
    flagged = cells.score[model] >= _ks.where(tally)
    true, false = (
        [_by_cluster(cells, np.where((cells.truth == of) & there, cells.mass, 0.0)) for there in (flagged, True)]
        for of in (True, False)
    )
    rates = [ratio(hit.sum() - hit, whole.sum() - whole) for hit, whole in (true, false)]
    found = jackknife(np.arctanh(np.clip(np.abs(rates[0] - rates[1]), 0.0, _NEAR_ONE)))
    if not found.is_known or not value < 1:
        return None
    below, above = _ks.selected(level, thresholds=len(tally.score) - 1), two_sided(level)
    reach = [z * widening(found.freedom, NormalLevel(z)) * sqrt(found.variance) for z in (below, above)]
    return max(float(np.tanh(np.arctanh(value) - reach[0])), 0.0), float(np.tanh(np.arctanh(value) + reach[1]))


def _on_scale(span: tuple[float, float], value: float, left_out: Floats, level: float) -> tuple[float, float] | None:
    """Jackknife interval on a scale without ends; None where the value, or one without a cluster, is at an end."""
    if span == (0, 1) and 0 < value < 1:
        found = jackknife(left_out)
        if not found.is_known:
            return None
        trials = value * (1 - value) / found.variance / widening(found.freedom, level) ** 2
        return wilson(value * trials, (1 - value) * trials, level)
    there, back = scale_of(span)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle, found = float(there(value)), jackknife(np.asarray(there(left_out)))
    if not (found.is_known and isfinite(middle)):
        return None
    reach = two_sided(level) * widening(found.freedom, level) * sqrt(found.variance)
    low, high = sorted(float(back(middle + side * reach)) for side in (-1, 1))
    return low, high


def _share(measure: Measure, cells: Alike, flagged: Bools, level: float) -> Found:
    r"""Interval of a share, as of as many trials as would be as sure: by its jackknife variance [@korn1998]."""
    hit, miss = (
        _by_cluster(cells, np.where(_among(cells, flagged, names), cells.mass, 0.0))
        for names in about(measure).share or ()
    )
    there = hit + miss > 0
    hit, miss = hit[there], miss[there]
    hits, misses, clusters = float(hit.sum()), float(miss.sum()), len(hit)
    p = ratio(hits, hits + misses)
    left_out = ratio(hits - hit, hits - hit + misses - miss)
    found = jackknife(left_out) if clusters > 1 and np.isfinite(left_out).all() else Spread(0.0, inf)
    # Where the variance is 0, all are hits or all misses: a cluster is worth one trial.
    known = found.is_known and 0 < p < 1 and bool((hit > 0).any() and (miss > 0).any())
    share = _binomial.as_share(p, found.variance if known else 0.0, _kish(hit + miss))
    shrunk = 1 / widening(found.freedom, level) ** 2 if known else 1.0
    low, high, how = _binomial.interval(_binomial.Share(share.hits * shrunk, share.misses * shrunk), level)
    return low, high, f"{how} with the jackknife variance of {count_of(clusters, 'cluster')}", None


def _table(measure: Measure, cells: Alike, flagged: Bools, *, level: float, seed: Seed) -> Found:
    """Jackknife interval of a measure of a 2×2 table; where cells are empty, middle of values with random weights."""
    names = ("tp", "fp", "fn", "tn")
    tables = np.stack(
        [_by_cluster(cells, np.where(_among(cells, flagged, (name,)), cells.mass, 0.0)) for name in names]
    )
    whole = tables.sum(axis=1)
    value = float(measure(Counts(*whole.tolist())))
    # What is left where only this cluster had something is rounding.
    rest = np.where(whole[:, None] - tables > 1e-12 * whole.sum(), whole[:, None] - tables, 0.0)
    found = _on_scale(about(measure).span, value, np.asarray(measure(Counts(*rest))), level) if whole.all() else None
    if found is not None:
        return *found, _method(cells), None
    return _drawn_tables(measure, tables, level=level, seed=seed)


def _drawn_tables(measure: Measure, tables: Floats, *, level: float, seed: Seed) -> Found:
    """Middle of the values with a random weight for each cluster."""
    # In each cell half of what a cluster usually adds to one, so that what was never seen is not taken for impossible.
    usual = float(np.sum(tables**2)) / float(tables.sum())
    cells, clusters = tables.shape

    def some(rng: np.random.Generator, draws: int) -> Floats:
        weight = rng.standard_exponential((draws, clusters))
        # Not by BLAS, whose sums depend on how many threads it uses.
        drawn = np.einsum("dc,kc->kd", weight, tables) + rng.standard_gamma(_PRIOR, (cells, draws)) * usual
        return np.asarray(measure(Counts(*drawn)))

    draws = max(min(_WORK // clusters, DRAWS), _LEAST)
    values = in_blocks(some, draws=draws, seed=seed, size=clusters)
    value = float(measure(Counts(*tables.sum(axis=1).tolist())))
    units = Units(clusters, cells * _PRIOR)
    return *_percentiles(values, value, units, level), f"resampled clusters, {count_of(draws, 'draw')}", None


def _area(measure: Measure, cells: Alike, model: str, *, level: float, seed: Seed) -> Found:
    """Interval of an AUC with the jackknife variance of clusters.

    From a hundred clusters on with that of their influences [@obuchowski1997clusters].
    """
    found = _auc.area(cells.tally(model))
    effective = [_kish(_by_cluster(cells, np.where(cells.truth == true, cells.mass, 0.0))) for true in (True, False)]
    if cells.clusters < _LINEAR:
        of_clusters, kind = jackknife(_left_out(auc, cells, model, seed)), "jackknife variance"
    else:
        of_clusters, kind = _influences(cells, model), "variance"
    if of_clusters.is_known:
        found = found._replace(variance=of_clusters.variance, freedom=of_clusters.freedom, clusters=min(effective))
    else:
        # Nothing is known of how clusters vary: each is worth one row.
        found = _auc.Area(found.value, nan, *effective)
    low, high, how = _auc.usual(found, level)
    if measure is not auc:
        low, high = 2 * low - 1, 2 * high - 1
    return low, high, f"{how}, with the {kind} of {count_of(cells.clusters, 'cluster')}", None


def _influences(cells: Alike, model: str) -> Spread:
    """Variance of an AUC by the sums of influences in each cluster, and its degrees of freedom."""
    moved = influence(cells, [model])
    return spread_of(_by_cluster(cells, moved.moved[0] * cells.times), moved.covariance(0, 0))


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
