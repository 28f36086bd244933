"""Summary of measures at two prevalences: of the sample, and of the deployment population, where it is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from baserate._confusion import Confusion, Confusions
from baserate._costs import CostMatrix
from baserate._counts import Counts
from baserate._errors import OptionError
from baserate._results import Results
from baserate._rows import MulticlassRows
from baserate._tally import Tallies, Tally
from baserate.infer import (
    IntervalOptions,
    interval_methods,
    multiclass_summary as infer_class_summary,
    summary as infer_summary,
)
from baserate.measure import Measure, describe, multiclass, select_measures, summary as measure_summary
from baserate.measure.multiclass import select_measures as chosen_of_classes
from baserate.shift._class_weights import PrevalenceLike, gamma as gamma_of, reweigh
from baserate.shift._prior_correction import reprior_calibrator

RAW_SCORES, CORRECTED_SCORES = "as given", "corrected"
_VALUE_COLUMNS = ("value", "low", "high", "level", "how", "why")
MeasureNames = Iterable[str | Measure] | Literal["usual", "all"]
Averages = Iterable[str | Mapping[Any, float]]


class _Section(NamedTuple):
    """Results at one prevalence, of scores as given or corrected."""

    where: Literal["here", "there"]
    scores: str
    results: Results


def summary(
    tallies: Tallies,
    *,
    to: float | None = None,
    gamma: float | None = None,
    measures: MeasureNames = "usual",
    threshold: float | Iterable[float] | None = None,
    interval: IntervalOptions | None = IntervalOptions(),  # noqa: B008  (it is immutable)
) -> Results:
    """Measure at the prevalence of the sample and at the deployment prevalence.

    The columns are those of `baserate.infer.summary` with three more: `where` ("here" is the sample, "there" the
    deployment population), the `prevalence` of the row, and `scores`. Decisions and ranks use the scores as given.
    Measures of probabilities are repeated after `reprior`, which takes scores as calibrated in the sample.

    Parameters
    ----------
    tallies : Tallies
        Scores of models, by group. Groups get prevalences of their own, as in `reweigh`.
    to : float, optional
        Deployment prevalence.
    gamma : float, optional
        How many times as frequent negatives are per positive in deployment as in the sample; instead of `to`.
    measures : iterable, "usual" or "all", default "usual"
        Measures to compute.
    threshold : float or iterable of floats, optional
        Decision thresholds.
    interval : Interval or None
        Kind of confidence interval; None for values only.

    Returns
    -------
    Results
        A row for each model, group, measure, place and kind of scores.

    Examples
    --------
    >>> from baserate import read, shift
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> for row in shift.summary(t, to=0.1, measures=["precision", "brier"], interval=None).rows():
    ...     if row["measure"] in ("precision", "brier"):
    ...         print(row["measure"], row["where"], row["prevalence"], row["scores"], round(row["value"], 4))
    precision here 0.5 as given 0.5
    brier here 0.5 as given 0.185
    precision there 0.1 as given 0.1
    brier there 0.1 as given 0.185
    brier there 0.1 corrected 0.0651
    """
    there = reweigh(tallies, to=to, gamma=gamma)
    # All models have the same rows, and so the same prevalence.
    model = next(iter(tallies.models))
    before = tallies.pooled(model).prevalence
    after = there.pooled(model).prevalence if to is None else float(to)
    requested = select_measures(measures)
    cuts = list(threshold) if isinstance(threshold, Iterable) else threshold

    def numbers(data: Tallies, own: list[Measure], *, reweighed: bool) -> Results:
        which = measures if own is requested and isinstance(measures, str) else own
        if interval is None:
            return measure_summary(data, measures=which, threshold=cuts)
        fit = _IntervalChoice(interval, requested).of(own, reweighed=reweighed)
        return infer_summary(data, measures=which, threshold=cuts, interval=fit)

    parts = [
        _Section("here", RAW_SCORES, numbers(tallies, requested, reweighed=False)),
        _Section("there", RAW_SCORES, numbers(there, requested, reweighed=True)),
    ]
    corrected = _correct_scores(there, before, after)
    of_probabilities = [measure for measure in requested if describe(measure).of is Tally]
    if corrected is not None and of_probabilities:
        results = numbers(corrected, of_probabilities, reweighed=True)
        parts.append(
            _Section("there", CORRECTED_SCORES, _fill_model(results, corrected, several=len(tallies.models) > 1))
        )
    # The requested prevalence replaces the sum of weights, which differs from it by rounding.
    shares = {"here": _group_prevalences(tallies), "there": _group_prevalences(there) | {None: after}}
    notes = _describe_shift(parts, tallies, before, after)
    data = {"to": {"prevalence": after, "gamma": gamma_of(at=before, to=after)}, **_interval_data(parts, interval)}
    return _join_sections(parts, lambda part, row: shares[part.where][_group_key(row["group"])], data, notes)


def class_summary(
    classes: Confusions | MulticlassRows,
    *,
    to: PrevalenceLike,
    measures: MeasureNames = "usual",
    averages: Averages | None = None,
    costs: CostMatrix | None = None,
    interval: IntervalOptions | None = IntervalOptions(),  # noqa: B008  (it is immutable)
) -> Results:
    """Measure decisions between several classes at the shares of the sample and at the deployment shares.

    The columns are those of `baserate.infer.multiclass_summary` and, as in `summary`, `where`, `prevalence` (the share
    of
    the class of a row, None in rows of all classes) and `scores`. Rows with a probability for each class are decided
    for the highest, and once more after `reprior`, which takes probabilities as calibrated in the sample.

    Parameters
    ----------
    classes : Confusions or MulticlassRows
        Confusion matrices, or scores of each class.
    to : mapping or sequence
        Deployment share of every class, by label or in order.
    measures : iterable, "usual" or "all", default "usual"
        Measures of decisions.
    averages : iterable, optional
        Averages over classes, as in `baserate.measure.multiclass.summary`.
    costs : CostMatrix, optional
        Costs of decisions.
    interval : Interval or None
        Kind of confidence interval; None for values only.

    Returns
    -------
    Results
        A row for each group, measure, class or average, place and kind of scores.

    Raises
    ------
    OptionError
        If a measure is not one of decisions.

    Examples
    --------
    >>> from baserate import read, shift
    >>> table = {"is": ["cat", "cat", "dog", "dog"], "called": ["cat", "cat", "cat", "dog"]}
    >>> decisions = read.confusions(table, truth="is", predicted="called")
    >>> rows = shift.class_summary(decisions, to={"cat": 0.2, "dog": 0.8}, measures=["accuracy"], interval=None).rows()
    >>> [(row["where"], round(row["value"], 4)) for row in rows if row["measure"] == "accuracy"]
    [('here', 0.75), ('there', 0.6)]
    """
    measures = measures if isinstance(measures, str) else list(measures)
    requested = chosen_of_classes(measures, both=averages is not None)
    unfit = [describe(each).name for each in requested if describe(each).of not in (Counts, Confusion)]
    if unfit and not isinstance(measures, str):
        raise OptionError(f"{', '.join(unfit)} cannot be had at other shares: of several classes, decisions alone can.")
    several = None if averages is None else list(averages)

    def numbers(data: Confusions) -> Results:
        of: dict[str, Any] = {"measures": measures, "averages": several, "costs": costs}
        if interval is None:
            return multiclass.summary(data, **of)
        return infer_class_summary(
            data, **of, interval=_IntervalChoice(interval, requested).of(requested, reweighed=data.pooled.reweighed)
        )

    here = _confusion_tables(classes)
    there = reweigh(here, to=to)
    before, after = (table.truth / table.total for table in (here.pooled, there.pooled))
    parts = [_Section("here", RAW_SCORES, numbers(here)), _Section("there", RAW_SCORES, numbers(there))]
    if isinstance(classes, MulticlassRows) and _has_row_probabilities(classes):
        map_ = reprior_calibrator(from_=before, to=after, labels=here.labels)
        corrected = _confusion_tables(replace(classes, score=map_(classes.score)))
        parts.append(_Section("there", CORRECTED_SCORES, numbers(reweigh(corrected, to=to))))
    shares = {"here": _group_shares(here), "there": _group_shares(there)}
    prevalences = {str(label): float(share) for label, share in zip(here.labels, after, strict=True)}
    data = {"to": {"prevalences": prevalences}, **_interval_data(parts, interval)}
    notes = _describe_class_shift(parts, here)
    return _join_sections(
        parts, lambda part, row: shares[part.where][_group_key(row["group"])].get(row["class"]), data, notes
    )


class _IntervalChoice(NamedTuple):
    """An interval method that not all measures support."""

    interval: IntervalOptions
    measures: Sequence[Measure]

    def of(self, own: Sequence[Measure], *, reweighed: bool) -> IntervalOptions:
        """Drop the method where none of its `own` measures supports it; keep it, to raise, if none does anywhere."""
        useful = self._useful(own, reweighed=reweighed)
        elsewhere = any(self._useful(self.measures, reweighed=fixed) for fixed in (False, True))
        return self.interval if useful or not elsewhere else replace(self.interval, method=None)

    def _useful(self, measures: Sequence[Measure], *, reweighed: bool) -> bool:
        return any(self.interval.method in interval_methods(measure, reweighed=reweighed) for measure in measures)


def _interval_data(parts: Sequence[_Section], interval: IntervalOptions | None) -> dict[str, Any]:
    """Describe the intervals, with the method of the request."""
    return {} if interval is None else {"interval": {**parts[0].results.data["interval"], "method": interval.method}}


def _correct_scores(there: Tallies, before: float, after: float) -> Tallies | None:
    """Correct the scores of those models whose scores are probabilities; None if there are none."""
    map_ = reprior_calibrator(from_=before, to=after)
    models = {
        model: {group: tally.with_scores(map_(tally.score)) for group, tally in groups.items()}
        for model, groups in there.models.items()
        if _has_probabilities(there, model)
    }
    return replace(there, models=models, decisions={}) if models else None


def _has_probabilities(tallies: Tallies, model: str) -> bool:
    return model != tallies.intake.columns.get("predicted") and tallies.pooled(model).probable


def _fill_model(results: Results, tallies: Tallies, *, several: bool) -> Results:
    """Fill in the model's name where only one of several models has corrected scores."""
    if not several or len(tallies.models) > 1:
        return results
    return Results({**results.columns, "model": [*tallies.models] * len(results)}, results.data)


def _confusion_tables(classes: Confusions | MulticlassRows) -> Confusions:
    if isinstance(classes, Confusions):
        return classes
    if not classes.attributes:
        return Confusions({(): classes.confusion()}, intake=classes.intake)
    tables = {group: classes.of_group(at).confusion() for at, group in enumerate(classes.groups)}
    return Confusions(tables, classes.attributes, classes.intake)


def _has_row_probabilities(rows: MulticlassRows) -> bool:
    # Rows need not add up to 1: reprior normalizes them.
    score = np.asarray(rows.score)
    return bool(score.min() >= 0 and score.max() <= 1 and (score.sum(axis=1) > 0).all())


def _group_prevalences(tallies: Tallies) -> dict[tuple[object, ...] | None, float]:
    """Return the prevalence of everybody and of each group; it is the same for all models."""
    first = next(iter(tallies.models))
    return {group: tally.prevalence for model, group, tally in tallies.walk() if model == first}


def _group_shares(tables: Confusions) -> dict[tuple[object, ...] | None, dict[object, float]]:
    """Return the share of each class among everybody and in each group."""
    return {
        group: dict(zip(table.labels, (table.truth / table.total).tolist(), strict=True))
        for group, table in tables.walk()
    }


def _group_key(group: Mapping[str, object] | None) -> tuple[object, ...] | None:
    return None if group is None else tuple(group.values())


def _join_sections(parts: Sequence[_Section], share: Any, data: Mapping[str, Any], notes: Iterable[str]) -> Results:  # noqa: ANN401
    """Stack the rows of all sections, with their place, prevalence and scores before their values."""
    first = parts[0].results
    rows = [
        {**row, "where": part.where, "prevalence": share(part, row), "scores": part.scores}
        for part in parts
        for row in part.results.rows()
    ]
    names = [
        *(name for name in first.columns if name not in _VALUE_COLUMNS),
        "where",
        "prevalence",
        "scores",
        *_VALUE_COLUMNS,
    ]
    return Results({name: [row[name] for row in rows] for name in names}, {**first.data, **data, "notes": [*notes]})


def _describe_shift(parts: Sequence[_Section], tallies: Tallies, before: float, after: float) -> Iterator[str]:
    yield from parts[0].results.data["notes"]
    times = gamma_of(at=before, to=after)
    yield (
        f"there, the prevalence is {after:.6g}, taken as known, and negatives are {times:.4g} times as frequent beside "
        "positives as here; each class is taken to look as it does here."
    )
    if tallies.attributes:
        yield "that is the prevalence of everybody; each group has its own, which the same factor leads to."
    fit = [model for model in tallies.models if _has_probabilities(tallies, model)]
    cuts = {row["threshold"]: None for row in parts[0].results.rows() if row["threshold"] is not None}
    if fit and cuts:
        # In full: rounded, they would flag others.
        same = ", ".join(f"{cut} as {_correct_threshold(cut, before, after)}" for cut in cuts)
        yield f"decisions are those of the scores as given; on corrected scores these thresholds flag the same: {same}."
    if parts[-1].scores == CORRECTED_SCORES:
        yield f"corrected scores take those given as right at a prevalence of {before:.6g}, that of these rows."


def _correct_threshold(cut: float, before: float, after: float) -> float:
    """Correct a threshold with the rounding of corrected scores, so that a score equal to it stays flagged."""
    if not 0 <= cut <= 1:
        return cut
    return float(reprior_calibrator(from_=before, to=after)(cut))


def _describe_class_shift(parts: Sequence[_Section], here: Confusions) -> Iterator[str]:
    yield from parts[0].results.data["notes"]
    yield "the shares of the classes there are taken as known; each class is taken to look as it does here."
    if here.attributes:
        yield "they are those of everybody; each group has its own, which the same factors lead to."
    if parts[-1].scores == CORRECTED_SCORES:
        yield "corrected scores take those given as right at the shares of these rows; their highest decides."
