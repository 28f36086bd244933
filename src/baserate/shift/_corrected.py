"""Measures at an estimated prevalence: how they were in validation, carried to where the target is.

Two things are unknown, the rates of the classes and the prevalence, and both rest on the validation set. The bounds
that each leaves are combined on a scale without ends; how far they go together is told by influence functions, that is,
by how much each validation row moves the one and the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from math import isnan, nan
from typing import Any, Literal

import numpy as np

from baserate._arrays import Floats
from baserate._errors import BaserateError, OptionError
from baserate._estimate import Estimate
from baserate._results import Results
from baserate._tally import Tallies, Tally
from baserate.infer import EstimateRequest, judged, noun_of
from baserate.measure import (
    MEASURES,
    Measure,
    Place,
    about,
    known,
    prevalence as share_of_positives,
    reweighed,
    summary,
)
from baserate.shift._posterior import Recalibrated
from baserate.shift._reweigh import reweigh
from baserate.shift._scale import Scale, combined, correlation_of
from baserate.shift._several import Shares
from baserate.shift._several._corrected import corrected as of_classes
from baserate.shift._slopes import slopes
from baserate.shift._summary import CORRECTED, GIVEN
from baserate.shift._two._result import Prevalence

HOW = "bounds at the estimate and at the ends of its interval, combined by influence functions"
_NEAREST = 1e-9
"""Prevalences nearer to 0 or 1 are taken so far away: there a class is missing, and half of the measures with it."""
_STEP = 1e-4
"""Of the odds, by which a prevalence is moved to see what changes."""

Made = Callable[[float], Tally]
"""The validation set as it would be at a prevalence."""


def corrected(
    found: Prevalence | Shares,
    *,
    measures: Iterable[str | Measure] | Literal["usual", "all"] = "usual",
    threshold: float | Iterable[float] | None = None,
    averages: Iterable[str | Mapping[Any, float]] | None = None,
) -> Results:
    """Measure the validation set as if it had the estimated prevalence, with intervals that know it is an estimate.

    Scores are as they were given (`scores` is "as given"); measures of probabilities are repeated with the posteriors
    that are right there ("corrected"), if they can be had. The columns are those of `baserate.infer.summary`, with
    `prevalence` and `scores`. Of `Shares` of several classes the measures are those of decisions for the highest score,
    and the columns those of `baserate.infer.class_summary`, with `averages` over classes.

    >>> import numpy as np
    >>> from baserate import Target, shift, tally
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(1000) < 0.4
    >>> validation = tally(truth, rng.normal(1.5 * truth, 1.0))
    >>> target = Target(rng.normal(1.5 * (rng.random(5000) < 0.1), 1.0))
    >>> row = shift.corrected(shift.prevalence(target, validation), measures=["precision"], threshold=1.0).rows()[-1]
    >>> round(row["value"], 3), round(row["low"], 3), round(row["high"], 3), round(row["prevalence"], 3)
    (0.333, 0.211, 0.439, 0.105)
    """
    if isinstance(found, Shares):
        if threshold is not None:
            raise OptionError(f"threshold={threshold} has no use: of several classes the highest score decides.")
        return of_classes(found, measures=measures, averages=averages)
    if averages is not None:
        raise OptionError("averages are over several classes, but these are two; leave them out.")
    chosen = measures if isinstance(measures, str) else [known(each) for each in measures]
    raw = _summed(found, lambda q: reweigh(found.validation, to=q), chosen, threshold, GIVEN)
    notes = [*raw.data["notes"], *found.notes]
    if found.value in (0.0, 1.0):
        notes.append(f"the estimate is {found.value:g}; measures are their limits there.")
    parts = [raw]
    taken = (
        [MEASURES[name] for name in raw.columns["measure"] if name in MEASURES] if isinstance(chosen, str) else chosen
    )
    proper = [measure for measure in taken if about(measure).of is Tally]
    if proper:
        try:
            parts.append(_summed(found, _after(found), proper, None, CORRECTED))
        except BaserateError as error:
            notes.append(f"there are no corrected posteriors: {error}")
    columns = {name: [each for part in parts for each in part.columns[name]] for name in raw.columns}
    return Results(columns, {**raw.data, "notes": notes})


def _summed(found: Prevalence, made: Made, measures: Any, threshold: Any, scores: str) -> Results:  # noqa: ANN401  (checked by summary)
    judge = _Judge(found, made)
    results = summary(Tallies({"score": {(): judge.tally}}), measures=measures, threshold=threshold, judge=judge)
    size = len(results)
    extra: dict[str, Any] = {"prevalence": [found.value] * size, "scores": [scores] * size}
    # The prevalence is not taken as known here: the intervals are those of an estimate.
    notes = [note for note in results.data["notes"] if note not in reweighed(judge.tally)]
    return Results({**results.columns, **extra}, {**results.data, "notes": notes})


def _after(found: Prevalence) -> Made:
    right = Recalibrated.of(found)
    right.at(_inside(found.value))  # or an error, before anything is measured

    def made(q: float) -> Tally:
        return reweigh(found.validation, to=q).rescored(right.at(q)(found.validation.score))

    return made


def _inside(q: float) -> float:
    return min(max(q, _NEAREST), 1 - _NEAREST)


class _Judge:
    """Gives a number its interval: what the rates of the classes leave open, and what the prevalence does."""

    def __init__(self, found: Prevalence, made: Made) -> None:
        self.found, self.made = found, made
        self.at = _inside(found.value)
        self.tally = made(self.at)
        self.level = found.estimate.level or 0.95

    def __call__(self, measure: Measure, noun: Any, place: Place) -> Estimate:  # noqa: ANN401  (what it takes)
        if measure is share_of_positives:
            return self.found.estimate
        known = judged(measure, noun, EstimateRequest(self.level))
        if isnan(known.value) or isnan(known.low):
            return known
        ends = [self._at(measure, _inside(q), place) for q in (self.found.estimate.low, self.found.estimate.high)]
        of_prevalence = min(known.value, *ends), max(known.value, *ends)
        if any(map(isnan, ends)):
            return replace(known, low=nan, high=nan, why="it is undefined within the interval of the prevalence")
        scale = Scale(*about(measure).span)
        parts = (known.low, known.high), of_prevalence
        low, high = combined(known.value, parts, self._correlation(measure, place), scale)
        low, high = max(low, scale.least), min(high, scale.most)
        return Estimate(known.value, min(low, known.value), max(high, known.value), self.level, HOW)

    def _at(self, measure: Measure, q: float, place: Place) -> float:
        return float(measure(noun_of(measure, self.made(q), place.threshold)))

    def _correlation(self, measure: Measure, place: Place) -> float:
        """How rates and prevalence move the measure together, by what each validation row does to both.

        Where that is not known in closed form, they are taken to do so fully, which is never too short.
        """
        validation = self.found.validation
        if self.at != self.found.value or len(self.tally.score) != len(validation.score):
            return 1.0
        found = slopes(measure, self.tally, place.threshold)
        if found is None:
            return 1.0
        mass = np.asarray(self.tally.mass, dtype=np.float64)
        mean = (mass * found.both).sum(axis=1, keepdims=True) / mass.sum(axis=1, keepdims=True)
        factor = mass.sum(axis=1, keepdims=True) / validation.mass.sum(axis=1, keepdims=True)
        rates: Floats = factor * (found.both - mean)
        step = _STEP * self.at * (1 - self.at)
        rate = (self._at(measure, self.at + step, place) - self._at(measure, self.at - step, place)) / (2 * step)
        shared = float((validation.squares * rates * rate * self.found.moved).sum())
        return correlation_of(shared, float((validation.squares * rates**2).sum()), rate**2 * self.found.variance)
