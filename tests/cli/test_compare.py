"""`baserate compare`: snapshots, JSON, and refused options."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

import baserate
from baserate.text._tables import display_width
from tests.cli.shell import matches_snapshot, run, write_people
from tests.schemas import read_results

TWO = ("--truth", "sick", "--score", "risk", "--score", "old")

SIMULATED = ("expected_cost", "net_benefit", "precision", "npv")
"""Measures whose intervals come from simulated tables."""

VIEWS: dict[str, tuple[str, ...]] = {
    "compare": TWO,
    "compare-deployment": (*TWO, "--prevalence", "5%", "--fp", "1", "--fn", "5"),
    "compare-narrow": (*TWO, "--measures", "auc,accuracy"),
    "compare-many": (*TWO, "--predicted", "says", "--measures", "auc,accuracy,f1,brier"),
    "compare-groups": (*TWO, "--measures", "auc", "--group", "site"),
    "compare-margin": (*TWO, "--measures", "auc,brier", "--alternative", "better", "--margin", "0.1", "--weight", "w"),
    "compare-cluster": (*TWO, "--measures", "auc,sensitivity", "--cluster", "site", "--threshold", "0.6,0.5"),
    "compare-md": (*TWO, "--measures", "sensitivity", "--method", "mcnemar-exact", "--format", "md"),
}


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", VIEWS)
def test_snapshot_of_terminal_output(name: str, tmp_path: Path) -> None:
    width = "60" if name.endswith("narrow") else "100"
    result = run("compare", *VIEWS[name], write_people(tmp_path), "--positive", "1", "-q", env={"COLUMNS": width})
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, name)
    if not name.endswith("md"):
        assert max(map(display_width, result.stdout.splitlines())) <= int(width)


def test_snapshot_of_help() -> None:
    assert matches_snapshot(run("compare", "--help").stdout, "help-compare")


def rows_of(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.stderr
    actual = read_results(result.stdout)["rows"]
    assert isinstance(actual, list)
    return actual


def write_two_files(folder: Path) -> tuple[Path, Path]:
    """The two scores of the file of predictions in two files, the second in another order."""
    lines = write_people(folder).read_text(encoding="utf-8").splitlines()[1:]
    new, old = folder / "new.csv", folder / "old.csv"
    cells = [line.split(",") for line in lines]
    new.write_text("who,sick,p\n" + "".join(f"p{at},{c[0]},{c[1]}\n" for at, c in enumerate(cells)), encoding="utf-8")
    turned = list(enumerate(cells))[::-1]
    old.write_text("who,sick,p\n" + "".join(f"p{at},{c[0]},{c[2]}\n" for at, c in turned), encoding="utf-8")
    return new, old


def test_json_has_tidy_rows(tmp_path: Path) -> None:
    (row,) = rows_of(run("compare", write_people(tmp_path), *TWO, "--measures", "auc", "--json"))
    assert (row["measure"], row["model"], row["other"]) == ("auc", "risk", "old")
    assert row["difference"] == row["value"] - row["other_value"]
    assert row["low"] < row["difference"] < row["high"]
    assert 0 < row["p"] == row["p_adjusted"] <= 1
    assert row["p_is_bound"] is False
    assert row["how"] == row["test"] == "DeLong, paired"


@pytest.mark.quick(3)
@pytest.mark.parametrize("name", [name for name in VIEWS if not name.endswith("md")])
def test_json_fits_the_schema(name: str, tmp_path: Path) -> None:
    result = rows_of(run("compare", write_people(tmp_path), *VIEWS[name], "--json", "-q"))
    assert {"measure", "other", "difference", "p_adjusted", "p_is_bound"} <= result[0].keys()


def test_undefined_results_fit_the_schema(tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("sick,risk,old\n1,0.9,0.3\n1,0.4,0.6\n", encoding="utf-8")
    (row,) = rows_of(run("compare", path, *TWO, "--positive", "1", "--measures", "auc", "--json", "-q"))
    assert row["difference"] is None
    assert row["why"] == "there are no negatives"


def test_repeated_measures_are_compared_once(tmp_path: Path) -> None:
    result = rows_of(
        run("compare", write_people(tmp_path), *TWO, "--measures", "recall,sensitivity,auc", "--json", "-q")
    )
    assert [row["measure"] for row in result] == ["sensitivity", "auc"]


def test_seed_determines_the_results(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    first, again, other = (
        rows_of(run("compare", path, *TWO, "--measures", "f1", "--seed", seed, "--json"))[0]["low"]
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_level_may_be_a_share_or_a_percentage(tmp_path: Path) -> None:
    share, hundredths = (
        rows_of(run("compare", write_people(tmp_path), *TWO, "--measures", "auc", "--level", at, "--json"))
        for at in ("0.9", "90%")
    )
    assert share == hundredths
    assert (
        "p and 99.99999% interval: DeLong"
        in run("compare", write_people(tmp_path), *TWO, "--measures", "auc", "--level", "0.9999999", "--explain").stdout
    )


def test_joined_files_equal_one_file_with_two_scores(tmp_path: Path) -> None:
    new, old = write_two_files(tmp_path)
    costs = ("--fp", "1", "--fn", "5", "--json")
    joined = rows_of(run("compare", new, old, "--id", "who", "--truth", "sick", "--score", "p", *costs))
    together = rows_of(run("compare", write_people(tmp_path), *TWO, *costs))
    assert {(row["model"], row["other"]) for row in joined} == {("new", "old")}
    for one, other in zip(joined, together, strict=True):
        if one["measure"] not in SIMULATED:  # the order of models is that of their names
            for name in ("value", "other_value", "difference", "low", "high", "p"):
                assert one[name] == pytest.approx(other[name], rel=1e-9), one["measure"]


def test_files_that_cannot_be_joined_are_refused(tmp_path: Path) -> None:
    new, old = write_two_files(tmp_path)
    text = old.read_text(encoding="utf-8")
    old.write_text(text.replace("p3,1", "p3,0"), encoding="utf-8")
    query = ("compare", new, old, "--id", "who", "--truth", "sick", "--score", "p")
    result = run(*query)
    assert result.exit_code == 3
    assert "truth of new and old differs in 1 of 10 rows (id 'p3')" in result.stderr
    old.write_text("\n".join(text.splitlines()[:-2]), encoding="utf-8")
    result = run(*query)
    assert result.exit_code == 3
    assert "some ids are not in all tables (2 of new)" in result.stderr
    assert "--missing drop" in result.stderr
    result = run(*query, "--missing", "drop")
    assert result.exit_code == 0
    assert "8 of 10 rows" in result.stdout


@pytest.mark.parametrize(
    ("typed", "code", "message"),
    [
        (("--truth", "sick", "--score", "risk"), 2, "a comparison needs two models: repeat --score, or join two"),
        ((*TWO, "--measures", "auc", "--margin", "0.1"), 2, "give, for example, --alternative better"),
        ((*TWO, "--margin", "0.1"), 2, "Name the measure, for example --measures auc"),
        ((*TWO, "--fp", "1"), 2, "costs have no fn. Give both"),
        ((*TWO, "--measures", "auc,net_benefit"), 2, "with your costs; or --net-benefit-at 0.1."),
        ((*TWO, "--measures", "auc", "--fp", "1", "--fn", "5"), 2, "costs have no use: no decision enters auc"),
        ((*TWO, "--net-benefit-at", "0.1"), 2, "--net-benefit-at is for measures that are named"),
        ((*TWO, "--measures", "auc", "--beta", "2"), 2, "none of the measures depends on --beta"),
        ((*TWO, "--prevalence", "2"), 2, "expected a prevalence"),
        ((*TWO, "--measures", "f1", "--method", "delong"), 2, "use --method resample"),
        ((*TWO, "--measures", "accuracy", "--weight", "w", "--method", "mcnemar"), 2, "these have weights"),
        ((*TWO, "--measures", "auc,ks", "--method", "venkatraman"), 2, "whole ROC curves, not ks"),
        ((*TWO, "--method", "venkatraman"), 2, "or give --measures auc"),
        ((*TWO, "--measures", "auc", "--weight", "w", "--method", "venkatraman"), 2, "use --method delong"),
        ((*TWO, "--measures", "sensitivity_at_specificity"), 2, "needs a specificity. Give --at-specificity 0.9"),
        ((*TWO, "--measures", "auc", "--at-precision", "0.9"), 2, "none of the measures depends on --at-precision"),
        ((*TWO, "--measures", "acurracyy"), 2, "Did you mean 'accuracy'"),
        ((*TWO, "--measures", "f1", "--threshold", "0.1,0.2,0.3"), 2, "there are 3 thresholds for 2 scores"),
        ((*TWO, "--id", "site"), 2, "--id joins several files, and this is one"),
        (
            (*TWO, "--level", "95"),
            2,
            "'95' is not a confidence level; expected a confidence level",
        ),
        (
            (*TWO, "--measures", "flag_rate", "--alternative", "better"),
            2,
            "--alternative greater or --alternative less",
        ),
    ],
)
def test_invalid_options_are_refused(typed: tuple[str, ...], code: int, message: str, tmp_path: Path) -> None:
    result = run("compare", write_people(tmp_path), *typed)
    assert result.exit_code == code
    assert message in result.stderr


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ((*TWO, "--measures", "auc"), "--threshold is for measures of decisions, not for auc; leave it out, or name"),
        ((*TWO, "--measures", "auc,brier"), "--threshold is for measures of decisions, not for auc, brier;"),
        (
            (*TWO, "--predicted", "says", "--id", "who", "--measures", "accuracy"),
            "--threshold would cut the labels of --predicted too",
        ),
    ],
)
def test_unused_thresholds_are_refused(typed: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = run("compare", write_people(tmp_path), *typed, "--threshold", "0.3")
    assert result.exit_code == 2
    assert message in result.stderr


def test_predicted_labels_need_no_threshold(tmp_path: Path) -> None:
    query = ("compare", write_people(tmp_path), *TWO, "--predicted", "says", "--measures", "accuracy")
    result = rows_of(run(*query, "--threshold", "0.3,0.4", "--json"))
    assert [(row["threshold"], row["other_threshold"]) for row in result] == [(0.3, 0.4), (0.3, None), (0.4, None)]


def test_comparing_a_file_with_itself_is_refused(tmp_path: Path) -> None:
    new, _ = write_two_files(tmp_path)
    result = run("compare", new, new, "--id", "who", "--truth", "sick", "--score", "p")
    assert result.exit_code == 2
    assert "a file is named twice" in result.stderr


def test_the_command_prints_the_numbers_of_the_function(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    typed = ("--positive", "1", "--prevalence", "5%", "--fp", "1", "--fn", "5", "--seed", "3", "--json")
    printed = read_results(run("compare", path, *TWO, *typed).stdout)
    options: dict[str, Any] = {"truth": "sick", "score": ["risk", "old"], "positive": 1, "seed": 3}
    results = baserate.compare(str(path), **options, prevalence="5%", fp=1, fn=5)
    assert printed == json.loads(results.to_json())
    stated = baserate.compare(str(path), **options, threshold={"risk": 0.6, "old": 0.5}, measures=["npv", "auc"])
    chosen = ("--threshold", "0.6,0.5", "--measures", "npv,auc", "--positive", "1", "--seed", "3", "--json")
    assert read_results(run("compare", path, *TWO, *chosen).stdout) == json.loads(stated.to_json())


def test_whole_curves_and_fixed_specificities(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    typed = ("--measures", "auc", "--method", "venkatraman", "--seed", "2", "--json")
    printed = read_results(run("compare", path, *TWO, *typed).stdout)
    (row,) = printed["rows"]
    rows = baserate.read.rows(str(path), truth="sick", score=["risk", "old"])
    (wanted,) = baserate.infer.compare(rows, question=baserate.infer.Question(method="venkatraman"), seed=2)
    assert (row["statistic"], row["p"], row["test"]) == (wanted.statistic, wanted.p, wanted.test)
    assert any("p is that of equal ROC curves" in note for note in printed["data"]["notes"])
    at_80 = ("--measures", "sensitivity at fixed specificity", "--at-specificity", "80%", "--json")
    printed = read_results(run("compare", path, *TWO, *at_80).stdout)
    assert [row["measure"] for row in printed["rows"]] == ["sensitivity_at_specificity"]
    assert printed["data"]["settings"] == {"sensitivity_at_specificity": {"specificity": 0.8}}


def test_net_benefit_may_be_at_a_threshold_probability(tmp_path: Path) -> None:
    typed = ("--measures", "net_benefit,f_beta", "--net-benefit-at", "20%", "--beta", "2", "--json")
    results = rows_of(run("compare", write_people(tmp_path), *TWO, *typed))
    assert [row["measure"] for row in results] == ["net_benefit", "f_beta"]
