"""Columns that are in memory -> Rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Cells, Floats, Reals, make_read_only
from baserate._errors import (
    EmptyDataError,
    MissingValuesError,
    NotBinaryError,
    OptionError,
    ShapeError,
    UnknownLabelError,
)
from baserate._numeric.codes import Codes
from baserate._read_summary import ReadSummary, describe_reasons
from baserate._rows import Rows
from baserate._tally import Group
from baserate.read._columns import checked_counts, checked_weights
from baserate.read._labels import Classes, classes, doubtful, listed, ordered
from baserate.read._named import Columns

_FEW = 2**20
"""Combinations of labels that a table of counts may list."""


class Numbers(NamedTuple):
    """Numbers as float32 or float64; what is missing is NaN there, and marked."""

    values: Reals
    missing: Bools | None = None


class Coded(NamedTuple):
    """Labels as whole numbers, an index into the labels in use; −1 is missing."""

    codes: Codes
    labels: Sequence[object]


class Table(NamedTuple):
    """Columns in use, by what they are used as: one may be both label and number."""

    labels: Mapping[str, Coded]
    numbers: Mapping[str, Numbers]
    id: npt.NDArray[Any] | None = None
    orders: Mapping[str, Sequence[object]] = MappingProxyType({})
    """Labels in their order, of columns that have one of their own."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What to make of labels, and of what is missing."""

    positive: object = None
    negative: object = None
    missing: Literal["refuse", "drop"] = "refuse"
    labels: tuple[object, ...] | None = None
    """All classes, in order, where none of them is positive; None for those that are there."""
    bound: tuple[object, ...] | None = None
    """Class of each column of scores; None if their names tell."""
    remedy: str = 'leave them out with missing="drop"'

    def __post_init__(self) -> None:
        if self.missing not in ("refuse", "drop"):
            raise OptionError(f"missing is {self.missing!r}; it is 'refuse' or 'drop'.")


@dataclass(slots=True)
class Problems:
    """What is wrong in which rows; `times` is how many rows each entry stands for."""

    size: int
    times: npt.NDArray[Any] | None = None
    reasons: dict[str, dict[str, int]] = field(default_factory=dict)
    bad: Bools | None = None

    def add(self, column: str, what: str, where: Bools | None) -> None:
        """Note what is wrong, if it is anywhere."""
        many = 0 if where is None else self._rows(where)
        if where is None or not many:
            return
        kinds = self.reasons.setdefault(column, {})
        kinds[what] = kinds.get(what, 0) + many
        self.bad = where.copy() if self.bad is None else self.bad | where

    def settle(self, rule: Rule) -> tuple[int, int]:
        """Refuse, or return how many rows there are and how many of them are dropped."""
        total = self.size if self.times is None else int(self.times.sum())
        dropped = 0 if self.bad is None else self._rows(self.bad)
        if not total:
            raise EmptyDataError("there are no rows; give at least one.")
        if dropped and rule.missing == "refuse":
            only_labels = {what for kinds in self.reasons.values() for what in kinds} == {"unknown label"}
            remedy = "Recode them" if only_labels else "Fill them in"
            unknown = NotBinaryError if rule.labels is None else UnknownLabelError
            raise (unknown if only_labels else MissingValuesError)(
                f"{dropped} of {total} rows cannot be used ({describe_reasons(self.reasons)}). {remedy}, or "
                f"{rule.remedy}."
            )
        if dropped == total:
            which = "the only row was" if total == 1 else f"all {total} rows were"
            raise EmptyDataError(
                f"{which} dropped ({describe_reasons(self.reasons)}); give at least one that is whole."
            )
        return total, dropped

    def _rows(self, where: Bools) -> int:
        return int(np.count_nonzero(where) if self.times is None else self.times[where].sum())


def gathered(table: Table, columns: Columns, rule: Rule, *, lasting: bool = True) -> Rows:
    """Check columns in memory, settle what is missing, and make rows of them.

    Rows that are not `lasting` may share memory with whoever gave the columns.
    """
    problems = Problems(length(table))
    two = check_labels(table.labels, columns, rule, problems)
    whole = settled(table, columns, rule, problems, lasting=lasting)
    scores = {name: whole.numbers(name) for name in columns.score}
    if columns.predicted is not None:
        flagged = is_label(whole.labels(columns.predicted), two.positive)
        scores[columns.predicted] = make_read_only(flagged.astype(np.float32))
    group, groups = whole.groups()
    return Rows(
        truth=make_read_only(is_label(whole.labels(columns.truth), two.positive)),
        score=scores,
        group=group,
        groups=groups,
        attributes=columns.group,
        weight=whole.weight,
        count=whole.count,
        id=None if table.id is None else whole.own(table.id),
        cluster=None if columns.cluster is None else whole.labels(columns.cluster).codes,
        intake=ReadSummary(whole.read, whole.dropped, problems.reasons, *two, columns.told, notes(table.labels)),
    )


@dataclass(frozen=True, slots=True)
class Whole:
    """Columns with those rows alone in which nothing is missing."""

    table: Table
    columns: Columns
    keep: Bools | None
    lasting: bool
    read: int
    dropped: int

    @property
    def size(self) -> int:
        """How many rows there are."""
        return length(self.table) if self.keep is None else int(np.count_nonzero(self.keep))

    def own(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Rows that are kept, for whoever keeps them."""
        if self.keep is not None:
            return make_read_only(values[self.keep])
        return make_read_only(values.copy() if self.lasting else values.view())

    def numbers(self, name: str) -> Any:  # noqa: ANN401  (of the type of the column)
        """Numbers of a column."""
        return self.own(self.table.numbers[name].values)

    def labels(self, name: str) -> Coded:
        """Labels of a column."""
        return Coded(self.own(self.table.labels[name].codes), self.table.labels[name].labels)

    def groups(self) -> tuple[npt.NDArray[Any], tuple[Group, ...]]:
        """Number of each row's group, and the groups."""
        return grouped([self.labels(name) for name in self.columns.group])

    @property
    def weight(self) -> Floats | None:
        """Weights, if there are any."""
        name = self.columns.weight
        return None if name is None else self.numbers(name).astype(np.float64, copy=False)

    @property
    def count(self) -> Cells | None:
        """Counts, if there are any."""
        name = self.columns.count
        return None if name is None else make_read_only(self.numbers(name).astype(np.int64))


def settled(table: Table, columns: Columns, rule: Rule, problems: Problems, *, lasting: bool) -> Whole:
    """Note what is wrong with numbers too, and refuse or leave out the rows in which something is."""
    for name in columns.numbers:
        check_numbers(name, table.numbers[name], problems)
    if table.id is not None:
        problems.add(str(columns.id), "missing", _nameless(table.id))
    read, dropped = problems.settle(rule)
    keep = _present(table.numbers, columns, None if problems.bad is None else ~problems.bad)
    return Whole(table, columns, keep, lasting, read, dropped)


def check_labels(labels: Mapping[str, Coded], columns: Columns, rule: Rule, problems: Problems) -> Classes:
    """Note missing and unknown labels, and find the two classes."""
    truth = check_there(labels, columns, problems)
    two = classes(ordered(truth.labels), rule.positive, rule.negative)
    known = [label for label in two if label is not None]
    problems.add(columns.truth, "unknown label", beyond(truth, known))
    if columns.predicted is not None:
        predicted = labels[columns.predicted]
        stray = [label for label in ordered(predicted.labels) if label not in known]
        # With one class seen in truth, the other label of predictions can only be that of the other class.
        if len(stray) == 1 and two.negative is None:
            two, known = Classes(two.positive, stray[0]), [*known, stray[0]]
        elif stray and rule.negative is None:
            raise NotBinaryError(
                f"{columns.predicted} holds {listed(stray)}, but truth {listed(known)}; give both the same labels."
            )
        problems.add(columns.predicted, "unknown label", beyond(predicted, known))
    return two


def check_there(labels: Mapping[str, Coded], columns: Columns, problems: Problems) -> Coded:
    """Note missing labels, and return the truth if there is any."""
    for name in columns.labels:
        problems.add(name, "missing", labels[name].codes < 0)
    truth = labels[columns.truth]
    if not len(truth.codes):
        raise EmptyDataError("there are no rows; give at least one.")
    if not truth.labels:
        raise EmptyDataError(f"every value of {columns.truth} is missing; give at least one label.")
    return truth


def notes(labels: Mapping[str, Coded]) -> tuple[str, ...]:
    """What a reader should know of the labels."""
    return tuple(note for name, column in labels.items() for note in doubtful(name, ordered(column.labels)))


def check_numbers(name: str, column: Numbers, problems: Problems) -> None:
    """Note missing, NaN and infinite numbers."""
    values, missing = column
    with np.errstate(over="ignore", invalid="ignore"):
        clean = bool(np.isfinite(values.sum()))  # cheaper than three masks, and true of nearly all data
    if clean:
        return
    nan = np.isnan(values)
    if missing is not None:
        problems.add(name, "missing", missing)
        nan &= ~missing
    problems.add(name, "NaN", nan)
    problems.add(name, "infinite", np.isinf(values))


def length(table: Table) -> int:
    """How many rows there are, in every column."""
    lengths = {name: len(column[0]) for name, column in [*table.labels.items(), *table.numbers.items()]}
    if table.id is not None:
        lengths["id"] = len(table.id)
    if len(set(lengths.values())) > 1:
        told_ = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ShapeError(f"the columns have different lengths ({told_}); give one value of each for every row.")
    return next(iter(lengths.values()))


def _present(numbers: Mapping[str, Numbers], columns: Columns, keep: Bools | None) -> Bools | None:
    """Leave out rows of weight or count zero too: they are not there. Refuse weights that are no weights."""
    for name, check in ((columns.weight, checked_weights), (columns.count, checked_counts)):
        if name is not None:
            values = numbers[name].values
            check(values if keep is None else values[keep], name=name)
    for name in columns.amounts:
        there = numbers[name].values != 0
        if not there.all():
            keep = there if keep is None else keep & there
            if not keep.any():
                raise EmptyDataError(
                    f"every {name} is zero, so there are no rows; give at least one a number above zero."
                )
    return keep


def grouped(attributes: Sequence[Coded]) -> tuple[npt.NDArray[Any], tuple[Group, ...]]:
    """Number the groups that are there: each a combination of one label of every attribute."""
    if not attributes:
        return np.zeros(0, dtype=np.uint8), ((),)
    groups: list[Group] = [()]
    number: npt.NDArray[Any] = np.zeros(1, dtype=np.intp)
    for codes, labels in map(_sorted, attributes):
        there, number = _numbered(number * len(labels) + codes, len(groups) * len(labels))
        groups = [(*groups[at // len(labels)], labels[at % len(labels)]) for at in there.tolist()]
    return make_read_only(number.astype(np.min_scalar_type(len(groups)))), tuple(groups)


def _numbered(combined: npt.NDArray[Any], most: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Which of so many numbers are there, and the place of each among them."""
    if most > _FEW:
        there, number = np.unique(combined, return_inverse=True)
        return there, number
    there = np.flatnonzero(np.bincount(combined, minlength=most))
    place = np.zeros(most, dtype=np.intp)
    place[there] = np.arange(len(there))
    return there, place[combined]


def _sorted(column: Coded) -> Coded:
    """Number the labels in their order."""
    labels = ordered(column.labels)
    place = {label: at for at, label in enumerate(labels)}
    return Coded(np.array([place[label] for label in column.labels])[column.codes], labels)


def beyond(column: Coded, known: Sequence[object]) -> Bools | None:
    """Which rows have a label that is not known; None if none has."""
    unknown = [at for at, label in enumerate(column.labels) if label not in known]
    return np.isin(column.codes, unknown) if unknown else None


def is_label(column: Coded, label: object) -> Bools:
    """Which rows have the label."""
    at = next((at for at, found in enumerate(column.labels) if found == label), -1)
    return np.asarray(column.codes == at)


def _nameless(column: npt.NDArray[Any]) -> Bools:
    return np.fromiter((name is None for name in column), dtype=np.bool_, count=len(column))
