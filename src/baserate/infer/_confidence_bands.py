"""Confidence bands of ROC, precision–recall and gain curves, pointwise or simultaneous, and the KS interval.

A point of a curve at a given x is uncertain in independent ways: the value of y at the threshold, and which threshold
gives that x. Each has its own interval and shifts y; independent shifts add up in quadrature, separately for the lower
and the upper limit [@zou2008].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import exp, hypot, inf, log, nextafter, pi, sqrt
from typing import Any, Literal, NamedTuple, TypeGuard, Unpack

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats, Value, as_python, ratio
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import LEVEL, ShareLike, check_domain, parse_share
from baserate._errors import OptionError, keyword
from baserate._formatting import count_of
from baserate._numeric.cumulative import cumulative_blocks, cumulative_sums
from baserate._results import Results
from baserate._tally import Tallies, Tally
from baserate.infer import _binomial
from baserate.infer._binomial import (
    NormalLevel,
    Proportion,
    effective_counts,
    effective_proportion,
    normal_quantile,
    tail_probability,
    wilson,
    wilson_or_exact,
)
from baserate.infer._bootstrap import Seed, make_generator
from baserate.infer._confusion_intervals import N_LIMIT_SAMPLES, simulate_limits
from baserate.infer._rate_intervals import has_rate_interval, rate_interval
from baserate.measure import (
    TABLES,
    Measure,
    as_measure,
    describe,
    plotted_path,
    results_data,
    table,
    tabulate_groups,
    thin_points,
    undefined_reason,
)
from baserate.read import PredictionOptions, accepts_predictions

BandLimits = tuple[Floats, Floats]
Places = npt.NDArray[np.intp]
_LIMIT_LAW_ROWS = 1000
"""Rows above which the limit law of Kolmogorov's distance is used."""
_ROUNDING = 1e-9
"""Tolerance of row counts, since sums of weights in other units may round below a whole number."""
_MAX_LEVEL = nextafter(1.0, 0.0)
_MIN_ROWS = 10
"""Rows below which local levels stop growing."""


class StepPath(NamedTuple):
    """A path along which neither x nor y decreases, as a function of x.

    Where the path runs straight up, y has a lowest and a highest value.
    """

    x: Floats
    y: Floats

    def first(self, x: Floats) -> Places:
        """Return the places at which the path reaches x, one of its own."""
        return np.searchsorted(self.x, x, side="left")

    def last(self, x: Floats) -> Places:
        """Return the places at which the path leaves x, one of its own."""
        return np.searchsorted(self.x, x, side="right") - 1

    def below(self, x: Floats) -> Floats:
        """Return the lowest y at any x; between two of the path's own x, interpolate linearly."""
        last, following = self._around(x)
        return self._between(x, self.first(self.x[last]), following)

    def above(self, x: Floats) -> Floats:
        """Return the highest y at any x."""
        last, following = self._around(x)
        return self._between(x, last, self.last(self.x[following]))

    def _around(self, x: Floats) -> tuple[Places, Places]:
        last = self.last(np.maximum(x, self.x[0]))
        return last, np.minimum(last + 1, len(self.x) - 1)

    def _between(self, x: Floats, start: Places, stop: Places) -> Floats:
        width = self.x[stop] - self.x[start]
        part = np.where(width > 0, np.clip(ratio(x - self.x[start], width), 0.0, 1.0), 0.0)
        return self.y[start] + part * (self.y[stop] - self.y[start])


@dataclass(frozen=True, slots=True, eq=False)
class RocPath:
    """Masses of both classes flagged at each threshold, and their sums of squared weights."""

    mass: Floats
    squares: Floats
    """The same array object as `mass` where rows are counted."""
    reweighed: bool = False
    """Whether the prevalence is fixed."""

    @staticmethod
    def of(curve: Curve) -> RocPath:
        """Compute the path of a curve."""
        mass = curve.flagged_mass
        squares = cumulative_sums(curve.tally.squares) if curve.tally.weighted else mass
        return RocPath(mass, squares, curve.tally.reweighed)

    @property
    def rates(self) -> Floats:
        """Return sensitivities in row 0 and false positive rates in row 1."""
        return ratio(self.mass, self.mass[:, -1:])

    @property
    def prevalence(self) -> float:
        """Return the share of positives."""
        return ratio(float(self.mass[0, -1]), float(self.mass[:, -1].sum()))

    def flagged_counts(self, row: int, at: Places) -> tuple[Floats, Floats]:
        """Return effective hits and misses of a class at some thresholds."""
        hits, total = self.mass[row, at], self.mass[row, -1]
        if self.squares is self.mass:
            return hits, total - hits
        squares, all_squares = self.squares[row, at], self.squares[row, -1]
        # The difference of two cumulative sums may round below 0.
        counts = effective_counts(hits, total - hits, squares, np.maximum(all_squares - squares, 0.0))
        return np.asarray(counts.hits), np.asarray(counts.misses)

    def prevalences(self, bounding: Callable[[Any, Any, float], tuple[Any, Any]], level: float) -> tuple[float, float]:
        """Return bounds of the prevalence; a fixed prevalence is its own bounds."""
        if self.reweighed:
            return self.prevalence, self.prevalence
        both = Proportion(float(self.mass[0, -1]), float(self.mass[1, -1]))
        if self.squares is not self.mass:
            both = effective_counts(*both, float(self.squares[0, -1]), float(self.squares[1, -1]))
        low, high = bounding(*both, level)
        return low, high

    def rows(self, row: int) -> float:
        """Return the effective number of rows of a class [@kish1965]."""
        if self.squares is self.mass:
            return float(self.mass[row, -1])
        return ratio(float(self.mass[row, -1]) ** 2, float(self.squares[row, -1]))


def bound_roc(path: RocPath, places: Places, level: float) -> BandLimits:
    """Bound the sensitivity at the false positive rate of each point, pointwise."""
    true, false = path.rates
    steps = StepPath(false, true)
    first, last = steps.first(false[places]), steps.last(false[places])
    stricter, laxer = wilson(*path.flagged_counts(1, places), level)
    low, high = (
        wilson_or_exact(*path.flagged_counts(0, first), level)[0],
        wilson_or_exact(*path.flagged_counts(0, last), level)[1],
    )
    return _lower_limit(true[first], low, steps.below(stricter)), _upper_limit(true[last], high, steps.above(laxer))


def bound_pr(path: RocPath, places: Places, level: float) -> BandLimits:
    """Bound the precision at the recall r of each point: :math:`πr/(πr+(1-π)F)`, where F is the FPR at that recall.

    The prevalence π, F at the threshold, and the threshold that gives r are uncertain.
    """
    true, false = path.rates
    steps, recall, share = StepPath(true, false), true[places], path.prevalence
    first, last = steps.first(recall), steps.last(recall)
    rarer, commoner = path.prevalences(wilson, level)
    stricter, laxer = wilson(*path.flagged_counts(0, places), level)
    fewer, more = (
        wilson_or_exact(*path.flagged_counts(1, first), level)[0],
        wilson_or_exact(*path.flagged_counts(1, last), level)[1],
    )

    def at(false: Floats, prevalence: float = share) -> Floats:
        flagged: Floats = prevalence * recall + (1 - prevalence) * false
        return ratio(prevalence * recall, flagged)

    worst, best = false[last], false[first]
    low = _lower_limit(at(worst), at(worst, rarer), at(more), at(steps.above(laxer)))
    high = _upper_limit(at(best), at(best, commoner), at(fewer), at(steps.below(stricter)))
    # At recall 0 the precision can be anything: negatives may come first.
    return np.where(recall > 0, low, 0.0), np.where(recall > 0, high, 1.0)


def bound_gain(path: RocPath, places: Places, level: float) -> BandLimits:
    """Bound the sensitivity at the flag rate of each point.

    The prevalence and both rates at the threshold are uncertain; to keep the flag rate, the threshold shifts with each.
    """
    true, false = path.rates
    share, value = path.prevalence, true[places]
    steps = _make_gain_path(true, false, share)
    rate = steps.x[places]
    rarer, commoner = path.prevalences(wilson_or_exact, level)
    elsewhere = [_make_gain_path(true, false, prevalence).above(rate) for prevalence in (rarer, commoner)]

    def shift_rate(*, true: Floats | float = 0.0, false: Floats | float = 0.0) -> Floats:
        """Return the sensitivity if a rate is higher by that much at every threshold."""
        return steps.above(rate - share * true - (1 - share) * false) + true

    few, many = (bound - value for bound in wilson_or_exact(*path.flagged_counts(0, places), level))
    seldom, often = (bound - false[places] for bound in wilson_or_exact(*path.flagged_counts(1, places), level))
    low = _lower_limit(value, shift_rate(true=few), shift_rate(false=often), np.minimum(*elsewhere))
    high = _upper_limit(value, shift_rate(true=many), shift_rate(false=seldom), np.maximum(*elsewhere))
    # No more positives can be flagged than rows are, and no more missed than rows are not flagged.
    return np.maximum(low, 1 - (1 - rate) / rarer), np.minimum(high, rate / rarer)


def bound_roc_simultaneously(path: RocPath, places: Places, level: float) -> BandLimits:
    r"""Bound the sensitivity at the false positive rate of each point, for all points at once.

    Each point has confidence 1 − η, the same everywhere, :math:`η=-\log(level)/(2\log(n)\log\log(n))`: the local level
    at which the distribution function of n rows stays inside its pointwise intervals everywhere [@gontscharuk2017].
    Here n is the number of rows of both classes. Their correction for few rows is omitted: adding in quadrature is
    conservative.
    """
    rows = log(max(path.rows(0) + path.rows(1), _MIN_ROWS))
    tail = -log(level) / (2 * rows * log(rows))
    # 1 − η may round to 1, where quantiles are infinite.
    return bound_roc(path, places, min(1 - min(tail, 1 - level), _MAX_LEVEL))


def bound_roc_kolmogorov(path: RocPath, places: Places, level: float) -> BandLimits:
    """Bound the whole ROC curve by Kolmogorov's distance of each class, for any distribution.

    The distribution function of each class lies within Kolmogorov's distance of the sample's, at level √level. Where
    both do, the true ROC curve lies between the empirical curve shifted right and down, and shifted left and up
    [@campbell1994].
    """
    true, false = path.rates
    steps, rate = StepPath(false, true), false[places]
    down, aside = (kolmogorov_distance(path.rows(row), sqrt(level)) for row in (0, 1))
    low = np.where(rate >= aside, steps.below(rate - aside) - down, 0.0)
    high = np.where(rate + aside <= 1, steps.above(rate + aside) + down, 1.0)
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def kolmogorov_distance(rows: float, level: float) -> float:
    """Return the distance from the true distribution function that a sample keeps everywhere with that confidence.

    Each side gets half of the tail probability (Smirnov's exact law), which makes no difference in published tables of
    Kolmogorov's distance [@miller1956]. Above a thousand rows the limit law, which is never smaller, is used. Fractions
    of rows do not count.

    >>> round(kolmogorov_distance(10, 0.95), 5), round(kolmogorov_distance(20, 0.95), 5)
    (0.40925, 0.29408)
    """
    from scipy.special import kolmogi, smirnovi

    whole = int(rows * (1 + _ROUNDING))
    if whole < 1:
        return 1.0
    return float(kolmogi(1 - level) / sqrt(whole) if whole > _LIMIT_LAW_ROWS else smirnovi(whole, (1 - level) / 2))


def _make_gain_path(true: Floats, false: Floats, prevalence: float) -> StepPath:
    """Return sensitivity against the flag rate, at any prevalence."""
    return StepPath(prevalence * true + (1 - prevalence) * false, true)


def _lower_limit(value: Floats, *each: Floats) -> Floats:
    return np.maximum(value - _add_in_quadrature([np.maximum(value - other, 0.0) for other in each]), 0.0)


def _upper_limit(value: Floats, *each: Floats) -> Floats:
    return np.minimum(value + _add_in_quadrature([np.maximum(other - value, 0.0) for other in each]), 1.0)


def _add_in_quadrature(moves: list[Floats]) -> Floats:
    distance: Floats = np.sqrt(sum(move * move for move in moves))
    return distance


_KS_EDGE = 0.1
"""Share at either end assumed to be excluded from the selection, as usual for selected thresholds."""
_SMALLEST_TAIL = 1e-13
KS_METHOD = "Newcombe's difference of shares at all thresholds"


def ks_interval(tally: Tally, level: float) -> tuple[float, float]:
    r"""Bound the KS statistic by Newcombe's intervals [@newcombe1998] for TPR − FPR at all candidate thresholds.

    The true difference is largest at an unknown threshold, so the highest of all upper bounds is valid. The largest
    observed difference is biased upward by selection. For the lower bound, the normal quantile is therefore replaced by
    that of the maximum over all thresholds between the edges, :math:`(b-1/b)φ(b)\ln\frac{(1-ε)^2}{ε^2}+4φ(b)/b=α`
    [@miller1982], or by Bonferroni's where there are few thresholds.
    """
    path = RocPath.of(Curve(tally))
    places = _ks_candidates(path, level)
    true, false = (Proportion(*path.flagged_counts(row, places)) for row in (0, 1))
    bounds = _newcombe_difference(true, false, normal_quantile(level))
    best = int(np.argmax(np.abs(np.subtract(*path.rates)[places])))
    high, rest = (Proportion(float(each.hits[best]), float(each.misses[best])) for each in (true, false))
    low, _ = ks_interval_of_rates(high, rest, level, thresholds=path.mass.shape[1] - 2)
    return low, min(float(np.max([bounds[1], -bounds[0]])), 1.0)


def _ks_candidates(path: RocPath, level: float) -> Places:
    """Return the thresholds at which an upper bound may exceed the largest observed difference."""
    true, false = path.rates
    gap = np.abs(true - false)[1:-1]
    if not len(gap):  # all scores are equal
        return np.zeros(1, dtype=np.intp)
    if path.squares is not path.mass:  # with weights, some thresholds may have far larger variances
        return np.arange(1, len(gap) + 1)
    z = normal_quantile(level)
    # No Wilson bound of a proportion of r rows lies farther from it than z/(2√r) + z²/r.
    reach = [z / (2 * sqrt(rows)) + z * z / rows for rows in (path.rows(0), path.rows(1))]
    return 1 + np.flatnonzero(gap >= gap.max() - hypot(*reach))


def ks_interval_of_rates(
    high: Proportion[float], low: Proportion[float], level: float, *, thresholds: float = inf
) -> tuple[float, float]:
    """Bound KS from both rates at the threshold with the largest difference, selected among that many thresholds."""
    if high.hits * low.trials < low.hits * high.trials:
        high, low = low, high
    least, _ = _newcombe_difference(high, low, selected_quantile(level, thresholds=thresholds))
    _, most = _newcombe_difference(high, low, normal_quantile(level))
    return max(least, 0.0), min(most, 1.0)


def selected_quantile(level: float, *, thresholds: float = inf) -> float:
    """Return the standard errors that the most significant of all thresholds, or of that many, reaches by chance.

    >>> round(selected_quantile(0.95), 2), round(selected_quantile(0.95, thresholds=4), 2)
    (3.05, 2.5)
    """
    near, far = 1.0, 40.0
    for _ in range(60):
        middle = (near + far) / 2
        normal = exp(-(middle**2) / 2) / sqrt(2 * pi)
        chance = (middle - 1 / middle) * normal * 2 * log((1 - _KS_EDGE) / _KS_EDGE) + 4 * normal / middle
        near, far = (middle, far) if chance > tail_probability(level) else (near, middle)
    each = tail_probability(level) / max(thresholds, 1.0)
    if each > _SMALLEST_TAIL:  # below it, 1 − each rounds to 1
        near = min(near, normal_quantile(1 - each))
    return max(near, normal_quantile(level))


def ks_threshold(tally: Tally) -> float:
    """Return the threshold with the largest difference of the two rates, the strictest of equal ones."""
    best, at, start = -1.0, 0, 0
    for true, false in cumulative_blocks(tally.mass):
        gap = np.abs(true / tally.positives - false / tally.negatives)
        place = int(np.argmax(gap))
        if gap[place] > best:
            best, at = float(gap[place]), start + place
        start += len(gap) - 1
    return float("inf") if at == 0 else float(tally.score[at - 1])


def _newcombe_difference(first: Proportion[Value], second: Proportion[Value], z: float) -> tuple[Value, Value]:
    """Bound the difference of two proportions from the Wilson bounds of each."""
    p, q = ratio(first.hits, first.trials), ratio(second.hits, second.trials)
    (p_low, p_high), (q_low, q_high) = (wilson(each.hits, each.misses, NormalLevel(z)) for each in (first, second))
    low, high = p - q - np.hypot(p - p_low, q_high - q), p - q + np.hypot(p_high - p, q - q_low)
    return as_python(low), as_python(high)


N_POINTS = 200
"""Default number of points, more than a figure can resolve."""

_BLOCK_THRESHOLDS = 256
"""Thresholds whose samples are in memory at a time."""

_QUADRATURE = "Wilson along the curve, Wilson or Clopper–Pearson across it, added in quadrature"
_LOCAL = f"{_QUADRATURE}, at equal local levels"
_KOLMOGOROV = "Kolmogorov–Smirnov for each class"
_SHARE = "Wilson, or Clopper–Pearson where there are few hits or misses"
_DIRICHLET = f"percentiles of {N_LIMIT_SAMPLES} Dirichlet samples of the 2×2 table, half a row added to each cell"
_BY_CLASS = f"{_DIRICHLET}, within each class"


class ConfidenceBand(NamedTuple):
    """A curve as a table, with the bounds of its last axis."""

    columns: dict[str, Floats]
    """`threshold`, the axes of the curve, `low` and `high`: bounds of the last axis."""
    how: str
    """Method of the bounds."""
    why: list[str | None]
    """Reason why a bound is undefined, for each row."""

    def __repr__(self) -> str:
        return f"ConfidenceBand({count_of(len(self.why), 'row')} of {', '.join(self.columns)}; {self.how})"


@accepts_predictions("tally")
def confidence_band(
    tally: Tally,
    what: str | Measure,
    *,
    level: ShareLike = 0.95,
    simultaneous: bool | Literal["kolmogorov-smirnov"] = False,
    points: int | None = N_POINTS,
    seed: Seed = 0,
    **predictions: Unpack[PredictionOptions],
) -> ConfidenceBand:
    """Tabulate a curve or a measure by threshold, with a confidence band.

    A band of a named curve bounds y at a given x: both classes are random, and so is the threshold that gives x. Where
    a curve runs straight up, all its points there have the same band. A band of a measure bounds it at a given
    threshold.

    Parameters
    ----------
    tally
        Scores of one model.
    what
        Name of a curve (`roc`, `pr`, `det`, `gain`, `lift`, `lorenz`), or a measure of `Counts`.
    level
        Confidence level.
    simultaneous
        False for pointwise bands. For `roc` and `det`, True for a band that covers the whole curve (equal local
        levels), or "kolmogorov-smirnov" for a wider one.
    points
        Largest number of points, spread evenly along the curve; None for all.
    seed
        Seed or NumPy generator; used only for measures that are not proportions.

    Returns
    -------
    ConfidenceBand
        Columns of the curve with `low` and `high`, the method, and the reason of each undefined bound.

    Examples
    --------
    >>> band = confidence_band(Tally.from_counts(score=[0.9, 0.1], rows=[[20, 30], [10, 30]]), "roc")
    >>> {name: column.round(3).tolist()[1] for name, column in band.columns.items()}
    {'threshold': 0.9, 'fpr': 0.25, 'sensitivity': 0.4, 'low': 0.187, 'high': 0.584}
    """
    level = parse_share(level)
    _check_band(what, level, simultaneous=simultaneous)
    curve = Curve(tally)
    columns = table(curve, what)
    places = thin_points(plotted_path(columns, named=_is_curve(what)), points)
    columns = {name: column[places] for name, column in columns.items()}
    if _is_curve(what):
        low, high, how = _bound_curve(curve, what.lower(), places, level, simultaneous=simultaneous)
    else:
        low, high, how = _bound_measure(curve.at(columns["threshold"]), as_measure(what), level, seed)
    value = list(columns.values())[-1]
    # Rounding must not leave the value outside of its bounds.
    columns |= {"low": np.minimum(low, value), "high": np.maximum(high, value)}
    return ConfidenceBand(columns, how, _find_reasons(curve, what, columns))


@accepts_predictions("tallies")
def confidence_bands(
    tallies: Tallies,
    what: str | Measure,
    *,
    level: ShareLike = 0.95,
    simultaneous: bool | Literal["kolmogorov-smirnov"] = False,
    points: int | None = N_POINTS,
    seed: Seed = 0,
    **predictions: Unpack[PredictionOptions],
) -> Results:
    """Tabulate curves or measures with confidence bands, for every model, all rows and each group.

    Parameters
    ----------
    tallies
        Tallies of models and groups.
    what
        Name of a curve, or a measure of `Counts`, as in `confidence_band`.
    level
        Confidence level.
    simultaneous
        Whether the band covers the whole curve, as in `confidence_band`.
    points
        Largest number of points of each curve; None for all.
    seed
        Seed or NumPy generator.

    Returns
    -------
    Results
        Tidy table with one row for each point; its metadata hold level and method.

    Examples
    --------
    >>> from baserate import read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> confidence_bands(t, "precision").rows()[1]["high"], confidence_bands(t, "precision").data["level"]
    (1.0, 0.95)
    """
    hows: list[str] = []

    def columns(tally: Tally) -> Mapping[str, Any]:
        result = confidence_band(tally, what, level=level, simultaneous=simultaneous, points=points, seed=seed)
        hows.append(result.how)
        return {**result.columns, "why": result.why}

    table = tabulate_groups(tallies, columns)
    options = {"level": level, "simultaneous": simultaneous, "how": hows[0]}
    return Results(table, results_data(tallies, []) | options)


BandMethod = Callable[[RocPath, Places, float], BandLimits]

_POINTWISE: dict[str, BandMethod] = {
    "roc": bound_roc,
    "pr": bound_pr,
    "det": bound_roc,
    "gain": bound_gain,
    "lift": bound_gain,
    "lorenz": bound_gain,
}
_SIMULTANEOUS: dict[bool | str, tuple[BandMethod, str]] = {
    True: (bound_roc_simultaneously, _LOCAL),
    "kolmogorov-smirnov": (bound_roc_kolmogorov, _KOLMOGOROV),
}
_SIMULTANEOUS_CURVES = ("roc", "det")


def _check_band(what: str | Measure, level: float, *, simultaneous: bool | str) -> None:
    check_domain("level", level, LEVEL._replace(high=1 - 2**-53, words="a confidence level from 1e-9 to 1 - 2⁻⁵³"))
    if simultaneous is False:
        return
    if simultaneous not in _SIMULTANEOUS:
        raise OptionError(
            f"simultaneous is {simultaneous!r}; expected True, False or 'kolmogorov-smirnov'.",
            option="simultaneous",
            value=simultaneous,
        )
    if not (isinstance(what, str) and what.lower() in _SIMULTANEOUS_CURVES):
        name = what if isinstance(what, str) else describe(as_measure(what)).name
        raise OptionError(
            f"simultaneous bands exist for {' and '.join(_SIMULTANEOUS_CURVES)} only, not for {name}",
            remedy=f"leave {keyword('simultaneous')} out.",
        )


def _bound_curve(
    curve: Curve, what: str, places: Places, level: float, *, simultaneous: bool | str
) -> tuple[Floats, Floats, str]:
    bounding, how = _SIMULTANEOUS[simultaneous] if simultaneous else (_POINTWISE[what], _QUADRATURE)
    if curve.positives == 0 or curve.negatives == 0:
        return *np.full((2, len(places)), np.nan), how
    path = RocPath.of(curve)
    low, high = bounding(path, places, level)
    if what in {"det", "lorenz"}:
        low, high = 1 - high, 1 - low
    if what == "lift":
        rate = path.mass[:, places].sum(axis=0) / curve.total
        low, high = ratio(low, rate), ratio(high, rate)
    return low, high, how


def _bound_measure(counts: Counts[Floats], measure: Measure, level: float, seed: Seed) -> tuple[Floats, Floats, str]:
    if counts.reweighed and (fixed := _binomial.bound_at_fixed_prevalence(counts, measure, level)):
        return fixed
    if has_rate_interval(measure):
        return rate_interval(counts, measure, level)
    how = _BY_CLASS if counts.reweighed else _DIRICHLET
    if describe(measure).share is not None and not counts.reweighed:
        hits, misses = (np.asarray(each) for each in effective_proportion(measure, counts))
        return *wilson_or_exact(hits, misses, level), _SHARE
    if not np.any(counts.total):
        return *np.full((2, len(counts.tp)), np.nan), how
    parts = range(0, len(counts.tp), _BLOCK_THRESHOLDS)
    generators = make_generator(seed).spawn(len(parts))
    limits = (
        simulate_limits(counts[start : start + _BLOCK_THRESHOLDS], measure, level, rng)
        for start, rng in zip(parts, generators, strict=True)
    )
    low, high = np.concatenate(list(limits), axis=1)
    return low, high, how


def _find_reasons(curve: Curve, what: str | Measure, columns: Mapping[str, Floats]) -> list[str | None]:
    holes = np.isnan(columns["low"])
    whys: list[str | None] = [None] * len(holes)
    places = np.flatnonzero(holes)
    if not len(places):
        return whys
    # A band of a curve needs both classes, even where the curve itself does not.
    names = (*reversed(TABLES[what.lower()]), "sensitivity", "fpr") if _is_curve(what) else (what,)
    counts = curve.at(columns["threshold"][places])
    for order, place in enumerate(places.tolist()):
        causes = (undefined_reason(as_measure(name), counts[order]) for name in names)
        whys[place] = next(filter(None, causes), None)
    return whys


def _is_curve(what: str | Measure) -> TypeGuard[str]:
    return isinstance(what, str) and what.lower() in TABLES
