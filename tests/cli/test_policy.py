"""`baserate show` and `baserate export` of policies: snapshots, exported code, and refused options."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from baserate import Costs, Cut, Policy, RandomizedCut, tally
from tests.apply.forms import CLASS_FORMS, FORMS, binary_calibrator, multiclass_calibrator
from tests.cli.shell import fits_terminal, matches_snapshot, run, write_people
from tests.schemas import read_results

HALF = RandomizedCut((Cut((0.3,)), Cut((0.7,))), (0.25, 0.75))
POLICIES = {
    "cost": Policy(
        by_group={(): Cut((0.64,))},
        otherwise="refuse",
        rule="cost",
        settings={"costs": Costs(fp=1, fn=20), "prevalence": 0.02},
        columns={"truth": "sick", "score": "risk"},
        positive="1",
        chosen_on="0123456789abcdef0123456789abcdef",
        notes=("There are few rows.",),
    ),
    "groups": Policy(
        by_group={
            ("f", "north"): Cut((0.4,)),
            ("f", "hill"): Cut((0.3, 0.6), ("pass", "refer", "flag")),
            ("m", 7): HALF,
        },
        otherwise="refer",
        attributes=("sex", "site"),
        columns={"truth": "sick", "score": "risk", "id": "times"},
        rule="require",
        settings={"require": ["specificity >= 0.9"], "maximize": "sensitivity"},
    ),
    "map": Policy(
        by_group={(): RandomizedCut((Cut((0.1 + 0.2,)), Cut((2 / 3,)), Cut((float("inf"),))), (1 / 3, 1 / 3, 1 / 3))},
        otherwise="refuse",
        calibrator=binary_calibrator(FORMS["two knots"]),
        columns={"score": "risk"},
    ),
    "bands": Policy(
        by_group={("a group with a very long name " * 4,): Cut((0.2, 0.7), ("low", "medium", "high"))},
        otherwise="refuse",
        attributes=("an attribute",),
        rule="a rule of the future",
        settings={"how_much": 3},
    ),
}


def save_policy(folder: Path, name: str) -> Path:
    path = folder / f"{name}.json"
    POLICIES[name].save(path)
    return path


@pytest.mark.parametrize("name", POLICIES)
def test_snapshot_of_terminal_output(name: str, tmp_path: Path) -> None:
    result = run("show", save_policy(tmp_path, name))
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, f"policy-{name}")
    assert result.stderr == "".join(f"note: {note}\n" for note in POLICIES[name].notes)


def test_snapshot_of_markdown(tmp_path: Path) -> None:
    assert matches_snapshot(run("show", save_policy(tmp_path, "groups"), "--format", "md", "-q").stdout, "policy-md")


@pytest.mark.parametrize("verb", ["show", "export"])
def test_snapshot_of_help(verb: str) -> None:
    assert matches_snapshot(run(verb, "--help").stdout, f"help-{verb}")


@pytest.mark.parametrize("name", POLICIES)
def test_pages_fit_the_terminal(name: str, tmp_path: Path) -> None:
    assert fits_terminal("show", save_policy(tmp_path, name), widths=(60, 80, 100, 140))


@pytest.mark.parametrize("name", POLICIES)
def test_json_has_the_content_and_the_score_ranges(name: str, tmp_path: Path) -> None:
    policy, path = POLICIES[name], save_policy(tmp_path, name)
    output = read_results(run("show", path, "--json", "-q").stdout)
    assert (output["data"]["rule"], output["data"]["key"]) == (policy.rule, policy.key)
    for row in output["rows"]:
        group = tuple((row["group"] or {}).values())
        result = policy.treatment(group)
        at = float(row["lower"]) if row["lower"] != "-inf" else -1e300
        if isinstance(result, RandomizedCut):
            assert result.chances_at(at)[row["action"]] == row["chance"]
        else:
            assert (result.action(at), 1.0) == (row["action"], row["chance"])
    lines = list(csv.DictReader(io.StringIO(run("show", path, "--format", "csv", "-q").stdout)))
    assert [line["action"] for line in lines] == [row["action"] for row in output["rows"]]


def test_exported_sql_runs(tmp_path: Path) -> None:
    policy, target = POLICIES["groups"], tmp_path / "decide.sql"
    result = run(
        "export", save_policy(tmp_path, "groups"), "--to", "sql", "--table", "main.people", "--name", "do", "-o", target
    )
    assert (result.exit_code, result.stdout) == (0, "")
    with duckdb.connect() as engine:
        engine.read_csv(str(write_people(tmp_path))).create("people")
        actual = engine.sql(target.read_text(encoding="utf-8"))
        wanted = engine.sql("SELECT risk, sex, site, times FROM people").fetchall()
        assert actual.columns[-1] == "do"
        assert [row[-1] for row in actual.fetchall()] == [
            policy.action(risk, (sex, site), id=times) for risk, sex, site, times in wanted
        ]
        typed = ("--score", "old", "--group", "sex", "--group", "sex", "--id", "says", "--chances", "--name", "x")
        listed = run("export", save_policy(tmp_path, "groups"), "--to", "sql", *typed).stdout
        names = engine.sql(f"SELECT {listed} FROM people").columns  # noqa: S608  (ours)
    assert names == ["x", *(f"x_chance_{action}" for action in policy.actions)]


def test_sql_dialects_differ(tmp_path: Path) -> None:
    assert "`risk`" in run("export", save_policy(tmp_path, "cost"), "--to", "sql", "--dialect", "Spark").stdout
    postgres, postgresql = (
        run("export", save_policy(tmp_path, "cost"), "--to", "sql", "--dialect", name).stdout
        for name in ("postgres", "postgresql")
    )
    assert postgres == postgresql != ""
    assert (
        "AS `action_chance_flag`"
        in run("export", save_policy(tmp_path, "cost"), "--to", "sql", "--dialect", "spark", "--chances").stdout
    )
    binary_calibrator(FORMS["rarer"]).save(tmp_path / "map.json")
    assert "`risk`" in run("export", tmp_path / "map.json", "--to", "sql", "--dialect", "spark").stdout


def test_exported_python_runs(tmp_path: Path) -> None:
    target = tmp_path / "triage.py"
    assert (
        run("export", save_policy(tmp_path, "map"), "--to", "python", "--name", "triage", "-o", target).exit_code == 0
    )
    result: dict[str, Any] = {}
    exec(target.read_text(encoding="utf-8"), result)  # noqa: S102  (it is ours)
    for id_ in range(50):
        assert result["triage"](0.6, id=id_) == POLICIES["map"].action(0.6, id=id_)


@pytest.mark.parametrize(
    ("name", "typed", "words"),
    [
        ("cost", ("sql", "--dialect", "oracle"), "'oracle' is not one of 'duckdb', 'postgresql', 'spark'"),
        ("cost", ("sql", "--name", "x"), "--name names a column, but an expression has no name"),
        ("cost", ("sql", "--group", "sex"), "group names 1 column, but this policy requires no group"),
        ("bands", ("sql",), "does not store the name of the score column; name it, such as --score risk"),
        ("map", ("sql",), "name it, such as --id patient"),
        ("cost", ("python", "--name", "2"), "expected an identifier of Python, such as 'decide'"),
        ("cost", ("python", "--table", "x"), "--table is for SQL"),
        ("cost", ("snow",), "'snow' is not one of 'sql', 'python'"),
    ],
)
def test_unsupported_options_are_refused(name: str, typed: tuple[str, ...], words: str, tmp_path: Path) -> None:
    result = run("export", save_policy(tmp_path, name), "--to", *typed)
    assert result.exit_code == 2
    assert words in result.stderr


def test_former_policy_command_is_explained(tmp_path: Path) -> None:
    result = run("policy", "show", save_policy(tmp_path, "cost"))
    assert result.exit_code == 2
    assert "there is no command 'policy'. Did you mean `baserate decide` or `baserate show` or" in result.stderr


BROKEN: dict[str, Callable[[str], str]] = {
    "truncated": lambda text: text[:100],
    "edited": lambda text: text.replace("0.64", "0.65"),
    "newer": lambda text: text.replace('"schema_version": 1', '"schema_version": 2'),
}


VERBS = {"show": ("show",), "sql": ("export", "--to", "sql"), "python": ("export", "--to", "python")}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("how", BROKEN)
def test_file_without_a_policy_is_refused(how: str, verb: str, tmp_path: Path) -> None:
    path = save_policy(tmp_path, "cost")
    path.write_text(BROKEN[how](path.read_text(encoding="utf-8")), encoding="utf-8")
    result = run(*VERBS[verb], path)
    assert result.exit_code == 3
    assert f"{path} is not a usable policy: " in result.stderr


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("sick,risk\n1,0.5\n", encoding="utf-8")
    result = run("show", path)
    assert result.exit_code == 3
    assert f"{path} contains no calibrator, policy, report, plan or tally" in result.stderr
    path.write_text('{"kind": "baserate/tally"}', encoding="utf-8")
    assert f"{path} is not a usable tally: " in run("show", path).stderr
    result = run("export", path, "--to", "sql")
    assert result.exit_code == 3
    assert f"{path} contains neither a calibrator nor a policy" in result.stderr


@pytest.mark.parametrize("map_", [binary_calibrator(FORMS["rarer"]), multiclass_calibrator(CLASS_FORMS["priors"])])
def test_calibrators_are_shown(map_: Any, tmp_path: Path) -> None:  # noqa: ANN401  (a calibrator of either kind)
    map_.save(tmp_path / "map.json")
    result = run("show", tmp_path / "map.json")
    assert result.exit_code == 0, result.stderr
    assert repr(map_) in result.stdout
    output = read_results(run("show", tmp_path / "map.json", "--json", "-q").stdout)
    assert [row["name"] for row in output["rows"]] == [each.name for each in map_.parameters]
    assert output["data"]["method"] == map_.method


def test_policy_is_refused_as_a_calibrator(tmp_path: Path) -> None:
    binary_calibrator(FORMS["rarer"]).save(tmp_path / "map.json")
    result = run("check", write_people(tmp_path), "--policy", tmp_path / "map.json", "--require", "auc >= 0.5")
    assert result.exit_code == 3
    assert f"{tmp_path / 'map.json'} is a calibrator, not a policy; name a file that contains a policy" in result.stderr


def test_plans_reports_and_tallies_are_shown(tmp_path: Path) -> None:
    plan, report = tmp_path / "plan.json", tmp_path / "report.json"
    typed = ("report", write_people(tmp_path), "--truth", "sick", "--score", "risk", "--positive", "1")
    page = run(*typed, "--save-plan", plan, "--save-json", report)
    assert page.exit_code == 0
    assert run("show", report).stdout == page.stdout
    shown = run("show", plan)
    assert shown.exit_code == 0, shown.stderr
    assert "truth" in shown.stdout
    assert "sick" in shown.stdout
    tally([1, 0, 1, 0], [0.9, 0.4, 0.4, 0.1]).save(tmp_path / "tally.json")
    output = read_results(run("show", tmp_path / "tally.json", "--json", "-q").stdout)
    assert {row["name"]: row["value"] for row in output["rows"]} == {
        "rows": 4,
        "positives": 2,
        "negatives": 2,
        "prevalence": 0.5,
        "distinct scores": 3,
    }


@pytest.mark.parametrize("verb", VERBS)
def test_missing_policy_file_is_refused(verb: str, tmp_path: Path) -> None:
    result = run(*VERBS[verb], tmp_path / "policy.json")
    assert result.exit_code == 2
    assert f"there is no file {tmp_path / 'policy.json'}. Check the path." in result.stderr
