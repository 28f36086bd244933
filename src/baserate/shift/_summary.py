"""Every measure here and there: at the shares of the classes that the sample has, and at others that are known."""

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
from baserate.infer import Interval, class_summary as class_judged, summary as judged, ways
from baserate.measure import Measure, about, chosen_measures, multiclass, summary as measured
from baserate.measure.multiclass import chosen_measures as chosen_of_classes
from baserate.shift._gamma import gamma as gamma_of
from baserate.shift._reprior import Shares, reprior_map
from baserate.shift._reweigh import reweigh

GIVEN, CORRECTED = "as given", "corrected"
_ENDS = ("value", "low", "high", "level", "how", "why")
Asked = Iterable[str | Measure] | Literal["usual", "all"]
Averages = Iterable[str | Mapping[Any, float]]


class _Part(NamedTuple):
    """Numbers that hold at one place, of scores as they are or corrected."""

    where: Literal["here", "there"]
    scores: str
    found: Results


def summary(
    tallies: Tallies,
    *,
    to: float | None = None,
    gamma: float | None = None,
    measures: Asked = "usual",
    threshold: float | Iterable[float] | None = None,
    interval: Interval | None = Interval(),  # noqa: B008  (it is immutable)
) -> Results:
    """Measure here, at the sample's own prevalence, and there: where it is `to`, or negatives `gamma` times as many.

    The columns are those of `baserate.infer.summary` with three more: `where` (here or there), the `prevalence` at
    which the value holds, and what `scores` it is of. Decisions and ranks are those of the scores as given. Measures of
    probabilities follow once more after `reprior`, which takes scores as right here and corrects them for there. Groups
    have prevalences of their own, as in `reweigh`. Without an `interval` there are numbers alone.

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
    model = next(iter(tallies.models))
    before = tallies.pooled(model).prevalence
    after = there.pooled(model).prevalence if to is None else float(to)
    wanted = chosen_measures(measures)
    cuts = list(threshold) if isinstance(threshold, Iterable) else threshold

    def numbers(data: Tallies, own: list[Measure], *, reweighed: bool) -> Results:
        which = measures if own is wanted and isinstance(measures, str) else own
        if interval is None:
            return measured(data, measures=which, threshold=cuts)
        fit = _Fit(interval, wanted).of(own, reweighed=reweighed)
        return judged(data, measures=which, threshold=cuts, interval=fit)

    parts = [
        _Part("here", GIVEN, numbers(tallies, wanted, reweighed=False)),
        _Part("there", GIVEN, numbers(there, wanted, reweighed=True)),
    ]
    right = _corrected(there, before, after)
    of_probabilities = [measure for measure in wanted if about(measure).of is Tally]
    if right is not None and of_probabilities:
        found = numbers(right, of_probabilities, reweighed=True)
        parts.append(_Part("there", CORRECTED, _renamed(found, right, several=len(tallies.models) > 1)))
    # What was asked for is told as such, without the trace that sums leave.
    shares = {"here": _prevalences(tallies), "there": _prevalences(there) | {None: after}}
    notes = _notes(parts, tallies, before, after)
    data = {"to": {"prevalence": after, "gamma": gamma_of(at=before, to=after)}, **_interval(parts, interval)}
    return _joined(parts, lambda part, row: shares[part.where][_key(row["group"])], data, notes)


def class_summary(
    classes: Confusions | MulticlassRows,
    *,
    to: Shares,
    measures: Asked = "usual",
    averages: Averages | None = None,
    costs: CostMatrix | None = None,
    interval: Interval | None = Interval(),  # noqa: B008  (it is immutable)
) -> Results:
    """Measure decisions between several classes here, and there: where the classes have the shares `to`.

    The columns are those of `baserate.infer.class_summary` and, as in `summary`, `where`, `prevalence` (the share of
    the class that a value is of, None if it is of all) and `scores`. Of rows with a probability for each class the
    decision is the highest; those of probabilities after `reprior`, which takes them as right here, follow.

    >>> from baserate import read, shift
    >>> table = {"is": ["cat", "cat", "dog", "dog"], "called": ["cat", "cat", "cat", "dog"]}
    >>> found = read.confusions(table, truth="is", predicted="called")
    >>> told = shift.class_summary(found, to={"cat": 0.2, "dog": 0.8}, measures=["accuracy"], interval=None).rows()
    >>> [(row["where"], round(row["value"], 4)) for row in told if row["measure"] == "accuracy"]
    [('here', 0.75), ('there', 0.6)]
    """
    measures = measures if isinstance(measures, str) else list(measures)
    wanted = chosen_of_classes(measures, both=averages is not None)
    unfit = [about(each).name for each in wanted if about(each).of not in (Counts, Confusion)]
    if unfit and not isinstance(measures, str):
        raise OptionError(f"{', '.join(unfit)} cannot be had at other shares: of several classes, decisions alone can.")
    several = None if averages is None else list(averages)

    def numbers(data: Confusions) -> Results:
        of: dict[str, Any] = {"measures": measures, "averages": several, "costs": costs}
        if interval is None:
            return multiclass.summary(data, **of)
        return class_judged(data, **of, interval=_Fit(interval, wanted).of(wanted, reweighed=data.pooled.reweighed))

    here = _decided(classes)
    there = reweigh(here, to=to)
    before, after = (table.truth / table.total for table in (here.pooled, there.pooled))
    parts = [_Part("here", GIVEN, numbers(here)), _Part("there", GIVEN, numbers(there))]
    if isinstance(classes, MulticlassRows) and _probable(classes):
        map_ = reprior_map(from_=before, to=after, labels=here.labels)
        right = _decided(replace(classes, score=map_(classes.score)))
        parts.append(_Part("there", CORRECTED, numbers(reweigh(right, to=to))))
    shares = {"here": _class_shares(here), "there": _class_shares(there)}
    named = {str(label): float(share) for label, share in zip(here.labels, after, strict=True)}
    data = {"to": {"prevalences": named}, **_interval(parts, interval)}
    notes = _class_notes(parts, here)
    return _joined(parts, lambda part, row: shares[part.where][_key(row["group"])].get(row["class"]), data, notes)


class _Fit(NamedTuple):
    """Intervals of a kind, for measures of which not all know it."""

    interval: Interval
    measures: Sequence[Measure]

    def of(self, own: Sequence[Measure], *, reweighed: bool) -> Interval:
        """Leave a method out where none of its `own` measures knows it; if none does anywhere, it is refused there."""
        useful = self._useful(own, reweighed=reweighed)
        elsewhere = any(self._useful(self.measures, reweighed=known) for known in (False, True))
        return self.interval if useful or not elsewhere else replace(self.interval, method=None)

    def _useful(self, measures: Sequence[Measure], *, reweighed: bool) -> bool:
        return any(self.interval.method in ways(measure, reweighed=reweighed) for measure in measures)


def _interval(parts: Sequence[_Part], interval: Interval | None) -> dict[str, Any]:
    """What the intervals are, with the method that was asked for."""
    return {} if interval is None else {"interval": {**parts[0].found.data["interval"], "method": interval.method}}


def _corrected(there: Tallies, before: float, after: float) -> Tallies | None:
    """Those models alone whose scores are probabilities, as they should be there."""
    map_ = reprior_map(from_=before, to=after)
    models = {
        model: {group: tally.rescored(map_(tally.score)) for group, tally in groups.items()}
        for model, groups in there.models.items()
        if _probabilities(there, model)
    }
    return replace(there, models=models, decisions={}) if models else None


def _probabilities(tallies: Tallies, model: str) -> bool:
    return model != tallies.intake.columns.get("predicted") and tallies.pooled(model).probable


def _renamed(found: Results, tallies: Tallies, *, several: bool) -> Results:
    """Name the model, if it is the only one here but not the only one."""
    if not several or len(tallies.models) > 1:
        return found
    return Results({**found.columns, "model": [*tallies.models] * len(found)}, found.data)


def _decided(classes: Confusions | MulticlassRows) -> Confusions:
    if isinstance(classes, Confusions):
        return classes
    if not classes.attributes:
        return Confusions({(): classes.decided()}, intake=classes.intake)
    tables = {group: classes.of_group(at).decided() for at, group in enumerate(classes.groups)}
    return Confusions(tables, classes.attributes, classes.intake)


def _probable(rows: MulticlassRows) -> bool:
    score = np.asarray(rows.score)
    return bool(score.min() >= 0 and score.max() <= 1 and (score.sum(axis=1) > 0).all())


def _prevalences(tallies: Tallies) -> dict[tuple[object, ...] | None, float]:
    """Prevalence of everybody and of each group, the same for all models."""
    first = next(iter(tallies.models))
    return {group: tally.prevalence for model, group, tally in tallies.walk() if model == first}


def _class_shares(tables: Confusions) -> dict[tuple[object, ...] | None, dict[object, float]]:
    """Share of each class among everybody and in each group."""
    return {
        group: dict(zip(table.labels, (table.truth / table.total).tolist(), strict=True))
        for group, table in tables.walk()
    }


def _key(group: Mapping[str, object] | None) -> tuple[object, ...] | None:
    return None if group is None else tuple(group.values())


def _joined(parts: Sequence[_Part], share: Any, data: Mapping[str, Any], notes: Iterable[str]) -> Results:  # noqa: ANN401
    """Rows of all parts below each other, with what they hold for before their values."""
    first = parts[0].found
    rows = [
        {**row, "where": part.where, "prevalence": share(part, row), "scores": part.scores}
        for part in parts
        for row in part.found.rows()
    ]
    names = [*(name for name in first.columns if name not in _ENDS), "where", "prevalence", "scores", *_ENDS]
    return Results({name: [row[name] for row in rows] for name in names}, {**first.data, **data, "notes": [*notes]})


def _notes(parts: Sequence[_Part], tallies: Tallies, before: float, after: float) -> Iterator[str]:
    yield from parts[0].found.data["notes"]
    times = gamma_of(at=before, to=after)
    yield (
        f"there, the prevalence is {after:.6g}, taken as known, and negatives are {times:.4g} times as frequent beside "
        "positives as here; each class is taken to look as it does here."
    )
    if tallies.attributes:
        yield "that is the prevalence of everybody; each group has its own, which the same factor leads to."
    fit = [model for model in tallies.models if _probabilities(tallies, model)]
    cuts = {row["threshold"]: None for row in parts[0].found.rows() if row["threshold"] is not None}
    if fit and cuts:
        # In full: rounded, they would flag others.
        same = ", ".join(f"{cut} as {_moved(cut, before, after)}" for cut in cuts)
        yield f"decisions are those of the scores as given; on corrected scores these thresholds flag the same: {same}."
    if parts[-1].scores == CORRECTED:
        yield f"corrected scores take those given as right at a prevalence of {before:.6g}, that of these rows."


def _moved(cut: float, before: float, after: float) -> float:
    """Threshold on corrected scores, rounded just as these are, so that one that equals it is flagged, too."""
    if not 0 <= cut <= 1:
        return cut
    return float(reprior_map(from_=before, to=after)(cut))


def _class_notes(parts: Sequence[_Part], here: Confusions) -> Iterator[str]:
    yield from parts[0].found.data["notes"]
    yield "the shares of the classes there are taken as known; each class is taken to look as it does here."
    if here.attributes:
        yield "they are those of everybody; each group has its own, which the same factors lead to."
    if parts[-1].scores == CORRECTED:
        yield "corrected scores take those given as right at the shares of these rows; their highest decides."
