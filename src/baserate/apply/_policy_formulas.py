"""Policies as expressions of SQL: what is done with a row, and the chance of each action.

A lot needs no arithmetic in SQL: u < chance exactly when the hexadecimal digits come before those of the edge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from baserate._cut import Treatment
from baserate._lots import DIGITS
from baserate._map import Map
from baserate._policy import REFUSE, Policy, spellings
from baserate._tallies import Group
from baserate.apply._before import stretches_before
from baserate.apply._dialects import Dialect
from baserate.apply._formulas import number
from baserate.apply._stretches import Stretches

NOTHING = "NULL"


class Branch(NamedTuple):
    """Rows that are treated alike but for where thresholds lie: when they are, what is done, and from where on."""

    when: str
    found: Stretches
    begins: Sequence[str]
    """Thresholds, in SQL."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where to find what a policy asks of a row, in SQL: a finite score as a double, groups and the id as text."""

    score: str
    groups: Sequence[str] = ()
    id: str | None = None
    before: Map | None = None
    """A map that the score has not gone through; only closed forms, others are for the engine to compute."""
    branches: Sequence[Branch] = ()
    """Groups, where an engine has looked them up; otherwise they are asked for one after the other."""


def action(policy: Policy, at: Places, say: Dialect, *, refused: str = NOTHING, nameless: str = NOTHING) -> str:
    """What is done with a row whose score fits; `refused` if its group is, `nameless` if its lot needs an id."""

    def values(found: Stretches) -> list[str]:
        return [_drawn(policy, found, place, at, say, nameless) for place in range(len(found.drawn))]

    rest = refused if policy.otherwise == REFUSE else say.literal(policy.otherwise)
    return _by_group(policy, at, say, values, rest)


def chance(policy: Policy, of: str, at: Places, say: Dialect, *, refused: str = NOTHING) -> str:
    """Chance of an action, for a row whose score fits."""

    def values(found: Stretches) -> list[str]:
        return [number(found.chance(place, of)) for place in range(len(found.drawn))]

    rest = refused if policy.otherwise == REFUSE else number(float(policy.otherwise == of))
    return _by_group(policy, at, say, values, rest)


def by_lot(policy: Policy, at: Places, say: Dialect) -> str:
    """Whether the lot decides about a row whose score fits."""

    def values(found: Stretches) -> list[str]:
        return ["true" if each else "false" for each in found.open]

    return _by_group(policy, at, say, values, "false")


def any_known(groups: Iterable[Group], at: Places, say: Dialect) -> str:
    """Whether a row is of one of these groups."""
    return " OR ".join(f"({known(group, at, say)})" for group in groups)


def known(group: Group, at: Places, say: Dialect) -> str:
    """Whether a row is of this group."""
    return " AND ".join(_is(place, label, say) for place, label in zip(at.groups, group, strict=True))


def _is(place: str, label: object, say: Dialect) -> str:
    texts = [say.literal(text) for text in spellings(label)]
    return f"{place} = {texts[0]}" if len(texts) == 1 else f"{place} IN ({', '.join(texts)})"


def _by_group(policy: Policy, at: Places, say: Dialect, values: Callable[[Stretches], list[str]], rest: str) -> str:
    if not policy.needs_group:
        found = stretches_before(policy.by_group[()], at.before)
        return _stepped([*map(number, found.at)], at.score, values(found))
    branches = at.branches or _asked_for(policy, at, say)
    cases = [f"WHEN {when} THEN {_stepped(begins, at.score, values(found))}" for when, found, begins in branches]
    return f"CASE {' '.join(cases)} ELSE {rest} END"


def _asked_for(policy: Policy, at: Places, say: Dialect) -> list[Branch]:
    """Groups that are treated alike share a branch."""
    alike: dict[Treatment, list[Group]] = {}
    for group, treatment in policy.by_group.items():
        alike.setdefault(treatment, []).append(group)
    found = [stretches_before(treatment, at.before) for treatment in alike]
    whens = [any_known(groups, at, say) for groups in alike.values()]
    return [Branch(when, each, [*map(number, each.at)]) for when, each in zip(whens, found, strict=True)]


def _stepped(begins: Sequence[str], score: str, values: Sequence[str]) -> str:
    """One value for each stretch, the highest first; neighbours that are alike are one."""
    steps = [(values[0], None), *zip(values[1:], begins, strict=True)]
    kept = [next(alike) for _, alike in groupby(steps, key=lambda step: step[0])]
    if len(kept) == 1:
        return kept[0][0]
    cases = [f"WHEN {score} >= {begin} THEN {value}" for value, begin in reversed(kept) if begin is not None]
    return f"CASE {' '.join(cases)} ELSE {kept[0][0]} END"


def _drawn(policy: Policy, found: Stretches, place: int, at: Places, say: Dialect, nameless: str) -> str:
    """What is done in a stretch: one thing, or what the lot says."""
    if not found.open[place]:
        return say.literal(found.drawn[place][0])
    assert at.id is not None  # noqa: S101  (whoever asks for places has checked what the policy needs)
    lot = say.hashed(f"{say.literal(f'{policy.key}:')} || {at.id}")
    pairs = zip(found.drawn[place], [*found.edges, None], strict=True)
    kept = [list(alike)[-1] for _, alike in groupby(pairs, key=lambda pair: pair[0])]
    cases = [f"WHEN {lot} < '{end:0{DIGITS}x}' THEN {say.literal(name)}" for name, end in kept if end is not None]
    return f"CASE WHEN {at.id} IS NULL THEN {nameless} {' '.join(cases)} ELSE {say.literal(kept[-1][0])} END"
