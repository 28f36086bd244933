"""`baserate population`: snapshots, JSON, and errors."""

import csv
import json
import re
from io import StringIO
from math import sqrt
from pathlib import Path

import pytest

from baserate import population
from baserate.cli._population import FAMILIES
from baserate.text._tables import display_width
from tests.cli.shell import matches_snapshot, run
from tests.cli.test_program import HEAVY, loaded_modules
from tests.schemas import check_schema

LINEAR = ("population", "linear")

VIEWS: dict[str, tuple[str, ...]] = {
    "population-one": (*LINEAR, "measure", "f1"),
    "population-usual": (*LINEAR, "--prevalence", "0.02", "measure", "--points", "5"),
    "population-md": (*LINEAR, "measure", "precision,auc,flag_rate", "--threshold", "0.5,1", "--format", "md"),
    "population-narrow": ("population", "binormal", "--means", "-1,1.5", "--sds", "1,2", "measure", "mcc"),
    "population-perfect": ("population", "retrieval", "--level", "perfect", "measure", "f1", "auc"),
    "population-roc": ("population", "logit_normal", "--means", "-1,1", "curve", "roc", "--points", "9"),
    "population-pr": ("population", "beta", "--negative", "1,4", "--positive", "1,1", "curve", "pr", "--points", "5"),
    "population-study": (*LINEAR, "study", "--sizes", "30,100", "--repeats", "20"),
    "population-rare": (*LINEAR, "study", "--sizes", "20", "--prevalences", "0.5,0.05", "--repeats", "20"),
    "population-draw": (*LINEAR, "draw", "3", "--seed", "7", "--format", "table"),
}


@pytest.mark.parametrize("name", VIEWS)
def test_snapshot_of_terminal_output(name: str) -> None:
    width = 60 if name.endswith("narrow") else 100
    result = run(*VIEWS[name], "-q", env={"COLUMNS": str(width)})
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    assert matches_snapshot(result.stdout, name)
    if not name.endswith("md"):
        assert max(map(display_width, result.stdout.splitlines())) <= width


@pytest.mark.parametrize(
    ("name", "typed"),
    {
        "help-population": ("population", "--help"),
        "help-population-binormal": ("population", "binormal", "--help"),
        "help-population-study": (*LINEAR, "study", "--help"),
    }.items(),
)
def test_snapshot_of_help(name: str, typed: tuple[str, ...]) -> None:
    assert matches_snapshot(run(*typed).stdout, name)


@pytest.mark.quick(1)
@pytest.mark.parametrize("typed", [[], ["linear"], ["retrieval"], ["linear", "measure"], ["beta", "draw"]])
def test_help_loads_no_heavy_package(typed: list[str]) -> None:
    assert not loaded_modules("population", *typed, "--help") & (HEAVY | {"baserate.population"})


def test_every_family_has_a_command_with_its_defaults() -> None:
    assert {name.replace("-", "_") for name in FAMILIES} == set(population.FAMILIES)
    for name, make in population.FAMILIES.items():
        if name != "retrieval":
            data = json.loads(run("population", name, "measure", "auc", "--json", "-q").stdout)["data"]
            assert data["family"] == name
            assert data["population"]["positive"] == repr(make().positive)
            assert data["population"]["negative"] == repr(make().negative)
            assert data["prevalence"] == 0.5


def run_json(*typed: str) -> dict[str, list[dict[str, object]]]:
    result = run(*typed, "--json", "-q")
    assert result.exit_code == 0, result.stderr
    actual: dict[str, list[dict[str, object]]] = json.loads(result.stdout)
    check_schema(actual)
    return actual


def test_json_has_full_precision() -> None:
    best, *rest = run_json(*LINEAR, "measure", "f1", "--points", "5")["rows"]
    assert best["best"] is True
    assert best["threshold"] == pytest.approx((3 - sqrt(5)) / 2, rel=0, abs=1e-15)
    assert best["value"] == pytest.approx(3 - sqrt(5), rel=0, abs=1e-15)
    assert [row["threshold"] for row in rest] == [1, 0.75, 0.5, 0.25, 0]


def test_json_of_every_command_fits_the_schema() -> None:
    assert len(run_json(*LINEAR, "curve", "roc")["rows"]) == 101
    assert len(run_json("population", "binormal", "curve", "pr", "--points", "7")["rows"]) == 7
    assert len(run_json(*LINEAR, "measure", "all")["rows"]) > 300
    assert len(run_json(*LINEAR, "study", "--sizes", "1,10", "--repeats", "3")["rows"]) == 4
    assert (
        run_json(*LINEAR, "draw", "4", "--seed", "1")["rows"] == run_json(*LINEAR, "draw", "4", "--seed", "1")["rows"]
    )
    limits = [row for row in run_json(*LINEAR, "measure", "precision,LR+")["rows"] if row["best"]]
    assert [(row["value"], row["how"]) for row in limits] == [(1, "limit"), (None, None)]
    assert limits[1]["why"] == (
        "positive_likelihood_ratio grows without bound towards a threshold of 1, so no threshold is best"
    )


def test_simulated_rows_can_be_measured(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    done = run(*LINEAR, "draw", "2000", "--seed", "7", "--positives", "500", "-o", path)
    assert (done.exit_code, done.stdout) == (0, "")
    rows = list(csv.DictReader(StringIO(path.read_text(encoding="utf-8"))))
    assert (len(rows), sum(row["truth"] == "1" for row in rows)) == (2000, 500)
    measured = run("measure", path, "--truth", "truth", "--score", "score", "--measures", "auc", "--json", "-q")
    assert json.loads(measured.stdout)["rows"][0]["value"] == pytest.approx(5 / 6, abs=0.04)
    truth, score = population.linear().draw(2000, 7, positives=500)
    assert [float(row["score"]) for row in rows] == score.tolist()
    assert [row["truth"] == "1" for row in rows] == truth.tolist()


def test_simulated_rows_are_csv_by_default(tmp_path: Path) -> None:
    assert run(*LINEAR, "draw", "2").stdout.startswith("truth,score\n")
    assert run(*LINEAR, "draw", "2", "-o", "-").stdout.startswith("truth,score\n")
    named = tmp_path / "people.json"
    assert run(*LINEAR, "draw", "2", "-o", named).exit_code == 0
    assert len(json.loads(named.read_text(encoding="utf-8"))["rows"]) == 2


def test_messages_on_stderr() -> None:
    said = run(*LINEAR, "--prevalence", "0.05", "study", "--sizes", "10", "--repeats", "20", "--format", "csv").stderr
    assert re.fullmatch(
        r"linear population · prevalence 5\.000% · AUC 0\.8333 · average precision 0\.\d+\n"
        r"note: \d+ of 20 samples of 10 rows at prevalence 0\.05 have a single class and are omitted\.\n",
        said,
    )
    assert run(*LINEAR, "measure", "f1").stderr == ""


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["population", "lineer", "measure"], "there is no population 'lineer'. Did you mean linear? There are:"),
        ([*LINEAR, "meazure"], "there is no command 'meazure'. Did you mean measure?"),
        ([*LINEAR, "measure", "f11"], "there is no measure 'f11'. Did you mean 'f1'"),
        (
            [*LINEAR, "--prevalence", "2", "measure", "f1"],
            "prevalence is 2.0; expected 0, 1 or a prevalence",
        ),
        (["population", "binormal", "--means", "1", "measure", "f1"], "means is (1.0,); expected two numbers"),
        (["population", "binormal", "--sds", "1,0", "measure", "f1"], "sds is 0.0; expected a standard deviation"),
        (["population", "binormal", "--sds", "1,inf", "measure", "f1"], "holds an infinite number"),
        (["population", "beta", "--negative", "a,b", "measure", "f1"], "'a' is not a number"),
        (["population", "retrieval", "--level", "ER", "measure", "f1"], "there is no level 'ER'. Did you mean"),
        (["population", "retrieval", "measure", "f1"], "missing option '--level'"),
        ([*LINEAR, "measure", "brier"], "brier is a measure of probabilities"),
        ([*LINEAR, "study", "--measures", "f1"], "f1 requires a threshold"),
        ([*LINEAR, "study", "--sizes", "2.5"], "sizes is 2.5; expected whole numbers of 1 or more"),
        ([*LINEAR, "draw", "10", "--positives", "11"], "10 rows with 11 positives cannot be drawn"),
    ],
)
def test_errors_state_a_remedy(typed: list[str], message: str) -> None:
    result = run(*typed)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_undefined_measure_is_shown_on_the_page() -> None:
    result = run(*LINEAR, "--prevalence", "0", "measure", "mcc,specificity")
    assert result.exit_code == 0
    assert "–¹" in result.stdout
    assert "¹ mcc is undefined at every threshold of this population." in result.stdout
