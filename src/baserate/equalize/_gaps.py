"""How far groups lie apart in all, by several definitions, beside what chance alone would give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, nan
from typing import Any

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._estimate import Estimate
from baserate._results import Results
from baserate._tally import Group, Tallies
from baserate.equalize._eligibility import MIN_SIZE, check_min_size, eligibility_of, exclusion_notes
from baserate.equalize._noise import Noise, greatest, noise, stream
from baserate.equalize._parity import PARITIES
from baserate.equalize._seen import Decided, Row, Seen, View, view
from baserate.infer import Interval, checked_draws, checked_seed
from baserate.measure import Measure, about

COLUMNS = (
    *("measure", "parity", "kind", "model", "group", "other", "value", "floor", "floor_high"),
    *("p", "p_is_bound", "how", "why"),
)
DRAWS = 10_000
FOUR_FIFTHS = (
    "a ratio is held against four fifths (0.8) by a rule of thumb of US federal guidelines on employee selection, for "
    "the rate of the favourable outcome alone; whether a flag is that, and whether the rule applies, is for you to say."
)
_FEW = "fewer than two groups have a number"
_TOO_SMALL = "fewer than two groups meet the minimum size of {}"
ALL_GROUPS = "max_difference_all"
"""Kind of the descriptive gap of all groups, also of those below the minimum size."""
_DESCRIPTIVE = "all groups, also those below the minimum size; not tested"


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """One measure: the numbers of all groups that meet the minimum size, and what chance would do."""

    measure: Measure
    values: Mapping[Group, float]
    noise: Noise
    lacking: Mapping[Group, str]
    """Groups that meet the minimum size but have no number, and why."""
    small: Mapping[Group, float]
    """Numbers of the groups below the minimum size."""
    min_size: int

    @property
    def why_not(self) -> str:
        """Why there is no gap."""
        return _TOO_SMALL.format(self.min_size) if self.small else _FEW

    @property
    def everybody(self) -> Spread:
        """The same with the groups below the minimum size."""
        return replace(self, values={**self.values, **self.small}, small={})

    @property
    def several(self) -> bool:
        """Whether there are two groups to lie apart."""
        return len(self.values) > 1

    @property
    def ends(self) -> tuple[Group, Group]:
        """Groups with the greatest and the least number, the first of equals."""
        return max(self.values, key=self.values.__getitem__), min(self.values, key=self.values.__getitem__)

    @property
    def difference(self) -> float:
        """Greatest number less the least."""
        high, low = self.ends
        return self.values[high] - self.values[low]

    @property
    def ratio(self) -> float:
        """Least number, as a part of the greatest; NaN where all are 0."""
        high, low = self.ends
        return ratio(self.values[low], self.values[high])

    @property
    def mean_absolute(self) -> float:
        """Mean difference of two groups, without its sign."""
        numbers: Floats = np.sort(list(self.values.values()))
        apart = np.abs(np.subtract.outer(numbers, numbers))
        return float(apart.sum() / (len(numbers) * (len(numbers) - 1)))

    @property
    def worst(self) -> Group | None:
        """The group at the worse end; None where neither end is."""
        best = about(self.measure).best
        return None if best is None else self.ends[best == "high"]


def gaps(  # noqa: PLR0913  (all but the first are seldom given)
    tallies: Tallies,
    *,
    decided: Decided = None,
    measures: Iterable[str | Measure] | None = None,
    by: str | Sequence[str] | None = None,
    interval: Interval = Interval(),  # noqa: B008  (it is immutable)
    draws: int = DRAWS,
    min_size: int = MIN_SIZE,
) -> Results:
    """Tell how far groups lie apart, by definitions that are named, and how far chance alone would take them.

    Of each measure, and of each parity of several measures that are all measured, `kind` is "max_difference" (greatest
    less least), "ratio" (least by greatest), "worst_group" (the number at the worse end, where there is one) and
    "mean_absolute" (mean over pairs of groups). Of a parity of several measures they are the greatest difference, the
    least ratio, and the mean of the means. `group` and `other` are the groups with the greatest and the least number.

    A maximum is above 0 however alike groups are, and the more of them there are, the further: an interval about it
    would leave out the truth, and hide that. So there is none; instead, `floor` is the mean of the greatest difference
    if the groups were alike, `floor_high` what one in twenty would exceed, and `p` how many of `draws` are as great as
    the one that was seen; `p_is_bound` marks a p that no permutation reaches. Of a share, groups are permuted among the
    rows that it is of. Where rows have weights, confusion matrices with common rates are simulated, each group with its
    effective number of rows. Of other measures, numbers are drawn normally.

    A small group raises the floor and may hide that two large groups differ. So gaps are of groups whose number rests
    on at least `min_size` rows, as in `differences`, and a note names the others. Where there are others, the kind
    "max_difference_all" is the difference of all groups, as a description: it has no floor and no p. Groups in which a
    measure is undefined do not take part either. The other options are those of `group_table`.

    >>> from baserate import equalize, read
    >>> people = {"sick": [1] * 150, "says": [1] * 56 + [0] * 14 + [1] * 48 + [0] * 32, "sex": ["m"] * 70 + ["f"] * 80}
    >>> t = read.tallies(people, truth="sick", predicted="says", group="sex", positive=1)
    >>> row = equalize.gaps(t, measures=["sensitivity"]).rows()[0]
    >>> row["parity"], row["kind"], round(row["value"], 3), round(row["floor"], 2), row["p"] < 0.02
    ('equal-opportunity', 'max_difference', 0.2, 0.06, True)
    """
    checked_draws(draws)
    seen = view(tallies, decided, measures, by)
    size = check_min_size(min_size)
    spreads = spread(seen, interval, draws, size)
    notes = [*exclusion_notes(seen, size), *gap_notes(seen, spreads)]
    found = seen.results(COLUMNS, gap_rows(seen, spreads), notes, interval)
    return Results(found.columns, {**found.data, "draws": draws, "min_size": size})


def spread(view: View, interval: Interval, draws: int, min_size: int) -> dict[str, list[Spread]]:
    """Gather the numbers of all groups, by model and measure."""
    return {seen.model: list(_spreads(seen, interval, draws, min_size)) for seen in view.seen}


def gap_rows(view: View, spreads: Mapping[str, list[Spread]]) -> Iterator[Row]:
    """One row for each model, measure or parity, and kind."""
    for model, each in spreads.items():
        known = {about(one.measure).name: one for one in each}
        alone = {parity.measures[0]: name for name, parity in PARITIES.items() if len(parity.measures) == 1}
        sets: list[tuple[tuple[str, ...], str | None]] = [((name,), alone.get(name)) for name in known]
        sets += [(parity.measures, name) for name, parity in PARITIES.items() if len(parity.measures) > 1]
        for names, parity in sets:
            if all(name in known for name in names):
                place = {"model": model, "measure": ", ".join(names), "parity": parity}
                yield from (place | row for row in _kinds(view, [known[name] for name in names]))


def gap_notes(view: View, spreads: Mapping[str, list[Spread]]) -> list[str]:
    """Who does not take part, and what a ratio of flag rates is not."""
    every = [one for each in spreads.values() for one in each]
    notes = [
        f"{about(one.measure).name} of {view.told(group)} takes no part in gaps: {why}."
        for one in every
        for group, why in one.lacking.items()
    ]
    rated = any(about(one.measure).name in {"flag_rate", "pass_rate"} for one in every)
    return [*notes, *[FOUR_FIFTHS] * rated]


def _spreads(seen: Seen, interval: Interval, draws: int, min_size: int) -> Iterator[Spread]:
    nouns = {of: seen.nouns(of) for of in {about(measure).of for measure in seen.measures}}
    seed = checked_seed(interval.seed).spawn(1)[0]
    for measure in seen.measures:
        told = about(measure)
        every = {group: nouns[told.of][group] for group in seen.groups}
        found = {group: interval.of(measure, noun) for group, noun in every.items()}
        enough = eligibility_of(seen, measure, min_size).groups
        lacking = {group: _lack(found[group]) for group in enough if not isfinite(found[group].value)}
        there = [group for group in enough if group not in lacking]
        small = {g: each.value for g, each in found.items() if g not in enough and isfinite(each.value)}
        chance = Noise(None, None, _FEW)
        if len(there) > 1:
            of: dict[str, Any] = {"draws": draws, "rng": stream(seed, told.name)}
            chance = noise(measure, [every[group] for group in there], [found[group] for group in there], **of)
        values = {group: found[group].value for group in there}
        yield Spread(measure, values, chance, lacking, small, min_size)


def _lack(found: Estimate) -> str:
    return found.why or "it is infinite"


def _kinds(view: View, several: Sequence[Spread]) -> Iterator[Row]:
    """Rows of one measure, or of a parity of several."""
    yield from _of_everybody(view, several)
    if not all(one.several for one in several):
        why = next(one.why_not for one in several if not one.several)
        yield from ({"kind": kind, "value": nan, "why": why} for kind in ("max_difference", "mean_absolute"))
        return
    widest = max(several, key=lambda one: one.difference)
    chance = greatest([one.noise for one in several])
    yield {
        **_ends(view, "max_difference", widest),
        "value": widest.difference,
        "floor": chance.floor,
        "floor_high": chance.floor_high,
        "p": chance.p(widest.difference),
        "p_is_bound": chance.is_bound(widest.difference),
        "how": chance.how,
        "why": chance.why,
    }
    if all(about(one.measure).span[0] >= 0 for one in several):
        yield from _ratios(view, several)
    if len(several) == 1 and several[0].worst is not None:
        worst = several[0].worst
        yield {"kind": "worst_group", "group": view.named(worst), "value": several[0].values[worst]}
    yield {"kind": "mean_absolute", "value": float(np.mean([one.mean_absolute for one in several]))}


def _of_everybody(view: View, several: Sequence[Spread]) -> Iterator[Row]:
    """The gap of all groups as a description, where some are below the minimum size."""
    every = [one.everybody for one in several]
    if any(one.small for one in several) and all(one.several for one in every):
        widest = max(every, key=lambda one: one.difference)
        yield {**_ends(view, ALL_GROUPS, widest), "value": widest.difference, "how": _DESCRIPTIVE}


def _ratios(view: View, several: Sequence[Spread]) -> Iterator[Row]:
    """The least ratio."""
    defined = [one for one in several if not np.isnan(one.ratio)]
    if not defined:
        yield {"kind": "ratio", "value": nan, "why": "it is 0 in every group"}
        return
    least = min(defined, key=lambda one: one.ratio)
    yield {**_ends(view, "ratio", least), "value": least.ratio}


def _ends(view: View, kind: str, of: Spread) -> Row:
    high, low = of.ends
    return {"kind": kind, "group": view.named(high), "other": view.named(low)}
