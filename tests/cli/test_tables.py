"""Tables for terminals of several widths, and Markdown."""

import json
import re
from pathlib import Path

import click
import pytest
from click import unstyle

from baserate.measure import MEASURES, describe, find_missing_options, multiclass
from baserate.text._tables import Page, Row, Section, Table, display_width
from tests.cli.shell import matches_snapshot, render_pages, run, write_people

ONE = ("--truth", "sick", "--score", "risk")
TWO = (*ONE, "--score", "old", "--predicted", "says")

VIEWS: dict[str, tuple[str, ...]] = {
    "one": ("measure", *ONE),
    "one-narrow": ("measure", *ONE),
    "undefined": ("measure", *ONE, "--threshold", "inf", "--measures", "precision,mcc,npv,auc"),
    "thresholds": ("measure", *ONE, "--threshold", "0.3", "--threshold", "0.7"),
    "models": ("measure", *TWO),
    "labels": ("measure", "--truth", "sick", "--predicted", "says"),
    "groups": ("measure", *ONE, "--group", "site"),
    "groups-narrow": ("measure", *ONE, "--group", "site", "--group", "sex"),
    "groups-models": ("measure", *ONE, "--score", "old", "--group", "sex", "--measures", "f1,auc"),
    "groups-models-md": ("measure", *ONE, "--score", "old", "--group", "sex", "--measures", "auc", "--format", "md"),
    "weighted": ("measure", *ONE, "--weight", "w", "--digits", "2"),
    "counted": ("measure", *ONE, "--count", "times", "--measures", "accuracy"),
    "all": ("measure", *ONE, "--measures", "all"),
    "infinite": ("measure", *ONE, "--group", "sex", "--measures", "dor,lift,auc", "--level", "90%"),
    "undefined-interval": ("measure", *ONE, "--interval", "logit-delong", "--threshold", "0.9", "--group", "site"),
    "clusters": ("measure", *ONE, "--cluster", "site"),
    "clusters-groups": ("measure", *TWO, "--cluster", "site", "--group", "sex", "--measures", "recall,f1,auc"),
    "groups-wide": ("measure", *ONE, "--group", "site"),
    "roc": ("curve", "roc", *ONE),
    "pr-groups": ("curve", "pr", *ONE, "--group", "sex", "--points", "3"),
    "roc-band": ("curve", "roc", *ONE, "--band"),
    "pr-band-groups": ("curve", "pr", *ONE, "--group", "site", "--band", "--level", "0.9", "--points", "3"),
    "roc-simultaneous-md": ("curve", "roc", *ONE, "--simultaneous", "--format", "md"),
    "one-md": ("measure", *ONE, "--format", "md"),
    "groups-md": ("measure", *ONE, "--group", "site", "--format", "md"),
    "roc-md": ("curve", "roc", *ONE, "--format", "md"),
}
PLAIN = ("one", "one-narrow", "thresholds", "groups", "groups-narrow", "one-md", "groups-md")
"""Views without intervals, which are as they were before there were any."""
VIEWS |= {f"{name}-plain": (*VIEWS[name], "--no-interval") for name in PLAIN}


@pytest.mark.quick(12)
@pytest.mark.parametrize("name", VIEWS)
def test_snapshot_of_terminal_output(name: str, tmp_path: Path) -> None:
    width = "60" if "narrow" in name else "130" if "wide" in name else "100"
    result = run(*VIEWS[name], write_people(tmp_path), "--positive", "1", "-q", env={"COLUMNS": width})
    assert result.exit_code == 0
    assert matches_snapshot(result.stdout, name)
    if "-md" not in name:
        assert max(map(display_width, result.stdout.splitlines())) <= int(width)


@pytest.mark.parametrize(
    ("name", "typed"),
    {
        "list-measures": ("list", "measures"),
        "list-threat": ("list", "measures", "threat", "score"),
        "list-curves": ("list", "curves"),
        "list-curves-md": ("list", "curves", "--format", "md"),
        "help": ("--help",),
        "help-measure": ("measure", "--help"),
        "help-curve": ("curve", "--help"),
    }.items(),
)
def test_snapshot_of_lists(name: str, typed: tuple[str, ...]) -> None:
    assert matches_snapshot(run(*typed).stdout, name)


def test_list_of_measures_has_complete_summaries() -> None:
    summaries = [describe(each).summary for each in (*MEASURES.values(), *multiclass.MEASURES.values())]
    listed = json.loads(run("list", "measures", "--json").stdout)["rows"]
    assert [row["meaning"] for row in listed] == summaries
    for width in (60, 100, 200):
        shown = " ".join(run("list", "measures", env={"COLUMNS": str(width)}).stdout.split())
        assert [each for each in summaries if each not in shown] == []
    for form in ("md", "csv"):
        shown = run("list", "measures", "--format", form).stdout
        assert [each for each in summaries if each not in shown] == []


def test_list_of_measures_has_each_alias_once() -> None:
    shown = " ".join(run("list", "measures", "positive predictive value").stdout.split())
    summary = describe(MEASURES["precision"]).summary
    assert f"precision {summary} Also: positive predictive value, confidence." in shown
    assert "npv Negative predictive value: share of rows not flagged that are negative." not in shown


def test_numbers_stand_beside_the_summaries_of_their_measures(tmp_path: Path) -> None:
    typed = (
        "measure",
        write_people(tmp_path),
        "--truth",
        "sick",
        "--score",
        "risk",
        "--measures",
        "all",
        "--no-interval",
    )
    measured = {row["measure"] for row in json.loads(run(*typed, "--json").stdout)["rows"]} & set(MEASURES)
    shown = run(*typed, "--format", "md").stdout
    # Costs and threshold probabilities are not assumed.
    assert measured == MEASURES.keys() - {name for name, _ in find_missing_options(MEASURES.values())}
    assert [name for name in sorted(measured) if describe(MEASURES[name]).summary not in shown] == []


def test_completion_shows_the_summaries() -> None:
    from baserate.cli._values import complete_two_class

    context = click.Context(click.Command("measure"))
    items = complete_two_class(context, click.Option(["--measures"]), "auc,prev")
    assert {item.value: item.help for item in items} == {
        f"auc,{name}": describe(MEASURES[name]).summary for name in ("prevalence", "prevalence_threshold")
    }


@pytest.mark.slow
def test_tables_fit_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    rows = [f"{at % 2},0.{at % 10},group number {at % 23}" for at in range(460)]
    path.write_text("\n".join(["y,p,g", *rows]), encoding="utf-8")
    auc = run("measure", path, "--truth", "y", "--score", "p", "--measures", "auc", "-q").stdout
    typed = ("measure", path, "--truth", "y", "--score", "p", "--group", "g")
    for width, shown in render_pages(*typed, widths=(40, 60, 80, 140)):
        assert shown.startswith("many.csv")
        assert max(map(display_width, shown.splitlines())) <= width
        assert all(f"group number {at}" in shown for at in range(23))
        # Whatever the width, the same numbers are shown.
        assert re.findall(r"0\.\d+", auc)[0] in shown


def test_wide_tables_are_transposed_without_loss() -> None:
    names = tuple(f"column {at}" for at in range(30))
    panel = Table("corner", names, (Section("", (Row("first", tuple(map(str, range(30)))),)),))
    shown = unstyle(Page("", (panel,)).text(40))
    assert shown.splitlines()[:3] == ["corner       first", "  column 0       0", "  column 1       1"]
    assert len(shown.splitlines()) == 31


def test_wide_letters_and_unusual_labels_stay_aligned(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    labels = ["東京", "e\u0301te\u0301", "x" * 500, "a\x1b[31mred", "pipe|star*"]
    rows = [f"{at % 2},0.{at % 10},{labels[at % 5]}" for at in range(50)]
    path.write_text("\n".join(["y,p,g", *rows]), encoding="utf-8")
    typed = ("measure", path, "--truth", "y", "--score", "p", "--group", "g", "--measures", "f1")
    shown = run(*typed, env={"COLUMNS": "100"}).stdout
    assert "\x1b" not in shown
    assert "x" * 41 not in shown
    # The total is the last of the counts: whatever stands before it, it ends in one place.
    totals = [line for line in shown.splitlines() if re.fullmatch(r"  .* +\d+ +\d+ +\d+ +\d+ +(10|50)", line)]
    assert len(totals) == 6
    assert len({display_width(line) for line in totals}) == 1
    markdown = run(*typed, "--format", "md").stdout
    assert r"pipe\|star\*" in markdown
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in markdown.splitlines() if line.startswith("|")}) == 1


@pytest.mark.parametrize("digits", [1, 2, 6, 17])
def test_digits_option(digits: int, tmp_path: Path) -> None:
    typed = ("measure", write_people(tmp_path), *ONE, "--measures", "average_precision", "--digits", digits, "-q")
    result = re.search(r"average precision +0\.(\d+)", run(*typed).stdout)
    assert result
    assert len(result[1]) == digits


def test_points_that_a_line_does_not_need(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    rows = json.loads(run("curve", "roc", path, *ONE, "--drop-intermediate", "--json").stdout)["rows"]
    every = json.loads(run("curve", "roc", path, *ONE, "--json").stdout)["rows"]
    assert len(rows) < len(every)
    assert [row["threshold"] for row in rows] == ["inf", 0.92, 0.85, 0.71, 0.64, 0.3, 0.22, 0.05]
    for typed, message in ((("roc", "--band"), "a band"), (("roc", "--smooth", "normal"), "a smooth curve")):
        result = run("curve", *typed, path, *ONE, "--drop-intermediate")
        assert result.exit_code == 2
        assert f"--drop-intermediate is for curves without {message}" in result.stderr
    result = run("curve", "lift", path, *ONE, "--drop-intermediate")
    assert result.exit_code == 2
    assert "--drop-intermediate is for roc, gain, lorenz, pr and det" in result.stderr


def test_note_of_omitted_points_counts_those_that_the_line_needs(tmp_path: Path) -> None:
    path = tmp_path / "separable.csv"
    rows = [f"{int(at >= 50)},{at}\n" for at in range(100)] + [f"{at % 2},{at}\n" for at in range(100, 200)]
    for lines, points in ((rows[:100], None), (rows, 101)):
        path.write_text("".join(["sick,risk\n", *lines]), encoding="utf-8")
        result = run("curve", "roc", str(path), *ONE, "--drop-intermediate")
        assert result.exit_code == 0
        assert ("points of each curve are shown" in result.stderr) == (points is not None)
        if points is not None:
            assert f"at most 25 of up to {points + 2} points" in result.stderr
