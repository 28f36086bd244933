"""The expected table under label shift: rates of the classes in validation, and what the target's scores add."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from baserate._arrays import Floats
from baserate._numeric.codes import Codes
from baserate.shift._several._expected import Expected, products, tabulated
from baserate.shift._several._gmm import Gmm
from baserate.shift._several._linear import lean
from baserate.shift._several._pair import Pair, Side
from baserate.shift._several._result import Shares

_NEAREST = 1e-9
"""Shares below are taken as that: a class that is not there has no recall."""
_APART = 2.0
"""Ratio of the share of a class and the sum of its cells from which on its cells are rates alone."""


def under_label_shift(pair: Pair, found: Shares, fit: Gmm) -> Expected:
    r"""Expect of the class l the share :math:`q_l`, and decisions at the rates of its validation rows.

    Of the weight :math:`v_l=q_l^2a_lφ_ln/n_l` that validation has at a score (see `gmm`), the mean in the target less
    that in validation at the shares q estimates 0, and is added: :math:`T_{ld}=q_lR_{ld}+\bar v_{ld}-\sum_kq_k
    \bar v_{kld}`, scaled to add up to :math:`q_l`. Rates alone would be right, too, and less sharp: it is the augmented
    estimator of Robins, Rotnitzky and Zhao [@robins1994], right whether or not the calibration is. The variance is
    that of the influences of the rows of both sets.
    """
    parts = _Parts.of(pair, fit, found)
    total = pair.target.total
    absent = tuple(at for at, each in enumerate(found.estimates) if each.low == 0)
    return Expected(total * parts.cells, lambda slopes: parts.variances(total * slopes), found.notes, absent)


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """Means and products of features, by class and decision."""

    q: Floats
    rates: Floats
    gain: Floats
    weight: Floats
    """Mean weight of validation, of shape (K, K, K): by class of its rows, class, decision."""
    scale: Floats
    """Share of each class over the sum of its cells before they were scaled."""
    cells: Floats
    lead: Floats
    rest: Floats
    """Covariance of the shares that comes from rows of the target whose truth is known."""
    target: _Sums
    classes: tuple[_Sums, ...]

    @staticmethod
    def of(pair: Pair, fit: Gmm, found: Shares) -> _Parts:
        """Sum up rows."""
        width = len(pair.labels)
        q = np.maximum(found.value, _NEAREST)
        q /= q.sum()
        side, old = pair.validation, pair.validation.as_rows().decision()
        places = [np.flatnonzero(pair.truth == k) for k in range(width)]
        classes = tuple(_Sums.of(side.part(there), fit.features.old[there], old[there]) for there in places)
        target = _Sums.of(pair.target, fit.features.new, pair.target.as_rows().decision())
        rates = np.stack([each.share for each in classes])
        weight = np.stack([each.mean[:, :width].T for each in classes])
        cells, scale, gain = _cells(q, rates, (weight, target.mean[:, :width].T), fit.features.gain)
        take = lean(pair, fit.covariance)
        rest = found.covariance - take @ fit.covariance @ take.T
        return _Parts(q, rates, gain, weight * gain[:, None], scale, cells, take @ fit.lead, rest, target, classes)

    def variances(self, slopes: Floats) -> tuple[float, float]:
        """Variances of a number with these slopes in the cells, from the target and from validation."""
        rate = self.cells / self.q[:, None]
        level = (slopes * rate).sum(axis=1)
        inner = self.scale[:, None] * (slopes - level[:, None])
        by_share = level + (inner * self.rates).sum(axis=1) - np.einsum("kld,ld->k", self.weight, inner)
        eta = np.repeat((self.lead.T @ by_share)[:, None], len(self.q), axis=1)
        eta[: len(self.q)] += self.gain[:, None] * inner
        known = float(by_share @ self.rest @ by_share)
        parts = [each.variance(-eta, own) for each, own in zip(self.classes, inner, strict=True)]
        return self.target.variance(eta) + max(known, 0.0), float(self.q**2 @ parts)


def _cells(q: Floats, rates: Floats, means: tuple[Floats, Floats], gain: Floats) -> tuple[Floats, Floats, Floats]:
    """Cells that add up to the shares, by what they were scaled, and gains: 0 where cells had to be left alone."""
    weight, new = means
    raw = np.maximum(q[:, None] * rates + gain[:, None] * (new - np.tensordot(q, weight, axes=1)), 0.0)
    total = raw.sum(axis=1)
    sound = (total < _APART * q) & (q < _APART * total)
    raw = np.where(sound[:, None], raw, q[:, None] * rates)
    scale = q / np.where(sound, total, q)
    return raw * scale[:, None], scale, np.where(sound, gain, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """Sums of features, and of their products, by decision."""

    share: Floats
    """Of each decision."""
    mean: Floats
    """Of the features of those rows, times that share; a row for each decision."""
    squares: Floats
    """Sum of squared weights of each decision, over the squared total."""
    single: Floats
    double: Floats
    unbiased: float

    @staticmethod
    def of(side: Side, features: Floats, decided: Codes) -> _Sums:
        """Sum up some rows."""
        width, total = side.score.shape[1], side.total
        mass = np.ones(len(features)) if side.amount is None else side.amount
        squares = mass if side.squares is None else side.squares
        share = np.bincount(decided, weights=mass, minlength=width) / total
        return _Sums(
            share,
            tabulated(features, decided, mass, width).T / total,
            np.bincount(decided, weights=squares, minlength=width) / total**2,
            tabulated(features, decided, squares, width).T / total**2,
            products(features, decided, squares, width) / total**2,
            side.unbiased,
        )

    def variance(self, eta: Floats, own: Floats | float = 0.0) -> float:
        """Variance of the mean of features times the column of their decision, and what the decision has of its own."""
        width = len(self.share)
        own = np.broadcast_to(np.asarray(own, dtype=np.float64), width)
        middle = float(np.einsum("jd,dj->", eta, self.mean) + own @ self.share)
        apart = own - middle
        found = np.einsum("id,dij,jd->", eta, self.double, eta) + 2 * np.einsum("jd,dj,d->", eta, self.single, apart)
        return float(found + apart**2 @ self.squares) * self.unbiased
