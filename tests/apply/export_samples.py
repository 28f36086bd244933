"""Policies of every kind, rows at their thresholds, and the expected actions; shared by tests of exports."""

from collections.abc import Sequence
from math import inf, isfinite, nan, nextafter
from typing import Any, NamedTuple

from hypothesis import strategies as st

from baserate import Cut, Policy, RandomizedCut, UnknownLabelError
from baserate._cut import Treatment
from baserate._policy import spellings

NASTY = ("f", "it's", 'a "b"', "back\\slash", "\\", "\\'", "ö–日本", "two\nlines", "", " ", "%s {x} $1", "--", "😀")
IDS = (
    "",
    "0",
    "007",
    "7",
    str(2**63),
    str(-(2**63)),
    "it's",
    'a "b"',
    "back\\slash",
    "ö日本",
    "two\nlines",
    "a:b",
    "😀",
)


class Sample(NamedTuple):
    """A row: a score, a value for each attribute as text, and an id."""

    score: float | None
    groups: tuple[str | None, ...]
    id: str | None


_names = st.sampled_from(("pass", "flag", "refer", *NASTY[:9])).filter(bool)
_at = st.sampled_from((-inf, -1e300, -2.5, 0.0, 0.1, 0.25, 1 / 3, 0.4, 0.5, 0.6, 0.7, 1.0, 1e-300, 7.5, 1e300, inf))


@st.composite
def cuts(draw: st.DrawFn) -> Cut:
    at = sorted(draw(st.sets(_at, max_size=3)))
    names = draw(st.lists(_names, min_size=len(at) + 1, max_size=len(at) + 1))
    return Cut(tuple(at), tuple(f"{name}+" * (place % 2) or name for place, name in enumerate(names)))


@st.composite
def randomized_cuts(draw: st.DrawFn) -> RandomizedCut:
    several = draw(st.lists(cuts(), min_size=2, max_size=4, unique=True))
    parts = draw(st.lists(st.integers(1, 9), min_size=len(several), max_size=len(several)))
    return RandomizedCut(tuple(several), tuple(part / sum(parts) for part in parts))


labels = st.sampled_from([*NASTY, 1, -3, 2.5, 40.0, True, False]) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4
)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    many = draw(st.integers(0, 2))
    each = [draw(st.lists(labels, min_size=1, max_size=4, unique_by=_first_spelling)) for _ in range(many)]
    groups = [()] if not many else draw(st.lists(st.tuples(*map(st.sampled_from, each)), min_size=1, max_size=4))
    treatments: dict[tuple[object, ...], Treatment] = {group: draw(cuts() | randomized_cuts()) for group in groups}
    return Policy(
        by_group=treatments,
        otherwise=draw(st.sampled_from(["refuse", "pass", "it's"])),
        attributes=("sex", 'the "site"')[:many],
        columns={"score": "my risk", "id": "id"},
    )


def _first_spelling(label: object) -> str:
    """Return the first spelling of a label; a policy refuses labels that share one."""
    return min(text.lower() for text in spellings(label))


@st.composite
def samples(draw: st.DrawFn, policy: Policy) -> list[Sample]:
    """Rows at and beside every threshold, in every spelling of every group, and in unknown groups."""
    at = {at for each in policy.by_group.values() for cut in _cuts(each) for at in cut.thresholds if isfinite(at)}
    near = [each for one in at for each in (one, nextafter(one, -inf), nextafter(one, inf))]
    scores = st.sampled_from([*near, 0.0, 0.45, 1.0, -7.0, 1.7e308, nan, inf, -inf, None]) | st.floats(0, 1)
    places = range(len(policy.attributes))
    known = [[text for group in policy.by_group for text in spellings(group[place])] for place in places]
    groups = st.tuples(*(st.sampled_from([*texts, "other", None]) for texts in known))
    ids = st.sampled_from([*IDS, None, None, None]) | st.integers(-9, 99).map(str)
    rows: list[Sample] = draw(st.lists(st.builds(Sample, scores, groups, ids), min_size=1, max_size=40))
    return rows


def _cuts(treatment: Treatment) -> Sequence[Cut]:
    return treatment.cuts if isinstance(treatment, RandomizedCut) else (treatment,)


def expected_action(policy: Policy, row: Sample) -> str | None:
    """Return the action of a row by `Policy.action`; None where `apply` raises an error."""
    if not _is_decidable(policy, row):
        return None
    try:
        return policy.action(row.score or 0.0, row.groups, id=row.id)
    except UnknownLabelError:
        return None


def expected_chances(policy: Policy, row: Sample) -> list[float | None]:
    """Return the probability of each action; None where `apply` raises an error."""
    if expected_action(policy, row) is None:
        return [None] * len(policy.actions)
    at, result = row.score or 0.0, policy.treatment(row.groups)
    if isinstance(result, RandomizedCut):
        return [result.chances_at(at).get(action, 0.0) for action in policy.actions]
    return [float(action == result.action(at)) for action in policy.actions]


def _is_decidable(policy: Policy, row: Sample) -> bool:
    return row.score is not None and isfinite(row.score) and not (policy.needs_id and row.id is None)


def columns(policy: Policy, rows: Sequence[Sample]) -> dict[str, list[Any]]:
    """Convert rows to columns, with a column of numbers."""
    groups = {name: [row.groups[place] for row in rows] for place, name in enumerate(policy.attributes)}
    rest: dict[str, list[Any]] = {"id": [row.id for row in rows], "row": list(range(len(rows)))}
    return {"my risk": [row.score for row in rows], **groups, **rest}


def check(policy: Policy, rows: Sequence[Sample], result: Sequence[Sequence[Any]]) -> int:
    """Compare the action and its probabilities in each row; return the number of rows."""
    assert len(result) == len(rows)
    for row, (action, *chances) in zip(rows, result, strict=True):
        assert action == expected_action(policy, row), (policy, row)
        assert not chances or chances == expected_chances(policy, row), (policy, row)
    return len(rows)
