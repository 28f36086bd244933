"""How sure is a cut-off? What else the rule might have chosen, and what its choice is worth on other rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats, make_read_only
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._cut import Cut
from baserate._errors import BaserateError
from baserate._estimate import Estimate
from baserate._immutable import keep_read_only
from baserate._policy import Policy
from baserate._tally import Tally
from baserate.decide._cross_validation import HeldOut, held_out, of_tables
from baserate.decide._rule import Choose, Gains, check_curve, greatest, strictest, told
from baserate.infer import (
    EXACT,
    EstimateRequest,
    Seed,
    Way,
    bucketed,
    checked_draws,
    checked_seed,
    estimate,
    how as drawn_how,
    in_blocks,
    percentiles,
    refilled,
)
from baserate.measure import USUAL, Measure, about

DRAWS = 1000
_EXACT = 20_000
"""Rows up to which every score is kept apart, for rules that take longer."""
_TOGETHER = 16
"""How many times as many draws are made in a block as elsewhere: they share their memory."""
_FOLDS = 10
"""Into which the rows are divided to estimate the optimism."""
_ROWS_IN_FOLD = 5
"""At least: a row that is left out alone is of the class that the others have less of."""
_DRAWS_PER_DIVISION = 50
"""So that choosing without folds takes a fraction of the time of the draws."""
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
    The optimism of a measure is estimated by repeated cross-validation: what all rows give too much, beside folds of
    them, at the thresholds that were chosen without those folds (`HeldOut.optimism`), averaged over a fiftieth as many
    divisions into ten folds as there are draws. The bootstrap estimate, the mean difference between what a draw gives
    at its own threshold and what all rows give there [@efron1983], is smaller by 15 to 45 %, since the draws share the
    scores of the sample; it stands in where no fold can be judged. The interval of the corrected value spans the usual
    one, moved by either estimate, and what the differences of the draws leave between their percentiles.

    Rows are drawn with replacement; with weights or at a known prevalence, their weights are random instead. Of more
    than a hundred thousand rows, neighbouring scores are pooled first, and of more than twenty thousand for rules that
    do not make a weighted sum of true and false positives greatest.

    >>> from baserate import curve, decide, population, tally
    >>> c = curve(tally(*population.binormal(means=(0, 1)).draw(200, 1)))
    >>> sure = decide.resampled(c, decide.youden, measures=["youden"], draws=200)
    >>> [round(each, 2) for each in (sure.cutoffs[0].low, sure.cutoffs[0].value, sure.cutoffs[0].high)]
    [-0.18, 0.34, 0.93]
    >>> round(sure.performance["youden"].optimism, 3)
    0.03
    """
    check_curve(curve)
    checked_draws(draws)
    asked, chosen = EstimateRequest(level), [of_tables(each) for each in measures]
    policy = rule(curve)
    exact = _exact(rule)
    pooled = Curve(bucketed(curve.tally, exact=exact))
    way: Way = "stratified" if curve.tally.reweighed else "bootstrap"
    many = len(policy.cut.thresholds)
    again = _again(pooled.tally, rule, way, many)
    rng = checked_seed(seed)
    rows = in_blocks(again, draws=draws, seed=rng, size=pooled.tally.mass.size // _TOGETHER)
    state, drawn, seen = rows[:, 0], rows[:, 1 : 1 + many], rows[:, 1 + many :]
    usable = state == _SAME
    how = f"{draws} {drawn_how(curve.tally, way, exact=exact)}"
    cutoffs = tuple(_middle(at, drawn[usable, place], asked, how) for place, at in enumerate(policy.cut.thresholds))
    performance = {}
    if policy.cut.has_table:
        draw = _BootstrapTables(Counts(*seen[usable].T), _tables(pooled, drawn[usable]))
        repeats = max(draws // _DRAWS_PER_DIVISION, 2)
        parts = min(_FOLDS, int(curve.tally.rows.sum(dtype=np.int64)) // _ROWS_IN_FOLD)
        folds = held_out(pooled.tally, policy, rule, folds=parts, repeats=repeats, seed=rng)
        for each in chosen:
            performance[about(each).name] = _corrected(each, policy.cut.counts(curve), draw, folds, asked)
    failed, other = (int((state == kind).sum()) for kind in (_FAILED, _OTHER))
    return Sureness(policy, cutoffs, make_read_only(np.where(usable[:, None], drawn, nan)), failed, other, performance)


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


def _middle(value: float, drawn: Floats, asked: EstimateRequest, how: str) -> Estimate:
    if not len(drawn):
        return Estimate(value, level=asked.level, how=how, why="no draw gave such a cut")
    low, high = percentiles(drawn, asked.level)
    return Estimate(value, min(low, value), max(high, value), asked.level, how)


class _BootstrapTables(NamedTuple):
    """Tables at the threshold of each draw: of the draw itself, and of all rows."""

    promised: Counts[Floats]
    there: Counts[Floats]

    def difference(self, measure: Measure) -> Floats:
        """What each draw promises too much, where that is defined."""
        found: Floats = measure(self.promised) - measure(self.there)
        return found[np.isfinite(found)]


def _corrected(
    measure: Measure, counts: Counts[float], draw: _BootstrapTables, folds: HeldOut, asked: EstimateRequest
) -> Corrected:
    apparent = estimate(measure, counts, level=asked.level)
    difference = draw.difference(measure)
    if isnan(apparent.value) or not len(difference):
        return Corrected(apparent, nan, Estimate(nan, why=apparent.why or "it is undefined in every draw"))
    drawn = float(difference.mean())
    judged = folds.optimism(measure)
    optimism = float(judged.mean()) if len(judged) else drawn
    below, above = percentiles(difference, asked.level)
    value = apparent.value - optimism
    # Draws vary too little where thresholds are rough, folds too much; few rows make percentiles too short.
    low = min(apparent.low - max(optimism, drawn), apparent.value - above, value)
    high = max(apparent.high - min(optimism, drawn), apparent.value - below, value)
    value, low, high = np.clip([value, low, high], *about(measure).span).tolist()
    how = f"{apparent.how} less the optimism by cross-validation or by the bootstrap, or its percentiles, the widest"
    return Corrected(apparent, optimism, Estimate(value, low, high, asked.level, how))
