"""What every fit of several classes asks of its rows, and tells of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from baserate._arrays import Floats
from baserate._calibrator import Fitted
from baserate._errors import EmptyDataError, FitError
from baserate._formatting import count_of
from baserate._numeric.logistic import NEAREST
from baserate._numeric.softmax import Rows
from baserate._rows import MulticlassRows
from baserate.calibrate._data import FEW
from baserate.measure.multiclass import check_class_probabilities

_SHOWN = 5
"""Classes that are named when something is wrong."""


@dataclass(frozen=True, slots=True)
class Given:
    """Rows that count, checked, and what is to be said of them."""

    rows: MulticlassRows
    digest: str
    """Of all rows, also of those that count for nothing."""

    @staticmethod
    def of(rows: MulticlassRows) -> Given:
        """Leave out rows of no weight; refuse what is empty, and a single class."""
        there = rows if rows.amount is None or rows.amount.all() else rows.only(rows.amount > 0)
        if not len(there):
            raise EmptyDataError("there are no rows, or none with weight; a map is fitted on rows.")
        return Given(there, rows.digest)

    @staticmethod
    def probabilities(rows: MulticlassRows) -> Given:
        """Refuse also what is no probability, and a single class, in which there is nothing to tell apart."""
        given = Given.of(rows)
        check_class_probabilities(given.rows, "fit one-vs-rest with a method that takes any score.")
        present = np.flatnonzero(given.rows.support)
        if len(present) < 2:
            raise FitError(
                f"all {len(given.rows)} rows are of the class {rows.labels[present[0]]}; give rows of two or more."
            )
        return given

    @property
    def labels(self) -> tuple[str, ...]:
        """Classes, as text."""
        return tuple(map(str, self.rows.labels))

    @property
    def columns(self) -> dict[str, str]:
        """Class -> name of the column that held its score, if it came from one."""
        names = self.rows.intake.columns.get("score", [])
        if isinstance(names, str) or len(names) != len(self.labels):
            return {}
        return dict(zip(self.labels, names, strict=True))

    @property
    def shares(self) -> Floats:
        """Share of each class."""
        found: Floats = self.rows.support / self.rows.total
        return found

    @property
    def many(self) -> int:
        """How many rows there are."""
        return len(self.rows) if self.rows.count is None else int(self.rows.count.sum())

    @property
    def fitted(self) -> Fitted:
        """What a map of these rows was fitted on."""
        return Fitted(digest=self.digest, rows=self.many, prevalence=tuple(self.shares.tolist()))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of any fit should know."""
        clipped = int((self.rows.score < NEAREST).sum())
        few = f"fitted on {count_of(self.many, 'row')} only: another sample may give a very different map."
        near = f"{clipped} of {self.rows.score.size} probabilities are below {NEAREST:g}, and are taken as {NEAREST:g}."
        return (*((few,) if self.many < FEW else ()), *((near,) if clipped else ()))

    def logarithms(self, *, alike: bool) -> Rows:
        """Logarithms of probabilities, with classes and amounts; where all weigh `alike`, of odds to the likeliest.

        These lose no digits where one class is almost certain.
        """
        rows = self.rows
        x = np.log(np.maximum(np.ascontiguousarray(rows.score, dtype=np.float64), NEAREST))
        if alike:
            x -= x.max(axis=1, keepdims=True)
        amount = None if rows.amount is None else rows.amount.astype(np.float64)
        squares = None if rows.weight is None else np.square(rows.weight)
        if squares is not None and rows.count is not None:
            squares = squares * rows.count
        return Rows(x, rows.truth, amount, squares)

    def refuse_absent(self, what: str) -> None:
        """Refuse a class that never occurs, whose bias has no lower end."""
        absent = [label for label, mass in zip(self.labels, self.rows.support, strict=True) if not mass]
        if absent:
            raise FitError(
                f"{listed(absent)} never occurs in {count_of(self.many, 'row')}, so that no bias of it is too low; "
                f"fit {what}, or "
                "give rows of every class."
            )


def listed(labels: list[str]) -> str:
    """Name some classes.

    >>> listed(["cat"]), listed([str(at) for at in range(7)])
    ('cat', '0, 1, 2, 3, 4 and 2 more')
    """
    more = len(labels) - _SHOWN
    return ", ".join(labels[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
