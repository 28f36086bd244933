"""Confusions or ClassRows -> tidy numbers: of each class, averaged over classes, and of all classes together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from baserate._arrays import mean_defined, ratio
from baserate._confusion import Confusion, Confusions
from baserate._costs import CostMatrix
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._errors import NotAProbabilityError, OptionError, UnknownNameError
from baserate._estimate import Estimate
from baserate._results import Results
from baserate._rows import LabelSets, MulticlassRows
from baserate._tally import Tally
from baserate.measure import _registry as binary
from baserate.measure._about import Measure, about
from baserate.measure._names import find
from baserate.measure._registry import why
from baserate.measure._summary import measured, tidy
from baserate.measure.multiclass._average import AVERAGES, Split, averaged, undefined
from baserate.measure.multiclass._registry import MEASURES, named
from baserate.measure.multiclass._scored import pairwise_auc

USUAL: dict[type, tuple[str, ...]] = {
    Counts: ("sensitivity", "precision", "f1"),
    Curve: ("auc", "average_precision"),
    Confusion: ("accuracy", "balanced_accuracy", "mcc", "kappa"),
    MulticlassRows: ("hand_till", "brier", "log_loss", "top_2_accuracy"),
}
"""What is measured when nobody says what: of each class (Counts, Curve), and of all together."""

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
_FEW = 10
"""Classes that a sentence may name."""
_MANY = 50
"""Classes from which not every pair of them gets a row."""

Row = dict[str, Any]
Judge = Callable[[Measure, Any], Estimate]
"""Takes a measure and what it is of, and returns it with its interval."""


def summary(
    classes: Confusions | MulticlassRows,
    *,
    measures: Iterable[str | Measure] | Literal["usual", "all"] = "usual",
    averages: Iterable[str | Mapping[Any, float]] | None = None,
    costs: CostMatrix | None = None,
    judge: Judge = measured,
) -> Results:
    """Measure everybody together (group None) and then each group, as tidy rows.

    First come the cells of the K×K table (`class` is the truth, `against` what was decided); then measures of two
    classes, one row for each class against the rest, and one for each of the `averages`: "macro", "weighted", "micro",
    or a weight for each label; by default the first two. Last come measures of all classes together. A name that means
    both, such as kappa, means all classes together; if `averages` are asked for, both. Where a class is left out of an
    average since its own number is undefined, `how` says so. The numbers are plain unless a `judge` gives them
    intervals, as `baserate.infer.class_summary` does.

    >>> from baserate import read
    >>> table = {"is": ["cat", "dog", "dog", "fish"], "called": ["cat", "cat", "dog", "dog"]}
    >>> found = summary(read.confusions(table, truth="is", predicted="called"), measures=["precision", "accuracy"])
    >>> for row in found.rows()[-4:]:
    ...     print(row["measure"], row["class"], row["average"], row["value"], row["how"], row["why"], sep=" | ")
    precision | fish | None | None | None | the class is never decided
    precision | None | macro | 0.5 | mean of 2 of 3 classes, without fish | None
    precision | None | weighted | 0.5 | mean by frequency of 2 of 3 classes, without fish | None
    accuracy | None | None | 0.5 | None | None
    """
    if not isinstance(classes, Confusions | MulticlassRows):
        raise OptionError(f"{type(classes).__name__} is not what read.confusions or read.class_rows gives; read first.")
    plan = _Plan.of(measures, averages, costs, scored=isinstance(classes, MulticlassRows))._replace(judge=judge)
    notes: list[str] = []
    cases = [(group, _Case.of(noun)) for group, noun in walk(classes)]
    rows = [row | {"group": group} for group, case in cases for row in plan.rows(case, notes)]
    _, everybody = cases[0]
    return Results({name: [row.get(name) for row in rows] for name in COLUMNS}, header(classes, everybody.table, notes))


@dataclass(frozen=True, slots=True)
class _Case:
    """One group, seen in all ways that measures need."""

    split: Split
    table: Confusion
    rows: MulticlassRows | None

    @staticmethod
    def of(noun: Confusion | MulticlassRows) -> _Case:
        rows = noun if isinstance(noun, MulticlassRows) else None
        return _Case(Split.of(noun), noun.decided() if isinstance(noun, MulticlassRows) else noun, rows)

    def noun(self, measure: Measure) -> Any:  # noqa: ANN401  (what the measure takes)
        return self.table if about(measure).of is Confusion else self.rows


class _Plan(NamedTuple):
    """What to measure."""

    of_each: list[Measure]
    of_all: list[Measure]
    averages: Sequence[str | Mapping[Any, float]]
    costs: CostMatrix | None
    strictly: bool
    """Whether each was asked for by name, so that leaving it out would be wrong."""
    judge: Judge = measured

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
            raise UnknownNameError(
                f"there is no average {unknown[0]!r} of classes. Known are: {', '.join(AVERAGES[:3])}."
            )
        strictly = not isinstance(measures, str)
        chosen = chosen_measures(measures, both=averages is not None)
        if costs is not None and MEASURES["expected_cost"] not in chosen:
            chosen.append(MEASURES["expected_cost"])
        fit = {Counts, Confusion, *((Curve, Tally, MulticlassRows) if scored else ())}
        left = [each for each in chosen if about(each).of not in fit]
        if left and strictly:
            names = ", ".join(about(each).name for each in left)
            sets = all(about(each).of is LabelSets for each in left)
            told = (
                "rows have one class each, not sets of labels"
                if sets
                else "labels have neither ranks nor probabilities"
            )
            raise OptionError(f"{names} cannot be had: {told}.")
        chosen = [each for each in chosen if about(each).of in fit]
        of_each = [measure for measure in chosen if about(measure).of in (Counts, Curve, Tally)]
        return _Plan(of_each, [m for m in chosen if m not in of_each], wanted, costs, strictly)

    def rows(self, case: _Case, notes: list[str]) -> Iterator[Row]:
        """Tidy rows of one group."""
        labels = case.split.labels
        cells = case.table.mass
        for at, to in np.argwhere((cells > 0) | (len(labels) <= _MANY)).tolist():
            yield {"measure": "cell", "class": labels[at], "against": labels[to], "value": float(cells[at, to])}
        for make, measures in ((self._averaged, self.of_each), (self._whole, self.of_all)):
            for measure in measures:
                try:
                    yield from make(measure, case)
                except NotAProbabilityError as error:
                    if self.strictly:
                        raise
                    note = f"{about(measure).name} is left out: {str(error).partition(' Rank')[0]}"
                    notes += [note] if note not in notes else []

    def _averaged(self, measure: Measure, case: _Case) -> Iterator[Row]:
        """Yield a row for each class, then for each average."""
        name, labels = about(measure).name, case.split.labels
        nouns, reasons = case.split.nouns(measure), undefined(measure, case.split)
        for at, label in enumerate(labels):
            found = tidy(self.judge(measure, nouns[at])) | ({"why": reasons[label]} if label in reasons else {})
            yield {"measure": name, "class": label, **found}
        for how in self.averages:
            function = averaged(measure, how)  # type: ignore[arg-type]  # the name was checked
            average = how if isinstance(how, str) else "custom"
            told = _HOW[average].format(_which(labels, reasons))
            judged = self.judge(function, case.split)
            yield {"measure": name, "average": average, **tidy(judged), "how": _joined(told, judged.how)}

    def _whole(self, measure: Measure, case: _Case) -> Iterator[Row]:
        """Yield the row of a measure of all classes together, after what it is the mean of."""
        name, noun = about(measure).name, case.noun(measure)
        if name == "hand_till":
            yield from _hand_till(noun, self.judge)
            return
        if name == "expected_cost" and self.costs is not None:
            measure = partial(measure, costs=self.costs)
        yield {"measure": name, **tidy(self.judge(measure, noun))}


def chosen_measures(measures: Iterable[str | Measure] | str, *, both: bool) -> list[Measure]:
    """Find the measures that are asked for; a name that means two is taken as `both` if that is asked for too."""
    if isinstance(measures, str):
        if measures == "usual":
            of_each = [binary.MEASURES[name] for noun in (Counts, Curve) for name in USUAL[noun]]
            return of_each + [named(name) for noun in (Confusion, MulticlassRows) for name in USUAL[noun]]
        if measures == "all":
            return [*binary.MEASURES.values(), *MEASURES.values()]
        raise OptionError(f"measures is {measures!r}; it is 'usual', 'all', or a list of names.")
    found = [one for each in measures for one in meant(each, both=both)]
    return list({(about(each).name, about(each).of): each for each in found}.values())


def meant(measure: str | Measure, *, both: bool = False) -> list[Measure]:
    """Find the measures that a name means: of all classes together where there is one, otherwise of each class.

    >>> [about(each).of.__name__ for name in ("kappa", "recall") for each in meant(name)]
    ['Confusion', 'Counts']
    """
    if not isinstance(measure, str):
        return [binary.known(measure)]
    found: list[Measure] = []
    for look in (named, binary.named):
        try:
            found.append(look(measure))
        except UnknownNameError:
            continue
    if not found:
        find(measure, {**binary.MEASURES, **MEASURES})  # raises, and says what is near
    return found if both else found[:1]


def _which(labels: Sequence[object], reasons: Mapping[object, str]) -> str:
    """Which classes an average is of."""
    if not reasons:
        return f"{len(labels)} classes"
    return f"{len(labels) - len(reasons)} of {len(labels)} classes, without {_listed(reasons)}"


def _joined(told: str, how: str | None) -> str:
    """What the number is, and how its interval was made."""
    return f"{told}; {how}" if how else told


def _hand_till(rows: MulticlassRows, judge: Judge) -> Iterator[Row]:
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
    found = Estimate(mean_defined(table.ravel()), why=why(measure, rows)) if judge is measured else judge(measure, rows)
    every, there = len(rows.labels), len(rows.labels) - len(absent)
    told = f"{there * (there - 1) // 2} of {every * (every - 1) // 2} pairs of classes, without {_listed(absent)}"
    how = f"mean of {told if absent else f'{every * (every - 1) // 2} pairs of classes'}"
    yield {"measure": "hand_till", **tidy(found), "how": _joined(how, found.how)}


def walk(classes: Confusions | MulticlassRows) -> Iterator[tuple[dict[str, object] | None, Confusion | MulticlassRows]]:
    """Everybody together, then each group."""
    if isinstance(classes, Confusions):
        for group, table in classes.walk():
            yield None if group is None else dict(zip(classes.attributes, group, strict=True)), table
        return
    yield None, classes
    for at, group in enumerate(classes.groups if classes.attributes else ()):
        yield dict(zip(classes.attributes, group, strict=True)), classes.of_group(at)


def header(classes: Confusions | MulticlassRows, table: Confusion, notes: Sequence[str]) -> dict[str, Any]:
    """What the numbers were made from; `table` is that of everybody."""
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
        "notes": [*intake.notes, *notes, *_absences(table), *_shortened(table)],
    }


def _absences(table: Confusion) -> Iterator[str]:
    """Classes that are missing on one side, on which many numbers depend."""
    for margin, told in ((table.truth, "true"), (table.decided, "decided")):
        absent = [label for label, mass in zip(table.labels, margin, strict=True) if not mass]
        if absent:
            yield f"never {told}, of {len(table.labels)} classes: {_listed(absent)}."


def _shortened(table: Confusion) -> Iterator[str]:
    if len(table.labels) > _MANY:
        yield f"of {len(table.labels)} classes, cells without mass and pairs of classes have no rows of their own."


def _listed(labels: Iterable[object]) -> str:
    texts = list(map(str, labels))
    return ", ".join(texts[:_FEW]) + (f" and {len(texts) - _FEW} more" if len(texts) > _FEW else "")
