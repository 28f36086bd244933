"""Policies as expressions of SQL: what is done with a row, the chance of each action, and the lot where one is drawn.

A lot needs no arithmetic in SQL: u < chance exactly when the hexadecimal digits come before those of the edge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from baserate._cut import DIGITS, Treatment
from baserate._policy import REFUSE, Policy, spellings
from baserate._tally import Group
from baserate.apply._cases import Case, When, laid_out
from baserate.apply._dialects import Dialect
from baserate.apply._formulas import number
from baserate.apply._stretches import Stretches, stretches

NOTHING = "NULL"
Expression = str | Case
_Values = Callable[[Stretches], Sequence[Expression]]
"""From stretches to a value for each."""


class Branch(NamedTuple):
    """Rows that are treated alike but for where thresholds lie: when they are, what is done, and from where on."""

    any_of: tuple[str, ...]
    found: Stretches
    begins: Sequence[str]
    """Thresholds, in SQL."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where to find what a policy asks of a row, in SQL: a finite score as a double, groups and the id as text."""

    score: str
    groups: Sequence[str] = ()
    id: str | None = None
    lot: str | None = None
    """Digits of the lot, where they are worked out already."""
    branches: Sequence[Branch] = ()
    """Groups, where an engine has looked them up; otherwise they are asked for one after the other."""


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

    def values(found: Stretches) -> list[Expression]:
        return [_drawn(policy, found, place, at, say, nameless) for place in range(len(found.drawn))]

    rest = refused if policy.otherwise == REFUSE else say.action(policy.otherwise)
    return _by_group(policy, at, say, values, rest)


def chance_case(policy: Policy, of: str, at: Places, say: Dialect, *, refused: str = NOTHING) -> Expression:
    """What `chance` writes, before it is laid out."""

    def values(found: Stretches) -> list[Expression]:
        return [number(found.chance(place, of)) for place in range(len(found.drawn))]

    rest = refused if policy.otherwise == REFUSE else number(float(policy.otherwise == of))
    return _by_group(policy, at, say, values, rest)


def lot_case(policy: Policy, at: Places, say: Dialect) -> Expression:
    """Digits of the lot of a row whose score fits, where the lot decides: nothing else is hashed."""

    def values(found: Stretches) -> list[Expression]:
        return [_lot(policy, at, say) if each else NOTHING for each in found.open]

    return _by_group(policy, at, say, values, NOTHING)


def by_lot(policy: Policy, at: Places, say: Dialect) -> str:
    """Whether the lot decides about a row whose score fits."""

    def values(found: Stretches) -> list[Expression]:
        return ["true" if each else "false" for each in found.open]

    return laid_out(_by_group(policy, at, say, values, "false"))


def any_known(groups: Iterable[Group], at: Places, say: Dialect) -> str:
    """Whether a row is of one of these groups."""
    return " OR ".join(f"({known(group, at, say)})" for group in groups)


def known(group: Group, at: Places, say: Dialect) -> str:
    """Whether a row is of this group."""
    return " AND ".join(_is(place, label, say) for place, label in zip(at.groups, group, strict=True))


def _is(place: str, label: object, say: Dialect) -> str:
    texts = [say.literal(text) for text in spellings(label)]
    return f"{place} = {texts[0]}" if len(texts) == 1 else f"{place} IN ({', '.join(texts)})"


def _by_group(policy: Policy, at: Places, say: Dialect, values: _Values, rest: str) -> Expression:
    """What is alike shares a branch; those for whom the rest holds need none."""
    if not policy.needs_group:
        found = stretches(policy.by_group[()])
        return _stepped([*map(number, found.at)], at.score, values(found))
    alike: dict[Expression, list[str]] = {}
    for any_of, found, begins in at.branches or _asked_for(policy, at, say):
        alike.setdefault(_stepped(begins, at.score, values(found)), []).extend(any_of)
    cases = tuple(When(tuple(any_of), done) for done, any_of in alike.items() if done != rest)
    return Case(cases, rest) if cases else rest


def _asked_for(policy: Policy, at: Places, say: Dialect) -> list[Branch]:
    """Branches that ask for groups by their labels."""
    alike: dict[Treatment, list[str]] = {}
    for group, treatment in policy.by_group.items():
        alike.setdefault(treatment, []).append(known(group, at, say))
    each = [(stretches(treatment), tuple(groups)) for treatment, groups in alike.items()]
    return [Branch(groups, found, [*map(number, found.at)]) for found, groups in each]


def _stepped(begins: Sequence[str], score: str, values: Sequence[Expression]) -> Expression:
    """One value for each stretch, the highest first; neighbours that are alike are one."""
    steps = [(values[0], None), *zip(values[1:], begins, strict=True)]
    kept = [next(alike) for _, alike in groupby(steps, key=lambda step: step[0])]
    cases = [When((f"{score} >= {begin}",), value) for value, begin in reversed(kept) if begin is not None]
    return Case(tuple(cases), kept[0][0]) if cases else kept[0][0]


def _lot(policy: Policy, at: Places, say: Dialect) -> str:
    return at.lot or say.hashed(f"{say.literal(f'{policy.key}:')} || {at.id}")


def _drawn(policy: Policy, found: Stretches, place: int, at: Places, say: Dialect, nameless: str | None) -> Expression:
    """What is done in a stretch: one thing, or what the lot says."""
    if not found.open[place]:
        return say.action(found.drawn[place][0])
    assert at.id is not None  # noqa: S101  (whoever asks for places has checked what the policy needs)
    lot = _lot(policy, at, say)
    pairs = zip(found.drawn[place], [*found.edges, None], strict=True)
    kept = [list(alike)[-1] for _, alike in groupby(pairs, key=lambda pair: pair[0])]
    cases = [When((f"{lot} < '{end:0{DIGITS}x}'",), say.action(name)) for name, end in kept if end is not None]
    absent = [] if nameless is None else [When((f"{at.id} IS NULL",), nameless)]
    return Case((*absent, *cases), say.action(kept[-1][0]))
