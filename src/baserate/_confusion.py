"""Confusion: the K×K confusion matrix, labels in rows and predictions in columns; `Confusions` by group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from baserate._arrays import (
    Cells,
    Floats,
    FrozenMapping,
    exact_sum,
    keep_read_only,
    make_read_only,
    read_only_copy,
    sums_of_others,
)
from baserate._counts import Counts, all_or_none_reweighed
from baserate._domains import wrong_option
from baserate._errors import OptionError, ShapeError, UnknownNameError, WeightError
from baserate._formatting import count_groups, count_of, replace_unprintable, there_are
from baserate._numeric.distinct import Codes, pair_counts, pair_sums
from baserate._rendering import Renderable
from baserate._tally import Group, ReadSummary

_LARGEST = 1e145
"""The square of this, and sums of many squares, do not overflow float64."""


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Confusion(Renderable):
    """Confusion matrix: true classes in rows, predicted classes in columns, both in the order of `labels`.

    One matrix of shape (K, K), or many of shape (…, K, K): all groups, ten thousand bootstrap samples. As in `Counts`,
    the cells hold mass (the sum of weights), and standard errors need `squares` and `rows`; for plain counts the three
    are one.

    >>> officers = Confusion.of_matrix([[20, 5], [10, 15]], ["yes", "no"], truth="rows")
    >>> officers
    Confusion(yes, no; 50, of which 35 on the diagonal)
    >>> officers.truth.tolist(), officers.predicted.tolist()
    ([25.0, 25.0], [30.0, 20.0])
    """

    mass: Floats
    labels: tuple[object, ...]
    moments: tuple[Confusion, Confusion] | None = field(default=None, kw_only=True)
    """`squares` and `rows`, when they differ from the mass."""
    reweighed: bool = field(default=False, kw_only=True)
    """Whether the classes were reweighted to known shares: these then have no sampling error."""

    def __post_init__(self) -> None:
        mass = _check_mass(np.asarray(self.mass, dtype=np.float64))
        labels = distinct_labels(self.labels)
        if len(labels) != mass.shape[-1]:
            raise ShapeError(
                f"{there_are(len(labels), 'label')} for {count_of(mass.shape[-1], 'class', 'classes')}",
                remedy="give one for each.",
            )
        object.__setattr__(self, "mass", read_only_copy(mass))
        object.__setattr__(self, "labels", labels)

    @classmethod
    def of_matrix(
        cls, cells: npt.ArrayLike, labels: Iterable[object] | None = None, *, truth: Literal["rows", "columns"]
    ) -> Confusion:
        """Make a confusion matrix from a table of counts; `truth` says whether its rows or its columns are the labels.

        >>> Confusion.of_matrix([[20, 10], [5, 15]], truth="columns").mass.tolist()
        [[20.0, 5.0], [10.0, 15.0]]
        """
        if truth not in ("rows", "columns"):
            raise wrong_option("truth", truth, "'rows' or 'columns' of the table")
        mass = as_cells(cells)
        if mass.ndim < 2:
            raise ShapeError(f"the table has shape {mass.shape}", remedy="give as many rows as columns.")
        if truth == "columns":
            mass = np.swapaxes(mass, -1, -2)
        return cls(mass, tuple(range(mass.shape[-1]) if labels is None else labels))

    @classmethod
    def of_rows(
        cls,
        truth: Codes,
        predicted: Codes,
        labels: tuple[object, ...],
        *,
        weight: Floats | None = None,
        count: Cells | None = None,
    ) -> Confusion:
        """Count pairs of class numbers that were checked before; `baserate.confusion` makes them from labels."""
        return cls.of_sums(truth, predicted, labels, row_amounts(weight, count))

    @classmethod
    def of_sums(
        cls, truth: Codes, predicted: Codes, labels: tuple[object, ...], amounts: Sequence[Cells | None]
    ) -> Confusion:
        """Sum amounts for each pair of class numbers: rows, preceded by mass and squares if there are weights."""

        def sum_amount(amount: Cells | None) -> Confusion:
            if amount is None:
                return cls(pair_counts(truth, predicted, len(labels)), labels)
            return cls(pair_sums(truth, predicted, len(labels), amount), labels)

        if len(amounts) == 1:
            return sum_amount(amounts[0])
        mass, squares, rows = map(sum_amount, amounts)
        return cls(mass.mass, labels, moments=(squares, rows))

    def __repr__(self) -> str:
        shown = replace_unprintable(", ".join(map(str, self.labels[:6]))) + (" …" if len(self.labels) > 6 else "")
        marked = ", reweighed" if self.reweighed else ""
        if self.shape:
            return f"Confusion({shown}; {self.shape} tables{marked})"
        return f"Confusion({shown}; {self.total:g}, of which {self.correct.sum():g} on the diagonal{marked})"

    def __getitem__(self, index: Any) -> Confusion:  # noqa: ANN401  (whatever an array takes)
        """Select one matrix of a stack, or some of them."""
        moments = self.moments and (self.squares[index], self.rows[index])
        return Confusion(self.mass[index], self.labels, moments=moments, reweighed=self.reweighed)

    @property
    def shape(self) -> tuple[int, ...]:
        """() for one table, otherwise the shape of the stack."""
        return self.mass.shape[:-2]

    @property
    def squares(self) -> Confusion:
        """The sums of squared weights, cell by cell."""
        return self if self.moments is None else self.moments[0]

    @property
    def rows(self) -> Confusion:
        """The numbers of rows, cell by cell."""
        return self if self.moments is None else self.moments[1]

    @property
    def truth(self) -> Floats:
        """Mass of each true class, also called its support."""
        return np.asarray(self.mass.sum(axis=-1))

    @property
    def predicted(self) -> Floats:
        """Mass predicted to be of each class."""
        return np.asarray(self.mass.sum(axis=-2))

    @property
    def correct(self) -> Floats:
        """Mass of each class that is predicted correctly: the diagonal."""
        return np.asarray(np.diagonal(self.mass, axis1=-2, axis2=-1))

    @property
    def total(self) -> float:
        """Total mass; an array where there are many matrices."""
        return exact_sum(self.truth)

    @property
    def alternatives(self) -> int:
        """Number of other classes: 0 when there is a single label."""
        return len(self.labels) - 1

    @property
    def agreement(self) -> float:
        """Mass on the diagonal, where label and prediction agree."""
        return exact_sum(self.correct)

    @property
    def disagreement(self) -> float:
        """Mass off the diagonal, where label and prediction disagree."""
        # Not the total less the diagonal, which may leave a rounding error where 0 is due.
        return exact_sum(self.mass * ~np.eye(len(self.labels), dtype=np.bool_), axes=2)

    @property
    def chance_disagreement(self) -> float:
        """Disagreement of label and prediction if they were independent, times the total squared."""
        return exact_sum(self.truth * sums_of_others(self.predicted))

    @property
    def truth_spread(self) -> float:
        """Mass of pairs whose true classes differ, counted twice: 0 when there is a single class."""
        return exact_sum(self.truth * sums_of_others(self.truth))

    @property
    def predicted_spread(self) -> float:
        """Mass of pairs whose predictions differ, counted twice: 0 when all predictions are the same."""
        return exact_sum(self.predicted * sums_of_others(self.predicted))

    @property
    def any_spread(self) -> float:
        """Sum of both spreads: 0 when labels are constant, and so are predictions."""
        return self.truth_spread + self.predicted_spread

    def one_vs_rest(self) -> Counts[Floats]:
        """Return binary counts of each class against all others: every measure of `Counts` then has a value per class.

        >>> c = Confusion.of_matrix([[5, 1, 0], [2, 3, 0], [0, 0, 4]], truth="rows").one_vs_rest()
        >>> c.tp.tolist(), c.fp.tolist(), c.fn.tolist(), c.tn.tolist()
        ([5.0, 3.0, 4.0], [2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [7.0, 9.0, 11.0])
        """
        moments = self.moments and (self.squares.one_vs_rest(), self.rows.one_vs_rest())
        off_diagonal = ~np.eye(len(self.labels), dtype=np.bool_)
        # Sums, never differences: a cell without mass is exactly 0, however many weights were added.
        fp, fn = (self.mass * off_diagonal).sum(axis=-2), (self.mass * off_diagonal).sum(axis=-1)
        tn = (sums_of_others(self.mass) * off_diagonal).sum(axis=-2)
        return Counts(self.correct, fp, fn, tn, moments=moments, reweighed=self.reweighed)

    def transpose(self) -> Confusion:
        """Exchange labels and predictions."""
        moments = self.moments and (self.squares.transpose(), self.rows.transpose())
        # Rows are now predictions, whose shares were never fixed: drop `reweighed`, so that intervals are conservative.
        return Confusion(np.swapaxes(self.mass, -1, -2), self.labels, moments=moments)

    def over(self, labels: Iterable[object]) -> Confusion:
        """Return the matrix over these classes, in their order; new classes have no mass.

        >>> Confusion.of_matrix([[5, 1], [2, 3]], ["a", "b"], truth="rows").over(["b", "c", "a"]).mass.tolist()
        [[3.0, 0.0, 2.0], [0.0, 0.0, 0.0], [1.0, 0.0, 5.0]]
        """
        wanted = tuple(labels)
        absent = [label for label in self.labels if label not in wanted]
        if absent:
            raise UnknownNameError(
                f"the class {absent[0]!r} is not among {list(wanted)}", remedy="name every class of the table."
            )
        place = np.array([wanted.index(label) for label in self.labels], dtype=np.intp)
        mass = np.zeros((*self.shape, len(wanted), len(wanted)))
        mass[..., place[:, None], place] = self.mass
        moments = self.moments and (self.squares.over(wanted), self.rows.over(wanted))
        return Confusion(make_read_only(mass), wanted, moments=moments, reweighed=self.reweighed)

    def __add__(self, other: object) -> Confusion:
        return Confusion.sum([self, other]) if isinstance(other, Confusion) else NotImplemented

    def __radd__(self, other: object) -> Confusion:
        # The built-in sum() starts with 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    @staticmethod
    def sum(tables: Sequence[Confusion]) -> Confusion:
        """Add matrices; classes that only some of them have come last."""
        if not tables:
            raise OptionError("there are no tables to add up", remedy="give at least one.")
        labels = tuple(dict.fromkeys(label for table in tables for label in table.labels))
        parts = [table.over(labels) for table in tables]
        moments = None
        # An empty matrix, as of a group without rows, fits to both kinds.
        reweighed = all_or_none_reweighed(table.reweighed for table in tables if table.mass.any())
        if any(part.moments for part in parts):
            moments = Confusion.sum([part.squares for part in parts]), Confusion.sum([part.rows for part in parts])
        return Confusion(np.sum([part.mass for part in parts], axis=0), labels, moments=moments, reweighed=reweighed)


def row_mass(weight: Floats | None, count: Cells | None) -> Cells | None:
    """Return the mass of each row; None if each counts once."""
    return count if weight is None else weight if count is None else weight * count


def row_amounts(weight: Floats | None, count: Cells | None) -> list[Cells | None]:
    """Return the amounts of rows that `Confusion.of_sums` takes; None counts each row once.

    >>> row_amounts(np.array([0.5]), np.array([4]))
    [array([2.]), array([1.]), array([4])]
    """
    mass = row_mass(weight, count)
    if weight is None or mass is None:
        return [count]
    # A row that stands for several contributes w² for each of them, not (n·w)².
    return [mass, mass * weight, count]


def as_cells(table: npt.ArrayLike) -> Floats:
    """Return the numbers of a table; refuse a frame, whose names would be lost."""
    if hasattr(table, "columns"):
        raise ShapeError(
            "the table is a frame, whose names would be lost",
            remedy="pass frame.to_numpy() and the labels in its order.",
        )
    try:
        return np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ShapeError(
            f"the table does not hold numbers in rows of one length ({error})", remedy="correct it."
        ) from error


def distinct_labels(names: Iterable[object]) -> tuple[object, ...]:
    """Check that each label occurs once."""
    labels = tuple(names)
    try:
        if len(set(labels)) < len(labels):
            twice = next(label for label in labels if labels.count(label) > 1)
            raise OptionError(f"the label {twice!r} is given twice", remedy="name each class once.")
    except TypeError as error:
        raise OptionError(f"a label cannot be compared with others ({error})", remedy="use text or numbers.") from error
    return labels


def _check_mass(mass: Floats) -> Floats:
    if mass.ndim < 2 or mass.shape[-1] != mass.shape[-2] or not mass.shape[-1]:
        raise ShapeError(
            f"the table has shape {mass.shape}", remedy="give as many rows as columns, one for each class."
        )
    if mass.size and not (mass.min() >= 0 and mass.max() < np.inf):  # false for NaN, too
        bad = np.count_nonzero(~(mass >= 0) | np.isinf(mass))
        raise WeightError(f"{bad} of {mass.size} cells are negative, NaN or infinite", remedy="give counts ≥ 0.")
    if mass.size and (mass.max() > _LARGEST or (mass.max() > 0 and mass[mass > 0].min() < 1 / _LARGEST)):
        raise WeightError(
            f"a cell is above {_LARGEST:g} or below {1 / _LARGEST:g}, too far from 1 to be squared",
            remedy="scale all of them.",
        )
    return mass


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Confusions(Renderable):
    """Group -> Confusion, all over the same labels.

    A group is a tuple of values, one for each of the `attributes`; ungrouped data has the single group `()`.

    >>> table = Confusion.of_matrix([[20, 5], [10, 15]], ["yes", "no"], truth="rows")
    >>> both = Confusions({("f",): table, ("m",): table}, attributes=("sex",), intake=ReadSummary(read=100))
    >>> both.pooled.total
    100.0
    """

    tables: Mapping[Group, Confusion]
    attributes: tuple[str, ...] = ()
    intake: ReadSummary = field(default_factory=lambda: ReadSummary(read=0))

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", FrozenMapping(self.tables))
        if not self.tables or len({table.labels for table in self.tables.values()}) > 1:
            raise OptionError("every group needs a table over the same labels", remedy="give at least one.")
        if any(len(group) != len(self.attributes) for group in self.tables):
            raise OptionError(f"a group is not a tuple with a value for each attribute, {list(self.attributes)}.")

    def __repr__(self) -> str:
        groups = f"; {count_groups(len(self.tables), self.attributes)}" if self.attributes else ""
        return f"Confusions({count_of(len(self.labels), 'class', 'classes')}{groups}; {self.intake.description})"

    @property
    def labels(self) -> tuple[object, ...]:
        """The classes, the same for every group."""
        return next(iter(self.tables.values())).labels

    @property
    def pooled(self) -> Confusion:
        """Table of all groups."""
        tables = list(self.tables.values())
        return tables[0] if len(tables) == 1 else Confusion.sum(tables)

    def walk(self) -> Iterator[tuple[Group | None, Confusion]]:
        """Yield the table of all groups (group None), then each group if there is a grouping."""
        yield None, self.pooled
        if self.attributes:
            yield from self.tables.items()

    @property
    def digest(self) -> str:
        """SHA-256 of labels, groups and row counts, which depends neither on the order of rows nor on weights."""
        lines = ["baserate confusions 1", _label_list(self.labels)]
        for group, table in self.tables.items():
            lines.append(f"{_label_list(group)} {table.rows.mass.astype(np.int64).tolist()}")
        return sha256("\n".join(lines).encode()).hexdigest()


def _label_list(labels: Iterable[object]) -> str:
    return str([str(label) for label in labels])
