"""Comparison of multi-class models on the same rows."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isinf, isnan, nan, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._confusion import Confusion
from baserate._errors import EmptyDataError, OptionError, ShapeError, keyword
from baserate._rows import MulticlassRows
from baserate.infer import _auc_intervals, _influence_functions, _multiclass_intervals
from baserate.infer._binomial import normal_quantile
from baserate.infer._bootstrap import Seed, sample_in_blocks, sample_masses
from baserate.infer._bounds import Units, t_widening
from baserate.infer._canonical_order import choose_n_samples
from baserate.infer._comparison import (
    NO_VARIANCE,
    SHARES_METHOD,
    SMALLEST_P,
    BootstrapDifference,
    Comparison,
    ComparisonRequest,
    Question,
    newcombe_hybrid,
    normal_p,
    share_difference_limits,
    student_p,
)
from baserate.infer._multiclass_intervals import LOSSES, row_losses
from baserate.measure import Measure, average_precision, describe, multiclass, undefined_reason

_PRIOR_ROWS = 4.0
"""Prior rows of a joint table."""
_ROUNDING = 1e-12
_SAME_PREDICTIONS = "the same predictions in every row"


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
    log loss have a t interval and t test of the mean difference between what each row adds for both models, as in
    DeLong's test for two classes. Degrees of freedom follow from fourth moments [@satterthwaite1946]. Other measures of
    scores or decisions use random weights of rows, equal for both models.

    Parameters
    ----------
    a
        Rows with the scores of the first model.
    b
        The same rows, in the same order, with the scores of the second model.
    measure
        Name or function of `baserate.measure.multiclass`.
    question
        Alternative, margin, level and method.
    seed
        Seed or NumPy generator.

    Returns
    -------
    Comparison
        The difference first − second, its interval and p-value.

    Raises
    ------
    OptionError
        The measure is not a multi-class one, or the method does not fit it.
    ShapeError
        The models have different rows or classes.

    Examples
    --------
    >>> from baserate import class_scores
    >>> truth = ["a", "b", "c", "c", "a", "b"]
    >>> new = class_scores(truth, [[8, 1, 1], [3, 6, 1], [5, 3, 2], [1, 7, 2], [7, 2, 1], [2, 4, 4]])
    >>> old = class_scores(truth, [[2, 1, 1], [3, 6, 1], [5, 3, 2], [1, 7, 2], [7, 2, 1], [9, 4, 4]])
    >>> compare_classes(new, old)
    Comparison(hand_till: first 0.833333, second 0.666667; difference 0.166667 (-0.272471 to 0.605804), p 0.244071)
    """
    _check_models(a, b)
    function = multiclass.find_measure(measure) if isinstance(measure, str) else measure
    request = ComparisonRequest(function, question)
    info = describe(function)
    if info.of not in (MulticlassRows, Confusion):
        raise OptionError(f"{info.name} is no measure of many classes; `baserate.measure.multiclass` holds those.")
    if info.name == "expected_cost" and function is multiclass.expected_cost:
        raise OptionError(
            "expected_cost needs what errors cost",
            remedy="give partial(measure.multiclass.expected_cost, costs=CostMatrix(…)).",
        )
    if question.method not in (None, "delong", "resample") or (
        question.method == "delong" and info.name != "hand_till"
    ):
        raise OptionError(
            f"the method {question.method!r} is not for {info.name} of many classes",
            remedy=f"use {keyword('method', 'resample')}.",
        )
    first, second = _sort_rows(a, b)
    values = _evaluate(function, first), _evaluate(function, second)
    if isnan(values[0] - values[1]):
        return request.conclude(
            values,
            (nan, nan),
            "",
            why=undefined_reason(function, first if info.of is MulticlassRows else first.confusion()),
        )
    if np.array_equal(first.score, second.score):
        p = SMALLEST_P if question.alternative != "two-sided" and question.margin > 0 else 1.0
        return request.conclude(values, (0.0, 0.0), _SAME_PREDICTIONS, statistic=0.0, p=p, test=_SAME_PREDICTIONS)
    if question.method != "resample":
        closed = _compare_by_influence(request, first, second, values)
        if closed is not None:
            return closed
    return _compare_by_bootstrap(request, first, second, values, seed)


def _compare_by_influence(
    request: ComparisonRequest, a: MulticlassRows, b: MulticlassRows, values: tuple[float, float]
) -> Comparison | None:
    """Compare by row contributions; return None without a closed form or a usable variance."""
    if isinf(values[0]) or isinf(values[1]):
        return None
    influences = [_find_influence(request.measure, rows, value) for rows, value in zip((a, b), values, strict=True)]
    if influences[0] is None or influences[1] is None:
        return None
    difference = influences[0].slopes - influences[1].slopes
    times = np.ones(len(a)) if a.count is None else np.asarray(a.count, dtype=np.float64)
    # Losses are means over all rows; areas are built from means within each class.
    of = np.zeros(len(a), dtype=np.intp) if request.measure in LOSSES else a.truth
    parts = [_variance_component(difference[of == at], times[of == at]) for at in np.unique(of)]
    error, smallest = sqrt(sum(part.variance for part in parts)), min(part.rows for part in parts)
    if not _ROUNDING * max(map(abs, values)) < error < inf:
        return _compare_without_variance(request, values, smallest) if request.measure is multiclass.hand_till else None
    if (
        len(parts) == 2 and request.measure is multiclass.hand_till
    ):  # two classes have one curve, for which DeLong's test is normal
        return _compare_by_t(request, values, error, inf)
    freedom = _influence_functions.degrees_of_freedom(parts)
    if influences[0].inner is average_precision:
        freedom = _multiclass_intervals.precision_freedom(freedom, smallest)
    return _compare_by_t(request, values, error, max(freedom, 1.0))


def _compare_by_t(request: ComparisonRequest, values: tuple[float, float], error: float, freedom: float) -> Comparison:
    """Compare by a t interval and t test with this standard error."""
    info, question = describe(request.measure), request.question
    difference = values[0] - values[1]
    half = normal_quantile(question.level) * t_widening(freedom, question.level) * error
    t = (difference - question.bound(info)) / error
    p = student_p(t, freedom, question.side(info)) if freedom < inf else normal_p(t, question.side(info))
    name = "placements, as DeLong's" if request.measure is multiclass.hand_till else "influence function"
    how = name if freedom == inf else f"{name}, t quantiles"
    return request.conclude(values, (difference - half, difference + half), how, statistic=t, p=p, test=how)


def _find_influence(measure: Measure, rows: MulticlassRows, value: float) -> _multiclass_intervals.RowInfluence | None:
    """Return what each row adds to a measure; None where there is no closed form."""
    if describe(measure).of is not MulticlassRows:
        return None
    if measure in LOSSES:
        weight = 1.0 if rows.weight is None else rows.weight
        return _multiclass_intervals.RowInfluence(measure, weight * (row_losses(measure, rows) - value) / rows.total)
    return _multiclass_intervals.row_influence(measure, rows, value)


def _variance_component(slopes: Floats, times: Floats) -> _influence_functions.VarianceComponent:
    second, fourth = (float(np.sum(times * slopes**power)) for power in (2, 4))
    return _influence_functions.VarianceComponent.of(second, fourth, float(times.sum()))


def _compare_without_variance(request: ComparisonRequest, values: tuple[float, float], rows: float) -> Comparison:
    """Compare by score limits of two areas, each of as many rows as the smallest class has."""
    areas = [_auc_intervals.AucEstimate(value, nan, rows, rows) for value in values]

    def interval(level: float) -> tuple[float, float]:
        return newcombe_hybrid(
            values, _auc_intervals.score_interval(areas[0], level), _auc_intervals.score_interval(areas[1], level)
        )

    how = f"Newcombe's score limits of both as if independent areas of the smallest class: {NO_VARIANCE}"
    return request.conclude_from_intervals(values, interval, how)


def _compare_by_bootstrap(
    request: ComparisonRequest, a: MulticlassRows, b: MulticlassRows, values: tuple[float, float], seed: Seed
) -> Comparison:
    """Compare by random weights of rows, or by simulated joint tables of decisions."""
    info, question = describe(request.measure), request.question
    make = _simulate_joint_tables if info.of is Confusion else _bootstrap_rows
    # Order by content, so that swapping the models only changes the sign.
    if (values[0], np.sort(a.score, axis=0).tobytes()) > (values[1], np.sort(b.score, axis=0).tobytes()):
        draws = -make(request.measure, *_sort_rows(b, a), seed)
    else:
        draws = make(request.measure, a, b, seed)
    if info.of is Confusion:
        bootstrap = BootstrapDifference(draws, "Dirichlet draws of the joint table")
    else:
        rows = np.bincount(a.truth, a.count)
        bootstrap = BootstrapDifference(draws, "Bayesian bootstrap", Units(float(rows[rows > 0].min())))
    value = values[0] - values[1]
    if info.of is MulticlassRows and bootstrap.is_constant(max(map(abs, values))) and (value or values[0] in info.span):
        return request.conclude_from_intervals(
            values, share_difference_limits(request.measure, values, bootstrap.units), SHARES_METHOD
        )
    test = bootstrap.test(value, question.side(info), question.bound(info))
    if info.of is Confusion and question.alternative == "two-sided" and np.array_equal(a.decision(), b.decision()):
        test = {"p": 1.0}
    return request.conclude(
        values, bootstrap.interval(value, question.level), bootstrap.description, **test, test=bootstrap.description
    )


def _bootstrap_rows(measure: Measure, a: MulticlassRows, b: MulticlassRows, seed: Seed) -> Floats:
    """Sample differences with a random weight for each row."""

    def sample(rng: np.random.Generator, draws: int) -> Floats:
        differences = np.empty(draws)
        for at in range(draws):
            multiplier = rng.standard_exponential(len(a)) if a.count is None else rng.standard_gamma(a.count)
            weight = multiplier if a.weight is None else multiplier * a.weight
            one, other = (_evaluate(measure, replace(each, weight=weight, count=None)) for each in (a, b))
            differences[at] = one - other
        return differences

    size = 2 * a.score.size
    return sample_in_blocks(sample, draws=choose_n_samples(size), seed=seed, size=size)


def _simulate_joint_tables(measure: Measure, a: MulticlassRows, b: MulticlassRows, seed: Seed) -> Floats:
    """Sample differences with a random mass for each combination of the label and both decisions.

    A few prior rows are spread over all combinations in which a model is correct or both agree, so that unobserved ones
    are not taken for impossible; with two classes that is half a row in each of the eight cells.
    """
    width = len(a.labels)
    truth, first, second = (each.astype(np.intp) for each in (a.truth, a.decision(), b.decision()))
    observed = (truth * width + first) * width + second
    ways, which = np.unique(np.concatenate([_prior_cells(width), observed]), return_inverse=True)
    weight = np.ones(len(a)) if a.weight is None else a.weight
    times = np.ones(len(a)) if a.count is None else a.count
    mass, squares = (
        np.bincount(which[-len(a) :], times * weight**power, minlength=len(ways)).astype(np.float64) for power in (1, 2)
    )
    true = ways // width**2
    tables = [true * width + ways // width % width, true * width + ways % width]

    def sample(rng: np.random.Generator, draws: int) -> Floats:
        masses = sample_masses(rng, draws, mass, squares, prior=_PRIOR_ROWS / len(ways))
        one, other = (measure(Confusion(_sum_tables(masses, at, width), a.labels)) for at in tables)
        return np.asarray(one - other)

    size = max(len(ways), width**2)
    return sample_in_blocks(sample, draws=choose_n_samples(size), seed=seed, size=size)


def _prior_cells(width: int) -> npt.NDArray[np.intp]:
    """Return the codes of label and both decisions where a model is correct or both agree."""
    truth, other = (each.ravel() for each in np.indices((width, width)))
    decisions = ((truth, other), (other, truth), (other, other))
    return np.unique(np.concatenate([(truth * width + first) * width + second for first, second in decisions]))


def _sum_tables(masses: Floats, at: npt.NDArray[np.intp], width: int) -> Floats:
    """Sum masses to tables of label and one decision."""
    tables = np.zeros((len(masses), width * width))
    for column, cell in enumerate(at.tolist()):
        tables[:, cell] += masses[:, column]
    return tables.reshape(-1, width, width)


def _evaluate(measure: Measure, rows: MulticlassRows) -> float:
    return float(measure(rows if describe(measure).of is MulticlassRows else rows.confusion()))


def _check_models(a: Any, b: Any) -> None:  # noqa: ANN401  (checked here)
    for each in (a, b):
        if not isinstance(each, MulticlassRows):
            raise OptionError(
                f"{type(each).__name__} is not MulticlassRows",
                remedy="read them first, with baserate.read.class_rows(…).",
            )
    if a.labels != b.labels:
        raise ShapeError(
            f"the models have different classes, {a.labels} and {b.labels}",
            remedy=f"name the same as {keyword('labels')}.",
        )
    if len(a) != len(b):
        raise ShapeError(f"the models have {len(a)} and {len(b)} rows", remedy="give the same rows in the same order.")
    differ = int(np.count_nonzero(a.truth != b.truth))
    if differ:
        raise ShapeError(f"truth differs in {differ} of {len(a)} rows", remedy="give the same rows in the same order.")
    for name in ("weight", "count"):
        one, other = getattr(a, name), getattr(b, name)
        if (one is None) != (other is None) or (one is not None and not np.array_equal(one, other)):
            raise ShapeError(
                f"the rows of both models differ in {name}", remedy="give the same rows in the same order."
            )


def _sort_rows(a: MulticlassRows, b: MulticlassRows) -> tuple[MulticlassRows, MulticlassRows]:
    """Sort the rows of both models by content and merge identical ones."""
    keys = [a.truth, *np.asarray(a.score, np.float64).T + 0.0, *np.asarray(b.score, np.float64).T + 0.0]
    keys += [] if a.weight is None else [a.weight]
    order = np.lexsort(keys[::-1])
    for column in (a.weight, a.count):
        if column is not None:  # zero means absent
            order = order[column[order] > 0]
    if not len(order):
        raise EmptyDataError("there are no rows", remedy="give at least one, with a weight above 0.")
    new = np.zeros(len(order) - 1, dtype=np.bool_)
    for key in keys:
        new |= np.diff(key[order]) != 0
    first = np.concatenate([np.zeros(1, dtype=np.intp), np.flatnonzero(new) + 1])
    representatives = order[first]
    times = np.add.reduceat(np.ones(len(order), dtype=np.int64) if a.count is None else a.count[order], first)
    weight = None if a.weight is None else a.weight[representatives]
    count = None if times.max(initial=1) == 1 else times
    changes: dict[str, Any] = {"truth": a.truth[representatives], "weight": weight, "count": count}
    changes |= {"group": a.group[:0], "groups": ((),), "attributes": ()}
    first_, second = (replace(each, score=each.score[representatives], **changes) for each in (a, b))
    return first_, second
