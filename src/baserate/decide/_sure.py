"""How sure is a cut-off? What else the rule might have chosen, and what its choice is worth on other rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan

import numpy as np

from baserate._arrays import Floats, sealed
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._cut import Cut
from baserate._errors import BadOption, BaserateError
from baserate._estimate import Estimate
from baserate._immutable import keep_read_only
from baserate._policy import Policy
from baserate._tally import Tally
from baserate.calibrate._crossfit import FOLDS, dealt, left_out
from baserate.calibrate._data import Data, tally_of
from baserate.decide._rule import Choose, Gains, check, greatest, strictest, told
from baserate.infer import estimate
from baserate.infer._draws import Seed, checked_draws, in_blocks, percentiles
from baserate.infer._estimate import Asked
from baserate.infer._resample import EXACT, Way, bucketed, refilled
from baserate.infer._resample import how as drawn_how
from baserate.measure import USUAL, Measure, about
from baserate.measure._registry import known as known_measure

DRAWS = 1000
_EXACT = 20_000
"""Rows up to which every score is kept apart, for rules that take longer."""
_TOGETHER = 16
"""How many times as many draws are made in a block as elsewhere: they share their memory."""
_CELLS = ("tp", "fp", "fn", "tn")


@dataclass(frozen=True, slots=True)
class Corrected:
    """A measure at the chosen cut-off: as it looks, by how much the choice flatters it, and what is left."""

    apparent: Estimate
    optimism: float
    corrected: Estimate


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False)
class Sureness:
    """What a rule chooses on samples like this one."""

    policy: Policy
    cutoffs: tuple[Estimate, ...]
    """Each cut-off of the policy, with the middle of those that were drawn."""
    drawn: Floats
    """Cut-offs of every draw, a column for each; NaN where a draw had no such cut."""
    failed: int
    """Draws in which the rule found nothing, since no threshold met its requirements or a class was missing."""
    other: int
    """Draws that gave another number of actions."""
    performance: Mapping[str, Corrected]


def resampled(
    curve: Curve,
    rule: Choose,
    *,
    measures: Iterable[str | Measure] = USUAL[Counts],
    draws: int = DRAWS,
    seed: Seed = 0,
    level: float = 0.95,
) -> Sureness:
    """Let a rule choose again on samples drawn from the rows, and see how far its cut-offs lie apart.

    `rule` is a rule of this room, its options given by `functools.partial`, or any function from a curve to a policy.
    The optimism of a measure is the mean difference between what a draw promises at its own cut-off and what all rows
    give there [@efron1983]; taken from what the chosen cut-off seems to give, it leaves what other rows may expect. The
    interval of that is the usual one, moved as far, or what the differences leave between their percentiles, whichever
    reaches further to each side. Rows are drawn with replacement; with weights or at a known prevalence, their weights
    are random instead. Of more than a hundred thousand rows, neighbouring scores are pooled first, and of more than
    twenty thousand for rules that do not make a weighted sum of true and false positives greatest.

    >>> from baserate import curve, decide, population, tally
    >>> c = curve(tally(*population.binormal(means=(0, 1)).draw(200, 1)))
    >>> sure = decide.resampled(c, decide.youden, measures=["youden"], draws=200)
    >>> [round(each, 2) for each in (sure.cutoffs[0].low, sure.cutoffs[0].value, sure.cutoffs[0].high)]
    [-0.18, 0.34, 0.93]
    >>> round(sure.performance["youden"].optimism, 3)
    0.032
    """
    check(curve)
    checked_draws(draws)
    asked, chosen = Asked(level), [_of_tables(each) for each in measures]
    policy = rule(curve)
    exact = _exact(rule)
    pooled = Curve(bucketed(curve.tally, exact=exact))
    way: Way = "stratified" if curve.tally.reweighed else "bootstrap"
    many = len(policy.cut.thresholds)
    again = _again(pooled.tally, rule, way, many)
    rows = in_blocks(again, draws=draws, seed=seed, size=pooled.tally.mass.size // _TOGETHER)
    state, drawn, seen = rows[:, 0], rows[:, 1 : 1 + many], rows[:, 1 + many :]
    usable = state == _SAME
    how = f"{draws} {drawn_how(curve.tally, way, exact=exact)}"
    cutoffs = tuple(_middle(at, drawn[usable, place], asked, how) for place, at in enumerate(policy.cut.thresholds))
    performance = {}
    if policy.cut.has_table:
        there = _tables(pooled, drawn[usable])
        promised = Counts(*seen[usable].T)
        for each in chosen:
            performance[about(each).name] = _corrected(each, policy.cut.counts(curve), promised, there, asked)
    failed, other = (int((state == kind).sum()) for kind in (_FAILED, _OTHER))
    return Sureness(policy, cutoffs, sealed(np.where(usable[:, None], drawn, nan)), failed, other, performance)


_SAME, _OTHER, _FAILED = 0.0, 1.0, 2.0


def _exact(rule: Choose) -> int:
    """Rows up to which every score is kept apart."""
    inner = told(rule)
    return EXACT if inner is not None and inner.gains is not None else _EXACT


def _again(tally: Tally, rule: Choose, way: Way, many: int) -> Callable[[np.random.Generator, int], Floats]:
    """Draw, choose: a row of what happened, the thresholds, and the four cells there."""
    inner = told(rule)
    if inner is not None and inner.gains is not None and many == 1:
        return _steepest_again(tally, inner.gains, way)
    find: Callable[[Curve], Cut] = inner.cut if inner is not None else lambda curve: rule(curve).cut
    refill = refilled(tally, way)

    def one(rng: np.random.Generator) -> Sequence[float]:
        curve = Curve(refill(rng))
        try:
            cut = find(curve)
        except BaserateError:
            return [_FAILED, *[nan] * many, *[0.0] * 4]
        if len(cut.thresholds) != many:
            return [_OTHER, *[nan] * many, *[0.0] * 4]
        counts = cut.counts(curve) if cut.has_table else None
        return [_SAME, *cut.thresholds, *([getattr(counts, cell) for cell in _CELLS] if counts else [0.0] * 4)]

    return lambda rng, some: np.array([one(rng) for _ in range(some)])


def _steepest_again(
    tally: Tally, gains: Callable[[float, float], Gains], way: Way
) -> Callable[[np.random.Generator, int], Floats]:
    """Do the same for rules of a weighted sum, which one running sum answers."""
    if way == "bootstrap" and not tally.weighted and int(tally.rows.sum(dtype=np.int64)) == len(tally.score):
        return _single_rows_again(tally, gains)
    refill = refilled(tally, way)
    threshold = np.concatenate([[np.inf], tally.score])

    def one(rng: np.random.Generator) -> Sequence[float]:
        drawn = refill(rng)
        mass, totals = drawn.mass, (drawn.positives, drawn.negatives)
        if not all(totals):
            return [_FAILED, nan, *[0.0] * 4]
        place = greatest(mass, gains(*totals)) or 0
        flagged = mass[:, :place].sum(axis=1, dtype=np.float64)
        passed = (max(total - part, 0.0) for total, part in zip(totals, flagged, strict=True))  # rounding alone
        return [_SAME, threshold[place], *flagged, *passed]

    return lambda rng, some: np.array([one(rng) for _ in range(some)])


def _single_rows_again(
    tally: Tally, gains: Callable[[float, float], Gains]
) -> Callable[[np.random.Generator, int], Floats]:
    """Do the same where every row has a score of its own: a row is a place, and need not be looked up."""
    rows = len(tally.score)
    positive = tally.rows[0].astype(np.int64)  # whole, so that BLAS is left out, whose threads get in the way
    share, threshold = tally.positive, np.concatenate([[np.inf], tally.score])

    def one(rng: np.random.Generator, worth: Floats, running: Floats) -> Sequence[float]:
        times = np.bincount(rng.integers(0, rows, rows), minlength=rows)
        positives = float(np.dot(times, positive))
        if not 0 < positives < rows:
            return [_FAILED, nan, *[0.0] * 4]
        gained, lost = gains(positives, rows - positives)
        np.multiply(share, gained + lost, out=worth)
        np.multiply(np.subtract(worth, lost, out=worth), times, out=worth)
        np.cumsum(worth, out=running[1:])
        place = strictest(running) or 0
        true, flagged = float(np.dot(times[:place], positive[:place])), float(times[:place].sum())
        return [_SAME, threshold[place], true, flagged - true, positives - true, rows - positives - (flagged - true)]

    def some(rng: np.random.Generator, many: int) -> Floats:
        worth, running = np.empty(rows), np.zeros(rows + 1)  # kept, since new memory takes as long as the sums
        return np.array([one(rng, worth, running) for _ in range(many)])

    return some


def _tables(curve: Curve, drawn: Floats) -> Counts[Floats]:
    """What all rows give at the cut-offs of each draw."""
    low, high = curve.at(drawn[:, 0]), curve.at(drawn[:, -1])
    return Counts(tp=high.tp, fp=high.fp, fn=low.fn, tn=low.tn)


def _middle(value: float, drawn: Floats, asked: Asked, how: str) -> Estimate:
    if not len(drawn):
        return Estimate(value, level=asked.level, how=how, why="no draw gave such a cut")
    low, high = percentiles(drawn, asked.level)
    return Estimate(value, min(low, value), max(high, value), asked.level, how)


def _corrected(
    measure: Measure, counts: Counts[float], promised: Counts[Floats], there: Counts[Floats], asked: Asked
) -> Corrected:
    apparent = estimate(measure, counts, level=asked.level)
    difference = measure(promised) - measure(there)
    defined = difference[np.isfinite(difference)]
    if isnan(apparent.value) or not len(defined):
        return Corrected(apparent, nan, Estimate(nan, why=apparent.why or "it is undefined in every draw"))
    optimism = float(defined.mean())
    below, above = percentiles(defined, asked.level)
    value = apparent.value - optimism
    # Few rows make the one too short, a choice that varies much the other.
    low = min(apparent.low - optimism, apparent.value - above, value)
    high = max(apparent.high - optimism, apparent.value - below, value)
    value, low, high = np.clip([value, low, high], *about(measure).span).tolist()
    how = f"{apparent.how} less the optimism of the choice, or what draws promise too much, whichever reaches further"
    return Corrected(apparent, optimism, Estimate(value, low, high, asked.level, how))


@dataclass(frozen=True, slots=True, eq=False)
class CrossValidated:
    """A rule judged by rows that it did not choose on."""

    policy: Policy
    """What it chooses on all rows."""
    cuts: tuple[Cut, ...]
    """What it chose without each fold."""
    counts: Counts[float]
    """The folds' tables, each at the cut that was chosen without it, together."""
    performance: Mapping[str, Estimate]


def crossvalidated(
    data: Data,
    rule: Choose,
    *,
    measures: Iterable[str | Measure] = USUAL[Counts],
    folds: int = FOLDS,
    seed: int = 0,
    level: float = 0.95,
) -> CrossValidated:
    """Choose without a fold of the rows, judge the choice by that fold, and add up what every fold says.

    Rows of one cluster stay together. The policy is the one that all rows give; its performance is that of policies
    chosen by the same rule on a little less.

    >>> from baserate import decide, population, tally
    >>> t = tally(*population.binormal(means=(0, 1)).draw(200, 1))
    >>> found = decide.crossvalidated(t, decide.youden, measures=["youden"])
    >>> [round(cut.threshold, 2) for cut in found.cuts], round(found.performance["youden"].value, 3)
    ([0.33, 0.34, 0.34, 0.54, 0.33], 0.43)
    """
    chosen = [_of_tables(each) for each in measures]
    whole = tally_of(data)
    policy = rule(Curve(whole))
    if not policy.cut.has_table:
        raise BadOption(f"a cut into {', '.join(policy.cut.actions)} has no 2×2 table to be judged by.")
    inner = told(rule)
    find: Callable[[Curve], Cut] = inner.cut if inner is not None else lambda curve: rule(curve).cut
    cuts, tables = [], []
    parts = dealt(data, folds=folds, seed=seed)
    for at, (fold, rest) in enumerate(left_out(parts), start=1):
        try:
            cuts.append(find(Curve(rest)))
        except BaserateError as error:
            raise type(error)(f"without fold {at} of {len(parts)}: {error}") from error
        tables.append(cuts[-1].counts(Curve(Tally.sum(fold.values()))))
    counts = _added(tables)
    performance = {about(each).name: estimate(each, counts, level=level) for each in chosen}
    return CrossValidated(policy, tuple(cuts), counts, performance)


def _added(tables: Sequence[Counts[float]]) -> Counts[float]:
    def cells(parts: Sequence[Counts[float]]) -> list[float]:
        return [sum(getattr(part, cell) for part in parts) for cell in _CELLS]

    weighted = any(table.moments for table in tables)
    moments = (Counts(*cells([t.squares for t in tables])), Counts(*cells([t.rows for t in tables])))
    return Counts(*cells(tables), moments=moments if weighted else None, reweighed=tables[0].reweighed)


def _of_tables(measure: str | Measure) -> Measure:
    found = known_measure(measure)
    if about(found).of is not Counts:
        raise BadOption(f"{about(found).name} does not depend on the cut-off; take a measure of the 2×2 table.")
    return found
