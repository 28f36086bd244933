"""Rank measures over all thresholds: AUC, average precision, KS. Each takes a `Curve`, and only order matters."""

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._curve import Curve
from baserate._domains import check_rates
from baserate._errors import OptionError
from baserate._numeric.cumulative import concordance, cumulative_blocks
from baserate.measure._measure import Values, measure

__all__ = [
    "accuracy_ratio",
    "auc",
    "average_precision",
    "cap_area",
    "gini",
    "ks",
    "lorenz_gini",
    "partial_auc",
    "pr_auc",
]

Interval = tuple[float, float]


@measure(
    "Area under the ROC curve: probability that a random positive scores above a random negative.",
    formula="P(s_+>s_-)+½P(s_+=s_-)",
    aliases=("ROC AUC", "AUROC", "c-statistic", "concordance", "A′"),
    references=("hanley1982",),
    values=Values("high", (0, 1), needs=("positives", "negatives"), dual="auc"),
    page="AUC",
)
def auc(c: Curve) -> float:
    """Ties count half. AUC equals the area under the ROC curve by the trapezoid rule, and the Mann–Whitney U over PN.

    >>> from baserate import curve, tally
    >>> auc(curve(tally([0, 0, 0, 1, 1, 1, 0], [0.5, 0.1, 0.2, 0.6, 0.2, 0.3, 0.0])))
    0.7916666666666666
    """
    # Twice the concordant pairs: with ties counted half it stays a whole number for counted rows.
    twice, positives, negatives = concordance(c.tally.mass)
    return ratio(twice, 2 * positives * negatives)


@measure(
    "Area under a section of the ROC curve (by default, the whole curve).",
    formula=r"\int_a^b TPR\,d FPR",
    aliases=("pAUC", "partial area"),
    references=("mcclish1989",),
    values=Values("high", (0, 1), needs=("positives", "negatives")),
)
def partial_auc(
    c: Curve, *, fpr: Interval | None = None, tpr: Interval | None = None, standardized: bool = False
) -> float:
    """Give an interval of false positive rates as `fpr=(0, 0.1)`, or of true positive rates as `tpr=(0.9, 1)`, which
    takes the area of TNR over TPR. `standardized` maps chance to ½ and perfection to 1 [@mcclish1989]; below ½ means
    worse than chance within the interval.

    >>> from baserate import curve, tally
    >>> partial_auc(curve(tally([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])), fpr=(0, 0.5))
    0.25
    """
    if fpr is not None and tpr is not None:
        raise OptionError("give either fpr or tpr; the other follows from the curve.")
    low, high = (fpr or (0.0, 1.0)) if tpr is None else tpr
    check_rates(low, high)
    true, false = c.flagged_mass
    rate, height = ratio(false, false[-1]), ratio(true, true[-1])
    if tpr is not None:
        rate, height = height, 1 - rate
    area = _area_between(rate, height, low, high)
    if not standardized:
        return area
    # Area under the diagonal, or above it when the interval is of true positive rates.
    chance = (high**2 - low**2) / 2 if tpr is None else (high - low) - (high**2 - low**2) / 2
    return (1 + (area - chance) / ((high - low) - chance)) / 2


@measure(
    "Gini coefficient of a ranking: 2·AUC−1, which is 0 for chance and 1 for perfection.",
    formula="2·AUC-1",
    aliases=("Gini coefficient", "Somers' D", "gain capture"),
    references=("hand2001",),
    values=Values("high", (-1, 1), needs=("positives", "negatives"), dual="gini"),
)
def gini(c: Curve) -> float:
    """
    >>> from baserate import curve, tally
    >>> gini(curve(tally([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])))
    0.5
    """
    return 2 * auc(c) - 1


@measure(
    "Precision averaged over all positives, each at the threshold equal to its score.",
    formula=r"\sum_k (R_k-R_{k-1})P_k",
    aliases=("AP", "AUPRC", "average precision score"),
    references=("boyd2013",),
    values=Values("high", (0, 1), needs=("positives",)),
    page="Average precision",
)
def average_precision(c: Curve) -> float:
    """The precision–recall curve is not interpolated, so this is neither its trapezoid area nor `pr_auc`.

    >>> from baserate import curve, tally
    >>> round(average_precision(curve(tally([0, 1, 0, 0, 1, 1], [0.14, 0.23, 0.39, 0.52, 0.73, 0.90]))), 10)
    0.8666666667
    """
    total = 0.0
    for true, false in cumulative_blocks(c.tally.mass):
        # Before anything is flagged recall does not rise, so that 0/0 would be multiplied by 0.
        precision = true[1:] / np.maximum(true[1:] + false[1:], np.finfo(float).tiny)
        total += float(np.sum(precision * np.diff(true)))
    return ratio(total, c.positives)


@measure(
    "Area under the precision–recall curve, with exact interpolation between thresholds.",
    formula=r"\int_0^1 P(R)\,dR",
    aliases=("PR AUC", "area under the precision–recall curve", "Davis–Goadrich area"),
    references=("davis2006", "keilwagen2014"),
    values=Values("high", (0, 1), needs=("positives",)),
)
def pr_auc(c: Curve) -> float:
    """Between two thresholds false positives grow linearly with true positives, so precision follows a hyperbola
    [@davis2006]; the integral is exact [@keilwagen2014].

    >>> from baserate import curve, tally
    >>> round(pr_auc(curve(tally([0, 1, 0, 0, 1, 1], [0.14, 0.23, 0.39, 0.52, 0.73, 0.90]))), 7)
    0.8512376
    """
    # Thresholds that add no positives do not change recall, so they add no area.
    steps = np.flatnonzero(c.tally.mass[0])
    true, false = c.flagged_mass[:, steps]
    # From the masses, since a small gain may vanish in the difference of two large sums.
    gain, more = c.tally.positive[steps], c.tally.negative[steps]
    # P(x) = x / (grow·x + offset) for x true positives [@keilwagen2014].
    grow = 1 + more / gain
    offset = false - more / gain * true
    before = true + false
    # At the first threshold the offset is 0: infinity here avoids 0 · ∞, and the term vanishes.
    rise = np.log1p((gain + more) / np.where(before > 0, before, np.inf))
    return ratio(float(np.sum(gain / grow - offset / grow**2 * rise)), c.positives)


@measure(
    "Kolmogorov–Smirnov statistic: largest distance between the score distributions of the classes.",
    formula=r"\max|TPR-FPR|",
    aliases=("Kolmogorov–Smirnov statistic", "KS statistic"),
    references=("smirnov1948",),
    values=Values("high", (0, 1), needs=("positives", "negatives"), dual="ks"),
)
def ks(c: Curve) -> float:
    """Either class may have the higher scores.

    >>> from baserate import curve, tally
    >>> ks(curve(tally([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])))
    0.5
    """
    positives, negatives = c.positives, c.negatives
    gaps = (ratio(true, positives) - ratio(false, negatives) for true, false in cumulative_blocks(c.tally.mass))
    return max(float(np.max(np.abs(gap))) for gap in gaps)


@measure(
    "Area under the cumulative accuracy profile, sensitivity against flag rate.",
    formula="π/2+(1-π)AUC",
    aliases=("area under the gain curve", "AUCAP"),
    references=("engelmann2003",),
    values=Values("high", (0, 1), needs=("positives",)),
)
def cap_area(c: Curve) -> float:
    """
    >>> from baserate import curve, tally
    >>> cap_area(curve(tally([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])))
    0.625
    """
    # π/2 + (1 − π)·AUC as one ratio, of whole numbers if rows are counted: only the division rounds.
    twice, positives, negatives = concordance(c.tally.mass)
    return ratio(positives**2 + twice, 2 * positives * (positives + negatives))


@measure(
    "Accuracy ratio of the cumulative accuracy profile, equal to 2·AUC−1.",
    formula="(2·CAP-1)/(1-π)",
    aliases=("AR", "CAP ratio", "normalised Gini"),
    references=("engelmann2003",),
    values=Values("high", (-1, 1), needs=("positives", "negatives"), dual="accuracy_ratio"),
)
def accuracy_ratio(c: Curve) -> float:
    """Area between the cumulative accuracy profile and chance, divided by that of a perfect ranking. Since it equals
    `gini`, the two are not independent evidence.

    >>> from baserate import curve, tally
    >>> accuracy_ratio(curve(tally([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])))
    0.5
    """
    # With little mass of negatives, rounding of the numerator could leave the range.
    return float(np.clip(ratio(lorenz_gini(c), ratio(c.negatives, c.total)), -1.0, 1.0))


@measure(
    "Gini coefficient of the Lorenz curve, equal to (1−prevalence)·(2·AUC−1).",
    formula=r"1-\sum(X_k-X_{k-1})(Y_k+Y_{k-1})",
    aliases=("Brown's Gini", "Lorenz Gini"),
    references=("brown1994",),
    values=Values("high", (-1, 1), needs=("positives",)),
)
def lorenz_gini(c: Curve) -> float:
    """Computed by Brown's formula. X and Y are the shares of all rows and of the positives, from the lowest score up.
    Unlike `gini`, it depends on the prevalence.

    >>> from baserate import curve, tally
    >>> lorenz_gini(curve(tally([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])))
    0.25
    """
    return 2 * cap_area(c) - 1


def _area_between(x: Floats, y: Floats, low: float, high: float) -> float:
    """Return the area under the polygonal line through (x, y), x never falling, from low to high."""
    if np.isnan(x).any() or np.isnan(y).any():
        return float("nan")
    inside = (x > low) & (x < high)
    # On a vertical step the left end takes its top, the right end its bottom: np.interp takes the last of equal x.
    left, right = np.interp(low, x, y), np.interp(-high, -x[::-1], y[::-1])
    heights, places = np.concatenate([[left], y[inside], [right]]), np.concatenate([[low], x[inside], [high]])
    return float(np.trapezoid(heights, places))
