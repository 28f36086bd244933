"""Groups after a decision: what is measured of each of them, and of all others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from baserate._counts import Counts
from baserate._curve import Curve
from baserate._cut import Cut, has_table
from baserate._errors import OptionError
from baserate._policy import REFUSE, Policy
from baserate._results import Results
from baserate._tally import Group, Tallies, Tally
from baserate.decide import Part, evaluated, flattery, head, in_columns, policies_of, with_settings
from baserate.infer import Interval, all_reweighed, check_use, cut
from baserate.measure import Measure, about, check_tallies, known
from baserate.read import ordered

Decided = float | Policy | Mapping[str, Policy] | None
"""How scores become decisions: a threshold, a policy, or one for each model; None is what suits the scores."""
Row = dict[str, Any]
USUAL = ("flag_rate", "sensitivity", "fpr", "precision", "accuracy")
"""What is measured of groups when nobody says what."""
LABELS = 0.5
"""Between the scores of labels, which are 0 and 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """One model: what is done with everybody (None), and with each group."""

    model: str
    parts: Mapping[Group | None, Part]
    measures: tuple[Measure, ...]

    @property
    def groups(self) -> tuple[Group, ...]:
        """All groups, in an order that does not depend on how they were given."""
        return tuple(group for group in self.parts if group is not None)

    def nouns(self, of: type) -> dict[Group | None, Any]:
        """What measures of that kind take, of everybody and of each group."""
        if of is Counts:
            return {group: part.counts for group, part in self.parts.items()}
        return {group: _of_tally(of, part.tally) for group, part in self.parts.items()}


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """All models, seen by the same attributes."""

    tallies: Tallies
    by: tuple[str, ...]
    seen: tuple[Seen, ...]
    policies: Mapping[str, Policy]

    def named(self, group: Group | None) -> dict[str, object] | None:
        """Attributes of a group with their values; None for everybody."""
        return None if group is None else dict(zip(self.by, group, strict=True))

    def told(self, group: Group) -> str:
        """A group in words."""
        return ", ".join(f"{name} = {value}" for name, value in zip(self.by, group, strict=True))

    def results(self, names: Iterable[str], rows: Iterable[Row], notes: Sequence[str], interval: Interval) -> Results:
        """Put rows together with what they were made from."""
        decided = any(about(measure).of is Counts for seen in self.seen for measure in seen.measures)
        policies = self.policies if decided else {}
        told = flattery(self.tallies, policies)
        told["notes"] = [*told["notes"], *dict.fromkeys(notes)]
        told = with_settings(told, [measure for seen in self.seen for measure in seen.measures])
        columns = in_columns(names, list(rows), several=len(self.tallies.models) > 1)
        found = Results(columns, {**head(self.tallies, told, policies, interval), "by": list(self.by)})
        check_use(interval, found, reweighed=all_reweighed(self.tallies))
        return found


def view(
    tallies: Tallies,
    decided: Decided,
    measures: Iterable[str | Measure] | None,
    by: str | Sequence[str] | None,
) -> View:
    """See what there is to measure; whatever cannot be is refused."""
    check_tallies(tallies)
    if not tallies.attributes:
        raise OptionError("the rows were read without groups; read them with group=, the column that tells who is who.")
    attributes = tallies.attributes if by is None else (by,) if isinstance(by, str) else tuple(by)
    asked = _asked(USUAL if measures is None else measures)
    policies = _policies(tallies, decided, asked)
    seen = tuple(
        Seen(model, _sorted(evaluated(tallies, policy, model, by=attributes)), _of_model(tallies, model, asked))
        for model, policy in policies.items()
    )
    return View(tallies, attributes, seen, policies)


def _asked(measures: Iterable[str | Measure]) -> tuple[Measure, ...]:
    found = tuple(dict.fromkeys(known(each) for each in ([measures] if isinstance(measures, str) else measures)))
    unfit = [about(each).name for each in found if about(each).of not in (Counts, Curve, Tally)]
    if unfit or not found:
        told = f"{', '.join(unfit)} is of several classes" if unfit else "there is nothing to measure"
        raise OptionError(f"{told}; name measures of two, such as sensitivity.")
    return found


def _policies(tallies: Tallies, decided: Decided, asked: Sequence[Measure]) -> Mapping[str, Policy]:
    """Return what is done with the scores of each model."""
    if isinstance(decided, Policy | Mapping):
        found = policies_of(tallies, decided)
        bands = [model for model, policy in found.items() if not has_table(policy.actions)]
        if bands:
            actions = ", ".join(found[bands[0]].actions)
            raise OptionError(f"a policy into {actions} has no 2×2 table; give one that flags or passes.")
        return found
    needed = any(about(each).of is Counts for each in asked)
    return {model: _at(_threshold(tallies, model, decided) if needed else inf) for model in tallies.models}


def _threshold(tallies: Tallies, model: str, given: float | None) -> float:
    if model == tallies.intake.columns.get("predicted"):
        return LABELS
    return cut(model, tallies.pooled(model).score if given is None else (), given)


def _at(threshold: float) -> Policy:
    return Policy(by_group={(): Cut((threshold,))}, otherwise=REFUSE)


def _of_model(tallies: Tallies, model: str, asked: tuple[Measure, ...]) -> tuple[Measure, ...]:
    """Measures that a model can have: labels have neither ranks nor probabilities."""
    if model != tallies.intake.columns.get("predicted"):
        return asked
    found = tuple(each for each in asked if about(each).of is Counts)
    if not found:
        raise OptionError(
            f"{model} holds labels, which have neither ranks nor probabilities; ask for a measure of the 2×2 table, "
            "such as sensitivity."
        )
    return found


def _sorted(parts: Mapping[Group | None, Part]) -> dict[Group | None, Part]:
    place = {group: at for at, group in enumerate(ordered(group for group in parts if group is not None))}
    return dict(sorted(parts.items(), key=lambda item: place.get(item[0], -1)))


def _of_tally(of: type, tally: Tally) -> Curve | Tally:
    return Curve(tally) if of is Curve else tally
