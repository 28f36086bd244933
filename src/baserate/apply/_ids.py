"""Ids of rows, which lots are drawn with: whole numbers or text, all of one kind, none of them missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools
from baserate.apply._refused import bad_ids, missing_ids
from baserate.apply._wrong import SHOWN, Wrong
from baserate.read import as_column, framed, missing_objects, series_of

Ids = Any
"""A column of an array or a frame that was seen to hold ids."""


def checked_ids(name: str, given: Any) -> Ids:  # noqa: ANN401  (any column)
    """Ids as they are kept, or an error that says what is wrong with them."""
    column = series_of(name, given)
    return _of_series(name, column) if framed(column) else _of_array(name, column)


def texts(ids: Ids, rows: npt.NDArray[np.intp]) -> list[str]:
    """Ids of some rows as they are hashed."""
    return list(map(str, ids[rows].to_list() if framed(ids) else ids[rows].tolist()))


def _of_series(name: str, series: Any) -> Ids:  # noqa: ANN401  (a column of a frame)
    import narwhals.stable.v2 as nw

    kind = series.dtype
    if not (kind.is_numeric() or kind in (nw.String, nw.Boolean)):
        return _of_objects(name, series.to_list())
    if series.null_count():
        _refuse(name, series.is_null().to_numpy())
    if not (kind.is_integer() or kind == nw.String):
        raise bad_ids(name, str(kind))
    return series


def _of_array(name: str, given: Any) -> Ids:  # noqa: ANN401  (an array or a list)
    if isinstance(given, (list, tuple)):
        # NumPy would make floats of whole numbers beyond 2⁶³, and text of numbers beside text.
        return _of_objects(name, given)
    column = as_column(name, given)
    if isinstance(given, np.ma.MaskedArray):
        _refuse(name, np.ma.getmaskarray(given))
    if column.dtype.kind in ("O", "T"):
        return _of_objects(name, column)
    if column.dtype.kind == "f":
        _refuse(name, np.isnan(column))
    if column.dtype.kind not in "iuU":
        raise bad_ids(name, str(column.dtype))
    return column


def _of_objects(name: str, given: Any) -> Ids:  # noqa: ANN401  (anything that holds one for each row)
    """Python's own values, of which all must be numbers, or all text."""
    ids = np.fromiter(given, dtype=object, count=len(given))
    _refuse(name, missing_objects(ids))
    types = {*map(type, ids)}
    whole = all(issubclass(each, (int, np.integer)) and each is not bool for each in types)
    if not whole and not all(issubclass(each, str) for each in types):
        raise bad_ids(name, " and ".join(sorted(each.__name__ for each in types)))
    return ids


def _refuse(name: str, missing: Bools) -> None:
    """Name the rows without an id, if there are any."""
    if missing.any():
        first = np.flatnonzero(missing)[:SHOWN] + 1
        raise missing_ids(name, Wrong("missing", int(missing.sum()), len(missing), first.tolist()))
