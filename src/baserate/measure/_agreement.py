"""Summaries of a 2×2 table that combine several rates: F1, MCC, kappa and others. Each takes `Counts`."""

from baserate._arrays import Value, ratio, root
from baserate._counts import Counts
from baserate._errors import OptionError
from baserate.measure._measure import measure
from baserate.measure._rates import npv, precision, sensitivity, specificity

__all__ = [
    "balanced_accuracy",
    "borko",
    "e_measure",
    "f1",
    "f_beta",
    "fowlkes_mallows",
    "g_mean",
    "jaccard",
    "kappa",
    "markedness",
    "mcc",
    "youden",
]

_ALL_MARGINS = ("positives", "negatives", "flagged", "passed")


@measure(
    summary="Harmonic mean of precision and recall.",
    formula="2TP/(2TP+FP+FN)",
    aliases=("F1 score", "Dice coefficient", "Sørensen–Dice"),
    references=("vanrijsbergen1979",),
    best="high",
    span=(0, 1),
    needs=("either",),
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
    summary="Weighted harmonic mean of precision and recall, in which recall counts β times as much.",
    formula="(1+β^2)TP/((1+β^2)TP+β^2FN+FP)",
    aliases=("F-measure", "F-score", "van Rijsbergen's F"),
    references=("vanrijsbergen1979",),
    best="high",
    span=(0, 1),
    needs=("either",),
    option="beta",
)
def f_beta(c: Counts[Value], *, beta: float = 1.0) -> Value:
    """
    >>> from baserate import Counts
    >>> round(f_beta(Counts(tp=20, fp=10, fn=40, tn=0), beta=2), 10)
    0.3703703704
    """
    if not 0 < beta < float("inf"):
        raise OptionError(
            f"beta is {beta}",
            remedy="give a number above 0, or use precision (β → 0) or sensitivity (β → ∞).",
            option="beta",
            value=beta,
        )
    hits = (1 + beta**2) * c.tp
    return ratio(hits, hits + beta**2 * c.fn + c.fp)


@measure(
    summary="Van Rijsbergen's effectiveness measure: one minus the F-measure.",
    formula="1-F_β",
    aliases=("van Rijsbergen's E", "effectiveness measure"),
    references=("vanrijsbergen1979",),
    best="low",
    span=(0, 1),
    needs=("either",),
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
    summary="Precision plus recall minus one.",
    formula="PPV+TPR-1",
    aliases=("P+R−1", "Borko's measure"),
    references=("vanrijsbergen1979",),
    best="high",
    span=(-1, 1),
    needs=("positives", "flagged"),
)
def borko(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(borko(Counts(tp=20, fp=10, fn=40, tn=0)), 10)
    0.0
    """
    return precision(c) + sensitivity(c) - 1


@measure(
    summary="Matthews correlation coefficient: correlation between true and predicted class.",
    formula=r"(TP·TN-FP·FN)/\sqrt{(TP+FP)(TP+FN)(FP+TN)(FN+TN)}",
    aliases=("Matthews correlation coefficient", "phi coefficient", "Yule phi"),
    references=("chicco2020",),
    best="high",
    span=(-1, 1),
    needs=_ALL_MARGINS,
    dual="mcc",
    page="MCC",
)
def mcc(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(mcc(Counts(tp=90, fp=1910, fn=10, tn=997_990)), 10)
    0.2010100557
    """
    # Two roots, since the product of four margins may overflow.
    return ratio(c.tp * c.tn - c.fp * c.fn, root(c.flagged * c.positives) * root(c.passed * c.negatives))


@measure(
    summary="Cohen's kappa: agreement beyond chance, divided by the maximum possible beyond chance.",
    formula="(p_o-p_e)/(1-p_e)",
    aliases=("Cohen's kappa", "Heidke skill score"),
    references=("cohen1960",),
    best="high",
    span=(-1, 1),
    needs=("chance_disagreement",),
    dual="kappa",
)
def kappa(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> kappa(Counts(tp=20, fp=10, fn=5, tn=15))
    0.4
    """
    return ratio(2 * (c.tp * c.tn - c.fp * c.fn), c.chance_disagreement)


@measure(
    summary="Mean of sensitivity and specificity.",
    formula="(TPR+TNR)/2",
    aliases=("BA", "bACC", "mean per-class recall"),
    references=("brodersen2010",),
    best="high",
    span=(0, 1),
    needs=("positives", "negatives"),
    dual="balanced_accuracy",
    page="Balanced accuracy",
    percent=True,
)
def balanced_accuracy(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> balanced_accuracy(Counts(tp=495, fp=455, fn=405, tn=8645))
    0.75
    """
    return (sensitivity(c) + specificity(c)) / 2


@measure(
    summary="Youden's J: sensitivity plus specificity minus one.",
    formula="TPR+TNR-1",
    aliases=("Youden's J", "informedness", "bookmaker informedness", "true skill statistic", "Peirce skill score"),
    references=("youden1950",),
    best="high",
    span=(-1, 1),
    needs=("positives", "negatives"),
    dual="youden",
)
def youden(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(youden(Counts(tp=231, fp=32, fn=27, tn=54)), 4)
    0.5233
    """
    return sensitivity(c) + specificity(c) - 1


@measure(
    summary="Precision plus negative predictive value minus one.",
    formula="PPV+NPV-1",
    aliases=("MK", "delta p"),
    references=("powers2011",),
    best="high",
    span=(-1, 1),
    needs=("flagged", "passed"),
    dual="markedness",
)
def markedness(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(markedness(Counts(tp=231, fp=32, fn=27, tn=54)), 4)
    0.545
    """
    return precision(c) + npv(c) - 1


@measure(
    summary="Geometric mean of sensitivity and specificity.",
    formula=r"\sqrt{TPR·TNR}",
    aliases=("geometric mean", "GM"),
    references=("kubat1998",),
    best="high",
    span=(0, 1),
    needs=("positives", "negatives"),
    dual="g_mean",
)
def g_mean(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(g_mean(Counts(tp=495, fp=455, fn=405, tn=8645)), 10)
    0.7228416147
    """
    return root(sensitivity(c) * specificity(c))


@measure(
    summary="Fowlkes–Mallows index: geometric mean of precision and recall.",
    formula=r"\sqrt{PPV·TPR}",
    aliases=("FM", "Ochiai coefficient", "cosine similarity"),
    references=("fowlkes1983",),
    best="high",
    span=(0, 1),
    needs=("positives", "flagged"),
)
def fowlkes_mallows(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(fowlkes_mallows(Counts(tp=40, fp=10, fn=10, tn=40)), 10)
    0.8
    """
    return root(precision(c) * sensitivity(c))


@measure(
    summary="Jaccard index: true positives divided by all rows that are positive or flagged.",
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
    best="high",
    span=(0, 1),
    needs=("either",),
    share=(("tp",), ("fp", "fn")),
)
def jaccard(c: Counts[Value]) -> Value:
    """
    >>> from baserate import Counts
    >>> round(jaccard(Counts(tp=40, fp=10, fn=10, tn=40)), 10)
    0.6666666667
    """
    return ratio(c.tp, c.either)
