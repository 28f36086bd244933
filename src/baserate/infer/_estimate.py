"""Estimates: a measure with the confidence interval that suits it, and the table of all interval methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isinf, isnan, nan
from typing import Any, NamedTuple, Unpack

import numpy as np

from baserate._arrays import Floats
from baserate._confusion import Confusion
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import LEVEL, ShareLike, check_domain, parse_share
from baserate._errors import OptionError, ShapeError, advice, keyword
from baserate._results import Estimate
from baserate._rows import LabelSets, MulticlassRows, Rows
from baserate._tally import Tally
from baserate.infer import (
    _auc_intervals,
    _binomial,
    _bootstrap,
    _calibration_intervals,
    _clusters,
    _confidence_bands,
    _confusion_intervals,
    _multiclass,
    _operating_points,
    _rate_intervals,
    _variances,
)
from baserate.infer._bootstrap import (
    N_BOOTSTRAP,
    Seed,
    bootstrap_measures,
    check_n_samples,
    make_generator,
    percentiles,
)
from baserate.infer._variances import Bounds, explain_heavy_tail
from baserate.measure import (
    Measure,
    accuracy_ratio,
    as_measure,
    auc,
    cap_area,
    describe,
    flag_top,
    gini,
    hits_at_k,
    ks,
    lorenz_gini,
    multiclass,
    pr_auc,
    precision_at_k,
    recall_at_k,
    undefined_reason,
    unwrap_options,
)
from baserate.read import AdjustedPredictionOptions, PredictionOptions, accepts_predictions

_LARGEST = 1e60
"""Largest value with a closed-form variance: its fourth power must not overflow."""

Data = Tally | Curve | Counts[float] | Confusion | Rows | MulticlassRows | LabelSets
MeasureInput = Tally | Curve | Counts[float] | Confusion | MulticlassRows | LabelSets


@dataclass(frozen=True, slots=True)
class EstimateRequest:
    """Level, method and seed of an interval."""

    level: float = 0.95
    method: str | None = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        if not isinstance(self.level, _binomial.NormalLevel):  # from the search of a p-value, beyond the usual domain
            check_domain("level", self.level, LEVEL)
        make_generator(self.seed)


class IntervalInput(NamedTuple):
    """A measure, its data and value, and the request for an interval."""

    measure: Measure
    data: Any
    value: float
    request: EstimateRequest

    @property
    def tally(self) -> Tally:
        """Return the tally of the data, which is a tally or the curve of one."""
        tally = self.data.tally if isinstance(self.data, Curve) else self.data
        assert isinstance(tally, Tally)  # noqa: S101  (for the type checker)
        return tally


IntervalMethod = Callable[[IntervalInput], Bounds]
"""Function that computes the bounds of a number."""


@accepts_predictions("any", at=1, adjusts=True)
def estimate(
    measure: str | Measure,
    data: Data,
    *,
    threshold: float | None = None,
    level: ShareLike = 0.95,
    method: str | None = None,
    seed: Seed = 0,
    **predictions: Unpack[AdjustedPredictionOptions],
) -> Estimate:
    """Estimate a measure with its confidence interval.

    The default interval is one whose coverage was studied. Reweighted data have fixed class shares, so only methods
    that keep these shares apply to them. Random samples depend on the seed alone, not on the order of rows.

    Parameters
    ----------
    measure
        Name of a measure, or a function of `baserate.measure`. `functools.partial` sets the options of a measure.
    data
        What the measure takes, or data from which it can be made: a tally, curve, table or rows. Rows with clusters get
        intervals that allow for them.
    threshold
        Threshold at which measures of a 2×2 table cut a tally or a curve.
    level
        Confidence level.
    method
        Name of an interval method; `methods` lists them. By default, the method that suits the measure.
    seed
        Seed or NumPy generator of methods that sample.

    Returns
    -------
    Estimate
        Value, bounds, level and method; `why` gives the reason where something is undefined.

    Raises
    ------
    OptionError
        The measure does not fit the data, or the method does not fit the measure.

    Examples
    --------
    >>> from baserate import Counts, infer, tally
    >>> share = infer.estimate("sensitivity", Counts(tp=81, fp=20, fn=182, tn=300))
    >>> round(share.value, 4), round(share.low, 4), round(share.high, 4), share.how
    (0.308, 0.2553, 0.3662, 'Wilson')
    >>> perfect = infer.estimate("auc", tally([1] * 10 + [0] * 90, range(100, 0, -1)))
    >>> perfect.value, round(perfect.low, 3), perfect.high
    (1.0, 0.769, 1.0)
    """
    level = parse_share(level)
    request = EstimateRequest(level, method, seed)
    function = _find_measure(measure, data)
    if isinstance(data, Rows) and data.cluster is not None:
        return _estimate_clustered(function, data, threshold, request)
    return estimate_input(function, prepare_input(function, data, threshold), request)


@accepts_predictions("any", at=1)
def methods(measure: str | Measure, data: Data, **predictions: Unpack[PredictionOptions]) -> tuple[str, ...]:
    """List the interval methods that exist for a measure of such data.

    Parameters
    ----------
    measure
        Name of a measure, or a function of `baserate.measure`.
    data
        Data as `estimate` takes them.

    Returns
    -------
    tuple of str
        Names for `method=`; the first belongs to the same family as the default.

    Examples
    --------
    >>> from baserate import Counts, infer
    >>> infer.methods("precision", Counts(tp=1, fp=1, fn=1, tn=1))
    ('wilson', 'clopper-pearson', 'jeffreys', 'agresti-coull', 'draws', 'stratified', 'bootstrap')
    """
    function = _find_measure(measure, data)
    return tuple(name for name in interval_methods(function, reweighed=_binomial.has_fixed_prevalence(data)) if name)


def estimate_input(measure: Measure, data: MeasureInput, request: EstimateRequest) -> Estimate:
    """Estimate a measure of data in the form that the measure takes."""
    if isinstance(data, Counts | Confusion) and data.shape:
        raise ShapeError(f"these are {data.shape} tables", remedy="take an interval of one, for example counts[0].")
    value = float(measure(data))
    if isnan(value):
        return Estimate(nan, why=undefined_reason(measure, data) or "it is undefined")
    reweighed = _binomial.has_fixed_prevalence(data)
    methods_by_name = _ROW_METHODS if isinstance(data, LabelSets) else interval_methods(measure, reweighed=reweighed)
    if request.method is not None and request.method not in methods_by_name:
        names = ", ".join(filter(None, methods_by_name))
        where = " where the class shares are fixed" if reweighed else ""
        raise OptionError(
            f"{mention_method(request.method)} makes no interval of {describe(measure).name}{where}",
            remedy=f"known are: {names}." if names else "leave it out: there is only one method.",
        )
    bounds = methods_by_name[request.method or ""](IntervalInput(measure, data, value, request))
    return make_estimate(value, bounds, measure, request)


def mention_method(method: str | None) -> str:
    """Mention an interval method in a message, as each interface spells it."""
    return advice("interval", f"method={method!r}", method)


def check_no_method(method: str | None) -> None:
    """Raise if an interval method is named for clustered rows."""
    if method is not None:
        raise OptionError(
            f"{mention_method(method)} is for independent rows, and these are clustered", remedy="leave it out."
        )


def make_estimate(value: float, bounds: Bounds, measure: Measure, request: EstimateRequest) -> Estimate:
    """Combine a value and its bounds: clipped to the span of the measure, with the value between the bounds."""
    if isnan(bounds.low) or isnan(bounds.high):
        return Estimate(value, level=request.level, how=bounds.how, why=bounds.why or "the interval is undefined")
    least, most = describe(measure).span
    # Rounding must not leave the value outside of its own interval.
    low, high = min(max(bounds.low, least), value), max(min(bounds.high, most), value)
    return Estimate(value, low, high, request.level, bounds.how)


def interval_methods(measure: Measure, *, reweighed: bool = False) -> Mapping[str, IntervalMethod]:
    """Return the interval methods of a measure by name; the default has the empty name.

    For reweighted data, only methods that keep the shares of the classes are returned.
    """
    info = describe(measure)
    if info.of in (Counts, Confusion):
        return _table_methods(measure, reweighed=reweighed)
    if reweighed:
        # Other schemes would let the class shares vary.
        stratified = {
            name: way for name, way in interval_methods(measure).items() if name not in ("resample", "bootstrap")
        }
        sampler = _sampler_of(stratified[""])
        return stratified | ({"": partial(sampler, way="stratified")} if sampler else {})
    if info.of in (MulticlassRows, LabelSets):
        return _ROW_METHODS
    if _calibration_intervals.is_calibration_measure(measure):
        return {"": _calibration_bounds} | _BOOTSTRAP_METHODS
    methods = _RANK_METHODS | _TOP_K_METHODS
    return methods.get(unwrap_options(measure), {"": _bootstrap_moment_bounds}) | _BOOTSTRAP_METHODS


def _sampler_of(method: IntervalMethod) -> Callable[..., Bounds] | None:
    """Return the function of bootstrap samples that a method calls, or None."""
    function = method.func if isinstance(method, partial) else method
    return function if function in (_bootstrap_moment_bounds, _bootstrap_bounds) else None


def _table_methods(measure: Measure, *, reweighed: bool) -> Mapping[str, IntervalMethod]:
    derived = _rate_intervals.TRANSFORMATIONS.get(unwrap_options(measure))
    if derived is not None:
        methods = _table_methods(derived.base, reweighed=reweighed)
        return {name: partial(_derived_bounds, inner=way) for name, way in methods.items()}
    if _confusion_intervals.has_linear_interval(measure, reweighed=reweighed):
        return _LINEAR_METHODS | (_STRATIFIED_METHODS if reweighed else _SIMULATED_TABLE_METHODS)
    if _rate_intervals.has_rate_interval(measure):
        return _RATE_METHODS | (_STRATIFIED_METHODS if reweighed else _SIMULATED_TABLE_METHODS)
    if reweighed:
        methods = _FIXED_PREVALENCE_METHODS[_binomial.classify_share(measure)]
    elif describe(measure).share:
        methods = _PROPORTION_METHODS
    else:
        methods = _CONFUSION_METHODS if describe(measure).of is Confusion else _TABLE_METHODS
    return methods | _LOG_METHODS if _rate_intervals.has_log_interval(measure) else methods


def is_closed_form(measure: Measure, *, reweighed: bool, method: str | None) -> bool:
    """Return whether an interval of a two-class measure needs no random samples."""
    way = interval_methods(measure, reweighed=reweighed)[method or ""]
    if isinstance(way, partial) and way.func is _derived_bounds:
        way = way.keywords["inner"]
    return (way.func if isinstance(way, partial) else way) not in (
        _simulated_table_bounds,
        _bootstrap_moment_bounds,
        _bootstrap_bounds,
        _calibration_bounds,
    )


def _find_measure(measure: str | Measure, data: object) -> Measure:
    if isinstance(measure, str) and isinstance(data, Confusion | MulticlassRows | LabelSets):
        return multiclass.find_measure(measure)
    return as_measure(measure)


def prepare_input(measure: Measure, data: object, threshold: float | None = None) -> Any:  # noqa: ANN401  (what the measure takes)
    """Convert data to the form that a measure takes."""
    needed = describe(measure).of
    if isinstance(data, Rows):
        data = _single_tally(data)
    if needed is Counts and isinstance(data, Tally | Curve):
        if threshold is None:
            raise OptionError(f"{describe(measure).name} requires a threshold", remedy=f"give {keyword('threshold')}.")
        return (data if isinstance(data, Curve) else Curve(data)).at(float(threshold))
    if threshold is not None:
        raise OptionError(
            f"{keyword('threshold', threshold)} has no effect on {describe(measure).name} of {type(data).__name__}",
            remedy="leave it out.",
            option="threshold",
            value=threshold,
        )
    if needed is Curve and isinstance(data, Tally):
        return Curve(data)
    if needed is Tally and isinstance(data, Curve):
        return data.tally
    if needed is Confusion and isinstance(data, MulticlassRows):
        return data.confusion()
    if isinstance(data, LabelSets) and "parts" in vars(measure):
        return data  # class averages also apply to labels
    if not isinstance(data, needed):
        several = isinstance(data, Confusion | MulticlassRows)
        raise OptionError(
            f"{describe(measure).name} takes {needed.__name__}, not {type(data).__name__}",
            remedy="average it with multiclass.average_over_classes(…)." if several else "convert the data.",
        )
    return data


def _single_tally(rows: Rows) -> Tally:
    """Return the tally of rows that have a single score and no groups."""
    if len(rows.score) > 1 or rows.attributes:
        several = "several models" if len(rows.score) > 1 else f"groups ({', '.join(rows.attributes)})"
        raise OptionError(f"these rows have {several}", remedy="use infer.summary, which estimates each.")
    return rows.tallies().tally


def _proportion_bounds(inputs: IntervalInput, *, name: str | None = None) -> Bounds:
    return Bounds(
        *_binomial.proportion_interval(
            _binomial.effective_proportion(inputs.measure, inputs.data), inputs.request.level, name
        )
    )


def _simulated_table_bounds(inputs: IntervalInput, *, way: _confusion_intervals.TableScheme = "draws") -> Bounds:
    table, seed, level = inputs.data, inputs.request.seed, inputs.request.level
    weighted = isinstance(table, Counts) and table.moments is not None and way != "bootstrap"
    table = _confusion_intervals.stabilize_weights(table) if weighted else table
    bounds = percentile_bounds(
        _confusion_intervals.simulate_values(inputs.measure, table, way=way, seed=seed),
        level,
        _confusion_intervals.describe_simulation(way),
    )
    if way != "bootstrap" and _confusion_intervals.has_empty_cells(table):
        # With a prior of half a row an empty cell can occur; without it, the cell is impossible. Cover both.
        unfilled = _confusion_intervals.simulate_values(inputs.measure, table, way=way, seed=seed, filled=False)
        other = percentile_bounds(unfilled, level, "")
        if not other.why:
            bounds = bounds._replace(low=min(bounds.low, other.low), high=max(bounds.high, other.high))
    return _widen_for_weights(inputs, bounds) if weighted and not bounds.why else bounds


def _widen_for_weights(inputs: IntervalInput, bounds: Bounds) -> Bounds:
    """Widen an interval of weighted rows as a t quantile does, since their variance is estimated."""
    factor = _binomial.t_widening(
        _confusion_intervals.weighted_freedom(inputs.measure, inputs.data), inputs.request.level
    )
    low, high = _variances.scale_interval(
        (bounds.low, bounds.high), inputs.value, describe(inputs.measure).span, factor
    )
    return bounds._replace(low=low, high=high)


def _confusion_bounds(inputs: IntervalInput) -> Bounds:
    """Bound a measure of a K×K table by the delta method, or by simulated tables where derivatives do not exist."""
    return _confusion_intervals.confusion_interval(
        inputs.measure, inputs.data, inputs.value, inputs.request.level
    ) or _simulated_table_bounds(inputs)


def _predictive_bounds(inputs: IntervalInput, *, name: _binomial.LogitMethod | None = None) -> Bounds:
    low, high = _binomial.predictive_interval(inputs.data, inputs.measure, inputs.request.level, name=name)
    how = _binomial.describe_predictive(inputs.data, inputs.measure) if name is None else _binomial.LOGIT_LABELS[name]
    return Bounds(low, high, how, "a cell is empty, so its logarithm is infinite" if isnan(low + high) else None)


def _total_share_bounds(inputs: IntervalInput) -> Bounds:
    return Bounds(
        *_binomial.total_share_interval(inputs.data, inputs.measure, inputs.request.level), _binomial.SUM_METHOD
    )


def _linear_bounds(inputs: IntervalInput) -> Bounds:
    how = _confusion_intervals.LINEAR_FIXED_METHOD if inputs.data.reweighed else _confusion_intervals.LINEAR_METHOD
    return Bounds(*_confusion_intervals.linear_interval(inputs.data, inputs.measure, inputs.request.level), how)


def _rate_bounds(inputs: IntervalInput) -> Bounds:
    return Bounds(*_rate_intervals.rate_interval(inputs.data, inputs.measure, inputs.request.level))


def _derived_bounds(inputs: IntervalInput, *, inner: IntervalMethod) -> Bounds:
    """Bound a function of one other measure by a method of that measure."""
    function = unwrap_options(inputs.measure)
    base = _rate_intervals.TRANSFORMATIONS[function].base
    bounds = inner(inputs._replace(measure=base, value=float(base(inputs.data))))
    return _transform_bounds(function, bounds, inputs.value)


def _transform_bounds(function: Measure, bounds: Bounds, value: float) -> Bounds:
    """Return the bounds of a function of another measure."""
    if bounds.why:
        return bounds
    return Bounds(*_rate_intervals.transform_bounds(function, (bounds.low, bounds.high, bounds.how), value))


def _log_bounds(inputs: IntervalInput) -> Bounds:
    low, high = _rate_intervals.log_interval(inputs.data, inputs.measure, inputs.request.level)
    reason = "a cell is empty, so the logarithm or its variance is infinite" if isnan(low) else None
    return Bounds(low, high, _rate_intervals.LOG_METHOD, reason)


def _exact_bounds(inputs: IntervalInput) -> Bounds:
    return Bounds(inputs.value, inputs.value, _binomial.FIXED_METHOD)


def percentile_bounds(samples: Floats, level: float, how: str) -> Bounds:
    """Return the middle of the bootstrap samples that are defined."""
    defined = samples[~np.isnan(samples)]
    if not len(defined):
        return Bounds(nan, nan, how, "no sample is defined")
    left_out = len(samples) - len(defined)
    method = f"{len(samples)} {how}" + (f", of which {left_out} undefined" if left_out else "")
    return Bounds(*percentiles(defined, level), method)


def _auc_bounds(inputs: IntervalInput, *, name: str | None = None) -> Bounds:
    plain = inputs.measure is auc
    # Gini and the accuracy ratio are 2·AUC − 1, and so are their bounds.
    estimate = _auc_intervals.estimate_auc(inputs.tally, inputs.value if plain else (inputs.value + 1) / 2)
    if name is None:
        low, high, how = _auc_intervals.auc_interval(estimate, inputs.request.level)
    else:
        make, how = _auc_intervals.METHODS[name]
        # The other methods need no variance of the placements, and so no second row.
        if "delong" in name and isnan(estimate.variance):
            return Bounds(nan, nan, how, "a class has a single row")
        low, high = make(estimate, inputs.request.level)
    reason = "the AUC is 0 or 1, where log-odds are infinite" if isnan(low) else None
    return Bounds(low, high, how, reason) if plain else Bounds(2 * low - 1, 2 * high - 1, how, reason)


def _ks_bounds(inputs: IntervalInput) -> Bounds:
    return Bounds(*_confidence_bands.ks_interval(inputs.tally, inputs.request.level), _confidence_bands.KS_METHOD)


def _operating_point_bounds(inputs: IntervalInput) -> Bounds:
    return _operating_points.operating_point_interval(inputs.measure, inputs.tally, inputs.value, inputs.request.level)


def _influence_bounds(inputs: IntervalInput) -> Bounds:
    how = "influence function within each class" if inputs.tally.reweighed else "influence function"
    if abs(inputs.value) > _LARGEST:
        return Bounds(
            nan, nan, how, f"the value is {'infinite' if isinf(inputs.value) else 'too large for an interval'}"
        )
    if inputs.tally.rows.sum(dtype=np.int64) < 2:
        return Bounds(nan, nan, how, "there is a single row")
    reason = explain_heavy_tail(inputs.tally) if inputs.measure in _variances.UNBOUNDED else None
    if reason:
        return Bounds(nan, nan, how, reason)
    return Bounds(*_variances.influence_interval(inputs.measure, inputs.tally, inputs.value, inputs.request.level), how)


def _calibration_bounds(inputs: IntervalInput) -> Bounds:
    if isinf(inputs.value):
        return Bounds(nan, nan, "plug-in", "the value is infinite")
    task = _calibration_intervals.CalibrationInput(inputs.measure, inputs.tally, inputs.value, inputs.request.level)
    return _calibration_intervals.calibration_interval(task)


def _cap_area_bounds(inputs: IntervalInput) -> Bounds:
    """Bound the area under the gain curve through the interval of its AUC."""
    how = "from the interval of the AUC, prevalence known" if inputs.tally.reweighed else "influence function"
    if not inputs.tally.negatives:
        return Bounds(nan, nan, how, "there are no negatives, so nothing can vary")
    low, high = _auc_intervals.cap_area_interval(inputs.tally, inputs.request.level)
    return Bounds(2 * low - 1, 2 * high - 1, how) if inputs.measure is lorenz_gini else Bounds(low, high, how)


def _bootstrap_moment_bounds(inputs: IntervalInput, *, way: _bootstrap.BootstrapScheme = "resample") -> Bounds:
    """Bound a number between 0 and its value for a perfect ranking, by mean and variance of bootstrap samples."""
    measure, tally, request = inputs.measure, inputs.tally, inputs.request
    samples = _bootstrap.bootstrap_values(
        measure, tally, way=way, seed=request.seed, n_samples=_bootstrap.N_MOMENT_SAMPLES
    )
    rows = tally.rows.sum(axis=1, dtype=np.int64)
    # The greatest value depends on the prevalence, so it is that of a perfect ranking of the same classes.
    perfect = Tally(np.array([1.0, 0.0]), np.diag([tally.positives, tally.negatives]), np.eye(2), np.diag(rows))
    span = describe(measure).span[0], float(measure(Curve(perfect)))
    freedom = _variances.bootstrap_freedom(measure, tally)
    moments = _variances.moments_of_samples(inputs.value, samples, span, float(rows.min()), freedom)
    low, high = (span[0] + (span[1] - span[0]) * bound for bound in _variances.bound_fraction(moments, request.level))
    if measure is pr_auc and tally.negatives:
        low = min(low, _variances.unseen_area(measure, tally, inputs.value, request.level))
    return Bounds(
        low,
        high,
        f"proportion with the variance of {_bootstrap.N_MOMENT_SAMPLES} {_bootstrap.describe_bootstrap(tally, way)}",
    )


def _top_k_bounds(inputs: IntervalInput) -> Bounds:
    """Bound a share of the top k rows as a proportion: given the threshold, rows above it are independent."""
    tally = inputs.tally
    if tally.reweighed:
        return _bootstrap_bounds(inputs, way="stratified")
    k = int(getattr(inputs.measure, "keywords", {}).get("k", 10))
    hits, misses = flag_top(Curve(tally), k).tolist()
    squares = flag_top(Curve(tally), k, tally.squares).tolist()
    low, high, how = _binomial.proportion_interval(
        _binomial.effective_counts(hits, misses, *squares), inputs.request.level
    )
    rows = min(k, int(tally.rows.sum(dtype=np.int64))) if unwrap_options(inputs.measure) is hits_at_k else 1
    return Bounds(rows * low, rows * high, how)


def _bootstrap_bounds(inputs: IntervalInput, *, way: _bootstrap.BootstrapScheme) -> Bounds:
    samples = _bootstrap.bootstrap_values(inputs.measure, inputs.tally, way=way, seed=inputs.request.seed)
    return percentile_bounds(samples, inputs.request.level, _bootstrap.describe_bootstrap(inputs.tally, way))


def _multiclass_bounds(inputs: IntervalInput) -> Bounds:
    return _multiclass.multiclass_interval(
        inputs.measure, inputs.data, level=inputs.request.level, seed=inputs.request.seed
    )


def _estimate_clustered(measure: Measure, rows: Rows, threshold: float | None, request: EstimateRequest) -> Estimate:
    check_no_method(request.method)
    data = prepare_input(measure, rows, threshold)
    value = float(measure(data))
    if isnan(value):
        return Estimate(nan, why=undefined_reason(measure, data) or "it is undefined")
    undefined = _calibration_intervals.plug_in_bounds(measure)
    if undefined:  # resampling would add a second upward bias, with or without clusters
        return make_estimate(value, undefined, measure, request)
    derived = _rate_intervals.TRANSFORMATIONS.get(unwrap_options(measure))
    function = measure if derived is None else derived.base
    bounds = _clusters.cluster_interval(function, rows, threshold=threshold, level=request.level, seed=request.seed)
    if derived is not None:
        bounds = _transform_bounds(unwrap_options(measure), bounds, value)
    return make_estimate(value, bounds, measure, request)


_ROW_METHODS: dict[str, IntervalMethod] = {"": _multiclass_bounds}
_TABLE_METHODS: dict[str, IntervalMethod] = {
    "": _simulated_table_bounds,
    "draws": _simulated_table_bounds,
    "stratified": partial(_simulated_table_bounds, way="stratified"),
    "bootstrap": partial(_simulated_table_bounds, way="bootstrap"),
}
_SIMULATED_TABLE_METHODS: dict[str, IntervalMethod] = {name: way for name, way in _TABLE_METHODS.items() if name}
_CONFUSION_METHODS: dict[str, IntervalMethod] = {
    "": _confusion_bounds,
    "influence": _confusion_bounds,
    **_SIMULATED_TABLE_METHODS,
}
_PROPORTION_METHODS: dict[str, IntervalMethod] = {
    "": _proportion_bounds,
    **{name: partial(_proportion_bounds, name=name) for name in _binomial.METHODS},
    **_SIMULATED_TABLE_METHODS,
}
_LINEAR_METHODS: dict[str, IntervalMethod] = {"": _linear_bounds, "mover": _linear_bounds}
"""MOVER: method of variance estimates recovery."""
_RATE_METHODS: dict[str, IntervalMethod] = {"": _rate_bounds, "mover": _rate_bounds}
_LOG_METHODS: dict[str, IntervalMethod] = {"log": _log_bounds}
_STRATIFIED_METHODS: dict[str, IntervalMethod] = {"stratified": partial(_simulated_table_bounds, way="stratified")}
_FIXED_PREVALENCE_METHODS: dict[_binomial.ShareKind, dict[str, IntervalMethod]] = {
    "within": {
        "": _proportion_bounds,
        **{name: _PROPORTION_METHODS[name] for name in _binomial.METHODS},
        **_STRATIFIED_METHODS,
    },
    "predictive": {
        "": _predictive_bounds,
        **{name: partial(_predictive_bounds, name=name) for name in _binomial.LOGIT_METHODS},
        **_STRATIFIED_METHODS,
    },
    "everybody": {"": _total_share_bounds, **_STRATIFIED_METHODS},
    "known": {"": _exact_bounds},
    "other": {"": _STRATIFIED_METHODS["stratified"], **_STRATIFIED_METHODS},
}
"""Methods of reweighted tables, where only rows within classes are random."""
_AUC_METHODS: dict[str, IntervalMethod] = {
    "": _auc_bounds,
    **{name: partial(_auc_bounds, name=name) for name in _auc_intervals.METHODS},
}
_RANK_METHODS: dict[Measure, dict[str, IntervalMethod]] = {
    **dict.fromkeys((auc, gini, accuracy_ratio), _AUC_METHODS),
    **{measure: {"": _cap_area_bounds, "influence": _cap_area_bounds} for measure in (cap_area, lorenz_gini)},
    **{measure: {"": _influence_bounds, "influence": _influence_bounds} for measure in _variances.CLOSED_FORM},
    ks: {"": _ks_bounds, "newcombe": _ks_bounds},
    **{key: {"": _operating_point_bounds, "mover": _operating_point_bounds} for key in _operating_points.MEASURES},
}
"""Methods of measures of ranks and probabilities that have a closed form."""
_TOP_K_METHODS: dict[Measure, dict[str, IntervalMethod]] = {
    **{measure: {"": _top_k_bounds, "wilson": _top_k_bounds} for measure in (precision_at_k, hits_at_k)},
    recall_at_k: {"": partial(_bootstrap_bounds, way="resample")},
}
CLOSED_FORM = frozenset(_RANK_METHODS)
"""Measures of ranks and probabilities that need no random samples."""
_BOOTSTRAP_METHODS: dict[str, IntervalMethod] = {
    "resample": partial(_bootstrap_bounds, way="resample"),
    "stratified": partial(_bootstrap_bounds, way="stratified"),
    "bootstrap": partial(_bootstrap_bounds, way="bootstrap"),
}


@accepts_predictions("tally", at=1)
def bootstrap(
    measures: Sequence[str | Measure],
    tally: Tally,
    *,
    level: ShareLike = 0.95,
    seed: Seed = 0,
    n_bootstrap: int = N_BOOTSTRAP,
    **predictions: Unpack[PredictionOptions],
) -> list[Estimate]:
    """Estimate several measures of probabilities by percentiles of the same bootstrap samples.

    Other tools give these intervals. A distance from calibration is biased upward once by chance and once more by
    resampling, so its percentiles lie too high; compare such a distance with its null reference instead.

    Parameters
    ----------
    measures
        Names or functions of measures that can be computed for many samples at once.
    tally
        Tally of probabilities.
    level
        Confidence level.
    seed
        Seed or NumPy generator.
    n_bootstrap
        Number of bootstrap samples.

    Returns
    -------
    list of Estimate
        One for each measure, in the same order.

    Examples
    --------
    >>> from baserate import infer, tally
    >>> sample = tally([0, 1, 0, 1, 1, 0] * 20, [0.2, 0.3, 0.4, 0.6, 0.9, 0.7] * 20)
    >>> slope, ece = infer.bootstrap(["calibration_slope", "ece"], sample)
    >>> slope.how
    '1000 bootstrap samples of rows'
    """
    level = parse_share(level)
    EstimateRequest(level, None, seed)
    functions = [as_measure(measure) for measure in measures]
    unfit = [describe(measure).name for measure in functions if not describe(measure).stacks]
    if unfit:
        raise OptionError(
            f"{', '.join(unfit)} cannot be computed for many samples at once",
            remedy=f"use infer.estimate(…, {keyword('method', 'bootstrap')}).",
        )
    check_n_samples(n_bootstrap, "n_bootstrap")
    samples = bootstrap_measures(
        functions, tally, way="stratified" if tally.reweighed else "bootstrap", seed=seed, n_samples=n_bootstrap
    )
    return [_summarize_samples(measure, tally, samples[:, at], level) for at, measure in enumerate(functions)]


def _summarize_samples(measure: Measure, tally: Tally, samples: Floats, level: float) -> Estimate:
    value = float(measure(tally))
    if isnan(value):
        return Estimate(nan, why=undefined_reason(measure, tally) or "it is undefined")
    bounds = percentile_bounds(
        samples,
        level,
        "bootstrap samples of rows within each class" if tally.reweighed else "bootstrap samples of rows",
    )
    return Estimate(value, bounds.low, bounds.high, level, bounds.how, bounds.why)
