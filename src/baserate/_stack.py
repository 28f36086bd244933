"""Stack: many tallies at the same scores, for what else might have been seen."""

from __future__ import annotations

from dataclasses import dataclass

from baserate._arrays import Floats, ratio
from baserate._tally import Tally


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """Masses of both classes at the same scores, one row for each of many tallies.

    A measure that is written in terms of `score`, `positive`, `negative` and `total` takes a stack where it takes a
    tally, and gives an array: one number for each of them.

    >>> import numpy as np
    >>> many = Stack(np.array([0.9, 0.4]), np.array([[1.0, 1.0], [2.0, 0.0]]), np.array([[0.0, 1.0], [1.0, 1.0]]))
    >>> many.prevalence.tolist()
    [0.6666666666666666, 0.5]
    """

    score: Floats
    """Distinct scores, strictly decreasing."""
    positive: Floats
    """Mass of the positive class: a row for each tally, a column for each score."""
    negative: Floats
    shared: bool = False
    """Whether all have the same mass of both classes together at each score: they differ in what happened alone."""
    weight: float = 1.0
    """What a row usually weighs."""

    @property
    def positives(self) -> Floats:
        """Mass of the positive class in each."""
        found: Floats = self.positive.sum(axis=-1)
        return found

    @property
    def negatives(self) -> Floats:
        """Mass of the negative class in each."""
        found: Floats = self.negative.sum(axis=-1)
        return found

    @property
    def total(self) -> Floats:
        """Mass of everything in each."""
        return self.positives + self.negatives

    @property
    def prevalence(self) -> Floats:
        """Share of the positive class in each."""
        return ratio(self.positives, self.total)


Forecasts = Tally | Stack
"""What measures of probabilities take: of a stack they give an array, which type checkers need not know."""
