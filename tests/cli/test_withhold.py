"""`baserate equalize --withhold`: calibrated equalized odds in the shell."""

import csv
from pathlib import Path

import numpy as np
import pytest

from baserate import Policy, fairness, read
from tests.cli.shell import fits_terminal, matches_snapshot, run
from tests.schemas import read_results

READING = ("--truth", "sick", "--score", "risk", "--positive", "1", "--group", "sex")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Calibrated scores, of which those of women vary more."""
    rng = np.random.default_rng(3)
    path = tmp_path_factory.mktemp("withhold") / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["who", "sick", "risk", "sex"])
        for who in range(800):
            sex = "fm"[who % 2]
            risk = round(float(rng.beta(1, 1) if sex == "f" else rng.beta(3, 3)), 2)
            writer.writerow([who, int(rng.random() < risk), risk, sex])
    return path


def test_snapshot_of_terminal_output(rows: Path) -> None:
    typed = ("equalize", rows, *READING, "--withhold", "fnr", "--fp", "1", "--fn", "2")
    result = run(*typed)
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, "equalize-withhold")
    assert "note: mixed scores are as calibrated as the scores" in result.stderr
    assert "no costs were stated" not in result.stderr
    assert fits_terminal(
        "equalize", rows, *READING, "--withhold", "fnr", "--fp", "1", "--fn", "2", widths=(60, 80, 120)
    )


def test_json_and_policy_are_those_of_the_library(rows: Path, tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    result = run("equalize", rows, *READING, "--withhold", "weighted", "--threshold", "0.4", "--json", "-q", "-o", file)
    assert result.exit_code == 0, result.stderr
    tallies = read.tallies(rows, truth="sick", score="risk", group="sex", positive=1)
    policy = fairness.calibrated_equalized_odds(tallies, threshold=0.4)
    stored = Policy.load(file)
    assert stored.settings == policy.settings
    assert stored.by_group == policy.by_group
    output = read_results(result.stdout)
    assert output["data"]["price"] == fairness.mixing_impact(tallies, policy).data["price"]
    assert any("no costs were stated" in note for note in output["data"]["notes"])
    decided = tmp_path / "decided.csv"
    assert run("apply", file, rows, "--id", "who", "-o", decided).exit_code == 0
    with decided.open(encoding="utf-8", newline="") as text:
        table = list(csv.DictReader(text))
    mixed = fairness.mix_scores(
        stored,
        [float(row["risk"]) for row in table],
        group=[row["sex"] for row in table],
        id=[row["who"] for row in table],
    )
    assert [row["action"] == "flag" for row in table] == (mixed >= 0.4).tolist()


def test_rates_that_cannot_be_equal_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "far.csv"
    lines = [f"{int(at % 10 < 9)},0.9,f\n{int(at % 10 < 1)},0.1,m\n" for at in range(100)]
    path.write_text("sick,risk,sex\n" + "".join(lines), encoding="utf-8")
    result = run("equalize", path, *READING, "--withhold", "fnr")
    assert result.exit_code == 1
    assert "generalized_fnr cannot be equalized" in result.stderr


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--withhold", "fnr", "--parity", "equalized-odds"), "--parity is for parities of decisions"),
        (("--withhold", "fnr", "--within", "0.1"), "--within is for parities of decisions"),
        (("--withhold", "fnr", "--deterministic"), "--deterministic is for parities of decisions"),
        (("--withhold", "fnr", "--frontier"), "--frontier is for parities of decisions"),
        (("--parity", "equalized-odds", "--threshold", "0.5"), "--threshold is for --withhold"),
        (("--withhold", "tpr"), "tpr"),
        ((), "--parity"),
    ],
)
def test_refused_options(rows: Path, typed: tuple[str, ...], message: str) -> None:
    result = run("equalize", rows, *READING, *typed)
    assert result.exit_code == 2
    assert message in result.stderr


def test_no_interval_leaves_intervals_out(rows: Path) -> None:
    typed = ("equalize", rows, *READING, "--withhold", "fnr", "-q", "--json")
    every, points = (read_results(run(*typed, *more).stdout) for more in ((), ("--no-interval",)))
    assert "interval" not in points["data"]
    assert [row["value"] for row in points["rows"]] == [row["value"] for row in every["rows"]]
    assert any(row["low"] is not None for row in every["rows"])
    assert all(row["low"] is None and row["high"] is None and row["level"] is None for row in points["rows"])
