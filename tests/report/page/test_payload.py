"""The payload of the page contains the report in plain values, and code that makes the same plan."""

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import baserate
from baserate import Costs, Cut, Plan, Policy, RandomizedCut, Report
from baserate._results import json_ready
from baserate.report import CHECKS
from baserate.report._commands import spell_plan
from baserate.report._page import page_payload
from baserate.report._report import CELLS
from tests.cli.shell import plan_of

IDS = ("findings", "thousand", "measures", "scores", "roc", "pr", "thresholds", "reliability", "benefit", "prevalence",
       "groups", "models")  # fmt: skip


def make_table(size: int = 400) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    sick = (rng.random(size) < 0.3).astype(int)
    risk = 1 / (1 + np.exp(1.5 - 2 * sick - rng.normal(size=size)))
    return {
        "sick": sick,
        "risk": risk,
        "logit": np.log(risk),
        "says": (risk > 0.4).astype(int),
        "site": rng.choice(["north", "south"], size),
        "sex": rng.choice([1, 2], size),
    }


def make_payload(**more: Any) -> tuple[Report, Any]:  # noqa: ANN401  (any field of a plan, and a payload)
    report = baserate.run(Plan(**{"truth": "sick", "score": "risk"} | more), make_table())
    return report, json.loads(json.dumps(page_payload(report), allow_nan=False))


def test_panels_of_findings_exist() -> None:
    assert {check.panel for check in CHECKS.values()} <= {*IDS}


def test_model_payload_has_the_fields_of_its_policy() -> None:
    report, result = make_payload(
        score=["risk", "logit"], predicted="says", group=["site", "sex"], costs=Costs(fp=1, fn=5)
    )
    risk, logit, says = result["models"]
    assert [each["name"] for each in result["models"]] == [*report.models]
    assert [each["labels"] for each in result["models"]] == [False, False, True]
    assert [each["probable"] for each in result["models"]] == [True, False, False]
    policy = report.policies["logit"]
    assert logit["columns"] == dict(policy.columns)
    assert (logit["positive"], logit["digest"]) == (policy.positive, policy.chosen_on)
    assert risk["attributes"] == ["site", "sex"]
    assert risk["names"] == [f"site = {site}, sex = {sex}" for site in ("north", "south") for sex in (1, 2)]
    assert risk["groups"][0] == {"site": "north", "sex": 1}
    assert risk["cut"] == {"threshold": report.policies["risk"].threshold, "rule": "cost", "planned": None}
    assert says["threshold"] == [1, 0]
    for model in result["models"]:
        for cells in (model["positive_mass"], model["negative_mass"], model["scores"]["positive"]):
            assert len(cells) == len(model["groups"]) == 4
        sick = sum(mass for row in model["positive_mass"] for mass in row if mass > 0)
        assert sick == make_table()["sick"].sum() == sum(map(sum, model["scores"]["positive"]))


def test_payload_without_groups() -> None:
    _, result = make_payload(threshold=np.inf)
    assert (result["models"][0]["groups"], result["models"][0]["names"]) == ([None], ["everybody"])
    assert (result["models"][0]["attributes"], result["models"][0]["group_digest"]) == ([], None)
    assert result["models"][0]["cut"]["threshold"] == "inf"


def test_payload_contains_tables_of_policies_without_a_single_threshold() -> None:
    randomized = RandomizedCut((Cut((0.3,)), Cut((0.6,))), (0.25, 0.75))
    policy = Policy(
        by_group={("north",): Cut((0.5,)), ("south",): randomized}, otherwise="refuse", attributes=("site",)
    )
    report, result = make_payload(group="site", policy=policy, prevalence=0.1)
    cut = result["models"][0]["cut"]
    assert cut["threshold"] is None
    cells = ("tp", "fp", "fn", "tn")
    for table, counts in (
        (cut["planned"]["everybody"], report.here.counts),
        (cut["planned"]["groups"][0], report.within(site="north").here.counts),
        (cut["planned"]["groups"][1], report.within(site="south").here.counts),
    ):
        assert table == {cell: getattr(counts, cell) for cell in cells}


def test_numbers_are_the_rows_of_the_report() -> None:
    report, result = make_payload(score=["risk", "logit"], group=["site", "sex"], prevalence=0.1)
    groups, models = result["models"][0]["groups"], [each["name"] for each in result["models"]]
    computed = {*CELLS, "sensitivity", "specificity", "precision", "npv", "accuracy", "flag_rate"}
    rows = [
        row
        for row in report.rows()
        if row["part"] != "group_differences"  # models hold those
        and not (row["part"] == "decisions" and row["group"] and row["measure"] in computed)  # the page computes those
    ]
    assert len(result["numbers"]) == len(rows) < len(report.rows())
    for row, number in zip(rows, result["numbers"], strict=True):
        for name in ("value", "low", "high", "part", "measure", "where", "p", "floor", "how", "why"):
            assert number.get(name) == json_ready(row[name])
        assert None not in number.values()
        assert row["model"] == (models[number["model"]] if "model" in number else None)
        assert row["other"] == (models[number["other"]] if "other" in number else None)
        for name in ("group", "other_group"):
            assert json_ready(row[name]) == (groups[number[name]] if name in number else None)
    assert any("other_group" in number for number in result["numbers"])
    assert any("other" in number for number in result["numbers"])


@pytest.mark.parametrize("reference", [None, "west"])
def test_differences_of_groups_are_lists_in_the_order_of_the_groups(reference: str | None) -> None:
    table = make_table(900)
    table["site"] = np.repeat(["north", "east", "west"], [500, 370, 30])
    plan = Plan(truth="sick", score=["risk", "logit"], group="site", threshold=0.4, reference=reference, min_group=20)
    report = baserate.run(plan, table)
    for model in json.loads(json.dumps(page_payload(report)))["models"]:
        result = model["group_differences"]
        assert (result["min_group"], result["where"]) == (20, "here")
        assert {*result["measures"]} == {"flag_rate", "sensitivity", "fpr", "precision"}
        for name, each in result["measures"].items():
            other = each.get("reference", result["reference"])
            assert model["groups"][other] == {"site": reference or "north"}
            rows = {
                str(row["group"]): row
                for row in report.of(model["name"]).select(part="group_differences", measure=name)
            }
            for at, group in enumerate(model["groups"]):
                row = rows.get(str(group), {})
                assert (at == other) == (not row)
                for key, column in {"value": "value", "low": "low", "high": "high", "p": "p_adjusted"}.items():
                    assert each[key][at] == row.get(column)
                (size,) = report.of(model["name"]).select(part="support", measure=name, group=group)
                assert each["trials"][at] == size["value"]
                assert not row or (row["p"] is None) == (min(each["trials"][at], each["trials"][other]) < 20)


def test_without_groups_there_are_no_differences_of_groups() -> None:
    assert make_payload()[1]["models"][0]["group_differences"] is None
    table = make_table() | {"site": ["north"] * 400}
    assert (
        page_payload(baserate.run(Plan(truth="sick", score="risk", group="site"), table))["models"][0][
            "group_differences"
        ]
        is None
    )


def test_the_reference_of_a_measure_is_the_largest_group_that_can_be_tested() -> None:
    truth = np.repeat([1, 0, 1, 0, 1, 0], [500, 10, 100, 150, 80, 90])
    groups = np.repeat(["a", "b", "c"], [510, 250, 170])
    score = np.tile([0.9, 0.2], 465)
    report = baserate.evaluate(truth, score, group={"g": groups})
    result = page_payload(report)["models"][0]["group_differences"]
    assert (result["reference"], result["measures"]["fpr"]["reference"]) == (0, 1)
    assert result["measures"]["fpr"]["p"][0] is None  # 10 negatives
    assert "reference" not in result["measures"]["sensitivity"]


def test_differences_have_the_numbers_and_thresholds_of_both_models() -> None:
    report, result = make_payload(score=["risk", "logit"], prevalence=0.1, costs=Costs(fp=1, fn=5))
    rows = [row for row in result["numbers"] if row["part"] == "differences"]
    assert [row["measure"] for row in rows] == [row["measure"] for row in report.differences.rows()]
    for row, each in zip(rows, report.differences.rows(), strict=True):
        assert row["model_value"] - row["other_value"] == pytest.approx(each["value"])
        assert row.get("threshold") == each["threshold"]
        assert row.get("other_threshold") == each["other_threshold"]
    assert list(result["compared"]) == ["net_benefit"]  # the page computes all others itself
    assert result["compared"]["net_benefit"]["label"] == "Net benefit"


def test_setting_is_that_of_the_plan_or_equal_costs() -> None:
    plain, priced = make_payload()[1], make_payload(costs=Costs(fp=1, fn=20), prevalence=0.02, level=0.9)[1]
    assert plain["use"] == {"prevalence": None, "costs": {"tp": 0, "fp": 1, "fn": 1, "tn": 0}, "priced": False}
    assert priced["use"] == {"prevalence": 0.02, "costs": {"tp": 0, "fp": 1, "fn": 20, "tn": 0}, "priced": True}
    assert plain["z"] == pytest.approx(1.959963984540054, rel=1e-15)
    assert (priced["level"], round(priced["z"], 6)) == (0.9, 1.644854)


def test_findings_name_their_model_and_panel() -> None:
    report, result = make_payload(score=["risk", "logit"], prevalence=0.01)
    assert [each["code"] for each in result["findings"]] == [each.code for each in report.findings]
    for finding, each in zip(report.findings, result["findings"], strict=True):
        assert each["panel"] == CHECKS[finding.code].panel
        assert each["model"] == (None if finding.model is None else report.models.index(finding.model))


def test_separate_samples_have_the_score_column_of_the_plan() -> None:
    parts = {"old": make_table(), "new": make_table(300)}
    result = page_payload(baserate.run(Plan(truth="sick", score="risk", apart=True), parts))
    assert [each["name"] for each in result["models"]] == ["old", "new"]
    assert [each["columns"]["score"] for each in result["models"]] == ["risk", "risk"]


def test_saved_reports_have_the_same_payload() -> None:
    report, result = make_payload(group="sex", predicted="says", prevalence=0.1)
    assert json.loads(json.dumps(page_payload(Report.from_json(report.to_json())))) == result
    assert page_payload(report.of("says"))["models"][0]["name"] == "says"


name = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
plans = st.builds(
    Plan,
    files=st.lists(name | st.sampled_from(["-x.csv", "a b.csv", '"$(x)".csv']), min_size=1, max_size=2),
    truth=st.just("sick"),
    score=st.sampled_from([["risk"], ["risk", 'it\'s "old"'], ["-1", "\\n"]]),
    group=st.sampled_from([[], ["site"], ["--sex"]]),
    positive=st.none() | name,
    missing=st.sampled_from(["refuse", "drop"]),
    id=st.none() | st.just("who"),
    level=st.sampled_from([0.95, 0.9]),
    seed=st.integers(0, 3),
)


@given(plans)
def test_spelled_plans_are_equal_in_shell_and_python(plan: Plan) -> None:
    words = spell_plan(plan)
    more = "prevalence=0.02, costs=baserate.Costs(fp=1, fn=20), threshold=0.27"
    typed = f"baserate.Plan(files={words['files']}, {words['plan']}, {more})"
    wanted = replace(plan, prevalence=0.02, costs=Costs(fp=1, fn=20), threshold=0.27)
    assert eval(typed, {"baserate": baserate}) == wanted  # noqa: S307  (what a reader would paste)
    line = shlex.split(" ".join([*words["shell"], *words["id"], "--prevalence 0.02 --fp 1 --fn 20 --threshold 0.27"]))
    # A name like an option is typed with its folder.
    files = [f"./{file}" if file.startswith("-") and file != "-" else file for file in plan.files]
    assert plan_of(*line) == replace(wanted, files=files)


def test_rows_in_memory_have_no_file(tmp_path: Path) -> None:
    spell = make_payload()[1]["models"][0]["spell"]
    assert (spell["file"], spell["files"]) == (False, "[]")
    path = tmp_path / "people.csv"
    path.write_text("sick,risk\n1,0.9\n0,0.2\n", encoding="utf-8")
    spell = page_payload(baserate.run(Plan(files=path, truth="sick", score="risk", positive="1")))["models"][0]["spell"]
    assert spell["file"] is True
    assert spell["shell"] == [str(path), "--truth", "sick", "--score", "risk", "--positive", "1"]
