"""Results of prevalence estimators: `Prevalence` of two classes and `MulticlassPrevalence` of several."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from baserate._arrays import Floats, keep_read_only, read_only_copy
from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._errors import ShapeError
from baserate._formatting import count_of
from baserate._results import Estimate
from baserate._rows import MulticlassRows
from baserate._tally import Tally
from baserate.infer import CalibrationTest, normal_quantile, wilson_or_exact


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Prevalence:
    """An estimated prevalence of the positive class, with an interval that includes the uncertainty from validation."""

    estimate: Estimate
    method: str
    unclipped: float
    """Estimate before clipping to [0, 1]."""
    validation: Tally
    influence: Floats
    """Influence of one more row of each class at each validation score on the estimate."""
    target_variance: float
    """Variance from the target."""
    calibrator: Calibrator | None = None
    """Calibrator whose probabilities are right at the prevalence `at`, if the method needs one."""
    calibrated_at: float | None = None
    rows: int = 0
    """Unlabelled rows of the target."""
    labelled: int = 0
    """Labelled rows of the target."""
    notes: tuple[str, ...] = ()
    checks: tuple[CalibrationTest, ...] = ()
    """Tests of assumptions: of label shift for binned, of the calibration for mlls."""

    def __repr__(self) -> str:
        estimate = self.estimate
        return f"Prevalence({estimate.value:.6g}, {estimate.low:.6g} to {estimate.high:.6g}, by {self.method})"

    @property
    def value(self) -> float:
        """The estimate itself."""
        return self.estimate.value

    @property
    def variance(self) -> float:
        """Variance of the unclipped estimate, from validation and from the target."""
        return float((self.validation.squares * self.influence**2).sum()) + self.target_variance

    @property
    def standard_error(self) -> float:
        """Square root of the variance."""
        return sqrt(self.variance)


DELTA_METHOD = "delta method, cut at 0 and 1"
_MAX_REPR_CLASSES = 6
"""Classes in a repr."""


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MulticlassPrevalence:
    """Estimated shares of several classes, each with its interval.

    >>> from baserate import MulticlassTarget, class_scores, shift
    >>> score = [[0.8, 0.2], [0.5, 0.5], [0.2, 0.8]]
    >>> validation = class_scores(list("aaabbb"), score * 2, count=[40, 20, 10, 10, 20, 40])
    >>> target = MulticlassTarget(np.array(score), ("a", "b"), count=np.array([40, 20, 40]))
    >>> shift.estimate_prevalence(target, validation, method="pacc")
    MulticlassPrevalence(a 0.5 [0.25, 0.75], b 0.5 [0.25, 0.75]; pacc, 100 rows)
    """

    labels: tuple[object, ...]
    estimates: tuple[Estimate, ...]
    method: str
    unclipped: Floats
    """Estimates before clipping to the simplex; by likelihood at a bound, the maximum of the tangent parabola."""
    covariance: Floats
    """Covariance of `unclipped`, from the target and from validation."""
    calibrated_at: Floats
    """Shares at which probabilities are calibrated, by default those of the validation rows."""
    rows: int
    """Unlabelled rows of the target."""
    validation: MulticlassRows
    influence: Floats
    """Influence of each validation row on `unclipped`; a row for each."""
    labelled: int = 0
    """Labelled rows of the target."""
    calibrator: MulticlassCalibrator | None = None
    """Calibrator of the probabilities; None if they were taken as calibrated."""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        width = len(self.labels)
        if len(self.estimates) != width or self.covariance.shape != (width, width):
            raise ShapeError(f"{width} classes need as many estimates, and a covariance of {width} by {width}.")
        for name in ("unclipped", "covariance", "calibrated_at"):
            object.__setattr__(self, name, read_only_copy(getattr(self, name)))

    @property
    def value(self) -> Floats:
        """The shares, in the order of `labels`; they add up to 1."""
        return np.array([each.value for each in self.estimates])

    def __repr__(self) -> str:
        parts = [
            f"{label} {each.value:.3g} [{each.low:.3g}, {each.high:.3g}]"
            for label, each in zip(self.labels[:_MAX_REPR_CLASSES], self.estimates, strict=False)
        ]
        parts += [f"and {len(self.labels) - _MAX_REPR_CLASSES} more"] if len(self.labels) > _MAX_REPR_CLASSES else []
        with_truth = f", {self.labelled} more with truth" if self.labelled else ""
        return f"{type(self).__name__}({', '.join(parts)}; {self.method}, {count_of(self.rows, 'row')}{with_truth})"


def share_intervals(
    value: Floats, unclipped: Floats, variance: Floats, *, rows: float, level: float, how: str = DELTA_METHOD
) -> list[Estimate]:
    r"""Compute intervals of shares, :math:`\tilde q±\sqrt{(\hat q-\tilde q)^2+z^2v}`, clipped at 0 and 1.

    The unclipped q̃ is near normal even where the share is 0. The interval contains all x for which the normal
    likelihood is at most z²/2 below that of the estimate q̂. It is Wald's where q̂ = q̃, and has positive width where
    q̂ is at a bound. It is never narrower than if all `rows` were labelled (Wilson, or Clopper and Pearson where a
    class is rare), which matters for classifiers that hardly err.
    """
    z, estimates = normal_quantile(level), []
    for q, free, v in zip(value.tolist(), unclipped.tolist(), np.maximum(variance, 0.0).tolist(), strict=True):
        half = sqrt((q - free) ** 2 + z * z * v)
        least, most = wilson_or_exact(q * rows, (1 - q) * rows, level)
        # q is included, since rounding may put it outside its own interval.
        low, high = min(free - half, least, q), max(free + half, most, q)
        estimates.append(Estimate(q, low=max(low, 0.0), high=min(high, 1.0), level=level, how=how))
    return estimates
