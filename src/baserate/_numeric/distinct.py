"""Distinct values, descending, with what lies at each: one sort, no comparison function, no index array if unweighted.

A float64 that is not negative has a clear sign bit and sorts like its bits read as a whole number. Shifting
the bits left by one drops the sign and makes room for a flag, so that sorting plain 64-bit keys, which NumPy does with
SIMD instructions, carries the flag along; float32 works the same with 32-bit keys. Negative values are sorted apart, by
magnitude. Two zeros that differ in sign become one key.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Cells, Floats, Reals


def distinct_counts(value: Reals, flag: Bools) -> tuple[Floats, Cells]:
    """Count the true (row 0) and false (row 1) flags at each distinct value of a float32 or float64 array."""
    if len(value) == 0 or value.min() >= 0:
        return _counted(value, flag)
    below = value < 0
    upper, upper_counts = _counted(value[~below], flag[~below])
    lower, lower_counts = _counted(-value[below], flag[below])
    values = np.concatenate([upper, -lower[::-1]])
    del upper, lower
    return values, np.concatenate([upper_counts, lower_counts[:, ::-1]], axis=1)


def _counted(magnitude: Reals, flag: Bools) -> tuple[Floats, Cells]:
    """Do the same for values ≥ 0."""
    bits, signed = (np.uint64, np.int64) if magnitude.itemsize == 8 else (np.uint32, np.int32)
    key = np.left_shift(magnitude.view(bits), bits(1))
    key |= flag
    # With all bits but the highest flipped, the largest key is the least signed number, and comes first.
    flip = bits(np.iinfo(signed).max)
    key ^= flip
    key.view(signed).sort()
    key ^= flip
    counts = np.empty((2, len(key)), dtype=np.uint8)
    counts[0] = key  # the lowest byte
    counts[0] &= 1
    np.subtract(1, counts[0], out=counts[1])
    key >>= bits(1)
    ends = _ends(key)
    if ends is not None:
        key, counts = key[ends], _flag_counts(counts[0], ends)
    return key.view(magnitude.dtype).astype(np.float64, copy=False), counts


def occurrences(value: Reals) -> tuple[Floats, Cells]:
    """Count how often each distinct value occurs."""
    ordered: Floats = np.add(np.sort(value)[::-1], 0.0, dtype=np.float64)  # −0.0 becomes 0.0
    ends = _ends(ordered)
    if ends is None:
        return ordered, np.ones(len(ordered), dtype=np.uint8)
    return ordered[ends], narrowest(np.diff(ends, prepend=-1))


def descending(value: Reals) -> npt.NDArray[np.intp]:
    """Indices that put finite values in falling order, three times as fast as an argsort.

    The leading bits of a value, with the index in place of the rest, are sorted as plain 64-bit keys; then only values
    whose leading bits are equal are compared in full.
    """
    index_bits = np.int64(max(len(value) - 1, 1).bit_length())
    bits = value.astype(np.float64, copy=False).view(np.int64)
    # Floats sort like their bits if those of negative ones are flipped; flipped once more, all but the sign, they fall.
    key = np.bitwise_xor(bits >> 63 & np.iinfo(np.int64).max, bits)
    np.invert(key, out=key)
    key >>= index_bits
    key <<= index_bits
    key |= np.arange(len(key))
    key.sort()
    order: npt.NDArray[np.intp] = key & ((np.int64(1) << index_bits) - 1)
    key >>= index_bits
    alike = key[1:] == key[:-1]
    if alike.any():
        unsure = np.flatnonzero(np.concatenate([alike, [False]]) | np.concatenate([[False], alike]))
        rows = order[unsure]
        order[unsure] = rows[np.argsort(-value[rows])]
    return order


def distinct_sums(value: Reals, flag: Bools, weight: Floats | None, count: Cells | None) -> tuple[Floats, list[Cells]]:
    """Sum weights and repetitions at each distinct value: a table of rows, before it mass and squares if weighted.

    Each table has true flags in row 0 and false ones in row 1.
    """
    order = descending(value)
    ordered = value[order]
    ends = _ends(ordered)
    distinct = (ordered if ends is None else ordered[ends]).astype(np.float64, copy=False) + 0.0  # −0.0 becomes 0.0
    del ordered
    flag = flag[order]
    weight = None if weight is None else weight[order]
    count = None if count is None else count[order]
    del order
    rows = _flag_counts(flag, ends) if count is None else narrowest(_flag_sums(count, flag, ends))
    if weight is None:
        return distinct, [rows]
    if count is None and ends is None:
        mass = _flag_sums(weight, flag, ends)
        del weight
        return distinct, [mass, np.square(mass), rows]  # one row in each place
    mass = weight if count is None else weight * count
    return distinct, [_flag_sums(mass, flag, ends), _flag_sums(mass * weight, flag, ends), rows]


def _ends(ordered: npt.NDArray[Any]) -> npt.NDArray[np.intp] | None:
    """Where each run of equal values ends; None when no two are equal."""
    last = np.empty(len(ordered), dtype=np.bool_)
    last[-1:] = True
    np.not_equal(ordered[1:], ordered[:-1], out=last[:-1])
    return None if last.all() else np.flatnonzero(last)


def _flag_counts(flag: npt.NDArray[Any], ends: npt.NDArray[np.intp] | None) -> Cells:
    """How many flags are true and how many false, in each run."""
    if ends is None:
        return np.stack([flag, ~flag]).view(np.uint8)
    true = np.diff(np.cumsum(flag, dtype=np.int64)[ends], prepend=0)
    return narrowest(np.stack([true, np.diff(ends, prepend=-1) - true]))


def _flag_sums(amount: Cells, flag: Bools, ends: npt.NDArray[np.intp] | None) -> Cells:
    """Sum of the amounts whose flag is true, and of those whose flag is false, in each run."""
    sums = np.empty((2, len(amount) if ends is None else len(ends)), dtype=amount.dtype)
    if ends is None:
        np.multiply(amount, flag, out=sums[0])
        np.subtract(amount, sums[0], out=sums[1])
        return sums
    starts = _starts(ends)
    np.add.reduceat(amount * flag, starts, out=sums[0])
    np.add.reduceat(amount * ~flag, starts, out=sums[1])
    return sums


def _starts(ends: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    return np.concatenate([[0], ends[:-1] + 1])


def summed_columns(value: Floats, tables: list[Cells]) -> tuple[Floats, list[Cells]]:
    """Sort values descending and add up the columns of each table where values are equal."""
    # Concatenated tables are a few sorted runs each, which timsort (kind="stable") merges in linear time.
    order = np.argsort(-value, kind="stable")
    ordered = value[order]
    ends = _ends(ordered)
    if ends is None:
        return ordered, [table[:, order] for table in tables]
    starts = _starts(ends)
    return ordered[starts], [run_sums(table[:, order], starts) for table in tables]


def run_sums(table: Cells, starts: npt.NDArray[np.intp]) -> Cells:
    """Sum of the columns from each start to the next. NumPy adds narrow whole numbers in 64 bits: none wraps around."""
    return narrowest(np.add.reduceat(table, starts, axis=1))


def narrowest(cells: Cells) -> Cells:
    """Whole numbers in the smallest unsigned type that holds them; floats as they are."""
    if cells.dtype.kind == "f":
        return cells
    return cells.astype(np.min_scalar_type(cells.max(initial=0)))
