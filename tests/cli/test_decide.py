"""`baserate decide`: snapshots, JSON and CSV, messages, and refused options."""

import csv
import dataclasses
import io
import json
from pathlib import Path
from typing import Any

import pytest

from baserate import (
    Calibrator,
    Costs,
    Curve,
    Policy,
    curve,
    decide,
    load_calibrator,
    measure,
    population,
    read,
    shift,
    tally,
)
from baserate.cli._decision_options import DecisionOptions
from baserate.decide import list_command_line_rules
from tests.cli.shell import PEOPLE, fits_terminal, matches_snapshot, run, run_program, write_people
from tests.schemas import read_results

ONE = ("--truth", "sick", "--score", "risk")
FEW = ("--measures", "sensitivity,specificity,f1", "--n-bootstrap", "200")

OTHERS = """\
sick,risk,old,site,sex
1,0.90,0.70,north,f
0,0.70,0.60,north,m
1,0.60,0.20,coast,f
0,0.40,0.30,coast,m
0,0.20,0.10,hill,f
1,0.10,0.40,hill,m
"""
TWENTY = "".join(f"{int(kind == '+')},{1 - place / 20:.2f}\n" for place, kind in enumerate("+++-+--+---+--------"))

VIEWS: dict[str, tuple[str, ...]] = {
    "decide": (*ONE, "--n-bootstrap", "200"),
    "decide-cost": (*ONE, "--rule", "cost", "--fp", "1", "--fn", "20", "--prevalence", "2%", "--n-bootstrap", "200"),
    "decide-require": (*ONE, "--require", "specificity >= 0.6, f1 >= 30%", "--maximize", "sensitivity", *FEW),
    "decide-abstain": (*ONE, "--fp", "1", "--fn", "3", "--abstain-cost", "0.2", *FEW),
    "decide-coverage": (*ONE, "--coverage", "60%", "--fp", "1", "--fn", "1", *FEW),
    "decide-bands": (*ONE, "--bands", "0.2,0.5", "--band-names", "home,ward,theatre"),
    "decide-band-risks": (*ONE, "--band-risks", "10%,0.5", "--group", "sex", "--n-bootstrap", "200"),
    "decide-capacity": (*ONE, "--capacity", "3", *FEW),
    "decide-groups": (*ONE, "--maximize", "f1", "--group", "sex", *FEW),
    "decide-group-thresholds": (*ONE, "--rule", "youden", "--group", "sex", "--group-thresholds", *FEW),
    "decide-models": (*ONE, "--score", "old", *FEW),
    "decide-fixed": (*ONE, "--threshold", "0.5", "--measures", "sensitivity,f1"),
    "decide-plain": (*ONE, "--rule", "closest", "--no-interval", "--measures", "sensitivity,f1"),
    "decide-folds": (*ONE, *FEW, "--folds", "5"),
    "decide-folds-abstain": (
        *ONE,
        "--fp",
        "1",
        "--fn",
        "3",
        "--abstain-cost",
        "0.2",
        "--folds",
        "5",
        "--n-bootstrap",
        "0",
    ),
    "decide-md": (*ONE, "--minimize", "cost", "--fp", "1", "--fn", "5", *FEW, "--format", "md"),
}


def run_json(*typed: object, given: str | None = None) -> dict[str, Any]:
    result = run("decide", *typed, "--json", "-q", given=given)
    assert result.exit_code == 0, result.stderr
    return read_results(result.stdout)


def thresholds_by_rule(message: dict[str, Any]) -> dict[str, float]:
    """Return the threshold of each rule."""
    return {row["rule"]: row["value"] for row in message["rows"] if row["measure"] == "threshold"}


def write_test_data(folder: Path) -> Path:
    path = folder / "others.csv"
    path.write_text(OTHERS, encoding="utf-8")
    return path


@pytest.mark.quick(9)
@pytest.mark.parametrize("name", VIEWS)
def test_snapshot_of_terminal_output(name: str, tmp_path: Path) -> None:
    result = run("decide", write_people(tmp_path), *VIEWS[name], "-q")
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, name)


def test_snapshot_of_test_data(tmp_path: Path) -> None:
    typed = (*ONE, "--rule", "youden", *FEW, "--judge-on", write_test_data(tmp_path))
    assert matches_snapshot(run("decide", write_people(tmp_path), *typed, "-q").stdout, "decide-judge-on")


def test_snapshot_of_help() -> None:
    assert matches_snapshot(run("decide", "--help").stdout, "help-decide")


@pytest.mark.parametrize("name", [name for name in VIEWS if name != "decide-md"])
def test_pages_fit_the_terminal(name: str, tmp_path: Path) -> None:
    assert fits_terminal("decide", write_people(tmp_path), *VIEWS[name], widths=(60, 80, 100, 140))


@pytest.mark.quick(8)
@pytest.mark.parametrize(
    ("typed", "rule", "at"),
    [
        ((), "youden", 0.65),
        (("--rule", "closest"), "closest", 0.65),
        (("--rule", "balanced"), "balanced", 0.65),
        (("--rule", "break-even"), "break-even", 0.75),
        (("--rule", "closest.topleft"), "closest", 0.65),
        (("--rule", "prevalence_matching"), "prevalence-matching", 0.75),
        (("--rule", "proc01"), "closest-predictive-values", 0.90),
        (("--rule", "maximin"), "maximin", 0.65),
        (("--rule", "minimax"), "minimax", 0.80),
        (("--rule", "oc_median"), "median-score", 0.525),
        (("--rule", "observed-prev"), "observed-prevalence", 0.3),
        (("--nearest", "specificity = 90%"), "nearest", 0.80),
        (("--nearest", "lr+=2"), "nearest", 0.40),
        (("--rule", "MinPvalue"), "min-p-value", 0.90),
        (("--trim", "20%"), "min-p-value", 0.80),
        (("--rule", "youden", "--midpoints"), "youden", 0.625),
        (("--capacity", "5", "--midpoints"), "capacity", 0.775),
        (("--rule", "loess", "--span", "0.1", "--maximize", "accuracy"), "loess", 0.90),
        (("--span", "1"), "loess", 0.55),
        (("--require", "specificity >= 0.9", "--maximize", "sensitivity"), "require", 0.80),
        (("--require", "specificity >= 0.9", "--require", "precision >= 90%"), "require", 0.90),
        (("--maximize", "f1"), "best", 0.80),
        (("--minimize", "fpr"), "best", "inf"),
        (("--capacity", "5"), "capacity", 0.80),
        (("--capacity", "0.25"), "capacity", 0.80),
        (("--capacity", "25%"), "capacity", 0.80),
        (("--threshold", "0.5"), "fixed", 0.5),
        (("--fp", "1", "--fn", "1"), "cost", 0.90),
        (("--fn", "3", "--fp", "1"), "cost", 0.65),
        (("--minimize", "cost", "--fp", "1", "--fn", "3"), "best", 0.65),
        (("--minimize", "expected_cost", "--fp", "1", "--fn", "3"), "best", 0.65),
        (("--require", "f1 >= 0.1", "--minimize", "cost", "--fp", "1", "--fn", "3"), "require", 0.65),
    ],
)
def test_published_example_of_twenty_cases(typed: tuple[str, ...], rule: str, at: float) -> None:
    output = run_json("-", "--truth", "y", "--score", "s", *typed, "--n-bootstrap", "0", given=f"y,s\n{TWENTY}")
    assert output["data"]["policies"]["s"]["rule"] == rule
    assert thresholds_by_rule(output)[rule] == at


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--nearest", "sensitivity"), "'sensitivity' is not a measure and its value, such as 'sensitivity = 90%'"),
        (("--nearest", "sensitivity = x%"), "is not a measure and its value"),
        (("--nearest", "sensitivity >= 0.9"), "'sensitivity >= 0.9' is a requirement; state it by --require"),
        (("--nearest", "sensitivity = 190%"), "value is 1.9; expected a value of sensitivity from 0 to 1."),
        (("--rule", "nearest"), "the rule nearest needs a measure and its value: --nearest 'sensitivity = 90%'"),
        (("--rule", "kernel", "--bandwidth", "0"), "bandwidth"),
        (("--rule", "youden", "--bandwidth", "0.1"), "--bandwidth is for the rule kernel, and the rule is youden"),
        (("--rule", "loess", "--span", "2"), "'2' is not a share of thresholds; give one above 0 and at most 1"),
        (("--rule", "spline", "--knots", "3"), "--knots"),
        (("--rule", "youden", "--equal-variances"), "--equal-variances is for the rule normal"),
        (("--threshold", "0.5", "--midpoints"), "--midpoints is for thresholds that a rule chooses"),
        (("--bands", "0.2,0.5", "--midpoints"), "--midpoints is for thresholds that a rule chooses"),
        (("--rule", "youden", "--group-thresholds"), "--group-thresholds needs groups; name a column with --group"),
        (
            ("--rule", "youden", "--group", "g", "--group-thresholds", "--folds", "3"),
            "--folds is for one threshold of all groups",
        ),
        (
            ("--rule", "youden", "--group", "g", "--group-thresholds", "-o", "policy.json"),
            "--output is for one threshold of all groups; `baserate equalize` makes policies of groups",
        ),
    ],
)
def test_wrong_options_of_rules_are_refused(typed: tuple[str, ...], message: str) -> None:
    result = run("decide", "-", "--truth", "y", "--score", "s", *typed, given=f"y,s\n{TWENTY}")
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_smooth_rules_in_the_shell(tmp_path: Path) -> None:
    truth, score = population.binormal(means=(0.4, 0.6), sds=(0.1, 0.15)).draw(150, 0)
    file = tmp_path / "scores.csv"
    lines = (f"{int(label)},{each!r}" for label, each in zip(truth, score.tolist(), strict=True))
    file.write_text("\n".join(["sick,risk", *lines]), encoding="utf-8")
    c = curve(tally(truth, score))
    for typed, policy in (
        (("--rule", "youden-normal"), decide.normal(c)),
        (("--rule", "normal", "--equal-variances"), decide.normal(c, equal_variances=True)),
        (("--bandwidth", "0.03", "--maximize", "f1"), decide.kernel(c, "f1", bandwidth=0.03)),
        (("--rule", "lowess", "--span", "aicc"), decide.loess(c, span="aicc")),
        (("--knots", "6"), decide.spline(c, knots=6)),
        (("--average", "median", "--samples", "30"), decide.bootstrap_average(c, average="median", samples=30)),
        (
            ("--rule", "kernel", "--minimize", "cost", "--fp", "1", "--fn", "4"),
            decide.kernel(c, "expected_cost", costs=Costs(fp=1, fn=4)),
        ),
    ):
        saved = tmp_path / "policy.json"
        result = run("decide", file, *ONE, *typed, "--n-bootstrap", "20", "-o", saved)
        assert result.exit_code == 0, result.stderr
        assert Policy.load(saved).threshold == policy.threshold
        assert Policy.load(saved).notes == policy.notes
        output = run_json(file, *ONE, *typed, "--n-bootstrap", "0")
        assert output["data"]["policies"]["risk"]["thresholds"] == [policy.threshold]


def test_thresholds_of_groups_in_the_shell(tmp_path: Path) -> None:
    file = write_people(tmp_path)
    typed = (file, *ONE, "--rule", "youden", "--group", "sex", "--group-thresholds", "--n-bootstrap", "100")
    output = run_json(*typed)
    rows = [row for row in output["rows"] if row["measure"] in ("threshold", "threshold_difference")]
    truth, score, sex = (
        [1, 0, 1, 1, 0, 0, 0, 1, 0, 0],
        [0.92, 0.85, 0.71, 0.64, 0.64, 0.31, 0.3, 0.22, 0.11, 0.05],
        "fmfmfmfmfm",
    )
    expected = decide.group_thresholds(truth, score, "youden", group=list(sex), n_bootstrap=100)
    wanted = [row["value"] for row in expected.rows() if row["measure"] in ("threshold", "threshold_difference")]
    assert [row["value"] for row in rows] == wanted
    assert rows[-1]["other"] == {"sex": "m"}
    assert 0 < rows[-1]["p"] == rows[-1]["p_adjusted"] <= 1
    page = run("decide", *typed)
    assert "Differences between thresholds of groups:" in page.stdout
    assert "f − m" in page.stdout
    assert "with fewer than 50 positives or negatives" in page.stderr
    table = list(csv.DictReader(io.StringIO(run("decide", *typed, "--format", "csv").stdout)))
    assert [row["value"] for row in table if row["measure"] == "threshold"] == [str(each) for each in wanted[:3]]


def test_messages_on_stderr(tmp_path: Path) -> None:
    output = run(
        "decide", write_people(tmp_path), *ONE, "--fp", "1", "--fn", "20", "--prevalence", "2%"
    ).stderr.splitlines()
    assert output == [
        "rule = cost, inferred; name it with --rule.",
        "positive = 1, inferred; name it with --positive.",
        (
            "note: the threshold was chosen on these rows, so its performance is optimistic: use other data, or read "
            "the optimism-corrected values."
        ),
        (
            "note: expected_cost is at these costs: a false positive 1, a false negative 20, a true positive 0, a true "
            "negative 0."
        ),
        "note: classes are reweighted to a prevalence of 2%, taken as known; scores are not adjusted.",
    ]
    named = run("decide", write_people(tmp_path), *ONE, "--rule", "fixed", "--threshold", "0.5", "--positive", "1")
    assert named.stderr == ""
    bare = run("decide", write_people(tmp_path), *ONE, "--rule", "youden", "--n-bootstrap", "0").stderr
    assert "use other data.\n" in bare
    assert "correction" not in bare


def test_json_equals_the_results_of_the_library(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    output = run_json(
        path, *ONE, "--fp", "1", "--fn", "20", "--prevalence", "0.02", "--seed", "3", "--n-bootstrap", "100"
    )
    data = read.tallies(path, truth="sick", score="risk")
    there = shift.reweigh(data, prevalence=0.02)
    policy = decide.cost(Curve(there.tally), Costs(fp=1, fn=20))
    rows = {row["measure"]: row for row in output["rows"] if row["rule"] == "cost"}
    assert rows["threshold"]["value"] == policy.threshold
    assert rows["threshold"]["low"] <= policy.threshold <= rows["threshold"]["high"]
    counts = policy.cut.counts(Curve(there.tally))
    assert rows["expected_cost"]["value"] == pytest.approx(Costs(fp=1, fn=20).total(counts) / counts.total)
    assert rows["sensitivity"]["value"] == pytest.approx(measure.sensitivity(counts))
    assert rows["sensitivity"]["corrected"] == pytest.approx(
        rows["sensitivity"]["value"] - rows["sensitivity"]["optimism"]
    )
    assert output["data"]["prevalence"] == 0.4
    assert output["data"]["deployment"] == {"prevalence": 0.02}
    assert output["data"]["costs"] == {"tp": 0, "fp": 1, "fn": 20, "tn": 0}
    assert output["data"]["interval"]["seed"] == 3
    assert {"youden", "closest", "balanced", "break-even", "fixed 0.5"} <= {row["rule"] for row in output["rows"]}


def test_csv_has_the_rows_of_json(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    rows = list(csv.DictReader(io.StringIO(run("decide", path, *ONE, "--format", "csv").stdout)))
    assert [(row["rule"], row["measure"]) for row in rows] == [
        (row["rule"], row["measure"]) for row in run_json(path, *ONE)["rows"]
    ]


def test_bootstrap_can_be_left_out(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    for typed in (("--n-bootstrap", "0"), ("--threshold", "0.5"), ("--no-interval",)):
        rows = run_json(path, *ONE, *typed)["rows"]
        assert all(row["corrected"] is None for row in rows)
        assert all(row["low"] is None for row in rows if row["measure"] == "threshold")
    assert all(row["low"] is None for row in run_json(path, *ONE, "--no-interval")["rows"])
    assert "interval" not in run_json(path, *ONE, "--no-interval")["data"]
    assert any(row["low"] is not None for row in run_json(path, *ONE, "--n-bootstrap", "0")["rows"])
    wide, narrow = (
        next(row for row in run_json(path, *ONE, "--level", level)["rows"] if row["measure"] == "threshold")
        for level in ("0.99", "0.5")
    )
    assert wide["low"] < narrow["low"]
    assert (wide["level"], narrow["level"]) == (0.99, 0.5)


def test_folds_are_evaluated_with_thresholds_of_the_others(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    output = run_json(
        path, *ONE, "--score", "old", "--rule", "youden", "--folds", "3", "--seed", "2", "--n-bootstrap", "0"
    )
    for model in ("risk", "old"):
        tally = read.tallies(path, truth="sick", score=model).tally
        alone = decide.cross_validate_rule(tally, decide.youden, folds=3, seed=2)
        assert output["data"]["folds"][model] == [list(cut.thresholds) for cut in alone.cuts]
        rows = {row["measure"]: row for row in output["rows"] if (row["model"], row["rule"]) == (model, "youden")}
        for name, each in alone.performance.items():
            value = [rows[name][f"crossvalidated{end}"] for end in ("", "_low", "_high")]
            assert value == [each.value, each.low, each.high]
        assert rows["tp"]["crossvalidated"] is None
    plain = run_json(path, *ONE, "--folds", "3", "--no-interval")["rows"]
    assert any(row["crossvalidated"] is not None for row in plain)
    assert all(row["crossvalidated_low"] is None for row in plain)
    assert "folds" not in run_json(path, *ONE)["data"]


def test_folds_combine_with_test_data_and_groups(tmp_path: Path) -> None:
    path, other = write_people(tmp_path), write_test_data(tmp_path)
    output = run_json(path, *ONE, "--folds", "2", "--judge-on", other, "--group", "sex", "--measures", "f1")
    (row,) = (row for row in output["rows"] if row["measure"] == "f1" and row["crossvalidated"] is not None)
    assert (row["set"], row["group"]) == ("choice", None)
    shown = run("decide", path, *ONE, "--folds", "2", "--judge-on", other, "--measures", "f1").stdout
    heads = next(line for line in shown.splitlines() if line.startswith("measures"))
    assert heads.index("optimism-corrected") < heads.index("in 2 folds") < heads.index("on others.csv")
    bare = run("decide", path, *ONE, "--folds", "2", "--n-bootstrap", "0").stderr
    assert "or read the cross-validated values." in bare


def test_failing_folds_are_named(tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("sick,risk\n1,0.9\n1,0.3\n0,0.8\n0,0.2\n0,0.1\n0,0.4\n", encoding="utf-8")
    result = run("decide", path, *ONE, "--require", "precision >= 0.9", "--folds", "6", "--n-bootstrap", "0")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "of 6: no threshold has precision >= 0.9" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("baserate: without fold ")


def test_all_measures_of_decisions(tmp_path: Path) -> None:
    names = {
        row["measure"]
        for row in run_json(write_people(tmp_path), *ONE, "--measures", "all", "--n-bootstrap", "0")["rows"]
    }
    assert {"sensitivity", "lift", "mcc", "expected_cost"} <= names
    assert not names & {"auc", "brier"}


def test_groups_share_the_threshold(tmp_path: Path) -> None:
    rows = run_json(write_people(tmp_path), *ONE, "--group", "sex", "--n-bootstrap", "0")["rows"]
    shared = [row["value"] for row in rows if row["measure"] == "threshold" and row["rule"] == "youden"]
    assert shared == [0.64] * 3
    cells = {
        (row["group"] and row["group"]["sex"], row["measure"]): row["value"]
        for row in rows
        if row["measure"] in {"tp", "fp", "fn", "tn"}
    }
    assert [cells["f", cell] + cells["m", cell] for cell in ("tp", "fp")] == [cells[None, "tp"], cells[None, "fp"]]


def test_each_model_gets_its_threshold(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    both = run_json(path, *ONE, "--score", "old", "--n-bootstrap", "0")["rows"]
    alone = run_json(path, "--truth", "sick", "--score", "old", "--n-bootstrap", "0")["rows"]
    assert [row["value"] for row in both if row["model"] == "old"] == [row["value"] for row in alone]


def test_bands_are_tidy_json(tmp_path: Path) -> None:
    output = run_json(write_people(tmp_path), *ONE, "--band-shares", "20%,30%", "--n-bootstrap", "100")
    shares = {row["action"]: row["value"] for row in output["rows"] if row["measure"] == "share"}
    assert shares == pytest.approx({"low": 0.5, "medium": 0.3, "high": 0.2})
    few = run_json(write_people(tmp_path), *ONE, "--bands", "0.5,0.99", "--n-bootstrap", "0")["rows"]
    (nobody,) = (row for row in few if row["measure"] == "risk" and row["action"] == "high")
    assert (nobody["value"], nobody["why"]) == (None, "no row is in this band")


@pytest.mark.slow
def test_flagging_may_never_be_worth_its_cost(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    shown = run("decide", path, *ONE, "--fp", "1", "--fn", "1", "--abstain-cost", "-1").stdout
    assert "Refer everybody (rule: least cost with FP\xa01, FN\xa01, and -1 for a referred case)." in shown
    shown = run("decide", path, *ONE, "--tp", "5", "--fp", "1", "--fn", "9", "--abstain-cost", "1", "-q").stdout
    assert "Pass risk < 0.22 and refer risk ≥ 0.22" in shown
    assert "Flag nobody (rule: least FPR)." in run("decide", path, *ONE, "--minimize", "fpr", "-q").stdout


def test_test_data_evaluate_the_choice(tmp_path: Path) -> None:
    path, other = write_people(tmp_path), write_test_data(tmp_path)
    result = run("decide", path, *ONE, "--rule", "youden", "--judge-on", other, "--json", "--group", "sex")
    output = read_results(result.stdout)
    assert (
        "note: others.csv had no part in the choice; measures on the rows of the choice are optimistic."
        in result.stderr
    )
    assert "others.csv, 6 rows" in result.stderr
    held = {row["measure"]: row["value"] for row in output["rows"] if row["set"] == "held out" and not row["group"]}
    apparent = {row["measure"]: row["value"] for row in run_json(path, *ONE)["rows"] if row["rule"] == "youden"}
    assert apparent["threshold"] == 0.64
    assert [held[cell] for cell in ("tp", "fp", "fn", "tn")] == [1, 1, 2, 2]
    here = {row["measure"]: row["value"] for row in output["rows"] if row["set"] == "choice" and row["rule"] == "youden"
            and not row["group"]}  # fmt: skip
    assert here == apparent
    assert (output["data"]["held_out"]["rows"], output["data"]["held_out"]["same"]) == (6, [])


@pytest.mark.slow
def test_test_data_must_differ_from_the_rows_of_the_choice(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    for more in ((), ("--prevalence", "0.1")):
        result = run("decide", path, *ONE, "--judge-on", path, *more)
        assert "people.csv contains the rows that the threshold was chosen on, so it is not test data." in result.stderr
    fixed = run("decide", path, *ONE, "--threshold", "0.5", "--judge-on", path)
    assert "note:" not in fixed.stderr


def test_test_data_have_the_same_positive_class(tmp_path: Path) -> None:
    path, other = tmp_path / "here.csv", tmp_path / "there.csv"
    path.write_text("is,p\nill,0.9\nwell,0.2\nill,0.7\nwell,0.4\n", encoding="utf-8")
    other.write_text("is,p\nwell,0.9\nwell,0.2\nill,0.8\n", encoding="utf-8")
    output = run_json(
        path, "--truth", "is", "--score", "p", "--positive", "ill", "--judge-on", other, "--n-bootstrap", "0"
    )
    held = {row["measure"]: row["value"] for row in output["rows"] if row["set"] == "held out"}
    assert [held[cell] for cell in ("tp", "fp", "fn", "tn")] == [1, 1, 0, 1]


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--rule", "yuden"), "Did you mean 'youden'?"),
        (("--rule", "actions"), "'actions' is not one of 'youden'"),
        (("--rule", "cost"), "the rule cost needs costs of errors: --fp 1 --fn 20."),
        (("--rule", "best"), "the rule best needs a measure: --maximize f1, or --minimize fpr."),
        (("--rule", "require"), "the rule require needs a requirement: --require 'specificity >= 0.9'."),
        (("--rule", "capacity"), "the rule capacity needs a capacity: --capacity 100"),
        (("--rule", "bands"), "the rule bands needs edges: --bands 0.1,0.3"),
        (("--band-names", "a,b"), "the rule bands needs edges"),
        (("--rule", "abstain"), "the rule abstain needs the cost of a referral"),
        (("--rule", "fixed"), "the rule fixed needs a threshold: --threshold 0.5."),
        (("--rule", "youden", "--capacity", "3"), "--capacity is for the rule capacity, and the rule is youden"),
        (("--require", "f1 >= 0.1", "--capacity", "3"), "--capacity is for the rule capacity, and the rule is require"),
        (
            ("--rule", "cost", "--fp", "1", "--fn", "2", "--maximize", "f1"),
            "--maximize is for the rule best, normal, kernel, loess, spline, bootstrap-average or require",
        ),
        (("--bands", "0.1", "--fp", "2"), "--fp is for flags, which the rule bands does not set"),
        (("--maximize", "f1", "--minimize", "fpr"), "--maximize and --minimize contradict each other"),
        (("--abstain-cost", "0.1", "--coverage", "80%"), "--abstain-cost and --coverage contradict each other"),
        (("--bands", "0.1", "--band-risks", "0.1"), "contradict each other; give one of them."),
        (("--bands", "0.1", "--band-shares", "0.1"), "--bands and --band-shares contradict each other"),
        (("--maximize", "cost", "--fp", "1", "--fn", "2"), "a cost can only be minimized, at stated costs"),
        (("--minimize", "cost"), "a cost can only be minimized, at stated costs"),
        (("--minimize", "auc"), "auc does not depend on the threshold"),
        (("--maximize", "sensitivvity"), "there is no measure 'sensitivvity'. Did you mean 'sensitivity'"),
        (("--maximize", ""), "there is no measure ''"),
        (("--measures", "sensitivvity"), "there is no measure 'sensitivvity'. Did you mean 'sensitivity'"),
        (("--measures", "auc"), "auc does not depend on the threshold; compute it with `baserate measure`."),
        (("--capacity", "0"), "'0' is not a capacity; give rows, such as 100, or a share, such as 10% or 0.1."),
        (("--capacity", "120%"), "'120%' is not a capacity"),
        (("--capacity", "-3"), "'-3' is not a capacity"),
        (("--capacity", "many"), "'many' is not a capacity"),
        (("--capacity", "inf"), "'inf' is not a capacity"),
        (
            ("--capacity", "3", "--prevalence", "0.1"),
            "a number of rows has no meaning at another prevalence; give a share",
        ),
        (("--prevalence", "2"), "'2' is not a prevalence"),
        (("--coverage", "80%"), "the rule abstain needs costs of errors, too: --fp 1 --fn 20."),
        (("--abstain-cost", "0.1"), "the rule abstain needs costs of errors, too: --fp 1 --fn 20."),
        (("--fn", "20"), "--fn is given without --fp; state what both errors cost, such as --fp 1 --fn 20."),
        (("--tp", "-1"), "--tp is given without --fp and --fn; state what both errors cost"),
        (("--coverage", "1.2"), "'1.2' is not a share of cases to be decided"),
        (("--bands", "0.3,0.1"), "--bands must ascend, each edge once."),
        (("--band-risks", "0.3,0.3"), "--band-risks must ascend, each edge once."),
        (("--band-risks", "2"), "'2' are not shares between 0 and 1"),
        (("--band-shares", "60%,50%"), "the shares add up to 1.1; leave some for the lowest band."),
        (("--bands", "0.1,0.3", "--band-names", "a,b"), "--band-names must be 3 different ones, lowest band first"),
        (("--bands", "0.1", "--band-names", "a,a"), "--band-names must be 2 different ones"),
        (("--bands", "0.1", "--band-names", "a,"), "'a,' has a band without a name; give each one."),
        (("--threshold", "0.1,0.2"), "'0.1,0.2' are 2 thresholds; several make bands: --bands 0.1,0.2"),
        (("--fp", "1,2", "--fn", "1"), "'1,2' are 2 numbers; a cost is one."),
        (("--fp", "inf", "--fn", "1"), "'inf' holds an infinite number; give finite ones."),
        (("--n-bootstrap", "-1"), "-1 is not in the range"),
        (("--folds", "1"), "1 is not in the range"),
        (
            ("--folds", "5", "--threshold", "0.5"),
            "--folds is for a threshold that is chosen, and a fixed threshold does not depend on the data",
        ),
        (
            ("--folds", "5", "--bands", "0.5"),
            "--folds is for a threshold that is chosen, and bands have no confusion matrix",
        ),
        (("--folds", "5", "--capacity", "3"), "a number of rows has no meaning without a fold; give a share"),
        (
            ("--n-bootstrap", "5", "--no-interval"),
            "--n-bootstrap is for intervals; leave out either --n-bootstrap or --no-interval.",
        ),
        (("--interval", "delong"), "--interval delong makes no interval of sensitivity"),
        (("--predicted", "says"), "--predicted has no use in `baserate decide`: labels have no thresholds"),
        (("--cluster", "site"), "--cluster has no use in `baserate decide`"),
        (("--judge-on", "nothing.csv"), "--judge-on: there is no file nothing.csv"),
    ],
)
def test_invalid_options_are_refused(typed: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = run("decide", write_people(tmp_path), *ONE, *typed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_required_options_are_named(tmp_path: Path) -> None:
    for typed, lacking in ((("--truth", "sick"), "--score"), (("--score", "risk"), "--truth")):
        result = run("decide", write_people(tmp_path), *typed)
        assert (result.exit_code, lacking in result.stderr) == (2, True)
    twice = run("decide", "-", *ONE, "--judge-on", "-", given=PEOPLE)
    assert (twice.exit_code, "stdin can be read once" in twice.stderr) == (2, True)


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("specificityy >= 0.9", "there is no measure 'specificityy'. Did you mean 'specificity'", 0),
        ("f1 >= 0.1, prevalence=0.2", "= is not a bound; write >= or <=", 21),
        ("precision >=", "a number is expected here, such as 0.9 or 90%", 12),
        ("precision >= 0.5 f1 >= 1", "a comma is expected here", 17),
    ],
)
def test_syntax_errors_in_requirements_are_marked_before_reading(text: str, message: str, place: int) -> None:
    result = run("decide", "no such file.csv", *ONE, "--require", text)
    first, quoted, caret = result.stderr.splitlines()
    assert result.exit_code == 2
    assert first.startswith("baserate: the requirements cannot be read at character")
    assert message in first
    assert (quoted, caret) == (f"  {text}", f"  {'':{place}}^")


def test_infeasible_requirements_exit_with_1(tmp_path: Path) -> None:
    result = run("decide", write_people(tmp_path), *ONE, "--require", "specificity >= 0.9, sensitivity >= 0.9")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no threshold has specificity >= 0.9 and sensitivity >= 0.9: with sensitivity >= 0.9" in result.stderr
    assert result.stderr.endswith("relax one of them.\n")


def test_unusable_rows_exit_with_3(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("sick,risk\n0,0.2\n0,0.4\n", encoding="utf-8")
    result = run("decide", path, *ONE)
    assert result.exit_code == 3
    assert "Youden's index needs both classes, and there are no positives; give rows of both." in result.stderr
    other = run("decide", write_people(tmp_path), *ONE, "--prevalence", "0.1", "--judge-on", path)
    assert (other.exit_code, other.stdout) == (3, "")


@pytest.mark.slow
def test_installed_program_prints_the_same() -> None:
    result = run_program("decide", "-", *ONE, "--fp", "1", "--fn", "20", "--json", given=PEOPLE)
    assert result.returncode == 0
    assert json.loads(result.stdout)["data"]["policies"]["risk"]["rule"] == "cost"
    assert "stdin · 10 rows" in result.stderr


def test_written_policy_states_its_origin(tmp_path: Path) -> None:
    path, target = write_people(tmp_path), tmp_path / "policy.json"
    typed = (*ONE, "--fp", "1", "--fn", "20", "--prevalence", "2%", "-o", target)
    result = run("decide", path, *typed)
    assert result.exit_code == 0
    cut = Policy.load(target).threshold
    assert f"wrote {target}: Policy(cost; flag ≥ {cut:.6g}); apply it with: baserate apply" in result.stderr
    policy = Policy.load(target)
    there = shift.reweigh(read.tallies(path, truth="sick", score="risk"), prevalence=0.02)
    assert policy.threshold == decide.cost(Curve(there.tally), Costs(fp=1, fn=20)).threshold
    assert policy.columns == {"truth": "sick", "score": "risk"}
    assert (policy.positive, policy.prevalence, policy.chosen_on) == ("1", 0.02, there.tally.digest)
    assert policy.settings == {"costs": Costs(fp=1, fn=20), "prevalence": 0.02}
    piped = run("decide", path, *typed[:-1], "-")
    assert piped.stdout == target.read_text(encoding="utf-8")


@pytest.mark.quick(3)
@pytest.mark.parametrize(
    ("typed", "rule", "settings"),
    [
        (
            ("--require", "f1 >= 30%", "--minimize", "cost", "--fp", "1", "--fn", "5"),
            "require",
            {"require": ("f1 >= 0.3",)},
        ),
        (("--capacity", "10%"), "capacity", {"share": 0.1}),
        (("--threshold", "inf"), "fixed", {"threshold": float("inf")}),
        (("--maximize", "f1"), "best", {"measure": "f1", "toward": "high"}),
        (("--bands", "0.2,0.5", "--band-names", "home,ward,theatre"), "bands", {"thresholds": (0.2, 0.5)}),
        (("--fp", "1", "--fn", "3", "--abstain-cost", "0.2"), "abstain", {"costs": Costs(fn=3), "refer": 0.2}),
    ],
)
def test_every_rule_makes_a_policy(typed: tuple[str, ...], rule: str, settings: dict[str, Any], tmp_path: Path) -> None:
    target = tmp_path / "policy.json"
    assert run("decide", write_people(tmp_path), *ONE, *typed, "--n-bootstrap", "0", "-o", target).exit_code == 0
    policy = Policy.load(target)
    assert policy.rule == rule
    assert settings.items() <= policy.settings.items()
    assert (policy.chosen_on is None) == (rule in {"fixed", "bands"})


def test_thresholds_after_a_calibrator_apply_to_raw_scores(tmp_path: Path) -> None:
    path, kept, target = write_people(tmp_path), tmp_path / "map.json", tmp_path / "policy.json"
    assert run("calibrate", path, *ONE, "--with", "logistic", "--n-simulations", "0", "-o", kept).exit_code == 0
    result = run(
        "decide", path, *ONE, "--calibrator", kept, "--fp", "1", "--fn", "3", "--n-bootstrap", "0", "-o", target
    )
    assert result.exit_code == 0
    assert "calibrated by map.json (logistic)" in result.stdout
    assert "the calibrator was fitted to the same rows" in result.stderr
    policy, map_ = Policy.load(target), load_calibrator(kept)
    assert isinstance(map_, Calibrator)
    assert policy.calibrator is not None
    assert policy.threshold in {float(line.split(",")[1]) for line in PEOPLE.splitlines()[1:]}
    assert f"Flag calibrated risk ≥ {float(map_([policy.threshold])[0])!r}" in result.stdout
    bands = run("decide", path, *ONE, "--calibrator", kept, "--bands", "0.2,0.5", "-q").stdout
    assert "0.2 ≤ calibrated risk < 0.5" in bands
    other = run(
        "decide",
        path,
        *ONE,
        "--calibrator",
        kept,
        "--fp",
        "1",
        "--fn",
        "3",
        "--n-bootstrap",
        "0",
        "--judge-on",
        write_test_data(tmp_path),
    )
    assert other.exit_code == 0


def test_choices_without_a_policy_are_refused(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    for typed, words in (
        ((*ONE, "--score", "old", "-o", tmp_path / "p.json"), "-o is for one model; give one --score"),
        ((*ONE, "-o", "-", "--json"), "-o - writes the policy to stdout"),
        ((*ONE, "-o", tmp_path / "no" / "p.json"), "there is no folder"),
        (("--truth", "sick", "--scores", "p_", "--costs", "c.csv", "-o", tmp_path / "p.json"), "decide.least_cost"),
    ):
        result = run("decide", path, *typed)
        assert (result.exit_code, words in result.stderr) == (2, True), result.stderr
    assert not (tmp_path / "p.json").exists()
    result = run("decide", path, *ONE, "--calibrator", path)
    assert (result.exit_code, "is not a usable calibrator" in result.stderr) == (3, True), result.stderr


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("typed", "name"),
    [
        (("--maximize", "dor"), "diagnostic odds ratio"),
        (("--maximize", "LR+"), "positive likelihood ratio"),
        (("--require", "sensitivity >= 0", "--maximize", "dor"), "diagnostic odds ratio"),
    ],
)
def test_infinite_values_are_never_best_and_noted(typed: tuple[str, ...], name: str, tmp_path: Path) -> None:
    file = tmp_path / "twenty.csv"
    file.write_text("sick,risk\n" + TWENTY, encoding="utf-8")
    note = f"with an infinite {name} were skipped: an infinity never wins a search."
    output = run_json(file, *ONE, *typed, "--n-bootstrap", "50")
    (policy,) = output["data"]["policies"].values()
    assert any(note in each for each in policy["notes"])
    assert any(note in each for each in output["data"]["notes"])
    curve = Curve(read.tallies(file, truth="sick", score="risk").tally)
    assert curve.at(policy["thresholds"][0]).fp > 0
    text = run("decide", file, *ONE, *typed, "--n-bootstrap", "50", "-o", tmp_path / "policy.json")
    assert note in text.stderr + text.stdout
    assert any(note in each for each in Policy.load(tmp_path / "policy.json").notes)


def test_objective_without_finite_values_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "two.csv"
    file.write_text("sick,risk\n1,0.9\n0,0.1\n", encoding="utf-8")
    result = run("decide", file, *ONE, "--maximize", "dor")
    assert result.exit_code == 3
    assert "diagnostic_odds_ratio is infinite at 1 of 3 thresholds and finite at none" in result.stderr


def test_every_option_of_a_rule_is_on_the_command_line() -> None:
    fields = {each.name for each in dataclasses.fields(DecisionOptions)}
    for rule, entry in list_command_line_rules().items():
        for option in entry.options:
            assert option.name in fields, f"the rule {rule} has it: add a field {option.name} to DecisionOptions"
