"""What scores are worth over all thresholds, and as probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import isfinite, isnan
from typing import Any

import numpy as np

from baserate import infer
from baserate._arrays import ratio
from baserate._curve import Curve
from baserate._numeric.logistic import log_odds
from baserate._numeric.threads import parallel_map
from baserate._tally import Tally
from baserate.measure import MEASURES, Measure, about, ece, offset, tidy
from baserate.report._case import Case, Part, Row
from baserate.report._choice import is_of_labels

RANKS = ("auc", "average_precision")
PROBABILITIES = (
    *("brier", "brier_skill", "log_loss", "mean_probability", "observed_expected"),
    *("calibration_in_the_large", "calibration_slope"),
)
UNCHANGED = ("auc",)
"""What the ranks within both classes alone decide, whatever their shares."""
OF_GROUPS = ("auc", "brier", "observed_expected")
"""What is told of each group, too."""
DRAWS = 100
"""How often a perfect model is drawn for the noise floor."""
_SAME = 1e-6
"""A score this close to the share of positives among its rows equals that share, but for digits lost in a file."""


Task = Callable[[], list[Row]]


def scored(case: Case) -> list[Row]:
    """Ranks and probabilities of every model and group, each number with its interval."""
    parts = [part for where in case.places for part in case.walk(where) if not is_of_labels(case.here, part.model)]
    # Noise floors take longest, so they begin first.
    tasks: list[Task] = [partial(_noise, case, part) for part in parts if _is_of_everybody(part)]
    tasks += [partial(_exact_fit, part) for part in parts if _is_of_everybody(part) and part.where == "here"]
    tasks += [task for part in parts for task in _tasks(case, part)]
    size = sum(len(part.tally.score) for part in parts)
    rows = [row for rows in parallel_map(_done, tasks, size=size) for row in rows]
    return [*rows, *_unchanged(case, rows)]


def _unchanged(case: Case, rows: list[Row]) -> Iterator[Row]:
    """Say once more of deployment what one prevalence for everybody does not change, to the last digit."""
    if case.changes_ranks or case.there is None:
        return
    there = {(part.model, str(part.fixed["group"])): part.fixed for part in case.walk("there")}
    for row in rows:
        if row["measure"] in UNCHANGED:
            yield {**row, **there[row["model"], str(row["group"])]}


def _done(task: Task) -> list[Row]:
    return task()


def _is_of_everybody(part: Part) -> bool:
    """Whether these are probabilities of everybody."""
    return part.group is None and part.tally.probable and part.tally.total > 0


def _tasks(case: Case, part: Part) -> Iterator[Task]:
    of: dict[type, Any] = {Curve: Curve(part.tally), Tally: part.tally}
    names: tuple[str, ...] = (*RANKS, *PROBABILITIES) if part.group is None else OF_GROUPS
    if part.where == "there" and not case.changes_ranks:
        names = tuple(name for name in names if name not in UNCHANGED)
    for measure in (MEASURES[name] for name in names):
        if part.tally.probable or about(measure).of is Curve:
            yield partial(_number, case, part, measure, of[about(measure).of])


def _number(case: Case, part: Part, measure: Measure, noun: Any) -> list[Row]:  # noqa: ANN401  (what the measure takes)
    name = about(measure).name
    kind = "ranks" if name in RANKS else "probabilities"
    return [{"part": kind, "measure": name, **part.fixed, **tidy(case.plan.interval.of(measure, noun))}]


def _noise(case: Case, part: Part) -> list[Row]:
    """Compare the calibration error with that of a perfect model of this size; in the sample, also after a shift."""
    from scipy.special import expit

    error = _floored(case, part, "ece", part.tally)
    if part.where == "there" or not error["value"] > error["floor_high"]:
        return [error]
    shift = offset(part.tally).value
    if not isfinite(shift):
        return [error]
    shifted = part.tally.rescored(expit(log_odds(part.tally.score) + shift))
    return [error, _floored(case, part, "ece_after_shift", shifted)]


def _exact_fit(part: Part) -> list[Row]:
    """Return a row where every score equals the share of positives among its rows, as after a fit to these rows.

    Its p is the probability of that under perfect calibration: the counts of all scores match their expectations.
    """
    tally = part.tally
    share = ratio(tally.positive, tally.positive + tally.negative)
    deviation = float(np.nanmax(np.abs(share - tally.score)))  # rows without weight have no share
    if deviation > _SAME:
        return []
    found = {"value": deviation, "p": _match_probability(tally)}
    return [{"part": "probabilities", "measure": "deviation_by_score", **part.fixed, **found}]


def _match_probability(tally: Tally) -> float:
    """Return the probability of the observed number of positives at every distinct score, if the scores are right."""
    from scipy.special import gammaln, xlog1py, xlogy

    positives, negatives = tally.rows.astype(float)
    share = np.clip(tally.score, 0.0, 1.0)
    choices = gammaln(positives + negatives + 1) - gammaln(positives + 1) - gammaln(negatives + 1)
    return float(np.exp((choices + xlogy(positives, share) + xlog1py(negatives, -share)).sum()))


def _floored(case: Case, part: Part, name: str, tally: Tally) -> Row:
    found = infer.floor(ece, tally, level=case.plan.level, seed=case.plan.seed, draws=DRAWS)
    told = {"value": found.value, "how": found.how, "why": found.why}
    floor = {"p": found.p, "p_is_bound": None if isnan(found.p) else found.p_is_bound}
    floor |= {"floor": found.typical, "floor_high": found.high}
    return {"part": "probabilities", "measure": name, **part.fixed, **told, **floor}
