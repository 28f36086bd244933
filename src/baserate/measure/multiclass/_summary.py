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
from baserate.measure._measure import Measure, describe, find_by_name, typed_names, unwrap_options
from baserate.measure._registry import note_cautions, undefined_reason
from baserate.measure._summary import compute_estimate, tidy_columns
from baserate.measure.multiclass._label_ranking import ROW_MEASURES
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
    LabelSets: ("exact_match", "coverage_error", "lrap", "label_ranking_loss", "ndcg"),
}
"""Default measures by type of argument: of each class (Counts, Curve), and of all classes together."""

PAIRS = frozenset({"pairwise_auc", "pairwise_ordinal_auc"})
"""Names of rows with the AUC of two classes."""
COLUMNS = (
    *("measure", "model", "group", "class", "against", "average", "threshold"),
    *("value", "low", "high", "level", "how", "why"),
)
_USUAL_AVERAGES = ("macro", "weighted")
_SET_AVERAGES = ("macro", "samples")
_HOW = {
    "macro": "mean of {}",
    "weighted": "mean by frequency of {}",
    "micro": "all classes pooled",
    "samples": "mean over rows",
    "custom": "mean by given weights of {}",
}
_COST_MEASURES = ("expected_cost", "classification_cost")
"""Measures that take a cost matrix."""
_OF_ONE_CLASS = (Confusion, MulticlassRows)
"""Arguments of measures of rows that have one class each."""
_FEW = 10
"""Most classes that a note lists."""
_MANY = 50
"""Most classes for which every pair gets a row."""

Row = dict[str, Any]
Estimator = Callable[[Measure, Any], Estimate]
"""Takes a measure and its argument, and returns the estimate with its interval."""


@accepts_predictions("class summary")
def summary(
    classes: Confusions | MulticlassRows | LabelSets,
    *,
    measures: Iterable[str | Measure] | Literal["usual", "all"] = "usual",
    averages: Iterable[str | Mapping[Any, float]] | None = None,
    average_labels: Iterable[object] | None = None,
    costs: CostMatrix | None = None,
    estimator: Estimator = compute_estimate,
    **predictions: Unpack[PredictionOptions],
) -> Results:
    """Compute measures of several classes, for all rows (group None) and for each group, as tidy rows.

    The cells of the K×K table come first (`class` is the true class, `against` the predicted one); then measures of two
    classes, for each class against the rest and averaged; last measures of all classes together. `how` lists
    the classes that are left out of an average since their own value is undefined.

    Sets of labels have the four cells of each label in place of the K×K table.

    Parameters
    ----------
    classes
        What `baserate.read.confusions`, `baserate.read.class_rows` or `baserate.read.label_columns` returns.
    measures
        Names or functions, or ``"usual"`` or ``"all"``. A name of two measures, such as kappa, means the one of all
        classes together; with `averages`, both.
    averages
        Averages over classes: ``"macro"``, ``"weighted"``, ``"micro"``, or a weight for each label. By default the
        first two. Of sets of labels also ``"samples"``, over rows, by default in place of the second.
    average_labels
        Classes that averages include, by default all.
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
    if not isinstance(classes, Confusions | MulticlassRows | LabelSets):
        raise OptionError(
            f"{type(classes).__name__} is neither Confusions, MulticlassRows nor LabelSets",
            remedy="read them with baserate.read.confusions, class_rows or label_columns.",
        )
    measures = measures if isinstance(measures, str) else list(measures)
    some = None if average_labels is None else tuple(average_labels)
    plan = _Plan.of(measures, averages, costs, classes)._replace(estimator=estimator, average_labels=some)
    notes = [*note_cautions(plan.of_all)]
    groups = [(group, _GroupData.of(data)) for group, data in iterate_groups(classes)]
    rows = [row | {"group": group} for group, data in groups for row in plan.rows(data, notes)]
    _, pooled = groups[0]
    if isinstance(classes, LabelSets):
        data = _label_sets_data(classes, notes)
    else:
        data = results_data(classes, pooled.table, notes, decisions=plan.has_decisions)
    data |= typed_names(measures, find_measures)
    return Results({name: [row.get(name) for row in rows] for name in COLUMNS}, data)


@dataclass(frozen=True, slots=True)
class _GroupData:
    """The data of one group, in all forms that measures take."""

    split: Split
    table: Any
    """Confusion matrix; None for sets of labels."""
    rows: Any
    """Rows with scores, sets of labels, or None."""

    @staticmethod
    def of(data: Confusion | MulticlassRows | LabelSets) -> _GroupData:
        if isinstance(data, LabelSets):
            return _GroupData(Split.of(data), None, data)
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
    average_labels: tuple[object, ...] | None = None

    @staticmethod
    def of(
        measures: Iterable[str | Measure] | str,
        averages: Iterable[str | Mapping[Any, float]] | None,
        costs: CostMatrix | None,
        classes: Confusions | MulticlassRows | LabelSets,
    ) -> _Plan:
        several = [averages] if isinstance(averages, (str, Mapping)) else averages
        of_sets = isinstance(classes, LabelSets)
        known = AVERAGES if of_sets else AVERAGES[:3]
        wanted = (_SET_AVERAGES if of_sets else _USUAL_AVERAGES) if several is None else tuple(several)
        unknown = [name for name in wanted if isinstance(name, str) and name not in known]
        if unknown:
            raise unknown_name("average of classes", unknown[0], known)
        strictly = not isinstance(measures, str)
        selected = select_measures(measures, both=averages is not None, of_sets=of_sets)
        if costs is not None and not any(each is MEASURES[name] for each in selected for name in _COST_MEASURES):
            selected.append(MEASURES["expected_cost"])
        unfit = [each for each in selected if not _fits(each, classes)]
        if unfit and strictly:
            names = ", ".join(describe(each).name for each in unfit)
            raise OptionError(f"{names} cannot be computed: {_explain_unfit(unfit, of_sets=of_sets)}.")
        selected = [each for each in selected if each not in unfit]
        of_each = [measure for measure in selected if describe(measure).of in (Counts, Curve, Tally)]
        return _Plan(of_each, [m for m in selected if m not in of_each], wanted, costs, strictly)

    @property
    def has_decisions(self) -> bool:
        """Whether any measure may depend on predicted classes; the AUC of ordered classes alone does not."""
        return bool(self.of_each) or self.of_all != [MEASURES["ordinal_auc"]]

    def rows(self, data: _GroupData, notes: list[str]) -> Iterator[Row]:
        """Yield the tidy rows of one group."""
        yield from _cell_rows(data, decisions=self.has_decisions)
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
        averaged = labels if self.average_labels is None else self.average_labels
        left_out = {label: reason for label, reason in reasons.items() if label in averaged}
        for how in self.averages:
            if how == "samples" and describe(measure).of is not Counts:
                continue
            function = average_over_classes(measure, how, labels=self.average_labels)  # type: ignore[arg-type]  # the name was checked
            average = how if isinstance(how, str) else "custom"
            method = _HOW[average].format(_describe_classes(averaged, left_out))
            if average == "micro" and self.average_labels is not None:
                method = f"{_describe_classes(averaged, {})} pooled"
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


def _fits(measure: Measure, classes: Confusions | MulticlassRows | LabelSets) -> bool:
    """Return whether a measure can be computed of such data."""
    of = describe(measure).of
    if not isinstance(classes, LabelSets):
        return of in (
            Counts,
            Confusion,
            *((Curve, Tally, MulticlassRows) if isinstance(classes, MulticlassRows) else ()),
        )
    of_scores = of in (Curve, Tally) or unwrap_options(measure) in ROW_MEASURES
    return of in (LabelSets, Counts, Curve, Tally) and (classes.score if of_scores else classes.predicted) is not None


def _explain_unfit(unfit: Sequence[Measure], *, of_sets: bool) -> str:
    """Return the reason why measures cannot be computed."""
    kinds = {describe(each).of for each in unfit}
    if not of_sets:
        only_sets = kinds == {LabelSets}
        return (
            "rows have one class each, not sets of labels"
            if only_sets
            else "labels have neither ranks nor probabilities"
        )
    if kinds & {Confusion, MulticlassRows}:
        return "rows have sets of labels, not one class each"
    of_scores = any(describe(each).of in (Curve, Tally) or unwrap_options(each) in ROW_MEASURES for each in unfit)
    return "there are decisions alone, no scores" if of_scores else "there are scores alone, no decisions"


def _cell_rows(data: _GroupData, *, decisions: bool) -> Iterator[Row]:
    """Yield the cells of the K×K table, if classes were predicted; of sets of labels, the four cells of each label."""
    labels = data.split.labels
    if data.table is not None:
        cells = data.table.mass if decisions else np.zeros((0, 0))
        for at, to in np.argwhere((cells > 0) | (len(labels) <= _MANY)).tolist():
            yield {"measure": "cell", "class": labels[at], "against": labels[to], "value": float(cells[at, to])}
    elif data.rows.predicted is not None:
        for at, label in enumerate(labels):
            for cell in ("tp", "fp", "fn", "tn"):
                yield {"measure": cell, "class": label, "value": float(getattr(data.split.counts, cell)[at])}


def select_measures(measures: Iterable[str | Measure] | str, *, both: bool, of_sets: bool = False) -> list[Measure]:
    """Return the selected measures; a name of two measures means `both` on request."""
    if isinstance(measures, str):
        if measures == "usual":
            of_each = [binary.MEASURES[name] for kind in (Counts, Curve) for name in DEFAULT_MEASURES[kind]]
            kinds = (LabelSets,) if of_sets else (Confusion, MulticlassRows)
            return of_each + [find_measure(name) for kind in kinds for name in DEFAULT_MEASURES[kind]]
        if measures == "all":
            return [*binary.MEASURES.values(), *MEASURES.values()]
        measures = [measures]
    if of_sets:  # a name of two measures means that of each label
        found = [find_measures(each, both=True) for each in measures]
        selected = [next((one for one in each if describe(one).of not in _OF_ONE_CLASS), each[0]) for each in found]
    else:
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
    classes: Confusions | MulticlassRows | LabelSets,
) -> Iterator[tuple[dict[str, object] | None, Any]]:
    """Yield all rows together, then each group: a confusion matrix, rows, or sets of labels."""
    if isinstance(classes, LabelSets):
        yield None, classes
        return
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


def _label_sets_data(sets: LabelSets, notes: Sequence[str]) -> dict[str, Any]:
    """Return the data of results on sets of labels."""
    intake = sets.intake
    shares = ratio(sets.support, sets.total)
    return {
        "rows": len(sets),
        "read": intake.read or len(sets),
        "refused": intake.dropped,
        "reasons": {column: dict(kinds) for column, kinds in intake.reasons.items()},
        "classes": list(sets.labels),
        "prevalences": {str(label): float(share) for label, share in zip(sets.labels, shares, strict=True)},
        "weighted": sets.weight is not None,
        "columns": dict(intake.columns),
        "notes": [*intake.notes, *notes],
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
