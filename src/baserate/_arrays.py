"""Read-only arrays and mappings, also after copies and pickling; `ratio`, the only place where 0/0 is decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from dataclasses import fields
from typing import Any, NoReturn, TypeVar, overload

import numpy as np
import numpy.typing as npt

from baserate._errors import ShapeError

Floats = npt.NDArray[np.float64]
Reals = npt.NDArray[np.floating[Any]]
Bools = npt.NDArray[np.bool_]
Cells = npt.NDArray[Any]
"""Mass: float64 when weighted, whole numbers when counted."""

Value = TypeVar("Value", float, Floats)
"""One number, or one for each threshold, group, class or resample."""

Array = TypeVar("Array", bound=npt.NDArray[Any])


@overload
def ratio(part: float, whole: float) -> float: ...
@overload
def ratio(part: Floats, whole: float | Floats) -> Floats: ...
def ratio(part: float | Floats, whole: float | Floats) -> float | Floats:
    """Divide; 0/0 is NaN, and a/0 or an overflow is infinite, without a warning.

    >>> ratio(0.0, 0.0), ratio(3.0, 0.0), ratio(1.0, 4.0)
    (nan, inf, 0.25)
    """
    value: float | Floats = as_python(_divide(part, whole))
    return value


# As a decorator, errstate is a third faster than as a context, and this function is called most often.
@np.errstate(divide="ignore", invalid="ignore", over="ignore")
def _divide(part: float | Floats, whole: float | Floats) -> Any:  # noqa: ANN401  (what NumPy makes of it)
    return np.divide(part, whole)


@overload
def root(value: float) -> float: ...
@overload
def root(value: Floats) -> Floats: ...
def root(value: float | Floats) -> float | Floats:
    """Return the square root of numbers that are not negative.

    >>> root(9.0)
    3.0
    """
    square_root: float | Floats = as_python(np.sqrt(value))
    return square_root


def mean_defined(values: Floats, weights: Floats | float = 1.0) -> float:
    """Average numbers that are not NaN along the last axis; NaN if all are. Of several rows, an array.

    A single number above 0 as `weights` gives all of them equal weight.

    >>> mean_defined(np.array([1.0, np.nan, 3.0])), mean_defined(np.array([1.0, 4.0]), np.array([2.0, 1.0]))
    (2.0, 2.0)
    """
    defined = ~np.isnan(values)
    if isinstance(weights, float) and defined.all() and values.shape[-1]:
        plain: float = as_python(values.mean(axis=-1))
        return plain
    weight = np.where(defined, weights, 0.0)
    # A value that is undefined, or has no weight, adds nothing, not even if it is infinite: inf·0 would be NaN.
    mean: float = ratio((np.where(weight > 0, values, 0.0) * weight).sum(axis=-1), weight.sum(axis=-1))
    return mean


def exact_sum(values: Floats, *, axes: int = 1) -> float:
    """Sum along the last axis, or the last few.

    Several rows give an array. The annotation omits that, so that measures of one table and of many have one signature.

    >>> exact_sum(np.array([1.0, 2.0])), exact_sum(np.ones((2, 2)), axes=2)
    (3.0, 4.0)
    """
    total: float = as_python(values.sum(axis=tuple(range(-axes, 0))))
    return total


def sums_of_others(values: Floats) -> Floats:
    """Return the sum of all other values along the last axis, for each value: exactly 0 when none is above 0.

    >>> sums_of_others(np.array([1.0, 2.0, 4.0])).tolist()
    [6.0, 5.0, 3.0]
    """
    # Sums from both ends: the total less the value itself would leave a rounding error where 0 is due.
    before, after = np.cumsum(values, axis=-1), np.cumsum(values[..., ::-1], axis=-1)[..., ::-1]
    none = np.zeros((*values.shape[:-1], 1))
    sums: Floats = np.concatenate([none, before[..., :-1]], axis=-1)
    sums += np.concatenate([after[..., 1:], none], axis=-1)
    return sums


def distances(values: Floats, middle: Floats | float) -> Floats:
    """Return differences from a mean; those within rounding are 0.

    >>> distances(np.array([0.3, 0.5]), 0.1 + 0.2).round(9).tolist(), 0.3 - (0.1 + 0.2) == 0
    ([0.0, 0.2], False)
    """
    gaps: Floats = values - middle
    return np.where(np.abs(gaps) <= 1e-12 * np.abs(middle), 0.0, gaps)


def block_slices(size: int, length: int) -> list[slice]:
    """Divide a range into slices of a length; the last one may be shorter.

    >>> block_slices(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    return [slice(start, start + length) for start in range(0, size, length)]


def round_if_close(value: Any) -> Any:  # noqa: ANN401  (a number, or many)
    """Round numbers that are whole but for rounding errors.

    >>> round_if_close(6 * 0.1 / 0.1), round_if_close(2.5)
    (6.0, 2.5)
    """
    nearest = np.rint(value)
    with np.errstate(invalid="ignore"):  # infinity less infinity
        return as_python(np.where(np.abs(value - nearest) <= 1e-12 * np.abs(nearest), nearest, value))


def as_float(value: Any) -> float:  # noqa: ANN401  (NumPy's scalars and arrays)
    """Return one number as a Python float; several give an array, which the annotation omits as in `exact_sum`."""
    number: float = as_python(value)
    return number


def as_python(value: Any) -> Any:  # noqa: ANN401  (NumPy's scalars and arrays)
    """Return a Python float in place of an array without dimensions."""
    return float(value) if np.ndim(value) == 0 else value


def read_only_copy(array: Array) -> Array:
    """Return the array read-only; one that somebody may still write to is copied first."""
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array


def make_read_only(array: Array) -> Array:
    """Make an array of our own read-only, in place."""
    array.flags.writeable = False
    return array


def refuse_differing_indexes(columns: Mapping[str, object]) -> None:
    """Refuse columns whose row labels differ, since values are paired by position.

    Columns without row labels, such as arrays and lists, go with any other. Where lengths differ, the check of lengths
    says more.

    >>> import pandas as pd
    >>> truth, score = pd.Series([1, 0], index=["a", "b"]), pd.Series([0.2, 0.9], index=["b", "a"])
    >>> refuse_differing_indexes({"truth": truth, "score": score.loc[truth.index]})
    >>> refuse_differing_indexes({"truth": truth, "score": score})
    Traceback (most recent call last):
    baserate._errors.ShapeError: truth and score have indexes that differ (same labels in another order). Align them \
with `score.loc[truth.index]`, or call `.reset_index(drop=True)` on both to pair rows by position.
    """
    indexes = {name: index for name, column in columns.items() if (index := _index(column)) is not None}
    if not indexes:
        return
    (first, index), *others = indexes.items()
    for name, other in others:
        if len(other) == len(index) and not index.equals(other):
            what = f"{first} and {name} have indexes that differ ({_describe_difference(first, index, other)})."
            raise ShapeError(what, remedy=_advise_alignment(first, name, index, other))


def refuse_differing_lengths(columns: Mapping[str, Sized]) -> None:
    """Refuse columns of different lengths.

    >>> refuse_differing_lengths({"truth": [1, 0], "score": [0.5]})
    Traceback (most recent call last):
    baserate._errors.ShapeError: the columns have different lengths (truth 2, score 1); give one \
value of each for every row.
    """
    if len({len(column) for column in columns.values()}) > 1:
        lengths = ", ".join(f"{name} {len(column)}" for name, column in columns.items())
        raise ShapeError(
            f"the columns have different lengths ({lengths})", remedy="give one value of each for every row."
        )


def _index(column: object) -> Any:  # noqa: ANN401  (an index of pandas or of a library like it)
    """Return the row labels of a column, found without importing its library; None where it has none."""
    to_native = getattr(column, "to_native", None)  # of a column of Narwhals
    index = getattr(column if to_native is None else to_native(), "index", None)
    # Lists and columns of Arrow have a method `index`, which finds a value.
    return index if callable(getattr(index, "equals", None)) else None


def _describe_difference(first: str, index: Any, other: Any) -> str:  # noqa: ANN401
    known = set(index)
    stray = sum(label not in known for label in other)
    if stray:
        return f"{stray} of {len(other)} labels are not among those of {first}"
    return "same labels in another order" if index.is_unique and other.is_unique else "labels that repeat"


def _advise_alignment(first: str, name: str, index: Any, other: Any) -> str:  # noqa: ANN401
    by_position = "call `.reset_index(drop=True)` on both to pair rows by position."
    # `.loc` with labels that repeat would return more rows than there are.
    if not (index.is_unique and other.is_unique and set(index) == set(other)):
        return by_position[0].upper() + by_position[1:]
    plain = first.isidentifier() and name.isidentifier()
    call = f"`{name}.loc[{first}.index]`" if plain else "`.loc` and the index of the other"
    return f"Align them with {call}, or {by_position}"


Key = TypeVar("Key")
Item = TypeVar("Item")
Class = TypeVar("Class", bound=type)


# Pickling and deep copies drop the read-only flag of NumPy's arrays, and `types.MappingProxyType` cannot be pickled: so
# frozen classes use `FrozenMapping` for mappings, and `keep_read_only` where they hold arrays.


class FrozenMapping(dict[Key, Item]):
    """A mapping that cannot change: a copy of another, read as fast as a dict.

    >>> import pickle
    >>> frozen = FrozenMapping({"a": 1})
    >>> frozen["b"] = 2
    Traceback (most recent call last):
    TypeError: this mapping cannot change; make a new one with dict(…).
    >>> pickle.loads(pickle.dumps(frozen)), frozen | {"b": 2}
    (FrozenMapping({'a': 1}), {'a': 1, 'b': 2})
    """

    __slots__ = ()

    def _refuse(self, *_args: object, **_options: object) -> NoReturn:
        raise TypeError("this mapping cannot change; make a new one with dict(…).")

    # Methods of dict do not call each other, so that each one that writes must be replaced.
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __repr__(self) -> str:
        return f"FrozenMapping({super().__repr__()})"

    def __copy__(self) -> FrozenMapping[Key, Item]:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenMapping, (_hold(dict(self)),)


def keep_read_only(cls: Class) -> Class:
    """Let the arrays of a frozen dataclass with slots stay read-only when it is copied or pickled."""
    names = [field.name for field in fields(cls)]

    def get_state(self: object) -> list[Any]:
        return [_hold(getattr(self, name)) for name in names]

    def set_state(self: object, state: list[Any]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, _release(value))

    methods: dict[str, Callable[..., Any]] = {"__getstate__": get_state, "__setstate__": set_state}
    for name, method in methods.items():
        setattr(cls, name, method)
    return cls


class _ReadOnly:
    """A read-only array in transit: after pickling or a deep copy it is read-only again."""

    __slots__ = ("array",)

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array

    def __reduce__(self) -> tuple[Any, ...]:
        return make_read_only, (self.array,)


def _hold(value: Any) -> Any:  # noqa: ANN401  (any field)
    """Mark read-only arrays, also those in tuples and dicts."""
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable else _ReadOnly(value)
    return _change_elements(value, _hold)


def _release(value: Any) -> Any:  # noqa: ANN401  (any part of a state)
    """Remove the marks, as in shallow copies, whose state is passed on unchanged."""
    return value.array if isinstance(value, _ReadOnly) else _change_elements(value, _release)


def _change_elements(value: Any, change: Callable[[Any], Any]) -> Any:  # noqa: ANN401
    """Change the elements of a tuple or a dict; any other container pickles itself."""
    # Exact types: a named tuple or a FrozenMapping rebuilt here would lose its class.
    if type(value) is tuple:
        return tuple(map(change, value))
    if type(value) is dict:
        return {key: change(each) for key, each in value.items()}
    return value
