"""ClassRows: rows of several classes, with a score for each class."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import sha256

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Cells, Floats, Reals, frozen, others, summed
from baserate._confusion import Confusion, distinct_labels
from baserate._errors import OptionError, ShapeError
from baserate._immutable import keep_read_only
from baserate._intake import ReadSummary
from baserate._numeric.codes import Codes
from baserate._numeric.hashing import of_floats, rows_hashed
from baserate._plurals import count_of
from baserate._tallies import Group
from baserate._tally import Tally

_BLOCK = 1 << 14
"""Rows that fit the cache with all of their scores."""


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MulticlassRows:
    """Checked rows: the class of each, as an index into `labels`, and its score for every class.

    Scores of a row belong together, so they are kept as rows: what happened is judged against all of them at once.

    >>> score = np.array([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.5, 0.3, 0.2]])
    >>> rows = MulticlassRows(np.array([0, 1, 2]), score, labels=("a", "b", "c"))
    >>> rows
    ClassRows(3 rows; scores for a, b, c)
    >>> rows.decided().mass.tolist()
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
    """What was read; its columns of scores are in the order of `labels`."""

    def __post_init__(self) -> None:
        rows = len(self.truth)
        object.__setattr__(self, "labels", distinct_labels(self.labels))
        if self.score.shape != (rows, len(self.labels)):
            raise ShapeError(
                f"score has shape {self.score.shape}; give a row for each of {rows} rows and a column for each of "
                f"{len(self.labels)} classes."
            )
        if rows and not (self.truth.min() >= 0 and self.truth.max() < len(self.labels)):
            raise OptionError(f"truth holds numbers that are no index into the {len(self.labels)} labels.")
        for name in ("truth", "score", "weight", "count", "group"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, frozen(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.truth)

    def __repr__(self) -> str:
        groups = f"; {count_of(len(self.groups), 'group')} by {', '.join(self.attributes)}" if self.attributes else ""
        return f"ClassRows({count_of(len(self), 'row')}; scores for {', '.join(map(str, self.labels))}{groups})"

    @property
    def amount(self) -> Cells | None:
        """How much each row counts; None if each counts once."""
        if self.weight is None:
            return self.count
        return self.weight if self.count is None else self.weight * self.count

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
        return summed(self.support * others(self.support))

    @property
    def digest(self) -> str:
        """SHA-256 of classes, scores and groups, row by row: the same in any order; weights do not enter."""
        names = np.array([_hashed(label) for label in self.labels], dtype=np.uint64)
        columns = [names[self.truth], *(of_floats(self.score[:, at]) for at in range(len(self.labels)))]
        if self.attributes:
            columns.append(np.array([_hashed(group) for group in self.groups], dtype=np.uint64)[self.group])
        rows = len(self) if self.count is None else int(self.count.sum())
        told = f"baserate class rows 1\n{list(map(str, self.labels))}\n{rows} {rows_hashed(columns, self.count)}"
        return sha256(told.encode()).hexdigest()

    def of_group(self, at: int) -> MulticlassRows:
        """Rows of one group."""
        return replace(self.only(self.group == at), group=self.group[:0], attributes=(), groups=(self.groups[at],))

    def only(self, there: Bools) -> MulticlassRows:
        """Rows where this is true."""
        weight, count = (None if column is None else column[there] for column in (self.weight, self.count))
        group = self.group[there] if self.attributes else self.group
        return replace(self, truth=self.truth[there], score=self.score[there], weight=weight, count=count, group=group)

    def against_rest(self, at: int) -> Tally:
        """Tally of one class against all others, by the score for it."""
        return Tally.of_rows(self.truth == at, self._column(at), weight=self.weight, count=self.count)

    def one_vs_rest(self) -> tuple[Tally, ...]:
        """Tallies of each class against all others."""
        return tuple(self.against_rest(at) for at in range(len(self.labels)))

    def top_class(self) -> Tally:
        """Tally whether the class with the highest score is the true one, by that score."""
        decided = self.decision()
        top = np.ascontiguousarray(self.score[np.arange(len(self)), decided])
        return Tally.of_rows(decided == self.truth, top, weight=self.weight, count=self.count)

    def decision(self) -> Codes:
        """Class with the highest score, for each row; of equal ones, the first."""
        decided = np.empty(len(self), dtype=np.min_scalar_type(len(self.labels) - 1))
        for start in range(0, len(self), _BLOCK):
            place = slice(start, start + _BLOCK)
            decided[place] = np.ascontiguousarray(self.score[place]).argmax(axis=1)
        return decided

    def rank(self) -> npt.NDArray[np.intp]:
        """How many classes go before the true one, for each row: those with higher scores, and equal ones before it."""
        own = self.score[np.arange(len(self)), self.truth]
        before = np.zeros(len(self), dtype=np.intp)
        for at in range(len(self.labels)):
            other = self.score[:, at]
            before += other > own
            before += (other == own) & (at < self.truth)
        return before

    def decided(self) -> Confusion:
        """Table of what follows from taking the class with the highest score; of equal ones, the first."""
        return Confusion.of_rows(self.truth, self.decision(), self.labels, weight=self.weight, count=self.count)

    def _column(self, at: int) -> Reals:
        return np.ascontiguousarray(self.score[:, at])


def _hashed(label: object) -> int:
    """A number of 64 bits for a label, the same in every process."""
    return int.from_bytes(sha256(str(label).encode()).digest()[:8], "little")
