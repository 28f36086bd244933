"""`baserate curve roc --smooth` and `baserate draw roc --smooth`: snapshots, JSON, files, and refused options."""

import json
from pathlib import Path

import numpy as np
import pytest

from baserate import infer, read
from baserate.cli._smooth_roc import METHODS, read_bandwidth
from baserate.infer._smooth_roc_fits import METHODS as ALL_METHODS
from tests.cli.shell import fits_terminal, matches_snapshot, run, write_people

ONE = ("--truth", "sick", "--score", "risk")
VIEWS = {
    "smooth-roc": ("--smooth", "binormal-ml", "--points", "5"),
    "smooth-roc-groups": ("--smooth", "density", "--group", "site", "--points", "3", "--n-bootstrap", "50"),
    "smooth-roc-models": ("--score", "old", "--smooth", "normal", "--points", "3", "--n-bootstrap", "0"),
    "smooth-roc-md": ("--smooth", "binormal", "--points", "3", "--n-bootstrap", "0", "--format", "md"),
}


@pytest.mark.parametrize("name", VIEWS)
def test_snapshots(name: str, tmp_path: Path) -> None:
    result = run("curve", "roc", write_people(tmp_path), *ONE, *VIEWS[name], "-q")
    assert result.exit_code == 0
    assert matches_snapshot(result.stdout, name)


@pytest.mark.parametrize("name", [name for name in VIEWS if name != "smooth-roc-md"])
def test_tables_fit_the_terminal(name: str, tmp_path: Path) -> None:
    assert fits_terminal("curve", "roc", write_people(tmp_path), *ONE, *VIEWS[name], widths=(60, 80, 100, 140))


def test_json_has_the_numbers_of_the_library(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    shown = json.loads(run("curve", "roc", path, *ONE, "--smooth", "kde", "--seed", "3", "--json").stdout)
    expected = infer.smooth_roc_curves(
        read.tallies(path, truth="sick", score="risk"), method="density", seed=3, points=101
    )
    assert len(shown["rows"]) == 101
    assert shown["rows"][50]["sensitivity"] == expected.rows()[50]["sensitivity"]
    assert shown["data"]["fits"] == expected.data["fits"]
    assert shown["data"]["method"] == "density"
    assert shown["data"]["fits"][0]["auc"]["how"].startswith("t quantiles on log-odds, 1000 samples")


def test_bandwidths_and_levels_reach_the_fit(tmp_path: Path) -> None:
    typed = ("curve", "roc", write_people(tmp_path), *ONE, "--smooth", "density", "--n-bootstrap", "20", "--json")
    fits = [
        json.loads(run(*typed, *more).stdout)["data"]["fits"][0]
        for more in (("--bandwidth", "0.1,0.2"), ("--bandwidth", "sj-pooled", "--level", "80%"))
    ]
    assert fits[0]["parameters"] == {"bandwidth_negative": 0.1, "bandwidth_positive": 0.2}
    assert fits[1]["parameters"]["bandwidth_negative"] == fits[1]["parameters"]["bandwidth_positive"]
    assert [each["auc"]["level"] for each in fits] == [0.95, 0.8]


def test_csv_has_all_points(tmp_path: Path) -> None:
    shown = run("curve", "roc", write_people(tmp_path), *ONE, "--smooth", "logcondens", "--format", "csv", "-q").stdout
    header, *lines = shown.splitlines()
    assert header == "model,group,threshold,fpr,sensitivity,low,high,why"
    assert len(lines) == 101


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("pr", "--smooth", "density"), "--smooth is for roc; leave it out for pr."),
        (("roc", "--n-bootstrap", "9"), "--n-bootstrap is for smooth curves; add --smooth, or leave it out."),
        (("roc", "--smooth", "density", "--band"), "--smooth has a pointwise band of its own"),
        (("roc", "--smooth", "normal", "--bandwidth", "1"), "--bandwidth is for kernel densities, not for normal"),
        (("roc", "--smooth", "density", "--bandwidth", "wide"), "there is no bandwidth 'wide'"),
        (
            ("roc", "--smooth", "density", "--bandwidth", "1,2,3"),
            "'1,2,3' is not a bandwidth; expected nrd0",
        ),
        (("roc", "--smooth", "density", "--bandwidth", "1,a"), "'1,a' is not a bandwidth"),
        (("roc", "--smooth", "densty"), "there is no smoothing method 'densty'. Did you mean 'density'?"),
    ],
)
def test_refused_options(typed: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = run("curve", typed[0], write_people(tmp_path), *ONE, *typed[1:])
    assert result.exit_code == 2
    assert message in result.stderr


def test_curves_that_are_not_estimable_have_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "separated.csv"
    path.write_text("y,p\n1,0.9\n1,0.8\n0,0.2\n0,0.1\n", encoding="utf-8")
    result = run("curve", "roc", path, "--truth", "y", "--score", "p", "--smooth", "binormal-ml")
    assert result.exit_code == 0
    assert "the binormal curve is not estimable" in result.stdout


def test_a_figure_with_a_smooth_curve(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    target = tmp_path / "roc.json"
    assert run("draw", "roc", path, *ONE, "--smooth", "binormal", "--band", "-o", target).exit_code == 0
    numbers = json.loads(target.read_text(encoding="utf-8"))["rows"]
    rows = [row for row in numbers if row["part"] == "smooth"]
    assert np.all(np.diff([row["sensitivity"] for row in rows]) >= 0)
    assert rows[1]["low"] < rows[1]["sensitivity"] < rows[1]["high"]
    assert "hull" not in {row["part"] for row in numbers}
    result = run("draw", "roc", path, *ONE, "--smooth", "binormal", "--simultaneous", "-o", target)
    assert result.exit_code == 2
    assert "smooth ROC curves have pointwise bands only" in result.stderr


def test_the_shell_lists_all_methods() -> None:
    assert tuple(ALL_METHODS) == METHODS
    assert read_bandwidth("nrd0") == "nrd0"
    assert read_bandwidth("0.5") == 0.5


def test_bounds_are_explained_where_there_are_some(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    for samples in ("1", "2"):
        result = run("curve", "roc", path, *ONE, "--smooth", "normal", "--n-bootstrap", samples)
        assert ("low, high: bounds of TPR" in result.stdout) == (samples == "2")
        assert ("a single bootstrap sample has no spread" in result.stdout) == (samples == "1")
