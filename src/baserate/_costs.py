"""Costs: what each outcome costs, or pays."""

from dataclasses import astuple, dataclass
from math import isfinite

from baserate._arrays import Value, ratio
from baserate._counts import Counts
from baserate._errors import BadOption


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What each cell of the 2×2 table costs; a negative cost is a gain.

    >>> infection = Costs(tp=27_000, fp=2_000, fn=37_000, tn=0)
    >>> infection.total(Counts(tp=150, fp=50, fn=170, tn=630))
    10440000.0
    """

    tp: float = 0.0
    fp: float = 1.0
    fn: float = 1.0
    tn: float = 0.0

    def __post_init__(self) -> None:
        if not all(map(isfinite, astuple(self))):
            raise BadOption(f"{self}: every cost must be a finite number; use 0 for what costs nothing.")

    def total(self, counts: Counts[Value]) -> Value:
        """What these outcomes cost together."""
        return self.tp * counts.tp + self.fp * counts.fp + self.fn * counts.fn + self.tn * counts.tn

    def slope(self, prevalence: float) -> float:
        r"""Slope of the iso-cost lines in ROC space at that prevalence π.

        .. math:: \frac{C_{FP}-C_{TN}}{C_{FN}-C_{TP}} \cdot \frac{1-π}{π}

        The cheapest point of a curve is where a line of this slope touches it from above [@provost2001].

        >>> Costs(fp=10, fn=1).slope(prevalence=0.5)
        10.0
        """
        if not 0 <= prevalence <= 1:
            raise BadOption(f"prevalence is {prevalence}; it is a share, so give a number from 0 to 1.")
        return ratio((self.fp - self.tn) * (1 - prevalence), (self.fn - self.tp) * prevalence)
