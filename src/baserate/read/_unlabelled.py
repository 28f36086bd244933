"""Columns in memory of rows most of which have no truth -> Target or ClassTarget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from baserate._arrays import Bools, Cells
from baserate._errors import DataError, EmptyDataError, NotBinaryError, OptionError, UnknownLabelError
from baserate._read_summary import ReadSummary
from baserate._rows import MulticlassRows
from baserate._tally import Tally
from baserate._target import MulticlassTarget, Target
from baserate.read._classes import bound, class_intake, class_scores, in_order, named_classes, numbered
from baserate.read._eager import Coded, Problems, Rule, Table, beyond, is_label, length, notes, settled
from baserate.read._labels import Classes, classes, listed, ordered, parsed, refuse_mixed, resolved
from baserate.read._named import Columns


def target(table: Table, columns: Columns, rule: Rule, *, lasting: bool = True) -> Target:
    """Check scores, and put aside the rows whose truth is known."""
    table = unblanked(table)
    problems = Problems(length(table))
    two = check_truth(table.labels, columns, rule, problems)
    whole = settled(table, columns, rule, problems, lasting=lasting)
    intake = ReadSummary(
        whole.read, whole.dropped, problems.reasons, *two, columns.told, notes(table.labels), labelled=0
    )
    score, weight, count = whole.numbers(columns.score[0]), whole.weight, whole.count
    if two.positive is None:
        return Target.of_rows(score, weight=weight, count=count, intake=intake)
    truth = whole.labels(columns.truth)
    known = truth.codes >= 0
    refuse_all_known(known, len(known), columns)
    positive = is_label(truth, two.positive)[known]
    labelled = Tally.of_rows(positive, score[known], weight=_at(weight, known), count=_at(count, known))
    return Target.of_rows(
        score[~known],
        weight=_at(weight, ~known),
        count=_at(count, ~known),
        labelled=labelled if len(positive) else None,
        intake=replace(intake, labelled=len(positive)),
    )


def class_target(table: Table, columns: Columns, rule: Rule, *, lasting: bool = True) -> MulticlassTarget:
    """Check scores for each of several classes, and put aside the rows whose truth is known."""
    table = unblanked(table)
    problems = Problems(length(table))
    truth = table.labels.get(columns.truth)
    there = [] if truth is None or not _any(truth) else ordered(truth.labels)
    with _doubting(table.labels, UnknownLabelError):
        given, labels = _classes_of(columns, rule, there)
    if truth is not None and there:
        problems.add(columns.truth, "unknown label", beyond(truth, labels))
    whole = settled(table, columns, replace(rule, labels=labels), problems, lasting=lasting)
    score, weight, count = class_scores(whole, given, labels), whole.weight, whole.count
    intake = replace(class_intake(whole, given, labels, problems), labelled=0)
    if not there:
        return MulticlassTarget(score, labels, weight, count, intake=intake)
    codes, seen = whole.labels(columns.truth)
    known = codes >= 0
    refuse_all_known(known, len(known), columns)
    intake = replace(intake, labelled=int(np.count_nonzero(known)))
    numbers = numbered(Coded(codes[known], seen), labels)
    labelled = MulticlassRows(numbers, score[known], labels, _at(weight, known), _at(count, known), intake=intake)
    rest = (_at(weight, ~known), _at(count, ~known))
    return MulticlassTarget(score[~known], labels, *rest, labelled if len(numbers) else None, intake)


def unblanked(table: Table) -> Table:
    """Take text that is blank for no label: where a truth is unknown, many write an empty text."""
    return table._replace(labels={name: _unblanked(column) for name, column in table.labels.items()})


def check_truth(labels: Mapping[str, Coded], columns: Columns, rule: Rule, problems: Problems) -> Classes:
    """Note unknown labels, and find the two classes; both are None if no row has a truth."""
    truth = labels.get(columns.truth)
    if truth is None or not _any(truth):
        return Classes(None, None)
    with _doubting(labels, NotBinaryError):
        two = _two(ordered(truth.labels), rule)
    problems.add(columns.truth, "unknown label", beyond(truth, [label for label in two if label is not None]))
    return two


def refuse_all_known(known: Bools, many: int, columns: Columns) -> None:
    """Rows that all have a truth are no target, but a sample to be judged."""
    if known.all():
        raise EmptyDataError(
            f"each of {many} rows in use has its {columns.truth}, so there is nothing without truth; judge them as "
            "they are (read.tallies, read.class_rows), or leave truth= out to take all of them as unknown."
        )


@contextmanager
def _doubting(labels: Mapping[str, Coded], kind: type[DataError]) -> Iterator[None]:
    """Tell of labels such as NA, where labels are refused: likely they mean missing, and are what stands in the way."""
    try:
        yield
    except kind as error:
        raise kind(" ".join([str(error), *notes(labels)])) from error


def _two(labels: Sequence[object], rule: Rule) -> Classes:
    """Find the two classes. Of few rows all may be of one class; that is no slip if both are named."""
    named = [each for each in (rule.positive, rule.negative) if each is not None and not np.ndim(each)]  # type: ignore[arg-type]
    found = [resolved(each, labels) for each in named]
    if len(found) == 2 and found[0] != found[1] and all(label in found for label in labels):
        return Classes(*found)
    return classes(labels, rule.positive, rule.negative)


def _classes_of(columns: Columns, rule: Rule, there: Sequence[object]) -> tuple[tuple[object, ...], tuple[object, ...]]:
    """Class of each column of scores, and all of them in order."""
    refuse_mixed(there, columns.truth, UnknownLabelError)
    if len(columns.score) < 2:
        raise OptionError(f"there is only one column of scores, {columns.score[0]!r}; give one for each class.")
    if not there and rule.labels is None and rule.bound is None:
        found = tuple(parsed([str(text) for text in named_classes(columns.score, (), columns.stem)]))
        return found, found
    try:
        found = bound(columns, rule, there)
    except UnknownLabelError as error:
        if there:
            raise
        raise UnknownLabelError(
            f"the labels are {listed(rule.labels or ())}, but the names of the scores, {listed(columns.score)}, do not "
            "say which is whose; name the class of each column with a mapping, score={label: column}."
        ) from error
    return found, in_order(found, rule, there)


def _unblanked(column: Coded) -> Coded:
    blank = [isinstance(label, str) and not label.strip() for label in column.labels]
    if not any(blank):
        return column
    labels = [label for label, nothing in zip(column.labels, blank, strict=True) if not nothing]
    # One more at the end, which is where the −1 of what is missing already points.
    number = np.where([*blank, True], -1, np.cumsum(np.logical_not([*blank, True])) - 1)
    return Coded(number.astype(column.codes.dtype)[column.codes], labels)


def _any(truth: Coded) -> bool:
    return bool((truth.codes >= 0).any())


def _at(column: Cells | None, there: Bools) -> Cells | None:
    return None if column is None else column[there]
