"""Who is to be treated alike: the groups of one model, at the prevalence that they will have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._curve import Curve
from baserate._cut import Treatment
from baserate._errors import FitError, OptionError
from baserate._formatting import join_words
from baserate._policy import REFUSE, Policy
from baserate._tally import Group, Tallies, Tally, as_group
from baserate.decide import as_setting, model_of, separate
from baserate.equalize._goal import Goal
from baserate.equalize._parity import NEEDS
from baserate.shift import reweigh

Groups = Tallies | Mapping[Any, Curve]
"""Groups with their scores: as they were read, or a curve for each; a group that is no tuple has one attribute."""
FEW = 30
"""Rows of a class below which a rate says little."""


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """The groups that take part, where they will be used, and those that are left to what is done otherwise."""

    tallies: Tallies
    """All groups of one model, at the prevalence that was asked for."""
    model: str
    goal: Goal
    left: tuple[Group, ...]
    """Groups that have no rows of a class that the parity asks for."""
    otherwise: str
    digest: str
    """Of the rows as they were given."""

    @property
    def labels(self) -> bool:
        """Whether the scores are labels that somebody predicted: 1 for the positive class, 0 for the other."""
        return self.model == self.tallies.intake.columns.get("predicted")

    @property
    def part(self) -> Tallies:
        """Those who take part alone."""
        there = self.tallies.models[self.model].items()
        return replace(self.tallies, models={self.model: {g: tally for g, tally in there if g not in self.left}})

    @property
    def curves(self) -> dict[Group, Curve]:
        """Of each group that takes part."""
        return {group: Curve(tally) for group, tally in self.part.models[self.model].items()}

    @property
    def shares(self) -> Floats:
        """Positives and negatives of each group that takes part, as shares of everybody in those: two rows."""
        mass = np.array([[curve.positives, curve.negatives] for curve in self.curves.values()]).T
        found: Floats = mass / mass.sum()
        return found

    def policy(self, by_group: Mapping[Group, Treatment], *, rule: str, settings: Mapping[str, Any]) -> Policy:
        """Return what was chosen as a policy that knows its columns, its goal, and what to be wary of."""
        intake, name = self.tallies.intake, self.model
        truth = intake.columns.get("truth")
        columns = {"truth": truth, "score": name} if isinstance(truth, str) else {"score": name}
        mass = np.sum([tally.mass.sum(axis=1) for tally in self.tallies.models[name].values()], axis=0)
        policy = Policy(
            by_group=by_group,
            otherwise=self.otherwise if self.tallies.attributes and () not in by_group else REFUSE,
            attributes=() if () in by_group else self.tallies.attributes,
            rule=rule,
            settings=as_setting({**self.goal.told, **self._prevalences(), **settings}),
            columns=columns if intake.columns else {},
            positive=None if intake.positive is None else str(intake.positive),
            prevalence=ratio(*map(float, (mass[0], mass.sum()))),
            chosen_on=self.digest,
            notes=tuple(self.notes(alike=() in by_group)),
        )
        return separate(policy, np.concatenate([tally.score for tally in self.tallies.models[name].values()]))

    def _prevalences(self) -> dict[str, Any]:
        """The prevalence that was stated, if one was."""
        stated = self.goal.prevalence
        if stated is None or not isinstance(stated, Mapping):
            return {} if stated is None else {"prevalence": stated}
        return {"prevalences": [{"group": group, "prevalence": share} for group, share in stated.items()]}

    def notes(self, *, alike: bool = False) -> list[str]:
        """What to be wary of; with everybody treated alike, nobody is left out of that."""
        groups = self.tallies.models[self.model]
        done = "what its score gets elsewhere" if alike else self.otherwise
        notes = [
            f"{named(self.tallies, group)} has no {lacking(groups[group], self.goal)}, so that nothing can be made "
            f"equal there; everybody in it gets: {done}."
            for group in self.left
        ]
        if self.labels:
            notes.append(
                f"{self.model} holds labels: hand the policy 1 where it says {self.tallies.intake.positive}, else 0."
            )
        few = {group: rows for group in self.curves if (rows := _fewest(groups[group], self.goal)) < FEW}
        of = " of a class" * any(map(NEEDS.get, self.goal.rates))
        notes += [
            f"{named(self.tallies, group)} rests on {rows} row{'s' * (rows != 1)}{of}; what is equal here may be far "
            "from equal elsewhere."
            for group, rows in few.items()
        ]
        return notes


def people_of(groups: Groups, goal: Goal, *, model: str | None = None, otherwise: str = REFUSE) -> People:
    """See who takes part; a group that the parity cannot be asked of is an error unless there is an `otherwise`."""
    given = as_tallies(groups)
    name = model_of(given, model)
    tallies = Tallies({name: given.models[name]}, given.attributes, given.intake)
    if not tallies.attributes:
        raise OptionError("the rows were read without groups; read them with group=, the column that tells who is who.")
    digest = tallies.digest
    tallies = tallies if goal.prevalence is None else reweigh(tallies, to=goal.prevalence)
    left = tuple(group for group, tally in tallies.models[name].items() if lacking(tally, goal))
    if left and otherwise == REFUSE:
        told = [f"{named(tallies, group)} has no {lacking(tallies.models[name][group], goal)}" for group in left]
        raise FitError(
            f"{join_words(told)}, so that "
            f"{' and '.join(each.name for each in goal.parities)} cannot be asked there; leave such rows out, or say "
            "what to do with them: otherwise= an action."
        )
    if len(left) == len(tallies.groups):
        raise FitError("no group has rows of each class that the parity asks for; give rows of both classes.")
    return People(tallies, name, goal, left, otherwise, digest)


def as_tallies(groups: Groups) -> Tallies:
    """Groups as tallies; of a mapping, the attributes are called `group`, or `group_1` and so on."""
    if isinstance(groups, Tallies):
        return groups
    given: object = groups  # whatever a caller without a type checker gave
    if not isinstance(given, Mapping) or not given:
        raise OptionError(
            f"{type(groups).__name__} holds no groups; give Tallies that were read with group=, or a mapping from "
            "groups to curves."
        )
    made: dict[Group, Tally] = {}
    for key, each in given.items():
        if not isinstance(each, Curve | Tally):
            raise OptionError(f"what is given for the group {key!r} is {type(each).__name__}; give a Curve.")
        made[as_group(key)] = each.tally if isinstance(each, Curve) else each
    wide = max(map(len, made))
    names = ("group",) if wide == 1 else tuple(f"group_{at}" for at in range(1, wide + 1))
    return Tallies({"score": made}, names)


def lacking(tally: Tally, goal: Goal) -> str:
    """Classes that the goal asks for and a group does not have, in words; nothing if it has all."""
    wanted = dict.fromkeys(need for rate in goal.bounds for need in NEEDS[rate])
    absent = [need for need in wanted if not getattr(tally, need)]
    if not tally.total:
        absent = ["rows"]
    return " and no ".join(absent)


def named(tallies: Tallies, group: Group) -> str:
    """A group in words."""
    return ", ".join(f"{name} = {value}" for name, value in zip(tallies.attributes, group, strict=True))


def _fewest(tally: Tally, goal: Goal) -> int:
    """Rows of the smallest class that the goal asks for; without one, all rows."""
    rows = dict(zip(("positives", "negatives"), tally.rows.sum(axis=1, dtype=np.int64).tolist(), strict=True))
    wanted = {need for rate in goal.rates for need in NEEDS[rate]}
    return int(min((rows[need] for need in wanted), default=sum(rows.values())))
