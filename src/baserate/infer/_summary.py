"""Tallies, or rows, -> tidy numbers with an interval on each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from baserate._confusion import Confusions
from baserate._costs import CostMatrix
from baserate._errors import OptionError
from baserate._estimate import Estimate
from baserate._results import Results
from baserate._rows import MulticlassRows, Rows
from baserate._tally import Tallies
from baserate.infer import _known
from baserate.infer._draws import Seed
from baserate.infer._estimate import Data, EstimateRequest, closed, estimate, judged, noun_of, ways
from baserate.measure import MEASURES, Measure, multiclass, summary as measured


@dataclass(frozen=True, slots=True)
class Interval:
    """What kind of intervals are wanted: their level, the method for those measures that know it, and a seed."""

    level: float = 0.95
    method: str | None = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        EstimateRequest(self.level, None, self.seed)
        if self.method is not None and self.method not in METHODS:
            raise OptionError(f"method={self.method!r} makes no intervals; known are: {', '.join(METHODS)}.")

    def of(self, measure: Measure, noun: Data) -> Estimate:
        """Judge one number."""
        return judged(
            measure, noun_of(measure, noun), EstimateRequest(self.level, self._method(measure, noun), self.seed)
        )

    def closed(self, measure: Measure, noun: Data) -> bool:
        """Whether it does so without draws."""
        return closed(measure, reweighed=_known.reweighed(noun), method=self._method(measure, noun))

    def _method(self, measure: Measure, noun: Data) -> str | None:
        """The method that was asked for, if the measure knows it."""
        return self.method if self.method in ways(measure, reweighed=_known.reweighed(noun)) else None


METHODS = (
    *("wilson", "clopper-pearson", "jeffreys", "agresti-coull"),
    *("score", "logit-delong", "delong", "hanley-mcneil", "newcombe", "influence", "mover"),
    *("draws", "resample", "stratified", "bootstrap", *_known.LOGITS),
)
"""Every method that makes an interval of some measure."""


def summary(
    data: Tallies | Rows,
    *,
    measures: Iterable[str | Measure] | Literal["usual", "all"] = "usual",
    threshold: float | Iterable[float] | None = None,
    interval: Interval = Interval(),
) -> Results:
    """Measure as `baserate.measure.summary` does, with an interval on every number; the cells have none.

    Of `Rows` with a cluster the intervals are those of clusters. A method that is not known for a measure leaves it
    with its own; one that none of them knows is refused.

    >>> from baserate import infer, read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> row = infer.summary(t, measures=["sensitivity"]).rows()[-1]
    >>> row["value"], round(row["low"], 4), round(row["high"], 4), row["how"]
    (0.5, 0.0126, 0.9874, 'Clopper–Pearson')
    """
    clustered = isinstance(data, Rows) and data.cluster is not None
    if clustered and interval.method is not None:
        raise OptionError(f"method={interval.method!r} is for independent rows; these are in clusters: leave it out.")
    tallies = data.tallies() if isinstance(data, Rows) else data
    judge = _of_clusters(data, interval) if isinstance(data, Rows) and clustered else _of_tallies(interval)
    found = measured(tallies, measures=measures, threshold=threshold, judge=judge)
    check_use(interval, found, reweighed=all_reweighed(tallies))
    clusters = len(np.unique(data.cluster)) if isinstance(data, Rows) and data.cluster is not None else None
    return Results(found.columns, {**found.data, "interval": _told(interval, clusters)})


def class_summary(
    classes: Confusions | MulticlassRows,
    *,
    measures: Iterable[str | Measure] | Literal["usual", "all"] = "usual",
    averages: Iterable[str | Mapping[Any, float]] | None = None,
    costs: CostMatrix | None = None,
    interval: Interval = Interval(),
) -> Results:
    """Measure as `baserate.measure.multiclass.summary` does, with an interval on every number.

    Cells and pairs of classes have none.
    """

    def judge(measure: Measure, noun: Any) -> Estimate:  # noqa: ANN401  (what the measure takes)
        return interval.of(measure, noun.classes if isinstance(noun, multiclass.Split) else noun)

    found = multiclass.summary(classes, measures=measures, averages=averages, costs=costs, judge=judge)
    check_use(interval, found, reweighed=isinstance(classes, Confusions) and classes.pooled.reweighed)
    return Results(found.columns, {**found.data, "interval": _told(interval, None)})


def check_use(interval: Interval, found: Results, *, reweighed: bool = False) -> None:
    """See that the method was of use."""
    names = {*found.columns["measure"]} - {"tp", "fp", "fn", "tn", "cell", "pairwise_auc"}
    registries = (MEASURES, multiclass.MEASURES)
    known = [known[name] for known in registries for name in names if name in known]
    useful = any(interval.method in ways(measure, reweighed=reweighed) for measure in known)
    if interval.method is not None and known and not useful:
        where = " where the shares of the classes are known" if reweighed else ""
        told = f"method={interval.method!r} makes no interval of {', '.join(sorted(names))}{where}; leave it out."
        raise OptionError(told)


def all_reweighed(tallies: Tallies) -> bool:
    """Whether every tally is at known shares of its classes."""
    return all(tally.reweighed for groups in tallies.models.values() for tally in groups.values())


def _of_tallies(interval: Interval) -> Callable[[Measure, Any, object], Estimate]:
    return lambda measure, noun, _place: interval.of(measure, noun)


def _of_clusters(rows: Rows, interval: Interval) -> Callable[[Measure, Any, Any], Estimate]:
    """Judge numbers by the rows that they are of."""

    def judge(measure: Measure, _noun: object, place: Any) -> Estimate:  # noqa: ANN401  (a place of measure.summary)
        part = _part(rows, place.model, place.group)
        return estimate(measure, part, threshold=place.threshold, level=interval.level, seed=interval.seed)

    return judge


def _part(rows: Rows, model: str, group: tuple[object, ...] | None) -> Rows:
    """Rows of one model and group."""
    there = slice(None) if group is None else np.flatnonzero(rows.group == rows.groups.index(group))
    alone = replace(rows, score={model: rows.score[model]})
    return replace(alone.only(there), group=rows.group[:0], groups=((),), attributes=())


def _told(interval: Interval, clusters: int | None) -> dict[str, Any]:
    """What the intervals are, for those who read the results."""
    seed = interval.seed if isinstance(interval.seed, int) else None
    return {"level": interval.level, "method": interval.method, "seed": seed, "clusters": clusters}
