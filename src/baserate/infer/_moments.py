"""From a value and its variance to an interval that stays inside its span and is never of width 0."""

from collections.abc import Callable, Mapping
from functools import partial
from math import expm1, inf, isfinite, isinf, log, log1p, sqrt
from typing import Any, NamedTuple

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._curve import Curve
from baserate._tally import Tally
from baserate.infer._binomial import NormalLevel, as_share, outside, two_sided, usual, wilson
from baserate.infer._influence import Spread, spread
from baserate.measure import (
    Measure,
    average_precision,
    brier,
    brier_skill,
    log_loss,
    log_loss_skill,
    partial_auc,
    pr_auc,
)

MANY = 100
"""Rows of the smaller class below which a number in [0, 1] is never taken to be surer than a share of as many rows."""

UNSEEN_DEPTH = 0.75
"""Share of the other class beyond which rows of an unseen subgroup are taken to rank: see `unseen_loss`."""


_FEW = 10
"""Rows of the smaller class up to which a skill is never taken to be surer than a share of as many rows."""
_MUCH = 1000
"""Degrees of freedom from which a series of two terms is as good as the distribution."""

Bounds = tuple[float, float]


class Moments(NamedTuple):
    """A number in [0, 1], and how sure it is."""

    value: float
    variance: float
    freedom: float
    """Degrees of freedom of the variance."""
    rows: float
    """Rows that it rests on: those of the smaller class."""


def widening(freedom: float, level: float) -> float:
    """How many times as wide an interval is when its variance had to be estimated: a t quantile over a normal one.

    >>> round(widening(9, 0.95), 4)
    1.1542
    """
    if freedom == inf:
        return 1.0
    z = two_sided(level)
    if freedom > _MUCH and z < 3:
        # Fisher and Cornish's series, of which the next term is below 1e-7: SciPy would take longer to import.
        return 1 + (z**2 + 1) / (4 * freedom) + (5 * z**4 + 16 * z**2 + 3) / (96 * freedom**2)
    from scipy.special import stdtrit

    if isinstance(level, NormalLevel):
        return -float(stdtrit(max(freedom, 1.0), outside(level) / 2)) / z
    return float(stdtrit(max(freedom, 1.0), (1 + level) / 2)) / z


def unseen_loss(rows: float, level: float) -> float:
    r"""Share of a ranking's value that a subgroup of a class may cost of which the sample contains no row.

    A share :math:`e=1-(α/2)^{1/r}` of a class is absent from r of its rows with probability α/2, where α = 1 − level
    (the rule of three [@hanley1983rule]). If such rows score like the other class, an AUC of A falls to A(1 − e/2); if
    they rank beyond all of it, to A(1 − e). `UNSEEN_DEPTH` lies between: of a subgroup that ranks beyond up to three
    quarters of the other class, the bound fails no more often than stated; of the worst one, at 95%, in 6.3% of samples
    instead of 2.5%.

    >>> round(unseen_loss(100, 0.95), 4)
    0.0272
    """
    return -UNSEEN_DEPTH * expm1(log(outside(level) / 2) / rows) if rows > 0 else UNSEEN_DEPTH


_IDENTITY: tuple[Callable[[Any], Any], Callable[[Any], Any]] = (lambda value: value, lambda value: value)
_SCALES: Mapping[Bounds, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    (0, inf): (np.log, np.exp),
    (-1, 1): (np.arctanh, np.tanh),
    (-inf, 1): (lambda value: np.log1p(-value), lambda value: -np.expm1(value)),
}


def scale_of(span: Bounds) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Function to where numbers of a span have no end, and the way back; what has other ends stays as it is."""
    return _SCALES.get(span, _IDENTITY)


def widened(bounds: Bounds, value: float, span: Bounds, factor: float) -> Bounds:
    """Bounds so many times as far from a value, on the scale of its span; unchanged where one is at an end of it."""
    there, back = scale_of(span)
    with np.errstate(divide="ignore", invalid="ignore"):
        low, middle, high = (float(there(each)) for each in (bounds[0], value, bounds[1]))
    if factor == 1 or not (isfinite(low) and isfinite(middle) and isfinite(high)):
        return bounds
    ends = sorted(float(back(middle + factor * (end - middle))) for end in (low, high))
    return ends[0], ends[1]


class Units(NamedTuple):
    """What got random weights: so many independent rows or clusters, and so many that were added as a prior."""

    seen: float = inf
    added: float = 0.0

    @property
    def few(self) -> bool:
        """Whether it matters how many there are."""
        return self.seen < _MUCH


def stretched(bounds: Bounds, value: float, units: Units, level: float) -> Bounds:
    r"""Percentiles of draws with random weights, made as wide as t intervals are [@hesterberg2015].

    Draws with weights for n units vary :math:`\frac{n-1}{n+1}` times as much as means of n do, and how much that is was
    seen of n only. What was added makes up for the first, and counts for the second.

    >>> [round(bound, 4) for bound in stretched((-1.0, 2.0), 0.0, Units(10), 0.95)]
    [-1.276, 2.552]
    """
    if not units.few or isinf(value):
        return bounds
    seen, added = max(units.seen, 2.0), units.added
    factor = widening(seen + added - 1, level) * (1.0 if added else sqrt((seen + 1) / (seen - 1)))
    return value - factor * (value - bounds[0]), value + factor * (bounds[1] - value)


def bounded(found: Moments, level: float) -> Bounds:
    """Interval of a share that would be as sure: Wilson's, of no more trials than rows where these are few."""
    trials = as_share(found.value, found.variance, min(found.rows, found.freedom + 1)).trials
    trials /= widening(found.freedom, level) ** 2
    if found.rows < MANY:
        trials = min(trials, found.rows)
        return wilson(found.value * trials, (1 - found.value) * trials, level)
    return usual(found.value * trials, (1 - found.value) * trials, level)


def positive(value: float, variance: float, level: float) -> Bounds:
    r"""Means θ > 0 whose own standard error would explain what was seen, :math:`(\hat θ-θ)^2\le z^2 V θ/\hat θ`.

    The variance of a mean of losses grows with it, as that of a count does: most of it is made by a few great ones.

    >>> [round(bound, 3) for bound in positive(10.0, 10.0, 0.95)]  # the score interval of a Poisson mean
    [5.432, 18.409]
    """
    if value == 0:
        return 0.0, 0.0
    grown = two_sided(level) ** 2 * variance / value
    high = value + grown / 2 + sqrt(grown * value + grown**2 / 4)
    return value**2 / high, high


def interval(measure: Measure, tally: Tally, value: float, level: float) -> Bounds:
    """Bounds of a measure that has a closed form, and this value."""
    found = spread(measure, tally, value)
    low, high = _INTERVALS[measure](found, level)
    if measure is average_precision and tally.negatives:
        lost = unseen_loss(found.positives, level)
        # Unseen positives may rank below all others, or high up: half as far was enough in simulations, where without
        # it intervals of ten positives among a thousand rows covered 92%.
        low, high = min(low, value * (1 - lost)), max(high, value + (1 - value) * lost / 2)
        if low > value - _greatest_unseen_loss(tally, level):  # of many rows it is not, and need not be computed
            low = min(low, unseen_area(measure, tally, value, level))
    return low, high


def unseen_area(measure: Measure, tally: Tally, value: float, level: float) -> float:
    """Area under the precision–recall curve if negatives exist above all scores of which the sample contains none.

    The precision at the strictest thresholds rests on few or no negatives: few rows cannot show a share of false
    positives as small as matters. Without this, intervals covered 85% in place of 95% where 0.2% of 900 negatives
    scored above all positives, and 42 to 90% where each of 100 to 500 negatives weighed eight positives and more.
    """
    rows = ratio(tally.negatives**2, float(tally.squares[1].sum(dtype=np.float64)))
    above = tally.negatives * unseen_loss(rows, level)
    part = tally.negatives / (tally.negatives + above)
    mass = np.asarray(tally.mass, dtype=np.float64)
    cells = np.column_stack([[0.0, above * part], mass * [[1.0], [part]]])
    score = np.arange(len(tally.score), -1.0, -1.0)  # only their order counts
    return min(value, float(measure(Curve(Tally(score, cells, cells, np.column_stack([[0, 1], tally.rows]))))))


def _greatest_unseen_loss(tally: Tally, level: float) -> float:
    r"""Most that `unseen_area` may lie below the value: :math:`\frac cP(1+\ln(1+\frac Pc))` for c more negatives."""
    rows = ratio(tally.negatives**2, float(tally.squares[1].sum(dtype=np.float64)))
    part = tally.negatives * unseen_loss(rows, level) / tally.positives
    return part * (1 + log1p(1 / part))


def _average_precision(found: Spread, level: float) -> Bounds:
    # Half the degrees of freedom: of a sharp model, the rows that would make most of the variance may be missing. A low
    # value rests on all rows that are flagged before most positives, so on more than there are positives.
    rows = found.positives * max(1.0, ratio(1 - found.value, found.value))
    return bounded(Moments(found.value, found.seen, found.freedom / 2, rows), level)


def _variance(found: Spread, level: float) -> float:
    """What was seen, with a t quantile since it was estimated, and what may be missing: rows may lack great losses."""
    return found.seen * widening(found.freedom, level) ** 2 + found.unseen


def _brier(found: Spread, level: float) -> Bounds:
    share = as_share(found.value, _variance(found, level), found.positives + found.negatives)
    return usual(share.hits, share.misses, level)


def _log_loss(found: Spread, level: float) -> Bounds:
    return positive(found.value, _variance(found, level), level)


def _skill(found: Spread, level: float) -> Bounds:
    """Interval of the share of the loss that is left, which is positive."""
    left = 1 - found.value
    variance = _variance(found, level)
    if 0 < left < 1:
        # Ten rows of a class hardly ever hold those few that a model ranks far above the rest; more rows do.
        variance = max(variance, left * (1 - left) / found.rare * min(_FEW / found.rare, 1.0))
    low, high = positive(left, variance, level)
    return 1 - high, 1 - low


_INTERVALS: dict[Measure, Callable[[Spread, float], Bounds]] = {
    average_precision: _average_precision,
    brier: _brier,
    brier_skill: _skill,
    log_loss: _log_loss,
    log_loss_skill: _skill,
}
KNOWN = tuple(_INTERVALS)
"""Measures that have an interval here."""
UNBOUNDED = (log_loss, log_loss_skill)
"""Those whose expectation may be infinite."""


def of_draws(value: float, draws: Floats, span: Bounds, rows: float, freedom: float) -> Moments:
    """Moments of a number within its span, from draws: as far as they lie above it on average, it lies above truth.

    With n weights they vary (n − 1)/(n + 1) times as much as the number does.
    """
    least, most = span
    width, freedom = most - least, max(freedom, 1.0)
    bias = float(np.mean(draws)) - value
    middle = min(max(value - bias, least), most)
    variance = float(np.var(draws)) * (1 + 2 / freedom)
    return Moments((middle - least) / width, variance / width**2, freedom, rows)


def freedom_of(measure: Measure, tally: Tally) -> float:
    """Degrees of freedom of a variance that was drawn: of the smaller class, unless it is known that fewer rows matter.

    Those of an area under the precision–recall curve are as few as for average precision; part of a ROC curve rests on
    those rows that lie in it.
    """
    rows = [float(row) for row in tally.rows.sum(axis=1, dtype=np.int64)]
    if measure is pr_auc:
        return min(spread(average_precision, tally).freedom, min(rows) - 1)
    if isinstance(measure, partial) and measure.func is partial_auc:
        for which, name in enumerate(("tpr", "fpr")):
            low, high = measure.keywords.get(name) or (0.0, 1.0)
            rows[which] *= high - low
    return min(rows) - 1
