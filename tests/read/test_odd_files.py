"""Unusual files, as people and programs write them."""

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import baserate
from baserate import FileFormatError, OptionError, Tallies, read
from tests.tiers import take_in_tiers

DIGEST = baserate.tally([1, 0, 1], [0.9, 0.2, 0.7]).digest
CSV = "y,p\n1,0.9\n0,0.2\n1,0.7\n"


def read_tallies(source: object, **query: Any) -> Tallies:  # noqa: ANN401  (names of columns and options)
    return read.tallies(source, **({"truth": "y", "score": "p"} | query))


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    "text",
    [
        CSV,
        "\ufeff" + CSV,
        CSV.replace("\n", "\r\n"),
        CSV.replace("\n", "\r"),
        "\n\n" + CSV,
        "\r\n" + CSV.replace("\n", "\r\n"),
        CSV.rstrip(),
        'p,"a\nb",y\n0.9,"x\ny",1\n0.2,z,0\n0.7,"",1\n',
        ",y,p\n1,1,0.9\n2,0,0.2\n3,1,0.7\n",
        "y,p\n1, 0.9\n0,2e-1\n1,.7\n",
        '"y";"p"\n1;0.9\n0;0.2\n1;0.7\n',
    ],
    ids=[
        *("plain", "byte order mark", "CRLF", "CR", "blank lines first", "blank CRLF first", "no end of line"),
        *("lines in cells", "an index without a name", "numbers with spaces", "semicolons"),
    ],
)
def test_text_written_by_programs(text: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(text.encode())
    assert read_tallies(tmp_path / "t.csv").digest == DIGEST


ENDS = {"LF": "\n", "CRLF": "\r\n", "CR": "\r"}
HEADERS = {
    "first name": ['"is\nsick"', '"p"'],
    "last name": ["y", '"the\nscore"'],
    "both names": ['"is\nsick"', '"the\n\nscore"'],
    "quotes and commas": ['"is ""sick"",\n"', '"a, b\n"'],
    "comma": ['"y, then"', "p"],
}


@pytest.mark.quick(6)
@pytest.mark.parametrize("rows", take_in_tiers([3, 1, 3000]))
@pytest.mark.parametrize("within", ["as lines end", "LF"])
@pytest.mark.parametrize("start", ["", "\ufeff"], ids=["no mark", "mark"])
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("header", take_in_tiers(HEADERS, {"both names", "quotes and commas"}.__contains__))
def test_names_may_hold_line_breaks(header: str, end: str, start: str, within: str, rows: int, tmp_path: Path) -> None:
    """Spreadsheets write such headers: lines end in CRLF, breaks within a cell are LF."""
    line_end, inner = ENDS[end], "\n" if within == "LF" else ENDS[end]
    quoted = [name.replace("\n", inner) for name in HEADERS[header]]
    truth, score = (name.strip('"').replace('""', '"') for name in quoted)
    body = [f"{at % 2},{at / 4096}" for at in range(rows)]
    (tmp_path / "t.csv").write_bytes((start + line_end.join([",".join(quoted), *body, ""])).encode())
    result = read.rows(tmp_path / "t.csv", truth=truth, score=score, positive=1, negative=0)
    assert np.array_equal(result.truth, np.arange(rows) % 2 == 1)
    assert np.array_equal(result.score[score], np.arange(rows) / 4096)


@pytest.mark.parametrize("text", ['"is\nsick";p;q\n1;0.9;2\n', '\ufeff\n\n"is\nsick"\tp\n1\t0.9\n'])
def test_the_delimiter_is_detected_after_a_line_break(text: str, tmp_path: Path) -> None:
    for name, pack in (("t.csv", bytes), ("t.csv.gz", gzip.compress)):
        (tmp_path / name).write_bytes(pack(text.encode()))
        assert read_tallies(tmp_path / name, truth="is\nsick", positive=1, negative=0).tally.total == 1


def test_line_ends_that_differ_between_files_are_refused(tmp_path: Path) -> None:
    """One call of the engine reads all of them, with one kind of line end."""
    for name, end in (("a.csv", "\n"), ("b.csv", "\r\n")):
        (tmp_path / name).write_bytes(end.join(['"is\nsick",p', "1,0.9", "0,0.2", ""]).encode())
    with pytest.raises(FileFormatError, match=r"b\.csv has other line ends than .*a\.csv"):
        read_tallies(tmp_path, truth="is\nsick")


@pytest.mark.slow
def test_rows_of_a_long_file_keep_their_order(tmp_path: Path) -> None:
    """DuckDB reads in parallel from about a million rows."""
    size = 1_500_000
    path = tmp_path / "long.csv"
    path.write_text("y,p\n" + "".join(f"{at % 2},{at}\n" for at in range(size)), encoding="utf-8")
    result = read.rows(path, truth="y", score="p")
    assert np.array_equal(result.score["p"], np.arange(size))
    assert np.array_equal(result.truth, np.arange(size) % 2 == 1)


def test_pipes_are_read_by_their_path(tmp_path: Path) -> None:
    code = "import sys; from baserate import read; print(read.tallies(sys.argv[1], truth='y', score='p').digest)"
    for path in ("/dev/stdin", "-"):
        done = subprocess.run(
            [sys.executable, "-c", code, path], input=CSV, capture_output=True, text=True, check=True, timeout=60
        )
        assert done.stdout.strip() == DIGEST
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen([sys.executable, "-c", f"open({str(pipe)!r}, 'w').write({CSV!r})"]) as writer:
        assert read_tallies(pipe).digest == DIGEST
        assert writer.wait(60) == 0


def test_a_closed_standard_input_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(baserate.EmptyDataError, match="standard input is closed"):
        read_tallies("-")


JSON = '{"y": 1, "p": 0.9}\n{"y": 0, "p": 0.2}\n{"y": 1, "p": 0.7}\n'
WIDE = ", ".join(f'"f{at}": {at}.5' for at in range(300))


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    "text",
    [
        JSON,
        f"[{JSON.strip().replace(chr(10), ',')}]",
        JSON.replace("}", f", {WIDE}}}"),
        "".join(f'{{"y": {y}, "p": {p}, "k{at}": 1}}\n' for at, (y, p) in enumerate([(1, 0.9), (0, 0.2), (1, 0.7)])),
        JSON.replace("1,", '"1",').replace("0,", '"0",'),
    ],
    ids=["lines", "an array", "wide", "keys that differ", "numbers as text"],
)
@pytest.mark.parametrize("packed", [False, True])
def test_json_written_by_programs(text: str, tmp_path: Path, *, packed: bool) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert read_tallies(path).digest == DIGEST


def test_json_keys_may_first_occur_late(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"y": 1, "p": 0.5}\n' * 25_000 + '{"y": 0, "p": 0.5, "g": "late"}\n', encoding="utf-8")
    result = read_tallies(path, group="g", missing="drop")
    assert (result.groups, result.intake.dropped) == ((("late",),), 25_000)


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", ["~tilde.csv", "file:x.csv", "a b'c.csv", "-dash.csv", "ü[1]*.csv", "new\nline.csv"])
def test_file_names_with_special_characters(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / name).write_text(CSV, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert read_tallies(name).digest == DIGEST
    assert read_tallies(tmp_path / name).digest == DIGEST


@pytest.mark.quick(3)
@pytest.mark.parametrize("folder", ["c0=5", "p=5", "y=1"])
@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
def test_names_of_folders_do_not_change_columns_of_files(folder: str, name: str, tmp_path: Path) -> None:
    (tmp_path / folder).mkdir()
    path = tmp_path / folder / name
    writers: dict[str, Callable[[], object]] = {
        "t.csv": lambda: path.write_text(CSV, encoding="utf-8"),
        "t.jsonl": lambda: path.write_text(JSON, encoding="utf-8"),
        "t.parquet": lambda: pq.write_table(pa.table({"y": [1, 0, 1], "p": [0.9, 0.2, 0.7]}), path),
    }
    writers[name]()
    assert read_tallies(tmp_path).digest == DIGEST


def test_parquet_with_nested_columns_and_several_files(tmp_path: Path) -> None:
    for part in ("a", "b"):
        table = pa.table({"s": [{"y": 5, "p": 1}], "y": [1], "p": [0.5], "l": [[1, 2]]})
        pq.write_table(table, tmp_path / f"{part}.parquet")
    assert read_tallies(tmp_path).tally.total == 2


@pytest.mark.parametrize("names", [["y", "p", "p"], ["y", "p", "P"]])
def test_parquet_with_a_name_twice_is_refused(names: list[str], tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array(column) for column in ([1, 0], [0.9, 0.2], [0.1, 0.8])], names=names)
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(FileFormatError, match="there are several columns 'p'"):
        read_tallies(tmp_path / "t.parquet")


def test_mixed_line_ends_are_reported(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"y,p\n1,0.9\r\n0,0.2\n1,0.7\r0,0.1\n" * 3)
    with pytest.raises(FileFormatError) as caught:
        read_tallies(tmp_path / "t.csv")
    assert "t.csv" in str(caught.value)


def test_a_truncated_arrow_stream_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "t.arrows"
    table = pa.table({"y": [1, 0] * 500, "p": [0.9, 0.2] * 500})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(FileFormatError, match="is not a whole Arrow file"):
        read_tallies(path)


@pytest.mark.parametrize("name", ["", 5, b"p"])
def test_invalid_column_names_are_reported(name: object, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(CSV, encoding="utf-8")
    for role in ("truth", "score", "group", "weight"):
        with pytest.raises(OptionError, match="is not the name of a column; expected text"):
            read_tallies(tmp_path / "t.csv", **{role: name})
