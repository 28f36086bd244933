"""`reprior`: probabilities as they would be at another prevalence, row by row; and thresholds on both scales."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats, Value, as_python
from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._errors import MissingValuesError, OptionError
from baserate.calibrate import prevalence
from baserate.calibrate.multiclass import reprior as reprior_classes
from baserate.shift._gamma import gamma

Shares = float | Mapping[Any, float] | Sequence[float] | Floats
"""A prevalence, or the share of every class."""


def reprior(p: npt.ArrayLike, *, from_: Shares, to: Shares, labels: Sequence[object] | None = None) -> Floats:
    r"""Correct posteriors that are right at one prevalence for another, :math:`\frac{p}{p+γ(1-p)}`, row by row.

    With two prevalences, `p` is the probability of the positive class, in any shape. With shares of K classes, by label
    or in order, it has a row for each case and a column for each class, and :math:`p_k` becomes
    :math:`∝p_k·to_k/from_k` [@saerens2002]. Certainties stay; nothing is fitted. `reprior_map` gives the same as a map.

    >>> reprior([0.1, 0.5, 0.9], from_=0.4, to=0.1).round(7).tolist()
    [0.0181818, 0.1428571, 0.6]
    >>> reprior([[0.2, 0.3, 0.5]], from_=[0.2, 0.3, 0.5], to=[0.6, 0.3, 0.1]).round(9).tolist()
    [[0.6, 0.3, 0.1]]
    """
    return reprior_map(from_=from_, to=to, labels=labels)(p)


def reprior_map(
    *, from_: Shares, to: Shares, labels: Sequence[object] | None = None
) -> Calibrator | MulticlassCalibrator:
    """Give `reprior` as a map that can be applied to any rows, saved and exported: an offset of all log-odds.

    >>> reprior_map(from_=0.5, to=0.1)
    Calibrator(prevalence, log-odds)
    >>> reprior_map(from_={"cat": 0.5, "dog": 0.5}, to={"cat": 0.2, "dog": 0.8})([[0.8, 0.2]]).round(9).tolist()
    [[0.5, 0.5]]
    """
    before: Any = from_
    after: Any = to
    single = [isinstance(each, Real) for each in (before, after)]
    if all(single):
        return prevalence(at=float(before), to=float(after))
    if any(single):
        raise OptionError(f"from_ is {from_!r} and to {to!r}; give two prevalences, or twice the share of every class.")
    if labels is None and not isinstance(before, Mapping):
        labels = list(after) if isinstance(after, Mapping) else [str(at) for at in range(len(before))]
    return reprior_classes(before, after, labels=labels)


def threshold(c: Value, *, from_: float, to: float) -> Value:
    r"""Threshold on raw scores that flags the same as `c` on corrected ones, :math:`\frac{γc}{γc+1-c}`.

    Raw scores are right at the prevalence `from_`, and `reprior` corrects them for `to`; with these exchanged, a
    threshold on raw scores becomes one on corrected ones. What no probability reaches, as above 1 and infinity, stays.

    >>> round(threshold(0.5, from_=0.5, to=0.1), 9)  # as likely as not, where one in ten is positive
    0.9
    >>> threshold(0.0, from_=0.5, to=0.1), threshold(1.0, from_=0.5, to=0.1), threshold(np.inf, from_=0.5, to=0.1)
    (0.0, 1.0, inf)
    """
    given: Floats = np.asarray(c, dtype=np.float64)
    if np.isnan(given).any():
        raise MissingValuesError(f"{np.isnan(given).sum()} of {given.size} thresholds are NaN; give numbers, or inf.")
    odds = gamma(at=from_, to=to)
    within = np.clip(given, 0.0, 1.0)
    found: Value = as_python(np.where(within == given, odds * within / (odds * within + 1 - within), given))
    return found
