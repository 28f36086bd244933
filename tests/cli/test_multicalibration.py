"""`baserate groups --multicalibration`: tests of calibration in overlapping groups."""

from pathlib import Path

import numpy as np
import pytest

from baserate import fairness, read
from tests.cli.shell import fits_terminal, matches_snapshot, run
from tests.schemas import read_results

READING = ("--truth", "sick", "--score", "risk", "--positive", "1", "--group", "sex,site", "--multicalibration")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Calibrated scores, except of women in the south."""
    rng = np.random.default_rng(8)
    sex, site, other = (rng.choice([*labels], 1500) for labels in ("fm", "ns", "fx"))
    risk = rng.uniform(0.1, 0.6, 1500).round(2)
    sick = rng.random(1500) < risk + 0.15 * ((sex == "f") & (site == "s"))
    path = tmp_path_factory.mktemp("multicalibration") / "rows.csv"
    lines = [f"{int(a)},{b},{c},{d},{e}\n" for a, b, c, d, e in zip(sick, risk, sex, site, other, strict=True)]
    path.write_text("sick,risk,sex,site,other\n" + "".join(lines), encoding="utf-8")
    return path


def test_snapshot_of_terminal_output(rows: Path) -> None:
    result = run("groups", rows, *READING, "-q")
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, "groups-multicalibration")
    assert fits_terminal("groups", rows, *READING, "-q", widths=(60, 80, 120))


def test_json_is_that_of_the_library(rows: Path) -> None:
    typed = (
        "--depth",
        "1",
        "--score-bins",
        "3",
        "--adjust",
        "by",
        "--level",
        "90%",
        "--seed",
        "4",
        "--min-group",
        "80",
    )
    result = run("groups", rows, *READING, *typed, "--n-permutations", "200", "--json", "-q")
    assert result.exit_code == 0, result.stderr
    tallies = read.tallies(rows, truth="sick", score="risk", group=["sex", "site"], positive=1)
    expected = fairness.multicalibration(
        tallies, depth=1, bins=3, adjust="by", level=0.9, seed=4, min_group=80, n_simulations=200
    )
    output = read_results(result.stdout)
    assert [row["p_adjusted"] for row in output["rows"]] == [row["p_adjusted"] for row in expected.rows()]
    assert output["data"]["largest"]["risk"]["bound"] == expected.data["largest"]["risk"]["bound"]
    assert output["data"]["adjust"] == "by"


def test_labels_of_several_columns_have_their_names(rows: Path) -> None:
    typed = [each.replace("sex,site", "sex,other") for each in READING]
    assert "other = f" in run("groups", rows, *typed, "-q").stdout
    assert "sex = f" not in run("groups", rows, *READING, "-q").stdout


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--multicalibration", "--threshold", "0.5"), "--threshold is for comparisons"),
        (("--multicalibration", "--measures", "fpr"), "--measures is for comparisons"),
        (("--multicalibration", "--prevalence", "2%"), "--prevalence is for comparisons"),
        (("--multicalibration", "--reference", "f/n"), "--reference is for comparisons"),
        (("--multicalibration", "--relative-to", "rest"), "--relative-to is for comparisons"),
        (("--multicalibration", "--intersections"), "--intersections is for comparisons"),
        (("--depth", "2"), "--depth is for --multicalibration"),
        (("--adjust", "bh"), "--adjust is for --multicalibration"),
    ],
)
def test_refused_options(rows: Path, typed: tuple[str, ...], message: str) -> None:
    result = run("groups", rows, *READING[:-1], *typed)
    assert result.exit_code == 2
    assert message in result.stderr


def test_labels_and_rows_without_groups_are_refused(rows: Path) -> None:
    labels = run("groups", rows, "--truth", "sick", "--predicted", "sick", "--group", "sex", "--multicalibration")
    assert labels.exit_code == 2
    assert "labels are not probabilities" in labels.stderr
    groups = run("groups", rows, "--truth", "sick", "--score", "risk", "--multicalibration")
    assert groups.exit_code == 2
    assert "--group" in groups.stderr
