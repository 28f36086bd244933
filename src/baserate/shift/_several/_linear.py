"""What is decided, or the mean probability, of each class in validation; and which shares explain the target's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._calibrator import MulticlassCalibrator
from baserate._domains import LEVEL, check_domain
from baserate._errors import FitError, OptionError
from baserate._numeric.codes import Codes
from baserate._numeric.simplex import contrasts, likeliest, nearest, regularised
from baserate._rows import MulticlassRows
from baserate._target import MulticlassTarget
from baserate.calibrate.multiclass import listed
from baserate.infer import two_sided
from baserate.shift._several._pair import Pair, Side
from baserate.shift._several._result import HOW, Shares, estimated

_ALIKE = 1e-9
"""Distance of mean scores that is rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """Means of each class in validation and of the target, :math:`Cq=o`, and how they vary."""

    c: Floats
    """A column for each class."""
    spread: Floats
    """Covariance of each of those columns, of shape (K, K, K)."""
    o: Floats
    o_spread: Floats
    old: Floats
    """What is averaged, of each validation row that counts."""

    def moved(self, pair: Pair) -> Floats:
        """What each of these rows does to the shares that explain the target."""
        free = np.linalg.solve(self.c, self.o)
        apart = (self.c.T[pair.truth] - self.old) * (free / (pair.shares * pair.validation.total))[pair.truth, None]
        return np.asarray(np.linalg.solve(self.c, apart.T).T)

    def solved(self) -> tuple[Floats, Floats]:
        r"""Shares that explain the target, wherever they lie, and their covariance.

        :math:`q=C^{-1}o`, :math:`\mathrm{Cov}=C^{-1}[S_o/n+\sum_kq_k^2S_k/n_k]C^{-⊤}`: validation is a sample, too.
        """
        q = np.linalg.solve(self.c, self.o)
        half = np.linalg.solve(self.c, self.o_spread + np.tensordot(q * q, self.spread, axes=1))
        return q / q.sum(), np.linalg.solve(self.c, half.T)


def means(truth: Codes, side: Side, z: Floats, *, classes: int | None = None) -> tuple[Floats, Floats]:
    """Mean of z in each class, as columns, and the covariance of each; there are as many classes as z has columns."""
    width, many = z.shape[1], z.shape[1] if classes is None else classes
    c, spread = np.empty((width, many)), np.empty((many, width, width))
    for k in range(many):
        there = np.flatnonzero(truth == k)
        part = side.part(there)
        c[:, k], varied = part.mean(z[there])
        spread[k] = varied * part.unbiased
    return c, spread


def check_told_apart(c: Floats, spread: Floats, labels: tuple[object, ...], *, level: float) -> None:
    r"""Refuse scores that do not tell some classes apart: their shares could be anything.

    Let u and v be the directions of the smallest singular value σ of C among differences of classes. If C has not full
    rank, :math:`σ^2/u^⊤(\sum_kv_k^2S_k/n_k)u` is about χ² with one degree of freedom [@kleibergen2006]; a rank that is
    not significant at the confidence level is refused. Of two classes it is :math:`(m_1-m_0)^2/(s_1^2/n_1+s_0^2/n_0)`,
    and Fieller's interval of the share is then the whole line.
    """
    check_domain("level", level, LEVEL)
    z = contrasts(len(c))
    left, size, right = np.linalg.svd(z.T @ c @ z)
    u, v = z @ left[:, -1], z @ right[-1]
    noise = float(u @ np.tensordot(v * v, spread, axes=1) @ u)
    if size[-1] > _ALIKE and size[-1] ** 2 > two_sided(level) ** 2 * noise:
        return
    # The classes that weigh most in the difference that nothing shows.
    names = [str(labels[at]) for at in np.argsort(-np.abs(v), kind="stable") if abs(v[at]) > np.abs(v).max() / 3]
    raise FitError(
        f"the scores carry no information about the shares of {listed(names)}: in validation those classes look alike "
        f"(a difference of {size[-1]:.3g} with a standard error of {sqrt(max(noise, 0.0)):.3g}), so that any shares "
        "would explain the target; give more rows of validation, merge those classes, or use a better classifier."
    )


def _hard(pair: Pair) -> tuple[Floats, Floats]:
    """Decisions of target and validation, as rows with a single 1."""
    one = np.eye(len(pair.labels))
    return one[pair.target.as_rows().decision()], one[pair.validation.as_rows().decision()]


def soft(pair: Pair) -> tuple[Floats, Floats]:
    """Probabilities of target and validation, made to add up to 1."""
    pair.check_probabilities()
    return normalized(pair.target), normalized(pair.validation)


def normalized(side: Side) -> Floats:
    """Probabilities, made to add up to 1; the sum by a product, which is faster for a few columns."""
    p = np.asarray(side.score, dtype=np.float64)
    found: Floats = p / (p @ np.ones(p.shape[1]))[:, None]
    return found


Features = Callable[[Pair], tuple[Floats, Floats]]


def fitted(pair: Pair, features: Features, *, level: float) -> Linear:
    """Means of both sides; refuse classes that are not told apart."""
    new, old = features(pair)
    c, spread = means(pair.truth, pair.validation, old)
    check_told_apart(c, spread, pair.labels, level=level)
    o, varied = pair.target.mean(new)
    return Linear(c, spread, o, varied * pair.target.unbiased, old)


class Free(NamedTuple):
    """Shares wherever they lie, their covariance, and what each validation row that counts does to them."""

    shares: Floats
    covariance: Floats
    moved: Floats

    @staticmethod
    def of(pair: Pair, fit: Linear) -> Free:
        """Solve for the shares, with what labelled rows of the target say."""
        return with_seen(pair, Free(*fit.solved(), fit.moved(pair)))


def with_seen(pair: Pair, free: Free) -> Free:
    """Shares and their covariance with the labelled rows of the target, both weighed by how sure they are.

    The variance of the labelled shares takes half a row more of each class, so that none is sure of a 0.
    """
    if not pair.seen.any():
        return free
    q, covariance, moved = free
    share, weight = pair.seen / pair.seen.sum(), lean(pair, covariance)
    return Free(share + weight @ (q - share), weight @ covariance, moved @ weight.T)


def lean(pair: Pair, covariance: Floats) -> Floats:
    """Weight of shares with this covariance beside those of labelled rows, a matrix; all of it where there are none."""
    z = contrasts(len(covariance))
    if not pair.seen.any():
        return np.asarray(z @ z.T)
    share = pair.seen / pair.seen.sum()
    smooth = (share * pair.labelled + 0.5) / (pair.labelled + len(share) / 2)
    own = z.T @ ((np.diag(smooth) - np.outer(smooth, smooth)) / pair.labelled) @ z
    return np.asarray(z @ np.linalg.solve(own + z.T @ covariance @ z, own).T @ z.T)


class Extra(NamedTuple):
    """What only some methods say of their shares."""

    wide: Floats | float = 1.0
    """How many times as wide as with normal quantiles intervals are."""
    map: MulticlassCalibrator | None = None
    notes: tuple[str, ...] = ()
    how: str = HOW


def shares_of(
    pair: Pair,
    method: str,
    value: Floats,
    free: Free,
    *,
    level: float,
    extra: Extra = Extra(),  # noqa: B008  (a tuple)
) -> Shares:
    """Give shares their intervals and notes."""
    unclipped, covariance, moved = free
    rows = pair.target.effective + pair.labelled
    notes = [*pair.notes, *extra.notes]
    outside = [f"{label} {q:.4g}" for label, q in zip(pair.labels, unclipped, strict=True) if not 0 <= q <= 1]
    if outside:
        notes.append(
            f"unclipped, the shares are outside [0, 1] ({listed(outside)}); what is given is {_INSIDE[method]}."
        )
    return Shares(
        pair.labels,
        tuple(estimated(value, unclipped, np.diag(covariance) * extra.wide**2, rows=rows, level=level, how=extra.how)),
        method=method,
        unclipped=unclipped,
        covariance=covariance,
        at=pair.shares,
        rows=pair.target.rows,
        labelled=pair.known,
        map=extra.map,
        notes=tuple(notes),
        validation=pair.rows,
        moved=pair.of_all(moved),
    )


_LEAST = "the point of the simplex with the least squared distance |Cq − o|"
_INSIDE = {
    "acc": _LEAST,
    "pacc": _LEAST,
    "gmm": "the point of the simplex with the least weighted squared distance of o from Cq",
    "cm-l": "the likeliest point of the simplex",
    "scm-l": "the likeliest point of the simplex",
    "cm-map": "the most probable point of the simplex",
    "scm-map": "the most probable point of the simplex",
    "rlls": "π·w of the regularised weights w ≥ 0, divided by its sum",
    "rlls-hard": "π·w of the regularised weights w ≥ 0, divided by its sum",
}


def _inverse(pair: Pair, method: str, features: Features, *, level: float) -> Shares:
    """C⁻¹o where that is on the simplex, and otherwise the point there with the least squared distance."""
    fit = fitted(pair, features, level=level)
    free = Free.of(pair, fit)
    value = free.shares if free.shares.min() >= 0 else nearest(fit.c, fit.c @ free.shares)
    return shares_of(pair, method, value, free, level=level)


def acc(target: MulticlassTarget, validation: MulticlassRows, *, level: float = 0.95) -> Shares:
    r"""Shares with which the classes would be decided as often as they are, :math:`q=C^{-1}o`.

    The decision is the class with the highest score; :math:`C_{kj}` is how often class j is decided as k in validation,
    and o how often the target is. Where q leaves the simplex, it is the point there with the least ‖Cq−o‖. Labelled
    rows of the target are joined by precision. Scores need not be probabilities.

    Also: adjusted classify and count, confusion matrix, CM, BBSE-hard, GACC.
    Reference: [@lipton2018].

    >>> from baserate import scored
    >>> validation = scored(list("aaabbb"), [[0.9, 0.1]] * 2 + [[0.4, 0.6]] * 4, count=[70, 5, 25, 20, 40, 40])
    >>> score = np.array([[0.9, 0.1], [0.4, 0.6]])
    >>> acc(MulticlassTarget(score, ("a", "b"), count=np.array([250, 750])), validation).value.round(4).tolist()
    [0.3333, 0.6667]
    """
    return _inverse(Pair.of(target, validation), "acc", _hard, level=level)


def pacc(target: MulticlassTarget, validation: MulticlassRows, *, level: float = 0.95) -> Shares:
    r"""Shares with which mean probabilities would be what they are, :math:`q=C^{-1}o`.

    As `acc`, with probabilities in place of decisions: :math:`C_{kj}` is the mean probability of k where j is true. The
    probabilities need not be right.

    Also: probabilistic adjusted classify and count, soft confusion matrix, SCM, BBSE-soft, GPACC; of two classes, SMM.
    Reference: [@bella2010].

    >>> from baserate import scored
    >>> score = [[0.9, 0.1], [0.4, 0.6]]
    >>> validation = scored(list("aabb"), score * 2, count=[75, 25, 20, 80])
    >>> found = pacc(MulticlassTarget(np.array(score), ("a", "b"), count=np.array([250, 750])), validation)
    >>> found.value.round(4).tolist(), found.at.tolist()
    ([0.0909, 0.9091], [0.5, 0.5])
    """
    return _inverse(Pair.of(target, validation), "pacc", soft, level=level)


def _likely(pair: Pair, method: str, features: Features, *, level: float, alpha: float = 1.0) -> Shares:
    """The likeliest point of the simplex, or the most probable after Dirichlet's prior."""
    fit = fitted(pair, features, level=level)
    # As o is, a share of the rows that have no truth: Dirichlet's α−1 rows of each class, and those that have one.
    prior = (alpha - 1) / pair.target.effective + pair.seen / pair.target.total
    value = likeliest(fit.c, fit.o, prior=prior).q
    return shares_of(pair, method, value, Free.of(pair, fit), level=level)


def cm_l(target: MulticlassTarget, validation: MulticlassRows, *, level: float = 0.95) -> Shares:
    r"""The likeliest shares for what was decided, :math:`\max\sum_ko_k\ln(Cq)_k`.

    The same as `acc` inside the simplex, where both are C⁻¹o. Labelled rows of the target add their likelihood.

    Also: CM-L. Reference: [@sipka2022].

    >>> from baserate import scored
    >>> score = [[0.9, 0.1], [0.4, 0.6]]
    >>> validation = scored(list("aabb"), score * 2, count=[75, 25, 20, 80])
    >>> found = cm_l(MulticlassTarget(np.array(score), ("a", "b"), count=np.array([190, 810])), validation)
    >>> found.value.tolist(), found.unclipped.round(4).tolist()
    ([0.0, 1.0], [-0.0182, 1.0182])
    """
    return _likely(Pair.of(target, validation), "cm-l", _hard, level=level)


def scm_l(target: MulticlassTarget, validation: MulticlassRows, *, level: float = 0.95) -> Shares:
    """As `cm_l` with mean probabilities, for which it is a likelihood in form only [@sipka2022]."""
    return _likely(Pair.of(target, validation), "scm-l", soft, level=level)


def cm_map(target: MulticlassTarget, validation: MulticlassRows, *, level: float = 0.95, alpha: float = 3.0) -> Shares:
    r"""The most probable shares for what was decided, :math:`\max\sum_ko_k\ln(Cq)_k+\frac{α-1}n\sum_k\ln q_k`.

    Before, shares have Dirichlet's distribution with α for every class; n is how many rows the target has. With many
    classes and few rows the prior draws them together. The interval is that of `acc`, made to hold the estimate.

    Also: CM-M, maximum a posteriori. Reference: [@sipka2022].
    """
    return _likely(Pair.of(target, validation), "cm-map", _hard, level=level, alpha=_checked_alpha(alpha))


def scm_map(target: MulticlassTarget, validation: MulticlassRows, *, level: float = 0.95, alpha: float = 3.0) -> Shares:
    """As `cm_map` with mean probabilities [@sipka2022]."""
    return _likely(Pair.of(target, validation), "scm-map", soft, level=level, alpha=_checked_alpha(alpha))


def _checked_alpha(alpha: float) -> float:
    if not 1 <= alpha < np.inf:
        raise OptionError(f"alpha is {alpha}; below 1 the density of Dirichlet's prior has no maximum: give 1 or more.")
    return alpha


@dataclass(frozen=True, slots=True)
class Penalty:
    """How heavily RLLS punishes weights other than 1."""

    alpha: float
    delta: float

    def __post_init__(self) -> None:
        if not (self.alpha >= 0 and 0 < self.delta < 1):
            raise OptionError(f"alpha is {self.alpha} and delta {self.delta}; give alpha ≥ 0 and 0 < delta < 1.")

    def of(self, classes: int, rows: float) -> float:
        r""":math:`α·3\left(\frac{2\ln(2K/δ)}{3n}+\sqrt{\frac{2\ln(2K/δ)}n}\right)`."""
        part = 2 * log(2 * classes / self.delta) / rows
        return self.alpha * 3 * (part / 3 + sqrt(part))


def _regular(pair: Pair, method: str, features: Features, *, level: float, penalty: Penalty) -> Shares:
    """Shares of validation times regularised weights, divided by their sum."""
    fit, shares = fitted(pair, features, level=level), pair.shares
    free = Free.of(pair, fit)
    size = penalty.of(len(shares), pair.validation.effective)
    weight = 1 + regularised(fit.c * shares, fit.c @ free.shares, fit.c @ shares, penalty=size)
    value = shares * np.maximum(weight, 0.0)
    return shares_of(pair, method, value / value.sum(), free, level=level)


def rlls(
    target: MulticlassTarget,
    validation: MulticlassRows,
    *,
    level: float = 0.95,
    alpha: float = 0.01,
    delta: float = 0.05,
) -> Shares:
    r"""Shares π·w with weights near 1, :math:`w=1+\arg\min_{θ≥-1}‖Jθ-(o-o_{val})‖+αρ‖θ‖`.

    J = C·diag(π) holds mean probabilities by true class, ρ grows as validation has fewer rows; δ is how often its bound
    may fail. π·w does not add up to 1 of itself and is divided by its sum. With a small penalty the answer is often
    exactly that of `pacc`: neither length is squared. The interval is that of `pacc`, made to hold the estimate.

    Also: regularised learning under label shift. Reference: [@azizzadenesheli2019].

    >>> from baserate import scored
    >>> score = [[0.9, 0.1], [0.4, 0.6]]
    >>> validation = scored(list("aabb"), score * 2, count=[75, 25, 20, 80])
    >>> new = MulticlassTarget(np.array(score), ("a", "b"), count=np.array([250, 750]))
    >>> rlls(new, validation).value.round(4).tolist(), rlls(new, validation, alpha=10.0).value.round(4).tolist()
    ([0.0909, 0.9091], [0.5, 0.5])
    """
    return _regular(Pair.of(target, validation), "rlls", soft, level=level, penalty=Penalty(alpha, delta))


def rlls_hard(
    target: MulticlassTarget,
    validation: MulticlassRows,
    *,
    level: float = 0.95,
    alpha: float = 0.01,
    delta: float = 0.05,
) -> Shares:
    """As `rlls` with decisions in place of probabilities [@azizzadenesheli2019]."""
    return _regular(Pair.of(target, validation), "rlls-hard", _hard, level=level, penalty=Penalty(alpha, delta))
