"""Differences of a measure between models on the same rows, from what each row adds: t intervals in closed form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import inf, isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats, ratio
from baserate._curve import Curve
from baserate._tally import Tally
from baserate.infer import _ks
from baserate.infer._alike import Alike
from baserate.infer._binomial import two_sided
from baserate.infer._comparing._question import Bounds, Side, of_student
from baserate.infer._influence import Part, freedom, has_influence, influence_slopes
from baserate.infer._moments import widening
from baserate.measure import Measure, about, ks

HOW = "influence function, t quantiles with fourth-moment degrees of freedom"
_GREATEST = "both rates at the thresholds of the sample, half a row added to each cell, t quantiles (conservative)"
_PRIOR = 0.5
"""Rows added to each cell of the joint decisions of two models at the thresholds of their KS statistics."""
_ROUNDING = 1e-12


class Studentized(NamedTuple):
    """A difference, its standard error, and the degrees of freedom of the latter."""

    value: float
    error: float
    freedom: float
    how: str

    @staticmethod
    def of(value: float, parts: Sequence[Part], how: str) -> Studentized:
        """Add up the variances of independent parts."""
        return Studentized(value, sqrt(sum(part.variance for part in parts)), max(freedom(parts), 1.0), how)

    def interval(self, level: float) -> Bounds:
        """T interval about the difference."""
        half = two_sided(level) * widening(self.freedom, level) * self.error
        return self.value - half, self.value + half

    def test(self, side: Side, bound: float) -> tuple[float, float]:
        """T statistic of the difference from a bound, and its p-value: that of the interval that just reaches it."""
        t = (self.value - bound) / self.error
        return t, of_student(t, self.freedom, side)

    def usable(self, size: float) -> bool:
        """Whether rows show a variance, but for rounding, of a difference of values of that size."""
        return isfinite(self.error) and self.error > _ROUNDING * size


def has_closed_form(measure: Measure) -> bool:
    """Whether differences of a measure have a closed form here."""
    return has_influence(measure) or measure is ks


def studentized(measure: Measure, cells: Alike, pair: tuple[str, str], values: Bounds) -> Studentized:
    r"""Difference of a smooth measure with the variance of what each row adds to it.

    Row i adds :math:`ψ_i=w_i(∂A/∂w_i-∂B/∂w_i)`; of a mean loss that is :math:`w_i(d_i-\bar d)/\sum w` with the
    difference d of the losses of the row, so that without weights the test is the paired t-test but for its degrees of
    freedom. The variance is :math:`\frac n{n-1}\sumψ_i^2`; its degrees of freedom follow from :math:`\sumψ_i^4`, and
    are fewer than n − 1 where a few rows add most [@satterthwaite1946]. Of clustered rows, sums within clusters take
    the place of rows. Average precision has a part for each class.
    """
    difference = values[0] - values[1]
    if measure is ks:
        return Studentized.of(difference, list(_greatest(cells, pair)), _GREATEST)
    first, second = (_added(measure, cells, cells.tally(model), cells.score[model]) for model in pair)
    apart = first - second
    if cells.cluster is not None:
        return Studentized.of(difference, [_of_clusters(cells, apart)], f"{HOW}, summed within clusters")
    classes = [cells.truth, ~cells.truth] if about(measure).of is Curve else [np.ones(len(cells), dtype=np.bool_)]
    return Studentized.of(difference, [_part(apart[there], cells.times[there]) for there in classes], HOW)


def _added(measure: Measure, cells: Alike, tally: Tally, score: Floats) -> Floats:
    """What one row of each kind adds to a measure."""
    _, true, false = influence_slopes(measure, tally)
    # Scores of a tally fall.
    place = len(tally.score) - 1 - np.searchsorted(tally.score[::-1], score)
    added = np.where(cells.truth, true[place], false[place])
    return added if cells.weight is None else added * cells.weight


def _part(added: Floats, times: npt.NDArray[Any]) -> Part:
    return Part.of(float(np.sum(times * added**2)), float(np.sum(times * added**4)), float(times.sum()))


def _of_clusters(cells: Alike, added: Floats) -> Part:
    if cells.clusters < 2:
        return Part(inf, inf, 1.0)
    assert cells.cluster is not None  # noqa: S101  (for the type checker)
    sums = np.bincount(cells.cluster, added * cells.times, minlength=cells.clusters).astype(np.float64)
    return _part(sums, np.ones(cells.clusters))


def _greatest(cells: Alike, pair: tuple[str, str]) -> Iterator[Part]:
    """Variance of a difference of two KS statistics, class by class, as if the thresholds had been chosen beforehand.

    To first order a maximum varies as the curve does where it is greatest. Half a row is added to each of the four
    cells of both decisions, as for paired shares [@agresti2005]. Thresholds that were selected vary less together than
    this assumes, so that the interval is conservative where the models are alike.
    """
    flagged = [cells.score[model] >= _ks.where(cells.tally(model)) for model in pair]
    signs = [_sign(cells, each) for each in flagged]
    apart = signs[0] * flagged[0].astype(np.float64) - signs[1] * flagged[1]
    added = [signs[0] * one - signs[1] * other for one, other in product((0, 1), repeat=2)]
    if cells.cluster is not None:
        yield _of_clusters(cells, _centered(cells, apart, cells.truth) - _centered(cells, apart, ~cells.truth))
        return
    weight = np.ones(len(cells)) if cells.weight is None else cells.weight
    for there in (cells.truth, ~cells.truth):
        times = np.append(cells.times[there], np.full(len(added), _PRIOR))
        usual = ratio(float(cells.squares[there].sum()), float(cells.mass[there].sum()))
        weights = np.append(weight[there], np.full(len(added), usual))
        values = np.append(apart[there], added)
        mass = float(np.sum(times * weights))
        mean = float(np.sum(times * weights * values)) / mass
        yield _part(weights * (values - mean) / mass, times)


def _sign(cells: Alike, flagged: Bools) -> float:
    """−1 where more negatives than positives are flagged: the curve lies farthest below the diagonal."""
    mass = cells.mass
    rates = [
        ratio(float(mass[flagged & there].sum()), float(mass[there].sum())) for there in (cells.truth, ~cells.truth)
    ]
    return 1.0 if rates[0] >= rates[1] else -1.0


def _centered(cells: Alike, values: Floats, there: Bools) -> Floats:
    """What one row of each kind of a class adds to the class's mean; nothing elsewhere."""
    mass = np.where(there, cells.mass, 0.0)
    total = float(mass.sum())
    weight = 1.0 if cells.weight is None else cells.weight
    return np.where(there, weight * (values - float(np.sum(mass * values)) / total) / total, 0.0)
