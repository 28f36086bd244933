"""What a policy does with any rows: a table for each action, of everybody and of each group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from baserate._counts import Counts, combine_counts
from baserate._curve import Curve
from baserate._cut import Treatment, merge_tables
from baserate._errors import OptionError, UnknownLabelError, UnknownNameError
from baserate._policy import Policy, label_text
from baserate._tally import Group, Tallies, Tally
from baserate.measure import check_tallies
from baserate.read import ordered

Each = TypeVar("Each")
Tables = dict[str, Counts[float]]
"""Action -> those who can be expected to get it, against all others."""


class Part(NamedTuple):
    """What a policy does with some rows."""

    tallies: tuple[Tally, ...]
    tables: Tables
    nobody: Counts[float]
    """The table in which nobody is flagged."""
    treatment: Treatment | None
    """None where groups are treated differently."""

    @property
    def tally(self) -> Tally:
        """All of its rows."""
        return self.tallies[0] if len(self.tallies) == 1 else Tally.sum(self.tallies)

    @property
    def counts(self) -> Counts[float]:
        """The 2×2 table of what is passed and flagged; what is referred is in none of its cells."""
        return merge_tables(self.tables, nobody=self.nobody)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(map(_rows, self.tallies))


def tables(tallies: Tallies, policy: Policy, *, model: str | None = None) -> dict[Group | None, Tables]:
    """Count what a policy does: a 2×2 table for each action, of those who get it against all others.

    The key None holds everybody; each group follows if the rows were read in groups, which may be finer than those of
    the policy. Of a lottery the tables are those that can be expected. `model` is needed where there are several.

    >>> from baserate import Cut, Policy, decide, read
    >>> people = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1], "sex": ["f", "f", "m", "m"]}
    >>> t = read.tallies(people, truth="sick", score="risk", group="sex")
    >>> apart = Policy(by_group={("f",): Cut((0.7,)), ("m",): Cut((0.3,))}, otherwise="refuse", attributes=("sex",))
    >>> found = decide.tables(t, apart)
    >>> found[None]["flag"], found["m",]["flag"]
    (Counts(tp=2.0, fp=0.0, fn=0.0, tn=2.0), Counts(tp=1.0, fp=0.0, fn=0.0, tn=1.0))
    """
    found = evaluated(tallies, policy, model_of(tallies, model))
    return {group: part.tables for group, part in found.items()}


def model_of(tallies: Tallies, given: str | None) -> str:
    """Name of the model: the one that is given, or else the only one."""
    check_tallies(tallies)
    known = ", ".join(tallies.models)
    if given is None and len(tallies.models) > 1:
        raise OptionError(f"there are several models ({known}), and a policy is of one; say which with model=.")
    name = next(iter(tallies.models)) if given is None else given
    if name not in tallies.models:
        raise UnknownNameError(f"there is no model {name!r}. There are: {known}.")
    return name


def evaluated(
    tallies: Tallies, policy: Policy, model: str, *, by: Sequence[str] | None = None
) -> dict[Group | None, Part]:
    """Say what a policy does with everybody (None), and with each group by these attributes, otherwise by all."""
    chosen = _treatments(tallies, policy, model)
    each = {group: _part(policy, chosen[group], tally) for group, tally in tallies.models[model].items()}
    found: dict[Group | None, Part] = {None: _together(list(each.values()))}
    attributes = tallies.attributes if by is None else tuple(by)
    if attributes:
        found |= {group: _together(several) for group, several in _apart(tallies, each, attributes).items()}
    return found


def same(tallies: Tallies, policy: Policy, model: str) -> bool:
    """Whether a policy was chosen on these very rows: all together, or in groups."""
    return policy.chosen_on is not None and policy.chosen_on in _digests(tallies, policy, model)


def _digests(tallies: Tallies, policy: Policy, model: str) -> Iterator[str]:
    alone = Tallies({model: tallies.models[model]}, tallies.attributes)
    yield alone.pooled(model).digest
    yield alone.digest
    apart = _apart(tallies, tallies.models[model], policy.attributes)
    coarser = {group: Tally.sum(several) for group, several in apart.items()}
    yield Tallies({model: coarser}, policy.attributes).digest


def _treatments(tallies: Tallies, policy: Policy, model: str) -> dict[Group, Treatment]:
    """What is done with each group of the tallies; those that are refused are named together."""
    places = _places(tallies, policy.attributes)
    found: dict[Group, Treatment] = {}
    refused: dict[tuple[str | None, ...], int] = {}
    for group, tally in tallies.models[model].items():
        asked = _picked(group, places)
        try:
            found[group] = policy.treatment(asked)
        except UnknownLabelError:
            texts = tuple(map(label_text, asked))
            refused[texts] = refused.get(texts, 0) + _rows(tally)
    if refused:
        from baserate.apply import unknown_groups

        raise unknown_groups(policy.attributes, refused, sum(map(_rows, tallies.models[model].values())))
    return found


def _places(tallies: Tallies, attributes: Sequence[str]) -> list[int]:
    """Where attributes stand among those of the tallies."""
    lacking = [name for name in attributes if name not in tallies.attributes]
    if lacking:
        there = f"by {', '.join(tallies.attributes)} alone" if tallies.attributes else "without groups"
        raise OptionError(
            f"groups by {', '.join(lacking)} are needed, and the rows were read {there}; read them with "
            f"group={lacking[0] if len(lacking) == 1 else lacking!r}."
        )
    return [tallies.attributes.index(name) for name in attributes]


def _apart(tallies: Tallies, groups: Mapping[Group, Each], attributes: Sequence[str]) -> dict[Group, list[Each]]:
    """What there is of each group by some attributes, in the order in which reading puts them."""
    places = _places(tallies, attributes)
    found: dict[Group, list[Each]] = {}
    for group, each in groups.items():
        found.setdefault(_picked(group, places), []).append(each)
    if tuple(attributes) == tallies.attributes:
        return found
    order = {group: place for place, group in enumerate(ordered(found))}
    return dict(sorted(found.items(), key=lambda item: order[item[0]]))


def _picked(group: Group, places: Sequence[int]) -> Group:
    return tuple(group[at] for at in places)


def _rows(tally: Tally) -> int:
    return int(tally.rows.sum(dtype=np.int64))


def _part(policy: Policy, treatment: Treatment, tally: Tally) -> Part:
    curve = Curve(tally)
    nobody, own = curve.at(np.inf), treatment.tables(curve)
    return Part((tally,), {action: own.get(action, nobody) for action in policy.actions}, nobody, treatment)


def _together(parts: Sequence[Part]) -> Part:
    first = parts[0]
    if len(parts) == 1:
        return first
    added = {action: combine_counts([part.tables[action] for part in parts]) for action in first.tables}
    alike = all(part.treatment == first.treatment for part in parts)
    tallies = tuple(tally for part in parts for tally in part.tallies)
    return Part(tallies, added, combine_counts([part.nobody for part in parts]), first.treatment if alike else None)
