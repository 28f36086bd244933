"""A table in memory: columns as numbers and codes, the rule for reading them, and the rows in which all is valid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Cells, Floats, Reals, make_read_only
from baserate._domains import wrong_option
from baserate._errors import (
    EmptyDataError,
    MissingValuesError,
    NotBinaryError,
    ShapeError,
    UnknownLabelError,
    keyword,
)
from baserate._numeric.distinct import Codes
from baserate._tally import Group, describe_reasons
from baserate.read._columns import Columns, check_counts, check_weights
from baserate.read._labels import note_missing_codes, sort_labels

_MAX_COMBINATIONS = 2**20
"""Up to this many combinations, counting them all is faster than sorting."""


class Numbers(NamedTuple):
    """Numbers as float32 or float64; a missing one is NaN, and marked, so that it differs from a real NaN."""

    values: Reals
    missing: Bools | None = None


class LabelCodes(NamedTuple):
    """Labels as indexes into the distinct labels; −1 is missing."""

    codes: Codes
    labels: Sequence[object]


class Table(NamedTuple):
    """Columns in use, by their role: one column may be both label and number."""

    labels: Mapping[str, LabelCodes]
    numbers: Mapping[str, Numbers]
    id: npt.NDArray[Any] | None = None
    orders: Mapping[str, Sequence[object]] = MappingProxyType({})
    """Ordered categories, of columns that have them."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How to read labels and missing values."""

    positive: object = None
    negative: object = None
    missing: Literal["refuse", "drop"] = "refuse"
    labels: tuple[object, ...] | None = None
    """All classes, in order, for results without a positive class; None for those that occur."""
    bound: tuple[object, ...] | None = None
    """Class of each column of scores; None to infer it from their names."""
    remedy: str = f"leave them out with {keyword('missing', 'drop')}"

    def __post_init__(self) -> None:
        if self.missing not in ("refuse", "drop"):
            raise wrong_option("missing", self.missing, "'refuse' or 'drop'")


@dataclass(slots=True)
class Problems:
    """Invalid values by column and kind, and the rows that have any; `times` is the number of rows of each entry."""

    size: int
    times: npt.NDArray[Any] | None = None
    reasons: dict[str, dict[str, int]] = field(default_factory=dict)
    bad: Bools | None = None

    def add(self, column: str, what: str, where: Bools | None) -> None:
        """Count rows with a problem, if there are any."""
        many = 0 if where is None else self._rows(where)
        if where is None or not many:
            return
        kinds = self.reasons.setdefault(column, {})
        kinds[what] = kinds.get(what, 0) + many
        # A copy, since `where` may be a mask of the caller.
        self.bad = where.copy() if self.bad is None else self.bad | where

    def resolve(self, rule: Rule) -> tuple[int, int]:
        """Refuse rows with problems, or return the number of rows and how many of them are dropped."""
        total = self.size if self.times is None else int(self.times.sum())
        dropped = 0 if self.bad is None else self._rows(self.bad)
        if not total:
            raise EmptyDataError("there are no rows", remedy="give at least one.")
        if dropped and rule.missing == "refuse":
            only_labels = {what for kinds in self.reasons.values() for what in kinds} == {"unknown label"}
            remedy = "Recode them" if only_labels else "Fill them in"
            unknown = NotBinaryError if rule.labels is None else UnknownLabelError
            raise (unknown if only_labels else MissingValuesError)(
                f"{dropped} of {total} rows cannot be used ({describe_reasons(self.reasons)}).",
                remedy=f"{remedy}, or {rule.remedy}.",
            )
        if dropped == total:
            which = "the only row was" if total == 1 else f"all {total} rows were"
            raise EmptyDataError(
                f"{which} dropped ({describe_reasons(self.reasons)})", remedy="give at least one complete row."
            )
        return total, dropped

    def _rows(self, where: Bools) -> int:
        return int(np.count_nonzero(where) if self.times is None else self.times[where].sum())


@dataclass(frozen=True, slots=True)
class CompleteRows:
    """Columns restricted to the rows without problems."""

    table: Table
    columns: Columns
    valid: Bools | None
    """Which rows these are; None for all."""
    copy: bool
    """Whether arrays that need no selection are copied, since somebody else may change them."""
    read: int
    dropped: int

    @property
    def size(self) -> int:
        """Number of rows."""
        return count_rows(self.table) if self.valid is None else int(np.count_nonzero(self.valid))

    def select(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Select the valid rows, as a read-only array."""
        if self.valid is not None:
            return make_read_only(values[self.valid])
        # A view, since the caller's own array must stay writable.
        return make_read_only(values.copy() if self.copy else values.view())

    def numbers(self, name: str) -> Any:  # noqa: ANN401  (of the type of the column)
        """Return the numbers of a column."""
        return self.select(self.table.numbers[name].values)

    def labels(self, name: str) -> LabelCodes:
        """Return the labels of a column."""
        return LabelCodes(self.select(self.table.labels[name].codes), self.table.labels[name].labels)

    def groups(self) -> tuple[npt.NDArray[Any], tuple[Group, ...]]:
        """Return the number of each row's group, and the groups."""
        return number_groups([self.labels(name) for name in self.columns.group])

    @property
    def weight(self) -> Floats | None:
        """Weights, or None."""
        name = self.columns.weight
        return None if name is None else self.numbers(name).astype(np.float64, copy=False)

    @property
    def count(self) -> Cells | None:
        """Counts, or None."""
        name = self.columns.count
        return None if name is None else make_read_only(self.numbers(name).astype(np.int64))


def select_complete(table: Table, columns: Columns, rule: Rule, problems: Problems, *, copy: bool) -> CompleteRows:
    """Count invalid numbers too, and refuse or leave out the rows with problems."""
    for name in columns.numbers:
        check_numbers(name, table.numbers[name], problems)
    if table.id is not None:
        problems.add(str(columns.id), "missing", _missing_ids(table.id))
    read, dropped = problems.resolve(rule)
    valid = _drop_zeros(table.numbers, columns, None if problems.bad is None else ~problems.bad)
    return CompleteRows(table, columns, valid, copy, read, dropped)


def check_labels(labels: Mapping[str, LabelCodes], columns: Columns, problems: Problems) -> LabelCodes:
    """Count missing labels, and return the true labels; refuse a table without any."""
    for name in columns.labels:
        problems.add(name, "missing", labels[name].codes < 0)
    truth = labels[columns.truth]
    if not len(truth.codes):
        raise EmptyDataError("there are no rows", remedy="give at least one.")
    if not truth.labels:
        raise EmptyDataError(f"every value of {columns.truth} is missing", remedy="give at least one label.")
    return truth


def note_labels(labels: Mapping[str, LabelCodes]) -> tuple[str, ...]:
    """Note labels that may be codes for missing values."""
    return tuple(
        note for name, column in labels.items() for note in note_missing_codes(name, sort_labels(column.labels))
    )


def check_numbers(name: str, column: Numbers, problems: Problems) -> None:
    """Count missing, NaN and infinite numbers."""
    values, missing = column
    with np.errstate(over="ignore", invalid="ignore"):
        # One sum is cheaper than three masks; it is finite unless a value is not, or huge values overflow.
        clean = bool(np.isfinite(values.sum()))
    if clean:
        return
    nan = np.isnan(values)
    if missing is not None:
        problems.add(name, "missing", missing)
        nan &= ~missing
    problems.add(name, "NaN", nan)
    problems.add(name, "infinite", np.isinf(values))


def count_rows(table: Table) -> int:
    """Return the number of rows; refuse columns of different lengths."""
    lengths = {name: len(column[0]) for name, column in [*table.labels.items(), *table.numbers.items()]}
    if table.id is not None:
        lengths["id"] = len(table.id)
    if len(set(lengths.values())) > 1:
        lengths_text = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ShapeError(
            f"the columns have different lengths ({lengths_text})", remedy="give one value of each for every row."
        )
    return next(iter(lengths.values()))


def _drop_zeros(numbers: Mapping[str, Numbers], columns: Columns, valid: Bools | None) -> Bools | None:
    """Leave out rows of weight or count zero, which count as absent; refuse invalid weights."""
    for name, check in ((columns.weight, check_weights), (columns.count, check_counts)):
        if name is not None:
            values = numbers[name].values
            check(values if valid is None else values[valid], name=name)
    for name in columns.amounts:
        nonzero = numbers[name].values != 0
        if not nonzero.all():
            valid = nonzero if valid is None else valid & nonzero
            if not valid.any():
                raise EmptyDataError(
                    f"every {name} is zero, so there are no rows", remedy="give at least one a number above zero."
                )
    return valid


def number_groups(attributes: Sequence[LabelCodes]) -> tuple[npt.NDArray[Any], tuple[Group, ...]]:
    """Number the groups that occur: each a combination of one label of every attribute."""
    if not attributes:
        return np.zeros(0, dtype=np.uint8), ((),)
    groups: list[Group] = [()]
    number: npt.NDArray[Any] = np.zeros(1, dtype=np.intp)
    for codes, labels in map(_sort_codes, attributes):
        # Renumbered after each attribute, so that the number of combinations cannot overflow.
        occurring, number = _number_combinations(number * len(labels) + codes, len(groups) * len(labels))
        groups = [(*groups[at // len(labels)], labels[at % len(labels)]) for at in occurring.tolist()]
    return make_read_only(number.astype(np.min_scalar_type(len(groups)))), tuple(groups)


def _number_combinations(combined: npt.NDArray[Any], most: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return which of `most` combinations occur, and the place of each row's among them."""
    if most > _MAX_COMBINATIONS:
        occurring, number = np.unique(combined, return_inverse=True)
        return occurring, number
    occurring = np.flatnonzero(np.bincount(combined, minlength=most))
    place = np.zeros(most, dtype=np.intp)
    place[occurring] = np.arange(len(occurring))
    return occurring, place[combined]


def _sort_codes(column: LabelCodes) -> LabelCodes:
    """Number the labels in sorted order."""
    labels = sort_labels(column.labels)
    place = {label: at for at, label in enumerate(labels)}
    return LabelCodes(np.array([place[label] for label in column.labels])[column.codes], labels)


def find_unknown(column: LabelCodes, known: Sequence[object]) -> Bools | None:
    """Mark rows whose label is not among the known ones; None if there are none."""
    unknown = [at for at, label in enumerate(column.labels) if label not in known]
    return np.isin(column.codes, unknown) if unknown else None


def is_label(column: LabelCodes, label: object) -> Bools:
    """Mark rows that have the label."""
    at = next((at for at, other in enumerate(column.labels) if other == label), -1)
    return np.asarray(column.codes == at)


def _missing_ids(column: npt.NDArray[Any]) -> Bools:
    return np.fromiter((name is None for name in column), dtype=np.bool_, count=len(column))
