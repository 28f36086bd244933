"""`baserate cost-curve`: snapshots, JSON and CSV, messages, and refused options."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baserate import measure, read
from tests.cli.shell import PEOPLE, fits_terminal, matches_snapshot, run, run_program, write_people
from tests.schemas import read_results
from tests.tiers import take_in_tiers

ONE = ("--truth", "sick", "--score", "risk")
TWO = (*ONE, "--score", "old")

VIEWS: dict[str, tuple[str, ...]] = {
    "cost-curve": ONE,
    "cost-curve-marked": (*TWO, "--fp", "1", "--fn", "3", "--prevalence", "20%", "--points", "5"),
    "cost-curve-groups": (
        *ONE,
        "--group",
        "site",
        "--fp",
        "2",
        "--fn",
        "1",
        "--tp",
        "-1",
        "--tn",
        "0.5",
        "--prevalence",
        "0.1",
    ),
    "cost-curve-md": (*ONE, "--fp", "1", "--fn", "9", "--prevalence", "0.1", "--format", "md"),
    "cost-curve-labels": ("--truth", "sick", "--predicted", "says"),
    "cost-curve-brier": (*ONE, "--kind", "brier"),
    "cost-curve-brier-moved": (*TWO, "--kind", "brier", "--prevalence", "0.1", "--points", "5"),
}


def run_json(*typed: object, given: str | None = None) -> dict[str, Any]:
    result = run("cost-curve", *typed, "--json", "-q", given=given)
    assert result.exit_code == 0, result.stderr
    return read_results(result.stdout)


@pytest.mark.parametrize("name", VIEWS)
def test_snapshot_of_terminal_output(name: str, tmp_path: Path) -> None:
    result = run("cost-curve", write_people(tmp_path), *VIEWS[name], "-q")
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, name)


def test_snapshot_of_help() -> None:
    assert matches_snapshot(run("cost-curve", "--help").stdout, "help-cost-curve")


@pytest.mark.parametrize("name", [name for name in VIEWS if name != "cost-curve-md"])
def test_pages_fit_the_terminal(name: str, tmp_path: Path) -> None:
    assert fits_terminal("cost-curve", write_people(tmp_path), *VIEWS[name], widths=(50, 80, 100, 140))


def test_corners_equal_those_computed_by_hand() -> None:
    # Flagged from 0.9 on, a third of the sick is found; from 0.6 on all of them, with a third of the others.
    table = "sick,risk\n1,0.9\n0,0.8\n1,0.7\n1,0.6\n0,0.4\n0,0.3\n"
    rows = run_json("-", *ONE, given=table)["rows"]
    corners = [(row["probability_cost"], row["cost"], row["threshold"], row["laxest"], row["trivial"]) for row in rows]
    assert corners == [
        (0, 0, "inf", 0.9, 0),
        (pytest.approx(1 / 3), pytest.approx(2 / 9), 0.9, 0.6, pytest.approx(1 / 3)),
        (1, 0, 0.6, 0.3, 0),
    ]
    shown = run("cost-curve", "-", *ONE, "-q", "--no-interval", given=table).stdout.splitlines()
    assert shown[5].split() == ["0.3333", "0.2222", "0.3333", "0.9", "0.6"]


@pytest.mark.parametrize(
    "typed",
    [
        ("--fp", "1", "--fn", "3"),
        ("--fp", "0.2", "--fn", "1"),
        ("--fp", "2", "--fn", "7", "--tp", "-1", "--tn", "0.5"),
        ("--fn", "0", "--fp", "1"),
    ],
)
@pytest.mark.parametrize("prevalence", take_in_tiers(["0.05", "40%", "0.9"]))
def test_marked_costs_lie_on_the_curve(typed: tuple[str, ...], prevalence: str, tmp_path: Path) -> None:
    output = run_json(write_people(tmp_path), *TWO, *typed, "--prevalence", prevalence)
    place = output["data"]["marked"]
    gains = np.array([place["fn"] - place["tp"], place["fp"] - place["tn"]])
    shares = np.array([place["prevalence"], 1 - place["prevalence"]])
    assert place["probability_cost"] == pytest.approx(gains[0] * shares[0] / (gains @ shares))
    for model, best in zip(("risk", "old"), place["least"], strict=True):
        rows = [row for row in output["rows"] if row["model"] == model]
        x, y = ([row[name] for row in rows] for name in ("probability_cost", "cost"))
        assert best["cost"] == pytest.approx(np.interp(place["probability_cost"], x, y), abs=1e-12)
        # What it costs at all is what right decisions cost, and what errors cost more.
        right = shares @ [place["tp"], place["tn"]]
        assert best["expected_cost"] == pytest.approx(right + best["cost"] * (gains @ shares))
        assert best["cost"] <= best["trivial"] + 1e-12


def test_area_under_the_brier_curve_is_the_brier_score(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    output = run_json(path, *ONE, "--kind", "brier")
    x, y = ([row[name] for row in output["rows"]] for name in ("cost_proportion", "loss"))
    assert np.trapezoid(y, x) == pytest.approx(measure.brier(read.tallies(path, truth="sick", score="risk").tally))
    assert output["data"]["kind"] == "brier"
    moved = run_json(path, *ONE, "--kind", "brier", "--prevalence", "0.1")
    assert (moved["data"]["prevalence"], moved["data"]["deployment"]) == (0.4, {"prevalence": 0.1})


def test_tables_show_few_points_and_csv_all(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    typed = (*ONE, "--positive", "1", "--kind", "brier")
    shown = run("cost-curve", path, *typed)
    assert sum(line.startswith("  ") for line in shown.stdout.splitlines()) == 21
    every = len(run_json(path, *typed)["rows"])
    assert every > 21
    output = f"21 points of each curve are shown; --points N shows N, --format csv all, up to {every}."
    assert shown.stderr == f"note: {output}\n"
    target = tmp_path / "curve.csv"
    assert run("cost-curve", path, *typed, "-o", target).stdout == ""
    rows = list(csv.DictReader(io.StringIO(target.read_text(encoding="utf-8"))))
    assert len(rows) == every
    exact = run("cost-curve", path, *ONE, "--positive", "1")
    assert exact.stderr == ""  # four corners are few
    assert len(run_json(path, *typed, "--points", "7")["rows"]) == 7


def test_cost_curves_accept_arbitrary_scores(tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    path.write_text("sick,risk\n1,7\n0,-3\n0,2\n", encoding="utf-8")
    output = run_json(path, *ONE, "--fp", "1", "--fn", "2", "--prevalence", "0.5")
    assert [best["threshold"] for best in output["data"]["marked"]["least"]] == [7]
    result = run("cost-curve", path, *ONE, "--kind", "brier")
    assert result.exit_code == 3
    assert "make them probabilities with `baserate calibrate`." in result.stderr


def test_group_of_one_class_has_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text("sick,risk,g\n1,0.9,a\n0,0.1,a\n0,0.3,b\n", encoding="utf-8")
    typed = (*ONE, "--group", "g", "--fp", "1", "--fn", "2", "--prevalence", "0.1")
    output = run_json(path, *typed)
    (alone,) = (row for row in output["rows"] if row["group"] == {"g": "b"})
    assert (alone["cost"], alone["why"]) == (None, "there are no positives")
    (best,) = (best for best in output["data"]["marked"]["least"] if best["group"] == {"g": "b"})
    assert (best["threshold"], best["why"]) == (None, "there are no positives")
    assert "¹ there are no positives" in run("cost-curve", path, *typed).stdout


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--fp", "1", "--fn", "1"), "the place of costs on the curve depends on the prevalence; add it"),
        (("--prevalence", "0.1"), "a cost curve holds at every prevalence; leave out --prevalence, or add costs"),
        (("--kind", "brier", "--fn", "2"), "--fn is for cost curves; leave out either --fn or --kind brier."),
        (("--fp", "1", "--fn", "1", "--prevalence", "1.2"), "'1.2' is not a prevalence"),
        (
            ("--fp", "1", "--fn", "-3", "--prevalence", "0.1"),
            "--tp 0.0 --fp 1.0 --fn -3.0 --tn 0.0; expected errors to cost more",
        ),
        (("--fp", "1", "--fn", "inf", "--prevalence", "0.1"), "'inf' holds an infinite number; give finite ones"),
        (("--points", "1"), "1 is not in the range 2<=x<="),
        (("--kind", "roc"), "'roc' is not one of 'cost', 'brier'"),
        (("--score", "nothing"), "there is no column 'nothing'"),
    ],
)
def test_invalid_options_are_refused(typed: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = run("cost-curve", write_people(tmp_path), *ONE, *typed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.slow
def test_installed_program_prints_the_same() -> None:
    result = run_program("cost-curve", "-", *ONE, "--json", given=PEOPLE)
    assert result.returncode == 0
    assert [row["threshold"] for row in read_results(result.stdout)["rows"]] == ["inf", 0.92, 0.64, 0.22]
    assert "stdin · 10 rows" in result.stderr
