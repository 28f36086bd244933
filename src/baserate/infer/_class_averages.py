"""Averages over classes, and Hand and Till's M: what each row adds to them, and intervals that follow from it."""

from __future__ import annotations

from math import inf, nan
from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._rows import MulticlassRows
from baserate._tally import Tally
from baserate.infer import _auc, _influence
from baserate.infer._binomial import clopper_pearson, wilson
from baserate.infer._found import Found
from baserate.infer._hand_till import moved as hand_till_slopes
from baserate.infer._moments import widening
from baserate.measure import Measure, about, auc, average_precision
from baserate.measure.multiclass import hand_till

LOGIT = "influence function on log-odds, t quantiles"
SHARE = "influence function, t quantiles"
SEPARATED = "Clopper–Pearson for the smallest class: the classes are perfectly separated"
STILL = "Newcombe's score set of the two smallest classes: no row adds to the variance"
_MISSING = 18.0
"""Rows of the smallest class at which half the degrees of freedom count for average precision."""
_NO_VARIANCE = "no row adds to the variance"


class Influence(NamedTuple):
    """What each row adds to an average over classes."""

    inner: Measure
    """Measure of two classes that is averaged, AUC for Hand and Till's M; of a mean loss, the loss itself."""
    slopes: Floats
    """Change of the value with the mass of a row, times its weight: one entry for each row."""
    bias: float = 0.0
    """Expected value less the true one, to second order; 0 where it is not computed."""


class Sample(NamedTuple):
    """A value, its variance, and the smallest classes."""

    value: float
    variance: float
    freedom: float
    """Degrees of freedom of the variance."""
    rows: Floats
    """Effective number of rows of each class that occurs, in ascending order."""


def influence(measure: Measure, rows: MulticlassRows, value: float) -> Influence | None:
    """Compute what each row adds to a measure in [0, 1]; None where there is no closed form."""
    if measure is hand_till:
        return Influence(auc, hand_till_slopes(rows))
    inner, how, options = vars(measure).get("parts", (None, None, None))
    if (
        options
        or not _influence.has_influence(inner)
        or about(inner).span != (0, 1)
        or how not in ("macro", "weighted")
    ):
        return None
    tallies = rows.one_vs_rest()
    if any(not tally.positives or not tally.negatives for tally in tallies):
        return None
    weighted = how == "weighted"
    shares = rows.support / rows.total if weighted else np.full(len(rows.labels), 1 / len(rows.labels))
    squares = _times(rows) * _weight(rows) ** 2
    total, bias = np.zeros(len(rows)), 0.0
    for at, (tally, share) in enumerate(zip(tallies, shares, strict=True)):
        own, true, false = _influence.influence_slopes(inner, tally)
        here = rows.truth == at
        place = np.searchsorted(-tally.score, -np.asarray(rows.score[:, at], dtype=np.float64))
        slopes = np.where(here, true[place], false[place])
        total += share * slopes
        bias += share * _precision_bias(tally, own) if inner is average_precision else 0.0
        if weighted:  # a row also makes its class weigh more
            total += np.where(here, own - value, 0.0) / rows.total
            bias += float(np.sum(squares * (here - share) * slopes)) / rows.total
    return Influence(inner, total * _weight(rows), bias)


def interval(found: Influence, rows: MulticlassRows, value: float, level: float) -> Found:
    """Bounds of an average over classes, or of Hand and Till's M, with this value."""
    times, weight = _times(rows), _weight(rows)
    there = [rows.truth == at for at in np.unique(rows.truth)]
    parts = [_part(found.slopes[of], times[of]) for of in there]
    if min(part.rows for part in parts) < 2:
        return Found(nan, nan, SHARE, "a class has a single row")
    kish = [float(np.sum((times * weight)[of])) ** 2 / float(np.sum((times * weight**2)[of])) for of in there]
    variance = sum(part.variance for part in parts)
    sample = Sample(value, variance, _influence.freedom(parts), np.sort(kish))
    if found.inner is auc and len(parts) == 2:  # one curve, so its interval
        few, many = sample.rows.tolist()
        low, high, how = _auc.usual(_auc.Area(value, variance, few, many, sample.freedom), level)
        return Found(low, high, how)
    if not 0 < value < 1 or not variance > 0:
        return _without_variance(sample, level, ranks=found.inner in (auc, average_precision))
    if found.inner is auc:
        return _on_log_odds(sample, level)
    if found.inner is average_precision:
        return _precision(sample, found.bias, level)
    return Found(*_as_share(sample, level), SHARE)


def _on_log_odds(sample: Sample, level: float) -> Found:
    """T interval of the log-odds, with degrees of freedom by fourth moments [@satterthwaite1946]."""
    wider = sample.variance * widening(sample.freedom, level) ** 2
    return Found(*_auc.logit_delong(_auc.Area(sample.value, wider, inf, inf), level), LOGIT)


def _precision(sample: Sample, bias: float, level: float) -> Found:
    """Interval of a share that is as sure, with and without the bias of the estimate."""
    sure = sample._replace(freedom=precision_freedom(sample.freedom, float(sample.rows[0])))
    middle = min(max(sample.value - bias, sample.value / 2), (1 + sample.value) / 2)
    corrected, plain = (_as_share(sure._replace(value=value), level) for value in (middle, sample.value))
    return Found(min(corrected[0], plain[0]), max(corrected[1], plain[1]), SHARE)


def precision_freedom(freedom: float, smallest: float) -> float:
    """Degrees of freedom of averages of average precision: with up to a dozen rows in the smallest class, 40% of them.

    Of a small class the rows that would make most of the variance may be missing.
    """
    return freedom * max(smallest / (smallest + _MISSING), 0.4)


def _as_share(sample: Sample, level: float) -> tuple[float, float]:
    """Wilson's interval of a share with this variance, which was estimated."""
    odds = sample.value * (1 - sample.value)
    trials = odds / (sample.variance * widening(sample.freedom, level) ** 2)
    return wilson(sample.value * trials, (1 - sample.value) * trials, level)


def _without_variance(sample: Sample, level: float, *, ranks: bool) -> Found:
    r"""Bounds of an average of ranks where no row is on the wrong side.

    A share f of misplaced rows in one of K classes lowers its own area by f and those of all others together by at
    most as much, so the average by 2f/K at most. Largest is the f of the smallest class, of which none was seen: its
    Clopper–Pearson bound :math:`1-(α/2)^{1/m}` [@clopper1934].
    """
    value, rows = sample.value, sample.rows
    if ranks and value in (0.0, 1.0):
        reach = 2 / len(rows) * (1 - clopper_pearson(float(rows[0]), 0.0, level)[0])
        low, high = (1 - reach, 1.0) if value else (0.0, reach)
        return Found(low, high, SEPARATED)
    if ranks:
        still = _auc.Area(value, nan, float(rows[0]), float(rows[1]))
        return Found(*_auc.score(still, level), STILL)
    trials = float(rows.sum())
    return Found(*wilson(value * trials, (1 - value) * trials, level), f"Wilson: {_NO_VARIANCE}")


def _precision_bias(tally: Tally, value: float) -> float:
    r"""Bias of average precision to second order, :math:`\frac12\sum w^2\,∂^2/∂w^2` over rows.

    With T true positives and F flagged at a score, AP = S/P and S = Σ pT/F. More of a positive moves p, T and F there,
    T and F at all laxer scores, and P; more of a negative moves F alone.
    """
    positives, (true, false) = tally.positives, np.cumsum(np.asarray(tally.mass, dtype=np.float64), axis=1)
    flagged = np.maximum(true + false, np.finfo(float).tiny)
    mass, precision, wrong = np.asarray(tally.mass[0], dtype=np.float64), true / flagged, false / flagged
    first = precision + _from_here(mass * wrong / flagged)
    second = 2 * wrong / flagged - 2 * _from_here(mass * wrong / flagged**2)
    of_positive = (second - 2 * first / positives) / positives + 2 * value / positives**2
    of_negative = 2 * _from_here(mass * precision / flagged**2) / positives
    squares = np.asarray(tally.squares, dtype=np.float64)
    return float(np.sum(squares[0] * of_positive) + np.sum(squares[1] * of_negative)) / 2


def _from_here(values: Floats) -> Floats:
    """Sum of each entry and all after it."""
    return np.asarray(np.cumsum(values[::-1])[::-1])


def _part(slopes: Floats, times: Floats) -> _influence.Part:
    """Sum what rows add to a variance, each as often as it stands for itself."""
    second, fourth = (float(np.sum(times * slopes**power)) for power in (2, 4))
    return _influence.Part.of(second, fourth, float(times.sum()))


def _times(rows: MulticlassRows) -> Floats:
    return np.ones(len(rows)) if rows.count is None else np.asarray(rows.count, dtype=np.float64)


def _weight(rows: MulticlassRows) -> Floats:
    return np.ones(len(rows)) if rows.weight is None else rows.weight
