"""Published numbers, from the published file to the output of the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from baserate import measure, read
from tests.cli.shell import run


def measure_file(path: Path, *typed: str) -> list[dict[str, Any]]:
    result = run("measure", path, *typed, "--json")
    assert result.exit_code == 0, result.stderr
    rows: list[dict[str, Any]] = json.loads(result.stdout)["rows"]
    return rows


def test_propublica_counts_of_compas(reference: Path, load_published: Callable[[str], Any]) -> None:
    """ProPublica's 2×2 tables of medium or high scores (5 and above), by race."""
    output = load_published("compas_reference.json")["published_propublica"]
    query = ("--truth", "two_year_recid", "--score", "decile_score", "--group", "race", "--threshold", "5")
    rows = measure_file(reference / "compas.csv", *query, "--measures", "fpr,fnr,precision,npv")
    for name, wanted in ((None, output["all"]), *((race, output[race]) for race in ("African-American", "Caucasian"))):
        group = None if name is None else {"race": name}
        result = {row["measure"]: row["value"] for row in rows if row["group"] == group}
        assert {cell: result[cell] for cell in ("tp", "fp", "fn", "tn")} == {
            cell: wanted[cell] for cell in ("tp", "fp", "fn", "tn")
        }
        assert (100 * result["fpr"], 100 * result["fnr"]) == pytest.approx((wanted["fpr"], wanted["fnr"]), abs=0.006)
        assert (result["precision"], result["npv"]) == pytest.approx((wanted["ppv"], wanted["npv"]), abs=0.0051)


def test_areas_of_proc_from_its_file(reference: Path) -> None:
    """The areas that pROC's documentation gives for its data set aSAH."""
    result = read.tallies(
        reference / "aSAH.csv", truth="outcome", score=["wfns", "s100b", "ndka"], positive="Poor", group="gender"
    )
    areas = [row["value"] for row in measure.summary(result, measures=["auc"]).rows() if row["group"] is None]
    assert areas == pytest.approx([0.8236789, 0.7313686, 0.6119580], abs=5e-8)
    assert result.groups == (("Female",), ("Male",))


def test_a_label_only_classifier_from_its_file(reference: Path) -> None:
    """Altman and Bland's liver scans: sensitivity 231/258, specificity 54/86."""
    query = ("--truth", "pathology", "--predicted", "scan", "--positive", "abnorm")
    rows = measure_file(reference / "pathology.csv", *query, "--measures", "sensitivity,specificity")
    assert {row["measure"]: row["value"] for row in rows} == {
        "tp": 231,
        "fn": 27,
        "fp": 32,
        "tn": 54,
        "sensitivity": 231 / 258,
        "specificity": 54 / 86,
    }


def test_labels_and_scores_of_one_file_agree(reference: Path) -> None:
    """The predicted classes of two_class_example are its first probability cut at a half."""
    query = ("--truth", "truth", "--score", "Class1", "--predicted", "predicted", "--positive", "Class1")
    result = run("measure", reference / "two_class_example.csv", *query, "--measures", "accuracy,auc", "--json")
    output = json.loads(result.stdout)
    assert output["data"]["notes"] == []
    actual = {(row["model"], row["measure"]): row["value"] for row in output["rows"]}
    assert actual["Class1", "accuracy"] == actual["predicted", "accuracy"] == 0.838
    assert actual["Class1", "auc"] == pytest.approx(0.939, abs=5e-4)  # as yardstick prints it


def test_true_and_false_in_a_file_are_booleans(reference: Path) -> None:
    result = read.tallies(reference / "df_binary.csv", truth="cancer", score="cancerpredmarker")
    assert (result.intake.positive, result.intake.negative) == (True, False)
    assert result.tally.rows.sum() == 750
