"""Commands that a report suggests are complete: they run with the files, columns and costs of the report."""

import csv
import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import baserate
from baserate import Costs, Cut, Plan, Policy, Report
from baserate.report import CHECKS
from baserate.report._commands import Step, command_words, next_commands, sample_of, spell_step
from tests.cli.shell import run
from tests.report.cases import FIRES, Make, is_first, list_cases
from tests.report.test_findings import DEGENERATE
from tests.tiers import some, take_in_tiers, tiered_rows

EVALUATE = baserate.evaluate
NEEDS_NO_COMMAND = {"BR016", "BR018"}
"""Codes whose remedy no command can carry out."""


class EvaluatedReport(NamedTuple):
    """A report, and the arguments of `evaluate` by name."""

    report: Report
    given: dict[str, Any]


def record_evaluation(make: Make) -> EvaluatedReport:
    """Make a report, and record the arguments of the last `evaluate`."""
    calls: list[EvaluatedReport] = []

    def record_call(truth: Any, score: Any = None, **more: Any) -> Report:  # noqa: ANN401  (as evaluate takes it)
        report = EVALUATE(truth, score, **more)
        calls.append(EvaluatedReport(report, {"truth": truth, "score": score, **more}))
        return report

    direct = isinstance(make, partial) and make.func is EVALUATE
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(baserate, "evaluate", record_call)
        _ = partial(record_call, *make.args, **make.keywords)() if direct and isinstance(make, partial) else make()
    return calls[-1]


def handed_columns(report: Report, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns by the expressions in the report; for separate samples, those of each."""
    arrays = report.data["arrays"]
    if report.plan.apart:
        return {sample: {name: eval(each, dict(given)) for name, each in of.items()} for sample, of in arrays.items()}  # noqa: S307
    return {name: eval(each, dict(given)) for name, each in arrays.items()}  # noqa: S307  (our own words)


def write_csv(path: Path, table: Mapping[str, Any]) -> Path:
    rows = zip(*(list(column) for column in table.values()), strict=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
    return path


def write_plan_files(result: EvaluatedReport, folder: Path) -> Plan:
    """Write the rows and the policy of a report into files, and return their plan."""
    report, given = result
    table = handed_columns(report, given)
    if report.plan.apart:
        paths = [write_csv(folder / f"{sample.replace(' ', '-')}.csv", each) for sample, each in table.items()]
    else:
        paths = [write_csv(folder / "my rows.csv", table)]
    plan = replace(report.plan, files=tuple(path.name for path in paths))
    if plan.policy is None:
        return plan
    plan.policy.save(folder / "eo.json")
    return replace(plan, policy_file="eo.json")


def check_complete(text: str) -> None:
    assert "…" not in text
    assert "..." not in text
    assert not re.search(r"\b[A-Z]{4,}\b", re.sub(r"'[^']*'|\"[^\"]*\"", "", text)), text  # FILE, COLUMN, LABEL


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_in_shell(plan: Plan) -> Report:
    """Return the report of a plan, made in a shell."""
    shown = run("report", *shlex.split(" ".join(command_words(plan))), "--json")
    assert shown.exit_code == 0, shown.stderr
    return Report.from_json(shown.stdout)


def suggested_commands(report: Report, code: str) -> list[str]:
    """Return the commands that findings of a code suggest."""
    result = [each for each in report.findings if each.code == code]
    assert result
    language = "sh" if report.plan.files else "python"
    run_command = [each.command.text for each in result if each.command]
    assert all(each.command is None or each.command.language == language for each in result)
    for text in run_command:
        check_complete(text)
    return run_command


def run_command(text: str) -> str:
    """Run a command, and return its standard output."""
    program, *words = shlex.split(text)
    assert program == "baserate"
    result = run(*words)
    assert result.exit_code in {0, 1}, (text, result.stderr)
    return str(result.stdout)


@pytest.mark.quick(6)
@pytest.mark.parametrize(("code", "make"), tiered_rows(list_cases(FIRES), is_first))
def test_python_of_findings_runs(code: str, make: Make, folder: Path) -> None:
    report, given = record_evaluation(make)
    for text in suggested_commands(report, code):
        exec(text, {"baserate": baserate, **given})  # noqa: S102  (our own words)
    assert Report.from_json(report.to_json()).findings == report.findings
    assert folder.exists()


@pytest.mark.quick(6)
@pytest.mark.parametrize(("code", "make"), tiered_rows(list_cases(FIRES), is_first))
def test_commands_of_findings_run(code: str, make: Make, folder: Path) -> None:
    report = run_in_shell(write_plan_files(record_evaluation(make), folder))
    for text in suggested_commands(report, code):
        run_command(text)


@pytest.mark.slow
def test_every_code_but_two_suggests_a_command() -> None:
    without = {code for code, every in FIRES.items() if not any(suggested_commands(make(), code) for make in every)}
    assert without == NEEDS_NO_COMMAND


# All kinds of plans, and rows of one class.
@pytest.mark.slow
@pytest.mark.parametrize("code", take_in_tiers(["BR003", "BR006", "BR007", "BR011"], 2))
@pytest.mark.parametrize("at", take_in_tiers([0, -1]))
def test_next_commands_run(code: str, at: int, folder: Path) -> None:
    report = run_in_shell(write_plan_files(record_evaluation(FIRES[code][at]), folder))
    result = next_commands(report)
    assert result.language == "sh"
    assert result.commands
    for command in result.commands:
        check_complete(" ".join(command.words))
        run_command(" ".join(command.words))


@pytest.mark.slow
@pytest.mark.parametrize("name", take_in_tiers(DEGENERATE, some(DEGENERATE, 3)))
def test_python_runs_for_degenerate_rows(name: str, folder: Path) -> None:
    given = DEGENERATE[name]
    for finding in baserate.evaluate(**given).findings:
        if finding.command:
            exec(finding.command.text, {"baserate": baserate, **given})  # noqa: S102  (our own words)
    assert folder.exists()


def report_on_file(folder: Path, *more: str, name: str = "people.csv") -> Report:
    """Return the report of a hundred rows in a file, made in a shell."""
    score = [0.9] * 12 + [0.6] * 8 + [0.9] * 2 + [0.6] * 38 + [0.1] * 40
    site = ["north", "south"] * 50
    table = {"is sick": [1] * 20 + [0] * 80, "risk": score, "old": score[::-1], "site": site, "w": [1.5] * 100}
    write_csv(folder / name, table)
    shown = run("report", name, "--truth", "is sick", "--score", "risk", *more, "--json")
    assert shown.exit_code == 0, shown.stderr
    return Report.from_json(shown.stdout)


def test_commands_contain_only_stated_costs(folder: Path) -> None:
    stated = report_on_file(folder, "--fp", "2", "--fn", "7.5", "--prevalence", "5%", "--weight", "w")
    (text,) = suggested_commands(stated, "BR008")
    names = "people.csv --truth 'is sick' --score risk --weight w"
    assert text == f"baserate decide {names} --prevalence 0.05 --fp 2 --fn 7.5 --folds 5"
    silent = report_on_file(folder, "--threshold", "0.05")
    (text,) = suggested_commands(silent, "BR009")
    assert text == "baserate decide people.csv --truth 'is sick' --score risk"
    for report, words in ((stated, {"--fp 2", "--fn 7.5"}), (silent, set())):
        typed_ones = [each.command.text for each in report.findings if each.command]
        typed_ones += [" ".join(command.words) for command in next_commands(report).commands]
        assert {result for each in typed_ones for result in re.findall(r"--f[pn] \S+", each)} == words


def test_texts_contain_no_truncated_commands() -> None:
    for check in CHECKS.values():
        text = f"{check.title} {check.why} {check.remedy}"
        assert "…" not in text
        assert "`" not in text
        assert "--" not in text


@pytest.mark.slow
def test_commands_name_the_policy_file_and_never_overwrite_it(folder: Path) -> None:
    by_site: dict[tuple[object, ...], Cut] = {("north",): Cut((0.5,)), ("south",): Cut((0.95,))}
    policy = Policy(by_group=by_site, otherwise="refuse", attributes=("site",), columns={"score": "risk"}, positive="1")
    for name in ("eo.json", "by-group.json", "report.json"):
        policy.save(folder / name)
        report = report_on_file(folder, "--policy", name)
        assert report.plan.policy_file == name
        commands = [" ".join(command.words) for command in next_commands(report).commands]
        assert f"--policy {name}" in commands[-1]
        assert "policy.json" not in " ".join(commands)
        assert not [each for each in commands if re.search(rf"(-o|--save-json) {re.escape(name)}", each)]
        (groups,) = suggested_commands(report, "BR011")
        assert f"--policy {name}" in groups
        for text in (*commands, groups):
            run_command(text)
        assert Policy.load(folder / name) == policy


@pytest.mark.slow
def test_suggested_choice_for_groups_is_cross_validated(folder: Path) -> None:
    report = report_on_file(folder, "--group", "site", "--threshold", "0.5")
    run_command(
        "baserate equalize people.csv --truth 'is sick' --score risk --group site --parity equal-opportunity "
        "--within 0.1 --fp 2 --fn 9 -o eo.json"
    )
    (text,) = suggested_commands(report_on_file(folder, "--policy", "eo.json"), "BR008")
    assert text == (
        "baserate equalize people.csv --truth 'is sick' --score risk --positive 1 --group site --fp 2 --fn 9 "
        "--parity equal-opportunity --within 0.1 --held-out"
    )
    assert "On rows that had no part in the choice" in run_command(text)
    policy = Policy.load("eo.json")
    table = {"truth": [1] * 20 + [0] * 80, "score": [0.9] * 12 + [0.6] * 8 + [0.9] * 2 + [0.6] * 38 + [0.1] * 40}
    given: dict[str, Any] = {**table, "group": {"site": ["north", "south"] * 50}, "policy": policy, "positive": 1}
    (text,) = suggested_commands(baserate.evaluate(**given), "BR008")
    exec(text, {"baserate": baserate, **given})  # noqa: S102  (our own words)
    assert 'Goal("equal-opportunity", within=0.1, costs=baserate.Costs(fp=2, fn=9))' in text
    assert report.plan.policy_file is None


def test_commands_omit_policies_without_a_file(folder: Path) -> None:
    report = report_on_file(folder)
    at = replace(report.plan, policy=Policy(by_group={(): Cut((0.5,))}, otherwise="refuse"))
    result = baserate.run(replace(at, group=("site",)))
    assert "policy" not in " ".join(" ".join(command.words) for command in next_commands(result).commands)
    (groups, *_) = suggested_commands(result, "BR012")
    assert groups == "baserate groups people.csv --truth 'is sick' --score risk --group site --threshold 0.5"
    run_command(groups)
    by_site: dict[tuple[object, ...], Cut] = {("north",): Cut((0.5,)), ("south",): Cut((0.95,))}
    apart = Policy(by_group=by_site, otherwise="refuse", attributes=("site",))
    result = baserate.run(replace(at, group=("site",), policy=apart))
    assert suggested_commands(result, "BR012") == []
    alone = baserate.run(
        Plan(files=("people.csv", "people.csv"), apart=True, truth="is sick", score="risk", policy=at.policy)
    )
    assert next_commands(alone).language == "python"


def test_commands_name_the_column_of_each_model(folder: Path) -> None:
    report = report_on_file(folder, "--score", "old", "--rule", "youden")
    result = {each.model: each.command.text for each in report.findings if each.code == "BR008" and each.command}
    assert result == {
        name: f"baserate decide people.csv --truth 'is sick' --score {name} --rule youden --folds 5"
        for name in ("risk", "old")
    }


@pytest.mark.quick(1)
@pytest.mark.parametrize("make", FIRES["BR003"])
def test_suggested_sample_size_is_that_of_the_sentence(make: Make, folder: Path) -> None:
    result = record_evaluation(make)
    (finding,) = (each for each in result.report.findings if each.code == "BR003")
    assert finding.command
    planned = eval(finding.command.text, {"baserate": baserate})  # noqa: S307  (our own words)
    assert planned.rows == finding.numbers["rows_needed"]
    report = run_in_shell(write_plan_files(result, folder))
    (text,) = suggested_commands(report, "BR003")
    assert json.loads(run_command(f"{text} --json"))["rows"][0]["rows"] == finding.numbers["rows_needed"]


@pytest.mark.slow
def test_suggested_threshold_is_that_of_the_sentence(folder: Path) -> None:
    result = record_evaluation(FIRES["BR010"][0])
    (finding,) = (each for each in result.report.findings if each.code == "BR010")
    (text,) = suggested_commands(run_in_shell(write_plan_files(result, folder)), "BR010")
    rows = json.loads(run_command(f"{text} --json"))["rows"]
    chosen = [row["value"] for row in rows if row["measure"] == "threshold" and row["rule"] == "require"]
    assert chosen == [finding.numbers["other_threshold"]]


def test_suggested_threshold_keeps_predicted_labels(folder: Path) -> None:
    truth, score, says = [1, 1, 0, 0], [0.9, 0.4, 0.3, 0.1], [1, 1, 0, 0]
    given: dict[str, Any] = {"truth": truth, "score": score, "predicted": says}
    result = EvaluatedReport(baserate.evaluate(**given), given)
    (text,) = suggested_commands(result.report, "BR014")
    assert text == "baserate.evaluate(truth, score, predicted=predicted, threshold=0.4)"
    again = eval(text, {"baserate": baserate, **given})  # noqa: S307  (our own words)
    assert "BR014" not in {each.code for each in again.findings}
    (text,) = suggested_commands(run_in_shell(write_plan_files(result, folder)), "BR014")
    assert "BR014" not in {each["code"] for each in json.loads(run_command(f"{text} --json"))["findings"]}


def test_suggested_report_names_the_other_class(folder: Path) -> None:
    table = {"truth": ["sick", "well"] * 30, "score": [0.2, 0.8, 0.3, 0.7, 0.6, 0.5] * 10}
    given: dict[str, Any] = {**table, "positive": "sick"}
    report = baserate.evaluate(**given)
    (text,) = suggested_commands(report, "BR002")
    assert text == 'baserate.evaluate(truth, score, positive="well")'
    turned = eval(text, {"baserate": baserate, **given})  # noqa: S307  (our own words)
    assert turned.here.auc.value == pytest.approx(1 - report.here.auc.value)
    (text,) = suggested_commands(run_in_shell(write_plan_files(EvaluatedReport(report, given), folder)), "BR002")
    assert json.loads(run_command(f"{text} --json"))["data"]["positive"] == "well"


@pytest.mark.slow
def test_python_calls_data_in_memory_table(folder: Path) -> None:
    score = [0.9] * 12 + [0.6] * 8 + [0.9] * 2 + [0.6] * 38 + [0.1] * 40
    table = {"sick": [1] * 20 + [0] * 80, "risk": score, "site": ["north", "south"] * 50, "who": [1, *range(1, 100)]}
    policy = Policy(by_group={(): Cut((0.5,))}, otherwise="refuse")
    plan = Plan(truth="sick", score="risk", group="site", id="who", policy=policy, positive=1)
    report = baserate.run(plan, table)
    (groups,) = suggested_commands(report, "BR012")
    assert groups == (
        'baserate.fairness.compare_groups(table, truth="sick", score="risk", group="site", positive=1, policy=policy)'
    )
    for finding in report.findings:
        if finding.command:
            exec(finding.command.text, {"baserate": baserate, "policy": policy, "table": table})  # noqa: S102
    apart = Plan(truth="sick", score="risk", apart=True)
    tables = {"old": table, "new": {**table, "sick": [1] * 60 + [0] * 40}}
    report = baserate.run(apart, tables)
    assert 'table["old"]' in "".join(each.command.text for each in report.findings if each.command)
    assert len(suggested_commands(report, "BR006")) == 1
    for finding in report.findings:
        if finding.command:
            exec(finding.command.text, {"baserate": baserate, "table": tables})  # noqa: S102
    assert folder.exists()


@pytest.mark.quick(1)
@pytest.mark.parametrize("key", ["risk", 1, np.int64(2)], ids=str)
def test_python_names_scores_by_their_argument(key: object, folder: Path) -> None:
    truth = [1] * 20 + [0] * 80
    score = {key: [0.9] * 12 + [0.6] * 8 + [0.9] * 2 + [0.6] * 38 + [0.1] * 40, "old": [0.5] * 100}
    group = {"site": ["north", "south"] * 50}
    report = baserate.evaluate(truth, score, group=group, costs=Costs(fp=1, fn=3))
    given = {"truth": truth, "score": score, "group": group}
    for finding in report.findings:
        if finding.command:
            exec(finding.command.text, {"baserate": baserate, **given})  # noqa: S102  (our own words)
    assert "BR008" in {each.code for each in report.findings}
    assert folder.exists()


def test_sample_and_score_from_the_name_of_a_model() -> None:
    plan = Plan(files=("a.csv", "b.csv"), apart=True, score=("risk", "x: risk"))
    assert sample_of(plan, "a: risk") == ("a", "risk")
    assert sample_of(plan, "a: x: risk") == ("a", "x: risk")
    assert sample_of(replace(plan, score=("risk",)), "a: risk") == ("a: risk", "risk")


def test_commands_contain_prevalences_of_groups_where_accepted() -> None:
    stated = {"north": 0.02, "south": 0.2}
    site = np.array(["north", "south"] * 200)
    truth = np.array([1, 0, 0, 0, 1] * 80)
    score = np.where(truth == 1, 0.7, 0.2) + np.where(site == "north", 0.05, -0.05) * (truth == 1)
    score[::7] = 0.5
    report = baserate.evaluate(truth, score, group={"site": site}, prevalence=stated, costs=Costs(fp=1, fn=3))
    whole = spell_step(report, Step(verb="report"))
    assert whole is not None
    again = eval(whole.text, {"baserate": baserate, "truth": truth, "score": score, "group": {"site": site}})  # noqa: S307
    assert dict(again.plan.prevalence) == stated
    assert again.there.precision == report.there.precision
    chosen = spell_step(report, Step(verb="decide"), report.model)
    assert chosen is not None
    assert f"prevalence={report.prevalence}" in chosen.text
    run_command = replace(report, plan=replace(report.plan, files=("people.csv",)))
    words = spell_step(run_command, Step(verb="report"))
    alone = spell_step(run_command, Step(verb="decide"), run_command.model)
    assert words is not None
    assert alone is not None
    assert "--prevalence north=0.02,south=0.2" in words.text
    assert f"--prevalence {report.prevalence}" in alone.text
