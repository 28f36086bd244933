"""What a policy does to whom, beside what would be done without any parity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from math import isnan, nan
from typing import Any

from baserate._cut import FLAG, PASS
from baserate._errors import OptionError
from baserate._policy import REFUSE, Policy
from baserate._results import Results
from baserate._tally import Group
from baserate.decide import CELLS, Part, Row, evaluated, head, number_of, same, thresholds
from baserate.equalize import _words
from baserate.equalize._goal import Goal
from baserate.equalize._optimum import RULE, cheapest, regions_of
from baserate.equalize._people import Groups, People, as_tallies, named, people_of
from baserate.equalize._rates import by_lot, rate_gaps
from baserate.equalize._region import Region
from baserate.equalize._solve import least_cost
from baserate.infer import Interval
from baserate.measure import (
    MEASURES,
    Measure,
    expected_cost,
    flag_rate,
    fpr,
    named_group,
    precision,
    prevalence,
    sensitivity,
)

TABLE, WITHOUT, WITH = "account", "without parity", "with parity"
COLUMNS = (
    *("table", "set", "group", "measure", "rate", "kind", "action", "chance"),
    *("value", "low", "high", "level", "how", "why", "change"),
)
Parts = dict[Group | None, Part]


def account(
    groups: Groups,
    goal: Goal,
    policy: Policy | None = None,
    *,
    model: str | None = None,
    otherwise: str = REFUSE,
    interval: Interval | None = Interval(),  # noqa: B008  (it is immutable)
) -> Results:
    """Tell what a policy does to whom: rates, costs and gaps, with the parity and without.

    The `policy` is any that passes or flags; if none is given, the optimum. The `set` "without parity" is what each
    group would get at its own cheapest cut; `change` is by how much the policy differs from it. The group None is
    everybody who takes part. Beside thresholds, cells and rates, each with its interval, there are `base_rate`;
    `expected_cost`, of a case; `lottery`, the share that is decided by lot; and `forgone`, how much more sensitive the
    group's scores could make it at its false positive rate: sensitivity that is thrown away lest others fall behind.
    A `gap` is the greatest difference between two groups, of each rate of the goal and of the precision, which no
    parity of rates makes equal where base rates differ. `data` holds the cost with and without the parity, its
    `price`, what the parity could be kept for at the `least`, and the groups that bind: better scores for them would
    make the optimum cheaper. There is no verdict in it.

    >>> from baserate import curve, equalize, tally
    >>> f = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> m = curve(tally([1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.6, 0.5, 0.3, 0.1]))
    >>> found = equalize.account({"f": f, "m": m}, equalize.Goal("equalized-odds"))
    >>> [round(found.data[name], 4) for name in ("cost", "cost_without", "price")]
    [0.3333, 0.25, 0.0833]
    """
    people = people_of(groups, goal, model=model, otherwise=otherwise)
    chosen = cheapest(people, goal.tolerances, reversal=people.labels) if policy is None else policy
    turning = people.labels or bool(chosen.settings.get("reversal"))
    alone = cheapest(people, {}, reversal=turning)
    both = _Both(people, _parts(people, alone), _parts(people, chosen), regions_of(people, reversal=turning))
    rows = list(_rows(both, interval))
    made_here = same(as_tallies(groups), chosen, people.model)
    notes = [*chosen.notes, *_notes(both), *[_words.SAME] * made_here]
    told = {"same": [people.model] * made_here, "notes": notes, **_told(both, chosen)}
    data = head(people.tallies, told, {people.model: chosen}, interval) | {"digest": people.digest}
    return Results({name: [row.get(name) for row in rows] for name in COLUMNS}, data)


@dataclass(frozen=True)
class _Both:
    """What is done without the parity and with it, and what each group could have."""

    people: People
    before: Parts
    after: Parts
    regions: Mapping[Group, Region]

    def named(self, of: Mapping[Group, float]) -> dict[str, float]:
        """Numbers of groups, which are told in words."""
        return {named(self.people.tallies, group): value for group, value in of.items()}

    def rates(self, measure: Measure, parts: Parts) -> dict[Group, float]:
        """A measure of each group."""
        return {group: float(measure(parts[group].counts)) for group in self.regions}

    def cost(self, parts: Parts) -> float:
        """What a case of everybody costs."""
        return float(expected_cost(parts[None].counts, costs=self.people.goal.costs))

    @cached_property
    def lots(self) -> dict[Group, float]:
        """Mass of each group that is decided by lot."""
        return {group: by_lot(part.tally, part.treatment) for group, part in self._groups()}

    @cached_property
    def forgone(self) -> dict[Group, float]:
        """How much more sensitive the scores of each group could make it; NaN where a class is not there."""
        return {group: self.regions[group].forgone(*_point(part)) for group, part in self._groups()}

    @property
    def binding(self) -> list[Group]:
        """Groups of whose rates neither could be better without the other's getting worse, where scores are used."""
        return [group for group, part in self._groups() if self.regions[group].binds(*_point(part))]

    def _groups(self) -> Iterator[tuple[Group, Part]]:
        return ((group, self.after[group]) for group in self.regions)


def _parts(people: People, policy: Policy) -> Parts:
    """What a policy does with everybody who takes part, and with each group of them."""
    found = evaluated(people.part, policy, people.model)
    strange = {action for part in found.values() if part.treatment for action in part.treatment.actions} - {PASS, FLAG}
    if strange:
        raise OptionError(
            f"the policy knows the action {min(strange)!r}, and groups are compared by who is passed and who is "
            "flagged; give a policy that does nothing else."
        )
    return found


def _point(part: Part) -> tuple[float, float]:
    """False and true positive rate."""
    return float(fpr(part.counts)), float(sensitivity(part.counts))


def _rows(both: _Both, interval: Interval | None) -> Iterator[Row]:
    """Numbers of everybody and of each group, without the parity and with it; then the gaps."""
    tallies, seen = both.people.tallies, dict[tuple[Any, ...], float]()
    for name, parts in ((WITHOUT, both.before), (WITH, both.after)):
        for group, part in parts.items():
            place = {"table": TABLE, "set": name, "group": named_group(tallies, group)}
            rows = [*thresholds(part.treatment), *_numbers(part, both.people.goal, interval)]
            rows += _thrown_away(both, group) if name == WITH else ()
            yield from (place | row | _change(seen, group, row) for row in rows)
        for row in _gaps(both, parts):
            yield {"table": TABLE, "set": name, "group": None} | row | _change(seen, None, row)


def _numbers(part: Part, goal: Goal, interval: Interval | None) -> Iterator[Row]:
    counts = part.counts
    yield number_of(interval, prevalence, counts, name="base_rate")
    yield from ({"measure": cell, "value": getattr(counts, cell)} for cell in CELLS)
    for measure in (flag_rate, sensitivity, fpr, precision, partial(expected_cost, costs=goal.costs)):
        yield number_of(interval, measure, counts)


def _thrown_away(both: _Both, group: Group | None) -> Iterator[Row]:
    """The share that is decided by lot, and of a group how much more sensitive it could be."""
    lots, whole = both.lots, both.after[group].nobody.total
    yield {"measure": "lottery", "value": (sum(lots.values()) if group is None else lots[group]) / whole}
    if group is not None:
        lost = both.forgone[group]
        yield {"measure": "forgone", "value": lost, "why": "a class is not there" if isnan(lost) else None}


def _gaps(both: _Both, parts: Parts) -> Iterator[Row]:
    """How far apart groups are in each rate of the goal, and in the precision."""
    tables = {group: parts[group].counts for group in both.regions}
    for rate in (*both.people.goal.rates, "precision"):
        known = sum(not isnan(each) for each in both.rates(MEASURES[rate], parts).values())
        found = rate_gaps(tables, [rate])[rate] if known > 1 else nan
        why = None if known > 1 else f"{rate} is defined in fewer than two groups"
        yield {"measure": "gap", "rate": rate, "kind": "max_difference", "value": found, "why": why}


def _change(seen: dict[tuple[Any, ...], float], group: Group | None, row: Row) -> Row:
    """By how much a number differs from the first one of its kind, if there was one."""
    if row["measure"] == "threshold":
        return {}
    key = group, row["measure"], row.get("rate")
    if key in seen:
        return {"change": row["value"] - seen[key]}
    seen[key] = row["value"]
    return {}


def _told(both: _Both, policy: Policy) -> Row:
    """What is known of the whole."""
    people, cost, free = both.people, both.cost(both.after), both.cost(both.before)
    told = people.goal.told
    return {
        "parity": [
            {"name": each.name, "promise": each.promise, "silent": each.silent} for each in people.goal.parities
        ],
        "within": told["within"],
        "costs": asdict(people.goal.costs),
        "cost": cost,
        "cost_without": free,
        "price": cost - free,
        "least": least_cost([*both.regions.values()], people.goal.tolerances, people.goal.costs),
        "binds": [named_group(people.tallies, group) for group in both.binding if policy.rule == RULE],
        "left": [named_group(people.tallies, group) for group in people.left],
        "levelling_down": _levelling(both),
        "needs_group": policy.needs_group,
        "needs_id": policy.needs_id,
        "promises": _words.promises(people.goal.parities),
        "legal": _words.legal(policy.attributes) if policy.needs_group else None,
    }


def _levelling(both: _Both) -> list[str]:
    """Where a rate gets worse for some and better for nobody, and where sensitivity is thrown away."""
    found = [
        told
        for rate in both.people.goal.rates
        for told in _words.levelled_down(
            rate, *(both.named(both.rates(MEASURES[rate], parts)) for parts in (both.before, both.after))
        )
    ]
    return [*found, *_words.given_up(both.named(both.forgone))]


def _notes(both: _Both) -> list[str]:
    """What a reader should be wary of."""
    bound, flagged = both.people.goal.tolerances.get("flag_rate"), both.rates(flag_rate, both.after)
    base = {group: both.after[group].tally.prevalence for group in both.regions}
    notes = [] if bound is None else _words.unreachable(both.named(base), bound)
    notes += _words.in_vain(both.named({group: flagged[group] for group in base if not base[group]}))
    notes += [*_words.trivial(both.named(flagged)), *_levelling(both)]
    shares = {group: mass / both.after[group].nobody.total for group, mass in both.lots.items()}
    return [*notes, *_words.by_lot(both.named(shares))]
