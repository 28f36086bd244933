"""`baserate apply` and `baserate export`: output, messages, and refused options."""

import csv
import gzip
import io
import json
from pathlib import Path

import duckdb
import numpy as np
import pytest

from baserate import Cut, Policy, RandomizedCut
from baserate._files import write_text
from baserate.cli._io import write_rows
from tests.apply.forms import CLASS_FORMS, FORMS, LABELS, binary_calibrator, multiclass_calibrator
from tests.cli.shell import PEOPLE, run, run_program, write_people

MAP = binary_calibrator(FORMS["beta"])
RISKS = [float(row["risk"]) for row in csv.DictReader(io.StringIO(PEOPLE))]


@pytest.fixture
def calibrator_file(tmp_path: Path) -> Path:
    """Write a map that knows its columns."""
    MAP.save(tmp_path / "map.json")
    return tmp_path / "map.json"


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_output_has_all_columns_and_a_new_one(calibrator_file: Path, tmp_path: Path) -> None:
    result = run("apply", calibrator_file, write_people(tmp_path), "-o", tmp_path / "out.csv")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"10 rows written to {tmp_path / 'out.csv'}.\n"
    actual = rows((tmp_path / "out.csv").read_text())
    new = [float(row.pop("risk_calibrated")) for row in actual]
    assert actual == rows(PEOPLE)
    np.testing.assert_allclose(new, MAP(RISKS), rtol=1e-12)


def test_new_columns_can_be_named(calibrator_file: Path, tmp_path: Path) -> None:
    result = run("apply", calibrator_file, write_people(tmp_path), "-o", "-", "--score", "old", "--name", "p", "-q")
    assert (result.exit_code, result.stderr) == (0, "")
    assert list(rows(result.stdout)[0])[-2:] == ["w", "p"]


def test_stdin_and_stdout_may_be_pipes(calibrator_file: Path) -> None:
    result = run_program("apply", calibrator_file, "-", "-o", "-", given=PEOPLE)
    assert (result.returncode, result.stderr) == (0, "10 rows written to stdout.\n")
    np.testing.assert_allclose([float(row["risk_calibrated"]) for row in rows(result.stdout)], MAP(RISKS), rtol=1e-12)


def test_gzip_and_json_lines_are_read_and_written(calibrator_file: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv.gz").write_bytes(gzip.compress(PEOPLE.encode()))
    assert run("apply", calibrator_file, tmp_path / "in.csv.gz", "-o", tmp_path / "out.jsonl").exit_code == 0
    assert (
        run("apply", calibrator_file, tmp_path / "out.jsonl", "-o", tmp_path / "again.csv.gz", "--name", "p").exit_code
        == 0
    )
    first = [json.loads(line)["risk_calibrated"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    again = rows(gzip.decompress((tmp_path / "again.csv.gz").read_bytes()).decode())
    assert [float(row["p"]) for row in again] == [float(row["risk_calibrated"]) for row in again] == first


def test_patterns_and_several_files_are_read(calibrator_file: Path, tmp_path: Path) -> None:
    for at in (1, 2):
        (tmp_path / f"part-{at}.csv").write_text(f"risk\n0.{at}\n")
    result = run("apply", calibrator_file, tmp_path / "part-*.csv", tmp_path / "part-1.csv", "-o", "-")
    assert [row["risk"] for row in rows(result.stdout)] == ["0.1", "0.2", "0.1"]


def test_both_bounds_of_venn_abers_are_written(tmp_path: Path) -> None:
    binary_calibrator(FORMS["between"]).save(tmp_path / "map.json")
    result = rows(run("apply", tmp_path / "map.json", write_people(tmp_path), "-o", "-", "--bounds").stdout)
    assert all(float(row["risk_calibrated_low"]) <= float(row["risk_calibrated_high"]) for row in result)


def test_multiclass_calibrator_is_applied(tmp_path: Path) -> None:
    map_ = multiclass_calibrator(CLASS_FORMS["priors"])
    map_.save(tmp_path / "map.json")
    (tmp_path / "in.csv").write_text("a,b,c\n0.2,0.3,0.5\n")
    typed = ("--score", "cat=a,dog=b, fish=c", "--name", "fish=z,cat=x,dog=y")
    result = rows(run("apply", tmp_path / "map.json", tmp_path / "in.csv", "-o", "-", *typed).stdout)[0]
    np.testing.assert_allclose([float(result[name]) for name in "xyz"], map_([[0.2, 0.3, 0.5]])[0], rtol=1e-12)
    wrong = run("apply", tmp_path / "map.json", tmp_path / "in.csv", "-o", "-", "--score", "a")
    assert wrong.exit_code == 2
    assert "the classes are cat, dog, fish" in wrong.stderr


def test_rows_with_missing_scores_are_kept_on_request(calibrator_file: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("risk,a\n0.5,\n,\nNA,\n")
    refused = run("apply", calibrator_file, tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    assert refused.exit_code == 3
    assert (
        "2 of 3 rows have a score that is missing, NaN or infinite in 'risk' (rows 2, 3, counted from 1)"
        in refused.stderr
    )
    assert "with --missing keep." in refused.stderr
    assert not (tmp_path / "out.csv").exists()
    result = run("apply", calibrator_file, tmp_path / "in.csv", "-o", "-", "--missing", "keep")
    assert [row["risk_calibrated"] == "" for row in rows(result.stdout)] == [False, True, True]


@pytest.mark.parametrize(
    ("typed", "code", "message"),
    [
        (("--score", "rsk"), 2, "there is no column 'rsk'. Did you mean 'risk' or 'sick'?"),
        (("--name", "site"), 2, "there is a column 'site' already; choose another with --name."),
        (("--score", "times"), 3, "outside [0, 1] in 'times' (rows 2, 4, 7, 9, counted from 1)"),
        (("--score", "site"), 3, "10 of 10 values of site are not numbers (the first is 'north')"),
        (("--bounds",), 2, "made has no bounds; fit venn-abers, which has."),
        (("--missing", "drop"), 2, "'drop' is not one of 'refuse', 'keep'"),
    ],
)
def test_invalid_options_are_refused(
    typed: tuple[str, ...], code: int, message: str, calibrator_file: Path, tmp_path: Path
) -> None:
    write_text(tmp_path / "out.csv", "precious\n")
    result = run("apply", calibrator_file, write_people(tmp_path), "-o", tmp_path / "out.csv", *typed)
    assert result.exit_code == code
    assert message in result.stderr
    assert (tmp_path / "out.csv").read_text() == "precious\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["map.json", "out.csv", "people.csv"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("people.csv", "is one of the files that are read; name another to write."),
        ("no/out.csv", "there is no folder"),
        (".", "is a folder"),
        ("out.xlsx", "does not say what to write; end it in .parquet, .csv, .tsv or .jsonl."),
    ],
)
def test_unwritable_output_is_refused(target: str, message: str, calibrator_file: Path, tmp_path: Path) -> None:
    result = run("apply", calibrator_file, write_people(tmp_path), "-o", tmp_path / target)
    assert result.exit_code == 2
    assert message in result.stderr
    assert (tmp_path / "people.csv").read_text() == PEOPLE


def test_output_is_required(calibrator_file: Path, tmp_path: Path) -> None:
    result = run("apply", calibrator_file, write_people(tmp_path))
    assert result.exit_code == 2
    assert "missing option '-o'" in result.stderr


NEWER = MAP.to_json().replace('"schema_version": 1', '"schema_version": 9')
MAPS = {
    "truncated": (MAP.to_json()[:-40], "not JSON"),
    "newer": (NEWER, "schema version 9, but this release reads 1; upgrade baserate."),
    "edited": (MAP.to_json().replace("1.4", "1.5"), "was changed after it was written"),
    "another kind": ('{"kind": "baserate/tally"}', "name a file that contains one."),
    "no text": ("\udcff", "is not text, so no calibrator"),
}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize(
    "verb", [("apply", "in.csv", "-o", "out.csv"), ("export", "--to", "sql")], ids=["apply", "export"]
)
def test_file_without_a_calibrator_is_refused(
    verb: tuple[str, ...], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, message = MAPS[name]
    (tmp_path / "my.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    monkeypatch.chdir(tmp_path)
    result = run(verb[0], "my.json", *verb[1:])
    assert result.exit_code == 3
    assert "my.json" in result.stderr
    assert message in result.stderr


def test_missing_calibrator_file_is_refused(tmp_path: Path) -> None:
    result = run("export", tmp_path / "map.json", "--to", "sql")
    assert result.exit_code == 2
    assert f"there is no file {tmp_path / 'map.json'}. Check the path." in result.stderr


def test_exported_sql_runs(calibrator_file: Path, tmp_path: Path) -> None:
    exported = run("export", calibrator_file, "--to", "sql", "--score", "old").stdout
    with duckdb.connect() as engine:
        result = engine.read_csv(str(write_people(tmp_path))).project(f"old, {exported}").fetchall()
    old, new = zip(*result, strict=True)
    np.testing.assert_allclose(new, MAP(old), rtol=1e-12)


def test_sql_of_several_classes_is_a_list_of_columns(tmp_path: Path) -> None:
    map_ = multiclass_calibrator(CLASS_FORMS["vectors"])
    map_.save(tmp_path / "map.json")
    exported = run("export", tmp_path / "map.json", "--to", "sql").stdout
    with duckdb.connect() as engine:
        result = engine.sql("SELECT 0.2 AS p_cat, 0.3 AS p_dog, 0.5 AS p_fish").project(exported)
        assert result.columns == list(LABELS)
        np.testing.assert_allclose(result.fetchall()[0], map_([[0.2, 0.3, 0.5]])[0], rtol=1e-12)


def test_exported_python_runs(calibrator_file: Path, tmp_path: Path) -> None:
    result = run("export", calibrator_file, "--to", "python", "--name", "chance", "-o", tmp_path / "chance.py")
    assert (result.exit_code, result.stdout) == (0, "")
    actual: dict[str, object] = {}
    exec((tmp_path / "chance.py").read_text(), actual)  # noqa: S102  (it is ours)
    assert actual["chance"](0.3) == pytest.approx(MAP([0.3])[0], rel=1e-12)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--to", "python", "--score", "risk"), "--score is for SQL"),
        (("--to", "sql", "--name", "f"), "--name is for Python"),
        (("--to", "python", "--name", "2"), "expected an identifier of Python"),
        (("--to", "rust"), "'rust' is not one of 'sql', 'python'"),
        ((), "missing option '--to'"),
    ],
)
def test_unsupported_exports_are_refused(typed: tuple[str, ...], message: str, calibrator_file: Path) -> None:
    result = run("export", calibrator_file, *typed)
    assert result.exit_code == 2
    assert message in result.stderr


def test_calibrator_without_columns_requires_a_score(tmp_path: Path) -> None:
    from baserate._calibrator import shift_log_odds

    shift_log_odds(1.0).save(tmp_path / "map.json")
    result = run("apply", tmp_path / "map.json", write_people(tmp_path), "-o", "-")
    assert result.exit_code == 2
    assert "does not store the name of the score column; name it, such as --score risk." in result.stderr


POLICY = Policy(
    by_group={
        ("f",): Cut((0.5,)),
        ("m",): RandomizedCut((Cut((0.2,)), Cut((0.7,), ("pass", "it's me"))), (0.5, 0.5)),
    },
    otherwise="refuse",
    attributes=("sex",),
    columns={"score": "risk"},
)
NEWEST = POLICY.to_json().replace('"schema_version": 1', '"schema_version": 9')


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """Write a policy that randomizes some decisions."""
    POLICY.save(tmp_path / "policy.json")
    return tmp_path / "policy.json"


def read_actions(result: list[dict[str, str]], name: str = "sick") -> list[str]:
    return [POLICY.action(float(row["risk"]), [row["sex"]], id=row[name]) for row in result]


def test_policy_writes_an_action_for_each_row(policy: Path, tmp_path: Path) -> None:
    result = run("apply", policy, write_people(tmp_path), "-o", tmp_path / "out.csv", "--id", "old")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"10 rows written to {tmp_path / 'out.csv'}.\n"
    actual = rows((tmp_path / "out.csv").read_text())
    assert [row.pop("action") for row in actual] == read_actions(actual, "old")
    assert actual == rows(PEOPLE)


def test_columns_of_a_policy_can_be_renamed(policy: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(PEOPLE.replace("sex", "gender").replace("risk", "p"))
    typed = ("--id", "old", "--group", "gender", "--score", "p", "--name", "do", "--chances", "-q")
    result = run("apply", policy, tmp_path / "in.csv", "-o", "-", *typed)
    assert (result.exit_code, result.stderr) == (0, "")
    actual = rows(result.stdout)
    assert list(actual[0])[8:] == ["do", "do_chance_pass", "do_chance_flag", "do_chance_it's me"]
    assert all(sum(float(row[name]) for name in list(row)[9:]) == 1 for row in actual)
    unknown = run("apply", policy, write_people(tmp_path), "-o", "-", "--id", "old", "--group", "site")
    assert unknown.exit_code == 3
    assert (
        "10 of 10 rows are of groups that this policy refuses: sex = 'north' (4 rows), sex = 'coast'" in unknown.stderr
    )


def test_duplicate_ids_are_noted(policy: Path, tmp_path: Path) -> None:
    typed = ("apply", policy, write_people(tmp_path), "-o", tmp_path / "out.csv", "--id", "sick")
    result = run(*typed)
    assert result.exit_code == 0
    assert result.stderr.startswith("note: 2 of 4 randomized rows share an id in 'sick' with another")
    assert run(*typed, "-q").stderr == ""


def test_policy_keeps_rows_without_a_score_on_request(policy: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("risk,sex,i\n0.9,f,1\n,f,2\n")
    refused = run("apply", policy, tmp_path / "in.csv", "-o", "-", "--id", "i")
    assert refused.exit_code == 3
    assert (
        "(row 2, counted from 1); fill them in, or keep those rows without a result with --missing keep."
        in refused.stderr
    )
    calibrator_file = run("apply", policy, tmp_path / "in.csv", "-o", "-", "--id", "i", "--missing", "keep")
    assert [row["action"] for row in rows(calibrator_file.stdout)] == ["flag", ""]


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (
            (),
            "this policy is randomized by the ids of rows, but no column of ids is named; name it, such as --id",
        ),
        (("--id", "nr"), "there is no column 'nr'."),
        (("--id", "old", "--bounds"), "--bounds is for calibrators, and "),
        (("--id", "old", "--group", "sex", "--group", "site"), "group names 2 columns, but this policy requires sex"),
        (("--id", "old", "--name", "w"), "there is a column 'w' already; choose another with --name."),
    ],
)
def test_invalid_rows_of_a_policy_are_refused(
    typed: tuple[str, ...], message: str, policy: Path, tmp_path: Path
) -> None:
    result = run("apply", policy, write_people(tmp_path), "-o", tmp_path / "out.csv", *typed)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("typed", [("--id", "old"), ("--group", "sex"), ("--chances",)])
def test_policy_options_are_refused_for_calibrators(
    typed: tuple[str, ...], calibrator_file: Path, tmp_path: Path
) -> None:
    result = run("apply", calibrator_file, write_people(tmp_path), "-o", "-", *typed)
    assert result.exit_code == 2
    assert f"{typed[0]} is for policies, and {calibrator_file} contains a calibrator; leave it out." in result.stderr


BROKEN = {
    "truncated": (POLICY.to_json()[:-40], "is not a usable policy: not JSON"),
    "newer": (NEWEST, "a policy of schema version 9, but this release reads 1; upgrade baserate."),
    "edited": (POLICY.to_json().replace("0.5", "0.6"), "the policy was changed after it was written"),
    "a table": (PEOPLE, "contains neither a calibrator nor a policy; name a file that contains one."),
    "no text": ("\udcff", "is not text, so no calibrator or policy"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_file_without_a_policy_is_refused(name: str, tmp_path: Path) -> None:
    text, message = BROKEN[name]
    (tmp_path / "my.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    result = run("apply", tmp_path / "my.json", write_people(tmp_path), "-o", tmp_path / "out.csv", "--id", "old")
    assert result.exit_code == 3
    assert str(tmp_path / "my.json") in result.stderr
    assert message in result.stderr
    assert not (tmp_path / "out.csv").exists()


def test_missing_policy_file_is_refused(tmp_path: Path) -> None:
    result = run("apply", tmp_path / "policy.json", write_people(tmp_path), "-o", "-")
    assert result.exit_code == 2
    assert "policy.json. Check the path." in result.stderr


def test_pace_is_printed_after_long_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("baserate.cli._io._LONG", 0.0)
    write_rows(MAP, (str(write_people(tmp_path)),), str(tmp_path / "out.csv"), quiet=False)
    assert capsys.readouterr().err.endswith(" rows/s).\n")
