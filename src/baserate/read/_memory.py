"""One column in memory, of NumPy or of a frame -> numbers or labels, with what is missing marked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools
from baserate._errors import NotBinaryError, NotNumericError
from baserate._numeric.codes import distinct_codes
from baserate.read._columns import as_column, as_numbers, missing_objects
from baserate.read._eager import Coded, Numbers, Table
from baserate.read._encoded import encoded, in_use, is_encoded
from baserate.read._labels import parsed, parsed_alike
from baserate.read._named import Columns

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

_FEW = 64
"""Labels that are looked for one after the other."""
_LIBRARIES = ("pandas", "pyarrow")
"""Whose columns need not be series."""


def loaded(
    given: Mapping[str, Any],
    columns: Columns,
    *,
    coded: Mapping[str, Coded] = MappingProxyType({}),
    text: frozenset[str] = frozenset(),
    alike: frozenset[str] = frozenset(),
) -> Table:
    """Columns in use, from arrays, lists and columns of frames; the labels of `text` are read by how they look.

    Those of `alike` are one set of labels in several columns: if one of these holds text, all do.
    """
    labels = {name: coded[name] if name in coded else _labels(name, given[name]) for name in columns.labels}
    labels |= _read({name: labels[name] for name in text}, alike)
    numbers = {name: numbers_in(name, given[name]) for name in columns.numbers}
    orders = {name: _order(given[name]) for name in columns.labels if name not in coded and framed(given[name])}
    return Table(labels, numbers, None if columns.id is None else _names(columns.id, given[columns.id]), orders)


def _read(texts: Mapping[str, Coded], alike: frozenset[str]) -> dict[str, Coded]:
    """Labels of text, read by how they look; those of `alike` stay text if some of them are."""
    given: dict[str, Any] = {name: column.labels for name, column in texts.items()}
    read = {name: parsed(given[name]) for name in given if name not in alike}
    read |= dict(zip(alike, parsed_alike([given[name] for name in alike]), strict=True))
    return {name: Coded(column.codes, read[name]) for name, column in texts.items()}


def _order(series: nw.Series[Any]) -> Sequence[object]:
    """Categories in their order, where they have one; otherwise none."""
    return tuple(getattr(series.dtype, "categories", ()))


def array_of(name: str, column: Any) -> npt.NDArray[Any]:  # noqa: ANN401  (array, list or column of a frame)
    """Return a column as an array."""
    if not framed(column):
        return as_column(name, column)
    return np.array(column.to_list(), dtype=object) if column.null_count() else column.to_numpy()


def _names(name: str, column: Any) -> npt.NDArray[Any]:  # noqa: ANN401  (array, list or column of a frame)
    """Names of rows; what is missing becomes None."""
    names = array_of(name, column)
    missing = np.zeros(len(names), dtype=np.bool_)
    if isinstance(column, np.ma.MaskedArray):
        missing |= np.ma.getmaskarray(column)
    if names.dtype.kind in "fM":
        missing |= np.isnan(names) if names.dtype.kind == "f" else np.isnat(names)
    elif names.dtype.kind == "O":
        missing |= missing_objects(names)
    if missing.any():
        names = names.astype(object)
        names[missing] = None
    return names


def framed(column: object) -> bool:
    """Whether it is a column of a frame, as Narwhals knows it."""
    return type(column).__module__.startswith("narwhals")


def series_of(name: str, column: Any) -> Any:  # noqa: ANN401  (any column)
    """Return a column of any library as Narwhals knows it; arrays of NumPy, lists and anything else as they are."""
    if isinstance(column, (np.ndarray, list, tuple)) or framed(column):
        return column
    import narwhals.stable.v2 as nw

    library: Any = type(column).__module__.partition(".")[0]
    found = nw.from_native(column, series_only=True, pass_through=True)
    # Categoricals of pandas and arrays of PyArrow are no series by themselves.
    return nw.new_series(name, column, backend=library) if found is column and library in _LIBRARIES else found


def numbers_in(name: str, column: Any) -> Numbers:  # noqa: ANN401  (array, list or column of a frame)
    """Numbers of an array, a list or a column of a frame."""
    return numbers_of_series(name, column) if framed(column) else numbers_of(name, column)


def _labels(name: str, column: Any) -> Coded:  # noqa: ANN401  (array, list or column of a frame)
    return coded_of_series(name, column) if framed(column) else coded_of(name, column)


def numbers_of(name: str, given: object) -> Numbers:
    """Numbers of an array or list."""
    column = as_column(name, given)
    missing = _missing(given, column)
    if missing is not None and missing.any():
        column = column.astype(np.float64) if column.dtype.kind in "biu" else column.copy()
        column[missing] = np.nan
    return Numbers(as_numbers(name, column), missing)


def coded_of(name: str, given: object) -> Coded:
    """Labels of an array or list."""
    column = as_column(name, given)
    missing = np.ma.getmaskarray(given) if isinstance(given, np.ma.MaskedArray) else None
    if column.dtype.kind in "fM":
        strange = np.isnan(column) if column.dtype.kind == "f" else np.isnat(column)
        missing = strange if missing is None else missing | strange
    try:
        if missing is None or not missing.any():
            return _coded(column)
        found = _coded(column[~missing])
    except TypeError as error:
        raise NotBinaryError(f"{name} holds labels that cannot be compared ({error}); give text or numbers.") from error
    return Coded(_scattered(found.codes, ~missing, -1), found.labels)


def numbers_of_series(name: str, series: nw.Series[Any]) -> Numbers:
    """Numbers of a column of a frame."""
    import narwhals.stable.v2 as nw

    if isinstance(series.dtype, nw.Decimal):
        # Libraries differ in the last bit when they divide by a power of ten; Python's own conversion is exact.
        return numbers_of(name, np.array(series.to_list(), dtype=object))
    if isinstance(series.dtype, (nw.Object, nw.Unknown)):
        return numbers_of(name, series.to_numpy())
    if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
        raise NotNumericError(f"{name} holds {series.dtype}, not numbers; convert it first.")
    there, present = _present(series)
    found = numbers_of(name, present.to_numpy()).values
    return Numbers(found) if there is None else Numbers(_scattered(found, there, np.nan), ~there)


def coded_of_series(name: str, series: nw.Series[Any]) -> Coded:
    """Labels of a column of a frame; the library itself looks for each of them where they are text."""
    import narwhals.stable.v2 as nw

    if is_encoded(series):
        return _numbered(name, encoded(series))
    there, present = _present(series)
    found = _coded_text(name, present) if series.dtype == nw.String else coded_of(name, present.to_numpy())
    return found if there is None else Coded(_scattered(found.codes, there, -1), found.labels)


def labels_of(name: str, column: Any) -> Coded:  # noqa: ANN401  (array, list or column of a frame)
    """Labels of a column; where a library keeps codes, those of its own, which may not all be in use."""
    return encoded(column) if framed(column) and is_encoded(column) else _labels(name, column)


def _numbered(name: str, column: Coded) -> Coded:
    """Number anew those labels that are in use, if need be."""
    used = np.flatnonzero(in_use(column))
    labels = np.empty(len(used), dtype=object)
    labels[:] = [column.labels[at] for at in used.tolist()]
    found = coded_of(name, labels)
    if np.array_equal(found.codes, np.arange(len(column.labels))):
        return Coded(column.codes, found.labels)
    number = np.full(len(column.labels) + 1, -1, dtype=found.codes.dtype)
    number[used] = found.codes
    return Coded(number[column.codes], found.labels)  # −1 is the last, too


def _present(series: nw.Series[Any]) -> tuple[Bools | None, nw.Series[Any]]:
    """Which values are not null (None if all are), and those."""
    if not series.null_count():
        return None, series
    return ~series.is_null().to_numpy(), series.drop_nulls()


def _coded_text(name: str, series: nw.Series[Any]) -> Coded:
    labels = series.unique().to_list()
    if len(labels) > _FEW:
        return coded_of(name, np.array(series.to_list(), dtype=object))
    codes = np.zeros(len(series), dtype=np.int8)
    for at, label in enumerate(labels):
        codes[(series == label).to_numpy()] = at
    return Coded(codes, labels)


def _scattered(values: Any, there: Bools, missing: float) -> Any:  # noqa: ANN401  (an array of the type of the values)
    spread = np.full(len(there), missing, dtype=values.dtype)
    spread[there] = values
    return spread


def _missing(given: object, column: npt.NDArray[Any]) -> Bools | None:
    if isinstance(given, np.ma.MaskedArray):
        return np.ma.getmaskarray(given)
    return missing_objects(column) if column.dtype.kind == "O" else None


def _coded(column: npt.NDArray[Any]) -> Coded:
    """Labels of a column where none is missing."""
    if column.dtype.kind == "b":
        return Coded(column.view(np.int8), [False, True])
    if column.dtype.kind == "O":
        return _coded_objects(column)
    codes, distinct = distinct_codes(column)
    return Coded(_signed(codes, len(distinct)), _written(distinct) if column.dtype.kind == "M" else distinct.tolist())


def _coded_objects(column: npt.NDArray[Any]) -> Coded:
    """Objects by what they equal; those that mean that something is missing are −1."""
    distinct = list(dict.fromkeys(column))
    missing = missing_objects(distinct)
    labels = [label for label, absent in zip(distinct, missing, strict=True) if not absent]
    # A NaN equals nothing, not even itself, but is found in a dict by what it is.
    number = dict.fromkeys(distinct, -1) | {label: at for at, label in enumerate(labels)}
    kind = np.min_scalar_type(-len(distinct) - 1)
    codes = np.fromiter(map(number.__getitem__, column), dtype=kind, count=len(column))
    return Coded(codes, _written(labels) if labels and all(isinstance(each, date) for each in labels) else labels)


def _signed(codes: npt.NDArray[Any], labels: int) -> npt.NDArray[Any]:
    """Codes in a type that knows −1, without a copy where it is as wide."""
    kind = np.dtype(np.min_scalar_type(-labels - 1))
    return codes.view(kind) if kind.itemsize == codes.itemsize else codes.astype(kind)


def _written(times: Iterable[Any]) -> list[str]:
    """Dates and times as people write them, since every library has values of its own for them."""
    zoned = [getattr(time, "tzinfo", None) for time in times]
    return [
        time.isoformat() if zone else str(np.datetime_as_string(np.datetime64(time, "us"), unit="auto"))
        for time, zone in zip(times, zoned, strict=True)
    ]
