"""What a map is fitted to: any data with one score -> a tally that can be fitted, and what the map should remember."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Concatenate, ParamSpec

import numpy as np

from baserate._arrays import Floats
from baserate._calibrator import Calibrator, Fitted
from baserate._errors import EmptyDataError, FitError, NotAProbabilityError, OptionError
from baserate._numeric.logistic import NEAREST
from baserate._numeric.threads import meanwhile
from baserate._read_summary import ReadSummary
from baserate._rows import Rows
from baserate._tally import Tallies, Tally

Data = Tally | Tallies | Rows
Options = ParamSpec("Options")
FEW = 20
"""Rows below which a fit says little."""


def tally_of(data: Data) -> Tally:
    """Everybody in one tally."""
    if isinstance(data, Tally):
        return data
    tallies = data.tallies() if isinstance(data, Rows) else data
    if not isinstance(tallies, Tallies):
        raise OptionError(
            f"data is {type(data).__name__}; expected a Tally, Tallies or Rows. Make a tally of arrays: "
            "baserate.tally(y, p)."
        )
    if len(tallies.models) > 1:
        raise OptionError(f"there are several scores ({', '.join(tallies.models)}); a map is of one: read that alone.")
    return tallies.pooled(next(iter(tallies.models)))


def remembered(found: Calibrator, data: Data) -> Calibrator:
    """Let the map remember the names of columns and classes, where the data know them."""
    if isinstance(data, Tally):
        return found
    return replace(found, columns=_columns(data.intake), positive=str(data.intake.positive))


def _columns(intake: ReadSummary) -> Mapping[str, str]:
    names = {what: intake.columns[what] for what in ("truth", "score") if what in intake.columns}
    return {what: name if isinstance(name, str) else name[0] for what, name in names.items() if name}


def fitting(
    function: Callable[Concatenate[Tally, Options], Calibrator],
) -> Callable[Concatenate[Tally, Options], Calibrator]:
    """Make a function a method: its tally has both classes, and its map remembers what it was fitted on."""

    @wraps(function)
    def fit(tally: Tally, /, *args: Options.args, **options: Options.kwargs) -> Calibrator:
        if not isinstance(tally, Tally):
            raise OptionError(
                f"data is {type(tally).__name__}; expected a Tally. Make one of arrays: "
                f"calibrate.{function.__name__}(baserate.tally(y, p))."
            )
        with meanwhile(lambda: tally.digest, size=3 * len(tally.score)) as digest:
            found = function(_checked(tally), *args, **options)
            rows = int(tally.rows.sum(dtype=np.int64))
            few = [f"it was fitted on {rows} rows, too few to rely on."] if rows < FEW else []
            prevalence = tally.prevalence
        return replace(found, fitted=Fitted(digest(), rows, prevalence), notes=(*found.notes, *few))

    return fit


def _checked(tally: Tally) -> Tally:
    """A tally with both classes, without scores at which there is nothing."""
    positive, negative = (bool(mass.any()) for mass in tally.mass)
    if not (positive or negative):
        raise EmptyDataError("there are no rows with weight to fit a map to; give some.")
    if not (positive and negative):
        which = "positive" if positive else "negative"
        raise FitError(f"all rows are {which}, so nothing tells how likely the other class is; give rows of both.")
    there = np.logical_or(*tally.mass)
    if there.all():
        return tally
    mass, squares, rows = (cells[:, there] for cells in (tally.mass, tally.squares, tally.rows))
    return Tally(tally.score[there], mass, squares, rows, reweighed=tally.reweighed)


def are_probabilities(tally: Tally, stated: bool | None) -> bool:  # noqa: FBT001  (the answer, where it is known)
    """Whether to take scores as probabilities: as stated, otherwise if all of them lie in [0, 1]."""
    return tally.probable if stated is None else stated


def refuse_other_scores(tally: Tally, method: str, *, probabilities: bool | None = None) -> None:
    """Refuse scores that are no probabilities, where there is no use for them."""
    remedy = f"but {method} changes probabilities; fit logistic or isotonic, which take any score."
    if not tally.probable:
        raise NotAProbabilityError(f"scores go from {tally.score[-1]:.6g} to {tally.score[0]:.6g}, {remedy}")
    if probabilities is False:  # decided from more rows than these
        raise NotAProbabilityError(f"scores are no probabilities, {remedy}")


def clipped_note(tally: Tally) -> tuple[str, ...]:
    """Tell how many rows have no finite log-odds."""
    if tally.score[-1] >= NEAREST and tally.score[0] <= 1 - NEAREST:
        return ()
    moved = int(tally.rows[:, (tally.score < NEAREST) | (tally.score > 1 - NEAREST)].sum(dtype=np.int64))
    what = "row has a probability" if moved == 1 else "rows have a probability"
    told = f"{moved} {what} of 0 or 1, or next to it, without finite log-odds; it was taken as {NEAREST:g} away."
    return (told,)


def logarithms(score: Floats) -> tuple[Floats, Floats]:
    """Ln p and −ln(1 − p), of certainties as of the `NEAREST` to them."""
    p = np.clip(score, NEAREST, 1 - NEAREST)
    return np.log(p), -np.log1p(-p)


def refuse_parted(tally: Tally) -> None:
    """Refuse classes that a threshold parts: the steeper the curve, the better it would fit."""
    lowest, highest = _ends(tally)
    if lowest >= highest and tally.score[0] > tally.score[-1]:
        where = f"between {highest:.6g} and {lowest:.6g}" if lowest > highest else f"at {lowest:.6g}"
        raise FitError(
            f"a threshold {where} parts the classes, so that no curve is too steep; fit isotonic, or logistic with "
            "smoothed=True."
        )


def refuse_parted_at_half(tally: Tally) -> None:
    """Refuse classes that ½ parts: the lower the temperature, the better it would fit."""
    lowest, highest = _ends(tally)
    if lowest >= 0.5 >= highest:
        raise FitError("½ parts the classes, so that no temperature is too low; fit isotonic.")


def _ends(tally: Tally) -> tuple[float, float]:
    """Lowest score of a positive, and highest of a negative."""
    last, first = (tally.mass[0][::-1] > 0).argmax(), (tally.mass[1] > 0).argmax()
    return float(tally.score[::-1][last]), float(tally.score[first])
