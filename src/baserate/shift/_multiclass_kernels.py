"""Shares of several classes by matching kernel densities of the probabilities on the simplex (`kdey-…`) [@moreo2025].

Each class of validation has a Gaussian kernel density, and the mixture of these with the shares q is compared with the
target. Constants of the kernels cancel. Covariances come from the influence of each row of both samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from baserate._arrays import Floats, block_slices
from baserate._domains import POSTERIOR_BANDWIDTH, SAMPLES, check_domain
from baserate._errors import FitError
from baserate._numeric.simplex import (
    contrasts,
    fit_hellinger,
    fit_mixture,
    fit_nonnegative,
    project_to_simplex,
    shares_covariance,
)
from baserate._rows import MulticlassRows, MulticlassTarget
from baserate.infer import Seed, make_generator
from baserate.shift._data import MulticlassData, MulticlassPrevalence, Sample
from baserate.shift._distribution_matching import DEFAULT_BANDWIDTH, SMOOTHING_NOTE
from baserate.shift._moment_matching import (
    Details,
    UnclippedShares,
    build_shares,
    check_rank,
    class_probabilities,
    combine_with_labelled,
    multiclass_means,
)

_BLOCK = 1 << 21
"""Kernels in memory at a time."""
_FLOOR = 1e-100
"""Density where all kernels underflow: such a row has no information on the shares."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelMixture:
    """Probabilities of both samples, with kernels of one bandwidth."""

    data: MulticlassData
    target: Floats
    validation: Floats
    bandwidth: float

    @staticmethod
    def of(target: MulticlassTarget, validation: MulticlassRows, bandwidth: float, level: float) -> KernelMixture:
        """Normalize probabilities; raise unless their means separate the classes."""
        check_domain("bandwidth", bandwidth, POSTERIOR_BANDWIDTH)
        data = MulticlassData.of(target, validation)
        new, old = class_probabilities(data)
        check_rank(*multiclass_means(data.truth, data.validation, old), data.labels, level=level)
        return KernelMixture(data, new, old, float(bandwidth))

    @property
    def membership(self) -> Floats:
        """Share of each validation row in its class, one column for each class."""
        rows = np.zeros((len(self.validation), len(self.data.labels)))
        rows[np.arange(len(rows)), self.data.truth] = _amounts(self.data.validation)
        shares: Floats = rows / rows.sum(axis=0)
        return shares

    @property
    def target_share(self) -> Floats:
        """Share of each row of the target."""
        amount = _amounts(self.data.target)
        share: Floats = amount / amount.sum()
        return share

    def sums(self, places: Floats, centers: Floats, weights: Floats, *, times: float = 1.0) -> Floats:
        """Sum kernels at places over centers with weights; `times` multiplies the variance."""
        scale = -0.5 / (times * self.bandwidth**2)
        squares = np.square(centers).sum(axis=1)
        sums = np.empty((len(places), *weights.shape[1:]))
        for block in block_slices(len(places), max(_BLOCK // len(centers), 1)):
            distances = np.square(places[block]).sum(axis=1)[:, None] + squares - 2 * places[block] @ centers.T
            sums[block] = np.exp(scale * np.maximum(distances, 0.0)) @ weights
        return sums

    def densities(self, places: Floats, *, times: float = 1.0) -> Floats:
        """Return the density of each class at places."""
        return self.sums(places, self.validation, self.membership, times=times) + _FLOOR

    def class_influence(self, places: Floats, densities: Floats, changes: Floats) -> Floats:
        """Return the influence of a unit of mass of each validation row, by the changes with each class's density.

        `changes` has, for each place and class, the change of K numbers with the density of that class.
        """
        mass = self.data.shares * self.data.validation.total
        influence = np.empty((len(self.validation), changes.shape[2]))
        for k in range(changes.shape[1]):
            rows = self.data.truth == k
            mean = densities[:, k] @ changes[:, k]
            influence[rows] = (self.sums(self.validation[rows], places, changes[:, k]) - mean) / mass[k]
        return influence

    def finish(self, method: str, shares: Shares, *, level: float, notes: tuple[str, ...] = ()) -> MulticlassPrevalence:
        """Return the result with its intervals, combined with labelled rows."""
        data = self.data
        covariance = data.validation.covariance_of(shares.by_validation) + data.target.covariance_of(shares.by_target)
        free = combine_with_labelled(data, UnclippedShares(shares.unclipped, covariance, shares.by_validation))
        if not data.labelled_mass.any():
            value = shares.value
        else:
            value = free.shares if free.shares.min() >= 0 else project_to_simplex(free.shares)
        return build_shares(data, method, value, free, level=level, extra=Details(notes=notes))


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Estimated shares, and the influence of a unit of mass of each row of both samples."""

    value: Floats
    unclipped: Floats
    by_validation: Floats
    by_target: Floats


def _amounts(side: Sample) -> Floats:
    return np.ones(len(side.score)) if side.amount is None else np.asarray(side.amount, dtype=np.float64)


def multiclass_kdey_ml(
    target: MulticlassTarget, validation: MulticlassRows, *, level: float = 0.95, bandwidth: float = DEFAULT_BANDWIDTH
) -> MulticlassPrevalence:
    r"""Maximize :math:`\sum_j\ln\sum_kq_kf_k(x_j)` over the target, with kernel densities f of the classes.

    The densities are smoothed, the rows of the target are not. The estimate therefore has a bias that no number of rows
    removes; it grows with the bandwidth. Its interval does not include the bias.
    """
    mixture = KernelMixture.of(target, validation, bandwidth, level)
    side = mixture.data.target
    densities = mixture.densities(mixture.target)
    fit = fit_mixture(densities, amount=side.amount)
    if not fit.converged:
        raise FitError("the likelihood of the shares has no single maximum", remedy="estimate by pacc.")
    inverse = shares_covariance(fit.information)
    ratios = densities / (densities @ fit.q)[:, None]
    # Each row of the target by class: how the slope of the likelihood changes with the density of the class there.
    own = np.eye(len(fit.q)) - fit.q[:, None] * ratios[:, None, :]
    changes = own * (_amounts(side) / (densities @ fit.q))[:, None, None] @ inverse
    shares = Shares(
        fit.q,
        np.where(fit.q > 0, fit.q, fit.q + inverse @ fit.slope),
        mixture.class_influence(mixture.target, densities, changes),
        (ratios - 1) @ inverse,
    )
    return mixture.finish("kdey-ml", shares, level=level, notes=(SMOOTHING_NOTE,))


def multiclass_kdey_hd(
    target: MulticlassTarget,
    validation: MulticlassRows,
    *,
    level: float = 0.95,
    bandwidth: float = DEFAULT_BANDWIDTH,
    points: int = 10_000,
    seed: Seed = 0,
) -> MulticlassPrevalence:
    r"""Minimize the Hellinger distance of kernel densities, :math:`\int(\sqrt{\sum_kq_kf_k}-\sqrt t)^2`.

    The integral is a mean over random points from the densities of the classes, as many from each. Both samples are
    smoothed equally, so that the estimate is consistent at any bandwidth.
    """
    check_domain("points", points, SAMPLES)
    mixture = KernelMixture.of(target, validation, bandwidth, level)
    places = _draw_points(mixture, points, make_generator(seed))
    densities = mixture.densities(places)
    of_target = mixture.sums(places, mixture.target, mixture.target_share[:, None])[:, 0] + _FLOOR
    # Points are drawn where the mean density of the classes is high, and count inversely to it.
    weight = 1 / densities.mean(axis=1) / len(places)
    amounts, curvature, slope = fit_hellinger(densities, of_target, weight)
    total = float(amounts.sum())
    q = amounts / total
    mixed = np.maximum(densities @ amounts, _FLOOR)
    root = np.sqrt(of_target / mixed)
    # Amounts near 0 have a large curvature, beside which the others must not vanish.
    unit = 1 / np.sqrt(np.diag(curvature))
    inverse_curvature = unit[:, None] * np.linalg.pinv(curvature * np.outer(unit, unit), hermitian=True) * unit
    # Normalized amounts do not change along themselves.
    inverse = (np.eye(len(q)) - q[:, None]) @ inverse_curvature / total
    own = root[:, None, None] * np.eye(len(q)) - (root / mixed / 2)[:, None, None] * (
        amounts[:, None] * densities[:, None, :]
    )
    changes = (own * weight[:, None, None]) @ inverse.T
    by_target = (densities * (weight / np.sqrt(of_target * mixed) / 2)[:, None]) @ inverse.T
    influence = mixture.sums(mixture.target, places, by_target) - of_target @ by_target
    shares = Shares(
        q,
        np.where(q > 0, q, q + inverse @ slope),
        mixture.class_influence(places, densities, changes),
        influence / mixture.data.target.total,
    )
    return mixture.finish("kdey-hd", shares, level=level)


def _draw_points(mixture: KernelMixture, points: int, rng: np.random.Generator) -> Floats:
    """Draw points from the kernel densities, as many from each class; noise keeps the sum of probabilities."""
    width = mixture.validation.shape[1]
    each = -(-points // width)
    chosen = np.concatenate([rng.choice(len(mixture.validation), each, p=share) for share in mixture.membership.T])
    noise = rng.standard_normal((len(chosen), width - 1)) @ contrasts(width).T
    return np.asarray(mixture.validation[chosen] + mixture.bandwidth * noise)


def multiclass_kdey_cs(
    target: MulticlassTarget, validation: MulticlassRows, *, level: float = 0.95, bandwidth: float = DEFAULT_BANDWIDTH
) -> MulticlassPrevalence:
    r"""Minimize the Cauchy–Schwarz divergence of kernel densities, exactly.

    With :math:`a_k=\int f_kt` and :math:`B_{kl}=\int f_kf_l`, the divergence is :math:`-\ln a^⊤q+\frac12\ln q^⊤Bq`.
    Inside the simplex the shares are :math:`B^{-1}a`, divided by their sum. Both samples are smoothed equally, so that
    the estimate is consistent at any bandwidth.
    """
    mixture = KernelMixture.of(target, validation, bandwidth, level)
    membership = mixture.membership
    # A product of two kernels integrates to one of twice the variance.
    old = mixture.densities(mixture.validation, times=2.0)
    new = mixture.densities(mixture.target, times=2.0)
    of_target = mixture.sums(mixture.validation, mixture.target, mixture.target_share[:, None], times=2.0)[:, 0]
    a, b = mixture.target_share @ new, membership.T @ old
    b = (b + b.T) / 2
    u, y = np.linalg.solve(b, a), fit_nonnegative(b, a)
    q = u / u.sum()
    inverse = (np.eye(len(q)) - q[:, None]) @ np.linalg.inv(b) / u.sum()
    # One more row of class k changes a_k, and the row and the column k of B.
    by_class = inverse.T[mixture.data.truth] * (of_target - old @ u)[:, None]
    by_class -= u[mixture.data.truth][:, None] * (old @ inverse.T)
    means = membership.T @ by_class
    mass = mixture.data.shares * mixture.data.validation.total
    by_validation = (by_class - means[mixture.data.truth]) / mass[mixture.data.truth][:, None]
    by_target = (new - a) @ inverse.T / mixture.data.target.total
    return mixture.finish("kdey-cs", Shares(y / y.sum(), q, by_validation, by_target), level=level)
