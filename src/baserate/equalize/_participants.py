"""Participants: the groups of one model that a parity constraint covers, and their rates after a decision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._cut import RandomizedCut, Treatment
from baserate._errors import FitError, OptionError, advice, keyword
from baserate._formatting import join_words
from baserate._policy import REFUSE, Policy
from baserate._tally import Group, Tallies, Tally, as_group
from baserate.apply import score_ranges
from baserate.decide import as_setting, evaluate_groups, find_model, separate_float32
from baserate.equalize._parities import NEEDS, Goal
from baserate.measure import MEASURES
from baserate.shift import reweigh

Groups = Tallies | Mapping[Any, Curve]
"""Tallies that were read with groups, or a mapping from groups to curves; a key that is no tuple is one label."""
SMALL_GROUP = 30
"""Rows of a class below which a note warns that the rate is uncertain."""


@dataclass(frozen=True, slots=True, eq=False)
class Participants:
    """Groups that take part in an optimization at the deployment prevalence, and groups that are excluded from it."""

    tallies: Tallies
    """All groups of one model, at the deployment prevalence."""
    model: str
    goal: Goal
    excluded: tuple[Group, ...]
    """Groups without rows of a class that the parity requires."""
    otherwise: str
    digest: str
    """Digest of the rows before any adjustment."""

    @property
    def has_labels(self) -> bool:
        """Whether the scores are predicted labels: 1 for the positive class, 0 for the negative class."""
        return self.model == self.tallies.intake.columns.get("predicted")

    @property
    def subset(self) -> Tallies:
        """Tallies of the participating groups only."""
        tallies = self.tallies.models[self.model].items()
        return replace(self.tallies, models={self.model: {g: tally for g, tally in tallies if g not in self.excluded}})

    @property
    def curves(self) -> dict[Group, Curve]:
        """Curve of each participating group."""
        return {group: Curve(tally) for group, tally in self.subset.models[self.model].items()}

    @property
    def shares(self) -> Floats:
        """Positives (row 0) and negatives (row 1) of each participating group, as shares of all participants."""
        mass = np.array([[curve.positives, curve.negatives] for curve in self.curves.values()]).T
        shares: Floats = mass / mass.sum()
        return shares

    def policy(self, by_group: Mapping[Group, Treatment], *, rule: str, settings: Mapping[str, Any]) -> Policy:
        """Make a policy of treatments by group, with its columns, goal, settings and notes."""
        intake, name = self.tallies.intake, self.model
        truth = intake.columns.get("truth")
        columns = {"truth": truth, "score": name} if isinstance(truth, str) else {"score": name}
        mass = np.sum([tally.mass.sum(axis=1) for tally in self.tallies.models[name].values()], axis=0)
        policy = Policy(
            by_group=by_group,
            otherwise=self.otherwise if self.tallies.attributes and () not in by_group else REFUSE,
            attributes=() if () in by_group else self.tallies.attributes,
            rule=rule,
            settings=as_setting({**self.goal.settings, **self._prevalences(), **settings}),
            columns=columns if intake.columns else {},
            positive=None if intake.positive is None else str(intake.positive),
            prevalence=ratio(*map(float, (mass[0], mass.sum()))),
            chosen_on=self.digest,
            notes=tuple(self.notes(alike=() in by_group)),
        )
        return separate_float32(policy, np.concatenate([tally.score for tally in self.tallies.models[name].values()]))

    def _prevalences(self) -> dict[str, Any]:
        """Deployment prevalences in the form that policy files store; empty if none were stated."""
        stated = self.goal.prevalence
        if stated is None or not isinstance(stated, Mapping):
            return {} if stated is None else {"prevalence": stated}
        return {"prevalences": [{"group": group, "prevalence": share} for group, share in stated.items()]}

    def notes(self, *, alike: bool = False) -> list[str]:
        """List warnings: excluded groups, predicted labels, small groups. With `alike`, one rule serves all groups."""
        groups = self.tallies.models[self.model]
        action = "what its score gets elsewhere" if alike else self.otherwise
        notes = [
            f"{group_label(self.tallies, group)} has no {missing_classes(groups[group], self.goal)}, so that nothing "
            f"can be made "
            f"equal there; everybody in it gets: {action}."
            for group in self.excluded
        ]
        if self.has_labels:
            notes.append(
                f"{self.model} holds labels: hand the policy 1 where it says {self.tallies.intake.positive}, else 0."
            )
        few = {
            group: rows for group in self.curves if (rows := _smallest_class(groups[group], self.goal)) < SMALL_GROUP
        }
        of = " of a class" * any(map(NEEDS.get, self.goal.rates))
        notes += [
            f"{group_label(self.tallies, group)} rests on {rows} row{'s' * (rows != 1)}{of}; what is equal here may "
            f"be far "
            "from equal elsewhere."
            for group, rows in few.items()
        ]
        return notes


def select_participants(
    groups: Groups, goal: Goal, *, model: str | None = None, otherwise: str = REFUSE
) -> Participants:
    """Select the groups of one model that have every class the parity requires, at the deployment prevalence.

    Raises
    ------
    FitError
        If a group lacks a required class and `otherwise` names no action for it, or if no group has all classes.
    OptionError
        If the rows were read without groups.
    """
    all_tallies = as_tallies(groups)
    name = find_model(all_tallies, model)
    tallies = Tallies({name: all_tallies.models[name]}, all_tallies.attributes, all_tallies.intake)
    if not tallies.attributes:
        raise OptionError(
            "the rows were read without groups",
            remedy=f"read them with {keyword('group')}, the column that tells who is who.",
        )
    digest = tallies.digest  # before the adjustment: it identifies the data, not the setting
    tallies = tallies if goal.prevalence is None else reweigh(tallies, to=goal.prevalence)
    left = tuple(group for group, tally in tallies.models[name].items() if missing_classes(tally, goal))
    if left and otherwise == REFUSE:
        reasons = [
            f"{group_label(tallies, group)} has no {missing_classes(tallies.models[name][group], goal)}"
            for group in left
        ]
        raise FitError(
            f"{join_words(reasons)}, so that {' and '.join(each.name for each in goal.parities)} cannot be asked there",
            remedy="leave such rows out, or say what to do with them: "
            + advice("otherwise", "otherwise= an action")
            + ".",
        )
    if len(left) == len(tallies.groups):
        raise FitError("no group has rows of each class that the parity asks for", remedy="give rows of both classes.")
    return Participants(tallies, name, goal, left, otherwise, digest)


def as_tallies(groups: Groups) -> Tallies:
    """Convert groups to tallies; attributes of a mapping are called `group`, or `group_1`, `group_2`, and so on."""
    if isinstance(groups, Tallies):
        return groups
    candidate: object = groups  # untyped callers may pass anything
    if not isinstance(candidate, Mapping) or not candidate:
        raise OptionError(
            f"{type(groups).__name__} holds no groups",
            remedy=f"give Tallies that were read with {keyword('group')}, or a mapping from groups to curves.",
        )
    tallies: dict[Group, Tally] = {}
    for key, each in candidate.items():
        if not isinstance(each, Curve | Tally):
            raise OptionError(f"what is given for the group {key!r} is {type(each).__name__}", remedy="give a Curve.")
        tallies[as_group(key)] = each.tally if isinstance(each, Curve) else each
    wide = max(map(len, tallies))
    names = ("group",) if wide == 1 else tuple(f"group_{at}" for at in range(1, wide + 1))
    return Tallies({"score": tallies}, names)


def missing_classes(tally: Tally, goal: Goal) -> str:
    """Name the classes that the goal requires and a group lacks; empty if it has all of them."""
    needs = dict.fromkeys(need for rate in goal.bounds for need in NEEDS[rate])
    absent = [need for need in needs if not getattr(tally, need)]
    if not tally.total:
        absent = ["rows"]
    return " and no ".join(absent)


def group_label(tallies: Tallies, group: Group) -> str:
    """Format a group as text, such as "sex = f, site = 2"."""
    return ", ".join(f"{name} = {value}" for name, value in zip(tallies.attributes, group, strict=True))


def _smallest_class(tally: Tally, goal: Goal) -> int:
    """Count the rows of the smallest class that the goal requires; all rows if it requires none."""
    rows = dict(zip(("positives", "negatives"), tally.rows.sum(axis=1, dtype=np.int64).tolist(), strict=True))
    needs = {need for rate in goal.rates for need in NEEDS[rate]}
    return int(min((rows[need] for need in needs), default=sum(rows.values())))


def group_tables(tallies: Tallies, policy: Policy, model: str) -> dict[Group, Counts[float]]:
    """Return the expected confusion matrix of each group under a policy."""
    parts = evaluate_groups(tallies, policy, model)
    return {group: part.counts for group, part in parts.items() if group is not None}


def randomized_mass(tally: Tally, treatment: Treatment | None) -> float:
    """Sum the mass of the rows whose decision is random.

    >>> from baserate import Cut, RandomizedCut, tally
    >>> treatment = RandomizedCut((Cut((0.5,)), Cut((0.7,))), (0.2, 0.8))
    >>> randomized_mass(tally([1, 1, 0, 0], [0.9, 0.6, 0.4, 0.1]), treatment)
    1.0
    """
    if not isinstance(treatment, RandomizedCut):
        return 0.0
    pieces = score_ranges(treatment)
    is_random = np.array(pieces.is_random)[np.searchsorted(pieces.thresholds, tally.score, side="right")]
    return float(tally.mass[:, is_random].sum(dtype=np.float64))


def rate_gaps(tables: Mapping[Group, Counts[float]], rates: Iterable[str]) -> dict[str, float]:
    """Compute the greatest difference of each rate between two groups; groups where it is undefined are left out.

    >>> tables = {("f",): Counts(tp=3, fn=1, fp=2, tn=2), ("m",): Counts(tp=1, fn=1, fp=0, tn=0)}
    >>> rate_gaps(tables, ["sensitivity", "fpr"])
    {'sensitivity': 0.25, 'fpr': 0.0}
    """
    return {rate: _range([float(MEASURES[rate](each)) for each in tables.values()]) for rate in rates}


def _range(values: list[float]) -> float:
    defined = [value for value in values if not np.isnan(value)]
    return max(defined) - min(defined) if defined else float("nan")
