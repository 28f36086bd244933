"""What might happen if given probabilities were right: draws of it, at the same scores with the same masses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from baserate._arrays import Floats, make_read_only, ratio
from baserate._numeric.distinct import run_sums
from baserate._tally import Stack, Tally
from baserate.infer._draws import Seed, checked_draws, in_blocks
from baserate.measure import OF_BINS, OF_DISTANCES, OF_LINE, Measure, bare, binned, cox, distances

BUCKETS = 4096
"""Scores that are kept apart; of more, neighbours are pooled."""
_STEP = 0.01
_CHUNK = 1 << 16
"""Numbers that are measured at a time: they fit the cache."""


def neighbours_pooled(tally: Tally) -> Tally:
    """Pool neighbouring scores of a large tally, each under the mean of theirs, into buckets of about equal mass."""
    if len(tally.score) <= BUCKETS:
        return tally
    mass = tally.mass.sum(axis=0, dtype=np.float64)
    before = np.cumsum(mass)
    bucket = np.minimum((before / before[-1] * BUCKETS).astype(np.intp), BUCKETS - 1)
    starts = np.flatnonzero(np.diff(bucket, prepend=-1))
    score = np.add.reduceat(mass * tally.score, starts) / np.add.reduceat(mass, starts)
    if not (np.diff(score) < 0).all():  # scores so near to each other that their means round to the same
        score = tally.score[starts]
    tables = [make_read_only(run_sums(cells, starts)) for cells in (tally.mass, tally.squares, tally.rows)]
    mass_, squares, rows = tables if tally.weighted else [tables[2]] * 3
    return Tally(make_read_only(score), mass_, squares, rows, tally.resolution, reweighed=tally.reweighed)


def drawn(tally: Tally, chance: Floats, *, draws: int, seed: Seed) -> Stack:
    """Let each row be positive with the chance of its score, many times over.

    Rows of different weights at one score are drawn as that many of equal weight as would be as sure.
    """
    checked_draws(draws)
    if tally.reweighed:
        return _drawn_by_class(tally, chance, draws=draws, seed=seed)
    mass = tally.mass.sum(axis=0, dtype=np.float64)
    trials = np.maximum(np.rint(mass**2 / tally.squares.sum(axis=0, dtype=np.float64)), 1).astype(np.int64)
    single = bool((trials == 1).all())

    def some(rng: np.random.Generator, many: int) -> Floats:
        shape = (many, len(mass))
        hits = rng.random(shape) < chance if single else rng.binomial(trials, chance, shape)
        return np.asarray(hits * (mass / trials))

    positive = in_blocks(some, draws=draws, seed=seed, size=len(mass))
    return Stack(tally.score, positive, mass - positive, shared=True)


def _drawn_by_class(tally: Tally, chance: Floats, *, draws: int, seed: Seed) -> Stack:
    """Do the same where rows weigh what their class does, in which they then have less or more chance to be.

    A row that is positive with odds o among the masses is so with odds o·w₀/w₁ among the rows, where those of positives
    weigh w₁ and those of negatives w₀. The masses of the classes are then made what they are known to be.
    """
    mass, squares = (np.asarray(each, dtype=np.float64) for each in (tally.mass, tally.squares))
    totals = mass.sum(axis=1, keepdims=True)
    usual = np.where(totals > 0, ratio(squares.sum(axis=1, keepdims=True), totals), 1.0)
    one, other = np.where(mass > 0, ratio(squares, mass), usual)
    trials = np.maximum(np.rint(ratio(mass, np.stack([one, other])).sum(axis=0)), 1).astype(np.int64)
    odds = ratio(chance * other, chance * other + (1 - chance) * one)

    def some(rng: np.random.Generator, many: int) -> Floats:
        return rng.binomial(trials, odds, (many, len(trials))).astype(np.float64)

    hits = in_blocks(some, draws=draws, seed=seed, size=len(trials))
    drawn = [hits * one, (trials - hits) * other]
    known = [
        each * np.nan_to_num(ratio(whole, each.sum(axis=1, keepdims=True)), posinf=0.0)
        for each, whole in zip(drawn, totals, strict=True)
    ]
    return Stack(tally.score, *known)


def reached(value: float, draws: Floats) -> float:
    """Share of draws that reach a value, which is one more draw itself: never 0. Rounding tells nothing apart."""
    return (1 + int(np.count_nonzero(draws >= value - 1e-12 * abs(value)))) / (1 + len(draws))


def is_smallest(p: float, draws: Floats) -> bool:
    """Whether a p-value is the smallest that so many draws can show, and so only an upper bound."""
    return p <= 1 / (1 + len(draws))


def coarser(measure: Measure) -> Measure:
    """Return the same with fewer points of a local regression: enough for draws of a smooth curve."""
    if bare(measure) not in OF_DISTANCES:
        return measure
    return partial(measure, step=max(float(_options(measure)["step"]), _STEP))


def measured(measures: Sequence[Measure], stack: Stack) -> Floats:
    """Values of measures, a row for each tally of the stack."""
    columns: dict[Measure, Floats] = {}
    rest = list(measures)
    for family, prepare in _FAMILIES:
        # A local regression of shared masses is one matrix for all; else what fits the cache is quicker.
        parts = [stack] if family is OF_DISTANCES and stack.shared else list(_chunks(stack))
        for members in _alike(rest, family):
            made = [prepare(part, _options(members[0])) for part in parts]
            columns |= {each: np.concatenate([family[bare(each)](*ready) for ready in made]) for each in members}
        rest = [each for each in rest if each not in columns]
    columns |= {each: np.concatenate([each(part) for part in _chunks(stack)]) for each in rest}
    return np.stack([columns[measure] for measure in measures], axis=-1)


def _alike(measures: Sequence[Measure], family: Mapping[Measure, Any]) -> list[list[Measure]]:
    """Members of a family, those with the same options together."""
    found: dict[str, list[Measure]] = {}
    for measure in measures:
        if bare(measure) in family:
            found.setdefault(repr(_options(measure)), []).append(measure)
    return list(found.values())


def _options(measure: Measure) -> dict[str, Any]:
    """Options that a measure is taken with, its defaults among them."""
    chosen = measure.keywords if isinstance(measure, partial) else {}
    return (bare(measure).__kwdefaults__ or {}) | chosen


def _chunks(stack: Stack) -> Iterator[Stack]:
    step = max(_CHUNK // max(len(stack.score), 1), 1)
    for start in range(0, len(stack.positive), step):
        place = slice(start, start + step)
        yield replace(stack, positive=stack.positive[place], negative=stack.negative[place])


_FAMILIES: tuple[tuple[Mapping[Measure, Any], Callable[[Stack, dict[str, Any]], tuple[Any, ...]]], ...] = (
    (OF_DISTANCES, lambda stack, options: distances(stack, **options)),
    (OF_BINS, lambda stack, options: (binned(stack, **options),)),
    (OF_LINE, lambda stack, _options: (cox(stack), stack)),
)
"""Measures that are made of the same, and how that is made."""
