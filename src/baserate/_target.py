"""Target: scores from where a classifier will be used, most of them without a truth."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from baserate._arrays import Cells, Floats, Reals, read_only_copy, refuse_differing_indexes
from baserate._confusion import distinct_labels
from baserate._errors import EmptyDataError, MissingValuesError, ShapeError, WeightError
from baserate._formatting import count_of
from baserate._immutable import keep_read_only
from baserate._read_summary import ReadSummary
from baserate._rows import MulticlassRows
from baserate._tally import Tally


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Target:
    """Scores in any order, with how much sits at each; and a tally of those few rows whose truth is known.

    As in a `Tally` there are mass, squared weights and rows; where all three are None, every score is one row.

    >>> Target(np.array([0.9, 0.4, 0.4]))
    Target(3 rows without truth)
    >>> Target(np.array([0.9, 0.4]), *[np.array([1, 2])] * 3, labelled=Tally.from_counts([0.3], [[0], [5]]))
    Target(3 rows without truth, 5 with it)
    """

    score: Reals
    mass: Cells | None = None
    """Sum of weights at each score."""
    squares: Cells | None = None
    rows: Cells | None = None
    labelled: Tally | None = None
    """Rows of the same population whose truth is known; none of them is among the scores."""
    intake: ReadSummary = field(default_factory=lambda: ReadSummary(read=0))

    def __post_init__(self) -> None:
        if self.score.ndim != 1:
            raise ShapeError(f"score has shape {self.score.shape}", remedy="give one dimension.")
        _check(self.score)
        object.__setattr__(self, "score", read_only_copy(self.score))
        given = [self.mass, self.squares, self.rows]
        if any(each is None for each in given) and any(each is not None for each in given):
            raise ShapeError("give mass, squares and rows, or none of them.")
        for name, cells in zip(("mass", "squares", "rows"), given, strict=True):
            if cells is not None:
                object.__setattr__(self, name, read_only_copy(_check_cells(name, cells, len(self.score))))

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
        """Take columns that are known to be fit; `baserate.read.target` checks them first."""
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
        known = 0 if self.labelled is None else int(self.labelled.rows.sum(dtype=np.int64))
        return f"Target({count_of(len(self), 'row')} without truth{f', {known} with it' if known else ''})"

    @property
    def total(self) -> float:
        """Mass of everything without truth."""
        return float(len(self.score) if self.mass is None else self.mass.sum())


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MulticlassTarget:
    """Scores for each of several classes, a row for each row; and the rows whose truth is known.

    >>> MulticlassTarget(np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3]]), labels=("a", "b", "c"))
    MulticlassTarget(2 rows without truth; scores for a, b, c)
    """

    score: Reals
    """A row for each row and a column for each class."""
    labels: tuple[object, ...]
    weight: Floats | None = None
    count: Cells | None = None
    labelled: MulticlassRows | None = None
    """Rows of the same population whose truth is known; none of them is among the scores."""
    intake: ReadSummary = field(default_factory=lambda: ReadSummary(read=0))

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", distinct_labels(self.labels))
        if self.score.ndim != 2 or self.score.shape[1] != len(self.labels):
            raise ShapeError(
                f"score has shape {self.score.shape}", remedy=f"give a column for each of {len(self.labels)} classes."
            )
        _check(self.score)
        object.__setattr__(self, "score", read_only_copy(self.score))
        for name in ("weight", "count"):
            cells = getattr(self, name)
            if cells is not None:
                object.__setattr__(self, name, read_only_copy(_check_cells(name, cells, len(self.score))))
        if self.labelled is not None and self.labelled.labels != self.labels:
            raise ShapeError(f"the rows with truth are of the classes {self.labelled.labels}, not {self.labels}.")

    def __len__(self) -> int:
        return len(self.score) if self.count is None else int(self.count.sum(dtype=np.int64))

    def __repr__(self) -> str:
        known = 0 if self.labelled is None else len(self.labelled)
        with_truth = f", {known} with it" if known else ""
        rows = count_of(len(self), "row")
        return f"MulticlassTarget({rows} without truth{with_truth}; scores for {', '.join(map(str, self.labels))})"

    @property
    def amount(self) -> Cells | None:
        """How much each row counts; None if each counts once."""
        if self.weight is None:
            return self.count
        return self.weight if self.count is None else self.weight * self.count


def _check(score: Reals) -> None:
    if not len(score):
        raise EmptyDataError("there are no scores without truth", remedy="give at least one row of the target.")
    missing = int(np.count_nonzero(~np.isfinite(score)))
    if missing:
        raise MissingValuesError(
            f"{missing} of {score.size} scores are NaN or infinite", remedy="leave those rows out, or fill them in."
        )


def _check_cells(name: str, cells: Cells, width: int) -> Cells:
    if cells.shape != (width,):
        raise ShapeError(f"{name} has shape {cells.shape}", remedy=f"give one for each of {width} scores.")
    if not (cells.min() >= 0 and cells.max() < np.inf):
        raise WeightError(f"{name} holds negative, NaN or infinite numbers", remedy="leave such rows out.")
    if not cells.any():
        raise EmptyDataError(f"{name} is 0 everywhere", remedy="give rows of the target that count.")
    return cells
