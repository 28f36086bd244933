"""What the mean of something tells: the target's lies between those of the two classes, as far as its share is.

Names that others give these methods lead to the same numbers: with hard decisions ACC, CM and BBSE-hard, with
probabilities PACC, SCM, BBSE-soft and SMM [@forman2008] [@lipton2018] [@sipka2022].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf, log, sqrt
from typing import NamedTuple

import numpy as np

from baserate._arrays import Floats, Reals
from baserate._errors import FitError, OptionError
from baserate._estimate import Estimate
from baserate._numeric.mixture import likeliest
from baserate._numeric.simplex import regularised
from baserate.infer import as_share, two_sided, usual
from baserate.shift._two._given import Given, means
from baserate.shift._two._result import Prevalence

_FIELLER = "Fieller, with validation"
_COMBINED = "Wilson, with validation and labels"
_SURE = 0.05
"""δ of RLLS: how rarely its bound may fail."""


class Line(NamedTuple):
    """Means of something in the target and in both classes of validation, with the variances of these means."""

    target: float
    noise: float
    first: float
    first_noise: float
    second: float
    second_noise: float

    @property
    def gap(self) -> float:
        """How far the classes lie apart."""
        return self.first - self.second

    @property
    def share(self) -> float:
        """Where the target lies between the classes; outside [0, 1] if it does not."""
        return (self.target - self.second) / self.gap

    def fieller(self, reach: float) -> tuple[float, float]:
        """Shares that are not too far: :math:`(g-m_0-qd)^2≤z^2(v+q^2v_1+(1-q)^2v_0)` [@fieller1954]."""
        square = reach**2
        a = self.gap**2 - square * (self.first_noise + self.second_noise)
        if a <= 0:
            return -inf, inf
        above = self.target - self.second
        half = (self.gap * above - square * self.second_noise) / a
        rest = (above**2 - square * (self.noise + self.second_noise)) / a
        root = sqrt(max(half**2 - rest, 0.0))
        return half - root, half + root


def acc(given: Given, *, threshold: float | None = None) -> Prevalence:
    r"""Share at which as many are flagged as are, :math:`q=\frac{g-\mathrm{FPR}}{\mathrm{TPR}-\mathrm{FPR}}`.

    Of the target a share g is flagged: scores at or above the threshold, ½ unless another is named.
    """
    return _estimate(given, _flags(given, threshold), "acc")


def pacc(given: Given) -> Prevalence:
    r"""Share at which the mean score is what it is, :math:`q=\frac{\bar p-\bar p_0}{\bar p_1-\bar p_0}`.

    No calibration is needed, and scores need be no probabilities.
    """
    return _estimate(given, scores, "pacc")


def cm_l(given: Given, *, threshold: float | None = None) -> Prevalence:
    r"""Likeliest share, by how many are flagged; of two classes it is that of `acc`, moved to the nearest end."""
    return _estimate(given, _flags(given, threshold), "cm-l")


def scm_l(given: Given) -> Prevalence:
    r"""Likeliest share by the mean probability as if it were a count; of two classes, that of `pacc`."""
    given.probabilities("scm-l")
    return _estimate(given, scores, "scm-l")


def cm_map(given: Given, *, alpha: float = 3.0, threshold: float | None = None) -> Prevalence:
    r"""Likeliest share by how many are flagged and by a Dirichlet prior, :math:`\ln L+(α-1)\sum\ln q_k`."""
    return _penalised(given, _flags(given, threshold), "cm-map", alpha)


def scm_map(given: Given, *, alpha: float = 3.0) -> Prevalence:
    r"""Do the same by the mean probability."""
    given.probabilities("scm-map")
    return _penalised(given, scores, "scm-map", alpha)


def rlls(given: Given, *, alpha: float = 0.01) -> Prevalence:
    r"""Regularised weights of the classes by the mean probability [@azizzadenesheli2019].

    :math:`θ=\arg\min‖Jθ-(o-o_v)‖+αρ‖θ‖`, where J holds the joint means of validation and ρ shrinks with its rows; the
    weights 1 + θ times the shares of validation, made to add up to 1.
    """
    given.probabilities("rlls")
    return _regularised(given, scores, "rlls", alpha)


def rlls_hard(given: Given, *, alpha: float = 0.01, threshold: float | None = None) -> Prevalence:
    r"""Do the same by how many are flagged."""
    return _regularised(given, _flags(given, threshold), "rlls-hard", alpha)


Value = Callable[[Reals], Floats]
"""What is averaged, of scores."""


def _flags(given: Given, threshold: float | None) -> Value:
    if threshold is None:
        given.probabilities("a threshold of ½")
    cut = 0.5 if threshold is None else float(threshold)
    return lambda score: np.asarray(score >= cut, dtype=np.float64)


def scores(score: Reals) -> Floats:
    """Scores as they are."""
    return np.asarray(score, dtype=np.float64)


def line(given: Given, value: Value) -> Line:
    """Means of something in the target and in the classes."""
    first, second = means(given.validation, value(given.validation.score))
    return Line(*given.mean(value(given.score)), *first, *second)


def moved(given: Given, value: Value, found: Line, share: float) -> Floats:
    """How much one more row of each class at each validation score moves the share."""
    tally = given.validation
    z = value(tally.score)
    own = np.stack([share * (found.first - z) / tally.positives, (1 - share) * (found.second - z) / tally.negatives])
    return np.asarray(own / found.gap)


def _checked(given: Given, value: Value, level: float) -> Line:
    found = line(given, value)
    if found.gap**2 <= two_sided(level) ** 2 * (found.first_noise + found.second_noise):
        raise FitError(
            f"what is averaged does not tell the classes apart ({found.first:.4g} and {found.second:.4g} in the two "
            "classes of validation), so no prevalence can be ruled out (Fieller's set is unbounded); take another "
            "threshold or method."
        )
    return found


def _estimate(given: Given, value: Value, method: str) -> Prevalence:
    found = _checked(given, value, given.level)
    share = found.share
    influence, spread = moved(given, value, found, share), found.noise / found.gap**2
    _, reach = given.reach(influence, spread)
    low, high = found.fieller(reach)
    made = Prevalence(
        Estimate(min(max(share, 0.0), 1.0), *_inside(given, share, low, high), given.level, _FIELLER),
        method,
        share,
        given.validation,
        influence,
        spread,
        notes=_left(share, low, high),
    )
    return with_labels(given, made)


def _penalised(given: Given, value: Value, method: str, alpha: float) -> Prevalence:
    if not alpha >= 1:
        raise OptionError(f"alpha is {alpha}; a prior that pulls towards the middle has 1 or more.")
    found = _checked(given, value, given.level)
    prior = (alpha - 1) / given.effective

    def slope_at(q: float) -> tuple[float, float]:
        if q in (0.0, 1.0):
            return (inf if q == 0 else -inf) if prior else _bare(found, q), inf
        c = found.second + q * found.gap
        slope = found.gap * (found.target / c - (1 - found.target) / (1 - c)) + prior * (1 / q - 1 / (1 - q))
        curve = found.gap**2 * (found.target / c**2 + (1 - found.target) / (1 - c) ** 2)
        return slope, curve + prior * (1 / q**2 + 1 / (1 - q) ** 2)

    plain = _estimate(given, value, method)
    return _other_value(plain, likeliest(slope_at, plain.value))


def _bare(found: Line, q: float) -> float:
    c = found.second + q * found.gap
    return found.gap * (found.target - c)


def _regularised(given: Given, value: Value, method: str, alpha: float) -> Prevalence:
    if not alpha >= 0:
        raise OptionError(f"alpha is {alpha}; how much to regularise is 0 or more.")
    found, tally = _checked(given, value, given.level), given.validation
    shares = np.array([tally.prevalence, 1 - tally.prevalence])
    means_ = np.array([[found.first, found.second], [1 - found.first, 1 - found.second]])
    joint = means_ * shares
    seen = np.array([found.target, 1 - found.target])
    rows = sum(given.rows)
    bound = 2 * log(2 * 2 / _SURE) / rows
    theta = regularised(joint, seen, joint.sum(axis=1), penalty=alpha * 3 * (bound / 3 + sqrt(bound)))
    weights = shares * (1 + theta)
    return _other_value(_estimate(given, value, method), float(weights[0] / weights.sum()))


def _other_value(plain: Prevalence, value: float) -> Prevalence:
    """The same with another value, and an interval that reaches it."""
    found = plain.estimate
    other = replace(found, value=value, low=min(found.low, value), high=max(found.high, value))
    return replace(plain, estimate=other)


def _inside(given: Given, share: float, low: float, high: float) -> tuple[float, float]:
    """Bounds within [0, 1]; where none of them is, as much as so many rows of one class would leave open."""
    z = two_sided(given.level)
    least = z**2 / (given.effective + z**2)
    value = min(max(share, 0.0), 1.0)
    low, high = min(max(low, 0.0), value), max(min(high, 1.0), value)
    return (min(low, 1 - least), high) if value == 1 else (low, max(high, least) if value == 0 else high)


def _left(share: float, low: float, high: float) -> tuple[str, ...]:
    if 0 <= share <= 1:
        return ()
    told = f"the estimate was {share:.4g} before it was moved into [0, 1]"
    if high < 0 or low > 1:
        return (f"{told}, and so far outside that label shift is in doubt.",)
    return (f"{told}.",)


def with_labels(given: Given, found: Prevalence) -> Prevalence:
    """Combine an estimate with the share among labelled rows of the target, each as much as it is sure."""
    positives, negatives = given.known
    labelled = positives + negatives
    if not labelled:
        return found
    # Half a row of each class more, so that rows of one class alone are not taken to be certain.
    seen = (positives + 0.5) / (labelled + 1)
    noise = seen * (1 - seen) / labelled
    weight = noise / (noise + found.variance)
    share = weight * found.unclipped + (1 - weight) * positives / labelled
    value = min(max(share, 0.0), 1.0)
    moved_, spread = weight * found.moved, weight**2 * found.spread + (1 - weight) ** 2 * noise
    variance, reach = given.reach(moved_, spread)
    wide = variance * (reach / two_sided(given.level)) ** 2
    sure = as_share(value, wide, labelled)
    low, high = usual(sure.hits, sure.misses, given.level)
    estimate = Estimate(value, min(low, value), max(high, value), given.level, _COMBINED)
    return replace(found, estimate=estimate, unclipped=share, moved=moved_, spread=spread)
