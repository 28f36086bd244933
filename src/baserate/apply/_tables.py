"""A policy as small tables: what is done with a row is looked up by its treatment and its stretch of scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._cut import RANGE, Cut, RandomNumbers, Treatment
from baserate._policy import REFUSE, Policy
from baserate.apply._stretches import Stretches, stretches

Codes = npt.NDArray[np.signedinteger[Any]]
"""Number of an action; or one of those below 0, where there is none."""

NOTHING, REFUSED, OPEN = -1, -2, -3
"""No score; a group that is refused; and what the lot decides."""


class Tables(NamedTuple):
    """What is done with each treatment in each of its stretches; the last treatment is that of all other groups."""

    at: Floats
    """Thresholds, ascending, for each treatment in columns; inf where it has fewer."""
    done: Codes
    """By treatment and stretch: number of the action, or OPEN."""
    edges: RandomNumbers
    """First lot of each cut but the first, for each treatment in columns; beyond all lots where it has fewer."""
    drawn: Codes
    """By treatment, stretch and cut: number of the action."""
    chances: Floats
    """By action, treatment and stretch: its chance."""


def numbered(policy: Policy) -> Mapping[Treatment, int]:
    """Treatments by their numbers, each once."""
    return {treatment: at for at, treatment in enumerate(dict.fromkeys(policy.by_group.values()))}


def tables(policy: Policy) -> Tables:
    """Lay a policy out.

    >>> apart = {("f",): Cut((0.4,)), ("m",): Cut((0.5,))}
    >>> found = tables(Policy(by_group=apart, otherwise="pass", attributes=("sex",)))
    >>> found.at.tolist(), found.done.tolist()
    ([[0.4, 0.5, inf]], [[0, 1], [0, 1], [0, -1]])
    """
    number = {action: at for at, action in enumerate(policy.actions)}
    rest = Cut((), (policy.otherwise if policy.otherwise in number else policy.actions[0],))
    each = [stretches(treatment) for treatment in (*numbered(policy), rest)]
    width, cuts = max(len(one.drawn) for one in each), max(len(one.chances) for one in each)
    kind = np.min_scalar_type(-max(len(number), -OPEN) - 1)
    found = Tables(
        at=np.full((width - 1, len(each)), np.inf),
        done=np.full((len(each), width), NOTHING, dtype=kind),
        edges=np.full((cuts - 1, len(each)), RANGE, dtype=np.uint64),
        drawn=np.full((len(each), width, cuts), NOTHING, dtype=kind),
        chances=np.zeros((len(number), len(each), width)),
    )
    for treatment, one in enumerate(each):
        _fill(found, treatment, one, number)
    if policy.otherwise == REFUSE:
        found.done[-1] = REFUSED
    return found


def _fill(found: Tables, treatment: int, one: Stretches, number: Mapping[str, int]) -> None:
    """Write down what a treatment does."""
    found.at[: len(one.at), treatment] = one.at
    found.edges[: len(one.edges), treatment] = one.edges
    for place, actions in enumerate(one.drawn):
        found.done[treatment, place] = OPEN if one.open[place] else number[actions[0]]
        found.drawn[treatment, place, : len(actions)] = [number[action] for action in actions]
        for action in {*actions}:
            found.chances[number[action], treatment, place] = one.chance(place, action)
