"""Shares: how much of a target is of each class."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from baserate._arrays import Floats, read_only_copy
from baserate._calibrator import MulticlassCalibrator
from baserate._errors import ShapeError
from baserate._estimate import Estimate
from baserate._formatting import count_of
from baserate._immutable import keep_read_only
from baserate._rows import MulticlassRows
from baserate.infer import two_sided, usual

HOW = "delta method, cut at 0 and 1"
_SHOWN = 6
"""Classes that are shown in a line."""


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Shares:
    """The share of each class in a target, each with its interval, and how they were found.

    >>> from baserate import MulticlassTarget, scored, shift
    >>> score = [[0.8, 0.2], [0.5, 0.5], [0.2, 0.8]]
    >>> validation = scored(list("aaabbb"), score * 2, count=[40, 20, 10, 10, 20, 40])
    >>> target = MulticlassTarget(np.array(score), ("a", "b"), count=np.array([40, 20, 40]))
    >>> shift.prevalence(target, validation, method="pacc")
    Shares(a 0.5 [0.25, 0.75], b 0.5 [0.25, 0.75]; pacc, 100 rows)
    """

    labels: tuple[object, ...]
    estimates: tuple[Estimate, ...]
    method: str
    unclipped: Floats
    """Before they were made to lie between 0 and 1: the same where they did. By likelihood, where it has a maximum only
    at a bound, where the parabola that touches it there has its own."""
    covariance: Floats
    """Of what is unclipped; the validation rows are a sample too, and count."""
    at: Floats
    """Shares for which the probabilities were right: those of the validation rows, if nothing else was said."""
    rows: int
    """How many rows of the target have no truth."""
    validation: MulticlassRows
    moved: Floats
    """How much each validation row, or one more like it, moves what is unclipped: a row for each."""
    labelled: int = 0
    """How many have."""
    map: MulticlassCalibrator | None = None
    """How probabilities were made right before; None where they were taken as they are."""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        width = len(self.labels)
        if len(self.estimates) != width or self.covariance.shape != (width, width):
            raise ShapeError(f"{width} classes need as many estimates, and a covariance of {width} by {width}.")
        for name in ("unclipped", "covariance", "at"):
            object.__setattr__(self, name, read_only_copy(getattr(self, name)))

    @property
    def value(self) -> Floats:
        """The shares alone, in the order of `labels`; they add up to 1."""
        return np.array([each.value for each in self.estimates])

    def __repr__(self) -> str:
        told = [
            f"{label} {each.value:.3g} [{each.low:.3g}, {each.high:.3g}]"
            for label, each in zip(self.labels[:_SHOWN], self.estimates, strict=False)
        ]
        told += [f"and {len(self.labels) - _SHOWN} more"] if len(self.labels) > _SHOWN else []
        with_truth = f", {self.labelled} more with truth" if self.labelled else ""
        return f"Shares({', '.join(told)}; {self.method}, {count_of(self.rows, 'row')}{with_truth})"


def estimated(
    value: Floats, unclipped: Floats, variance: Floats, *, rows: float, level: float, how: str = HOW
) -> list[Estimate]:
    r"""Shares with their intervals, :math:`\tilde q±\sqrt{(\hat q-\tilde q)^2+z^2v}`, cut at 0 and 1.

    What is unclipped, q̃, is near normal even where the share is 0. The set holds all x for which the normal likelihood
    is no more than z²/2 below that of the estimate q̂: Wald's interval where q̂ = q̃, and never without width where q̂
    stands at its bound. It is also never narrower than if all `rows` had shown their truth (Wilson, or Clopper and
    Pearson where a class is rare), which matters for classifiers that hardly err.
    """
    z, found = two_sided(level), []
    for q, free, v in zip(value.tolist(), unclipped.tolist(), np.maximum(variance, 0.0).tolist(), strict=True):
        half = sqrt((q - free) ** 2 + z * z * v)
        least, most = usual(q * rows, (1 - q) * rows, level)
        low, high = min(free - half, least, q), max(free + half, most, q)
        found.append(Estimate(q, low=max(low, 0.0), high=min(high, 1.0), level=level, how=how))
    return found
