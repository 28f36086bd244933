"""Numbers at the deployment prevalence, of everybody and of groups with prevalences of their own."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st
from sklearn import metrics

import baserate
from baserate import Costs, Curve, OptionError, Plan, Report, UnknownLabelError, infer, read, shift
from baserate._formatting import format_percent
from baserate.measure import MEASURES, describe
from tests.schemas import ValidationError, check_schema

Floats = npt.NDArray[np.float64]
PREVALENCE = 0.05


def make_table(rows: int = 900, seed: int = 5) -> dict[str, Any]:
    """Predictions at a prevalence of about 0.3, in sites whose prevalences differ."""
    rng = np.random.default_rng(seed)
    site = rng.choice(["north", "coast", "hill"], rows, p=[0.5, 0.3, 0.2])
    base = np.select([site == "north", site == "coast"], [0.2, 0.35], 0.5)
    sick = (rng.random(rows) < base).astype(int)
    risk = 1 / (1 + np.exp(1.0 - 1.8 * sick - rng.normal(size=rows)))
    return {"sick": sick, "risk": np.round(risk, 3), "site": site}


PEOPLE = make_table()
PLAN = Plan(truth="sick", score="risk", group="site", prevalence=PREVALENCE, threshold=0.4)


@pytest.fixture(scope="module")
def report() -> Report:
    return baserate.run(PLAN, PEOPLE)


def prevalence_weights(sick: npt.NDArray[np.int_], to: float) -> Floats:
    """Return the weight of each row if a share `to` of the population is positive."""
    share = sick.mean()
    result: Floats = np.where(sick == 1, to / share, (1 - to) / (1 - share))
    return result


def test_measures_of_scores_equal_those_of_weighted_rows(report: Report) -> None:
    sick, risk = PEOPLE["sick"], PEOPLE["risk"]
    weight, there = prevalence_weights(sick, PREVALENCE), report.there
    assert there.prevalence.value == PREVALENCE
    assert there.brier.value == pytest.approx(metrics.brier_score_loss(sick, risk, sample_weight=weight))
    assert there.log_loss.value == pytest.approx(metrics.log_loss(sick, risk, sample_weight=weight))
    average = metrics.average_precision_score(sick, risk, sample_weight=weight)
    assert there.average_precision.value == pytest.approx(average)
    assert there.auc.value == pytest.approx(metrics.roc_auc_score(sick, risk, sample_weight=weight))
    mean = np.average(risk, weights=weight)
    assert there.mean_probability.value == pytest.approx(mean)
    assert there.observed_expected.value == pytest.approx(PREVALENCE / mean)
    constant = PREVALENCE * (1 - PREVALENCE)
    assert there.brier_skill.value == pytest.approx(1 - there.brier.value / constant)
    assert there.ece.value == pytest.approx(calibration_error_by_rows(sick, risk, weight))
    for name in ("brier", "log_loss", "ece", "observed_expected", "mean_probability", "calibration_in_the_large"):
        assert abs(getattr(there, name).value / getattr(report.here, name).value - 1) > 0.01, name


def calibration_error_by_rows(sick: npt.NDArray[np.int_], risk: Floats, weight: Floats, bins: int = 10) -> float:
    """Expected calibration error in bins of equal width, closed on the right, row by row."""
    place = np.clip(np.ceil(risk * bins) - 1, 0, bins - 1)
    gaps = [abs(np.sum(weight[place == at] * (sick - risk)[place == at])) for at in range(bins)]
    return float(np.sum(gaps) / weight.sum())


def test_numbers_in_deployment_equal_those_of_the_reweighted_tally(report: Report) -> None:
    """No number in deployment is copied from the sample unless it does not depend on the prevalence."""
    tallies = shift.reweigh(read.tallies(PEOPLE, truth="sick", score="risk", group="site"), prevalence=PREVALENCE)
    rows = [row for row in report.rows() if row["where"] == "there" and row["measure"] in MEASURES]
    assert {row["part"] for row in rows} >= {"decisions", "ranks", "probabilities", "data"}
    for row in rows:
        group = row["group"]
        tally = tallies.pooled("risk") if group is None else tallies.models["risk"][group["site"],]
        measure = MEASURES[row["measure"]]
        of = {"Counts": Curve(tally).at(0.4), "Curve": Curve(tally), "Tally": tally}[describe(measure).of.__name__]
        at = {"threshold": row["threshold"]} if row["part"] == "possible" else {}
        if at:
            of = Curve(tally).at(row["threshold"])
        assert row["value"] == pytest.approx(float(measure(of)), rel=1e-9, nan_ok=True), row
        assert row["prevalence"] == pytest.approx(tally.prevalence)


def test_deployment_lacks_numbers_of_the_sample_alone(report: Report) -> None:
    for name in ("rows", "positives", "negatives", "distinct_scores", "chosen_on_these_rows"):
        assert name in report.here
        assert name not in report.there
        with pytest.raises(AttributeError, match=rf"'{name}' is known in the sample only: use report\.here\.{name}"):
            getattr(report.there, name)
    assert report.there.threshold == report.here.threshold


def test_without_a_stated_prevalence_deployment_is_the_sample() -> None:
    report = baserate.evaluate(PEOPLE["sick"], PEOPLE["risk"])
    assert report.prevalence is None
    assert report.there.rows == report.here.rows
    assert {row["where"] for row in report.rows()} == {"here"}


def test_null_reference_is_at_the_prevalence_of_the_calibration_error(report: Report) -> None:
    tally = shift.reweigh(read.tallies(PEOPLE, truth="sick", score="risk").tally, prevalence=PREVALENCE)
    (row,) = report.select(measure="ece", where="there", group=None)
    floor = infer.null_reference("ece", tally, n_simulations=100)
    assert (row["value"], row["floor"], row["floor_high"]) == pytest.approx((floor.value, floor.typical, floor.high))


@pytest.mark.slow
@given(st.floats(1e-4, 0.9999))
@settings(max_examples=15)
def test_stating_the_sample_prevalence_changes_no_value(to: float) -> None:
    sick, risk = PEOPLE["sick"], PEOPLE["risk"]
    same = baserate.evaluate(sick, risk, prevalence=float(np.mean(sick)), threshold=0.4)
    for row in same.select(where="there"):
        if row["part"] in ("costs", "possible") or row["value"] is None:  # measured in one place alone
            continue
        (twin,) = same.select(part=row["part"], measure=row["measure"], where="here")
        assert row["value"] == pytest.approx(twin["value"], rel=1e-6), row
    report = baserate.evaluate(sick, risk, prevalence=to, threshold=0.4)
    assert report.there.prevalence.value == pytest.approx(to, rel=1e-12)
    assert report.there.sensitivity.value == pytest.approx(report.here.sensitivity.value)


STATED = {"north": 0.02, "coast": 0.1, "hill": 0.3}


@pytest.fixture(scope="module")
def report_by_group() -> Report:
    return baserate.run(
        Plan(truth="sick", score="risk", group="site", prevalence=STATED, threshold=0.4, costs=Costs(fp=1, fn=5)),
        PEOPLE,
    )


def test_groups_have_their_stated_prevalences(report_by_group: Report) -> None:
    sizes = {site: float(np.mean(PEOPLE["site"] == site)) for site in STATED}
    for site, share in STATED.items():
        own = report_by_group.within(site=site)
        assert own.there.prevalence.value == pytest.approx(share)
        hits, alarms = own.here.sensitivity.value, 1 - own.here.specificity.value
        assert own.there.sensitivity.value == pytest.approx(hits)
        assert own.there.flag_rate.value == pytest.approx(share * hits + (1 - share) * alarms)
        assert own.there.precision.value == pytest.approx(share * hits / (share * hits + (1 - share) * alarms))
    overall = sum(sizes[site] * share for site, share in STATED.items())
    assert report_by_group.prevalence == report_by_group.there.prevalence.value == pytest.approx(overall)
    flagged = sum(sizes[site] * report_by_group.within(site=site).there.flag_rate.value for site in STATED)
    assert report_by_group.there.flag_rate.value == pytest.approx(flagged)


def test_overall_auc_changes_with_the_mixture_of_groups(report_by_group: Report) -> None:
    sick, risk, site = PEOPLE["sick"], PEOPLE["risk"], PEOPLE["site"]
    weight = np.empty(len(sick))
    for name, share in STATED.items():
        weight[site == name] = prevalence_weights(sick[site == name], share)
    assert report_by_group.there.auc.value == pytest.approx(metrics.roc_auc_score(sick, risk, sample_weight=weight))
    assert report_by_group.there.auc.value != report_by_group.here.auc.value
    north = report_by_group.within(site="north")
    assert north.there.auc.value == pytest.approx(north.here.auc.value)


def test_unnamed_groups_keep_the_sample_prevalence() -> None:
    stated = {"north": 0.02}
    report = baserate.evaluate(PEOPLE["sick"], PEOPLE["risk"], group={"site": PEOPLE["site"]}, prevalence=stated)
    coast = report.within(site="coast")
    assert coast.there.precision.value == pytest.approx(coast.here.precision.value)
    assert report.within(site="north").there.prevalence.value == pytest.approx(0.02)


def test_groups_of_several_columns_are_named_by_tuples() -> None:
    sex = np.where(np.arange(len(PEOPLE["sick"])) % 2, 1, 0)
    report = baserate.evaluate(
        PEOPLE["sick"],
        PEOPLE["risk"],
        group={"site": PEOPLE["site"], "sex": sex},
        prevalence={("north", 1): 0.01, "coast/0": 0.2},
    )
    assert report.within(site="north", sex=1).there.prevalence.value == pytest.approx(0.01)
    assert report.within(site="coast", sex=0).there.prevalence.value == pytest.approx(0.2)
    assert dict(report.plan.prevalence) == {"north/1": 0.01, "coast/0": 0.2}  # type: ignore[arg-type]


def test_prevalences_of_groups_round_trip(report_by_group: Report, tmp_path: Path) -> None:
    plan = report_by_group.plan
    form = json.loads(plan.to_json())
    check_schema(form, "plan")
    assert form["prevalence"] == STATED
    assert Plan.from_json(plan.to_json()) == plan
    report_by_group.save(tmp_path / "report.json")
    again = Report.load(tmp_path / "report.json")
    assert again.prevalence == report_by_group.prevalence
    assert again.text() == report_by_group.text()
    with pytest.raises(ValidationError):
        check_schema(form | {"prevalence": {"north": 2}}, "plan")


@pytest.mark.parametrize(
    ("group", "prevalence", "message"),
    [
        (
            "site",
            {"north": 1.5},
            "prevalence of the group 'north' is 1.5; expected a prevalence from 1e-12 to 1 - 1e-12",
        ),
        ("site", {}, "expected at least one"),
        ((), {"north": 0.1}, "name the groups"),
        ("site", 0.0, "prevalence is 0.0; expected a prevalence from 1e-12 to 1 - 1e-12"),
    ],
)
def test_invalid_prevalences_raise(group: Any, prevalence: Any, message: str) -> None:  # noqa: ANN401
    with pytest.raises(OptionError, match=re.escape(message)):
        Plan(truth="sick", score="risk", group=group, prevalence=prevalence)


def test_prevalence_of_an_unknown_group_raises() -> None:
    plan = Plan(truth="sick", score="risk", group="site", prevalence={"island": 0.1})
    with pytest.raises(
        UnknownLabelError, match=r"the group 'island', which is not in the data\. Groups are: coast, hill"
    ):
        baserate.run(plan, PEOPLE)


def join_words(report: Report) -> str:
    return " ".join(report.text(100).split())


def test_table_of_groups_is_at_the_prevalence_of_the_headline(report: Report, report_by_group: Report) -> None:
    assert "\nGroups at 5% prevalence overall:\n" in report.text(100)
    assert "the odds of being positive are multiplied by the same factor in every group" in join_words(report)
    assert re.search(r"Groups at [\d.]+% prevalence overall, each at its stated", join_words(report_by_group))
    assert "each at its stated prevalence" in " ".join(report_by_group.text(100).split())
    sample = baserate.run(Plan(truth="sick", score="risk", group="site", threshold=0.4), PEOPLE)
    assert "Groups in the sample, each at its own prevalence:" in sample.text(100)
    for each in (report, report_by_group, sample):
        lines = each.text(160).splitlines()
        for site in STATED:
            line = next(line for line in lines if line.startswith(f"  {site} "))
            own = each.within(site=site).there
            for name in ("prevalence", "flag_rate", "sensitivity", "precision"):
                assert f" {format_percent(getattr(own, name).value)}" in line, (site, name, line)


def test_text_states_the_prevalence_of_numbers_that_depend_on_it(report: Report) -> None:
    lines = report.text(120).splitlines()
    ppv = ("PPV (precision) at 5% prevalence", "PPV (precision) in the sample")
    for name in (*ppv, "NPV at 5% prevalence", "Flag rate at 5% prevalence", "O/E at 5% prevalence"):
        assert any(line.startswith(f"  {name} ") for line in lines), name
