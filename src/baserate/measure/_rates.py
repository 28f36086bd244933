"""Rates of a 2×2 table, expected cost, net benefit, F1, MCC, kappa. Each takes `Counts`, of one table or of many."""

from math import inf
from typing import Any

import numpy as np

from baserate._arrays import Floats, Value, as_python, ratio, root
from baserate._costs import Costs, CostsLike, as_costs
from baserate._counts import Counts
from baserate._domains import SHARE, wrong_option
from baserate._errors import OptionError
from baserate.measure._measure import Values, measure

__all__ = [
    "accuracy",
    "balanced_accuracy",
    "borko",
    "diagnostic_odds_ratio",
    "e_measure",
    "error_rate",
    "expected_cost",
    "f1",
    "f_beta",
    "false_omission_rate",
    "fdr",
    "flag_rate",
    "fnr",
    "fowlkes_mallows",
    "fpr",
    "g_mean",
    "jaccard",
    "kappa",
    "lift",
    "markedness",
    "mcc",
    "negative_likelihood_ratio",
    "net_benefit",
    "net_reduction",
    "no_information_rate",
    "npv",
    "number_needed_to_diagnose",
    "number_needed_to_misdiagnose",
    "pass_rate",
    "positive_likelihood_ratio",
    "precision",
    "predictive_value_product",
    "prevalence",
    "prevalence_threshold",
    "risk_ratio",
    "sensitivity",
    "specificity",
    "standardized_net_benefit",
    "weighted_kappa",
    "youden",
]

_ROUNDING = 1e-12
_ALL_MARGINS = ("positives", "negatives", "flagged", "not_flagged")


@measure(
    "Share of all rows that are classified correctly.",
    formula="(TP+TN)/(TP+FP+FN+TN)",
    aliases=("fraction correct", "ACC"),
    values=Values("high", (0, 1), needs=("total",), dual="accuracy", share=(("tp", "tn"), ("fp", "fn"))),
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
    "Share of all rows that are misclassified.",
    formula="(FP+FN)/(TP+FP+FN+TN)",
    aliases=("misclassification rate", "zero-one loss", "ERR"),
    values=Values("low", (0, 1), needs=("total",), dual="error_rate", share=(("fp", "fn"), ("tp", "tn"))),
)
def error_rate(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> error_rate(Counts(tp=63, fp=28, fn=37, tn=72))
    0.325
    """
    return ratio(c.fp + c.fn, c.total)


@measure(
    "Share of positives that are flagged (recall).",
    formula="TP/(TP+FN)",
    aliases=("sens", "recall", "TPR", "true positive rate", "hit rate", "detection rate", "CDR", "power"),
    references=("altman1994a",),
    values=Values("high", (0, 1), needs=("positives",), dual="specificity", share=(("tp",), ("fn",))),
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
    "Share of negatives that are not flagged.",
    formula="TN/(FP+TN)",
    aliases=("spec", "TNR", "true negative rate", "selectivity"),
    references=("altman1994a",),
    values=Values("high", (0, 1), needs=("negatives",), dual="sensitivity", share=(("tn",), ("fp",))),
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
    "Share of flagged rows that are positive (PPV).",
    formula="TP/(TP+FP)",
    aliases=("PPV", "positive predictive value", "confidence"),
    references=("altman1994b",),
    values=Values("high", (0, 1), needs=("flagged",), dual="npv", share=(("tp",), ("fp",))),
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
    "Negative predictive value: share of rows not flagged that are negative.",
    formula="TN/(FN+TN)",
    aliases=("negative predictive value",),
    references=("altman1994b",),
    values=Values("high", (0, 1), needs=("not_flagged",), dual="precision", share=(("tn",), ("fn",))),
    page="NPV",
)
def npv(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(npv(Counts(tp=231, fp=32, fn=27, tn=54)), 4)
    0.6667
    """
    return ratio(c.tn, c.not_flagged)


@measure(
    "False positive rate: share of negatives that are flagged.",
    formula="FP/(FP+TN)",
    aliases=("false positive rate", "fall-out", "false alarm", "false alarm rate", "type I", "type I error rate"),
    values=Values("low", (0, 1), needs=("negatives",), dual="fnr", share=(("fp",), ("tn",))),
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
    "False negative rate: share of positives that are not flagged.",
    formula="FN/(TP+FN)",
    aliases=("false negative rate", "miss", "miss rate", "type II", "type II error rate"),
    values=Values("low", (0, 1), needs=("positives",), dual="fpr", share=(("fn",), ("tp",))),
)
def fnr(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> fnr(Counts(tp=63, fp=28, fn=37, tn=72))
    0.37
    """
    return ratio(c.fn, c.positives)


@measure(
    "False discovery rate: share of flagged rows that are negative.",
    formula="FP/(TP+FP)",
    aliases=("false discovery rate",),
    values=Values("low", (0, 1), needs=("flagged",), dual="false_omission_rate", share=(("fp",), ("tp",))),
)
def fdr(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> fdr(Counts(tp=30, fp=5, fn=20, tn=45))
    0.14285714285714285
    """
    return ratio(c.fp, c.flagged)


@measure(
    "Share of rows not flagged that are positive.",
    formula="FN/(FN+TN)",
    aliases=("FOR",),
    values=Values("low", (0, 1), needs=("not_flagged",), dual="fdr", share=(("fn",), ("tn",))),
)
def false_omission_rate(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> false_omission_rate(Counts(tp=40, fp=10, fn=10, tn=40))
    0.2
    """
    return ratio(c.fn, c.not_flagged)


@measure(
    "Share of all rows that are positive (base rate).",
    formula="(TP+FN)/(TP+FP+FN+TN)",
    aliases=("base rate", "class balance", "pre-test probability"),
    values=Values(None, (0, 1), needs=("total",), share=(("tp", "fn"), ("fp", "tn"))),
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
    "No-information rate: accuracy of always predicting the more frequent class.",
    formula="\\max(π,1-π)",
    aliases=("NIR", "AccuracyNull", "null accuracy", "majority class rate", "zero rule accuracy"),
    references=("kuhn2008",),
    values=Values(None, (0.5, 1), needs=("total",), dual="no_information_rate", percent=True),
)
def no_information_rate(c: Counts[Value]) -> Value:
    """`infer.no_information_test` tests whether the accuracy is higher.

    >>> from baserate import Counts
    >>> no_information_rate(Counts(tp=231, fp=32, fn=27, tn=54))
    0.75
    """
    most: Value = as_python(np.maximum(c.positives, c.negatives))
    return ratio(most, c.total)


@measure(
    "Share of all rows that are flagged (selection rate).",
    formula="(TP+FP)/(TP+FP+FN+TN)",
    aliases=("selection rate", "detection prevalence", "predicted positive rate", "bias"),
    values=Values(None, (0, 1), needs=("total",), dual="pass_rate", share=(("tp", "fp"), ("fn", "tn"))),
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
    "Share of all rows that are not flagged.",
    formula="(FN+TN)/(TP+FP+FN+TN)",
    aliases=("rejection rate", "predicted negative rate"),
    values=Values(None, (0, 1), needs=("total",), dual="flag_rate", share=(("fn", "tn"), ("tp", "fp"))),
)
def pass_rate(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> pass_rate(Counts(tp=30, fp=5, fn=20, tn=45))
    0.65
    """
    return ratio(c.not_flagged, c.total)


@measure(
    "Precision divided by the prevalence.",
    formula="PPV/π",
    aliases=("lift score", "gain in precision"),
    values=Values("high", (0, inf), needs=("flagged", "positives")),
)
def lift(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(lift(Counts(tp=40, fp=10, fn=10, tn=40)), 10)
    1.6
    """
    return ratio(precision(c), prevalence(c))


@measure(
    "Sensitivity divided by the false positive rate.",
    formula="TPR/FPR",
    aliases=("LR+", "PLR"),
    references=("deeks2004",),
    values=Values("high", (0, inf), needs=("positives", "negatives", "flagged")),
)
def positive_likelihood_ratio(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(positive_likelihood_ratio(Counts(tp=22, fp=54, fn=1, tn=57)), 10)
    1.9661835749
    """
    return ratio(sensitivity(c), fpr(c))


@measure(
    "False negative rate divided by the specificity.",
    formula="FNR/TNR",
    aliases=("LR−", "LR-", "NLR"),
    references=("deeks2004",),
    values=Values("low", (0, inf), needs=("positives", "negatives", "not_flagged")),
)
def negative_likelihood_ratio(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(negative_likelihood_ratio(Counts(tp=22, fp=54, fn=1, tn=57)), 10)
    0.0846681922
    """
    return ratio(fnr(c), specificity(c))


@measure(
    "Odds of being flagged among positives divided by the odds among negatives.",
    formula="(TP·TN)/(FP·FN)",
    aliases=("DOR", "odds ratio"),
    references=("glas2003",),
    values=Values("high", (0, inf), needs=_ALL_MARGINS, dual="diagnostic_odds_ratio"),
)
def diagnostic_odds_ratio(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> diagnostic_odds_ratio(Counts(tp=40, fp=10, fn=10, tn=40))
    16.0
    """
    # No half row is added to each cell (Haldane's correction): an empty cell makes the ratio 0 or infinite.
    return ratio(c.tp * c.tn, c.fp * c.fn)


@measure(
    "Risk among flagged rows divided by the risk among rows that are not flagged (relative risk).",
    formula="PPV/(1-NPV)",
    aliases=("relative risk", "RR"),
    references=("fleiss2003",),
    values=Values("high", (0, inf), needs=("positives", "flagged", "not_flagged")),
)
def risk_ratio(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> risk_ratio(Counts(tp=40, fp=10, fn=10, tn=40))
    4.0
    """
    return ratio(precision(c), false_omission_rate(c))


@measure(
    "Prevalence below which precision falls steeply (point of maximum curvature).",
    formula=r"\sqrt{FPR}/(\sqrt{TPR}+\sqrt{FPR})",
    aliases=("PT",),
    references=("balayla2020",),
    values=Values("low", (0, 1), needs=("positives", "negatives", "flagged")),
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
    "Mean cost per row (by default, each error costs 1).",
    formula=r"\sum C_{ij} n_{ij} / n",
    aliases=("expected loss", "average cost", "classification cost"),
    references=("elkan2001",),
    values=Values("low", (-inf, inf), needs=("total",), dual="expected_cost"),
    page="Expected cost per person",
    option="costs",
    option_required=True,
)
def expected_cost(c: Counts[Value], *, costs: CostsLike = Costs()) -> Value:  # noqa: B008  (Costs is immutable)
    """
    >>> from baserate import Counts
    >>> expected_cost(Counts(tp=40, fp=10, fn=10, tn=40), costs=Costs(fp=10, fn=1))
    1.1
    """
    costs = as_costs(costs)
    return ratio(costs.total(c), c.total)


@measure(
    "Net benefit per row: true positives minus false positives times the odds of the threshold probability.",
    formula=r"\frac{TP}{n}-\frac{FP}{n}\frac{p_t}{1-p_t}",
    aliases=("NB",),
    references=("vickers2006",),
    values=Values("high", (-inf, 1), needs=("total",), dual="net_reduction"),
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
    "Net benefit divided by its maximum, the prevalence.",
    formula=r"TPR-\frac{1-π}{π}\frac{p_t}{1-p_t}FPR",
    aliases=("sNB", "standardised net benefit", "relative net benefit"),
    references=("kerr2016",),
    values=Values("high", (-inf, 1), needs=("positives",)),
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
    "Net reduction in interventions per row, compared with flagging everybody.",
    formula=r"\frac{TN}{n}-\frac{FN}{n}\frac{1-p_t}{p_t}",
    aliases=("net reduction in interventions", "net interventions avoided"),
    references=("vickers2006",),
    values=Values("high", (-inf, 1), needs=("total",), dual="net_benefit"),
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
        raise OptionError("at is 0, at which a missed positive has infinite weight", remedy="give more than 0.")
    reduction: Value = ratio(c.tn - c.fn / weight, c.total)
    return reduction


def threshold_odds(at: float | Floats) -> Any:  # noqa: ANN401  (a number, or one for each table)
    """Return the odds of a threshold probability: the number of true positives that one false positive outweighs."""
    each = np.asarray(at, dtype=np.float64)
    # 0 is allowed: false positives then cost nothing.
    if not ((each == 0) | ((each >= SHARE.low) & (each <= SHARE.high))).all():
        raise wrong_option("at", at, f"0 or {SHARE.words}", remedy="Give a threshold probability, for example 0.1.")
    return at / (1 - at)


@measure(
    "Harmonic mean of precision and recall.",
    formula="2TP/(2TP+FP+FN)",
    aliases=("F1 score", "Dice coefficient", "Sørensen–Dice"),
    references=("vanrijsbergen1979",),
    values=Values("high", (0, 1), needs=("either",)),
    page="F1",
)
def f1(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(f1(Counts(tp=90, fp=1910, fn=10, tn=997_990)), 10)
    0.0857142857
    """
    return f_beta(c)


@measure(
    "Weighted harmonic mean of precision and recall, in which recall counts β times as much.",
    formula="(1+β^2)TP/((1+β^2)TP+β^2FN+FP)",
    aliases=("F-measure", "F-score", "van Rijsbergen's F"),
    references=("vanrijsbergen1979",),
    values=Values("high", (0, 1), needs=("either",)),
    option="beta",
)
def f_beta(c: Counts[Value], *, beta: float = 1.0) -> Value:
    """
    >>> from baserate import Counts
    >>> round(f_beta(Counts(tp=20, fp=10, fn=40, tn=0), beta=2), 10)
    0.3703703704
    """
    if not 0 < beta < float("inf"):
        remedy = "Or use precision (β → 0) or sensitivity (β → ∞)."
        raise wrong_option("beta", beta, "a number above 0", remedy=remedy)
    # From the cells: the harmonic mean is 0/0 where precision and recall are 0, and F is 0 there.
    hits = (1 + beta**2) * c.tp
    return ratio(hits, hits + beta**2 * c.fn + c.fp)


@measure(
    "Van Rijsbergen's effectiveness measure: one minus the F-measure.",
    formula="1-F_β",
    aliases=("van Rijsbergen's E", "effectiveness measure"),
    references=("vanrijsbergen1979",),
    values=Values("low", (0, 1), needs=("either",)),
    option="beta",
)
def e_measure(c: Counts[Value], *, beta: float = 1.0) -> Value:
    """
    >>> from baserate import Counts
    >>> round(e_measure(Counts(tp=20, fp=10, fn=40, tn=0)), 10)
    0.5555555556
    """
    return 1 - f_beta(c, beta=beta)


@measure(
    "Precision plus recall minus one.",
    formula="PPV+TPR-1",
    aliases=("P+R−1", "Borko's measure"),
    references=("vanrijsbergen1979",),
    values=Values("high", (-1, 1), needs=("positives", "flagged")),
)
def borko(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(borko(Counts(tp=20, fp=10, fn=40, tn=0)), 10)
    0.0
    """
    return precision(c) + sensitivity(c) - 1


@measure(
    "Matthews correlation coefficient: correlation between true and predicted class.",
    formula=r"(TP·TN-FP·FN)/\sqrt{(TP+FP)(TP+FN)(FP+TN)(FN+TN)}",
    aliases=("Matthews correlation coefficient", "phi coefficient", "Yule phi"),
    references=("chicco2020",),
    values=Values("high", (-1, 1), needs=_ALL_MARGINS, dual="mcc"),
    page="MCC",
)
def mcc(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(mcc(Counts(tp=90, fp=1910, fn=10, tn=997_990)), 10)
    0.2010100557
    """
    # Two roots, since the product of four margins may overflow.
    return ratio(c.tp * c.tn - c.fp * c.fn, root(c.flagged * c.positives) * root(c.not_flagged * c.negatives))


@measure(
    "Cohen's kappa: agreement beyond chance, divided by the maximum possible beyond chance.",
    formula="(p_o-p_e)/(1-p_e)",
    aliases=("Cohen's kappa", "Heidke skill score"),
    references=("cohen1960",),
    values=Values("high", (-1, 1), needs=("chance_disagreement",), dual="kappa"),
)
def kappa(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> kappa(Counts(tp=20, fp=10, fn=5, tn=15))
    0.4
    """
    # Equal to (p_o − p_e)/(1 − p_e), which would lose digits where agreement by chance is nearly certain.
    return ratio(2 * (c.tp * c.tn - c.fp * c.fn), c.chance_disagreement)


@measure(
    "Cohen's kappa with costs: relative saving over as many random flags.",
    formula=r"1-\frac{C_{FP}FP+C_{FN}FN}{(C_{FP}·N·\hat P+C_{FN}·P·\hat N)/n}",
    aliases=("Kraemer's weighted kappa",),
    references=("cohen1968",),
    values=Values("high", (-inf, 1), needs=("chance_disagreement",), dual="weighted_kappa"),
    option="costs",
    option_required=True,
)
def weighted_kappa(c: Counts[Value], *, costs: CostsLike = Costs()) -> Value:  # noqa: B008  (Costs is immutable)
    """Equal costs give Cohen's kappa. Both errors must cost more than nothing, and correct decisions nothing.

    >>> from baserate import Counts
    >>> c = Counts(tp=20, fp=10, fn=5, tn=15)
    >>> weighted_kappa(c), round(weighted_kappa(c, costs=Costs(fn=3)), 10)
    (0.4, 0.4444444444)
    """
    costs = as_costs(costs)
    if not (costs.fp > 0 and costs.fn > 0) or costs.tp or costs.tn:
        raise OptionError(
            f"costs are {costs}; expected costs of both errors above 0, and none of correct decisions.",
            option="costs",
            value=costs,
        )
    chance = costs.fp * c.negatives * c.flagged + costs.fn * c.positives * c.not_flagged
    return ratio((costs.fp + costs.fn) * (c.tp * c.tn - c.fp * c.fn), chance)


@measure(
    "Mean of sensitivity and specificity.",
    formula="(TPR+TNR)/2",
    aliases=("BA", "bACC", "mean per-class recall"),
    references=("brodersen2010",),
    values=Values("high", (0, 1), needs=("positives", "negatives"), dual="balanced_accuracy", percent=True),
    page="Balanced accuracy",
)
def balanced_accuracy(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> balanced_accuracy(Counts(tp=495, fp=455, fn=405, tn=8645))
    0.75
    """
    return (sensitivity(c) + specificity(c)) / 2


@measure(
    "Youden's J: sensitivity plus specificity minus one.",
    formula="TPR+TNR-1",
    aliases=("Youden's J", "informedness", "bookmaker informedness", "true skill statistic", "Peirce skill score"),
    references=("youden1950",),
    values=Values("high", (-1, 1), needs=("positives", "negatives"), dual="youden"),
)
def youden(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(youden(Counts(tp=231, fp=32, fn=27, tn=54)), 4)
    0.5233
    """
    return sensitivity(c) + specificity(c) - 1


@measure(
    "Number needed to diagnose: one divided by Youden's J.",
    formula="1/(TPR+TNR-1)",
    aliases=("NND", "nndx"),
    references=("linn2006",),
    values=Values(None, (-inf, inf), needs=("positives", "negatives"), dual="number_needed_to_diagnose"),
)
def number_needed_to_diagnose(c: Counts[Value]) -> Value:
    """Of positive numbers, 1 is best. Decisions independent of the outcome have an infinite number; worse ones have a
    negative number. Neither direction is better throughout, so compare models by `youden`.

    >>> from baserate import Counts
    >>> round(number_needed_to_diagnose(Counts(tp=670, fp=202, fn=74, tn=640)), 10)
    1.51370055
    """
    pairs = c.positives * c.negatives
    gain = c.tp * c.tn - c.fp * c.fn
    # Rounding of equal rates of weighted rows must not make an infinite number a large one of either sign.
    return ratio(pairs, as_python(np.where(np.abs(gain) <= _ROUNDING * pairs, 0.0, gain)))


@measure(
    "Number needed to misdiagnose: rows for each error, one divided by the error rate.",
    formula="1/(1-ACC)",
    aliases=("NNM", "number of tests per error"),
    references=("habibzadeh2013",),
    values=Values("high", (1, inf), needs=("total",), dual="number_needed_to_misdiagnose"),
)
def number_needed_to_misdiagnose(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(number_needed_to_misdiagnose(Counts(tp=670, fp=202, fn=74, tn=640)), 10)
    5.7463768116
    """
    return ratio(c.total, c.fp + c.fn)


@measure(
    "Precision plus negative predictive value minus one.",
    formula="PPV+NPV-1",
    aliases=("MK", "delta p"),
    references=("powers2011",),
    values=Values("high", (-1, 1), needs=("flagged", "not_flagged"), dual="markedness"),
)
def markedness(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(markedness(Counts(tp=231, fp=32, fn=27, tn=54)), 4)
    0.545
    """
    return precision(c) + npv(c) - 1


@measure(
    "Product of precision and negative predictive value.",
    formula="PPV·NPV",
    aliases=("prod ppv npv",),
    references=("altman1994b",),
    values=Values("high", (0, 1), needs=("flagged", "not_flagged"), dual="predictive_value_product"),
)
def predictive_value_product(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(predictive_value_product(Counts(tp=40, fp=10, fn=10, tn=40)), 10)
    0.64
    """
    return precision(c) * npv(c)


@measure(
    "Geometric mean of sensitivity and specificity.",
    formula=r"\sqrt{TPR·TNR}",
    aliases=("geometric mean", "GM"),
    references=("kubat1998",),
    values=Values("high", (0, 1), needs=("positives", "negatives"), dual="g_mean"),
)
def g_mean(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(g_mean(Counts(tp=495, fp=455, fn=405, tn=8645)), 10)
    0.7228416147
    """
    return root(sensitivity(c) * specificity(c))


@measure(
    "Fowlkes–Mallows index: geometric mean of precision and recall.",
    formula=r"\sqrt{PPV·TPR}",
    aliases=("FM", "Ochiai coefficient", "cosine similarity"),
    references=("fowlkes1983",),
    values=Values("high", (0, 1), needs=("positives", "flagged")),
)
def fowlkes_mallows(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(fowlkes_mallows(Counts(tp=40, fp=10, fn=10, tn=40)), 10)
    0.8
    """
    return root(precision(c) * sensitivity(c))


@measure(
    "Jaccard index: true positives divided by all rows that are positive or flagged.",
    formula="TP/(TP+FP+FN)",
    aliases=(
        "Jaccard index",
        "threat score",
        "critical success index",
        "CSI",
        "intersection over union",
        "IoU",
        "Tanimoto",
    ),
    references=("jaccard1901",),
    values=Values("high", (0, 1), needs=("either",), share=(("tp",), ("fp", "fn"))),
)
def jaccard(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(jaccard(Counts(tp=40, fp=10, fn=10, tn=40)), 10)
    0.6666666667
    """
    return ratio(c.tp, c.either)
