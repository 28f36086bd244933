"""What a policy does with every row of columns in memory; only rows whose cuts disagree draw lots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats, Reals, make_read_only
from baserate._cut import FLAG, random_numbers
from baserate._formatting import count_of
from baserate._immutable import FrozenMapping, keep_read_only
from baserate.apply._decision import Decision
from baserate.apply._ids import Ids, checked_ids, texts
from baserate.apply._keys import coded
from baserate.apply._lookup import Lookup
from baserate.apply._refused import shared_ids, unknown_groups
from baserate.apply._tables import NOTHING, OPEN, REFUSED, Codes
from baserate.apply._wrong import SHOWN, Wrong, error
from baserate.read import Coded, Numbers as Scores, Table, length, numbers_in


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Actions:
    """What is done with each row: the number of an action that has a name."""

    codes: Codes
    """Place of the action among the names; −1 where nothing is decided, for want of a score."""
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    """What a reader should know of the rows."""
    chances: Mapping[str, Floats] | None = None
    """Chance of each action, if that was asked for; NaN where nothing is decided."""

    def __repr__(self) -> str:
        many = (f"{name} {np.count_nonzero(self.codes == at)}" for at, name in enumerate(self.names))
        return f"Actions({count_of(len(self), 'row')}: {', '.join(many)})"

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def text(self) -> npt.NDArray[Any]:
        """Name of each action; None where nothing is decided."""
        if self.codes.min(initial=0) < 0:
            return np.array([*self.names, None], dtype=object)[self.codes]
        return np.array(self.names)[self.codes]

    @property
    def flagged(self) -> Bools:
        """Which rows are flagged."""
        at = self.names.index(FLAG) if FLAG in self.names else len(self.names)
        return np.asarray(self.codes == at)


class Given(NamedTuple):
    """Columns that a policy reads, of any kind."""

    scores: Any
    groups: Sequence[Any] = ()
    """One for each attribute."""
    ids: Any = None


def decided(decision: Decision, given: Given) -> Actions:
    """Decide every row, or say which rows cannot be decided, and why."""
    scores, groups, ids = _read(decision, given)
    rows = Lookup.of(decision.policy, scores, groups)
    codes = rows.done()
    notes: tuple[str, ...] = ()
    if codes.min(initial=0) < 0:
        _refuse(decision, rows, codes)
        notes = _draw(decision, rows, codes, ids)
    names = decision.policy.actions
    if len(decision.made) == 1:
        return Actions(make_read_only(codes), names, notes)
    chances = dict(zip(names, map(make_read_only, rows.chances()), strict=True))
    return Actions(make_read_only(codes), names, notes, FrozenMapping(chances))


def _read(decision: Decision, given: Given) -> tuple[Reals, list[Coded], Ids]:
    """Scores as numbers, groups as codes, and ids that were looked at, all of one length."""
    scores = numbers_in(decision.score, given.scores).values
    groups = [coded(name, column) for name, column in zip(decision.groups, given.groups, strict=True)]
    ids = None if decision.id is None else checked_ids(decision.id, given.ids)
    length(Table(dict(zip(decision.groups, groups, strict=True)), {decision.score: Scores(scores)}, ids))
    return scores, groups, ids


def _refuse(decision: Decision, rows: Lookup, codes: Codes) -> None:
    """Refuse rows without a score, unless they are kept, and those of groups that the policy refuses."""
    missing = np.flatnonzero(codes == NOTHING)
    if len(missing) and not decision.keep:
        raise error(Wrong("missing", len(missing), len(codes), (missing[:SHOWN] + 1).tolist()), decision)
    refused = np.flatnonzero(codes == REFUSED)
    if len(refused):
        raise unknown_groups(decision.groups, rows.keys.texts(refused), len(codes))


def _draw(decision: Decision, rows: Lookup, codes: Codes, ids: Ids) -> tuple[str, ...]:
    """Draw the lots of rows whose cuts disagree, and put down what they say; return what is to be noted."""
    open_ = np.flatnonzero(codes == OPEN)
    if not len(open_):
        return ()
    named = texts(ids, open_)
    treatment, stretch = rows.places(open_)
    lot, cut = random_numbers(decision.policy.key, named), np.zeros(len(open_), dtype=np.intp)
    for edges in rows.tables.edges:
        cut += lot >= edges[treatment]
    codes[open_] = rows.tables.drawn[treatment, stretch, cut]
    shared = len(named) - len({*named})
    return (shared_ids(str(decision.id), shared, len(named)),) if shared else ()
