"""Tests of calibration: how surprising what happened would be if the probabilities were right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, inf, isnan, nan, sqrt
from typing import NoReturn

import numpy as np

from baserate._arrays import Floats, number, ratio
from baserate._errors import UsageError
from baserate._numeric.logistic import log_odds
from baserate._plurals import count_of
from baserate._stack import Forecasts
from baserate._tally import Tally
from baserate.measure import calibration_slope, ecce, why
from baserate.measure._bins import By, binned
from baserate.measure._cox import cox, offset
from baserate.measure._proper import check_probabilities

LEAST = 5e-324
"""No p is 0, however far out."""
REWEIGHED = (
    "rows were reweighed by class, so that chance is not what the probabilities say; test them as they came, after "
    "reprior to their own prevalence"
)
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


def hosmer_lemeshow(t: Tally, *, bins: int | Sequence[float] = 10, by: By = "mass", fitted: bool = False) -> Check:
    r"""Whether bins hold as many positives as expected: :math:`\sum_b\frac{(O_b-E_b)^2}{E_b(1-E_b/n_b)}`.

    On data that the model has not seen each bin is a degree of freedom; of a model `fitted` to the same rows there are
    two less. Bins that leave nothing to chance count only if they are wrong, and then without bound; where there are no
    others it is undefined. With many rows it rejects any model, with few hardly one [@hosmer2013].

    >>> from baserate import tally
    >>> found = hosmer_lemeshow(tally([0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.4, 0.6, 0.9, 0.7]), bins=3)
    >>> round(found.statistic, 4), found.freedom, round(found.p, 4)
    (1.7917, 3, 0.6168)
    """
    check_probabilities(t)
    if t.reweighed:
        return Check("hosmer_lemeshow", nan, nan, "χ²", why=REWEIGHED)
    found = binned(t, bins=bins, by=by)
    mean = found.expected / found.mass
    noise, gap = found.squares * mean * (1 - mean), found.positive - found.expected
    by_chance = noise > 0
    freedom = int(np.count_nonzero(by_chance)) - 2 * fitted
    how = (
        f"χ² with {count_of(freedom, 'degree', 'degrees')} of freedom, "
        f"{'fitted to these rows' if fitted else 'on rows not fitted to'}"
    )
    if freedom < 1:
        few = "three bins are" if fitted else "a bin is"
        reason = f"{few} needed in which chance has a say" if t.total else "there are no rows"
        return Check("hosmer_lemeshow", nan, nan, how, why=reason)
    # Beyond rounding, what is certain and does not happen is impossible.
    impossible = (np.abs(gap[~by_chance]) > 1e-9 * found.mass[~by_chance]).any()
    with np.errstate(over="ignore"):  # what is next to impossible
        statistic = inf if impossible else float(np.sum(gap[by_chance] ** 2 / noise[by_chance]))
    return Check("hosmer_lemeshow", statistic, _tail(freedom, statistic), how, freedom)


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

    return number((t.positive * log_expit(line) + t.negative * log_expit(-line)).sum(axis=-1))


def checks(t: Tally, *, bins: int | Sequence[float] = 10, by: By = "mass", fitted: bool = False) -> tuple[Check, ...]:
    """All tests of calibration."""
    return cox_test(t), spiegelhalter(t), hosmer_lemeshow(t, bins=bins, by=by, fitted=fitted), ecce_test(t)
