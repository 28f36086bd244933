"""What else might have been seen: random masses with the mean and variance of those that were.

A sum of weights w of independent rows, as many as chance brings, has mean Σw and variance Σw². So has a gamma variable
of shape (Σw)²/Σw² and scale Σw²/Σw: of a single row, its weight times an exponential variable, which is the Bayesian
bootstrap [@rubin1981]; of counted cells, divided by their sum, a Dirichlet variable.
"""

from collections.abc import Callable
from numbers import Integral

import numpy as np

from baserate._arrays import Cells, Floats, ratio
from baserate._domains import DRAWS, MEMORY, check_domain, check_memory
from baserate._errors import OptionError
from baserate._numeric.threads import mapped

Seed = int | np.random.Generator
Make = Callable[[np.random.Generator, int], Floats]
"""With a generator and a number of draws, makes an array with one entry (or row) for each of them."""

_BLOCK = 1 << 18
"""Numbers drawn at once: they fit the cache."""

_DIGITS = 9


def in_blocks(make: Make, *, draws: int, seed: Seed, size: int) -> Floats:
    """Make all draws, each of so many numbers, several blocks of them at once where that pays.

    Every block has a generator of its own, so the result depends on the seed alone, not on the number of threads.
    """
    each = min(max(_BLOCK // max(size, 1), 1), draws)
    sizes = [each] * (draws // each) + [draws % each] * bool(draws % each)
    generators = checked_seed(seed).spawn(len(sizes))

    def done(at: int) -> Floats:
        return make(generators[at], sizes[at])

    first: list[Floats] = []
    if size * draws > MEMORY // 8:  # what is kept may be less than what is drawn: the first block tells
        first = [done(0)]
        kept = first[0][0].size
        check_memory(f"keeping {draws} draws of {kept} numbers", 2.0 * draws * kept, "Give fewer draws")
    return np.concatenate(first + mapped(done, range(len(first), len(sizes)), size=size * draws))


def checked_seed(seed: Seed) -> np.random.Generator:
    """Return a generator; what is neither that nor a seed is refused."""
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, Integral) and not isinstance(seed, bool) and seed >= 0:
        return np.random.default_rng(int(seed))
    raise OptionError(f"seed is {seed!r}; give a whole number of 0 or more, or a generator of NumPy.")


def checked_draws(draws: int) -> None:
    """Refuse what is no number of draws."""
    check_domain("draws", draws, DRAWS)


def masses(rng: np.random.Generator, draws: int, mass: Cells, squares: Cells, *, prior: float = 0.0) -> Floats:
    """Random masses of shape (draws, *mass.shape) with that mean and with variance `squares`.

    `prior` adds so many rows of the usual weight to each cell before drawing; cells of nothing stay empty without it.
    """
    usual = float(ratio(float(squares.sum()), float(mass.sum()))) if prior else 1.0
    weight = np.where(mass > 0, ratio(np.asarray(squares, dtype=np.float64), np.asarray(mass, np.float64)), usual)
    shape = rows_worth(mass, weight) + prior
    return rng.standard_gamma(shape, (draws, *np.shape(mass))) * weight


def rows_worth(mass: Cells, weight: Floats) -> Floats:
    """Rows of that weight that make up a mass, rounded: of a single row 1, whatever the unit of weights.

    Generators draw exponential variables where it is 1, and by other means a hair beside it.
    """
    return np.round(mass / weight, _DIGITS)


def percentiles(draws: Floats, level: float) -> tuple[float, float]:
    """Low and high ends of the middle of the draws: draws themselves, so that they may be infinite."""
    tail = (1 - level) / 2
    return float(np.quantile(draws, tail, method="lower")), float(np.quantile(draws, 1 - tail, method="higher"))
