"""Tallies, or rows of many classes -> tidy numbers that tell whether probabilities are right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite, isnan
from typing import Any, Literal

import numpy as np

from baserate._calibrator import Calibrator, MulticlassCalibrator
from baserate._curve import Curve
from baserate._domains import DRAWS, check_domain
from baserate._estimate import Estimate
from baserate._numeric.logistic import NEAREST
from baserate._results import Results
from baserate._rows import MulticlassRows
from baserate._tally import Tallies, Tally
from baserate.infer._draws import Seed
from baserate.infer._estimate import EstimateRequest, estimate
from baserate.infer._reliability._checks import LEAST, Check, checks
from baserate.infer._reliability._floors import Floor, floors
from baserate.infer._reliability._intervals import DISTANCES, FLOOR
from baserate.infer._reliability._intrinsic import intrinsic
from baserate.infer._reliability._parts import After, Part, mapped, parted
from baserate.measure import (
    OF_BINS,
    OF_DISTANCES,
    By,
    Measure,
    Smoother,
    about,
    calibration_in_the_large,
    clipped,
    named,
    tidy,
    why,
)

COLUMNS = (
    *("measure", "model", "group", "class", "top", "adjusted", "calibrated", "threshold", "value", "low", "high"),
    *("level", "how", "why", "floor", "floor_low", "floor_high", "p", "p_is_bound", "freedom"),
)
WHICH = ("model", "group", "class")
ON_AVERAGE = ("mean_probability", "observed_expected", "calibration_in_the_large")
ON_A_LINE = ("calibration_intercept", "calibration_slope")
SCORES = {
    "brier": ("brier", "brier_miscalibration", "brier_discrimination", "brier_uncertainty"),
    "log_loss": ("log_loss", "log_miscalibration", "log_discrimination", "log_uncertainty"),
}
OF_TOP = ("ece", "mce", "rmsce", "rmsce_debiased", "ece_sweep", "smooth_ece")
FEW = 20
"""Rows below which little can be said."""


@dataclass(frozen=True, slots=True)
class Reliability:
    """What is to be judged, and how.

    `bins` and `by` (equal `width` or `mass`) are those of all binned numbers; without `by`, what is usual for each.
    `fitted` says that the model was fitted to these rows. `draws` is how often a perfect model is drawn for the noise
    floors; with 0 there are none. `smoother` makes the curve of ICI, E50, E90 and Emax: `lowess` or `isotonic`.
    """

    bins: int | Sequence[float] = 10
    by: By | None = None
    fitted: bool = False
    level: float = 0.95
    seed: Seed = 0
    draws: int = 500
    smoother: Smoother = "lowess"

    def __post_init__(self) -> None:
        EstimateRequest(self.level, None, self.seed)
        if self.draws != 0 or isinstance(self.draws, bool):
            check_domain("draws", self.draws, DRAWS.or_none)

    def chosen(self, measure: Measure) -> Measure:
        """Return a measure with these bins, or with this smoother, if it has any."""
        if measure in OF_DISTANCES:
            return partial(measure, smoother=self.smoother)
        if measure not in OF_BINS:
            return measure
        return partial(measure, bins=self.bins, **({} if self.by is None else {"by": self.by}))


def reliability(
    data: Tallies | MulticlassRows,
    *,
    asked: Reliability = Reliability(),
    prevalence: float | Literal["derived"] | None = None,
    after: After | Calibrator | MulticlassCalibrator | None = None,
    watch: Callable[[int, int], None] | None = None,
) -> Results:
    """Judge whether probabilities are right: every measure with its interval or its noise floor, and every test.

    Everybody together (group None) comes first, then each group; of many classes, each against all others, and the one
    with the highest probability (`top`). With `prevalence` all is judged once more after an adjustment to that of the
    rows, from the prevalence given or from the one that fits best; the column `adjusted` holds it. With `after`, a map
    or the same rows with other probabilities, they are judged once more, and the column `calibrated` says how they were
    made.
    `verdicts` of the data say in words whether another prevalence would do. `watch` is told how many parts of how many
    are done.

    >>> from baserate import infer, read
    >>> table = {"sick": [1, 0, 1, 0, 1, 0, 0, 1], "risk": [0.9, 0.6, 0.4, 0.1, 0.7, 0.2, 0.8, 0.6]}
    >>> found = infer.reliability(read.tallies(table, truth="sick", score="risk"))
    >>> [round(row["value"], 3) for row in found.rows() if row["measure"] == "ece"]  # and that of the likelier class
    [0.288, 0.237]
    """
    if isinstance(after, Calibrator | MulticlassCalibrator):
        after = mapped(data, after)
    parts, head = parted(data, prevalence, after)
    rows: list[dict[str, Any]] = []
    for done, part in enumerate(parts, start=1):
        rows += _judged(part, asked)
        if watch:
            watch(done, len(parts))
    seed = asked.seed if isinstance(asked.seed, int) else None
    head["interval"] = {"level": asked.level, "method": None, "seed": seed, "clusters": None}
    head["notes"] += [*_notes(parts, prevalence), *(after.notes if after else ())]
    head["verdicts"] = [{name: row[name] for name in (*WHICH, "verdict")} for row in rows if "verdict" in row]
    return Results({name: [row.get(name) for row in rows] for name in COLUMNS}, head)


def _judged(part: Part, asked: Reliability) -> Iterator[dict[str, Any]]:
    tally, fixed = part.tally, dict(part.fixed)
    if fixed["top"]:
        yield from (fixed | row for row in _measured(tally, OF_TOP, asked))
        return
    yield from (fixed | row for row in _whole(tally, asked, original=part.as_given))
    if fixed["class"] is None:
        yield from (fixed | {"top": True} | row for row in _measured(tally.top_class(), OF_TOP, asked))


def _whole(tally: Tally, asked: Reliability, *, original: bool) -> Iterator[dict[str, Any]]:
    """All that can be said of a tally."""
    share = estimate("prevalence", Curve(tally).at(0.5), level=asked.level)
    yield {"measure": "prevalence"} | tidy(share)
    names = [*ON_AVERAGE, *ON_A_LINE, *(name for names in SCORES.values() for name in names)]
    names += [about(each).name for each in DISTANCES] + ["rmsce_debiased"]
    yield from _measured(tally, list(dict.fromkeys(names)), asked)
    by: dict[str, By] = {} if asked.by is None else {"by": asked.by}
    yield from map(_of_check, checks(tally, bins=asked.bins, fitted=asked.fitted, seed=asked.seed, **by))
    if original and tally.positives and tally.negatives:
        found = intrinsic(tally, level=asked.level, seed=asked.seed)
        yield {"measure": "derived_prevalence", "verdict": found.verdict} | tidy(found.prevalence)
        yield from map(_of_check, (found.against_slope, found.against_free))


def _measured(tally: Tally, names: Iterable[str], asked: Reliability) -> Iterator[dict[str, Any]]:
    """Numbers with their intervals, or with their noise floors."""
    measures = {name: asked.chosen(named(name)) for name in names}
    distances = {name: each for name, each in measures.items() if asked.draws and named(name) in DISTANCES}
    found = floors(list(distances.values()), tally, level=asked.level, seed=asked.seed, draws=asked.draws)
    floored = dict(zip(distances, found, strict=True))
    for name, measure in measures.items():
        floor = floored.get(name)
        if floor is not None and isfinite(floor.value):  # which was measured already
            number = Estimate(floor.value, level=asked.level, how="plug-in", why=FLOOR)
        else:
            number = estimate(measure, tally, level=asked.level, seed=asked.seed)
        yield {"measure": name} | tidy(number) | _of_floor(floor)


def _of_floor(found: Floor | None) -> dict[str, Any]:
    if found is None:
        return {}
    floor = {"floor": found.typical, "floor_low": found.low, "floor_high": found.high}
    return floor | {"p": found.p, "p_is_bound": None if isnan(found.p) else found.p_is_bound}


def _of_check(found: Check) -> dict[str, Any]:
    told = {"value": found.statistic, "how": found.how, "why": found.why, "p": found.p, "freedom": found.freedom}
    bound = None if isnan(found.p) else found.p_is_bound or found.p <= LEAST
    return {"measure": f"{found.name}_test", **told, "p_is_bound": bound}


def _notes(parts: Sequence[Part], prevalence: float | str | None) -> Iterator[str]:
    """What the reader should know of the numbers."""
    for part in parts:
        rows = int(part.tally.rows.sum(dtype=np.int64))
        if rows < FEW and part.as_given:
            yield f"{part.shown} has {_counted(rows)}, too few to say much of probabilities."
        moved = clipped(part.tally)
        if moved and part.as_given and not part.fixed["top"]:
            yield (
                f"{_counted(moved)} of {part.shown} {'has' if moved == 1 else 'have'} a probability of 0 or 1, or next "
                f"to it, without finite log-odds; lines of log-odds take it as {NEAREST:g} away."
            )
    if not any(part.as_given for part in parts):
        yield "the scores are no probabilities, so only what was made of them is judged."
    for part in parts if prevalence is not None else ():
        reason = why(calibration_in_the_large, part.tally)
        if reason:
            yield f"{part.shown} is not adjusted: {reason}."
    if prevalence == "derived" and any(part.fixed["adjusted"] is not None for part in parts):
        yield "the adjustment was fitted to the same rows that judge it, so what follows it looks better than it is."


def _counted(rows: int) -> str:
    return f"{rows} row{'s' * (rows != 1)}"
