"""Cross-validation of a rule: what the thresholds that it chooses without a fold give on that fold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import hypot, isfinite, nan
from typing import NamedTuple

import numpy as np

from baserate._arrays import Cells, Floats, make_read_only, ratio
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._cut import Cut
from baserate._errors import BaserateError, OptionError
from baserate._estimate import Estimate
from baserate._policy import Policy
from baserate._rows import Rows
from baserate._tally import Tally
from baserate.calibrate import FOLDS, Data, dealt, dealt_counts, left_out, tally_of
from baserate.decide._rule import Choose, Gains, greatest, told
from baserate.infer import EstimateRequest, Seed, estimate, in_blocks, two_sided
from baserate.measure import USUAL, Measure, about, known as known_measure

_REPEATS = 5
"""Divisions into folds over which cross-validated performance is averaged."""
_CELLS = ("tp", "fp", "fn", "tn")


class HeldOut(NamedTuple):
    """The four cells at the threshold that was chosen without a fold: of each fold of each division of the rows."""

    everywhere: Floats
    """All rows: of shape (divisions, folds, 4), NaN where nothing could be chosen."""
    held: Floats
    """The fold alone."""

    @property
    def folds(self) -> int:
        """How many there are in a division."""
        return int(self.held.shape[1])

    def optimism(self, measure: Measure) -> Floats:
        r"""Optimism of the choice by each division; undefined ones are left out.

        It is the change of the measure when a fold k of all K loses its weight at the threshold that was chosen without
        it, less that when it gains as much, :math:`½[m(T_k(1+1/K)-F_k)-m(T_k(1-1/K)+F_k)]`, summed over the folds,
        where T are all rows and F the fold. Of a measure that is linear in the cells it is the difference between all
        rows and the folds that were held out; others do not suffer from mixing the thresholds of folds.

        All rows contain the fold, so that they differ from it by 1 − 1/K of what the other folds differ from it, which
        is the optimism of a choice among (1 − 1/K)·n rows. That falls as :math:`n^{-2/3}` [@kim1990]; so the sum is
        multiplied by :math:`(1-1/K)^{-1/3}`.
        """
        usable = np.isfinite(self.everywhere[..., 0])
        found = np.full(usable.shape, nan)
        share = 1 / self.folds
        without, with_more = (
            Counts(*np.maximum(self.everywhere[usable] * (1 + sign * share) - sign * self.held[usable], 0).T)
            for sign in (1, -1)
        )
        with np.errstate(invalid="ignore"):
            found[usable] = (measure(without) - measure(with_more)) / 2
        defined = np.isfinite(found)
        total = ratio(np.where(defined, found, 0.0).sum(axis=1), defined.sum(axis=1)) * self.folds
        optimism: Floats = total[np.isfinite(total)] * (1 - share) ** (-1 / 3)
        return optimism


def held_out(tally: Tally, policy: Policy, rule: Choose, *, folds: int, repeats: int, seed: Seed) -> HeldOut:
    """Divide the rows into folds, choose without each of them, and repeat that.

    There are two folds at least, and no more than rows. Folds whose remaining rows give no threshold are left out.
    `policy` is what the rule chooses on all rows.
    """
    folds = max(min(folds, int(tally.rows.sum(dtype=np.int64))), 2)
    inner = told(rule)
    if inner is not None and inner.gains is not None and len(policy.cut.thresholds) == 1:
        judge = _steepest_of(tally, inner.gains)
    else:
        judge = _any_of(tally, inner.cut if inner is not None else lambda curve: rule(curve).cut)

    def some(rng: np.random.Generator, many: int) -> Floats:
        return np.array([_one_division(tally, judge, folds, rng) for _ in range(many)])

    cells = in_blocks(some, draws=repeats, seed=seed, size=tally.mass.size * folds)
    return HeldOut(cells[..., :4], cells[..., 4:])


Judge = Callable[[Cells, Cells], tuple[Floats, Floats] | None]
"""With the masses outside a fold and in it, gives the cells of all rows and of the fold at the chosen threshold."""


def _one_division(tally: Tally, judge: Judge, folds: int, rng: np.random.Generator) -> Floats:
    """Cells of all rows and of the fold, for each fold; NaN where nothing could be chosen."""
    cells = np.full((folds, 8), nan)
    totals = np.array([tally.positives, tally.negatives])[:, None]
    for at, part in enumerate(_masses_of_folds(tally, folds, rng)):
        rest = np.maximum(tally.mass - part, 0)  # below 0 by rounding alone
        left = rest.sum(axis=1, keepdims=True, dtype=np.float64)
        if not left.all():
            continue
        found = judge(rest * (totals / left) if tally.reweighed else rest, part)
        if found is not None:
            cells[at] = np.concatenate(found)
    return cells


def _masses_of_folds(tally: Tally, folds: int, rng: np.random.Generator) -> Iterator[Cells]:
    rows = dealt_counts(tally.rows.ravel().astype(np.int64), folds, rng).reshape(folds, 2, -1)
    if not tally.weighted:
        yield from rows
        return
    each = tally.mass / np.maximum(tally.rows.astype(np.float64), 1)
    yield from (part * each for part in rows)


def _steepest_of(tally: Tally, gains: Callable[[float, float], Gains]) -> Judge:
    """Judge rules of a weighted sum, which one running sum answers."""
    running = np.zeros((2, len(tally.score) + 1))
    np.cumsum(tally.mass, axis=1, dtype=np.float64, out=running[:, 1:])
    totals = running[:, -1]

    def judge(rest: Cells, part: Cells) -> tuple[Floats, Floats]:
        place = greatest(rest, gains(*rest.sum(axis=1, dtype=np.float64).tolist())) or 0
        flagged, whole = (part[:, at].sum(axis=1, dtype=np.float64) for at in (slice(place), slice(None)))
        everywhere = running[:, place]
        return np.concatenate([everywhere, totals - everywhere]), np.concatenate([flagged, whole - flagged])

    return judge


def _any_of(tally: Tally, find: Callable[[Curve], Cut]) -> Judge:
    """Judge any rule."""
    everybody = Curve(tally)

    def judge(rest: Cells, part: Cells) -> tuple[Floats, Floats] | None:
        try:
            cut = find(_curve(tally, rest))
        except BaserateError:
            return None
        return (_cells(cut.counts(everybody)), _cells(cut.counts(_curve(tally, part)))) if cut.has_table else None

    return judge


def _curve(tally: Tally, mass: Cells) -> Curve:
    """Curve of other masses at the same scores; measures read the mass alone."""
    return Curve(Tally.counted(tally.score, make_read_only(mass)) if not tally.weighted else _weighted(tally, mass))


def _weighted(tally: Tally, mass: Cells) -> Tally:
    return Tally(tally.score, make_read_only(np.asarray(mass, dtype=np.float64)), tally.rows, tally.rows)


def _cells(counts: Counts[float]) -> Floats:
    return np.array([getattr(counts, cell) for cell in _CELLS], dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class CrossValidated:
    """A rule judged by rows that it did not choose on."""

    policy: Policy
    """What it chooses on all rows."""
    cuts: tuple[Cut, ...]
    """What it chose without each fold, in the first division into folds."""
    counts: Counts[float]
    """The folds' tables, each at the cut that was chosen without it, together: of the first division."""
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
    """Choose without a fold of the rows, judge the choice by that fold, and repeat that with other folds.

    Rows of one cluster stay together. The policy is the one that all rows give. A measure's performance is its value
    there, less the optimism of the choice: what all rows give too much, beside folds of them, at the thresholds that
    were chosen without those folds (`HeldOut.optimism`), averaged over five divisions. Its interval is that of
    the held-out table, moved there, with the variation between divisions added in quadrature. Where a measure is
    undefined or infinite, its estimate is that of the held-out table alone.

    >>> from baserate import decide, population, tally
    >>> t = tally(*population.binormal(means=(0, 1)).draw(200, 1))
    >>> found = decide.crossvalidated(t, decide.youden, measures=["youden"])
    >>> [round(cut.threshold, 2) for cut in found.cuts], round(found.performance["youden"].value, 3)
    ([0.33, 0.34, 0.34, 0.54, 0.33], 0.446)
    """
    chosen = [of_tables(each) for each in measures]
    asked = EstimateRequest(level)
    everybody = Curve(tally_of(data))
    policy = rule(everybody)
    if not policy.cut.has_table:
        raise OptionError(f"a cut into {', '.join(policy.cut.actions)} has no 2×2 table to be judged by.")
    cuts, held = _division(data, rule, folds, seed)
    counts = _added(held)
    more = _more_divisions(data, everybody, policy, rule, (folds, seed))
    tables = _several([_tables(everybody, cuts, held), *more])
    apparent = policy.cut.counts(everybody)
    performance = {about(each).name: _judged(each, counts, apparent, tables, asked) for each in chosen}
    return CrossValidated(policy, tuple(cuts), counts, performance)


def _judged(
    measure: Measure, counts: Counts[float], apparent: Counts[float], tables: HeldOut, asked: EstimateRequest
) -> Estimate:
    """Estimate a measure at the threshold that all rows give."""
    held, seen = estimate(measure, counts, level=asked.level), float(measure(apparent))
    optimism = tables.optimism(measure)
    if not (isfinite(held.value) and isfinite(seen) and len(optimism)):
        return held
    value = seen - float(optimism.mean())
    spread = two_sided(asked.level) * float(optimism.std(ddof=1)) if len(optimism) > 1 else 0.0
    low, high = value - hypot(held.value - held.low, spread), value + hypot(held.high - held.value, spread)
    value, low, high = np.clip([value, low, high], *about(measure).span).tolist()
    return Estimate(value, low, high, asked.level, f"{held.how} in held-out folds, repeated cross-validation")


def _division(data: Data, rule: Choose, folds: int, seed: int) -> tuple[list[Cut], list[Counts[float]]]:
    """Cuts that were chosen without each fold, and the table of each fold there."""
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
    return cuts, tables


def _more_divisions(
    data: Data, everybody: Curve, policy: Policy, rule: Choose, dealing: tuple[int, int]
) -> Iterator[HeldOut]:
    """Divide anew; where clusters are kept together, divisions that leave nothing to choose from are passed over."""
    folds, seed = dealing
    if not (isinstance(data, Rows) and data.cluster is not None):
        rng = np.random.default_rng([seed, 1])  # other folds than those of the first division
        yield held_out(everybody.tally, policy, rule, folds=folds, repeats=_REPEATS - 1, seed=rng)
        return
    for other in np.random.default_rng(seed).integers(0, 1 << 32, _REPEATS - 1).tolist():
        try:
            yield _tables(everybody, *_division(data, rule, folds, other))
        except BaserateError:
            continue


def _tables(everybody: Curve, cuts: Sequence[Cut], held: Sequence[Counts[float]]) -> HeldOut:
    everywhere = [_cells(cut.counts(everybody)) for cut in cuts]
    return HeldOut(np.array([everywhere]), np.array([[_cells(each) for each in held]]))


def _several(divisions: Sequence[HeldOut]) -> HeldOut:
    """All divisions, one after the other; those with fewer folds, of few clusters, are left out."""
    alike = [each for each in divisions if each.folds == divisions[0].folds]
    return HeldOut(np.concatenate([each.everywhere for each in alike]), np.concatenate([each.held for each in alike]))


def _added(tables: Sequence[Counts[float]]) -> Counts[float]:
    def cells(parts: Sequence[Counts[float]]) -> list[float]:
        return [sum(getattr(part, cell) for part in parts) for cell in _CELLS]

    weighted = any(table.moments for table in tables)
    moments = (Counts(*cells([t.squares for t in tables])), Counts(*cells([t.rows for t in tables])))
    return Counts(*cells(tables), moments=moments if weighted else None, reweighed=tables[0].reweighed)


def of_tables(measure: str | Measure) -> Measure:
    """Return a measure of the 2×2 table; others are refused."""
    found = known_measure(measure)
    if about(found).of is not Counts:
        raise OptionError(f"{about(found).name} does not depend on the cut-off; take a measure of the 2×2 table.")
    return found
