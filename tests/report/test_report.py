"""Reports: numbers as attributes and rows, files, and equality with numbers of other packages."""

import json
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import numpy as np
import pandas as pd
import polars as pl
import pytest

import baserate
from baserate import (
    Costs,
    Counts,
    Curve,
    Cut,
    FileFormatError,
    OptionError,
    Plan,
    Policy,
    RandomizedCut,
    Report,
    UnknownNameError,
    decide,
    infer,
    read,
    shift,
)
from baserate.report._report import COLUMNS, number_name
from tests.tiers import take_in_tiers


def make_table(rows: int = 600, seed: int = 3) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    sick = (rng.random(rows) < 0.3).astype(int)
    risk = 1 / (1 + np.exp(1.5 - 2 * sick - rng.normal(size=rows)))
    return {
        "sick": sick,
        "risk": risk,
        "old": np.round(1 / (1 + np.exp(1.5 - sick - rng.normal(size=rows))), 2),
        "site": rng.choice(["north", "south"], rows),
        "says": (risk > 0.4).astype(int),
        "who": np.arange(rows) // 2,
    }


PEOPLE = make_table()
PLAN = Plan(truth="sick", score="risk", group="site", prevalence=0.02, costs=Costs(fp=1, fn=20))


@pytest.fixture(scope="module")
def report() -> Report:
    return baserate.run(PLAN, PEOPLE)


@pytest.fixture(scope="module")
def two_model_report() -> Report:
    return baserate.run(
        Plan(truth="sick", score=["risk", "old"], predicted="says", group="site", id="who", prevalence=0.1), PEOPLE
    )


def test_numbers_equal_those_of_other_packages(report: Report) -> None:
    tallies = read.tallies(PEOPLE, truth="sick", score="risk", group="site")
    there = shift.reweigh(tallies, prevalence=0.02)
    policy = decide.cost(Curve(there.pooled("risk")), Costs(fp=1, fn=20))
    assert report.policy.threshold == policy.threshold == report.here.threshold.value
    assert report.policy.chosen_on == policy.chosen_on
    for place, view in ((tallies, report.here), (there, report.there)):
        at = Curve(place.pooled("risk")).at(policy.threshold)
        counts = view.counts
        assert [counts.tp, counts.fp, counts.fn, counts.tn] == pytest.approx([at.tp, at.fp, at.fn, at.tn])
        for name in ("sensitivity", "precision", "accuracy", "f1"):
            result, expected = getattr(view, name), infer.estimate(name, at)
            assert [result.value, result.low, result.high] == pytest.approx(
                [expected.value, expected.low, expected.high]
            )
            assert result.how == expected.how
    assert report.here.auc == infer.estimate("auc", tallies.pooled("risk"))
    assert report.there.average_precision == infer.estimate("average_precision", there.pooled("risk"))
    assert report.here.calibration_slope == infer.estimate("calibration_slope", tallies.pooled("risk"))
    north = Curve(tallies.models["risk"]["north",]).at(policy.threshold)
    assert report.within(site="north").here.sensitivity == infer.estimate("sensitivity", north)


def test_deployment_contains_numbers_that_do_not_depend_on_the_prevalence(report: Report) -> None:
    assert report.there.auc == report.here.auc
    assert report.there.precision.value < report.here.precision.value
    assert (report.there.prevalence.value, report.here.prevalence.value) == (0.02, np.mean(PEOPLE["sick"]))


def test_costs_equal_those_of_the_confusion_matrix(report: Report) -> None:
    cost = Costs(fp=1, fn=20)
    for view in (report.here, report.there):
        counts = view.counts
        assert view.expected_cost.value == pytest.approx(cost.total(counts) / counts.total)
    nobody = Counts(tp=0, fp=0, fn=0.02, tn=0.98)
    assert report.there.cost_of_flagging_nobody.value == pytest.approx(cost.total(nobody))
    assert report.there.cost_of_flagging_everybody.value == pytest.approx(0.98)
    assert report.there.least_cost.value == pytest.approx(report.there.expected_cost.value)


def test_frame_has_a_row_for_every_number(report: Report) -> None:
    rows = report.rows()
    assert [*rows[0]] == [*COLUMNS]
    assert len(report.frame("pandas")) == len(report.frame("polars")) == len(rows)
    sample, deployment = report.select(part="ranks", measure="auc", group=None)
    assert sample["value"] == deployment["value"] == report.here.auc.value
    assert (sample["where"], deployment["where"]) == ("here", "there")
    assert {row["model"] for row in rows} == {"risk"}


@pytest.mark.slow
def test_every_number_is_an_attribute(report: Report, two_model_report: Report) -> None:
    for whole in (report, two_model_report):
        for row in whole.rows():
            if row["part"] in ("gaps", "group_differences", "differences"):
                assert row in getattr(whole, row["part"]).rows()
            else:
                own = whole.of(row["model"] or whole.models[0])
                own = own if row["group"] is None else own.within(**row["group"])
                result = getattr(getattr(own, row["where"]), number_name(row))
                assert (result.value, result.how) == (row["value"] if row["value"] is not None else ANY, row["how"])


def test_json_round_trip(report: Report, two_model_report: Report, tmp_path: Path) -> None:
    for each in (report, two_model_report):
        each.save(tmp_path / "report.json")
        again = Report.load(tmp_path / "report.json")
        assert again.to_json() == each.to_json()
        assert (again.plan, dict(again.policies), again.findings) == (each.plan, dict(each.policies), each.findings)
        assert again.rows() == [{name: row[name] for name in COLUMNS} for row in each.rows()]


def test_report_does_not_depend_on_the_order_of_rows(report: Report) -> None:
    order = np.random.default_rng(8).permutation(len(PEOPLE["sick"]))
    again = baserate.run(Plan.from_json(report.plan.to_json()), {name: each[order] for name, each in PEOPLE.items()})
    assert json.loads(again.to_json()) == json.loads(report.to_json())


def test_report_describes_its_data(report: Report) -> None:
    data = report.data
    assert (data["version"], data["rows"], data["read"], data["refused"]) == (baserate.__version__, 600, 600, 0)
    assert data["digest"] == read.tallies(PEOPLE, truth="sick", score="risk", group="site").digest
    assert data["columns"] == {"truth": "sick", "score": ["risk"], "group": ["site"]}


def test_models_are_compared_on_the_same_rows(two_model_report: Report) -> None:
    assert two_model_report.models == ("risk", "old", "says")
    rows = read.rows(PEOPLE, truth="sick", score=["risk", "old"])
    (auc,) = two_model_report.select(part="differences", measure="auc")
    (expected,) = infer.compare(rows)
    assert (auc["model"], auc["other"], auc["value"]) == ("risk", "old", expected.difference.value)
    assert (auc["low"], auc["p"]) == (expected.difference.low, expected.p)
    at = {"risk": 0.5, "old": 0.5}
    (result,) = two_model_report.select(part="differences", measure="sensitivity")
    assert result["value"] == infer.compare(rows, measure="sensitivity", threshold=at)[0].difference.value
    with pytest.raises(OptionError, match=r"report\.of\('risk'\)"):
        _ = two_model_report.here.auc
    assert two_model_report.of("old").here.auc == infer.estimate("auc", rows.tallies().pooled("old"))


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"prevalence": 0.05, "costs": Costs(fp=1, fn=5)}, {}),
        ({"prevalence": 0.05}, {}),
        ({"costs": Costs(fp=1, fn=5), "seed": 2, "level": 0.9}, {}),
        ({"prevalence": 0.3, "costs": Costs(fp=1, fn=5)}, {"rule": "youden"}),
    ],
)
def test_differences_are_those_of_compare(options: dict[str, Any], rule: dict[str, Any]) -> None:
    columns: dict[str, Any] = {"truth": "sick", "score": ["risk", "old"]}
    report = baserate.run(Plan(**columns, **options, **rule), PEOPLE)
    cuts: Any = {model: policy.flags_from for model, policy in report.policies.items()}
    wanted = baserate.compare(PEOPLE, **columns, **options, threshold=cuts if rule else None).rows()
    rows = report.differences.rows()
    assert [row["measure"] for row in rows] == [row["measure"] for row in wanted]
    assert ("expected_cost" in {row["measure"] for row in rows}) == ("costs" in options)
    for row, each in zip(rows, wanted, strict=True):
        both = ("model", "other", "low", "high", "level", "how", "why", "p", "p_adjusted", "p_is_bound", "threshold")
        assert [row[name] for name in both] == [each[name] for name in both]
        assert (row["value"], row["model_value"]) == (each["difference"], each["value"])
        assert (row["other_value"], row["other_threshold"]) == (each["other_value"], each["other_threshold"])
        assert (row["where"], row["prevalence"]) == (
            ("there", options["prevalence"]) if "prevalence" in options else ("here", None)
        )
    views = report.of("risk").there if "prevalence" in options else report.of("risk").here
    for row in rows:
        if row["measure"] != "net_benefit":
            assert row["model_value"] == pytest.approx(getattr(views, row["measure"]).value)


def test_prevalences_of_groups_leave_the_differences_in_the_sample() -> None:
    plan = Plan(truth="sick", score=["risk", "old"], group="site", prevalence={"north": 0.1, "south": 0.2})
    rows = baserate.run(plan, PEOPLE).differences.rows()
    assert {(row["where"], row["prevalence"]) for row in rows} == {("here", None)}


def test_predicted_labels_have_no_rank_measures(two_model_report: Report) -> None:
    says = two_model_report.of("says")
    truth, said = PEOPLE["sick"] == 1, PEOPLE["says"] == 1
    assert says.here.counts.tp == (truth & said).sum()
    assert says.here.counts.fp == (~truth & said).sum()
    assert "auc" not in says.here
    with pytest.raises(AttributeError, match="the report has no number 'auc'"):
        _ = says.here.auc
    (off,) = two_model_report.select(part="labels", model="risk", measure="disagreements")
    assert off["value"] == ((PEOPLE["risk"] >= 0.5) != said).sum()
    (least,) = two_model_report.select(part="labels", model="risk", measure="least_disagreements")
    assert least["value"] == 0
    assert least["threshold"] == PEOPLE["risk"][said].min()


def test_repeated_ids_are_counted(two_model_report: Report) -> None:
    (result,) = two_model_report.select(part="data", measure="repeated_ids")
    assert result["value"] == 300


def test_groups_are_named_by_their_attributes(report: Report) -> None:
    assert [*report.groups] == [{"site": "north"}, {"site": "south"}]
    with pytest.raises(UnknownNameError, match="site='north'; site='south'"):
        report.within(site="east")
    with pytest.raises(UnknownNameError, match="no model 'riks'"):
        report.of("riks")
    gaps = {row["measure"]: row for row in report.select(part="gaps")}
    each = [report.within(site=name).here.sensitivity.value for name in ("north", "south")]
    assert gaps["sensitivity"]["value"] == pytest.approx(abs(each[0] - each[1]))


def test_arrays_make_the_same_report_as_a_table(report: Report) -> None:
    result = baserate.evaluate(
        PEOPLE["sick"],
        {"risk": PEOPLE["risk"]},
        group={"site": PEOPLE["site"]},
        prevalence=0.02,
        costs=Costs(fp=1, fn=20),
    )
    assert result.rows() == report.rows()
    assert result.data["digest"] == report.data["digest"]


def test_frames_are_several_models_and_unknown_options_raise() -> None:
    scores = {"risk": PEOPLE["risk"], "old": PEOPLE["old"]}
    expected = baserate.evaluate(PEOPLE["sick"], scores).rows()
    for frame in (pd.DataFrame(scores), pl.DataFrame(scores)):
        assert baserate.evaluate(PEOPLE["sick"], frame).rows() == expected
    with pytest.raises(UnknownNameError, match=r"'weights'\. Did you mean 'weight'"):
        baserate.evaluate(PEOPLE["sick"], PEOPLE["risk"], weights=PEOPLE["risk"])  # type: ignore[call-overload]


def test_columns_may_have_the_names_of_arguments() -> None:
    result = baserate.evaluate([1, 0, 1, 0], {"truth": [0.9, 0.6, 0.4, 0.1], "group": [1, 2, 3, 4]}, group=list("abab"))
    assert result.models == ("truth_", "group")
    assert result.of("truth_").here.auc.value == 0.75
    assert len(result.groups) == 2


def test_separate_samples_are_evaluated() -> None:
    other = make_table(200, seed=9)
    truth = {"a": PEOPLE["sick"], "b": other["sick"]}
    actual = baserate.evaluate(truth, {"a": PEOPLE["risk"], "b": other["risk"]})
    assert actual.models == ("a", "b")
    assert (actual.data["rows"], actual.data["read"]) == (800, 800)
    assert actual.data["prevalence"] == pytest.approx(np.concatenate([*truth.values()]).mean())
    assert actual.of("b").here.auc.value == baserate.evaluate(other["sick"], other["risk"]).here.auc.value
    (result,) = actual.select(part="differences", measure="auc")
    assert result["value"] == pytest.approx(actual.of("a").here.auc.value - actual.of("b").here.auc.value)
    with pytest.raises(OptionError, match="two mappings"):
        baserate.evaluate(truth, PEOPLE["risk"])
    with pytest.raises(OptionError, match="two mappings"):
        baserate.evaluate(truth, {"a": [1], "c": [1]})


def test_separate_files_name_their_samples(tmp_path: Path) -> None:
    for name, rows in (("north.csv", "1,0.9\n0,0.2\n1,0.4\n0,0.1\n"), ("south.csv", "1,0.8\n0,0.3\n0,\n")):
        (tmp_path / name).write_text("sick,risk\n" + rows, encoding="utf-8")
    files = [str(tmp_path / name) for name in ("north.csv", "south.csv")]
    result = baserate.run(Plan(files=files, apart=True, truth="sick", score="risk", missing="drop"))
    assert result.models == ("north", "south")
    assert (result.data["read"], result.data["refused"], result.data["rows"]) == (7, 1, 6)
    assert result.data["reasons"] == {"risk": {"missing": 1}}


def test_policy_is_evaluated_on_other_rows(report: Report) -> None:
    other = make_table(300, seed=5)
    same = baserate.run(Plan(truth="sick", score="risk", policy=report.policy), PEOPLE)
    new = baserate.run(Plan(truth="sick", score="risk", policy=report.policy), other)
    assert same.here.chosen_on_these_rows.value == 1
    assert new.here.chosen_on_these_rows.value == 0
    assert new.here.counts.tp == ((other["risk"] >= report.policy.threshold) & (other["sick"] == 1)).sum()


REFERRING = Policy(by_group={(): Cut((0.3, 0.6), ("pass", "refer", "flag"))}, otherwise="refuse")
REVERSED = Policy(by_group={(): Cut((0.4,), ("flag", "pass"))}, otherwise="refuse")
RANDOMIZED = Policy(by_group={(): RandomizedCut((Cut((0.4,)), Cut((0.6,))), (0.5, 0.5))}, otherwise="refuse")
BY_SITE = Policy(by_group={("north",): Cut((0.4,)), ("south",): Cut((0.6,))}, otherwise="refuse", attributes=("site",))


@pytest.mark.quick(1)
@pytest.mark.parametrize("policy", take_in_tiers([REFERRING, REVERSED, RANDOMIZED, BY_SITE], 2))
def test_policies_of_every_kind_are_evaluated(policy: Policy) -> None:
    plan = Plan(truth="sick", score=["risk", "old"], predicted="says", group="site", policy=policy, prevalence=0.1)
    result = baserate.run(plan, PEOPLE)
    assert result.text()
    # Decisions have no thresholds to compare at.
    assert [row["measure"] for row in result.differences.rows()] == ["auc", "average_precision", "brier"]
    assert not result.select(part="labels")
    expected = decide.evaluate_policy(read.tallies(PEOPLE, truth="sick", score="risk", group="site"), policy)
    (tp,) = [row["value"] for row in expected.rows() if row["measure"] == "tp" and row["group"] is None]
    assert result.of("risk").here.counts.tp == tp


def test_thresholds_are_named_by_their_actions() -> None:
    result = baserate.run(Plan(truth="sick", score="risk", policy=REFERRING), PEOPLE)
    assert (result.here.threshold_refer.value, result.here.threshold_flag.value) == (0.3, 0.6)
    assert "threshold" not in result.here
    turned = baserate.run(Plan(truth="sick", score="risk", policy=REVERSED), PEOPLE)
    assert turned.here.threshold_pass.value == 0.4
    apart = baserate.run(Plan(truth="sick", score="risk", group="site", policy=BY_SITE), PEOPLE)
    assert [apart.within(site=name).here.threshold.value for name in ("north", "south")] == [0.4, 0.6]


@pytest.mark.parametrize(
    ("more", "threshold", "rule"),
    [({}, 0.5, "fixed"), ({"threshold": 0.3}, 0.3, "fixed"), ({"rule": "youden"}, 0.9, "youden")],
)
def test_threshold_follows_the_plan(more: Any, threshold: float, rule: str) -> None:  # noqa: ANN401
    result = baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], **more)
    assert (result.policy.threshold, result.policy.rule) == (threshold, rule)


def test_scores_that_are_no_probabilities_get_youdens_threshold() -> None:
    result = baserate.evaluate([1, 0, 1, 0], [9, 6, 4, 1])
    assert (result.policy.rule, result.policy.threshold) == ("youden", 9)
    assert "brier" not in result.here
    assert result.here.auc.value == 0.75


def test_attainable_precision_keeps_half_of_the_sensitivity() -> None:
    truth, score = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0], [0.9, 0.85, 0.6, 0.55, 0.8, 0.7, 0.65, 0.3, 0.2, 0.1]
    result = baserate.evaluate(truth, score)
    precision, sensitivity = result.select(part="possible")
    assert (precision["threshold"], precision["value"], sensitivity["value"]) == (0.85, 1.0, 0.5)


def test_plan_without_files_needs_a_table() -> None:
    with pytest.raises(OptionError, match="names no files"):
        baserate.run(Plan(score="p"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("{}", "not a report"),
        ('{"kind": "baserate/report", "schema_version": 9}', "upgrade"),
        ('{"kind": "baserate/report", "schema_version": 1}', "not a valid report"),
    ],
)
def test_files_that_are_no_reports_raise(text: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        Report.from_json(text)


def test_unknown_endings_raise(report: Report, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"unknown file type; expected \.html"):
        report.save(tmp_path / "report.docx")
    report.save(tmp_path / "numbers.csv")
    assert (tmp_path / "numbers.csv").read_text(encoding="utf-8").startswith("part,measure,model,group.site,other,")


def test_progress_counts_all_steps() -> None:
    output: list[tuple[int, int]] = []
    baserate.run(PLAN, PEOPLE, progress=lambda done, total: output.append((done, total)))
    assert [done for done, _ in output] == [*range(1, output[0][1] + 1)]


def test_figures_of_a_report_fit_its_data() -> None:
    pytest.importorskip("matplotlib")
    table = {"sick": [1, 1, 0, 1, 0, 0], "risk": [0.9, 0.8, 0.7, 0.4, 0.2, 0.1], "raw": [9, 8, 7, 4, 2, 1]}
    data = {name: baserate.read.tallies(table, truth="sick", score=name) for name in ("risk", "raw")}
    reports = {
        name: baserate.run(baserate.Plan(truth="sick", score=(name,), threshold=0.5, prevalence=0.1), table)
        for name in data
    }
    drawings = {name: dict(baserate.report.draw_figures(reports[name], data[name])) for name in data}
    probabilities = {"reliability", "decision-curve"}
    assert {*drawings["risk"]} - {*drawings["raw"]} == probabilities
    assert {*drawings["raw"]} == {"roc", "pr", "gain", "prevalence", "scores", "thresholds"}
    assert all(drawing.name == name.replace("-", "_") for name, drawing in drawings["risk"].items())
