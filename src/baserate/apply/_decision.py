"""What is asked for where a policy decides: which columns it reads, and what the new ones are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict, Unpack

from baserate._errors import OptionError
from baserate._formatting import count_of
from baserate._policy import Policy
from baserate.apply._task import check_new
from baserate.read import check_there

ACTION = "action"


class ColumnsOfPolicy(TypedDict, total=False):
    """Columns that a policy reads and makes, as keywords."""

    score: str | None
    group: str | Sequence[str] | None
    id: str | None
    to: str | None
    chances: bool


class AskedOfPolicy(ColumnsOfPolicy, total=False):
    """Options of those who apply a policy, as keywords."""

    missing: Literal["refuse", "keep"]


_OPTIONS = tuple(AskedOfPolicy.__annotations__)


@dataclass(frozen=True, slots=True)
class Decision:
    """A policy, the columns that it reads, and those that it makes."""

    policy: Policy
    score: str
    groups: tuple[str, ...]
    """One for each attribute."""
    id: str | None
    """None where no lot is drawn."""
    made: tuple[str, ...]
    """The action, then the chance of each if that was asked for."""
    keep: bool
    """Whether a row without a score stays, with nothing in the new columns, instead of being refused."""

    @staticmethod
    def of(policy: Policy, **asked: Unpack[AskedOfPolicy]) -> Decision:
        """Check the keywords and fill in the rest."""
        unknown = asked.keys() - {*_OPTIONS}
        if unknown:
            raise OptionError(f"{min(unknown)} is no option for a policy; there are: {', '.join(_OPTIONS)}.")
        missing = asked.get("missing", "refuse")
        if missing not in ("refuse", "keep"):
            raise OptionError(f"missing is {missing!r}; it is 'refuse' or 'keep'.")
        score = asked.get("score") or policy.columns.get("score")
        if not score:
            raise OptionError('the policy does not know which column holds the scores; name it, such as score="risk".')
        name = asked.get("to") or ACTION
        made = (name, *(f"{name}_chance_{each}" for each in policy.actions if asked.get("chances")))
        groups, id_ = _groups(policy, asked.get("group")), _id(policy, asked.get("id"))
        return Decision(policy, score, groups, id_, made, missing == "keep")

    @property
    def scores(self) -> tuple[str, ...]:
        """Columns that hold scores: one."""
        return (self.score,)

    @property
    def used(self) -> tuple[str, ...]:
        """All columns that are read, each once."""
        return tuple(dict.fromkeys([self.score, *self.groups, *([] if self.id is None else [self.id])]))

    def check(self, there: Sequence[object], *, capitals: bool = True) -> None:
        """See that what is read is there, and the new names are not; without `capitals` a is A."""
        for name in self.used:
            check_there(name, there)
        check_new(self.made, there, capitals=capitals)


def _groups(policy: Policy, given: str | Sequence[str] | None) -> tuple[str, ...]:
    if given is None:
        return policy.attributes
    named = (given,) if isinstance(given, str) else tuple(given)
    if len(named) != len(policy.attributes):
        asked = ", ".join(policy.attributes) or "no group"
        raise OptionError(
            f"group names {count_of(len(named), 'column')}; this policy asks for {asked}: name one for each."
        )
    return named


def _id(policy: Policy, given: str | None) -> str | None:
    """Name of the column of ids, if lots are drawn; a name that is not needed is no slip."""
    if not policy.needs_id:
        return None
    found = policy.columns.get("id") if given is None else given
    if not found:
        raise OptionError(
            'this policy draws lots, which the ids of rows decide; name their column, such as id="patient". '
            "Without ids there is no lottery."
        )
    return found
