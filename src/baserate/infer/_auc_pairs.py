"""Pairs of AUCs with variances and covariance, for sample sizes: from pilot rows, curves, reports or assumptions."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, pi, sqrt
from typing import Literal, NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._errors import EmptyDataError, OptionError, keyword
from baserate._formatting import count_of, there_are
from baserate._rows import Rows
from baserate._tally import Tally
from baserate.infer._sample_size import check_open_share, check_share

Standard = Literal["first", "second"] | None

_WEIGHTED = "these rows have weights, of which a pilot for planning makes no use; leave them out."
_TOO_FEW = "the pilot has fewer than two rows of a class; give at least two of each."


class ClassVariance(NamedTuple):
    """A variance or covariance of AUCs: the contributions of one positive and of one negative."""

    positive: float
    negative: float

    def at(self, positives: float, negatives: float) -> float:
        """Return the variance with that many rows of each class."""
        return self.positive / positives + self.negative / negatives

    def per_row(self, prevalence: float) -> float:
        """Return the variance times the number of rows."""
        return self.at(prevalence, 1 - prevalence)


@dataclass(frozen=True, slots=True)
class AucPair:
    """Two AUCs with the variances and covariance of their estimates.

    `delong_pair` computes it from pilot rows, `independent_pair` from tallies of separate rows, `binormal_pair` from
    two
    binormal curves, `reported_pair` from published variances, and `hypothetical_pair` from two AUCs alone.
    """

    first: float
    second: float
    variance: tuple[ClassVariance, ClassVariance]
    covariance: ClassVariance
    paired: bool = True
    """Whether both models are evaluated on the same rows."""

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            check_share(name, getattr(self, name))
        for one, other, both in zip(*self.variance, self.covariance, strict=True):
            # Tolerance, since all three numbers are rounded.
            if not (0 <= one < np.inf and 0 <= other < np.inf and both**2 <= one * other * (1 + 1e-9)):
                raise OptionError(
                    f"variances {one} and {other} and covariance {both} cannot be", remedy="check the numbers."
                )

    @property
    def difference(self) -> float:
        """Return the first AUC less the second."""
        return self.first - self.second

    def varying(self, standard: Standard = None) -> tuple[ClassVariance, ClassVariance]:
        """Return the variance of the difference under the null hypothesis, and under the alternative.

        Without a `standard` both are equal, and nothing changes when the models swap places: this is the variance that
        DeLong's test itself would use. With one, the other model is assumed to vary equally if it is as good, and their
        covariance to stay: pROC up to 1.19 takes its first curve as the standard. Where the covariance exceeds the
        variance of the standard there is no such variance, which raises an error.
        """
        if standard not in (None, "first", "second"):
            raise OptionError(
                f"standard is {standard!r}; it is 'first', 'second' or None.", option="standard", value=standard
            )
        one, other = (np.array(each) for each in self.variance)
        shared = 2 * np.array(self.covariance)
        real = np.maximum(one + other - shared, 0.0)
        zero = {"first": 2 * one - shared, "second": 2 * other - shared}.get(standard or "", real)
        if min(*zero, *real) < 0 and standard is not None:
            raise OptionError(
                f"the {standard} AUC varies less than it varies with the other, so it cannot be the standard",
                remedy=f"leave {keyword('standard')} out.",
            )
        return ClassVariance(*zero.tolist()), ClassVariance(*real.tolist())


def binormal_spread(auc: float) -> ClassVariance:
    """Return the AUC variance of normal scores, :math:`0.0099e^{-a^2/2}[(5a^2+8)/P+(a^2+8)/N]`, a = 1.414 Φ⁻¹(AUC).

    This is formula 3 of [@obuchowski2004], with the constants as printed there, on which pROC's numbers depend: 0.0099
    for 1/(32π) and 1.414 for √2. It omits the covariance of the two curve parameters, which would make the variance
    smaller, so sizes are conservative.

    Parameters
    ----------
    auc
        The AUC.

    Returns
    -------
    Spread
        Contributions of one positive and of one negative.

    Examples
    --------
    >>> round(sqrt(binormal_spread(0.7).at(50, 50)), 4)
    0.0539
    """
    from scipy.special import ndtri

    square = (1.414 * float(ndtri(auc))) ** 2
    scale = 0.0099 * exp(-square / 2)
    return ClassVariance(scale * (5 * square + 8), scale * (square + 8))


def delong_pair(rows: Rows) -> AucPair:
    """Compute a pair from two models scored on the same pilot rows, with DeLong's variances [@delong1988].

    Parameters
    ----------
    rows
        Pilot rows with the scores of two models and no weights.

    Returns
    -------
    AucPair
        AUCs, variances and covariance.

    Examples
    --------
    >>> truth = np.array([True, False, True, False])
    >>> pair = delong_pair(Rows(truth, {"old": np.array([2.0, 3, 4, 1]), "new": np.array([4.0, 1, 3, 2])}))
    >>> pair.first, pair.second, pair.variance[0]
    (0.75, 1.0, ClassVariance(positive=0.125, negative=0.125))
    """
    if len(rows.score) != 2:
        raise OptionError(
            f"there are scores of {count_of(len(rows.score), 'model')}", remedy="give rows with those of two."
        )
    if rows.weight is not None:
        raise OptionError(_WEIGHTED)
    many = np.ones(len(rows), dtype=np.int64) if rows.count is None else np.asarray(rows.count, dtype=np.int64)
    truth = np.repeat(rows.truth, many)
    scores = [np.repeat(np.asarray(score, dtype=np.float64), many) for score in rows.score.values()]
    if min(np.count_nonzero(truth), np.count_nonzero(~truth)) < 2:
        raise EmptyDataError(_TOO_FEW)
    above = np.cov(np.array([_placements(score[truth], score[~truth]) for score in scores]))
    below = np.cov(np.array([_placements(-score[~truth], -score[truth]) for score in scores]))
    areas = [float(_placements(score[truth], score[~truth]).mean()) for score in scores]
    parts = [ClassVariance(float(above[place]), float(below[place])) for place in ((0, 0), (1, 1), (0, 1))]
    return AucPair(areas[0], areas[1], (parts[0], parts[1]), parts[2])


def independent_pair(first: Tally, second: Tally) -> AucPair:
    """Compute a pair from two models scored on separate pilot rows, with DeLong's variances [@delong1988].

    Parameters
    ----------
    first, second
        Tallies of both models.

    Returns
    -------
    AucPair
        AUCs and variances; the covariance is 0.

    Examples
    --------
    >>> from baserate import tally
    >>> pair = independent_pair(tally([1, 0, 1, 0], [2, 3, 4, 1]), tally([1, 0, 1, 0], [4, 1, 3, 2]))
    >>> pair.first, pair.second, pair.variance[0], pair.paired
    (0.75, 1.0, ClassVariance(positive=0.125, negative=0.125), False)
    """
    (one, varies), (other, too) = _auc_and_variance(first), _auc_and_variance(second)
    return AucPair(one, other, (varies, too), ClassVariance(0.0, 0.0), paired=False)


def binormal_pair(
    first: tuple[float, float], second: tuple[float, float], *, correlation: tuple[float, float]
) -> AucPair:
    r"""Compute a pair from two binormal ROC curves with parameters (a, b) and correlated scores.

    a is the distance of the means and b the standard deviation of the negatives, both over that of the positives; the
    AUC is :math:`Φ(a/\sqrt{1+b^2})`. Variances are formula 4 and covariances formula 5 of [@obuchowski1997].

    Parameters
    ----------
    first, second
        Parameters a and b of each curve.
    correlation
        Correlation of the scores among positives, and among negatives.

    Returns
    -------
    AucPair
        AUCs, variances and covariance.
    """
    for name, each in (("correlation among positives", correlation[0]), ("among negatives", correlation[1])):
        _check_correlation(name, each)
    parts = [_binormal_terms(*curve) for curve in (first, second)]
    (a1, b1, f1, g1, area1), (a2, b2, f2, g2, area2) = parts
    sick, well = correlation
    covariance = ClassVariance(
        f1 * f2 * (sick + sick**2 * a1 * a2 / 2)
        + g1 * g2 * b1 * b2 * sick**2 / 2
        + sick**2 * (f1 * g2 * a1 * b2 + f2 * g1 * a2 * b1) / 2,
        b1 * b2 * (f1 * f2 * well + g1 * g2 * well**2 / 2),
    )
    one, other = (
        ClassVariance(f * f * (1 + a * a / 2) + g * g * b * b / 2, b * b * (f * f + g * g / 2))
        for a, b, f, g, _ in parts
    )
    return AucPair(area1, area2, (one, other), covariance)


def reported_pair(
    first: float,
    second: float,
    *,
    variances: tuple[float, float],
    covariance: float,
    positives: float,
    negatives: float,
) -> AucPair:
    """Make a pair from two AUCs with the variances and the covariance that a study reports.

    The report does not say how much of them each class contributes; half is assumed. At the same prevalence this does
    not matter.

    Parameters
    ----------
    first, second
        Both AUCs.
    variances
        Variances of both.
    covariance
        Their covariance.
    positives, negatives
        Rows of the study.

    Returns
    -------
    AucPair
        AUCs, variances and covariance per row.
    """
    check_classes(positives, negatives)
    if not all(0 < each < np.inf for each in variances) or not abs(covariance) <= sqrt(variances[0] * variances[1]):
        raise OptionError(f"variances {variances} and covariance {covariance} cannot be", remedy="check the numbers.")
    one, other, both = (ClassVariance(each * positives / 2, each * negatives / 2) for each in (*variances, covariance))
    return AucPair(first, second, (one, other), both)


def hypothetical_pair(first: float, second: float, *, correlation: float | None = None) -> AucPair:
    """Make a pair from two AUCs of normal scores whose estimates have this correlation in each class [@hanley1983].

    Parameters
    ----------
    first, second
        Both AUCs.
    correlation
        Correlation of the estimates; None if each model has rows of its own.

    Returns
    -------
    AucPair
        AUCs, variances and covariance.
    """
    for name, each in (("first", first), ("second", second)):
        check_open_share(name, each, "0.8")
    r = 0.0 if correlation is None else correlation
    _check_correlation("correlation", r)
    one, other = binormal_spread(first), binormal_spread(second)
    both = ClassVariance(*(r * sqrt(a * b) for a, b in zip(one, other, strict=True)))
    return AucPair(first, second, (one, other), both, paired=correlation is not None)


def check_classes(positives: float, negatives: float) -> None:
    """Raise if numbers of rows are not positive."""
    if not (0 < positives < np.inf and 0 < negatives < np.inf):
        raise OptionError(
            f"{there_are(positives, 'positive')} and {count_of(negatives, 'negative')}", remedy="give numbers above 0."
        )


def _auc_and_variance(tally: Tally) -> tuple[float, ClassVariance]:
    if tally.weighted:
        raise OptionError(_WEIGHTED)
    positive, negative = (np.asarray(each, dtype=np.float64) for each in tally.mass)
    if min(positive.sum(), negative.sum()) < 2:
        raise EmptyDataError(_TOO_FEW)
    below = 1 - (np.cumsum(negative) - negative / 2) / negative.sum()
    above = (np.cumsum(positive) - positive / 2) / positive.sum()
    auc = float(np.sum(positive * below) / positive.sum())
    parts = [
        float(np.sum(mass * (place - auc) ** 2) / (mass.sum() - 1))
        for mass, place in ((positive, below), (negative, above))
    ]
    return auc, ClassVariance(*parts)


def _placements(scores: Floats, others: Floats) -> Floats:
    """Return the share of the others that each score exceeds, ties half."""
    ordered = np.sort(others)
    beaten = np.searchsorted(ordered, scores, "left") + np.searchsorted(ordered, scores, "right")
    return beaten / (2 * len(others))


def _binormal_terms(a: float, b: float) -> tuple[float, float, float, float, float]:
    """Return a, b, the derivatives of the AUC with respect to each (f and g of the paper), and the AUC."""
    from scipy.special import ndtr

    if not 0 < b < np.inf or not -np.inf < a < np.inf:
        raise OptionError(f"a is {a} and b {b}", remedy="give a finite number, and one above 0.", option="a", value=a)
    scale = exp(-a * a / (2 * (1 + b * b)))
    f, g = scale / sqrt(2 * pi * (1 + b * b)), -scale * a * b / sqrt(2 * pi * (1 + b * b) ** 3)
    return a, b, f, g, float(ndtr(a / sqrt(1 + b * b)))


def _check_correlation(name: str, value: float) -> None:
    if not -1 <= value <= 1:
        raise OptionError(f"{name} is {value!r}; a correlation lies between -1 and 1.", option=name, value=value)
