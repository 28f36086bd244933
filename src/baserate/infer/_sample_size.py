r"""Sample size: the answer and its search, normal tests and their power, and simulated sizes for any measure.

Half-width is half the distance between the ends of the interval, which need not lie evenly about the value. It belongs
to the interval of a sample with exactly the expected value, fractions of rows included, so it decreases steadily with
the number of rows and the smallest sufficient number is well defined.

A test at level α that compares a difference Δ with its standard error has power
:math:`Φ\big((|Δ|-z_α\sqrt{V_0})/\sqrt{V_A}\big)`, where V₀ is the variance under the null hypothesis and V_A the
variance under the alternative. V decreases as 1/rows, so the rows needed are
:math:`((z_α\sqrt{v_0}+z_β\sqrt{v_A})/Δ)^2`. Two-sided tests use the quantile of α/2 and ignore rejections on the wrong
side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, isfinite, nan, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._domains import HALF_WIDTH, LEVEL, SAMPLES, SHARE, ShareLike, check_domain, parse_share
from baserate._errors import OptionError, keyword
from baserate._formatting import count_of
from baserate._population import Population
from baserate._rendering import Renderable, short_repr
from baserate._tally import Tally
from baserate.infer._bootstrap import Seed, make_generator
from baserate.measure import Measure, as_measure, describe
from baserate.read import accepts_words

MAX_ROWS = 10**12
"""Largest feasible number of rows."""
_ROWS_PER_CLASS = 2
"""Rows of each class below which no AUC has a variance."""


@dataclass(frozen=True, slots=True)
class SampleSize(Renderable):
    """Rows that a study needs, and the half-width or power that they reach.

    Numbers of positives and negatives are those expected at the prevalence.

    >>> from baserate.infer import sample_size_for_proportion
    >>> size = sample_size_for_proportion("sensitivity", 0.9, half_width=0.05, prevalence=0.1)
    >>> size.rows, size.trials, size.among, round(size.half_width, 4), size.how
    (1410, 141, 'positives', 0.05, 'Wilson')
    """

    rows: int
    positives: int | None
    """None without a prevalence."""
    negatives: int | None
    trials: int | None = None
    """Rows that are trials of a proportion."""
    among: str = "rows"
    """Kind of rows that are trials."""
    samples: int = 1
    """Number of samples of that size: two where each of two models has its own."""
    half_width: float | None = None
    power: float | None = None
    error: float | None = None
    """Standard error of a simulated half-width."""
    how: str = ""

    __repr__ = short_repr


def make_size(rows: int, prevalence: float | None, **others: Any) -> SampleSize:  # noqa: ANN401  (other fields)
    """Make the answer with the expected numbers of both classes; raise if it exceeds any feasible number of rows."""
    check_feasible(rows)
    if prevalence is None:
        return SampleSize(rows, None, None, **others)
    # An exact fraction of the typed decimal: round(rows * 0.1) would be off where the product rounds across a half.
    positives = round(rows * Fraction(str(float(prevalence))))
    return SampleSize(rows, positives, rows - positives, **others)


def check_feasible(rows: float) -> None:
    """Raise if a study would need more rows than any can have."""
    if rows > MAX_ROWS:
        raise OptionError(
            f"more than {MAX_ROWS:.0e} rows would be needed",
            remedy="accept a wider interval, a lower power or a greater difference.",
        )


def min_rows(prevalence: float, each: int = _ROWS_PER_CLASS) -> int:
    """Return the rows in which that many of each class are expected."""
    rarer = Fraction(str(float(prevalence)))
    return ceil(each / min(rarer, 1 - rarer))


def find_smallest(holds: Callable[[int], bool], start: int) -> int:
    """Find the smallest number from `start` on for which a monotone condition holds."""
    low, high = start - 1, start
    while not holds(high):
        low, high = high, 2 * high
        check_feasible(high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def find_smallest_near(holds: Callable[[int], bool], guess: int, least: int) -> int:
    """Find the smallest number of at least `least` for which a monotone condition holds, starting near a guess."""
    low = guess
    while low > least and holds(low):
        low //= 2
    return find_smallest(holds, max(low, least))


_EXAMPLES = {"expect": "0.8", "null": "0.5", "prevalence": "0.1", "flag_rate": "0.1", "power": "0.9", "alpha": "0.05"}


def check_shares(**values: float) -> None:
    """Raise unless all values, named by their option, lie strictly between 0 and 1."""
    for name, value in values.items():
        check_domain(name, value, SHARE._replace(example=_EXAMPLES[name]))


def check_half_width(value: float) -> None:
    """Raise unless the value is a feasible half-width of an interval in [0, 1]."""
    if not HALF_WIDTH.holds(value) or value >= 0.5:
        raise OptionError(
            f"half_width is {value!r}; expected a number from 1e-9 to below 0.5.",
            remedy="Give, for example, 0.03.",
            option="half_width",
            value=value,
        )


Sides = Literal[1, 2]


def quantile_of_test(alpha: float, sides: Sides) -> float:
    """Return the normal quantile of a test at that level."""
    from scipy.special import ndtri

    check_shares(alpha=alpha)
    describe_sides(sides)
    return -float(ndtri(alpha / sides))


def describe_sides(sides: Sides) -> str:
    """Describe the sides of a test; raise for anything but 1 and 2."""
    if sides not in (1, 2):
        raise OptionError(f"sides is {sides!r}; expected 1 or 2.", option="sides", value=sides)
    return "one-sided" if sides == 1 else "two-sided"


def check_power(power: float, alpha: float) -> float:
    """Return the power; raise if it does not exceed alpha."""
    check_shares(power=power)
    if power <= alpha:
        raise OptionError(
            f"power is {power}, which every test reaches by chance at {keyword('alpha', alpha)}.",
            remedy="Give a higher power, for example 0.9.",
            option="power",
            value=power,
        )
    return power


def check_differ(**values: float) -> None:
    """Raise if both values, named by their options, are equal: no study could show a difference."""
    if len(set(values.values())) == 1:
        raise OptionError(f"{' and '.join(values)} are both {next(iter(values.values()))}; expected different values.")


def normal_power(difference: float, zero: float, real: float, *, z: float) -> float:
    """Return the power of a normal test of a difference with those variances."""
    from scipy.special import ndtr

    margin = abs(difference) - z * sqrt(zero)
    return float(ndtr(margin / sqrt(real))) if real > 0 else float(margin > 0)


def normal_sample_size(difference: float, zero: float, real: float, *, z: float, power: float) -> float:
    """Return the rows that a normal test needs, fractions included, given the variances of a single row."""
    from scipy.special import ndtri

    return max((z * sqrt(zero) + float(ndtri(power)) * sqrt(real)) / abs(difference), 0.0) ** 2


_N_COUNTS, _N_SAMPLES = 20_000, 2000
"""Samples of each size, of counts and of rows."""
_MAX_ROWS_PER_SIZE = 8_000_000
"""Rows sampled for one size; where fewer than 400 samples would fit, smaller samples are simulated and scaled."""
_MIN_SAMPLES = 400
_MIN_RARE = 10
"""Rows of the rarer class that a sample should hold."""
_MIN_RARE_NOTE = "no fewer than ten rows of the rarer class"
_ROUNDS = 8
_BATCHES = 10

Sampler = Callable[[np.random.Generator, int, int], Floats]
"""Function of a generator, rows and a number of samples that returns the measure of each sample."""


def sample_size_by_simulation(  # noqa: PLR0913  (each is an assumption or a goal of the study)
    population: Population,
    measure: str | Measure,
    half_width: float,
    *,
    threshold: float | None = None,
    level: ShareLike = 0.95,
    n_simulations: int | None = None,
    seed: Seed = 0,
) -> SampleSize:
    r"""Find the rows needed to estimate any measure of a population to within a half-width, by simulation.

    Half-width is half the distance h between the quantiles (1 ± level)/2 of the measure over samples. It is simulated
    at sizes n that close in on the answer, each by regression on :math:`1/\sqrt n` through those near it, until new
    samples of that size reach the half-width up to their standard error. The relative standard error of the rows is
    about twice that of the half-width, or :math:`2/\sqrt m` for m samples.

    Measures of decisions take 20,000 samples of counts; others take 2000 samples of rows, or fewer if they are large.
    Samples of more than 20,000 rows, or of more than twice the rows that contain ten of the rarer class, are not
    simulated: the half-width of smaller ones is scaled. Samples in which the measure is undefined are omitted; at least
    ten rows of the rarer class are expected.

    Measures of probabilities, such as the Brier score, the calibration slope or the ratio O/E, are those of a
    calibrated model: each score is replaced by its posterior probability at the prevalence of the population. With
    prevalence φ, O/E then has variance :math:`E[p(1-p)]/(nφ^2)`, at most :math:`(1-φ)/(nφ)`: that bound is the formula
    of [@riley2021], which takes the expected number E as fixed and so requires more rows.

    Parameters
    ----------
    population
        Population to sample from.
    measure
        Name or function of a measure.
    half_width
        Half-width of the interval.
    threshold
        Threshold of measures of decisions.
    level
        Confidence level.
    n_simulations
        Number of samples of each size.
    seed
        Seed or NumPy generator.

    Returns
    -------
    Size
        Rows of each class, the simulated half-width and its standard error.

    Raises
    ------
    OptionError
        The measure does not fit a population of two classes, or is undefined in too many samples.

    Examples
    --------
    >>> from baserate import population
    >>> size = sample_size_by_simulation(population.linear(), "accuracy", 0.03, threshold=0.5)  # z²·0.75·0.25/h² = 800
    >>> 720 < size.rows < 880
    True
    >>> size = sample_size_by_simulation(population.binormal(prevalence=0.1), "observed_expected", 0.2)
    >>> 600 < size.rows < 865  # 864.3 = (1 − φ)/φ · (1.96/0.2)²
    True
    >>> size.how
    '2000 simulated samples of a calibrated model'
    """
    level = parse_share(level)
    function = as_measure(measure)
    check_domain("level", level, LEVEL)
    check_domain("half_width", half_width, HALF_WIDTH)
    if n_simulations is not None:
        fewest = SAMPLES._replace(low=_MIN_SAMPLES, words=f"a whole number from {_MIN_SAMPLES} to {SAMPLES.high:,}")
        check_domain("n_simulations", n_simulations, fewest)
    check_shares(prevalence=population.prevalence)
    least = ceil(_MIN_RARE / min(population.prevalence, 1 - population.prevalence))
    counted = describe(function).of is Counts
    work = _Simulation(
        _make_sampler(population, function, threshold),
        n_simulations or (_N_COUNTS if counted else _N_SAMPLES),
        MAX_ROWS if counted else max(_MAX_ROWS_PER_SIZE // _MIN_SAMPLES, 2 * least),
        level,
        make_generator(seed),
    )
    rows, last = _search_rows(work, half_width, least)
    if not isfinite(last.half):
        raise OptionError(
            f"{describe(function).name} is undefined or infinite in too many samples, even of {rows:.0e} rows",
            remedy="choose another measure or threshold.",
        )
    parts = [
        *_describe_simulation(last, rows, calibrated=describe(function).of is Tally),
        *([_MIN_RARE_NOTE] if rows == least else []),
    ]
    return make_size(rows, population.prevalence, **last.scale_to(rows), how=", ".join(parts))


class _SimulatedWidth(NamedTuple):
    """Half-width of simulated samples of one size."""

    rows: int
    half: float
    error: float
    """Standard error of the half-width."""
    n_samples: int
    undefined: int

    def scale_to(self, rows: int) -> dict[str, float]:
        """Return the half-width and its standard error, scaled to that many rows."""
        factor = sqrt(self.rows / rows)
        return {"half_width": self.half * factor, "error": self.error * factor}


@dataclass(frozen=True, slots=True)
class _Simulation:
    """Sampler, number and largest size of samples, and level of the half-width."""

    sampler: Sampler
    n_samples: int
    most: int
    level: float
    rng: np.random.Generator

    def simulate(self, rows: int) -> _SimulatedWidth:
        """Simulate samples of that size, or of the largest size allowed."""
        size = min(rows, self.most)
        # A table of counts costs the same for any number of rows.
        many = (
            self.n_samples
            if self.most == MAX_ROWS
            else max(min(self.n_samples, _MAX_ROWS_PER_SIZE // size), _MIN_SAMPLES)
        )
        # One after the other: distributions of scipy.stats are not thread-safe while they sample.
        values = self.sampler(self.rng, size, many)
        halves = np.array([self._half(batch) for batch in np.array_split(values, _BATCHES)])
        with np.errstate(invalid="ignore"):
            error = float(np.std(halves, ddof=1) / sqrt(_BATCHES))
        return _SimulatedWidth(size, self._half(values), error, many, int(np.isnan(values).sum()))

    def _half(self, values: Floats) -> float:
        """Return half the distance of the quantiles; infinite if the measure is undefined in most samples."""
        defined = values[~np.isnan(values)]
        if len(defined) < len(values) / 2:
            return inf
        tail = (1 - self.level) / 2
        with np.errstate(invalid="ignore"):
            low, high = np.quantile(defined, (tail, 1 - tail), method="hazen")
            return float(high - low) / 2 if isfinite(high - low) else inf


def _make_sampler(population: Population, measure: Measure, threshold: float | None) -> Sampler:
    """Return a sampler: of the four counts at once for decisions, otherwise row by row."""
    info = describe(measure)
    if info.of is Counts:
        if threshold is None:
            raise OptionError(f"{info.name} requires a threshold", remedy=f"give {keyword('threshold')}.")
        at = population.at(threshold)
        cells = np.array([at.tp, at.fp, at.fn, at.tn])
        cells /= cells.sum()

        def simulate_counts(rng: np.random.Generator, rows: int, samples: int) -> Floats:
            tables = rng.multinomial(rows, cells, size=samples).T.astype(np.float64)
            values: Floats = np.asarray(measure(Counts(*tables)), dtype=np.float64)
            return values

        return simulate_counts
    if info.of not in (Curve, Tally):
        raise OptionError(f"{info.name} is a measure of several classes; a population has two.")
    if threshold is not None:
        raise OptionError(
            f"{info.name} is a measure over all thresholds",
            remedy=f"leave {keyword('threshold')} out.",
            option="threshold",
            value=threshold,
        )

    def simulate_rows(rng: np.random.Generator, rows: int, samples: int) -> Floats:
        return np.array([_measure_sample(population, measure, rows, rng) for _ in range(samples)])

    return simulate_rows


def _measure_sample(population: Population, measure: Measure, rows: int, rng: np.random.Generator) -> float:
    probabilities = describe(measure).of is Tally
    truth, score = population.draw_calibrated(rows, rng) if probabilities else population.draw(rows, rng)
    # Most measures need both classes: without one, the sample counts as undefined.
    if not 0 < np.count_nonzero(truth) < rows:
        return nan
    tally = Tally.of_rows(truth, score)
    return float(measure(tally if probabilities else Curve(tally)))


def _search_rows(work: _Simulation, half_width: float, least: int) -> tuple[int, _SimulatedWidth]:
    """Simulate at sizes ever nearer to the answer, until one reaches the half-width up to its standard error."""
    rows, widths = max(1000, least), list[_SimulatedWidth]()
    for _ in range(_ROUNDS):
        last = work.simulate(rows)
        widths.append(last)
        width = last.scale_to(rows)
        if abs(width["half_width"] - half_width) <= width["error"] or (rows == least and last.half <= half_width):
            break
        rows = _solve_rows(widths, half_width, least)
    else:
        rows = max(rows, least)
        last = work.simulate(rows)
    return rows, last


def _solve_rows(widths: list[_SimulatedWidth], half_width: float, least: int) -> int:
    r"""Solve :math:`h=k/\sqrt n` for the rows n that reach a half-width, with k from all sizes near the last."""
    last = widths[-1]
    near = [each for each in widths if isfinite(each.half) and 1 / 2 <= each.rows / last.rows <= 2]
    weight = sum(each.n_samples for each in near)
    if not weight:  # undefined or infinite in too many samples
        rows = 10 * last.rows
    else:
        k = sum(each.n_samples * each.half * sqrt(each.rows) for each in near) / weight
        rows = ceil((k / half_width) ** 2)
    check_feasible(rows)
    return max(rows, least)


def _describe_simulation(last: _SimulatedWidth, rows: int, *, calibrated: bool) -> Iterator[str]:
    yield count_of(last.n_samples, "simulated sample") + " of a calibrated model" * calibrated
    if last.rows != rows:
        yield f"of {count_of(last.rows, 'row')}, scaled"
    if last.undefined:
        yield f"{last.undefined} of them undefined and left out"


@accepts_words
def sample_size_for_observed_expected(
    half_width: float, *, prevalence: ShareLike, level: ShareLike = 0.95
) -> SampleSize:
    """Calculate the rows for an interval of the ratio of observed to expected positives, with the latter known.

    The standard error of ln(O/E) is √((1 − π)/(nπ)), and near 1 it is that of O/E [@riley2021]. Where the expected
    number varies too, `sample_size_by_simulation` requires fewer rows.

    Parameters
    ----------
    half_width : float
        Half-width of the interval.
    prevalence : float
        Prevalence of the rows.
    level : float, default 0.95
        Confidence level.

    Returns
    -------
    SampleSize
        Rows, with the expected numbers of both classes.

    Examples
    --------
    >>> sample_size_for_observed_expected(0.2, prevalence=0.1).rows
    865
    """
    prevalence, level = parse_share(prevalence), parse_share(level)
    from scipy.special import ndtri

    check_domain("half_width", half_width, HALF_WIDTH)
    check_domain("prevalence", prevalence, SHARE)
    check_domain("level", level, LEVEL)
    error = half_width / float(ndtri((1 + level) / 2))
    rows = ceil((1 - prevalence) / (prevalence * error**2))
    return make_size(rows, prevalence, half_width=half_width, how="normal, expected number known")
