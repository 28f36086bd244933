"""What scores are worth over all thresholds, and as probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any, NamedTuple

from baserate import infer
from baserate._curve import Curve
from baserate._numeric.logistic import log_odds
from baserate._numeric.threads import mapped
from baserate._tally import Tally
from baserate.infer import Interval
from baserate.measure import MEASURES, Measure, about, ece
from baserate.measure._cox import offset
from baserate.measure._summary import tidy
from baserate.report._case import Case, Part, Row
from baserate.report._choice import is_of_labels, is_probability

RANKS = ("auc", "average_precision")
PROBABILITIES = (
    *("brier", "brier_skill", "log_loss", "mean_probability", "observed_expected"),
    *("calibration_in_the_large", "calibration_slope"),
)
OF_GROUPS = ("auc", "brier", "observed_expected")
"""What is told of each group, too."""
ELSEWHERE = ("average_precision",)
"""What another prevalence changes, whatever the scores mean."""
DRAWS = 100
"""How often a perfect model is drawn for the noise floor."""


class _Task(NamedTuple):
    """One number."""

    measure: Measure
    noun: Any
    fixed: Row
    interval: Interval

    def row(self) -> Row:
        name = about(self.measure).name
        part = "ranks" if name in RANKS else "probabilities"
        return {"part": part, "measure": name, **self.fixed, **tidy(self.interval.of(self.measure, self.noun))}


def scored(case: Case) -> list[Row]:
    """Ranks and probabilities of every model and group, each number with its interval."""
    parts = [part for where in case.places for part in case.walk(where) if not is_of_labels(case.here, part.model)]
    tasks = [task for part in parts for task in _tasks(case, part)]
    size = sum(len(part.tally.score) for part in parts)
    rows = mapped(_Task.row, tasks, size=size)
    return [*rows, *(row for part in parts for row in _noise(case, part))]


def _tasks(case: Case, part: Part) -> Iterator[_Task]:
    of: dict[type, Any] = {Curve: Curve(part.tally), Tally: part.tally}
    probable = is_probability(part.tally)
    for name in (*RANKS, *PROBABILITIES):
        measure = MEASURES[name]
        told = name in (ELSEWHERE if part.where == "there" else OF_GROUPS if part.group is not None else (name,))
        if told and (probable or about(measure).of is Curve):
            yield _Task(measure, of[about(measure).of], part.fixed, case.plan.interval)


def _noise(case: Case, part: Part) -> Iterator[Row]:
    """How far probabilities are off, beside a perfect model of this size; and once more after a shift of all."""
    from scipy.special import expit

    if part.group is not None or part.where != "here" or not is_probability(part.tally) or not part.tally.total:
        return
    found = _floored(case, part, "ece", part.tally)
    yield found
    if found["value"] > found["floor_high"] and isfinite(shift := offset(part.tally).value):
        yield _floored(case, part, "ece_after_shift", part.tally.rescored(expit(log_odds(part.tally.score) + shift)))


def _floored(case: Case, part: Part, name: str, tally: Tally) -> Row:
    found = infer.floor(ece, tally, level=case.plan.level, seed=case.plan.seed, draws=DRAWS)
    told = {"value": found.value, "how": found.how, "why": found.why}
    floor = {"p": found.p, "floor": found.typical, "floor_high": found.high}
    return {"part": "probabilities", "measure": name, **part.fixed, **told, **floor}
