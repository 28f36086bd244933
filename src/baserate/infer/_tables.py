"""Draws of the cells of a table, for any measure of `Counts` or `Confusion`: as quick for a billion rows as for ten."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from baserate._arrays import Floats, make_read_only, ratio
from baserate._confusion import Confusion
from baserate._counts import Counts
from baserate.infer._draws import Seed, checked_seed, masses
from baserate.measure import Measure

Way = Literal["draws", "stratified", "bootstrap"]
"""Everybody drawn anew, with half a row more in each cell; the same within each true class; or rows drawn again."""

DRAWS = 10_000
_MOST = 4_000_000
"""Numbers drawn for one table of many classes; so many draws fewer."""
_LEAST = 1000
_PRIOR = 2.0
"""Rows that are added before drawing, spread over all cells: half a row each for a table of four [@jeffreys1946]."""


class Cells(NamedTuple):
    """A table as plain tuples, by which draws can be remembered."""

    mass: tuple[float, ...]
    squares: tuple[float, ...]
    classes: int

    @staticmethod
    def of(noun: Counts[float] | Confusion) -> "Cells":
        if isinstance(noun, Confusion):
            return Cells(_flat(noun.mass), _flat(noun.squares.mass), len(noun.labels))
        mass, squares = (_flat([[c.tp, c.fn], [c.fp, c.tn]]) for c in (noun, noun.squares))
        return Cells(mass, squares, 2)


def drawn(measure: Measure, noun: Counts[float] | Confusion, *, way: Way, seed: Seed, filled: bool = True) -> Floats:
    """Values of a measure at random tables; unless they are to be filled, empty cells stay so."""
    values: Floats = measure(_as_nouns(noun, simulate_tables(noun, way=way, seed=seed, filled=filled)))
    return values


def simulate_tables(noun: Counts[float] | Confusion, *, way: Way, seed: Seed, filled: bool = True) -> Floats:
    """Random tables of shape (draws, K, K), truth in rows."""
    cells = Cells.of(noun)
    # The same table is asked about by one measure after the other.
    return _remembered(cells, way, seed, filled) if isinstance(seed, int) else _tables(cells, way, seed, filled)


def has_empty_cells(noun: Counts[float] | Confusion) -> bool:
    """Whether a cell of a 2×2 table is empty: then it may be that it always is, or that it was so by chance."""
    return isinstance(noun, Counts) and not all((noun.tp, noun.fp, noun.fn, noun.tn))


def how(way: Way) -> str:
    """What was drawn."""
    return {
        "draws": "Dirichlet draws of the cells",
        "stratified": "Dirichlet draws of the cells within each class",
        "bootstrap": "bootstrap draws of the cells",
    }[way]


def _flat(cells: Any) -> tuple[float, ...]:  # noqa: ANN401  (whatever an array takes)
    return tuple(np.ravel(cells).tolist())


def _tables(cells: Cells, way: Way, seed: Seed, filled: bool) -> Floats:  # noqa: FBT001  (remembered by place)
    """Random tables of shape (draws, K, K), truth in rows, with as much mass as there was."""
    rng = checked_seed(seed)
    size = (cells.classes, cells.classes)
    mass, squares = (np.reshape(each, size) for each in (cells.mass, cells.squares))
    draws = max(min(DRAWS, _MOST // mass.size), _LEAST)
    if way == "bootstrap":
        return make_read_only(_again(rng, draws, mass, squares))
    if way == "stratified":
        # In rows of each class's own usual weight: half a row of another class might outweigh all of it.
        mass, squares = in_own_rows(mass, squares)
    made = masses(rng, draws, mass, squares, prior=_PRIOR / mass.size)
    if not filled:
        made *= mass > 0
    made[made < 1e-12 * mass.sum()] = 0.0
    axes = -1 if way == "stratified" else (-2, -1)
    # A class that was not there stays away.
    whole = np.reshape(cells.mass, size).sum(axis=axes, keepdims=True)
    made *= np.nan_to_num(ratio(whole, made.sum(axis=axes, keepdims=True)))
    return make_read_only(made)


def in_own_rows(mass: Floats, squares: Floats, *, axis: int = -1) -> tuple[Floats, Floats]:
    """Masses and squared weights in units of the usual weight of each class, whose cells lie along an axis."""
    whole = mass.sum(axis=axis, keepdims=True)
    usual = np.where(whole > 0, ratio(squares.sum(axis=axis, keepdims=True), whole), 1.0)
    return mass / usual, squares / usual**2


_remembered: Callable[[Cells, Way, int, bool], Floats] = lru_cache(maxsize=4)(_tables)


def _again(rng: np.random.Generator, draws: int, mass: Floats, squares: Floats) -> Floats:
    """Rows drawn with replacement; of weighted ones, masses of that mean and variance."""
    if (mass == squares).all() and (mass == np.trunc(mass)).all():
        found = rng.multinomial(int(mass.sum()), mass.ravel() / mass.sum(), size=draws)
        return found.reshape(draws, *mass.shape).astype(np.float64)
    return masses(rng, draws, mass, squares)


def _as_nouns(noun: Counts[float] | Confusion, drawn: Floats) -> Counts[Floats] | Confusion:
    if isinstance(noun, Confusion):
        return Confusion(drawn, noun.labels)
    return Counts(*(make_read_only(drawn[:, at, to].copy()) for at, to in ((0, 0), (1, 0), (0, 1), (1, 1))))
