"""Costs of the outcomes of decisions, of two classes or several."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats, Value, exact_sum, keep_read_only, ratio, read_only_copy
from baserate._confusion import Confusion, as_cells, distinct_labels
from baserate._counts import Counts
from baserate._domains import COST, ShareLike, check_prevalence, is_cost, parse_share
from baserate._errors import OptionError, ShapeError, UnknownNameError, keyword, unknown_name
from baserate._formatting import count_of
from baserate._rendering import Renderable

_MOST_CLASSES = 5
"""Classes of a matrix whose representation contains its costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Cost of each cell of the confusion matrix; a negative cost is a gain.

    >>> infection = Costs(tp=27_000, fp=2_000, fn=37_000, tn=0)
    >>> infection.total(Counts(tp=150, fp=50, fn=170, tn=630))
    10440000.0
    """

    tp: float = 0.0
    fp: float = 1.0
    fn: float = 1.0
    tn: float = 0.0

    def __post_init__(self) -> None:
        invalid = next((name for name in ("tp", "fp", "fn", "tn") if not is_cost(getattr(self, name))), None)
        if invalid is not None:
            raise OptionError(
                f"{invalid} is {getattr(self, invalid)!r}; expected {COST.words}.",
                remedy="State costs in another unit, or 0 for no cost.",
                option=invalid,
                value=getattr(self, invalid),
            )

    def total(self, counts: Counts[Value]) -> Value:
        """Return the total cost of some counts."""
        return self.tp * counts.tp + self.fp * counts.fp + self.fn * counts.fn + self.tn * counts.tn

    @property
    def threshold_probability(self) -> float:
        """Risk from which on flagging costs less than not flagging; NaN unless both errors cost more than no error.

        >>> Costs(fp=1, fn=4).threshold_probability
        0.2
        """
        alarm, miss = self.fp - self.tn, self.fn - self.tp
        return alarm / (alarm + miss) if alarm > 0 and miss > 0 else nan

    def slope(self, prevalence: ShareLike) -> float:
        r"""Return the slope of the iso-cost lines in ROC space at a prevalence π.

        .. math:: \frac{C_{FP}-C_{TN}}{C_{FN}-C_{TP}} \cdot \frac{1-π}{π}

        The cheapest point of a curve is where a line of this slope touches it from above [@provost2001].

        >>> Costs(fp=10, fn=1).slope(prevalence=0.5)
        10.0
        """
        prevalence = parse_share(prevalence)
        check_prevalence("prevalence", prevalence, ends=True)
        # NaN where both differences are 0: then every threshold costs the same.
        return ratio((self.fp - self.tn) * (1 - prevalence), (self.fn - self.tp) * prevalence)


CostsLike = Costs | Mapping[str, float]
"""Costs, or a mapping from cells to costs such as `{"fp": 1, "fn": 20}`."""
_CELLS = ("fp", "fn", "tp", "tn")


@overload
def as_costs(costs: CostsLike) -> Costs: ...
@overload
def as_costs(costs: object = None, fp: float | None = None, fn: float | None = None) -> Costs | None: ...
def as_costs(costs: object = None, fp: float | None = None, fn: float | None = None) -> Costs | None:
    """Return costs however they are stated; None if they are not.

    Both errors must have a cost: a default of 1 would decide what a missed positive is worth.

    >>> as_costs(fp=1, fn=20) == as_costs({"fp": 1, "fn": 20}) == as_costs(Costs(fp=1, fn=20))
    True
    """
    if costs is None and fp is None and fn is None:
        return None
    if costs is not None and (fp is not None or fn is not None):
        raise OptionError(
            f"costs are given twice, by {keyword('costs')} and by {keyword('fp' if fp is not None else 'fn')}.",
            remedy="Give them once.",
            option="costs",
        )
    if isinstance(costs, Costs):
        return costs
    if costs is not None and not isinstance(costs, Mapping):
        raise OptionError(
            f"costs is {costs!r}; expected costs of errors.",
            remedy='Give {"fp": 1, "fn": 20}, or Costs(fp=1, fn=20).',
            option="costs",
            value=costs,
        )
    cells: dict[str, Any] = {"fp": fp, "fn": fn} if costs is None else dict(costs)
    unknown = next((name for name in cells if name not in _CELLS), None)
    if unknown is not None:
        raise unknown_name("cell of costs", unknown, _CELLS)
    for name in ("fp", "fn"):
        if cells.get(name) is None:
            raise OptionError(
                f"costs have no {name}.",
                remedy="Give both: fp, the cost of a false positive, and fn, the cost of a false negative.",
                option=name,
            )
    return Costs(**cells)


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False, init=False)
class CostMatrix(Renderable):
    """Cost of each decision for each true class, true classes in rows; a negative cost is a gain.

    Classes are matched by their labels, so that their order need not be that of the confusion matrix.

    >>> triage = CostMatrix([[0, 1, 4], [2, 0, 1], [9, 3, 0]], ["home", "ward", "theatre"])
    >>> triage.total(Confusion.of_matrix([[5, 1], [2, 3]], ["theatre", "home"], truth="rows"))
    17.0
    """

    cost: Floats
    labels: tuple[object, ...]

    def __init__(self, cost: npt.ArrayLike, labels: Iterable[object]) -> None:
        cost, labels = as_cells(cost), distinct_labels(labels)
        if cost.shape != (len(labels), len(labels)):
            what = f"the costs have shape {cost.shape} for {count_of(len(labels), 'class', 'classes')}"
            raise ShapeError(what, remedy="give one for each pair.")
        bad = sum(not is_cost(each) for each in cost.ravel().tolist())
        if bad:
            raise OptionError(f"{bad} of {cost.size} costs are not {COST.words}", remedy="use 0 for no cost.")
        object.__setattr__(self, "cost", read_only_copy(cost))
        object.__setattr__(self, "labels", labels)

    def __repr__(self) -> str:
        if len(self.labels) > _MOST_CLASSES:
            return f"CostMatrix({count_of(len(self.labels), 'class', 'classes')})"
        return f"CostMatrix({self.cost.tolist()}, {list(self.labels)})"

    def over(self, labels: Sequence[object]) -> Floats:
        """Return the costs of these classes, in their order.

        >>> CostMatrix([[0, 1, 4], [2, 0, 1], [9, 3, 0]], ["home", "ward", "clinic"]).over(["clinic", "home"]).tolist()
        [[0.0, 9.0], [4.0, 0.0]]
        """
        self._check_labels(labels)
        places = [self.labels.index(label) for label in labels]
        return self.cost[np.ix_(places, places)]

    def _check_labels(self, labels: Iterable[object]) -> None:
        unknown = [label for label in labels if label not in self.labels]
        if unknown:
            raise UnknownNameError(
                f"there are no costs for the class {unknown[0]!r}", remedy="give one for each class."
            )

    def total(self, confusion: Confusion) -> float:
        """Return the total cost of a confusion matrix; of a stack, an array. Classes are matched by their labels."""
        self._check_labels(confusion.labels)
        return exact_sum(self.cost * confusion.over(self.labels).mass, axes=2)
