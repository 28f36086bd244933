"""Bootstrap of many measures of probabilities at once, from the same draws."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan

import numpy as np

from baserate._arrays import Floats
from baserate._errors import BadOption
from baserate._estimate import Estimate
from baserate._tally import Tally
from baserate.infer._draws import Seed, percentiles
from baserate.infer._estimate import Asked
from baserate.infer._resample import DRAWS, drawn_together
from baserate.measure import Measure, about, why
from baserate.measure._registry import known


def resampled(
    measures: Sequence[str | Measure], tally: Tally, *, level: float = 0.95, seed: Seed = 0, draws: int = DRAWS
) -> list[Estimate]:
    """Percentiles of measures of probabilities when rows are drawn again: what other tools give, and quickly.

    A distance from calibration is pushed up once by chance and once more by drawing, so its percentiles lie too high;
    `floor` tells more.

    >>> from baserate import infer, tally
    >>> sample = tally([0, 1, 0, 1, 1, 0] * 20, [0.2, 0.3, 0.4, 0.6, 0.9, 0.7] * 20)
    >>> slope, ece = infer.resampled(["calibration_slope", "ece"], sample)
    >>> slope.how
    'percentiles of 1000 draws of rows'
    """
    Asked(level, None, seed).checked()
    chosen = [known(measure) for measure in measures]
    unfit = [about(measure).name for measure in chosen if not about(measure).stacks]
    if unfit:
        raise BadOption(f"{', '.join(unfit)} is resampled by infer.estimate(…, method='bootstrap'), alone.")
    values = [float(measure(tally)) for measure in chosen]
    found = drawn_together(chosen, tally, way="bootstrap", seed=seed, draws=draws)
    return [_judged(*each, level) for each in zip(chosen, values, found.T, [tally] * len(chosen), strict=True)]


def _judged(measure: Measure, value: float, draws: Floats, tally: Tally, level: float) -> Estimate:
    if isnan(value):
        return Estimate(nan, why=why(measure, tally) or "it is undefined")
    defined = draws[~np.isnan(draws)]
    how = f"percentiles of {len(draws)} draws of rows"
    if not len(defined):
        return Estimate(value, level=level, how=how, why="no draw is defined")
    left_out = len(draws) - len(defined)
    return Estimate(value, *percentiles(defined, level), level, how + (f", {left_out} undefined" if left_out else ""))
