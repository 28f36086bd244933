"""`baserate reclassify`: NRI, IDI and tables of categories."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import fits_terminal, matches_snapshot, run, write_people
from tests.schemas import read_results

TWO = ("--truth", "sick", "--score", "risk", "--score", "old", "--positive", "1")


def numbers(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["measure"]: row for row in result["rows"] if row["measure"] != "cell" and row["group"] is None}


def test_snapshot(tmp_path: Path) -> None:
    typed = (write_people(tmp_path), *TWO, "--thresholds", "0.1,0.3")
    assert matches_snapshot(run("reclassify", *typed, "-q", "--explain").stdout, "reclassify")
    assert fits_terminal("reclassify", *typed, widths=(60, 80, 100))


def test_snapshot_of_help() -> None:
    assert matches_snapshot(run("reclassify", "--help").stdout, "help-reclassify")


def test_json(tmp_path: Path) -> None:
    result = run("reclassify", write_people(tmp_path), *TWO, "--thresholds", "0.1,0.3", "--json")
    assert result.exit_code == 0, result.stderr
    assert "note: the NRI is no proper measure" in result.stderr
    rows = read_results(result.stdout)
    assert any("the NRI is no proper measure" in note for note in rows["data"]["notes"])
    cells = [row for row in rows["rows"] if row["measure"] == "cell"]
    assert sum(row["value"] for row in cells) == 10
    assert (cells[0]["from"], cells[-1]["to"], cells[0]["other"]) == ("[0, 0.1)", "[0.3, 1]", "old")
    # Positives: 0.22 rises to 0.55 in the old model, 0.30 to 0.64 stays in [0.3, 1]; no more changes category.
    assert numbers(rows)["nri_positives"]["value"] == pytest.approx(-0.25)


def test_asymptotic_method_and_groups(tmp_path: Path) -> None:
    typed = (write_people(tmp_path), *TWO, "--group", "sex", "--method", "asymptotic", "--json")
    rows = read_results(run("reclassify", *typed).stdout)["rows"]
    assert {json.dumps(row["group"]) for row in rows} == {"null", '{"sex": "f"}', '{"sex": "m"}'}
    assert {row["how"] for row in rows if row["level"]} == {"normal, published variance"}
    assert "cell" not in {row["measure"] for row in rows}


def test_two_files(tmp_path: Path) -> None:
    for name, shift in (("new", 0.0), ("old", 0.05)):
        lines = [f"{at},{at % 2},{0.1 + 0.08 * at + shift}\n" for at in range(10)]
        (tmp_path / f"{name}.csv").write_text("id,sick,risk\n" + "".join(lines), encoding="utf-8")
    typed = (tmp_path / "new.csv", tmp_path / "old.csv", "--id", "id", "--truth", "sick", "--score", "risk")
    result = read_results(run("reclassify", *typed, "--positive", "1", "--json").stdout)
    assert numbers(result)["idi"]["value"] == pytest.approx(0, abs=1e-12)
    assert numbers(result)["continuous_nri_positives"]["value"] == -1


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--truth", "sick", "--score", "risk"), "a comparison needs two models"),
        ((*TWO, "--thresholds", "0,0.5"), "thresholds are 0, 0.5; expected ascending probabilities"),
        ((*TWO, "--method", "exact"), "exact"),
        ((*TWO, "--method", "bootstrap"), "Did you mean `baserate measure --interval bootstrap`"),
        ((*TWO, "--threshold", "0.3"), "categories of probability have --thresholds"),
        (("--truth", "sick", "--score", "risk", "--predicted", "says"), "labels have neither NRI nor IDI"),
        ((*TWO, "--weight", "w", "--method", "asymptotic"), "rows are weighted or clustered"),
    ],
)
def test_refusals(typed: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = run("reclassify", write_people(tmp_path), *typed)
    assert (result.exit_code, message in " ".join(result.stderr.split())) == (2, True), result.stderr
