"""Unusual frames, arrays and labels."""

import decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import baserate
from baserate import (
    FileFormatError,
    MissingValuesError,
    NotBinaryError,
    NotNumericError,
    OptionError,
    ShapeError,
    Tallies,
    UnknownNameError,
    measure,
    read,
)
from baserate.read import _duckdb

Y, P = [1, 0, 1], [0.9, 0.2, 0.7]
DIGEST = baserate.tally(Y, P).digest


def read_tallies(source: object, **query: Any) -> Tallies:  # noqa: ANN401  (names of columns and options)
    return read.tallies(source, **({"truth": "y", "score": "p"} | query))


def test_only_the_negative_class_may_be_stated() -> None:
    assert read_tallies({"y": Y, "p": P}, negative=1).intake.positive == 0
    assert read_tallies({"y": ["b", "a"], "p": [2, 1]}, negative="a").intake.positive == "b"
    with pytest.raises(NotBinaryError, match="negative='zzz' does not occur"):
        read_tallies({"y": Y, "p": P}, negative="zzz")
    with pytest.raises(NotBinaryError, match="and 'a' is negative; name the positive one too"):
        read_tallies({"y": ["a", "b", "c"], "p": P}, negative="a")
    with pytest.raises(OptionError, match="more than one label"):
        read_tallies({"y": Y, "p": P}, positive=np.array([1, 0]))


@pytest.mark.parametrize(
    "names",
    [
        pa.array([5, None, 7]),
        pa.array(["a", None, "c"]),
        pa.array([1.5, None, 2.5]),
        pa.array([1, None, 3], pa.timestamp("us")),
        pa.array([True, None, False]),
    ],
    ids=["whole numbers", "text", "floats", "times", "booleans"],
)
def test_rows_without_id_are_missing(names: pa.Array) -> None:
    table = pa.table({"y": Y, "p": P, "i": names})
    engine = duckdb.connect()
    for source in (table, table.to_pandas(), pl.DataFrame(table), pl.LazyFrame(table), engine.from_arrow(table)):
        with pytest.raises(MissingValuesError, match="i: 1 missing"):
            read.rows(source, truth="y", score="p", id="i")
        assert len(read.rows(source, truth="y", score="p", id="i", missing="drop")) == 2
    for given in (
        np.ma.MaskedArray([5, 6, 7], mask=[False, True, False]),
        np.array(["NaT", "2020", "2021"], "datetime64[D]"),
    ):
        with pytest.raises(MissingValuesError, match="i: 1 missing"):
            read.rows({"y": Y, "p": P, "i": given}, truth="y", score="p", id="i")


def test_an_id_may_be_a_label_too(tmp_path: Any) -> None:  # noqa: ANN401  (a path)
    (tmp_path / "t.csv").write_text("y,p,i\n1,0.9,a\n0,0.2,b\n", encoding="utf-8")
    result = read.rows(tmp_path / "t.csv", truth="y", score="p", id="i", cluster="i", group="i")
    assert result.id is not None
    assert result.id.tolist() == ["a", "b"]
    assert result.groups == (("a",), ("b",))


@pytest.mark.parametrize("name", ["^p.*$", "*", "baserate 0", "y p"])
def test_names_are_not_regular_expressions(name: str) -> None:
    frame = pl.DataFrame({"y": Y, name: P, "p1": [0.1, 0.8, 0.3]})
    for source in (frame, frame.lazy(), duckdb.connect().from_arrow(frame)):
        assert read_tallies(source, score=name).digest == DIGEST


@pytest.mark.parametrize("column", ["score", "weight", "count"])
def test_engines_do_not_convert_silently(column: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"y": Y, "p": P, "w": ["1", "2", "3"]})
    monkeypatch.setattr(_duckdb, "has_repeated_scores", lambda *_: True)
    for source in (frame, frame.lazy(), duckdb.connect().from_arrow(frame)):
        with pytest.raises(NotNumericError, match="w"):
            read_tallies(source, **{column: "w"})


def test_integers_beyond_float_precision_are_refused() -> None:
    for values in ([2**70, 2**70 + 1, 5], [2**53 + 1, None, 5], [10**400, 1, 2]):
        with pytest.raises(NotNumericError):
            read_tallies({"y": Y, "p": values}, missing="drop")


def test_categories_keep_their_types() -> None:
    frames = [
        pd.DataFrame({"y": pd.Categorical(Y), "p": P}),
        pd.DataFrame({"y": pd.Categorical([True, False, True]), "p": P}),
        pa.table({"y": pa.array(Y).dictionary_encode(), "p": P}),
    ]
    for frame in frames:
        assert read_tallies(frame).digest == DIGEST
        assert read_tallies(frame, group="y").groups == ((0,), (1,))


@pytest.mark.parametrize("labels", [[[1], [2], [1]], [{"a": 1}, {"a": 2}, {"a": 1}]], ids=["lists", "structs"])
def test_labels_that_cannot_be_compared_are_reported(labels: list[Any]) -> None:
    for source in ({"y": Y, "p": P, "g": labels}, pl.DataFrame({"y": Y, "p": P, "g": labels})):
        with pytest.raises((NotBinaryError, ShapeError), match=r"^g h"):
            read_tallies(source, group="g")


def test_an_unknown_name_among_names_that_are_no_text() -> None:
    for source in ({"y": Y, 0: P}, pd.DataFrame({"y": Y, 0: P})):
        with pytest.raises((UnknownNameError, OptionError)):
            read_tallies(source)


def test_many_attributes_make_many_groups() -> None:
    size = 50
    table: dict[str, Any] = {"y": [0, 1] * (size // 2), "p": np.arange(size)}
    table |= {f"a{at}": np.arange(size) for at in range(70)}
    result = read_tallies(table, group=[f"a{at}" for at in range(70)])
    assert len(result.groups) == size
    assert result.groups[3] == (3,) * 70


def test_errors_of_engines_are_translated() -> None:
    with pytest.raises(FileFormatError, match="the frame cannot be read"):
        read_tallies(pl.scan_csv("nowhere-at-all.csv"))
    with pytest.raises(FileFormatError, match="the frame cannot be read"):
        read_tallies(pl.LazyFrame({"y": Y, "p": P}).select("y", pl.col("p").str.to_uppercase()))

    class Broken:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise RuntimeError("the line went dead")

    with pytest.raises(FileFormatError, match="the frame cannot be read"):
        read_tallies(Broken())


def test_a_decimal_is_the_nearest_float_in_every_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["0.12345678901234567890123456789", "0.98765432109876543210987654321", "0.5"]
    decimals = pa.array([decimal.Decimal(text) for text in texts], pa.decimal128(38, 29))
    table = pa.table({"y": Y, "p": decimals})
    wanted = baserate.tally(Y, [float(text) for text in texts]).digest
    for sums in (False, True):
        monkeypatch.setattr(_duckdb, "has_repeated_scores", lambda *_, sums=sums: sums)
        for source in (table, pl.DataFrame(table), pl.LazyFrame(table), duckdb.connect().from_arrow(table)):
            assert read_tallies(source).digest == wanted


def test_huge_integer_labels_become_text() -> None:
    result = measure.summary(read_tallies({"y": Y, "p": P, "g": [2**64, 1, 2]}, group="g"), measures=["accuracy"])
    assert str(2**64) in result.frame("polars")["group.g"].to_list()
    assert str(2**64) in pa.table(result).to_pydict()["group.g"]


def test_invalid_thresholds_and_measures_are_reported() -> None:
    t = read_tallies({"y": Y, "p": P})
    for wrong in ("half", ["half"], [[1], [2, 3]]):
        with pytest.raises(OptionError, match="expected a number, or several in a list"):
            measure.summary(t, threshold=wrong)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="is not a measure"):
        measure.summary(t, measures=[len])
    assert measure.summary(t, threshold=[]).rows() == measure.summary(t).rows()
    assert measure.summary(t, threshold=0.3).rows() == measure.summary(t, threshold=iter([0.3])).rows()
