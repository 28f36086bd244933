"""One column at a time: what is asked of truth, scores, weights and counts."""

from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Cells, Floats, Reals
from baserate._errors import BadOption, BadShape, BadWeights, MissingValues, NotBinary, NotNumeric

Column = npt.NDArray[Any]

_LARGEST_EXACT = 2**53
"""Whole numbers up to here are exact in a float64."""

_SMALLEST_WEIGHT, _LARGEST_WEIGHT = 1e-140, 1e140
"""Squares of these, and sums of many of them, are ordinary float64 numbers."""


def checked_truth(truth: object, positive: object) -> Bools:
    """Truth as booleans, the positive class named or safely inferred."""
    column = _column("truth", truth)
    if column.dtype.kind == "O":
        _refuse_missing("truth", _missing_objects(column))
        _refuse_mixed_labels(column)
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
    negative = np.count_nonzero(column < 0)
    if negative:
        raise BadWeights(
            f"{negative} of {len(column)} values of {name} are negative; a row counts for zero or more. "
            "Set them to 0 to leave those rows out."
        )
    _refuse_extreme(name, column)
    return column


def checked_counts(count: object) -> Cells:
    """Counts as int64, whole and ≥ 0."""
    column = checked_weights(count, name="count")
    fractional = np.count_nonzero(column != np.trunc(column))
    if fractional:
        raise BadWeights(
            f"{fractional} of {len(column)} values of count are not whole; a count is a number of identical rows. "
            "Pass sampling or importance weights as weight= instead."
        )
    if column.sum() > _LARGEST_EXACT:
        raise BadWeights(
            "count adds up to more than 2⁵³ rows, which cannot be counted exactly; pass it as weight= instead."
        )
    return column.astype(np.int64)


def _column(name: str, given: object) -> Column:
    """One dimension, whatever it was given as."""
    if isinstance(given, np.ma.MaskedArray):
        _refuse_missing(name, np.ma.getmaskarray(given))
    try:
        column = np.asarray(given)
    except ValueError as error:
        raise BadShape(f"{name} is a list of lists of different lengths; give one value for each row.") from error
    if column.dtype.kind in "US" and not hasattr(given, "dtype"):
        # NumPy writes [1, "1"] as two equal texts; keep what the list really held.
        column = np.asarray(given, dtype=object)
    if column.ndim != 1:
        width = column.shape[1] if column.ndim == 2 else 0
        remedy = f"Take one column, for example {name}[:, {width - 1}]." if width else "Give a list or 1-d array."
        raise BadShape(f"{name} has shape {column.shape}; it must be one column with one value for each row. {remedy}")
    return column


def _numbers(name: str, given: object) -> Reals:
    """Float32 stays, everything else numeric becomes float64, if that is exact; contiguous, in native byte order."""
    column = _column(name, given)
    if column.dtype.kind == "O":
        _refuse_missing(name, _missing_objects(column))
        _refuse_text(name, sum(isinstance(value, (str, bytes)) for value in column), column)
    elif column.dtype.kind not in "biuf":
        _refuse_text(name, len(column), column)
    _refuse_inexact(name, column)
    width = np.float32 if column.dtype.kind == "f" and column.dtype.itemsize <= 4 else np.float64
    try:
        return np.ascontiguousarray(column, dtype=width)
    except (TypeError, ValueError) as error:
        raise NotNumeric(f"{name} cannot be read as numbers ({error}); convert it first.") from error


def _inferred(column: Column) -> Bools:
    """Read booleans, and 0 and 1, as they are; anything else needs its positive class named."""
    kind = column.dtype.kind
    if kind == "b":
        return column
    if kind in "iu" and np.bitwise_or.reduce(column) in (0, 1):  # no bit but the lowest is set anywhere
        return column.astype(np.bool_)
    if kind in "fO" and ((column == 0) | (column == 1)).all():
        return column.astype(np.bool_)
    labels = _labels(column)
    if len(labels) > 2:
        raise NotBinary(f"truth has more than two labels ({_told(labels)}); compare it with the positive one first.")
    raise NotBinary(f"truth has the labels {_told(labels)}; name the positive one, perhaps positive={labels[-1]!r}.")


def _matched(column: Column, positive: object) -> Bools:
    if np.ndim(positive) > 0:  # type: ignore[arg-type]  # anything may be asked its dimensions
        raise BadOption(f"positive={positive!r} is more than one label; name the one that counts as positive.")
    match: Bools = np.asarray(column == positive, dtype=np.bool_)
    if not match.any():
        _check_absent(_labels(column), positive)
    others = column[~match]
    if len(others) and not (others == others[0]).all():
        told = _told(_labels(column))
        raise NotBinary(f"truth has more than two labels ({told}); pass truth == {positive!r} to judge one of them.")
    return match


def _check_absent(labels: list[object], positive: object) -> None:
    """Nobody is positive: among zeros or ones that may be, among other labels it is more likely a slip."""
    alike = [label for label in labels if str(label) == str(positive)]
    if alike:
        kinds = ("text", "a number") if isinstance(alike[0], (str, bytes)) else ("a number", "text")
        raise NotBinary(
            f"positive={positive!r} is {kinds[1]}, but truth holds {alike[0]!r}, {kinds[0]}; "
            f"pass positive={alike[0]!r}."
        )
    if not set(labels) <= {0, 1} or positive not in (0, 1):
        raise NotBinary(
            f"positive={positive!r} does not occur in truth, which holds {_told(labels)}. "
            f"If there really are no positives, pass truth == {positive!r}."
        )


def _labels(column: Column) -> list[object]:
    """Distinct labels in order of size, or of appearance where they have no size."""
    try:
        distinct = list(dict.fromkeys(column.tolist()))
    except TypeError as error:
        raise NotBinary(f"truth holds labels that cannot be compared ({error}); give text or numbers.") from error
    try:
        return sorted(distinct)
    except TypeError:
        return distinct


def _told(labels: list[object]) -> str:
    shown = 5
    rest = f" and {len(labels) - shown} more" if len(labels) > shown else ""
    return ", ".join(map(repr, labels[:shown])) + rest


def _missing_objects(column: Column) -> Bools:
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
        raise MissingValues(
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
        raise NotNumeric(f"{name} holds whole numbers beyond 2⁵³, which floats cannot tell apart; scale them down.")
    if kind == "f" and column.itemsize > 8:
        with np.errstate(over="ignore"):
            narrow = column.astype(np.float64)
        if not np.array_equal(narrow, column, equal_nan=True):
            raise NotNumeric(f"{name} holds {column.dtype} numbers that a float64 cannot hold; round them first.")


def _refuse_extreme(name: str, column: Floats) -> None:
    """Squares of weights must neither overflow nor vanish."""
    if len(column) and (column.min() < _SMALLEST_WEIGHT or column.max() > _LARGEST_WEIGHT):
        bad = np.count_nonzero((column > _LARGEST_WEIGHT) | ((column > 0) & (column < _SMALLEST_WEIGHT)))
        if bad:
            raise BadWeights(
                f"{bad} of {len(column)} values of {name} are above {_LARGEST_WEIGHT:g} or below {_SMALLEST_WEIGHT:g}, "
                "too far from 1 to be squared; divide all of them by a common number."
            )


def _refuse_text(name: str, bad: int, column: Column) -> None:
    if bad:
        raise NotNumeric(f"{bad} of {len(column)} values of {name} are not numbers; convert them first.")


def _refuse_mixed_labels(column: Column) -> None:
    labels = _labels(column)
    texts = [label for label in labels if isinstance(label, (str, bytes))]
    if 0 < len(texts) < len(labels):
        raise NotBinary(
            f"truth mixes text and numbers ({_told(labels)}), so that equal-looking labels may differ; make them all "
            "of one type."
        )
