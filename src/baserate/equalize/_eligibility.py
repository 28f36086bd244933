"""Which groups have enough rows to be compared, and with which reference group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Integral

from baserate._errors import OptionError, UnknownNameError
from baserate._formatting import join_words
from baserate._tally import Group
from baserate.equalize._people import FEW
from baserate.equalize._seen import Seen, View
from baserate.equalize._support import trials_of
from baserate.measure import Measure, about

MIN_SIZE = FEW
"""Trials below which a group is neither tested nor part of a gap: the same number that marks a group as small."""
Reference = object | tuple[object, ...] | Mapping[str, object] | None
"""A reference group: its label, a tuple of labels, a mapping from attribute to label; None is the largest group."""

_UNITS = {"positives": "positives", "negatives": "negatives", "flagged": "flagged rows", "passed": "unflagged rows"}


@dataclass(frozen=True, slots=True)
class Eligibility:
    """One measure of one model: the trials of each group, and which groups have enough of them.

    Trials are the rows on which the measure rests, for example the negatives of a group for its FPR.
    """

    measure: Measure
    trials: Mapping[Group, float]
    rows: Mapping[Group, int]
    min_size: int

    @property
    def groups(self) -> tuple[Group, ...]:
        """Groups that meet the minimum."""
        return tuple(group for group, many in self.trials.items() if many >= self.min_size)

    @property
    def excluded(self) -> tuple[Group, ...]:
        """Groups below the minimum."""
        return tuple(group for group, many in self.trials.items() if many < self.min_size)

    @property
    def largest(self) -> Group:
        """The group with the most rows among those that meet the minimum; among all of them if none does."""
        return max(self.groups or self.trials, key=self.rows.__getitem__)

    def describe(self, group: Group) -> str:
        """Say how many trials a group has: "12 negatives"."""
        needs = about(self.measure).needs if about(self.measure).share else ()
        unit = _UNITS.get(needs[0], "rows") if len(needs) == 1 else "rows"
        return f"{self.trials[group]:g} {unit}"


def check_min_size(min_size: int) -> int:
    """Return the minimum group size; refuse what is no whole number from 1 up."""
    if not isinstance(min_size, Integral) or isinstance(min_size, bool) or min_size < 1:
        raise OptionError(f"min_size is {min_size!r}; expected a whole number of 1 or more. Use 1 to test every group.")
    return int(min_size)


def eligibility_of(seen: Seen, measure: Measure, min_size: int) -> Eligibility:
    """Count the trials of each group of one model for a measure."""
    nouns = {group: seen.parts[group].counts for group in seen.groups}
    rows = {group: seen.parts[group].rows for group in seen.groups}
    return Eligibility(measure, trials_of(measure, nouns, rows), rows, min_size)


def exclusion_notes(view: View, min_size: int) -> list[str]:
    """Name the groups that are below the minimum, once for each measure."""
    notes = []
    for seen in view.seen:
        model = f" ({seen.model})" if len(view.seen) > 1 else ""
        for measure in seen.measures:
            found = eligibility_of(seen, measure, min_size)
            if found.excluded and len(seen.groups) > 1:
                named = join_words([f"{view.told(group)} ({found.describe(group)})" for group in found.excluded])
                notes.append(f"{about(measure).name}{model}: {_consequence(found, named)}")
    return notes


def _consequence(found: Eligibility, named: str) -> str:
    minimum = f"fewer than the minimum of {found.min_size}"
    if not found.groups:
        return f"no group is tested, since each has {minimum}: {named}."
    rest = "" if len(found.groups) > 1 else " One group alone is left, so there is no test."
    return f"excluded from tests and gaps, with {minimum}: {named}.{rest}"


def find_reference(view: View, reference: Reference) -> Group | None:
    """Return the group that was named; None where none was. Labels match exactly, or else by their text."""
    if reference is None:
        return None
    wanted = _labels(view, reference)
    groups = view.seen[0].groups
    for group in groups:
        if group == wanted:
            return group
    by_text = {tuple(map(str, group)): group for group in groups}
    texts = tuple(map(str, wanted))
    if texts in by_text:
        return by_text[texts]
    told = {", ".join(text): group for text, group in by_text.items()}
    near = get_close_matches(", ".join(texts), told, n=1)
    hint = f" Did you mean {view.told(told[near[0]])}?" if near else ""
    known = "; ".join(view.told(group) for group in groups)
    raise UnknownNameError(f"reference is {', '.join(texts)!r}; expected one of: {known}.{hint}")


def _labels(view: View, reference: Reference) -> tuple[object, ...]:
    """Labels of a reference in the order of the attributes."""
    if isinstance(reference, Mapping):
        if set(reference) != set(view.by):
            raise OptionError(
                f"reference names {join_words([repr(name) for name in reference]) or 'no attribute'}; expected a "
                f"label for "
                f"each of: {', '.join(view.by)}."
            )
        return tuple(reference[name] for name in view.by)
    labels = reference if isinstance(reference, tuple) else (reference,)
    if len(labels) != len(view.by):
        raise OptionError(
            f"reference is {reference!r}, {len(labels)} of {len(view.by)} labels; expected one for each of: "
            f"{', '.join(view.by)}. Give a tuple, or a mapping from attribute to label."
        )
    return labels
