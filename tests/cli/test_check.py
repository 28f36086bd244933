"""`baserate check`: snapshots, exit codes, columns of the policy, and refused options."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from baserate import Cut, Policy, RandomizedCut, decide, read, shift
from baserate._calibrator import shift_log_odds
from tests.cli.shell import PEOPLE, fits_terminal, matches_snapshot, run, run_program, write_people
from tests.schemas import read_results

NAMED: dict[str, Any] = {"columns": {"truth": "sick", "score": "risk"}, "positive": "1"}
ALIKE = Policy(by_group={(): Cut((0.5,))}, otherwise="refuse", **NAMED)
BY_SEX = Policy(
    by_group={("f",): Cut((0.6,)), ("m",): RandomizedCut((Cut((0.2,)), Cut((0.7,))), (0.5, 0.5))},
    otherwise="refuse",
    attributes=("sex",),
    **NAMED,
)
SOME = ("--require", "sensitivity >= 0.9, specificity >= 10%", "--require", "auc >= 0.9")
ONE = ("--truth", "sick", "--score", "risk", "--positive", "1")


def save_policy(policy: Policy, folder: Path) -> Path:
    path = folder / "policy.json"
    policy.save(path)
    return path


VIEWS: dict[str, tuple[Policy, tuple[str, ...]]] = {
    "check": (ALIKE, SOME),
    "check-holds": (ALIKE, ("--require", "specificity >= 0.2, fpr <= 90%")),
    "check-one": (ALIKE, ("--require", "mcc >= 0.99")),
    "check-estimate": (ALIKE, (*SOME, "--on", "estimate")),
    "check-groups": (BY_SEX, (*SOME, "--group", "site", "--prevalence", "10%")),
    "check-models": (ALIKE, (*SOME, "--score", "risk", "--score", "old", "--level", "80%")),
    "check-undefined": (ALIKE, ("--require", "precision >= 0.5, sensitivity >= 0.75", "--group", "site")),
    "check-map": (
        Policy(
            by_group={(): Cut((0.3, 0.6), ("pass", "refer", "flag"))},
            otherwise="refuse",
            calibrator=shift_log_odds(-0.5),
            **NAMED,
        ),
        ("--require", "brier <= 0.3, f1 >= 0.1"),
    ),
    "check-md": (BY_SEX, (*SOME, "--group", "sex", "--format", "md")),
}


def run_json(*typed: object, given: str | None = None) -> dict[str, Any]:
    result = run("check", *typed, "--json", "-q", given=given)
    assert result.exit_code in (0, 1), result.stderr
    output = read_results(result.stdout)
    assert output["data"]["holds"] == (result.exit_code == 0)
    return output


@pytest.mark.quick(5)
@pytest.mark.parametrize("name", VIEWS)
def test_snapshot_of_terminal_output(name: str, tmp_path: Path) -> None:
    policy, typed = VIEWS[name]
    result = run("check", write_people(tmp_path), "--policy", save_policy(policy, tmp_path), *typed, "-q")
    assert result.exit_code == (0 if name == "check-holds" else 1), result.stderr
    assert matches_snapshot(result.stdout, name)
    assert result.stderr == ""


@pytest.mark.parametrize("name", [name for name in VIEWS if name != "check-md"])
def test_pages_fit_the_terminal(name: str, tmp_path: Path) -> None:
    policy, typed = VIEWS[name]
    typed = ("--policy", str(save_policy(policy, tmp_path)), *typed)
    assert fits_terminal("check", write_people(tmp_path), *typed, widths=(60, 80, 100, 140))


def test_snapshot_of_help() -> None:
    assert matches_snapshot(run("check", "--help").stdout, "help-check")


def test_json_equals_the_results_of_the_library(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    output = run_json(path, "--policy", save_policy(BY_SEX, tmp_path), *SOME, "--prevalence", "0.1", "--group", "site")
    data = shift.reweigh(read.tallies(path, truth="sick", score="risk", group=["sex", "site"]), prevalence=0.1)
    wanted = decide.check(data, SOME[1::2], BY_SEX, each_group=["site"])
    assert output["rows"] == wanted.rows()
    assert (output["data"]["deployment"], output["data"]["on"]) == ({"prevalence": 0.1}, "bound")


def test_csv_has_the_rows_of_json(tmp_path: Path) -> None:
    typed = (write_people(tmp_path), "--policy", save_policy(ALIKE, tmp_path), *SOME)
    [first, *_] = csv.DictReader(io.StringIO(run("check", *typed, "--format", "csv", "-q").stdout))
    assert (first["requirement"], first["verdict"], first["holds"]) == ("sensitivity >= 0.9", "undecided", "False")
    assert float(first["margin"]) == run_json(*typed)["rows"][0]["margin"]


def test_threshold_equals_its_policy(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    alone = run_json(path, *ONE, "--threshold", "0.5", *SOME)
    assert alone["rows"] == run_json(path, "--policy", save_policy(ALIKE, tmp_path), *SOME)["rows"]
    assert run_json(path, *ONE, "--threshold", "-inf", "--require", "sensitivity >= 0.3")["data"]["holds"]


def test_options_override_the_columns_of_the_policy(tmp_path: Path) -> None:
    path, policy = write_people(tmp_path), save_policy(ALIKE, tmp_path)
    assert run_json(path, "--policy", policy, *SOME, "--score", "old")["data"]["columns"]["score"] == ["old"]
    other = run_json(path, "--policy", policy, *SOME, "--positive", "0")
    assert (other["data"]["positive"], other["data"]["negative"]) == (0, 1)
    renamed = run_json("-", "--policy", policy, *SOME, "--truth", "ill", given=PEOPLE.replace("sick", "ill"))
    assert renamed["rows"] == run_json(path, "--policy", policy, *SOME)["rows"]


def test_messages_on_stderr(tmp_path: Path) -> None:
    path, policy = write_people(tmp_path), save_policy(ALIKE, tmp_path)
    assert run("check", path, "--policy", policy, *SOME).stderr == ""
    output = run("check", path, "--policy", policy, *SOME, "--json").stderr.splitlines()
    assert output == [
        "people.csv · 10 rows · positive: sick = 1 · prevalence 40.00%",
        "Not all requirements hold: 1 holds and 2 are undecided, by the bounds of 95% intervals.",
    ]
    t = read.tallies(path, truth="sick", score="risk")
    chosen = save_policy(Policy(by_group={(): Cut((0.5,))}, otherwise="refuse", chosen_on=t.digest, **NAMED), tmp_path)
    assert "note: the threshold was chosen on these rows" in run("check", path, "--policy", chosen, *SOME).stderr


def test_exit_code_is_1_unless_all_requirements_hold(tmp_path: Path) -> None:
    path, policy = write_people(tmp_path), save_policy(ALIKE, tmp_path)
    fails = run_program("check", path, "--policy", policy, "--require", "sensitivity >= 0.9")
    assert fails.returncode == 1
    assert "? undecided" in fails.stdout
    holds = run_program("check", path, "--policy", policy, "--require", "sensitivity >= 0.1")
    assert (holds.returncode, holds.stderr) == (0, "")
    table = tmp_path / "table.txt"
    kept = run("check", path, "--policy", policy, "--require", "sensitivity >= 0.9", "-o", table, "-q")
    assert (kept.exit_code, kept.stdout) == (1, "")
    assert "? undecided" in table.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("typed", "code", "message"),
    [
        (("--threshold", "0.5"), 2, "missing option '--require'"),
        (("--require", "auc >= 0.5"), 2, "give either --policy"),
        (("--threshold", "0.5", "--policy", "p.json", "--require", "auc >= 0.5"), 2, "give either --policy"),
        (("--threshold", "0.5,0.6", "--require", "auc >= 0.5"), 2, "are 2 thresholds; give one"),
        (("--threshold", "0.5", "--require", "auk >= 0.5"), 2, "Did you mean 'auc'"),
        (("--threshold", "0.5", "--require", "auc = 0.5"), 2, "= is not a bound; write >= or <="),
        (("--threshold", "0.5", "--require", "auc >= 0.5"), 2, "missing option '--score'"),
        (("--threshold", "0.5", "--score", "risk", "--require", "auc >= 0.5"), 2, "missing option '--truth'"),
        (("--policy", "none.json", "--require", "auc >= 0.5"), 2, "there is no file none.json"),
        (("--threshold", "0.5", "--on", "hunch", "--require", "auc >= 0.5"), 2, "'hunch' is not one of"),
        (("--threshold", "0.5", "--prevalence", "2", "--require", "auc >= 0.5"), 2, "'2' is not a prevalence"),
    ],
)
def test_errors_state_a_remedy(typed: tuple[str, ...], code: int, message: str, tmp_path: Path) -> None:
    result = run("check", write_people(tmp_path), *typed)
    assert result.exit_code == code
    assert message in result.stderr
    assert result.stdout == ""


def test_unusable_files_exit_with_3(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    broken = tmp_path / "broken.json"
    broken.write_text(BY_SEX.to_json()[:200], encoding="utf-8")
    result = run("check", path, "--policy", broken, *SOME)
    assert (result.exit_code, result.stdout) == (3, "")
    assert "broken.json is not a usable policy" in result.stderr
    only = Policy(by_group={("f",): Cut((0.5,))}, otherwise="refuse", attributes=("sex",), **NAMED)
    refused = run("check", path, "--policy", save_policy(only, tmp_path), *SOME)
    assert refused.exit_code == 3
    assert "5 of 10 rows are of groups that this policy refuses: sex = 'm' (5 rows)" in refused.stderr
    bands = Policy(by_group={(): Cut((0.5,), ("low", "high"))}, otherwise="refuse", **NAMED)
    unfit = run("check", path, "--policy", save_policy(bands, tmp_path), *SOME)
    assert unfit.exit_code == 2
    assert "has no confusion matrix, so sensitivity is undefined" in unfit.stderr
