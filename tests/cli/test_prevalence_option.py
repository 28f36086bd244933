"""`--prevalence` is the prevalence in deployment, and `--policy` a policy that decides, in every command."""

import json
from pathlib import Path
from typing import Any

import pytest

from baserate import calibrate, evaluate, infer, load_calibrator, read, shift
from tests.cli.shell import run, write_people

ONE = ("--truth", "sick", "--score", "risk")
AT = ("--prevalence", "5%")
Row = dict[str, Any]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    return write_people(tmp_path)


def rows_of(*typed: object) -> list[Row]:
    result = run(*typed, "--json")
    assert result.exit_code == 0, result.stderr
    rows: list[Row] = json.loads(result.stdout)["rows"]
    return rows


def numbers(rows: list[Row]) -> dict[str, tuple[Any, ...]]:
    return {f"{row['measure']} of {row['group']}": (row["value"], row["low"], row["high"]) for row in rows}


@pytest.mark.parametrize("more", [(), ("--group", "sex"), ("--threshold", "0.3"), ("--measures", "ppv,npv,auc,brier")])
def test_measure_at_a_prevalence_equals_shift(more: tuple[str, ...], people: Path) -> None:
    measured = numbers(rows_of("measure", people, *ONE, *AT, *more))
    shifted = rows_of("shift", people, *ONE, *AT, *more)
    there = numbers([row for row in shifted if row["where"] == "there" and row["scores"] == "as given"])
    assert measured == there
    sample = numbers([row for row in shifted if row["where"] == "here"])
    assert measured != sample


def test_measure_at_a_prevalence_equals_the_report(people: Path) -> None:
    report = evaluate(people, truth="sick", score="risk", prevalence=0.05, threshold=0.5)
    measured = numbers(rows_of("measure", people, *ONE, *AT))
    there = {row["measure"]: row for row in report.numbers.rows() if row["where"] == "there" and row["low"] is not None}
    compared = [name for name in ("precision", "npv", "accuracy", "sensitivity", "auc") if name in there]
    assert len(compared) > 3
    for name in compared:
        row = there[name]
        assert measured[f"{name} of None"] == pytest.approx((row["value"], row["low"], row["high"]))


def test_measure_of_several_classes_at_their_shares_equals_shift(people: Path) -> None:
    typed = (people, "--truth", "site", "--predicted", "site", "--prevalence", "north=0.5,coast=0.3,hill=0.2")
    there = [row for row in rows_of("shift", *typed) if row["where"] == "there"]
    measured = rows_of("measure", *typed)
    assert [row["value"] for row in measured] == [row["value"] for row in there]
    assert "at north 50%, coast 30%, hill 20% prevalence" in run("measure", *typed).stdout


@pytest.mark.parametrize(
    ("typed", "headline"),
    [
        (("measure", *ONE, *AT), "at 5% prevalence (sample: 40%)"),
        (("groups", *ONE, *AT, "--group", "sex"), "at 5% prevalence (sample: 40%)"),
        (("groups", *ONE, "--group", "sex", "--prevalence", "f=5%,m=2%"), "at f 5%, m 2% prevalence (sample: 40%)"),
        (("curve", "pr", *ONE, *AT), "at 5% prevalence (sample: 40%)"),
        (("reliability", *ONE, *AT, "--n-simulations", "0"), "at 5% prevalence (sample: 40%)"),
        (("reliability", *ONE, *AT, "--curve", "isotonic"), "at 5% prevalence (sample: 40%)"),
        (("benefit", *ONE, *AT), "at 5% prevalence (sample: 40%)"),
        (("decide", *ONE, *AT, "--n-bootstrap", "0"), "at 5% prevalence (sample: 40%)"),
    ],
)
def test_headlines_state_both_prevalences(typed: tuple[str, ...], headline: str, people: Path) -> None:
    command, *rest = typed
    words = rest if command != "curve" else rest[1:]
    first = (command,) if command != "curve" else (command, rest[0])
    result = run(*first, people, *words)
    assert result.exit_code == 0, result.stderr
    assert headline in result.stdout.splitlines()[0]


def test_groups_at_a_prevalence_are_those_of_reweighted_rows(people: Path) -> None:
    rows = rows_of("groups", people, *ONE, "--group", "sex", *AT, "--measures", "precision")
    tallies = shift.reweigh(read.tallies(people, truth="sick", score="risk", group="sex"), prevalence=0.05)
    expected = infer.summary(tallies, measures=["precision"]).rows()
    by_group = {str(row["group"]): row["value"] for row in expected if row["measure"] == "precision"}
    found = {str(row["group"]): row["value"] for row in rows if row["table"] == "group"}
    assert found == pytest.approx(by_group)


def test_precision_recall_curves_follow_the_prevalence(people: Path) -> None:
    at = {row["threshold"]: row["precision"] for row in rows_of("curve", "pr", people, *ONE, *AT)}
    # Three of four positives and two of six negatives are flagged: .05 × 3/4 of .05 × 3/4 + .95 × 2/6.
    assert at[0.64] == pytest.approx(0.0375 / (0.0375 + 0.95 / 3))
    result = run("curve", "roc", people, *ONE, *AT)
    assert result.exit_code == 2
    assert "roc curves are the same at every prevalence; leave out --prevalence." in result.stderr


def test_reliability_adjusts_the_scores_to_the_prevalence(people: Path) -> None:
    rows = rows_of("reliability", people, *ONE, *AT, "--n-simulations", "0")
    briers = {row["calibrated"]: row["value"] for row in rows if row["measure"] == "brier"}
    shifted = rows_of("shift", people, *ONE, *AT, "--measures", "brier")
    there = {row["scores"]: row["value"] for row in shifted if row["where"] == "there" and row["measure"] == "brier"}
    assert briers == pytest.approx({None: there["as given"], "adjusted from 40% to 5% prevalence": there["corrected"]})
    stated = rows_of("reliability", people, *ONE, *AT, "--sample-prevalence", "40%", "--n-simulations", "0")
    assert [row["value"] for row in stated] == pytest.approx([row["value"] for row in rows], nan_ok=True)


def test_scores_that_are_no_probabilities_are_refused_as_such(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("sick,risk\n1,0.3\n0,1.4\n0,-0.5\n1,2\n", encoding="utf-8")
    result = run("reliability", path, *ONE, *AT)
    assert result.exit_code == 3
    assert "3 rows have scores outside [0, 1]" in result.stderr


def test_calibrate_fits_at_the_prevalence(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "calibrator.json"
    result = run("calibrate", people, *ONE, *AT, "--with", "logistic", "--n-simulations", "0", "-o", out)
    assert result.exit_code == 0, result.stderr
    expected = calibrate(people, truth="sick", score="risk", prevalence=0.05)
    assert load_calibrator(out)([0.1, 0.6]).tolist() == expected([0.1, 0.6]).tolist()


@pytest.mark.parametrize("figure", ["gain", "lift", "pr", "reliability", "groups", "thresholds"])
def test_figures_are_drawn_at_the_prevalence(figure: str, people: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    group = ("--group", "sex") if figure == "groups" else ()
    texts = []
    for name, more in {"here": (), "there": AT}.items():
        path = tmp_path / f"{name}.csv"
        result = run("draw", figure, people, *ONE, *group, *more, "-o", path)
        assert result.exit_code == 0, result.stderr
        texts.append(path.read_text(encoding="utf-8"))
    assert texts[0] != texts[1]
    assert "at 5% prevalence (sample: 40%)" in result.stderr


@pytest.fixture
def policy(people: Path, tmp_path: Path) -> Path:
    path = tmp_path / "policy.json"
    typed = (people, *ONE, "--fp", "1", "--fn", "5", "--n-bootstrap", "0", "-o", path)
    assert run("decide", *typed).exit_code == 0
    return path


@pytest.mark.parametrize("more", [(), AT, ("--no-interval",), ("--measures", "ppv,auc")])
def test_measure_of_a_policy_equals_that_of_its_threshold(more: tuple[str, ...], people: Path, policy: Path) -> None:
    by_threshold = rows_of("measure", people, *ONE, "--threshold", "0.22", *more)
    by_policy = rows_of("measure", people, "--policy", policy, *more)
    # Equal up to rounding: the counts of groups are added after they are reweighted.
    expected = numbers(by_threshold)
    assert numbers(by_policy).keys() == expected.keys()
    for name, several in numbers(by_policy).items():
        assert [*several] == [each if each is None else pytest.approx(each, rel=1e-12) for each in expected[name]]
    assert [row["threshold"] for row in by_policy] == [row["threshold"] for row in by_threshold]


def test_measure_of_a_policy_by_group(people: Path, tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    typed = (*ONE, "--group", "sex", "--parity", "equal-opportunity", "--deterministic", "--fp", "1", "--fn", "5")
    assert run("equalize", people, *typed, "-o", path).exit_code == 0
    rows = rows_of("measure", people, "--policy", path, "--measures", "sensitivity,auc")
    groups = rows_of("groups", people, "--policy", path, "--measures", "sensitivity")
    expected = {str(row["group"]): row["value"] for row in groups if row["table"] == "group"}
    found = {str(row["group"]): row["value"] for row in rows if row["measure"] == "sensitivity"}
    assert found == expected
    assert {row["threshold"] for row in rows} == {None}
    assert "flagged by the policy by sex" in run("measure", people, "--policy", path).stdout


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ((*ONE, *AT, "--cluster", "site"), "intervals at another prevalence take rows as independent"),
        ((*ONE, "--prevalence", "a=0.1,b=0.9"), "two classes have one prevalence; give that of the positives"),
        (("--truth", "site", "--predicted", "site", *AT), "--prevalence coast=…,hill=…,north=…"),
        ((*ONE, "--policy", "{policy}", "--threshold", "0.5"), "--policy and --threshold both state the decisions"),
        (("--truth", "sick", "--predicted", "says", "--policy", "{policy}"), "--predicted holds decisions already"),
        ((*ONE, "--policy", "{policy}", "--cluster", "site"), "leave out --cluster or --policy."),
        (("--truth", "site", "--scores", "ri", "--policy", "{policy}"), "--policy is for two classes"),
    ],
)
def test_contradictions_are_refused(typed: tuple[str, ...], message: str, people: Path, policy: Path) -> None:
    result = run("measure", people, *(each.format(policy=policy) for each in typed))
    assert result.exit_code == 2
    assert message in result.stderr


def test_policies_that_refer_cases_are_reported_not_measured(people: Path, tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    typed = (people, *ONE, "--fp", "1", "--fn", "5", "--abstain-cost", "0.3", "--n-bootstrap", "0", "-o", path)
    assert run("decide", *typed).exit_code == 0
    result = run("measure", people, "--policy", path)
    assert result.exit_code == 2
    assert "evaluate it with `baserate report --policy`." in result.stderr


@pytest.mark.parametrize("method", ["identity", "temperature"])
def test_calibrators_without_intercept_follow_no_prevalence(method: str, people: Path) -> None:
    result = run("calibrate", people, *ONE, *AT, "--with", method)
    assert result.exit_code == 2
    assert f"--prevalence has no use for {method}" in result.stderr
