"""Measures of one point of a ROC plot: SEDI, and the distance from (0, 1). Each takes `Counts`."""

from math import sqrt

import numpy as np

from baserate._arrays import Value, as_python, root
from baserate._counts import Counts
from baserate.measure._measure import Values, measure
from baserate.measure._rates import fnr, fpr, sensitivity, specificity

__all__ = ["roc_distance", "sedi"]


@measure(
    "Symmetric extremal dependence index: skill that does not vanish as the positive class gets rare.",
    formula=r"\frac{\ln F-\ln H-\ln(1-F)+\ln(1-H)}{\ln F+\ln H+\ln(1-F)+\ln(1-H)}",
    aliases=("symmetric extremal dependence index",),
    references=("ferro2011",),
    values=Values("high", (-1, 1), needs=("positives", "negatives", "flagged", "not_flagged"), dual="sedi"),
)
def sedi(c: Counts[Value]) -> Value:
    """H is the sensitivity and F the false positive rate. It is 0 by chance (H = F), 1 without false positives or
    without false negatives, and −1 without true positives or without true negatives: these are its limits, where other
    programs replace 0 by a small number.

    >>> from baserate import Counts
    >>> round(sedi(Counts(tp=231, fp=32, fn=27, tn=54)), 10)
    0.6986083257
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        # The logarithms of the products of right and of wrong decisions: either may be −∞, and both only if undefined.
        right = np.log(sensitivity(c)) + np.log(specificity(c))
        wrong = np.log(fpr(c)) + np.log(fnr(c))
        inner = (wrong - right) / (wrong + right)
    value = np.where(np.isneginf(wrong), 1.0, np.where(np.isneginf(right), -1.0, inner))
    defined = np.isfinite(wrong) | np.isfinite(right)
    result: Value = as_python(np.where(defined, value, np.nan))
    return result


@measure(
    "Distance of the ROC point from (0, 1), where every row is classified correctly.",
    formula=r"\sqrt{(1-TPR)^2+(1-TNR)^2}",
    aliases=("distance index", "dInd", "distance from the corner"),
    references=("perkins2006",),
    values=Values("low", (0, sqrt(2)), needs=("positives", "negatives"), dual="roc_distance"),
)
def roc_distance(c: Counts[Value]) -> Value:
    """It is neither a cost nor a rate of errors: both errors count squared, at equal prevalences. Prefer the expected
    cost, or Youden's J.

    >>> from baserate import Counts
    >>> round(roc_distance(Counts(tp=231, fp=32, fn=27, tn=54)), 10)
    0.3865295381
    """
    missed, alarms = fnr(c), fpr(c)
    return root(missed * missed + alarms * alarms)
