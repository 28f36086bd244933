"""What classifiers cost, per case and at a stated prevalence; and lines of equal cost in ROC space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from baserate._arrays import Floats, Value
from baserate._confusion import Confusion
from baserate._costs import CostMatrix, Costs
from baserate._counts import Counts
from baserate._errors import OptionError, ShapeError
from baserate._estimate import Estimate
from baserate._results import Results
from baserate.calibrate.multiclass import checked_shares
from baserate.infer import estimate
from baserate.measure import Measure, expected_cost, measured, multiclass, tidy
from baserate.shift import checked_prevalence, reweigh

Table = Counts[float] | Confusion
Stated = float | Floats | Mapping[Any, float] | Sequence[float] | None

_PLACE = {"measure": "expected_cost", "model": None, "group": None, "class": None, "threshold": None}
"""What all tidy rows have."""
_NEAR = 1e-9
"""Shares or costs that differ by less, relative to their size, are the same."""


def cost_table(
    tables: Mapping[str, Counts[float]] | Mapping[str, Confusion],
    costs: Costs | CostMatrix,
    *,
    prevalence: Stated = None,
    per: float = 1.0,
    level: float | None = 0.95,
) -> Results:
    """Tabulate what each classifier cost on its own sample, and what it costs per case where it will be used.

    A classifier that was measured where more are ill has more to lose, whatever it does: so those that were measured at
    different prevalences are compared only at a stated `prevalence`. Of tables of several classes with a `CostMatrix`,
    state a share for each class. `total` is of the sample as it is; `value` is the cost of `per` cases at that
    prevalence, with its interval unless `level` is None, and `cheapest` marks the least. A note says so where the
    totals tell otherwise.

    >>> from baserate import Costs, Counts
    >>> models = {"M1": Counts(tp=150, fn=40, fp=60, tn=250), "M2": Counts(tp=250, fn=45, fp=5, tn=200)}
    >>> found = cost_table(models, Costs(tp=-1, fn=100, fp=1, tn=0), prevalence=0.38)
    >>> [(row["model"], row["total"], round(row["value"], 2), row["cheapest"]) for row in found.rows()]
    [('M1', 3910.0, 7.82, False), ('M2', 4255.0, 5.49, True)]
    >>> found.data["notes"]
    ['by the totals of the samples as they are, M1 would be the cheapest; per case it is M2.']
    """
    measure = _checked(tables, costs)
    if not (isfinite(per) and per > 0):
        raise OptionError(f"per={per} is no number of cases; give one above 0, for example 1000.")
    if prevalence is None:
        _check_alike({name: _shares(table) for name, table in tables.items()})
    rows = []
    for name, table in tables.items():
        there = _moved(table, prevalence)
        found = _times(measured(measure, there) if level is None else estimate(measure, there, level=level), per)
        told = {**_PLACE, "model": name, "prevalence": _told(there), "measured": _told(table)}
        rows.append(told | {"total": costs.total(table), **tidy(found)})  # type: ignore[arg-type]
    least = _least([row["value"] for row in rows])
    columns = {key: [row[key] for row in rows] for key in rows[0]} | {"cheapest": least}
    return Results(columns, {"prevalence": _stated(prevalence), "per": per, "level": level, "notes": _notes(columns)})


@dataclass(frozen=True, slots=True)
class IsoCost:
    """Points of equal cost in ROC space, :math:`TPR=a+b·FPR`: their `slope` b, `intercept` a, and `cost` per case."""

    slope: float
    intercept: float
    cost: float

    def tpr(self, fpr: Value) -> Value:
        """Return the true positive rate at which the cost is this, whether or not there is such a rate."""
        return self.intercept + self.slope * fpr


def iso_cost(
    costs: Costs, prevalence: float, *, through: tuple[float, float] | None = None, cost: float | None = None
) -> IsoCost:
    r"""Draw the line of equal cost in ROC space `through` a point (FPR, TPR), or of a given `cost` per case.

    At prevalence π it is :math:`π[C_{FN}-(C_{FN}-C_{TP})TPR]+(1-π)[C_{TN}+(C_{FP}-C_{TN})FPR]` [@provost2001].

    >>> from baserate import Costs
    >>> iso_cost(Costs(fp=10, fn=1), 0.5, through=(0.1, 0.6))
    IsoCost(slope=10.0, intercept=-0.4, cost=0.7)
    """
    checked_prevalence("prevalence", prevalence)
    if (through is None) == (cost is None):
        raise OptionError("give either through=, a point (FPR, TPR), or cost=, per case.")
    missed = costs.fn - costs.tp
    if missed == 0:
        raise OptionError(f"{costs}: a positive costs the same flagged or not, so no line is a function of FPR.")
    slope = costs.slope(prevalence)
    base = prevalence * costs.fn + (1 - prevalence) * costs.tn
    if through is not None:
        fpr, tpr = through
        _check_point(fpr, tpr)
        alarm = (1 - prevalence) * (costs.fp - costs.tn)
        return IsoCost(slope, tpr - slope * fpr, base - prevalence * missed * tpr + alarm * fpr)
    assert cost is not None  # noqa: S101  (for the type checker)
    if not isfinite(cost):
        raise OptionError(f"cost={cost} is not finite; give what a case costs on average.")
    return IsoCost(slope, (base - cost) / (prevalence * missed), float(cost))


def _check_point(fpr: float, tpr: float) -> None:
    if not (0 <= fpr <= 1 and 0 <= tpr <= 1):
        raise OptionError(f"through is ({fpr}, {tpr}); give a false and a true positive rate, both from 0 to 1.")


def _checked(tables: Mapping[str, Any], costs: Costs | CostMatrix) -> Measure:
    """Refuse tables that do not fit the costs; return what measures these."""
    if not tables:
        raise OptionError("there is no table to cost; give one for each classifier, by name.")
    wanted: type[Any] = Counts if isinstance(costs, Costs) else Confusion
    for name, table in tables.items():
        if not isinstance(table, wanted):
            told = f"{type(costs).__name__} are of {wanted.__name__}, but the table of {name} is {type(table).__name__}"
            raise OptionError(f"{told}; two classes go with Costs, several with a CostMatrix.")
        if table.shape:
            raise ShapeError(f"{name} has {table.shape} tables; give one, for example counts[0].")
    measure: Measure = expected_cost if isinstance(costs, Costs) else multiclass.expected_cost
    return partial(measure, costs=costs)


def _stated(prevalence: Stated) -> object:
    """The prevalence as plain numbers."""
    return dict(prevalence) if isinstance(prevalence, Mapping) else np.asarray(prevalence, dtype=np.object_).tolist()


def _moved(table: Any, prevalence: Any) -> Any:  # noqa: ANN401  (either kind of table)
    """The table at the stated prevalence, if there is one."""
    if prevalence is None:
        return table
    if isinstance(table, Counts):
        checked_prevalence("prevalence", prevalence)
        return reweigh(table, to=prevalence)
    if np.ndim(prevalence) == 0 and not isinstance(prevalence, Mapping):
        raise OptionError(f"prevalence={prevalence!r} is one share for {len(table.labels)} classes; give one for each.")
    return reweigh(
        table, to=dict(zip(table.labels, checked_shares("prevalence", prevalence, table.labels), strict=True))
    )


def _shares(table: Table) -> dict[object, float]:
    """Share of each class; of two, of the positive one alone."""
    if isinstance(table, Counts):
        return {"positive": table.positives / table.total} if table.total else {}
    return dict(zip(table.labels, (table.truth / table.total).tolist(), strict=True)) if table.total else {}


def _check_alike(measured: Mapping[str, Mapping[object, float]]) -> None:
    """Refuse to compare what was measured at different prevalences."""
    there = [shares for shares in measured.values() if shares]
    labels = {label for shares in there for label in shares}
    spans = [np.ptp([shares.get(label, 0.0) for shares in there]) for label in labels]
    if max(spans, default=0.0) <= _NEAR:
        return
    told = "; ".join(f"{name}: {_listed(shares)}" for name, shares in measured.items())
    raise OptionError(
        f"these classifiers were measured at different prevalences ({told}), so their costs do not compare. State the "
        "one where they will be used with prevalence=; of several classes, a share for each."
    )


def _listed(shares: Mapping[object, float]) -> str:
    if set(shares) == {"positive"}:
        return f"{shares['positive']:.6g}"
    return ", ".join(f"{label} {share:.6g}" for label, share in shares.items())


def _told(table: Table) -> float | None:
    """Prevalence of two classes; shares of several do not fit a cell."""
    return _shares(table).get("positive", np.nan) if isinstance(table, Counts) else None


def _times(found: Estimate, factor: float) -> Estimate:
    value, low, high = (factor * each for each in (found.value, found.low, found.high))
    return Estimate(value, low, high, found.level, found.how, found.why)


def _least(values: Sequence[float]) -> list[bool]:
    """Which are the least of all that are defined; several if they are equal."""
    defined = np.array(values, dtype=np.float64)
    least = np.nanmin(defined) if not np.isnan(defined).all() else np.nan
    return [bool(abs(each - least) <= _NEAR * abs(least)) for each in defined]


def _notes(columns: Mapping[str, Sequence[Any]]) -> list[str]:
    """Say where totals of samples would mislead."""
    both = zip(columns["total"], columns["value"], strict=True)
    totals = _least([total + 0 * value for total, value in both])  # of what is undefined, none
    if totals == columns["cheapest"] or not any(columns["cheapest"]):
        return []
    misled, best = (
        " and ".join(name for name, least in zip(columns["model"], marks, strict=True) if least)
        for marks in (totals, columns["cheapest"])
    )
    return [f"by the totals of the samples as they are, {misled} would be the cheapest; per case it is {best}."]
