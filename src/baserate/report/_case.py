"""Case: what numbers are made of, and who they are of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from baserate._policy import Policy
from baserate._tally import Group, Tallies, Tally
from baserate.measure import named_group
from baserate.report._gather import Gathered
from baserate.report._plan import Plan
from baserate.report._report import Where

Row = dict[str, Any]


class Part(NamedTuple):
    """One model, everybody or a group, here or where it will be used."""

    model: str
    group: Group | None
    where: Where
    tally: Tally
    fixed: Row
    """What every row of its numbers tells."""


class Case(NamedTuple):
    """Rows as they are, perhaps where they will be used, and what is done with scores."""

    plan: Plan
    gathered: Gathered
    there: Tallies | None
    policies: Mapping[str, Policy]

    @property
    def here(self) -> Tallies:
        """Rows as they are."""
        return self.gathered.tallies

    @property
    def places(self) -> dict[Where, Tallies]:
        """Rows as they are, and where they will be used if that was stated."""
        found: dict[Where, Tallies] = {"here": self.here}
        return found if self.there is None else {**found, "there": self.there}

    @property
    def unmarked(self) -> dict[str, Policy]:
        """Policies that do not say where they were chosen: to see whether that was here takes long; once is enough."""
        return {model: replace(policy, chosen_on=None) for model, policy in self.policies.items()}

    @property
    def changes_ranks(self) -> bool:
        """Whether prevalences of groups are stated: then each class of everybody is another mixture of the groups."""
        return isinstance(self.plan.prevalence, Mapping)

    def walk(self, where: Where) -> Iterator[Part]:
        """Everybody and each group of each model."""
        tallies = self.places[where]
        for model, group, tally in tallies.walk():
            fixed = {"model": model, "group": named_group(tallies, group), "where": where}
            yield Part(model, group, where, tally, fixed | {"prevalence": tally.prevalence})

    def everybody(self) -> Iterator[Part]:
        """Everybody of each model, here and there."""
        return (part for where in self.places for part in self.walk(where) if part.group is None)

    def in_use(self) -> Iterator[Part]:
        """Everybody of each model where it will be used, or here if that was not stated."""
        return (part for part in self.walk([*self.places][-1]) if part.group is None)
