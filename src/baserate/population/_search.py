"""Where a function of the 2×2 table peaks as the threshold moves, and how fast it changes there."""

from collections.abc import Callable, Iterator, Sequence
from math import factorial, inf, nextafter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._counts import Counts
from baserate._numeric.distribution_functions import atoms, density, point_mass, quantiles, support
from baserate._numeric.distributions import CLOSED_FORM
from baserate._population import Population

Function = Callable[[Counts[Any]], Any]
"""Of tables, one value for each of them."""

_LOG_ODDS = np.concatenate([np.linspace(-660, -40, 125), np.linspace(-36, 36, 577), np.linspace(40, 660, 125)])
"""Quantiles at which a scan looks: down to 1e-287 of a class, below which products of masses vanish."""
_BALANCE = 1e-12
"""Share of two opposing slopes below which their sum is rounding."""
_TIE = 1e-14
_RARE = 1e-200
"""Mass below which a tail goes on until floats tell it from nothing no more."""
_WAVE = 1e-11
"""Part of a limit by which rounding may stray on the way to it."""


class Peak(NamedTuple):
    """A candidate for the best threshold."""

    threshold: float
    value: float
    turning: bool = False
    """Whether the value rises up to here and falls from here on."""
    doubtful: bool = False
    """Whether rounding alone may have made it turn."""
    attained: bool = True


def scan(population: Population) -> Floats:
    """Thresholds at which something may happen, strictest first: ends, atoms, and quantiles of both classes."""
    classes = (population.negative, population.positive)
    ends = [support(each)[1] for each in classes if isinstance(each, CLOSED_FORM)]
    corners = np.array([*_corners(population), *(nextafter(end, -inf) for end in ends if end < inf)])
    places: Floats = np.unique(np.concatenate([corners, *(quantiles(each, _LOG_ODDS) for each in classes)]))[::-1]
    return np.unique(np.concatenate([places, gaps(population, places)]))[::-1]


def gaps(population: Population, places: Floats) -> Floats:
    """Strict ends of stretches between places in which nobody is."""
    inner = places[np.isfinite(places)]
    middle = (inner[:-1] + inner[1:]) / 2
    empty = (population.density(middle) == 0) & (middle < inner[:-1])
    inside, outside = middle[empty], inner[:-1][empty]
    for _ in range(60):
        look = (inside + outside) / 2
        still = population.density(look) == 0
        inside, outside = np.where(still, look, inside), np.where(still, outside, look)
    # At the end itself somebody may be, and is flagged.
    same = _alike(population, outside, inside)
    return np.asarray(np.where(same, outside, inside))


def _alike(population: Population, one: Floats, other: Floats) -> npt.NDArray[np.bool_]:
    """Whether thresholds flag the same."""
    first, second = population.at(one), population.at(other)
    return np.asarray((first.tp == second.tp) & (first.fp == second.fp))


def highest(population: Population, function: Function) -> Peak | None:
    """The greatest finite value and where it is; None if there is none.

    Of equal values the strictest threshold wins; but a turning point beats an end that rounding makes its equal. A
    limit that no threshold attains is returned only where it is above everything that one does. Infinities never win;
    where finite values grow without bound, the peak that is returned has the value inf, and is not attained.
    """
    thresholds = scan(population)
    limits = list(_limits(population, function, thresholds))
    bound = max((limit.value for limit in limits), default=inf)
    inner = thresholds[np.isfinite(thresholds)]
    signs = _signs(population, function, inner)
    # On the way to a limit rounding makes waves.
    found = [peak for peak in _turns(population, function, inner, signs) if not _nearly(peak.value, bound)]
    flat = _valued(population, function, list(_plateaus(population, function, inner, signs)))
    found += [peak for peak in flat if peak.value == bound or not _nearly(peak.value, bound)]
    found += _valued(population, function, [*_corners(population), *gaps(population, thresholds)])
    found = [peak for peak in found if np.isfinite(peak.value)]
    reached = max((peak.value for peak in found), default=-inf)
    # Next to an end much may be crowded that floats do not tell apart.
    crowded = _valued(population, function, inner[[1, -2]])
    found += [peak for peak in crowded if peak.value > reached + _slack(reached) and not _nearly(peak.value, bound)]
    found = [peak for peak in found if np.isfinite(peak.value)]
    top = max((peak.value for peak in found if not np.isnan(peak.value)), default=-inf)
    if (beyond := _unbounded(population, function, thresholds)) is not None:
        return beyond
    if limits and bound > top + _slack(top):
        return max(limits, key=lambda limit: limit.value)
    equal = [peak for peak in found if peak.value >= top - _slack(top)]
    return max(equal, key=lambda peak: (peak.turning, peak.threshold), default=None)


def _unbounded(population: Population, function: Function, thresholds: Floats) -> Peak | None:
    """Where the function grows without bound next to thresholds at which it is infinite; None if it does not.

    It may also jump there, at an atom: then it is hardly higher next to the infinities than somewhat further off. Where
    hardly anybody is left on one side, it is infinite only since floats tell so little mass from none.
    """
    values = np.asarray(function(population.at(thresholds)), dtype=np.float64)
    lows, highs = zip(*map(support, (population.negative, population.positive)), strict=True)
    good = values == inf
    for at in np.flatnonzero(good[1:] != good[:-1]):
        inside, outside = (at, at + 1) if good[at] else (at + 1, at)
        if not np.isfinite([thresholds[inside], values[outside]]).all() or not np.isfinite(thresholds[outside]):
            continue
        nearest = _next_to_infinity(population, function, float(thresholds[outside]), float(thresholds[inside]))
        value, further = _value(population, function, nearest), float(values[outside])
        counts = population.at(nearest)
        rare = min(each for each in (counts.tp, counts.fp, counts.fn, counts.tn) if each > 0) < _RARE
        if value > max(2 * abs(further), 1.0) or (rare and value > further):
            # Until one class is out of reach, or flagged altogether.
            return Peak(min(highs) if inside < outside else max(lows), inf, attained=False)
    return None


def _next_to_infinity(population: Population, function: Function, finite: float, infinite: float) -> float:
    """Last threshold that floats tell apart from those at which the function is infinite."""
    for _ in range(80):
        middle = (finite + infinite) / 2
        finite, infinite = (middle, infinite) if _value(population, function, middle) < inf else (finite, middle)
    return finite


def turning_points(population: Population, function: Function) -> list[float]:
    """Thresholds up to which the function rises and from which on it falls."""
    inner = scan(population)[1:-1]
    turns = _turns(population, function, inner, _signs(population, function, inner))
    return [turn.threshold for turn in turns if turn.turning and not turn.doubtful]


def slope(population: Population, function: Function, threshold: Floats) -> tuple[Floats, Floats, Floats]:
    """Change of the function as the threshold rises; its two parts together without their signs; and its rounding.

    By the chain rule: what a class loses at the threshold is its density there, and what a small loss does to the
    function is its derivative in the table, taken at an imaginary step [@squire1998], which cancels nothing but what
    the function itself does.
    """
    counts = population.at(threshold)
    share = population.prevalence
    lost = share * density(population.positive, threshold), (1 - share) * density(population.negative, threshold)
    room = np.minimum(counts.tp, counts.fn), np.minimum(counts.fp, counts.tn)
    true = _times(lost[0], _derivative(function, counts, "tp", "fn"))
    false = _times(lost[1], _derivative(function, counts, "fp", "tn"))
    per_room = sum(_times(each, 1 / np.maximum(space, 1e-300)) for each, space in zip(lost, room, strict=True))
    rounding = 4 * np.finfo(float).eps * np.abs(function(counts)) * per_room
    return -(true + false), np.abs(true) + np.abs(false), rounding


def _times(lost: Floats, change: Floats) -> Floats:
    """A product that is 0 where nothing is lost, whatever it would have changed."""
    return np.where(lost > 0, lost * change, 0.0)


def _derivative(function: Function, counts: Counts[Floats], flagged: str, passed: str) -> Floats:
    """Change of the function per mass that moves from passed to flagged; NaN where there is none to move."""
    room = np.minimum(getattr(counts, flagged), getattr(counts, passed))
    step = 1e-10 * np.where(room > 0, room, np.nan)
    try:
        moved = function(_moved(counts, flagged, passed, 1j * step))
    except TypeError:
        moved = None
    return np.imag(moved) / step if np.iscomplexobj(moved) else _difference(function, counts, flagged, passed)


_HALF = 8
_WEIGHTS = [
    (-1) ** (k + 1) * factorial(_HALF) ** 2 / (k * factorial(_HALF - k) * factorial(_HALF + k))
    for k in range(1, _HALF + 1)
]


def _difference(function: Function, counts: Counts[Floats], flagged: str, passed: str) -> Floats:
    """The derivative by central differences of order 16, for functions that know no imaginary numbers."""
    step = 0.03 * np.minimum(getattr(counts, flagged), getattr(counts, passed))
    rise = np.zeros(np.shape(step))
    for k, weight in enumerate(_WEIGHTS, start=1):
        up, down = (function(_moved(counts, flagged, passed, sign * k * step)) for sign in (1, -1))
        rise = rise + weight * (np.asarray(up) - np.asarray(down))
    return rise / np.where(step > 0, step, np.nan)


def _moved(counts: Counts[Floats], flagged: str, passed: str, mass: Any) -> Counts[Any]:  # noqa: ANN401
    """Counts after some mass, perhaps imaginary, was flagged. Not by the constructor, which would refuse that."""
    moved = object.__new__(Counts)
    cells = {name: getattr(counts, name) for name in ("tp", "fp", "fn", "tn")}
    cells |= {flagged: cells[flagged] + mass, passed: cells[passed] - mass, "moments": None}
    for name, cell in cells.items():
        object.__setattr__(moved, name, cell)
    return moved


def _signs(population: Population, function: Function, thresholds: Floats) -> Floats:
    """Whether the function rises (1), falls (−1) or stays (0) as the threshold rises; NaN where that cannot be told."""
    with np.errstate(invalid="ignore", over="ignore"):
        change, size, rounding = slope(population, function, thresholds)
    nobody = population.density(thresholds) == 0
    stays = nobody | (size == 0) | (np.abs(change) <= _BALANCE * size) & (size > rounding)
    return np.where(stays, 0.0, np.where(change == 0, np.nan, np.sign(change)))


def _turns(population: Population, function: Function, thresholds: Floats, signs: Floats) -> Iterator[Peak]:
    """Turning points: the function rises up to them and falls from them on."""
    # A single point without slope is a turning point that the scan has hit; its neighbours show it.
    lone = (signs == 0) & (np.roll(signs, 1) != 0) & (np.roll(signs, -1) != 0)
    thresholds, signs = thresholds[~lone], signs[~lone]
    for at in np.flatnonzero((signs[:-1] < 0) & (signs[1:] > 0)):
        turn = _turn(population, function, float(thresholds[at + 1]), float(thresholds[at]))
        # Where nobody is, nothing turns: the strict end of that stretch is as good.
        yield turn if population.density(turn.threshold) > 0 else turn._replace(turning=False)


def _turn(population: Population, function: Function, low: float, high: float) -> Peak:
    """Turning point between two thresholds: the root of the slope; where the function has a corner, the corner."""
    from scipy.optimize import brentq

    def rising(at: float) -> float:
        return float(slope(population, function, np.array([at]))[0][0])

    corner = _zoomed(population, function, low, high)
    try:
        root = float(brentq(rising, low, high, xtol=1e-300, rtol=4 * np.finfo(float).eps))
    except ValueError:  # somewhere between them the slope is undefined
        root = corner
    at_root, at_corner = (_value(population, function, at) for at in (root, corner))
    change, _, rounding = slope(population, function, np.array([low, high]))
    doubtful = bool((np.abs(change) <= rounding).any())
    if at_corner > at_root + _slack(at_root):
        return Peak(corner, at_corner, turning=True, doubtful=doubtful)
    return Peak(root, at_root, turning=True, doubtful=doubtful)


def _zoomed(population: Population, function: Function, low: float, high: float) -> float:
    """Highest point between two thresholds, by looking ever more closely."""
    for _ in range(16):
        look = np.linspace(high, low, 33)
        best = int(np.argmax(np.nan_to_num(function(population.at(look)), nan=-inf)))
        high, low = float(look[max(best - 1, 0)]), float(look[min(best + 1, 32)])
    return float(look[best])


def _plateaus(population: Population, function: Function, thresholds: Floats, signs: Floats) -> Iterator[float]:
    """Strictest threshold of each stretch on which nothing changes."""
    flat = signs == 0
    starts = flat & ~np.concatenate([[False], flat[:-1]]) & np.concatenate([flat[1:], [False]])
    for at in np.flatnonzero(starts):
        inside, outside = float(thresholds[at]), float(thresholds[max(int(at) - 1, 0)])
        for _ in range(60):
            middle = (inside + outside) / 2
            still = bool(_signs(population, function, np.array([middle]))[0] == 0)
            inside, outside = (middle, outside) if still else (inside, middle)
        yield inside


def _corners(population: Population) -> list[float]:
    """Ends and atoms, and thresholds that pass an atom by."""
    classes = (population.negative, population.positive)
    places = [place for each in classes for place in (*support(each), *atoms(each))]
    return [inf, -inf, *places, *(nextafter(atom, inf) for each in classes for atom in atoms(each))]


def _limits(population: Population, function: Function, thresholds: Floats) -> Iterator[Peak]:
    """What is approached, but not attained, where nothing or everything is flagged and the function undefined."""
    counts = population.at(thresholds)
    values = np.asarray(function(counts), dtype=np.float64)
    there = ~np.isnan(values)
    classes = (population.negative, population.positive)
    lows, highs = zip(*map(support, classes), strict=True)
    for end, margin, order in ((max(highs), counts.flagged, 1), (min(lows), counts.passed, -1)):
        # An atom at the end is reached at once, not approached; nor is an infinity that thresholds before the end have.
        nearest = values[there][::order][:1]
        if np.isfinite(nearest).any() and not there[::order][0] and not any(point_mass(each, end) for each in classes):
            yield Peak(end, _limit(values[there][::order], margin[there][::order]), attained=False)


def _limit(values: Floats, margin: Floats) -> float:
    """Value that is approached as the margin goes to 0, which it does toward the first of them.

    What still doubles on the second half of that way has no bound, and what halves goes to 0.
    """
    nearest = float(values[0])
    size = np.log(np.maximum(margin, np.finfo(float).tiny))
    midway = abs(float(values[np.argmin(np.abs(size - size[0] / 2))]))
    if abs(nearest) > 2 * midway:
        return float(np.copysign(inf, nearest))
    return 0.0 if abs(nearest) < midway / 2 else nearest


def _value(population: Population, function: Function, threshold: float) -> float:
    return float(np.asarray(function(population.at(np.array([threshold]))))[0])


def _valued(population: Population, function: Function, places: Sequence[float] | Floats) -> list[Peak]:
    """Candidates at these places."""
    values = np.asarray(function(population.at(np.array(places, dtype=np.float64))), dtype=np.float64)
    return list(map(Peak, map(float, places), values.tolist()))


def _nearly(value: float, bound: float) -> bool:
    return bool(np.isfinite(bound) and abs(value - bound) <= _WAVE * abs(bound) + 1e-15)


def _slack(value: float) -> float:
    return _TIE * abs(value) + 1e-15 if np.isfinite(value) else 0.0
