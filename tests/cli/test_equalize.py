"""`baserate equalize`: snapshots, JSON and CSV, messages, and refused options."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baserate import Costs, Policy, fairness, read
from baserate.fairness import Goal
from baserate.infer import IntervalOptions
from tests.cli.shell import PEOPLE, fits_terminal, matches_snapshot, run, run_program, write_people
from tests.schemas import read_results

ONE = ("--truth", "sick", "--score", "risk", "--positive", "1")
BY_SEX = (*ONE, "--group", "sex")
ODDS = ("--parity", "equalized-odds")
COSTS = ("--fp", "2", "--fn", "1")

VIEWS: dict[str, tuple[str, ...]] = {
    "equalize": (*BY_SEX, *ODDS, *COSTS, "--within", "0.1"),
    "equalize-within": (*BY_SEX, *ODDS, "--within", "sensitivity=0.1,fpr=20%", "--no-interval"),
    "equalize-prevalence": (
        *BY_SEX,
        "--parity",
        "equal-opportunity",
        "--fp",
        "1",
        "--fn",
        "5",
        "--prevalence",
        "f=20%,m=0.3",
    ),
    "equalize-two": (*ONE, "--group", "sex,site", "--parity", "demographic-parity", "--fp", "1", "--fn", "2"),
    "equalize-left": (*ONE, "--group", "sex,site", *ODDS, "--otherwise", "refer"),
    "equalize-labels": ("--truth", "sick", "--predicted", "says", "--group", "sex", *ODDS, "--fp", "1", "--fn", "3"),
    "equalize-nobody": (*BY_SEX, *ODDS, *COSTS),
    "equalize-free": (*BY_SEX, "--parity", "tnr_parity", "--within", "inf", "--level", "80%"),
    "equalize-md": (*BY_SEX, *ODDS, "--within", "0.2", "--format", "md"),
}


def run_json(*typed: object, given: str | None = None) -> dict[str, Any]:
    result = run("equalize", *typed, "--json", "-q", given=given)
    assert result.exit_code == 0, result.stderr
    return read_results(result.stdout)


@pytest.fixture(scope="session")
def many_groups(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six groups, one of them tiny, with scores of many digits."""
    rng = np.random.default_rng(11)
    path = tmp_path_factory.mktemp("many") / "many.csv"
    lines = ["y,s,group\n"]
    for at, size in enumerate((200, 150, 100, 80, 60, 12)):
        truth = rng.random(size) < 0.3 + 0.05 * at
        score = 1 / (1 + np.exp(-rng.normal(size=size) - truth * (2 - 0.2 * at)))
        lines += [f"{int(y)},{s},the group called {'abcdef'[at]}\n" for y, s in zip(truth, score, strict=True)]
    path.write_text("".join(lines), encoding="utf-8")
    return path


MANY = ("--truth", "y", "--score", "s", "--group", "group", "--positive", "1", *ODDS)


@pytest.mark.quick(5)
@pytest.mark.parametrize("name", VIEWS)
def test_snapshot_of_terminal_output(name: str, tmp_path: Path) -> None:
    result = run("equalize", write_people(tmp_path), *VIEWS[name], "-q")
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, name)
    assert result.stderr == ""


def test_snapshot_of_many_groups(many_groups: Path) -> None:
    assert matches_snapshot(run("equalize", many_groups, *MANY, "-q", env={"COLUMNS": "120"}).stdout, "equalize-many")


@pytest.mark.quick(3)
@pytest.mark.parametrize("name", [name for name in VIEWS if name != "equalize-md"])
def test_pages_fit_the_terminal(name: str, tmp_path: Path, many_groups: Path) -> None:
    for typed in ((write_people(tmp_path), *VIEWS[name]), (many_groups, *MANY)):
        assert fits_terminal("equalize", *typed, widths=(60, 80, 100, 140))


def test_snapshot_of_help() -> None:
    assert matches_snapshot(run("equalize", "--help").stdout, "help-equalize")


def test_json_equals_the_results_of_the_library(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    output = run_json(
        path, *BY_SEX, *ODDS, "--parity", "demographic-parity", *COSTS, "--within", "0.1", "--level", "90%"
    )
    t = read.tallies(path, truth="sick", score="risk", group="sex")
    goal = Goal(["equalized-odds", "demographic-parity"], within=0.1, costs=Costs(fp=2, fn=1))
    wanted = json.loads(fairness.impact(t, goal, interval=IntervalOptions(level=0.9)).to_json())
    assert output["rows"] == wanted["rows"]
    assert output["data"] == wanted["data"]


def test_cost_per_case_with_and_without_the_parity(tmp_path: Path) -> None:
    output = run_json(write_people(tmp_path), *BY_SEX, *ODDS, *COSTS)
    costs = {
        row["set"]: row["value"] for row in output["rows"] if row["measure"] == "expected_cost" and row["group"] is None
    }
    assert costs == {"with parity": output["data"]["cost"], "without parity": output["data"]["cost_without"]}
    assert costs["with parity"] - costs["without parity"] == output["data"]["price"] > 0


def test_csv_has_the_rows_of_json(tmp_path: Path) -> None:
    typed = (write_people(tmp_path), *BY_SEX, *ODDS)
    rows = list(csv.DictReader(io.StringIO(run("equalize", *typed, "--format", "csv", "-q").stdout)))
    there = run_json(*typed)["rows"]
    assert [row["measure"] for row in rows] == [row["measure"] for row in there]
    assert {row["table"] for row in rows} == {"account"}
    assert {row["group.sex"] for row in rows} == {"", "f", "m"}


def test_prevalence_is_common_or_by_group(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    everybody = run_json(path, *BY_SEX, *ODDS, "--prevalence", "2%")["data"]
    assert everybody["deployment"] == {"prevalence": 0.02}
    assert everybody["prevalence"] == 0.4
    numbered = PEOPLE.replace(",f,", ",1,").replace(",m,", ",2,").splitlines(keepends=True)
    kept = "".join(line for line in numbered if ",north," not in line and ",coast,2," not in line)
    by_both = ("--group", "sex", "--group", "site", "--parity", "demographic-parity")
    both = run_json("-", *ONE, *by_both, "--prevalence", "1/coast=10%, 2/hill=20%", given=kept)
    rates = {
        tuple(map(str, row["group"].values())): row["value"]
        for row in both["rows"]
        if row["measure"] == "base_rate" and row["group"]
    }
    assert rates["1", "coast"] == pytest.approx(0.1)
    assert rates["2", "hill"] == pytest.approx(0.2)


def test_policy_is_written_and_reported(tmp_path: Path) -> None:
    path, policy = write_people(tmp_path), tmp_path / "policy.json"
    typed = (*BY_SEX, *ODDS, "--within", "0.1", "--fp", "1", "--fn", "1")
    result = run("equalize", path, *typed, "-o", policy)
    assert result.exit_code == 0
    assert "Policy(equalized; 2 groups by sex: f flag " in result.stderr
    assert f"wrote {policy}: {Policy.load(policy)!r}; apply it with" in result.stderr
    assert f"baserate apply {policy} FILE --id COLUMN -o OUT" in result.stderr
    t = read.tallies(path, truth="sick", score="risk", group="sex")
    assert Policy.load(policy) == fairness.optimal_policy(t, Goal("equalized-odds", within=0.1))
    alone = run("equalize", path, *typed, "-o", "-", "-q")
    assert alone.stdout == policy.read_text(encoding="utf-8")
    shown = " ".join(run("show", policy).stdout.replace("\xa0", " ").split())
    assert "rule: least cost with FP 1, FN 1 that keeps equalized-odds within 0.1" in shown


def test_costs_that_were_not_stated_are_noted(tmp_path: Path) -> None:
    path, policy = write_people(tmp_path), tmp_path / "policy.json"
    result = run("equalize", path, *BY_SEX, *ODDS, "-o", policy)
    assert "note: no costs were stated, so a false positive and a false negative cost 1 each" in result.stderr
    assert fairness.NO_COSTS_NOTE in Policy.load(policy).notes
    stated = run("equalize", path, *BY_SEX, *ODDS, "--fp", "1", "--fn", "1")
    assert "no costs were stated" not in stated.stderr
    assert stated.stdout == result.stdout


def test_messages_on_stderr(tmp_path: Path) -> None:
    result = run("equalize", write_people(tmp_path), *BY_SEX, *ODDS, "--fp", "9", "--fn", "1")
    assert (
        "note: the parity was fitted to these rows and does not hold exactly on others; cross-validate" in result.stderr
    )
    assert "note: leveling down: sensitivity gets better in no group" in result.stderr
    assert "This is not legal advice." in " ".join(result.stdout.split())
    assert "fair" not in (result.stdout + result.stderr).lower()
    line = run("equalize", write_people(tmp_path), *BY_SEX, *ODDS, "--prevalence", "f=2%,m=3%", "--json").stderr
    assert "at f 2%, m 3% prevalence (sample: 40%)" in line


@pytest.mark.slow
def test_exit_codes(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    assert run_program("equalize", path, *BY_SEX, *ODDS).returncode == 0
    single = run_program("equalize", path, *ONE, "--group", "sex,site", *ODDS)
    assert (single.returncode, single.stdout) == (3, "")
    assert "sex = m, site = coast has no negatives and sex = m, site = north has no positives, which" in single.stderr
    assert "--otherwise pass, flag or refer" in single.stderr
    lacking = run("equalize", path, *ONE, "--group", "site", "--parity", "equal-opportunity", given="")
    assert lacking.exit_code == 0
    broken = run("equalize", "-", *BY_SEX, *ODDS, given=PEOPLE.replace("0.31", "nan"))
    assert (broken.exit_code, broken.stdout) == (3, "")
    assert "1 of 10 rows cannot be used (risk: 1 NaN)" in broken.stderr
    nobody = run("equalize", "-", *BY_SEX, *ODDS, given=PEOPLE.replace(",f,", ",,", 1))
    assert nobody.exit_code == 3
    assert "sex: 1 missing" in nobody.stderr


@pytest.mark.parametrize(
    ("typed", "code", "message"),
    [
        ((*ONE, *ODDS), 2, "missing option '--group'"),
        (BY_SEX, 2, "missing option '--parity'"),
        (("--truth", "sick", "--group", "sex", *ODDS), 2, "missing option '--score'"),
        (("--score", "risk", "--group", "sex", *ODDS), 2, "missing option '--truth'"),
        ((*BY_SEX, "--score", "old", *ODDS), 2, "a policy is of one model, not of risk and old; give one"),
        ((*BY_SEX, "--parity", "equal-odds"), 2, "Did you mean 'equalized-odds'"),
        ((*BY_SEX, "--parity", "predictive-parity"), 2, "predictive-parity can be measured, but not enforced"),
        ((*BY_SEX, *ODDS, "--within", "2"), 2, "'2' is not a tolerance; give a difference between rates"),
        ((*BY_SEX, *ODDS, "--within", "precision=0.2"), 2, "give each of sensitivity, fpr"),
        ((*BY_SEX, *ODDS, "--within", "=0.2"), 2, "'0.2' has no name"),
        ((*BY_SEX, *ODDS, "--prevalence", "f=2"), 2, "'2' is not a prevalence"),
        ((*BY_SEX, *ODDS, "--prevalence", "x=2%"), 3, "the group 'x', which is not in the data. Groups are: f, m."),
        ((*BY_SEX, *ODDS, "--fp", "-1", "--fn", "1"), 2, "an error costs less than a correct decision"),
        ((*BY_SEX, *ODDS, "--deterministic", "--blind"), 2, "--deterministic and --blind are two ways to choose"),
        ((*BY_SEX, *ODDS, "--crossing", "--reversal"), 2, "--crossing and --reversal are two ways to choose"),
        ((*BY_SEX, *ODDS, "--favor", "f"), 2, "--favor needs the favorable action"),
        ((*BY_SEX, *ODDS, "--favorable", "pass"), 2, "--favorable is for --favor"),
        ((*BY_SEX, *ODDS, "--around", "0.5"), 2, "--around is for --favor"),
        ((*BY_SEX, *ODDS, "--favor", "f", "--around", "0.5,0.6"), 2, "are 2 thresholds; a band lies around one"),
        ((*BY_SEX, *ODDS, "--folds", "3"), 2, "--folds is for --held-out"),
        ((*BY_SEX, *ODDS, "-o", "-", "--json"), 2, "-o - writes the policy to stdout"),
        ((*BY_SEX, *ODDS, "--group", "colour"), 2, "colour"),
    ],
)
def test_errors_state_a_remedy(typed: tuple[str, ...], code: int, message: str, tmp_path: Path) -> None:
    result = run("equalize", write_people(tmp_path), *typed)
    assert result.exit_code == code
    assert message in result.stderr
    assert result.stdout == ""


def test_a_parity_is_completed() -> None:
    words = "baserate equalize x --parity equal"
    env = {"_BASERATE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": "4"}
    done = run_program(env=env).stdout
    assert {line.partition(",")[2] for line in done.split()} == {"equal-opportunity", "equalized-odds"}
