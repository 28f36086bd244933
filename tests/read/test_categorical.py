"""Categorical columns: their codes are kept, and the labels are the same as those of text."""

from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from baserate.read._table import LabelCodes, as_series, encode_array, encode_labels, encode_series

Column = list[str | None]


def _make_chunks(column: Column) -> Any:  # noqa: ANN401  (Arrow)
    """Two chunks, each with a dictionary of its own."""
    half = len(column) // 2
    parts = [pa.array(part, pa.string()).dictionary_encode() for part in (column[:half], column[half:])]
    return pa.chunked_array(parts)


def _add_unused_category(column: Column) -> Any:  # noqa: ANN401  (pandas)
    return pd.Categorical(
        column, categories=["never", *sorted({each for each in column if each is not None}, reverse=True)]
    )


KINDS: dict[str, Any] = {
    "pandas": lambda column: pd.Series(pd.Categorical(column)),
    "pandas, with more categories": _add_unused_category,
    "pandas of Arrow": lambda column: pd.Series(
        pa.array(column, pa.string()).dictionary_encode(), dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    ),
    "polars": lambda column: pl.Series(column, dtype=pl.Categorical),
    "polars, listed": lambda column: pl.Series(
        column, dtype=pl.Enum(["never", *sorted({each for each in column if each is not None})])
    ),
    "pyarrow": lambda column: pa.array(column, pa.string()).dictionary_encode(),
    "pyarrow, in chunks": _make_chunks,
}


def _decode(column: LabelCodes) -> list[object]:
    return [None if at < 0 else column.labels[at] for at in column.codes.tolist()]


@pytest.mark.quick(3)
@pytest.mark.parametrize("kind", KINDS)
@given(column=st.lists(st.sampled_from(["b", "a", "", "it's", "ü", None]), max_size=12))
def test_labels_and_missing_values_are_encoded(kind: str, column: Column) -> None:
    series = as_series("x", KINDS[kind](column))
    read, as_is = encode_series("x", series), encode_labels("x", series)
    assert _decode(read) == _decode(as_is) == column
    assert {*read.labels} == {*column} - {None}
    assert len(read.labels) == len({*read.labels})


def test_labels_need_not_be_text() -> None:
    for labels, read in (
        [[3, 1, 3], [3, 1, 3]],
        [[date(2026, 1, 2)] * 3, ["2026-01-02"] * 3],
        [[True, False, True]] * 2,
    ):
        assert _decode(encode_series("x", as_series("x", pd.Categorical(labels)))) == read
    assert _decode(encode_series("x", as_series("x", pd.Categorical([1.5, None])))) == [1.5, None]


def test_a_dictionary_may_repeat_values_and_contain_nulls() -> None:
    odd = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None, 3], pa.uint8()), pa.array(["a", None, "a", "b"]))
    read = encode_series("x", as_series("x", odd))
    assert _decode(read) == ["a", None, "a", None, "b"]
    assert sorted(map(str, read.labels)) == ["a", "b"]


def test_codes_are_not_copied_if_all_labels_occur() -> None:
    codes = np.array([1, 0, 1], dtype=np.int8)
    for given_ in (pd.Categorical.from_codes(codes, ["b", "a"]), pa.DictionaryArray.from_arrays(codes, ["b", "a"])):
        read = encode_series("x", as_series("x", given_))
        assert read.codes.dtype == np.int8
        assert (read.codes.tolist(), read.labels) == ([1, 0, 1], ["b", "a"])


def test_columns_that_are_no_series_are_converted() -> None:
    assert as_series("x", pa.array([1, None])).to_list() == [1, None]
    assert as_series("x", pd.array([1, None], dtype="Int64")).null_count() == 1
    for plain in ([1, 2], (1, 2), np.array([1, 2]), range(2)):
        assert as_series("x", plain) is plain
    assert _decode(encode_array("x", range(2))) == [0, 1]
