"""LabelSets: rows that may have several labels at once, one yes-or-no question for each label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from baserate._arrays import Bools, Floats, Reals, frozen
from baserate._confusion import distinct_labels
from baserate._counts import Counts
from baserate._errors import OptionError, ShapeError
from baserate._immutable import keep_read_only
from baserate._plurals import count_of
from baserate._tally import Tally


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LabelSets:
    """Which labels each row has, and which it was given: by decision, by score, or both.

    >>> truth, decided = np.array([[1, 1, 0], [0, 1, 0]]) > 0, np.array([[1, 0, 0], [0, 1, 1]]) > 0
    >>> sets = LabelSets(truth, ("sea", "sky", "sand"), decided=decided)
    >>> sets
    LabelSets(2 rows; labels sea, sky, sand)
    >>> sets.per_label().tp.tolist(), sets.per_row().tp.tolist()
    ([1.0, 1.0, 0.0], [1.0, 1.0])
    """

    truth: Bools
    """A row for each row and a column for each label: whether the row has it."""
    labels: tuple[object, ...]
    decided: Bools | None = None
    """Whether it was decided to have it."""
    score: Reals | None = None
    """How much speaks for it."""
    weight: Floats | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", distinct_labels(self.labels))
        shape = (len(self.truth), len(self.labels))
        for name in ("truth", "decided", "score"):
            column = getattr(self, name)
            if column is not None and column.shape != shape:
                raise ShapeError(
                    f"{name} has shape {column.shape}; give a row for each of {shape[0]} rows and a column "
                    f"for each of {shape[1]} labels."
                )
        if self.decided is None and self.score is None:
            raise OptionError("give decided= or score=, so that there is something to judge.")
        for name in ("truth", "decided", "score", "weight"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, frozen(getattr(self, name)))

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

    def per_label(self) -> Counts[Floats]:
        """2×2 tables of each label, over all rows."""
        cells = self._cells()
        if self.weight is None:
            return Counts(*(cell.sum(axis=0) for cell in cells))
        rows, squares = (Counts(*(amount @ cell for cell in cells)) for amount in (np.ones(len(self)), self.weight**2))
        return Counts(*(self.weight @ cell for cell in cells), moments=(squares, rows))

    def per_row(self) -> Counts[Floats]:
        """2×2 tables of each row, over all labels."""
        return Counts(*(cell.sum(axis=1) for cell in self._cells()))

    def one_vs_rest(self) -> tuple[Tally, ...]:
        """Tallies of each label, by the score for it."""
        if self.score is None:
            raise OptionError("there are no scores, only decisions; give score= too.")
        columns = ((self.truth[:, at], np.ascontiguousarray(self.score[:, at])) for at in range(len(self.labels)))
        return tuple(Tally.of_rows(truth, score, weight=self.weight) for truth, score in columns)

    def _cells(self) -> tuple[Bools, Bools, Bools, Bools]:
        if self.decided is None:
            raise OptionError("there are no decisions, only scores; give decided= too, for example score >= 0.5.")
        return (
            self.truth & self.decided,
            ~self.truth & self.decided,
            self.truth & ~self.decided,
            ~(self.truth | self.decided),
        )
