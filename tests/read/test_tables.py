"""Options of the readers of tables, and errors for invalid ones."""

import io
import sys
from collections.abc import Callable
from contextlib import nullcontext
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
    FileFormatError,
    NotBinaryError,
    NotInstalledError,
    OptionError,
    Rows,
    ShapeError,
    Tallies,
    UnknownNameError,
    read,
)
from baserate.read import _duckdb, _files
from baserate.read._columns import Columns

TABLE: dict[str, Any] = {"y": [1, 0, 1, 0], "p": [0.9, 0.2, 0.4, 0.1], "g": ["a", "b", "b", "a"]}
CSV = "y,p,g\n1,0.9,a\n0,0.2,b\n1,0.4,b\n0,0.1,a\n"
DIGEST = baserate.tally(TABLE["y"], TABLE["p"]).digest


def read_tallies(source: object, **query: Any) -> Tallies:  # noqa: ANN401  (names of columns and options)
    return read.tallies(source, **({"truth": "y", "score": "p"} | query))


@pytest.mark.parametrize(
    ("query", "error", "message"),
    [
        ({"truth": "z"}, UnknownNameError, "there is no column 'z'. There are: 'y', 'p', 'g'."),
        ({"score": "P"}, UnknownNameError, "there is no column 'P'. Did you mean 'p'?"),
        ({"score": None}, OptionError, "no column to evaluate is named; name scores, score='risk'"),
        ({"score": ["p", "p"]}, OptionError, "the column 'p' is named twice"),
        ({"score": "p", "predicted": "p"}, OptionError, "the column 'p' is named twice"),
        (
            {"scores": "p"},
            UnknownNameError,
            "there is no kind of column 'scores'. Did you mean 'score'? Known",
        ),
        ({"missing": "ignore"}, OptionError, "missing is 'ignore'; expected 'refuse' or 'drop'"),
        ({"positive": 2}, NotBinaryError, "positive=2 does not occur in truth"),
        ({"positive": "1"}, NotBinaryError, "positive='1' is text, but truth holds 1, a number; pass positive=1"),
        ({"positive": 1, "negative": 1}, NotBinaryError, "positive and negative are both 1"),
        ({"positive": 1, "negative": "no"}, NotBinaryError, "negative='no' does not occur in truth"),
    ],
)
def test_invalid_arguments_are_reported(query: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        read_tallies(TABLE, **query)
    assert message in str(caught.value)


def test_truth_is_required() -> None:
    with pytest.raises(OptionError, match="no column of labels is named"):
        read.tallies(TABLE, score="p")  # type: ignore[call-arg]


def test_objects_that_are_no_table_raise() -> None:
    with pytest.raises(OptionError, match="int is not a table"):
        read_tallies(7)
    with pytest.raises(FileFormatError, match="two columns of the frame have the same name"):
        read_tallies(pd.DataFrame([[1, 2, 3]], columns=["y", "p", "p"]))
    with pytest.raises(ShapeError, match=r"different lengths \(y 4, p 3\)"):
        read_tallies(TABLE | {"p": [1, 2, 3]})


@pytest.mark.quick(3)
@pytest.mark.parametrize(
    "source", [TABLE, pl.LazyFrame(TABLE), "csv", "parquet"], ids=["lists", "lazy", "csv", "parquet"]
)
@pytest.mark.parametrize("sums", [False, True])
def test_a_column_may_have_two_roles(
    source: Any,  # noqa: ANN401  (any table)
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    sums: bool,
) -> None:
    monkeypatch.setattr(_duckdb, "has_repeated_scores", lambda *_: sums)
    if isinstance(source, str):
        path = tmp_path / f"table.{source}"
        path.write_text(CSV, encoding="utf-8") if source == "csv" else pq.write_table(pa.table(TABLE), path)
        source = path
    perfect = read_tallies(source, score="y", group="y")
    assert perfect.pooled("y").mass.tolist() == [[2, 0], [0, 2]]
    assert perfect.groups == ((0,), (1,))
    weighted = read_tallies(source, weight="p").tally
    assert weighted.mass.tolist() == [[0.9, 0.4, 0, 0], [0, 0, 0.2, 0.1]]


def test_arrays_of_the_caller_are_not_shared() -> None:
    y, p = np.array([1, 0, 1], dtype=np.int8), np.array([0.9, 0.2, 0.4])
    rows = read.rows({"y": y, "p": p, "n": p, "i": y, "c": y}, truth="y", score="p", weight="n", id="i", cluster="c")
    read.tallies({"y": y, "p": p}, truth="y", score="p")
    assert p.flags.writeable
    p[0], y[:] = 0.5, 7
    assert rows.score["p"][0] == 0.9
    assert rows.weight is not None
    assert rows.weight[0] == 0.9
    assert rows.id is not None
    assert rows.id.tolist() == [1, 0, 1]
    assert rows.cluster is not None
    assert set(rows.cluster.tolist()) == {0, 1}
    with pytest.raises(ValueError, match="read-only"):
        rows.score["p"][0] = 1


def test_models_may_have_names_of_fields() -> None:
    rows = read.rows({"y": [1, 0], "truth": [0.9, 0.1], "weight": [0.8, 0.3]}, truth="y", score=["truth", "weight"])
    assert rows.truth.tolist() == [True, False]
    assert rows.weight is None
    assert rows.tallies().models["truth"][()].digest == baserate.tally([1, 0], [0.9, 0.1]).digest


def test_rows_refuse_columns_of_different_lengths() -> None:
    with pytest.raises(ShapeError, match=r"truth \(2,\), score p \(1,\)"):
        Rows(truth=np.array([True, False]), score={"p": np.array([1.0])})


def test_ids_do_not_change_tallies() -> None:
    result = read_tallies(TABLE | {"who": [None, 1, 2, 3]}, id="who")
    assert (result.digest, result.intake.dropped) == (DIGEST, 0)
    with pytest.raises(baserate.MissingValuesError, match="who: 1 missing"):
        read.rows(TABLE | {"who": [None, 1, 2, 3]}, truth="y", score="p", id="who")


def test_label_text_matches_by_spelling() -> None:
    for truth, typed in (([1, 0], "1"), ([True, False], "true"), ([1.0, 0.0], "1"), (["1", "0"], "1")):
        result = read_tallies({"y": truth, "p": [2, 1]}, positive=read.LabelText(typed))
        assert result.tally.mass.tolist() == [[1, 0], [0, 1]]
        assert result.intake.positive == truth[0]
    with pytest.raises(NotBinaryError, match="positive='yes' does not occur"):
        read_tallies(TABLE, positive=read.LabelText("yes"))


def test_several_paths_folders_and_partitions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a[1].csv").write_text("y,p\n1,0.9\n0,0.2\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("y,p\n1,0.4\n0,0.1\n", encoding="utf-8")
    assert read_tallies([tmp_path / "a[1].csv", str(tmp_path / "b.csv")]).digest == DIGEST
    assert read_tallies(tmp_path).digest == DIGEST
    assert read_tallies(tmp_path / "a[1].csv").tally.total == 2
    (tmp_path / ".hidden.csv").write_text("no", encoding="utf-8")
    (tmp_path / "_started").mkdir()
    (tmp_path / "_started" / "c.csv").write_text("no", encoding="utf-8")
    assert read_tallies(tmp_path).digest == DIGEST
    folder = tmp_path / "parts"
    for group in ("a", "b"):
        (folder / f"g={group}").mkdir(parents=True)
        here = [at for at in range(4) if TABLE["g"][at] == group]
        part = {name: [TABLE[name][at] for at in here] for name in ("y", "p")}
        pq.write_table(pa.table(part), folder / f"g={group}" / "part.parquet")
    result = read_tallies(folder, group="g")
    assert result.digest == read_tallies(TABLE, group="g").digest
    assert result.groups == (("a",), ("b",))
    monkeypatch.chdir(tmp_path)
    assert read_tallies("parts/**/*.parquet").digest == DIGEST


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "jsonl", "arrow"])
def test_the_format_of_standard_input_is_detected(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import gzip

    frame, path = pl.DataFrame(TABLE), tmp_path / "table"
    writers: dict[str, Any] = {
        "csv": frame.write_csv,
        "parquet": frame.write_parquet,
        "jsonl": frame.write_ndjson,
        "arrow": frame.write_ipc,
    }
    if kind == "csv.gz":
        path.write_bytes(gzip.compress(CSV.encode()))
    else:
        writers[kind](str(path))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert read_tallies("-").digest == DIGEST


@pytest.mark.slow
def test_late_and_many_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_duckdb, "_FEW_ROWS", 50)
    monkeypatch.setattr(_duckdb, "has_repeated_scores", lambda *_: False)
    rng = np.random.default_rng(5)
    size = 500
    group = ["early"] * 400 + ["late"] * 100
    many = [f"g{number}" for number in rng.integers(0, 90, size)]
    table = {"y": rng.integers(0, 2, size), "p": rng.random(size), "g": group, "m": many, "n": np.arange(size) % 200}
    pl.DataFrame(table).write_csv(tmp_path / "t.csv")
    pl.DataFrame(table).write_parquet(tmp_path / "t.parquet")
    for column in ("g", "m", "n"):
        wanted = read_tallies(table, group=column)
        for name in ("t.csv", "t.parquet"):
            result = read_tallies(tmp_path / name, group=column)
            assert (result.digest, result.groups) == (wanted.digest, wanted.groups)
        assert read_tallies(pl.DataFrame(table), group=column).digest == wanted.digest


def test_many_combinations_of_labels() -> None:
    size = 3000
    table = {"y": [0, 1] * (size // 2), "p": np.arange(size), "a": np.arange(size), "b": np.arange(size)[::-1]}
    result = read_tallies(table, group=["a", "b"])
    assert len(result.groups) == size
    assert result.groups[0] == (0, size - 1)
    assert result.models["p"][7, size - 8].score.tolist() == [7]


def test_the_engine_aggregates_only_if_scores_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_duckdb, "_FEW_ROWS", 100)
    engine = duckdb.connect()
    columns = Columns.of({"truth": "y", "score": "p"})
    for distinct, repeats in ((10, True), (1000, False)):
        result = engine.from_arrow(pa.table({"y": np.arange(1000) % 2, "p": np.arange(1000) % distinct}))
        assert _duckdb.has_repeated_scores(result, columns) is repeats


def test_arrow_files_name_the_missing_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pl.DataFrame(TABLE).write_ipc(tmp_path / "t.arrow")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(NotInstalledError, match=r"pip install 'baserate\[arrow\]'"):
        read_tallies(tmp_path / "t.arrow")


def test_an_interrupted_query_raises_keyboard_interrupt() -> None:
    with pytest.raises(KeyboardInterrupt), _duckdb.translate_errors("a file"):
        raise RuntimeError("Query interrupted")
    with pytest.raises(RuntimeError, match="other"), _duckdb.translate_errors("a file"):
        raise RuntimeError("other")


def test_progress_is_reported(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(CSV, encoding="utf-8")
    output: list[Callable[[], float | None]] = []

    def watch_progress(far: Callable[[], float | None]) -> nullcontext[None]:
        output.append(far)
        assert far() is None
        return nullcontext()

    read.tallies(tmp_path / "t.csv", truth="y", score="p", watch=watch_progress)
    assert len(output) == 1


def test_progress_never_goes_back() -> None:
    raw = iter([-1, 10, 60, 90, 5, 50, -1, 99, 2])
    far = _files.monotone_progress(lambda: float(next(raw)))
    output = [far() for _ in range(9)]
    assert output[0] is None
    shown = [each for each in output if each is not None]
    assert shown == sorted(shown)
    assert shown[2] == 45
    assert shown[-1] <= 99


def test_spellings_of_a_missing_number_are_labels_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("y,p,land\n1,0.9,NA\n0,NA,NA\n0,0.1,DE\n1,,DE\n", encoding="utf-8")
    result = read_tallies(path, group="land", missing="drop")
    assert result.groups == (("DE",), ("NA",))
    assert dict(result.intake.reasons) == {"p": {"missing": 2}}


def test_the_delimiter_is_detected_in_the_header(tmp_path: Path) -> None:
    for delimiter in ",;|\t":
        path = tmp_path / "t.txt"
        path.write_text(
            f'y{delimiter}"a,b;c"{delimiter}p\n1{delimiter}"x"{delimiter}0.5\n0{delimiter}y{delimiter}0.1\n'
        )
        assert read_tallies(path).tally.total == 2


@pytest.mark.parametrize("sums", [False, True])
def test_null_labels_of_every_type_are_missing(monkeypatch: pytest.MonkeyPatch, *, sums: bool) -> None:
    monkeypatch.setattr(_duckdb, "has_repeated_scores", lambda *_: sums)
    engine = duckdb.connect()
    engine.execute("CREATE TYPE mood AS ENUM ('ill', 'well')")
    values = {
        "BOOLEAN": (False, True),
        "DOUBLE": (0.5, 1.5),
        "TINYINT": (3, 4),
        "HUGEINT": (3, 4),
        "DATE": ("2020-01-01", "2021-05-06"),
        "TIMESTAMP": ("2020-01-01", "2021-05-06T12:30"),
        "mood": ("ill", "well"),
        "VARCHAR": ("ill", "well"),
    }
    for kind, (one, other) in values.items():
        rows = f"(1, 0.9, '{one}'), (0, 0.2, '{other}'), (1, 0.4, NULL), (0, 0.1, '{one}')"
        relation = engine.sql(f"SELECT y, p, g::{kind} AS g FROM (VALUES {rows}) t(y, p, g)")  # noqa: S608
        result = read_tallies(relation, group="g", missing="drop")
        assert result.groups == ((one,), (other,)), kind
        assert dict(result.intake.reasons) == {"g": {"missing": 1}}, kind
        assert result.pooled("p").total == 3


def test_dates_are_the_same_labels_in_every_library() -> None:
    from datetime import date, datetime

    for days in ([date(2020, 1, 1), date(2021, 5, 6)], [datetime(2020, 1, 1), datetime(2021, 5, 6, 12, 30)]):  # noqa: DTZ001
        table = {"y": [1, 0, 1, 0], "p": [0.1, 0.2, 0.3, 0.4], "g": days * 2}
        sources = [table, pd.DataFrame(table), pl.DataFrame(table), pl.LazyFrame(table), pa.table(table)]
        last = "2021-05-06T12:30" if isinstance(days[1], datetime) else "2021-05-06"
        for source in [*sources, duckdb.connect().from_arrow(pa.table(table))]:
            assert read_tallies(source, group="g").groups == (("2020-01-01",), (last,))


def test_a_column_of_the_file_overrides_one_in_the_folder_name(tmp_path: Path) -> None:
    for folder in ("g=x", "g=z"):
        (tmp_path / folder).mkdir()
        pq.write_table(pa.table(TABLE), tmp_path / folder / "part.parquet")
    assert read_tallies(tmp_path, group="g").groups == (("a",), ("b",))


def test_labels_that_may_mean_missing_are_noted() -> None:
    table = TABLE | {"g": ["NA", "b", "n/a", "a"]}
    notes = read_tallies(table, group="g").intake.notes
    assert [note.split(" as ")[0] for note in notes] == ["g holds 'NA'", "g holds 'n/a'"]
    assert read_tallies(pl.LazyFrame(table), group="g").intake.notes == notes
    assert read_tallies(TABLE, group="g").intake.notes == ()


def test_a_label_of_other_capitals_is_suggested() -> None:
    with pytest.raises(NotBinaryError, match="Did you mean 'malignant'"):
        read_tallies({"y": ["malignant", "benign"], "p": [1, 2]}, positive="Malignant")


def test_an_excel_workbook_is_detected(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"PK\x03\x04....xl/workbook.xml")
    with pytest.raises(FileFormatError, match="is an Excel workbook; save the sheet as CSV"):
        read_tallies(tmp_path / "t.csv")
