"""Models of many classes compared on the same rows."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isinf, isnan, nan, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._confusion import Confusion
from baserate._errors import EmptyDataError, OptionError, ShapeError
from baserate._rows import MulticlassRows
from baserate.infer import _auc, _class_averages, _influence
from baserate.infer._binomial import two_sided
from baserate.infer._columns import draws_of
from baserate.infer._comparing._comparison import STILL, Comparison, ComparisonRequest
from baserate.infer._comparing._paired import AS_SHARES, Drawn, as_shares
from baserate.infer._comparing._question import LEAST, Question, hybrid, of_normal, of_student
from baserate.infer._draws import Seed, in_blocks, masses
from baserate.infer._means import LOSSES, own_losses
from baserate.infer._moments import Units, widening
from baserate.measure import Measure, about, average_precision, multiclass, why

_PRIOR = 4.0
"""Rows added to a joint table before masses are drawn."""
_ROUNDING = 1e-12
_SAME = "the same predictions in every row"


def compare_classes(
    a: MulticlassRows,
    b: MulticlassRows,
    *,
    measure: str | Measure = "hand_till",
    question: Question = Question(),  # noqa: B008  (it is immutable)
    seed: Seed = 0,
) -> Comparison:
    """Compare two models that give a score for each of several classes to the same rows.

    Hand and Till's multi-class AUC, averages of AUC, average precision and Brier score over classes, Brier score and
    log loss: t interval and t test of the mean difference between what each row adds for both models, as DeLong's test
    does for two classes. Degrees of freedom follow from fourth moments [@satterthwaite1946]. Any other measure of
    scores, or of the classes they decide: random weights for rows, the same for both models.

    >>> from baserate import scored
    >>> truth = ["a", "b", "c", "c", "a", "b"]
    >>> new = scored(truth, [[8, 1, 1], [3, 6, 1], [5, 3, 2], [1, 7, 2], [7, 2, 1], [2, 4, 4]])
    >>> old = scored(truth, [[2, 1, 1], [3, 6, 1], [5, 3, 2], [1, 7, 2], [7, 2, 1], [9, 4, 4]])
    >>> compare_classes(new, old)
    Comparison(hand_till: first 0.833333, second 0.666667; difference 0.166667 (-0.272471 to 0.605804), p 0.244071)
    """
    _check(a, b)
    found = multiclass.named(measure) if isinstance(measure, str) else measure
    asked = ComparisonRequest(found, question)
    told = about(found)
    if told.of not in (MulticlassRows, Confusion):
        raise OptionError(f"{told.name} is no measure of many classes; `baserate.measure.multiclass` holds those.")
    if told.name == "expected_cost" and found is multiclass.expected_cost:
        raise OptionError(
            "expected_cost needs what errors cost; give partial(measure.multiclass.expected_cost, costs=CostMatrix(…))."
        )
    if question.method not in (None, "delong", "resample") or (
        question.method == "delong" and told.name != "hand_till"
    ):
        raise OptionError(
            f"the method {question.method!r} is not for {told.name} of many classes; use method='resample'."
        )
    first, second = _ordered(a, b)
    values = _value(found, first), _value(found, second)
    if isnan(values[0] - values[1]):
        return asked.found(
            values, (nan, nan), "", why=why(found, first if told.of is MulticlassRows else first.decided())
        )
    if np.array_equal(first.score, second.score):
        p = LEAST if question.alternative != "two-sided" and question.margin > 0 else 1.0
        return asked.found(values, (0.0, 0.0), _SAME, statistic=0.0, p=p, test=_SAME)
    if question.method != "resample":
        closed = _by_influence(asked, first, second, values)
        if closed is not None:
            return closed
    return _by_draws(asked, first, second, values, seed)


def _by_influence(
    asked: ComparisonRequest, a: MulticlassRows, b: MulticlassRows, values: tuple[float, float]
) -> Comparison | None:
    """Compare by what each row adds for both models; None where there is no closed form, or no variance to use."""
    if isinf(values[0]) or isinf(values[1]):
        return None
    found = [_influence_of(asked.measure, rows, value) for rows, value in zip((a, b), values, strict=True)]
    if found[0] is None or found[1] is None:
        return None
    apart = found[0].slopes - found[1].slopes
    times = np.ones(len(a)) if a.count is None else np.asarray(a.count, dtype=np.float64)
    # Losses are means over all rows; areas are made of means within each class.
    of = np.zeros(len(a), dtype=np.intp) if asked.measure in LOSSES else a.truth
    parts = [_part(apart[of == at], times[of == at]) for at in np.unique(of)]
    error, smallest = sqrt(sum(part.variance for part in parts)), min(part.rows for part in parts)
    if not _ROUNDING * max(map(abs, values)) < error < inf:
        return _without_variance(asked, values, smallest) if asked.measure is multiclass.hand_till else None
    if len(parts) == 2 and asked.measure is multiclass.hand_till:  # one curve, and DeLong's test of it is normal
        return _by_t(asked, values, error, inf)
    freedom = _influence.freedom(parts)
    if found[0].inner is average_precision:
        freedom = _class_averages.precision_freedom(freedom, smallest)
    return _by_t(asked, values, error, max(freedom, 1.0))


def _by_t(asked: ComparisonRequest, values: tuple[float, float], error: float, freedom: float) -> Comparison:
    """T interval and t test of a difference with this standard error."""
    told, question = about(asked.measure), asked.question
    difference = values[0] - values[1]
    half = two_sided(question.level) * widening(freedom, question.level) * error
    t = (difference - question.bound(told)) / error
    p = of_student(t, freedom, question.side(told)) if freedom < inf else of_normal(t, question.side(told))
    name = "placements, as DeLong's" if asked.measure is multiclass.hand_till else "influence function"
    how = name if freedom == inf else f"{name}, t quantiles"
    return asked.found(values, (difference - half, difference + half), how, statistic=t, p=p, test=how)


def _influence_of(measure: Measure, rows: MulticlassRows, value: float) -> _class_averages.Influence | None:
    """What each row adds to a measure; None where there is no closed form."""
    if about(measure).of is not MulticlassRows:
        return None
    if measure in LOSSES:
        weight = 1.0 if rows.weight is None else rows.weight
        return _class_averages.Influence(measure, weight * (own_losses(measure, rows) - value) / rows.total)
    return _class_averages.influence(measure, rows, value)


def _part(slopes: Floats, times: Floats) -> _influence.Part:
    second, fourth = (float(np.sum(times * slopes**power)) for power in (2, 4))
    return _influence.Part.of(second, fourth, float(times.sum()))


def _without_variance(asked: ComparisonRequest, values: tuple[float, float], rows: float) -> Comparison:
    """Limits of two areas, each of as many rows as the smallest class has."""
    areas = [_auc.Area(value, nan, rows, rows) for value in values]

    def interval(level: float) -> tuple[float, float]:
        return hybrid(values, _auc.score(areas[0], level), _auc.score(areas[1], level))

    how = f"Newcombe's score limits of both as if independent areas of the smallest class: {STILL}"
    return asked.by_intervals(values, interval, how)


def _by_draws(
    asked: ComparisonRequest, a: MulticlassRows, b: MulticlassRows, values: tuple[float, float], seed: Seed
) -> Comparison:
    told, question = about(asked.measure), asked.question
    make = _tables if told.of is Confusion else _weights
    # By content, so that it does not matter which model comes first.
    if (values[0], np.sort(a.score, axis=0).tobytes()) > (values[1], np.sort(b.score, axis=0).tobytes()):
        draws = -make(asked.measure, *_ordered(b, a), seed)
    else:
        draws = make(asked.measure, a, b, seed)
    if told.of is Confusion:
        drawn = Drawn(draws, "Dirichlet draws of the joint table")
    else:
        rows = np.bincount(a.truth, a.count)
        drawn = Drawn(draws, "Bayesian bootstrap", Units(float(rows[rows > 0].min())))
    value = values[0] - values[1]
    if told.of is MulticlassRows and drawn.still(max(map(abs, values))) and (value or values[0] in told.span):
        return asked.by_intervals(values, as_shares(asked.measure, values, drawn.units), AS_SHARES)
    tested = drawn.test(value, question.side(told), question.bound(told))
    if told.of is Confusion and question.alternative == "two-sided" and np.array_equal(a.decision(), b.decision()):
        tested = {"p": 1.0}
    return asked.found(values, drawn.interval(value, question.level), drawn.told, **tested, test=drawn.told)


def _weights(measure: Measure, a: MulticlassRows, b: MulticlassRows, seed: Seed) -> Floats:
    """Differences with a random weight for each row."""

    def make(rng: np.random.Generator, draws: int) -> Floats:
        found = np.empty(draws)
        for at in range(draws):
            drawn = rng.standard_exponential(len(a)) if a.count is None else rng.standard_gamma(a.count)
            weight = drawn if a.weight is None else drawn * a.weight
            one, other = (_value(measure, replace(each, weight=weight, count=None)) for each in (a, b))
            found[at] = one - other
        return found

    size = 2 * a.score.size
    return in_blocks(make, draws=draws_of(size), seed=seed, size=size)


def _tables(measure: Measure, a: MulticlassRows, b: MulticlassRows, seed: Seed) -> Floats:
    """Differences with a random mass for each way in which truth and both decisions occur together.

    A few rows are added first, spread over all ways in which a model is right or both agree, so that what was never
    seen is not taken for impossible; of two classes it is half a row in each of the eight cells.
    """
    width = len(a.labels)
    truth, first, second = (each.astype(np.intp) for each in (a.truth, a.decision(), b.decision()))
    seen = (truth * width + first) * width + second
    ways, which = np.unique(np.concatenate([_usual_ways(width), seen]), return_inverse=True)
    weight = np.ones(len(a)) if a.weight is None else a.weight
    times = np.ones(len(a)) if a.count is None else a.count
    mass, squares = (
        np.bincount(which[-len(a) :], times * weight**power, minlength=len(ways)).astype(np.float64) for power in (1, 2)
    )
    true = ways // width**2
    tables = [true * width + ways // width % width, true * width + ways % width]

    def make(rng: np.random.Generator, draws: int) -> Floats:
        drawn = masses(rng, draws, mass, squares, prior=_PRIOR / len(ways))
        one, other = (measure(Confusion(_added(drawn, at, width), a.labels)) for at in tables)
        return np.asarray(one - other)

    size = max(len(ways), width**2)
    return in_blocks(make, draws=draws_of(size), seed=seed, size=size)


def _usual_ways(width: int) -> npt.NDArray[np.intp]:
    """Truth and both decisions, as one number, where a model is right or both decide alike."""
    truth, other = (each.ravel() for each in np.indices((width, width)))
    decisions = ((truth, other), (other, truth), (other, other))
    return np.unique(np.concatenate([(truth * width + first) * width + second for first, second in decisions]))


def _added(drawn: Floats, at: npt.NDArray[np.intp], width: int) -> Floats:
    """Tables of truth and one decision, from masses and the cell to which each belongs."""
    found = np.zeros((len(drawn), width * width))
    for column, cell in enumerate(at.tolist()):
        found[:, cell] += drawn[:, column]
    return found.reshape(-1, width, width)


def _value(measure: Measure, rows: MulticlassRows) -> float:
    return float(measure(rows if about(measure).of is MulticlassRows else rows.decided()))


def _check(a: Any, b: Any) -> None:  # noqa: ANN401  (checked here)
    for each in (a, b):
        if not isinstance(each, MulticlassRows):
            raise OptionError(
                f"{type(each).__name__} is not ClassRows; read them first, with baserate.read.class_rows(…)."
            )
    if a.labels != b.labels:
        raise ShapeError(f"the models have different classes, {a.labels} and {b.labels}; name the same as labels=.")
    if len(a) != len(b):
        raise ShapeError(f"the models have {len(a)} and {len(b)} rows; give the same rows in the same order.")
    differ = int(np.count_nonzero(a.truth != b.truth))
    if differ:
        raise ShapeError(f"truth differs in {differ} of {len(a)} rows; give the same rows in the same order.")
    for name in ("weight", "count"):
        one, other = getattr(a, name), getattr(b, name)
        if (one is None) != (other is None) or (one is not None and not np.array_equal(one, other)):
            raise ShapeError(f"the rows of both models differ in {name}; give the same rows in the same order.")


def _ordered(a: MulticlassRows, b: MulticlassRows) -> tuple[MulticlassRows, MulticlassRows]:
    """Both in one order that depends on what the rows hold alone, identical ones together."""
    keys = [a.truth, *np.asarray(a.score, np.float64).T + 0.0, *np.asarray(b.score, np.float64).T + 0.0]
    keys += [] if a.weight is None else [a.weight]
    order = np.lexsort(keys[::-1])
    for column in (a.weight, a.count):
        if column is not None:  # zero means absent
            order = order[column[order] > 0]
    if not len(order):
        raise EmptyDataError("there are no rows; give at least one, with a weight above 0.")
    new = np.zeros(len(order) - 1, dtype=np.bool_)
    for key in keys:
        new |= np.diff(key[order]) != 0
    first = np.concatenate([np.zeros(1, dtype=np.intp), np.flatnonzero(new) + 1])
    kept = order[first]
    times = np.add.reduceat(np.ones(len(order), dtype=np.int64) if a.count is None else a.count[order], first)
    weight = None if a.weight is None else a.weight[kept]
    count = None if times.max(initial=1) == 1 else times
    changes: dict[str, Any] = {"truth": a.truth[kept], "weight": weight, "count": count}
    changes |= {"group": a.group[:0], "groups": ((),), "attributes": ()}
    first_, second = (replace(each, score=each.score[kept], **changes) for each in (a, b))
    return first_, second
