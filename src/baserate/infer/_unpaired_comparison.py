"""Comparison of independent samples, such as two sites, two groups of people, or before and after a change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import inf, isfinite, isnan, nan, sqrt
from typing import Any

import numpy as np

from baserate._arrays import Floats, make_read_only, ratio
from baserate._costs import CostsLike, as_costs
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._errors import OptionError, keyword
from baserate._tally import Tally
from baserate.infer import _auc_intervals, _binomial
from baserate.infer._binomial import Proportion, effective_proportion, share_cells, t_widening, wilson
from baserate.infer._bootstrap import Seed, make_generator, sample_in_blocks, sample_masses
from baserate.infer._comparison import (
    NO_VARIANCE,
    BootstrapDifference,
    Comparison,
    ComparisonRequest,
    Limits,
    Question,
    StudentizedDifference,
    newcombe_hybrid,
    share_limits,
    student_p,
)
from baserate.infer._estimate import (
    CLOSED_FORM,
    EstimateRequest,
    IntervalInput,
    interval_methods,
    mention_method,
)
from baserate.infer._mcnemar import N_TABLES
from baserate.infer._model_bootstrap import POOLED_RANKS, choose_n_samples, pool_ranks
from baserate.infer._paired_comparison import AUC_SCALES, check_curve_test, find_threshold, has_delong_test
from baserate.infer._roc_permutation import RocSample, unpaired_curve_test
from baserate.infer._variances import Units, influence_variance
from baserate.measure import (
    Measure,
    Settings,
    as_measure,
    brier,
    brier_skill,
    describe,
    discrimination_index,
    log_loss,
    log_loss_skill,
    nagelkerke_r2,
    quality_index,
    require_options,
    undefined_reason,
    unwrap_options,
)
from baserate.read import accepts_two

PRIOR_ROWS = 0.5
_LOSS_MEASURES = (brier, brier_skill, log_loss, log_loss_skill, nagelkerke_r2, discrimination_index, quality_index)
_CONSTANT_AUC = 0.5
"""AUC of constant scores."""


@accepts_two("tally")
def compare_unpaired(  # noqa: PLR0913  (each is a part of the question)
    a: Tally,
    b: Tally,
    *,
    measure: str | Measure = "auc",
    threshold: float | None = None,
    question: Question = Question(),  # noqa: B008  (it is immutable)
    costs: CostsLike | None = None,
    seed: Seed = 0,
) -> Comparison:
    """Compare two independent samples, of one model or of two: the difference of a measure, its interval, a p-value.

    `Question(method="venkatraman")` tests that two whole ROC curves are equal [@venkatraman2000].

    AUC and its linear transforms have DeLong's variances with Student's distribution and Welch's degrees of freedom, as
    in pROC [@delong1988] [@welch1947], and score limits where a sample is perfect. Proportions have Newcombe's hybrid
    of Wilson intervals, and the p-value at which it reaches the bound [@newcombe1998]; weighted rows count with the
    effective sizes of both samples. Brier score, log loss and their skill have Welch's t with fourth-moment degrees of
    freedom [@satterthwaite1946]. KS and average precision have Newcombe's hybrid of the intervals that `estimate`
    gives. All other measures have independent bootstrap samples of both. For models scored on the same rows use
    `compare`, which accounts for their correlation.

    Parameters
    ----------
    a
        Tally of the first sample, or a pair of its labels and scores.
    b
        Tally of the second sample, or a pair.
    measure
        Name or function of a measure.
    threshold
        Scores at or above it are flagged, for measures that need it; by default 0.5 if scores are probabilities.
    question
        Alternative, margin, level and method.
    costs
        Costs of outcomes, for the measure expected_cost.
    seed
        Seed or NumPy generator.

    Returns
    -------
    Comparison
        The difference first − second, its interval and p-value.

    Raises
    ------
    OptionError
        The samples are not tallies, or the method does not fit the measure.

    Examples
    --------
    >>> men = Tally.from_counts([1.0, 0.0], [[56, 14], [0, 0]])
    >>> women = Tally.from_counts([1.0, 0.0], [[48, 32], [0, 0]])
    >>> d = compare_unpaired(men, women, measure="sensitivity", threshold=0.5).difference
    >>> round(d.value, 4), round(d.low, 4), round(d.high, 4)  # Newcombe 1998, table II, method 10
    (0.2, 0.0524, 0.3339)
    >>> compare_unpaired(([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]), ([1, 0, 1], [0.7, 0.6, 0.8])).values
    (0.75, 1.0)
    """
    function = Settings(costs=as_costs(costs)).apply(as_measure(measure))
    require_options([function])
    samples = [_make_input(tally, describe(function).of, threshold) for tally in (a, b)]
    return compare_samples(ComparisonRequest(function, question), samples, seed=seed)


def compare_samples(request: ComparisonRequest, samples: list[Any], *, seed: Seed = 0) -> Comparison:
    """Compare two samples in the form that the measure takes: tables of decisions, curves, or tallies."""
    function = request.measure
    values = float(function(samples[0])), float(function(samples[1]))
    if isnan(values[0] - values[1]):
        reasons = [undefined_reason(function, sample) for sample in samples]
        labels = zip(("first", "second"), reasons, strict=True)
        return request.conclude(
            values, (nan, nan), "", why="; ".join(f"{name}: {each}" for name, each in labels if each)
        )
    reweighed = any(map(_binomial.has_fixed_prevalence, samples))
    weighted = any(isinstance(sample, Curve) and sample.tally.weighted for sample in samples)
    method = _choose_method(request, values, reweighed=reweighed, weighted=weighted)
    comparisons: dict[str, Callable[[], Comparison]] = {
        "venkatraman": partial(_compare_curves, request, samples, seed),
        "delong": partial(_compare_by_welch, request, samples),
        "newcombe": partial(_compare_by_newcombe, request, samples),
        "t": partial(_compare_losses, request, samples, values),
        "hybrid": partial(_compare_by_intervals, request, samples, values),
        "resample": partial(_compare_by_bootstrap, request, samples, values, seed),
    }
    return comparisons[method]()


def _choose_method(request: ComparisonRequest, values: Limits, *, reweighed: bool, weighted: bool) -> str:
    info, method = describe(request.measure), request.question.method
    area = has_delong_test(info, None)
    if method == "venkatraman":
        check_curve_test(request, "counts rows, and these have weights" if weighted else None)
        return method
    if reweighed and not area:
        if method is None:
            return "hybrid"
        raise OptionError(
            f"{mention_method(method)} samples all rows, but the class shares are fixed", remedy="leave it out."
        )
    if method is None and request.measure in _LOSS_MEASURES and isfinite(values[0]) and isfinite(values[1]):
        return "t"
    closed = unwrap_options(request.measure) in CLOSED_FORM
    if method is None and closed and not area and isfinite(values[0]) and isfinite(values[1]):
        return "hybrid"
    if method is None:
        return "delong" if area else "newcombe" if info.of is Counts and info.share else "resample"
    has_delong_test(info, method)
    if method not in {"delong", "resample"}:
        raise OptionError(
            "McNemar's test compares models on the same rows",
            remedy=f"use {keyword('method', 'resample')}, or compare(rows).",
        )
    return method


def _make_input(tally: Tally, of: type, threshold: float | None) -> Any:  # noqa: ANN401  (what the measure takes)
    if of is Counts:
        return Curve(tally).at(find_threshold("the score", tally.score, threshold))
    return Curve(tally) if of is Curve else tally


def _compare_by_welch(request: ComparisonRequest, curves: list[Curve]) -> Comparison:
    """Compare areas by Welch's t test with DeLong's variances."""
    from scipy.special import stdtrit

    scale = AUC_SCALES[describe(request.measure).name]
    areas = [_auc_intervals.estimate_auc(curve.tally) for curve in curves]
    values = float(request.measure(curves[0])), float(request.measure(curves[1]))
    spread = areas[0].variance + areas[1].variance
    # Constant scores truly have no variance; a perfect sample only seems to.
    if not spread > 0 or any(not each.variance > 0 and each.value != _CONSTANT_AUC for each in areas):
        how = "Newcombe's score limits of both areas: some rows show no variance"
        return request.conclude_by_areas(values, areas, how, scale)
    # Welch–Satterthwaite, with rows − 1 degrees of freedom for each sample.
    rows = [each.positives + each.negatives for each in areas]
    freedom = spread**2 / sum(each.variance**2 / (size - 1) for each, size in zip(areas, rows, strict=True))
    difference, error = values[0] - values[1], scale * sqrt(spread)
    half = float(stdtrit(freedom, (1 + request.question.level) / 2)) * error
    t = (difference - request.bound) / error
    how = "DeLong, unpaired, Welch's t"
    bounds = (difference - half, difference + half)
    return request.conclude(values, bounds, how, statistic=t, p=student_p(t, freedom, request.side), test=how)


def _compare_curves(request: ComparisonRequest, curves: list[Curve], seed: Seed) -> Comparison:
    """Compare whole ROC curves by Venkatraman's test; the interval is that of the difference in area."""
    # Ordered by content, so that swapping the samples only changes the sign of the difference.
    first, second = (_repeat_rows(curve.tally) for curve in sorted(curves, key=partial(_sort_key, 0.0)))
    return replace(_compare_by_welch(request, curves), **unpaired_curve_test(first, second, seed).as_test)


def _repeat_rows(tally: Tally) -> RocSample:
    """Return the labels and scores of all rows of a tally."""
    counts = tally.rows.astype(np.int64)
    truth = np.repeat([True, False], counts.sum(axis=1))
    return RocSample(truth, np.concatenate([np.repeat(tally.score, each) for each in counts]))


def _compare_by_newcombe(request: ComparisonRequest, samples: list[Counts[float]]) -> Comparison:
    """Compare proportions by Newcombe's hybrid score interval."""
    first, second = effective_shares(request.measure, samples)
    degrees = inf if all(sample.moments is None for sample in samples) else welch_degrees([first, second])

    def interval(level: float) -> Limits:
        part = 1 / t_widening(degrees, level) ** 2
        bounds = [wilson(part * each.hits, part * each.misses, level) for each in (first, second)]
        return newcombe_hybrid((_share_value(first), _share_value(second)), *bounds)

    values = float(request.measure(samples[0])), float(request.measure(samples[1]))
    return request.conclude_from_intervals(values, interval, "Newcombe's hybrid score interval")


def welch_degrees(shares: Sequence[Proportion[float]], factors: Sequence[float] = (1.0, -1.0)) -> float:
    """Return the degrees of freedom of a variance estimated from weighted rows [@welch1947].

    The variance is that of a sum of shares with factors, such as their difference.
    """
    variances = [
        factor**2 * each.hits * each.misses / each.trials**3 for each, factor in zip(shares, factors, strict=True)
    ]
    rows = [max(each.trials - 1, 1.0) for each in shares]
    uncertainty = sum(variance**2 / each for variance, each in zip(variances, rows, strict=True))
    return sum(variances) ** 2 / uncertainty if uncertainty > 0 else sum(rows)


def effective_shares(measure: Measure, samples: Sequence[Counts[float]]) -> list[Proportion[float]]:
    r"""Return effective hits and misses of several samples: the plain counts with the same variance.

    Sample g has Kish's :math:`(\sum w)^2/\sum w^2` rows [@kish1965], times the ratio of :math:`p_g(1-p_g)` to the
    residual variance :math:`\sum w^2(y-p_g)^2/\sum w^2`, averaged over all samples. The variance of a single sample is
    too uncertain: where its few heavy rows agree it is far too small.
    """
    if all(sample.moments is None for sample in samples):
        return [effective_proportion(measure, sample) for sample in samples]
    cells = np.array([_hits_and_misses(measure, sample) for sample in samples])
    mass, squares = cells[:, :2].sum(axis=1), cells[:, 2:].sum(axis=1)
    p, q = cells[:, 0] / mass, cells[:, 1] / mass
    kish = mass**2 / squares
    # In units of each sample's usual weight, since the scale of weights is arbitrary.
    usual = (squares / mass) ** 2
    expected = float(np.sum(p * q * squares / usual))
    observed = float(np.sum((q**2 * cells[:, 2] + p**2 * cells[:, 3]) / usual))
    trials = kish * (expected / observed if observed > 0 else 1.0)
    return [Proportion(float(hit), float(miss)) for hit, miss in zip(p * trials, q * trials, strict=True)]


def _hits_and_misses(measure: Measure, sample: Counts[float]) -> list[float]:
    """Return the masses of hits and misses, then their squared weights."""
    cells = share_cells(measure)
    return [sum(getattr(table, name) for name in names) for table in (sample, sample.squares) for names in cells]


def _compare_losses(request: ComparisonRequest, tallies: list[Tally], values: Limits) -> Comparison:
    """Compare mean losses by Welch's t test; where a sample shows no variance, by the intervals of both."""
    spreads = [influence_variance(request.measure, tally, value) for tally, value in zip(tallies, values, strict=True)]
    # Sorted, so that the order of the samples does not change the last digit.
    parts = sorted(part for each in spreads for part in (each.positive_part, each.negative_part) if part.rows)
    difference = StudentizedDifference.of(
        values[0] - values[1], parts, "Welch's t with fourth-moment degrees of freedom"
    )
    if not all(each.variance > 0 for each in spreads) or not difference.is_usable(max(map(abs, values))):
        return _compare_by_intervals(request, tallies, values)
    return request.conclude_by_t(values, difference)


def _compare_by_intervals(request: ComparisonRequest, samples: list[Any], values: Limits) -> Comparison:
    """Compare by Newcombe's hybrid of the interval that `estimate` gives each sample."""

    def own(sample: Any, value: float, level: float) -> Limits:  # noqa: ANN401  (what the measure takes)
        way = interval_methods(request.measure, reweighed=_binomial.has_fixed_prevalence(sample))[""]
        bounds = way(IntervalInput(request.measure, sample, value, EstimateRequest(level)))
        return (nan, nan) if bounds.why else (min(bounds.low, value), max(bounds.high, value))

    def interval(level: float) -> Limits:
        return newcombe_hybrid(
            values, *(own(sample, value, level) for sample, value in zip(samples, values, strict=True))
        )

    return request.conclude_from_intervals(values, interval, "Newcombe's hybrid of both intervals")


def _share_value(proportion: Proportion[float]) -> float:
    return proportion.hits / proportion.trials


def _compare_by_bootstrap(request: ComparisonRequest, samples: list[Any], values: Limits, seed: Seed) -> Comparison:
    """Compare by independent bootstrap samples of both."""
    own = make_generator(seed).spawn(2)
    # Order by content, so that swapping the samples only changes the sign.
    swapped = _sort_key(values[0], samples[0]) > _sort_key(values[1], samples[1])
    each = [
        BootstrapDifference(
            _bootstrap_values(request.measure, sample, rng), "", Units(count_units(sample), prior_rows(sample))
        )
        for sample, rng in zip(samples, own[::-1] if swapped else own, strict=True)
    ]
    if any(one.is_constant(value) for one, value in zip(each, values, strict=True)):
        return _compare_constant_samples(request, each, values)
    # Larger samples are resampled less often; independent values may be paired in any order.
    fewest = min(len(one.samples) for one in each)
    with np.errstate(invalid="ignore"):  # samples may be infinite
        differences = each[0].samples[:fewest] - each[1].samples[:fewest]
    fewest_units = min((one.units for one in each), key=lambda units: units.observed)
    bootstrap = BootstrapDifference(
        differences, f"independent bootstrap samples of both{_describe_pooling(samples)}", fewest_units
    )
    return request.conclude_by_bootstrap(values, bootstrap)


def _sort_key(value: float, sample: Any) -> tuple[Any, ...]:  # noqa: ANN401  (what the measure takes)
    """Return a key that orders samples by content."""
    if isinstance(sample, Counts):
        return (value, sample.rows.tp, sample.rows.fp, sample.rows.fn, sample.rows.tn)
    tally = sample.tally if isinstance(sample, Curve) else sample
    return (value, tally.score.tobytes(), tally.rows.tobytes())


def _compare_constant_samples(
    request: ComparisonRequest, each: list[BootstrapDifference], values: Limits
) -> Comparison:
    """Compare where the bootstrap of one sample does not vary: limits of a proportion of as many rows replace it."""

    def own(bootstrap: BootstrapDifference, value: float, level: float) -> Limits:
        if bootstrap.is_constant(value):
            return share_limits(request.measure, value, bootstrap.units, level)
        low, high = bootstrap.interval(value, level)
        return min(low, value), max(high, value)

    def interval(level: float) -> Limits:
        return newcombe_hybrid(
            values, *(own(bootstrap, value, level) for bootstrap, value in zip(each, values, strict=True))
        )

    how = f"Newcombe's hybrid of bootstrap samples and of Wilson's limits: {NO_VARIANCE}"
    smallest = max(
        (one.smallest_p(request.side) for one, value in zip(each, values, strict=True) if not one.is_constant(value)),
        default=0.0,
    )
    return request.conclude_from_intervals(values, interval, how, smallest=smallest)


def _bootstrap_values(measure: Measure, sample: Any, rng: np.random.Generator) -> Floats:  # noqa: ANN401  (what the measure takes)
    """Sample values of a measure with random masses of four cells, or of all distinct scores."""
    if isinstance(sample, Counts):
        mass, squares = (np.array([each.tp, each.fp, each.fn, each.tn]) for each in (sample, sample.squares))

        def tables(rng: np.random.Generator, n_samples: int) -> Floats:
            return np.asarray(measure(Counts(*sample_masses(rng, n_samples, mass, squares, prior=PRIOR_ROWS).T)))

        return sample_in_blocks(tables, n_samples=N_TABLES, seed=rng, size=4)
    curve = isinstance(sample, Curve)
    whole = sample.tally if curve else sample
    tally = pool_tally(whole)

    def columns(rng: np.random.Generator, n_samples: int) -> Floats:
        return np.array([measure(resample_tally(tally, rng, curve=curve)) for _ in range(n_samples)])

    size = tally.mass.size
    values = sample_in_blocks(columns, n_samples=choose_n_samples(size), seed=rng, size=size)
    if tally is whole:
        return values
    # Samples of pooled scores show the variation; shift them to the value of all scores.
    shift = float(measure(sample)) - float(measure(Curve(tally) if curve else tally))
    return values if isnan(shift) else values + shift


def count_units(sample: Any) -> float:  # noqa: ANN401  (what the measure takes)
    """Count the rows on which a value rests; irrelevant for counted tables, to which half rows are added."""
    if isinstance(sample, Counts):
        return inf if sample.moments is None else ratio(sample.total**2, sample.squares.total)
    rows = (sample.tally if isinstance(sample, Curve) else sample).rows.sum(axis=1, dtype=np.int64)
    return float(rows.min() if isinstance(sample, Curve) else rows.sum())


def prior_rows(sample: Any) -> float:  # noqa: ANN401  (what the measure takes)
    """Return the rows added to a table before sampling."""
    return 4 * PRIOR_ROWS if isinstance(sample, Counts) else 0.0


def _describe_pooling(samples: list[Any]) -> str:
    """Describe the pooling of scores; nothing without any."""
    tallies = [
        sample.tally if isinstance(sample, Curve) else sample for sample in samples if not isinstance(sample, Counts)
    ]
    return (
        f", scores pooled into {POOLED_RANKS} ranks" if any(len(each.score) > POOLED_RANKS for each in tallies) else ""
    )


def pool_tally(tally: Tally) -> Tally:
    """Pool neighboring scores so that few enough remain for many samples."""
    if len(tally.score) <= POOLED_RANKS:
        return tally
    bucket, score = pool_ranks(tally.score)
    first = np.flatnonzero(np.diff(bucket, prepend=-1))
    mass, squares, rows = (
        np.add.reduceat(cells, first, axis=1, dtype=np.float64) for cells in (tally.mass, tally.squares, tally.rows)
    )
    return Tally(score, mass, squares, rows, reweighed=tally.reweighed)


def resample_tally(tally: Tally, rng: np.random.Generator, *, curve: bool) -> Curve | Tally:
    masses = make_read_only(sample_masses(rng, 1, tally.mass, tally.squares)[0])
    resampled = Tally(tally.score, masses, tally.rows, tally.rows, tally.resolution)
    return Curve(resampled) if curve else resampled
