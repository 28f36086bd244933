"""Bootstrap: random masses of tables, tallies and rows, Bayesian or of rows with replacement.

A sum of weights w of independent rows, whose number is random, has mean Σw and variance Σw². So has a gamma variable of
shape (Σw)²/Σw² and scale Σw²/Σw. For a single row that is its weight times an exponential variable, the Bayesian
bootstrap [@rubin1981]; for counted cells, divided by their sum, a Dirichlet variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from inspect import unwrap
from numbers import Integral
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from baserate._arrays import Cells, Floats, make_read_only, ratio
from baserate._curve import Curve
from baserate._domains import MEMORY, SAMPLES, check_domain, check_memory
from baserate._errors import OptionError
from baserate._numeric.cumulative import parallel_map
from baserate._numeric.distinct import narrow_integers, run_sums
from baserate._tally import Stack, Tally
from baserate.measure import (
    BIN_MEASURES,
    DISTANCE_MEASURES,
    LINE_MEASURES,
    Measure,
    bin_starts,
    calibration_distances,
    check_probabilities,
    describe,
    fill_bins,
    fit_recalibration,
    unwrap_options,
)

Seed = int | np.random.Generator
Sampler = Callable[[np.random.Generator, int], Floats]
"""Function of a generator and a number of samples that returns an array with one entry (or row) for each."""

_BLOCK = 1 << 18
"""Numbers sampled at once, which fit the cache."""

_DIGITS = 9


def sample_in_blocks(sampler: Sampler, *, n_samples: int, seed: Seed, size: int) -> Floats:
    """Run a sampler in blocks, in several threads where that pays.

    Every block has a generator of its own, so the result depends on the seed alone, not on the number of threads.
    """
    each = min(max(_BLOCK // max(size, 1), 1), n_samples)
    sizes = [each] * (n_samples // each) + [n_samples % each] * bool(n_samples % each)
    # spawn counts the generators it made, so a second call with the same generator object gives other samples.
    generators = make_generator(seed).spawn(len(sizes))

    def sample_block(at: int) -> Floats:
        return sampler(generators[at], sizes[at])

    first: list[Floats] = []
    if size * n_samples > MEMORY // 8:  # results may be smaller than samples: the first block shows
        first = [sample_block(0)]
        numbers = first[0][0].size
        check_memory(
            f"keeping {n_samples} samples of {numbers} numbers",
            2.0 * n_samples * numbers,
            "Reduce the number of samples",
        )
    return np.concatenate(first + parallel_map(sample_block, range(len(first), len(sizes)), size=size * n_samples))


def make_generator(seed: Seed) -> np.random.Generator:
    """Return a generator from a seed or a generator; raise for anything else."""
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, Integral) and not isinstance(seed, bool) and seed >= 0:
        return np.random.default_rng(int(seed))
    raise OptionError(
        f"seed is {seed!r}",
        remedy="give a whole number of 0 or more, or a generator of NumPy.",
        option="seed",
        value=seed,
    )


def check_n_samples(n_samples: int, name: str = "n_simulations") -> None:
    """Raise unless the option is a valid number of samples."""
    check_domain(name, n_samples, SAMPLES)


def sample_masses(
    rng: np.random.Generator, n_samples: int, mass: Cells, squares: Cells, *, prior: float = 0.0
) -> Floats:
    """Sample masses of shape (n_samples, *mass.shape) with that mean and with variance `squares`.

    `prior` adds that many rows of the usual weight to each cell; without it, empty cells stay empty.
    """
    usual = float(ratio(float(squares.sum()), float(mass.sum()))) if prior else 1.0
    weight = np.where(mass > 0, ratio(np.asarray(squares, dtype=np.float64), np.asarray(mass, np.float64)), usual)
    shape = effective_rows(mass, weight) + prior
    return rng.standard_gamma(shape, (n_samples, *np.shape(mass))) * weight


def effective_rows(mass: Cells, weight: Floats) -> Floats:
    """Return the number of rows of that weight in a mass, rounded: 1 for a single row, whatever the unit of weights."""
    # Rounded, since the shape of a gamma variable of 1 − 1e-16 is sampled by another algorithm than that of 1.
    return np.round(mass / weight, _DIGITS)


def percentiles(samples: Floats, level: float) -> tuple[float, float]:
    """Return the ends of the middle of the samples: samples themselves, since these may be infinite."""
    tail = (1 - level) / 2
    return float(np.quantile(samples, tail, method="lower")), float(np.quantile(samples, 1 - tail, method="higher"))


N_BUCKETS = 4096
"""Largest number of distinct scores; beyond it, neighbors are pooled."""
N_BIN_BUCKETS = 512
"""Buckets in which probabilities are nearly equal, so that simulated sums of bins vary as those of single rows."""
_STEP = 0.01
_CHUNK = 1 << 16
"""Numbers measured at a time, which fit the cache."""


def pool_neighbors(tally: Tally, measures: Sequence[Measure] = ()) -> Tally:
    """Pool neighboring scores of a large tally under their mean score, into buckets of about equal mass.

    Where all measures are those of bins, buckets are larger, but none crosses an edge: bins keep their sums.
    """
    if len(tally.score) <= N_BUCKETS:
        return tally
    mass = tally.mass.sum(axis=0, dtype=np.float64)
    if measures and all(unwrap_options(each) in BIN_MEASURES for each in measures):
        edges = [_bin_edges(tally.score, mass, each) for each in measures]
        starts = np.unique(np.concatenate([_bucket_starts(mass, N_BIN_BUCKETS), *edges]))
    else:
        starts = _bucket_starts(mass, N_BUCKETS)
    score = np.add.reduceat(mass * tally.score, starts) / np.add.reduceat(mass, starts)
    if not (np.diff(score) < 0).all():  # means of very close scores may round to equal numbers
        score = tally.score[starts]
    return _pool_cells(tally, starts, score)


def _bucket_starts(mass: Floats, n_buckets: int) -> npt.NDArray[np.intp]:
    """Return where buckets of about equal mass begin; some may be empty, and are left out."""
    before = np.cumsum(mass)
    levels = before[-1] / n_buckets * np.arange(1, n_buckets)
    return np.unique(np.concatenate([[0], np.searchsorted(before, levels)]))


def _bin_edges(score: Floats, mass: Floats, measure: Measure) -> npt.NDArray[np.intp]:
    """Return where the bins of a measure begin, in scores that fall."""
    options = _read_options(measure)
    rising = bin_starts(score[::-1], mass[::-1], bins=options["bins"], by=options["by"])
    # Bins that are empty at either end begin where the scores do, or behind them.
    return np.setdiff1d(len(score) - rising, [len(score)])


def _pool_cells(tally: Tally, starts: npt.NDArray[np.intp], score: Floats) -> Tally:
    """Sum the cells of each bucket; counted rows share one array, which marks a tally as unweighted."""
    tables = [make_read_only(run_sums(cells, starts)) for cells in (tally.mass, tally.squares, tally.rows)]
    mass, squares, rows = tables if tally.weighted else [tables[2]] * 3
    return Tally(make_read_only(score), mass, squares, rows, tally.resolution, reweighed=tally.reweighed)


def coarsen_smoother(measure: Measure) -> Measure:
    """Return a measure with fewer points of its local regression, which is enough for samples of a smooth curve."""
    if unwrap_options(measure) not in DISTANCE_MEASURES:
        return measure
    return partial(measure, step=max(float(_read_options(measure)["step"]), _STEP))


def measure_stack(measures: Sequence[Measure], stack: Stack) -> Floats:
    """Measure every tally of a stack: a row for each tally, a column for each measure."""
    columns: dict[Measure, Floats] = {}
    rest = list(measures)
    for family, prepare in _FAMILIES:
        # With shared masses one smoothing matrix serves all samples; else chunks that fit the cache are quicker.
        parts = [stack] if family is DISTANCE_MEASURES and stack.shared else list(_split_stack(stack))
        for members in _group_by_options(rest, family):
            prepared = [prepare(part, _read_options(members[0])) for part in parts]
            columns |= {
                each: np.concatenate(
                    [family[unwrap_options(each)](*ready, **_final_options(each)) for ready in prepared]
                )
                for each in members
            }
        rest = [each for each in rest if each not in columns]
    columns |= {each: np.concatenate([each(part) for part in _split_stack(stack)]) for each in rest}
    return np.stack([columns[measure] for measure in measures], axis=-1)


def _group_by_options(measures: Sequence[Measure], family: Mapping[Measure, Any]) -> list[list[Measure]]:
    """Group the members of a family that have the same options."""
    groups: dict[str, list[Measure]] = {}
    for measure in measures:
        if unwrap_options(measure) in family:
            groups.setdefault(repr(_read_options(measure)), []).append(measure)
    return list(groups.values())


_FINAL = ("quantile",)
"""Options of how prepared numbers are summarized, which do not change the preparation."""


def _read_options(measure: Measure) -> dict[str, Any]:
    """Return the options of a measure's preparation, including its defaults."""
    return {name: value for name, value in _all_options(measure).items() if name not in _FINAL}


def _final_options(measure: Measure) -> dict[str, Any]:
    return {name: value for name, value in _all_options(measure).items() if name in _FINAL}


def _all_options(measure: Measure) -> dict[str, Any]:
    """Return the options of a measure, including its defaults."""
    keywords = measure.keywords if isinstance(measure, partial) else {}
    return (unwrap(unwrap_options(measure)).__kwdefaults__ or {}) | keywords


def _split_stack(stack: Stack) -> Iterator[Stack]:
    step = max(_CHUNK // max(len(stack.score), 1), 1)
    for start in range(0, len(stack.positive), step):
        place = slice(start, start + step)
        yield replace(stack, positive=stack.positive[place], negative=stack.negative[place])


_FAMILIES: tuple[tuple[Mapping[Measure, Any], Callable[[Stack, dict[str, Any]], tuple[Any, ...]]], ...] = (
    (DISTANCE_MEASURES, lambda stack, options: calibration_distances(stack, **options)),
    (BIN_MEASURES, lambda stack, options: (fill_bins(stack, **options),)),
    (LINE_MEASURES, lambda stack, _options: (fit_recalibration(stack), stack)),
)
"""Measures that share a preparation, and the function that prepares it."""


BootstrapScheme = Literal["resample", "stratified", "bootstrap"]
"""Bayesian bootstrap; Bayesian bootstrap within each class; or bootstrap of rows with replacement."""

N_BOOTSTRAP = 1000
EXACT_ROWS = 100_000
"""Rows up to which no scores are pooled."""
_MULTINOMIAL_ROWS = 10
"""Rows for each score and class above which a multinomial sample is cheaper."""
N_MOMENT_SAMPLES = 500
"""Samples that suffice for a mean and a variance."""


def bootstrap_values(
    measure: Measure, tally: Tally, *, way: BootstrapScheme, seed: Seed, n_samples: int = N_BOOTSTRAP
) -> Floats:
    """Sample values of a measure; for very many rows, those of pooled scores, shifted to the value of all scores."""
    if describe(measure).stacks:
        return bootstrap_measures([measure], tally, way=way, seed=seed, n_samples=n_samples)[:, 0]
    pooled = pool_scores(tally)
    value_of = partial(evaluate_tally, measure)
    resample = make_resampler(pooled, way)

    def sample(rng: np.random.Generator, samples: int) -> Floats:
        return np.array([value_of(resample(rng)) for _ in range(samples)])

    values = sample_in_blocks(sample, n_samples=n_samples, seed=seed, size=pooled.mass.size)
    return values if pooled is tally else values + (value_of(tally) - value_of(pooled))


def bootstrap_measures(
    measures: Sequence[Measure], tally: Tally, *, way: BootstrapScheme, seed: Seed, n_samples: int = N_BOOTSTRAP
) -> Floats:
    """Sample values of several measures that take stacks, from the same bootstrap samples: a column for each."""
    check_probabilities(tally)
    pooled = pool_neighbors(tally) if tally.rows.sum(dtype=np.int64) > EXACT_ROWS else tally
    resample = _make_stack_resampler(pooled, way)
    coarse = [coarsen_smoother(measure) for measure in measures]
    usual = float(tally.squares.sum()) / tally.total if tally.weighted else 1.0

    def sample(rng: np.random.Generator, samples: int) -> Floats:
        return measure_stack(coarse, Stack(pooled.score, *resample(rng, samples), weight=usual))

    values = sample_in_blocks(sample, n_samples=n_samples, seed=seed, size=pooled.mass.size)
    shifts = [float(measure(tally)) - float(other(pooled)) for measure, other in zip(measures, coarse, strict=True)]
    return values + shifts


def describe_bootstrap(tally: Tally, way: BootstrapScheme, *, exact: int = EXACT_ROWS) -> str:
    """Describe the bootstrap scheme."""
    schemes = {
        "resample": "Bayesian bootstrap",
        "stratified": "Bayesian bootstrap within each class",
        "bootstrap": "bootstrap" if not tally.weighted else "Bayesian bootstrap",
    }
    where = f" on {N_BUCKETS} buckets of equal mass" if pool_scores(tally, exact=exact) is not tally else ""
    return f"samples of a {schemes[way]}{where}"


def pool_scores(tally: Tally, *, exact: int = EXACT_ROWS) -> Tally:
    """Pool neighboring scores of a large tally until few are left, each with about the same mass."""
    if len(tally.score) <= N_BUCKETS or tally.rows.sum(dtype=np.int64) <= exact:
        return tally
    starts = _bucket_starts(tally.mass.sum(axis=0, dtype=np.float64), N_BUCKETS)
    # Labelled by its lowest score, a bucket is flagged exactly where all of its rows are.
    return _pool_cells(tally, starts, tally.score[np.append(starts[1:], len(tally.score)) - 1])


def evaluate_tally(measure: Measure, tally: Tally) -> float:
    """Evaluate a measure of curves or tallies."""
    return float(measure(Curve(tally) if describe(measure).of is Curve else tally))


def make_resampler(tally: Tally, way: BootstrapScheme) -> Callable[[np.random.Generator], Tally]:
    """Return a function that makes a tally with the same scores and random masses."""
    occupied = np.flatnonzero(tally.mass)
    if way == "bootstrap" and not tally.weighted:
        return _make_row_resampler(tally, occupied)
    mass = tally.mass.ravel()[occupied].astype(np.float64)
    weight = tally.squares.ravel()[occupied] / mass
    shape = effective_rows(mass, weight)
    # A gamma variable of shape 1 is exponential, which is sampled faster.
    single = bool((shape == 1).all())
    totals = np.array([tally.positives, tally.negatives])[:, None]

    def resample(rng: np.random.Generator) -> Tally:
        masses = np.zeros(tally.mass.size)
        masses[occupied] = (rng.standard_exponential(len(shape)) if single else rng.standard_gamma(shape)) * weight
        cells = masses.reshape(2, -1)
        if way == "stratified":
            cells *= np.nan_to_num(ratio(totals, cells.sum(axis=1, keepdims=True)))  # a class may be empty
        # Squares and rows are placeholders: measures read the mass alone.
        return Tally(tally.score, make_read_only(cells), tally.rows, tally.rows)

    return resample


def _make_stack_resampler(
    tally: Tally, way: BootstrapScheme
) -> Callable[[np.random.Generator, int], tuple[Floats, Floats]]:
    """Return a function that makes random masses of both classes, a row for each sample."""
    rows = len(tally.score)
    if way != "bootstrap" or tally.weighted or tally.rows.sum(dtype=np.int64) != rows:
        resample = make_resampler(tally, way)

        def sample(rng: np.random.Generator, samples: int) -> tuple[Floats, Floats]:
            masses = [resample(rng).mass for _ in range(samples)]
            positive, negative = (np.stack([mass[row] for mass in masses]).astype(np.float64) for row in (0, 1))
            return positive, negative

        return sample
    true = tally.positive

    def sample_distinct(rng: np.random.Generator, samples: int) -> tuple[Floats, Floats]:
        """Sample where every row has a distinct score, so that a row is a place and needs no lookup."""
        places = rng.integers(0, rows, (samples, rows))
        # One bincount for all samples: adding multiples of the rows keeps their places apart.
        places += np.arange(samples)[:, None] * rows
        times = np.bincount(places.ravel(), minlength=samples * rows).reshape(samples, rows).astype(np.float64)
        positive = times * true
        return positive, np.subtract(times, positive, out=times)

    return sample_distinct


def _make_row_resampler(tally: Tally, occupied: npt.NDArray[np.intp]) -> Callable[[np.random.Generator], Tally]:
    """Return a function that samples rows with replacement."""
    rows = int(tally.rows.sum(dtype=np.int64))
    if rows == len(tally.score):
        return _make_distinct_resampler(tally)
    if rows > _MULTINOMIAL_ROWS * len(occupied):
        return _make_multinomial_resampler(tally, occupied, rows)
    cell = np.repeat(occupied, tally.rows.ravel()[occupied])

    def resample(rng: np.random.Generator) -> Tally:
        cells = cell[rng.integers(0, rows, rows)]
        counts: Cells = np.bincount(cells, minlength=tally.mass.size).reshape(2, -1)
        return Tally.from_counts(tally.score, make_read_only(narrow_integers(counts)))

    return resample


def _make_multinomial_resampler(
    tally: Tally, occupied: npt.NDArray[np.intp], rows: int
) -> Callable[[np.random.Generator], Tally]:
    """Return a resampler for many rows of each score: sample the number of each kind, not each row."""
    share = tally.rows.ravel()[occupied] / rows

    def resample(rng: np.random.Generator) -> Tally:
        counts = np.zeros(tally.mass.size, dtype=np.int64)
        counts[occupied] = rng.multinomial(rows, share)
        return Tally.from_counts(tally.score, make_read_only(narrow_integers(counts.reshape(2, -1))))

    return resample


def _make_distinct_resampler(tally: Tally) -> Callable[[np.random.Generator], Tally]:
    """Return a resampler for rows with distinct scores, where a row is a place and needs no lookup."""
    positive = tally.rows[0]
    rows = len(positive)

    def resample(rng: np.random.Generator) -> Tally:
        times = narrow_integers(np.bincount(rng.integers(0, rows, rows), minlength=rows))
        counts = np.empty((2, rows), dtype=times.dtype)
        np.multiply(times, positive, out=counts[0])
        np.subtract(times, counts[0], out=counts[1])
        return Tally.from_counts(tally.score, make_read_only(counts))

    return resample
