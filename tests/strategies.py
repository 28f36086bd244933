"""Data for laws: small, tied, negative, tiny and huge."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

import baserate
from baserate import Counts, Curve, Tally

Array = npt.NDArray[Any]

few = st.sampled_from([-2.0, -0.5, -0.0, 0.0, 5e-324, 0.25, 0.5, 0.75, 1.0])
"""Few values, so that most scores are tied."""
real = st.floats(allow_nan=False, allow_infinity=False)
probability = st.floats(0, 1) | st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0])


class Rows(NamedTuple):
    truth: Array
    score: Array


@st.composite
def rows(draw: st.DrawFn, score: st.SearchStrategy[float] = few | real, max_size: int = 30, min_size: int = 1) -> Rows:
    """Draw rows of truth and score."""
    size = draw(st.integers(min_size, max_size))
    truth = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    values = draw(st.lists(score, min_size=size, max_size=size))
    return Rows(np.array(truth, dtype=bool), np.array(values, dtype=float))


def like(data: Rows, values: st.SearchStrategy[float]) -> st.SearchStrategy[Array]:
    """Return a strategy for another column of the same rows."""
    size = len(data.truth)
    return st.lists(values, min_size=size, max_size=size).map(np.array)


cell = st.integers(0, 4) | st.integers(0, 10**9)


@st.composite
def tables(draw: st.DrawFn, cell: st.SearchStrategy[float] = cell) -> Counts[float]:
    """Draw 2×2 tables, whose cells are often zero."""
    return Counts(*(draw(cell) for _ in range(4)))


def measure_argument(of: type, tally: Tally) -> Counts[Any] | Curve | Tally:
    """Return the argument of a measure from a tally: tables at all thresholds, a curve, or the tally."""
    if of is Tally:
        return tally
    curve = baserate.curve(tally)
    return curve if of is Curve else curve.counts


def same(first: object, second: object, *, within: float = 0.0) -> bool:
    """Return whether numbers are equal, NaN to NaN, within a relative error."""
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if within == 0:
        return np.array_equal(a, b, equal_nan=True)
    return a.shape == b.shape and np.allclose(a, b, rtol=within, atol=within, equal_nan=True)
