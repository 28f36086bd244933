"""Files that cannot be used: one line, the right code, nothing written, no traceback."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from baserate import DataError
from tests.bad_files import BAD, BadFile
from tests.cli.shell import PEOPLE, run


@pytest.mark.quick(12)
@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_bad_file_is_refused_in_one_line(bad: BadFile, tmp_path: Path) -> None:
    bad.make(tmp_path)
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    source = tmp_path / bad.source
    result = run("measure", source, "--truth", "y", "--score", "p", "-o", tmp_path / "out.json")
    assert (result.exit_code, result.stdout) == (3 if issubclass(bad.error, DataError) else 2, "")
    message = bad.message.replace("{path}", str(source)).replace("{folder}", str(tmp_path))
    assert result.stderr.startswith("baserate: ")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")} == before


def test_an_existing_output_survives_a_failed_run(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("kept", encoding="utf-8")
    (tmp_path / "bad.csv").write_text("y,p\n1,0.5\n0\n", encoding="utf-8")
    assert run("measure", tmp_path / "bad.csv", "--truth", "y", "--score", "p", "-o", target).exit_code == 3
    assert target.read_text(encoding="utf-8") == "kept"


@pytest.mark.slow
def test_a_file_that_unpacks_to_a_thousand_times_its_size_needs_little_memory(tmp_path: Path) -> None:
    """Rows that repeat are added up as they are unpacked: ten times as many of them need no more memory."""
    for name, rows in (("small", 10**6), ("large", 10**7)):
        with gzip.open(tmp_path / f"{name}.csv.gz", "wb", compresslevel=1) as file:
            file.write(b"y,p\n" + b"1,0.75\n0,0.25\n" * (rows // 2))
    code = (
        "import resource; from baserate import read\n"
        "for name in ('small', 'large'):\n"
        "    found = read.tallies(f'{name}.csv.gz', truth='y', score='p').tally\n"
        "    print(int(found.total), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    (few, small), (many, large) = (map(int, line.split()) for line in done.stdout.splitlines())
    assert (few, many) == (10**6, 10**7)
    assert large - small < 100  # megabytes; as rows they would take 250


@pytest.mark.quick(3)
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
