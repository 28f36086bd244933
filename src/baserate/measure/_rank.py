"""Rank measures over all thresholds: AUC, average precision, KS. Each takes a `Curve`, and only order matters."""

from math import inf
from numbers import Integral

import numpy as np

from baserate._arrays import Cells, Floats, ratio
from baserate._curve import Curve
from baserate._domains import check_rates, wrong_option
from baserate._errors import OptionError
from baserate._numeric.cumulative import concordance, cumulative_blocks, cumulative_sums
from baserate.measure._measure import Values, measure

__all__ = [
    "accuracy_ratio",
    "auc",
    "average_precision",
    "cap_area",
    "gini",
    "hits_at_k",
    "ks",
    "log_auc",
    "lorenz_gini",
    "partial_auc",
    "pr_auc",
    "pr_auc_trapezoid",
    "precision_at_k",
    "recall_at_k",
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
    "Mean sensitivity over the logarithm of the false positive rate (by default, from 0.001 to 0.1).",
    formula=r"\frac{1}{\ln(b/a)}\int_a^b TPR\,d\ln FPR",
    aliases=("logAUC", "semilogarithmic ROC area", "early enrichment"),
    references=("mysinger2010",),
    values=Values("high", (0, 1), needs=("positives", "negatives")),
)
def log_auc(c: Curve, *, fpr: Interval = (0.001, 0.1)) -> float:
    """Every factor of the false positive rate counts alike, so the strictest thresholds weigh most. Chance has
    (b − a)/ln(b/a), which is 0.0215 by default. Segments of the ROC curve are straight in the rates, and the integral
    is exact [@mysinger2010]. TorchMetrics draws them straight over the logarithm instead, which gives more area.

    >>> from baserate import curve, tally
    >>> log_auc(curve(tally([1, 0, 0, 0, 0], [0.75, 0.05, 0.05, 0.05, 0.05])))
    1.0
    >>> round(log_auc(curve(tally([1, 0], [0.5, 0.5]))), 4)  # chance
    0.0215
    """
    low, high = fpr
    if not 0 < low < high <= 1:
        raise OptionError(f"the interval ({low}, {high}) has no logarithms", remedy="give 0 < low < high ≤ 1.")
    true, false = c.flagged_mass
    places, heights = _clip_line(ratio(false, false[-1]), ratio(true, true[-1]), low, high)
    width, rise, steps = np.diff(places), np.diff(heights), np.diff(np.log(places))
    flat = heights[:-1] - places[:-1] * ratio(rise, np.where(width > 0, width, np.inf))  # where a segment meets FPR 0
    # A vertical segment has no width on either axis.
    area = np.sum(np.where(width > 0, rise + flat * steps, 0.0))
    return float(np.clip(area / np.log(high / low), 0.0, 1.0))


@measure(
    "Gini coefficient of a ranking: 2·AUC−1, which is 0 for chance and 1 for perfection.",
    formula="2·AUC-1",
    aliases=("Gini coefficient", "Somers' D", "Dxy", "gain capture"),
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
    "Area under the precision–recall curve by straight lines between thresholds, which is optimistic.",
    formula=r"\sum_k (R_k-R_{k-1})(P_k+P_{k-1})/2",
    aliases=("trapezoidal PR AUC", "linear PR AUC"),
    references=("davis2006",),
    values=Values("high", (0, 1), needs=("positives",)),
    caution=(
        "is optimistic: precision does not change linearly between thresholds, so constant scores have 0.505 at a "
        "prevalence of 1%. Use average_precision or pr_auc."
    ),
)
def pr_auc_trapezoid(c: Curve) -> float:
    """Begins at recall 0 and precision 1, as yardstick's `pr_auc` and scikit-learn's `auc(recall, precision)` do.
    Davis and Goadrich show that straight lines overstate the area [@davis2006]. Constant scores have (1 + π)/2, where
    `average_precision` and `pr_auc` have the prevalence π. It is here for comparison with such tools.

    >>> from baserate import curve, tally
    >>> round(pr_auc_trapezoid(curve(tally([0, 1, 0, 0, 1, 1], [0.14, 0.23, 0.39, 0.52, 0.73, 0.90]))), 10)
    0.85
    >>> pr_auc_trapezoid(curve(tally([1] + [0] * 99, [0.5] * 100)))
    0.505
    """
    true, false = c.flagged_mass
    precision = true / np.maximum(true + false, np.finfo(float).tiny)
    precision[true + false == 0] = 1.0  # nothing is flagged
    return ratio(float(np.sum((precision[1:] + precision[:-1]) * np.diff(true))) / 2, c.positives)


@measure(
    "Share of positives among the k rows with the highest scores (by default, k = 10).",
    formula=r"TP_k/k",
    aliases=("P@k", "top-k precision"),
    references=("manning2008",),
    values=Values("high", (0, 1), needs=("total",), sampled=True),
    option="k",
)
def precision_at_k(c: Curve, *, k: int = 10) -> float:
    """Of rows with the k-th score as many as fit are taken at random, and this is the expected value, so the order of
    rows does not matter. If there are fewer than k rows, all are taken. With weights, k of n rows are the share k/n of
    the weight.

    >>> from baserate import curve, tally
    >>> ranked = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.5, 0.5, 0.1]))
    >>> precision_at_k(ranked, k=2), precision_at_k(ranked, k=4)
    (1.0, 0.625)
    """
    top = flag_top(c, k)
    return ratio(float(top[0]), float(top.sum()))


@measure(
    "Share of all positives that are among the k rows with the highest scores (by default, k = 10).",
    formula=r"TP_k/(TP+FN)",
    aliases=("R@k", "top-k recall", "sensitivity at k"),
    references=("manning2008",),
    values=Values("high", (0, 1), needs=("positives",), sampled=True),
    option="k",
)
def recall_at_k(c: Curve, *, k: int = 10) -> float:
    """Ties, weights and k are as in `precision_at_k`. It is at most k divided by the number of positives.

    >>> from baserate import curve, tally
    >>> ranked = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.5, 0.5, 0.1]))
    >>> round(recall_at_k(ranked, k=2), 4), round(recall_at_k(ranked, k=4), 4)
    (0.6667, 0.8333)
    """
    return ratio(float(flag_top(c, k)[0]), c.positives)


@measure(
    "Number of positives among the k rows with the highest scores (by default, k = 10).",
    formula=r"TP_k",
    aliases=("top-k hits",),
    references=("manning2008",),
    values=Values("high", (0, inf), needs=("total",), sampled=True),
    option="k",
)
def hits_at_k(c: Curve, *, k: int = 10) -> float:
    """Ties, weights and k are as in `precision_at_k`, which is multiplied by k, or by the number of rows if smaller.

    >>> from baserate import curve, tally
    >>> ranked = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.5, 0.5, 0.1]))
    >>> hits_at_k(ranked, k=2), hits_at_k(ranked, k=4)
    (2.0, 2.5)
    """
    return precision_at_k(c, k=k) * min(k, int(c.tally.rows.sum(dtype=np.int64)))


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


def flag_top(c: Curve, k: int, cells: Cells | None = None) -> Floats:
    """Return the expected mass, or sum of other cells, of both classes among the top k rows, where ties are random."""
    if not isinstance(k, Integral) or k < 1:
        raise wrong_option("k", k, "a whole number of 1 or more")
    rows = int(c.tally.rows.sum(dtype=np.int64))
    flagged = c.flagged_mass.sum(axis=0)
    wanted = float(flagged[-1]) * (min(int(k), rows) / rows if rows else 0.0)
    # Between two thresholds a random part of the equal scores is taken: both classes in proportion.
    sums = c.flagged_mass if cells is None else cumulative_sums(cells)
    return np.array([np.interp(wanted, flagged, line) for line in sums])


def _area_between(x: Floats, y: Floats, low: float, high: float) -> float:
    """Return the area under the polygonal line through (x, y), x never falling, from low to high."""
    places, heights = _clip_line(x, y, low, high)
    return float(np.trapezoid(heights, places))


def _clip_line(x: Floats, y: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Return the points of the polygonal line through (x, y), x never falling, from low to high; NaN if any is."""
    if np.isnan(x).any() or np.isnan(y).any():
        return np.array([low, high]), np.array([np.nan, np.nan])
    inside = (x > low) & (x < high)
    # On a vertical step the left end takes its top, the right end its bottom: np.interp takes the last of equal x.
    left, right = np.interp(low, x, y), np.interp(-high, -x[::-1], y[::-1])
    return np.concatenate([[low], x[inside], [high]]), np.concatenate([[left], y[inside], [right]])
