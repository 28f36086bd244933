"""Intervals of clustered rows, such as several per patient, site or day: jackknife and bootstrap over clusters.

Contributions are summed within clusters first; only clusters are independent.
"""

from __future__ import annotations

from math import inf, isfinite, isinf, nan, sqrt
from typing import NamedTuple

import numpy as np

from baserate._arrays import Bools, Floats, ratio
from baserate._counts import Counts
from baserate._formatting import count_of
from baserate._rows import Rows
from baserate.infer import _auc_intervals, _binomial, _confidence_bands
from baserate.infer._auc_intervals import auc_influence
from baserate.infer._binomial import NormalLevel, normal_quantile, t_widening, wilson
from baserate.infer._bootstrap import Seed, evaluate_tally, make_generator, percentiles, sample_in_blocks
from baserate.infer._model_bootstrap import SortedScores, UniqueRows, bootstrap_models, unique_rows
from baserate.infer._operating_points import is_operating_point
from baserate.infer._variances import (
    UNBOUNDED,
    Bounds,
    Units,
    explain_heavy_tail,
    find_scale,
    stretch_percentiles,
)
from baserate.measure import Measure, accuracy_ratio, auc, describe, gini, ks

N_BOOTSTRAP = 10_000
_MAX_WORK = 20_000_000
"""Random weights of clusters in all bootstrap samples, and rows in all jackknife samples."""
_MIN_SAMPLES = 1000
_PRIOR = 0.5
_GROUPS = 50, 500
"""Fewest and most jackknife samples; with more clusters, each omits a group of them."""
_INFLUENCE_CLUSTERS = 100
"""Clusters above which influences replace the jackknife."""
_NEAR_ONE = 1 - 1e-12
"""Largest argument with a finite inverse hyperbolic tangent."""


class ClusterVariance(NamedTuple):
    """Variance of a number between clusters, and its degrees of freedom."""

    variance: float
    freedom: float

    @property
    def is_positive(self) -> bool:
        """Return whether clusters vary, and by a finite amount."""
        return 0 < self.variance < inf


def jackknife(values: Floats) -> ClusterVariance:
    r"""Compute the jackknife variance :math:`\frac{C-1}C\sum_c(θ_{-c}-\barθ)^2` over C clusters.

    A variance of C independent terms with excess kurtosis γ has :math:`2C/(γ+2)-1` degrees of freedom: C − 1 for normal
    terms, never more, and fewer where a few large clusters make most of it. γ is estimated without bias, since few
    clusters hardly show it [@efron1993] [@satterthwaite1946].
    """
    deviations = values - values.mean()
    return find_cluster_variance(deviations, (len(values) - 1) / len(values) * float(np.sum(deviations**2)))


def find_cluster_variance(deviations: Floats, variance: float) -> ClusterVariance:
    """Return a variance with the degrees of freedom of the sum of squares of these deviations."""
    n, second = len(deviations), float(np.sum(deviations**2))
    if n < 4 or not 0 < second < inf:
        return ClusterVariance(variance, n - 1.0)
    excess = n * float(np.sum(deviations**4)) / second**2 - 3
    # The usual unbiased estimate, which requires four clusters.
    kurtosis = (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * excess + 6)
    return ClusterVariance(variance, max(min(n - 1.0, 2 * n / (kurtosis + 2) - 1), 1.0) if kurtosis > -2 else n - 1.0)


def cluster_interval(measure: Measure, rows: Rows, *, threshold: float | None, level: float, seed: Seed) -> Bounds:
    """Bound any measure of clustered rows."""
    (model,) = rows.score
    cells = unique_rows(rows, [model])
    if cells.clusters < 2:
        return Bounds(nan, nan, "clusters", "there is a single cluster")
    if describe(measure).of is Counts:
        flagged = cells.score[model] >= float(threshold or 0.0)
        if describe(measure).share:
            return _share_interval(measure, cells, flagged, level)
        return _table_interval(measure, cells, flagged, level=level, seed=seed)
    if measure in (auc, gini, accuracy_ratio):
        return _auc_interval(measure, cells, model, level=level, seed=seed)
    heavy = explain_heavy_tail(cells.tally(model)) if measure in UNBOUNDED else None
    if heavy:
        return Bounds(nan, nan, _describe_method(cells), heavy)
    return _score_interval(measure, cells, model, level=level, seed=seed)


def _score_interval(measure: Measure, cells: UniqueRows, model: str, *, level: float, seed: Seed) -> Bounds:
    """Bound a measure of ranks or probabilities by the jackknife; by random weights where that is undefined."""
    value = evaluate_tally(measure, cells.tally(model))
    if isinf(value):
        return Bounds(nan, nan, _describe_method(cells), "the value is infinite")
    limits: tuple[float, float] | None = None  # the jackknife fails for a rate at an estimated threshold, a quantile
    if measure is ks:
        limits = _ks_limits(cells, model, value, level)
    elif not is_operating_point(measure):
        limits = _jackknife_limits(
            describe(measure).span, value, _leave_out_clusters(measure, cells, model, seed), level
        )
    if limits is not None:
        return Bounds(*limits, _describe_method(cells))
    samples, how = bootstrap_models(measure, cells, [model], seed)
    bounds = _bound_by_percentiles(samples[:, 0], value, Units(cells.clusters), level)
    return Bounds(*bounds, f"{how}, {count_of(len(samples), 'sample')}")


def _describe_method(cells: UniqueRows) -> str:
    return f"jackknife over {count_of(cells.clusters, 'cluster')}, t quantiles"


def _leave_out_clusters(measure: Measure, cells: UniqueRows, model: str, seed: Seed) -> Floats:
    """Evaluate a measure with each cluster left out in turn; with very many clusters, each of some random groups."""
    assert cells.cluster is not None  # noqa: S101  (for the type checker)
    least, most = _GROUPS
    groups = min(cells.clusters, max(min(_MAX_WORK // max(len(cells), 1), most), least))
    group = np.arange(cells.clusters)
    if groups < cells.clusters:
        # At random: clusters are numbered by content, so neighbors are similar.
        group = make_generator(seed).permutation(cells.clusters) % groups
    code, mass, sorted_scores = group[cells.cluster], cells.mass, SortedScores.of(cells, model)
    masses = (np.where(code == at, 0.0, mass)[None] for at in range(groups))
    return np.array([evaluate_tally(measure, next(sorted_scores.tallies(each))) for each in masses])


def _ks_limits(cells: UniqueRows, model: str, value: float, level: float) -> tuple[float, float] | None:
    """Bound KS by the jackknife of TPR − FPR at the threshold with the largest difference.

    The lower bound allows for a selected threshold, as for independent rows [@miller1982]. Correcting the bias of the
    maximum by random weights instead covered 36% where the classes have equal scores.
    """
    tally = cells.tally(model)
    flagged = cells.score[model] >= _confidence_bands.ks_threshold(tally)
    true, false = (
        [cells.sum_by_cluster(np.where((cells.truth == of) & mask, cells.mass, 0.0)) for mask in (flagged, True)]
        for of in (True, False)
    )
    rates = [ratio(hit.sum() - hit, whole.sum() - whole) for hit, whole in (true, false)]
    spread = jackknife(np.arctanh(np.clip(np.abs(rates[0] - rates[1]), 0.0, _NEAR_ONE)))
    if not spread.is_positive or not value < 1:
        return None
    below, above = _confidence_bands.selected_quantile(level, thresholds=len(tally.score) - 1), normal_quantile(level)
    reach = [z * t_widening(spread.freedom, NormalLevel(z)) * sqrt(spread.variance) for z in (below, above)]
    return max(float(np.tanh(np.arctanh(value) - reach[0])), 0.0), float(np.tanh(np.arctanh(value) + reach[1]))


def _jackknife_limits(
    span: tuple[float, float], value: float, left_out: Floats, level: float
) -> tuple[float, float] | None:
    """Return the jackknife interval on an unbounded scale; None where a value is at an end of its span."""
    if span == (0, 1) and 0 < value < 1:
        spread = jackknife(left_out)
        if not spread.is_positive:
            return None
        trials = value * (1 - value) / spread.variance / t_widening(spread.freedom, level) ** 2
        return wilson(value * trials, (1 - value) * trials, level)
    transform, inverse = find_scale(span)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle, spread = float(transform(value)), jackknife(np.asarray(transform(left_out)))
    if not (spread.is_positive and isfinite(middle)):
        return None
    reach = normal_quantile(level) * t_widening(spread.freedom, level) * sqrt(spread.variance)
    # Sorted, since the scale of skills, log(1 − value), falls.
    low, high = sorted(float(inverse(middle + side * reach)) for side in (-1, 1))
    return low, high


def _share_interval(measure: Measure, cells: UniqueRows, flagged: Bools, level: float) -> Bounds:
    """Bound a proportion with the effective trials of its jackknife variance [@korn1998]."""
    hit, miss = (
        cells.sum_by_cluster(np.where(_in_cells(cells, flagged, names), cells.mass, 0.0))
        for names in describe(measure).share or ()
    )
    nonempty = hit + miss > 0
    hit, miss = hit[nonempty], miss[nonempty]
    hits, misses, clusters = float(hit.sum()), float(miss.sum()), len(hit)
    p = ratio(hits, hits + misses)
    left_out = ratio(hits - hit, hits - hit + misses - miss)
    spread = jackknife(left_out) if clusters > 1 and np.isfinite(left_out).all() else ClusterVariance(0.0, inf)
    # A variance of 0 means only hits or only misses: each cluster counts as one trial.
    usable = spread.is_positive and 0 < p < 1 and bool((hit > 0).any() and (miss > 0).any())
    share = _binomial.proportion_from_variance(p, spread.variance if usable else 0.0, _effective_size(hit + miss))
    shrinkage = 1 / t_widening(spread.freedom, level) ** 2 if usable else 1.0
    low, high, how = _binomial.proportion_interval(
        _binomial.Proportion(share.hits * shrinkage, share.misses * shrinkage), level
    )
    return Bounds(low, high, f"{how} with the jackknife variance of {count_of(clusters, 'cluster')}")


def _table_interval(measure: Measure, cells: UniqueRows, flagged: Bools, *, level: float, seed: Seed) -> Bounds:
    """Bound a measure of a 2×2 table by the jackknife; where cells are empty, by random weights of clusters."""
    names = ("tp", "fp", "fn", "tn")
    tables = np.stack(
        [cells.sum_by_cluster(np.where(_in_cells(cells, flagged, (name,)), cells.mass, 0.0)) for name in names]
    )
    whole = tables.sum(axis=1)
    value = float(measure(Counts(*whole.tolist())))
    # Subtraction leaves rounding errors in cells that only this cluster occupies.
    rest = np.where(whole[:, None] - tables > 1e-12 * whole.sum(), whole[:, None] - tables, 0.0)
    limits = (
        _jackknife_limits(describe(measure).span, value, np.asarray(measure(Counts(*rest))), level)
        if whole.all()
        else None
    )
    if limits is not None:
        return Bounds(*limits, _describe_method(cells))
    return _bootstrap_table_interval(measure, tables, level=level, seed=seed)


def _bootstrap_table_interval(measure: Measure, tables: Floats, *, level: float, seed: Seed) -> Bounds:
    """Bound a measure by percentiles of its values with a random weight for each cluster."""
    # Half of a usual cluster's contribution as a prior in each cell, so that empty cells are not taken for impossible.
    usual = float(np.sum(tables**2)) / float(tables.sum())
    cells, clusters = tables.shape

    def sample(rng: np.random.Generator, n_samples: int) -> Floats:
        weight = rng.standard_exponential((n_samples, clusters))
        # Not by BLAS, whose sums depend on the number of threads.
        masses = np.einsum("dc,kc->kd", weight, tables) + rng.standard_gamma(_PRIOR, (cells, n_samples)) * usual
        return np.asarray(measure(Counts(*masses)))

    n_samples = max(min(_MAX_WORK // clusters, N_BOOTSTRAP), _MIN_SAMPLES)
    values = sample_in_blocks(sample, n_samples=n_samples, seed=seed, size=clusters)
    value = float(measure(Counts(*tables.sum(axis=1).tolist())))
    units = Units(clusters, cells * _PRIOR)
    return Bounds(
        *_bound_by_percentiles(values, value, units, level), f"resampled clusters, {count_of(n_samples, 'sample')}"
    )


def _auc_interval(measure: Measure, cells: UniqueRows, model: str, *, level: float, seed: Seed) -> Bounds:
    """Bound an AUC with the jackknife variance of clusters.

    From a hundred clusters on, use the variance of their influences [@obuchowski1997clusters].
    """
    estimate = _auc_intervals.estimate_auc(cells.tally(model))
    effective = [
        _effective_size(cells.sum_by_cluster(np.where(cells.truth == true, cells.mass, 0.0))) for true in (True, False)
    ]
    if cells.clusters < _INFLUENCE_CLUSTERS:
        spread, kind = jackknife(_leave_out_clusters(auc, cells, model, seed)), "jackknife variance"
    else:
        spread, kind = _influence_variance(cells, model), "variance"
    if spread.is_positive:
        estimate = estimate._replace(variance=spread.variance, freedom=spread.freedom, clusters=min(effective))
    else:
        # Without a variance between clusters, each counts as one row.
        estimate = _auc_intervals.AucEstimate(estimate.value, nan, *effective)
    low, high, how = _auc_intervals.auc_interval(estimate, level)
    if measure is not auc:
        low, high = 2 * low - 1, 2 * high - 1
    return Bounds(low, high, f"{how}, with the {kind} of {count_of(cells.clusters, 'cluster')}")


def _influence_variance(cells: UniqueRows, model: str) -> ClusterVariance:
    """Return the variance of an AUC by sums of influences in each cluster, and its degrees of freedom."""
    influence = auc_influence(cells, [model])
    return find_cluster_variance(cells.sum_by_cluster(influence.slopes[0] * cells.times), influence.covariance(0, 0))


def _in_cells(cells: UniqueRows, flagged: Bools, names: tuple[str, ...]) -> Bools:
    """Return whether each kind of row is in one of these cells of the table."""
    where = {
        "tp": cells.truth & flagged,
        "fp": ~cells.truth & flagged,
        "fn": cells.truth & ~flagged,
        "tn": ~(cells.truth | flagged),
    }
    mask: Bools = np.any([where[name] for name in names], axis=0)
    return mask


def _effective_size(mass: Floats) -> float:
    return ratio(float(mass.sum()) ** 2, float(np.sum(mass**2)))


def _bound_by_percentiles(samples: Floats, value: float, units: Units, level: float) -> tuple[float, float]:
    defined = samples[~np.isnan(samples)]
    if not len(defined):
        return nan, nan
    return stretch_percentiles(percentiles(defined, level), value, units, level)
