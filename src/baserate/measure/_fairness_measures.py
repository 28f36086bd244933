"""Measures of the fairness literature: inequality of benefits, averages of two rates, generalized error rates.

Benefits and averages take `Counts`, and generalized error rates a `Tally`. Compared between groups, an average of two
rates gives the average odds difference and the average predictive value difference of AIF360.
"""

from math import inf, log
from numbers import Real

import numpy as np

from baserate._arrays import Value, as_python, ratio, root
from baserate._counts import Counts
from baserate._domains import wrong_option
from baserate._tally import Tally
from baserate.measure._measure import Values, measure
from baserate.measure._proper_scores import check_probabilities

__all__ = [
    "average_odds",
    "average_predictive_value",
    "benefit_variation",
    "generalized_entropy",
    "generalized_fnr",
    "generalized_fpr",
    "theil_index",
]


@measure(
    "Mean of sensitivity and false positive rate.",
    formula=r"\frac12(\frac{TP}{TP+FN}+\frac{FP}{FP+TN})",
    aliases=("mean of TPR and FPR",),
    references=("bellamy2019",),
    values=Values(None, (0, 1), needs=("positives", "negatives")),
)
def average_odds(c: Counts[Value]) -> Value:
    """Its difference between two groups is the average odds difference.

    That is the mean of two signed differences, which may cancel: it can be 0 although both rates differ. The mean of
    absolute differences, and the greater of the two, are gaps of the parity equalized-odds.

    >>> from baserate import Counts
    >>> average_odds(Counts(tp=30, fp=10, fn=10, tn=30))
    0.5
    """
    return (ratio(c.tp, c.positives) + ratio(c.fp, c.negatives)) / 2


@measure(
    "Mean of the positive predictive value and the false omission rate.",
    formula=r"\frac12(\frac{TP}{TP+FP}+\frac{FN}{FN+TN})",
    aliases=("mean of PPV and FOR",),
    references=("bellamy2019",),
    values=Values(None, (0, 1), needs=("flagged", "not_flagged")),
)
def average_predictive_value(c: Counts[Value]) -> Value:
    """Its difference between two groups is the average predictive value difference, in which differences may cancel.

    >>> from baserate import Counts
    >>> average_predictive_value(Counts(tp=30, fp=10, fn=10, tn=30))
    0.5
    """
    return (ratio(c.tp, c.flagged) + ratio(c.fn, c.not_flagged)) / 2


@measure(
    "Generalized entropy of benefits: inequality of the decisions that individuals receive.",
    formula=r"\frac1{nα(α-1)}\sum_i[(b_i/\bar b)^α-1],\ b_i=\hat y_i-y_i+1",
    aliases=("GEI", "GE"),
    references=("speicher2018",),
    values=Values("low", (0, inf), needs=("benefits",)),
    option="alpha",
)
def generalized_entropy(c: Counts[Value], *, alpha: float = 2.0) -> Value:
    r"""A correct decision has benefit 1, a false positive 2 and a false negative 0: a flag counts as favorable.

    If a flag is unfavorable, name the other class as the positive one. α = 1 is Theil's index. At α = 0 the mean
    logarithmic deviation :math:`-\frac1n\sum\ln(b_i/\bar b)` is infinite with any false negative, and so are indices
    with a negative α. AIF360 divides the value at α = 0 by the mean benefit, which is not the index.

    >>> from baserate import Counts
    >>> generalized_entropy(Counts(tp=40, fp=10, fn=10, tn=40))
    0.1
    >>> round(generalized_entropy(Counts(tp=40, fp=10, fn=10, tn=40), alpha=1), 6)
    0.138629
    """
    if not isinstance(alpha, Real) or not -inf < alpha < inf:
        raise wrong_option("alpha", alpha, "a number", remedy="The usual ones are 2, and 1 for Theil's index.")
    # Indices of equal benefits are 0, and rounding must not make them negative.
    return _not_negative(_entropy(c, alpha))


def _entropy(c: Counts[Value], alpha: float) -> Value:
    mean = ratio(c.benefits, c.total)
    correct, double, none = (ratio(cell, c.total) for cell in (c.tp + c.tn, c.fp, c.fn))
    if alpha == 2:
        return ratio(_variance(c), 2 * mean**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        one, two = -np.log(mean), log(2) - np.log(mean)  # logarithms of relative benefits
        if alpha == 1:
            theil: Value = as_python(one + log(2) * 2 * double / mean)
            return theil
        # A benefit of 0 has the power 0 or infinity; nothing to the power of anything is nothing.
        infinite = np.where(np.asarray(none) > 0, inf, 0.0) if alpha <= 0 else 0.0
        if alpha == 0:
            deviation: Value = as_python(infinite - correct * one - double * two)
            return deviation
        # Of a benefit of 0, (0/mean)^α − 1 = −1 for a positive α.
        powers = correct * np.expm1(alpha * one) + double * np.expm1(alpha * two) - (none if alpha > 0 else 0.0)
        entropy: Value = as_python(infinite + powers / (alpha * (alpha - 1)))
        return entropy


def _variance(c: Counts[Value]) -> Value:
    """Return the variance of benefits, which differ from 1 by 1 for each error."""
    return ratio(c.fp + c.fn, c.total) - ratio(c.fp - c.fn, c.total) ** 2


def _not_negative(value: Value) -> Value:
    bounded: Value = as_python(np.maximum(value, 0.0))
    return bounded


@measure(
    "Theil's index of benefits: generalized entropy with α = 1.",
    formula=r"\frac1n\sum_i\frac{b_i}{\bar b}\ln\frac{b_i}{\bar b},\ b_i=\hat y_i-y_i+1",
    aliases=("Theil index", "Theil T"),
    references=("speicher2018",),
    values=Values("low", (0, inf), needs=("benefits",)),
)
def theil_index(c: Counts[Value]) -> Value:
    """Benefits are those of `generalized_entropy`: 1 for a correct decision, 2 for a false positive, otherwise 0.

    >>> from baserate import Counts
    >>> round(theil_index(Counts(tp=40, fp=10, fn=10, tn=40)), 6)
    0.138629
    """
    return _not_negative(_entropy(c, 1.0))


@measure(
    "Coefficient of variation of benefits: their standard deviation divided by their mean.",
    formula=r"\sqrt{2GE_2}",
    aliases=("coefficient of variation", "CV of benefits"),
    references=("speicher2018",),
    values=Values("low", (0, inf), needs=("benefits",)),
)
def benefit_variation(c: Counts[Value]) -> Value:
    """Benefits are those of `generalized_entropy`.

    >>> from baserate import Counts
    >>> round(benefit_variation(Counts(tp=40, fp=10, fn=10, tn=40)), 6)
    0.447214
    """
    return ratio(root(_not_negative(_variance(c))), ratio(c.benefits, c.total))


@measure(
    "Generalized false positive rate: mean probability of the negatives.",
    formula=r"\frac1N\sum_{i:y_i=0}p_i",
    aliases=("generalized false positive rate", "GFPR", "mean score of negatives"),
    references=("pleiss2017",),
    values=Values("low", (0, 1), needs=("negatives",)),
)
def generalized_fpr(t: Tally) -> float:
    """
    >>> from baserate import tally
    >>> round(generalized_fpr(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])), 10)
    0.2
    """
    check_probabilities(t)
    return ratio(float(np.dot(t.negative, t.score)), t.negatives)


@measure(
    "Generalized false negative rate: one minus the mean probability of the positives.",
    formula=r"\frac1P\sum_{i:y_i=1}(1-p_i)",
    aliases=("generalized false negative rate", "GFNR"),
    references=("pleiss2017",),
    values=Values("low", (0, 1), needs=("positives",)),
)
def generalized_fnr(t: Tally) -> float:
    """
    >>> from baserate import tally
    >>> round(generalized_fnr(tally([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3])), 10)
    0.15
    """
    check_probabilities(t)
    return ratio(float(np.dot(t.positive, 1 - t.score)), t.positives)
