"""Decision curves of dcurves, through the shell: 750 people, 105 with cancer."""

from pathlib import Path

import pytest

from tests.cli.shell import run
from tests.schemas import read_results

ONE = ("--truth", "cancer", "--score", "cancerpredmarker")


def test_net_benefit_at_a_threshold_of_one_quarter(reference: Path) -> None:
    result = run("benefit", reference / "df_binary.csv", *ONE, "--thresholds", "0.25", "--json")
    assert result.exit_code == 0, result.stderr
    rows = {row["strategy"]: row for row in read_results(result.stdout)["rows"]}
    assert rows["model"]["net_benefit"] == pytest.approx(0.064, abs=1e-12)
    assert rows["all"]["net_benefit"] == pytest.approx(-0.14667, abs=5e-6)
    assert rows["none"]["net_benefit"] == 0


def test_terminal_output(reference: Path) -> None:
    typed = (*ONE, "--thresholds", "0.05:0.35", "--no-interval", "-q")
    lines = run("benefit", reference / "df_binary.csv", *typed).stdout.splitlines()
    (line,) = (line for line in lines if line.startswith("  0.25"))
    assert line.split() == ["0.25", "0.06400*", "−0.1467", "0", "63.20", "0.1920"]
    assert "* higher net benefit than flagging all and flagging none: cancerpredmarker from 0.05 to 0.35" in lines
