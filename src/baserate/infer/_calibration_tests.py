"""Calibration tests (Cox, Spiegelhalter, Hosmer–Lemeshow, ECCE), and calibration at other prevalences.

A posterior is a likelihood ratio times prior odds. If a model's probabilities are off by one factor in all odds, its
likelihood ratio is correct: the model was made for another prevalence, and is intrinsically calibrated [@gu2011].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import erfc, inf, isnan, log, nan, sqrt
from typing import NoReturn, Unpack

import numpy as np

from baserate._arrays import Bools, Floats, as_float, ratio
from baserate._domains import ShareLike, parse_share
from baserate._errors import UsageError
from baserate._formatting import count_of
from baserate._numeric.logistic import log_odds, logistic_probability
from baserate._rendering import short_repr
from baserate._results import Estimate
from baserate._tally import Forecasts, Tally
from baserate.infer._binomial import normal_quantile
from baserate.infer._bootstrap import Seed, pool_neighbors
from baserate.infer._calibration_intervals import is_smallest_p, simulate_outcomes, simulation_p
from baserate.infer._estimate import EstimateRequest, estimate
from baserate.measure import (
    Bins,
    By,
    bin_edges,
    calibration_in_the_large,
    calibration_offset,
    calibration_slope,
    check_probabilities,
    ecce,
    fill_bins,
    fit_isotonic,
    fit_recalibration,
    undefined_reason,
)
from baserate.read import PredictionOptions, accepts_predictions

SMALLEST_P = 5e-324
"""Smallest positive float, subnormal unlike that of comparisons: no p-value is 0."""
REWEIGHED = (
    "rows were reweighted by class, so outcomes do not vary as the probabilities imply; test the original rows, after "
    "reprior to their own prevalence"
)
_HELD_OUT = "on rows not fitted to"
_FITTED = ("not the best fit to these rows", "intercept fitted to these rows", "fitted to these rows")
_FITTED_STATISTIC = 0.02
"""Likelihood-ratio statistic below which the identity is the best line already; by chance that happens in 1%."""
_N_BIN_SIMULATIONS = 999
_MIN_RANGE = 0.01
"""Range below which the p-value is 1 to all digits, and its series would need too many terms."""


@dataclass(frozen=True, slots=True)
class CalibrationTest:
    """A test statistic, and the probability of one at least as extreme if the model is calibrated.

    `freedom` is the degrees of freedom of a χ² statistic. `why` is the reason where the test is undefined. `p_is_bound`
    is true if p is the smallest value that the method can show: the true one may be smaller.
    """

    name: str
    statistic: float
    p: float
    how: str
    freedom: int | None = None
    why: str | None = None
    p_is_bound: bool = False

    __repr__ = short_repr

    def __bool__(self) -> NoReturn:
        # Every object is true by default, so `assert result` would pass for any result.
        raise UsageError(
            f"a {type(self).__name__} is neither true nor false",
            remedy="compare its p-value with a level: test.p < 0.05.",
        )


@accepts_predictions("tally")
def spiegelhalter(t: Tally, **predictions: Unpack[PredictionOptions]) -> CalibrationTest:
    r"""Test whether the Brier score agrees with the probabilities (Spiegelhalter's z).

    :math:`z=\sum(y-p)(1-2p)/\sqrt{\sum(1-2p)^2p(1-p)}` is standard normal if they are calibrated. The test cannot
    detect an error that is symmetric about ½, so never use it alone [@spiegelhalter1986].

    Parameters
    ----------
    t
        Tally of probabilities.

    Returns
    -------
    CalibrationTest
        The statistic z and its two-sided p-value.

    Examples
    --------
    >>> from baserate import tally
    >>> round(spiegelhalter(tally([0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.4, 0.6, 0.9, 0.7])).statistic, 4)
    0.4454
    """
    check_probabilities(t)
    p, tilt = t.score, 1 - 2 * t.score
    surplus = float(np.sum(tilt * (t.positive * (1 - p) - t.negative * p)))
    noise = _sample_variance(t, np.stack([tilt * (1 - p), -tilt * p])) if t.reweighed else _model_variance(t, tilt)
    how = "normal, two-sided"
    if not noise:
        why = "all probabilities are 0, ½ or 1, where the statistic has no variance" if t.total else "there are no rows"
        return CalibrationTest("spiegelhalter_z", nan, nan, how, why=why)
    z = surplus / sqrt(noise)
    # erfc keeps the far tail; 1 − Φ(z) is 0 from 8.3 standard errors on.
    return CalibrationTest("spiegelhalter_z", z, max(erfc(abs(z) / sqrt(2)), SMALLEST_P), how)


def _model_variance(t: Tally, factor: Floats | float = 1.0) -> float:
    """Return the variance of a sum of y − p times a factor, if the probabilities p are calibrated."""
    return float(np.sum(t.squares.sum(axis=0) * factor**2 * t.score * (1 - t.score)))


def _sample_variance(t: Tally, terms: Floats) -> float:
    """Return the variance of a sum of terms, one for each class and score, where the class masses are fixed."""
    whole = np.asarray(t.mass.sum(axis=1, keepdims=True), dtype=np.float64)
    middle = np.nan_to_num(ratio((t.mass * terms).sum(axis=1, keepdims=True), whole))
    return float(np.sum(t.squares * (terms - middle) ** 2))


@accepts_predictions("tally")
def hosmer_lemeshow(
    t: Tally,
    *,
    bins: int | Sequence[float] = 10,
    by: By = "mass",
    fitted: bool = False,
    seed: Seed = 0,
    **predictions: Unpack[PredictionOptions],
) -> CalibrationTest:
    r"""Test whether bins hold as many positives as expected: :math:`\sum_b\frac{(O_b-E_b)^2}{E_b(1-E_b/n_b)}`.

    On data that the model was not fitted to, each bin is a degree of freedom; equal scores share a bin. Where expected
    counts are small (below 5 in a fifth of the bins, or below 1 in any), p is the share of simulated outcomes with at
    least this statistic [@cochran1954]. Bins that leave nothing to chance count only if they are contradicted, and then
    without bound; without any other bin the test is undefined. With many rows the test rejects any model, with few
    hardly one [@hosmer2013].

    Parameters
    ----------
    t
        Tally of probabilities.
    bins
        Number of bins, or their edges.
    by
        Bins of equal "mass" or "width".
    fitted
        Whether the model was fitted to these rows. Each parameter of the recalibration line that is at its maximum
        likelihood then costs a degree of freedom: two after logistic regression.
    seed
        Seed or NumPy generator of simulated outcomes.

    Returns
    -------
    CalibrationTest
        The statistic, its degrees of freedom and p-value.

    Examples
    --------
    >>> from baserate import tally
    >>> test = hosmer_lemeshow(tally([0, 1, 0, 1, 1, 0] * 20, [0.2, 0.3, 0.4, 0.6, 0.9, 0.7] * 20), bins=3)
    >>> round(test.statistic, 4), test.freedom, f"{test.p:.2g}"
    (35.8333, 3, '8.1e-08')
    """
    check_probabilities(t)
    if t.reweighed:
        return CalibrationTest("hosmer_lemeshow", nan, nan, "χ²", why=REWEIGHED)
    table = fill_bins(t, bins=bins, by=by)
    by_chance = table.expected * (1 - table.expected / table.mass) > 0
    parameters = _count_fitted_parameters(t) if fitted else 0
    freedom = int(np.count_nonzero(by_chance)) - parameters
    how = f"χ² with {count_of(freedom, 'degree', 'degrees')} of freedom, {_FITTED[parameters] if fitted else _HELD_OUT}"
    if freedom < 1:
        reason = f"fewer than {parameters + 1} bins have outcomes that can vary" if t.total else "there are no rows"
        return CalibrationTest("hosmer_lemeshow", nan, nan, how, why=reason)
    # Beyond rounding, an outcome that contradicts a probability of 0 or 1 has infinite evidence.
    gap = table.positive - table.expected
    impossible = (np.abs(gap[~by_chance]) > 1e-9 * table.mass[~by_chance]).any()
    statistic = inf if impossible else float(bin_statistic(table))
    if statistic == inf or not _has_small_counts(table, by_chance):
        return CalibrationTest("hosmer_lemeshow", statistic, chi_squared_p(statistic, freedom), how, freedom)
    simulated = _simulate_statistics(t, bins, by, parameters=parameters, seed=seed)
    p = simulation_p(statistic, simulated)
    how = f"{len(simulated)} simulated outcomes, {_FITTED[parameters] if fitted else _HELD_OUT}"
    return CalibrationTest("hosmer_lemeshow", statistic, p, how, freedom, p_is_bound=is_smallest_p(p, simulated))


def bin_statistic(bins: Bins) -> Floats:
    """Sum squared gaps over their variances in bins that have one; for a stack, return an array."""
    noise = bins.squares * ratio(bins.expected, bins.mass) * (1 - ratio(bins.expected, bins.mass))
    with np.errstate(over="ignore"):  # nearly impossible outcomes overflow to infinity
        terms = np.nan_to_num(ratio((bins.positive - bins.expected) ** 2, noise), nan=0.0, posinf=np.inf)
        return np.asarray(np.where(noise > 0, terms, 0.0).sum(axis=-1))


def _count_fitted_parameters(t: Tally) -> int:
    """Count the parameters of the recalibration line at their maximum likelihood: 2, 1 (the intercept), or 0."""
    if isnan(fit_recalibration(t).slope):
        return 2  # without a line, trust the caller
    if cox_test(t).statistic < _FITTED_STATISTIC:
        return 2
    shift = calibration_offset(t)
    # An intercept that was not fitted is this close to 0 in 2.5% of samples.
    return int(shift.value**2 < _FITTED_STATISTIC / 20 * shift.variance)


def _has_small_counts(bins: Bins, by_chance: Bools) -> bool:
    """Return whether expected counts are too small for χ², by Cochran's rule."""
    scale = ratio(bins.rows, bins.mass)[by_chance]
    expected = (np.minimum(bins.expected, bins.mass - bins.expected)[by_chance]) * scale
    return bool((expected < 1).any() or np.mean(expected < 5) > 0.2)


def _simulate_statistics(t: Tally, bins: int | Sequence[float], by: By, *, parameters: int, seed: Seed) -> Floats:
    """Simulate statistics of outcomes from the probabilities, after refitting as many parameters as were fitted."""
    pooled = pool_neighbors(t)
    stack = simulate_outcomes(pooled, pooled.score, n_simulations=_N_BIN_SIMULATIONS, seed=seed)
    usual = float(pooled.squares.sum()) / pooled.total
    table = fill_bins(replace(stack, weight=usual), bins=bins, by=by)
    if not parameters:
        return bin_statistic(table)
    x = log_odds(pooled.score)
    if parameters == 2:
        fit = fit_recalibration(stack)
        a, b = np.nan_to_num(fit.intercept), np.nan_to_num(fit.slope, nan=1.0)
    else:
        a, b = np.nan_to_num(calibration_offset(stack).value), np.ones(len(stack.positive))
    mass = stack.positive[0] + stack.negative[0]
    again = replace(stack, positive=mass * logistic_probability(a, b, x))
    return bin_statistic(table._replace(expected=fill_bins(again, bins=bins, by=by).positive))


@accepts_predictions("tally")
def cox_test(t: Tally, **predictions: Unpack[PredictionOptions]) -> CalibrationTest:
    """Test whether intercept 0 and slope 1 fit as well as the best line of log-odds, by the likelihood ratio.

    Weighted rows have no likelihood; their statistic is Wald's [@cox1958].

    Parameters
    ----------
    t
        Tally of probabilities.

    Returns
    -------
    CalibrationTest
        The statistic with 2 degrees of freedom, and its p-value.

    Examples
    --------
    >>> from baserate import tally
    >>> test = cox_test(tally([0, 1, 0, 1, 1, 0], [0.2, 0.3, 0.4, 0.6, 0.9, 0.7]))
    >>> round(test.statistic, 4), test.freedom, round(test.p, 4)
    (0.1152, 2, 0.944)
    """
    return _test_line(t, "cox", 2)


@accepts_predictions("tally")
def ecce_test(t: Tally, **predictions: Unpack[PredictionOptions]) -> CalibrationTest:
    r"""Test whether cumulative differences range further than by chance: :math:`ECCE/\sqrt{\sum p(1-p)/n^2}`.

    With many rows these differences are a Brownian motion. Its range exceeds x with probability
    :math:`8\sum_k(-1)^{k-1}k\,Q(kx)`, where Q is the upper tail of the normal distribution [@feller1951]
    [@arrieta2022].

    Parameters
    ----------
    t
        Tally of probabilities.

    Returns
    -------
    CalibrationTest
        The range in standard deviations, and its p-value.
    """
    check_probabilities(t)
    noise = _model_variance(t)
    how = "range of a Brownian motion"
    if t.reweighed:
        return CalibrationTest("ecce", nan, nan, how, why=REWEIGHED)
    if not noise:
        why = "all probabilities are 0 or 1, so outcomes cannot vary" if t.total else "there are no rows"
        return CalibrationTest("ecce", nan, nan, how, why=why)
    statistic = ecce(t) * t.total / sqrt(noise)
    return CalibrationTest("ecce", statistic, brownian_range_tail(statistic), how)


def brownian_range_tail(x: float) -> float:
    """Return the probability that a Brownian motion over one unit of time ranges over more than x."""
    from scipy.special import ndtr

    if x < _MIN_RANGE:
        return 1.0
    k = np.arange(1, int(40 / x) + 2)  # beyond 40 standard deviations the normal tail underflows to 0
    signs = np.where(k % 2 == 1, 1.0, -1.0)
    # Rounding of the alternating series may leave [0, 1] where x is small.
    return float(np.clip(8 * np.sum(signs * k * ndtr(-k * x)), SMALLEST_P, 1.0))


def chi_squared_p(statistic: float, freedom: int) -> float:
    """Return the p-value of a χ² statistic; never 0.

    >>> round(chi_squared_p(3.841459, 1), 6)
    0.05
    """
    from scipy.special import chdtrc

    return max(float(chdtrc(freedom, statistic)), SMALLEST_P)


@accepts_predictions("tally")
def slope_test(t: Tally, **predictions: Unpack[PredictionOptions]) -> CalibrationTest:
    """Test whether a shift of all log-odds fits as well as any line, so that another prevalence would calibrate.

    Parameters
    ----------
    t
        Tally of probabilities.

    Returns
    -------
    CalibrationTest
        The statistic with 1 degree of freedom, and its p-value.
    """
    return _test_line(t, "offset_or_slope", 1)


def _test_line(t: Tally, name: str, freedom: int) -> CalibrationTest:
    """Test the recalibration line against a fixed slope of 1, and with two degrees of freedom an intercept of 0."""
    fit, how = fit_recalibration(t), f"χ² with {count_of(freedom, 'degree', 'degrees')} of freedom"
    if isnan(fit.slope):
        return CalibrationTest(name, nan, nan, how, freedom, undefined_reason(calibration_slope, t))
    if t.weighted and freedom == 2:
        away = np.array([fit.intercept, fit.slope - 1])
        statistic = float(away @ np.linalg.solve(fit.covariance, away))
    elif t.weighted:
        statistic = float((fit.slope - 1) ** 2 / fit.covariance[1, 1])
    else:
        x = log_odds(t.score)
        null = x if freedom == 2 else x + calibration_offset(t).value
        # The best line cannot fit worse; only rounding or the last step of the fit makes the difference negative.
        statistic = max(2 * (log_likelihood(t, fit.intercept + fit.slope * x) - log_likelihood(t, null)), 0.0)
    kind = "Wald" if t.weighted else "likelihood ratio"
    return CalibrationTest(name, statistic, chi_squared_p(statistic, freedom), f"{kind}, {how}", freedom)


def log_likelihood(t: Forecasts, line: Floats) -> float:
    """Return the log-likelihood of the outcomes, given log-odds; for a stack, an array."""
    from scipy.special import log_expit

    # log_expit is finite even where the probability rounds to 0 or 1.
    return as_float((t.positive * log_expit(line) + t.negative * log_expit(-line)).sum(axis=-1))


@accepts_predictions("tally")
def calibration_tests(
    t: Tally,
    *,
    bins: int | Sequence[float] = 10,
    by: By = "mass",
    fitted: bool = False,
    seed: Seed = 0,
    **predictions: Unpack[PredictionOptions],
) -> tuple[CalibrationTest, ...]:
    """Run all calibration tests.

    Parameters
    ----------
    t
        Tally of probabilities.
    bins, by, fitted, seed
        Options of `hosmer_lemeshow`.

    Returns
    -------
    tuple of CalibrationTest
        Cox, Spiegelhalter, Hosmer–Lemeshow and ECCE tests.
    """
    return cox_test(t), spiegelhalter(t), hosmer_lemeshow(t, bins=bins, by=by, fitted=fitted, seed=seed), ecce_test(t)


N_ISOTONIC_SIMULATIONS = 500


@dataclass(frozen=True, slots=True)
class IntrinsicCalibration:
    """Whether another prevalence would calibrate the probabilities, and which.

    `prevalence` is the one for which they are calibrated on average. `offset` is the number that the sample prevalence
    adds to their log-odds. `against_slope` tests the shift against any line of log-odds, `against_free` against any
    monotone curve.
    """

    prevalence: Estimate
    offset: Estimate
    slope: Estimate
    against_slope: CalibrationTest
    against_free: CalibrationTest
    level: float

    __repr__ = short_repr

    def __bool__(self) -> NoReturn:
        # Every object is true by default, so `assert result` would pass for any result.
        raise UsageError(
            "an IntrinsicCalibration is neither true nor false",
            remedy="use intrinsic.calibrated, which is True, False or None.",
        )

    @property
    def calibrated(self) -> bool | None:
        """Return whether neither test rejects at this level (Bonferroni); None where a test is undefined."""
        ps = [check.p for check in (self.against_slope, self.against_free)]
        return None if any(map(isnan, ps)) else len(ps) * min(ps) >= 1 - self.level

    @property
    def verdict(self) -> str:
        """Return the conclusion in words."""
        if self.calibrated is None:
            return f"calibration at another prevalence cannot be tested: {self.against_slope.why}"
        if not self.calibrated:
            return "miscalibrated at every prevalence: the likelihood ratio is wrong"
        if self.offset.low <= 0 <= self.offset.high:
            return "no evidence against calibration at the prevalence of the sample"
        return f"no evidence against calibration for a prevalence of {self.prevalence.value:.4g}"


@accepts_predictions("tally")
def intrinsic_calibration(
    tally: Tally,
    *,
    level: ShareLike = 0.95,
    seed: Seed = 0,
    n_simulations: int = N_ISOTONIC_SIMULATIONS,
    **predictions: Unpack[PredictionOptions],
) -> IntrinsicCalibration:
    """Find the prevalence for which the probabilities are calibrated, and test whether there is one.

    Parameters
    ----------
    tally
        Tally of probabilities.
    level
        Level of the intervals and of the verdict.
    seed
        Seed or NumPy generator of simulated outcomes.
    n_simulations
        Number of simulations.

    Returns
    -------
    IntrinsicCalibration
        The prevalence with its interval, the shift and the slope of log-odds, two tests and a verdict.

    Examples
    --------
    >>> import numpy as np
    >>> from baserate import infer, tally
    >>> rng = np.random.default_rng(2)
    >>> risk = rng.beta(0.5, 0.5, 4000)
    >>> sick = rng.random(4000) < risk
    >>> sampled = ~sick | (rng.random(4000) < 0.5)  # half of the sick are lost
    >>> infer.intrinsic_calibration(tally(sick[sampled], risk[sampled])).verdict
    'no evidence against calibration for a prevalence of 0.4939'
    """
    level = parse_share(level)
    EstimateRequest(level, None, seed)
    shift, slope = (estimate(name, tally, level=level) for name in ("calibration_in_the_large", "calibration_slope"))
    return IntrinsicCalibration(
        derived_prevalence(tally, level=level),
        shift,
        slope,
        slope_test(tally),
        _test_monotone(tally, seed, n_simulations),
        level,
    )


@accepts_predictions("tally")
def derived_prevalence(tally: Tally, *, level: ShareLike = 0.95, **predictions: Unpack[PredictionOptions]) -> Estimate:
    r"""Estimate the prevalence for which the probabilities are calibrated on average, :math:`σ(\mathrm{logit}\,ȳ-c)`.

    Here c is `calibration_in_the_large`. The interval takes the prevalence of the rows as fixed.

    Parameters
    ----------
    tally
        Tally of probabilities.
    level
        Confidence level.

    Returns
    -------
    Estimate
        The prevalence with its interval.

    Examples
    --------
    >>> from baserate import tally
    >>> round(derived_prevalence(tally([0, 1, 0, 0], [0.4, 0.8, 0.5, 0.3])).value, 4)
    0.5479
    """
    level = parse_share(level)
    shift = estimate("calibration_in_the_large", tally, level=level)
    if isnan(shift.value):
        return Estimate(nan, why=shift.why)

    def prior(added: float) -> float:
        from scipy.special import expit

        return float(expit(log(tally.positives / tally.negatives) - added))

    # The prevalence falls with the offset, so the bounds change places.
    return Estimate(prior(shift.value), prior(shift.high), prior(shift.low), level, shift.how)


def _test_monotone(tally: Tally, seed: Seed, n_simulations: int) -> CalibrationTest:
    """Test a shift of all log-odds against any monotone curve, by simulated outcomes."""
    from scipy.special import expit

    name, how = "offset_or_free", f"likelihood ratio, {count_of(n_simulations, 'simulation')} after the shift"
    pooled = pool_neighbors(tally)
    shifted = log_odds(pooled.score) + calibration_offset(pooled).value
    if np.isnan(shifted).any() or not len(shifted):
        return CalibrationTest(name, nan, nan, how, why=undefined_reason(calibration_in_the_large, tally))
    # From the same pooled scores as the simulations: pooling leaves less to gain.
    gain = float(_isotonic_gain(pooled))
    simulated = _isotonic_gain(simulate_outcomes(pooled, expit(shifted), n_simulations=n_simulations, seed=seed))
    defined = simulated[~np.isnan(simulated)]
    p = simulation_p(gain, defined)
    return CalibrationTest(name, gain, p, how, p_is_bound=is_smallest_p(p, defined))


def _isotonic_gain(t: Forecasts) -> Floats:
    """Return twice the gain in log-likelihood of the isotonic regression over the best shift of all log-odds."""
    from scipy.special import xlog1py, xlogy

    shifted = log_likelihood(t, log_odds(t.score) + calibration_offset(t).value[..., None])
    p = fit_isotonic(t)
    free = (xlogy(t.positive, p) + xlog1py(t.negative, -p)).sum(axis=-1)
    gain: Floats = np.maximum(2 * (free - shifted), 0.0)
    return gain


def likelihood_ratio_curve(tally: Tally, *, bins: int | Sequence[float], by: By, level: float) -> dict[str, Floats]:
    r"""Tabulate the likelihood ratio in bins, which no prevalence changes, and the one that the probabilities imply.

    The observed ratio is :math:`\frac{O_b/P}{(n_b-O_b)/N}`, with the bounds of a ratio of proportions on a logarithmic
    scale [@simel1991]. The implied ratio is the odds of the mean probability over the prior odds at the derived
    prevalence.
    """
    table = fill_bins(tally, bins=bins, by=by)
    negative = table.mass - table.positive
    observed = ratio(ratio(table.positive, tally.positives), ratio(negative, tally.negatives))
    weight = table.squares / table.mass
    one, other = (usual_weight(tally, 0), usual_weight(tally, 1)) if tally.reweighed else (weight, weight)
    # Where a class is missing from a bin, the bounds use half a row more of each class.
    missing = (table.positive == 0) | (negative == 0)
    hits, misses = table.positive + one / 2 * missing, negative + other / 2 * missing
    center = ratio(ratio(hits, tally.positives), ratio(misses, tally.negatives))
    noise = one / hits + other / misses - _inverse_size(tally, 0) - _inverse_size(tally, 1)
    reach = np.exp(normal_quantile(level) * np.sqrt(np.maximum(noise, 0.0)))
    low, high = np.where(table.positive > 0, center / reach, 0.0), np.where(negative > 0, center * reach, np.inf)
    mean = table.expected / table.mass
    prior = derived_prevalence(tally).value
    lower, upper = bin_edges(tally, bins=bins, by=by)
    implied = ratio(mean, 1 - mean) * (1 - prior) / prior
    return {
        "lower": lower,
        "upper": upper,
        "probability": mean,
        "ratio": observed,
        "low": low,
        "high": high,
        "implied": implied,
        "mass": table.mass,
    }


def usual_weight(tally: Tally, row: int) -> float:
    """Return the usual weight of a row of a class."""
    mass = float(tally.mass[row].sum())
    return float(tally.squares[row].sum()) / mass if mass else 1.0


def _inverse_size(tally: Tally, row: int) -> float:
    """Return one over the effective number of rows of a class."""
    return ratio(float(tally.squares[row].sum()), float(tally.mass[row].sum()) ** 2)
