"""`baserate draw`."""

import csv
import json
from pathlib import Path
from typing import Any

import click
import pytest
from PIL import Image

from baserate import Cut, Policy, draw, read
from baserate.cli import app
from tests.cli.shell import run, write_people

ASKED = ("--truth", "sick", "--score", "risk")
FIGURES = ("gain", "lift", "pr", "roc", "scores", "thresholds")


def simulate(folder: Path, *typed: object) -> list[dict[str, Any]]:
    """Rows of the numbers of a figure."""
    path = folder / "numbers.json"
    shown = run("draw", typed[0], write_people(folder), *typed[1:], "-q", "-o", path)
    assert (shown.exit_code, shown.output) == (0, "")
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return rows


def parts(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["part"] == name]


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_written_and_their_files_printed(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.svg"
    shown = run(
        "draw", name, write_people(tmp_path), *ASKED, "--threshold", "0.5", "--title", "Who is sick?", "-o", path
    )
    assert shown.exit_code == 0
    assert shown.stdout == ""
    assert "people.csv · 10 rows · positive: sick = 1 · prevalence 40.00%" in shown.stderr
    assert f"wrote {path}" in shown.stderr
    assert path.read_bytes().startswith(b"<?xml")
    assert f"baserate draw {name}" in run("draw", name, "--help").stdout


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", FIGURES)
def test_numbers_are_those_of_the_library(tmp_path: Path, name: str) -> None:
    tallies = read.tallies(write_people(tmp_path), truth="sick", score="risk")
    expected = getattr(draw, name)(tallies, threshold=[0.5, 0.7])
    run("draw", name, write_people(tmp_path), *ASKED, "--threshold", "0.5,0.7", "-q", "-o", tmp_path / "n.csv")
    assert (tmp_path / "n.csv").read_text(encoding="utf-8") == expected.numbers.to_csv()


def test_roc_curve_has_costs_bands_and_labels(tmp_path: Path) -> None:
    typed = ("--predicted", "says", "--fp", 1, "--fn", 5, "--prevalence", "10%", "--simultaneous", "--level", "0.9")
    rows = simulate(tmp_path, "roc", *ASKED, *typed, "--no-hull")
    assert [row["name"] for row in parts(rows, "points")] == ["says"]
    assert {row["prevalence"] for row in parts(rows, "iso_cost")} == {0.1}
    assert {row["level"] for row in parts(rows, "auc")} == {0.9}
    assert all(row["low"] is not None for row in parts(rows, "curve"))
    assert not parts(rows, "hull")
    assert parts(simulate(tmp_path, "roc", *ASKED), "hull")


def test_stated_prevalence_is_in_the_headline(tmp_path: Path) -> None:
    shown = run("draw", "pr", write_people(tmp_path), *ASKED, "--prevalence", "2%", "-o", tmp_path / "pr.svg")
    assert "at 2% prevalence (sample: 40%)" in shown.stderr
    rows = simulate(tmp_path, "pr", *ASKED, "--prevalence", "2%", "--no-iso-f1")
    assert parts(rows, "prevalence")[0]["precision"] == pytest.approx(0.02)
    assert not parts(rows, "iso_f1")


def test_measures_against_the_threshold(tmp_path: Path) -> None:
    rows = simulate(tmp_path, "thresholds", *ASKED, "--measures", "ppv,npv", "--band", "--prevalence", "0.1")
    assert {row["measure"] for row in rows} == {"precision", "npv"}
    assert any(row["high"] is not None for row in rows)


def test_policy_marks_its_groups_and_names_columns(tmp_path: Path) -> None:
    cuts: Any = {("f",): Cut((0.7,)), ("m",): Cut((0.3,))}
    columns = {"truth": "sick", "score": "risk"}
    result = Policy(by_group=cuts, otherwise="refuse", attributes=("sex",), columns=columns, positive="1")
    result.save(tmp_path / "policy.json")
    rows = simulate(tmp_path, "gain", "--policy", tmp_path / "policy.json")
    assert [(row["group"], row["threshold"]) for row in parts(rows, "marks")] == [
        (None, None),
        ({"sex": "f"}, 0.7),
        ({"sex": "m"}, 0.3),
    ]


def test_number_of_bins_is_approximate(tmp_path: Path) -> None:
    assert len(parts(simulate(tmp_path, "scores", *ASKED, "--bins", 4), "bins")) == 8


def test_groups_are_columns_of_the_numbers(tmp_path: Path) -> None:
    run("draw", "lift", write_people(tmp_path), *ASKED, "--group", "site", "-q", "-o", tmp_path / "n.csv")
    with (tmp_path / "n.csv").open(encoding="utf-8") as file:
        assert {row["group.site"] for row in csv.DictReader(file)} == {"", "coast", "hill", "north"}


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("scores", *ASKED, "--score", "old"), "this figure shows one; give one --score."),
        (("roc", *ASKED, "--prevalence", "0.1"), "give --fp and --fn as well, or leave --prevalence out."),
        (("thresholds", *ASKED, "--measures", "auc"), "auc has one value for a whole curve"),
        (("roc", "--truth", "sick", "--predicted", "says", "--threshold", "1"), "labels have no threshold to mark"),
        (("roc", *ASKED, "-o", "roc.bmp"), "not a format of figures"),
        (("rok", *ASKED), "roc"),
    ],
)
def test_errors_state_a_remedy(tmp_path: Path, typed: tuple[str, ...], message: str) -> None:
    name, *rest = typed
    output = () if "-o" in rest else ("-o", tmp_path / "made.svg")
    shown = run("draw", name, write_people(tmp_path), *rest, *output)
    assert shown.exit_code == 2
    assert message in shown.stderr
    assert not (tmp_path / "made.svg").exists()


def test_commands_and_registry_describe_figures_equally() -> None:
    group = app.get_command(click.Context(app), "draw")
    assert isinstance(group, click.Group)
    assert [*group.commands] == [*draw.FIGURES]
    for name, figure in group.commands.items():
        assert (figure.help or "").partition("\n")[0] == draw.FIGURES[name].summary, (
            f"change the docstring of draw {name}"
        )


@pytest.mark.parametrize("typed", [("--width", "85mm"), ("--size", "3.35,4")])
def test_width_of_a_figure(tmp_path: Path, typed: tuple[str, str]) -> None:
    path = tmp_path / "roc.tiff"
    shown = run("draw", "roc", write_people(tmp_path), *ASKED, *typed, "--dpi", "600", "-o", path)
    assert shown.exit_code == 0, shown.output
    with Image.open(path) as picture:
        assert picture.size[0] == pytest.approx(3.35 * 600, abs=3)
        assert [float(each) for each in picture.info["dpi"]] == [600, 600]


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", ["roc", "population linear", *(each for each in draw.FIGURES if each != "population")])
def test_every_figure_takes_size_and_words(tmp_path: Path, name: str) -> None:
    """The options are declared once, for all figures."""
    figure = run("draw", *name.split(), "--help").stdout
    for flag in ("--width", "--size", "--dpi", "--title", "--xlabel", "--ylabel", "--label"):
        assert flag in figure


def test_words_of_the_user_are_in_the_figure(tmp_path: Path) -> None:
    path = tmp_path / "roc.svg"
    words = ("--title", "Discrimination", "--xlabel", "False alarms", "--ylabel", "Cases that are found")
    names = ("--score", "old", "--label", "risk=Model A", "--label", "old=Model = B")
    shown = run("draw", "roc", write_people(tmp_path), *ASKED, *words, *names, "-o", path)
    assert shown.exit_code == 0, shown.output
    text = path.read_text(encoding="utf-8")
    for words_in in ("Discrimination", "False alarms", "Cases that are found", "Model A:", "Model = B:"):
        assert f">{words_in}" in text


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--width", "85"), "not a length from 0.5 to 100 inches; give one with its unit, such as 85mm"),
        (("--width", "85mm", "--size", "3,4"), "both state the width"),
        (("--width", "100in", "--dpi", "600"), "60,000 dots"),
        (("--label", "risk"), "is not NAME=TEXT"),
        (("--label", "rsk=Model A"), "risk"),
        (("--label", "risk=A", "--label", "risk=B"), "states 'risk' twice"),
    ],
)
def test_sizes_and_labels_without_sense_are_refused(tmp_path: Path, typed: tuple[str, ...], message: str) -> None:
    shown = run("draw", "roc", write_people(tmp_path), *ASKED, *typed, "-o", tmp_path / "roc.png")
    assert shown.exit_code == 2
    assert message in shown.stderr
    assert not (tmp_path / "roc.png").exists()


@pytest.mark.parametrize("ending", ["svg", "pdf", "eps", "png", "tiff", "tif"])
def test_every_format_is_written(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"gain.{ending}"
    assert run("draw", "gain", write_people(tmp_path), *ASKED, "-q", "-o", path).exit_code == 0
    starts = {"svg": b"<?xml", "pdf": b"%PDF", "eps": b"%!PS", "png": b"\x89PNG", "tiff": b"II*", "tif": b"II*"}
    assert path.read_bytes().startswith(starts[ending])
