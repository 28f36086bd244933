"""Commands that name no columns list those of the file, and the complete command."""

import shlex
from pathlib import Path

import pytest

from tests.cli.shell import run, write_people

COLUMNS = """\
{file} has 8 columns (by its first 10 rows):
  sick   two labels: 0, 1 (may be labels)
  risk   numbers from 0.05 to 0.92, in [0, 1] (may be scores)
  old    numbers from 0.05 to 0.95, in [0, 1] (may be scores)
  site   3 values: coast, hill, north (may be groups)
  sex    two labels: f, m (may be groups)
  says   two labels: 0, 1 (may be labels)
  times  whole numbers: 1, 2, 3, 4
  w      numbers from 0.25 to 2
"""
TYPED = {
    "report FILE": "--truth sick --score risk",
    "report FILE --truth sick": "--score risk",
    "report FILE --prevalence 2%": "--truth sick --score risk",
    "measure FILE --score old": "--truth sick",
    "measure FILE --fp 1 --fn 20": "--truth sick --score risk",
    "compare FILE": "--truth sick --score risk --score old",
    "curve roc FILE": "--truth sick --score risk",
    "draw roc FILE -o roc.svg": "--truth sick --score risk",
    "reliability FILE": "--truth sick --score risk",
    "calibrate FILE": "--truth sick --score risk",
    "shift FILE": "--truth sick --score risk --prevalence 2%",
    "decide FILE": "--truth sick --score risk",
    "benefit FILE": "--truth sick --score risk",
    "costs FILE": "--truth sick --score risk --fp 1 --fn 20",
    "costs FILE --truth sick --fp 1 --fn 1": "--score risk",
    "cost-curve FILE": "--truth sick --score risk",
    "hull FILE": "--truth sick --score risk",
    "groups FILE": "--truth sick --score risk --group site",
    "groups FILE --truth sick --score risk": "--group site",
    "equalize FILE --parity equal-opportunity": "--truth sick --score risk --group site",
    "check FILE --require auc>=0.5 --threshold 0.5": "--truth sick --score risk",
}


@pytest.mark.parametrize("typed", TYPED)
def test_the_columns_and_the_complete_command_are_listed(typed: str, tmp_path: Path) -> None:
    path = write_people(tmp_path)
    words = [str(path) if word == "FILE" else word for word in typed.split()]
    result = run(*words)
    assert result.exit_code == 2
    assert result.stdout == ""
    first, rest = result.stderr.split("\n", 1)
    assert first.startswith("baserate: ")
    assert "--" in first
    assert rest.startswith(COLUMNS.format(file="people.csv"))
    assert rest.splitlines()[-1] == f"Type: baserate {shlex.join(words)} {TYPED[typed]}"


def test_columns_that_are_typed_as_files_become_options(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    result = run("measure", path, "sick", "risk")
    assert result.stderr.splitlines()[-1] == f"Type: baserate measure {path} --truth sick --score risk"


def test_the_suggested_command_works(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    for typed in ("report", "measure", "decide", "groups", "shift", "hull", "costs"):
        *_, last = run(typed, path).stderr.splitlines()
        result = run(*shlex.split(last.removeprefix("Type: baserate ")))
        assert result.exit_code == 0, result.stderr


def test_labels_of_other_spelling_need_the_positive_one(tmp_path: Path) -> None:
    path = tmp_path / "pets.csv"
    path.write_text("is ill,p\nno,0.2\nyes,0.7\nno,0.3\n", encoding="utf-8")
    assert "--truth 'is ill' --positive yes --score p" in run("measure", path).stderr
    assert "--positive" not in run("measure", path, "--negative", "no").stderr.splitlines()[-1]


def test_files_without_candidates_are_listed_without_a_command(tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    path.write_text("a,b\nx,1\ny,2\nz,3\n", encoding="utf-8")
    result = run("measure", path)
    assert result.stderr.splitlines()[-1] == "No column looks right for --truth and --score; name yours."


def test_files_that_cannot_be_opened_are_named(tmp_path: Path) -> None:
    write_people(tmp_path)
    assert "there is no file" in run("measure", tmp_path / "peopel.csv").stderr


@pytest.mark.parametrize(
    "typed",
    [
        ("measure", "FILE", "--truth", "sick", "--score", "risk", "--fp", "1", "--fn", "2"),
        ("measure", "-", "--score", "risk"),
        ("prevalence", "FILE", "--score", "risk"),
        ("groups", "FILE", "--policy", "nowhere.json"),
        ("measure", "FILE", "--cross-table", "rows", "--truth", "sick"),
    ],
)
def test_other_errors_list_no_columns(typed: tuple[str, ...], tmp_path: Path) -> None:
    path = write_people(tmp_path)
    result = run(*(str(path) if word == "FILE" else word for word in typed))
    assert result.exit_code in (2, 3)
    assert len(result.stderr.splitlines()) == 1


def test_missing_columns_suggest_near_ones(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    assert (
        "there is no column 'sik'. Did you mean 'sick'"
        in run("measure", path, "--truth", "sik", "--score", "risk").stderr
    )
    assert (
        "there is no column 'Risk'. Did you mean 'risk'"
        in run("measure", path, "--truth", "sick", "--score", "Risk").stderr
    )
    assert (
        "there is no column 'sites'. Did you mean 'site'"
        in run("measure", path, "--truth", "sick", "--score", "risk", "--group", "sites").stderr
    )
