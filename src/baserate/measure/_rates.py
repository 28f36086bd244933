"""Rates of a 2×2 table, expected cost and net benefit. Each takes `Counts` and returns a number for each table."""

from math import inf
from typing import Any

import numpy as np

from baserate._arrays import Floats, Value, ratio, root
from baserate._costs import Costs
from baserate._counts import Counts
from baserate._domains import SHARE
from baserate._errors import OptionError
from baserate.measure._measure import measure

__all__ = [
    "accuracy",
    "diagnostic_odds_ratio",
    "error_rate",
    "expected_cost",
    "false_omission_rate",
    "fdr",
    "flag_rate",
    "fnr",
    "fpr",
    "lift",
    "negative_likelihood_ratio",
    "net_benefit",
    "net_reduction",
    "npv",
    "pass_rate",
    "positive_likelihood_ratio",
    "precision",
    "prevalence",
    "prevalence_threshold",
    "sensitivity",
    "specificity",
    "standardized_net_benefit",
]


@measure(
    summary="Share of all rows that are classified correctly.",
    formula="(TP+TN)/(TP+FP+FN+TN)",
    aliases=("fraction correct", "ACC"),
    best="high",
    span=(0, 1),
    needs=("total",),
    dual="accuracy",
    share=(("tp", "tn"), ("fp", "fn")),
    page="Accuracy",
)
def accuracy(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(accuracy(Counts(tp=20, fp=50, fn=5, tn=1000)), 10)
    0.9488372093
    """
    return ratio(c.tp + c.tn, c.total)


@measure(
    summary="Share of all rows that are misclassified.",
    formula="(FP+FN)/(TP+FP+FN+TN)",
    aliases=("misclassification rate", "zero-one loss", "ERR"),
    best="low",
    span=(0, 1),
    needs=("total",),
    dual="error_rate",
    share=(("fp", "fn"), ("tp", "tn")),
)
def error_rate(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> error_rate(Counts(tp=63, fp=28, fn=37, tn=72))
    0.325
    """
    return ratio(c.fp + c.fn, c.total)


@measure(
    summary="Share of positives that are flagged (recall).",
    formula="TP/(TP+FN)",
    aliases=("sens", "recall", "TPR", "true positive rate", "hit rate", "detection rate", "CDR", "power"),
    references=("altman1994a",),
    best="high",
    span=(0, 1),
    needs=("positives",),
    dual="specificity",
    share=(("tp",), ("fn",)),
    page="Sensitivity (recall)",
)
def sensitivity(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> sensitivity(Counts(tp=231, fp=32, fn=27, tn=54))
    0.8953488372093024
    """
    return ratio(c.tp, c.positives)


@measure(
    summary="Share of negatives that are not flagged.",
    formula="TN/(FP+TN)",
    aliases=("spec", "TNR", "true negative rate", "selectivity"),
    references=("altman1994a",),
    best="high",
    span=(0, 1),
    needs=("negatives",),
    dual="sensitivity",
    share=(("tn",), ("fp",)),
    page="Specificity",
)
def specificity(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(specificity(Counts(tp=231, fp=32, fn=27, tn=54)), 4)
    0.6279
    """
    return ratio(c.tn, c.negatives)


@measure(
    summary="Share of flagged rows that are positive (PPV).",
    formula="TP/(TP+FP)",
    aliases=("PPV", "positive predictive value", "confidence"),
    references=("altman1994b",),
    best="high",
    span=(0, 1),
    needs=("flagged",),
    dual="npv",
    share=(("tp",), ("fp",)),
    page="PPV (precision)",
)
def precision(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(precision(Counts(tp=231, fp=32, fn=27, tn=54)), 4)
    0.8783
    """
    return ratio(c.tp, c.flagged)


@measure(
    summary="Negative predictive value: share of rows not flagged that are negative.",
    formula="TN/(FN+TN)",
    aliases=("negative predictive value",),
    references=("altman1994b",),
    best="high",
    span=(0, 1),
    needs=("passed",),
    dual="precision",
    share=(("tn",), ("fn",)),
    page="NPV",
)
def npv(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(npv(Counts(tp=231, fp=32, fn=27, tn=54)), 4)
    0.6667
    """
    return ratio(c.tn, c.passed)


@measure(
    summary="False positive rate: share of negatives that are flagged.",
    formula="FP/(FP+TN)",
    aliases=("false positive rate", "fall-out", "false alarm", "false alarm rate", "type I", "type I error rate"),
    best="low",
    span=(0, 1),
    needs=("negatives",),
    dual="fnr",
    share=(("fp",), ("tn",)),
    page="False positive rate",
)
def fpr(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> fpr(Counts(tp=63, fp=28, fn=37, tn=72))
    0.28
    """
    return ratio(c.fp, c.negatives)


@measure(
    summary="False negative rate: share of positives that are not flagged.",
    formula="FN/(TP+FN)",
    aliases=("false negative rate", "miss", "miss rate", "type II", "type II error rate"),
    best="low",
    span=(0, 1),
    needs=("positives",),
    dual="fpr",
    share=(("fn",), ("tp",)),
)
def fnr(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> fnr(Counts(tp=63, fp=28, fn=37, tn=72))
    0.37
    """
    return ratio(c.fn, c.positives)


@measure(
    summary="False discovery rate: share of flagged rows that are negative.",
    formula="FP/(TP+FP)",
    aliases=("false discovery rate",),
    best="low",
    span=(0, 1),
    needs=("flagged",),
    dual="false_omission_rate",
    share=(("fp",), ("tp",)),
)
def fdr(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> fdr(Counts(tp=30, fp=5, fn=20, tn=45))
    0.14285714285714285
    """
    return ratio(c.fp, c.flagged)


@measure(
    summary="Share of rows not flagged that are positive.",
    formula="FN/(FN+TN)",
    aliases=("FOR",),
    best="low",
    span=(0, 1),
    needs=("passed",),
    dual="fdr",
    share=(("fn",), ("tn",)),
)
def false_omission_rate(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> false_omission_rate(Counts(tp=40, fp=10, fn=10, tn=40))
    0.2
    """
    return ratio(c.fn, c.passed)


@measure(
    summary="Share of all rows that are positive (base rate).",
    formula="(TP+FN)/(TP+FP+FN+TN)",
    aliases=("base rate", "class balance", "pre-test probability"),
    best=None,
    span=(0, 1),
    needs=("total",),
    share=(("tp", "fn"), ("fp", "tn")),
    page="Prevalence",
)
def prevalence(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> prevalence(Counts(tp=150, fp=60, fn=40, tn=250))
    0.38
    """
    return ratio(c.positives, c.total)


@measure(
    summary="Share of all rows that are flagged (selection rate).",
    formula="(TP+FP)/(TP+FP+FN+TN)",
    aliases=("selection rate", "detection prevalence", "predicted positive rate", "bias"),
    best=None,
    span=(0, 1),
    needs=("total",),
    dual="pass_rate",
    share=(("tp", "fp"), ("fn", "tn")),
    page="Flagged (share of all)",
)
def flag_rate(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> flag_rate(Counts(tp=40, fp=10, fn=10, tn=40))
    0.5
    """
    return ratio(c.flagged, c.total)


@measure(
    summary="Share of all rows that are not flagged.",
    formula="(FN+TN)/(TP+FP+FN+TN)",
    aliases=("rejection rate", "predicted negative rate"),
    best=None,
    span=(0, 1),
    needs=("total",),
    dual="flag_rate",
    share=(("fn", "tn"), ("tp", "fp")),
)
def pass_rate(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> pass_rate(Counts(tp=30, fp=5, fn=20, tn=45))
    0.65
    """
    return ratio(c.passed, c.total)


@measure(
    summary="Precision divided by the prevalence.",
    formula="PPV/π",
    aliases=("lift score", "gain in precision"),
    best="high",
    span=(0, inf),
    needs=("flagged", "positives"),
)
def lift(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(lift(Counts(tp=40, fp=10, fn=10, tn=40)), 10)
    1.6
    """
    return ratio(precision(c), prevalence(c))


@measure(
    summary="Sensitivity divided by the false positive rate.",
    formula="TPR/FPR",
    aliases=("LR+", "PLR"),
    references=("deeks2004",),
    best="high",
    span=(0, inf),
    needs=("positives", "negatives", "flagged"),
)
def positive_likelihood_ratio(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(positive_likelihood_ratio(Counts(tp=22, fp=54, fn=1, tn=57)), 10)
    1.9661835749
    """
    return ratio(sensitivity(c), fpr(c))


@measure(
    summary="False negative rate divided by the specificity.",
    formula="FNR/TNR",
    aliases=("LR−", "LR-", "NLR"),
    references=("deeks2004",),
    best="low",
    span=(0, inf),
    needs=("positives", "negatives", "passed"),
)
def negative_likelihood_ratio(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(negative_likelihood_ratio(Counts(tp=22, fp=54, fn=1, tn=57)), 10)
    0.0846681922
    """
    return ratio(fnr(c), specificity(c))


@measure(
    summary="Odds of being flagged among positives divided by the odds among negatives.",
    formula="(TP·TN)/(FP·FN)",
    aliases=("DOR", "odds ratio"),
    references=("glas2003",),
    best="high",
    span=(0, inf),
    needs=("positives", "negatives", "flagged", "passed"),
    dual="diagnostic_odds_ratio",
)
def diagnostic_odds_ratio(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> diagnostic_odds_ratio(Counts(tp=40, fp=10, fn=10, tn=40))
    16.0
    """
    return ratio(c.tp * c.tn, c.fp * c.fn)


@measure(
    summary="Prevalence below which precision falls steeply (point of maximum curvature).",
    formula=r"\sqrt{FPR}/(\sqrt{TPR}+\sqrt{FPR})",
    aliases=("PT",),
    references=("balayla2020",),
    best="low",
    span=(0, 1),
    needs=("positives", "negatives", "flagged"),
)
def prevalence_threshold(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(prevalence_threshold(Counts(tp=90, fp=10, fn=10, tn=90)), 10)
    0.25
    """
    hits, alarms = root(sensitivity(c)), root(fpr(c))
    return ratio(alarms, hits + alarms)


@measure(
    summary="Mean cost per row (by default, each error costs 1).",
    formula=r"\sum C_{ij} n_{ij} / n",
    aliases=("expected loss", "average cost", "classification cost"),
    references=("elkan2001",),
    best="low",
    span=(-inf, inf),
    needs=("total",),
    dual="expected_cost",
    page="Expected cost per person",
    option="costs",
    option_required=True,
)
def expected_cost(c: Counts[Value], *, costs: Costs = Costs()) -> Value:  # noqa: B008  (Costs is immutable)
    """
    >>> from baserate import Counts
    >>> expected_cost(Counts(tp=40, fp=10, fn=10, tn=40), costs=Costs(fp=10, fn=1))
    1.1
    """
    return ratio(costs.total(c), c.total)


@measure(
    summary="Net benefit per row: true positives minus false positives times the odds of the threshold probability.",
    formula=r"\frac{TP}{n}-\frac{FP}{n}\frac{p_t}{1-p_t}",
    aliases=("NB",),
    references=("vickers2006",),
    best="high",
    span=(-inf, 1),
    needs=("total",),
    dual="net_reduction",
    option="at",
    option_required=True,
)
def net_benefit(c: Counts[Value], *, at: float | Floats = 0.5) -> Value:
    """A threshold probability `at` of :math:`p_t` implies that one false positive is as bad as :math:`p_t/(1-p_t)` true
    positives are good. Flagging nobody has net benefit 0. Several tables may each have their own `at`.

    >>> from baserate import Counts
    >>> round(net_benefit(Counts(tp=72, fp=72, fn=33, tn=573), at=0.25), 10)
    0.064
    """
    benefit: Value = ratio(c.tp - threshold_odds(at) * c.fp, c.total)
    return benefit


@measure(
    summary="Net benefit divided by its maximum, the prevalence.",
    formula=r"TPR-\frac{1-π}{π}\frac{p_t}{1-p_t}FPR",
    aliases=("sNB", "standardised net benefit", "relative net benefit"),
    references=("kerr2016",),
    best="high",
    span=(-inf, 1),
    needs=("positives",),
    option="at",
    option_required=True,
)
def standardized_net_benefit(c: Counts[Value], *, at: float | Floats = 0.5) -> Value:
    """The maximum, the prevalence :math:`π`, is reached by flagging all positives and nobody else.

    >>> from baserate import Counts
    >>> round(standardized_net_benefit(Counts(tp=72, fp=72, fn=33, tn=573), at=0.25), 10)
    0.4571428571
    """
    benefit: Value = sensitivity(c) - ratio(threshold_odds(at) * c.fp, c.positives)
    return benefit


@measure(
    summary="Net reduction in interventions per row, compared with flagging everybody.",
    formula=r"\frac{TN}{n}-\frac{FN}{n}\frac{1-p_t}{p_t}",
    aliases=("net reduction in interventions", "net interventions avoided"),
    references=("vickers2006",),
    best="high",
    span=(-inf, 1),
    needs=("total",),
    dual="net_benefit",
    option="at",
    option_required=True,
)
def net_reduction(c: Counts[Value], *, at: float | Floats = 0.5) -> Value:
    """The gain in net benefit over flagging everybody, in units of true negatives. Some programs report it per 100.

    >>> from baserate import Counts
    >>> round(net_reduction(Counts(tp=72, fp=72, fn=33, tn=573), at=0.25), 10)
    0.632
    """
    weight = threshold_odds(at)
    # Dividing by odds of 0 would give −inf or NaN, which no reason explains.
    if weight == 0 if isinstance(weight, float) else np.any(np.equal(weight, 0)):
        raise OptionError(
            "at is 0: then nothing is worth a missed positive, and nothing can be spared", remedy="give more than 0."
        )
    reduction: Value = ratio(c.tn - c.fn / weight, c.total)
    return reduction


def threshold_odds(at: float | Floats) -> Any:  # noqa: ANN401  (a number, or one for each table)
    """Return the odds of a threshold probability: the number of true positives that one false positive outweighs."""
    each = np.asarray(at, dtype=np.float64)
    if not ((each == 0) | ((each >= SHARE.low) & (each <= SHARE.high))).all():
        raise OptionError(
            f"at is {at}; expected 0 or {SHARE.words}.",
            remedy="Give a probability to act from, for example 0.1.",
            option="at",
            value=at,
        )
    return at / (1 - at)
