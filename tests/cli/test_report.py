"""`baserate report`: snapshots, saved files, plans, and refused options."""

import json
import shlex
from dataclasses import fields, replace
from importlib import resources
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import Result
from hypothesis import given, strategies as st

import baserate
from baserate import Costs, Cut, Plan, Policy
from baserate.cli import app
from baserate.report import Report
from baserate.report._commands import command_words, next_commands
from baserate.report._report import COLUMNS
from baserate.text._tables import display_width
from tests.cli.shell import PEOPLE, matches_snapshot, plan_of, run, write_people
from tests.schemas import ValidationError, check_schema
from tests.tiers import take_in_tiers

ONE = ("--truth", "sick", "--score", "risk", "--positive", "1")
USED = ("--prevalence", "0.02", "--fp", "1", "--fn", "20")
NAMED: dict[str, Any] = {"columns": {"truth": "sick", "score": "risk"}, "positive": "1"}
VIEWS: dict[str, tuple[str, ...]] = {
    "report": (*ONE, *USED),
    "report-groups": (*ONE, *USED, "--group", "sex"),
    "report-models": (*ONE, "--score", "old", "--predicted", "says", "--level", "90%"),
    "report-rule": (*ONE, "--rule", "youden", "--prevalence", "10%", "--digits", "3"),
    "report-md": (*ONE, *USED, "--group", "site", "--format", "md"),
}
SCHEMAS: dict[str, Any] = {
    name: json.loads(resources.files("baserate").joinpath(f"schemas/{name}-1.json").read_text(encoding="utf-8"))
    for name in ("plan", "report", "policy")
}


def run_report(folder: Path, *typed: object, given: str | None = None) -> Result:
    """Run it where the file is, so that names of files are short."""
    path = write_people(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path.parent)
        return run("report", path.name, *typed, given=given)


@pytest.mark.quick(3)
@pytest.mark.parametrize("name", VIEWS)
def test_snapshot_of_terminal_output(name: str, tmp_path: Path) -> None:
    result = run_report(tmp_path, *VIEWS[name])
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, name)


@pytest.mark.quick(1)
@pytest.mark.parametrize("width", [40, 80])
def test_pages_fit_the_terminal(width: int, tmp_path: Path) -> None:
    result = run("report", write_people(tmp_path), *ONE, *USED, "--group", "site", env={"COLUMNS": str(width)})
    shown, _, typed = result.stdout.partition("\nNext\n")
    lines = [line for line in shown.splitlines() if not line.startswith(" " * 6 + "baserate ")]  # names stand whole
    assert max(map(display_width, lines)) <= width
    assert "\n  # " in f"\n{typed}"


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", VIEWS)
def test_every_line_fits_80_columns(name: str, tmp_path: Path) -> None:
    for more in ((), ("--explain",)):
        path = write_people(tmp_path)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(path.parent)
            result = run("report", path.name, *VIEWS[name], *more, env={"COLUMNS": "80"})
        assert result.exit_code == 0, result.stderr
        if "md" not in VIEWS[name]:
            assert max(map(display_width, result.stdout.splitlines())) <= 80


def test_colors_are_for_terminals_alone(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    piped = run("report", path, *ONE).stdout
    assert "\x1b" not in piped
    assert "\n  !! 10 rows (4 positive): intervals are wide; " in piped
    forced = run("report", path, *ONE, env={"FORCE_COLOR": "1"}).stdout
    assert "\n  \x1b[1;31m!!\x1b[0m 10 rows (4 positive): intervals are wide; " in forced
    assert click.unstyle(forced) == piped
    assert "\x1b" not in run("report", path, *ONE, env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout


WORDED: dict[str, tuple[tuple[str, ...], str]] = {
    "title": (("--title", "Screening in the north"), "Screening in the north · people.csv · 10 rows"),
    "outcome": (("--outcome-name", "re-offended"), "300 of them re-offended; 100 re-offended but not flagged (missed)"),
    "flag": (("--flag-name", "detained"), "500 detained, 300 of them positive; 100 positive but not detained"),
    "label": (("--score", "old", "--label", "risk=Model A"), " Verdict: Model A "),
    "ignore": (("--ignore", "br003,BR001"), " Ignored: BR003 and BR001. Leave out --ignore to list them. "),
}
"""Options on words, and what the report then contains."""


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", WORDED)
def test_words_of_the_reader_reach_the_report_and_its_plan(name: str, tmp_path: Path) -> None:
    typed, text = WORDED[name]
    result = run_report(tmp_path, *ONE, *typed, "--save-plan", tmp_path / "plan.json")
    assert result.exit_code == 0, result.stderr
    assert text in " ".join(result.stdout.split())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        assert run("report", "--plan", "plan.json").stdout == result.stdout


def test_snapshot_of_help() -> None:
    assert matches_snapshot(run("report", "--help").stdout, "report-help")


def test_messages_on_stderr(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    said = run("report", path, "--truth", "sick", "--score", "risk").stderr
    assert said == "positive = 1, inferred; name it with --positive.\n"
    said = run("report", path, "--truth", "sick", "--score", "risk", "--json").stderr
    assert said.startswith("people.csv · 10 rows · positive: sick = 1 · sample prevalence 40.0% (")
    assert run("report", path, "--truth", "sick", "--score", "risk", "--json", "-q").stderr == ""


def test_html_equals_that_of_the_library(tmp_path: Path) -> None:
    result = run_report(tmp_path, *ONE, *USED, "-o", tmp_path / "report.html")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.endswith(f"wrote {tmp_path / 'report.html'}\n")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    shown = run_report(tmp_path, *ONE, *USED, "--format", "html", "--save-json", tmp_path / "report.json")
    assert shown.stdout == page == Report.load(tmp_path / "report.json").html()
    quiet = run_report(tmp_path, *ONE, "-q", "-o", tmp_path / "page.html")
    assert (quiet.stdout, quiet.stderr) == ("", "")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_other_commands_refuse_html(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    result = run("measure", path, *ONE, "-o", tmp_path / "x.html")
    assert result.exit_code == 2
    assert (
        "the ending .html is not an output format; end the name in .json, .csv, .md or .txt, or state" in result.stderr
    )
    assert run("measure", path, *ONE, "--format", "html").exit_code == 2
    known = run_report(tmp_path, *ONE, "-o", tmp_path / "x.pdf")
    assert "end the name in .json, .csv, .md, .html or .txt" in known.stderr


def test_json_equals_the_report_of_the_library(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    result = run("report", path, *ONE, *USED, "--group", "site", "--json")
    plan = Plan(
        files=(str(path),),
        truth="sick",
        score=("risk",),
        positive="1",
        group=("site",),
        prevalence=0.02,
        costs=Costs(fp=1.0, fn=20.0),
    )
    assert result.stdout == baserate.run(plan).to_json() + "\n"
    assert Report.from_json(result.stdout).to_json() == result.stdout.strip()
    csv = run("report", path, *ONE, *USED, "--group", "site", "--format", "csv").stdout
    assert csv == baserate.run(plan).numbers.to_csv()


@pytest.mark.slow
def test_saved_plan_gives_the_same_report(tmp_path: Path) -> None:
    path, plan, kept = write_people(tmp_path), tmp_path / "plan.json", tmp_path / "report.json"
    first = run("report", path, *ONE, *USED, "--group", "site", "--save-plan", plan, "--save-json", kept)
    assert first.stderr == f"wrote {plan}\nwrote {kept}\n"
    again = run("report", "--plan", plan, "--json")
    assert again.exit_code == 0, again.stderr
    assert again.stdout == kept.read_text(encoding="utf-8")
    assert run("report", "--plan", plan).stdout == first.stdout


def test_flags_change_a_plan(tmp_path: Path) -> None:
    path, saved = write_people(tmp_path), tmp_path / "plan.json"
    plan = Plan(
        files=(str(path),), truth="sick", score=("risk",), costs=Costs(fp=1, fn=20), missing="drop", threshold=0.4
    )
    plan.save(saved)
    assert plan_of("--plan", str(saved)) == plan
    assert plan_of("--plan", str(saved), "--fp", "1", "--fn", "5") == replace(plan, costs=Costs(fp=1, fn=5))
    assert plan_of("--plan", str(saved), "--rule", "cost") == replace(plan, threshold=None, rule="cost")
    assert plan_of("--plan", str(saved), "--score", "old", "--seed", "0") == replace(plan, score=("old",))
    assert plan_of("new.csv", "--plan", str(saved)) == replace(plan, files=("new.csv",))
    assert plan_of("--plan", str(saved), "--missing", "refuse") == replace(plan, missing="refuse")
    policy = Policy(by_group={(): Cut((0.3,))}, otherwise="refuse")
    policy.save(tmp_path / "policy.json")
    changed = plan_of("--plan", str(saved), "--policy", str(tmp_path / "policy.json"))
    named: dict[str, Any] = {"policy": policy, "policy_file": str(tmp_path / "policy.json")}
    assert changed == replace(plan, threshold=None, **named)
    changed.save(saved)
    assert plan_of("--plan", str(saved), "--threshold", "0.4") == plan


NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=8)
PRICE = st.floats(-9, 9).map(lambda price: round(price, 12))  # costs nearer to 0 than 1e-15 are refused
COSTS = st.builds(Costs, tp=PRICE, fp=PRICE, fn=PRICE, tn=PRICE)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Plans as a shell can make them: every field but the policy."""
    columns = draw(st.lists(NAMES, min_size=7, max_size=7, unique=True))
    cut = draw(st.sampled_from(["threshold", "rule", "neither"]))
    rule = draw(st.sampled_from(["youden", "closest", "break-even"]))
    apart = draw(st.booleans())
    files = draw(st.lists(NAMES, min_size=2 if apart else 1, max_size=3, unique=True))
    return Plan(
        files=tuple(files),
        apart=apart,
        truth=columns[0],
        score=tuple(columns[1:3]),
        group=() if apart else tuple(columns[3:5]),
        predicted=None if apart else draw(st.sampled_from([None, columns[5]])),
        id=draw(st.sampled_from([None, columns[6]])),
        positive=draw(st.none() | NAMES),
        missing=draw(st.sampled_from(["refuse", "drop"])),
        prevalence=draw(st.none() | st.floats(0.001, 0.999)),
        costs=draw(st.none() | COSTS),
        threshold=draw(st.floats(allow_nan=False)) if cut == "threshold" else None,
        rule=rule if cut == "rule" else None,
        level=draw(st.sampled_from([0.95, 0.9, 0.57])),
        method=draw(st.sampled_from([None, "wilson"])),
        seed=draw(st.integers(0, 9)),
    )


@given(plans())
def test_flags_of_a_plan_make_the_same_plan(plan: Plan) -> None:
    assert plan_of(*shlex.split(" ".join(command_words(plan)))) == plan


def test_flags_of_a_plan_with_a_policy(tmp_path: Path) -> None:
    path = tmp_path / "my policy.json"
    policy = Policy(by_group={(): Cut((0.3,))}, otherwise="refuse", **NAMED)
    policy.save(path)
    named: dict[str, Any] = {"policy": policy, "policy_file": str(path)}
    plan = Plan(files=("people.csv",), truth="sick", score=("risk",), positive="1", **named)
    assert plan_of(*shlex.split(" ".join(command_words(plan)))) == plan


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "more", take_in_tiers([(), ("--group", "site"), ("--score", "old"), ("--rule", "youden"), USED], 2)
)
def test_suggested_commands_work(more: tuple[str, ...], tmp_path: Path) -> None:
    path = write_people(tmp_path)
    report = Report.from_json(run("report", path, *ONE, *more, "--json").stdout)
    typed = [shlex.split(" ".join(command.words)) for command in next_commands(report).commands]
    assert len(typed) == 3
    assert typed[0][1] == "decide"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        for program, *words in typed:
            assert program == "baserate"
            result = run(*words)
            assert result.exit_code == 0, result.stderr


def text_after(message: str, title: str) -> str:
    """What follows a title, which is there."""
    before, result, rest = message.partition(title)
    assert result, before
    return rest


def test_columns_default_to_those_of_the_policy(tmp_path: Path) -> None:
    path, saved = write_people(tmp_path), tmp_path / "policy.json"
    Policy(by_group={(): Cut((0.3,))}, otherwise="refuse", **NAMED).save(saved)
    result = run("report", path, "--policy", saved)
    assert result.exit_code == 0, result.stderr
    assert "\n  Flag scores ≥ 0.3. Per 1,000 people" in result.stdout
    assert "baserate decide" not in text_after(result.stdout, "\nNext\n")


def test_stdin_and_separate_samples(tmp_path: Path) -> None:
    result = run("report", "-", *ONE, given=PEOPLE)
    assert result.stdout.startswith("stdin · 10 rows")
    path, other = write_people(tmp_path), tmp_path / "later.csv"
    other.write_text(PEOPLE.replace("0,0.85", "1,0.85"), encoding="utf-8")
    output = run("report", path, other, "--apart", *ONE, "--threshold", "0.5").stdout
    assert "\nPer 1,000 people in each sample:\n" in output
    assert "\npeople − later, in each sample:\n" in output
    assert "\n  AUC " in text_after(output, "people − later")
    assert "baserate report" in text_after(output, "\nNext\n")
    assert "baserate decide" not in text_after(output, "\nNext\n")


def test_report_is_written_whole_to_a_file(tmp_path: Path) -> None:
    path, page = write_people(tmp_path), tmp_path / "report.md"
    result = run("report", path, *ONE, "-o", page, env={"FORCE_COLOR": "1"})
    assert result.stdout == ""
    assert result.stderr.startswith("people.csv · 10 rows")
    assert page.read_text(encoding="utf-8") == run("report", path, *ONE, "--format", "md").stdout
    run("report", path, *ONE, "-o", tmp_path / "report.txt", env={"FORCE_COLOR": "1", "COLUMNS": "50"})
    assert (tmp_path / "report.txt").read_text(encoding="utf-8") == run("report", path, *ONE).stdout


@pytest.mark.slow
def test_figures_are_written_into_a_folder(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    result = run("report", path, *ONE, "--score", "old", "--predicted", "says", "--figures", tmp_path / "figures")
    assert result.exit_code == 0, result.stderr
    drawn = sorted(each.name for each in (tmp_path / "figures").iterdir())
    assert drawn == [f"{name}.svg" for name in ("decision-curve", "gain", "pr", "prevalence", "reliability", "roc")]
    assert "wrote 6 figures into" in result.stderr
    costly = ("--group", "site", "--fp", "1", "--fn", "5", "--figures", tmp_path / "costs")
    assert run("report", path, *ONE, *costly).exit_code == 0
    more = {each.stem for each in (tmp_path / "costs").iterdir()} - {each.removesuffix(".svg") for each in drawn}
    assert more == {"cost-curve", "groups", "scores", "thresholds"}


def test_figures_have_the_names_of_models_for_readers(tmp_path: Path) -> None:
    path, folder = write_people(tmp_path), tmp_path / "figures"
    words = ("--label", "risk=Model A", "--label", "says=Rule B")
    result = run("report", path, *ONE, "--predicted", "says", *words, "--figures", folder)
    assert result.exit_code == 0, result.stderr
    assert all("Model A" in (folder / name).read_text(encoding="utf-8") for name in ("roc.svg", "reliability.svg"))
    # The figure of calibration has no place for predicted labels.
    assert "Rule B" in (folder / "roc.svg").read_text(encoding="utf-8")
    assert "Rule B" not in (folder / "reliability.svg").read_text(encoding="utf-8")


@pytest.mark.slow
def test_only_applicable_figures_are_written(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    labels = run("report", path, "--truth", "sick", "--predicted", "says", "--figures", tmp_path / "labels")
    assert "wrote 4 figures" in labels.stderr
    assert {each.stem for each in (tmp_path / "labels").iterdir()} == {"gain", "pr", "prevalence", "roc"}
    alone = tmp_path / "alone.csv"
    alone.write_text("sick,risk\n1,0.2\n1,0.6\n", encoding="utf-8")
    one = run("report", alone, *ONE, "--figures", tmp_path / "one")
    assert one.exit_code == 0, one.stderr
    assert {each.stem for each in (tmp_path / "one").iterdir()} == {"reliability"}
    alone.write_text("sick,risk\n1,2\n1,6\n", encoding="utf-8")
    none = run("report", alone, *ONE, "--threshold", "3", "--figures", tmp_path / "none")
    assert "wrote no figure, since none fits" in none.stderr


@pytest.mark.slow
def test_figures_of_policies_with_several_thresholds(tmp_path: Path) -> None:
    path, saved = write_people(tmp_path), tmp_path / "policy.json"
    Policy(by_group={(): Cut((0.3, 0.6), ("pass", "refer", "flag"))}, otherwise="refuse", **NAMED).save(saved)
    result = run("report", path, "--policy", saved, "--figures", tmp_path / "figures")
    assert result.exit_code == 0, result.stderr
    drawn = {each.stem for each in (tmp_path / "figures").iterdir()}
    assert drawn == {"decision-curve", "gain", "pr", "reliability", "roc"}


@pytest.mark.parametrize(
    ("typed", "code", "message"),
    [
        ((), 2, "missing argument 'FILE...'. Try: baserate report --help"),
        (("FILE", "--score", "risk"), 2, "missing option '--truth'."),
        (("FILE", *ONE, "--rule", "cost"), 2, "the rule cost needs the costs of errors; give --fp 1 --fn 20."),
        (
            ("FILE", *ONE, "--rule", "capacity"),
            2,
            "has options that a plan cannot contain. Choose with `baserate decide",
        ),
        (("FILE", *ONE, "--threshold", "1", "--rule", "youden"), 2, "--threshold and --rule both state the decisions"),
        (("FILE", *ONE, "--threshold", "1,2"), 2, "are 2 thresholds; a report has one."),
        (
            ("FILE", *ONE, "--prevalence", "2"),
            2,
            "'2' is not a prevalence; expected a prevalence from 1e-12 to 1 - 1e-12",
        ),
        (("FILE", *ONE, "--apart"), 2, "separate samples need several files without groups"),
        (("FILE", "--truth", "sick", "--score", "rsk"), 2, "there is no column 'rsk'. Did you mean 'risk'"),
        (("FILE", *ONE, "--save-plan", "no/plan.json"), 2, "name another file with --save-plan."),
        (("FILE", *ONE, "--figures", "no/where"), 2, "there is no folder no; make it, or name another with --figures."),
        (("FILE", *ONE, "--figures", "FILE"), 2, "is a file; name a folder with --figures."),
        (("--plan", "FILE"), 3, "is not a usable plan: not JSON"),
        (("FILE", *ONE, "--ignore", "BR99"), 2, "ignore is 'BR99'; expected the code of a finding, such as BR004."),
        (("FILE", *ONE, "--ignore", "BR999"), 2, "there is no finding 'BR999'. Did you mean 'BR019'?"),
        (("FILE", *ONE, "--label", "old=New"), 2, "there is no model 'old'. Known are: risk."),
        (("FILE", *ONE, "--label", "risk"), 2, "'risk' is not MODEL=TEXT; write a model and its label, such as"),
        (("FILE", *ONE, "--reference", "north"), 2, "--reference north names a group, but there are no groups; add"),
        (
            ("FILE", *ONE, "--group", "site", "--reference", "x"),
            2,
            "reference is 'x'; expected one of: coast",
        ),
        (("FILE", *ONE, "--min-group", "0"), 2, "invalid value for '--min-group'"),
        (("--plan", "no.json"), 2, "there is no file no.json"),
    ],
)
def test_errors_state_a_remedy(typed: tuple[str, ...], code: int, message: str, tmp_path: Path) -> None:
    path = str(write_people(tmp_path))
    result = run("report", *(path if word == "FILE" else word for word in typed))
    assert message in result.stderr
    assert result.exit_code == code
    assert result.stdout == ""


def test_files_fit_their_schemas(tmp_path: Path) -> None:
    path, plan, kept = write_people(tmp_path), tmp_path / "plan.json", tmp_path / "report.json"
    policy = tmp_path / "policy.json"
    Policy(by_group={(): Cut((0.3,))}, otherwise="refuse", **NAMED).save(policy)
    every = (*VIEWS.values(), (*ONE, "--threshold", "inf"), (*ONE, "--policy", str(policy)))
    for typed in every:
        run("report", path, *typed, "--save-plan", plan, "--save-json", kept, "-q")
        result = json.loads(kept.read_text(encoding="utf-8"))
        check_schema(result, "report")
        check_schema(result["plan"], "plan")
        assert result["plan"] == json.loads(plan.read_text(encoding="utf-8"))
        for each in (*result["policies"].values(), *filter(None, [result["plan"]["policy"]])):
            check_schema(each, "policy")


def test_damaged_files_do_not_fit(tmp_path: Path) -> None:
    result = json.loads(run("report", write_people(tmp_path), *ONE, *USED, "--json").stdout)
    plan = result["plan"]
    for damage in ({"prevalence": 2}, {"rule": "capacity"}, {"kind": "baserate/map"}, {"seed": -1}, {"more": 1}):
        with pytest.raises(ValidationError):
            check_schema({**plan, **damage}, "plan")
    row, finding = result["rows"][0], {"code": "BR1", "severity": "bad"}
    others: list[dict[str, Any]] = [{"rows": []}, {"rows": [{**row, "part": "else"}]}, {"findings": [finding]}]
    for other in (*others, {"policies": {}}):
        with pytest.raises(ValidationError):
            check_schema({**result, **other}, "report")


def test_schemas_cover_every_field() -> None:
    assert {*SCHEMAS["plan"]["properties"]} == {"kind", "schema_version", *(each.name for each in fields(Plan))}
    row = SCHEMAS["report"]["$defs"]["row"]
    # Which files of early releases lack.
    later = {"p_adjusted", "p_is_bound", "model_value", "other_value", "other_threshold"}
    assert {*row["properties"]} == {*row["required"], *later} == {*COLUMNS}


def test_control_characters_in_names_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text(PEOPLE.replace("risk", "ri\x1b[2Jsk").replace("north", "no\x1b[2Jrth" * 9), encoding="utf-8")
    result = run("report", path, "--truth", "sick", "--score", "ri\x1b[2Jsk", "--group", "site")
    assert result.exit_code == 0, result.stderr
    assert "\x1b" not in result.output
    assert "ri�[2Jsk" in result.stdout


def test_report_is_the_first_command() -> None:
    assert app.list_commands(click.Context(app))[0] == "report"


@pytest.mark.slow
def test_prevalences_by_group(tmp_path: Path) -> None:
    typed = (*ONE, "--group", "sex", "--prevalence", "f=2%, m=30%", "--threshold", "0.6")
    assert plan_of("people.csv", *typed).prevalence == {"f": 0.02, "m": 0.3}
    result = run_report(tmp_path, *typed, "--figures", tmp_path / "figures", "--save-json", tmp_path / "report.json")
    assert result.exit_code == 0, result.stderr
    report = Report.load(tmp_path / "report.json")
    assert report.within(sex="f").there.prevalence.value == pytest.approx(0.02)
    assert report.prevalence == pytest.approx(0.16)
    assert "at 16% prevalence" in result.stdout
    assert (tmp_path / "figures" / "decision-curve.svg").exists()
    unknown = run_report(tmp_path, *ONE, "--group", "sex", "--prevalence", "x=2%")
    assert unknown.exit_code == 3
    assert "a prevalence is stated for the group 'x', which is not in the data. Groups are: f, m." in unknown.stderr
    without = run_report(tmp_path, *ONE, "--prevalence", "f=2%")
    assert without.exit_code == 2
    assert "name the groups" in without.stderr
