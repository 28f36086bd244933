"""Tests of calibration: how surprising what happened would be if the probabilities were right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import erfc, inf, isnan, nan, sqrt
from typing import NoReturn

import numpy as np

from baserate._arrays import Bools, Floats, as_float, ratio
from baserate._errors import UsageError
from baserate._formatting import count_of
from baserate._numeric.logistic import chance, log_odds
from baserate._tally import Forecasts, Tally
from baserate.infer._draws import Seed
from baserate.infer._reliability._null import drawn, is_smallest, neighbours_pooled, reached
from baserate.measure import Bins, By, binned, calibration_slope, check_probabilities, cox, ecce, offset, why

LEAST = 5e-324
"""No p is 0, however far out."""
REWEIGHED = (
    "rows were reweighed by class, so that chance is not what the probabilities say; test them as they came, after "
    "reprior to their own prevalence"
)
_HELD_OUT = "on rows not fitted to"
_FITTED = ("not the best fit to these rows", "intercept fitted to these rows", "fitted to these rows")
_ALREADY = 0.02
"""Likelihood-ratio statistic of a line below which it is the best already: by chance that happens in 1%."""
_DRAWS = 999
_SHORTEST = 0.01
"""Range of a Brownian motion that none is seen to fall short of."""


@dataclass(frozen=True, slots=True)
class Check:
    """A statistic, and the chance of one at least as extreme if the probabilities are right.

    `freedom` are the degrees of freedom of a χ² statistic. `why` says why it is undefined, if it is. `p_is_bound` says
    that p is the smallest value that the method can show: the true one may be less.
    """

    name: str
    statistic: float
    p: float
    how: str
    freedom: int | None = None
    why: str | None = None
    p_is_bound: bool = False

    def __bool__(self) -> NoReturn:
        # True of every object, it would read as "yes": assert would pass whatever was found.
        raise UsageError("a Check is neither true nor false; compare its p-value with a level: check.p < 0.05.")


def spiegelhalter(t: Tally) -> Check:
    r"""Whether the Brier score is what the probabilities promise.

    :math:`z=\sum(y-p)(1-2p)/\sqrt{\sum(1-2p)^2p(1-p)}` is a normal variable if they are right. It does
    not see an error that is the same on both sides of ½: never look at it alone [@spiegelhalter1986].

    >>> from baserate import tally
    >>> round(spiegelhalter(tally([0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.4, 0.6, 0.9, 0.7])).statistic, 4)
    0.4454
    """
    check_probabilities(t)
    p, tilt = t.score, 1 - 2 * t.score
    surplus = float(np.sum(tilt * (t.positive * (1 - p) - t.negative * p)))
    noise = _seen(t, np.stack([tilt * (1 - p), -tilt * p])) if t.reweighed else _promised(t, tilt)
    how = "normal, two-sided"
    if not noise:
        why = "all probabilities are 0, ½ or 1, of which none bears on it" if t.total else "there are no rows"
        return Check("spiegelhalter_z", nan, nan, how, why=why)
    z = surplus / sqrt(noise)
    return Check("spiegelhalter_z", z, max(erfc(abs(z) / sqrt(2)), LEAST), how)


def _promised(t: Tally, factor: Floats | float = 1.0) -> float:
    """Variance of a sum of y − p times a factor, if the probabilities p are right."""
    return float(np.sum(t.squares.sum(axis=0) * factor**2 * t.score * (1 - t.score)))


def _seen(t: Tally, terms: Floats) -> float:
    """Variance of a sum of terms, one for each class and score, where the masses of the classes are given."""
    whole = np.asarray(t.mass.sum(axis=1, keepdims=True), dtype=np.float64)
    middle = np.nan_to_num(ratio((t.mass * terms).sum(axis=1, keepdims=True), whole))
    return float(np.sum(t.squares * (terms - middle) ** 2))


def hosmer_lemeshow(
    t: Tally, *, bins: int | Sequence[float] = 10, by: By = "mass", fitted: bool = False, seed: Seed = 0
) -> Check:
    r"""Whether bins hold as many positives as expected: :math:`\sum_b\frac{(O_b-E_b)^2}{E_b(1-E_b/n_b)}`.

    On data that the model has not seen each bin is a degree of freedom; equal scores share a bin, so a score of five
    values has five at most. A model `fitted` to the same rows has one less for each parameter of the recalibration line
    that is already at its maximum likelihood: two after logistic regression, none if the line says that these rows were
    not fitted to. Where expected counts are small (below 5 in a fifth of the bins, or below 1 in any) p is the share
    of simulated outcomes with at least this statistic [@cochran1954]; the `seed` decides these. Bins that leave nothing
    to chance count only if they are wrong, and then without bound; where there are no others it is undefined. With many
    rows it rejects any model, with few hardly one [@hosmer2013].

    >>> from baserate import tally
    >>> found = hosmer_lemeshow(tally([0, 1, 0, 1, 1, 0] * 20, [0.2, 0.3, 0.4, 0.6, 0.9, 0.7] * 20), bins=3)
    >>> round(found.statistic, 4), found.freedom, f"{found.p:.2g}"
    (35.8333, 3, '8.1e-08')
    """
    check_probabilities(t)
    if t.reweighed:
        return Check("hosmer_lemeshow", nan, nan, "χ²", why=REWEIGHED)
    found = binned(t, bins=bins, by=by)
    by_chance = found.expected * (1 - found.expected / found.mass) > 0
    lost = _fitted_parameters(t) if fitted else 0
    freedom = int(np.count_nonzero(by_chance)) - lost
    how = f"χ² with {count_of(freedom, 'degree', 'degrees')} of freedom, {_FITTED[lost] if fitted else _HELD_OUT}"
    if freedom < 1:
        few = "three bins are" if lost == 2 else "two bins are" if lost else "a bin is"
        reason = f"{few} needed in which chance has a say" if t.total else "there are no rows"
        return Check("hosmer_lemeshow", nan, nan, how, why=reason)
    # Beyond rounding, what is certain and does not happen is impossible.
    gap = found.positive - found.expected
    impossible = (np.abs(gap[~by_chance]) > 1e-9 * found.mass[~by_chance]).any()
    statistic = inf if impossible else float(bin_statistic(found))
    if statistic == inf or not _has_small_counts(found, by_chance):
        return Check("hosmer_lemeshow", statistic, _tail(freedom, statistic), how, freedom)
    draws = _simulated(t, bins, by, lost=lost, seed=seed)
    p = reached(statistic, draws)
    how = f"{len(draws)} simulated outcomes, {_FITTED[lost] if fitted else _HELD_OUT}"
    return Check("hosmer_lemeshow", statistic, p, how, freedom, p_is_bound=is_smallest(p, draws))


def bin_statistic(found: Bins) -> Floats:
    """Sum of squared gaps over their variances in bins where there is one; of a stack, an array."""
    noise = found.squares * ratio(found.expected, found.mass) * (1 - ratio(found.expected, found.mass))
    with np.errstate(over="ignore"):  # what is next to impossible
        terms = np.nan_to_num(ratio((found.positive - found.expected) ** 2, noise), nan=0.0, posinf=np.inf)
        return np.asarray(np.where(noise > 0, terms, 0.0).sum(axis=-1))


def _fitted_parameters(t: Tally) -> int:
    """How many parameters of the recalibration line have their maximum likelihood: 2, 1 (the intercept), or none."""
    if isnan(cox(t).slope):
        return 2  # without a line nothing speaks against what the caller says
    if cox_test(t).statistic < _ALREADY:
        return 2
    moved = offset(t)
    return int(moved.value**2 < _ALREADY / 20 * moved.variance)


def _has_small_counts(found: Bins, by_chance: Bools) -> bool:
    """Whether expected counts are too small for χ², after Cochran's rule."""
    scale = ratio(found.rows, found.mass)[by_chance]
    expected = (np.minimum(found.expected, found.mass - found.expected)[by_chance]) * scale
    return bool((expected < 1).any() or np.mean(expected < 5) > 0.2)


def _simulated(t: Tally, bins: int | Sequence[float], by: By, *, lost: int, seed: Seed) -> Floats:
    """Statistics of outcomes that the probabilities give, after fitting again as many parameters as were fitted."""
    pooled = neighbours_pooled(t)
    stack = drawn(pooled, pooled.score, draws=_DRAWS, seed=seed)
    usual = float(pooled.squares.sum()) / pooled.total
    found = binned(replace(stack, weight=usual), bins=bins, by=by)
    if not lost:
        return bin_statistic(found)
    x = log_odds(pooled.score)
    if lost == 2:
        fit = cox(stack)
        a, b = np.nan_to_num(fit.intercept), np.nan_to_num(fit.slope, nan=1.0)
    else:
        a, b = np.nan_to_num(offset(stack).value), np.ones(len(stack.positive))
    mass = stack.positive[0] + stack.negative[0]
    again = replace(stack, positive=mass * chance(a, b, x))
    return bin_statistic(found._replace(expected=binned(again, bins=bins, by=by).positive))


def cox_test(t: Tally) -> Check:
    r"""Whether intercept 0 and slope 1 fit as well as the best line of log-odds: twice the gain in log-likelihood.

    Weighted rows have no likelihood; theirs is Wald's statistic [@cox1958].

    >>> from baserate import tally
    >>> found = cox_test(tally([0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.4, 0.6, 0.9, 0.7]))
    >>> round(found.statistic, 4), found.freedom, round(found.p, 4)
    (0.1152, 2, 0.944)
    """
    fit = cox(t)
    if isnan(fit.slope):
        return Check("cox", nan, nan, "χ² with 2 degrees of freedom", 2, why(calibration_slope, t))
    if t.weighted:
        away = np.array([fit.intercept, fit.slope - 1])
        statistic, how = float(away @ np.linalg.solve(fit.covariance, away)), "Wald, χ² with 2 degrees of freedom"
    else:
        x = log_odds(t.score)
        gain = log_likelihood(t, fit.intercept + fit.slope * x) - log_likelihood(t, x)
        statistic, how = max(2 * gain, 0.0), "likelihood ratio, χ² with 2 degrees of freedom"
    return Check("cox", statistic, _tail(2, statistic), how, 2)


def ecce_test(t: Tally) -> Check:
    r"""Whether cumulated differences range further than chance lets them: :math:`ECCE/\sqrt{\sum p(1-p)/n^2}`.

    Of many rows they are a Brownian motion; its range exceeds x with chance
    :math:`8\sum_k(-1)^{k-1}k\,Q(kx)`, Q the tail of the normal distribution [@feller1951] [@arrieta2022].
    """
    noise = _promised(t)
    how = "range of a Brownian motion"
    if t.reweighed:
        return Check("ecce", nan, nan, how, why=REWEIGHED)
    if not noise:
        why = "all probabilities are 0 or 1, so nothing is left to chance" if t.total else "there are no rows"
        return Check("ecce", nan, nan, how, why=why)
    statistic = ecce(t) * t.total / sqrt(noise)
    return Check("ecce", statistic, brownian_range(statistic), how)


def brownian_range(x: float) -> float:
    """Chance that a Brownian motion over one unit of time ranges over more than x."""
    from scipy.special import ndtr

    if x < _SHORTEST:
        return 1.0
    k = np.arange(1, int(40 / x) + 2)
    signs = np.where(k % 2 == 1, 1.0, -1.0)
    return float(np.clip(8 * np.sum(signs * k * ndtr(-k * x)), LEAST, 1.0))


def _tail(freedom: int, statistic: float) -> float:
    """Chance of at least this value of a χ² variable."""
    from scipy.special import chdtrc

    return max(float(chdtrc(freedom, statistic)), LEAST)


def slope_test(t: Tally) -> Check:
    """Whether a shift of all log-odds fits as well as any line of them: then another prevalence would do."""
    fit, moved = cox(t), offset(t)
    if isnan(fit.slope):
        return Check("offset_or_slope", nan, nan, "χ² with 1 degree of freedom", 1, why(calibration_slope, t))
    if t.weighted:
        statistic = float((fit.slope - 1) ** 2 / fit.covariance[1, 1])
        how = "Wald, χ² with 1 degree of freedom"
    else:
        x = log_odds(t.score)
        gain = log_likelihood(t, fit.intercept + fit.slope * x) - log_likelihood(t, x + moved.value)
        statistic, how = max(2 * gain, 0.0), "likelihood ratio, χ² with 1 degree of freedom"
    return Check("offset_or_slope", statistic, _tail(1, statistic), how, 1)


def log_likelihood(t: Forecasts, line: Floats) -> float:
    """Log-likelihood of what happened, given log-odds; of a stack, an array."""
    from scipy.special import log_expit

    return as_float((t.positive * log_expit(line) + t.negative * log_expit(-line)).sum(axis=-1))


def checks(
    t: Tally, *, bins: int | Sequence[float] = 10, by: By = "mass", fitted: bool = False, seed: Seed = 0
) -> tuple[Check, ...]:
    """All tests of calibration."""
    return cox_test(t), spiegelhalter(t), hosmer_lemeshow(t, bins=bins, by=by, fitted=fitted, seed=seed), ecce_test(t)
