"""Intervals at known shares of the classes: these are exact, and chance is within classes alone.

A 2×2 table is then two shares, the sensitivity and the false positive rate, each of its own rows; a K×K table is K rows
of its own. Whatever weight a class was given does not change how sure its shares are.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from baserate._arrays import Bools, Floats, Value, as_python, ratio
from baserate._confusion import Confusion
from baserate._counts import Counts
from baserate._curve import Curve
from baserate.infer._binomial import FEW, Bounds, Share, effective, two_sided, usual
from baserate.measure import Measure, about

Kind = Literal["within", "predictive", "everybody", "known", "other"]
"""A share of one class; of those decided alike; of everybody; the prevalence itself; or something else."""
Logit = Literal["logit", "adjusted-logit"]

LOGITS: tuple[Logit, ...] = get_args(Logit)
FIXED_METHOD = "known"
PREDICTED = "logit, or bounds of both rates in quadrature on log-odds where a cell is few; prevalence known"
QUADRATURE = "Wilson or Clopper–Pearson within each class, added in quadrature on log-odds; prevalence known"
SUMMED = "Wilson or Clopper–Pearson within each class, added in quadrature; prevalence known"
WITHIN = "Wilson, or Clopper–Pearson where there are few hits or misses"
NAMES: dict[Logit, str] = {
    "logit": "logit, prevalence known",
    "adjusted-logit": "logit with z²/2 added to each cell, prevalence known",
}
_OTHER = {"tp": "fn", "fn": "tp", "fp": "tn", "tn": "fp"}
"""The other cell of the same class."""


def reweighed(noun: object) -> bool:
    """Whether a noun of any kind is at known shares of its classes."""
    return bool(getattr(noun.tally if isinstance(noun, Curve) else noun, "reweighed", False))


def kind(measure: Measure) -> Kind:
    """Tell of what a measure of a table is a share.

    >>> from baserate import measure
    >>> [kind(each) for each in (measure.sensitivity, measure.npv, measure.accuracy, measure.prevalence, measure.f1)]
    ['within', 'predictive', 'everybody', 'known', 'other']
    """
    told = about(measure)
    if told.share is None:
        return "other"
    if told.of is Confusion:
        return "everybody"
    hits, misses = told.share
    if len(hits) == 2:
        return "known" if _OTHER[hits[0]] == hits[1] else "everybody"
    if len(misses) == 2:
        return "other"  # Jaccard's, of three cells
    return "within" if _OTHER[hits[0]] == misses[0] else "predictive"


class Side(NamedTuple):
    """A class: its mass, and how many of its rows are hits and misses, as plain counts that would be as sure.

    Numbers, or arrays of many.
    """

    mass: Any
    share: Share[Any]

    @property
    def rate(self) -> Any:  # noqa: ANN401  (a number, or many)
        """Share of the class that is a hit; 0 where there is nothing of it."""
        return np.nan_to_num(ratio(np.asarray(self.share.hits, dtype=np.float64), self.share.trials))

    def bounds(self, level: float) -> tuple[Any, Any]:
        """Bounds of that share, Wilson's or exact."""
        return usual(self.share.hits, self.share.misses, level)


def side(counts: Counts[Value], cell: str) -> Side:
    """The class of a cell, which is its hit."""
    other = _OTHER[cell]
    hits, misses = getattr(counts, cell), getattr(counts, other)
    if counts.moments is None:
        return Side(hits + misses, Share(hits, misses))
    found = effective(hits, misses, getattr(counts.squares, cell), getattr(counts.squares, other))
    return Side(hits + misses, Share(*map(np.nan_to_num, found)))  # of a class that is not there, nothing


def predictive(counts: Counts[Value], measure: Measure, level: float, *, name: Logit | None = None) -> Bounds[Value]:
    r"""Bounds of PPV or NPV, or of what they lack: of odds :math:`\frac{π}{1-π}\frac{TPR}{FPR}`, on a log scale.

    By name, a normal interval with variance :math:`\frac{1-TPR}{n_1TPR}+\frac{1-FPR}{n_0FPR}`, as it is or with z²/2
    added to each cell [@mercaldo2007]. By default the first where all cells are many; where one is few, the bounds of
    both rates added in quadrature on that scale [@zou2008]. In all of 288 cases with sensitivities and specificities
    from 0.5 to 0.99 and 30 to 1000 rows of each class that covers at least 94 % of the promised 95; the interval with
    z²/2 added falls to 65 %, the plain one, which is undefined with an empty cell, to 22 %.
    """
    told = about(measure).share
    assert told is not None  # noqa: S101  (for the type checker)
    hit, miss = (side(counts, cell) for (cell,) in told)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if name is not None:
            low, high = _normal(hit, miss, level, added=two_sided(level) ** 2 / 2 if name == "adjusted-logit" else 0.0)
        else:
            few, many = _crossed(hit, miss, level), _normal(hit, miss, level)
            low, high = (np.where(_few(hit, miss), *each) for each in zip(few, many, strict=True))
        low, high = (1 / (1 + np.exp(-log_odds)) for log_odds in (low, high))
    # Where a class is not there, nothing is left to chance.
    absent, certain = np.equal(hit.mass, 0) | np.equal(miss.mass, 0), np.equal(miss.mass, 0) * 1.0
    return as_python(np.where(absent, certain, low)), as_python(np.where(absent, certain, high))


def how(counts: Counts[float], measure: Measure) -> str:
    """What `predictive` does of one table by default."""
    told = about(measure).share
    assert told is not None  # noqa: S101  (for the type checker)
    return QUADRATURE if _few(*(side(counts, cell) for (cell,) in told)) else NAMES["logit"]


def _few(hit: Side, miss: Side) -> Bools:
    """Whether a cell of either class is few."""
    found: Bools = np.minimum(np.minimum(*hit.share), np.minimum(*miss.share)) < FEW
    return found


def _normal(hit: Side, miss: Side, level: float, *, added: float = 0.0) -> tuple[Floats, Floats]:
    """Normal interval of the log-odds."""
    (hits, trials), (misses, others) = (
        (np.asarray(each.share.hits) + added, np.asarray(each.share.trials) + 2 * added) for each in (hit, miss)
    )
    middle = np.log(hit.mass * hits / trials) - np.log(miss.mass * misses / others)
    half = two_sided(level) * np.sqrt(1 / hits - 1 / trials + 1 / misses - 1 / others)
    return middle - half, middle + half


def _crossed(hit: Side, miss: Side, level: float) -> tuple[Floats, Floats]:
    """Logarithms of both rates' own bounds: their distances from the value, in quadrature."""
    (rate, least, most), (other, fewest, greatest) = (
        [np.log(each.mass * at) for at in (each.rate, *each.bounds(level))] for each in (hit, miss)
    )
    low = rate - other - np.hypot(rate - least, greatest - other)
    high = rate - other + np.hypot(most - rate, other - fewest)
    # An empty cell is infinitely far from its bounds: then these meet the other's directly.
    low = np.where(hit.rate == 0, -np.inf, np.where(miss.rate == 0, least - greatest, low))
    high = np.where(miss.rate == 0, np.inf, np.where(hit.rate == 0, most - fewest, high))
    return low, high


def everybody(noun: Counts[Value] | Confusion, measure: Measure, level: float) -> Bounds[Value]:
    r"""Bounds of a share of everybody, :math:`\sum_kπ_kr_k`: those of each class's own share in quadrature [@zou2008].

    >>> from baserate import Counts, measure
    >>> [round(bound, 4) for bound in everybody(Counts(tp=80, fp=10, fn=20, tn=90), measure.accuracy, 0.95)]
    [0.7915, 0.892]
    """
    sides = _sides(noun, measure)
    total = sum(each.mass for each in sides)
    value = down = up = np.zeros(np.shape(total))
    for each in sides:
        part, (low, high) = ratio(np.asarray(each.mass, dtype=np.float64), total), each.bounds(level)
        value = value + part * each.rate
        down = down + np.where(part > 0, (part * (each.rate - low)) ** 2, 0.0)
        up = up + np.where(part > 0, (part * (high - each.rate)) ** 2, 0.0)
    return as_python(value - np.sqrt(down)), as_python(value + np.sqrt(up))


def _sides(noun: Counts[Any] | Confusion, measure: Measure) -> list[Side]:
    """All classes, with what is a hit of each."""
    told = about(measure).share
    assert told is not None  # noqa: S101  (for the type checker)
    if isinstance(noun, Counts):
        return [side(noun, cell) for cell in told[0]]
    apart = ~np.eye(len(noun.labels), dtype=np.bool_)
    cells = [(each.correct, (each.mass * apart).sum(axis=-1)) for each in (noun, noun.squares)]
    if told[0] == ("disagreement",):
        cells = [(wrong, right) for right, wrong in cells]
    (hits, misses), squares = cells
    found = Share(hits, misses) if noun.moments is None else effective(hits, misses, *squares)
    kept = np.moveaxis(np.nan_to_num([hits + misses, *found]), -1, 0)
    return [Side(mass, Share(right, wrong)) for mass, right, wrong in kept]


def bound_at_fixed_prevalence(
    noun: Counts[Floats], measure: Measure, level: float
) -> tuple[Floats, Floats, str] | None:
    """Low, high and what made them, at many tables, of a measure that is a share; None for others, which are drawn."""
    what = kind(measure)
    if what == "predictive":
        return *predictive(noun, measure, level), PREDICTED
    if what == "everybody":
        return *everybody(noun, measure, level), SUMMED
    if what == "known":
        value: Floats = measure(noun)
        return value, value, FIXED_METHOD
    if what == "other":
        return None
    told = about(measure).share
    assert told is not None  # noqa: S101  (for the type checker)
    return *side(noun, told[0][0]).bounds(level), WITHIN
