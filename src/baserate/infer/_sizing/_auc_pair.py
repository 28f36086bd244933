"""Two AUCs, and how their estimates vary and vary together: from pilot rows, curves, reports or suppositions."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, pi, sqrt
from typing import Literal, NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._errors import EmptyDataError, OptionError
from baserate._formatting import count_of, there_are
from baserate._rows import Rows
from baserate._tally import Tally
from baserate.infer._sizing._size import check_inside, check_share

Standard = Literal["first", "second"] | None

_WEIGHTED = "these rows have weights, of which a pilot for planning makes no use; leave them out."
_FEW = "the pilot has fewer than two rows of a class; give at least two of each."


class Spread(NamedTuple):
    """A variance or covariance of AUCs: what one positive and what one negative bring to it."""

    positive: float
    negative: float

    def at(self, positives: float, negatives: float) -> float:
        """Return it with so many of each."""
        return self.positive / positives + self.negative / negatives

    def per_row(self, prevalence: float) -> float:
        """Return it times the number of rows."""
        return self.at(prevalence, 1 - prevalence)


@dataclass(frozen=True, slots=True)
class AucPair:
    """Two AUCs, and how their estimates vary and vary together.

    `delong_pair` finds it in pilot rows, `tallied_pair` in tallies of separate rows, `binormal_pair` in two binormal
    curves, `stated_pair` in published variances, and `assumed_pair` supposes it from two AUCs.
    """

    first: float
    second: float
    variance: tuple[Spread, Spread]
    covariance: Spread
    paired: bool = True
    """Whether both models judge the same rows."""

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            check_share(name, getattr(self, name))
        for one, other, both in zip(*self.variance, self.covariance, strict=True):
            # A hair of room, since all three were rounded.
            if not (0 <= one < np.inf and 0 <= other < np.inf and both**2 <= one * other * (1 + 1e-9)):
                raise OptionError(f"variances {one} and {other} and covariance {both} cannot be; check the numbers.")

    @property
    def difference(self) -> float:
        """First minus second."""
        return self.first - self.second

    def varying(self, standard: Standard = None) -> tuple[Spread, Spread]:
        """Variance of the difference: if there were none, and as it is.

        Without a `standard` both are one, and nothing changes when the models swap places: this is the variance that
        DeLong's test itself would use. With one, the other model is thought to vary alike if it is as good, and their
        covariance to stay: pROC up to 1.19 takes its first curve for that. Where the covariance is larger than the
        variance of the standard there is no such variance, and it is refused.
        """
        if standard not in (None, "first", "second"):
            raise OptionError(f"standard is {standard!r}; it is 'first', 'second' or None.")
        one, other = (np.array(each) for each in self.variance)
        shared = 2 * np.array(self.covariance)
        real = np.maximum(one + other - shared, 0.0)
        zero = {"first": 2 * one - shared, "second": 2 * other - shared}.get(standard or "", real)
        if min(*zero, *real) < 0 and standard is not None:
            raise OptionError(
                f"the {standard} AUC varies less than it varies with the other, so it cannot be the standard; leave "
                "standard= out."
            )
        return Spread(*zero.tolist()), Spread(*real.tolist())


def binormal_spread(auc: float) -> Spread:
    r"""Variance of the AUC of normal scores, :math:`0.0099e^{-a^2/2}[(5a^2+8)/P+(a^2+8)/N]`, a = 1.414 Φ⁻¹(AUC).

    It is formula 3 of [@obuchowski2004], with the constants as printed there, since pROC's numbers hang on them: 0.0099
    for 1/(32π) and 1.414 for √2. The covariance of the two parameters of the curve, which would make it smaller, is
    left out there, so sizes are on the safe side.

    >>> round(sqrt(binormal_spread(0.7).at(50, 50)), 4)
    0.0539
    """
    from scipy.special import ndtri

    square = (1.414 * float(ndtri(auc))) ** 2
    scale = 0.0099 * exp(-square / 2)
    return Spread(scale * (5 * square + 8), scale * (square + 8))


def delong_pair(rows: Rows) -> AucPair:
    """Two models scored on the same pilot rows, with DeLong's variances [@delong1988].

    >>> truth = np.array([True, False, True, False])
    >>> pair = delong_pair(Rows(truth, {"old": np.array([2.0, 3, 4, 1]), "new": np.array([4.0, 1, 3, 2])}))
    >>> pair.first, pair.second, pair.variance[0]
    (0.75, 1.0, Spread(positive=0.125, negative=0.125))
    """
    if len(rows.score) != 2:
        raise OptionError(f"there are scores of {count_of(len(rows.score), 'model')}; give rows with those of two.")
    if rows.weight is not None:
        raise OptionError(_WEIGHTED)
    many = np.ones(len(rows), dtype=np.int64) if rows.count is None else np.asarray(rows.count, dtype=np.int64)
    truth = np.repeat(rows.truth, many)
    scores = [np.repeat(np.asarray(score, dtype=np.float64), many) for score in rows.score.values()]
    if min(np.count_nonzero(truth), np.count_nonzero(~truth)) < 2:
        raise EmptyDataError(_FEW)
    above = np.cov(np.array([_placements(score[truth], score[~truth]) for score in scores]))
    below = np.cov(np.array([_placements(-score[~truth], -score[truth]) for score in scores]))
    areas = [float(_placements(score[truth], score[~truth]).mean()) for score in scores]
    parts = [Spread(float(above[place]), float(below[place])) for place in ((0, 0), (1, 1), (0, 1))]
    return AucPair(areas[0], areas[1], (parts[0], parts[1]), parts[2])


def tallied_pair(first: Tally, second: Tally) -> AucPair:
    """Two models tallied on pilot rows of their own, with DeLong's variances [@delong1988].

    >>> from baserate import tally
    >>> pair = tallied_pair(tally([1, 0, 1, 0], [2, 3, 4, 1]), tally([1, 0, 1, 0], [4, 1, 3, 2]))
    >>> pair.first, pair.second, pair.variance[0], pair.paired
    (0.75, 1.0, Spread(positive=0.125, negative=0.125), False)
    """
    (one, varies), (other, too) = _tallied(first), _tallied(second)
    return AucPair(one, other, (varies, too), Spread(0.0, 0.0), paired=False)


def binormal_pair(
    first: tuple[float, float], second: tuple[float, float], *, correlation: tuple[float, float]
) -> AucPair:
    r"""Two binormal ROC curves with parameters (a, b) each, of scores correlated among positives and among negatives.

    a is the distance of the means and b the spread of the negatives, both over the spread of the positives, and the AUC
    is :math:`Φ(a/\sqrt{1+b^2})`. Variances are formula 4 and covariances formula 5 of [@obuchowski1997].
    """
    for name, each in (("correlation among positives", correlation[0]), ("among negatives", correlation[1])):
        _check_correlation(name, each)
    parts = [_binormal_part(*curve) for curve in (first, second)]
    (a1, b1, f1, g1, area1), (a2, b2, f2, g2, area2) = parts
    sick, well = correlation
    together = Spread(
        f1 * f2 * (sick + sick**2 * a1 * a2 / 2)
        + g1 * g2 * b1 * b2 * sick**2 / 2
        + sick**2 * (f1 * g2 * a1 * b2 + f2 * g1 * a2 * b1) / 2,
        b1 * b2 * (f1 * f2 * well + g1 * g2 * well**2 / 2),
    )
    one, other = (
        Spread(f * f * (1 + a * a / 2) + g * g * b * b / 2, b * b * (f * f + g * g / 2)) for a, b, f, g, _ in parts
    )
    return AucPair(area1, area2, (one, other), together)


def stated_pair(
    first: float,
    second: float,
    *,
    variances: tuple[float, float],
    covariance: float,
    positives: float,
    negatives: float,
) -> AucPair:
    """Two AUCs with the variances and the covariance that a study of so many rows reports.

    How much of them each class brings is not told, and taken to be half; where the prevalence stays it does not matter.
    """
    check_classes(positives, negatives)
    if not all(0 < each < np.inf for each in variances) or not abs(covariance) <= sqrt(variances[0] * variances[1]):
        raise OptionError(f"variances {variances} and covariance {covariance} cannot be; check the numbers.")
    one, other, both = (Spread(each * positives / 2, each * negatives / 2) for each in (*variances, covariance))
    return AucPair(first, second, (one, other), both)


def assumed_pair(first: float, second: float, *, correlation: float | None = None) -> AucPair:
    """Two AUCs of normal scores, whose estimates are so correlated in each class [@hanley1983].

    Without a correlation each model has rows of its own.
    """
    for name, each in (("first", first), ("second", second)):
        check_inside(name, each, "0.8")
    r = 0.0 if correlation is None else correlation
    _check_correlation("correlation", r)
    one, other = binormal_spread(first), binormal_spread(second)
    both = Spread(*(r * sqrt(a * b) for a, b in zip(one, other, strict=True)))
    return AucPair(first, second, (one, other), both, paired=correlation is not None)


def check_classes(positives: float, negatives: float) -> None:
    """Refuse numbers of rows that cannot be."""
    if not (0 < positives < np.inf and 0 < negatives < np.inf):
        raise OptionError(
            f"{there_are(positives, 'positive')} and {count_of(negatives, 'negative')}; give numbers above 0."
        )


def _tallied(tally: Tally) -> tuple[float, Spread]:
    if tally.weighted:
        raise OptionError(_WEIGHTED)
    positive, negative = (np.asarray(each, dtype=np.float64) for each in tally.mass)
    if min(positive.sum(), negative.sum()) < 2:
        raise EmptyDataError(_FEW)
    below = 1 - (np.cumsum(negative) - negative / 2) / negative.sum()
    above = (np.cumsum(positive) - positive / 2) / positive.sum()
    auc = float(np.sum(positive * below) / positive.sum())
    parts = [
        float(np.sum(mass * (place - auc) ** 2) / (mass.sum() - 1))
        for mass, place in ((positive, below), (negative, above))
    ]
    return auc, Spread(*parts)


def _placements(scores: Floats, others: Floats) -> Floats:
    """Share of the others that each score beats, ties half."""
    ordered = np.sort(others)
    beaten = np.searchsorted(ordered, scores, "left") + np.searchsorted(ordered, scores, "right")
    return beaten / (2 * len(others))


def _binormal_part(a: float, b: float) -> tuple[float, float, float, float, float]:
    """a, b, what the AUC gains by each (f and g of the paper), and the AUC."""
    from scipy.special import ndtr

    if not 0 < b < np.inf or not -np.inf < a < np.inf:
        raise OptionError(f"a is {a} and b {b}; give a finite number, and one above 0.")
    scale = exp(-a * a / (2 * (1 + b * b)))
    f, g = scale / sqrt(2 * pi * (1 + b * b)), -scale * a * b / sqrt(2 * pi * (1 + b * b) ** 3)
    return a, b, f, g, float(ndtr(a / sqrt(1 + b * b)))


def _check_correlation(name: str, value: float) -> None:
    if not -1 <= value <= 1:
        raise OptionError(f"{name} is {value!r}; a correlation lies between -1 and 1.")
