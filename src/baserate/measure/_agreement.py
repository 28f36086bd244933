"""Summaries of a 2×2 table that weigh two or more of its rates. Each takes `Counts`."""

from baserate._arrays import Value, ratio, root
from baserate._counts import Counts
from baserate._errors import BadOption
from baserate.measure._about import measure
from baserate.measure._counts import npv, precision, sensitivity, specificity

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


@measure(best="high", span=(0, 1), needs=("either",))
def f_beta(c: Counts[Value], *, beta: float = 1.0) -> Value:
    r"""Harmonic mean of precision and recall, :math:`(1+β^2)TP/((1+β^2)TP+β^2FN+FP)`; recall counts β times as much.

    Also: F-measure, F-score, van Rijsbergen's F.
    Reference: [@vanrijsbergen1979].

    >>> from baserate import Counts
    >>> round(f_beta(Counts(tp=20, fp=10, fn=40, tn=0), beta=2), 10)
    0.3703703704
    """
    if not 0 < beta < float("inf"):
        raise BadOption(f"beta is {beta}; give a number above 0, or use precision (β → 0) or sensitivity (β → ∞).")
    hits = (1 + beta**2) * c.tp
    return ratio(hits, hits + beta**2 * c.fn + c.fp)


@measure(best="high", span=(0, 1), needs=("either",))
def f1(c: Counts[Value]) -> Value:
    r"""Harmonic mean of precision and recall, :math:`2TP/(2TP+FP+FN)`.

    Also: F1 score, Dice coefficient, Sørensen–Dice.
    Reference: [@vanrijsbergen1979].

    >>> from baserate import Counts
    >>> round(f1(Counts(tp=90, fp=1910, fn=10, tn=997_990)), 10)
    0.0857142857
    """
    return f_beta(c)


@measure(best="low", span=(0, 1), needs=("either",))
def e_measure(c: Counts[Value], *, beta: float = 1.0) -> Value:
    r"""One minus the F-measure, :math:`1-F_β`.

    Also: van Rijsbergen's E, effectiveness measure.
    Reference: [@vanrijsbergen1979].

    >>> from baserate import Counts
    >>> round(e_measure(Counts(tp=20, fp=10, fn=40, tn=0)), 10)
    0.5555555556
    """
    return 1 - f_beta(c, beta=beta)


@measure(best="high", span=(-1, 1), needs=("positives", "flagged"))
def borko(c: Counts[Value]) -> Value:
    r"""Precision plus recall minus one, :math:`PPV+TPR-1`.

    Also: P+R−1, Borko's measure.
    Reference: [@vanrijsbergen1979].

    >>> from baserate import Counts
    >>> round(borko(Counts(tp=20, fp=10, fn=40, tn=0)), 10)
    0.0
    """
    return precision(c) + sensitivity(c) - 1


@measure(best="high", span=(-1, 1), needs=_ALL_MARGINS, dual="mcc")
def mcc(c: Counts[Value]) -> Value:
    r"""Correlation of truth and decision, :math:`(TP·TN-FP·FN)/\sqrt{(TP+FP)(TP+FN)(FP+TN)(FN+TN)}`.

    Also: Matthews correlation coefficient, phi coefficient, Yule phi.
    Reference: [@chicco2020].

    >>> from baserate import Counts
    >>> round(mcc(Counts(tp=90, fp=1910, fn=10, tn=997_990)), 10)
    0.2010100557
    """
    # Two roots, since the product of four margins may overflow.
    return ratio(c.tp * c.tn - c.fp * c.fn, root(c.flagged * c.positives) * root(c.passed * c.negatives))


@measure(best="high", span=(-1, 1), needs=("chance_disagreement",), dual="kappa")
def kappa(c: Counts[Value]) -> Value:
    r"""Agreement beyond chance, as a share of what chance leaves open, :math:`(p_o-p_e)/(1-p_e)`.

    Also: Cohen's kappa, Heidke skill score.
    Reference: [@cohen1960].

    >>> from baserate import Counts
    >>> kappa(Counts(tp=20, fp=10, fn=5, tn=15))
    0.4
    """
    return ratio(2 * (c.tp * c.tn - c.fp * c.fn), c.chance_disagreement)


@measure(best="high", span=(0, 1), needs=("positives", "negatives"), dual="balanced_accuracy")
def balanced_accuracy(c: Counts[Value]) -> Value:
    r"""Accuracy if both classes were equally frequent, :math:`(TPR+TNR)/2`.

    Also: BA, bACC, mean per-class recall.
    Reference: [@brodersen2010].

    >>> from baserate import Counts
    >>> balanced_accuracy(Counts(tp=495, fp=455, fn=405, tn=8645))
    0.75
    """
    return (sensitivity(c) + specificity(c)) / 2


@measure(best="high", span=(-1, 1), needs=("positives", "negatives"), dual="youden")
def youden(c: Counts[Value]) -> Value:
    r"""Share of positives flagged beyond the share of negatives, :math:`TPR+TNR-1`.

    Also: Youden's J, informedness, bookmaker informedness, true skill statistic, Peirce skill score.
    Reference: [@youden1950].

    >>> from baserate import Counts
    >>> round(youden(Counts(tp=231, fp=32, fn=27, tn=54)), 4)
    0.5233
    """
    return sensitivity(c) + specificity(c) - 1


@measure(best="high", span=(-1, 1), needs=("flagged", "passed"), dual="markedness")
def markedness(c: Counts[Value]) -> Value:
    r"""Share of positives among the flagged beyond that among the passed, :math:`PPV+NPV-1`.

    Also: MK, delta p.
    Reference: [@powers2011].

    >>> from baserate import Counts
    >>> round(markedness(Counts(tp=231, fp=32, fn=27, tn=54)), 4)
    0.545
    """
    return precision(c) + npv(c) - 1


@measure(best="high", span=(0, 1), needs=("positives", "negatives"), dual="g_mean")
def g_mean(c: Counts[Value]) -> Value:
    r"""Geometric mean of sensitivity and specificity, :math:`\sqrt{TPR·TNR}`.

    Also: geometric mean, GM.
    Reference: [@kubat1998].

    >>> from baserate import Counts
    >>> round(g_mean(Counts(tp=495, fp=455, fn=405, tn=8645)), 10)
    0.7228416147
    """
    return root(sensitivity(c) * specificity(c))


@measure(best="high", span=(0, 1), needs=("positives", "flagged"))
def fowlkes_mallows(c: Counts[Value]) -> Value:
    r"""Geometric mean of precision and recall, :math:`\sqrt{PPV·TPR}`.

    Also: FM, Ochiai coefficient, cosine similarity.
    Reference: [@fowlkes1983].

    >>> from baserate import Counts
    >>> round(fowlkes_mallows(Counts(tp=40, fp=10, fn=10, tn=40)), 10)
    0.8
    """
    return root(precision(c) * sensitivity(c))


@measure(best="high", span=(0, 1), needs=("either",), share=(("tp",), ("fp", "fn")))
def jaccard(c: Counts[Value]) -> Value:
    r"""Share of those positive or flagged that are both, :math:`TP/(TP+FP+FN)`.

    Also: Jaccard index, threat score, critical success index, CSI, intersection over union, IoU, Tanimoto.
    Reference: [@jaccard1901].

    >>> from baserate import Counts
    >>> round(jaccard(Counts(tp=40, fp=10, fn=10, tn=40)), 10)
    0.6666666667
    """
    return ratio(c.tp, c.either)
