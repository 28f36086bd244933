"""Binomial intervals of proportions: Wilson, Clopper–Pearson, Jeffreys, Agresti–Coull, also at a fixed prevalence.

Hits and misses need not be whole numbers: weighted rows have effective counts. At a fixed prevalence the class shares
are exact, and only the rows within each class are random. A 2×2 table is then two proportions, the sensitivity and the
false positive rate, each of its own rows; a K×K table is K rows of its own. The weight of a class does not change the
precision of its proportions.
"""

from __future__ import annotations

from collections.abc import Callable
from math import erf, erfc, exp, inf, log, log1p, nextafter, pi, sqrt
from typing import Any, Generic, Literal, NamedTuple, Self, get_args

import numpy as np

from baserate._arrays import Bools, Floats, Value, as_python, ratio, round_if_close
from baserate._confusion import Confusion
from baserate._counts import Counts
from baserate._curve import Curve
from baserate.measure import Measure, describe

EXACT_BELOW = 13
"""Hits or misses below which only the exact interval covers at its level, as `python -m bench.coverage` shows."""

LARGE_FREEDOM = 1000
"""Degrees of freedom above which a series of two terms replaces the t distribution."""

Limits = tuple[Value, Value]
"""Low and high."""


class Proportion(NamedTuple, Generic[Value]):
    """Effective hits and misses of a proportion: floats, or arrays for many proportions."""

    hits: Value
    misses: Value

    @property
    def trials(self) -> Value:
        """Return the number of hits and misses."""
        return self.hits + self.misses


def share_cells(measure: Measure) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the cells that are the hits and the misses of a measure that is a proportion."""
    cells = describe(measure).share
    assert cells is not None  # noqa: S101  (for the type checker)
    return cells


def effective_proportion(measure: Measure, table: Counts[Value] | Confusion) -> Proportion[Value]:
    r"""Compute the effective hits and misses of a measure that is a proportion.

    For counted rows they are the counts. For weighted rows the linearized variance
    :math:`v=[(1-p)^2\sum_{hits}w^2+p^2\sum_{misses}w^2]/(\sum w)^2` gives the effective number of trials,
    :math:`p(1-p)/v`; where v is 0, since all are hits or all misses, Kish's :math:`(\sum w)^2/\sum w^2` takes its place
    [@kish1965] [@korn1998].
    """
    cells = share_cells(measure)
    hits, misses = (_sum_cells(table, names) for names in cells)
    if table.moments is None:
        return Proportion(hits, misses)
    hit_squares, miss_squares = (_sum_cells(table.squares, names) for names in cells)
    return effective_counts(hits, misses, hit_squares, miss_squares)


def effective_counts(hits: Value, misses: Value, hit_squares: Value, miss_squares: Value) -> Proportion[Value]:
    """Compute effective hits and misses from masses and sums of squared weights."""
    total = hits + misses
    p, q = ratio(hits, total), ratio(misses, total)
    spread = q * q * hit_squares + p * p * miss_squares
    kish = ratio(total * total, hit_squares + miss_squares)
    trials = np.where(np.asarray(spread) > 0, ratio(p * q * total * total, spread), kish)
    # Equal weights must give the counts exactly: rounding below a whole number would switch to the exact interval.
    return Proportion(round_if_close(p * trials), round_if_close(q * trials))


def proportion_from_variance(value: float, variance: float, rows: float) -> Proportion[float]:
    """Compute effective hits and misses of any number in [0, 1] from its variance, or from rows where that is 0.

    A mean of numbers in [0, 1] varies at most as much as a proportion of as many rows, so the same intervals hold.
    """
    trials = value * (1 - value) / variance if variance > 0 and 0 < value < 1 else rows
    return Proportion(value * trials, (1 - value) * trials)


class NormalLevel(float):
    """Confidence level of z standard errors to both sides, which stores z.

    From about 8.2 standard errors on, a float cannot distinguish the level from 1. Tail probabilities below 1e-16 need
    z.

    >>> far = NormalLevel(12.0)
    >>> 0.999 < far < 1, normal_quantile(far), f"{tail_probability(far):.4g}"
    (True, 12.0, '3.553e-33')
    """

    __slots__ = ("z",)
    z: float

    def __new__(cls, z: float) -> Self:
        """Make the level from z."""
        level = super().__new__(cls, min(erf(z / sqrt(2)), nextafter(1.0, 0.0)))
        level.z = z
        return level


def tail_probability(level: float) -> float:
    """Return the probability outside of an interval at this level: both tails."""
    return erfc(level.z / sqrt(2)) if isinstance(level, NormalLevel) else 1 - level


def normal_quantile(level: float) -> float:
    """Return the normal quantile of a two-sided interval: the number of standard errors to each side.

    >>> round(normal_quantile(0.95), 6)
    1.959964
    """
    if isinstance(level, NormalLevel):
        return level.z
    log_tail = log1p(-level)
    z = sqrt(-2 * log_tail)  # an upper bound, from which Newton's steps never overshoot
    for _ in range(30):  # solves for the log tail probability; importing SciPy would take longer
        beyond = erfc(z / sqrt(2))
        step = (log(beyond) - log_tail) * beyond / (sqrt(2 / pi) * exp(-z * z / 2))
        z += step
        if abs(step) < 1e-15 * z:
            break
    return z


def t_widening(freedom: float, level: float) -> float:
    """Return the ratio of a t quantile to the normal one: how much wider an interval is if its variance is estimated.

    >>> round(t_widening(9, 0.95), 4)
    1.1542
    """
    if freedom == inf:
        return 1.0
    z = normal_quantile(level)
    if freedom > LARGE_FREEDOM and z < 3:
        # Cornish and Fisher's series, with a remainder below 1e-7: importing SciPy would take longer.
        return 1 + (z**2 + 1) / (4 * freedom) + (5 * z**4 + 16 * z**2 + 3) / (96 * freedom**2)
    from scipy.special import stdtrit

    # From the small tail: for such levels (1 + level)/2 rounds to 1.
    if isinstance(level, NormalLevel):
        return -float(stdtrit(max(freedom, 1.0), tail_probability(level) / 2)) / z
    return float(stdtrit(max(freedom, 1.0), (1 + level) / 2)) / z


def wilson(hits: Value, misses: Value, level: float) -> Limits[Value]:
    r"""Return Wilson's score interval of a proportion, :math:`(\hat p-p)^2\le z^2p(1-p)/n` [@wilson1927].

    >>> [round(bound, 4) for bound in wilson(81, 182, 0.95)]  # Newcombe 1998, table I: 81/263
    [0.2553, 0.3662]
    """
    z = normal_quantile(level)
    trials = hits + misses
    if np.ndim(hits) == 0 and float(trials) > 0:
        one: tuple[Any, Any] = _wilson_scalar(float(hits), float(misses), z)
        return one
    middle = ratio(hits + z * z / 2, trials + z * z)
    half = z * np.sqrt(ratio(hits * misses, trials) + z * z / 4) / (trials + z * z)
    # At the ends, rounding may leave a trace where the bound is exactly 0 or 1.
    low = np.where(np.asarray(hits) > 0, middle - half, 0.0)
    high = np.where(np.asarray(misses) > 0, middle + half, 1.0)
    return as_python(low), as_python(high)


def _wilson_scalar(hits: float, misses: float, z: float) -> Limits[float]:
    """Return Wilson's interval of a single proportion without NumPy: a p-value takes some fifty intervals."""
    trials = hits + misses
    middle = (hits + z * z / 2) / (trials + z * z)
    half = z * sqrt(hits * misses / trials + z * z / 4) / (trials + z * z)
    return middle - half if hits > 0 else 0.0, middle + half if misses > 0 else 1.0


def clopper_pearson(hits: Value, misses: Value, level: float) -> Limits[Value]:
    """Return the proportions that neither binomial tail rejects: coverage never falls below the level [@clopper1934].

    >>> [round(bound, 4) for bound in clopper_pearson(81, 182, 0.95)]
    [0.2527, 0.3676]
    """
    return _beta_quantiles(hits, misses + 1, level)[0], _beta_quantiles(hits + 1, misses, level)[1]


def jeffreys(hits: Value, misses: Value, level: float) -> Limits[Value]:
    """Return the middle of the posterior Beta(hits + ½, misses + ½); 0 or 1 where all are misses or hits [@brown2001].

    >>> [round(bound, 4) for bound in jeffreys(81, 182, 0.95)]
    [0.2545, 0.3656]
    """
    low, high = _beta_quantiles(hits + 0.5, misses + 0.5, level)
    return as_python(np.where(np.asarray(hits) > 0, low, 0.0)), as_python(np.where(np.asarray(misses) > 0, high, 1.0))


def agresti_coull(hits: Value, misses: Value, level: float) -> Limits[Value]:
    """Return the normal interval after adding z²/2 hits and as many misses, clipped to [0, 1] [@agresti1998].

    >>> [round(bound, 4) for bound in agresti_coull(81, 182, 0.95)]
    [0.2552, 0.3663]
    """
    z = normal_quantile(level)
    trials = hits + misses + z * z
    middle = (hits + z * z / 2) / trials
    half = z * np.sqrt(middle * (1 - middle) / trials)
    return as_python(np.maximum(middle - half, 0.0)), as_python(np.minimum(middle + half, 1.0))


def wilson_or_exact(hits: Value, misses: Value, level: float) -> Limits[Value]:
    """Return Wilson's interval, or the exact one of Clopper and Pearson where there are few hits or few misses.

    >>> wilson_or_exact(10, 0, 0.95) == clopper_pearson(10, 0, 0.95)
    True
    >>> wilson_or_exact(50, 50, 0.95) == wilson(50, 50, 0.95)
    True
    """
    few = np.minimum(hits, misses) < EXACT_BELOW
    if np.ndim(few) == 0:
        return (clopper_pearson if few else wilson)(hits, misses, level)
    exact, approximate = clopper_pearson(hits, misses, level), wilson(hits, misses, level)
    return as_python(np.where(few, exact[0], approximate[0])), as_python(np.where(few, exact[1], approximate[1]))


METHODS: dict[str, Callable[[float, float, float], Limits[float]]] = {
    "wilson": wilson,
    "clopper-pearson": clopper_pearson,
    "jeffreys": jeffreys,
    "agresti-coull": agresti_coull,
}
_NAMES = {
    "wilson": "Wilson",
    "clopper-pearson": "Clopper–Pearson",
    "jeffreys": "Jeffreys",
    "agresti-coull": "Agresti–Coull",
}


def proportion_interval(
    proportion: Proportion[float], level: float, method: str | None = None
) -> tuple[float, float, str]:
    """Return low, high and the name of the method, for one proportion."""
    if method is None:
        method = "clopper-pearson" if min(proportion) < EXACT_BELOW else "wilson"
    low, high = METHODS[method](proportion.hits, proportion.misses, level)
    return low, high, _NAMES[method]


def _sum_cells(table: Counts[Value] | Confusion, names: tuple[str, ...]) -> Value:
    total: Value = sum(getattr(table, name) for name in names)
    return total


def _beta_quantiles(first: Value, second: Value, level: float) -> Limits[Value]:
    """Return quantiles of a Beta distribution in both tails; 0 or 1 where a parameter is 0."""
    from scipy.special import betainccinv, betaincinv

    tail = tail_probability(level) / 2
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    proper = (a > 0) & (b > 0)
    inside: Floats = np.where(proper, a, 1.0)
    other: Floats = np.where(proper, b, 1.0)
    end = np.where(a > 0, 1.0, 0.0)
    low = np.where(proper, betaincinv(inside, other, tail), end)
    high = np.where(proper, betainccinv(inside, other, tail), end)
    return as_python(low), as_python(high)


ShareKind = Literal["within", "predictive", "everybody", "known", "other"]
"""Proportion of one class; of one decision; of all rows; the prevalence itself; or another measure."""
LogitMethod = Literal["logit", "adjusted-logit"]

LOGIT_METHODS: tuple[LogitMethod, ...] = get_args(LogitMethod)
FIXED_METHOD = "known"
PREDICTIVE_METHOD = "logit, or bounds of both rates in quadrature on log-odds where a cell is small; prevalence known"
QUADRATURE_METHOD = "Wilson or Clopper–Pearson within each class, added in quadrature on log-odds; prevalence known"
SUM_METHOD = "Wilson or Clopper–Pearson within each class, added in quadrature; prevalence known"
WITHIN_METHOD = "Wilson, or Clopper–Pearson where there are few hits or misses"
LOGIT_LABELS: dict[LogitMethod, str] = {
    "logit": "logit, prevalence known",
    "adjusted-logit": "logit with z²/2 added to each cell, prevalence known",
}
_OTHER = {"tp": "fn", "fn": "tp", "fp": "tn", "tn": "fp"}
"""The other cell of the same class."""


def has_fixed_prevalence(data: object) -> bool:
    """Return whether data have fixed class shares."""
    return bool(getattr(data.tally if isinstance(data, Curve) else data, "reweighed", False))


def classify_share(measure: Measure) -> ShareKind:
    """Classify a measure of a table by the rows that are its denominator.

    >>> from baserate import measure
    >>> names = "sensitivity", "npv", "accuracy", "prevalence", "f1"
    >>> [classify_share(measure.MEASURES[name]) for name in names]
    ['within', 'predictive', 'everybody', 'known', 'other']
    """
    info = describe(measure)
    if info.share is None:
        return "other"
    if info.of is Confusion:
        return "everybody"
    hits, misses = info.share
    if len(hits) == 2:
        return "known" if _OTHER[hits[0]] == hits[1] else "everybody"
    if len(misses) == 2:
        return "other"  # the Jaccard index, of three cells
    return "within" if _OTHER[hits[0]] == misses[0] else "predictive"


class ClassShare(NamedTuple):
    """A class: its mass, and effective hits and misses among its rows. Numbers, or arrays of many."""

    mass: Any
    share: Proportion[Any]

    @property
    def rate(self) -> Any:  # noqa: ANN401  (a number, or many)
        """Return the share of hits in the class; 0 for an empty class."""
        return np.nan_to_num(ratio(np.asarray(self.share.hits, dtype=np.float64), self.share.trials))

    def bounds(self, level: float) -> tuple[Any, Any]:
        """Return the bounds of that share, Wilson's or exact."""
        return wilson_or_exact(self.share.hits, self.share.misses, level)


def class_share(counts: Counts[Value], cell: str) -> ClassShare:
    """Return the class of a cell, with that cell as its hits."""
    other = _OTHER[cell]
    hits, misses = getattr(counts, cell), getattr(counts, other)
    if counts.moments is None:
        return ClassShare(hits + misses, Proportion(hits, misses))
    effective = effective_counts(hits, misses, getattr(counts.squares, cell), getattr(counts.squares, other))
    return ClassShare(hits + misses, Proportion(*map(np.nan_to_num, effective)))  # an empty class has no rows


def predictive_interval(
    counts: Counts[Value], measure: Measure, level: float, *, name: LogitMethod | None = None
) -> Limits[Value]:
    r"""Bound PPV or NPV, or their complements: of odds :math:`\frac{π}{1-π}\frac{TPR}{FPR}`, on a log scale.

    A named method is a normal interval with variance :math:`\frac{1-TPR}{n_1TPR}+\frac{1-FPR}{n_0FPR}`, plain or with
    z²/2 added to each cell [@mercaldo2007]. The default is the plain one where all cells are large; where one is small,
    the bounds of both rates added in quadrature on that scale [@zou2008]. In all of 288 cases with sensitivities and
    specificities from 0.5 to 0.99 and 30 to 1000 rows of each class that covers at least 94% at level 95%; the interval
    with z²/2 added falls to 65%, the plain one, which is undefined with an empty cell, to 22%.
    """
    hit, miss = (class_share(counts, cell) for (cell,) in share_cells(measure))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if name is not None:
            low, high = _normal_log_odds(
                hit, miss, level, added=normal_quantile(level) ** 2 / 2 if name == "adjusted-logit" else 0.0
            )
        else:
            few, many = _quadrature_log_odds(hit, miss, level), _normal_log_odds(hit, miss, level)
            low, high = (np.where(_has_few(hit, miss), *each) for each in zip(few, many, strict=True))
        # Overflow gives the right limits, since 1/(1 + ∞) is 0.
        low, high = (1 / (1 + np.exp(-log_odds)) for log_odds in (low, high))
    # Without one of the classes, the value is certain.
    absent, certain = np.equal(hit.mass, 0) | np.equal(miss.mass, 0), np.equal(miss.mass, 0) * 1.0
    return as_python(np.where(absent, certain, low)), as_python(np.where(absent, certain, high))


def describe_predictive(counts: Counts[float], measure: Measure) -> str:
    """Describe the default method of `predictive_interval` for one table."""
    few = _has_few(*(class_share(counts, cell) for (cell,) in share_cells(measure)))
    return QUADRATURE_METHOD if few else LOGIT_LABELS["logit"]


def _has_few(hit: ClassShare, miss: ClassShare) -> Bools:
    """Return whether a cell of either class is small."""
    few: Bools = np.minimum(np.minimum(*hit.share), np.minimum(*miss.share)) < EXACT_BELOW
    return few


def _normal_log_odds(hit: ClassShare, miss: ClassShare, level: float, *, added: float = 0.0) -> tuple[Floats, Floats]:
    """Return the normal interval of the log-odds."""
    (hits, trials), (misses, others) = (
        (np.asarray(each.share.hits) + added, np.asarray(each.share.trials) + 2 * added) for each in (hit, miss)
    )
    middle = np.log(hit.mass * hits / trials) - np.log(miss.mass * misses / others)
    half = normal_quantile(level) * np.sqrt(1 / hits - 1 / trials + 1 / misses - 1 / others)
    return middle - half, middle + half


def _quadrature_log_odds(hit: ClassShare, miss: ClassShare, level: float) -> tuple[Floats, Floats]:
    """Return log-odds bounds from the bounds of both rates, added in quadrature."""
    (rate, least, most), (other, fewest, greatest) = (
        [np.log(each.mass * at) for at in (each.rate, *each.bounds(level))] for each in (hit, miss)
    )
    low = rate - other - np.hypot(rate - least, greatest - other)
    high = rate - other + np.hypot(most - rate, other - fewest)
    # The logarithm of an empty cell is infinitely far from its bounds: combine the bounds directly.
    low = np.where(hit.rate == 0, -np.inf, np.where(miss.rate == 0, least - greatest, low))
    high = np.where(miss.rate == 0, np.inf, np.where(hit.rate == 0, most - fewest, high))
    return low, high


def total_share_interval(table: Counts[Value] | Confusion, measure: Measure, level: float) -> Limits[Value]:
    r"""Bound a proportion of all rows, :math:`\sum_kπ_kr_k`, by the bounds of each class in quadrature [@zou2008].

    >>> from baserate import Counts, measure
    >>> [round(bound, 4) for bound in total_share_interval(Counts(tp=80, fp=10, fn=20, tn=90), measure.accuracy, 0.95)]
    [0.7915, 0.892]
    """
    sides = _class_shares(table, measure)
    total = sum(each.mass for each in sides)
    value = down = up = np.zeros(np.shape(total))
    for each in sides:
        part, (low, high) = ratio(np.asarray(each.mass, dtype=np.float64), total), each.bounds(level)
        value = value + part * each.rate
        down = down + np.where(part > 0, (part * (each.rate - low)) ** 2, 0.0)
        up = up + np.where(part > 0, (part * (high - each.rate)) ** 2, 0.0)
    return as_python(value - np.sqrt(down)), as_python(value + np.sqrt(up))


def _class_shares(table: Counts[Any] | Confusion, measure: Measure) -> list[ClassShare]:
    """Return all classes, each with its hits."""
    names = share_cells(measure)
    if isinstance(table, Counts):
        return [class_share(table, cell) for cell in names[0]]
    off_diagonal = ~np.eye(len(table.labels), dtype=np.bool_)
    cells = [(each.correct, (each.mass * off_diagonal).sum(axis=-1)) for each in (table, table.squares)]
    if names[0] == ("disagreement",):
        cells = [(wrong, right) for right, wrong in cells]
    (hits, misses), squares = cells
    proportion = Proportion(hits, misses) if table.moments is None else effective_counts(hits, misses, *squares)
    columns = np.moveaxis(np.nan_to_num([hits + misses, *proportion]), -1, 0)
    return [ClassShare(mass, Proportion(right, wrong)) for mass, right, wrong in columns]


def bound_at_fixed_prevalence(
    counts: Counts[Floats], measure: Measure, level: float
) -> tuple[Floats, Floats, str] | None:
    """Return low, high and the method, for many tables, of a measure that is a proportion; None for other measures."""
    kind = classify_share(measure)
    if kind == "predictive":
        return *predictive_interval(counts, measure, level), PREDICTIVE_METHOD
    if kind == "everybody":
        return *total_share_interval(counts, measure, level), SUM_METHOD
    if kind == "known":
        value: Floats = measure(counts)
        return value, value, FIXED_METHOD
    if kind == "other":
        return None
    return *class_share(counts, share_cells(measure)[0][0]).bounds(level), WITHIN_METHOD
