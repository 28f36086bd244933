"""Counts: outcomes of decisions, as a 2×2 table of scalars or of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Any, Generic, overload

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats, Value, keep_read_only, read_only_copy
from baserate._errors import OptionError, ShapeError, WeightError
from baserate._rendering import Renderable, short_repr

_CELLS = ("tp", "fp", "fn", "tn")


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False)
class Counts(Renderable, Generic[Value]):
    """True and false positives, false and true negatives, after a decision.

    The cells are scalars for one decision, or arrays of one shape: all thresholds of a curve, all groups, all classes,
    ten thousand bootstrap samples. They hold mass (the sum of weights); standard errors need `squares` (the sum of
    squared weights) and `rows`. For plain counts the three are one.

    >>> c = Counts(tp=3, fp=2, fn=3, tn=2)
    >>> c.positives, c.flagged, c.total
    (6.0, 5.0, 10.0)
    """

    tp: Value
    fp: Value
    fn: Value
    tn: Value
    moments: tuple[Counts[Value], Counts[Value]] | None = field(default=None, repr=False, kw_only=True)
    """`squares` and `rows`, when they differ from the mass."""
    reweighed: bool = field(default=False, repr=False, kw_only=True)
    """Whether the classes were reweighted to known shares: these then have no sampling error."""

    __repr__ = short_repr

    def __post_init__(self) -> None:
        for name in _CELLS:
            object.__setattr__(self, name, _check_cell(name, getattr(self, name)))
        shapes = {np.shape(getattr(self, name)) for name in _CELLS}
        if len(shapes) > 1:
            raise ShapeError(
                f"the cells have shapes {sorted(shapes)}", remedy="give four scalars or four arrays of one shape."
            )

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> Counts[float]: ...
    @overload
    def __getitem__(self, index: slice | npt.NDArray[Any]) -> Counts[Floats]: ...
    def __getitem__(self, index: Any) -> Counts[Any]:
        cells = [np.asarray(getattr(self, name))[index] for name in _CELLS]
        moments = self.moments and (self.squares[index], self.rows[index])
        return Counts(*cells, moments=moments, reweighed=self.reweighed)

    @property
    def shape(self) -> tuple[int, ...]:
        """() for one table, otherwise the shape of the arrays."""
        return np.shape(self.tp)

    @property
    def squares(self) -> Counts[Value]:
        """The sums of squared weights, cell by cell."""
        return self if self.moments is None else self.moments[0]

    @property
    def rows(self) -> Counts[Value]:
        """The numbers of rows, cell by cell."""
        return self if self.moments is None else self.moments[1]

    @property
    def positives(self) -> Value:
        """TP + FN: the positive class."""
        return self.tp + self.fn

    @property
    def negatives(self) -> Value:
        """FP + TN: the negative class."""
        return self.fp + self.tn

    @property
    def flagged(self) -> Value:
        """TP + FP: predicted positive."""
        return self.tp + self.fp

    @property
    def not_flagged(self) -> Value:
        """FN + TN: predicted negative."""
        return self.fn + self.tn

    @property
    def either(self) -> Value:
        """TP + FP + FN: positive, flagged, or both."""
        return self.tp + self.fp + self.fn

    @property
    def benefits(self) -> Value:
        """TP + TN + 2 FP: a correct decision counts once, an undeserved flag twice, and a missed one not at all."""
        return self.tp + self.tn + 2 * self.fp

    @property
    def total(self) -> Value:
        """Total mass."""
        return self.positives + self.negatives

    @property
    def chance_disagreement(self) -> Value:
        """Disagreement of label and prediction if they were independent, times the total squared."""
        return self.flagged * self.negatives + self.not_flagged * self.positives

    def swap_classes(self) -> Counts[Value]:
        """Return the counts with the other class as the positive one."""
        moments = self.moments and (self.squares.swap_classes(), self.rows.swap_classes())
        return Counts(tp=self.tn, fp=self.fn, fn=self.fp, tn=self.tp, moments=moments, reweighed=self.reweighed)

    def reverse_decisions(self) -> Counts[Value]:
        """Return the counts of the opposite decisions: flag rows that were not flagged, and the reverse.

        >>> Counts(tp=24, fn=76, fp=88, tn=12).reverse_decisions()
        Counts(tp=76.0, fp=12.0, fn=24.0, tn=88.0)
        """
        moments = self.moments and (self.squares.reverse_decisions(), self.rows.reverse_decisions())
        return Counts(tp=self.fn, fp=self.tn, fn=self.tp, tn=self.fp, moments=moments, reweighed=self.reweighed)


def combine_counts(parts: Sequence[Counts[float]], times: Sequence[float] | None = None) -> Counts[float]:
    """Return a weighted sum of counts.

    >>> combine_counts([Counts(tp=3, fp=2, fn=3, tn=2), Counts(tp=1, fp=0, fn=5, tn=4)], [0.5, 0.5])
    Counts(tp=2.0, fp=1.0, fn=4.0, tn=3.0)
    """
    factors = [1.0] * len(parts) if times is None else times

    def add(tables: Iterable[Counts[float]]) -> Counts[float]:
        pairs = list(zip(tables, factors, strict=True))
        # fsum rounds once, so that the sum does not depend on the order of the parts.
        return Counts(*(fsum(factor * getattr(table, cell) for table, factor in pairs) for cell in _CELLS))

    plain = all(part.moments is None for part in parts)
    moments = None if plain else (add(part.squares for part in parts), add(part.rows for part in parts))
    reweighed = all_or_none_reweighed(part.reweighed for part in parts)
    return replace(add(parts), moments=moments, reweighed=reweighed)


def all_or_none_reweighed(marks: Iterable[bool]) -> bool:
    """Return whether all summands are reweighted; refuse a mixture of both."""
    distinct = set(marks)
    if len(distinct) > 1:
        raise OptionError(
            "some parts are reweighted and some are not, so that masses are not comparable", remedy="add, then reweigh."
        )
    return True in distinct


def _check_cell(name: str, cell: object) -> float | Floats:
    array = np.asarray(cell, dtype=np.float64)
    # Negated, so that NaN, for which every comparison is false, is refused as well.
    if array.size and not (array.min() >= 0 and array.max() < np.inf):
        bad = np.count_nonzero(~(array >= 0) | np.isinf(array))
        raise WeightError(
            f"{bad} of {array.size} values of {name} are negative, NaN or infinite", remedy="give counts ≥ 0."
        )
    return float(array) if array.ndim == 0 else read_only_copy(array)
