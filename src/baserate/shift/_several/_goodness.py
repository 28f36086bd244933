"""Whether two ways to the same shares agree, as they must if nothing but the shares has changed."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import NoReturn

import numpy as np

from baserate._arrays import Floats
from baserate._errors import OptionError, UsageError
from baserate._formatting import format_p_phrase
from baserate._numeric.simplex import contrasts
from baserate._rows import MulticlassRows
from baserate._target import MulticlassTarget
from baserate.infer import Check
from baserate.shift._several._gmm import SIZE, calibration, solved
from baserate.shift._several._linear import Linear, fitted, soft
from baserate.shift._several._mlls import Fit, as_it_is, calibrated, made_right, pulled, turned
from baserate.shift._several._pair import Pair
from baserate.shift._several._result import Shares
from baserate.shift._two._assumption import UNTESTED, Assumption

_BARELY = 1e-12
"""Variance, beside that of other directions, that is rounding."""
_LEAST = 5e-324
"""No p-value is 0: less than this, a float cannot hold."""
FIT = "overidentification"
_HOW = "Hansen's test of moments, χ²"
_FITS = "The target's scores could be a mixture of those of the classes ({p}): nothing speaks against label shift."
_MISFITS = (
    "The target's scores are no mixture of those of the classes ({p}): it is not label shift alone, and whatever rests "
    "on it is in doubt."
)
_SEEN = 1e-2
"""Variance of a difference, beside that of what is compared, below which nothing can be seen in it."""


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """A statistic that is χ² where only the shares have changed, and the chance of one as great."""

    statistic: float
    freedom: int
    p: float
    difference: Floats
    """By likelihood less by mean probabilities, for each class."""
    covariance: Floats
    why: str | None = None
    """Why there is no statistic."""

    def __bool__(self) -> NoReturn:
        # True of every object, it would read as "yes": assert would pass whatever was found.
        raise UsageError(
            "an Agreement is neither true nor false; compare its p-value with a level: agreement.p < 0.05."
        )


def goodness(target: MulticlassTarget, validation: MulticlassRows, shares: Shares) -> Agreement:
    r"""Compare shares by likelihood with those by mean probabilities, :math:`d^⊤\mathrm{Cov}(d)^{-1}d`.

    Both are right if classes look as they did, and differ by chance; if they look otherwise, most often by more. The
    covariance of the difference is that of its influences, row by row, on both sides. Directions in which the two are
    the same estimate, as all are when the shares are those of validation, are left out: nothing can be seen in them. A
    small difference is no proof: some changes of a class look like other shares.

    Also: Hausman's test. Reference: [@hausman1978].

    >>> from baserate import scored
    >>> from baserate.shift._several import METHODS
    >>> score = [[0.8, 0.2], [0.5, 0.5], [0.2, 0.8]]
    >>> validation = scored(list("aaabbb"), score * 2, count=[40, 20, 10, 10, 20, 40])
    >>> target = MulticlassTarget(np.array(score), ("a", "b"), count=np.array([30, 2, 68]))
    >>> round(goodness(target, validation, METHODS["mlls"](target, validation)).p, 4)
    0.0139
    """
    if shares.method != "mlls":
        raise OptionError(f"the shares are by {shares.method}; compare those by mlls, which pacc is compared with.")
    pair = Pair.of(target, validation)
    fit = as_it_is(pair, shares.at) if shares.map is None else made_right(pair, shares.map)
    line = fitted(pair, soft, level=shares.estimates[0].level or 0.95)
    other, spread = line.solved()
    covariance = _covariance(pair, fit, line, shares.value)
    return compared(shares.unclipped - other, covariance, spread)


def label_shift(target: MulticlassTarget, validation: MulticlassRows) -> Assumption:
    """Test whether the target is a mixture of the classes, and say in words what was tested.

    Hansen's test of the moments that `gmm` uses, of which there are more than shares [@hansen1982]. It does not depend
    on whether probabilities are right. The notes of `gmm` say whether maximum likelihood, which does, disagrees.
    """
    pair = Pair.of(target, validation)
    found = solved(pair, calibration(pair)[0], level=0.95)
    if not found.over:
        why = "there are no more moments than shares"
        check = Check(FIT, nan, nan, _HOW, why=why)
        return Assumption((check,), (f"Not tested by {FIT}: {why}.", UNTESTED))
    check = Check(FIT, found.statistic, found.p, _HOW, found.over)
    line = (_FITS, _MISFITS)[check.p < SIZE].format(p=format_p_phrase(check.p, digits=3))
    return Assumption((check,), (line, UNTESTED))


def compared(difference: Floats, covariance: Floats, spread: Floats) -> Agreement:
    """The statistic, in those directions in which the two can differ; `spread` is the covariance of one of them."""
    from scipy.special import chdtrc

    z = contrasts(len(difference))
    bend, turned = np.linalg.eigh(z.T @ spread @ z)
    varies = bend > _BARELY * bend.max()
    root = (turned[:, varies] / np.sqrt(bend[varies])).T @ z.T
    size, axes = np.linalg.eigh(root @ covariance @ root.T)
    there = size > _SEEN
    if not there.any():
        why = "the two estimates are almost the same function of the rows here, so that they cannot disagree."
        return Agreement(nan, 0, nan, difference, covariance, why)
    along = (axes.T @ root @ difference)[there]
    statistic = float(np.sum(along * along / size[there]))
    freedom = int(there.sum())
    return Agreement(statistic, freedom, max(float(chdtrc(freedom, statistic)), _LEAST), difference, covariance)


def _covariance(pair: Pair, fit: Fit, line: Linear, q: Floats) -> Floats:
    """Covariance of the difference, from its influences."""
    back = np.linalg.inv(line.c)
    new, _ = soft(pair)
    of_target, of_validation = influences(pair, fit, q)
    of_target -= (new - line.o) @ back.T / pair.target.total
    of_validation -= line.moved(pair)
    found = pair.target.squared(of_target) + pair.validation.squared(of_validation)
    known = pair.seen > 0
    seen = turned(pair, fit, q)[known] / q[known, None]
    return found + seen.T @ (seen * pair.seen_squares[known, None])


def influences(pair: Pair, fit: Fit, q: Floats) -> tuple[Floats, Floats]:
    """What each row of the target, and of validation, does to the likeliest shares."""
    inner = turned(pair, fit, q)
    of_target = np.asarray((fit.across / (q @ fit.across)).T @ inner)
    if fit.line is None or fit.x is None:
        return of_target, np.zeros((len(pair.truth), len(q)))
    pull = pulled(pair.target, q, fit.across, fit.x)
    return of_target, np.asarray(calibrated(pair, fit) @ pull.T @ inner)
