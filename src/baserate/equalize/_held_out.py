"""Whether a parity carries over: how far groups are apart on rows that the policy was not chosen on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import isnan, nan
from typing import Any, NamedTuple

import numpy as np

from baserate._arrays import Floats, make_read_only
from baserate._counts import Counts, combine_counts
from baserate._cut import FLAG, PASS, REFER, actions_of
from baserate._domains import REPEATS, check_domain
from baserate._errors import BaserateError, OptionError
from baserate._estimate import Estimate
from baserate._immutable import keep_read_only
from baserate._policy import REFUSE, Policy
from baserate._results import Results
from baserate._rows import Rows
from baserate._tally import Group, Tallies, Tally
from baserate.calibrate import FOLDS, Fold, Watch, dealt
from baserate.decide import head, model_of
from baserate.equalize._goal import Goal
from baserate.equalize._noise import Noise, greatest, noise
from baserate.equalize._optimum import optimum
from baserate.equalize._people import Groups, People, as_tallies, named, people_of
from baserate.equalize._rates import decided, rate_gaps
from baserate.infer import Interval
from baserate.measure import MEASURES, Measure, expected_cost, tidy
from baserate.shift import times

Choose = Callable[[Tallies, Goal], Policy]
Tables = Mapping[Group, Counts[float]]
COLUMNS = ("measure", "kind", "rate", "group", "value", "low", "high", "level", "how", "why")
HELD_OUT, OFTEN, ALIKE, APPARENT = "held out", "95 % of folds", "if alike", "apparent"
_NOTE = (
    "held out are rows that a policy was judged by and not chosen on; apparent are those that it was chosen on, where "
    "a parity looks better than it will be. A gap held out is the mean over folds; chance in the few rows of a fold "
    "alone would make it what stands under “if alike”."
)
_GAP = "greatest difference between two groups"
_DRAWS = 2000
"""Draws of what chance does in a fold."""


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """How far groups are apart on rows that the policy was not chosen on."""

    policy: Policy
    """What is chosen on all rows."""
    tables: Tables
    """What can be expected in each group, every row decided by the policy that was chosen without its fold."""
    rates: Mapping[str, Mapping[Group, Estimate]]
    """Rates that shall agree, in those tables; their intervals are those of a policy that is given."""
    gaps: Mapping[str, Floats]
    """Greatest difference of each rate between two groups, in each single fold of each deal; NaN where fewer than two
    groups have that rate."""
    floor: Mapping[str, float]
    """Mean of these if groups were alike, in folds as large; the last is that of the greatest, if there are several."""
    apparent: Mapping[str, float]
    """The same gaps of the policy on the rows that it was chosen on."""
    cost: Estimate
    """Expected cost of a case in those tables."""
    cost_apparent: float
    attributes: tuple[str, ...]
    data: Mapping[str, Any]
    """What the numbers were made from."""

    @property
    def each(self) -> Floats:
        """The greatest gap of any rate in each fold."""
        found: Floats = np.fmax.reduce([*self.gaps.values()])
        return found

    @property
    def mean(self) -> float:
        """Mean of that."""
        return _mean(self.each)

    def quantile(self, share: float = 0.95) -> float:
        """Gap that so many of the folds do not exceed."""
        if not 0 <= share <= 1:
            raise OptionError(f"the quantile is {share}; it is a share of the folds, so give a number from 0 to 1.")
        return _quantile(self.each, share)

    def results(self) -> Results:
        """Return tidy rows: rates of groups, gaps, and costs, each with what kind of rows it is of."""
        rows = [*self._of_rates(), *self._of_gaps(), *self._of_costs()]
        return Results({name: [row.get(name) for row in rows] for name in COLUMNS}, self.data)

    def _of_rates(self) -> Iterator[dict[str, Any]]:
        for rate, groups in self.rates.items():
            for group, found in groups.items():
                there = dict(zip(self.attributes, group, strict=True))
                yield {"measure": rate, "kind": HELD_OUT, "group": there} | tidy(found)

    def _of_gaps(self) -> Iterator[dict[str, Any]]:
        every = {**self.gaps, ", ".join(self.gaps): self.each}
        for rate, found in every.items():
            apparent = self.apparent[rate] if rate in self.apparent else max(self.apparent.values())
            kinds = {HELD_OUT: _mean(found), OFTEN: _quantile(found, 0.95), ALIKE: self.floor[rate], APPARENT: apparent}
            how = _GAP if rate in self.gaps else f"{_GAP} in any of these rates"
            yield from (
                {"measure": "gap", "kind": kind, "rate": rate} | _number(value, how) for kind, value in kinds.items()
            )

    def _of_costs(self) -> Iterator[dict[str, Any]]:
        yield {"measure": "expected_cost", "kind": HELD_OUT} | tidy(self.cost)
        yield {"measure": "expected_cost", "kind": APPARENT, "value": self.cost_apparent}


def _mean(gaps: Floats) -> float:
    there = gaps[~np.isnan(gaps)]
    return float(there.mean()) if len(there) else nan


def _quantile(gaps: Floats, share: float) -> float:
    there = gaps[~np.isnan(gaps)]
    return float(np.quantile(there, share)) if len(there) else nan


def _number(value: float, how: str) -> dict[str, Any]:
    return {"value": value, "how": how, "why": "no rate is defined in two groups" if isnan(value) else None}


@dataclass(frozen=True, slots=True)
class Deal:
    """To how many folds rows are dealt, how often, and from which seed on.

    >>> Deal(folds=2, repeats=100)
    Deal(folds=2, repeats=100, seed=0)
    """

    folds: int = FOLDS
    repeats: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        check_domain("repeats", self.repeats, REPEATS)

    def seeds(self) -> list[int]:
        """One for each time; the first is the one that is given."""
        more: list[int] = np.random.default_rng(self.seed).integers(2**63, size=self.repeats - 1).tolist()
        return [self.seed, *more]


def held_out(  # noqa: PLR0913  (all but two are seldom given)
    data: Groups | Rows,
    goal: Goal,
    *,
    choose: Choose | None = None,
    deal: Deal = Deal(),
    interval: Interval = Interval(),  # noqa: B008  (it is immutable)
    model: str | None = None,
    otherwise: str = REFUSE,
    watch: Watch | None = None,
) -> HeldOut:
    """Choose without a fold of the rows, see how far groups are apart in that fold, and add up what every fold says.

    A parity holds on the rows that it was made on, and on others the less well the fewer there were. `choose` makes a
    policy of tallies and a goal; if it is not given, it is `optimum`. The tables are those of the first deal of the
    rows to folds, added up. There what one fold has too much another may have too little; so gaps are of single folds.
    Chance in the few rows of a fold makes a gap by itself, whose mean is the `floor`. A `deal` of several repeats gives
    more of them: `Deal(folds=2, repeats=100)` are two hundred random halves. Rows of one cluster stay together. A group
    that lacks a class without some fold is an error unless there is an action for it, `otherwise`, which it then gets
    in that fold. `watch` is told how many folds of how many are done.

    >>> from baserate import equalize, population, read
    >>> truth, score = population.binormal(means=(0, 1)).draw(1000, 1)
    >>> people = {"sick": truth, "risk": score, "sex": ["f", "m"] * 500}
    >>> t = read.tallies(people, truth="sick", score="risk", group="sex")
    >>> found = equalize.held_out(t, equalize.Goal("equal-opportunity"))
    >>> {rate: round(gap, 3) for rate, gap in found.apparent.items()}
    {'sensitivity': 0.0}
    >>> round(found.mean, 3), round(found.floor["sensitivity"], 3)
    (0.067, 0.075)
    """
    alone = _alone(data, model)
    tallies = alone.tallies() if isinstance(alone, Rows) else alone
    people = people_of(tallies, goal, otherwise=otherwise)
    task = _Task(tallies, people, choose or partial(optimum, otherwise=otherwise))
    policy = _decisive(task.choose(tallies, goal))
    judged = _judged(task, alone, deal, watch)
    first = judged[: len(judged) // deal.repeats]
    tables = {group: combine_counts([part.tables[group] for part in first]) for group in people.curves}
    seen = {group: table for group, table in decided(people.tallies, policy, people.model).items() if group in tables}
    cost = partial(expected_cost, costs=goal.costs)
    told = {"dealt": {**asdict(deal), "folds": len(first)}, "notes": _notes(alone, people, judged)}
    return HeldOut(
        policy=policy,
        tables=tables,
        rates={
            rate: {group: interval.of(MEASURES[rate], table) for group, table in tables.items()} for rate in goal.rates
        },
        gaps={rate: make_read_only(np.array([_gap(part.tables, rate) for part in judged])) for rate in goal.rates},
        floor=_floor(first, goal.rates, interval, deal.seed),
        apparent=rate_gaps(seen, goal.rates),
        cost=interval.of(cost, combine_counts([*tables.values()])),
        cost_apparent=cost(combine_counts([*seen.values()])),
        attributes=tallies.attributes,
        data=_head(people, policy, interval, told),
    )


def _judged(task: _Task, alone: Tallies | Rows, deal: Deal, watch: Watch | None) -> list[_Judged]:
    """Every fold of every deal."""
    deck, found = _in_order(alone), list[_Judged]()
    for seed in deal.seeds():
        parts = dealt(deck, folds=deal.folds, seed=seed)
        for each in task.judged(parts):
            found.append(each)
            if watch is not None:
                watch(len(found), len(parts) * deal.repeats)
    return found


def _alone(data: Groups | Rows, model: str | None) -> Tallies | Rows:
    """One model; as rows where clusters must stay together, otherwise as tallies."""
    tallies = data.tallies() if isinstance(data, Rows) else as_tallies(data)
    name = model_of(tallies, model)
    if isinstance(data, Rows) and data.cluster is not None:
        return replace(data, score={name: data.score[name]})
    return Tallies({name: tallies.models[name]}, tallies.attributes, tallies.intake)


def _in_order(alone: Tallies | Rows) -> Tallies | Rows:
    """Groups in an order that their names do not change, since that is how they are dealt."""
    if isinstance(alone, Rows):
        return alone
    ((name, groups),) = alone.models.items()
    return replace(alone, models={name: dict(sorted(groups.items(), key=lambda item: item[1].digest))})


def _decisive(policy: Policy) -> Policy:
    """A policy that passes or flags, or refers, so that there are rates."""
    strange = {*actions_of(policy.by_group.values())} - {PASS, REFER, FLAG}
    if strange:
        raise OptionError(
            f"the policy knows the action {min(strange)!r}, and groups are compared by who is passed and who is "
            "flagged; choose one that does nothing else."
        )
    return policy


class _Judged(NamedTuple):
    """A fold, decided by what was chosen without it."""

    policy: Policy
    tables: Tables


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """What is chosen, on which rows, and where they will be used."""

    tallies: Tallies
    people: People
    choose: Choose

    def judged(self, parts: Sequence[Fold]) -> Iterator[_Judged]:
        """Choose without each fold, and judge by it."""
        model, groups = self.people.model, self.tallies.groups
        for at, fold in enumerate(parts, start=1):
            rest = {group: Tally.sum(part[group] for part in parts if part is not fold) for group in groups}
            try:
                policy = self.choose(replace(self.tallies, models={model: rest}), self.people.goal)
                found = decided(replace(self.tallies, models={model: fold}), policy, model)
            except BaserateError as error:
                raise type(error)(
                    f"without fold {at} of {len(parts)}: {error} With more folds less is left out at a time."
                ) from error
            yield _Judged(policy, {group: self._carried(group, found[group]) for group in self.people.curves})

    def _carried(self, group: Group, table: Counts[float]) -> Counts[float]:
        """A table where it will be used, so that all folds of a group are carried alike."""
        if self.people.goal.prevalence is None:
            return table
        here, there = (each.models[self.people.model][group] for each in (self.tallies, self.people.tallies))
        pairs = (here.positives, there.positives), (here.negatives, there.negatives)
        return times(table, *(after / before if before else 1.0 for before, after in pairs))


def _gap(tables: Tables, rate: str) -> float:
    """Greatest difference of a rate between two groups; NaN if fewer have it."""
    known = sum(not isnan(MEASURES[rate](table)) for table in tables.values())
    return rate_gaps(tables, [rate])[rate] if known > 1 else nan


def _floor(first: Sequence[_Judged], rates: Sequence[str], interval: Interval, seed: int) -> dict[str, float]:
    """Mean gap of each rate in a fold, and of the greatest, if groups were alike."""
    rng = np.random.default_rng(seed)
    found: dict[str, list[float]] = {}
    for part in first:
        chances = {rate: _chance(part.tables, MEASURES[rate], interval, rng) for rate in rates}
        for name, chance in {**chances, ", ".join(rates): greatest([*chances.values()])}.items():
            found.setdefault(name, []).append(nan if chance.floor is None else chance.floor)
    return {name: _mean(np.array(each)) for name, each in found.items()}


def _chance(tables: Tables, measure: Measure, interval: Interval, rng: np.random.Generator) -> Noise:
    """What chance alone does between groups as large as these."""
    nouns = [table for table in tables.values() if not isnan(measure(table))]
    if len(nouns) < 2:
        return Noise(None, None)
    return noise(measure, nouns, [interval.of(measure, each) for each in nouns], draws=_DRAWS, rng=rng)


def _head(people: People, policy: Policy, interval: Interval, told: dict[str, Any]) -> dict[str, Any]:
    goal = people.goal
    found = head(people.tallies, told, {people.model: policy}, interval)
    return found | {"digest": people.digest} | goal.told | {"costs": asdict(goal.costs)}


def _notes(alone: Tallies | Rows, people: People, judged: Sequence[_Judged]) -> list[str]:
    notes = [_NOTE]
    for group in people.curves:
        left = sum(each.policy.needs_group and group not in each.policy.by_group for each in judged)
        if left:
            notes.append(
                f"{named(people.tallies, group)} lacks a class without {left} of {len(judged)} folds, and there gets: "
                f"{people.otherwise}."
            )
    if any(
        isnan(MEASURES[rate](table)) for each in judged for table in each.tables.values() for rate in people.goal.rates
    ):
        notes.append("some folds have no rows of a class in a group, which takes no part in the gap of these folds.")
    if isinstance(alone, Rows):
        notes.append("rows of a cluster are in one fold; intervals take them as independent, and may be too short.")
    return notes
