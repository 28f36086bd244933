"""Policies as expressions of SQL: what is done with a row, the chance of each action, and the lot where one is drawn.

A lot needs no arithmetic in SQL: u < chance exactly when the hexadecimal digits come before those of the edge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from baserate._lots import DIGITS
from baserate._policy import REFUSE, Policy, spellings
from baserate._tallies import Group
from baserate.apply._cases import Case, When, laid_out
from baserate.apply._dialects import Dialect
from baserate.apply._formulas import number
from baserate.apply._stretches import Stretches, stretches

NOTHING = "NULL"
Expression = str | Case


@dataclass(frozen=True, slots=True)
class Places:
    """Where to find what a policy asks of a row, in SQL: a finite score as a double, groups and the id as text."""

    score: str
    groups: Sequence[str] = ()
    id: str | None = None
    lot: str | None = None
    """Digits of the lot, where they are worked out already."""


def action(policy: Policy, at: Places, say: Dialect, *, refused: str = NOTHING, nameless: str = NOTHING) -> str:
    """What is done with a row whose score fits; `refused` if its group is, `nameless` if its lot needs an id."""
    return laid_out(action_case(policy, at, say, refused=refused, nameless=nameless))


def chance(policy: Policy, of: str, at: Places, say: Dialect, *, refused: str = NOTHING) -> str:
    """Chance of an action, for a row whose score fits."""
    return laid_out(chance_case(policy, of, at, say, refused=refused))


def action_case(
    policy: Policy, at: Places, say: Dialect, *, refused: str = NOTHING, nameless: str | None = None
) -> Expression:
    """What `action` writes, before it is laid out; without `nameless`, every row has an id."""

    def within(found: Stretches) -> Expression:
        return _stepped(found, at.score, [_drawn(policy, found, place, at, say, nameless) for place in _all(found)])

    rest = refused if policy.otherwise == REFUSE else say.literal(policy.otherwise)
    return _by_group(policy, at, say, within, rest)


def chance_case(policy: Policy, of: str, at: Places, say: Dialect, *, refused: str = NOTHING) -> Expression:
    """What `chance` writes, before it is laid out."""

    def within(found: Stretches) -> Expression:
        return _stepped(found, at.score, [number(found.chance(place, of)) for place in _all(found)])

    rest = refused if policy.otherwise == REFUSE else number(float(policy.otherwise == of))
    return _by_group(policy, at, say, within, rest)


def lot_case(policy: Policy, at: Places, say: Dialect) -> Expression:
    """Digits of the lot of a row whose score fits, where the lot decides: nothing else is hashed."""

    def within(found: Stretches) -> Expression:
        return _stepped(found, at.score, [_lot(policy, at, say) if each else NOTHING for each in found.open])

    return _by_group(policy, at, say, within, NOTHING)


def known(group: Group, at: Places, say: Dialect) -> str:
    """Whether a row is of this group."""
    return " AND ".join(_is(place, label, say) for place, label in zip(at.groups, group, strict=True))


def _is(place: str, label: object, say: Dialect) -> str:
    texts = [say.literal(text) for text in spellings(label)]
    return f"{place} = {texts[0]}" if len(texts) == 1 else f"{place} IN ({', '.join(texts)})"


def _by_group(
    policy: Policy, at: Places, say: Dialect, within: Callable[[Stretches], Expression], rest: str
) -> Expression:
    """Groups that are treated alike share a branch; those for whom the rest holds need none."""
    if not policy.needs_group:
        return within(stretches(policy.by_group[()]))
    alike: dict[Expression, list[str]] = {}
    for group, treatment in policy.by_group.items():
        alike.setdefault(within(stretches(treatment)), []).append(known(group, at, say))
    cases = tuple(When(tuple(groups), found) for found, groups in alike.items() if found != rest)
    return Case(cases, rest) if cases else rest


def _all(found: Stretches) -> range:
    return range(len(found.drawn))


def _stepped(found: Stretches, score: str, values: Sequence[Expression]) -> Expression:
    """One value for each stretch, the highest first; neighbours that are alike are one."""
    steps = [(values[0], None), *zip(values[1:], found.at, strict=True)]
    kept = [next(alike) for _, alike in groupby(steps, key=lambda step: step[0])]
    cases = [When((f"{score} >= {number(begin)}",), value) for value, begin in reversed(kept) if begin is not None]
    return Case(tuple(cases), kept[0][0]) if cases else kept[0][0]


def _lot(policy: Policy, at: Places, say: Dialect) -> str:
    return at.lot or say.hashed(f"{say.literal(f'{policy.key}:')} || {at.id}")


def _drawn(policy: Policy, found: Stretches, place: int, at: Places, say: Dialect, nameless: str | None) -> Expression:
    """What is done in a stretch: one thing, or what the lot says."""
    if not found.open[place]:
        return say.literal(found.drawn[place][0])
    assert at.id is not None  # noqa: S101  (whoever asks for places has checked what the policy needs)
    lot = _lot(policy, at, say)
    pairs = zip(found.drawn[place], [*found.edges, None], strict=True)
    kept = [list(alike)[-1] for _, alike in groupby(pairs, key=lambda pair: pair[0])]
    cases = [When((f"{lot} < '{end:0{DIGITS}x}'",), say.literal(name)) for name, end in kept if end is not None]
    absent = [] if nameless is None else [When((f"{at.id} IS NULL",), nameless)]
    return Case((*absent, *cases), say.literal(kept[-1][0]))
