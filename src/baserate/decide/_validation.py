"""Validation of a rule's choice: cross-validation, the bootstrap of thresholds, and the correction of optimism."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import hypot, isfinite, isnan, nan
from typing import NamedTuple, Unpack

import numpy as np

from baserate._arrays import Cells, Floats, keep_read_only, make_read_only, ratio
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._cut import Cut
from baserate._domains import ShareLike, parse_share
from baserate._errors import BaserateError, OptionError
from baserate._policy import Policy
from baserate._rendering import short_repr
from baserate._results import Estimate
from baserate._rows import Rows
from baserate._tally import Tally
from baserate.calibration import FOLDS, Data, assign_fold_counts, assign_folds, iterate_folds, pool_tally
from baserate.decide._evaluation import CELLS, select_measures
from baserate.decide._rule import Gains, Rule, check_curve, index_of_greatest_gain, rule_info, strictest_maximum
from baserate.infer import (
    EXACT_ROWS,
    BootstrapScheme,
    EstimateRequest,
    Seed,
    check_n_samples,
    describe_bootstrap as resampling_method,
    estimate,
    make_generator,
    make_resampler,
    normal_quantile,
    percentiles,
    pool_scores,
    sample_in_blocks,
)
from baserate.measure import DEFAULT_MEASURES, Measure, describe
from baserate.read import PredictionOptions, accepts_predictions

_REPEATS = 5
"""Divisions into folds over which cross-validated performance is averaged."""


class FoldTables(NamedTuple):
    """The four cells at the threshold chosen without a fold, for each fold of each division of the rows."""

    everywhere: Floats
    """Cells of all rows, of shape (divisions, folds, 4); NaN where nothing could be chosen."""
    held: Floats
    """Cells of the fold, of the same shape."""

    @property
    def folds(self) -> int:
        """Number of folds in a division."""
        return int(self.held.shape[1])

    def optimism(self, measure: Measure) -> Floats:
        r"""Estimate the optimism of the choice by each division; undefined ones are left out.

        It is the change of the measure when fold k of K loses its weight at the threshold chosen without it, less that
        when the fold gains as much, :math:`½[m(T_k(1+1/K)-F_k)-m(T_k(1-1/K)+F_k)]`, summed over the folds; T are all
        rows and F the fold. Of a measure that is linear in the cells, it is the difference between all rows and the
        held-out folds. Other measures do not suffer from mixing the thresholds of folds.

        All rows contain the fold, so they differ from it by 1 − 1/K of the difference between the other folds and it.
        That is the optimism of a choice among (1 − 1/K)·n rows, which decreases as :math:`n^{-2/3}` [@kim1990]. The
        sum is therefore multiplied by :math:`(1-1/K)^{-1/3}`.
        """
        usable = np.isfinite(self.everywhere[..., 0])
        change = np.full(usable.shape, nan)
        share = 1 / self.folds
        all_rows, held = self.everywhere[usable], self.held[usable]
        # `maximum`: empty cells may round to below 0.
        without, with_more = (Counts(*np.maximum(all_rows * (1 + s * share) - s * held, 0).T) for s in (1, -1))
        with np.errstate(invalid="ignore"):
            change[usable] = (measure(without) - measure(with_more)) / 2
        defined = np.isfinite(change)
        total = ratio(np.where(defined, change, 0.0).sum(axis=1), defined.sum(axis=1)) * self.folds
        optimism: Floats = total[np.isfinite(total)] * (1 - share) ** (-1 / 3)
        return optimism


def evaluate_folds(tally: Tally, policy: Policy, rule: Rule, *, folds: int, repeats: int, seed: Seed) -> FoldTables:
    """Divide the rows into folds, choose without each of them, evaluate on it, and repeat.

    There are at least two folds, and at most as many as rows. Folds whose remaining rows give no threshold are left
    out. `policy` is the choice on all rows.
    """
    folds = max(min(folds, int(tally.rows.sum(dtype=np.int64))), 2)
    inner = rule_info(rule)
    if inner is not None and inner.gains is not None and len(policy.cut.thresholds) == 1:
        evaluate = _linear_evaluator(tally, inner.gains)
    else:
        evaluate = _general_evaluator(tally, _cut_finder(rule))

    def evaluate_divisions(rng: np.random.Generator, n_divisions: int) -> Floats:
        return np.array([_evaluate_division(tally, evaluate, folds, rng) for _ in range(n_divisions)])

    cells = sample_in_blocks(evaluate_divisions, n_samples=repeats, seed=seed, size=tally.mass.size * folds)
    return FoldTables(cells[..., :4], cells[..., 4:])


def _cut_finder(rule: Rule) -> Callable[[Curve], Cut]:
    """Return the function that finds the cut of a rule, without building a policy if it can."""
    inner = rule_info(rule)
    return inner.cut if inner is not None else lambda curve: rule(curve).cut


FoldEvaluator = Callable[[Cells, Cells], tuple[Floats, Floats] | None]
"""Maps the masses outside a fold and in it to the cells of all rows and of the fold at the chosen threshold."""


def _evaluate_division(tally: Tally, evaluate: FoldEvaluator, folds: int, rng: np.random.Generator) -> Floats:
    """Return the cells of all rows and of the fold, for each fold; NaN where nothing could be chosen."""
    cells = np.full((folds, 8), nan)
    totals = np.array([tally.positives, tally.negatives])[:, None]
    for at, part in enumerate(_fold_masses(tally, folds, rng)):
        rest = np.maximum(tally.mass - part, 0)  # rounding can make it negative
        left = rest.sum(axis=1, keepdims=True, dtype=np.float64)
        if not left.all():  # a class is missing outside the fold
            continue
        # At a known prevalence, the rows outside the fold keep the prevalence of all rows.
        fold_cells = evaluate(rest * (totals / left) if tally.reweighed else rest, part)
        if fold_cells is not None:
            cells[at] = np.concatenate(fold_cells)
    return cells


def _fold_masses(tally: Tally, folds: int, rng: np.random.Generator) -> Iterator[Cells]:
    rows = assign_fold_counts(tally.rows.ravel().astype(np.int64), folds, rng).reshape(folds, 2, -1)
    if not tally.weighted:
        yield from rows
        return
    # A tally does not store single weights: rows of one class and score share their mass equally.
    each = tally.mass / np.maximum(tally.rows.astype(np.float64), 1)
    yield from (part * each for part in rows)


def _linear_evaluator(tally: Tally, gains: Callable[[float, float], Gains]) -> FoldEvaluator:
    """Return the evaluator of a rule that maximizes a weighted sum, which one cumulative sum answers."""
    running = np.zeros((2, len(tally.score) + 1))
    np.cumsum(tally.mass, axis=1, dtype=np.float64, out=running[:, 1:])
    totals = running[:, -1]

    def evaluate(rest: Cells, part: Cells) -> tuple[Floats, Floats]:
        place = index_of_greatest_gain(rest, gains(*rest.sum(axis=1, dtype=np.float64).tolist())) or 0
        flagged, whole = (part[:, at].sum(axis=1, dtype=np.float64) for at in (slice(place), slice(None)))
        everywhere = running[:, place]
        return np.concatenate([everywhere, totals - everywhere]), np.concatenate([flagged, whole - flagged])

    return evaluate


def _general_evaluator(tally: Tally, find: Callable[[Curve], Cut]) -> FoldEvaluator:
    """Return the evaluator of any rule."""
    everybody = Curve(tally)

    def evaluate(rest: Cells, part: Cells) -> tuple[Floats, Floats] | None:
        try:
            cut = find(_curve_of_mass(tally, rest))
        except BaserateError:
            return None
        if not cut.has_table:
            return None
        return _cell_array(cut.counts(everybody)), _cell_array(cut.counts(_curve_of_mass(tally, part)))

    return evaluate


def _curve_of_mass(tally: Tally, mass: Cells) -> Curve:
    """Return the curve of other masses at the same scores; measures use the mass alone."""
    if not tally.weighted:
        return Curve(Tally.from_counts(tally.score, make_read_only(mass)))
    return Curve(Tally(tally.score, make_read_only(np.asarray(mass, dtype=np.float64)), tally.rows, tally.rows))


def _cell_array(counts: Counts[float]) -> Floats:
    return np.array([getattr(counts, cell) for cell in CELLS], dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class RuleCrossValidation:
    """A rule's choice, evaluated on folds that it was not made on."""

    policy: Policy
    """The choice on all rows."""
    cuts: tuple[Cut, ...]
    """The choice without each fold of the first division."""
    counts: Counts[float]
    """Sum of the tables of the folds of the first division, each at the cut chosen without it."""
    performance: Mapping[str, Estimate]

    __repr__ = short_repr


@accepts_predictions("any")
def cross_validate_rule(
    data: Data,
    rule: Rule,
    *,
    measures: Iterable[str | Measure] = DEFAULT_MEASURES[Counts],
    folds: int = FOLDS,
    seed: int = 0,
    level: ShareLike = 0.95,
    **predictions: Unpack[PredictionOptions],
) -> RuleCrossValidation:
    """Cross-validate a rule: choose without each fold of the rows, evaluate on that fold, and repeat with other folds.

    The performance of a measure is its value on all rows less the optimism of the choice (`FoldTables.optimism`),
    averaged over five divisions. Its interval is that of the held-out table, shifted, with the variation between
    divisions added in quadrature. Where a measure is undefined or infinite, the estimate is that of the held-out
    table.

    Parameters
    ----------
    data
        Tally or rows; rows of one cluster stay in one fold.
    rule
        Rule with its options bound by `functools.partial`, or any function from a curve to a policy.
    measures
        Measures of the confusion matrix, or their names; the usual ones by default.
    folds
        Number of folds.
    seed
        Random seed of the folds.
    level
        Confidence level of the intervals.

    Returns
    -------
    RuleCrossValidation
        The policy chosen on all rows, the cuts of the folds, and the performance.

    Examples
    --------
    >>> from baserate import decide, population, tally
    >>> t = tally(*population.binormal(means=(0, 1)).draw(200, 1))
    >>> results = decide.cross_validate_rule(t, decide.youden, measures=["youden"])
    >>> [round(cut.threshold, 2) for cut in results.cuts], round(results.performance["youden"].value, 3)
    ([0.33, 0.34, 0.34, 0.54, 0.33], 0.446)
    """
    level = parse_share(level)
    selected = [as_table_measure(each) for each in measures]
    request = EstimateRequest(level)
    everybody = Curve(pool_tally(data))
    policy = rule(everybody)
    if not policy.cut.has_table:
        raise OptionError(f"a cut into {', '.join(policy.cut.actions)} has no confusion matrix to evaluate.")
    cuts, held = _choose_without_folds(data, rule, folds, seed)
    counts = _sum_tables(held)
    more = _repeat_divisions(data, everybody, policy, rule, (folds, seed))
    tables = _stack_divisions([_fold_tables(everybody, cuts, held), *more])
    apparent = policy.cut.counts(everybody)
    performance = {
        describe(each).name: _cross_validated_estimate(each, counts, apparent, tables, request) for each in selected
    }
    return RuleCrossValidation(policy, tuple(cuts), counts, performance)


def _cross_validated_estimate(
    measure: Measure, counts: Counts[float], apparent: Counts[float], tables: FoldTables, request: EstimateRequest
) -> Estimate:
    """Estimate a measure at the threshold chosen on all rows, less its optimism."""
    held, apparent_value = estimate(measure, counts, level=request.level), float(measure(apparent))
    optimism = tables.optimism(measure)
    if not (isfinite(held.value) and isfinite(apparent_value) and len(optimism)):
        return held
    value = apparent_value - float(optimism.mean())
    spread = normal_quantile(request.level) * float(optimism.std(ddof=1)) if len(optimism) > 1 else 0.0
    low, high = value - hypot(held.value - held.low, spread), value + hypot(held.high - held.value, spread)
    value, low, high = np.clip([value, low, high], *describe(measure).span).tolist()
    return Estimate(value, low, high, request.level, f"{held.how} in held-out folds, repeated cross-validation")


def _choose_without_folds(data: Data, rule: Rule, folds: int, seed: int) -> tuple[list[Cut], list[Counts[float]]]:
    """Return the cut chosen without each fold, and the table of the fold there."""
    find, cuts, tables = _cut_finder(rule), [], []
    parts = assign_folds(data, folds=folds, seed=seed)
    for at, (fold, rest) in enumerate(iterate_folds(parts), start=1):
        try:
            cuts.append(find(Curve(rest)))
        except BaserateError as error:
            # The same type, so that the command line exits with the same code.
            raise type(error)(f"without fold {at} of {len(parts)}: {error}") from error
        tables.append(cuts[-1].counts(Curve(Tally.sum(fold.values()))))
    return cuts, tables


def _repeat_divisions(
    data: Data, everybody: Curve, policy: Policy, rule: Rule, folds_and_seed: tuple[int, int]
) -> Iterator[FoldTables]:
    """Divide again; with clusters, skip divisions that leave nothing to choose from."""
    folds, seed = folds_and_seed
    if not (isinstance(data, Rows) and data.cluster is not None):
        rng = np.random.default_rng([seed, 1])  # a seed that differs from that of the first division
        yield evaluate_folds(everybody.tally, policy, rule, folds=folds, repeats=_REPEATS - 1, seed=rng)
        return
    for other in np.random.default_rng(seed).integers(0, 1 << 32, _REPEATS - 1).tolist():
        try:
            yield _fold_tables(everybody, *_choose_without_folds(data, rule, folds, other))
        except BaserateError:
            continue


def _fold_tables(everybody: Curve, cuts: Sequence[Cut], held: Sequence[Counts[float]]) -> FoldTables:
    everywhere = [_cell_array(cut.counts(everybody)) for cut in cuts]
    return FoldTables(np.array([everywhere]), np.array([[_cell_array(each) for each in held]]))


def _stack_divisions(divisions: Sequence[FoldTables]) -> FoldTables:
    """Stack all divisions; skip those with fewer folds, as few clusters can give."""
    same_size = [each for each in divisions if each.folds == divisions[0].folds]
    return FoldTables(*(np.concatenate(parts) for parts in zip(*same_size, strict=True)))


def _sum_tables(tables: Sequence[Counts[float]]) -> Counts[float]:
    def cells(parts: Sequence[Counts[float]]) -> list[float]:
        return [sum(getattr(part, cell) for part in parts) for cell in CELLS]

    weighted = any(table.moments for table in tables)
    moments = (Counts(*cells([t.squares for t in tables])), Counts(*cells([t.rows for t in tables])))
    return Counts(*cells(tables), moments=moments if weighted else None, reweighed=tables[0].reweighed)


def as_table_measure(measure: str | Measure) -> Measure:
    """Return a measure of the confusion matrix; raise an error for others."""
    (resolved,) = select_measures([measure], None)
    return resolved


N_BOOTSTRAP = 1000
_MAX_EXACT_ROWS = 20_000
"""Rows up to which scores are not pooled, for rules that need a full search per sample."""
_BLOCK_FACTOR = 16
"""Factor in the number of samples per block, since they share memory."""
_FOLDS = 10
"""Folds of each division that estimates the optimism."""
_ROWS_IN_FOLD = 5
"""Least number of rows in a fold: leaving out single rows biases the rest toward the other class."""
_SAMPLES_PER_DIVISION = 50
"""Bootstrap samples per division, so that cross-validation takes a fraction of the time."""


@dataclass(frozen=True, slots=True)
class CorrectedEstimate:
    """A measure at the chosen threshold: apparent, its optimism, and corrected for it."""

    apparent: Estimate
    optimism: float
    corrected: Estimate

    __repr__ = short_repr


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False)
class ThresholdBootstrap:
    """The bootstrap of a rule: its thresholds in bootstrap samples, and its performance corrected for optimism."""

    policy: Policy
    intervals: tuple[Estimate, ...]
    """Each threshold of the policy, with its bootstrap percentile interval."""
    thresholds: Floats
    """Thresholds of every bootstrap sample, a column for each; NaN where a sample gave another number of actions."""
    failed: int
    """Number of samples without a choice: no threshold met the requirements, or a class was missing."""
    other: int
    """Number of samples with another number of actions."""
    performance: Mapping[str, CorrectedEstimate]

    __repr__ = short_repr


@accepts_predictions("curve")
def bootstrap_threshold(
    curve: Curve,
    rule: Rule,
    *,
    measures: Iterable[str | Measure] = DEFAULT_MEASURES[Counts],
    n_bootstrap: int = N_BOOTSTRAP,
    seed: Seed = 0,
    level: ShareLike = 0.95,
    **predictions: Unpack[PredictionOptions],
) -> ThresholdBootstrap:
    """Bootstrap a rule: choose again on bootstrap samples, and correct its performance for optimism.

    The optimism of a measure is estimated by repeated cross-validation (`FoldTables.optimism`), averaged over one
    division into ten folds per 50 bootstrap samples. The bootstrap estimate [@efron1983], the mean difference between
    a sample and all rows at the threshold of the sample, is 15 to 45% smaller, since samples share the scores of the
    data; it is used where no fold can be evaluated. The interval of a corrected value spans the apparent interval
    shifted by either estimate, and the percentiles of the differences.

    Rows are resampled with replacement; with weights, or at a known prevalence, their weights are random instead.
    Above 100,000 rows, neighboring scores are pooled first; above 20,000 for rules that do not maximize a weighted sum
    of true and false positives.

    Parameters
    ----------
    curve
        Curve of the data.
    rule, measures, level
        As in `cross_validate_rule`.
    n_bootstrap
        Number of bootstrap samples.
    seed
        Random seed.

    Returns
    -------
    ThresholdBootstrap
        Intervals of the thresholds, thresholds of all samples, and corrected performance.

    Examples
    --------
    >>> from baserate import curve, decide, population, tally
    >>> c = curve(tally(*population.binormal(means=(0, 1)).draw(200, 1)))
    >>> results = decide.bootstrap_threshold(c, decide.youden, measures=["youden"], n_bootstrap=200)
    >>> threshold = results.intervals[0]
    >>> round(threshold.low, 2), round(threshold.value, 2), round(threshold.high, 2)
    (-0.18, 0.34, 0.93)
    >>> round(results.performance["youden"].optimism, 3)
    0.03
    """
    level = parse_share(level)
    check_curve(curve)
    check_n_samples(n_bootstrap, "n_bootstrap")
    request, selected = EstimateRequest(level), [as_table_measure(each) for each in measures]
    policy = rule(curve)
    exact = _max_exact_rows(rule)
    pooled = Curve(pool_scores(curve.tally, exact=exact))
    way: BootstrapScheme = "stratified" if curve.tally.reweighed else "bootstrap"
    n_thresholds = len(policy.cut.thresholds)
    again = _resampler(pooled.tally, rule, way, n_thresholds)
    # One generator: the folds continue its stream after the samples, so the order of both calls determines results.
    rng = make_generator(seed)
    rows = sample_in_blocks(again, n_samples=n_bootstrap, seed=rng, size=pooled.tally.mass.size // _BLOCK_FACTOR)
    state, thresholds, sample_cells = rows[:, 0], rows[:, 1 : 1 + n_thresholds], rows[:, 1 + n_thresholds :]
    usable = state == _SAME
    how = f"{n_bootstrap} {resampling_method(curve.tally, way, exact=exact)}"
    intervals = tuple(
        _threshold_interval(at, thresholds[usable, place], request, how)
        for place, at in enumerate(policy.cut.thresholds)
    )
    performance = {}
    if policy.cut.has_table:
        samples = _BootstrapTables(Counts(*sample_cells[usable].T), _tables_at(pooled, thresholds[usable]))
        repeats = max(n_bootstrap // _SAMPLES_PER_DIVISION, 2)
        parts = min(_FOLDS, int(curve.tally.rows.sum(dtype=np.int64)) // _ROWS_IN_FOLD)
        folds = evaluate_folds(pooled.tally, policy, rule, folds=parts, repeats=repeats, seed=rng)
        for each in selected:
            name, counts = describe(each).name, policy.cut.counts(curve)
            performance[name] = _correct_optimism(each, counts, samples, folds, request)
    failed, other = (int((state == kind).sum()) for kind in (_FAILED, _OTHER))
    # A copy: a view would keep the cells of all samples in memory.
    return ThresholdBootstrap(policy, intervals, make_read_only(thresholds.copy()), failed, other, performance)


_SAME, _OTHER, _FAILED = 0.0, 1.0, 2.0
"""Outcomes of a bootstrap sample: as many thresholds as on all rows, another number, or no choice."""


def _max_exact_rows(rule: Rule) -> int:
    """Return the number of rows up to which scores are not pooled."""
    inner = rule_info(rule)
    return EXACT_ROWS if inner is not None and inner.gains is not None else _MAX_EXACT_ROWS


Resampler = Callable[[np.random.Generator, int], Floats]
"""Returns a number of bootstrap samples as rows: outcome, thresholds and the four cells at them."""


def _resampler(tally: Tally, rule: Rule, way: BootstrapScheme, n_thresholds: int) -> Resampler:
    """Return a function that resamples and chooses: rows of the outcome, the thresholds, and the four cells there."""
    inner = rule_info(rule)
    if inner is not None and inner.gains is not None and n_thresholds == 1:
        return _linear_resampler(tally, inner.gains, way)
    find = _cut_finder(rule)
    refill = make_resampler(tally, way)

    def resample(rng: np.random.Generator) -> Sequence[float]:
        curve = Curve(refill(rng))
        try:
            cut = find(curve)
        except BaserateError:
            return [_FAILED, *[nan] * n_thresholds, *[0.0] * 4]
        if len(cut.thresholds) != n_thresholds:
            return [_OTHER, *[nan] * n_thresholds, *[0.0] * 4]
        counts = cut.counts(curve) if cut.has_table else None
        return [_SAME, *cut.thresholds, *([getattr(counts, cell) for cell in CELLS] if counts else [0.0] * 4)]

    return lambda rng, size: np.array([resample(rng) for _ in range(size)])


def _linear_resampler(tally: Tally, gains: Callable[[float, float], Gains], way: BootstrapScheme) -> Resampler:
    """Return a faster resampler for rules that maximize a weighted sum, which one cumulative sum answers."""
    # As many rows as distinct scores: each score is a single row.
    if way == "bootstrap" and not tally.weighted and int(tally.rows.sum(dtype=np.int64)) == len(tally.score):
        return _distinct_score_resampler(tally, gains)
    refill = make_resampler(tally, way)
    threshold = np.concatenate([[np.inf], tally.score])

    def resample(rng: np.random.Generator) -> Sequence[float]:
        sample = refill(rng)
        mass, totals = sample.mass, (sample.positives, sample.negatives)
        if not all(totals):
            return [_FAILED, nan, *[0.0] * 4]
        place = index_of_greatest_gain(mass, gains(*totals)) or 0
        flagged = mass[:, :place].sum(axis=1, dtype=np.float64)
        # Sums of weights in another order can exceed the total by rounding.
        passed = (max(total - part, 0.0) for total, part in zip(totals, flagged, strict=True))
        return [_SAME, threshold[place], *flagged, *passed]

    return lambda rng, size: np.array([resample(rng) for _ in range(size)])


def _distinct_score_resampler(tally: Tally, gains: Callable[[float, float], Gains]) -> Resampler:
    """Return the fastest resampler, for rows with distinct scores: a row is its own index."""
    rows = len(tally.score)
    # Integers, since BLAS multiplies floats in threads, which compete with those of the bootstrap.
    positive = tally.rows[0].astype(np.int64)
    share, threshold = tally.positive, np.concatenate([[np.inf], tally.score])

    def resample(rng: np.random.Generator, worth: Floats, running: Floats) -> Sequence[float]:
        times = np.bincount(rng.integers(0, rows, rows), minlength=rows)
        positives = float(np.dot(times, positive))
        if not 0 < positives < rows:
            return [_FAILED, nan, *[0.0] * 4]
        gained, lost = gains(positives, rows - positives)
        # share · gained − (1 − share) · lost, times how often each row was sampled, without temporary arrays.
        np.multiply(share, gained + lost, out=worth)
        np.multiply(np.subtract(worth, lost, out=worth), times, out=worth)
        np.cumsum(worth, out=running[1:])
        place = strictest_maximum(running) or 0
        true, flagged = float(np.dot(times[:place], positive[:place])), float(times[:place].sum())
        return [_SAME, threshold[place], true, flagged - true, positives - true, rows - positives - (flagged - true)]

    def resample_block(rng: np.random.Generator, size: int) -> Floats:
        worth, running = np.empty(rows), np.zeros(rows + 1)  # reused: allocating takes as long as the sums
        return np.array([resample(rng, worth, running) for _ in range(size)])

    return resample_block


def _tables_at(curve: Curve, thresholds: Floats) -> Counts[Floats]:
    """Return the confusion matrices of all rows at the thresholds of each sample."""
    # With two thresholds, flagged is above the higher one and passed below the lower one; referred rows are in no cell.
    low, high = curve.at(thresholds[:, 0]), curve.at(thresholds[:, -1])
    return Counts(tp=high.tp, fp=high.fp, fn=low.fn, tn=low.tn)


def _threshold_interval(value: float, thresholds: Floats, request: EstimateRequest, how: str) -> Estimate:
    if not len(thresholds):
        return Estimate(value, level=request.level, how=how, why="no bootstrap sample has such a threshold")
    low, high = percentiles(thresholds, request.level)
    return Estimate(value, min(low, value), max(high, value), request.level, how)


class _BootstrapTables(NamedTuple):
    """Confusion matrices at the threshold of each sample: of the sample itself, and of all rows."""

    sample: Counts[Floats]
    all_rows: Counts[Floats]

    def difference(self, measure: Measure) -> Floats:
        """Return the optimism of each sample, where it is defined."""
        gap: Floats = measure(self.sample) - measure(self.all_rows)
        return gap[np.isfinite(gap)]


def _correct_optimism(
    measure: Measure, counts: Counts[float], samples: _BootstrapTables, folds: FoldTables, request: EstimateRequest
) -> CorrectedEstimate:
    apparent = estimate(measure, counts, level=request.level)
    difference = samples.difference(measure)
    if isnan(apparent.value) or not len(difference):
        why = apparent.why or "it is undefined in every bootstrap sample"
        return CorrectedEstimate(apparent, nan, Estimate(nan, why=why))
    bootstrap_optimism = float(difference.mean())
    by_division = folds.optimism(measure)
    optimism = float(by_division.mean()) if len(by_division) else bootstrap_optimism
    below, above = percentiles(difference, request.level)
    value = apparent.value - optimism
    # Bootstrap samples vary too little where thresholds are coarse, folds too much, and with few rows percentiles are
    # too narrow: the widest of them keeps its coverage.
    low = min(apparent.low - max(optimism, bootstrap_optimism), apparent.value - above, value)
    high = max(apparent.high - min(optimism, bootstrap_optimism), apparent.value - below, value)
    value, low, high = np.clip([value, low, high], *describe(measure).span).tolist()
    how = f"{apparent.how} less the optimism by cross-validation or by the bootstrap, or its percentiles, the widest"
    return CorrectedEstimate(apparent, optimism, Estimate(value, low, high, request.level, how))
