"""Comparisons of a group with everybody, of whom it is a part; ratios; sums of independent values.

A measure that is a mean over rows has a weighted mean of both samples as its value for everybody. Its difference is
then a weighted sum of two independent values. Other measures have influence functions or joint bootstrap samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import exp, inf, isfinite, isnan, log, nan, sqrt
from typing import Any, NamedTuple

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._counts import Counts, combine_counts
from baserate._curve import Curve
from baserate._results import Estimate
from baserate._tally import Tally
from baserate.infer._binomial import has_fixed_prevalence, normal_quantile, share_cells, t_widening, wilson
from baserate.infer._bootstrap import Seed, sample_in_blocks, sample_masses
from baserate.infer._comparison import (
    BootstrapDifference,
    Comparison,
    ComparisonRequest,
    Limits,
    StudentizedDifference,
)
from baserate.infer._estimate import EstimateRequest, estimate_input
from baserate.infer._influence_differences import INFLUENCE_METHOD
from baserate.infer._mcnemar import N_TABLES
from baserate.infer._model_bootstrap import choose_n_samples
from baserate.infer._unpaired_comparison import (
    PRIOR_ROWS,
    compare_samples,
    count_units,
    effective_shares,
    pool_tally,
    prior_rows,
    resample_tally,
    welch_degrees,
)
from baserate.infer._variances import Units, VarianceComponent, has_influence, influence_slopes
from baserate.measure import (
    Measure,
    brier,
    describe,
    expected_cost,
    generalized_fnr,
    generalized_fpr,
    log_loss,
    net_benefit,
    net_reduction,
    undefined_reason,
    unwrap_options,
)

INDEPENDENT = "as if independent, which is conservative since they overlap"
RATIO_METHOD = "ratio of both intervals (MOVER)"
_MEANS: Mapping[Measure, str] = {
    **dict.fromkeys((brier, log_loss, expected_cost, net_benefit, net_reduction), "total"),
    generalized_fpr: "negatives",
    generalized_fnr: "positives",
}
"""Measures other than proportions that are a mean over rows, and the mass of these rows."""


class _Pool(NamedTuple):
    """Samples that are evaluated together, and the factor of their value in a contrast."""

    factor: float
    members: tuple[int, ...]
    """Positions of the samples."""


_WHOLE = (_Pool(1.0, (0,)), _Pool(-1.0, (0, 1)))
_SEPARATE = (_Pool(1.0, (0,)), _Pool(-1.0, (1,)))


def is_mean(measure: Measure) -> bool:
    """Return whether the value of pooled samples is a weighted mean of their own values."""
    return describe(measure).share is not None or unwrap_options(measure) in _MEANS


def pool_samples(samples: Sequence[Any]) -> Any:  # noqa: ANN401  (what the measure takes)
    """Add samples in the form that a measure takes: tables of decisions, curves, or tallies."""
    if len(samples) == 1:
        return samples[0]
    if isinstance(samples[0], Counts):
        return combine_counts(samples)
    if isinstance(samples[0], Curve):
        return Curve(Tally.sum(each.tally for each in samples))
    return Tally.sum(samples)


def compare_with_whole(request: ComparisonRequest, samples: Sequence[Any], *, seed: Seed = 0) -> Comparison:
    r"""Compare the first of two independent samples with both together; numbers of rows count as fixed.

    A mean over rows, such as a proportion, has the difference :math:`(1-w)(θ_1-θ_2)`, where w is the share of the first
    sample, and so are its bounds; p-values are the same. AUC, average precision and other smooth measures have
    influence functions, and the rest joint bootstrap samples.
    """
    contrast = _ContrastOfPools(request, samples, _WHOLE, seed)
    if isnan(sum(contrast.values)):
        reasons = [undefined_reason(request.measure, each) for each in contrast.pooled]
        labels = zip(("first", "second"), reasons, strict=True)
        why = "; ".join(f"{name}: {each}" for name, each in labels if each)
        return request.conclude(contrast.values, (nan, nan), "", why=why or "a value is undefined")
    return contrast.conclude()


class _ContrastOfPools:
    """One contrast, with the values and the data of its pools."""

    def __init__(
        self, request: ComparisonRequest, samples: Sequence[Any], pools: tuple[_Pool, ...], seed: Seed
    ) -> None:
        self.request, self.samples, self.pools, self.seed = request, samples, pools, seed
        self.measure = request.measure
        self.pooled = [pool_samples([samples[at] for at in pool.members]) for pool in pools]
        first, *others = (float(self.measure(each)) for each in self.pooled)
        self.values = first, -sum(pool.factor * value for pool, value in zip(pools[1:], others, strict=True))

    def conclude(self) -> Comparison:
        """Return the comparison by the method that suits the measure."""
        if not all(map(isfinite, self.values)):
            return self.request.conclude(self.values, (nan, nan), "", why="a value is infinite")
        if is_mean(self.measure):
            return self._conclude_mean()
        if has_influence(self.measure):
            difference = self.studentize([pool.factor for pool in self.pools])
            if difference.is_usable(max(map(abs, self.values))):
                return self.request.conclude_by_t(self.values, difference)
            return self._conclude_as_independent()
        if any(map(has_fixed_prevalence, self.samples)):
            return self._conclude_as_independent()
        return self._conclude_by_bootstrap()

    def _conclude_mean(self) -> Comparison:
        """Conclude from the comparison of both samples: the difference from the whole is a fixed part of theirs."""
        apart = compare_samples(self.request, list(self.samples), seed=self.seed)
        part, estimate = 1 - _first_share(self.measure, self.samples), apart.difference
        if isnan(estimate.value):
            return self.request.conclude(self.values, (nan, nan), "", why=estimate.why)
        how = estimate.how and f"{estimate.how}, times the share of other rows"
        value = self.values[0] - self.values[1]
        low, high = min(part * estimate.low, value), max(part * estimate.high, value)
        estimate = replace(estimate, value=value, low=low, high=high, how=how)
        return replace(apart, values=self.values, difference=estimate)

    def _conclude_as_independent(self) -> Comparison:
        """Conclude from the intervals of the pools; they overlap, so that this is conservative."""
        factors = [pool.factor for pool in self.pools]
        own = [float(self.measure(each)) for each in self.pooled]
        limits, how = make_limits(self.measure, self.pooled, factors)

        def interval(level: float) -> Limits:
            return add_in_quadrature(factors, own, limits(level))

        return self.request.conclude_from_intervals(self.values, interval, f"{how}, {INDEPENDENT}")

    def studentize(self, scales: Sequence[float]) -> StudentizedDifference:
        r"""Return the difference with the variance of its row contributions, :math:`\sum_js_j∂θ_j/∂w`."""
        tallies = [_tally_of(each) for each in self.pooled]
        slopes = [influence_slopes(self.measure, tally)[1:] for tally in tallies]
        parts = []
        for at, sample in enumerate(map(_tally_of, self.samples)):
            added = np.zeros((2, len(sample.score)))
            for pool, tally, slope, scale in zip(self.pools, tallies, slopes, scales, strict=True):
                if at in pool.members:
                    # Scores of a tally descend, and searchsorted needs ascending ones.
                    place = len(tally.score) - 1 - np.searchsorted(tally.score[::-1], sample.score)
                    with np.errstate(invalid="ignore"):  # infinite slopes where no row is
                        added += scale * np.stack([each[place] for each in slope])
            parts += _class_components(sample, added)
        return StudentizedDifference.of(self.values[0] - self.values[1], parts, INFLUENCE_METHOD)

    def _conclude_by_bootstrap(self) -> Comparison:
        """Conclude from joint bootstrap samples of all samples."""
        with np.errstate(invalid="ignore"):  # samples may be infinite
            values = self.bootstrap()
            combined: Floats = np.sum([pool.factor * one for pool, one in zip(self.pools, values, strict=True)], axis=0)
        bootstrap = self.describe_bootstrap(combined)
        if bootstrap.is_constant(max(map(abs, self.values))) or np.isnan(combined).any():
            return self._conclude_as_independent()
        return self.request.conclude_by_bootstrap(self.values, bootstrap)

    def describe_bootstrap(self, samples: Floats) -> BootstrapDifference:
        """Return bootstrap samples of the contrast with the rows on which they rest."""
        units = min((Units(count_units(each), prior_rows(each)) for each in self.samples), key=lambda one: one.observed)
        return BootstrapDifference(samples, "joint bootstrap samples of all groups", units)

    def bootstrap(self) -> Floats:
        """Sample the value of each pool: one row for each pool."""
        if isinstance(self.samples[0], Counts):
            tables = partial(_sample_tables, self.measure, self.samples, self.pools)
            return sample_in_blocks(tables, n_samples=N_TABLES, seed=self.seed, size=4 * len(self.samples)).T
        is_curve = isinstance(self.samples[0], Curve)
        tallies = [pool_tally(_tally_of(each)) for each in self.samples]

        def resample(rng: np.random.Generator, n_samples: int) -> Floats:
            return np.array([self._resample_once(tallies, rng, is_curve=is_curve) for _ in range(n_samples)])

        size = sum(tally.mass.size for tally in tallies)
        values = sample_in_blocks(resample, n_samples=choose_n_samples(size), seed=self.seed, size=size).T
        # Samples of pooled scores show the variation; shift them to the values of all scores.
        forms = [Curve(tally) if is_curve else tally for tally in tallies]
        rough = [float(self.measure(pool_samples([forms[at] for at in pool.members]))) for pool in self.pools]
        shifts = [float(self.measure(each)) - value for each, value in zip(self.pooled, rough, strict=True)]
        return np.asarray(values + np.nan_to_num(np.array(shifts))[:, None])

    def _resample_once(self, tallies: Sequence[Tally], rng: np.random.Generator, *, is_curve: bool) -> list[float]:
        resampled = [resample_tally(tally, rng, curve=is_curve) for tally in tallies]
        return [float(self.measure(pool_samples([resampled[at] for at in pool.members]))) for pool in self.pools]


def _first_share(measure: Measure, samples: Sequence[Any]) -> float:
    """Return the share of the first sample in the rows of a mean."""
    mass = [_mean_mass(measure, each) for each in samples]
    return ratio(mass[0], sum(mass))


def _mean_mass(measure: Measure, sample: Any) -> float:  # noqa: ANN401  (what the measure takes)
    """Return the mass of the rows of a mean."""
    if describe(measure).share is None:
        return float(getattr(sample, _MEANS[unwrap_options(measure)]))
    return sum(float(getattr(sample, name)) for names in share_cells(measure) for name in names)


def make_limits(
    measure: Measure, samples: Sequence[Any], factors: Sequence[float]
) -> tuple[Callable[[float], list[Limits]], str]:
    """Return a function from a level to the limits of each sample, and how they are made."""
    if describe(measure).share is None or any(map(has_fixed_prevalence, samples)):

        def own(level: float) -> list[Limits]:
            estimates = [estimate_input(measure, each, EstimateRequest(level)) for each in samples]
            return [(each.low, each.high) for each in estimates]

        return own, "intervals of all groups, added in quadrature"
    shares = effective_shares(measure, samples)
    is_plain = all(sample.moments is None for sample in samples)
    degrees = inf if is_plain else welch_degrees(shares, factors)

    def score(level: float) -> list[Limits]:
        part = 1 / t_widening(degrees, level) ** 2
        return [wilson(part * each.hits, part * each.misses, level) for each in shares]

    return score, "Wilson's intervals of all groups, added in quadrature (Newcombe)"


def add_in_quadrature(factors: Sequence[float], values: Sequence[float], limits: Sequence[Limits]) -> Limits:
    r"""Bound :math:`\sum_kc_kθ_k` of independent values by adding the distances of their limits [@zou2008].

    >>> low, high = add_in_quadrature([1, -1], [56 / 70, 48 / 80], [(0.6918, 0.8770), (0.4904, 0.7003)])
    >>> round(low, 4), round(high, 4)  # as of two proportions
    (0.0525, 0.3339)
    """
    middle = sum(factor * value for factor, value in zip(factors, values, strict=True))
    squares = [0.0, 0.0]
    for factor, value, (low, high) in zip(factors, values, limits, strict=True):
        reach = (value - low, high - value) if factor > 0 else (high - value, value - low)
        squares = [total + (factor * each) ** 2 for total, each in zip(squares, reach, strict=True)]
    return middle - sqrt(squares[0]), middle + sqrt(squares[1])


def conclude_by_quadrature(request: ComparisonRequest, values: Limits, bounds: Limits, how: str) -> Comparison:
    """Make a comparison from bounds that were added in quadrature, with a normal test: no search over levels.

    Half the width of the interval stands for the standard error. A search would repeat bootstrap samples many times.
    """
    if isnan(bounds[0] + bounds[1]):
        return request.conclude(values, (nan, nan), "", why="a value has no interval")
    error = (bounds[1] - bounds[0]) / 2 / normal_quantile(request.question.level)
    if not error > 0:
        return request.conclude_identical(values, how)
    tested = request.conclude_by_t(values, StudentizedDifference(values[0] - values[1], error, inf, how))
    return request.conclude(values, bounds, how, statistic=tested.statistic, p=tested.p, test=how)


def _tally_of(sample: Any) -> Tally:  # noqa: ANN401  (what the measure takes)
    tally = sample.tally if isinstance(sample, Curve) else sample
    assert isinstance(tally, Tally)  # noqa: S101  (for the type checker)
    return tally


def _class_components(tally: Tally, added: Floats) -> list[VarianceComponent]:
    """Return the variance of the row contributions of each class; at fixed class masses, of those less their mean."""
    parts = []
    for mass, squares, rows, slope in zip(tally.mass, tally.squares, tally.rows, added, strict=True):
        present = np.flatnonzero(rows)
        if not len(present):
            continue
        centered = slope[present]
        if tally.reweighed:
            centered = centered - float(np.average(centered, weights=mass[present]))
        power = squares[present] * centered**2
        second, fourth = float(power.sum()), float(np.sum(power**2 / rows[present]))
        parts.append(VarianceComponent.of(second, fourth, float(rows[present].sum())))
    return parts


def _sample_tables(
    measure: Measure, samples: Sequence[Counts[float]], pools: Sequence[_Pool], rng: np.random.Generator, n_samples: int
) -> Floats:
    """Sample the tables of all samples, and measure each pool: one column for each."""
    cells = [
        [np.array([each.tp, each.fp, each.fn, each.tn]) for each in (sample, sample.squares)] for sample in samples
    ]
    tables = np.stack([sample_masses(rng, n_samples, *each, prior=PRIOR_ROWS) for each in cells])
    sums = [tables[list(pool.members)].sum(axis=0) for pool in pools]
    return np.stack([np.asarray(measure(Counts(*each.T))) for each in sums], axis=1)


def ratio_of_samples(request: ComparisonRequest, samples: Sequence[Any], *, seed: Seed = 0) -> Estimate:
    r"""Estimate the ratio of a measure of two independent samples, from the limits of both [@donner2012].

    A ratio R is in the interval if 0 is in that of :math:`θ_1-Rθ_2`. So it contains 1 exactly where the interval of the
    difference contains 0, and a p-value of the difference is one of the ratio, too. Both values may be 0. Measures
    without limits of their own, such as calibration errors, have bootstrap samples of the logarithm.
    """
    measure, level = request.measure, request.question.level
    values = [float(measure(each)) for each in samples]
    limits, how = make_limits(measure, samples, (1.0, -1.0))
    pairs = limits(level)
    if any(map(isnan, (limit for pair in pairs for limit in pair))):
        return _log_ratio(_ContrastOfPools(request, samples, _SEPARATE, seed))
    return _make_ratio(values, pairs, level, f"{how}; {RATIO_METHOD}")


def _make_ratio(values: Sequence[float], limits: Sequence[Limits], level: float, how: str) -> Estimate:
    value = ratio(values[0], values[1])
    if isnan(value):
        return Estimate(nan, why="both values are 0" if values[0] == values[1] == 0 else "a value is undefined")
    low, high = bound_ratio((values[0], values[1]), limits[0], limits[1])
    return Estimate(value, min(low, value), max(high, value), level, how)


def bound_ratio(values: Limits, first: Limits, second: Limits) -> Limits:
    r"""Bound the ratio of two independent values from the limits of both [@donner2012].

    With values a, b and limits l, u, the lower bound solves :math:`(a-Rb)^2=(a-l_1)^2+R^2(u_2-b)^2`.

    >>> low, high = bound_ratio((0.8, 0.6), (0.6918, 0.8770), (0.4904, 0.7003))
    >>> round(low, 4), round(high, 4)
    (1.0784, 1.6631)
    """
    (a, b), (low_a, high_a), (low_b, high_b) = values, first, second
    ends = []
    for limit_a, limit_b, sign in ((low_a, high_b, -1.0), (high_a, low_b, 1.0)):
        # The quadratic R²·b'(2b − b') − 2ab·R + a'(2a − a') = 0, where b' and a' are the limits.
        square, constant = limit_b * (2 * b - limit_b), limit_a * (2 * a - limit_a)
        spread = sqrt(max((a * b) ** 2 - square * constant, 0.0))
        if sign > 0 and square <= 0:  # the denominator may be 0
            ends.append(inf)
        elif square == 0:
            ends.append(ratio(constant, 2 * a * b))
        else:
            ends.append((a * b + sign * spread) / square)
    return max(ends[0], 0.0), ends[1]


def ratio_to_whole(request: ComparisonRequest, samples: Sequence[Any], *, seed: Seed = 0) -> Estimate:
    r"""Estimate the ratio of a measure of the first sample to that of both pooled.

    A mean over rows with the share w of rows in the first sample has :math:`R/(wR+1-w)`, where R is the ratio to the
    second sample. It increases with R, so its bounds are those of R in the formula. Other measures have the difference
    of logarithms.
    """
    measure, level = request.measure, request.question.level
    if is_mean(measure):
        share = _first_share(measure, samples)
        rest = ratio_of_samples(request, samples, seed=seed)
        value = ratio(float(measure(samples[0])), float(measure(pool_samples(samples))))
        if share == 1 or isnan(rest.value):
            return Estimate(value, why=rest.why or "there are no other rows")
        low, high = (_ratio_to_whole(each, share) for each in (rest.low, rest.high))
        return Estimate(value, min(low, value), max(high, value), level, rest.how)
    return _log_ratio(_ContrastOfPools(request, samples, _WHOLE, seed))


def _log_ratio(contrast: _ContrastOfPools) -> Estimate:
    """Estimate the ratio of two pools from the difference of their logarithms."""
    first, second = contrast.values
    value, level = ratio(first, second), contrast.request.question.level
    if not (isfinite(value) and first > 0 and second > 0):
        return Estimate(value, why="a value is 0, undefined or infinite, so that it has no logarithm")
    low, high, how = _bound_log_ratio(contrast, level)
    if isnan(low + high):
        return Estimate(value, why="no interval of a value is defined")
    return Estimate(value, min(exp(low), value), max(exp(high), value), level, how)


def _ratio_to_whole(rest: float, share: float) -> float:
    return 1 / share if rest == inf else ratio(rest, share * rest + 1 - share)


def _bound_log_ratio(contrast: _ContrastOfPools, level: float) -> tuple[float, float, str]:
    """Bound the logarithm of a ratio by influence functions, by bootstrap samples, or as if both were independent."""
    middle = log(ratio(*contrast.values))
    if has_influence(contrast.measure):
        difference = contrast.studentize([1 / contrast.values[0], -1 / contrast.values[1]])
        if difference.is_usable(1.0):
            low, high = difference._replace(value=middle).interval(level)
            return low, high, f"{INFLUENCE_METHOD}, of the logarithm"
    elif not any(map(has_fixed_prevalence, contrast.samples)):
        values = contrast.bootstrap()
        if (values > 0).all() and np.isfinite(values).all():
            bootstrap = contrast.describe_bootstrap(np.log(values[0]) - np.log(values[1]))
            if not bootstrap.is_constant(1.0):
                return *bootstrap.interval(middle, level), bootstrap.description
    limits, how = make_limits(contrast.measure, contrast.pooled, (1.0, -1.0))
    pairs = limits(level)
    if any(map(isnan, (limit for pair in pairs for limit in pair))):
        return nan, nan, how
    low, high = bound_ratio(contrast.values, *pairs)
    return log(low) if low > 0 else -inf, log(high) if high < inf else inf, f"{how}; {RATIO_METHOD}, {INDEPENDENT}"
