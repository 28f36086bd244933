"""Null references: what a perfectly calibrated model of the same size would score, by simulated outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import NoReturn

import numpy as np

from baserate._arrays import Floats, ratio
from baserate._errors import OptionError, UsageError
from baserate._formatting import count_of
from baserate._tally import Stack, Tally
from baserate.infer._bootstrap import Seed, check_n_samples, measure_stack, pool_neighbors, sample_in_blocks
from baserate.infer._calibration_intervals import DISTANCES
from baserate.infer._estimate import EstimateRequest
from baserate.measure import Measure, as_measure, check_probabilities, describe, unwrap_options


def simulate_outcomes(tally: Tally, chance: Floats, *, draws: int, seed: Seed) -> Stack:
    """Simulate outcomes: each row is positive with the probability of its score.

    Rows of different weights at one score are simulated as the effective number of rows of equal weight.
    """
    check_n_samples(draws)
    if tally.reweighed:
        return _simulate_outcomes_by_class(tally, chance, draws=draws, seed=seed)
    mass = tally.mass.sum(axis=0, dtype=np.float64)
    trials = np.maximum(np.rint(mass**2 / tally.squares.sum(axis=0, dtype=np.float64)), 1).astype(np.int64)
    single = bool((trials == 1).all())

    def sample(rng: np.random.Generator, many: int) -> Floats:
        shape = (many, len(mass))
        hits = rng.random(shape) < chance if single else rng.binomial(trials, chance, shape)
        return np.asarray(hits * (mass / trials))

    positive = sample_in_blocks(sample, draws=draws, seed=seed, size=len(mass))
    return Stack(tally.score, positive, mass - positive, shared=True)


def _simulate_outcomes_by_class(tally: Tally, chance: Floats, *, draws: int, seed: Seed) -> Stack:
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

    hits = sample_in_blocks(sample, draws=draws, seed=seed, size=len(trials))
    masses = [hits * one, (trials - hits) * other]
    rescaled = [
        each * np.nan_to_num(ratio(whole, each.sum(axis=1, keepdims=True)), posinf=0.0)
        for each, whole in zip(masses, totals, strict=True)
    ]
    return Stack(tally.score, *rescaled)


def simulation_p(value: float, draws: Floats) -> float:
    """Return the share of simulations that reach a value, which counts as one more simulation, so that p is never 0."""
    return (1 + int(np.count_nonzero(draws >= value - 1e-12 * abs(value)))) / (1 + len(draws))


def is_smallest_p(p: float, draws: Floats) -> bool:
    """Return whether a p-value is the smallest that this many simulations can show, and so only an upper bound."""
    return p <= 1 / (1 + len(draws))


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

    def __bool__(self) -> NoReturn:
        # Every object is true by default, so `assert result` would pass for any result.
        raise UsageError(
            "a NullReference is neither true nor false",
            remedy="ask whether chance explains the value: reference.within.",
        )

    @property
    def within(self) -> bool:
        """Return whether chance alone explains the value."""
        return self.value <= self.high


def null_reference(
    measure: str | Measure, tally: Tally, *, level: float = 0.95, seed: Seed = 0, draws: int = N_SIMULATIONS
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
    draws
        Number of simulations.

    Returns
    -------
    Floor
        Value, median and quantiles of the simulations, and a p-value.

    Raises
    ------
    OptionError
        The measure is no distance from calibration.

    Examples
    --------
    >>> import numpy as np
    >>> from baserate import infer, tally
    >>> rng = np.random.default_rng(1)
    >>> risk = rng.beta(0.5, 0.5, 100)
    >>> found = infer.null_reference("ece", tally(rng.random(100) < risk, risk))
    >>> f"{found.value:.2f}; a perfect model: {found.typical:.2f}, up to {found.high:.2f}"
    '0.10; a perfect model: 0.09, up to 0.12'
    """
    (reference,) = null_references([as_measure(measure)], tally, level=level, seed=seed, draws=draws)
    return reference


def null_references(
    measures: Sequence[Measure], tally: Tally, *, level: float = 0.95, seed: Seed = 0, draws: int = N_SIMULATIONS
) -> list[NullReference]:
    """Compute the null references of several measures from the same simulations.

    Parameters
    ----------
    measures
        Functions of distances from calibration.
    tally
        Tally of probabilities.
    level
        Level of the quantiles `low` and `high`.
    seed
        Seed or NumPy generator.
    draws
        Number of simulations.

    Returns
    -------
    list of Floor
        One for each measure, in the same order.
    """
    EstimateRequest(level, None, seed)
    check_probabilities(tally)
    for measure in measures:
        _check_distance(measure)
    if not measures or not tally.total:
        return [NullReference(nan, nan, nan, nan, level, nan, "draws", "there are no rows") for _ in measures]
    values = _measure_tally(measures, tally)
    pooled = pool_neighbors(tally)
    simulated = measure_stack(measures, simulate_outcomes(pooled, pooled.score, draws=draws, seed=seed))
    if pooled is not tally:
        # Pooling lowers the simulated distances as much as the value: add the difference back.
        with np.errstate(invalid="ignore"):  # infinite values differ by NaN
            pooling_loss = values - _measure_tally(measures, pooled)
        simulated += np.where(np.isfinite(pooling_loss), pooling_loss, 0.0)
    how = f"{count_of(draws, 'draw')} of what happens if the probabilities are right"
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
        reason = "it is undefined" if isnan(value) else "no draw is defined"
        return NullReference(value, nan, nan, nan, level, nan, how, reason)
    low, typical, high = np.quantile(defined, [1 - level, 0.5, level], method="higher").tolist()
    p = simulation_p(value, defined)
    return NullReference(value, typical, low, high, level, p, how, p_is_bound=is_smallest_p(p, defined))


def _check_distance(measure: Measure) -> None:
    if unwrap_options(measure) not in DISTANCES:
        names = ", ".join(describe(each).name for each in DISTANCES)
        raise OptionError(
            f"{describe(measure).name} is no distance from calibration, so it has no floor; these have: {names}."
        )
