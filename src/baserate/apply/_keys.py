"""Which treatment each row gets: labels of its group, by how they are written, to small numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._policy import Policy, label_text, spellings
from baserate.apply._refused import GroupTexts
from baserate.apply._tables import numbered
from baserate.read import Coded, framed, labels_of, missing_objects, series_of

Numbers = npt.NDArray[np.intp]


class _Step(NamedTuple):
    """What one attribute adds to the number that a row has so far."""

    label: Numbers
    """Number of each label of the column in the policy; unknown and missing ones share the last."""
    to: Numbers
    """New number, by the one so far in rows and the label in columns; what no group begins with is the last."""


@dataclass(frozen=True, slots=True)
class Keys:
    """A small number for each row, and the treatment of each such number.

    Of one attribute it is the code of the label itself, so that nothing is to be computed; −1 is the last entry.
    """

    columns: tuple[Coded, ...]
    steps: tuple[_Step, ...]
    treatments: Numbers

    def of(self, rows: Any) -> Numbers | None:  # noqa: ANN401  (a slice, or numbers of rows)
        """Return the keys of some rows; None if there are no groups."""
        if not self.columns:
            return None
        codes: list[Numbers] = [column.codes[rows].astype(np.intp) for column in self.columns]
        if len(codes) == 1:
            return codes[0]
        found: Numbers = np.zeros(len(codes[0]), dtype=np.intp)
        for each, step in zip(codes, self.steps, strict=True):
            found = step.to[found, step.label.take(each, mode="wrap")]
        return found

    def texts(self, rows: Numbers) -> Mapping[GroupTexts, int]:
        """How the groups of some rows are written, and how many rows each has."""
        codes = np.column_stack([column.codes[rows].astype(np.intp) for column in self.columns])
        texts = [[*map(label_text, column.labels), None] for column in self.columns]
        found: Counter[GroupTexts] = Counter()
        for group, many in zip(*np.unique(codes, axis=0, return_counts=True), strict=True):
            found[tuple(each[at] for each, at in zip(texts, group, strict=True))] += int(many)
        return found


def keys_of(policy: Policy, columns: Sequence[Coded]) -> Keys:
    """Look up the labels of columns, one for each attribute, in a policy."""
    treatment = numbered(policy)
    groups = list(policy.by_group)
    so_far, steps = [0] * len(groups), []
    for place, column in enumerate(columns):
        step, so_far = _step(column, [group[place] for group in groups], so_far)
        steps.append(step)
    treatments = np.full(max(so_far) + 2, len(treatment))
    treatments[so_far] = [treatment[policy.by_group[group]] for group in groups]
    if len(columns) == 1:
        treatments = treatments[steps[0].to[0, steps[0].label]]
    return Keys(tuple(columns), tuple(steps), treatments)


def coded(name: str, given: Any) -> Coded:  # noqa: ANN401  (any column)
    """Labels of a column of groups."""
    column = series_of(name, given)
    if framed(column):
        import narwhals.stable.v2 as nw

        column = column.to_list() if column.dtype == nw.Object else column
    return labels_of(name, column if framed(column) else _apart(column))


def _step(column: Coded, labels: Sequence[object], so_far: Sequence[int]) -> tuple[_Step, list[int]]:
    """Tables of an attribute, from the label of each group and its number so far; and its number afterwards."""
    named = [frozenset(spellings(label)) for label in labels]
    number = {texts: at for at, texts in enumerate(dict.fromkeys(named))}
    written: dict[str | None, int] = {text: at for texts, at in number.items() for text in texts}
    found = [written.get(label_text(label), len(number)) for label in column.labels]
    pairs = [(before, number[texts]) for before, texts in zip(so_far, named, strict=True)]
    after = {pair: at for at, pair in enumerate(dict.fromkeys(pairs))}
    to = np.full((max(so_far) + 2, len(number) + 1), len(after))
    for pair, at in after.items():
        to[pair] = at
    return _Step(np.array([*found, len(number)]), to), [after[pair] for pair in pairs]


def _apart(column: Any) -> Any:  # noqa: ANN401  (an array or a list)
    """Objects of several types as they are written: 1 and True are equal to Python, but not in a file."""
    if isinstance(column, np.ndarray) and column.dtype != object:
        return column
    if len({*map(type, column)} - {NoneType}) < 2:
        return column
    absent = missing_objects(column)
    texts = [None if none else label_text(each) for each, none in zip(column, absent, strict=True)]
    return np.array(texts, dtype=object)
