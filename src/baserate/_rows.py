"""Rows: columns of binary or multiclass data, for what a tally cannot hold: identity, pairing, clusters, K scores.

`Target` and `MulticlassTarget` hold unlabelled rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import (
    Bools,
    Cells,
    Floats,
    FrozenMapping,
    Reals,
    exact_sum,
    keep_read_only,
    read_only_copy,
    refuse_differing_indexes,
    sums_of_others,
)
from baserate._confusion import Confusion, distinct_labels, row_mass
from baserate._counts import Counts
from baserate._errors import (
    EmptyDataError,
    MissingValuesError,
    OptionError,
    ShapeError,
    WeightError,
    keyword,
    unknown_name,
)
from baserate._formatting import count_groups, count_of, replace_unprintable
from baserate._numeric.distinct import Codes, float_bits, hash_rows_unordered, positions_by_code
from baserate._rendering import Renderable
from baserate._tally import Group, ReadSummary, Tallies, Tally

Column = npt.NDArray[Any]


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rows(Renderable):
    """Checked columns of equal length: no missing values, boolean labels, numbered groups.

    >>> rows = Rows(truth=np.array([True, False, False]), score={"risk": np.array([0.9, 0.4, 0.4])})
    >>> rows
    Rows(3 rows; scores: risk)
    >>> rows.tallies().tally
    Tally(3 rows, 2 distinct scores from 0.4 to 0.9, prevalence 0.333333)
    """

    truth: Bools
    """Whether a row is of the positive class."""
    score: Mapping[str, Reals]
    """Model -> a number for each row."""
    group: Column = field(default_factory=lambda: np.zeros(0, dtype=np.uint8))
    """Number of each row's group, an index into `groups`; empty when there is no grouping."""
    groups: tuple[Group, ...] = ((),)
    attributes: tuple[str, ...] = ()
    weight: Floats | None = None
    count: Cells | None = None
    id: Column | None = None
    """ID of each row."""
    cluster: Column | None = None
    """Cluster of each row, a whole number: rows of one cluster are not independent."""
    intake: ReadSummary = field(default_factory=lambda: ReadSummary(read=0))

    def __post_init__(self) -> None:
        scores = {model: read_only_copy(column) for model, column in self.score.items()}
        object.__setattr__(self, "score", FrozenMapping(scores))
        columns = {"truth": self.truth} | {f"score {model}": score for model, score in scores.items()}
        if self.attributes:
            columns["group"] = self.group
        for name in ("weight", "count", "id", "cluster"):
            if getattr(self, name) is not None:
                columns[name] = getattr(self, name)
        if len({column.shape for column in columns.values()}) != 1 or self.truth.ndim != 1:
            lengths = ", ".join(f"{name} {column.shape}" for name, column in columns.items())
            raise ShapeError(
                f"the columns have different lengths ({lengths})", remedy="give one value of each for every row."
            )
        for name in columns.keys() & {"truth", "group", "weight", "count", "id", "cluster"}:
            object.__setattr__(self, name, read_only_copy(columns[name]))

    def __len__(self) -> int:
        return len(self.truth)

    def __repr__(self) -> str:
        groups = f"; {count_groups(len(self.groups), self.attributes)}" if self.attributes else ""
        return replace_unprintable(f"Rows({count_of(len(self), 'row')}; scores: {', '.join(self.score)}{groups})")

    def only(self, where: slice | npt.NDArray[Any]) -> Rows:
        """Select rows by position or by a boolean mask."""
        columns = {name: getattr(self, name) for name in ("weight", "count", "id", "cluster")}
        others: dict[str, Any] = {name: None if each is None else each[where] for name, each in columns.items()}
        score = {model: each[where] for model, each in self.score.items()}
        group = self.group[where] if self.attributes else self.group
        return replace(self, truth=self.truth[where], score=score, group=group, **others)

    def tallies(self) -> Tallies:
        """Tally the rows by model and group."""
        places = self._places()
        models = {
            model: {group: self._tally(self.truth, score, place) for group, place in places.items()}
            for model, score in self.score.items()
        }
        return Tallies(models, self.attributes, self.intake, self._decisions())

    def _decisions(self) -> dict[str, Tally]:
        """Tally predicted labels by the scores of the other models; empty without predicted labels."""
        predicted = self.intake.columns.get("predicted")
        if not isinstance(predicted, str) or predicted not in self.score:
            return {}
        flagged = self.score[predicted] > 0  # readers store predicted labels as scores of 0 and 1
        return {
            model: self._tally(flagged, score, slice(None)) for model, score in self.score.items() if model != predicted
        }

    def _places(self) -> dict[Group, slice | npt.NDArray[np.intp]]:
        """Map each group to its rows."""
        if not self.attributes:
            return {(): slice(None)}
        return dict(zip(self.groups, positions_by_code(self.group, len(self.groups)), strict=True))

    def _tally(self, truth: Bools, score: Reals, place: slice | npt.NDArray[np.intp]) -> Tally:
        weight, count = (None if column is None else column[place] for column in (self.weight, self.count))
        return Tally.of_rows(truth[place], score[place], weight=weight, count=count)


_BLOCK = 1 << 14
"""Rows whose scores of all classes fit the CPU cache."""


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MulticlassRows:
    """Checked rows of several classes: the class of each, as an index into `labels`, and its score for every class.

    The scores of a row depend on each other, so they stay together: measures use all of them at once.

    >>> score = np.array([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.5, 0.3, 0.2]])
    >>> rows = MulticlassRows(np.array([0, 1, 2]), score, labels=("a", "b", "c"))
    >>> rows
    MulticlassRows(3 rows; scores for a, b, c)
    >>> rows.confusion().mass.tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """

    truth: Codes
    """Number of each row's class, an index into `labels`."""
    score: Reals
    """A row for each row and a column for each class, the higher the likelier."""
    labels: tuple[object, ...]
    weight: Floats | None = None
    count: Cells | None = None
    group: Codes = field(default_factory=lambda: np.zeros(0, dtype=np.uint8))
    """Number of each row's group, an index into `groups`; empty when there is no grouping."""
    groups: tuple[Group, ...] = ((),)
    attributes: tuple[str, ...] = ()
    intake: ReadSummary = field(default_factory=lambda: ReadSummary(read=0))
    """Summary of reading; its columns of scores are in the order of `labels`."""

    def __post_init__(self) -> None:
        rows = len(self.truth)
        object.__setattr__(self, "labels", distinct_labels(self.labels))
        if self.score.shape != (rows, len(self.labels)):
            raise ShapeError(
                f"score has shape {self.score.shape}",
                remedy=f"give a row for each of {rows} rows and a column for each of {len(self.labels)} classes.",
            )
        if rows and not (self.truth.min() >= 0 and self.truth.max() < len(self.labels)):
            raise OptionError(f"truth holds numbers that are not an index into the {len(self.labels)} labels.")
        for name in ("truth", "score", "weight", "count", "group"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, read_only_copy(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.truth)

    def __repr__(self) -> str:
        groups = f"; {count_groups(len(self.groups), self.attributes)}" if self.attributes else ""
        return f"MulticlassRows({count_of(len(self), 'row')}; scores for {', '.join(map(str, self.labels))}{groups})"

    def __add__(self, other: object) -> MulticlassRows:
        return MulticlassRows.sum([self, other]) if isinstance(other, MulticlassRows) else NotImplemented

    def __radd__(self, other: object) -> MulticlassRows:
        # The built-in sum() starts with 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    @staticmethod
    def sum(parts: Iterable[MulticlassRows]) -> MulticlassRows:
        """Concatenate rows of the same classes, without groups; such as those of batches."""
        several = _check_parts(list(parts))
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in several]) for name in ("truth", "score")
        }
        columns |= {name: _concatenate_amounts(several, name) for name in ("weight", "count")}
        merged: MulticlassRows = replace(
            several[0], **columns, intake=ReadSummary(read=sum(len(part) for part in several))
        )
        return merged

    @property
    def amount(self) -> Cells | None:
        """Weight times count of each row; None if each counts once."""
        return row_mass(self.weight, self.count)

    @property
    def total(self) -> float:
        """Mass of everything."""
        return float(len(self) if self.amount is None else self.amount.sum())

    @property
    def support(self) -> Floats:
        """Mass of each class."""
        return np.bincount(self.truth, weights=self.amount, minlength=len(self.labels)).astype(np.float64)

    @property
    def truth_spread(self) -> float:
        """Mass of pairs whose classes differ, counted twice: 0 when there is a single class."""
        return exact_sum(self.support * sums_of_others(self.support))

    @property
    def digest(self) -> str:
        """SHA-256 of classes, scores and groups, the same for any order of rows; it does not depend on weights."""
        names = np.array([_hash_label(label) for label in self.labels], dtype=np.uint64)
        columns = [names[self.truth], *(float_bits(self.score[:, at]) for at in range(len(self.labels)))]
        if self.attributes:
            columns.append(np.array([_hash_label(group) for group in self.groups], dtype=np.uint64)[self.group])
        rows = len(self) if self.count is None else int(self.count.sum())
        from hashlib import sha256  # slow to import, and not always needed

        text = (
            f"baserate class rows 1\n{list(map(str, self.labels))}\n{rows} {hash_rows_unordered(columns, self.count)}"
        )
        return sha256(text.encode()).hexdigest()

    def of_group(self, at: int) -> MulticlassRows:
        """Select the rows of one group."""
        return replace(self.only(self.group == at), group=self.group[:0], attributes=(), groups=(self.groups[at],))

    def only(self, where: Bools) -> MulticlassRows:
        """Select rows by a boolean mask."""
        weight, count = (None if column is None else column[where] for column in (self.weight, self.count))
        group = self.group[where] if self.attributes else self.group
        return replace(self, truth=self.truth[where], score=self.score[where], weight=weight, count=count, group=group)

    def against_rest(self, at: int) -> Tally:
        """Tally one class against all others, by its score."""
        return Tally.of_rows(self.truth == at, self._column(at), weight=self.weight, count=self.count)

    def one_vs_rest(self) -> tuple[Tally, ...]:
        """Tally each class against all others."""
        return tuple(self.against_rest(at) for at in range(len(self.labels)))

    def top_class(self) -> Tally:
        """Tally whether the class with the highest score is the true one, by that score."""
        decision = self.decision()
        top = np.ascontiguousarray(self.score[np.arange(len(self)), decision])
        return Tally.of_rows(decision == self.truth, top, weight=self.weight, count=self.count)

    def decision(self) -> Codes:
        """Predict the class with the highest score for each row; of equal ones, the first."""
        decision = np.empty(len(self), dtype=np.min_scalar_type(len(self.labels) - 1))
        for start in range(0, len(self), _BLOCK):
            place = slice(start, start + _BLOCK)
            # Scores are stored by column, and argmax along rows of such an array is slow: copy a block at a time.
            decision[place] = np.ascontiguousarray(self.score[place]).argmax(axis=1)
        return decision

    def rank(self) -> npt.NDArray[np.intp]:
        """Count the classes ranked before the true one: those with higher scores, and equal ones with a lower index."""
        own = self.score[np.arange(len(self)), self.truth]
        before = np.zeros(len(self), dtype=np.intp)
        for at in range(len(self.labels)):
            other = self.score[:, at]
            # Ties as in `decision`, where argmax takes the first: rank 0 if and only if the decision is right.
            before += other > own
            before += (other == own) & (at < self.truth)
        return before

    def confusion(self) -> Confusion:
        """Return the confusion matrix of predicting the class with the highest score; of equal ones, the first."""
        return Confusion.of_rows(self.truth, self.decision(), self.labels, weight=self.weight, count=self.count)

    def _column(self, at: int) -> Reals:
        return np.ascontiguousarray(self.score[:, at])


def _check_parts(parts: list[Any]) -> list[Any]:
    """Refuse parts of different classes or labels, of groups, and none at all."""
    if not parts:
        raise EmptyDataError("there are no parts to add", remedy="give at least one.")
    labels = parts[0].labels
    other = next((part.labels for part in parts if part.labels != labels), None)
    if other is not None:
        raise ShapeError(f"the parts have different labels, {labels} and {other}", remedy="name the same in each part.")
    if any(getattr(part, "attributes", ()) for part in parts):
        raise OptionError("rows with groups cannot be added", remedy="add the rows of each group.")
    return parts


def _concatenate_amounts(parts: Sequence[Any], name: str) -> Any:  # noqa: ANN401  (a column, or None)
    """Concatenate weights or counts; parts without any have 1 for each row."""
    columns = [getattr(part, name) for part in parts]
    if all(column is None for column in columns):
        return None
    return np.concatenate(
        [
            np.ones(len(part), dtype=np.int64 if name == "count" else np.float64) if column is None else column
            for part, column in zip(parts, columns, strict=True)
        ]
    )


def _hash_label(label: object) -> int:
    """Return a number of 64 bits for a label, the same in every process, unlike `hash`."""
    from hashlib import sha256  # slow to import, and not always needed

    return int.from_bytes(sha256(str(label).encode()).digest()[:8], "little")


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LabelSets:
    """Multilabel data: which labels each row has, and predictions or scores for them.

    >>> truth, predicted = np.array([[1, 1, 0], [0, 1, 0]]) > 0, np.array([[1, 0, 0], [0, 1, 1]]) > 0
    >>> sets = LabelSets(truth, ("sea", "sky", "sand"), predicted=predicted)
    >>> sets
    LabelSets(2 rows; labels sea, sky, sand)
    >>> sets.per_label().tp.tolist(), sets.per_row().tp.tolist()
    ([1.0, 1.0, 0.0], [1.0, 1.0])
    """

    truth: Bools
    """A row for each row and a column for each label: whether the row has it."""
    labels: tuple[object, ...]
    predicted: Bools | None = None
    """Whether the label is predicted."""
    score: Reals | None = None
    """Score for the label."""
    weight: Floats | None = None
    intake: ReadSummary = field(default_factory=lambda: ReadSummary(read=0))

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", distinct_labels(self.labels))
        shape = (len(self.truth), len(self.labels))
        for name in ("truth", "predicted", "score"):
            column = getattr(self, name)
            if column is not None and column.shape != shape:
                raise ShapeError(
                    f"{name} has shape {column.shape}",
                    remedy=f"give a row for each of {shape[0]} rows and a column for each of {shape[1]} labels.",
                )
        if self.predicted is None and self.score is None:
            raise OptionError(
                "there is nothing to evaluate", remedy=f"give {keyword('predicted')} or {keyword('score')}."
            )
        for name in ("truth", "predicted", "score", "weight"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, read_only_copy(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.truth)

    def __repr__(self) -> str:
        return f"LabelSets({count_of(len(self), 'row')}; labels {', '.join(map(str, self.labels))})"

    @property
    def total(self) -> float:
        """Mass of all rows."""
        return float(len(self) if self.weight is None else self.weight.sum())

    @property
    def support(self) -> Floats:
        """Mass of rows that have each label."""
        return np.asarray(self.truth.sum(axis=0) if self.weight is None else self.weight @ self.truth, dtype=np.float64)

    @property
    def labelled(self) -> float:
        """Mass of rows that have a label."""
        return self._mass_where(np.asarray(self.truth.any(axis=1)))

    @property
    def label_pairs(self) -> float:
        """Mass of rows that have some labels and lack others."""
        return self._mass_where(np.asarray(self.truth.any(axis=1) & ~self.truth.all(axis=1)))

    def _mass_where(self, where: Bools) -> float:
        return float(np.count_nonzero(where) if self.weight is None else self.weight[where].sum())

    def __add__(self, other: object) -> LabelSets:
        return LabelSets.sum([self, other]) if isinstance(other, LabelSets) else NotImplemented

    def __radd__(self, other: object) -> LabelSets:
        # The built-in sum() starts with 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    @staticmethod
    def sum(parts: Iterable[LabelSets]) -> LabelSets:
        """Concatenate rows of the same labels, such as those of batches."""
        several = _check_parts(list(parts))
        columns: dict[str, Any] = {"weight": _concatenate_amounts(several, "weight")}
        for name in ("truth", "predicted", "score"):
            tables = [getattr(part, name) for part in several]
            absent = [table is None for table in tables]
            if any(absent) and not all(absent):
                raise ShapeError(f"{name} is missing in some parts", remedy="give it in all parts, or in none.")
            columns[name] = None if all(absent) else np.concatenate(tables)
        merged: LabelSets = replace(several[0], **columns, intake=ReadSummary(read=sum(len(part) for part in several)))
        return merged

    def over(self, labels: Iterable[object]) -> LabelSets:
        """Select some labels, in their order."""
        wanted = distinct_labels(labels)
        unknown = [label for label in wanted if label not in self.labels]
        if unknown:
            raise unknown_name("label", str(unknown[0]), [str(each) for each in self.labels])
        places = [self.labels.index(label) for label in wanted]
        tables = {name: getattr(self, name) for name in ("truth", "predicted", "score")}
        chosen: dict[str, Any] = {name: each if each is None else each[:, places] for name, each in tables.items()}
        return replace(self, labels=wanted, **chosen)

    def per_label(self) -> Counts[Floats]:
        """Return the 2×2 table of each label, over all rows."""
        cells = self._cells()
        if self.weight is None:
            return Counts(*(cell.sum(axis=0) for cell in cells))
        rows, squares = (Counts(*(amount @ cell for cell in cells)) for amount in (np.ones(len(self)), self.weight**2))
        return Counts(*(self.weight @ cell for cell in cells), moments=(squares, rows))

    def per_row(self) -> Counts[Floats]:
        """Return the 2×2 table of each row, over all labels."""
        return Counts(*(cell.sum(axis=1) for cell in self._cells()))

    def one_vs_rest(self) -> tuple[Tally, ...]:
        """Tally each label, by its score."""
        if self.score is None:
            raise OptionError("there are no scores, only decisions", remedy=f"give {keyword('score')} too.")
        columns = ((self.truth[:, at], np.ascontiguousarray(self.score[:, at])) for at in range(len(self.labels)))
        return tuple(Tally.of_rows(truth, score, weight=self.weight) for truth, score in columns)

    def _cells(self) -> tuple[Bools, Bools, Bools, Bools]:
        if self.predicted is None:
            raise OptionError(
                "there are no decisions, only scores",
                remedy=f"give {keyword('predicted')} too, for example score >= 0.5.",
            )
        return (
            self.truth & self.predicted,
            ~self.truth & self.predicted,
            self.truth & ~self.predicted,
            ~(self.truth | self.predicted),
        )


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Target:
    """Unlabelled scores in any order, with the mass of each; and a tally of the labelled rows.

    As in a `Tally` there are mass, squared weights and rows; where all three are None, every score is one row.

    >>> Target(np.array([0.9, 0.4, 0.4]))
    Target(3 unlabelled rows)
    >>> Target(np.array([0.9, 0.4]), *[np.array([1, 2])] * 3, labelled=Tally.from_counts([0.3], [[0], [5]]))
    Target(3 unlabelled rows, 5 labelled)
    """

    score: Reals
    mass: Cells | None = None
    """Sum of weights at each score."""
    squares: Cells | None = None
    rows: Cells | None = None
    labelled: Tally | None = None
    """Labelled rows of the same population; none of them is among the scores."""
    intake: ReadSummary = field(default_factory=lambda: ReadSummary(read=0))

    def __post_init__(self) -> None:
        if self.score.ndim != 1:
            raise ShapeError(f"score has shape {self.score.shape}", remedy="give one dimension.")
        _check_target_scores(self.score)
        object.__setattr__(self, "score", read_only_copy(self.score))
        amounts = [self.mass, self.squares, self.rows]
        if any(each is None for each in amounts) and any(each is not None for each in amounts):
            raise ShapeError("mass, squares and rows are incomplete", remedy="give all of them, or none.")
        for name, cells in zip(("mass", "squares", "rows"), amounts, strict=True):
            if cells is not None:
                object.__setattr__(self, name, read_only_copy(_check_target_cells(name, cells, len(self.score))))

    @classmethod
    def of_rows(
        cls,
        score: npt.ArrayLike,
        *,
        weight: Floats | None = None,
        count: Cells | None = None,
        labelled: Tally | None = None,
        intake: ReadSummary | None = None,
    ) -> Target:
        """Make a target from columns that were checked before; `baserate.read.target` checks them first."""
        refuse_differing_indexes({"score": score, "weight": weight, "count": count})
        values = np.asarray(score)
        values = values if values.dtype.kind == "f" else values.astype(np.float64)
        intake = intake or ReadSummary(read=0)
        if weight is None:
            return cls(values, count, count, count, labelled, intake)
        rows = np.ones(len(values), dtype=np.uint8) if count is None else count
        return cls(values, weight * rows, weight * weight * rows, rows, labelled, intake)

    def __len__(self) -> int:
        return len(self.score) if self.rows is None else int(self.rows.sum(dtype=np.int64))

    def __repr__(self) -> str:
        labelled = 0 if self.labelled is None else int(self.labelled.rows.sum(dtype=np.int64))
        return f"Target({count_of(len(self), 'unlabelled row')}{f', {labelled} labelled' if labelled else ''})"

    @property
    def total(self) -> float:
        """Mass of the unlabelled rows."""
        return float(len(self.score) if self.mass is None else self.mass.sum())


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MulticlassTarget:
    """Unlabelled scores for each of several classes, a row for each row; and the labelled rows.

    >>> MulticlassTarget(np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3]]), labels=("a", "b", "c"))
    MulticlassTarget(2 unlabelled rows; scores for a, b, c)
    """

    score: Reals
    """A row for each row and a column for each class."""
    labels: tuple[object, ...]
    weight: Floats | None = None
    count: Cells | None = None
    labelled: MulticlassRows | None = None
    """Labelled rows of the same population; none of them is among the scores."""
    intake: ReadSummary = field(default_factory=lambda: ReadSummary(read=0))

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", distinct_labels(self.labels))
        if self.score.ndim != 2 or self.score.shape[1] != len(self.labels):
            raise ShapeError(
                f"score has shape {self.score.shape}", remedy=f"give a column for each of {len(self.labels)} classes."
            )
        _check_target_scores(self.score)
        object.__setattr__(self, "score", read_only_copy(self.score))
        for name in ("weight", "count"):
            cells = getattr(self, name)
            if cells is not None:
                object.__setattr__(self, name, read_only_copy(_check_target_cells(name, cells, len(self.score))))
        if self.labelled is not None and self.labelled.labels != self.labels:
            raise ShapeError(f"the labelled rows have the classes {self.labelled.labels}, not {self.labels}.")

    def __len__(self) -> int:
        return len(self.score) if self.count is None else int(self.count.sum(dtype=np.int64))

    def __repr__(self) -> str:
        labelled = f", {len(self.labelled)} labelled" if self.labelled is not None and len(self.labelled) else ""
        rows = count_of(len(self), "unlabelled row")
        return f"MulticlassTarget({rows}{labelled}; scores for {', '.join(map(str, self.labels))})"

    @property
    def amount(self) -> Cells | None:
        """Weight times count of each row; None if each counts once."""
        return row_mass(self.weight, self.count)


def _check_target_scores(score: Reals) -> None:
    if not len(score):
        raise EmptyDataError("there are no unlabelled scores", remedy="give at least one row of the target.")
    missing = int(np.count_nonzero(~np.isfinite(score)))
    if missing:
        raise MissingValuesError(
            f"{missing} of {score.size} scores are NaN or infinite", remedy="leave those rows out, or fill them in."
        )


def _check_target_cells(name: str, cells: Cells, width: int) -> Cells:
    if cells.shape != (width,):
        raise ShapeError(f"{name} has shape {cells.shape}", remedy=f"give one for each of {width} scores.")
    if not (cells.min() >= 0 and cells.max() < np.inf):
        raise WeightError(f"{name} holds negative, NaN or infinite numbers", remedy="leave such rows out.")
    if not cells.any():
        raise EmptyDataError(f"{name} is 0 everywhere", remedy="give rows with weight.")
    return cells
