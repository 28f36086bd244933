"""Intervals at a fixed prevalence: the class shares are exact, and only the rows within each class are random.

A 2×2 table is then two proportions, the sensitivity and the false positive rate, each of its own rows; a K×K table is K
rows of its own. The weight of a class does not change the precision of its proportions.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from baserate._arrays import Bools, Floats, Value, as_python, ratio
from baserate._confusion import Confusion
from baserate._counts import Counts
from baserate._curve import Curve
from baserate.infer._binomial import EXACT_BELOW, Limits, Proportion, effective_counts, normal_quantile, wilson_or_exact
from baserate.measure import Measure, describe

ShareKind = Literal["within", "predictive", "everybody", "known", "other"]
"""Proportion of one class; of one decision; of all rows; the prevalence itself; or another measure."""
LogitMethod = Literal["logit", "adjusted-logit"]

LOGIT_METHODS: tuple[LogitMethod, ...] = get_args(LogitMethod)
FIXED_METHOD = "known"
PREDICTIVE_METHOD = "logit, or bounds of both rates in quadrature on log-odds where a cell is few; prevalence known"
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
    """Classify a measure of a table by the rows of which it is a proportion.

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
    cells = describe(measure).share
    assert cells is not None  # noqa: S101  (for the type checker)
    hit, miss = (class_share(counts, cell) for (cell,) in cells)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if name is not None:
            low, high = _normal_log_odds(
                hit, miss, level, added=normal_quantile(level) ** 2 / 2 if name == "adjusted-logit" else 0.0
            )
        else:
            few, many = _quadrature_log_odds(hit, miss, level), _normal_log_odds(hit, miss, level)
            low, high = (np.where(_has_few(hit, miss), *each) for each in zip(few, many, strict=True))
        low, high = (1 / (1 + np.exp(-log_odds)) for log_odds in (low, high))
    # Without one of the classes, the value is certain.
    absent, certain = np.equal(hit.mass, 0) | np.equal(miss.mass, 0), np.equal(miss.mass, 0) * 1.0
    return as_python(np.where(absent, certain, low)), as_python(np.where(absent, certain, high))


def describe_predictive(counts: Counts[float], measure: Measure) -> str:
    """Describe the default method of `predictive_interval` for one table."""
    cells = describe(measure).share
    assert cells is not None  # noqa: S101  (for the type checker)
    return QUADRATURE_METHOD if _has_few(*(class_share(counts, cell) for (cell,) in cells)) else LOGIT_LABELS["logit"]


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
    names = describe(measure).share
    assert names is not None  # noqa: S101  (for the type checker)
    if isinstance(table, Counts):
        return [class_share(table, cell) for cell in names[0]]
    off_diagonal = ~np.eye(len(table.labels), dtype=np.bool_)
    cells = [(each.correct, (each.mass * off_diagonal).sum(axis=-1)) for each in (table, table.squares)]
    if names[0] == ("disagreement",):
        cells = [(misses_, right) for right, misses_ in cells]
    (hits, misses), squares = cells
    proportion = Proportion(hits, misses) if table.moments is None else effective_counts(hits, misses, *squares)
    columns = np.moveaxis(np.nan_to_num([hits + misses, *proportion]), -1, 0)
    return [ClassShare(mass, Proportion(right, misses_)) for mass, right, misses_ in columns]


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
    cells = describe(measure).share
    assert cells is not None  # noqa: S101  (for the type checker)
    return *class_share(counts, cells[0][0]).bounds(level), WITHIN_METHOD
