"""Expected cost: cost curves, Brier curves, cost tables of classifiers and iso-cost lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any, Literal, Unpack

import numpy as np

from baserate._arrays import Bools, Floats, Value
from baserate._confusion import Confusion
from baserate._costs import CostMatrix, Costs, CostsLike, as_costs
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import POINTS, ShareLike, check_domain, parse_share, parse_shares
from baserate._errors import EmptyDataError, NotBinaryError, OptionError, ShapeError, keyword
from baserate._results import Estimate, Results
from baserate._tally import Tallies, Tally
from baserate.calibration.multiclass import check_shares
from baserate.decide._cost_rules import cost as choose_by_cost
from baserate.infer import (
    LINEAR_FIXED_METHOD,
    LINEAR_METHOD,
    EstimateRequest,
    bound_weighted_cells,
    bound_weighted_rates,
    estimate,
)
from baserate.measure import (
    Measure,
    check_probabilities,
    compute_estimate,
    expected_cost,
    fnr,
    fpr,
    multiclass,
    results_data,
    tabulate_groups,
    tidy_columns,
)
from baserate.read import PredictionOptions, accepts_predictions, accepts_words
from baserate.shift import PrevalenceLike, check_prevalence, reweigh

CostCurveKind = Literal["cost", "brier"]
_CURVE_COLUMNS: dict[CostCurveKind, tuple[str, ...]] = {
    "cost": ("probability_cost", "cost", "low", "high", "threshold", "laxest", "trivial"),
    "brier": ("cost_proportion", "threshold", "loss", "low", "high", "least", "regret"),
}


@accepts_words
def probability_cost(costs: CostsLike, prevalence: ShareLike) -> float:
    r"""Compute the share of the possible cost of errors that is due to positives [@drummond2006].

    It is :math:`\frac{πC_1}{πC_1+(1-π)C_0}`, where :math:`C_1=C_{FN}-C_{TP}` is the cost of an error on a positive,
    and :math:`C_0=C_{FP}-C_{TN}` on a negative. It is the x-axis of a cost curve.

    Parameters
    ----------
    costs
        Costs of decisions.
    prevalence
        Prevalence, between 0 and 1.

    Returns
    -------
    float
        Share between 0 and 1.

    Examples
    --------
    >>> from baserate import Costs
    >>> probability_cost(Costs(fp=1, fn=9), 0.1)
    0.5
    """
    costs, prevalence = as_costs(costs), parse_share(prevalence)
    check_prevalence("prevalence", prevalence)
    missed, alarm = costs.fn - costs.tp, costs.fp - costs.tn
    if min(missed, alarm) < 0 or missed == alarm == 0:
        raise OptionError(f"the costs are {_mention_costs(costs)}; expected errors to cost more.")
    return prevalence * missed / (prevalence * missed + (1 - prevalence) * alarm)


@accepts_predictions("curve")
def cost_curve(
    curve: Curve, *, points: int | None = None, level: ShareLike | None = None, **predictions: Unpack[PredictionOptions]
) -> dict[str, Floats]:
    r"""Tabulate the least cost of any threshold against the probability cost x, :math:`\min_t FNR·x+FPR(1-x)`.

    The cost is a share of the greatest possible one. The curve is the lower envelope of the lines of all thresholds
    [@drummond2006], and is straight between its rows.

    Parameters
    ----------
    curve
        Curve of the data, with both classes.
    points
        Number of evenly spaced rows; by default the corners, which are exact.
    level
        Confidence level of the intervals, as if the threshold had been fixed beforehand; None for no intervals.

    Returns
    -------
    dict of str to numpy.ndarray
        Columns of equal length. `threshold` is the strictest that attains the cost and `laxest` the laxest on the
        convex hull; `trivial` is the cost of flagging all or none, whichever is less.

    Examples
    --------
    >>> from baserate import curve, tally
    >>> results = cost_curve(curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.3])))
    >>> {name: column.round(3).tolist() for name, column in results.items()}  # doctest: +NORMALIZE_WHITESPACE
    {'probability_cost': [0.0, 0.5, 1.0], 'cost': [0.0, 0.167, 0.0], 'threshold': [inf, 0.8, 0.6],
     'laxest': [0.8, 0.6, 0.3], 'trivial': [0.0, 0.5, 0.0]}
    """
    level = parse_share(level)
    if not (curve.positives and curve.negatives):
        raise NotBinaryError("a cost curve needs both classes; this curve has only one.")
    hull = curve.hull()
    tpr, fpr = hull.flagged_mass / [[hull.positives], [hull.negatives]]
    # x where each laxer threshold becomes the better one. They increase in theory; accumulate undoes rounding.
    true, false = hull.tally.positive / hull.positives, hull.tally.negative / hull.negatives
    turns = np.maximum.accumulate(false / (false + true))
    x = _grid(points) if points is not None else np.unique(np.concatenate([[0.0], turns, [1.0]]))
    # At a turn both neighbors cost the same: `left` is the stricter one, `right` the laxer one.
    strict, lax = (np.searchsorted(turns, x, side=side) for side in ("left", "right"))
    threshold = hull.threshold
    cost = (1 - tpr[strict]) * x + fpr[strict] * (1 - x)
    bound = partial(bound_weighted_rates, hull.at(threshold[strict]), {"fn": x, "fp": 1 - x})
    return {
        "probability_cost": x,
        "cost": cost,
        **_interval_columns(cost, np.isinf(threshold[strict]), level, bound),
        "threshold": threshold[strict],
        "laxest": threshold[lax],
        "trivial": np.minimum(x, 1 - x),
    }


@accepts_predictions("curve")
def brier_curve(
    curve: Curve, *, points: int | None = None, level: ShareLike | None = None, **predictions: Unpack[PredictionOptions]
) -> dict[str, Floats]:
    r"""Tabulate the loss of scores as probabilities against the cost proportion c.

    A false positive costs c, a false negative 1 − c, and scores at or above c are flagged. The loss is
    :math:`2[c(1-π)FPR(c)+(1-c)πFNR(c)]` per case, and the area under it is the Brier score [@hernandez2011]. The area
    under `regret` is the miscalibration component of the Brier score. All columns are straight between the rows. The
    loss jumps at a distinct score, which therefore has two rows: flagged, and not flagged.

    Parameters
    ----------
    curve
        Curve of probabilities.
    points
        Number of evenly spaced rows; by default all bends and jumps, which is exact.
    level
        Confidence level of the intervals of the loss; None for no intervals.

    Returns
    -------
    dict of str to numpy.ndarray
        Columns of equal length. `least` is the loss of the best threshold at each c, and `regret` the excess over it.

    Examples
    --------
    >>> from baserate import curve, tally
    >>> results = brier_curve(curve(tally([1, 0], [0.75, 0.5])))
    >>> results["cost_proportion"].tolist(), results["loss"].tolist()
    ([0.0, 0.5, 0.5, 0.75, 0.75, 1.0], [0.0, 0.5, 0.0, 0.0, 0.25, 0.0])
    >>> float(np.trapezoid(results["loss"], results["cost_proportion"]))  # (0.25² + 0.5²) / 2
    0.15625
    """
    level = parse_share(level)
    check_probabilities(curve.tally)
    if not curve.total:
        raise EmptyDataError("a Brier curve needs rows; this curve has none.")
    hull = curve.hull()
    blocks = hull.tally
    # Shares of positives decrease from pool to pool in theory; accumulate undoes rounding.
    turns = np.minimum.accumulate(blocks.positive / (blocks.positive + blocks.negative))
    c, after = _brier_breakpoints(curve.tally.score, turns) if points is None else (_grid(points), None)
    ascending = curve.tally.score[::-1]
    passed = np.searchsorted(ascending, c, side="left") if after is None else after
    flagged = len(ascending) - passed
    # At c the best threshold flags every pool whose share of positives exceeds c; at equality, the stricter wins.
    best = len(turns) - np.searchsorted(turns[::-1], c, side="right")
    loss, least = _brier_loss(curve, flagged, c), _brier_loss(hull, best, c)
    bound = partial(bound_weighted_cells, curve.counts[flagged], {"fn": 2 * (1 - c), "fp": 2 * c})
    return {
        "cost_proportion": c,
        "threshold": curve.threshold[flagged],
        "loss": loss,
        **_interval_columns(loss, c == 0, level, bound),
        "least": least,
        "regret": np.maximum(loss - least, 0.0),
    }


@accepts_predictions("tallies")
def cost_curves(
    tallies: Tallies,
    *,
    kind: CostCurveKind = "cost",
    prevalence: ShareLike | None = None,
    points: int | None = None,
    level: ShareLike | None = 0.95,
    **predictions: Unpack[PredictionOptions],
) -> Results:
    """Tabulate the cost curve or the Brier curve of every model and group, as tidy rows.

    Parameters
    ----------
    tallies
        Data of one or several models, in groups or not.
    kind
        "cost" or "brier".
    prevalence
        Deployment prevalence of a Brier curve. A cost curve has none, since prevalence is part of its x-axis.
    points
        Number of evenly spaced rows per curve; by default the exact corners.
    level
        Confidence level of the intervals; None for no intervals.

    Returns
    -------
    Results
        Rows of `cost_curve` or `brier_curve` per model and group, with the reason where there is no curve.

    Examples
    --------
    >>> from baserate import read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> [(row["probability_cost"], row["cost"], row["threshold"]) for row in cost_curves(t).rows()]
    [(0.0, 0.0, inf), (0.5, 0.25, 0.9), (1.0, 0.0, 0.4)]
    """
    prevalence, level = parse_share(prevalence), parse_share(level)
    if kind not in _CURVE_COLUMNS:
        raise OptionError(f"kind is {kind!r}; expected 'cost' or 'brier'.", option="kind", value=kind)
    if kind == "cost" and prevalence is not None:
        what = f"{keyword('prevalence', prevalence)} has no effect: a cost curve covers all prevalences"
        raise OptionError(what, remedy="see probability_cost(…).", option="prevalence", value=prevalence)
    if level is not None:
        EstimateRequest(level)
    if prevalence is not None:
        check_prevalence("prevalence", prevalence)
    adjusted = tallies if prevalence is None else reweigh(tallies, prevalence=prevalence)

    def columns(tally: Tally) -> dict[str, Any]:
        return _curve_columns(tally, kind, points, level)

    return Results(tabulate_groups(adjusted, columns), results_data(adjusted, []) | {"kind": kind, "level": level})


def _curve_columns(tally: Tally, kind: CostCurveKind, points: int | None, level: float | None) -> dict[str, Any]:
    """Tabulate one curve, or a row with the reason why there is none."""
    needed = ("positives", "negatives") if kind == "cost" else ("total",)
    missing = [name for name in needed if not getattr(tally, name)]
    if missing:
        reason = "there are no rows" if len(missing) > 1 or missing == ["total"] else f"there are no {missing[0]}"
        undefined = dict.fromkeys(_CURVE_COLUMNS[kind], np.array([np.nan]))
        return undefined | {"level": [None], "how": [None], "why": [reason]}
    columns = (cost_curve if kind == "cost" else brier_curve)(Curve(tally), points=points, level=level)
    size = len(columns["threshold"])
    columns = {name: columns.get(name, np.full(size, np.nan)) for name in _CURVE_COLUMNS[kind]}
    # The x-axis of a cost curve contains the prevalence, which is fixed therefore.
    how = None if level is None else LINEAR_FIXED_METHOD if kind == "cost" or tally.reweighed else LINEAR_METHOD
    return {**columns, "level": [level] * size, "how": [how] * size, "why": [None] * size}


def _interval_columns(
    value: Floats, certain: Bools, level: float | None, bound: Callable[[float], tuple[Any, Any]]
) -> dict[str, Floats]:
    """Return intervals of values if a level is given; without width where all or none are flagged."""
    if level is None:
        return {}
    low, high = bound(level)
    # Bounds combine two intervals: they may be below the least cost, 0, or miss the value by rounding.
    low, high = np.clip(low, 0.0, value), np.maximum(high, value)
    return {"low": np.where(certain, value, low), "high": np.where(certain, value, high)}


def _grid(points: int) -> Floats:
    check_domain("points", points, POINTS)
    return np.linspace(0.0, 1.0, points)


def _brier_breakpoints(score: Floats, turns: Floats) -> tuple[Floats, Any]:
    """Return where a Brier curve bends or jumps, and how many of the scores, from the lowest, are not flagged there.

    Every score occurs twice: flagged, then not flagged.
    """
    ascending = score[::-1]
    bends = np.setdiff1d(np.concatenate([[0.0], turns, [1.0]]), ascending)
    c = np.concatenate([ascending, ascending, bends])
    below = np.arange(len(ascending))
    passed = np.concatenate([below, below + 1, np.searchsorted(ascending, bends)])
    order = np.lexsort([passed, c])  # by c, then flagged before not flagged
    return c[order], passed[order]


def _brier_loss(curve: Curve, flagged: Any, c: Floats) -> Floats:  # noqa: ANN401  (places along the curve)
    """Return twice the cost per case when a number of scores, from the highest, are flagged."""
    true, false = curve.flagged_mass
    loss: Floats = 2 * (c * false[flagged] + (1 - c) * (true[-1] - true[flagged])) / curve.total
    return loss


Table = Counts[float] | Confusion

_ROW = {"measure": "expected_cost", "model": None, "group": None, "class": None, "threshold": None}
"""Columns of every tidy row."""
_SAME = 1e-9
"""Relative difference up to which shares or costs are equal."""


def cost_table(
    tables: Mapping[str, Counts[float]] | Mapping[str, Confusion],
    costs: CostsLike | CostMatrix,
    *,
    prevalence: PrevalenceLike | None = None,
    per: float = 1.0,
    level: ShareLike | None = 0.95,
) -> Results:
    """Compare the costs of classifiers: in their own samples, and per case at a stated prevalence.

    A classifier that was measured at a higher prevalence has more to lose, whatever it does. Classifiers that were
    measured at different prevalences are therefore compared only at a stated one.

    Parameters
    ----------
    tables
        Confusion matrix of each classifier by name: `Counts` of two classes, or `Confusion` of several.
    costs
        `Costs` of two classes, or a `CostMatrix` of several.
    prevalence
        Prevalence at which to compare; of several classes, a share for each. That of the samples by default, if they
        agree.
    per
        Number of cases that the cost is of.
    level
        Confidence level of the intervals; None for no intervals.

    Returns
    -------
    Results
        One row per classifier: `total` cost in its sample, `value` with its interval, and whether it is the
        `cheapest`. A note warns where the totals rank the classifiers differently.

    Examples
    --------
    >>> from baserate import Costs, Counts
    >>> models = {"M1": Counts(tp=150, fn=40, fp=60, tn=250), "M2": Counts(tp=250, fn=45, fp=5, tn=200)}
    >>> results = cost_table(models, Costs(tp=-1, fn=100, fp=1, tn=0), prevalence=0.38)
    >>> [(row["model"], row["total"], round(row["value"], 2), row["cheapest"]) for row in results.rows()]
    [('M1', 3910.0, 7.82, False), ('M2', 4255.0, 5.49, True)]
    >>> results.data["notes"]
    ['M1 has the lowest total in the samples, but per case M2 is the cheapest.']
    """
    prevalence, level = parse_shares(prevalence), parse_share(level)
    stated = costs if isinstance(costs, CostMatrix) else as_costs(costs)
    measure = _check_tables(tables, stated)
    if not (isfinite(per) and per > 0):
        raise OptionError(f"per is {per}; expected a number of cases above 0.", option="per", value=per)
    if prevalence is None:
        _check_same_prevalence({name: _class_shares(table) for name, table in tables.items()})
    else:
        _check_classes_occur(tables)
    rows = []
    for name, table in tables.items():
        reweighed = _reweigh_table(table, prevalence)
        plain = compute_estimate(measure, reweighed) if level is None else estimate(measure, reweighed, level=level)
        place = {**_ROW, "model": name, "prevalence": _positive_share(reweighed), "measured": _positive_share(table)}
        rows.append(place | {"total": stated.total(table), **tidy_columns(_scale_estimate(plain, per))})  # type: ignore[arg-type]
    least = _mark_least([row["value"] for row in rows])
    columns = {key: [row[key] for row in rows] for key in rows[0]} | {"cheapest": least}
    header = {"prevalence": _plain_prevalence(prevalence), "per": per, "level": level}
    return Results(columns, header | {"notes": _note_misleading_totals(columns)})


@dataclass(frozen=True, slots=True)
class IsoCost:
    """A line of equal cost in ROC space, :math:`TPR=a+b·FPR`."""

    slope: float
    """Slope b."""
    intercept: float
    """Intercept a."""
    cost: float
    """Expected cost per case on the line."""

    def tpr(self, fpr: Value) -> Value:
        """Return the true positive rate of the line at a false positive rate; it may lie outside 0 to 1."""
        return self.intercept + self.slope * fpr


@accepts_words
def iso_cost(
    costs: CostsLike, prevalence: ShareLike, *, through: tuple[float, float] | None = None, cost: float | None = None
) -> IsoCost:
    r"""Compute the iso-cost line in ROC space through a point, or of a given cost.

    At prevalence π the cost is :math:`π[C_{FN}-(C_{FN}-C_{TP})TPR]+(1-π)[C_{TN}+(C_{FP}-C_{TN})FPR]` [@provost2001].

    Parameters
    ----------
    costs
        Costs of decisions; those of flagged and unflagged positives must differ.
    prevalence
        Prevalence, between 0 and 1.
    through
        Point (FPR, TPR) on the line.
    cost
        Expected cost per case of the line, instead of a point.

    Returns
    -------
    IsoCost
        The line.

    Examples
    --------
    >>> from baserate import Costs
    >>> iso_cost(Costs(fp=10, fn=1), 0.5, through=(0.1, 0.6))
    IsoCost(slope=10.0, intercept=-0.4, cost=0.7)
    """
    costs, prevalence = as_costs(costs), parse_share(prevalence)
    check_prevalence("prevalence", prevalence)
    if (through is None) == (cost is None):
        raise OptionError(f"give either {keyword('through')}, a point (FPR, TPR), or {keyword('cost')}, per case.")
    missed = costs.fn - costs.tp
    if missed == 0:
        raise OptionError(f"the costs are {_mention_costs(costs)}; expected an error on a positive to cost something.")
    slope = costs.slope(prevalence)
    base = prevalence * costs.fn + (1 - prevalence) * costs.tn
    if through is not None:
        fpr, tpr = through
        _check_point(fpr, tpr)
        alarm = (1 - prevalence) * (costs.fp - costs.tn)
        return IsoCost(slope, tpr - slope * fpr, base - prevalence * missed * tpr + alarm * fpr)
    assert cost is not None  # noqa: S101  (for the type checker)
    if not isfinite(cost):
        raise OptionError(f"cost is {cost}; expected a finite number.", option="cost", value=cost)
    return IsoCost(slope, (base - cost) / (prevalence * missed), float(cost))


def _mention_costs(costs: Costs) -> str:
    return " ".join(keyword(outcome, getattr(costs, outcome)) for outcome in ("tp", "fp", "fn", "tn"))


def _check_point(fpr: float, tpr: float) -> None:
    if not (0 <= fpr <= 1 and 0 <= tpr <= 1):
        raise OptionError(f"through is ({fpr}, {tpr}); expected a false and a true positive rate, from 0 to 1.")


def _check_tables(tables: Mapping[str, Any], costs: Costs | CostMatrix) -> Measure:
    """Check that the tables fit the costs; return the measure of expected cost."""
    if not tables:
        raise OptionError("there is no confusion matrix", remedy="give one for each classifier, by name.")
    expected: type[Any] = Counts if isinstance(costs, Costs) else Confusion
    for name, table in tables.items():
        if not isinstance(table, expected):
            mismatch = f"{type(costs).__name__} are for {expected.__name__}, but {name} is {type(table).__name__}"
            raise OptionError(mismatch, remedy="give Costs for two classes, a CostMatrix for several.")
        if table.shape:
            raise ShapeError(f"{name} has {table.shape} tables", remedy="give one, for example counts[0].")
    measure: Measure = expected_cost if isinstance(costs, Costs) else multiclass.expected_cost
    return partial(measure, costs=costs)


def _plain_prevalence(prevalence: PrevalenceLike | None) -> object:
    """Convert a prevalence to plain numbers."""
    return dict(prevalence) if isinstance(prevalence, Mapping) else np.asarray(prevalence, dtype=np.object_).tolist()


def _reweigh_table(table: Any, prevalence: Any) -> Any:  # noqa: ANN401  (either kind of table)
    """Return the table at the stated prevalence, if there is one."""
    if prevalence is None:
        return table
    if isinstance(table, Counts):
        check_prevalence("prevalence", prevalence)
        return reweigh(table, prevalence=prevalence)
    if np.ndim(prevalence) == 0 and not isinstance(prevalence, Mapping):
        what = f"{keyword('prevalence', prevalence)} is one share for {len(table.labels)} classes"
        raise OptionError(what, remedy="give one for each.", option="prevalence", value=prevalence)
    return reweigh(
        table, prevalence=dict(zip(table.labels, check_shares("prevalence", prevalence, table.labels), strict=True))
    )


def _class_shares(table: Table) -> dict[object, float]:
    """Return the share of each class; of two classes, that of the positive one."""
    if isinstance(table, Counts):
        return {"positive": table.positives / table.total} if table.total else {}
    return dict(zip(table.labels, (table.truth / table.total).tolist(), strict=True)) if table.total else {}


def _check_same_prevalence(measured: Mapping[str, Mapping[object, float]]) -> None:
    """Raise an error if the classifiers were measured at different prevalences."""
    defined = [shares for shares in measured.values() if shares]
    labels = {label for shares in defined for label in shares}
    spans = [np.ptp([shares.get(label, 0.0) for shares in defined]) for label in labels]
    if max(spans, default=0.0) <= _SAME:
        return
    shares_by_name = "; ".join(f"{name}: {_format_shares(shares)}" for name, shares in measured.items())
    raise OptionError(
        f"the classifiers were measured at different prevalences ({shares_by_name}), so their costs do not compare",
        remedy=f"state the deployment prevalence with {keyword('prevalence')}; of several classes, a share for each.",
    )


def _format_shares(shares: Mapping[object, float]) -> str:
    if set(shares) == {"positive"}:
        return f"{shares['positive']:.6g}"
    return ", ".join(f"{label} {share:.6g}" for label, share in shares.items())


def _positive_share(table: Table) -> float | None:
    """Return the prevalence of two classes; None for several, whose shares do not fit a cell."""
    return _class_shares(table).get("positive", np.nan) if isinstance(table, Counts) else None


def _scale_estimate(estimate_: Estimate, factor: float) -> Estimate:
    value, low, high = (factor * each for each in (estimate_.value, estimate_.low, estimate_.high))
    return Estimate(value, low, high, estimate_.level, estimate_.how, estimate_.why)


def _mark_least(values: Sequence[float]) -> list[bool]:
    """Mark the least of all defined values; several if they are equal."""
    defined = np.array(values, dtype=np.float64)
    # `nanmin` warns where all are NaN.
    least = np.nanmin(defined) if not np.isnan(defined).all() else np.nan
    return [bool(abs(each - least) <= _SAME * abs(least)) for each in defined]


def _note_misleading_totals(columns: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return a note where the totals of the samples rank the classifiers differently."""
    pairs = zip(columns["total"], columns["value"], strict=True)
    totals = _mark_least([total + 0 * value for total, value in pairs])  # NaN where the cost per case is undefined
    if totals == columns["cheapest"] or not any(columns["cheapest"]):
        return []
    misled, best = (
        " and ".join(name for name, least in zip(columns["model"], marks, strict=True) if least)
        for marks in (totals, columns["cheapest"])
    )
    return [f"{misled} has the lowest total in the samples, but per case {best} is the cheapest."]


@accepts_predictions("tallies")
def cheapest_thresholds(
    tallies: Tallies, costs: CostsLike, prevalence: ShareLike, **predictions: Unpack[PredictionOptions]
) -> Results:
    """Tabulate the cheapest threshold of every model and group at costs and a prevalence.

    Parameters
    ----------
    tallies
        Data of one or several models, in groups or not.
    costs
        Costs of decisions.
    prevalence
        Prevalence in deployment.

    Returns
    -------
    Results
        One row per model and group: `threshold`, its `cost` as a share of the greatest (the height of the cost curve),
        that of flagging all or none (`trivial`), and the `expected_cost` per case; `why` where a class is missing.
        `data` holds the costs, the prevalence and the probability cost.

    Examples
    --------
    >>> from baserate import Costs, read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> (row,) = cheapest_thresholds(t, Costs(fp=1, fn=9), 0.1).rows()
    >>> row["threshold"], row["cost"], row["trivial"], round(row["expected_cost"], 3)
    (0.9, 0.25, 0.5, 0.45)
    """
    x = probability_cost(costs, prevalence)

    def columns(tally: Tally) -> dict[str, Any]:
        missing = [name for name in ("positives", "negatives") if not getattr(tally, name)]
        if missing:
            unknown = {name: [None] for name in ("threshold", "cost", "trivial", "expected_cost")}
            return {**unknown, "why": [f"there are no {missing[0]}"]}
        curve = Curve(tally)
        threshold = choose_by_cost(curve, costs, prevalence=prevalence).threshold
        counts = curve.at(threshold)
        return {
            "threshold": [threshold],
            "cost": [fnr(counts) * x + fpr(counts) * (1 - x)],
            "trivial": [min(x, 1 - x)],
            "expected_cost": [expected_cost(reweigh(counts, prevalence=prevalence), costs=costs)],
            "why": [None],
        }

    settings = {
        **{name: getattr(costs, name) for name in ("fp", "fn", "tp", "tn")},
        "prevalence": prevalence,
        "probability_cost": x,
    }
    return Results(tabulate_groups(tallies, columns), settings)


def _check_classes_occur(tables: Mapping[str, Table]) -> None:
    """Raise an error about a sample that lacks a class, which no weight gives a share."""
    for name, table in tables.items():
        if isinstance(table, Counts):
            masses = {"positives": table.positives, "negatives": table.negatives}
        else:
            masses = dict(zip((f"rows of {label}" for label in table.labels), table.truth.tolist(), strict=True))
        lacking = [what for what, mass in masses.items() if not mass]
        if lacking:
            raise NotBinaryError(
                f"{name} has no {' and no '.join(lacking)} that could be given a share",
                remedy=f"give a sample of all classes, or leave out {keyword('prevalence')}.",
            )
