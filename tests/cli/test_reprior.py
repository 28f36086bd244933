"""`baserate reprior`: output, round trips, messages, and refused options."""

import csv
import io
from pathlib import Path

import duckdb
import numpy as np
import pytest

from baserate import load_calibrator, shift
from tests.cli.shell import PEOPLE, run, run_program, write_people
from tests.cli.test_classes import PETS, pets

RISKS = [float(row["risk"]) for row in csv.DictReader(io.StringIO(PEOPLE))]
FROM_HALF = ("--score", "risk", "--sample-prevalence", "0.5", "--prevalence", "0.02")
SHARES = (
    "--scores",
    "p_",
    "--sample-prevalence",
    "cat=0.5,dog=0.3,fish=0.2",
    "--prevalence",
    "fish=70%,dog=20%,cat=10%",
)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_output_has_all_columns_and_a_new_one(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    result = run("reprior", write_people(tmp_path), *FROM_HALF, "-o", target)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"10 rows written to {target}.\n0.5 becomes 0.02.\n"
    written = rows(target.read_text())
    new = [float(row.pop("risk_corrected")) for row in written]
    assert written == rows(PEOPLE)
    np.testing.assert_allclose(new, shift.reprior(RISKS, sample_prevalence=0.5, prevalence=0.02), rtol=1e-12)


def test_round_trip_in_parquet(tmp_path: Path) -> None:
    there, back = tmp_path / "there.parquet", tmp_path / "back.parquet"
    typed = ("--name", "p", "-q")
    assert run("reprior", write_people(tmp_path), *FROM_HALF, *typed, "-o", there).stderr == ""
    again = ("--score", "p", "--sample-prevalence", "2%", "--prevalence", "50%", "--name", "again", "-q")
    assert run("reprior", there, *again, "-o", back).exit_code == 0
    result = duckdb.read_parquet(str(back)).fetchnumpy()
    np.testing.assert_allclose(result["again"], RISKS, rtol=1e-12)
    np.testing.assert_allclose(result["p"], shift.reprior(RISKS, sample_prevalence=0.5, prevalence=0.02), rtol=1e-12)


def test_stdin_and_stdout_may_be_pipes() -> None:
    result = run_program("reprior", "-", *FROM_HALF, "-o", "-", given=PEOPLE)
    assert (result.returncode, result.stderr) == (0, "10 rows written to stdout.\n0.5 becomes 0.02.\n")
    actual = [float(row["risk_corrected"]) for row in rows(result.stdout)]
    np.testing.assert_allclose(actual, shift.reprior(RISKS, sample_prevalence=0.5, prevalence=0.02), rtol=1e-12)


@pytest.mark.parametrize(
    "sampling",
    [
        ("--gamma", "10"),
        ("--under-sampled", "10"),
        ("--over-sampled", "0.1"),
        ("--sample-prevalence", "0.5", "--prevalence", "0.0909090909"),
    ],
)
def test_undersampling_is_reversed(sampling: tuple[str, ...], tmp_path: Path) -> None:
    result = run("reprior", write_people(tmp_path), "--score", "risk", *sampling, "-o", "-")
    assert "0.5 becomes 0.09091." in result.stderr
    p = np.array(RISKS)
    actual = [float(row["risk_corrected"]) for row in rows(result.stdout)]
    np.testing.assert_allclose(actual, p / (p + 10 * (1 - p)), rtol=1e-8)


def test_round_trip_of_several_classes(tmp_path: Path) -> None:
    there, back = tmp_path / "there.csv", tmp_path / "back.csv"
    result = run("reprior", pets(tmp_path), *SHARES, "-o", there)
    # 0.1/0.5, 0.2/0.3 and 0.7/0.2, over their sum.
    output = "equal probabilities become cat 0.0458, dog 0.1527, fish 0.8015."
    assert result.stderr.splitlines()[-1] == output
    before = np.array([[float(row[f"p_{name}"]) for name in ("cat", "dog", "fish")] for row in rows(PETS)])
    names = [f"p_{name}_corrected" for name in ("cat", "dog", "fish")]
    actual = np.array([[float(row[name]) for name in names] for row in rows(there.read_text())])
    np.testing.assert_allclose(
        actual, shift.reprior(before, sample_prevalence=[0.5, 0.3, 0.2], prevalence=[0.1, 0.2, 0.7]), rtol=1e-12
    )
    columns = ",".join(f"{name}=p_{name}_corrected" for name in ("fish", "cat", "dog"))
    typed = (
        "--scores",
        columns,
        "--sample-prevalence",
        SHARES[5],
        "--prevalence",
        SHARES[3],
        "--name",
        "cat=c,dog=d,fish=f",
    )
    assert run("reprior", there, *typed, "-o", back).exit_code == 0
    again = [[float(row[name]) for name in "cdf"] for row in rows(back.read_text())]
    np.testing.assert_allclose(again, before, rtol=1e-12)


def test_calibrator_can_be_written(tmp_path: Path) -> None:
    target = tmp_path / "map.json"
    result = run("reprior", *FROM_HALF, "--calibrator", target)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "0.5 becomes 0.02." in result.stderr
    assert f"apply it with: baserate apply {target} FILE -o OUT" in result.stderr
    map_ = load_calibrator(target)
    assert dict(map_.columns) == {"score": "risk"}
    np.testing.assert_allclose(map_(RISKS), shift.reprior(RISKS, sample_prevalence=0.5, prevalence=0.02))
    applied = rows(run("apply", target, write_people(tmp_path), "-o", "-").stdout)
    np.testing.assert_allclose([float(row["risk_calibrated"]) for row in applied], map_(RISKS), rtol=1e-12)
    sql = run("export", target, "--to", "sql").stdout
    actual = duckdb.execute(f"SELECT {sql} FROM (SELECT unnest({RISKS}) AS risk)").fetchall()  # noqa: S608  (our own)
    np.testing.assert_allclose([each for (each,) in actual], map_(RISKS), rtol=1e-12)
    both = run(
        "reprior", pets(tmp_path), *SHARES, "-o", tmp_path / "out.csv", "--calibrator", tmp_path / "classes.json"
    )
    assert both.exit_code == 0
    assert dict(load_calibrator(tmp_path / "classes.json").columns) == {
        name: f"p_{name}" for name in ("cat", "dog", "fish")
    }
    assert run("reprior", *FROM_HALF, "--calibrator", "-", "-q").stdout == target.read_text()


def test_rows_with_missing_scores_are_kept_on_request(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("risk,a\n0.5,\n,\n")
    refused = run("reprior", tmp_path / "in.csv", *FROM_HALF, "-o", tmp_path / "out.csv")
    assert refused.exit_code == 3
    assert "1 of 2 rows have a score that is missing" in refused.stderr
    kept = run("reprior", tmp_path / "in.csv", *FROM_HALF, "-o", "-", "--missing", "keep")
    assert [row["risk_corrected"] for row in rows(kept.stdout)] == ["0.02", ""]


@pytest.mark.parametrize(
    ("typed", "code", "message"),
    [
        (
            ("--score", "risk"),
            2,
            "a prevalence is missing; give both, such as --sample-prevalence 0.5 --prevalence 0.02",
        ),
        (("--score", "risk", "--sample-prevalence", "0.5"), 2, "a prevalence is missing"),
        (("--score", "risk", "--prevalence", "0.5"), 2, "a prevalence is missing"),
        (
            ("--sample-prevalence", "0.5", "--prevalence", "0.1"),
            2,
            "name the columns of probabilities with one of them.",
        ),
        ((*FROM_HALF, "--scores", "p_"), 2, "--scores for several; leave out one of them."),
        ((*FROM_HALF, "--gamma", "2"), 2, "are for two classes, instead of --sample-prevalence and --prevalence."),
        (("--score", "risk", "--sample-prevalence", "0.5", "--prevalence", "1"), 2, "'1' is not a prevalence"),
        (
            ("--score", "risk", "--sample-prevalence", "0", "--prevalence", "0.1"),
            2,
            "invalid value for '--sample-prevalence': '0' is not a prevalence",
        ),
        (
            ("--score", "risk", "--sample-prevalence", "a=0.5,b=0.5", "--prevalence", "0.1"),
            2,
            "of several classes give each a share",
        ),
        (
            ("--scores", "p_", "--sample-prevalence", "0.5", "--prevalence", "0.1"),
            2,
            "of several classes give each a share",
        ),
        (
            ("--scores", "p_", "--sample-prevalence", "cat=0.5,dog=0.5", "--prevalence", "cat=0.5,dgo=0.5"),
            2,
            "there is no class 'dgo'. Did you mean 'dog'?",
        ),
        (
            ("--scores", "p,q", "--sample-prevalence", "a=0.5,b=0.5", "--prevalence", "a=0.1,b=0.9"),
            2,
            "--scores a=COLUMN,b=COLUMN",
        ),
        (
            ("--scores", "a=p,c=q", "--sample-prevalence", "a=0.5,b=0.5", "--prevalence", "a=0.1,b=0.9"),
            2,
            "--scores names a, c",
        ),
        (
            ("--scores", "p_", "--sample-prevalence", "a=0.5,b=0.5", "--prevalence", "a=0.1,b=0.9"),
            2,
            "there is no column 'p_a'",
        ),
        (
            (*FROM_HALF, "--name", "site"),
            2,
            "there is a column 'site' already; choose another with --name.",
        ),
        (("--score", "times", "--gamma", "2"), 3, "4 of 10 rows have a score outside [0, 1] in 'times'"),
        (("--score", "rsk", "--gamma", "2"), 2, "there is no column 'rsk'. Did you mean 'risk' or 'sick'?"),
        ((*FROM_HALF, "--calibrator", "nowhere/map.json"), 2, "there is no folder nowhere"),
    ],
)
def test_invalid_options_are_refused(typed: tuple[str, ...], code: int, message: str, tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("precious\n")
    result = run("reprior", write_people(tmp_path), *typed, "-o", tmp_path / "out.csv")
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert (tmp_path / "out.csv").read_text() == "precious\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "people.csv"]


def test_output_places_are_checked(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    for typed, message in (
        ((path,), "nothing would be written; name a file for the rows with -o"),
        (
            (path, "--calibrator", tmp_path / "m.json"),
            "name a file for the rows with -o, or write the calibrator alone",
        ),
        (("-o", "-"), "name the FILE that the rows are in"),
        ((path, "-o", "-", "--calibrator", "-"), "rows and calibrator cannot both go to stdout"),
        ((path, "-o", tmp_path), "is a folder"),
        ((path, "-o", path), "is one of the files that are read"),
        ((path, "-o", tmp_path / "out.xlsx"), "does not say what to write"),
    ):
        result = run("reprior", *typed, *FROM_HALF)
        assert (result.exit_code, result.stdout) == (2, ""), result.stderr
        assert message in result.stderr
    assert sorted(each.name for each in tmp_path.iterdir()) == ["people.csv"]
