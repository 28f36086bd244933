"""Edge cases of reading that a small mistake would change without an error."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import baserate
from baserate import (
    EmptyDataError,
    FileFormatError,
    NotBinaryError,
    Rows,
    ShapeError,
    Tallies,
    Tally,
    UnknownNameError,
    WeightError,
    read,
)
from baserate.read import _duckdb, _engines, _files
from baserate.read._columns import Columns
from baserate.read._labels import parse_labels, sort_labels
from tests.read.test_tables import CSV, DIGEST, TABLE, read_tallies
from tests.readers import Table

# --- labels ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "texts",
    [
        ["01", "02"],
        ["+1", "2"],
        ["-0", "1"],
        ["00.5", "1.5"],
        ["1.", "2."],
        ["1e3", "2e3"],
        ["1234567890123456789", "2"],
        ["0.1234567890123456", "0.5"],
        ["1", "0.5"],
        ["true", "1"],
        [],
    ],
)
def test_labels_that_are_not_written_as_plain_numbers_stay_text(texts: list[str]) -> None:
    assert parse_labels(texts) == texts
    assert all(isinstance(label, str) for label in parse_labels(texts))


def test_labels_in_any_capitals_are_booleans() -> None:
    assert parse_labels(["TRUE", "false"]) == [True, False]


def test_labels_of_several_types_are_ordered_by_type_and_then_by_text() -> None:
    assert sort_labels(["1", 2, "3"]) == [2, "1", "3"]


def test_an_absent_positive_label_is_refused_among_numbers_too() -> None:
    with pytest.raises(NotBinaryError, match="positive=1 does not occur in truth, which holds 0, 2"):
        read_tallies({"y": [0, 2], "p": [0.9, 0.1]}, positive=1)
    with pytest.raises(NotBinaryError, match="positive=2 does not occur in truth, which holds 0"):
        read_tallies({"y": [0, 0], "p": [0.9, 0.1]}, positive=2)
    assert read_tallies({"y": [0, 0], "p": [0.9, 0.1]}, positive=1).tally.mass.tolist() == [[0, 0], [1, 1]]


def test_truth_without_any_label_is_refused(make_source: Callable[[Table], Any]) -> None:
    table = {"y": [*pa.array([None, None], pa.int8()).to_pylist(), 1], "p": [0.9, 0.1, 0.5], "g": ["a", "a", "b"]}
    assert read_tallies(make_source(table), missing="drop").tally.total == 1
    with pytest.raises(EmptyDataError, match="every value of y is missing; give at least one label"):
        read_tallies({"y": [None, None], "p": [0.9, 0.1]}, missing="drop")


def test_unknown_predicted_labels_are_missing_if_both_classes_are_stated(
    make_source: Callable[[Table], Any],
) -> None:
    table = {"y": ["a", "b", "a"], "hat": ["a", "c", "b"]}
    query: dict[str, Any] = {"score": None, "predicted": "hat", "positive": "a", "negative": "b"}
    with pytest.raises(NotBinaryError, match=r"1 of 3 rows cannot be used \(hat: 1 unknown label\)"):
        read_tallies(make_source(table), **query)
    result = read_tallies(make_source(table), **query, missing="drop")
    assert result.tally.mass.tolist() == [[1, 1], [0, 0]]
    assert dict(result.intake.reasons) == {"hat": {"unknown label": 1}}


def test_two_unknown_predicted_labels_are_refused() -> None:
    with pytest.raises(NotBinaryError, match=r"hat holds 'b', 'c', but truth 'a'; give both the same labels"):
        read_tallies({"y": ["a", "a"], "hat": ["b", "c"]}, score=None, predicted="hat", positive="a")


def test_more_than_256_groups_are_distinct() -> None:
    size = 600
    table = {"y": np.arange(size) % 2, "p": np.arange(size), "g": np.arange(size) // 2}
    result = read_tallies(table, group="g")
    assert len(result.groups) == 300
    assert result.models["p"][299,].score.tolist() == [599, 598]
    assert result.models["p"][43,].score.tolist() == [87, 86]


# --- weights, and what is dropped -----------------------------------------------------------------------------------


def test_weights_of_dropped_rows_are_not_checked(make_source: Callable[[Table], Any]) -> None:
    table = {"y": [1, 0, 1], "p": [0.9, 0.2, np.nan], "w": [1.0, 2.0, -1.0]}
    assert read_tallies(make_source(table), weight="w", missing="drop").tally.mass.tolist() == [[1, 0], [0, 2]]


def test_bad_weights_are_counted_among_remaining_rows(make_source: Callable[[Table], Any]) -> None:
    table = {"y": [1, 0, 1], "p": [0.9, 0.2, np.nan], "w": [1.0, -2.0, 1.0]}
    with pytest.raises(WeightError, match="1 of 2 values of w are negative"):
        read_tallies(make_source(table), weight="w", missing="drop")


def test_scores_that_are_all_null_are_missing() -> None:
    table: dict[str, Any] = {"y": [1, 0], "p": [None, None]}
    for source in (table, pl.DataFrame(table), pa.table(table)):
        with pytest.raises(EmptyDataError, match=r"all 2 rows were dropped \(p: 2 (missing|NaN)\)"):
            read_tallies(source, missing="drop")


def test_rows_of_frames_without_id_are_missing() -> None:
    frame = pl.DataFrame(TABLE | {"who": [2**60 + 1, None, 9, 10]})
    for source in (frame, frame.to_arrow()):
        result = read.rows(source, truth="y", score="p", id="who", missing="drop")
        assert result.id is not None
        assert result.id.tolist() == [2**60 + 1, 9, 10]
        assert dict(result.intake.reasons) == {"who": {"missing": 1}}


# --- files ----------------------------------------------------------------------------------------------------------

ENDINGS = {
    "csv": ("csv", "tsv", "tab", "txt", "CSV", "csv.gz"),
    "json": ("json", "jsonl", "ndjson", "jsonl.gz"),
    "parquet": ("parquet", "pq", "parq"),
    "arrow": ("arrow", "feather", "ipc", "arrows"),
}


@pytest.mark.quick(6)
@pytest.mark.parametrize(("kind", "ending"), [(kind, each) for kind, endings in ENDINGS.items() for each in endings])
def test_a_file_in_a_folder_is_detected_by_its_suffix(kind: str, ending: str, tmp_path: Path) -> None:
    path, frame = tmp_path / f"t.{ending}", pl.DataFrame(TABLE)
    writers: dict[str, Any] = {
        "csv": frame.write_csv,
        "json": frame.write_ndjson,
        "parquet": frame.write_parquet,
        "arrow": frame.write_ipc,
    }
    writers[kind](str(tmp_path / "made"))
    result = (tmp_path / "made").read_bytes()
    path.write_bytes(gzip.compress(result) if ending.endswith("gz") else result)
    (tmp_path / "made").unlink()
    (tmp_path / "notes.md").write_text("no table", encoding="utf-8")
    assert read_tallies(tmp_path).digest == DIGEST


@pytest.mark.parametrize("start", ["", "\ufeff", "\n", " "])
@pytest.mark.parametrize("form", ["lines", "array"])
def test_json_without_a_suffix_is_detected_by_its_first_character(form: str, start: str, tmp_path: Path) -> None:
    rows = pl.DataFrame(TABLE).to_dicts()
    text = json.dumps(rows) if form == "array" else "\n".join(map(json.dumps, rows))
    (tmp_path / "table").write_text(start + text, encoding="utf-8")
    assert _files._inspect(tmp_path / "table", "table").kind == "json"  # noqa: SLF001
    if not start:
        assert read_tallies(tmp_path / "table").digest == DIGEST


def test_the_suffix_of_a_text_file_overrides_its_content(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("{y},p\n1,0.9\n0,0.2\n1,0.4\n0,0.1\n", encoding="utf-8")
    assert read_tallies(tmp_path / "t.csv", truth="{y}").digest == DIGEST


@pytest.mark.quick(3)
@pytest.mark.parametrize("written", ["NA", "N/A", "na", "n/a", "null", "NULL", "None", ""])
def test_a_missing_number_has_many_spellings(written: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"y,p\n1,0.9\n0,{written}\n", encoding="utf-8")
    assert dict(read_tallies(tmp_path / "t.csv", missing="drop").intake.reasons) == {"p": {"missing": 1}}


@pytest.mark.parametrize(
    ("start", "packing"),
    [(b"\x28\xb5\x2f\xfd", "zstd"), (b"BZh9", "bzip2"), (b"\xfd7zXZ\0", "xz"), (b"PK\x03\x04", "zip")],
)
def test_unsupported_compression_is_reported(start: bytes, packing: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(start + b"\0" * 50)
    with pytest.raises(FileFormatError, match=f"is packed with {packing}; unpack it first"):
        read_tallies(tmp_path / "t.csv")


@pytest.mark.quick(5)
@pytest.mark.parametrize("most", range(6, 20))
def test_the_head_of_a_file_may_end_within_a_character(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_files, "_HEAD_SIZE", most)
    (tmp_path / "t.csv").write_text("y,p,g\n1,0.9,é日\n0,0.2,日é\n1,0.4,é日\n0,0.1,é\n", encoding="utf-8")
    assert read_tallies(tmp_path / "t.csv").digest == DIGEST


def test_files_must_share_their_delimiter(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("y,p\n1,0.9\n0,0.2\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("y;p\n1;0.4\n0;0.1\n", encoding="utf-8")
    with pytest.raises(
        FileFormatError, match=r"b\.csv has another header than .*a\.csv; give files with the same columns"
    ):
        read_tallies([tmp_path / "a.csv", tmp_path / "b.csv"])


def test_file_names_are_not_expanded_as_patterns(tmp_path: Path) -> None:
    for name in ("a*.csv", "ab.csv"):
        (tmp_path / name).write_text("y,p\n1,0.9\n0,0.2\n", encoding="utf-8")
    assert read_tallies(tmp_path / "a*.csv").tally.total == 2


def test_a_folder_that_is_called_like_a_table_is_not_read_as_one(tmp_path: Path) -> None:
    (tmp_path / "t.csv").mkdir()
    (tmp_path / "t.csv" / "part.csv").write_text(CSV, encoding="utf-8")
    assert read_tallies(tmp_path).digest == DIGEST
    assert read_tallies(str(tmp_path / "t.csv")).digest == DIGEST


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_detected_in_either_byte_order(order: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(("\ufeff" + CSV).encode(order))
    with pytest.raises(FileFormatError, match="is UTF-16 text"):
        read_tallies(tmp_path / "t.csv")


def test_a_byte_order_mark_is_no_part_of_the_header(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("\ufeff" + CSV, encoding="utf-8")
    assert read_tallies(tmp_path / "t.csv").digest == DIGEST
    (tmp_path / "empty.csv").write_text("\ufeff\n", encoding="utf-8")
    with pytest.raises(EmptyDataError, match="is empty"):
        read_tallies(tmp_path / "empty.csv")


def test_compressed_and_plain_files_do_not_mix(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(CSV, encoding="utf-8")
    (tmp_path / "b.csv").write_bytes(gzip.compress(CSV.encode()))
    with pytest.raises(FileFormatError, match="some of the files are packed and some are not"):
        read_tallies(tmp_path)


def test_a_header_may_hold_line_breaks_and_delimiters_in_quotes(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('"a;b;c;d",y,"p\nq"\nx,1,0.9\nx,0,0.2\nx,1,0.4\nx,0,0.1\n', encoding="utf-8")
    assert read_tallies(tmp_path / "t.csv", score="p\nq").digest == DIGEST


def test_every_arrow_file_must_have_the_columns_and_one_form(tmp_path: Path) -> None:
    pl.DataFrame({"y": [1, 0], "p": [0.9, 0.2]}).write_ipc(tmp_path / "a.arrow")
    pl.DataFrame({"y": [1, 0], "q": [0.4, 0.1]}).write_ipc(tmp_path / "b.arrow")
    pl.DataFrame({"y": [1, 0], "p": ["high", "low"]}).write_ipc(tmp_path / "c.arrow")
    pl.DataFrame({"p": [0.4, 0.1], "y": [1, 0], "z": [3, 4]}).write_ipc(tmp_path / "d.arrow")
    with pytest.raises(UnknownNameError, match="there is no column 'p'"):
        read_tallies([tmp_path / "a.arrow", tmp_path / "b.arrow"])
    with pytest.raises(FileFormatError, match=r"c\.arrow has other types than .*a\.arrow"):
        read_tallies([tmp_path / "a.arrow", tmp_path / "c.arrow"])
    assert read_tallies([tmp_path / "a.arrow", tmp_path / "d.arrow"]).digest == DIGEST


# --- the engine -----------------------------------------------------------------------------------------------------


def test_data_that_do_not_fit_into_memory_are_reported() -> None:
    with (
        pytest.raises(
            FileFormatError, match=r"^a file does not fit into memory \(failed to allocate\.\); read a part of it\.$"
        ),
        _duckdb.translate_errors("a file"),
    ):
        raise duckdb.OutOfMemoryException("Out of Memory Error: failed to allocate\nand much more.")


def test_the_first_line_of_an_engine_error_is_reported() -> None:
    with (
        pytest.raises(FileFormatError, match=r"^a file cannot be read: disk is gone\.$"),
        _duckdb.translate_errors("a file"),
    ):
        raise duckdb.IOException("IO Error: disk is gone.\nLINE 1: SELECT\n        ^")


def test_errors_in_our_sql_are_not_translated() -> None:
    for slip in (duckdb.ParserException, duckdb.BinderException):
        with pytest.raises(slip), _duckdb.translate_errors("a file"):
            raise slip("syntax error")


def test_the_engine_reports_progress_and_loads_no_extensions() -> None:
    with _duckdb.engine() as engine:
        settings = ["enable_progress_bar", "enable_progress_bar_print"]
        settings += ["autoinstall_known_extensions", "autoload_known_extensions"]
        output = engine.sql("SELECT " + ", ".join(f"current_setting('{each}')" for each in settings)).fetchall()
    assert output == [(True, False, False, False)]


def test_repetition_is_counted_over_scores_and_labels_jointly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_duckdb, "_FEW_ROWS", 100)
    size = 1000
    table = {
        "y": np.arange(size) % 2,
        "ten": np.arange(size) % 10,
        "real": np.arange(size) / size,
        "many": np.arange(size) % 300,
        "none": pa.nulls(size, pa.string()),
    }
    result = duckdb.connect().from_arrow(pa.table(table))
    few = duckdb.connect().from_arrow(pa.table(table).slice(0, 90))
    for source, named, wanted in (
        (result, {"score": "ten"}, True),
        (result, {"score": ["ten", "real"]}, False),
        (result, {"score": "many"}, False),
        (result, {"score": "ten", "group": "many"}, False),
        (result, {"predicted": "y"}, True),
        (result, {"predicted": "y", "group": "many"}, False),
        (result, {"score": "real", "group": "none"}, False),
        (few, {"score": "ten"}, False),
    ):
        assert _duckdb.has_repeated_scores(source, Columns.of({"truth": "y", **named})) is wanted, named  # type: ignore[typeddict-item]


def test_a_relation_is_checked_for_repeated_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    query: list[object] = []

    def record_check(*source: object) -> bool:
        query.append(source)
        return False

    monkeypatch.setattr(_duckdb, "has_repeated_scores", record_check)
    assert read_tallies(duckdb.connect().from_arrow(pa.table(TABLE))).digest == DIGEST
    assert len(query) == 1


@pytest.mark.parametrize("many", [63, 64, 65, 66])
def test_the_largest_number_of_labels_that_the_engine_codes(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_duckdb, "has_repeated_scores", lambda *_: False)
    at = np.arange(4 * many)
    table = pa.table({"y": at % 2, "p": at / 1000, "g": [f"g{each:03}" for each in at % many], "n": at % many})
    relation = duckdb.connect().from_arrow(table)
    for column in ("g", "n"):
        result, wanted = (read_tallies(source, group=column) for source in (relation, table))
        assert (result.digest, result.groups) == (wanted.digest, wanted.groups)


def test_data_that_change_between_queries_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, queried = iter([4, 3]), _engines._query  # noqa: SLF001

    def query_changed_data(lazy: _engines.LazyColumns, columns: Columns, own: Columns) -> object:
        return queried(lazy._replace(frame=lazy.frame.head(next(sizes))), columns, own)

    monkeypatch.setattr(_engines, "_query", query_changed_data)
    with pytest.raises(FileFormatError, match="the data changed while they were read"):
        read_tallies(pl.LazyFrame(TABLE), score=["p", "y"])


# --- nouns: Rows and Tallies -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["weight", "count", "id", "cluster"])
def test_rows_refuse_any_column_of_another_length(name: str) -> None:
    with pytest.raises(ShapeError, match=rf"{name} \(1,\)"):
        Rows(truth=np.array([True, False]), score={"p": np.zeros(2)}, **{name: np.ones(1)})  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match=r"group \(3,\)"):
        Rows(
            truth=np.array([True, False]),
            score={"p": np.zeros(2)},
            group=np.zeros(3, np.uint8),
            groups=(("a",),),
            attributes=("g",),
        )
    with pytest.raises(ShapeError):
        Rows(truth=np.ones((2, 2), np.bool_), score={"p": np.ones((2, 2))})


def test_rows_are_frozen_down_to_their_arrays() -> None:
    mine = {name: np.ones(2) for name in ("weight", "count", "id", "cluster")}
    truth, group, score = np.array([True, False]), np.zeros(2, np.uint8), np.zeros(2)
    rows = Rows(truth=truth, score={"p": score}, group=group, groups=(("a",),), attributes=("g",), **mine)  # type: ignore[arg-type]
    for name in ("truth", "group", *mine):
        with pytest.raises(ValueError, match="read-only"):
            getattr(rows, name)[0] = 7
    with pytest.raises(ValueError, match="read-only"):
        rows.score["p"][0] = 7
    with pytest.raises(TypeError):
        rows.score["q"] = score  # type: ignore[index]
    score[0] = truth[1] = 1
    assert (rows.score["p"][0], rows.truth[1]) == (0, False)


T = Tally.from_counts([0.9, 0.4], [[2, 1], [0, 3]])


@pytest.mark.parametrize(
    ("models", "attributes"),
    [
        ({}, ()),
        ({"p": {}}, ()),
        ({"p": {(): T}, "q": {}}, ()),
        ({"p": {("f",): T}, "q": {("m",): T}}, ("sex",)),
        ({"p": {("f",): T}}, ()),
        ({"p": {(): T}}, ("sex",)),
    ],
)
def test_tallies_need_a_tally_for_each_model_and_group(
    models: dict[str, dict[tuple[object, ...], Tally]], attributes: tuple[str, ...]
) -> None:
    with pytest.raises(baserate.OptionError, match=r"a tally for each of the same groups|a value for each attribute"):
        Tallies(models, attributes)


def test_tallies_cannot_be_changed_from_outside() -> None:
    mine: dict[str, dict[tuple[object, ...], Tally]] = {"p": {(): T}}
    tallies = Tallies(mine)
    mine["p"][1,] = T
    mine["q"] = {}
    assert list(tallies.models) == ["p"]
    assert tallies.groups == ((),)
    with pytest.raises(TypeError):
        tallies.models["p"][()] = T  # type: ignore[index]


def test_digests_of_several_tallies_are_stable() -> None:
    both = Tallies({"risk": {("f",): T, ("m",): T}}, ("sex",))
    assert both.digest == "c47acabb1dcfc1dae7f86617cb31bcf77113e711c040a5792f3daec1e7561503"
    assert Tallies({"risk": {("f",): T, ("x",): T}}, ("sex",)).digest != both.digest


def test_ids_must_be_as_many_as_rows() -> None:
    with pytest.raises(ShapeError, match=r"different lengths \(y 4, p 4, id 3\)"):
        read.rows(TABLE | {"who": [1, 2, 3]}, truth="y", score="p", id="who")


def test_label_text_may_be_in_capitals_or_fractions() -> None:
    for truth, typed in (([True, False], "TRUE"), ([0.5, 1.5], "0.50"), ([2.0, 3.0], "2")):
        assert read_tallies({"y": truth, "p": [2, 1]}, positive=read.LabelText(typed)).intake.positive == truth[0]


def test_a_list_that_is_not_all_paths_is_no_table() -> None:
    with pytest.raises(baserate.OptionError, match="list is not a table"):
        read_tallies(["t.csv", 7])
    with pytest.raises(baserate.OptionError, match="tuple is not a table"):
        read_tallies((7, "t.csv"))


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "pyarrow", "duckdb", "stream"])
def test_an_unusable_column_is_reported(kind: str) -> None:
    from tests.readers import Stream

    sources: dict[str, Any] = {
        "pandas": pd.DataFrame(TABLE),
        "polars": pl.DataFrame(TABLE),
        "lazy": pl.LazyFrame(TABLE),
        "pyarrow": pa.table(TABLE),
        "duckdb": duckdb.connect().from_arrow(pa.table(TABLE)),
        "stream": Stream(pa.table(TABLE)),
    }
    with pytest.raises(UnknownNameError, match=r"there is no column 'P'\. Did you mean 'p'\?"):
        read_tallies(sources[kind], score="P")


def test_empty_columns_raise() -> None:
    lists: dict[str, list[int]] = {"y": [], "p": []}
    for source in (lists, {"y": np.zeros(0, np.int64), "p": np.zeros(0)}, pl.DataFrame(TABLE)[:0]):
        with pytest.raises(EmptyDataError, match="there are no rows"):
            read_tallies(source)


def test_an_unknown_column_among_many_lists_the_first_twenty() -> None:
    for many, output in ((20, "'c19'."), (21, "'c19' and 1 more.")):
        with pytest.raises(UnknownNameError) as caught:
            read_tallies({f"c{at}": [0] for at in range(many)}, truth="c0", score="zzz")
        assert str(caught.value).endswith(output)


def test_booleans_are_labels() -> None:
    result = read_tallies({"y": np.array([True, True]), "p": [0.9, 0.1]})
    assert (result.intake.positive, result.intake.negative) == (True, False)


def test_masked_and_nan_labels_are_both_missing() -> None:
    truth = np.ma.array([1.0, 0.0, np.nan, 1.0], mask=[False, False, False, True])
    result = read_tallies({"y": truth, "p": [0.9, 0.4, 0.3, 0.1]}, missing="drop")
    assert dict(result.intake.reasons) == {"y": {"missing": 2}}
    assert result.tally.mass.tolist() == [[1, 0], [0, 1]]


def test_nan_among_labels_of_an_engine_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_duckdb, "has_repeated_scores", lambda *_: False)
    relation = duckdb.connect().from_arrow(pa.table(TABLE | {"y": [1.0, 0.0, 1.0, np.nan]}))
    assert dict(read_tallies(relation, missing="drop").intake.reasons) == {"y": {"missing": 1}}


def test_the_beginning_of_a_bad_line_is_reported(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"y,p\n1,0.5\n0,0.4,{'x' * 500}\n", encoding="utf-8")
    with pytest.raises(FileFormatError) as caught:
        read_tallies(tmp_path / "t.csv")
    assert f"('0,0.4,{'x' * 54}')" in str(caught.value)


def test_several_paths_are_named_by_the_first(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv", "c.csv"):
        (tmp_path / name).write_text("y,p\n1,0.5\n", encoding="utf-8")
    pq.write_table(pa.table(TABLE), tmp_path / "d.parquet")
    with pytest.raises(FileFormatError, match=r"a\.csv and 2 more "):
        read_tallies([tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "d.parquet"])


def test_a_corrupt_gzip_file_is_reported(tmp_path: Path) -> None:
    whole = bytearray(gzip.compress(np.random.default_rng(1).bytes(5000)))
    whole[10:40] = b"\xff" * 30
    (tmp_path / "t.csv.gz").write_bytes(whole)
    with pytest.raises(FileFormatError, match="cannot be unpacked"):
        read_tallies(tmp_path / "t.csv.gz")


def test_a_file_without_permission_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_text(CSV, encoding="utf-8")

    def deny_permission(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", deny_permission)
    with pytest.raises(baserate.NoSuchFileError, match=r"t\.csv cannot be opened: Permission denied"):
        read_tallies(tmp_path / "t.csv")


def test_masked_whole_numbers_are_missing() -> None:
    score = np.ma.array([3, 2, 1], mask=[False, True, False])
    result = read_tallies({"y": [1, 0, 0], "p": score}, missing="drop")
    assert dict(result.intake.reasons) == {"p": {"missing": 1}}
    assert result.tally.score.tolist() == [3, 1]


def test_booleans_may_be_scores() -> None:
    table = {"y": [1, 0, 1], "p": [True, False, False]}
    for source in (table, pl.DataFrame(table), pl.LazyFrame(table), pa.table(table), pd.DataFrame(table)):
        assert read_tallies(source).tally.score.tolist() == [1, 0]


def test_more_than_128_text_labels_are_distinct() -> None:
    at = np.arange(600)
    table = {"y": at % 2, "p": at, "g": [f"g{each:03}" for each in at // 2]}
    for source in (pl.DataFrame(table), pa.table(table)):
        result = read_tallies(source, group="g")
        assert len(result.groups) == 300
        assert result.models["p"]["g299",].score.tolist() == [599, 598]


def test_rows_may_have_empty_groups() -> None:
    rows = Rows(
        truth=np.array([True, False]),
        score={"p": np.array([0.9, 0.1])},
        group=np.zeros(2, np.uint8),
        groups=(("a",), ("b",)),
        attributes=("g",),
    )
    assert [tally.total for tally in rows.tallies().models["p"].values()] == [2, 0]
