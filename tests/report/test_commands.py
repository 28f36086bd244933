"""What a report suggests can be typed as it stands: every command runs, with the files, columns and costs in use."""

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
from tests.report.cases import FIRES, Make, is_first, several
from tests.report.test_findings import DEGENERATE
from tests.tiers import some, tiered, tiered_rows

EVALUATE = baserate.evaluate
NEEDS_NO_COMMAND = {"BR016", "BR018"}
"""Only words can say what to do: nothing that is read here can be typed."""


class Made(NamedTuple):
    """A report, and what was handed to `evaluate` for it, by name."""

    report: Report
    given: dict[str, Any]


def make_input(make: Make) -> Made:
    """Make a report, and remember what the last `evaluate` was given."""
    calls: list[Made] = []

    def remember(truth: Any, score: Any = None, **more: Any) -> Report:  # noqa: ANN401  (as evaluate takes it)
        report = EVALUATE(truth, score, **more)
        calls.append(Made(report, {"truth": truth, "score": score, **more}))
        return report

    direct = isinstance(make, partial) and make.func is EVALUATE
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(baserate, "evaluate", remember)
        _ = partial(remember, *make.args, **make.keywords)() if direct and isinstance(make, partial) else make()
    return calls[-1]


def columns(report: Report, given: Mapping[str, Any]) -> dict[str, Any]:
    """Columns as the report says that they were handed over; of samples apart, those of each."""
    arrays = report.data["arrays"]
    if report.plan.apart:
        return {sample: {name: eval(each, dict(given)) for name, each in of.items()} for sample, of in arrays.items()}  # noqa: S307
    return {name: eval(each, dict(given)) for name, each in arrays.items()}  # noqa: S307  (our own words)


def write(path: Path, table: Mapping[str, Any]) -> Path:
    rows = zip(*(list(column) for column in table.values()), strict=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
    return path


def in_files(result: Made, folder: Path) -> Plan:
    """The plan of the same rows in files, and of the same policy."""
    report, given = result
    table = columns(report, given)
    if report.plan.apart:
        paths = [write(folder / f"{sample.replace(' ', '-')}.csv", each) for sample, each in table.items()]
    else:
        paths = [write(folder / "my rows.csv", table)]
    plan = replace(report.plan, files=tuple(path.name for path in paths))
    if plan.policy is None:
        return plan
    plan.policy.save(folder / "eo.json")
    return replace(plan, policy_file="eo.json")


def is_complete(text: str) -> None:
    assert "…" not in text
    assert "..." not in text
    assert not re.search(r"\b[A-Z]{4,}\b", re.sub(r"'[^']*'|\"[^\"]*\"", "", text)), text  # FILE, COLUMN, LABEL


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one's own to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def through_the_shell(plan: Plan) -> Report:
    """The report of a plan, as a shell makes it."""
    shown = run("report", *shlex.split(" ".join(command_words(plan))), "--json")
    assert shown.exit_code == 0, shown.stderr
    return Report.from_json(shown.stdout)


def commands_of(report: Report, code: str) -> list[str]:
    """What is suggested for a code, to be typed; every finding of it suggests something, or none does."""
    result = [each for each in report.findings if each.code == code]
    assert result
    language = "sh" if report.plan.files else "python"
    typed = [each.command.text for each in result if each.command]
    assert all(each.command is None or each.command.language == language for each in result)
    for text in typed:
        is_complete(text)
    return typed


def typed(text: str) -> str:
    """Run a command; what it writes to stdout."""
    program, *words = shlex.split(text)
    assert program == "baserate"
    result = run(*words)
    assert result.exit_code in {0, 1}, (text, result.stderr)
    return str(result.stdout)


@pytest.mark.quick(6)
@pytest.mark.parametrize(("code", "make"), tiered_rows(several(FIRES), is_first))
def test_python_of_findings_runs_with_what_was_handed_over(code: str, make: Make, folder: Path) -> None:
    report, given = make_input(make)
    for text in commands_of(report, code):
        exec(text, {"baserate": baserate, **given})  # noqa: S102  (our own words)
    assert Report.from_json(report.to_json()).findings == report.findings
    assert folder.exists()


@pytest.mark.quick(6)
@pytest.mark.parametrize(("code", "make"), tiered_rows(several(FIRES), is_first))
def test_commands_of_findings_run_with_the_files(code: str, make: Make, folder: Path) -> None:
    report = through_the_shell(in_files(make_input(make), folder))
    for text in commands_of(report, code):
        typed(text)


@pytest.mark.slow
def test_every_code_but_two_has_a_command_for_some_rows() -> None:
    without = {code for code, every in FIRES.items() if not any(commands_of(make(), code) for make in every)}
    assert without == NEEDS_NO_COMMAND


# All kinds of plans, and rows of one class.
@pytest.mark.slow
@pytest.mark.parametrize("code", tiered(["BR003", "BR006", "BR007", "BR011"], 2))
@pytest.mark.parametrize("at", tiered([0, -1]))
def test_what_comes_next_runs_with_the_files(code: str, at: int, folder: Path) -> None:
    report = through_the_shell(in_files(make_input(FIRES[code][at]), folder))
    result = next_commands(report)
    assert result.language == "sh"
    assert result.commands
    for command in result.commands:
        is_complete(" ".join(command.words))
        typed(" ".join(command.words))


@pytest.mark.slow
@pytest.mark.parametrize("name", tiered(DEGENERATE, some(DEGENERATE, 3)))
def test_python_runs_for_degenerate_rows(name: str, folder: Path) -> None:
    given = DEGENERATE[name]
    for finding in baserate.evaluate(**given).findings:
        if finding.command:
            exec(finding.command.text, {"baserate": baserate, **given})  # noqa: S102  (our own words)
    assert folder.exists()


def saved(folder: Path, *more: str, name: str = "people.csv") -> Report:
    """The report of a hundred rows in a file, through the shell."""
    score = [0.9] * 12 + [0.6] * 8 + [0.9] * 2 + [0.6] * 38 + [0.1] * 40
    site = ["north", "south"] * 50
    table = {"is sick": [1] * 20 + [0] * 80, "risk": score, "old": score[::-1], "site": site, "w": [1.5] * 100}
    write(folder / name, table)
    shown = run("report", name, "--truth", "is sick", "--score", "risk", *more, "--json")
    assert shown.exit_code == 0, shown.stderr
    return Report.from_json(shown.stdout)


def test_costs_are_those_that_were_stated_and_none_are_invented(folder: Path) -> None:
    stated = saved(folder, "--fp", "2", "--fn", "7.5", "--prevalence", "5%", "--weight", "w")
    (text,) = commands_of(stated, "BR008")
    names = "people.csv --truth 'is sick' --score risk --weight w"
    assert text == f"baserate decide {names} --prevalence 0.05 --fp 2 --fn 7.5 --folds 5"
    silent = saved(folder, "--threshold", "0.05")
    (text,) = commands_of(silent, "BR009")
    assert text == "baserate decide people.csv --truth 'is sick' --score risk"
    for report, words in ((stated, {"--fp 2", "--fn 7.5"}), (silent, set())):
        typed_ones = [each.command.text for each in report.findings if each.command]
        typed_ones += [" ".join(command.words) for command in next_commands(report).commands]
        assert {result for each in typed_ones for result in re.findall(r"--f[pn] \S+", each)} == words


def test_texts_hold_no_command_that_is_cut_short() -> None:
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
        report = saved(folder, "--policy", name)
        assert report.plan.policy_file == name
        commands = [" ".join(command.words) for command in next_commands(report).commands]
        assert f"--policy {name}" in commands[-1]
        assert "policy.json" not in " ".join(commands)
        assert not [each for each in commands if re.search(rf"(-o|--save-json) {re.escape(name)}", each)]
        (groups,) = commands_of(report, "BR011")
        assert f"--policy {name}" in groups
        for text in (*commands, groups):
            typed(text)
        assert Policy.load(folder / name) == policy


@pytest.mark.slow
def test_a_choice_for_groups_is_cross_validated(folder: Path) -> None:
    report = saved(folder, "--group", "site", "--threshold", "0.5")
    typed(
        "baserate equalize people.csv --truth 'is sick' --score risk --group site --parity equal-opportunity "
        "--within 0.1 --fp 2 --fn 9 -o eo.json"
    )
    (text,) = commands_of(saved(folder, "--policy", "eo.json"), "BR008")
    assert text == (
        "baserate equalize people.csv --truth 'is sick' --score risk --positive 1 --group site --fp 2 --fn 9 "
        "--parity equal-opportunity --within 0.1 --held-out"
    )
    assert "On rows that had no part in the choice" in typed(text)
    policy = Policy.load("eo.json")
    table = {"truth": [1] * 20 + [0] * 80, "score": [0.9] * 12 + [0.6] * 8 + [0.9] * 2 + [0.6] * 38 + [0.1] * 40}
    given: dict[str, Any] = {**table, "group": {"site": ["north", "south"] * 50}, "policy": policy, "positive": 1}
    (text,) = commands_of(baserate.evaluate(**given), "BR008")
    exec(text, {"baserate": baserate, **given})  # noqa: S102  (our own words)
    assert 'Goal(["equal-opportunity"], within=0.1, costs=baserate.Costs(fp=2, fn=9))' in text
    assert report.plan.policy_file is None


def test_a_policy_that_no_file_holds_is_not_named(folder: Path) -> None:
    report = saved(folder)
    at = replace(report.plan, policy=Policy(by_group={(): Cut((0.5,))}, otherwise="refuse"))
    result = baserate.run(replace(at, group=("site",)))
    assert "policy" not in " ".join(" ".join(command.words) for command in next_commands(result).commands)
    (groups, *_) = commands_of(result, "BR012")
    assert groups == "baserate groups people.csv --truth 'is sick' --score risk --group site --threshold 0.5"
    typed(groups)
    by_site: dict[tuple[object, ...], Cut] = {("north",): Cut((0.5,)), ("south",): Cut((0.95,))}
    apart = Policy(by_group=by_site, otherwise="refuse", attributes=("site",))
    result = baserate.run(replace(at, group=("site",), policy=apart))
    assert commands_of(result, "BR012") == []
    alone = baserate.run(
        Plan(files=("people.csv", "people.csv"), apart=True, truth="is sick", score="risk", policy=at.policy)
    )
    assert next_commands(alone).language == "python"


def test_each_of_several_models_is_named_by_its_own_column(folder: Path) -> None:
    report = saved(folder, "--score", "old", "--rule", "youden")
    result = {each.model: each.command.text for each in report.findings if each.code == "BR008" and each.command}
    assert result == {
        name: f"baserate decide people.csv --truth 'is sick' --score {name} --rule youden --folds 5"
        for name in ("risk", "old")
    }


@pytest.mark.quick(1)
@pytest.mark.parametrize("make", FIRES["BR003"])
def test_the_rows_of_the_sentence_are_those_of_the_command(make: Make, folder: Path) -> None:
    result = make_input(make)
    (finding,) = (each for each in result.report.findings if each.code == "BR003")
    assert finding.command
    planned = eval(finding.command.text, {"baserate": baserate})  # noqa: S307  (our own words)
    assert planned.rows == finding.numbers["rows_needed"]
    report = through_the_shell(in_files(result, folder))
    (text,) = commands_of(report, "BR003")
    assert json.loads(typed(f"{text} --json"))["rows"][0]["rows"] == finding.numbers["rows_needed"]


@pytest.mark.slow
def test_the_threshold_of_the_sentence_is_that_of_the_command(folder: Path) -> None:
    result = make_input(FIRES["BR010"][0])
    (finding,) = (each for each in result.report.findings if each.code == "BR010")
    (text,) = commands_of(through_the_shell(in_files(result, folder)), "BR010")
    rows = json.loads(typed(f"{text} --json"))["rows"]
    chosen = [row["value"] for row in rows if row["measure"] == "threshold" and row["rule"] == "require"]
    assert chosen == [finding.numbers["other_threshold"]]


def test_labels_stay_beside_the_scores_whose_threshold_is_stated(folder: Path) -> None:
    truth, score, says = [1, 1, 0, 0], [0.9, 0.4, 0.3, 0.1], [1, 1, 0, 0]
    given: dict[str, Any] = {"truth": truth, "score": score, "predicted": says}
    result = Made(baserate.evaluate(**given), given)
    (text,) = commands_of(result.report, "BR014")
    assert text == "baserate.evaluate(truth, score, predicted=predicted, threshold=0.4)"
    again = eval(text, {"baserate": baserate, **given})  # noqa: S307  (our own words)
    assert "BR014" not in {each.code for each in again.findings}
    (text,) = commands_of(through_the_shell(in_files(result, folder)), "BR014")
    assert "BR014" not in {each["code"] for each in json.loads(typed(f"{text} --json"))["findings"]}


def test_the_other_class_is_named(folder: Path) -> None:
    table = {"truth": ["sick", "well"] * 30, "score": [0.2, 0.8, 0.3, 0.7, 0.6, 0.5] * 10}
    given: dict[str, Any] = {**table, "positive": "sick"}
    report = baserate.evaluate(**given)
    (text,) = commands_of(report, "BR002")
    assert text == 'baserate.evaluate(truth, score, positive="well")'
    turned = eval(text, {"baserate": baserate, **given})  # noqa: S307  (our own words)
    assert turned.here.auc.value == pytest.approx(1 - report.here.auc.value)
    (text,) = commands_of(through_the_shell(in_files(Made(report, given), folder)), "BR002")
    assert json.loads(typed(f"{text} --json"))["data"]["positive"] == "well"


@pytest.mark.slow
def test_a_table_in_memory_is_called_a_table(folder: Path) -> None:
    score = [0.9] * 12 + [0.6] * 8 + [0.9] * 2 + [0.6] * 38 + [0.1] * 40
    table = {"sick": [1] * 20 + [0] * 80, "risk": score, "site": ["north", "south"] * 50, "who": [1, *range(1, 100)]}
    policy = Policy(by_group={(): Cut((0.5,))}, otherwise="refuse")
    plan = Plan(truth="sick", score="risk", group="site", id="who", policy=policy, positive=1)
    report = baserate.run(plan, table)
    (groups,) = commands_of(report, "BR012")
    assert "baserate.equalize.compare_groups(tallies, policy=plan.policy)" in groups
    for finding in report.findings:
        if finding.command:
            exec(finding.command.text, {"baserate": baserate, "plan": plan, "table": table})  # noqa: S102
    apart = Plan(truth="sick", score="risk", apart=True)
    tables = {"old": table, "new": {**table, "sick": [1] * 60 + [0] * 40}}
    report = baserate.run(apart, tables)
    assert 'table["old"]' in "".join(each.command.text for each in report.findings if each.command)
    assert len(commands_of(report, "BR006")) == 1
    for finding in report.findings:
        if finding.command:
            exec(finding.command.text, {"baserate": baserate, "plan": apart, "table": tables})  # noqa: S102
    assert folder.exists()


@pytest.mark.quick(1)
@pytest.mark.parametrize("key", ["risk", 1, np.int64(2)], ids=str)
def test_scores_are_named_as_they_were_handed_over(key: object, folder: Path) -> None:
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


def test_sample_and_score_follow_from_the_name_of_a_model() -> None:
    plan = Plan(files=("a.csv", "b.csv"), apart=True, score=("risk", "x: risk"))
    assert sample_of(plan, "a: risk") == ("a", "risk")
    assert sample_of(plan, "a: x: risk") == ("a", "x: risk")
    assert sample_of(replace(plan, score=("risk",)), "a: risk") == ("a: risk", "risk")


def test_prevalences_of_groups_are_typed_where_a_command_takes_them() -> None:
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
    assert f"to={report.prevalence}" in chosen.text
    typed = replace(report, plan=replace(report.plan, files=("people.csv",)))
    words = spell_step(typed, Step(verb="report"))
    alone = spell_step(typed, Step(verb="decide"), typed.model)
    assert words is not None
    assert alone is not None
    assert "--prevalence north=0.02,south=0.2" in words.text
    assert f"--prevalence {report.prevalence}" in alone.text
