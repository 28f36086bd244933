"""Columns: which one has which role, and checks of the values of each (truth, scores, weights, counts)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, KeysView, Mapping, Sequence, ValuesView
from dataclasses import dataclass, fields, replace
from typing import Any, Required, TypedDict

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Cells, Floats, Reals
from baserate._errors import (
    EmptyDataError,
    FileFormatError,
    MissingValuesError,
    NotBinaryError,
    NotNumericError,
    OptionError,
    ShapeError,
    WeightError,
    keyword,
    nearest,
    unknown_name,
)
from baserate.read._labels import format_labels, refuse_absent, refuse_ambiguous, refuse_mixed_types, sort_labels


class ColumnNames(TypedDict, total=False):
    """Names of columns by role, as keywords."""

    truth: Required[str]
    score: str | Sequence[str] | Mapping[Any, str]
    predicted: str
    group: str | Sequence[str]
    weight: str
    count: str
    id: str
    cluster: str


class TargetColumnNames(TypedDict, total=False):
    """Names of columns of a target, as keywords."""

    truth: str
    score: str | Sequence[str] | Mapping[Any, str]
    weight: str
    count: str


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of columns by role."""

    truth: str = ""
    """Empty if there is no column of labels."""
    score: tuple[str, ...] = ()
    predicted: str | None = None
    group: tuple[str, ...] = ()
    weight: str | None = None
    count: str | None = None
    id: str | None = None
    cluster: str | None = None
    stem: str = ""
    """The common beginning of the names of the scores, if a pattern such as `p_*` stated it."""

    @staticmethod
    def of(names: ColumnNames) -> Columns:
        """Check the keywords and fill in the others."""
        stated = _check_kinds(names, [field.name for field in fields(Columns) if field.name != "stem"])
        if "truth" not in stated:
            raise OptionError(
                "no column of labels is named", remedy=f"name one, for example {keyword('truth', 'outcome')}."
            )
        columns = Columns._build(stated)
        if not columns.score and columns.predicted is None:
            raise OptionError(
                "no column to evaluate is named",
                remedy=f"name scores, {keyword('score', 'risk')}, or labels, {keyword('predicted', 'decision')}.",
            )
        return columns

    @staticmethod
    def of_target(names: TargetColumnNames) -> Columns:
        """Check the keywords of a target, which may have no truth."""
        columns = Columns._build(_check_kinds(names, list(TargetColumnNames.__annotations__)))
        if not columns.score:
            raise OptionError(
                "no column of scores is named", remedy=f"name one, for example {keyword('score', 'risk')}."
            )
        return columns

    @staticmethod
    def _build(stated: dict[str, Any]) -> Columns:
        columns = Columns(**stated | {name: _as_tuple(stated.get(name)) for name in ("score", "group")})
        # Checked at run time too: a caller without a type checker may pass anything.
        names: list[object] = [*(stated[name] for name in stated if name == "truth"), *columns.used]
        strange = [name for name in names if not isinstance(name, str) or not name]
        if strange:
            raise OptionError(f"{strange[0]!r} is not the name of a column; expected text that is not empty.")
        counts = [*Counter(columns.models).items(), *Counter(columns.group).items()]
        twice = [name for name, times in counts if times > 1]
        if twice:
            raise OptionError(f"the column {twice[0]!r} is named twice", remedy="name each once.")
        return columns

    @property
    def models(self) -> tuple[str, ...]:
        """Columns to evaluate: scores, then predicted labels."""
        return self.score + ((self.predicted,) if self.predicted is not None else ())

    @property
    def numbers(self) -> tuple[str, ...]:
        """Columns that hold numbers."""
        return tuple(dict.fromkeys([*self.score, *self.amounts]))

    @property
    def amounts(self) -> tuple[str, ...]:
        """Weight and count, if there are any."""
        return tuple(_drop_none(self.weight, self.count))

    @property
    def labels(self) -> tuple[str, ...]:
        """Columns that hold labels."""
        return tuple(dict.fromkeys(_drop_none(self.truth or None, self.predicted, *self.group, self.cluster)))

    @property
    def used(self) -> tuple[str, ...]:
        """All columns that are read, each once."""
        return tuple(dict.fromkeys([*self.labels, *self.numbers, *_drop_none(self.id)]))

    @property
    def names(self) -> dict[str, str | list[str]]:
        """Names of the columns by role, without roles that have none."""
        pairs: Iterator[tuple[str, str | tuple[str, ...] | None]] = (
            (field.name, getattr(self, field.name)) for field in fields(self) if field.name != "stem"
        )
        return {name: list(value) if isinstance(value, tuple) else value for name, value in pairs if value}

    def match(self, existing: Sequence[object]) -> Columns:
        """Check that every column exists once; a score `p_*` becomes all columns whose names begin so."""
        other_roles = {*self.labels, *self.amounts, *_drop_none(self.id)}
        stems = [name[:-1] for name in self.score if name.endswith("*") and name not in existing]
        scores = (name for pattern in self.score for name in _match_pattern(pattern, existing, other_roles))
        columns = replace(self, score=tuple(dict.fromkeys(scores)), stem=stems[0] if len(stems) == 1 else "")
        for name in columns.used:
            check_column(name, existing)
        return columns


def check_column(name: str, existing: Sequence[object]) -> None:
    """Check that a column exists once; if it does not, suggest the nearest names."""
    if name not in existing:
        texts = [other for other in existing if isinstance(other, str) and len(other) < 200]
        same = [other for other in texts if other.strip().lower() == name.strip().lower()]
        near = nearest(name, texts, most=2, cutoff=0.5) or same
        raise unknown_name("column", name, existing, near=near, listing=f"There are: {_format_names(existing)}.")
    if existing.count(name) > 1:
        raise FileFormatError(f"there are {existing.count(name)} columns {name!r}", remedy="rename all but one.")


def _match_pattern(name: str, existing: Sequence[object], other_roles: set[str]) -> list[str]:
    """Return the columns that a name means: for `p_*` all that begin so and have no other role."""
    if not name.endswith("*") or name in existing:
        return [name]
    texts = [other for other in existing if isinstance(other, str) and other not in other_roles]
    return [other for other in texts if other.startswith(name[:-1])] or [name]


def _check_kinds(names: Mapping[str, Any], kinds: Sequence[str]) -> dict[str, Any]:
    """Refuse unknown roles, and leave out those that are None."""
    unknown = names.keys() - set(kinds)
    if unknown:
        from baserate._other_names import find_other_option  # only now: most kinds are known

        other = find_other_option(min(unknown), kinds)
        raise unknown_name("kind of column", min(unknown), kinds, near=[other] if other else None)
    return {kind: name for kind, name in names.items() if name is not None}


def _drop_none(*names: str | None) -> list[str]:
    return [name for name in names if name is not None]


def _as_tuple(names: Any) -> tuple[str, ...]:  # noqa: ANN401  (checked later)
    if names is None:
        return ()
    return tuple(names) if isinstance(names, (list, tuple)) else (names,)


def _format_names(names: Sequence[object], most: int = 20) -> str:
    first = ", ".join(repr(name if len(str(name)) <= 60 else f"{str(name)[:57]}…") for name in names[:most])
    return f"{first} and {len(names) - most} more" if len(names) > most else first or "none"


Column = npt.NDArray[Any]

_LARGEST_EXACT = 2**53
"""Whole numbers up to this one are exact in a float64."""
_BEYOND_FLOATS = "{name} holds whole numbers beyond 2⁵³, which floats cannot distinguish"

SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-140, 1e140
"""Limits within which squares of weights, and sums of many of them, neither overflow nor underflow."""


_BAD_WEIGHTS = {
    "negative": ("negative; expected 0 or more.", "Set them to 0 to leave those rows out."),
    "fractional": (
        "not whole; expected numbers of identical rows.",
        f"Pass sampling or importance weights as {keyword('weight')} instead.",
    ),
    "extreme": (
        f"above {LARGEST_WEIGHT:g} or below {SMALLEST_WEIGHT:g}, too far from 1 to be squared",
        "divide all of them by a common number.",
    ),
}


def check_truth(truth: object, positive: object) -> Bools:
    """Return the truth as booleans, the positive class stated or safely inferred."""
    column = _unmask("truth", truth)
    if column.dtype.kind == "O":
        _refuse_missing("truth", missing_objects(column))
        refuse_mixed_types(_distinct_labels(column))
    elif column.dtype.kind == "f":
        _refuse_missing("truth", np.isnan(column))
    return _infer_positive(column) if positive is None else _match_positive(column, positive)


def check_scores(score: object) -> Reals:
    """Return finite scores as contiguous float32 or float64."""
    column = _complete_numbers("score", score)
    _refuse_not_finite("score", column)
    return column


def check_weights(weight: object, *, name: str = "weight") -> Floats:
    """Return finite weights ≥ 0 as float64."""
    column = _complete_numbers(name, weight).astype(np.float64, copy=False)
    _refuse_not_finite(name, column)
    refuse_weights(name, "negative", int(np.count_nonzero(column < 0)), len(column))
    if len(column) and (column.min() < SMALLEST_WEIGHT or column.max() > LARGEST_WEIGHT):
        extreme = (column > LARGEST_WEIGHT) | ((column > 0) & (column < SMALLEST_WEIGHT))
        refuse_weights(name, "extreme", int(np.count_nonzero(extreme)), len(column))
    return column


def check_counts(count: object, *, name: str = "count") -> Cells:
    """Return whole counts ≥ 0 as int64."""
    column = check_weights(count, name=name)
    refuse_weights(name, "fractional", int(np.count_nonzero(column != np.trunc(column))), len(column))
    refuse_inexact_total(name, column)
    return column.astype(np.int64)


def refuse_weights(name: str, what: str, bad: int, total: int) -> None:
    """Refuse weights or counts, if any are invalid."""
    if bad:
        problem, remedy = _BAD_WEIGHTS[what]
        raise WeightError(f"{bad} of {total} values of {name} are {problem}", remedy=remedy)


def refuse_all_zero(name: str, nonzero: Bools) -> None:
    """Refuse weights or counts that leave no row."""
    if not nonzero.any():
        raise EmptyDataError(
            f"every {name} is zero, so there are no rows", remedy="give at least one a number above zero."
        )


def refuse_inexact_total(name: str, count: Cells) -> None:
    """Refuse counts whose sum a float64 cannot hold exactly."""
    if count.sum() > _LARGEST_EXACT:
        raise WeightError(
            f"{name} adds up to more than 2⁵³ rows, which cannot be counted exactly",
            remedy=f"pass it as {keyword('weight')} instead.",
        )


def as_column(name: str, values: object) -> Column:
    """Return any array or list as a one-dimensional array, without its mask."""
    try:
        column = np.asarray(values)
    except ValueError as error:
        raise ShapeError(
            f"{name} is a list of lists of different lengths", remedy="give one value for each row."
        ) from error
    if column.dtype.kind in "US" and not hasattr(values, "dtype"):
        # NumPy would turn [1, "1"] into two equal texts; objects keep the types of the list.
        column = np.asarray(values, dtype=object)
    if column.ndim == 0 and column.dtype.kind == "O":
        raise no_column(name, values)
    if column.ndim != 1:
        what = f"{name} has shape {column.shape}; expected one column with one value for each row."
        raise ShapeError(what, remedy=_advise_shape(name, values, column.shape))
    return column


def no_column(name: str, value: object) -> ShapeError:
    """Make the error for a value that is no column: an iterator, a set, a number, or an unknown object.

    >>> print(no_column("score", iter([0.2, 0.9])))
    score is of type list_iterator; expected one column with one value for each row. Give list(score).
    """
    kind = type(value).__name__
    shown = repr(value) if isinstance(value, (str, bool, int, float)) or value is None else f"of type {kind}"
    remedy = "Give a list or 1-d array."
    if isinstance(value, str):
        remedy = "Give an array; or a table first, and names of its columns."
    if hasattr(value, "__next__") or isinstance(value, (KeysView, ValuesView, range)):
        remedy = f"Give list({name})."
    elif isinstance(value, (set, frozenset)):
        remedy = "Give a list: a set has no order, and holds equal values once."
    elif not isinstance(value, (str, bytes, int, float)) and value is not None:
        remedy = f"Convert it to a list or a 1-d array, for example by numpy.array(list({name}))."
    return ShapeError(f"{name} is {shown}; expected one column with one value for each row.", remedy=remedy)


def _advise_shape(name: str, values: object, shape: tuple[int, ...]) -> str:
    """Advise how to select one column: a list of arrays has one for each model, a matrix one for each class."""
    if len(shape) != 2 or not all(shape):
        return "Give a list or 1-d array."
    if shape[0] == 1:
        return f"Take its only row, {name}[0]."
    if shape[0] < shape[1] or (isinstance(values, (list, tuple)) and hasattr(values[0], "dtype")):
        return (
            f"Take one of them, for example {name}[0]; or evaluate several models with "
            f'baserate.evaluate and a mapping from names to scores, {{"a": {name}[0], "b": {name}[1]}}.'
        )
    table = f"numpy.asarray({name})" if isinstance(values, (list, tuple)) else name
    return f"Take one column, for example {table}{'.iloc' if hasattr(values, 'iloc') else ''}[:, {shape[1] - 1}]."


def as_numbers(name: str, column: Column) -> Reals:
    """Return numbers as float32 if they are, otherwise as float64 if that is exact; contiguous, native byte order."""
    if column.dtype.kind == "O":
        _refuse_text(name, sum(isinstance(value, (str, bytes)) for value in column), column)
        if any(isinstance(value, int) and abs(value) > _LARGEST_EXACT for value in column):
            raise NotNumericError(_BEYOND_FLOATS.format(name=name), remedy="scale them down.")
    elif column.dtype.kind not in "biuf":
        _refuse_text(name, len(column), column)
    _refuse_inexact(name, column)
    # float32 stays: converting would double the memory, and comparisons are exact in either type.
    width = np.float32 if column.dtype.kind == "f" and column.dtype.itemsize <= 4 else np.float64
    try:
        return np.ascontiguousarray(column, dtype=width)
    except (TypeError, ValueError, OverflowError, ArithmeticError) as error:
        raise NotNumericError(f"{name} cannot be read as numbers ({error})", remedy="convert it first.") from error


def _unmask(name: str, values: object) -> Column:
    if isinstance(values, np.ma.MaskedArray):
        _refuse_missing(name, np.ma.getmaskarray(values))
    return as_column(name, values)


def _complete_numbers(name: str, values: object) -> Reals:
    column = _unmask(name, values)
    if column.dtype.kind == "O":
        _refuse_missing(name, missing_objects(column))
    return as_numbers(name, column)


def _infer_positive(column: Column) -> Bools:
    """Accept booleans, and 0 and 1; any other labels need a stated positive class."""
    kind = column.dtype.kind
    if kind == "b":
        return column
    if kind in "iu" and np.bitwise_or.reduce(column) in (0, 1):  # no other bit is set in any value; one pass, no mask
        return column.astype(np.bool_)
    if kind in "fO" and ((column == 0) | (column == 1)).all():
        return column.astype(np.bool_)
    refuse_ambiguous(_distinct_labels(column))
    raise AssertionError  # for the type checker


def _match_positive(column: Column, positive: object) -> Bools:
    if np.ndim(positive) > 0:  # type: ignore[arg-type]  # a label of any type
        what = f"{keyword('positive', positive)} is more than one label"
        raise OptionError(what, remedy="name the positive one.", option="positive", value=positive)
    match: Bools = np.asarray(column == positive, dtype=np.bool_)
    if not match.any():
        refuse_absent(_distinct_labels(column), positive)
    others = column[~match]
    if len(others) and not (others == others[0]).all():
        labels = format_labels(_distinct_labels(column))
        raise NotBinaryError(
            f"truth has more than two labels ({labels})", remedy=f"pass truth == {positive!r} to evaluate one of them."
        )
    return match


def _distinct_labels(column: Column) -> list[object]:
    """Return the distinct labels, sorted."""
    try:
        return sort_labels(dict.fromkeys(column.tolist()))
    except TypeError as error:
        raise NotBinaryError(
            f"truth holds labels that cannot be compared ({error})", remedy="give text or numbers."
        ) from error


def missing_objects(column: Column | Sequence[object]) -> Bools:
    """Mark the objects that are None, NaN or pandas.NA."""

    def missing(value: object) -> bool:
        try:
            return value is None or bool(value != value)  # noqa: PLR0124  (only NaN differs from itself)
        except (TypeError, ValueError):  # bool(pandas.NA) raises
            return True

    return np.fromiter(map(missing, column), dtype=np.bool_, count=len(column))


def _refuse_missing(name: str, missing: Bools) -> None:
    bad = np.count_nonzero(missing)
    if bad:
        first = int(np.flatnonzero(missing)[0])
        raise MissingValuesError(
            f"{bad} of {missing.size} values of {name} are missing or not finite (the first in row {first}).",
            remedy=f"Leave those rows out with {keyword('missing', 'drop')}, or fill them in.",
        )


def _refuse_not_finite(name: str, column: Reals) -> None:
    # The sum is NaN or infinite if any value is, and needs no mask; huge values may also overflow it.
    with np.errstate(over="ignore", invalid="ignore"):
        total = column.sum()
    if not np.isfinite(total):
        _refuse_missing(name, ~np.isfinite(column))


def _refuse_inexact(name: str, column: Column) -> None:
    """Refuse numbers that float64 cannot represent, since two of them might become one score."""
    kind = column.dtype.kind
    # As Python's int: the absolute value of the smallest int64 overflows.
    if kind in "iu" and len(column) and max(-int(column.min()), int(column.max())) > _LARGEST_EXACT:
        raise NotNumericError(_BEYOND_FLOATS.format(name=name), remedy="scale them down.")
    if kind == "f" and column.itemsize > 8:  # longdouble, where the platform has it
        with np.errstate(over="ignore"):
            narrow = column.astype(np.float64)
        if not np.array_equal(narrow, column, equal_nan=True):
            raise NotNumericError(
                f"{name} holds {column.dtype} numbers that a float64 cannot hold", remedy="round them first."
            )


def _refuse_text(name: str, bad: int, column: Column) -> None:
    if bad:
        raise NotNumericError(f"{bad} of {len(column)} values of {name} are not numbers", remedy="convert them first.")


def first_record(text: str) -> tuple[int, list[str]]:
    r"""Count the blank lines before the first record, and return its lines with their ends.

    A record ends with the line that closes its last quote; where none does, with its first line.

    >>> first_record('\n"a\nb",c\n1,2\n')
    (1, ['"a\n', 'b",c\n'])
    """
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    blank = next((at for at, line in enumerate(lines) if line.strip()), len(lines))
    quotes = 0
    for end, line in enumerate(lines[blank:], start=blank + 1):
        quotes += line.count('"')
        if quotes % 2 == 0:
            return blank, lines[blank:end]
    return blank, lines[blank : blank + 1]


def remove_quoted_cells(record: str) -> str:
    """Remove quoted cells, so that delimiters can be counted.

    >>> remove_quoted_cells('"a, b",c')
    ',c'
    """
    return re.sub(r'"(?:[^"]|"")*"', "", record)
