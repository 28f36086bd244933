"""Labels of several classes, none of them positive: columns in memory -> Confusions or ClassRows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from baserate._arrays import Cells, Reals, make_read_only
from baserate._confusion import Confusion, Confusions, distinct_labels
from baserate._errors import OptionError, ShapeError, UnknownLabelError
from baserate._formatting import count_of
from baserate._numeric.codes import Codes, places
from baserate._read_summary import ReadSummary
from baserate._rows import MulticlassRows
from baserate._tally import Group
from baserate.read._eager import Coded, Problems, Rule, Table, Whole, beyond, check_there, length, notes, settled
from baserate.read._labels import listed, ordered, refuse_mixed, resolved
from baserate.read._named import Columns

_MOST = 5000
"""Classes beyond which labels are more likely names or numbers."""
_MOST_CELLS = 10**8
"""Cells of the tables of all groups that still fit into memory without a thought."""


def confusions(table: Table, columns: Columns, rule: Rule) -> Confusions:
    """Count how often each pair of true and predicted label occurs, in each group."""
    problems = Problems(length(table))
    known = check_classes(table.labels, columns, rule, problems)
    whole = settled(table, columns, rule, problems, lasting=False)
    pair = [whole.labels(columns.truth), whole.labels(str(columns.predicted))]
    labels = known or present(pair, columns, table.orders)
    truth, decided = (numbered(column, labels) for column in pair)
    group, groups = whole.groups()
    refuse_many_cells(labels, len(groups))
    weight, count = whole.weight, whole.count
    mass = weight if weight is None or count is None else weight * count
    amounts = [count] if weight is None or mass is None else [mass, mass * weight, count]
    tables = by_group(truth, decided, labels, amounts, group, groups)
    intake = ReadSummary(
        whole.read, whole.dropped, problems.reasons, None, None, columns.told, notes(table.labels), labels
    )
    return Confusions(tables, columns.group, intake)


def class_rows(
    table: Table, columns: Columns, rule: Rule, *, lasting: bool = True, score: Reals | None = None
) -> MulticlassRows:
    """Check rows with a score for each class; `score` is all of them in one array, if that is how they came."""
    problems = Problems(length(table))
    truth = check_there(table.labels, columns, problems)
    refuse_mixed(truth.labels, columns.truth, UnknownLabelError)
    classes = bound(columns, rule, ordered(truth.labels))
    labels = in_order(classes, rule, truth.labels)
    problems.add(columns.truth, "unknown label", beyond(truth, labels))
    whole = settled(table, columns, replace(rule, labels=labels), problems, lasting=lasting)
    codes = numbered(whole.labels(columns.truth), labels)
    if score is None or whole.keep is not None:
        score = class_scores(whole, classes, labels)
    group, groups = whole.groups()
    intake = class_intake(whole, classes, labels, problems)
    return MulticlassRows(codes, score, labels, whole.weight, whole.count, group, groups, columns.group, intake)


def class_scores(whole: Whole, classes: Sequence[object], labels: Sequence[object]) -> Reals:
    """Scores as a row for each row and a column for each label; `classes` are those of the columns that were read."""
    score = np.empty((whole.size, len(labels)), order="F")  # one class after the other is what is sorted
    for name, label in zip(whole.columns.score, classes, strict=True):
        score[:, labels.index(label)] = whole.numbers(name)
    return make_read_only(score)


def class_intake(
    whole: Whole, classes: Sequence[object], labels: tuple[object, ...], problems: Problems
) -> ReadSummary:
    """What was read, with the scores in the order of the labels, so that a reader knows whose each column holds."""
    columns = whole.columns
    told = (*notes(whole.table.labels), *_taken(columns))
    read = columns.told | {"score": [columns.score[classes.index(label)] for label in labels]}
    return ReadSummary(whole.read, whole.dropped, problems.reasons, None, None, read, told, labels)


def bound(columns: Columns, rule: Rule, there: Sequence[object]) -> tuple[object, ...]:
    """Class of each column of scores: as it is told, or as its name tells; if it does not, in the labels' order."""
    if rule.bound is not None:
        return tuple(resolved(label, there) for label in rule.bound)
    named = [resolved(label, there) for label in rule.labels or ()]
    try:
        return tuple(named_classes(columns.score, named or there, columns.stem))
    except UnknownLabelError:
        if len(named) == len(columns.score) and not any(_told_by_name(label, columns.score) for label in named):
            return tuple(named)
        raise


def in_order(classes: tuple[object, ...], rule: Rule, there: Iterable[object]) -> tuple[object, ...]:
    """Classes in the order of the labels, if they are named."""
    if rule.labels is None:
        return classes
    wanted = tuple(resolved(label, there) for label in rule.labels)
    if set(wanted) != set(classes) or len(wanted) != len(classes):
        raise UnknownLabelError(
            f"the labels are {listed(wanted)}, but there are scores for {listed(classes)}; name these, each once."
        )
    return wanted


def _taken(columns: Columns) -> Iterator[str]:
    if columns.stem:
        yield f"{columns.stem}* is taken for the scores {listed(columns.score)}."


def check_classes(
    labels: Mapping[str, Coded], columns: Columns, rule: Rule, problems: Problems
) -> tuple[object, ...] | None:
    """Note missing labels, and unknown ones if the classes are named; return those."""
    pair = [check_there(labels, columns, problems), labels[str(columns.predicted)]]
    there = list(dict.fromkeys(label for column in pair for label in column.labels))
    refuse_mixed(there, f"{columns.truth} beside {columns.predicted}", UnknownLabelError)
    if rule.labels is None:
        _refuse_strangers(pair, columns)
        return None
    known = distinct_labels(resolved(label, there) for label in rule.labels)
    for name, column in zip((columns.truth, str(columns.predicted)), pair, strict=True):
        problems.add(name, "unknown label", beyond(column, known))
    return known


def _refuse_strangers(pair: Sequence[Coded], columns: Columns) -> None:
    """Labels that have nothing in common are written differently rather than all wrong."""
    truth, decided = (ordered(column.labels) for column in pair)
    if min(len(truth), len(decided)) > 1 and not set(truth) & set(decided):
        raise UnknownLabelError(
            f"{columns.truth} holds {listed(truth)}, but {columns.predicted} holds {listed(decided)}: no label is in "
            "both; write them alike."
        )


def present(
    pair: Sequence[Coded], columns: Columns, orders: Mapping[str, Sequence[object]] = MappingProxyType({})
) -> tuple[object, ...]:
    """Labels that occur in truth or predictions, in order: their own, if they have one, otherwise by size or text."""
    there: dict[object, None] = {}
    for codes, labels in pair:
        times = np.bincount(codes, minlength=len(labels))
        there |= {label: None for label, many in zip(labels, times, strict=True) if many}
    if len(there) > _MOST:
        raise ShapeError(
            f"{columns.truth} and {columns.predicted} hold {len(there)} different labels, too many for a table of all "
            "pairs; name columns of classes, not of names or numbers."
        )
    own = [*orders.get(columns.truth, ()), *orders.get(str(columns.predicted), ())]
    return tuple(dict.fromkeys([label for label in own if label in there] + ordered(there)))


def refuse_many_cells(labels: Sequence[object], groups: int) -> None:
    """Tables that would not fit into memory."""
    if groups * len(labels) ** 2 > _MOST_CELLS:
        raise ShapeError(
            f"{count_of(groups, 'group')} of {len(labels)} classes make {groups * len(labels) ** 2} cells, "
            "too many to count; group by something coarser."
        )


def numbered(column: Coded, labels: Sequence[object]) -> Codes:
    """Codes as places among these labels; every label in use is one of them."""
    place = {label: at for at, label in enumerate(labels)}
    number = np.array([place.get(label, 0) for label in column.labels], dtype=np.min_scalar_type(len(labels)))
    if np.array_equal(number, np.arange(len(number))):
        return column.codes
    return number[column.codes]


def by_group(
    truth: Codes,
    decided: Codes,
    labels: tuple[object, ...],
    amounts: Sequence[Cells | None],
    group: Codes,
    groups: Sequence[Group],
) -> dict[Group, Confusion]:
    """Table of each group."""
    if len(groups) == 1:
        return {groups[0]: Confusion.of_sums(truth, decided, labels, amounts)}
    tables = {}
    for each, place in zip(groups, places(group, len(groups)), strict=True):
        parts = [None if amount is None else amount[place] for amount in amounts]
        tables[each] = Confusion.of_sums(truth[place], decided[place], labels, parts)
    return tables


def named_classes(columns: Sequence[str], labels: Sequence[object], stem: str = "") -> list[object]:
    """Class of each column of scores: its name without the stem, or without what all names begin or end with.

    >>> named_classes(["p_cat", "p_car", "p_dog"], ["car", "cat"]), named_classes(["0_prob", "1_prob"], [0, 1])
    (['cat', 'car', 'dog'], [0, 1])
    """
    if len(columns) < 2:
        raise OptionError(f"there is only one column of scores, {columns[0]!r}; give one for each class.")
    known = {text: label for label in labels for text in _spellings(label)}
    for texts in _trimmed(columns, stem):
        found = [known[text] if text in known else _alike(text, labels) for text in texts]
        if set(labels) <= set(found) and len(set(found)) == len(found):
            return found
    lacking = [label for label in labels if not _told_by_name(label, columns)]
    told = f"truth holds {listed(lacking or labels)}, "
    raise UnknownLabelError(
        f"{told}for which there is no score among {listed(columns)}; add its column."
        if lacking and len(lacking) < len(labels)
        else f"{told}but the names of the scores, {listed(columns)}, do not say which is whose; name the class of each "
        f"column, for example score={{{listed(labels[:1])}: {listed(columns[:1])}}}."
    )


def _told_by_name(label: object, columns: Sequence[str]) -> bool:
    return any(text in column for text in _spellings(label) for column in columns)


def _trimmed(columns: Sequence[str], stem: str) -> Iterator[list[str]]:
    """Names without the stem, then without a common beginning and end, the longest first; words are not cut."""
    if stem and all(column.startswith(stem) and column != stem for column in columns):
        yield [column.removeprefix(stem) for column in columns]
    start, end = _shared(columns), _shared([column[::-1] for column in columns])
    for before in range(start, -1, -1):
        for after in range(end, -1, -1):
            cuts = [(before, len(column) - after) for column in columns]
            parts = [(column[:i], column[i:j], column[j:]) for column, (i, j) in zip(columns, cuts, strict=True)]
            if all(middle and _cut(first, middle) and _cut(middle, last) for first, middle, last in parts):
                yield [middle for _, middle, _ in parts]


def _cut(one: str, other: str) -> bool:
    """Whether a name may be cut between these parts: not within a word or a number."""
    if not one or not other:
        return True
    return not (one[-1].isalpha() and other[0].isalpha()) and not (one[-1].isdigit() and other[0].isdigit())


def _shared(names: Sequence[str]) -> int:
    """How many letters all names begin with."""
    return next((at for at, letters in enumerate(zip(*names, strict=False)) if len(set(letters)) > 1), 0)


def _spellings(label: object) -> list[str]:
    return [str(label), *([str(int(label))] if isinstance(label, float) and label.is_integer() else [])]


def _alike(text: str, labels: Sequence[object]) -> Any:  # noqa: ANN401  (of the type of the labels)
    """Label of a class that does not occur, of the type of those that do."""
    if labels and text.removeprefix("-").isdigit():
        for kind in (int, float):
            if all(type(label) is kind for label in labels):
                return kind(text)
    return text
