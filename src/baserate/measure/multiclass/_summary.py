"""Tidy tables of measures of several classes: for each class, averaged over classes, and of all classes together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np

from baserate._arrays import mean_defined, ratio
from baserate._confusion import Confusion, Confusions
from baserate._costs import CostMatrix
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._errors import NotAProbabilityError, OptionError, UnknownNameError, unknown_name
from baserate._results import Estimate, Results
from baserate._rows import LabelSets, MulticlassRows
from baserate._tally import Tally
from baserate.measure import _registry as binary
from baserate.measure._measure import Measure, describe, find_by_name, typed_names
from baserate.measure._registry import note_cautions, undefined_reason
from baserate.measure._summary import compute_estimate, tidy_columns
from baserate.measure.multiclass._ordinal import pairwise_ordinal_auc
from baserate.measure.multiclass._registry import (
    AVERAGES,
    MEASURES,
    Split,
    average_over_classes,
    find_measure,
    undefined_classes,
)
from baserate.measure.multiclass._scores import pairwise_auc
from baserate.read import PredictionOptions, accepts_predictions

DEFAULT_MEASURES: dict[type, tuple[str, ...]] = {
    Counts: ("sensitivity", "precision", "f1"),
    Curve: ("auc", "average_precision"),
    Confusion: ("accuracy", "balanced_accuracy", "mcc", "kappa"),
    MulticlassRows: ("hand_till", "brier", "log_loss", "top_2_accuracy"),
}
"""Default measures by type of argument: of each class (Counts, Curve), and of all classes together."""

PAIRS = frozenset({"pairwise_auc", "pairwise_ordinal_auc"})
"""Names of rows with the AUC of two classes."""
COLUMNS = (
    *("measure", "model", "group", "class", "against", "average", "threshold"),
    *("value", "low", "high", "level", "how", "why"),
)
_USUAL_AVERAGES = ("macro", "weighted")
_HOW = {
    "macro": "mean of {}",
    "weighted": "mean by frequency of {}",
    "micro": "all classes pooled",
    "custom": "mean by given weights of {}",
}
_COST_MEASURES = ("expected_cost", "classification_cost")
"""Measures that take a cost matrix."""
_FEW = 10
"""Most classes that a note lists."""
_MANY = 50
"""Most classes for which every pair gets a row."""

Row = dict[str, Any]
Estimator = Callable[[Measure, Any], Estimate]
"""Takes a measure and its argument, and returns the estimate with its interval."""


@accepts_predictions("classes")
def summary(
    classes: Confusions | MulticlassRows,
    *,
    measures: Iterable[str | Measure] | Literal["usual", "all"] = "usual",
    averages: Iterable[str | Mapping[Any, float]] | None = None,
    costs: CostMatrix | None = None,
    estimator: Estimator = compute_estimate,
    **predictions: Unpack[PredictionOptions],
) -> Results:
    """Compute measures of several classes, for all rows (group None) and for each group, as tidy rows.

    The cells of the K×K table come first (`class` is the true class, `against` the predicted one); then measures of two
    classes, for each class against the rest and averaged; last measures of all classes together. `how` lists
    the classes that are left out of an average since their own value is undefined.

    Parameters
    ----------
    classes
        What `baserate.read.confusions` or `baserate.read.class_rows` returns.
    measures
        Names or functions, or ``"usual"`` or ``"all"``. A name of two measures, such as kappa, means the one of all
        classes together; with `averages`, both.
    averages
        Averages over classes: ``"macro"``, ``"weighted"``, ``"micro"``, or a weight for each label. By default the
        first two.
    costs
        Cost of each decision for each true class; adds the expected cost, unless a measure of cost is named.
    estimator
        Returns the estimate of a measure; by default without interval. `baserate.infer.multiclass_summary` adds
        intervals.

    Returns
    -------
    Results
        One row for each measure, group, and class or average.

    Examples
    --------
    >>> from baserate import read
    >>> table = {"is": ["cat", "dog", "dog", "fish"], "called": ["cat", "cat", "dog", "dog"]}
    >>> results = summary(read.confusions(table, truth="is", predicted="called"), measures=["precision", "accuracy"])
    >>> for row in results.rows()[-4:]:
    ...     print(row["measure"], row["class"], row["average"], row["value"], row["how"], row["why"], sep=" | ")
    precision | fish | None | None | None | the class is never predicted
    precision | None | macro | 0.5 | mean of 2 of 3 classes, without fish | None
    precision | None | weighted | 0.5 | mean by frequency of 2 of 3 classes, without fish | None
    accuracy | None | None | 0.5 | None | None
    """
    if not isinstance(classes, Confusions | MulticlassRows):
        raise OptionError(
            f"{type(classes).__name__} is neither Confusions nor MulticlassRows",
            remedy="read them with baserate.read.confusions or baserate.read.class_rows.",
        )
    measures = measures if isinstance(measures, str) else list(measures)
    plan = _Plan.of(measures, averages, costs, scored=isinstance(classes, MulticlassRows))._replace(estimator=estimator)
    notes = [*note_cautions(plan.of_all)]
    groups = [(group, _GroupData.of(data)) for group, data in iterate_groups(classes)]
    rows = [row | {"group": group} for group, data in groups for row in plan.rows(data, notes)]
    _, pooled = groups[0]
    data = results_data(classes, pooled.table, notes, decisions=plan.has_decisions) | typed_names(
        measures, find_measures
    )
    return Results({name: [row.get(name) for row in rows] for name in COLUMNS}, data)


@dataclass(frozen=True, slots=True)
class _GroupData:
    """The data of one group, in all forms that measures take."""

    split: Split
    table: Confusion
    rows: MulticlassRows | None

    @staticmethod
    def of(data: Confusion | MulticlassRows) -> _GroupData:
        rows = data if isinstance(data, MulticlassRows) else None
        return _GroupData(Split.of(data), data.confusion() if isinstance(data, MulticlassRows) else data, rows)

    def argument(self, measure: Measure) -> Any:  # noqa: ANN401  (of the type that the measure takes)
        return self.table if describe(measure).of is Confusion else self.rows


class _Plan(NamedTuple):
    """Measures, averages and options of a summary."""

    of_each: list[Measure]
    of_all: list[Measure]
    averages: Sequence[str | Mapping[Any, float]]
    costs: CostMatrix | None
    strictly: bool
    """Whether the user named each, so that none may be left out."""
    estimator: Estimator = compute_estimate

    @staticmethod
    def of(
        measures: Iterable[str | Measure] | str,
        averages: Iterable[str | Mapping[Any, float]] | None,
        costs: CostMatrix | None,
        *,
        scored: bool,
    ) -> _Plan:
        several = [averages] if isinstance(averages, (str, Mapping)) else averages
        wanted = _USUAL_AVERAGES if several is None else tuple(several)
        unknown = [name for name in wanted if isinstance(name, str) and name not in AVERAGES[:3]]
        if unknown:
            raise unknown_name("average of classes", unknown[0], AVERAGES[:3])
        strictly = not isinstance(measures, str)
        selected = select_measures(measures, both=averages is not None)
        if costs is not None and not any(each is MEASURES[name] for each in selected for name in _COST_MEASURES):
            selected.append(MEASURES["expected_cost"])
        fit = {Counts, Confusion, *((Curve, Tally, MulticlassRows) if scored else ())}
        unfit = [each for each in selected if describe(each).of not in fit]
        if unfit and strictly:
            names = ", ".join(describe(each).name for each in unfit)
            sets = all(describe(each).of is LabelSets for each in unfit)
            reason = (
                "rows have one class each, not sets of labels"
                if sets
                else "labels have neither ranks nor probabilities"
            )
            raise OptionError(f"{names} cannot be computed: {reason}.")
        selected = [each for each in selected if describe(each).of in fit]
        of_each = [measure for measure in selected if describe(measure).of in (Counts, Curve, Tally)]
        return _Plan(of_each, [m for m in selected if m not in of_each], wanted, costs, strictly)

    @property
    def has_decisions(self) -> bool:
        """Whether any measure may depend on predicted classes; the AUC of ordered classes alone does not."""
        return bool(self.of_each) or self.of_all != [MEASURES["ordinal_auc"]]

    def rows(self, data: _GroupData, notes: list[str]) -> Iterator[Row]:
        """Yield the tidy rows of one group."""
        labels = data.split.labels
        cells = data.table.mass if self.has_decisions else np.zeros((0, 0))
        for at, to in np.argwhere((cells > 0) | (len(labels) <= _MANY)).tolist():
            yield {"measure": "cell", "class": labels[at], "against": labels[to], "value": float(cells[at, to])}
        for make, measures in ((self._per_class_rows, self.of_each), (self._overall_rows, self.of_all)):
            for measure in measures:
                try:
                    yield from make(measure, data)
                except NotAProbabilityError as error:
                    if self.strictly:
                        raise
                    note = f"{describe(measure).name} is left out: {error.what}"
                    notes += [note] if note not in notes else []

    def _per_class_rows(self, measure: Measure, data: _GroupData) -> Iterator[Row]:
        """Yield a row for each class, then for each average."""
        name, labels = describe(measure).name, data.split.labels
        arguments, reasons = data.split.arguments(measure), undefined_classes(measure, data.split)
        for at, label in enumerate(labels):
            row = tidy_columns(self.estimator(measure, arguments[at])) | (
                {"why": reasons[label]} if label in reasons else {}
            )
            yield {"measure": name, "class": label, **row}
        for how in self.averages:
            function = average_over_classes(measure, how)  # type: ignore[arg-type]  # the name was checked
            average = how if isinstance(how, str) else "custom"
            method = _HOW[average].format(_describe_classes(labels, reasons))
            estimate = self.estimator(function, data.split)
            yield {
                "measure": name,
                "average": average,
                **tidy_columns(estimate),
                "how": _join_methods(method, estimate.how),
            }

    def _overall_rows(self, measure: Measure, data: _GroupData) -> Iterator[Row]:
        """Yield the row of a measure of all classes together, after the rows of its parts."""
        name, argument = describe(measure).name, data.argument(measure)
        if name == "hand_till":
            yield from _hand_till_rows(argument, self.estimator)
            return
        if name == "ordinal_auc":
            yield from _ordinal_rows(argument)
        if name in _COST_MEASURES and self.costs is not None:
            measure = partial(measure, costs=self.costs)
        yield {"measure": name, **tidy_columns(self.estimator(measure, argument))}


def select_measures(measures: Iterable[str | Measure] | str, *, both: bool) -> list[Measure]:
    """Return the selected measures; a name of two measures means `both` on request."""
    if isinstance(measures, str):
        if measures == "usual":
            of_each = [binary.MEASURES[name] for kind in (Counts, Curve) for name in DEFAULT_MEASURES[kind]]
            return of_each + [
                find_measure(name) for kind in (Confusion, MulticlassRows) for name in DEFAULT_MEASURES[kind]
            ]
        if measures == "all":
            return [*binary.MEASURES.values(), *MEASURES.values()]
        measures = [measures]
    selected = [one for each in measures for one in find_measures(each, both=both)]
    return list({(describe(each).name, describe(each).of): each for each in selected}.values())


def find_measures(measure: str | Measure, *, both: bool = False) -> list[Measure]:
    """Find the measures of a name: of all classes together if there is one, otherwise of each class.

    Parameters
    ----------
    measure
        Name, alias or function.
    both
        Whether to return both, if the name has a measure of all classes and one of each class.

    Returns
    -------
    list of Measure
        One measure or two.

    Examples
    --------
    >>> [describe(each).of.__name__ for name in ("kappa", "recall") for each in find_measures(name)]
    ['Confusion', 'Counts']
    """
    if not isinstance(measure, str):
        return [binary.as_measure(measure)]
    matches: list[Measure] = []
    for look in (find_measure, binary.find_measure):
        try:
            matches.append(look(measure))
        except UnknownNameError:
            continue
    if not matches:
        find_by_name(measure, {**binary.MEASURES, **MEASURES})  # raises, with suggestions from both registries
    return matches if both else matches[:1]


def _describe_classes(labels: Sequence[object], reasons: Mapping[object, str]) -> str:
    """Return the number of classes in an average, and those left out."""
    if not reasons:
        return f"{len(labels)} classes"
    return f"{len(labels) - len(reasons)} of {len(labels)} classes, without {_format_labels(reasons)}"


def _join_methods(method: str, interval: str | None) -> str:
    """Join the method of a number and that of its interval."""
    return f"{method}; {interval}" if interval else method


def _ordinal_rows(rows: MulticlassRows) -> Iterator[Row]:
    """Yield the AUC of each pair of classes: that a member of the later class scores above one of the earlier."""
    table = pairwise_ordinal_auc(rows)
    for at, to in np.argwhere(np.triu(np.isfinite(table), 1)).tolist() if len(rows.labels) <= _MANY else ():
        pair = {"class": rows.labels[to], "against": rows.labels[at]}
        yield {"measure": "pairwise_ordinal_auc", **pair, "value": float(table[at, to])}


def _hand_till_rows(rows: MulticlassRows, estimator: Estimator) -> Iterator[Row]:
    """Yield the table of pairs of classes, then its mean."""
    table = pairwise_auc(rows)
    absent = [label for label, mass in zip(rows.labels, rows.support, strict=True) if not mass]
    for label, line in zip(rows.labels, table, strict=True) if len(rows.labels) <= _MANY else ():
        for other, value in zip(rows.labels, line, strict=True):
            if label != other:
                lacking = [str(each) for each in (label, other) if each in absent]
                reason = f"there is no {' and no '.join(lacking)}" if lacking else None
                pair = {"class": label, "against": other}
                yield {"measure": "pairwise_auc", **pair, "value": float(value), "why": reason}
    measure = MEASURES["hand_till"]
    # The table of pairs is at hand; computing the measure again would double the work.
    plain = (
        Estimate(mean_defined(table.ravel()), why=undefined_reason(measure, rows))
        if estimator is compute_estimate
        else None
    )
    estimate = plain or estimator(measure, rows)
    every, present = len(rows.labels), len(rows.labels) - len(absent)
    total = every * (every - 1) // 2
    some = f"{present * (present - 1) // 2} of {total} pairs of classes, without {_format_labels(absent)}"
    how = f"mean of {some if absent else f'{total} pairs of classes'}"
    yield {"measure": "hand_till", **tidy_columns(estimate), "how": _join_methods(how, estimate.how)}


def iterate_groups(
    classes: Confusions | MulticlassRows,
) -> Iterator[tuple[dict[str, object] | None, Confusion | MulticlassRows]]:
    """Yield all rows together, then each group."""
    if isinstance(classes, Confusions):
        for group, table in classes.walk():
            yield None if group is None else dict(zip(classes.attributes, group, strict=True)), table
        return
    yield None, classes
    for at, group in enumerate(classes.groups if classes.attributes else ()):
        yield dict(zip(classes.attributes, group, strict=True)), classes.of_group(at)


def results_data(
    classes: Confusions | MulticlassRows, table: Confusion, notes: Sequence[str], *, decisions: bool = True
) -> dict[str, Any]:
    """Return the data of results: rows, classes, prevalences, digest and notes; `table` is that of all rows."""
    intake = classes.intake
    shares = ratio(table.truth, table.total)
    return {
        "rows": int(table.rows.total),
        "read": intake.read,
        "refused": intake.dropped,
        "reasons": {column: dict(kinds) for column, kinds in intake.reasons.items()},
        "classes": list(table.labels),
        "prevalences": {str(label): float(share) for label, share in zip(table.labels, shares, strict=True)},
        "truth_in": "rows",
        "weighted": table.moments is not None,
        "digest": classes.digest,
        "columns": dict(intake.columns),
        "notes": [*intake.notes, *notes, *(_note_absent(table) if decisions else ()), *_note_omitted(table)],
    }


def _note_absent(table: Confusion) -> Iterator[str]:
    """Note classes that are never true or never predicted, on which many values depend."""
    for margin, side in ((table.truth, "true"), (table.predicted, "predicted")):
        absent = [label for label, mass in zip(table.labels, margin, strict=True) if not mass]
        if absent:
            yield f"never {side}, of {len(table.labels)} classes: {_format_labels(absent)}."


def _note_omitted(table: Confusion) -> Iterator[str]:
    if len(table.labels) > _MANY:
        yield f"of {len(table.labels)} classes, cells without mass and pairs of classes have no rows of their own."


def _format_labels(labels: Iterable[object]) -> str:
    texts = list(map(str, labels))
    return ", ".join(texts[:_FEW]) + (f" and {len(texts) - _FEW} more" if len(texts) > _FEW else "")
