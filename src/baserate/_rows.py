"""Rows: what a tally forgets, kept for those who need it: which row is which, and what belongs together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Cells, Floats, Reals, frozen
from baserate._errors import ShapeError
from baserate._immutable import FrozenMapping, keep_read_only
from baserate._intake import ReadSummary
from baserate._numeric.codes import places
from baserate._plurals import count_of
from baserate._tallies import Group, Tallies
from baserate._tally import Tally

Column = npt.NDArray[Any]


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rows:
    """Checked columns of equal length: nothing is missing, truth is boolean, groups are numbered.

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
    """What a row is called."""
    cluster: Column | None = None
    """What a row belongs to, a whole number: rows of one cluster are not independent."""
    intake: ReadSummary = field(default_factory=lambda: ReadSummary(read=0))

    def __post_init__(self) -> None:
        scores = {model: frozen(column) for model, column in self.score.items()}
        object.__setattr__(self, "score", FrozenMapping(scores))
        columns = {"truth": self.truth} | {f"score {model}": score for model, score in scores.items()}
        if self.attributes:
            columns["group"] = self.group
        for name in ("weight", "count", "id", "cluster"):
            if getattr(self, name) is not None:
                columns[name] = getattr(self, name)
        if len({column.shape for column in columns.values()}) != 1 or self.truth.ndim != 1:
            told = ", ".join(f"{name} {column.shape}" for name, column in columns.items())
            raise ShapeError(f"the columns have different lengths ({told}); give one value of each for every row.")
        for name in columns.keys() & {"truth", "group", "weight", "count", "id", "cluster"}:
            object.__setattr__(self, name, frozen(columns[name]))

    def __len__(self) -> int:
        return len(self.truth)

    def __repr__(self) -> str:
        groups = f"; {count_of(len(self.groups), 'group')} by {', '.join(self.attributes)}" if self.attributes else ""
        return f"Rows({count_of(len(self), 'row')}; scores: {', '.join(self.score)}{groups})"

    def only(self, there: slice | npt.NDArray[Any]) -> Rows:
        """Some of the rows: those at these places, or where this is true."""
        columns = {name: getattr(self, name) for name in ("weight", "count", "id", "cluster")}
        kept: dict[str, Any] = {name: None if each is None else each[there] for name, each in columns.items()}
        score = {model: each[there] for model, each in self.score.items()}
        group = self.group[there] if self.attributes else self.group
        return replace(self, truth=self.truth[there], score=score, group=group, **kept)

    def tallies(self) -> Tallies:
        """Forget which row is which."""
        places = self._places()
        models = {
            model: {group: self._tally(self.truth, score, place) for group, place in places.items()}
            for model, score in self.score.items()
        }
        return Tallies(models, self.attributes, self.intake, self._decisions())

    def _decisions(self) -> dict[str, Tally]:
        """Where predicted labels sit among the scores; nowhere if they were left behind."""
        predicted = self.intake.columns.get("predicted")
        if not isinstance(predicted, str) or predicted not in self.score:
            return {}
        flagged = self.score[predicted] > 0
        return {
            model: self._tally(flagged, score, slice(None)) for model, score in self.score.items() if model != predicted
        }

    def _places(self) -> dict[Group, slice | npt.NDArray[np.intp]]:
        """Which rows belong to each group."""
        if not self.attributes:
            return {(): slice(None)}
        return dict(zip(self.groups, places(self.group, len(self.groups)), strict=True))

    def _tally(self, truth: Bools, score: Reals, place: slice | npt.NDArray[np.intp]) -> Tally:
        weight, count = (None if column is None else column[place] for column in (self.weight, self.count))
        return Tally.of_rows(truth[place], score[place], weight=weight, count=count)
