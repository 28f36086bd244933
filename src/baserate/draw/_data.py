"""Data of figures: conversion to tallies, series by model and group, marks of decisions, and tables of curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any, Literal, NamedTuple

import numpy as np

from baserate._counts import Counts
from baserate._curve import Curve
from baserate._cut import FLAG, flags_from
from baserate._domains import PLACE, check_domain
from baserate._errors import OptionError, ShapeError, UnknownNameError, advice
from baserate._policy import Policy
from baserate._results import Results
from baserate._tally import Group, Tallies, Tally
from baserate.decide import evaluate_groups, require_both_classes
from baserate.infer import IntervalOptions, confidence_bands, summary
from baserate.measure import TABLES, Measure, as_thresholds, curves, find_measure, group_attributes, results_data
from baserate.shift import reweigh
from baserate.text import EVERYBODY

Data = Tally | Curve | Tallies | Mapping[str, Tally] | Mapping[str, Curve]
"""One model, several by name, or several with groups."""
Mixed = Data | Counts[float] | Mapping[str, Tally | Curve | Counts[float]]
"""The same, and confusion matrices of classifiers that only give labels."""
SeriesKey = tuple[str | None, str]
"""Model and group of a series."""

_MODEL_NAME = "score"
_LABELS_NAME = "labels"
_FARTHEST = 1e300
"""Largest score whose axis length is a finite float: that of ±1.8e308 overflows."""


class Series(NamedTuple):
    """One line of a figure: its name and its rows of a table."""

    name: str
    """Empty for a single series."""
    rows: Mapping[str, list[Any]]

    @property
    def key(self) -> SeriesKey:
        """Model and group, which identify the series."""
        return self.rows["model"][0], str(self.rows["group"][0])


def as_tallies(data: Data) -> Tallies:
    """Convert the data of a figure to Tallies; a single model is named `score`."""
    if isinstance(data, Tallies):
        return data
    by_name: Mapping[str, object] = data if isinstance(data, Mapping) else {_MODEL_NAME: data}
    strange = [name for name, each in by_name.items() if not isinstance(each, Tally | Curve)]
    if strange or not by_name:
        kind = type(by_name[strange[0]]).__name__ if strange else "nothing"
        raise OptionError(
            f"{kind} cannot be drawn; expected tallies.",
            remedy="Pass a Tally, a mapping from names to tallies, or Tallies.",
        )
    models = {name: {(): each.tally if isinstance(each, Curve) else each} for name, each in by_name.items()}
    return Tallies(models)  # type: ignore[arg-type]  # checked above


def split_labels(data: Mixed) -> tuple[Tallies | None, Tallies | None]:
    """Split data into models with scores and models that only give labels; one of both may be None."""
    if isinstance(data, Counts):
        return None, _tables_as_tallies({_LABELS_NAME: data})
    if isinstance(data, Mapping):
        tables = {name: each for name, each in data.items() if isinstance(each, Counts)}
        others: Any = {name: each for name, each in data.items() if name not in tables}
        return as_tallies(others) if others or not tables else None, _tables_as_tallies(tables) if tables else None
    tallies = as_tallies(data)
    name = tallies.intake.columns.get("predicted")
    scored, labels = (
        {model: tallies.models[model] for model in tallies.models if (model == name) is own} for own in (False, True)
    )
    return (replace(tallies, models=scored) if scored else None), (replace(tallies, models=labels) if labels else None)


def select_model(data: Data, model: str | None) -> Tallies:
    """Select one model with scores, by name if there are several, with all of its groups."""
    tallies, labels = split_labels(data)
    names = ", ".join(tallies.models) if tallies is not None else ""
    if tallies is None or (labels is not None and model in labels.models):
        raise OptionError("labels have no scores to draw.", remedy="Name a model with scores.")
    if model is None and len(tallies.models) > 1:
        raise OptionError(
            f"the data have several models ({names}), but this figure shows one",
            remedy=advice("one model", "name it with model=."),
        )
    if model is not None and model not in tallies.models:
        raise UnknownNameError(f"there is no model {model!r}. There are: {names}.")
    name = next(iter(tallies.models)) if model is None else model
    farthest = float(np.abs(tallies.pooled(name).score).max(initial=0.0))
    if farthest > _FARTHEST:
        raise OptionError(
            f"scores of {name} reach {farthest:.3g}, beyond the range of an axis.", remedy="Rescale them."
        )
    return replace(tallies, models={name: tallies.models[name]}, decisions={})


def pool_groups(tallies: Tallies) -> Tallies:
    """Pool the groups of each model."""
    return replace(tallies, models={model: {(): tallies.pooled(model)} for model in tallies.models}, attributes=())


def _tables_as_tallies(tables: Mapping[str, Counts[float]]) -> Tallies:
    """Convert confusion matrices to tallies of labels, 1 and 0, as `read` makes them."""
    stacked = [name for name, table in tables.items() if table.shape]
    if stacked:
        first = stacked[0]
        raise ShapeError(f"{first} has {tables[first].shape} tables; expected one.", remedy="Select one: counts[0].")
    return Tallies({name: {(): _table_as_tally(table)} for name, table in tables.items()})


def _table_as_tally(table: Counts[float]) -> Tally:
    mass, squares, rows = (
        np.array([[each.tp, each.fn], [each.fp, each.tn]]) for each in (table, table.squares, table.rows)
    )
    return Tally(np.array([1.0, 0.0]), mass, squares, rows, reweighed=table.reweighed)


def split_series(table: Results) -> Iterator[Series]:
    """Split a table of curves by model and group, in their order."""
    columns = table.flat() | {"group": list(table.columns["group"])}
    keys = [(model, str(group)) for model, group in zip(columns["model"], columns["group"], strict=True)]
    places: dict[tuple[str | None, str], list[int]] = {}
    for at, key in enumerate(keys):
        places.setdefault(key, []).append(at)
    models = {model for model, _ in places}
    for rows_of_series in places.values():
        first = rows_of_series[0]
        # Tables name a model only beside others, or where a display does so.
        name = series_name(columns["model"][first], columns["group"][first])
        rows = {key: [column[at] for at in rows_of_series] for key, column in columns.items()}
        yield Series(name if len(places) > 1 or models != {None} else "", rows)


def series_name(model: str | None, group: Mapping[str, object] | None) -> str:
    """Name a series: by the model where there are several, and by the group.

    >>> series_name("risk", {"site": "north"}), series_name(None, None)
    ('risk, site = north', 'everybody')
    """
    groups = [f"{name} = {value}" for name, value in (group or {}).items()]
    return ", ".join([*([model] if model is not None else []), *groups]) or EVERYBODY


Thresholds = float | Sequence[float] | Mapping[str, float]
"""One threshold for all models, several for all, or one for each model by name."""
Policies = Policy | Mapping[str, Policy]
"""Policy of the only model, or one for each model by name."""
MARK_COLUMNS = ("model", "group", "threshold", "name", "tp", "fp", "fn", "tn")


def tabulate_marks(tallies: Tallies, threshold: Thresholds | None, policy: Policies | None) -> Results:
    """Tabulate decisions to mark: a confusion matrix per threshold or policy, model and group.

    A policy has the table of flagged rows, or of their expectation, against all others. `threshold` is None
    where the policy has no single one, as a randomized policy.

    >>> from baserate import read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> [(row["name"], row["tp"], row["fp"]) for row in tabulate_marks(t, [0.5, 0.8], None).rows()]
    [('threshold 0.5', 1.0, 1.0), ('threshold 0.8', 1.0, 0.0)]
    """
    rows = [*_threshold_marks(tallies, threshold), *_policy_marks(tallies, policy)]
    several = len(tallies.models) > 1
    named_rows = [row | {"model": row["model"] if several else None} for row in rows]
    return Results({name: [row[name] for row in named_rows] for name in MARK_COLUMNS}, results_data(tallies, []))


def single_threshold_marks(marks: Results) -> Results:
    """Select marks of all rows, each of which must have a threshold, where a line can be drawn."""
    rows = [row for row in marks.rows() if row["group"] is None]
    without = [row["name"] for row in rows if row["threshold"] is None]
    if without:
        raise OptionError(
            f"the {without[0]} has no single threshold, so no line can mark it.",
            remedy="Leave it out, or mark it on a ROC curve.",
        )
    for row in rows:
        if isfinite(row["threshold"]):
            check_domain("threshold", row["threshold"], PLACE)
    return Results({name: [row[name] for row in rows] for name in MARK_COLUMNS}, marks.data)


def _threshold_marks(tallies: Tallies, thresholds: Thresholds | None) -> Iterator[dict[str, Any]]:
    by_model = thresholds if isinstance(thresholds, Mapping) else dict.fromkeys(tallies.models, thresholds)
    _check_models(tallies, by_model)
    for model, group, tally in tallies.walk():
        for at in as_thresholds(by_model.get(model)) or ():
            yield _mark_row(tallies, model, group, at, f"threshold {at:.6g}", Curve(tally).at(at))


def _policy_marks(tallies: Tallies, policies: Policies | None) -> Iterator[dict[str, Any]]:
    if policies is None:
        return
    for model, policy in _policies_by_model(tallies, policies).items():
        if FLAG not in policy.actions:
            raise OptionError(
                f"the policy of {model} has the actions {', '.join(policy.actions)}; expected one that flags.",
                remedy="Leave it out, or give another policy.",
            )
        for group, part in evaluate_groups(tallies, policy, model).items():
            yield _mark_row(
                tallies, model, group, flags_from(part.treatment), f"policy {policy.rule}", part.tables[FLAG]
            )


def _policies_by_model(tallies: Tallies, policies: Policies) -> Mapping[str, Policy]:
    if isinstance(policies, Mapping):
        _check_models(tallies, policies)
        return policies
    if len(tallies.models) > 1:
        raise OptionError(
            f"the data have several models ({', '.join(tallies.models)}), but a policy applies to one",
            remedy=advice("one model", "give a mapping from the name of the model to its policy."),
        )
    return {next(iter(tallies.models)): policies}


def _check_models(tallies: Tallies, by_model: Mapping[str, object]) -> None:
    strange = [name for name in by_model if name not in tallies.models]
    if strange:
        raise UnknownNameError(f"there is no model {strange[0]!r} to mark. There are: {', '.join(tallies.models)}.")


def _mark_row(
    tallies: Tallies, model: str, group: Group | None, threshold: float | None, name: str, counts: Counts[float]
) -> dict[str, Any]:
    cells = {cell: getattr(counts, cell) for cell in ("tp", "fp", "fn", "tn")}
    return {"model": model, "group": group_attributes(tallies, group), "threshold": threshold, "name": name, **cells}


POINTS = 1000
"""Points of a line, more than a page can resolve."""
Band = bool | Literal["simultaneous"]
_MIDDLE = 0.5
"""Threshold of labels, which are scores of 1 and 0."""
SAME_PREVALENCE = 1e-12
"""Difference up to which prevalences are equal."""


class CurveRequest(NamedTuple):
    """Which curve to tabulate, with which band, and what to mark on it."""

    what: str
    band: Band = False
    level: float = 0.95
    threshold: Thresholds | None = None
    policy: Policies | None = None


class FigureData(NamedTuple):
    """Models with scores, and models that only give labels; at least one of both."""

    scored: Tallies | None
    labels: Tallies | None

    @property
    def curves(self) -> dict[str, Curve]:
        """Curve of every model, groups pooled; labels are a curve with one inner point."""
        return {model: Curve(each.pooled(model)) for each in self if each is not None for model in each.models}

    @property
    def prevalence(self) -> float | None:
        """The common prevalence of all models; None if they differ."""
        shares = [each.tally.prevalence for each in self.curves.values()]
        return shares[0] if max(shares) - min(shares) <= SAME_PREVALENCE else None


def figure_data(data: Mixed, what: str, *, prevalence: float | None = None) -> FigureData:
    """Convert the data of a figure, check both classes, and reweight to a prevalence if one is stated."""
    models = FigureData(*split_labels(data))
    for each in models.curves.values():
        require_both_classes(each, what)
    if prevalence is None:
        return models
    return FigureData(*(None if each is None else reweigh(each, prevalence=prevalence) for each in models))


def tabulate_parts(data: FigureData, request: CurveRequest) -> dict[str, Results]:
    """Tabulate the curves of models with scores, the points of labels, and marks."""
    axes = TABLES[request.what]
    parts = {}
    if data.scored is not None:
        parts["curve"] = tabulate_curve(data.scored, request.what, band=request.band, level=request.level)
    if data.labels is not None:
        parts["points"] = add_measures(_label_points(data.labels), *axes)
    if request.threshold is not None or request.policy is not None:
        if data.scored is None:
            raise OptionError("labels have no threshold to mark.", remedy="Leave it out, or pass scores.")
        parts["marks"] = add_measures(tabulate_marks(data.scored, request.threshold, request.policy), *axes)
    return parts


def tabulate_curve(tallies: Tallies, what: str | Measure, *, band: Band, level: float, points: int = POINTS) -> Results:
    """Tabulate a curve, with a confidence band if requested."""
    if band not in (False, True, "simultaneous"):
        raise OptionError(f"band is {band!r}; expected True, False or 'simultaneous'.", option="band", value=band)
    if band is False:
        return curves(tallies, what, points=points)
    return confidence_bands(tallies, what, level=level, simultaneous=band == "simultaneous", points=points)


def estimate_curves(data: FigureData, measure: str, level: float) -> dict[str, Results]:
    """Estimate a measure of the whole curves, with intervals."""
    interval = IntervalOptions(level=level)
    return {} if data.scored is None else {measure: summary(data.scored, measures=[measure], interval=interval)}


def add_measures(table: Results, *names: str) -> Results:
    """Add measures to a table with the four cells."""
    cells = [np.asarray(table.columns[cell], dtype=np.float64) for cell in ("tp", "fp", "fn", "tn")]
    return Results({**table.columns, **{name: find_measure(name)(Counts(*cells)) for name in names}}, table.data)


def reference_lines(**lines: Mapping[str, Sequence[Any]]) -> Results:
    """Tabulate reference lines by name, with their coordinates; an underscore in a name is a space."""
    columns: dict[str, list[Any]] = {"name": []}
    for name, line in lines.items():
        for axis, values in line.items():
            columns.setdefault(axis, []).extend(values)
        columns["name"] += [name.replace("_", " ")] * len(next(iter(line.values())))
    return Results(columns)


def _label_points(labels: Tallies) -> Results:
    marks = tabulate_marks(labels, _MIDDLE, None)
    # The table has None for a single model, but a point always needs a name.
    names = [
        series_name(model, group) for (model, *_), group in zip(labels.walk(), marks.columns["group"], strict=True)
    ]
    return Results({**marks.columns, "name": names, "threshold": [None] * len(names)}, marks.data)
