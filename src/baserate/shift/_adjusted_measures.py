"""Measures at an estimated prevalence, with intervals that include the uncertainty of the estimate.

Class rates and the prevalence are both estimated, and both from the validation data. A measure has bounds for
uncertain rates and bounds for an uncertain prevalence; these are combined on an unbounded scale. Influence functions of
the validation rows give the correlation of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import exp, hypot, inf, isfinite, isinf, isnan, log, nan, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from baserate._arrays import Floats, make_read_only
from baserate._confusion import Confusion, Confusions
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import unused_option
from baserate._errors import BaserateError
from baserate._results import Estimate, Results
from baserate._tally import Tallies, Tally
from baserate.infer import (
    EstimateRequest,
    Seed,
    estimate_input,
    has_influence,
    influence_slopes,
    make_generator,
    normal_quantile,
    percentiles,
    prepare_input,
    proportion_from_variance,
    simulate_tables,
    wilson_or_exact,
)
from baserate.measure import (
    MEASURES,
    Measure,
    Place,
    as_measure,
    describe,
    get_measure,
    multiclass,
    note_reweighting,
    prevalence as share_of_positives,
    summary,
)
from baserate.shift._class_weights import reweigh
from baserate.shift._data import MulticlassPrevalence, Prevalence
from baserate.shift._prior_correction import CORRECTED_SCORES, RAW_SCORES, AdjustableCalibrator

Bounds = tuple[float, float]


class Precision(NamedTuple):
    """Precision of a number: its variance, the standard errors of its interval, and its effective rows."""

    variance: float
    reach: float
    rows: float
    level: float


@dataclass(frozen=True, slots=True)
class Scale:
    """An unbounded scale: log-odds between two ends, logarithms of the distance from one, otherwise the number itself.

    >>> shares = Scale(0, 1)
    >>> shares.transform(0.5), shares.inverse(0.0), shares.transform(1.0)
    (0.0, 0.5, inf)
    """

    least: float
    most: float

    def transform(self, value: float) -> float:
        """Transform a number to the scale."""
        low, high = value - self.least, self.most - value
        if isfinite(self.least) and isfinite(self.most):
            return -inf if low <= 0 else inf if high <= 0 else log(low / high)
        if isfinite(self.least):
            return log(low) if low > 0 else -inf
        if isfinite(self.most):
            return -log(high) if high > 0 else inf
        return value

    def inverse(self, place: float) -> float:
        """Transform a place on the scale back to a number."""
        if isfinite(self.least) and isfinite(self.most):
            # Two forms, each without overflow; e⁻⁷⁴⁵ is the smallest positive float.
            share = 1 / (1 + exp(-place)) if place > 0 else exp(max(place, -745.0)) / (1 + exp(max(place, -745.0)))
            return self.least + (self.most - self.least) * share
        # Powers of e up to 709 are finite.
        if isfinite(self.least):
            return self.least + exp(min(place, 709.0))
        return self.most - exp(min(-place, 709.0)) if isfinite(self.most) else place


def combine_bounds(value: float, parts: tuple[Bounds, Bounds], correlation: float, scale: Scale) -> Bounds:
    r"""Combine the bounds of a number that two uncertain quantities change, from its bounds under either [@zou2008].

    Their distances d and e from the value, on the scale, combine to :math:`\sqrt{d^2+e^2+2ρde}`. At an end of the span,
    where the scale is infinite, distances are added on the original scale.

    >>> [round(bound, 3) for bound in combine_bounds(0.5, ((0.4, 0.6), (0.3, 0.7)), 0.0, Scale(0, 1))]
    [0.281, 0.719]
    """
    middle = scale.transform(value)
    if isinf(middle):
        lows, highs = zip(*parts, strict=True)
        return value - sum(value - low for low in lows), value + sum(high - value for high in highs)
    bounds = []
    # As the length of (d + ρe, e√(1 − ρ²)): under one root, rounding could make the sum negative for ρ = −1.
    uncorrelated = sqrt(max(1 - correlation**2, 0.0))
    for side in (0, 1):
        first, second = (abs(scale.transform(part[side]) - middle) for part in parts)
        distance = inf if isinf(first) or isinf(second) else hypot(first + correlation * second, second * uncorrelated)
        end = scale.most if side else scale.least
        bounds.append(scale.inverse(middle + (distance if side else -distance)) if isfinite(distance) else end)
    return bounds[0], bounds[1]


def bound_value(value: float, precision: Precision, span: Bounds) -> Bounds:
    """Bound a number with a variance; within two ends, as a proportion with the same variance."""
    least, most = span
    z = normal_quantile(precision.level)
    half = precision.reach * sqrt(precision.variance)
    if isfinite(least) and isfinite(most):
        width = most - least
        # The variance that gives this half-width with a normal quantile, which Wilson's interval uses.
        share = proportion_from_variance((value - least) / width, (half / z / width) ** 2, precision.rows)
        low, high = wilson_or_exact(share.hits, share.misses, precision.level)
        return least + width * low, least + width * high
    if not isfinite(least):
        return value - half, value + half
    scale = Scale(least, most)
    step = half / (value - least) if value > least else inf
    place = scale.transform(value)
    return scale.inverse(place - step), scale.inverse(place + step)


def correlation(covariance: float, first: float, second: float) -> float:
    """Compute a correlation from a covariance and two variances; 0 where either variance is 0."""
    rho = covariance / sqrt(first * second) if first > 0 and second > 0 else 0.0
    # Where it cannot be computed, 1 is safe: it gives the longest interval.
    return 1.0 if isnan(rho) else min(max(rho, -1.0), 1.0)


_TABLE_STEP = 1e-6
"""Step of a cell, relative to the total mass."""
_CELL_STEP = 1e-3
"""Largest step relative to the cell, so that small cells stay positive."""


class Slopes(NamedTuple):
    """Derivatives of a measure by the weight of a positive, and of a negative, at each score."""

    positive: Floats
    negative: Floats

    @property
    def both(self) -> Floats:
        """Both derivatives, a row for each class."""
        return np.stack(self)


def measure_slopes(measure: Measure, tally: Tally, threshold: float | None) -> Slopes | None:
    """Compute the derivatives of a measure; None if it has no closed form, or a corner there."""
    if describe(measure).of is Counts:
        cut = 0.5 if threshold is None else threshold
        cells = cell_slopes(measure, Curve(tally).at(float(cut)))
        if cells is None:
            return None
        flagged = tally.score >= cut
        return Slopes(np.where(flagged, cells.tp, cells.fn), np.where(flagged, cells.fp, cells.tn))
    if not has_influence(measure):
        return None
    _, positive, negative = influence_slopes(measure, tally)
    return Slopes(positive, negative) if np.isfinite(positive).all() and np.isfinite(negative).all() else None


class CellSlopes(NamedTuple):
    """Derivatives of a measure by each cell of a 2×2 table."""

    tp: float
    fp: float
    fn: float
    tn: float


def cell_slopes(measure: Measure, counts: Counts[float]) -> CellSlopes | None:
    """Compute the derivatives of a measure by the cells of a 2×2 table; None where they are not finite."""

    def measure_tables(tables: Floats) -> Floats:
        return np.asarray(measure(Counts(*tables.T.copy())), dtype=np.float64)

    slopes = central_differences(measure_tables, np.array([counts.tp, counts.fp, counts.fn, counts.tn]))
    return None if slopes is None else CellSlopes(*map(float, slopes))


def central_differences(function: Callable[[Floats], Floats], cells: Floats) -> Floats | None:
    """Differentiate a function of tables by each cell, with small steps to both sides; None where that is not finite.

    `function` takes many tables, a row of cells for each.
    """
    # An empty cell can only grow, so its difference is one-sided.
    step = np.where(cells > 0, np.minimum(_TABLE_STEP * cells.sum(), _CELL_STEP * cells), _TABLE_STEP * cells.sum())
    low, high = np.maximum(cells - step, 0.0), cells + step
    one = np.eye(len(cells), dtype=np.bool_)
    ends = [function(np.where(one, other, cells)) for other in (low, high)]
    with np.errstate(invalid="ignore"):
        slopes: Floats = (ends[1] - ends[0]) / (high - low)
    return slopes if np.isfinite(slopes).all() else None


LEAST_SHARE = 1e-9
"""Smallest share: an absent class would have no recall."""
_N_SIMULATIONS = 4000
_SIMULATION_METHOD = f"{_N_SIMULATIONS} joint simulations of rates and shares"


def multiclass_adjusted(
    estimate: MulticlassPrevalence,
    *,
    measures: Iterable[str | Measure] | Literal["usual", "all"] = "usual",
    averages: Iterable[str | Mapping[Any, float]] | None = None,
    seed: Seed = 0,
) -> Results:
    """Measure the decisions of the validation rows, reweighted to the estimated shares.

    A row is decided for its highest score as given. Rates of each class and shares are simulated jointly, since each
    validation row affects both.
    """
    weights = np.maximum(estimate.value, LEAST_SHARE)
    weights /= weights.sum()
    decisions = estimate.validation.confusion()
    table = reweigh(decisions, prevalence=weights)
    data = Confusions({(): table}, intake=estimate.validation.intake)
    plain = multiclass.summary(data, measures=measures, averages=averages)
    simulations = _simulate_confusions(estimate, decisions, seed)
    level = estimate.estimates[0].level or 0.95
    ends = [remove_class(table, at) for at, each in enumerate(estimate.estimates) if each.low == 0]
    rows = [row | _bound_row(row, (simulations, ends), level, averages) for row in plain.rows()]
    prevalences = dict(zip(map(str, estimate.labels), estimate.value.tolist(), strict=True))
    columns = {name: [row.get(name) for row in rows] for name in plain.columns}
    return Results(
        columns, {**plain.data, "prevalences": prevalences, "notes": [*plain.data["notes"], *estimate.notes]}
    )


def _simulate_confusions(estimate: MulticlassPrevalence, decisions: Confusion, seed: Seed) -> Confusion:
    r"""Simulate tables: rates of each class by Dirichlet, and shares conditional on them.

    Given rates R that differ from the observed C, the shares are :math:`\hat q+\sum_kB_k(R_k-C_k)` and a normal
    remainder; B is the regression of shares on rates by influence functions.
    """
    rng = make_generator(seed)
    tables = simulate_tables(decisions, way="stratified", seed=rng)[:_N_SIMULATIONS]
    rates, own = (each / each.sum(axis=-1, keepdims=True) for each in (tables, decisions.mass))
    regression, rest = _regress_shares(estimate, decisions, own)
    # The residual covariance may have tiny negative eigenvalues by rounding; Cholesky would fail.
    size, axes = np.linalg.eigh(rest)
    noise = rng.standard_normal((len(rates), len(own))) * np.sqrt(np.maximum(size, 0.0)) @ axes.T
    shares = estimate.unclipped + np.einsum("ikd,kdq->iq", rates - own, regression) + noise
    shares = np.maximum(shares, 0.0)
    shares /= shares.sum(axis=1, keepdims=True)
    return Confusion(make_read_only(shares[:, :, None] * rates), decisions.labels)


def _regress_shares(estimate: MulticlassPrevalence, decisions: Confusion, own: Floats) -> tuple[Floats, Floats]:
    """Regress shares on the rates of each class; return the slopes, of shape (K, K, K), and the residual covariance."""
    rows = estimate.validation
    width = len(own)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    squares = weight**2 * (1 if rows.count is None else rows.count)
    sums = np.zeros((width, width, width))
    np.add.at(sums, (rows.truth, rows.decision()), estimate.influence * squares[:, None])
    shared = (sums - own[:, :, None] * sums.sum(axis=1, keepdims=True)) / decisions.truth[:, None, None]
    regression, rest = np.empty(shared.shape), estimate.covariance.copy()
    each = decisions.squares.truth / decisions.truth**2
    for k in range(width):
        # Multinomial covariance, singular since rates add up to 1: hence the pseudo-inverse.
        spread = (np.diag(own[k]) - np.outer(own[k], own[k])) * each[k]
        regression[k] = np.linalg.pinv(spread) @ shared[k]
        rest -= regression[k].T @ spread @ regression[k]
    return regression, rest


def remove_class(table: Confusion, at: int) -> Confusion:
    """Return a table with a class removed but for a trace, so that its recall stays defined.

    If the interval of a share contains 0, intervals of measures must contain their values without that class.
    """
    cells = np.array(table.mass, dtype=np.float64)
    cells[at] *= LEAST_SHARE
    return Confusion(make_read_only(cells), table.labels)


def _bound_row(
    row: dict[str, Any], tables: tuple[Confusion, list[Confusion]], level: float, averages: object
) -> dict[str, Any]:
    """Bound a tidy row; cells and undefined values have no bounds."""
    simulations, ends = tables
    if row["measure"] not in (MEASURES.keys() | multiclass.MEASURES.keys()) or row["value"] is None:
        return {}
    values = row_values(row, simulations, averages)
    defined = values[~np.isnan(values)]
    if not len(defined):
        return {"why": "no simulation is defined"}
    low, high = percentiles(defined, level)
    how = "; ".join(filter(None, (row["how"], _SIMULATION_METHOD)))
    others = [row["value"], *row_limits(row, ends, averages)]
    return {"low": min(low, *others), "high": max(high, *others), "level": level, "how": how}


def row_limits(row: dict[str, Any], ends: Iterable[Confusion], averages: object) -> Iterator[float]:
    """Compute the measure of a tidy row at some tables; yield the finite values."""
    values = (float(row_values(row, each, averages)) for each in ends)
    yield from (value for value in values if isfinite(value))


def row_values(row: dict[str, Any], tables: Confusion, averages: object) -> Floats:
    """Compute the measure of a tidy row at many tables."""
    if row["class"] is None and row["average"] is None:
        return np.asarray(multiclass.MEASURES[row["measure"]](tables), dtype=np.float64)
    measure = MEASURES[row["measure"]]
    assert describe(measure).of is Counts  # noqa: S101  (labels have no ranks)
    if row["average"] is None:
        values: Floats = measure(tables.one_vs_rest())[..., tables.labels.index(row["class"])]
        return values
    custom = [each for each in averages if isinstance(each, Mapping)] if isinstance(averages, list | tuple) else []
    how = custom[0] if row["average"] == "custom" else row["average"]
    return np.asarray(multiclass.average_over_classes(measure, how)(tables), dtype=np.float64)


_COMBINED_METHOD = "bounds at the estimate and at the ends of its interval, combined by influence functions"
_NEAREST_PREVALENCE = 1e-9
"""Least distance of a prevalence from 0 and 1, where a class is missing and most measures are undefined."""
_ODDS_STEP = 1e-4
"""Relative step of the prevalence odds in a numerical derivative."""

TallyAt = Callable[[float], Tally]
"""Function from a prevalence to the validation data at that prevalence."""


def adjusted_summary(
    estimate: Prevalence | MulticlassPrevalence,
    *,
    measures: Iterable[str | Measure] | Literal["usual", "all"] = "usual",
    threshold: float | Iterable[float] | None = None,
    averages: Iterable[str | Mapping[Any, float]] | None = None,
) -> Results:
    """Measure the validation data at the estimated prevalence, with intervals that include its uncertainty.

    The columns are those of `baserate.infer.summary` with `prevalence` and `scores`. Scores are as given ("as given");
    measures of probabilities are repeated with posteriors that are right at the estimate ("corrected"), where possible.
    Of `MulticlassPrevalence` the measures are those of decisions for the highest score, and the columns those of
    `baserate.infer.multiclass_summary`.

    Parameters
    ----------
    estimate : Prevalence or MulticlassPrevalence
        Result of `estimate_prevalence`.
    measures : iterable, "usual" or "all", default "usual"
        Measures to compute.
    threshold : float or iterable of floats, optional
        Decision thresholds; for two classes only.
    averages : iterable, optional
        Averages over classes; for several classes only.

    Returns
    -------
    Results
        A row for each measure and kind of scores.

    Raises
    ------
    OptionError
        If `threshold` is given for several classes, or `averages` for two.

    Examples
    --------
    >>> import numpy as np
    >>> from baserate import Target, shift, tally
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(1000) < 0.4
    >>> validation = tally(truth, rng.normal(1.5 * truth, 1.0))
    >>> target = Target(rng.normal(1.5 * (rng.random(5000) < 0.1), 1.0))
    >>> estimate = shift.estimate_prevalence(target, validation)
    >>> row = shift.adjusted_summary(estimate, measures=["precision"], threshold=1.0).rows()[-1]
    >>> round(row["value"], 3), round(row["low"], 3), round(row["high"], 3), round(row["prevalence"], 3)
    (0.333, 0.211, 0.439, 0.105)
    """
    if isinstance(estimate, MulticlassPrevalence):
        if threshold is not None:
            raise unused_option("threshold", threshold, "of several classes the highest score decides")
        return multiclass_adjusted(estimate, measures=measures, averages=averages)
    if averages is not None:
        raise unused_option("averages", averages, "averages are over several classes, but there are two")
    requested = measures if isinstance(measures, str) else [as_measure(each) for each in measures]
    raw = _summarize(estimate, lambda q: reweigh(estimate.validation, prevalence=q), requested, threshold, RAW_SCORES)
    notes = [*raw.data["notes"], *estimate.notes]
    if estimate.value in (0.0, 1.0):
        notes.append(f"the estimate is {estimate.value:g}; measures are their limits at that prevalence.")
    parts = [raw]
    measured = [measure for measure in map(get_measure, raw.columns["measure"]) if measure]
    used = measured if isinstance(requested, str) else requested
    proper = [measure for measure in used if describe(measure).of is Tally]
    if proper:
        try:
            parts.append(_summarize(estimate, _correct_posteriors(estimate), proper, None, CORRECTED_SCORES))
        except BaserateError as error:
            notes.append(f"there are no corrected posteriors: {error}")
    columns = {name: [each for part in parts for each in part.columns[name]] for name in raw.columns}
    return Results(columns, {**raw.data, "notes": notes})


def _summarize(estimate: Prevalence, tally_at: TallyAt, measures: Any, threshold: Any, scores: str) -> Results:  # noqa: ANN401  (checked by summary)
    intervals = _AdjustedIntervals(estimate, tally_at)
    tallies = Tallies({"score": {(): intervals.tally}})
    results = summary(tallies, measures=measures, threshold=threshold, estimator=intervals)
    size = len(results)
    extra: dict[str, Any] = {"prevalence": [estimate.value] * size, "scores": [scores] * size}
    # That note says that the prevalence is known; but it is estimated, and intervals include its uncertainty.
    notes = [note for note in results.data["notes"] if note not in note_reweighting(intervals.tally)]
    return Results({**results.columns, **extra}, {**results.data, "notes": notes})


def _correct_posteriors(estimate: Prevalence) -> TallyAt:
    calibrator = AdjustableCalibrator.of(estimate)
    calibrator.at(_clip_prevalence(estimate.value))  # or an error, before anything is measured

    def tally_at(q: float) -> Tally:
        return reweigh(estimate.validation, prevalence=q).with_scores(calibrator.at(q)(estimate.validation.score))

    return tally_at


def _clip_prevalence(q: float) -> float:
    return min(max(q, _NEAREST_PREVALENCE), 1 - _NEAREST_PREVALENCE)


class _AdjustedIntervals:
    """Intervals of measures that include the uncertainty of the class rates and of the prevalence."""

    def __init__(self, prevalence: Prevalence, tally_at: TallyAt) -> None:
        self.prevalence, self.tally_at = prevalence, tally_at
        self.at = _clip_prevalence(prevalence.value)
        self.tally = tally_at(self.at)
        self.level = prevalence.estimate.level or 0.95

    def __call__(self, measure: Measure, data: Any, place: Place) -> Estimate:  # noqa: ANN401  (what it takes)
        if measure is share_of_positives:
            return self.prevalence.estimate
        interval = estimate_input(measure, data, EstimateRequest(self.level))
        if isnan(interval.value) or isnan(interval.low):
            return interval
        ends = [
            self._at(measure, _clip_prevalence(q), place)
            for q in (self.prevalence.estimate.low, self.prevalence.estimate.high)
        ]
        of_prevalence = min(interval.value, *ends), max(interval.value, *ends)
        if any(map(isnan, ends)):
            return replace(interval, low=nan, high=nan, why="it is undefined within the interval of the prevalence")
        # Ends of the interval and the estimate span the range exactly where a measure is monotone in the prevalence.
        scale = Scale(*describe(measure).span)
        parts = (interval.low, interval.high), of_prevalence
        low, high = combine_bounds(interval.value, parts, self._correlation(measure, place), scale)
        low, high = max(low, scale.least), min(high, scale.most)
        return Estimate(
            interval.value, min(low, interval.value), max(high, interval.value), self.level, _COMBINED_METHOD
        )

    def _at(self, measure: Measure, q: float, place: Place) -> float:
        return float(measure(prepare_input(measure, self.tally_at(q), place.threshold)))

    def _correlation(self, measure: Measure, place: Place) -> float:
        """Correlate the effects of rates and prevalence on the measure, by the influence of validation rows.

        Without a closed form the correlation is taken as 1, which never makes an interval too short.
        """
        validation = self.prevalence.validation
        # At a clipped prevalence, or if rescoring merged scores, influences no longer align row by row.
        if self.at != self.prevalence.value or len(self.tally.score) != len(validation.score):
            return 1.0
        slopes = measure_slopes(measure, self.tally, place.threshold)
        if slopes is None:
            return 1.0
        mass = np.asarray(self.tally.mass, dtype=np.float64)
        mean = (mass * slopes.both).sum(axis=1, keepdims=True) / mass.sum(axis=1, keepdims=True)
        factor = mass.sum(axis=1, keepdims=True) / validation.mass.sum(axis=1, keepdims=True)
        rates: Floats = factor * (slopes.both - mean)
        step = _ODDS_STEP * self.at * (1 - self.at)
        rate = (self._at(measure, self.at + step, place) - self._at(measure, self.at - step, place)) / (2 * step)
        shared = float((validation.squares * rates * rate * self.prevalence.influence).sum())
        return correlation(shared, float((validation.squares * rates**2).sum()), rate**2 * self.prevalence.variance)
