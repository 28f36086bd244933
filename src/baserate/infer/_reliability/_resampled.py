"""Bootstrap of many measures of probabilities at once, from the same draws."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan

from baserate._arrays import Floats
from baserate._errors import OptionError
from baserate._estimate import Estimate
from baserate._tally import Tally
from baserate.infer._draws import Seed, checked_draws
from baserate.infer._estimate import EstimateRequest, middle
from baserate.infer._resample import DRAWS, drawn_together
from baserate.measure import Measure, about, known, why


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
    '1000 draws of rows'
    """
    EstimateRequest(level, None, seed)
    chosen = [known(measure) for measure in measures]
    unfit = [about(measure).name for measure in chosen if not about(measure).stacks]
    if unfit:
        raise OptionError(f"{', '.join(unfit)} is resampled by infer.estimate(…, method='bootstrap'), alone.")
    checked_draws(draws)
    found = drawn_together(chosen, tally, way="stratified" if tally.reweighed else "bootstrap", seed=seed, draws=draws)
    return [_judged(measure, tally, found[:, at], level) for at, measure in enumerate(chosen)]


def _judged(measure: Measure, tally: Tally, draws: Floats, level: float) -> Estimate:
    value = float(measure(tally))
    if isnan(value):
        return Estimate(nan, why=why(measure, tally) or "it is undefined")
    found = middle(draws, level, "draws of rows within each class" if tally.reweighed else "draws of rows")
    return Estimate(value, found.low, found.high, level, found.how, found.why)
