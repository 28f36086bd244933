"""The minimal p-value approach: the threshold of the greatest chi-square statistic, and p-values that allow for it."""

from __future__ import annotations

from collections.abc import Iterator
from math import erfc, exp, log, pi, sqrt
from typing import Unpack

import numpy as np

from baserate._arrays import Value
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._cut import Cut
from baserate._domains import TRIM, check_domain
from baserate._errors import FitError, OptionError
from baserate._formatting import format_p_phrase
from baserate.decide._rule import require_both_classes, rule, strictest_maximum, threshold_at
from baserate.measure import mcc
from baserate.read import PredictionOptions

_ALTMAN = {0.05: (3.13, 1.65), 0.1: (1.63, 2.35)}
"""Share of excluded rows at each end -> coefficients of Altman's approximation."""
_ALTMAN_RANGE = (1e-4, 0.1)
"""Minimal p-values for which the approximation holds."""


def chi_square(counts: Counts[Value]) -> Value:
    """Compute Pearson's chi-square statistic of 2×2 tables, without a correction for continuity."""
    statistic: Value = counts.total * mcc(counts) ** 2
    return statistic


def minimal_p(statistic: float) -> float:
    """Return the p-value of a chi-square statistic with one degree of freedom, as if the threshold had been fixed.

    >>> round(minimal_p(3.841459), 6)
    0.05
    """
    return erfc(sqrt(statistic / 2))


def adjusted_minimal_p(statistic: float, trim: float) -> float:
    r"""Allow for the search over thresholds between the `trim` and 1 − `trim` quantiles [@miller1982].

    With :math:`z=\sqrt{χ^2}`, it is :math:`φ(z)[(z-1/z)\log((1-ε)^2/ε^2)+4/z]`, at least the p-value of a fixed
    threshold, and at most 1.

    >>> round(adjusted_minimal_p(3.841459, 0.1), 3)
    0.492
    """
    z = sqrt(statistic)
    plain = minimal_p(statistic)
    # Below 1 the approximation, for large z, is not even monotone.
    if z <= 1:
        return 1.0
    density = exp(-statistic / 2) / sqrt(2 * pi)
    return min(max(density * ((z - 1 / z) * 2 * log((1 - trim) / trim) + 4 / z), plain), 1.0)


def altman_minimal_p(statistic: float, trim: float) -> float | None:
    """Return Altman's approximation [@altman1994dangers] of the adjusted p-value; None where it does not hold.

    >>> round(altman_minimal_p(6.634897, 0.05), 3), altman_minimal_p(6.634897, 0.2)
    (0.207, None)
    """
    plain = minimal_p(statistic)
    if trim not in _ALTMAN or not _ALTMAN_RANGE[0] < plain < _ALTMAN_RANGE[1]:
        return None
    factor, slope = _ALTMAN[trim]
    return -factor * plain * (1 + slope * log(plain))


def _note_p_values(curve: Curve, cut: Cut, trim: float = 0.1) -> Iterator[str]:
    counts = cut.counts(curve)
    statistic = float(chi_square(counts))
    plain, adjusted = minimal_p(statistic), adjusted_minimal_p(statistic, trim)
    altman = altman_minimal_p(statistic, trim)
    more = "" if altman is None else f", {format_p_phrase(altman)} by Altman's approximation"
    yield (
        f"the minimal p-value ({format_p_phrase(plain)}) is no valid test: many thresholds were tried. Adjusted for "
        f"the search, {format_p_phrase(adjusted)} (Miller and Siegmund){more}. The threshold is imprecise, and "
        "measures there are optimistic; prefer costs, a requirement, or Youden's index."
    )
    if counts.tp * counts.tn < counts.fp * counts.fn:
        yield "flags are rarer among positives at this threshold: check that a higher score means more positive."


@rule(notes=_note_p_values)
def min_p_value(curve: Curve, *, trim: float = 0.1, **predictions: Unpack[PredictionOptions]) -> Cut:
    r"""Minimize the p-value of a chi-square test of flags and labels (minimal p-value approach).

    The smallest of many p-values is no p-value: without any association it is below 0.05 in far more than 5% of samples
    [@altman1994dangers]. A note has the p-value adjusted for the search [@miller1982], and a report the finding BR019.
    The test has no correction for continuity; where OptimalCutpoints corrects, its threshold can differ. The least
    p-value is at the greatest :math:`|MCC|`.

    Parameters
    ----------
    curve
        Curve of the data, with both classes and without weights.
    trim
        Share of rows at each end of the scores among which no threshold is tried.

    Raises
    ------
    FitError
        If a class is missing, or no threshold lies between the excluded ends.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> decide.min_p_value(curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))).threshold
    0.8
    """
    check_domain("trim", trim, TRIM)
    require_both_classes(curve, "a chi-square test")
    if curve.tally.weighted or curve.tally.reweighed:
        raise OptionError("weighted rows have no chi-square test", remedy="use the rule best with the measure mcc.")
    statistic = np.empty(len(curve.tally.score) + 1)
    for place, counts in curve.blocks():
        share = counts.flagged / curve.total
        inside = (share >= trim * (1 - 1e-12)) & (share <= 1 - trim * (1 - 1e-12))
        statistic[place] = np.where(inside, chi_square(counts), np.nan)
    at = strictest_maximum(statistic)
    if at is None:
        raise FitError(
            f"no threshold flags between {trim:g} and {1 - trim:g} of all rows", remedy="give a smaller trim."
        )
    return Cut((threshold_at(curve, at),))
