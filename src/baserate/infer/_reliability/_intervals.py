"""Intervals of measures of calibration; and why those that are distances have none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import inf, nan, sqrt
from typing import NamedTuple

import numpy as np

from baserate._arrays import Cells, Floats, distances, ratio
from baserate._tally import Tally
from baserate.infer._binomial import as_share, two_sided, usual
from baserate.infer._found import Found
from baserate.infer._influence import Part, freedom
from baserate.infer._moments import widening
from baserate.infer._reliability._sandwich import Sandwich, of_line, of_offset
from baserate.measure import (
    Measure,
    bare,
    binned,
    brier_discrimination,
    brier_miscalibration,
    brier_uncertainty,
    calibration_in_the_large,
    calibration_intercept,
    calibration_slope,
    cox_ici,
    e50,
    e90,
    ecce,
    ecce_mad,
    ece,
    ece_sweep,
    emax,
    expected,
    ici,
    log_discrimination,
    log_miscalibration,
    log_uncertainty,
    mce,
    mean_probability,
    observed_expected,
    rmsce,
    rmsce_debiased,
    smooth_ece,
)

DISTANCES: tuple[Measure, ...] = (
    *(ece, mce, rmsce, ece_sweep, smooth_ece, ici, e50, e90, emax, cox_ici, ecce, ecce_mad),
    *(brier_miscalibration, log_miscalibration),
)
"""Plug-in distances from calibration: chance alone puts them above 0."""

FLOOR = "chance alone puts it above 0; compare it with its noise floor"


FITS = "the isotonic regression fits chance, too, so it lies above the truth"
"""A study saw intervals around it cover 57 to 87 % in place of 95."""


_ROUNDING = 1e-9
_NORMAL = 1e6
"""Values of a noncentral χ² variable from which on it is as good as normal; far beyond, its distribution overflows."""


class Asked(NamedTuple):
    """A number, of what, and how sure its bounds are to be."""

    measure: Measure
    tally: Tally
    value: float
    level: float


def interval(asked: Asked) -> Found:
    """Bounds of a measure of calibration."""
    return _WAYS[bare(asked.measure)](asked)


def plug_in(measure: Measure) -> Found | None:
    """What stands for the interval of a number that chance, or fitting, pushes to one side; None for others."""
    return _PLUGGED.get(_WAYS.get(bare(measure)))


def known(measure: Measure) -> bool:
    """Whether it is a measure of calibration."""
    return bare(measure) in _WAYS


def _distance(_asked: Asked) -> Found:
    return _PLUGGED[_distance]


def _wald(asked: Asked) -> Found:
    """Bounds of a coefficient of a logistic regression, by its sandwich variance: its line need not be the true one."""
    found = _VARIANCES[bare(asked.measure)](asked.tally)
    reach = widening(found.freedom, asked.level) * two_sided(asked.level) * sqrt(found.variance)
    how = "Wald, sandwich (Huber–White) variance, t quantiles"
    where = " within each class" if asked.tally.reweighed else ""
    return Found(asked.value - reach, asked.value + reach, how.replace(" variance", f" variance{where}"))


def _over(asked: Asked) -> Found:
    r"""Bounds of O/E: those of the share of positives, with the variance of :math:`y-\frac OEp`, over the mean."""
    tally, mean = asked.tally, expected(asked.tally)
    how = "Wilson, with the variance of the ratio"
    if not mean:
        return Found(nan, nan, how, "nothing was expected to happen")
    if tally.reweighed:
        least, most, *_ = _mean(asked._replace(value=mean / tally.total))
        high = tally.prevalence / least if least > 0 else inf
        return Found(tally.prevalence / most, high, "from that of the mean probability, prevalence known")
    left = np.stack([1 - asked.value * tally.score, -asked.value * tally.score])
    noise = float(np.sum(tally.squares * left**2)) / tally.total**2
    rows = tally.total**2 / float(tally.squares.sum())
    share = as_share(tally.prevalence, noise, rows)
    shrunk = _shrunk(tally, left, asked.level)
    low, high = usual(share.hits * shrunk, share.misses * shrunk, asked.level)
    return Found(low * tally.total / mean, high * tally.total / mean, how)


def _shrunk(tally: Tally, slope: Floats, level: float) -> float:
    """Share of effective trials that is left since the variance of weighted rows is estimated; 1 for equal weights."""
    rows = float(tally.rows.sum(dtype=np.int64))
    if not tally.weighted or rows * float(tally.squares.sum()) <= (1 + _ROUNDING) * tally.total**2:
        return 1.0
    second = tally.squares * slope**2
    fourth = float(np.nan_to_num(ratio(second**2, np.asarray(tally.rows, dtype=np.float64))).sum())
    part = Part(float(second.sum()), fourth, rows)
    return float(1 / widening(freedom([part]), level) ** 2)


def _mean(asked: Asked) -> Found:
    """Bounds of the mean probability, as of a share that would be as sure."""
    tally = asked.tally
    mean: float | Floats = asked.value
    how = "Wilson, with the variance of the probabilities"
    if tally.reweighed:  # whose share is given, only differences within a class are chance
        mean = np.nan_to_num(ratio((tally.mass * tally.score).sum(axis=1, keepdims=True), _by_class(tally.mass)))
        how = f"{how} within each class"
    noise = float(np.sum(tally.squares * distances(tally.score, mean) ** 2)) / tally.total**2
    share = as_share(asked.value, noise, tally.total**2 / float(tally.squares.sum(dtype=np.float64)))
    shrunk = 1.0 if tally.reweighed else _shrunk(tally, np.asarray(distances(tally.score, mean)), asked.level)
    return Found(*usual(share.hits * shrunk, share.misses * shrunk, asked.level), how)


def _by_class(cells: Cells) -> Floats:
    return np.asarray(cells.sum(axis=1, keepdims=True), dtype=np.float64)


def _uncertain(asked: Asked) -> Found:
    """Bounds of what depends on the prevalence alone: it is highest in the middle, and falls to both sides."""
    tally = asked.tally
    if tally.reweighed:
        return Found(asked.value, asked.value, "known")
    rows = tally.total**2 / float(tally.squares.sum())
    low, high = usual(tally.prevalence * rows, (1 - tally.prevalence) * rows, asked.level)
    at = [low, high, *([0.5] if low < 0.5 < high else [])]
    values = [_OF_SHARE[bare(asked.measure)](share) for share in at]
    return Found(min(values), max(values), "from that of the prevalence")


def _debiased(asked: Asked) -> Found:
    r"""Bounds of the root mean squared gap, from the noncentral χ² distribution of its square.

    In bins with gaps :math:`δ_b`, seen as :math:`d_b` with variance :math:`v_b`, and shares :math:`w_b`,
    :math:`\sum w_bd_b^2` has the mean and the variance of c times a noncentral χ² variable with :math:`\sum w_bv_b/c`
    degrees of freedom, where :math:`c=\sum w_b^2v_b(v_b+2δ_b^2)/\sum w_b(v_b+2δ_b^2)`, after [@satterthwaite1946]; c
    times its noncentrality is :math:`\sum w_bδ_b^2`, which is looked for.
    """
    how = "noncentral χ²"
    if asked.tally.reweighed:
        return Found(nan, nan, how, "rows of a bin were reweighed by class, so chance in it is not that of a share")
    options = asked.measure.keywords if isinstance(asked.measure, partial) else {}
    found = binned(asked.tally, **({"by": "mass"} | options))
    # A bin in which all is positive, or nothing is, may still vary: as half a row more and less would.
    rate = (found.rate * found.rows + 0.5) / (found.rows + 1)
    several = found.rows > 1
    share, noise = found.mass[several] / asked.tally.total, (rate * (1 - rate) / found.rows)[several]
    if not len(share):
        return Found(nan, nan, how, "no bin has two rows")
    gap = found.gap[several]
    seen, chance = float(np.sum(share * gap**2)), float(np.sum(share * noise))
    # The part of the squared gaps that is more than chance; where it happens to lie in quiet bins, nothing is gained.
    real = noise + 2 * gap**2 * max(1 - chance / seen, 0.0) if seen else noise
    scale = max(float(np.sum(share**2 * noise * each) / np.sum(share * each)) for each in (noise, real))
    bounds = _noncentral(seen / scale, chance / scale, asked.level)
    low, high = (sqrt(scale * bound) for bound in bounds)
    return Found(low, high, how)


def _noncentral(value: float, freedom: float, level: float) -> tuple[float, float]:
    """Noncentralities between which a value of a χ² variable is not unusual in either tail."""
    from scipy.optimize import brentq
    from scipy.special import chndtr

    def bound(below: float) -> float:
        def surplus(noncentrality: float) -> float:
            return float(chndtr(value, freedom, noncentrality)) - below

        if surplus(0.0) <= 0:
            return 0.0
        most = 2 * value + 100 * sqrt(value + freedom) + 100
        return float(brentq(surplus, 0.0, most))

    if value > _NORMAL:
        z = two_sided(level)
        return _normal_noncentrality(value, freedom, z), _normal_noncentrality(value, freedom, -z)
    tail = (1 - level) / 2
    return bound(1 - tail), bound(tail)


def _normal_noncentrality(value: float, freedom: float, z: float) -> float:
    r"""Noncentrality λ at which a value lies z standard deviations above its mean, with a normal distribution.

    The mean is k + λ and the variance 2k + 4λ; with :math:`s=\sqrt{2k+4λ}` the condition is
    :math:`s^2/4+zs=x-k/2`.
    """
    spread = 2 * (sqrt(z * z + value - freedom / 2) - z)
    return max((spread * spread - 2 * freedom) / 4, 0.0)


def _resolved(_asked: Asked) -> Found:
    return _PLUGGED[_resolved]


def _brier(share: float) -> float:
    return share * (1 - share)


def _entropy(share: float) -> float:
    from scipy.special import entr

    return float(entr(share) + entr(1 - share))


_VARIANCES: Mapping[Measure, Callable[[Tally], Sandwich]] = {
    calibration_intercept: partial(of_line, at=0),
    calibration_slope: partial(of_line, at=1),
    calibration_in_the_large: of_offset,
}
_OF_SHARE: Mapping[Measure, Callable[[float], float]] = {
    brier_uncertainty: _brier,
    log_uncertainty: _entropy,
}
_PLUGGED: Mapping[object, Found] = {
    _distance: Found(nan, nan, "plug-in", FLOOR),
    _resolved: Found(nan, nan, "plug-in", FITS),
}
_WAYS: Mapping[Measure, Callable[[Asked], Found]] = {
    **dict.fromkeys(DISTANCES, _distance),
    **dict.fromkeys(_VARIANCES, _wald),
    mean_probability: _mean,
    observed_expected: _over,
    brier_uncertainty: _uncertain,
    log_uncertainty: _uncertain,
    brier_discrimination: _resolved,
    log_discrimination: _resolved,
    rmsce_debiased: _debiased,
}
