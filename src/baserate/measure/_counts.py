"""Rates of a 2×2 table. Each takes `Counts` and returns a number for each table in it."""

from math import inf

from baserate._arrays import Value, ratio, root
from baserate._costs import Costs
from baserate._counts import Counts
from baserate.measure._about import measure

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
    "npv",
    "pass_rate",
    "positive_likelihood_ratio",
    "precision",
    "prevalence",
    "prevalence_threshold",
    "sensitivity",
    "specificity",
]


@measure(
    summary="Share of all rows that are classified correctly.",
    formula="(TP+TN)/(TP+FP+FN+TN)",
    also=("fraction correct", "ACC"),
    best="high",
    span=(0, 1),
    needs=("total",),
    dual="accuracy",
    share=(("tp", "tn"), ("fp", "fn")),
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
    also=("misclassification rate", "zero-one loss", "ERR"),
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
    also=("sens", "recall", "TPR", "true positive rate", "hit rate", "detection rate", "CDR", "power"),
    references=("altman1994a",),
    best="high",
    span=(0, 1),
    needs=("positives",),
    dual="specificity",
    share=(("tp",), ("fn",)),
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
    also=("spec", "TNR", "true negative rate", "selectivity"),
    references=("altman1994a",),
    best="high",
    span=(0, 1),
    needs=("negatives",),
    dual="sensitivity",
    share=(("tn",), ("fp",)),
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
    also=("PPV", "positive predictive value", "confidence"),
    references=("altman1994b",),
    best="high",
    span=(0, 1),
    needs=("flagged",),
    dual="npv",
    share=(("tp",), ("fp",)),
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
    also=("negative predictive value",),
    references=("altman1994b",),
    best="high",
    span=(0, 1),
    needs=("passed",),
    dual="precision",
    share=(("tn",), ("fn",)),
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
    also=("false positive rate", "fall-out", "false alarm", "false alarm rate", "type I", "type I error rate"),
    best="low",
    span=(0, 1),
    needs=("negatives",),
    dual="fnr",
    share=(("fp",), ("tn",)),
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
    also=("false negative rate", "miss", "miss rate", "type II", "type II error rate"),
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
    also=("false discovery rate",),
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
    also=("FOR",),
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
    also=("base rate", "class balance", "pre-test probability"),
    best=None,
    span=(0, 1),
    needs=("total",),
    share=(("tp", "fn"), ("fp", "tn")),
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
    also=("selection rate", "detection prevalence", "predicted positive rate", "bias"),
    best=None,
    span=(0, 1),
    needs=("total",),
    dual="pass_rate",
    share=(("tp", "fp"), ("fn", "tn")),
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
    also=("rejection rate", "predicted negative rate"),
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
    also=("lift score", "gain in precision"),
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
    also=("LR+", "PLR"),
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
    also=("LR−", "LR-", "NLR"),
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
    also=("DOR", "odds ratio"),
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
    also=("PT",),
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
    also=("expected loss", "average cost", "classification cost"),
    references=("elkan2001",),
    best="low",
    span=(-inf, inf),
    needs=("total",),
    dual="expected_cost",
)
def expected_cost(c: Counts[Value], *, costs: Costs = Costs()) -> Value:  # noqa: B008  (Costs is immutable)
    """
    >>> from baserate import Counts
    >>> expected_cost(Counts(tp=40, fp=10, fn=10, tn=40), costs=Costs(fp=10, fn=1))
    1.1
    """
    return ratio(costs.total(c), c.total)
