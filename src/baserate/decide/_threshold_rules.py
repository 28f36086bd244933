"""Rules that choose thresholds without costs: ROC geometry, best measure, requirements, capacity and bands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np

from baserate._arrays import Bools, Floats
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._cut import Cut
from baserate._errors import InfeasibleError, OptionError, keyword
from baserate._formatting import count_of
from baserate._tally import Tally
from baserate.decide._requirements import Requirement, parse_requirements
from baserate.decide._rule import (
    RELATIVE_TOLERANCE,
    Gains,
    Toward,
    best_index,
    can_be_infinite,
    count_infinite,
    join_actions,
    no_best_error,
    note_skipped,
    objective_along,
    require_both_classes,
    rule,
    strictest_maximum,
    threshold_at,
    threshold_of_greatest_gain,
    undefined_error,
)
from baserate.measure import (
    Measure,
    as_measure,
    collect_settings,
    describe,
    note_settings,
    precision,
    sensitivity,
    specificity,
)
from baserate.read import PredictionOptions


@rule(uses_data=lambda **_: False)
def fixed(curve: Curve, threshold: float, **predictions: Unpack[PredictionOptions]) -> Cut:  # noqa: ARG001  (a rule takes a curve)
    """Flag from a given threshold on, whatever the data.

    Parameters
    ----------
    curve
        Curve of the data, which this rule does not use.
    threshold
        Scores at or above it are flagged.

    Returns
    -------
    Policy
        Policy with this threshold; it is not tied to any data.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> decide.fixed(curve(tally([1, 0], [0.8, 0.3])), 0.5).threshold
    0.5
    """
    return Cut((threshold,))


def equal_gains(positives: float, negatives: float) -> Gains:
    """Weigh both classes equally. Whole counts rather than their reciprocals, so that equal sums compare as equal."""
    return Gains(negatives, positives)


@rule(gains=equal_gains)
def youden(curve: Curve, **predictions: Unpack[PredictionOptions]) -> Cut:
    r"""Maximize sensitivity + specificity, :math:`\max(TPR-FPR)` [@youden1950].

    Also known as Youden's J, the greatest height above the diagonal, and the best balanced accuracy.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> truth = [1, 1, 1, 0, 1, 0, 0, 1] + [0, 0, 0, 1] + [0] * 8
    >>> decide.youden(curve(tally(truth, [1 - i / 20 for i in range(20)]))).threshold
    0.65
    """
    require_both_classes(curve, "Youden's index")
    return Cut((threshold_of_greatest_gain(curve, equal_gains(curve.positives, curve.negatives)),))


def squared_corner_distance(counts: Counts[Floats]) -> Floats:
    """Compute the squared distance from the upper left corner (0, 1) of ROC space."""
    return (1 - sensitivity(counts)) ** 2 + (1 - specificity(counts)) ** 2


@rule()
def closest(curve: Curve, **predictions: Unpack[PredictionOptions]) -> Cut:
    r"""Minimize the distance to the upper left corner of the ROC curve, :math:`\min((1-TPR)^2+FPR^2)`.

    Also known as closest to (0, 1), closest.topleft and ROC01. It differs from Youden's point, and does not minimize
    an expected cost [@perkins2006].

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> decide.closest(curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))).threshold
    0.8
    """
    require_both_classes(curve, "the closest point to (0, 1)")
    return Cut((threshold_at(curve, best_index(curve, squared_corner_distance, toward="low")),))


def sensitivity_specificity_gap(counts: Counts[Floats]) -> Floats:
    """Compute the absolute difference of sensitivity and specificity."""
    return np.abs(sensitivity(counts) - specificity(counts))


@rule()
def balanced(curve: Curve, **predictions: Unpack[PredictionOptions]) -> Cut:
    r"""Minimize the difference of sensitivity and specificity, :math:`\min|TPR-TNR|`.

    Also known as the equal error rate, or sensitivity = specificity.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> decide.balanced(curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))).threshold
    0.7
    """
    require_both_classes(curve, "sensitivity = specificity")
    return Cut((threshold_at(curve, best_index(curve, sensitivity_specificity_gap, toward="low")),))


def precision_recall_gap(counts: Counts[Floats]) -> Floats:
    """Compute the absolute difference of precision and recall; NaN without true positives."""
    # Without true positives both are 0, which is no break-even point.
    return np.where(counts.tp > 0, np.abs(precision(counts) - sensitivity(counts)), np.nan)


@rule()
def break_even(curve: Curve, **predictions: Unpack[PredictionOptions]) -> Cut:
    r"""Minimize the difference of precision and recall: as many rows are flagged as there are positives.

    Also known as the precision–recall break-even point.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> decide.break_even(curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))).threshold
    0.7
    """
    at = best_index(curve, precision_recall_gap, toward="low")
    if at is None:
        raise undefined_error(sensitivity, curve)
    return Cut((threshold_at(curve, at),))


def _note_best(
    curve: Curve,
    cut: Cut,
    measure: str | Measure,
    toward: Toward | None = None,
    **options: Any,  # noqa: ANN401
) -> Iterator[str]:
    counts = cut.counts(curve)
    if not counts.flagged or not counts.not_flagged:
        yield f"flagging {'nobody' if not counts.flagged else 'everybody'} is best, so the scores are not used."
    function, toward = resolve_objective(measure, toward)
    yield from note_settings(collect_settings([partial(function, **options)]))
    if can_be_infinite(function, toward):
        worth = objective_along(curve, partial(function, **options), toward=toward)
        yield from note_skipped(function, count_infinite(worth))


@rule(notes=_note_best)
def best(curve: Curve, /, measure: str | Measure, *, toward: Toward | None = None, **options: Any) -> Cut:  # noqa: ANN401
    """Maximize or minimize any measure of the confusion matrix over all thresholds.

    Thresholds where the measure is undefined or infinite do not take part. A note counts those that were skipped
    because the measure is infinitely good there, as an odds ratio is without false positives.

    Parameters
    ----------
    curve
        Curve of the data.
    measure
        Measure of the confusion matrix, or its name, such as "f1".
    toward
        "high" or "low": which end of the measure is better. Needed for measures without a better end.
    **options
        Options of the measure, such as `beta=2`.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> decide.best(curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2])), "f1").threshold
    0.6
    """
    function, toward = resolve_objective(measure, toward)
    worth = objective_along(curve, partial(function, **options), toward=toward)
    at = strictest_maximum(worth)
    if at is None:
        raise no_best_error(function, curve, worth)
    return Cut((threshold_at(curve, at),))


def resolve_objective(measure: str | Measure, toward: Toward | None = None) -> tuple[Measure, Toward]:
    """Find a measure of the confusion matrix and its better end."""
    function = as_measure(measure)
    info = describe(function)
    if info.of is not Counts:
        raise OptionError(f"{info.name} does not depend on the threshold", remedy="give a measure that does.")
    if toward not in {None, "high", "low"}:
        raise OptionError(f"toward is {toward!r}; expected 'high' or 'low'.", option="toward", value=toward)
    better = toward or info.best
    if better is None:
        raise OptionError(f"neither end of {info.name} is better", remedy=f"give {keyword('toward', 'high')} or 'low'.")
    return function, better


_DEFAULT_OBJECTIVE = "youden"


class _Objective(NamedTuple):
    measure: Measure
    sign: float


def _evaluate_thresholds(curve: Curve, requirements: tuple[Requirement, ...], goal: _Objective) -> tuple[Bools, Floats]:
    """Return whether each threshold satisfies all requirements, strictest first, and its value by the objective."""
    met, worth = np.ones(len(curve.tally.score) + 1, dtype=np.bool_), np.empty(len(curve.tally.score) + 1)
    for place, counts in curve.blocks():
        worth[place] = goal.sign * goal.measure(counts)
        for each in requirements:
            met[place] &= each.holds_for(counts)
    return met, worth


def _note_requirements(curve: Curve, _cut: Cut, require: Any, **objective: Any) -> Iterator[str]:  # noqa: ANN401
    goal = _choose_objective(**objective)
    requirements = parse_requirements(require, of_decisions=True)
    yield from note_settings(collect_settings([goal.measure, *(each.measure for each in requirements)]))
    if can_be_infinite(goal.measure, "high" if goal.sign > 0 else "low"):
        met, worth = _evaluate_thresholds(curve, requirements, goal)
        yield from note_skipped(goal.measure, count_infinite(worth[met]))


@rule(notes=_note_requirements)
def require(
    curve: Curve,
    require: Any,  # noqa: ANN401  (text, a requirement, or several of either)
    *,
    maximize: str | Measure | None = None,
    minimize: str | Measure | None = None,
    **predictions: Unpack[PredictionOptions],
) -> Cut:
    """Optimize a measure among the thresholds that satisfy all requirements.

    A measure that is undefined at a threshold does not satisfy a requirement there. An infinite objective does not
    win, and a note counts the thresholds that were skipped for it.

    Parameters
    ----------
    curve
        Curve of the data.
    require
        Text such as "specificity >= 0.9, precision >= 0.3", a `Requirement`, or several of either.
    maximize
        Measure to maximize, or its name; Youden's index by default.
    minimize
        Measure to minimize instead, or its name.

    Raises
    ------
    InfeasibleError
        If no threshold satisfies all requirements; the message gives the nearest attainable values.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> truth = [1, 1, 1, 0, 1, 0, 0, 1] + [0, 0, 0, 1] + [0] * 8
    >>> c = curve(tally(truth, [1 - i / 20 for i in range(20)]))
    >>> decide.require(c, "specificity >= 0.9", maximize="sensitivity").threshold
    0.8
    """
    requirements = parse_requirements(require, of_decisions=True)
    if not requirements:
        raise OptionError("there is no requirement", remedy='give one, such as "specificity >= 0.9".')
    goal = _choose_objective(maximize, minimize)
    met, worth = _evaluate_thresholds(curve, requirements, goal)
    if not met.any():
        raise _infeasible_error(curve, requirements)
    at = strictest_maximum(np.where(met, worth, np.nan))
    if at is None:
        raise no_best_error(goal.measure, curve, worth[met])
    return Cut((threshold_at(curve, at),))


def _choose_objective(maximize: str | Measure | None = None, minimize: str | Measure | None = None) -> _Objective:
    if maximize is not None and minimize is not None:
        raise OptionError(f"give either {keyword('maximize')} or {keyword('minimize')}.")
    if minimize is not None:
        return _Objective(resolve_objective(minimize, "low")[0], -1.0)
    return _Objective(resolve_objective(maximize or _DEFAULT_OBJECTIVE, "high")[0], 1.0)


def _infeasible_error(curve: Curve, requirements: tuple[Requirement, ...]) -> InfeasibleError:
    """Build the error for requirements that no threshold satisfies, singly or jointly, with the nearest values."""
    counts = curve.counts
    values = [np.asarray(each.measure(counts)) for each in requirements]
    satisfied = [each.holds(value) for each, value in zip(requirements, values, strict=True)]
    hopeless = [
        f"no threshold has {each}: {_describe_nearest(curve, each, value, np.isfinite(value))}"
        for each, value, mask in zip(requirements, values, satisfied, strict=True)
        if not mask.any()
    ]
    if hopeless:
        return InfeasibleError("; ".join(hopeless), remedy="relax the requirement.")
    parts = []
    for at, each in enumerate(requirements):
        others = [other for place, other in enumerate(requirements) if place != at]
        eligible = np.logical_and.reduce([satisfied[place] for place in range(len(satisfied)) if place != at])
        eligible = eligible & np.isfinite(values[at])
        if eligible.any():
            nearest = _describe_nearest(curve, each, values[at], eligible)
            parts.append(f"with {' and '.join(map(str, others))}, {nearest}")
    all_requirements = " and ".join(map(str, requirements))
    what = f"no threshold has {all_requirements}{': ' if parts else ', nor all but one of them'}{'; '.join(parts)}"
    return InfeasibleError(what, remedy="relax one of them.")


def _describe_nearest(curve: Curve, each: Requirement, value: Floats, eligible: Bools) -> str:
    """Describe the value nearest to a bound among some thresholds."""
    if not eligible.any():
        return f"{describe(each.measure).name} is undefined everywhere"
    sign = 1.0 if each.sense == ">=" else -1.0
    at = strictest_maximum(np.where(eligible, sign * value, np.nan))
    assert at is not None  # noqa: S101  (for the type checker)
    most = "most" if each.sense == ">=" else "least"
    return f"{each.name} is {float(value[at]):.6g} at {most}, at {threshold_at(curve, at):.6g}"


_BAND_NAMES = {2: ("low", "high"), 3: ("low", "medium", "high")}


def _note_ties(curve: Curve, cut: Cut, at_most: float | None = None, share: float | None = None) -> Iterator[str]:
    """Yield how many rows tie at the edge, if they leave capacity unused."""
    limit = _capacity_limit(curve.tally, at_most, share)
    flagged = cut.counts(curve).flagged
    left = limit - flagged
    # Unused capacity that is not mere rounding, with rows still to flag: the next score has too many.
    if left > RELATIVE_TOLERANCE * limit and flagged < curve.total:
        # Scores descend, and `searchsorted` needs ascending numbers.
        below = int(np.searchsorted(-curve.tally.score, -cut.threshold, side="right"))
        tied = float(curve.tally.mass[:, below].sum())
        if tied > 1:
            yield f"{flagged:g} of at most {limit:g} are flagged, since the next {tied:g} rows have the same score."


@rule(notes=_note_ties)
def capacity(
    curve: Curve, *, at_most: float | None = None, share: float | None = None, **predictions: Unpack[PredictionOptions]
) -> Cut:
    """Flag the highest scores, up to a number of rows or a share of all.

    Rows with the same score are flagged together or not at all, so fewer rows than the capacity may be flagged.

    Parameters
    ----------
    curve
        Curve of the data.
    at_most
        Largest number of rows of this data to flag.
    share
        Largest share of all to flag instead, from 0 to 1.

    Returns
    -------
    Policy
        Policy that flags from the laxest threshold within the capacity on.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> c = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> decide.capacity(c, at_most=2).threshold, decide.capacity(c, share=0.5).threshold
    (0.8, 0.7)
    """
    if (at_most is None) == (share is None):
        raise OptionError(f"give a capacity as either {keyword('at_most')}, in rows, or {keyword('share')}.")
    return Cut((_laxest_threshold(curve, _capacity_limit(curve.tally, at_most, share)),))


def _capacity_limit(tally: Tally, at_most: float | None, share: float | None) -> float:
    if share is not None:
        if not 0 <= share <= 1:
            raise OptionError(f"share is {share}; expected a number from 0 to 1.", option="share", value=share)
        return share * tally.total
    assert at_most is not None  # noqa: S101  (for the type checker)
    if not at_most >= 0:
        raise OptionError(f"at_most is {at_most}; expected 0 or more.", option="at_most", value=at_most)
    if tally.reweighed:
        raise OptionError("reweighted rows cannot be counted", remedy=f"give the capacity as {keyword('share')}.")
    return at_most


def _laxest_threshold(curve: Curve, limit: float) -> float:
    """Return the laxest threshold that flags at most `limit`; the strictest of those that flag the same."""
    flagged = curve.flagged_mass.sum(axis=0)
    # 30% of 10 rows may be 3.0000000000000004: the limit gets a tolerance.
    within = int(np.searchsorted(flagged, limit * (1 + RELATIVE_TOLERANCE), side="right")) - 1
    return threshold_at(curve, int(np.searchsorted(flagged, flagged[within], side="left")))


def _note_empty_bands(_curve: Curve, cut: Cut, **options: Any) -> Iterator[str]:  # noqa: ANN401
    edges = next(options[name] for name in ("thresholds", "shares", "risks") if name in options)
    if len(cut.thresholds) < len(edges):
        bands_made = count_of(len(cut.actions), "band")
        yield f"{count_of(len(edges), 'edge makes', 'edges make')} only {bands_made}: others would be empty."


@rule(notes=_note_empty_bands, uses_data=lambda **options: "thresholds" not in options)
def bands(
    curve: Curve,
    *,
    thresholds: Sequence[float] | None = None,
    shares: Sequence[float] | None = None,
    risks: Sequence[float] | None = None,
    names: Sequence[str] | None = None,
    **predictions: Unpack[PredictionOptions],
) -> Cut:
    """Cut the scores into bands: at given thresholds, by the share of each band, or by risk.

    Parameters
    ----------
    curve
        Curve of the data.
    thresholds
        Edges of the bands as scores.
    shares
        Largest share of all in each upper band, highest band first: (0.1, 0.2) is the top tenth, the next fifth and
        the rest.
    risks
        Ascending risks: a band begins where the isotonic share of positives reaches them. In terms of costs, that is
        where flagging pays if a false positive costs r and a false negative 1 − r.
    names
        Names of the bands, lowest first; by default "low" and "high", or "low", "medium" and "high".

    Returns
    -------
    Policy
        Policy with one action per band.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> c = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> decide.bands(c, shares=(0.2, 0.5)).cut
    Cut(thresholds=(0.6, 0.9), actions=('low', 'medium', 'high'))
    >>> decide.bands(c, risks=(0.4, 0.9), names=("wait", "test", "treat")).cut
    Cut(thresholds=(0.6, 0.8), actions=('wait', 'test', 'treat'))
    """
    edge_options = [each for each in (thresholds, shares, risks) if each is not None]
    if len(edge_options) != 1 or not len(edge_options[0]):
        ways = f"{keyword('thresholds')}, {keyword('shares')} or {keyword('risks')}"
        raise OptionError(f"give the edges of bands as one of {ways}.")
    edges = [float(each) for each in edge_options[0]]
    band_names = _band_names(len(edges) + 1, names)
    if thresholds is not None:
        return Cut(tuple(edges), band_names)
    at = _thresholds_by_share(curve, edges) if shares is not None else _thresholds_by_risk(curve, edges)
    return join_actions(band_names[0], list(zip(at, band_names[1:], strict=True)))


def _band_names(n_bands: int, names: Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return _BAND_NAMES.get(n_bands) or tuple(f"band {place + 1}" for place in range(n_bands))
    if len(names) != n_bands or len(set(names)) != n_bands:
        raise OptionError(
            f"names are {list(names)}; expected {n_bands} different ones, lowest band first.",
            option="names",
            value=names,
        )
    return tuple(names)


def _thresholds_by_share(curve: Curve, shares: Sequence[float]) -> list[float]:
    upto = np.cumsum(shares)  # bands are given from the top, so their thresholds come from cumulative shares
    if min(shares) < 0 or upto[-1] > 1 + RELATIVE_TOLERANCE:
        raise OptionError(
            f"shares are {list(shares)}; expected shares whose sum is at most 1.", option="shares", value=shares
        )
    return [_laxest_threshold(curve, min(float(each), 1.0) * curve.total) for each in upto[::-1]]


def _thresholds_by_risk(curve: Curve, risks: Sequence[float]) -> list[float]:
    if any(not 0 < each < 1 for each in risks) or sorted(set(risks)) != list(risks):
        raise OptionError(
            f"risks are {list(risks)}; expected ascending shares between 0 and 1.", option="risks", value=risks
        )
    # Flagging a pool of scores gains if its share of positives p has p(1 − r) > (1 − p)r, which is p > r.
    return [threshold_of_greatest_gain(curve, Gains(1 - each, each)) for each in risks]
