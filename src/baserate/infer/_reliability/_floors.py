"""Noise floors: what a perfectly calibrated model of the same size would score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import NoReturn

import numpy as np

from baserate._arrays import Floats
from baserate._errors import OptionError, UsageError
from baserate._formatting import count_of
from baserate._tally import Stack, Tally
from baserate.infer._draws import Seed
from baserate.infer._estimate import EstimateRequest
from baserate.infer._reliability._intervals import DISTANCES
from baserate.infer._reliability._null import drawn, is_smallest, measured, neighbours_pooled, reached
from baserate.measure import Measure, about, bare, check_probabilities, known

DRAWS = 1000


@dataclass(frozen=True, slots=True)
class Floor:
    """What chance alone makes of a distance from calibration.

    The same probabilities were taken as right, and what happens was drawn from them many times. `typical` is the median
    of what was then measured; `low` and `high` are the quantiles 1 − level and level. A value above `high` is more than
    chance, and `p` is the share of draws that reach it.
    """

    value: float
    typical: float
    low: float
    high: float
    level: float
    p: float
    how: str
    why: str | None = None
    p_is_bound: bool = False
    """Whether no draw reached the value: p is then the smallest that so many draws can show."""

    def __bool__(self) -> NoReturn:
        # True of every object, it would read as "yes": assert would pass whatever was found.
        raise UsageError("a Floor is neither true nor false; ask whether chance explains the value: floor.within.")

    @property
    def within(self) -> bool:
        """Whether chance alone explains the value."""
        return self.value <= self.high


def floor(measure: str | Measure, tally: Tally, *, level: float = 0.95, seed: Seed = 0, draws: int = DRAWS) -> Floor:
    """Compare a distance from calibration with what a perfect model of this size would score.

    >>> import numpy as np
    >>> from baserate import infer, tally
    >>> rng = np.random.default_rng(1)
    >>> risk = rng.beta(0.5, 0.5, 100)
    >>> found = infer.floor("ece", tally(rng.random(100) < risk, risk))
    >>> f"{found.value:.2f}; a perfect model: {found.typical:.2f}, up to {found.high:.2f}"
    '0.10; a perfect model: 0.09, up to 0.12'
    """
    (found,) = floors([known(measure)], tally, level=level, seed=seed, draws=draws)
    return found


def floors(
    measures: Sequence[Measure], tally: Tally, *, level: float = 0.95, seed: Seed = 0, draws: int = DRAWS
) -> list[Floor]:
    """Do the same for several measures, from the same draws."""
    EstimateRequest(level, None, seed)
    check_probabilities(tally)
    for measure in measures:
        _check(measure)
    if not measures or not tally.total:
        return [Floor(nan, nan, nan, nan, level, nan, "draws", "there are no rows") for _ in measures]
    values = _values(measures, tally)
    pooled = neighbours_pooled(tally)
    found = measured(measures, drawn(pooled, pooled.score, draws=draws, seed=seed))
    if pooled is not tally:
        # What pooling takes away from the data it has taken away from the draws.
        with np.errstate(invalid="ignore"):  # of infinite ones nothing is lost
            lost = values - _values(measures, pooled)
        found += np.where(np.isfinite(lost), lost, 0.0)
    how = f"{count_of(draws, 'draw')} of what happens if the probabilities are right"
    return [_judged(value, found[:, at], level, how) for at, value in enumerate(values.tolist())]


def _values(measures: Sequence[Measure], tally: Tally) -> Floats:
    """Measure a tally as a stack of one, so that what is alike is made once."""
    values: Floats = measured(measures, Stack(tally.score, tally.positive[None], tally.negative[None], shared=True))[0]
    return values


def _judged(value: float, drawn: Floats, level: float, how: str) -> Floor:
    defined = drawn[~np.isnan(drawn)]
    if isnan(value) or not len(defined):
        reason = "it is undefined" if isnan(value) else "no draw is defined"
        return Floor(value, nan, nan, nan, level, nan, how, reason)
    low, typical, high = np.quantile(defined, [1 - level, 0.5, level], method="higher").tolist()
    p = reached(value, defined)
    return Floor(value, typical, low, high, level, p, how, p_is_bound=is_smallest(p, defined))


def _check(measure: Measure) -> None:
    if bare(measure) not in DISTANCES:
        names = ", ".join(about(each).name for each in DISTANCES)
        raise OptionError(
            f"{about(measure).name} is no distance from calibration, so it has no floor; these have: {names}."
        )
