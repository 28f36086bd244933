"""Best threshold of a population: maximize a measure of the confusion matrix, or find where it has a value."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import factorial, inf, nextafter
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._costs import Costs, CostsLike, as_costs
from baserate._counts import Counts
from baserate._errors import OptionError, keyword
from baserate._numeric.distributions import (
    CLOSED_FORM,
    atoms,
    density,
    density_crossings,
    point_mass,
    quantiles,
    support,
)
from baserate._population import Population, check_population
from baserate._rendering import short_repr
from baserate.measure import Measure, describe, expected_cost, find_measure, unwrap_options

TableFunction = Callable[[Counts[Any]], Any]
"""Function of 2×2 tables, with one value for each."""

_LOG_ODDS = np.concatenate([np.linspace(-660, -40, 125), np.linspace(-36, 36, 577), np.linspace(40, 660, 125)])
"""Log-odds of the scanned quantiles: down to 1e-287 of a class, below which products of masses underflow."""
_SLOPE_TOLERANCE = 1e-12
"""Share of two opposing slopes below which their sum is rounding."""
_TIE_TOLERANCE = 1e-14
"""Relative difference of two values that counts as a tie."""
_MIN_MASS = 1e-200
"""Mass below which a tail continues down to the smallest floats."""
_LIMIT_TOLERANCE = 1e-11
"""Relative distance from a limit that counts as rounding: values so close to it do not count as attained."""


class Peak(NamedTuple):
    """Candidate for the best threshold."""

    threshold: float
    value: float
    turning: bool = False
    """Whether the value rises up to this threshold and falls from it on."""
    doubtful: bool = False
    """Whether the turning point may be rounding."""
    attained: bool = True


def scan_thresholds(population: Population) -> Floats:
    """List thresholds to scan, strictest first: ends, atoms, quantiles of both classes, and ends of empty stretches."""
    classes = (population.negative, population.positive)
    # One float below an end the tail is tiny but exact in closed form; SciPy's tails are rounding there.
    ends = [support(each)[1] for each in classes if isinstance(each, CLOSED_FORM)]
    corners = np.array([*_corners(population), *(nextafter(end, -inf) for end in ends if end < inf)])
    places: Floats = np.unique(np.concatenate([corners, *(quantiles(each, _LOG_ODDS) for each in classes)]))[::-1]
    return np.unique(np.concatenate([places, empty_stretches(population, places)]))[::-1]


def empty_stretches(population: Population, places: Floats) -> Floats:
    """Find the strict ends of stretches between thresholds that contain no scores."""
    inner = places[np.isfinite(places)]
    middle = (inner[:-1] + inner[1:]) / 2
    empty = (population.density(middle) == 0) & (middle < inner[:-1])
    inside, outside = middle[empty], inner[:-1][empty]
    for _ in range(60):
        look = (inside + outside) / 2
        still = population.density(look) == 0
        inside, outside = np.where(still, look, inside), np.where(still, outside, look)
    # Scores may lie at the end itself, and are then flagged.
    same = _flag_equally(population, outside, inside)
    return np.asarray(np.where(same, outside, inside))


def _flag_equally(population: Population, one: Floats, other: Floats) -> npt.NDArray[np.bool_]:
    """Return whether two thresholds flag the same scores."""
    first, second = population.at(one), population.at(other)
    return np.asarray((first.tp == second.tp) & (first.fp == second.fp))


def find_maximum(population: Population, function: TableFunction) -> Peak | None:
    """Find the greatest finite value of a function; None if there is none.

    Among equal values the strictest threshold wins, but a turning point beats an end that rounding makes its equal. A
    limit that no threshold attains is returned only if it is above all attained values. Infinities never win. If finite
    values grow without bound, the returned peak has the value inf and is not attained.
    """
    thresholds = scan_thresholds(population)
    limits = list(_find_limits(population, function, thresholds))
    bound = max((limit.value for limit in limits), default=inf)
    inner = thresholds[np.isfinite(thresholds)]
    signs = _slope_signs(population, function, inner)
    # Close to a limit, rounding makes spurious turning points.
    peaks = [peak for peak in _find_turns(population, function, inner, signs) if not _is_close(peak.value, bound)]
    flat = _evaluate_peaks(population, function, list(_find_plateaus(population, function, inner, signs)))
    peaks += [peak for peak in flat if peak.value == bound or not _is_close(peak.value, bound)]
    peaks += _evaluate_peaks(population, function, [*_corners(population), *empty_stretches(population, thresholds)])
    peaks = [peak for peak in peaks if np.isfinite(peak.value)]
    reached = max((peak.value for peak in peaks), default=-inf)
    # Next to an end, scores may be denser than floats can distinguish.
    crowded = _evaluate_peaks(population, function, inner[[1, -2]])
    peaks += [
        peak for peak in crowded if peak.value > reached + _tie_tolerance(reached) and not _is_close(peak.value, bound)
    ]
    peaks = [peak for peak in peaks if np.isfinite(peak.value)]
    top = max((peak.value for peak in peaks if not np.isnan(peak.value)), default=-inf)
    if (beyond := _find_divergence(population, function, thresholds)) is not None:
        return beyond
    if limits and bound > top + _tie_tolerance(top):
        return max(limits, key=lambda limit: limit.value)
    equal = [peak for peak in peaks if peak.value >= top - _tie_tolerance(top)]
    return max(equal, key=lambda peak: (peak.turning, peak.threshold), default=None)


def _find_divergence(population: Population, function: TableFunction, thresholds: Floats) -> Peak | None:
    """Find where the function grows without bound next to thresholds at which it is infinite; None if it does not.

    It may also jump to infinity at an atom; then it is hardly higher next to the infinities than further away. In an
    almost empty tail it may be infinite only because masses underflow.
    """
    values = np.asarray(function(population.at(thresholds)), dtype=np.float64)
    lows, highs = zip(*map(support, (population.negative, population.positive)), strict=True)
    good = values == inf
    for at in np.flatnonzero(good[1:] != good[:-1]):
        inside, outside = (at, at + 1) if good[at] else (at + 1, at)
        if not np.isfinite([thresholds[inside], values[outside]]).all() or not np.isfinite(thresholds[outside]):
            continue
        nearest = _bisect(
            lambda at: _value_at(population, function, at) < inf,
            float(thresholds[outside]),
            float(thresholds[inside]),
            steps=80,
        )
        value, further = _value_at(population, function, nearest), float(values[outside])
        counts = population.at(nearest)
        rare = min(each for each in (counts.tp, counts.fp, counts.fn, counts.tn) if each > 0) < _MIN_MASS
        if value > max(2 * abs(further), 1.0) or (rare and value > further):
            # The end at which one class is entirely unflagged, or entirely flagged.
            return Peak(min(highs) if inside < outside else max(lows), inf, attained=False)
    return None


def _bisect(holds: Callable[[float], bool], inside: float, outside: float, *, steps: int = 60) -> float:
    """Return the last point from `inside` towards `outside` at which a condition holds."""
    for _ in range(steps):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside


def find_turning_points(population: Population, function: TableFunction) -> list[float]:
    """List the thresholds up to which the function rises and from which on it falls."""
    inner = scan_thresholds(population)[1:-1]
    turns = _find_turns(population, function, inner, _slope_signs(population, function, inner))
    return [turn.threshold for turn in turns if turn.turning and not turn.doubtful]


def slope(population: Population, function: TableFunction, threshold: Floats) -> tuple[Floats, Floats, Floats]:
    """Compute the derivative of the function by threshold, the absolute sum of its parts, and its rounding error.

    By the chain rule, a class loses its density at the threshold, and the function changes by its derivative in the
    table. The derivative uses a complex step [@squire1998], which has no cancellation of its own.
    """
    counts = population.at(threshold)
    share = population.prevalence
    lost = share * density(population.positive, threshold), (1 - share) * density(population.negative, threshold)
    margin = np.minimum(counts.tp, counts.fn), np.minimum(counts.fp, counts.tn)
    true = _safe_product(lost[0], _derivative(function, counts, "tp", "fn"))
    false = _safe_product(lost[1], _derivative(function, counts, "fp", "tn"))
    per_margin = sum(
        _safe_product(each, 1 / np.maximum(space, 1e-300)) for each, space in zip(lost, margin, strict=True)
    )
    rounding = 4 * np.finfo(float).eps * np.abs(function(counts)) * per_margin
    return -(true + false), np.abs(true) + np.abs(false), rounding


def _safe_product(lost: Floats, change: Floats) -> Floats:
    """Multiply, with 0 where nothing is lost, even if the other factor is infinite or NaN."""
    return np.where(lost > 0, lost * change, 0.0)


def _derivative(function: TableFunction, counts: Counts[Floats], flagged: str, passed: str) -> Floats:
    """Compute the change of the function per mass that moves from passed to flagged; NaN if there is none to move."""
    margin = np.minimum(getattr(counts, flagged), getattr(counts, passed))
    # A complex step has no cancellation, so it may be far smaller than that of a finite difference.
    step = 1e-10 * np.where(margin > 0, margin, np.nan)
    try:
        shifted = function(_shift_mass(counts, flagged, passed, 1j * step))
    except TypeError:  # such as a comparison of complex numbers in a user's function
        shifted = None
    return (
        np.imag(shifted) / step if np.iscomplexobj(shifted) else _central_difference(function, counts, flagged, passed)
    )


_HALF = 8
"""Points on either side of a central difference."""
_WEIGHTS = [
    (-1) ** (k + 1) * factorial(_HALF) ** 2 / (k * factorial(_HALF - k) * factorial(_HALF + k))
    for k in range(1, _HALF + 1)
]


def _central_difference(function: TableFunction, counts: Counts[Floats], flagged: str, passed: str) -> Floats:
    """Compute the derivative by central differences of order 16, for functions that cannot take complex numbers."""
    # Eight steps stay within a quarter of the smaller cell, so that no cell becomes negative.
    step = 0.03 * np.minimum(getattr(counts, flagged), getattr(counts, passed))
    rise = np.zeros(np.shape(step))
    for k, weight in enumerate(_WEIGHTS, start=1):
        up, down = (function(_shift_mass(counts, flagged, passed, sign * k * step)) for sign in (1, -1))
        rise = rise + weight * (np.asarray(up) - np.asarray(down))
    return rise / np.where(step > 0, step, np.nan)


def _shift_mass(counts: Counts[Floats], flagged: str, passed: str, mass: Any) -> Counts[Any]:  # noqa: ANN401
    """Move mass, possibly complex, from passed to flagged; bypass the constructor, which rejects complex counts."""
    shifted = object.__new__(Counts)
    cells = {name: getattr(counts, name) for name in ("tp", "fp", "fn", "tn")}
    # No moments: measures do not use them, and they would not follow the shift.
    cells |= {flagged: cells[flagged] + mass, passed: cells[passed] - mass, "moments": None}
    for name, cell in cells.items():
        object.__setattr__(shifted, name, cell)
    return shifted


def _slope_signs(population: Population, function: TableFunction, thresholds: Floats) -> Floats:
    """Return whether the function rises (1), falls (−1) or stays (0) with the threshold; NaN if that is uncertain."""
    with np.errstate(invalid="ignore", over="ignore"):
        change, size, rounding = slope(population, function, thresholds)
    empty = population.density(thresholds) == 0
    # Opposing slopes that cancel are constant only if they exceed their rounding; otherwise they may be anything.
    stays = empty | (size == 0) | (np.abs(change) <= _SLOPE_TOLERANCE * size) & (size > rounding)
    return np.where(stays, 0.0, np.where(change == 0, np.nan, np.sign(change)))


def _find_turns(population: Population, function: TableFunction, thresholds: Floats, signs: Floats) -> Iterator[Peak]:
    """Yield the turning points between thresholds of the scan."""
    # A single point without slope is a turning point that the scan hit exactly; the signs beside it show it.
    lone = (signs == 0) & (np.roll(signs, 1) != 0) & (np.roll(signs, -1) != 0)
    thresholds, signs = thresholds[~lone], signs[~lone]
    for at in np.flatnonzero((signs[:-1] < 0) & (signs[1:] > 0)):
        turn = _refine_turn(population, function, float(thresholds[at + 1]), float(thresholds[at]))
        # Without scores there is no turning point: the strict end of that stretch is as good.
        yield turn if population.density(turn.threshold) > 0 else turn._replace(turning=False)


def _refine_turn(population: Population, function: TableFunction, low: float, high: float) -> Peak:
    """Find the turning point between two thresholds: the root of the slope, or a corner of the function."""
    from scipy.optimize import brentq

    def rising(at: float) -> float:
        return float(slope(population, function, np.array([at]))[0][0])

    corner = _zoom_in(population, function, low, high)
    try:
        # Only the relative tolerance counts: thresholds near 0 need all their digits.
        root = float(brentq(rising, low, high, xtol=1e-300, rtol=4 * np.finfo(float).eps))
    except ValueError:  # somewhere between them the slope is undefined
        root = corner
    at_root, at_corner = (_value_at(population, function, at) for at in (root, corner))
    change, _, rounding = slope(population, function, np.array([low, high]))
    doubtful = bool((np.abs(change) <= rounding).any())
    if at_corner > at_root + _tie_tolerance(at_root):
        return Peak(corner, at_corner, turning=True, doubtful=doubtful)
    return Peak(root, at_root, turning=True, doubtful=doubtful)


def _zoom_in(population: Population, function: TableFunction, low: float, high: float) -> float:
    """Find the highest point between two thresholds on ever finer grids."""
    for _ in range(16):
        look = np.linspace(high, low, 33)
        best = int(np.argmax(np.nan_to_num(function(population.at(look)), nan=-inf)))
        high, low = float(look[max(best - 1, 0)]), float(look[min(best + 1, 32)])
    return float(look[best])


def _find_plateaus(
    population: Population, function: TableFunction, thresholds: Floats, signs: Floats
) -> Iterator[float]:
    """Yield the strictest threshold of each stretch on which nothing changes."""

    def is_level(at: float) -> bool:
        return bool(_slope_signs(population, function, np.array([at]))[0] == 0)

    flat = signs == 0
    starts = flat & ~np.concatenate([[False], flat[:-1]]) & np.concatenate([flat[1:], [False]])
    for at in np.flatnonzero(starts):
        yield _bisect(is_level, float(thresholds[at]), float(thresholds[max(int(at) - 1, 0)]))


def _corners(population: Population) -> list[float]:
    """List ends, atoms, and thresholds just above an atom."""
    classes = (population.negative, population.positive)
    places = [place for each in classes for place in (*support(each), *atoms(each))]
    return [inf, -inf, *places, *(nextafter(atom, inf) for each in classes for atom in atoms(each))]


def _find_limits(population: Population, function: TableFunction, thresholds: Floats) -> Iterator[Peak]:
    """Yield limits at the ends, where nothing or everything is flagged and the function is undefined."""
    counts = population.at(thresholds)
    values = np.asarray(function(counts), dtype=np.float64)
    defined = ~np.isnan(values)
    classes = (population.negative, population.positive)
    lows, highs = zip(*map(support, classes), strict=True)
    for end, margin, order in ((max(highs), counts.flagged, 1), (min(lows), counts.not_flagged, -1)):
        # An atom at the end is attained, not approached. An infinity that earlier thresholds attain is no limit either.
        nearest = values[defined][::order][:1]
        if (
            np.isfinite(nearest).any()
            and not defined[::order][0]
            and not any(point_mass(each, end) for each in classes)
        ):
            yield Peak(end, _limit(values[defined][::order], margin[defined][::order]), attained=False)


def _limit(values: Floats, margin: Floats) -> float:
    """Estimate the limit of values as the margin goes to 0, which is smallest for the first value.

    Values that still double on the second half of the way diverge, and values that halve go to 0.
    """
    nearest = float(values[0])
    size = np.log(np.maximum(margin, np.finfo(float).tiny))
    midway = abs(float(values[np.argmin(np.abs(size - size[0] / 2))]))
    if abs(nearest) > 2 * midway:
        return float(np.copysign(inf, nearest))
    return 0.0 if abs(nearest) < midway / 2 else nearest


def _value_at(population: Population, function: TableFunction, threshold: float) -> float:
    return float(np.asarray(function(population.at(np.array([threshold]))))[0])


def _evaluate_peaks(population: Population, function: TableFunction, places: Sequence[float] | Floats) -> list[Peak]:
    """Evaluate the function at some thresholds."""
    values = np.asarray(function(population.at(np.array(places, dtype=np.float64))), dtype=np.float64)
    return list(map(Peak, map(float, places), values.tolist()))


def _is_close(value: float, bound: float) -> bool:
    return bool(np.isfinite(bound) and abs(value - bound) <= _LIMIT_TOLERANCE * abs(bound) + 1e-15)


def _tie_tolerance(value: float) -> float:
    return _TIE_TOLERANCE * abs(value) + 1e-15 if np.isfinite(value) else 0.0


Toward = Literal["high", "low"]

_EQUALITY_TOLERANCE = 1e-12
"""Relative difference of two values that counts as equality."""


@dataclass(frozen=True, slots=True)
class BestThreshold:
    """Best value of a measure, and the threshold that attains it."""

    measure: str
    threshold: float
    """Flagged are scores at or above it."""
    value: float
    counts: Counts[float]
    """The 2×2 table at the threshold, of total mass 1."""
    attained: bool = True
    """False if the value is a limit that thresholds approach: at the end itself the measure is undefined."""
    has_infinities: bool = False
    """Whether thresholds at which the measure is infinite were skipped: infinities never win a search."""

    __repr__ = short_repr

    @property
    def at_end(self) -> bool:
        """Whether nothing, or everything, is flagged."""
        return self.counts.flagged == 0 or self.counts.not_flagged == 0


class _Objective(NamedTuple):
    name: str
    value: TableFunction
    toward: Toward | None
    bounded: bool
    """Whether no value can be infinite."""


def best_threshold(
    population: Population,
    measure: str | Measure,
    *,
    toward: Toward | None = None,
    **options: Any,  # noqa: ANN401
) -> BestThreshold:
    """Find the threshold that is best by a measure of the confusion matrix, to machine precision.

    Among equally good thresholds the strictest wins. Infinities never win: thresholds with an infinite value are
    skipped.

    Parameters
    ----------
    population
        Population to search.
    measure
        Name, measure, or any function of `Counts` that accepts arrays.
    toward
        "high" or "low"; required if the measure has no better end.
    **options
        Options of the measure, such as `beta=` or `costs=`.

    Returns
    -------
    BestThreshold
        Threshold, value and table. If no threshold attains the best value, as with precision, which grows until nothing
        is flagged, it is the limit, and `attained` is False.

    Raises
    ------
    OptionError
        If the measure is undefined at every threshold, or grows without bound.

    Examples
    --------
    >>> from baserate import population
    >>> best = population.best_threshold(population.linear(), "f1")
    >>> round(best.threshold, 12), round(best.value, 12)  # (3 − √5)/2 and 3 − √5
    (0.38196601125, 0.7639320225)
    """
    check_population(population)
    goal = _resolve_objective(measure, options)
    direction = goal.toward if toward is None else toward
    if toward not in {None, "high", "low"}:
        raise OptionError(f"toward is {toward!r}; expected 'high' or 'low'.", option="toward", value=toward)
    if direction is None:
        raise OptionError(
            f"neither end of {goal.name} is the better one",
            remedy=f"give {keyword('toward', 'high')} or {keyword('toward', 'low')}.",
        )
    sign = 1.0 if direction == "high" else -1.0
    peak = find_maximum(population, lambda counts: sign * goal.value(counts))
    if peak is None:
        infinite = " or infinite" * _has_infinite_value(population, goal, sign)
        raise OptionError(
            f"{goal.name} is undefined{infinite} at every threshold of this population",
            remedy="choose another prevalence or measure.",
        )
    if np.isinf(peak.value):
        growth = "grows ever more slowly" if goal.bounded else "grows without bound"
        raise OptionError(
            f"{goal.name} {growth} towards a threshold of {peak.threshold:g}, so no threshold is best",
            remedy="choose another measure.",
        )
    best_value = _make_best(population, goal.name, peak._replace(value=sign * peak.value + 0.0))  # −0.0 is 0
    return replace(best_value, has_infinities=_has_infinite_value(population, goal, sign))


def _has_infinite_value(population: Population, goal: _Objective, sign: float) -> bool:
    """Return whether some threshold has an infinitely good value."""
    values = np.asarray(goal.value(population.at(scan_thresholds(population))), dtype=np.float64)
    return bool((sign * values == np.inf).any())


def least_cost_threshold(population: Population, costs: CostsLike | None = None) -> BestThreshold:
    """Find the threshold of least expected cost.

    The likelihood ratio rises there through the slope of the iso-cost lines, `costs.slope(prevalence)`. Linear and
    normal populations have a formula. Normal scores of unequal spread have a second such place, where the ratio falls
    and the cost is greatest. Flagging nothing, or everything, is chosen if it is cheaper still.

    Parameters
    ----------
    population
        Population to search.
    costs
        Costs of the four outcomes; by default every error costs 1, which maximizes accuracy.

    Returns
    -------
    BestThreshold
        Threshold, expected cost and table.

    Examples
    --------
    >>> from baserate import Costs, population
    >>> population.least_cost_threshold(population.binormal(means=(0, 2)), Costs(fp=1, fn=1)).threshold
    1.0
    """
    costs = as_costs(costs)
    check_population(population)
    costs = Costs() if costs is None else costs
    ratio = costs.slope(population.prevalence)
    places = density_crossings(population.negative, population.positive, ratio) if 0 < ratio < np.inf else None
    # If a missed positive costs no more than a flagged one, the cost is greatest where the densities cross.
    if places is None or costs.fn <= costs.tp:
        return best_threshold(population, "expected_cost", costs=costs)
    low = min(support(each)[0] for each in (population.negative, population.positive))
    peaks = [Peak(at, expected_cost(population.at(at), costs=costs)) for at in (*places, np.inf, low)]
    return _make_best(population, "expected_cost", min(peaks, key=lambda peak: peak.value))


def find_thresholds(
    population: Population,
    measure: str | Measure,
    equals: float | str | Measure,
    **options: Any,  # noqa: ANN401
) -> tuple[float, ...]:
    """Find every threshold at which a measure has a value, or at which two measures agree; strictest first.

    Parameters
    ----------
    population
        Population to search.
    measure
        Name, measure, or function of `Counts`.
    equals
        Value, or second measure.
    **options
        Options of the first measure.

    Returns
    -------
    tuple of float
        Thresholds. A stretch of solutions gives its strictest threshold. A value that is jumped over between two atoms
        is not attained, and is not listed.

    Examples
    --------
    >>> from baserate import population
    >>> population.find_thresholds(population.linear(), "precision", "recall")
    (0.5,)
    >>> [round(at, 12) for at in population.find_thresholds(population.linear(), "specificity", 0.9)]  # 1 − √0.1
    [0.683772233983]
    """
    check_population(population)
    first = _resolve_objective(measure, options).value
    second = _resolve_objective(equals, {}).value if isinstance(equals, str) or callable(equals) else _constant(equals)

    def gap(counts: Counts[Any]) -> Any:  # noqa: ANN401
        """Return the difference, with rounding errors set to 0."""
        one, other = first(counts), second(counts)
        difference = one - other
        return np.where(
            np.abs(difference) <= _EQUALITY_TOLERANCE * np.maximum(np.abs(one), np.abs(other)), 0.0, difference
        )[()]

    def exact(counts: Counts[Any]) -> Any:  # noqa: ANN401
        return first(counts) - second(counts)

    # A measure may touch its value at a peak or a minimum, without a change of sign. Shifted by 1, since the rounding
    # error of a slope is estimated from the value, which is 0 there.
    turns = find_turning_points(population, lambda counts: 1 + exact(counts))
    turns += find_turning_points(population, lambda counts: 1 - exact(counts))
    return tuple(sorted(set(_find_zeros(population, gap, exact, turns)), reverse=True))


def _constant(value: float) -> TableFunction:
    if not isinstance(value, Real) or np.isnan(float(value)):
        raise OptionError(
            f"equals is {value!r}", remedy="give a number, or a measure to agree with.", option="equals", value=value
        )
    return lambda _: float(value)


def _find_zeros(
    population: Population, gap: TableFunction, exact: TableFunction, turns: list[float]
) -> Iterator[float]:
    """Yield zeros between thresholds of the scan, at turning points, and on stretches."""
    thresholds = np.unique(np.concatenate([scan_thresholds(population), turns]))[::-1]
    values = np.asarray(gap(population.at(thresholds)), dtype=np.float64)
    defined = ~np.isnan(values)
    thresholds, signs = thresholds[defined], np.sign(values[defined])
    starts = [0, *(np.flatnonzero(np.diff(signs)) + 1), len(signs)]
    for start, stop in pairwise(starts):
        before, after = signs[start - 1] if start else None, signs[stop] if stop < len(signs) else None
        if start < stop and signs[start] == 0:
            outside = float(thresholds[start - 1]) if start else None
            touched = [at for at in turns if thresholds[stop - 1] <= at <= thresholds[start]]
            strictest = _strictest_of_stretch(population, (gap, exact), thresholds[start:stop], outside)
            if touched:
                yield from touched
            elif before is not None and after == -before and strictest is None:
                yield from _find_root(population, exact, float(thresholds[stop]), float(thresholds[start - 1]))
            elif strictest is not None:
                yield strictest
            elif np.isinf(thresholds[stop - 1]):
                yield float(thresholds[stop - 1])
        elif before is not None and before == -signs[start]:
            yield from _find_root(population, exact, float(thresholds[start]), float(thresholds[start - 1]))


def _strictest_of_stretch(
    population: Population, gaps: tuple[TableFunction, TableFunction], zeros: Floats, outside: float | None
) -> float | None:
    """Find the strictest threshold of a stretch of zeros; None if they are isolated rounding errors."""
    gap, exact = gaps
    lowest = min(support(each)[0] for each in (population.negative, population.positive))
    start = next(
        (at for at, pair in enumerate(pairwise(zeros)) if _is_constant_between(population, exact, pair, lowest)), None
    )
    if start is None:
        return None
    strictest = float(zeros[start])
    if start or outside is None or np.isinf(strictest):
        return strictest
    closed = exact if float(exact(population.at(strictest))) == 0 else gap
    return _bisect(lambda at: float(closed(population.at(at))) == 0, strictest, outside)


def _is_constant_between(
    population: Population, exact: TableFunction, pair: tuple[float, float], lowest: float
) -> bool:
    """Return whether the function is constant from one threshold to the next."""
    strict, lax = pair
    if np.isinf(strict):
        return True
    if np.isinf(lax):
        return bool(strict <= lowest)
    middle = np.array([(strict + lax) / 2])
    return bool(population.density(middle)[0] == 0) or _is_flat(population, exact, middle)


def _is_flat(population: Population, gap: TableFunction, threshold: Floats) -> bool:
    if np.isinf(threshold[0]):
        return True
    with np.errstate(invalid="ignore", over="ignore"):
        change, size, _ = slope(population, gap, threshold)
    return bool(np.abs(change[0]) <= _SLOPE_TOLERANCE * size[0])


def _find_root(population: Population, gap: TableFunction, low: float, high: float) -> Iterator[float]:
    from scipy.optimize import brentq

    at = partial(_value_at, population, gap)
    # No scores lie between an infinite threshold and the outermost quantile.
    if np.isfinite(low) and np.isfinite(high):
        root = float(brentq(at, low, high, xtol=1e-300, rtol=4 * np.finfo(float).eps))
        if abs(at(root)) <= 1e-9 * max(1.0, abs(at(low)), abs(at(high))):
            yield root


def _resolve_objective(measure: str | Measure, options: dict[str, Any]) -> _Objective:
    """Resolve a measure of `Counts`, with its options."""
    function = find_measure(measure) if isinstance(measure, str) else measure
    info = describe(function) if hasattr(unwrap_options(function), "about") else None
    if info is not None and info.of is not Counts:
        raise OptionError(
            f"{info.name} has one value for a whole curve, not one at each threshold", remedy="choose another measure."
        )
    name = info.name if info else getattr(function, "__name__", "this function")
    bounded = info is not None and bool(np.isfinite(info.span).all())
    return _Objective(name, partial(function, **options), info.best if info else None, bounded)


def _make_best(population: Population, name: str, peak: Peak) -> BestThreshold:
    return BestThreshold(name, peak.threshold, peak.value, population.at(peak.threshold), peak.attained)
