"""Fit data: the data of calibrators, the checks that all fits share, and fitted parameters with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from math import isfinite, sqrt
from typing import Concatenate, ParamSpec

import numpy as np

from baserate._arrays import Floats
from baserate._calibrator import Calibrator, FitSource, Parameter
from baserate._errors import EmptyDataError, FitError, NotAProbabilityError, OptionError, keyword
from baserate._numeric.cumulative import run_in_background
from baserate._numeric.logistic import PROBABILITY_CLIP
from baserate._rows import Rows
from baserate._tally import ReadSummary, Tallies, Tally

Data = Tally | Tallies | Rows
Options = ParamSpec("Options")
MIN_ROWS = 20
"""Rows below which a note says that a fit is unreliable."""
LEVEL = 0.95
Z = 1.959963984540054
"""Quantile of the standard normal distribution for two-sided intervals at that level."""


def pool_tally(data: Data) -> Tally:
    """Pool all groups of data with one score in one tally; raise if there are several scores."""
    if isinstance(data, Tally):
        return data
    tallies = data.tallies() if isinstance(data, Rows) else data
    if not isinstance(tallies, Tallies):
        what = f"data is {type(data).__name__}; expected a Tally, Tallies or Rows."
        remedy = "Make a tally of arrays: baserate.tally(y, p)."
        raise OptionError(what, remedy=remedy, option="data", value=type(data).__name__)
    if len(tallies.models) > 1:
        raise OptionError(
            f"there are several scores ({', '.join(tallies.models)}), but a calibrator is of one",
            remedy="read one score only.",
        )
    return tallies.pooled(next(iter(tallies.models)))


def add_column_names(calibrator: Calibrator, data: Data) -> Calibrator:
    """Store the names of columns and of the positive class in a calibrator, where the data contain them."""
    if isinstance(data, Tally):
        return calibrator
    return replace(calibrator, columns=_column_names(data.intake), positive=str(data.intake.positive))


def _column_names(intake: ReadSummary) -> Mapping[str, str]:
    names = {role: intake.columns[role] for role in ("truth", "score") if role in intake.columns}
    return {role: name if isinstance(name, str) else name[0] for role, name in names.items() if name}


def binary_calibrator(
    function: Callable[Concatenate[Tally, Options], Calibrator],
) -> Callable[Concatenate[Tally, Options], Calibrator]:
    """Decorate a fitting function: its tally has both classes, and its calibrator stores what it was fitted on."""

    @wraps(function)
    def fit(tally: Tally, /, *args: Options.args, **options: Options.kwargs) -> Calibrator:
        if not isinstance(tally, Tally):
            what = f"data is {type(tally).__name__}; expected a Tally."
            remedy = f"Make one of arrays: calibrate.{function.__name__}(baserate.tally(y, p))."
            raise OptionError(what, remedy=remedy, option="data", value=type(tally).__name__)
        # The digest takes as long as some fits, and is computed in another thread.
        with run_in_background(lambda: tally.digest, size=3 * len(tally.score)) as digest:
            calibrator = function(_check_classes(tally), *args, **options)
            rows = int(tally.rows.sum(dtype=np.int64))
            few = [f"it was fitted on {rows} rows, too few to rely on."] if rows < MIN_ROWS else []
            prevalence = tally.prevalence
        return replace(calibrator, fitted=FitSource(digest(), rows, prevalence), notes=(*calibrator.notes, *few))

    return fit


def _check_classes(tally: Tally) -> Tally:
    """Check that a tally has both classes, and drop scores without mass."""
    positive, negative = (bool(mass.any()) for mass in tally.mass)
    if not (positive or negative):
        raise EmptyDataError("there are no rows with weight to fit a calibrator to", remedy="give some.")
    if not (positive and negative):
        raise FitError(f"all rows are {'positive' if positive else 'negative'}", remedy="give rows of both classes.")
    nonempty = np.logical_or(*tally.mass)
    if nonempty.all():
        return tally
    mass, squares, rows = (cells[:, nonempty] for cells in (tally.mass, tally.squares, tally.rows))
    return Tally(tally.score[nonempty], mass, squares, rows, reweighed=tally.reweighed)


def are_probabilities(tally: Tally, stated: bool | None) -> bool:  # noqa: FBT001  (the answer, where the caller has it)
    """Return whether scores are probabilities: as stated, otherwise if all of them lie in [0, 1]."""
    return tally.probable if stated is None else stated


def require_probabilities(tally: Tally, method: str, *, probabilities: bool | None = None) -> None:
    """Refuse scores that are no probabilities, for calibrators that need them."""
    # The caller may have looked at more rows than these, and state that scores are no probabilities.
    if not tally.probable or probabilities is False:
        scores = "are no probabilities" if tally.probable else f"go from {tally.score[-1]:.6g} to {tally.score[0]:.6g}"
        raise NotAProbabilityError(
            f"scores {scores}, but {method} changes probabilities",
            remedy="fit logistic or isotonic, which take any score.",
        )


def clipping_note(tally: Tally) -> tuple[str, ...]:
    """Return a note on rows whose log-odds are infinite, if there are any."""
    if tally.score[-1] >= PROBABILITY_CLIP and tally.score[0] <= 1 - PROBABILITY_CLIP:
        return ()
    rows = int(
        tally.rows[:, (tally.score < PROBABILITY_CLIP) | (tally.score > 1 - PROBABILITY_CLIP)].sum(dtype=np.int64)
    )
    subject = "row has a probability" if rows == 1 else "rows have a probability"
    clip = f"{PROBABILITY_CLIP:g}"
    return (f"{rows} {subject} of 0 or 1, or next to it, without finite log-odds; it was moved {clip} away.",)


def log_probabilities(score: Floats) -> tuple[Floats, Floats]:
    """Return ln p and −ln(1 − p), after moving certainties to within `PROBABILITY_CLIP` of 0 and 1."""
    p = np.clip(score, PROBABILITY_CLIP, 1 - PROBABILITY_CLIP)
    return np.log(p), -np.log1p(-p)


def refuse_separation(tally: Tally) -> None:
    """Refuse classes that a threshold separates: the likelihood has no maximum, it grows with the slope."""
    lowest, highest = _overlap(tally)
    # Equal scores are another error, which the caller raises.
    if lowest >= highest and tally.score[0] > tally.score[-1]:
        where = f"between {highest:.6g} and {lowest:.6g}" if lowest > highest else f"at {lowest:.6g}"
        raise FitError(
            f"a threshold {where} separates the classes, so that no finite slope fits best",
            remedy=f"fit isotonic, or logistic with {keyword('smoothed', value=True)}.",
        )


def refuse_separation_at_half(tally: Tally) -> None:
    """Refuse classes that ½ separates: the likelihood has no maximum, it grows as the temperature falls."""
    lowest, highest = _overlap(tally)
    if lowest >= 0.5 >= highest:
        raise FitError("½ separates the classes, so that no temperature above 0 fits best", remedy="fit isotonic.")


def _overlap(tally: Tally) -> tuple[float, float]:
    """Return the lowest score of a positive, and the highest of a negative."""
    # Scores descend: the first negative has the highest score.
    last, first = (tally.mass[0][::-1] > 0).argmax(), (tally.mass[1] > 0).argmax()
    return float(tally.score[::-1][last]), float(tally.score[first])


def wald_parameter(name: str, value: float, variance: float | None) -> Parameter:
    """Return a fitted parameter with its Wald interval; without one where its variance is unknown.

    >>> wald_parameter("slope", 2.0, 0.25)
    Parameter(name='slope', value=2.0, standard_error=0.5, low=1.020018007729973, high=2.979981992270027, level=0.95)
    """
    if variance is None or not isfinite(variance) or variance < 0:
        return Parameter(name, float(value))
    error = sqrt(variance)
    return Parameter(name, float(value), error, float(value - Z * error), float(value + Z * error), LEVEL)


def add_temperature(slope: Parameter) -> tuple[Parameter, ...]:
    """Return a slope b and its temperature 1/b, with a standard error by the delta method.

    The bounds are the reciprocals of those of the slope; there is no upper bound where the slope may be 0.
    """
    if slope.value <= 0 or slope.standard_error is None or slope.low is None or slope.high is None:
        return (slope,)
    error, high = slope.standard_error / slope.value**2, 1 / slope.low if slope.low > 0 else None
    return slope, Parameter("temperature", 1 / slope.value, error, 1 / slope.high, high, slope.level)
