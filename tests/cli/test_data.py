"""JSON and CSV on stdout and in files, with nothing else on stdout."""

import csv
import json
from io import StringIO
from math import inf
from pathlib import Path
from typing import Any

import pytest

from baserate import decide, fairness, infer, measure, read
from baserate.apply import DIALECTS
from baserate.calibration import CALIBRATORS
from baserate.draw import FIGURES
from baserate.report import CHECKS, MULTICLASS_CHECKS
from baserate.shift import ESTIMATORS
from tests.cli.shell import PEOPLE, run, run_program, write_people
from tests.schemas import check_schema

ONE = ("--truth", "sick", "--score", "risk")

HEADER = ["rows", "read", "refused", "reasons", "positive", "negative", "prevalence", "weighted", "digest", "columns"]


def run_json(*typed: object) -> dict[str, Any]:
    """What a command gives as JSON, which must fit the schema."""
    output: dict[str, Any] = json.loads(run(*typed, "--json").stdout)
    check_schema(output)
    return output


@pytest.mark.quick(2)
@pytest.mark.parametrize("more", [(), ("--group", "site"), ("--score", "old", "--threshold", "inf"), ("--weight", "w")])
def test_json_has_the_schema_and_the_numbers_of_the_library(more: tuple[str, ...], tmp_path: Path) -> None:
    path = write_people(tmp_path)
    output = run_json("measure", path, *ONE, *more)
    assert list(output["data"]) == [*HEADER, "notes", "interval"]
    options: dict[str, Any] = {"score": ["risk", "old"] if "old" in more else "risk"}
    options |= {"group": "site"} if "site" in more else {}
    options |= {"weight": "w"} if "w" in more else {}
    tallies = read.tallies(path, truth="sick", **options)
    threshold = [inf] if "inf" in more else None
    assert output == json.loads(infer.summary(tallies, threshold=threshold).to_json())
    plain = run_json("measure", path, *ONE, *more, "--no-interval")
    assert plain == json.loads(measure.summary(tallies, threshold=threshold).to_json())
    assert list(plain["data"]) == [*HEADER, "notes"]
    assert {row["low"] for row in plain["rows"]} == {None}


def test_a_csv_parsed_back_equals_the_rows(tmp_path: Path) -> None:
    typed = ("measure", write_people(tmp_path), *ONE, "--group", "site", "--threshold", "inf", "--threshold", "0.3")
    rows = run_json(*typed)["rows"]
    parsed = list(csv.DictReader(StringIO(run(*typed, "--format", "csv").stdout)))
    assert len(parsed) == len(rows)
    for line, row in zip(parsed, rows, strict=True):
        assert line["group.site"] == (row["group"]["site"] if row["group"] else "")
        for name in ("measure", "model", "how", "why"):
            assert line[name] == (row[name] or "")
        for name in ("value", "low", "high", "level", "threshold"):
            assert (float(line[name]) if line[name] else None) == (None if row[name] is None else float(row[name]))


def test_curves_as_json_and_csv_hold_every_point(tmp_path: Path) -> None:
    typed = ("curve", "pr", write_people(tmp_path), *ONE)
    output = run_json(*typed)
    assert list(output["rows"][0]) == ["model", "group", "threshold", "sensitivity", "precision"]
    assert list(output["data"]) == [*HEADER, "notes"]
    assert [each["threshold"] for each in output["rows"]] == [
        "inf",
        0.92,
        0.85,
        0.71,
        0.64,
        0.31,
        0.3,
        0.22,
        0.11,
        0.05,
    ]
    assert output["rows"][0]["precision"] is None
    parsed = list(csv.DictReader(StringIO(run(*typed, "--format", "csv").stdout)))
    assert [float(line["threshold"]) for line in parsed] == [float(each["threshold"]) for each in output["rows"]]
    assert len(run_json(*typed, "--points", "4")["rows"]) == 4


def test_lists_are_tidy_json() -> None:
    output = run_json("list", "measures")
    assert output["data"] == {"what": "measures", "words": []}
    assert [each["name"] for each in output["rows"]] == [*measure.MEASURES, *measure.multiclass.MEASURES]
    assert [each["of"] for each in output["rows"] if each["name"] == "mcc"] == ["counts", "confusion"]
    lift = next(each for each in output["rows"] if each["name"] == "lift")
    assert (lift["of"], lift["best"], lift["least"], lift["greatest"]) == ("counts", "high", 0, "inf")
    assert [each["name"] for each in run_json("list", "curves")["rows"]] == list(measure.TABLES)
    assert [each["name"] for each in run_json("list", "parities")["rows"]] == list(fairness.PARITIES)
    odds = run_json("list", "parities", "equalized")["rows"]
    assert [each["code"] for each in run_json("list", "findings")["rows"]] == [*CHECKS, *MULTICLASS_CHECKS]
    assert [each["title"] for each in run_json("list", "findings", "br007")["rows"]] == [CHECKS["BR007"].title]
    rules = [name for name, entry in decide.DECISION_RULES.items() if entry.on_command_line]
    assert sorted(each["name"] for each in run_json("list", "rules")["rows"]) == sorted(rules)
    assert [each["name"] for each in run_json("list", "rules", "topleft")["rows"]] == ["closest"]
    for kind, entries in (("calibrators", CALIBRATORS), ("estimators", ESTIMATORS)):
        assert [each["name"] for each in run_json("list", kind)["rows"]] == [entry.name for entry in entries]
    assert [each["name"] for each in run_json("list", "figures")["rows"]] == list(FIGURES)
    assert [each["name"] for each in run_json("list", "dialects")["rows"]] == list(DIALECTS)
    assert [(each["measures"], each["chosen"]) for each in odds] == [("sensitivity, fpr", True)]


def test_labels_that_disagree_with_the_score_are_noted(tmp_path: Path) -> None:
    typed = ("measure", write_people(tmp_path), *ONE, "--predicted", "says", "--threshold", "0.5")
    note = "says disagrees with risk >= 0.5 in 2 of 10 rows; it agrees best with risk >= 0.71."
    assert run_json(*typed)["data"]["notes"] == [note]
    assert f"note: {note}" in run(*typed).stderr
    assert {row["model"] for row in run_json(*typed)["rows"]} == {"risk", "says"}


def test_every_curve_is_tabulated(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    for name, axes in measure.TABLES.items():
        rows = json.loads(run("curve", name, path, *ONE, "--json").stdout)["rows"]
        assert {*rows[0]} == {"model", "group", "threshold", *axes}


def test_stdin_equals_the_file(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    assert run("measure", "-", *ONE, "--json", given=PEOPLE).stdout == run("measure", path, *ONE, "--json").stdout
    piped = run_program("measure", "-", *ONE, "-q", given=PEOPLE)
    assert (piped.returncode, piped.stderr) == (0, "")
    assert piped.stdout.startswith("stdin · 10 rows · positive: sick = 1 · prevalence 40.00%\n")


def test_labels_match_by_their_spelling(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("y,p\nyes,0.9\nno,0.2\nmaybe,0.4\nyes,0.3\n", encoding="utf-8")
    typed = ("measure", path, "--truth", "y", "--score", "p", "--positive", "yes", "--negative", "no")
    output = json.loads(run(*typed, "--missing", "drop", "--json").stdout)["data"]
    assert (output["positive"], output["negative"], output["rows"], output["refused"]) == ("yes", "no", 3, 1)
    flipped = json.loads(run("measure", write_people(tmp_path), *ONE, "--positive", "0", "--json").stdout)["data"]
    assert (flipped["positive"], flipped["prevalence"]) == (0, 0.6)


def test_measures_are_listed_or_repeated_by_any_name(tmp_path: Path) -> None:
    typed = ("--measures", "recall, ROC AUC", "--measures", "f1,TPR")
    rows = json.loads(run("measure", write_people(tmp_path), *ONE, *typed, "--json").stdout)["rows"]
    assert [row["measure"] for row in rows] == ["tp", "fp", "fn", "tn", "sensitivity", "f1", "auc"]


def test_all_means_every_applicable_measure(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    every = json.loads(run("measure", path, *ONE, "--measures", "all", "--json").stdout)
    unstated = {name for name, _ in measure.find_missing_options(measure.MEASURES.values())}
    assert {row["measure"] for row in every["rows"]} == {"tp", "fp", "fn", "tn", *measure.MEASURES} - unstated
    (note,) = (note for note in every["data"]["notes"] if "are left out" in note)
    assert all(name in note for name in unstated)
    some = json.loads(run("measure", path, "--truth", "sick", "--score", "times", "--measures", "all", "--json").stdout)
    assert "brier" not in {row["measure"] for row in some["rows"]}
    assert any("brier" in note for note in some["data"]["notes"])


@pytest.mark.parametrize(
    ("ending", "start"), [("json", "{"), ("csv", "measure,"), ("md", "people.csv · "), ("txt", "people.csv · ")]
)
def test_an_output_file_is_written_in_the_format_of_its_name(ending: str, start: str, tmp_path: Path) -> None:
    target = tmp_path / f"out.{ending}"
    result = run("measure", write_people(tmp_path), *ONE, "-o", target, env={"FORCE_COLOR": "1"})
    assert (result.exit_code, result.stdout) == (0, "")
    assert target.read_text(encoding="utf-8").startswith(start)
    assert "\x1b" not in target.read_text(encoding="utf-8")
    assert ("|" in target.read_text(encoding="utf-8")) == (ending == "md")


def test_dash_is_stdout_and_format_overrides_the_ending(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    assert run("measure", path, *ONE, "-o", "-", "-q").stdout == run("measure", path, *ONE, "-q").stdout
    run("measure", path, *ONE, "--format", "csv", "-o", tmp_path / "out.json")
    assert (tmp_path / "out.json").read_text(encoding="utf-8").startswith("measure,")


def test_an_existing_file_survives_a_failed_run(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("precious", encoding="utf-8")
    path = write_people(tmp_path)
    assert run("measure", path, "--truth", "sick", "--score", "site", "-o", target).exit_code == 3
    assert run("measure", path, *ONE, "--measures", "acu", "-o", target).exit_code == 2
    assert target.read_text(encoding="utf-8") == "precious"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["out.json", "people.csv"]
    assert run("measure", path, *ONE, "-o", target).exit_code == 0
    assert json.loads(target.read_text(encoding="utf-8"))["schema_version"] == 1


def test_unwritable_output_is_refused_before_reading(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    nowhere = run("measure", path, *ONE, "-o", tmp_path / "no" / "out.json")
    folder = run("measure", path, *ONE, "-o", tmp_path)
    assert (nowhere.exit_code, folder.exit_code) == (2, 2)
    assert nowhere.stderr.startswith(f"baserate: there is no folder {tmp_path / 'no'} for the output;")
    assert folder.stderr.startswith(f"baserate: {tmp_path} is a folder;")


def test_band_adds_two_columns_and_reasons(tmp_path: Path) -> None:
    typed = ("curve", "pr", write_people(tmp_path), *ONE)
    plain = json.loads(run(*typed, "--json").stdout)
    result = json.loads(run(*typed, "--band", "--level", "0.9", "--json").stdout)
    check_schema(result)
    assert [{name: row[name] for name in plain["rows"][0]} for row in result["rows"]] == plain["rows"]
    assert result["rows"][0] | {"low": None, "high": None, "why": "nothing is flagged"} == result["rows"][0]
    assert all(row["low"] <= row["precision"] <= row["high"] and row["why"] is None for row in result["rows"][1:])
    assert (result["data"]["level"], result["data"]["simultaneous"]) == (0.9, False)
    assert run(*typed, "--band", "--format", "csv").stdout.startswith(
        "model,group,threshold,sensitivity,precision,low,high,why\n"
    )


def test_simultaneous_band_contains_the_pointwise_band(tmp_path: Path) -> None:
    def lower_bounds(*options: str) -> list[float]:
        shown = run("curve", "roc", write_people(tmp_path), *ONE, *options, "--json").stdout
        return [row["low"] for row in json.loads(shown)["rows"]]

    assert all(a <= b for a, b in zip(lower_bounds("--simultaneous"), lower_bounds("--band"), strict=True))
    assert lower_bounds("--simultaneous") != lower_bounds("--band")
    assert lower_bounds("--simultaneous", "--band") == lower_bounds("--simultaneous")
