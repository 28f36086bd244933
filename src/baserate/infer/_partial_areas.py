r"""Areas under a section of a ROC curve: those of binormal curves with their derivatives, and placements of rows.

A binormal curve is :math:`ROC(x)=Φ(a+bΦ^{-1}(x))`: a is the distance of the means and b the standard deviation of the
negatives, both over that of the positives.
"""

from __future__ import annotations

from math import exp, inf, pi, sqrt
from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._domains import check_rates
from baserate._errors import OptionError

Rates = tuple[float, float]
WHOLE: Rates = (0.0, 1.0)
"""False positive rates of the whole curve."""
_GAUSS_NODES = 80
_FAR, _FAR_NODES = 40.0, 9.0
"""Standard deviations beyond which a normal density is 0, and beyond which less than 1e-18 is left."""


class BinormalArea(NamedTuple):
    """Parameters of a binormal curve, its area over an interval of false positive rates, and the area's derivatives."""

    a: float
    b: float
    by_a: float
    by_b: float
    area: float


def binormal_area(a: float, b: float, fpr: Rates = WHOLE) -> BinormalArea:
    r"""Return the area under a section of a binormal curve and its derivatives [@obuchowski1997].

    With :math:`t=Φ^{-1}(x)` the area is :math:`\intΦ(a+bt)φ(t)\,dt`, so the derivatives are integrals of
    :math:`φ(a+bt)φ(t)` and :math:`tφ(a+bt)φ(t)`.

    >>> [round(each, 6) for each in binormal_area(1.5, 0.8, (0.1, 0.3))[2:]]
    [0.057106, -0.050824, 0.157604]
    """
    from scipy.special import ndtr

    if not 0 < b < inf or not -inf < a < inf:
        raise OptionError(f"a is {a} and b {b}", remedy="give a finite number, and one above 0.", option="a", value=a)
    check_rates(*fpr)
    square = 1 + b * b
    scale = exp(-a * a / (2 * square))
    ends = _normal_quantiles(fpr)
    low, high = (sqrt(square) * (end + a * b / square) for end in ends)
    by_a = scale / sqrt(2 * pi * square) * float(ndtr(high) - ndtr(low))
    by_b = scale / (2 * pi * square) * (exp(-low * low / 2) - exp(-high * high / 2)) - a * b / square * by_a
    return BinormalArea(a, b, by_a, by_b, float(ndtr(a / sqrt(square))) if fpr == WHOLE else _sum_heights(a, b, ends))


def binormal_parameters(area: float, fpr: Rates = WHOLE, spread_ratio: float = 1.0) -> tuple[float, float]:
    """Return a and b of the binormal curve with that area over an interval of false positive rates.

    >>> [round(each, 4) for each in binormal_parameters(0.1, (0.0, 0.2), spread_ratio=1.25)]
    [1.1103, 0.8]
    """
    from scipy.optimize import brentq

    check_rates(*fpr)
    least, most = 0.0, fpr[1] - fpr[0]
    if not least < area < most:
        raise OptionError(
            f"an area over false positive rates from {fpr[0]:g} to {fpr[1]:g} is {area:g}; expected above 0 and below "
            f"{most:g}.",
            remedy="Give the area itself, not a share of the greatest one.",
        )
    b = 1 / spread_ratio
    return float(brentq(lambda a: binormal_area(a, b, fpr).area - area, -_FAR, _FAR, xtol=1e-12)), b


def placement_variances(a: float, b: float, fpr: Rates = WHOLE) -> tuple[float, float]:
    r"""Return the variance of what a positive and a negative contribute to an area of a binormal curve R.

    A positive with false positive rate u contributes :math:`\int 1(u\le x)\,dx`, with the second moment
    :math:`2\int(e_2-x)R(x)\,dx`. A negative contributes R at its own rate, clipped to the interval :math:`(e_1,e_2)`.
    These are the variances of DeLong's test, of partial areas likewise.

    >>> [round(each, 4) for each in placement_variances(1.190232, 1.0)]  # of an AUC of 0.8
    [0.0472, 0.0472]
    """
    low, high = fpr
    rates, heights, weights = _curve_nodes(a, b, _normal_quantiles(fpr))
    area = float(np.sum(weights * heights))
    positive = 2 * float(np.sum(weights * (high - rates) * heights)) - area**2
    ends = [float(each) for each in _heights(a, b, np.array(_normal_quantiles(fpr)))]
    mean = low * ends[0] + area + (1 - high) * ends[1]
    square = low * ends[0] ** 2 + float(np.sum(weights * heights**2)) + (1 - high) * ends[1] ** 2
    return positive, square - mean**2


def _normal_quantiles(fpr: Rates) -> tuple[float, float]:
    """Return the normal quantiles of both ends, within the range of numbers."""
    from scipy.special import ndtri

    low, high = (min(max(float(ndtri(each)), -_FAR), _FAR) for each in fpr)
    return low, high


def _sum_heights(a: float, b: float, ends: tuple[float, float]) -> float:
    """Integrate the height of a binormal curve between two normal quantiles of the false positive rate."""
    _, heights, weights = _curve_nodes(a, b, ends)
    return float(np.sum(weights * heights))


def _curve_nodes(a: float, b: float, ends: tuple[float, float]) -> tuple[Floats, Floats, Floats]:
    """Return false positive rates, heights of the curve and weights of the Gauss–Legendre rule, in normal quantiles."""
    from scipy.special import ndtr

    low, high = max(ends[0], -_FAR_NODES), min(ends[1], _FAR_NODES)
    nodes, weights = np.polynomial.legendre.leggauss(_GAUSS_NODES)
    t = (high - low) / 2 * nodes + (high + low) / 2
    density = np.exp(-t * t / 2) / sqrt(2 * pi)
    return ndtr(t), _heights(a, b, t), (high - low) / 2 * weights * density


def _heights(a: float, b: float, quantile: Floats) -> Floats:
    """Return the height of a binormal curve at normal quantiles of the false positive rate."""
    from scipy.special import ndtr

    heights: Floats = np.asarray(ndtr(a + b * quantile))
    return heights


class Placements(NamedTuple):
    """Contribution of each positive and of each negative to an area: their variances are those of the area."""

    positive: Floats
    negative: Floats

    @property
    def area(self) -> float:
        """Return the area."""
        return float(self.positive.mean())


def place_rows(positives: Floats, negatives: Floats, fpr: Rates = WHOLE) -> Placements:
    r"""Return what each row contributes to an area over an interval of false positive rates.

    A positive contributes the part of the interval beyond its own false positive rate, and a negative the height that
    the curve reaches before its rate, up to a constant: the derivative of :math:`\int ROC(x)\,dx` by the mass of a row.
    Tied rows share the section of the curve that their score spans. Over the whole curve these are DeLong's placements.

    >>> place_rows(np.array([3.0, 1.0]), np.array([2.0, 0.0]))[0].tolist()
    [1.0, 0.5]
    """
    check_rates(*fpr)
    own, other = np.sort(positives), np.sort(negatives)
    x, y = _curve_points(own, other)
    spans = [_shares_from(other, score) for score in (positives, negatives)]
    heads = [np.clip(each, *fpr) for each in spans[0]]
    # The average over a tied section of the part of the interval that lies beyond.
    inside = fpr[1] - (heads[0] + heads[1]) / 2
    width = spans[0][1] - spans[0][0]
    left = np.where(width > 0, np.clip(fpr[0] - spans[0][0], 0.0, width), 0.0)
    right = np.where(width > 0, np.clip(spans[0][1] - fpr[1], 0.0, width), 0.0)
    whole = np.where(width > 0, width, 1.0)
    part = (left * (fpr[1] - fpr[0]) + (width - left - right) * inside) / whole
    beyond = np.where(width > 0, part, fpr[1] - heads[0])
    return Placements(beyond, _mean_height(x, y, spans[1], fpr))


def _curve_points(positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    """Return the points of the ROC curve, from the strictest threshold."""
    cuts = np.unique(np.concatenate([positives, negatives]))[::-1]
    x, y = (1 - np.searchsorted(each, cuts, "left") / len(each) for each in (negatives, positives))
    return np.concatenate([[0.0], x]), np.concatenate([[0.0], y])


def _shares_from(ordered: Floats, score: Floats) -> tuple[Floats, Floats]:
    """Return the shares of rows above each score, and at or above it."""
    above, from_it = (1 - np.searchsorted(ordered, score, side) / len(ordered) for side in ("right", "left"))
    return above, from_it


def _mean_height(x: Floats, y: Floats, span: tuple[Floats, Floats], fpr: Rates) -> Floats:
    """Return the area under the curve over each span, clipped to the interval, over the width of the span.

    Within the interval this is the mean height; where the span leaves it, the curve counts as constant beyond.
    """
    steps = np.diff(x) * (y[1:] + y[:-1]) / 2
    areas = np.concatenate([[0.0], np.cumsum(steps)])
    # Where the curve is vertical, the top belongs to what lies behind, and the bottom to what lies before.
    starts, ends = (np.clip(each, *fpr) for each in span)
    inside = _area_to(ends, x, y, areas) - _area_to(starts, x, y, areas)
    first = np.interp(fpr[0], x, y)
    last = -np.interp(-fpr[1], -x[::-1], -y[::-1])
    width = span[1] - span[0]
    before, behind = np.clip(fpr[0] - span[0], 0.0, width), np.clip(span[1] - fpr[1], 0.0, width)
    heights: Floats = (before * first + inside + behind * last) / width
    return heights


def _area_to(at: Floats, x: Floats, y: Floats, areas: Floats) -> Floats:
    """Return the area under a polygonal line up to some places."""
    place = np.clip(np.searchsorted(x, at, "right") - 1, 0, len(x) - 2)
    run = at - x[place]
    width = x[place + 1] - x[place]
    slope = np.divide(y[place + 1] - y[place], width, out=np.zeros(len(at)), where=width > 0)
    area: Floats = areas[place] + run * (y[place] + slope * run / 2)
    return area
