"""`baserate prevalence-study`: snapshots, JSON, agreement with the library, and refused options."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baserate import read, shift
from tests.cli.shell import fits_terminal, matches_snapshot, run
from tests.schemas import read_results

ONE = ("--truth", "sick", "--score", "risk", "--methods", "acc,kdey,ms", "--size", "50", "--repeats", "2")
MANY = ("--truth", "is", "--scores", "p_", "--methods", "acc,kdey-cs", "--protocol", "upp", "--repeats", "5")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study")
    for seed, name in enumerate(("old", "test")):
        rng = np.random.default_rng(seed)
        sick = (rng.random(400) < 0.4).astype(int)
        risk = np.round(1 / (1 + np.exp(1.5 - 2 * sick - rng.normal(size=400))), 4)
        lines = [f"{truth},{score}\n" for truth, score in zip(sick, risk, strict=True)]
        (path / f"{name}.csv").write_text("sick,risk\n" + "".join(lines), encoding="utf-8")
        truth = rng.choice(3, 400)
        p = np.exp(rng.normal(size=(400, 3)) + 2 * np.eye(3)[truth])
        p = np.round(p / p.sum(axis=1, keepdims=True), 6)
        p[:, 2] = np.round(1 - p[:, 0] - p[:, 1], 6)
        rows = [("cat", "dog", "fox")[at] + "," + ",".join(map(str, row)) for at, row in zip(truth, p, strict=True)]
        (path / f"{name}-pets.csv").write_text("is,p_cat,p_dog,p_fox\n" + "\n".join(rows), encoding="utf-8")
    return path


def list_words(folder: Path, *options: str, pets: str = "") -> tuple[str, ...]:
    files = (str(folder / f"test{pets}.csv"), "--validation", str(folder / f"old{pets}.csv"))
    return ("prevalence-study", *files, *options)


@pytest.mark.parametrize(("name", "options", "pets"), [("study", ONE, ""), ("study-classes", MANY, "-pets")])
def test_snapshot_of_terminal_output(folder: Path, name: str, options: tuple[str, ...], pets: str) -> None:
    result = run(*list_words(folder, *options, pets=pets), "-q")
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, f"prevalence-{name}")


def test_pages_fit_the_terminal(folder: Path) -> None:
    assert fits_terminal(*list_words(folder, *ONE), widths=(50, 80, 100, 140))


def test_numbers_are_those_of_the_library(folder: Path) -> None:
    output = read_results(run(*list_words(folder, *ONE, "--seed", "3", "--prevalences", "5"), "--json", "-q").stdout)
    old, test = (read.tallies(str(folder / f"{name}.csv"), truth="sick", score="risk") for name in ("old", "test"))
    wanted = shift.quantification_study(
        *(each.pooled("risk") for each in (old, test)),
        methods=["acc", "kdey", "ms"],
        size=50,
        repeats=2,
        seed=3,
        prevalences=5,
    )
    assert [row["value"] for row in output["rows"]] == [row["value"] for row in wanted.rows()]
    assert output["data"]["protocol"] == "app"


def test_classes_are_those_of_the_library(folder: Path) -> None:
    output = read_results(run(*list_words(folder, *MANY, pets="-pets"), "--json", "-q").stdout)
    old, test = (
        read.class_rows(
            str(folder / f"{name}-pets.csv"), truth="is", score={"cat": "p_cat", "dog": "p_dog", "fox": "p_fox"}
        )
        for name in ("old", "test")
    )
    wanted = shift.quantification_study(old, test, methods=["acc", "kdey-cs"], protocol="upp", repeats=5)
    values: list[Any] = [row["value"] for row in output["rows"]]
    assert values == [row["value"] for row in wanted.rows()]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--truth", "sick", "--score", "risk", "--score", "old"), "a study has one model"),
        ((*ONE, "--protocol", "npp", "--prevalences", "5"), "--prevalences is the grid of app; leave it out of npp"),
        ((*ONE, "--size", "0"), "0 is not in the range"),
        ((*ONE, "--methods", "ac"), "there is no method 'ac'"),
    ],
)
def test_refused_options(folder: Path, options: tuple[str, ...], message: str) -> None:
    result = run(*list_words(folder, *options))
    assert result.exit_code == 2
    assert message in result.stderr


def test_validation_is_required(folder: Path) -> None:
    result = run("prevalence-study", folder / "test.csv", "--truth", "sick", "--score", "risk")
    assert result.exit_code == 2
    assert "--validation" in result.stderr


def test_one_row_is_in_the_singular(folder: Path) -> None:
    options = ("--truth", "sick", "--score", "risk", "--methods", "acc", "--size", "1", "--repeats", "1")
    result = run(*list_words(folder, *options, "--protocol", "npp"), "-q")
    assert "npp: 1 sample of 1 row ·" in result.stdout
