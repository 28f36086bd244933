"""`baserate prevalence` and `baserate expect`: snapshots, JSON, calibrators, and refused options."""

import csv
import json
from collections.abc import Sequence
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

from baserate import read, shift
from baserate.text._tables import display_width
from tests.cli.shell import matches_snapshot, run
from tests.schemas import read_results
from tests.tiers import some, take_in_tiers

SCORED = ("--score", "risk", "--truth", "sick", "--positive", "1")
MANY = ("--scores", "q_", "--validation-scores", "p_", "--truth", "is")
LABELS = ("cat", "dog", "fish")
METHODS = (*shift.METHODS,)


def table(path: Path, columns: dict[str, Sequence[object]]) -> Path:
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def people(seed: int, rows: int, share: float) -> tuple[list[int], list[float]]:
    rng = np.random.default_rng(seed)
    sick = rng.random(rows) < share
    risk = 1 / (1 + np.exp(-rng.normal(np.where(sick, 1.0, -1.0), 1.2)))
    return sick.astype(int).tolist(), risk.round(4).tolist()


def write_validation(folder: Path) -> Path:
    """Rows with a truth: two in five are sick."""
    sick, risk = people(1, 500, 0.4)
    return table(folder / "old.csv", {"sick": sick, "risk": risk, "w": [1 + at % 3 for at in range(500)]})


def write_target(folder: Path) -> Path:
    """Rows of which one in eight is sick, which is known of every fortieth."""
    sick, risk = people(2, 2000, 0.125)
    known = ["" if at % 40 else sick[at] for at in range(2000)]
    return table(folder / "new.csv", {"risk": risk, "known": known, "w": [1 + at % 2 for at in range(2000)]})


def pets(name: str, seed: int, shares: Sequence[float], *, stem: str) -> Path:
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, size=600, p=shares)
    log_odds = rng.normal(size=(600, 3))
    log_odds[np.arange(600), truth] += 1.8
    score = np.exp(log_odds) / np.exp(log_odds).sum(axis=1, keepdims=True)
    columns: dict[str, Sequence[object]] = {f"{stem}{label}": score[:, at] for at, label in enumerate(LABELS)}
    named = [LABELS[at] for at in truth]
    known = [each if at % 30 == 0 else "" for at, each in enumerate(named)]
    return table(Path(name), {"is": named, "known": known, **columns})


@pytest.fixture
def both_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """A target and validation, in the folder where we are."""
    monkeypatch.chdir(tmp_path)
    write_target(tmp_path)
    write_validation(tmp_path)
    return "new.csv", "--validation", "old.csv"


@pytest.fixture
def many_class_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """The same of three classes."""
    monkeypatch.chdir(tmp_path)
    pets("new.csv", 4, (0.6, 0.3, 0.1), stem="q_")
    pets("old.csv", 3, (0.3, 0.4, 0.3), stem="p_")
    return "new.csv", "--validation", "old.csv"


def run_json(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.stderr
    return read_results(result.stdout)


VIEWS: dict[str, tuple[str, ...]] = {
    "prevalence": ("prevalence",),
    "prevalence-80": ("prevalence",),
    "prevalence-narrow": ("prevalence", "--measures", "precision,brier"),
    "prevalence-known": ("prevalence", "--target-truth", "known", "--measures", "precision"),
    "prevalence-acc": ("prevalence", "--method", "cm", "--threshold", "0.3", "--level", "90%", "--measures", "f1"),
    "prevalence-md": ("prevalence", "--format", "md", "--measures", "precision,log_loss"),
    "expect-label-80": ("expect", "--assume", "label-shift"),
    "expect-covariate": ("expect", "--assume", "covariate-shift", "--threshold", "0.2,0.5", "--measures", "f1,auc"),
}


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", VIEWS)
def test_snapshot_of_terminal_output(name: str, both_files: tuple[str, ...]) -> None:
    verb, *typed = VIEWS[name]
    width = 60 if name.endswith("narrow") else 80 if name.endswith("80") else 100
    result = run(verb, *both_files, *SCORED, *typed, "-q", env={"COLUMNS": str(width)})
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    assert matches_snapshot(result.stdout, name)
    if not name.endswith("md"):
        assert max(map(display_width, result.stdout.splitlines())) <= width


@pytest.mark.parametrize("width", [60, 80])
def test_snapshot_of_several_classes(width: int, many_class_files: tuple[str, ...]) -> None:
    result = run("prevalence", *many_class_files, *MANY, "-q", env={"COLUMNS": str(width)})
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, f"prevalence-classes-{width}")
    assert max(map(display_width, result.stdout.splitlines())) <= width


@pytest.mark.parametrize("verb", ["prevalence", "expect"])
def test_snapshot_of_help(verb: str) -> None:
    assert matches_snapshot(run(verb, "--help").stdout, f"help-{verb}")


def test_help_names_the_list_of_every_method() -> None:
    assert "`baserate list estimators` lists them" in " ".join(run("prevalence", "--help").stdout.split())
    rows = json.loads(run("list", "estimators", "--json").stdout)["rows"]
    names = {name for row in rows for name in (row["name"], *filter(None, row["also"].split(", ")))}
    assert names == {*shift.METHODS, *shift.ALIASES}


def test_order_of_rows(both_files: tuple[str, ...]) -> None:
    results = run_json(run("prevalence", *both_files, *SCORED, "--json"))
    rows = results["rows"]
    first = rows[0]
    assert first["measure"] == "prevalence"
    assert 0.05 < first["low"] < first["value"] < first["high"] < 0.25
    assert (first["level"], first["set"]) == (0.95, "target")
    assert [row["measure"] for row in rows[1:3]] == ["goodness_of_fit_test", "binned_less_pacc_test"]
    assert all(0 < row["p"] <= row["p_adjusted"] <= 1 for row in rows[1:3])
    there = [row for row in rows[3:] if row["set"] == "target"]
    assert {row["prevalence"] for row in there} == {first["value"]}
    assert [row["measure"] for row in there if row["scores"] == "corrected"] == ["brier", "brier_skill", "log_loss"]
    observed = [row for row in rows[3:] if row["set"] == "validation"]
    assert {row["prevalence"] for row in observed} == {results["data"]["validation"]["prevalence"]}
    data = results["data"]
    assert (data["method"], data["assume"], data["rows"], data["labelled"]) == ("binned", "label shift", 2000, 0)
    assert (data["prevalence"], data["validation"]["rows"]) == (first["value"], 500)


def test_json_equals_the_results_of_the_library(both_files: tuple[str, ...]) -> None:
    rows = run_json(run("prevalence", *both_files, *SCORED, "--threshold", "0.3", "--json"))["rows"]
    validation = read.tallies("old.csv", truth="sick", score="risk")
    target = read.target("new.csv", score="risk")
    expected = shift.estimate_prevalence(target, validation)
    assert rows[0]["value"] == expected.value
    theirs = {(row["measure"], row["scores"]): row for row in shift.adjusted_summary(expected, threshold=0.3).rows()}
    ours = {(row["measure"], row["scores"]): row for row in rows[3:] if row["set"] == "target"}
    assert {key: row["low"] for key, row in ours.items()} == {key: row["low"] for key, row in theirs.items()}


@pytest.mark.quick(2)
@pytest.mark.parametrize("method", take_in_tiers([name for name in METHODS if name != "gmm"], some(METHODS, 3)))
def test_every_method_estimates_the_prevalence(method: str, both_files: tuple[str, ...]) -> None:
    results = run_json(run("prevalence", *both_files, *SCORED, "--method", method, "--measures", "precision", "--json"))
    assert results["data"]["method"] == method
    assert results["rows"][0]["value"] == pytest.approx(0.125, abs=0.08)
    assert run("prevalence", *both_files, *SCORED, "--method", method, "--measures", "precision").exit_code == 0


@pytest.mark.slow
def test_options_of_other_methods_are_refused(both_files: tuple[str, ...]) -> None:
    @cache
    def value(*typed: str) -> float:
        rows = run_json(run("prevalence", *both_files, *SCORED, *typed, "--measures", "auc", "--json"))["rows"]
        return float(rows[0]["value"])

    assert value("--method", "binned") == value()
    assert value("--method", "EM") == value("--method", "mlls") != value()
    as_they_are = ("--method", "mlls", "--no-recalibration")
    assert value(*as_they_are) != value("--method", "mlls")
    assert value(*as_they_are, "--sample-prevalence", "10%") > value(*as_they_are, "--sample-prevalence", "0.4")
    assert value("--method", "acc", "--threshold", "0.2") != value("--method", "acc")
    assert value("--method", "cm-map", "--alpha", "50") > value("--method", "cm-map")
    assert value("--method", "binned", "--bins", "4") != value("--method", "binned")
    assert value("--weight", "w") != value()
    assert value("--validation-weight", "w") != value() != value("--validation-count", "w")


def test_partly_labelled_target(both_files: tuple[str, ...]) -> None:
    plain = run_json(run("prevalence", *both_files, *SCORED, "--json"))["rows"][0]
    result = run("prevalence", *both_files, *SCORED, "--target-truth", "known", "--json")
    results = run_json(result)
    assert (results["data"]["rows"], results["data"]["labelled"]) == (1950, 50)
    assert results["rows"][0]["high"] - results["rows"][0]["low"] < plain["high"] - plain["low"]
    assert result.stderr.startswith("new.csv · 2,000 rows · 50 labelled · validation: old.csv · 500 rows")


def test_target_has_the_labels_of_the_validation_data(tmp_path: Path) -> None:
    sick, risk = people(1, 300, 0.4)
    validation = table(tmp_path / "old.csv", {"y": ["ill" if each else "well" for each in sick], "p": risk})
    target = table(tmp_path / "new.csv", {"q": risk, "y": ["well" if at == 7 else "" for at in range(300)]})
    typed = ("--score", "q", "--validation", validation, "--truth", "y", "--validation-score", "p")
    results = run_json(run("prevalence", target, *typed, "--positive", "ill", "--target-truth", "y", "--json"))
    assert (results["data"]["positive"], results["data"]["negative"]) == ("ill", "well")
    assert results["data"]["labelled"] == 1


def test_notes_state_the_tests(both_files: tuple[str, ...]) -> None:
    output = run("prevalence", *both_files, *SCORED).stderr
    assert "note: The unlabelled scores could be a mixture of the classes" in output
    assert "note: Not tested, since scores alone cannot show it" in output
    assert "positive = " not in output
    inferred = run("prevalence", *both_files, "--score", "risk", "--truth", "sick").stderr
    assert inferred.startswith("positive = 1, inferred; name it with --positive.\n")
    run("prevalence", *both_files, *SCORED, "-o", "kept.md", "-q")
    assert "note: Not tested, since" in Path("kept.md").read_text(encoding="utf-8")


def simulate_unequal_spread(seed: int, rows: int, share: float) -> tuple[list[int], list[float]]:
    """Sick people whose log-odds vary twice as much as those of the others: no logistic calibration fits."""
    rng = np.random.default_rng(seed)
    sick = rng.random(rows) < share
    risk = 1 / (1 + np.exp(1 - rng.normal(1.5 * sick, 1.0 + sick)))
    return sick.astype(int).tolist(), risk.round(5).tolist()


def test_headline_states_misfit_and_disagreement(both_files: tuple[str, ...]) -> None:
    sick, risk = simulate_unequal_spread(5, 2000, 0.4)
    table(Path("old.csv"), {"sick": sick, "risk": risk})
    table(Path("new.csv"), {"risk": simulate_unequal_spread(6, 5000, 0.1)[1]})
    result = run("prevalence", *both_files, *SCORED, "--method", "mlls", "--measures", "auc", env={"COLUMNS": "250"})
    first = result.stdout.splitlines()[0]
    assert "doubtful: calibration does not fit (p < 0.0001); estimates disagree: binned gives 0." in first
    assert "do not fit the validation data" in result.stdout
    assert "Estimates by likelihood and by the mean agree" not in result.stdout
    assert "note: By binned, which needs no calibration, the prevalence is 0." in result.stderr
    usual = run("prevalence", *both_files, *SCORED, "--measures", "auc", env={"COLUMNS": "250"})
    assert "doubtful" not in usual.stdout
    assert "Holm-adjusted p" in usual.stdout


def test_headline_states_rejected_label_shift(both_files: tuple[str, ...]) -> None:
    _, risk = people(2, 4000, 0.125)
    table(Path("new.csv"), {"risk": [min(1.3 * each, 1.0) if at % 2 else each for at, each in enumerate(risk)]})
    result = run("prevalence", *both_files, *SCORED, "--measures", "auc", env={"COLUMNS": "250"})
    assert "doubtful: no mixture of the classes (Holm-adjusted p" in result.stdout.splitlines()[0]
    expected = run("expect", *both_files, *SCORED, "--assume", "label-shift", env={"COLUMNS": "250"})
    assert "doubtful: no mixture of the classes" in expected.stdout.splitlines()[0]


def test_calibrator_can_be_applied(both_files: tuple[str, ...]) -> None:
    for typed, near in (((), 0.02), (("--method", "mlls"), 1e-6)):
        result = run("prevalence", *both_files, *SCORED, *typed, "--calibrator", "there.json", "--json")
        assert "wrote there.json" in result.stderr
        assert run("apply", "there.json", "new.csv", "-o", "out.csv").exit_code == 0
        rows = list(csv.DictReader(StringIO(Path("out.csv").read_text(encoding="utf-8"))))
        mean = np.mean([float(row["risk_calibrated"]) for row in rows])
        assert mean == pytest.approx(json.loads(result.stdout)["data"]["prevalence"], abs=near)


def test_multiclass_calibrator_can_be_applied(many_class_files: tuple[str, ...]) -> None:
    result = run("prevalence", *many_class_files, *MANY, "--method", "mlls", "--calibrator", "there.json", "--json")
    assert run("apply", "there.json", "new.csv", "-o", "out.csv").exit_code == 0
    rows = list(csv.DictReader(StringIO(Path("out.csv").read_text(encoding="utf-8"))))
    shares = run_json(result)["data"]["prevalences"]
    for label in LABELS:
        mean = np.mean([float(row[f"q_{label}_calibrated"]) for row in rows])
        assert mean == pytest.approx(shares[label], abs=1e-4)


def test_each_class_has_a_row(many_class_files: tuple[str, ...]) -> None:
    results = run_json(run("prevalence", *many_class_files, *MANY, "--json"))
    first = [row for row in results["rows"] if row["measure"] == "prevalence"]
    assert [row["class"] for row in first] == list(LABELS)
    assert sum(row["value"] for row in first) == pytest.approx(1)
    assert all(row["low"] < row["value"] < row["high"] for row in first)
    assert results["rows"][3]["measure"] == "overidentification_test"
    assert {row["set"] for row in results["rows"][4:]} == {"target", "validation"}


@pytest.mark.parametrize("assume", ["label-shift", "covariate-shift"])
def test_expected_measures_of_several_classes(many_class_files: tuple[str, ...], assume: str) -> None:
    typed = ("expect", *many_class_files, *MANY, "--assume", assume, "--measures", "accuracy,precision")
    results = run_json(run(*typed, "--json"))
    assert results["data"]["assume"] == assume.replace("-", " ")
    assert sum(row["value"] for row in results["rows"] if row["measure"] == "cell") == pytest.approx(600)
    assert all(row["low"] <= row["value"] <= row["high"] for row in results["rows"] if row["measure"] != "cell")
    shown = run(*typed)
    assert shown.exit_code == 0
    assert shown.stdout.startswith(f"expected under {assume.replace('-', ' ')} · ")
    if assume == "label-shift":
        taken = ("--no-recalibration", "--sample-prevalence", "cat=0.3,dog=0.4,fish=0.3", "--json")
        assert run_json(run(*typed, *taken))["rows"][0]["value"] != results["rows"][0]["value"]
    alone = run("expect", many_class_files[0], "--scores", "q_", "--assume", "covariate-shift", "--json")
    assert run_json(alone)["data"]["validation"] is None


def test_classes_in_any_order_and_partly_labelled(many_class_files: tuple[str, ...]) -> None:
    named = ("--scores", "fish=q_fish,cat=q_cat,dog=q_dog", *MANY[2:], "--measures", "accuracy", "--json")
    plain = run_json(run("prevalence", *many_class_files, *MANY, "--measures", "accuracy", "--json"))
    again = run_json(run("prevalence", *many_class_files, *named))
    assert again["rows"][0]["value"] == pytest.approx(plain["rows"][0]["value"])
    known = run_json(run("prevalence", *many_class_files, *named, "--target-truth", "known"))
    assert (known["data"]["rows"], known["data"]["labelled"]) == (580, 20)
    taken = run(
        "prevalence", *many_class_files, *named, "--no-recalibration", "--sample-prevalence", "cat=0.3,dog=0.4,fish=0.3"
    )
    assert run_json(taken)["rows"][0]["value"] != plain["rows"][0]["value"]


def test_scores_of_another_scale_are_noted(both_files: tuple[str, ...]) -> None:
    _, risk = people(2, 400, 0.125)
    table(Path("percent.csv"), {"risk": [100 * each for each in risk]})
    result = run("prevalence", "percent.csv", *both_files[1:], *SCORED)
    assert result.exit_code == 0
    assert "they may be on different scales" in result.stderr


def test_arbitrary_scores_are_accepted_and_noted(both_files: tuple[str, ...]) -> None:
    for name, columns in (("old.csv", ("sick", "risk")), ("new.csv", ("risk",))):
        rows = list(csv.DictReader(StringIO(Path(name).read_text(encoding="utf-8"))))
        table(Path(name), {each: [float(row[each]) * (9 if each == "risk" else 1) for row in rows] for each in columns})
    typed = (*both_files, "--score", "risk", "--truth", "sick", "--positive", "1.0")
    for verb in (("prevalence",), ("expect", "--assume", "label-shift")):
        result = run(*verb, *typed)
        assert result.exit_code == 0, result.stderr
        assert "note: risk runs from " in result.stderr
        assert "AUC" in result.stdout
    run_json(run("prevalence", *typed, "--threshold", "2,4.5", "--json"))


@pytest.mark.quick(1)
@pytest.mark.parametrize("verb", [("prevalence",), ("expect", "--assume", "covariate-shift")])
def test_all_measures_on_request(verb: tuple[str, ...], both_files: tuple[str, ...]) -> None:
    run_json(run(*verb, *both_files, *SCORED, "--measures", "all", "--json"))
    shown = run(*verb, *both_files, *SCORED, "--measures", "all", env={"COLUMNS": "80"})
    assert max(map(display_width, shown.stdout.splitlines())) <= 80


def test_missing_scores_are_refused_or_dropped(both_files: tuple[str, ...]) -> None:
    _, risk = people(2, 400, 0.125)
    table(Path("holes.csv"), {"risk": ["nan", *risk, ""], "w": [1] * 402})
    typed = ("prevalence", "holes.csv", *both_files[1:], *SCORED)
    result = run(*typed)
    assert result.exit_code == 3
    output = "baserate: target: 2 of 402 rows cannot be used (risk: 1 missing, 1 NaN)."
    assert result.stderr.startswith(output)
    assert "--missing drop" in result.stderr
    dropped = run(*typed, "--missing", "drop")
    assert dropped.stdout.startswith("holes.csv · 400 of 402 rows (2 dropped: risk: 1 missing, 1 NaN) · validation:")


@pytest.mark.parametrize("typed", take_in_tiers([("prevalence",), ("expect", "--assume", "label-shift")]))
def test_target_is_read_from_stdin(typed: tuple[str, ...], both_files: tuple[str, ...]) -> None:
    verb, *more = typed
    given = Path("new.csv").read_text(encoding="utf-8")
    piped = run(verb, "-", *both_files[1:], *SCORED, *more, "--format", "csv", given=given)
    assert piped.exit_code == 0, piped.stderr
    assert piped.stdout == run(verb, *both_files, *SCORED, *more, "--format", "csv").stdout
    assert "stdin · 2,000 rows" in piped.stderr


def test_csv_has_all_columns(both_files: tuple[str, ...]) -> None:
    rows = list(csv.DictReader(StringIO(run("prevalence", *both_files, *SCORED, "--format", "csv").stdout)))
    assert {"measure", "value", "low", "high", "p", "freedom", "prevalence", "scores", "set"} <= rows[0].keys()


@pytest.mark.parametrize("assume", ["label shift", "covariate shift"])
def test_assumption_is_stated(assume: str, both_files: tuple[str, ...]) -> None:
    typed = (*both_files, *SCORED, "--assume", assume.replace(" ", "-"))
    result = run("expect", *typed, "--json")
    results = run_json(result)
    assert results["data"]["assume"] == assume
    assert f"note: Assumed: {assume}." in result.stderr
    assert run("expect", *typed).stdout.startswith(f"expected under {assume} · new.csv")
    validation = read.tallies("old.csv", truth="sick", score="risk")
    expected = shift.estimate_performance(read.target("new.csv", score="risk"), validation, assume=assume)  # type: ignore[call-overload]
    assert [row["value"] for row in results["rows"]] == [row["value"] for row in expected.rows()]


def test_probabilities_count_as_calibrated_without_validation(both_files: tuple[str, ...]) -> None:
    result = run("expect", both_files[0], "--score", "risk", "--assume", "covariate-shift", "--json")
    data = run_json(result)["data"]
    assert data["validation"] is data["positive"] is data["estimate"] is None
    assert data["prevalence"] == pytest.approx(np.mean(people(2, 2000, 0.125)[1]))
    shown = run("expect", both_files[0], "--score", "risk", "--assume", "covariate-shift").stdout
    assert "\n  positive  " in shown
    known = run("expect", both_files[0], "--score", "risk", "--assume", "covariate-shift", "--target-truth", "known")
    assert "note: 50 rows of the target have labels and were left out." in known.stderr


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("1,0.3\n0,0.3\n1,0.3\n0,0.3\n", "all validation scores are equal"),
        ("1,0.3\n1,0.4\n", "the validation data have no negative rows"),
        ("1,0.3\n1,0.4\n0,0.3\n0,0.5\n0,0.2\n1,0.33\n", "(Fieller's set is unbounded)"),
        ("1,0.3\n0,\n0,0.1\n", "validation: 1 of 3 rows cannot be used (risk: 1 missing)."),
    ],
)
def test_uninformative_validation_exits_with_3(rows: str, message: str, both_files: tuple[str, ...]) -> None:
    Path("bad.csv").write_text("sick,risk\n" + rows, encoding="utf-8")
    for verb in (("prevalence",), ("expect", "--assume", "label-shift")):
        result = run(*verb, both_files[0], "--validation", "bad.csv", *SCORED)
        assert result.exit_code == 3, result.stderr
        assert message in result.stderr


def test_unusable_targets_exit_with_3(both_files: tuple[str, ...]) -> None:
    table(Path("known.csv"), {"risk": [0.1, 0.9], "known": [0, 1]})
    all_known = run("prevalence", "known.csv", *both_files[1:], *SCORED, "--target-truth", "known")
    assert all_known.exit_code == 3
    assert "evaluate them with `baserate measure`, or leave --target-truth out" in all_known.stderr
    table(Path("percent.csv"), {"risk": [10, 90]})
    unsure = run("expect", "percent.csv", "--score", "risk", "--assume", "covariate-shift")
    assert unsure.exit_code == 3
    assert "give labelled data to recalibrate them on, with --validation." in unsure.stderr
    table(Path("low.csv"), {"risk": [0.02] * 500})
    none = run("prevalence", "low.csv", *both_files[1:], *SCORED, "--calibrator", "there.json")
    assert none.exit_code == 3
    assert "a class has an estimated share of 0" in none.stderr
    assert not Path("there.json").exists()
    assert run("prevalence", "low.csv", *both_files[1:], *SCORED).exit_code == 0


OLD = ("--validation", "old.csv")
ONE = ("new.csv", "--score", "risk")


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("prevalence", *ONE), "missing option '--validation'."),
        (("prevalence", *ONE, *OLD), "missing option '--truth'."),
        (("prevalence", "new.csv", *OLD, "--truth", "sick"), "name the columns of scores with one of them."),
        (("prevalence", *ONE, "--scores", "q_", *OLD), "--scores for several; leave out one of them."),
        (("prevalence", *ONE, "--truth", "sick"), "--truth is for labelled data; name their file"),
        (("prevalence", "-", "--score", "risk", "--validation", "-", "--truth", "sick"), "stdin can be read once"),
        (("prevalence", *ONE, *OLD, "--truth", "sick", "--labels", "a,b"), "--labels is for several classes"),
        (("prevalence", *ONE, *OLD, "--truth", "sick", "--validation-scores", "p_"), "is for several classes"),
        (("prevalence", "new.csv", *OLD, *MANY, "--positive", "cat"), "since none of several is positive."),
        (("prevalence", "new.csv", *OLD, *MANY, "--validation-score", "p"), "of several, give --validation-scores."),
        (("prevalence", "new.csv", *OLD, *MANY, "--threshold", "0.5"), "--threshold has no use for gmm of several"),
        (("prevalence", "new.csv", *OLD, *MANY, "--bins", "5"), "--bins has no use for gmm of several classes"),
        (("prevalence", "new.csv", *OLD, *MANY, "--method", "hdy"), "so it is for two classes"),
        (("prevalence", *ONE, *OLD, *SCORED, "--method", "gmm"), "gmm is for several classes; for two, use one of"),
        (
            ("prevalence", *ONE, *OLD, *SCORED, "--method", "magic"),
            "there is no method 'magic'. Known are: binned, mlls,",
        ),
        (("prevalence", *ONE, *OLD, *SCORED, "--alpha", "3"), "--alpha has no use for binned; leave it out."),
        (("prevalence", *ONE, *OLD, *SCORED, "--method", "pacc", "--no-recalibration"), "--no-recalibration has no"),
        (
            ("prevalence", *ONE, *OLD, *SCORED, "--sample-prevalence", "0.3"),
            "--sample-prevalence is for probabilities without recalibration",
        ),
        (("prevalence", *ONE, *OLD, *SCORED, "--no-recalibration"), "for binned; add --method mlls, or leave it out."),
        (
            ("prevalence", *ONE, *OLD, *SCORED, "--no-recalibration", "--sample-prevalence", "2"),
            "'2' is not a prevalence",
        ),
        (("prevalence", *ONE, *OLD, *SCORED, "--method", "acc", "--threshold", "0.1,0.2"), "at one threshold; give"),
        (("prevalence", *ONE, *OLD, *SCORED, "--measures", "precisoin"), "precision"),
        (("prevalence", *ONE, *OLD, *SCORED, "--calibrator", "-"), "--calibrator writes a file beside the numbers"),
        (("prevalence", *ONE, *OLD, *SCORED, "--calibrator", "no/there.json"), "name another file with --calibrator."),
        (("prevalence", *ONE, *OLD, *SCORED, "--validation-score", "ris"), "validation: there is no column 'ris'."),
        (("prevalence", "new.csv", *OLD, *SCORED[2:], "--score", "w2"), "give it with --validation-score."),
        (("prevalence", *ONE, *OLD, *SCORED, "--target-truth", "knwn"), "target: there is no column 'knwn'."),
        (("prevalence", "no.csv", *OLD, *SCORED), "target: there is no file no.csv."),
        (("expect", *ONE, *OLD, *SCORED), "missing option '--assume'."),
        (("expect", *ONE, "--assume", "label-shift"), "give labelled --validation."),
        (("expect", *ONE, "--assume", "covariate-shift", "--no-recalibration"), "without it nothing is recalibrated"),
        (("expect", *ONE, "--assume", "covariate-shift", "--positive", "1"), "--positive is for labelled data"),
        (
            ("expect", *ONE, *OLD, *SCORED, "--assume", "covariate-shift", "--sample-prevalence", "0.3"),
            "--assume label-shift and",
        ),
        (
            ("expect", "new.csv", *OLD, *MANY, "--assume", "label-shift", "--threshold", "0.2"),
            "of several the highest score decides",
        ),
    ],
)
@pytest.mark.usefixtures("both_files")
def test_invalid_options_are_refused(typed: tuple[str, ...], message: str) -> None:
    result = run(*typed)
    assert result.exit_code == 2, result.stderr
    assert message in result.stderr
    assert result.stdout == ""


def test_output_goes_to_a_file(both_files: tuple[str, ...]) -> None:
    result = run("prevalence", *both_files, *SCORED, "-o", "out.json")
    assert result.stdout == ""
    assert read_results(Path("out.json").read_text(encoding="utf-8"))["rows"][0]["measure"] == "prevalence"
    assert result.stderr.startswith("new.csv · 2,000 rows · validation: old.csv · 500 rows · positive: sick = 1 ·")
