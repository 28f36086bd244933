"""Adjusted classify and count at a threshold that is chosen on validation, and the median over all thresholds.

Forman's methods [@forman2008] solve the share that is flagged at a threshold for the prevalence, as `acc` does, and
differ in the threshold. Under label shift every threshold has the same solution, up to noise. So the choice has no
influence to first order, and intervals are those of `acc` at the chosen threshold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from baserate._arrays import Bools, Floats
from baserate._errors import FitError
from baserate._formatting import format_number
from baserate.shift._data import BinaryData, Prevalence
from baserate.shift._distribution_matching import MatchedShare, finish_match
from baserate.shift._moment_matching import check_moments, estimate_share, flag_at, moment_influence

_ROUNDING = 1e-12
"""Difference of the rates that rounding can cause."""
_LEAST_DIFFERENCE = 0.25
"""Difference of the rates from which the median sweep ms2 uses a threshold."""


class ThresholdRates(NamedTuple):
    """Rates at all thresholds of validation that distinguish the classes, the strictest first."""

    threshold: Floats
    tpr: Floats
    fpr: Floats

    @staticmethod
    def of(data: BinaryData) -> ThresholdRates:
        """Compute the rates of both classes of validation."""
        tally = data.validation
        tpr, fpr = (np.cumsum(each, dtype=np.float64) / each.sum() for each in tally.mass)
        usable = np.abs(tpr - fpr) > _ROUNDING
        return ThresholdRates(np.asarray(tally.score, dtype=np.float64)[usable], tpr[usable], fpr[usable])

    def select(self, usable: Bools) -> ThresholdRates:
        """Return some of the thresholds."""
        return ThresholdRates(*(each[usable] for each in self))

    def estimate_shares(self, data: BinaryData) -> Floats:
        """Solve the flagged share of the target at each threshold for the prevalence."""
        target = data.target
        # The number of thresholds above each score: those at which the row is not flagged.
        above = len(self.threshold) - np.searchsorted(self.threshold[::-1], data.score, side="right")
        mass = np.bincount(above, weights=target.mass, minlength=len(self.threshold) + 1)
        flagged = np.cumsum(mass, dtype=np.float64)[:-1] / mass.sum()
        shares: Floats = (flagged - self.fpr) / (self.tpr - self.fpr)
        return shares


def binary_t50(data: BinaryData) -> Prevalence:
    """Solve the flagged share at the threshold whose TPR in validation is nearest to ½ [@forman2008]."""
    return _estimate_at_best(data, "t50", lambda rates: np.abs(rates.tpr - 0.5))


def binary_max(data: BinaryData) -> Prevalence:
    """Solve the flagged share at the threshold with the largest TPR − FPR in validation [@forman2008]."""
    return _estimate_at_best(data, "max", lambda rates: rates.fpr - rates.tpr)


def binary_x(data: BinaryData) -> Prevalence:
    """Solve the flagged share at the threshold where FPR and 1 − TPR are nearest in validation [@forman2008]."""
    return _estimate_at_best(data, "x", lambda rates: np.abs(1 - rates.tpr - rates.fpr))


def binary_ms(data: BinaryData) -> Prevalence:
    """Return the median over all thresholds (median sweep) [@forman2008]."""
    return _estimate_median(data, "ms", ThresholdRates.of(data))


def binary_ms2(data: BinaryData) -> Prevalence:
    """Return the median over thresholds with TPR − FPR above ¼ in validation [@forman2008]."""
    rates = ThresholdRates.of(data)
    usable = rates.tpr - rates.fpr > _LEAST_DIFFERENCE
    if not usable.any():
        raise FitError(
            f"no threshold has TPR − FPR above {_LEAST_DIFFERENCE} in validation; the largest is "
            f"{format_number(float((rates.tpr - rates.fpr).max(initial=0.0)), 3)}",
            remedy="use another method, such as binned or ms.",
        )
    return _estimate_median(data, "ms2", rates.select(usable))


def _estimate_at_best(data: BinaryData, method: str, loss: Callable[[ThresholdRates], Floats]) -> Prevalence:
    """Estimate at the threshold of least loss, the strictest of equal ones."""
    rates = ThresholdRates.of(data)
    place = int(np.argmin(loss(rates)))
    threshold = float(rates.threshold[place])
    estimate = estimate_share(data, flag_at(data, threshold), method)
    tpr, fpr = (format_number(float(each[place]), 3) for each in (rates.tpr, rates.fpr))
    where = f"the threshold is {format_number(threshold, 4)}, with a TPR of {tpr} and an FPR of {fpr} in validation."
    return replace(estimate, notes=(*estimate.notes, where))


def _estimate_median(data: BinaryData, method: str, rates: ThresholdRates) -> Prevalence:
    """Estimate by the median over thresholds.

    A median of correlated estimates has no influence function. The interval is that of the threshold with the largest
    TPR − FPR, around the median, which varies less: intervals are a little too wide.
    """
    share = float(np.median(rates.estimate_shares(data)))
    best = float(rates.threshold[int(np.argmax(rates.tpr - rates.fpr))])
    flags = flag_at(data, best)
    moments = check_moments(data, flags, data.level)
    influence = moment_influence(data, flags, moments, share)
    spread = moments.noise / moments.gap**2
    return finish_match(data, MatchedShare(method, min(max(share, 0.0), 1.0), share, influence, spread))
