"""Few distinct values among many -> small whole numbers, without sorting all of them; and counts of pairs of those."""

from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Cells, Floats

Column = npt.NDArray[Any]
Codes = npt.NDArray[Any]
"""Whole numbers from 0, in the narrowest type that holds them."""

_BLOCK = 1 << 16
"""Entries that fit the cache with what is computed of them."""
_WIDEST = 1 << 16
"""So far apart may whole numbers be to be counted rather than sorted."""
_FEW = 1 << 12
"""So many distinct texts are looked up rather than sorted."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
"""Odd, with bits spread evenly: 2⁶⁴ over the golden ratio."""


def distinct_codes(column: Column) -> tuple[Codes, Column]:
    """Number of each entry among the distinct values, and those in rising order. None of them may be NaN."""
    if column.dtype.kind in "iu" and len(column) and int(column.max()) - int(column.min()) < _WIDEST:
        return _coded_whole(column)
    if column.dtype.kind in "US" and len(column) > _BLOCK:
        found = _coded_text(column)
        if found is not None:
            return found
    distinct, codes = np.unique(column, return_inverse=True)
    return codes.astype(np.min_scalar_type(max(len(distinct) - 1, 0))), distinct


def _coded_whole(column: Column) -> tuple[Codes, Column]:
    """Of whole numbers that lie near each other: their distance from the least, closed up where some are absent."""
    least = int(column.min())
    width = int(column.max()) - least + 1
    codes = np.empty(len(column), dtype=np.min_scalar_type(width - 1))
    there = np.zeros(width, dtype=np.int64)
    for place in _blocks(len(column)):
        # A difference that overflows wraps around, to the same lowest bits.
        np.subtract(column[place], column.dtype.type(least), out=codes[place], casting="unsafe")
        there += np.bincount(codes[place], minlength=width)
    present = np.flatnonzero(there)
    distinct = np.array([least + int(at) for at in present], dtype=column.dtype)
    if len(present) < width:
        number = np.zeros(width, dtype=np.min_scalar_type(len(present) - 1))
        number[present] = np.arange(len(present))
        codes = number[codes]
    return codes, distinct


def _coded_text(column: Column) -> tuple[Codes, Column] | None:
    """Of text of fixed width, few of them distinct: by keys of 64 bits, which are then seen to tell all apart."""
    units = np.ascontiguousarray(column).view(np.uint32 if column.dtype.kind == "U" else np.uint8)
    units = units.reshape(len(column), -1)
    keys = _keys(units)
    known = np.unique(keys[:_BLOCK])
    if len(known) > _FEW:
        return None
    codes = _looked_up(keys, known)
    unseen = known[codes] != keys
    if unseen.any():
        known = np.union1d(known, keys[unseen])
        if len(known) > _FEW:
            return None
        codes = _looked_up(keys, known)
    first = np.full(len(known), -1)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    if not all(np.array_equal(units[first, at][codes], units[:, at]) for at in range(units.shape[1])):
        return None  # two texts share a key
    order = np.argsort(column[first], kind="stable")
    number = np.empty(len(known), dtype=codes.dtype)
    number[order] = np.arange(len(known))
    return number[codes], column[first][order]


def _keys(units: Column) -> npt.NDArray[np.uint64]:
    keys = np.zeros(len(units), dtype=np.uint64)
    for at in range(units.shape[1]):
        keys *= _MIX
        keys += units[:, at]
        keys ^= keys >> np.uint64(32)
    return keys


def _looked_up(keys: npt.NDArray[np.uint64], known: npt.NDArray[np.uint64]) -> Codes:
    """Place of each key among the known ones; of an unknown key, anywhere."""
    codes = np.empty(len(keys), dtype=np.min_scalar_type(len(known) - 1))
    for place in _blocks(len(keys)):
        codes[place] = np.minimum(np.searchsorted(known, keys[place]), len(known) - 1)
    return codes


def pair_counts(first: Codes, second: Codes, width: int) -> Cells:
    """How often each pair of codes below the width occurs: `first` in rows, `second` in columns."""
    counts = np.zeros(width * width, dtype=np.int64)
    for place in _blocks(len(first)):
        counts += np.bincount(_paired(first[place], second[place], width), minlength=width * width)
    return counts.reshape(width, width)


def pair_sums(first: Codes, second: Codes, width: int, amount: Cells) -> Floats:
    """Add up an amount for each pair of codes, in the same form."""
    sums = np.zeros(width * width)
    for place in _blocks(len(first)):
        pairs = _paired(first[place], second[place], width)
        sums += np.bincount(pairs, weights=amount[place], minlength=width * width)
    return sums.reshape(width, width)


def places(codes: Codes, width: int) -> list[npt.NDArray[np.intp]]:
    """Where each code below the width stands, in rising order."""
    order = np.argsort(codes, kind="stable")  # of small whole numbers: a radix sort
    ends = np.cumsum(np.bincount(codes, minlength=width))
    return np.split(order, ends[:-1])


def _paired(first: Codes, second: Codes, width: int) -> npt.NDArray[np.intp]:
    pairs = first.astype(np.intp)
    pairs *= width
    pairs += second
    return pairs


def _blocks(size: int) -> list[slice]:
    return [slice(start, start + _BLOCK) for start in range(0, size, _BLOCK)]
