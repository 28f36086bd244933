"""Strategies for policies, rows at their thresholds, and the expected actions; shared by tests."""

from collections.abc import Sequence
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from baserate import Cut, Policy, RandomizedCut
from baserate._cut import Treatment
from baserate._policy import REFUSE

Group = tuple[object, ...]

ACTIONS = ("pass", "refer", "flag", "call back", "it's “no”")
ATTRIBUTES = ("sex", "age group")
LABELS: tuple[tuple[object, ...], ...] = (
    ("f", "m", "", "ü", "it's", 'a "b"', "a,b", "007", "x\ny"),
    (0, 1, -3, 2**53 + 1),
    (True, False),
    (0.5, 1.0, -2.25, 1e300),
)
"""Labels of one column, by their type."""
AWKWARD = (
    "",
    "7",
    "007",
    " 7",
    "it's",
    'a "b"',
    "\\",
    "%s",
    "a:b",
    "ü",
    "u\u0308",
    "Ωmega",
    "😀",
    "a\x00b",
    "x\ny",
    str(2**63),
)
WHOLE = (0, 7, -7, 2**53 + 1, 2**63 - 1)


class PolicyCase(NamedTuple):
    """A policy and rows that it can decide."""

    policy: Policy
    scores: list[float]
    groups: list[Group]
    """One for each row; empty tuples for a policy without attributes."""
    ids: list[Any]

    @property
    def columns(self) -> dict[str, list[Any]]:
        """Columns of a frame: risk, who, and the attributes."""
        labels = {name: [group[at] for group in self.groups] for at, name in enumerate(self.policy.attributes)}
        return {"who": self.ids, "risk": self.scores, **labels}

    @property
    def arrays(self) -> dict[str, Any]:
        """Keyword arguments of `apply.actions`."""
        group = {name: self.columns[name] for name in self.policy.attributes}
        return {"group": group or None, "id": self.ids}

    @property
    def expected_actions(self) -> list[str]:
        """Expected action of each row."""
        rows = zip(self.scores, self.groups, self.ids, strict=True)
        return [self.policy.action(score, group, id=id_) for score, group, id_ in rows]

    def select(self, rows: Sequence[int]) -> "PolicyCase":
        """Select rows by their positions."""
        parts: list[list[Any]] = [[column[at] for at in rows] for column in (self.scores, self.groups, self.ids)]
        return PolicyCase(self.policy, *parts)


_threshold = st.sampled_from([-inf, -1.5, 0.0, 5e-324, 0.25, 0.5, 0.75, 1.0, inf]) | st.floats(-2, 2)


@st.composite
def cuts(draw: st.DrawFn) -> Cut:
    """Cuts of up to four thresholds; neighboring actions differ, and `flag` may come before `pass`."""
    thresholds = sorted(draw(st.sets(_threshold, max_size=4)))
    actions = [draw(st.sampled_from(ACTIONS))]
    for _ in thresholds:
        actions.append(draw(st.sampled_from([each for each in ACTIONS if each != actions[-1]])))
    return Cut(tuple(thresholds), tuple(actions))


@st.composite
def randomized_cuts(draw: st.DrawFn) -> RandomizedCut:
    """Randomized cuts of two or three cuts."""
    several = draw(st.lists(cuts(), min_size=2, max_size=3, unique=True))
    weights = draw(st.lists(st.integers(1, 1000), min_size=len(several), max_size=len(several)))
    return RandomizedCut(tuple(several), tuple(each / sum(weights) for each in weights))


treatments: st.SearchStrategy[Treatment] = cuts() | randomized_cuts()


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Policies of up to two attributes, for some of their groups."""
    attributes = ATTRIBUTES[: draw(st.integers(0, len(ATTRIBUTES)))]
    kinds = [draw(st.sampled_from(LABELS)) for _ in attributes]
    one = st.tuples(*(st.sampled_from(kind) for kind in kinds))
    groups = draw(st.lists(one, min_size=1, max_size=5, unique=True))
    return Policy(
        by_group={group: draw(treatments) for group in groups},
        otherwise=draw(st.sampled_from([REFUSE, "refer", "look again"])),
        attributes=attributes,
        columns={"score": "risk", "id": "who"},
    )


def _kind(labels: Sequence[object]) -> tuple[object, ...]:
    """Return all labels of the same type."""
    return next(kind for kind in LABELS if type(kind[0]) is type(labels[0]))


def edges(policy: Policy) -> list[float]:
    """Return scores at and beside every threshold, and extreme ones."""
    every = [
        each
        for result in policy.by_group.values()
        for each in (result.cuts if isinstance(result, RandomizedCut) else [result])
    ]
    at = [each for cut in every for each in cut.thresholds if isfinite(each)]
    return [*at, *(float(np.nextafter(each, side)) for each in at for side in (-inf, inf)), -0.0, 1e300, -1e300]


@st.composite
def cases(draw: st.DrawFn, *, max_size: int = 25) -> PolicyCase:
    """Policies with rows: scores near thresholds, known and unknown groups, and ids of one type."""
    policy = draw(policies())
    size = draw(st.integers(1, max_size))

    def column(each: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(each, min_size=size, max_size=size))

    groups = st.sampled_from(list(policy.by_group))
    if policy.otherwise != REFUSE:
        strange = [_kind([group[at] for group in policy.by_group]) for at in range(len(policy.attributes))]
        groups |= st.tuples(*(st.sampled_from([*labels, None]) for labels in strange))
    ids = draw(
        st.sampled_from(
            [
                st.sampled_from(AWKWARD) | st.text(st.characters(codec="utf-8"), max_size=5),
                st.sampled_from(WHOLE) | st.integers(-(2**63), 2**63 - 1),
            ]
        )
    )
    return PolicyCase(policy, column(st.sampled_from(edges(policy)) | st.floats(-3, 3)), column(groups), column(ids))
