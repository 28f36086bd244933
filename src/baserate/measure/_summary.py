"""Tallies -> tidy numbers: every measure of every model, group and threshold, and curves as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._confusion import Confusions
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import POINTS, check_domain
from baserate._errors import OptionError
from baserate._estimate import Estimate
from baserate._formatting import count_of
from baserate._numeric.threads import mapped
from baserate._results import Results
from baserate._rows import MulticlassRows
from baserate._tally import Group, Tallies, Tally
from baserate.measure._about import Measure, about
from baserate.measure._registry import MEASURES, known, named, why
from baserate.measure._settings import settings_notes, settings_of
from baserate.measure._table import TABLES, table

USUAL: dict[type, tuple[str, ...]] = {
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
"""What is measured when nobody says what."""

COLUMNS = ("measure", "model", "group", "class", "threshold", "value", "low", "high", "level", "how", "why")

Task = Callable[[], dict[str, Any]]
"""Called, it gives a tidy row."""


class Place(NamedTuple):
    """Which of many numbers one is."""

    model: str
    group: Group | None
    threshold: float | None = None


Judge = Callable[[Measure, Any, Place], Estimate]
"""Takes a measure, what it is of, and which number it is, and returns it with its interval."""

_CELLS = ("tp", "fp", "fn", "tn")
_MIDDLE = 0.5
_LABELS = "labels have neither ranks nor probabilities; ask for a measure of the 2×2 table, such as sensitivity."


def summary(
    tallies: Tallies,
    *,
    measures: Iterable[str | Measure] | Literal["usual", "all"] = "usual",
    threshold: float | Iterable[float] | None = None,
    judge: Judge | None = None,
) -> Results:
    """Measure every model, everybody together (group None) and then each group, as tidy rows.

    Measures of a 2×2 table are taken at each `threshold`, with the four cells before them; without `threshold`, at 0.5
    if the scores are probabilities, otherwise they are left out, and `data["notes"]` says so. Of the usual measures, or
    of all, those that need probabilities are left out too where there are none. A model of labels has one table and no
    threshold; where it disagrees with a score at its threshold, there is a note. The numbers are plain unless a `judge`
    gives them intervals, as `baserate.infer.summary` does.

    >>> from baserate import read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> found = summary(t, measures=["auc", "precision"])
    >>> [(row["measure"], row["threshold"], row["value"]) for row in found.rows()][-2:]
    [('precision', 0.5, 0.5), ('auc', None, 0.75)]
    """
    measures = measures if isinstance(measures, str) else list(measures)
    tasks, notes = planned(tallies, measures, threshold, judge or measured)
    head: Task = partial(header, tallies, notes)
    size = sum(len(tally.score) for groups in tallies.models.values() for tally in groups.values())
    data, *rows = mapped(_done, [head, *tasks], size=size)
    data["notes"] += _infinite(tallies, rows)
    data |= settings_data(measures, rows)
    several = len(tallies.models) > 1
    rows = [row | {"model": row["model"] if several else None} for row in rows]
    return Results({name: [row.get(name) for row in rows] for name in COLUMNS}, data)


def planned(
    tallies: Tallies,
    measures: Iterable[str | Measure] | str,
    threshold: float | Iterable[float] | None,
    judge: Judge,
) -> tuple[list[Task], list[str]]:
    """Plan every number of a summary, and note what is left out."""
    check_tallies(tallies)
    chosen = _Chosen.of(measures)
    thresholds = as_thresholds(threshold)
    plans = {model: _plan(tallies, model, chosen, thresholds) for model in tallies.models}
    notes = [note for plan in plans.values() for note in plan.notes] + list(_disagreements(tallies, plans))
    used = [each for plan in plans.values() if plan.thresholds for each in plan.measures]
    notes += dict.fromkeys(settings_notes(settings_of(used)))
    tasks: list[Task] = [
        task
        for model, group, tally in tallies.walk()
        for task in plans[model].tasks(tally, {"group": named_group(tallies, group)}, Place(model, group), judge)
    ]
    if not tasks:
        raise OptionError(f"nothing is left to measure: {' '.join(notes) or _LABELS}")
    return tasks, notes


def settings_data(
    measures: Iterable[str | Measure] | str, rows: Iterable[Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """What the measures of these rows depend on, as part of what results were made from; nothing if on nothing."""
    there = {row["measure"] for row in rows}
    found = {name: each for name, each in settings_of(chosen_measures(measures)).items() if name in there}
    return {"settings": found} if found else {}


def curves(tallies: Tallies, *what: str | Measure, points: int | None = None) -> Results:
    """Tabulate a named curve (`roc`, `pr`, `det`, `gain`, `lift`, `lorenz`), or any measures, at every threshold.

    With `points`, at most so many thresholds of each curve, spread evenly along what is drawn; each is an exact one.

    >>> from baserate import read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> curves(t, "roc").columns["sensitivity"].tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0]
    """
    measures_alone = not any(isinstance(each, str) and each.lower() in TABLES for each in what)

    def columns(tally: Tally) -> dict[str, Any]:
        found = table(Curve(tally), *what)
        kept = spread(path_of(found, named=not measures_alone), points)
        return {name: column[kept] for name, column in found.items()}

    return Results(tabulated(tallies, columns), header(tallies, []))


def tabulated(tallies: Tallies, columns: Callable[[Tally], Mapping[str, Any]]) -> dict[str, Any]:
    """Make the same columns of every model and group, and put them below each other."""
    check_tallies(tallies)
    parts: list[dict[str, Any]] = []
    for model, group, tally in tallies.walk():
        found = columns(tally)
        size = len(found["threshold"])
        name = model if len(tallies.models) > 1 else None
        parts.append({"model": [name] * size, "group": [named_group(tallies, group)] * size, **found})
    return {name: joined([part[name] for part in parts]) for name in parts[0]}


def header(tallies: Tallies, notes: Sequence[str]) -> dict[str, Any]:
    """What the numbers were made from."""
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
        "notes": [*intake.notes, *notes, *reweighed(pooled)],
    }


def reweighed(pooled: Tally) -> list[str]:
    """Say that masses were changed, if they were."""
    if not pooled.reweighed:
        return []
    return [
        f"masses were changed to a prevalence of {pooled.prevalence:.6g}, which is taken as known; scores were not."
    ]


def check_tallies(tallies: object) -> None:
    """Refuse what is not Tallies."""
    if isinstance(tallies, Confusions | MulticlassRows):
        raise OptionError(f"{type(tallies).__name__} are of many classes; use baserate.measure.multiclass.summary.")
    if not isinstance(tallies, Tallies):
        raise OptionError(f"{type(tallies).__name__} is not Tallies; read them first, with baserate.read.tallies(…).")


def as_thresholds(given: float | Iterable[float] | None) -> list[float] | None:
    """One threshold or several as a list; None if there is none."""
    if given is None:
        return None
    several = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    try:
        return [float(each) for each in several] or None
    except (TypeError, ValueError) as error:
        raise OptionError(f"threshold is {given!r}; give a number, or several in a list.") from error


class _Chosen(NamedTuple):
    measures: list[Measure]
    strictly: bool
    """Whether each was asked for by name, so that leaving it out would be wrong."""

    @staticmethod
    def of(measures: Iterable[str | Measure] | str) -> _Chosen:
        if isinstance(measures, str):
            names = {"usual": [name for names in USUAL.values() for name in names], "all": list(MEASURES)}
            if measures not in names:
                raise OptionError(f"measures is {measures!r}; it is 'usual', 'all', or a list of names.")
            return _Chosen([named(name) for name in names[measures]], strictly=False)
        return _Chosen([known(each) for each in measures], strictly=True)


def chosen_measures(measures: Iterable[str | Measure] | str) -> list[Measure]:
    """Find the measures that are asked for, whatever data there will be."""
    return _Chosen.of(measures).measures


@dataclass(frozen=True, slots=True)
class _Plan:
    """What to measure of one model."""

    model: str
    measures: Sequence[Measure]
    thresholds: Sequence[float | None]
    notes: Sequence[str] = ()

    def tasks(self, tally: Tally, fixed: Mapping[str, Any], place: Place, judge: Judge) -> Iterator[Task]:
        """One for each number."""
        curve = Curve(tally)
        fixed = {"model": self.model, **fixed}
        of = {noun: [measure for measure in self.measures if about(measure).of is noun] for noun in USUAL}
        for threshold in self.thresholds if of[Counts] else ():
            cut = _MIDDLE if threshold is None else threshold
            there, counts = place._replace(threshold=cut), curve.at(cut)
            at = fixed | {"threshold": threshold}
            yield from (partial(dict, at, measure=cell, value=getattr(counts, cell)) for cell in _CELLS)
            yield from (partial(_row, judge, measure, counts, there, at) for measure in of[Counts])
        yield from (partial(_row, judge, measure, curve, place, fixed) for measure in of[Curve])
        yield from (partial(_row, judge, measure, tally, place, fixed) for measure in of[Tally])


def _plan(tallies: Tallies, model: str, chosen: _Chosen, threshold: Sequence[float] | None) -> _Plan:
    measures = chosen.measures
    if model == tallies.intake.columns.get("predicted"):
        # One ROC point: there is no threshold to vary, and labels are no probabilities.
        return _Plan(model, [measure for measure in measures if about(measure).of is Counts], [None])
    score, probable = tallies.pooled(model).score, tallies.pooled(model).probable
    thresholds = ([_MIDDLE] if probable else []) if threshold is None else list(threshold)
    notes = []
    range_ = f"{model} runs from {score[-1]:.6g} to {score[0]:.6g}, so its scores are not probabilities"
    if not thresholds and any(about(measure).of is Counts for measure in measures):
        notes.append(f"{range_}; measures at a threshold are left out: give a threshold.")
    if not probable and not chosen.strictly:
        unfit = [about(measure).name for measure in measures if about(measure).of is Tally]
        notes.append(f"{range_}; {', '.join(unfit)} are left out.")
        measures = [measure for measure in measures if about(measure).of is not Tally]
    return _Plan(model, measures, thresholds, notes)


def _disagreements(tallies: Tallies, plans: Mapping[str, _Plan]) -> Iterator[str]:
    """Where predicted labels are not what a score says at its threshold; of several scores, the one they fit best."""
    nearest: dict[str, tuple[float, float]] = {}
    for model, decisions in tallies.decisions.items():
        counts, threshold = Curve(decisions).counts.rows, Curve(decisions).threshold
        best = int(np.argmin(counts.fp + counts.fn))
        nearest[model] = float((counts.fp + counts.fn)[best]), float(threshold[best])
    model = min(nearest, key=lambda model: nearest[model][0], default="")
    for at in plans[model].thresholds if model else ():
        counts_at = Curve(tallies.decisions[model]).at(float(_MIDDLE if at is None else at)).rows
        if counts_at.fp + counts_at.fn:
            yield (
                f"{tallies.intake.columns['predicted']} disagrees with {model} >= {at} in "
                f"{counts_at.fp + counts_at.fn:.0f} of {counts_at.total:.0f} rows; it agrees best with {model} >= "
                f"{nearest[model][1]}."
            )


def _infinite(tallies: Tallies, rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Explain an infinite log-loss."""
    notes = []
    for row in rows:
        if row["measure"] == "log_loss" and np.isinf(row["value"]) and row["group"] is None:
            tally = tallies.pooled(row["model"])
            bad = int(tally.rows[0, tally.score == 0].sum() + tally.rows[1, tally.score == 1].sum())
            notes.append(
                f"log_loss of {row['model']} is infinite: "
                f"{count_of(bad, 'row was', 'rows were')} given probability 0 of what happened."
            )
    return notes


def measured(measure: Measure, noun: Any, _place: object = None) -> Estimate:  # noqa: ANN401  (what it takes)
    """Return the plain number, and why there is none."""
    value = float(measure(noun))
    return Estimate(value, why=(why(measure, noun) or "it is undefined") if np.isnan(value) else None)


def tidy(found: Estimate) -> dict[str, Any]:
    """Number and interval as parts of a tidy row; what is undefined is None."""
    parts = {name: getattr(found, name) for name in ("value", "low", "high", "level", "how", "why")}
    undefined = {"low": None, "high": None} if isnan(found.low) else {}
    return parts | undefined


def _row(judge: Judge, measure: Measure, noun: Any, place: Place, fixed: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401
    return {**fixed, "measure": about(measure).name, **tidy(judge(measure, noun, place))}


def _done(task: Task) -> dict[str, Any]:
    return task()


def named_group(tallies: Tallies, group: Group | None) -> dict[str, object] | None:
    """Attributes of a group with their values; None for everybody."""
    return None if group is None else dict(zip(tallies.attributes, group, strict=True))


def spread(columns: Sequence[Floats], points: int | None) -> npt.NDArray[np.intp]:
    """Places of at most so many points, the first and last among them, evenly spread along the path; None is all."""
    if points is not None:
        check_domain("points", points, POINTS)
    size = len(columns[0])
    if points is None or size <= points:
        return np.arange(size)
    with np.errstate(invalid="ignore"):  # from infinite to infinite there is no step
        steps = sum(np.nan_to_num(np.abs(np.diff(column)), posinf=0.0) for column in columns)
    path = np.concatenate([[0.0], np.cumsum(steps)])
    wanted = np.searchsorted(path, np.linspace(0, path[-1], points))
    return np.unique(np.append(wanted[:-1], size - 1))


def path_of(columns: Mapping[str, Floats], *, named: bool) -> list[Floats]:
    """What is drawn: of a named curve its axes; otherwise measures against the threshold, whose whole range counts 1.

    A measure may stay the same over many thresholds; without these, no point of such a stretch would be kept.
    """
    threshold, *axes = columns.values()
    finite = threshold[np.isfinite(threshold)]
    if named or len(finite) < 2:
        return axes
    halves = finite / 2  # whose difference is finite, too
    return [threshold / 2 / (halves[0] - halves[-1]), *axes]


def joined(parts: Sequence[Any]) -> Any:  # noqa: ANN401  (lists stay lists, arrays arrays)
    """Put columns below each other."""
    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else [each for part in parts for each in part]
