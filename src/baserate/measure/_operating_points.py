"""Rates at a stated other rate: sensitivity at a fixed specificity and its kin. Each takes a `Curve`."""

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._curve import Curve
from baserate._domains import RATE, check_domain
from baserate._numeric.cumulative import CLOSE, interpolate_falling
from baserate.measure._measure import Values, measure

__all__ = [
    "precision_at_sensitivity",
    "sensitivity_at_precision",
    "sensitivity_at_specificity",
    "specificity_at_sensitivity",
]


@measure(
    "Sensitivity at a fixed specificity: height of the ROC curve at one false positive rate.",
    formula=r"ROC(1-\text{specificity})",
    aliases=("sensitivity at fixed specificity", "TPR at FPR", "TPR at fixed FPR", "recall at fixed specificity"),
    references=("linnet1987", "zhou2005"),
    values=Values("high", (0, 1), needs=("positives", "negatives"), dual="specificity_at_sensitivity", percent=True),
    option="specificity",
    option_required=True,
)
def sensitivity_at_specificity(c: Curve, *, specificity: float = 0.9, interpolated: bool = True) -> float:
    """By default the points of the curve are joined by lines, as for its area and in pROC (`coords`, `ci.se`): a point
    between two thresholds is reached by a random choice between them. With `interpolated=False` it is the greatest
    sensitivity of a threshold with at least that specificity, as in TorchMetrics.

    >>> from baserate import curve, tally
    >>> c = curve(tally([1, 0, 1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.7, 0.7, 0.6, 0.3, 0.1]))
    >>> sensitivity_at_specificity(c, specificity=0.6)
    0.55
    >>> sensitivity_at_specificity(c, specificity=0.6, interpolated=False)
    0.25
    """
    check_domain("specificity", specificity, RATE)
    true, false = c.flagged_mass
    return _rate_at(ratio(false[-1] - false, false[-1]), ratio(true, true[-1]), specificity, interpolated=interpolated)


@measure(
    "Specificity at a fixed sensitivity: true negative rate where the ROC curve has that height.",
    formula=r"1-ROC^{-1}(\text{sensitivity})",
    aliases=("specificity at fixed sensitivity", "TNR at TPR", "specificity at fixed recall"),
    references=("linnet1987", "zhou2005"),
    values=Values("high", (0, 1), needs=("positives", "negatives"), dual="sensitivity_at_specificity", percent=True),
    option="sensitivity",
    option_required=True,
)
def specificity_at_sensitivity(c: Curve, *, sensitivity: float = 0.9, interpolated: bool = True) -> float:
    """Points of the curve are joined by lines as in `sensitivity_at_specificity`. With `interpolated=False` it is the
    greatest specificity of a threshold with at least that sensitivity, as in TorchMetrics.

    >>> from baserate import curve, tally
    >>> c = curve(tally([1, 0, 1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.7, 0.7, 0.6, 0.3, 0.1]))
    >>> specificity_at_sensitivity(c, sensitivity=0.5)
    0.625
    >>> specificity_at_sensitivity(c, sensitivity=0.5, interpolated=False)
    0.5
    """
    check_domain("sensitivity", sensitivity, RATE)
    true, false = c.flagged_mass[:, ::-1]  # from the laxest threshold, so that sensitivity falls
    return _rate_at(ratio(true, true[0]), ratio(false[0] - false, false[0]), sensitivity, interpolated=interpolated)


@measure(
    "Greatest precision of a threshold with at least a fixed sensitivity (recall).",
    formula=r"\max\{PPV: TPR\ge\text{sensitivity}\}",
    aliases=(
        "precision at fixed recall",
        "precision at recall",
        "PPV at sensitivity",
    ),
    values=Values("high", (0, 1), needs=("positives",), percent=True),
    option="sensitivity",
    option_required=True,
)
def precision_at_sensitivity(c: Curve, *, sensitivity: float = 0.9) -> float:
    """Of thresholds alone: the precision–recall curve is not interpolated.

    >>> from baserate import curve, tally
    >>> precision_at_sensitivity(curve(tally([0, 1, 0, 0, 1, 1], [0.1, 0.2, 0.4, 0.5, 0.7, 0.9])), sensitivity=0.6)
    1.0
    """
    check_domain("sensitivity", sensitivity, RATE)
    true, false = c.flagged_mass
    if not c.positives:
        return float("nan")
    precision = ratio(true, true + false)  # undefined where nothing is flagged
    return float(np.nanmax(precision[ratio(true, true[-1]) >= sensitivity - CLOSE]))


@measure(
    "Greatest sensitivity (recall) of a threshold with at least a fixed precision; 0 if there is none.",
    formula=r"\max\{TPR: PPV\ge\text{precision}\}",
    aliases=(
        "recall at fixed precision",
        "recall at precision",
        "sensitivity at PPV",
    ),
    values=Values("high", (0, 1), needs=("positives",), percent=True),
    option="precision",
    option_required=True,
)
def sensitivity_at_precision(c: Curve, *, precision: float = 0.9) -> float:
    """Of thresholds alone: the precision–recall curve is not interpolated. Where no threshold reaches the precision,
    nothing can be flagged, and the sensitivity is 0.

    >>> from baserate import curve, tally
    >>> sensitivity_at_precision(curve(tally([0, 1, 0, 0, 1, 1], [0.1, 0.2, 0.4, 0.5, 0.7, 0.9])), precision=0.6)
    1.0
    """
    check_domain("precision", precision, RATE)
    true, false = c.flagged_mass
    reached = ratio(true, true + false) >= precision - CLOSE  # false where nothing is flagged
    return float(np.max(ratio(true, true[-1])[reached], initial=0.0)) if c.positives else float("nan")


def _rate_at(falling: Floats, rising: Floats, at: float, *, interpolated: bool) -> float:
    """Return one rate where the other has a value; the greatest, where the curve is vertical."""
    if np.isnan(falling).any() or np.isnan(rising).any():
        return float("nan")
    if interpolated:
        return interpolate_falling(at, falling, rising)
    return float(rising[np.flatnonzero(falling >= at - CLOSE)[-1]])
