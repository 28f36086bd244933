"""Policy lookup: a policy as tables of score ranges, in which rows are looked up by group and score.

`score_ranges` divides scores into ranges; `build_tables` lays the ranges of all treatments out; `find_keys` numbers the
groups of rows; `PolicyLookup` combines them, block by block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from sys import float_info
from types import NoneType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats, Reals
from baserate._cut import RANGE, Cut, RandomizedCut, RandomNumbers, Treatment, certain_share
from baserate._numeric.cumulative import cache_blocks
from baserate._policy import REFUSE, Policy, label_text, spellings
from baserate.apply._task import GroupTexts
from baserate.read import LabelCodes, as_series, encode_labels, is_series, missing_objects

Codes = npt.NDArray[np.signedinteger[Any]]
"""Number of an action; or one of the negative codes, where there is none."""
Integers = npt.NDArray[np.intp]

NO_SCORE, REFUSED_GROUP, RANDOM = -1, -2, -3
"""Codes for a missing score, a group that the policy refuses, and an action that a random number selects."""
_MAX_COMPARISONS = 16
"""Up to this many thresholds, comparing each row with all of them is quicker than a lookup."""


@dataclass(frozen=True, slots=True)
class ScoreRanges:
    """Score ranges of a cut or a randomized cut: finite thresholds, ascending, and the actions between them."""

    thresholds: tuple[float, ...]
    """Finite thresholds, ascending."""
    actions: tuple[tuple[str, ...], ...]
    """For each range, lowest first: the action that all cuts take, or the action of each cut."""
    edges: tuple[int, ...] = ()
    """First random number of each cut except the first."""
    chances: tuple[float, ...] = (1.0,)
    """Probability of each cut."""

    @property
    def is_random(self) -> tuple[bool, ...]:
        """For each range, whether a random number selects the action."""
        return tuple(len(actions) > 1 for actions in self.actions)

    def chance(self, place: int, action: str) -> float:
        """Return the probability of an action in a range."""
        if not self.is_random[place]:
            return float(self.actions[place][0] == action)
        pairs = zip(self.actions[place], self.chances, strict=True)
        return certain_share([chance for each, chance in pairs if each == action], len(self.chances))


def score_ranges(treatment: Treatment) -> ScoreRanges:
    """Divide finite scores into ranges with the same actions.

    >>> from baserate import Cut
    >>> ranges = score_ranges(RandomizedCut((Cut((0.4,)), Cut((0.7,))), (0.5, 0.5)))
    >>> ranges.thresholds, ranges.actions
    ((0.4, 0.7), (('pass',), ('flag', 'pass'), ('flag',)))
    """
    cuts = treatment.cuts if isinstance(treatment, RandomizedCut) else (treatment,)
    lowest = -float_info.max
    # No finite score is below the lowest float: a threshold there, or at −inf, has no range below it.
    begins = [lowest, *sorted({at for cut in cuts for at in cut.thresholds if isfinite(at) and at > lowest})]
    steps = [(at, _merge_actions(tuple(cut.action(at) for cut in cuts))) for at in begins]
    # A threshold at which no action changes is not a boundary.
    distinct = [step for place, step in enumerate(steps) if not place or step[1] != steps[place - 1][1]]
    at, actions = tuple(at for at, _ in distinct[1:]), tuple(actions for _, actions in distinct)
    if isinstance(treatment, RandomizedCut):
        return ScoreRanges(at, actions, treatment.edges, treatment.chances)
    return ScoreRanges(at, actions)


def _merge_actions(actions: tuple[str, ...]) -> tuple[str, ...]:
    return actions[:1] if len({*actions}) == 1 else actions


class PolicyTables(NamedTuple):
    """Actions by treatment and score range; the last treatment is that of all other groups."""

    at: Floats
    """Thresholds, ascending, with a column for each treatment; inf where it has fewer."""
    actions: Codes
    """By treatment and range: number of the action, or RANDOM."""
    edges: RandomNumbers
    """First random number of each cut except the first, with a column for each treatment; beyond all where fewer."""
    cut_actions: Codes
    """By treatment, range and cut: number of the action."""
    chances: Floats
    """By action, treatment and range: its probability."""


def number_treatments(policy: Policy) -> Mapping[Treatment, int]:
    """Number the distinct treatments of a policy."""
    return {treatment: at for at, treatment in enumerate(dict.fromkeys(policy.by_group.values()))}


def build_tables(policy: Policy) -> PolicyTables:
    """Lay a policy out as tables.

    >>> by_sex = {("f",): Cut((0.4,)), ("m",): Cut((0.5,))}
    >>> tables = build_tables(Policy(by_group=by_sex, otherwise="pass", attributes=("sex",)))
    >>> tables.at.tolist(), tables.actions.tolist()
    ([[0.4, 0.5, inf]], [[0, 1], [0, 1], [0, -1]])
    """
    number = {action: at for at, action in enumerate(policy.actions)}
    otherwise = Cut((), (policy.otherwise if policy.otherwise in number else policy.actions[0],))
    ranges = [score_ranges(treatment) for treatment in (*number_treatments(policy), otherwise)]
    width, cuts = max(len(each.actions) for each in ranges), max(len(each.chances) for each in ranges)
    # One bit more than the numbers need, for the negative codes.
    kind = np.min_scalar_type(-max(len(number), -RANDOM) - 1)
    tables = PolicyTables(
        at=np.full((width - 1, len(ranges)), np.inf),
        actions=np.full((len(ranges), width), NO_SCORE, dtype=kind),
        edges=np.full((cuts - 1, len(ranges)), RANGE, dtype=np.uint64),
        cut_actions=np.full((len(ranges), width, cuts), NO_SCORE, dtype=kind),
        chances=np.zeros((len(number), len(ranges), width)),
    )
    for treatment, each in enumerate(ranges):
        _fill_tables(tables, treatment, each, number)
    if policy.otherwise == REFUSE:
        tables.actions[-1] = REFUSED_GROUP
    return tables


def _fill_tables(tables: PolicyTables, treatment: int, ranges: ScoreRanges, number: Mapping[str, int]) -> None:
    """Enter the actions of one treatment."""
    tables.at[: len(ranges.thresholds), treatment] = ranges.thresholds
    tables.edges[: len(ranges.edges), treatment] = ranges.edges
    for place, actions in enumerate(ranges.actions):
        tables.actions[treatment, place] = RANDOM if ranges.is_random[place] else number[actions[0]]
        tables.cut_actions[treatment, place, : len(actions)] = [number[action] for action in actions]
        for action in {*actions}:
            tables.chances[number[action], treatment, place] = ranges.chance(place, action)


class _KeyStep(NamedTuple):
    """Tables of one attribute, which combine its label with the key so far."""

    label: Integers
    """Number of each label of the column in the policy; unknown and missing ones share the last."""
    to: Integers
    """New key, by the key so far in rows and the label in columns; combinations of no group share the last."""


@dataclass(frozen=True, slots=True)
class GroupKeys:
    """Group keys: a small number for each row, and the treatment of each key.

    With one attribute the key is the code of the label itself, so that nothing is computed; −1 is the last entry.
    """

    columns: tuple[LabelCodes, ...]
    steps: tuple[_KeyStep, ...]
    treatments: Integers

    def of(self, rows: Any) -> Integers | None:  # noqa: ANN401  (a slice, or numbers of rows)
        """Return the keys of some rows; None if there are no groups."""
        if not self.columns:
            return None
        codes: list[Integers] = [column.codes[rows].astype(np.intp) for column in self.columns]
        if len(codes) == 1:
            return codes[0]
        keys: Integers = np.zeros(len(codes[0]), dtype=np.intp)
        for each, step in zip(codes, self.steps, strict=True):
            # Wrapping around makes −1, a missing label, the last entry.
            keys = step.to[keys, step.label.take(each, mode="wrap")]
        return keys

    def texts(self, rows: Integers) -> Mapping[GroupTexts, int]:
        """Return the spellings of the groups of some rows, and how many rows each has."""
        codes = np.column_stack([column.codes[rows].astype(np.intp) for column in self.columns])
        # Code −1, a missing label, is the last text: None.
        texts = [[*map(label_text, column.labels), None] for column in self.columns]
        counts: Counter[GroupTexts] = Counter()
        for group, count in zip(*np.unique(codes, axis=0, return_counts=True), strict=True):
            counts[tuple(each[at] for each, at in zip(texts, group, strict=True))] += int(count)
        return counts


def find_keys(policy: Policy, columns: Sequence[LabelCodes]) -> GroupKeys:
    """Look up the labels of columns, one for each attribute, in a policy."""
    treatment = number_treatments(policy)
    groups = list(policy.by_group)
    keys, steps = [0] * len(groups), []
    for place, column in enumerate(columns):
        step, keys = _key_step(column, [group[place] for group in groups], keys)
        steps.append(step)
    treatments = np.full(max(keys) + 2, len(treatment))
    treatments[keys] = [treatment[policy.by_group[group]] for group in groups]
    if len(columns) == 1:
        treatments = treatments[steps[0].to[0, steps[0].label]]
    return GroupKeys(tuple(columns), tuple(steps), treatments)


def encode_groups(name: str, values: Any) -> LabelCodes:  # noqa: ANN401  (any column)
    """Encode the labels of a group column as small numbers."""
    column = as_series(name, values)
    if is_series(column):
        import narwhals.stable.v2 as nw

        column = column.to_list() if column.dtype == nw.Object else column
    return encode_labels(name, column if is_series(column) else _distinguish_types(column))


def _key_step(column: LabelCodes, labels: Sequence[object], keys: Sequence[int]) -> tuple[_KeyStep, list[int]]:
    """Return the tables of an attribute, from the label and key of each group; and the keys of groups afterwards."""
    texts_of_groups = [frozenset(spellings(label)) for label in labels]
    number = {texts: at for at, texts in enumerate(dict.fromkeys(texts_of_groups))}
    by_text: dict[str | None, int] = {text: at for texts, at in number.items() for text in texts}
    label_numbers = [by_text.get(label_text(label), len(number)) for label in column.labels]
    pairs = [(key, number[texts]) for key, texts in zip(keys, texts_of_groups, strict=True)]
    new_keys = {pair: at for at, pair in enumerate(dict.fromkeys(pairs))}
    # One row and one column more, for keys and labels of no group.
    to = np.full((max(keys) + 2, len(number) + 1), len(new_keys))
    for pair, at in new_keys.items():
        to[pair] = at
    return _KeyStep(np.array([*label_numbers, len(number)]), to), [new_keys[pair] for pair in pairs]


def _distinguish_types(column: Any) -> Any:  # noqa: ANN401  (an array or a list)
    """Replace objects of several types by their text: 1 and True are equal in Python, but not in a file."""
    if isinstance(column, np.ndarray) and column.dtype != object:
        return column
    if len({*map(type, column)} - {NoneType}) < 2:
        return column
    absent = missing_objects(column)
    texts = [None if none else label_text(each) for each, none in zip(column, absent, strict=True)]
    return np.array(texts, dtype=object)


_Entries = Callable[[slice], npt.NDArray[Any]]
"""From a block of rows to their entries in a table."""


class PolicyLookup(NamedTuple):
    """Scores and group keys of rows, and the tables in which they are looked up."""

    scores: Reals
    keys: GroupKeys
    tables: PolicyTables
    at: Floats
    """Thresholds, with a column for each key."""

    @staticmethod
    def of(policy: Policy, scores: Reals, groups: Sequence[LabelCodes]) -> PolicyLookup:
        """Build the tables of a policy, and the keys of rows."""
        tables, keys = build_tables(policy), find_keys(policy, groups)
        return PolicyLookup(scores, keys, tables, tables.at[:, keys.treatments])

    def actions(self) -> Codes:
        """Return the action of each row; NO_SCORE where the score is missing."""
        few = len(self.keys.columns) < 2 and self.at.size <= _MAX_COMPARISONS
        # Comparisons add up actions as bytes.
        compare = few and self.tables.actions.dtype == np.int8
        entries = _compare_entries(self) if compare else _take_entries(self, self.tables.actions)
        return self._fill(entries, self.tables.actions.dtype, NO_SCORE)

    def chances(self) -> list[Floats]:
        """Return the probability of each action; NaN where the score is missing."""
        return [self._fill(_take_entries(self, each), each.dtype, np.nan) for each in self.tables.chances]

    def places(self, rows: Integers) -> tuple[Integers, Integers]:
        """Return the treatment and the score range of some rows."""
        # Division rounds down, so that the key of a missing label stays −1.
        key, score_range = np.divmod(self.cells(rows), self.tables.actions.shape[1])
        return self.keys.treatments[key], score_range

    def cells(self, rows: Any) -> Integers:  # noqa: ANN401  (a slice, or numbers of rows)
        """Return the cell of some rows: the key times the number of ranges, plus the range."""
        scores, key = self.scores[rows], self.keys.of(rows)
        if key is None:
            cells: Integers = np.zeros(len(scores), dtype=np.intp)
            for at in self.at:
                cells += scores >= at[0]
            return cells
        cells = key * self.tables.actions.shape[1]
        for at in self.at:
            # Wrapping around makes −1 the last entry, and is quicker than checking bounds.
            cells += scores >= at.take(key, mode="wrap")
        return cells

    def _fill(self, entries: _Entries, kind: np.dtype[Any], missing: float) -> npt.NDArray[Any]:
        column = np.empty(len(self.scores), dtype=kind)
        # One block after the other: threads were measured, and only wait for each other here.
        for place in cache_blocks(len(column)):
            finite = np.isfinite(self.scores[place])
            column[place] = entries(place)
            if not finite.all():
                column[place][~finite] = missing
        return column


def _take_entries(lookup: PolicyLookup, table: npt.NDArray[Any]) -> _Entries:
    """Return entries of a table by treatment and score range."""
    flat = table[lookup.keys.treatments].reshape(-1)
    return lambda place: flat.take(lookup.cells(place), mode="wrap")


def _compare_entries(lookup: PolicyLookup) -> _Entries:
    """Return actions where keys are few: every row is compared with all thresholds, in vector registers."""
    actions = lookup.tables.actions[lookup.keys.treatments]
    # Differences from range to range, and from the action of all other groups. Where a difference is too large for the
    # type it wraps around, and the sum wraps back.
    otherwise = actions[-1, 0]
    first, steps = actions[:, 0] - otherwise, np.diff(actions, axis=1)

    def difference(scores: Reals, key: int) -> Codes:
        codes: Codes = np.full(len(scores), first[key])
        for at, step in zip(lookup.at[:, key], steps[key], strict=True):
            codes += (scores >= at).view(np.int8) * step
        return codes

    def entries(place: slice) -> Codes:
        scores = lookup.scores[place]
        result: Codes = np.full(len(scores), otherwise)
        if not lookup.keys.columns:
            result += difference(scores, 0)
            return result
        labels = lookup.keys.columns[0].codes[place]
        for key in range(len(actions) - 1):
            own = difference(scores, key)
            own *= (labels == key).view(np.int8)
            result += own
        return result

    return entries
