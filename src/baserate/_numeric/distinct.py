"""Distinct values with counts and sums at each, integer codes, hashes of rows, and float32 values among doubles.

Counting sorts plain integer keys. A nonnegative float64 sorts like its bits read as an integer. Shifting the bits left
by one drops the sign and makes space for a flag, so NumPy's SIMD sort moves the flag along; float32 works the same with
32-bit keys. Negative values are sorted separately, by magnitude. Zeros of both signs become one key.

A text file holds the fewest digits that separate a float32 from its neighbors: 0.1, which is 0.10000000149011612 as a
float32. Read as a double, the digits are another number, slightly above or below; some programs write more digits.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Cells, Floats, Reals, block_slices


def distinct_counts(value: Reals, flag: Bools) -> tuple[Floats, Cells]:
    """Count the true (row 0) and false (row 1) flags at each distinct value of a float32 or float64 array."""
    if len(value) == 0 or value.min() >= 0:
        return _count_nonnegative(value, flag)
    below = value < 0
    upper, upper_counts = _count_nonnegative(value[~below], flag[~below])
    lower, lower_counts = _count_nonnegative(-value[below], flag[below])
    values = np.concatenate([upper, -lower[::-1]])
    del upper, lower
    return values, np.concatenate([upper_counts, lower_counts[:, ::-1]], axis=1)


def _count_nonnegative(magnitude: Reals, flag: Bools) -> tuple[Floats, Cells]:
    """Count flags at each distinct value of an array without negative values."""
    bits, signed = (np.uint64, np.int64) if magnitude.itemsize == 8 else (np.uint32, np.int32)
    # The shift drops the sign bit, so that −0.0 and 0.0 get one key.
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
    ends = _run_ends(key)
    if ends is not None:
        key, counts = key[ends], _flag_counts(counts[0], ends)
    return key.view(magnitude.dtype).astype(np.float64, copy=False), counts


def value_counts(value: Reals) -> tuple[Floats, Cells]:
    """Count the occurrences of each distinct value, descending."""
    ordered: Floats = np.add(np.sort(value)[::-1], 0.0, dtype=np.float64)  # −0.0 becomes 0.0
    ends = _run_ends(ordered)
    if ends is None:
        return ordered, np.ones(len(ordered), dtype=np.uint8)
    return ordered[ends], narrow_integers(np.diff(ends, prepend=-1))


def argsort_descending(value: Reals) -> npt.NDArray[np.intp]:
    """Return the indices that sort finite values in descending order, three times as fast as an argsort.

    The leading bits of each value, with the index in place of the rest, are sorted as plain 64-bit keys. Then only
    values whose leading bits are equal are compared in full.
    """
    index_bits = np.int64(max(len(value) - 1, 1).bit_length())
    bits = value.astype(np.float64, copy=False).view(np.int64)
    # Floats sort like their bits if those of negative ones are flipped; flipped once more, all but the sign, they fall.
    key = np.bitwise_xor(bits >> 63 & np.iinfo(np.int64).max, bits)
    np.invert(key, out=key)
    # Shifts of signed integers keep the sign, and with it the order.
    key >>= index_bits
    key <<= index_bits
    key |= np.arange(len(key))
    key.sort()
    order: npt.NDArray[np.intp] = key & ((np.int64(1) << index_bits) - 1)
    key >>= index_bits
    tied = key[1:] == key[:-1]
    if tied.any():
        # One sort for all runs of ties: the runs themselves already descend, so no entry leaves its run.
        unsure = np.flatnonzero(np.concatenate([tied, [False]]) | np.concatenate([[False], tied]))
        rows = order[unsure]
        order[unsure] = rows[np.argsort(-value[rows])]
    return order


def distinct_sums(value: Reals, flag: Bools, weight: Floats | None, count: Cells | None) -> tuple[Floats, list[Cells]]:
    """Sum weights and repetitions at each distinct value: tables of mass and squares if weighted, then one of rows.

    Each table has true flags in row 0 and false ones in row 1.
    """
    order = argsort_descending(value)
    ordered = value[order]
    ends = _run_ends(ordered)
    distinct = (ordered if ends is None else ordered[ends]).astype(np.float64, copy=False) + 0.0  # −0.0 becomes 0.0
    del ordered  # of 10⁸ rows each of these arrays takes 0.8 GB
    flag = flag[order]
    weight = None if weight is None else weight[order]
    count = None if count is None else count[order]
    del order
    rows = _flag_counts(flag, ends) if count is None else narrow_integers(_flag_sums(count, flag, ends))
    if weight is None:
        return distinct, [rows]
    if count is None and ends is None:
        mass = _flag_sums(weight, flag, ends)
        del weight
        return distinct, [mass, np.square(mass), rows]  # one row in each place
    mass = weight if count is None else weight * count
    return distinct, [_flag_sums(mass, flag, ends), _flag_sums(mass * weight, flag, ends), rows]


def _run_ends(ordered: npt.NDArray[Any]) -> npt.NDArray[np.intp] | None:
    """Return the end of each run of equal values; None if all are distinct."""
    last = np.empty(len(ordered), dtype=np.bool_)
    last[-1:] = True
    np.not_equal(ordered[1:], ordered[:-1], out=last[:-1])
    return None if last.all() else np.flatnonzero(last)


def _flag_counts(flag: npt.NDArray[Any], ends: npt.NDArray[np.intp] | None) -> Cells:
    """Count true and false flags in each run."""
    if ends is None:
        # A view: truth values are stored as the bytes 0 and 1.
        return np.stack([flag, ~flag]).view(np.uint8)
    true = np.diff(np.cumsum(flag, dtype=np.int64)[ends], prepend=0)
    return narrow_integers(np.stack([true, np.diff(ends, prepend=-1) - true]))


def _flag_sums(amount: Cells, flag: Bools, ends: npt.NDArray[np.intp] | None) -> Cells:
    """Sum the amounts with true flags, and those with false flags, in each run."""
    # NumPy adds in the type of `out`: sums of narrow integers in their own type would wrap around.
    wide = np.float64 if amount.dtype.kind == "f" else np.int64
    sums = np.empty((2, len(amount) if ends is None else len(ends)), dtype=wide)
    if ends is None:
        np.multiply(amount, flag, out=sums[0])
        np.subtract(amount, sums[0], out=sums[1])
        return sums
    starts = _run_starts(ends)
    np.add.reduceat(amount * flag, starts, out=sums[0])
    np.add.reduceat(amount * ~flag, starts, out=sums[1])
    return sums


def _run_starts(ends: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    return np.concatenate([[0], ends[:-1] + 1])


def sum_columns(value: Floats, tables: list[Cells]) -> tuple[Floats, list[Cells]]:
    """Sort values descending, and sum the columns of each table where values are equal."""
    # Concatenated tables are a few sorted runs each, which timsort (kind="stable") merges in linear time.
    order = np.argsort(-value, kind="stable")
    ordered = value[order]
    ends = _run_ends(ordered)
    if ends is None:
        return ordered, [table[:, order] for table in tables]
    starts = _run_starts(ends)
    return ordered[starts], [run_sums(table[:, order], starts) for table in tables]


def run_sums(table: Cells, starts: npt.NDArray[np.intp]) -> Cells:
    """Sum the columns from each start to the next; NumPy adds narrow integers in 64 bits, so none wraps around."""
    return narrow_integers(np.add.reduceat(table, starts, axis=1))


def narrow_integers(cells: Cells) -> Cells:
    """Convert integers to the smallest unsigned type that holds them; return floats unchanged."""
    if cells.dtype.kind == "f":
        return cells
    return cells.astype(np.min_scalar_type(cells.max(initial=0)))


Column = npt.NDArray[Any]
Codes = npt.NDArray[Any]
"""Whole numbers from 0, in the narrowest type that holds them."""

_CODE_BLOCK = 1 << 16
"""Entries of a block; larger ones would leave the cache."""
_MAX_RANGE = 1 << 16
"""Range of integers up to which they are counted rather than sorted."""
_MAX_TEXTS = 1 << 12
"""Distinct texts up to which they are looked up rather than sorted."""
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""Odd, with bits spread evenly: 2⁶⁴ over the golden ratio."""


def factorize(column: Column) -> tuple[Codes, Column]:
    """Encode entries as integers: return codes, and the distinct values in ascending order. NaN is not allowed."""
    if column.dtype.kind in "iu" and len(column) and int(column.max()) - int(column.min()) < _MAX_RANGE:
        return _factorize_integers(column)
    if column.dtype.kind in "US" and len(column) > _CODE_BLOCK:
        factorized = _factorize_text(column)
        if factorized is not None:
            return factorized
    distinct, codes = np.unique(column, return_inverse=True)
    return codes.astype(np.min_scalar_type(max(len(distinct) - 1, 0))), distinct


def _factorize_integers(column: Column) -> tuple[Codes, Column]:
    """Encode integers of a small range by their distance from the least, without the absent ones."""
    least = int(column.min())
    width = int(column.max()) - least + 1
    codes = np.empty(len(column), dtype=np.min_scalar_type(width - 1))
    counts = np.zeros(width, dtype=np.int64)
    for place in block_slices(len(column), _CODE_BLOCK):
        # A difference that overflows wraps around, to the same lowest bits.
        np.subtract(column[place], column.dtype.type(least), out=codes[place], casting="unsafe")
        counts += np.bincount(codes[place], minlength=width)
    present = np.flatnonzero(counts)
    distinct = np.array([least + int(at) for at in present], dtype=column.dtype)
    if len(present) < width:
        number = np.zeros(width, dtype=np.min_scalar_type(len(present) - 1))
        number[present] = np.arange(len(present))
        codes = number[codes]
    return codes, distinct


def _factorize_text(column: Column) -> tuple[Codes, Column] | None:
    """Encode text with few distinct values by 64-bit keys; None if there are many, or if two texts share a key."""
    units = np.ascontiguousarray(column).view(np.uint32 if column.dtype.kind == "U" else np.uint8)
    units = units.reshape(len(column), -1)
    keys = _hash_text(units)
    distinct_keys = np.unique(keys[:_CODE_BLOCK])
    if len(distinct_keys) > _MAX_TEXTS:
        return None
    codes = _look_up_keys(keys, distinct_keys)
    unseen = distinct_keys[codes] != keys
    if unseen.any():
        distinct_keys = np.union1d(distinct_keys, keys[unseen])
        if len(distinct_keys) > _MAX_TEXTS:
            return None
        codes = _look_up_keys(keys, distinct_keys)
    first = np.full(len(distinct_keys), -1)
    # Of repeated indices the last assignment wins; in reverse order that is the first occurrence.
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    if not all(np.array_equal(units[first, at][codes], units[:, at]) for at in range(units.shape[1])):
        return None  # two texts share a key
    order = np.argsort(column[first], kind="stable")
    number = np.empty(len(distinct_keys), dtype=codes.dtype)
    number[order] = np.arange(len(distinct_keys))
    return number[codes], column[first][order]


def _hash_text(units: Column) -> npt.NDArray[np.uint64]:
    keys = np.zeros(len(units), dtype=np.uint64)
    # Products wrap around modulo 2⁶⁴, as they should in a hash.
    for at in range(units.shape[1]):
        keys *= _GOLDEN
        keys += units[:, at]
        keys ^= keys >> np.uint64(32)
    return keys


def _look_up_keys(keys: npt.NDArray[np.uint64], distinct_keys: npt.NDArray[np.uint64]) -> Codes:
    """Return the position of each key among the distinct ones; any position for an unknown key."""
    codes = np.empty(len(keys), dtype=np.min_scalar_type(len(distinct_keys) - 1))
    for place in block_slices(len(keys), _CODE_BLOCK):
        codes[place] = np.minimum(np.searchsorted(distinct_keys, keys[place]), len(distinct_keys) - 1)
    return codes


def pair_counts(first: Codes, second: Codes, width: int) -> Cells:
    """Count each pair of codes below the width: `first` in rows, `second` in columns."""
    counts = np.zeros(width * width, dtype=np.int64)
    for place in block_slices(len(first), _CODE_BLOCK):
        counts += np.bincount(_encode_pairs(first[place], second[place], width), minlength=width * width)
    return counts.reshape(width, width)


def pair_sums(first: Codes, second: Codes, width: int, amount: Cells) -> Floats:
    """Sum an amount for each pair of codes below the width."""
    sums = np.zeros(width * width)
    for place in block_slices(len(first), _CODE_BLOCK):
        pairs = _encode_pairs(first[place], second[place], width)
        sums += np.bincount(pairs, weights=amount[place], minlength=width * width)
    return sums.reshape(width, width)


def positions_by_code(codes: Codes, width: int) -> list[npt.NDArray[np.intp]]:
    """List the positions of each code below the width, in ascending order."""
    order = np.argsort(codes, kind="stable")  # a radix sort if codes have 8 or 16 bits
    ends = np.cumsum(np.bincount(codes, minlength=width))
    return np.split(order, ends[:-1])


def _encode_pairs(first: Codes, second: Codes, width: int) -> npt.NDArray[np.intp]:
    pairs = first.astype(np.intp)
    pairs *= width
    pairs += second
    return pairs


Hashes = npt.NDArray[np.uint64]

_MIX_STEPS = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))
_LAST_SHIFT = np.uint64(31)
_INCREMENT = np.uint64(0x9E3779B97F4A7C15)


def hash_rows_unordered(columns: Sequence[npt.NDArray[Any]], times: Cells | None = None) -> int:
    """Sum the hashes of all rows modulo 2⁶⁴, each `times` over; the order of rows does not matter."""
    # A sum rather than an exclusive or, by which two equal rows would cancel.
    rows = hash_rows(columns)
    if times is not None:
        rows *= times.astype(np.uint64)
    return int(rows.sum(dtype=np.uint64))


def hash_rows(columns: Sequence[npt.NDArray[Any]]) -> Hashes:
    """Hash each row over all columns."""
    rows = np.zeros(len(columns[0]), dtype=np.uint64)
    # Mixed after each column: sums of columns alone would not depend on their order.
    for column in columns:
        rows = _mix_bits(rows + _INCREMENT + column.astype(np.uint64, copy=False))
    return rows


def float_bits(column: npt.NDArray[Any]) -> Hashes:
    """Return the bits of floats as integers; zeros of both signs are equal."""
    return (np.asarray(column, dtype=np.float64) + 0.0).view(np.uint64)


def _mix_bits(words: Hashes) -> Hashes:
    """Mix all bits in place, by the finalizer of SplitMix64 [@steele2014]; products wrap around modulo 2⁶⁴."""
    for shift, factor in _MIX_STEPS:
        words ^= words >> shift
        words *= factor
    words ^= words >> _LAST_SHIFT
    return words


_HEAD = 64
"""Numbers checked first: doubles are hardly ever all of single precision."""
_DIGITS = 9
"""Digits that distinguish any two float32."""


def is_single_precision(values: Floats) -> bool:
    """Return whether all numbers are float32, whatever type holds them.

    >>> is_single_precision(np.array([0.5, float(np.float32(0.1))])), is_single_precision(np.array([0.5, 0.1]))
    (True, False)
    """
    with np.errstate(over="ignore"):
        return all(bool((part.astype(np.float32) == part).all()) for part in (values[:_HEAD], values))


def decimal_threshold(value: float) -> float:
    """Return a short decimal that a float32 reaches however it is written, and that no smaller float32 reaches.

    The result is the double of its shortest digits, if that is not above the float32; otherwise the shortest decimal
    below that is nearer to this float32 than to others. So the float32 itself, its shortest digits, and its digits
    rounded to nine or more all reach the result. Digits of a smaller float32 are nearer to that one, and stay below.

    >>> decimal_threshold(float(np.float32(0.1))), float(np.float32(0.1))
    (0.1, 0.10000000149011612)
    >>> decimal_threshold(float(np.float32(0.7))), float(np.float32(0.7))
    (0.69999998, 0.699999988079071)
    """
    from decimal import ROUND_FLOOR, Context, Decimal  # slow to import, and rarely needed

    single = np.float32(value)
    shortest = float(str(single))
    if shortest <= value:
        return shortest
    # Rounded down: a decimal above the float32 would exclude the float32 itself.
    exact = Decimal(value)
    for digits in range(1, _DIGITS + 1):
        decimal = float(Context(prec=digits, rounding=ROUND_FLOOR).plus(exact))
        with np.errstate(over="ignore"):
            if decimal <= value and np.float32(decimal) == single:
                return decimal
    return value


def separate_precisions(thresholds: Floats, score: Floats) -> Floats:
    """Lower thresholds among float32 scores, so that they separate these scores and their decimal digits alike.

    Thresholds that are not float32 stay unchanged; so do all thresholds if the scores are not of single precision. A
    lowered threshold flags the same scores as before.

    >>> separate_precisions(np.array([np.inf, np.float32(0.1), 0.2]), np.array([0.1, 0.3], dtype=np.float32)).tolist()
    [inf, 0.1, 0.2]
    """
    if not is_single_precision(score):
        return thresholds
    with np.errstate(over="ignore"):
        narrow = np.isfinite(thresholds) & (thresholds.astype(np.float32) == thresholds)
    return np.array([decimal_threshold(at) if own else at for at, own in zip(thresholds.tolist(), narrow, strict=True)])
