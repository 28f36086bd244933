"""Front: the classifiers of a set that are ever the best, what each of them is best for, and what lies below."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import inf, isnan
from typing import Any

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._costs import Costs
from baserate._domains import check_prevalence
from baserate._errors import MissingValuesError, OptionError
from baserate._results import Results

NONE, ALL = "none", "all"
"""The decisions that anybody can take: to flag nothing, and to flag everything."""


@dataclass(frozen=True, slots=True)
class Vertex:
    """A classifier, at a threshold if it scores, that is the best for a range of slopes of iso-cost lines."""

    classifier: str
    """Its name; "none" flags nothing and "all" everything."""
    threshold: float | None
    """Where a score begins to be flagged; None if the classifier only labels."""
    fpr: float
    tpr: float
    slope_from: float
    """Slopes below this one; at it, the stricter neighbour wins."""
    slope_to: float
    """Slopes from this one on."""
    reversed: bool = False
    """Whether what the classifier passes is flagged."""
    others: tuple[str, ...] = ()
    """Who else is at that point."""

    def cost(self, costs: Costs, prevalence: float) -> float:
        r"""What a case costs, :math:`π(TPR·C_{TP}+(1-TPR)C_{FN})+(1-π)(FPR·C_{FP}+(1-FPR)C_{TN})`."""
        return _cost(self.fpr, self.tpr, costs, prevalence)


@dataclass(frozen=True, slots=True)
class Hybrid:
    """Two neighbours on a front and the chance of the laxer one: a point on the edge between them."""

    strict: Vertex
    lax: Vertex
    chance: float
    """Of using `lax`."""

    @property
    def fpr(self) -> float:
        """False positive rate of the mixture."""
        return (1 - self.chance) * self.strict.fpr + self.chance * self.lax.fpr

    @property
    def tpr(self) -> float:
        """True positive rate of the mixture."""
        return (1 - self.chance) * self.strict.tpr + self.chance * self.lax.tpr

    def cost(self, costs: Costs, prevalence: float) -> float:
        """What a case costs: never less than with the cheaper of the two."""
        return _cost(self.fpr, self.tpr, costs, prevalence)


@dataclass(frozen=True, slots=True)
class Dominated:
    """A classifier that is no vertex, and how far below the front it is.

    A score is judged at that threshold which comes nearest; `gap` and `factor` are NaN for scores that are all equal,
    which can only flag nothing or everything.
    """

    classifier: str
    gap: float
    """How much more sensitive the front is at the same false positive rate; 0 on an edge."""
    factor: float
    """How many times as dear as the best it is at the least, at any slope, if only mistakes cost."""
    area: float
    """How much larger the area under the front is than that under its own."""


@dataclass(frozen=True, slots=True)
class Reversible:
    """A classifier below the diagonal: it would be better to flag what it passes."""

    classifier: str
    auc: float
    """Area under its curve; of one that only labels, (1 + TPR − FPR)/2."""
    fpr: float | None
    """False positive rate after reversal, if it only labels."""
    tpr: float | None
    """True positive rate after reversal, if it only labels."""

    @property
    def reversed_auc(self) -> float:
        """Area under its curve after reversal."""
        return 1 - self.auc


@dataclass(frozen=True, slots=True)
class Front:
    """The upper convex hull of classifiers in ROC space, made by `front`."""

    vertices: tuple[Vertex, ...]
    """Strictest first, from "none" to "all"."""
    dominated: tuple[Dominated, ...]
    reversible: tuple[Reversible, ...]
    """Those below the diagonal, which take part reversed only if that was asked for."""

    @property
    def never(self) -> tuple[str, ...]:
        """Classifiers without which nothing would be lost at any costs and any prevalence."""
        return tuple(each.classifier for each in self.dominated)

    @property
    def auc(self) -> float:
        """Area under the front."""
        return area(self.vertices)

    def best(self, slope: float) -> Vertex:
        """Cheapest vertex where iso-cost lines have that slope; the strictest if there are two."""
        if isnan(slope):
            raise MissingValuesError(
                "the slope is NaN; costs that are all equal, or a prevalence without a class, give none."
            )
        return next((each for each in self.vertices if slope >= each.slope_to), self.vertices[-1])

    def at(self, costs: Costs, prevalence: float) -> Vertex:
        """Cheapest vertex at these costs and that prevalence; the strictest if there are two."""
        _check_mistakes_cost(costs)
        return self.best(costs.slope(prevalence))

    def ranges(self, prevalence: float) -> Results:
        r"""For which ratios of costs :math:`\frac{C_{FN}-C_{TP}}{C_{FP}-C_{TN}}` each vertex is the best.

        Above `ratio_from`, and up to `ratio_to`.
        """
        check_prevalence("prevalence", prevalence)
        odds = (1 - prevalence) / prevalence
        ends = [(ratio(odds, each.slope_from), ratio(odds, each.slope_to)) for each in self.vertices]
        return self._table(ends, "ratio", {"prevalence": prevalence})

    def prevalences(self, costs: Costs) -> Results:
        """For which prevalences each vertex is the best: above `prevalence_from`, and up to `prevalence_to`."""
        _check_mistakes_cost(costs)
        even = costs.slope(0.5)
        if not 0 < even < inf:
            raise OptionError(f"with {costs} one kind of mistake costs nothing, so no prevalence matters; see `at`.")
        ends = [(even / (even + each.slope_from), even / (even + each.slope_to)) for each in self.vertices]
        return self._table(ends, "prevalence", {"costs": repr(costs)})

    def mixture(self, *, fpr: float | None = None, tpr: float | None = None) -> Hybrid:
        """Find the mixture of two neighbours that reaches a false or true positive rate.

        At a given `fpr` it is the mixture of highest TPR; at a given `tpr`, the one of lowest FPR [@provost2001].
        """
        wanted = fpr if tpr is None else tpr
        if wanted is None or (fpr is not None and tpr is not None):
            raise OptionError("give either fpr or tpr.")
        if not 0 <= wanted <= 1:
            raise OptionError(f"a rate of {wanted} cannot be reached; give a number from 0 to 1.")
        rate = [each.fpr if tpr is None else each.tpr for each in self.vertices]
        reached = int(np.searchsorted(rate, wanted, side="right" if tpr is None else "left"))
        lax = min(max(reached, 1), len(rate) - 1)
        chance = ratio(wanted - rate[lax - 1], rate[lax] - rate[lax - 1])
        return Hybrid(self.vertices[lax - 1], self.vertices[lax], chance)

    def results(self) -> Results:
        """One row for each vertex, strictest first, then for each classifier that is none."""
        on = self._table([(each.slope_from, each.slope_to) for each in self.vertices], "slope", {"auc": self.auc})
        below = len(self.dominated)
        columns: dict[str, Any] = {name: [*column, *[None] * below] for name, column in on.columns.items()}
        columns["classifier"] = [*on.columns["classifier"], *self.never]
        columns["others"] = [*(", ".join(each.others) or None for each in self.vertices), *[None] * below]
        kept = len(self.vertices)
        columns["gap"] = [*[0.0] * kept, *(each.gap for each in self.dominated)]
        columns["factor"] = [*[1.0] * kept, *(each.factor for each in self.dominated)]
        columns["area"] = [*[0.0] * kept, *(each.area for each in self.dominated)]
        return Results(columns, on.data)

    def _table(self, ends: list[tuple[float, float]], name: str, data: dict[str, Any]) -> Results:
        columns: dict[str, list[Any]] = {
            field: [getattr(each, field) for each in self.vertices]
            for field in ("classifier", "threshold", "reversed", "fpr", "tpr")
        }
        columns[f"{name}_from"], columns[f"{name}_to"] = ([end[at] for end in ends] for at in (0, 1))
        return Results(columns, data)


def area(vertices: tuple[Vertex, ...]) -> float:
    """Area under the line through all vertices."""
    return sum((b.fpr - a.fpr) * (a.tpr + b.tpr) for a, b in pairwise(vertices)) / 2


def height(vertices: tuple[Vertex, ...], fpr: Floats) -> Floats:
    """True positive rates of the front at false positive rates."""
    # Of vertices at one rate, which are at 0 or 1 only, the highest counts.
    top = {each.fpr: each.tpr for each in vertices}
    found: Floats = np.interp(fpr, list(top), list(top.values()))
    return found


def cost_factor(vertices: tuple[Vertex, ...], fpr: Floats, tpr: Floats) -> Floats:
    """How many times as dear as the best points are, at the slope that is kindest to each; if only mistakes cost.

    The cost of the best is linear in the slope between those of the edges, so the ratio is least at one of these, or
    where one of the two mistakes costs next to nothing.
    """
    misses = 1 - tpr
    # At the ends one mistake alone counts, so that only who does not make it can be compared.
    flags_none = min(1 - each.tpr for each in vertices if each.fpr == 0)
    misses_none = min(each.fpr for each in vertices if each.tpr == 1)
    found = np.where(fpr == 0, ratio(misses, flags_none), inf)
    found = np.fmin(found, np.where(misses == 0, ratio(fpr, misses_none), inf))
    for each in vertices:
        if 0 < each.slope_to < inf:
            best = each.slope_to * each.fpr + 1 - each.tpr
            found = np.fmin(found, ratio(each.slope_to * fpr + misses, best))
    return np.maximum(found, 1.0)


def _cost(fpr: float, tpr: float, costs: Costs, prevalence: float) -> float:
    check_prevalence("prevalence", prevalence, ends=True)
    positive = tpr * costs.tp + (1 - tpr) * costs.fn
    negative = fpr * costs.fp + (1 - fpr) * costs.tn
    return prevalence * positive + (1 - prevalence) * negative


def _check_mistakes_cost(costs: Costs) -> None:
    """The hull holds the best only if more true and fewer false positives never cost more."""
    if costs.fn < costs.tp or costs.fp < costs.tn:
        raise OptionError(
            f"with {costs} a mistake costs less than being right; call the other class positive, or mend it."
        )
