"""Models compared on different rows: other people, other sites, before and after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import inf, isfinite, isnan, nan, sqrt
from typing import Any

import numpy as np

from baserate._arrays import Floats, make_read_only, ratio
from baserate._costs import Costs
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._errors import OptionError
from baserate._tally import Tally
from baserate.infer import _auc, _known
from baserate.infer._binomial import Share, share, wilson
from baserate.infer._columns import BUCKETS, draws_of, pooled_scores
from baserate.infer._comparing._compare import AREAS, cut
from baserate.infer._comparing._comparison import STILL, Comparison, ComparisonRequest
from baserate.infer._comparing._influence_difference import Studentized
from baserate.infer._comparing._paired import TABLES, Drawn, as_share
from baserate.infer._comparing._question import Bounds, Question, hybrid, of_student
from baserate.infer._draws import Seed, checked_seed, in_blocks, masses
from baserate.infer._estimate import CLOSED, Case, EstimateRequest as One, ways
from baserate.infer._influence import spread
from baserate.infer._moments import Units, widening
from baserate.measure import (
    Measure,
    Settings,
    about,
    brier,
    brier_skill,
    known,
    log_loss,
    log_loss_skill,
    require_stated,
    why,
)

_PRIOR = 0.5
_LOSSES = (brier, brier_skill, log_loss, log_loss_skill)
_CONSTANT = 0.5
"""AUC of constant scores."""


def compare_unpaired(  # noqa: PLR0913  (each is a part of the question)
    a: Tally,
    b: Tally,
    *,
    measure: str | Measure = "auc",
    threshold: float | None = None,
    question: Question = Question(),  # noqa: B008  (it is immutable)
    costs: Costs | None = None,
    seed: Seed = 0,
) -> Comparison:
    """Compare two independent samples, of one model or of two: the difference of a measure, its interval, a p-value.

    AUC, and what is an AUC on another scale: DeLong's variances with Student's distribution and Welch's degrees of
    freedom, as pROC does [@delong1988] [@welch1947]; score limits where a sample is perfect. Shares:
    Newcombe's hybrid of Wilson's intervals, and the p-value at which it reaches the bound [@newcombe1998]; of weighted
    rows with the effective sizes of both samples. Brier score, log loss and their skill: Welch's t with fourth-moment
    degrees of freedom [@satterthwaite1946]. KS and average precision: Newcombe's hybrid of the intervals that
    `estimate` gives. All else: independent bootstrap samples of both. Models that judged the same rows belong to
    `compare`, which accounts for their correlation. Expected costs need `costs`, as of `compare`.

    >>> men = Tally.counted([1.0, 0.0], [[56, 14], [0, 0]])
    >>> women = Tally.counted([1.0, 0.0], [[48, 32], [0, 0]])
    >>> d = compare_unpaired(men, women, measure="sensitivity", threshold=0.5).difference
    >>> round(d.value, 4), round(d.low, 4), round(d.high, 4)  # Newcombe 1998, table II, method 10
    (0.2, 0.0524, 0.3339)
    """
    for each in (a, b):
        if not isinstance(each, Tally):
            raise OptionError(f"{type(each).__name__} is not a tally; make one first, with baserate.tally(…).")
    found = Settings(costs=costs).apply(known(measure))
    require_stated([found])
    nouns = [_noun(tally, about(found).of, threshold) for tally in (a, b)]
    return compared(ComparisonRequest(found, question), nouns, seed=seed)


def compared(asked: ComparisonRequest, nouns: list[Any], *, seed: Seed = 0) -> Comparison:
    """Compare two samples by what the measure takes: tables of decisions that were made, curves, or tallies."""
    found = asked.measure
    values = float(found(nouns[0])), float(found(nouns[1]))
    if isnan(values[0] - values[1]):
        reasons = [why(found, noun) for noun in nouns]
        named = zip(("first", "second"), reasons, strict=True)
        return asked.found(values, (nan, nan), "", why="; ".join(f"{name}: {each}" for name, each in named if each))
    method = _method(asked, values, reweighed=any(map(_known.reweighed, nouns)))
    by: dict[str, Callable[[], Comparison]] = {
        "delong": partial(_welch, asked, nouns),
        "newcombe": partial(_newcombe, asked, nouns),
        "t": partial(_loss, asked, nouns, values),
        "hybrid": partial(_hybrid, asked, nouns, values),
        "resample": partial(_drawn, asked, nouns, values, seed),
    }
    return by[method]()


def _method(asked: ComparisonRequest, values: Bounds, *, reweighed: bool) -> str:
    told, method = about(asked.measure), asked.question.method
    area = told.name in AREAS and told.of is Curve
    if reweighed and not area:
        if method is None:
            return "hybrid"
        raise OptionError(f"method={method!r} draws everybody, but the shares of the classes are known: leave it out.")
    if method is None and asked.measure in _LOSSES and isfinite(values[0]) and isfinite(values[1]):
        return "t"
    if method is None and asked.measure in CLOSED and not area and isfinite(values[0]) and isfinite(values[1]):
        return "hybrid"
    if method is None:
        return "delong" if area else "newcombe" if told.of is Counts and told.share else "resample"
    if method == "delong" and not area:
        raise OptionError(f"DeLong's test is of areas ({', '.join(AREAS)}), not of {told.name}; use method='resample'.")
    if method not in {"delong", "resample"}:
        raise OptionError("McNemar's test is of models on the same rows; use method='resample', or compare(rows).")
    return method


def _noun(tally: Tally, of: type, threshold: float | None) -> Any:  # noqa: ANN401  (what the measure takes)
    if of is Counts:
        return Curve(tally).at(cut("the score", tally.score, threshold))
    return Curve(tally) if of is Curve else tally


def _welch(asked: ComparisonRequest, curves: list[Curve]) -> Comparison:
    from scipy.special import stdtrit

    told, question = about(asked.measure), asked.question
    scale, side, bound = AREAS[told.name], question.side(told), question.bound(told)
    areas = [_auc.area(curve.tally) for curve in curves]
    values = float(asked.measure(curves[0])), float(asked.measure(curves[1]))
    spread = areas[0].variance + areas[1].variance
    # Of constant scores it is sure that they have none; of perfect ones it is not.
    if not spread > 0 or any(not each.variance > 0 and each.value != _CONSTANT for each in areas):
        return _without_variance(asked, areas, values)
    # Welch and Satterthwaite, with a degree of freedom for each row but one.
    rows = [each.positives + each.negatives for each in areas]
    freedom = spread**2 / sum(each.variance**2 / (size - 1) for each, size in zip(areas, rows, strict=True))
    difference, error = values[0] - values[1], scale * sqrt(spread)
    half = float(stdtrit(freedom, (1 + question.level) / 2)) * error
    t = (difference - bound) / error
    how = "DeLong, unpaired, Welch's t"
    bounds = (difference - half, difference + half)
    return asked.found(values, bounds, how, statistic=t, p=of_student(t, freedom, side), test=how)


def _without_variance(asked: ComparisonRequest, areas: list[_auc.Area], values: Bounds) -> Comparison:
    told = about(asked.measure)
    scale = AREAS[told.name]

    def interval(level: float) -> Bounds:
        low, high = hybrid((areas[0].value, areas[1].value), *(_auc.score(each, level) for each in areas))
        return scale * low, scale * high

    return asked.by_intervals(values, interval, "Newcombe's score limits of both areas: some rows show no variance")


def _newcombe(asked: ComparisonRequest, nouns: list[Counts[float]]) -> Comparison:
    first, second = effective_shares(asked.measure, nouns)
    degrees = inf if all(noun.moments is None for noun in nouns) else _welch_degrees(first, second)

    def interval(level: float) -> Bounds:
        part = 1 / widening(degrees, level) ** 2
        bounds = [wilson(part * each.hits, part * each.misses, level) for each in (first, second)]
        return hybrid((_value(first), _value(second)), *bounds)

    values = float(asked.measure(nouns[0])), float(asked.measure(nouns[1]))
    return asked.by_intervals(values, interval, "Newcombe's hybrid score interval")


def _welch_degrees(first: Share[float], second: Share[float]) -> float:
    """Degrees of freedom of a variance that is estimated from as many rows as weighted ones are worth [@welch1947]."""
    variances = [each.hits * each.misses / each.trials**3 for each in (first, second)]
    rows = [max(each.trials - 1, 1.0) for each in (first, second)]
    doubt = sum(variance**2 / each for variance, each in zip(variances, rows, strict=True))
    return sum(variances) ** 2 / doubt if doubt > 0 else sum(rows)


def effective_shares(measure: Measure, nouns: Sequence[Counts[float]]) -> list[Share[float]]:
    r"""Hits and misses of several samples; of weighted rows, as many as plain counts would need to be as sure.

    Sample g has Kish's :math:`(\sum w)^2/\sum w^2` rows [@kish1965], times the ratio of :math:`p_g(1-p_g)` to the
    residual variance :math:`\sum w^2(y-p_g)^2/\sum w^2`, a mean over all samples. A variance of each sample alone, as
    intervals of single shares have it, is too unsure: where the few heavy rows of a sample agree it is far too small.
    """
    if all(noun.moments is None for noun in nouns):
        return [share(measure, noun) for noun in nouns]
    cells = np.array([_hits_and_misses(measure, noun) for noun in nouns])
    mass, squares = cells[:, :2].sum(axis=1), cells[:, 2:].sum(axis=1)
    p, q = cells[:, 0] / mass, cells[:, 1] / mass
    kish = mass**2 / squares
    # Of weights that mean nothing but scale, in units of the usual weight of a sample.
    usual = (squares / mass) ** 2
    expected = float(np.sum(p * q * squares / usual))
    seen = float(np.sum((q**2 * cells[:, 2] + p**2 * cells[:, 3]) / usual))
    trials = kish * (expected / seen if seen > 0 else 1.0)
    return [Share(float(hit), float(miss)) for hit, miss in zip(p * trials, q * trials, strict=True)]


def _hits_and_misses(measure: Measure, noun: Counts[float]) -> list[float]:
    """Masses of hits and misses, then their squared weights."""
    names = about(measure).share
    assert names is not None  # noqa: S101  (for the type checker)
    return [sum(getattr(table, name) for name in each) for table in (noun, noun.squares) for each in names]


def _loss(asked: ComparisonRequest, tallies: list[Tally], values: Bounds) -> Comparison:
    """Welch's t test of mean losses; where a sample shows no variance, limits of both."""
    spreads = [spread(asked.measure, tally, value) for tally, value in zip(tallies, values, strict=True)]
    # Sorted, so that the order of the samples does not change the last digit.
    parts = sorted(part for each in spreads for part in (each.of_positives, each.of_negatives) if part.rows)
    found = Studentized.of(values[0] - values[1], parts, "Welch's t with fourth-moment degrees of freedom")
    if not all(each.seen > 0 for each in spreads) or not found.usable(max(map(abs, values))):
        return _hybrid(asked, tallies, values)
    told = about(asked.measure)
    t, p = found.test(asked.question.side(told), asked.question.bound(told))
    return asked.found(values, found.interval(asked.question.level), found.how, statistic=t, p=p, test=found.how)


def _hybrid(asked: ComparisonRequest, nouns: list[Any], values: Bounds) -> Comparison:
    """Newcombe's hybrid of intervals of each, which are those of `estimate`."""

    def own(noun: Any, value: float, level: float) -> Bounds:  # noqa: ANN401  (what the measure takes)
        way = ways(asked.measure, reweighed=_known.reweighed(noun))[""]
        found = way(Case(asked.measure, noun, value, One(level)))
        return (nan, nan) if found.why else (min(found.low, value), max(found.high, value))

    def interval(level: float) -> Bounds:
        return hybrid(values, *(own(noun, value, level) for noun, value in zip(nouns, values, strict=True)))

    return asked.by_intervals(values, interval, "Newcombe's hybrid of both intervals")


def _value(found: Share[float]) -> float:
    return found.hits / found.trials


def _drawn(asked: ComparisonRequest, nouns: list[Any], values: Bounds, seed: Seed) -> Comparison:
    told, own = about(asked.measure), checked_seed(seed).spawn(2)
    # By content, so that it does not matter which comes first.
    turned = _content(values[0], nouns[0]) > _content(values[1], nouns[1])
    each = [
        Drawn(_draws(asked.measure, noun, rng), "", Units(_units(noun), _added(noun)))
        for noun, rng in zip(nouns, own[::-1] if turned else own, strict=True)
    ]
    if any(one.still(value) for one, value in zip(each, values, strict=True)):
        return _unvaried(asked, each, values)
    fewest = min(len(one.draws) for one in each)
    with np.errstate(invalid="ignore"):  # infinite ones
        apart = each[0].draws[:fewest] - each[1].draws[:fewest]
    fewest_units = min((one.units for one in each), key=lambda units: units.seen)
    drawn = Drawn(apart, f"independent draws of both{_told(nouns)}", fewest_units)
    value = values[0] - values[1]
    tested = drawn.test(value, asked.question.side(told), asked.question.bound(told))
    return asked.found(values, drawn.interval(value, asked.question.level), drawn.told, **tested, test=drawn.told)


def _content(value: float, noun: Any) -> tuple[Any, ...]:  # noqa: ANN401  (what the measure takes)
    if isinstance(noun, Counts):
        return (value, noun.rows.tp, noun.rows.fp, noun.rows.fn, noun.rows.tn)
    tally = noun.tally if isinstance(noun, Curve) else noun
    return (value, tally.score.tobytes(), tally.rows.tobytes())


def _unvaried(asked: ComparisonRequest, each: list[Drawn], values: Bounds) -> Comparison:
    """Where the draws of one sample tell nothing: limits of a share of as many rows take their place."""

    def own(drawn: Drawn, value: float, level: float) -> Bounds:
        if drawn.still(value):
            return as_share(asked.measure, value, drawn.units, level)
        low, high = drawn.interval(value, level)
        return min(low, value), max(high, value)

    def interval(level: float) -> Bounds:
        return hybrid(values, *(own(drawn, value, level) for drawn, value in zip(each, values, strict=True)))

    how = f"Newcombe's hybrid of draws and of Wilson's limits: {STILL}"
    side = asked.question.side(about(asked.measure))
    smallest = max(
        (one.smallest_p(side) for one, value in zip(each, values, strict=True) if not one.still(value)), default=0.0
    )
    return asked.by_intervals(values, interval, how, smallest=smallest)


def _draws(measure: Measure, noun: Any, rng: np.random.Generator) -> Floats:  # noqa: ANN401  (what the measure takes)
    """Values of a measure with random masses: of four cells, or of all distinct scores."""
    if isinstance(noun, Counts):
        mass, squares = (np.array([each.tp, each.fp, each.fn, each.tn]) for each in (noun, noun.squares))

        def tables(rng: np.random.Generator, draws: int) -> Floats:
            return np.asarray(measure(Counts(*masses(rng, draws, mass, squares, prior=_PRIOR).T)))

        return in_blocks(tables, draws=TABLES, seed=rng, size=4)
    curve = isinstance(noun, Curve)
    whole = noun.tally if curve else noun
    tally = _pooled(whole)

    def columns(rng: np.random.Generator, draws: int) -> Floats:
        return np.array([measure(_redrawn(tally, rng, curve=curve)) for _ in range(draws)])

    size = tally.mass.size
    found = in_blocks(columns, draws=draws_of(size), seed=rng, size=size)
    if tally is whole:
        return found
    # Draws of pooled scores tell how the value varies, and are moved to where that of all scores is.
    moved = float(measure(noun)) - float(measure(Curve(tally) if curve else tally))
    return found if isnan(moved) else found + moved


def _units(noun: Any) -> float:  # noqa: ANN401  (what the measure takes)
    """How many rows a value rests on; it does not matter for counted tables, to which half rows are added."""
    if isinstance(noun, Counts):
        return inf if noun.moments is None else ratio(noun.total**2, noun.squares.total)
    rows = (noun.tally if isinstance(noun, Curve) else noun).rows.sum(axis=1, dtype=np.int64)
    return float(rows.min() if isinstance(noun, Curve) else rows.sum())


def _added(noun: Any) -> float:  # noqa: ANN401  (what the measure takes)
    """Rows that were added to a table before drawing."""
    return 4 * _PRIOR if isinstance(noun, Counts) else 0.0


def _told(nouns: list[Any]) -> str:
    """Say that scores were pooled where they were."""
    tallies = [noun.tally if isinstance(noun, Curve) else noun for noun in nouns if not isinstance(noun, Counts)]
    return f", scores pooled into {BUCKETS} ranks" if any(len(each.score) > BUCKETS for each in tallies) else ""


def _pooled(tally: Tally) -> Tally:
    """Few enough scores to draw them often: neighbours together."""
    if len(tally.score) <= BUCKETS:
        return tally
    bucket, score = pooled_scores(tally.score)
    first = np.flatnonzero(np.diff(bucket, prepend=-1))
    mass, squares, rows = (
        np.add.reduceat(cells, first, axis=1, dtype=np.float64) for cells in (tally.mass, tally.squares, tally.rows)
    )
    return Tally(score, mass, squares, rows, reweighed=tally.reweighed)


def _redrawn(tally: Tally, rng: np.random.Generator, *, curve: bool) -> Curve | Tally:
    drawn = make_read_only(masses(rng, 1, tally.mass, tally.squares)[0])
    found = Tally(tally.score, drawn, tally.rows, tally.rows, tally.resolution)
    return Curve(found) if curve else found
