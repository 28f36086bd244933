"""Columns that a library keeps as codes into labels: taken as they are, and never row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools
from baserate._numeric.threads import blocks
from baserate.read._eager import Coded

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw


def is_encoded(series: nw.Series[Any]) -> bool:
    """Whether a column is categorical, an enum or a dictionary of Arrow."""
    import narwhals.stable.v2 as nw

    return isinstance(series.dtype, (nw.Categorical, nw.Enum))


def encoded(series: nw.Series[Any]) -> Coded:
    """Codes of such a column as its library keeps them, and labels, which need not be in use, or there, or differ."""
    native = series.to_native()
    if series.implementation.is_polars():
        # Columns may share their codes, so that a few labels may have great ones.
        distinct = native.unique().drop_nulls()
        known = dict(zip(distinct.to_physical().to_list(), distinct.to_list(), strict=True))
        return Coded(_filled(native.to_physical()), [known.get(at) for at in range(max(known, default=-1) + 1)])
    if hasattr(native, "cat"):
        return Coded(native.cat.codes.to_numpy(), native.cat.categories.tolist())
    arrow: Any = series.to_arrow()
    return Coded(_filled(_chunked(arrow.indices)), arrow.dictionary.to_pylist())


def in_use(column: Coded) -> Bools:
    """Which of the labels occur."""
    many = np.zeros(len(column.labels) + 1, dtype=np.int64)
    for place in blocks(len(column.codes)):
        many += np.bincount(column.codes[place].astype(np.intp) + 1, minlength=len(many))
    found: Bools = many[1:] > 0
    return found


def _filled(native: Any) -> npt.NDArray[Any]:  # noqa: ANN401  (whole numbers of Polars or PyArrow)
    """Codes as an array, −1 where they are null."""
    import narwhals.stable.v2 as nw

    codes = nw.from_native(native, series_only=True)
    found: npt.NDArray[Any] = (codes.cast(nw.Int64).fill_null(-1) if codes.null_count() else codes).to_numpy()
    return found


def _chunked(array: Any) -> Any:  # noqa: ANN401  (arrays of PyArrow)
    """An array of PyArrow as Narwhals knows them."""
    import pyarrow as pa

    return pa.chunked_array([array])
