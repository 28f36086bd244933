"""Python that a report suggests is one call in the form in which `evaluate` was called, and it runs."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import baserate
from baserate import Costs, Cut, Plan, Policy, RandomizedCut, Report
from baserate.report._commands import Step, next_commands, spell_step
from tests.report.cases import FIRES, Make, is_first, list_cases
from tests.report.test_commands import check_complete, handed_columns, record_evaluation
from tests.tiers import tiered_rows

RNG = np.random.default_rng(3)
TRUTH = (RNG.random(300) < 0.3).astype(int)
RISK = np.round(1 / (1 + np.exp(1.5 - 2 * TRUTH - RNG.standard_normal(300))), 4)
OLD = np.round(RNG.random(300), 4)
SITE = np.where(RNG.random(300) < 0.4, "north", "south")
SICK = np.where(TRUTH == 1, "sick", "well")
TABLE = {"sick": TRUTH, "text": SICK, "risk": RISK, "old": OLD, "site": SITE, "w": RISK + 0.5, "who": TRUTH.cumsum()}
TABLE |= {"flag": (RISK > 0.5).astype(int)}
NAMES: dict[str, Any] = {"truth": "sick", "score": "risk"}
SAMPLES: dict[str, Any] = {
    "truth": {"north": TRUTH[:200], "south": TRUTH[200:]},
    "score": {"north": RISK[:200], "south": RISK[200:]},
}
BY_SITE = Policy(
    by_group={("north",): Cut((0.5,)), ("south",): Cut((0.6,))}, otherwise="refuse", attributes=("site",), positive="1"
)
RANDOMIZED = Policy(by_group={(): RandomizedCut((Cut((0.4,)), Cut((0.6,))), (0.5, 0.5))}, otherwise="refuse")

ALL_COSTS = Costs(tp=1, fp=2, fn=3, tn=4)

FORMS: dict[str, dict[str, Any]] = {
    "arrays": {"truth": TRUTH, "score": RISK, "prevalence": 0.05, "costs": Costs(fp=1, fn=10)},
    "lists": {"truth": [*TRUTH], "score": [*RISK], "level": 0.9, "method": "wilson", "seed": 3},
    "series": {"truth": pd.Series(TRUTH), "score": pd.Series(RISK), "id": pd.Series(TABLE["who"])},
    "models": {"truth": TRUTH, "score": {"risk": RISK, "old": OLD}, "prevalence": "2%", "fp": 1, "fn": 5},
    "frame of models": {"truth": TRUTH, "score": pd.DataFrame({"risk": RISK, "old": OLD}), "costs": ALL_COSTS},
    "labels alone": {"truth": TRUTH, "predicted": TABLE["flag"], "prevalence": 0.02},
    "bootstrap": {"truth": TRUTH, "score": RISK, "method": "bootstrap", "prevalence": 0.05, "fp": 1, "fn": 9},
    "labels and scores": {"truth": TRUTH, "score": RISK, "predicted": 1 - TABLE["flag"]},
    "samples apart": {**SAMPLES, "rule": "youden"},
    "groups": {"truth": TRUTH, "score": RISK, "group": {"site": SITE}, "threshold": 0.5},
    "groups of one array": {"truth": TRUTH, "score": RISK, "group": SITE, "fp": 1, "fn": 3},
    "groups in a frame": {"truth": TRUTH, "score": {"risk": RISK, "old": OLD}, "group": pd.DataFrame({"site": SITE})},
    "weights": {"truth": TRUTH, "score": RISK, "weight": TABLE["w"], "rule": "youden", "prevalence": 0.03},
    "text labels": {"truth": SICK, "score": RISK, "positive": "sick", "rule": "break-even"},
    "missing": {"truth": TRUTH, "score": [None, *RISK[1:]], "missing": "drop", "costs": Costs(tp=-1, fp=1, fn=9)},
    "policy by group": {"truth": TRUTH, "score": RISK, "group": {"site": SITE}, "policy": BY_SITE, "positive": 1},
    "randomized policy": {"truth": TRUTH, "score": RISK, "id": [*range(300)], "policy": RANDOMIZED},
    "mapping": {"table": TABLE, **NAMES, "prevalence": 0.05, "fp": 1, "fn": 10},
    "pandas": {"table": pd.DataFrame(TABLE), "truth": "sick", "score": ["risk", "old"], "costs": ALL_COSTS},
    "polars": {"table": pl.DataFrame(TABLE), **NAMES, "group": ["site"], "weight": "w", "rule": "youden"},
    "table of text labels": {"table": TABLE, "truth": "text", "score": "risk", "positive": "sick", "negative": "well"},
    "table of labels alone": {"table": TABLE, "truth": "sick", "predicted": "flag", "group": "site"},
    "table with ids": {"table": TABLE, **NAMES, "id": "who", "policy": RANDOMIZED},
    "table and policy": {"table": TABLE, **NAMES, "group": "site", "policy": BY_SITE},
}
"""Calls of `evaluate` by name."""


def evaluate_form(given: dict[str, Any]) -> Report:
    options = {name: each for name, each in given.items() if name != "table"}
    return baserate.evaluate(given["table"], **options) if "table" in given else baserate.evaluate(**options)


def run_findings(report: Report, given: dict[str, Any]) -> None:
    """Run the commands of all findings: each is one statement."""
    for finding in report.findings:
        if finding.command:
            check_complete(finding.command.text)
            assert "\n" not in finding.command.text
            eval(finding.command.text, {"baserate": baserate, **given})  # noqa: S307  (our own words)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


STEPS = {
    "report": Step(verb="report"),
    "cost": Step(verb="decide"),
    "folds": Step(verb="decide", options={"folds": 3}),
    "require": Step(verb="decide", options={"require": "sensitivity >= 0.5", "maximize": "specificity"}),
    "shift": Step(verb="shift", options={"prevalence": 0.04}),
    "calibrate": Step(verb="calibrate", options={"with": "offset", "output": "calibrator.json"}),
    "choose": Step(verb="calibrate", options={"output": "calibrator.json"}),
    "curve": Step(verb="curve roc"),
    "draw": Step(verb="draw pr", options={"output": "pr.svg"}),
    "measure": Step(verb="measure"),
}
OF_SCORES = {"cost", "folds", "require", "calibrate", "choose"}


@pytest.mark.parametrize("name", FORMS)
def test_every_step_runs_for_each_model_in_every_form(name: str) -> None:
    given = FORMS[name]
    report = evaluate_form(given)
    labels = report.data["columns"].get("predicted")
    for model in report.models:
        for key, step in STEPS.items():
            if model == labels and key in OF_SCORES:
                continue
            snippet = spell_step(report, step, model)
            assert snippet is not None
            check_complete(snippet.text)
            eval(snippet.text, {"baserate": baserate, **given})  # noqa: S307  (our own words)
    run_findings(report, given)


@pytest.mark.parametrize("name", FORMS)
def test_the_suggested_report_is_the_same_report(name: str) -> None:
    given = FORMS[name]
    report = evaluate_form(given)
    snippet = spell_step(report, Step(verb="report"))
    assert snippet is not None
    again = eval(snippet.text, {"baserate": baserate, **given})  # noqa: S307  (our own words)
    assert again.to_json() == report.to_json()


@pytest.mark.parametrize("name", FORMS)
def test_next_statements_run(name: str, folder: Path) -> None:
    given = FORMS[name]
    report = evaluate_form(given)
    commands = next_commands(report)
    assert commands.language == "python"
    rows = {**TABLE, "who": range(300)}  # a random decision needs an id of its own
    new = {"new_rows": rows, "new_score": RISK[:9], "new_group": {"site": SITE[:9]}, "new_id": [*range(9)]}
    for _, (text,) in commands.commands:
        eval(text, {"baserate": baserate, "report": report, **new})  # noqa: S307  (our own words)
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!")


@pytest.mark.quick(6)
@pytest.mark.parametrize(("code", "make"), tiered_rows(list_cases(FIRES), is_first))
def test_python_of_findings_runs_for_tables(code: str, make: Make) -> None:
    """The same rows in a table have the same findings, whose statements run."""
    report, given = record_evaluation(make)
    plan, table = report.plan, handed_columns(report, given)
    again = baserate.run(plan, table)
    assert code in {each.code for each in again.findings}
    run_findings(again, {"table": table, "policy": plan.policy})


CHOICE = Step(verb="decide")
CROSS_VALIDATION = Step(verb="equalize", options={"parity": ("equal-opportunity",), "within": 0.1, "held_out": None})
CALIBRATION = STEPS["calibrate"]


@pytest.mark.parametrize(
    ("name", "step", "text"),
    [
        ("arrays", CHOICE, 'decide.summary(truth, score, "cost", prevalence=0.05, fp=1, fn=10)'),
        ("arrays", CALIBRATION, 'calibrate(truth, score, "offset").save("calibrator.json")'),
        ("arrays", STEPS["draw"], 'draw.pr(truth, score, prevalence=0.05).save("pr.svg")'),
        ("lists", CHOICE, 'decide.summary(truth, score, "youden", level=0.9, method="wilson", seed=3)'),
        ("models", CHOICE, 'decide.summary(truth, score["risk"], "cost", prevalence=0.02, fp=1, fn=5)'),
        ("models", STEPS["shift"], 'shift.summary(truth, score["risk"], prevalence=0.04)'),
        (
            "frame of models",
            STEPS["require"],
            (
                'decide.summary(truth, score["risk"], "require", require="sensitivity >= 0.5", maximize="specificity", '
                'costs={"fp": 2, "fn": 3, "tp": 1, "tn": 4})'
            ),
        ),
        ("labels alone", STEPS["curve"], 'measure.curves(truth, "roc", predicted=predicted)'),
        ("samples apart", CHOICE, 'decide.summary(truth["north"], score["north"], "youden")'),
        ("samples apart", STEPS["curve"], 'measure.curves(truth["north"], score["north"], "roc")'),
        ("groups", Step(verb="groups"), "fairness.compare_groups(truth, score, group=group, policy=0.5)"),
        (
            "policy by group",
            Step(verb="groups"),
            "fairness.compare_groups(truth, score, group=group, positive=1, policy=policy)",
        ),
        (
            "groups of one array",
            CROSS_VALIDATION,
            (
                'fairness.cross_validate(truth, score, baserate.fairness.Goal("equal-opportunity", within=0.1, '
                "costs=baserate.Costs(fp=1, fn=3)), group=group)"
            ),
        ),
        ("weights", STEPS["folds"], 'decide.summary(truth, score, "youden", weight=weight, folds=3, prevalence=0.03)'),
        ("text labels", CHOICE, 'decide.summary(truth, score, "break-even", positive="sick")'),
        ("missing", STEPS["measure"], 'infer.summary(truth, score, missing="drop")'),
        ("mapping", CHOICE, 'decide.summary(table, "cost", truth="sick", score="risk", prevalence=0.05, fp=1, fn=10)'),
        ("pandas", STEPS["choose"], 'calibrate(table, "choose", truth="sick", score="risk").save("calibrator.json")'),
        (
            "table of text labels",
            Step(verb="report", changes={"threshold": float("inf")}),
            'evaluate(table, truth="text", score="risk", positive="sick", negative="well", threshold=float("inf"))',
        ),
        (
            "table with ids",
            Step(verb="measure", options={"cluster": "who"}),
            'infer.summary(table, truth="sick", score="risk", cluster="who")',
        ),
        ("series", Step(verb="measure", options={"cluster": "id"}), "infer.summary(truth, score, cluster=id)"),
    ],
)
def test_statements_are_single_calls(name: str, step: Step, text: str) -> None:
    report = evaluate_form(FORMS[name])
    snippet = spell_step(report, step, report.models[0])
    assert snippet is not None
    assert snippet.text == f"baserate.{text}"
    eval(snippet.text, {"baserate": baserate, **FORMS[name]})  # noqa: S307  (our own words)


@pytest.mark.parametrize(
    ("truth", "stated", "literal"),
    [
        (TRUTH, "1", "1"),
        (TRUTH == 1, "true", "True"),
        (TRUTH.astype(str), "1", '"1"'),
        (TRUTH / 1, "1", "1.0"),
        (SICK, "well", '"well"'),
    ],
    ids=["integers", "Booleans", "text", "floats", "words"],
)
def test_labels_of_plan_files_get_the_type_of_the_rows(truth: Any, stated: str, literal: str) -> None:  # noqa: ANN401
    """Plan files store labels as text, which functions of rows would not find among numbers."""
    table = {"sick": truth, "risk": RISK}
    plan = Plan.from_json(Plan(truth="sick", score="risk", positive=stated, rule="youden").to_json())
    report = baserate.run(plan, table)
    snippet = spell_step(report, CHOICE)
    assert snippet is not None
    assert f"positive={literal})" in snippet.text
    results = eval(snippet.text, {"baserate": baserate, "table": table})  # noqa: S307  (our own words)
    chosen = [row["value"] for row in results.rows() if row["rule"] == "youden" and row["measure"] == "threshold"]
    assert chosen == [report.policy.threshold]


def test_the_suggested_choice_is_that_of_the_report() -> None:
    given = FORMS["models"]
    report = evaluate_form(given)
    for model in report.models:
        snippet = spell_step(report, CHOICE, model)
        assert snippet is not None
        results = eval(snippet.text, {"baserate": baserate, **given})  # noqa: S307  (our own words)
        chosen = [row["value"] for row in results.rows() if row["rule"] == "cost" and row["measure"] == "threshold"]
        assert chosen == [report.policies[model].threshold]
        assert chosen == [
            baserate.choose_threshold(TRUTH, given["score"][model], prevalence=0.02, fp=1, fn=5).threshold
        ]


def test_separate_tables_run_again_as_a_plan() -> None:
    tables = {"north": TABLE, "south": {**TABLE, "sick": 1 - TRUTH}}
    report = baserate.run(Plan(**NAMES, apart=True, costs=Costs(fp=1, fn=4), rule="youden"), tables)
    whole = spell_step(report, Step(verb="report"))
    assert whole is not None
    assert whole.text.startswith("baserate.run(baserate.Plan(truth=")
    again = eval(whole.text, {"baserate": baserate, "table": tables})  # noqa: S307  (our own words)
    assert again.plan == report.plan
    own = spell_step(report, CHOICE, "south")
    assert own is not None
    assert own.text.startswith(
        'baserate.decide.summary(table["south"], "youden", truth="sick", score="risk", fp=1, fn=4'
    )
    run_findings(report, {"table": tables})


def test_next_statements_name_model_and_columns() -> None:
    texts = [text for _, (text,) in next_commands(evaluate_form(FORMS["pandas"])).commands]
    assert texts == [
        'print(report.of("risk").there.ppv)',
        "report.frame()",
        'baserate.apply.frame(report.policies["risk"], new_rows)',
        'report.save("report.html")',
    ]
    texts = [text for _, (text,) in next_commands(evaluate_form(FORMS["table with ids"])).commands]
    assert texts[2] == 'baserate.apply.frame(report.policy, new_rows, score="risk", id="who")'
    texts = [text for _, (text,) in next_commands(evaluate_form(FORMS["policy by group"])).commands]
    assert texts[2] == "baserate.apply.actions(report.policy, new_score, group=new_group).text"
    assert len(next_commands(evaluate_form(FORMS["labels alone"])).commands) == 3
