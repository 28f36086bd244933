"""Thresholds that are best, cheapest, or where a measure has a given value."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._costs import Costs
from baserate._counts import Counts
from baserate._errors import OptionError
from baserate._numeric.distribution_functions import support
from baserate._numeric.distributions import density_crossings
from baserate._population import Population
from baserate.measure import Measure, about, bare, expected_cost, named
from baserate.population._search import Function, Peak, highest, scan, slope, turning_points

Toward = Literal["high", "low"]

_EQUAL = 1e-12
"""Part of two numbers by which they may differ and still be taken for equal."""


@dataclass(frozen=True, slots=True)
class Best:
    """The best value of a measure, and the threshold that gives it."""

    measure: str
    threshold: float
    """Flagged are scores at or above it."""
    value: float
    counts: Counts[float]
    """The 2×2 table there; everybody has mass 1."""
    attained: bool = True
    """False if the value is a limit that thresholds approach: at the end itself the measure is undefined."""
    skipped: bool = False
    """Whether thresholds at which the measure is infinite were skipped: infinities never win a search."""

    @property
    def at_end(self) -> bool:
        """Whether nothing, or everything, is flagged there."""
        return self.counts.flagged == 0 or self.counts.passed == 0


class _Goal(NamedTuple):
    name: str
    value: Function
    toward: Toward | None


def best(population: Population, measure: str | Measure, *, toward: Toward | None = None, **options: Any) -> Best:  # noqa: ANN401
    """Find the threshold that is best by a measure of the 2×2 table, to the last digits.

    `measure` is a name, a measure, or any function of `Counts` that computes with arrays; then say whether `toward` is
    "high" or "low". Options such as `beta=` or `costs=` go to the measure. Among equally good thresholds the strictest
    wins. Where no threshold attains the best value, as with precision, which grows until nothing is flagged, the limit
    is returned and `attained` is False. Infinities never win: where the measure is infinite at some thresholds they are
    skipped, and where it grows without bound toward them no threshold is best, which is an error.

    >>> from baserate import population
    >>> found = population.best(population.linear(), "f1")
    >>> round(found.threshold, 12), round(found.value, 12)  # (3 − √5)/2 and 3 − √5
    (0.38196601125, 0.7639320225)
    """
    check(population)
    goal = _goal(measure, options)
    direction = goal.toward if toward is None else toward
    if toward not in {None, "high", "low"}:
        raise OptionError(f"toward is {toward!r}; it is 'high' or 'low'.")
    if direction is None:
        raise OptionError(f"neither end of {goal.name} is the better one; say which you mean: toward='high' or 'low'.")
    sign = 1.0 if direction == "high" else -1.0
    peak = highest(population, lambda counts: sign * goal.value(counts))
    if peak is None:
        infinite = " or infinite" * _infinite_somewhere(population, goal, sign)
        raise OptionError(
            f"{goal.name} is undefined{infinite} at every threshold of this population; take another prevalence or "
            "measure."
        )
    if np.isinf(peak.value):
        raise OptionError(
            f"{goal.name} grows without bound towards a threshold of {peak.threshold:g}, so that none is best by it; "
            "infinities never win a search: take another measure."
        )
    found = _found(population, goal.name, peak._replace(value=sign * peak.value + 0.0))  # −0.0 is 0
    return replace(found, skipped=_infinite_somewhere(population, goal, sign))


def _infinite_somewhere(population: Population, goal: _Goal, sign: float) -> bool:
    """Whether some threshold is infinitely good."""
    values = np.asarray(goal.value(population.at(scan(population))), dtype=np.float64)
    return bool((sign * values == np.inf).any())


def cheapest(population: Population, costs: Costs | None = None) -> Best:
    """Find the threshold of least expected cost; by default every error costs 1, so it is that of highest accuracy.

    It is where the likelihood ratio rises through the slope of the iso-cost lines, `costs.slope(prevalence)`. For
    linear and normal populations there is a formula for it. Normal scores of unequal spread have a second such place,
    where the ratio falls: there the cost is greatest, and only a rule with two thresholds would use it. Flagging
    nothing, or everything, is chosen where it is cheaper still.

    >>> from baserate import Costs, population
    >>> population.cheapest(population.binormal(means=(0, 2)), Costs(fp=1, fn=1)).threshold
    1.0
    """
    check(population)
    costs = Costs() if costs is None else costs
    ratio = costs.slope(population.prevalence)
    places = density_crossings(population.negative, population.positive, ratio) if 0 < ratio < np.inf else None
    if places is None or costs.fn <= costs.tp:
        return best(population, "expected_cost", costs=costs)
    low = min(support(each)[0] for each in (population.negative, population.positive))
    peaks = [Peak(at, expected_cost(population.at(at), costs=costs)) for at in (*places, np.inf, low)]
    return _found(population, "expected_cost", min(peaks, key=lambda peak: peak.value))


def where(
    population: Population,
    measure: str | Measure,
    equals: float | str | Measure,
    **options: Any,  # noqa: ANN401
) -> tuple[float, ...]:
    """Find every threshold at which a measure has a value, or at which two measures agree; strictest first.

    Where it does so over a stretch, the strictest threshold of the stretch. A value that is only jumped over, from one
    atom to the next, is not found.

    >>> from baserate import population
    >>> population.where(population.linear(), "precision", "recall")
    (0.5,)
    >>> [round(at, 12) for at in population.where(population.linear(), "specificity", 0.9)]  # 1 − √0.1
    [0.683772233983]
    """
    check(population)
    first = _goal(measure, options).value
    second = _goal(equals, {}).value if isinstance(equals, str) or callable(equals) else _constant(equals)

    def gap(counts: Counts[Any]) -> Any:  # noqa: ANN401
        """Difference, without what is rounding."""
        one, other = first(counts), second(counts)
        apart = one - other
        return np.where(np.abs(apart) <= _EQUAL * np.maximum(np.abs(one), np.abs(other)), 0.0, apart)[()]

    def exact(counts: Counts[Any]) -> Any:  # noqa: ANN401
        return first(counts) - second(counts)

    turns = turning_points(population, lambda counts: 1 + exact(counts))
    turns += turning_points(population, lambda counts: 1 - exact(counts))
    return tuple(sorted(set(_zeros(population, gap, exact, turns)), reverse=True))


def _constant(value: float) -> Function:
    if not isinstance(value, Real) or np.isnan(float(value)):
        raise OptionError(f"equals is {value!r}; give a number, or a measure to agree with.")
    return lambda _: float(value)


def _zeros(population: Population, gap: Function, exact: Function, turns: list[float]) -> Iterator[float]:
    """Where the gap closes: between thresholds of the scan, at its turns, and over stretches."""
    thresholds = np.unique(np.concatenate([scan(population), turns]))[::-1]
    values = np.asarray(gap(population.at(thresholds)), dtype=np.float64)
    there = ~np.isnan(values)
    thresholds, signs = thresholds[there], np.sign(values[there])
    starts = [0, *(np.flatnonzero(np.diff(signs)) + 1), len(signs)]
    for start, stop in pairwise(starts):
        before, after = signs[start - 1] if start else None, signs[stop] if stop < len(signs) else None
        if start < stop and signs[start] == 0:
            outside = float(thresholds[start - 1]) if start else None
            touched = [at for at in turns if thresholds[stop - 1] <= at <= thresholds[start]]
            strictest = _stretch(population, (gap, exact), thresholds[start:stop], outside)
            if touched:
                yield from touched
            elif before is not None and after == -before and strictest is None:
                yield from _crossing(population, exact, float(thresholds[stop]), float(thresholds[start - 1]))
            elif strictest is not None:
                yield strictest
            elif np.isinf(thresholds[stop - 1]):
                yield float(thresholds[stop - 1])
        elif before is not None and before == -signs[start]:
            yield from _crossing(population, exact, float(thresholds[start]), float(thresholds[start - 1]))


def _stretch(
    population: Population, gaps: tuple[Function, Function], zeros: Floats, outside: float | None
) -> float | None:
    """Strictest threshold from which on nothing changes, if there is one; before it rounding alone may make zeros."""
    gap, exact = gaps
    lowest = min(support(each)[0] for each in (population.negative, population.positive))
    start = next((at for at, pair in enumerate(pairwise(zeros)) if _stays(population, exact, pair, lowest)), None)
    if start is None:
        return None
    strictest = float(zeros[start])
    if start or outside is None or np.isinf(strictest):
        return strictest
    closed = exact if float(exact(population.at(strictest))) == 0 else gap
    return _first_zero(population, closed, strictest, outside)


def _stays(population: Population, exact: Function, pair: tuple[float, float], lowest: float) -> bool:
    """Whether nothing changes from one threshold to the next."""
    strict, lax = pair
    if np.isinf(strict):
        return True
    if np.isinf(lax):
        return bool(strict <= lowest)
    middle = np.array([(strict + lax) / 2])
    return bool(population.density(middle)[0] == 0) or _still(population, exact, middle)


def _first_zero(population: Population, gap: Function, inside: float, outside: float) -> float:
    """Strictest threshold of a stretch that begins between two."""
    for _ in range(60):
        look = (inside + outside) / 2
        inside, outside = (look, outside) if float(gap(population.at(look))) == 0 else (inside, look)
    return inside


def _still(population: Population, gap: Function, threshold: Floats) -> bool:
    if np.isinf(threshold[0]):
        return True
    with np.errstate(invalid="ignore", over="ignore"):
        change, size, _ = slope(population, gap, threshold)
    return bool(np.abs(change[0]) <= 1e-12 * size[0])


def _crossing(population: Population, gap: Function, low: float, high: float) -> Iterator[float]:
    from scipy.optimize import brentq

    def at(threshold: float) -> float:
        return float(np.asarray(gap(population.at(np.array([threshold]))))[0])

    # Between an infinite threshold and the outermost quantile nobody is left.
    if np.isfinite(low) and np.isfinite(high):
        root = float(brentq(at, low, high, xtol=1e-300, rtol=4 * np.finfo(float).eps))
        if abs(at(root)) <= 1e-9 * max(1.0, abs(at(low)), abs(at(high))):
            yield root


def _goal(measure: str | Measure, options: dict[str, Any]) -> _Goal:
    """What is sought: a measure of Counts, with its options."""
    function = named(measure) if isinstance(measure, str) else measure
    told = about(function) if hasattr(bare(function), "about") else None
    if told is not None and told.of is not Counts:
        raise OptionError(f"{told.name} has one value for a whole curve, not one at each threshold; take another.")
    name = told.name if told else getattr(function, "__name__", "this function")
    return _Goal(name, partial(function, **options), told.best if told else None)


def _found(population: Population, name: str, peak: Peak) -> Best:
    return Best(name, peak.threshold, peak.value, population.at(peak.threshold), peak.attained)


def check(population: object) -> None:
    """Refuse what is not a population."""
    if not isinstance(population, Population):
        raise OptionError(
            f"{type(population).__name__} is not a Population; make one first, for example with population.linear()."
        )
