"""One column at a time: what is asked of truth, scores, weights and counts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Cells, Floats, Reals
from baserate._errors import MissingValuesError, NotBinaryError, NotNumericError, OptionError, ShapeError, WeightError
from baserate.read._labels import listed, ordered, refuse_absent, refuse_ambiguous, refuse_mixed

Column = npt.NDArray[Any]

_LARGEST_EXACT = 2**53
"""Whole numbers up to here are exact in a float64."""

SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-140, 1e140
"""Squares of these, and sums of many of them, are ordinary float64 numbers."""


_BAD_WEIGHTS = {
    "negative": ("negative; a row counts for zero or more.", "Set them to 0 to leave those rows out."),
    "fractional": (
        "not whole; a count is a number of identical rows.",
        "Pass sampling or importance weights as weight= instead.",
    ),
    "extreme": (
        f"above {LARGEST_WEIGHT:g} or below {SMALLEST_WEIGHT:g}, too far from 1 to be squared;",
        "divide all of them by a common number.",
    ),
}


def checked_truth(truth: object, positive: object) -> Bools:
    """Truth as booleans, the positive class named or safely inferred."""
    column = _column("truth", truth)
    if column.dtype.kind == "O":
        _refuse_missing("truth", missing_objects(column))
        refuse_mixed(_labels(column))
    elif column.dtype.kind == "f":
        _refuse_missing("truth", np.isnan(column))
    return _inferred(column) if positive is None else _matched(column, positive)


def checked_scores(score: object) -> Reals:
    """Scores as contiguous float32 or float64, finite."""
    column = _numbers("score", score)
    _refuse_not_finite("score", column)
    return column


def checked_weights(weight: object, *, name: str = "weight") -> Floats:
    """Weights as float64, finite and ≥ 0."""
    column = _numbers(name, weight).astype(np.float64, copy=False)
    _refuse_not_finite(name, column)
    refuse_weights(name, "negative", int(np.count_nonzero(column < 0)), len(column))
    if len(column) and (column.min() < SMALLEST_WEIGHT or column.max() > LARGEST_WEIGHT):
        extreme = (column > LARGEST_WEIGHT) | ((column > 0) & (column < SMALLEST_WEIGHT))
        refuse_weights(name, "extreme", int(np.count_nonzero(extreme)), len(column))
    return column


def checked_counts(count: object, *, name: str = "count") -> Cells:
    """Counts as int64, whole and ≥ 0."""
    column = checked_weights(count, name=name)
    refuse_weights(name, "fractional", int(np.count_nonzero(column != np.trunc(column))), len(column))
    refuse_many(name, column)
    return column.astype(np.int64)


def refuse_weights(name: str, what: str, bad: int, total: int) -> None:
    """Say what is wrong with some weights or counts, if any are bad."""
    if bad:
        told, remedy = _BAD_WEIGHTS[what]
        raise WeightError(f"{bad} of {total} values of {name} are {told} {remedy}")


def refuse_many(name: str, count: Cells) -> None:
    """Refuse counts whose sum a float64 cannot hold exactly."""
    if count.sum() > _LARGEST_EXACT:
        raise WeightError(
            f"{name} adds up to more than 2⁵³ rows, which cannot be counted exactly; pass it as weight= instead."
        )


def as_column(name: str, given: object) -> Column:
    """One dimension, whatever it was given as; what is masked comes out bare."""
    try:
        column = np.asarray(given)
    except ValueError as error:
        raise ShapeError(f"{name} is a list of lists of different lengths; give one value for each row.") from error
    if column.dtype.kind in "US" and not hasattr(given, "dtype"):
        # NumPy writes [1, "1"] as two equal texts; keep what the list really held.
        column = np.asarray(given, dtype=object)
    if column.ndim != 1:
        raise ShapeError(
            f"{name} has shape {column.shape}; expected one column with one value for each row. "
            f"{_remedy_of_shape(name, given, column.shape)}"
        )
    return column


def _remedy_of_shape(name: str, given: object, shape: tuple[int, ...]) -> str:
    """Advise how to take one column: a list of arrays holds one for each model, a table one for each class."""
    if len(shape) != 2 or not all(shape):
        return "Give a list or 1-d array."
    if shape[0] == 1:
        return f"Take its only row, {name}[0]."
    if shape[0] < shape[1] or (isinstance(given, (list, tuple)) and hasattr(given[0], "dtype")):
        return (
            f"Take one of them, for example {name}[0]; or judge several models with "
            f'baserate.evaluate and a mapping from names to scores, {{"a": {name}[0], "b": {name}[1]}}.'
        )
    table = f"numpy.asarray({name})" if isinstance(given, (list, tuple)) else name
    return f"Take one column, for example {table}{'.iloc' if hasattr(given, 'iloc') else ''}[:, {shape[1] - 1}]."


def as_numbers(name: str, column: Column) -> Reals:
    """Float32 stays, everything else numeric becomes float64, if that is exact; contiguous, in native byte order."""
    if column.dtype.kind == "O":
        _refuse_text(name, sum(isinstance(value, (str, bytes)) for value in column), column)
        if any(isinstance(value, int) and abs(value) > _LARGEST_EXACT for value in column):
            raise NotNumericError(
                f"{name} holds whole numbers beyond 2⁵³, which floats cannot tell apart; scale them down."
            )
    elif column.dtype.kind not in "biuf":
        _refuse_text(name, len(column), column)
    _refuse_inexact(name, column)
    width = np.float32 if column.dtype.kind == "f" and column.dtype.itemsize <= 4 else np.float64
    try:
        return np.ascontiguousarray(column, dtype=width)
    except (TypeError, ValueError, OverflowError, ArithmeticError) as error:
        raise NotNumericError(f"{name} cannot be read as numbers ({error}); convert it first.") from error


def _column(name: str, given: object) -> Column:
    if isinstance(given, np.ma.MaskedArray):
        _refuse_missing(name, np.ma.getmaskarray(given))
    return as_column(name, given)


def _numbers(name: str, given: object) -> Reals:
    column = _column(name, given)
    if column.dtype.kind == "O":
        _refuse_missing(name, missing_objects(column))
    return as_numbers(name, column)


def _inferred(column: Column) -> Bools:
    """Read booleans, and 0 and 1, as they are; anything else needs its positive class named."""
    kind = column.dtype.kind
    if kind == "b":
        return column
    if kind in "iu" and np.bitwise_or.reduce(column) in (0, 1):  # no bit but the lowest is set anywhere
        return column.astype(np.bool_)
    if kind in "fO" and ((column == 0) | (column == 1)).all():
        return column.astype(np.bool_)
    refuse_ambiguous(_labels(column))
    raise AssertionError  # for the type checker


def _matched(column: Column, positive: object) -> Bools:
    if np.ndim(positive) > 0:  # type: ignore[arg-type]  # anything may be asked its dimensions
        raise OptionError(f"positive={positive!r} is more than one label; name the one that counts as positive.")
    match: Bools = np.asarray(column == positive, dtype=np.bool_)
    if not match.any():
        refuse_absent(_labels(column), positive)
    others = column[~match]
    if len(others) and not (others == others[0]).all():
        told = listed(_labels(column))
        raise NotBinaryError(
            f"truth has more than two labels ({told}); pass truth == {positive!r} to judge one of them."
        )
    return match


def _labels(column: Column) -> list[object]:
    """Distinct labels, in order."""
    try:
        return ordered(dict.fromkeys(column.tolist()))
    except TypeError as error:
        raise NotBinaryError(f"truth holds labels that cannot be compared ({error}); give text or numbers.") from error


def missing_objects(column: Column | Sequence[object]) -> Bools:
    """Which of a column of objects are None, NaN or pandas.NA."""

    def missing(value: object) -> bool:
        try:
            return value is None or bool(value != value)  # noqa: PLR0124  (NaN is what differs from itself)
        except (TypeError, ValueError):  # pandas.NA refuses to be a boolean
            return True

    return np.fromiter(map(missing, column), dtype=np.bool_, count=len(column))


def _refuse_missing(name: str, missing: Bools) -> None:
    bad = np.count_nonzero(missing)
    if bad:
        first = int(np.flatnonzero(missing)[0])
        raise MissingValuesError(
            f"{bad} of {missing.size} values of {name} are missing or not finite (the first in row {first}). "
            "Leave those rows out, or fill them in, before tallying."
        )


def _refuse_not_finite(name: str, column: Reals) -> None:
    # The sum is NaN or infinite if any value is, and costs no memory; it may also be if huge values add up.
    with np.errstate(over="ignore", invalid="ignore"):
        total = column.sum()
    if not np.isfinite(total):
        _refuse_missing(name, ~np.isfinite(column))


def _refuse_inexact(name: str, column: Column) -> None:
    """Two numbers that a float64 cannot tell apart would become one score."""
    kind = column.dtype.kind
    if kind in "iu" and len(column) and max(-int(column.min()), int(column.max())) > _LARGEST_EXACT:
        raise NotNumericError(
            f"{name} holds whole numbers beyond 2⁵³, which floats cannot tell apart; scale them down."
        )
    if kind == "f" and column.itemsize > 8:
        with np.errstate(over="ignore"):
            narrow = column.astype(np.float64)
        if not np.array_equal(narrow, column, equal_nan=True):
            raise NotNumericError(f"{name} holds {column.dtype} numbers that a float64 cannot hold; round them first.")


def _refuse_text(name: str, bad: int, column: Column) -> None:
    if bad:
        raise NotNumericError(f"{bad} of {len(column)} values of {name} are not numbers; convert them first.")
