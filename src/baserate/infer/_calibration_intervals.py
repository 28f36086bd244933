"""Calibration intervals: slope, intercept, O/E and mean probability; null references of distances from calibration.

Coefficients of the logistic recalibration have sandwich (Huber–White) variances, which are valid whether or not the
recalibration line is the true one.

Distances from calibration have no interval, since chance alone puts them above 0. Their null reference is the distance
that a perfectly calibrated model of the same size would score, by simulated outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, isnan, nan, sqrt
from typing import NamedTuple, NoReturn, Unpack

import numpy as np

from baserate._arrays import Cells, Floats, distances, ratio
from baserate._domains import LEVEL, ShareLike, check_domain, parse_share
from baserate._errors import OptionError, UsageError
from baserate._formatting import count_of
from baserate._numeric.logistic import log_odds
from baserate._rendering import short_repr
from baserate._tally import Stack, Tally
from baserate.infer._binomial import normal_quantile, proportion_from_variance, t_widening, wilson_or_exact
from baserate.infer._bootstrap import (
    Seed,
    check_n_samples,
    make_generator,
    measure_stack,
    pool_neighbors,
    sample_in_blocks,
)
from baserate.infer._variances import Bounds, VarianceComponent, degrees_of_freedom
from baserate.measure import (
    Measure,
    as_measure,
    brier_discrimination,
    brier_uncertainty,
    calibration_in_the_large,
    calibration_intercept,
    calibration_offset,
    calibration_slope,
    check_probabilities,
    describe,
    expected_positives,
    fill_bins,
    find_measure,
    fit_recalibration,
    log_discrimination,
    log_uncertainty,
    mean_probability,
    observed_expected,
    rmsce_debiased,
    unreliability_index,
    unwrap_options,
)
from baserate.read import PredictionOptions, accepts_predictions

_BLOCK = 1 << 14
"""Scores that fit the cache."""
_MAX_LEVERAGE = 0.99
"""Largest leverage in the correction of residuals: a row that is fitted exactly has no residual."""


class Sandwich(NamedTuple):
    """Variance of a coefficient, and its degrees of freedom."""

    variance: float
    freedom: float


class LogisticFit(NamedTuple):
    """A logistic regression fitted to a tally: on 1 and z, or with `fixed` slope on 1 alone."""

    tally: Tally
    z: Floats
    line: Floats
    """Fitted log-odds at each score."""
    fixed: bool = False


def line_sandwich(t: Tally, at: int) -> Sandwich:
    """Return the sandwich variance of the intercept (0) or the slope (1) of the recalibration line."""
    fit, x = fit_recalibration(t), log_odds(t.score)
    # Centered and scaled to the range, so that nearly equal log-odds do not make the information singular.
    middle, scale = (x[0] + x[-1]) / 2, (x[0] - x[-1]) / 2
    contrast = ((1.0, -middle / scale), (0.0, 1 / scale))[at]
    return sandwich_variance(LogisticFit(t, (x - middle) / scale, fit.intercept + fit.slope * x), contrast)


def offset_sandwich(t: Tally) -> Sandwich:
    """Return the sandwich variance of calibration in the large."""
    x = log_odds(t.score)
    return sandwich_variance(LogisticFit(t, x, x + calibration_offset(t).value, fixed=True), (1.0, 0.0))


def sandwich_variance(model: LogisticFit, contrast: tuple[float, float]) -> Sandwich:
    r"""Return the sandwich variance of a contrast c of coefficients, :math:`\sum_i g_i^2/(1-h_i)`.

    Here :math:`g_i=w_ic'H^{-1}x_i(y_i-p_i)`, H is the information, :math:`h_i=w_ip_i(1-p_i)x_i'H^{-1}x_i` the leverage
    of a row: the residual of a row that attracts the line is too small (HC2) [@huber1967] [@white1980]
    [@mackinnon1985]. Degrees of freedom follow from the fourth powers of :math:`g_i` [@satterthwaite1946]. Where the
    class masses are fixed, only differences within a class are random.
    """
    t, p = model.tally, _expit(model.line)
    inverse = _inverse_information(model, p)
    direction = np.asarray(contrast) @ inverse
    means = _class_means(model, p, direction) if t.reweighed else (0.0, 0.0)
    sums = np.zeros((2, 2))
    for place in _split_scores(len(p)):
        z, share = model.z[place], p[place]
        tilt = direction[0] + direction[1] * z
        leverage = share * (1 - share) * (inverse[0, 0] + 2 * inverse[0, 1] * z + inverse[1, 1] * z * z)
        for at, mean in enumerate(means):
            sums[at] += _power_sums(t, (at, place), tilt * (1 - at - share) - mean, leverage)
    rows = t.rows.sum(axis=1, dtype=np.float64)
    if not t.reweighed:
        sums, rows = sums.sum(axis=0, keepdims=True), rows.sum(keepdims=True)
    parts = [
        VarianceComponent(second, fourth, number)
        for (second, fourth), number in zip(sums.tolist(), rows.tolist(), strict=True)
    ]
    return Sandwich(sum(part.variance for part in parts), degrees_of_freedom(parts))


def _inverse_information(model: LogisticFit, p: Floats) -> Floats:
    """Return the inverse information of both coefficients; that of a fixed slope is 0."""
    t = model.tally
    weight = (t.positive + t.negative) * p
    weight *= 1 - p
    if model.fixed:
        return np.array([[1 / float(weight.sum()), 0.0], [0.0, 0.0]])
    each = weight * model.z
    first, second = float(each.sum()), float((each * model.z).sum())
    return np.linalg.pinv(np.array([[float(weight.sum()), first], [first, second]]))


def _class_means(model: LogisticFit, p: Floats, direction: Floats) -> tuple[float, float]:
    """Return the mean contribution of rows of each class."""
    tilt = direction[0] + direction[1] * model.z
    t = model.tally
    true, false = (
        ratio(float(t.positive @ (tilt * (1 - p))), t.positives),
        ratio(float(t.negative @ -(tilt * p)), t.negatives),
    )
    return float(np.nan_to_num(true)), float(np.nan_to_num(false))


def _power_sums(t: Tally, where: tuple[int, slice], slope: Floats, leverage: Floats) -> tuple[float, float]:
    """Sum the second and fourth powers of row contributions of a class; rows at one score count as identical."""
    rows = t.rows[where].astype(np.float64)
    if not t.weighted:
        power = slope**2 / (1 - np.minimum(leverage, _MAX_LEVERAGE))
        # Not by BLAS, whose threads wait for each other on a busy machine.
        second = rows * power
        return float(second.sum()), float((second * power).sum())
    unit = np.nan_to_num(ratio(np.asarray(t.mass[where], dtype=np.float64), rows))
    second = t.squares[where] * slope**2 / (1 - np.minimum(unit * leverage, _MAX_LEVERAGE))
    return float(second.sum()), float(np.nan_to_num(ratio(second**2, rows)).sum())


def _split_scores(size: int) -> list[slice]:
    return [slice(start, start + _BLOCK) for start in range(0, size, _BLOCK)]


def _expit(line: Floats) -> Floats:
    from scipy.special import expit

    probability: Floats = expit(line)
    return probability


DISTANCES: tuple[Measure, ...] = tuple(
    map(
        find_measure,
        (
            *("ece", "mce", "rmsce", "ece_sweep", "smooth_ece", "ici", "e50", "e90", "emax", "cox_ici"),
            *("ecce", "ecce_mad", "brier_miscalibration", "log_miscalibration"),
        ),
    )
)
"""Plug-in distances from calibration: chance alone puts them above 0."""

NULL_REFERENCE_HINT = "chance alone puts it above 0; compare it with its null reference"


CHI_SQUARED_HINT = "near calibration it varies as a χ² statistic; Cox's test says whether it exceeds chance"

OVERFIT_HINT = "the isotonic regression also fits chance, so the value is biased upward"
"""Intervals around it covered 57 to 87% at level 95% in a study."""


_ROUNDING = 1e-9
_NORMAL_ABOVE = 1e6
"""Values of a noncentral χ² variable above which the normal limit is used, since its distribution overflows."""


class CalibrationInput(NamedTuple):
    """A calibration measure, its tally and value, and the level of its interval."""

    measure: Measure
    tally: Tally
    value: float
    level: float


def calibration_interval(inputs: CalibrationInput) -> Bounds:
    """Bound a measure of calibration."""
    return _INTERVALS[unwrap_options(inputs.measure)](inputs)


def plug_in_bounds(measure: Measure) -> Bounds | None:
    """Return the undefined bounds of a measure that chance or fitting biases to one side; None for others."""
    return _PLUG_IN.get(_INTERVALS.get(unwrap_options(measure)))


def is_calibration_measure(measure: Measure) -> bool:
    """Return whether this is a measure of calibration."""
    return unwrap_options(measure) in _INTERVALS


def _distance_interval(_inputs: CalibrationInput) -> Bounds:
    return _PLUG_IN[_distance_interval]


def _wald_interval(inputs: CalibrationInput) -> Bounds:
    """Bound a coefficient of the recalibration line by its sandwich variance."""
    sandwich = _VARIANCES[unwrap_options(inputs.measure)](inputs.tally)
    reach = t_widening(sandwich.freedom, inputs.level) * normal_quantile(inputs.level) * sqrt(sandwich.variance)
    how = "Wald, sandwich (Huber–White) variance, t quantiles"
    where = " within each class" if inputs.tally.reweighed else ""
    return Bounds(inputs.value - reach, inputs.value + reach, how.replace(" variance", f" variance{where}"))


def _observed_expected_interval(inputs: CalibrationInput) -> Bounds:
    r"""Bound O/E by the share of positives, with the variance of :math:`y-\frac OEp`, over the mean probability."""
    tally, mean = inputs.tally, expected_positives(inputs.tally)
    how = "Wilson, with the variance of the ratio"
    if not mean:
        return Bounds(nan, nan, how, "no positives are expected")
    if tally.reweighed:
        least, most, *_ = _mean_interval(inputs._replace(value=mean / tally.total))
        high = tally.prevalence / least if least > 0 else inf
        return Bounds(tally.prevalence / most, high, "from the interval of the mean probability, prevalence known")
    expected = inputs.value * tally.score
    residual = (1 - expected, -expected)
    # Class by class: arrays of both classes at once would be twice as large, and large ones are slow to allocate.
    noise = sum(float(np.sum(row * each**2)) for row, each in zip(tally.squares, residual, strict=True))
    noise /= tally.total**2
    rows = tally.total**2 / float(tally.squares.sum())
    share = proportion_from_variance(tally.prevalence, noise, rows)
    factor = _trial_factor(tally, np.stack(residual), inputs.level) if tally.weighted else 1.0
    low, high = wilson_or_exact(share.hits * factor, share.misses * factor, inputs.level)
    return Bounds(low * tally.total / mean, high * tally.total / mean, how)


def _trial_factor(tally: Tally, slope: Floats, level: float) -> float:
    """Return the factor on effective trials that allows for an estimated variance; 1 for equal weights."""
    # By Cauchy and Schwarz n·Σw² ≥ (Σw)², with equality for equal weights, whose variance needs no allowance.
    rows = float(tally.rows.sum(dtype=np.int64))
    if not tally.weighted or rows * float(tally.squares.sum()) <= (1 + _ROUNDING) * tally.total**2:
        return 1.0
    second = tally.squares * slope**2
    fourth = float(np.nan_to_num(ratio(second**2, np.asarray(tally.rows, dtype=np.float64))).sum())
    part = VarianceComponent(float(second.sum()), fourth, rows)
    return float(1 / t_widening(degrees_of_freedom([part]), level) ** 2)


def _mean_interval(inputs: CalibrationInput) -> Bounds:
    """Bound the mean probability as a proportion with the same variance."""
    tally = inputs.tally
    mean: float | Floats = inputs.value
    how = "Wilson, with the variance of the probabilities"
    if tally.reweighed:  # fixed class shares: only differences within a class are random
        mean = np.nan_to_num(ratio((tally.mass * tally.score).sum(axis=1, keepdims=True), _sum_classes(tally.mass)))
        how = f"{how} within each class"
    squared = np.broadcast_to(np.asarray(distances(tally.score, mean)) ** 2, tally.squares.shape)
    noise = sum(float(np.sum(row * each)) for row, each in zip(tally.squares, squared, strict=True)) / tally.total**2
    share = proportion_from_variance(inputs.value, noise, tally.total**2 / float(tally.squares.sum(dtype=np.float64)))
    has_factor = tally.weighted and not tally.reweighed
    factor = _trial_factor(tally, np.asarray(distances(tally.score, mean)), inputs.level) if has_factor else 1.0
    return Bounds(*wilson_or_exact(share.hits * factor, share.misses * factor, inputs.level), how)


def _sum_classes(cells: Cells) -> Floats:
    return np.asarray(cells.sum(axis=1, keepdims=True), dtype=np.float64)


def _uncertainty_interval(inputs: CalibrationInput) -> Bounds:
    """Bound a function of the prevalence that is highest at ½ and decreases to both sides."""
    tally = inputs.tally
    if tally.reweighed:
        return Bounds(inputs.value, inputs.value, "known")
    rows = tally.total**2 / float(tally.squares.sum())
    low, high = wilson_or_exact(tally.prevalence * rows, (1 - tally.prevalence) * rows, inputs.level)
    at = [low, high, *([0.5] if low < 0.5 < high else [])]
    values = [_UNCERTAINTIES[unwrap_options(inputs.measure)](share) for share in at]
    return Bounds(min(values), max(values), "from the interval of the prevalence")


def _rmsce_interval(inputs: CalibrationInput) -> Bounds:
    r"""Bound the root mean squared gap, from the noncentral χ² distribution of its square.

    In bins with gaps :math:`δ_b`, observed as :math:`d_b` with variance :math:`v_b`, and shares :math:`w_b`,
    :math:`\sum w_bd_b^2` has the mean and the variance of c times a noncentral χ² variable with :math:`\sum w_bv_b/c`
    degrees of freedom, where :math:`c=\sum w_b^2v_b(v_b+2δ_b^2)/\sum w_b(v_b+2δ_b^2)`, after [@satterthwaite1946]. c
    times its noncentrality is the parameter :math:`\sum w_bδ_b^2`.
    """
    how = "noncentral χ²"
    if inputs.tally.reweighed:
        return Bounds(nan, nan, how, "rows were reweighted by class, so bins do not vary as proportions do")
    options = inputs.measure.keywords if isinstance(inputs.measure, partial) else {}
    bins = fill_bins(inputs.tally, **({"by": "mass"} | options))
    # A bin with only positives or only negatives still varies: add half a row of each.
    rate = (bins.rate * bins.rows + 0.5) / (bins.rows + 1)
    several = bins.rows > 1
    share, noise = bins.mass[several] / inputs.tally.total, (rate * (1 - rate) / bins.rows)[several]
    if not len(share):
        return Bounds(nan, nan, how, "no bin has two rows")
    gap = bins.gap[several]
    observed, chance = float(np.sum(share * gap**2)), float(np.sum(share * noise))
    # The excess of the squared gaps over chance adds to the variance; the larger of both scales is conservative.
    real = noise + 2 * gap**2 * max(1 - chance / observed, 0.0) if observed else noise
    scale = max(float(np.sum(share**2 * noise * each) / np.sum(share * each)) for each in (noise, real))
    bounds = _bound_noncentrality(observed / scale, chance / scale, inputs.level)
    low, high = (sqrt(scale * bound) for bound in bounds)
    return Bounds(low, high, how)


def _bound_noncentrality(value: float, freedom: float, level: float) -> tuple[float, float]:
    """Return the noncentralities for which a value of a χ² variable is in neither tail."""
    from scipy.optimize import brentq
    from scipy.special import chndtr

    def bound(below: float) -> float:
        def surplus(noncentrality: float) -> float:
            return float(chndtr(value, freedom, noncentrality)) - below

        # Even a central variable is seldom this low, so no noncentrality fits better than 0.
        if surplus(0.0) <= 0:
            return 0.0
        # So far above the value that the surplus is negative there, as brentq requires.
        most = 2 * value + 100 * sqrt(value + freedom) + 100
        return float(brentq(surplus, 0.0, most))

    if value > _NORMAL_ABOVE:
        z = normal_quantile(level)
        return _normal_limit_noncentrality(value, freedom, z), _normal_limit_noncentrality(value, freedom, -z)
    tail = (1 - level) / 2
    return bound(1 - tail), bound(tail)


def _normal_limit_noncentrality(value: float, freedom: float, z: float) -> float:
    r"""Return the noncentrality λ for which a value lies z standard deviations above its mean, in the normal limit.

    The mean is k + λ and the variance 2k + 4λ; with :math:`s=\sqrt{2k+4λ}` the condition is :math:`s^2/4+zs=x-k/2`.
    """
    spread = 2 * (sqrt(z * z + value - freedom / 2) - z)
    return max((spread * spread - 2 * freedom) / 4, 0.0)


def _discrimination_interval(_inputs: CalibrationInput) -> Bounds:
    return _PLUG_IN[_discrimination_interval]


def _unreliability_interval(_inputs: CalibrationInput) -> Bounds:
    return _PLUG_IN[_unreliability_interval]


def _brier_uncertainty(share: float) -> float:
    return share * (1 - share)


def _binary_entropy(share: float) -> float:
    from scipy.special import entr

    return float(entr(share) + entr(1 - share))


_VARIANCES: Mapping[Measure, Callable[[Tally], Sandwich]] = {
    calibration_intercept: partial(line_sandwich, at=0),
    calibration_slope: partial(line_sandwich, at=1),
    calibration_in_the_large: offset_sandwich,
}
_UNCERTAINTIES: Mapping[Measure, Callable[[float], float]] = {
    brier_uncertainty: _brier_uncertainty,
    log_uncertainty: _binary_entropy,
}
_PLUG_IN: Mapping[object, Bounds] = {
    _distance_interval: Bounds(nan, nan, "plug-in", NULL_REFERENCE_HINT),
    _discrimination_interval: Bounds(nan, nan, "plug-in", OVERFIT_HINT),
    _unreliability_interval: Bounds(nan, nan, "plug-in", CHI_SQUARED_HINT),
}
_INTERVALS: Mapping[Measure, Callable[[CalibrationInput], Bounds]] = {
    **dict.fromkeys(DISTANCES, _distance_interval),
    **dict.fromkeys(_VARIANCES, _wald_interval),
    mean_probability: _mean_interval,
    observed_expected: _observed_expected_interval,
    brier_uncertainty: _uncertainty_interval,
    log_uncertainty: _uncertainty_interval,
    brier_discrimination: _discrimination_interval,
    log_discrimination: _discrimination_interval,
    unreliability_index: _unreliability_interval,
    rmsce_debiased: _rmsce_interval,
}


def simulate_outcomes(tally: Tally, chance: Floats, *, n_simulations: int, seed: Seed) -> Stack:
    """Simulate outcomes: each row is positive with the probability of its score.

    Rows of different weights at one score are simulated as the effective number of rows of equal weight.
    """
    check_n_samples(n_simulations)
    if tally.reweighed:
        return _simulate_outcomes_by_class(tally, chance, n_simulations=n_simulations, seed=seed)
    mass = tally.mass.sum(axis=0, dtype=np.float64)
    trials = np.maximum(np.rint(mass**2 / tally.squares.sum(axis=0, dtype=np.float64)), 1).astype(np.int64)
    single = bool((trials == 1).all())

    def sample(rng: np.random.Generator, many: int) -> Floats:
        shape = (many, len(mass))
        hits = rng.random(shape) < chance if single else rng.binomial(trials, chance, shape)
        return np.asarray(hits * (mass / trials))

    positive = sample_in_blocks(sample, n_samples=n_simulations, seed=seed, size=len(mass))
    return Stack(tally.score, positive, mass - positive, shared=True)


def _simulate_outcomes_by_class(tally: Tally, chance: Floats, *, n_simulations: int, seed: Seed) -> Stack:
    """Simulate outcomes where rows have the weight of their class, and fix the class masses.

    A row that is positive with odds o among the masses is positive with odds o·w₀/w₁ among the rows, where positives
    weigh w₁ and negatives w₀. The masses of the classes are then rescaled to their fixed values.
    """
    mass, squares = (np.asarray(each, dtype=np.float64) for each in (tally.mass, tally.squares))
    totals = mass.sum(axis=1, keepdims=True)
    usual = np.where(totals > 0, ratio(squares.sum(axis=1, keepdims=True), totals), 1.0)
    one, other = np.where(mass > 0, ratio(squares, mass), usual)
    trials = np.maximum(np.rint(ratio(mass, np.stack([one, other])).sum(axis=0)), 1).astype(np.int64)
    odds = ratio(chance * other, chance * other + (1 - chance) * one)

    def sample(rng: np.random.Generator, many: int) -> Floats:
        return rng.binomial(trials, odds, (many, len(trials))).astype(np.float64)

    hits = sample_in_blocks(sample, n_samples=n_simulations, seed=seed, size=len(trials))
    masses = [hits * one, (trials - hits) * other]
    rescaled = [
        each * np.nan_to_num(ratio(whole, each.sum(axis=1, keepdims=True)), posinf=0.0)
        for each, whole in zip(masses, totals, strict=True)
    ]
    return Stack(tally.score, *rescaled)


def simulation_p(value: float, simulated: Floats) -> float:
    """Return the share of simulations that reach a value, which counts as one more simulation, so that p is never 0."""
    # A tolerance, since equal distances may be sums in another order, and differ in the last digits.
    return (1 + int(np.count_nonzero(simulated >= value - 1e-12 * abs(value)))) / (1 + len(simulated))


def is_smallest_p(p: float, simulated: Floats) -> bool:
    """Return whether a p-value is the smallest that this many simulations can show, and so only an upper bound."""
    return p <= 1 / (1 + len(simulated))


N_SIMULATIONS = 1000


@dataclass(frozen=True, slots=True)
class NullReference:
    """Null reference of a distance from calibration.

    Outcomes are simulated many times from the probabilities, as if these were true. `typical` is the median of the
    simulated distances; `low` and `high` are the quantiles 1 − level and level. A value above `high` is more than
    chance; `p` is the share of simulations that reach it.
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
    """Whether no simulation reached the value: p is then the smallest that this many simulations can show."""

    __repr__ = short_repr

    def __bool__(self) -> NoReturn:
        # Every object is true by default, so `assert result` would pass for any result.
        raise UsageError(
            "a NullReference is neither true nor false",
            remedy="check whether chance explains the value: reference.within.",
        )

    @property
    def within(self) -> bool:
        """Return whether chance alone explains the value."""
        return self.value <= self.high


@accepts_predictions("tally", at=1)
def null_reference(
    measure: str | Measure,
    tally: Tally,
    *,
    level: ShareLike = 0.95,
    seed: Seed = 0,
    n_simulations: int = N_SIMULATIONS,
    **predictions: Unpack[PredictionOptions],
) -> NullReference:
    """Compare a distance from calibration with what a perfectly calibrated model of this size would score.

    Parameters
    ----------
    measure
        Name or function of a distance from calibration, such as "ece".
    tally
        Tally of probabilities.
    level
        Level of the quantiles `low` and `high`.
    seed
        Seed or NumPy generator.
    n_simulations
        Number of simulations.

    Returns
    -------
    NullReference
        Value, median and quantiles of the simulations, and a p-value.

    Raises
    ------
    OptionError
        The measure is not a distance from calibration.

    Examples
    --------
    >>> import numpy as np
    >>> from baserate import infer, tally
    >>> rng = np.random.default_rng(1)
    >>> risk = rng.beta(0.5, 0.5, 100)
    >>> reference = infer.null_reference("ece", tally(rng.random(100) < risk, risk))
    >>> f"{reference.value:.2f}; a perfect model: {reference.typical:.2f}, up to {reference.high:.2f}"
    '0.10; a perfect model: 0.09, up to 0.12'
    """
    (reference,) = null_references([as_measure(measure)], tally, level=level, seed=seed, n_simulations=n_simulations)
    return reference


@accepts_predictions("tally", at=1)
def null_references(
    measures: Sequence[Measure],
    tally: Tally,
    *,
    level: ShareLike = 0.95,
    seed: Seed = 0,
    n_simulations: int = N_SIMULATIONS,
    **predictions: Unpack[PredictionOptions],
) -> list[NullReference]:
    """Compute the null references of several measures from the same simulations.

    Parameters
    ----------
    measures
        Functions of distances from calibration.
    tally, level, seed, n_simulations
        Options of `null_reference`.

    Returns
    -------
    list of NullReference
        One for each measure, in the same order.
    """
    level = parse_share(level)
    check_domain("level", level, LEVEL)
    make_generator(seed)  # raises for an invalid seed before any work
    check_probabilities(tally)
    for measure in measures:
        _check_distance(measure)
    if not measures or not tally.total:
        return [NullReference(nan, nan, nan, nan, level, nan, "simulations", "there are no rows") for _ in measures]
    values = _measure_tally(measures, tally)
    pooled = pool_neighbors(tally, measures)
    simulated = measure_stack(measures, simulate_outcomes(pooled, pooled.score, n_simulations=n_simulations, seed=seed))
    if pooled is not tally:
        # Pooling lowers the simulated distances as much as the value: add the difference back.
        with np.errstate(invalid="ignore"):  # infinite values differ by NaN
            pooling_loss = values - _measure_tally(measures, pooled)
        simulated += np.where(np.isfinite(pooling_loss), pooling_loss, 0.0)
    how = f"{count_of(n_simulations, 'simulation')} of a calibrated model"
    return [_make_reference(value, simulated[:, at], level, how) for at, value in enumerate(values.tolist())]


def _measure_tally(measures: Sequence[Measure], tally: Tally) -> Floats:
    """Measure a tally as a stack of one, so that shared preparations are made once."""
    values: Floats = measure_stack(
        measures, Stack(tally.score, tally.positive[None], tally.negative[None], shared=True)
    )[0]
    return values


def _make_reference(value: float, simulated: Floats, level: float, how: str) -> NullReference:
    defined = simulated[~np.isnan(simulated)]
    if isnan(value) or not len(defined):
        reason = "it is undefined" if isnan(value) else "no simulation is defined"
        return NullReference(value, nan, nan, nan, level, nan, how, reason)
    # Samples themselves, since infinite distances cannot be interpolated.
    low, typical, high = np.quantile(defined, [1 - level, 0.5, level], method="higher").tolist()
    p = simulation_p(value, defined)
    return NullReference(value, typical, low, high, level, p, how, p_is_bound=is_smallest_p(p, defined))


def _check_distance(measure: Measure) -> None:
    if unwrap_options(measure) not in DISTANCES:
        names = ", ".join(describe(each).name for each in DISTANCES)
        raise OptionError(
            f"{describe(measure).name} is not a distance from calibration, so it has no null reference",
            remedy=f"choose one of: {names}.",
        )
