"""Tidy tables of measures: every measure of every model, group and threshold, and curves at every threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._confusion import Confusions
from baserate._costs import Costs, CostsLike, as_costs
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import POINTS, check_domain, parse_share, wrong_option
from baserate._errors import OptionError, UnknownNameError
from baserate._formatting import count_of, format_share, join_words
from baserate._numeric.cumulative import parallel_map
from baserate._results import Estimate, Results
from baserate._rows import MulticlassRows
from baserate._tally import Group, Tallies, Tally
from baserate.measure._curve_points import find_needed_points
from baserate.measure._measure import Measure, describe
from baserate.measure._registry import (
    MEASURES,
    Settings,
    as_measure,
    collect_settings,
    find_measure,
    find_missing_options,
    names_as_typed,
    note_cautions,
    note_settings,
    require_options,
    undefined_reason,
)
from baserate.read import AdjustedPredictionOptions, PredictionOptions, accepts_predictions

TABLES: dict[str, tuple[str, str]] = {
    "roc": ("fpr", "sensitivity"),
    "pr": ("sensitivity", "precision"),
    "det": ("fpr", "fnr"),
    "gain": ("flag_rate", "sensitivity"),
    "lift": ("flag_rate", "lift"),
    "lorenz": ("pass_rate", "fnr"),
}
"""Named curves: the measures on the x and the y axis. The gain curve is also called CAP."""


@accepts_predictions("curve")
def table(
    curve: Curve, *what: str | Measure, drop_intermediate: bool = False, **predictions: Unpack[PredictionOptions]
) -> dict[str, Floats]:
    """Tabulate measures at every threshold of a curve.

    An undefined value, such as precision if nothing is flagged, is NaN: no point is invented.

    Parameters
    ----------
    curve
        The curve.
    *what
        Names of curves (`roc`, `pr`, `det`, `gain`, `lift`, `lorenz`), each of which adds its two axes, or measures of
        Counts.
    drop_intermediate
        Whether to leave out points that the line does not need. Of `roc`, `gain` and `lorenz` these are all points on
        a straight line between others; of `pr` and `det`, as in scikit-learn, those whose true positives are those of
        the point before and of the point after. Areas stay the same.

    Returns
    -------
    dict of ndarray
        Columns of equal length, `threshold` first.

    Examples
    --------
    >>> from baserate import curve, tally
    >>> columns = table(curve(tally([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])), "roc", "f1")
    >>> list(columns)
    ['threshold', 'fpr', 'sensitivity', 'f1']
    >>> columns["sensitivity"].tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0]
    >>> table([0, 0, 0, 0, 1, 1, 1, 1], range(8), "roc", drop_intermediate=True)["threshold"].tolist()
    [inf, 4.0, 0.0]
    """
    measures = [measure for each in what for measure in _find_measures(each)]
    unfit = [describe(measure).name for measure in measures if describe(measure).of is not Counts]
    if unfit:
        raise OptionError(
            f"{', '.join(unfit)} has one value for a whole curve, not one at each threshold", remedy="leave it out."
        )
    threshold = curve.threshold
    columns = {describe(measure).name: np.empty(len(threshold)) for measure in measures}
    for place, counts in curve.blocks():
        for measure in measures:
            columns[describe(measure).name][place] = measure(counts)
    columns = {"threshold": threshold} | columns
    if not drop_intermediate:
        return columns
    places = find_needed_points(curve, what)
    return {name: column[places] for name, column in columns.items()}


def _find_measures(what: str | Measure) -> list[Measure]:
    if callable(what):
        return [what]
    try:
        return [find_measure(name) for name in TABLES.get(what.lower(), (what,))]
    except UnknownNameError as error:
        raise UnknownNameError(f"{error} Curves are: {', '.join(TABLES)}.") from error


DEFAULT_MEASURES: dict[type, tuple[str, ...]] = {
    Counts: (
        "sensitivity",
        "specificity",
        "precision",
        "npv",
        "accuracy",
        "balanced_accuracy",
        "f1",
        "mcc",
        "flag_rate",
    ),
    Curve: ("auc", "average_precision", "ks"),
    Tally: ("brier", "brier_skill", "log_loss"),
}
"""Default measures by type of argument."""

COLUMNS = ("measure", "model", "group", "class", "threshold", "value", "low", "high", "level", "how", "why")

Task = Callable[[], dict[str, Any]]
"""Returns a tidy row."""


class Place(NamedTuple):
    """The model, group and threshold of a number."""

    model: str
    group: Group | None
    threshold: float | None = None


Estimator = Callable[[Measure, Any, Place], Estimate]
"""Takes a measure, its argument and its place, and returns the estimate with its interval."""

_CELLS = ("tp", "fp", "fn", "tn")
_DEFAULT_THRESHOLD = 0.5
_LABELS = "labels have neither ranks nor probabilities; ask for a measure of the 2×2 table, such as sensitivity."


@accepts_predictions("tallies", adjusts=True)
def summary(
    tallies: Tallies,
    *,
    measures: Iterable[str | Measure] | Literal["usual", "all"] = "usual",
    threshold: float | Iterable[float] | None = None,
    costs: CostsLike | None = None,
    estimator: Estimator | None = None,
    **predictions: Unpack[AdjustedPredictionOptions],
) -> Results:
    """Compute measures of every model, for all rows (group None) and for each group, as tidy rows.

    A model of labels has one 2×2 table and no threshold; if it disagrees with a score at its threshold, a note says so.

    Parameters
    ----------
    tallies
        What `baserate.read.tallies` returns.
    measures
        Names or functions, or ``"usual"`` or ``"all"``; these two leave out measures of probabilities if the scores are
        none.
    threshold
        Thresholds for measures of a 2×2 table, whose four cells precede them. By default 0.5 if the scores are
        probabilities; otherwise these measures are left out, and `data["notes"]` says so.
    costs
        Costs of outcomes, for the measure expected_cost: ``fp=1, fn=20``, a mapping, or :class:`baserate.Costs`.
        Without them the measure is refused, and left out of "all".
    estimator
        Returns the estimate of a measure; by default without interval. `baserate.infer.summary` adds intervals.

    Returns
    -------
    Results
        One row for each measure, model, group and threshold.

    Examples
    --------
    >>> from baserate import read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> results = summary(t, measures=["auc", "precision"])
    >>> [(row["measure"], row["threshold"], row["value"]) for row in results.rows()][-2:]
    [('precision', 0.5, 0.5), ('auc', None, 0.75)]
    """
    measures = measures if isinstance(measures, str) or callable(measures) else list(measures)
    typed, measures = measures, bind_costs(measures, as_costs(costs))
    tasks, notes = plan_summary(tallies, measures, threshold, estimator or compute_estimate)
    # The header is a task beside the measures, since the digest of large tallies takes time.
    head: Task = partial(results_data, tallies, notes)
    size = sum(len(tally.score) for groups in tallies.models.values() for tally in groups.values())
    data, *rows = parallel_map(_run_task, [head, *tasks], size=size)
    data["notes"] += _note_infinite(tallies, rows)
    data |= measures_data(measures, rows) | names_as_typed(typed)
    several = len(tallies.models) > 1
    rows = [row | {"model": row["model"] if several else None} for row in rows]
    return Results({name: [row.get(name) for row in rows] for name in COLUMNS}, data)


def plan_summary(
    tallies: Tallies,
    measures: Iterable[str | Measure] | str,
    threshold: float | Iterable[float] | None,
    estimator: Estimator,
) -> tuple[list[Task], list[str]]:
    """Plan the tasks of a summary, and note the measures that are left out."""
    check_tallies(tallies)
    selection = _Selection.of(measures)
    thresholds = as_thresholds(threshold)
    plans = {model: _make_plan(tallies, model, selection, thresholds) for model in tallies.models}
    notes = [note for plan in plans.values() for note in plan.notes] + list(_note_disagreements(tallies, plans))
    used = [
        each for plan in plans.values() for each in plan.measures if plan.thresholds or describe(each).of is not Counts
    ]
    notes += dict.fromkeys([*note_settings(collect_settings(used)), *note_cautions(used)])
    unstated = [name for name, _ in find_missing_options(MEASURES.values())] if measures == "all" else []
    if unstated:
        notes.append(f"{join_words(unstated)} are left out: costs and threshold probabilities are not assumed.")
    tasks: list[Task] = [
        task
        for model, group, tally in tallies.walk()
        for task in plans[model].tasks(
            tally, {"group": group_attributes(tallies, group)}, Place(model, group), estimator
        )
    ]
    if not tasks:
        raise OptionError(f"nothing is left to measure: {' '.join(notes) or _LABELS}")
    return tasks, notes


def measures_data(
    measures: Iterable[str | Measure] | str, rows: Iterable[Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return `data` of results on measures: names as typed, and the options on which those of these rows depend."""
    names = {row["measure"] for row in rows}
    settings = {name: each for name, each in collect_settings(select_measures(measures)).items() if name in names}
    return names_as_typed(measures) | ({"settings": settings} if settings else {})


@accepts_predictions("tallies")
def curves(
    tallies: Tallies,
    *what: str | Measure,
    points: int | None = None,
    drop_intermediate: bool = False,
    **predictions: Unpack[PredictionOptions],
) -> Results:
    """Tabulate a named curve, or any measures, at every threshold, for each model and group.

    Parameters
    ----------
    tallies
        What `baserate.read.tallies` returns.
    *what
        Names of curves (`roc`, `pr`, `det`, `gain`, `lift`, `lorenz`) or measures of Counts.
    points
        Maximum number of thresholds of each curve, spread evenly along the plotted path; no value is interpolated.
    drop_intermediate
        Whether to leave out points that the line does not need, as in `table`.

    Returns
    -------
    Results
        One row for each model, group and threshold.

    Examples
    --------
    >>> from baserate import read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> curves(t, "roc").columns["sensitivity"].tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0]
    """
    only_measures = not any(isinstance(each, str) and each.lower() in TABLES for each in what)

    def columns(tally: Tally) -> dict[str, Any]:
        full = table(Curve(tally), *what, drop_intermediate=drop_intermediate)
        places = thin_points(plotted_path(full, named=not only_measures), points)
        return {name: column[places] for name, column in full.items()}

    return Results(tabulate_groups(tallies, columns), results_data(tallies, []))


def tabulate_groups(tallies: Tallies, columns: Callable[[Tally], Mapping[str, Any]]) -> dict[str, Any]:
    """Compute the same columns for every model and group, and concatenate them."""
    check_tallies(tallies)
    parts: list[dict[str, Any]] = []
    for model, group, tally in tallies.walk():
        part = columns(tally)
        size = len(part["threshold"])
        name = model if len(tallies.models) > 1 else None
        parts.append({"model": [name] * size, "group": [group_attributes(tallies, group)] * size, **part})
    return {name: concatenate([part[name] for part in parts]) for name in parts[0]}


def results_data(tallies: Tallies, notes: Sequence[str]) -> dict[str, Any]:
    """Return the data of results: rows, classes, prevalence, digest and notes."""
    pooled = tallies.pooled(next(iter(tallies.models)))
    intake = tallies.intake
    return {
        "rows": int(pooled.rows.sum(dtype=np.int64)),
        "read": intake.read,
        "refused": intake.dropped,
        "reasons": {column: dict(kinds) for column, kinds in intake.reasons.items()},
        "positive": intake.positive,
        "negative": intake.negative,
        "prevalence": pooled.prevalence,
        "weighted": pooled.weighted,
        "digest": tallies.digest,
        "columns": dict(intake.columns),
        "notes": [*intake.notes, *notes, *note_reweighting(pooled)],
    }


def note_reweighting(pooled: Tally) -> list[str]:
    """Note that class weights were changed to another prevalence, if they were."""
    if not pooled.reweighed:
        return []
    share = format_share(pooled.prevalence)
    return [f"classes are reweighted to a prevalence of {share}, taken as known; scores are not adjusted."]


def check_tallies(tallies: object) -> None:
    """Refuse any other type than Tallies."""
    if isinstance(tallies, Confusions | MulticlassRows):
        raise OptionError(
            f"{type(tallies).__name__} are of many classes", remedy="use baserate.measure.multiclass.summary."
        )
    if not isinstance(tallies, Tallies):
        raise OptionError(
            f"{type(tallies).__name__} is not Tallies", remedy="read them first, with baserate.read.tallies(…)."
        )


def as_thresholds(thresholds: float | Iterable[float] | None) -> list[float] | None:
    """Return one threshold or several as a list; None if there is none."""
    if thresholds is None:
        return None
    values: Any = thresholds
    # Text is iterable, too, but no list of thresholds.
    several = list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]
    try:
        return [float(parse_share(each)) for each in several] or None
    except (TypeError, ValueError) as error:
        raise wrong_option("threshold", thresholds, "a number, or several in a list") from error


class _Selection(NamedTuple):
    measures: list[Measure]
    strictly: bool
    """Whether the user named each, so that none may be left out."""

    @staticmethod
    def of(measures: Iterable[str | Measure] | str) -> _Selection:
        if measures in ("usual", "all"):
            names = {"usual": [name for names in DEFAULT_MEASURES.values() for name in names], "all": list(MEASURES)}
            every = [find_measure(name) for name in names[str(measures)]]
            # Costs and threshold probabilities are never assumed.
            return _Selection([each for each in every if not [*find_missing_options([each])]], strictly=False)
        named = [as_measure(each) for each in _list_measures(measures)]
        require_options(named)
        return _Selection(named, strictly=True)


def _list_measures(measures: Iterable[str | Measure] | str) -> Iterable[str | Measure]:
    """Return measures, or the only one, as several."""
    return [measures] if isinstance(measures, str) or callable(measures) else measures


def bind_costs(measures: Iterable[str | Measure] | str, costs: Costs | None) -> Iterable[str | Measure] | str:
    """Bind costs to the measures that depend on them."""
    if costs is None:
        return measures
    settings = Settings(costs=costs)
    named = [] if measures in ("usual", "all") else _list_measures(measures)
    bound = [settings.apply(as_measure(each)) for each in named]
    if settings.idle(bound):
        raise OptionError(
            "costs have no use: none of the measures depends on them.",
            remedy="Leave them out, or give measures=['expected_cost'].",
            option="costs",
        )
    return bound


def select_measures(measures: Iterable[str | Measure] | str) -> list[Measure]:
    """Return the selected measures, whatever the data."""
    return _Selection.of(measures).measures


@dataclass(frozen=True, slots=True)
class _Plan:
    """Measures and thresholds of one model."""

    model: str
    measures: Sequence[Measure]
    thresholds: Sequence[float | None]
    notes: Sequence[str] = ()

    def tasks(self, tally: Tally, fixed: Mapping[str, Any], place: Place, estimator: Estimator) -> Iterator[Task]:
        """Yield one task for each number."""
        curve = Curve(tally)
        fixed = {"model": self.model, **fixed}
        of = {kind: [measure for measure in self.measures if describe(measure).of is kind] for kind in DEFAULT_MEASURES}
        for threshold in self.thresholds if of[Counts] else ():
            # Predicted labels are scores of 0 and 1, and have no threshold of their own.
            cut = _DEFAULT_THRESHOLD if threshold is None else threshold
            at_cut, counts = place._replace(threshold=cut), curve.at(cut)
            columns = fixed | {"threshold": threshold}
            yield from (partial(dict, columns, measure=cell, value=getattr(counts, cell)) for cell in _CELLS)
            yield from (partial(_make_row, estimator, measure, counts, at_cut, columns) for measure in of[Counts])
        yield from (partial(_make_row, estimator, measure, curve, place, fixed) for measure in of[Curve])
        yield from (partial(_make_row, estimator, measure, tally, place, fixed) for measure in of[Tally])


def _make_plan(tallies: Tallies, model: str, selection: _Selection, threshold: Sequence[float] | None) -> _Plan:
    measures = selection.measures
    if model == tallies.intake.columns.get("predicted"):
        # One ROC point: there is no threshold to vary, and labels are not probabilities.
        return _Plan(model, [measure for measure in measures if describe(measure).of is Counts], [None])
    score, probable = tallies.pooled(model).score, tallies.pooled(model).probable
    thresholds = ([_DEFAULT_THRESHOLD] if probable else []) if threshold is None else list(threshold)
    notes = []
    range_ = f"{model} runs from {score[-1]:.6g} to {score[0]:.6g}, so its scores are not probabilities"
    if not thresholds and any(describe(measure).of is Counts for measure in measures):
        notes.append(f"{range_}; measures at a threshold are left out. State a threshold for them.")
    if not probable and not selection.strictly:
        unfit = [describe(measure).name for measure in measures if describe(measure).of is Tally]
        notes.append(f"{range_}; {', '.join(unfit)} are left out.")
        measures = [measure for measure in measures if describe(measure).of is not Tally]
    return _Plan(model, measures, thresholds, notes)


def _note_disagreements(tallies: Tallies, plans: Mapping[str, _Plan]) -> Iterator[str]:
    """Note predicted labels that disagree with a score at its threshold; of several scores, the one that fits best."""
    nearest: dict[str, tuple[float, float]] = {}
    for model, decisions in tallies.decisions.items():
        counts, threshold = Curve(decisions).counts.rows, Curve(decisions).threshold
        best = int(np.argmin(counts.fp + counts.fn))
        nearest[model] = float((counts.fp + counts.fn)[best]), float(threshold[best])
    model = min(nearest, key=lambda model: nearest[model][0], default="")
    for at in plans[model].thresholds if model else ():
        counts_at = Curve(tallies.decisions[model]).at(float(_DEFAULT_THRESHOLD if at is None else at)).rows
        if counts_at.fp + counts_at.fn:
            yield (
                f"{tallies.intake.columns['predicted']} disagrees with {model} >= {at} in "
                f"{counts_at.fp + counts_at.fn:.0f} of {counts_at.total:.0f} rows; it agrees best with {model} >= "
                f"{nearest[model][1]}."
            )


def _note_infinite(tallies: Tallies, rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Note the rows that make a log loss infinite."""
    notes = []
    for row in rows:
        if row["measure"] == "log_loss" and np.isinf(row["value"]) and row["group"] is None:
            tally = tallies.pooled(row["model"])
            bad = int(tally.rows[0, tally.score == 0].sum() + tally.rows[1, tally.score == 1].sum())
            rows_with = count_of(bad, "row has", "rows have")
            notes.append(f"log_loss of {row['model']} is infinite: {rows_with} probability 0 for the true label.")
    return notes


def compute_estimate(measure: Measure, argument: Any, _place: object = None) -> Estimate:  # noqa: ANN401  (its argument)
    """Return the estimate without interval, and the reason if it is undefined."""
    value = float(measure(argument))
    return Estimate(value, why=(undefined_reason(measure, argument) or "it is undefined") if np.isnan(value) else None)


def tidy_columns(estimate: Estimate) -> dict[str, Any]:
    """Return estimate and interval as columns of a tidy row; an undefined bound is None."""
    parts = {name: getattr(estimate, name) for name in ("value", "low", "high", "level", "how", "why")}
    undefined = {"low": None, "high": None} if isnan(estimate.low) else {}
    return parts | undefined


def _make_row(
    estimator: Estimator, measure: Measure, argument: object, place: Place, fixed: Mapping[str, Any]
) -> dict[str, Any]:
    return {**fixed, "measure": describe(measure).name, **tidy_columns(estimator(measure, argument, place))}


def _run_task(task: Task) -> dict[str, Any]:
    return task()


def group_attributes(tallies: Tallies, group: Group | None) -> dict[str, object] | None:
    """Return the attributes of a group with their values; None for all rows."""
    return None if group is None else dict(zip(tallies.attributes, group, strict=True))


def thin_points(columns: Sequence[Floats], points: int | None) -> npt.NDArray[np.intp]:
    """Return the places of at most `points` points, with the first and last, evenly spread along the path."""
    if points is not None:
        check_domain("points", points, POINTS)
    size = len(columns[0])
    if points is None or size <= points:
        return np.arange(size)
    with np.errstate(invalid="ignore"):  # inf − inf is NaN, and counts as no step
        steps = sum(np.nan_to_num(np.abs(np.diff(column)), posinf=0.0) for column in columns)
    path = np.concatenate([[0.0], np.cumsum(steps)])
    wanted = np.searchsorted(path, np.linspace(0, path[-1], points))
    # searchsorted finds the first point at the end of the path; the last one may lie there too, and is kept.
    return np.unique(np.append(wanted[:-1], size - 1))


def plotted_path(columns: Mapping[str, Floats], *, named: bool) -> list[Floats]:
    """Return the plotted columns: the axes of a named curve, otherwise measures and the threshold, scaled to length 1.

    A measure may be constant over many thresholds; without the threshold, no point of such a stretch would be selected.
    """
    threshold, *axes = columns.values()
    finite = threshold[np.isfinite(threshold)]
    if named or len(finite) < 2:
        return axes
    halves = finite / 2  # their difference cannot overflow
    if halves[0] == halves[-1]:  # half of the smallest number is 0
        return [threshold / (finite[0] - finite[-1]), *axes]
    return [threshold / 2 / (halves[0] - halves[-1]), *axes]


def concatenate(parts: Sequence[Any]) -> Any:  # noqa: ANN401  (lists stay lists, arrays arrays)
    """Concatenate columns."""
    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else [each for part in parts for each in part]
