"""Prevalence: an estimate for a target without truth, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from baserate._arrays import Floats
from baserate._calibrator import Calibrator
from baserate._estimate import Estimate
from baserate._immutable import keep_read_only
from baserate._tally import Tally
from baserate.infer import Check


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Prevalence:
    """The share of the positive class in a target, with an interval that knows how few validation rows there were."""

    estimate: Estimate
    method: str
    unclipped: float
    """Before it was moved into [0, 1]."""
    validation: Tally
    moved: Floats
    """How much one more row of each class at each validation score moves the estimate."""
    spread: float
    """Variance that comes from the target."""
    map: Calibrator | None = None
    """Scores -> probabilities that are right at the prevalence `at`, where the method needs one."""
    at: float | None = None
    rows: int = 0
    """Rows of the target without truth."""
    labelled: int = 0
    """Rows of the target with truth."""
    notes: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    """Tests of what the estimate rests on: of label shift for binned, of the calibration for mlls."""

    def __repr__(self) -> str:
        found = self.estimate
        return f"Prevalence({found.value:.6g}, {found.low:.6g} to {found.high:.6g}, by {self.method})"

    @property
    def value(self) -> float:
        """The estimate itself."""
        return self.estimate.value

    @property
    def variance(self) -> float:
        """Of the estimate before it was moved into [0, 1]: from validation and from the target."""
        return float((self.validation.squares * self.moved**2).sum()) + self.spread

    @property
    def standard_error(self) -> float:
        """Root of the variance."""
        return sqrt(self.variance)
