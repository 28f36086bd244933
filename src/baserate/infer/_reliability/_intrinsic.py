"""Would some prevalence make it calibrated? A likelihood ratio that is right needs nothing but a prior.

A posterior is a likelihood ratio times prior odds. If a model's probabilities are wrong by one factor in all odds, its
likelihood ratio is right: it was made for another prevalence, and told that of here it would be calibrated. It is then
called intrinsically calibrated [@gu2011].
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, log, nan
from typing import NoReturn

import numpy as np

from baserate._arrays import Floats
from baserate._errors import UsageError
from baserate._estimate import Estimate
from baserate._formatting import count_of
from baserate._numeric.logistic import log_odds
from baserate._tally import Forecasts, Tally
from baserate.infer._draws import Seed
from baserate.infer._estimate import EstimateRequest, estimate
from baserate.infer._reliability._checks import Check, log_likelihood, slope_test
from baserate.infer._reliability._null import drawn, is_smallest, neighbours_pooled, reached
from baserate.measure import calibrated, calibration_in_the_large, offset, why

DRAWS = 500


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """Whether another prevalence would make the probabilities right, and which.

    `prevalence` is the one that they are right for, if any: that of derivation. `offset` is what the prevalence here
    adds to their log-odds. `against_slope` tests that against any line of log-odds, `against_free` against any monotone
    curve.
    """

    prevalence: Estimate
    offset: Estimate
    slope: Estimate
    against_slope: Check
    against_free: Check
    level: float

    def __bool__(self) -> NoReturn:
        # True of every object, it would read as "yes": assert would pass whatever was found.
        raise UsageError(
            "an Intrinsic is neither true nor false; ask whether it is calibrated, which may be None: "
            "intrinsic.calibrated."
        )

    @property
    def calibrated(self) -> bool | None:
        """Whether nothing speaks against it at this level; None where it cannot be told.

        There are two tests, so each must be surer than one alone would be.
        """
        ps = [check.p for check in (self.against_slope, self.against_free)]
        return None if any(map(isnan, ps)) else len(ps) * min(ps) >= 1 - self.level

    @property
    def verdict(self) -> str:
        """The same in words."""
        if self.calibrated is None:
            return f"it cannot be told whether another prevalence would do: {self.against_slope.why}"
        if not self.calibrated:
            return "no prevalence makes it calibrated: its likelihood ratio is wrong"
        if self.offset.low <= 0 <= self.offset.high:
            return "nothing speaks against it being calibrated for the prevalence here"
        return f"calibrated for a prevalence of {self.prevalence.value:.4g}, as far as can be told"


def intrinsic(tally: Tally, *, level: float = 0.95, seed: Seed = 0, draws: int = DRAWS) -> Intrinsic:
    """Look for a prevalence that would make the probabilities right, and whether one would.

    >>> import numpy as np
    >>> from baserate import infer, tally
    >>> rng = np.random.default_rng(2)
    >>> risk = rng.beta(0.5, 0.5, 4000)
    >>> sick = rng.random(4000) < risk
    >>> kept = ~sick | (rng.random(4000) < 0.5)  # half of the sick are lost
    >>> found = infer.intrinsic(tally(sick[kept], risk[kept]))
    >>> found.verdict
    'calibrated for a prevalence of 0.4939, as far as can be told'
    """
    EstimateRequest(level, None, seed)
    moved, slope = (estimate(name, tally, level=level) for name in ("calibration_in_the_large", "calibration_slope"))
    return Intrinsic(
        derived_prevalence(tally, level=level), moved, slope, slope_test(tally), _free(tally, seed, draws), level
    )


def derived_prevalence(tally: Tally, *, level: float = 0.95) -> Estimate:
    r"""The prevalence that the probabilities are right for on average, :math:`σ(\mathrm{logit}\,ȳ-c)`.

    c is `calibration_in_the_large`. Its interval takes the prevalence of the rows as known.

    >>> from baserate import tally
    >>> round(derived_prevalence(tally([0, 1, 0, 0], [0.4, 0.8, 0.5, 0.3])).value, 4)
    0.5479
    """
    found = estimate("calibration_in_the_large", tally, level=level)
    if isnan(found.value):
        return Estimate(nan, why=found.why)

    def prior(added: float) -> float:
        from scipy.special import expit

        return float(expit(log(tally.positives / tally.negatives) - added))

    return Estimate(prior(found.value), prior(found.high), prior(found.low), level, found.how)


def _free(tally: Tally, seed: Seed, draws: int) -> Check:
    """Whether a shift of all log-odds fits as well as any monotone curve: its gain, beside that of draws."""
    from scipy.special import expit

    name, how = "offset_or_free", f"likelihood ratio, {count_of(draws, 'draw')} of what happens after the shift"
    pooled = neighbours_pooled(tally)
    shifted = log_odds(pooled.score) + offset(pooled).value
    if np.isnan(shifted).any() or not len(shifted):
        return Check(name, nan, nan, how, why=why(calibration_in_the_large, tally))
    # Of the same scores as the draws: pooled ones leave less to gain.
    here = float(_gain(pooled))
    might = _gain(drawn(pooled, expit(shifted), draws=draws, seed=seed))
    defined = might[~np.isnan(might)]
    p = reached(here, defined)
    return Check(name, here, p, how, p_is_bound=is_smallest(p, defined))


def _gain(t: Forecasts) -> Floats:
    """Twice what the isotonic regression gains in log-likelihood over the best shift of all log-odds."""
    from scipy.special import xlog1py, xlogy

    shifted = log_likelihood(t, log_odds(t.score) + offset(t).value[..., None])
    p = calibrated(t)
    free = (xlogy(t.positive, p) + xlog1py(t.negative, -p)).sum(axis=-1)
    gain: Floats = np.maximum(2 * (free - shifted), 0.0)
    return gain
