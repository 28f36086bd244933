"""Cost curves and Brier curves: what the best threshold, or the score as it is, costs at every proportion of costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from baserate._arrays import Bools, Floats
from baserate._costs import Costs
from baserate._curve import Curve
from baserate._domains import POINTS, check_domain
from baserate._errors import EmptyDataError, NotBinaryError, OptionError
from baserate._results import Results
from baserate._tally import Tallies, Tally
from baserate.infer import (
    LINEAR_FIXED_METHOD,
    LINEAR_METHOD,
    EstimateRequest,
    bound_weighted_cells,
    bound_weighted_rates,
)
from baserate.measure import check_probabilities, header, tabulated
from baserate.shift import checked_prevalence, reweigh

Kind = Literal["cost", "brier"]
_COLUMNS: dict[Kind, tuple[str, ...]] = {
    "cost": ("probability_cost", "cost", "low", "high", "threshold", "laxest", "trivial"),
    "brier": ("cost_proportion", "threshold", "loss", "low", "high", "least", "regret"),
}


def probability_cost(costs: Costs, prevalence: float) -> float:
    r"""How much of what errors can cost is due to positives, :math:`\frac{πC_1}{πC_1+(1-π)C_0}` [@drummond2006].

    :math:`C_1=C_{FN}-C_{TP}` is what an error costs on a positive, and :math:`C_0=C_{FP}-C_{TN}` on a negative. It is
    where costs and prevalence lie along a cost curve.

    >>> from baserate import Costs
    >>> probability_cost(Costs(fp=1, fn=9), 0.1)
    0.5
    """
    checked_prevalence("prevalence", prevalence)
    missed, alarm = costs.fn - costs.tp, costs.fp - costs.tn
    if min(missed, alarm) < 0 or missed == alarm == 0:
        raise OptionError(f"{costs}: errors must not cost less than right decisions, and one kind must cost more.")
    return prevalence * missed / (prevalence * missed + (1 - prevalence) * alarm)


def cost_curve(curve: Curve, *, points: int | None = None, level: float | None = None) -> dict[str, Floats]:
    r"""Tabulate the least cost against `probability_cost` x, as a share of the greatest: :math:`\min_t FNR·x+FPR(1-x)`.

    The lower envelope of all thresholds' lines [@drummond2006]; it has straight pieces between the rows given, so these
    are all of it. With `points`, so many rows evenly spaced instead. `threshold` is the strictest that attains the
    cost, `laxest` the laxest of the hull; `trivial` is the cost of flagging all or none, whichever is less.
    With a `level` there are bounds of the cost, as if the threshold had been fixed beforehand.

    >>> from baserate import curve, tally
    >>> found = cost_curve(curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.3])))
    >>> {name: column.round(3).tolist() for name, column in found.items()}  # doctest: +NORMALIZE_WHITESPACE
    {'probability_cost': [0.0, 0.5, 1.0], 'cost': [0.0, 0.167, 0.0], 'threshold': [inf, 0.8, 0.6],
     'laxest': [0.8, 0.6, 0.3], 'trivial': [0.0, 0.5, 0.0]}
    """
    if not (curve.positives and curve.negatives):
        raise NotBinaryError("a cost curve needs both classes; this curve has only one.")
    hull = curve.hull()
    tpr, fpr = hull.flagged_mass / [[hull.positives], [hull.negatives]]
    # From each threshold to the next, where the laxer becomes the better; they rise, but for rounding.
    true, false = hull.tally.positive / hull.positives, hull.tally.negative / hull.negatives
    turns = np.maximum.accumulate(false / (false + true))
    x = _grid(points) if points is not None else np.unique(np.concatenate([[0.0], turns, [1.0]]))
    strict, lax = (np.searchsorted(turns, x, side=side) for side in ("left", "right"))
    threshold = hull.threshold
    cost = (1 - tpr[strict]) * x + fpr[strict] * (1 - x)
    return {
        "probability_cost": x,
        "cost": cost,
        **_around(
            cost,
            np.isinf(threshold[strict]),
            level,
            lambda sure: bound_weighted_rates(hull.at(threshold[strict]), {"fn": x, "fp": 1 - x}, sure),
        ),
        "threshold": threshold[strict],
        "laxest": threshold[lax],
        "trivial": np.minimum(x, 1 - x),
    }


def brier_curve(curve: Curve, *, points: int | None = None, level: float | None = None) -> dict[str, Floats]:
    r"""Tabulate what scores cost as probabilities, flagged from c on, where false positives cost c and misses 1 − c.

    The loss is :math:`2[c(1-π)FPR(c)+(1-c)πFNR(c)]` per case, and the area under it is the Brier score
    [@hernandez2011]. `least` is that of the best threshold at each c, and `regret` what is lost by taking c for it; the
    area under `regret` is the part of the Brier score that is miscalibration.

    All is straight between the rows given: at a distinct score there are two, with it flagged and with it passed, since
    the loss jumps. With `points`, so many rows evenly spaced instead; with a `level`, bounds of the loss.

    >>> from baserate import curve, tally
    >>> found = brier_curve(curve(tally([1, 0], [0.75, 0.5])))
    >>> found["cost_proportion"].tolist(), found["loss"].tolist()
    ([0.0, 0.5, 0.5, 0.75, 0.75, 1.0], [0.0, 0.5, 0.0, 0.0, 0.25, 0.0])
    >>> float(np.trapezoid(found["loss"], found["cost_proportion"]))  # (0.25² + 0.5²) / 2
    0.15625
    """
    check_probabilities(curve.tally)
    if not curve.total:
        raise EmptyDataError("a Brier curve needs rows; this curve has none.")
    hull = curve.hull()
    blocks = hull.tally
    turns = np.minimum.accumulate(blocks.positive / (blocks.positive + blocks.negative))
    c, after = _proportions(curve.tally.score, turns) if points is None else (_grid(points), None)
    ascending = curve.tally.score[::-1]
    passed = np.searchsorted(ascending, c, side="left") if after is None else after
    flagged = len(ascending) - passed
    # At c the best threshold flags every block with a share of positives above c: the strictest of equals.
    best = len(turns) - np.searchsorted(turns[::-1], c, side="right")
    loss, least = _loss(curve, flagged, c), _loss(hull, best, c)
    return {
        "cost_proportion": c,
        "threshold": curve.threshold[flagged],
        "loss": loss,
        **_around(
            loss,
            c == 0,
            level,
            lambda sure: bound_weighted_cells(curve.counts[flagged], {"fn": 2 * (1 - c), "fp": 2 * c}, sure),
        ),
        "least": least,
        "regret": np.maximum(loss - least, 0.0),
    }


def cost_curves(
    tallies: Tallies,
    *,
    kind: Kind = "cost",
    prevalence: float | None = None,
    points: int | None = None,
    level: float | None = 0.95,
) -> Results:
    """Tabulate the cost curve or the Brier curve of every model and group, as tidy rows, with intervals of `level`.

    Along a cost curve the prevalence is part of x, so it cannot be stated; that of a Brier curve can.

    >>> from baserate import read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> [(row["probability_cost"], row["cost"], row["threshold"]) for row in cost_curves(t).rows()]
    [(0.0, 0.0, inf), (0.5, 0.25, 0.9), (1.0, 0.0, 0.4)]
    """
    if kind not in _COLUMNS:
        raise OptionError(f"kind is {kind!r}; it is 'cost' or 'brier'.")
    if kind == "cost" and prevalence is not None:
        raise OptionError(f"prevalence={prevalence} has no use: a cost curve holds for all; see probability_cost(…).")
    if level is not None:
        EstimateRequest(level)
    if prevalence is not None:
        checked_prevalence("prevalence", prevalence)
    moved = tallies if prevalence is None else reweigh(tallies, to=prevalence)

    def columns(tally: Tally) -> dict[str, Any]:
        return _columns(tally, kind, points, level)

    return Results(tabulated(moved, columns), header(moved, []) | {"kind": kind, "level": level})


def _columns(tally: Tally, kind: Kind, points: int | None, level: float | None) -> dict[str, Any]:
    """A curve, or a row that says why there is none."""
    needed = ("positives", "negatives") if kind == "cost" else ("total",)
    missing = [name for name in needed if not getattr(tally, name)]
    if missing:
        told = "there are no rows" if len(missing) > 1 or missing == ["total"] else f"there are no {missing[0]}"
        return dict.fromkeys(_COLUMNS[kind], np.array([np.nan])) | {"level": [None], "how": [None], "why": [told]}
    made = (cost_curve if kind == "cost" else brier_curve)(Curve(tally), points=points, level=level)
    size = len(made["threshold"])
    made = {name: made.get(name, np.full(size, np.nan)) for name in _COLUMNS[kind]}
    how = None if level is None else LINEAR_FIXED_METHOD if kind == "cost" or tally.reweighed else LINEAR_METHOD
    return {**made, "level": [level] * size, "how": [how] * size, "why": [None] * size}


def _around(
    value: Floats, certain: Bools, level: float | None, made: Callable[[float], tuple[Any, Any]]
) -> dict[str, Floats]:
    """Bounds of values, if they are asked for; who flags nobody, or all, knows what that costs."""
    if level is None:
        return {}
    low, high = made(level)
    low, high = np.clip(low, 0.0, value), np.maximum(high, value)
    return {"low": np.where(certain, value, low), "high": np.where(certain, value, high)}


def _grid(points: int) -> Floats:
    check_domain("points", points, POINTS)
    return np.linspace(0.0, 1.0, points)


def _proportions(score: Floats, turns: Floats) -> tuple[Floats, Any]:
    """Where a Brier curve bends or jumps, and how many of the scores are passed there, lowest first.

    Every score is there twice: itself flagged, then passed.
    """
    ascending = score[::-1]
    bends = np.setdiff1d(np.concatenate([[0.0], turns, [1.0]]), ascending)
    c = np.concatenate([ascending, ascending, bends])
    below = np.arange(len(ascending))
    passed = np.concatenate([below, below + 1, np.searchsorted(ascending, bends)])
    order = np.lexsort([passed, c])
    return c[order], passed[order]


def _loss(curve: Curve, flagged: Any, c: Floats) -> Floats:  # noqa: ANN401  (places along the curve)
    """Cost per case, twice, when so many of the scores are flagged, highest first."""
    true, false = curve.flagged_mass
    found: Floats = 2 * (c * false[flagged] + (1 - c) * (true[-1] - true[flagged])) / curve.total
    return found
