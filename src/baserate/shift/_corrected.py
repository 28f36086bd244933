"""Measures at an estimated prevalence: how they were in validation, carried to where the target is.

What is unknown is propagated by influence functions: a validation row moves both the rates of its class and the
estimate; a row of the target moves the estimate alone [@mercaldo2007].
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isnan, nan
from typing import Any, Literal

import numpy as np

from baserate._arrays import Floats
from baserate._curve import Curve
from baserate._errors import BaserateError
from baserate._estimate import Estimate
from baserate._results import Results
from baserate._tallies import Tallies
from baserate._tally import Tally
from baserate.infer._binomial import FEW
from baserate.infer._estimate import Asked, judged, noun_of
from baserate.measure import MEASURES, Measure, about, summary, why
from baserate.measure import prevalence as share_of_positives
from baserate.measure._summary import Place
from baserate.shift._posterior import posterior
from baserate.shift._reweigh import reweigh
from baserate.shift._slopes import slopes
from baserate.shift._spanned import spanned
from baserate.shift._two._given import reach
from baserate.shift._two._result import Prevalence

HOW = "influence functions of validation and target"
_BOX = "widest of those at the ends of the prevalence's interval"
_NEAREST = 1e-9
"""Prevalences nearer to 0 or 1 are taken so far away: there a class is missing, and half of the measures with it."""
_STEP = 1e-4
"""Of the odds, by which a prevalence is moved to see what changes."""

Made = Callable[[float], Tally]
"""The validation set as it would be at a prevalence."""


def corrected(
    found: Prevalence,
    *,
    measures: Iterable[str | Measure] | Literal["usual", "all"] = "usual",
    threshold: float | Iterable[float] | None = None,
) -> Results:
    """Measure the validation set as if it had the estimated prevalence, with intervals that know it is an estimate.

    Scores are as they were given (`scores` is "as given"); measures of probabilities are repeated with the posteriors
    that are right there ("corrected"), if they can be had. The columns are those of `baserate.infer.summary`, with
    `prevalence` and `scores`.

    >>> import numpy as np
    >>> from baserate import Target, shift, tally
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(1000) < 0.4
    >>> validation = tally(truth, rng.normal(1.5 * truth, 1.0))
    >>> target = Target(rng.normal(1.5 * (rng.random(5000) < 0.1), 1.0))
    >>> row = shift.corrected(shift.prevalence(target, validation), measures=["precision"], threshold=1.0).rows()[-1]
    >>> round(row["value"], 3), round(row["low"], 3), round(row["high"], 3), round(row["prevalence"], 3)
    (0.306, 0.223, 0.403, 0.091)
    """
    raw = _summed(found, lambda q: reweigh(found.validation, to=q), measures, threshold, "as given")
    notes = [*raw.data["notes"], *found.notes]
    if found.value in (0.0, 1.0):
        notes.append(f"the estimate is {found.value:g}; measures are their limits there.")
    parts = [raw]
    proper = [name for name in raw.columns["measure"] if name in MEASURES and about(MEASURES[name]).of is Tally]
    if proper:
        try:
            made = _after(found)
            parts.append(_summed(found, made, list(dict.fromkeys(proper)), None, "corrected"))
        except BaserateError as error:
            notes.append(f"there are no corrected posteriors: {error}")
    columns = {name: [each for part in parts for each in part.columns[name]] for name in raw.columns}
    return Results(columns, {**raw.data, "notes": notes})


def _summed(found: Prevalence, made: Made, measures: Any, threshold: Any, scores: str) -> Results:  # noqa: ANN401  (checked by summary)
    judge = _Judge(found, made)
    results = summary(Tallies({"score": {(): judge.tally}}), measures=measures, threshold=threshold, judge=judge)
    size = len(results)
    extra = {"prevalence": [found.value] * size, "scores": [scores] * size}
    return Results({**results.columns, **extra}, results.data)


def _after(found: Prevalence) -> Made:
    posterior(found, to=_inside(found.value))  # or an error, before anything is measured

    def made(q: float) -> Tally:
        return reweigh(found.validation, to=q).rescored(posterior(found, to=q)(found.validation.score))

    return made


def _inside(q: float) -> float:
    return min(max(q, _NEAREST), 1 - _NEAREST)


class _Judge:
    """Gives a number its interval."""

    def __init__(self, found: Prevalence, made: Made) -> None:
        self.found, self.made = found, made
        self.at = _inside(found.value)
        self.tally = made(self.at)
        self.level = found.estimate.level or 0.95

    def __call__(self, measure: Measure, noun: Any, place: Place) -> Estimate:  # noqa: ANN401  (what it takes)
        value = float(measure(noun))
        if isnan(value):
            return Estimate(nan, why=why(measure, noun) or "it is undefined")
        if measure is share_of_positives:
            return self.found.estimate
        closed = self._closed(measure, value, place)
        return closed or self._boxed(measure, value, place)

    def _closed(self, measure: Measure, value: float, place: Place) -> Estimate | None:
        """Interval by influence functions; None where they do not hold: at an end, or of a few rows."""
        validation = self.found.validation
        if self.at != self.found.value or self._few(place) or len(self.tally.score) != len(validation.score):
            return None
        found = slopes(measure, self.tally, place.threshold)
        if found is None:
            return None
        mass = np.asarray(self.tally.mass, dtype=np.float64)
        mean = (mass * found.both).sum(axis=1, keepdims=True) / mass.sum(axis=1, keepdims=True)
        factor = mass.sum(axis=1, keepdims=True) / validation.mass.sum(axis=1, keepdims=True)
        rate = self._rate(measure, place)
        moved: Floats = factor * (found.both - mean) + rate * self.found.moved
        spread = rate**2 * self.found.spread
        bounds = spanned(value, *reach(validation, moved, spread, self.level), about(measure).span)
        if bounds is None:
            return None
        low, high = bounds
        return Estimate(value, min(low, value), max(high, value), self.level, HOW)

    def _few(self, place: Place) -> bool:
        """Whether a cell at the threshold is so small that nothing is normal about it."""
        if place.threshold is None:
            return False
        rows = Curve(self.found.validation).at(place.threshold).rows
        return min(rows.tp, rows.fp, rows.fn, rows.tn) < FEW

    def _rate(self, measure: Measure, place: Place) -> float:
        """How much the measure changes with the prevalence."""
        step = _STEP * self.at * (1 - self.at)
        low, high = (
            float(measure(noun_of(measure, self.made(q), place.threshold))) for q in (self.at - step, self.at + step)
        )
        return (high - low) / (2 * step)

    def _boxed(self, measure: Measure, value: float, place: Place) -> Estimate:
        """Widest interval at either end of the prevalence's own, each taken as known: never too short."""
        found = self.found.estimate
        low, high, reasons = value, value, []
        for q in {_inside(found.low), self.at, _inside(found.high)}:
            noun = noun_of(measure, self.made(q), place.threshold)
            there = judged(measure, noun, Asked(self.level))
            if isnan(there.low):
                reasons.append(there.why or "the interval is undefined")
            else:
                low, high = min(low, there.low), max(high, there.high)
        if reasons:
            return Estimate(value, level=self.level, how=_BOX, why=reasons[0])
        return Estimate(value, low, high, self.level, _BOX)
