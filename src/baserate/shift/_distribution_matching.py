"""Prevalence of two classes by matching distributions: histograms (`dys`) and kernel densities (`kdey-…`).

The distribution of the scores in the target is a mixture of those of the classes in validation. Each method finds the
prevalence whose mixture is nearest to the target, by its own divergence. All of them are convex problems of one
variable with an exact solution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Literal, NamedTuple

import numpy as np

from baserate._arrays import Cells, Floats, Reals
from baserate._domains import BINS, POSTERIOR_BANDWIDTH, check_domain, wrong_option
from baserate._errors import FitError
from baserate._numeric.mixture import find_root
from baserate._results import Estimate
from baserate.infer import normal_quantile
from baserate.shift._data import DELTA_METHOD, BinaryData, Prevalence, share_intervals
from baserate.shift._maximum_likelihood import count_in_equal_bins
from baserate.shift._moment_matching import combine_with_labels

DivergenceName = Literal["hellinger", "topsoe"]
_LEAST = 1e-100
"""Density in place of 0 in denominators."""


class Divergence(NamedTuple):
    """Minus the derivative of a divergence by the mixture m, with the target t, and its own derivatives."""

    slope: Callable[[Floats, Floats], Floats]
    by_mixture: Callable[[Floats, Floats], Floats]
    by_target: Callable[[Floats, Floats], Floats]


_HELLINGER = Divergence(
    lambda m, t: np.sqrt(t / m),
    lambda m, t: -np.sqrt(t / m) / m / 2,
    lambda m, t: np.where(t > 0, 0.5 / np.sqrt(np.maximum(t, _LEAST) * m), 0.0),
)
_TOPSOE = Divergence(lambda m, t: np.log((m + t) / (2 * m)), lambda m, t: -t / m / (m + t), lambda m, t: 1 / (m + t))
_KULLBACK_LEIBLER = Divergence(lambda m, t: t / m, lambda m, t: -t / m / m, lambda m, _t: 1 / m)
_DIVERGENCES: dict[str, Divergence] = {"hellinger": _HELLINGER, "topsoe": _TOPSOE}


class Match(NamedTuple):
    """Share of least divergence, and its derivatives by the densities of both classes and of the target."""

    share: float
    unclipped: float
    """After one step of Newton's method without bounds, where the share is 0 or 1."""
    by_first: Floats
    by_second: Floats
    by_target: Floats


def match_distributions(first: Floats, second: Floats, target: Floats, divergence: Divergence) -> Match:
    r"""Find the share q whose mixture :math:`m=qf_1+(1-q)f_0` is nearest to the target t.

    It solves :math:`\sum(f_1-f_0)\,s(m,t)=0`, s being minus the derivative of the divergence by m. The derivatives of q
    follow from those of s. Places that neither class has count nothing.
    """
    rise = np.where(first + second > 0, first - second, 0.0)

    def mixture(q: float) -> Floats:
        return np.maximum(q * first + (1 - q) * second, _LEAST)

    share = find_root(lambda q: float(rise @ divergence.slope(mixture(q), target)), 0.0, 1.0)
    m = mixture(share)
    slope, bend = divergence.slope(m, target), rise * divergence.by_mixture(m, target)
    curvature = -float(rise @ bend)
    if not curvature > 0:
        raise FitError(
            "the distributions of the two classes are the same, so no prevalence can be estimated",
            remedy="give scores that separate the classes, or more bins or a smaller bandwidth.",
        )
    return Match(
        share,
        share + float(rise @ slope) / curvature,
        (slope + share * bend) / curvature,
        ((1 - share) * bend - slope) / curvature,
        rise * divergence.by_target(m, target) / curvature,
    )


def dys(data: BinaryData, *, bins: int = 8, divergence: DivergenceName = "hellinger") -> Prevalence:
    r"""Estimate the prevalence by the least divergence of histograms (DyS) [@maletzke2019].

    Bins have equal widths. The mixture is :math:`m=qf_1+(1-q)f_0`, and h the histogram of the target. The divergence
    is that of Hellinger, :math:`\sum(\sqrt m-\sqrt h)^2`, or of Topsøe,
    :math:`\sum m\ln\frac{2m}{m+h}+h\ln\frac{2h}{m+h}`. Both are convex in q, so that the minimum is exact; peers
    search for it in steps. With few validation rows in each bin the estimate is biased towards the middle.
    """
    data.check_probabilities("dys")
    check_domain("bins", bins, BINS._replace(low=2, words="a whole number from 2 to 10,000"))
    if divergence not in _DIVERGENCES:
        raise wrong_option("divergence", divergence, f"one of {', '.join(map(repr, _DIVERGENCES))}")
    histograms = count_in_equal_bins(data, int(bins))
    counts, tally = histograms.counts, data.validation
    first, second, target = (each / each.sum() for each in (counts.first, counts.second, counts.mixture))
    match = match_distributions(first, second, target, _DIVERGENCES[divergence])
    influence = np.stack(
        [
            (by[histograms.places] - float(by @ density)) / mass
            for by, density, mass in (
                (match.by_first, first, tally.positives),
                (match.by_second, second, tally.negatives),
            )
        ]
    )
    mean = float(match.by_target @ target)
    # Counts are effective numbers of rows.
    spread = float(target @ (match.by_target - mean) ** 2) / data.effective
    return finish_match(data, MatchedShare("dys", match.share, match.unclipped, influence, spread))


class MatchedShare(NamedTuple):
    """An estimate with its influence and the variance from the target, before its interval."""

    method: str
    share: float
    unclipped: float
    influence: Floats
    spread: float
    notes: tuple[str, ...] = ()


def finish_match(data: BinaryData, match: MatchedShare) -> Prevalence:
    """Add the interval, and combine the estimate with labelled rows."""
    share = match.share
    variance, reach = data.reach(match.influence, match.spread)
    # The t quantile of few validation rows, as a wider normal one.
    wide = variance * (reach / normal_quantile(data.level)) ** 2
    (interval,) = share_intervals(
        np.array([share]), np.array([match.unclipped]), np.array([wide]), rows=data.effective, level=data.level
    )
    estimate = Estimate(share, interval.low, interval.high, data.level, f"{DELTA_METHOD}, with validation")
    samples = (data.validation, match.influence, match.spread)
    return combine_with_labels(data, Prevalence(estimate, match.method, match.unclipped, *samples, notes=match.notes))


DEFAULT_BANDWIDTH = 0.1
_CELLS_PER_BANDWIDTH = 20
_MIN_CELLS = 1000
_REACH = 6.0
"""Bandwidths beyond the ends of the scores within which kernels are not negligible."""
_NEGLIGIBLE = 1e-12
"""Density, as a share of the greatest, below which a divergence counts nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelData:
    """Both samples on a fine grid of scores, with kernel densities of bandwidth h.

    A score is divided between its two neighbors on the grid, so that sums of kernels are right to about a millionth.
    Distances are those between vectors (p, 1 − p), as for several classes: a difference of scores counts √2-fold.
    """

    grid: Floats
    width: float
    """Standard deviation of the kernel on the scale of the scores."""
    first: Floats
    second: Floats
    target: Floats
    """Shares of each sample at each place of the grid."""

    @staticmethod
    def of(data: BinaryData, method: str, bandwidth: float) -> KernelData:
        """Put the samples on a grid; raise unless scores are probabilities."""
        data.check_probabilities(method)
        check_domain("bandwidth", bandwidth, POSTERIOR_BANDWIDTH)
        width = float(bandwidth) / sqrt(2)
        grid = np.linspace(0, 1, max(_MIN_CELLS, ceil(_CELLS_PER_BANDWIDTH / width)) + 1)
        tally = data.validation
        samples = ((tally.score, tally.positive), (tally.score, tally.negative), (data.score, data.target.mass))
        return KernelData(grid, width, *(_divide_between_cells(score, mass, len(grid)) for score, mass in samples))

    def kernel(self, places: Floats, *, times: float = 1.0) -> Floats:
        """Return the kernel between places and the grid; `times` multiplies the variance."""
        width = self.width * sqrt(times)
        matrix: Floats = np.exp(-(((places[:, None] - self.grid) / width) ** 2) / 2) / (width * sqrt(2 * np.pi))
        return matrix

    def at_scores(self, values: Floats, score: Reals) -> Floats:
        """Interpolate values on the grid at scores."""
        return np.interp(np.asarray(score, dtype=np.float64), self.grid, values)

    def finish(
        self, data: BinaryData, method: str, match: Match, by_cell: Sequence[Floats], *, notes: tuple[str, ...] = ()
    ) -> Prevalence:
        """Return the estimate with its interval; `by_cell` are derivatives by each sample, places of the grid."""
        tally = data.validation
        first, second = (self.at_scores(each, tally.score) for each in by_cell[:2])
        influence = np.stack([first / tally.positives, second / tally.negatives])
        spread = data.mean(self.at_scores(by_cell[2], data.score))[1]
        return finish_match(data, MatchedShare(method, match.share, match.unclipped, influence, spread, notes))


def _divide_between_cells(score: Reals, mass: Cells | None, size: int) -> Floats:
    """Return shares of a sample at the places of a grid, each score divided between both neighbors."""
    place = np.asarray(score, dtype=np.float64) * (size - 1)
    below = np.minimum(place.astype(np.intp), size - 2)
    part = place - below
    weights = np.ones(len(place)) if mass is None else np.asarray(mass, dtype=np.float64)
    sums = np.bincount(below, weights=weights * (1 - part), minlength=size)
    sums += np.bincount(below + 1, weights=weights * part, minlength=size)
    shares: Floats = sums / weights.sum()
    return shares


SMOOTHING_NOTE = (
    "kdey-ml compares smoothed classes with the unsmoothed target, which biases it at any number of rows; kdey-hd and "
    "kdey-cs smooth both."
)


def kdey_ml(data: BinaryData, *, bandwidth: float = DEFAULT_BANDWIDTH) -> Prevalence:
    r"""Maximize :math:`\sum_j\ln(qf_1(x_j)+(1-q)f_0(x_j))` over the target, with kernel densities f [@moreo2025].

    The densities are smoothed, the rows of the target are not. The estimate therefore has a bias that no number of rows
    removes; it grows with the bandwidth, and is largest for rare classes. Its interval does not include the bias.
    """
    kernels = KernelData.of(data, "kdey-ml", bandwidth)
    matrix = kernels.kernel(kernels.grid)
    first, second = matrix @ kernels.first, matrix @ kernels.second
    match = match_distributions(first, second, kernels.target, _KULLBACK_LEIBLER)
    by_class = [matrix.T @ by - by @ each for by, each in ((match.by_first, first), (match.by_second, second))]
    return kernels.finish(data, "kdey-ml", match, (*by_class, match.by_target), notes=(SMOOTHING_NOTE,))


def kdey_hd(data: BinaryData, *, bandwidth: float = DEFAULT_BANDWIDTH) -> Prevalence:
    r"""Minimize the Hellinger distance of kernel densities, :math:`\int(\sqrt{qf_1+(1-q)f_0}-\sqrt t)^2` [@moreo2025].

    The integral is a sum over a grid that is fine beside the bandwidth, and extends beyond [0, 1]; peers draw random
    points. Both samples are smoothed equally, so that the estimate is consistent at any bandwidth.
    """
    kernels = KernelData.of(data, "kdey-hd", bandwidth)
    reach = _REACH * kernels.width
    places, step = np.linspace(
        -reach, 1 + reach, ceil((1 + 2 * reach) / kernels.width * _CELLS_PER_BANDWIDTH) + 1, retstep=True
    )
    matrix = kernels.kernel(places) * float(step)
    densities = [matrix @ each for each in (kernels.first, kernels.second, kernels.target)]
    # Where all three are negligible, their ratios are rounding.
    usable = np.max(densities, axis=0) > _NEGLIGIBLE * max(each.max() for each in densities)
    matrix = matrix[usable]
    first, second, target = densities = [each[usable] + _LEAST for each in densities]
    match = match_distributions(first, second, target, _HELLINGER)
    changes = (match.by_first, match.by_second, match.by_target)
    by_cell = [matrix.T @ by - by @ density for by, density in zip(changes, densities, strict=True)]
    return kernels.finish(data, "kdey-hd", match, by_cell)


def kdey_cs(data: BinaryData, *, bandwidth: float = DEFAULT_BANDWIDTH) -> Prevalence:
    r"""Minimize the Cauchy–Schwarz divergence of kernel densities, in closed form [@moreo2025].

    With :math:`a_k=\int f_kt` and :math:`B_{kl}=\int f_kf_l` it is :math:`-\ln a^⊤q+\frac12\ln q^⊤Bq`, and the shares
    are :math:`B^{-1}a`, divided by their sum. Both samples are smoothed equally, so that the estimate is consistent at
    any bandwidth.
    """
    kernels = KernelData.of(data, "kdey-cs", bandwidth)
    # A product of two kernels integrates to one of twice the variance.
    matrix = kernels.kernel(kernels.grid, times=2.0)
    shares = np.stack([kernels.first, kernels.second])
    smooth = shares @ matrix
    target = matrix @ kernels.target
    a, b = shares @ target, smooth @ shares.T
    if not np.linalg.det(b) > _NEGLIGIBLE * b[0, 0] * b[1, 1]:
        raise FitError(
            "the kernel densities of the two classes are the same, so no prevalence can be estimated",
            remedy="give scores that separate the classes, or a smaller bandwidth.",
        )
    u = np.linalg.solve(b, a)
    free = float(u[0] / u.sum())
    # On the cone of shares of 0 or more the divergence is least in the direction of least squares.
    share = min(max(free, 0.0), 1.0)
    q = u / u.sum()
    # Derivative of the first share by a.
    lead = np.linalg.solve(b, np.array([1 - q[0], -q[0]])) / u.sum()
    pulled = smooth.T @ lead
    mixed = smooth.T @ u
    by_class = []
    for k in (0, 1):
        # One more row of class k changes a_k, and the row and the column k of B.
        own = lead[k] * (target - mixed) - u[k] * pulled
        by_class.append(own - float(own @ shares[k]))
    match = Match(share, free, by_class[0], by_class[1], lead @ smooth)
    return kernels.finish(data, "kdey-cs", match, (*by_class, match.by_target))
