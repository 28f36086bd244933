"""`baserate draw` for figures of net benefit, costs, prevalence, groups and populations."""

import json
from pathlib import Path

import pytest

from baserate import Curve, decide, read
from tests.cli.shell import run, write_people
from tests.tiers import tiered_rows

FIGURES = [
    ("reliability", "--bins 5 --by mass"),
    ("reliability", "--curve isotonic --band confidence --level 90%"),
    ("likelihood-ratio", "--bins 3"),
    ("decision-curve", "--score old --prevalence 10% --thresholds 0.01:0.5"),
    ("cost-curve", "--fp 1 --fn 20 --prevalence 2%"),
    ("cost-curve", "--kind brier --no-interval"),
    ("prevalence", "--threshold 0.6 --prevalence 2% --measures ppv,npv"),
    ("prevalence", "--predicted says --linear"),
    ("confusion-matrix", "--threshold 0.6 --prevalence 2% --normalize all"),
    ("confusion-matrix", "--predicted says --normalize none"),
    ("det", "--threshold 0.6"),
    ("groups", "--group site,sex --threshold 0.6 --measures flag_rate"),
]


@pytest.mark.quick(1)
@pytest.mark.parametrize(("figure", "options"), tiered_rows(FIGURES, 3))
def test_figures_are_written_and_their_files_printed(figure: str, options: str, tmp_path: Path) -> None:
    picture = tmp_path / "figure.svg"
    columns = ("--truth", "sick", "--score", "risk")
    result = run("draw", figure, write_people(tmp_path), *columns, *options.split(), "-o", picture)
    assert result.exit_code == 0, result.output
    assert "10 rows" in result.stderr
    assert f"wrote {picture}" in result.stderr
    assert picture.read_text(encoding="utf-8").startswith("<?xml")


def numbers(tmp_path: Path, *typed: str) -> list[dict[str, object]]:
    """Numbers of a figure."""
    kept = tmp_path / "numbers.json"
    result = run("draw", *typed, "-q", "-o", kept)
    assert result.exit_code == 0, result.output
    assert not result.stderr
    rows: list[dict[str, object]] = json.loads(kept.read_text(encoding="utf-8"))["rows"]
    return rows


def test_confusion_matrix_decides_by_threshold_or_policy(tmp_path: Path) -> None:
    rows = (str(write_people(tmp_path)), "--truth", "sick", "--score", "risk")
    tallies = read.tallies(rows[0], truth="sick", score="risk")
    cells = [row["count"] for row in numbers(tmp_path, "confusion-matrix", *rows, "--threshold", "0.6")][:4]
    counts = Curve(tallies.tally).at(0.6)
    assert cells == [counts.tp, counts.fn, counts.fp, counts.tn]
    policy = tmp_path / "policy.json"
    decide.fixed(Curve(tallies.tally), threshold=0.6).save(policy)
    by_policy = numbers(tmp_path, "confusion-matrix", *rows, "--policy", str(policy))
    assert [row["count"] for row in by_policy][:4] == cells
    both = run("draw", "confusion-matrix", *rows, "--policy", policy, "--threshold", "0.6", "-o", tmp_path / "m.svg")
    assert both.exit_code == 2
    assert "--policy and --threshold both state the decisions" in both.stderr


def test_options_reach_the_figure(tmp_path: Path) -> None:
    rows = (str(write_people(tmp_path)), "--truth", "sick", "--score", "risk")
    assert len(numbers(tmp_path, "likelihood-ratio", *rows, "--bins", "1")) == 1
    acted = numbers(tmp_path, "decision-curve", *rows, "--thresholds", "10%,20%")
    assert {row["threshold"] for row in acted if row["part"] == "model"} == {0.1, 0.2}
    adjusted, kept = (
        [row["net_benefit"] for row in numbers(tmp_path, "decision-curve", *rows, "--prevalence", "5%", *more)]
        for more in ((), ("--keep-scores",))
    )
    here = read.tallies(rows[0], truth="sick", score="risk")
    assert adjusted[:99] == list(decide.net_benefit_curve(here, prevalence=0.05).columns["net_benefit"])[:99]
    assert (
        kept[:99]
        == list(decide.net_benefit_curve(here, prevalence=0.05, sample_prevalence="deployment").columns["net_benefit"])[
            :99
        ]
    )
    assert adjusted != kept
    marks = numbers(tmp_path, "cost-curve", *rows, "--fp", "1", "--fn", "9", "--prevalence", "0.1")
    assert [row["probability_cost"] for row in marks if row["part"] == "mark"] == [0.5]
    there = [row for row in numbers(tmp_path, "prevalence", *rows, "--prevalence", "2%") if row["mark"] == "deployment"]
    assert [row["prevalence"] for row in there] == [0.02, 0.02]


def test_a_policy_decides_for_groups(tmp_path: Path) -> None:
    rows = (str(write_people(tmp_path)), "--truth", "sick", "--score", "risk")
    policy = tmp_path / "policy.json"
    assert run("decide", *rows, "--fp", "1", "--fn", "3", "--n-bootstrap", "0", "-o", policy).exit_code == 0
    decided = numbers(tmp_path, "groups", *rows, "--group", "site", "--policy", str(policy), "--measures", "flag_rate")
    assert [row["group"] and row["group"]["site"] for row in decided] == [None, "coast", "hill", "north"]  # type: ignore[index]


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "options",
    ["linear --what pr", "binormal --means 0,2 --sample 50 --seed 3", "beta --positive 3,1", "retrieval --level ER+"],
)
def test_population_is_drawn(options: str, tmp_path: Path) -> None:
    picture = tmp_path / "theory.png"
    result = run("draw", "population", *options.split(), "-o", picture, "--dpi", 50, "--title", "theory")
    assert result.exit_code == 0, result.output
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_file_is_drawn_as_a_sample(tmp_path: Path) -> None:
    typed = (
        "population",
        "logit-normal",
        str(write_people(tmp_path)),
        "--truth",
        "sick",
        "--score",
        "risk",
        "--what",
        "roc",
    )
    observed = [row for row in numbers(tmp_path, *typed) if row["part"] == "sample"]
    assert len(observed) == 10  # nine distinct scores, and none flagged
    output = run("draw", *typed, "-o", tmp_path / "roc.svg").stderr
    assert "10 rows" in output


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("reliability FILE --curve binned --band confidence", "--band is for --curve"),
        ("reliability FILE --curve lowess --bins 3", "leave them out"),
        ("reliability FILE --predicted says", "--predicted"),
        ("decision-curve FILE --thresholds 0.1 --points 5", "--points is for a range of thresholds"),
        ("cost-curve FILE --fn 20", "--prevalence"),
        ("prevalence FILE --threshold 0.1,0.2", "draw a figure for each"),
        ("groups FILE", "--group"),
        ("groups FILE --group site --policy p.json --threshold 0.5", "leave out one"),
        ("population linear FILE --sample 9", "two samples"),
        ("population linear FILE --score old", "one score"),
        ("population linear --seed 9", "--sample"),
    ],
)
def test_contradictory_options_are_refused(typed: str, message: str, tmp_path: Path) -> None:
    given = (str(write_people(tmp_path)), "--truth", "sick", "--score", "risk")
    words = [word for each in typed.split() for word in (given if each == "FILE" else (each,))]
    result = run("draw", *words, "-o", tmp_path / "figure.svg")
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "figure.svg").exists()
