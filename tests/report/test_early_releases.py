"""Plans and reports of past releases load."""

import json
from pathlib import Path

import numpy as np
import pytest

import baserate
from baserate import Plan, Report

OLD = Path(__file__).parents[1] / "old"
PEOPLE = {
    "sick": [1, 0, 1, 1, 0, 0, 0, 1, 0, 0],
    "risk": [0.92, 0.85, 0.71, 0.64, 0.64, 0.31, 0.30, 0.22, 0.11, 0.05],
}


def test_plan_of_0_1_0_runs() -> None:
    plan, report = Plan.load(OLD / "plan-0.1.0.json"), Report.load(OLD / "report-0.1.0.json")
    assert report.plan == plan
    again = baserate.run(plan, PEOPLE)
    assert again.data["digest"] == report.data["digest"]
    assert again.policy == report.policy
    for name in ("auc", "precision", "expected_cost"):
        assert getattr(again.there, name).value == pytest.approx(getattr(report.there, name).value)


def test_report_of_0_1_0_loads_unchanged() -> None:
    report = Report.load(OLD / "report-0.1.0.json")
    assert report.here.auc.value == 17.5 / 24
    assert (report.there.precision.value, report.there.sensitivity.value) == (1, 0.25)
    assert report.there.expected_cost.value == pytest.approx(0.02 * 0.75 * 20)
    assert [result.code for result in report.findings][:2] == ["BR001", "BR003"]
    assert "Per 1,000 people at 2% prevalence: 5 flagged, 5 of them positive" in " ".join(report.text().split())


@pytest.mark.parametrize(("models", "raw"), [(("risk", "old"), 0.03), (("risk", "old", "none"), None)])
def test_p_values_of_early_releases_are_read_as_adjusted(models: tuple[str, ...], raw: float | None) -> None:
    """Early releases wrote the Holm-adjusted p into `p`: of one pair it is the raw one, too."""
    rng = np.random.default_rng(0)
    truth = rng.random(40) < 0.5
    report = baserate.evaluate(truth, {model: rng.random(40) for model in models})
    form = json.loads(report.to_json())
    for row in form["rows"]:
        for name in ("p_adjusted", "p_is_bound", "model_value", "other_value", "other_threshold"):
            del row[name]
        if row["part"] == "differences":
            row["p"] = 0.03
    again = Report.from_json(json.dumps(form))
    rows = again.differences.rows()
    assert {(row["p"], row["p_adjusted"], row["p_is_bound"]) for row in rows} == {(raw, 0.03, None)}
    assert "0.030" in again.text()
