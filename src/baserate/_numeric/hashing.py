"""Hashes of rows that do not depend on their order."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Cells

Words = npt.NDArray[np.uint64]

_STEPS = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))
_LAST = np.uint64(31)
_ODD = np.uint64(0x9E3779B97F4A7C15)


def rows_hashed(columns: Sequence[npt.NDArray[Any]], times: Cells | None = None) -> int:
    """Sum over rows, modulo 2⁶⁴, of a hash of all words of a row; each row as many times as it says."""
    rows = each_hashed(columns)
    if times is not None:
        rows *= times.astype(np.uint64)
    return int(rows.sum(dtype=np.uint64))


def each_hashed(columns: Sequence[npt.NDArray[Any]]) -> Words:
    """Hash of all words of each row; equal rows have equal ones."""
    rows = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        rows = _mixed(rows + _ODD + column.astype(np.uint64, copy=False))
    return rows


def of_floats(column: npt.NDArray[Any]) -> Words:
    """Words of numbers; both zeros are one."""
    return (np.asarray(column, dtype=np.float64) + 0.0).view(np.uint64)


def _mixed(words: Words) -> Words:
    """Spread every bit over all others, by the finaliser of SplitMix64 [@steele2014]."""
    for shift, factor in _STEPS:
        words ^= words >> shift
        words *= factor
    words ^= words >> _LAST
    return words
