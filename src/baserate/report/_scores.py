"""What scores are worth over all thresholds, and as probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from baserate import infer
from baserate._arrays import ratio
from baserate._curve import Curve
from baserate._numeric.logistic import log_odds
from baserate._numeric.threads import mapped
from baserate._tally import Tally
from baserate.measure import MEASURES, Measure, about, ece
from baserate.measure._cox import offset
from baserate.measure._summary import tidy
from baserate.report._case import Case, Part, Row
from baserate.report._choice import is_of_labels

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
_SAME = 1e-6
"""A score this close to the share of positives among its rows equals that share, but for digits lost in a file."""


Task = Callable[[], list[Row]]


def scored(case: Case) -> list[Row]:
    """Ranks and probabilities of every model and group, each number with its interval."""
    parts = [part for where in case.places for part in case.walk(where) if not is_of_labels(case.here, part.model)]
    # Noise floors take longest, so they begin first.
    tasks: list[Task] = [partial(_noise, case, part) for part in parts if _is_of_everybody(part)]
    tasks += [partial(_exact_fit, part) for part in parts if _is_of_everybody(part)]
    tasks += [task for part in parts for task in _tasks(case, part)]
    size = sum(len(part.tally.score) for part in parts)
    return [row for rows in mapped(_done, tasks, size=size) for row in rows]


def _done(task: Task) -> list[Row]:
    return task()


def _is_of_everybody(part: Part) -> bool:
    """Whether these are probabilities of everybody, as the rows are."""
    return part.group is None and part.where == "here" and part.tally.probable and part.tally.total > 0


def _tasks(case: Case, part: Part) -> Iterator[Task]:
    of: dict[type, Any] = {Curve: Curve(part.tally), Tally: part.tally}
    for measure in (MEASURES[name] for name in _asked(part)):
        if part.tally.probable or about(measure).of is Curve:
            yield partial(_number, case, part, measure, of[about(measure).of])


def _asked(part: Part) -> tuple[str, ...]:
    """What is measured of a part."""
    if part.where == "there":
        return ELSEWHERE if part.group is None else ()
    return (*RANKS, *PROBABILITIES) if part.group is None else OF_GROUPS


def _number(case: Case, part: Part, measure: Measure, noun: Any) -> list[Row]:  # noqa: ANN401  (what the measure takes)
    name = about(measure).name
    kind = "ranks" if name in RANKS else "probabilities"
    return [{"part": kind, "measure": name, **part.fixed, **tidy(case.plan.interval.of(measure, noun))}]


def _noise(case: Case, part: Part) -> list[Row]:
    """How far probabilities are off, beside a perfect model of this size; and once more after a shift of all."""
    from scipy.special import expit

    found = _floored(case, part, "ece", part.tally)
    if not found["value"] > found["floor_high"] or not isfinite(shift := offset(part.tally).value):
        return [found]
    shifted = part.tally.rescored(expit(log_odds(part.tally.score) + shift))
    return [found, _floored(case, part, "ece_after_shift", shifted)]


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
    floor = {"p": found.p, "floor": found.typical, "floor_high": found.high}
    return {"part": "probabilities", "measure": name, **part.fixed, **told, **floor}
