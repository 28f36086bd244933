"""Tables of the ROC convex hull of several models: vertices, likelihood ratios, and combined scores, as tidy rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from math import isfinite, isnan
from typing import Any, Unpack

from baserate._costs import Costs, CostsLike, as_costs
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import ShareLike, parse_share
from baserate._results import Results
from baserate._rows import Rows
from baserate._tally import Tallies
from baserate.decide._combination import combine_scores
from baserate.decide._convex_hull import (
    ClassifierMixture,
    ROCConvexHull,
    Vertex,
    hull_likelihood_ratios,
    roc_convex_hull,
)
from baserate.measure import concatenate, results_data
from baserate.read import PredictionOptions, accepts_predictions

CHOSEN_NOTE = "the thresholds were chosen on these very rows, which favors them: evaluate them on other rows."
_LABEL_THRESHOLD = 0.5


@accepts_predictions("tallies")
def hull_table(
    tallies: Tallies,
    *,
    reverse: bool = False,
    costs: CostsLike | None = None,
    prevalence: ShareLike | None = None,
    fpr: float | None = None,
    tpr: float | None = None,
    **predictions: Unpack[PredictionOptions],
) -> Results:
    """Tabulate the ROC convex hull of all models: its vertices, and the models below it.

    Parameters
    ----------
    tallies
        Data of one or several models; groups are pooled. Predicted labels are one point.
    reverse
        Whether models below the diagonal take part with their order reversed.
    costs
        Costs of decisions: adds the range of prevalences for which each vertex is optimal.
    prevalence
        Prevalence in deployment: adds the range of cost ratios, and with costs also the cost per case.
    fpr, tpr
        Rate that a mixture of two vertices attains; one of them at most. Adds the probability of each vertex.

    Returns
    -------
    Results
        Rows of `ROCConvexHull.results` with the added columns. `data["at"]` holds the costs, the prevalence and the
        best vertex, `data["hybrid"]` the mixture, `data["reversible"]` the models below the diagonal.

    Examples
    --------
    >>> from baserate import Costs, read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> results = hull_table(t, costs=Costs(fp=1, fn=5), prevalence=0.2)
    >>> [(row["classifier"], row["threshold"], round(row["cost"], 3)) for row in results.rows()]
    [('none', inf, 1.0), ('risk', 0.9, 0.5), ('risk', 0.4, 0.4), ('all', -inf, 0.8)]
    >>> results.data["at"]["best"]["threshold"]
    0.4
    """
    costs, prevalence = as_costs(costs), parse_share(prevalence)
    hull = roc_convex_hull(_classifiers(tallies), reverse=reverse)
    rate = {name: value for name, value in (("fpr", fpr), ("tpr", tpr)) if value is not None}
    mixture = hull.mixture(**rate) if rate else None
    dominated = [None] * len(hull.dominated)
    added = {name: [*column, *dominated] for name, column in _added_columns(hull, costs, prevalence, mixture)}
    has_thresholds = any(each.threshold is not None and isfinite(each.threshold) for each in hull.vertices)
    data = {
        **results_data(tallies, [CHOSEN_NOTE] * has_thresholds),
        "auc": hull.auc,
        "reverse": reverse,
        "reversible": [asdict(each) | {"reversed_auc": each.reversed_auc} for each in hull.reversible],
        **_describe_best(hull, costs, prevalence),
    }
    if mixture is not None:
        data["hybrid"] = {"wanted": next(iter(rate)), **_describe_mixture(mixture, costs, prevalence)}
    return Results({**hull.results().columns, **added}, data)


@accepts_predictions("tallies")
def likelihood_ratio_table(
    tallies: Tallies,
    *,
    prevalence: ShareLike | None = None,
    level: ShareLike = 0.95,
    **predictions: Unpack[PredictionOptions],
) -> Results:
    """Tabulate the likelihood ratios of the pools of scores of every model, highest scores first.

    Parameters
    ----------
    tallies
        Data of one or several models; groups are pooled.
    prevalence
        Prevalence for the column `posterior`; that of the data by default.
    level
        Confidence level of the intervals.

    Returns
    -------
    Results
        Rows of `hull_likelihood_ratios` with the name of the model, where there are several.

    Examples
    --------
    >>> from baserate import read
    >>> t = read.tallies({"sick": [1, 1, 0, 0], "risk": [0.9, 0.4, 0.6, 0.1]}, truth="sick", score="risk")
    >>> [(row["lower"], row["ratio"]) for row in likelihood_ratio_table(t).rows()]
    [(0.9, inf), (0.4, 1.0), (0.1, 0.0)]
    """
    several = len(tallies.models) > 1
    parts = []
    for model in tallies.models:
        pools = hull_likelihood_ratios(Curve(tallies.pooled(model)), prevalence=prevalence, level=level)
        size = len(pools["ratio"])
        parts.append({"model": [model if several else None] * size, **pools, "level": [level] * size})
    columns = {name: concatenate([part[name] for part in parts]) for name in parts[0]}
    at = {} if prevalence is None else {"at": {"prevalence": prevalence}}
    return Results(columns, {**results_data(tallies, []), "level": level, **at})


@accepts_predictions("rows")
def combination_table(rows: Rows, **predictions: Unpack[PredictionOptions]) -> Results:
    """Tabulate the weights of two scores whose weighted sum has the highest AUC, and the AUCs.

    Parameters
    ----------
    rows
        Rows with two scores.

    Returns
    -------
    Results
        One row: both names, weights and AUCs, the AUC of the sum, its cross-validated AUC, and whether it is exact.

    Examples
    --------
    >>> from baserate import read
    >>> people = {"sick": [1, 1, 1, 0, 0, 0], "age": [60, 80, 50, 70, 30, 40], "dose": [5, 2, 5, 1, 4, 3]}
    >>> (row,) = combination_table(read.rows(people, truth="sick", score=["age", "dose"])).rows()
    >>> row["first"], row["second"], row["auc"], row["exact"]
    ('age', 'dose', 1.0, True)
    """
    combination = combine_scores(rows)
    both = ("first", "second")
    row = {
        **dict(zip(both, combination.names, strict=True)),
        **{f"{name}_weight": weight for name, weight in zip(both, combination.weights, strict=True)},
        **{f"{name}_auc": alone for name, alone in zip(both, combination.single_aucs, strict=True)},
        **{name: getattr(combination, name) for name in ("auc", "held_out", "exact")},
        "why": "there are too few rows of a class to hold some out" if isnan(combination.held_out) else None,
    }
    return Results({name: [value] for name, value in row.items()}, results_data(rows.tallies(), []))


def has_cost_of_both_errors(costs: Costs) -> bool:
    """Return whether each kind of error costs more than the right decision: otherwise no prevalence matters."""
    return costs.fp > costs.tn and costs.fn > costs.tp


def _classifiers(tallies: Tallies) -> dict[str, Counts[float] | Curve]:
    """Return scores at all of their thresholds; predicted labels, stored as scores of 0 and 1, are one point."""
    curves = {model: Curve(tallies.pooled(model)) for model in tallies.models}
    labels = tallies.intake.columns.get("predicted")
    return {model: curve.at(_LABEL_THRESHOLD) if model == labels else curve for model, curve in curves.items()}


def _added_columns(
    hull: ROCConvexHull, costs: Costs | None, prevalence: float | None, mixture: ClassifierMixture | None
) -> Iterator[tuple[str, list[Any]]]:
    """Yield more columns of the vertices: where each is optimal, its cost, its probability in the mixture."""
    if prevalence is not None:
        yield from ((name, list(hull.ranges(prevalence).columns[name])) for name in ("ratio_from", "ratio_to"))
    if costs is not None and has_cost_of_both_errors(costs):
        ranges = hull.prevalences(costs).columns
        yield from ((name, list(ranges[name])) for name in ("prevalence_from", "prevalence_to"))
    if costs is not None and prevalence is not None:
        yield "cost", [each.cost(costs, prevalence) for each in hull.vertices]
    if mixture is not None:
        chances = {mixture.strict: 1 - mixture.chance, mixture.lax: mixture.chance}
        yield "chance", [chances.get(each, 0.0) for each in hull.vertices]


def _describe_best(hull: ROCConvexHull, costs: Costs | None, prevalence: float | None) -> dict[str, Any]:
    """Return the costs, the prevalence, and the best vertex if both are stated."""
    at: dict[str, Any] = {} if prevalence is None else {"prevalence": prevalence}
    at |= {} if costs is None else {name: getattr(costs, name) for name in ("fp", "fn", "tp", "tn")}
    if costs is not None and prevalence is not None:
        best = hull.at(costs, prevalence)
        at |= {"slope": costs.slope(prevalence), "best": _describe_vertex(best), "cost": best.cost(costs, prevalence)}
    return {"at": at} if at else {}


def _describe_mixture(mixture: ClassifierMixture, costs: Costs | None, prevalence: float | None) -> dict[str, Any]:
    """Return both vertices of a mixture, its rates, and its cost if costs and prevalence are stated."""
    ends = {"strict": _describe_vertex(mixture.strict), "lax": _describe_vertex(mixture.lax)}
    rates = {"chance": mixture.chance, "fpr": mixture.fpr, "tpr": mixture.tpr}
    if costs is None or prevalence is None:
        return {**ends, **rates}
    return {**ends, **rates, "cost": mixture.cost(costs, prevalence)}


def _describe_vertex(vertex: Vertex) -> dict[str, Any]:
    return {name: getattr(vertex, name) for name in ("classifier", "threshold", "reversed", "fpr", "tpr")}
