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


@measure(best="high", span=(0, 1), needs=("total",), dual="accuracy", share=(("tp", "tn"), ("fp", "fn")))
def accuracy(c: Counts[Value]) -> Value:
    r"""Share of all that are decided rightly, :math:`(TP+TN)/(TP+FP+FN+TN)`.

    Also: fraction correct, ACC.

    >>> from baserate import Counts
    >>> round(accuracy(Counts(tp=20, fp=50, fn=5, tn=1000)), 10)
    0.9488372093
    """
    return ratio(c.tp + c.tn, c.total)


@measure(best="low", span=(0, 1), needs=("total",), dual="error_rate", share=(("fp", "fn"), ("tp", "tn")))
def error_rate(c: Counts[Value]) -> Value:
    r"""Share of all that are decided wrongly, :math:`(FP+FN)/(TP+FP+FN+TN)`.

    Also: misclassification rate, zero-one loss, ERR.

    >>> from baserate import Counts
    >>> error_rate(Counts(tp=63, fp=28, fn=37, tn=72))
    0.325
    """
    return ratio(c.fp + c.fn, c.total)


@measure(best="high", span=(0, 1), needs=("positives",), dual="specificity", share=(("tp",), ("fn",)))
def sensitivity(c: Counts[Value]) -> Value:
    r"""Share of positives that are flagged, :math:`TP/(TP+FN)`.

    Also: sens, recall, TPR, true positive rate, hit rate, detection rate, CDR, power.
    Reference: [@altman1994a].

    >>> from baserate import Counts
    >>> sensitivity(Counts(tp=231, fp=32, fn=27, tn=54))
    0.8953488372093024
    """
    return ratio(c.tp, c.positives)


@measure(best="high", span=(0, 1), needs=("negatives",), dual="sensitivity", share=(("tn",), ("fp",)))
def specificity(c: Counts[Value]) -> Value:
    r"""Share of negatives that pass, :math:`TN/(FP+TN)`.

    Also: spec, TNR, true negative rate, selectivity.
    Reference: [@altman1994a].

    >>> from baserate import Counts
    >>> round(specificity(Counts(tp=231, fp=32, fn=27, tn=54)), 4)
    0.6279
    """
    return ratio(c.tn, c.negatives)


@measure(best="high", span=(0, 1), needs=("flagged",), dual="npv", share=(("tp",), ("fp",)))
def precision(c: Counts[Value]) -> Value:
    r"""Share of the flagged that are positive, :math:`TP/(TP+FP)`.

    Also: PPV, positive predictive value, confidence.
    Reference: [@altman1994b].

    >>> from baserate import Counts
    >>> round(precision(Counts(tp=231, fp=32, fn=27, tn=54)), 4)
    0.8783
    """
    return ratio(c.tp, c.flagged)


@measure(best="high", span=(0, 1), needs=("passed",), dual="precision", share=(("tn",), ("fn",)))
def npv(c: Counts[Value]) -> Value:
    r"""Share of the passed that are negative, :math:`TN/(FN+TN)`.

    Also: negative predictive value.
    Reference: [@altman1994b].

    >>> from baserate import Counts
    >>> round(npv(Counts(tp=231, fp=32, fn=27, tn=54)), 4)
    0.6667
    """
    return ratio(c.tn, c.passed)


@measure(best="low", span=(0, 1), needs=("negatives",), dual="fnr", share=(("fp",), ("tn",)))
def fpr(c: Counts[Value]) -> Value:
    r"""Share of negatives that are flagged, :math:`FP/(FP+TN)`.

    Also: false positive rate, fall-out, false alarm, false alarm rate, type I, type I error rate.

    >>> from baserate import Counts
    >>> fpr(Counts(tp=63, fp=28, fn=37, tn=72))
    0.28
    """
    return ratio(c.fp, c.negatives)


@measure(best="low", span=(0, 1), needs=("positives",), dual="fpr", share=(("fn",), ("tp",)))
def fnr(c: Counts[Value]) -> Value:
    r"""Share of positives that pass, :math:`FN/(TP+FN)`.

    Also: false negative rate, miss, miss rate, type II, type II error rate.

    >>> from baserate import Counts
    >>> fnr(Counts(tp=63, fp=28, fn=37, tn=72))
    0.37
    """
    return ratio(c.fn, c.positives)


@measure(best="low", span=(0, 1), needs=("flagged",), dual="false_omission_rate", share=(("fp",), ("tp",)))
def fdr(c: Counts[Value]) -> Value:
    r"""Share of the flagged that are negative, :math:`FP/(TP+FP)`.

    Also: false discovery rate.

    >>> from baserate import Counts
    >>> fdr(Counts(tp=30, fp=5, fn=20, tn=45))
    0.14285714285714285
    """
    return ratio(c.fp, c.flagged)


@measure(best="low", span=(0, 1), needs=("passed",), dual="fdr", share=(("fn",), ("tn",)))
def false_omission_rate(c: Counts[Value]) -> Value:
    r"""Share of the passed that are positive, :math:`FN/(FN+TN)`.

    Also: FOR.

    >>> from baserate import Counts
    >>> false_omission_rate(Counts(tp=40, fp=10, fn=10, tn=40))
    0.2
    """
    return ratio(c.fn, c.passed)


@measure(best=None, span=(0, 1), needs=("total",), share=(("tp", "fn"), ("fp", "tn")))
def prevalence(c: Counts[Value]) -> Value:
    r"""Share of all that are positive, :math:`(TP+FN)/(TP+FP+FN+TN)`.

    Also: base rate, class balance, pre-test probability.

    >>> from baserate import Counts
    >>> prevalence(Counts(tp=150, fp=60, fn=40, tn=250))
    0.38
    """
    return ratio(c.positives, c.total)


@measure(best=None, span=(0, 1), needs=("total",), dual="pass_rate", share=(("tp", "fp"), ("fn", "tn")))
def flag_rate(c: Counts[Value]) -> Value:
    r"""Share of all that are flagged, :math:`(TP+FP)/(TP+FP+FN+TN)`.

    Also: selection rate, detection prevalence, predicted positive rate, bias.

    >>> from baserate import Counts
    >>> flag_rate(Counts(tp=40, fp=10, fn=10, tn=40))
    0.5
    """
    return ratio(c.flagged, c.total)


@measure(best=None, span=(0, 1), needs=("total",), dual="flag_rate", share=(("fn", "tn"), ("tp", "fp")))
def pass_rate(c: Counts[Value]) -> Value:
    r"""Share of all that pass, :math:`(FN+TN)/(TP+FP+FN+TN)`.

    Also: rejection rate, predicted negative rate.

    >>> from baserate import Counts
    >>> pass_rate(Counts(tp=30, fp=5, fn=20, tn=45))
    0.65
    """
    return ratio(c.passed, c.total)


@measure(best="high", span=(0, inf), needs=("flagged", "positives"))
def lift(c: Counts[Value]) -> Value:
    r"""How many times as frequent positives are among the flagged as among all, :math:`PPV/π`.

    Also: lift score, gain in precision.

    >>> from baserate import Counts
    >>> round(lift(Counts(tp=40, fp=10, fn=10, tn=40)), 10)
    1.6
    """
    return ratio(precision(c), prevalence(c))


@measure(best="high", span=(0, inf), needs=("positives", "negatives", "flagged"))
def positive_likelihood_ratio(c: Counts[Value]) -> Value:
    r"""How many times as often positives are flagged as negatives, :math:`TPR/FPR`.

    Also: LR+, PLR.
    Reference: [@deeks2004].

    >>> from baserate import Counts
    >>> round(positive_likelihood_ratio(Counts(tp=22, fp=54, fn=1, tn=57)), 10)
    1.9661835749
    """
    return ratio(sensitivity(c), fpr(c))


@measure(best="low", span=(0, inf), needs=("positives", "negatives", "passed"))
def negative_likelihood_ratio(c: Counts[Value]) -> Value:
    r"""How many times as often positives pass as negatives, :math:`FNR/TNR`.

    Also: LR−, LR-, NLR.
    Reference: [@deeks2004].

    >>> from baserate import Counts
    >>> round(negative_likelihood_ratio(Counts(tp=22, fp=54, fn=1, tn=57)), 10)
    0.0846681922
    """
    return ratio(fnr(c), specificity(c))


@measure(
    best="high", span=(0, inf), needs=("positives", "negatives", "flagged", "passed"), dual="diagnostic_odds_ratio"
)
def diagnostic_odds_ratio(c: Counts[Value]) -> Value:
    r"""Odds of a flag among positives over the odds among negatives, :math:`(TP·TN)/(FP·FN)`.

    Also: DOR, odds ratio.
    Reference: [@glas2003].

    >>> from baserate import Counts
    >>> diagnostic_odds_ratio(Counts(tp=40, fp=10, fn=10, tn=40))
    16.0
    """
    return ratio(c.tp * c.tn, c.fp * c.fn)


@measure(best="low", span=(0, 1), needs=("positives", "negatives", "flagged"))
def prevalence_threshold(c: Counts[Value]) -> Value:
    r"""Prevalence below which precision falls steeply, :math:`\sqrt{FPR}/(\sqrt{TPR}+\sqrt{FPR})`.

    Also: PT.
    Reference: [@balayla2020].

    >>> from baserate import Counts
    >>> round(prevalence_threshold(Counts(tp=90, fp=10, fn=10, tn=90)), 10)
    0.25
    """
    hits, alarms = root(sensitivity(c)), root(fpr(c))
    return ratio(alarms, hits + alarms)


@measure(best="low", span=(-inf, inf), needs=("total",), dual="expected_cost")
def expected_cost(c: Counts[Value], *, costs: Costs = Costs()) -> Value:  # noqa: B008  (Costs is immutable)
    r"""Mean cost of a decision, :math:`\sum C_{ij} n_{ij} / n`; by default each error costs 1.

    Also: expected loss, average cost, classification cost.
    Reference: [@elkan2001].

    >>> from baserate import Counts
    >>> expected_cost(Counts(tp=40, fp=10, fn=10, tn=40), costs=Costs(fp=10, fn=1))
    1.1
    """
    return ratio(costs.total(c), c.total)
