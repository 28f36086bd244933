"""Files that cannot be used: one line, the right code, nothing written, no traceback."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.shell import PEOPLE, run

BAD: dict[str, tuple[int, str, Callable[[Path], object]]] = {
    "empty.csv": (3, "is empty", lambda path: path.write_bytes(b"")),
    "header.csv": (3, "no rows", lambda path: path.write_text("sick,risk\n", encoding="utf-8")),
    "columns.csv": (
        2,
        "there is no column 'risk'",
        lambda path: path.write_text("sick,score\n1,2\n", encoding="utf-8"),
    ),
    "twice.csv": (
        3,
        "columns 'risk'",
        lambda path: path.write_text("sick,risk,risk\n1,2,3\n0,1,1\n", encoding="utf-8"),
    ),
    "ragged.csv": (3, "ragged.csv", lambda path: path.write_text("sick,risk\n1,2\n0,1,5,6\n0\n", encoding="utf-8")),
    "utf16.csv": (3, "UTF-16", lambda path: path.write_text(PEOPLE, encoding="utf-16")),
    "latin.csv": (3, "latin.csv", lambda path: path.write_bytes(b"sick,risk\n\xe9t\xe9,0.5\nnon,0.7\n")),
    "binary.csv": (3, "binary.csv", lambda path: path.write_bytes(bytes(range(256)))),
    "not.parquet": (3, "not.parquet", lambda path: path.write_text(PEOPLE, encoding="utf-8")),
    "cut.parquet": (3, "cut.parquet", lambda path: path.write_bytes(b"PAR1" + bytes(40))),
    "cut.csv.gz": (3, "cut.csv.gz", lambda path: path.write_bytes(gzip.compress(PEOPLE.encode())[:40])),
    "nan.csv": (3, "--missing drop", lambda path: path.write_text("sick,risk\n1,nan\n0,0.1\n", encoding="utf-8")),
    "folder": (2, "folder", lambda path: path.mkdir()),
    "none-*.csv": (2, "no file matches", lambda path: path),
    "absent.csv": (2, "there is no file", lambda path: path),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    code, told, make = BAD[name]
    make(tmp_path / name)
    before = sorted(tmp_path.rglob("*"))
    typed = ("measure", tmp_path / name, "--truth", "sick", "--score", "risk", "-o", tmp_path / "out.json")
    result = run(*typed)
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.startswith("baserate: ")
    assert told in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["a column", 'say "hi"', "it's", 'x"; drop table t; --', "日本", "--score", "$HOME"])
def test_a_column_may_have_any_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    quoted = '"' + name.replace('"', '""') + '"'
    path.write_text(PEOPLE.replace("risk", quoted, 1), encoding="utf-8")
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    plain = run("measure", tmp_path / "people.csv", "--truth", "sick", "--score", "risk", "--format", "csv")
    odd = run("measure", path, "--truth", "sick", "--score", name, "--format", "csv")
    assert (odd.exit_code, odd.stdout) == (0, plain.stdout)


def test_a_huge_label_is_cut_in_messages_and_tables(tmp_path: Path) -> None:
    path = tmp_path / "huge.csv"
    path.write_text(f"sick,risk,group\n{'y' * 10_000},0.5,{'g' * 10_000}\nno,0.1,b\n", encoding="utf-8")
    refused = run("measure", path, "--truth", "sick", "--score", "risk")
    assert refused.exit_code == 3
    assert len(refused.stderr) < 1000
    typed = ("measure", path, "--truth", "sick", "--score", "risk", "--negative", "no", "--positive", "y" * 10_000)
    shown = run(*typed, "--group", "group")
    assert shown.exit_code == 0
    assert max(map(len, shown.stdout.splitlines())) <= 100
