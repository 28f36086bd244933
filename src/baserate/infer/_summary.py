"""Summary tables: many measures of tallies or rows, with an interval for every number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack

import numpy as np

from baserate._confusion import Confusions
from baserate._costs import CostMatrix, CostsLike
from baserate._errors import OptionError
from baserate._results import Estimate, Results
from baserate._rows import LabelSets, MulticlassRows, Rows
from baserate._tally import Tallies
from baserate.infer import _binomial
from baserate.infer._bootstrap import Seed
from baserate.infer._estimate import (
    Data,
    EstimateRequest,
    check_no_method,
    estimate,
    estimate_input,
    interval_methods,
    is_closed_form,
    mention_method,
    prepare_input,
)
from baserate.measure import MEASURES, Measure, multiclass, summary as measured
from baserate.read import AdjustedIntervalOptions, IntervalPredictionOptions, accepts_predictions


@dataclass(frozen=True, slots=True)
class IntervalOptions:
    """Options of intervals.

    Parameters
    ----------
    level
        Confidence level.
    method
        Interval method, for those measures that have it; others get their default.
    seed
        Seed or NumPy generator of methods that sample.
    """

    level: float = 0.95
    method: str | None = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        EstimateRequest(self.level, None, self.seed)
        if self.method is not None and self.method not in INTERVAL_METHODS:
            raise OptionError(
                f"{mention_method(self.method)} makes no intervals", remedy=f"known are: {', '.join(INTERVAL_METHODS)}."
            )

    def of(self, measure: Measure, data: Data) -> Estimate:
        """Estimate one measure."""
        return estimate_input(
            measure, prepare_input(measure, data), EstimateRequest(self.level, self._method(measure, data), self.seed)
        )

    def closed(self, measure: Measure, data: Data) -> bool:
        """Return whether the interval needs no random samples."""
        return is_closed_form(
            measure, reweighed=_binomial.has_fixed_prevalence(data), method=self._method(measure, data)
        )

    def _method(self, measure: Measure, data: Data) -> str | None:
        """Return the requested method if the measure has it."""
        return (
            self.method
            if self.method in interval_methods(measure, reweighed=_binomial.has_fixed_prevalence(data))
            else None
        )


INTERVAL_METHODS = (
    *("wilson", "clopper-pearson", "jeffreys", "agresti-coull"),
    *("score", "logit-delong", "delong", "hanley-mcneil", "newcombe", "influence", "mover", "log"),
    *("draws", "resample", "stratified", "bootstrap", *_binomial.LOGIT_METHODS),
)
"""Interval methods of all measures."""


@accepts_predictions("tallies or rows", adjusts=True)
def summary(
    data: Tallies | Rows,
    *,
    measures: Iterable[str | Measure] | Literal["usual", "all"] = "usual",
    threshold: float | Iterable[float] | None = None,
    costs: CostsLike | None = None,
    interval: IntervalOptions = IntervalOptions(),
    **predictions: Unpack[AdjustedIntervalOptions],
) -> Results:
    """Summarize measures as `baserate.measure.summary` does, with an interval for every number but the cells.

    Parameters
    ----------
    data
        Tallies of models and groups, or rows. Rows with clusters get intervals that allow for them.
    measures
        Names or functions of measures, "usual" or "all".
    threshold
        One or more thresholds for measures of a 2×2 table.
    costs
        Costs of outcomes, for the measure expected_cost: ``fp=1, fn=20``, a mapping, or :class:`baserate.Costs`.
    interval
        Level, method and seed. Measures that do not have the method get their default interval.

    Returns
    -------
    Results
        Tidy table with value, low, high, method and, where undefined, the reason.

    Raises
    ------
    OptionError
        No measure has the requested method, or the rows are clustered and a method is named.

    Examples
    --------
    >>> from baserate import infer, read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> row = infer.summary(t, measures=["sensitivity"]).rows()[-1]
    >>> row["value"], round(row["low"], 4), round(row["high"], 4), row["how"]
    (0.5, 0.0126, 0.9874, 'Clopper–Pearson')
    """
    clustered = isinstance(data, Rows) and data.cluster is not None
    if clustered:
        check_no_method(interval.method)
    tallies = data.tallies() if isinstance(data, Rows) else data
    estimator = (
        _make_cluster_estimator(data, interval) if isinstance(data, Rows) and clustered else _make_estimator(interval)
    )
    results = measured(tallies, measures=measures, threshold=threshold, costs=costs, estimator=estimator)
    check_method_used(interval, results, reweighed=have_fixed_prevalence(tallies))
    clusters = len(np.unique(data.cluster)) if isinstance(data, Rows) and data.cluster is not None else None
    return Results(results.columns, {**results.data, "interval": _describe_interval(interval, clusters)})


@accepts_predictions("class summary")
def multiclass_summary(
    classes: Confusions | MulticlassRows | LabelSets,
    *,
    measures: Iterable[str | Measure] | Literal["usual", "all"] = "usual",
    averages: Iterable[str | Mapping[Any, float]] | None = None,
    average_labels: Iterable[object] | None = None,
    costs: CostMatrix | None = None,
    interval: IntervalOptions = IntervalOptions(),
    **predictions: Unpack[IntervalPredictionOptions],
) -> Results:
    """Summarize multi-class measures as `baserate.measure.multiclass.summary` does, with intervals.

    Parameters
    ----------
    classes
        Confusion matrices, rows with a score for each class, or sets of labels.
    measures
        Names or functions of measures, "usual" or "all".
    averages
        Kinds of averages over classes ("macro", "weighted", "micro"), or weights by class; of sets of labels also over
        rows ("samples").
    average_labels
        Classes that averages include, by default all.
    costs
        Cost matrix, for `expected_cost`.
    interval
        Level, method and seed of the intervals.

    Returns
    -------
    Results
        Tidy table. Cells and pairs of classes have no interval.
    """

    def estimate_classes(measure: Measure, data: Any) -> Estimate:  # noqa: ANN401  (what the measure takes)
        return interval.of(measure, data.classes if isinstance(data, multiclass.Split) else data)

    results = multiclass.summary(
        classes,
        measures=measures,
        averages=averages,
        average_labels=average_labels,
        costs=costs,
        estimator=estimate_classes,
    )
    check_method_used(interval, results, reweighed=isinstance(classes, Confusions) and classes.pooled.reweighed)
    return Results(results.columns, {**results.data, "interval": _describe_interval(interval, None)})


def check_method_used(interval: IntervalOptions, results: Results, *, reweighed: bool = False) -> None:
    """Raise if an interval method was requested that none of the measures has."""
    # Cells of a table and pairs of classes never have an interval.
    names = {*results.columns["measure"]} - {"tp", "fp", "fn", "tn", "cell", *multiclass.PAIRS}
    registries = (MEASURES, multiclass.MEASURES)
    functions = [functions[name] for functions in registries for name in names if name in functions]
    useful = any(interval.method in interval_methods(measure, reweighed=reweighed) for measure in functions)
    if interval.method is not None and functions and not useful:
        where = " where the class shares are fixed" if reweighed else ""
        what = f"{mention_method(interval.method)} makes no interval of {', '.join(sorted(names))}{where}"
        raise OptionError(what, remedy="leave it out.")


def have_fixed_prevalence(tallies: Tallies) -> bool:
    """Return whether every tally has fixed class shares."""
    return all(tally.reweighed for groups in tallies.models.values() for tally in groups.values())


def _make_estimator(interval: IntervalOptions) -> Callable[[Measure, Any, object], Estimate]:
    return lambda measure, data, _place: interval.of(measure, data)


def _make_cluster_estimator(rows: Rows, interval: IntervalOptions) -> Callable[[Measure, Any, Any], Estimate]:
    """Return a function that estimates each number from its clustered rows."""

    def estimate_place(measure: Measure, _argument: object, place: Any) -> Estimate:  # noqa: ANN401  (a place of measure.summary)
        part = _select_rows(rows, place.model, place.group)
        return estimate(measure, part, threshold=place.threshold, level=interval.level, seed=interval.seed)

    return estimate_place


def _select_rows(rows: Rows, model: str, group: tuple[object, ...] | None) -> Rows:
    """Select the rows of one model and group."""
    places = slice(None) if group is None else np.flatnonzero(rows.group == rows.groups.index(group))
    single = replace(rows, score={model: rows.score[model]})
    return replace(single.only(places), group=rows.group[:0], groups=((),), attributes=())


def _describe_interval(interval: IntervalOptions, clusters: int | None) -> dict[str, Any]:
    """Return the options of the intervals as metadata of the results."""
    seed = interval.seed if isinstance(interval.seed, int) else None
    return {"level": interval.level, "method": interval.method, "seed": seed, "clusters": clusters}
